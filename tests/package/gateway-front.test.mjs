// What a client sees in each mode of the gateway, and what that costs, over the tools of real servers.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as server from "@modelcontextprotocol/server";
import { connected, textOf } from "./gateway-harness.mjs";
import { featureServer } from "./gateway-features.mjs";
import { listening, streamableServer, webHandler } from "./gateway-servers.mjs";
import { project, root, until } from "./harness.mjs";

const folder = await project("gateway-front", { "entry.mjs": 'export { gateway } from "contextweaver/mcp"; export { countTokens } from "contextweaver";' });
const { countTokens, gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));

/** How many tools are behind the gateway: those of the design's measurement. */
const TOOLS = 527;
const PUBLIC = join(root, "..", "shared", "vectors-public", "mcp", "real-catalogs");

/** Tools of servers, by the name of the server; repeated under other names until there are enough. */
async function catalogs() {
  const folders = [join(root, "examples", "catalogs"), PUBLIC].filter((one) => existsSync(one));
  const found = [];
  for (const at of folders.reverse()) {
    for (const file of (await readdir(at)).sort()) {
      if (!file.endsWith(".json") || file.startsWith("_") || file === "index.json") continue;
      const catalog = JSON.parse(await readFile(join(at, file), "utf8"));
      const tools = (catalog.tools ?? catalog.result?.tools ?? catalog).filter(({ name, inputSchema }) => name && inputSchema);
      if (tools.length > 0) found.push([file.replace(".json", ""), tools]);
    }
  }
  const all = {};
  let left = TOOLS;
  for (let round = 0; left > 0; round += 1) {
    for (const [name, tools] of found) {
      if (left === 0) break;
      const taken = tools.slice(0, left);
      left -= taken.length;
      all[round === 0 && !(name in all) ? name : `${name}-${round + 1}`] ??= taken;
    }
  }
  return all;
}

async function served(t, options) {
  const handler = gateway({ sdk: { server, client }, token: false, ...options });
  await handler.ready();
  const http = await listening(webHandler(handler.fetch));
  t.after(async () => {
    await handler.close();
    await http.close();
  });
  return { handler, url: `${http.origin}/mcp` };
}

const QUERIES = [
  "create an issue",
  "read a file",
  "take a screenshot of the page",
  "list feature flags",
  "what time is it in Tokyo",
  "add a comment to a page",
  "delete a branch",
  "internet traffic of a country",
  "run a query",
];

test(`the front of ${TOOLS} tools costs hundreds of tokens, and so does a search`, async (t) => {
  const servers = {};
  let count = 0;
  // Tools for views alone, which a client without views does not see.
  let forViews = 0;
  for (const [name, tools] of Object.entries(await catalogs())) {
    const upstream = await streamableServer({ tools: () => tools });
    t.after(upstream.close);
    servers[name] = { url: upstream.url };
    count += tools.length;
    forViews += tools.filter(({ _meta }) => _meta?.ui?.visibility?.every((who) => who === "app")).length;
  }
  assert.equal(count, TOOLS);
  const costs = {};
  for (const mode of ["firewall", "search"]) {
    const { handler, url } = await served(t, { mcpServers: servers, mode, lint: "report" });
    const user = await connected(t, "SDK 2.x, legacy", { url });
    const listed = await user.client.listTools();
    costs[mode] = countTokens(JSON.stringify(listed));
    if (mode === "firewall") assert.equal(listed.tools.length, TOOLS - forViews + 2);
    if (mode === "search") {
      assert.deepEqual(
        listed.tools.map(({ name }) => name),
        ["search_tools", "call_tool", "drilldown", "recall"],
      );
      const answers = [];
      for (const query of QUERIES) {
        const answer = textOf(await user.call("search_tools", { query }));
        assert.match(answer, /^1\. /, query);
        answers.push(countTokens(answer));
      }
      // Tools for it are there, in other words: what shares one with the query is named and not offered.
      const none = textOf(await user.call("search_tools", { query: "remember a fact" }));
      assert.match(none, /^No tool fits "remember a fact": .* \(527 tools searched\)\. Nearest: /);
      answers.push(countTokens(none));
      costs.search_answers = answers;
      assert.ok(Math.max(...answers) <= 400, answers.join(" "));
      assert.equal(handler.stats().searches, QUERIES.length + 1);
    }
  }
  t.diagnostic(`tokens of tools/list: ${JSON.stringify(costs)}`);
  assert.ok(costs.search <= 700, `${costs.search} tokens in search mode`);
  assert.ok(costs.firewall > 50 * costs.search);
});

test("search mode lists the tools that a client used, and tells that client alone", async (t) => {
  const shop = await featureServer("legacy");
  t.after(shop.close);
  const { url } = await served(t, { mcpServers: { shop: { url: shop.url } }, mode: "search", recent_tools: 2 });
  for (const kind of ["SDK 1.x", "SDK 2.x, auto"]) {
    const user = await connected(t, kind, { url });
    const other = await connected(t, "SDK 1.x", { url });
    if (user.isModern) await user.subscribe([]);
    const recent = async (one) => (await one.names()).slice(4);
    for (const [name, listed] of [
      ["echo", ["echo"]],
      ["fail", ["echo", "fail"]],
      ["log", ["fail", "log"]],
    ]) {
      user.told.length = 0;
      await user.call("call_tool", { name, arguments: name === "echo" ? { say: "x" } : {} });
      await until(`${kind} is told of ${name}`, () => user.told.some(({ method }) => method === "notifications/tools/list_changed"));
      assert.deepEqual(await recent(user), listed);
    }
    assert.equal(textOf(await user.call("log")), "logged");
    assert.deepEqual([await recent(other), other.told.filter(({ method }) => /list_changed/.test(method))], [[], []]);
  }
});

test("a server that hangs is waited for once, and what the others say of themselves is in the first answer", async (t) => {
  const shop = await featureServer("legacy");
  t.after(shop.close);
  const silent = await listening(() => {});
  t.after(silent.close);
  // No other timer has this length, so that the waits for servers can be counted.
  const START_MS = 1_517;
  const timers = t.mock.method(globalThis, "setTimeout");
  const waits = () => timers.mock.calls.filter(({ arguments: [, milliseconds] }) => milliseconds === START_MS).length;
  const handler = gateway({
    sdk: { server, client },
    token: false,
    start_timeout_ms: START_MS,
    mcpServers: { silent: { url: `${silent.origin}/mcp` }, shop: { url: shop.url } },
  });
  const http = await listening(webHandler(handler.fetch));
  t.after(async () => {
    await handler.close();
    await http.close();
  });
  for (const kind of ["SDK 1.x", "SDK 2.x, auto"]) {
    const user = await connected(t, kind, { url: `${http.origin}/mcp` });
    assert.match(user.client.getInstructions(), /Ask the shop\./);
    for (let at = 0; at < 10; at += 1) assert.equal(textOf(await user.call("echo", { say: "x" })), "x");
    assert.equal(waits(), 1);
  }
});
