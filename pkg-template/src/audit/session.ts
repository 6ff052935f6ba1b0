// One conversation, audited while it is read.
import { wellFormed } from "../boundary/repairs.js";
import { redactSecrets } from "../manager/text.js";
import { repaired, textOfMessage } from "./chat.js";
import { Conversation } from "./conversation.js";
import type { Call } from "./conversation.js";
import type { BackReason, ChatMessage, RecordedCall, SessionAccount, SessionEvent } from "./events.js";
import { Ledger } from "./ledger.js";
import type { Entry, Factors } from "./ledger.js";
import type { PriceBook, Pricing } from "./pricing.js";
import type { Outcome, Replayer } from "./replay.js";
import { Results } from "./results.js";
import { addBreak, addForecast, noSums, setShares } from "./sums.js";
import type { AuditSums, BreakReport, RepeatedResult, ResultReport, SessionReport } from "./types.js";

const TASK = 60;
/** Texts that agents put before what the user says. */
const CONTEXT = /^\s*(<|#\s*AGENTS\.md|Caveat:)/;

/** Prices, counts and listeners that all sessions of an audit share. */
export interface Shared {
  readonly book: PriceBook;
  readonly factors: Factors;
  /** Keys of the calls that were counted. */
  readonly counted: Set<string>;
  result(result: ResultReport): void;
  broke(broke: BreakReport): void;
  repeated(repeated: RepeatedResult & { readonly cost: number }): void;
  model(name: string, pricing: Pricing, entry: Entry): void;
  /** Is told of each call and of what it was accounted for. */
  entered?(call: Call, entry: Entry): void;
}

/** Where a conversation is recorded. */
export interface Recorded {
  readonly file: string;
  readonly agent: string;
  readonly session: string;
  readonly parent: string | undefined;
  readonly account: SessionAccount | undefined;
}

/** A conversation that is being read. */
export class Session {
  readonly #shared: Shared;
  readonly #recorded: Recorded;
  readonly #conversation: Conversation;
  readonly #ledger: Ledger;
  readonly #replay: Replayer;
  readonly #results: Results;
  readonly #sums: AuditSums = noSums();
  readonly #models: string[] = [];
  /** Dollars of the prompts, of the calls whose model has a price. */
  #prompts = 0;
  #task = "";
  #isTold = false;
  #first: number | undefined;
  #last: number | undefined;
  #longest = 0;

  /** `replay` is told of its calls, and ended by whoever made it. */
  constructor(recorded: Recorded, shared: Shared, replay: Replayer) {
    [this.#recorded, this.#shared, this.#replay] = [recorded, shared, replay];
    this.#conversation = new Conversation(recorded.session, recorded.parent);
    this.#ledger = new Ledger(shared.factors);
    this.#results = new Results((result) => shared.result({ session: recorded.session, ...result }));
  }

  /** Characters of messages in memory. */
  get held(): number {
    return this.#conversation.held;
  }

  /** Takes what happens in it; its beginning, its end and problems are others' matter. */
  take(event: SessionEvent): void {
    if (event.kind === "messages") this.#add(event.messages);
    else if (event.kind === "back") this.#back(event.to, event.why);
    else if (event.kind === "head") this.#conversation.setHead(event.instructions, event.tools);
    else if (event.kind === "call") this.#call(event.call);
  }

  #add(messages: readonly ChatMessage[]): void {
    const { messages: all, ends } = this.#conversation;
    for (const message of messages.map(repaired)) {
      this.#conversation.add([message]);
      const index = all.length - 1;
      const uses = this.#results.take(message, index, (ends[index] ?? 0) - (ends[index - 1] ?? 0));
      this.#sums.copied += uses.length;
      this.#replay.wrote(uses, this.#conversation);
      if (message.role === "user") this.#tell(message);
    }
  }

  #back(to: number, why: BackReason): void {
    this.#conversation.back(to, why);
    this.#results.back(to);
    this.#replay.back(to);
    if (why === "compaction") this.#sums.compactions += 1;
    else this.#sums.edits += 1;
  }

  #call(recorded: RecordedCall): void {
    const { key, model, at } = recorded;
    const { book, factors, counted } = this.#shared;
    const isCopy = key !== undefined && counted.has(key);
    if (key !== undefined) counted.add(key);
    const call = this.#conversation.call(recorded, book, factors.of(model), isCopy);
    const entry = this.#ledger.enter(call);
    this.#shared.entered?.(call, entry);
    this.#replay.called(call);
    this.#results.called(entry, call);
    if (isCopy) return;
    const name = model ?? "unknown";
    if (!this.#models.includes(name)) this.#models.push(name);
    [this.#first, this.#last] = [this.#first ?? at, at ?? this.#last];
    this.#longest = Math.max(this.#longest, entry.tokens);
    this.#enter(call, entry);
    this.#shared.model(name, call.pricing, entry);
  }

  /** Ends it: how it is reported once it is known what the strategies come to; undefined without calls of its own. */
  end(): ((outcomes: readonly Outcome[]) => SessionReport) | undefined {
    this.#results.back(0);
    const sums = this.#sums;
    if (sums.calls === 0) return undefined;
    sums.conversations = 1;
    this.#endResults();
    const { file, agent, session, parent, account } = this.#recorded;
    const told = {
      file,
      agent,
      session,
      ...(parent !== undefined && { parent }),
      ...(account && { account }),
      ...(this.#first !== undefined && { first: new Date(this.#first).toISOString() }),
      ...(this.#last !== undefined && { last: new Date(this.#last).toISOString() }),
      models: this.#models,
      task: this.#task,
      longest_tokens: this.#longest,
    };
    // The messages are not kept until then.
    return reportOf(told, sums, this.#prompts);
  }

  /** Notes what the session is about: the first words of the user, or of what an agent put around them. */
  #tell(message: ChatMessage): void {
    if (this.#isTold) return;
    const text = textOfMessage(message);
    this.#isTold = !CONTEXT.test(text);
    if (this.#isTold || this.#task === "") this.#task = taskOf(text);
  }

  #enter(call: Call, entry: Entry): void {
    const sums = this.#sums;
    sums.calls += 1;
    if (call.usage) sums.counted_calls += 1;
    sums.tokens += entry.tokens;
    sums.new_tokens += entry.fresh;
    sums.repeated_tokens += entry.repeated;
    sums.rewritten_tokens += entry.rewritten;
    sums.output_tokens += entry.output;
    sums.cost += entry.cost;
    if (entry.usd === undefined) sums.unpriced_calls += 1;
    else sums.usd = (sums.usd ?? 0) + entry.usd;
    this.#prompts += call.pricing.money(entry.cost) ?? 0;
    if (entry.compared) {
      const { cached, recorded_cached, uncached, recorded_uncached } = entry.compared;
      const isMissed = entry.broke?.why === "provider";
      sums.forecast = addForecast(sums.forecast, {
        calls: 1,
        cached_tokens: cached,
        recorded_cached_tokens: recorded_cached,
        uncached_tokens: uncached,
        recorded_uncached_tokens: recorded_uncached,
        missed_calls: isMissed ? 1 : 0,
        missed_tokens: isMissed ? Math.max(0, cached - recorded_cached) : 0,
      });
    }
    if (!entry.broke) return;
    const usd = call.pricing.money(entry.broke.cost);
    const broke = { calls: 1, tokens: entry.rewritten, cost: entry.broke.cost, ...(usd !== undefined && { usd }) };
    addBreak(sums.breaks, entry.broke.why, broke);
    const { calls: _, ...told } = broke;
    this.#shared.broke({
      session: this.#recorded.session,
      call: entry.number,
      ...(call.at !== undefined && { at: new Date(call.at).toISOString() }),
      why: entry.broke.why,
      ...told,
    });
  }

  #endResults(): void {
    const { sums } = this.#results;
    Object.assign(this.#sums.results, sums);
    const session = this.#recorded.session;
    for (const repeated of this.#results.repeated()) {
      this.#sums.results.repeats += repeated.times - 1;
      this.#sums.results.repeat_tokens += repeated.tokens;
      this.#shared.repeated({ session, ...repeated, cost: repeated.tokens });
    }
  }
}

function reportOf(
  told: Omit<SessionReport, keyof AuditSums>,
  sums: AuditSums,
  prompts: number,
): (outcomes: readonly Outcome[]) => SessionReport {
  return (outcomes) => {
    sums.strategies = outcomes.map(({ cost, without, ...outcome }) => {
      const share = without === 0 ? 1 : cost / without;
      // Answers cost what they cost.
      const usd = sums.usd === undefined ? undefined : sums.usd - prompts * (1 - share);
      return { ...outcome, cost: sums.cost * share, share, ...(usd !== undefined && { usd }) };
    });
    setShares(sums);
    return { ...told, ...sums };
  };
}

function taskOf(text: string): string {
  const line = redactSecrets(wellFormed(text.slice(0, 10 * TASK)))
    .replace(/<[^<>]{1,40}>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > TASK ? wellFormed(`${line.slice(0, TASK - 1)}…`) : line;
}
