// Engines of storages for the shared cases, in Node, Deno and Bun. A folder is one place of storage: whoever opens it again is
// another process to it.
import { mkdtempSync, rmSync } from "node:fs";
import * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brokenBlobs, brokenDatabase, clockwork, slowed } from "./storage-faults.mjs";

/** Statements of a store that is opened: its tables, its version, and the transaction around them. */
const SETUP = 10;

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

/** A file system of which everything fails after so many calls; what is written then is written by half. */
function brokenFiles(fs, step) {
  const wrap = (file) => ({
    read: (...args) => file.read(...args),
    stat: () => file.stat(),
    close: () => file.close(),
    sync: async () => step(() => file.sync()),
    write: async (buffer, at, length) => {
      try {
        return await step(() => file.write(buffer, at, length));
      } catch (error) {
        await file.write(buffer, at, Math.floor(length / 2));
        throw error;
      }
    },
  });
  return {
    open: async (path, flags, mode) => step(async () => wrap(await fs.open(path, flags, mode))),
    ...Object.fromEntries(["mkdir", "readdir", "rename", "rm", "stat"].map((name) => [name, async (...args) => step(() => fs[name](...args))])),
  };
}

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
    const engine = {
      session: (id) => store.session(id),
      other: (id) => another.session(id),
      store: () => store,
      shares: !blobs,
      blobs: async () => (blobs ? (await blobs.list("")).length : Number(databases[0].prepare("SELECT count(*) AS n FROM contextweaver_bytes").all()[0].n)),
      spoil: async (hash) => {
        if (!blobs) databases[0].prepare("UPDATE contextweaver_bytes SET bytes = x'00' WHERE hash = ?").run(hash);
        else for (const key of await blobs.list(hash)) await blobs.put(key, new Uint8Array([0]));
      },
      failing: (id, steps) => {
        // It is set up before it breaks.
        const step = clockwork(steps + SETUP);
        const broken = { ...options, configure: false, ...(blobs && { blobs: brokenBlobs(blobs, step, steps % 2 === 1) }) };
        return sqliteStore(brokenDatabase(databases[1], step), broken).session(id);
      },
      ...(blobs && { slowed: (id, method) => slowed(blobs, method, (slow) => sqliteStore(databases[1], { ...options, blobs: slow }).session(id)) }),
      close: () => {
        for (const database of databases) database.close();
        rmSync(folder, { recursive: true });
      },
      get quick() {
        for (const database of databases) database.exec("PRAGMA synchronous = OFF");
        return engine;
      },
    };
    return engine;
  };
}

/** Makes engines over files. */
export function fileEngines({ fileStore }) {
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "contextweaver-files-"));
    const on = (fs) => {
      const [store, another] = [fileStore(`${folder}/sessions`, fs), fileStore(`${folder}/sessions`, fs)];
      return {
        session: (id) => store.session(id),
        other: (id) => another.session(id),
        store: () => store,
        shares: false,
        blobs: async () => (await promises.readdir(folder, { recursive: true })).filter((name) => /[/\\][0-9a-f]{64}/.test(name)).length,
        spoil: async (hash) => {
          const names = (await promises.readdir(folder, { recursive: true })).filter((name) => name.includes(hash));
          for (const name of names) await promises.writeFile(join(folder, name), "x");
        },
        rests: async () => (await promises.readdir(folder, { recursive: true })).filter((name) => /\.(next|tmp)$/.test(name)).length,
        failing: (id, steps) => fileStore(`${folder}/sessions`, brokenFiles(fs ?? promises, clockwork(steps))).session(id),
      };
    };
    return { ...on(), quick: on(unsynced), close: () => rmSync(folder, { recursive: true }) };
  };
}

/** Files that are written when the operating system likes. */
const unsynced = {
  ...promises,
  open: async (...args) => {
    const file = await promises.open(...args);
    file.sync = async () => {};
    return file;
  },
};
