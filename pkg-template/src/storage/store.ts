// What stores of sessions have in common: the checks of what is given.
import { blobOf, hashOf, hashesOf, idOf, numberOf, partsOf } from "./checks.js";
import type { SessionRecord, SessionStorage, SessionStore, StoredParts } from "./storage-types.js";

/** Parts that may be written, with what they take in bytes. */
export type CheckedParts = ReturnType<typeof partsOf>;

/** Where sessions are kept. What it is given was checked. */
export interface SessionEngine {
  /** Tells the time of writes, where it is asked for that. */
  readonly clock?: (() => number) | undefined;
  load(id: string): Promise<StoredParts>;
  append(id: string, first: number, added: CheckedParts): Promise<void>;
  compact(id: string, first: number, added: CheckedParts, blobs: ReadonlySet<string>): Promise<void>;
  putBlob(id: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  getBlob(id: string, hash: string): Promise<Uint8Array | undefined>;
  /** In whatever order. */
  sessions(): Promise<readonly SessionRecord[]>;
  /** Removes a session, with a record only where it is as that says. Tells whether it did. */
  delete(id: string, record: SessionRecord | undefined): Promise<boolean>;
}

/** Makes a store of an engine. */
export function storeOf(engine: SessionEngine): SessionStore {
  return new CheckedStore(engine);
}

class CheckedStore implements SessionStore {
  readonly #engine: SessionEngine;

  constructor(engine: SessionEngine) {
    this.#engine = engine;
  }

  session(id: string): SessionStorage {
    const name = idOf(id);
    const engine = this.#engine;
    return {
      load: () => engine.load(name),
      append: async (first, parts) => engine.append(name, numberOf(first), partsOf(parts)),
      compact: async (first, parts, blobs) => engine.compact(name, numberOf(first), partsOf(parts), hashesOf(blobs)),
      putBlob: async (hash, bytes) => engine.putBlob(name, hashOf(hash), await blobOf(hash, bytes)),
      getBlob: async (hash) => engine.getBlob(name, hashOf(hash)),
      delete: async () => void (await engine.delete(name, undefined)),
    };
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    return [...(await this.#engine.sessions())].sort(byId);
  }

  async delete(id: string, record?: SessionRecord): Promise<boolean> {
    return this.#engine.delete(idOf(id), record);
  }
}

/** Whether a session is as it was listed: each write changes its size, or when it was written. */
export function isAs(record: SessionRecord, now: SessionRecord): boolean {
  return record.bytes === now.bytes && record.blob_bytes === now.blob_bytes && record.written_at === now.written_at;
}

function byId(one: SessionRecord, other: SessionRecord): number {
  return one.id < other.id ? -1 : 1;
}
