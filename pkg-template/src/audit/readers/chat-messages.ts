// Conversations as lists of messages of OpenAI, Anthropic, Gemini or the AI SDK: a document, or a message a line. Each message that a
// model wrote answers a call.
import { findMessages } from "../../messages/messages.js";
import { conversionProblem, toChat } from "../chat.js";
import type { ChatMessage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { listOf, textOf } from "../json-fields.js";
import type { MessageFormat } from "../../messages/message-types.js";

const CONVERSATION = "main";
const ROLES = ["system", "developer", "user", "assistant", "model", "tool", "function"];

export const chatMessages: Reader = {
  name: "chat-messages",
  recognise: (first) =>
    first.length > 0 && (first.every(isMessage) || (first.length === 1 && foundIn(first[0]) !== undefined)),
  read,
};

/** A message has who said it, and what: under other names it may be anything. */
function isMessage(value: unknown): boolean {
  const message = fieldsOf(value);
  return ROLES.includes(String(message["role"])) && ["content", "parts", "tool_calls"].some((key) => key in message);
}

/** Where documents have their messages. */
const LISTS = ["messages", "contents", "input", "history"];
/** Messages that tell whose they are, and that are converted at once. */
const SAMPLE = 64;

/** The messages of a document, and whose they are; none of all else. */
function foundIn(
  value: unknown,
): { readonly messages: readonly unknown[]; readonly format: MessageFormat } | undefined {
  const fields = fieldsOf(value);
  const messages = Array.isArray(value) ? listOf(value) : listOf(LISTS.map((key) => fields[key]).find(Array.isArray));
  const sample = messages.slice(0, SAMPLE);
  if (!sample.some(isMessage)) return undefined;
  const format = findMessages(sample)?.format;
  return format || sample.every(isMessage) ? { messages, format: format ?? "openai-chat" } : undefined;
}

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  yield { kind: "begin", conversation: CONVERSATION, session: path.split(/[\\/]/).at(-1) ?? path };
  const lines: unknown[] = [];
  for await (const { line, value } of values) {
    if (isMessage(value)) lines.push(value);
    else if (foundIn(value)) yield* conversation(value);
    else yield { kind: "problem", line, reason: "the line is no message" };
  }
  if (lines.length > 0) yield* conversation(lines);
  yield { kind: "end", conversation: CONVERSATION };
}

function* conversation(value: unknown): Generator<SessionEvent> {
  const { messages, format } = foundIn(value) ?? { messages: [], format: "openai-chat" as const };
  const fields = fieldsOf(value);
  const system =
    fields["system"] ?? fields["instructions"] ?? fields["systemInstruction"] ?? fields["system_instruction"];
  const instructions = system == null ? undefined : typeof system === "string" ? system : JSON.stringify(system);
  const tools = listOf(fields["tools"]);
  if (instructions !== undefined || tools.length > 0)
    yield {
      kind: "head",
      conversation: CONVERSATION,
      instructions,
      tools: tools.length > 0 ? JSON.stringify(tools) : undefined,
    };
  const chat: ChatMessage[] = [];
  const known = new Set<string>();
  for (let from = 0; from < messages.length; from += SAMPLE) {
    try {
      chat.push(...toChat(messages.slice(from, from + SAMPLE), format, known));
    } catch (error) {
      yield { kind: "problem", reason: conversionProblem(error) };
    }
  }
  yield* calls(chat, textOf(fields["model"]));
}

/** A call before each message of the model; those that follow each other are one answer. */
export function* calls(messages: readonly ChatMessage[], model: string | undefined): Generator<SessionEvent> {
  let before: ChatMessage | undefined;
  for (const message of messages) {
    if (message.role === "assistant" && before !== undefined && before.role !== "assistant")
      yield { kind: "call", conversation: CONVERSATION, call: { model } };
    yield { kind: "messages", conversation: CONVERSATION, messages: [message] };
    before = message;
  }
}
