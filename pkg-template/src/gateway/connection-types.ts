// How requests to an upstream server are made, and what its connections share.
import type { JsonObject } from "../types.js";
import type { ServerConfig } from "./config-types.js";
import type { UpstreamConnection } from "./connection.js";
import type { UpstreamFailure } from "./failure.js";
import type { Fetch } from "./http-link.js";
import type { OAuthTraffic } from "./oauth-traffic.js";
import type { Progress, UpstreamSdk } from "./sdk.js";
import type { Backoff } from "./timers.js";

/** A request that waits for the server's answer. */
export interface CallRef {
  /** Counts up over all calls of a connection. */
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  /** What whoever made the request has said of it, see {@link UpstreamRequestOptions}. */
  readonly context: unknown;
}

/** How a request is made. */
export interface UpstreamRequestOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
  /** Default: that of the server's config. With `onprogress`, each progress starts it anew, ten times at most. */
  readonly timeout_ms?: number;
  /** Fields of `_meta`, beside those in the parameters. */
  readonly meta?: JsonObject;
  /** Kept in the {@link CallRef}, such as the session and request of the client, by which a question of the server finds its way. */
  readonly context?: unknown;
}

/** A request or notification of a server. */
export interface ServerMessage {
  readonly method: string;
  readonly params?: JsonObject;
}

/** What a connection tells. Nothing that is thrown here gets out of it. */
export interface ConnectionEvents {
  onRequest(
    connection: UpstreamConnection,
    request: ServerMessage,
    options: { readonly signal: AbortSignal },
  ): Promise<JsonObject>;
  onNotification(connection: UpstreamConnection, notification: ServerMessage): void;
  onReady(connection: UpstreamConnection): void;
  onLost(connection: UpstreamConnection, failure: UpstreamFailure): void;
}

/** What all connections to a server share. */
export interface ConnectionSettings {
  readonly config: ServerConfig;
  readonly sdk: UpstreamSdk;
  readonly events: ConnectionEvents;
  readonly client_info: { readonly name: string; readonly version: string };
  readonly auth_provider?: object | undefined;
  readonly oauth: OAuthTraffic;
  readonly fetch?: Fetch | undefined;
  /** What must not be told, with what was learned since. */
  readonly secrets: readonly string[];
  /** Adds credentials to what must not be told. */
  readonly onsecret: (credentials: string) => void;
  readonly connect_timeout_ms: number;
  readonly probe_timeout_ms: number;
  readonly max_message_bytes: number;
  readonly backoff: Backoff;
  readonly now: () => number;
  readonly random: () => number;
  /** The definition of a tool of which arguments are repeated in headers (SEP-2243). */
  mirrored(tool: string): JsonObject | undefined;
  /** What was learned of the server, so that no further connection has to find out; `prior`: it is of the older era. */
  readonly learned: { is_sse: boolean; prior?: { readonly until: number } };
}
