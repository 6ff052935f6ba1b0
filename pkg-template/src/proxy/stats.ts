// The counts of a proxy: no text, no key, no address of a client.

/** What a proxy has counted since it began. */
export interface ProxyStats {
  /** Requests that came in. */
  readonly requests: number;
  /** Those of a conversation that were sent as they came, as everything fits the budget. */
  readonly whole: number;
  /** Those of which a shorter prompt was sent. */
  readonly shortened: number;
  /** Those that could not be changed, or must not be, by the reason. */
  readonly bypassed: Readonly<Record<string, number>>;
  /** Those that are no call of a model that is read. */
  readonly passed: number;
  /** Those that were handed on by `forward`: what became of them is counted there. */
  readonly forwarded: number;
  /** Calls of `drilldown` and `recall` that were answered. */
  readonly inner_calls: number;
  /** Calls of a model beside the one that a request is, for these answers. */
  readonly inner_rounds: number;
  /** Conversations in memory. */
  readonly conversations: number;
  /** UTF-16 units that were said in these. */
  readonly units: number;
  /** What all conversations cost, by the forecast of `costs()` of an adapter, in tokens at full price. */
  readonly costs: ProxyCosts;
}

/** Sums over conversations, those among them that are in memory no more. */
export interface ProxyCosts {
  readonly steps: number;
  readonly cuts: number;
  readonly cost: number;
  readonly cost_without: number;
  /** Tokens that providers say they had in their caches. */
  readonly cached_tokens: number;
}

/** Nothing was asked yet. */
export const NO_COSTS: ProxyCosts = { steps: 0, cuts: 0, cost: 0, cost_without: 0, cached_tokens: 0 };

/** Counts. */
export class StatsBook {
  requests = 0;
  whole = 0;
  shortened = 0;
  passed = 0;
  forwarded = 0;
  inner_calls = 0;
  inner_rounds = 0;
  readonly #bypassed = new Map<string, number>();
  #left = NO_COSTS;

  bypassed(reason: string): void {
    this.#bypassed.set(reason, (this.#bypassed.get(reason) ?? 0) + 1);
  }

  /** Takes what a conversation cost that leaves memory. */
  left(costs: ProxyCosts): void {
    this.#left = added(this.#left, costs);
  }

  /** Everything, with what conversations in memory cost. */
  read(
    conversations: readonly { readonly isOpen: boolean; readonly units: number; costs(): ProxyCosts }[],
  ): ProxyStats {
    const { requests, whole, shortened, passed, forwarded, inner_calls, inner_rounds } = this;
    return {
      requests,
      whole,
      shortened,
      bypassed: Object.fromEntries(this.#bypassed),
      passed,
      forwarded,
      inner_calls,
      inner_rounds,
      conversations: conversations.filter(({ isOpen }) => isOpen).length,
      units: conversations.reduce((sum, { units }) => sum + units, 0),
      costs: conversations.reduce((sum, conversation) => added(sum, conversation.costs()), this.#left),
    };
  }
}

/** Adds, or subtracts. */
function combined(one: ProxyCosts, other: ProxyCosts, sign: 1 | -1): ProxyCosts {
  return {
    steps: one.steps + sign * other.steps,
    cuts: one.cuts + sign * other.cuts,
    cost: one.cost + sign * other.cost,
    cost_without: one.cost_without + sign * other.cost_without,
    cached_tokens: one.cached_tokens + sign * other.cached_tokens,
  };
}

/** What was added since. */
export function costsBetween(before: ProxyCosts, now: ProxyCosts): ProxyCosts {
  return combined(now, before, -1);
}

function added(one: ProxyCosts, other: ProxyCosts): ProxyCosts {
  return combined(one, other, 1);
}
