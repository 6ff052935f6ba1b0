// What a transcript is written in, and how it becomes items.
import { ContextWeaverError, loadMcpSessionJsonl, messagesToItems } from "contextweaver/slim";
import type { ContextItem, MessageFormat } from "contextweaver/slim";
import { InputError } from "./text.ts";

/** How a transcript may be written. */
export type TranscriptFormat = "session" | "snapshot" | "recorded" | MessageFormat;

export interface Transcript {
  readonly format: TranscriptFormat;
  readonly items: readonly ContextItem[];
  readonly warnings: readonly string[];
  /** Where the list stands in the file, as a property is written; empty where the file is the list. */
  readonly key?: string;
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

/** Reads a transcript, in the format that is named or else recognised. */
export function read(text: string, named: TranscriptFormat | "auto"): Transcript {
  if (named === "recorded") return recorded(text);
  const value = named === "session" ? undefined : whole(text);
  if (named === "auto" ? value === undefined || isItem(value) : named === "session") return session(text);
  if (value === undefined) throw new InputError("it is not valid JSON");
  const format = named === "auto" ? recognise(value) : named;
  if (format === "session") return { ...session(asLines(value)), ...(isRecord(value) && Array.isArray(value["items"]) && { key: ".items" }) };
  if (format === "snapshot") return { format, items: [], warnings: [], snapshot: text };
  const { messages, system, key } = listOf(value);
  const options = system !== undefined && (format === "anthropic" || format === "gemini") ? { system } : {};
  const { items, warnings } = messagesToItems(messages, format, options);
  return { format, items, key, warnings: warnings.map(({ message, path }) => `${path}: ${message}`) };
}

/** A session of the page's own: items as the package wrote them, one a line. */
function recorded(text: string): Transcript {
  return { format: "session", items: text.trim().split("\n").map((line) => parse(line) as ContextItem), warnings: [] };
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
const isItem = (value: unknown): boolean => isRecord(value) && ("kind" in value || "text" in value) && !("role" in value);

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

/** Every line that is wrong. What is no JSON is only named, because the parser's words may quote it. */
function withLines(error: ContextWeaverError): Error {
  const { problems, problem_count } = (error.details ?? {}) as {
    problems?: readonly { line: number; code: string; message: string; path: string }[];
    problem_count?: number;
  };
  if (!problems?.length) return error;
  const told = problems.slice(0, MAX_PROBLEMS).map(({ line, code, message, path }) => {
    if (code === "DECODE_FAILED") return `line ${line}: not valid JSON`;
    return `line ${line}${path && ` at ${path}`}: ${message} [${code}]`;
  });
  const rest = (problem_count ?? problems.length) - told.length;
  if (rest > 0) told.push(`and ${rest.toLocaleString("en")} more`);
  return new InputError(told.join("\n"));
}

/** The messages of a request or a bare list, with the instructions beside them. */
function listOf(value: unknown): { messages: readonly unknown[]; system: unknown; key: string } {
  if (Array.isArray(value)) return { messages: value, system: undefined, key: "" };
  const record = isRecord(value) ? value : {};
  const key = ["messages", "contents", "input"].find((each) => Array.isArray(record[each]));
  const messages = key === undefined ? undefined : (record[key] as readonly unknown[]);
  if (!messages) throw new InputError("there is no list of messages in it");
  return { messages, key: `.${key}`, system: record["system"] ?? record["systemInstruction"] ?? record["system_instruction"] };
}

/** Whose messages they are, by what only that provider writes; what all write is read as OpenAI chat. */
function recognise(value: unknown): Exclude<TranscriptFormat, "recorded"> {
  if (isRecord(value) && "event_log" in value) return "snapshot";
  if (isRecord(value) && Array.isArray(value["items"])) return "session";
  const { messages } = listOf(value);
  if (messages.length > 0 && messages.every(isItem)) return "session";
  for (const message of messages) {
    const format = isRecord(message) ? ofMessage(message) : undefined;
    if (format) return format;
  }
  if (isRecord(value) && "contents" in value) return "gemini";
  if (isRecord(value) && "input" in value) return "openai-responses";
  return isRecord(value) && "system" in value ? "anthropic" : "openai-chat";
}

const RESPONSES = ["function_call", "function_call_output", "reasoning", "message", "item_reference"];

function ofMessage(message: Record<string, unknown>): MessageFormat | undefined {
  const { role, content, parts, type, tool_calls } = message;
  if (Array.isArray(parts)) {
    return parts.some((part) => isRecord(part) && typeof part["type"] === "string") ? "ai-sdk-ui" : "gemini";
  }
  if (typeof type === "string" && RESPONSES.includes(type)) return "openai-responses";
  if (tool_calls !== undefined || message["tool_call_id"] !== undefined) return "openai-chat";
  if (!Array.isArray(content)) return undefined;
  const types = content.map((block) => (isRecord(block) ? block["type"] : undefined));
  if (types.some((each) => each === "tool-call" || each === "tool-result")) return "ai-sdk-model";
  if (types.some((each) => each === "tool_use" || each === "tool_result" || each === "thinking")) return "anthropic";
  if (types.some((each) => each === "input_text" || each === "output_text")) return "openai-responses";
  if (types.some((each) => each === "image_url")) return "openai-chat";
  return role === "tool" ? "ai-sdk-model" : undefined;
}
