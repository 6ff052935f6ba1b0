// The records of the package. Field names are those of the wire format: what a method returns is what JSON.stringify
// writes and what the Python library reads. Sizes are tokens of the estimator in force unless a name says otherwise.
import type {
  ArtifactRef,
  DropReason,
  FirewallStats,
  ItemKind,
  RenderedAs,
  ResultEnvelope,
  Sensitivity,
  Slice,
  Stage,
  TakenBy,
} from "./generated.js";

export type {
  ArtifactRef,
  BuildStats,
  ContextPack,
  DropReason,
  DroppedItem,
  Explanation,
  FirewallStats,
  FirewallStrategy,
  ItemKind,
  LedgerStats,
  Phase,
  RecallAnswer,
  RecalledExcerpt,
  RenderedAs,
  RenderedItem,
  ResultEnvelope,
  RuleState,
  RulesStats,
  RunningCosts,
  RunningStep,
  Sensitivity,
  Slice,
  Stage,
  StandingRule,
  StatementKind,
  TakenBy,
  TokenCalibration,
  ViewSpec,
} from "./generated.js";

/** Bytes in a buffer of their own: `Uint8Array<ArrayBuffer>`, in words that TypeScript 5.4 knows, too. */
export type Bytes = ReturnType<Uint8Array["slice"]>;

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
  : T extends
        | ((...args: never[]) => unknown)
        | symbol
        | bigint
        | Date
        | ReadonlyMap<unknown, unknown>
        | ReadonlySet<unknown>
    ? never
    : { readonly [K in keyof T]: Jsonable<T[K]> };

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
  extends Required<Omit<SelectableItem, WithoutDefault>>,
    Pick<SelectableItem, WithoutDefault> {}
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

/** A view as you pass it in. */
export interface ViewSpecInput {
  readonly view_id: string;
  readonly label: string;
  readonly selector?: JsonObject;
  readonly artifact_ref?: ArtifactRefInput | null;
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

/**
 * A condition on a row. A number equals what is the same number, a text what is the same text; an absent or empty cell equals null and
 * `""`. By a number only numbers are ordered.
 */
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

/** Something that was repaired, or could not be kept. */
export interface MessageWarning {
  /** What kind of thing, in upper case. */
  readonly code: string;
  readonly message: string;
  /** JSON pointer to what it is about, such as `/messages/3/content/0`. */
  readonly path: string;
}
