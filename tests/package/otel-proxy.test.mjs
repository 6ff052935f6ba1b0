// Telemetry of a proxy with OpenTelemetry's own SDK: what is emitted is what docs/proxy-operations.md shows, each call of a model is told of once
// however it ends, and nothing that was said is in it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as api from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { project, root } from "./harness.mjs";
import { Contexts } from "./otel-contexts.mjs";
import { scriptedProvider, streamed } from "./proxy-provider.mjs";
import { Agent } from "./proxy-reader.mjs";

const folder = await project("otel-proxy", { "entry.mjs": `export { proxy } from "contextweaver/proxy"; export { otelProxy } from "contextweaver/otel";` });
const { otelProxy, proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

api.context.setGlobalContextManager(new Contexts());
api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const KEY = "sk-ant-not-to-be-told-0123456789";
const BASE = "http://127.0.0.1:8323";

function traced(options = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = () => exporter.getFinishedSpans();
  return { hooks: otelProxy(provider.getTracer("test"), { api, ...options }), spans, calls: () => spans().filter(({ kind }) => kind === api.SpanKind.CLIENT) };
}

const shown = ({ name, kind, attributes, status }) => ({
  name,
  kind: api.SpanKind[kind],
  attributes,
  ...(status.code === api.SpanStatusCode.ERROR && { status: "ERROR" }),
});

/** A proxy that is traced, before a provider. */
function before(next, options = {}, how) {
  const provider = scriptedProvider(next, how);
  const told = traced();
  const errors = [];
  const handler = proxy({ budget_tokens: 4_000, token: false, fetch: provider.answer, hooks: told.hooks, on_error: (error) => errors.push(error), ...options });
  const post = (body, headers = {}, init = {}) =>
    handler(
      new Request(`${BASE}/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": KEY, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
      }),
    );
  const ask = async (body, headers) => {
    const response = await post(
      { model: "claude-opus-5", max_tokens: 9, tools: [{ name: "read", description: "", input_schema: { type: "object" } }], ...body },
      headers,
    );
    return { status: response.headers.get("x-contextweaver"), text: await response.text() };
  };
  return { ...provider, ...told, handler, ask, post, errors };
}

const SHORT = { model: "claude-opus-5", max_tokens: 9, messages: [{ role: "user", content: "canary of the user" }] };

/** `shown` with the kind of each count of tokens that the engine makes: every wording of a digest moves the count. */
const kinds = (shown) => JSON.parse(JSON.stringify(shown, (name, value) => (name.startsWith("contextweaver.tokens") ? typeof value : value)));

test("what is emitted is what docs/proxy-operations.md shows, and nothing of what was said", async () => {
  let isLooked = false;
  const { ask, post, handler, spans, errors } = before((body) => {
    const handle = /drilldown (artifact:result:\w+) /.exec(JSON.stringify(body.messages))?.[1];
    if (!handle || isLooked) return { text: "canary of the model" };
    isLooked = true;
    return { calls: [{ id: "look", name: "drilldown", input: { handle } }] };
  });
  const agent = new Agent("canary", ask, { task: "canary of the task" });
  for (let step = 0; step < 8; step += 1) await agent.step();
  await (await post({ ...SHORT, n: 1, messages: [null] })).text();
  const emitted = JSON.parse(JSON.stringify(spans().map(shown)));
  const calls = emitted.filter(
    ({ kind, attributes }) => kind === "CLIENT" && (attributes["contextweaver.sent"] !== "whole" || attributes["contextweaver.tokens"] < 50),
  );
  const looks = emitted.filter(({ name }) => name === "execute_tool drilldown");
  const page = await readFile(join(root, "docs", "proxy-operations.md"), "utf8");
  const [, json] = /## Telemetry[^]*?```json\n([^]*?)\n```/.exec(page) ?? [];
  const said = [calls[0], ...calls.slice(1, 3), ...looks, calls.at(-1)];
  assert.deepEqual(kinds(JSON.parse(json ?? "null")), kinds(said), JSON.stringify(said));
  assert.ok(emitted.some(({ name }) => name === "contextweaver.build"));
  assert.equal(looks.length, 1);
  const all = JSON.stringify(emitted);
  for (const secret of [KEY, "canary", "harbour", "artifact:"]) assert.ok(!all.includes(secret), secret);
  assert.equal(errors.length, 1);
  handler.free();
});

test("a trace goes on from the client's headers", async () => {
  const { post, calls, handler } = before(() => ({ text: "hi" }));
  await (await post(SHORT, { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` })).text();
  await (await post(SHORT, { traceparent: "no trace" })).text();
  assert.deepEqual(
    calls().map((span) => [span.spanContext().traceId === TRACE, span.parentSpanContext?.spanId]),
    [
      [true, "00f067aa0ba902b7"],
      [false, undefined],
    ],
  );
  handler.free();
});

test("each call is told of once, however it ends", async () => {
  const types = ({ attributes }) => [attributes["contextweaver.sent"], attributes["error.type"], attributes["http.response.status_code"]];
  const cases = [
    [async ({ post }) => (await post(SHORT)).text(), () => ({ text: "hi" }), [["whole", undefined, 200]]],
    [async ({ post }) => (await post({ ...SHORT, stream: true })).text(), () => ({ text: "hi" }), [["whole", undefined, 200]]],
    [async ({ post }) => (await post(SHORT)).text(), () => Response.json({}, { status: 529 }), [["whole", "529", 529]]],
    [async ({ post }) => (await post(`{"messages":7}`)).text(), () => ({ text: "hi" }), [["bypassed", undefined, 200]]],
    [async ({ post }) => (await post(SHORT, { "x-contextweaver-bypass": "1" })).text(), () => Response.json({}, { status: 404 }), [["bypassed", "404", 404]]],
    [async ({ post }) => (await post(SHORT)).text(), () => Promise.reject(new Error("down")), [["whole", "unreachable", undefined]]],
    [
      async ({ post }) => assert.rejects((await post({ ...SHORT, stream: true })).text()),
      () =>
        new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }), { headers: { "content-type": "text/event-stream" } }),
      [["whole", "broken_off", 200]],
    ],
    [
      async ({ post }) => assert.rejects((await post(`{"messages":7}`)).text()),
      () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) })),
      [["bypassed", "broken_off", 200]],
    ],
    [
      async ({ post }) => {
        const { body } = await post({ ...SHORT, stream: true });
        await body.cancel();
      },
      () =>
        new Response(streamed(["data: {}\n\n"], { wait: (at) => (at === 0 ? undefined : new Promise(() => undefined)) }), {
          headers: { "content-type": "text/event-stream" },
        }),
      [["whole", "cancelled", 200]],
    ],
    [
      async ({ post }) => {
        const gone = new AbortController();
        const asked = post(SHORT, {}, { signal: gone.signal });
        setImmediate(() => gone.abort());
        assert.equal((await asked).status, 499);
      },
      (_, { signal }) => new Promise((__, fail) => (signal.aborted ? fail(signal.reason) : signal.addEventListener("abort", () => fail(signal.reason)))),
      [["whole", "cancelled", undefined]],
    ],
  ];
  for (const [at, [run, next, expected]] of cases.entries()) {
    const setting = before(next);
    await run(setting);
    await new Promise(setImmediate);
    assert.deepEqual(setting.calls().map(types), expected, `case ${at}`);
    setting.handler.free();
  }
});

test("a refusal is two calls, and a hook that throws holds up nothing", async () => {
  const { ask, calls, handler } = before((body) =>
    JSON.stringify(body.tools ?? []).includes("drilldown") ? Response.json({ type: "error", error: { message: "no" } }, { status: 400 }) : { text: "fine" },
  );
  const agent = new Agent("agent", ask);
  let done;
  for (let step = 0; step < 8 && !done?.status.startsWith("bypassed"); step += 1) done = await agent.step();
  assert.deepEqual(
    calls()
      .slice(-2)
      .map(({ attributes }) => [
        attributes["contextweaver.sent"],
        attributes["contextweaver.round"],
        attributes["error.type"],
        attributes["contextweaver.reason"],
      ]),
    [
      ["shortened", 1, "400", undefined],
      ["bypassed", 2, undefined, "refused"],
    ],
  );
  handler.free();
  const errors = [];
  const fails = () => {
    throw new Error("mine");
  };
  const { answer } = scriptedProvider(() => ({ text: "hi" }));
  const broken = proxy({
    budget_tokens: 4_000,
    token: false,
    fetch: answer,
    hooks: { model_call_completed: fails, context_built: fails },
    on_error: (error) => errors.push(error.message),
  });
  const response = await broken(new Request(`${BASE}/v1/messages`, { method: "POST", body: JSON.stringify(SHORT) }));
  assert.match(response.headers.get("x-contextweaver"), /^whole/);
  assert.match(await response.text(), /"hi"/);
  assert.deepEqual(errors, ["mine"]);
  broken.free();
});

test("metrics: seconds, tokens as the provider counts them, and those that were not sent", async () => {
  const recorded = [];
  const instrument = (name) => ({
    record: (value, attributes) => recorded.push([name, value, attributes]),
    add: (value, attributes) => recorded.push([name, value, attributes]),
  });
  const meter = { createHistogram: instrument, createCounter: instrument };
  const { hooks } = traced({ meter });
  const { ask, handler } = before(() => ({ text: "hi" }), { hooks });
  const agent = new Agent("agent", ask);
  for (let step = 0; step < 8; step += 1) await agent.step();
  const named = (name) => recorded.filter(([one]) => one === name);
  assert.equal(named("gen_ai.client.operation.duration").length, 8);
  assert.deepEqual(
    named("gen_ai.client.token.usage")
      .slice(0, 2)
      .map(([, , { "gen_ai.token.type": type, "gen_ai.provider.name": provider }]) => [type, provider]),
    [
      ["input", "anthropic"],
      ["output", "anthropic"],
    ],
  );
  assert.ok(named("contextweaver.saved_tokens").every(([, value]) => value > 0) && named("contextweaver.saved_tokens").length > 0);
  handler.free();
});
