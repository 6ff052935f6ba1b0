// Sessions in the memory of the process: for tests, and as the plainest of the engines.
import { fields, refuseUnknown } from "../guard.js";
import { blobOf, clockOf, expectNext, hashOf, hashesOf, idOf, numberOf, partsOf, timeOf } from "./checks.js";
import type { SessionStorage, SessionStore, StoredParts, SessionRecord } from "./storage-types.js";

/** How sessions are kept in memory. */
export interface MemoryStoreOptions {
  /** Tells the time of writes for `sessions()`, in milliseconds since 1970, such as `Date.now`. Default: no times. */
  readonly clock?: () => number;
}

/**
 * Keeps sessions in the memory of the process. Blobs are shared by all of them. Everything is gone with the store.
 *
 * ```js
 * import { memoryStore } from "contextweaver/storage";
 *
 * const store = memoryStore();
 * const session = store.session("ada");
 * await session.append(0, ['{"turn":1}', '{"turn":2}']);
 * console.log(await session.load()); // { first: 0, parts: [ '{"turn":1}', '{"turn":2}' ] }
 * ```
 */
export function memoryStore(options?: MemoryStoreOptions): SessionStore {
  const { clock, ...others } = fields(options);
  refuseUnknown(others, ["clock"]);
  return new MemoryStore(clockOf(clock));
}

/** Keeps one session in the memory of the process, see {@link memoryStore}. */
export function memoryStorage(): SessionStorage {
  return memoryStore().session("session");
}

interface Kept {
  next: number;
  parts: string[];
  bytes: number;
  readonly blobs: Set<string>;
  written_at: number | undefined;
}

class MemoryStore implements SessionStore {
  readonly #kept = new Map<string, Kept>();
  /** Bytes by their hash, with the number of sessions that refer to them. */
  readonly #blobs = new Map<string, { readonly bytes: Uint8Array; references: number }>();
  readonly #clock: (() => number) | undefined;

  constructor(clock: (() => number) | undefined) {
    this.#clock = clock;
  }

  session(id: string): SessionStorage {
    const name = idOf(id);
    return {
      load: async () => this.#load(name),
      append: async (first, parts) => this.#write(name, numberOf(first), partsOf(parts)),
      compact: async (first, parts, blobs) => this.#write(name, numberOf(first), partsOf(parts), hashesOf(blobs)),
      putBlob: async (hash, bytes) => this.#put(name, hashOf(hash), await blobOf(hash, bytes)),
      getBlob: async (hash) => this.#get(name, hashOf(hash)),
      delete: () => this.delete(name),
    };
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    const listed = [...this.#kept].sort(([one], [other]) => (one < other ? -1 : 1));
    return listed.map(([id, { bytes, blobs, written_at }]) => {
      const blob_bytes = [...blobs].reduce((sum, hash) => sum + (this.#blobs.get(hash)?.bytes.length ?? 0), 0);
      return { id, bytes, blob_bytes, ...(written_at !== undefined && { written_at }) };
    });
  }

  async delete(id: string): Promise<void> {
    const name = idOf(id);
    const kept = this.#kept.get(name);
    if (kept) this.#release(kept, new Set());
    this.#kept.delete(name);
  }

  #load(id: string): StoredParts {
    const { next, parts } = this.#kept.get(id) ?? { next: 0, parts: [] };
    return { first: next - parts.length, parts: [...parts] };
  }

  #write(id: string, first: number, added: { readonly parts: readonly string[]; readonly bytes: number }, blobs?: ReadonlySet<string>): void {
    expectNext(first, this.#kept.get(id)?.next ?? 0);
    if (!blobs && added.parts.length === 0) return;
    const kept = this.#opened(id);
    if (blobs) [kept.parts, kept.bytes] = [[], 0];
    for (const part of added.parts) kept.parts.push(part);
    kept.bytes += added.bytes;
    kept.next += added.parts.length;
    if (blobs) this.#release(kept, blobs);
  }

  #put(id: string, hash: string, bytes: Uint8Array): void {
    const kept = this.#opened(id);
    if (kept.blobs.has(hash)) return;
    const shared = this.#blobs.get(hash) ?? { bytes, references: 0 };
    shared.references += 1;
    this.#blobs.set(hash, shared);
    kept.blobs.add(hash);
  }

  #get(id: string, hash: string): Uint8Array | undefined {
    return this.#kept.get(id)?.blobs.has(hash) ? this.#blobs.get(hash)?.bytes.slice() : undefined;
  }

  /** The session, made if need be. The clock is asked first: what it throws leaves all as it is. */
  #opened(id: string): Kept {
    const written_at = timeOf(this.#clock);
    const kept = this.#kept.get(id) ?? { next: 0, parts: [], bytes: 0, blobs: new Set<string>(), written_at };
    kept.written_at = written_at;
    this.#kept.set(id, kept);
    return kept;
  }

  /** Drops what a session refers to beside some blobs. */
  #release({ blobs }: Kept, except: ReadonlySet<string>): void {
    for (const hash of [...blobs].filter((hash) => !except.has(hash))) {
      blobs.delete(hash);
      const shared = this.#blobs.get(hash);
      if (shared && (shared.references -= 1) === 0) this.#blobs.delete(hash);
    }
  }
}
