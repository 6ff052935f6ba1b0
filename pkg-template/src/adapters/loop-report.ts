// Reports what a conversation has sent so far: the line of `debug`, and `report()` of every `contextWeaver`.
import { buildReport } from "contextweaver";
import type {
  BuildReport,
  BuildStats,
  ContextManager,
  ContextPack,
  MessageWarning,
  RunningCosts,
  RunningStep,
} from "contextweaver";
import { deepCut, firewallOf, isThrift, itemOf, leftOutLines, leftOutOf, leftOutWords } from "./left-out.js";
import type { LeftOut } from "./left-out.js";
import { figure } from "../telemetry/debug.js";

/** A large result that came with a step, of which prompts show a digest. */
export interface DigestedResult {
  readonly item_id: string;
  /** Reads all of it by `drilldown`. */
  readonly handle: string;
  readonly tool_name?: string;
  /** Tokens of the whole result. */
  readonly tokens: number;
}

/** A step: what was sent, and what became of the rest. It quotes nothing that was said. */
export interface StepReport {
  /** The record that telemetry gets as `running`: why it was cut, tokens and prices. */
  readonly step: RunningStep;
  /** The record that telemetry gets as `stats`: what was kept, what was dropped, and why. */
  readonly stats: BuildStats;
  /** Results that are new in it. */
  readonly digested: readonly DigestedResult[];
  /** Everything of the conversation that its prompt does not have whole. */
  readonly left_out: readonly LeftOut[];
  /** The cause of a lost cache, where `step.cut` is `cold`. Absent where it cannot be told. */
  readonly cold_because?: string;
  /** Tokens that the provider says it had in its cache, once its answer was observed; `step.repeated_tokens` is what was expected. */
  readonly observed_cached_tokens?: number;
  readonly budget_tokens: number;
  /** `step.tokens` is these and `step.repeated_tokens`: what was not sent before, and what was and is written anew. */
  readonly new_tokens: number;
  readonly rewritten_tokens: number;
  /** Names of the tools that were offered, ours among them (`added_tools`), and how many of yours there are. */
  readonly tools: readonly string[];
  /** Those of the tools that contextweaver adds, such as `drilldown`. */
  readonly added_tools: readonly string[];
  readonly tool_count: number;
  /** Tokens of the definitions of all tools that were offered. */
  readonly tool_tokens: number;
  readonly warnings: readonly MessageWarning[];
}

/** What the calls of a loop cost. */
export interface LoopCosts extends RunningCosts {
  /** Of the calls whose answers were observed; absent without any. */
  readonly observed?: {
    readonly steps: number;
    /** Tokens that the provider says it had in its cache. */
    readonly cached_tokens: number;
    /** Tokens that were expected to repeat the call before. */
    readonly forecast_tokens: number;
  };
}

/** What happened so far. `String(report)` is its text; `JSON.stringify` writes the rest. */
export interface LoopReport {
  /** All calls. */
  readonly costs: LoopCosts;
  /** The last step; absent before the first. */
  readonly last?: StepReport;
  /** The last step as {@link buildReport} explains it, with what could be done about it. */
  readonly build?: BuildReport;
  /** For people. */
  readonly text: string;
  /** The conversation as JSON, for `contextweaver inspect`, `drilldown` and `recall`, and for `ContextManager.fromJSON`. */
  session(): string;
  toString(): string;
}

/** A step as it is kept: what was left out and digested is looked up when somebody asks. */
export interface KeptStep extends Omit<StepReport, "digested" | "left_out"> {
  /** Ids of the items that are new in it. */
  readonly added: readonly string[];
  readonly pack: ContextPack;
  readonly thrift: number;
  readonly free_tokens: number;
  /** Whether something left the prompt that stood in the one before. */
  readonly is_shortened: boolean;
  /** Everything beside the prompt that a provider's cache depends on. */
  readonly told: ToldBefore;
  /** Cached tokens of the step before. */
  readonly cached_before?: { readonly expected: number; readonly observed: number };
}

/** Everything that the provider is told beside the messages, and when. */
export interface ToldBefore {
  readonly model: string | undefined;
  readonly before: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A step as it is made. */
type MadeStep = Omit<
  KeptStep,
  "new_tokens" | "rewritten_tokens" | "free_tokens" | "is_shortened" | "cold_because" | "cached_before"
>;

/** Sets a step beside the one before. */
export function stepOf(made: MadeStep, before: KeptStep | undefined): KeptStep {
  const { tokens, repeated_tokens, tokens_without, cut } = made.step;
  const added = tokens - repeated_tokens;
  const isOn = before === undefined || cut === undefined;
  const new_tokens = isOn ? added : Math.min(added, Math.max(0, tokens_without - before.step.tokens_without));
  const is_shortened = cut !== undefined && made.stats.dropped_count > (before?.stats.dropped_count ?? 0);
  const free_tokens = before && !is_shortened ? before.free_tokens : budgetOf(made) - made.step.tokens;
  const cold_because = cut === "cold" && before ? coldBecause(made, before) : undefined;
  const observed = before?.observed_cached_tokens;
  const cached_before =
    before && observed !== undefined ? { expected: before.step.repeated_tokens, observed } : undefined;
  return {
    ...made,
    new_tokens,
    rewritten_tokens: added - new_tokens,
    free_tokens,
    is_shortened,
    ...(cold_because !== undefined && { cold_because }),
    ...(cached_before && { cached_before }),
  };
}

/** Tokens of the model for one of ours. */
function factorOf({ stats }: { readonly stats: BuildStats }): number {
  return stats.calibration?.factor ?? 1;
}

/** The budget in tokens of ours. */
function budgetOf(made: Pick<StepReport, "stats" | "budget_tokens">): number {
  return Math.floor(made.budget_tokens / factorOf(made));
}

/** Names the change between two steps that loses the provider's cache. */
function coldBecause({ told, tools }: MadeStep, before: KeptStep): string {
  if (told.model !== before.told.model) return "another model is called";
  const joined = tools.filter((name) => !before.tools.includes(name));
  const gone = before.tools.filter((name) => !tools.includes(name));
  const changes = [
    ...(joined.length > 0 ? [`${joined.join(", ")} joined`] : []),
    ...(gone.length > 0 ? [`${gone.join(", ")} left`] : []),
  ];
  if (changes.length > 0) return `the tools changed: ${changes.join(" and ")}`;
  if (tools.join() !== before.tools.join()) return "the tools are in another order";
  if (told.before !== before.told.before) return "what stands before the messages changed";
  return `${figure((told.now - before.told.now) / 60_000)} minutes passed since the call before`;
}

/** Says of a step what it brought. */
export function stepReport(manager: ContextManager, kept: KeptStep): StepReport {
  const { added, pack, thrift, free_tokens, is_shortened, told, cached_before, ...step } = kept;
  return { ...step, digested: added.flatMap((id) => digestOf(manager, id)), left_out: leftOutOf(manager, kept) };
}

/** The digest that an item is; none where it is no digest, or was forgotten. */
function digestOf(manager: ContextManager, id: string): readonly DigestedResult[] {
  const item = itemOf(manager, id);
  const firewall = firewallOf(item);
  if (!item?.artifact_ref || !firewall) return [];
  const { tool_name } = item.metadata as { readonly tool_name?: unknown };
  return [
    {
      item_id: id,
      handle: item.artifact_ref.handle,
      tokens: firewall.tokens ?? 0,
      ...(typeof tool_name === "string" && { tool_name }),
    },
  ];
}

/** A step in one line; `left` is what it does not have whole. */
export function stepLine(kept: KeptStep, left: readonly LeftOut[]): string {
  const { step, stats, cached_before, warnings } = kept;
  const codes = [...new Set(warnings.map(({ code }) => code))];
  const parts = [
    `step ${step.step}: ${tokensWords(kept)}`,
    leftOutWords(left, stats.dropped_count),
    cutWords(kept),
    ...toolWords(kept),
    ...(cached_before
      ? [
          `of the call before the provider had ${figure(cached_before.observed)} tokens in its cache (~${figure(cached_before.expected)} expected)`,
        ]
      : []),
    ...(codes.length > 0 ? [`warnings: ${codes.join(", ")}`] : []),
  ];
  return parts.join("; ");
}

function tokensWords(kept: KeptStep): string {
  const { step, budget_tokens, new_tokens, rewritten_tokens, observed_cached_tokens } = kept;
  const factor = factorOf(kept);
  const counted = factor === 1 ? "" : ` (${figure(budget_tokens)} as the provider counts, ${factor} times as much)`;
  const observed =
    observed_cached_tokens === undefined ? "" : `, where the provider had ${figure(observed_cached_tokens)}`;
  return `${figure(step.tokens)} of ${figure(budgetOf(kept))} tokens${counted} (~${figure(step.repeated_tokens)} expected from the cache${observed}, ${figure(new_tokens)} new, ${figure(rewritten_tokens)} rewritten)`;
}

function toolWords({ tools, added_tools, tool_count, tool_tokens }: KeptStep): readonly string[] {
  if (tools.length === 0) return [];
  const own = tool_count > 0 ? [`${tools.length - added_tools.length} of ${tool_count} tools`] : [];
  const added = added_tools.length > 0 ? [added_tools.join(", ")] : [];
  return [`${[...own, ...added].join(", and ")}, ${figure(tool_tokens)} tokens`];
}

function cutWords(kept: KeptStep): string {
  const { step, stats, thrift, cold_because, free_tokens, is_shortened } = kept;
  const { cut } = step;
  if (cut === undefined) return "not cut";
  const why =
    cut === "cold" && cold_because !== undefined ? `the provider's cache is lost, because ${cold_because}` : CUTS[cut];
  const said = cut === "first" ? why : `cut: ${cut} (${why})`;
  const isDeep = is_shortened && stats.dropped_items.some((item) => isThrift(item, free_tokens));
  return isDeep
    ? `${said}, shortened to ${figure(step.tokens)} of ${figure(budgetOf(kept))}, as ${deepCut(thrift)}`
    : said;
}

const CUTS: Readonly<Record<NonNullable<RunningStep["cut"]>, string>> = {
  first: "the first prompt",
  full: "the next one would not fit",
  pays: "a shorter one pays itself back",
  cold: "written anew",
  uncached: "there is no cache",
  instructions: "the instructions changed",
  budget: "another budget",
  edited: "something in it changed",
  pinned: "something must be in it that left",
  format: "another format",
  restored: "something in it is not stored any more",
};

/** Reports on a loop so far. */
export function loopReport(manager: ContextManager, costs: LoopCosts, kept: KeptStep | undefined): LoopReport {
  const last = kept && stepReport(manager, kept);
  const build = last && buildReport({ stats: last.stats, budget: last.budget_tokens });
  const text = [
    totals(costs),
    ...(kept && last
      ? [stepLine(kept, last.left_out), shares(last), ...leftOutLines(last.left_out, last.stats.dropped_count)]
      : []),
  ].join("\n");
  const data = { costs, ...(last && { last }), ...(build && { build }), text };
  // Methods are no data: they are not written with it.
  return Object.defineProperties(data as LoopReport, {
    session: { value: () => JSON.stringify(manager) },
    toString: { value: () => text },
  });
}

/** Where the tokens of a step are, all in the unit of the estimator. */
function shares(last: StepReport): string {
  const { step, stats, tool_tokens } = last;
  const sections = Object.entries(stats.tokens_per_section);
  const other = step.tokens - tool_tokens - sections.reduce((sum, [, tokens]) => sum + tokens, 0);
  const named = [...sections, ["tool definitions", tool_tokens] as const, ["other", other] as const].filter(
    ([, tokens]) => tokens > 0,
  );
  const listed = named.map(([name, tokens]) => `${name} ${figure(tokens)}`).join(", ");
  return `tokens by contextweaver's count, tool definitions included: ${listed}; ${figure(step.tokens)} in all, ${figure(Math.max(0, budgetOf(last) - step.tokens))} free`;
}

function totals({ steps, cuts, tokens, repeated_tokens, cost, cost_without, observed }: LoopCosts): string {
  if (steps === 0) return "no step yet";
  const share = cost_without > 0 ? Math.round(100 * (1 - cost / cost_without)) : 0;
  const saved = share === 0 ? "" : `, ${Math.abs(share)} % ${share > 0 ? "less" : "more"} than sending everything`;
  const seen = observed
    ? ` (of ${observed.steps} observed ${observed.steps === 1 ? "call" : "calls"} the provider had ${figure(observed.cached_tokens)}, and ~${figure(observed.forecast_tokens)} were expected)`
    : "";
  return `${steps} ${steps === 1 ? "step" : "steps"}, ${cuts} ${cuts === 1 ? "cut" : "cuts"}; ${figure(tokens)} tokens sent, ~${figure(repeated_tokens)} of them expected from the cache${seen}; they cost as ${figure(cost)} input tokens at full price${saved}`;
}
