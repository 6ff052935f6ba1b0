// What waits can be given up: it rejects with the reason of the signal, has changed nothing, and leaves no listener.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project } from "./harness.mjs";

const lines = [
  'export * from "contextweaver";',
  'export { memoryStore } from "contextweaver/storage";',
  'export { firewalled } from "contextweaver/mcp";',
  'export { contextWeaver } from "contextweaver/ai-sdk";',
];
const folder = await project("abort", { "entry.mjs": lines.join("\n") });
const { ContextManager, DecisionStore, contextWeaver, firewalled, memoryStore, openDecisions, openRecords, openSession } = await import(
  pathToFileURL(join(folder, "entry.mjs"))
);

const REASON = new Error("the user has gone");
/** A promise that somebody else keeps. */
const held = () =>
  Promise.withResolvers?.() ??
  (() => {
    let resolve;
    const promise = new Promise((done) => (resolve = done));
    return { promise, resolve };
  })();
const next = () => new Promise((done) => setImmediate(done));

/** Rejects at once with the reason where the signal was aborted before, and while it waits; then nobody listens any more. */
async function givesUp(call) {
  await assert.rejects(call(AbortSignal.abort(REASON)), (error) => error === REASON);
  const controller = new AbortController();
  const waiting = call(controller.signal);
  const told = assert.rejects(waiting, (error) => error === REASON);
  await next();
  assert.equal(getEventListeners(controller.signal, "abort").length, 1);
  controller.abort(REASON);
  await told;
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
}

/** A storage whose reads or writes wait until they may go on. */
function waiting(storage, methods) {
  const gate = held();
  const calls = [];
  const slow = Object.fromEntries(methods.map((name) => [name, async (...args) => (calls.push(name), await gate.promise, storage[name](...args))]));
  return {
    storage: Object.assign(
      Object.create(storage),
      Object.fromEntries(["append", "load", "putBlob", "getBlob", "compact", "delete", "record"].map((name) => [name, (...args) => storage[name](...args)])),
      slow,
    ),
    open: () => gate.resolve(),
    calls,
  };
}

test("a session, records and decisions are not opened", async () => {
  const { storage, open } = waiting(memoryStore().session("s"), ["load"]);
  await givesUp((signal) => openSession(storage, { signal }));
  open();
  const session = await openSession(storage);
  session.free();
});

test("a save that waits for its turn stores nothing; one that has begun is not given up", async () => {
  const place = memoryStore().session("s");
  const { storage, open, calls } = waiting(place, ["append"]);
  const session = await openSession(storage);
  session.manager.ingest({ id: "u1", kind: "user_turn", text: "one" });
  const controller = new AbortController();
  const first = session.save({ signal: controller.signal });
  await next();
  session.manager.ingest({ id: "u2", kind: "user_turn", text: "two" });
  await givesUp((signal) => session.save({ signal }));
  controller.abort(REASON);
  open();
  assert.equal((await first).sequence, 1);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
  assert.deepEqual(calls, ["append"]);
  assert.equal((await place.load()).parts.length, 1);
  assert.equal((await session.save()).sequence, 2);
  assert.equal((await place.load()).parts.length, 2);
  session.free();
  for (const opened of [await openRecords(memoryStore().session("r")), await openDecisions(memoryStore().session("d"))]) {
    await assert.rejects(opened.save({ signal: AbortSignal.abort(REASON) }), (error) => error === REASON);
    await assert.rejects(opened.compact({ signal: AbortSignal.abort(REASON) }), (error) => error === REASON);
  }
});

test("reading what is not in memory, and vectors, are given up", async () => {
  const gate = held();
  const bytes = new Map();
  const first = new ContextManager();
  first.ingest({ id: "c1", kind: "tool_call", text: "export()" });
  first.ingestToolResult({ tool_call_id: "c1", tool_name: "export", raw_output: Array.from({ length: 9_000 }, (_, n) => `row ${n} zebra`).join("\n") });
  const { changes, blobs } = first.exportSince(undefined, { inline_bytes: 0 });
  for (const { hash, bytes: stored } of blobs) bytes.set(hash, stored);
  const manager = ContextManager.restore(changes, {
    get_blob: async (hash) => (await gate.promise, bytes.get(hash)),
    embed: async (texts) => (await gate.promise, texts.map(() => [1, 0])),
  });
  const [{ handle }] = manager.artifacts.list();
  await givesUp((signal) => manager.drilldownAsync(handle, { type: "lines", start: 4, end: 6 }, { signal }));
  await givesUp((signal) => manager.recallAsync("giraffe zebra", { signal }));
  await givesUp((signal) => manager.embedMissing("zebra", { signal }));
  gate.resolve();
  assert.match((await manager.drilldownAsync(handle, { type: "lines", start: 4, end: 6 }, { signal: new AbortController().signal })).text, /^row 4 zebra/);
  first.free();
  manager.free();
});

test("tools that are added, loops and decisions take the signal of their call", async () => {
  const manager = new ContextManager();
  const client = firewalled({ callTool: async () => ({ content: [] }), listTools: async () => ({ tools: [] }) }, manager);
  const call = { name: "recall", arguments: { query: "zebra" } };
  for (const more of [[undefined, { signal: AbortSignal.abort(REASON) }], [{ signal: AbortSignal.abort(REASON) }]])
    await assert.rejects(client.callTool(call, ...more), (error) => error === REASON);
  assert.equal((await client.callTool(call, undefined, { signal: new AbortController().signal })).isError, undefined);
  const cw = contextWeaver({ tools: {}, budget_tokens: 9_000, manager });
  await assert.rejects(cw.tools.recall.execute({ query: "zebra" }, { abortSignal: AbortSignal.abort(REASON) }), (error) => error === REASON);
  const model = { specificationVersion: "v3", modelId: "m", doGenerate: () => assert.fail("asked") };
  const middleware = contextWeaver({ budget_tokens: 9_000 });
  const params = { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }], abortSignal: AbortSignal.abort(REASON) };
  await assert.rejects(middleware.wrapGenerate({ params, model, doGenerate: model.doGenerate }), (error) => error === REASON);
  assert.equal(middleware.manager.stats().items, 0);
  const store = new DecisionStore();
  await assert.rejects(store.callTool("log_decision", { decision: "x" }, { signal: AbortSignal.abort(REASON) }), (error) => error === REASON);
  assert.equal(store.export().decisions?.length ?? 0, 0);
  for (const one of [cw, middleware, manager]) one.free();
});
