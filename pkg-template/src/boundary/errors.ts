// The one error class of the package.
import { asked } from "./asked.js";
import { nearestHint } from "./nearest.js";

/**
 * Every error code, in the order of the documentation. Adding one is a minor change, renaming one a major change.
 */
export const ERROR_CODES = [
  /** A value has the wrong type or form. */
  "INVALID_INPUT",
  /** An options object carries a field that does not exist; the hint names one that may be meant. */
  "UNKNOWN_FIELD",
  /** A required field is absent. */
  "MISSING_FIELD",
  /** A number lies outside its documented range. */
  "OUT_OF_RANGE",
  /** An id is already taken. */
  "DUPLICATE_ID",
  /** No item, tool, hook, profile or episode has this id. */
  "NOT_FOUND",
  /** A value refers to itself. */
  "CYCLE",
  /** A value nests deeper than the limit. */
  "TOO_DEEP",
  /** A value is larger than the limit. */
  "TOO_LARGE",
  /** A store is full, and nothing may be evicted or that would not be enough. */
  "QUOTA_EXCEEDED",
  /** What must be in the prompt does not fit (`details.over_by`), or the overflow policy asks for an error. */
  "BUDGET_EXCEEDED",
  /** The sensitivity policy forbids the operation. */
  "POLICY_VIOLATION",
  /** A model-backed function would run although `firewall.deterministic` forbids it. */
  "DETERMINISM",
  /** No artifact has this handle. */
  "ARTIFACT_NOT_FOUND",
  /** The artifact expired or was evicted to make room, as your `limits` ask for (`details.reason`: `ttl` or `lru`). */
  "ARTIFACT_EXPIRED",
  /** Text is not valid JSON, UTF-8 or base64. */
  "DECODE_FAILED",
  /** The operation or value is not supported, or the engine is used before it was started. */
  "UNSUPPORTED",
  /** A snapshot was written by an incompatible version. */
  "SNAPSHOT_VERSION",
  /** Parts of a journal are missing, or are not what was written. */
  "JOURNAL_DAMAGED",
  /** Somebody else wrote meanwhile: load again, then repeat what is still wanted. */
  "CONFLICT",
  /** A function you supplied threw (`cause`), or returned a promise or another unusable value. */
  "CALLBACK_FAILED",
  /** A function you supplied called back into the manager that is waiting for its answer. */
  "REENTRANT",
  /** Nothing is left to choose from: the catalog is empty, or the filters leave no tool. */
  "NO_CANDIDATES",
  /** A graph of tools has a cycle, no root, or tools that cannot be reached. */
  "GRAPH_INVALID",
  /** The object was freed. */
  "DISPOSED",
  /** The WebAssembly instance died, and it or an object in it could not be brought back; the next call tries again. */
  "POISONED",
  /** A defect in this library; the engine was restarted, and every object continues with the state it had. */
  "INTERNAL",
] as const;

/** The stable identity of a failure. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** What an error carries besides code and message. */
export interface ErrorInit {
  /** JSON pointer to the offending field of the argument. */
  readonly path?: string | undefined;
  /** What to do instead. */
  readonly hint?: string | undefined;
  /** A name that there is not and those that there are, in place of a hint: which of them may be meant, or all. */
  readonly unknown?: { readonly name: string; readonly known: readonly string[] } | undefined;
  /** Machine-readable numbers and names, such as `over_by` of `BUDGET_EXCEEDED`. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** What was thrown by a function or property of yours, or by the engine. */
  readonly cause?: unknown;
}

const NAME = "ContextWeaverError";

/** No credential is shorter; what is written in errors of this package hardly ever has such a word. */
const LONG_WORD = /[^\s/:`'"]{16,}/;

/** Masks the credentials that somebody took for the name of a field. @internal */
export function masked(text: string): string {
  return LONG_WORD.test(text) ? (asked((engine) => engine.mask_text(text)) ?? text) : text;
}

/**
 * The only error this package throws on purpose. A call that throws it has changed nothing. What it says of your arguments has
 * no credentials: an id or a key that looks like one is masked.
 *
 * Compare `code`, or use {@link ContextWeaverError.is}: `instanceof` fails across realms and duplicate installs.
 */
export class ContextWeaverError extends Error {
  /** The stable code. */
  readonly code: ErrorCode;
  /** JSON pointer to the offending field of the argument, e.g. `/items/3/kind`; absent when no field is at fault. */
  declare readonly path?: string;
  /** What to do instead. */
  declare readonly hint?: string;
  /** Machine-readable numbers and names, such as `over_by` of `BUDGET_EXCEEDED`. */
  declare readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, init: ErrorInit = {}) {
    super(masked(message), "cause" in init ? { cause: init.cause } : undefined);
    // Own, like the fields of the built-in errors, so that structured loggers see it.
    Object.defineProperty(this, "name", { value: NAME, configurable: true, writable: true });
    this.code = code;
    if (init.path) this.path = masked(init.path);
    const hint = init.hint ?? (init.unknown && nearestHint(init.unknown.name, init.unknown.known));
    if (hint) this.hint = hint;
    if (init.details) this.details = init.details;
  }

  /** Where the package's documents say what the code means and how to mend it, such as `docs/errors.md#budget_exceeded`. */
  get docs(): string {
    return `docs/errors.md#${this.code.toLowerCase()}`;
  }

  /** Tells whether `value` is an error of this package, of whatever copy or realm. */
  static is(value: unknown): value is ContextWeaverError {
    try {
      const error = value as Partial<ContextWeaverError> | null | undefined;
      return error?.name === NAME && ERROR_CODES.includes(error.code as ErrorCode);
    } catch {
      return false; // a hostile proxy is none of ours
    }
  }
}

/**
 * Reads the JSON text that the engine throws.
 * @internal
 */
export function fromEngine(text: string): ContextWeaverError {
  try {
    const { code, message, ...rest } = JSON.parse(text) as ErrorInit & { code: ErrorCode; message: string };
    return new ContextWeaverError(code, message, rest);
  } catch (cause) {
    return new ContextWeaverError("INTERNAL", "the engine threw an unreadable error", { cause });
  }
}

/**
 * Shortens the path of an error to what the caller passed: `prefix` is what the facade has wrapped around it.
 * @internal
 */
export function dropPrefix(error: unknown, prefix: string): void {
  if (prefix) movePath(error, prefix, "");
}

/**
 * Makes the path of an error lead through the caller's argument instead of what the facade made of it.
 * @internal
 */
export function movePath(error: unknown, from: string, to: string): void {
  if (!(error instanceof ContextWeaverError) || !error.path?.startsWith(from)) return;
  const own = error as { path?: string };
  own.path = masked(to + error.path.slice(from.length));
  if (!own.path) delete own.path;
}
