// A journal of records beside that of the session: what only the service knows, in parts that every storage takes.
import type { SessionStorage } from "../storage/storage-types.js";

/** UTF-16 units of a piece: written as JSON each takes six bytes at most, and a part holds a MiB. */
const PIECE = 160 * 1024;

/** Records in their order, each whole or not there. */
export class Records<R> {
  readonly #storage: SessionStorage;
  #next = 0;
  /** Parts since the last compaction. */
  #parts = 0;

  constructor(storage: SessionStorage) {
    this.#storage = storage;
  }

  get parts(): number {
    return this.#parts;
  }

  /** Reads all; a piece without its end was written by nobody who was told of success. */
  async load(): Promise<readonly R[]> {
    const { first, parts } = await this.#storage.load();
    [this.#next, this.#parts] = [first + parts.length, parts.length];
    const records: R[] = [];
    let text = "";
    for (const part of parts) {
      const [piece, more] = JSON.parse(part) as [string, number];
      text += piece;
      if (more > 0) continue;
      records.push(JSON.parse(text) as R);
      text = "";
    }
    return records;
  }

  async append(record: R): Promise<void> {
    const parts = partsOf(record);
    await this.#storage.append(this.#next, parts);
    this.#next += parts.length;
    this.#parts += parts.length;
  }

  /** Puts records in the place of all. */
  async replace(records: readonly R[]): Promise<void> {
    const parts = records.flatMap(partsOf);
    await this.#storage.compact(this.#next, parts, []);
    this.#next += parts.length;
    this.#parts = parts.length;
  }

  delete(): Promise<void> {
    return this.#storage.delete();
  }
}

function partsOf(record: unknown): string[] {
  const text = JSON.stringify(record);
  const count = Math.max(1, Math.ceil(text.length / PIECE));
  return Array.from({ length: count }, (_, at) => JSON.stringify([text.slice(at * PIECE, (at + 1) * PIECE), count - 1 - at]));
}
