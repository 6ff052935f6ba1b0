// Calls of which each has the whole conversation: which conversation a call goes on with, and what of it is new.
import { TextHash, messageHash } from "../../adapters/text-hash.js";
import type { ChatMessage, RecordedCall, SessionEvent } from "../events.js";

/** Conversations that calls are compared with; the one that was idle longest ends. */
const MAX_OPEN = 32;
/** A request that keeps less than this share of its conversation was compacted. */
const KEPT = 0.5;

/** A call as a log has it. */
export interface Request {
  /** Messages in the form of the provider, by which they are compared. */
  readonly messages: readonly unknown[];
  readonly instructions?: string | undefined;
  readonly tools?: string | undefined;
  /** The client's name for its conversation. */
  readonly id?: string | undefined;
  readonly call: RecordedCall;
  /** Converts messages that follow in the conversation. */
  readonly convert: (messages: readonly unknown[], known: Set<string>) => readonly ChatMessage[];
}

interface Open {
  readonly name: string;
  readonly id: string | undefined;
  /** A hash of each message, and how many messages of a chat there are with it. */
  hashes: string[];
  known: Set<string>;
  tools: string | undefined;
  instructions: string | undefined;
}

/** Puts calls into conversations. */
export class Requests {
  #open: Open[] = [];
  #begun = 0;
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  /** The events of one more call. What cannot be converted is thrown, and nothing has changed then. */
  take(request: Request): readonly SessionEvent[] {
    const hashes = request.messages.map(messageHash);
    const found = this.#find(hashes, request);
    const events: SessionEvent[] = [];
    const open = found?.open ?? this.#begin(request);
    const { name: conversation } = open;
    const common = found?.common ?? 0;
    const isOn = common === open.hashes.length;
    const known = isOn ? open.known : new Set<string>();
    // How many messages of the chat stay, and the calls in them.
    const kept = isOn ? 0 : request.convert(request.messages.slice(0, common), known).length;
    const parts = request.messages.slice(common);
    const chat = parts.length === 0 ? [] : request.convert(parts, known);
    if (!found) {
      events.push(...this.#evicted(), { kind: "begin", conversation, session: request.id ?? this.#session });
      this.#open.push(open);
    } else if (!isOn) {
      const why = hashes.length < open.hashes.length * KEPT ? "compaction" : "edit";
      events.push({ kind: "back", conversation, to: kept, why });
    }
    if (!found || open.tools !== request.tools || open.instructions !== request.instructions) {
      events.push({ kind: "head", conversation, instructions: request.instructions, tools: request.tools });
    }
    [open.hashes, open.known, open.tools, open.instructions] = [hashes, known, request.tools, request.instructions];
    this.#open = [...this.#open.filter((one) => one !== open), open];
    if (chat.length > 0) events.push({ kind: "messages", conversation, messages: chat });
    const { key } = request.call;
    // Some servers give the same ids again and again: a copy has the same messages, too.
    const call =
      key === undefined ? request.call : { ...request.call, key: `${key} ${new TextHash().add(hashes.join(" "))}` };
    events.push({ kind: "call", conversation, call });
    return events;
  }

  end(): readonly SessionEvent[] {
    const ended = this.#open.map(({ name }): SessionEvent => ({ kind: "end", conversation: name }));
    this.#open = [];
    return ended;
  }

  /** The conversation that has most of the messages; one of the same client and tools that has none of them was compacted. */
  #find(
    hashes: readonly string[],
    { id, tools }: Request,
  ): { readonly open: Open; readonly common: number } | undefined {
    let best: { open: Open; common: number } | undefined;
    for (const open of this.#open) {
      if (open.id !== id) continue;
      let common = 0;
      while (common < hashes.length && common < open.hashes.length && hashes[common] === open.hashes[common])
        common += 1;
      if (common > (best?.common ?? 0)) best = { open, common };
    }
    if (best) return best;
    const same =
      id === undefined || tools === undefined
        ? undefined
        : [...this.#open].reverse().find((open) => open.id === id && open.tools === tools);
    return same && hashes.length < same.hashes.length ? { open: same, common: 0 } : undefined;
  }

  #begin({ id, tools, instructions }: Request): Open {
    this.#begun += 1;
    return { name: `conversation ${this.#begun}`, id, hashes: [], known: new Set(), tools, instructions };
  }

  #evicted(): readonly SessionEvent[] {
    if (this.#open.length < MAX_OPEN) return [];
    const [idle, ...rest] = this.#open;
    this.#open = rest;
    return idle ? [{ kind: "end", conversation: idle.name }] : [];
  }
}
