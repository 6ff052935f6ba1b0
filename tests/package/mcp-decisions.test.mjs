// Clients of the official SDKs of MCP use a decision store that is served over their transports, in every revision.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { TOUR, memory } from "./decisions.mjs";
import { has, here, manifest, project } from "./harness.mjs";
import { sdks } from "./mcp-sdk-peers.mjs";

const folder = await project("mcp-decisions");
const entry = (name) => pathToFileURL(join(folder, "node_modules", "contextweaver", manifest.exports[name].default)).href;
const cw = await import(entry("."));
const { connectDecisions, decisionsHandler } = await import(entry("./mcp"));
const plain = (value) => JSON.parse(JSON.stringify(value));

for (const { name, sdk, missing } of await sdks()) {
  test(name, async (t) => {
    if (!has(t, sdk, { missing })) return;
    // The oldest that an SDK names was never published.
    const revisions = sdk.revisions.filter((revision) => revision >= "2024-11-05");
    for (const revision of revisions) await t.test(`revision ${revision}`, () => served(sdk, revision));
  });
}

async function served(sdk, revision) {
  const store = memory(cw);
  let connection;
  const peer = await sdk.connectTo(revision, async (far) => (connection = await connectDecisions(store, far, { agent_id: "a1" })));
  assert.equal(peer.negotiated, revision);
  assert.match(peer.instructions, /pre_action/);
  assert.equal(peer.server.name, "cstp-decisions");
  // From here on the client holds every result against the output schema of its tool.
  const { tools } = await peer.listTools();
  assert.deepEqual(plain(tools), plain(store.listTools()));
  for (const [tool, args] of TOUR) {
    const result = await peer.callTool({ name: tool, arguments: args });
    assert.ok(!result.isError, `${tool}: ${result.content[0].text}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, tool);
    assert.deepEqual(plain(sdk.parse("CallToolResult", plain(result))), plain(result), tool);
    // The context of what was done so reaches contextweaver's own converters.
    assert.equal(cw.mcpResultToEnvelope(result, tool).envelope.status, "ok");
  }
  assert.equal(store.export().decisions.every(({ recorded_by: by }) => by === "a1"), true);
  for (const { name: tool, inputSchema } of tools) {
    if (!inputSchema.required) continue;
    const result = await peer.callTool({ name: tool, arguments: {} });
    assert.equal(result.isError, true, tool);
    assert.match(JSON.parse(result.content[0].text).message, /: required/);
  }
  await assert.rejects(peer.callTool({ name: "frobnicate", arguments: {} }), { code: -32602 });
  await peer.close();
  await connection.closed;
  assert.equal(store.size, 2);
  store.free();
}

test("over standard input and output, with either SDK", async (t) => {
  const at = join(here, "node_modules", "@modelcontextprotocol");
  const scope = join(folder, "node_modules", "@modelcontextprotocol");
  const server = join(folder, "server.mjs");
  await writeFile(server, `
import { DecisionStore } from "contextweaver";
import { serveDecisionsStdio } from "contextweaver/mcp";
const { closed } = await serveDecisionsStdio(new DecisionStore());
await closed;
`);
  await t.test("without an SDK it says so", async () => {
    const { code, error } = await lines(server, []);
    assert.equal(code, 1);
    assert.match(error, /UNSUPPORTED|no SDK of MCP/);
  });
  if (!has(t, true, {})) return;
  await symlink(at, scope);
  await t.test("with one", async () => {
    const { out } = await lines(server, [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "ready", arguments: {} } },
    ]);
    assert.deepEqual(out.map(({ id }) => id), [1, 2]);
    assert.deepEqual(out[1].result.structuredContent, { actions: [], total: 0, filtered: 0 });
  });
});

/** Sends messages to a program and returns what it answered, line by line. */
async function lines(file, messages) {
  const child = spawn(process.execPath, [file], { cwd: folder });
  let [text, error] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
  child.stderr.setEncoding("utf8").on("data", (part) => (error += part));
  const exit = once(child, "exit");
  const wanted = messages.filter(({ id }) => id !== undefined).length;
  for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
  if (wanted > 0) {
    while (text.split("\n").length <= wanted && child.exitCode === null) await Promise.race([once(child.stdout, "data"), exit]);
    child.kill();
  }
  const [code] = await exit;
  return { code, error, out: text.split("\n").filter(Boolean).map((line) => JSON.parse(line)) };
}

test("over HTTP", async () => {
  const store = memory(cw);
  const handler = decisionsHandler(store, { token: "s3cret", origins: ["https://friend.example"] });
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ready", arguments: {} } };
  const ask = (more = {}, message = body) => handler(new Request("http://localhost/mcp", {
    method: "POST",
    body: typeof message === "string" ? message : JSON.stringify(message),
    ...more,
    headers: { "content-type": "application/json", authorization: "Bearer s3cret", ...more.headers },
  }));
  const status = async (...args) => (await ask(...args)).status;
  assert.deepEqual((await (await ask()).json()).result.structuredContent, { actions: [], total: 0, filtered: 0 });
  assert.equal(await status({ headers: { authorization: "bearer  s3cret " } }), 200);
  for (const authorization of ["", "Bearer", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret"]) assert.equal(await status({ headers: { authorization } }), 401, authorization);
  assert.equal((await handler(new Request("http://localhost/mcp"))).status, 405);
  assert.equal(await status({ headers: { origin: "https://evil.example" } }), 403);
  for (const origin of ["https://friend.example", "http://localhost"]) assert.equal(await status({ headers: { origin } }), 200);
  assert.equal(await status({ headers: { "content-type": "text/plain" } }), 415);
  assert.equal(await status({}, "{"), 400);
  assert.equal(await status({}, { jsonrpc: "2.0", method: "notifications/initialized" }), 202);
  assert.equal(await status({ headers: { "mcp-protocol-version": "2025-06-18" } }), 200);
  assert.equal(await status({ headers: { "mcp-protocol-version": "1999-01-01" } }), 400);
  const modern = { ...body, params: { ...body.params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } } };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "ready" };
  assert.equal(await status({ headers }, modern), 200);
  for (const wrong of [{ "mcp-name": "get_stats" }, { "mcp-method": "tools/list" }, { "mcp-protocol-version": "2025-11-25" }]) {
    const answer = await ask({ headers: { ...headers, ...wrong } }, modern);
    assert.deepEqual([answer.status, (await answer.json()).error.code], [400, -32020]);
  }
  assert.throws(() => decisionsHandler(store, { token: "" }), { code: "INVALID_INPUT" });
  assert.equal((await decisionsHandler(store, { max_chars: 10 })(new Request("http://localhost/", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }))).status, 413);
  store.free();
});
