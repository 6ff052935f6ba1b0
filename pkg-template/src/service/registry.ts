// Which sessions a store has, and whose: for how many a tenant may have, and for the end of those that nobody writes to.
import { timeless } from "../storage/store.js";
import type { SessionRecord, SessionStorage, SessionStore } from "../storage/storage-types.js";
import { Refused } from "./problems.js";

/** A session that was removed. */
export interface PrunedSession {
  readonly tenant: string;
  readonly session: string;
  /** When it was last written, in milliseconds since 1970. */
  readonly written_at: number;
}

/** What a store has of a session: its journal, and the records of the service. */
interface Held {
  readonly tenant: string;
  readonly session: string;
  journal?: SessionRecord;
  records?: SessionRecord;
}

const NAME = /^(session|service)\/(.*)$/s;

/** A pair as one text that no other pair has. */
function nameOf(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}

/** The sessions of a service in one store. */
export class Registry {
  readonly #store: SessionStore;
  /** Ids by tenant, as they were listed and as they came since. */
  readonly #ids = new Map<string, Set<string>>();
  /** Ends when the tenant's creation before has ended. */
  readonly #last = new Map<string, Promise<unknown>>();
  /** Sessions that were asked for since the listing of a removal that is under way. */
  #asked: Set<string> | undefined;
  #pruning: Promise<unknown> = Promise.resolve();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  open(tenant: string, name: string): SessionStorage {
    return this.#store.session(nameOf(tenant, name));
  }

  /** Notes that a session was asked for. */
  note(tenant: string, session: string): void {
    this.#asked?.add(nameOf(tenant, session));
  }

  /** Notes that a session was removed. */
  remove(tenant: string, session: string): void {
    this.#ids.get(tenant)?.delete(session);
  }

  /** Makes a session where the tenant may have one more. Creations of a tenant run one after the other. */
  admit<T>(tenant: string, session: string, most: number, make: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(tenant) ?? Promise.resolve()).then(async () => {
      const isFull = (known: ReadonlySet<string>): boolean => !known.has(session) && known.size >= most;
      let known = this.#ids.get(tenant) ?? (await this.#list(tenant));
      // Another process may have ended some.
      if (isFull(known)) known = await this.#list(tenant);
      if (isFull(known))
        throw new Refused(507, "QUOTA_EXCEEDED", `there are ${known.size} sessions, the limit is ${most}`, {
          hint: "DELETE sessions that are over",
        });
      const made = await make();
      known.add(session);
      return made;
    });
    const ended = turn
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        if (this.#last.get(tenant) === ended) this.#last.delete(tenant);
      });
    this.#last.set(tenant, ended);
    return turn;
  }

  /**
   * Removes sessions that nobody wrote to since a time; `inTurn` runs a removal when the requests of the session have ended. Returns
   * them, what was written longest ago first.
   */
  prune(
    last: number,
    inTurn: (tenant: string, session: string, remove: () => Promise<boolean>) => Promise<boolean>,
  ): Promise<readonly PrunedSession[]> {
    const pruned = this.#pruning.then(async () => {
      const asked = (this.#asked = new Set<string>());
      try {
        const all = await this.#held();
        const idle = all
          .map((held) => ({ ...held, written_at: writtenAt(held) }))
          .filter(({ written_at }) => written_at <= last);
        if (all.length > 0 && all.every((held) => writtenAt(held) === Infinity)) throw timeless();
        const removed: PrunedSession[] = [];
        for (const { tenant, session, journal, records, written_at } of idle.sort(
          (one, other) => one.written_at - other.written_at,
        )) {
          const remove = async (): Promise<boolean> => {
            if (asked.has(nameOf(tenant, session)) || (journal && !(await this.#store.delete(journal.id, journal))))
              return false;
            // Last, so that what was removed by half is still there to be removed.
            return records ? this.#store.delete(records.id, records) : true;
          };
          if (!(await inTurn(tenant, session, remove))) continue;
          this.remove(tenant, session);
          removed.push({ tenant, session, written_at });
        }
        return removed;
      } finally {
        this.#asked = undefined;
      }
    });
    this.#pruning = pruned.catch(() => undefined);
    return pruned;
  }

  async #list(tenant: string): Promise<Set<string>> {
    const ids = new Set(
      (await this.#held()).filter((held) => held.tenant === tenant && held.records).map(({ session }) => session),
    );
    this.#ids.set(tenant, ids);
    return ids;
  }

  async #held(): Promise<readonly Held[]> {
    const held = new Map<string, Held>();
    for (const record of await this.#store.sessions()) {
      const [tenant, kind, session] = partsOf(record.id) ?? [];
      if (tenant === undefined || kind === undefined || session === undefined) continue;
      const name = nameOf(tenant, session);
      const one: Held = held.get(name) ?? { tenant, session };
      one[kind === "session" ? "journal" : "records"] = record;
      held.set(name, one);
    }
    return [...held.values()];
  }
}

/** When something of a session was last written; never, where that is not known. */
function writtenAt({ journal, records }: Held): number {
  return Math.max(...[journal, records].flatMap((record) => (record ? [record.written_at ?? Infinity] : [])));
}

/** Whose a name is, and what it names; nothing for a memory of decisions, and for what somebody else keeps in the store. */
function partsOf(name: string): readonly [string, string, string] | undefined {
  try {
    const [tenant, what, ...more] = JSON.parse(name) as readonly unknown[];
    const [, kind, session] = NAME.exec(String(what)) ?? [];
    const isOurs =
      more.length === 0 &&
      typeof tenant === "string" &&
      kind !== undefined &&
      session !== undefined &&
      nameOf(tenant, `${kind}/${session}`) === name;
    return isOurs ? [tenant, kind, session] : undefined;
  } catch {
    return undefined;
  }
}
