// The members of a JSON object as they were written, so that one is replaced and every other byte stays.
import { entriesAt, valueAt } from "../boundary/json-places.js";
import type { JsonSpan } from "../boundary/json-places.js";

/** Replaces members of an object, and adds those that it lacks at its end. `text` is JSON that was parsed before; undefined where a name is there twice. */
export function withMembers(text: string, members: ReadonlyMap<string, string>): string | undefined {
  const spans = spansOf(text);
  if (!spans) return undefined;
  const known = [...members].flatMap(([name, json]) => (spans.has(name) ? [{ ...(spans.get(name) as JsonSpan), json }] : []));
  known.sort((one, other) => one.start - other.start);
  let out = "";
  let at = 0;
  for (const { start, end, json } of known) {
    out += text.slice(at, start) + json;
    at = end;
  }
  const close = text.lastIndexOf("}");
  const added = [...members].filter(([name]) => !spans.has(name)).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  const comma = spans.size > 0 && added.length > 0 ? "," : "";
  return `${out}${text.slice(at, close)}${comma}${added.join(",")}${text.slice(close)}`;
}

/** The value of a member as it was written; undefined where there is none. */
export function memberText(text: string, name: string): string | undefined {
  const span = spansOf(text)?.get(name);
  return span && text.slice(span.start, span.end);
}

/** The elements of a list that is a member, as they were written; undefined where there is no such list. */
export function elementTexts(text: string, name: string): readonly string[] | undefined {
  const span = spansOf(text)?.get(name);
  if (!span || text[span.start] !== "[") return undefined;
  return Array.from(entriesAt(text, span.start), ({ value: { start, end } }) => text.slice(start, end));
}

function spansOf(text: string): ReadonlyMap<string, JsonSpan> | undefined {
  const spans = new Map<string, JsonSpan>();
  for (const { name = "", value } of entriesAt(text, valueAt(text, 0).start)) {
    if (spans.has(name)) return undefined;
    spans.set(name, value);
  }
  return spans;
}
