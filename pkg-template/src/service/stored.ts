// A session between requests: the manager with its journal, and beside it what the service itself must remember.
//
// How a request with a key was answered stands in the records before what it changed stands in the journal, and names the part
// that is to come by its sum. Whether the change was stored is then told by the part with that number, whoever else wrote, and
// whatever process ended in between: parts have the same sum only where all before them is the same, too. Until a part has that
// number the question is open, as the process that asked may be slow. Whoever opens a session reads the journal before the last
// of the records, and notes what was stored: the part may be gone with the next compaction.
import { Catalog, ContextManager, ContextWeaverError, Router, openSession } from "contextweaver";
import type { CatalogJson, ContextManagerOptions, SavedSession } from "contextweaver";
import { sumOf } from "../storage/checks.js";
import type { SessionStorage, StoredParts } from "../storage/storage-types.js";
import { isConflict, repeated } from "./conflicts.js";
import { KnownStorage } from "./known-storage.js";
import type { StorageWatch } from "./known-storage.js";
import type { SessionOptions } from "./operations.js";
import type { Kept } from "./pool.js";
import { Refused } from "./problems.js";
import { Records } from "./records.js";

type Opened = Awaited<ReturnType<typeof openSession>>;

/** Keys of requests that a session remembers with their answers, the newest. */
export const KEYS = 256;
/** UTF-16 units of an answer that is kept. */
const MAX_ANSWER = 512 * 1024;
/** Records from which on they are written anew. */
const MAX_RECORDS = 2_048;
/** Bytes that an item takes in memory beside its artifact, about. */
const ITEM_BYTES = 2_048;

/** How a request was answered. */
export interface Answered {
  readonly status: number;
  readonly body: object;
}

/** A key with the request that it was used for. */
export interface RequestKey {
  readonly key: string;
  /** SHA-256 of method, path and body. */
  readonly hash: string;
}

interface Done extends RequestKey, Answered {
  /** The sequence after. */
  readonly after: number;
}

/** An answer whose change may have been stored, or not. */
interface Pending extends Done {
  /** The number of the first part of the change, and its sum. */
  readonly before: number;
  readonly sum: string;
}

/** What earlier versions wrote: the change was stored if the sequence is greater than before. */
interface Undecided extends RequestKey, Answered {
  readonly before: number;
}

type ServiceRecord =
  | { readonly kind: "created"; readonly options: SessionOptions; readonly key?: RequestKey }
  | { readonly kind: "catalog"; readonly catalog: CatalogJson; readonly done?: Done }
  | ({ readonly kind: "done" } & (Done | Undecided))
  | ({ readonly kind: "pending" } & Pending)
  /** The change was stored, or was not; without a sum it is of an earlier version. */
  | { readonly kind: "settled"; readonly key: string; readonly after: number; readonly sum?: string }
  | { readonly kind: "void"; readonly key: string; readonly sum?: string };

/** Where a session is kept: its journal, and the records of the service. */
export interface Places {
  readonly journal: SessionStorage;
  readonly records: SessionStorage;
}

/** How every session is opened. */
export interface Opening {
  /** Options that sessions do not set themselves. */
  readonly manager: ContextManagerOptions;
  readonly salvage: boolean;
}

/** Where a session is written. */
interface Written {
  readonly stored: Opened;
  readonly journal: KnownStorage;
  /** Hears of what is written to the journal. */
  readonly watch: StorageWatch;
  readonly records: Records<ServiceRecord>;
}

/** A session that is kept in memory. */
export class Session implements Kept {
  readonly stored: Opened;
  readonly options: SessionOptions;
  /** By which request it was made. */
  readonly made: RequestKey | undefined;
  readonly #journal: KnownStorage;
  readonly #watch: StorageWatch;
  readonly #records: Records<ServiceRecord>;
  readonly #done: Map<string, Done>;
  /** Answers whose changes may yet be stored, by this process or by another. */
  #pending: readonly Pending[] = [];
  readonly #embed: ContextManagerOptions["embed"];
  #catalog: Catalog | undefined;
  #router: Router | undefined;
  /** A key whose sequence is being written. */
  #settling: Promise<void> = Promise.resolve();

  private constructor({ stored, journal, watch, records }: Written, state: State, { manager }: Opening) {
    [this.stored, this.#journal, this.#watch, this.#records] = [stored, journal, watch, records];
    [this.options, this.made, this.#done] = [state.created.options, state.created.key, state.done];
    this.#embed = manager.embed;
    this.#catalog = state.catalog && Catalog.fromJSON(state.catalog);
  }

  /** Makes a session; nothing where there is one, which another process may have made meanwhile. */
  static async create(
    places: Places,
    options: SessionOptions,
    key: RequestKey | undefined,
    opening: Opening,
  ): Promise<Session | undefined> {
    const all = { ...(options as ContextManagerOptions), ...opening.manager };
    refuseOptions(all);
    const records = await Records.open<ServiceRecord>(places.records);
    if (records.size > 0) return undefined;
    const watch: StorageWatch = {};
    const journal = new KnownStorage(places.journal, watch);
    const stored = await openSession(journal.storage, all);
    try {
      const created = { kind: "created" as const, options, ...(key && { key }) };
      await records.append(created);
      const state = { created, done: new Map(), pending: [], undecided: new Map(), catalog: undefined };
      return new Session({ stored, journal, watch, records }, state, opening);
    } catch (error) {
      stored.free();
      if (isConflict(error)) return undefined;
      throw error;
    }
  }

  /** Opens a session; anew where others write to it meanwhile. */
  static async open(places: Places, opening: Opening): Promise<Session> {
    return repeated(() => Session.#opened(places, opening));
  }

  static async #opened(places: Places, opening: Opening): Promise<Session> {
    const records = await Records.open<ServiceRecord>(places.records, opening.salvage);
    const state = stateOf(records.all());
    if (!state) throw new Refused(404, "NOT_FOUND", "there is no such session", { path: "/session" });
    let read: StoredParts = { first: 0, parts: [] };
    const watch: StorageWatch = {
      read: (now) => {
        read = now;
      },
    };
    const journal = new KnownStorage(places.journal, watch);
    const stored = await openSession(journal.storage, {
      ...(state.created.options as ContextManagerOptions),
      ...opening.manager,
      salvage: opening.salvage,
    });
    let session: Session | undefined;
    try {
      // Of a part that was read just now the key stands in the records, but maybe not yet in those that were read before.
      if (!(await records.isCurrent())) throw new ContextWeaverError("CONFLICT", "others write to the session");
      session = new Session({ stored, journal, watch, records }, state, opening);
      await session.#decide(state, read);
      // What was read is large.
      watch.read = undefined;
      return session;
    } catch (error) {
      (session ?? stored).free();
      throw error;
    }
  }

  /** Whether nobody else wrote to the session, or removed it, since this process did. */
  async isCurrent(): Promise<boolean> {
    const isSettled = await this.#settling.then(
      () => true,
      () => false,
    );
    return isSettled && (await this.#journal.isCurrent()) && this.#records.isCurrent();
  }

  get weight(): number {
    const { artifact_bytes, items } = this.stored.manager.stats();
    return artifact_bytes + items * ITEM_BYTES;
  }

  get router(): Router {
    if (!this.#catalog)
      throw new Refused(404, "NOT_FOUND", "the session has no catalog", { hint: "PUT /v1/sessions/{session}/catalog" });
    this.#router ??= new Router(this.#catalog, this.#embed && { embed: this.#embed });
    return this.#router;
  }

  /** The answer that a key was given; another request with it is refused. */
  answered({ key, hash }: RequestKey): Answered | undefined {
    const done = this.#done.get(key);
    if (!done) return undefined;
    if (done.hash !== hash)
      throw new Refused(422, "INVALID_INPUT", "the key was used for another request", {
        path: "Idempotency-Key",
        hint: "a new key for each request; the same for its repetitions",
      });
    return { status: done.status, body: { sequence: done.after, ...done.body } };
  }

  /** Stores what was changed, and before it how the request was answered; the answer gets the sequence. */
  async save(
    key: RequestKey | undefined,
    { status, body }: Answered,
    write: () => Promise<SavedSession> = () => this.stored.save(),
  ): Promise<Answered> {
    await this.#settling;
    const done = key && checkedAnswer({ ...key, status, body, after: this.stored.sequence });
    const { sequence, pending } = await this.#written(done, write);
    if (pending) {
      const { sum, after } = pending;
      this.#keep(pending);
      // Before the next change it is there; if the process ends now, the journal tells the same.
      this.#settling = this.#records.append({ kind: "settled", key: pending.key, after, sum });
      this.#settling.catch(() => undefined);
    } else if (done) {
      // Nothing was to be stored but the answer.
      await this.#remember({ kind: "done", ...done });
      this.#keep(done);
    }
    return { status, body: { sequence, ...body } };
  }

  /** Writes to the journal; before it, where it writes, the answer that goes with that. */
  async #written(
    done: Done | undefined,
    write: () => Promise<SavedSession>,
  ): Promise<{ readonly sequence: number; readonly pending: Pending | undefined }> {
    const announced: Pending[] = [];
    this.#watch.write =
      done &&
      (async (before, parts) => {
        const pending = { ...done, before, after: before + parts.length, sum: sumOf(parts[0]) ?? "" };
        this.#pending = [...this.#pending, pending];
        await this.#remember({ kind: "pending", ...pending });
        announced.push(pending);
      });
    try {
      const { sequence } = await write();
      return { sequence, pending: announced[0] };
    } catch (error) {
      // Another process may have written the same part to the letter, so the key is given up here. If this fails, the sum decides.
      for (const { key, sum } of isConflict(error) ? announced : [])
        await this.#records.append({ kind: "void", key, sum }).catch(() => undefined);
      throw error;
    } finally {
      this.#watch.write = undefined;
    }
  }

  /** Stores a catalog together with how the request was answered. */
  async setCatalog(catalog: Catalog, key: RequestKey | undefined, { status, body }: Answered): Promise<Answered> {
    await this.#settling;
    const { sequence } = this.stored;
    const done = key && checkedAnswer({ ...key, status, body, after: sequence });
    await this.#records.append({ kind: "catalog", catalog: catalog.toJSON(), ...(done && { done }) });
    if (done) this.#keep(done);
    this.#router?.free();
    this.#catalog?.free();
    [this.#catalog, this.#router] = [catalog, undefined];
    if (this.#records.size > MAX_RECORDS) await this.#fold();
    return { status, body: { sequence, ...body } };
  }

  /** Removes what an item says, and before it the parts of results in answers to keys: these are read anew. */
  async forget(item_id: string, key: RequestKey | undefined): Promise<Answered> {
    this.stored.manager.forget(item_id);
    await this.#settling;
    for (const done of [...this.#done.values()].filter(hasSlice)) this.#done.delete(done.key);
    this.#pending = this.#pending.filter((pending) => !hasSlice(pending));
    // Always: older answers are in the store alone.
    await this.#fold();
    return this.save(key, { status: 200, body: {} }, () => this.stored.compact());
  }

  /** Removes all, the records last: what was removed by half is still there to be removed. */
  async delete(): Promise<void> {
    await this.#settling.catch(() => undefined);
    await this.stored.delete();
    await this.#records.delete();
  }

  free(): void {
    this.stored.free();
    this.#router?.free();
    this.#catalog?.free();
  }

  async #remember(record: ServiceRecord): Promise<void> {
    await this.#records.append(record);
    if (this.#records.size > MAX_RECORDS) await this.#fold();
  }

  #keep(done: Done): void {
    keep(this.#done, done);
  }

  /** Tells of which answers the changes were stored, and notes it. */
  async #decide({ pending, undecided }: State, { first, parts }: StoredParts): Promise<void> {
    const { sequence } = this.stored;
    this.#pending = pending.filter(({ before }) => before >= sequence);
    const decided = new Set<string>();
    for (const done of pending) {
      const { key, before, after, sum } = done;
      // A part is the change of one request.
      if (decided.has(sum) || sumOf(parts[before - first]) !== sum) continue;
      decided.add(sum);
      await this.#records.append({ kind: "settled", key, after, sum });
      this.#keep(done);
    }
    for (const { before, ...answer } of undecided.values()) {
      const isStored = sequence > before;
      const { key } = answer;
      await this.#records.append(isStored ? { kind: "settled", key, after: sequence } : { kind: "void", key });
      if (isStored) this.#keep({ ...answer, after: sequence });
    }
  }

  /** Writes the records anew, without what counts no more. */
  async #fold(): Promise<void> {
    const catalog = this.#catalog?.toJSON();
    this.#pending = this.#pending.filter(({ before }) => before >= this.stored.sequence);
    await this.#records.replace([
      { kind: "created", options: this.options, ...(this.made && { key: this.made }) },
      ...(catalog ? [{ kind: "catalog" as const, catalog }] : []),
      ...[...this.#done.values()].map((done) => ({ kind: "done" as const, ...done })),
      ...this.#pending.map((pending) => ({ kind: "pending" as const, ...pending })),
    ]);
  }
}

/** Refuses to keep an answer that is too large. */
function checkedAnswer(done: Done): Done {
  if (JSON.stringify(done.body).length <= MAX_ANSWER) return done;
  throw new Refused(413, "TOO_LARGE", "the answer is too large to be kept for the key", {
    path: "Idempotency-Key",
    hint: "fewer results in one request",
  });
}

/** Remembers an answer, as one of the newest. */
function keep(all: Map<string, Done>, { key, hash, status, body, after }: Done): void {
  all.delete(key);
  all.set(key, { key, hash, status, body, after });
  for (const old of [...all.keys()].slice(0, -KEYS)) all.delete(old);
}

/** Whether an answer has a part of a result. */
function hasSlice({ body }: Answered): boolean {
  return "slice" in body;
}

/** Refuses what are no options of a manager, which stand below `/options`. */
function refuseOptions(options: ContextManagerOptions): void {
  try {
    new ContextManager(options).free();
  } catch (error) {
    if (!ContextWeaverError.is(error) || error.path === undefined) throw error;
    const { code, message, path, hint } = error;
    throw new ContextWeaverError(code, message, { path: `/options${path}`, hint });
  }
}

interface State {
  readonly created: Extract<ServiceRecord, { kind: "created" }>;
  readonly done: Map<string, Done>;
  pending: Pending[];
  readonly undecided: Map<string, Undecided>;
  catalog: CatalogJson | undefined;
}

function stateOf(records: readonly ServiceRecord[]): State | undefined {
  let state: State | undefined;
  for (const record of records) {
    if (record.kind === "created")
      state = { created: record, done: new Map(), pending: [], undecided: new Map(), catalog: undefined };
    if (state) note(state, record);
  }
  return state;
}

function note(state: State, record: ServiceRecord): void {
  const { done, pending, undecided } = state;
  if (record.kind === "catalog") {
    state.catalog = record.catalog;
    if (record.done) keep(done, record.done);
  } else if (record.kind === "done") {
    const { kind: _, ...answer } = record;
    if ("after" in answer) keep(done, answer);
    else undecided.set(answer.key, answer);
  } else if (record.kind === "pending") {
    const { kind: _, ...answer } = record;
    pending.push(answer);
  } else if (record.kind === "settled" || record.kind === "void") {
    const { key, sum } = record;
    const found = sum === undefined ? undecided.get(key) : pending.find((one) => one.key === key && one.sum === sum);
    if (found && record.kind === "settled") keep(done, { ...found, after: record.after });
    if (sum === undefined) undecided.delete(key);
    // A part is the change of one request.
    else state.pending = pending.filter((one) => one.sum !== sum || (record.kind === "void" && one.key !== key));
  }
}
