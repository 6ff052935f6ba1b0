// The members of a JSON object as they were written, so that one is replaced and every other byte stays.

/** Where the value of a member stands. */
interface Span {
  readonly start: number;
  readonly end: number;
}

const SPACE = /[ \t\r\n]/;

/** Replaces members of an object, and adds those that it lacks at its end. `text` is JSON that was parsed before; undefined where a name is there twice. */
export function withMembers(text: string, members: ReadonlyMap<string, string>): string | undefined {
  const spans = spansOf(text);
  if (!spans) return undefined;
  const known = [...members].flatMap(([name, json]) => (spans.has(name) ? [{ ...(spans.get(name) as Span), json }] : []));
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
  const elements: string[] = [];
  for (let at = skipped(text, span.start + 1); text[at] !== "]" && at < span.end; ) {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end));
    at = skipped(text, end);
    if (text[at] === ",") at = skipped(text, at + 1);
  }
  return elements;
}

function spansOf(text: string): ReadonlyMap<string, Span> | undefined {
  const spans = new Map<string, Span>();
  let at = skipped(text, 0) + 1;
  for (;;) {
    at = skipped(text, at);
    if (text[at] === ",") at = skipped(text, at + 1);
    if (at >= text.length || text[at] === "}") return spans;
    const nameEnd = stringEnd(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    if (spans.has(name)) return undefined;
    const start = skipped(text, skipped(text, nameEnd) + 1);
    at = valueEnd(text, start);
    spans.set(name, { start, end: at });
  }
}

function skipped(text: string, from: number): number {
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
