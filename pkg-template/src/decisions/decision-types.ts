// What goes into a decision store, and what comes out. Names are those of the tools: arguments in snake case, results in
// camel case, stored records in snake case.
import type { AbortOptions } from "../boundary/abort.js";
import type { Embedder } from "../catalog/embedder.js";
import type { JsonObject, JsonValue } from "../types.js";

/** What a decision is about. */
export type DecisionCategory = "architecture" | "process" | "integration" | "tooling" | "security" | (string & {});
/** What depends on a decision. */
export type DecisionStakes = "low" | "medium" | "high" | "critical";
/** What became of a decision. */
export type DecisionOutcome = "success" | "partial" | "failure" | "abandoned";
/** What a reason rests on. */
export type ReasonType =
  | "authority"
  | "analogy"
  | "analysis"
  | "pattern"
  | "intuition"
  | "empirical"
  | "elimination"
  | "constraint";
/** How one decision is related to another. */
export type DecisionEdgeType = "relates_to" | "supersedes" | "depends_on";
/** Whether decisions are found by meaning, by words, or by both. */
export type RetrievalMode = "hybrid" | "semantic" | "keyword";

/** How a store is made. The functions are called while a tool waits for them, and must not call the store. */
export interface DecisionStoreOptions {
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Makes ids, 1 to 64 letters, digits and `_-`; one that is taken is asked for again. Default: 8 random hexadecimal digits. */
  readonly new_id?: () => string;
  /** Makes vectors of texts, all of one length. Default: hashed words and parts of words, in 256 dimensions. */
  readonly embed?: Embedder;
  /** Name of the model of `embed`; a snapshot with vectors of another one is embedded anew. Default: `custom`. */
  readonly embedding_model?: string;
  /** Categories besides the five. */
  readonly categories?: readonly string[];
  /** Rules that actions are checked against: a list, one rule, or `{ guardrails: [...] }`; or such a thing as YAML text. */
  readonly guardrails?: JsonValue;
  /** Ready-made rules. */
  readonly guardrail_presets?: readonly "cornerstone"[];
  /** What becomes of a rule that cannot be evaluated. Default: `warn`. */
  readonly on_rule_error?: "warn" | "block" | "ignore";
  /** Whether rules of the record phase refuse a decision instead of warning after the fact. Default: false. */
  readonly enforce_record_guardrails?: boolean;
  /** What failed too often is closed for a while. */
  readonly circuit_breakers?: readonly CircuitBreaker[];
  /** How queries search that do not say. Default: `hybrid`. */
  readonly retrieval_mode?: RetrievalMode;
  /** How `pre_action` and `get_session_context` search. Default: `retrieval_mode`. */
  readonly context_retrieval_mode?: RetrievalMode;
  /** Weight of meaning beside words, 0 to 1. Default: 0.7. */
  readonly hybrid_weight?: number;
  /** How the two rankings become one. Default: `minmax`. */
  readonly fusion?: "minmax" | "rrf";
  /** How words are weighted; `okapi` finds nothing in stores of one or two decisions. Default: `smooth`. */
  readonly bm25?: "smooth" | "okapi";
  /** Whether decisions may be linked with ids that the store does not have. Default: false. */
  readonly allow_stubs?: boolean;
  /** How much the store takes. */
  readonly limits?: DecisionLimits;
  /** Default: `cstp-decisions`. */
  readonly server_name?: string;
  /** The tools that are offered, without prefix. Default: all. */
  readonly tools?: readonly DecisionToolName[];
  /** What stands before the name of each tool. */
  readonly tool_name_prefix?: string;
  /**
   * Whether credentials are masked in everything that tools, `context` and `handleRpc` answer. What is stored and exported
   * keeps them, and so do the texts that `embed` and the two listeners below get. Where a title or a note is cut short, its
   * credentials are masked in any case: half of one would not be recognised later. Default: true.
   */
  readonly redact_secrets?: boolean;
  /** Hears of every change, after it; what it throws is ignored. */
  readonly on_change?: (event: DecisionChange) => void;
  /** Hears of every check of an action; what it throws is ignored. */
  readonly on_guardrail_check?: (event: GuardrailCheck) => void;
  /** Hears of every call of a tool, after it; what it throws is ignored. */
  readonly on_call?: (event: DecisionCall) => void;
}

/** How much a store takes. What is beyond is refused. */
export interface DecisionLimits {
  /** Default: 50,000. */
  readonly decisions?: number;
  /** Bytes of one text. Default: 16 KiB. */
  readonly text_bytes?: number;
  /** Tags of one decision. Default: 64. */
  readonly tags?: number;
  /** Reasons of one decision. Default: 64. */
  readonly reasons?: number;
  /** Steps, and inputs, of one deliberation. Default: 1000. */
  readonly steps?: number;
}

/** When a kind of actions is closed, and for how long. */
export interface CircuitBreaker {
  /** `global`, `category:x`, `stakes:x`, `agent:x` or `tag:x`. */
  readonly scope: string;
  /** Failures within the window that open it. Default: 5. */
  readonly failure_threshold?: number;
  /** Default: one hour. */
  readonly window_ms?: number;
  /** Default: half an hour. */
  readonly cooldown_ms?: number;
}

/** Something changed. After `imported`, a copy elsewhere is best made anew. */
export interface DecisionChange {
  readonly type: "recorded" | "updated" | "reviewed" | "thought" | "linked" | "imported";
  /** The number of the change, for {@link DecisionStore.exportSince}. */
  readonly revision: number;
  /** The decision, or the source of the link. */
  readonly id?: string;
  readonly targetId?: string;
}

/** An action was checked. */
export interface GuardrailCheck {
  readonly timestamp: string;
  readonly agent: string;
  readonly action: string;
  readonly allowed: boolean;
  /** Ids of the rules that block it. */
  readonly violations: readonly string[];
  /** Number of rules. */
  readonly evaluated: number;
}

/** A tool was called. Neither its arguments nor its answer are told. */
export interface DecisionCall {
  /** Name of the tool; `_OTHER` when there is no such tool. */
  readonly tool: string;
  /** `tool_error` for a result with `isError`, the code of an error of JSON-RPC, or that of a thrown one. */
  readonly error_type?: string;
  readonly duration_ms: number;
  /** Number of the decisions that a search returned; absent where nothing was searched. */
  readonly found?: number;
  /** What is known of the message that it came in. */
  readonly rpc?: {
    readonly protocol_version?: string;
    /** The `_meta` of the request, as the client wrote it. */
    readonly meta?: unknown;
  };
}

/** Who calls a tool, as the host knows it. It counts more than what the arguments say. */
export interface CallDecisionToolOptions extends AbortOptions {
  /** The agent: its decisions, its thoughts. */
  readonly agent_id?: string | undefined;
  /** The transport or session: thoughts of calls without an agent are collected by it. */
  readonly trace_id?: string | undefined;
}

/** A tool as MCP lists it. */
export interface DecisionTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: "object" };
  readonly outputSchema: JsonObject & { readonly type: "object" };
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** The result of a tool as MCP has it. */
export interface DecisionToolResult<N extends DecisionToolName = DecisionToolName> {
  /** The structured content as JSON text; what is wrong, where `isError` is set. */
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: DecisionToolContents[N];
  readonly isError?: true;
}

/** A response of JSON-RPC. */
export interface JsonRpcResponse {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonValue };
}

/** Why something was decided. */
export interface DecisionReason {
  readonly type: ReasonType;
  readonly text: string;
}

/** What was built, and what it is for. */
export interface DecisionBridge {
  readonly structure: string;
  readonly function: string;
  readonly tolerance?: readonly string[] | null;
  readonly enforcement?: readonly string[] | null;
  readonly prevention?: readonly string[] | null;
}

interface Common {
  readonly agent_id?: string | null;
  readonly trace_id?: string | null;
}

interface Scoped {
  /** `agent`: only what the calling agent recorded. */
  readonly scope?: "all" | "agent" | null;
}

/** The arguments of each tool. */
export interface DecisionToolArguments {
  readonly pre_action: Common & {
    readonly action: {
      readonly description: string;
      readonly category?: DecisionCategory | null;
      readonly stakes?: DecisionStakes;
      readonly confidence?: number | null;
      readonly context?: JsonObject | null;
    };
    readonly options?: {
      readonly query_limit?: number;
      readonly auto_record?: boolean;
      readonly include_patterns?: boolean;
    } | null;
    readonly reasons?: readonly DecisionReason[] | null;
    readonly tags?: readonly string[] | null;
    readonly pattern?: string | null;
  };
  readonly get_session_context: Common &
    Scoped & {
      readonly task_description?: string | null;
      readonly include?: readonly SessionSection[] | null;
      readonly decisions_limit?: number;
      readonly ready_limit?: number;
      readonly format?: "markdown" | "json";
      readonly max_chars?: number | null;
      readonly max_tokens?: number | null;
    };
  readonly ready: Common &
    Scoped & {
      readonly min_priority?: "low" | "medium" | "high";
      readonly action_types?: readonly ("review_outcome" | "calibration_drift" | "stale_pending")[];
      readonly limit?: number;
      readonly category?: string | null;
    };
  readonly query_decisions: Common &
    Scoped & {
      readonly query: string;
      readonly limit?: number;
      readonly retrieval_mode?: RetrievalMode;
      readonly filters?: DecisionFilters | null;
      readonly bridge_side?: "structure" | "function" | "both" | null;
    };
  readonly check_action: Common & {
    readonly description: string;
    readonly category?: string | null;
    readonly stakes?: DecisionStakes;
    readonly confidence?: number | null;
    readonly context?: JsonObject | null;
  };
  readonly log_decision: Common & {
    readonly decision: string;
    readonly confidence: number;
    readonly category: DecisionCategory;
    readonly stakes?: DecisionStakes;
    readonly context?: string | null;
    readonly reasons?: readonly DecisionReason[] | null;
    readonly tags?: readonly string[] | null;
    readonly project?: string | null;
    readonly feature?: string | null;
    readonly pr?: number | null;
    readonly decision_id?: string | null;
    readonly deliberation?: JsonObject | null;
    readonly bridge?: DecisionBridge | null;
    readonly review_in?: string | null;
    readonly pattern?: string | null;
    readonly kpi_indicators?: readonly string[] | null;
    readonly mental_state?: "deliberate" | "reactive" | "exploratory" | "habitual" | "pressured" | null;
    readonly file?: string | null;
    readonly line?: number | null;
    readonly commit?: string | null;
  };
  readonly review_outcome: Common & {
    readonly id: string;
    readonly outcome: DecisionOutcome;
    readonly actual_result?: string | null;
    readonly lessons?: string | null;
    readonly notes?: string | null;
  };
  readonly get_stats: Common &
    Scoped & {
      readonly category?: string | null;
      readonly project?: string | null;
      readonly window?: "30d" | "60d" | "90d" | "all" | null;
      readonly stakes?: DecisionStakes | null;
      readonly feature?: string | null;
      readonly min_decisions?: number;
    };
  readonly get_decision: Common & { readonly id: string };
  readonly get_reason_stats: Common &
    Scoped & {
      readonly filters?: {
        readonly category?: string | null;
        readonly stakes?: string | null;
        readonly project?: string | null;
      } | null;
      readonly min_reviewed?: number;
    };
  readonly update_decision: Common & {
    readonly id: string;
    readonly decision?: string | null;
    readonly confidence?: number | null;
    readonly context?: string | null;
    readonly tags?: readonly string[] | null;
    readonly pattern?: string | null;
    readonly reasons?: readonly DecisionReason[] | null;
    readonly bridge?: DecisionBridge | null;
  };
  readonly record_thought: Common & { readonly text: string; readonly decision_id?: string | null };
  readonly link_decisions: Common & {
    readonly source_id: string;
    readonly target_id: string;
    readonly edge_type: DecisionEdgeType;
    readonly weight?: number;
    readonly context?: string | null;
  };
  readonly get_graph: Common & {
    readonly node_id: string;
    readonly depth?: number;
    readonly edge_types?: readonly DecisionEdgeType[] | null;
    readonly direction?: "outgoing" | "incoming" | "both";
  };
  readonly get_neighbors: Common & {
    readonly node_id: string;
    readonly direction?: "outgoing" | "incoming" | "both";
    readonly edge_type?: DecisionEdgeType | null;
    readonly limit?: number;
  };
}

/** The name of a tool, without prefix. */
export type DecisionToolName = keyof DecisionToolArguments;

/** A part of the context of a session. */
export type SessionSection =
  | "decisions"
  | "guardrails"
  | "calibration"
  | "ready"
  | "patterns"
  | "contradictions"
  | "wisdom";

/** What decisions must be like to be found. */
export interface DecisionFilters {
  readonly category?: string | null;
  readonly stakes?: readonly string[] | null;
  readonly status?: readonly string[] | null;
  readonly project?: string | null;
  readonly feature?: string | null;
  readonly pr?: number | null;
  readonly min_confidence?: number | null;
  readonly max_confidence?: number | null;
  readonly has_outcome?: boolean | null;
  /** At least one of these. */
  readonly tags?: readonly string[] | null;
  readonly date_after?: string | null;
  /** A date without a time means the whole day. */
  readonly date_before?: string | null;
}

/** A decision that was found. */
export interface DecisionSummary {
  readonly id: string;
  readonly title: string;
  readonly category: string | null;
  readonly confidence: number | null;
  readonly stakes: string | null;
  readonly status: string;
  readonly date: string;
  /** 0 for the same; what has been superseded stands further back than its distance says. */
  readonly distance: number;
  readonly outcome?: string;
  readonly reasons?: readonly { readonly type: string; readonly text: string }[];
  readonly tags?: readonly string[];
  readonly pattern?: string;
  readonly compactionLevel?: "full" | "summary" | "digest" | "wisdom";
  readonly lessons?: string;
  readonly actualResult?: string;
  readonly bridge?: { readonly structure: string; readonly function: string };
  readonly superseded?: true;
  readonly supersededBy?: readonly string[];
}

/** What a guardrail says of an action. */
export interface GuardrailResult {
  readonly guardrailId: string;
  readonly name: string;
  readonly message: string;
  readonly severity: "block" | "warn" | "log";
  readonly type?: string;
  readonly state?: string;
  readonly failureRate?: number;
  readonly resetAt?: string;
}

/** Something that a tool had to do without. */
export interface DecisionWarning {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/** How well confidence foretold outcomes. */
export interface CalibrationResult {
  readonly brierScore: number;
  /** Mean worth of outcomes: 1 for a success, 0.5 for a partial one. */
  readonly accuracy: number;
  readonly totalDecisions: number;
  readonly reviewedDecisions: number;
  /** Accuracy less mean confidence: negative is overconfident. */
  readonly calibrationGap: number;
  readonly interpretation: string;
  readonly window?: string;
  readonly periodStart?: string;
  readonly periodEnd?: string;
}

/** Something that waits to be done. */
export interface ReadyAction {
  readonly type: "review_outcome" | "calibration_drift" | "stale_pending";
  readonly priority: "low" | "medium" | "high";
  readonly reason: string;
  readonly suggestion: string;
  readonly decisionId?: string;
  readonly category?: string;
  readonly date?: string;
  readonly title?: string;
  readonly detail?: string;
}

/** A decision in the graph. */
export interface DecisionNode {
  readonly id: string;
  readonly category?: string | null;
  readonly stakes?: string | null;
  readonly date?: string | null;
  readonly inDegree: number;
  readonly outDegree: number;
  readonly summary?: string;
  readonly confidence?: number;
  readonly outcome?: string;
  readonly tags?: readonly string[];
  readonly pattern?: string;
}

/** How one decision relates to another. */
export interface DecisionEdge {
  readonly sourceId: string;
  readonly targetId: string;
  readonly edgeType: DecisionEdgeType;
  readonly weight: number;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly context?: string;
}

interface Warned {
  readonly warnings?: readonly DecisionWarning[];
}

/** The structured content of each tool's result. */
export interface DecisionToolContents {
  readonly pre_action: Warned & {
    readonly allowed: boolean;
    readonly decisionId: string | null;
    readonly relevantDecisions: readonly DecisionSummary[];
    readonly guardrailResults: readonly GuardrailResult[];
    readonly calibrationContext: { readonly reviewedDecisions: number } & Partial<
      Pick<CalibrationResult, "brierScore" | "accuracy" | "calibrationGap" | "interpretation">
    >;
    readonly patternsSummary: readonly {
      readonly pattern: string;
      readonly count: number;
      readonly exampleIds: readonly string[];
    }[];
    readonly queryTimeMs: number;
    readonly blockReasons?: readonly string[];
    /** What rules say of the record that was made, beside what they say of the action. */
    readonly guardrail_warnings?: readonly JsonObject[];
    readonly trace_id: string;
  };
  readonly get_session_context: Warned & {
    /** The context as text; the other fields are there when JSON was asked for. */
    readonly markdown?: string;
    readonly agentProfile?: JsonObject;
    readonly relevantDecisions?: readonly DecisionSummary[];
    readonly activeGuardrails?: readonly JsonObject[];
    readonly calibrationByCategory?: Readonly<Record<string, CalibrationResult>>;
    readonly readyQueue?: readonly JsonObject[];
    readonly confirmedPatterns?: readonly JsonObject[];
    readonly circuitBreakers?: readonly JsonObject[];
    readonly contradictions?: readonly JsonObject[];
    readonly wisdom?: JsonValue;
    readonly queryTimeMs: number;
    readonly trace_id: string;
  };
  readonly ready: Warned & {
    readonly actions: readonly ReadyAction[];
    readonly total: number;
    readonly filtered: number;
  };
  readonly query_decisions: Warned & {
    readonly decisions: readonly DecisionSummary[];
    /** How many are returned. */
    readonly total: number;
    readonly query: string;
    readonly queryTimeMs: number;
    readonly agent: string;
    /** How was searched: by words where vectors could not be had. */
    readonly retrievalMode: RetrievalMode;
    readonly scores?: Readonly<
      Record<string, { readonly semantic: number; readonly keyword: number; readonly combined: number }>
    >;
  };
  readonly check_action: {
    readonly allowed: boolean;
    readonly violations: readonly (GuardrailResult & { readonly guardrail_id: string })[];
    readonly warnings: readonly (GuardrailResult & { readonly guardrail_id: string })[];
    readonly evaluated: number;
  };
  readonly log_decision: Warned & {
    readonly success: boolean;
    readonly id?: string;
    /** Where the reference would keep it. */
    readonly path?: string;
    readonly indexed?: boolean;
    readonly timestamp?: string;
    readonly quality?: { readonly score: number; readonly suggestions?: readonly string[] };
    readonly deliberation_auto?: boolean;
    readonly deliberation_inputs_count?: number;
    readonly guardrail_warnings?: readonly JsonObject[];
    readonly bridge_auto?: boolean;
    readonly bridge_method?: string;
    readonly related_count?: number;
    readonly graph_edges_created?: number;
    readonly error?: string;
  };
  readonly review_outcome: {
    readonly success: boolean;
    readonly id: string;
    readonly path?: string;
    readonly status: "reviewed" | "not_found";
    readonly reviewedAt?: string;
    readonly reindexed?: boolean;
    readonly error?: string;
  };
  readonly get_stats: {
    readonly overall: CalibrationResult | null;
    readonly byConfidenceBucket: readonly JsonObject[];
    readonly recommendations: readonly { readonly type: string; readonly message: string; readonly severity: string }[];
    readonly confidenceStats?: JsonObject;
    readonly extended?: JsonObject;
    readonly queryTime: string;
  };
  readonly get_decision: {
    readonly found: boolean;
    readonly decision?: DecisionRecord;
    /** Ids that begin so, where there are several. */
    readonly candidates?: readonly string[];
    readonly error?: string;
  };
  readonly get_reason_stats: {
    readonly byReasonType: readonly JsonObject[];
    readonly diversity: JsonObject | null;
    readonly recommendations: readonly { readonly type: string; readonly message: string; readonly severity: string }[];
    readonly totalDecisions: number;
    readonly reviewedDecisions: number;
    readonly queryTime: string;
  };
  readonly update_decision: {
    readonly success?: boolean;
    readonly id?: string;
    readonly updated_fields?: readonly string[];
    readonly indexed?: boolean;
    readonly error?: string;
  };
  readonly record_thought: {
    readonly success: boolean;
    readonly mode?: "pre-decision" | "post-decision";
    readonly decision_id?: string;
    readonly step_number?: number;
    readonly tracker_key?: string;
    readonly error?: string;
  };
  readonly link_decisions: Warned & {
    readonly success: boolean;
    readonly edge?: DecisionEdge;
    readonly error?: string;
  };
  readonly get_graph: {
    readonly centerId: string;
    readonly depth: number;
    readonly nodes: readonly DecisionNode[];
    readonly edges: readonly DecisionEdge[];
    readonly error?: string;
  };
  readonly get_neighbors: {
    readonly nodeId: string;
    readonly neighbors: readonly { readonly node: DecisionNode; readonly edge: DecisionEdge }[];
    readonly total: number;
    readonly error?: string;
  };
}

/** A stored decision. What a record says beyond the known fields is kept. */
export interface DecisionRecord {
  readonly id: string;
  readonly summary: string;
  readonly decision: string;
  readonly category: string;
  readonly confidence: number | null;
  readonly stakes: string | null;
  readonly status: string;
  readonly date: string;
  readonly context?: string;
  readonly reasons?: readonly JsonObject[];
  readonly deliberation?: JsonObject;
  readonly bridge?: JsonObject;
  readonly tags?: readonly string[];
  readonly pattern?: string;
  readonly outcome?: string;
  readonly lessons?: string;
  readonly [field: string]: unknown;
}

/** Everything in a store, as plain data. */
export interface DecisionSnapshot {
  readonly format: "cstp-snapshot";
  readonly version: 1;
  /** The number of the last change. */
  readonly revision?: number;
  readonly decisions: readonly DecisionRecord[];
  readonly [field: string]: unknown;
}

/** What is exported of what changed. */
export interface DecisionExport {
  /** With the vectors of the store's model that were made after so many, 0 for all; `embeddings.made` counts them. Default: none. */
  readonly vectors?: number;
}

/** Files of the reference server: records by the name of their file, as YAML text, and the lines of its edges. */
export interface DecisionFiles {
  readonly files: Readonly<Record<string, string>>;
  readonly edges?: JsonValue;
}

/** How a snapshot is taken in. */
export interface DecisionImport {
  /** Whether what is there goes first. Default: `merge`. */
  readonly mode?: "replace" | "merge";
  /** What becomes of an id that is there already. Default: `newer`. */
  readonly on_conflict?: "newer" | "keep" | "error";
}

/** What was taken in. */
export interface DecisionImportReport {
  readonly imported: number;
  readonly skipped: number;
  /** What could not be used, with its place in the input. */
  readonly errors: readonly {
    readonly path: string;
    readonly id?: string;
    readonly code: string;
    readonly message: string;
  }[];
  readonly warnings?: readonly DecisionWarning[];
}

/** What became of guardrails that were added. */
export interface RulesAdded {
  readonly added: number;
  /** Ids that were there already; the first rule with an id stays. */
  readonly duplicates: readonly string[];
  readonly errors: readonly {
    readonly path: string;
    readonly id?: string;
    readonly message: string;
    readonly position?: number;
  }[];
}

/** What to collect for a prompt. */
export interface DecisionContextOptions {
  /** The task. */
  readonly query: string;
  /** Most tokens of the text. Default: 1000. */
  readonly budget_tokens?: number;
  /** Default: decisions, guardrails, calibration, ready and patterns. */
  readonly include?: readonly SessionSection[];
  /** Who asks, as in `callTool`. */
  readonly agent_id?: string;
  /** The task that it belongs to, as in `callTool`. */
  readonly trace_id?: string;
}

/** Past decisions as text for a prompt. */
export interface DecisionContext {
  /** Markdown in which nothing that was stored can begin a section, a list, a table or a link. */
  readonly text: string;
  /** Estimated tokens of the text. */
  readonly tokens: number;
  readonly trace_id: string;
  readonly warnings?: readonly DecisionWarning[];
}
