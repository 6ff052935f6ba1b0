// What a transcript is written in, and how it becomes items.
import { ContextWeaverError, findMessages, loadMcpSessionJsonl, messagesToItems } from "contextweaver/slim";
import type { ContextItem, FoundMessages, MessageFormat } from "contextweaver/slim";
import { InputError } from "./text.ts";

/** How a transcript may be written. */
export type TranscriptFormat = "session" | "snapshot" | MessageFormat;

export interface Transcript {
  readonly format: TranscriptFormat;
  readonly items: readonly ContextItem[];
  readonly warnings: readonly string[];
  /** Where the list stands in the file, as a property is written; empty where the file is the list. */
  readonly key?: string;
  /** The field of the file with the instructions, where they stand beside the list. */
  readonly system?: string;
  /** JSON text of a snapshot. */
  readonly snapshot?: string;
}

const MAX_PROBLEMS = 10;

/** UTF-8 or nothing. */
export function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError("it is not UTF-8 text");
  }
}

/** Reads JSON; the browser's own message would quote the text, which may hold a secret. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError("it is not valid JSON");
  }
}

/** Reads a transcript in the format that is recognised. */
export function read(text: string): Transcript {
  const value = whole(text);
  if (value === undefined || isItem(value)) return session(text);
  const found: Partial<FoundMessages> = findMessages(value) ?? {};
  const format = formOf(value) ?? found.format ?? "openai-chat";
  if (format === "session")
    return { ...session(asLines(value)), ...(isRecord(value) && Array.isArray(value["items"]) && { key: ".items" }) };
  if (format === "snapshot") return { format, items: [], warnings: [], snapshot: text };
  const { list, system } = found;
  const messages = Array.isArray(value) ? value : isRecord(value) && list && value[list];
  if (!Array.isArray(messages)) throw new InputError("there is no list of messages in it, or more than one");
  const options = isRecord(value) && system ? { system: value[system] } : {};
  const { items, warnings } = messagesToItems(messages, format, options);
  const places = { key: list ? `.${list}` : "", ...(system && { system }) };
  return { format, items, ...places, warnings: warnings.map(({ message, path }) => `${placeOf(path)}: ${message}`) };
}

/** Makes items of the messages of a recorded session. */
export function ofMessages(messages: readonly unknown[]): Transcript {
  const { items, warnings } = messagesToItems(messages, "openai-chat");
  return {
    format: "openai-chat",
    items,
    warnings: warnings.map(({ message, path }) => `${placeOf(path)}: ${message}`),
  };
}

/** The text as one JSON value, if it is one. */
function whole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isItem = (value: unknown): boolean =>
  isRecord(value) && ("kind" in value || "text" in value) && !("role" in value);

/** A list of items as the lines of a session. */
function asLines(value: unknown): string {
  const list = isRecord(value) ? value["items"] : value;
  return (Array.isArray(list) ? list : [value]).map((item) => JSON.stringify(item)).join("\n");
}

function session(text: string): Transcript {
  let items;
  try {
    ({ items } = loadMcpSessionJsonl(text));
  } catch (error) {
    throw ContextWeaverError.is(error) ? withLines(error) : error;
  }
  if (items.length === 0) throw new InputError("there is no item in it");
  return { format: "session", items, warnings: [] };
}

/** A place in JSON in words: `/messages/40/content` is the content of message 41. */
function placeOf(path: string): string {
  const [, list = "", at, rest = ""] = /^\/(\w+?)s?\/(\d+)(.*)$/.exec(path) ?? [];
  if (at === undefined) return path.replace(/^\//, "").replaceAll("/", ", ");
  const inside = rest.replace(/^\//, "").replaceAll("/", ", ");
  return `${list} ${Number(at) + 1}${inside === "" ? "" : `, ${inside}`}`;
}

/** Every line that is wrong. What is no JSON is only named, because the parser's words may quote it. */
function withLines(error: ContextWeaverError): Error {
  const { problems, problem_count } = (error.details ?? {}) as {
    problems?: readonly { line: number; code: string; message: string; path: string }[];
    problem_count?: number;
  };
  if (!problems?.length) return error;
  const told = problems.slice(0, MAX_PROBLEMS).map(({ line, code, message, path }) => {
    if (code === "DECODE_FAILED") return `line ${line}: not valid JSON`;
    return `line ${line}${path && `, ${placeOf(path)}`}: ${message}`;
  });
  const rest = (problem_count ?? problems.length) - told.length;
  if (rest > 0) told.push(`and ${rest.toLocaleString("en")} more`);
  return new InputError(told.join("\n"));
}

/** What a document is that is no session: a snapshot, a list of items, or messages. */
function formOf(value: unknown): "session" | "snapshot" | undefined {
  if (isRecord(value) && "event_log" in value) return "snapshot";
  const items = isRecord(value) ? value["items"] : value;
  return Array.isArray(items) && (isRecord(value) || (items.length > 0 && items.every(isItem))) ? "session" : undefined;
}
