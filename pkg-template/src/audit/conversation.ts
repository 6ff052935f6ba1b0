// One conversation while it is read: its messages, their tokens, and how many of them the call before had.
import { framedTokens } from "../adapters/agent-loop.js";
import { TextHash } from "../adapters/text-hash.js";
import { countTokens } from "../manager/text.js";
import { textOfMessage } from "./chat.js";
import type { BackReason, ChatMessage, RecordedCall } from "./events.js";
import type { PriceBook, Pricing } from "./pricing.js";

/** Tokens that providers put around a message, a call or a result, as the engine counts them. */
const FRAME = 4;
/** Tokens of an image of about 1,000 by 1,000 pixels, and of other media. */
const IMAGE_TOKENS = 1300;
const MEDIA_TOKENS = 1000;

/** Why a call did not find the call before in the provider's cache. */
export type BreakReason = BackReason | "model" | "route" | "tools" | "instructions" | "pause" | "provider";

/** A call of a model with the messages that it was sent. Tokens are those of the engine's estimator, except for `head`. */
export interface Call extends RecordedCall {
  /** Number of the call in its conversation, from 1. */
  readonly number: number;
  readonly messages: readonly ChatMessage[];
  /** Tokens up to each message, that one included. */
  readonly ends: readonly number[];
  /**
   * Tokens of the instructions and tools before the messages. Those that are recorded are counted by the estimator. The rest
   * is what the provider counted in the first call beyond these and the messages.
   */
  readonly head: number;
  /** Hash of the recorded instructions and tools. */
  readonly head_key: string;
  /** How many messages, from the first on, the call before had as well. */
  readonly shared: number;
  /** How many messages the call before had. */
  readonly before: number;
  /** Tokens of messages behind the shared ones that an earlier call had sent as well. */
  readonly resent: number;
  /** Why the provider's cache does not have all that the call before sent; absent where it should have it. */
  readonly lost?: BreakReason | undefined;
  /**
   * Whether the provider's cache has nothing of the call before: it has expired, the model, the instructions or the tools
   * changed, or a router chose a provider that was not asked yet. Always true of a call that writes a summary.
   */
  readonly isCold: boolean;
  readonly pricing: Pricing;
  /**
   * Whether another file has recorded the same call, which was counted there. It is part of this conversation all the same.
   */
  readonly isCopy: boolean;
}

/** Counts the tokens of a message. */
export function tokensOf(message: ChatMessage): number {
  const { content, tool_calls: calls = [] } = message;
  const media = typeof content === "string" || content === null ? [] : content.filter(({ type }) => type !== "text");
  const texts = [
    textOfMessage(message),
    ...calls.map(({ function: { name, arguments: given } }) => `${name} ${given}`),
  ].filter((text) => text !== "");
  const counted = texts.length === 0 ? 0 : countTokens(texts.join("\n"));
  return (
    counted +
    FRAME * (1 + calls.length) +
    media.reduce((sum, { type }) => sum + (type === "image_url" ? IMAGE_TOKENS : MEDIA_TOKENS), 0)
  );
}

function keyOf(message: ChatMessage): string {
  return new TextHash().add(`${message.role} ${textOfMessage(message)} ${JSON.stringify(message.tool_calls ?? "")}`);
}

/** The state of a conversation as far as it was read. */
export class Conversation {
  readonly session: string;
  readonly parent: string | undefined;
  readonly messages: ChatMessage[] = [];
  readonly ends: number[] = [];
  /** Calls so far. */
  calls = 0;
  /** Characters of the messages. */
  held = 0;
  #head: { instructions?: string | undefined; tools?: string | undefined } = {};
  /**
   * Tokens of the head: `#known` counts the recorded instructions and tools, `#unknown` is what the provider counted in the
   * first call beyond these and the messages.
   */
  #known = 0;
  #unknown = 0;
  #headKey = "";
  #shared = 0;
  #before = 0;
  #change: BreakReason | undefined;
  /** Messages that were sent before the conversation went back over them, by hash. Sent again, they count as resent. */
  readonly #left = new Set<string>();
  #resent = 0;
  #last: Pick<RecordedCall, "at" | "model" | "provider"> | undefined;
  /** Seconds that the provider keeps what is written, from the first write for an hour on; 0 before that. */
  #keeps = 0;
  /** When each provider behind a router was asked last, and with which head. */
  readonly #asked = new Map<string, { readonly at: number | undefined; readonly head: string }>();

  constructor(session: string, parent: string | undefined) {
    [this.session, this.parent] = [session, parent];
  }

  add(messages: readonly ChatMessage[]): void {
    for (const message of messages) {
      const tokens = tokensOf(message);
      if (this.#left.size > 0 && this.#left.has(keyOf(message))) this.#resent += tokens;
      this.messages.push(message);
      this.ends.push((this.ends.at(-1) ?? 0) + tokens);
      this.held += textOfMessage(message).length;
    }
  }

  /** Goes back: only the first `to` messages stay. */
  back(to: number, why: BackReason): void {
    const gone = this.messages.splice(to);
    this.ends.length = this.messages.length;
    for (const message of gone) this.held -= textOfMessage(message).length;
    if (to >= this.#shared) return;
    // Messages that come again are not new, although the cache does not have them at their new place. Those that no call
    // sent are.
    for (const message of gone.slice(0, this.#shared - to)) this.#left.add(keyOf(message));
    this.#shared = to;
    this.#change ??= why;
  }

  setHead(instructions: string | undefined, tools: string | undefined): void {
    const isFirst = this.calls === 0;
    if (!isFirst && tools !== this.#head.tools) this.#change ??= "tools";
    else if (!isFirst && instructions !== this.#head.instructions) this.#change ??= "instructions";
    this.#head = { instructions, tools };
    this.#headKey = new TextHash().add(JSON.stringify([instructions, tools]));
    this.#known = framedTokens(
      [instructions, tools].filter((text): text is string => text !== undefined && text !== ""),
    );
  }

  /**
   * Takes a call that sends the messages so far. `factor` is how many tokens of its model one of the estimator stands for.
   */
  call(recorded: RecordedCall, book: PriceBook, factor: number, isCopy: boolean): Call {
    this.calls += 1;
    let pricing = book.of(recorded.model);
    const { usage } = recorded;
    // From the first write for an hour on, all that is written is taken to be kept for an hour.
    if ((usage?.written_hour ?? 0) > 0) this.#keeps = pricing.forAnHour().cache.kept_seconds;
    if (this.#keeps > pricing.cache.kept_seconds) pricing = pricing.forAnHour();
    const counted = usage === undefined ? 0 : usage.input - this.#known - factor * (this.ends.at(-1) ?? 0);
    if (this.calls === 1) this.#unknown = Math.max(0, Math.round(counted));
    const [lost, isCold] =
      recorded.isSummary === true ? (["compaction", true] as const) : this.#lost(recorded, pricing);
    const call: Call = {
      ...recorded,
      number: this.calls,
      messages: this.messages,
      ends: this.ends,
      head: this.#known + this.#unknown,
      head_key: this.#headKey,
      shared: this.#shared,
      before: this.#before,
      resent: this.#resent,
      lost,
      isCold,
      pricing,
      isCopy,
    };
    // A summary is written aside: the next call goes on from the call before it.
    if (recorded.isSummary === true) return call;
    if (recorded.provider !== undefined) this.#asked.set(recorded.provider, { at: recorded.at, head: this.#headKey });
    this.#last = {
      at: recorded.at ?? this.#last?.at,
      model: recorded.model ?? this.#last?.model,
      provider: recorded.provider ?? this.#last?.provider,
    };
    [this.#shared, this.#before, this.#change, this.#resent] = [
      this.messages.length,
      this.messages.length,
      undefined,
      0,
    ];
    this.#left.clear();
    return call;
  }

  /**
   * Returns why the cache does not have all of the call before (undefined where it should), and whether it has nothing of
   * it.
   */
  #lost({ at, model, provider }: RecordedCall, { cache }: Pricing): readonly [BreakReason | undefined, boolean] {
    const last = this.#last;
    if (!last) return [undefined, false];
    if (model !== undefined && last.model !== undefined && model !== last.model) return ["model", true];
    const isLater = (than: number | undefined): boolean =>
      at !== undefined && than !== undefined && at - than > cache.kept_seconds * 1000;
    // Each provider behind a router has a cache of its own, with what it was sent last.
    if (provider !== undefined && last.provider !== undefined && provider !== last.provider) {
      const asked = this.#asked.get(provider);
      return ["route", asked === undefined || isLater(asked.at) || asked.head !== this.#headKey];
    }
    const isLate = isLater(last.at);
    if (this.#change) return [this.#change, isLate || this.#change === "tools" || this.#change === "instructions"];
    return isLate ? ["pause", true] : [undefined, false];
  }
}
