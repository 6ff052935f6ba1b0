// Compiled, never run: the records and options of the gateway, as drift.test-d.ts compares those of everything else. What the gateway
// keeps for itself is imported from where it is declared.
import type { CatalogDiff, CatalogFinding } from "contextweaver";
import type {
  CachePolicy,
  CallCounts,
  CallLimits,
  DriftedTool,
  GatewayCallKind,
  GatewayHookEvent,
  GatewayOptions,
  GatewayRateLimits,
  GatewaySchemaFinding,
  GatewayServerStats,
  GatewayStats,
  GatewayToolNames,
  GatewayToolStats,
  LargeResult,
  ListingReport,
  MendedEntry,
  OverriddenTool,
  OverrideProblem,
  PolicyRule,
  QuarantineReason,
  QuarantinedTool,
  RefusalStats,
  RetryPolicy,
  RoutedCards,
  ServerStatus,
  SkippedEntry,
  ToolOverride,
  ToolPolicy,
  UnmatchedRule,
  UpstreamReport,
  VisibilityProfile,
} from "contextweaver/mcp";
import type {
  AcceptedTools,
  AppUse,
  CallInfo,
  CallStep,
  FinishedReply,
  ForwardedCall,
  FoundPrompt,
  FoundResource,
  GatewayRuntimeOptions,
  GatewayServer,
  ListChanges,
  ListedServer,
  NextStep,
  PinState,
  RpcError,
  ToolList,
} from "../node_modules/contextweaver/dist/gateway/runtime-types.js";
import { constant, fits, inputOf, same } from "./compare.js";
import type { GatewayInputs, GatewayRecords } from "./generated.js";

export const records: { readonly [Name in keyof GatewayRecords]: true } = {
  AcceptedTools: same<GatewayRecords["AcceptedTools"], AcceptedTools>(),
  AppUse: same<GatewayRecords["AppUse"], AppUse>(),
  CallCounts: same<GatewayRecords["CallCounts"], CallCounts>(),
  CallInfo: same<GatewayRecords["CallInfo"], CallInfo>(),
  CallKind: same<GatewayRecords["CallKind"], CallInfo["kind"]>(),
  CallStep: same<GatewayRecords["CallStep"], CallStep>(),
  DriftedTool: same<GatewayRecords["DriftedTool"], DriftedTool>(),
  FinishedReply: same<GatewayRecords["FinishedReply"], FinishedReply>(),
  ForwardedCall: same<GatewayRecords["ForwardedCall"], ForwardedCall>(),
  FoundPrompt: same<GatewayRecords["FoundPrompt"], FoundPrompt>(),
  FoundResource: same<GatewayRecords["FoundResource"], FoundResource>(),
  FrontMode: same<GatewayRecords["FrontMode"], GatewayStats["mode"]>(),
  GatewayStats: same<GatewayRecords["GatewayStats"], GatewayStats>(),
  LargeResult: same<GatewayRecords["LargeResult"], LargeResult>(),
  ListChanges: same<GatewayRecords["ListChanges"], ListChanges>(),
  ListedServer: same<GatewayRecords["ListedServer"], ListedServer>(),
  ListingReport: same<GatewayRecords["ListingReport"], ListingReport>(),
  MendedEntry: same<GatewayRecords["MendedEntry"], MendedEntry>(),
  OverriddenTool: same<GatewayRecords["OverriddenTool"], OverriddenTool>(),
  OverrideProblem: same<GatewayRecords["OverrideProblem"], OverrideProblem>(),
  // An intersection on both sides: its parts are compared by themselves.
  NextStep: same<GatewayRecords["NextStep"]["info"], NextStep["info"]>(),
  PinState: same<GatewayRecords["PinState"], PinState>(),
  QuarantineReason: same<GatewayRecords["QuarantineReason"], QuarantineReason>(),
  QuarantinedTool: same<GatewayRecords["QuarantinedTool"], QuarantinedTool>(),
  RefusalStats: same<GatewayRecords["RefusalStats"], RefusalStats>(),
  // Routers of the caller's answer no more than is used.
  RoutedTools: same<keyof GatewayRecords["RoutedTools"], keyof RoutedCards>(),
  RpcError: same<GatewayRecords["RpcError"], RpcError>(),
  SchemaFinding: same<GatewayRecords["SchemaFinding"], GatewaySchemaFinding>(),
  ServerStats: same<GatewayRecords["ServerStats"], GatewayServerStats>(),
  ServerStatus: same<GatewayRecords["ServerStatus"], ServerStatus>(),
  SkippedEntry: same<GatewayRecords["SkippedEntry"], SkippedEntry>(),
  ToolList: same<GatewayRecords["ToolList"], ToolList>(),
  ToolStats: same<GatewayRecords["ToolStats"], GatewayToolStats>(),
  UnmatchedRule: same<GatewayRecords["UnmatchedRule"], UnmatchedRule>(),
};

/** What the comparisons above leave out. */
export const parts: readonly true[] = [
  fits<ListingReport["findings"][number], CatalogFinding>(),
  same<DriftedTool["changes"][number], CatalogDiff["changed"][number]["changes"][number]>(),
];

export const inputs: { readonly [Name in keyof GatewayInputs]: true } = {
  CachePolicy: inputOf<GatewayInputs["CachePolicy"], CachePolicy>(),
  CallLimits: inputOf<GatewayInputs["CallLimits"], CallLimits>(),
  GatewayRateLimits: inputOf<GatewayInputs["GatewayRateLimits"], GatewayRateLimits>(),
  GatewayRuntimeOptions: inputOf<GatewayInputs["GatewayRuntimeOptions"], GatewayRuntimeOptions>(),
  GatewayServer: inputOf<GatewayInputs["GatewayServer"], GatewayServer>(),
  GatewayToolNames: inputOf<GatewayInputs["GatewayToolNames"], GatewayToolNames>(),
  PolicyRule: inputOf<GatewayInputs["PolicyRule"], PolicyRule>(),
  RetryPolicy: inputOf<GatewayInputs["RetryPolicy"], RetryPolicy>(),
  ToolOverride: inputOf<GatewayInputs["ToolOverride"], ToolOverride>(),
  ToolPolicy: inputOf<GatewayInputs["ToolPolicy"], ToolPolicy>(),
  VisibilityProfile: inputOf<GatewayInputs["VisibilityProfile"], VisibilityProfile>(),
};

/** Options of the runtime that users give: all but what the gateway keeps itself. */
export const offered: readonly true[] = [fits<Exclude<keyof GatewayRuntimeOptions, "pins" | "accepted" | "pins_lost">, keyof GatewayOptions>()];

/** What the gateway hands out cannot be changed, to the last field. */
export const results: readonly true[] = [constant<GatewayHookEvent>(), constant<GatewayStats>(), constant<ListingReport>(), constant<UpstreamReport>()];
