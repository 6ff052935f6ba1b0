// Sessions of contextweaver: an item a line, a list of them, or a snapshot of a manager. What follows on something that no model wrote is an
// answer, and answers a call.
import { itemsToMessages } from "../../messages/messages.js";
import type { ContextItem } from "../../types.js";
import { conversionProblem } from "../chat.js";
import type { ChatMessage, Reader, SessionEvent, Source } from "../events.js";
import { at, fieldsOf, listOf } from "../json-fields.js";
import type { Fields } from "../json-fields.js";
import { calls } from "./chat-messages.js";

const CONVERSATION = "main";
/** What no prompt has by default. */
const WITHHELD = ["confidential", "restricted"];

export const items: Reader = {
  name: "contextweaver",
  recognise: (first) => first.length > 0 && first.every((value) => isItem(value) || (first.length === 1 && itemsOf(value).length > 0)),
  read,
};

function isItem(value: unknown): boolean {
  const { id, kind, text } = fieldsOf(value);
  return typeof id === "string" && typeof kind === "string" && typeof text === "string";
}

/** The items of a list, of a document with one, or of a snapshot. */
function itemsOf(value: unknown): readonly Fields[] {
  const found = [value, at(value, "items"), at(value, "event_log"), at(value, "event_log", "items")].find((list) => Array.isArray(list) && list.length > 0 && list.every(isItem));
  return listOf(found).map(fieldsOf);
}

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  yield { kind: "begin", conversation: CONVERSATION, session: path.split(/[\\/]/).at(-1) ?? path };
  const all: Fields[] = [];
  for await (const { line, value } of values) {
    if (isItem(value)) all.push(fieldsOf(value));
    else if (itemsOf(value).length > 0) all.push(...itemsOf(value));
    else yield { kind: "problem", line, reason: "the line is no item" };
  }
  const shown = all.filter(({ sensitivity }) => !WITHHELD.includes(String(sensitivity)));
  if (shown.length < all.length) yield { kind: "problem", reason: `${all.length - shown.length} items are confidential or restricted: they are in no prompt` };
  try {
    const { messages } = itemsToMessages(shown as unknown as readonly ContextItem[], "openai-chat", { close_calls: true });
    yield* calls(messages as unknown as readonly ChatMessage[], undefined);
  } catch (error) {
    yield { kind: "problem", reason: conversionProblem(error) };
  }
  yield { kind: "end", conversation: CONVERSATION };
}
