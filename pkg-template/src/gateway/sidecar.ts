// The endpoints beside MCP: routes, reduced results and their artifacts, for programs that speak plain HTTP.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown, wholeWithin } from "../boundary/guard-errors.js";
import type { BodyRequest } from "../mcp/http-body.js";
import { Access, authorizing } from "../mcp/mcp-access.js";
import type { AccessRequest, ServiceCaller } from "../mcp/mcp-access.js";
import type { Router } from "../catalog/router.js";
import type { ChoiceCard, RouteOptions, RouteResult } from "../catalog/routing-types.js";
import { BodyFields, bodyOf, refused } from "./sidecar-body.js";
import { SharedArtifacts, artifactResponse } from "./sidecar-artifacts.js";
import type { SidecarArtifactLimits } from "./sidecar-artifacts.js";
import { RENAMED, compactAsked, compacted, masksSecrets } from "./sidecar-compact.js";
import type { SidecarCompact, SidecarManager } from "./sidecar-compact.js";
import { SidecarRefusal, onBehalf, refusalResponse } from "./sidecar-errors.js";
import { rateLimiter } from "./sidecar-rate.js";
import type { RateExcess, SidecarRateLimit } from "./sidecar-rate.js";

export type { SidecarErrorBody, SidecarErrorCode } from "./sidecar-errors.js";
export type { ServiceCaller, SidecarArtifactLimits, SidecarCompact, SidecarManager, SidecarRateLimit };

/** The parts of a `Request` that the sidecar reads. */
export interface SidecarRequest extends AccessRequest, BodyRequest {}

type SidecarResponse = typeof globalThis extends { Response: { prototype: infer R } } ? R : unknown;

/** What a client may ask of a route. */
export type SidecarRouteOptions = Pick<RouteOptions, "top_k" | "exclude_ids" | "allowed_namespaces" | "context_hints">;

/** A route with the cards of its candidates. */
export interface RoutedCards {
  readonly result: Pick<RouteResult, "candidate_ids" | "scores" | "is_ambiguous" | "clarifying_question">;
  readonly cards: readonly ChoiceCard[];
}

/** Anything that chooses tools: a {@link Router}, or what routes in one call. Where no tool is left it throws `NO_CANDIDATES`. */
export type SidecarRouter =
  | Pick<Router, "route" | "cards">
  | { route(query: string, options: SidecarRouteOptions): RoutedCards | PromiseLike<RoutedCards> };

/** What `/v1/route` answers. */
export interface SidecarRoute
  extends Pick<RouteResult, "candidate_ids" | "scores" | "is_ambiguous" | "clarifying_question"> {
  readonly api_version: "v1";
  /** Of the candidates, in their order. */
  readonly cards: readonly ChoiceCard[];
}

/** How the sidecar is run. */
export interface SidecarOptions<R extends AccessRequest = SidecarRequest> {
  /** What `/v1/route` asks. Default: nothing; the endpoint answers 503. */
  readonly router?: SidecarRouter;
  /**
   * What `/v1/compact` asks, and what keeps the whole results: one manager of all callers, where each gets only the artifacts it
   * sent, or a function that returns a manager of each caller's own, of which it gets all. They stay yours: the sidecar frees none.
   * Default: nothing; the endpoints answer 503.
   */
  readonly manager?: SidecarManager | ((caller: ServiceCaller) => SidecarManager | PromiseLike<SidecarManager>);
  /**
   * What clients must send as `Authorization: Bearer …`, compared in constant time; with several tenants, the token of each by its
   * name. With one token the tenant is `default`. `false` serves whoever reaches the handler.
   */
  readonly token?: string | false | Readonly<Record<string, string>>;
  /** Says whose a request is, in place of `token`; undefined is answered with 401. */
  readonly authorize?: (request: R) => ServiceCaller | undefined | PromiseLike<ServiceCaller | undefined>;
  /** Origins of pages that may ask, such as `https://app.example`. Default: none but those of the same machine. */
  readonly origins?: readonly string[];
  /** How often each client may ask; refusals and `/v1/health` do not count. Default: any number of times. */
  readonly rate_limit?: SidecarRateLimit;
  /** What counts as one client for `rate_limit`, such as its address; 1 to 256 characters. Default: the tenant. */
  readonly client?: (request: R) => string;
  /** Bytes of a body, 1 to 32 MiB. Default: 1,048,576. */
  readonly max_body_bytes?: number;
  /**
   * Whether secrets are masked even where a request does not ask for it. `true` refuses a manager whose `redact_secrets` is false.
   * Default: true.
   */
  readonly redact_secrets?: boolean;
  /** How much a manager of all callers keeps. A manager of a caller's own has `limits` for that. */
  readonly artifacts?: SidecarArtifactLimits;
  /** Milliseconds since 1970, for `rate_limit`. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Is told what failed inside, which clients are not. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Returns a `fetch` handler for `GET /v1/health`, `POST /v1/route`, `POST /v1/compact` and `GET /v1/artifacts/{handle}`: for Workers,
 * Deno, Bun, and Node behind an adapter. Answers are JSON; errors are {@link SidecarErrorBody}. Query strings are ignored, and so are
 * fields of a body that an endpoint does not know. Whole numbers of more than 53 bits are refused, as they would come back as others.
 *
 * What is not as described is told at once: `MISSING_FIELD` at `/token`, `UNKNOWN_FIELD`, `INVALID_INPUT`, `OUT_OF_RANGE`.
 *
 * ```js
 * import { ContextManager } from "contextweaver";
 * import { sidecar } from "contextweaver/mcp";
 *
 * const handler = sidecar({ manager: new ContextManager(), token: "a-long-random-text" });
 * const headers = { authorization: "Bearer a-long-random-text" };
 * const body = JSON.stringify({ data: "word ".repeat(2_000), budget: 100 });
 * const answer = await handler(new Request("http://localhost/v1/compact", { method: "POST", headers, body }));
 * const { artifact_ref } = await answer.json();
 * await handler(new Request(`http://localhost/v1/artifacts/${artifact_ref}`, { headers })); // the whole text
 * ```
 */
export function sidecar<R extends AccessRequest = SidecarRequest>(
  options: SidecarOptions<R>,
): (request: R) => Promise<SidecarResponse> {
  const endpoints = new Endpoints(options as unknown as SidecarOptions);
  return (request) => endpoints.respond(request as unknown as SidecarRequest) as Promise<SidecarResponse>;
}

const KNOWN = [
  "router",
  "manager",
  "token",
  "authorize",
  "origins",
  "rate_limit",
  "client",
  "artifacts",
  "onError",
  "max_body_bytes",
  "redact_secrets",
  "clock",
];
const MIB = 2 ** 20;
const CORS = {
  methods: "GET, POST",
  request: "authorization, content-type",
  response: "allow, retry-after, www-authenticate",
};
const ARTIFACTS = "/v1/artifacts/";
/** The one method of each path. */
const METHODS: Readonly<Record<string, "GET" | "POST">> = {
  "/v1/health": "GET",
  "/v1/route": "POST",
  "/v1/compact": "POST",
};

/** The manager that a caller is served by, and what of it the caller may read. */
interface Served {
  readonly manager: SidecarManager;
  readonly masks: boolean;
  readonly shared?: SharedArtifacts;
}

type Serving = (tenant: string) => Served | Promise<Served>;

class Endpoints {
  readonly #router: SidecarRouter | undefined;
  readonly #serves: Serving | undefined;
  readonly #authorize: (request: SidecarRequest) => Promise<string | undefined>;
  readonly #access: Access;
  readonly #limiter: ReturnType<typeof rateLimiter>;
  readonly #client: ((request: SidecarRequest) => unknown) | undefined;
  readonly #max_body_bytes: number;
  readonly #redacts: boolean;
  readonly #clock: () => number;
  readonly #onError: (error: unknown) => void;

  constructor(options: SidecarOptions) {
    const given = fields(options) as unknown as SidecarOptions;
    const { router, manager, token, authorize, origins, rate_limit, client, artifacts, onError, ...more } = given;
    const { max_body_bytes = MIB, redact_secrets = true, clock = Date.now, ...others } = more;
    refuseUnknown(others as Readonly<Record<string, unknown>>, KNOWN);
    for (const [name, one] of [
      ["client", client],
      ["clock", clock],
      ["onError", onError],
    ] as const) {
      if (one !== undefined && typeof one !== "function")
        throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: `/${name}` });
    }
    if (router !== undefined && !has(router, "route"))
      throw new ContextWeaverError("INVALID_INPUT", "expected a router", { path: "/router" });
    if (typeof redact_secrets !== "boolean")
      throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/redact_secrets" });
    this.#router = router;
    this.#authorize = authorizing(token, authorize, true);
    this.#access = new Access(false, origins, CORS);
    this.#limiter = rateLimiter(rate_limit);
    this.#client = client;
    this.#max_body_bytes = wholeWithin(max_body_bytes, 1, 32 * MIB, "/max_body_bytes");
    this.#redacts = redact_secrets;
    this.#clock = clock;
    this.#onError = onError ?? (() => undefined);
    this.#serves = this.#serving(manager, artifacts);
  }

  async respond(request: SidecarRequest): Promise<Response> {
    const cors = this.#access.cors(request);
    const early = cors
      ? this.#access.preflight(request)
      : refusalResponse(new SidecarRefusal("FORBIDDEN", "this page may not ask"));
    const response = early ?? (await this.#answer(request));
    const common = { ...cors, vary: "Origin", "cache-control": "no-store", "x-content-type-options": "nosniff" };
    for (const [name, value] of Object.entries(common)) response.headers.set(name, value);
    return response;
  }

  async #answer(request: SidecarRequest): Promise<Response> {
    try {
      return await this.#run(request);
    } catch (error) {
      if (!(error instanceof SidecarRefusal)) this.#onError(error);
      return refusalResponse(error);
    }
  }

  async #run(request: SidecarRequest): Promise<Response> {
    const path = withoutSlashes(new URL(request.url).pathname);
    const handle = path.startsWith(ARTIFACTS) ? path.slice(ARTIFACTS.length) : undefined;
    const method = handle === undefined ? Object.hasOwn(METHODS, path) && METHODS[path] : "GET";
    if (!method) throw new SidecarRefusal("NOT_FOUND", "there is nothing here");
    const allow = `${method}, OPTIONS`;
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    if (request.method !== method)
      throw new SidecarRefusal("METHOD_NOT_ALLOWED", "the method is not allowed here", undefined, { allow });
    if (path === "/v1/health")
      return json({ status: "ok", api_version: "v1", route_enabled: this.#router !== undefined });
    const tenant = await this.#authorize(request);
    if (tenant === undefined)
      throw new SidecarRefusal("UNAUTHORIZED", "no valid token", undefined, { "www-authenticate": "Bearer" });
    const answer = path === "/v1/route" ? this.#routing() : this.#keeping(tenant, handle);
    const client = this.#limiter && this.#clientOf(request, tenant);
    if (client !== undefined) refuseExcess(this.#limiter?.check(client, this.#clock()));
    const text = handle === undefined ? await bodyOf(request, this.#max_body_bytes) : "";
    // Only now: what was too large to be read did not cost the server much.
    if (client !== undefined) refuseExcess(this.#limiter?.take(client, this.#clock()));
    return answer(text);
  }

  #clientOf(request: SidecarRequest, tenant: string): string {
    if (!this.#client) return tenant;
    const client = this.#client(request);
    if (typeof client === "string" && client !== "" && client.length <= 256) return client;
    throw new ContextWeaverError("CALLBACK_FAILED", "client must return 1 to 256 characters", { path: "/client" });
  }

  #routing(): (text: string) => Promise<Response> {
    const router = this.#router;
    if (!router) throw new SidecarRefusal("ROUTING_UNAVAILABLE", "this server has no tools to choose from");
    return async (text) => {
      const body = new BodyFields(text);
      const query = body.any("query");
      if (typeof query !== "string" || query.trim() === "") throw refused("query", "expected a text that is not blank");
      const top_k = body.integer("top_k", 10, 1);
      const [exclude_ids, namespaces, context_hints] = [
        body.strings("exclude_ids"),
        body.strings("allowed_namespaces"),
        body.strings("context_hints"),
      ];
      const options = {
        top_k,
        exclude_ids,
        context_hints,
        ...(namespaces.length > 0 && { allowed_namespaces: namespaces }),
      };
      const { result, cards } = await onBehalf(() => routed(router, query, options));
      const { candidate_ids, scores, is_ambiguous, clarifying_question } = result;
      const answer: SidecarRoute = {
        api_version: "v1",
        candidate_ids: candidate_ids.slice(0, top_k),
        scores: scores.slice(0, top_k),
        is_ambiguous,
        clarifying_question,
        cards: cards.slice(0, top_k),
      };
      return json(answer);
    };
  }

  /** What reduces results, or hands out what was kept of one. */
  #keeping(tenant: string, handle: string | undefined): (text: string) => Promise<Response> {
    const serves = this.#serves;
    if (!serves) throw new SidecarRefusal("COMPACT_UNAVAILABLE", "this server keeps no results");
    if (handle !== undefined) {
      return async () => {
        const { manager, shared } = await serves(tenant);
        const named = decoded(handle);
        if (shared && !shared.isOf(tenant, named))
          throw new SidecarRefusal("NOT_FOUND", "there is no such artifact, or no longer");
        return artifactResponse(manager, named);
      };
    }
    return async (text) => {
      const body = compactAsked(new BodyFields(text));
      const { manager, masks, shared } = await serves(tenant);
      const asked = { ...body, redact_secrets: body.redact_secrets || this.#redacts };
      const run = (): SidecarCompact => compacted(manager, masks, asked);
      // A UTF-16 unit is at most three bytes.
      return json(await onBehalf(() => (shared ? shared.compact(tenant, text.length * 3, run) : run()), RENAMED));
    };
  }

  #serving(given: SidecarOptions["manager"], artifacts: unknown): Serving | undefined {
    if (typeof given !== "function") {
      const limits = artifactLimits(artifacts);
      if (given === undefined) return undefined;
      if (!has(given, "compact"))
        throw new ContextWeaverError("INVALID_INPUT", "expected a ContextManager", { path: "/manager" });
      const served = { manager: given, masks: this.#checkedMasking(given), shared: new SharedArtifacts(given, limits) };
      return () => served;
    }
    if (artifacts !== undefined) {
      throw new ContextWeaverError("INVALID_INPUT", "managers of the callers' own have limits of their own", {
        path: "/artifacts",
        hint: "new ContextManager({ limits })",
      });
    }
    const known = new WeakMap<object, { readonly tenant: string; readonly masks: boolean }>();
    return async (tenant) => {
      const manager = await given({ tenant });
      const before = known.get(manager);
      if (before && before.tenant !== tenant) {
        throw new ContextWeaverError("CALLBACK_FAILED", "two callers have one manager", {
          path: "/manager",
          hint: "pass the manager itself to share it",
        });
      }
      const masks = before?.masks ?? this.#checkedMasking(manager);
      known.set(manager, { tenant, masks });
      return { manager, masks };
    };
  }

  #checkedMasking(manager: SidecarManager): boolean {
    const masks = masksSecrets(manager);
    if (masks || !this.#redacts) return masks;
    throw new ContextWeaverError("INVALID_INPUT", "this manager shows secrets", {
      path: "/manager",
      hint: "redact_secrets: false says that it may",
    });
  }
}

/** Asks either kind of router; where nothing is left to choose from, nothing is chosen. */
async function routed(router: SidecarRouter, query: string, options: SidecarRouteOptions): Promise<RoutedCards> {
  try {
    if (!("cards" in router)) return await router.route(query, options);
    const result = router.route(query, options);
    return { result, cards: router.cards(result) };
  } catch (error) {
    if (!ContextWeaverError.is(error) || error.code !== "NO_CANDIDATES") throw error;
    return { result: { candidate_ids: [], scores: [], is_ambiguous: false, clarifying_question: null }, cards: [] };
  }
}

function refuseExcess(excess: RateExcess | undefined): void {
  if (!excess) return;
  const { scope, retry_after } = excess;
  const headers: Record<string, string> = retry_after === null ? {} : { "retry-after": `${Math.ceil(retry_after)}` };
  throw new SidecarRefusal("RATE_LIMITED", "too many requests", { scope, retry_after }, headers);
}

function json(body: object): Response {
  return new Response(JSON.stringify(body), { status: 200, headers: { "content-type": "application/json" } });
}

/** No pattern: a path of slashes alone would be looked at from each of them. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function decoded(handle: string): string {
  try {
    return decodeURIComponent(handle);
  } catch {
    throw new SidecarRefusal("BAD_REQUEST", "the handle is not percent-encoded UTF-8");
  }
}

function has(value: unknown, method: string): boolean {
  return (
    typeof value === "object" && value !== null && typeof (value as Record<string, unknown>)[method] === "function"
  );
}

function artifactLimits(given: unknown): Required<SidecarArtifactLimits> {
  const { count = 1_000, bytes = 16 * MIB, ...others } = fields(given, "/artifacts");
  refuseUnknown(others, ["count", "bytes"], "/artifacts");
  return {
    count: wholeWithin(count, 1, 100_000, "/artifacts/count"),
    bytes: wholeWithin(bytes, 1, 2 ** 40, "/artifacts/bytes"),
  };
}
