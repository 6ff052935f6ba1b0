// Calls that become tasks behind the gateway: the extension of 2026-07-28 and the experimental form of 2025-11-25, across a restart with
// a store, for clients that know tasks and for those that do not.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { connected, textOf } from "./gateway-harness.mjs";
import { SECRET, user } from "./gateway-program.mjs";
import { listening, webHandler } from "./gateway-servers.mjs";
import { project, until } from "./harness.mjs";
import { writeFile } from "node:fs/promises";

const folder = await project("gateway-tasks", { "entry.mjs": 'export { gateway } from "contextweaver/mcp"; export { fileStore } from "contextweaver/node";' });
const { fileStore, gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));
const sdk = { server, client, client_stdio };
const TASKS = "io.modelcontextprotocol/tasks";
const VERSION = "2026-07-28";

/** Requests of revision 2026-07-28. */
function modern(handler, { caller = "t", capabilities = { elicitation: {}, extensions: { [TASKS]: {} } } } = {}) {
  let last = 0;
  return async (method, params) => {
    const name = params.name ?? params.uri ?? params.taskId;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientInfo": { name: "user", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${caller}`,
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(name && { "mcp-name": name }),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: (last += 1), method, params: { ...params, _meta } });
    const response = await handler.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }));
    const text = await response.text();
    return JSON.parse(
      text.startsWith("{")
        ? text
        : text
            .split("\n")
            .filter((line) => line.startsWith("data:"))
            .at(-1)
            .slice(5),
    );
  };
}

const authorize = (request) => ({ caller: request.headers.get("authorization") ?? "" });

test("a task outlives the gateway with a store, and is its caller's alone", async (t) => {
  const upstream = await listen(conformanceHandler({ era: "modern" }));
  t.after(upstream.close);
  const store = join(folder, "store");
  const start = () => gateway({ authorize, mcpServers: { up: { url: upstream.url } }, sdk, store: fileStore(store) });
  const [first, beside] = [start(), start()];
  await Promise.all([first.ready(), beside.ready()]);
  const begun = (await modern(first)("tools/call", { name: "slow_compute", arguments: { seconds: 1, label: "x".repeat(20_000) } })).result;
  assert.deepEqual([begun.resultType, begun.status], ["task", "working"]);
  assert.match(begun.taskId, /^task-[0-9a-f]{32}$/);
  const asked = (await modern(first)("tools/call", { name: "confirm_delete", arguments: { filename: "a.txt" } })).result;
  // Another gateway with the same store keeps its tasks beside those of the first one.
  const others = (await modern(beside)("tools/call", { name: "slow_compute", arguments: { seconds: 1, label: "y" } })).result;
  const more = (await modern(first)("tools/call", { name: "slow_compute", arguments: { seconds: 1, label: "z" } })).result;
  await Promise.all([first.close(), beside.close()]);

  const again = start();
  t.after(() => again.close());
  await again.ready();
  const request = modern(again);
  const get = async (taskId) => (await request("tasks/get", { taskId })).result;
  const done = await until("the task has ended", async () => {
    const task = await get(begun.taskId);
    return task.status === "completed" && task;
  });
  // The result is one of a call: digested, with a handle that reads on, the same each time.
  assert.match(textOf(done.result), /tokens; drilldown artifact:result:/);
  assert.deepEqual(await get(begun.taskId), done);
  assert.equal(again.stats().totals.calls, 1);
  for (const { taskId } of [others, more]) assert.equal((await get(taskId))?.taskId, taskId);
  assert.deepEqual((await modern(again, { caller: "eve" })("tasks/get", { taskId: begun.taskId })).error.code, -32602);
  assert.equal((await modern(again, { capabilities: {} })("tasks/get", { taskId: begun.taskId })).error.code, -32021);
  // Questions of the task, and their answers.
  const waiting = await until("the task asks", async () => {
    const task = await get(asked.taskId);
    return task.status === "input_required" && task;
  });
  const answers = Object.fromEntries(Object.keys(waiting.inputRequests).map((key) => [key, { action: "accept", content: { confirm: true } }]));
  const { _meta, ...updated } = (await request("tasks/update", { taskId: asked.taskId, inputResponses: answers })).result;
  assert.deepEqual(updated, { resultType: "complete" });
  const deleted = await until("the task has ended", async () => {
    const task = await get(asked.taskId);
    return task.status === "completed" && task;
  });
  assert.equal(textOf(deleted.result), "a.txt deleted");
  await again.close();
  // What has ended is known after another restart.
  const last = start();
  t.after(() => last.close());
  assert.deepEqual((await modern(last)("tasks/get", { taskId: begun.taskId })).result, done);
});

/** A server of 2025-11-25 whose tools run as tasks. */
async function legacyServer() {
  const path = join(folder, "legacy.mjs");
  await writeFile(
    path,
    `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const tool = (name, taskSupport) => ({ name, inputSchema: { type: "object" }, execution: { taskSupport } });
const tasks = new Map();
const wire = ({ id, status }) => ({ taskId: id, status, statusMessage: "with the key ${SECRET}", createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: 60000, pollInterval: 20 });
const states = () => JSON.stringify([...tasks.values()].map(({ status }) => status));
const held = [];
const result = (name, given, how) => ({ content: [{ type: "text", text: name + " " + how + " " + "row ".repeat(given.rows ?? 0) }] });
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  const task = tasks.get(params.taskId);
  const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  if (method === "initialize") send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "x", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: [tool("must", "required"), tool("may", "optional"), tool("never", "forbidden")] } });
  else if (method === "tools/call" && params.name !== "never" && params.task) {
    const made = { id: "t" + (tasks.size + 1), status: "working", name: params.name, given: params.arguments };
    tasks.set(made.id, made);
    const end = () => {
      if (made.status !== "working") return;
      made.status = made.given.fails ? "failed" : "completed";
      send({ method: "notifications/tasks/status", params: wire(made) });
    };
    if (!made.given.hangs) setTimeout(end, 100);
    send({ id, result: { task: wire(made) } });
  } else if (method === "tools/call" && params.name === "must") send({ id, error: { code: -32601, message: "must be a task" } });
  else if (method === "tools/call") {
    if (params.arguments.release) for (const answer of held.splice(0)) answer();
    send({ id, result: result(params.name, params.arguments, "plainly " + states()) });
  } else if (method === "tasks/get" && task?.given.held) held.push(() => send({ id, result: wire(task) }));
  else if (method === "tasks/get" && task) send({ id, result: wire(task) });
  else if (method === "tasks/result" && task) send(task.status === "failed" ? { id, error: { code: -32000, message: "it broke" } } : { id, result: result(task.name, task.given, "as a task") });
  else if (method === "tasks/cancel" && task) { task.status = "cancelled"; send({ id, result: wire(task) }); }
  else if (id !== undefined) send({ id, error: { code: -32602, message: "no such thing" } });
}).on("close", () => process.exit(0));
`,
  );
  return { command: process.execPath, args: [path] };
}

test("tasks of 2025-11-25: created, listed, read and cancelled by clients that ask for them", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { old: await legacyServer() }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { request } = await user(handler, "t", {}, "user", "2025-11-25");
  const begin = async (name, given = {}) => {
    const { result, error } = await request("tools/call", { name, arguments: given, task: { ttl: 60_000 } });
    assert.ok(result?.task, JSON.stringify(error ?? result));
    return result.task;
  };
  const task = await begin("may", { rows: 20_000 });
  assert.deepEqual([task.status, task.ttl, task.pollInterval], ["working", 60_000, 20]);
  const { result } = await request("tasks/result", { taskId: task.taskId });
  assert.match(textOf(result), /^may as a task row/);
  assert.match(textOf(result), /tokens; drilldown artifact:result:/);
  assert.deepEqual(result._meta["io.modelcontextprotocol/related-task"], { taskId: task.taskId });
  assert.equal((await request("tasks/get", { taskId: task.taskId })).result.status, "completed");
  const hangs = await begin("must", { hangs: true });
  assert.equal((await request("tasks/cancel", { taskId: hangs.taskId })).result.status, "cancelled");
  assert.equal((await request("tasks/cancel", { taskId: hangs.taskId })).error.code, -32602);
  const fails = await begin("may", { fails: true });
  assert.match((await request("tasks/result", { taskId: fails.taskId })).error.message, /it broke/);
  const { tasks } = (await request("tasks/list", {})).result;
  assert.deepEqual(
    tasks.map(({ taskId, status }) => [taskId, status]),
    [
      [task.taskId, "completed"],
      [hangs.taskId, "cancelled"],
      [fails.taskId, "failed"],
    ],
  );
  assert.equal((await request("tasks/get", { taskId: "t1" })).error.code, -32602);
  // A client that listens hears how its task stands.
  const [near, far] = client.InMemoryTransport.createLinkedPair();
  const told = [];
  near.onmessage = (message) => void told.push(message);
  const served = await handler.serve(far, await import("@modelcontextprotocol/server/stdio"));
  const clientInfo = { name: "user", version: "1" };
  await near.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  await until("the session has begun", () => told.some(({ id }) => id === 1));
  await near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await near.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "may", arguments: {}, task: {} } });
  const { params } = await until("the task has ended", () => told.find(({ method }) => method === "notifications/tasks/status"));
  assert.deepEqual([params.status, params.statusMessage], ["completed", "with the key [REDACTED-SECRET]"]);
  await served.close();
  // What the server does not run as a task is a call.
  assert.match(textOf((await request("tools/call", { name: "never", arguments: {}, task: {} })).result), /plainly/);
  assert.equal(handler.stats().open_calls, 0);
});

/** Clients of SDKs of a gateway, which are its callers by their token. */
async function clientsOf(t, handler) {
  const http = await listening(webHandler(handler.fetch));
  t.after(http.close);
  return (kind, how) => connected(t, kind, { url: `${http.origin}/mcp`, headers: { authorization: "Bearer t" }, ...how });
}

test("a call is given up at the task that it became, over the connection of its client, and by nobody else", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { old: { ...(await legacyServer()), connection: "session" } }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const connect = await clientsOf(t, handler);
  const ann = await connect("SDK 1.x");
  const stop = new AbortController();
  const waits = assert.rejects(ann.call("must", { hangs: true }, { signal: stop.signal }));
  await until("it is a task", async () => /working/.test(textOf(await ann.call("never"))));
  stop.abort();
  await waits;
  await until("the task is cancelled", async () => /\["cancelled"\]/.test(textOf(await ann.call("never"))));
  assert.equal(handler.stats().open_calls, 0);
});

test("who asks for a task together with another is answered, whether or not the other waits", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { old: await legacyServer() }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { request } = await user(handler, "t", {}, "user", "2025-11-25");
  const { task } = (await request("tools/call", { name: "may", arguments: { held: true, hangs: true }, task: {} })).result;
  const connect = await clientsOf(t, handler);
  const [ann, bob] = [await connect("SDK 1.x"), await connect("SDK 1.x")];
  const get = (one, options) => one.client.request({ method: "tasks/get", params: { taskId: task.taskId } }, ResultSchema, options);
  const stop = new AbortController();
  const given = assert.rejects(get(ann, { signal: stop.signal }));
  await until("the server is asked", async () => (await handler.servers())[0].in_flight === 1);
  const answered = get(bob);
  await bob.names();
  stop.abort();
  await given;
  await ann.names();
  await bob.call("never", { release: true });
  assert.equal((await answered).status, "working");
});

test("for clients that know no tasks, or another form, the gateway waits", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { old: await legacyServer() }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { call } = await user(handler);
  assert.match(textOf((await call("must")).result), /must as a task/);
  assert.match(textOf((await call("may")).result), /may plainly/);
  assert.match((await call("must", { fails: true })).error.message, /it broke/);
  for (const capabilities of [{}, { extensions: { [TASKS]: {} } }]) {
    const { result } = await modern(handler, { capabilities })("tools/call", { name: "must", arguments: {} });
    assert.match(textOf(result), /must as a task/);
  }
  const upstream = await listen(conformanceHandler({ era: "modern" }));
  t.after(upstream.close);
  const newer = gateway({ token: "t", mcpServers: { up: { url: upstream.url } }, sdk });
  t.after(() => newer.close());
  await newer.ready();
  assert.equal(textOf((await (await user(newer)).call("slow_compute", { seconds: 0.3, label: "new" })).result), "new: done");
  assert.equal((await (await user(newer)).call("failing_job")).result.isError, true);
  // What the task asks, the client answers, if it can.
  const connect = await clientsOf(t, newer);
  const confirm = () => ({ action: "accept", content: { confirm: true } });
  const given = [
    { kind: "SDK 1.x", how: { answers: { "elicitation/create": confirm } } },
    { kind: "SDK 2.x, legacy", how: { answers: { "elicitation/create": confirm } } },
  ];
  for (const { kind, how } of given) {
    const made = await connect(kind, how);
    assert.equal(textOf(await made.call("confirm_delete", { filename: "a.txt" })), "a.txt deleted");
    assert.equal(made.asked.length, 1, kind);
  }
  const { error } = await (await user(newer)).call("confirm_delete", { filename: "a.txt" });
  assert.match(error.message, /has to ask for elicitation, which the client does not support; its task was cancelled/);
  assert.equal(newer.stats().open_calls, 0);
});
