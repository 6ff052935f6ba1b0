// Puts a member or an element into a file of JSON, and takes it out again, without touching a byte beside it: comments, commas and
// white space stay as somebody wrote them.
import { entriesAt, valueAt } from "../../boundary/json-places.js";
import type { JsonSpan } from "../../boundary/json-places.js";
import { plainJson } from "../../gateway/jsonc.js";
import { UsageError } from "../options.js";

/** What is put in: the last step of `path` with this value, or an element at the end of the list there. */
export interface JsonEdit {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly isElement?: boolean;
}

/** A text with an edit, and the piece that was put in; absent where it is there already. */
export interface Edited {
  readonly text: string;
  readonly added?: string;
}

/** A value of a document and where it stands. */
interface Place extends JsonSpan {
  readonly kind: "object" | "array" | "other";
  readonly children: readonly Child[];
}

interface Child {
  readonly key?: string;
  /** Where its name begins, or the value itself. */
  readonly start: number;
  readonly value: Place;
}

const UNIT = "  ";

/** Puts a value in. `file` is named in errors. */
export function inserted(text: string, edit: JsonEdit, file: string): Edited {
  if (text.trim() === "") return insertedInto("{}\n", edit, file);
  return insertedInto(text, edit, file);
}

function insertedInto(text: string, { path, value, isElement = false }: JsonEdit, file: string): Edited {
  let place = root(text, file);
  let depth = 0;
  for (const [at, key] of path.entries()) {
    if (place.kind !== "object") throw wrong(file, path.slice(0, at), "an object");
    const child = place.children.find((one) => one.key === key);
    if (!child) return put(text, place, depth, member(path.slice(at), value, isElement));
    place = child.value;
    depth += 1;
  }
  if (!isElement) {
    if (isSame(parsed(text, place), value)) return { text };
    throw new UsageError(`${file} has another ${path.join(".")} already; nothing was written`, "input");
  }
  if (place.kind !== "array") throw wrong(file, path, "a list");
  if (place.children.some((child) => isSame(parsed(text, child.value), value))) return { text };
  return put(text, place, depth, { value });
}

interface Entry {
  readonly key?: string;
  readonly value: unknown;
}

/** What is put into the last object that is there: the rest of the way, with the value at its end. */
function member([key = "", ...rest]: readonly string[], value: unknown, isElement: boolean): Entry {
  const last: unknown = isElement ? [value] : value;
  return { key, value: rest.reduceRight((inner, name) => ({ [name]: inner }), last) };
}

function put(text: string, place: Place, depth: number, { key, value }: Entry): Edited {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const first = place.children[0];
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? UNIT;
  const own = first && /\n([ \t]*)$/.exec(text.slice(0, first.start))?.[1];
  const outer = own === undefined ? unit.repeat(depth) : own.slice(0, Math.max(0, own.length - unit.length));
  const indent = own ?? outer + unit;
  const json = JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
  const written = `${eol}${indent}${key === undefined ? "" : `${JSON.stringify(key)}: `}${json}`;
  const last = place.children.at(-1);
  const added = last ? `,${written}` : `${written}${eol}${outer}`;
  const at = last ? last.value.end : place.start + 1;
  return { text: text.slice(0, at) + added + text.slice(at), added };
}

/** Takes out what {@link inserted} has put in: that piece, where it is still there, else the entry by its value. Undefined where there is none. */
export function removed(text: string, edit: JsonEdit, added: string, file: string): string | undefined {
  const at = text.indexOf(added);
  if (at !== -1 && text.indexOf(added, at + 1) === -1) {
    const bare = text.slice(0, at) + text.slice(at + added.length);
    if (isDocument(bare)) return bare;
  }
  const way = wayTo(text, edit, root(text, file));
  const [container, child] = way ?? [];
  return container && child && cut(text, container, child);
}

/** The container and the entry that an edit has made. */
function wayTo(
  text: string,
  { path, value, isElement = false }: JsonEdit,
  place: Place,
): readonly [Place, Child] | undefined {
  const [key, ...rest] = path;
  if (key === undefined) {
    const child = isElement ? place.children.find((one) => isSame(parsed(text, one.value), value)) : undefined;
    return child && [place, child];
  }
  const child = place.children.find((one) => one.key === key);
  if (!child) return undefined;
  if (rest.length === 0 && !isElement) return isSame(parsed(text, child.value), value) ? [place, child] : undefined;
  return wayTo(text, { path: rest, value, isElement }, child.value);
}

/** Cuts an entry with the comma that belongs to it. */
function cut(text: string, { start, end, children }: Place, child: Child): string {
  const at = children.indexOf(child);
  const [before, after] = [children[at - 1], children[at + 1]];
  if (before) return text.slice(0, before.value.end) + text.slice(child.value.end);
  if (after) return text.slice(0, child.start) + text.slice(after.start);
  return text.slice(0, start + 1) + text.slice(end - 1);
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(plainJson(text));
    return true;
  } catch {
    return false;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function parsed(text: string, { start, end }: Place): unknown {
  return JSON.parse(plainJson(text.slice(start, end)));
}

function wrong(file: string, path: readonly string[], expected: string): UsageError {
  return new UsageError(
    `${file}: ${path.length === 0 ? "the document" : path.join(".")} is not ${expected}; nothing was written`,
    "input",
  );
}

function root(text: string, file: string): Place {
  const plain = plainJson(text);
  try {
    JSON.parse(plain);
  } catch {
    throw new UsageError(`${file} is not valid JSON; nothing was written`, "input");
  }
  return placeOf(plain, valueAt(plain, 0));
}

function placeOf(text: string, { start, end }: JsonSpan): Place {
  const kind = { "{": "object", "[": "array" }[text[start] ?? ""] as "object" | "array" | undefined;
  const children = Array.from(
    entriesAt(text, start),
    ({ name, start: from, value }): Child => ({
      ...(name !== undefined && { key: name }),
      start: from,
      value: placeOf(text, value),
    }),
  );
  return { start, end, kind: kind ?? "other", children };
}
