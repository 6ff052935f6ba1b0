// The conversations behind a proxy: which one a request goes on with, and which leaves when there are too many.
import { Conversation } from "./conversation.js";
import type { ConversationOptions, Request } from "./conversation.js";
import type { Dialect } from "./dialect.js";
import { beginningOf, commonPrints } from "./sessions.js";
import type { Print } from "./sessions.js";
import type { StatsBook } from "./stats.js";

/** How many conversations are kept. */
export interface ConversationLimits {
  readonly max_conversations: number;
  /** UTF-16 units of all that was said in them. */
  readonly max_units: number;
}

/** A request with what its conversation is found by. */
export interface Place {
  /** The credential, the API and what the client says of its session. */
  readonly group: string;
  readonly dialect: Dialect;
  readonly asked: Request;
}

/** Keeps conversations by the group that they are of: the credential, the API and what the client says of its session. */
export class Conversations {
  readonly #options: ConversationOptions;
  readonly #limits: ConversationLimits;
  readonly #stats: StatsBook;
  /** Those that went on last behind the others. */
  readonly #known = new Map<Conversation, string>();

  constructor(options: ConversationOptions, limits: ConversationLimits, stats: StatsBook) {
    [this.#options, this.#limits, this.#stats] = [options, limits, stats];
  }

  get size(): number {
    return this.#known.size;
  }

  get units(): number {
    return [...this.#known.keys()].reduce((sum, { units }) => sum + units, 0);
  }

  /** Those that are kept. */
  list(): readonly Conversation[] {
    return [...this.#known.keys()];
  }

  /** Lists the prints of each conversation of a group. */
  *prints(group: string): Generator<readonly Print[]> {
    for (const [{ prints }, of] of this.#known) if (of === group) yield prints;
  }

  /** Finds the conversation that a request goes on with. */
  find(place: Place): Conversation | undefined {
    const near = this.#nearest(place);
    return near && isContinued(near, place.asked) ? near : undefined;
  }

  /** Finds the conversation that a request goes on with, or begins one. Its log may have to be opened. */
  of(place: Place): Conversation {
    const { group, dialect, asked } = place;
    const near = this.#nearest(place);
    const goesOn = near !== undefined && isContinued(near, asked);
    const conversation = goesOn ? near : new Conversation(dialect, this.#options);
    if (near && !goesOn) conversation.inherit(asked, near);
    this.add(conversation, group);
    return conversation;
  }

  /** Takes a conversation, as the one that went on last. */
  add(conversation: Conversation, group: string): void {
    this.#known.delete(conversation);
    this.#known.set(conversation, group);
  }

  has(conversation: Conversation): boolean {
    return this.#known.has(conversation);
  }

  /** Lets a conversation go, whose requests that are under way come to their end. */
  remove(conversation: Conversation): void {
    if (!this.#known.delete(conversation)) return;
    this.#stats.left(conversation.costs());
    conversation.leave();
  }

  /** Lets those go that were idle longest, until what is left keeps to the limits. Those that wait for an answer stay. */
  prune(): void {
    let units = this.units;
    for (const conversation of [...this.#known.keys()]) {
      if (this.#known.size <= this.#limits.max_conversations && units <= this.#limits.max_units) return;
      if (conversation.busy > 0) continue;
      units -= conversation.units;
      this.remove(conversation);
    }
  }

  free(): void {
    for (const conversation of [...this.#known.keys()]) this.remove(conversation);
  }

  /** The one that begins most alike; of several the one that went on last. */
  #nearest({ group, dialect, asked: { prints, asked } }: Place): Conversation | undefined {
    const first = beginningOf(asked.messages);
    let found: Conversation | undefined;
    let most = first;
    for (const [conversation, of] of this.#known) {
      if (of !== group || conversation.dialect !== dialect) continue;
      const common = commonPrints(conversation.prints, prints);
      if (common < most || common <= first) continue;
      [found, most] = [conversation, common];
    }
    return found;
  }
}

/** Messages at the end of a request that the next one may have otherwise, such as reminders that move on. */
const EDITED = 1;

/** Whether a request goes on with a conversation, or with what it was once: then the two go on each by itself. */
function isContinued(conversation: Conversation, { prints, head }: Request): boolean {
  const common = commonPrints(conversation.prints, prints);
  const left = conversation.prints.length - common;
  const isSame = left === 0;
  const isEdited = left <= EDITED && conversation.busy === 0 && prints.length >= conversation.prints.length;
  if (!isSame && !isEdited) return false;
  // Another agent may be given the same first request: one with other instructions or tools goes on where an answer is common.
  return head === conversation.head || common > 1;
}
