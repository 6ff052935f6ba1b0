// What can be passed to a ContextManager. All fields are snake_case and optional; an unknown one is UNKNOWN_FIELD.
import type { Catalog } from "../catalog/catalog.js";
import type { Embedder } from "../catalog/embedder.js";
import type { Hooks } from "../telemetry/hook-types.js";
import type { Router } from "../catalog/router.js";
import type { CardOptions, RouteHistory, RouteOptions, RouteTurn } from "../catalog/routing-types.js";
import type {
  ContextPack,
  EnvelopeInput,
  Explanation,
  ItemKind,
  JsonObject,
  MemoryEntry,
  Phase,
  RuleState,
  SelectableItem,
  Sensitivity,
  StatementKind,
  StoredItem,
} from "../types.js";

/** Counts the tokens of a text: a whole number from 0 to 2^24. Must be synchronous and deterministic. */
export type Estimator = (text: string) => number;

/** An encoding of `gpt-tokenizer`, which counts, or of `js-tiktoken`, which encodes. */
export type TokenEncoder =
  | { countTokens(text: string): number }
  | { encode(text: string): { readonly length: number } };

/** Labels an item. The result never lowers the item's own label. Must be synchronous and deterministic. */
export type Classifier = (item: StoredItem) => Sensitivity;

/**
 * Writes the text that stands for a large tool result; `text` has its secrets masked. Must be synchronous: a promise is
 * `CALLBACK_FAILED`, and `summaryRequests` with `supplySummary` are the way for what takes time. When it throws, a digest
 * stands in its place and the envelope's status is `partial`. A summary is cut at the threshold.
 */
export type Summarizer = (item: StoredItem, text: string) => string;

/**
 * Finds what the user states once and for all in a turn, in place of the built-in finder: a list of texts, each at most 400 characters, or
 * of {@link FoundStatement}; at most 64 count. An empty list says that there is nothing, `undefined` leaves the turn to the built-in finder. Must be
 * synchronous and give the same for the same turn: what a model is to say of it is prepared before. Where it throws, `pack.warnings`
 * says so and the built-in finder is used; what is no such list is `CALLBACK_FAILED`. Turns at or above the sensitivity floor are not shown.
 */
export type RuleFinder = (turn: StoredItem) => readonly (string | FoundStatement)[] | undefined;

/** A statement that a {@link RuleFinder} found. */
export interface FoundStatement {
  /** The words that are to stand in prompts: best those of the user. */
  readonly text: string;
  /** Default: by the form of the words. */
  readonly kind?: StatementKind;
  /** Whether it is for this one time alone. Default: false. */
  readonly once?: boolean;
}

/** How what the user states is kept. */
export interface RulesOptions {
  /** Default: the built-in finder. */
  readonly find?: RuleFinder;
}

/** A standing instruction that you add. */
export interface NewRule {
  /** One statement, at most 400 characters. */
  readonly text: string;
  /** Default: by the form of the words. */
  readonly kind?: StatementKind;
  /** Without `#`. Default: `rule:<n>`. */
  readonly id?: string;
}

/** What you correct of a standing instruction; what is left out stays. */
export interface RuleCorrection {
  /** Other words, at most 400 characters. */
  readonly text?: string;
  readonly kind?: StatementKind;
  readonly state?: Exclude<RuleState, "replaced">;
}

/** Finds the facts of a tool result, one string each; as with {@link Summarizer}, it must be synchronous and may throw. */
export type Extractor = (item: StoredItem, text: string) => readonly string[];

/** Tells the time in milliseconds since 1970, as `Date.now` does. Must be synchronous. */
export type Clock = () => number;

/** Your own relevance per item id, 0 to 1, for one build. Must be synchronous. */
export type ItemScores = (build: { readonly phase: Phase; readonly query: string }) => Readonly<Record<string, number>>;

/** Writes the text that stands for an item at or above the sensitivity floor. Must be synchronous. */
export type RedactionHook = (item: StoredItem) => string;

/** A summarizer that says something about itself. */
export interface NamedSummarizer {
  readonly summarize: Summarizer;
  /** Name in the firewall's stats. Default: the function's name. */
  readonly name?: string;
  /** Whether a model writes the summaries, for the record. Default: false. */
  readonly is_llm?: boolean;
  /** What a model-backed summarizer says of itself, for the firewall's stats. Default: nothing. */
  readonly provider_metadata?: Readonly<Record<string, string>>;
}

/** An extractor that says something about itself. */
export interface NamedExtractor {
  readonly extract: Extractor;
  /** Default: the function's name. */
  readonly name?: string;
  /** Whether a model finds the facts. Default: false. */
  readonly is_llm?: boolean;
  /** What a model-backed extractor says of itself. Default: nothing. */
  readonly provider_metadata?: Readonly<Record<string, string>>;
}

/**
 * What becomes of large results.
 */
export interface FirewallOptions {
  /** Above it a result is reduced in the prompt: reshaped if that is enough, else to a digest. Default: 500. */
  readonly threshold_tokens?: number;
  /** Most tokens of a digest with its facts. Default: 160. */
  readonly summary_tokens?: number;
  /** Refuse summarizers and extractors that a model backs: `DETERMINISM`. Default: false. */
  readonly deterministic?: boolean;
}

/** Tokens a prompt may have, per phase, at most 2^24. Defaults: 2000, 3000, 4000, 6000. */
export type ContextBudget = { readonly [P in Phase]?: number };

/** Who may enter a prompt. */
export interface ContextPolicy {
  /** A phase absent from this map admits nothing. Default: route and call leave results and documents out. */
  readonly allowed_kinds_per_phase?: { readonly [P in Phase]?: readonly ItemKind[] };
  /** Default: no limit; 50 of each kind with the policy of a profile. */
  readonly max_items_per_kind?: { readonly [K in ItemKind]?: number };
  /** Items at or above this label are dropped or redacted. Default: `confidential`. */
  readonly sensitivity_floor?: Sensitivity;
  /** Default: `drop`. */
  readonly sensitivity_action?: "drop" | "redact";
  /** Names of redaction hooks, applied in order: `mask` (the default), `secret`, or yours. */
  readonly redaction_hooks?: readonly string[];
  /** Whether artifacts of redacted items may be read. Default: false. */
  readonly allow_redacted_drilldown?: boolean;
  /** What happens when items were dropped for the budget: nothing, a warning, or `BUDGET_EXCEEDED`. Default: `drop`. */
  readonly overflow_action?: "drop" | "warn" | "raise";
  /** Kinds whose loss counts as overflow. Default: every kind. */
  readonly overflow_raise_kinds?: readonly ItemKind[] | null;
  /** Anything you want kept with the policy. */
  readonly extra?: JsonObject;
}

/** What counts beside the words of a query, 0 to 1. Both are 0 by default, because measurements say so. */
export interface Bm25nScoring {
  readonly method?: "bm25n";
  readonly kind_weight?: number;
  readonly recency_weight?: number;
}

/** Bounds of a manager's stores; what goes beyond is `QUOTA_EXCEEDED`, and nothing has changed. */
export interface Limits {
  /** Items of the log. At most and by default 100,000. */
  readonly max_items?: number;
  /** Bytes of one artifact. At most and by default 16 MiB. */
  readonly max_artifact_bytes?: number;
  /** Bytes of all artifacts; equal ones count each, though they are kept once. At most and by default 64 MiB. */
  readonly max_store_bytes?: number;
  /** Number of artifacts. At most and by default 100,000. */
  readonly max_artifacts?: number;
  /**
   * Seconds an artifact lives after it was put; reading it does not prolong that, and a pin does not help. Needs a
   * `clock`. Artifacts of a restored snapshot do not expire. Default: for ever.
   */
  readonly artifact_ttl_seconds?: number;
  /**
   * What a full store does with a new artifact. `none`: refuse it. `lru`: give up those that were not used (put, read,
   * drilled into) for longest, never pinned ones; their handles answer `ARTIFACT_EXPIRED`, and prompts show what is left
   * of their results. Default: `none`.
   */
  readonly eviction?: "none" | "lru";
}

/**
 * What a provider takes for a token, in prices of a token that is neither read from a cache nor written to one. What is left out is
 * as for `openai`.
 */
export interface PriceModel {
  /** Price of a token that repeats the prompt before, 0 to 1; 1 where there is no cache. */
  readonly cached?: number;
  /** Price of a token that is written to the cache, 0 to 16. */
  readonly written?: number;
  /** Tokens of a prefix below which nothing is cached. */
  readonly least_tokens?: number;
  /** What the length of a cached prefix is a multiple of, in tokens. */
  readonly step_tokens?: number;
  /** Seconds without a call after which the cache is taken for lost. */
  readonly kept_seconds?: number;
}

/** Settings of a {@link ContextManager}. */
export interface ContextManagerOptions {
  /**
   * A preset, or a whole profile as the Python library writes it; fills what the other options leave out. The weights of a
   * profile's scoring are not read.
   */
  readonly profile?: "fast" | "balanced" | "accurate" | JsonObject;
  /** Tokens of a prompt by phase. Default: 2000 for route, 3000 for call, 4000 for interpret, 6000 for answer. */
  readonly budget?: ContextBudget;
  /** Which items may be in a prompt, and what no model may read. */
  readonly policy?: ContextPolicy;
  /** What counts how much when items are ranked. */
  readonly scoring?: Bm25nScoring;
  /** From which size on results are shortened, and to what. */
  readonly firewall?: FirewallOptions;
  /** How much is kept, and what happens beyond. Without `eviction`, a full store is `QUOTA_EXCEEDED`. */
  readonly limits?: Limits;
  /** Time for memories and artifacts that expire or age. The engine itself has no clock. Default: none. */
  readonly clock?: Clock;
  /** Asked once per build that brings no scores of its own. Default: none. */
  readonly item_scores?: ItemScores;
  /**
   * Makes vectors of texts. It is asked by {@link ContextManager.embedMissing}, never within a build; your `item_scores` come first.
   * Default: none, words alone are compared.
   */
  readonly embed?: Embedder;
  /** What the likeness of vectors counts beside the words, whose best score is 1; 0 to 1. Default: 0.15. */
  readonly embedding_weight?: number;
  /**
   * Returns bytes that are not in memory by their SHA-256, 64 hexadecimal digits: where blobs of a journal are kept. Asked by
   * {@link ContextManager.drilldownAsync}. Default: none.
   */
  readonly get_blob?: (hash: string) => Promise<Uint8Array | undefined>;
  /**
   * What repeating a prompt costs, which decides when a running prompt is cut and how deep: a provider whose prices are known, your
   * own prices, or null for a provider without a cache, for which each prompt is compiled anew once not everything fits. Default:
   * what goes with the format of the messages, `openai` where that says nothing.
   */
  readonly prices?: "openai" | "anthropic" | "gemini" | "deepseek" | "none" | PriceModel | null;
  /**
   * Where a running prompt stands between keeping what it can (0) and saving what it can (1): a cut leaves 60 % of the budget with 0,
   * 30 % with .5 and 15 % with 1, and with 0 none is made that the budget does not force. Default: 0.5.
   */
  readonly thrift?: number;
  /**
   * Name in each prompt that something left identifiers of it that are likely to be asked for (ids, paths, addresses), with the
   * handle or item by which `recall` and `drilldown` find them: a line of at most a fiftieth of the budget, a
   * twenty-fifth in a running prompt, and 240 tokens. It stands below the instructions, and in messages it is one of the user. In a running prompt it changes only at a cut. None is written below 2,000 tokens,
   * where everything fits, or where there is nothing to name. Default: for budgets of 4,000 tokens and more, and at each cut.
   */
  readonly ledger?: boolean;
  /**
   * Keep in every prompt what the user states once and for all: rules, limits, formats, names, decisions. What is in force and stands
   * nowhere in the prompt is said in a block below the instructions, in the user's words with the item, at most a twelfth of the
   * budget and 360 tokens; in messages it is one of the user. In a running prompt it changes only at a cut. Short turns of the user
   * also have a fiftieth of what the budget has above 2,000 tokens, before other items. `manager.rules()` lists what was found. An object is as `true`, and may have
   * a function that finds them. Default: true.
   */
  readonly rules?: boolean | RulesOptions;
  /**
   * What happens to the last user turn and everything after it when it does not fit. `trim`: the user turn and the last
   * step stay, the steps between compete for the room like older items; those left out are in `stats.dropped_items`.
   * `keep`: results give up their text, oldest first, but no step is lost; if that is not enough, `BUDGET_EXCEEDED`, so a
   * run of many steps ends there. Default: `trim`.
   */
  readonly active_turn?: "keep" | "trim";
  /**
   * Mask secrets on every rendered surface; stored bytes stay as they are. What the model's next call has to repeat stays: signatures
   * of signed addresses, tokens against forged requests, cursors. `{ except }` names fields that stay as well. Default: true.
   */
  readonly redact_secrets?: Masking;
  /**
   * Default: `heuristic/v3`. An encoding of `gpt-tokenizer` or `js-tiktoken` is taken as it is;
   * texts that spell special tokens count as texts. Each text is counted once as long as it stands in the log.
   */
  readonly estimator?: "heuristic/v3" | "heuristic/v2" | "heuristic/chardiv4" | Estimator | TokenEncoder;
  /** Scale budgets by what `observeUsage` was told of the model that a build names. Default: true. */
  readonly calibrate?: boolean;
  /** `heuristic` finds secrets and personal data, `heuristic-no-pii` only secrets. Default: nobody classifies. */
  readonly classifier?: "heuristic" | "heuristic-no-pii" | Classifier;
  /** Default: a digest that shows errors, totals and what stands out. `rule_based`: the Python library's. */
  readonly summarizer?: "rule_based" | Summarizer | NamedSummarizer;
  /** Default: lines that look like `key: value`. `structured`: the Python library's, for JSON and tables. */
  readonly extractor?: "structured" | Extractor | NamedExtractor;
  /** Redaction hooks by name; `policy.redaction_hooks` says which apply. */
  readonly redaction_hooks?: Readonly<Record<string, RedactionHook>>;
  /** Functions of yours that are told what a build does. */
  readonly hooks?: Hooks;
}

/** A tool's raw output. */
export interface ToolResultInput<M extends object = JsonObject> {
  /** The id of the call; the item becomes `result:<tool_call_id>`. */
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** At most 16 MiB; copied, so that the buffer may be reused. */
  readonly raw_output: string | Uint8Array;
  /** Default: `text/plain`. */
  readonly media_type?: string;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
  readonly metadata?: M;
  /**
   * Of a large JSON result, the only paths that may stand in the prompt, such as `invoices[].total`. What is no JSON
   * shows as `{}` then. Default: any.
   */
  readonly keep?: readonly string[];
}

/** How to reduce a result that is in no conversation. */
export interface CompactOptions {
  /** What a text is. Default: `text/plain`, or `application/json` for other data. */
  readonly media_type?: string;
  /**
   * `auto` and `structured` do what `ingestToolResult` does: they leave the paths of `keep` where there are any, and
   * reduce the text where there are none. `text` takes no notice of `keep`. `passthrough` only masks secrets.
   * Default: `auto`.
   */
  readonly strategy?: "auto" | "structured" | "text" | "passthrough";
  /** Paths of JSON that may stay, such as `invoices[].total`. Default: any. */
  readonly keep?: readonly string[];
  /** Up to it the data stays as it is, and nothing returned is above it. Default: `firewall.threshold_tokens`. */
  readonly budget_tokens?: number;
}

/**
 * Whether secrets are masked in what models get, and where not. `except` has names of fields (`csrf*`) and ends of their paths
 * (`upload.token`), at most 100 of at most 1,024 bytes; `*` stands for any letters, `?` for one, and case does not matter. What such a
 * field holds stays as it came, in JSON and wherever a name stands before a value. Errors: `INVALID_INPUT`, `TOO_LARGE`.
 */
export type Masking = boolean | { readonly except: readonly string[] };

/** Which summaries are wanted. */
export interface SummaryRequestOptions {
  /** Most requests, the oldest results first. Default: 16. */
  readonly limit?: number;
}

/** A summary that took its time. */
export interface SuppliedSummary {
  /** Of a {@link SummaryRequest}. */
  readonly item_id: string;
  /** Cut at the firewall's threshold. */
  readonly summary: string;
  /** At most 256. Default: those of the digest. */
  readonly facts?: readonly string[];
  /** Whether a model wrote it. Default: true. */
  readonly is_llm?: boolean;
  /** What the model says of itself, for the firewall's stats. */
  readonly provider_metadata?: Readonly<Record<string, string>>;
}

/** A tool: itself, or its id in a router or a catalog. */
export type ToolChoice =
  | { readonly tool: SelectableItem; readonly tool_id?: undefined }
  | { readonly tool_id: string; readonly router: Router; readonly tool?: undefined }
  | { readonly tool_id: string; readonly catalog: Catalog; readonly tool?: undefined };

/** What to say of a tool, and what is known of its arguments. */
export type HydrateOptions = ToolChoice & ArgumentOptions;

/** Arguments that are known already. */
export interface ArgumentOptions {
  /** Arguments known so far. Default: none, and none are looked for. */
  readonly arguments?: JsonObject;
}

/** A result that was summarised elsewhere. */
export interface EnvelopeResultInput {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly envelope: EnvelopeInput;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
}

/** What a call of a model cost. */
export interface ObservedUsage {
  /** Name of the model. */
  readonly model: string;
  /** Tokens that were estimated for what was sent: `tokens` of built messages, or `stats.prompt_tokens`, and what went along. */
  readonly estimated: number;
  /** Tokens that the provider counted for the same, those from its cache included. */
  readonly actual: number;
}

/** What to build. */
export interface BuildOptions {
  /** What the prompt is for: which kinds of items it has, and which budget. Default: `answer`. */
  readonly phase?: Phase;
  /** What the prompt is about. Default: the last turns speak for themselves. */
  readonly query?: string;
  /** Tags of what the prompt is about: items that have one count more. */
  readonly query_tags?: readonly string[];
  /** More of `query_tags`. */
  readonly hints?: readonly string[];
  /** Text above the items; counts against the budget. */
  readonly header?: string;
  /** Text below the items; counts against the budget. */
  readonly footer?: string;
  /** Tokens of this prompt. Default: the phase's budget. */
  readonly budget_tokens?: number;
  /**
   * The model that is going to read it. What {@link ContextManager.observeUsage} was told of its calls scales the budget:
   * `stats.budget_tokens` is what it comes to in tokens of the estimator. Default: none.
   */
  readonly model?: string;
  /**
   * Whether the prompt goes on with the one before of its phase, as in the loop of an agent. Left out, messages do and a text does
   * not. Said, a first prompt that does not hold everything leaves room for those that follow.
   */
  readonly running?: boolean;
  /** Tokens of the budget for what stands beside the prompt, such as the definitions of tools. Default: 0. */
  readonly reserved_tokens?: number;
  /**
   * What the provider has before a running prompt, such as the model and the names of the tools, as any text: where it changes, the
   * provider's cache is lost. Default: none.
   */
  readonly head?: string;
  /** Tokens of the tools that read what is hidden, which stand before the prompt only once something is. Default: 0. */
  readonly hidden_tokens?: number;
  /** What repeating a prompt costs, where the option `prices` of the manager says nothing. Default: what goes with the format. */
  readonly prices?: ContextManagerOptions["prices"];
  /**
   * Milliseconds since 1970, for a running prompt to know when the provider's cache is lost. Default: what the `clock` of the manager
   * says, if it has one.
   */
  readonly now?: number;
  /** Items that must be in the prompt, or `BUDGET_EXCEEDED`. */
  readonly pin?: readonly string[];
  /** Say for every candidate why it was kept or dropped. Default: false. */
  readonly explain?: boolean;
  /**
   * Most drops that `stats.dropped_items` lists; `dropped_count` and `dropped_reasons` count all. In a log of ten thousand items the
   * list is most of what a build returns. Default: all.
   */
  readonly list_dropped?: number;
  /**
   * Your own relevance per item id, 0 to 1, such as the similarity of embeddings; it adds to the score.
   * Default: what the manager's `item_scores` returns.
   */
  readonly item_scores?: Readonly<Record<string, number>>;
}

/** What to build for filling in a tool's arguments. */
export type BuildCallOptions = ToolChoice & CallPromptOptions;

/** How to compile the prompt for filling in a tool's arguments. */
export interface CallPromptOptions extends Omit<BuildOptions, "phase"> {
  /** Replaces the tool's own; empty removes it. */
  readonly schema?: JsonObject;
  /** Calls of the tool that stand below its schema. Default: its own. */
  readonly examples?: readonly string[];
  /** What arguments must keep to, as it stands below the schema. Default: its own. */
  readonly constraints?: JsonObject;
}

/** Choosing a tool and compiling the prompt for the choice. Budget, header and the like are those of `build`. */
export interface BuildRouteOptions extends Omit<BuildOptions, "phase"> {
  /** What is wanted; it is routed, and the prompt is compiled for it. */
  readonly query: string;
  /** Ranks the tools, and has their cards. */
  readonly router: Router;
  /** What stands below `[GOAL]` at the head of the prompt. Default: the query. */
  readonly goal?: string;
  /** Filters and the like. */
  readonly route?: Omit<RouteOptions, "history" | "conversation"> & {
    /** What was called before: `"log"` reads it off the log. Default: nothing. */
    readonly history?: RouteHistory | "log";
    /**
     * What a query that does not stand on its own is completed from: `"log"` reads it off the log, an empty list leaves every query
     * as it is. Default: `"log"`.
     */
    readonly conversation?: readonly RouteTurn[] | "log";
  };
  /** Default of `budget_tokens`: half of the prompt's. */
  readonly cards?: CardOptions;
}

/** How much to read of an artifact, and whether it becomes an item. */
export interface DrilldownOptions {
  /** Put the text into the log as an item. Default: false. */
  readonly inject?: boolean;
  /** Parent of the injected item, such as the call that asked for it. */
  readonly parent_id?: string;
  /** Most tokens of the text; `next` of the slice goes on where it ends. Default: no limit. */
  readonly max_tokens?: number;
}

/** Where a recall searches, and how much it answers. */
export interface RecallOptions {
  /** Most tokens of the answer's text. Default: 300. */
  readonly max_tokens?: number;
  /** Only the results and artifacts of these handles. Default: everything. */
  readonly handles?: readonly string[];
  /**
   * Leaves out items that stand whole in the last prompt, for a model that sees them already. The last prompt is known where it
   * goes on with the one before. Default: false.
   */
  readonly hidden_only?: boolean;
}

/** How much a handoff may say. */
export interface HandoffOptions {
  /** Default: 1500. */
  readonly budget_tokens?: number;
}

/** How facts that sessions have in common are found. */
export interface ConsolidateOptions {
  /** How often and how alike facts must be. */
  readonly policy?: {
    /** Default: 3. */
    readonly min_occurrences?: number;
    /** Default: 2. */
    readonly min_sessions?: number;
    /** 0 to 1. Default: 0.5. */
    readonly similarity_threshold?: number;
    /** Default: 90; null never decays. */
    readonly decay_after_days?: number | null;
    readonly timestamp_key?: string;
    readonly session_key?: string;
  };
  /** ISO 8601. Default: the manager's clock; without either, decay is not reported. */
  readonly as_of?: string;
  /** Write the promoted facts to the store. Default: false. */
  readonly apply?: boolean;
}

/** Which memories are chosen, and for what. */
export interface SelectMemoryOptions {
  /** What there is to choose from. */
  readonly entries: readonly MemoryEntry[];
  /** What the prompt is for. */
  readonly phase: Phase;
  /** Most tokens of what is chosen. */
  readonly budget_tokens: number;
  /** What it is about. */
  readonly query?: string;
  /** Most entries that are chosen. Default: as many as fit the budget. */
  readonly max_entries?: number;
  /** In the unit of the entries' `timestamp`. Default: the manager's clock; without either, nothing expires. */
  readonly now?: number;
  /** Put the selected entries into the log. Default: false. */
  readonly ingest?: boolean;
}

/** What a report on a prompt is made of. */
export interface InspectOptions {
  /** What a build returned. */
  readonly pack: ContextPack;
  /** The record of a build with `explain: true`. Default: that of the pack. */
  readonly explanation?: Explanation;
  /** Tokens. Default: the budget of the pack. */
  readonly budget?: number;
}

/** Bytes to store under a handle of your choosing. */
export interface ArtifactInput {
  /** What is under it is replaced. */
  readonly handle: string;
  /** At most 16 MiB; copied, so that the buffer may be reused. */
  readonly content: string | Uint8Array;
  /** Default: `application/octet-stream`. */
  readonly media_type?: string;
  /** A line for people. */
  readonly label?: string;
}

/** How to look for episodes. */
export interface EpisodeSearchOptions {
  /** Most episodes. Default: 5. */
  readonly top_k?: number;
}

/** Which items to count. */
export interface EventCountQuery {
  /** Default: every kind. */
  readonly kinds?: readonly ItemKind[];
}

/** Which items to read. */
export interface EventQuery {
  readonly kinds?: readonly ItemKind[];
  /** Position of the first item. Default: 0. */
  readonly since?: number;
  readonly limit?: number;
}
