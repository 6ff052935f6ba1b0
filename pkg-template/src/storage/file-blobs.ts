// The blobs of a session in files, which several processes write and remove.
//
// A blob is a file by its hash. Behind the first compaction the name has that of the journal, too, in which it was put: what a
// compaction removes was there before it, and what is put after it has another name, whatever the hash. So nothing that was
// acknowledged is removed by somebody who could not know of it, and no clock or lock is needed.
import { ContextWeaverError } from "../boundary/errors.js";
import { sha256 } from "./checks.js";
import { codeOf, readFrom, unless } from "./file-access.js";
import type { FileAccess } from "./file-access.js";
import type { Header } from "./journal.js";

/** Characters of a journal's name, or of a random one, in the name of a blob. */
const MARK = 8;
/** The longest blob; a file that is longer is none. */
const MAX_BLOB = 16 * 2 ** 20;
/** Files that are removed between two looks whether the session is still the same. */
const REMOVED_AT_ONCE = 64;
const TEMPORARY = ".tmp";

/** Files by the hash of their bytes: mostly one. */
export type BlobNames = ReadonlyMap<string, readonly string[]>;

/** The blobs in folders. */
export class FileBlobs {
  readonly #files: FileAccess;

  constructor(files: FileAccess) {
    this.#files = files;
  }

  /** The blobs in a folder. */
  async names(folder: string): Promise<BlobNames> {
    await this.#files.expectFolder(folder);
    const found = new Map<string, string[]>();
    for (const name of await this.#files.names(folder)) {
      const hash = /^([0-9a-f]{64})(?:\.[0-9a-f-]+)?$/.exec(name)?.[1];
      if (hash !== undefined) found.set(hash, [...(found.get(hash) ?? []), name]);
    }
    return found;
  }

  /** Puts a blob that belongs to a journal; one that is there and whole stays. */
  async put(folder: string, hash: string, bytes: Uint8Array, { generation, journal }: Header): Promise<void> {
    const path = `${folder}/${generation === 0 ? hash : `${hash}.${journal.slice(0, MARK)}`}`;
    if (!(await this.#isWhole(path, hash))) {
      await this.#files.makeFolder(folder);
      await this.#files.syncFolder(folder.slice(0, folder.lastIndexOf("/")));
      const temporary = `${folder}/${hash}-${crypto.randomUUID()}${TEMPORARY}`;
      await this.#files.create(temporary, bytes);
      await this.#files.rename(temporary, path);
    }
    // Also where it was there: another process may not have come to this yet.
    await this.#files.syncFolder(folder);
  }

  /** Reads the first of some files of a hash that is whole; nothing where none is there. `DECODE_FAILED` where all are damaged. */
  async read(folder: string, hash: string, names: readonly string[]): Promise<Uint8Array | undefined> {
    let damaged: ContextWeaverError | undefined;
    await this.#files.expectFolder(folder);
    for (const name of names) {
      try {
        const bytes = await unless("ENOENT", () => this.#bytesOf(`${folder}/${name}`));
        if (bytes && (await sha256(bytes)) === hash) return bytes;
        if (bytes) damaged = isDamaged(hash, "its bytes have another SHA-256");
      } catch (error) {
        const isLink = ContextWeaverError.is(error) && error.code === "UNSUPPORTED";
        if (!isLink && !["EIO", "EISDIR", "ENXIO"].includes(codeOf(error))) throw error;
        damaged = isDamaged(hash, isLink ? "it is a symbolic link" : "it cannot be read", error);
      }
    }
    if (damaged) throw damaged;
    return undefined;
  }

  async #bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
    // Of a longer one the hash cannot be the same.
    return this.#files.opening(path, "r", (file) => readFrom(file, 0, MAX_BLOB + 1));
  }

  async #isWhole(path: string, hash: string): Promise<boolean> {
    const [, folder = "", name = ""] = /^(.*)\/([^/]*)$/.exec(path) ?? [];
    try {
      return (await this.read(folder, hash, [name])) !== undefined;
    } catch (error) {
      if (ContextWeaverError.is(error) && error.code === "DECODE_FAILED") return false;
      throw error;
    }
  }

  /** The files that a compaction may remove once it is done: all but one of each hash that is kept. */
  async rests(folder: string, kept: ReadonlySet<string>): Promise<readonly string[]> {
    const rests: string[] = [];
    for (const [hash, names] of await this.names(folder)) {
      if (!kept.has(hash)) rests.push(...names);
      else if (names.length > 1) {
        const stays = await this.#firstWhole(folder, hash, names);
        if (stays !== undefined) rests.push(...names.filter((name) => name !== stays));
      }
    }
    return [...rests, ...(await this.#files.names(folder)).filter((name) => name.endsWith(TEMPORARY))];
  }

  async #firstWhole(folder: string, hash: string, names: readonly string[]): Promise<string | undefined> {
    for (const name of names) if (await this.#isWhole(`${folder}/${name}`, hash)) return name;
    return undefined;
  }

  /**
   * Removes files that were there before a compaction, for as long as `isSame` says that the session has not begun anew. Names without
   * that of a journal may come back then: they get another, by which they are found, before it is asked.
   */
  async remove(folder: string, names: readonly string[], isSame: () => Promise<boolean>): Promise<void> {
    for (let at = 0; at < names.length; at += REMOVED_AT_ONCE) {
      const paths: string[] = [];
      for (const name of names.slice(at, at + REMOVED_AT_ONCE)) {
        const isMarked = !/^[0-9a-f]{64}$/.test(name);
        const path = isMarked ? name : `${name}.${crypto.randomUUID().slice(0, MARK)}`;
        if (!isMarked) await unless("ENOENT", () => this.#files.rename(`${folder}/${name}`, `${folder}/${path}`));
        paths.push(`${folder}/${path}`);
      }
      if (!(await isSame())) return;
      for (const path of paths) await this.#files.remove(path);
    }
  }

  /** The bytes that the blobs of a session take. */
  async size(folder: string): Promise<number> {
    let size = 0;
    for (const names of (await this.names(folder)).values()) {
      for (const name of names) size += (await unless("ENOENT", () => this.#files.size(`${folder}/${name}`))) ?? 0;
    }
    return size;
  }
}

function isDamaged(hash: string, how: string, cause?: unknown): ContextWeaverError {
  return new ContextWeaverError("DECODE_FAILED", `the file of the blob ${hash} is damaged: ${how}`, {
    path: "/hash",
    cause,
  });
}
