// Engines of storages for the shared cases, in Node, Deno and Bun. A folder is one place of storage: whoever opens it again is
// another process to it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How each driver opens a file. */
const DRIVERS = {
  async "node:sqlite"() {
    const { DatabaseSync } = await import("node:sqlite");
    return (file) => new DatabaseSync(file);
  },
  async "bun:sqlite"() {
    const { Database } = await import("bun:sqlite");
    return (file) => new Database(file);
  },
  async "better-sqlite3"() {
    const { default: Database } = await import("better-sqlite3");
    return (file) => new Database(file);
  },
};

/** Opens a database by a driver. */
export async function databaseOf(driver, file) {
  return (await DRIVERS[driver]())(file);
}

/** Makes engines over databases. */
export async function sqliteEngines({ sqliteStore }, driver, blobStore) {
  const open = await DRIVERS[driver]();
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "contextweaver-sqlite-"));
    const file = join(folder, "sessions.db");
    const blobs = blobStore?.();
    const options = { clock: Date.now, ...(blobs && { blobs }) };
    const databases = [open(file), open(file)];
    const [store, another] = databases.map((database) => sqliteStore(database, options));
    return {
      session: (id) => store.session(id),
      other: (id) => another.session(id),
      store: () => store,
      shares: !blobs,
      blobs: async () => (blobs ? (await blobs.list("")).length : Number(databases[0].prepare("SELECT count(*) AS n FROM contextweaver_bytes").all()[0].n)),
      close: () => {
        for (const database of databases) database.close();
        rmSync(folder, { recursive: true });
      },
    };
  };
}

/** Makes engines over files. */
export function fileEngines({ fileStore }) {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "contextweaver-files-"));
    const [store, another] = [fileStore(`${folder}/sessions`), fileStore(`${folder}/sessions`)];
    return {
      session: (id) => store.session(id),
      other: (id) => another.session(id),
      store: () => store,
      shares: false,
      close: () => rmSync(folder, { recursive: true }),
    };
  };
}

/** Blobs in a map. */
export function mapBlobs() {
  const kept = new Map();
  return {
    kept,
    put: async (key, bytes) => void kept.set(key, bytes.slice()),
    get: async (key) => kept.get(key)?.slice(),
    delete: async (keys) => keys.forEach((key) => kept.delete(key)),
    list: async (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix)),
  };
}
