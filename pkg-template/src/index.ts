// The default entry: carries the WebAssembly modules as base64 and starts each when it is first needed, so that importing
// is enough on every runtime and in every bundler, without a file read, a request or a setting.
//
// Whatever needs a module is exported through a call that says where the module is. The calls are marked as free of
// side effects, because nobody needs the module of a name that is not imported: bundlers then leave its text out.
import * as api from "./api.js";
import convertText from "./convert_inline.js";
import coreText from "./core_inline.js";
import decisionsText from "./decisions_inline.js";
import { convert, core, decisions, routing } from "./engines.js";
import { decodeBase64 } from "./inline.js";
import routingText from "./routing_inline.js";

export * from "./api.js";

function ofCore<T>(value: T): T {
  core.offer(() => decodeBase64(coreText));
  return value;
}

function ofRouting<T>(value: T): T {
  routing.offer(() => decodeBase64(routingText));
  return value;
}

function ofConvert<T>(value: T): T {
  convert.offer(() => decodeBase64(convertText));
  return value;
}

function ofDecisions<T>(value: T): T {
  decisions.offer(() => decodeBase64(decisionsText));
  return value;
}

// Internal, so that the declarations show the originals.
/** @internal */
export const ContextManager = /* @__PURE__ */ ofCore(/* @__PURE__ */ ofConvert(api.ContextManager));
/** @internal */
export const buildReport = /* @__PURE__ */ ofCore(api.buildReport);
/** @internal */
export const countTokens = /* @__PURE__ */ ofCore(api.countTokens);
/** @internal */
export const drilldownTool = /* @__PURE__ */ ofCore(api.drilldownTool);
/** @internal */
export const redactSecrets = /* @__PURE__ */ ofCore(api.redactSecrets);
/** @internal */
export const sanitizeText = /* @__PURE__ */ ofCore(api.sanitizeText);
/** @internal */
export const tokenize = /* @__PURE__ */ ofCore(api.tokenize);
/** @internal */
export const version = /* @__PURE__ */ ofCore(api.version);

/** @internal */
export const Catalog = /* @__PURE__ */ ofRouting(api.Catalog);
/** @internal */
export const Router = /* @__PURE__ */ ofRouting(api.Router);
/** @internal */
export const explainRoute = /* @__PURE__ */ ofRouting(api.explainRoute);
/** @internal */
export const renderCards = /* @__PURE__ */ ofRouting(api.renderCards);
/** @internal */
export const capabilityDiff = /* @__PURE__ */ ofRouting(api.capabilityDiff);
/** @internal */
export const capabilitySnapshot = /* @__PURE__ */ ofRouting(api.capabilitySnapshot);
/** @internal */
export const normalizeTools = /* @__PURE__ */ ofRouting(api.normalizeTools);

/** @internal */
export const inferNamespace = /* @__PURE__ */ ofConvert(api.inferNamespace);
/** @internal */
export const loadMcpSessionJsonl = /* @__PURE__ */ ofConvert(api.loadMcpSessionJsonl);
/** @internal */
export const mcpToolToSelectable = /* @__PURE__ */ ofConvert(api.mcpToolToSelectable);
/** @internal */
export const mcpResourceToSelectable = /* @__PURE__ */ ofConvert(api.mcpResourceToSelectable);
/** @internal */
export const mcpPromptToSelectable = /* @__PURE__ */ ofConvert(api.mcpPromptToSelectable);
/** @internal */
export const selectableToMcpTool = /* @__PURE__ */ ofConvert(api.selectableToMcpTool);
/** @internal */
export const mcpResultToEnvelope = /* @__PURE__ */ ofConvert(api.mcpResultToEnvelope);
/** @internal */
export const mcpResourceToEnvelope = /* @__PURE__ */ ofConvert(api.mcpResourceToEnvelope);
/** @internal */
export const mcpPromptToEnvelope = /* @__PURE__ */ ofConvert(api.mcpPromptToEnvelope);
/** @internal */
export const itemsToMessages = /* @__PURE__ */ ofConvert(api.itemsToMessages);
/** @internal */
export const messagesToItems = /* @__PURE__ */ ofConvert(api.messagesToItems);
/** @internal */
export const ToolCallContext = /* @__PURE__ */ ofConvert(api.ToolCallContext);
/** @internal */
export const assertPropagates = /* @__PURE__ */ ofConvert(api.assertPropagates);
/** @internal */
export const decorate = /* @__PURE__ */ ofConvert(api.decorate);
/** @internal */
export const defineTool = /* @__PURE__ */ ofConvert(api.defineTool);
/** @internal */
export const effectiveContext = /* @__PURE__ */ ofConvert(api.effectiveContext);
/** @internal */
export const fromAiSdk = /* @__PURE__ */ ofConvert(api.fromAiSdk);
/** @internal */
export const fromConfigurable = /* @__PURE__ */ ofConvert(api.fromConfigurable);
/** @internal */
export const fromExecutable = /* @__PURE__ */ ofConvert(api.fromExecutable);
/** @internal */
export const fromExtra = /* @__PURE__ */ ofConvert(api.fromExtra);
/** @internal */
export const fromForeign = /* @__PURE__ */ ofConvert(api.fromForeign);
/** @internal */
export const fromMcpMeta = /* @__PURE__ */ ofConvert(api.fromMcpMeta);
/** @internal */
export const oncePerLoop = /* @__PURE__ */ ofConvert(api.oncePerLoop);
/** @internal */
export const runTool = /* @__PURE__ */ ofConvert(api.runTool);
/** @internal */
export const toAiSdk = /* @__PURE__ */ ofConvert(api.toAiSdk);
/** @internal */
export const toConfigurable = /* @__PURE__ */ ofConvert(api.toConfigurable);
/** @internal */
export const toMcpMeta = /* @__PURE__ */ ofConvert(api.toMcpMeta);
/** @internal */
export const bindTools = /* @__PURE__ */ ofConvert(api.bindTools);
/** @internal */
export const mcpToToolDefinition = /* @__PURE__ */ ofConvert(api.mcpToToolDefinition);
/** @internal */
export const mcpToToolResult = /* @__PURE__ */ ofConvert(api.mcpToToolResult);
/** @internal */
export const toolDefinitionToMcp = /* @__PURE__ */ ofConvert(api.toolDefinitionToMcp);
/** @internal */
export const toolDefinitionToSelectable = /* @__PURE__ */ ofConvert(api.toolDefinitionToSelectable);
/** @internal */
export const toolResultToMcp = /* @__PURE__ */ ofConvert(api.toolResultToMcp);
/** @internal */
export const validateArgs = /* @__PURE__ */ ofConvert(api.validateArgs);

/** @internal */
export const DecisionStore = /* @__PURE__ */ ofDecisions(api.DecisionStore);
