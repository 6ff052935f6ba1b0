// A journal of records that the engine knows nothing of, in the place where it is kept: one format with that of a session.
import type { JournalEngine } from "../boundary/engines.js";
import { encode, utf8 } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { refuseDamaged } from "../manager/journal.js";
import type { JournalFinding } from "../manager/journal-types.js";
import type { SessionStorage } from "../storage/storage-types.js";
import { Written } from "./written.js";

/** Where a journal goes on whose end is not known. */
const UNKNOWN_SUM = "0".repeat(16);

/** What keeps a journal. @internal */
export interface RecordPlace {
  readonly storage: SessionStorage;
  /** What the records are of, as the parts say. */
  readonly kind: string;
  readonly engine: JournalEngine;
}

/** How a journal of records is opened. @internal */
export interface RecordOptions {
  readonly salvage?: boolean | undefined;
  readonly compact_bytes?: number | undefined;
}

/** Records in their order. What is written goes one after the other; what was refused changed nothing. @internal */
export class RecordJournal<R extends object> {
  /** What could not be read. */
  readonly findings: readonly JournalFinding[];
  readonly #written: Written;
  readonly #place: RecordPlace;
  #cursor: string;
  #sequence: number;

  private constructor(
    place: RecordPlace,
    findings: readonly JournalFinding[],
    { cursor, sequence, written }: { readonly cursor: string; readonly sequence: number; readonly written: Written },
  ) {
    [this.#place, this.findings, this.#cursor, this.#sequence, this.#written] = [
      place,
      findings,
      cursor,
      sequence,
      written,
    ];
  }

  /** Reads all records. */
  static async open<R extends object>(
    place: RecordPlace,
    { salvage, compact_bytes }: RecordOptions = {},
  ): Promise<{ journal: RecordJournal<R>; records: readonly R[] }> {
    const { storage, kind, engine } = place;
    const { first, parts, findings: lost = [] } = await storage.load({ salvage: salvage === true });
    refuseDamaged(lost, salvage);
    const sequence = first + parts.length;
    // A line break would make two lines of what was damaged; JSON has none.
    const text = utf8(parts.map((part) => part.replaceAll("\n", " ")).join("\n"));
    const read = JSON.parse(engine.call((glue) => glue.journal_read(kind, text))) as {
      records: readonly R[];
      cursor: string;
      findings: readonly JournalFinding[];
    };
    refuseDamaged(read.findings, salvage);
    const findings = [...lost, ...read.findings];
    const isWhole = findings.length === 0;
    const cursor = isWhole && parts.length > 0 ? read.cursor : `${sequence}-${UNKNOWN_SUM}`;
    const written = new Written(parts, compact_bytes, !isWhole);
    return { journal: new RecordJournal<R>(place, findings, { cursor, sequence, written }), records: read.records };
  }

  /** How many parts were written in the life of the journal. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether to write everything anew pays. */
  get isWorthCompacting(): boolean {
    return this.#written.isWorthCompacting;
  }

  /** Adds records behind the others; resolves when they are durable, with the bytes of their parts. */
  append(records: readonly R[]): Promise<number> {
    return this.#write(records, this.#sequence === 0);
  }

  /** Puts records in the place of all. */
  replace(records: readonly R[]): Promise<number> {
    return this.#write(records, true);
  }

  async #write(records: readonly R[], whole: boolean): Promise<number> {
    const { storage, kind, engine } = this.#place;
    const list = encode(records, "", SNAPSHOT);
    const args = `{"kind":${JSON.stringify(kind)},"cursor":"${this.#cursor}","whole":${whole},"records":${list}}`;
    const [head, ...parts] = engine.call((glue) => glue.journal_write(args)).split("\n");
    const { cursor } = JSON.parse(head as string) as { readonly cursor: string };
    if (whole && this.#sequence > 0) await storage.compact(this.#sequence, parts, []);
    else await storage.append(this.#sequence, parts);
    [this.#cursor, this.#sequence] = [cursor, this.#sequence + parts.length];
    return this.#written.add(parts, whole);
  }
}
