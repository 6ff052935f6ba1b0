// The records of the package. Field names are those of the wire format: what a method returns is what JSON.stringify
// writes and what the Python library reads. Sizes are tokens of the estimator in force unless a name says otherwise.

/** Anything JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; a key whose value is `undefined` counts as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

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

/** Why an item is not in the prompt; `pair` means that the call or result it belongs to was dropped. */
export type DropReason = "sensitivity" | "dedup" | "kind_limit" | "budget" | "pair" | (string & {});

/** How the firewall treated a result. */
export type FirewallStrategy = "noop" | "passthrough" | "summary" | "structured" | "llm_summary" | "mixed";

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
export interface ContextItem {
  /** Unique in the log. */
  readonly id: string;
  readonly kind: ItemKind;
  /** What the model may read. At most 8 MiB; larger content belongs into `ingestToolResult`. */
  readonly text: string;
  /** Tokens as you counted them, at most 2^24; 0, the default, means unknown, then they are estimated. */
  readonly token_estimate?: number;
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
  /** Anything, 64 levels deep; `tags`, `section`, `function_name`, `pinned` and `handoff_category` have a meaning. */
  readonly metadata?: JsonObject;
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
  readonly kind: "tool" | "agent" | "skill" | "internal";
  /** The name the model calls. */
  readonly name: string;
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
  readonly metadata?: JsonObject;
}

/** A tool with everything needed to call it. */
export interface HydrationResult {
  readonly item: Required<SelectableItem>;
  /** JSON Schema of the arguments. */
  readonly args_schema: JsonObject;
  readonly examples: readonly JsonValue[];
  /** Conditions on the arguments. */
  readonly constraints: JsonObject;
}

/** A way to look into an artifact; `selector` is what `drilldown` takes. */
export interface ViewSpec {
  readonly view_id: string;
  readonly label: string;
  readonly selector: JsonObject;
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

/** A part of an artifact's text. Lines count from 0, `end` is the line after the last; characters are code points. */
export type Selector =
  | { readonly type: "head"; /** Default: 500. */ readonly chars?: number }
  | { readonly type: "lines" | "rows"; /** Default: 0. */ readonly start?: number; readonly end?: number }
  | { readonly type: "json_keys"; readonly keys: readonly string[] };

/** What a drilldown returns. */
export interface Slice {
  readonly handle: string;
  readonly selector: Selector;
  readonly text: string;
  /** Characters of `text`. */
  readonly chars: number;
  /** Characters of the whole artifact. */
  readonly total_chars: number;
  /** Whether `max_tokens` cut the text. */
  readonly truncated: boolean;
  /** The item of the log that holds the text, when it was injected. */
  readonly item_id?: string;
}

/** A candidate that is not in the prompt, and why. */
export interface DroppedItem {
  readonly item_id: string;
  readonly reason: DropReason;
  /** The stage that decided; absent under `compat: "0.18"`. */
  readonly stage?: Stage;
  /** Tokens it would have cost; absent under `compat: "0.18"`. */
  readonly tokens?: number;
}

/** The numbers of one build. `included_count + dropped_count === total_candidates`. */
export interface BuildStats {
  /** Tokens per kind, in order of first appearance. */
  readonly tokens_per_section: Readonly<Record<string, number>>;
  readonly total_candidates: number;
  readonly included_count: number;
  readonly dropped_count: number;
  readonly dropped_reasons: Readonly<Record<string, number>>;
  /** Every drop. */
  readonly dropped_items: readonly DroppedItem[];
  readonly dedup_removed: number;
  /** Items brought in because another one needs them. */
  readonly dependency_closures: number;
  readonly header_footer_tokens: number;
  readonly token_estimator: string;
  readonly firewall_events: readonly FirewallStats[];
  /** Tokens of the whole prompt, at most the budget; absent under `compat: "0.18"`. */
  readonly prompt_tokens?: number;
  /** Tokens the prompt may have; absent under `compat: "0.18"`. */
  readonly budget_tokens?: number;
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
  /** Whether it stands out of log order because an append-only prompt recalled it. */
  readonly recalled?: boolean;
}

/** How a prompt of append mode relates to the one before. */
export interface PrefixReport {
  /** Bytes shared with the previous prompt of the phase. */
  readonly shared_bytes: number;
  readonly previous_bytes: number;
  /** Why they part. */
  readonly reason: "none" | "first" | "header" | "footer" | "overflow" | "changed" | "options";
}

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
  /** This and all below: absent under `compat: "0.18"` and in what `inspect` returns. */
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
  /** Digests of the results in the prompt. */
  readonly envelopes: readonly ResultEnvelope[];
  /** The items of the prompt in prompt order; absent under `compat: "0.18"`. */
  readonly items?: readonly RenderedItem[];
  /** What you should know; absent when there is nothing. */
  readonly warnings?: readonly string[];
  /** With `explain: true`. */
  readonly explanation?: Explanation;
  /** In append mode. */
  readonly prefix?: PrefixReport;
}
