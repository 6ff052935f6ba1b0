// What the pages have in common that commands serve on this machine: an address that nobody guesses, who may ask, and headers.
import { Access, hostName, isLoopback } from "../mcp/mcp-access.js";
import { hex } from "../storage/checks.js";

export const PAGE_HOST = "127.0.0.1";
export const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};
const TOKEN_BYTES = 16;

/** A request for a part of a page. */
export interface PageRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
}

/** Letters and digits that other programs and pages of this machine cannot guess. */
export function unguessable(): string {
  return hex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

/**
 * Returns what finds the path behind a token, for who knows it and addresses this machine by a name of its own: a page that pointed a name
 * of its own here sends that name. For all others there is none.
 */
export function pathsBehind(token: string): (request: PageRequest, host: string) => string | undefined {
  const access = new Access(token, undefined);
  return ({ method, url, headers }, host) => {
    const [, sent = "", path] = /^\/([^/]*)\/([^?]*)/.exec(new URL(url).pathname) ?? [];
    const isKnown = access.isAuthorized({ method, url, headers: { get: () => `Bearer ${sent}` } });
    const isOwn = isLoopback(hostName(host)) && [null, `http://${host}`].includes(headers.get("origin"));
    return isKnown && isOwn ? path : undefined;
  };
}
