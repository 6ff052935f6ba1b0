// Clients of the official SDKs of MCP use a decision store that is served over their transports, in every revision.
import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { TOUR, memory } from "./decisions.mjs";
import { has, here, manifest, project, run } from "./harness.mjs";
import { sdks } from "./mcp-sdk-peers.mjs";

const folder = await project("mcp-decisions");
const entry = (name) => pathToFileURL(join(folder, "node_modules", "contextweaver", manifest.exports[name].default)).href;
const cw = await import(entry("."));
const { connectDecisions, decisionsHandler } = await import(entry("./mcp"));
const plain = (value) => JSON.parse(JSON.stringify(value));

const installed = await sdks();
for (const { name, sdk, missing } of installed) {
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
  await drive(sdk, peer, store.listTools());
  assert.equal(store.export().decisions.every(({ recorded_by: by }) => by === "a1"), true);
  await peer.close();
  await connection.closed;
  assert.equal(store.size, 2);
  store.free();
}

/** Uses every tool as a client does, rightly and wrongly. */
async function drive(sdk, peer, wanted) {
  // From here on the client holds every result against the output schema of its tool.
  const { tools } = await peer.listTools();
  assert.deepEqual(plain(tools), plain(wanted));
  for (const [tool, args] of TOUR) {
    const result = await peer.callTool({ name: tool, arguments: args });
    assert.ok(!result.isError, `${tool}: ${result.content[0].text}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, tool);
    assert.deepEqual(plain(sdk.parse("CallToolResult", plain(result))), plain(result), tool);
    // The context of what was done so reaches contextweaver's own converters.
    assert.equal(cw.mcpResultToEnvelope(result, tool).envelope.status, "ok");
  }
  for (const { name: tool, inputSchema } of tools) {
    if (!inputSchema.required) continue;
    const result = await peer.callTool({ name: tool, arguments: {} });
    assert.equal(result.isError, true, tool);
    assert.match(JSON.parse(result.content[0].text).message, /: required/);
  }
  await assert.rejects(peer.callTool({ name: "frobnicate", arguments: {} }), { code: -32602 });
}

test("over standard input and output, with either SDK", async (t) => {
  const at = join(here, "node_modules", "@modelcontextprotocol");
  const scope = join(folder, "node_modules", "@modelcontextprotocol");
  const server = join(folder, "server.mjs");
  await writeFile(server, `
import * as cw from "contextweaver";
import { serveDecisionsStdio } from "contextweaver/mcp";
import { memory } from "./decisions.mjs";
const { closed } = await serveDecisionsStdio(memory(cw), { agent_id: "a1" });
await closed;
`);
  await t.test("without an SDK it says so", async () => {
    await assert.rejects(run("node", [server], { cwd: folder }), /UNSUPPORTED|no SDK of MCP/);
  });
  // Server and client of both major versions, in every pair.
  const wanted = memory(cw).listTools();
  for (const { name, sdk, missing } of installed) {
    if (!has(t, sdk, { missing })) continue;
    for (const serving of ["sdk", "server"]) {
      await rm(scope, { recursive: true, force: true });
      await mkdir(scope);
      await symlink(join(at, serving), join(scope, serving));
      await t.test(`${name}, served by @modelcontextprotocol/${serving}`, async () => {
        const peer = await sdk.start({ command: process.execPath, args: [server], cwd: folder });
        assert.match(peer.instructions, /pre_action/);
        await drive(sdk, peer, wanted);
        await peer.close();
      });
    }
  }
});

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
  assert.equal(await status({ headers: { origin: "https://friend.example" } }), 200);
  // A page can have the server's address under its own name, and then is of the same origin.
  assert.equal(await status({ headers: { origin: "http://localhost" } }), 403);
  assert.equal(await status({ headers: { "content-length": String(17 * 1024 * 1024) } }), 413);
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
