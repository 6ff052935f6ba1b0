// A manager and the place where it is kept: opened, saved after each turn, and compacted when that pays.
import { ContextManager } from "./context-manager.js";
import { ContextWeaverError } from "./errors.js";
import { fields } from "./guard.js";
import { InTurn } from "./in-turn.js";
import { hashesIn } from "./journal.js";
import type { ExportedChanges, JournalFinding, RestoreOptions } from "./journal-types.js";
import type { DrilldownOptions, RecallOptions } from "./options.js";
import type { SessionStorage } from "./storage/storage-types.js";
import type { RecallAnswer, Selector, Slice } from "./types.js";
import { Written, bytesOf } from "./written.js";

/** Blobs that are fetched at a time. */
const CONCURRENT = 16;

/** How a session is opened: options of its manager, in place of those that its journal has. */
export interface OpenSessionOptions extends Omit<RestoreOptions, "blobs" | "get_blob"> {
  /** Bytes of parts behind the last whole ones before they are written anew, at least. Default: 1 MiB. */
  readonly compact_bytes?: number;
}

/** What was stored. */
export interface SavedSession {
  /** How many parts were written in the life of the session. */
  readonly sequence: number;
  /** Bytes (UTF-8) of the parts that were written now; 0 where nothing was new. */
  readonly bytes: number;
}

/**
 * Opens a session: reads what is stored of it, or begins a new one. Bytes of artifacts are loaded, but for those that were
 * evicted.
 *
 * Errors: those of {@link ContextManager.restore}, and of the storage. A blob that the storage has lost is in `findings`.
 *
 * ```js
 * import { openSession } from "contextweaver";
 * import { memoryStore } from "contextweaver/storage";
 *
 * const store = memoryStore();
 * const session = await openSession(store.session("s1"), { budget: { answer: 500 } });
 * session.manager.ingest({ id: "u1", kind: "user_turn", text: "Where is order 12446?" });
 * await session.save();
 * const again = await openSession(store.session("s1"));
 * console.log(again.manager.build({ phase: "answer" }).prompt.includes("12446")); // true
 * ```
 */
export async function openSession(storage: SessionStorage, options?: OpenSessionOptions): Promise<StoredSession> {
  const { compact_bytes, ...own } = fields(options) as OpenSessionOptions;
  const { first, parts } = await storage.load();
  const get_blob = (hash: string): Promise<Uint8Array | undefined> => storage.getBlob(hash);
  if (parts.length === 0) {
    const { salvage: _, ...rest } = own;
    return new StoredSession(storage, new ContextManager({ ...rest, get_blob }), { first, parts, blobs: new Map(), compact_bytes });
  }
  const blobs = await fetchAll(storage, hashesIn(parts));
  const manager = ContextManager.restore(parts, { ...own, blobs, get_blob });
  return new StoredSession(storage, manager, { first, parts, blobs, compact_bytes });
}

async function fetchAll(storage: SessionStorage, hashes: readonly string[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const queue = [...hashes];
  const worker = async (): Promise<void> => {
    for (let hash = queue.pop(); hash !== undefined; hash = queue.pop()) {
      const bytes = await storage.getBlob(hash);
      if (bytes) found.set(hash, bytes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENT, hashes.length) }, worker));
  return found;
}

/** What was read of a session. */
interface Read {
  readonly first: number;
  readonly parts: readonly string[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly compact_bytes: number | undefined;
}

/** A manager with the place where it is kept. Made by {@link openSession}. */
export class StoredSession {
  /** The manager; what is done to it is stored by {@link StoredSession.save}. */
  readonly manager: ContextManager;
  /** What of the session could not be read; empty unless `salvage`, but for blobs that are lost. */
  readonly findings: readonly JournalFinding[];
  readonly #storage: SessionStorage;
  readonly #written: Written;
  readonly #stored: Set<string>;
  #cursor: string | undefined;
  #sequence: number;
  readonly #turns = new InTurn();

  /** @internal */
  constructor(storage: SessionStorage, manager: ContextManager, { first, parts, blobs, compact_bytes }: Read) {
    this.#storage = storage;
    this.manager = manager;
    this.#stored = new Set(blobs.keys());
    this.#sequence = first + parts.length;
    const { restored } = manager;
    const lost = (restored?.missing_blobs ?? []).map((hash) => ({
      part: null,
      code: "ARTIFACT_NOT_FOUND",
      message: `the storage has not the bytes with SHA-256 ${hash}`,
    }));
    this.findings = [...(restored?.findings ?? []), ...lost];
    this.#cursor = restored?.cursor ?? undefined;
    this.#written = new Written(parts, compact_bytes, restored !== undefined && restored.findings.length > 0);
  }

  /** How many parts were written in the life of the session; grows with each save that wrote. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Stores what is new: bytes first, then the changes, all or none of these. Resolves when they are durable; nothing is written
   * where nothing changed. Where it rejects, the next one stores the same and what came after.
   *
   * `CONFLICT` where somebody else wrote to the session: open it again.
   */
  save(): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(this.#written.isWorthCompacting));
  }

  /** Stores everything anew, and removes what nothing refers to any more. By itself it happens when that pays. */
  compact(): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(true));
  }

  /** Reads a part of an artifact, as {@link ContextManager.drilldownAsync}. */
  drilldown(handle: string, selector: Selector, options?: DrilldownOptions): Promise<Slice> {
    return this.manager.drilldownAsync(handle, selector, options);
  }

  /** Searches everything that the session holds, as {@link ContextManager.recallAsync}. */
  recall(query: string, options?: RecallOptions): Promise<RecallAnswer> {
    return this.manager.recallAsync(query, options);
  }

  /** Removes what an item says for good, here and where it is stored; see {@link ContextManager.forget}. */
  async forget(item_id: string): Promise<void> {
    this.manager.forget(item_id);
    this.#written.condemn();
    await this.compact();
  }

  /**
   * Refuses to store what is new where the session would take more bytes than that. `CALLBACK_FAILED` where its storage cannot tell.
   * @internal
   */
  async refuseBeyond(max_bytes: number): Promise<void> {
    if (!this.#storage.record) throw new ContextWeaverError("CALLBACK_FAILED", "the storage has no `record`: it cannot tell what the session takes", { path: "/open" });
    const { bytes = 0, blob_bytes = 0 } = (await this.#storage.record()) ?? {};
    const { changes, blobs } = this.#export(false);
    const added = blobs.reduce((sum, blob) => sum + (this.#stored.has(blob.hash) ? 0 : blob.size_bytes), 0);
    if (bytes + blob_bytes + bytesOf(changes) + added <= max_bytes) return;
    // Written anew it may take less.
    const total = bytesOf(this.#export(true).changes) + blob_bytes + added;
    if (total > max_bytes) {
      const hint = "begin another session, with what handoff() tells of this one";
      throw new ContextWeaverError("QUOTA_EXCEEDED", `the session would take ${total} bytes, the limit is ${max_bytes}`, { hint });
    }
    this.#written.condemn();
  }

  /** Removes the session from its storage and frees the manager. */
  async delete(): Promise<void> {
    await this.#turns.run(() => this.#storage.delete());
    this.free();
  }

  /** Gives the memory of the manager back; what was not saved is lost. */
  free(): void {
    this.manager.free();
  }

  #export(whole: boolean): ExportedChanges {
    const goesOn = this.#cursor !== undefined;
    const { evicts } = this.manager;
    // What may be evicted is kept by its hash, however small it is.
    return this.manager.exportSince(this.#cursor, { whole, ...(!goesOn && { first: this.#sequence }), ...(evicts && { inline_bytes: 0 }) });
  }

  async #save(whole: boolean): Promise<SavedSession> {
    const exported = this.#export(whole);
    const { changes, cursor, first } = exported;
    if (changes.length === 0) return { sequence: this.#sequence, bytes: 0 };
    // Read before anything is awaited: what is exported is the manager of now.
    const kept = new Set(exported.whole ? this.manager.blobHashes() : []);
    const blobs = exported.blobs.filter(({ hash }) => !this.#stored.has(hash)).map(({ hash, bytes }) => ({ hash, bytes }));
    for (const { hash, bytes } of blobs) {
      await this.#storage.putBlob(hash, bytes);
      this.#stored.add(hash);
    }
    if (exported.whole && first > 0) await this.#storage.compact(first, changes, [...kept]);
    else await this.#storage.append(first, changes);
    this.#cursor = cursor;
    this.#sequence = first + changes.length;
    const bytes = this.#written.add(changes, exported.whole);
    if (exported.whole) for (const hash of this.#stored) if (!kept.has(hash)) this.#stored.delete(hash);
    return { sequence: this.#sequence, bytes };
  }
}
