// Names that need the router.
export { Catalog } from "../catalog.js";
export { capabilityDiff, capabilitySnapshot, normalizeTools } from "../compare.js";
export { Router, explainRoute, renderCards } from "../router.js";
export type * from "../routing-types.js";
export type { AiSdkSchema, AiSdkTool, AiSdkToolSet } from "../tool-set.js";
