// Marks for a provider's cache that a client moves on from call to call. A message is the same with one and without, so they are taken off
// before the log compares messages, and put back where their messages stand in the prompt.
import type { Fields } from "./model-prompt.js";
import { keyText } from "./text-hash.js";

/** How marks are written in a format. */
export interface MarkSyntax {
  /** Splits a message or a part: its mark, and what it is without; undefined where it bears none. */
  readonly split: (record: Fields) => { readonly mark: Fields; readonly bare: Fields } | undefined;
  readonly put: (record: Fields, mark: Fields) => Fields;
  /** Whether a text that is no list of parts becomes one to be marked; otherwise its message is. */
  readonly isOfParts: boolean;
}

/** Of chat completions, as OpenRouter and others take it for models of Anthropic: of parts, and of results as a whole. */
export const CHAT_MARKS: MarkSyntax = {
  split(record) {
    if (record["cache_control"] == null) return undefined;
    const { cache_control, ...bare } = record;
    return { mark: { cache_control }, bare };
  },
  put: (record, mark) => ({ ...record, ...mark }),
  isOfParts: true,
};

/** A message that was marked. */
interface MarkedMessage {
  readonly key: string;
  readonly mark: Fields | undefined;
  /** Marks of its parts, counted from its last one, as what is left out of a message is mostly above. */
  readonly parts: readonly (readonly [fromEnd: number, mark: Fields])[];
  readonly isLast: boolean;
  /** Whether it is of the instructions. */
  readonly isAbove: boolean;
}

/** Messages without their marks, and what puts these back. */
export interface BareMessages<Message> {
  readonly messages: readonly Message[];
  readonly putBack: <Sent>(sent: readonly Sent[]) => readonly Sent[];
}

/** Takes marks off. Without any all is as it was. */
export function takeMarks<Message>(messages: readonly Message[], syntax: MarkSyntax): BareMessages<Message> {
  const marked: MarkedMessage[] = [];
  const bare = messages.map((message, at) => {
    if (typeof message !== "object" || message === null) return message;
    const own = syntax.split(message as Fields);
    const record = own?.bare ?? (message as Fields);
    const content = record["content"];
    const parts: [number, Fields][] = [];
    const without = Array.isArray(content)
      ? content.map((part: unknown, place) => {
          const one = typeof part === "object" && part !== null ? syntax.split(part as Fields) : undefined;
          if (one) parts.push([content.length - 1 - place, one.mark]);
          return one?.bare ?? part;
        })
      : content;
    if (!own && parts.length === 0) return message;
    const whole = parts.length > 0 ? { ...record, content: without } : record;
    const isLast = at === messages.length - 1;
    marked.push({ key: keyOf(whole), mark: own?.mark, parts, isLast, isAbove: isInstruction(whole) });
    return whole as Message;
  });
  if (marked.length === 0) return { messages, putBack: (sent) => sent };
  return { messages: bare, putBack: (sent) => withMarks(sent as readonly Fields[], marked, syntax) as never };
}

/** Puts marks back; one of the last message, which may be shown otherwise than it came, goes to the end. */
function withMarks(sent: readonly Fields[], marked: readonly MarkedMessage[], syntax: MarkSyntax): readonly Fields[] {
  const places = new Map(sent.map((message, at) => [keyOf(message), at]));
  // Instructions may be shown as one message.
  const instructions = sent.map(isInstruction).lastIndexOf(true);
  const result = [...sent];
  for (const { key, mark, parts, isLast, isAbove } of marked) {
    const at = places.get(key) ?? (isAbove ? instructions : isLast ? result.length - 1 : -1);
    const message = result[at];
    if (!message) continue;
    result[at] = parts.reduce<Fields>(
      (whole, [fromEnd, one]) => withPart(whole, fromEnd, one, syntax),
      mark ? syntax.put(message, mark) : message,
    );
  }
  return result;
}

/** Puts a mark at a part, counted from the last one; a text becomes a part where marks are of parts. */
export function withPart(message: Fields, fromEnd: number, mark: Fields, syntax: MarkSyntax): Fields {
  const content = message["content"];
  if (typeof content === "string") {
    if (!syntax.isOfParts) return syntax.put(message, mark);
    return content === "" ? message : { ...message, content: [syntax.put({ type: "text", text: content }, mark)] };
  }
  if (!Array.isArray(content) || content.length === 0) return message;
  const at = Math.max(0, content.length - 1 - fromEnd);
  return { ...message, content: content.map((part: Fields, place) => (place === at ? syntax.put(part, mark) : part)) };
}

/** What a message is known by in a prompt: calls and results by their ids, as they may be shown otherwise than they came. */
function keyOf(message: Fields): string {
  const { role, content, tool_call_id: answered, tool_calls: calls } = message;
  const parts = Array.isArray(content) ? (content as readonly Fields[]) : [];
  const ids = [answered, ...(Array.isArray(calls) ? (calls as readonly Fields[]) : []).map(({ id }) => id)]
    .concat(parts.map(({ toolCallId }) => toolCallId))
    .filter((id) => id !== undefined);
  const text = typeof content === "string" ? content : parts.map(textOf).join("\n");
  return JSON.stringify([role, ids.length > 0 ? ids : text]);
}

function isInstruction({ role }: Fields): boolean {
  return role === "system" || role === "developer";
}

function textOf(part: Fields): string {
  return typeof part["text"] === "string" ? part["text"] : keyText(part);
}
