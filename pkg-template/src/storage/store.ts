// What stores of sessions have in common: the checks of what is given, and the end of sessions that nobody writes to.
import type { Bytes } from "../types.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { blobOf, hashOf, hashesOf, idOf, numberOf, partsOf, timeOf } from "./checks.js";
import type {
  PruneOptions,
  SessionRecord,
  SessionStorage,
  SessionStore,
  StoredEnd,
  StoredParts,
} from "./storage-types.js";

/** Parts that may be written, with what they take in bytes. */
export type CheckedParts = ReturnType<typeof partsOf>;

/** Where sessions are kept. What it is given was checked. */
export interface SessionEngine {
  /** Tells the time of writes, where it is asked for that. */
  readonly clock?: (() => number) | undefined;
  load(id: string, salvage: boolean): Promise<StoredParts>;
  append(id: string, first: number, added: CheckedParts): Promise<void>;
  compact(id: string, first: number, added: CheckedParts, blobs: ReadonlySet<string>): Promise<void>;
  putBlob(id: string, hash: string, bytes: Bytes): Promise<void>;
  getBlob(id: string, hash: string): Promise<Uint8Array | undefined>;
  end(id: string): Promise<StoredEnd>;
  record(id: string): Promise<SessionRecord | undefined>;
  /** In whatever order. */
  sessions(): Promise<readonly SessionRecord[]>;
  /** Removes a session, with a record only where it is as that says. Tells whether it did. */
  delete(id: string, record: SessionRecord | undefined): Promise<boolean>;
}

/** Makes a store of an engine. */
export function storeOf(engine: SessionEngine): SessionStore {
  return new CheckedStore(engine);
}

class CheckedStore implements SessionStore {
  readonly #engine: SessionEngine;

  constructor(engine: SessionEngine) {
    this.#engine = engine;
  }

  session(id: string): SessionStorage {
    const name = idOf(id);
    const engine = this.#engine;
    return {
      load: async (options) => engine.load(name, salvageOf(options)),
      append: async (first, parts) => engine.append(name, numberOf(first), partsOf(parts)),
      compact: async (first, parts, blobs) => engine.compact(name, numberOf(first), partsOf(parts), hashesOf(blobs)),
      putBlob: async (hash, bytes) => engine.putBlob(name, hashOf(hash), await blobOf(hash, bytes)),
      getBlob: async (hash) => engine.getBlob(name, hashOf(hash)),
      delete: async () => void (await engine.delete(name, undefined)),
      end: () => engine.end(name),
      record: () => engine.record(name),
    };
  }

  async sessions(): Promise<readonly SessionRecord[]> {
    return [...(await this.#engine.sessions())].sort(byId);
  }

  async delete(id: string, record?: SessionRecord): Promise<boolean> {
    return this.#engine.delete(idOf(id), record);
  }

  async prune(options: PruneOptions): Promise<readonly SessionRecord[]> {
    const { idle_ms, max_sessions, max_bytes, now } = boundsOf(options);
    const listed = await this.sessions();
    const oldest = listed.filter(isTimed).sort((one, other) => one.written_at - other.written_at || byId(one, other));
    if (listed.length > 0 && oldest.length === 0) throw timeless();
    const last = (now ?? timeOf(this.#engine.clock) ?? Date.now()) - idle_ms;
    let count = listed.length;
    let bytes = listed.reduce((sum, one) => sum + sizeOf(one), 0);
    const removed: SessionRecord[] = [];
    for (const record of oldest) {
      if (record.written_at > last && count <= max_sessions && bytes <= max_bytes) break;
      if (!(await this.delete(record.id, record))) continue;
      removed.push(record);
      count -= 1;
      bytes -= sizeOf(record);
    }
    return removed;
  }
}

/** The error about a store that cannot tell what was written longest ago. */
export function timeless(): ContextWeaverError {
  const hint = "give the store a clock, such as Date.now: it notes the time of each write from then on";
  return new ContextWeaverError("MISSING_FIELD", "no session has a time", { path: "/clock", hint });
}

/** Whether a session is as it was listed: each write changes its size, or when it was written. */
export function isAs(record: SessionRecord, now: SessionRecord): boolean {
  return record.bytes === now.bytes && record.blob_bytes === now.blob_bytes && record.written_at === now.written_at;
}

function byId(one: SessionRecord, other: SessionRecord): number {
  return one.id < other.id ? -1 : 1;
}

function isTimed(record: SessionRecord): record is SessionRecord & { readonly written_at: number } {
  return record.written_at !== undefined;
}

function sizeOf({ bytes, blob_bytes }: SessionRecord): number {
  return bytes + blob_bytes;
}

function salvageOf(options: unknown): boolean {
  const { salvage = false, ...others } = fields(options);
  refuseUnknown(others, ["salvage"]);
  if (typeof salvage === "boolean") return salvage;
  throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/salvage" });
}

function boundsOf(options: unknown): {
  idle_ms: number;
  max_sessions: number;
  max_bytes: number;
  now: number | undefined;
} {
  const { idle_ms, max_sessions, max_bytes, now, ...others } = fields(options);
  refuseUnknown(others, ["idle_ms", "max_sessions", "max_bytes", "now"]);
  if (idle_ms === undefined && max_sessions === undefined && max_bytes === undefined) {
    throw new ContextWeaverError("MISSING_FIELD", "missing field `idle_ms`", {
      path: "/idle_ms",
      hint: "idle_ms, max_sessions or max_bytes: what may stay",
    });
  }
  return {
    idle_ms: boundOf(idle_ms, "/idle_ms"),
    max_sessions: boundOf(max_sessions, "/max_sessions"),
    max_bytes: boundOf(max_bytes, "/max_bytes"),
    now: now === undefined ? undefined : boundOf(now, "/now"),
  };
}

/** A number from 0; without one there is no bound. */
function boundOf(value: unknown, path: string): number {
  if (value === undefined) return Infinity;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new ContextWeaverError("OUT_OF_RANGE", "expected a number from 0", { path });
}
