// The main entry. Each of its names brings the WebAssembly module that it needs, which is loaded at first use.
//
// `#agent` and the like stand for files made from the templates in `load`. The build writes this file once for each way to
// get a module, and conditions in package.json choose between them. The calls below are marked as free of side effects, so
// that bundlers leave out the module of a name that is not imported.
import { engine as agentEngine } from "#agent";
import { engine as decisionsEngine } from "#decisions";
import { engine as routingEngine } from "#routing";
import * as api from "./api.js";
import { context, convert, decisions, routing } from "./boundary/engines.js";

export * from "./api.js";

function ofAgent<T>(value: T): T {
  // `true`: this module can do all that those of `contextweaver/context` and `contextweaver/convert` can, and takes their
  // place unless they have started.
  context.provide(agentEngine, true);
  convert.provide(agentEngine, true);
  return value;
}

function ofRouting<T>(value: T): T {
  routing.provide(routingEngine);
  return value;
}

function ofDecisions<T>(value: T): T {
  decisions.provide(decisionsEngine);
  return value;
}

// `@internal` with `stripInternal` keeps these constants out of the declarations, which show the names of `./api.js`
// instead.
/** @internal */
export const ContextManager = /* @__PURE__ */ ofAgent(api.ContextManager);
/** @internal */
export const buildReport = /* @__PURE__ */ ofAgent(api.buildReport);
/** @internal */
export const countTokens = /* @__PURE__ */ ofAgent(api.countTokens);
/** @internal */
export const drilldownTool = /* @__PURE__ */ ofAgent(api.drilldownTool);
/** @internal */
export const recallTool = /* @__PURE__ */ ofAgent(api.recallTool);
/** @internal */
export const redactSecrets = /* @__PURE__ */ ofAgent(api.redactSecrets);
/** @internal */
export const sanitizeText = /* @__PURE__ */ ofAgent(api.sanitizeText);
/** @internal */
export const tokenize = /* @__PURE__ */ ofAgent(api.tokenize);
/** @internal */
export const version = /* @__PURE__ */ ofAgent(api.version);

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
export const inferNamespace = /* @__PURE__ */ ofAgent(api.inferNamespace);
/** @internal */
export const loadMcpSessionJsonl = /* @__PURE__ */ ofAgent(api.loadMcpSessionJsonl);
/** @internal */
export const mcpToolToSelectable = /* @__PURE__ */ ofAgent(api.mcpToolToSelectable);
/** @internal */
export const mcpResourceToSelectable = /* @__PURE__ */ ofAgent(api.mcpResourceToSelectable);
/** @internal */
export const mcpPromptToSelectable = /* @__PURE__ */ ofAgent(api.mcpPromptToSelectable);
/** @internal */
export const selectableToMcpTool = /* @__PURE__ */ ofAgent(api.selectableToMcpTool);
/** @internal */
export const mcpResultToEnvelope = /* @__PURE__ */ ofAgent(api.mcpResultToEnvelope);
/** @internal */
export const mcpResourceToEnvelope = /* @__PURE__ */ ofAgent(api.mcpResourceToEnvelope);
/** @internal */
export const mcpPromptToEnvelope = /* @__PURE__ */ ofAgent(api.mcpPromptToEnvelope);
/** @internal */
export const itemsToMessages = /* @__PURE__ */ ofAgent(api.itemsToMessages);
/** @internal */
export const findMessages = /* @__PURE__ */ ofAgent(api.findMessages);
/** @internal */
export const messagesToItems = /* @__PURE__ */ ofAgent(api.messagesToItems);
/** @internal */
export const ToolCallContext = /* @__PURE__ */ ofAgent(api.ToolCallContext);
/** @internal */
export const assertPropagates = /* @__PURE__ */ ofAgent(api.assertPropagates);
/** @internal */
export const decorate = /* @__PURE__ */ ofAgent(api.decorate);
/** @internal */
export const defineTool = /* @__PURE__ */ ofAgent(api.defineTool);
/** @internal */
export const effectiveContext = /* @__PURE__ */ ofAgent(api.effectiveContext);
/** @internal */
export const fromAiSdk = /* @__PURE__ */ ofAgent(api.fromAiSdk);
/** @internal */
export const fromConfigurable = /* @__PURE__ */ ofAgent(api.fromConfigurable);
/** @internal */
export const fromExecutable = /* @__PURE__ */ ofAgent(api.fromExecutable);
/** @internal */
export const fromExtra = /* @__PURE__ */ ofAgent(api.fromExtra);
/** @internal */
export const fromForeign = /* @__PURE__ */ ofAgent(api.fromForeign);
/** @internal */
export const fromMcpMeta = /* @__PURE__ */ ofAgent(api.fromMcpMeta);
/** @internal */
export const oncePerLoop = /* @__PURE__ */ ofAgent(api.oncePerLoop);
/** @internal */
export const runTool = /* @__PURE__ */ ofAgent(api.runTool);
/** @internal */
export const toAiSdk = /* @__PURE__ */ ofAgent(api.toAiSdk);
/** @internal */
export const toConfigurable = /* @__PURE__ */ ofAgent(api.toConfigurable);
/** @internal */
export const toMcpMeta = /* @__PURE__ */ ofAgent(api.toMcpMeta);
/** @internal */
export const StoredRecords = /* @__PURE__ */ ofAgent(api.StoredRecords);
/** @internal */
export const StoredSession = /* @__PURE__ */ ofAgent(api.StoredSession);
/** @internal */
export const openRecords = /* @__PURE__ */ ofAgent(api.openRecords);
/** @internal */
export const openSession = /* @__PURE__ */ ofAgent(api.openSession);
/** @internal */
export const bindTools = /* @__PURE__ */ ofAgent(api.bindTools);
/** @internal */
export const mcpToToolDefinition = /* @__PURE__ */ ofAgent(api.mcpToToolDefinition);
/** @internal */
export const mcpToToolResult = /* @__PURE__ */ ofAgent(api.mcpToToolResult);
/** @internal */
export const toolDefinitionToMcp = /* @__PURE__ */ ofAgent(api.toolDefinitionToMcp);
/** @internal */
export const toolDefinitionToSelectable = /* @__PURE__ */ ofAgent(api.toolDefinitionToSelectable);
/** @internal */
export const toolResultToMcp = /* @__PURE__ */ ofAgent(api.toolResultToMcp);
/** @internal */
export const validateArgs = /* @__PURE__ */ ofAgent(api.validateArgs);

/** @internal */
export const DecisionStore = /* @__PURE__ */ ofDecisions(api.DecisionStore);
/** @internal */
export const StoredDecisions = /* @__PURE__ */ ofDecisions(api.StoredDecisions);
/** @internal */
export const openDecisions = /* @__PURE__ */ ofDecisions(api.openDecisions);
