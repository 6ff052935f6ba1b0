// What every storage asks of its arguments before it writes.
import type { Bytes } from "../types.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { listed, rawBytes, utf8 } from "../boundary/guard.js";
import { isWellFormed } from "../boundary/guard-errors.js";
import type { StoredEnd } from "./storage-types.js";

/** Bytes of a part: half of what a row of a Durable Object holds. */
const MAX_PART = 2 ** 20;
/** UTF-16 units of the name of a session. */
const MAX_ID = 512;
const HASH = /^[0-9a-f]{64}$/;

/** Checks the name of a session. */
export function idOf(value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_ID && isWellFormed(value)) return value;
  throw new ContextWeaverError("INVALID_INPUT", `expected the name of a session, a text of 1 to ${MAX_ID} characters`, {
    path: "/id",
  });
}

/** Checks the number of a part. */
export function numberOf(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new ContextWeaverError("OUT_OF_RANGE", "expected the number of a part, an integer from 0", { path: "/first" });
}

/** Copies a list of parts, and says how many bytes they are. */
export function partsOf(value: unknown): { readonly parts: readonly string[]; readonly bytes: number } {
  const given = listed(value, "/parts");
  if (!given) throw new ContextWeaverError("INVALID_INPUT", "expected a list of parts", { path: "/parts" });
  let bytes = 0;
  for (const [at, part] of given.entries()) {
    const path = `/parts/${at}`;
    if (typeof part !== "string") throw new ContextWeaverError("INVALID_INPUT", "expected a part, a text", { path });
    if (!isWellFormed(part))
      throw new ContextWeaverError("INVALID_INPUT", "the part has half of a surrogate pair", { path });
    const size = part.length > MAX_PART ? part.length : utf8(part).length;
    if (size > MAX_PART)
      throw new ContextWeaverError("TOO_LARGE", "the part is larger than 1 MiB", {
        path,
        hint: "bytes belong in blobs",
      });
    bytes += size;
  }
  return { parts: given as string[], bytes };
}

/** Checks the name of a blob. */
export function hashOf(value: unknown, path = "/hash"): string {
  if (typeof value === "string" && HASH.test(value)) return value;
  throw new ContextWeaverError("INVALID_INPUT", "expected a SHA-256 as 64 hexadecimal digits in lower case", { path });
}

/** Copies a list of names of blobs. */
export function hashesOf(value: unknown): ReadonlySet<string> {
  const given = listed(value, "/blobs");
  if (!given) throw new ContextWeaverError("INVALID_INPUT", "expected a list of hashes", { path: "/blobs" });
  return new Set(given.map((hash, at) => hashOf(hash, `/blobs/${at}`)));
}

/** Copies the bytes of a blob. Whoever shares it relies on its name, so it is computed: 16 MiB take some 10 ms. */
export async function blobOf(hash: string, value: unknown): Promise<Bytes> {
  if (typeof value === "string")
    throw new ContextWeaverError("INVALID_INPUT", "expected a Uint8Array, got a string", { path: "/bytes" });
  const bytes = rawBytes(value, "/bytes") as Bytes;
  if ((await sha256(bytes)) === hash) return bytes;
  throw new ContextWeaverError("INVALID_INPUT", "the bytes have another SHA-256 than `hash` says", { path: "/hash" });
}

/** Bytes that are hashed at once where the runtime can: handing them to another thread takes longer. */
const HASHED_AT_ONCE = 2 ** 14;

interface Hashing {
  createHash(name: "sha256"): { update(bytes: Uint8Array): { digest(as: "hex"): string } };
}

/** The hashing of Node, Deno and Bun; absent elsewhere. */
function hashing(): Hashing | undefined {
  const { process } = globalThis as { readonly process?: { readonly getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.("node:crypto") as Hashing | undefined;
}

/** The SHA-256 of bytes as hexadecimal digits. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const own = bytes.length <= HASHED_AT_ONCE ? hashing() : undefined;
  if (own) return own.createHash("sha256").update(bytes).digest("hex");
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Bytes)));
}

/** Bytes as hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Characters at the beginning of a part in which a journal tells its sum. */
export const SUM_CHARS = 34;
const SUM = /^\{"sum":"([0-9a-f]{16})","part":\{/;
const AFTER =
  /^\{"sum":"[0-9a-f]{16}","part":\{"contextweaver":"\w+","version":\d+,"sequence":\d+,"after":"([0-9a-f]{16})"/;
/** What a part goes on from whose writer could not read the end. */
const UNKNOWN = "0".repeat(16);

/** The sum of a part of a journal, which differs with all that stands before it; nothing for another text. */
export function sumOf(part: string | undefined): string | undefined {
  const sum = SUM.exec(part ?? "")?.[1];
  // A copy: what a match returns keeps the whole part in memory.
  return sum && Array.from(sum).join("");
}

/**
 * Refuses to write at another place than the end. The number alone would not tell a session that was removed and begun anew from
 * the one that the writer knows.
 */
export function expectEnd(first: number, parts: readonly string[], { next, sum }: StoredEnd): void {
  const after = AFTER.exec(parts[0] ?? "")?.[1] ?? UNKNOWN;
  if (first === next && (after === UNKNOWN || sum === undefined || after === sum)) return;
  const message =
    first === next
      ? `part ${first} goes on from another one than the last that is stored`
      : `the next part is number ${next}, not ${first}`;
  const init = { path: "/first", hint: "load the session again: somebody else wrote", details: { next } };
  throw new ContextWeaverError("CONFLICT", message, init);
}

/** The time that a clock of the caller's tells, in whole milliseconds. */
export function timeOf(clock: (() => number) | undefined): number | undefined {
  if (clock === undefined) return undefined;
  let now: unknown;
  try {
    now = clock();
  } catch (cause) {
    throw new ContextWeaverError("CALLBACK_FAILED", "the clock threw", { path: "/clock", cause });
  }
  if (typeof now === "number" && Number.isFinite(now)) return Math.floor(now);
  throw new ContextWeaverError("CALLBACK_FAILED", "the clock returned no number of milliseconds", { path: "/clock" });
}

/** Checks a clock. */
export function clockOf(value: unknown): (() => number) | undefined {
  if (value === undefined || typeof value === "function") return value as (() => number) | undefined;
  throw new ContextWeaverError("INVALID_INPUT", "expected a function that returns milliseconds since 1970", {
    path: "/clock",
  });
}
