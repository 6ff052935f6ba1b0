// One connection to an upstream server: made when it is needed, again when it was lost, and never two at a time.
import { withRounded } from "../boundary/exact-numbers.js";
import { quietly } from "../telemetry/quietly.js";
import type { JsonObject } from "../types.js";
import { awaitedLogin, loginMessage } from "./auth-provider.js";
import type { ServerConfig, ServerTransport } from "./config-types.js";
import type { CallRef, ServerMessage, UpstreamRequestOptions } from "./connection-types.js";
import { UpstreamError, failureOf, maskedText, noteOf } from "./failure.js";
import type { UpstreamFailure } from "./failure.js";
import { INTERNAL_ERROR, METHOD_NOT_FOUND, SERVER_ERROR } from "./rpc-codes.js";
import type { Fetch } from "./http-link.js";
import type { OAuthTraffic } from "./oauth-traffic.js";
import type { PriorDiscovery, Progress, SdkClient, SdkSubscription, UpstreamSdk } from "./sdk.js";
import { UI, VIEWS } from "./extensions.js";
import { answersLast, killed, unlessLost } from "./live.js";
import type { Live } from "./live.js";
import { endOf } from "./program-transport.js";
import { isAlike, isRefused, mayBeForgotten, mayFailForTheProbe, refusesOlder } from "./session-refusal.js";
import { asGiven, carriesTasks, sentAs } from "./task-wire.js";
import { backoffMs, within } from "./timers.js";
import type { Backoff } from "./timers.js";
import { openLink, refusesStreamable } from "./transports.js";
import type { Link } from "./transports.js";

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

/** What we can do for a server, whoever the client is: one that cannot is answered with an error when it is asked. */
const CAPABILITIES = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  extensions: { [UI]: VIEWS },
};
/** Milliseconds by which a timer is late only where the process is busy. */
const LATE_MS = 1_000;
/** Requests under way on one connection. */
const MAX_IN_FLIGHT = 1_000;
/** Questions of a server that are not answered yet. */
const MAX_SERVED = 64;
/** Notifications of a server in a second; those beyond are dropped and counted. */
const MAX_NOTIFICATIONS = 1_000;
/** Messages in ten seconds that are none of the protocol, or answers nobody waits for, before a connection is given up. */
const MAX_MALFORMED = 1_000;
/** With progress, how many times the timeout a request may take. */
const MOST_TIMEOUTS = 10;
/** How long a server counts as one of the older era without being asked again. */
const PRIOR_MS = 10 * 60_000;
/** A request waits for the next attempt to connect if it is that near. */
const PATIENCE_MS = 2_000;
/** A connection that held so long, or that has answered, was a success. */
const STABLE_MS = 10_000;
const UNAUTHORIZED = 401;
/** How long a server over HTTP is asked for the newest era: it would answer other requests that quickly, too. */
const HTTP_PROBE_MS = 3_000;
/**
 * How a server is met: asked for the newest era for a short time, as clients of the older one do, or asked and awaited, after it has said
 * that it knows no older one.
 */
type Era = "asked" | "older" | "awaited";
/** How long it is waited whether a server answers in a session at all. */
const CHECK_MS = 5_000;

const OLDER: PriorDiscovery = { kind: "legacy" };
/** Results are taken as they come: they are checked where they are used, and a field nobody knows yet is no reason to lose them. */
const ANY_RESULT = { "~standard": { version: 1, vendor: "contextweaver", validate: (value: unknown) => ({ value }) } };
/** The runtime checks results against the schemas of tools, with a budget; the SDK would compile them. */
const NO_VALIDATOR = {
  getValidator: () => (input: unknown) => ({ valid: true, data: input, errorMessage: undefined }),
};

/** What the SDK says of a message of a program that is larger than its buffer. */
const TOO_LARGE = /exceeded maximum size/i;

type Context = { readonly mcpReq: { readonly signal: AbortSignal } };

/** A connection to an upstream server. */
export class UpstreamConnection {
  /** The name of the server. */
  readonly server: string;
  /** The session of the client it belongs to; none for one that all share. */
  readonly session: string | undefined;
  /** By which it is found again. @internal */
  readonly key: string;
  readonly #settings: ConnectionSettings;
  readonly #forwarded: Readonly<Record<string, string>>;
  readonly #inFlight = new Set<CallRef>();
  #live: Live | undefined;
  /** The attempt that is under way. */
  #opening: Promise<Live> | undefined;
  #renewing: Promise<boolean> | undefined;
  /** Sessions in whose place is another one, with requests under way. */
  readonly #left = new Set<Live>();
  /** Attempts to connect so far, and the one that is under way or has succeeded. */
  #attempts = 0;
  #attempt = 0;
  #failures = 0;
  #failure: UpstreamFailure | undefined;
  #retryAt = 0;
  #calls = 0;
  #served = 0;
  readonly #closed = new AbortController();
  #closing: Promise<unknown> = Promise.resolve();
  #heard = { since: 0, count: 0 };
  #malformed = { since: 0, count: 0 };
  #stderr: Link["stderr"];
  /** Milliseconds since the epoch when it was used last. @internal */
  usedAt: number;
  /** Notifications that were too many. @internal */
  dropped = 0;

  /** Made by `Upstream.connection`. @internal */
  constructor(
    settings: ConnectionSettings,
    key: string,
    session: string | undefined,
    forwarded: Readonly<Record<string, string>>,
  ) {
    this.#settings = settings;
    [this.server, this.key, this.session, this.#forwarded] = [settings.config.name, key, session, forwarded];
    this.usedAt = settings.now();
  }

  /** Requests that wait for the server's answer. */
  get inFlight(): ReadonlySet<CallRef> {
    return this.#inFlight;
  }

  /** Whether somebody waits for it: for an answer, or until it is connected. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0 || this.#opening !== undefined;
  }

  /** Whether it was closed for good. */
  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  get isReady(): boolean {
    return this.#live !== undefined;
  }

  /** `modern` from 2026-07-28 on, as long as it is connected. */
  get era(): "modern" | "legacy" | undefined {
    return this.#live?.client.getProtocolEra();
  }

  get protocolVersion(): string | undefined {
    return this.#live?.client.getNegotiatedProtocolVersion();
  }

  get capabilities(): JsonObject {
    return (this.#live?.client.getServerCapabilities() ?? {}) as JsonObject;
  }

  /** Name and version as the server says. */
  get serverInfo(): JsonObject | undefined {
    return this.#live?.client.getServerVersion() as JsonObject | undefined;
  }

  get instructions(): string | undefined {
    return this.#live?.client.getInstructions();
  }

  /** How it is connected; before, how it would be. */
  get kind(): ServerTransport["type"] {
    return this.#live?.link.kind ?? this.#settings.config.transport.type;
  }

  /** Attempts that failed since the last success, the last failure, and when it is tried again. @internal */
  get trouble(): {
    readonly failures: number;
    readonly failure: UpstreamFailure | undefined;
    readonly retryAt: number;
  } {
    return { failures: this.#failures, failure: this.#failure, retryAt: this.#retryAt };
  }

  /** The last lines of the program's standard error, masked. */
  stderr(): readonly string[] {
    return this.#stderr?.lines(this.#settings.secrets) ?? [];
  }

  /**
   * Sends a request, and connects before if need be. What the server answers is returned as it came, `input_required` of 2026-07-28
   * too. Errors: {@link UpstreamError}, and nothing else.
   */
  async request(method: string, params: JsonObject = {}, options: UpstreamRequestOptions = {}): Promise<JsonObject> {
    const { signal, timeout_ms = this.#settings.config.timeout_ms } = options;
    for (let round = 0; ; round += 1) {
      let live: Live | undefined;
      try {
        live = await this.#connectedIn(timeout_ms, signal);
        return await this.#send(live, method, params, options, timeout_ms);
      } catch (error) {
        const failure = withLimit(this.#failureOf(error, signal), timeout_ms);
        if (round > 0 || live === undefined || signal?.aborted) throw new UpstreamError(failure);
        // The server has not even looked at a request of a session it has forgotten.
        if (noteOf(error)?.isGone) this.#forgotten(live);
        else if (!mayBeForgotten(failure) || !(await this.#renewed(live, failure)) || !isRefused(failure))
          throw new UpstreamError(failure);
      }
    }
  }

  /**
   * Begins another session where a server refuses everything in this one, a ping too, and takes a new one: many forget a session without
   * saying so by 404. Tells whether there is another one now.
   */
  #renewed(live: Live, failure: UpstreamFailure): Promise<boolean> {
    if (live.link.transport.sessionId === undefined || awaitedLogin(this.#settings.auth_provider)?.is_blocking === true)
      return Promise.resolve(false);
    this.#renewing ??= this.#renew(live, failure).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(live: Live, failure: UpstreamFailure): Promise<boolean> {
    if (this.#live !== live) return this.#live !== undefined;
    const refusal = await live.client.ping({ timeout: CHECK_MS }).then(
      () => undefined,
      (error: unknown) => failureOf(error, []),
    );
    if (refusal === undefined || !isAlike(refusal, failure)) return false;
    const attempt = (this.#attempts += 1);
    // Where a new session is refused, too, the session is not what is wrong.
    const fresh = await this.#connected(attempt).catch(() => undefined);
    if (fresh === undefined) return false;
    if (this.isClosed || this.#live !== live) {
      this.#end(fresh);
      return this.#live !== undefined;
    }
    this.#became(fresh, attempt);
    this.#endIdle(live);
    return true;
  }

  /** What went wrong; where a user has to log in, what to do. */
  #failureOf(error: unknown, signal?: AbortSignal): UpstreamFailure {
    const { secrets, auth_provider } = this.#settings;
    const failure = failureOf(error, secrets, signal);
    const awaited = failure.status === UNAUTHORIZED ? awaitedLogin(auth_provider) : undefined;
    return awaited === undefined ? failure : { ...failure, message: loginMessage(awaited) };
  }

  async #send(
    live: Live,
    method: string,
    params: JsonObject,
    options: UpstreamRequestOptions,
    timeout: number,
  ): Promise<JsonObject> {
    const { signal, onprogress, meta, context } = options;
    if (this.#inFlight.size >= MAX_IN_FLIGHT) throw this.#unavailable(`${MAX_IN_FLIGHT} requests are under way`);
    const all: JsonObject =
      meta === undefined
        ? { ...params }
        : { ...params, _meta: { ...(params["_meta"] as JsonObject | undefined), ...meta } };
    const call: CallRef = { id: (this.#calls += 1), method, params: all, context };
    this.#inFlight.add(call);
    this.usedAt = this.#settings.now();
    const how = {
      timeout,
      allowInputRequired: true,
      ...(signal && { signal }),
      ...(onprogress && {
        onprogress: guarded(onprogress),
        resetTimeoutOnProgress: true,
        maxTotalTimeout: timeout * MOST_TIMEOUTS,
      }),
    };
    try {
      const isModern = live.client.getProtocolEra() === "modern";
      const tool =
        method === "tools/call" && live.link.kind === "http" && isModern
          ? this.#settings.mirrored(String(all["name"]))
          : undefined;
      // Without the schema of its output, so that the SDK checks nothing and throws nothing away.
      const result = await unlessLost(live, () =>
        tool
          ? live.client.callTool(
              withRounded(all) as never,
              { ...how, toolDefinition: { name: tool["name"], inputSchema: tool["inputSchema"] } } as never,
            )
          : live.client.request(
              { method: isModern ? sentAs(method) : method, params: all },
              ANY_RESULT as never,
              how as never,
            ),
      );
      this.#failures = 0;
      if (typeof result === "object" && result !== null && !Array.isArray(result)) return asGiven(result as JsonObject);
      throw new UpstreamError({ kind: "malformed", message: "the server's result is not an object" });
    } finally {
      this.#inFlight.delete(call);
      this.usedAt = this.#settings.now();
    }
  }

  /** Connects, if it is not, within the time of a request; waits for a moment after failures. Errors: {@link UpstreamError}. */
  async connected({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#connectedIn(this.#settings.config.timeout_ms, signal);
  }

  /** The connection as it is, or one that is made in time; whoever waits for it may give up before. */
  async #connectedIn(timeout_ms: number, signal: AbortSignal | undefined): Promise<Live> {
    if (this.#live !== undefined) return this.#live;
    const late = (): Error => this.#unavailable("the server is not connected in time", "timeout");
    try {
      return await within(this.open(true), timeout_ms, signal, late);
    } catch (error) {
      throw new UpstreamError(failureOf(error, this.#settings.secrets, signal));
    }
  }

  /** Sends a notification; one that cannot be sent is lost, as notifications are. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    try {
      await this.#live?.client.notification({ method, ...(params && { params: { ...params } }) });
    } catch {
      // What the server must not miss is a request.
    }
  }

  /** Opens a subscription of 2026-07-28. Errors: {@link UpstreamError}; `rpc` -32601 on a server of another era. */
  async listen(filter: JsonObject, options: { readonly signal?: AbortSignal } = {}): Promise<SdkSubscription> {
    const { signal } = options;
    try {
      const { client } = await this.#connectedIn(this.#settings.connect_timeout_ms, signal);
      if (client.getProtocolEra() !== "modern")
        throw new UpstreamError({
          kind: "rpc",
          code: METHOD_NOT_FOUND,
          message: "the server has no subscriptions/listen",
        });
      return await client.listen(filter, { timeout: this.#settings.connect_timeout_ms, ...(signal && { signal }) });
    } catch (error) {
      throw new UpstreamError(failureOf(error, this.#settings.secrets, signal));
    }
  }

  /**
   * Asks whether the server still answers, in the era that can be asked; whatever it answers is an answer. Where the timer of the ping
   * fires late, this process was busy: then nothing is known of the server. @internal
   */
  async ping(timeout: number): Promise<void> {
    const live = this.#live;
    if (live === undefined || live.client.getProtocolEra() !== "legacy") return;
    const attempt = this.#attempt;
    const { now } = this.#settings;
    const begun = now();
    try {
      await live.client.ping({ timeout });
    } catch (error) {
      const failure = failureOf(error, this.#settings.secrets);
      const isLate = failure.kind === "timeout" && now() - begun > timeout + LATE_MS;
      if (failure.kind !== "rpc" && !isLate)
        this.#lose(attempt, {
          ...failure,
          kind: "unavailable",
          message: `the server does not answer a ping: ${failure.message}`,
        });
    }
  }

  /**
   * Connects, if it is not. With `isPatient`, a time to wait after failures is waited for when it is short, else it is an error at once.
   * Errors: {@link UpstreamError}. @internal
   */
  open(isPatient = false): Promise<Live> {
    if (this.#live !== undefined) return Promise.resolve(this.#live);
    this.#opening ??= this.#opened(isPatient).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #opened(isPatient: boolean): Promise<Live> {
    if (this.#closed.signal.aborted) throw this.#unavailable("the connection was closed");
    const awaited = awaitedLogin(this.#settings.auth_provider);
    // Another attempt would only begin another login.
    if (awaited?.is_blocking === true)
      throw new UpstreamError((this.#failure = { kind: "http", status: UNAUTHORIZED, message: loginMessage(awaited) }));
    const wait = this.#retryAt - this.#settings.now();
    if (isPatient && wait > 0) {
      if (wait > PATIENCE_MS)
        throw new UpstreamError({
          kind: "unavailable",
          message: "the server is not connected",
          ...this.#failure,
          retry_after_ms: wait,
        });
      await new Promise((done) => setTimeout(done, wait));
    }
    const attempt = this.#next();
    try {
      const live = await this.#connected(attempt);
      if (this.#closed.signal.aborted || attempt !== this.#attempt) {
        this.#end(live);
        throw this.#unavailable("the connection was closed");
      }
      this.#became(live, attempt);
      return live;
    } catch (error) {
      const failure = this.#failureOf(error);
      this.#failed(failure);
      throw new UpstreamError(failure);
    }
  }

  /** Another attempt than any before: what is told of those is heard no more. */
  #next(): number {
    return (this.#attempt = this.#attempts += 1);
  }

  #became(live: Live, attempt: number): void {
    [this.#live, this.#attempt] = [live, attempt];
    this.#failure = undefined;
    this.#retryAt = 0;
    this.usedAt = this.#settings.now();
    quietly(() => this.#settings.events.onReady(this));
  }

  /** Makes a connection, with HTTP+SSE where a server refuses Streamable HTTP and the config leaves it open. */
  async #connected(attempt: number): Promise<Live> {
    const { config, learned } = this.#settings;
    const { transport } = config;
    try {
      return await this.#negotiated(attempt, learned.is_sse);
    } catch (error) {
      delete learned.prior;
      const mayBeSse = transport.type === "http" && transport.sse_fallback === true && !learned.is_sse;
      if (!mayBeSse || !refusesStreamable(failureOf(error, []).status)) throw error;
      try {
        const live = await this.#negotiated(attempt, true);
        learned.is_sse = true;
        return live;
      } catch {
        // It is no server of either kind: what it said first tells more.
        throw error;
      }
    }
  }

  /** Connects; where the server refuses the older era, it is asked for the newest once more and awaited. */
  async #negotiated(attempt: number, is_sse: boolean): Promise<Live> {
    try {
      return await this.#probed(attempt, is_sse);
    } catch (error) {
      if (is_sse || this.isClosed || !refusesOlder(error)) throw error;
      return this.#handshake(attempt, is_sse, "awaited");
    }
  }

  /**
   * Asks for the newest era, where it may be the server's, and otherwise connects as clients of the older one do: a server over HTTP need
   * not know what it is asked, and may answer with anything or not at all.
   */
  async #probed(attempt: number, is_sse: boolean): Promise<Live> {
    const { config, learned, now } = this.#settings;
    // HTTP+SSE is of the older era.
    const isOlder = !config.probe || is_sse || (learned.prior !== undefined && learned.prior.until > now());
    try {
      return await this.#handshake(attempt, is_sse, isOlder ? "older" : "asked");
    } catch (error) {
      if (isOlder || config.transport.type === "stdio" || this.isClosed || !mayFailForTheProbe(this.#failureOf(error)))
        throw error;
      if (awaitedLogin(this.#settings.auth_provider)?.is_blocking === true) throw error;
      return this.#handshake(attempt, is_sse, "older");
    }
  }

  async #handshake(attempt: number, is_sse: boolean, era: Era): Promise<Live> {
    const {
      config,
      sdk,
      learned,
      auth_provider,
      max_message_bytes,
      connect_timeout_ms: timeout,
      probe_timeout_ms,
      client_info,
      now,
    } = this.#settings;
    const client = new sdk.client.Client(client_info, {
      capabilities: CAPABILITIES,
      jsonSchemaValidator: NO_VALIDATOR,
      versionNegotiation: {
        mode: "auto",
        probe: {
          timeoutMs:
            era === "awaited"
              ? timeout
              : Math.min(probe_timeout_ms, timeout, config.transport.type === "stdio" ? timeout : HTTP_PROBE_MS),
        },
      },
      inputRequired: { autoFulfill: false },
    } as never) as SdkClient;
    const link = await openLink(config, {
      sdk,
      forwarded: this.#forwarded,
      max_message_bytes,
      is_sse,
      ...(auth_provider && { auth_provider }),
      oauth: this.#settings.oauth,
      ...(this.#settings.fetch && { fetch: this.#settings.fetch }),
      onsecret: this.#settings.onsecret,
      onend: (message) => this.#lose(attempt, { kind: "unavailable", message }),
    });
    this.#stderr = link.stderr;
    const live: Live = { client, link, since: now(), waiting: new Set() };
    let lastError: Error | undefined;
    client.onerror = (error) => {
      lastError = error;
      this.#erred(attempt, error);
    };
    client.onclose = () => this.#lose(attempt, this.#ended(link, lastError));
    client.fallbackRequestHandler = ((request: ServerMessage, context: Context) =>
      this.#serve(request, context)) as never;
    client.fallbackNotificationHandler = ((notification: ServerMessage) =>
      Promise.resolve(this.#hear(notification))) as never;
    try {
      const connecting = client.connect(link.transport as never, { timeout, ...(era === "older" && { prior: OLDER }) });
      await within(connecting, timeout, this.#closed.signal, () =>
        this.#unavailable(`the server did not answer within ${timeout} ms`, "timeout"),
      );
    } catch (error) {
      this.#end(live);
      // A connection that was cut is told by what cut it.
      const failure = failureOf(error, this.#settings.secrets);
      const said = endOf(link.transport) ?? ((link.stderr?.bytes ?? 0) > 0 ? failure.message : undefined);
      if (failure.kind === "unavailable" && link.kind === "stdio" && said !== undefined)
        throw new UpstreamError({ ...failure, message: this.#withStderr(said, link) });
      throw error;
    }
    answersLast(link.transport);
    if (client.getProtocolEra() === "modern") carriesTasks(link.transport);
    if (client.getProtocolEra() === "legacy") learned.prior ??= { until: now() + PRIOR_MS };
    else delete learned.prior;
    return live;
  }

  #ended(link: Link, lastError: Error | undefined): UpstreamFailure {
    const what = link.kind === "stdio" ? (endOf(link.transport) ?? "the program ended") : "the connection was closed";
    if (TOO_LARGE.test(lastError?.message ?? "")) return this.#tooLarge();
    return { kind: "unavailable", message: this.#withStderr(what, link) };
  }

  #tooLarge(): UpstreamFailure {
    return {
      kind: "malformed",
      message: `the server sent a message larger than ${this.#settings.max_message_bytes} bytes`,
    };
  }

  #withStderr(message: string, link: Link): string {
    const last = link.stderr?.lines(this.#settings.secrets).at(-1);
    return maskedText(last === undefined ? message : `${message}; it last wrote: ${last}`, this.#settings.secrets);
  }

  /** Answers a question of the server. */
  async #serve({ method, params }: ServerMessage, { mcpReq: { signal } }: Context): Promise<JsonObject> {
    if (this.#served >= MAX_SERVED) throw rpcError(SERVER_ERROR, "too many requests wait for an answer");
    this.#served += 1;
    try {
      return await this.#settings.events.onRequest(this, { method, ...(params && { params }) }, { signal });
    } catch (error) {
      const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
      // What else is thrown is ours, and none of the server's business.
      if (typeof code === "number" && Number.isSafeInteger(code)) throw rpcError(code, String(message), data);
      throw rpcError(INTERNAL_ERROR, "the request could not be answered");
    } finally {
      this.#served -= 1;
    }
  }

  #hear({ method, params }: ServerMessage): void {
    if (overrun(this.#heard, MAX_NOTIFICATIONS, 1_000, this.#settings.now()) && !method.endsWith("/list_changed")) {
      this.dropped += 1;
      return;
    }
    quietly(() => this.#settings.events.onNotification(this, { method, ...(params && { params }) }));
  }

  /** Counts what is none of the protocol; a server that sends nothing else is given up. */
  #erred(attempt: number, { message }: Error): void {
    if (TOO_LARGE.test(message)) return this.#lose(attempt, this.#tooLarge());
    if (!overrun(this.#malformed, MAX_MALFORMED, 10_000, this.#settings.now())) return;
    this.#lose(attempt, {
      kind: "malformed",
      message: `the server sent ${MAX_MALFORMED} messages that are none of the protocol`,
    });
  }

  /** Gives up a connection, and says so once. */
  #lose(attempt: number, failure: UpstreamFailure, end = (live: Live) => this.#end(live, failure)): void {
    const live = this.#live;
    if (attempt !== this.#attempt || live === undefined) return;
    this.#live = undefined;
    this.#next();
    if (this.#settings.now() - live.since >= STABLE_MS) this.#failures = 0;
    this.#failed(failure);
    end(live);
    quietly(() => this.#settings.events.onLost(this, failure));
  }

  /** Gives up a session that the server has forgotten. What else is under way in it the server refuses by itself, and is sent again. */
  #forgotten(live: Live): void {
    if (live !== this.#live) return;
    const failure = { kind: "unavailable", message: "the server has forgotten the session" } as const;
    this.#lose(this.#attempt, failure, () => this.#endIdle(live));
  }

  #failed(failure: UpstreamFailure): void {
    const { backoff, now, random } = this.#settings;
    this.#failure = failure;
    this.#failures += 1;
    this.#retryAt =
      now() + Math.max(backoffMs(backoff, this.#failures - 1) * (0.5 + random() / 2), failure.retry_after_ms ?? 0);
  }

  #end(live: Live, failure: UpstreamFailure = { kind: "unavailable", message: "the connection was closed" }): void {
    const { client, link, waiting } = live;
    this.#left.delete(live);
    client.onclose = undefined;
    // What a program goes on to send would be read until it has ended, which it is given seconds for.
    if (failure.kind === "malformed") killed(link);
    for (const fail of waiting) fail(new UpstreamError(failure));
    // Both, since a client that never got to the transport does not close it.
    const ended = [client.close(), link.transport.close()].map((closed) => closed.catch(() => undefined));
    this.#closing = Promise.all([this.#closing, ...ended]);
  }

  /** Ends what another session takes the place of when nothing is under way in it any more. */
  #endIdle(live: Live): void {
    if (live.waiting.size === 0) return this.#end(live);
    this.#left.add(live);
    live.onidle = () => this.#end(live);
  }

  #unavailable(message: string, kind: "timeout" | "unavailable" = "unavailable"): UpstreamError {
    return new UpstreamError({ kind, message });
  }

  /** Forgets failures: the next request connects at once. @internal */
  again(): void {
    this.#failures = 0;
    this.#retryAt = 0;
  }

  /** Gives up a connection that can do nothing. @internal */
  giveUp(failure: UpstreamFailure): void {
    if (this.#inFlight.size === 0) this.#lose(this.#attempt, failure);
  }

  /** Disconnects until it is used again. @internal */
  rest(): void {
    const live = this.#live;
    if (live === undefined || this.#inFlight.size > 0) return;
    this.#live = undefined;
    this.#next();
    this.#end(live);
  }

  /** Closes it for good. Requests under way fail. Resolves when a program has ended. */
  async close(): Promise<void> {
    this.#closed.abort(this.#unavailable("the connection was closed"));
    const live = this.#live;
    this.#live = undefined;
    this.#next();
    for (const one of [...this.#left, ...(live ? [live] : [])]) this.#end(one);
    await this.#opening?.catch(() => undefined);
    await this.#renewing;
    await this.#closing;
  }
}

/** Says of a request that took too long how long it had, and where that is set. */
function withLimit(failure: UpstreamFailure, timeout_ms: number): UpstreamFailure {
  if (failure.kind !== "timeout") return failure;
  return {
    ...failure,
    message: `${failure.message} after ${timeout_ms} ms: \`timeout_ms\` in the server's entry allows more`,
  };
}

function guarded(onprogress: (progress: Progress) => void): (progress: Progress) => void {
  return (progress) => quietly(() => onprogress(progress));
}

/** Counts an event, and tells whether there were too many in a time. */
function overrun(window: { since: number; count: number }, most: number, milliseconds: number, now: number): boolean {
  if (now - window.since >= milliseconds) [window.since, window.count] = [now, 0];
  window.count += 1;
  return window.count > most;
}

function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, ...(data !== undefined && { data }) });
}
