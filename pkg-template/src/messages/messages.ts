// Messages of providers as items and back.
import { convertCall } from "./convert-call.js";
import { encode, encodeAll, fields, readArgument, text } from "../boundary/guard.js";
import { MESSAGES, SNAPSHOT } from "../boundary/guard-limits.js";
import type {
  FoundMessages,
  MessageFormat,
  ReadMessages,
  ReadMessagesOptions,
  WriteMessagesOptions,
  WrittenMessages,
} from "./message-types.js";
import type { ContextItem } from "../types.js";

/**
 * Reads messages of a provider as items of a log. What has no text of its own, such as images, reasoning and blocks that
 * nobody here knows, rides on the items beside it and comes back byte for byte with {@link itemsToMessages}.
 *
 * An error names the place, such as `/messages/3/content/0/id`. What does not fit together, like a result without its call,
 * is told by `warnings`. Linear in the messages.
 *
 * Messages need not be JSON: a `Date` counts as the text that JSON.stringify makes of it, a `URL` as its address, and the bytes
 * of a `Uint8Array`, `Buffer` or `ArrayBuffer` as base64. Everything else is what JSON.stringify makes of it, and an error its name
 * and message; what that refuses, such as a `BigInt` or a cycle, is text (`VALUE_REPAIRED`). Half of a surrogate pair is U+FFFD
 * (`TEXT_REPAIRED`), and what is too deep or too large is cut (`VALUE_CUT`). Nothing of yours is changed.
 */
export function messagesToItems(
  messages: readonly unknown[],
  format: MessageFormat,
  options?: ReadMessagesOptions,
): ReadMessages {
  const { json, repairs } = readArgument({ ...fields(options), messages, format }, MESSAGES);
  const read: ReadMessages = convertCall("messages_to_items", json);
  return { ...read, warnings: [...repairs, ...read.warnings] };
}

/**
 * Recognises messages of a provider: a list of them, or a request that has one. Calls, results and parts that one format alone has tell
 * whose they are; plain texts are taken for those of OpenAI's chat completions, of a request for what its fields say. `undefined` where
 * there is no list of messages, or more than one. Linear in the messages.
 */
export function findMessages(document: unknown): FoundMessages | undefined {
  const { json } = readArgument({ document }, { ...MESSAGES, repaired: ["document"] });
  return convertCall<FoundMessages | null>("find_messages", json) ?? undefined;
}

/**
 * Writes items as messages that a provider accepts: every call with its results, roles in turn, ids in the form it wants.
 * What had to be repaired or left out is told by `warnings`. Where the text of an item is what it was when it was read, its
 * message comes back as it was; otherwise the text counts. Items of any format can be written in any other: images, sounds and
 * files go along where the format has a place for them, elsewhere a line stands for them (`MEDIA_LEFT_OUT`).
 *
 * The tool of a call is `function_name` or `tool_name` in its metadata, or in that of its results, or what its text begins
 * with. Its arguments are its text: a JSON object, or one as in `name({...})`, `name {...}` and `name()`. Where there is
 * nothing of that, the tool is `tool` (`NAME_MISSING`), and the text its argument `input` (`ARGUMENTS_UNREAD`).
 */
export function itemsToMessages<F extends MessageFormat>(
  items: Iterable<ContextItem>,
  format: F,
  options?: WriteMessagesOptions,
): WrittenMessages<F> {
  const rest = encode({ ...fields(options), format: text(format, "/format") });
  return convertCall("items_to_messages", `${rest.slice(0, -1)},"items":${encodeAll(items, "/items", SNAPSHOT)}}`);
}

/** Reads messages as {@link messagesToItems} does and writes them as {@link itemsToMessages} does; the items cross nowhere. @internal */
export function rewriteMessages<F extends MessageFormat>(
  messages: readonly unknown[],
  format: MessageFormat,
  to: F,
): WrittenMessages<F> {
  const { json, repairs } = readArgument({ messages, format, to }, MESSAGES);
  const written: WrittenMessages<F> = convertCall("messages_to_messages", json);
  return { ...written, warnings: [...repairs, ...written.warnings] };
}
