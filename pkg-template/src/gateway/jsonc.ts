// JSON as editors write it: with comments, commas before a closing bracket, and a mark of byte order.
import { ContextWeaverError } from "../boundary/errors.js";

/** Most characters of a configuration. */
export const MAX_CONFIG_CHARS = 4 * 1024 * 1024;

/**
 * Parses a configuration file: JSON, in which comments and trailing commas are allowed. `file` is its name in errors.
 *
 * Errors: `DECODE_FAILED` with line and column, and nothing of the text, which may hold credentials; `TOO_LARGE` above 4 Mi
 * characters.
 */
export function parseConfigText(text: string, file: string): unknown {
  if (text.length > MAX_CONFIG_CHARS) {
    throw new ContextWeaverError("TOO_LARGE", `\`${shown(file)}\` has more than ${MAX_CONFIG_CHARS} characters`, {
      hint: "give the file with the servers alone",
    });
  }
  const plain = plainJson(text);
  try {
    return JSON.parse(plain) as unknown;
  } catch (error) {
    // The engine's message quotes the text around the mistake: only the place is taken from it.
    const where = placeOf(plain, String((error as Error).message));
    throw new ContextWeaverError("DECODE_FAILED", `\`${shown(file)}\` is not valid JSON${where}`, {
      hint: "comments and trailing commas are allowed, names and texts stand in double quotes",
    });
  }
}

/** A file's name for a message. @internal */
export function shown(file: string): string {
  return file.length > 80 ? `…${file.slice(-79)}` : file;
}

const SPACE = /\s/;

/**
 * Replaces comments and trailing commas by spaces, so that every other character stays where it was. Linear in the text; what is
 * not valid otherwise stays as it is. @internal
 */
export function plainJson(text: string): string {
  const parts: string[] = [];
  let from = 0;
  let at = text.startsWith("\ufeff") ? 1 : 0;
  // Where the last comma stands, as long as only spaces and comments follow it.
  let comma = -1;
  const blank = (start: number, end: number): void => {
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[^\r\n]/g, " "));
    from = end;
  };
  if (at === 1) blank(0, 1);
  const commas: number[] = [];
  while (at < text.length) {
    const char = text[at] as string;
    if (char === '"') {
      at = endOfString(text, at);
      comma = -1;
    } else if (char === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      const end = endOfComment(text, at);
      if (end === -1) break; // a comment without an end is no comment: the parser says where
      blank(at, end);
      at = end;
    } else {
      if (char === ",") comma = at;
      else if ((char === "}" || char === "]") && comma !== -1) commas.push(comma);
      if (char !== "," && !SPACE.test(char)) comma = -1;
      at += 1;
    }
  }
  parts.push(text.slice(from));
  const plain = parts.join("");
  if (commas.length === 0) return plain;
  const kept: string[] = [];
  let last = 0;
  for (const place of commas) {
    // A comma after an opening bracket or another comma separates nothing: a mistake, not a habit.
    if (!followsValue(plain, place)) continue;
    kept.push(plain.slice(last, place), " ");
    last = place + 1;
  }
  return kept.join("") + plain.slice(last);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function endOfComment(text: string, start: number): number {
  if (text[start + 1] === "*") {
    const end = text.indexOf("*/", start + 2);
    return end === -1 ? -1 : end + 2;
  }
  let end = start + 2;
  while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return end;
}

/** Whether a value ends before this place. Each step back is over spaces that belong to this comma alone. */
function followsValue(text: string, place: number): boolean {
  let at = place - 1;
  while (at >= 0 && SPACE.test(text[at] as string)) at -= 1;
  return at >= 0 && !"[{,:".includes(text[at] as string);
}

/** Says where the mistake is, as far as the engine told. */
function placeOf(text: string, message: string): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined && column !== undefined) return ` at line ${line}, column ${column}`;
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined) return /end of (?:JSON|data|input)/i.test(message) ? ": it ends too early" : "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
