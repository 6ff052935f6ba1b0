// Where sessions are kept, as the engines of `contextweaver/storage`, `/node` and `/cloudflare` offer it.
import type { JournalFinding } from "../manager/journal-types.js";

/** What a session has stored. */
export interface StoredParts {
  /** The number of the first part; each that follows has the next one. The next append begins at `first + parts.length`. */
  readonly first: number;
  /** The parts since the last compaction, oldest first. */
  readonly parts: readonly string[];
  /** What could not be read, or may be altered, with `salvage`; absent where nothing is damaged. */
  readonly findings?: readonly JournalFinding[];
}

/** Where the parts of a session end. */
export interface StoredEnd {
  /** The number of the next part. */
  readonly next: number;
  /** The `sum` of the last part, where it is one of a journal of this package. */
  readonly sum?: string;
}

/** How a session is read. */
export interface LoadOptions {
  /**
   * Return what can be read where something is damaged, with `findings`: parts that may be altered, too, and lists with gaps. The
   * session can be written on by `compact` alone then. Default: false, `JOURNAL_DAMAGED`.
   */
  readonly salvage?: boolean;
}

/**
 * Where one session is kept: parts of its journal in their order, and blobs by the SHA-256 of their bytes. A part is a text of at
 * most 1 MiB (UTF-8), a blob has at most 16 MiB. A call that fails has changed nothing, and what was acknowledged outlives the
 * process, but in memory.
 *
 * Errors: `TOO_LARGE` at `/parts/<i>`, `INVALID_INPUT` and `OUT_OF_RANGE` with the path of the argument, before anything is written.
 * Those of the engine itself, such as a disk that is full, come as they are; whether the call was done is then told by `load`.
 */
export interface SessionStorage {
  /**
   * Reads the parts; a session that was never written has none, and begins at 0. `JOURNAL_DAMAGED` where the storage sees that
   * something is damaged, unless `salvage`; so from `append`. A storage that cannot see it returns what it has.
   */
  load(options?: LoadOptions): Promise<StoredParts>;
  /**
   * Adds parts behind the others, all or none, and resolves when they are durable. `first` is the number of the first of them.
   * `CONFLICT` where another number is next, which `details.next` tells: somebody else wrote. So where it is the right number of another
   * session, as one that was removed and begun anew elsewhere: the `after` of a part of a journal must be the `sum` of the last one.
   */
  append(first: number, parts: readonly string[]): Promise<void>;
  /**
   * Puts parts in the place of all others, all or none, and removes the blobs that are not listed. Numbers go on: `first` is the next
   * one, as in `append`, with the same `CONFLICT`.
   */
  compact(first: number, parts: readonly string[], blobs: readonly string[]): Promise<void>;
  /**
   * Stores bytes under their hash, 64 hexadecimal digits in lower case, and resolves when they are durable; a second time does
   * nothing. Bytes with another hash are refused, as sessions may share them. Stored before the part that names it, a blob is there
   * whenever the part is.
   */
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  /** Reads a blob of this session; another session's is `undefined`, too. `DECODE_FAILED` where its bytes are damaged. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Removes the session with its blobs, those excepted that another session of the same store refers to. It may begin anew, at 0. */
  delete(): Promise<void>;
  /** Where the parts end, without reading them: by that a service sees what others wrote. All storages of this package have it. */
  end?(): Promise<StoredEnd>;
  /** What the store tells of the session, as in its list; nothing where it was never written. All storages of this package have it. */
  record?(): Promise<SessionRecord | undefined>;
}

/** A session of a store. */
export interface SessionRecord {
  /** The name it was opened by. */
  readonly id: string;
  /** What its parts take, in bytes. */
  readonly bytes: number;
  /** What the blobs take that it refers to, in bytes; shared ones count in each session. */
  readonly blob_bytes: number;
  /** When something was last written, in milliseconds since 1970; absent where no clock tells. */
  readonly written_at?: number;
}

/** Many sessions in one place. */
export interface SessionStore {
  /**
   * A session by its name, any text of 1 to 512 characters; nothing is read or written yet. A name that is no such text is
   * `INVALID_INPUT`.
   */
  session(id: string): SessionStorage;
  /** Lists the sessions in the order of their names. Reads something of each. */
  sessions(): Promise<readonly SessionRecord[]>;
  /**
   * Removes a session with its blobs, those excepted that another session refers to. Tells whether there was one. With a record of
   * `sessions()` it is removed only where nothing was written to it since, as its size and time tell: memory and SQLite compare and
   * remove in one step, files one after the other.
   */
  delete(id: string, record?: SessionRecord): Promise<boolean>;
  /**
   * Removes sessions that nobody wrote to for a time, then those that were written longest ago until the others keep within bounds.
   * Returns what was removed, what was written longest ago first.
   *
   * A session that is written after it was listed stays: it is removed as by `delete` with its record. In files a write of another
   * process in the moment between comparing and removing is lost with its session. Whoever has a session open that is removed gets
   * `CONFLICT` from its next write. Sessions without a time are never removed, yet count. Where it rejects, some may be removed.
   *
   * Errors: `MISSING_FIELD` without a bound, and at `/clock` where no session has a time; `OUT_OF_RANGE` and `UNKNOWN_FIELD` with the
   * path. Lists all sessions once.
   *
   * ```js
   * import { memoryStore } from "contextweaver/storage";
   *
   * const store = memoryStore({ clock: Date.now });
   * await store.session("ada").append(0, ['{"turn":1}']);
   * const removed = await store.prune({ idle_ms: 30 * 86_400_000, max_sessions: 10_000 });
   * console.log(removed.map(({ id }) => id)); // []
   * ```
   */
  prune(options: PruneOptions): Promise<readonly SessionRecord[]>;
}

/** What may stay in a store; at least one bound. */
export interface PruneOptions {
  /** Milliseconds since the last write from which on a session is removed. Default: none are, for that. */
  readonly idle_ms?: number;
  /** Sessions that stay, at most. Default: any number. */
  readonly max_sessions?: number;
  /** Bytes of parts and blobs that stay, at most; blobs that sessions share count in each. Default: any number. */
  readonly max_bytes?: number;
  /** The time, in milliseconds since 1970. Default: what the clock of the store tells, or that of the system. */
  readonly now?: number;
}

/** Blobs alone, for storages that keep parts elsewhere. Keys are made by the storage and never used twice. */
export interface BlobStore {
  /** Stores bytes, and resolves when they are durable. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Reads bytes, or `undefined` where there are none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Removes blobs; keys without one are passed over. */
  delete(keys: readonly string[]): Promise<void>;
  /** Lists the keys that begin with a text. */
  list(prefix: string): Promise<readonly string[]>;
}
