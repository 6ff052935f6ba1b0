// Names that need the context compiler.
export { ContextManager } from "../context-manager.js";
export type * from "../hook-types.js";
export type * from "../options.js";
export type * from "../results.js";
export { buildReport, countTokens, drilldownTool, redactSecrets, sanitizeText, tokenize, version } from "../text.js";
