// What an object of the engine was made of, so that it can be made again after a restart of the engine.
//
// Bounded by what is alive: what was overwritten, removed or evicted is forgotten when the entries so far are folded into a
// snapshot. A log weighs at most three times what is alive and twice FOLD_AT. Folding costs no more than the calls before
// it, because it waits until a third of what is held, or half of the things there were, is of no use any more.
import { SNAPSHOT } from "./guard-limits.js";

/** Bytes that may be of no use before a log is folded: of an object that holds so little, a snapshot is made quickly. */
const FOLD_AT = 128 * 1024;
/** What an entry weighs beside its text and its bytes: about what a runtime needs for it. */
const ENTRY_WEIGHT = 128;
/** Entries that take long to replay, after which the log is folded. */
const MAX_SLOW = 128;
/** Removed things that do not matter yet. */
const MIN_REMOVED = 16;

/** How an object is made: empty, of what the caller gave, or of a snapshot. @internal */
export interface Start<G> {
  /** Bytes that are held for it. */
  readonly weight: number;
  readonly open: (glue: G) => number;
}

/** A change of an object, to be repeated. @internal */
export interface Entry<G> {
  /** Bytes that are held for it. */
  readonly weight: number;
  /** Those of them that stay alive whatever comes: items of a log are never removed. Default: none. */
  readonly lasting?: number;
  /** Things that were removed; 0 where bytes may have gone, so that it pays to look. */
  readonly removed?: number | undefined;
  /** Whether it takes long to repeat and leaves little. */
  readonly isSlow?: boolean;
  /** Whether nothing of what came before may be held any more. */
  readonly erases?: boolean;
  /** Repeats the change; asks no function of the caller. */
  readonly replay: (glue: G, handle: number) => void;
}

/** How much of an object is alive. @internal */
export interface Alive {
  /** Bytes that may go and are counted by the engine. */
  readonly bytes: number;
  /** Things that can be removed one by one. */
  readonly count: number;
}

const NOTHING: Alive = { bytes: 0, count: 0 };

/** How the log learns about its object. Nothing here may know the object's owner. @internal */
export interface Source<G> {
  /** Says how to make the object as it is now. */
  readonly snapshot: (glue: G, handle: number) => Start<G>;
  /** Takes constant time. */
  readonly alive: (glue: G, handle: number) => Alive;
  /** Frees the object. */
  readonly drop: (glue: G, handle: number) => void;
}

/** Everything that an object of the engine needs to survive the end of an instance. @internal */
export class ReplayLog<G> {
  readonly #source: Source<G>;
  #start: Start<G>;
  #entries: Entry<G>[] = [];
  #weight: number;
  #lasting = 0;
  #removed = 0;
  #slow = 0;
  #erases = false;
  /** The weight at which to see whether folding pays. */
  #due = 0;

  constructor(source: Source<G>, start: Start<G>) {
    this.#source = source;
    this.#start = start;
    this.#weight = start.weight;
  }

  /** Bytes that are held. */
  get weight(): number {
    return this.#weight;
  }

  /** Looks at the object that was just made. */
  begin(glue: G, handle: number): void {
    this.#begin(this.#weight < FOLD_AT ? NOTHING : this.#source.alive(glue, handle));
  }

  /** Adds a change; tells whether to {@link ReplayLog.tidy}. */
  add(entry: Entry<G>): boolean {
    this.#entries.push(entry);
    this.#weight += entry.weight + ENTRY_WEIGHT;
    this.#lasting += entry.lasting ?? 0;
    this.#removed += entry.removed ?? 0;
    if (entry.isSlow) this.#slow += 1;
    this.#erases ||= entry.erases === true;
    return (
      this.#erases ||
      this.#weight >= this.#due ||
      this.#slow >= MAX_SLOW ||
      (entry.removed !== undefined && this.#weight >= FOLD_AT)
    );
  }

  /** Folds the entries into a snapshot if that makes the log lighter or its replay shorter. */
  tidy(glue: G, handle: number): void {
    const alive = this.#source.alive(glue, handle);
    const useful = this.#lasting + alive.bytes;
    const isHeavy = this.#weight > 2 * useful + FOLD_AT || this.#removed >= Math.max(MIN_REMOVED, alive.count);
    if (this.#erases || isHeavy || this.#slow >= MAX_SLOW) this.#fold(glue, handle, alive);
    else if (this.#weight >= this.#due) this.#due = this.#weight + Math.max(FOLD_AT, useful);
  }

  /** Waits until there is twice as much. */
  postpone(): void {
    this.#due = 2 * this.#weight;
    this.#slow = this.#removed = 0;
  }

  /** Makes the object as it is now. */
  replay(glue: G): number {
    return this.recipe()(glue);
  }

  /** Returns what makes the object as it is now, whatever becomes of it later. */
  recipe(): (glue: G) => number {
    const [{ open }, { drop }, entries] = [this.#start, this.#source, [...this.#entries]];
    return (glue) => {
      const handle = open(glue);
      const repeat = (): void => {
        for (const { replay } of entries) replay(glue, handle);
      };
      // Half a state is worse than none.
      orDrop(repeat, () => drop(glue, handle));
      return handle;
    };
  }

  #fold(glue: G, handle: number, alive: Alive): void {
    const start = this.#source.snapshot(glue, handle);
    // The engine would not read it.
    if (start.weight > SNAPSHOT.total) return this.postpone();
    this.#start = start;
    this.#entries = [];
    this.#weight = start.weight;
    this.#removed = this.#slow = 0;
    this.#erases = false;
    this.#begin(alive);
  }

  #begin({ bytes }: Alive): void {
    // In a snapshot bytes are base64.
    this.#lasting = Math.max(0, this.#weight - (bytes * 4) / 3);
    this.#due = this.#weight + Math.max(FOLD_AT, this.#weight);
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
