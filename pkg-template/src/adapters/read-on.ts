// The answers to calls of the tools that read what is not shown, whoever answers them.
import type { ContextManager, DrilldownOptions, RecallAnswer, Selector, Slice } from "contextweaver";

/** Arguments of `ContextManager.drilldown`. */
export interface DrilldownInput {
  readonly handle: string;
  readonly selector: Selector;
  readonly max_tokens?: number;
}

/** Tokens of a part that is read of a result: below the default gate of the firewall, so that it stays as it was read. */
const PART_TOKENS = 400;

/** Tokens of what is found again. */
const RECALL_TOKENS = 300;
/** Artifacts that are named to a model as not searched. */
const MAX_NAMED = 3;

/** Reads a part of a result, and says where it stands and how to go on. */
export function readOn(manager: Pick<ContextManager, "drilldown">, input: DrilldownInput): string {
  return said(manager.drilldown(input.handle, input.selector, within(input)));
}

/** Does the same of a result, too, that is not in memory. */
export async function readOnAsync(manager: Pick<ContextManager, "drilldownAsync">, input: DrilldownInput): Promise<string> {
  return said(await manager.drilldownAsync(input.handle, input.selector, within(input)));
}

/** Arguments of `ContextManager.recall`. */
export interface RecallInput {
  readonly query: string;
  readonly max_tokens?: number;
}

/** Finds again what the log and its artifacts hold. */
export function findAgain(manager: Pick<ContextManager, "recall">, input: RecallInput): string {
  return found(manager.recall(input.query, atMost(input)));
}

/** Does the same, also of results that are not in memory. */
export async function findAgainAsync(manager: Pick<ContextManager, "recallAsync">, input: RecallInput): Promise<string> {
  return found(await manager.recallAsync(input.query, atMost(input)));
}

/** What a model gets of what was found. */
export function found({ text, unread }: Pick<RecallAnswer, "text" | "unread">): string {
  const rest = unread.length > 0 ? `\n(not searched: ${unread.slice(0, MAX_NAMED).join(", ")})` : "";
  return `${text === "" ? "Nothing was found. Try other words that stood near it." : text}${rest}`;
}

/** How much a model may be told. */
export function atMost({ max_tokens = RECALL_TOKENS }: Pick<RecallInput, "max_tokens">): { readonly max_tokens: number } {
  return { max_tokens: Math.min(max_tokens, PART_TOKENS) };
}

function within({ max_tokens = PART_TOKENS }: DrilldownInput): DrilldownOptions {
  return { max_tokens: Math.min(max_tokens, PART_TOKENS) };
}

function said({ text, unit, start, end, total, next }: Slice): string {
  const rest = next ? `; for the rest: ${JSON.stringify(next)}` : "";
  return `${text}\n(${unit} ${start} to ${end} of ${total}${rest})`;
}
