// Names that need the converters, and those of tool calls, which need no module.
export { bindTools } from "../bind-tools.js";
export type { BindToolsOptions, BoundTools } from "../bind-tools.js";
export { fromAiSdk, fromConfigurable, fromExecutable, fromExtra, toAiSdk, toConfigurable } from "../context-bridges.js";
export type { AiSdkOptions, ConfigurableLike, Executable, McpExtra } from "../context-bridges.js";
export { contextKey, contextKeys } from "../context-key.js";
export type { AbortSignalLike, AnyContextKey, ContextKey, ContextKeyOptions, StandardResult, StandardSchema, Validate } from "../context-key.js";
export { mcpPromptToEnvelope, mcpResourceToEnvelope, mcpResultToEnvelope } from "../mcp-result.js";
export type * from "../mcp-result-types.js";
export type * from "../message-types.js";
export type * from "../provider-messages.js";
export { itemsToMessages, messagesToItems } from "../messages.js";
export {
  inferNamespace,
  loadMcpSessionJsonl,
  mcpPromptToSelectable,
  mcpResourceToSelectable,
  mcpToolToSelectable,
  selectableToMcpTool,
} from "../mcp.js";
export type * from "../mcp-types.js";
export { MetaPolicy, fromMcpMeta, toMcpMeta } from "../mcp-meta.js";
export type { FromMcpMetaOptions, MetaMap, MetaWarning, PolicyFor, ToMcpMetaOptions } from "../mcp-meta.js";
export { LoopMemo, firstTimeIn, oncePerLoop } from "../once-per-loop.js";
export { ToolCallContext, effectiveContext } from "../tool-call-context.js";
export type { ContextEntries, ContextOptions, ContextSnapshot, MergeOptions, RevealOptions } from "../tool-call-context.js";
export { assertPropagates } from "../tool-conformance.js";
export type { PropagationOptions } from "../tool-conformance.js";
export {
  mcpToToolDefinition,
  mcpToToolResult,
  toolDefinitionToMcp,
  toolDefinitionToSelectable,
  toolResultToMcp,
  validateArgs,
} from "../tool-definition.js";
export type * from "../tool-definition-types.js";
export { decorate, decoratorsOf, defineTool, fromForeign, runTool, unwrap } from "../tools.js";
export type { ContextLevels, DecoratedTool, Decoration, ForeignTool, Next, Tool, ToolInfo, ToolSpec } from "../tools.js";
