// Compiled, never run: the public types under strict settings, without Node's or the DOM's globals.
import {
  Catalog,
  ContextManager,
  ContextWeaverError,
  DecisionStore,
  ERROR_CODES,
  MetaPolicy,
  Router,
  ToolCallContext,
  assertPropagates,
  buildReport,
  contextKey,
  contextKeys,
  countTokens,
  decorate,
  defineTool,
  drilldownTool,
  effectiveContext,
  explainRoute,
  fromForeign,
  fromMcpMeta,
  redactSecrets,
  renderCards,
  runTool,
  sanitizeText,
  toMcpMeta,
  tokenize,
  unwrap,
} from "contextweaver";
import type {
  BuildOptions,
  BuildRouteOptions,
  CandidateExplanation,
  CatalogDiff,
  CatalogJson,
  ChoiceCard,
  CompactResult,
  ContextItem,
  ContextManagerOptions,
  ContextPack,
  DroppedItem,
  ErrorCode,
  HookEvent,
  ItemKind,
  JsonValue,
  Phase,
  RouteResult,
  RouterOptions,
  SelectableItem,
  Selector,
  Slice,
  Snapshot,
  StoredItem,
  StoredTool,
  Tool,
} from "contextweaver";
import { connectDecisions, decisionsHandler } from "contextweaver/mcp";
import type { Catalog as SlimCatalog, ContextManager as SlimManager, Router as SlimRouter } from "contextweaver/slim";

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
const same = <A, B>(_: Same<A, B>): void => undefined;
type IsAny<T> = 0 extends 1 & T ? true : false;

const manager = new ContextManager();
same<SlimManager, ContextManager>(true);
same<SlimCatalog, Catalog>(true);
same<SlimRouter, Router>(true);

// What goes in: the least, the most, and what is wrong.
manager.ingest({ id: "a", kind: "user_turn", text: "hi" });
manager.ingestAll(new Set<ContextItem>());
const stored: StoredItem = manager.events.get("a");
manager.ingest(stored);
manager.ingest({ ...stored, metadata: { nested: [{ deep: [1, "a", null, true] }], absent: undefined } });
// @ts-expect-error no such kind
manager.ingest({ id: "a", kind: "user", text: "hi" });
// @ts-expect-error the text is missing
manager.ingest({ id: "a", kind: "policy" });
// @ts-expect-error a typing error in an optional field
manager.ingest({ id: "a", kind: "policy", text: "", parentId: "b" });
// @ts-expect-error a Date is no data
manager.ingest({ id: "a", kind: "policy", text: "", metadata: { at: new Date() } });
interface Meta {
  readonly tenant: string;
  readonly tags: readonly string[];
  readonly more?: { readonly depth: number };
}
declare const meta: Meta;
manager.ingest({ id: "a", kind: "policy", text: "", metadata: meta });
manager.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: "", metadata: meta });
interface Dated {
  readonly at: Date;
}
// @ts-expect-error a Date in an interface is no data either
manager.ingest({ id: "a", kind: "policy", text: "", metadata: {} as Dated });
// @ts-expect-error an item is no list
manager.ingestAll({ id: "a", kind: "policy", text: "" });

manager.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: new Uint8Array(1) });
// @ts-expect-error only text and bytes
manager.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: { rows: [] } });
manager.ingestEnvelope({ tool_call_id: "c", tool_name: "t", envelope: { status: "success", summary: "" } });
same<ReturnType<typeof manager.addFact>["fact_id"], string>(true);

// What comes out cannot be changed, and is exact.
const pack: ContextPack = manager.build({ phase: "answer", query: "q", pin: ["a"], item_scores: { a: 1 } });
const drop: DroppedItem | undefined = pack.stats.dropped_items[0];
if (drop?.reason === "budget") same<typeof drop.tokens, number | undefined>(true);
// @ts-expect-error results are read only
pack.prompt = "";
// @ts-expect-error lists too
pack.envelopes.push();
same<typeof pack.phase, Phase>(true);
same<IsAny<typeof pack.explanation>, false>(true);
same<IsAny<StoredItem["metadata"][string]>, false>(true);
const value: JsonValue | undefined = stored.metadata["x"];
// @ts-expect-error metadata is unknown until looked at
const text: string = value;
const candidate: CandidateExplanation | undefined = pack.explanation?.candidates[0];
same<NonNullable<typeof candidate>["score"], number | null>(true);
// @ts-expect-error there may be no first candidate
candidate.item_id;

// Options.
const options: ContextManagerOptions = {
  profile: "fast",
  budget: { answer: 1 },
  policy: { sensitivity_action: "redact", redaction_hooks: ["mine"], max_items_per_kind: { policy: 1 } },
  scoring: { method: "bm25n", recency_weight: 1 },
  estimator: (t) => t.length,
  classifier: (item) => (item.metadata["pii"] ? "restricted" : "public"),
  summarizer: { summarize: (item, raw) => item.id + raw.slice(0, 10), is_llm: false },
  redaction_hooks: { mine: (item) => item.kind },
  hooks: { budget_exceeded: ({ requested, limit }) => void (requested - limit), context_built: (event) => void event.phase },
};
new ContextManager(options);
new ContextManager({ scoring: { kind_weight: 0.1 }, estimator: "heuristic/v2", classifier: "heuristic" });
new ContextManager({ thrift: 0.5, prices: { cached: 0.25, kept_seconds: 3600 } });
new ContextManager({ prices: null });
// @ts-expect-error prices that nobody has
new ContextManager({ prices: "somebody" });
// @ts-expect-error running prompts are no option of a manager
new ContextManager({ append: true });
// @ts-expect-error functions are synchronous
new ContextManager({ estimator: async (t: string) => t.length });
// @ts-expect-error a label that does not exist
new ContextManager({ classifier: () => "secret" });
// @ts-expect-error unknown options are errors
new ContextManager({ budgets: {} });
// @ts-expect-error a weight of another method
new ContextManager({ scoring: { method: "bm25n", dedup_threshold: 0.5 } });
// @ts-expect-error an absent option is a missing key
manager.build({ phase: "answer", query: undefined });
// @ts-expect-error no such phase
manager.build({ phase: "dance", query: "q" });
manager.build({ query: "q" });
const request: BuildOptions = { phase: "route" };
manager.build({ ...request, explain: true });
const tool: SelectableItem = { id: "t", kind: "tool", name: "n", description: "d" };
manager.buildCall({ tool, schema: {}, query: "q" });
// @ts-expect-error buildCall sets the phase
manager.buildCall({ tool, phase: "call" });

// Drilldown: the selector decides which fields there are.
const selectors: Selector[] = [
  { type: "head" },
  { type: "tail", end: 10 },
  { type: "lines", start: 1, offset: 3 },
  { type: "around", line: 4 },
  { type: "rows", columns: ["a"], where: [{ column: "a", op: ">", value: 1 }, { column: "b" }], header: false },
  { type: "json_keys", keys: ["a"] },
  { type: "json_path", path: "a[].b", end: -1 },
  { type: "search", text: "a", ignore_case: true },
  { type: "search", pattern: "a+", regex: true, max_hits: 1 },
  { type: "columns" },
  { type: "stats", columns: [] },
  { type: "outline" },
];
const slice: Slice = manager.drilldown("h", selectors[0] ?? { type: "head" }, { inject: true, max_tokens: 10 });
same<typeof slice.text, string>(true);
if (slice.next) manager.drilldown(slice.handle, slice.next);
manager.drilldown("h", { type: slice.unit === "rows" ? "rows" : "lines", start: slice.end });
for (const view of manager.artifacts.views("h")) manager.drilldown("h", view.selector);
// A selector is data, and goes where data goes.
manager.ingest({ id: "a", kind: "policy", text: "", metadata: { selector: slice.selector } });
// @ts-expect-error keys belong to json_keys
manager.drilldown("h", { type: "head", keys: [] });
// @ts-expect-error keys are needed
manager.drilldown("h", { type: "json_keys" });
// @ts-expect-error a text or a pattern, not both
manager.drilldown("h", { type: "search", text: "a", pattern: "b", regex: true });
// @ts-expect-error a pattern is a regular expression
manager.drilldown("h", { type: "search", pattern: "a" });
// @ts-expect-error no such operator
manager.drilldown("h", { type: "rows", where: [{ column: "a", op: "~" }] });
// @ts-expect-error no such type
manager.drilldown("h", { type: "middle" });

// Results outside of conversations, arguments for calls, summaries that take their time.
same<ReturnType<typeof manager.hydrate>["missing"], readonly string[] | undefined>(true);
const compacted: CompactResult = manager.compact({ rows: [] }, { keep: ["rows[].id"], budget_tokens: 100 });
same<typeof compacted.payload, JsonValue>(true);
// @ts-expect-error no option of that name
manager.compact("text", { threshold_chars: 10 });
// @ts-expect-error bytes are no data
manager.compact(new Uint8Array(1));
manager.hydrate({ tool: { id: "t", kind: "tool", name: "n", description: "d" }, arguments: { a: 1 } }).context_used;
for (const { item_id, text: long } of manager.summaryRequests({ limit: 1 })) {
  manager.supplySummary({ item_id, summary: long.slice(0, 10), facts: [], provider_metadata: { model: "m" } });
}
// @ts-expect-error models are not waited for
new ContextManager({ summarizer: async (_item: StoredItem, raw: string) => raw });
manager.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: "{}", keep: ["a.b"] }).envelope.views;
same<ReturnType<typeof drilldownTool>, StoredTool>(true);
same<ReturnType<typeof manager.artifacts.bytes>, Uint8Array<ArrayBuffer>>(true);

// Stores.
manager.artifacts.put({ handle: "h", content: "text", label: "l" }).size_bytes;
// @ts-expect-error only text and bytes
manager.artifacts.put({ handle: "h", content: [1] });
manager.facts.put({ fact_id: "f", key: "k", value: "v" });
// @ts-expect-error an id is needed to know what is replaced
manager.facts.put({ key: "k", value: "v" });
same<ReturnType<typeof manager.events.parent>, StoredItem | null>(true);
const episode: string | undefined = manager.episodes.get("e")?.summary;
manager.episodes.search(episode ?? "", { top_k: 1 }).length;
new ContextManager({ limits: { eviction: "lru", artifact_ttl_seconds: 60 }, clock: Date.now });
// @ts-expect-error no such way
new ContextManager({ limits: { eviction: "fifo" } });

// Catalogs.
const catalog = new Catalog(new Set([tool]));
catalog.register(catalog.get("t"));
same<ReturnType<typeof catalog.items>[number], StoredTool>(true);
same<StoredTool["title"], string | undefined>(true);
const tags: readonly string[] = catalog.get("t").tags;
manager.hydrate({ tool: catalog.get("t"), arguments: { tags } });
const listed: CatalogJson = catalog.toJSON();
Catalog.fromJSON(listed).free();
Catalog.fromJSON({ items: [tool] }).has("t");
// @ts-expect-error the number of tools cannot be set
catalog.size = 0;
// @ts-expect-error a tool needs a name
catalog.register({ id: "t", kind: "tool", description: "d" });
// @ts-expect-error a tool is no list
new Catalog(tool);

Catalog.fromMcp({ tools: [] }, { server: "s", id_form: "canonical" }).findings()[0]?.severity satisfies string | undefined;
const diff: CatalogDiff = catalog.diff(new Catalog());
catalog.lint({ pinned: catalog.pin() }).length + diff.added.length;
// @ts-expect-error a list of tools is no catalog
catalog.diff([tool]);
// @ts-expect-error no such form
Catalog.fromMcp([], { id_form: "short" });

// Routers.
const settings: RouterOptions = { top_k: 5, lexicon: { verbs: ["send mail"] }, embed: (texts) => texts.map(() => new Float32Array(3)) };
const router = new Router(catalog, settings);
new Router(new Set([tool]), { index: router.indexBytes(), graph: router.graph() }).free();
const found: RouteResult = router.route("q", { history: { called_tool_ids: ["t"] }, query_embedding: [0, 1], pin_ids: ["t"] });
const cards: readonly ChoiceCard[] = router.cards(found, { budget_tokens: 100 });
renderCards(cards, { show_scores: true }).trim() + explainRoute(found).markdown;
router.cards({ candidate_ids: ["t"] })[0]?.score;
const answer: string | null = router.validateSelection(found, undefined).selected_id;
router.toolsFor(found, "ai-sdk")["t"]?.inputSchema.jsonSchema;
router.toolsFor(found, "anthropic")[0]?.["name"];
router.selectionSchema(found, { provider: "gemini" });
router.browse({ path: "/", offset: router.browse().next ?? 0 }).children[0]?.kind satisfies "node" | "item" | undefined;
router.setEmbeddings({ t: new Float64Array(3) });
new Router(catalog, { embed: async (texts: readonly string[]) => texts.map(() => [1]) }).embedMissing("q") satisfies Promise<number>;
// @ts-expect-error the log is known to a manager only
router.route("q", { history: "log" });
// @ts-expect-error no such provider
router.toolsFor(found, "openai");
// @ts-expect-error results cannot be changed
found.scores[0] = 1;
const build: BuildRouteOptions = { router, query: "q", route: { history: "log" } };
const built: RouteResult = manager.buildRoute(build).route;
manager.buildCall({ tool_id: answer ?? "t", router, query: built.trace.query });
manager.hydrate({ tool_id: "t", catalog });
// @ts-expect-error an id alone leads to no tool
manager.hydrate({ tool_id: "t" });
// @ts-expect-error a tool, or the id of one
manager.hydrate({ tool, tool_id: "t", catalog });
// @ts-expect-error the phase is that of the choice
manager.buildRoute({ router, query: "q", phase: "route" });

// Snapshots.
const snapshot: Snapshot = manager.toJSON();
ContextManager.fromJSON(snapshot, { thrift: 0 }).free();
ContextManager.fromJSON(JSON.stringify(manager));
ContextManager.fromJSON(JSON.parse("{}"));
same<Snapshot["event_log"]["items"][number], StoredItem>(true);

// Disposal, errors, functions.
export function use(): number {
  using scoped = new ContextManager();
  using tools = new Catalog();
  using choice = new Router(tools);
  return scoped.events.count() + tools.size + choice.items().length;
}
const kinds: ReadonlySet<ItemKind> = new Set(["policy"]);
export const describe = (event: HookEvent): string => (event.hook === "items_excluded" ? event.item_ids.join() : event.hook + kinds.size);
export function codeOf(error: unknown): ErrorCode | undefined {
  // @ts-expect-error an unknown error has no code
  error.code;
  return ContextWeaverError.is(error) ? error.code : ERROR_CODES[0];
}
same<ReturnType<typeof countTokens>, number>(true);
same<ReturnType<typeof tokenize>, readonly string[]>(true);
redactSecrets(sanitizeText("x"), { mask: "*" });
buildReport({ stats: pack.stats, phase: "call" }).data.recommendations.join();

// Contexts of tool calls: typed keys tie a key to one type.
const TENANT = contextKey<string>("tenantId");
const LIMIT = contextKey("limit", { validate: (value) => typeof value === "number", secret: false }) satisfies { readonly name: string };
const context = ToolCallContext.of({ tenantId: "acme", n: 1 })
  .with(TENANT, "other")
  .with("anything", () => 1);
same<typeof context, ToolCallContext>(true);
// @ts-expect-error the key is for a string
context.with(TENANT, 5);
// @ts-expect-error the key is for a string
context.withSecret(TENANT, 5);
// @ts-expect-error the key is for a string
context.getOr(TENANT, 5);
// @ts-expect-error the key is for a number
context.string(contextKeys.deadline);
// @ts-expect-error a key is a string or a typed key
context.get(5);
// @ts-expect-error nobody makes one otherwise
new ToolCallContext(new Map());
// @ts-expect-error a typing error in the options
ToolCallContext.of({}, { secret: ["a"] });
// @ts-expect-error nothing of it can be changed
context.size = 1;
// @ts-expect-error a policy is no object of one's own
toMcpMeta(context, { kind: "passThrough", includeSecrets: true });
// @ts-expect-error secrets leave only by a name that says so
MetaPolicy.passThrough({ includeSecrets: true });
// @ts-expect-error what may come in must be named
fromMcpMeta({}, {});
const tenant = context.get(TENANT);
same<typeof tenant, string | undefined>(true);
const untyped = context.get("n");
same<typeof untyped, unknown>(true);
same<ReturnType<typeof context.number>, number | undefined>(true);
ToolCallContext.of([
  [TENANT, "a"],
  ["b", 1],
]).merge(ToolCallContext.of(new Map([["c", 1]])), { onConflict: "keep-upper" });
ToolCallContext.of({ LIMIT }).pick([TENANT, "n"]).without(TENANT);

// Tools: the second parameter may be left out, of the function and of the call.
const weather: Tool<{ readonly city: string }, string> = defineTool({ name: "weather" }, (input: { readonly city: string }) => input.city);
const gated = decorate(weather, { name: "gated", around: (input, given, next) => (given.has(TENANT) ? next(input) : "refused") });
const gatedAnswer: Promise<string> = gated.call({ city: "x" }, context);
same<Awaited<typeof gatedAnswer>, string>(true);
void runTool(gated, { city: "x" }, { process: context, interaction: effectiveContext(context, undefined) });
// @ts-expect-error the input is not what the tool takes
void runTool(gated, { town: "x" });
// @ts-expect-error a context is no plain object
void weather.call({ city: "x" }, { tenantId: "acme" });
const oneParameter: Tool = { name: "a", description: "", inputSchema: {}, call: async (input) => input };
void assertPropagates((tool) => decorate(tool, { around: (input, _given, next) => next(input) }));
same<typeof unwrap extends (tool: Tool) => Tool ? true : false, true>(true);
void fromForeign({ name: "f", call: (input: string, given) => `${input}${given.size}` }).call("x");
defineTool({ name: "b", style: "object" }, ({ input, context: given }) => [input, given.size]);
defineTool({ name: "c", style: "object" }, ({ input: _input, context: given }) => oneParameter.call(1, given));

// The decision memory.
const memory = new DecisionStore({
  clock: () => 0,
  new_id: () => "a",
  embed: async (texts) => texts.map(() => new Float32Array(3)),
  guardrails: [{ id: "floor", condition_stakes: "high", action: "block" }],
  tools: ["pre_action", "ready"],
  on_change: ({ type, revision }) => void [type satisfies string, revision satisfies number],
});
memory.callTool("pre_action", { action: { description: "x", stakes: "high" } }, { agent_id: "a1" }).then(({ structuredContent, isError }) => {
  isError satisfies true | undefined;
  structuredContent?.allowed satisfies boolean | undefined;
  structuredContent?.relevantDecisions[0]?.title satisfies string | undefined;
});
memory.callTool("my_prefix_ready", { anything: 1 }).then(({ content }) => content[0]?.text satisfies string | undefined);
memory
  .callTool("get_graph", { node_id: "a", depth: 2 })
  .then(({ structuredContent }) => structuredContent?.edges[0]?.edgeType satisfies "relates_to" | "supersedes" | "depends_on" | undefined);
memory.handleRpc({ jsonrpc: "2.0", id: 1, method: "ping" }).then((answer) => answer?.error?.code satisfies number | undefined);
memory.import(memory.export(), { mode: "replace", on_conflict: "keep" }).imported satisfies number;
memory.context({ query: "x", budget_tokens: 100, include: ["decisions", "wisdom"] }).then(({ text }) => manager.build({ phase: "answer", header: text }));
// @ts-expect-error no such argument
memory.callTool("get_graph", { node: "a" });
// @ts-expect-error no such option
new DecisionStore({ guardrail: [] });
// @ts-expect-error a call names who calls, nothing else
memory.callTool("ready", {}, { agent: "a1" });
// @ts-expect-error results cannot be changed
memory.listTools()[0]!.name = "x";
connectDecisions(memory, { start: async () => {}, send: async () => {}, close: async () => {} }).then(({ close }) => close());
decisionsHandler(memory, { token: "t", origins: [] }) satisfies (request: never) => Promise<unknown>;
decisionsHandler(memory, { token: false });
// @ts-expect-error without a token only on purpose
decisionsHandler(memory, { origins: [] });
// @ts-expect-error a variable that may not be set is not enough
decisionsHandler(memory, { token: undefined as string | undefined });
