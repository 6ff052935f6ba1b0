// Sessions in tables, whichever SQLite answers: a database on a disk, or the one in a Durable Object.
//
// Every call is one transaction, and nothing is remembered between calls: whoever else writes to the database is seen, and a
// process or an object that ends in between leaves nothing half done.
import { ContextWeaverError } from "../boundary/errors.js";
import { SUM_CHARS, expectEnd, sha256, sumOf, timeOf } from "./checks.js";
import { isAs } from "./store.js";
import type { CheckedParts, SessionEngine } from "./store.js";
import type { BlobStore, StoredEnd, StoredParts, SessionRecord } from "./storage-types.js";

/** A value that is bound to a statement. */
export type SqlValue = string | number | null | Uint8Array;

/** What is asked of a database: statements, one after the other. */
export interface Sql {
  all(query: string, ...values: SqlValue[]): readonly Readonly<Record<string, unknown>>[];
  run(query: string, ...values: SqlValue[]): void;
  /** Runs statements, all or none: what is thrown undoes them. */
  transaction<T>(work: () => T): T;
  /** Resolves when what was written is durable. */
  settled(): Promise<void>;
}

/** The form of the tables. A database with a later one is refused. */
const VERSION = 1;

// Part and bytes stand last in their rows, so that the other columns are read without them.
const TABLES = [
  "CREATE TABLE IF NOT EXISTS contextweaver_meta (version INTEGER NOT NULL) STRICT",
  `CREATE TABLE IF NOT EXISTS contextweaver_sessions (
    session INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, next INTEGER NOT NULL, bytes INTEGER NOT NULL, written_at INTEGER) STRICT`,
  `CREATE TABLE IF NOT EXISTS contextweaver_parts (
    session INTEGER NOT NULL, sequence INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (session, sequence)) STRICT`,
  // Which blobs a session refers to; with the key in a BlobStore where the bytes are elsewhere.
  `CREATE TABLE IF NOT EXISTS contextweaver_blobs (
    session INTEGER NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, key TEXT, PRIMARY KEY (session, hash)) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS contextweaver_blobs_by_hash ON contextweaver_blobs (hash)",
  "CREATE TABLE IF NOT EXISTS contextweaver_bytes (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
  // Keys in a BlobStore that no session refers to: not yet, or no longer, and whether somebody is removing what they name.
  "CREATE TABLE IF NOT EXISTS contextweaver_loose (key TEXT PRIMARY KEY, id TEXT NOT NULL, is_swept INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

/** Keys of a statement: as one value, all of a long session would be more than a row of a Durable Object holds. */
const KEYS = 1_000;
/** How many times an upload is begun anew when somebody else removed what it left. */
const UPLOADS = 3;

/** The end of what was never written. */
const BEGINNING: StoredEnd = { next: 0 };

/** What is told of a session. */
const RECORDS = `SELECT id, bytes, written_at, (SELECT sum(size) FROM contextweaver_blobs b WHERE b.session = s.session) AS blob_bytes
  FROM contextweaver_sessions s`;

function recordOf({ id, bytes, blob_bytes, written_at }: Readonly<Record<string, unknown>>): SessionRecord {
  return {
    id: String(id),
    bytes: Number(bytes),
    blob_bytes: Number(blob_bytes ?? 0),
    ...(written_at !== null && { written_at: Number(written_at) }),
  };
}

/** The tables of a database. */
export class SqlSessions implements SessionEngine {
  readonly clock: (() => number) | undefined;
  readonly #sql: Sql;
  readonly #blobs: BlobStore | undefined;
  /** Keys of the uploads of this object that are under way. */
  readonly #uploading = new Set<string>();

  constructor(sql: Sql, blobs: BlobStore | undefined, clock: (() => number) | undefined) {
    [this.#sql, this.#blobs, this.clock] = [sql, blobs, clock];
    sql.transaction(() => {
      for (const table of TABLES) sql.run(table);
      const [meta] = sql.all("SELECT version FROM contextweaver_meta");
      if (!meta) sql.run("INSERT INTO contextweaver_meta (version) VALUES (?)", VERSION);
      else if (Number(meta["version"]) !== VERSION) {
        const hint = "read it with the version of this package that wrote it";
        throw new ContextWeaverError(
          "SNAPSHOT_VERSION",
          `the tables have version ${Number(meta["version"])}, expected ${VERSION}`,
          { hint },
        );
      }
    });
  }

  async end(id: string): Promise<StoredEnd> {
    return this.#find(id)?.end ?? BEGINNING;
  }

  async record(id: string): Promise<SessionRecord | undefined> {
    return this.#record(id);
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    return this.#sql.all(RECORDS).map(recordOf);
  }

  async delete(id: string, record: SessionRecord | undefined): Promise<boolean> {
    const isGone = this.#sql.transaction(() => {
      const session = this.#find(id)?.session;
      if (session === undefined) return false;
      const now = record && this.#record(id);
      if (now && !isAs(record, now)) return false;
      this.#sql.run("DELETE FROM contextweaver_parts WHERE session = ?", session);
      this.#sql.run("DELETE FROM contextweaver_sessions WHERE session = ?", session);
      this.#release(id, session, new Set());
      return true;
    });
    if (!record || isGone) await this.#sweep(id);
    await this.#sql.settled();
    return isGone;
  }

  async load(id: string): Promise<StoredParts> {
    // One statement, so that nothing is written between two.
    const rows = this.#sql.all(
      `SELECT s.next, p.part FROM contextweaver_sessions s LEFT JOIN contextweaver_parts p ON p.session = s.session
       WHERE s.id = ? ORDER BY p.sequence`,
      id,
    );
    const parts = rows.flatMap(({ part }) => (typeof part === "string" ? [part] : []));
    return { first: Number(rows[0]?.["next"] ?? 0) - parts.length, parts };
  }

  append(id: string, first: number, added: CheckedParts): Promise<void> {
    return this.#write(id, first, added);
  }

  compact(id: string, first: number, added: CheckedParts, blobs: ReadonlySet<string>): Promise<void> {
    return this.#write(id, first, added, blobs);
  }

  async #write(id: string, first: number, added: CheckedParts, blobs?: ReadonlySet<string>): Promise<void> {
    const { parts, bytes } = added;
    const written_at = timeOf(this.clock) ?? null;
    this.#sql.transaction(() => {
      expectEnd(first, parts, this.#find(id)?.end ?? BEGINNING);
      if (!blobs && parts.length === 0) return;
      const session = this.#opened(id, written_at);
      if (blobs) {
        this.#sql.run("DELETE FROM contextweaver_parts WHERE session = ?", session);
        this.#sql.run("UPDATE contextweaver_sessions SET bytes = 0 WHERE session = ?", session);
        this.#release(id, session, blobs);
      }
      for (const [at, part] of parts.entries()) {
        this.#sql.run(
          "INSERT INTO contextweaver_parts (session, sequence, part) VALUES (?, ?, ?)",
          session,
          first + at,
          part,
        );
      }
      this.#sql.run(
        "UPDATE contextweaver_sessions SET next = next + ?, bytes = bytes + ? WHERE session = ?",
        parts.length,
        bytes,
        session,
      );
    });
    if (blobs) {
      // What cannot be removed now is left to the next compaction: the parts are compacted already.
      await this.#sweep(id).catch(() => {});
    }
    await this.#sql.settled();
  }

  async putBlob(id: string, hash: string, bytes: Uint8Array): Promise<void> {
    const written_at = timeOf(this.clock) ?? null;
    const refer = (key: string | null): void => {
      const query =
        "INSERT INTO contextweaver_blobs (session, hash, size, key) VALUES (?, ?, ?, ?) ON CONFLICT (session, hash) DO UPDATE SET size = excluded.size, key = excluded.key";
      this.#sql.run(query, this.#opened(id, written_at), hash, bytes.length, key);
    };
    if (this.#blobs) await this.#upload(this.#blobs, id, hash, bytes, refer);
    else {
      this.#sql.transaction(() => {
        // Bytes that are damaged, or gone, are mended. No bytes at all are NULL to some drivers.
        const query =
          "INSERT INTO contextweaver_bytes (hash, bytes) VALUES (?, coalesce(?, x'')) ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes WHERE bytes IS NOT excluded.bytes";
        this.#sql.run(query, hash, bytes);
        if (!this.#row(id, hash)) refer(null);
      });
    }
    await this.#sql.settled();
  }

  /**
   * Stores bytes elsewhere. The key is new each time and noted before it is used: removing an old blob can never meet a new one of
   * the same hash, and what an upload leaves that was cut short is found.
   */
  async #upload(
    blobs: BlobStore,
    id: string,
    hash: string,
    bytes: Uint8Array,
    refer: (key: string) => void,
  ): Promise<void> {
    const damaged = new Set<unknown>();
    for (let attempt = 0; attempt < UPLOADS; attempt += 1) {
      const known = this.#row(id, hash)?.["key"];
      if (typeof known === "string" && !damaged.has(known)) {
        if (await isWhole(blobs, known, hash)) return;
        damaged.add(known);
      }
      const key = `${hash}-${crypto.randomUUID()}`;
      this.#uploading.add(key);
      try {
        this.#sql.run("INSERT INTO contextweaver_loose (key, id, is_swept) VALUES (?, ?, 0)", key, id);
        await this.#sql.settled();
        await blobs.put(key, bytes);
        if (this.#sql.transaction(() => this.#take(id, hash, key, damaged, refer))) return;
      } finally {
        this.#uploading.delete(key);
      }
    }
    const hint = "one process at a time should write to a session";
    throw new ContextWeaverError("CONFLICT", "the blob was removed again and again while it was stored", {
      path: "/hash",
      hint,
    });
  }

  /** Refers to an upload that is done, in place of one that is damaged; not to one that another process took for a rest and removes. */
  #take(id: string, hash: string, key: string, damaged: ReadonlySet<unknown>, refer: (key: string) => void): boolean {
    const known = this.#row(id, hash)?.["key"];
    // Somebody else stored it meanwhile: this one stays loose.
    if (typeof known === "string" && !damaged.has(known)) return true;
    if (this.#sql.all("DELETE FROM contextweaver_loose WHERE key = ? AND is_swept = 0 RETURNING key", key).length > 0) {
      refer(key);
      if (typeof known === "string")
        this.#sql.run("INSERT INTO contextweaver_loose (key, id, is_swept) VALUES (?, ?, 1)", known, id);
      return true;
    }
    // It may have been removed before it was there.
    this.#sql.run(
      "INSERT INTO contextweaver_loose (key, id, is_swept) VALUES (?, ?, 1) ON CONFLICT DO NOTHING",
      key,
      id,
    );
    return false;
  }

  async getBlob(id: string, hash: string): Promise<Uint8Array | undefined> {
    const row = this.#row(id, hash);
    if (!row) return undefined;
    if (typeof row["key"] === "string") return this.#blobs?.get(row["key"]);
    const [found] = this.#sql.all("SELECT bytes FROM contextweaver_bytes WHERE hash = ?", hash);
    const bytes = found?.["bytes"];
    // A copy, as some drivers return a Buffer.
    return bytes === undefined ? undefined : new Uint8Array(bytes as Uint8Array);
  }

  #record(id: string): SessionRecord | undefined {
    return this.#sql.all(`${RECORDS} WHERE id = ?`, id).map(recordOf)[0];
  }

  #find(id: string): { readonly session: number; readonly end: StoredEnd } | undefined {
    const query = `SELECT session, next, (SELECT substr(part, 1, ${SUM_CHARS}) FROM contextweaver_parts p
      WHERE p.session = s.session AND p.sequence = s.next - 1) AS last FROM contextweaver_sessions s WHERE id = ?`;
    const [row] = this.#sql.all(query, id);
    if (!row) return undefined;
    const sum = sumOf(String(row["last"]));
    return { session: Number(row["session"]), end: { next: Number(row["next"]), ...(sum !== undefined && { sum }) } };
  }

  #row(id: string, hash: string): Readonly<Record<string, unknown>> | undefined {
    const query =
      "SELECT key FROM contextweaver_blobs WHERE session = (SELECT session FROM contextweaver_sessions WHERE id = ?) AND hash = ?";
    return this.#sql.all(query, id, hash)[0];
  }

  /** The row of a session, made if need be. */
  #opened(id: string, written_at: number | null): number {
    const query = `INSERT INTO contextweaver_sessions (id, next, bytes, written_at) VALUES (?, 0, 0, ?)
      ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at RETURNING session`;
    return Number(this.#sql.all(query, id, written_at)[0]?.["session"]);
  }

  /** Drops what a session refers to beside some blobs, and the bytes to which no other does. */
  #release(id: string, session: number, except: ReadonlySet<string>): void {
    for (const row of this.#sql.all("SELECT hash, key FROM contextweaver_blobs WHERE session = ?", session)) {
      const [hash, key] = [String(row["hash"]), row["key"]];
      if (except.has(hash)) continue;
      this.#sql.run("DELETE FROM contextweaver_blobs WHERE session = ? AND hash = ?", session, hash);
      if (typeof key === "string")
        this.#sql.run("INSERT INTO contextweaver_loose (key, id, is_swept) VALUES (?, ?, 1)", key, id);
      else {
        const unused =
          "DELETE FROM contextweaver_bytes WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM contextweaver_blobs b WHERE b.hash = contextweaver_bytes.hash)";
        this.#sql.run(unused, hash);
      }
    }
  }

  /** Removes the loose blobs of a session. They are marked first, so that no upload counts on what is being removed. */
  async #sweep(id: string): Promise<void> {
    if (!this.#blobs) return;
    const query =
      "UPDATE contextweaver_loose SET is_swept = 1 WHERE id = ? AND key NOT IN (SELECT value FROM json_each(?)) RETURNING key";
    const keys = this.#sql.all(query, id, JSON.stringify([...this.#uploading])).map(({ key }) => String(key));
    if (keys.length === 0) return;
    await this.#sql.settled();
    // Before the rows, so that none is forgotten.
    await this.#blobs.delete(keys);
    for (let at = 0; at < keys.length; at += KEYS) {
      this.#sql.run(
        "DELETE FROM contextweaver_loose WHERE key IN (SELECT value FROM json_each(?))",
        JSON.stringify(keys.slice(at, at + KEYS)),
      );
    }
  }
}

/** Whether the bytes are those that were stored. */
async function isWhole(blobs: BlobStore, key: string, hash: string): Promise<boolean> {
  const bytes = await blobs.get(key);
  return bytes !== undefined && (await sha256(bytes)) === hash;
}
