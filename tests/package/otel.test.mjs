// The entry for OpenTelemetry with its own SDK: what is emitted is what docs/telemetry.md shows and what the drop record counts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as api from "@opentelemetry/api";
import { W3CBaggagePropagator, W3CTraceContextPropagator, CompositePropagator } from "@opentelemetry/core";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { project, root } from "./harness.mjs";
import { Contexts } from "./otel-contexts.mjs";

const folder = await project("otel", {
  "entry.mjs": `export * from "contextweaver/otel"; export { contextWeaver } from "contextweaver/anthropic"; export * from "contextweaver";`,
});
const {
  ContextManager,
  DecisionStore,
  MetaPolicy,
  ToolCallContext,
  contextWeaver,
  executeTool,
  extractTraceContext,
  injectTraceContext,
  otel,
  otelDecisions,
  toMcpMeta,
} = await import(pathToFileURL(join(folder, "entry.mjs")));

api.context.setGlobalContextManager(new Contexts());
api.propagation.setGlobalPropagator(new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }));

function traced() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = () => exporter.getFinishedSpans();
  return { tracer: provider.getTracer("test"), spans, named: (name) => spans().filter((span) => span.name === name) };
}

/** What of a span does not change from run to run. */
function shown({ name, kind, attributes, events, status }) {
  return {
    name,
    kind: api.SpanKind[kind],
    attributes,
    ...(events.length > 0 && { events: events.map(({ name: of, attributes: about }) => ({ name: of, attributes: about })) }),
    ...(status.code === api.SpanStatusCode.ERROR && { status: "ERROR" }),
  };
}

const ROWS = JSON.stringify(Array.from({ length: 400 }, (_, id) => ({ id, state: id % 7 ? "shipped" : "failed", note: "handled by the night shift" })));

/** A manager whose log has a large result and more than fits. */
function logged(hooks, options = {}) {
  const manager = new ContextManager({ ...options, hooks });
  manager.ingest({ id: "u1", kind: "user_turn", text: "Which orders failed?" });
  manager.ingest({ id: "c1", kind: "tool_call", text: "list_orders()" });
  manager.ingestToolResult({ tool_call_id: "c1", tool_name: "list_orders", raw_output: ROWS });
  for (const at of [1, 2, 3, 4, 5]) manager.ingest({ id: `n${at}`, kind: "agent_msg", text: `Note ${at}: ${"the night shift handles orders. ".repeat(40)}` });
  return manager;
}
const QUESTION = { phase: "answer", query: "Which orders failed?", budget_tokens: 900 };

/** What a request of the newest revision has to say. */
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The run that the documentation shows. */
async function example(options) {
  const { tracer, spans } = traced();
  const manager = logged(otel(tracer, options));
  manager.build({ ...QUESTION, running: true });
  assert.throws(() => manager.build({ ...QUESTION, budget_tokens: 1 }), { code: "BUDGET_EXCEEDED" });
  const cw = contextWeaver({ tools: [], budget_tokens: 4000, manager });
  cw.answer({ type: "tool_use", id: "toolu_1", name: "drilldown", input: { handle: "artifact:result:c1", selector: { type: "json_path", path: "$[0]" } } });
  cw.answer({ type: "tool_use", id: "toolu_2", name: "drilldown", input: { handle: "artifact:none", selector: { type: "head", chars: 100 } } });
  const store = new DecisionStore({ ...otelDecisions(tracer, { store_id: "decisions", ...options }), new_id: () => "d0000001" });
  const decision = { decision: "Refund by hand", confidence: 0.9, category: "process", stakes: "low" };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "log_decision", arguments: decision, _meta: MODERN } };
  const answered = await store.handleRpc(message);
  assert.ok(answered.result && !answered.result.isError, JSON.stringify(answered));
  return spans().map(shown);
}

test("what is emitted is what docs/telemetry.md shows", async () => {
  const page = await readFile(join(root, "docs", "telemetry.md"), "utf8");
  const [, json] = /```json\n([^]*?)\n```/.exec(page) ?? [];
  const emitted = await example();
  assert.deepEqual(JSON.parse(json ?? "null"), JSON.parse(JSON.stringify(emitted)), JSON.stringify(emitted, null, 2));
});

test("counts are those of the drop record, of texts and of messages", () => {
  const { tracer, named } = traced();
  const manager = logged(otel(tracer));
  const builds = [];
  for (const budget_tokens of [100, 400, 900, 2000, 20_000]) {
    const pack = manager.build({ ...QUESTION, budget_tokens });
    builds.push({ pack, tokens: pack.stats.prompt_tokens });
    const built = manager.buildMessages({ ...QUESTION, format: "openai-chat", budget_tokens });
    builds.push({ pack: built.pack, tokens: built.tokens });
  }
  const spans = named("contextweaver.build");
  assert.equal(spans.length, builds.length);
  for (const [
    at,
    {
      pack: { stats },
      tokens,
    },
  ] of builds.entries()) {
    const { attributes } = spans[at];
    const { "contextweaver.candidates": candidates, "contextweaver.selected": selected, "contextweaver.tokens": counted } = attributes;
    assert.deepEqual([candidates, selected, counted], [stats.total_candidates, stats.included_count, tokens]);
    const dropped = Object.entries(attributes).filter(([key]) => key.startsWith("contextweaver.dropped."));
    assert.deepEqual(Object.fromEntries(dropped.map(([key, count]) => [key.slice(22), count])), stats.dropped_reasons);
    assert.equal(
      dropped.reduce((sum, [, count]) => sum + count, 0),
      stats.dropped_count,
    );
    assert.ok(!("gen_ai.conversation.compacted" in attributes) || attributes["gen_ai.conversation.compacted"] === true);
  }
  assert.ok(spans.some(({ attributes }) => attributes["contextweaver.dropped.budget"] > 0));
  assert.ok(spans.every(({ startTime, endTime, duration }) => startTime[0] <= endTime[0] && duration[0] >= 0));
});

test("what a running prompt repeats and costs is told", () => {
  const { tracer, named } = traced();
  const manager = logged(otel(tracer));
  const first = manager.build({ ...QUESTION, running: true });
  manager.ingest({ id: "u2", kind: "user_turn", text: "And why?" });
  const second = manager.build({ ...QUESTION, running: true });
  const names = ["gen_ai.usage.cache_read.input_tokens", "contextweaver.running.cut", "contextweaver.running.cost", "contextweaver.running.cost_without"];
  const told = named("contextweaver.build").map(({ attributes }) => names.map((name) => attributes[name]));
  assert.deepEqual(
    told,
    [first, second].map(({ running: { repeated_tokens, cut, cost, cost_without } }) => [repeated_tokens, cut ?? "", cost, cost_without]),
  );
  assert.deepEqual([told[0][1], told[1][1]], ["first", ""]);
  assert.ok(told[1][0] > 0);
});

test("content is told where it is asked for, and nowhere else", async () => {
  const words = ["night shift", "orders failed", "c1", "n1", "artifact:", "d0000001", "Refund", "$[0]", "shipped"];
  const plain = JSON.stringify(await example());
  for (const word of words) assert.ok(!plain.includes(word), word);
  const spans = await example({ content: true });
  const told = JSON.stringify(spans);
  for (const word of ["c1", "artifact:result:c1", "d0000001", "$[0]"]) assert.ok(told.includes(word), word);
  assert.match(told, /"n[1-5]"/);
  const { events } = spans.find(({ name }) => name === "contextweaver.build");
  assert.ok(
    events.every(({ name, attributes }) => name === "contextweaver.dropped" && attributes["contextweaver.item.id"] && attributes["contextweaver.reason"]),
  );
});

test("arguments of tools are told without their credentials", () => {
  const { tracer, named } = traced();
  const cw = contextWeaver({ tools: [], budget_tokens: 4000, manager: { hooks: otel(tracer, { content: true }) } });
  cw.answer({
    type: "tool_use",
    id: "t1",
    name: "drilldown",
    input: { handle: "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789", selector: { type: "head", chars: 1 } },
  });
  cw.answer({ type: "tool_use", id: "t2", name: "find_tools", input: "no object" });
  const [span] = named("execute_tool drilldown");
  assert.ok(span.attributes["gen_ai.tool.call.arguments"].includes("[REDACTED-SECRET]"), span.attributes["gen_ai.tool.call.arguments"]);
  assert.deepEqual(
    named("execute_tool find_tools").map(({ attributes }) => attributes["error.type"]),
    ["INVALID_INPUT"],
  );
  cw.free();
});

test("a tracer or meter that throws breaks nothing, and is counted", async () => {
  const broken = { startSpan: () => assert.fail("no span"), startActiveSpan: () => assert.fail("no span") };
  const manager = logged(otel(broken));
  const pack = manager.build(QUESTION);
  assert.equal(pack.prompt, logged({}).build(QUESTION).prompt);
  assert.throws(() => manager.build({ ...QUESTION, budget_tokens: 1 }), { code: "BUDGET_EXCEEDED" });
  const cw = contextWeaver({ tools: [], budget_tokens: 4000, manager });
  assert.match(
    cw.answer({ type: "tool_use", id: "t", name: "drilldown", input: { handle: "artifact:none", selector: { type: "head", chars: 1 } } }).content,
    /^ARTIFACT_NOT_FOUND/,
  );
  assert.equal(manager.stats().hook_errors, 4, "the firewall, two builds and a tool");

  const store = new DecisionStore(otelDecisions(broken));
  const { isError } = await store.callTool("check_action", { description: "deploy" });
  assert.notEqual(isError, true);

  let ran = 0;
  assert.equal(await executeTool(broken, { name: "add" }, async () => (ran += 1)), 1, "run once");
  const fail = () => assert.fail("no telemetry");
  const late = { startActiveSpan: (_, __, run) => (run({ setAttributes: fail, setStatus: fail, end: fail }), fail()) };
  assert.equal(await executeTool(late, { name: "add" }, async () => (ran += 1)), 2, "run once");
  const wrong = { context: { active: () => api.ROOT_CONTEXT }, propagation: { inject: fail, extract: fail } };
  assert.deepEqual(injectTraceContext(wrong, { progressToken: 1 }), { progressToken: 1 });
  assert.equal(extractTraceContext(wrong, { traceparent: "00-1" }), api.ROOT_CONTEXT);
});

test("tools of the caller run in a span that is active meanwhile", async () => {
  const { tracer, named } = traced();
  let meta;
  const call = { name: "search", call_id: "call_1", mcp: { protocol_version: "2026-07-28" } };
  const result = { content: [], isError: true };
  const run = async () => {
    await null;
    meta = injectTraceContext(api, { progressToken: 7 });
    return result;
  };
  assert.equal(await executeTool(tracer, call, run), result);
  const [span] = named("tools/call search");
  assert.deepEqual(shown(span), {
    name: "tools/call search",
    kind: "CLIENT",
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "search",
      "gen_ai.tool.call.id": "call_1",
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2026-07-28",
      "error.type": "tool_error",
    },
    status: "ERROR",
  });
  const { traceId, spanId } = span.spanContext();
  assert.deepEqual(meta, { progressToken: 7, traceparent: `00-${traceId}-${spanId}-01` });

  class Refused extends Error {
    name = "Refused";
  }
  const thrown = new Refused("order 12446 of Ann");
  await assert.rejects(
    executeTool(tracer, { name: "refund" }, () => {
      throw thrown;
    }),
    thrown,
  );
  const [refund] = named("execute_tool refund");
  assert.equal(refund.attributes["error.type"], "Refused");
  assert.ok(!JSON.stringify(shown(refund)).includes("Ann"));
});

test("builds are children of the active span, and a server's spans of the client's", async () => {
  const { tracer, named } = traced();
  const store = new DecisionStore(otelDecisions(tracer, { api }));
  const request = (meta) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "check_action", arguments: { description: "deploy" }, _meta: meta } });
  await tracer.startActiveSpan("turn", async (turn) => {
    logged(otel(tracer)).build(QUESTION);
    await executeTool(tracer, { name: "check_action", mcp: {} }, async () => {
      const sent = injectTraceContext(api);
      await api.context.with(api.ROOT_CONTEXT, () => store.handleRpc(request(sent)));
    });
    turn.end();
  });
  const [turn] = named("turn");
  const [build] = named("contextweaver.build");
  assert.equal(build.parentSpanContext.spanId, turn.spanContext().spanId);
  const [server, client] = [api.SpanKind.SERVER, api.SpanKind.CLIENT].map((kind) => named("tools/call check_action").find((span) => span.kind === kind));
  assert.equal(server.parentSpanContext.spanId, client.spanContext().spanId);
  assert.equal(server.spanContext().traceId, turn.spanContext().traceId);
  assert.equal(named("contextweaver.guardrail_check").length, 1);
});

test("what a client wrote into _meta is read with care", async () => {
  const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const read = (meta, options) => extractTraceContext(api, meta, options);
  const spanOf = (context) => api.trace.getSpanContext(context)?.spanId;
  assert.equal(spanOf(read({ traceparent: parent, tracestate: "rojo=1" })), "00f067aa0ba902b7");
  assert.equal(api.trace.getSpanContext(read({ traceparent: parent, tracestate: "rojo=1" })).traceState.get("rojo"), "1");
  for (const meta of [
    undefined,
    null,
    1,
    "x",
    [],
    { traceparent: 1 },
    { traceparent: "x".repeat(9000) },
    { traceparent: "nonsense" },
    Object.create({ traceparent: parent }),
  ]) {
    assert.equal(spanOf(read(meta)), undefined);
  }
  const baggage = "user=ann";
  assert.equal(api.propagation.getBaggage(read({ traceparent: parent, baggage })), undefined);
  assert.equal(api.propagation.getBaggage(read({ traceparent: parent, baggage }, { baggage: true })).getEntry("user").value, "ann");
  const active = api.propagation.setBaggage(read({ traceparent: parent }), api.propagation.createBaggage({ user: { value: "ann" } }));
  api.context.with(active, () => {
    assert.deepEqual(injectTraceContext(api), { traceparent: parent });
    assert.deepEqual(injectTraceContext(api, {}, { baggage: true }), { traceparent: parent, baggage: "user=ann" });
    const context = ToolCallContext.of({ tenant: "t1" });
    const meta = toMcpMeta(context, MetaPolicy.allow(["tenant"]), { prefix: "com.example/", existing: injectTraceContext(api) });
    assert.deepEqual(meta, { traceparent: parent, "com.example/tenant": "t1" });
  });
  assert.deepEqual(injectTraceContext(api, { progressToken: 1 }), { progressToken: 1 });

  // A name that is no tool's may be anything.
  const { tracer, spans } = traced();
  const store = new DecisionStore(otelDecisions(tracer));
  await store.handleRpc({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "ann@example.com", _meta: { "io.modelcontextprotocol/protocolVersion": "ann" } },
  });
  await store.callTool("ann@example.com", {});
  await store.handleRpc("no JSON");
  await store.handleRpc({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  assert.deepEqual(
    spans().map(({ name }) => name),
    ["tools/call _OTHER", "execute_tool _OTHER"],
  );
  assert.ok(spans().every(({ attributes }) => attributes["error.type"]) && !JSON.stringify(spans().map(shown)).includes("ann"));
});

test("changes of decisions are operations on a memory", async () => {
  const { tracer, spans } = traced();
  const store = new DecisionStore(otelDecisions(tracer, { store_id: "team" }));
  const logged = await store.callTool("log_decision", { decision: "Use a queue", confidence: 0.8, category: "architecture", stakes: "low" });
  const { id } = logged.structuredContent;
  await store.callTool("update_decision", { id, context: "as measured" });
  const { structuredContent } = await store.callTool("query_decisions", { query: "queue" });
  const copy = new DecisionStore(otelDecisions(tracer));
  copy.import(store.export());
  const [search] = spans().filter(({ name }) => name === "search_memory");
  assert.deepEqual(search.attributes, {
    "gen_ai.operation.name": "search_memory",
    "gen_ai.memory.store.id": "team",
    "gen_ai.memory.record.count": structuredContent.decisions.length,
  });
  assert.ok(structuredContent.decisions.length > 0);
  const memory = spans()
    .map(({ name, attributes }) => [name, attributes["gen_ai.memory.store.id"]])
    .filter(([name]) => name.endsWith("_memory"));
  assert.deepEqual(memory, [
    ["create_memory", "team"],
    ["update_memory", "team"],
    ["search_memory", "team"],
    ["upsert_memory", undefined],
  ]);
});

test("metrics count the same", () => {
  const recorded = [];
  const instrument = (name) => ({
    record: (value, attributes) => recorded.push([name, value, attributes]),
    add: (value, attributes) => recorded.push([name, value, attributes]),
  });
  const meter = { createHistogram: instrument, createCounter: instrument };
  const manager = logged(otel(traced().tracer, { meter }));
  const { stats } = manager.build(QUESTION);
  assert.throws(() => manager.build({ ...QUESTION, budget_tokens: 1 }));
  const about = { "contextweaver.phase": "answer" };
  assert.deepEqual(recorded, [
    ["contextweaver.firewalled", 1, undefined],
    ["contextweaver.tokens", stats.prompt_tokens, about],
    ...Object.entries(stats.dropped_reasons).map(([reason, count]) => ["contextweaver.dropped", count, { ...about, "contextweaver.reason": reason }]),
    ["contextweaver.failed", 1, { ...about, "error.type": "BUDGET_EXCEEDED" }],
  ]);
});
