// What catalogs and routers take and return.
import type { Embedder, Vector } from "./embedder.js";
import type { SchemaConverters } from "../tools/tool-definition-types.js";
import type { JsonObject, JsonValue, SelectableItem, StoredTool } from "../types.js";
import type { QueryCompletion, RouteMatch } from "../generated.js";

export type {
  BrowsePage,
  CapabilityDiff,
  CatalogDiff,
  CatalogFinding,
  QueryCompletion,
  RouteMatch,
} from "../generated.js";

/** How a catalog is made of tools. */
export interface CatalogOptions {
  /** What becomes of bad tools: an error, or they are left out and told by `findings()`. Default: `raise`. */
  readonly on_invalid?: "raise" | "report";
}

/** How tools of an MCP server are read. */
export interface McpCatalogOptions {
  /** The server's name, which becomes the namespace. Default: guessed from each name. */
  readonly server?: string;
  /** `name`: `mcp:<name>`, or `mcp:<server>/<name>`. `canonical`: with a hash of the arguments' names. Default: `name`. */
  readonly id_form?: "name" | "canonical";
  /** Whether a verb such as `get` in `get_all_users` counts as a guessed namespace. Default: true. */
  readonly verb_namespaces?: boolean;
  /** Default: `report`. */
  readonly on_invalid?: "raise" | "report";
}

/** How tools of a framework or of a model provider are read. */
export interface ToolSourceOptions extends SchemaConverters {
  /** What becomes of a tool that cannot be read: an error, or it is left out and told by `findings()`. Default: `report`. */
  readonly on_invalid?: "raise" | "report";
}

/** How a document is read that describes tools, agents or skills. */
export interface DocumentOptions {
  /** A name for where they are from: it becomes the namespace, and part of the ids. */
  readonly server?: string;
  /** What becomes of what cannot be read: an error, or it is left out and told by `findings()`. Default: `report`. */
  readonly on_invalid?: "raise" | "report";
}

/** A `SKILL.md`. */
export interface SkillFile {
  /** Where it was read; its folder should be named as the skill. */
  readonly path: string;
  readonly text: string;
}

/** A namespace and how many tools it has, those of namespaces below it not counted. */
export interface NamespaceCount {
  readonly namespace: string;
  readonly tools: number;
}

/** A digest of every tool by id. */
export type ToolPins = Readonly<Record<string, string>>;

/** What a catalog is looked at for. */
export interface LintOptions {
  /** What `pin()` returned when the tools were looked at last. */
  readonly pinned?: ToolPins;
}

/** What a change of a tool may break, the harmless first. */
export type ChangeRisk = "none" | "documentation" | "compatible" | "review" | "breaking";

/** Words that stand for each other, separated by spaces. */
export interface Lexicon {
  /** What it adds to. Default: `english`. */
  readonly base?: "english" | "none";
  /** Groups of actions that are much the same: `"delete remove erase"`. */
  readonly verbs?: readonly string[];
  /** Groups of things that are much the same. */
  readonly nouns?: readonly string[];
  /** Groups of a word and its short forms. */
  readonly abbreviations?: readonly string[];
  /** Words that say little about what is wanted. */
  readonly generic?: readonly string[];
  /** Turns of phrase and what they stand for: `{ "get rid of": "delete remove" }`. */
  readonly phrases?: Readonly<Record<string, string>>;
}

/** Settings of a router. */
export interface RouterOptions {
  /** `exact` scores every tool; `beam` goes down the graph, a few branches at a time. Default: `exact`. */
  readonly navigator?: "exact" | "beam";
  /** Sizes of the beam, the graph and the short list. Default: `balanced`. */
  readonly preset?: "fast" | "balanced" | "accurate";
  /** Tools returned, 1 to 10,000. Default: 10. */
  readonly top_k?: number;
  /** Exact: ratio of the second score to the first from which a choice is ambiguous, 0 to 1. Default: 0.9. */
  readonly ambiguity_ratio?: number;
  /**
   * Exact: tools with lower scores are left out. Scores depend on the catalog and the length of the query, so there is no
   * value for all of them; `min_confidence` is made for that. Default: 0.
   */
  readonly min_score?: number;
  /**
   * Exact: confidence below which nothing fits, 0 to 1. 0 returns whatever shares a word with the query. Not asked where
   * vectors are compared. Default: 0.2.
   */
  readonly min_confidence?: number;
  /** Exact: related words that widen a query; English ones by default. */
  readonly lexicon?: "english" | "none" | Lexicon;
  /** Exact: whether words that no tool has are replaced by similar ones. Default: true. */
  readonly fuzzy?: boolean;
  /** Exact: what the likeness of vectors counts beside the words, whose best score is 1; divided by the number of things that a query asks for. Default: 1. */
  readonly embedding_weight?: number;
  /** Exact: what makes vectors, asked by `embedMissing` alone. Default: none, or those of `setEmbeddings`. */
  readonly embed?: Embedder;
  /** Exact: what `indexBytes()` returned for the same tools. */
  readonly index?: Uint8Array;
  /** Beam: what scores. Default: `tfidf`. */
  readonly scorer?: "tfidf" | "bm25" | "fuzzy" | "hybrid";
  /** Beam: branches followed at once. Default: 2. */
  readonly beam_width?: number;
  /** Beam: levels. Default: 8. */
  readonly max_depth?: number;
  /** Beam: distance of the first score to the second below which a choice is ambiguous, 0 to 1. Default: 0.15. */
  readonly confidence_gap?: number;
  /** Most children of a node of the graph, at least 2. Default: 20. */
  readonly max_children?: number;
  /** Tools wanted in a group of the graph. Default: `max_children`. */
  readonly target_group_size?: number;
  /** How the graph puts tools into groups. Default: `auto`. */
  readonly strategy?: "auto" | "namespace" | "cluster" | "alphabetical";
  /** A graph to use instead of one built from the tools; every tool must be in it. */
  readonly graph?: ChoiceGraphJson;
}

/** What was called before, and how much that weighs. */
export interface RouteHistory {
  /** Ids of the tools called, in order, or the names by which a log knows them. */
  readonly called_tool_ids?: readonly string[];
  /** What the last of them returned, in short. */
  readonly last_result_summary?: string | null;
  /** Steps taken, with this one. Default: 1. */
  readonly step_number?: number;
  /** Factor of the score of a tool called before. Default: 0.5. */
  readonly repeat_penalty?: number;
  /** Weight of a tool's likeness to the last result. Default: 0.3. */
  readonly result_boost_weight?: number;
}

/** What became of one call. */
export interface ToolFeedback {
  readonly item_id: string;
  /** Default: true. */
  readonly success?: boolean;
  readonly latency_ms?: number | null;
  readonly token_cost?: number | null;
  /** 0 to 1. */
  readonly quality_score?: number | null;
  /** ISO 8601; without a zone it is UTC. */
  readonly timestamp?: string | null;
  readonly metadata?: JsonObject;
}

/** How much each part of feedback weighs, as a part of the best score. */
export interface FeedbackWeights {
  /** Default: 0.1. */
  readonly success_weight?: number;
  /** Default: 0.2. */
  readonly failure_penalty?: number;
  /** Default: 0.1. */
  readonly quality_weight?: number;
  /** Default: 0. */
  readonly latency_weight?: number;
  /** Default: 0. */
  readonly cost_weight?: number;
  /** Default: 1000. */
  readonly latency_ref_ms?: number;
  /** Default: 1000. */
  readonly token_cost_ref?: number;
}

/** Something that was said or called before a query. */
export interface RouteTurn {
  /** Id of its item in the log, which {@link QueryCompletion.item_ids} names. */
  readonly id?: string | null;
  readonly kind: "user_turn" | "agent_msg" | "tool_call";
  /** What was said; a call needs none. Default: empty. */
  readonly text?: string;
  /** Name or id of the tool that was called. */
  readonly tool?: string | null;
  /** Whether the call has no result but errors: it waits, was refused or failed. Default: false. */
  readonly is_open?: boolean;
}

/** Settings of one route. Filters apply before the best are taken. */
export interface RouteOptions {
  /** Tools returned, in place of the router's number. */
  readonly top_k?: number;
  /** Tools that must not be chosen. */
  readonly exclude_ids?: readonly string[];
  /** Tools with any of these tags must not be chosen. Compared exactly. */
  readonly exclude_tags?: readonly string[];
  /** Only tools of exactly these namespaces; an empty list allows none. */
  readonly allowed_namespaces?: readonly string[];
  /** Only tools with at least one of these tags; an empty list allows none. */
  readonly allowed_tags?: readonly string[];
  /** Words that the query is read with. */
  readonly context_hints?: readonly string[];
  /** Tools that are in the short list whatever their score, before all others. */
  readonly pin_ids?: readonly string[];
  /** Most tools of one namespace, pinned ones not counted. */
  readonly namespace_quota?: number;
  /** What was called before, and counts for or against a tool. */
  readonly history?: RouteHistory;
  /** How earlier calls of tools went, and what that weighs. */
  readonly feedback?: { readonly records: readonly ToolFeedback[]; readonly weights?: FeedbackWeights };
  /** Your vector of the query, as long as those of the tools. */
  readonly query_embedding?: Vector;
  /**
   * What was said and called before, the oldest first; the last 24 count, and of each at most 1,000 characters. A short query that
   * does not stand on its own ("yes, do it", "and for Berlin?") is completed from it, and {@link RouteResult.completion} says so;
   * every other query stays as it is. `ContextManager.turnsBefore` reads it off a log. Only the exact navigator reads it.
   */
  readonly conversation?: readonly RouteTurn[];
  /** Return the tools, too. Default: false. */
  readonly include_items?: boolean;
  /** Exact: what each tool was found by, in `trace.extra.matches`. Beam: its steps. Default: false. */
  readonly debug?: boolean;
}

/** The short list for a query, and how it came about. */
export interface RouteResult {
  /** Pinned ones first, then best first. */
  readonly candidate_ids: readonly string[];
  /** For each tool the node ids from below the root to it. */
  readonly paths: readonly (readonly string[])[];
  /** Scores of different queries do not compare. */
  readonly scores: readonly number[];
  /** Whether the best two are too close to call. */
  readonly is_ambiguous: boolean;
  readonly clarifying_question: string | null;
  readonly excluded_count: number;
  readonly gated_count: number;
  readonly context_hints: readonly string[];
  readonly context_boost_applied: boolean;
  /** What history added to a score or took from it, by tool. */
  readonly history_adjustments: Readonly<Record<string, number>>;
  /**
   * How often one of the first five tools is right where the words of a query are found so well, 0 to 1: a prior from
   * public sets of queries, comparable between queries and catalogs. Absent from the beam navigator, and where only vectors
   * speak for the tools.
   */
  readonly confidence?: number;
  /** Whether nothing fits: `confidence` is below `min_confidence`. Only the exact navigator knows. */
  readonly no_match?: boolean;
  /** Why nothing fits, with the names of the tools that came nearest: "no tool has `coffee`; nearest: `order_tea`". */
  readonly no_match_reason?: string;
  /** Ids of the tools that came nearest, best first, at most three; only when nothing fits. */
  readonly nearest_ids?: readonly string[];
  /** What was searched for in place of a query that does not stand on its own, and from what it was completed. */
  readonly completion?: QueryCompletion;
  readonly trace: RouteTrace;
  readonly candidate_items?: readonly StoredTool[];
  /** What the route did without, such as the vector of a query that was not embedded. */
  readonly warnings?: readonly string[];
}

/** How a route came about. */
export interface RouteTrace {
  readonly trace_version: number;
  /** The query, with its credentials masked. */
  readonly query: string;
  readonly confidence_gap: number;
  readonly top_score: number;
  readonly runner_up_score: number | null;
  readonly is_ambiguous: boolean;
  readonly excluded_count: number;
  readonly gated_count: number;
  /** `bm25f`, `tfidf`, `bm25`, `fuzzy` or `embedding+tfidf`. */
  readonly retriever_engine: string;
  readonly steps?: readonly {
    readonly depth: number;
    readonly node: string;
    readonly scored_children: readonly { readonly id: string; readonly score: number }[];
    readonly kept: readonly string[];
  }[];
  readonly clarifying_question: string | null;
  readonly extra: RouteTraceExtra;
}

/** Hints, pins, quotas, adjustments; more may come. */
export interface RouteTraceExtra {
  readonly context_hints: readonly string[];
  readonly context_boost_applied: boolean;
  readonly pinned?: readonly string[];
  readonly namespace_quota?: number;
  readonly history_adjustments?: Readonly<Record<string, number>>;
  readonly score_provider?: string;
  /**
   * How close the second score is to the first, and how often the first tool was right at such a ratio on public sets of
   * queries: a prior, not a promise about your tools.
   */
  readonly ambiguity?: { readonly ratio: number; readonly threshold: number; readonly confidence: number };
  /** Near-duplicates behind a tool that stands for them. */
  readonly folded?: Readonly<Record<string, number>>;
  /** For each tool of the short list what it was found by. */
  readonly matches?: readonly RouteMatch[];
}

/** What a model chooses from: never a schema, an example or metadata. */
export interface ChoiceCard {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly kind: SelectableItem["kind"];
  readonly namespace: string;
  readonly has_schema: boolean;
  readonly cost_hint: number;
  readonly side_effects: boolean;
  readonly safety: "" | "read_only" | "destructive";
  readonly score?: number;
}

/** How cards are made. */
export interface CardOptions {
  /** Tokens of all cards together. Default: 2000. */
  readonly budget_tokens?: number;
  /** Default: all candidates. */
  readonly max_cards?: number;
  /** Tokens above which a description is shortened. Default: 60. */
  readonly card_tokens?: number;
  /** Tokens above which a tool has no card. Default: 80. */
  readonly max_card_tokens?: number;
  /** Default: true. */
  readonly redact_secrets?: boolean;
  /** Scores change with every query, so a prompt cache fares better without them. Default: false. */
  readonly show_scores?: boolean;
  /** Default: `heuristic/v3`. */
  readonly estimator?: "heuristic/v3" | "heuristic/v2" | "heuristic/chardiv4";
}

/** Cards within a budget, and what that took. */
export interface PackedCards {
  readonly cards: readonly ChoiceCard[];
  /** The cards as text, one line each. */
  readonly text: string;
  readonly tokens: number;
  /** Ids of cards that were shortened to fit. */
  readonly shortened: readonly string[];
  /** Ids of cards that did not fit. */
  readonly dropped: readonly string[];
  /** Tools too large for a card. */
  readonly skipped: readonly { readonly id: string; readonly tokens: number }[];
}

/** What to show of the graph: at a path or an id, not both. */
export interface BrowseOptions {
  /** `/`, `/billing`, `/billing/invoices`. Default: `/`. */
  readonly path?: string;
  /** Id of a tool or a node. */
  readonly id?: string;
  /** Children before the first shown. Default: 0. */
  readonly offset?: number;
  /** Most children shown, 1 to 200. Default: 50. */
  readonly limit?: number;
}

/** A bounded graph over tools, as the Python library writes it, too. */
export interface ChoiceGraphJson {
  readonly root_id: string;
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly node_id: string;
        readonly label: string;
        readonly routing_hint: string;
        readonly children: readonly string[];
        readonly child_types: Readonly<Record<string, "node" | "item">>;
        readonly stats: JsonObject;
      }
    >
  >;
  readonly items: readonly string[];
  readonly edges: Readonly<Record<string, readonly string[]>>;
  readonly max_children: number;
  readonly build_meta: JsonObject;
}

/** What a schema of an answer is written for: plain, a response format, a tool, a part of generation settings. */
export type SchemaProvider = "json_schema" | "openai" | "anthropic" | "gemini";

/** How the schema of a choice among tools is written. */
export interface SelectionSchemaOptions {
  /** Default: `json_schema`. */
  readonly provider?: SchemaProvider;
  /** The property that holds the id. Default: `tool_id`. */
  readonly property_name?: string;
  /** Default: `tool_selection`. */
  readonly schema_name?: string;
}

/** How a choice of a model is checked. */
export interface SelectionOptions {
  /** Whether an answer that is not exact may be repaired. Default: true. */
  readonly repair?: boolean;
}

/** What a model's answer means. */
export interface SelectionResult {
  readonly status: "accepted" | "repaired" | "rejected";
  /** Always one of the candidates. */
  readonly selected_id: string | null;
  readonly raw_id: string;
  readonly repair: "strip" | "provider_name" | "case_fold" | "prefix" | null;
  readonly reason:
    | "empty_selection"
    | "not_a_candidate"
    | "ambiguous_case_fold"
    | "ambiguous_prefix"
    | "destructive_prefix"
    | null;
}

/** Who tools are written for. */
export type ToolProvider = "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ai-sdk";

/** How tools are written for a provider. */
export interface ToolsForOptions {
  /** OpenAI: hold the model to the schema, which takes fewer keywords and no optional properties. Default: false. */
  readonly strict?: boolean;
  /** Default: true. */
  readonly redact_secrets?: boolean;
}

/** Tools as a provider takes them. */
export interface ProviderTools {
  readonly provider: ToolProvider;
  readonly tools: readonly JsonObject[];
  /** Names have 64 characters of `A-Z a-z 0-9 _ -` at most; other tools do not change them. */
  readonly name_to_tool_id: Readonly<Record<string, string>>;
  /** What the provider's schemas cannot say. */
  readonly report: readonly {
    readonly tool_id: string;
    /** JSON pointer within the schema as written. */
    readonly path: string;
    readonly keyword: string;
    readonly action: "removed" | "rewritten" | "inlined";
    readonly note: string;
  }[];
  /** Properties that got names which the provider takes, with their own, by name of the tool; `ownArguments` is the way back. */
  readonly renamed?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Why a short list is what it is. */
export interface RouteExplanation {
  readonly data: Readonly<Record<string, JsonValue>>;
  readonly markdown: string;
}

/** How tools that others wrote are evened out. */
export interface NormalizeOptions {
  /** Whether a blank or repeated id is an error. Default: false. */
  readonly strict?: boolean;
  /** Default: true. */
  readonly lowercase_tags?: boolean;
}

/** Tools that were evened out, and what that took. */
export interface NormalizedTools {
  readonly items: readonly StoredTool[];
  readonly report: {
    readonly items_processed: number;
    readonly tag_dedup_count: number;
    readonly description_filled_count: number;
    readonly whitespace_normalized_count: number;
    /** Tools that were left out. */
    readonly invalid_ids: readonly string[];
  };
}

/** How the routes before and after a change of tools are compared. */
export interface RoutingImpactOptions {
  /** Queries to compare, with the tool that is right for each, if there is one. */
  readonly probes?: readonly { readonly query: string; readonly expected?: string | null }[];
  /** Tools a route returns. Default: 5. */
  readonly top_k?: number;
  /** Settings of both routers. */
  readonly router?: Omit<RouterOptions, "embed" | "index" | "graph">;
}

/** What a change of a catalog does to routes. */
export interface RoutingImpact {
  readonly impact: {
    readonly version: number;
    readonly probes_total: number;
    readonly top1_changed: number;
    /** Ten at most. */
    readonly examples: readonly {
      readonly query: string;
      readonly before_top1: string | null;
      readonly after_top1: string | null;
    }[];
    /** Share of the expected tools that were returned. */
    readonly recall_before: number | null;
    readonly recall_after: number | null;
    readonly top_k: number;
  };
  readonly markdown: string;
}
