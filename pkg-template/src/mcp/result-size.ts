// How much of a result a client gets whose limit nobody has named.
import { wholeWithin } from "../boundary/guard-errors.js";

/**
 * Tokens of a result that clients get whose context nobody has named: over recorded steps (`benches/gate.mjs`) as many as the first and
 * the last 500 tokens of each result come to, with more of what the next call copies.
 */
export const RESULT_TOKENS = 1_150;
/** Results of full size that fit in a context. */
const RESULTS_IN_CONTEXT = 16;
/** Largest of all budgets. @internal */
export const MAX_RESULT_TOKENS = 2 ** 24;
/** How much of a result a client gets. */
export interface ResultSizeOptions {
  /**
   * Most tokens of a result. One that is an eighth larger still comes whole; of others the client gets the start, the end, and what names
   * the most between them or was asked for, with the way to the rest. Default: a sixteenth of `context_tokens`; 1,150 without it.
   */
  readonly result_tokens?: number;
  /** Tokens that the context of the client's model takes. Default: not known. */
  readonly context_tokens?: number;
}

/** Most tokens of a result, by options. Errors: `OUT_OF_RANGE`. @internal */
export function resultTokens({ result_tokens, context_tokens }: ResultSizeOptions): number {
  for (const [field, tokens] of Object.entries({ result_tokens, context_tokens })) {
    if (tokens !== undefined) wholeWithin(tokens, 1, MAX_RESULT_TOKENS, `/${field}`);
  }
  if (result_tokens !== undefined) return result_tokens;
  return context_tokens === undefined ? RESULT_TOKENS : Math.ceil(context_tokens / RESULTS_IN_CONTEXT);
}
