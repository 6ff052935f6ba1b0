// `gateway` of `contextweaver/mcp`: any MCP servers behind one small front. It puts the parts together: upstreams, the runtime that
// decides, clients, HTTP.
import { ContextManager } from "../manager/context-manager.js";
import { ContextWeaverError } from "../boundary/errors.js";
import type { ErrorCode } from "../boundary/errors.js";
import { keepsNumbers, withRounded } from "../boundary/exact-numbers.js";
import { nearest, nearestHint } from "../boundary/nearest.js";
import { fields } from "../boundary/guard.js";
import { resultTokens } from "../mcp/result-size.js";
import type { ResultSizeOptions } from "../mcp/result-size.js";
import type { ContextManagerOptions } from "../manager/options.js";
import { SharedRecords } from "../sessions/shared-records.js";
import type { SessionStore } from "../storage/storage-types.js";
import { Access } from "../mcp/mcp-access.js";
import { version } from "../manager/text.js";
import { ALL_TRACE_KEYS } from "../tools/trace-context.js";
import type { JsonObject } from "../types.js";
import { PendingCalls } from "./bridge.js";
import { GatewayClients } from "./clients.js";
import { leftOut, readServers } from "./config.js";
import type { ConfigWarning, ServerConfig, ServersConfig } from "./config-types.js";
import type { FrontHost } from "./front-host.js";
import type { RoundState } from "./front-host.js";
import type { GatewayHooks } from "./hook-types.js";
import { GatewayHttp } from "./http.js";
import type { GatewayHttpOptions } from "./http.js";
import { GatewayRuntime } from "./runtime.js";
import { PinStore } from "./pin-store.js";
import { ResourceLinks } from "./resource-links.js";
import type { GatewayRuntimeOptions, GatewayStats, ListingReport, UnmatchedRule } from "./runtime-types.js";
import { ListenTap } from "./listen-tap.js";
import { isMirrored } from "./mirrored-headers.js";
import type { SdkTransport } from "./sdk.js";
import type { ServerSdk, ServerStdioSdk } from "./server-sdk.js";
import { withLegalKeys, withLegalNames } from "./server-names.js";
import { GatewaySessions } from "./session.js";
import { sidecar } from "./sidecar.js";
import type { SidecarRequest, SidecarRouteOptions } from "./sidecar.js";
import { SkillGuard } from "./skill-guard.js";
import { ResourceSubscriptions } from "./subscriptions.js";
import { givesTasks } from "./task-wire.js";
import { GatewayTasks } from "./tasks.js";
import { later } from "./timers.js";
import { Upstream } from "./upstream.js";
import type { UpstreamConnection, UpstreamListing, UpstreamSdk } from "./upstream.js";
import type { UpstreamReport, UpstreamState } from "./upstream-types.js";
import { amongHeaders, userNames, valuesIn } from "./user-values.js";
import { GatewayWatch, withLines } from "./watch.js";
import type { Debug } from "../telemetry/debug.js";

/** The modules of the official SDK of MCP, 2.x, where the gateway shall not import them itself. */
export interface GatewaySdk {
  /** `@modelcontextprotocol/server` */
  readonly server: object;
  /** `@modelcontextprotocol/client` */
  readonly client: object;
  /** `@modelcontextprotocol/client/stdio`, where servers are programs. */
  readonly client_stdio?: object;
}

/** What a gateway is made of. */
export interface GatewayOptions
  extends GatewayHttpOptions,
    ResultSizeOptions,
    Omit<GatewayRuntimeOptions, "servers" | "pins" | "accepted" | "pins_lost" | "result_tokens"> {
  /** The servers as desktop clients and editors write them: `{ "files": { "command": "npx", "args": […] } }`. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** The same as VS Code writes it. */
  readonly servers?: Readonly<Record<string, unknown>>;
  /** What `${NAME}` in the servers stands for. Default: nothing; on Node pass `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where results, pins of tools, and what was accepted outlive the gateway. Default: nowhere. */
  readonly store?: SessionStore;
  /** Settings of the managers that keep results: masking, limits. What clients get of a result is for `result_tokens` to say. */
  readonly manager?: ContextManagerOptions;
  /**
   * What becomes of structured content of more than 200 tokens that says what the text of its result says: `once` leaves it out, as some
   * clients give their model both; `both` lets it pass. A client that declares the experimental capability `contextweaver/structured_content` gets it in any case,
   * and so do views. Default: `once`.
   */
  readonly structured_content?: "once" | "both";
  /** Milliseconds that the first list waits for servers that have not answered. Default: 5,000. */
  readonly start_timeout_ms?: number;
  /**
   * Logs in to servers with `url`: gets a server's name and address, and returns a provider of the SDK (`OAuthClientProvider` or
   * `AuthProvider`), or nothing. It is asked once for each server that has no `client_credentials` of its own. All clients of the gateway
   * share what the provider has; where each shall have their own, use `forward_headers`. A provider may say by a method `awaited()`,
   * `{ hint, is_blocking }`, that its user has to log in: then the server counts as unavailable for that reason, calls are refused with
   * `AUTH_FAILED`, and after `transport.finishAuth(…)` you call `reconnect(server)`. Default: no server is logged in to.
   */
  readonly auth_provider?: (server: string, url: string) => object | undefined;
  /** The modules of the SDK. Default: imported when the gateway starts. */
  readonly sdk?: GatewaySdk;
  /** Hears of what goes wrong and is nobody's answer. Default: nobody. */
  readonly on_error?: (error: unknown) => void;
  /** Hears how servers come and go, and what was found in their lists. Default: nobody. */
  readonly on_server?: (event: GatewayServerEvent) => void;
  /** Hear of calls, for logs and telemetry: `otelGateway` of `contextweaver/otel` makes them. Default: nobody. */
  readonly hooks?: GatewayHooks;
  /** As of adapters: a line for each call that a client made, when it has ended. Default: false. */
  readonly debug?: Debug;
}

/** What became of a server. */
export interface GatewayServerEvent {
  readonly server: string;
  readonly status: UpstreamState["status"];
  /** Why it cannot be reached; without credentials. */
  readonly detail?: string;
  /** What its list has: tools that were taken, left out, quarantined, and why. */
  readonly report?: ListingReport;
  /** Rules of policies that name tools which no server has, where those have changed. */
  readonly unmatched_rules?: readonly UnmatchedRule[];
}

/** What a gateway has counted. */
export interface GatewayCounts extends GatewayStats {
  /** Clients that are connected, or have a session; those of revision 2026-07-28 over HTTP have none. */
  readonly clients: number;
  /** Log messages of servers that several clients share, and that were told to nobody: they could have been about any of them. */
  readonly undelivered: number;
}

/** A running gateway: a `fetch` handler with what else can be done to it. */
export interface Gateway {
  (request: Request): Promise<Response>;
  /** The handler itself: `export default { fetch: handler.fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** What of the configuration was not understood, and is left alone. */
  readonly warnings: readonly ConfigWarning[];
  /** Connects to the servers, and resolves when all have answered or cannot be reached. */
  ready(): Promise<void>;
  /** Serves one client over a transport of the SDK, such as standard input and output. */
  serve(transport: object, sdk?: object): Promise<{ close(): Promise<void> }>;
  /** How each server is: its state, what it offers, why it cannot be reached, and what a program wrote to its standard error. */
  servers(): Promise<readonly UpstreamReport[]>;
  /** Counts since the start: servers, tools, tokens that were saved, what policies refused. */
  stats(): GatewayCounts;
  /**
   * Takes tools out of quarantine as they are now; all of a server without a tool. Returns their names. Where the store fails, its error:
   * then they are accepted until the gateway ends.
   */
  accept(server: string, tool?: string): Promise<readonly string[]>;
  /** Connects to a server at once, as after a login, in place of when it would be tried again. Returns how it is then. */
  reconnect(server: string): Promise<UpstreamReport>;
  /** Ends all sessions and connections. */
  close(): Promise<void>;
}

const OWN = [
  "mcpServers",
  "servers",
  "env",
  "store",
  "manager",
  "context_tokens",
  "structured_content",
  "start_timeout_ms",
  "auth_provider",
  "sdk",
  "on_error",
  "on_server",
  "hooks",
  "debug",
] as const;
const HTTP = [
  "token",
  "authorize",
  "origins",
  "hosts",
  "path",
  "protected_resource",
  "max_body_bytes",
  "max_sessions",
  "session_idle_ms",
] as const;
const START_MS = 5_000;
const STATE_SECONDS = 600;

/**
 * Makes a gateway. Nothing is connected before the first request, or `ready()`.
 *
 * Errors: those of the configuration (see `contextweaver gateway doctor`), with the path of the field; `UNKNOWN_FIELD` for other options.
 * When it starts, `UNSUPPORTED` where the SDK is not installed.
 *
 * ```js
 * import { gateway } from "contextweaver/mcp";
 *
 * const handler = gateway({
 *   mcpServers: { docs: { url: "https://docs.example/mcp" } },
 *   token: process.env.GATEWAY_TOKEN,
 * });
 * export default { fetch: handler.fetch };
 * ```
 */
export function gateway(options: GatewayOptions): Gateway {
  const running = new RunningGateway(options);
  const { fetch } = running;
  return Object.assign((request: Request) => fetch(request), {
    fetch,
    warnings: running.warnings,
    ready: () => running.ready(),
    serve: (transport: object, sdk?: object) => running.serve(transport, sdk),
    servers: () => running.servers(),
    stats: () => running.stats(),
    accept: (server: string, tool?: string) => running.accept(server, tool),
    reconnect: (server: string) => running.reconnect(server),
    close: () => running.close(),
  });
}

/** Servers of options that were read from files. */
const readBefore = new WeakMap<GatewayOptions, ServersConfig>();

/** Options of a gateway whose servers were read from files. @internal */
export function withServers(options: GatewayOptions, servers: ServersConfig): GatewayOptions {
  const copy = { ...options };
  readBefore.set(copy, servers);
  return copy;
}

/** What has been set up once the gateway runs. */
interface Started {
  readonly host: FrontHost;
  readonly clients: GatewayClients;
  readonly sessions: GatewaySessions;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly http: GatewayHttp;
  readonly pins: PinStore | undefined;
  /** All servers have answered, or cannot be reached. */
  readonly ready: Promise<void>;
}

class RunningGateway {
  readonly warnings: readonly ConfigWarning[];
  readonly #options: GatewayOptions;
  readonly #http: GatewayHttpOptions;
  readonly #servers: readonly ServerConfig[];
  readonly #runtimeOptions: JsonObject;
  readonly #metaAllowed: readonly string[];
  readonly #watch: GatewayWatch | undefined;
  readonly #resultTokens: number;
  #runtime: GatewayRuntime;
  #starting: Promise<Started> | undefined;
  #clients: GatewayClients | undefined;
  #isClosed = false;
  /** The rules that were told last. */
  #unmatched = "[]";

  constructor(given: GatewayOptions) {
    const options = fields(given) as GatewayOptions & Record<string, unknown>;
    const read = readBefore.get(given) ?? ofOptions(options);
    const warnings = [...read.warnings];
    const servers = withIdentity(
      read.servers.filter(({ disabled }) => !disabled),
      options.authorize !== undefined,
      warnings,
    );
    this.#options = options;
    this.#http = Object.fromEntries(
      HTTP.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
    );
    checkAccess(this.#http);
    checkLogins(options.auth_provider, servers);
    this.#resultTokens = resultTokens(options);
    // What is said is a limit of all tools; the default is for those of which nobody says anything.
    const isSaid = options.result_tokens !== undefined || options.context_tokens !== undefined;
    const rest = Object.fromEntries(
      Object.entries({ ...options, ...(isSaid && { result_tokens: this.#resultTokens }) }).filter(
        ([name]) => !(OWN as readonly string[]).includes(name) && !(HTTP as readonly string[]).includes(name),
      ),
    );
    const legal = {
      ...(rest["policy"] !== undefined && { policy: withLegalNames(rest["policy"], servers) }),
      ...(rest["tools"] !== undefined && { tools: withLegalKeys(rest["tools"], servers) }),
    };
    const made = meaningOwn(() => runtimeOf({ ...rest, ...legal } as JsonObject, servers, warnings));
    [this.#runtime, this.#runtimeOptions, this.#servers, this.warnings] = [
      made.runtime,
      made.options,
      made.servers,
      warnings,
    ];
    checkStructured(options.structured_content);
    this.#metaAllowed = options.meta_allow ?? ALL_TRACE_KEYS;
    const hooks = withLines(options.hooks, options.debug);
    this.#watch = hooks && new GatewayWatch(hooks, this.#metaAllowed, this.#onError);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { http } = await this.#started();
    return http.fetch(request);
  };

  async ready(): Promise<void> {
    const { ready } = await this.#started();
    await ready;
  }

  async servers(): Promise<readonly UpstreamReport[]> {
    return [...(await this.#started()).upstreams.values()].map((upstream) => upstream.report());
  }

  stats(): GatewayCounts {
    const { size: clients = 0, undelivered = 0 } = this.#clients ?? {};
    return { ...this.#runtime.stats(), clients, undelivered };
  }

  async accept(server: string, tool?: string): Promise<readonly string[]> {
    const { clients, pins } = await this.#started();
    const { accepted, changed } = this.#runtime.accept(server, tool);
    clients.changed(changed);
    await pins?.keep(this.#runtime.pinState());
    return accepted;
  }

  async reconnect(server: string): Promise<UpstreamReport> {
    const { upstreams } = await this.#started();
    const upstream = upstreams.get(server);
    if (!upstream)
      throw new ContextWeaverError("NOT_FOUND", `no server is called \`${server.slice(0, 100)}\``, {
        path: "/server",
        hint: nearestHint(server, [...upstreams.keys()]),
      });
    await upstream.reconnect();
    return upstream.report();
  }

  async serve(transport: object, sdk?: object): Promise<{ close(): Promise<void> }> {
    const { clients, host } = await this.#started();
    // The client is told with its first answer what the servers say of themselves.
    await host.started();
    keepsNumbers(transport);
    givesTasks(transport);
    const { serveStdio } = (sdk ?? (await imported("server/stdio"))) as ServerStdioSdk;
    const joined = new Set<ReturnType<GatewayClients["join"]>>();
    let modern: ReturnType<GatewayClients["join"]> | undefined;
    const served = serveStdio(
      ({ era }) => {
        const front = clients.join("local", era === "modern");
        joined.add(front);
        if (era === "modern") modern = front;
        front.server.onclose = () => {
          joined.delete(front);
          void clients.leave(front).catch(this.#onError);
        };
        return front.product;
      },
      { transport: new ListenTap(transport as SdkTransport, () => modern), onerror: this.#onError },
    );
    return {
      close: async () => {
        await served.close();
        await Promise.all([...joined].map((front) => clients.leave(front)));
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const started = await this.#starting?.catch(() => undefined);
    if (!started) return;
    const { http, clients, host, upstreams, sessions, pins } = started;
    // Whatever fails on the way, no program is left.
    await http.close().catch(this.#onError);
    await clients.close().catch(this.#onError);
    host.waiting.close();
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close().catch(this.#onError)));
    await sessions.close();
    await pins?.settled();
    this.#runtime.free();
  }

  #started(): Promise<Started> {
    if (this.#isClosed) return Promise.reject(new ContextWeaverError("DISPOSED", "the gateway was closed"));
    this.#starting ??= this.#start().catch((error: unknown) => {
      // The next request tries again.
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<Started> {
    const { store, manager, start_timeout_ms = START_MS, sdk: given } = this.#options;
    const sdk = (given?.server ?? (await imported("server"))) as ServerSdk;
    const client = (given?.client ?? (await imported("client"))) as UpstreamSdk["client"];
    const stdio = async (): Promise<object> => given?.client_stdio ?? imported("client/stdio");
    const pins =
      store &&
      (await PinStore.open(
        store,
        this.#servers.map(({ name }) => name),
      ));
    const kept = store && (await this.#shared(store, "gateway-sessions"));
    const tasks = new GatewayTasks(store && (await this.#shared(store, "gateway-tasks")), this.#onError);
    if (pins) this.#withPins(pins);
    const runtime = this.#runtime;
    const { drilldown = "drilldown", recall = "recall" } = this.#options.names ?? {};
    const maskings = new Map(
      this.#servers.flatMap(({ name, redact }) => (redact === undefined ? [] : [[name, redact] as const])),
    );
    const sessions = new GatewaySessions({
      store,
      manager,
      maskings,
      result_tokens: this.#resultTokens,
      drilldown,
      recall,
      onError: this.#onError,
    });
    const upstreams = new Map<string, Upstream>();
    let started: Promise<void> = Promise.resolve();
    const forwarded = [...new Set(this.#servers.flatMap(({ forward_headers = [] }) => forward_headers))];
    const connections = (): readonly UpstreamConnection[] => [...upstreams.values()].flatMap((one) => one.connections);
    const host: FrontHost = {
      sdk,
      runtime,
      info: { name: "contextweaver-gateway", title: "contextweaver gateway", version: version() },
      state: sdk.createRequestStateCodec<RoundState>({
        key: crypto.getRandomValues(new Uint8Array(32)),
        ttlSeconds: STATE_SECONDS,
      }),
      waiting: new PendingCalls(),
      subscriptions: new ResourceSubscriptions(),
      links: new ResourceLinks(() => upstreams.values()),
      watch: this.#watch,
      metaAllowed: this.#metaAllowed,
      isOnce: this.#options.structured_content !== "both",
      schemaWithHeaders: (session, caller, name) => {
        const has_mirrored = [...upstreams.values()].some(({ listing }) => listing?.has_mirrored === true);
        return has_mirrored
          ? withRounded(schemaOf(runtime.listTools(session, caller, { has_views: true }).tools, name))
          : undefined;
      },
      upstream: (name) => {
        const upstream = upstreams.get(name);
        if (!upstream) throw new ContextWeaverError("INTERNAL", `no upstream is called \`${name}\``);
        return upstream;
      },
      perUser: () => [...upstreams.values()].filter(({ config }) => config.per_user !== undefined),
      extensions: () => new Map([...upstreams].map(([name, upstream]) => [name, upstream.extensions])),
      tasks,
      skills: new SkillGuard(),
      masking: (server) => sessions.masking(server),
      declaresTasks: () => [...upstreams.values()].some(({ takesTasks }) => takesTasks),
      hasViews: () => [...upstreams.values()].some(({ listing }) => listing?.has_views === true),
      toolsChanged: (client) => clients.toolsChanged(client),
      rootsChanged: (client) => clients.rootsChanged(client, connections()),
      levelChanged: (client) => clients.levelChanged(client, connections()),
      started: () => started,
      forwarded: ({ headers }, authInfo) => ({
        ...Object.fromEntries(
          forwarded.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""]] : [])),
        ),
        ...amongHeaders(valuesIn(authInfo)),
      }),
      onError: this.#onError,
    };
    const clients = new GatewayClients(host, sessions, (session) => {
      runtime.endSession(session);
      for (const upstream of upstreams.values()) void upstream.endSession(session).catch(this.#onError);
    });
    this.#clients = clients;
    for (const config of this.#servers) {
      const upstream = new Upstream(config, {
        sdk: { client, stdio: stdio as NonNullable<UpstreamSdk["stdio"]> },
        client_info: { name: "contextweaver-gateway", version: version() },
        auth_provider: this.#provider(config),
        host: {
          onRequest: async (_, connection, request, { signal }) =>
            (await clients.asked(connection, request, signal)) as JsonObject,
          onNotification: (_, connection, notification) => clients.notified(connection, notification),
          onListing: (server, listing) => this.#listed(server, listing, clients, pins),
          onState: (server, state) => this.#state(server, state, clients),
          onReady: (_, connection) => clients.connected(connection),
          isSubscribed: (connection) => host.subscriptions.has(connection),
          isLive: (session) => clients.has(session),
        },
      });
      upstreams.set(config.name, upstream);
    }
    const ready = Promise.all([...upstreams.values()].map((upstream) => upstream.connect())).then(() => undefined);
    // Whoever comes first waits, once: a server that hangs must not delay each request until it is given up.
    started = Promise.race([ready, new Promise<void>((done) => void later(start_timeout_ms, done))]);
    const callers = new WeakMap<object, string>();
    const endpoints = sidecar<Request & SidecarRequest>({
      router: { route: (query: string, options: SidecarRouteOptions) => runtime.route(query, options) },
      manager: new ContextManager(manager),
      // Who asks was found out before.
      authorize: (request) => ({ tenant: callers.get(request) ?? "" }),
      // What the manager shows is for its settings to say.
      redact_secrets: manager?.redact_secrets !== false,
      onError: this.#onError,
    });
    const beside = async (request: Request, path: string, caller: string): Promise<Response | undefined> => {
      if (!path.startsWith("/v1/")) return undefined;
      callers.set(request, caller);
      return (await endpoints(request as Request & SidecarRequest)) as Response;
    };
    const http = new GatewayHttp(
      {
        sdk,
        clients,
        forwarded: host.forwarded,
        kept,
        started: host.started,
        stats: () => this.stats(),
        beside,
        onError: this.#onError,
      },
      this.#http,
    );
    return { host, clients, sessions, upstreams, http, pins, ready };
  }

  /** What is kept under a name; what of it cannot be read is told. */
  async #shared(store: SessionStore, name: string): Promise<SharedRecords> {
    const shared = await SharedRecords.open(store.session(name));
    for (const { code, message } of shared.records.findings)
      this.#onError(new ContextWeaverError(code as ErrorCode, message));
    return shared;
  }

  /** The provider of a server that is logged in to by a user. */
  #provider({ name, transport, oauth }: ServerConfig): object | undefined {
    if (transport.type === "stdio" || oauth?.grant === "client_credentials") return undefined;
    const provider: unknown = this.#options.auth_provider?.(name, transport.url);
    if (provider === undefined || provider === null) return undefined;
    if (typeof provider === "object") return provider;
    throw new ContextWeaverError("CALLBACK_FAILED", `\`auth_provider\` returned no provider for \`${name}\``, {
      hint: "an OAuthClientProvider or AuthProvider of the SDK, or nothing",
    });
  }

  /** Begins with the pins of an earlier run. Where some of them are lost, no tool without one is taken for new. */
  #withPins({ state, damage }: PinStore): void {
    if (damage) this.#onError(damage);
    const { pins, accepted, pins_lost } = state;
    if (Object.keys(pins).length + Object.keys(accepted).length + pins_lost.length === 0) return;
    this.#runtime.free();
    this.#runtime = new GatewayRuntime({ ...this.#runtimeOptions, ...state } as unknown as GatewayRuntimeOptions);
  }

  #listed(server: string, { bytes }: UpstreamListing, clients: GatewayClients, pins: PinStore | undefined): void {
    try {
      const { report, changed, unmatched_rules } = this.#runtime.setListing(server, bytes);
      this.#tell({ server, status: "ready", report, ...this.#news(unmatched_rules) });
      clients.changed(changed);
      void pins?.keep(this.#runtime.pinState()).catch(this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** Rules that name no tool, where they are others than were told before. */
  #news(unmatched_rules: readonly UnmatchedRule[]): Pick<GatewayServerEvent, "unmatched_rules"> {
    const text = JSON.stringify(unmatched_rules);
    const isTold = text === this.#unmatched;
    this.#unmatched = text;
    return isTold ? {} : { unmatched_rules };
  }

  #state(server: string, state: UpstreamState, clients: GatewayClients): void {
    const detail = state.status === "unavailable" ? state.reason : undefined;
    clients.changed(this.#runtime.setStatus(server, state.status, detail));
    const news = detail === undefined ? {} : this.#news(this.#runtime.stats().unmatched_rules);
    this.#tell({ server, status: state.status, ...(detail !== undefined && { detail }), ...news });
  }

  #tell(event: GatewayServerEvent): void {
    try {
      this.#options.on_server?.(event);
    } catch (error) {
      this.#onError(error);
    }
  }

  readonly #onError = (error: unknown): void => {
    try {
      this.#options.on_error?.(error);
    } catch {
      // Whoever hears of errors is the last to be told.
    }
  };
}

/** Makes the runtime. A server whose policy is none is left out, as long as another one is left. */
function runtimeOf(
  rest: JsonObject,
  all: readonly ServerConfig[],
  warnings: ConfigWarning[],
): { readonly runtime: GatewayRuntime; readonly options: JsonObject; readonly servers: readonly ServerConfig[] } {
  let servers = all;
  for (;;) {
    const options = { ...rest, servers: servers.map((server) => runtimeServer(server, all)) };
    try {
      return { runtime: new GatewayRuntime(options as unknown as GatewayRuntimeOptions), options, servers };
    } catch (error) {
      const place = /^\/servers\/(\d+)\//.exec(ContextWeaverError.is(error) ? (error.path ?? "") : "")?.[1];
      const broken = place === undefined ? undefined : servers[Number(place)];
      if (broken === undefined || servers.length < 2 || !ContextWeaverError.is(error)) throw error;
      warnings.push(
        leftOut(
          {
            file: "options",
            name: broken.configured_name ?? broken.name,
            written: undefined,
            path: `/servers/${place}`,
          },
          error,
        ),
      );
      servers = servers.filter((server) => server !== broken);
    }
  }
}

/** Says which option of ours one may stand for that nobody knows: the runtime knows its own alone. */
function meaningOwn<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!ContextWeaverError.is(error) || error.code !== "UNKNOWN_FIELD" || error.hint !== undefined) throw error;
    const { code, message, path = "" } = error;
    const meant = nearest(path.slice(1), [...OWN, ...HTTP]);
    if (meant === undefined) throw error;
    throw new ContextWeaverError(code, message, { path, hint: `did you mean \`${meant}\`?`, cause: error });
  }
}

/** What the runtime is told of a server. */
function runtimeServer(
  { name, policy, include_tools, exclude_tools, tools, result_tokens }: ServerConfig,
  all: readonly ServerConfig[],
): JsonObject {
  return {
    name,
    ...(include_tools && { include_tools }),
    ...(exclude_tools && { exclude_tools }),
    ...(policy && { policy: withLegalNames(policy, all) as JsonObject }),
    ...(tools && { tools }),
    ...(result_tokens !== undefined && { result_tokens }),
  };
}

/** Whoever gives a token that lets everybody in, or none, hears of it at once and not with the first request. */
function checkAccess({ token, authorize, origins }: GatewayHttpOptions): void {
  if (token !== undefined || authorize !== undefined) new Access(authorize === undefined ? token : false, origins);
}

/** Servers that can be used: what each caller has of its own nobody has where callers are not told apart. */
function withIdentity(
  servers: readonly ServerConfig[],
  is_told: boolean,
  warnings: ConfigWarning[],
): readonly ServerConfig[] {
  if (is_told) return servers;
  const usable = servers.filter(({ per_user }) => per_user === undefined);
  for (const [at, server] of servers.entries()) {
    if (server.per_user === undefined) continue;
    const [name = ""] = userNames(server.per_user);
    const hint = "`authorize` of `gateway()` returns { caller, user: { token } } for each request";
    const error = new ContextWeaverError(
      "MISSING_FIELD",
      `nobody says who a caller is, of whom \`user.${name}\` shall be`,
      { path: "/authorize", hint },
    );
    if (usable.length === 0) throw error;
    warnings.push(
      leftOut(
        { file: "options", name: server.configured_name ?? server.name, written: undefined, path: `/servers/${at}` },
        error,
      ),
    );
  }
  return usable;
}

function checkStructured(given: unknown): void {
  if (given === undefined || given === "once" || given === "both") return;
  throw new ContextWeaverError("INVALID_INPUT", "expected `once` or `both`", { path: "/structured_content" });
}

function checkLogins(auth_provider: unknown, servers: readonly ServerConfig[]): void {
  const path = "/auth_provider";
  if (auth_provider !== undefined && typeof auth_provider !== "function")
    throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path });
  const waiting = servers.find(({ oauth }) => oauth?.grant === "authorization_code");
  if (waiting === undefined || auth_provider !== undefined) return;
  const hint = "`contextweaver gateway` has one; here it returns an OAuthClientProvider of the SDK for the server";
  throw new ContextWeaverError(
    "MISSING_FIELD",
    `the server \`${waiting.name}\` is logged in to by a user, for which \`auth_provider\` is missing`,
    { path, hint },
  );
}

function schemaOf(tools: readonly JsonObject[], name: string): JsonObject | undefined {
  const schema = tools.find((tool) => tool["name"] === name)?.["inputSchema"] as JsonObject | undefined;
  return schema && isMirrored(JSON.stringify(schema)) ? schema : undefined;
}

function ofOptions({ mcpServers, servers, env = {} }: GatewayOptions): ServersConfig {
  const value = { ...(mcpServers !== undefined && { mcpServers }), ...(servers !== undefined && { servers }) };
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
  return readServers([{ file: "options", value }], set);
}

/**
 * Imports a module of the SDK. Names of what runs anywhere are written out, so that bundlers find them. The others need Node, and would
 * keep whatever imports this entry out of a bundle for browsers or Workers.
 */
async function imported(part: "server" | "client" | "server/stdio" | "client/stdio"): Promise<object> {
  const name: string = `@modelcontextprotocol/${part}`;
  try {
    if (part === "server") return (await import("@modelcontextprotocol/server")) as object;
    if (part === "client") return (await import("@modelcontextprotocol/client")) as object;
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as object;
  } catch (cause) {
    const hint = part.endsWith("stdio")
      ? "npm i @modelcontextprotocol/server @modelcontextprotocol/client; in a bundle pass it: `sdk.client_stdio`, `serve(transport, sdk)`"
      : "npm i @modelcontextprotocol/server @modelcontextprotocol/client";
    throw new ContextWeaverError("UNSUPPORTED", `\`${name}\` cannot be imported`, { cause, hint });
  }
}
