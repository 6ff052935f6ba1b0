// Views of servers (MCP Apps) behind the gateway: published servers that have some, and the official bridge of hosts between the gateway
// and a view.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { textOf } from "./gateway-harness.mjs";
import { program, user } from "./gateway-program.mjs";
import { has, project, runtimes } from "./harness.mjs";

const folder = await project("gateway-apps", { "entry.mjs": 'export { gateway } from "contextweaver/mcp";' });
const { gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));
const sdk = { server, client, client_stdio };
const UI = "io.modelcontextprotocol/ui";
const VIEWS = { extensions: { [UI]: { mimeTypes: ["text/html;profile=mcp-app"] } } };

const installed = runtimes && join(runtimes, "node_modules/@modelcontextprotocol");
const PUBLISHED = ["server-cohort-heatmap", "server-system-monitor"];
const isThere = installed && ["ext-apps", ...PUBLISHED].every((name) => existsSync(join(installed, name)));
const missing = "the optional runtimes are not installed, which have servers with views";
const withViews = (name) => ({ command: process.execPath, args: [join(installed, name, "dist/index.js"), "--stdio"] });

/** A host that shows views: a client of the official SDK, in either era. */
async function host(t, handler, mode, capabilities = VIEWS) {
  const one = new client.Client({ name: "host", version: "1" }, { capabilities, versionNegotiation: { mode } });
  await one.connect(
    new client.StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), {
      fetch: (input, init) => handler(new Request(input, init)),
      requestInit: { headers: { authorization: "Bearer t" } },
    }),
  );
  t.after(() => one.close());
  return one;
}

/** Two ends of a wire. */
function wire() {
  const end = (other) => ({
    start: async () => {},
    send: async (message) => void queueMicrotask(() => other().onmessage?.(structuredClone(message))),
    close: async () => {},
  });
  const ends = [];
  ends.push(
    end(() => ends[1]),
    end(() => ends[0]),
  );
  return ends;
}

/** A view with the official bridge of its host. */
async function view(t, one) {
  const { AppBridge } = await import(pathToFileURL(join(installed, "ext-apps/dist/src/app-bridge.js")));
  const { App } = await import(pathToFileURL(join(installed, "ext-apps/dist/src/app.js")));
  const [inside, outside] = wire();
  const bridge = new AppBridge(one, { name: "host", version: "1" }, { serverTools: {}, serverResources: {} });
  const app = new App({ name: "view", version: "1" }, {}, { autoResize: false });
  const heard = new Promise((done) => (app.ontoolresult = done));
  const ready = new Promise((done) => (bridge.oninitialized = done));
  await bridge.connect(outside);
  await app.connect(inside);
  await ready;
  t.after(() => Promise.all([bridge.close(), app.close()]));
  return { app, bridge, heard };
}

const MODES = ["firewall", "search"];

for (const mode of MODES) {
  for (const era of ["legacy", { pin: "2026-07-28" }]) {
    test(`published servers show their views through the gateway: ${mode}, ${JSON.stringify(era)}`, async (t) => {
      if (!has(t, isThere, { missing, optional: true })) return;
      const mcpServers = Object.fromEntries(PUBLISHED.map((name) => [name, withViews(name)]));
      const handler = gateway({ token: "t", mcpServers, mode, sdk });
      t.after(() => handler.close());
      await handler.ready();
      const one = await host(t, handler, era);
      assert.deepEqual(one.getServerCapabilities().extensions?.[UI], {});
      const { tools } = await one.listTools();
      const heatmap = tools.find(({ name }) => name === "get-cohort-data");
      const poll = tools.find(({ name }) => name === "poll-system-stats");
      assert.deepEqual([heatmap._meta.ui.resourceUri, poll._meta.ui.visibility], ["ui://get-cohort-data/mcp-app.html", ["app"]]);
      // The host reads the view by the address that the tool names.
      const {
        contents: [page],
      } = await one.readResource({ uri: heatmap._meta.ui.resourceUri });
      assert.equal(page.mimeType, "text/html;profile=mcp-app");
      assert.match(page.text, /<!doctype html>/i);
      // The view gets all of the result, the model what fits.
      const result = await one.callTool({ name: "get-cohort-data", arguments: { cohortCount: 24, maxPeriods: 24 } });
      assert.equal(result.structuredContent.cohorts.length, 24);
      assert.ok(textOf(result).length < 8_000, `${textOf(result).length}`);
      const { app, bridge, heard } = await view(t, one);
      await bridge.sendToolResult(result);
      assert.equal((await heard).structuredContent.cohorts.length, 24);
      // And calls what is for views alone.
      const polled = await app.callServerTool({ name: "poll-system-stats", arguments: {} });
      assert.ok(polled.structuredContent.cpu.cores.length > 0, JSON.stringify(polled));
      const read = await app.readServerResource({ uri: heatmap._meta.ui.resourceUri });
      assert.equal(read.contents[0].text, page.text);
      // A client without views sees none of these.
      const plain = await host(t, handler, era, {});
      const names = (await plain.listTools()).tools.map(({ name }) => name);
      assert.equal(names.includes("poll-system-stats"), false);
      // Without sessions, what one client of a caller has used is at hand for all of them.
      assert.equal(names.includes("get-cohort-data"), mode === "firewall" || era !== "legacy");
    });
  }
}

test("calls of a view meet the policies of the gateway", async (t) => {
  if (!has(t, isThere, { missing, optional: true })) return;
  const policy = { rules: [{ action: "deny", tool: "poll-*", reason: "nobody watches this machine" }] };
  const handler = gateway({ token: "t", mcpServers: { monitor: withViews("server-system-monitor") }, sdk, policy });
  t.after(() => handler.close());
  await handler.ready();
  const one = await host(t, handler, "legacy");
  const { app } = await view(t, one);
  const refused = await app.callServerTool({ name: "poll-system-stats", arguments: {} });
  assert.equal(refused.isError, true);
  assert.match(textOf(refused), /POLICY_DENIED.*nobody watches this machine/);
  assert.equal(handler.stats().refusals[0].error, "POLICY_DENIED");
});

test("servers learn that views are shown, and addresses lead to the server whose view it is", async (t) => {
  const tools = (name) => `[{ name: "show_${name}", inputSchema: { type: "object" }, _meta: { ui: { resourceUri: "ui://view.html" } } }]`;
  const answers = (name) => ({ [`show_${name}`]: '{ content: [{ type: "text", text: "row ".repeat(given.rows ?? 1) }] }', read: "{}" });
  const made = (name) =>
    program(folder, name, answers(name), {
      tools: tools(name),
      resources: `[{ uri: "ui://view.html", name: "v" }]`,
      read: `{ contents: [{ uri: params.uri, mimeType: "text/html;profile=mcp-app", text: "<p>${name} " + JSON.stringify(client.extensions ?? {}) }] }`,
    });
  const handler = gateway({ token: "t", mcpServers: { one: await made("one"), two: await made("two") }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { request, tools: list, call } = await user(handler, "t", VIEWS);
  const shown = Object.fromEntries((await list()).map(({ name, _meta }) => [name, _meta?.ui?.resourceUri]));
  assert.deepEqual([shown.show_one, shown.show_two], ["ui://view.html", "ui://view.html#contextweaver-server=two"]);
  for (const [name, uri] of [
    ["one", shown.show_one],
    ["two", shown.show_two],
  ]) {
    const { result } = await request("resources/read", { uri });
    assert.equal(result.contents[0].uri, uri);
    assert.ok(result.contents[0].text.startsWith(`<p>${name} {"${UI}":`), result.contents[0].text);
  }
  // A view that has nothing but the text gets it whole, and the model its part, by their audience.
  const { result } = await call("show_one", { rows: 20_000 });
  const [whole, digest] = result.content;
  assert.deepEqual([whole.annotations, whole.text.length, digest.annotations], [{ audience: ["user"] }, 80_000, { audience: ["assistant"] }]);
  assert.match(digest.text, /tokens; drilldown artifact:result:/);
  const small = (await call("show_one", { rows: 2 })).result;
  assert.deepEqual(small, { content: [{ type: "text", text: "row row " }] });
});
