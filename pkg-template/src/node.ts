// `contextweaver/node`: sessions on the disk of a machine, in SQLite or in plain files. For Node, Deno and Bun.
import { constants } from "node:fs";
import * as promises from "node:fs/promises";
import { crc32 } from "node:zlib";
import { ContextWeaverError } from "./boundary/errors.js";
import { FileSessions } from "./storage/files.js";
import type { StorageFileSystem } from "./storage/file-access.js";
import { storeOf } from "./storage/store.js";
import type { SessionStore } from "./storage/storage-types.js";

export { sqliteStore } from "./storage/sqlite.js";
export type { SqliteDatabase, SqliteStatement, SqliteStoreOptions, SqliteValue } from "./storage/sqlite.js";
export type { StorageFile, StorageFileSystem } from "./storage/file-access.js";
export type {
  BlobStore,
  LoadOptions,
  PruneOptions,
  SessionStorage,
  SessionStore,
  StoredEnd,
  StoredParts,
  SessionRecord,
} from "./storage/storage-types.js";

/**
 * Keeps sessions in a directory of plain files, which only the user of the process may read: for each session a folder with its
 * journal, a line for each append, and its blobs, which no other session shares. Every write is on the disk when it resolves. What a
 * process leaves that was killed in the middle of a write counts for nothing and needs no repair. Symbolic links in the directory are
 * not followed: `UNSUPPORTED`.
 *
 * Several processes may write, without locks: of two that append at once one gets `CONFLICT`. The file system must be a local one, as
 * adding to the end of a file is one step there and several over NFS. An append costs one flush to the disk, whatever the length of
 * the session; `load` reads the journal whole.
 *
 * Errors: `INVALID_INPUT` for what is no directory's path; `JOURNAL_DAMAGED` from `load` and `append` when the journal is damaged on
 * the disk, `DECODE_FAILED` from `getBlob` when a blob is. A journal of which the end was cut off looks like one whose last write was.
 * Those of the file system come as they are. `fs` stands in for `node:fs/promises`.
 *
 * ```js
 * import { fileStore } from "contextweaver/node";
 *
 * const store = fileStore("sessions");
 * const session = store.session("ada");
 * const { first, parts } = await session.load();
 * await session.append(first + parts.length, ['{"turn":1}']);
 * console.log((await store.sessions()).map(({ id }) => id)); // [ "ada" ]
 * ```
 */
export function fileStore(directory: string, fs: StorageFileSystem = withoutLinks): SessionStore {
  if (typeof directory !== "string" || directory === "" || directory.includes("\0")) {
    throw new ContextWeaverError("INVALID_INPUT", "expected the path of a directory", { path: "/directory" });
  }
  for (const method of ["open", "mkdir", "readdir", "rename", "rm", "stat"] as const) {
    if (typeof (fs as unknown as Readonly<Record<string, unknown>> | null)?.[method] === "function") continue;
    throw new ContextWeaverError("INVALID_INPUT", `expected a file system with \`${method}\``, {
      path: "/fs",
      hint: "node:fs/promises",
    });
  }
  return storeOf(new FileSessions(directory, fs, crc32));
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_WRONLY } = constants;
/** What flags stand for. */
const FLAGS: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  "a+": O_APPEND | O_CREAT | O_RDWR,
  wx: O_CREAT | O_EXCL | O_WRONLY,
};
/** Opens no link in the place of a file, where the system knows how. */
const withoutLinks: StorageFileSystem = {
  ...promises,
  open: (path, flags, mode) =>
    promises.open(path, O_NOFOLLOW === undefined ? flags : (FLAGS[flags] ?? 0) | O_NOFOLLOW, mode),
};
