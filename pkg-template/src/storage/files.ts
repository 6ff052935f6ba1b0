// Sessions in plain files: one folder for each, with a journal of lines and a file for each blob.
//
// Nothing is locked, so that nothing is left locked by a process that was killed. Lines are added at the end of the journal, which
// the operating system does one after the other, and each says the number of its first part: the first line with the number that is
// next counts, and whoever wrote a later one with the same number reads that back and is told CONFLICT. A line that was cut short
// counts for nobody, and is gone with the next compaction. A compaction writes a new journal beside the old one and ends the old one
// by a line that competes like any other, before the new one takes its name; then it removes what was there before that line.
//
// What is damaged is refused by `load` and `append`. Blobs and compactions go on, as they mend it.
import type { Bytes } from "../types.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { utf8 } from "../boundary/guard.js";
import type { JournalFinding } from "../manager/journal-types.js";
import { expectEnd, sha256 } from "./checks.js";
import { FileAccess, readFrom, unless, writeLine } from "./file-access.js";
import type { StorageFile, StorageFileSystem } from "./file-access.js";
import { FileBlobs } from "./file-blobs.js";
import type { BlobNames } from "./file-blobs.js";
import { HEAD, Lines, copyOf, endOf, heed, refuse, settle, storedEnd, unread } from "./journal.js";
import type { Crc32, Damage, Header, Journal, Line, Tell } from "./journal.js";
import { isAs } from "./store.js";
import type { CheckedParts, SessionEngine } from "./store.js";
import type { StoredEnd, StoredParts, SessionRecord } from "./storage-types.js";

/** Bytes in which the first line of a journal nearly always is, whatever the name of the session. */
const FIRST_LINE = 8 * 1024;
/** How often a blob is put anew that belongs to a journal which another process ends meanwhile. */
const PUTS = 10;
const JOURNAL = "journal";
const BLOBS = "blobs";
const NEXT = ".next";
const REMOVED = ".removed-";

/** A session's folder, with what is known of its journal and the calls that are under way. */
interface Opened {
  readonly id: string;
  journal: Journal | undefined;
  /** The journal whose name, and that of its folder, are on the disk. */
  durable: string | undefined;
  /** The blobs that were there when somebody looked last. */
  blobs: BlobNames | undefined;
  /** Ends when the call before has ended. */
  last: Promise<unknown>;
}

/** What a compaction did. */
interface Compacted {
  readonly header: Header;
  /** The files that it may remove: blobs, and journals that nothing will go on in. */
  readonly rests: readonly string[];
  readonly journals: readonly string[];
}

/** Works with a journal that is open; `gone` are files that are missing in which it goes on. */
type Work = (file: StorageFile, gone: ReadonlySet<string>) => Promise<Journal | undefined>;

/** Sessions in files, see `fileStore` of `contextweaver/node`. */
export class FileSessions implements SessionEngine {
  readonly #directory: string;
  readonly #files: FileAccess;
  readonly #blobs: FileBlobs;
  readonly #lines: Lines;
  readonly #writer = crypto.randomUUID();
  #written = 0;
  readonly #opened = new Map<string, Opened>();

  constructor(directory: string, fs: StorageFileSystem, crc32: Crc32) {
    [this.#directory, this.#files, this.#lines] = [directory, new FileAccess(fs), new Lines(crc32)];
    this.#blobs = new FileBlobs(this.#files);
  }

  load(id: string, salvage: boolean): Promise<StoredParts> {
    return this.#inTurn(id, (session) => this.#load(session, salvage));
  }

  end(id: string): Promise<StoredEnd> {
    return this.#inTurn(id, async (session) => storedEnd(await this.#current(session)));
  }

  record(id: string): Promise<SessionRecord | undefined> {
    return this.#inTurn(id, async () => this.#recordOf(await this.#folder(id), id));
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    const found: SessionRecord[] = [];
    for (const name of await this.#files.names(this.#directory)) {
      if (name.startsWith(REMOVED)) continue;
      // A link is no session of this store.
      const stored = await unless("UNSUPPORTED", () =>
        this.#recordOf(`${this.#directory}/${name}`, /^s-(.*)$/.exec(name)?.[1]),
      );
      if (stored) found.push(stored);
    }
    return found;
  }

  delete(id: string, record: SessionRecord | undefined): Promise<boolean> {
    return this.#inTurn(id, async () => {
      const folder = await this.#folder(id);
      if (record) {
        const now = await this.#recordOf(folder, id);
        if (!now || !isAs(record, now)) return false;
      }
      // Under another name it is gone at once, and what a process leaves that is killed now is found.
      const removed = `${this.#directory}/${REMOVED}${crypto.randomUUID()}`;
      const renamed = await unless("ENOENT", async () => (await this.#files.rename(folder, removed), true));
      if (renamed) await this.#files.syncFolder(this.#directory);
      for (const rest of await this.#files.names(this.#directory)) {
        if (rest.startsWith(REMOVED)) await this.#files.remove(`${this.#directory}/${rest}`);
      }
      return renamed === true;
    });
  }

  /** Runs a call on a session when those before it have ended. */
  #inTurn<T>(id: string, run: (session: Opened) => Promise<T>): Promise<T> {
    const session = this.#opened.get(id) ?? {
      id,
      journal: undefined,
      durable: undefined,
      blobs: undefined,
      last: Promise.resolve(),
    };
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

  async #load(session: Opened, salvage: boolean): Promise<StoredParts> {
    const folder = await this.#folder(session.id);
    let parts: string[] = [];
    const journal = await unless("ENOENT", () =>
      this.#withJournal(folder, "r", async (file, gone) => {
        parts = [];
        const tell: Tell = (line, damage) => {
          if (damage) damage.part = parts.length;
          for (const part of line.parts ?? []) parts.push(part);
        };
        return this.#read(file, undefined, gone, tell);
      }),
    );
    session.journal = journal;
    if (!salvage) refuse(journal);
    const first = endOf(journal) - parts.length;
    return journal && journal.damage.length > 0
      ? { first, parts, findings: journal.damage.map(findingOf) }
      : { first, parts };
  }

  append(id: string, first: number, { parts }: CheckedParts): Promise<void> {
    return this.#inTurn(id, async (session) => {
      const known = await this.#current(session);
      refuse(known);
      expectEnd(first, parts, storedEnd(known));
      if (parts.length === 0) return;
      const folder = await this.#begun(session);
      await this.#withJournal(folder, "a+", async (file, gone) => {
        const journal = await this.#read(file, session.journal, gone);
        if (journal.moved) return journal;
        refuse(journal);
        expectEnd(first, parts, storedEnd(journal));
        session.journal = await this.#add(file, journal, { first, by: this.#by(), parts });
        return undefined;
      });
    });
  }

  compact(id: string, first: number, { parts }: CheckedParts, blobs: ReadonlySet<string>): Promise<void> {
    return this.#inTurn(id, async (session) => {
      expectEnd(first, parts, storedEnd(await this.#current(session)));
      const folder = await this.#begun(session);
      let done: Compacted | undefined;
      await this.#withJournal(folder, "a+", async (file, gone) => {
        if (done) return undefined;
        const journal = await this.#read(file, session.journal, gone);
        if (journal.moved) return journal;
        expectEnd(first, parts, storedEnd(journal));
        const generation = (journal.header?.generation ?? 0) + 1;
        const header: Header = { journal: crypto.randomUUID(), generation, first, id, parts: parts.length };
        const path = `${generation}-${crypto.randomUUID()}${NEXT}`;
        await this.#write(`${folder}/${path}`, header, parts);
        // Before the line that ends the journal: what others put from then on stays.
        const rests = await this.#blobs.rests(`${folder}/${BLOBS}`, blobs);
        const journals = (await this.#files.names(folder)).filter((name) => name.endsWith(NEXT) && name !== path);
        const after = await this.#end(folder, file, journal, { first, by: this.#by(), moved: path });
        done = { header, rests, journals };
        return after;
      });
      [session.journal, session.durable] = [undefined, done?.header.journal];
      // From here on it is done; what cannot be removed is left to the next compaction.
      if (done) await this.#clean(folder, done).catch(() => {});
    });
  }

  /** Writes a journal beside the one that is there. */
  async #write(path: string, header: Header, parts: readonly string[]): Promise<void> {
    try {
      const lines = parts.map((part, at) => ({ first: header.first + at, by: this.#by(), parts: [part] }));
      await this.#files.create(path, this.#lines.joined([header, ...lines]));
      await this.#files.syncFolder(path.slice(0, path.lastIndexOf("/")));
    } catch (error) {
      await this.#files.remove(path);
      throw error;
    }
  }

  /** Ends a journal by the name of the one that follows. */
  async #end(
    folder: string,
    file: StorageFile,
    journal: Journal,
    line: Line & { readonly moved: string },
  ): Promise<Journal> {
    try {
      return await this.#add(file, journal, line);
    } catch (error) {
      // The line does not count; after another error it may yet come to count.
      if (ContextWeaverError.is(error) && error.code === "CONFLICT")
        await this.#files.remove(`${folder}/${line.moved}`);
      throw error;
    }
  }

  putBlob(id: string, hash: string, bytes: Bytes): Promise<void> {
    return this.#inTurn(id, async (session) => {
      for (let attempt = 1; ; attempt += 1) {
        // It may have been deleted, and begin anew.
        await this.#current(session);
        const folder = await this.#begun(session);
        const header = session.journal?.header;
        // What it was written to may be gone: another process ended the journal, or the session.
        const codes = attempt < PUTS ? "ENOENT" : "none";
        const isPut =
          header &&
          (await unless(codes, async () => (await this.#blobs.put(`${folder}/${BLOBS}`, hash, bytes, header), true)));
        if (isPut && (await this.#current(session))?.header?.journal === header.journal) break;
        if (attempt === PUTS)
          throw new ContextWeaverError(
            "CONFLICT",
            "others compacted the session again and again while the blob was stored",
            { path: "/hash", hint: "load the session again" },
          );
      }
      session.blobs = undefined;
    });
  }

  getBlob(id: string, hash: string): Promise<Uint8Array | undefined> {
    return this.#inTurn(id, async (session) => {
      const folder = `${await this.#folder(id)}/${BLOBS}`;
      const known = session.blobs?.get(hash);
      const bytes = known && (await unless("DECODE_FAILED", () => this.#blobs.read(folder, hash, known)));
      if (bytes) return bytes;
      // Others may have put it, or moved it.
      session.blobs = await this.#blobs.names(folder);
      return this.#blobs.read(folder, hash, session.blobs.get(hash) ?? []);
    });
  }

  /** What is known of the journal, with what others wrote since; nothing where there is none. */
  async #current(session: Opened): Promise<Journal | undefined> {
    const folder = await this.#folder(session.id);
    session.journal = await unless("ENOENT", () =>
      this.#withJournal(folder, "r", (file, gone) => this.#read(file, session.journal, gone)),
    );
    return session.journal;
  }

  /** The folder of a session, with a journal that says whose it is. */
  async #begun(session: Opened): Promise<string> {
    const folder = await this.#folder(session.id);
    const known = session.journal?.header?.journal;
    if (known !== undefined && known === session.durable) return folder;
    const made = await this.#files.makeRoot(this.#directory);
    if (made !== undefined) await this.#files.syncFolder(`${this.#directory}/..`);
    await this.#files.makeFolder(folder);
    await this.#withJournal(folder, "a+", async (file, gone) => {
      const journal = await this.#read(file, undefined, gone);
      if (!journal.header) {
        const header: Header = { journal: crypto.randomUUID(), generation: 0, first: 0, id: session.id };
        await writeLine(file, this.#lines.joined([header]));
        // For a session that has blobs alone: it would not be listed.
        await file.sync();
        session.journal = await this.#read(file, undefined, gone);
      }
      return journal;
    });
    // Also where another process made them, which may not have come to this yet.
    await this.#files.syncFolder(folder);
    await this.#files.syncFolder(this.#directory);
    session.durable = session.journal?.header?.journal;
    return folder;
  }

  /**
   * Opens the journal and works with it; where it turns out to go on elsewhere, that is made true, and the work done again. Where that
   * file is missing, it is told, once.
   */
  async #withJournal(folder: string, flags: "r" | "a+", work: Work): Promise<Journal | undefined> {
    let before: string | undefined;
    const gone = new Set<string>();
    await this.#files.expectFolder(folder);
    for (;;) {
      const journal = await this.#files.opening(`${folder}/${JOURNAL}`, flags, (file) => work(file, gone));
      if (!journal?.moved) return journal;
      if (journal.moved === before) gone.add(before);
      before = journal.moved;
      await this.#take(folder, journal.moved);
    }
  }

  /** Reads a journal from where it was known. Lines that count are told. */
  async #read(file: StorageFile, known: Journal | undefined, gone: ReadonlySet<string>, tell?: Tell): Promise<Journal> {
    let journal: Journal | undefined;
    if (known?.header && known.moved === undefined) {
      const head = new Uint8Array(known.head.length);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      if (bytesRead === head.length && head.every((byte, at) => byte === known.head[at])) journal = copyOf(known);
    }
    const bytes = await readFrom(file, journal?.offset ?? 0);
    journal ??= unread(bytes.slice(0, HEAD));
    const from = journal.offset;
    for (const line of this.#lines.of(bytes)) {
      heed(journal, { ...line, begin: from + line.begin, end: from + line.end }, gone, tell);
      journal.offset = from + line.end;
    }
    settle(journal, tell);
    return journal;
  }

  /** Adds a line, makes it durable, and sees whether it counts. */
  async #add(file: StorageFile, journal: Journal, line: Line): Promise<Journal> {
    await writeLine(file, this.#lines.joined([line]));
    await file.sync();
    let isOurs = false;
    const after = await this.#read(file, journal, new Set(), ({ by }) => {
      if (by === line.by) isOurs = true;
    });
    if (isOurs) return after;
    throw new ContextWeaverError("CONFLICT", "somebody else wrote at the same time", {
      path: "/first",
      hint: "load the session again",
      details: { next: endOf(after) },
    });
  }

  /**
   * Gives the journal's name to the file that follows it. Whoever comes second finds it done, and whoever finds it undone after a
   * failure of power does it again.
   */
  async #take(folder: string, moved: string): Promise<void> {
    await unless("ENOENT", () => this.#files.rename(`${folder}/${moved}`, `${folder}/${JOURNAL}`));
  }

  /** Removes what a compaction left behind that was there before it. */
  async #clean(folder: string, { header, rests, journals }: Compacted): Promise<void> {
    for (const name of journals) await this.#files.remove(`${folder}/${name}`);
    await this.#blobs.remove(`${folder}/${BLOBS}`, rests, async () => {
      const head = await this.#files.opening(`${folder}/${JOURNAL}`, "r", (file) => readFrom(file, 0, HEAD));
      return new TextDecoder().decode(head).includes(header.journal);
    });
  }

  /** What is told of a session; nothing of what is no folder of one. `id` is its name where its first line is damaged. */
  #recordOf(folder: string, id: string | undefined): Promise<SessionRecord | undefined> {
    return unless("ENOENT ENOTDIR", () => this.#describe(folder, id));
  }

  async #describe(folder: string, known: string | undefined): Promise<SessionRecord | undefined> {
    await this.#files.expectFolder(folder);
    const { id, bytes, written_at } = await this.#files.opening(`${folder}/${JOURNAL}`, "r", async (file) => {
      const found = this.#lines.headerOf(await readFrom(file, 0, FIRST_LINE));
      const { header, isDamaged } = found.header ? found : this.#lines.headerOf(await readFrom(file, 0));
      return { id: header?.id ?? (isDamaged ? known : undefined), ...(await sizeAndTimeOf(file)) };
    });
    if (id === undefined) return undefined;
    return { id, bytes, blob_bytes: await this.#blobs.size(`${folder}/${BLOBS}`), written_at };
  }

  /** The folder of a session. File systems may not tell letters apart by case or accent, and some names are not theirs to give. */
  async #folder(id: string): Promise<string> {
    const name = /^[a-z0-9_-]{1,100}$/.test(id) ? `s-${id}` : `h-${await sha256(utf8(id))}`;
    return `${this.#directory}/${name}`;
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

function findingOf({ how, part }: Damage): JournalFinding {
  return { part, code: "JOURNAL_DAMAGED", message: `the session's file \`journal\` is damaged: ${how}` };
}
