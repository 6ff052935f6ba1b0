// Answers of authorization servers, mended where the SDK is stricter than what they send.

/** Fields with addresses for people. */
const FOR_READERS =
  /^(?:service_documentation|(?:op_)?policy_uri|(?:op_)?tos_uri|client_uri|logo_uri|resource_(?:documentation|policy_uri|tos_uri))$/;
const METADATA = /\/\.well-known\//;

/** An answer, as far as it is mended. */
export interface OAuthAnswer {
  readonly status: number;
  readonly text: string;
}

/** An object in JSON; an empty one where there is none. */
export function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {}; // the SDK says what is wrong
  }
}

/**
 * Mends an answer to a request for `address`. A page in the place of metadata is none, as the SDK would look no further; a form of
 * tokens becomes JSON; an issuer that differs from one of `issuers` by a slash at its end becomes that one.
 */
export function mendedAnswer<A extends OAuthAnswer>(
  address: URL,
  method: string,
  answer: A,
  issuers: ReadonlySet<string>,
): A {
  const { status, text } = answer;
  const isDone = status >= 200 && status < 300;
  if (method === "GET" && isDone && METADATA.test(address.pathname)) {
    const metadata = objectOf(text);
    if (Object.keys(metadata).length === 0) return { ...answer, status: 404 };
    return { ...answer, text: mended({ ...metadata, ...issuerOf(metadata, issuers) }, text) };
  }
  const form =
    method === "POST" && text !== "" && !/^\s*[[{<]/.test(text)
      ? Object.fromEntries(new URLSearchParams(text.trim()))
      : {};
  if (form["access_token"] !== undefined || form["error"] !== undefined) {
    const seconds = Number(form["expires_in"]);
    return { ...answer, text: mended({ ...form, expires_in: Number.isFinite(seconds) ? seconds : null }, text) };
  }
  return { ...answer, text: mended(objectOf(text), text) };
}

/** An issuer as it was named, where it differs by a slash at its end. */
function issuerOf(
  { issuer }: Readonly<Record<string, unknown>>,
  issuers: ReadonlySet<string>,
): { readonly issuer?: string } {
  if (typeof issuer !== "string" || issuers.has(issuer)) return {};
  const named = [...issuers].find((one) => isSameIssuer(one, issuer));
  return named === undefined ? {} : { issuer: named };
}

/** Whether two issuers are one, written with and without a slash at the end. */
function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

/** The same without fields that are null or empty, which many servers send for what there is not, and without what is only for readers and no address. */
function mended(fields: Readonly<Record<string, unknown>>, text: string): string {
  const kept = Object.entries(fields).filter(
    ([name, value]) => value !== null && value !== "" && !(FOR_READERS.test(name) && !URL.canParse(String(value))),
  );
  const other = JSON.stringify(Object.fromEntries(kept));
  return kept.length === 0 || other === JSON.stringify(objectOf(text)) ? text : other;
}

/**
 * The registration that is tried again where an authorization server takes addresses of this machine by name only (RFC 8252 has them as
 * 127.0.0.1); nothing for other requests and answers.
 */
export function registrationByName({ body }: RequestInit, { status, text }: OAuthAnswer): string | undefined {
  if (status < 400 || status >= 500 || typeof body !== "string" || !/redirect/i.test(text)) return undefined;
  const fields = objectOf(body);
  const uris = fields["redirect_uris"];
  if (!Array.isArray(uris)) return undefined;
  const named = uris.map(byName);
  return named.every((uri, at) => uri === uris[at]) ? undefined : JSON.stringify({ ...fields, redirect_uris: named });
}

/** An address of this machine by its name. */
export function byName(uri: unknown): string {
  return String(uri).replace(/^http:\/\/127\.0\.0\.1(?=[:/])/, "http://localhost");
}
