// Compiled, never run: the package's types, which are written by hand, against generated.ts, which the engine's records
// are written to by `cargo test bindings`.
//
// Where a comparison is not of two whole types, the comment says what only one side knows.
import type {
  ArtifactInput,
  ArtifactRef,
  ArtifactRefInput,
  Bm25nScoring,
  BrowseOptions,
  BrowsePage,
  CapabilityDiff,
  BuildCallOptions,
  BuildOptions,
  BuildReport,
  BuildReportData,
  BuildStats,
  BuiltRoute,
  CandidateExplanation,
  CardOptions,
  CatalogDiff,
  NormalizedTools,
  RoutingImpact,
  CatalogFinding,
  ConversionWarning,
  CatalogJson,
  CatalogOptions,
  ChoiceCard,
  ChoiceGraphJson,
  Classifier,
  CompactOptions,
  CompactResult,
  CompatCompactOptions,
  CompatCompactResult,
  ConsolidateOptions,
  Consolidation,
  ContextBudget,
  ContextBuilt,
  ContextItem,
  ContextManagerOptions,
  ContextPack,
  ContextPolicy,
  DrilldownOptions,
  DroppedItem,
  EnvelopeInput,
  EnvelopeResultInput,
  Episode,
  EpisodeSearchOptions,
  ErrorCode,
  Estimator,
  EventCountQuery,
  EventQuery,
  Explanation,
  Extractor,
  Fact,
  FeedbackWeights,
  FirewallStats,
  FirewallStrategy,
  ForgottenItem,
  Handoff,
  HandoffEntry,
  HandoffOptions,
  HandoffPack,
  HookEvent,
  HydrateOptions,
  HydrationResult,
  Hooks,
  InspectOptions,
  Inspection,
  ItemKind,
  JsonObject,
  JsonValue,
  Lexicon,
  LintOptions,
  ManagerStats,
  McpCatalogOptions,
  McpHints,
  McpSession,
  McpListOptions,
  McpReadOptions,
  McpToolOptions,
  MemoryEntry,
  MemorySelection,
  NamespaceCount,
  PackedCards,
  Phase,
  PrefixReport,
  ProviderTools,
  RedactionHook,
  ReferenceScoring,
  ReferenceWeights,
  RenderedAs,
  RenderedItem,
  ResultEnvelope,
  RouteExplanation,
  RouteHistory,
  RouteMatch,
  RouteOptions,
  RouteResult,
  RouteTrace,
  Router,
  RouterOptions,
  SelectMemoryOptions,
  SelectableItem,
  SelectionOptions,
  SelectionResult,
  SelectionSchemaOptions,
  Selector,
  Sensitivity,
  Slice,
  ObservedUsage,
  TokenCalibration,
  Snapshot,
  Stage,
  StoredEpisode,
  StoredFact,
  StoredItem,
  RevisionChange,
  SessionOptions,
  SessionProblem,
  StoredTool,
  WrittenMcpTool,
  Summarizer,
  SummaryRequest,
  SummaryRequestOptions,
  SuppliedSummary,
  ToolFeedback,
  ToolProvider,
  ToolResult,
  ToolResultInput,
  ToolsForOptions,
  ViewSpec,
  ViewSpecInput,
} from "contextweaver";
import type { AnswerKeys, Inputs, Records } from "./generated.js";

/** Hooks that the facade tells what the engine does not know of. */
type OfFacade = "build_failed" | "tool_executed";

type Primitive = string | number | boolean | null | undefined;

/** The same type with nothing that could be assigned. JSON of any kind refers to itself and stays as it is. */
type DeepReadonly<T> = JsonValue extends T
  ? T
  : T extends Primitive
    ? T
    : T extends readonly (infer Item)[]
      ? readonly DeepReadonly<Item>[]
      : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The same type with optional fields made visible: assignability ignores one that only one side has. */
type Explicit<T> = JsonValue extends T
  ? T
  : IsSelector<T> extends true
    ? Explicit<DeepReadonly<JsonObject>> | Extract<T, undefined>
    : ExplicitData<T>;
type ExplicitData<T> = T extends Primitive
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Explicit<Item>[]
    : { [Key in keyof T]-?: {} extends Pick<T, Key> ? { optional: Explicit<T[Key]> } : Explicit<T[Key]> };

/** Selectors are any object to the engine's records. */
type IsSelector<T> = [Selector, NonNullable<T>] extends [T, Selector] ? true : false;

/** JSON knows no `readonly`, so both sides get it: records are written without it, results are handed out with it. */
type Comparable<T> = Explicit<DeepReadonly<T>>;

/** `true` when each of two types can be assigned to the other, else the names of the fields that differ. */
type Same<A, B> = [Comparable<A>, Comparable<B>] extends [Comparable<B>, Comparable<A>] ? true : Difference<A, B>;
type Difference<A, B> = { differs: [Fields<A, B>] extends [never] ? [A, B] : Fields<A, B> };
type Fields<A, B> = [A, B] extends [object, object]
  ? { [Key in keyof A | keyof B]: DiffersAt<A, B, Key> }[keyof A | keyof B]
  : never;
type DiffersAt<A, B, Key> = Key extends keyof A & keyof B ? (Same<A[Key], B[Key]> extends true ? never : Key) : Key;
declare function same<A, B>(): Same<A, B>;

/**
 * `true` when the type of an input asks for everything the engine needs, and has no field that the engine refuses. It
 * may ask for more, where something is better said than left to a default.
 */
declare function input<Name extends keyof Inputs, T>(): [Inputs[Name]["required"]] extends [RequiredKeys<T>]
  ? [Inputs[Name]["fields"]] extends [never]
    ? true
    : Same<Inputs[Name]["fields"], keyof T>
  : { needed: Exclude<Inputs[Name]["required"], RequiredKeys<T>> };
type WithTool<T> = Omit<Extract<T, { readonly tool: SelectableItem }>, "tool_id">;
type RequiredKeys<T> = { [Key in keyof T]-?: {} extends Pick<T, Key> ? never : Key }[keyof T];

/** `true` when every A is a B, for what the package deliberately does not describe more closely. */
declare function fits<A, B>(): [A] extends [B] ? true : { unfit: A };

/** `true` when the type is {@link DeepReadonly} already. */
type Identical<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function constant<T>(): Identical<T, DeepReadonly<T>>;

type ChangedTool = CatalogDiff["changed"][number];
/** What the package passes of a route beside the options. */
interface Chosen {
  readonly candidate_ids: readonly string[];
}
type Policy = Required<ContextPolicy>;
type Profile = ContextManagerOptions["profile"];

export const records: { readonly [Name in keyof Records]: true } = {
  ArtifactRef: same<Records["ArtifactRef"], ArtifactRef>(),
  // The method tells the two kinds of weights apart in the options.
  Bm25nWeights: same<Records["Bm25nWeights"], Required<Omit<Bm25nScoring, "method">>>(),
  BrowseChild: same<Records["BrowseChild"], BrowsePage["children"][number]>(),
  BrowsePage: same<Records["BrowsePage"], BrowsePage>(),
  CapabilityChange: same<Records["CapabilityChange"], CapabilityDiff["changed"][number]>(),
  CapabilityDiff: same<Records["CapabilityDiff"], CapabilityDiff>(),
  BuildStats: same<Records["BuildStats"], BuildStats>(),
  TokenCalibration: same<Records["TokenCalibration"], TokenCalibration>(),
  CandidateDetail: same<
    Records["CandidateDetail"],
    Required<Pick<CandidateExplanation, keyof Records["CandidateDetail"]>>
  >(),
  CandidateExplanation: same<Records["CandidateExplanation"], CandidateExplanation>(),
  ImpactExample: same<Records["ImpactExample"], RoutingImpact["impact"]["examples"][number]>(),
  NormaliseReport: same<Records["NormaliseReport"], NormalizedTools["report"]>(),
  RoutingImpact: same<Records["RoutingImpact"], RoutingImpact["impact"]>(),
  CatalogDiff: same<Records["CatalogDiff"], CatalogDiff>(),
  CatalogFinding: same<Records["CatalogFinding"], CatalogFinding>(),
  McpHints: same<Records["McpHints"], McpHints>(),
  // The engine has a tool as any value.
  McpTool: fits<WrittenMcpTool, DeepReadonly<Records["McpTool"]>>(),
  RevisionChange: same<Records["RevisionChange"], RevisionChange>(),
  McpSession: same<Records["McpSession"], McpSession>(),
  SessionProblem: same<Records["SessionProblem"], SessionProblem>(),
  TermOrigin: same<Records["TermOrigin"], RouteMatch["terms"][number]["origin"]>(),
  ToolChange: same<Records["ToolChange"], ChangedTool["changes"][number]>(),
  Warning: same<Records["Warning"], ConversionWarning>(),
  ChangedItem: same<Records["ChangedItem"], ChangedTool>(),
  // The engine has words as strings, here and below; `options` compares them.
  ChoiceCard: same<Omit<Records["ChoiceCard"], "kind" | "safety">, Omit<ChoiceCard, "kind" | "safety">>(),
  CompactResult: same<Records["CompactResult"], CompactResult>(),
  ConsolidationPolicy: same<Records["ConsolidationPolicy"], Required<NonNullable<ConsolidateOptions["policy"]>>>(),
  ConsolidationReport: same<Records["ConsolidationReport"], Consolidation>(),
  // Options may be left out; the record has the defaults in their place.
  ContextBudget: same<Records["ContextBudget"], Required<ContextBudget>>(),
  ContextItem: same<Records["ContextItem"], StoredItem>(),
  ContextPack: same<Records["ContextPack"], ContextPack>(),
  ContextPolicy: same<Records["ContextPolicy"], Policy>(),
  DroppedItem: same<Records["DroppedItem"], DroppedItem>(),
  Episode: same<Records["Episode"], StoredEpisode>(),
  EpisodeCluster: same<Records["EpisodeCluster"], Consolidation["clusters"][number]>(),
  ErrorCode: same<Records["ErrorCode"], ErrorCode>(),
  // The facade adds the record of a build, and tells of failures and of the tools of adapters by itself.
  Event: same<Records["Event"], Exclude<HookEvent, { readonly hook: "context_built" | OfFacade }> | Pick<ContextBuilt, "hook" | "phase">>(),
  Explanation: same<Records["Explanation"], Explanation>(),
  Fact: same<Records["Fact"], StoredFact>(),
  FirewallStats: same<Records["FirewallStats"], FirewallStats>(),
  HandoffCategory: same<Records["HandoffCategory"], HandoffEntry["category"]>(),
  HandoffEntry: same<Records["HandoffEntry"], HandoffEntry>(),
  Ingested: same<Records["Ingested"], ToolResult>(),
  ItemKind: same<Records["ItemKind"], ItemKind>(),
  // The item is compared by itself, and where arguments come from is put together without a record.
  HydrationResult: same<
    Omit<Records["HydrationResult"], "item" | "context_used">,
    Omit<HydrationResult, "item" | "context_used">
  >(),
  // The facade counts what hooks throw.
  ForgottenItem: same<Records["ForgottenItem"], ForgottenItem>(),
  ManagerStats: same<Records["ManagerStats"], Omit<ManagerStats, "hook_errors">>(),
  MatchedField: same<Records["MatchedField"], RouteMatch["terms"][number]["fields"][number]>(),
  MatchedTerm: same<Records["MatchedTerm"], RouteMatch["terms"][number]>(),
  MemoryEntry: same<Records["MemoryEntry"], Required<MemoryEntry>>(),
  Mode: fits<{ mode: Records["Mode"] }, Profile>(),
  // What the engine asks is what the caller's functions take.
  Need: same<
    Records["Need"],
    | { kind: "count"; text: Parameters<Estimator>[0] }
    | { kind: "classify"; item: Parameters<Classifier>[0] }
    | { kind: "summarize"; item: Parameters<Summarizer>[0]; text: Parameters<Summarizer>[1] }
    | { kind: "extract"; item: Parameters<Extractor>[0]; text: Parameters<Extractor>[1] }
    | { kind: "redact"; hook: string; item: Parameters<RedactionHook>[0] }
  >(),
  OverflowAction: same<Records["OverflowAction"], Policy["overflow_action"]>(),
  PackedCards: same<Omit<Records["PackedCards"], "cards">, Omit<PackedCards, "cards" | "skipped">>(),
  Phase: same<Records["Phase"], Phase>(),
  PrefixReport: same<Records["PrefixReport"], PrefixReport>(),
  // Whole profiles come from files of the Python library, so any JSON object is taken.
  ProfileConfig: fits<Records["ProfileConfig"], Profile>(),
  PromotedFact: same<Records["PromotedFact"], Consolidation["promoted"][number]>(),
  ProviderTools: same<Omit<Records["ProviderTools"], "provider" | "tools">, Omit<ProviderTools, "provider" | "tools">>(),
  // Overrides hold weights without overrides; `options` below compares their presence.
  CompatWeights: same<Required<Omit<Records["CompatWeights"], "phase_overrides">>, Required<ReferenceWeights>>(),
  RenderedAs: same<Records["RenderedAs"], RenderedAs>(),
  RenderedItem: same<Records["RenderedItem"], RenderedItem>(),
  ResultEnvelope: same<Records["ResultEnvelope"], ResultEnvelope>(),
  // What goes in may leave out what the record has a default for.
  RouteHistory: same<Records["RouteHistory"], Required<RouteHistory>>(),
  RouteMatch: same<Records["RouteMatch"], RouteMatch>(),
  // Tools and traces are compared by themselves; what was not embedded the facade knows.
  RouteResult: same<
    Omit<Records["RouteResult"], "candidate_items" | "trace">,
    Omit<RouteResult, "candidate_items" | "trace" | "warnings">
  >(),
  RouteStep: same<Records["RouteStep"], NonNullable<RouteTrace["steps"]>[number]>(),
  // The engine does not list what else a trace holds.
  RouteTrace: same<Omit<Records["RouteTrace"], "extra">, Omit<RouteTrace, "extra">>(),
  RoutingConfig: fits<{ routing: Records["RoutingConfig"] }, Profile>(),
  SchemaChange: same<Records["SchemaChange"], ProviderTools["report"][number]>(),
  ScoreParts: same<Records["ScoreParts"], NonNullable<CandidateExplanation["parts"]>>(),
  ScoredChild: same<
    Records["ScoredChild"],
    NonNullable<RouteTrace["steps"]>[number]["scored_children"][number]
  >(),
  // The engine prints a tool's kind and does not judge it; callers are told the words that mean something.
  SelectableItem: same<Omit<Records["SelectableItem"], "kind">, Omit<StoredTool, "kind">>(),
  SelectionValidation: same<
    Omit<Records["SelectionValidation"], "status" | "repair" | "reason">,
    Omit<SelectionResult, "status" | "repair" | "reason">
  >(),
  Sensitivity: same<Records["Sensitivity"], Sensitivity>(),
  SensitivityAction: same<Records["SensitivityAction"], Policy["sensitivity_action"]>(),
  SkippedCard: same<Records["SkippedCard"], PackedCards["skipped"][number]>(),
  // The engine does not list the units.
  Slice: same<Omit<Records["Slice"], "selector" | "unit">, Omit<Slice, "selector" | "unit">>(),
  Stage: same<Records["Stage"], Stage>(),
  Status: same<Records["Status"], ResultEnvelope["status"]>(),
  Strategy: same<Records["Strategy"], FirewallStrategy>(),
  SummaryRequest: same<Records["SummaryRequest"], SummaryRequest>(),
  ToolFeedback: same<Records["ToolFeedback"], Required<ToolFeedback>>(),
  ViewSpec: same<Records["ViewSpec"], ViewSpec>(),
};

/** What the comparisons above leave out. */
export const options: readonly true[] = [
  fits<Selector, Records["Slice"]["selector"]>(),
  fits<Selector, NonNullable<Records["Slice"]["next"]>>(),
  fits<Selector, Records["ViewSpec"]["selector"]>(),
  fits<Pick<ChoiceCard, "kind" | "safety">, Pick<Records["ChoiceCard"], "kind" | "safety">>(),
  fits<SelectionResult, Records["SelectionValidation"]>(),
  fits<ToolProvider, Records["ProviderTools"]["provider"]>(),
  same<PackedCards["cards"], readonly ChoiceCard[]>(),
  same<Exclude<keyof RouteResult, "warnings">, keyof Records["RouteResult"]>(),
  same<NonNullable<RouteResult["candidate_items"]>[number], StoredTool>(),
  fits<Slice["unit"], Records["Slice"]["unit"]>(),
  fits<
    NonNullable<HydrationResult["context_used"]>[number],
    NonNullable<Records["HydrationResult"]["context_used"]>[number]
  >(),
  fits<SelectableItem["kind"], Records["SelectableItem"]["kind"]>(),
  same<keyof Records["CompatWeights"], Exclude<keyof ReferenceScoring, "method">>(),
  same<keyof NonNullable<Records["CompatWeights"]["phase_overrides"]>, Phase>(),
  same<Records["Event"]["hook"], Exclude<keyof Hooks, OfFacade>>(),
];

/** Answers without a record: their fields; what the fields hold are records or plain numbers and strings. */
export const answers: { readonly [Name in keyof AnswerKeys]: true } = {
  BuildReport: same<AnswerKeys["BuildReport"], keyof BuildReport>(),
  BuildReportCandidates: same<AnswerKeys["BuildReportCandidates"], keyof BuildReportData["candidates"]>(),
  BuildReportData: same<AnswerKeys["BuildReportData"], keyof BuildReportData>(),
  CatalogJson: same<AnswerKeys["CatalogJson"], keyof CatalogJson>(),
  ChoiceGraph: same<AnswerKeys["ChoiceGraph"], keyof ChoiceGraphJson>(),
  ChoiceGraphNode: same<AnswerKeys["ChoiceGraphNode"], keyof ChoiceGraphJson["nodes"][string]>(),
  CompatCompactResult: same<AnswerKeys["CompatCompactResult"], keyof CompatCompactResult>(),
  Handoff: same<AnswerKeys["Handoff"], keyof Handoff>(),
  HandoffPack: same<AnswerKeys["HandoffPack"], keyof HandoffPack>(),
  // An inspection shows the fate of a candidate without the details.
  InspectedCandidate: same<
    AnswerKeys["InspectedCandidate"],
    Exclude<keyof CandidateExplanation, keyof Records["CandidateDetail"]>
  >(),
  Inspection: same<AnswerKeys["Inspection"], keyof Inspection>(),
  InspectionReport: same<AnswerKeys["InspectionReport"], keyof Inspection["report"]>(),
  MemorySelection: same<AnswerKeys["MemorySelection"], keyof MemorySelection>(),
  NamespaceCount: same<AnswerKeys["NamespaceCount"], keyof NamespaceCount>(),
  PackedCards: same<AnswerKeys["PackedCards"], keyof PackedCards>(),
  RouteExplanation: same<AnswerKeys["RouteExplanation"], keyof RouteExplanation>(),
  Snapshot: same<AnswerKeys["Snapshot"], keyof Snapshot>(),
  SnapshotArtifacts: same<AnswerKeys["SnapshotArtifacts"], keyof Snapshot["artifact_store"]>(),
  SnapshotEpisodes: same<AnswerKeys["SnapshotEpisodes"], keyof Snapshot["episodic_store"]>(),
  SnapshotEvents: same<AnswerKeys["SnapshotEvents"], keyof Snapshot["event_log"]>(),
  SnapshotFacts: same<AnswerKeys["SnapshotFacts"], keyof Snapshot["fact_store"]>(),
};

export const inputs: { readonly [Name in keyof Inputs]: true } = {
  ArtifactInput: input<"ArtifactInput", Omit<ArtifactInput, "content">>(),
  ArtifactRef: input<"ArtifactRef", ArtifactRefInput>(),
  BrowseOptions: input<"BrowseOptions", BrowseOptions>(),
  // The facade finds a tool by its id, here and for `hydrate`.
  BuildCallOptions: input<"BuildCallOptions", WithTool<BuildCallOptions>>(),
  BuildOptions: input<"BuildOptions", BuildOptions>(),
  ObservedUsage: input<"ObservedUsage", ObservedUsage>(),
  // Candidates are an argument of their own, here and below.
  CardOptions: input<"CardOptions", CardOptions & Chosen & { readonly scores: readonly number[] }>(),
  CatalogOptions: input<"CatalogOptions", CatalogOptions & { readonly items: unknown }>(),
  // The data is an argument of its own.
  CompactOptions: input<"CompactOptions", CompactOptions & { readonly data: JsonValue }>(),
  CompatCompactOptions: input<"CompatCompactOptions", CompatCompactOptions>(),
  ConsolidateOptions: input<"ConsolidateOptions", ConsolidateOptions>(),
  ConsolidationPolicy: input<"ConsolidationPolicy", NonNullable<ConsolidateOptions["policy"]>>(),
  ContextItem: input<"ContextItem", ContextItem>(),
  // The facade keeps these functions for itself and says whether there are hooks.
  ContextManagerOptions: input<
    "ContextManagerOptions",
    Omit<ContextManagerOptions, "hooks" | "clock" | "item_scores" | "embed" | "get_blob" | "embedding_weight"> & { readonly listens?: boolean }
  >(),
  ContextPolicy: input<"ContextPolicy", ContextPolicy>(),
  // Handle and selector are arguments of their own.
  DrilldownOptions: input<
    "DrilldownOptions",
    DrilldownOptions & { readonly handle: string; readonly selector: Selector }
  >(),
  Envelope: input<"Envelope", EnvelopeInput>(),
  EnvelopeResult: input<"EnvelopeResult", EnvelopeResultInput>(),
  Episode: input<"Episode", Episode>(),
  // The query is an argument of its own.
  EpisodeSearchOptions: input<"EpisodeSearchOptions", EpisodeSearchOptions & { readonly query: string }>(),
  EventCountQuery: input<"EventCountQuery", EventCountQuery>(),
  EventQuery: input<"EventQuery", EventQuery>(),
  Fact: input<"Fact", Fact>(),
  FeedbackWeights: input<"FeedbackWeights", FeedbackWeights>(),
  FirewallOptions: input<"FirewallOptions", NonNullable<ContextManagerOptions["firewall"]>>(),
  HandoffOptions: input<"HandoffOptions", HandoffOptions>(),
  HydrateOptions: input<"HydrateOptions", WithTool<HydrateOptions>>(),
  HydrateTool: input<"HydrateTool", NonNullable<Parameters<Router["hydrate"]>[1]> & { readonly id: string }>(),
  InspectOptions: input<"InspectOptions", InspectOptions>(),
  Lexicon: input<"Lexicon", Lexicon>(),
  LimitOptions: input<"LimitOptions", NonNullable<ContextManagerOptions["limits"]>>(),
  LintOptions: input<"LintOptions", LintOptions>(),
  McpCatalogOptions: input<"McpCatalogOptions", McpCatalogOptions>(),
  McpListOptions: input<"McpListOptions", McpListOptions>(),
  McpReadOptions: input<"McpReadOptions", McpReadOptions>(),
  McpToolOptions: input<"McpToolOptions", McpToolOptions>(),
  SessionOptions: input<"SessionOptions", SessionOptions>(),
  MemoryEntry: input<"MemoryEntry", MemoryEntry>(),
  RouteHistory: input<"RouteHistory", RouteHistory>(),
  RouteOptions: input<"RouteOptions", RouteOptions & { readonly query: string }>(),
  // The function and the bytes do not cross as JSON.
  RouterOptions: input<"RouterOptions", Omit<RouterOptions, "embed" | "index">>(),
  SelectMemoryOptions: input<"SelectMemoryOptions", SelectMemoryOptions>(),
  SelectionOptions: input<"SelectionOptions", SelectionOptions & Chosen & { readonly selected: string | null }>(),
  SelectionSchemaOptions: input<"SelectionSchemaOptions", SelectionSchemaOptions & Chosen>(),
  SummaryRequestOptions: input<"SummaryRequestOptions", SummaryRequestOptions>(),
  SuppliedSummary: input<"SuppliedSummary", SuppliedSummary>(),
  SelectableItem: input<"SelectableItem", SelectableItem>(),
  ToolFeedback: input<"ToolFeedback", ToolFeedback>(),
  ToolsForOptions: input<"ToolsForOptions", ToolsForOptions & Chosen & { readonly provider: ToolProvider }>(),
  // The bytes cross beside the JSON, here and of an artifact.
  ToolResult: input<"ToolResult", Omit<ToolResultInput, "raw_output">>(),
  ViewSpec: input<"ViewSpec", ViewSpecInput>(),
};

/** What the package hands out cannot be changed, to the last field. */
export const results: readonly true[] = [
  constant<BrowsePage>(),
  constant<BuildReport>(),
  constant<BuiltRoute>(),
  constant<CatalogDiff>(),
  constant<CatalogFinding>(),
  constant<CatalogJson>(),
  constant<ChoiceGraphJson>(),
  constant<CompactResult>(),
  constant<CompatCompactResult>(),
  constant<Consolidation>(),
  constant<ContextPack>(),
  constant<ForgottenItem>(),
  constant<Handoff>(),
  constant<HydrationResult>(),
  constant<HookEvent>(),
  constant<Inspection>(),
  constant<ManagerStats>(),
  constant<MemorySelection>(),
  constant<PackedCards>(),
  constant<ProviderTools>(),
  constant<RouteExplanation>(),
  constant<RouteResult>(),
  constant<SelectionResult>(),
  constant<Slice>(),
  constant<Snapshot>(),
  constant<StoredEpisode>(),
  constant<StoredFact>(),
  constant<SummaryRequest>(),
  constant<ToolResult>(),
];
