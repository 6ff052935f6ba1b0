// Turns the caller's values into JSON text, and refuses what JSON cannot carry, before anything reaches the engine.
//
// INVARIANT: every property is read exactly once, into a plain copy, and the copy is what is written. Getters and
// proxies can therefore not show one value to the check and another to the engine, and no toJSON of the caller is
// called. Copying and JSON.stringify together take a third of the time of writing the text piece by piece.
import { ContextWeaverError } from "./errors.js";
import type { ErrorCode } from "./errors.js";

const MIB = 1024 * 1024;

/** Bounds of one argument. @internal */
export interface Limits {
  /** Levels of nesting below the argument itself. */
  readonly depth: number;
  /** Values visited; a shared object counts each time it is reached. */
  readonly nodes: number;
  /** UTF-16 units of one string; the engine checks UTF-8 bytes. */
  readonly string: number;
  /** UTF-16 units of the JSON text. */
  readonly total: number;
}

/** Bounds of ordinary arguments, as in the engine. @internal */
export const INPUT: Limits = { depth: 64, nodes: 2 ** 20, string: 8 * MIB, total: 32 * MIB };

/** Bounds of a snapshot, which holds whole stores, artifacts as base64. @internal */
export const SNAPSHOT: Limits = { depth: 68, nodes: 2 ** 23, string: 24 * MIB, total: 256 * MIB };

/** Most items of one call, as in the engine. @internal */
export const MAX_ITEMS = 100_000;
const MAX_ARTIFACT = 16 * MIB;

/** Checked JSON text on its way into a constructor; nobody outside can make one. @internal */
export class JsonText {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  /** The text, of nothing else than such an object. Not `instanceof`, which runs code of a proxy. */
  static of(value: unknown): string | undefined {
    return typeof value === "object" && value !== null && #text in value ? value.#text : undefined;
  }
}

/** Writes a value as JSON text. `path` is where it stands in the caller's argument. @internal */
export function encode(value: unknown, path = "", limits: Limits = INPUT): string {
  const json = JSON.stringify(new Walk(path, limits).copy(value));
  if (json.length > limits.total) tooLarge("the input is", limits.total, path);
  return json;
}

/** Writes a sequence as a JSON array; stops an endless one. @internal */
export function encodeAll(items: unknown, path: string, limits: Limits = INPUT): string {
  let out = "";
  let index = 0;
  const at = (): string => `${path}/${index}`;
  const each = (item: unknown): void => {
    if (index >= MAX_ITEMS) refuse("QUOTA_EXCEEDED", `more than ${MAX_ITEMS} items in one call`, at());
    out += (index > 0 ? "," : "") + encode(item, at(), limits);
    if (out.length > limits.total) tooLarge("the items together are", limits.total, at());
    index += 1;
  };
  if (items === null || items === undefined) refuse("INVALID_INPUT", "expected an iterable", path);
  try {
    for (const item of items as Iterable<unknown>) each(item);
  } catch (cause) {
    if (cause instanceof ContextWeaverError) throw cause;
    refuse("INVALID_INPUT", "the items could not be iterated", at(), cause);
  }
  return `[${out}]`;
}

/**
 * Copies the own fields of an options object, each read once; `undefined` counts as absent, and so does the object.
 * @internal
 */
export function fields(value: unknown, path = ""): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>;
  if (value === undefined) return copy;
  const keys = typeof value === "object" && value !== null ? inspect(value, path).keys : undefined;
  if (!keys) refuse("INVALID_INPUT", `expected an object, got ${nameOf(value)}`, path);
  for (const key of keys) {
    const field = read(value as object, key, `${path}/${token(key)}`);
    if (field !== undefined) copy[key] = field;
  }
  return copy;
}

/** Checks a string that crosses as it is. @internal */
export function text(value: unknown, path: string, limit = INPUT.string): string {
  if (typeof value !== "string") refuse("INVALID_INPUT", `expected a string, got ${nameOf(value)}`, path);
  if (value.length > limit) tooLarge("the text is", limit, path);
  checkWellFormed(value, path);
  return value;
}

/** Copies raw bytes or encodes raw text, so that a later change of the caller's buffer has no effect. @internal */
export function rawBytes(value: unknown, path: string): Uint8Array {
  if (value === undefined) refuse("MISSING_FIELD", `missing field \`${path.slice(1)}\``, path);
  if (typeof value === "string") {
    if (value.length > MAX_ARTIFACT) tooBig(path);
    checkWellFormed(value, path);
    return new TextEncoder().encode(value);
  }
  if (!ArrayBuffer.isView(value) || kindOfView(value) !== "Uint8Array") {
    refuse("INVALID_INPUT", `expected a string or a Uint8Array, got ${nameOf(value)}`, path);
  }
  try {
    // Neither `slice` nor a species constructor of the caller: only the bytes count.
    if (byteLength(value) > MAX_ARTIFACT) tooBig(path);
    return new Uint8Array(value as Uint8Array);
  } catch (cause) {
    if (cause instanceof ContextWeaverError) throw cause;
    refuse("INVALID_INPUT", "the bytes cannot be read; was the buffer transferred?", path, cause);
  }
}

/** Copies a typed array of numbers into an array; anything else is left to {@link encode}. @internal */
export function numbers(value: unknown, path: string): unknown {
  if (!ArrayBuffer.isView(value) || kindOfView(value) === undefined) return value;
  try {
    if (byteLength(value) > MAX_ARTIFACT) tooLarge("the vector is", MAX_ARTIFACT, path);
    // By its bytes, without an iterator of the caller's.
    return Array.from(new Float64Array(value as Float64Array));
  } catch (cause) {
    if (cause instanceof ContextWeaverError) throw cause;
    refuse("INVALID_INPUT", "the numbers cannot be read; was the buffer transferred?", path, cause);
  }
}

/** One container being copied. */
interface Frame {
  readonly source: object;
  readonly target: unknown[] | Record<string, unknown>;
  /** Keys of an object; none for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  /** The next entry; the one before it is being copied. */
  next: number;
}

/** Copies data level by level on a stack of its own: the engine's stack and the runtime's are never at risk. */
class Walk {
  /** Values seen. */
  private nodes = 0;
  /** UTF-16 units of all strings, a lower bound of the text's length. */
  private units = 0;
  private readonly stack: Frame[] = [];
  private readonly base: string;
  private readonly limits: Limits;

  constructor(base: string, limits: Limits) {
    this.base = base;
    this.limits = limits;
  }

  copy(root: unknown): unknown {
    const result = this.value(root);
    for (let frame = this.stack.at(-1); frame; frame = this.stack.at(-1)) {
      if (frame.next === frame.length) this.stack.pop();
      else this.entry(frame);
    }
    return result;
  }

  private entry(frame: Frame): void {
    const { source, target, keys } = frame;
    const key = keys ? (keys[frame.next] as string) : frame.next;
    frame.next += 1;
    const value = read(source, key, this.path);
    // An absent option is a missing key; in an array every place counts.
    if (value === undefined && keys) return;
    if (keys) this.string(key as string, "key");
    const copy = this.value(value);
    if (key === "__proto__") {
      // An assignment would replace the prototype instead of making a property.
      Object.defineProperty(target, key, { value: copy, enumerable: true });
    } else (target as Record<string | number, unknown>)[key] = copy;
  }

  /** Copies a scalar; of a container, makes the empty copy and puts it on the stack. */
  private value(value: unknown): unknown {
    this.nodes += 1;
    if (this.nodes > this.limits.nodes) this.fail("TOO_LARGE", `more than ${this.limits.nodes} values`);
    switch (typeof value) {
      case "string":
        return this.string(value, "string");
      case "number":
        if (!Number.isFinite(value)) this.fail("INVALID_INPUT", `expected a finite number, got ${value}`);
        return value;
      case "boolean":
        return value;
      case "object":
        return value === null ? null : this.enter(value);
      default:
        this.fail("INVALID_INPUT", `expected data, got ${nameOf(value)}`);
    }
  }

  private enter(source: object): unknown {
    const { stack, limits } = this;
    for (const frame of stack) if (frame.source === source) this.fail("CYCLE", "the value contains itself");
    if (stack.length > limits.depth) this.fail("TOO_DEEP", `nested deeper than ${limits.depth} levels`);
    const { keys, length } = inspect(source, this.path);
    // Also refuses the length of a lying proxy: NaN, Infinity, a fraction.
    if (!Number.isInteger(length) || length > limits.nodes - this.nodes) {
      this.fail("TOO_LARGE", `more than ${limits.nodes} values`);
    }
    const target = keys ? {} : [];
    stack.push({ source, target, keys, length, next: 0 });
    return target;
  }

  private string(text: string, what: string): string {
    this.units += text.length;
    if (text.length > this.limits.string) tooLarge(`the ${what} is`, this.limits.string, this.path());
    if (this.units > this.limits.total) tooLarge("the input is", this.limits.total, this.path());
    checkWellFormed(text, this.path);
    return text;
  }

  private fail(code: ErrorCode, message: string): never {
    refuse(code, message, this.path);
  }

  private readonly path = (): string => {
    const parts = this.stack.map(({ keys, next }) => `/${keys ? token(keys[next - 1] ?? "") : next - 1}`);
    return this.base + parts.join("");
  };
}

type Path = string | (() => string);

/** Finds out what a container is; only arrays and plain objects of any realm are data. */
function inspect(source: object, path: Path): { keys?: readonly string[]; length: number } {
  let problem: string;
  try {
    if (Array.isArray(source)) {
      const length: unknown = source.length;
      if (typeof length === "number") return { length };
      problem = "the array has no length";
    } else if (isPlain(source)) {
      const keys = Object.keys(source);
      const symbols = Object.getOwnPropertySymbols(source);
      if (!symbols.some((symbol) => isEnumerable.call(source, symbol))) return { keys, length: keys.length };
      problem = "a property named by a symbol is not data";
    } else problem = `expected a plain object or an array, got ${nameOf(source)}`;
  } catch (cause) {
    refuse("INVALID_INPUT", "the object cannot be read", path, cause);
  }
  refuse("INVALID_INPUT", problem, path);
}

const isEnumerable = Object.prototype.propertyIsEnumerable;

function isPlain(source: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype === null || prototype === Object.prototype) return true;
  // Object.prototype of another realm (an iframe, a vm context); a class has one more link.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

function read(source: object, key: string | number, path: Path): unknown {
  try {
    return (source as Record<string | number, unknown>)[key];
  } catch (cause) {
    refuse("INVALID_INPUT", "reading the property failed", path, cause);
  }
}

/** Says what a value is, for a message. */
function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value === "bigint" ? "a BigInt" : `${typeof value}`;
  try {
    if (Array.isArray(value)) return "an array";
    const constructor: unknown = (Object.getPrototypeOf(value) as { constructor?: unknown } | null)?.constructor;
    const name: unknown = typeof constructor === "function" ? constructor.name : undefined;
    if (typeof name === "string" && /^\w{1,40}$/.test(name)) return `an instance of ${name}`;
  } catch {
    // a proxy that throws: its class does not matter
  }
  return "an object";
}

const prototypeOfViews = Object.getPrototypeOf(Uint8Array.prototype) as object;
const getterOf = (key: string | symbol): ((this: unknown) => unknown) =>
  Object.getOwnPropertyDescriptor(prototypeOfViews, key)?.get as (this: unknown) => unknown;
const viewTag = getterOf(Symbol.toStringTag);
const viewBytes = getterOf("byteLength");

/** The built-in getters see through properties that a subclass put in front. */
function kindOfView(view: ArrayBufferView): unknown {
  return viewTag.call(view);
}

function byteLength(view: ArrayBufferView): number {
  return viewBytes.call(view) as number;
}

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const loneSurrogate = /[\ud800-\udfff]/u;

function checkWellFormed(text: string, path: Path): void {
  if (native ? native.call(text) : !loneSurrogate.test(text)) return;
  refuse("INVALID_INPUT", "the text has half of a surrogate pair", path, undefined, "cut text between characters");
}

/** One part of a JSON pointer, short enough for a message. @internal */
export function token(key: string): string {
  const text = key.length > 80 ? `${key.slice(0, 80)}…` : key;
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd").replaceAll("~", "~0").replaceAll("/", "~1");
}

function tooLarge(what: string, limit: number, path: string): never {
  const message = `${what} larger than ${limit / MIB} MiB`;
  refuse("TOO_LARGE", message, path, undefined, "use several calls, or store it as an artifact");
}

function tooBig(path: string): never {
  refuse("QUOTA_EXCEEDED", `the artifact is larger than ${MAX_ARTIFACT / MIB} MiB`, path);
}

function refuse(code: ErrorCode, message: string, path: Path, cause?: unknown, hint?: string): never {
  const at = typeof path === "string" ? path : path();
  throw new ContextWeaverError(code, message, cause === undefined ? { path: at, hint } : { path: at, hint, cause });
}
