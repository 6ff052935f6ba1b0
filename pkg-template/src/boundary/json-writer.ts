// Writes values of the caller's as JSON, level by level.
//
// INVARIANT: every property is read exactly once, and what was read is checked and written at once. Getters and proxies
// can therefore not show one value to the check and another to the engine. The text is written as bytes: a copy of plain
// data for JSON.stringify takes twice the time, pieces of text three times.
import { encodeBase64 } from "./base64.js";
import type { ErrorCode } from "./errors.js";
import { exactDigits } from "./exact-numbers.js";
import {
  addressOf,
  byteLength,
  bytesOf,
  filled,
  inspect,
  isBytes,
  isData,
  keysOf,
  kindOfView,
  lengthOf,
  nameOf,
  read,
  standInOf,
  timeOf,
} from "./foreign-values.js";
import { checkWellFormed, isWellFormed, refuse, token, tooLarge } from "./guard-errors.js";
import type { Limits } from "./guard-limits.js";
import { CIRCULAR, HALF, MARGIN, Repairs, UNREADABLE, cutText, isEncoded, wellFormed } from "./repairs.js";
import type { Repair } from "./repairs.js";
import type { ResultMedia } from "./result-media.js";

/** Marks of JSON. @internal */
export const [OPEN_LIST, COMMA, CLOSE_LIST] = [0x5b, 0x2c, 0x5d] as const;
const [QUOTE, COLON, BACKSLASH, OPEN_RECORD, CLOSE_RECORD] = [0x22, 0x3a, 0x5c, 0x7b, 0x7d] as const;

/** UTF-16 units from which on the runtime's own functions are faster than a loop over them. */
const LONG = 256;
/** UTF-16 units up to which a text that is repaired is surely not too long. */
const LONG_TEXT = 2 ** 16;
/** Values of one list that are kept of what is repaired. */
const MAX_LIST = 2 ** 20;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/** Writes data as JSON, level by level; the limit of the depth is also one of the runtime's stack. @internal */
export class Writer {
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
  private readonly attached: ResultMedia | undefined;
  readonly repairs = new Repairs();
  /** Whether the present value is repaired where it is none of JSON. */
  private isRepaired: boolean;
  private isFull = false;

  /** `attached` receives the base64 of a result, which is the field `result` of what is written. */
  constructor(base: string, limits: Limits, attached?: ResultMedia, isRepaired = false) {
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
    if (this.nodes > this.limits.nodes && !this.isRepaired)
      this.fail("TOO_LARGE", `more than ${this.limits.nodes} values`);
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
      this.repair(
        "VALUE_REPAIRED",
        `${nameOf(source)} is written as ${typeof other === "object" ? "its name, message and fields" : "what it holds"}`,
      );
      return typeof other === "object" && other !== null
        ? this.within(source, keysOf(other), 0, other)
        : this.value(other);
    }
    if (ArrayBuffer.isView(source) && kindOfView(source) !== undefined && byteLength(source) > MAX_LIST) {
      return this.stand(`[${byteLength(source)} bytes]`, "VALUE_CUT", `${nameOf(source)} is left out: it is too large`);
    }
    const length = lengthOf(source);
    const keys = length === undefined ? keysOf(source) : undefined;
    if (length === undefined && keys === undefined)
      return this.stand(UNREADABLE, "VALUE_REPAIRED", "the object cannot be read");
    if (!isPlainData)
      this.repair("VALUE_REPAIRED", `${nameOf(source)} is written as its own fields, as JSON.stringify does`);
    const most = Math.min(MAX_LIST, this.limits.nodes - this.nodes, length === undefined ? 0 : filled(source, length));
    if (length !== undefined && length > most)
      this.repair("VALUE_CUT", `of ${length} values the first ${most} are kept`);
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
    if (bytes === UNREADABLE)
      this.stand(UNREADABLE, "VALUE_REPAIRED", "the bytes cannot be read; was the buffer transferred?");
    if (typeof bytes !== "object") return bytes !== undefined;
    // Four characters for three bytes.
    if (bytes.length > (this.limits.string / 4) * 3 || this.room() < bytes.length * 2) {
      this.stand(
        `[${bytes.length} bytes]`,
        "VALUE_CUT",
        `${bytes.length} bytes are left out: there is no room for them`,
      );
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
      if (
        typeof toJSON !== "function" ||
        timeOf(value) !== undefined ||
        addressOf(value) !== undefined ||
        isBytes(value)
      )
        return value;
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
    return cutText(text, Math.min(isEncoded(text) ? string : prose, Math.max(0, this.room())), (message) =>
      this.repair("VALUE_CUT", message),
    );
  }

  private string(given: string, what: string): void {
    if (this.limits.exact && this.isRepaired) {
      const digits = exactDigits(given);
      if (digits !== undefined) return this.plain(digits);
    }
    // The engine says how much of the bytes beside the JSON there was.
    const text = this.isRepaired && !this.attached && given.length > LONG_TEXT ? this.shortened(given) : given;
    const { length } = text;
    if (what === "string" && length > LONG && this.cuts(text)) return;
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

  /** Writes what is kept of a text of a result that is too long; tells whether it is. */
  private cuts(text: string): boolean {
    const { attached } = this;
    if (!attached?.mayBeTooLong(text.length, this.length)) return false;
    const isMedia = attached.isMedia(this.places, this.depth);
    const kept = attached.cutOff(text, isMedia, this.path, this.length);
    if (kept === undefined) return false;
    if (isMedia) this.plain('""');
    else this.long(kept);
    return true;
  }

  /** Takes base64 out where a result has it. */
  private attach(text: string): boolean {
    const { attached } = this;
    if (!attached?.isMedia(this.places, this.depth) || !attached.take(text, this.path)) return false;
    if (this.length + this.outside > this.limits.total) tooLarge("the input is", this.limits.total, this.path());
    return true;
  }

  /** UTF-16 units that were taken out. */
  private get outside(): number {
    return this.attached?.outside ?? 0;
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
