// Sessions in Durable Objects, with their blobs in R2.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { blobStoreOf } from "./blobs.js";
import { clockOf } from "./checks.js";
import { SqlSessions } from "./sql.js";
import type { Sql, SqlValue } from "./sql.js";
import { storeOf } from "./store.js";
import type { BlobStore, SessionStorage, SessionStore } from "./storage-types.js";

/** The storage of a Durable Object with SQLite, as far as it is used: `ctx.storage`. */
export interface DurableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<T>(closure: () => T): T;
  sync(): Promise<void>;
}

/** A bucket of R2, as far as it is used. */
export interface R2BlobBucket {
  put(key: string, value: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string[]): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<R2BlobPage>;
}

/** A page of a listing of a bucket. */
export interface R2BlobPage {
  readonly objects: readonly { readonly key: string }[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

/** How sessions are kept in a Durable Object. */
export interface DurableObjectStoreOptions {
  /** Where blobs are kept, which no row could hold: `r2Blobs(env.BUCKET)`. Objects may share it, as no two write the same key. */
  readonly blobs: BlobStore;
  /** Tells the time of writes for `sessions()`, in milliseconds since 1970, such as `Date.now`. Default: no times. */
  readonly clock?: () => number;
}

/** How one session is kept in a Durable Object. */
export interface DurableObjectStorageOptions extends DurableObjectStoreOptions {
  /** Which session, where an object keeps several, 1 to 512 characters. Default: `session`. */
  readonly name?: string;
}

/** How blobs are kept in a bucket. */
export interface R2BlobsOptions {
  /** What keys in the bucket begin with, such as `sessions/`. Default: nothing. */
  readonly prefix?: string;
}

/** Keys that R2 takes in a call. */
const MOST_KEYS = 1_000;
/** Mostly an object is one session. */
const SESSION = "session";

/**
 * Keeps the session of a Durable Object in its SQLite database, in tables `contextweaver_*` beside yours, a row for each part.
 * Nothing is kept in the object itself, so that it may be evicted at any time. `delete` removes rows and blobs; the tables stay.
 *
 * Errors: `UNSUPPORTED` for an object without SQLite, `INVALID_INPUT` and `UNKNOWN_FIELD` for options that are not as described.
 *
 * ```js
 * import { DurableObject } from "cloudflare:workers";
 * import { durableObjectStorage, r2Blobs } from "contextweaver/cloudflare";
 *
 * export class Session extends DurableObject {
 *   constructor(ctx, env) {
 *     super(ctx, env);
 *     this.session = durableObjectStorage(ctx.storage, { blobs: r2Blobs(env.BUCKET) });
 *   }
 * }
 * ```
 */
export function durableObjectStorage(storage: DurableStorage, options: DurableObjectStorageOptions): SessionStorage {
  const { name = SESSION, blobs, clock, ...others } = fields(options);
  refuseUnknown(others, ["blobs", "clock", "name"]);
  return durableObjectStore(storage, { blobs, clock } as unknown as DurableObjectStoreOptions).session(name as string);
}

/**
 * Keeps sessions in the SQLite database of a Durable Object, as {@link durableObjectStorage} keeps one: for an object of which several
 * sessions are, or whose sessions end by `prune` in its `alarm`.
 *
 * Errors: those of {@link durableObjectStorage}.
 *
 * ```js
 * import { DurableObject } from "cloudflare:workers";
 * import { durableObjectStore, r2Blobs } from "contextweaver/cloudflare";
 *
 * const DAY = 86_400_000;
 *
 * export class Sessions extends DurableObject {
 *   constructor(ctx, env) {
 *     super(ctx, env);
 *     this.store = durableObjectStore(ctx.storage, { blobs: r2Blobs(env.BUCKET), clock: Date.now });
 *   }
 *
 *   async alarm() {
 *     await this.store.prune({ idle_ms: 30 * DAY });
 *     await this.ctx.storage.setAlarm(Date.now() + DAY);
 *   }
 * }
 * ```
 */
export function durableObjectStore(storage: DurableStorage, options: DurableObjectStoreOptions): SessionStore {
  const { blobs, clock, ...others } = fields(options);
  refuseUnknown(others, ["blobs", "clock"]);
  const elsewhere = blobStoreOf(blobs);
  const tellTime = clockOf(clock);
  return storeOf(new SqlSessions(new DurableSql(checked(storage)), elsewhere, tellTime));
}

function checked(storage: DurableStorage): DurableStorage {
  const { sql, transactionSync, sync } = (storage ?? {}) as { readonly [Name in keyof DurableStorage]?: unknown };
  if (typeof transactionSync !== "function" || typeof sync !== "function") {
    throw new ContextWeaverError("INVALID_INPUT", "expected the storage of a Durable Object", {
      path: "/storage",
      hint: "ctx.storage",
    });
  }
  try {
    // An object without SQLite throws when it is asked.
    if (typeof (sql as { readonly exec?: unknown } | undefined)?.exec === "function") return storage;
  } catch {
    // said below
  }
  const hint = "name the class under `new_sqlite_classes` of the migrations";
  throw new ContextWeaverError("UNSUPPORTED", "the Durable Object has no SQLite", { path: "/storage", hint });
}

class DurableSql implements Sql {
  readonly #storage: DurableStorage;

  constructor(storage: DurableStorage) {
    this.#storage = storage;
  }

  all(query: string, ...values: SqlValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#storage.sql.exec(query, ...(values as (string | number | null)[])).toArray();
  }

  run(query: string, ...values: SqlValue[]): void {
    this.all(query, ...values);
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  settled(): Promise<void> {
    return this.#storage.sync();
  }
}

/**
 * Keeps blobs in a bucket of R2, an object for each.
 *
 * Errors: `INVALID_INPUT` for what is no bucket or prefix. Those of R2 come as they are.
 */
export function r2Blobs(bucket: R2BlobBucket, options?: R2BlobsOptions): BlobStore {
  const { prefix = "", ...others } = fields(options);
  refuseUnknown(others, ["prefix"]);
  if (typeof prefix !== "string") throw new ContextWeaverError("INVALID_INPUT", "expected a text", { path: "/prefix" });
  for (const method of ["put", "get", "delete", "list"] as const) {
    if (typeof (bucket as unknown as Readonly<Record<string, unknown>> | null)?.[method] === "function") continue;
    throw new ContextWeaverError("INVALID_INPUT", `expected a bucket with \`${method}\``, {
      path: "/bucket",
      hint: "a binding to R2, such as env.BUCKET",
    });
  }
  return {
    put: async (key, bytes) => void (await bucket.put(prefix + key, bytes)),
    get: async (key) => {
      const found = await bucket.get(prefix + key);
      return found ? new Uint8Array(await found.arrayBuffer()) : undefined;
    },
    delete: async (keys) => {
      for (let at = 0; at < keys.length; at += MOST_KEYS)
        await bucket.delete(keys.slice(at, at + MOST_KEYS).map((key) => prefix + key));
    },
    list: async (begin) => {
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await bucket.list({ prefix: prefix + begin, ...(cursor !== undefined && { cursor }) });
        for (const { key } of page.objects) keys.push(key.slice(prefix.length));
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
      return keys;
    },
  };
}
