// The public names of the gateway.
export { gateway } from "./gateway.js";
export type { Gateway, GatewayOptions, GatewaySdk, GatewayServerEvent } from "./gateway.js";
export type { GatewayAuthorize, GatewayCaller, GatewayHttpOptions } from "./http.js";
export type { ConfigWarning } from "./config-types.js";
