// Which provider a request is for, at which address, and whether it is a call of a model that is read.

/** Providers whose languages are known. */
export type ProxyProvider = "openai" | "anthropic" | "gemini";
/**
 * What stands behind the proxy: the providers, and where they take the calls of logins: `chatgpt` those that a plan of ChatGPT pays for,
 * `code_assist` those of a Gemini CLI that is logged in with Google.
 */
export type ProxyUpstream = ProxyProvider | "chatgpt" | "code_assist";
/** The addresses that stand behind the proxy. */
export type Upstreams = Readonly<Record<ProxyUpstream, URL>>;
/** Calls whose conversation is read. */
export type ProxyApi = "openai-chat" | "openai-responses" | "anthropic" | "anthropic-count" | "gemini" | "code-assist";

/** Where a request goes. */
export interface Route {
  readonly provider: ProxyProvider;
  readonly target: URL;
  /** Absent where it passes as it is. */
  readonly api?: ProxyApi;
  /** The model, where the path names it. */
  readonly model?: string;
}

/** The providers' own addresses. */
export const OFFICIAL: Readonly<Record<ProxyUpstream, string>> = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
  chatgpt: "https://chatgpt.com/backend-api/codex",
  code_assist: "https://cloudcode-pa.googleapis.com",
};
/** Whose language is spoken there. */
const PROVIDERS: Readonly<Record<ProxyUpstream, ProxyProvider>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "gemini",
  chatgpt: "openai",
  code_assist: "gemini",
};
/** Codex sends it when its user has logged in with ChatGPT. api.openai.com refuses the token of such a login (401, missing scopes). */
const CHATGPT_HEADER = "chatgpt-account-id";

const APIS: Readonly<Record<string, ProxyApi>> = {
  "/v1/chat/completions": "openai-chat",
  "/v1/responses": "openai-responses",
  "/v1/messages": "anthropic",
  "/v1/messages/count_tokens": "anthropic-count",
  "/v1internal:generateContent": "code-assist",
  "/v1internal:streamGenerateContent": "code-assist",
};
const GENERATE = /^\/v1(?:beta|alpha)?\/(?:models|tunedModels)\/([^/:]+):(?:generate|streamGenerate)Content$/;
const OF_GEMINI = /^\/(?:v1beta|v1alpha|upload\/v1beta)(?:\/|$)|^\/v1\/.*:(?:generate|streamGenerate)Content$/;
const OF_CODE_ASSIST = /^\/v1internal[:/]/;
const OF_ANTHROPIC =
  /^\/v1\/(?:messages|complete|skills)(?:\/|$)|^\/api\/(?:event_logging|oauth|claude_cli|claude_code)/;

/** Says where a request goes; undefined for an address that could lead elsewhere at the provider than it says. */
export function routeOf(method: string, url: URL, headers: Headers, upstreams: Upstreams): Route | undefined {
  const { pathname, search } = url;
  if (!isPlain(pathname)) return undefined;
  const upstream = upstreamOf(pathname, headers);
  const provider = PROVIDERS[upstream];
  const base = upstreams[upstream];
  const target = new URL(base);
  // For a plan of ChatGPT the paths have no version; pi has the folder in its place.
  const isPlan = upstream === "chatgpt";
  const path = isPlan ? pathname.replace(/^\/(?:v1|codex)(?=\/)/, "") : pathname;
  target.pathname = `${base.pathname.replace(/\/$/, "")}${path}`;
  target.search = search;
  if (method !== "POST") return { provider, target };
  const [, model] = GENERATE.exec(pathname) ?? [];
  const api = model === undefined ? APIS[isPlan ? `/v1${path}` : pathname] : "gemini";
  // Without `alt=sse` a stream of Gemini is a list that is never whole.
  const isList = pathname.endsWith(":streamGenerateContent") && url.searchParams.get("alt") !== "sse";
  return { provider, target, ...(api && !isList && { api }), ...(model !== undefined && { model }) };
}

/** Whether no reading of a path leads upwards or out of it. */
function isPlain(path: string): boolean {
  let decoded = path;
  // What is encoded more than once may be decoded more than once.
  for (let round = 0; round < 3; round += 1) {
    if (/(?:^|[/\\])\.\.?(?:[/\\;]|$)|[\\\u0000-\u001f]|^\/\//.test(decoded)) return false;
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return round > 0;
    }
  }
  return true;
}

function upstreamOf(path: string, headers: Headers): ProxyUpstream {
  if (OF_CODE_ASSIST.test(path)) return "code_assist";
  if (OF_GEMINI.test(path) || headers.has("x-goog-api-key")) return "gemini";
  if (OF_ANTHROPIC.test(path) || headers.has("anthropic-version")) return "anthropic";
  if (APIS[path] === undefined && isOfAnthropic(headers)) return "anthropic";
  return headers.has(CHATGPT_HEADER) ? "chatgpt" : "openai";
}

/** Whether a client of Anthropic sends such headers. One of OpenAI has an `authorization` beside the key of a gateway. */
function isOfAnthropic(headers: Headers): boolean {
  return headers.has("anthropic-beta") || (headers.has("x-api-key") && !headers.has("authorization"));
}
