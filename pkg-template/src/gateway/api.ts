// The public names of the gateway.
export { gateway } from "./gateway.js";
export type { Gateway, GatewayCounts, GatewayOptions, GatewaySdk, GatewayServerEvent } from "./gateway.js";
export type { AwaitedLogin, GatewayAuthProvider } from "./auth-provider.js";
export type { GatewayAuthorize, GatewayCaller, GatewayHttpOptions } from "./http.js";
export type { ConfigWarning, ServerDescription } from "./config-types.js";
export type {
  GatewayCallCompleted,
  GatewayCallKind,
  GatewayCallMethod,
  GatewayCallRef,
  GatewayCallStarted,
  GatewayHookEvent,
  GatewayHooks,
  TraceContext,
  UpstreamRequestCompleted,
  UpstreamRequestRef,
  UpstreamRequestStarted,
} from "./hook-types.js";
export type { UpstreamFailure } from "./failure.js";
export type { ListKind, ListingProblem } from "./listing.js";
export type {
  CachePolicy,
  CallCounts,
  CallLimits,
  DriftedTool,
  GatewayMode,
  GatewayRateLimits,
  GatewaySchemaFinding,
  GatewayServerStats,
  GatewayStats,
  GatewayToolNames,
  GatewayToolStats,
  LargeResult,
  ListingReport,
  MendedEntry,
  OnFinding,
  OverriddenTool,
  OverrideProblem,
  PolicyAction,
  PolicyRule,
  QuarantineReason,
  QuarantinedTool,
  RefusalStats,
  RetryPolicy,
  ServerStatus,
  SkippedEntry,
  ToolOverride,
  ToolPolicy,
  UnmatchedRule,
  VisibilityProfile,
} from "./runtime-types.js";
export type { UpstreamReport, UpstreamState } from "./upstream-types.js";
export { sidecar } from "./sidecar.js";
export type {
  RoutedCards,
  ServiceCaller,
  SidecarArtifactLimits,
  SidecarCompact,
  SidecarErrorBody,
  SidecarErrorCode,
  SidecarManager,
  SidecarOptions,
  SidecarRateLimit,
  SidecarRequest,
  SidecarRoute,
  SidecarRouteOptions,
  SidecarRouter,
} from "./sidecar.js";
