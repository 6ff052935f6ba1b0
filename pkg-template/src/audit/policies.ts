// Plain ways to keep a conversation short. Each says how many tokens it would have sent in a call, and how many of them repeat the call
// before from its beginning on.
import { wellFormed } from "../boundary/repairs.js";
import { countTokens } from "../manager/text.js";
import { textOfMessage } from "./chat.js";
import type { Call } from "./conversation.js";
import type { ChatMessage } from "./events.js";

/** The newest results that are left alone when old ones are cleared. */
const SPARED = 3;
/** Tokens of what stands for a result that was cleared. */
const CLEARED_TOKENS = 6;
/** Characters of a result that stay at either end, about 500 tokens in all. */
const END = 1000;

/** A call as a policy would have sent it. */
export interface Sent {
  readonly tokens: number;
  readonly prefix: number;
}

/** A way to keep a conversation short. It is asked once for each call, in order. */
export interface Policy {
  sent(call: Call): Sent;
  /** Whether the prompt of the last call had a text of a message. */
  shows(text: string, index: number, message: ChatMessage): boolean;
}

const upTo = (ends: readonly number[], count: number): number => (count === 0 ? 0 : (ends[count - 1] ?? 0));

/** The whole conversation, however long. */
export class Everything implements Policy {
  sent({ ends, head, shared, number }: Call): Sent {
    return { tokens: head + upTo(ends, ends.length), prefix: number === 1 ? 0 : head + upTo(ends, shared) };
  }

  shows(): boolean {
    return true;
  }
}

/** The beginning up to the first message of the user, and the newest messages that fit behind it; a result never without its call. */
export class NewestThatFit implements Policy {
  readonly #budget: number;
  #from = 0;
  #lead = 0;
  #last = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  sent({ messages, ends, head, shared, before, number }: Call): Sent {
    const lead = messages.findIndex(({ role }) => role === "user") + 1;
    const total = upTo(ends, ends.length);
    const above = head + upTo(ends, lead);
    const isOn = number > 1 && shared === before;
    const from0 = isOn ? this.#from : lead;
    let from = Math.max(lead, from0);
    while (from < messages.length && above + total - upTo(ends, from) > this.#budget) from += 1;
    if (from > lead) while (from < messages.length && messages[from]?.role === "tool") from += 1;
    const tokens = above + total - upTo(ends, from);
    const prefix =
      number === 1 ? 0 : isOn && from === this.#from ? this.#last : head + upTo(ends, Math.min(lead, shared));
    [this.#from, this.#last, this.#lead] = [from, tokens, lead];
    return { tokens, prefix };
  }

  shows(_: string, index: number): boolean {
    return index >= this.#from || index < this.#lead;
  }
}

/** As providers clear old results: above the budget the oldest go, so many at once that a third of the budget is free. */
export class ClearedResults implements Policy {
  readonly #budget: number;
  /** Results that were cleared, the oldest first: where they stand, and what that saves. */
  #cleared: { readonly index: number; readonly saved: number }[] = [];
  /** Results up to here were looked at. */
  #seen = 0;
  #waiting: number[] = [];

  constructor(budget: number) {
    this.#budget = budget;
  }

  sent({ messages, ends, head, shared, number }: Call): Sent {
    this.#cleared = this.#cleared.filter(({ index }) => index < shared);
    this.#waiting = this.#waiting.filter((index) => index < shared);
    for (this.#seen = Math.min(this.#seen, shared); this.#seen < messages.length; this.#seen += 1) {
      if (messages[this.#seen]?.role === "tool") this.#waiting.push(this.#seen);
    }
    const saved = this.#cleared.reduce((sum, one) => sum + one.saved, 0);
    const tokens = head + upTo(ends, ends.length) - saved;
    const same = number === 1 ? 0 : head + upTo(ends, shared) - saved;
    if (tokens <= this.#budget) return { tokens, prefix: same };
    let excess = tokens - this.#budget + this.#budget / 3;
    let first: number | undefined;
    let freed = 0;
    while (excess > 0 && this.#waiting.length > SPARED) {
      const index = this.#waiting.shift() as number;
      const gain = Math.max(0, (ends[index] ?? 0) - upTo(ends, index) - CLEARED_TOKENS);
      first ??= index;
      this.#cleared.push({ index, saved: gain });
      excess -= gain;
      freed += gain;
    }
    const prefix = first === undefined ? same : Math.min(same, head + upTo(ends, first) - saved);
    return { tokens: tokens - freed, prefix: number === 1 ? 0 : prefix };
  }

  shows(_: string, index: number): boolean {
    return !this.#cleared.some((one) => one.index === index);
  }
}

/** Both ends of every result, whatever the budget is. */
export class HeadAndTail implements Policy {
  /** Tokens that shortened results save, up to each message. */
  #saved: number[] = [];

  sent({ messages, ends, head, shared, number }: Call): Sent {
    this.#saved.length = Math.min(this.#saved.length, shared);
    for (let index = this.#saved.length; index < messages.length; index += 1) {
      this.#saved.push(upTo(this.#saved, index) + savedOf(messages[index] as ChatMessage));
    }
    const tokens = head + upTo(ends, ends.length) - upTo(this.#saved, messages.length);
    return { tokens, prefix: number === 1 ? 0 : head + upTo(ends, shared) - upTo(this.#saved, shared) };
  }

  shows(text: string, _: number, message: ChatMessage): boolean {
    return shortened(textOfMessage(message)).includes(text);
  }
}

function savedOf(message: ChatMessage): number {
  if (message.role !== "tool") return 0;
  const text = textOfMessage(message);
  const short = shortened(text);
  return short === text ? 0 : Math.max(0, countTokens(text) - countTokens(short));
}

function shortened(text: string): string {
  return text.length <= 2 * END ? text : wellFormed(`${text.slice(0, END)}\n[…]\n${text.slice(-END)}`);
}
