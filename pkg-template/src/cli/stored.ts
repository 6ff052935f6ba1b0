// Where commands that run keep sessions: a file of SQLite, or a folder.
import type { SessionStore } from "../storage/storage-types.js";
import { makeFolder } from "./folders.js";
import { UsageError } from "./options.js";

/** Imported by the name of the package when a command runs: no other needs them. */
const NODE: string = "contextweaver/node";
const SQLITE: string = "node:sqlite";

/** Opens the store of `--store`. */
export async function openedStore(path: string): Promise<SessionStore> {
  const { fileStore, sqliteStore } = (await import(NODE)) as typeof import("../node.js");
  if (!/\.(?:db|sqlite3?)$/.test(path)) {
    makeFolder(path);
    return fileStore(path);
  }
  try {
    const { DatabaseSync } = (await import(SQLITE)) as {
      DatabaseSync: new (path: string) => Parameters<typeof sqliteStore>[0];
    };
    return sqliteStore(new DatabaseSync(path), { clock: Date.now });
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_UNKNOWN_BUILTIN_MODULE")
      throw new UsageError(`cannot open ${path}: ${(error as Error).message}`, "input");
    throw new UsageError("this Node has no node:sqlite (from 22.13 on): give --store a folder", "input");
  }
}
