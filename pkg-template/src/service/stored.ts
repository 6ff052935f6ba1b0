// A session between requests: the manager with its journal, and beside it what the service itself must remember.
import { Catalog, ContextManager, Router, openSession } from "contextweaver";
import type { CatalogJson, ContextManagerOptions, SavedSession } from "contextweaver";
import type { SessionStorage } from "../storage/storage-types.js";
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
  /** The sequence before: the change was stored if the session's is greater. */
  readonly before: number;
  /** The sequence after, once it is known. */
  after?: number;
}

type ServiceRecord =
  | { readonly kind: "created"; readonly options: SessionOptions; readonly key?: RequestKey }
  | { readonly kind: "catalog"; readonly catalog: CatalogJson; readonly done?: Done }
  | ({ readonly kind: "done" } & Done)
  | { readonly kind: "settled"; readonly key: string; readonly after: number }
  | { readonly kind: "void"; readonly key: string };

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

/** A session that is kept in memory. */
export class Session implements Kept {
  readonly stored: Opened;
  readonly options: SessionOptions;
  /** By which request it was made. */
  readonly made: RequestKey | undefined;
  readonly #records: Records<ServiceRecord>;
  readonly #done: Map<string, Done>;
  readonly #embed: ContextManagerOptions["embed"];
  #catalog: Catalog | undefined;
  #router: Router | undefined;
  /** A key whose sequence is being written. */
  #settling: Promise<void> = Promise.resolve();

  private constructor(stored: Opened, records: Records<ServiceRecord>, state: State, { manager }: Opening) {
    [this.stored, this.#records, this.#done] = [stored, records, state.done];
    [this.options, this.made] = [state.created.options, state.created.key];
    this.#embed = manager.embed;
    this.#catalog = state.catalog && Catalog.fromJSON(state.catalog);
  }

  /** Makes a session; nothing where there is one. */
  static async create(
    places: Places,
    options: SessionOptions,
    key: RequestKey | undefined,
    opening: Opening,
  ): Promise<Session | undefined> {
    const all = { ...(options as ContextManagerOptions), ...opening.manager };
    // What is no option of a manager is refused here.
    new ContextManager(all).free();
    const records = await Records.open<ServiceRecord>(places.records);
    if (records.size > 0) return undefined;
    const stored = await openSession(places.journal, all);
    try {
      const created = { kind: "created" as const, options, ...(key && { key }) };
      await records.append(created);
      return new Session(stored, records, { created, done: new Map(), catalog: undefined }, opening);
    } catch (error) {
      stored.free();
      throw error;
    }
  }

  static async open(places: Places, opening: Opening): Promise<Session> {
    const records = await Records.open<ServiceRecord>(places.records, opening.salvage);
    const state = stateOf(records.all());
    if (!state) throw new Refused(404, "NOT_FOUND", "there is no such session", { path: "/session" });
    const stored = await openSession(places.journal, {
      ...(state.created.options as ContextManagerOptions),
      ...opening.manager,
      salvage: opening.salvage,
    });
    try {
      const session = new Session(stored, records, state, opening);
      await session.#settleLast();
      return session;
    } catch (error) {
      stored.free();
      throw error;
    }
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
    return { status: done.status, body: { sequence: done.after ?? this.stored.sequence, ...done.body } };
  }

  /** Stores what was changed, and before it how the request was answered; the answer gets the sequence. */
  async save(
    key: RequestKey | undefined,
    { status, body }: Answered,
    write: () => Promise<SavedSession> = () => this.stored.save(),
  ): Promise<Answered> {
    await this.#settling;
    const before = this.stored.sequence;
    if (key) await this.#remember({ ...key, status, body, before });
    const { sequence } = await write();
    if (key) {
      this.#done.get(key.key)!.after = sequence;
      // Before the next change it is there; if the process ends now, the sequence of the journal tells the same.
      this.#settling = this.#records.append({ kind: "settled", key: key.key, after: sequence });
      this.#settling.catch(() => undefined);
    }
    return { status, body: { sequence, ...body } };
  }

  /** Stores a catalog together with how the request was answered. */
  async setCatalog(catalog: Catalog, key: RequestKey | undefined, { status, body }: Answered): Promise<Answered> {
    await this.#settling;
    const { sequence } = this.stored;
    const done = key && checkedAnswer({ ...key, status, body, before: sequence, after: sequence });
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
    const parts = [...this.#done.values()].filter(({ body }) => "slice" in body);
    for (const done of parts) this.#done.delete(done.key);
    if (parts.length > 0) await this.#fold();
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

  async #remember(done: Done): Promise<void> {
    await this.#records.append({ kind: "done", ...checkedAnswer(done) });
    this.#keep(done);
    if (this.#records.size > MAX_RECORDS) await this.#fold();
  }

  #keep(done: Done): void {
    this.#done.set(done.key, done);
    for (const key of [...this.#done.keys()].slice(0, -KEYS)) this.#done.delete(key);
  }

  /** After a restart: whether the change of the last key was stored is told by the sequence. */
  async #settleLast(): Promise<void> {
    const last = [...this.#done.values()].at(-1);
    if (!last || last.after !== undefined) return;
    const after = this.stored.sequence;
    if (after > last.before) {
      await this.#records.append({ kind: "settled", key: last.key, after });
      last.after = after;
    } else {
      await this.#records.append({ kind: "void", key: last.key });
      this.#done.delete(last.key);
    }
  }

  /** Writes the records anew, without what counts no more. */
  async #fold(): Promise<void> {
    const catalog = this.#catalog?.toJSON();
    await this.#records.replace([
      { kind: "created", options: this.options, ...(this.made && { key: this.made }) },
      ...(catalog ? [{ kind: "catalog" as const, catalog }] : []),
      ...[...this.#done.values()].map((done) => ({ kind: "done" as const, ...done })),
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

interface State {
  readonly created: Extract<ServiceRecord, { kind: "created" }>;
  readonly done: Map<string, Done>;
  catalog: CatalogJson | undefined;
}

function stateOf(records: readonly ServiceRecord[]): State | undefined {
  let state: State | undefined;
  for (const record of records) {
    if (record.kind === "created") state = { created: record, done: new Map(), catalog: undefined };
    if (!state) continue;
    if (record.kind === "catalog") {
      state.catalog = record.catalog;
      if (record.done) state.done.set(record.done.key, record.done);
    }
    if (record.kind === "void") state.done.delete(record.key);
    if (record.kind === "settled") {
      const done = state.done.get(record.key);
      if (done) done.after = record.after;
    }
    if (record.kind === "done") {
      const { kind: _, ...done } = record;
      state.done.delete(done.key);
      state.done.set(done.key, done);
    }
  }
  for (const key of [...(state?.done.keys() ?? [])].slice(0, -KEYS)) state?.done.delete(key);
  return state;
}
