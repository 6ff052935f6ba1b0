// Messages of any provider as chat completions, by the package's own converters.
import { ContextWeaverError } from "../boundary/errors.js";
import { rewriteMessages } from "../messages/messages.js";
import type { MessageFormat } from "../messages/message-types.js";
import type { ChatMessage, ChatPart } from "./events.js";
import { fieldsOf } from "../boundary/fields.js";
import { listOf } from "./json-fields.js";
import type { Fields } from "../boundary/fields.js";

/**
 * Converts what follows in a conversation. `known` has the ids of calls that stand before; it gets those of the calls that are converted.
 * A result whose call stands before is not given another one.
 */
export function toChat(
  messages: readonly unknown[],
  format: MessageFormat,
  known: Set<string>,
): readonly ChatMessage[] {
  const written = rewriteMessages(messages, format, "openai-chat").messages as unknown as readonly ChatMessage[];
  const kept = known.size === 0 ? written : written.flatMap((message) => withoutKnown(message, known));
  for (const { tool_calls: calls = [] } of kept) for (const { id } of calls) known.add(id);
  return kept;
}

/** Leaves out a call that stands for one before. */
function withoutKnown(message: ChatMessage, known: ReadonlySet<string>): readonly ChatMessage[] {
  if (!message.tool_calls?.some(({ id }) => known.has(id))) return [message];
  const { tool_calls: all, ...rest } = message;
  const calls = all.filter(({ id }) => !known.has(id));
  if (calls.length > 0) return [{ ...rest, tool_calls: calls }];
  return rest.content === null || rest.content === "" ? [] : [rest];
}

const ROLES = ["system", "user", "assistant", "tool"];

/** A message as its type says, whatever a log has in its place. */
export function repaired(message: ChatMessage): ChatMessage {
  const { role, content, tool_calls: calls, tool_call_id: answers } = message as unknown as Fields;
  const text =
    typeof content === "string" || content === null
      ? content
      : Array.isArray(content)
        ? listOf(content).map(partOf)
        : content === undefined
          ? null
          : JSON.stringify(content);
  const known = listOf(calls).map((call, at) => {
    const { name, arguments: given } = fieldsOf(fieldsOf(call)["function"]);
    return {
      id: String(fieldsOf(call)["id"] ?? `call_${at}`),
      type: "function" as const,
      function: {
        name: String(name ?? "tool"),
        arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
      },
    };
  });
  return {
    role: (ROLES.includes(String(role)) ? role : "user") as ChatMessage["role"],
    content: text as ChatMessage["content"],
    ...(known.length > 0 && { tool_calls: known }),
    ...(role === "tool" && { tool_call_id: String(answers) }),
  };
}

function partOf(part: unknown): ChatPart {
  const { type, text } = fieldsOf(part);
  if (type === "text" || typeof type !== "string") return { type: "text", text: typeof text === "string" ? text : "" };
  return part as ChatPart;
}

/** Says why messages could not be converted; what is no matter of the messages is thrown on. */
export function conversionProblem(error: unknown): string {
  if (!ContextWeaverError.is(error)) throw error;
  return `${error.code}${error.path ? ` at ${error.path}` : ""}: ${error.message}`;
}

/** The text of a message as a model reads it. */
export function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text ?? "").join("\n");
}
