// One configured server: its connections, what it lists, and its state.
import { ContextWeaverError } from "../boundary/errors.js";
import { quietly } from "../telemetry/quietly.js";
import type { JsonObject } from "../types.js";
import { awaitedLogin } from "./auth-provider.js";
import type { GatewayAuthProvider } from "./auth-provider.js";
import type { ServerConfig } from "./config-types.js";
import type { UpstreamRequestOptions } from "./connection-types.js";
import { UpstreamConnection } from "./connection.js";
import type { ConnectionEvents, ConnectionSettings } from "./connection.js";
import { UpstreamError, failureOf, maskedValue } from "./failure.js";
import type { UpstreamFailure } from "./failure.js";
import { keptOpen } from "./kept-stream.js";
import { CHANGED, LISTING_LIMITS, LIST_KINDS, listingOf, listsOf, readList } from "./listing.js";
import type { List, ListKind, ListingProblem, UpstreamListing } from "./listing.js";
import { OAuthTraffic } from "./oauth-traffic.js";
import { HEADER_MISMATCH, METHOD_NOT_FOUND } from "./rpc-codes.js";
import { SHORTEST_SECRET, describeServer, secretsOf } from "./server-description.js";
import { BACKOFF, backoffMs, later } from "./timers.js";
import { MAX_MESSAGE_BYTES, credentialsOf } from "./transports.js";
import { expandedFor } from "./user-values.js";
import type { UpstreamOptions, UpstreamReport, UpstreamState } from "./upstream-types.js";

export { UpstreamConnection } from "./connection.js";
export type { CallRef, ServerMessage, UpstreamRequestOptions } from "./connection-types.js";
export { UpstreamError } from "./failure.js";
export type { UpstreamFailure } from "./failure.js";
export type { ListKind, ListingLimits, ListingProblem, UpstreamListing } from "./listing.js";
export type { SdkSubscription, UpstreamSdk } from "./sdk.js";
export type { UpstreamHost, UpstreamOptions, UpstreamReport, UpstreamState } from "./upstream-types.js";

/** The pause after a listing is this many times as long as the listing took: a server may change all the time. */
const LISTING_PAUSES = 4;
const MAX_PAUSE_MS = 10_000;
const PING_TIMEOUT_MS = 10_000;
const LEAST_CONNECT_MS = 5_000;
const FORBIDDEN = [401, 403];
/** Most tokens that are remembered, to mask them where a server repeats them. */
const MOST_SECRETS = 16;
/** Of a server that has listed no tools whose arguments go into headers. */
const NO_TOOLS: ReadonlyMap<string, JsonObject> = new Map();

/** A configured server. Nothing is connected before {@link connect} or the first request. */
export class Upstream {
  readonly config: ServerConfig;
  readonly #options: UpstreamOptions;
  readonly #settings: ConnectionSettings;
  readonly #main: UpstreamConnection;
  /** Connections of sessions and of forwarded headers, by key. */
  readonly #pool = new Map<string, UpstreamConnection>();
  /** Connections that are made again though nobody has asked for anything. */
  readonly #reviving = new Set<UpstreamConnection>();
  readonly #lists = new Map<ListKind, List>();
  readonly #now: () => number;
  #source: UpstreamConnection;
  #state: UpstreamState;
  #listing: UpstreamListing | undefined;
  #dirty = new Set<ListKind>();
  #listingRun: Promise<void> | undefined;
  #pauseUntil = 0;
  /** Listings that failed one after another. */
  #listFailures = 0;
  #cancelRelist: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #cancelSweep: (() => void) | undefined;
  #isStarted = false;
  #isClosed = false;
  #subscription: { readonly cancel: () => void } | undefined;

  constructor(config: ServerConfig, options: UpstreamOptions) {
    [this.config, this.#options] = [config, options];
    this.#now = options.now ?? Date.now;
    const known = secretsOf(config);
    const learned = new Set<string>();
    const auth_provider = credentialsOf(config, options.sdk) ?? options.auth_provider;
    const { transport } = config;
    this.#settings = {
      config,
      sdk: options.sdk,
      events: this.#events(),
      client_info: options.client_info,
      auth_provider,
      oauth: new OAuthTraffic(transport.type === "stdio" ? "http://localhost" : transport.url, config.oauth, (token) =>
        (auth_provider as GatewayAuthProvider | undefined)?.refused?.(token),
      ),
      fetch: options.fetch,
      get secrets(): readonly string[] {
        return [...learned, ...known];
      },
      onsecret: (credentials) => {
        const secret = credentials.replace(/^\S+ +/, "");
        if (secret.length < SHORTEST_SECRET || known.includes(secret)) return;
        // What was sent last is kept longest.
        learned.delete(secret);
        learned.add(secret);
        for (const oldest of learned) if (learned.size > MOST_SECRETS) learned.delete(oldest);
      },
      connect_timeout_ms: connectTimeout(config, options.connect_timeout_ms ?? 30_000),
      probe_timeout_ms: options.probe_timeout_ms ?? 5_000,
      max_message_bytes: options.max_message_bytes ?? MAX_MESSAGE_BYTES,
      backoff: options.backoff ?? BACKOFF,
      now: this.#now,
      random: options.random ?? Math.random,
      mirrored: (tool) => (this.#lists.get("tools")?.mirrored ?? NO_TOOLS).get(tool),
      learned: { is_sse: config.transport.type === "sse" },
    };
    this.#main = new UpstreamConnection(this.#settings, "", undefined, {});
    this.#source = this.#main;
    this.#state = { status: "connecting", since: this.#now(), attempts: 0 };
  }

  get name(): string {
    return this.config.name;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** Extensions of the protocol that the server declares, as long as it is connected. */
  get extensions(): JsonObject {
    return (this.#source.capabilities["extensions"] ?? {}) as JsonObject;
  }

  /** Whether the server takes calls as tasks of 2025-11-25, as long as it is connected. */
  get takesTasks(): boolean {
    const { tasks } = this.#source.capabilities as {
      readonly tasks?: { readonly requests?: { readonly tools?: { readonly call?: unknown } } };
    };
    return tasks?.requests?.tools?.call !== undefined;
  }

  /** What the server offers, as it said last. */
  get listing(): UpstreamListing | undefined {
    return this.#listing;
  }

  /**
   * Connects, and stays connected from then on. Resolves when the first attempt has come to an end, with its listing if it was a
   * success; never rejects.
   */
  async connect(): Promise<UpstreamState> {
    if (!this.#isClosed) {
      this.#isStarted = true;
      this.#sweepLater();
      // The server refuses a connection without a user, so that of the first user lists it.
      if (this.config.per_user !== undefined) return this.#state;
      await this.#main.open().catch(() => undefined);
      await this.#listingRun;
      // The connection knows by now why it failed.
      if (!this.#main.isReady) this.#unavailable();
    }
    return this.#state;
  }

  /**
   * Connects at once, whatever has failed before: a user has logged in, say. Resolves when the attempt has come to an end; never rejects.
   */
  async reconnect(): Promise<UpstreamState> {
    if (this.#isClosed) return this.#state;
    for (const connection of this.connections) {
      connection.again();
      if (connection !== this.#main && this.#isSubscribed(connection)) this.#revive(connection);
    }
    this.#cancelRetry?.();
    if (this.#state.status === "unavailable") this.#tell({ status: "connecting", since: this.#now(), attempts: 0 });
    return this.connect();
  }

  /**
   * Returns the connection for a session. Of the headers of its client, those that the config names are sent on. The same arguments
   * get the same connection, which is opened when it is first used. Errors: `QUOTA_EXCEEDED` when too many are in use.
   */
  connection(session: string, headers: Readonly<Record<string, string>> = {}): UpstreamConnection {
    const forwarded = this.#forwarded(headers);
    const isShared = this.config.connection === "shared";
    if (isShared && Object.keys(forwarded).length === 0) return this.#main;
    const key = JSON.stringify([isShared ? null : session, Object.entries(forwarded)]);
    const found = this.#pool.get(key);
    if (found !== undefined) return found;
    this.#makeRoom();
    const made = new UpstreamConnection(this.#settings, key, isShared ? undefined : session, forwarded);
    this.#pool.set(key, made);
    this.#sweepLater();
    return made;
  }

  /** Has a server that is there for its users alone be listed by one of them; never rejects. */
  async introduce(session: string, headers: Readonly<Record<string, string>>): Promise<void> {
    if (this.config.per_user === undefined || this.#listing !== undefined || this.#isClosed) return;
    try {
      await this.connection(session, headers).connected();
      // It may be listed over another user's connection, which came first.
      while (this.#listing === undefined && this.#listingRun !== undefined) await this.#listingRun;
    } catch {
      // A call says what is wrong.
    }
  }

  /** The connection by which the server is watched and listed. */
  get main(): UpstreamConnection {
    return this.#main;
  }

  /** All connections, open or not. */
  get connections(): readonly UpstreamConnection[] {
    return [this.#main, ...this.#pool.values()];
  }

  #forwarded(headers: Readonly<Record<string, string>>): Record<string, string> {
    const { forward_headers = [] } = this.config;
    const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const { per_user } = this.config;
    const own = per_user ? expandedFor(this.name, per_user, headers) : {};
    for (const value of Object.values(own)) this.#settings.onsecret(value);
    return { ...this.#passed(forward_headers, given), ...own };
  }

  #passed(forward_headers: readonly string[], given: ReadonlyMap<string, string>): Record<string, string> {
    return Object.fromEntries(
      forward_headers.flatMap((name) => (given.has(name) ? [[name, given.get(name) as string]] : [])),
    );
  }

  #makeRoom(): void {
    const most = this.#options.max_connections ?? 1_000;
    if (this.#pool.size < most) return;
    const idle = [...this.#pool.values()]
      .filter((connection) => !connection.isBusy && !this.#isSubscribed(connection))
      .sort((a, b) => a.usedAt - b.usedAt);
    const [oldest] = idle;
    if (oldest === undefined) {
      throw new ContextWeaverError(
        "QUOTA_EXCEEDED",
        `the server \`${this.name}\` has ${most} connections, all in use`,
        { hint: '`connection: "shared"` takes one for all sessions' },
      );
    }
    this.#retire(oldest);
  }

  /** Disconnects a connection and forgets it; when it is used again, it comes back. */
  #retire(connection: UpstreamConnection): void {
    this.#pool.delete(connection.key);
    connection.rest();
    if (connection === this.#source) this.#source = this.#main;
  }

  /**
   * Sends a request over a connection of this server. Where the server refuses a call because other arguments belong into headers by
   * now, the tools are listed anew and the call is sent again. Errors: {@link UpstreamError}.
   */
  async request(
    connection: UpstreamConnection,
    method: string,
    params?: JsonObject,
    options?: UpstreamRequestOptions,
  ): Promise<JsonObject> {
    if (this.#isClosed) throw new UpstreamError({ kind: "unavailable", message: "the gateway was closed" });
    if (connection !== this.#main && !connection.isClosed && !this.#pool.has(connection.key))
      this.#pool.set(connection.key, connection);
    try {
      return await connection.request(method, params, options);
    } catch (error) {
      this.#refused(error);
      const isMismatch =
        method === "tools/call" && error instanceof UpstreamError && error.failure.code === HEADER_MISMATCH;
      if (!isMismatch || options?.signal?.aborted) throw error;
      await this.#listingRun;
      this.#list(["tools"]);
      await this.#listingRun;
      return connection.request(method, params, options);
    }
  }

  /** Gives all connections up where a user has to log in first: none works until then. */
  #refused(error: unknown): void {
    if (!(error instanceof UpstreamError) || !this.#isWaiting) return;
    for (const connection of this.connections) connection.giveUp(error.failure);
  }

  get #isWaiting(): boolean {
    return awaitedLogin(this.#settings.auth_provider)?.is_blocking === true;
  }

  /** Closes the connections of a session. */
  async endSession(session: string): Promise<void> {
    const ended = [...this.#pool.values()].filter((connection) => connection.session === session);
    for (const { key } of ended) this.#pool.delete(key);
    if (ended.includes(this.#source)) this.#source = this.#main;
    await Promise.all(ended.map((connection) => connection.close()));
  }

  /** Closes everything. Resolves when the program has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of [this.#cancelRelist, this.#cancelRetry, this.#cancelSweep, this.#subscription?.cancel])
      cancel?.();
    const all = this.connections;
    this.#pool.clear();
    await Promise.all(all.map((connection) => connection.close()));
  }

  /** Reports the state of the server, with secrets masked. */
  report(): UpstreamReport {
    const all = this.connections;
    const stderr = this.#main.stderr();
    const { serverInfo } = this.#source;
    return {
      ...describeServer(this.config),
      state: this.#state,
      ...(serverInfo && { server_info: maskedValue(serverInfo, this.#settings.secrets) as JsonObject }),
      ...(this.#listing && { counts: this.#listing.counts, problems: this.#listing.problems }),
      connections: all.filter(({ isReady }) => isReady).length,
      in_flight: all.reduce((sum, { inFlight }) => sum + inFlight.size, 0),
      dropped_notifications: all.reduce((sum, { dropped }) => sum + dropped, 0),
      ...(stderr.length > 0 && { stderr }),
    };
  }

  #events(): ConnectionEvents {
    return {
      onRequest: (connection, request, options) =>
        this.#options.host.onRequest(this.name, connection, request, options),
      onNotification: (connection, notification) => {
        const { method } = notification;
        const changed = Object.hasOwn(CHANGED, method) ? CHANGED[method] : undefined;
        if (changed !== undefined && connection === this.#source) this.#changed(changed);
        this.#options.host.onNotification(this.name, connection, notification);
      },
      onReady: (connection) => {
        this.#connected(connection);
        this.#options.host.onReady?.(this.name, connection);
      },
      onLost: (connection, failure) => this.#lost(connection, failure),
    };
  }

  #connected(connection: UpstreamConnection): void {
    if (this.#isClosed) return;
    if (connection !== this.#main) {
      // A server that is there for its users alone is listed as the first of them sees it, and by another when that one has left.
      const { failure } = this.#main.trouble;
      if (this.config.per_user !== undefined) {
        if (this.#source.isReady) return;
      } else if (this.#listing !== undefined || this.#main.isReady || !FORBIDDEN.includes(failure?.status ?? 0)) return;
      this.#cancelRetry?.();
    }
    this.#source = connection;
    this.#list(LIST_KINDS);
    this.#subscribe(connection);
  }

  #lost(connection: UpstreamConnection, failure: UpstreamFailure): void {
    if (this.#isClosed) return;
    if (connection !== this.#main && this.#isSubscribed(connection)) this.#revive(connection);
    if (connection !== this.#source) return;
    this.#subscription?.cancel();
    if (connection === this.#main) this.#unavailable(failure);
  }

  /** Says that the server is not there, and tries again later. */
  #unavailable(failure = this.#main.trouble.failure): void {
    if (this.#isClosed || failure === undefined) return;
    const { failures: attempts, retryAt: retry_at } = this.#main.trouble;
    const { since } = this.#state.status === "unavailable" ? this.#state : { since: this.#now() };
    this.#cancelRetry?.();
    // Nobody knows how long a login takes. `reconnect` is called after it.
    if (this.#isWaiting)
      return this.#tell({ status: "unavailable", since, attempts, reason: failure.message, failure, awaits: "login" });
    this.#tell({ status: "unavailable", since, attempts, reason: failure.message, failure, retry_at });
    this.#cancelRetry = later(Math.max(0, retry_at - this.#now()), () => void this.#retry());
  }

  async #retry(): Promise<void> {
    if (this.#isClosed || this.#source !== this.#main) return;
    await this.#main.open().catch(() => this.#unavailable());
  }

  #tell(state: UpstreamState): void {
    this.#state = state;
    quietly(() => this.#options.host.onState(this.name, state));
  }

  #ready(connection: UpstreamConnection): void {
    if (this.#state.status === "ready" || !connection.isReady) return;
    const { protocolVersion } = connection;
    this.#tell({
      status: "ready",
      since: this.#now(),
      ...(protocolVersion !== undefined && { protocol_version: protocolVersion }),
    });
  }

  /** Asks for the lists that have changed, when there was time for further changes. */
  #changed(kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.#dirty.add(kind);
    if (this.#cancelRelist !== undefined || this.#listingRun !== undefined || this.#isClosed) return;
    const wait = Math.max(this.#options.debounce_ms ?? 100, this.#pauseUntil - this.#now());
    this.#cancelRelist = later(wait, () => {
      this.#cancelRelist = undefined;
      this.#list([]);
    });
  }

  /** Lists what is dirty, and these; one run at a time. */
  #list(kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.#dirty.add(kind);
    if (this.#listingRun !== undefined || this.#isClosed) return;
    this.#cancelRelist?.();
    this.#cancelRelist = undefined;
    const begin = this.#now();
    this.#listingRun = this.#listed()
      .catch(() => undefined)
      .finally(() => {
        this.#listingRun = undefined;
        const now = this.#now();
        this.#pauseUntil = Math.max(this.#pauseUntil, now + Math.min(MAX_PAUSE_MS, (now - begin) * LISTING_PAUSES));
        if (this.#dirty.size > 0) this.#changed([]);
      });
  }

  async #listed(): Promise<void> {
    const connection = this.#source;
    const wanted = this.#dirty;
    this.#dirty = new Set();
    const offered = listsOf(connection.capabilities);
    const limits = { ...LISTING_LIMITS, ...this.#options.listing };
    const how = { limits, isMirroring: connection.era === "modern" && connection.kind === "http" };
    const failed: ListingProblem[] = [];
    const again: ListKind[] = [];
    let left = limits.bytes;
    for (const kind of LIST_KINDS) {
      if (!offered.includes(kind)) {
        this.#lists.delete(kind);
        continue;
      }
      if (wanted.has(kind) || !this.#lists.has(kind)) {
        try {
          const ask = (method: string, params: JsonObject, timeout_ms: number): Promise<JsonObject> =>
            connection.request(method, params, { timeout_ms });
          const list = await readList(ask, kind, how, left);
          const { broken: message } = list;
          if (message !== undefined) again.push(kind);
          const known = this.#lists.get(kind);
          // What a whole list had is not gone where only a part of the next one came.
          if (message !== undefined && known !== undefined && known.broken === undefined)
            failed.push({ list: kind, kind: "failed", message });
          else this.#lists.set(kind, list);
        } catch (error) {
          // It is asked again when it is connected again.
          if (!connection.isReady || this.#isClosed) return;
          const { message, code } = failureOf(error, this.#settings.secrets);
          failed.push({ list: kind, kind: "failed", message });
          if (code !== METHOD_NOT_FOUND) again.push(kind);
        }
      }
      for (const entry of this.#lists.get(kind)?.entries ?? []) left -= entry.length;
    }
    if (!connection.isReady || this.#isClosed) return;
    this.#listAgain(again);
    const listing = listingOf(this.#lists, failed, connection.instructions);
    const before = this.#listing;
    this.#listing = listing;
    if (before === undefined || !isSame(before.bytes, listing.bytes))
      quietly(() => this.#options.host.onListing(this.name, listing));
    this.#ready(connection);
  }

  /** Asks again for lists that failed, after a pause that grows with each failure. */
  #listAgain(kinds: readonly ListKind[]): void {
    this.#listFailures = kinds.length > 0 ? this.#listFailures + 1 : 0;
    if (kinds.length === 0) return;
    this.#pauseUntil = this.#now() + backoffMs(this.#settings.backoff, this.#listFailures);
    for (const kind of kinds) this.#dirty.add(kind);
  }

  /** Asks a server of 2026-07-28 to tell what changes, and again when it has stopped. */
  #subscribe(connection: UpstreamConnection): void {
    this.#subscription?.cancel();
    this.#subscription = undefined;
    if (connection.era !== "modern") return;
    const { tools, resources, prompts } = connection.capabilities as Record<string, JsonObject | undefined>;
    const filter = {
      ...(tools?.["listChanged"] === true && { toolsListChanged: true }),
      ...(resources?.["listChanged"] === true && { resourcesListChanged: true }),
      ...(prompts?.["listChanged"] === true && { promptsListChanged: true }),
    };
    if (Object.keys(filter).length === 0) return;
    const stop = new AbortController();
    this.#subscription = { cancel: () => stop.abort() };
    void keptOpen(connection, filter, {
      backoff: this.#settings.backoff,
      now: this.#now,
      signal: stop.signal,
      onagain: () => this.#changed(LIST_KINDS),
    });
  }

  /** Closes what is idle, and asks the rest over HTTP whether it is still there. */
  #sweepLater(): void {
    if (this.#cancelSweep !== undefined || this.#isClosed) return;
    const { idle_ms = 600_000, ping_ms = 60_000 } = this.#options;
    this.#cancelSweep = later(Math.max(10, Math.min(ping_ms, idle_ms) / 2), () => {
      this.#cancelSweep = undefined;
      this.#sweep(idle_ms, ping_ms);
      if (this.#isStarted || this.#pool.size > 0) this.#sweepLater();
    });
  }

  #sweep(idle_ms: number, ping_ms: number): void {
    const now = this.#now();
    for (const connection of this.connections) {
      const idle = now - connection.usedAt;
      if (connection.isBusy) continue;
      if (connection !== this.#main && idle >= idle_ms && !this.#isKept(connection)) this.#retire(connection);
      else if (connection.isReady && connection.kind !== "stdio" && idle >= ping_ms)
        void connection.ping(PING_TIMEOUT_MS);
    }
  }

  /** Whether a client counts on what its connection is to the server: it is there, and has no later one, as by renewed credentials. */
  #isKept(connection: UpstreamConnection): boolean {
    const { session, usedAt } = connection;
    if (this.#isSubscribed(connection)) return true;
    if (session === undefined || this.#options.host.isLive?.(session) !== true) return false;
    return ![...this.#pool.values()].some((other) => other.session === session && other.usedAt > usedAt);
  }

  #isSubscribed(connection: UpstreamConnection): boolean {
    return this.#options.host.isSubscribed?.(connection) === true;
  }

  /** Connects again what clients are subscribed over: nobody else uses it until its server has told of a change. */
  #revive(connection: UpstreamConnection): void {
    if (this.#reviving.has(connection)) return;
    this.#reviving.add(connection);
    later(Math.max(0, connection.trouble.retryAt - this.#now()), () => {
      this.#reviving.delete(connection);
      if (this.#isClosed || connection.isClosed || !this.#isSubscribed(connection)) return;
      // Nobody knows how long a login takes. `reconnect` is called after it.
      connection.open().catch(() => {
        if (!this.#isWaiting) this.#revive(connection);
      });
    });
  }
}

/**
 * How long connecting may take. Over HTTP not much longer than a call: whoever waits for an attempt that hangs cannot begin another one,
 * also when the server is in order again.
 */
function connectTimeout({ transport, timeout_ms }: ServerConfig, most: number): number {
  return transport.type === "stdio" ? most : Math.min(most, Math.max(LEAST_CONNECT_MS, timeout_ms));
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
