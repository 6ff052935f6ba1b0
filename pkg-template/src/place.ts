// Where an object is inside an engine, and how it is given back.
import type { Glue } from "./engine.js";
import type { Operations } from "./engines.js";
import { ContextWeaverError } from "./errors.js";

/** A handle and the instance it is good for. Shared with the finalizer, which must not hold the owner. @internal */
export class Place<G extends Glue> {
  readonly #engine: Operations<G>;
  readonly #drop: (glue: G, handle: number) => void;
  #handle = 0;
  #generation = -1;

  /** `drop` frees what is under a handle; it must not know the owner either. */
  constructor(engine: Operations<G>, drop: (glue: G, handle: number) => void) {
    this.#engine = engine;
    this.#drop = drop;
  }

  get handle(): number {
    return this.#handle;
  }

  /** Whether the object is in the instance of now. */
  get isThere(): boolean {
    return this.#generation === this.#engine.generation;
  }

  /** Makes the object. */
  open(make: (glue: G) => number): void {
    this.#handle = this.#engine.call(make);
    this.#generation = this.#engine.generation;
  }

  /** Lets the object be freed when its owner is collected. */
  watch(owner: object): void {
    finalizer?.register(owner, this, this);
  }

  /** Frees the object for good. */
  close(): void {
    finalizer?.unregister(this);
    this.release();
  }

  /** Frees the object, unless it is gone with its instance; another may be opened in its place. */
  release(): void {
    if (!this.isThere) return;
    this.#generation = -1;
    try {
      this.#engine.call((glue) => this.#drop(glue, this.#handle));
    } catch {
      // nothing is left to be freed
    }
  }
}

/** An operation that changed an object, to be run again in another instance. */
interface Change {
  readonly operation: string;
  readonly args: string;
}

/** How an object of an engine is made, asked and freed. The functions must not know the owner. @internal */
export interface Kind<G extends Glue> {
  /** What it is called in errors. */
  readonly name: string;
  readonly call: (glue: G, handle: number, operation: string, args: string) => string;
  readonly drop: (glue: G, handle: number) => void;
}

/** An object in an engine that survives the end of an instance: it is made again, and its changes are repeated. @internal */
export class Kept<G extends Glue> {
  readonly #engine: Operations<G>;
  readonly #kind: Kind<G>;
  readonly #place: Place<G>;
  #make: (glue: G) => number;
  #changes: Change[] = [];
  #freed = false;

  constructor(engine: Operations<G>, kind: Kind<G>, make: (glue: G) => number, first = make) {
    this.#engine = engine;
    this.#kind = kind;
    this.#make = make;
    this.#place = new Place(engine, kind.drop);
    this.#place.open(first);
  }

  /** Lets the object be freed when its owner is collected. */
  watch(owner: object): void {
    this.#place.watch(owner);
  }

  /** The handle in the present instance. */
  get handle(): number {
    if (this.#freed) throw new ContextWeaverError("DISPOSED", `the ${this.#kind.name} was freed`);
    if (!this.#place.isThere) this.#restore();
    return this.#place.handle;
  }

  /** Returns what makes the same object as it is now. */
  recipe(): (glue: G) => number {
    const [make, kind, changes] = [this.#make, this.#kind, [...this.#changes]];
    return (glue) => {
      const again = make(glue);
      const repeat = (): void => {
        for (const { operation, args } of changes) kind.call(glue, again, operation, args);
      };
      orDrop(repeat, () => kind.drop(glue, again));
      return again;
    };
  }

  /** Runs an operation; one that changes the object is remembered. */
  run<T>(operation: string, args: string, changes = false): T {
    const { done } = JSON.parse(this.text(operation, args)) as { done: T };
    if (changes) this.#changes.push({ operation, args });
    return done;
  }

  /** Runs an operation and returns its answer as it came. */
  text(operation: string, args: string): string {
    const { handle } = this;
    return this.#engine.call((glue) => this.#kind.call(glue, handle, operation, args));
  }

  free(): void {
    this.#freed = true;
    this.#changes = [];
    // It holds the text of all tools.
    this.#make = () => 0;
    this.#place.close();
  }

  #restore(): void {
    try {
      this.#place.open(this.#make);
      for (const { operation, args } of this.#changes) this.text(operation, args);
    } catch (cause) {
      // Half a state is worse than none: the next call starts over.
      this.#place.release();
      const message = `the engine was restarted and the ${this.#kind.name} could not be restored`;
      throw new ContextWeaverError("POISONED", message, { cause });
    }
  }
}

/**
 * Goes on with an object that was just made, or drops it when that is refused. After a trap, which is not told as a text,
 * the whole instance goes, and must not be called. @internal
 */
export function orDrop<T>(use: () => T, drop: () => void): T {
  try {
    return use();
  } catch (thrown) {
    if (typeof thrown === "string") drop();
    throw thrown;
  }
}

/** What the finalizer needs to know of a place, whatever its engine. */
interface Releasable {
  release(): void;
}

const finalizer =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<Releasable>((place) => place.release());

/** Makes `using` free the objects of a class, where the runtime has the symbol. @internal */
export function disposable(type: { prototype: { free(): void } }): void {
  // Not a method of the class body: where the symbol does not exist it would be called "undefined".
  if (!Symbol.dispose) return;
  const { free } = type.prototype;
  Object.defineProperty(type.prototype, Symbol.dispose, { value: free, configurable: true, writable: true });
}
