// What the page shows first: the sample with its questions. The build of the page asks the same, and records the answers.
import type { Phase } from "contextweaver/slim";
import { PHASE, PHASES } from "./words.ts";

export const SAMPLE_NAME = "Recorded session shop.jsonl";
/** The result that holds the answer: row 52 of the log, a table of 8,000 tokens. */
export const FIRST_PLACE = 51;
export const FIRST_PHASE: Phase = "answer";

export type Queries = Partial<Record<Phase, string>>;
export type Values = Partial<Record<Phase, readonly string[]>>;

/** The questions of the sample, and the texts that answer them. */
export interface Asked {
  readonly queries: Queries;
  readonly values: Values;
}

interface Meta {
  readonly queries: Readonly<Record<string, { readonly query: string; readonly values?: readonly string[] }>>;
}

/** Reads the record beside the sample. To choose a tool or write a call, no value has to be in the prompt. */
export function askedOf(meta: Meta): Asked {
  const queries: Queries = {};
  const values: Values = {};
  for (const phase of PHASES) {
    const asked = meta.queries[phase];
    if (!asked) continue;
    queries[phase] = asked.query;
    if (phase === "interpret" || phase === "answer") values[phase] = asked.values ?? [];
  }
  return { queries, values };
}

/** Share of a transcript that its answer may take, so that something has to go. */
const OWN_SHARE = 0.4;
/** Tokens below which a budget is no use to anybody. */
const LEAST = 200;

/** Budgets for a transcript of so many tokens: the usual ones, or less where everything would fit into them. */
export function budgetsFor(tokens: number | null): Readonly<Record<Phase, number>> {
  const usual = PHASE.answer.budget;
  const answer = tokens === null ? usual : Math.min(usual, Math.max(LEAST, Math.round((tokens * OWN_SHARE) / 10) * 10));
  const of = (phase: Phase): number => Math.round((PHASE[phase].budget * answer) / usual);
  return { route: of("route"), call: of("call"), interpret: of("interpret"), answer };
}
