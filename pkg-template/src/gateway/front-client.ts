// The client of a front: who it is to the gateway, and what it says of itself with its requests.
import type { Fields, RequestContext, SdkServer } from "./server-sdk.js";
import type { GatewaySession } from "./session.js";
import { TASKS } from "./task-wire.js";
import { clientOf } from "./watch.js";
import type { WatchedClient } from "./watch.js";

const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
/** Levels of log messages, the least first. */
export const LEVELS: readonly string[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The client of a front. */
export interface FrontClient {
  readonly is_modern: boolean;
  /** Whether it is there for one request, of any of its caller's clients: of revision 2026-07-28 over HTTP. */
  readonly is_passing: boolean;
  /** Who may see what of whom. */
  readonly caller: string;
  /** What the runtime and the upstreams call it. */
  readonly key: string;
  readonly results: GatewaySession;
  /** Headers that servers may be given where no request has them, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The same, with what it says: in revision 2026-07-28 with each request, before that once. */
export class ServedClient implements FrontClient {
  readonly is_modern: boolean;
  readonly is_passing: boolean;
  readonly caller: string;
  readonly key: string;
  readonly results: GatewaySession;
  readonly headers: Readonly<Record<string, string>>;
  readonly #server: SdkServer;
  /** The least level of log messages that a client of the earlier revisions asked for. */
  level: string | undefined;

  /** `server` is the one that it talks to. */
  constructor(client: FrontClient, server: SdkServer) {
    ({
      is_modern: this.is_modern,
      is_passing: this.is_passing,
      caller: this.caller,
      key: this.key,
      results: this.results,
      headers: this.headers,
    } = client);
    this.#server = server;
  }

  /** Whether messages of a level are wanted by a client of the earlier revisions. */
  wants(level: string): boolean {
    return this.level === undefined || LEVELS.indexOf(level) >= LEVELS.indexOf(this.level);
  }

  capabilities(context: RequestContext): Fields {
    const told = this.is_modern ? context.mcpReq.envelope?.[CLIENT_CAPABILITIES] : this.#server.getClientCapabilities();
    return (told ?? {}) as Fields;
  }

  /** Whether an upstream of the earlier revisions can ask it for its roots at any time. */
  get hasRoots(): boolean {
    return !this.is_modern && this.#server.getClientCapabilities()?.["roots"] !== undefined;
  }

  /** What an upstream of revision 2026-07-28 is told that the client can do: for one of the earlier revisions the gateway waits for tasks. */
  #capabilities(context: RequestContext): Fields {
    const told = this.capabilities(context);
    return this.is_modern
      ? told
      : { ...told, extensions: { ...(told["extensions"] as Fields | undefined), [TASKS]: {} } };
  }

  /** What the client calls itself. */
  name(context: RequestContext): string | undefined {
    return clientOf(this.is_modern ? context.mcpReq.envelope?.[CLIENT_INFO] : this.#server.getClientVersion())?.name;
  }

  /** Without sessions, clients of one caller are told apart by what they call themselves. */
  session(context: RequestContext): string {
    return this.is_passing ? JSON.stringify([this.key, context.mcpReq.envelope?.[CLIENT_INFO]]) : this.key;
  }

  /**
   * What an upstream of revision 2026-07-28 is told with a request: what this client can answer, and which log messages it wants.
   * One of the earlier revisions that has not said so gets all.
   */
  envelope(context: RequestContext): Fields {
    const level = this.is_modern ? context.mcpReq.envelope?.[LOG_LEVEL] : (this.level ?? "debug");
    return { [CLIENT_CAPABILITIES]: this.#capabilities(context), ...(level !== undefined && { [LOG_LEVEL]: level }) };
  }

  /** The client of a call as hooks are told of it. */
  watched({ mcpReq: { envelope, _meta } }: RequestContext): WatchedClient {
    const { is_modern, caller, key: session } = this;
    const client = clientOf(is_modern ? envelope?.[CLIENT_INFO] : this.#server.getClientVersion());
    const version = is_modern ? envelope?.[PROTOCOL_VERSION] : this.#server.getNegotiatedProtocolVersion();
    return {
      caller,
      session,
      ...(client && { client }),
      ...(typeof version === "string" && { protocol_version: version }),
      meta: _meta,
    };
  }
}
