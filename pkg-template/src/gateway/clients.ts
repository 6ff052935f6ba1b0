// The clients of a gateway: who is there, who is told what changed, and who is asked what an upstream wants to know.
import { ClientFront } from "./front.js";
import { LEVELS } from "./front-client.js";
import type { FrontClient, ServedClient } from "./front-client.js";
import type { FrontHost } from "./front-host.js";
import { UpstreamCall } from "./bridge.js";
import { maskedText } from "./failure.js";
import { METHOD_NOT_FOUND } from "./rpc-codes.js";
import type { ListChanges } from "./runtime-types.js";
import type { Fields, McpRequest, SdkHttpHandler } from "./server-sdk.js";
import type { GatewaySessions } from "./session.js";
import type { UpstreamConnection } from "./upstream.js";

const CHANGES = ["tools", "resources", "prompts"] as const;
const MAX_HEADER_SETS = 10_000;
/** How a task of 2025-11-25 stands. */
const TASK_STATUS = "notifications/tasks/status";
const ROOTS_CHANGED = "notifications/roots/list_changed";
/** What a client may expect that has named no level, where another of the same server has. */
const USUAL_LEVEL = "info";
const LISTS_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;

/** A caller of revision 2026-07-28, which has no sessions: all its requests share what it was given. */
interface ModernCaller {
  readonly handler: SdkHttpHandler;
  /** Connections by the resources that somebody listens to, with the number of who does. */
  readonly listened: Map<string, { count: number; readonly front: ClientFront }>;
}

/** The clients that are served. */
export class GatewayClients {
  readonly #host: FrontHost;
  readonly #sessions: GatewaySessions;
  readonly #ended: (session: string) => void;
  /** Of connections and sessions that last; not of single requests. */
  readonly #fronts = new Set<ClientFront>();
  readonly #modern = new Map<string, ModernCaller>();
  /** What callers without sessions were given. */
  readonly #shared = new Map<string, FrontClient["results"]>();
  /** The levels of log messages that servers were told. */
  readonly #levels = new WeakMap<UpstreamConnection, string>();
  #count = 0;
  /** Sets of headers by caller, each with a number: keys must not tell them. */
  readonly #headerSets = new Map<string, number>();
  #headers = 0;
  /** Log messages of a shared server that could have been anybody's, and were given to nobody. */
  undelivered = 0;

  constructor(host: FrontHost, sessions: GatewaySessions, ended: (session: string) => void) {
    [this.#host, this.#sessions, this.#ended] = [host, sessions, ended];
  }

  /** Clients with a connection or a session of their own. */
  get size(): number {
    return this.#fronts.size;
  }

  /** Whether a client that stays has a key. */
  has(key: string): boolean {
    return [...this.#fronts].some(({ client }) => client.key === key);
  }

  /** A client that stays: a connection over standard input and output, or a session of Streamable HTTP. */
  join(caller: string, is_modern: boolean): ClientFront {
    this.#count += 1;
    const front = new ClientFront(this.#host, {
      is_modern,
      is_passing: false,
      caller,
      key: `${this.#count}#${caller}`,
      results: this.#sessions.open(caller),
      headers: {},
    });
    this.#fronts.add(front);
    return front;
  }

  /** Ends what a client had here; what it was given stays, where there is a store. */
  async leave(front: ClientFront): Promise<void> {
    if (!this.#fronts.delete(front)) return;
    front.close();
    this.#ended(front.client.key);
    const [last, ...others] = [...this.#fronts].filter(({ client }) => !client.is_modern);
    // Servers that know the roots of whoever left can ask it now.
    if (last && others.length === 0) this.#host.rootsChanged(last.client);
    await this.#sessions.end(front.client.results);
  }

  /** The client of one request of revision 2026-07-28. */
  passing(caller: string, headers: FrontClient["headers"], called?: string | null): ClientFront {
    const results = this.#shared.get(caller) ?? this.#sessions.open(caller);
    this.#shared.set(caller, results);
    return new ClientFront(
      this.#host,
      { is_modern: true, is_passing: true, caller, key: this.#keyOf(caller, headers), results, headers },
      called,
    );
  }

  /**
   * The key of a caller without sessions: no caller can be called such that it is another's, or a session's. Where headers go to
   * servers it is of one set of them: under one token may be several users, and what was kept for one is not for another.
   */
  #keyOf(caller: string, headers: FrontClient["headers"]): string {
    const given = Object.entries(headers);
    if (given.length === 0) return `#0#${caller}`;
    const set = JSON.stringify([caller, given]);
    const number = this.#headerSets.get(set) ?? (this.#headers += 1);
    // The latest stay.
    this.#headerSets.delete(set);
    this.#headerSets.set(set, number);
    for (const oldest of this.#headerSets.keys()) {
      if (this.#headerSets.size <= MAX_HEADER_SETS) break;
      this.#headerSets.delete(oldest);
    }
    return `#${number}#${caller}`;
  }

  /** What serves requests of a caller of revision 2026-07-28. */
  modern(caller: string, make: () => SdkHttpHandler): SdkHttpHandler {
    const known = this.#modern.get(caller);
    if (known) return known.handler;
    const handler = make();
    this.#modern.set(caller, { handler, listened: new Map() });
    return handler;
  }

  /** Has upstreams tell of resources as long as a caller listens. */
  async listen(
    caller: string,
    uris: readonly string[],
    headers: FrontClient["headers"],
    signal: AbortSignal,
  ): Promise<void> {
    const listened = this.#modern.get(caller)?.listened;
    if (!listened) return;
    await Promise.all([...new Set(uris)].map((uri) => this.#listen(caller, listened, uri, headers, signal)));
  }

  async #listen(
    caller: string,
    listened: ModernCaller["listened"],
    uri: string,
    headers: FrontClient["headers"],
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const entry = listened.get(uri) ?? { count: 0, front: this.passing(caller, headers) };
    entry.count += 1;
    listened.set(uri, entry);
    const leave = (): void => {
      entry.count -= 1;
      if (entry.count > 0) return;
      listened.delete(uri);
      entry.front.close();
    };
    signal.addEventListener("abort", leave, { once: true });
    if (entry.count === 1) await entry.front.listen([uri]);
  }

  /** Tells everybody which lists have changed. */
  changed(changes: ListChanges): void {
    const { onError } = this.#host;
    for (const what of CHANGES) {
      if (changes[what] !== true) continue;
      const method = `notifications/${what}/list_changed`;
      for (const { server } of this.#fronts) void server.notification({ method }).catch(onError);
      for (const { handler } of this.#modern.values()) handler.bus.publish({ kind: `${what}_list_changed` });
    }
  }

  /** Tells one client that it sees other tools than before. */
  toolsChanged(client: ServedClient): void {
    const front = [...this.#fronts].find((one) => one.client === client);
    if (front) void front.server.notification({ method: "notifications/tools/list_changed" }).catch(this.#host.onError);
    else this.#modern.get(client.caller)?.handler.bus.publish({ kind: "tools_list_changed" });
  }

  /** A connection has begun anew: its server learns what clients want to hear. */
  connected(connection: UpstreamConnection): void {
    this.#host.subscriptions.again(connection, this.#host.onError);
    this.#levels.delete(connection);
    this.#tellLevel(connection);
  }

  /** Has servers ask a client for its roots, where they have no other client. */
  rootsChanged(client: ServedClient, connections: readonly UpstreamConnection[]): void {
    if (!client.hasRoots) return;
    for (const connection of connections)
      if (this.#isCallers(connection) && this.#only(connection)?.client === client)
        void connection.notify(ROOTS_CHANGED);
  }

  /** Tells servers which log messages a client wants. */
  levelChanged({ key }: ServedClient, connections: readonly UpstreamConnection[]): void {
    for (const connection of connections)
      if (connection.session === undefined || connection.session === key) this.#tellLevel(connection);
  }

  /** Passes a notification of an upstream on to those whom it concerns. */
  notified(connection: UpstreamConnection, { method, params = {} }: McpRequest): void {
    const { onError } = this.#host;
    if (method === "notifications/resources/updated") {
      const known = String(params["uri"]);
      for (const front of this.#fronts) {
        for (const uri of front.subscribed(known, connection))
          void front.server.notification({ method, params: { ...params, uri } }).catch(onError);
      }
      for (const { handler, listened } of this.#modern.values()) {
        for (const [uri, { front }] of listened)
          if (front.subscribed(known, connection).length > 0) handler.bus.publish({ kind: "resource_updated", uri });
      }
      return;
    }
    if (method === "notifications/message") {
      this.#log(connection, params);
      return;
    }
    // The lists of clients change when the server was asked for its own: until then they would read what they have.
    if (LISTS_CHANGED.test(method)) return;
    if (method === TASK_STATUS) {
      const { statusMessage: said } = params;
      const told = { ...params, ...(typeof said === "string" && { statusMessage: maskedText(said, []) }) };
      for (const [id, { caller }] of this.#host.tasks.named(connection.server, String(params["taskId"]))) {
        for (const front of this.#fronts)
          if (!front.client.is_modern && front.client.caller === caller)
            void front.server.notification({ method, params: { ...told, taskId: id } }).catch(onError);
      }
      return;
    }
    // Such as `notifications/elicitation/complete`: whoever the connection is of knows what it is about.
    for (const front of this.#of(connection)) void front.server.notification({ method, params }).catch(onError);
  }

  /** Answers a request of an upstream: whoever it works for is asked. */
  asked(
    connection: UpstreamConnection,
    request: McpRequest,
    signal: AbortSignal,
    onprogress?: (progress: Fields) => void,
  ): Promise<Fields> {
    const call = callOf(connection);
    if (call) return call.ask(request, signal, onprogress);
    const front = isCalled(connection) ? undefined : this.#only(connection);
    if (front) return front.server.request(request, { signal, timeout: 600_000 });
    const message = `nobody can be told to answer \`${request.method}\`: ${isCalled(connection) ? "calls of several clients are under way" : "no call is under way"}`;
    return Promise.reject(new this.#host.sdk.ProtocolError(METHOD_NOT_FOUND, message));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#fronts].map((front) => this.leave(front)));
    await Promise.all([...this.#modern.values()].map(({ handler }) => handler.close()));
    this.#modern.clear();
  }

  /** A log message goes to the client whose call is under way; of several, to nobody: it may be about what another asked. */
  #log(connection: UpstreamConnection, params: Fields): void {
    const call = callOf(connection);
    if (call) {
      call.log(params).catch(this.#host.onError);
      return;
    }
    const fronts = isCalled(connection) ? [] : this.#of(connection);
    if (fronts.length !== 1) this.undelivered += 1;
    else if (fronts[0]?.client.wants(String(params["level"])) === true)
      void fronts[0].server.notification({ method: "notifications/message", params }).catch(this.#host.onError);
  }

  /** Tells a server of the earlier revisions the least level of log messages that a client of a connection wants, if one has said so. */
  #tellLevel(connection: UpstreamConnection): void {
    if (!this.#isCallers(connection) || connection.capabilities["logging"] === undefined) return;
    const wanted = this.#of(connection).map(({ client }) => client.level);
    if (wanted.every((level) => level === undefined)) return;
    const level = LEVELS.find((one) => wanted.some((wants = USUAL_LEVEL) => wants === one));
    if (level === undefined || this.#levels.get(connection) === level) return;
    this.#levels.set(connection, level);
    connection.request("logging/setLevel", { level }).catch(this.#host.onError);
  }

  /** Whether clients call over a connection, of the earlier revisions: where each has its own, one is for the lists alone. */
  #isCallers({ era, server, session }: UpstreamConnection): boolean {
    const isOfAll = this.#host.upstream(server).config.connection === "shared";
    return era === "legacy" && (isOfAll || session !== undefined);
  }

  /** The client of the earlier revisions that a connection serves, if it is the only one. */
  #only(connection: UpstreamConnection): ClientFront | undefined {
    const [front, ...others] = this.#of(connection).filter(({ client }) => !client.is_modern);
    return others.length === 0 ? front : undefined;
  }

  /** The clients that a connection serves. */
  #of(connection: UpstreamConnection): ClientFront[] {
    return [...this.#fronts].filter(
      ({ client }) => connection.session === undefined || connection.session === client.key,
    );
  }
}

/** Whether calls of clients are under way on a connection, beside what the gateway asks by itself. */
function isCalled({ inFlight }: UpstreamConnection): boolean {
  return [...inFlight].some(({ context }) => context instanceof UpstreamCall);
}

/** The call under way on a connection, the last one of several of one client. */
function callOf(connection: UpstreamConnection): UpstreamCall | undefined {
  const calls = [...connection.inFlight].flatMap(({ context }) => (context instanceof UpstreamCall ? [context] : []));
  return calls.every(({ session }) => session === calls[0]?.session) ? calls.at(-1) : undefined;
}
