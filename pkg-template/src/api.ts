// The public names, one by one: nothing becomes public by accident.
export { ContextManager } from "./context-manager.js";
export { version } from "./engine.js";
export { ContextWeaverError, ERROR_CODES } from "./errors.js";
export type { ErrorCode, ErrorInit } from "./errors.js";
export type * from "./options.js";
export type * from "./results.js";
export { buildReport, countTokens, drilldownTool, redactSecrets, sanitizeText, tokenize } from "./text.js";
export type * from "./types.js";
