// Sessions in an SQLite database that the caller opened, by whichever driver.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { clockOf } from "./checks.js";
import { blobStoreOf } from "./blobs.js";
import { SqlSessions } from "./sql.js";
import type { Sql, SqlValue } from "./sql.js";
import { storeOf } from "./store.js";
import type { BlobStore, SessionStore } from "./storage-types.js";

/** A prepared statement, as far as it is used. */
export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): unknown;
}

/** A value that is bound to a statement. */
export type SqliteValue = SqlValue;

/** A database that is open: `DatabaseSync` of `node:sqlite`, `Database` of `bun:sqlite`, or one of `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** How sessions are kept in a database. */
export interface SqliteStoreOptions {
  /** Tells the time of writes for `sessions()`, in milliseconds since 1970, such as `Date.now`. Default: no times. */
  readonly clock?: () => number;
  /** Where blobs are kept. Default: in the database. */
  readonly blobs?: BlobStore;
  /**
   * Sets what durability and several processes need: write-ahead logging, `synchronous = FULL`, and 5 seconds of waiting for another
   * writer. Default: true. `false` leaves the database's own settings.
   */
  readonly configure?: boolean;
}

/** Milliseconds that a write waits for another process. */
const BUSY_MS = 5_000;

/**
 * Keeps sessions in a database that is open, in tables `contextweaver_*` beside yours. Several processes may use the file. Calls are
 * made on the thread that makes them, each a transaction that ends on the disk; do not call while a transaction of yours is open.
 * The database stays yours to close.
 *
 * Blobs are whole rows of a table of their own: reading 16 MiB in chunks of 1 MiB takes as long, and writing no less.
 *
 * Errors: `INVALID_INPUT` and `UNKNOWN_FIELD` for what is no database or option, `SNAPSHOT_VERSION` for tables of a later version.
 * Those of the database itself come as they are.
 *
 * ```js
 * import { DatabaseSync } from "node:sqlite";
 * import { sqliteStore } from "contextweaver/node";
 *
 * const store = sqliteStore(new DatabaseSync("sessions.db"), { clock: Date.now });
 * const session = store.session("ada");
 * const { first, parts } = await session.load();
 * await session.append(first + parts.length, ['{"turn":1}']);
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options?: SqliteStoreOptions): SessionStore {
  const { clock, blobs, configure = true, ...others } = fields(options);
  refuseUnknown(others, ["clock", "blobs", "configure"]);
  for (const method of ["exec", "prepare"] as const) {
    if (typeof (database as unknown as Readonly<Record<string, unknown>> | null)?.[method] === "function") continue;
    const hint = "a DatabaseSync of node:sqlite, a Database of bun:sqlite, or one of better-sqlite3";
    throw new ContextWeaverError("INVALID_INPUT", `expected an open database with \`${method}\``, {
      path: "/database",
      hint,
    });
  }
  if (typeof configure !== "boolean")
    throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/configure" });
  const tellTime = clockOf(clock);
  const elsewhere = blobs === undefined ? undefined : blobStoreOf(blobs);
  if (configure) {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
  }
  return storeOf(new SqlSessions(new SqliteSql(database), elsewhere, tellTime));
}

class SqliteSql implements Sql {
  readonly #database: SqliteDatabase;
  /** The queries of this package are few, and each is prepared once. */
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  all(query: string, ...values: SqlValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#statement(query).all(...values) as Readonly<Record<string, unknown>>[];
  }

  run(query: string, ...values: SqlValue[]): void {
    this.#statement(query).run(...values);
  }

  transaction<T>(work: () => T): T {
    // Not deferred: two that read before they write would both fail.
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        this.#database.exec("ROLLBACK");
      } catch {
        // The database did so itself, as it does when the disk is full.
      }
      throw error;
    }
  }

  async settled(): Promise<void> {
    // A commit returns when it is on the disk.
  }

  #statement(query: string): SqliteStatement {
    let statement = this.#statements.get(query);
    if (!statement) this.#statements.set(query, (statement = this.#database.prepare(query)));
    return statement;
  }
}
