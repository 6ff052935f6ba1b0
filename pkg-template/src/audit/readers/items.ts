// Sessions of contextweaver: an item a line, a list of them, or a snapshot of a manager. What follows on something that no model wrote is an
// answer, and answers a call. A snapshot has the results of which its log has digests, and what was counted while it ran.
import { itemsToMessages } from "../../messages/messages.js";
import type { ContextWeaverError } from "../../boundary/errors.js";
import type { ContextItem } from "../../types.js";
import { conversionProblem, textOfMessage } from "../chat.js";
import type { ChatMessage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, listOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import { calls } from "./chat-messages.js";
import { StoredResults, ranOf } from "./snapshot.js";
import type { Ran } from "./snapshot.js";

const CONVERSATION = "main";
/** What no prompt has by default. */
const WITHHELD = ["confidential", "restricted"];

export const items: Reader = {
  name: "contextweaver",
  recognise: (first) =>
    first.length > 0 && first.every((value) => isItem(value) || (first.length === 1 && itemsOf(value).length > 0)),
  read,
};

function isItem(value: unknown): boolean {
  const { id, kind, text } = fieldsOf(value);
  return typeof id === "string" && typeof kind === "string" && typeof text === "string";
}

/** The items of a list, of a document with one, or of a snapshot. */
function itemsOf(value: unknown): readonly Fields[] {
  const found = [value, at(value, "items"), at(value, "event_log"), at(value, "event_log", "items")].find(
    (list) => Array.isArray(list) && list.length > 0 && list.every(isItem),
  );
  return listOf(found).map(fieldsOf);
}

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  const all: Placed[] = [];
  let snapshot: unknown;
  for await (const { line, value } of values) {
    if (isItem(value)) all.push({ line, item: fieldsOf(value) });
    else if (itemsOf(value).length > 0) {
      snapshot ??= value;
      all.push(...itemsOf(value).map((item) => ({ line, item })));
    } else yield { kind: "problem", line, reason: "the line is no item" };
  }
  const ran = ranOf(snapshot, all.length);
  yield {
    kind: "begin",
    conversation: CONVERSATION,
    session: path.split(/[\\/]/).at(-1) ?? path,
    account: ran.account,
  };
  const shown = all.filter(({ item: { sensitivity } }) => !WITHHELD.includes(String(sensitivity)));
  const withheld = all.length - shown.length;
  if (withheld > 0)
    yield {
      kind: "problem",
      reason: `${withheld === 1 ? "1 item is" : `${withheld} items are`} confidential or restricted, and in no prompt`,
    };
  const results = new StoredResults(snapshot);
  yield* converted(shown, results, ran);
  for (const reason of results.problems()) yield { kind: "problem", reason };
  yield { kind: "end", conversation: CONVERSATION };
}

/** An item, and the line where it stands. */
interface Placed {
  readonly line: number;
  readonly item: Fields;
}

/** Items that are left out because they are none, one after the other. */
const MAX_LEFT_OUT = 100;

/** Converts items to calls and messages; what is no item is told and left out. */
function* converted(all: readonly Placed[], results: StoredResults, { model, isCalled }: Ran): Generator<SessionEvent> {
  const left = [...all];
  for (let tries = 0; ; tries += 1) {
    try {
      const { messages } = itemsToMessages(
        left.map(({ item }) => item) as unknown as readonly ContextItem[],
        "openai-chat",
        { close_calls: true },
      );
      const chat = withWhole(messages as unknown as readonly ChatMessage[], left, results);
      yield* calls(chat, model);
      if (isCalled && chat.at(-1)?.role !== "assistant")
        yield { kind: "call", conversation: CONVERSATION, call: { model } };
      return;
    } catch (error) {
      const reason = conversionProblem(error);
      const [, at] = /^\/items\/(\d+)/.exec((error as ContextWeaverError).path ?? "") ?? [];
      const [wrong] = at === undefined || tries === MAX_LEFT_OUT ? [] : left.splice(Number(at), 1);
      yield {
        kind: "problem",
        ...(wrong && { line: wrong.line }),
        reason: wrong ? (error as ContextWeaverError).message : reason,
      };
      if (!wrong) return;
    }
  }
}

/**
 * Puts whole results where the log has digests: a model that is sent everything gets them so. They are put into the messages, as items
 * together may be longer than what is converted at once.
 */
function withWhole(
  messages: readonly ChatMessage[],
  all: readonly Placed[],
  results: StoredResults,
): readonly ChatMessage[] {
  const wholes = new Map<string, { readonly digest: string; readonly whole: string }[]>();
  for (const { item } of all) {
    const whole = results.whole(item);
    const id = String(at(item, "metadata", "tool_call_id") ?? item["parent_id"]);
    if (whole !== undefined) wholes.set(id, [...(wholes.get(id) ?? []), { digest: String(item["text"]), whole }]);
  }
  return messages.map((message) => {
    const [next] = message.role === "tool" ? (wholes.get(message.tool_call_id ?? "") ?? []) : [];
    if (!next || textOfMessage(message) !== next.digest) return message;
    wholes.get(message.tool_call_id ?? "")?.shift();
    return { ...message, content: next.whole };
  });
}
