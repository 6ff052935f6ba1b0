// The handle that every `contextWeaver` returns beside what its framework takes: the same names and types in all entries.
import type { ContextManager } from "contextweaver";
import type { AgentLoop } from "./agent-loop.js";
import type { LoopCosts, LoopReport } from "./loop-report.js";

/** A conversation that is served, whatever the framework. */
export interface ContextWeaverHandle {
  /** The log, with all that was ever said and every byte of every result. There from the beginning. */
  readonly manager: ContextManager;
  /** What the calls cost and would have cost with the whole conversation, in prices of a token without a cache. */
  readonly costs: () => LoopCosts;
  /** What happened so far: the last step, all of them, and as text. */
  readonly report: () => LoopReport;
  /** Gives the memory back. A log that was given stays. */
  readonly free: () => void;
}

/**
 * The conversations of an agent that has many. What a handle has is that of the conversation that went on last; before the first, that of
 * the one that will begin.
 */
export interface ConversationsHandle extends ContextWeaverHandle {
  /** One conversation, by the id of its thread. Undefined where it is not in memory. Its `free` ends it here. */
  readonly conversation: (key: string) => ContextWeaverHandle | undefined;
}

/** The handle of a loop. */
export function handleOf(loop: AgentLoop): ContextWeaverHandle {
  return { manager: loop.manager, costs: () => loop.costs(), report: () => loop.report(), free: () => loop.free() };
}
