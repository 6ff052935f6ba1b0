// Small records by name, kept beside sessions in the format of their journals.
import type { AbortOptions } from "../boundary/abort.js";
import { context } from "../boundary/engines.js";
import { encode, fields, text } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { InTurn } from "./in-turn.js";
import type { JournalFinding } from "../manager/journal-types.js";
import { RecordJournal } from "./record-journal.js";
import type { SessionStorage } from "../storage/storage-types.js";
import type { SavedSession } from "./stored-session.js";
import type { JsonValue } from "../types.js";

/** How records are opened. */
export interface OpenRecordsOptions {
  /** Read what can be read of damaged records; `findings` names the rest. Default: false, `JOURNAL_DAMAGED`. */
  readonly salvage?: boolean;
  /** Bytes of changes behind everything before it is written anew, at least. Default: 1 MiB. */
  readonly compact_bytes?: number;
}

/** A record as it is now, or that it is gone. */
type NamedRecord<V> = { readonly name: string; readonly value: V } | { readonly name: string; readonly gone: true };

/**
 * Opens records that are kept beside sessions: pins of a catalog, what was accepted, settings. They are JSON values by name, all of
 * them in memory; a change writes what changed.
 *
 * Errors: `JOURNAL_DAMAGED` for what cannot be read, `SNAPSHOT_VERSION`, `INVALID_INPUT` for a session's storage, and those of the
 * storage.
 *
 * ```js
 * import { Catalog, openRecords } from "contextweaver";
 * import { memoryStore } from "contextweaver/storage";
 *
 * const catalog = Catalog.fromMcp({ tools: [{ name: "pay", description: "Pays an invoice", inputSchema: { type: "object" } }] });
 * const store = memoryStore();
 * const pins = await openRecords(store.session("pins"));
 * pins.assign(catalog.pin());
 * await pins.save();
 * const again = await openRecords(store.session("pins"));
 * console.log(catalog.lint({ pinned: again.toJSON() }).length); // 0
 * ```
 */
export async function openRecords<V = JsonValue>(
  storage: SessionStorage,
  options?: OpenRecordsOptions,
): Promise<StoredRecords<V>> {
  const { salvage, compact_bytes, ...others } = fields(options) as OpenRecordsOptions;
  refuseUnknown(others, ["salvage", "compact_bytes"]);
  const place = { storage, kind: "records", engine: context };
  const { journal, records } = await RecordJournal.open<NamedRecord<V>>(place, { salvage, compact_bytes });
  return new StoredRecords(storage, journal, records);
}

/** JSON values by name, with the place where they are kept. Made by {@link openRecords}. */
export class StoredRecords<V = JsonValue> {
  /** What could not be read; empty unless `salvage`. */
  readonly findings: readonly JournalFinding[];
  readonly #storage: SessionStorage;
  readonly #journal: RecordJournal<NamedRecord<V>>;
  /** As text: nothing is shared with the caller. */
  readonly #texts = new Map<string, string>();
  readonly #changed = new Set<string>();
  readonly #turns = new InTurn();

  /** @internal */
  constructor(storage: SessionStorage, journal: RecordJournal<NamedRecord<V>>, records: readonly NamedRecord<V>[]) {
    [this.#storage, this.#journal, this.findings] = [storage, journal, journal.findings];
    for (const record of records) {
      if ("gone" in record) this.#texts.delete(record.name);
      else this.#texts.set(record.name, JSON.stringify(record.value));
    }
  }

  /** How many records there are. */
  get size(): number {
    return this.#texts.size;
  }

  /** How many parts were written in the life of the records; grows with each save that wrote. */
  get sequence(): number {
    return this.#journal.sequence;
  }

  /** The names, in the order in which they came. */
  names(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** Returns a copy of a record. */
  get(name: string): V | undefined {
    const known = this.#texts.get(name);
    return known === undefined ? undefined : (JSON.parse(known) as V);
  }

  /** Puts a record in place of the one with its name. What is no JSON is an error with the path of the field, and changes nothing. */
  set(name: string, value: V): this {
    return this.assign({ [text(name, "/name")]: value });
  }

  /** Puts records in, each in place of the one with its name, all or none. */
  assign(records: Readonly<Record<string, V>>): this {
    const texts = Object.entries(fields(records)).map(
      ([name, value]) => [name, encode(value, `/${name}`, SNAPSHOT)] as const,
    );
    for (const [name, value] of texts) {
      if (this.#texts.get(name) === value) continue;
      this.#texts.set(name, value);
      this.#changed.add(name);
    }
    return this;
  }

  /** Removes a record; tells whether it was there. */
  remove(name: string): boolean {
    if (!this.#texts.delete(name)) return false;
    this.#changed.add(name);
    return true;
  }

  /** Takes what others have not stored yet. @internal */
  withChangesOf(others: StoredRecords<V>): this {
    for (const name of others.#changed) {
      const known = others.#texts.get(name);
      if (known === undefined) this.#texts.delete(name);
      else this.#texts.set(name, known);
      this.#changed.add(name);
    }
    return this;
  }

  /** Returns all records as plain data. */
  toJSON(): Readonly<Record<string, V>> {
    return Object.fromEntries(this.names().map((name) => [name, this.get(name) as V]));
  }

  /**
   * Stores what is new, all or nothing. Resolves when it is durable; where it rejects, the next one stores the same and what came
   * after. `CONFLICT` where somebody else wrote: open the records again.
   */
  save({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(this.#journal.isWorthCompacting), signal);
  }

  /** Stores everything anew. By itself it happens when that pays. */
  compact({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(true), signal);
  }

  /** Removes all from the storage. */
  delete(): Promise<void> {
    return this.#turns.run(() => this.#storage.delete());
  }

  async #save(whole: boolean): Promise<SavedSession> {
    const names = [...this.#changed];
    if (names.length === 0 && !whole) return { sequence: this.sequence, bytes: 0 };
    const told = whole ? this.names() : names;
    const records = told.map(
      (name): NamedRecord<V> => (this.#texts.has(name) ? { name, value: this.get(name) as V } : { name, gone: true }),
    );
    // What changes meanwhile is of the next save.
    this.#changed.clear();
    try {
      const bytes = await (whole ? this.#journal.replace(records) : this.#journal.append(records));
      return { sequence: this.sequence, bytes };
    } catch (error) {
      for (const name of names) this.#changed.add(name);
      throw error;
    }
  }
}
