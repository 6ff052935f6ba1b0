// Who may use a server over HTTP: the bearer token of programs, the origins of pages, and what CORS tells browsers of both.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields, listed, text } from "../boundary/guard.js";

/** Who may use a server over HTTP. */
export interface AccessOptions {
  /**
   * What clients must send as `Authorization: Bearer …`; compared in constant time. Visible ASCII characters, no spaces.
   * `false` serves whoever reaches the handler. There is no default: with an unset environment variable, nothing is served.
   */
  readonly token: string | false;
  /**
   * Origins of pages that may ask, such as `https://app.example`; browsers get the CORS headers for them. Pages on `localhost`,
   * `127.0.0.1` or `[::1]`, of any port, may always ask a server that is itself addressed by one of these names. Every other page
   * is refused with 403, even one from the server's own address: a hostile page can point its own name there (DNS rebinding).
   * Requests of programs have no origin. Default: none.
   */
  readonly origins?: readonly string[];
}

/** The parts of a `Request` that decide who may ask. */
export interface AccessRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

/** Whose a request is. */
export interface ServiceCaller {
  /** 1 to 256 characters. */
  readonly tenant: string;
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
/** Scheme and host; those of extensions and applications, such as `chrome-extension://…`, have no other form. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\*]+$/;
/** GET and DELETE are answered with 405, which a page must be able to read. */
const METHODS = "GET, POST, DELETE";
const REQUEST_HEADERS =
  "authorization, content-type, accept, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name";
/** A header that repeats an argument of a tool, which clients of 2026-07-28 have to send. Its name is the tool's to choose. */
const ARGUMENT_HEADER = /^mcp-param-[\w!#$%&'*+.^`|~-]{1,128}$/i;
const RESPONSE_HEADERS = "mcp-protocol-version, mcp-session-id, www-authenticate";
/** Seconds for which a browser need not repeat a preflight; the most that any of them honours is 7,200. */
const PREFLIGHT_SECONDS = "7200";

/** What pages may ask with, and read of an answer. @internal */
export interface CorsHeaders {
  readonly methods: string;
  readonly request: string;
  /** Names of further headers that a page may ask for. */
  readonly further?: RegExp;
  readonly response: string;
}

const MCP_CORS: CorsHeaders = {
  methods: METHODS,
  request: REQUEST_HEADERS,
  further: ARGUMENT_HEADER,
  response: RESPONSE_HEADERS,
};

/** Whether the name of a host can only be this machine. @internal */
export function isLoopback(name: string): boolean {
  return LOOPBACK_HOST.test(name);
}

/** What a client says in `Host`, without the port. @internal */
export function hostName(host: string): string {
  return host.replace(/:\d+$/, "");
}

/** Decides who may ask; made of options that were checked. @internal */
export class Access {
  readonly #token: Uint8Array | false;
  readonly #origins: readonly string[];
  readonly #cors: CorsHeaders;

  constructor(token: unknown, origins: unknown, cors = MCP_CORS) {
    this.#token = checkedToken(token);
    this.#origins = checkedOrigins(origins);
    this.#cors = cors;
  }

  /** The headers by which a browser lets the page read the response; nothing for a page that may not ask. */
  cors({ headers, url }: AccessRequest): Readonly<Record<string, string>> | undefined {
    const origin = headers.get("origin");
    if (origin === null) return {};
    const isLocal =
      LOOPBACK.test(origin.replace(/^https?:\/\//, "")) && LOOPBACK.test(headers.get("host") ?? new URL(url).host);
    if (!isLocal && !this.#origins.includes(origin)) return undefined;
    return { "access-control-allow-origin": origin, "access-control-expose-headers": this.#cors.response };
  }

  /** The answer to a browser that asks on behalf of a page whether it may ask; it sends no token with that. */
  preflight({ method, headers }: AccessRequest): Response | undefined {
    const isPreflight =
      method === "OPTIONS" && headers.get("origin") !== null && headers.get("access-control-request-method") !== null;
    if (!isPreflight) return undefined;
    const asked = (headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
    const further = asked.filter((name) => this.#cors.further?.test(name) === true);
    return new Response(null, {
      status: 204,
      headers: {
        "access-control-allow-methods": this.#cors.methods,
        "access-control-allow-headers": [this.#cors.request, ...further].join(", "),
        "access-control-max-age": PREFLIGHT_SECONDS,
      },
    });
  }

  /** Whether the request carries the token. The time this takes depends on what was sent, not on how much of it is right. */
  isAuthorized({ headers }: AccessRequest): boolean {
    if (this.#token === false) return true;
    const sent = new TextEncoder().encode(
      /^bearer\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim() ?? "",
    );
    let difference = sent.length ^ this.#token.length;
    for (let place = 0; place < sent.length; place += 1)
      difference |= sent[place]! ^ this.#token[place % this.#token.length]!;
    return difference === 0;
  }
}

/** The tenant of everybody, where there is one token or none. */
const EVERYBODY = "default";

/**
 * How whose a request is becomes known: by `authorize`, by the token of each tenant, or by the one token of all. Under
 * `may_be_open` the token may also be `false`. Returns what tells the tenant; undefined for who may not ask. @internal
 */
export function authorizing<R extends AccessRequest>(
  token: unknown,
  authorize: ((request: R) => ServiceCaller | undefined | PromiseLike<ServiceCaller | undefined>) | undefined,
  may_be_open = false,
): (request: R) => Promise<string | undefined> {
  if (authorize !== undefined) {
    if (typeof authorize !== "function")
      throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/authorize" });
    if (token !== undefined)
      throw new ContextWeaverError("INVALID_INPUT", "give token or authorize, not both", { path: "/token" });
    return async (request) => tenantOf(await authorize(request));
  }
  if (token === undefined) {
    const hint =
      "token: what clients must send, or authorize: a function of yours; an environment variable may not be set";
    throw new ContextWeaverError("MISSING_FIELD", "missing field `token`", { path: "/token", hint });
  }
  if (token === false && may_be_open) return async () => EVERYBODY;
  const given = typeof token === "string" ? { [EVERYBODY]: token } : fields(token, "/token");
  const known = Object.entries(given).map(
    ([tenant, one]) => [tenant, new Access(one === false ? undefined : one, undefined)] as const,
  );
  if (known.length === 0)
    throw new ContextWeaverError("INVALID_INPUT", "expected a token for each tenant", { path: "/token" });
  return async (request) => {
    let found: string | undefined;
    // All are compared, whichever is right.
    for (const [tenant, access] of known) if (access.isAuthorized(request)) found ??= tenant;
    return found;
  };
}

function tenantOf(caller: unknown): string | undefined {
  if (caller === undefined || caller === null) return undefined;
  const { tenant } = caller as { readonly tenant?: unknown };
  if (typeof tenant === "string" && tenant !== "" && tenant.length <= 256) return tenant;
  throw new ContextWeaverError("CALLBACK_FAILED", "authorize must return { tenant }, or undefined", {
    path: "/authorize",
  });
}

function checkedToken(token: unknown): Uint8Array | false {
  const path = "/token";
  if (token === false) return false;
  if (token === undefined) {
    const hint =
      "pass the token that clients must send, perhaps from an environment variable that is not set, or `token: false` to serve without authentication";
    throw new ContextWeaverError("MISSING_FIELD", "missing field `token`", { path, hint });
  }
  if (typeof token !== "string") {
    throw new ContextWeaverError("INVALID_INPUT", "expected a string or false", {
      path,
      hint: "`token: false` serves without authentication",
    });
  }
  if (token === "")
    throw new ContextWeaverError("INVALID_INPUT", "an empty token lets everybody in", {
      path,
      hint: "`token: false` does so on purpose",
    });
  if (!/^[\x21-\x7e]+$/.test(token)) {
    const hint = "trim white space, such as the line end of a file, and encode what is not ASCII as base64";
    throw new ContextWeaverError(
      "INVALID_INPUT",
      "a token has visible ASCII characters only: no header carries another as it is",
      { path, hint },
    );
  }
  return new TextEncoder().encode(token);
}

function checkedOrigins(origins: unknown): readonly string[] {
  if (origins === undefined) return [];
  const list = listed(origins, "/origins");
  if (!list) {
    throw new ContextWeaverError("INVALID_INPUT", "expected an array of origins", {
      path: "/origins",
      hint: 'such as ["https://app.example"]',
    });
  }
  return list.map((origin, place) => checkedOrigin(origin, `/origins/${place}`));
}

function checkedOrigin(value: unknown, path: string): string {
  const origin = text(value, path);
  const sent = originOf(origin);
  if (sent === origin) return origin;
  const hint = sent
    ? `browsers send \`${sent}\``
    : "a scheme, a host, and the port unless it is the scheme's own, such as https://app.example; each by its name, as there are no wildcards";
  throw new ContextWeaverError("INVALID_INPUT", "it is not an origin as browsers send it", { path, hint });
}

/** The origin of an address as browsers send it: lower case, no default port, no path. */
function originOf(address: string): string | undefined {
  try {
    const { origin } = new URL(address);
    if (origin === "null") return ORIGIN.test(address) ? address : undefined;
    return ORIGIN.test(origin) ? origin : undefined;
  } catch {
    return undefined;
  }
}
