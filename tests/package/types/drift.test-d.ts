// Compiled, never run: the package's types, which are written by hand, against generated.ts, which the engine's records
// are written to by `cargo test bindings`.
//
// Where a comparison is not of two whole types, the comment says what only one side knows.
import type {
  ArtifactInput,
  ArtifactRefInput,
  Bm25nScoring,
  BrowseOptions,
  BrowsePage,
  BuildCallOptions,
  BuildOptions,
  BuildReport,
  BuildReportData,
  BuiltRoute,
  CandidateExplanation,
  CardOptions,
  CatalogDiff,
  NormalizedTools,
  RoutingImpact,
  CatalogFinding,
  CatalogJson,
  CatalogOptions,
  ChoiceCard,
  ChoiceGraphJson,
  Classifier,
  CompactOptions,
  CompactResult,
  ConsolidateOptions,
  Consolidation,
  ContextBudget,
  ContextBuilt,
  ContextItem,
  ContextManagerOptions,
  ContextPack,
  ContextPolicy,
  DrilldownOptions,
  EnvelopeInput,
  EnvelopeResultInput,
  Episode,
  EpisodeSearchOptions,
  ErrorCode,
  Estimator,
  EventCountQuery,
  EventQuery,
  Extractor,
  Fact,
  FeedbackWeights,
  ForgottenItem,
  Handoff,
  HandoffEntry,
  FoundMessages,
  HandoffOptions,
  HandoffPack,
  HookEvent,
  HydrateOptions,
  HydrationResult,
  Hooks,
  InspectOptions,
  Inspection,
  JsonValue,
  Lexicon,
  LintOptions,
  ManagerStats,
  McpCatalogOptions,
  McpHints,
  McpListOptions,
  McpReadOptions,
  McpToolOptions,
  MemoryEntry,
  MessageWarning,
  MemorySelection,
  NamespaceCount,
  PackedCards,
  PriceModel,
  ProviderTools,
  RedactionHook,
  RuleFinder,
  ResultEnvelope,
  RouteExplanation,
  QueryCompletion,
  RouteHistory,
  RouteTurn,
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
  RecallAnswer,
  RecallOptions,
  Slice,
  ObservedUsage,
  Snapshot,
  StoredEpisode,
  StoredFact,
  StoredItem,
  RunningStep,
  SessionOptions,
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
  ViewSpecInput,
} from "contextweaver";
import { constant, fits, inputOf, same } from "./compare.js";
import type { DeepReadonly } from "./compare.js";
import type { AnswerKeys, Inputs, Records } from "./generated.js";

/** Hooks that the facade tells what the engine does not know of. */
type OfFacade = "build_failed" | "tool_executed";

type WithTool<T> = Omit<Extract<T, { readonly tool: SelectableItem }>, "tool_id">;

type ChangedTool = CatalogDiff["changed"][number];
/** What the package passes of a route beside the options. */
interface Chosen {
  readonly candidate_ids: readonly string[];
}
type Policy = Required<ContextPolicy>;
type Profile = ContextManagerOptions["profile"];

export const records: { readonly [Name in keyof Records]: true } = {
  // The method tells the two kinds of weights apart in the options.
  Bm25nWeights: same<Records["Bm25nWeights"], Required<Omit<Bm25nScoring, "method">>>(),
  CandidateDetail: same<Records["CandidateDetail"], Required<Pick<CandidateExplanation, keyof Records["CandidateDetail"]>>>(),
  CandidateExplanation: same<Records["CandidateExplanation"], CandidateExplanation>(),
  ImpactExample: same<Records["ImpactExample"], RoutingImpact["impact"]["examples"][number]>(),
  NormaliseReport: same<Records["NormaliseReport"], NormalizedTools["report"]>(),
  RoutingImpact: same<Records["RoutingImpact"], RoutingImpact["impact"]>(),
  McpHints: same<Records["McpHints"], McpHints>(),
  // The engine has a tool as any value.
  McpTool: fits<WrittenMcpTool, DeepReadonly<Records["McpTool"]>>(),
  ToolChange: same<Records["ToolChange"], ChangedTool["changes"][number]>(),
  // The engine has words as strings, here and below; `options` compares them.
  ChoiceCard: same<Omit<Records["ChoiceCard"], "kind" | "safety">, Omit<ChoiceCard, "kind" | "safety">>(),
  ConsolidationPolicy: same<Records["ConsolidationPolicy"], Required<NonNullable<ConsolidateOptions["policy"]>>>(),
  ConsolidationReport: same<Records["ConsolidationReport"], Consolidation>(),
  CutReason: same<Records["CutReason"], NonNullable<RunningStep["cut"]>>(),
  // Options may be left out; the record has the defaults in their place.
  ContextBudget: same<Records["ContextBudget"], Required<ContextBudget>>(),
  ContextItem: same<Records["ContextItem"], StoredItem>(),
  ContextPolicy: same<Records["ContextPolicy"], Policy>(),
  Episode: same<Records["Episode"], StoredEpisode>(),
  EpisodeCluster: same<Records["EpisodeCluster"], Consolidation["clusters"][number]>(),
  ErrorCode: same<Records["ErrorCode"], ErrorCode>(),
  // The facade adds the record of a build, and tells of failures and of the tools of adapters by itself.
  Event: same<Records["Event"], Exclude<HookEvent, { readonly hook: "context_built" | OfFacade }> | Pick<ContextBuilt, "hook" | "phase">>(),
  Fact: same<Records["Fact"], StoredFact>(),
  HandoffCategory: same<Records["HandoffCategory"], HandoffEntry["category"]>(),
  Ingested: same<Records["Ingested"], ToolResult>(),
  // The item is compared by itself, and where arguments come from is put together without a record.
  HydrationResult: same<Omit<Records["HydrationResult"], "item" | "context_used">, Omit<HydrationResult, "item" | "context_used">>(),
  // The facade counts what hooks throw.
  ManagerStats: same<Records["ManagerStats"], Omit<ManagerStats, "hook_errors">>(),
  MemoryEntry: same<Records["MemoryEntry"], Required<MemoryEntry>>(),
  FoundMessages: same<Records["FoundMessages"], Omit<FoundMessages, "format"> & { readonly format: string }>(),
  MessageWarning: same<Records["MessageWarning"], MessageWarning>(),
  Mode: fits<{ mode: Records["Mode"] }, Profile>(),
  // What the engine asks is what the caller's functions take.
  Need: same<
    Records["Need"],
    | { kind: "count"; text: Parameters<Estimator>[0] }
    | { kind: "classify"; item: Parameters<Classifier>[0] }
    | { kind: "summarize"; item: Parameters<Summarizer>[0]; text: Parameters<Summarizer>[1] }
    | { kind: "extract"; item: Parameters<Extractor>[0]; text: Parameters<Extractor>[1] }
    | { kind: "find_rules"; item: Parameters<RuleFinder>[0] }
    | { kind: "redact"; hook: string; item: Parameters<RedactionHook>[0] }
  >(),
  OverflowAction: same<Records["OverflowAction"], Policy["overflow_action"]>(),
  PackedCards: same<Omit<Records["PackedCards"], "cards">, Omit<PackedCards, "cards" | "skipped">>(),
  // Whole profiles come from files of the Python library, so any JSON object is taken.
  ProfileConfig: fits<Records["ProfileConfig"], Profile>(),
  PromotedFact: same<Records["PromotedFact"], Consolidation["promoted"][number]>(),
  ProviderTools: same<Omit<Records["ProviderTools"], "provider" | "tools">, Omit<ProviderTools, "provider" | "tools">>(),
  // Overrides hold weights without overrides; `options` below compares their presence.
  RouteTurn: same<Records["RouteTurn"], Required<RouteTurn>>(),
  CompletionReason: same<Records["CompletionReason"], QueryCompletion["reason"]>(),
  RouteHistory: same<Records["RouteHistory"], Required<RouteHistory>>(),
  // Tools and traces are compared by themselves; what was not embedded the facade knows.
  RouteResult: same<Omit<Records["RouteResult"], "candidate_items" | "trace">, Omit<RouteResult, "candidate_items" | "trace" | "warnings">>(),
  RouteStep: same<Records["RouteStep"], NonNullable<RouteTrace["steps"]>[number]>(),
  // The engine does not list what else a trace holds.
  RouteTrace: same<Omit<Records["RouteTrace"], "extra">, Omit<RouteTrace, "extra">>(),
  RoutingConfig: fits<{ routing: Records["RoutingConfig"] }, Profile>(),
  SchemaChange: same<Records["SchemaChange"], ProviderTools["report"][number]>(),
  ScoreParts: same<Records["ScoreParts"], NonNullable<CandidateExplanation["parts"]>>(),
  ScoredChild: same<Records["ScoredChild"], NonNullable<RouteTrace["steps"]>[number]["scored_children"][number]>(),
  // The engine prints a tool's kind and does not judge it; callers are told the words that mean something.
  SelectableItem: same<Omit<Records["SelectableItem"], "kind">, Omit<StoredTool, "kind">>(),
  SelectionValidation: same<Omit<Records["SelectionValidation"], "status" | "repair" | "reason">, Omit<SelectionResult, "status" | "repair" | "reason">>(),
  SensitivityAction: same<Records["SensitivityAction"], Policy["sensitivity_action"]>(),
  SkippedCard: same<Records["SkippedCard"], PackedCards["skipped"][number]>(),
  Status: same<Records["Status"], ResultEnvelope["status"]>(),
  ToolFeedback: same<Records["ToolFeedback"], Required<ToolFeedback>>(),
};

/** What the comparisons above leave out. */
export const options: readonly true[] = [
  fits<Pick<ChoiceCard, "kind" | "safety">, Pick<Records["ChoiceCard"], "kind" | "safety">>(),
  fits<SelectionResult, Records["SelectionValidation"]>(),
  fits<ToolProvider, Records["ProviderTools"]["provider"]>(),
  same<PackedCards["cards"], readonly ChoiceCard[]>(),
  same<Exclude<keyof RouteResult, "warnings">, keyof Records["RouteResult"]>(),
  same<NonNullable<RouteResult["candidate_items"]>[number], StoredTool>(),
  fits<NonNullable<HydrationResult["context_used"]>[number], NonNullable<Records["HydrationResult"]["context_used"]>[number]>(),
  fits<SelectableItem["kind"], Records["SelectableItem"]["kind"]>(),
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
  Handoff: same<AnswerKeys["Handoff"], keyof Handoff>(),
  HandoffPack: same<AnswerKeys["HandoffPack"], keyof HandoffPack>(),
  // An inspection shows the fate of a candidate without the details.
  InspectedCandidate: same<AnswerKeys["InspectedCandidate"], Exclude<keyof CandidateExplanation, keyof Records["CandidateDetail"]>>(),
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
  ArtifactInput: inputOf<Inputs["ArtifactInput"], Omit<ArtifactInput, "content">>(),
  ArtifactRef: inputOf<Inputs["ArtifactRef"], ArtifactRefInput>(),
  BrowseOptions: inputOf<Inputs["BrowseOptions"], BrowseOptions>(),
  // The facade finds a tool by its id, here and for `hydrate`.
  BuildCallOptions: inputOf<Inputs["BuildCallOptions"], WithTool<BuildCallOptions>>(),
  BuildOptions: inputOf<Inputs["BuildOptions"], BuildOptions>(),
  ObservedUsage: inputOf<Inputs["ObservedUsage"], ObservedUsage>(),
  // Candidates are an argument of their own, here and below.
  CardOptions: inputOf<Inputs["CardOptions"], CardOptions & Chosen & { readonly scores: readonly number[] }>(),
  CatalogOptions: inputOf<Inputs["CatalogOptions"], CatalogOptions & { readonly items: unknown }>(),
  // The data is an argument of its own.
  CompactOptions: inputOf<Inputs["CompactOptions"], CompactOptions & { readonly data: JsonValue }>(),
  ConsolidateOptions: inputOf<Inputs["ConsolidateOptions"], ConsolidateOptions>(),
  ConsolidationPolicy: inputOf<Inputs["ConsolidationPolicy"], NonNullable<ConsolidateOptions["policy"]>>(),
  ContextItem: inputOf<Inputs["ContextItem"], ContextItem>(),
  // The facade keeps these functions for itself and says whether there are hooks.
  ContextManagerOptions: inputOf<
    Inputs["ContextManagerOptions"],
    Omit<ContextManagerOptions, "hooks" | "clock" | "item_scores" | "embed" | "get_blob" | "embedding_weight"> & { readonly listens?: boolean }
  >(),
  ContextPolicy: inputOf<Inputs["ContextPolicy"], ContextPolicy>(),
  // Handle and selector are arguments of their own.
  PriceModel: inputOf<Inputs["PriceModel"], PriceModel>(),
  RecallOptions: inputOf<Inputs["RecallOptions"], RecallOptions & { readonly query: string }>(),
  DrilldownOptions: inputOf<Inputs["DrilldownOptions"], DrilldownOptions & { readonly handle: string; readonly selector: Selector }>(),
  Envelope: inputOf<Inputs["Envelope"], EnvelopeInput>(),
  EnvelopeResult: inputOf<Inputs["EnvelopeResult"], EnvelopeResultInput>(),
  Episode: inputOf<Inputs["Episode"], Episode>(),
  // The query is an argument of its own.
  EpisodeSearchOptions: inputOf<Inputs["EpisodeSearchOptions"], EpisodeSearchOptions & { readonly query: string }>(),
  EventCountQuery: inputOf<Inputs["EventCountQuery"], EventCountQuery>(),
  EventQuery: inputOf<Inputs["EventQuery"], EventQuery>(),
  Fact: inputOf<Inputs["Fact"], Fact>(),
  FeedbackWeights: inputOf<Inputs["FeedbackWeights"], FeedbackWeights>(),
  FirewallOptions: inputOf<Inputs["FirewallOptions"], NonNullable<ContextManagerOptions["firewall"]>>(),
  HandoffOptions: inputOf<Inputs["HandoffOptions"], HandoffOptions>(),
  HydrateOptions: inputOf<Inputs["HydrateOptions"], WithTool<HydrateOptions>>(),
  HydrateTool: inputOf<Inputs["HydrateTool"], NonNullable<Parameters<Router["hydrate"]>[1]> & { readonly id: string }>(),
  InspectOptions: inputOf<Inputs["InspectOptions"], InspectOptions>(),
  Lexicon: inputOf<Inputs["Lexicon"], Lexicon>(),
  LimitOptions: inputOf<Inputs["LimitOptions"], NonNullable<ContextManagerOptions["limits"]>>(),
  LintOptions: inputOf<Inputs["LintOptions"], LintOptions>(),
  McpCatalogOptions: inputOf<Inputs["McpCatalogOptions"], McpCatalogOptions>(),
  McpListOptions: inputOf<Inputs["McpListOptions"], McpListOptions>(),
  McpReadOptions: inputOf<Inputs["McpReadOptions"], McpReadOptions>(),
  McpToolOptions: inputOf<Inputs["McpToolOptions"], McpToolOptions>(),
  SessionOptions: inputOf<Inputs["SessionOptions"], SessionOptions>(),
  MemoryEntry: inputOf<Inputs["MemoryEntry"], MemoryEntry>(),
  RouteHistory: inputOf<Inputs["RouteHistory"], RouteHistory>(),
  RouteTurn: inputOf<Inputs["RouteTurn"], RouteTurn>(),
  RouteOptions: inputOf<Inputs["RouteOptions"], RouteOptions & { readonly query: string }>(),
  // The function and the bytes do not cross as JSON.
  RouterOptions: inputOf<Inputs["RouterOptions"], Omit<RouterOptions, "embed" | "index">>(),
  SelectMemoryOptions: inputOf<Inputs["SelectMemoryOptions"], SelectMemoryOptions>(),
  SelectionOptions: inputOf<Inputs["SelectionOptions"], SelectionOptions & Chosen & { readonly selected: string | null }>(),
  SelectionSchemaOptions: inputOf<Inputs["SelectionSchemaOptions"], SelectionSchemaOptions & Chosen>(),
  SummaryRequestOptions: inputOf<Inputs["SummaryRequestOptions"], SummaryRequestOptions>(),
  SuppliedSummary: inputOf<Inputs["SuppliedSummary"], SuppliedSummary>(),
  SelectableItem: inputOf<Inputs["SelectableItem"], SelectableItem>(),
  ToolFeedback: inputOf<Inputs["ToolFeedback"], ToolFeedback>(),
  ToolsForOptions: inputOf<Inputs["ToolsForOptions"], ToolsForOptions & Chosen & { readonly provider: ToolProvider }>(),
  // The bytes cross beside the JSON, here and of an artifact.
  ToolResult: inputOf<Inputs["ToolResult"], Omit<ToolResultInput, "raw_output">>(),
  ViewSpec: inputOf<Inputs["ViewSpec"], ViewSpecInput>(),
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
  constant<RecallAnswer>(),
  constant<Slice>(),
  constant<Snapshot>(),
  constant<StoredEpisode>(),
  constant<StoredFact>(),
  constant<SummaryRequest>(),
  constant<ToolResult>(),
];
