// The members of a JSON object as they were written, so that one is replaced and every other byte stays.
import { entriesAt, skipped } from "../boundary/json-places.js";
import type { JsonSpan } from "../boundary/json-places.js";

/** An object as it was written. It is gone through once, and once more where it stands within another. */
export class JsonMembers {
  /** All of what was written, with what stands around the object. */
  readonly #text: string;
  readonly #list: string;
  /** Undefined where a name is there twice. */
  readonly #spans: ReadonlyMap<string, JsonSpan> | undefined;
  /** Where the object ends: behind its brace. */
  readonly #end: number;
  #elements: readonly string[] | undefined;

  /**
   * `text` is JSON that was parsed before, `list` names a member whose elements are asked for. `within` names the member that is the
   * object, where it is not all of the text.
   */
  constructor(text: string, list: string, within?: string) {
    [this.#text, this.#list] = [text, list];
    const start = skipped(text, 0);
    const around = within === undefined ? undefined : spansOf(text, start);
    const object = within === undefined ? { start, end: text.lastIndexOf("}") + 1 } : around?.get(within);
    this.#end = object?.end ?? 0;
    const endOf = (name: string, at: number): number | undefined =>
      name === this.#list ? this.#listEnd(at) : undefined;
    this.#spans = object && spansOf(text, object.start, endOf);
  }

  /** Takes the elements of a list, and says where it ends. */
  #listEnd(from: number): number | undefined {
    if (this.#text[from] !== "[") return undefined;
    let at = from + 1;
    const elements: string[] = [];
    for (const {
      value: { start, end },
    } of entriesAt(this.#text, from)) {
      elements.push(this.#text.slice(start, end));
      at = end;
    }
    this.#elements = elements;
    return skipped(this.#text, at) + 1;
  }

  /** The value of a member as it was written; undefined where there is none. */
  text(name: string): string | undefined {
    const span = this.#spans?.get(name);
    return span && this.#text.slice(span.start, span.end);
  }

  /** The elements of the list, as they were written; undefined where there is no such list. */
  get elements(): readonly string[] | undefined {
    return this.#spans && this.#elements;
  }

  /** Replaces members of the object, and adds those that it lacks at its end; undefined where a name is there twice. */
  with(members: ReadonlyMap<string, string>): string | undefined {
    const [text, spans] = [this.#text, this.#spans];
    if (!spans) return undefined;
    const known = [...members].flatMap(([name, json]) =>
      spans.has(name) ? [{ ...(spans.get(name) as JsonSpan), json }] : [],
    );
    known.sort((one, other) => one.start - other.start);
    let out = "";
    let at = 0;
    for (const { start, end, json } of known) {
      out += text.slice(at, start) + json;
      at = end;
    }
    const close = this.#end - 1;
    const added = [...members]
      .filter(([name]) => !spans.has(name))
      .map(([name, json]) => `${JSON.stringify(name)}:${json}`);
    const comma = spans.size > 0 && added.length > 0 ? "," : "";
    return `${out}${text.slice(at, close)}${comma}${added.join(",")}${text.slice(close)}`;
  }
}

/** Finds the members of an object; undefined where a name is there twice. */
function spansOf(
  text: string,
  start: number,
  endOf?: (name: string, start: number) => number | undefined,
): ReadonlyMap<string, JsonSpan> | undefined {
  const spans = new Map<string, JsonSpan>();
  for (const { name = "", value } of entriesAt(text, start, endOf)) {
    if (spans.has(name)) return undefined;
    spans.set(name, value);
  }
  return spans;
}
