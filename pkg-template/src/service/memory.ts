// A memory of decisions that many agents share, between requests: changes are stored as they come, and told to who follows.
import { openDecisions } from "contextweaver";
import type { DecisionSnapshot, DecisionStore, DecisionStoreOptions } from "contextweaver";
import type { SessionStorage } from "../storage/storage-types.js";
import type { Kept } from "./pool.js";

type Opened = Awaited<ReturnType<typeof openDecisions>>;

/** Bytes that a decision takes in memory, about. */
const DECISION_BYTES = 8_192;

/** A memory that is kept in memory. Its revisions are those of the store, and go on in the next process. */
export class DecisionMemory implements Kept {
  readonly #stored: Opened;
  #revision: number;

  private constructor(stored: Opened) {
    this.#stored = stored;
    this.#revision = this.#now();
  }

  static async open(storage: SessionStorage, options: DecisionStoreOptions): Promise<DecisionMemory> {
    return new DecisionMemory(await openDecisions(storage, options));
  }

  get store(): DecisionStore {
    return this.#stored.store;
  }

  /** The revision of the last change that was stored. */
  get revision(): number {
    return this.#revision;
  }

  get weight(): number {
    return this.store.size * DECISION_BYTES;
  }

  /** Stores what has changed; returns it where it is more than what was looked at. */
  async save(): Promise<DecisionSnapshot | undefined> {
    const [before, now] = [this.#revision, this.#now()];
    await this.#stored.save();
    this.#revision = now;
    return now === before ? undefined : this.since(before);
  }

  /** What changed since a revision, or everything. What agents think at the moment is their own. */
  since(since: number | undefined): DecisionSnapshot {
    const { tracker: _, ...changes } = since === undefined ? this.store.export() : this.store.exportSince(since);
    return changes;
  }

  free(): void {
    this.#stored.free();
  }

  #now(): number {
    return this.store.exportSince(Number.MAX_SAFE_INTEGER).revision ?? 0;
  }
}
