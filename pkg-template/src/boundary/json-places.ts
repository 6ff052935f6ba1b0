// Where the values of a JSON text stand as they were written, so that one is replaced and every other byte stays. The text is JSON that was
// parsed before.

/** A part of a text. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, or an element of a list. */
export interface JsonEntry {
  readonly name?: string;
  /** Where its name begins, or the value itself. */
  readonly start: number;
  readonly value: JsonSpan;
}

const SPACE = /\s/;

/** The value that begins at a place, or behind white space there. */
export function valueAt(text: string, from: number): JsonSpan {
  const start = skipped(text, from);
  return { start, end: valueEnd(text, start) };
}

/**
 * The members of an object, or the elements of a list, that begins at a place; none of another value. Linear in its length. `endOf` may
 * say where the value of a member ends, for whoever looks into it anyway.
 */
export function* entriesAt(
  text: string,
  from: number,
  endOf?: (name: string, start: number) => number | undefined,
): Generator<JsonEntry> {
  const isObject = text[from] === "{";
  if (!isObject && text[from] !== "[") return;
  let at = from + 1;
  for (;;) {
    at = skipped(text, at);
    if (text[at] === ",") at = skipped(text, at + 1);
    if (at >= text.length || text[at] === "}" || text[at] === "]") return;
    const nameEnd = isObject ? stringEnd(text, at) : at;
    if (!isObject) {
      const value = valueAt(text, at);
      yield { start: at, value };
      at = value.end;
      continue;
    }
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipped(text, skipped(text, nameEnd) + 1);
    const value = { start, end: endOf?.(name, start) ?? valueEnd(text, start) };
    yield { name, start: at, value };
    at = value.end;
  }
}

/** The next place that is no white space. */
export function skipped(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text[at] as string)) at += 1;
  return at;
}

/** Where a string ends that begins at a place. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  const isNested = first === "{" || first === "[";
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      if (!isNested) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (!isNested && (char === "," || SPACE.test(char))) return at;
  }
  return text.length;
}
