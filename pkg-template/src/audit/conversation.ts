// One conversation while it is read: its messages, what each takes, and what of them the call before had.
import { framedTokens } from "../adapters/agent-loop.js";
import { TextHash } from "../adapters/text-hash.js";
import { countTokens } from "../manager/text.js";
import { textOfMessage } from "./chat.js";
import type { BackReason, ChatMessage, RecordedCall } from "./events.js";
import type { PriceBook, Pricing } from "./pricing.js";

/** Tokens that providers put around a message, a call or a result, as the engine counts them. */
const FRAME = 4;
/** An image of about a thousand pixels each way, and other media. */
const IMAGE_TOKENS = 1300;
const MEDIA_TOKENS = 1000;

/** Why a call did not find the call before in the provider's cache. */
export type BreakReason = BackReason | "model" | "route" | "tools" | "instructions" | "pause" | "provider";

/** A call of a model with what it was sent. Tokens are those of the engine's estimator, but for `head`. */
export interface Call extends RecordedCall {
  /** In its conversation, from 1. */
  readonly number: number;
  readonly messages: readonly ChatMessage[];
  /** Tokens up to each message, that one included. */
  readonly ends: readonly number[];
  /** Tokens of instructions and tools that stand before the messages. */
  readonly head: number;
  /** Names what stands there. */
  readonly head_key: string;
  /** The first messages that the call before had, too. */
  readonly shared: number;
  /** How many messages the call before had. */
  readonly before: number;
  /** Tokens of messages behind the shared ones that were sent in an earlier call. */
  readonly resent: number;
  /** Why the provider's cache does not have what the call before sent; absent where it should. */
  readonly lost?: BreakReason | undefined;
  /** Whether the provider has nothing at all of the call before: too much time has passed, or what stands before the messages is another. */
  readonly isCold: boolean;
  readonly pricing: Pricing;
  /** Whether it was recorded in another file as well: it is part of the conversation, and was counted there. */
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

/** The state of a conversation. */
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
  /** Tokens of the head: counted, and what the first call had beside the messages where the provider counted it. */
  #known = 0;
  #unknown = 0;
  #headKey = "";
  #shared = 0;
  #before = 0;
  #change: BreakReason | undefined;
  /** Messages that were sent and left, by what they are. */
  readonly #left = new Set<string>();
  #resent = 0;
  #last: Pick<RecordedCall, "at" | "model" | "provider"> | undefined;
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

  /** Keeps the first messages alone. */
  back(to: number, why: BackReason): void {
    const gone = this.messages.splice(to);
    this.ends.length = this.messages.length;
    for (const message of gone) this.held -= textOfMessage(message).length;
    if (to >= this.#shared) return;
    // What comes back behind a cut is no news, though the cache does not have it there. Messages that no call sent are.
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

  /** A call is made now. `factor` has the tokens of its model for one of the estimator. */
  call(recorded: RecordedCall, book: PriceBook, factor: number, isCopy: boolean): Call {
    this.calls += 1;
    let pricing = book.of(recorded.model);
    const { usage } = recorded;
    // Once something was written for an hour, it is kept for an hour.
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
    // A summary is written aside: the conversation goes on from where it was.
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

  /** Why the cache does not have the call before, and whether it has nothing of it. */
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
