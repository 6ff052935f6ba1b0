// Signature Version 4 of AWS, as S3 wants it, computed with WebCrypto.
import type { Bytes } from "../types.js";
import { utf8 } from "../boundary/guard.js";
import { hex, sha256 } from "./checks.js";

/** Who signs, and for which region. */
export interface S3Credentials {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string | undefined;
  readonly region: string;
}

/** What is signed. */
export interface S3Request {
  readonly method: string;
  readonly host: string;
  /** The path, its parts encoded as {@link encoded} does. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Further headers, their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** Encodes one part of a path or of a query: everything but what RFC 3986 leaves unreserved. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The query of an address, in the order in which it is signed. */
export function queryOf(query: Readonly<Record<string, string>>): string {
  // Sorted as encoded, which is ASCII: the order of code units is that of bytes.
  return Object.entries(query)
    .map(([key, value]) => `${encoded(key)}=${encoded(value)}`)
    .sort()
    .join("&");
}

/** The headers of a request, signed; `host` is set by whoever sends it. `now` is in milliseconds since 1970. */
export async function signed(
  request: S3Request,
  { access_key_id, secret_access_key, session_token, region }: S3Credentials,
  now: number,
): Promise<Record<string, string>> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const hash = await sha256(request.body);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
    ...(session_token !== undefined && { "x-amz-security-token": session_token }),
  };
  const lines = Object.entries({ ...headers, host: request.host }).map(
    ([name, value]) => [name, value.trim().replace(/ +/g, " ")] as const,
  );
  lines.sort(([one], [other]) => (one < other ? -1 : 1));
  const names = lines.map(([name]) => name).join(";");
  const canonical = [
    request.method,
    request.path,
    queryOf(request.query),
    ...lines.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    hash,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  let key: Bytes = bytesOf(`AWS4${secret_access_key}`);
  for (const part of [day, region, "s3", "aws4_request"]) key = await hmac(key, part);
  const signature = hex(await hmac(key, [ALGORITHM, time, scope, await sha256(bytesOf(canonical))].join("\n")));
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${access_key_id}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}

function bytesOf(text: string): Bytes {
  return utf8(text) as Bytes;
}

async function hmac(key: Bytes, text: string): Promise<Bytes> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytesOf(text)));
}
