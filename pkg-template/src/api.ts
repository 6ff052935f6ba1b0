// The public names, one by one: nothing becomes public by accident.
export { Catalog } from "./catalog.js";
export { capabilityDiff, capabilitySnapshot, normalizeTools } from "./compare.js";
export { ContextManager } from "./context-manager.js";
export { ContextWeaverError, ERROR_CODES } from "./errors.js";
export type { ErrorCode, ErrorInit } from "./errors.js";
export { mcpResultToEnvelope } from "./mcp-result.js";
export type * from "./mcp-result-types.js";
export type * from "./message-types.js";
export { itemsToMessages, messagesToItems } from "./messages.js";
export { inferNamespace, loadMcpSessionJsonl, mcpToolToSelectable, selectableToMcpTool } from "./mcp.js";
export type * from "./mcp-types.js";
export type * from "./options.js";
export type * from "./results.js";
export { Router, explainRoute, renderCards } from "./router.js";
export type * from "./routing-types.js";
export { buildReport, countTokens, drilldownTool, redactSecrets, sanitizeText, tokenize, version } from "./text.js";
export type * from "./types.js";
