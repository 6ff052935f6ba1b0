// Messages of any provider as chat completions, by the package's own converters.
import { ContextWeaverError } from "../boundary/errors.js";
import { itemsToMessages, messagesToItems } from "../messages/messages.js";
import type { MessageFormat } from "../messages/message-types.js";
import type { ChatMessage } from "./events.js";

/**
 * Converts what follows in a conversation. `known` has the ids of calls that stand before; it gets those of the calls that are converted.
 * A result whose call stands before is not given another one.
 */
export function toChat(messages: readonly unknown[], format: MessageFormat, known: Set<string>): readonly ChatMessage[] {
  const read = messagesToItems(messages, format);
  const written = itemsToMessages(read.items, "openai-chat").messages as unknown as readonly ChatMessage[];
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
