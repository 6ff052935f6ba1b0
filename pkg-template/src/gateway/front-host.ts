// What the fronts of a gateway share.
import type { Masking } from "../manager/options.js";
import type { PendingCalls, UpstreamCall } from "./bridge.js";
import type { ServedClient } from "./front-client.js";
import type { ResourceLinks } from "./resource-links.js";
import type { GatewayRuntime } from "./runtime.js";
import type { Fields, RequestContext, SdkStateCodec, ServerSdk } from "./server-sdk.js";
import type { SkillGuard } from "./skill-guard.js";
import type { ResourceSubscriptions } from "./subscriptions.js";
import type { GatewayTasks } from "./tasks.js";
import type { Upstream } from "./upstream.js";
import type { GatewayWatch, WatchedCall } from "./watch.js";

/** What a client sends back with its answers, signed. */
export interface RoundState {
  /** The key of the call that waits. */
  readonly waiting: string;
}

/** A call whose client has to answer before it goes on. */
export interface WaitingCall {
  readonly call: UpstreamCall;
  /** Whose it is: no other may answer. */
  readonly session: string;
  /** Goes on with what the client answered. */
  readonly resume: (context: RequestContext) => Promise<Fields>;
  readonly watched?: WatchedCall | undefined;
}

/** What the fronts of a gateway share. */
export interface FrontHost {
  readonly sdk: ServerSdk;
  readonly runtime: GatewayRuntime;
  readonly info: Fields;
  readonly state: SdkStateCodec<RoundState>;
  readonly waiting: PendingCalls<WaitingCall>;
  readonly subscriptions: ResourceSubscriptions;
  /** Addresses in what servers answer. */
  readonly links: ResourceLinks;
  /** Where hooks hear of calls. */
  readonly watch: GatewayWatch | undefined;
  /** Keys of `_meta` that pass. */
  readonly metaAllowed: readonly string[];
  /** Whether structured content that says what the text says is left out. */
  readonly isOnce: boolean;
  /** The schema of a tool of which clients repeat arguments in headers (SEP-2243), by the name it is shown under. */
  schemaWithHeaders(session: string, caller: string, name: string): Fields | undefined;
  upstream(name: string): Upstream;
  /** Servers of which each caller has a connection of its own. */
  perUser(): readonly Upstream[];
  /** Extensions of the protocol that servers declare, by server. */
  extensions(): ReadonlyMap<string, Fields>;
  readonly tasks: GatewayTasks;
  /** What entries of skills say of their files. */
  readonly skills: SkillGuard;
  /** How what a server sends is masked. */
  masking(server: string): Masking;
  /** Whether a server takes calls as tasks of 2025-11-25. */
  declaresTasks(): boolean;
  /** Whether a server has views. */
  hasViews(): boolean;
  /** Tells a client that it sees other tools now. */
  toolsChanged(client: ServedClient): void;
  /** Has servers ask a client for its roots, which are others by now. */
  rootsChanged(client: ServedClient): void;
  /** Tells servers which log messages a client wants. */
  levelChanged(client: ServedClient): void;
  /** Resolves when the servers have answered, or should have. */
  started(): Promise<void>;
  /** Headers of a request that servers may be given, in lower case, and what is known of its caller. */
  forwarded(request: Request, authInfo: unknown): Readonly<Record<string, string>>;
  onError(error: unknown): void;
}
