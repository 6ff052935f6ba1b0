// How requests to an upstream server are made.
import type { JsonObject } from "../types.js";
import type { Progress } from "./sdk.js";

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
