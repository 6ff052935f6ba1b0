// What only the service knows of a session, beside its journal and in the same format: records in the order in which they came.
import { openRecords } from "contextweaver";
import type { SessionStorage } from "../storage/storage-types.js";
import { KnownStorage } from "./known-storage.js";

type Opened<R> = Awaited<ReturnType<typeof openRecords<R>>>;

/** Records in their order, each whole or not there. */
export class Records<R> {
  readonly #known: KnownStorage;
  readonly #opened: Opened<R>;
  /** Names are numbers. */
  #next: number;

  private constructor(known: KnownStorage, opened: Opened<R>) {
    [this.#known, this.#opened] = [known, opened];
    this.#next = Math.max(-1, ...opened.names().map(Number)) + 1;
  }

  static async open<R>(storage: SessionStorage, salvage = false): Promise<Records<R>> {
    const known = new KnownStorage(storage);
    return new Records(known, await openRecords<R>(known.storage, { salvage }));
  }

  /** How many there are. */
  get size(): number {
    return this.#opened.size;
  }

  /** Whether nobody else wrote since. */
  isCurrent(): Promise<boolean> {
    return this.#known.isCurrent();
  }

  all(): readonly R[] {
    return this.#opened.names().map((name) => this.#opened.get(name) as R);
  }

  async append(record: R): Promise<void> {
    const name = String(this.#next);
    this.#next += 1;
    try {
      await this.#opened.set(name, record).save();
    } catch (error) {
      // Who was told of a failure did not say it.
      this.#opened.remove(name);
      throw error;
    }
  }

  /** Puts records in the place of all. */
  async replace(records: readonly R[]): Promise<void> {
    for (const name of this.#opened.names()) this.#opened.remove(name);
    for (const record of records) {
      this.#opened.set(String(this.#next), record);
      this.#next += 1;
    }
    await this.#opened.compact();
  }

  delete(): Promise<void> {
    return this.#known.storage.delete();
  }
}
