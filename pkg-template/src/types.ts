// The records of the package. Field names are those of the wire format: what a method returns is what JSON.stringify
// writes and what the Python library reads. Sizes are tokens of the estimator in force unless a name says otherwise.

/** Anything JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; a key whose value is `undefined` counts as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * What of a type is JSON: what is not, such as a `Date` or a function, becomes `never`. A value of an interface, which has no
 * index signature and so is no {@link JsonObject}, is given as `T & Jsonable<T>`.
 */
export type Jsonable<T> = T extends JsonValue | undefined
  ? T
  : T extends ((...args: never[]) => unknown) | symbol | bigint | Date | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
    ? never
    : { readonly [K in keyof T]: Jsonable<T[K]> };

/** How far a text may travel, ascending. From the policy's floor on (default `confidential`) it is not shown. */
export type Sensitivity = "public" | "internal" | "confidential" | "restricted";

/** What the prompt is for: choose a tool, fill in its arguments, understand a result, answer the user. */
export type Phase = "route" | "call" | "interpret" | "answer";

/** What an item of the event log is. A `tool_result` names its call in `parent_id`. */
export type ItemKind =
  | "user_turn"
  | "agent_msg"
  | "tool_call"
  | "tool_result"
  | "doc_snippet"
  | "retrieved_doc"
  | "memory_fact"
  | "plan_state"
  | "policy";

/** The stage of a build that decided about an item. */
export type Stage = "candidates" | "closure" | "sensitivity" | "firewall" | "score" | "dedup" | "select" | "render";

/** In which form an item stands in the prompt. */
export type RenderedAs = "whole" | "excerpt" | "stub" | "redacted";

/**
 * Why an item is not in the prompt; `near_repeat` means that others in the prompt have all of its lines and that no room was
 * left when these had their turn, `pair` that the call or result it belongs to was dropped.
 */
export type DropReason = "sensitivity" | "dedup" | "kind_limit" | "budget" | "near_repeat" | "pair" | (string & {});

/** How the firewall treated a result. */
export type FirewallStrategy =
  | "noop"
  /** Below the threshold, unchanged. */
  | "passthrough"
  /** A digest stands for it. */
  | "summary"
  /** The same content in fewer tokens: white space, repeats and repeated keys gone, nothing lost. */
  | "reshaped"
  /** The paths of `keep` stand for it. */
  | "structured"
  /** A summary by a model stands for it. */
  | "llm_summary"
  /** Several, in a sum only. */
  | "mixed";

/** A reference to stored bytes. */
export interface ArtifactRef {
  /** The name under which the bytes are found. */
  readonly handle: string;
  /** MIME type. */
  readonly media_type: string;
  /** Size in bytes. */
  readonly size_bytes: number;
  /** A line for people, often empty. */
  readonly label: string;
  /** Lower-case hexadecimal SHA-256 of the bytes. */
  readonly content_hash?: string;
}

/** A reference as you pass it in. */
export type ArtifactRefInput = Omit<ArtifactRef, "label"> & Partial<Pick<ArtifactRef, "label">>;

/** An entry of the event log as you pass it in. At most 100,000 in one log. */
export interface ContextItem<M extends object = JsonObject> {
  /** Unique in the log. */
  readonly id: string;
  readonly kind: ItemKind;
  /** What the model may read. At most 8 MiB; larger content belongs into `ingestToolResult`. */
  readonly text: string;
  /** Tokens as you counted them, at most 2^24; 0, the default, means unknown, then they are estimated. */
  readonly token_estimate?: number;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
  /** Any JSON object, 64 levels deep; `tags`, `section`, `function_name`, `pinned` and `handoff_category` have a meaning. */
  readonly metadata?: M;
  /** The item this one answers to: of a result, its call. */
  readonly parent_id?: string | null;
  /** Where the full content is kept. */
  readonly artifact_ref?: ArtifactRefInput | null;
}

/** An entry of the event log as the package returns it: every field is there. */
export interface StoredItem extends ContextItem {
  readonly token_estimate: number;
  readonly sensitivity: Sensitivity;
  readonly metadata: JsonObject;
  readonly parent_id: string | null;
  readonly artifact_ref: ArtifactRef | null;
}

/** A fact as the package returns it. */
export type StoredFact = Required<Fact>;

/** An episode as the package returns it. */
export type StoredEpisode = Required<Episode>;

/** A remembered key and value. At most 10,000 in one store. */
export interface Fact {
  /** Unique in the store. Default: made from the key. */
  readonly fact_id?: string;
  readonly key: string;
  readonly value: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
}

/** A past conversation in a sentence or two. At most 10,000 in one store. */
export interface Episode {
  /** Names the episode; need not be unique. */
  readonly episode_id: string;
  readonly summary: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
}

/** An entry of your memory, to be selected per phase and query. */
export interface MemoryEntry {
  /** Unique among the entries. */
  readonly id: string;
  readonly text: string;
  /** Where it was learned. */
  readonly source?: string;
  /** When, in a unit of your choice. Default: 0. */
  readonly timestamp?: number;
  /** What it is about; each phase prefers certain scopes. */
  readonly scope?: string;
  readonly sensitivity?: Sensitivity;
  /** How sure you are, 0 to 1. Default: 1. */
  readonly confidence?: number;
  /** When it stops being true, in the unit of `timestamp`. */
  readonly expires_at?: number | null;
  /** They count for matching. */
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
}

/** Something that can be chosen: a tool, an agent, a skill. */
export interface SelectableItem {
  /** Unique in a catalog. */
  readonly id: string;
  readonly kind: "tool" | "agent" | "skill" | "internal" | "flow" | "resource" | "prompt";
  /** The name the model calls. */
  readonly name: string;
  /** The name people read, where it is another one. */
  readonly title?: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly namespace?: string;
  /** JSON Schema of the arguments. */
  readonly args_schema?: JsonObject;
  /** JSON Schema of the result. */
  readonly output_schema?: JsonObject | null;
  /** Whether calling it changes something. Default: false. */
  readonly side_effects?: boolean;
  /** Relative cost; 0, the default, means unknown. */
  readonly cost_hint?: number;
  readonly examples?: readonly string[];
  /** Conditions on the arguments. */
  readonly constraints?: JsonObject;
  /** Anything; the key `_contextweaver` is reserved. */
  readonly metadata?: JsonObject;
  /** Ids of tools to call before this one. */
  readonly depends_on?: readonly string[];
  /** What a call of it makes available to other tools. */
  readonly provides?: readonly string[];
  /** What must have been provided before it is of use. */
  readonly requires?: readonly string[];
}

/** A tool as it is kept: with every field that has a default. */
export interface StoredTool
  extends Required<Omit<SelectableItem, WithoutDefault>>, Pick<SelectableItem, WithoutDefault> {}
type WithoutDefault = "title" | "depends_on" | "provides" | "requires";

/** The tools of a catalog, in the order of their ids. */
export interface CatalogJson {
  readonly items: readonly StoredTool[];
}

/** The same as you pass it in, in any order. */
export interface CatalogInput {
  readonly items: readonly SelectableItem[];
}

/** A tool with everything needed to call it. The last three fields are there when arguments were given. */
export interface HydrationResult {
  readonly item: StoredTool;
  /** JSON Schema of the arguments. */
  readonly args_schema: JsonObject;
  readonly examples: readonly string[];
  /** Conditions on the arguments. */
  readonly constraints: JsonObject;
  /** The arguments given and, after them, those found. */
  readonly arguments?: JsonObject;
  /** Where each argument found came from; `path` is a JSON pointer into the item's text. */
  readonly context_used?: readonly {
    readonly argument: string;
    readonly source: { readonly fact_id: string } | { readonly item_id: string; readonly path: string };
  }[];
  /** Required arguments that are neither given nor found. */
  readonly missing?: readonly string[];
}

/** A way to look into an artifact; `selector` is what `drilldown` takes. */
export interface ViewSpec {
  readonly view_id: string;
  readonly label: string;
  /** In an envelope from elsewhere it may be anything. */
  readonly selector: Selector;
  readonly artifact_ref: ArtifactRef | null;
}

/** A view as you pass it in. */
export interface ViewSpecInput {
  readonly view_id: string;
  readonly label: string;
  readonly selector?: JsonObject;
  readonly artifact_ref?: ArtifactRefInput | null;
}

/** What the firewall did to one result, or to all of a build. */
export interface FirewallStats {
  /** Whether the text was replaced. */
  readonly triggered: boolean;
  readonly strategy: FirewallStrategy;
  /** The gate in characters; 0 where the gate is in tokens. */
  readonly threshold_chars: number;
  readonly original_chars: number;
  readonly original_tokens: number;
  readonly summary_chars: number;
  readonly summary_tokens: number;
  /** Handle of the kept bytes. */
  readonly artifact_ref: string | null;
  readonly summarized_by_llm: boolean;
  readonly llm_provider: Readonly<Record<string, string>> | null;
}

/** A tool result as the model sees it, with references to what was left out. */
export interface ResultEnvelope {
  readonly status: "ok" | "partial" | "error";
  /** What stands in the prompt. */
  readonly summary: string;
  /** `key: value` lines found in the result. */
  readonly facts: readonly string[];
  readonly artifacts: readonly ArtifactRef[];
  /** Ways to look into the artifact, first what matters, then all of it page by page; of a large result only. */
  readonly views: readonly ViewSpec[];
  /** Where the result comes from. */
  readonly provenance: JsonObject;
  readonly firewall_stats?: FirewallStats;
}

/** An envelope as you pass it in; everything but status and summary may be left out. */
export interface EnvelopeInput {
  /** `success` counts as `ok`. */
  readonly status: ResultEnvelope["status"] | "success";
  readonly summary: string;
  readonly facts?: readonly string[];
  readonly artifacts?: readonly ArtifactRefInput[];
  readonly views?: readonly ViewSpecInput[];
  readonly provenance?: JsonObject;
  readonly firewall_stats?: FirewallStats;
}

/** A condition on a row; numbers compare as numbers, and an absent or empty cell equals null and `""`. */
export type RowCondition = {
  readonly column: string;
  /** Default: `=`. */
  readonly op?: "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains";
  /** Default: null. */
  readonly value?: string | number | boolean | null;
};

/**
 * A part of an artifact's text, secrets masked. Characters are code points. Everything counts from 0, `end` is the one
 * after the last; where both are whole numbers of units (not in `head`, `tail`), a negative one counts from the end.
 *
 * Of all types but `head`, `tail` and `around`, `start` and `end` choose among what {@link Slice.unit} counts, and
 * `offset` skips so many characters of the first unit: `next` of a slice that was cut sets it.
 */
export type Selector =
  /** Characters from `start` (0) on; `chars` is 500 by default. */
  | { readonly type: "head"; readonly chars?: number; readonly start?: number }
  /** Characters before `end` (all); `chars` is 500 by default. */
  | { readonly type: "tail"; readonly chars?: number; readonly end?: number }
  | { readonly type: "lines"; readonly start?: number; readonly end?: number; readonly offset?: number }
  /** A line with `context` (6) lines on either side. */
  | { readonly type: "around"; readonly line: number; readonly context?: number }
  /**
   * Records of a table, of NDJSON, or of the array that a JSON text is or holds; of any other text its lines. Row 0 of
   * a table is its header, which also stands above other rows; with `header: false` it is a row like any.
   */
  | {
      readonly type: "rows";
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
      /** Default: all. */
      readonly columns?: readonly string[];
      /** All must hold. */
      readonly where?: readonly RowCondition[];
      readonly header?: boolean;
    }
  /** Members of the object that a JSON text is. */
  | {
      readonly type: "json_keys";
      readonly keys: readonly string[];
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
    }
  /** What a path leads to, such as `items[0].name`, `items[2:5]` or `items[].name`. */
  | {
      readonly type: "json_path";
      readonly path: string;
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
    }
  /** Lines about each hit of a text, or the smallest JSON values that hold it. */
  | {
      readonly type: "search";
      /** As it is written; with `regex` an expression, as `pattern` is below. */
      readonly text: string;
      readonly pattern?: never;
      /** Default: false. */
      readonly regex?: boolean;
      /** Default: false. */
      readonly ignore_case?: boolean;
      /** Lines before and after a hit. Default: 2. */
      readonly context?: number;
      /** Default: 20; at most 1000. */
      readonly max_hits?: number;
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
    }
  /** The same for a regular expression without groups that capture and without look-around. */
  | {
      readonly type: "search";
      /** At most 1024 bytes. */
      readonly pattern: string;
      readonly text?: never;
      readonly regex: true;
      readonly ignore_case?: boolean;
      readonly context?: number;
      readonly max_hits?: number;
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
    }
  /** Names and types of columns. */
  | { readonly type: "columns"; readonly start?: number; readonly end?: number; readonly offset?: number }
  /** Counts, ranges and frequent values of columns. */
  | {
      readonly type: "stats";
      /** Default: all. */
      readonly columns?: readonly string[];
      readonly start?: number;
      readonly end?: number;
      readonly offset?: number;
    }
  /** What the text consists of: headings, keys, files, levels. */
  | { readonly type: "outline"; readonly start?: number; readonly end?: number; readonly offset?: number };

/** A place that a recall found. */
export interface RecalledExcerpt {
  /** The item of the log. Absent for an artifact that no item refers to. */
  readonly item_id?: string;
  readonly kind?: ItemKind;
  /** By which {@link ContextManager.drilldown} reads on. Absent for what is no result and no artifact, or is not in memory. */
  readonly handle?: string;
  /** Secrets masked, and lines escaped that could pass for a label. */
  readonly text: string;
  /** First character shown, from 0, as the selector `head` counts: secrets masked, nothing escaped. */
  readonly start: number;
  /** Character after the last one shown. */
  readonly end: number;
  /** Characters there are. */
  readonly total: number;
  /** The share of the query, rare words counting more, that stands in the best place of the excerpt: 1 is all of it. */
  readonly score: number;
}

/** What a recall found. */
export interface RecallAnswer {
  /**
   * Lines of the standing instructions that the query speaks of, and the excerpts for a model, the best first, each below a line that says
   * where it stands. Empty when nothing was found.
   */
  readonly text: string;
  /** Of `text`. */
  readonly tokens: number;
  readonly excerpts: readonly RecalledExcerpt[];
  /** Standing instructions that the query speaks of, at most four and what took their place, with whether they hold. */
  readonly rules: readonly StandingRule[];
  /** Artifacts that were not searched, at most 16: their bytes are not in memory, or the search had read 8 MiB before. */
  readonly unread: readonly string[];
}

/** A part of an artifact. */
export interface Slice {
  readonly handle: string;
  /** As it was given. */
  readonly selector: Selector;
  /** The part, secrets masked. */
  readonly text: string;
  /** Tokens of `text`, at most `max_tokens`. */
  readonly tokens: number;
  /** What `total`, `start` and `end` count. */
  readonly unit: "chars" | "lines" | "rows" | "keys" | "items" | "values" | "hits" | "columns" | "entries";
  /** Units there are; of rows with conditions, those that fulfil them. */
  readonly total: number;
  /** The first one shown. */
  readonly start: number;
  /** The one after the last that is shown whole. */
  readonly end: number;
  /** Whether `max_tokens`, or `max_hits` of a search, left less than was asked for. */
  readonly truncated: boolean;
  /** The selector of the rest; absent when there is none, and when `max_tokens` has no room for one character. */
  readonly next?: Selector;
  /** The item of the log that holds the text, when it was injected. */
  readonly item_id?: string;
}

/** A candidate that is not in the prompt, and why. */
export interface DroppedItem {
  readonly item_id: string;
  readonly reason: DropReason;
  /** The stage that decided. */
  readonly stage?: Stage;
  /** Tokens it would have cost. */
  readonly tokens?: number;
}

/** The numbers of one build. `included_count + dropped_count === total_candidates`. */
export interface BuildStats {
  /**
   * Tokens per kind, in order of first appearance. A function as `estimator` counts each section by itself, so that their
   * sum may differ from `prompt_tokens`.
   */
  readonly tokens_per_section: Readonly<Record<string, number>>;
  readonly total_candidates: number;
  readonly included_count: number;
  readonly dropped_count: number;
  readonly dropped_reasons: Readonly<Record<string, number>>;
  /** Every drop, or the first `list_dropped`. */
  readonly dropped_items: readonly DroppedItem[];
  readonly dedup_removed: number;
  /** Items brought in because another one needs them. */
  readonly dependency_closures: number;
  readonly header_footer_tokens: number;
  readonly token_estimator: string;
  readonly firewall_events: readonly FirewallStats[];
  /** Tokens of the whole prompt, at most the budget. */
  readonly prompt_tokens?: number;
  /** Tokens the prompt may have. */
  readonly budget_tokens?: number;
  /** What made other tokens of the budget that was asked for; absent where nothing is known of the model. */
  readonly calibration?: TokenCalibration;
  /** The ledger in the prompt; absent where there is none. Its tokens are among those of header and footer. */
  readonly ledger?: LedgerStats;
  /** The standing instructions that the prompt repeats; absent where there are none. Their tokens are among those of header and footer. */
  readonly rules?: RulesStats;
}

/** What a prompt says of what the user stated and it does not show elsewhere. */
export interface RulesStats {
  /** Tokens with what is put around them, at most a twelfth of the budget, and 360. */
  readonly tokens: number;
  /** Statements that it repeats. */
  readonly statements: number;
}

/** What an instruction of the user does. */
export type StatementKind =
  | "prohibition"
  | "condition"
  | "limit"
  | "format"
  | "definition"
  | "identity"
  | "approval"
  | "decision"
  | "instruction";

/**
 * Whether an instruction of the user holds: `in_force`, `once` for one that was for one time alone, `replaced` by what was said
 * later, or `withdrawn`.
 */
export type RuleState = "in_force" | "once" | "replaced" | "withdrawn";

/** An instruction that the user gave, as far as its form tells, or that you added. */
export interface StandingRule {
  /** The item, and the place among what was found in it, from 1 on: `u1#1`. Of what you added, its own: `rule:0`. */
  readonly id: string;
  /** The user's words, or those that you put in their place; secrets are masked. */
  readonly text: string;
  readonly kind: StatementKind;
  readonly state: RuleState;
  /** What it was recognised by, for people to read: `says "never"`, `a limit with a number`, `added by the caller`. */
  readonly why: string;
  /** The turn that it was said in; absent where you added it. */
  readonly item_id?: string;
  /** The user's words, where you put others in their place. */
  readonly said?: string;
  /** The instruction that took its place or took it back; absent where you withdrew it. */
  readonly replaced_by?: string;
}

/** What a prompt says of what left it: identifiers, and where they are found again. */
export interface LedgerStats {
  /** Tokens with what is put around it, at most a fiftieth of the budget, a twenty-fifth in a running prompt. */
  readonly tokens: number;
  /** Identifiers that it names. */
  readonly identifiers: number;
}

/** What is known of the tokens of a model. */
export interface TokenCalibration {
  readonly model: string;
  /** Tokens of the model for one of the estimator, in hundredths, 0.4 to 2.5. */
  readonly factor: number;
  /** Calls that this was seen in, at most 16. */
  readonly observations: number;
}

/** One item of the prompt. */
export interface RenderedItem {
  readonly id: string;
  readonly rendered_as: RenderedAs;
  /** Tokens with heading and separator. */
  readonly tokens: number;
  /** First byte of the section in the prompt (UTF-8). */
  readonly start: number;
  /** Byte after the section. */
  readonly end: number;
  /** Characters that an excerpt leaves out. */
  readonly omitted_chars?: number;
  /** Whether it is an excerpt of an item that left a running prompt, which stands behind what was there. */
  readonly recalled?: boolean;
}

/** A step of a running prompt: what it repeats of the one before, and what it costs. */
export interface RunningStep {
  /** Number of the step in its phase, from 1. */
  readonly step: number;
  /**
   * Why the prompt does not go on with the one before: `first` (there is none), `full` (the next one would not fit), `pays` (a
   * shorter one pays itself back), `cold` (the provider's cache is lost: too much time, another model, other tools), `uncached`
   * (there is no cache), `instructions`, `budget`, `edited` (something in it was edited, withheld or forgotten), `pinned`
   * (something must be in it that left), `format` (it was in another format) or `restored` (what stood in it is not stored any
   * more). Absent where it goes on.
   */
  readonly cut?: "first" | "full" | "pays" | "cold" | "uncached" | "instructions" | "budget" | "edited" | "pinned" | "format" | "restored";
  /** Tokens of the call: the prompt, and what stands beside it. */
  readonly tokens: number;
  /** Tokens of these that repeat the call before, from its beginning on. */
  readonly repeated_tokens: number;
  /** Tokens that the whole conversation has, with what stands beside it: what would be sent without contextweaver. */
  readonly tokens_without: number;
  /** Price of the call, in prices of a token that is neither read from a cache nor written to one. */
  readonly cost: number;
  /** What the same call would have cost with the whole conversation. */
  readonly cost_without: number;
  /** Whether something of the conversation is not shown, or in part. */
  readonly hides: boolean;
}

/** Sums over the steps of a running prompt. */
export interface RunningCosts {
  /** Count of the steps. */
  readonly steps: number;
  /** Count of those that did not go on with the one before. */
  readonly cuts: number;
  /** Tokens of all calls. */
  readonly tokens: number;
  /** Tokens of these that repeat the call before. */
  readonly repeated_tokens: number;
  /** Tokens that the calls would have had with the whole conversation. */
  readonly tokens_without: number;
  /** Price of all calls, in prices of a token that is neither read from a cache nor written to one. */
  readonly cost: number;
  /** What the calls would have cost with the whole conversation. */
  readonly cost_without: number;
}

/** How a block of items came into a prompt. */
export type TakenBy = "all" | "pinned" | "newest" | "priority" | "parent";

/** One candidate's fate. */
export interface CandidateExplanation {
  readonly item_id: string;
  readonly kind: ItemKind;
  /** Its label after classification. */
  readonly sensitivity: Sensitivity;
  /** 4 decimals; null when it left before scoring. */
  readonly score: number | null;
  readonly included: boolean;
  /** Empty when included. */
  readonly drop_reason: DropReason | "";
  readonly dependency_closure: boolean;
  /** This and all below: absent in what `inspect` returns. */
  readonly stage?: Stage;
  /** Tokens it costs in the prompt, or would cost whole. */
  readonly tokens?: number;
  /** The items that enter and leave with it share this number. */
  readonly unit?: number;
  readonly rendered_as?: RenderedAs | null;
  /** What the score is made of. */
  readonly parts?: { readonly text: number; readonly neighbours: number; readonly caller: number };
  /** Why it had to be in the prompt, or null. */
  readonly pinned?: string | null;
  /** Tokens of its block in full: of all items that enter and leave with it. */
  readonly block_tokens?: number;
  /** What its block was ordered by: the highest score in it over the fifth root of its size; null when it was not compared. */
  readonly priority?: number | null;
  /** Tokens that were free when the turn of its block came; null when it was not weighed by its priority. */
  readonly room_tokens?: number | null;
  /**
   * Tokens that its block needed then, in the smallest form that was tried. Of a block that was left out more than
   * `room_tokens`, or more than is worth trying in the last ten.
   */
  readonly needed_tokens?: number | null;
  /** How its block came in: everything had room, a pin, the share of the newest, its priority, or one that answers to it. */
  readonly taken_by?: TakenBy | null;
}

/** The record of one build. It holds no text of any item. */
export interface Explanation {
  readonly version: number;
  readonly phase: Phase;
  /** The query, secrets redacted. */
  readonly query: string;
  readonly total_candidates: number;
  readonly included_count: number;
  readonly dropped_count: number;
  readonly dropped_reasons: Readonly<Record<string, number>>;
  readonly dependency_closures: number;
  readonly sensitivity_drops: number;
  readonly dedup_removed: number;
  /** Tokens left for items after header and footer. */
  readonly budget_tokens: number;
  readonly resolved_weights: JsonObject;
  /** Included first, then by score descending, then by id. */
  readonly candidates: readonly CandidateExplanation[];
}

/** A compiled prompt with its record. */
export interface ContextPack {
  /** The text for the model. */
  readonly prompt: string;
  readonly stats: BuildStats;
  readonly phase: Phase;
  /** Digests of the results in the prompt, without their views: `artifacts.views` has those. */
  readonly envelopes: readonly ResultEnvelope[];
  /** The items of the prompt in prompt order. */
  readonly items?: readonly RenderedItem[];
  /** What you should know; absent when there is nothing. */
  readonly warnings?: readonly string[];
  /** With `explain: true`. */
  readonly explanation?: Explanation;
  /** The step of a running prompt; absent in one that was compiled for itself. */
  readonly running?: RunningStep;
}
