// What a client of the gateway was given: kept whole in a manager, read on in by handle, and stored where there is a store.
import { DEFAULT_ROOM, atMost, found, readOnAsync } from "../adapters/read-on.js";
import type { DrilldownInput } from "../adapters/read-on.js";
import { encodeBase64 } from "../boundary/base64.js";
import { ContextManager } from "../manager/context-manager.js";
import { ResultDigests } from "../mcp/mcp-digest.js";
import type { AnsweredCall, DigestedResult } from "../mcp/mcp-digest.js";
import type { ContextManagerOptions, Masking } from "../manager/options.js";
import type { RecallAnswer } from "../types.js";
import type { OwnedHandle, StoredSearch } from "./runtime-types.js";
import { openSession } from "../sessions/stored-session.js";
import type { StoredSession } from "../sessions/stored-session.js";
import type { SessionStorage, SessionStore } from "../storage/storage-types.js";

type Fields = Readonly<Record<string, unknown>>;

/** Results after which a session goes on with an empty manager; the one before stays until that is full, too. */
const MAX_RESULTS = 4_000;
/**
 * The same where nobody was told a handle: a client that calls for days would keep some 5 KB of memory for each small result that it
 * got whole.
 */
const MAX_WHOLE = 64;
/** Characters of a token, at least, of texts that are expected to pass whole. */
const CHARS_PER_TOKEN = 4;
/** Sessions that were read from the store for a handle of theirs, and stay open. */
const MAX_REOPENED = 32;
/** Characters of the name that begins handles: 50 bits, which nobody guesses. */
const NAME_CHARS = 10;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** A handle names its session: `artifact:result:<name>-7`, `mcp:<tool>:<name>-7:image:1`. */
const NAMES = /(?:^|:)([a-z2-7]{10})-\d+(?=:|$)/g;
/** Media types that a drilldown reads. */
const IS_TEXT = /^text\/|json|xml|yaml|javascript|csv/;

/** How sessions are kept. @internal */
export interface SessionsOptions {
  /** Where results outlive the process. Default: nowhere. */
  readonly store?: SessionStore | undefined;
  /** Most tokens of a result that a client gets. */
  readonly result_tokens: number;
  /** Of the managers: masking, limits, how results stand in prompts of their own. */
  readonly manager?: ContextManagerOptions | undefined;
  /** How results of servers are masked that say so themselves. */
  readonly maskings?: ReadonlyMap<string, Masking> | undefined;
  /** The name of the tool that reads on. */
  readonly drilldown: string;
  /** The name of the tool that finds again. */
  readonly recall: string;
  /** Hears what cannot be stored. */
  readonly onError: (error: unknown) => void;
}

/** A manager with a name, which its handles begin with. */
interface Shelf {
  readonly name: string;
  readonly manager: ContextManager;
  readonly digests: ResultDigests;
  readonly stored: StoredSession | undefined;
  results: number;
  /** Whether the client was told a handle in it. */
  isTold: boolean;
}

/** The manager that is written to, and those before it, newest first. */
interface Lane {
  shelves: readonly Shelf[];
  opening?: Promise<Shelf> | undefined;
}

/** Where results are kept that are masked alike. */
interface Lanes {
  readonly masking: Masking | undefined;
  readonly large: Lane;
  /** What will pass whole, for all that is known before it is read. */
  readonly small: Lane;
}

/** The sessions of a gateway. Who has a handle reads on in it, if it is of the same caller. @internal */
export class GatewaySessions {
  readonly #options: SessionsOptions;
  readonly #open = new Set<GatewaySession>();
  /** Of sessions that ended, by caller and name; the least recently used first. */
  readonly #reopened = new Map<string, Shelf>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  open(caller: string): GatewaySession {
    const session = new GatewaySession(caller, this);
    this.#open.add(session);
    return session;
  }

  /** Stores what is new, and gives the memory back. */
  async end(session: GatewaySession): Promise<void> {
    if (this.#open.delete(session)) await session.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((session) => this.end(session)));
    for (const shelf of this.#reopened.values()) shelf.manager.free();
    this.#reopened.clear();
  }

  /** Stores what is new of a place, and gives its memory back also where that fails. */
  async release({ manager, stored }: Shelf): Promise<void> {
    await stored?.save().catch(this.onError);
    manager.free();
  }

  /** Makes the place for the next results of a caller. */
  async begin(caller: string, masking: Masking | undefined): Promise<Shelf> {
    const { store } = this.#options;
    const name = randomName();
    const options = this.#managerOptions(masking);
    if (!store) return this.#shelf(name, new ContextManager(options), undefined);
    const stored = await openSession(store.session(storedName(caller, name)), options);
    return this.#shelf(name, stored.manager, stored);
  }

  /** The place that a handle of the caller names, in memory or stored. */
  async find(caller: string, handle: string): Promise<Shelf | undefined> {
    for (const [, name] of handle.matchAll(NAMES)) {
      const shelf = name === undefined ? undefined : await this.#named(caller, name);
      if (shelf) return shelf;
    }
    return undefined;
  }

  async #named(caller: string, name: string): Promise<Shelf | undefined> {
    for (const session of this.#open) {
      if (session.caller !== caller) continue;
      const shelf = session.shelf(name);
      if (shelf) return shelf;
    }
    const key = storedName(caller, name);
    const kept = this.#reopened.get(key);
    if (kept) {
      this.#reopened.delete(key);
      this.#reopened.set(key, kept);
      return kept;
    }
    const storage = this.#options.store?.session(key);
    if (!storage || (await storage.load({ salvage: true })).parts.length === 0) return undefined;
    const stored = await this.#reopen(storage);
    const shelf = this.#shelf(name, stored.manager, stored);
    this.#reopened.set(key, shelf);
    for (const [oldest, { manager }] of this.#reopened) {
      if (this.#reopened.size <= MAX_REOPENED) break;
      this.#reopened.delete(oldest);
      manager.free();
    }
    return shelf;
  }

  /** Opens what was stored, masked as its server says now; where it has results of servers that differ in that, as by itself. */
  async #reopen(storage: SessionStorage): Promise<StoredSession> {
    const stored = await openSession(storage, { ...this.#managerOptions(undefined), salvage: true });
    const servers = new Set(
      stored.manager.events.list({ kinds: ["tool_result"] }).map(({ metadata }) => metadata?.["server"]),
    );
    const [masking, ...others] = new Set([...servers].map((server) => JSON.stringify(this.ownMasking(String(server)))));
    if (masking === undefined || others.length > 0) return stored;
    stored.manager.free();
    return openSession(storage, { ...this.#managerOptions(JSON.parse(masking) as Masking), salvage: true });
  }

  /** How what a server sends is masked. */
  masking(server: string): Masking {
    return this.ownMasking(server) ?? this.#masking;
  }

  get #masking(): Masking {
    return this.#options.manager?.redact_secrets ?? true;
  }

  /** How results of a server are masked, where it says so itself. */
  ownMasking(server: string | undefined): Masking | undefined {
    return server === undefined ? undefined : this.#options.maskings?.get(server);
  }

  #shelf(name: string, manager: ContextManager, stored: StoredSession | undefined): Shelf {
    return {
      name,
      manager,
      digests: new ResultDigests(manager, this.#options.drilldown, this.#options.result_tokens, name),
      stored,
      results: 0,
      isTold: false,
    };
  }

  /** A session that is full makes room: what goes is read from the store again, or its handle says that it is gone. */
  #managerOptions(masking: Masking | undefined): ContextManagerOptions {
    const { limits, ...rest } = this.#options.manager ?? {};
    // Said in any case: what was stored says how it was masked then.
    return { ...rest, redact_secrets: masking ?? this.#masking, limits: { eviction: "lru", ...limits } };
  }

  get drilldown(): string {
    return this.#options.drilldown;
  }

  get recall(): string {
    return this.#options.recall;
  }

  get onError(): (error: unknown) => void {
    return this.#options.onError;
  }

  get resultTokens(): number {
    return this.#options.result_tokens;
  }
}

/** What one client was given. @internal */
export class GatewaySession {
  readonly caller: string;
  readonly #all: GatewaySessions;
  /** By how their results are masked. */
  readonly #lanes = new Map<string, Lanes>();

  constructor(caller: string, all: GatewaySessions) {
    [this.caller, this.#all] = [caller, all];
  }

  /** Where results of a server are kept; without one those of servers that say nothing of masking. */
  #lanesOf(server?: string): Lanes {
    const masking = this.#all.ownMasking(server);
    const key = JSON.stringify(masking) ?? "";
    const lanes = this.#lanes.get(key) ?? { masking, large: { shelves: [] }, small: { shelves: [] } };
    this.#lanes.set(key, lanes);
    return lanes;
  }

  shelf(name: string): Shelf | undefined {
    return this.#shelves().find((shelf) => shelf.name === name);
  }

  #shelves(): readonly Shelf[] {
    return [...this.#lanes.values()].flatMap(({ large, small }) => [...large.shelves, ...small.shelves]);
  }

  /**
   * Keeps a result, and says what the client gets of it. Where there is a store, a handle that the client is told is durable by
   * then, unless the store fails, and what it got whole is stored without being waited for.
   */
  async digest(call: AnsweredCall, onError = this.#all.onError): Promise<DigestedResult> {
    const lanes = this.#lanesOf(call.server);
    const isSmall = isLittle(call.result, CHARS_PER_TOKEN * (call.most?.tokens ?? this.#all.resultTokens));
    const shelf = await this.#current(lanes, isSmall ? lanes.small : lanes.large);
    const digested = shelf.digests.digest(call);
    shelf.results += 1;
    shelf.isTold ||= digested.is_digested;
    // What cannot be stored is still in memory.
    const saving = shelf.stored?.save().catch(onError);
    if (digested.is_digested) await saving;
    return digested;
  }

  /** Answers a call of the tool that reads on: a part of a text, or the whole of a picture, a sound or a file. */
  async read(input: DrilldownInput): Promise<{ readonly reply: Fields; readonly error_type?: string }> {
    const handle = String((input as Partial<DrilldownInput>).handle ?? "");
    const { manager } = (await this.#all.find(this.caller, handle)) ?? (await this.#writable());
    const { result, error_type } = await manager.runAddedAsync({ name: this.#all.drilldown, input }, () =>
      readOnAsync(manager, input, DEFAULT_ROOM),
    );
    // What no selector fits is in memory by now, also where it was evicted.
    const block = error_type === undefined ? undefined : mediaBlock(manager, handle);
    if (block) return { reply: { content: [block] } };
    const content = [{ type: "text", text: result }];
    return error_type === undefined ? { reply: { content } } : { reply: { content, isError: true }, error_type };
  }

  /** Answers a call of the tool that finds again: the places with results share the tokens, where more than one has something. */
  async recall({ query, ...options }: StoredSearch): Promise<{ readonly reply: Fields; readonly error_type?: string }> {
    const { manager } = await this.#writable();
    const input = { query, ...(options.max_tokens !== undefined && { max_tokens: options.max_tokens }) };
    const { result, error_type } = await manager.runAddedAsync({ name: this.#all.recall, input }, async () => {
      const limits = { ...options, ...atMost(options, DEFAULT_ROOM) };
      const answers = await Promise.all(this.#shelves().map((shelf) => shelf.manager.recallAsync(query, limits)));
      const having = answers.filter(({ excerpts }) => excerpts.length > 0).length;
      if (having < 2) return found(merged(answers));
      const share = { ...limits, max_tokens: Math.floor(limits.max_tokens / having) };
      return found(merged(await Promise.all(this.#shelves().map((shelf) => shelf.manager.recallAsync(query, share)))));
    });
    const content = [{ type: "text", text: result }];
    return error_type === undefined ? { reply: { content } } : { reply: { content, isError: true }, error_type };
  }

  /** Whose result a handle is of, where another session was given it; what is this one's, the runtime knows. */
  async ownerOf(handle: string): Promise<OwnedHandle | undefined> {
    if (this.#shelves().some(({ name }) => handle.includes(`${name}-`))) return undefined;
    const shelf = await this.#all.find(this.caller, handle);
    const call = shelf && new RegExp(`${shelf.name}-\\d+`).exec(handle)?.[0];
    if (!call) return undefined;
    try {
      const { server, tool_name } = shelf.manager.events.get(`result:${call}`).metadata;
      return typeof server === "string" && typeof tool_name === "string"
        ? { handle, server, tool: tool_name }
        : undefined;
    } catch {
      return undefined; // The reading says that it is gone.
    }
  }

  async close(): Promise<void> {
    const shelves = this.#shelves();
    this.#lanes.clear();
    for (const shelf of shelves) await this.#all.release(shelf);
  }

  async #writable(): Promise<Shelf> {
    const lanes = this.#lanesOf();
    return this.#current(lanes, lanes.large);
  }

  async #current(lanes: Lanes, lane: Lane): Promise<Shelf> {
    const [current] = lane.shelves;
    if (current && current.results < (current.isTold || lane === lanes.large ? MAX_RESULTS : MAX_WHOLE)) return current;
    lane.opening ??= this.#next(lane, lanes.masking).finally(() => (lane.opening = undefined));
    return lane.opening;
  }

  async #next(lane: Lane, masking: Masking | undefined): Promise<Shelf> {
    const shelf = await this.#all.begin(this.caller, masking);
    const [before, ...older] = lane.shelves;
    // What a client was told stays until as much was told again.
    const told = before?.isTold ? undefined : older.find(({ isTold }) => isTold);
    lane.shelves = [shelf, before, told].filter((one) => one !== undefined);
    for (const one of older) if (one !== told) void this.#all.release(one);
    return shelf;
  }
}

function merged(answers: readonly RecallAnswer[]): Pick<RecallAnswer, "text" | "unread"> {
  const texts = answers.map(({ text }) => text).filter((text) => text !== "");
  return { text: texts.join("\n\n"), unread: answers.flatMap(({ unread }) => unread) };
}

function storedName(caller: string, name: string): string {
  return `gateway:${caller}:${name}`;
}

function randomName(): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(NAME_CHARS)),
    (byte) => ALPHABET[byte % ALPHABET.length],
  ).join("");
}

/** An artifact that is no text, as a block of MCP. */
function mediaBlock(manager: ContextManager, handle: string): Fields | undefined {
  if (!manager.artifacts.exists(handle)) return undefined;
  const { media_type, label } = manager.artifacts.ref(handle);
  if (IS_TEXT.test(media_type)) return undefined;
  const data = encodeBase64(manager.artifacts.bytes(handle));
  const kind = /^(image|audio)\//.exec(media_type)?.[1];
  if (kind !== undefined) return { type: kind, data, mimeType: media_type };
  return { type: "resource", resource: { uri: label || handle, mimeType: media_type, blob: data } };
}

/** Whether a result is a little text. */
function isLittle({ content, structuredContent }: Fields, most: number): boolean {
  if (!Array.isArray(content)) return true;
  const texts = (content as readonly Fields[]).map((block) =>
    block?.["type"] === "text" ? String(block["text"]).length : Infinity,
  );
  if (texts.reduce((sum, length) => sum + length, 0) > most) return false;
  return structuredContent === undefined || JSON.stringify(structuredContent).length <= most;
}
