// An object inside an engine: its handle, how it is given back, and how it survives the end of an instance.
import type { Glue } from "./engine.js";
import type { Operations } from "./engines.js";
import { ContextWeaverError } from "./errors.js";
import { ReplayLog, orDrop } from "./replay-log.js";
import type { Entry, Source, Start } from "./replay-log.js";

/** What objects of one kind have in common. The functions must not know an object's owner. @internal */
export interface Kind<G extends Glue> extends Source<G> {
  /** What it is called in errors. */
  readonly name: string;
}

/** A handle and the instance it is good for. Shared with the finalizer, which must not hold the owner. */
class Handle<G extends Glue> {
  readonly #engine: Operations<G>;
  readonly #drop: (glue: G, handle: number) => void;
  #number = 0;
  #generation = -1;

  constructor(engine: Operations<G>, drop: (glue: G, handle: number) => void) {
    this.#engine = engine;
    this.#drop = drop;
  }

  get number(): number {
    return this.#number;
  }

  /** Whether the object is in the instance of now. */
  get isAlive(): boolean {
    return this.#generation === this.#engine.generation;
  }

  /** Makes the object. */
  open(make: (glue: G) => number): void {
    this.#number = this.#engine.call((glue) => make(glue));
    this.#generation = this.#engine.generation;
  }

  /** Frees the object, unless it is gone with its instance. */
  release(): void {
    if (!this.isAlive) return;
    this.#generation = -1;
    try {
      this.#engine.call((glue) => this.#drop(glue, this.#number));
    } catch {
      // nothing is left to be freed
    }
  }
}

/** An object in an engine that survives the end of an instance: it is made again as it was. @internal */
export class EngineObject<G extends Glue> {
  readonly #engine: Operations<G>;
  readonly #kind: Kind<G>;
  readonly #handle: Handle<G>;
  /** Nothing once the object was freed: it holds all that the caller gave. */
  #log: ReplayLog<G> | undefined;

  /** `first` makes the object this once, where that is quicker than what `start` says. */
  constructor(engine: Operations<G>, kind: Kind<G>, start: Start<G>, first = start.open) {
    this.#engine = engine;
    this.#kind = kind;
    this.#handle = new Handle(engine, kind.drop);
    const log = new ReplayLog(kind, start);
    this.#handle.open((glue) => {
      const handle = first(glue);
      orDrop(
        () => log.begin(glue, handle),
        () => kind.drop(glue, handle),
      );
      return handle;
    });
    this.#log = log;
  }

  /** Lets the object be freed when its owner is collected. */
  watch(owner: object): void {
    finalizer?.register(owner, this.#handle, this.#handle);
  }

  /** The handle in the present instance; makes the object again when the instance was replaced. */
  get handle(): number {
    const log = this.#log;
    if (!log) throw new ContextWeaverError("DISPOSED", `the ${this.#kind.name} was freed`);
    if (!this.#handle.isAlive) this.#restore(log);
    return this.#handle.number;
  }

  /** Runs one call on the object. */
  call<T>(run: (glue: G, handle: number) => T): T {
    const { handle } = this;
    return this.#engine.call((glue) => run(glue, handle));
  }

  /** Remembers a change that was made. */
  record(entry: Entry<G>): void {
    const log = this.#log;
    if (!log?.add(entry)) return;
    try {
      this.call((glue, handle) => log.tidy(glue, handle));
    } catch {
      // The log is complete; folding it only saves memory.
      log.postpone();
    }
  }

  /** Bytes that are held for the case of a restart. */
  get weight(): number {
    return this.#log?.weight ?? 0;
  }

  /** Returns how to make the same object as it is now. */
  get start(): Start<G> {
    const log = this.#log;
    if (!log) throw new ContextWeaverError("DISPOSED", `the ${this.#kind.name} was freed`);
    return { weight: log.weight, open: log.recipe() };
  }

  /** Makes changes of which all are made, or none: what was made before one is refused is undone, by making the object again. */
  whole<T>(change: () => T): T {
    const { start } = this;
    try {
      return change();
    } catch (error) {
      // Freed meanwhile, there is nothing to go back to.
      if (this.#log) {
        this.#handle.release();
        this.#log = new ReplayLog(this.#kind, start);
      }
      throw error;
    }
  }

  /** Frees the object for good; a second time does nothing. */
  free(): void {
    this.#log = undefined;
    finalizer?.unregister(this.#handle);
    this.#handle.release();
  }

  #restore(log: ReplayLog<G>): void {
    try {
      this.#handle.open((glue) => log.replay(glue));
    } catch (cause) {
      const message = `the engine was restarted and the ${this.#kind.name} could not be restored`;
      throw new ContextWeaverError("POISONED", message, { cause });
    }
  }
}

/** What the finalizer needs to know of a handle, whatever its engine. */
interface Releasable {
  release(): void;
}

const finalizer =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<Releasable>((handle) => handle.release());

/** Makes `using` free the objects of a class, where the runtime has the symbol. @internal */
export function disposable(type: { prototype: { free(): void } }): void {
  // Not a method of the class body: where the symbol does not exist it would be called "undefined".
  if (!Symbol.dispose) return;
  const { free } = type.prototype;
  Object.defineProperty(type.prototype, Symbol.dispose, { value: free, configurable: true, writable: true });
}
