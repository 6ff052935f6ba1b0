// The service as one function from a request to a response.
import { Catalog, ContextManager, ContextWeaverError } from "contextweaver";
import type {
  ContextManagerOptions,
  DecisionStoreOptions,
  DrilldownOptions,
  JsonObject,
  McpResultInput,
  MessageFormat,
  SelectableItem,
  Selector,
  ToolResult,
} from "contextweaver";
import { decisionsHandler } from "../mcp-server.js";
import { sha256 } from "../storage/checks.js";
import type { SessionStorage, SessionStore } from "../storage/storage-types.js";
import { readBase64 } from "../boundary/base64.js";
import { fields, utf8 } from "../boundary/guard.js";
import { refuseUnknown, wholeWithin } from "../boundary/guard-errors.js";
import { BodyError, readBody } from "../mcp/http-body.js";
import type { BodyRequest } from "../mcp/http-body.js";
import { Access, authorizing } from "../mcp/mcp-access.js";
import type { AccessRequest, ServiceCaller } from "../mcp/mcp-access.js";
import { repeated } from "./conflicts.js";
import { Followers } from "./followers.js";
import { DecisionMemory } from "./memory.js";
import { OPENAPI_PATH, openApi } from "./openapi.js";
import { OPERATIONS, idOf } from "./operations.js";
import type { InputOf, Operation, Operations, SentToolResult } from "./operations.js";
import { Pool } from "./pool.js";
import { Registry } from "./registry.js";
import type { PrunedSession } from "./registry.js";
import { Refused, problemResponse } from "./problems.js";
import { check } from "./schema.js";
import { Session } from "./stored.js";
import type { Answered, Opening, Places, RequestKey } from "./stored.js";

export type { ServiceCaller };

/** The parts of a `Request` that the service reads. */
export interface ServiceRequest extends AccessRequest, BodyRequest {}

type ServiceResponse = typeof globalThis extends { Response: { prototype: infer R } } ? R : unknown;

/** How much the service takes and keeps. */
export interface ServiceLimits {
  /** Bytes of a body, 1,024 to 32 MiB. Default: 4 MiB. */
  readonly body_bytes?: number;
  /** Sessions and memories of decisions that stay in memory. Default: 64. */
  readonly kept?: number;
  /** Bytes that these take, about. Default: 256 MiB. */
  readonly kept_bytes?: number;
  /**
   * Sessions that a tenant may have; `QUOTA_EXCEEDED` for one more. Needs `store`, which is listed when a tenant makes its first session
   * and when the limit is met: of several processes each counts what it has seen. Default: any number.
   */
  readonly sessions?: number;
  /**
   * Bytes that the log and the results of a session take where they are stored; what would make it more is `QUOTA_EXCEEDED`, and
   * nothing of it is stored. Beside these are its catalog and its newest 256 answers to keys. Storages of yours need `record`. Default:
   * any number.
   */
  readonly session_bytes?: number;
}

/** Which sessions of a service end. */
export interface PruneSessionsOptions {
  /** Milliseconds since the last write from which on a session is removed. */
  readonly idle_ms: number;
  /** The time, in milliseconds since 1970. Default: that of the system. */
  readonly now?: number;
}

/** A service: a function from requests to responses, and what its operator does beside it. */
export interface SessionService<R> {
  (request: R): Promise<ServiceResponse>;
  /**
   * Removes sessions that nobody wrote to for a time, with their results, catalogs and keys; memories of decisions stay. Returns them,
   * what was written longest ago first. A session that is asked for meanwhile stays. What another process writes while its session
   * is being removed is refused with `CONFLICT` as by `SessionStore.prune`; a catalog that it stores then goes with the session.
   *
   * Errors: `UNSUPPORTED` without `store`, `MISSING_FIELD` at `/clock` where the store tells no times, `OUT_OF_RANGE` and
   * `UNKNOWN_FIELD` for what is no such option; those of the store. Lists the store once.
   *
   * ```js
   * import { sessionHandler } from "contextweaver/service";
   * import { memoryStore } from "contextweaver/storage";
   *
   * const handler = sessionHandler({ store: memoryStore({ clock: Date.now }), token: "a-long-random-text" });
   * setInterval(() => handler.prune({ idle_ms: 30 * 86_400_000 }), 3_600_000);
   * ```
   */
  prune(options: PruneSessionsOptions): Promise<readonly PrunedSession[]>;
  /** Gives back the memory of what is kept between requests; the next request reads it again. Not while one is running. */
  free(): void;
}

/** How a service is run. */
export interface SessionHandlerOptions<R extends AccessRequest = ServiceRequest> {
  /**
   * Where something is kept: a storage of its own for each pair of tenant and name, such as `store.session(name)` of a store of the
   * tenant's. Names are `session/<id>`, `service/<id>` and `decisions`.
   */
  readonly open?: (tenant: string, name: string) => SessionStorage | PromiseLike<SessionStorage>;
  /** Where everything is kept, in place of `open`: each pair under the JSON of it. `limits.sessions` and `prune` need it. */
  readonly store?: SessionStore;
  /**
   * Who answers in place of this handler, for what is kept elsewhere: by the same names, without `service/<id>`. A request arrives
   * there with its tenant, percent-encoded, in `x-contextweaver-tenant`; a client's header of this name is not handed on.
   */
  readonly forward?: (tenant: string, name: string) => Forwarded;
  /**
   * What clients must send as `Authorization: Bearer …`; compared in constant time. With several tenants, the token of each by its
   * name. With one token the tenant is `default`.
   */
  readonly token?: string | Readonly<Record<string, string>>;
  /** Says whose a request is, in place of `token`; undefined is answered with 401. */
  readonly authorize?: (request: R) => ServiceCaller | undefined | PromiseLike<ServiceCaller | undefined>;
  /** Origins of pages that may ask, such as `https://app.example`. Default: none but those of the same machine. */
  readonly origins?: readonly string[];
  /** Options of every manager, functions among them; sessions cannot set these themselves. Default: `clock: Date.now`. */
  readonly manager?: ContextManagerOptions;
  /** Options of every memory of decisions. */
  readonly decisions?: DecisionStoreOptions;
  /** How many sessions, and how large. */
  readonly limits?: ServiceLimits;
  /** Open sessions whose journal is damaged as far as it can be read; `findings` of a session names the rest. Default: false, 500. */
  readonly salvage?: boolean;
  /** Is told what failed inside, which clients are not. */
  readonly onError?: (error: unknown) => void;
}

/** Something that requests can be handed on to, such as a Durable Object. */
export interface Forwarded {
  fetch(
    url: string,
    init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
  ): Promise<ServiceResponse>;
}

const MIB = 2 ** 20;
/** Drops that an answer lists: of a long log they would be most of it. */
const LISTED_DROPS = 100;
const CORS = {
  methods: "GET, POST, PUT, DELETE",
  request:
    "authorization, content-type, accept, idempotency-key, if-match, last-event-id, mcp-protocol-version, mcp-method, mcp-name",
  response: "etag, idempotent-replayed, www-authenticate",
};
/** What a client may name a request by. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Under this name a handler that forwards tells whose a request is. */
const TENANT = "x-contextweaver-tenant";
/** Headers that are handed on. */
const FORWARDED = [
  "content-type",
  "accept",
  "idempotency-key",
  "if-match",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
];

/** Whose a request is that a handler has forwarded: for `authorize` where none but such handlers can ask. @internal */
export function forwardedTenant({ headers }: Pick<AccessRequest, "headers">): ServiceCaller | undefined {
  const tenant = headers.get(TENANT);
  return tenant === null ? undefined : { tenant: decodeURIComponent(tenant) };
}

/** A request that may be answered. */
interface Call<Name extends keyof Operations = keyof Operations> {
  readonly tenant: string;
  readonly input: InputOf<Operations[Name]>;
  readonly text: string;
  readonly key: RequestKey | undefined;
  readonly if_sequence: number | undefined;
  readonly request: ServiceRequest;
}

/** An answer of any kind. */
type Reply = Response | (Answered & { readonly headers?: Readonly<Record<string, string>> });

/**
 * Returns a `fetch` handler that keeps sessions and memories of decisions for programs that speak HTTP: for Workers, Deno, Bun, and
 * Node behind an adapter. What is acknowledged is stored. Requests of one session run one after the other.
 *
 * Errors are `application/problem+json` with the code, path and hint of the package. Whose a request is, only `authorize` or the
 * token says. Options that are not as described are `MISSING_FIELD`, `UNKNOWN_FIELD`, `INVALID_INPUT` or `OUT_OF_RANGE` at once.
 *
 * ```js
 * import { sessionHandler } from "contextweaver/service";
 * import { memoryStore } from "contextweaver/storage";
 *
 * const handler = sessionHandler({ store: memoryStore(), token: "a-long-random-text" });
 * const headers = { authorization: "Bearer a-long-random-text", "content-type": "application/json" };
 * const made = await handler(new Request("http://localhost/v1/sessions", { method: "POST", headers, body: `{"id":"ada"}` }));
 * console.log(made.status); // 201
 * ```
 */
export function sessionHandler<R extends AccessRequest = ServiceRequest>(
  options: SessionHandlerOptions<R>,
): SessionService<R> {
  const service = new Service(options as unknown as SessionHandlerOptions);
  const respond = (request: R): Promise<ServiceResponse> =>
    service.respond(request as unknown as ServiceRequest) as Promise<ServiceResponse>;
  return Object.assign(respond, {
    prune: (given: PruneSessionsOptions) => service.prune(given),
    free: () => service.free(),
  });
}

const OPTIONS = [
  "open",
  "store",
  "forward",
  "token",
  "authorize",
  "origins",
  "manager",
  "decisions",
  "limits",
  "salvage",
  "onError",
];

class Service {
  readonly #open: (tenant: string, name: string) => Promise<SessionStorage>;
  readonly #forward: SessionHandlerOptions["forward"];
  readonly #authorize: (request: ServiceRequest) => Promise<string | undefined>;
  readonly #access: Access;
  readonly #manager: ContextManagerOptions;
  readonly #opening: Opening;
  readonly #decisionOptions: DecisionStoreOptions;
  readonly #registry: Registry | undefined;
  readonly #maxBytes: number;
  readonly #maxSessions: number;
  readonly #maxSessionBytes: number;
  readonly #sessions: Pool<Session>;
  readonly #memories: Pool<DecisionMemory>;
  readonly #followers = new Followers();
  readonly #onError: (error: unknown) => void;
  readonly #routes = Object.entries(OPERATIONS as Readonly<Record<string, Operation>>).map(([name, operation]) => ({
    name: name as keyof Operations,
    operation,
    segments: operation.path.split("/"),
  }));

  constructor(options: SessionHandlerOptions) {
    const { open, store, forward, token, authorize, origins, manager, decisions, limits, salvage, onError, ...others } =
      fields(options) as unknown as SessionHandlerOptions;
    refuseUnknown(others as Readonly<Record<string, unknown>>, OPTIONS);
    if (store && typeof store.session !== "function")
      throw new ContextWeaverError("INVALID_INPUT", "expected a store of sessions", { path: "/store" });
    this.#registry = store && new Registry(store);
    const keeps = forward ?? open ?? this.#registry?.open;
    if (typeof keeps !== "function")
      throw new ContextWeaverError(
        keeps === undefined ? "MISSING_FIELD" : "INVALID_INPUT",
        "expected a function that opens storages",
        { path: forward === undefined ? "/open" : "/forward" },
      );
    if (forward && (open || store))
      throw new ContextWeaverError("INVALID_INPUT", "give open or forward, not both", { path: "/forward" });
    if (open && store)
      throw new ContextWeaverError("INVALID_INPUT", "give open or store, not both", { path: "/store" });
    this.#forward = forward;
    if (onError !== undefined && typeof onError !== "function")
      throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/onError" });
    this.#open = async (tenant, name) =>
      this.#registry?.open(tenant, name) ?? (open as NonNullable<typeof open>)(tenant, name);
    this.#access = new Access(false, origins, CORS);
    this.#authorize = authorizing(token, authorize);
    this.#manager = { clock: Date.now, ...manager };
    // Options that are wrong are told at once, but the engine is not started where nothing is kept.
    if (!forward) new ContextManager(this.#manager).free();
    if (salvage !== undefined && typeof salvage !== "boolean")
      throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/salvage" });
    this.#opening = { manager: this.#manager, salvage: salvage === true };
    this.#decisionOptions = { ...decisions };
    const {
      body_bytes = 4 * MIB,
      kept = 64,
      kept_bytes = 256 * MIB,
      sessions,
      session_bytes,
      ...more
    } = fields(limits, "/limits") as ServiceLimits;
    refuseUnknown(
      more as Readonly<Record<string, unknown>>,
      ["body_bytes", "kept", "kept_bytes", "sessions", "session_bytes"],
      "/limits",
    );
    this.#maxSessions =
      sessions === undefined ? Infinity : wholeWithin(sessions, 0, Number.MAX_SAFE_INTEGER, "/limits/sessions");
    if (sessions !== undefined && !store) throw withoutStore("/limits/sessions");
    this.#maxSessionBytes =
      session_bytes === undefined
        ? Infinity
        : wholeWithin(session_bytes, 0, Number.MAX_SAFE_INTEGER, "/limits/session_bytes");
    if (session_bytes !== undefined && forward) {
      throw new ContextWeaverError("UNSUPPORTED", "sessions are kept elsewhere", {
        path: "/limits/session_bytes",
        hint: "options() of a SessionObject of yours",
      });
    }
    this.#maxBytes = wholeWithin(body_bytes, 1_024, 32 * MIB, "/limits/body_bytes");
    const most = {
      count: wholeWithin(kept, 1, 100_000, "/limits/kept"),
      bytes: wholeWithin(kept_bytes, 0, 2 ** 40, "/limits/kept_bytes"),
    };
    this.#sessions = new Pool(most);
    this.#memories = new Pool(most);
    this.#onError = onError ?? (() => undefined);
  }

  async prune(options: PruneSessionsOptions): Promise<readonly PrunedSession[]> {
    const { idle_ms, now = Date.now(), ...others } = fields(options) as unknown as PruneSessionsOptions;
    refuseUnknown(others as Readonly<Record<string, unknown>>, ["idle_ms", "now"]);
    if (!this.#registry) throw withoutStore("/store");
    const last = timeOf(now, "/now") - timeOf(idle_ms, "/idle_ms");
    return this.#registry.prune(last, (tenant, session, remove) => this.#sessions.without(tenant, session, remove));
  }

  free(): void {
    this.#sessions.free();
    this.#memories.free();
  }

  async respond(request: ServiceRequest): Promise<Response> {
    const cors = this.#access.cors(request);
    const refused = cors
      ? this.#access.preflight(request)
      : problemResponse(new Refused(403, "POLICY_VIOLATION", "this page may not ask"));
    const response = refused ?? (await this.#answer(request));
    for (const [name, value] of Object.entries({
      ...cors,
      vary: "Origin",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    }))
      response.headers.set(name, value);
    return response;
  }

  async #answer(request: ServiceRequest): Promise<Response> {
    try {
      const reply = await this.#run(request);
      if (reply instanceof Response) return reply;
      const { status, body, headers } = reply;
      const { sequence } = body as { readonly sequence?: number };
      const etag = sequence === undefined ? {} : { etag: `"${sequence}"` };
      return status === 204
        ? new Response(null, { status })
        : new Response(JSON.stringify(body), {
            status,
            headers: { "content-type": "application/json", ...etag, ...headers },
          });
    } catch (error) {
      const response = problemResponse(error);
      // What is full is told to the client.
      if (response.status >= 500 && response.status !== 507) this.#onError(error);
      return response;
    }
  }

  async #run(request: ServiceRequest): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === OPENAPI_PATH && request.method === "GET") return { status: 200, body: openApi() };
    const tenant = await this.#authorize(request);
    if (tenant === undefined)
      throw new Refused(401, "POLICY_VIOLATION", "no valid token", {}, { "www-authenticate": "Bearer" });
    const { name, operation, params } = this.#routed(request.method, pathname);
    const isRead = operation.method === "GET" || operation.method === "DELETE";
    const text = isRead ? "" : await this.#read(request);
    const body = isRead ? queryOf(operation, searchParams) : parsed(text);
    check(operation.body, body);
    const { if_sequence } = body as { readonly if_sequence?: number };
    const call: Call = {
      tenant,
      input: { ...(body as object), ...params } as never,
      text,
      key: operation.keyed ? await keyOf(request, pathname, text) : undefined,
      if_sequence: if_sequence ?? matchOf(request.headers.get("if-match")),
      request,
    };
    if (this.#forward) return this.#handOn(this.#forward, name, call, new URL(request.url));
    return (this.#operations[name] as (call: Call) => Promise<Reply>)(call);
  }

  /** Hands a request on to where its session is; one that makes a session gets its id here. */
  async #handOn(
    forward: NonNullable<SessionHandlerOptions["forward"]>,
    name: keyof Operations,
    { tenant, input, text, key, request }: Call,
    { pathname, search }: URL,
  ): Promise<Response> {
    const { method, headers } = request;
    const id =
      name === "createSession"
        ? await newId(tenant, (input as { readonly id?: string }).id, key)
        : (input as { readonly session?: string }).session;
    const to = forward(tenant, id === undefined ? "decisions" : `session/${id}`);
    const sent = FORWARDED.flatMap((one) => (headers.get(one) === null ? [] : [[one, headers.get(one) as string]]));
    const body = name === "createSession" ? JSON.stringify({ ...(JSON.parse(text) as object), id }) : text;
    const response = (await to.fetch(`http://service${pathname}${search}`, {
      method,
      headers: { ...(Object.fromEntries(sent) as Record<string, string>), [TENANT]: encodeURIComponent(tenant) },
      ...(method !== "GET" && method !== "DELETE" && { body }),
    })) as Response;
    // Its headers may be another's, and fixed.
    return new Response(response.body, response);
  }

  #routed(
    method: string,
    pathname: string,
  ): { name: keyof Operations; operation: Operation; params: Readonly<Record<string, string>> } {
    const given = pathname.split("/");
    const there = this.#routes.filter(
      ({ segments }) =>
        segments.length === given.length && segments.every((one, at) => one.startsWith("{") || one === given[at]),
    );
    if (there.length === 0)
      throw new Refused(404, "NOT_FOUND", "there is nothing here", {
        hint: `GET ${OPENAPI_PATH} describes what there is`,
      });
    const route = there.find(({ operation }) => operation.method === method);
    if (!route) {
      const allow = there.map(({ operation }) => operation.method).join(", ");
      throw new Refused(405, "UNSUPPORTED", "the method is not allowed here", { hint: allow }, { allow });
    }
    const params: Record<string, string> = {};
    for (const [at, segment] of route.segments.entries()) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      // An id is written as it is: nothing in it needs an escape.
      if (name !== undefined) params[name] = idOf(given[at], `/${name}`);
    }
    return { ...route, params };
  }

  /** Reads a body, and no more of it than is taken. */
  async #read(request: ServiceRequest): Promise<string> {
    const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json")
      throw new Refused(415, "UNSUPPORTED", "expected application/json", { path: "content-type" });
    try {
      return await readBody(request, this.#maxBytes);
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      if (error.reason === "too_large")
        throw new Refused(413, "TOO_LARGE", `a body has at most ${this.#maxBytes} bytes`);
      if (error.reason === "aborted") throw aborted();
      throw new Refused(400, "DECODE_FAILED", "the body cannot be read as UTF-8");
    }
  }

  readonly #operations: { readonly [Name in keyof Operations]: (call: Call<Name>) => Promise<Reply> } = {
    createSession: (call) => this.#create(call),
    getSession: (call) =>
      this.#look(call, ({ stored }) => ({
        id: call.input.session,
        sequence: stored.sequence,
        stats: stored.manager.stats(),
        findings: stored.findings,
      })),
    deleteSession: (call) =>
      this.#use(call, async (session, drop) => {
        refuseChanged(session, call);
        try {
          await session.delete();
          this.#registry?.remove(call.tenant, call.input.session);
        } finally {
          drop();
        }
        return { status: 204, body: {} };
      }),
    append: (call) => this.#add(call, ({ stored: { manager } }) => manager.whole(() => append(manager, call.input))),
    ingestMessages: (call) =>
      this.#add(call, ({ stored: { manager } }) =>
        manager.ingestMessages(call.input.messages, call.input.format as MessageFormat, messageOptions(call.input)),
      ),
    syncMessages: (call) =>
      this.#add(call, ({ stored: { manager } }) =>
        manager.syncMessages(call.input.messages, call.input.format as MessageFormat, messageOptions(call.input)),
      ),
    build: (call) =>
      this.#write(call, async ({ stored: { manager } }) => {
        await this.#embed(manager, call.input.build.query);
        return { pack: manager.build(short(call.input.build)) };
      }),
    buildMessages: (call) =>
      this.#write(call, async ({ stored: { manager } }) => {
        await this.#embed(manager, call.input.build.query);
        return { built: manager.buildMessages(short(call.input.build)) };
      }),
    setCatalog: (call) =>
      this.#once(call, async (session, drop) => {
        const { items, mcp } = call.input;
        if ((items === undefined) === (mcp === undefined))
          throw new ContextWeaverError("INVALID_INPUT", "give items or mcp", { path: "/items" });
        const catalog = mcp === undefined ? new Catalog(items as Iterable<SelectableItem>) : Catalog.fromMcp(mcp);
        try {
          const body = { tools: catalog.size, hash: catalog.hash(), findings: catalog.findings() };
          return await session.setCatalog(catalog, call.key, { status: 200, body });
        } catch (error) {
          catalog.free();
          // Whether it was stored is told by the store.
          drop();
          throw error;
        }
      }),
    route: (call) => this.#write(call, (session) => this.#route(session, call.input)),
    drilldown: (call) =>
      this.#write(
        call,
        async ({ stored }) => {
          const { handle, selector, max_tokens, inject, parent_id } = call.input;
          const options: DrilldownOptions = {
            ...(max_tokens !== undefined && { max_tokens }),
            ...(inject !== undefined && { inject }),
            ...(parent_id !== undefined && { parent_id }),
          };
          return { slice: await stored.drilldown(handle, selector as Selector, options) };
        },
        call.input.inject === true ? this.#maxSessionBytes : Infinity,
      ),
    recall: (call) =>
      this.#write(call, async ({ stored }) => {
        const { query, max_tokens, handles } = call.input;
        return {
          recalled: await stored.recall(query, {
            ...(max_tokens !== undefined && { max_tokens }),
            ...(handles !== undefined && { handles }),
          }),
        };
      }),
    forget: (call) =>
      this.#once(call, async (session, drop) => {
        try {
          return await session.forget(call.input.item_id, call.key);
        } catch (error) {
          if (!ContextWeaverError.is(error) || error.code !== "NOT_FOUND") drop();
          throw error;
        }
      }),
    exportDecisions: ({ tenant, input }) =>
      this.#remember(tenant, async (memory) => ({ status: 200, body: memory.since(input.since) })),
    addGuardrails: ({ tenant, input }) =>
      this.#change(tenant, async ({ store }) => {
        const { errors, ...body } = store.addGuardrails(input.rules);
        const [first] = errors;
        // An id may be what must not be told again.
        if (first)
          throw new Refused(422, "INVALID_INPUT", first.message, {
            path: `/rules${first.path}`,
            details: { errors: errors.map(({ path, message }) => ({ path: `/rules${path}`, message })) },
          });
        return { status: 200, body };
      }),
    removeGuardrail: ({ tenant, input }) =>
      this.#change(tenant, async ({ store }) => ({ status: 200, body: { removed: store.removeGuardrail(input.id) } })),
    decisionsRpc: ({ tenant, text, request }) => this.#rpc(tenant, text, request),
    decisionChanges: ({ tenant, input, request }) =>
      this.#remember(tenant, async (memory) => {
        const last = request.headers.get("last-event-id");
        const since = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : input.since;
        const first = since !== undefined && since < memory.revision ? memory.since(since) : undefined;
        return new Response(this.#followers.follow(tenant, first), {
          headers: { "content-type": "text/event-stream" },
        });
      }),
  };

  /** Makes a session. */
  async #create({ tenant, input, key, request }: Call<"createSession">): Promise<Reply> {
    const { options = {} } = input;
    const own = Object.keys(this.#manager).find((name) => Object.hasOwn(options, name));
    if (own !== undefined)
      throw new ContextWeaverError("POLICY_VIOLATION", "the service sets this option itself", {
        path: `/options/${own}`,
      });
    const id = await newId(tenant, input.id, key);
    const places = await this.#places(tenant, id);
    let isNew = false;
    const make = async (): Promise<Session> => {
      const made = await Session.create(places, options, key, this.#opening);
      isNew = made !== undefined;
      return made ?? Session.open(places, this.#opening);
    };
    const admitted = (): Promise<Session> =>
      this.#registry && this.#maxSessions < Infinity
        ? this.#registry.admit(tenant, id, this.#maxSessions, make)
        : make();
    return this.#sessions.use(tenant, id, admitted, async (session) => {
      this.#registry?.note(tenant, id);
      refuseAborted(request);
      const isAgain = !isNew && key !== undefined && session.made?.key === key.key;
      if (isAgain && session.made?.hash !== key.hash)
        throw new Refused(422, "INVALID_INPUT", "the key was used for another request", { path: "Idempotency-Key" });
      if (!isNew && !isAgain)
        throw new ContextWeaverError("DUPLICATE_ID", "there is a session with this id", { path: "/id" });
      return {
        status: 201,
        body: { id, sequence: isNew ? session.stored.sequence : 0 },
        headers: { location: `/v1/sessions/${id}`, ...(isAgain && REPLAYED) },
      };
    });
  }

  /** Changes a session by what the client brings, as far as it has room. */
  #add(call: Call<never>, change: (session: Session) => object): Promise<Reply> {
    return this.#write(call, change, this.#maxSessionBytes);
  }

  /** Changes a session, and stores it before it is told. */
  #write(
    call: Call<never>,
    change: (session: Session) => object | Promise<object>,
    max_bytes = Infinity,
  ): Promise<Reply> {
    return this.#once(call, async (session, drop) => {
      const body = await change(session);
      try {
        if (max_bytes < Infinity) await session.stored.refuseBeyond(max_bytes);
        return await session.save(call.key, { status: 200, body });
      } catch (error) {
        // What is in memory was not stored.
        drop();
        throw error;
      }
    });
  }

  /** Runs what changes a session, where it was not done for the key already, and the session is as the client says. */
  #once(call: Call<never>, run: (session: Session, drop: () => void) => Promise<Answered>): Promise<Reply> {
    const { key } = call;
    return this.#use(call, async (session, drop): Promise<Reply> => {
      const before = key && session.answered(key);
      if (before) return { ...before, headers: REPLAYED };
      refuseChanged(session, call);
      return run(session, drop);
    });
  }

  #look(call: Call<never>, read: (session: Session) => object): Promise<Reply> {
    return this.#use(call, async (session) => ({ status: 200, body: read(session) }));
  }

  /** Runs a request on a session; again where another process wrote meanwhile. */
  async #use(call: Call<never>, run: (session: Session, drop: () => void) => Promise<Reply>): Promise<Reply> {
    const { tenant, request } = call;
    const { session } = call.input as { readonly session: string };
    const places = await this.#places(tenant, session);
    return repeated(() =>
      this.#sessions.use(
        tenant,
        session,
        () => Session.open(places, this.#opening),
        async (kept, drop) => {
          try {
            refuseAborted(request);
            return await run(kept, drop);
          } finally {
            this.#registry?.note(tenant, session);
          }
        },
      ),
    );
  }

  async #remember(tenant: string, run: (memory: DecisionMemory, drop: () => void) => Promise<Reply>): Promise<Reply> {
    const open = async (): Promise<DecisionMemory> =>
      DecisionMemory.open(await this.#open(tenant, "decisions"), this.#decisionOptions);
    return this.#memories.use(tenant, "decisions", open, run);
  }

  async #rpc(tenant: string, text: string, { method, url, headers }: ServiceRequest): Promise<Reply> {
    return this.#change(tenant, async (memory) => {
      const answer = decisionsHandler(memory.store, { token: false, max_chars: 8 * MIB });
      // Who may ask was seen to.
      const request = {
        method,
        url,
        headers: { get: (name: string) => (name === "origin" ? null : headers.get(name)) },
        body: new Response(text).body as ServiceRequest["body"],
      };
      return (await answer(request)) as Response;
    });
  }

  /** Runs what may change a memory, and stores that before it is told; again where another process wrote meanwhile. */
  #change(tenant: string, run: (memory: DecisionMemory) => Promise<Reply>): Promise<Reply> {
    return repeated(() =>
      this.#remember(tenant, async (memory, drop) => {
        const reply = await run(memory);
        try {
          const changes = await memory.save();
          if (changes) this.#followers.tell(tenant, changes);
        } catch (error) {
          drop();
          throw error;
        }
        return reply;
      }),
    );
  }

  async #route(
    session: Session,
    { query, options, cards, provider, prompt }: InputOf<Operations["route"]>,
  ): Promise<object> {
    const {
      router,
      stored: { manager },
    } = session;
    await this.#embed(router, query);
    if (prompt) await this.#embed(manager, query);
    const built = manager.buildRoute({
      ...short(prompt),
      query,
      router,
      ...(options && { route: options }),
      ...(cards && { cards }),
    });
    const tools = provider === undefined ? undefined : router.toolsFor(built.route, provider);
    const { renamed = undefined } = provider === "anthropic" ? router.providerTools(built.route, provider) : {};
    return {
      route: built.route,
      cards: built.cards,
      ...(tools !== undefined && { tools }),
      ...(renamed && { renamed }),
      ...(prompt && { pack: built.pack }),
    };
  }

  /** Asks for vectors where the operator has an embedder; words alone are better than no answer. */
  async #embed(of: Pick<ContextManager, "embedMissing">, query: unknown): Promise<void> {
    if (this.#manager.embed === undefined || typeof query !== "string") return;
    try {
      await of.embedMissing(query);
    } catch (error) {
      if (!ContextWeaverError.is(error) || error.code !== "CALLBACK_FAILED") throw error;
      this.#onError(error);
    }
  }

  async #places(tenant: string, session: string): Promise<Places> {
    const [journal, records] = await Promise.all([
      this.#open(tenant, `session/${session}`),
      this.#open(tenant, `service/${session}`),
    ]);
    return { journal, records };
  }
}

function withoutStore(path: string): ContextWeaverError {
  const hint = "sessionHandler({ store }): a store can list its sessions, which open cannot";
  return new ContextWeaverError("UNSUPPORTED", "the service has no store", { path, hint });
}

/** Milliseconds that a caller gave. */
function timeOf(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new ContextWeaverError(
    value === undefined ? "MISSING_FIELD" : "OUT_OF_RANGE",
    "expected milliseconds, a number from 0",
    { path },
  );
}

/** Refuses a request that was made for the session as it was before. */
function refuseChanged({ stored: { sequence } }: Session, { if_sequence }: Call<never>): void {
  if (if_sequence === undefined || if_sequence === sequence) return;
  throw new Refused(
    412,
    "CONFLICT",
    "the session has another sequence",
    { details: { sequence } },
    { etag: `"${sequence}"` },
  );
}

const REPLAYED = { "idempotent-replayed": "true" };

/** The id of a session that is made. A key without an id stands for an id, so that a repetition finds what was made. */
async function newId(tenant: string, id: string | undefined, key: RequestKey | undefined): Promise<string> {
  if (id !== undefined) return idOf(id, "/id");
  return key ? (await sha256(utf8(JSON.stringify([tenant, key.key])))).slice(0, 32) : crypto.randomUUID();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(400, "DECODE_FAILED", "the body is no JSON");
  }
}

/** The query of a request as its schema has it; what is no number stays a text, and is refused. */
function queryOf({ body }: Operation, query: URLSearchParams): unknown {
  const { properties = {} } = body.json as {
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
  };
  return Object.fromEntries(
    [...query].map(([name, value]) => [
      name,
      Object.hasOwn(properties, name) && properties[name]?.type === "integer" && /^\d{1,15}$/.test(value)
        ? Number(value)
        : value,
    ]),
  );
}

/** The sequence that `If-Match` names. */
function matchOf(header: string | null): number | undefined {
  if (header === null || header.trim() === "*") return undefined;
  const tag = /^\s*"(\d{1,15})"\s*$/.exec(header)?.[1];
  if (tag === undefined) throw new Refused(412, "CONFLICT", "expected one ETag of this session", { path: "If-Match" });
  return Number(tag);
}

async function keyOf(
  { headers, method }: ServiceRequest,
  pathname: string,
  text: string,
): Promise<RequestKey | undefined> {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!KEY.test(key))
    throw new Refused(422, "INVALID_INPUT", "expected 1 to 255 visible ASCII characters", { path: "Idempotency-Key" });
  return { key, hash: await sha256(utf8(JSON.stringify([method, pathname, text]))) };
}

/** What nobody waits for is not begun. */
function refuseAborted({ signal }: ServiceRequest): void {
  if (signal?.aborted) throw aborted();
}

function aborted(): Refused {
  return new Refused(499, "UNSUPPORTED", "the request was aborted");
}

/** Drops are counted all, and as many of them listed, unless more are asked for. */
function short<B extends { readonly list_dropped?: number }>(build: B | undefined): B {
  return { list_dropped: LISTED_DROPS, ...build } as B;
}

function messageOptions({ system, id_prefix }: { readonly system?: unknown; readonly id_prefix?: string }): {
  system?: unknown;
  id_prefix?: string;
} {
  return { ...(system !== undefined && { system }), ...(id_prefix !== undefined && { id_prefix }) };
}

function append(
  manager: ContextManager,
  { items = [], tool_results = [], mcp_results = [], facts = [], episodes = [] }: InputOf<Operations["append"]>,
): object {
  manager.ingestAll(items);
  const results = [
    ...tool_results.map((result, at) => under(`/tool_results/${at}`, () => manager.ingestToolResult(decoded(result)))),
    ...mcp_results.map((result, at) =>
      under(`/mcp_results/${at}`, () => manager.ingestMcpResult(result as McpResultInput<JsonObject>)),
    ),
  ];
  for (const [at, fact] of facts.entries()) under(`/facts/${at}`, () => manager.addFact(fact));
  for (const [at, episode] of episodes.entries()) under(`/episodes/${at}`, () => manager.addEpisode(episode));
  return { results: results.map(kept) };
}

/** Makes the path of an error lead through the body. */
function under<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const { code, message, path: inner = "", hint, details } = error;
    throw new ContextWeaverError(code, message, { path: path + inner, hint, details });
  }
}

function decoded({ raw_output, ...rest }: SentToolResult): Parameters<ContextManager["ingestToolResult"]>[0] {
  if (typeof raw_output === "string") return { ...rest, raw_output } as never;
  const { base64, ...others } = fields(raw_output, "/raw_output");
  refuseUnknown(others, ["base64"], "/raw_output");
  const bytes = readBase64(String(base64));
  if (!bytes) throw new ContextWeaverError("DECODE_FAILED", "expected base64", { path: "/raw_output/base64" });
  return { ...rest, raw_output: bytes } as never;
}

function kept({ item }: ToolResult): object {
  const { firewall } = (item.metadata ?? {}) as { readonly firewall?: unknown };
  return {
    item_id: item.id,
    handle: item.artifact_ref?.handle ?? `artifact:${item.id}`,
    digested: firewall !== undefined,
  };
}
