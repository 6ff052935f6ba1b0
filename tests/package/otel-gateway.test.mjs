// Telemetry of a gateway with OpenTelemetry's own SDK, between a client and servers of MCP's: what is emitted is what docs/telemetry.md
// shows, a trace goes on through the gateway, and nothing that a client or a server wrote is in it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as clientSdk from "@modelcontextprotocol/client";
import * as serverSdk from "@modelcontextprotocol/server";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as api from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { listening, webHandler } from "./gateway-servers.mjs";
import { project, root } from "./harness.mjs";
import { Contexts } from "./otel-contexts.mjs";

const folder = await project("otel-gateway", { "entry.mjs": `export { gateway } from "contextweaver/mcp"; export { otelGateway } from "contextweaver/otel";` });
const { gateway, otelGateway } = await import(pathToFileURL(join(folder, "entry.mjs")));

api.context.setGlobalContextManager(new Contexts());
api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: "rojo=1" };
const ORDERS = JSON.stringify(Array.from({ length: 400 }, (_, id) => ({ id, state: id % 7 ? "shipped" : "failed", note: "handled by the night shift" })));
const inputSchema = { type: "object", properties: { customer: { type: "string" } } };
const TOOLS = [
  { name: "list_orders", description: "Lists orders.", inputSchema, annotations: { readOnlyHint: true } },
  { name: "refund", description: "Refunds an order.", inputSchema },
  { name: "confirm", description: "Asks first.", inputSchema },
  { name: "hang", description: "Never answers.", inputSchema },
  { name: "flaky", description: "Answers the second time.", inputSchema, annotations: { readOnlyHint: true } },
];

/** A server of SDK 2.x that notes the `_meta` of each request. */
async function shop(t) {
  const seen = [];
  let calls = 0;
  const handler = serverSdk.createMcpHandler(() => {
    const server = new serverSdk.Server({ name: "shop", version: "1.0.0" }, { capabilities: { tools: {}, resources: {}, prompts: {} } });
    const on = (method, answer) =>
      server.setRequestHandler(method, (request, context) => {
        seen.push({ method, name: request.params?.name, meta: context.mcpReq._meta ?? {} });
        return answer(request.params ?? {}, context);
      });
    server.setRequestHandler("tools/list", () => ({ tools: TOOLS }));
    server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "shop://orders/ann", name: "orders" }] }));
    server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "complain" }] }));
    on("tools/call", async ({ name }, { mcpReq }) => {
      const text = (words, isError = false) => ({ content: [{ type: "text", text: words }], ...(isError && { isError }) });
      if (name === "list_orders") return text(ORDERS);
      if (name === "refund") return text("Ann has no such order", true);
      if (name === "confirm") {
        if (mcpReq.inputResponses !== undefined) return text("done");
        const sure = { method: "elicitation/create", params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } } };
        return { resultType: "input_required", inputRequests: { sure }, requestState: "state" };
      }
      if (name === "flaky") {
        calls += 1;
        if (calls > 1) return text("there");
      }
      await new Promise((done) => mcpReq.signal.addEventListener("abort", done));
      return text("");
    });
    on("resources/read", ({ uri }) => {
      if (uri !== "shop://orders/ann") throw new serverSdk.ProtocolError(-32602, "Ann has no such thing");
      return { contents: [{ uri, text: "Ann's orders" }] };
    });
    on("prompts/get", () => ({ messages: [{ role: "user", content: { type: "text", text: "Ann is angry" } }] }));
    return server;
  });
  const http = await listening(webHandler((request) => handler.fetch(request)));
  t.after(() => handler.close());
  t.after(() => http.close());
  return { ...http, url: `${http.origin}/mcp`, seen };
}

function traced() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = () => exporter.getFinishedSpans();
  return { tracer: provider.getTracer("test"), spans, named: (name) => spans().filter((span) => span.name === name) };
}

/** A gateway in front of a shop. */
async function opened(t, options = {}) {
  const upstream = await shop(t);
  const errors = [];
  const handler = gateway({
    servers: { shop: { url: upstream.url, timeout_ms: 500 } },
    token: false,
    sdk: { server: serverSdk, client: clientSdk },
    on_error: (error) => errors.push(error),
    ...options,
  });
  t.after(() => handler.close());
  await handler.ready();
  return { handler, errors, seen: upstream.seen };
}

const through = (handler) => ({ fetch: (input, init) => handler.fetch(new Request(input, init)) });
const AT = new URL("http://localhost/mcp");

/** A client of SDK 2.x that speaks the newest revision. */
async function modernClient(t, handler, capabilities = {}) {
  const client = new clientSdk.Client({ name: "desk", version: "2.1.0" }, { capabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(new clientSdk.StreamableHTTPClientTransport(AT, through(handler)));
  t.after(() => client.close());
  return client;
}

/** A client of SDK 1.x. */
async function earlierClient(t, handler) {
  const client = new EarlierClient({ name: "old-desk", version: "1.0.0" }, { capabilities: {} });
  await client.connect(new EarlierTransport(AT, through(handler)));
  t.after(() => client.close());
  return client;
}

/** What of a span does not change from run to run. */
function shown({ name, kind, attributes, status }) {
  return { name, kind: api.SpanKind[kind], attributes, ...(status.code === api.SpanStatusCode.ERROR && { status: "ERROR" }) };
}

test("what is emitted is what docs/telemetry.md shows", async (t) => {
  const { tracer, spans } = traced();
  const { handler } = await opened(t, { hooks: otelGateway(tracer, { api }) });
  const client = await modernClient(t, handler);
  const listed = await client.callTool({ name: "list_orders", arguments: { customer: "Ann" }, _meta: PARENT });
  const handle = listed._meta["contextweaver/handle"];
  await client.callTool({ name: "drilldown", arguments: { handle, selector: { type: "json_path", path: "$[0]" } } });
  await client.callTool({ name: "refund", arguments: { customer: 1 } });
  const page = await readFile(join(root, "docs", "telemetry.md"), "utf8");
  const [, json] = /## Gateways[^]*?```json\n([^]*?)\n```/.exec(page) ?? [];
  const emitted = JSON.parse(JSON.stringify(spans().map(shown)));
  assert.deepEqual(JSON.parse(json ?? "null"), emitted, JSON.stringify(emitted, null, 2));
});

for (const [era, connect] of [
  ["2026-07-28", modernClient],
  ["2025-11-25", earlierClient],
]) {
  test(`a trace goes on from a client of ${era} through the gateway to the server`, async (t) => {
    const { tracer, named } = traced();
    const { handler, seen } = await opened(t, { hooks: otelGateway(tracer, { api }) });
    const client = await connect(t, handler);
    await client.callTool({ name: "refund", arguments: {}, _meta: PARENT });
    await client.readResource({ uri: "shop://orders/ann", _meta: PARENT });
    await client.getPrompt({ name: "complain", _meta: PARENT });
    for (const name of ["tools/call refund", "resources/read", "prompts/get complain"]) {
      const [server, ours] = [api.SpanKind.SERVER, api.SpanKind.CLIENT].map((kind) => named(name).find((span) => span.kind === kind));
      assert.equal(server.spanContext().traceId, TRACE, name);
      assert.equal(server.parentSpanContext.spanId, "00f067aa0ba902b7", name);
      assert.equal(server.attributes["mcp.protocol.version"], era, name);
      assert.equal(ours.parentSpanContext.spanId, server.spanContext().spanId, name);
      assert.equal(ours.attributes["mcp.protocol.version"], "2026-07-28", name);
      const { meta } = seen.find(({ method }) => name.startsWith(method));
      assert.equal(meta.traceparent, `00-${TRACE}-${ours.spanContext().spanId}-01`, name);
      assert.equal(meta.tracestate, "rojo=1", name);
    }
    assert.equal(named("prompts/get complain")[0].attributes["gen_ai.prompt.name"], "complain");
  });
}

test("without hooks a trace passes as it came, with them as far as `meta_allow` lets it", async (t) => {
  const plain = await opened(t);
  const client = await modernClient(t, plain.handler);
  await client.callTool({ name: "refund", arguments: {}, _meta: { ...PARENT, secret: "s" } });
  await client.readResource({ uri: "shop://orders/ann", _meta: { ...PARENT, secret: "s" } });
  for (const { method, meta } of plain.seen) {
    assert.deepEqual([meta.traceparent, meta.tracestate, meta.secret], [PARENT.traceparent, PARENT.tracestate, undefined], method);
  }
  assert.equal(plain.seen.length, 2);

  const { tracer, spans } = traced();
  const closed = await opened(t, { hooks: otelGateway(tracer, { api }), meta_allow: [] });
  await (await modernClient(t, closed.handler)).callTool({ name: "refund", arguments: {}, _meta: PARENT });
  assert.deepEqual(
    closed.seen.map(({ meta }) => [meta.traceparent, meta.tracestate]),
    [[undefined, undefined]],
  );
  assert.ok(spans().every((span) => span.spanContext().traceId !== TRACE));
});

/** The events of a gateway's hooks, as they come. */
function recorder() {
  const events = [];
  const hear = (event) => void events.push(event);
  const hooks = { gateway_call_started: hear, upstream_request_started: hear, upstream_request_completed: hear, gateway_call_completed: hear };
  return { events, hooks, completed: () => events.filter(({ hook }) => hook === "gateway_call_completed") };
}

test("each call is told once, with names, codes and counts", async (t) => {
  const { events, hooks, completed } = recorder();
  const lines = [];
  const { handler } = await opened(t, {
    hooks,
    debug: (line) => lines.push(line),
    cache: {},
    retry: { max_attempts: 2, base_delay: 0.01 },
    policy: { rules: [{ action: "deny", tool: "confirm", meta_tool: "tool_execute" }] },
  });
  const client = await modernClient(t, handler);
  const call = (name, args = {}) => client.callTool({ name, arguments: args }).catch((error) => error);
  const listed = await call("list_orders");
  await call("list_orders");
  await call("drilldown", { handle: listed._meta["contextweaver/handle"], selector: { type: "head", chars: 20 } });
  await call("drilldown", { handle: "artifact:none", selector: { type: "head" } });
  await call("recall", { query: "orders" });
  await call("refund");
  await call("confirm");
  await call("hang");
  await call("flaky");
  await call("ann@example.com");
  await client.readResource({ uri: "shop://orders/ann" });
  await client.readResource({ uri: "shop://nowhere" }).catch(() => undefined);
  await client.getPrompt({ name: "complain" });
  const told = completed().map(({ kind, server, name, error_type, attempts, cache_hit, is_digested }) => [
    kind,
    server,
    name,
    error_type,
    attempts,
    cache_hit,
    is_digested,
  ]);
  const none = undefined;
  assert.deepEqual(told, [
    ["tool", "shop", "list_orders", none, 1, false, true],
    ["tool", "shop", "list_orders", none, 0, true, false],
    ["drilldown", none, "drilldown", none, 0, false, false],
    ["drilldown", none, "drilldown", "ARTIFACT_NOT_FOUND", 0, false, false],
    ["recall", none, "recall", none, 0, false, false],
    ["tool", "shop", "refund", "tool_error", 1, false, false],
    ["tool", "shop", "confirm", "POLICY_DENIED", 0, false, false],
    ["tool", "shop", "hang", "UPSTREAM_TIMEOUT", 1, false, false],
    ["tool", "shop", "flaky", none, 2, false, false],
    ["tool", none, none, "HYDRATE_FAILED", 0, false, false],
    ["resource", "shop", none, none, 1, false, false],
    ["resource", "shop", none, "-32602", 1, false, false],
    ["prompt", "shop", "complain", none, 1, false, false],
  ]);
  assert.equal(lines.length, told.length);
  assert.match(lines[0], /^tools\/call shop\/list_orders: ok, [\d,]+ tokens came, [\d,]+ were shown \(digested\), 1 request, [\d,]+ ms$/);
  assert.match(lines[1], /^tools\/call shop\/list_orders: ok, (?:.* )?from the cache, /);
  assert.match(lines[6], /^tools\/call shop\/confirm: POLICY_DENIED, /);
  assert.ok(!lines.join("\n").includes("ann@example.com") && !lines.join("\n").includes("shop://"));
  const [first] = completed();
  assert.deepEqual(
    [first.caller, first.method, first.protocol_version, first.upstream_protocol_version],
    ["anonymous", "tools/call", "2026-07-28", "2026-07-28"],
  );
  assert.equal(new Set(completed().map(({ session }) => session)).size, 1, "a caller of this revision has one session");
  assert.deepEqual(first.client, { name: "desk", version: "2.1.0" });
  const { largest } = handler.stats();
  assert.equal(first.tokens, largest[0].tokens);
  assert.ok(first.shown_tokens < first.tokens / 4);
  assert.equal(Math.sign(first.duration_ms), 1);
  const hang = events.filter(({ hook, name }) => hook === "upstream_request_completed" && name === "hang");
  assert.deepEqual(
    hang.map(({ attempt, error_type }) => [attempt, error_type]),
    [[1, "timeout"]],
  );
  assert.equal(Math.sign(hang[0].duration_ms), 1);

  // A call is told of from its beginning to its end, and a request to a server in between.
  for (const { call: number } of completed()) {
    const order = events.filter((event) => event.call === number).map(({ hook }) => hook);
    const pairs = Array.from({ length: (order.length - 2) / 2 }, () => ["upstream_request_started", "upstream_request_completed"]).flat();
    assert.deepEqual(order, ["gateway_call_started", ...pairs, "gateway_call_completed"]);
  }
  const said = JSON.stringify(events);
  for (const word of ["Ann", "night shift", "artifact:", "shop://", "ann@example.com", "state"]) assert.ok(!said.includes(word), word);
});

test("searches are told by the gateway's own names, and calls by those of the server", async (t) => {
  const { hooks, completed } = recorder();
  const { handler } = await opened(t, { hooks, mode: "search" });
  const client = await earlierClient(t, handler);
  await client.callTool({ name: "search_tools", arguments: { query: "refund of an order" } });
  await client.callTool({ name: "call_tool", arguments: { name: "refund", arguments: {} } });
  await client.callTool({ name: "call_tool", arguments: { name: "refunt", arguments: {} } });
  const told = completed().map(({ kind, server, name, error_type }) => [kind, server, name, error_type]);
  assert.deepEqual(told, [
    ["search", undefined, "search_tools", undefined],
    ["tool", "shop", "refund", "tool_error"],
    ["tool", undefined, "call_tool", "HYDRATE_FAILED"],
  ]);
  await (await earlierClient(t, handler)).callTool({ name: "search_tools", arguments: { query: "" } });
  const sessions = completed().map(({ session }) => session);
  assert.equal(new Set(sessions).size, 2, "a connection is a session");
  assert.equal(new Set(sessions.slice(0, 3)).size, 1);
});

test("a call that asks its user is one call", async (t) => {
  const { events, hooks, completed } = recorder();
  const { handler } = await opened(t, { hooks });
  const client = await modernClient(t, handler, { elicitation: { form: {} } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
  const result = await client.callTool({ name: "confirm", arguments: {} });
  assert.equal(result.content[0].text, "done");
  assert.equal(events.filter(({ hook }) => hook === "gateway_call_started").length, 1);
  assert.deepEqual(
    completed().map(({ name, attempts, error_type }) => [name, attempts, error_type]),
    [["confirm", 2, undefined]],
  );
});

test("a call that a client gives up has ended", async (t) => {
  const { hooks, completed } = recorder();
  const { handler } = await opened(t, { hooks, servers: { shop: { url: (await shop(t)).url, timeout_ms: 60_000 } } });
  for (const [connect, options] of [
    [modernClient, (how) => [how]],
    [earlierClient, (how) => [undefined, how]],
  ]) {
    const client = await connect(t, handler);
    const ended = new AbortController();
    setTimeout(() => ended.abort(), 200);
    await assert.rejects(client.callTool({ name: "hang", arguments: {} }, ...options({ signal: ended.signal })));
  }
  for (let waited = 0; completed().length < 2 && waited < 50; waited += 1) await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(
    completed().map(({ name, error_type }) => [name, error_type]),
    [
      ["hang", "cancelled"],
      ["hang", "cancelled"],
    ],
  );
});

test("hooks that throw, or that are none, harm no call", async (t) => {
  const fail = () => {
    throw new Error("no telemetry");
  };
  const late = async () => fail();
  const broken = { startSpan: fail, startActiveSpan: fail };
  for (const hooks of [
    { gateway_call_started: fail, upstream_request_started: fail, upstream_request_completed: fail, gateway_call_completed: fail },
    { gateway_call_started: late, upstream_request_started: late, upstream_request_completed: late, gateway_call_completed: late },
    { upstream_request_started: () => ({ traceparent: 1, tracestate: "x".repeat(9000), authorization: "s" }) },
    otelGateway(broken, { api }),
    otelGateway(traced().tracer, { api: { ...api, propagation: { inject: fail, extract: fail } } }),
    otelGateway(traced().tracer, { api, meter: { createHistogram: () => ({ record: fail }), createCounter: () => ({ add: fail }) } }),
  ]) {
    const { handler, errors, seen } = await opened(t, { hooks });
    const client = await modernClient(t, handler);
    const { content } = await client.callTool({ name: "refund", arguments: {}, _meta: PARENT });
    assert.equal(content[0].text, "Ann has no such order");
    const { traceparent, authorization } = seen[0].meta;
    assert.equal(authorization, undefined);
    assert.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    await new Promise((done) => setTimeout(done, 20));
    assert.ok(
      errors.every(({ message }) => message === "no telemetry"),
      errors.join("\n"),
    );
    const isHarmless = Object.keys(hooks).length === 1;
    assert.equal(errors.length > 0, !isHarmless);
  }
  const options = { servers: { shop: { url: "http://localhost/mcp" } }, token: false };
  assert.throws(() => gateway({ ...options, hooks: { gateway_call_complete: fail } }), {
    code: "UNKNOWN_FIELD",
    path: "/hooks/gateway_call_complete",
    hint: /gateway_call_completed/,
  });
  assert.throws(() => gateway({ ...options, hooks: { gateway_call_completed: 1 } }), { code: "INVALID_INPUT", path: "/hooks/gateway_call_completed" });
  assert.throws(() => gateway({ ...options, debug: true, hooks: { gateway_call_completed: 1 } }), {
    code: "INVALID_INPUT",
    path: "/hooks/gateway_call_completed",
  });
  assert.throws(() => gateway({ ...options, debug: "yes" }), { code: "INVALID_INPUT", path: "/debug" });
  assert.throws(() => gateway({ ...options, hooks: 1 }), { code: "INVALID_INPUT", path: "/hooks" });
});

test("metrics count the same", async (t) => {
  const recorded = [];
  const instrument = (name) => ({
    record: (value, attributes) => recorded.push([name, value, attributes]),
    add: (value, attributes) => recorded.push([name, value, attributes]),
  });
  const { handler } = await opened(t, { hooks: otelGateway(traced().tracer, { api, meter: { createHistogram: instrument, createCounter: instrument } }) });
  const client = await modernClient(t, handler);
  await client.callTool({ name: "list_orders", arguments: {} });
  await client.callTool({ name: "refund", arguments: {} });
  const about = (name, more) => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "mcp.method.name": "tools/call",
    "mcp.protocol.version": "2026-07-28",
    ...more,
  });
  const served = { "contextweaver.kind": "tool", "contextweaver.server": "shop" };
  const asked = { "contextweaver.server": "shop" };
  const failed = { "error.type": "tool_error" };
  assert.deepEqual(
    recorded.map(([name, , attributes]) => [name, attributes]),
    [
      ["mcp.client.operation.duration", about("list_orders", asked)],
      ["mcp.server.operation.duration", about("list_orders", served)],
      ["contextweaver.saved_tokens", { "contextweaver.server": "shop", "gen_ai.tool.name": "list_orders" }],
      ["mcp.client.operation.duration", about("refund", { ...asked, ...failed })],
      ["mcp.server.operation.duration", about("refund", { ...served, ...failed })],
    ],
  );
  const { saved_tokens } = handler.stats().totals;
  assert.equal(recorded[2][1], saved_tokens);
  assert.ok(recorded.every(([, value]) => value > 0));
});

test("who calls is told where that is asked for", async (t) => {
  for (const caller of [undefined, true]) {
    const { tracer, spans } = traced();
    const { handler } = await opened(t, {
      hooks: otelGateway(tracer, { api, ...(caller && { caller }) }),
      token: undefined,
      authorize: () => ({ caller: "ann" }),
    });
    await (await modernClient(t, handler)).callTool({ name: "refund", arguments: {} });
    assert.deepEqual(
      spans().map(({ attributes }) => attributes["contextweaver.caller"]),
      [undefined, caller && "ann"],
    );
  }
});
