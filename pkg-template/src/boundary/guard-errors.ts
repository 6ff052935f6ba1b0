// How arguments are refused: with a code, the path of the field, and a hint.
import { ContextWeaverError } from "./errors.js";
import type { ErrorCode } from "./errors.js";
import { MAX_ARTIFACT, MIB } from "./guard-limits.js";
import { nearestHint } from "./nearest.js";

/** Where a value stands in the caller's argument, or what says so. @internal */
export type Path = string | (() => string);

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const loneSurrogate = /[\ud800-\udfff]/u;

/** Tells whether no surrogate stands alone. @internal */
export function isWellFormed(text: string): boolean {
  return native ? native.call(text) : !loneSurrogate.test(text);
}

/** Refuses half of a surrogate pair. @internal */
export function checkWellFormed(text: string, path: Path): void {
  if (isWellFormed(text)) return;
  refuse("INVALID_INPUT", "the text has half of a surrogate pair", path, undefined, "cut text between characters");
}

/** Says that a field is unknown, and which of the known ones it may stand for. @internal */
export function unknownField(name: string, known: readonly string[], above = ""): ContextWeaverError {
  const part = token(name);
  return new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${part}\``, {
    path: `${above}/${part}`,
    hint: nearestHint(name, known),
  });
}

/** Refuses what is left of options when the known fields were taken. @internal */
export function refuseUnknown(rest: Readonly<Record<string, unknown>>, known: readonly string[], above = ""): void {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw unknownField(unknown, known, above);
}

/** Returns a whole number within bounds, both included. @internal */
export function wholeWithin(value: unknown, least: number, most: number, path: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new ContextWeaverError("OUT_OF_RANGE", `expected a whole number from ${least} to ${most}`, { path });
}

/** One part of a JSON pointer, short enough for a message. @internal */
export function token(key: string): string {
  const text = key.length > 80 ? `${key.slice(0, 80)}…` : key;
  return text
    .replace(/[\ud800-\udfff]/gu, "\ufffd")
    .replaceAll("~", "~0")
    .replaceAll("/", "~1");
}

/** Refuses what is larger than a limit in bytes. @internal */
export function tooLarge(what: string, limit: number, path: string): never {
  const message = `${what} larger than ${limit / MIB} MiB`;
  refuse("TOO_LARGE", message, path, undefined, "use several calls, or store it as an artifact");
}

/** Refuses an artifact that is too large. @internal */
export function tooBig(path: string): never {
  refuse("QUOTA_EXCEEDED", `the artifact is larger than ${MAX_ARTIFACT / MIB} MiB`, path);
}

/** Throws the error of an argument. @internal */
export function refuse(code: ErrorCode, message: string, path: Path, cause?: unknown, hint?: string): never {
  const at = typeof path === "string" ? path : path();
  throw new ContextWeaverError(code, message, cause === undefined ? { path: at, hint } : { path: at, hint, cause });
}
