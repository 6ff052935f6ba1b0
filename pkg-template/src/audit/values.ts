// Values of JSON out of the bytes of a file, one after the other, so that no more than one is in memory.
import type { FileValue } from "./events.js";
import { parseJson } from "./json-fields.js";

/** Characters of a value: a text of a JavaScript engine cannot be much longer. */
const MAX_VALUE = 256 * 1024 * 1024;

/** How the first line of a document of several lines looks. */
const BEGINS_DOCUMENT = /^\s*\[|[[{,:]\s*$/;

/** Is told of lines that cannot be read, and of bytes that were. */
export interface Watch {
  problem(line: number, reason: string): void;
  bytes(count: number): void;
  /** Characters that are held of lines that are not complete. */
  held(characters: number): void;
}

interface Line {
  readonly number: number;
  readonly text: string;
  /** It was longer than a value may be. */
  readonly isCut: boolean;
}

/** The lines of a file. A line that is too long is dropped while it is read. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let number = 1;
  let parts: string[] = [];
  let length = 0;
  let isCut = false;
  const line = (end: string): Line => {
    const text = isCut ? "" : parts.length === 0 ? end : parts.join("") + end;
    const read = { number, text, isCut };
    number += 1;
    [parts, length, isCut] = [[], 0, false];
    return read;
  };
  const hold = (text: string): void => {
    length += text.length;
    if (length > MAX_VALUE) [parts, isCut] = [[], true];
    else parts.push(text);
    watch.held(length);
  };
  for await (const chunk of chunks) {
    watch.bytes(chunk.length);
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let to = text.indexOf("\n"); to !== -1; to = text.indexOf("\n", from)) {
      yield line(text.slice(from, to));
      from = to + 1;
    }
    if (from < text.length) hold(text.slice(from));
  }
  const last = line(decoder.decode());
  if (last.text !== "" || last.isCut) yield last;
}

/**
 * The values of a file: a value for each line, or the one document that it is. Lines that are no JSON are told of and left out; a file
 * whose first line is none is taken for a document of several lines.
 */
export async function* valuesOf(chunks: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<FileValue> {
  let isLines = false;
  let document: Line[] | undefined;
  let length = 0;
  for await (const line of linesOf(chunks, watch)) {
    if (line.text.trim() === "" && !line.isCut) continue;
    const value = document === undefined ? parsedLine(line) : undefined;
    if (value !== undefined) {
      isLines = true;
      yield { line: line.number, value: value.value };
    } else if (isLines || (document === undefined && !BEGINS_DOCUMENT.test(line.text))) {
      isLines = true;
      watch.problem(line.number, line.isCut ? "the line is longer than 256 MB" : "the line is not valid JSON");
    } else {
      document ??= [];
      length += line.text.length;
      if (line.isCut || length > MAX_VALUE) {
        watch.problem(1, "the file is a document of more than 256 MB");
        return;
      }
      document.push(line);
      watch.held(length);
    }
  }
  if (document) yield* wholeOf(document, watch);
}

/** A file whose first lines are damaged is still one of lines. */
function* wholeOf(document: readonly Line[], watch: Watch): Generator<FileValue> {
  const whole = parsedLine({ number: 1, text: document.map(({ text }) => text).join("\n"), isCut: false });
  if (whole) {
    yield { line: document[0]?.number ?? 1, value: whole.value };
    return;
  }
  const read = document.map((line) => ({ line: line.number, parsed: parsedLine(line) }));
  const isLines = read.some(({ parsed }) => typeof parsed?.value === "object" && parsed.value !== null);
  if (!isLines) {
    watch.problem(document[0]?.number ?? 1, "the file is neither JSON Lines nor JSON");
    return;
  }
  for (const { line, parsed } of read) {
    if (parsed) yield { line, value: parsed.value };
    else watch.problem(line, "the line is not valid JSON");
  }
}

function parsedLine({ text, isCut }: Line): { readonly value: unknown } | undefined {
  if (isCut) return undefined;
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
