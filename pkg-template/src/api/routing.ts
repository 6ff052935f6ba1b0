// Exports of `contextweaver/routing`, the main entry and `slim`: names that need the WebAssembly module of the router.
export { Catalog } from "../catalog/catalog.js";
export { capabilityDiff, capabilitySnapshot, normalizeTools } from "../catalog/compare.js";
export { Router, explainRoute, renderCards } from "../catalog/router.js";
export type * from "../catalog/routing-types.js";
export type { AiSdkSchema, AiSdkTool, AiSdkToolSet } from "../catalog/tool-set.js";
