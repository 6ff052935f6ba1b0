// Functions that need no manager.
import { context } from "../boundary/engines.js";
import { encode, fields } from "../boundary/guard.js";
import type { BuildReport } from "./results.js";
import type { BuildStats, Phase, StoredTool } from "../types.js";

function run<T>(op: string, args: Record<string, unknown>): T {
  const text = encode(args);
  return (JSON.parse(context.call((glue) => glue.text_call(op, text))) as { done: T }).done;
}

/** Version of the engine, equal to the version of the package. */
export function version(): string {
  return context.call((glue) => glue.engine_version());
}

/** Counts tokens as a build does; an approximation that needs no vocabulary. Default: `heuristic/v3`. */
export function countTokens(
  text: string,
  options?: { readonly estimator?: "heuristic/v3" | "heuristic/v2" | "heuristic/chardiv4" },
): number {
  return run<{ tokens: number }>("count_tokens", { ...fields(options), text }).tokens;
}

/** Masks keys, tokens, passwords and the like. Linear in the text, and the same when done twice. */
export function redactSecrets(
  text: string,
  options?: {
    /** What stands for a secret. Default: `[REDACTED-SECRET]`. */
    readonly mask?: string;
    /**
     * Fields that stay, as in `redact_secrets` of a manager. With it, what a model has to repeat in its next call stays, too, such as
     * signatures of addresses. Default: as for people, where nothing stays.
     */
    readonly except?: readonly string[];
  },
): string {
  return run<{ text: string }>("redact_secrets", { ...fields(options), text }).text;
}

/**
 * Makes text safe to show: terminal escapes, control characters and invisible code points become visible `\u{…}`,
 * carriage returns become line feeds.
 */
export function sanitizeText(text: string): string {
  return run<{ text: string }>("sanitize_text", { text }).text;
}

/** Splits text into the words that relevance is measured by. */
export function tokenize(text: string): readonly string[] {
  return run<{ tokens: string[] }>("tokenize", { text }).tokens;
}

/**
 * Returns `drilldown` as a tool for models, its `args_schema` naming every selector: to be offered while a model reads
 * results. Its arguments are those of `ContextManager.drilldown`: `handle`, `selector` and `max_tokens`.
 */
export function drilldownTool(): StoredTool {
  return run("drilldown_tool", {});
}

/**
 * Returns `recall` as a tool for models: to be offered where something of the conversation no longer stands in the prompt. Its
 * arguments are those of `ContextManager.recall`: `query` and `max_tokens`.
 */
export function recallTool(): StoredTool {
  return run("recall_tool", {});
}

/** Explains the numbers of a build and what could be done about them. */
export function buildReport(options: {
  readonly stats: BuildStats;
  readonly phase?: Phase;
  /** Tokens. Default: the budget of the stats. */
  readonly budget?: number;
}): BuildReport {
  return run("report", fields(options));
}

/** A provider's prices for tokens that repeat the prompt before, as the engine has them. @internal */
export interface ProviderPrices {
  readonly name: string;
  /** In prices of a token that is neither read from a cache nor written to one. */
  readonly prices: {
    readonly cached: number;
    readonly written: number;
    readonly least_tokens: number;
    readonly step_tokens: number;
    readonly kept_seconds: number;
  };
  readonly source: string;
  /** YYYY-MM. */
  readonly as_of: string;
}

/** Lists the price models that the engine knows by name. @internal */
export function priceModels(): readonly ProviderPrices[] {
  return run("price_models", {});
}
