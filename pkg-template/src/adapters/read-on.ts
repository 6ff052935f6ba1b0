// The answers to calls of the tools that read what is not shown, whoever answers them.
import type { ContextManager, DrilldownOptions, RecallAnswer, Selector, Slice } from "contextweaver";

/** Arguments of `ContextManager.drilldown`. */
export interface DrilldownInput {
  readonly handle: string;
  /** Default: the lines from the first one on. */
  readonly selector?: Selector;
  readonly max_tokens?: number;
}

/** Tokens of a part when the model names no number: some 200 lines of code. */
const PART_TOKENS = 2_000;
/** Tokens of what is found again when the model names no number. */
const RECALL_TOKENS = 300;
/** Tokens set aside for the line below a part. */
const NOTE_TOKENS = 60;
/** Tokens of an answer where nobody knows the budget of the model: a quarter of 32,000. */
export const DEFAULT_ROOM = 8_000;
/** Artifacts that are named to a model as not searched. */
const MAX_NAMED = 3;

/** Reads a part of a result within `room` tokens, and says where it stands and how to go on. */
export function readOn(manager: Pick<ContextManager, "drilldown">, input: DrilldownInput, room: number): string {
  return said(manager.drilldown(input.handle, input.selector, within(input, room)));
}

/** Does the same of a result, too, that is not in memory. */
export async function readOnAsync(
  manager: Pick<ContextManager, "drilldownAsync">,
  input: DrilldownInput,
  room: number,
  signal?: AbortSignal,
): Promise<string> {
  return said(await manager.drilldownAsync(input.handle, input.selector, { ...within(input, room), signal }));
}

/** Arguments of `ContextManager.recall`. */
export interface RecallInput {
  readonly query: string;
  readonly max_tokens?: number;
}

/** Finds again what the log and its artifacts hold, and answers within `room` tokens. */
export function findAgain(manager: Pick<ContextManager, "recall">, input: RecallInput, room: number): string {
  return found(manager.recall(input.query, { ...atMost(input, room), hidden_only: true }));
}

/** Does the same, also of results that are not in memory. */
export async function findAgainAsync(
  manager: Pick<ContextManager, "recallAsync">,
  input: RecallInput,
  room: number,
  signal?: AbortSignal,
): Promise<string> {
  return found(await manager.recallAsync(input.query, { ...atMost(input, room), hidden_only: true, signal }));
}

/** What a model gets of what was found. */
export function found({ text, unread }: Pick<RecallAnswer, "text" | "unread">): string {
  const rest = unread.length > 0 ? `\n(not searched: ${unread.slice(0, MAX_NAMED).join(", ")})` : "";
  return `${text === "" ? "Nothing was found beside what is shown. Try other words that stood near it." : text}${rest}`;
}

/** How much a model may be told: what it asked for, as far as there is room. `null` and 0, which models write, name no number. */
export function atMost({ max_tokens }: Pick<RecallInput, "max_tokens">, room: number): { readonly max_tokens: number } {
  return { max_tokens: Math.min(max_tokens || RECALL_TOKENS, room) };
}

function within({ max_tokens }: DrilldownInput, room: number): DrilldownOptions {
  return { max_tokens: Math.min(max_tokens || PART_TOKENS, Math.max(room - NOTE_TOKENS, 0)) };
}

function said(slice: Slice): string {
  const rest = slice.next ? `; for the rest: ${JSON.stringify(slice.next)}` : "";
  return `${slice.text}\n(${shownOf(slice)}${rest})`;
}

/** Which part of what there is stands in a slice. Numbers count from 0, as those of selectors do, and the last one is shown. */
export function shownOf({
  unit,
  start,
  end,
  total,
  matches,
}: Pick<Slice, "unit" | "start" | "end" | "total" | "matches">): string {
  if (matches) return matchesShown(matches, total);
  if (unit === "hits" && end - start === total)
    return total === 0 ? "no hits" : total === 1 ? "1 hit" : `all ${total} hits`;
  return `${numbered(unit, start, end)} of ${total}, counted from 0`;
}

/** Which of the rows that fulfil conditions stand in a slice. */
export function matchesShown({ start, end, rows }: NonNullable<Slice["matches"]>, total: number): string {
  if (end - start < total)
    return `${numbered("matching rows", start, end)} of ${total}, counted from 0; ${rows} rows in all`;
  return `${total === 0 ? "no row matches" : total === 1 ? "1 row matches" : `${total} rows match`} of ${rows}`;
}

function numbered(unit: string, start: number, end: number): string {
  return end > start ? `${unit} ${start}-${end - 1}` : `no ${unit}`;
}
