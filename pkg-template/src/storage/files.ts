// Sessions in plain files: one folder for each, with a journal of lines and a file for each blob.
//
// Nothing is locked, so that nothing is left locked by a process that was killed. Lines are added at the end of the journal, which
// the operating system does one after the other, and each says the number of its first part: the first line with the number that is
// next counts, and whoever wrote a later one with the same number reads that back and is told CONFLICT. A line that was cut short
// has another checksum, counts for nobody, and is gone with the next compaction. A compaction writes a new journal beside the old
// one and ends the old one by a line that competes like any other, before the new one takes its name.
import { ContextWeaverError } from "../errors.js";
import { utf8 } from "../guard.js";
import { expectNext, sha256 } from "./checks.js";
import { BREAK, damaged, HEAD, heed, Lines } from "./journal.js";
import type { Crc32, Header, Journal, Line } from "./journal.js";
import { isAs } from "./store.js";
import type { CheckedParts, SessionEngine } from "./store.js";
import type { StoredParts, SessionRecord } from "./storage-types.js";

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
  mkdir(path: string, options: { recursive: true; mode?: number }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { recursive: true; force: true }): Promise<void>;
  stat(path: string): Promise<{ readonly size: number }>;
}

/** Whoever runs the process may read, and nobody else: journals hold conversations. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Bytes in which the first line of a journal nearly always is, whatever the name of the session. */
const FIRST_LINE = 8 * 1024;
const JOURNAL = "journal";
const BLOBS = "blobs";
const REMOVED = ".removed-";
/** A session's folder, with what is known of its journal and the calls that are under way. */
interface Opened {
  readonly id: string;
  journal: Journal | undefined;
  /** The journal whose name, and that of its folder, are on the disk. */
  durable: string | undefined;
  /** Ends when the call before has ended. */
  last: Promise<unknown>;
}

/** Sessions in files, see `fileStore` of `contextweaver/node`. */
export class FileSessions implements SessionEngine {
  readonly #directory: string;
  readonly #fs: StorageFileSystem;
  readonly #lines: Lines;
  readonly #writer = crypto.randomUUID();
  #written = 0;
  readonly #opened = new Map<string, Opened>();

  constructor(directory: string, fs: StorageFileSystem, crc32: Crc32) {
    [this.#directory, this.#fs, this.#lines] = [directory, fs, new Lines(crc32)];
  }

  load(id: string): Promise<StoredParts> {
    return this.#inTurn(id, (session) => this.#load(session));
  }

  record(id: string): Promise<SessionRecord | undefined> {
    return this.#inTurn(id, async () => this.#recordOf(await this.#folder(id)));
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    const found: SessionRecord[] = [];
    for (const name of await this.#names(this.#directory)) {
      if (name.startsWith(REMOVED)) continue;
      const stored = await this.#recordOf(`${this.#directory}/${name}`);
      if (stored) found.push(stored);
    }
    return found;
  }

  delete(id: string, record: SessionRecord | undefined): Promise<boolean> {
    return this.#inTurn(id, async () => {
      const folder = await this.#folder(id);
      if (record) {
        const now = await this.#recordOf(folder);
        if (!now || !isAs(record, now)) return false;
      }
      // Under another name it is gone at once, and what a process leaves that is killed now is found.
      const removed = `${this.#directory}/${REMOVED}${crypto.randomUUID()}`;
      const renamed = await unless("ENOENT", async () => (await this.#fs.rename(folder, removed), true));
      if (renamed) await this.#syncFolder(this.#directory);
      for (const rest of await this.#names(this.#directory)) {
        if (rest.startsWith(REMOVED)) await this.#fs.rm(`${this.#directory}/${rest}`, { recursive: true, force: true });
      }
      return renamed === true;
    });
  }

  /** Runs a call on a session when those before it have ended. */
  #inTurn<T>(id: string, run: (session: Opened) => Promise<T>): Promise<T> {
    const session = this.#opened.get(id) ?? { id, journal: undefined, durable: undefined, last: Promise.resolve() };
    this.#opened.set(id, session);
    const running = session.last.then(() => run(session));
    const end = (): void => {
      if (session.last === ended) this.#forget(session);
    };
    const ended: Promise<void> = running.then(end, end);
    session.last = ended;
    return running;
  }

  /** Sessions that nobody uses for now are read again: thousands come and go. */
  #forget(session: Opened): void {
    const MOST = 1_000;
    if (this.#opened.size > MOST || !session.journal) this.#opened.delete(session.id);
  }

  async #load(session: Opened): Promise<StoredParts> {
    const folder = await this.#folder(session.id);
    let parts: string[] = [];
    const journal = await unless("ENOENT", () =>
      this.#withJournal(folder, "r", async (file) => {
        parts = [];
        return this.#read(file, undefined, (line) => {
          for (const part of line.parts ?? []) parts.push(part);
        });
      }),
    );
    session.journal = journal;
    return { first: (journal?.next ?? 0) - parts.length, parts };
  }

  append(id: string, first: number, { parts }: CheckedParts): Promise<void> {
    return this.#inTurn(id, async (session) => {
      expectNext(first, (await this.#current(session))?.next ?? 0);
      if (parts.length === 0) return;
      const folder = await this.#begun(session);
      await this.#withJournal(folder, "a+", async (file) => {
        const journal = await this.#read(file, session.journal);
        if (journal.moved) return journal;
        expectNext(first, journal.next);
        session.journal = await this.#add(file, journal, { first, by: this.#by(), parts });
        return undefined;
      });
    });
  }

  compact(id: string, first: number, { parts }: CheckedParts, blobs: ReadonlySet<string>): Promise<void> {
    return this.#inTurn(id, async (session) => {
      expectNext(first, (await this.#current(session))?.next ?? 0);
      const folder = await this.#begun(session);
      const done: { header?: Header } = {};
      await this.#withJournal(folder, "a+", async (file) => {
        if (done.header) return undefined;
        const journal = await this.#read(file, session.journal);
        if (journal.moved) return journal;
        expectNext(first, journal.next);
        const generation = (journal.header?.generation ?? 0) + 1;
        const following: Header = { journal: crypto.randomUUID(), generation, first, id };
        const after = await this.#follow(folder, file, journal, following, parts);
        done.header = following;
        return after;
      });
      [session.journal, session.durable] = [undefined, done.header?.journal];
      // From here on it is done; what cannot be removed is left to the next compaction.
      await this.#clean(folder, done.header?.generation ?? 0, blobs).catch(() => {});
    });
  }

  /** Writes a journal beside the one that is there, which ends by naming it. */
  async #follow(folder: string, file: StorageFile, journal: Journal, header: Header, parts: readonly string[]): Promise<Journal> {
    const { first, generation } = header;
    const moved = `${generation}-${crypto.randomUUID()}.next`;
    const path = `${folder}/${moved}`;
    let isNamed = false;
    try {
      const lines = parts.map((part, at) => ({ first: first + at, by: this.#by(), parts: [part] }));
      await this.#writeFile(path, this.#lines.joined([header, ...lines]));
      await this.#syncFolder(folder);
      isNamed = true;
      return await this.#add(file, journal, { first, by: this.#by(), moved });
    } catch (error) {
      // Where no line names it, or one that does not count; another may yet come to count.
      const isUnused = !isNamed || (ContextWeaverError.is(error) && error.code === "CONFLICT");
      if (isUnused) await this.#fs.rm(path, { recursive: true, force: true });
      throw error;
    }
  }

  putBlob(id: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#inTurn(id, async (session) => {
      // It may have been deleted, and begin anew.
      await this.#current(session);
      const folder = await this.#begun(session);
      const blobs = `${folder}/${BLOBS}`;
      if (!(await unless("ENOENT", () => this.#fs.stat(`${blobs}/${hash}`)))) {
        await this.#fs.mkdir(blobs, { recursive: true, mode: FOLDER_MODE });
        await this.#syncFolder(folder);
        const path = `${blobs}/${hash}-${crypto.randomUUID()}.tmp`;
        await this.#writeFile(path, bytes);
        await this.#fs.rename(path, `${blobs}/${hash}`);
      }
      // Also where it was there: another process may not have come to this yet.
      await this.#syncFolder(blobs);
    });
  }

  getBlob(id: string, hash: string): Promise<Uint8Array | undefined> {
    return this.#inTurn(id, async () => {
      const path = `${await this.#folder(id)}/${BLOBS}/${hash}`;
      const bytes = await unless("ENOENT", () => this.#opening(path, "r", async (file) => readFrom(file, 0)));
      if (bytes && (await sha256(bytes)) !== hash) {
        throw new ContextWeaverError("DECODE_FAILED", "the file of the blob is damaged: its bytes have another SHA-256", { path: "/hash" });
      }
      return bytes;
    });
  }

  /** What is known of the journal, with what others wrote since; nothing where there is none. */
  async #current(session: Opened): Promise<Journal | undefined> {
    const folder = await this.#folder(session.id);
    session.journal = await unless("ENOENT", () => this.#withJournal(folder, "r", (file) => this.#read(file, session.journal)));
    return session.journal;
  }

  /** The folder of a session, with a journal that says whose it is. */
  async #begun(session: Opened): Promise<string> {
    const folder = await this.#folder(session.id);
    const known = session.journal?.header?.journal;
    if (known !== undefined && known === session.durable) return folder;
    const made = await this.#fs.mkdir(this.#directory, { recursive: true, mode: FOLDER_MODE });
    if (made !== undefined) await this.#syncFolder(`${this.#directory}/..`);
    await this.#fs.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await this.#withJournal(folder, "a+", async (file) => {
      const journal = await this.#read(file, undefined);
      if (!journal.header) {
        const header: Header = { journal: crypto.randomUUID(), generation: 0, first: 0, id: session.id };
        await write(file, this.#lines.joined([header], BREAK));
        // For a session that has blobs alone: it would not be listed.
        await file.sync();
        session.journal = await this.#read(file, undefined);
      }
      return journal;
    });
    // Also where another process made them, which may not have come to this yet.
    await this.#syncFolder(folder);
    await this.#syncFolder(this.#directory);
    session.durable = session.journal?.header?.journal;
    return folder;
  }

  /** Opens the journal and works with it; where it turns out to go on elsewhere, that is made true, and the work done again. */
  async #withJournal(folder: string, flags: "r" | "a+", work: (file: StorageFile) => Promise<Journal | undefined>): Promise<Journal | undefined> {
    let before: string | undefined;
    for (;;) {
      const journal = await this.#opening(`${folder}/${JOURNAL}`, flags, work);
      if (!journal?.moved) return journal;
      if (journal.moved === before) throw damaged("the file is missing in which it goes on", journal.next);
      before = journal.moved;
      await this.#take(folder, journal.moved);
    }
  }

  /** Reads a journal from where it was known. Lines that count are told. */
  async #read(file: StorageFile, known: Journal | undefined, tell?: (line: Line) => void): Promise<Journal> {
    let journal: Journal | undefined;
    if (known?.header) {
      const head = new Uint8Array(known.head.length);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      if (bytesRead === head.length && head.every((byte, at) => byte === known.head[at])) journal = { ...known };
    }
    const bytes = await readFrom(file, journal?.offset ?? 0);
    let offset = 0;
    journal ??= { head: bytes.slice(0, HEAD), header: undefined, offset: 0, next: 0, moved: undefined };
    for (const [value, end] of this.#lines.of(bytes)) {
      if (value) heed(journal, value, tell);
      offset = end;
    }
    journal.offset += offset;
    return journal;
  }

  /** Adds a line, makes it durable, and sees whether it counts. */
  async #add(file: StorageFile, journal: Journal, line: Line): Promise<Journal> {
    await write(file, this.#lines.joined([line], BREAK));
    await file.sync();
    let isOurs = false;
    const after = await this.#read(file, journal, ({ by }) => {
      if (by === line.by) isOurs = true;
    });
    if (isOurs) return after;
    throw new ContextWeaverError("CONFLICT", "somebody else wrote at the same time", { path: "/first", hint: "load the session again", details: { next: after.next } });
  }

  /**
   * Gives the journal's name to the file that follows it. Whoever comes second finds it done, and whoever finds it undone after a
   * failure of power does it again.
   */
  async #take(folder: string, moved: string): Promise<void> {
    await unless("ENOENT", () => this.#fs.rename(`${folder}/${moved}`, `${folder}/${JOURNAL}`));
  }

  /** Removes what a compaction leaves behind: blobs that are not listed, and what was written for ones that did not come to an end. */
  async #clean(folder: string, generation: number, blobs: ReadonlySet<string>): Promise<void> {
    for (const name of await this.#names(`${folder}/${BLOBS}`)) {
      if (!blobs.has(name)) await this.#fs.rm(`${folder}/${BLOBS}/${name}`, { recursive: true, force: true });
    }
    for (const name of await this.#names(folder)) {
      if (name.endsWith(".next") && Number.parseInt(name, 10) <= generation) await this.#fs.rm(`${folder}/${name}`, { recursive: true, force: true });
    }
  }

  /** What is told of a session; nothing of what is no folder of one. */
  #recordOf(folder: string): Promise<SessionRecord | undefined> {
    return unless("ENOENT ENOTDIR", () => this.#describe(folder));
  }

  async #describe(folder: string): Promise<SessionRecord | undefined> {
    const read = async (file: StorageFile) => ({ header: this.#lines.headerOf(await readFrom(file, 0, FIRST_LINE)) ?? this.#lines.headerOf(await readFrom(file, 0)), ...(await sizeAndTimeOf(file)) });
    const { header, bytes, written_at } = await this.#opening(`${folder}/${JOURNAL}`, "r", read);
    if (!header) return undefined;
    let blob_bytes = 0;
    for (const name of await this.#names(`${folder}/${BLOBS}`)) {
      if (!name.endsWith(".tmp")) blob_bytes += (await unless("ENOENT", () => this.#fs.stat(`${folder}/${BLOBS}/${name}`)))?.size ?? 0;
    }
    return { id: header.id, bytes, blob_bytes, written_at };
  }

  /** The folder of a session. File systems may not tell letters apart by case or accent, and some names are not theirs to give. */
  async #folder(id: string): Promise<string> {
    const name = /^[a-z0-9_-]{1,100}$/.test(id) ? `s-${id}` : `h-${await sha256(utf8(id) as Uint8Array<ArrayBuffer>)}`;
    return `${this.#directory}/${name}`;
  }

  async #names(folder: string): Promise<readonly string[]> {
    return (await unless("ENOENT", () => this.#fs.readdir(folder))) ?? [];
  }

  async #writeFile(path: string, bytes: Uint8Array): Promise<void> {
    await this.#opening(path, "wx", async (file) => {
      await write(file, bytes);
      await file.sync();
    });
  }

  async #opening<T>(path: string, flags: string, work: (file: StorageFile) => Promise<T>): Promise<T> {
    const file = await this.#fs.open(path, flags, FILE_MODE);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  /** Makes the names in a folder durable. Windows opens no folders, and needs none of it. */
  async #syncFolder(path: string): Promise<void> {
    const file = await unless("EISDIR EPERM EACCES", () => this.#fs.open(path, "r"));
    if (!file) return;
    try {
      await unless("EISDIR EPERM EINVAL", () => file.sync());
    } finally {
      await file.close();
    }
  }

  #by(): string {
    this.#written += 1;
    return `${this.#writer}-${this.#written}`;
  }
}

async function sizeAndTimeOf(file: StorageFile): Promise<{ readonly bytes: number; readonly written_at: number }> {
  const { size, mtimeMs } = await file.stat();
  return { bytes: size, written_at: Math.floor(mtimeMs) };
}

async function readFrom(file: StorageFile, position: number, most = Infinity): Promise<Uint8Array<ArrayBuffer>> {
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

/** What a call returns, or nothing where it failed for one of these reasons. */
async function unless<T>(codes: string, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (codes.split(" ").includes((error as { readonly code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
