// What a value of the caller's is, found out so that no getter, proxy or subclass of theirs can mislead.
import { refuse } from "./guard-errors.js";
import type { Path } from "./guard-errors.js";
import { MAX_ITEMS } from "./guard-limits.js";
import { UNREADABLE, standIn } from "./repairs.js";

/** Finds out what a container is; only arrays and plain objects of any realm are data. @internal */
export function inspect(source: object, path: Path): { keys?: readonly string[]; length: number } {
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

/** Tells whether an object is plain, of whatever realm. @internal */
export function isPlain(source: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype === null || prototype === Object.prototype) return true;
  // Object.prototype of another realm (an iframe, a vm context); a class has one more link.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

/** Tells whether an object is one that {@link inspect} takes; of a proxy that throws it says why. @internal */
export function isData(source: object): boolean {
  try {
    return Array.isArray(source) || isPlain(source);
  } catch {
    return true;
  }
}

/** The date as JSON shows it, null of one that is none; nothing of another object. Only a date of any realm has a time. @internal */
export function timeOf(source: object): string | null | undefined {
  try {
    const time = Date.prototype.getTime.call(source);
    return Number.isNaN(time) ? null : new Date(time).toISOString();
  } catch {
    return undefined;
  }
}

const hrefOf = getterOf(globalThis.URL?.prototype as object | undefined, "href");

/** The address of a `URL`; nothing of another object. @internal */
export function addressOf(source: object): string | undefined {
  try {
    return hrefOf?.call(source) as string | undefined;
  } catch {
    return undefined;
  }
}

const bufferBytes = getterOf(ArrayBuffer.prototype, "byteLength");

/** Whether an object is a `Uint8Array` or an `ArrayBuffer`. @internal */
export function isBytes(source: object): boolean {
  if (ArrayBuffer.isView(source)) return kindOfView(source) === "Uint8Array";
  try {
    bufferBytes?.call(source);
    return true;
  } catch {
    return false;
  }
}

/** The bytes of a `Uint8Array` or an `ArrayBuffer`; nothing of another object. @internal */
export function bytesOf(source: object): Uint8Array<ArrayBuffer> | typeof UNREADABLE | undefined {
  if (!isBytes(source)) return undefined;
  try {
    // Neither an iterator nor a species constructor of the caller: only the bytes count.
    return new Uint8Array(source as Uint8Array);
  } catch {
    return UNREADABLE;
  }
}

/** What stands for an object that is no plain one; itself where that cannot be found out. @internal */
export function standInOf(source: object): unknown {
  try {
    return standIn(source);
  } catch {
    return source;
  }
}

/** The length of an array; nothing of another object, or of an array that lies. @internal */
export function lengthOf(source: object): number | undefined {
  try {
    const length: unknown = Array.isArray(source) ? source.length : undefined;
    return Number.isInteger(length) && (length as number) >= 0 ? (length as number) : undefined;
  } catch {
    return undefined;
  }
}

/** The length of a long array without the holes at its end: a sparse one can say that it has four billion. @internal */
export function filled(source: object, length: number): number {
  try {
    if (length <= MAX_ITEMS || length - 1 in source) return length;
    const last = Object.keys(source)
      .reverse()
      .find((key) => /^\d+$/.test(key));
    return Number(last ?? -1) + 1;
  } catch {
    return length;
  }
}

/** The keys of an object; nothing of one that throws. @internal */
export function keysOf(source: object): readonly string[] | undefined {
  try {
    return Array.isArray(source) ? undefined : Object.keys(source);
  } catch {
    return undefined;
  }
}

/** Reads a property. A getter that throws is an error with the path. @internal */
export function read(source: object, key: string | number, path: Path): unknown {
  try {
    return (source as Record<string | number, unknown>)[key];
  } catch (cause) {
    refuse("INVALID_INPUT", "reading the property failed", path, cause);
  }
}

/** Says what a value is, for a message. @internal */
export function nameOf(value: unknown): string {
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

type Getter = ((this: unknown) => unknown) | undefined;

/** A built-in getter; it sees through properties that a subclass put in front. */
function getterOf(prototype: object | undefined, key: string | symbol): Getter {
  return prototype && Object.getOwnPropertyDescriptor(prototype, key)?.get;
}

const prototypeOfViews = Object.getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = getterOf(prototypeOfViews, Symbol.toStringTag);
const viewBytes = getterOf(prototypeOfViews, "byteLength");

/** The class of a view of bytes; nothing of a `DataView`. @internal */
export function kindOfView(view: ArrayBufferView): unknown {
  return viewTag?.call(view);
}

/** The bytes of a view. @internal */
export function byteLength(view: ArrayBufferView): number {
  return viewBytes?.call(view) as number;
}
