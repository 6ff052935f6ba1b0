// Conversations that outlive the process: of each the log, as every session is stored, and beside it what the client's history lacks.
//
// What begins alike for one credential is a family: one journal of records has the states of its conversations, so that a request finds
// the one that it goes on with before any log is read. Requests of a family are prepared one after the other. What is to be sent is
// stored before it is sent: whoever comes after an end of the process, or shares the store, goes on with the same prompt.
import { utf8 } from "../boundary/guard.js";
import { InTurn } from "../sessions/in-turn.js";
import { sha256 } from "../storage/checks.js";
import type { SessionStore } from "../storage/storage-types.js";
import { Conversation, logOptions } from "./conversation.js";
import type { ConversationOptions, ConversationState } from "./conversation.js";
import type { Conversations, Place } from "./conversations.js";
import type { Dialect, KeptAnswer } from "./dialect.js";
import { beginningOf } from "./sessions.js";
import { ContextWeaverError, openRecords, openSession } from "contextweaver";
import type { JournalFinding, JsonValue, StoredRecords, StoredSession } from "contextweaver";

/** What the names of sessions begin with. */
const PREFIX = "proxy/";
/** Under this name the secret is stored by which credentials are told apart. */
const SECRET = "secret";
/** How often a request is prepared anew that others write to meanwhile. */
const TRIES = 4;
/** What stands between the name of a conversation and the number of an answer. */
const OF_ANSWER = " answer ";

/** The state of a conversation as a record; answers have their own. */
interface StateRecord extends Omit<ConversationState, "kept"> {
  /** Grows with each request of the family. */
  readonly turn: number;
}

/** Conversations that begin alike. */
interface Family {
  readonly name: string;
  readonly group: string;
  readonly dialect: Dialect;
  readonly turns: InTurn;
  /** Requests that are under way. */
  waiting: number;
  /** Absent until it is read, and where it cannot be. */
  records?: StoredRecords<JsonValue>;
  /** Those in memory, by their names. */
  readonly members: Map<string, Conversation>;
}

/** Where a conversation is stored. */
interface Stored {
  readonly family: Family;
  readonly id: string;
  session?: StoredSession;
  /** The record that was written last. */
  written?: string;
}

/** How conversations are stored. */
export interface StoredOptions {
  readonly store: SessionStore;
  readonly options: ConversationOptions;
  /** Conversations of a family that stay in the store. */
  readonly max_conversations: number;
  /** Is told what could not be read or stored: the request goes on without. */
  readonly failed: (error: unknown) => void;
}

/** Reads and stores conversations of which those that are in use are in memory. */
export class StoredConversations {
  readonly #known: Conversations;
  readonly #given: StoredOptions;
  readonly #families = new Map<string, Family>();
  readonly #stored = new WeakMap<Conversation, Stored>();
  #secret: Promise<string> | undefined;

  constructor(known: Conversations, given: StoredOptions) {
    [this.#known, this.#given] = [known, given];
  }

  /** The secret by which credentials are told apart where there is no token, which all have that share the store. */
  secret(): Promise<string> {
    this.#secret ??= this.#readSecret();
    this.#secret.catch(() => (this.#secret = undefined));
    return this.#secret;
  }

  async #readSecret(): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const records = await openRecords<string>(this.#given.store.session(`${PREFIX}${SECRET}`), { salvage: true });
      const known = records.get(SECRET) ?? crypto.randomUUID();
      try {
        // Written each time, as `prune` removes what nobody writes to.
        await records.set(SECRET, known).compact();
        return known;
      } catch (error) {
        if (!isConflict(error) || attempt === TRIES) throw error;
      }
    }
  }

  /** Begins with a request of the conversation that it goes on with, and stores what that comes to. */
  async begin<T>(place: Place, begin: (conversation: Conversation) => T): Promise<T> {
    const family = await this.#familyOf(place);
    family.waiting += 1;
    try {
      return await family.turns.run(() => this.#begun(family, place, begin));
    } finally {
      family.waiting -= 1;
      this.#forget();
    }
  }

  async #begun<T>(family: Family, place: Place, begin: (conversation: Conversation) => T): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#read(family);
      const conversation = await this.#opened(family, place);
      const { busy } = conversation;
      const begun = begin(conversation);
      if (attempt === TRIES || !(await this.#isOvertaken(conversation))) return begun;
      // Somebody else wrote: what that was is read, and the request goes on behind it.
      if (conversation.busy > busy) conversation.release();
      this.#known.remove(conversation);
      for (const member of family.members.values()) if (member.busy === 0) this.#known.remove(member);
      delete family.records;
    }
  }

  async #isOvertaken(conversation: Conversation): Promise<boolean> {
    try {
      await this.#write(conversation);
      return false;
    } catch (error) {
      if (isConflict(error)) return true;
      this.#given.failed(error);
      return false;
    }
  }

  /** Stores what an answer has added. It never fails: what could not be stored is told. */
  save(conversation: Conversation): Promise<void> {
    const stored = this.#stored.get(conversation);
    if (!stored) return Promise.resolve();
    return stored.family.turns.run(async () => {
      try {
        await this.#write(conversation);
      } catch (error) {
        if (isConflict(error))
          await this.#merge(conversation, stored).catch((later: unknown) => this.#given.failed(later));
        else this.#given.failed(error);
      }
    });
  }

  /** Adds to what somebody else wrote meanwhile the answers that are known here alone. The next request reads both. */
  async #merge(conversation: Conversation, stored: Stored): Promise<void> {
    this.#known.remove(conversation);
    const { family, id } = stored;
    for (let attempt = 1; ; attempt += 1) {
      const records = await this.#readAnew(family);
      const there = records && stateIn(records, id);
      if (!records || !there) return;
      const mine = conversation.state();
      const isMine = JSON.stringify(records.get(id)) === stored.written;
      const goesOn =
        there.prints.length >= mine.prints.length && mine.prints.every((hash, at) => hash === there.prints[at]);
      if (isMine) put(records, id, mine, turnOf(records, id));
      else if (goesOn) put(records, id, { ...there, kept: joinedAnswers(there.kept, mine.kept) }, turnOf(records, id));
      else return;
      const member = family.members.get(id);
      family.members.delete(id);
      // It has the state from before.
      if (member && member !== conversation) this.#known.remove(member);
      try {
        await records.save();
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === TRIES) throw error;
      }
    }
  }

  async #familyOf({ group, dialect, asked }: Place): Promise<Family> {
    const first = asked.prints.slice(0, beginningOf(asked.asked.messages) + 1).map(({ hash }) => hash);
    const name = `${PREFIX}${await sha256(utf8(JSON.stringify([group, first])))}`;
    let family = this.#families.get(name);
    if (!family) {
      family = { name, group, dialect, turns: new InTurn(), waiting: 0, members: new Map() };
      this.#families.set(name, family);
    }
    return family;
  }

  /** Lets families go that nothing in memory is of. */
  #forget(): void {
    for (const [name, { members, waiting }] of this.#families) {
      for (const [id, member] of members) if (!this.#known.has(member)) members.delete(id);
      if (members.size === 0 && waiting === 0) this.#families.delete(name);
    }
  }

  async #readAnew(family: Family): Promise<StoredRecords<JsonValue> | undefined> {
    delete family.records;
    await this.#read(family);
    return family.records;
  }

  /** Reads the states of a family, of which those that are in memory stay as they are. */
  async #read(family: Family): Promise<void> {
    const { store, options } = this.#given;
    try {
      if (!family.records) {
        family.records = await openRecords<JsonValue>(store.session(family.name), { salvage: true });
        this.#tell(family.records.findings);
      }
    } catch (error) {
      this.#given.failed(error);
      return;
    }
    for (const id of idsIn(family.records)) {
      const member = family.members.get(id);
      if (member && this.#known.has(member)) continue;
      const state = stateIn(family.records, id);
      if (!state) continue;
      const conversation = new Conversation(family.dialect, options, state);
      this.#stored.set(conversation, { family, id, written: JSON.stringify(family.records.get(id)) });
      family.members.set(id, conversation);
      this.#known.add(conversation, family.group);
    }
  }

  /** Finds the conversation that a request goes on with, and opens its log. */
  async #opened(family: Family, place: Place): Promise<Conversation> {
    const conversation = this.#known.of(place);
    if (conversation.isOpen) return conversation;
    // It stays in memory meanwhile.
    conversation.hold();
    try {
      await this.#open(family, conversation);
    } finally {
      conversation.busy -= 1;
    }
    return conversation;
  }

  async #open(family: Family, conversation: Conversation): Promise<void> {
    const { store, options } = this.#given;
    const stored: Stored = this.#stored.get(conversation) ?? { family, id: crypto.randomUUID() };
    try {
      if (!family.records) throw new ContextWeaverError("NOT_FOUND", "the store cannot be read");
      const session = await openSession(store.session(`${family.name}/${stored.id}`), {
        ...logOptions(options),
        salvage: true,
      });
      this.#tell(session.findings);
      conversation.open(session.manager);
      this.#stored.set(conversation, Object.assign(stored, { session }));
      family.members.set(stored.id, conversation);
    } catch (error) {
      // In memory it goes on as without a store.
      this.#given.failed(error);
      this.#stored.delete(conversation);
      conversation.open();
    }
  }

  /** Stores the log, then the state. One without the other is of use, too: the client has the conversation. */
  async #write(conversation: Conversation): Promise<void> {
    const stored = this.#stored.get(conversation);
    const records = stored?.family.records;
    if (!stored?.session || !records) return;
    const known = records.get(stored.id);
    const isNew = known === undefined;
    if (!isNew && JSON.stringify(known) !== stored.written)
      throw new ContextWeaverError("CONFLICT", "somebody else wrote to the conversation");
    await stored.session.save();
    const turn =
      conversation.busy > 0
        ? 1 + Math.max(0, ...idsIn(records).map((id) => turnOf(records, id)))
        : turnOf(records, stored.id);
    put(records, stored.id, conversation.state(), turn);
    const left = isNew ? this.#leaving(stored.family, records) : [];
    for (const id of left) take(records, id);
    await records.save();
    stored.written = JSON.stringify(records.get(stored.id));
    for (const id of left) await this.#given.store.delete(`${stored.family.name}/${id}`);
  }

  /** Names the conversations of a family that are too many: those that were idle longest and wait for nothing. */
  #leaving({ members }: Family, records: StoredRecords<JsonValue>): readonly string[] {
    const idle = idsIn(records).filter((id) => (members.get(id)?.busy ?? 0) === 0);
    idle.sort((one, other) => turnOf(records, one) - turnOf(records, other));
    return idle.slice(0, Math.max(0, idsIn(records).length - this.#given.max_conversations));
  }

  #tell(findings: readonly JournalFinding[]): void {
    if (findings.length === 0) return;
    const codes = [...new Set(findings.map(({ code }) => code))].join(", ");
    this.#given.failed(
      new ContextWeaverError(
        "JOURNAL_DAMAGED",
        `${findings.length} parts of a conversation could not be read (${codes}): it goes on with the others`,
      ),
    );
  }
}

function isConflict(error: unknown): boolean {
  return ContextWeaverError.is(error) && error.code === "CONFLICT";
}

/** Names the conversations of a family. */
function idsIn(records: StoredRecords<JsonValue>): readonly string[] {
  return records.names().filter((name) => !name.includes(OF_ANSWER));
}

function answersOf(records: StoredRecords<JsonValue>, id: string): readonly string[] {
  return records.names().filter((name) => name.startsWith(`${id}${OF_ANSWER}`));
}

function turnOf(records: StoredRecords<JsonValue>, id: string): number {
  return (records.get(id) as unknown as StateRecord | undefined)?.turn ?? 0;
}

function stateIn(records: StoredRecords<JsonValue>, id: string): ConversationState | undefined {
  const known = records.get(id) as unknown as StateRecord | undefined;
  const kept = answersOf(records, id).map((name) => records.get(name) as unknown as KeptAnswer);
  return known && { ...known, kept: kept.sort((one, other) => one.at - other.at) };
}

/** Puts a state in, of which what is as it was is not written again. */
function put(records: StoredRecords<JsonValue>, id: string, { kept, ...state }: ConversationState, turn: number): void {
  const counts = new Map<number, number>();
  const answers = kept.map((answer): [string, KeptAnswer] => {
    const count = counts.get(answer.at) ?? 0;
    counts.set(answer.at, count + 1);
    return [`${id}${OF_ANSWER}${answer.at} ${count}`, answer];
  });
  const own: StateRecord = { ...plain(state), turn };
  const names = new Set(answers.map(([name]) => name));
  for (const name of answersOf(records, id)) if (!names.has(name)) records.remove(name);
  records.assign({ [id]: own, ...Object.fromEntries(answers) } as unknown as Readonly<Record<string, JsonValue>>);
}

/** A state without what the record of another one had beside it. */
function plain({
  prints,
  head,
  units,
  is_refused,
  is_cut,
  gap,
  marks,
  pending,
}: Omit<ConversationState, "kept">): Omit<ConversationState, "kept"> {
  return {
    prints,
    head,
    units,
    is_refused,
    is_cut,
    gap,
    marks,
    ...(pending && { pending }),
  };
}

function take(records: StoredRecords<JsonValue>, id: string): void {
  for (const name of answersOf(records, id)) records.remove(name);
  records.remove(id);
}

/** The answers of both, each once. */
function joinedAnswers(one: readonly KeptAnswer[], other: readonly KeptAnswer[]): readonly KeptAnswer[] {
  const known = new Set(one.map((answer) => JSON.stringify(answer)));
  return [...one, ...other.filter((answer) => !known.has(JSON.stringify(answer)))].sort(
    (first, second) => first.at - second.at,
  );
}
