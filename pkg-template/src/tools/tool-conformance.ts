// A test for decorators of one's own: do they run, and pass the context on, whichever way a tool is called?
import { broken, same } from "./context-values.js";
import { ToolCallContext } from "./tool-call-context.js";
import { defineTool } from "./tools.js";
import type { Tool } from "./tools.js";

/** Settings of {@link assertPropagates}. */
export interface PropagationOptions {
  /** Input of the calls. Default: `{}`. */
  readonly input?: unknown;
  /** Keys that the decorator adds or changes on purpose. */
  readonly adds?: readonly string[];
  /** How often the decorator's logic ran until now, where that cannot be seen from outside. */
  readonly ran?: () => number;
}

interface Observation {
  readonly seen: ToolCallContext[];
  readonly inputs: unknown[];
  readonly outcome: readonly [how: "answered" | "threw", what: unknown];
  readonly ran: number;
}

/**
 * Runs a decorator around a probe without a context, with an empty and with a full one, and fails unless it did the same
 * each time and the context arrived. `POLICY_VIOLATION` with the reason `ContextNotPropagated` says what differed.
 */
export async function assertPropagates(
  decorator: (tool: Tool) => Tool,
  options: PropagationOptions = {},
): Promise<void> {
  const full = ToolCallContext.of({ probe: "value", nested: { list: [1, true] } });
  const without = await observe(decorator, [], options);
  const empty = await observe(decorator, [ToolCallContext.EMPTY], options);
  const given = await observe(decorator, [full], options);
  const calls = new Set([without, empty, given].map(({ seen }) => seen.length));
  if (calls.size > 1) fail("it reached the tool in some calls and not in others, depending on the context");
  if (new Set([without, empty, given].map(({ ran }) => ran)).size > 1)
    fail("its logic did not run as often with a context as without");
  for (const other of [empty, given]) {
    if (!alike(without.inputs, other.inputs)) fail("the input that arrived depends on whether there was a context");
    if (without.outcome[0] !== other.outcome[0] || !alike(textOf(without.outcome[1]), textOf(other.outcome[1]))) {
      fail("the outcome depends on whether there was a context");
    }
  }
  const adds = options.adds ?? [];
  const arrived = [
    ...given.seen.map((context) => [context, full] as const),
    ...[...without.seen, ...empty.seen].map((context) => [context, ToolCallContext.EMPTY] as const),
  ];
  for (const [context, wanted] of arrived) {
    if (!context.omit(adds).equals(wanted.omit(adds))) fail("the context did not arrive, or as another one");
  }
}

async function observe(
  decorator: (tool: Tool) => Tool,
  context: readonly ToolCallContext[],
  options: PropagationOptions,
): Promise<Observation> {
  const seen: ToolCallContext[] = [];
  const inputs: unknown[] = [];
  const probe = defineTool({ name: "probe", description: "records how it is called" }, (input, present) => {
    seen.push(present);
    inputs.push(input);
    return "probed";
  });
  const before = options.ran?.() ?? 0;
  const outcome = await settled(() => decorator(probe).call(options.input ?? {}, ...context));
  return { seen, inputs, outcome, ran: (options.ran?.() ?? 0) - before };
}

async function settled(run: () => Promise<unknown>): Promise<Observation["outcome"]> {
  try {
    return ["answered", await run()];
  } catch (thrown) {
    return ["threw", thrown];
  }
}

const textOf = (what: unknown): unknown => (what instanceof Error ? `${what.name}: ${what.message}` : what);

function alike(a: unknown, b: unknown): boolean {
  return same(a, b) || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}

function fail(what: string): never {
  throw broken("POLICY_VIOLATION", "ContextNotPropagated", `the decorator is not sound: ${what}`);
}
