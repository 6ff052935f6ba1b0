// Cache marks that the client sets itself and moves to newer messages from call to call. A moved mark is no edit of a
// message, so marks are taken off before the log compares messages, and put back on the same messages in the prompt.
import type { Fields } from "./model-prompt.js";
import { keyText } from "./text-hash.js";

/** How a message format writes cache marks. */
export interface MarkSyntax {
  /** Splits a message or a part into its mark and the rest; undefined where it has no mark. */
  readonly split: (record: Fields) => { readonly mark: Fields; readonly bare: Fields } | undefined;
  readonly put: (record: Fields, mark: Fields) => Fields;
  /**
   * How to mark a message whose content is a string: true turns the string into a list of one marked part, false marks the
   * message itself.
   */
  readonly isOfParts: boolean;
}

/**
 * Marks in chat completions, as OpenRouter and others accept them for Anthropic models: on parts of a message, and on a tool
 * result as a whole.
 */
export const CHAT_MARKS: MarkSyntax = {
  split(record) {
    if (record["cache_control"] == null) return undefined;
    const { cache_control, ...bare } = record;
    return { mark: { cache_control }, bare };
  },
  put: (record, mark) => ({ ...record, ...mark }),
  isOfParts: true,
};

/** A message that came with marks. */
interface MarkedMessage {
  readonly key: string;
  readonly mark: Fields | undefined;
  /**
   * Marks of its parts, each with the distance of the part from the last one: parts that a prompt leaves out are mostly at
   * the start.
   */
  readonly parts: readonly (readonly [fromEnd: number, mark: Fields])[];
  readonly isLast: boolean;
  /** The message holds instructions. */
  readonly isAbove: boolean;
}

/** Messages without their marks, and a function that puts the marks back into a prompt. */
export interface BareMessages<Message> {
  readonly messages: readonly Message[];
  readonly putBack: <Sent>(sent: readonly Sent[]) => readonly Sent[];
}

/** Takes the marks off messages. Messages without marks are returned as they are. */
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

/**
 * Puts marks back on the messages that had them. If the prompt does not have such a message, its marks are lost; only those
 * of the last message then go on the prompt's last message, because a prompt may show it in another form.
 */
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

/**
 * Marks the part at a distance from the last one (0), or the first part where there are fewer. String content is marked as
 * `isOfParts` of the syntax says.
 */
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

/**
 * Returns the key by which a message is found in a prompt: its role with the ids of its calls and results, or with its text
 * where it has no ids. Ids stay the same where the prompt shows a result in another form. Instructions are found by their
 * role alone.
 */
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
