// The options of a proxy, and their check.
import { ContextWeaverError } from "contextweaver";
import { fields } from "../boundary/guard.js";
import { figure, isDebug, lineWriter } from "../telemetry/debug.js";
import type { Debug } from "../telemetry/debug.js";
import { OFFICIAL } from "./routes.js";
import type { ProxyHooks } from "./hook-types.js";
import type { SessionStore } from "../storage/storage-types.js";
import type { ProxyProvider, ProxyUpstream, Upstreams } from "./routes.js";

/** How a proxy is made. */
export interface ProxyOptions {
  /** Most tokens of a call of a model: instructions, messages and tools. From 2,000 to 16,777,216. */
  readonly budget_tokens: number;
  /**
   * Where the providers are: addresses that stand in place of their own, such as `https://openrouter.ai/api`. The path of a request is
   * put behind it, behind `chatgpt` without its `/v1`: there go the calls of a Codex that is logged in with ChatGPT, and to
   * `code_assist` those of a Gemini CLI that is logged in with Google. Default: the providers' own.
   */
  readonly upstreams?: { readonly [P in ProxyUpstream]?: string };
  /** As of adapters: how deep a cut is, and above 0 also when one is made that the budget does not force. From 0 to 1. Default: 0. */
  readonly thrift?: number;
  /** As of adapters: what repeating a prompt costs. Default: by the API and the name of the model. */
  readonly prices?: "openai" | "anthropic" | "gemini" | "deepseek";
  /** Whether secrets are masked in prompts that are made shorter. Default: false, as the provider was to get them anyway. */
  readonly mask?: boolean;
  /** Rounds with the model within one request, after it called `drilldown` or `recall` alone. From 1 to 64. Default: 8. */
  readonly max_rounds?: number;
  /** What is kept in memory. */
  readonly limits?: ProxyLimits;
  /**
   * Where conversations are kept that outlive the process, such as `durableObjectStore(…)` of `contextweaver/cloudflare` or `fileStore(…)`
   * of `contextweaver/node`. It holds what was said in them, as every store of sessions does, and no key. Several proxies may share
   * it. Default: they live in memory.
   */
  readonly store?: SessionStore;
  /**
   * Hands calls of models on to whoever has the conversation, by a name that is the same for all requests of one credential, API,
   * provider and session: in Workers to a Durable Object, whose proxy has the `store`. What does not concern a conversation is answered
   * here. Needs a `token`, as names are made with it.
   */
  readonly forward?: (name: string) => ForwardedProxy;
  /**
   * What clients must send as `x-contextweaver-token`; `false` serves whoever reaches the handler. There is no default: with an unset
   * environment variable, nothing is served.
   */
  readonly token: string | false;
  /**
   * Whether all requests are one user's. Then a conversation goes on when its key is another, as logins renew theirs every hour or so;
   * else what one key has said stays with that key. Default: false.
   */
  readonly single_user?: boolean;
  /** Origins of pages that may ask, as of `gateway`. Default: none. */
  readonly origins?: readonly string[];
  /** Names that a request may have as its host, without the port. Default: any with a token; without one, those of this machine. */
  readonly hosts?: readonly string[];
  /** Sends requests. Default: `fetch` of the runtime. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Is told of each request when its answer begins: names and counts, no text and no key. */
  readonly on_request?: (entry: ProxyLogEntry) => void;
  /** Are told of each call of a model, each prompt that is built and each call that is answered inside: `otelProxy(tracer)`. */
  readonly hooks?: ProxyHooks;
  /** As of adapters: a line for each request when its answer begins. Default: false. */
  readonly debug?: Debug;
  /** Is told what went wrong here when a request passes as it came for that. Messages may quote what was said: keep them to yourself. */
  readonly on_error?: (error: unknown) => void;
}

/** Where a call of a model is handed on to: a proxy, or what stands before one. */
export interface ForwardedProxy {
  fetch(request: Request): Promise<Response>;
}

/** Bounds of what a proxy keeps. */
export interface ProxyLimits {
  /** Conversations; the one that was idle longest leaves. In a store, those that begin alike. Default: 200. */
  readonly max_conversations?: number;
  /** UTF-16 units of all that was said in them. Default: 268,435,456. */
  readonly max_units?: number;
  /** Bytes of a request that is read; a larger one passes as it is. Default: 33,554,432. */
  readonly max_body_bytes?: number;
}

/** What became of a request. */
export interface ProxyLogEntry {
  readonly method: string;
  /** One of the paths that are read, else `other`. */
  readonly path: string;
  readonly provider: ProxyProvider;
  readonly model?: string;
  readonly status: number;
  /** `whole`: sent as it came; `shortened`; `bypassed`; `passed`: no call of a model that is read. */
  readonly sent: "whole" | "shortened" | "bypassed" | "passed";
  /** Why it was bypassed. */
  readonly reason?: string;
  /** Tokens of what was sent, and of what came, by the estimator. */
  readonly tokens?: number;
  readonly tokens_without?: number;
  /** Why the prompt was made anew, where it was. */
  readonly cut?: string;
}

/** Options that were checked. */
export interface CheckedOptions
  extends Required<Pick<ProxyOptions, "budget_tokens" | "thrift" | "mask" | "max_rounds" | "single_user">> {
  readonly upstreams: Upstreams;
  readonly prices: ProxyOptions["prices"];
  readonly limits: Required<ProxyLimits>;
  readonly hosts: readonly string[] | undefined;
  readonly store: SessionStore | undefined;
  readonly forward: ProxyOptions["forward"];
  readonly hooks: ProxyHooks | undefined;
  readonly send: (request: Request) => Promise<Response>;
  /** Those who are told of each request. */
  readonly told: readonly ((entry: ProxyLogEntry) => void)[];
  readonly on_error: ((error: unknown) => void) | undefined;
}

const NAMES = [
  "budget_tokens",
  "upstreams",
  "thrift",
  "prices",
  "mask",
  "max_rounds",
  "limits",
  "store",
  "forward",
  "token",
  "single_user",
  "origins",
  "hosts",
  "fetch",
  "on_request",
  "on_error",
  "debug",
  "hooks",
];
const LIMITS = { max_conversations: 200, max_units: 2 ** 28, max_body_bytes: 2 ** 25 };
const PRICES = ["openai", "anthropic", "gemini", "deepseek"];
const LEAST_BUDGET = 2_000;
const MOST_BUDGET = 2 ** 24;

function refuse(path: string, expected: string, hint?: string): never {
  throw new ContextWeaverError("INVALID_INPUT", `expected ${expected}`, { path, hint });
}

/** Refuses options that are not as described. */
export function checkedOptions(given: ProxyOptions): CheckedOptions {
  if (typeof given !== "object" || (given as unknown) === null)
    refuse("", "options", "{ budget_tokens: 60000, token: false }");
  unknown(Object.keys(given), NAMES, "");
  const {
    budget_tokens,
    upstreams,
    thrift = 0,
    prices,
    mask = false,
    single_user = false,
    max_rounds = 8,
    limits,
    hosts,
    store,
    forward,
    on_request,
    on_error,
    debug,
    hooks,
  } = given;
  const send = given.fetch ?? ((request: Request) => fetch(request));
  if (budget_tokens === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "missing field `budget_tokens`", {
      path: "/budget_tokens",
      hint: "the most that a call of a model may have, such as 60000",
    });
  whole(budget_tokens, "/budget_tokens", LEAST_BUDGET, MOST_BUDGET);
  whole(max_rounds, "/max_rounds", 1, 64);
  if (typeof thrift !== "number" || !(thrift >= 0 && thrift <= 1)) refuse("/thrift", "a number from 0 to 1");
  if (prices !== undefined && !PRICES.includes(prices)) refuse("/prices", `one of ${PRICES.join(", ")}`);
  if (typeof mask !== "boolean") refuse("/mask", "true or false");
  if (typeof single_user !== "boolean") refuse("/single_user", "true or false");
  for (const [name, value] of [
    ["/fetch", send],
    ["/on_request", on_request ?? send],
    ["/on_error", on_error ?? send],
    ["/forward", forward ?? send],
  ] as const)
    if (typeof value !== "function") refuse(name, "a function");
  if (!isDebug(debug)) refuse("/debug", "true, false or a function");
  const line = lineWriter(debug);
  const told = [
    ...(on_request ? [on_request] : []),
    ...(line ? [(entry: ProxyLogEntry): void => line(lineOf(entry))] : []),
  ];
  if (hosts !== undefined && !(Array.isArray(hosts) && hosts.every((host) => typeof host === "string")))
    refuse("/hosts", "a list of names");
  if (hooks !== undefined && (typeof hooks !== "object" || (hooks as unknown) === null))
    refuse("/hooks", "an object of functions", "otelProxy(tracer)");
  if (store !== undefined && typeof (store as { readonly session?: unknown } | null)?.session !== "function")
    refuse(
      "/store",
      "a store of sessions",
      "durableObjectStore(ctx.storage, { blobs }), fileStore(folder), memoryStore()",
    );
  if (forward && store) refuse("/store", "no store beside `forward`", "the proxy that calls are handed on to has it");
  if (forward && given.token === false)
    refuse("/token", "a token beside `forward`", "conversations are named by a hash that is made with it");
  const ownLimits = fields(limits, "/limits");
  unknown(Object.keys(ownLimits), Object.keys(LIMITS), "/limits");
  const bounds: Required<ProxyLimits> = { ...LIMITS, ...ownLimits };
  for (const [name, value] of Object.entries(bounds)) whole(value, `/limits/${name}`, 1, Number.MAX_SAFE_INTEGER);
  return {
    budget_tokens,
    thrift,
    prices,
    mask,
    single_user,
    max_rounds,
    limits: bounds,
    hosts: hosts?.map((host) => host.toLowerCase()),
    store,
    forward,
    hooks,
    send,
    told,
    on_error,
    upstreams: addresses(fields(upstreams, "/upstreams")),
  };
}

/** Characters of a model's name in a line. */
const MAX_NAME = 80;

/** Writes the line of a request: no text of it, and no key. */
function lineOf({
  method,
  path,
  provider,
  model,
  status,
  sent,
  reason,
  tokens,
  tokens_without,
  cut,
}: ProxyLogEntry): string {
  const size =
    tokens === undefined
      ? ""
      : ` ${figure(tokens)}${sent === "shortened" ? ` of ${figure(tokens_without ?? tokens)}` : ""} tokens`;
  const why = reason ?? cut;
  return `${method} ${path} ${(model ?? provider).slice(0, MAX_NAME)} ${status} ${sent}${size}${why === undefined ? "" : ` (${why})`}`;
}

function unknown(names: readonly string[], known: readonly string[], path: string): void {
  const name = names.find((one) => !known.includes(one));
  if (name !== undefined)
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${name}\``, {
      path: `${path}/${name}`,
      unknown: { name, known },
    });
}

function whole(value: unknown, path: string, least: number, most: number): void {
  if (!(Number.isInteger(value) && (value as number) >= least && (value as number) <= most))
    refuse(path, `a whole number from ${least} to ${most}`);
}

/** Reads the addresses of providers. */
function addresses(given: Readonly<Record<string, unknown>>): Upstreams {
  unknown(Object.keys(given), Object.keys(OFFICIAL), "/upstreams");
  const read = ([name, official]: [string, string]): [string, URL] => {
    const address = given[name] ?? official;
    const path = `/upstreams/${name}`;
    if (typeof address !== "string" || !URL.canParse(address))
      refuse(path, "an address", "such as https://api.openai.com");
    const url = new URL(address);
    const hasMore = [url.username, url.password, url.search, url.hash].some((part) => part !== "");
    if (!["https:", "http:"].includes(url.protocol) || hasMore)
      refuse(path, "an address of http or https without a name, a password, a query or a fragment");
    return [name, url];
  };
  return Object.fromEntries(Object.entries(OFFICIAL).map(read)) as unknown as Upstreams;
}
