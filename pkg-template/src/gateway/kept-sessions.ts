// Sessions of Streamable HTTP that outlive the process, such as a Durable Object that was put to sleep: what a client began its session
// with is kept, so that the session can begin again under its id when the client goes on. Most clients do not begin anew by themselves.
import type { SharedRecords } from "../sessions/shared-records.js";
import type { JsonValue } from "../types.js";
import type { Fields } from "./server-sdk.js";

/** Characters of the JSON of an `initialize` that is kept; a client with more begins anew. */
const MAX_CHARS = 16 * 1024;
/** A session ends with its last request, which is not stored: what is kept is good for so many idle times. */
const LIVES = 48;

/** How a session began. */
export interface KeptSession {
  readonly caller: string;
  /** The request `initialize`. */
  readonly initialize: Fields;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** The sessions that are kept; without records, none. */
export class KeptSessions {
  readonly #kept: SharedRecords | undefined;
  readonly #most: number;
  readonly #life: number;
  readonly #onError: (error: unknown) => void;

  constructor(
    kept: SharedRecords | undefined,
    limits: { readonly most: number; readonly idle_ms: number },
    onError: (error: unknown) => void,
  ) {
    [this.#kept, this.#most, this.#life, this.#onError] = [kept, limits.most, limits.idle_ms * LIVES, onError];
  }

  /** Keeps how a session began. Resolves when it is durable, or known that it is not. */
  async keep(id: string, caller: string, initialize: Fields): Promise<void> {
    const records = this.#kept?.records;
    if (!records || JSON.stringify(initialize).length > MAX_CHARS) return;
    records.set(id, { caller, initialize: initialize as { readonly [name: string]: JsonValue }, since: Date.now() });
    for (const oldest of records.names().slice(0, Math.max(0, records.size - this.#most))) records.remove(oldest);
    await this.#save();
  }

  /** How a session of a caller began; nothing for those that are not known, or too old. */
  find(id: string, caller: string): KeptSession | undefined {
    const kept = this.#kept?.records.get(id) as unknown as KeptSession | undefined;
    return kept?.caller === caller && Date.now() - kept.since <= this.#life ? kept : undefined;
  }

  /** Forgets a session that its client has ended. */
  async forget(id: string): Promise<void> {
    if (this.#kept?.records.remove(id) === true) await this.#save();
  }

  async #save(): Promise<void> {
    try {
      await this.#kept?.save();
    } catch (error) {
      this.#onError(error);
    }
  }
}
