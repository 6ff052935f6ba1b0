// What the methods of a ContextManager return beyond the records of types.ts.
import type { Bytes } from "../types.js";
import type { ArtifactInput, EpisodeSearchOptions, EventCountQuery, EventQuery } from "./options.js";
import type { ChoiceCard, RouteResult } from "../catalog/routing-types.js";
import type {
  ArtifactRef,
  BuildStats,
  CandidateExplanation,
  ContextPack,
  Fact,
  JsonObject,
  JsonValue,
  Phase,
  ResultEnvelope,
  Sensitivity,
  StandingRule,
  StoredEpisode,
  StoredFact,
  StoredItem,
  ViewSpec,
} from "../types.js";
import type { HandoffEntry } from "../generated.js";

export type { CompactResult, HandoffEntry, SummaryRequest } from "../generated.js";

/**
 * A tool result after ingestion, fit for a model: where the text is at or above the sensitivity floor, item and envelope
 * say `[REDACTED: <level>]` in its place, without facts and views. The log and the artifact have all of it.
 */
export interface ToolResult {
  /** The new item of the log. */
  readonly item: StoredItem;
  readonly envelope: ResultEnvelope;
}

/** What the next session must know. */
export interface HandoffPack {
  readonly version: string;
  /** Standing instructions in force, oldest first, in at most half of the budget; absent where there are none. */
  readonly rules?: readonly StandingRule[];
  readonly decisions: readonly HandoffEntry[];
  readonly conventions: readonly HandoffEntry[];
  readonly unresolved_tasks: readonly HandoffEntry[];
  readonly pitfalls: readonly HandoffEntry[];
  readonly next_inspections: readonly HandoffEntry[];
  readonly artifact_refs: readonly ArtifactRef[];
  readonly sensitivity_dropped: number;
  readonly token_estimate: number;
}

/** A handoff as data and as Markdown. */
export interface Handoff {
  readonly pack: HandoffPack;
  readonly markdown: string;
}

/**
 * What consolidation found, and did if `apply` was set. In its texts credentials are masked, and one of an episode at or above
 * the sensitivity floor says `[REDACTED: <level>]`; the facts that are stored have them whole.
 */
export interface Consolidation {
  readonly version: string;
  readonly clusters: readonly {
    readonly cluster_id: string;
    readonly episode_ids: readonly string[];
    readonly canonical_text: string;
  }[];
  readonly promoted: readonly {
    readonly fact_id: string;
    readonly key: string;
    readonly text: string;
    readonly source_episode_ids: readonly string[];
    readonly occurrences: number;
    readonly sessions: number;
    readonly first_seen: string | null;
    readonly last_seen: string | null;
    readonly sensitivity: Sensitivity;
    readonly merged_by_llm: boolean;
  }[];
  readonly decayed_episode_ids: readonly string[];
  readonly decayed_fact_ids: readonly string[];
  readonly applied: boolean;
}

/** Entries of your memory that matter now. */
export interface MemorySelection {
  /** Ids of the entries, best first. */
  readonly selected: readonly string[];
  /** The same as items, as models may see them: credentials masked, texts at or above the sensitivity floor withheld. */
  readonly items: readonly StoredItem[];
}

/** The numbers of a build with what they mean. */
export interface BuildReportData {
  readonly version: number;
  readonly phase: Phase | null;
  readonly budget: number | null;
  readonly prompt_tokens: number;
  readonly tokens_per_section: Readonly<Record<string, number>>;
  readonly candidates: {
    readonly total: number;
    readonly included: number;
    readonly dropped: number;
    readonly deduplicated: number;
    readonly dependency_closures: number;
  };
  readonly dropped_reasons: Readonly<Record<string, number>>;
  readonly dropped_items: BuildStats["dropped_items"];
  readonly recommendations: readonly string[];
}

/** A build in words. */
export interface BuildReport {
  /** For people. */
  readonly text: string;
  /** For people with a terminal of the Python library's markup. */
  readonly markup: string;
  readonly data: BuildReportData;
}

/** Everything about one build: numbers, candidates, artifacts. */
export interface Inspection {
  readonly report: {
    readonly version: number;
    readonly phase: Phase;
    readonly build: BuildReportData;
    readonly candidates: readonly CandidateExplanation[];
    readonly artifacts: readonly ArtifactRef[];
    readonly routing: JsonValue;
  };
  readonly markdown: string;
}

/** Sizes of a manager and counters since it was made. A restart of the engine after a defect resets the counters. */
export interface ManagerStats {
  /** Items of the log. */
  readonly items: number;
  readonly artifacts: number;
  readonly artifact_bytes: number;
  readonly facts: number;
  readonly episodes: number;
  readonly total_builds: number;
  readonly total_prompt_tokens: number;
  readonly avg_prompt_tokens: number;
  /** Items dropped in all builds together. */
  readonly total_dropped: number;
  readonly total_dedup_removed: number;
  readonly drop_reasons: Readonly<Record<string, number>>;
  readonly items_excluded: number;
  readonly firewall_interceptions: number;
  readonly budget_exceeded: number;
  readonly total_routes: number;
  readonly avg_candidates_per_route: number;
  readonly max_candidates_per_route: number;
  readonly avg_top_score: number;
  readonly max_top_score: number;
  readonly avg_confidence_gap: number;
  readonly max_confidence_gap: number;
  /** Hooks, summarizers and extractors that threw; a restart does not touch it. */
  readonly hook_errors: number;
}

/**
 * A manager without its options, as plain data. The four stores are as the Python library writes them. Fields that a
 * later release has put there are kept and written back.
 */
export interface Snapshot {
  /** Version of this record; a reader refuses others with `SNAPSHOT_VERSION`. */
  readonly schema_version: number;
  readonly event_log: { readonly items: readonly StoredItem[] };
  readonly artifact_store: {
    readonly refs: readonly ArtifactRef[];
    /** The bytes by handle as base64. */
    readonly data: Readonly<Record<string, string>>;
    /** Handles that are not evicted; absent when there are none. */
    readonly pinned?: readonly string[];
    /** Handles from the one not used for longest on; only with `limits.eviction: "lru"`. */
    readonly use_order?: readonly string[];
    /** What expired or was evicted, oldest first; absent when there is nothing. */
    readonly expired?: readonly { readonly handle: string; readonly reason: "ttl" | "lru" }[];
  };
  readonly episodic_store: { readonly episodes: readonly StoredEpisode[] };
  readonly fact_store: { readonly facts: readonly StoredFact[] };
  readonly fact_sequence: number | null;
  /** Digests of tool results by item id. */
  readonly envelopes: Readonly<Record<string, ResultEnvelope>>;
  /** The running prompts, by phase. */
  readonly running: JsonObject;
  /** Which messages were read, by format: their hashes and the ids of their items. */
  readonly messages: JsonObject;
  /** What calls of models cost, by model: tokens that were estimated and counted. */
  readonly calibration: JsonObject;
  /** Standing instructions that you added, corrected or forgot; absent when there are none. */
  readonly rules?: readonly JsonObject[];
}

/** The log. It grows by `ingest` and its kin; nothing is ever taken out. */
export interface EventView {
  /** One item; `NOT_FOUND` when there is none. */
  get(id: string): StoredItem;
  /** Items in log order. */
  list(query?: EventQuery): readonly StoredItem[];
  /** How many items there are. */
  count(query?: EventCountQuery): number;
  /** The last items, oldest first. Default: one. */
  tail(n?: number): readonly StoredItem[];
  /** Items whose `parent_id` is this id, in log order; the id itself need not exist. */
  children(id: string): readonly StoredItem[];
  /** The parent of an item, null when it has none in the log. `NOT_FOUND` when there is no such item. */
  parent(id: string): StoredItem | null;
}

/**
 * The stored bytes. A handle that leads to nothing is `ARTIFACT_NOT_FOUND`; `ARTIFACT_EXPIRED` says that
 * `limits.artifact_ttl_seconds` or `limits.eviction` made the artifact go (`details.reason`: `ttl` or `lru`), for the last
 * 10,000 that did.
 */
export interface ArtifactView {
  /** References, sorted by handle. */
  list(): readonly ArtifactRef[];
  /** One reference. */
  ref(handle: string): ArtifactRef;
  /** Whether bytes are stored under a handle. */
  exists(handle: string): boolean;
  /** A copy of the bytes, for your own use; the policy governs prompts and drilldowns. Counts as a use. */
  bytes(handle: string): Bytes;
  /**
   * Ways to look into an artifact: pages that together show all of it, and what to look at first. Bytes that are no text
   * have none. `POLICY_VIOLATION` as for `drilldown`. Counts as a use.
   */
  views(handle: string): readonly ViewSpec[];
  /** Stores bytes, in place of what was under the handle. `QUOTA_EXCEEDED` when `limits` do not admit them. */
  put(artifact: ArtifactInput): ArtifactRef;
  /** Removes the bytes. Items that refer to them keep their text; prompts no longer quote more of it. */
  delete(handle: string): void;
  /** Keeps an artifact from being evicted. Snapshots keep pins. */
  pin(handle: string): void;
  /** Lets an artifact be evicted again; it need not be pinned. */
  unpin(handle: string): void;
}

/** The facts. {@link ContextManager.addFact} makes ids; here they are yours. */
export interface FactView {
  /** Sorted by id. */
  list(): readonly StoredFact[];
  /** One fact; `NOT_FOUND` when there is none. */
  get(id: string): StoredFact;
  /** Facts about a key, sorted by id. */
  getByKey(key: string): readonly StoredFact[];
  /** The distinct keys that start with a prefix, sorted. Default: all. */
  listKeys(prefix?: string): readonly string[];
  /** Stores a fact, in place of the one with its id. `QUOTA_EXCEEDED` beyond 10,000. */
  put(fact: Fact & { readonly fact_id: string }): void;
  /** Removes a fact; `NOT_FOUND` when there is none. A number that `addFact` has used is not used again. */
  delete(id: string): void;
}

/** The episodes. Their ids may repeat; the oldest is meant then. */
export interface EpisodeView {
  /** In the order they were added. */
  list(): readonly StoredEpisode[];
  /** One episode, or null. */
  get(id: string): StoredEpisode | null;
  /** Episodes that share a term with the query in summary or tags, best first. */
  search(query: string, options?: EpisodeSearchOptions): readonly StoredEpisode[];
  /** The newest episodes, newest first. Default: 3. */
  latest(n?: number): readonly StoredEpisode[];
  /** Removes an episode; `NOT_FOUND` when there is none. */
  delete(id: string): void;
}

/** A prompt for choosing a tool, the route it shows, and its cards. */
export interface BuiltRoute {
  readonly pack: ContextPack;
  readonly route: RouteResult;
  readonly cards: readonly ChoiceCard[];
}

/** As much of a result as was asked for. @internal */
export interface AbridgedResult {
  /** The text, secrets masked. */
  readonly text: string;
  readonly tokens: number;
  /** Tokens of the whole. */
  readonly total: number;
  /** Whether parts are left out. */
  readonly is_cut: boolean;
}
