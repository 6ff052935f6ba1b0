// Exports of `contextweaver/convert`, the main entry and `slim`: names that need the WebAssembly module of the converters,
// and names for tool calls that need no module, such as `contextKey`.
export { bindTools } from "../tools/bind-tools.js";
export type { BindToolsOptions, BoundTools } from "../tools/bind-tools.js";
export {
  fromAiSdk,
  fromConfigurable,
  fromExecutable,
  fromExtra,
  toAiSdk,
  toConfigurable,
} from "../tools/context-bridges.js";
export type { AiSdkOptions, ConfigurableLike, Executable, McpExtra } from "../tools/context-bridges.js";
export { contextKey, contextKeys } from "../tools/context-key.js";
export type {
  AbortSignalLike,
  AnyContextKey,
  ContextKey,
  ContextKeyOptions,
  StandardResult,
  StandardSchema,
  Validate,
} from "../tools/context-key.js";
export { mcpPromptToEnvelope, mcpResourceToEnvelope, mcpResultToEnvelope } from "../mcp/mcp-result.js";
export type * from "../mcp/mcp-result-types.js";
export type * from "../messages/message-types.js";
export type * from "../messages/provider-messages.js";
export { findMessages, itemsToMessages, messagesToItems } from "../messages/messages.js";
export {
  inferNamespace,
  loadMcpSessionJsonl,
  mcpPromptToSelectable,
  mcpResourceToSelectable,
  mcpToolToSelectable,
  selectableToMcpTool,
} from "../mcp/mcp.js";
export type * from "../mcp/mcp-types.js";
export { MetaPolicy, fromMcpMeta, toMcpMeta } from "../mcp/mcp-meta.js";
export type { FromMcpMetaOptions, MetaMap, MetaWarning, PolicyFor, ToMcpMetaOptions } from "../mcp/mcp-meta.js";
export { LoopMemo, firstTimeIn, oncePerLoop } from "../adapters/once-per-loop.js";
export { ToolCallContext, effectiveContext } from "../tools/tool-call-context.js";
export type {
  ContextEntries,
  ContextOptions,
  ContextSnapshot,
  MergeOptions,
  RevealOptions,
} from "../tools/tool-call-context.js";
export { assertPropagates } from "../tools/tool-conformance.js";
export type { PropagationOptions } from "../tools/tool-conformance.js";
export {
  mcpToToolDefinition,
  mcpToToolResult,
  toolDefinitionToMcp,
  toolDefinitionToSelectable,
  toolResultToMcp,
  validateArgs,
} from "../tools/tool-definition.js";
export type * from "../tools/tool-definition-types.js";
export { decorate, decoratorsOf, defineTool, fromForeign, runTool, unwrap } from "../tools/tools.js";
export type {
  ContextLevels,
  DecoratedTool,
  Decoration,
  ForeignTool,
  Next,
  Tool,
  ToolInfo,
  ToolSpec,
} from "../tools/tools.js";
