// Turns the caller's values into JSON text, and refuses what JSON cannot carry, before anything reaches the engine.
//
// What tools, servers and models send is repaired instead of refused, see repairs.ts, and a toJSON of theirs is called as
// JSON.stringify would; of what the caller hands over as options none is.
import { ContextWeaverError } from "./errors.js";
import { byteLength, inspect, kindOfView, nameOf, read } from "./foreign-values.js";
import { checkWellFormed, isWellFormed, refuse, token, tooBig, tooLarge } from "./guard-errors.js";
import { INPUT, MAX_ARTIFACT, MAX_ITEMS, MCP_RESULT } from "./guard-limits.js";
import type { Limits } from "./guard-limits.js";
import { CLOSE_LIST, COMMA, OPEN_LIST, Writer } from "./json-writer.js";
import { HALF, wellFormed } from "./repairs.js";
import type { Repair } from "./repairs.js";
import { ResultMedia } from "./result-media.js";

const encoder = /* @__PURE__ */ new TextEncoder();

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

/**
 * Writes the result of an MCP tool with more fields. Long base64 of images and the like is taken out of it, decoded: an
 * empty text stands there, and a field `attached` says where. What is longer than the engine keeps is cut off: a field `cut` says
 * where, and how many bytes. @internal
 */
export function encodeResult(
  result: unknown,
  more: Record<string, unknown>,
): Reading & { readonly bytes: readonly Uint8Array[] } {
  const attached = new ResultMedia();
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
export function rawOutput(
  value: unknown,
  path: string,
): { readonly bytes: Uint8Array; readonly repairs: readonly Repair[] } {
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
