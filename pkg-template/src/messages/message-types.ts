// Messages of providers: what goes into their conversion and what comes out.
import type { BuildOptions } from "../manager/options.js";
import type { MessagesOfFormat, SystemOfFormat } from "./provider-messages.js";
import type { ContextPack, MessageWarning, RunningStep, StoredItem } from "../types.js";
import type { MESSAGE_FORMATS } from "./message-formats.js";

export type { SyncedMessages } from "../generated.js";
export type { MessageWarning } from "../types.js";

/**
 * Whose messages they are: `messages` of OpenAI's chat completions, `input` of OpenAI's Responses, `messages` of Anthropic,
 * `contents` of Gemini, `UIMessage` or `ModelMessage` of the AI SDK.
 */
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Where a document has messages of a provider, and whose they are. */
export interface FoundMessages {
  readonly format: MessageFormat;
  /** The field that has the messages; absent where the document is the list. */
  readonly list?: "messages" | "contents" | "input";
  /** The field that has the instructions, where they stand beside the messages. */
  readonly system?: "system" | "systemInstruction" | "system_instruction";
}

/** How to read messages. */
export interface ReadMessagesOptions {
  /** Index of the first message, where the list goes on from another: ids and records count from it. Default: 0. */
  readonly start?: number;
  /** What the ids of items begin with that are neither call nor result. Default: `message:`. */
  readonly id_prefix?: string;
  /** Calls of earlier messages, which these may answer: the provider's id of each, and the id of its item. */
  readonly known_calls?: Readonly<Record<string, string>>;
  /** What stands beside the messages: of Anthropic `system`, of Gemini `systemInstruction`. `UNSUPPORTED` for the others. */
  readonly system?: unknown;
}

/** What messages became. */
export interface ReadMessages {
  /** In the order of the messages. */
  readonly items: readonly StoredItem[];
  readonly warnings: readonly MessageWarning[];
}

/** How to write messages. */
export interface WriteMessagesOptions extends SignatureOptions {
  /** Answers calls at the end that have no result yet, for requests that are not a tool's turn; what waits for an approval stays open. Default: false. */
  readonly close_calls?: boolean;
}

/** Messages for a request to a provider, as its SDK takes them. */
export interface WrittenMessages<F extends MessageFormat = MessageFormat> {
  /** A list of your own. */
  readonly messages: MessagesOfFormat[F][];
  /** What goes beside the messages: of Anthropic `system`, of Gemini `systemInstruction`. */
  readonly system?: SystemOfFormat[F];
  readonly warnings: readonly MessageWarning[];
}

/** How to read messages into a log, which knows where they begin and what they answer. */
export type IngestMessagesOptions = Pick<ReadMessagesOptions, "id_prefix" | "system">;

/** What became of messages in the log. */
export interface IngestedMessages {
  /** The new items, in order. */
  readonly ids: readonly string[];
  readonly warnings: readonly MessageWarning[];
}

/** How to read a conversation into a log. */
export type SyncMessagesOptions = IngestMessagesOptions;

/** What is known of a model that signs its calls. */
export interface SignatureOptions {
  /**
   * Whether the model refuses calls without a `thoughtSignature`, as Gemini 3 does. The first call of each message that has none then
   * gets the value that Google's documentation names for calls of other models. For `gemini` alone: `UNSUPPORTED` with other formats.
   * Default: false, which does so once another call of the conversation is signed, for calls that come from another format.
   */
  readonly thought_signatures?: boolean;
}

/** A prompt as messages: what {@link BuildOptions} say, and for whom. */
export interface BuildMessagesOptions<F extends MessageFormat = MessageFormat> extends BuildOptions, SignatureOptions {
  /** Whose messages are made. */
  readonly format: F;
  /** Answers calls at the end that have no result yet, for requests that are not a tool's turn; what waits for an approval stays open. Default: false, and true with `running: false`. */
  readonly close_calls?: boolean;
}

/** A prompt as messages. */
export interface BuiltMessages<F extends MessageFormat = MessageFormat> extends WrittenMessages<F> {
  /**
   * The same prompt as text, with its record: what was kept, and why not the rest. It keeps to the budget, too;
   * `stats.prompt_tokens` counts this text, not the messages. Of a running prompt, all but `stats` is made when it is first read: up
   * to the second cut after it, and before the manager is freed.
   */
  readonly pack: ContextPack;
  /** The step of a running prompt; absent with `running: false`. */
  readonly step?: RunningStep;
  /**
   * Tokens of all that is sent, never more than the budget: every text of the messages and of `system` (ids, names, roles
   * and what stands for missing results too), arguments and structured results with their keys, images by their size as the
   * provider counts them (those of 1,024 by 1,024 pixels about 1,200 to 1,400), other media 1,000 each, and 4 for each message,
   * each tool call and each tool result, which providers put a frame around.
   */
  readonly tokens: number;
}
