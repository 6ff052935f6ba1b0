// The answer to a call of the drilldown tool, whoever answers it.
import type { ContextManager, Selector } from "contextweaver";

/** Arguments of `ContextManager.drilldown`. */
export interface DrilldownInput {
  readonly handle: string;
  readonly selector: Selector;
  readonly max_tokens?: number;
}

/** Tokens of a part that is read of a result: below the default gate of the firewall, so that it stays as it was read. */
const PART_TOKENS = 400;

/** Reads a part of a result, and says where it stands and how to go on. */
export function readOn(manager: Pick<ContextManager, "drilldown">, { handle, selector, max_tokens = PART_TOKENS }: DrilldownInput): string {
  const slice = manager.drilldown(handle, selector, { max_tokens: Math.min(max_tokens, PART_TOKENS) });
  const { text, unit, start, end, total, next } = slice;
  const rest = next ? `; for the rest: ${JSON.stringify(next)}` : "";
  return `${text}\n(${unit} ${start} to ${end} of ${total}${rest})`;
}
