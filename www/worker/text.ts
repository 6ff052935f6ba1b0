// What leaves the worker as text: invisible characters visible, secrets masked, never longer than a page can show.
import { ContextWeaverError, redactSecrets, sanitizeText } from "contextweaver/slim";

/** Why something did not work, fit to be shown. */
export interface Problem {
  readonly message: string;
  readonly code: string;
  /** How it may be read all the same, where it was not recognised. */
  readonly formats?: readonly Format[] | undefined;
}

/** A format of files that can be asked for. */
export interface Format {
  readonly key: string;
  readonly title: string;
}

/** Something is wrong with what was given to the page itself. */
export class InputError extends Error {
  constructor(
    message: string,
    readonly formats?: readonly Format[],
  ) {
    super(message);
  }
}

/** Text that shows what it is made of. */
export const safe = (text: string): string => sanitizeText(text);

/** The same without secrets. */
export const masked = (text: string): string => sanitizeText(redactSecrets(text));

/** The first characters, never half of a surrogate pair. */
export function head(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const isHalf = /[\ud800-\udbff]/.test(text[chars - 1] ?? "");
  return text.slice(0, isHalf ? chars - 1 : chars);
}

/** Where masking stops for a line that shows a few characters: no secret is that long. */
export const MASKED_CHARS = 16_384;

/** The beginning of a text in one line. Masked before it is cut, because half a secret is no longer recognised. */
export function line(text: string, chars: number): string {
  const flat = masked(head(text, MASKED_CHARS)).replace(/\s+/g, " ").trim();
  return flat.length > chars ? `${head(flat, chars)}…` : flat;
}

/** A record as indented JSON. */
export const json = (value: unknown): string => safe(JSON.stringify(value, null, 2) ?? "undefined");

/** A part of a long text. */
export interface Part {
  readonly text: string;
  readonly part: number;
  readonly parts: number;
}

const PART_CHARS = 20_000;

/** One part of a text that may be of any length. */
export function partOf(text: string, asked: number): Part {
  const parts = Math.max(1, Math.ceil(text.length / PART_CHARS));
  const part = Math.min(Math.max(0, asked), parts - 1);
  const from = part * PART_CHARS;
  const isHalf = (at: number): boolean => at > 0 && /[\udc00-\udfff]/.test(text[at] ?? "");
  const [start, end] = [from, from + PART_CHARS].map((at) => (isHalf(at) ? at + 1 : at));
  return { text: text.slice(start, end), part, parts };
}

/** What is shown of an error. */
export function problemOf(error: unknown): Problem {
  if (ContextWeaverError.is(error)) {
    const { message, hint, code } = error;
    return { message: safe(`${message}${hint ? ` (${hint})` : ""}`), code };
  }
  if (error instanceof InputError) return { message: safe(error.message), code: "INPUT", formats: error.formats };
  return { message: `The page failed: ${safe(String(error))}`, code: "PAGE" };
}
