// A memory of decisions and the place where it is kept: what changed, as records of a journal.
import type { AbortOptions } from "../boundary/abort.js";
import { DecisionStore } from "../decisions/decision-store.js";
import type { DecisionRecord, DecisionSnapshot, DecisionStoreOptions } from "../decisions/decision-types.js";
import { decisions } from "../boundary/engines.js";
import { fields } from "../boundary/guard.js";
import { InTurn } from "./in-turn.js";
import type { JournalFinding } from "../manager/journal-types.js";
import { RecordJournal } from "./record-journal.js";
import type { SessionStorage } from "../storage/storage-types.js";
import type { SavedSession } from "./stored-session.js";

/** How a memory of decisions is opened: the options of its store, and how its journal is read. */
export interface OpenDecisionsOptions extends DecisionStoreOptions {
  /** Read what can be read of a damaged journal; `findings` names the rest. Default: false, `JOURNAL_DAMAGED`. */
  readonly salvage?: boolean;
  /** Bytes of changes behind everything before it is written anew, at least. Default: 1 MiB. */
  readonly compact_bytes?: number;
}

interface Edge {
  readonly source_id: string;
}

/** What an agent looked at before it decides, by key. */
interface Collected {
  readonly key: string;
}

/** A snapshot, as far as it is taken apart here. */
interface Snapshot extends DecisionSnapshot {
  /** Absent where it is everything. */
  readonly since?: number;
  readonly revision: number;
  readonly changed: {
    readonly decisions: Readonly<Record<string, number>>;
    readonly edges?: Readonly<Record<string, number>>;
  };
  readonly edges: readonly Edge[];
  readonly embeddings?: { readonly made: number; readonly vectors: Readonly<Record<string, string>> };
  readonly tracker?: { readonly keys: readonly Collected[] };
}

/** What something is now. */
type Change =
  | { readonly decision: DecisionRecord; readonly revision: number }
  | { readonly vector_of: string; readonly vector: string }
  | { readonly edges_of: string; readonly edges: readonly Edge[]; readonly revision: number }
  | { readonly collected: string; readonly value: Collected | null }
  | { readonly field: string; readonly value: unknown };

/** What of a snapshot is stored as it is, in JSON by the field or the key: no more than changed is written. */
interface Saved {
  readonly revision: number;
  /** How many vectors the store had made. */
  readonly vectors: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly collected: ReadonlyMap<string, string>;
}

/** What a store is before anything is done to it. */
const NOTHING: Saved = {
  revision: 0,
  vectors: 0,
  fields: new Map([
    ["revision", "0"],
    ["guardrails", "[]"],
  ]),
  collected: new Map(),
};

/**
 * Opens a memory of decisions: reads what is stored of it, or begins a new one. Options are given each time, as functions cannot be
 * stored; guardrails and breakers that are stored are there beside those of the options, and a breaker goes on where it was.
 *
 * Errors: those of {@link DecisionStore}, `JOURNAL_DAMAGED`, `SNAPSHOT_VERSION`, and those of the storage.
 *
 * ```js
 * import { openDecisions } from "contextweaver";
 * import { memoryStore } from "contextweaver/storage";
 *
 * const store = memoryStore();
 * const memory = await openDecisions(store.session("decisions"));
 * await memory.store.callTool("log_decision", { decision: "Keep orders in PostgreSQL", confidence: 0.9, category: "architecture" });
 * await memory.save();
 * const again = await openDecisions(store.session("decisions"));
 * console.log(again.store.size); // 1
 * ```
 */
export async function openDecisions(storage: SessionStorage, options?: OpenDecisionsOptions): Promise<StoredDecisions> {
  const { salvage, compact_bytes, ...own } = fields(options) as OpenDecisionsOptions;
  const place = { storage, kind: "decisions", engine: decisions };
  const { journal, records } = await RecordJournal.open<Change>(place, { salvage, compact_bytes });
  const store = new DecisionStore(own);
  try {
    const stored = records.length > 0 ? snapshotOf(records) : undefined;
    if (!stored) return new StoredDecisions(storage, store, journal, NOTHING);
    store.import(stored);
    // Vectors of another model were not taken.
    const { embeddings } = store.exportSince(stored.revision, { vectors: Number.MAX_SAFE_INTEGER }) as Snapshot;
    return new StoredDecisions(storage, store, journal, { ...savedOf(stored), vectors: embeddings?.made ?? 0 });
  } catch (error) {
    store.free();
    throw error;
  }
}

/** A memory of decisions with the place where it is kept. Made by {@link openDecisions}. */
export class StoredDecisions {
  /** The store; what is done to it is stored by {@link StoredDecisions.save}. */
  readonly store: DecisionStore;
  /** What could not be read; empty unless `salvage`. */
  readonly findings: readonly JournalFinding[];
  readonly #storage: SessionStorage;
  readonly #journal: RecordJournal<Change>;
  #saved: Saved;
  readonly #turns = new InTurn();

  /** @internal */
  constructor(storage: SessionStorage, store: DecisionStore, journal: RecordJournal<Change>, saved: Saved) {
    [this.#storage, this.store, this.#journal, this.findings, this.#saved] = [
      storage,
      store,
      journal,
      journal.findings,
      saved,
    ];
  }

  /** How many parts were written in the life of the memory; grows with each save that wrote. */
  get sequence(): number {
    return this.#journal.sequence;
  }

  /**
   * Stores what is new, all or nothing: decisions and edges that changed, what was collected for decisions to come. Resolves when it
   * is durable; where it rejects, the next one stores the same and what came after.
   *
   * `CONFLICT` where somebody else wrote: open the memory again.
   */
  save({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(this.#journal.isWorthCompacting), signal);
  }

  /** Stores everything anew. By itself it happens when that pays. */
  compact({ signal }: AbortOptions = {}): Promise<SavedSession> {
    return this.#turns.run(() => this.#save(true), signal);
  }

  /** Removes the memory from its storage and frees the store. */
  async delete(): Promise<void> {
    await this.#turns.run(() => this.#storage.delete());
    this.free();
  }

  /** Gives the memory of the store back; what was not saved is lost. */
  free(): void {
    this.store.free();
  }

  async #save(wants_whole: boolean): Promise<SavedSession> {
    const news = (
      wants_whole ? this.store.export() : this.store.exportSince(this.#saved.revision, { vectors: this.#saved.vectors })
    ) as Snapshot;
    // Something was replaced: what is gone cannot be told.
    const whole = news.since === undefined;
    const saved = savedOf(news);
    const changes = changesIn(news, saved, whole ? NOTHING : this.#saved);
    if (changes.length === 0) return { sequence: this.sequence, bytes: 0 };
    const bytes = await (whole ? this.#journal.replace(changes) : this.#journal.append(changes));
    this.#saved = saved;
    return { sequence: this.sequence, bytes };
  }
}

/** Fields of a snapshot that are told in their own way, or not at all. */
const TAKEN_APART: readonly string[] = [
  "format",
  "version",
  "since",
  "changed",
  "decisions",
  "edges",
  "tracker",
  "embeddings",
];

/** What is kept of a snapshot besides decisions and edges. */
function savedOf(snapshot: Snapshot): Saved {
  const { keys = [], ...tracker } = snapshot.tracker ?? {};
  const { vectors: _, made = 0, ...embeddings } = snapshot.embeddings ?? { vectors: {} };
  const named = Object.entries(snapshot).filter(([name]) => !TAKEN_APART.includes(name));
  if (snapshot.tracker) named.push(["tracker", tracker]);
  if (snapshot.embeddings) named.push(["embeddings", embeddings]);
  return {
    revision: snapshot.revision,
    vectors: made,
    fields: new Map(named.map(([name, value]) => [name, JSON.stringify(value)])),
    collected: new Map(keys.map((one) => [one.key, JSON.stringify(one)])),
  };
}

/** What is told of a snapshot to who knows `before`. */
function changesIn(news: Snapshot, now: Saved, before: Saved): Change[] {
  const { changed, decisions: records, edges, embeddings } = news;
  const numberOf = (decision: DecisionRecord): number => changed.decisions[decision["id"] as string] ?? news.revision;
  const changes: Change[] = records.map((decision) => ({ decision, revision: numberOf(decision) }));
  const bySource = new Map<string, Edge[]>();
  for (const edge of edges) {
    const of = bySource.get(edge.source_id);
    if (of) of.push(edge);
    else bySource.set(edge.source_id, [edge]);
  }
  for (const [source, of] of bySource)
    changes.push({ edges_of: source, edges: of, revision: changed.edges?.[source] ?? news.revision });
  for (const [key, value] of different(now.collected, before.collected))
    changes.push({ collected: key, value: value as Collected | null });
  for (const [field, value] of different(now.fields, before.fields)) changes.push({ field, value });
  for (const [id, vector] of Object.entries(embeddings?.vectors ?? {})) changes.push({ vector_of: id, vector });
  return changes;
}

/** What is another now, and what is gone, as null. */
function* different(
  now: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
): Iterable<readonly [string, unknown]> {
  for (const [name, text] of now) if (before.get(name) !== text) yield [name, JSON.parse(text)];
  for (const name of before.keys()) if (!now.has(name)) yield [name, null];
}

/** Puts changes together. */
function snapshotOf(changes: readonly Change[]): Snapshot {
  const records = new Map<string, DecisionRecord>();
  const edges = new Map<string, readonly Edge[]>();
  const [numbers, edgeNumbers, vectors] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, string>(),
  ];
  const collected = new Map<string, Collected>();
  const rest = new Map<string, unknown>();
  for (const change of changes) {
    if ("decision" in change) {
      const id = change.decision["id"] as string;
      records.set(id, change.decision);
      numbers.set(id, change.revision);
      // It was of the decision as it was.
      vectors.delete(id);
    } else if ("vector_of" in change) {
      vectors.set(change.vector_of, change.vector);
    } else if ("edges_of" in change) {
      edges.set(change.edges_of, change.edges);
      edgeNumbers.set(change.edges_of, change.revision);
    } else if ("collected" in change) {
      if (change.value === null) collected.delete(change.collected);
      else collected.set(change.collected, change.value);
    } else if (change.value === null) {
      rest.delete(change.field);
    } else {
      rest.set(change.field, change.value);
    }
  }
  const named = Object.fromEntries(rest) as Partial<Snapshot>;
  return {
    ...named,
    format: "cstp-snapshot",
    version: 1,
    revision: named.revision ?? Math.max(0, ...numbers.values(), ...edgeNumbers.values()),
    changed: { decisions: Object.fromEntries(numbers), edges: Object.fromEntries(edgeNumbers) },
    decisions: [...records.values()],
    edges: [...edges.values()].flat(),
    ...(named.tracker && { tracker: { ...named.tracker, keys: [...collected.values()] } }),
    ...(named.embeddings && { embeddings: { ...named.embeddings, vectors: Object.fromEntries(vectors) } }),
  };
}
