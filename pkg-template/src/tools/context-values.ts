// Values of a context: copied, so that nobody can change them, and looked into without running code of theirs.
import { ContextWeaverError } from "../boundary/errors.js";
import type { ErrorCode } from "../boundary/errors.js";
import { isPlain } from "../boundary/foreign-values.js";
import { isWellFormed, token } from "../boundary/guard-errors.js";
import { INPUT } from "../boundary/guard-limits.js";

/** A value that nobody else can change, unless it is or holds something that only its maker could copy. @internal */
export interface Copied {
  readonly value: unknown;
  /** Whether something in it is none of JSON: a function, an instance of a class, NaN. It stays in this program. */
  readonly isLocal: boolean;
}

/** Copies and freezes plain objects and arrays, each property read once; keeps everything else by reference. @internal */
export function copied(value: unknown, key: string): Copied {
  const copier = new Copier(key);
  return { value: copier.copy(value), isLocal: copier.isLocal };
}

/** Makes the error of a rule that has a name. It never carries a value. @internal */
export function broken(
  code: ErrorCode,
  reason: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  init: { readonly path?: string; readonly hint?: string } = {},
): ContextWeaverError {
  return new ContextWeaverError(code, message, { ...init, details: { reason, ...details } });
}

/** A key in a message: short, without control characters. @internal */
export function quoted(key: string): string {
  const short = key.length > 80 ? `${key.slice(0, 80)}…` : key;
  return `\`${short.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "\ufffd")}\``;
}

class Copier {
  isLocal = false;
  private nodes = 0;
  private readonly open: object[] = [];
  private readonly places: (string | number)[];

  constructor(key: string) {
    this.places = [key];
  }

  copy(value: unknown): unknown {
    this.nodes += 1;
    if (this.nodes > INPUT.nodes) this.fail("TOO_LARGE", `more than ${INPUT.nodes} values`);
    switch (typeof value) {
      case "boolean":
        return value;
      case "string":
        if (!isWellFormed(value)) this.isLocal = true;
        return value;
      case "number":
        if (!Number.isFinite(value)) this.isLocal = true;
        return value;
      case "object":
        return value === null ? null : this.container(value);
      default:
        this.isLocal = true;
        return value;
    }
  }

  private container(source: object): unknown {
    const kind = this.ask(() => (Array.isArray(source) ? "list" : isPlain(source) ? "record" : "other"));
    if (kind === "other") {
      this.isLocal = true;
      return source;
    }
    if (this.open.includes(source)) this.fail("CYCLE", "the value contains itself");
    if (this.open.length > INPUT.depth) this.fail("TOO_DEEP", `nested deeper than ${INPUT.depth} levels`);
    this.open.push(source);
    const copy = kind === "list" ? this.list(source as unknown[]) : this.record(source as Record<string, unknown>);
    this.open.pop();
    return Object.freeze(copy);
  }

  private list(source: readonly unknown[]): unknown[] {
    const length: unknown = this.ask(() => source.length);
    if (!Number.isInteger(length) || (length as number) > INPUT.nodes - this.nodes) {
      this.fail("TOO_LARGE", `more than ${INPUT.nodes} values`);
    }
    const copy: unknown[] = [];
    for (let place = 0; place < (length as number); place += 1) {
      this.places.push(place);
      copy.push(this.copy(this.ask(() => source[place])));
      this.places.pop();
    }
    return copy;
  }

  private record(source: Readonly<Record<string, unknown>>): object {
    const keys = this.ask(() => Object.keys(source));
    const symbols = this.ask(() =>
      Object.getOwnPropertySymbols(source).some((symbol) => isEnumerable.call(source, symbol)),
    );
    if (symbols) this.fail("INVALID_INPUT", "a property named by a symbol is not data");
    const copy = {};
    for (const key of keys) {
      this.places.push(key);
      const value = this.ask(() => source[key]);
      if (!isWellFormed(key)) this.isLocal = true;
      // Defined, not set: `__proto__` is a key like any other.
      if (value !== undefined) Object.defineProperty(copy, key, { value: this.copy(value), enumerable: true });
      this.places.pop();
    }
    return copy;
  }

  /** What a getter or a proxy throws may quote what it guards, so it goes nowhere. */
  private ask<T>(read: () => T): T {
    try {
      return read();
    } catch {
      this.fail("INVALID_INPUT", "the value cannot be read");
    }
  }

  private fail(code: ErrorCode, message: string): never {
    const path = this.places.map((place) => `/${token(`${place}`)}`).join("");
    throw broken(code, "InvalidContextValue", message, { key: `${this.places[0]}` }, { path });
  }
}

const isEnumerable = Object.prototype.propertyIsEnumerable;

/** Compares copied values; what is kept by reference is equal to itself only. @internal */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isCopy(a) || !isCopy(b) || Array.isArray(a) !== Array.isArray(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** Copies are frozen plain objects and arrays, so that looking into them runs nobody's code. */
function isCopy(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  try {
    return (Array.isArray(value) || isPlain(value)) && Object.isFrozen(value);
  } catch {
    return false; // a proxy that throws
  }
}

/** Compares secrets in a time that says nothing of where they differ. @internal */
export function sameSecret(a: unknown, b: unknown): boolean {
  const [left, right] = [canonical(a), canonical(b)];
  let difference = left.length ^ right.length;
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    difference |= (left.charCodeAt(at) || 0) ^ (right.charCodeAt(at) || 0);
  }
  return difference === 0;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const record = value as Readonly<Record<string, unknown>>;
  return `{${Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(record[key])}`)
    .join()}}`;
}

/** Objects looked into for secrets. */
const MAX_OBJECTS = 10_000;

/** Collects the strings of a value, also those in instances of classes, without calling a getter. @internal */
export function stringsIn(value: unknown, least: number): Set<string> {
  const found = new Set<string>();
  const seen = new Set<object>();
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && next.length >= least) found.add(next);
    if (typeof next !== "object" || next === null || seen.has(next) || seen.size >= MAX_OBJECTS) continue;
    seen.add(next);
    for (const [, inner] of dataOf(next)) rest.push(inner);
  }
  return found;
}

/** The own properties of an object that hold a value; what hides behind a getter or a proxy is not asked for. @internal */
export function dataOf(source: object): [string, unknown][] {
  try {
    const all = Object.entries(Object.getOwnPropertyDescriptors(source));
    return all.filter(([, property]) => "value" in property).map(([key, { value }]) => [key, value]);
  } catch {
    return [];
  }
}
