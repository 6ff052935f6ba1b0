// Records that several processes have open at the same time.
import type { JsonValue } from "../types.js";
import type { SessionStorage } from "../storage/storage-types.js";
import { InTurn } from "./in-turn.js";
import { pastConflicts } from "./past-conflicts.js";
import { openRecords } from "./stored-records.js";
import type { StoredRecords } from "./stored-records.js";

/** Records by name. A name is written by one process: where two change it, the last one wins. @internal */
export class SharedRecords {
  readonly #storage: SessionStorage;
  readonly #turns = new InTurn();
  #records: StoredRecords<JsonValue>;

  private constructor(storage: SessionStorage, records: StoredRecords<JsonValue>) {
    [this.#storage, this.#records] = [storage, records];
  }

  /** Reads what can be read; the findings of the records name the rest. */
  static async open(storage: SessionStorage): Promise<SharedRecords> {
    return new SharedRecords(storage, await openRecords<JsonValue>(storage, { salvage: true }));
  }

  /** The records as they are now. A save may put others in their place. */
  get records(): StoredRecords<JsonValue> {
    return this.#records;
  }

  /** Stores what is new, beside what others have stored meanwhile. Errors: those of the storage; the next save tries again. */
  save(): Promise<void> {
    return this.#turns.run(() =>
      pastConflicts(async (conflicts) => {
        if (conflicts > 0) {
          const now = await openRecords<JsonValue>(this.#storage, { salvage: true });
          this.#records = now.withChangesOf(this.#records);
        }
        await this.#records.save();
      }),
    );
  }
}
