// Requests of the SDK's OAuth client, of all connections to one server: each refresh token is sent once, hosts are checked, and
// answers are mended where the SDK is stricter than what authorization servers send.
import { readUpTo } from "../boundary/bytes.js";
import type { ServerOAuth } from "./config-types.js";
import type { Fetch } from "./http-link.js";
import { mendedAnswer, objectOf, registrationByName } from "./oauth-answers.js";
import { OAuthHosts } from "./oauth-hosts.js";

/** Bytes of an answer of an authorization server. */
const MAX_BYTES = 1024 * 1024;

const FORM = /^application\/x-www-form-urlencoded\b/i;

/** Authorization servers of one answer that are remembered. */
const MAX_ISSUERS = 16;

/** An answer that several requests get. */
interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly text: string;
}

/** What the OAuth requests of one server share. */
export class OAuthTraffic {
  readonly hosts: OAuthHosts;
  readonly #onrefused: (refresh_token: string) => void;
  /** Authorization servers as the server, or the configuration, names them. */
  readonly #issuers = new Set<string>();
  /** Refreshes that are under way, by their token. */
  readonly #refreshes = new Map<string, Promise<Answer>>();
  /**
   * The last refresh. Whoever comes with the token that it was made with, or with the one that it brought, gets the same answer as long
   * as its access token was not refused: a refresh token that is sent twice ends the login.
   */
  #last: { readonly tokens: readonly unknown[]; readonly access_token: unknown; readonly answer: Answer } | undefined;

  /** `onrefused` hears of refresh tokens that the authorization server has refused. */
  constructor(url: string, oauth: ServerOAuth | undefined, onrefused: (refresh_token: string) => void) {
    [this.hosts, this.#onrefused] = [new OAuthHosts(url, oauth), onrefused];
    for (const issuer of [new URL(url).origin, oauth?.issuer]) if (issuer !== undefined) this.#issuers.add(issuer);
  }

  /** Makes a request of the OAuth client by `send`. */
  async fetch(input: string | URL, init: RequestInit, send: Fetch): Promise<Response> {
    const address = new URL(input);
    this.hosts.check(address);
    const { method = "GET" } = init;
    const ask = async (request: RequestInit): Promise<Answer> =>
      mendedAnswer(address, method, await answered(await send(input, request)), this.#issuers);
    const token = refreshTokenOf(init);
    let answer = await (token === undefined ? ask(init) : this.#refresh(token, () => ask(init)));
    const again = registrationByName(init, answer);
    if (again !== undefined) answer = registered(again, await ask({ ...init, body: again }));
    if (answer.status >= 200 && answer.status < 300 && method === "GET") this.learn(objectOf(answer.text));
    return responseOf(answer);
  }

  /** Takes metadata of the server or its authorization server. */
  learn(metadata: Readonly<Record<string, unknown>>): void {
    this.hosts.learn(metadata);
    const { authorization_servers: servers } = metadata;
    if (Array.isArray(servers))
      for (const one of servers.slice(0, MAX_ISSUERS)) if (typeof one === "string") this.#issuers.add(one);
  }

  /** Takes an access token that the server has refused. */
  refusedAccess(access_token: string): void {
    if (this.#last?.access_token === access_token) this.#last = undefined;
  }

  #refresh(token: string, ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#last?.tokens.includes(token)) return Promise.resolve(this.#last.answer);
    const known = this.#refreshes.get(token);
    if (known !== undefined) return known;
    const refresh = ask()
      .then((answer) => this.#refreshed(token, answer))
      .finally(() => this.#refreshes.delete(token));
    this.#refreshes.set(token, refresh);
    return refresh;
  }

  #refreshed(token: string, answer: Answer): Answer {
    const { access_token, refresh_token = token, error } = objectOf(answer.text);
    if (error === "invalid_grant") this.#onrefused(token);
    if (typeof access_token === "string") this.#last = { tokens: [token, refresh_token], access_token, answer };
    return answer;
  }
}

/** Whether a request to the server's own origin is one of the SDK's OAuth client, and none of MCP. */
export function isOAuthRequest({ method = "GET", body, headers }: RequestInit): boolean {
  const given = new Headers(headers);
  if (method === "GET") return !(given.get("accept") ?? "").includes("text/event-stream");
  if (method !== "POST") return false;
  return (
    body instanceof URLSearchParams ||
    FORM.test(given.get("content-type") ?? "") ||
    (typeof body === "string" && body.includes('"redirect_uris"') && !body.includes('"jsonrpc"'))
  );
}

function refreshTokenOf({ body }: RequestInit): string | undefined {
  if (typeof body !== "string" && !(body instanceof URLSearchParams)) return undefined;
  const form = new URLSearchParams(body);
  return form.get("grant_type") === "refresh_token" ? (form.get("refresh_token") ?? undefined) : undefined;
}

/** The answer to a registration, with the addresses that it is of. */
function registered(body: string, answer: Answer): Answer {
  const given = objectOf(answer.text);
  if (answer.status >= 300 || Array.isArray(given["redirect_uris"])) return answer;
  return { ...answer, text: JSON.stringify({ ...given, redirect_uris: objectOf(body)["redirect_uris"] }) };
}

async function answered(response: Response): Promise<Answer> {
  const { bytes, rest } = await readUpTo(response.body, MAX_BYTES);
  if (rest) {
    await rest.cancel().catch(() => undefined);
    throw new Error(`the authorization server sent more than ${MAX_BYTES} bytes`);
  }
  const text = new TextDecoder().decode(bytes);
  const { status, statusText, headers, url } = response;
  return { status, statusText, headers: new Headers(headers), url, text };
}

function responseOf({ status, statusText, headers, url, text }: Answer): Response {
  const copy = new Response(/^(?:101|204|205|304)$/.test(String(status)) ? null : text, {
    status,
    statusText,
    headers,
  });
  Object.defineProperty(copy, "url", { value: url });
  return copy;
}
