// Compiled, never run: the public types under strict settings, without Node's or the DOM's globals.
import {
  ContextManager,
  ContextWeaverError,
  ERROR_CODES,
  buildReport,
  countTokens,
  redactSecrets,
  sanitizeText,
  tokenize,
} from "contextweaver";
import type {
  BuildOptions,
  CandidateExplanation,
  ContextItem,
  ContextManagerOptions,
  ContextPack,
  DroppedItem,
  ErrorCode,
  HookEvent,
  ItemKind,
  JsonValue,
  Phase,
  SelectableItem,
  Selector,
  Snapshot,
  StoredItem,
} from "contextweaver";
import type { ContextManager as SlimManager } from "contextweaver/slim";

/** Compiles only when both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
const same = <A, B>(_: Same<A, B>): void => undefined;
type IsAny<T> = 0 extends 1 & T ? true : false;

const manager = new ContextManager();
same<SlimManager, ContextManager>(true);

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
  compat: "0.18",
  profile: "fast",
  budget: { answer: 1 },
  policy: { sensitivity_action: "redact", redaction_hooks: ["mine"], max_items_per_kind: { policy: 1 } },
  scoring: { method: "reference", phase_overrides: { route: { recency_weight: 1 } } },
  estimator: (t) => t.length,
  classifier: (item) => (item.metadata["pii"] ? "restricted" : "public"),
  summarizer: { summarize: (item, raw) => item.id + raw.slice(0, 10), is_llm: false },
  redaction_hooks: { mine: (item) => item.kind },
  hooks: { budget_exceeded: ({ requested, limit }) => void (requested - limit), context_built: (event) => void event.phase },
};
new ContextManager(options);
new ContextManager({ scoring: { kind_weight: 0.1 }, estimator: "heuristic/v2", classifier: "heuristic" });
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
// @ts-expect-error the phase is required
manager.build({ query: "q" });
const request: BuildOptions = { phase: "route" };
manager.build({ ...request, explain: true });
const tool: SelectableItem = { id: "t", kind: "tool", name: "n", description: "d" };
manager.buildCall({ tool, schema: {}, query: "q" });
// @ts-expect-error buildCall sets the phase
manager.buildCall({ tool, phase: "call" });

// Drilldown: the selector decides which fields there are.
const selectors: Selector[] = [{ type: "head" }, { type: "lines", start: 1 }, { type: "json_keys", keys: ["a"] }];
same<ReturnType<typeof manager.drilldown>["text"], string>(true);
manager.drilldown("h", selectors[0] ?? { type: "head" }, { inject: true, max_tokens: 10 });
// @ts-expect-error keys belong to json_keys
manager.drilldown("h", { type: "head", keys: [] });
// @ts-expect-error keys are needed
manager.drilldown("h", { type: "json_keys" });
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

// Snapshots.
const snapshot: Snapshot = manager.toJSON();
ContextManager.fromJSON(snapshot, { append: true }).free();
ContextManager.fromJSON(JSON.stringify(manager));
ContextManager.fromJSON(JSON.parse("{}"));
same<Snapshot["event_log"]["items"][number], StoredItem>(true);

// Disposal, errors, functions.
export function use(): number {
  using scoped = new ContextManager();
  return scoped.events.count();
}
const kinds: ReadonlySet<ItemKind> = new Set(["policy"]);
export const describe = (event: HookEvent): string =>
  event.hook === "items_excluded" ? event.item_ids.join() : event.hook + kinds.size;
export function codeOf(error: unknown): ErrorCode | undefined {
  // @ts-expect-error an unknown error has no code
  error.code;
  return ContextWeaverError.is(error) ? error.code : ERROR_CODES[0];
}
same<ReturnType<typeof countTokens>, number>(true);
same<ReturnType<typeof tokenize>, readonly string[]>(true);
redactSecrets(sanitizeText("x"), { mask: "*" });
buildReport({ stats: pack.stats, phase: "call" }).data.recommendations.join();
