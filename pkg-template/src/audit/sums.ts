// Sums of sessions.
import type { AuditSums, BreakReason, BreakSums, ForecastSums, StrategySums } from "./types.js";

/** Nothing yet. */
export function noSums(): AuditSums {
  return {
    conversations: 0,
    calls: 0,
    counted_calls: 0,
    tokens: 0,
    new_tokens: 0,
    repeated_tokens: 0,
    rewritten_tokens: 0,
    output_tokens: 0,
    cost: 0,
    unpriced_calls: 0,
    compactions: 0,
    edits: 0,
    breaks: {},
    copied: 0,
    strategies: [],
    results: {
      count: 0,
      tokens: 0,
      cost: 0,
      lines: 0,
      used_lines: 0,
      unused: 0,
      unused_tokens: 0,
      idle_cost: 0,
      repeats: 0,
      repeat_tokens: 0,
    },
  };
}

const COUNTS = [
  "conversations",
  "calls",
  "counted_calls",
  "tokens",
  "new_tokens",
  "repeated_tokens",
  "rewritten_tokens",
  "output_tokens",
  "cost",
  "unpriced_calls",
  "compactions",
  "edits",
  "copied",
] as const;
const RESULTS = [
  "count",
  "tokens",
  "cost",
  "lines",
  "used_lines",
  "unused",
  "unused_tokens",
  "idle_cost",
  "repeats",
  "repeat_tokens",
] as const;

/** Adds money that may not be known; what is known of either counts. */
function usd(to: { usd?: number }, more: { usd?: number | undefined }): void {
  if (more.usd !== undefined) to.usd = (to.usd ?? 0) + more.usd;
}

/** Adds a break to those of its reason. */
export function addBreak(to: Partial<Record<BreakReason, BreakSums>>, why: BreakReason, more: BreakSums): void {
  const sums = (to[why] ??= { calls: 0, tokens: 0, cost: 0 });
  sums.calls += more.calls;
  sums.tokens += more.tokens;
  sums.cost += more.cost;
  usd(sums, more);
}

/** Adds sums to others. */
export function addSums(to: AuditSums, more: AuditSums): void {
  for (const key of COUNTS) to[key] += more[key];
  usd(to, more);
  for (const key of RESULTS) to.results[key] += more.results[key];
  usd(to.results, more.results);
  if (more.results.idle_usd !== undefined) to.results.idle_usd = (to.results.idle_usd ?? 0) + more.results.idle_usd;
  for (const [why, sums] of Object.entries(more.breaks)) addBreak(to.breaks, why as BreakReason, sums);
  for (const strategy of more.strategies) addStrategy(to, strategy);
  if (more.forecast) to.forecast = addForecast(to.forecast, more.forecast);
}

/** Says what share of the price as recorded strategies come to. */
export function setShares(sums: AuditSums): void {
  const isPriced = sums.usd !== undefined && sums.unpriced_calls === 0 && sums.usd > 0;
  for (const strategy of sums.strategies) {
    if (isPriced && strategy.usd !== undefined) strategy.share = strategy.usd / (sums.usd ?? 1);
    else strategy.share = sums.cost === 0 ? 1 : strategy.cost / sums.cost;
  }
}

function addStrategy(to: AuditSums, more: StrategySums): void {
  const found = to.strategies.find(({ name, budget }) => name === more.name && budget === more.budget);
  if (!found) {
    to.strategies.push({ ...more });
    return;
  }
  found.cost += more.cost;
  found.shown += more.shown;
  usd(found, more);
  if (more.cuts !== undefined) found.cuts = (found.cuts ?? 0) + more.cuts;
  if (more.over !== undefined) found.over = (found.over ?? 0) + more.over;
}

type Compared = Pick<
  ForecastSums,
  | "calls"
  | "cached_tokens"
  | "recorded_cached_tokens"
  | "uncached_tokens"
  | "recorded_uncached_tokens"
  | "missed_calls"
  | "missed_tokens"
>;

/** Adds what was compared, and says by how much the forecast is off. */
export function addForecast(to: ForecastSums | undefined, more: Compared): ForecastSums {
  const sum = (key: keyof Compared): number => (to?.[key] ?? 0) + more[key];
  const [cached_tokens, recorded_cached_tokens] = [sum("cached_tokens"), sum("recorded_cached_tokens")];
  const [uncached_tokens, recorded_uncached_tokens] = [sum("uncached_tokens"), sum("recorded_uncached_tokens")];
  const prompts = recorded_cached_tokens + recorded_uncached_tokens;
  const percent = (forecast: number, recorded: number): number =>
    prompts === 0 ? 0 : (100 * (forecast - recorded)) / prompts;
  return {
    calls: sum("calls"),
    cached_tokens,
    recorded_cached_tokens,
    uncached_tokens,
    recorded_uncached_tokens,
    missed_calls: sum("missed_calls"),
    missed_tokens: sum("missed_tokens"),
    cached_error_percent: percent(cached_tokens, recorded_cached_tokens),
    uncached_error_percent: percent(uncached_tokens, recorded_uncached_tokens),
  };
}

/** Rounds figures to be told: tokens and costs to whole ones, shares and percents to thousandths, dollars to a hundredth of a cent. */
export function rounded<T>(value: T, key = ""): T {
  if (typeof value === "number") return (Number.isInteger(value) ? value : roundedNumber(value, key)) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => rounded(one, key)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one as unknown, name)])) as T;
}

function roundedNumber(value: number, key: string): number {
  if (/usd$/.test(key)) return Math.round(value * 10_000) / 10_000;
  if (/(share|percent)$/.test(key) || ["input", "output", "cached", "written"].includes(key))
    return Math.round(value * 1000) / 1000;
  return Math.round(value);
}
