// The account of a conversation's calls: tokens that are new, read from the cache, or sent before and paid again; and the forecast beside the
// provider's count.
import type { BreakReason, Call } from "./conversation.js";

/** Bounds of the tokens of a model for one of the estimator, and tokens from which on they are believed. */
const LEAST_FACTOR = 0.4;
const MOST_FACTOR = 2.5;
const LEAST_COUNTED = 200;
/** For no known reason, the cache was lost where it had less than this share of what was expected. */
const FOUND = 0.5;
/** Tokens whose loss is worth telling. */
const LEAST_LOST = 1024;

/** Tokens of a model for one of the estimator, by what its calls grew by. */
export class Factors {
  readonly #grown = new Map<string, { counted: number; estimated: number }>();

  of(model: string | undefined): number {
    const grown = this.#grown.get(model ?? "");
    if (!grown || grown.estimated < LEAST_COUNTED) return 1;
    return Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, grown.counted / grown.estimated));
  }

  grew(model: string | undefined, counted: number, estimated: number): void {
    const share = counted / estimated;
    if (!(estimated > 0 && share >= LEAST_FACTOR && share <= MOST_FACTOR)) return;
    const grown = this.#grown.get(model ?? "") ?? { counted: 0, estimated: 0 };
    this.#grown.set(model ?? "", { counted: grown.counted + counted, estimated: grown.estimated + estimated });
  }
}

/** The account of one call, in tokens of its model. */
export interface Entry {
  readonly number: number;
  readonly tokens: number;
  /** Never sent before in this conversation. */
  readonly fresh: number;
  /** Read from the provider's cache. */
  readonly repeated: number;
  /** Sent before and paid for again. */
  readonly rewritten: number;
  readonly output: number;
  /** In prices of an input token at full price. */
  readonly cost: number;
  /** In dollars, with the output; undefined where the price of the model is not known. */
  readonly usd: number | undefined;
  /** The price in this call of a token that was sent before. */
  readonly old_price: number;
  readonly broke?: { readonly why: BreakReason; readonly cost: number } | undefined;
  /** Absent of a first call, and where the provider's count of its cache is not recorded. */
  readonly compared?:
    | {
        readonly cached: number;
        readonly recorded_cached: number;
        readonly uncached: number;
        readonly recorded_uncached: number;
      }
    | undefined;
  /** Tokens of the model for one of the estimator. */
  readonly factor: number;
}

/** Accounts for the calls of one conversation. */
export class Ledger {
  readonly #factors: Factors;
  /** Tokens of the call before, and of the last call of each provider behind a router. */
  #total = 0;
  readonly #totals = new Map<string, number>();

  constructor(factors: Factors) {
    this.#factors = factors;
  }

  enter(call: Call): Entry {
    const { ends, shared, before, pricing, usage, model, number } = call;
    const factor = this.#factors.of(model);
    const upTo = (count: number): number => (count === 0 ? 0 : (ends[count - 1] ?? 0));
    const scaled = (estimated: number): number => call.head + factor * estimated;
    const estimated = upTo(ends.length);
    // The call before was counted: what it had is known, and what came since is estimated.
    const isOn = number > 1 && shared === before;
    const prefix = number === 1 ? 0 : isOn ? this.#total : scaled(upTo(shared));
    const expected = isOn ? this.#total + factor * (estimated - upTo(shared)) : scaled(estimated);
    const tokens = usage?.input ?? expected;
    if (!isOn) this.#totals.clear();
    const cached = call.lost === "route" ? Math.min(prefix, this.#totals.get(call.provider ?? "") ?? 0) : prefix;
    const hit = call.isCold ? 0 : pricing.hit(Math.min(cached, tokens));
    const repeated = Math.min(tokens, usage?.cached ?? hit);
    const known = number === 1 ? 0 : Math.min(tokens, prefix + factor * call.resent);
    const fresh = Math.min(tokens - repeated, Math.max(0, tokens - known));
    const rewritten = tokens - repeated - fresh;
    if (usage && isOn && call.isSummary !== true)
      this.#factors.grew(model, usage.input - this.#total, estimated - upTo(shared));
    const cost = usage?.cached === undefined ? pricing.cost(tokens, hit) : pricing.costOf(usage);
    const output = usage?.output ?? 0;
    const entry: Entry = {
      number,
      tokens,
      fresh,
      repeated,
      rewritten,
      output,
      cost,
      usd: pricing.money(cost, output),
      old_price:
        repeated + rewritten > 0
          ? (repeated * pricing.cache.cached + rewritten * pricing.cache.written) / (repeated + rewritten)
          : 0,
      broke: this.#broke(call, { hit, repeated, rewritten }),
      compared:
        number > 1 && call.isSummary !== true && usage?.cached !== undefined
          ? {
              cached: hit,
              recorded_cached: usage.cached,
              uncached: expected - hit,
              recorded_uncached: usage.input - usage.cached,
            }
          : undefined,
      factor,
    };
    if (call.isSummary !== true) this.#total = tokens;
    if (call.provider !== undefined) this.#totals.set(call.provider, tokens);
    return entry;
  }

  /** Whether a call lost what the one before had in the cache, and what that cost. */
  #broke(
    { lost, usage, number, pricing }: Call,
    { hit, repeated, rewritten }: { readonly hit: number; readonly repeated: number; readonly rewritten: number },
  ): Entry["broke"] {
    if (number === 1 || this.#total < LEAST_LOST || pricing.cache.cached >= 1) return undefined;
    if (usage?.cached === undefined)
      return lost && { why: lost, cost: rewritten * (pricing.cache.written - pricing.cache.cached) };
    // What was counted tells whether the cache was lost; what happened tells why.
    if (rewritten < LEAST_LOST) return undefined;
    const why = lost ?? (hit > 0 && repeated < FOUND * hit ? "provider" : undefined);
    return why && { why, cost: rewritten * (pricing.cache.written - pricing.cache.cached) };
  }
}
