// Pins of tools, and what was accepted, where they outlive the gateway. They are kept twice: what a disk or a person does to one of
// the journals must not make a tool that has changed look like one that is new. A third journal counts the states that were kept, so
// that pins whose journals are gone or end too early are missed.
import { ContextWeaverError } from "../boundary/errors.js";
import { InTurn } from "../sessions/in-turn.js";
import { isConflict, pastConflicts } from "../sessions/past-conflicts.js";
import { openRecords } from "../sessions/stored-records.js";
import type { StoredRecords } from "../sessions/stored-records.js";
import type { SessionStorage, SessionStore } from "../storage/storage-types.js";
import type { JsonValue } from "../types.js";
import type { PinState } from "./runtime-types.js";

const NAMES = ["gateway-pins", "gateway-pins-copy"] as const;
/** Where it is counted; a name of its own, as what removes pins goes by theirs. */
const COUNT = "gateway-revision";
const NOTHING: PinState = { pins: {}, accepted: {}, pins_lost: [] };

/** Codes of a journal of which nothing can be read. */
const UNREADABLE: readonly string[] = ["DECODE_FAILED", "JOURNAL_DAMAGED"];

/** One of the two. */
interface PinCopy {
  readonly storage: SessionStorage;
  /** Absent where nothing can be read: it is replaced then. */
  readonly records: StoredRecords<JsonValue> | undefined;
  readonly state: PinState;
  /** Counts the states that were kept; of a copy that was never written 0. */
  readonly revision: number;
  readonly isDamaged: boolean;
}

/** How many states were kept, as the journal beside the copies has it. */
interface PinCount extends Pick<PinCopy, "storage" | "records" | "isDamaged"> {
  readonly revision: number;
}

/** What is in a store. */
interface KeptPins {
  readonly copies: readonly PinCopy[];
  readonly count: PinCount;
}

/** The pins of a gateway. @internal */
export class PinStore {
  /** What was kept by the run before, for the servers of this one. */
  readonly state: PinState;
  /** Why pins are lost, or may be the next time; nothing where all could be read. */
  readonly damage: ContextWeaverError | undefined;
  readonly #store: SessionStore;
  readonly #servers: readonly string[];
  #copies: readonly Pick<PinCopy, "storage" | "records">[];
  #count: Pick<PinCount, "storage" | "records">;
  /** What is kept beside the state of this run: of servers that it does not have, and what other processes saw first. */
  #beside: PinState;
  readonly #turns = new InTurn();
  #revision: number;
  #kept = "";

  private constructor(store: SessionStore, servers: readonly string[], { copies, count }: KeptPins) {
    [this.#store, this.#servers, this.#copies, this.#count] = [store, servers, copies, count];
    this.#revision = latest(copies, count);
    const whole = newest(copies);
    const found = whole?.revision ?? 0;
    const isMissing = found < count.revision || (found === 0 && count.isDamaged);
    const isLost = isMissing || (found === 0 && copies.some(({ isDamaged }) => isDamaged));
    // Of what is damaged the pins that are left still hold.
    const { pins, accepted, pins_lost } = isLost
      ? copies.map(({ state }) => state).reduce(merged, NOTHING)
      : (whole?.state ?? NOTHING);
    const lost = isLost ? servers : pins_lost;
    this.state = {
      pins: of(pins, servers, true),
      accepted: of(accepted, servers, true),
      pins_lost: servers.filter((name) => lost.includes(name)),
    };
    this.#beside = {
      pins: of(pins, servers, false),
      accepted: of(accepted, servers, false),
      pins_lost: pins_lost.filter((name) => !servers.includes(name)),
    };
    this.damage = isLost ? damageOf(copies, isMissing) : count.isDamaged ? uncounted() : undefined;
  }

  /** Reads the pins for servers of these names. */
  static async open(store: SessionStore, servers: readonly string[]): Promise<PinStore> {
    return new PinStore(store, servers, await readPins(store));
  }

  /** Keeps pins, one copy after the other, beside what others keep in the store. Errors: those of the store, when all were tried. */
  keep(state: PinState): Promise<void> {
    return this.#turns.run(() => this.#keep(state));
  }

  /** Resolves when what was to be kept has been tried. */
  settled(): Promise<void> {
    return this.#turns.run(() => Promise.resolve());
  }

  async #keep(state: PinState): Promise<void> {
    const text = JSON.stringify(state);
    if (text === this.#kept) return;
    await pastConflicts(async (conflicts) => {
      if (conflicts > 0) await this.#readAgain(state);
      await this.#write(merged(state, this.#beside));
    });
    this.#kept = text;
  }

  /** Reads what another process has kept meanwhile. A tool that both know stays as this one saw it, and what was accepted there is here. */
  async #readAgain(own: PinState): Promise<void> {
    const { copies, count } = await readPins(this.#store);
    [this.#copies, this.#count] = [copies, count];
    this.#revision = Math.max(this.#revision, latest(copies, count));
    const { pins, accepted, pins_lost } = newest(copies)?.state ?? NOTHING;
    const unknown = Object.entries(pins).map(([server, tools]) => {
      const known = own.pins[server] ?? {};
      return [server, Object.fromEntries(Object.entries(tools).filter(([tool]) => !Object.hasOwn(known, tool)))];
    });
    this.#beside = {
      ...merged(this.#beside, { pins: Object.fromEntries(unknown), accepted, pins_lost: [] }),
      pins_lost: pins_lost.filter((name) => !this.#servers.includes(name)),
    };
  }

  async #write(state: PinState): Promise<void> {
    this.#revision += 1;
    const [failed, copies]: [unknown[], Pick<PinCopy, "storage" | "records">[]] = [[], []];
    for (const copy of this.#copies) {
      const write = written(copy, { ...state, revision: this.#revision } as unknown as Readonly<
        Record<string, JsonValue>
      >);
      copies.push(
        await write.catch((error: unknown) => {
          // Whoever wrote first goes on with the next one.
          if (isConflict(error)) throw error;
          failed.push(error);
          return copy;
        }),
      );
    }
    this.#copies = copies;
    // Counted once a copy has it: whoever is killed before misses nothing.
    if (failed.length < copies.length) {
      await counted(this.#count, this.#revision).then(
        (count) => (this.#count = count),
        (error: unknown) => failed.push(error),
      );
    }
    if (failed.length > 0) throw failed.find(isConflict) ?? failed[0];
  }
}

async function written(
  copy: Pick<PinCopy, "storage" | "records">,
  state: Readonly<Record<string, JsonValue>>,
): Promise<Pick<PinCopy, "storage" | "records">> {
  const records = await saved(copy, state);
  // A journal that is cut short loses its last line: it is to be one that says nothing.
  records.assign({ end: state["revision"] ?? 0 });
  await records.save();
  return { storage: copy.storage, records };
}

async function counted(
  count: Pick<PinCount, "storage" | "records">,
  revision: number,
): Promise<Pick<PinCount, "storage" | "records">> {
  return { storage: count.storage, records: await saved(count, { revision }) };
}

/** Saves records, in place of all that was there where that is damaged. */
async function saved(
  { storage, records: known }: Pick<PinCopy, "storage" | "records">,
  values: Readonly<Record<string, JsonValue>>,
): Promise<StoredRecords<JsonValue>> {
  if (!known) await storage.delete();
  const records = (known ?? (await openRecords<JsonValue>(storage))).assign(values);
  await (records.findings.length > 0 ? records.compact() : records.save());
  return records;
}

async function readPins(store: SessionStore): Promise<KeptPins> {
  // The count is written last: read before, it is never ahead of copies that another process writes meanwhile.
  const count = await countOf(store);
  return { copies: await Promise.all(NAMES.map((name) => copyOf(store, name))), count };
}

/** How often states were kept, for all that the journals say. */
function latest(copies: readonly PinCopy[], count: PinCount): number {
  return Math.max(count.revision, ...copies.map(({ revision }) => revision));
}

/** The newest copy that is whole. */
function newest(copies: readonly PinCopy[]): PinCopy | undefined {
  return copies.filter(({ isDamaged }) => !isDamaged).sort((a, b) => b.revision - a.revision)[0];
}

async function copyOf(store: SessionStore, name: string): Promise<PinCopy> {
  const { storage, records, isDamaged } = await readRecords(store, name);
  if (!records) return { storage, records, state: NOTHING, revision: 0, isDamaged };
  const {
    pins = {},
    accepted = {},
    pins_lost = [],
    revision,
  } = records.toJSON() as Partial<PinState> & { readonly revision?: number };
  const isWritten = records.size > 0;
  return {
    storage,
    records,
    state: { pins, accepted, pins_lost },
    revision: revision ?? (isWritten ? 1 : 0),
    isDamaged,
  };
}

async function countOf(store: SessionStore): Promise<PinCount> {
  const { storage, records, isDamaged } = await readRecords(store, COUNT);
  const revision = records?.get("revision");
  return { storage, records, isDamaged, revision: typeof revision === "number" ? revision : 0 };
}

/** Reads what can be read of a journal. */
async function readRecords(
  store: SessionStore,
  name: string,
): Promise<Pick<PinCopy, "storage" | "records" | "isDamaged">> {
  const storage = store.session(name);
  try {
    const records = await openRecords<JsonValue>(storage, { salvage: true });
    return { storage, records, isDamaged: records.findings.length > 0 };
  } catch (error) {
    if (!ContextWeaverError.is(error) || !UNREADABLE.includes(error.code)) throw error;
    return { storage, records: undefined, isDamaged: true };
  }
}

function damageOf(copies: readonly PinCopy[], isMissing: boolean): ContextWeaverError {
  const hint = "look at what has changed, then `contextweaver gateway accept <server>` for each server";
  const findings = copies.flatMap(({ records }) => records?.findings ?? []);
  const what = isMissing ? "pins of tools that were kept are not in the store" : "pins of tools cannot be read";
  return new ContextWeaverError(
    "JOURNAL_DAMAGED",
    `${what}: tools without a pin are in quarantine until they are accepted`,
    { hint, details: { findings: findings.length } },
  );
}

function uncounted(): ContextWeaverError {
  const message = "the count of pins of tools cannot be read and begins anew; the pins themselves could be read";
  return new ContextWeaverError("JOURNAL_DAMAGED", message, {
    hint: "if others may write to the store, compare the tools with what you know of them",
  });
}

/** Both together; of a tool that both have pinned, the pin of the second. */
function merged(a: PinState, b: PinState): PinState {
  return {
    pins: united(a.pins, b.pins, (one, other) => ({ ...one, ...other })),
    accepted: united(a.accepted, b.accepted, (one, other) => [...new Set([...one, ...other])]),
    pins_lost: [...new Set([...a.pins_lost, ...b.pins_lost])],
  };
}

function united<T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  both: (one: T, other: T) => T,
): Readonly<Record<string, T>> {
  const shared = Object.entries(b).flatMap(([name, value]) => {
    const known = Object.hasOwn(a, name) ? a[name] : undefined;
    return known === undefined ? [] : [[name, both(known, value)] as const];
  });
  return { ...a, ...b, ...Object.fromEntries(shared) };
}

/** What of a record is of these servers, or is not. */
function of<T>(
  record: Readonly<Record<string, T>>,
  servers: readonly string[],
  isOf: boolean,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => servers.includes(name) === isOf));
}
