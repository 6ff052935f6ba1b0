// `contextweaver/service`: sessions and memories of decisions over HTTP, and a client.
export { sessionClient } from "./service/client.js";
export type {
  ClientInit,
  ClientResponse,
  RequestOptions,
  SessionClient,
  SessionClientOptions,
} from "./service/client.js";
export { sessionHandler } from "./service/handler.js";
export type {
  Forwarded,
  PruneSessionsOptions,
  ServiceCaller,
  ServiceLimits,
  ServiceRequest,
  SessionHandlerOptions,
  SessionService,
} from "./service/handler.js";
export { openApi } from "./service/openapi.js";
export type { KeptResult, Operations, SentToolResult, SessionOptions, SessionState } from "./service/operations.js";
export type { PrunedSession } from "./service/registry.js";
export type { Problem } from "./service/problems.js";
