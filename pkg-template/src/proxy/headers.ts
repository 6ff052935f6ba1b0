// Which headers pass between a client and a provider.

/** Headers of one connection, which end with it. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Headers that the next connection sets for itself. */
const OF_REQUEST = [...HOP_BY_HOP, "host", "content-length", "expect", "accept-encoding"];
/** Headers about the bytes before they were decoded. */
const OF_ENCODING = ["content-encoding", "content-length"];
/** The beginning of headers to the proxy and from it. */
const OWN = "x-contextweaver";

/** Says what became of a request. */
export const STATUS_HEADER = OWN;
/** Names the conversation of a request, in place of what agents send. */
export const SESSION_HEADER = `${OWN}-session`;
/** Sends one request as it is. */
export const BYPASS_HEADER = `${OWN}-bypass`;
/** Carries the token of the proxy: `authorization` is the provider's. */
export const TOKEN_HEADER = `${OWN}-token`;

function named(headers: Headers): readonly string[] {
  return (headers.get("connection") ?? "").split(",").map((name) => name.trim().toLowerCase());
}

/** The headers of a request as the provider gets them. Bodies come back as they are, so that a stream is never held to be decoded. */
export function requestHeaders(given: Headers): Headers {
  const dropped = new Set([...OF_REQUEST, ...named(given)]);
  const headers = new Headers();
  for (const [name, value] of given) if (!dropped.has(name) && !name.startsWith(OWN)) headers.append(name, value);
  headers.set("accept-encoding", "identity");
  return headers;
}

/** The headers of an answer as the client gets them, with what became of the request. */
export function responseHeaders(given: Headers, status: string): Headers {
  // `fetch` has decoded what was encoded in spite of what was asked for.
  const dropped = new Set([...HOP_BY_HOP, ...named(given), ...(given.has("content-encoding") ? OF_ENCODING : [])]);
  const headers = new Headers();
  for (const [name, value] of given) if (!dropped.has(name) && !name.startsWith(OWN)) headers.append(name, value);
  headers.set(STATUS_HEADER, status);
  return headers;
}
