// How a configured server is connected, watched and told of.
import type { JsonObject } from "../types.js";
import type { ServerDescription } from "./config-types.js";
import type { ServerMessage } from "./connection-types.js";
import type { UpstreamConnection } from "./connection.js";
import type { UpstreamFailure } from "./failure.js";
import type { Fetch } from "./http-link.js";
import type { ListKind, ListingLimits, ListingProblem, UpstreamListing } from "./listing.js";
import type { UpstreamSdk } from "./sdk.js";
import type { Backoff } from "./timers.js";

/** Who is told what happens with a server, and answers its questions. What is thrown by those that return nothing is lost. @internal */
export interface UpstreamHost {
  /**
   * Answers a request of a server to its client: `sampling/createMessage`, `elicitation/create`, `roots/list`, or one nobody knows.
   * An error with a whole number as `code` becomes that error of JSON-RPC; any other says nothing to the server.
   */
  onRequest(
    server: string,
    connection: UpstreamConnection,
    request: ServerMessage,
    options: { readonly signal: AbortSignal },
  ): Promise<JsonObject>;
  /** Takes a notification, of which `list_changed` needs nothing else. Progress comes by `onprogress` of the request. */
  onNotification(server: string, connection: UpstreamConnection, notification: ServerMessage): void;
  /** Is told of each connection that is made, also anew: what the server knew by an earlier one it has forgotten. */
  onReady?(server: string, connection: UpstreamConnection): void;
  /** Whether a client wants to hear of resources over a connection: it is kept, and made again when it is lost. */
  isSubscribed?(connection: UpstreamConnection): boolean;
  /** Whether a session is of a client that is there. What its connection is to the server, such as a login, is kept. */
  isLive?(session: string): boolean;
  /** Takes what the server offers, first and whenever it is not as before. */
  onListing(server: string, listing: UpstreamListing): void;
  /** Is told of a new state. A server becomes `ready` after its listing was told. */
  onState(server: string, state: UpstreamState): void;
}

/** How a server is. `since` and `retry_at` are milliseconds since the epoch. */
export type UpstreamState =
  | { readonly status: "connecting"; readonly since: number; readonly attempts: number }
  | { readonly status: "ready"; readonly since: number; readonly protocol_version?: string }
  | {
      readonly status: "unavailable";
      readonly since: number;
      /** Attempts that failed one after another. */
      readonly attempts: number;
      readonly reason: string;
      readonly failure: UpstreamFailure;
      /** When it is tried again; not there when it was closed, or waits for its user to log in. */
      readonly retry_at?: number;
      /** What it waits for: that its user logs in. */
      readonly awaits?: "login";
    };

/** How a server is connected. Times are milliseconds. @internal */
export interface UpstreamOptions {
  readonly sdk: UpstreamSdk;
  readonly host: UpstreamHost;
  /** How the gateway introduces itself. */
  readonly client_info: { readonly name: string; readonly version: string };
  /** A provider of the SDK for a server that asks a user to log in; a server with `oauth` has its own. */
  readonly auth_provider?: object | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** For `initialize` and all that comes before. Default: 30,000. */
  readonly connect_timeout_ms?: number;
  /** How long a program is asked for the newest era. Default: 5,000. */
  readonly probe_timeout_ms?: number;
  /** Bytes. Default: 16 Mi. A larger message ends the connection to a program, and a request over HTTP. */
  readonly max_message_bytes?: number;
  /** Most connections of sessions. Default: 1,000. */
  readonly max_connections?: number;
  /** After so long without a request, a connection that no client counts on is closed. Default: 600,000. */
  readonly idle_ms?: number;
  /** A connection over HTTP is asked after so long without a request whether it still is one. Default: 60,000. */
  readonly ping_ms?: number;
  /** How long to wait after failures: the first time, and at most. Default: 500 and 60,000; the half of it is random. */
  readonly backoff?: Backoff;
  /** How long to wait for further changes before a server is asked for its lists. Default: 100. */
  readonly debounce_ms?: number;
  readonly listing?: Partial<ListingLimits>;
  /** Default: `Date.now`. */
  readonly now?: () => number;
  /** Default: `Math.random`. */
  readonly random?: () => number;
}

/** How a server is, for people. */
export interface UpstreamReport extends ServerDescription {
  readonly state: UpstreamState;
  readonly server_info?: JsonObject;
  /** Entries of each list, tools that the configuration excludes among them. */
  readonly counts?: Readonly<Record<ListKind, number>>;
  readonly problems?: readonly ListingProblem[];
  /** Connections that are open, and requests under way on them. */
  readonly connections: number;
  readonly in_flight: number;
  /** Notifications that were dropped since they were too many. */
  readonly dropped_notifications: number;
  /** The last lines of the program's standard error, masked. */
  readonly stderr?: readonly string[];
}
