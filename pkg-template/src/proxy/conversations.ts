// The conversations behind a proxy: which one a request goes on with, and which leaves when there are too many.
import { Conversation } from "./conversation.js";
import type { ConversationOptions, Request } from "./conversation.js";
import type { Dialect } from "./dialect.js";
import { commonPrints } from "./sessions.js";
import type { Print } from "./sessions.js";
import type { StatsBook } from "./stats.js";

/** How many conversations are kept. */
export interface ConversationLimits {
  readonly max_conversations: number;
  /** UTF-16 units of all that was said in them. */
  readonly max_units: number;
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
  find(group: string, dialect: Dialect, request: Request): Conversation | undefined {
    const near = this.#nearest(group, dialect, request);
    return near && isContinued(near, request) ? near : undefined;
  }

  /** Finds the conversation that a request goes on with, or begins one. */
  of(group: string, dialect: Dialect, request: Request): Conversation {
    const near = this.#nearest(group, dialect, request);
    const goesOn = near !== undefined && isContinued(near, request);
    const conversation = goesOn ? near : new Conversation(dialect, this.#options);
    if (near && !goesOn) conversation.inherit(request, near);
    this.#known.delete(conversation);
    this.#known.set(conversation, group);
    return conversation;
  }

  /** Lets those go that were idle longest, until what is left keeps to the limits. Those that wait for an answer stay. */
  prune(): void {
    let units = this.units;
    for (const conversation of [...this.#known.keys()]) {
      if (this.#known.size <= this.#limits.max_conversations && units <= this.#limits.max_units) return;
      if (conversation.busy > 0) continue;
      units -= conversation.units;
      this.#remove(conversation);
    }
  }

  free(): void {
    for (const conversation of [...this.#known.keys()]) this.#remove(conversation);
  }

  #remove(conversation: Conversation): void {
    this.#stats.left(conversation.costs());
    this.#known.delete(conversation);
    conversation.free();
  }

  /** The one that begins most alike; of several the one that went on last. */
  #nearest(group: string, dialect: Dialect, { prints, asked }: Request): Conversation | undefined {
    const first = asked.messages.findIndex((message) => (message as { readonly role?: unknown }).role === "user");
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
