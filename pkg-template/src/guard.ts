// Turns the caller's values into JSON text, and refuses what JSON cannot carry, before anything reaches the engine.
//
// INVARIANT: every property is read exactly once, and what was read is checked and written at once. Getters and proxies
// can therefore not show one value to the check and another to the engine. The text is written as bytes: a copy of plain
// data for JSON.stringify takes twice the time, pieces of text three times.
//
// What tools, servers and models send is repaired instead of refused, see repairs.ts, and a toJSON of theirs is called as
// JSON.stringify would; of what the caller hands over as options none is.
import { decodeBase64, encodeBase64 } from "./base64.js";
import { ContextWeaverError } from "./errors.js";
import { exactDigits } from "./exact-numbers.js";
import type { ErrorCode } from "./errors.js";
import { nearest } from "./nearest.js";
import { CIRCULAR, HALF, Repairs, UNREADABLE, standIn, wellFormed } from "./repairs.js";
import type { Repair } from "./repairs.js";

const MIB = 1024 * 1024;

/** Bounds of one argument. @internal */
export interface Limits {
  /** Levels of nesting below the argument itself. */
  readonly depth: number;
  /** Values visited; a shared object counts each time it is reached. */
  readonly nodes: number;
  /** UTF-16 units of one string; the engine checks UTF-8 bytes. */
  readonly string: number;
  /** Bytes of the JSON text. */
  readonly total: number;
  /** Fields of the argument that are repaired, see {@link Reading}: what tools, servers and models send. Default: none. */
  readonly repaired?: readonly string[];
  /** UTF-16 units of a repaired text that is no base64, and of which more is cut. */
  readonly prose?: number;
  /** Whether texts that stand for numbers are written as those, see exact-numbers.ts. */
  readonly exact?: boolean;
}

/** Bounds of ordinary arguments, as in the engine. @internal */
export const INPUT: Limits = { depth: 64, nodes: 2 ** 20, string: 8 * MIB, total: 32 * MIB };

/** Bounds of a snapshot, which holds whole stores, artifacts as base64. @internal */
export const SNAPSHOT: Limits = { depth: 68, nodes: 2 ** 23, string: 24 * MIB, total: 256 * MIB };

/**
 * Bounds of messages, and what their SDKs allow in them beside JSON: a `Date` is written as JSON.stringify does, a `URL` as its
 * address, a `Uint8Array` (a `Buffer` is one) and an `ArrayBuffer` as base64. The engine puts eight levels around a message.
 * @internal
 */
export const MESSAGES: Limits = { ...SNAPSHOT, depth: 56, repaired: ["messages", "system"], prose: 8 * MIB };

/** Bounds of an MCP result, whose images are base64. Its fields are a level below the argument. @internal */
export const MCP_RESULT: Limits = { depth: 65, nodes: 2 ** 20, string: 24 * MIB, total: 48 * MIB, repaired: ["result"], prose: 16 * MIB, exact: true };

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
  const writer = new Writer(path, limits);
  writer.value(value);
  return writer.text("the input is", path);
}

/** JSON text, and what was repaired of the value to write it. @internal */
export interface Reading {
  readonly json: string;
  readonly repairs: readonly Repair[];
}

/**
 * Writes an argument of which some fields come from tools, servers or models: of those, what is none of JSON is repaired. The others
 * are the caller's, and checked as by {@link encode}. @internal
 */
export function readArgument(value: object, limits: Limits): Reading {
  const writer = new Writer("", limits);
  writer.value(value);
  return { json: writer.text("the input is", ""), repairs: writer.repairs.list() };
}

/** Writes a value that comes from a tool, a server or a model, repaired where need be. @internal */
export function readValue(value: unknown, path: string, limits: Limits = INPUT): Reading {
  const writer = new Writer(path, { prose: limits.string, ...limits, repaired: [] }, undefined, true);
  writer.sent(value);
  return { json: writer.text("the input is", path), repairs: writer.repairs.list() };
}

/** Bytes that cross beside the JSON, and where their base64 stood. @internal */
export interface Attached {
  readonly places: string[];
  readonly bytes: Uint8Array<ArrayBuffer>[];
  /** Bytes that were cut off, by the place of the text or the base64. */
  readonly cut: Record<string, number>;
}

/**
 * Writes the result of an MCP tool with more fields. Long base64 of images and the like is taken out of it, decoded: an
 * empty text stands there, and a field `attached` says where. What is longer than the engine keeps is cut off: a field `cut` says
 * where, and how many bytes. @internal
 */
export function encodeResult(result: unknown, more: Record<string, unknown>): Reading & { readonly bytes: readonly Uint8Array[] } {
  const attached: Attached = { places: [], bytes: [], cut: Object.create(null) as Record<string, number> };
  const writer = new Writer("", MCP_RESULT, attached);
  writer.value({ result, ...more });
  const json = writer.text("the input is", "");
  const { places, bytes, cut } = attached;
  const beside = { ...(places.length > 0 && { attached: places }), ...(Object.keys(cut).length > 0 && { cut }) };
  const all = Object.keys(beside).length === 0 ? json : `${json.slice(0, -1)},${JSON.stringify(beside).slice(1)}`;
  return { json: all, bytes, repairs: writer.repairs.list() };
}

/** Writes a sequence as a JSON array; stops an endless one. @internal */
export function encodeAll(items: unknown, path: string, limits: Limits = INPUT): string {
  const writer = new Writer(path, limits);
  const count = writeAll(writer, items, path);
  return writer.text("the items together are", `${path}/${count - 1}`);
}

/**
 * Writes a sequence and more fields as a record, `{"<name>":[…]<rest>}`, in bytes: megabytes of tools need not become a
 * string on their way. @internal
 */
export function recordOfAll(name: string, items: unknown, rest: string, limits: Limits): Uint8Array {
  const path = `/${name}`;
  const writer = new Writer(path, limits);
  writer.plain(`{"${name}":`);
  const count = writeAll(writer, items, path);
  writer.raw(`${rest}}`);
  // A copy: twice the bytes may have been set aside, and these are kept.
  return writer.taken("the items together are", `${path}/${count - 1}`).slice();
}

/** Writes the items of a sequence and returns how many there were. */
function writeAll(writer: Writer, items: unknown, path: string): number {
  let index = 0;
  if (items === null || items === undefined) refuse("INVALID_INPUT", "expected an iterable", path);
  writer.mark(OPEN_LIST);
  try {
    for (const item of items as Iterable<unknown>) {
      if (index >= MAX_ITEMS) refuse("QUOTA_EXCEEDED", `more than ${MAX_ITEMS} items in one call`, `${path}/${index}`);
      if (index > 0) writer.mark(COMMA);
      writer.item(item, index);
      index += 1;
    }
  } catch (cause) {
    if (cause instanceof ContextWeaverError) throw cause;
    refuse("INVALID_INPUT", "the items could not be iterated", `${path}/${index}`, cause);
  }
  writer.mark(CLOSE_LIST);
  return index;
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

/** Copies an array, each place read once; of anything else, nothing. @internal */
export function listed(value: unknown, path: string): unknown[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { keys, length } = inspect(value, path);
  if (keys) return undefined;
  // Also refuses the length of a lying proxy: NaN, Infinity, a fraction.
  if (!Number.isInteger(length) || length > MAX_ITEMS) refuse("TOO_LARGE", `more than ${MAX_ITEMS} values`, path);
  return Array.from({ length }, (_, place) => read(value, place, `${path}/${place}`));
}

/** Encodes JSON text that was checked before. @internal */
export function utf8(json: string): Uint8Array {
  return encoder.encode(json);
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
    return encoder.encode(value);
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

/** Copies the output of a tool as {@link rawBytes} does, with halves of surrogate pairs repaired. @internal */
export function rawOutput(value: unknown, path: string): { readonly bytes: Uint8Array; readonly repairs: readonly Repair[] } {
  if (typeof value !== "string" || isWellFormed(value)) return { bytes: rawBytes(value, path), repairs: [] };
  return { bytes: rawBytes(wellFormed(value), path), repairs: [{ code: "TEXT_REPAIRED", message: HALF, path }] };
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

/** Where a result has base64. */
const MEDIA = /^result\/content\/\d+\/(data|resource\/blob)$/;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a] as const;
const [OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_RECORD, CLOSE_RECORD] = [0x5b, 0x5c, 0x5d, 0x7b, 0x7d] as const;

/** Bytes of the JSON of a result that are left for its structure when its texts are cut. */
const RESERVE = 2 * MIB;

/** UTF-16 units from which on the runtime's own functions are faster than a loop over them. */
const LONG = 256;
/** UTF-16 units up to which a text that is repaired is surely not too long. */
const LONG_TEXT = 2 ** 16;
/** Values of one list that are kept of what is repaired. */
const MAX_LIST = 2 ** 20;
/** Bytes that are kept free for brackets and for what is said of a text that was cut. */
const MARGIN = 64 * 1024;
/** What begins as base64 or as an address with data is no text. */
const IS_MEDIA = /^(data:[\w.+/-]{1,80}[;,]|[A-Za-z0-9+/_-]{512})/;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/** Writes data as JSON, level by level; the limit of the depth is also one of the runtime's stack. */
class Writer {
  private bytes = new Uint8Array(512);
  private length = 0;
  /** Values seen, of the present item. */
  private nodes = 0;
  /** The containers around the present value, from the outermost, and where in each it stands. */
  private readonly open: object[] = [];
  private readonly places: (string | number)[] = [];
  private depth = 0;
  private readonly base: string;
  private index: number | undefined;
  private readonly limits: Limits;
  private readonly attached: Attached | undefined;
  /** UTF-16 units that were taken out. */
  private outside = 0;
  readonly repairs = new Repairs();
  /** Whether the present value is repaired where it is none of JSON. */
  private isRepaired: boolean;
  private isFull = false;

  /** `attached` receives the base64 of a result, which is the field `result` of what is written. */
  constructor(base: string, limits: Limits, attached?: Attached, isRepaired = false) {
    this.base = base;
    this.limits = limits;
    this.attached = attached;
    this.isRepaired = isRepaired;
  }

  /** Returns what was written; `what` and `path` are for the message when it is too much. */
  text(what: string, path: string): string {
    return decoder.decode(this.taken(what, path));
  }

  /** As {@link Writer.text}, in bytes. */
  taken(what: string, path: string): Uint8Array {
    if (this.length + this.outside > this.limits.total) tooLarge(what, this.limits.total, path);
    return this.bytes.subarray(0, this.length);
  }

  /** Writes one item of a list; each may have as many values as a whole argument. */
  item(item: unknown, index: number): void {
    this.index = index;
    this.nodes = 0;
    this.value(item);
    if (this.length > this.limits.total) tooLarge("the items together are", this.limits.total, this.path());
  }

  /** Writes a value that is repaired, as it says itself. */
  sent(value: unknown): void {
    this.value(this.said(value, ""));
  }

  value(value: unknown): void {
    this.nodes += 1;
    if (this.nodes > this.limits.nodes && !this.isRepaired) this.fail("TOO_LARGE", `more than ${this.limits.nodes} values`);
    switch (typeof value) {
      case "string":
        return this.string(value, "string");
      case "number":
        if (Number.isFinite(value)) return this.plain(`${value}`);
        if (!this.isRepaired) this.fail("INVALID_INPUT", `expected a finite number, got ${value}`);
        this.repair("VALUE_REPAIRED", `${value} is null`);
        return this.plain("null");
      case "boolean":
        return this.plain(`${value}`);
      case "object":
        return value === null ? this.plain("null") : this.container(value);
      default:
        if (!this.isRepaired) this.fail("INVALID_INPUT", `expected data, got ${nameOf(value)}`);
        if (typeof value === "bigint") return this.stand(`${value}`, "VALUE_REPAIRED", "a BigInt is text");
        this.repair("VALUE_REPAIRED", `${value === undefined ? "undefined" : `a ${typeof value}`} is null`);
        return this.plain("null");
    }
  }

  private container(source: object): void {
    const { open, depth, limits, isRepaired } = this;
    for (let level = 0; level < depth; level += 1) {
      if (open[level] !== source) continue;
      if (isRepaired) return this.stand(CIRCULAR, "VALUE_REPAIRED", "the value contains itself");
      this.fail("CYCLE", "the value contains itself");
    }
    if (depth > limits.depth) {
      const message = `nested deeper than ${limits.depth} levels`;
      if (isRepaired) return this.stand(`[${message}]`, "VALUE_CUT", message);
      this.fail("TOO_DEEP", message);
    }
    if (isRepaired) return this.repaired(source);
    const { keys, length } = inspect(source, this.path);
    // Also refuses the length of a lying proxy: NaN, Infinity, a fraction.
    if (!Number.isInteger(length) || length > limits.nodes - this.nodes) {
      this.fail("TOO_LARGE", `more than ${limits.nodes} values`);
    }
    this.within(source, keys, length);
  }

  /** Writes what is in an object; `read` is where its fields are read, where another stands for it. */
  private within(source: object, keys: readonly string[] | undefined, length: number, read = source): void {
    const { depth } = this;
    this.open[depth] = source;
    this.depth = depth + 1;
    if (keys) this.record(read, keys);
    else this.list(read, length);
    this.depth = depth;
  }

  /** Writes an object of a tool, a server or a model, whatever it is. */
  private repaired(source: object): void {
    const isPlainData = isData(source);
    if (!isPlainData && this.object(source)) return;
    const other = isPlainData ? source : standInOf(source);
    if (other !== source) {
      this.repair("VALUE_REPAIRED", `${nameOf(source)} is written as ${typeof other === "object" ? "its name, message and fields" : "what it holds"}`);
      return typeof other === "object" && other !== null ? this.within(source, keysOf(other), 0, other) : this.value(other);
    }
    if (ArrayBuffer.isView(source) && kindOfView(source) !== undefined && byteLength(source) > MAX_LIST) {
      return this.stand(`[${byteLength(source)} bytes]`, "VALUE_CUT", `${nameOf(source)} is left out: it is too large`);
    }
    const length = lengthOf(source);
    const keys = length === undefined ? keysOf(source) : undefined;
    if (length === undefined && keys === undefined) return this.stand(UNREADABLE, "VALUE_REPAIRED", "the object cannot be read");
    if (!isPlainData) this.repair("VALUE_REPAIRED", `${nameOf(source)} is written as its own fields, as JSON.stringify does`);
    const most = Math.min(MAX_LIST, this.limits.nodes - this.nodes, length === undefined ? 0 : filled(source, length));
    if (length !== undefined && length > most) this.repair("VALUE_CUT", `of ${length} values the first ${most} are kept`);
    this.within(source, keys, Math.min(length ?? 0, most));
  }

  /** Writes a date, an address or bytes as text; tells whether it was one of them. */
  private object(source: object): boolean {
    let text = timeOf(source);
    if (text === undefined) text = addressOf(source);
    if (text !== undefined) {
      if (text === null) this.plain("null");
      else this.string(text, "string");
      return true;
    }
    const bytes = bytesOf(source);
    if (bytes === UNREADABLE) this.stand(UNREADABLE, "VALUE_REPAIRED", "the bytes cannot be read; was the buffer transferred?");
    if (typeof bytes !== "object") return bytes !== undefined;
    // Four characters for three bytes.
    if (bytes.length > (this.limits.string / 4) * 3 || this.room() < bytes.length * 2) {
      this.stand(`[${bytes.length} bytes]`, "VALUE_CUT", `${bytes.length} bytes are left out: there is no room for them`);
      return true;
    }
    this.mark(QUOTE);
    const base64 = encodeBase64(bytes);
    this.reserve(base64.length);
    this.length += encoder.encodeInto(base64, this.bytes.subarray(this.length)).written;
    this.mark(QUOTE);
    return true;
  }

  private record(source: object, keys: readonly string[]): void {
    const level = this.depth - 1;
    let isFirst = true;
    this.mark(OPEN_RECORD);
    const { repaired } = this.limits;
    for (const key of keys) {
      this.places[level] = key;
      if (level === 0 && repaired?.length) this.isRepaired = repaired.includes(key);
      if (this.isRepaired && this.fills()) break;
      const value = this.read(source, key);
      // An absent option is a missing key; in an array every place counts.
      if (value === undefined || (this.isRepaired && this.isNothing(value))) continue;
      if (!isFirst) this.mark(COMMA);
      isFirst = false;
      this.string(key, "key");
      this.mark(COLON);
      this.value(value);
    }
    this.mark(CLOSE_RECORD);
  }

  private list(source: object, length: number): void {
    const level = this.depth - 1;
    this.mark(OPEN_LIST);
    for (let place = 0; place < length; place += 1) {
      this.places[level] = place;
      if (this.isRepaired && this.fills()) break;
      if (place > 0) this.mark(COMMA);
      this.value(this.read(source, place));
    }
    this.mark(CLOSE_LIST);
  }

  private read(source: object, key: string | number): unknown {
    if (!this.isRepaired) return read(source, key, this.path);
    let value: unknown;
    try {
      value = (source as Record<string | number, unknown>)[key];
    } catch {
      this.repair("VALUE_REPAIRED", "reading the property failed");
      return UNREADABLE;
    }
    return this.said(value, key);
  }

  /** Asks an object what is to be written of it, as JSON.stringify does; dates, addresses and bytes are known. */
  private said(value: unknown, key: string | number): unknown {
    if (typeof value !== "object" || value === null) return value;
    try {
      const { toJSON } = value as { readonly toJSON?: unknown };
      if (typeof toJSON !== "function" || timeOf(value) !== undefined || addressOf(value) !== undefined || isBytes(value)) return value;
      const said: unknown = toJSON.call(value, `${key}`);
      this.repair("VALUE_REPAIRED", `${nameOf(value)} is written as its toJSON says`);
      return said;
    } catch {
      this.repair("VALUE_REPAIRED", "the object cannot be read");
      return UNREADABLE;
    }
  }

  /** Tells whether a field is left out, as JSON.stringify leaves it out. */
  private isNothing(value: unknown): boolean {
    if (typeof value !== "function" && typeof value !== "symbol") return false;
    this.repair("VALUE_REPAIRED", `a ${typeof value} is left out`);
    return true;
  }

  /** Tells whether there is no room for more of what is repaired. */
  private fills(): boolean {
    if (this.nodes < this.limits.nodes && this.room() > 0) return false;
    if (!this.isFull) this.repair("VALUE_CUT", "this and what comes behind it is left out: the value is too large");
    this.isFull = true;
    return true;
  }

  /** Bytes that are left, without those for brackets. */
  private room(): number {
    return this.limits.total - MARGIN - this.length - this.outside;
  }

  private repair(code: Repair["code"], message: string): void {
    this.repairs.note(code, message, this.path);
  }

  /** Writes a text in the place of a value. */
  private stand(text: string, code: Repair["code"], message: string): void {
    this.repair(code, message);
    this.string(text, "string");
  }

  /** Cuts a text that is repaired off where it is too long. */
  private shortened(text: string): string {
    const { string, prose = string } = this.limits;
    const most = Math.min(IS_MEDIA.test(text) ? string : prose, Math.max(0, this.room()));
    if (text.length * 3 <= most) return text;
    const bytes = encoder.encode(text);
    if (bytes.length <= most) return text;
    if (IS_MEDIA.test(text)) {
      // A part of a picture is none.
      this.repair("VALUE_CUT", `base64 of ${text.length} characters is left out: there is no room for it`);
      return "";
    }
    const kept = decoder.decode(bytes.subarray(0, Math.max(0, most - MARGIN))).replace(/\ufffd+$/, "");
    this.repair("VALUE_CUT", `of a text of ${bytes.length} bytes the last ${bytes.length - encoder.encode(kept).length} are left out`);
    return `${kept}\n[the last ${text.length - kept.length} characters are left out]`;
  }

  private string(given: string, what: string): void {
    if (this.limits.exact && this.isRepaired) {
      const digits = exactDigits(given);
      if (digits !== undefined) return this.plain(digits);
    }
    // Of what is beside the JSON, the engine says how much there was.
    const text = this.isRepaired && !this.attached && given.length > LONG_TEXT ? this.shortened(given) : given;
    const { length } = text;
    if (this.attached && what === "string" && this.isLarge(length) && length > this.roomOfResult()) return this.cut(text);
    if (length > this.limits.string) tooLarge(`the ${what} is`, this.limits.string, this.path());
    if (length > LONG) return this.attach(text) ? this.plain('""') : this.long(text);
    this.reserve(length + 2);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let place = 0; place < length; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return this.difficult(text);
      bytes[at++] = unit;
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** Whether a text may be more than there is room for. */
  private isLarge(length: number): boolean {
    return length > LONG && (length > MAX_ARTIFACT || this.length + this.outside + length > this.limits.total - RESERVE);
  }

  /** UTF-16 units that a text or base64 of a result may have here. */
  private roomOfResult(): number {
    const { depth, limits } = this;
    const left = Math.max(0, limits.total - RESERVE - this.length - this.outside);
    return Math.min(left, this.isMedia(depth) ? limits.string : MAX_ARTIFACT);
  }

  /** Writes as much of a text as the engine keeps, of base64 nothing. */
  private cut(text: string): void {
    const place = this.path().slice("/result".length);
    const cut = this.attached?.cut ?? {};
    if (this.isMedia(this.depth)) {
      cut[place] = Math.floor((text.length / 4) * 3);
      return this.plain('""');
    }
    const room = this.roomOfResult();
    // Not within a pair of surrogates.
    const end = room > 0 && (text.charCodeAt(room - 1) & 0xfc00) === 0xd800 ? room - 1 : room;
    cut[place] = encoder.encode(text.slice(end)).length;
    this.long(text.slice(0, end));
  }

  /** Whether a result has base64 here. */
  private isMedia(depth: number): boolean {
    return depth >= 4 && depth <= 5 && MEDIA.test(this.places.slice(0, depth).join("/"));
  }

  /** Takes base64 out where a result has it: `/result/content/0/data`, `/result/content/0/resource/blob`. */
  private attach(text: string): boolean {
    const { attached, depth } = this;
    if (!attached || !this.isMedia(depth)) return false;
    const bytes = decodeBase64(text);
    if (!bytes) return false;
    attached.places.push(this.path().slice("/result".length));
    attached.bytes.push(bytes);
    this.outside += text.length;
    if (this.length + this.outside > this.limits.total) tooLarge("the input is", this.limits.total, this.path());
    return true;
  }

  private long(text: string): void {
    this.raw(JSON.stringify(this.whole(text)));
  }

  /** Returns a text without halves of surrogate pairs. */
  private whole(text: string): string {
    if (!this.isRepaired || isWellFormed(text)) {
      checkWellFormed(text, this.path);
      return text;
    }
    this.repair("TEXT_REPAIRED", HALF);
    return wellFormed(text);
  }

  /** Writes a short string with characters that are escaped or have several bytes. */
  private difficult(given: string): void {
    const text = this.whole(given);
    this.reserve(text.length * 6 + 2);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let place = 0; place < text.length; place += 1) {
      const unit = text.charCodeAt(place);
      if (unit === QUOTE || unit === BACKSLASH) {
        bytes[at++] = BACKSLASH;
        bytes[at++] = unit;
      } else if (unit < 0x20) {
        for (const mark of JSON.stringify(text[place]).slice(1, -1)) bytes[at++] = mark.charCodeAt(0);
      } else if (unit < 0x80) {
        bytes[at++] = unit;
      } else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6);
        bytes[at++] = 0x80 | (unit & 0x3f);
      } else {
        let point = unit;
        if (unit >= 0xd800 && unit <= 0xdfff) {
          place += 1;
          point = 0x10000 + ((unit - 0xd800) << 10) + text.charCodeAt(place) - 0xdc00;
          bytes[at++] = 0xf0 | (point >> 18);
          bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
        } else bytes[at++] = 0xe0 | (point >> 12);
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[at++] = 0x80 | (point & 0x3f);
      }
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** Writes JSON that was checked before. */
  raw(json: string): void {
    this.reserve(json.length * 3);
    this.length += encoder.encodeInto(json, this.bytes.subarray(this.length)).written;
  }

  /** Writes ASCII as it is. */
  plain(text: string): void {
    this.reserve(text.length);
    for (let place = 0; place < text.length; place += 1) this.bytes[this.length++] = text.charCodeAt(place);
  }

  mark(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  private reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    if (this.length + this.outside > this.limits.total) tooLarge("the input is", this.limits.total, this.path());
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  private fail(code: ErrorCode, message: string): never {
    refuse(code, message, this.path);
  }

  private readonly path = (): string => {
    const parts = this.places.slice(0, this.depth).map((place) => `/${token(`${place}`)}`);
    return `${this.base}${this.index === undefined ? "" : `/${this.index}`}${parts.join("")}`;
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

/** Tells whether an object is plain, of whatever realm. @internal */
export function isPlain(source: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype === null || prototype === Object.prototype) return true;
  // Object.prototype of another realm (an iframe, a vm context); a class has one more link.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

/** Tells whether an object is one that {@link inspect} takes; of a proxy that throws it says why. */
function isData(source: object): boolean {
  try {
    return Array.isArray(source) || isPlain(source);
  } catch {
    return true;
  }
}

/** The date as JSON shows it, null of one that is none; nothing of another object. Only a date of any realm has a time. */
function timeOf(source: object): string | null | undefined {
  try {
    const time = Date.prototype.getTime.call(source);
    return Number.isNaN(time) ? null : new Date(time).toISOString();
  } catch {
    return undefined;
  }
}

const hrefOf = getterOf(globalThis.URL?.prototype as object | undefined, "href");

/** The address of a `URL`; nothing of another object. */
function addressOf(source: object): string | undefined {
  try {
    return hrefOf?.call(source) as string | undefined;
  } catch {
    return undefined;
  }
}

const bufferBytes = getterOf(ArrayBuffer.prototype, "byteLength");

/** Whether an object is a `Uint8Array` or an `ArrayBuffer`. */
function isBytes(source: object): boolean {
  if (ArrayBuffer.isView(source)) return kindOfView(source) === "Uint8Array";
  try {
    bufferBytes?.call(source);
    return true;
  } catch {
    return false;
  }
}

/** The bytes of a `Uint8Array` or an `ArrayBuffer`; nothing of another object. */
function bytesOf(source: object): Uint8Array<ArrayBuffer> | typeof UNREADABLE | undefined {
  if (!isBytes(source)) return undefined;
  try {
    // Neither an iterator nor a species constructor of the caller: only the bytes count.
    return new Uint8Array(source as Uint8Array);
  } catch {
    return UNREADABLE;
  }
}

/** What stands for an object that is no plain one; itself where that cannot be found out. */
function standInOf(source: object): unknown {
  try {
    return standIn(source);
  } catch {
    return source;
  }
}

/** The length of an array; nothing of another object, or of an array that lies. */
function lengthOf(source: object): number | undefined {
  try {
    const length: unknown = Array.isArray(source) ? source.length : undefined;
    return Number.isInteger(length) && (length as number) >= 0 ? (length as number) : undefined;
  } catch {
    return undefined;
  }
}

/** The length of a long array without the holes at its end: a sparse one can say that it has four billion. */
function filled(source: object, length: number): number {
  try {
    if (length <= MAX_ITEMS || length - 1 in source) return length;
    const last = Object.keys(source).reverse().find((key) => /^\d+$/.test(key));
    return Number(last ?? -1) + 1;
  } catch {
    return length;
  }
}

/** The keys of an object; nothing of one that throws. */
function keysOf(source: object): readonly string[] | undefined {
  try {
    return Array.isArray(source) ? undefined : Object.keys(source);
  } catch {
    return undefined;
  }
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

type Getter = ((this: unknown) => unknown) | undefined;

/** A built-in getter; it sees through properties that a subclass put in front. */
function getterOf(prototype: object | undefined, key: string | symbol): Getter {
  return prototype && Object.getOwnPropertyDescriptor(prototype, key)?.get;
}

const prototypeOfViews = Object.getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = getterOf(prototypeOfViews, Symbol.toStringTag);
const viewBytes = getterOf(prototypeOfViews, "byteLength");

function kindOfView(view: ArrayBufferView): unknown {
  return viewTag?.call(view);
}

function byteLength(view: ArrayBufferView): number {
  return viewBytes?.call(view) as number;
}

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const loneSurrogate = /[\ud800-\udfff]/u;

/** Tells whether no surrogate stands alone. @internal */
export function isWellFormed(text: string): boolean {
  return native ? native.call(text) : !loneSurrogate.test(text);
}

function checkWellFormed(text: string, path: Path): void {
  if (isWellFormed(text)) return;
  refuse("INVALID_INPUT", "the text has half of a surrogate pair", path, undefined, "cut text between characters");
}

/** Says that a field is unknown, and which of the known ones it may stand for. @internal */
export function unknownField(name: string, known: readonly string[], above = ""): ContextWeaverError {
  const meant = nearest(name, known);
  const hint = meant === undefined ? known.length > 0 ? `one of: ${known.join(" ")}` : undefined : `did you mean \`${meant}\`?`;
  const part = token(name);
  return new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${part}\``, { path: `${above}/${part}`, hint });
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
