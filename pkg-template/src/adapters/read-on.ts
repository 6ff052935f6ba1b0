// The answer to a call of the drilldown tool, whoever answers it.
import type { ContextManager, DrilldownOptions, Selector, Slice } from "contextweaver";

/** Arguments of `ContextManager.drilldown`. */
export interface DrilldownInput {
  readonly handle: string;
  readonly selector: Selector;
  readonly max_tokens?: number;
}

/** Tokens of a part that is read of a result: below the default gate of the firewall, so that it stays as it was read. */
const PART_TOKENS = 400;

/** Reads a part of a result, and says where it stands and how to go on. */
export function readOn(manager: Pick<ContextManager, "drilldown">, input: DrilldownInput): string {
  return said(manager.drilldown(input.handle, input.selector, within(input)));
}

/** Does the same of a result, too, that is not in memory. */
export async function readOnAsync(manager: Pick<ContextManager, "drilldownAsync">, input: DrilldownInput): Promise<string> {
  return said(await manager.drilldownAsync(input.handle, input.selector, within(input)));
}

function within({ max_tokens = PART_TOKENS }: DrilldownInput): DrilldownOptions {
  return { max_tokens: Math.min(max_tokens, PART_TOKENS) };
}

function said({ text, unit, start, end, total, next }: Slice): string {
  const rest = next ? `; for the rest: ${JSON.stringify(next)}` : "";
  return `${text}\n(${unit} ${start} to ${end} of ${total}${rest})`;
}
