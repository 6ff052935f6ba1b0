// What a conversation has sent so far: the line of `debug`, and `report()` of what every `contextWeaver` returns.
import { ContextWeaverError, buildReport } from "contextweaver";
import type { BuildReport, BuildStats, ContextManager, MessageWarning, RunningStep } from "contextweaver";
import type { LoopCosts } from "./agent-loop.js";
import { figure } from "../telemetry/debug.js";

/** A large result that came with a step, of which prompts show a digest. */
export interface DigestedResult {
  readonly item_id: string;
  /** By which all of it is read. */
  readonly handle: string;
  readonly tool_name?: string;
  /** Of all of it. */
  readonly tokens: number;
}

/** A step: what was sent, and what became of the rest. It quotes nothing that was said. */
export interface StepReport {
  /** What telemetry is told of it as `running`: why it was cut, tokens and prices. */
  readonly step: RunningStep;
  /** What telemetry is told of it as `stats`: what was kept, what was dropped, and why. */
  readonly stats: BuildStats;
  /** Results that are new in it. */
  readonly digested: readonly DigestedResult[];
  readonly budget_tokens: number;
  /** `step.tokens` is these and `step.repeated_tokens`: what was not sent before, and what was and is written anew. */
  readonly new_tokens: number;
  readonly rewritten_tokens: number;
  /** Names of the tools that were offered, how many there are, and tokens of their definitions. */
  readonly tools: readonly string[];
  readonly tool_count: number;
  readonly tool_tokens: number;
  readonly warnings: readonly MessageWarning[];
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

/** A step as it is kept: what was digested is looked up when somebody asks. */
export interface KeptStep extends Omit<StepReport, "digested"> {
  /** Ids of the items that are new in it. */
  readonly added: readonly string[];
}

/** Sets a step beside the one before. */
export function stepOf(step: Omit<KeptStep, "new_tokens" | "rewritten_tokens">, before: KeptStep | undefined): KeptStep {
  const { tokens, repeated_tokens, tokens_without, cut } = step.step;
  const added = tokens - repeated_tokens;
  const isOn = before === undefined || cut === undefined;
  const new_tokens = isOn ? added : Math.min(added, Math.max(0, tokens_without - before.step.tokens_without));
  return { ...step, new_tokens, rewritten_tokens: added - new_tokens };
}

/** Says of a step what it brought. */
export function stepReport(manager: ContextManager, { added, ...step }: KeptStep): StepReport {
  return { ...step, digested: added.flatMap((id) => digestOf(manager, id)) };
}

/** The digest that an item is; none where it is no digest, or was forgotten. */
function digestOf({ events }: ContextManager, id: string): readonly DigestedResult[] {
  try {
    const { artifact_ref, metadata } = events.get(id);
    const { firewall, tool_name } = (metadata ?? {}) as { readonly firewall?: { readonly tokens?: unknown }; readonly tool_name?: unknown };
    if (!artifact_ref || !firewall) return [];
    return [{ item_id: id, handle: artifact_ref.handle, tokens: Number(firewall.tokens ?? 0), ...(typeof tool_name === "string" && { tool_name }) }];
  } catch (error) {
    if (ContextWeaverError.is(error) && error.code === "NOT_FOUND") return [];
    throw error;
  }
}

/** A step in one line. */
export function stepLine({ step, stats, digested, budget_tokens, new_tokens, rewritten_tokens, tools, tool_count, tool_tokens, warnings }: StepReport): string {
  const codes = [...new Set(warnings.map(({ code }) => code))];
  const parts = [
    `step ${step.step}: ${figure(step.tokens)} of ${figure(budget_tokens)} tokens (${figure(step.repeated_tokens)} cached, ${figure(new_tokens)} new, ${figure(rewritten_tokens)} rewritten)`,
    digestedWords(digested),
    dropped(stats),
    step.cut === undefined ? "not cut" : `cut: ${step.cut} (${CUTS[step.cut]})`,
    ...(tool_count > 0 ? [`${tools.length} of ${tool_count} tools, ${figure(tool_tokens)} tokens`] : []),
    ...(codes.length > 0 ? [`warnings: ${codes.join(", ")}`] : []),
  ];
  return parts.join("; ");
}

const CUTS: Readonly<Record<NonNullable<RunningStep["cut"]>, string>> = {
  first: "the first prompt",
  full: "the next one would not fit",
  pays: "a shorter one pays itself back",
  cold: "the provider's cache is lost",
  uncached: "there is no cache",
  instructions: "the instructions changed",
  budget: "another budget",
  edited: "something in it changed",
  pinned: "something must be in it that left",
  format: "another format",
  restored: "something in it is not stored any more",
};

function digestedWords(digested: readonly DigestedResult[]): string {
  const [largest] = [...digested].sort((a, b) => b.tokens - a.tokens);
  return largest ? `${digested.length} digested (largest ${largest.tool_name ?? largest.item_id}: ${figure(largest.tokens)} tokens, ${largest.handle})` : "0 digested";
}

function dropped({ dropped_count, dropped_items }: BuildStats): string {
  const [largest] = [...dropped_items].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
  return largest ? `${dropped_count} dropped (largest ${largest.item_id}: ${figure(largest.tokens ?? 0)} tokens, ${largest.reason})` : "0 dropped";
}

/** What a loop has come to. */
export function loopReport(manager: ContextManager, costs: LoopCosts, last: StepReport | undefined): LoopReport {
  const build = last && buildReport({ stats: last.stats, budget: last.budget_tokens });
  const text = [totals(costs), ...(last && build ? [stepLine(last), build.text] : [])].join("\n");
  const data = { costs, ...(last && { last }), ...(build && { build }), text };
  // Methods are no data: they are not written with it.
  return Object.defineProperties(data as LoopReport, {
    session: { value: () => JSON.stringify(manager) },
    toString: { value: () => text },
  });
}

function totals({ steps, cuts, tokens, repeated_tokens, cost, cost_without }: LoopCosts): string {
  if (steps === 0) return "no step yet";
  const saved = cost_without > 0 ? `, ${Math.round(100 * (1 - cost / cost_without))} % less than the whole conversation would have cost` : "";
  return `${steps} ${steps === 1 ? "step" : "steps"}, ${cuts} cut; ${figure(tokens)} tokens sent, ${figure(repeated_tokens)} of them cached; they cost as ${figure(cost)} new ones${saved}`;
}
