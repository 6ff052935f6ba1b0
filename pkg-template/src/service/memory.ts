// A memory of decisions that many agents share, between requests: changes are stored as they come, and told to who follows.
import { DecisionStore } from "contextweaver";
import type { DecisionSnapshot, DecisionStoreOptions } from "contextweaver";
import type { SessionStorage } from "../storage/storage-types.js";
import type { Kept } from "./pool.js";
import { Records } from "./records.js";

/** Parts from which on a memory is written anew, whole. */
const MAX_PARTS = 256;
/** Bytes that a decision takes in memory, about. */
const DECISION_BYTES = 8_192;

/** A snapshot as far as it is put together here. */
interface Changes extends DecisionSnapshot {
  readonly edges?: readonly Edge[];
  readonly guardrails?: unknown;
  readonly tracker?: unknown;
}

interface Edge {
  readonly source_id?: string;
  readonly target_id?: string;
  readonly edge_type?: string;
}

/** What is stored: what changed, or everything, with the number of the last change of each. */
interface MemoryRecord {
  readonly revision: number;
  readonly changes: Changes;
  readonly changed?: readonly (readonly [string, number])[];
}

/**
 * A memory that is kept in memory. Its revisions are its own: those of a store begin anew in each process, and these are what
 * clients go on from.
 */
export class DecisionMemory implements Kept {
  readonly store: DecisionStore;
  readonly #records: Records<MemoryRecord>;
  /** The revision of the last change, by the id of a decision or the name of an edge. */
  readonly #changed: Map<string, number>;
  #revision: number;
  /** The store's own revision when it was stored last, and what agents thought then. */
  #stored: number;
  #tracker: string;
  /** Guardrails as they were stored last: no revision of the store tells of them. */
  #guardrails: string;

  private constructor(store: DecisionStore, records: Records<MemoryRecord>, changed: Map<string, number>, revision: number) {
    [this.store, this.#records, this.#changed, this.#revision] = [store, records, changed, revision];
    const { tracker, guardrails, revision: stored = 0 } = store.export() as Changes;
    [this.#tracker, this.#guardrails, this.#stored] = [JSON.stringify(tracker) ?? "", JSON.stringify(guardrails) ?? "", stored];
  }

  static async open(storage: SessionStorage, options: DecisionStoreOptions): Promise<DecisionMemory> {
    const records = new Records<MemoryRecord>(storage);
    const stored = await records.load();
    const store = new DecisionStore(options);
    try {
      const changed = new Map<string, number>();
      for (const { revision, changes, changed: numbers } of stored) {
        for (const name of namesOf(changes)) changed.set(name, revision);
        for (const [name, number] of numbers ?? []) changed.set(name, number);
      }
      // As one snapshot: what agents think at the moment is not merged.
      if (stored.length > 0) store.import(JSON.stringify(stored.map(({ changes }) => changes).reduce(together)));
      return new DecisionMemory(store, records, changed, stored.at(-1)?.revision ?? 0);
    } catch (error) {
      store.free();
      throw error;
    }
  }

  get revision(): number {
    return this.#revision;
  }

  get weight(): number {
    return this.store.size * DECISION_BYTES;
  }

  /** Stores what has changed; returns it where it is more than what was looked at. */
  async save(): Promise<DecisionSnapshot | undefined> {
    const changes = this.store.exportSince(this.#stored) as Changes;
    const tracker = JSON.stringify(changes.tracker) ?? "";
    const guardrails = JSON.stringify(changes.guardrails) ?? "";
    const isChanged = changes.revision !== this.#stored || guardrails !== this.#guardrails;
    if (!isChanged && tracker === this.#tracker) return undefined;
    const before = this.#revision;
    const revision = before + (isChanged ? 1 : 0);
    for (const name of namesOf(changes)) this.#changed.set(name, revision);
    if (this.#records.parts > MAX_PARTS) await this.#records.replace([{ revision, changes: this.store.export(), changed: [...this.#changed] }]);
    else await this.#records.append({ revision, changes });
    [this.#revision, this.#stored, this.#tracker, this.#guardrails] = [revision, changes.revision ?? 0, tracker, guardrails];
    return isChanged ? this.since(before) : undefined;
  }

  /** What changed since a revision, or everything. */
  since(since: number | undefined): DecisionSnapshot {
    const { tracker: _, ...whole } = this.store.export() as Changes;
    const revision = this.#revision;
    if (since === undefined) return { ...whole, revision };
    const isNew = (name: string): boolean => (this.#changed.get(name) ?? 0) > since;
    const decisions = whole.decisions.filter((one) => isNew(String(one["id"])));
    return { ...whole, revision, since, decisions, edges: (whole.edges ?? []).filter((edge) => isNew(edgeName(edge))) };
  }

  free(): void {
    this.store.free();
  }
}

const edgeName = ({ source_id, target_id, edge_type }: Edge): string => JSON.stringify([source_id, target_id, edge_type]);
const namesOf = ({ decisions, edges = [] }: Changes): string[] => [...decisions.map((one) => String(one["id"])), ...edges.map(edgeName)];

/** Puts changes on top of a snapshot. */
function together(before: Changes, changes: Changes): Changes {
  const byId = new Map([...before.decisions, ...changes.decisions].map((one) => [String(one["id"]), one]));
  const edges = new Map([...(before.edges ?? []), ...(changes.edges ?? [])].map((edge) => [edgeName(edge), edge]));
  const { since: _, ...rest } = changes;
  return { ...before, ...rest, decisions: [...byId.values()], edges: [...edges.values()] };
}
