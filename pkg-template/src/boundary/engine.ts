// A WebAssembly instance: starting it when it is first needed, calling it, and bringing it back after a trap.
import { modules } from "./asked.js";
import type { Asked, ErrorGlue } from "./asked.js";
import { ContextWeaverError, fromEngine } from "./errors.js";

/** What an instance is made from. @internal */
export type Source = WebAssembly.Module | ArrayBuffer | Uint8Array<ArrayBuffer>;

/**
 * Whether a value is of one of the platform's own classes, by its tag: hosts and test runners hand over what was made in another realm,
 * which is no instance of the class here. @internal
 */
export function isOf(name: "WebAssembly.Module" | "ArrayBuffer", value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${name}]`;
}

/** A module and the glue that was generated with it. @internal */
export interface Loaded<G> {
  readonly glue: G;
  readonly source: Source;
}

/** What the generated glue of every module has. @internal */
export interface Glue extends ErrorGlue {
  initSync(source: { module: Source }): unknown;
  last_panic(): string;
  __wbg_reset_state(): void;
}

/** An export of each group of operations. */
const GROUPS = ["manager_new", "convert_call", "catalog_new", "decisions_new", "gateway_new"];

/** One of the package's modules. Each has its own memory, and its own end. @internal */
export class Engine<G extends Glue> implements Asked {
  /** Name of the module: its file is `<name>_bg.wasm`. */
  readonly name: string;
  readonly #load: (() => Source) | undefined;
  readonly #otherwise: (() => Loaded<G>) | undefined;
  #glue: G;
  #started = false;
  #poisoned = false;
  #generation = 0;

  /**
   * `load` gets the module when it is first needed; without it the engine waits to be started. Where `load` throws,
   * `otherwise` gets another build of the module, with the glue that belongs to it.
   */
  constructor(glue: G, name: string, load?: () => Source, otherwise?: () => Loaded<G>) {
    this.#glue = glue;
    this.name = name;
    this.#load = load;
    this.#otherwise = otherwise;
    modules.add(this);
  }

  /** Asks what an error wants to know, if this engine can be used. */
  ask<T>(run: (glue: ErrorGlue) => T): { readonly answer: T } | undefined {
    if (!this.#started && !this.#load) return undefined;
    try {
      return { answer: this.call(run) };
    } catch {
      return undefined; // the next one may be able to
    }
  }

  /** Tells whether a module is the one of this engine: it answers the same groups of operations. */
  fits(module: WebAssembly.Module): boolean {
    const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
    return GROUPS.every((name) => exported.includes(name) === name in this.#glue);
  }

  /** Starts the engine; a second time changes nothing. */
  start(source: Source): void {
    if (this.#started) return;
    this.#glue.initSync({ module: source });
    this.#started = true;
  }

  get isStarted(): boolean {
    return this.#started;
  }

  /** Counts the instances that ended; a handle is worth nothing in another one than its own. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Runs one call into the engine. A string thrown by it is a domain error; anything else is a trap, after which
   * no memory of the instance can be trusted: it is replaced at once.
   */
  call<T>(run: (glue: G) => T): T {
    if (!this.#started) this.#startNow();
    if (this.#poisoned) this.#revive(undefined);
    try {
      return run(this.#glue);
    } catch (thrown) {
      if (typeof thrown === "string") throw fromEngine(thrown);
      throw this.#afterTrap(thrown);
    }
  }

  #startNow(): void {
    const load = this.#load;
    if (!load) {
      const message = `the engine is not started: init has not been given ${this.name}_bg.wasm`;
      const hint = `call initSync({ ${this.name} }) or await init({ ${this.name} }) of contextweaver/slim first`;
      throw new ContextWeaverError("UNSUPPORTED", message, { hint });
    }
    try {
      this.start(this.#get(load));
    } catch (cause) {
      const message = `the engine cannot be started: ${(cause as Error).message}`;
      const hint = "a Content-Security-Policy must allow 'wasm-unsafe-eval'";
      throw new ContextWeaverError("UNSUPPORTED", message, { cause, hint });
    }
  }

  #get(load: () => Source): Source {
    try {
      return load();
    } catch (cause) {
      if (!this.#otherwise) throw cause;
      const { glue, source } = this.#otherwise();
      this.#glue = glue;
      return source;
    }
  }

  #afterTrap(cause: unknown): ContextWeaverError {
    this.#poisoned = true;
    this.#generation += 1;
    const panic = this.#lastPanic();
    this.#revive(cause);
    return new ContextWeaverError("INTERNAL", "the engine failed and was restarted; the call had no effect", {
      cause,
      details: panic ? { panic } : undefined,
      hint: "the same call may succeed with less input; please report it with details.panic",
    });
  }

  #lastPanic(): string {
    try {
      return this.#glue.last_panic();
    } catch {
      return ""; // after a stack overflow nothing that needs the stack answers
    }
  }

  #revive(trap: unknown): void {
    try {
      this.#glue.__wbg_reset_state();
      this.#poisoned = false;
    } catch (cause) {
      throw new ContextWeaverError("POISONED", "the engine failed and could not be restarted", {
        cause: trap ?? cause,
        hint: "free memory and call again, or restart the process",
      });
    }
  }
}
