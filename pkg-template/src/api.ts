// The public names, one by one: nothing becomes public by accident.
export { bindTools } from "./bind-tools.js";
export type { BindToolsOptions, BoundTools } from "./bind-tools.js";
export { Catalog } from "./catalog.js";
export { capabilityDiff, capabilitySnapshot, normalizeTools } from "./compare.js";
export { fromAiSdk, fromConfigurable, fromExecutable, fromExtra, toAiSdk, toConfigurable } from "./context-bridges.js";
export type { AiSdkOptions, ConfigurableLike, Executable, McpExtra } from "./context-bridges.js";
export { contextKey, contextKeys } from "./context-key.js";
export type { AbortSignalLike, AnyContextKey, ContextKey, ContextKeyOptions, StandardResult, StandardSchema, Validate } from "./context-key.js";
export { ContextManager } from "./context-manager.js";
export { DecisionStore } from "./decision-store.js";
export type * from "./decision-types.js";
export { ContextWeaverError, ERROR_CODES } from "./errors.js";
export type { ErrorCode, ErrorInit } from "./errors.js";
export { mcpPromptToEnvelope, mcpResourceToEnvelope, mcpResultToEnvelope } from "./mcp-result.js";
export type * from "./mcp-result-types.js";
export type * from "./message-types.js";
export { itemsToMessages, messagesToItems } from "./messages.js";
export {
  inferNamespace,
  loadMcpSessionJsonl,
  mcpPromptToSelectable,
  mcpResourceToSelectable,
  mcpToolToSelectable,
  selectableToMcpTool,
} from "./mcp.js";
export type * from "./mcp-types.js";
export { MetaPolicy, fromMcpMeta, toMcpMeta } from "./mcp-meta.js";
export type { FromMcpMetaOptions, MetaMap, MetaWarning, PolicyFor, ToMcpMetaOptions } from "./mcp-meta.js";
export { LoopMemo, firstTimeIn, oncePerLoop } from "./once-per-loop.js";
export type * from "./options.js";
export type * from "./results.js";
export { Router, explainRoute, renderCards } from "./router.js";
export type * from "./routing-types.js";
export { buildReport, countTokens, drilldownTool, redactSecrets, sanitizeText, tokenize, version } from "./text.js";
export { ToolCallContext, effectiveContext } from "./tool-call-context.js";
export type { ContextEntries, ContextOptions, ContextSnapshot, MergeOptions, RevealOptions } from "./tool-call-context.js";
export { assertPropagates } from "./tool-conformance.js";
export type { PropagationOptions } from "./tool-conformance.js";
export {
  mcpToToolDefinition,
  mcpToToolResult,
  toolDefinitionToMcp,
  toolDefinitionToSelectable,
  toolResultToMcp,
  validateArgs,
} from "./tool-definition.js";
export type * from "./tool-definition-types.js";
export { decorate, decoratorsOf, defineTool, fromForeign, runTool, unwrap } from "./tools.js";
export type { ContextLevels, DecoratedTool, Decoration, ForeignTool, Next, Tool, ToolInfo, ToolSpec } from "./tools.js";
export type * from "./types.js";
