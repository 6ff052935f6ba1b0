// What no caller should pass, passed to every public entry point. Each case must end in a coded error or a bounded
// result, and the next ordinary call on the same object must answer as if nothing had happened.
// Only the language itself may be used here: these cases run in every runtime, but for those that say otherwise.

export const item = (id, text = "hello", more = {}) => ({ id, kind: "user_turn", text, ...more });
const own = (json) => JSON.parse(json);

/** A manager with one item and one artifact, and what it builds. */
export function fixture(cw, options) {
  const manager = new cw.ContextManager(options);
  manager.ingest(item("u1", "what is the total?"));
  manager.ingestToolResult({ tool_call_id: "c1", tool_name: "sum", raw_output: "total: 42" });
  return { manager, before: manager.build({ phase: "answer" }).prompt };
}

export function isSound(assert, { manager, before }, name) {
  assert.equal(manager.build({ phase: "answer" }).prompt, before, `${name}: the next build`);
}

function isCoded(cw, assert, error, name, codes) {
  assert.ok(cw.ContextWeaverError.is(error), `${name}: ${error?.stack ?? error}`);
  assert.ok(error instanceof Error && error.name === "ContextWeaverError", `${name}: the class`);
  assert.ok(!codes || codes.includes(error.code), `${name}: ${error.code} (${error.message}), wanted ${codes}`);
  assert.ok(error.code !== "INTERNAL" && error.code !== "POISONED", `${name}: ${error.code} ${error.details?.panic}`);
  if (error.path !== undefined) assert.match(error.path, /^\//, `${name}: the path`);
  assert.ok(error.message.length < 1000, `${name}: a message of ${error.message.length} characters`);
}

/** Runs `action`, which must fail with one of the codes. */
export function refuses(cw, assert, name, action, codes) {
  let error;
  try {
    action();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error !== undefined, `${name}: was accepted`);
  isCoded(cw, assert, error, name, codes);
  return error;
}

/** Runs `action`, which may fail with a coded error. */
export function survives(cw, assert, name, action) {
  try {
    return action();
  } catch (error) {
    isCoded(cw, assert, error, name);
    return undefined;
  }
}

/** Runs something on a catalog without tools, which must have none afterwards. */
function empty(cw, run) {
  const catalog = new cw.Catalog();
  try {
    run(catalog);
  } finally {
    const { size } = catalog;
    catalog.free();
    if (size > 0) throw new Error(`${size} tools in the catalog`);
  }
}

const spare = (more) => ({ id: "x", kind: "tool", name: "x", description: "a tool", ...more });

/** Runs something on a router of one tool, which must find the same afterwards. */
function routed(cw, run) {
  const router = new cw.Router([spare()]);
  const state = () => JSON.stringify([router.route("tool"), router.items(), router.graph()]);
  const before = state();
  try {
    run(router, router.route("tool"));
  } finally {
    const after = state();
    router.free();
    if (after !== before) throw new Error("the router has changed");
  }
}

/** Runs something on a store without decisions, which must have none afterwards. */
function remembered(cw, run) {
  const store = new cw.DecisionStore();
  try {
    run(store);
  } finally {
    const { size } = store;
    store.free();
    if (size > 0) throw new Error(`${size} decisions in the store`);
  }
}

/** Every place a value can be passed in. `m` is a manager of its own, `v` the value. */
const ENTRIES = {
  "new ContextManager": (cw, m, v) => new cw.ContextManager(v).free(),
  "options.profile": (cw, m, v) => new cw.ContextManager({ profile: v }).free(),
  "options.policy.extra": (cw, m, v) => new cw.ContextManager({ policy: { extra: { v } } }).free(),
  "options.hooks": (cw, m, v) => new cw.ContextManager({ hooks: { context_built: [v] } }).free(),
  "options.redaction_hooks": (cw, m, v) => new cw.ContextManager({ redaction_hooks: { x: [v] } }).free(),
  "fromJSON snapshot": (cw, m, v) => cw.ContextManager.fromJSON(v).free(),
  "fromJSON member": (cw, m, v) => cw.ContextManager.fromJSON({ ...m.toJSON(), extra: v, events: [v] }).free(),
  "ingest item": (cw, m, v) => m.ingest(v),
  "ingest id": (cw, m, v) => m.ingest({ ...item("x"), id: [v] }),
  "ingest metadata": (cw, m, v) => m.ingest(item("x", "text", { metadata: { v } })),
  "ingestAll items": (cw, m, v) => m.ingestAll(v),
  "ingestAll item": (cw, m, v) => m.ingestAll([item("x"), v]),
  "new Catalog": (cw, m, v) => new cw.Catalog(v).free(),
  "new Catalog tool": (cw, m, v) => new cw.Catalog([v]).free(),
  "Catalog.fromJSON": (cw, m, v) => cw.Catalog.fromJSON(v).free(),
  "Catalog.get": (cw, m, v) => empty(cw, (catalog) => catalog.get(v)),
  register: (cw, m, v) => empty(cw, (catalog) => catalog.register(v)),
  "register metadata": (cw, m, v) => empty(cw, (catalog) => catalog.register({ id: "x", kind: "tool", name: "x", description: "", metadata: { v } })),
  ingestToolResult: (cw, m, v) => m.ingestToolResult(v),
  "ingestToolResult raw_output": (cw, m, v) => m.ingestToolResult({ tool_call_id: "x", tool_name: "t", raw_output: v }),
  "ingestToolResult metadata": (cw, m, v) => m.ingestToolResult({ tool_call_id: "x", tool_name: "t", raw_output: "", metadata: { v } }),
  ingestEnvelope: (cw, m, v) => m.ingestEnvelope(v),
  "ingestEnvelope provenance": (cw, m, v) =>
    m.ingestEnvelope({ tool_call_id: "x", tool_name: "t", envelope: { status: "ok", summary: "s", provenance: { v } } }),
  addFact: (cw, m, v) => m.addFact(v),
  addRule: (cw, m, v) => m.addRule(v),
  "addRule text": (cw, m, v) => m.addRule({ text: [v] }),
  correctRule: (cw, m, v) => m.correctRule("u1#1", v),
  forgetRule: (cw, m, v) => m.forgetRule(v),
  "addFact metadata": (cw, m, v) => m.addFact({ key: "k", value: "v", metadata: { v } }),
  addEpisode: (cw, m, v) => m.addEpisode(v),
  "addEpisode metadata": (cw, m, v) => m.addEpisode({ episode_id: "e", summary: "s", metadata: { v } }),
  build: (cw, m, v) => m.build(v),
  "build query": (cw, m, v) => m.build({ phase: "answer", query: [v] }),
  "build item_scores": (cw, m, v) => m.build({ phase: "answer", item_scores: { u1: [v] } }),
  "buildCall tool": (cw, m, v) => m.buildCall({ tool: v }),
  "buildCall schema": (cw, m, v) => m.buildCall({ tool: { id: "t", kind: "tool", name: "t", description: "d" }, schema: { v } }),
  "drilldown handle": (cw, m, v) => m.drilldown(v, { type: "head" }),
  "drilldown selector": (cw, m, v) => m.drilldown("artifact:result:c1", v),
  "drilldown options": (cw, m, v) => m.drilldown("artifact:result:c1", { type: "head" }, { max_tokens: [v] }),
  "drilldown search": (cw, m, v) => m.drilldown("artifact:result:c1", { type: "search", text: [v] }),
  "drilldown where": (cw, m, v) => m.drilldown("artifact:result:c1", { type: "rows", where: [{ column: "a", value: [v] }] }),
  "recall query": (cw, m, v) => m.recall(v),
  "recall options": (cw, m, v) => m.recall("total", { max_tokens: [v], handles: [[v]] }),
  "artifacts.views": (cw, m, v) => m.artifacts.views(v),
  "compact data": (cw, m, v) => m.compact(v, { budget_tokens: [v] }),
  "compact options": (cw, m, v) => m.compact("text", v),
  "compact keep": (cw, m, v) => m.compact("text", { keep: [[v]] }),
  hydrate: (cw, m, v) => m.hydrate(v),
  "hydrate tool": (cw, m, v) => m.hydrate({ tool: v }),
  "hydrate arguments": (cw, m, v) => m.hydrate({ tool: { id: "t", kind: "tool", name: "t", description: "d" }, arguments: { v } }),
  summaryRequests: (cw, m, v) => m.summaryRequests({ limit: [v] }),
  supplySummary: (cw, m, v) => m.supplySummary(v),
  "supplySummary facts": (cw, m, v) => m.supplySummary({ item_id: "result:c1", summary: "s", facts: [[v]] }),
  "ingestToolResult keep": (cw, m, v) => m.ingestToolResult({ tool_call_id: "x", tool_name: "t", raw_output: "", keep: [[v]] }),
  "options.summarizer": (cw, m, v) => new cw.ContextManager({ summarizer: { summarize: [v] } }).free(),
  handoff: (cw, m, v) => m.handoff({ budget_tokens: [v] }),
  consolidate: (cw, m, v) => m.consolidate({ policy: [v] }),
  selectMemory: (cw, m, v) => m.selectMemory({ phase: "answer", budget_tokens: 9, entries: [{ id: "m", text: "t", metadata: { v } }] }),
  inspect: (cw, m, v) => m.inspect({ pack: v }),
  "events.get": (cw, m, v) => m.events.get(v),
  "events.list": (cw, m, v) => m.events.list({ kinds: [v] }),
  "events.count": (cw, m, v) => m.events.count(v),
  "events.tail": (cw, m, v) => m.events.tail([v]),
  "events.children": (cw, m, v) => m.events.children(v),
  "events.parent": (cw, m, v) => m.events.parent(v),
  "artifacts.bytes": (cw, m, v) => m.artifacts.bytes(v),
  "artifacts.put": (cw, m, v) => m.artifacts.put(v),
  "artifacts.put content": (cw, m, v) => m.artifacts.put({ handle: "x", content: v }),
  "artifacts.put label": (cw, m, v) => m.artifacts.put({ handle: "x", content: "", label: [v] }),
  ...Object.fromEntries(["ref", "exists", "delete", "pin", "unpin"].map((use) => [`artifacts.${use}`, (cw, m, v) => m.artifacts[use](v)])),
  "facts.get": (cw, m, v) => m.facts.get(v),
  "facts.getByKey": (cw, m, v) => m.facts.getByKey(v),
  "facts.listKeys": (cw, m, v) => m.facts.listKeys([v]),
  "facts.put": (cw, m, v) => m.facts.put(v),
  "facts.delete": (cw, m, v) => m.facts.delete(v),
  "episodes.get": (cw, m, v) => m.episodes.get(v),
  "episodes.search": (cw, m, v) => m.episodes.search(v),
  "episodes.search options": (cw, m, v) => m.episodes.search("x", { top_k: [v] }),
  "episodes.latest": (cw, m, v) => m.episodes.latest([v]),
  "episodes.delete": (cw, m, v) => m.episodes.delete(v),
  countTokens: (cw, m, v) => cw.countTokens(v),
  "countTokens options": (cw, m, v) => cw.countTokens("text", { estimator: [v] }),
  redactSecrets: (cw, m, v) => cw.redactSecrets(v),
  "redactSecrets mask": (cw, m, v) => cw.redactSecrets("text", { mask: [v] }),
  sanitizeText: (cw, m, v) => cw.sanitizeText(v),
  tokenize: (cw, m, v) => cw.tokenize(v),
  buildReport: (cw, m, v) => cw.buildReport({ stats: v }),
  "new Catalog options": (cw, m, v) => new cw.Catalog([], { on_invalid: [v] }).free(),
  "Catalog.fromAgentCard": (cw, m, v) => cw.Catalog.fromAgentCard(v, { on_invalid: "raise" }).free(),
  "Catalog.fromOpenApi": (cw, m, v) => cw.Catalog.fromOpenApi(v, { on_invalid: "raise" }).free(),
  "Catalog.fromSkills": (cw, m, v) => cw.Catalog.fromSkills([v], { on_invalid: "raise" }).free(),
  "Catalog.fromMcp": (cw, m, v) => cw.Catalog.fromMcp(v, { on_invalid: "raise" }).free(),
  "Catalog.fromMcp tool": (cw, m, v) => cw.Catalog.fromMcp([v], { on_invalid: "raise" }).free(),
  "Catalog.fromMcp schema": (cw, m, v) => cw.Catalog.fromMcp([{ name: "x", inputSchema: [v] }], { on_invalid: "raise" }).free(),
  mcpToolToSelectable: (cw, m, v) => cw.mcpToolToSelectable(v),
  "mcpToolToSelectable options": (cw, m, v) => cw.mcpToolToSelectable({ name: "x" }, { server: [v] }),
  mcpResourceToSelectable: (cw, m, v) => cw.mcpResourceToSelectable(v),
  "mcpResourceToSelectable field": (cw, m, v) => cw.mcpResourceToSelectable({ uri: "u:x", size: [v] }, { server: v }),
  mcpPromptToSelectable: (cw, m, v) => cw.mcpPromptToSelectable(v),
  "mcpPromptToSelectable argument": (cw, m, v) => cw.mcpPromptToSelectable({ name: "p", arguments: [v] }),
  mcpResourceToEnvelope: (cw, m, v) => cw.mcpResourceToEnvelope(v, "r"),
  "mcpResourceToEnvelope part": (cw, m, v) => cw.mcpResourceToEnvelope({ contents: [[v]] }, "r"),
  mcpPromptToEnvelope: (cw, m, v) => cw.mcpPromptToEnvelope(v, "p"),
  "mcpPromptToEnvelope message": (cw, m, v) => cw.mcpPromptToEnvelope({ messages: [{ role: [v], content: v }] }, "p"),
  selectableToMcpTool: (cw, m, v) => cw.selectableToMcpTool(v),
  inferNamespace: (cw, m, v) => cw.inferNamespace(v),
  loadMcpSessionJsonl: (cw, m, v) => cw.loadMcpSessionJsonl(v),
  mcpResultToEnvelope: (cw, m, v) => cw.mcpResultToEnvelope(v, "t"),
  "mcpResultToEnvelope part": (cw, m, v) => cw.mcpResultToEnvelope({ content: [[v]] }, "t"),
  "mcpResultToEnvelope structured": (cw, m, v) => cw.mcpResultToEnvelope({ structuredContent: { v: [v] } }, "t"),
  ingestMcpResult: (cw, m, v) => m.ingestMcpResult(v),
  "ingestMcpResult result": (cw, m, v) => m.ingestMcpResult({ tool_call_id: "x", tool_name: "t", result: v }),
  "ingestMcpResult part": (cw, m, v) => m.ingestMcpResult({ tool_call_id: "x", tool_name: "t", result: { content: [[v]] } }),
  messagesToItems: (cw, m, v) => cw.messagesToItems(v, "openai-chat"),
  "messagesToItems format": (cw, m, v) => cw.messagesToItems([], v),
  "messagesToItems part": (cw, m, v) => cw.messagesToItems([{ role: "user", content: [[v]] }], "anthropic"),
  "messagesToItems options": (cw, m, v) => cw.messagesToItems([], "gemini", { known_calls: { x: [v] } }),
  findMessages: (cw, m, v) => cw.findMessages(v),
  "findMessages list": (cw, m, v) => cw.findMessages({ messages: [v, { role: "user", content: [v] }] }),
  itemsToMessages: (cw, m, v) => cw.itemsToMessages([v], "ai-sdk-ui"),
  "itemsToMessages metadata": (cw, m, v) => cw.itemsToMessages([item("x", "t", { metadata: { _contextweaver: { v } } })], "gemini"),
  ingestMessages: (cw, m, v) => m.ingestMessages(v, "openai-chat"),
  "ingestMessages message": (cw, m, v) => m.ingestMessages([v], "openai-responses"),
  syncMessages: (cw, m, v) => m.syncMessages(v, "openai-chat"),
  "syncMessages message": (cw, m, v) => m.syncMessages([v], "ai-sdk-model"),
  buildMessages: (cw, m, v) => m.buildMessages(v),
  "buildMessages format": (cw, m, v) => m.buildMessages({ phase: "answer", format: v }),
  validateArgs: (cw, m, v) => cw.validateArgs({ type: "object" }, { x: v }),
  mcpToToolDefinition: (cw, m, v) => cw.mcpToToolDefinition(v),
  mcpToToolResult: (cw, m, v) => cw.mcpToToolResult(v, { tool: "t" }),
  "Catalog.remove": (cw, m, v) => empty(cw, (catalog) => catalog.remove(v)),
  "Catalog.has": (cw, m, v) => empty(cw, (catalog) => catalog.has(v)),
  "Catalog.lint": (cw, m, v) => empty(cw, (catalog) => catalog.lint({ pinned: { x: [v] } })),
  "Catalog.diff": (cw, m, v) => empty(cw, (catalog) => catalog.diff(v)),
  "new Router": (cw, m, v) => new cw.Router(v).free(),
  "new Router tool": (cw, m, v) => new cw.Router([v]).free(),
  "new Router options": (cw, m, v) => new cw.Router([], v === undefined ? null : { lexicon: { verbs: [v] } }).free(),
  "new Router embed": (cw, m, v) => new cw.Router([], { embed: [v] }).free(),
  "new Router graph": (cw, m, v) => new cw.Router([], { graph: { nodes: v } }).free(),
  "new Router index": (cw, m, v) => new cw.Router([], { index: v }).free(),
  route: (cw, m, v) => routed(cw, (router) => router.route(v)),
  "route options": (cw, m, v) => routed(cw, (router) => router.route("tool", { pin_ids: [v] })),
  "route history": (cw, m, v) => routed(cw, (router) => router.route("tool", { history: { called_tool_ids: [v] } })),
  "route feedback": (cw, m, v) => routed(cw, (router) => router.route("tool", { feedback: { records: [{ item_id: "x", success: [v] }] } })),
  "route vector": (cw, m, v) => routed(cw, (router) => router.route("tool", { query_embedding: [v] })),
  cards: (cw, m, v) => routed(cw, (router) => router.cards(v)),
  "cards ids": (cw, m, v) => routed(cw, (router) => router.cards({ candidate_ids: [v] })),
  "cards options": (cw, m, v) => routed(cw, (router, result) => router.cards(result, { budget_tokens: [v] })),
  browse: (cw, m, v) => routed(cw, (router) => router.browse({ path: v ?? 1 })),
  "browse id": (cw, m, v) => routed(cw, (router) => router.browse({ id: [v] })),
  "Router.hydrate": (cw, m, v) => routed(cw, (router) => router.hydrate(v)),
  "Router.hydrate schemas": (cw, m, v) => routed(cw, (router) => router.hydrate("x", { schemas: { x: [v] } })),
  selectionSchema: (cw, m, v) => routed(cw, (router) => router.selectionSchema({ candidate_ids: ["x"] }, { property_name: [v] })),
  validateSelection: (cw, m, v) => routed(cw, (router) => router.validateSelection(v, "x")),
  "validateSelection answer": (cw, m, v) => routed(cw, (router, result) => router.validateSelection(result, [v])),
  toolsFor: (cw, m, v) => routed(cw, (router, result) => router.toolsFor(result, v)),
  "Router.add": (cw, m, v) => routed(cw, (router) => router.add(v)),
  "Router.add tool": (cw, m, v) => routed(cw, (router) => router.add([spare({ id: "y" }), v])),
  "Router.add schema": (cw, m, v) => routed(cw, (router) => router.add([spare({ id: "y", args_schema: [v] })])),
  "Router.remove": (cw, m, v) => routed(cw, (router) => router.remove([v])),
  setEmbeddings: (cw, m, v) => routed(cw, (router) => router.setEmbeddings({ x: [v] })),
  explainRoute: (cw, m, v) => cw.explainRoute(v),
  renderCards: (cw, m, v) => cw.renderCards([v]),
  buildRoute: (cw, m, v) => m.buildRoute(v),
  "buildRoute route": (cw, m, v) => routed(cw, (router) => m.buildRoute({ router, query: "tool", route: { top_k: [v] } })),
  "new DecisionStore": (cw, m, v) => new cw.DecisionStore(v === undefined ? null : v).free(),
  "new DecisionStore guardrails": (cw, m, v) => new cw.DecisionStore({ guardrails: [v] }).free(),
  "new DecisionStore embed": (cw, m, v) => new cw.DecisionStore({ embed: [v] }).free(),
  addGuardrails: (cw, m, v) => remembered(cw, (store) => store.addGuardrails({ v: [v] })),
  removeGuardrail: (cw, m, v) => remembered(cw, (store) => store.removeGuardrail([v])),
  "DecisionStore.import": (cw, m, v) => remembered(cw, (store) => store.import(v)),
  "DecisionStore.import record": (cw, m, v) => remembered(cw, (store) => store.import({ decisions: [[v]] })),
  "DecisionStore.import options": (cw, m, v) => remembered(cw, (store) => store.import([], { mode: [v] })),
  exportSince: (cw, m, v) => remembered(cw, (store) => store.exportSince([v])),
  "buildCall tool_id": (cw, m, v) => routed(cw, (router) => m.buildCall({ router, tool_id: [v] })),
};

const thrower = () => {
  throw new Error("from the caller");
};
const nested = (depth, wrap, leaf) => {
  let value = leaf;
  for (let i = 0; i < depth; i += 1) value = wrap(value);
  return value;
};
const inArray = (value) => [value];
const inObject = (value) => ({ k: value });

/** Values that are refused everywhere: `[name, make, codes besides INVALID_INPUT]`. */
export const REFUSED = [
  [
    "a self-cycle",
    () => {
      const o = {};
      o.self = o;
      return o;
    },
    "CYCLE",
  ],
  [
    "a cycle of arrays",
    () => {
      const a = [];
      a.push([a]);
      return a;
    },
    "CYCLE",
  ],
  [
    "a mutual cycle",
    () => {
      const a = {};
      const b = { a };
      a.b = b;
      return a;
    },
    "CYCLE",
  ],
  ["1,000 arrays", () => nested(1e3, inArray, 1), "TOO_DEEP"],
  ["100,000 arrays", () => nested(1e5, inArray, 1), "TOO_DEEP"],
  ["100,000 objects", () => nested(1e5, inObject, 1), "TOO_DEEP"],
  ["a proxy without end", () => endless(), "TOO_DEEP"],
  ["a proxy whose get throws", () => new Proxy({ a: 1 }, { get: thrower })],
  ["a proxy whose ownKeys throws", () => new Proxy({ a: 1 }, { ownKeys: thrower })],
  ["a proxy whose getPrototypeOf throws", () => new Proxy({ a: 1 }, { getPrototypeOf: thrower })],
  ["a proxy whose descriptors throw", () => new Proxy({ a: 1 }, { getOwnPropertyDescriptor: thrower })],
  [
    "a revoked proxy",
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
  ],
  ["an array that lies about its length", () => new Proxy([1], { get: (t, k) => (k === "length" ? 2 ** 31 : t[k]) }), "TOO_LARGE"],
  ["an array of infinite length", () => new Proxy([1], { get: (t, k) => (k === "length" ? Infinity : t[k]) }), "TOO_LARGE"],
  ["an array of length NaN", () => new Proxy([1], { get: (t, k) => (k === "length" ? NaN : t[k]) }), "TOO_LARGE"],
  [
    "a getter that throws",
    () => ({
      get a() {
        return thrower();
      },
    }),
  ],
  [
    "a getter that throws nothing",
    () => ({
      get a() {
        throw undefined;
      },
    }),
  ],
  ["toJSON", () => ({ a: 1, toJSON: () => ({}) })],
  [
    "a sparse array",
    () => {
      const a = [1];
      a.length = 2 ** 32 - 1;
      return a;
    },
    "TOO_LARGE",
  ],
  // eslint-disable-next-line no-sparse-arrays
  ["an array with a hole", () => [1, , 2]],
  ["undefined in an array", () => [undefined]],
  ["a Map", () => new Map([["a", 1]])],
  ["a Set", () => new Set([1])],
  ["a Date", () => new Date(0)],
  ["a RegExp", () => /a/],
  ["a Promise", () => Promise.resolve(1)],
  ["an Error", () => new Error("x")],
  [
    "a class instance",
    () =>
      new (class Foo {
        a = 1;
      })(),
  ],
  ["a boxed string", () => new String("x")],
  ["a typed array", () => new Float64Array(2)],
  ["an ArrayBuffer", () => new ArrayBuffer(2)],
  ["a symbol key", () => ({ [Symbol("s")]: 1 })],
  ["a symbol", () => Symbol("s")],
  ["a function", () => () => 1],
  ["a class", () => class {}],
  ["a BigInt", () => 10n],
  ["NaN", () => NaN],
  ["Infinity", () => -Infinity],
  ["half a surrogate pair", () => "a\ud800b"],
  ["half a surrogate pair in a key", () => ({ "a\udc00": 1 })],
  ["a string of 64 MiB", () => "x".repeat(64 * 1024 * 1024), "TOO_LARGE", "QUOTA_EXCEEDED", "DECODE_FAILED"],
];

function endless() {
  return new Proxy({ a: 1 }, { get: () => endless() });
}

/** Values that are too expensive to be tried everywhere. */
const EXPENSIVE = [
  ["a shared graph of 2^30 paths", () => nested(30, (v) => ({ a: v, b: v }), 1), "TOO_LARGE"],
  ["arrays of 2^30 paths", () => nested(30, (v) => [v, v], 1), "TOO_LARGE"],
  ["a million keys", () => Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [`k${i}`, i]))],
];

/** Entry points of what tools, servers and models send. */
const SENT = [
  "ingestToolResult raw_output",
  "mcpResourceToEnvelope",
  "mcpResourceToEnvelope part",
  "mcpPromptToEnvelope",
  "mcpPromptToEnvelope message",
  "mcpResultToEnvelope",
  "mcpResultToEnvelope part",
  "mcpResultToEnvelope structured",
  "ingestMcpResult result",
  "ingestMcpResult part",
  "messagesToItems",
  "messagesToItems part",
  "findMessages",
  "findMessages list",
  "ingestMessages",
  "ingestMessages message",
  "syncMessages",
  "syncMessages message",
  "mcpToToolDefinition",
  "mcpToToolResult",
];

/** Entry points of what servers and authors of documents say of tools: their texts are repaired, and all else is refused. */
const DESCRIBED = ["Catalog.fromAgentCard", "Catalog.fromOpenApi", "Catalog.fromMcp", "Catalog.fromMcp tool", "Catalog.fromMcp schema"];

/** Passes a value to an entry point, which must refuse it and go on as before. */
function isRefused(cw, assert, [what, make, ...codes], [entry, run]) {
  // An iterator sees an empty array here, and that is no error.
  if (what === "an array of length NaN" && ["ingestAll items", "new Catalog", "new Router", "Router.add"].includes(entry)) return;
  const name = `${what} to ${entry}`;
  const state = fixture(cw);
  if (SENT.includes(entry) || (DESCRIBED.includes(entry) && what.includes("surrogate"))) {
    // It is repaired, or no result or message at all.
    try {
      run(cw, state.manager, make());
    } catch (error) {
      assert.ok(cw.ContextWeaverError.is(error) && error.code !== "INTERNAL", `${name}: ${error}`);
      isSound(assert, state, name);
    }
    state.manager.build({ phase: "answer" });
    state.manager.free();
    return;
  }
  // The engine may refuse the place the value stands in before the value itself matters.
  refuses(cw, assert, name, () => run(cw, state.manager, make()), ["INVALID_INPUT", "MISSING_FIELD", ...codes]);
  isSound(assert, state, name);
  state.manager.free();
}

/** What takes long and is the same in every runtime, for it is the facade that refuses: one runtime runs these. */
export const exhaustiveCases = {
  "values that are not data are refused at every entry point"(cw, assert) {
    for (const value of REFUSED) for (const entry of Object.entries(ENTRIES)) isRefused(cw, assert, value, entry);
  },

  "graphs, and objects of a million keys, end early or succeed"(cw, assert) {
    for (const [what, make, ...codes] of EXPENSIVE) {
      const value = make();
      for (const entry of codes.length > 0 ? ["ingest metadata", "options.policy.extra"] : ["ingest metadata"]) {
        const name = `${what} to ${entry}`;
        const state = fixture(cw);
        const run = () => ENTRIES[entry](cw, state.manager, value);
        if (codes.length > 0) {
          refuses(cw, assert, name, run, codes);
          isSound(assert, state, name);
        } else survives(cw, assert, name, run);
        state.manager.free();
      }
    }
  },
};

export const valueCases = {
  "each value that is not data is refused, and each entry point refuses"(cw, assert) {
    const entries = Object.entries(ENTRIES);
    for (let at = 0; at < Math.max(REFUSED.length, entries.length); at += 1) {
      isRefused(cw, assert, REFUSED[at % REFUSED.length], entries[at % entries.length]);
    }
  },

  "the path leads to the value"(cw, assert) {
    const { manager } = fixture(cw);
    const path = (value) => refuses(cw, assert, "path", () => manager.ingest(item("x", "t", { metadata: value }))).path;
    assert.equal(path({ a: { "b/c~d": [0, NaN] } }), "/metadata/a/b~1c~0d/1");
    assert.equal(path({ "": 1n }), "/metadata/");
    assert.ok(path({ ["k".repeat(1e6)]: 1n }).length < 200, "a long key is cut");
    const all = refuses(cw, assert, "path", () => manager.ingestAll([item("y"), item("z", "t", { metadata: { m: 1n } })]));
    assert.equal(all.path, "/items/1/metadata/m");
    const kind = refuses(cw, assert, "path", () => manager.ingest({ ...item("x"), kind: "no" }));
    assert.equal(kind.path, "/kind");
    assert.equal(manager.events.count(), 2);
    manager.free();
  },

  "what the caller's code throws is the cause"(cw, assert) {
    const { manager } = fixture(cw);
    const mine = new Error("mine");
    const bad = {
      get a() {
        throw mine;
      },
    };
    const error = refuses(cw, assert, "getter", () => manager.addFact({ key: "k", value: "v", metadata: bad }), ["INVALID_INPUT"]);
    assert.equal(error.cause, mine);
    assert.equal(error.path, "/metadata/a");
    const items = {
      *[Symbol.iterator]() {
        yield item("g1");
        throw mine;
      },
    };
    assert.equal(refuses(cw, assert, "iterator", () => manager.ingestAll(items), ["INVALID_INPUT"]).cause, mine);
    assert.equal(manager.events.count(), 2, "nothing of the iterator was kept");
    manager.free();
  },

  "every property is read once"(cw, assert) {
    const { manager } = fixture(cw);
    const reads = new Map();
    const spy = (target) =>
      new Proxy(target, {
        get(object, key) {
          if (typeof key === "string") reads.set(key, (reads.get(key) ?? 0) + 1);
          return object[key];
        },
      });
    let turn = 0;
    const sly = {
      get text() {
        turn += 1;
        return turn === 1 ? "first" : 5;
      },
    };
    manager.ingest(spy(Object.defineProperty(item("once"), "text", { ...Object.getOwnPropertyDescriptor(sly, "text") })));
    assert.equal(manager.events.get("once").text, "first");
    assert.deepEqual(
      [...reads.values()].filter((n) => n !== 1),
      [],
    );
    reads.clear();
    manager.build(spy({ phase: "answer", query: "q", pin: [] }));
    manager.drilldown("artifact:result:c1", spy({ type: "head", chars: 3 }), spy({ inject: true }));
    assert.deepEqual(
      [...reads.values()].filter((n) => n !== 1),
      [],
    );
    manager.free();
  },

  "a getter may use the manager it is passed to"(cw, assert) {
    const { manager } = fixture(cw);
    manager.ingest({
      ...item("outer"),
      get text() {
        manager.ingest(item("inner"));
        return "outer";
      },
    });
    manager.ingestAll([
      {
        id: "o2",
        kind: "user_turn",
        get text() {
          return manager.build({ phase: "answer" }).prompt;
        },
      },
    ]);
    const values = {
      k: "v",
      get gone() {
        delete values.later;
        return 1;
      },
      later: 2,
    };
    manager.ingest(item("shrinks", "t", { metadata: values }));
    assert.deepEqual(
      manager.events
        .list()
        .slice(-4)
        .map((i) => i.id),
      ["inner", "outer", "o2", "shrinks"],
    );
    assert.deepEqual(manager.events.get("shrinks").metadata, { k: "v", gone: 1 });
    manager.free();
  },

  "unusual data is accepted and comes back as data"(cw, assert) {
    const { manager } = fixture(cw);
    const shared = { a: 1 };
    const metadata = Object.assign(Object.create(null), {
      frozen: Object.freeze({ list: Object.freeze([1]) }),
      twice: [shared, shared],
      zero: -0,
      big: 2 ** 53 + 2,
      tiny: 5e-324,
      huge: 1.7976931348623157e308,
      absent: undefined,
      nothing: null,
      "\u0000\u2028\u{1f600}": "\u0000\u2028\u{1f600}\ufdd0\u202e",
    });
    manager.ingest(Object.freeze(item("odd", "", { metadata })));
    const back = manager.events.get("odd").metadata;
    assert.ok(back.zero === 0 && back.nothing === null && !("absent" in back), "zero, null, undefined");
    assert.deepEqual([back.big, back.tiny, back.huge], [2 ** 53 + 2, 5e-324, 1.7976931348623157e308]);
    assert.equal(back["\u0000\u2028\u{1f600}"], metadata["\u0000\u2028\u{1f600}"]);
    assert.deepEqual(back.twice, [{ a: 1 }, { a: 1 }]);
    back.frozen.list.push(2);
    assert.deepEqual(manager.events.get("odd").metadata.frozen, { list: [1] }, "results are the caller's own");
    manager.free();
  },

  "own keys of Object.prototype's names stay data"(cw, assert) {
    const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "toJSON"];
    const json = `{${names.map((name) => `"${name}":{"polluted":1}`).join()}}`;
    const tool = { id: "t", kind: "tool", name: "t", description: "d" };
    const state = fixture(cw);
    const { manager } = state;
    manager.ingest(item("p", "t", { metadata: own(json) }));
    manager.addFact({ fact_id: "f", key: "k", value: "v", metadata: own(json) });
    survives(cw, assert, "schema", () => manager.buildCall({ tool: { ...tool, args_schema: own(json) } }));
    survives(cw, assert, "constraints", () => manager.buildCall({ tool, constraints: own(json) }));
    survives(cw, assert, "scores", () => manager.build({ phase: "answer", item_scores: own('{"__proto__":1}') }));
    refuses(cw, assert, "options", () => new cw.ContextManager(own('{"__proto__":{"append":true}}')), ["UNKNOWN_FIELD"]);
    refuses(cw, assert, "build", () => manager.build(own('{"phase":"answer","__proto__":{"explain":true}}')), ["UNKNOWN_FIELD"]);
    for (const name of names) {
      manager.ingest(item(name));
      manager.ingestToolResult({ tool_call_id: name, tool_name: name, raw_output: name });
      manager.addFact({ fact_id: name, key: name, value: name });
      assert.equal(manager.events.get(name).id, name);
      assert.equal(new TextDecoder().decode(manager.artifacts.bytes(`artifact:result:${name}`)), name);
      refuses(cw, assert, "unknown handle", () => manager.artifacts.bytes(name), ["ARTIFACT_NOT_FOUND"]);
    }
    const copy = cw.ContextManager.fromJSON(JSON.parse(JSON.stringify(manager)));
    for (const one of [manager, copy]) {
      const { metadata } = one.events.get("p");
      assert.deepEqual(Object.keys(metadata).sort(), [...names].sort());
      assert.equal(JSON.stringify(metadata.constructor), '{"polluted":1}');
      assert.ok(Object.getPrototypeOf(metadata) === Object.prototype && metadata.polluted === undefined, "the prototype");
    }
    assert.equal({}.polluted, undefined);
    assert.deepEqual(JSON.stringify(copy), JSON.stringify(manager));
    copy.free();
    manager.free();
  },

  "nesting is accepted up to 64 levels below the argument"(cw, assert) {
    for (const wrap of [inArray, inObject]) {
      const state = fixture(cw);
      const { manager } = state;
      // The metadata object and its one field are the first two levels.
      manager.ingest(item("d63", "t", { metadata: { v: nested(62, wrap, 1) } }));
      manager.ingest(item("d64", "t", { metadata: { v: nested(63, wrap, 1) } }));
      const deep = () => manager.ingest(item("d65", "t", { metadata: { v: nested(64, wrap, 1) } }));
      refuses(cw, assert, "65 levels", deep, ["TOO_DEEP"]);
      assert.equal(manager.events.count(), 4);
      cw.ContextManager.fromJSON(manager.toJSON()).free();
      manager.free();
    }
  },
};
