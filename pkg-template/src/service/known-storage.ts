// A storage with what is known of its end: whether others wrote is seen before what is in memory is relied on.
import { sumOf } from "../storage/checks.js";
import type { SessionStorage, StoredEnd, StoredParts } from "../storage/storage-types.js";

/** Callbacks for what a storage reads and writes. */
export interface StorageWatch {
  /** Is told what was read. */
  read?: ((stored: StoredParts) => void) | undefined;
  /** Is told what is about to be written, which waits for it. */
  write?: ((first: number, parts: readonly string[]) => Promise<void>) | undefined;
}

/** Remembers where a storage ended when it was last read or written by this process. */
export class KnownStorage {
  /** The same storage; what is done by it is known. */
  readonly storage: SessionStorage;
  readonly #given: SessionStorage;
  #end: StoredEnd | undefined;

  constructor(given: SessionStorage, watch: StorageWatch = {}) {
    this.#given = given;
    this.storage = {
      load: async (options) => {
        const stored = await given.load(options);
        this.#end = endOf(stored.first, stored.parts);
        watch.read?.(stored);
        return stored;
      },
      append: async (first, parts) => {
        await watch.write?.(first, parts);
        await given.append(first, parts);
        this.#end = endOf(first, parts);
      },
      compact: async (first, parts, blobs) => {
        await watch.write?.(first, parts);
        await given.compact(first, parts, blobs);
        this.#end = endOf(first, parts);
      },
      putBlob: (hash, bytes) => given.putBlob(hash, bytes),
      getBlob: (hash) => given.getBlob(hash),
      delete: () => given.delete(),
      ...(given.record && { record: async () => given.record?.() }),
    };
  }

  /** Whether the storage ends where it did. A caller's own storage without `end` is trusted: its next write tells by a `CONFLICT`. */
  async isCurrent(): Promise<boolean> {
    const [known, now] = [this.#end, await this.#given.end?.()];
    if (known === undefined || now === undefined) return true;
    return known.next === now.next && (known.sum === undefined || now.sum === undefined || known.sum === now.sum);
  }
}

function endOf(first: number, parts: readonly string[]): StoredEnd {
  const sum = sumOf(parts.at(-1));
  return { next: first + parts.length, ...(sum !== undefined && { sum }) };
}
