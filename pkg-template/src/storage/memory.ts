// Sessions in the memory of the process: for tests, and as the plainest of the engines.
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { clockOf, expectEnd, sumOf, timeOf } from "./checks.js";
import { isAs, storeOf } from "./store.js";
import type { CheckedParts, SessionEngine } from "./store.js";
import type { SessionStorage, SessionStore, StoredEnd, StoredParts, SessionRecord } from "./storage-types.js";

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
  return storeOf(new MemorySessions(clockOf(clock)));
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

class MemorySessions implements SessionEngine {
  readonly clock: (() => number) | undefined;
  readonly #kept = new Map<string, Kept>();
  /** Bytes by their hash, with the number of sessions that refer to them. */
  readonly #blobs = new Map<string, { readonly bytes: Uint8Array; references: number }>();

  constructor(clock: (() => number) | undefined) {
    this.clock = clock;
  }

  async load(id: string): Promise<StoredParts> {
    const { next, parts } = this.#kept.get(id) ?? { next: 0, parts: [] };
    return { first: next - parts.length, parts: [...parts] };
  }

  async append(id: string, first: number, added: CheckedParts): Promise<void> {
    this.#write(id, first, added);
  }

  async compact(id: string, first: number, added: CheckedParts, blobs: ReadonlySet<string>): Promise<void> {
    this.#write(id, first, added, blobs);
  }

  async putBlob(id: string, hash: string, bytes: Uint8Array): Promise<void> {
    const kept = this.#opened(id);
    if (kept.blobs.has(hash)) return;
    const shared = this.#blobs.get(hash) ?? { bytes, references: 0 };
    shared.references += 1;
    this.#blobs.set(hash, shared);
    kept.blobs.add(hash);
  }

  async getBlob(id: string, hash: string): Promise<Uint8Array | undefined> {
    return this.#kept.get(id)?.blobs.has(hash) ? this.#blobs.get(hash)?.bytes.slice() : undefined;
  }

  async end(id: string): Promise<StoredEnd> {
    return this.#endOf(id);
  }

  async record(id: string): Promise<SessionRecord | undefined> {
    const kept = this.#kept.get(id);
    return kept && this.#recordOf(id, kept);
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    return [...this.#kept].map(([id, kept]) => this.#recordOf(id, kept));
  }

  async delete(id: string, record: SessionRecord | undefined): Promise<boolean> {
    const kept = this.#kept.get(id);
    if (!kept || (record && !isAs(record, this.#recordOf(id, kept)))) return false;
    this.#release(kept, new Set());
    return this.#kept.delete(id);
  }

  #endOf(id: string): StoredEnd {
    const { next, parts } = this.#kept.get(id) ?? { next: 0, parts: [] };
    const sum = sumOf(parts.at(-1));
    return { next, ...(sum !== undefined && { sum }) };
  }

  #recordOf(id: string, { bytes, blobs, written_at }: Kept): SessionRecord {
    const blob_bytes = [...blobs].reduce((sum, hash) => sum + (this.#blobs.get(hash)?.bytes.length ?? 0), 0);
    return { id, bytes, blob_bytes, ...(written_at !== undefined && { written_at }) };
  }

  #write(id: string, first: number, added: CheckedParts, blobs?: ReadonlySet<string>): void {
    expectEnd(first, added.parts, this.#endOf(id));
    if (!blobs && added.parts.length === 0) return;
    const kept = this.#opened(id);
    if (blobs) [kept.parts, kept.bytes] = [[], 0];
    for (const part of added.parts) kept.parts.push(part);
    kept.bytes += added.bytes;
    kept.next += added.parts.length;
    if (blobs) this.#release(kept, blobs);
  }

  /** The session, made if need be. The clock is asked first: what it throws leaves all as it is. */
  #opened(id: string): Kept {
    const written_at = timeOf(this.clock);
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
