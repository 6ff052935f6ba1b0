// The tools of the package itself, in every mode: a provider refuses a whole request for one of them, and clients drop what they do not
// understand.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { connected } from "./gateway-harness.mjs";
import { listening, webHandler } from "./gateway-servers.mjs";
import { packageDir, project } from "./harness.mjs";
import { toolComplaints } from "./tool-rules.mjs";

const folder = await project("own-tools", {
  "entry.mjs": 'export { gateway } from "contextweaver/mcp"; export { Catalog, DecisionStore, Router, drilldownTool, recallTool } from "contextweaver";',
});
const { Catalog, DecisionStore, Router, drilldownTool, gateway, recallTool } = await import(pathToFileURL(join(folder, "entry.mjs")));

/** Every provider that tools are written for. */
const PROVIDERS = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"];

test("the rules see what providers refuse", () => {
  const of = (schema) => toolComplaints({ name: "a", description: "d", schema: { type: "object", properties: { p: schema } } });
  assert.deepEqual(of({ type: "string" }), []);
  for (const wrong of [
    { type: "array" },
    {},
    true,
    { type: ["string", "null"] },
    { type: "string", enum: [""] },
    { type: "string", pattern: "(?!a)" },
    { type: "string", const: "a" },
    { type: "object", required: ["x"] },
  ]) {
    assert.equal(of(wrong).length, 1, JSON.stringify(wrong));
  }
});

/** The tools of a gateway that are its own. */
async function ownTools(t, options) {
  await writeFile(
    join(folder, "server.mjs"),
    `
import { createInterface } from "node:readline";
const tools = Array.from({ length: 45 }, (_, at) => ({ name: "theirs_" + at, description: "Does something for a test.", inputSchema: { type: "object" } }));
const lists = { "tools/list": { tools }, "resources/list": { resources: [{ uri: "a://b", name: "r" }] }, "resources/templates/list": { resourceTemplates: [] }, "prompts/list": { prompts: [{ name: "p" }] } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === "initialize" ? { protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: "s", version: "1" } } : lists[method];
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no such method" } }) }) + "\\n");
}).on("close", () => process.exit(0));
`,
  );
  const instance = gateway({
    mcpServers: { theirs: { command: process.execPath, args: [join(folder, "server.mjs")] } },
    sdk: { server, client, client_stdio },
    token: false,
    ...options,
  });
  t.after(() => instance.close());
  await instance.ready();
  const http = await listening(webHandler(instance.fetch));
  t.after(() => http.close());
  const connection = await connected(t, "SDK 1.x", { url: `${http.origin}/mcp` });
  const { tools } = await connection.client.listTools();
  return tools.filter(({ name }) => !name.includes("theirs_")).map(({ name, description, inputSchema: schema }) => ({ name, description, schema }));
}

test("every provider takes the package's own tools, in every mode", async (t) => {
  const { CALL_TOOL } = await import(pathToFileURL(join(packageDir, "dist", "adapters", "tool-front.js")));
  const { FIND_TOOLS } = await import(pathToFileURL(join(packageDir, "dist", "adapters", "agent-loop.js")));
  const described = ({ name, description, args_schema: schema }) => ({ name, description, schema });
  const sets = {
    loops: [described(drilldownTool()), described(recallTool()), FIND_TOOLS, CALL_TOOL],
    decisions: new DecisionStore().listTools().map(({ name, description, inputSchema: schema }) => ({ name, description, schema })),
    firewall: await ownTools(t, { mode: "firewall" }),
    search: await ownTools(t, { mode: "search" }),
    auto: await ownTools(t, {}),
  };
  for (const [where, tools] of Object.entries(sets)) {
    assert.ok(tools.length > 0, where);
    assert.deepEqual(tools.flatMap(toolComplaints), [], where);
    const items = tools.map(({ name, description, schema }) => ({ name, description, inputSchema: schema }));
    const router = new Router(Catalog.fromMcp({ tools: items }, { server: "own" }));
    const candidate_ids = items.map(({ name }) => `mcp:own/${name}`);
    // What is right for all is written for none otherwise, but for what a provider's dialect lacks.
    for (const provider of PROVIDERS.filter((name) => name !== "gemini")) {
      const { report } = router.providerTools({ candidate_ids }, provider);
      assert.deepEqual(report, [], `${where}, ${provider}`);
    }
  }
});
