// Lets a tool answer once in each run of an agent's tool loop. A run is known by the loop id in the call context;
// a memo of recent ids tells its first call from later ones.
import { ContextWeaverError } from "../boundary/errors.js";
import type { ToolCallContext } from "../tools/tool-call-context.js";
import { decorate } from "../tools/tools.js";
import type { DecoratedTool, Tool } from "../tools/tools.js";

const LOOP_ID = "contextweaver.loopId";

/** The loops seen, as many as fit; the oldest is forgotten first. */
export class LoopMemo {
  readonly #seen = new Set<string>();
  readonly #capacity: number;

  /** `capacity`: loops remembered, at least 1. Default: 1024. */
  constructor(capacity = 1024) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new ContextWeaverError("OUT_OF_RANGE", "expected a whole number from 1", { path: "/capacity" });
    }
    this.#capacity = capacity;
  }

  /** Number of loops remembered. */
  get size(): number {
    return this.#seen.size;
  }

  /** Remembers a loop; tells whether it is new. */
  add(loopId: string): boolean {
    if (this.#seen.has(loopId)) return false;
    this.#seen.add(loopId);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= this.#capacity) break;
      this.#seen.delete(oldest);
    }
    return true;
  }

  /** Forgets a loop; tells whether it was remembered. */
  delete(loopId: string): boolean {
    return this.#seen.delete(loopId);
  }
}

/** Whether a loop is seen for the first time. Without a loop id every call is a first one. */
export function firstTimeIn(context: ToolCallContext, memo: LoopMemo): boolean {
  const loopId = context.get(LOOP_ID);
  return typeof loopId !== "string" || memo.add(loopId);
}

/**
 * Lets a tool answer once in a loop; later calls get a short text with the advice and do not reach it. A call that fails is no answer:
 * the next one reaches the tool.
 */
export function oncePerLoop<Input, Output>(
  tool: Tool<Input, Output>,
  advice = "",
  memo: LoopMemo = new LoopMemo(),
): DecoratedTool<Input, Output | string> {
  return decorate<Input, Output | string>(tool, {
    label: "oncePerLoop",
    async around(input, context, next) {
      if (!firstTimeIn(context, memo)) return ["already delivered this turn", advice].filter(Boolean).join(": ");
      try {
        return await next(input);
      } catch (error) {
        const loopId = context.get(LOOP_ID);
        if (typeof loopId === "string") memo.delete(loopId);
        throw error;
      }
    },
  });
}
