// The public names of the gateway.
export { gateway } from "./gateway.js";
export type { Gateway, GatewayCounts, GatewayOptions, GatewaySdk, GatewayServerEvent } from "./gateway.js";
export type { AwaitedLogin, GatewayAuthProvider } from "./auth-provider.js";
export type { GatewayAuthorize, GatewayCaller, GatewayHttpOptions } from "./http.js";
export type { ConfigWarning } from "./config-types.js";
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
