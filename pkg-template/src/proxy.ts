// `contextweaver/proxy`: one endpoint that speaks what providers of models speak, and keeps each conversation within a token budget.
export { proxy } from "./proxy/handler.js";
export type { Proxy } from "./proxy/handler.js";
export type { ModelCallCompleted, ProxyHooks } from "./proxy/hook-types.js";
export type { ForwardedProxy, ProxyLimits, ProxyLogEntry, ProxyOptions } from "./proxy/options.js";
export type { ProxyProvider, ProxyUpstream } from "./proxy/routes.js";
export type { CallUsage } from "./proxy/usage.js";
export type { ProxyCosts, ProxyStats } from "./proxy/stats.js";
