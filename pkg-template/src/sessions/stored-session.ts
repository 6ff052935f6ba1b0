// A manager and the place where it is kept: opened, saved after each turn, and compacted when that pays.
import { ContextManager } from "../manager/context-manager.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { untilAborted } from "../boundary/abort.js";
import type { AbortOptions } from "../boundary/abort.js";
import { fields } from "../boundary/guard.js";
import { InTurn } from "./in-turn.js";
import { hashesIn, refuseDamaged } from "../manager/journal.js";
import type { ExportedChanges, JournalFinding, RestoreOptions } from "../manager/journal-types.js";
import type { DrilldownOptions, RecallOptions } from "../manager/options.js";
import type { SessionStorage } from "../storage/storage-types.js";
import type { RecallAnswer, Selector, Slice } from "../types.js";
import { Written, bytesOf } from "./written.js";

/** Blobs that are fetched at a time. */
const CONCURRENT = 16;
/** How often a session is read anew that others compact meanwhile. */
const READS = 10;

/** How a session is opened: options of its manager, in place of those that its journal has. */
export interface OpenSessionOptions extends Omit<RestoreOptions, "blobs" | "get_blob">, AbortOptions {
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
 * Errors: those of {@link ContextManager.restore}, and of the storage. A blob that the storage has lost, or that is damaged there, is
 * in `findings`.
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
  const { compact_bytes, signal, ...own } = fields(options) as OpenSessionOptions;
  const { first, parts, findings, blobs, damaged } = await untilAborted(signal, () =>
    readWhole(storage, own.salvage === true),
  );
  const get_blob = (hash: string): Promise<Uint8Array | undefined> => storage.getBlob(hash);
  if (parts.length === 0) {
    const { salvage: _, ...rest } = own;
    return new StoredSession(storage, new ContextManager({ ...rest, get_blob }), {
      first,
      parts,
      findings,
      blobs,
      damaged,
      compact_bytes,
    });
  }
  const manager = ContextManager.restore(parts, { ...own, blobs, get_blob });
  return new StoredSession(storage, manager, { first, parts, findings, blobs, damaged, compact_bytes });
}

/** Reads parts with their blobs: anew where somebody compacted the session in between, and removed blobs that these parts name. */
async function readWhole(storage: SessionStorage, salvage: boolean): Promise<Omit<Read, "compact_bytes">> {
  const load = async (): Promise<Omit<Read, "blobs" | "damaged" | "compact_bytes">> => {
    const { first, parts, findings = [] } = await storage.load({ salvage });
    refuseDamaged(findings, salvage);
    return { first, parts, findings };
  };
  let read = await load();
  for (let attempt = 1; ; attempt += 1) {
    const hashes = hashesIn(read.parts);
    const fetched = await fetchAll(storage, hashes);
    if (fetched.blobs.size === hashes.length || attempt === READS) return { ...read, ...fetched };
    const now = await load();
    if (now.first === read.first && now.parts.length === read.parts.length && now.parts.at(-1) === read.parts.at(-1))
      return { ...read, ...fetched };
    read = now;
  }
}

/** Reads blobs, as far as they can be read. */
async function fetchAll(storage: SessionStorage, hashes: readonly string[]): Promise<Pick<Read, "blobs" | "damaged">> {
  const blobs = new Map<string, Uint8Array>();
  const damaged = new Map<string, string>();
  const queue = [...hashes];
  const worker = async (): Promise<void> => {
    for (let hash = queue.pop(); hash !== undefined; hash = queue.pop()) {
      try {
        const bytes = await storage.getBlob(hash);
        if (bytes) blobs.set(hash, bytes);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damaged.set(hash, error.message);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENT, hashes.length) }, worker));
  return { blobs, damaged };
}

/** Whether a storage says that bytes are not those that were stored. */
function isDamage(error: unknown): error is ContextWeaverError {
  return ContextWeaverError.is(error) && error.code === "DECODE_FAILED";
}

/** What was read of a session. */
interface Read {
  readonly first: number;
  readonly parts: readonly string[];
  /** What the storage could not read. */
  readonly findings: readonly JournalFinding[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** What is wrong with blobs, by their hashes. */
  readonly damaged: ReadonlyMap<string, string>;
  readonly compact_bytes: number | undefined;
}

/** A manager with the place where it is kept. Made by {@link openSession}. */
export class StoredSession {
  /** The manager; what is done to it is stored by {@link StoredSession.save}. */
  readonly manager: ContextManager;
  /** What of the session could not be read; empty unless `salvage`, but for blobs that are lost or damaged. */
  readonly findings: readonly JournalFinding[];
  readonly #storage: SessionStorage;
  readonly #written: Written;
  readonly #stored: Set<string>;
  #cursor: string | undefined;
  #sequence: number;
  readonly #turns = new InTurn();

  /** @internal */
  constructor(
    storage: SessionStorage,
    manager: ContextManager,
    { first, parts, findings, blobs, damaged, compact_bytes }: Read,
  ) {
    this.#storage = storage;
    this.manager = manager;
    const { restored } = manager;
    const lost = restored?.missing_blobs ?? [];
    // Bytes that are not those of their hash are stored anew.
    this.#stored = new Set(blobs.keys());
    for (const hash of lost) this.#stored.delete(hash);
    this.#sequence = first + parts.length;
    const unread = [...findings, ...(restored?.findings ?? [])];
    this.findings = [...unread, ...lost.map((hash) => findingOf(hash, damaged.get(hash)))];
    // What is damaged is not gone on with: the next save writes everything.
    if (findings.length === 0) this.#cursor = restored?.cursor ?? undefined;
    this.#written = new Written(parts, compact_bytes, unread.length > 0);
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
  save({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(this.#written.isWorthCompacting), signal);
  }

  /** Stores everything anew, and removes what nothing refers to any more. By itself it happens when that pays. */
  compact({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(true), signal);
  }

  /** Reads a part of an artifact, as {@link ContextManager.drilldownAsync}. */
  drilldown(handle: string, selector?: Selector, options?: DrilldownOptions & AbortOptions): Promise<Slice> {
    return this.manager.drilldownAsync(handle, selector, options);
  }

  /** Searches everything that the session holds, as {@link ContextManager.recallAsync}. */
  recall(query: string, options?: RecallOptions & AbortOptions): Promise<RecallAnswer> {
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
    if (!this.#storage.record)
      throw new ContextWeaverError(
        "CALLBACK_FAILED",
        "the storage has no `record`: it cannot tell what the session takes",
        { path: "/open" },
      );
    const { bytes = 0, blob_bytes = 0 } = (await this.#storage.record()) ?? {};
    const { changes, blobs } = this.#export(false);
    const added = blobs.reduce((sum, blob) => sum + (this.#stored.has(blob.hash) ? 0 : blob.size_bytes), 0);
    if (bytes + blob_bytes + bytesOf(changes) + added <= max_bytes) return;
    // Written anew it may take less.
    const total = bytesOf(this.#export(true).changes) + blob_bytes + added;
    if (total > max_bytes) {
      const hint = "begin another session, with what handoff() tells of this one";
      throw new ContextWeaverError(
        "QUOTA_EXCEEDED",
        `the session would take ${total} bytes, the limit is ${max_bytes}`,
        { hint },
      );
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
    return this.manager.exportSince(this.#cursor, {
      whole,
      ...(!goesOn && { first: this.#sequence }),
      ...(evicts && { inline_bytes: 0 }),
    });
  }

  async #save(whole: boolean): Promise<SavedSession> {
    const exported = this.#export(whole);
    const { changes, cursor, first } = exported;
    if (changes.length === 0) return { sequence: this.#sequence, bytes: 0 };
    // Read before anything is awaited: what is exported is the manager of now.
    const kept = new Set(exported.whole ? this.manager.blobHashes() : []);
    const blobs = exported.blobs
      .filter(({ hash }) => !this.#stored.has(hash))
      .map(({ hash, bytes }) => ({ hash, bytes }));
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

function findingOf(hash: string, damage: string | undefined): JournalFinding {
  if (damage !== undefined) return { part: null, code: "DECODE_FAILED", message: damage };
  return { part: null, code: "ARTIFACT_NOT_FOUND", message: `the storage has not the bytes with SHA-256 ${hash}` };
}
