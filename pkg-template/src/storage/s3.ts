// Blobs in a bucket that speaks the protocol of S3, by `fetch`: AWS, R2, MinIO and others.
import type { Bytes } from "../types.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { isWellFormed, refuseUnknown } from "../boundary/guard-errors.js";
import { clockOf, timeOf } from "./checks.js";
import { encoded, queryOf, signed } from "./s3-signature.js";
import type { S3Credentials } from "./s3-signature.js";
import type { BlobStore } from "./storage-types.js";

/** What requests are made by: `fetch`, as far as it is used. */
export type S3Fetch = (
  address: string,
  init: { method: string; headers: Record<string, string>; body?: Bytes; redirect: "manual" },
) => Promise<S3Response>;

/** What a request is answered by, as far as it is used. */
export interface S3Response {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}

/** Which bucket, and who asks. */
export interface S3BlobsOptions {
  /** The address of the service, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  /** Its name. */
  readonly bucket: string;
  /** The region that requests are signed for; `auto` for R2. */
  readonly region: string;
  /** Who signs the requests. */
  readonly access_key_id: string;
  /** What they are signed with; it is not sent. */
  readonly secret_access_key: string;
  /** For credentials that expire. */
  readonly session_token?: string;
  /** What keys in the bucket begin with, such as `sessions/`. Default: nothing. */
  readonly prefix?: string;
  /** Makes the requests. Default: the runtime's own. */
  readonly fetch?: S3Fetch;
  /** Tells the time that requests are signed with, in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** Times that a request is made. */
const ATTEMPTS = 4;
/** Milliseconds until the second attempt; each further wait is twice as long, less a random part. */
const FIRST_WAIT = 200;
/** Milliseconds that are waited at most, also where the service asks for more. */
const LONGEST_WAIT = 5_000;
/** Requests at a time when blobs are removed: the protocol's one for many keys wants an MD5, which WebCrypto has not. */
const AT_ONCE = 8;

const REQUIRED = ["endpoint", "bucket", "region", "access_key_id", "secret_access_key"] as const;
const OPTIONAL = ["session_token", "prefix", "fetch", "clock"] as const;

/**
 * Keeps blobs in a bucket of S3, or of another service with its protocol, an object for each. Addresses have the bucket in their path.
 * Requests are signed with WebCrypto, and nothing is imported.
 *
 * A request that fails by the network, or that is answered by 429, 500, 502, 503 or 504, is made up to 4 times, with waits of 0.2,
 * 0.4 and 0.8 seconds, or as long as `retry-after` says, at most 5 seconds each. How long one may take is for a `fetch` of yours to say.
 *
 * Errors: `MISSING_FIELD`, `UNKNOWN_FIELD` and `INVALID_INPUT` for options and keys that are not as described; `CALLBACK_FAILED` when
 * the service refuses or cannot be reached, with `details.status` and `details.code` as it says. None names a credential.
 *
 * ```js
 * const blobs = s3Blobs({ endpoint: "https://s3.eu-central-1.amazonaws.com", bucket: "sessions", region: "eu-central-1", access_key_id, secret_access_key });
 * const store = sqliteStore(database, { blobs });
 * ```
 */
export function s3Blobs(options: S3BlobsOptions): BlobStore {
  const given = fields(options);
  refuseUnknown(
    Object.fromEntries(
      Object.entries(given).filter(([name]) => !([...REQUIRED, ...OPTIONAL] as readonly string[]).includes(name)),
    ),
    [...REQUIRED, ...OPTIONAL],
  );
  for (const name of REQUIRED) {
    if (given[name] === undefined)
      throw new ContextWeaverError("MISSING_FIELD", `missing field \`${name}\``, { path: `/${name}` });
  }
  for (const name of [...REQUIRED, "session_token", "prefix"] as const) textOf(given[name], name);
  const { fetch: request, clock } = given;
  if (request !== undefined && typeof request !== "function")
    throw new ContextWeaverError("INVALID_INPUT", "expected a function such as `fetch`", { path: "/fetch" });
  const {
    prefix = "",
    bucket,
    access_key_id,
    secret_access_key,
    session_token,
    region,
  } = given as unknown as S3BlobsOptions;
  const tellTime = clockOf(clock) ?? Date.now;
  // Looked up with each request, as whoever observes requests replaces it.
  const by = (request as S3Fetch | undefined) ?? ((address, init) => fetch(address, init));
  return new S3Blobs(
    endpointOf(given["endpoint"] as string),
    bucket,
    prefix,
    { access_key_id, secret_access_key, session_token, region },
    by,
    tellTime,
  );
}

function textOf(value: unknown, name: string): void {
  const isText = typeof value === "string" && isWellFormed(value) && (value !== "" || name === "prefix");
  // Line ends would end the header that it stands in.
  if (value === undefined || (isText && !/[\r\n\0]/.test(value))) return;
  throw new ContextWeaverError("INVALID_INPUT", "expected a text of one line", { path: `/${name}` });
}

function endpointOf(endpoint: string): URL {
  const hint = "such as https://s3.eu-central-1.amazonaws.com";
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    // The cause would quote it, and with it what somebody wrote for a name and password.
    throw new ContextWeaverError("INVALID_INPUT", "expected the address of a service", { path: "/endpoint", hint });
  }
  const isPlain =
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "";
  if (isPlain) return url;
  throw new ContextWeaverError(
    "INVALID_INPUT",
    "expected an address of http or https without name, password and query",
    { path: "/endpoint", hint },
  );
}

class S3Blobs implements BlobStore {
  readonly #endpoint: URL;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #credentials: S3Credentials;
  readonly #fetch: S3Fetch;
  readonly #clock: () => number;

  constructor(
    endpoint: URL,
    bucket: string,
    prefix: string,
    credentials: S3Credentials,
    by: S3Fetch,
    clock: () => number,
  ) {
    [this.#endpoint, this.#bucket, this.#prefix, this.#credentials, this.#fetch, this.#clock] = [
      endpoint,
      bucket,
      prefix,
      credentials,
      by,
      clock,
    ];
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#ask("PUT", this.#path(key), {}, new Uint8Array(bytes));
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const response = await this.#ask("GET", this.#path(key), {}, undefined, "NoSuchKey");
    return response && new Uint8Array(await response.arrayBuffer());
  }

  async delete(keys: readonly string[]): Promise<void> {
    const paths = keys.map((key) => this.#path(key));
    for (let at = 0; at < paths.length; at += AT_ONCE) {
      await Promise.all(
        paths.slice(at, at + AT_ONCE).map((path) => this.#ask("DELETE", path, {}, undefined, "NoSuchKey")),
      );
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const keys: string[] = [];
    let after: string | undefined;
    do {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        prefix: this.#prefix + prefix,
        ...(after !== undefined && { "continuation-token": after }),
      };
      const page = (await (await this.#ask("GET", this.#path(), query))?.text()) ?? "";
      // Some services do not encode.
      const isEncoded = /<EncodingType>url<\/EncodingType>/.test(page);
      for (const [, text = ""] of page.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        const key = isEncoded ? decodeURIComponent(unescaped(text).replaceAll("+", " ")) : unescaped(text);
        keys.push(key.slice(this.#prefix.length));
      }
      const isMore = /<IsTruncated>true<\/IsTruncated>/.test(page);
      const [, next] = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(page) ?? [];
      after = isMore && next ? unescaped(next) : undefined;
    } while (after !== undefined);
    return keys;
  }

  /** The path of a key, or of the bucket. */
  #path(key?: string): string {
    const base = this.#endpoint.pathname.replace(/\/$/, "");
    const parts = [this.#bucket, ...(key === undefined ? [] : (this.#prefix + key).split("/"))];
    // What an address leaves out on its way would be signed here.
    if (key === "" || parts.some((part) => part === "." || part === "..")) {
      throw new ContextWeaverError("INVALID_INPUT", "expected a key without parts `.` and `..`", { path: "/key" });
    }
    return `${base}/${parts.map(encoded).join("/")}`;
  }

  /** Makes a request, again if need be. Nothing where the service answers by this code of its own. */
  async #ask(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    body?: Bytes,
    absent?: string,
  ): Promise<S3Response | undefined> {
    const { origin, host } = this.#endpoint;
    // A runtime's own refuses to be called as a method of something else.
    const request = this.#fetch;
    const address = `${origin}${path}${Object.keys(query).length > 0 ? `?${queryOf(query)}` : ""}`;
    for (let attempt = 1; ; attempt += 1) {
      const headers = await signed(
        { method, host, path, query, headers: {}, body: body ?? new Uint8Array() },
        this.#credentials,
        timeOf(this.#clock) as number,
      );
      let response: S3Response;
      try {
        response = await request(address, { method, headers, redirect: "manual", ...(body && { body }) });
      } catch (cause) {
        if (attempt < ATTEMPTS) {
          await wait(attempt, null);
          continue;
        }
        throw new ContextWeaverError("CALLBACK_FAILED", "the service of blobs cannot be reached", {
          hint: "look at `cause`",
          details: { attempts: attempt },
          cause,
        });
      }
      const { status } = response;
      if (status >= 200 && status < 300) {
        // What is not read would keep the connection.
        if (method !== "GET") await response.arrayBuffer();
        return response;
      }
      const [, code] = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(await response.text()) ?? [];
      if (status === 404 && absent !== undefined && (code ?? absent) === absent) return undefined;
      if (attempt < ATTEMPTS && [429, 500, 502, 503, 504].includes(status)) {
        await wait(attempt, response.headers.get("retry-after"));
        continue;
      }
      const details = { status, attempts: attempt, ...(code !== undefined && { code }) };
      throw new ContextWeaverError(
        "CALLBACK_FAILED",
        `the service of blobs answered ${status}${code === undefined ? "" : ` (${code})`}`,
        { hint: hintFor(status), details },
      );
    }
  }
}

function hintFor(status: number): string | undefined {
  if (status === 403) return "look at credentials, region and clock, and at what the credentials may do";
  if (status === 404) return "look at endpoint and bucket";
  return status >= 300 && status < 400 ? "look at endpoint and region" : undefined;
}

async function wait(attempt: number, after: string | null): Promise<void> {
  const asked = Number(after ?? NaN) * 1_000;
  const own = FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
  await new Promise<void>((done) =>
    setTimeout(done, Math.min(LONGEST_WAIT, Number.isFinite(asked) && asked > own ? asked : own)),
  );
}

/** The characters that XML writes in another way. */
function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hexadecimal, name) => {
    if (name) return named[name] ?? all;
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16));
  });
}
