// The gateway over HTTP: who may ask, sessions of the revisions before 2026-07-28, requests of that one, and what is beside MCP.
import { keepingNumbers, withBody, withNumbers } from "../boundary/exact-numbers.js";
import { Access, hostName, isLoopback } from "../mcp/mcp-access.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { BodyError, readBody } from "../mcp/http-body.js";
import type { BodyRequest } from "../mcp/http-body.js";
import type { GatewayClients } from "./clients.js";
import { SessionEvents } from "./event-store.js";
import type { ClientFront } from "./front.js";
import { KeptSessions } from "./kept-sessions.js";
import { listenedResources } from "./listen-tap.js";
import { INVALID_REQUEST, PARSE_ERROR } from "./rpc-codes.js";
import type { Fields, SdkHttpServerTransport, ServerSdk } from "./server-sdk.js";
import { givesTasks } from "./task-wire.js";
import { authInfoOf } from "./user-values.js";
import type { UserValues } from "./user-values.js";
import type { SharedRecords } from "../sessions/shared-records.js";

/** Who a request is of. */
export interface GatewayCaller {
  /**
   * Whose request it is: results, connections with their credentials and rate limits are kept apart by it, and policies name it.
   * Any text of 1 to 256 characters.
   */
  readonly caller: string;
  /**
   * What servers are given of this caller alone, by name: `token` for `${user.token}` in the headers of a server, or in `env` of a program.
   * Default: nothing, and such servers refuse its calls.
   */
  readonly user?: Readonly<Record<string, string>>;
}

/** Who a request is of, with what the SDK carries of it. */
interface Identity {
  readonly caller: string;
  readonly authInfo: Fields | undefined;
}

/** Decides who may ask; nothing, or `undefined`, is 401. */
export type GatewayAuthorize = (request: Request) => GatewayCaller | undefined | Promise<GatewayCaller | undefined>;

/** How the gateway is reached over HTTP. */
export interface GatewayHttpOptions {
  /** What clients must send as `Authorization: Bearer …`. `false`: this machine alone may ask, by a loopback name. */
  readonly token?: string | false;
  /** Who may ask, in place of `token`: of several users, or with OAuth. */
  readonly authorize?: GatewayAuthorize;
  /** Origins of pages that may ask, such as `https://app.example`. Pages of this machine always may. */
  readonly origins?: readonly string[];
  /** Host names by which the gateway is reached, beside `localhost`, where nobody is authenticated. Default: none. */
  readonly hosts?: readonly string[];
  /** Where MCP is spoken. Default: `/mcp`. */
  readonly path?: string;
  /**
   * Metadata of OAuth 2.0 for protected resources (RFC 9728), served at `/.well-known/oauth-protected-resource` and told with 401:
   * `{ resource, authorization_servers, scopes_supported }`. `authorize` checks the tokens. Default: none.
   */
  readonly protected_resource?: Readonly<Record<string, unknown>>;
  /** Most bytes of a request, 1 KiB to 64 MiB. Default: 4 MiB. */
  readonly max_body_bytes?: number;
  /** Sessions of clients at a time; whoever was away longest leaves for a new one. Default: 1,000. */
  readonly max_sessions?: number;
  /** Milliseconds after the last request of a session at which it ends. Default: 30 minutes. */
  readonly session_idle_ms?: number;
}

/** What is behind the handler. @internal */
export interface HttpParts {
  readonly sdk: ServerSdk;
  readonly clients: GatewayClients;
  /** Headers of a request that servers may be given, in lower case. */
  forwarded(request: Request, authInfo: unknown): Readonly<Record<string, string>>;
  /** Where sessions outlive the process. */
  readonly kept?: SharedRecords | undefined;
  /** Resolves when the servers have answered, or should have. */
  started(): Promise<void>;
  stats(): object;
  /** Answers what is beside MCP, such as `/v1/route`; nothing for other paths. */
  beside(request: Request, path: string, caller: string): Promise<Response | undefined>;
  onError(error: unknown): void;
}

interface HttpSession {
  readonly caller: string;
  readonly transport: SdkHttpServerTransport;
  readonly front: ClientFront;
  used: number;
  /** Requests that are not answered, beside those that only listen. */
  open: number;
  /** Streams by which the client hears of changes. */
  streams: number;
}

const ANONYMOUS = "anonymous";
const METADATA = "/.well-known/oauth-protected-resource";
/** Milliseconds after which a client whose stream broke comes back. */
const RETRY_MS = 1_000;
const SWEEP_MS = 60_000;

/** Serves requests. @internal */
export class GatewayHttp {
  readonly #parts: HttpParts;
  readonly #access: Access;
  readonly #authorize: GatewayAuthorize | undefined;
  readonly #options: Required<
    Pick<GatewayHttpOptions, "path" | "max_body_bytes" | "max_sessions" | "session_idle_ms">
  > &
    GatewayHttpOptions;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #kept: KeptSessions;
  /** Sessions that begin again. */
  readonly #resuming = new Map<string, Promise<HttpSession | undefined>>();
  #swept = 0;

  constructor(parts: HttpParts, options: GatewayHttpOptions) {
    this.#parts = parts;
    const { token, authorize, origins } = options;
    if (authorize !== undefined && token !== undefined)
      throw new ContextWeaverError("INVALID_INPUT", "`token` and `authorize` exclude each other", { path: "/token" });
    if (authorize !== undefined && typeof authorize !== "function")
      throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/authorize" });
    this.#access = new Access(authorize === undefined ? token : false, origins);
    this.#authorize = authorize;
    this.#options = {
      ...options,
      path: pathOf(options.path ?? "/mcp"),
      max_body_bytes: wholeNumber(options.max_body_bytes, "/max_body_bytes", 4 * 2 ** 20, 1024, 64 * 2 ** 20),
      max_sessions: wholeNumber(options.max_sessions, "/max_sessions", 1_000, 1, 100_000),
      session_idle_ms: wholeNumber(options.session_idle_ms, "/session_idle_ms", 30 * 60_000, 1_000, 7 * 86_400_000),
    };
    const { max_sessions: most, session_idle_ms: idle_ms } = this.#options;
    this.#kept = new KeptSessions(parts.kept, { most, idle_ms }, parts.onError);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const cors = this.#access.cors(request);
    const answer = cors
      ? (this.#access.preflight(request) ?? withBody(await this.#answer(request), withNumbers))
      : failure(403, INVALID_REQUEST, "pages of this origin may not ask");
    const headers = { ...cors, vary: "Origin" };
    try {
      for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
      return answer;
    } catch {
      // Headers of some responses cannot be changed.
      return new Response(answer.body, {
        status: answer.status,
        headers: { ...Object.fromEntries(answer.headers), ...headers },
      });
    }
  };

  /** Ends all sessions. */
  async close(): Promise<void> {
    for (const id of [...this.#sessions.keys()]) await this.#end(id);
  }

  async #answer(request: Request): Promise<Response> {
    const { path, protected_resource } = this.#options;
    const pathname = withoutSlash(new URL(request.url).pathname);
    if (!this.#isOwnHost(request)) return failure(403, INVALID_REQUEST, "the request is for another host");
    if (protected_resource !== undefined && (pathname === METADATA || pathname === withoutSlash(`${METADATA}${path}`)))
      return json(200, protected_resource);
    const identity = await this.#identity(request);
    if (identity instanceof Response) return identity;
    const { caller } = identity;
    if (pathname === withoutSlash(path)) return this.#mcp(request, identity);
    if (pathname === "/stats")
      return request.method === "GET"
        ? json(200, this.#parts.stats())
        : new Response(null, { status: 405, headers: { allow: "GET" } });
    return (
      (await this.#parts.beside(request, pathname, caller)) ??
      json(404, { error: "NOT_FOUND", message: `MCP is at ${path}` })
    );
  }

  /** Without authentication, a page that pointed a name of its own here must not read what is here. */
  #isOwnHost(request: Request): boolean {
    if (this.#options.token !== false) return true;
    const host = hostName(request.headers.get("host") ?? new URL(request.url).host);
    return isLoopback(host) || (this.#options.hosts ?? []).includes(host);
  }

  async #identity(request: Request): Promise<Identity | Response> {
    const known = { caller: this.#options.token === false ? ANONYMOUS : "token", authInfo: undefined };
    if (!this.#authorize) return this.#access.isAuthorized(request) ? known : this.#unauthorized(request);
    try {
      const told = await this.#authorize(request);
      if (told === undefined || told === null) return this.#unauthorized(request);
      const { caller, user } = told as { readonly caller: unknown; readonly user?: unknown };
      if (user !== undefined && !isValues(user))
        throw new ContextWeaverError("CALLBACK_FAILED", "`user` of what `authorize` returns is an object of texts");
      if (typeof caller === "string" && caller !== "" && caller.length <= 256)
        return { caller, authInfo: authInfoOf(caller, user) };
      throw new ContextWeaverError(
        "CALLBACK_FAILED",
        "`authorize` must return `{ caller }`, a text of 1 to 256 characters",
      );
    } catch (error) {
      this.#parts.onError(error);
      return json(500, { error: "INTERNAL", message: "the request cannot be authorized now" });
    }
  }

  #unauthorized(request: Request): Response {
    const metadata =
      this.#options.protected_resource === undefined
        ? ""
        : ` resource_metadata="${new URL(METADATA + this.#options.path, request.url).href}"`;
    return new Response(null, { status: 401, headers: { "www-authenticate": `Bearer${metadata}` } });
  }

  async #mcp(request: Request, identity: Identity): Promise<Response> {
    const { sdk } = this.#parts;
    const { caller, authInfo } = identity;
    const { method } = request;
    if (method !== "POST")
      return method === "GET" || method === "DELETE"
        ? this.#inSession(request, identity)
        : new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
    const { max_body_bytes } = this.#options;
    let text: string;
    try {
      text = await readBody(request as BodyRequest, max_body_bytes);
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      if (error.reason === "too_large")
        return failure(413, INVALID_REQUEST, `a request has at most ${max_body_bytes} bytes`);
      return failure(400, PARSE_ERROR, "the request is no JSON in UTF-8");
    }
    // A client is told with its first answer what the servers say of themselves.
    await this.#parts.started();
    // Arguments that are repeated in headers are compared with those.
    const isMirrored = [...request.headers.keys()].some((name) => name.startsWith("mcp-param-"));
    const parsedBody = parsed(isMirrored ? text : keepingNumbers(text));
    // Where it is no JSON, the SDK reads it again and says what is wrong.
    const readable = (): Request =>
      parsedBody
        ? request
        : new Request(request.url, { method, headers: request.headers, body: text, signal: request.signal });
    if (await sdk.isLegacyRequest(readable(), parsedBody, { maxRequestBodySize: max_body_bytes }))
      return this.#inSession(readable(), identity, parsedBody);
    const headers = this.#parts.forwarded(request, authInfo);
    const handler = this.#parts.clients.modern(caller, () => this.#modern(caller));
    const uris = listenedResources(parsedBody);
    const response = await handler.fetch(readable(), {
      ...(parsedBody && { parsedBody }),
      ...(authInfo && { authInfo }),
    });
    if (uris.length > 0 && response.ok) await this.#parts.clients.listen(caller, uris, headers, request.signal);
    return response;
  }

  #modern(caller: string): ReturnType<ServerSdk["createMcpHandler"]> {
    const { sdk, clients } = this.#parts;
    const factory = ({
      requestInfo,
      authInfo,
    }: {
      readonly requestInfo?: Request;
      readonly authInfo?: unknown;
    }): ClientFront["product"] =>
      clients.passing(
        caller,
        requestInfo ? this.#parts.forwarded(requestInfo, authInfo) : {},
        requestInfo?.headers.get("mcp-name"),
      ).product;
    // What is refused is the client's mistake, and answered.
    return sdk.createMcpHandler(factory, { legacy: "reject", maxRequestBodySize: this.#options.max_body_bytes });
  }

  /** A request of a revision with sessions. */
  async #inSession(request: Request, { caller, authInfo }: Identity, parsedBody?: Fields): Promise<Response> {
    await this.#sweep();
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : (this.#sessions.get(id) ?? (await this.#resumed(id, caller, request)));
    // Another caller's session is not there either.
    if (id !== null && known?.caller !== caller) return failure(404, -32001, "Session not found");
    if (!known && !isInitialize(parsedBody))
      return failure(400, INVALID_REQUEST, "no session: `initialize` begins one");
    const { clients } = this.#parts;
    const session = known ?? (await this.#begin(caller));
    const kind = request.method === "GET" ? "streams" : "open";
    session.used = Date.now();
    session[kind] += 1;
    const done = (): void => {
      session[kind] -= 1;
      session.used = Date.now();
    };
    try {
      const response = await session.transport.handleRequest(request, {
        ...(parsedBody && { parsedBody }),
        ...(authInfo && { authInfo }),
      });
      const { sessionId } = session.transport;
      // What began with no valid `initialize` is no session.
      if (sessionId === undefined) await clients.leave(session.front);
      else if (!known && parsedBody && !Array.isArray(parsedBody)) await this.#kept.keep(sessionId, caller, parsedBody);
      return watched(response, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Begins a session again that was kept, under its id. A request that comes meanwhile waits for it. */
  #resumed(id: string, caller: string, request: Request): Promise<HttpSession | undefined> {
    const kept = this.#kept.find(id, caller);
    if (!kept) return Promise.resolve(undefined);
    const known = this.#resuming.get(id);
    if (known) return known;
    const resuming = this.#resume(id, caller, kept.initialize, request).finally(() => this.#resuming.delete(id));
    this.#resuming.set(id, resuming);
    return resuming;
  }

  async #resume(id: string, caller: string, initialize: Fields, request: Request): Promise<HttpSession | undefined> {
    const session = await this.#begin(caller, id);
    const say = async (message: Fields, more: Record<string, string>): Promise<void> => {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...more };
      const response = await session.transport.handleRequest(new Request(request.url, { method: "POST", headers }), {
        parsedBody: message,
      });
      await response.text();
    };
    await say(initialize, {});
    if (session.transport.sessionId === id) {
      await say({ jsonrpc: "2.0", method: "notifications/initialized" }, { "mcp-session-id": id });
      return session;
    }
    await this.#parts.clients.leave(session.front);
    return undefined;
  }

  async #begin(caller: string, id?: string): Promise<HttpSession> {
    await this.#makeRoom();
    const { sdk, clients, onError } = this.#parts;
    const front = clients.join(caller, false);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id ?? crypto.randomUUID(),
      eventStore: new SessionEvents(),
      retryInterval: RETRY_MS,
      maxRequestBodySize: this.#options.max_body_bytes,
      onsessioninitialized: (made: string) => void this.#sessions.set(made, session),
      onsessionclosed: async (closed: string) => {
        await this.#kept.forget(closed);
        await this.#end(closed);
      },
    });
    givesTasks(transport);
    const session: HttpSession = { caller, transport, front, used: Date.now(), open: 0, streams: 0 };
    void front.server.connect(transport).catch(onError);
    return session;
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    await session.transport.close().catch(this.#parts.onError);
    await this.#parts.clients.leave(session.front).catch(this.#parts.onError);
  }

  /** Ends sessions that nobody uses. */
  async #sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const [id, { used, open, streams }] of [...this.#sessions])
      if (open + streams === 0 && now - used > this.#options.session_idle_ms) await this.#end(id);
  }

  /** Ends sessions that are too many for another one: those that listen last, and none that waits for an answer. */
  async #makeRoom(): Promise<void> {
    const idle = [...this.#sessions]
      .filter(([, { open }]) => open === 0)
      .sort(([, one], [, other]) => Number(one.streams > 0) - Number(other.streams > 0) || one.used - other.used);
    for (const [id, session] of idle) {
      if (this.#sessions.size < this.#options.max_sessions) return;
      if (session.open === 0) await this.#end(id);
    }
  }
}

function isValues(user: unknown): user is UserValues {
  return (
    typeof user === "object" &&
    user !== null &&
    !Array.isArray(user) &&
    Object.values(user).every((value) => typeof value === "string")
  );
}

/** Runs `done` when a response has been read, or nobody reads it any more. */
function watched(response: Response, done: () => void): Response {
  // What is no stream has come whole.
  if (!response.body || response.headers.get("content-type") === "application/json") {
    done();
    return response;
  }
  let isDone = false;
  const once = (): void => {
    if (!isDone) done();
    isDone = true;
  };
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        once();
        controller.close();
      } catch (error) {
        once();
        controller.error(error);
      }
    },
    async cancel(reason) {
      once();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

function parsed(text: string): Fields | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined; // the SDK says what is wrong
  }
}

function isInitialize(message: Fields | undefined): boolean {
  return (Array.isArray(message) ? (message as readonly Fields[]) : [message]).some(
    (one) => one?.["method"] === "initialize",
  );
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

function failure(status: number, code: number, message: string): Response {
  return json(status, { jsonrpc: "2.0", id: null, error: { code, message } });
}

/** The same path: clients and proxies add a slash, or take it away. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function pathOf(path: unknown): string {
  if (typeof path === "string" && /^\/[\w./~-]*$/.test(path)) return path;
  throw new ContextWeaverError("INVALID_INPUT", "expected a path such as `/mcp`", { path: "/path" });
}

function wholeNumber(value: unknown, path: string, otherwise: number, least: number, most: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== "number" || !Number.isInteger(value))
    throw new ContextWeaverError("INVALID_INPUT", "expected a whole number", { path });
  if (value < least || value > most)
    throw new ContextWeaverError("OUT_OF_RANGE", `expected ${least} to ${most}`, { path });
  return value;
}
