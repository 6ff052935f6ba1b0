// The WebAssembly instance: starting it, calling it, and bringing it back after a trap.
import * as glue from "./core.js";
import { ContextWeaverError, fromEngine } from "./errors.js";

let started = false;
let poisoned = false;
let current = 0;

/**
 * Starts the engine; a second call changes nothing.
 * @internal
 */
export function start(module: WebAssembly.Module | ArrayBuffer | Uint8Array<ArrayBuffer>): void {
  if (started) return;
  glue.initSync({ module });
  started = true;
}

/**
 * Tells whether {@link start} has run.
 * @internal
 */
export function isStarted(): boolean {
  return started;
}

/**
 * Counts the instances there have been; a handle is worth nothing in another one than its own.
 * @internal
 */
export function generation(): number {
  return current;
}

/**
 * Runs one call into the engine. A string thrown by it is a domain error; anything else is a trap, after which
 * no memory of the instance can be trusted: it is replaced at once.
 * @internal
 */
export function call<T>(run: (engine: typeof glue) => T): T {
  if (!started) {
    throw new ContextWeaverError("UNSUPPORTED", "the engine is not started: init has not been called", {
      hint: "call initSync(module) or await init(source) of contextweaver/slim first",
    });
  }
  if (poisoned) revive(undefined);
  try {
    return run(glue);
  } catch (thrown) {
    if (typeof thrown === "string") throw fromEngine(thrown);
    throw afterTrap(thrown);
  }
}

/** Version of the engine, equal to the version of the package. */
export function version(): string {
  return call((engine) => engine.engine_version());
}

function afterTrap(cause: unknown): ContextWeaverError {
  poisoned = true;
  current += 1;
  const panic = lastPanic();
  revive(cause);
  return new ContextWeaverError("INTERNAL", "the engine failed and was restarted; the call had no effect", {
    cause,
    details: panic ? { panic } : undefined,
    hint: "the same call may succeed with less input; please report it with details.panic",
  });
}

function lastPanic(): string {
  try {
    return glue.last_panic();
  } catch {
    return ""; // after a stack overflow nothing that needs the stack answers
  }
}

function revive(trap: unknown): void {
  try {
    glue.__wbg_reset_state();
    poisoned = false;
  } catch (cause) {
    throw new ContextWeaverError("POISONED", "the engine failed and could not be restarted", {
      cause: trap ?? cause,
      hint: "free memory and call again, or restart the process",
    });
  }
}
