// What stores in files do with a file system: whole writes, durable names, and no way that leads out of their directory.
import type { Bytes } from "../types.js";
import { ContextWeaverError } from "../boundary/errors.js";

/** A file that is open, as `node:fs/promises` has it. */
export interface StorageFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  stat(): Promise<{ readonly size: number; readonly mtimeMs: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What is used of `node:fs/promises`. */
export interface StorageFileSystem {
  open(path: string, flags: string, mode?: number): Promise<StorageFile>;
  /** One folder at a time: asked for all of a path at once, Node never ends where none can be made, as below `/proc`. */
  mkdir(path: string, options: { recursive: boolean; mode?: number }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { recursive: true; force: true }): Promise<void>;
  stat(path: string): Promise<{ readonly size: number }>;
  /** Tells what a name is, without following it. Without it symbolic links are followed. */
  lstat?(path: string): Promise<{ readonly size: number; isSymbolicLink(): boolean; isDirectory(): boolean }>;
}

/** Whoever runs the process may read, and nobody else: journals hold conversations. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** How often a line is begun anew of which the file system took a part. */
const LINE_WRITES = 3;

/** A file system as stores use it. */
export class FileAccess {
  readonly #fs: StorageFileSystem;

  constructor(fs: StorageFileSystem) {
    this.#fs = fs;
  }

  /** The names in a folder; none where there is no folder. */
  async names(folder: string): Promise<readonly string[]> {
    return (await unless("ENOENT", () => this.#fs.readdir(folder))) ?? [];
  }

  /** Works with a file that is no link. */
  async opening<T>(path: string, flags: "r" | "a+" | "wx", work: (file: StorageFile) => Promise<T>): Promise<T> {
    await this.#expectNoLink(path);
    const file = await this.#open(path, flags);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  /** Writes a file that is not there yet, to the disk. */
  async create(path: string, bytes: Uint8Array): Promise<void> {
    await this.opening(path, "wx", async (file) => {
      await write(file, bytes);
      await file.sync();
    });
  }

  /** Makes the directory of a store, if need be, which may be a link; returns what was made first on the way to it. */
  async makeRoot(path: string): Promise<string | undefined> {
    const parent = /^(.*[^\\/])[\\/]+[^\\/]+[\\/]*$/.exec(path)?.[1];
    try {
      return (await this.#make(path)) ? path : undefined;
    } catch (error) {
      if (parent === undefined || codeOf(error) !== "ENOENT") throw error;
    }
    const first = await this.makeRoot(parent);
    return (await this.#make(path)) ? (first ?? path) : first;
  }

  /** Makes a folder in it, if need be. */
  async makeFolder(path: string): Promise<void> {
    await this.expectFolder(path);
    await this.#make(path);
    await this.expectFolder(path);
  }

  /** Makes a folder in one that is there; tells whether it was not there yet. */
  async #make(path: string): Promise<boolean> {
    try {
      await this.#fs.mkdir(path, { recursive: false, mode: FOLDER_MODE });
      return true;
    } catch (error) {
      // Where nobody may make any, some systems do not say that it is there.
      const mayBe = ["EPERM", "EACCES", "EROFS", "EISDIR"].includes(codeOf(error));
      const isThere = mayBe && (await unless("ENOENT", () => this.#fs.stat(path))) !== undefined;
      if (!isThere && codeOf(error) !== "EEXIST") throw error;
      return false;
    }
  }

  /** Refuses what stands in the place of a folder. */
  async expectFolder(path: string): Promise<void> {
    const found = await unless("ENOENT", async () => this.#fs.lstat?.(path));
    if (found && !found.isDirectory())
      throw found.isSymbolicLink() ? isLink(path) : Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
  }

  async size(path: string): Promise<number> {
    return (await (this.#fs.lstat?.(path) ?? this.#fs.stat(path))).size;
  }

  rename(from: string, to: string): Promise<void> {
    return this.#fs.rename(from, to);
  }

  remove(path: string): Promise<void> {
    return this.#fs.rm(path, { recursive: true, force: true });
  }

  /** Makes the names in a folder durable. Windows opens no folders, and needs none of it. */
  async syncFolder(path: string): Promise<void> {
    const file = await unless("EISDIR EPERM EACCES", () => this.#openFolder(path));
    if (!file) return;
    try {
      await unless("EISDIR EPERM EINVAL", () => file.sync());
    } finally {
      await file.close();
    }
  }

  async #openFolder(path: string): Promise<StorageFile> {
    try {
      return await this.#fs.open(path, "r");
    } catch (error) {
      // The directory of a store may be a link.
      if (codeOf(error) !== "ELOOP") throw error;
      return this.#fs.open(`${path}/.`, "r");
    }
  }

  async #open(path: string, flags: string): Promise<StorageFile> {
    try {
      return await this.#fs.open(path, flags, FILE_MODE);
    } catch (error) {
      // What opens no links says so by this.
      if (codeOf(error) === "ELOOP") throw isLink(path, error);
      throw error;
    }
  }

  async #expectNoLink(path: string): Promise<void> {
    const found = await unless("ENOENT", async () => this.#fs.lstat?.(path));
    if (found?.isSymbolicLink()) throw isLink(path);
  }
}

/** The error about a name that leads elsewhere. It does not say where the store is. */
function isLink(path: string, cause?: unknown): ContextWeaverError {
  const name = /[^/]*$/.exec(path)?.[0] ?? "";
  const what = /^[0-9a-f]{64}|^journal$|^blobs$/.test(name) ? `\`${name}\`` : "the session's folder";
  return new ContextWeaverError("UNSUPPORTED", `${what} is a symbolic link, which a store does not follow`, {
    cause,
    hint: "give the directory where the files are",
  });
}

/** Reads a file from a position to its end, or some bytes of it. */
export async function readFrom(file: StorageFile, position: number, most = Infinity): Promise<Bytes> {
  const bytes = new Uint8Array(Math.min(most, Math.max(0, (await file.stat()).size - position)));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

async function write(file: StorageFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}

/** Adds a line in one write, as another process may add its own after any. One of which a part was written is begun anew. */
export async function writeLine(file: StorageFile, bytes: Uint8Array): Promise<void> {
  for (let attempt = 0; attempt < LINE_WRITES; attempt += 1) {
    if ((await file.write(bytes, 0, bytes.length)).bytesWritten === bytes.length) return;
  }
  await write(file, bytes);
}

/** What a call returns, or nothing where it failed for one of these reasons. */
export async function unless<T>(codes: string, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (codes.split(" ").includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The code of an error of the file system. */
export function codeOf(error: unknown): string {
  return (error as { readonly code?: string } | null)?.code ?? "";
}
