// Data for tools that the model neither sees nor sets: tenant, trace, credentials, deadline.
import { callContext, secretNames } from "./context-call.js";
import { ContextKey, isSchema, isSignal, passes } from "./context-key.js";
import type { AbortSignalLike, AnyContextKey, StandardSchema, Validate } from "./context-key.js";
import { broken, copied, quoted, same, sameSecret } from "./context-values.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { isWellFormed, refuseUnknown, token } from "../boundary/guard-errors.js";
import { MAX_ITEMS } from "../boundary/guard-limits.js";
import type { JsonValue } from "../types.js";

// What is known of an entry: the engine's flags, bit by bit.
const NAMED = 1;
const DECLARED = 2;
const DECLASSIFIED = 4;
const KEPT = 8;
const SEALED = 16;
/** @internal */
export const LOCAL = 32;
const INBOUND = 64;

/** A value and what is known of it. @internal */
export interface Entry {
  readonly value: unknown;
  readonly flags: number;
}

/** What a context can be made of. */
export type ContextEntries =
  | ToolCallContext
  | Readonly<Record<string, unknown>>
  | Iterable<readonly [string | AnyContextKey, unknown]>;

/** Settings of {@link ToolCallContext.of}. */
export interface ContextOptions {
  /** Keys whose values are secrets, whatever they are called. */
  readonly secrets?: readonly string[];
  /** Keys whose values are no secrets although they are called so. A declaration weighs more. */
  readonly declassify?: readonly string[];
  /** Keys that no lower level may change; `true`: all. */
  readonly sealed?: boolean | readonly string[];
}

/** Settings of a merge. */
export interface MergeOptions {
  /** What happens when the other side sets a sealed key to another value. Default: `throw`. */
  readonly onConflict?: "throw" | "keep-upper";
}

/** Settings of what shows values. */
export interface RevealOptions {
  /** Whether secrets are shown. Default: `false`; they are `[secret]`. */
  readonly reveal?: boolean;
}

/** A context as data, made by {@link ToolCallContext.toSnapshot}. */
export interface ContextSnapshot {
  readonly version: 1;
  /** Key, value, and what is known of the entry. */
  readonly entries: readonly (readonly [key: string, value: JsonValue, flags: number])[];
}

const MASK = "[secret]";
let empty: ToolCallContext | undefined;
/** Nobody else has it, so that nobody else makes a context of unchecked entries. */
const MADE = {};

/**
 * An immutable bag of values by key, passed to tools beside their input. Nothing in it becomes part of a prompt, a schema, a
 * log or an error by this package, and nothing of it leaves the program unless a policy of `toMcpMeta` says so.
 *
 * Keys have 1 to 256 bytes of UTF-8. Plain objects and arrays are copied and frozen; everything else is kept by reference
 * and never leaves. Values are secrets by declaration, or by the key's name: `authToken`, `api_key`, `sessionId`.
 *
 * Errors: `INVALID_INPUT` with `details.reason` `InvalidContextKey`, `InvalidContextValue` or `ContextTypeError`, and
 * `POLICY_VIOLATION` with `SealedKeyConflict`. None carries a value.
 */
export class ToolCallContext {
  // INVARIANT: keys were checked by the engine and flags are its own, so that nothing that shows a context can fail or
  // has to ask again. The rules for keys have one home, in the core; what it says of a key is remembered here
  // (context-call.ts), so that only the first context with a key asks for it. Values never go along.
  readonly #entries: ReadonlyMap<string, Entry>;

  /** The context without entries; the only one. */
  static get EMPTY(): ToolCallContext {
    return (empty ??= new ToolCallContext(new Map(), MADE));
  }

  private constructor(entries: ReadonlyMap<string, Entry>, made?: typeof MADE) {
    if (made !== MADE) throw new ContextWeaverError("INVALID_INPUT", "ToolCallContext.of makes a context");
    this.#entries = entries;
    // Own, but not enumerable: a computed name in the class would keep bundlers from dropping it.
    Object.defineProperty(this, Symbol.for("nodejs.util.inspect.custom"), { value: this.toString });
    Object.defineProperty(this, Symbol.for("Deno.customInspect"), { value: this.toString });
    Object.freeze(this);
  }

  /**
   * Makes a context of the own properties of an object, of a Map, or of pairs; later duplicates win, `undefined` is left out.
   * Without entries it is {@link ToolCallContext.EMPTY}.
   */
  static of(entries: ContextEntries, options?: ContextOptions): ToolCallContext {
    const { secrets, declassify, sealed, ...rest } = fields(options);
    refuseUnknown(rest, ["secrets", "declassify", "sealed"]);
    const [isDeclared, isDeclassified] = [among(secrets, "secrets"), among(declassify, "declassify")];
    const isSealed = typeof sealed === "boolean" ? (): boolean => sealed : among(sealed, "sealed");
    const known = ToolCallContext.is(entries) ? entries.#entries : made(pairsOf(entries));
    if (options === undefined && ToolCallContext.is(entries)) return entries;
    const marked = new Map<string, Entry>();
    for (const [key, { value, flags }] of known) {
      const more =
        (isDeclared(key) ? DECLARED : 0) | (isDeclassified(key) ? DECLASSIFIED : 0) | (isSealed(key) ? SEALED : 0);
      marked.set(key, { value, flags: flags | more });
    }
    return wrapped(marked);
  }

  /** As {@link ToolCallContext.of}; no lower level may change these keys. */
  static sealed(entries: ContextEntries, options?: Omit<ContextOptions, "sealed">): ToolCallContext {
    return ToolCallContext.of(entries, { ...options, sealed: true });
  }

  /** Reads `a=1,b=2`; values are texts without the white space around them. No place for secrets. */
  static parse(text: string): ToolCallContext {
    if (typeof text !== "string") throw new ContextWeaverError("INVALID_INPUT", "expected a string", { path: "/text" });
    if (text.trim() === "") return ToolCallContext.EMPTY;
    const pairs = text.split(",").map((item, place): [string, string] => {
      const equals = item.indexOf("=");
      // Without the text: it may be the rest of a secret with a comma.
      if (equals < 0)
        throw broken(
          "INVALID_INPUT",
          "InvalidContextText",
          `item ${place + 1} has no \`=\``,
          { place },
          { path: "/text" },
        );
      return [item.slice(0, equals).trim(), item.slice(equals + 1).trim()];
    });
    return ToolCallContext.of(pairs);
  }

  /** Makes a context of a snapshot. */
  static fromSnapshot(snapshot: ContextSnapshot): ToolCallContext {
    const { version, entries } = fields(snapshot);
    if (version !== 1)
      throw new ContextWeaverError("SNAPSHOT_VERSION", "expected a snapshot of version 1", { path: "/version" });
    const pairs: Pair[] = [];
    const flagsOf = new Map<string, number>();
    for (const entry of listOf(entries, "/entries")) {
      const [key, value, flags] = listOf(entry, "/entries") as [unknown, unknown, unknown];
      if (!Number.isInteger(flags))
        throw new ContextWeaverError("INVALID_INPUT", "expected flags", { path: "/entries" });
      pairs.push([key, value]);
      flagsOf.set(key as string, (flags as number) & (DECLARED | DECLASSIFIED | KEPT | SEALED | INBOUND));
    }
    const restored = new Map<string, Entry>();
    for (const [key, { value, flags }] of made(pairs))
      restored.set(key, { value, flags: flags | (flagsOf.get(key) ?? 0) });
    return wrapped(restored);
  }

  /** Whether something is a context; runs no code of a proxy. */
  static is(value: unknown): value is ToolCallContext {
    return typeof value === "object" && value !== null && #entries in value;
  }

  /** @internal */
  static entriesOf(context: ToolCallContext): ReadonlyMap<string, Entry> {
    return context.#entries;
  }

  /** @internal */
  static wrap(entries: ReadonlyMap<string, Entry>): ToolCallContext {
    return entries.size === 0 ? ToolCallContext.EMPTY : new ToolCallContext(entries, MADE);
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether there is no entry. */
  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** The signal to stop, if there is one. */
  get signal(): AbortSignalLike | undefined {
    const signal = this.#entries.get("signal")?.value;
    return isSignal(signal) ? signal : undefined;
  }

  /** Where the entries are from: `mcp` as soon as one was taken from the `_meta` of a client. */
  get origin(): "host" | "mcp" {
    return this.keys().some((key) => this.originOf(key) === "mcp") ? "mcp" : "host";
  }

  /** Where one entry is from. */
  originOf(key: string | AnyContextKey): "host" | "mcp" | undefined {
    const entry = entryAt(this, key);
    return entry && (entry.flags & INBOUND ? "mcp" : "host");
  }

  /** The keys, in the order in which they were first set. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Whether a key was set. */
  has(key: string | AnyContextKey): boolean {
    return entryAt(this, key) !== undefined;
  }

  /** Whether the value of a key is a secret. */
  isSecret(key: string | AnyContextKey): boolean {
    const entry = entryAt(this, key);
    return entry !== undefined && isSecret(entry);
  }

  /** Whether no lower level may change a key. */
  isSealed(key: string | AnyContextKey): boolean {
    return ((entryAt(this, key)?.flags ?? 0) & SEALED) !== 0;
  }

  /** The value of a key, `undefined` when it was not set. A typed key with a validator checks what it reads. */
  get<T>(key: ContextKey<T>): T | undefined;
  get<T = unknown>(key: string): T | undefined;
  get(key: string | AnyContextKey): unknown {
    const value = entryAt(this, key)?.value;
    if (value !== undefined && ContextKey.is(key) && !key.fits(value))
      throw wrongType(key.name, "a valid value", value);
    return value;
  }

  /** The value of a key, or something else when it was not set. */
  getOr<T>(key: ContextKey<T>, fallback: T): T;
  getOr<T>(key: string, fallback: T): T;
  getOr(key: string | AnyContextKey, fallback: unknown): unknown {
    const value = this.get(key as string);
    return value === undefined ? fallback : value;
  }

  /** The text of a key, `undefined` when it was not set. */
  string(key: string | ContextKey<string>): string | undefined {
    return typed(this, key, "string") as string | undefined;
  }

  /** The number of a key, `undefined` when it was not set. */
  number(key: string | ContextKey<number>): number | undefined {
    return typed(this, key, "number") as number | undefined;
  }

  /** The truth value of a key, `undefined` when it was not set. */
  boolean(key: string | ContextKey<boolean>): boolean | undefined {
    return typed(this, key, "boolean") as boolean | undefined;
  }

  /** The value of a key as a schema returns it, or a function finds it right. An absent value is checked, too. */
  parse<T>(key: string | AnyContextKey, schema: StandardSchema<T> | ((value: unknown) => boolean)): T {
    if (typeof schema !== "function" && !isSchema(schema)) {
      throw new ContextWeaverError("INVALID_INPUT", "expected a Standard Schema or a function", { path: "/schema" });
    }
    const value = entryAt(this, key)?.value;
    const parsed = passes(schema as Validate<T>, value);
    if (!parsed) throw wrongType(nameOf(key), "what the schema describes", value);
    return parsed.value;
  }

  /** Adds entries of another context; the other's win, but keep the place of a key. */
  merge(other: ToolCallContext, options?: MergeOptions): ToolCallContext {
    return mergedLevels([this, contextAt(other, "/other")], options);
  }

  /** Adds or replaces a value; `undefined` changes nothing. */
  with<T>(key: ContextKey<T>, value: T): ToolCallContext;
  with(key: string, value: unknown): ToolCallContext;
  with(key: string | AnyContextKey, value: unknown): ToolCallContext {
    return withEntry(this, key, value, 0);
  }

  /** As {@link ToolCallContext.with}; the value is a secret whatever the key is called. */
  withSecret<T>(key: ContextKey<T>, value: T): ToolCallContext;
  withSecret(key: string, value: unknown): ToolCallContext;
  withSecret(key: string | AnyContextKey, value: unknown): ToolCallContext {
    return withEntry(this, key, value, DECLARED);
  }

  /** Leaves keys out. A sealed one cannot be: `SealedKeyConflict`. */
  without(...keys: readonly (string | AnyContextKey)[]): ToolCallContext {
    return this.omit(keys);
  }

  /** Leaves keys out. A sealed one cannot be: `SealedKeyConflict`. */
  omit(keys: Iterable<string | AnyContextKey>): ToolCallContext {
    const names = namesOf(keys);
    for (const name of names) if (this.isSealed(name)) throw sealedConflict(name);
    return filtered(this, (key) => !names.has(key));
  }

  /** Leaves out all but these keys, for who needs no more. */
  pick(keys: Iterable<string | AnyContextKey>): ToolCallContext {
    const names = namesOf(keys);
    return filtered(this, (key) => names.has(key));
  }

  /** Whether another context has the same keys with equal values, in whatever order. */
  equals(other: ToolCallContext): boolean {
    if (!ToolCallContext.is(other) || this.size !== other.size) return false;
    let equal = true;
    for (const [key, entry] of this.#entries) {
      const theirs = other.#entries.get(key);
      // Goes on after a difference, so that time tells nothing of secrets.
      equal = theirs !== undefined && equalEntries(entry, theirs) && equal;
    }
    return equal;
  }

  /** A new Map of the entries. */
  toMap(options?: RevealOptions): ReadonlyMap<string, unknown> {
    return new Map(shown(this, options));
  }

  /** A new object of the entries, without a prototype. */
  toObject(options?: RevealOptions): Record<string, unknown> {
    return record(shown(this, options));
  }

  /** The entries for `JSON.stringify`: secrets are `[secret]`, what is none of JSON is `[local]`. */
  toJSON(): Record<string, unknown> {
    return this.toCloneable();
  }

  /** The entries as data that `structuredClone` and `postMessage` take: what is none of JSON is `[local]`. */
  toCloneable(options?: RevealOptions): Record<string, unknown> {
    return record(
      shown(this, options).map(([key, value]) => [
        key,
        (entryAt(this, key)?.flags ?? 0) & LOCAL && value !== MASK ? "[local]" : value,
      ]),
    );
  }

  /**
   * The entries with all that is known of them, for storing. `POLICY_VIOLATION` with the reason `SecretsInSnapshot` unless
   * `reveal` is set or there is no secret; `INVALID_INPUT` when a value is none of JSON.
   */
  toSnapshot(options?: RevealOptions): ContextSnapshot {
    const { reveal = false } = options ?? {};
    const entries: [string, JsonValue, number][] = [];
    for (const [key, entry] of this.#entries) {
      if (isSecret(entry) && reveal !== true) {
        throw broken(
          "POLICY_VIOLATION",
          "SecretsInSnapshot",
          `the value of ${quoted(key)} is a secret`,
          { key },
          { hint: "set reveal" },
        );
      }
      if (entry.flags & LOCAL) {
        throw broken("INVALID_INPUT", "UnserialisableContextValue", `the value of ${quoted(key)} is not JSON`, { key });
      }
      entries.push([key, entry.value as JsonValue, entry.flags]);
    }
    return { version: 1, entries };
  }

  /** The keys, and which of them are secrets. */
  toString(): string {
    const names = [...this.#entries].map(([key, entry]) => `${plain(key)}${isSecret(entry) ? `=${MASK}` : ""}`);
    return `ToolCallContext(${names.join(", ")})`;
  }
}

// Functions, not private methods: with those the compiler gives the class a second name, and bundlers cannot drop it.

function entryAt(context: ToolCallContext, key: string | AnyContextKey): Entry | undefined {
  return ToolCallContext.entriesOf(context).get(nameOf(key));
}

function typed(context: ToolCallContext, key: string | AnyContextKey, type: string): unknown {
  const value = entryAt(context, key)?.value;
  if (value !== undefined && typeof value !== type) throw wrongType(nameOf(key), type, value);
  return value;
}

function withEntry(
  context: ToolCallContext,
  key: string | AnyContextKey,
  value: unknown,
  more: number,
): ToolCallContext {
  const [one] = made([[key, value]]);
  if (!one) return context;
  const [name, { flags, value: copy }] = one;
  const before = entryAt(context, name);
  // That a name means nothing was said of the key in this context.
  const entry = { value: copy, flags: flags | more | ((before?.flags ?? 0) & DECLASSIFIED) };
  const changes = !before || (entry.flags & ~before.flags) !== 0 || !equalEntries(before, entry);
  return changes ? mergedLevels([context, wrapped(new Map([[name, entry]]))]) : context;
}

/** The names of keys. A text is iterable, too, but its letters are no keys. */
function namesOf(keys: Iterable<string | AnyContextKey>): ReadonlySet<string> {
  if (typeof keys !== "object" || keys === null || typeof keys[Symbol.iterator] !== "function") {
    throw new ContextWeaverError("INVALID_INPUT", "expected keys in an array or a Set", {
      path: "/keys",
      hint: "one key alone: [key]",
    });
  }
  return new Set([...keys].map(nameOf));
}

function filtered(context: ToolCallContext, keeps: (key: string) => boolean): ToolCallContext {
  const left = new Map([...ToolCallContext.entriesOf(context)].filter(([key]) => keeps(key)));
  return left.size === context.size ? context : wrapped(left);
}

function shown(context: ToolCallContext, options: RevealOptions | undefined): [string, unknown][] {
  const { reveal = false } = options ?? {};
  const entries = [...ToolCallContext.entriesOf(context)];
  return entries.map(([key, entry]) => [key, isSecret(entry) && reveal !== true ? MASK : entry.value]);
}

const wrapped = (entries: ReadonlyMap<string, Entry>): ToolCallContext => ToolCallContext.wrap(entries);

/**
 * Merges the levels of a call, each beside what is above it: the process (tenant, correlation), the interaction, the single
 * call. Later values win; an absent level has no entries; with none it is {@link ToolCallContext.EMPTY}. To be computed
 * once, before the tool loop starts. `POLICY_VIOLATION` with the reason `SealedKeyConflict` when a level changes a sealed key.
 */
export function effectiveContext(
  process?: ToolCallContext,
  interaction?: ToolCallContext,
  call?: ToolCallContext,
  options?: MergeOptions,
): ToolCallContext {
  const levels = Object.entries({ process, interaction, call }).map(([name, level]) => contextAt(level, `/${name}`));
  return mergedLevels(levels, options);
}

function mergedLevels(levels: readonly ToolCallContext[], options?: MergeOptions): ToolCallContext {
  const { onConflict, ...rest } = fields(options);
  refuseUnknown(rest, ["onConflict"]);
  const given = levels.filter((level) => !level.isEmpty);
  const [first, ...others] = given;
  if (!first || others.length === 0) return first ?? ToolCallContext.EMPTY;
  const repeated: [string, Entry][] = [];
  const sent = given.map((level, place) =>
    [...ToolCallContext.entriesOf(level)].filter(([key, entry]) => {
      const repeats = isRepeated(given.slice(0, place), key, entry);
      if (repeats) repeated.push([key, entry]);
      return !repeats;
    }),
  );
  const flagged = sent.map((entries) => entries.map(([key, { flags }]) => [key, flags]));
  const { entries } = callContext<{ entries: [number, number, number][] }>("context_merge", {
    levels: flagged,
    onConflict,
  });
  const merged = new Map<string, Entry>();
  for (const [level, place, flags] of entries) {
    const found = sent[level]?.[place];
    if (found) merged.set(found[0], { value: found[1].value, flags });
  }
  for (const [key, { flags }] of repeated) {
    const entry = merged.get(key);
    if (entry) merged.set(key, { value: entry.value, flags: entry.flags | (flags & (DECLARED | KEPT)) });
  }
  return wrapped(merged);
}

/** Setting a sealed key to the value that it has is no conflict. */
function isRepeated(upper: readonly ToolCallContext[], key: string, entry: Entry): boolean {
  const sealing = upper
    .map((level) => ToolCallContext.entriesOf(level).get(key))
    .find((above) => above && above.flags & SEALED);
  return sealing !== undefined && equalEntries(sealing, entry);
}

/** An absent context is an empty one; anything else that is none is refused. @internal */
export function contextAt(value: unknown, path: string): ToolCallContext {
  if (value === undefined) return ToolCallContext.EMPTY;
  if (ToolCallContext.is(value)) return value;
  throw new ContextWeaverError("INVALID_INPUT", "expected a ToolCallContext", {
    path,
    hint: "ToolCallContext.of makes one",
  });
}

/** @internal */
export function isSecret({ flags }: Entry): boolean {
  return (flags & DECLARED) !== 0 || (flags & (NAMED | DECLASSIFIED)) === NAMED;
}

/** Whether `changed` sets a sealed key of `before` to another value. @internal */
export function breaksSeal(before: ToolCallContext, changed: ToolCallContext): string | undefined {
  for (const [key, entry] of ToolCallContext.entriesOf(before)) {
    const other = entry.flags & SEALED ? ToolCallContext.entriesOf(changed).get(key) : undefined;
    if (other && !equalEntries(entry, other)) return key;
  }
  return undefined;
}

/** @internal */
export function sealedConflict(key: string): ContextWeaverError {
  return broken("POLICY_VIOLATION", "SealedKeyConflict", `the key ${quoted(key)} is sealed`, { key });
}

/** Entries that stay in this program whatever a policy says. @internal */
export function localOnly(entries: Iterable<readonly [string, unknown]>): ToolCallContext {
  const kept = new Map<string, Entry>();
  for (const [key, { value, flags }] of made([...entries])) kept.set(key, { value, flags: flags | KEPT | LOCAL });
  return wrapped(kept);
}

/** Other values, with what was declared of the same keys before. @internal */
export function kept(before: ToolCallContext, values: ToolCallContext): ToolCallContext {
  const entries = new Map<string, Entry>();
  for (const [key, { value, flags }] of ToolCallContext.entriesOf(values)) {
    const lasting = (ToolCallContext.entriesOf(before).get(key)?.flags ?? 0) & (DECLARED | KEPT);
    entries.set(key, { value, flags: flags | lasting });
  }
  return wrapped(entries);
}

/** Entries that a client sent. @internal */
export function inboundContext(pairs: readonly Pair[]): ToolCallContext {
  const tagged = new Map<string, Entry>();
  for (const [key, { value, flags }] of made(pairs)) tagged.set(key, { value, flags: flags | INBOUND });
  return wrapped(tagged);
}

function equalEntries(a: Entry, b: Entry): boolean {
  const isTimed = (isSecret(a) || isSecret(b)) && !((a.flags | b.flags) & LOCAL);
  return isTimed ? sameSecret(a.value, b.value) : same(a.value, b.value);
}

type Pair = readonly [key: unknown, value: unknown];

function pairsOf(entries: unknown): Pair[] {
  try {
    if (typeof entries === "object" && entries !== null) {
      if (Symbol.iterator in entries) {
        const pairs: Pair[] = [];
        for (const pair of entries as Iterable<unknown>) {
          if (!Array.isArray(pair)) throw new TypeError("no pair");
          if (pairs.length >= MAX_ITEMS) throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_ITEMS} entries`);
          pairs.push([pair[0], pair[1]]);
        }
        return pairs;
      }
      // The guard reads each property once, leaves out what is undefined, and refuses instances of classes.
      return Object.entries(fields(entries));
    }
  } catch (error) {
    // What a getter or a proxy throws may quote what it guards.
    if (ContextWeaverError.is(error)) throw new ContextWeaverError(error.code, error.message, { path: error.path });
  }
  throw new ContextWeaverError("INVALID_INPUT", "expected an object, a Map or pairs of key and value");
}

/** Checks keys and copies values. */
function made(pairs: readonly Pair[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const given = pairs.filter(([, value]) => value !== undefined);
  const named = secretNames(given.map(([key]) => (ContextKey.is(key) ? key.name : key)));
  given.forEach(([key, value], place) => {
    const name = ContextKey.is(key) ? key.name : (key as string);
    if (value === null) throw invalidValue(name, `the value of ${quoted(name)} is null`, "leave the key out");
    // A signal changes, which is what it is for.
    const copy = name === "signal" && isSignal(value) ? { value, isLocal: true } : copied(value, name);
    let flags = (named[place] ? NAMED : 0) | (copy.isLocal ? LOCAL : 0);
    // A signal is for this program; a policy that lets everything through does not mean it.
    if (name === "signal" && copy.isLocal) flags |= KEPT;
    if (ContextKey.is(key)) {
      if (!key.fits(copy.value)) throw invalidValue(name, `the value of ${quoted(name)} is not what the key demands`);
      if (key.secret !== undefined) flags |= key.secret ? DECLARED : DECLASSIFIED;
      if (key.forward === false) flags |= KEPT;
    }
    entries.set(name, { value: copy.value, flags });
  });
  return entries;
}

function invalidValue(key: string, message: string, hint?: string): ContextWeaverError {
  return broken(
    "INVALID_INPUT",
    "InvalidContextValue",
    message,
    { key },
    { path: `/${token(key)}`, ...(hint && { hint }) },
  );
}

function wrongType(key: string, expected: string, value: unknown): ContextWeaverError {
  const actual = value === undefined ? "absent" : Array.isArray(value) ? "array" : typeof value;
  const message = `expected ${expected} for ${quoted(key)}, got ${actual}`;
  return broken("INVALID_INPUT", "ContextTypeError", message, { key, expected, actualType: actual });
}

const nameOf = (key: string | AnyContextKey): string => (ContextKey.is(key) ? key.name : (key as string));

/** A key in a list of keys; one that could break out of it is quoted. */
function plain(key: string): string {
  return /^[\p{L}\p{N}_./:@-]+$/u.test(key)
    ? key
    : JSON.stringify(isWellFormed(key) ? key : "").replace(/[\p{Cf}\u2028\u2029]/gu, "\ufffd");
}

function record(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  // Without a prototype there is no setter for `__proto__`.
  const result = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of pairs) result[key] = value;
  return result;
}

function listOf(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new ContextWeaverError("INVALID_INPUT", "expected an array", { path });
  return [...(value as unknown[])];
}

function among(keys: unknown, name: string): (key: string) => boolean {
  if (keys === undefined) return () => false;
  const known = new Set(listOf(keys, `/${name}`).map((key) => nameOf(key as string)));
  return (key) => known.has(key);
}
