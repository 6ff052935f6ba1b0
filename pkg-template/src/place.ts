// Where an object is inside an engine, and how it is given back.
import type { Engine, Glue } from "./engine.js";

/** A handle and the instance it is good for. Shared with the finalizer, which must not hold the owner. @internal */
export class Place<G extends Glue> {
  readonly #engine: Engine<G>;
  readonly #drop: (glue: G, handle: number) => void;
  #handle = 0;
  #generation = -1;

  /** `drop` frees what is under a handle; it must not know the owner either. */
  constructor(engine: Engine<G>, drop: (glue: G, handle: number) => void) {
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
