// Clients of the official SDKs of MCP use a decision store that is served over their transports, in every revision.
import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { TOUR, memory } from "./decisions.mjs";
import { chromium, has, here, launchChromium, manifest, project, run } from "./harness.mjs";
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
  assert.equal(
    store.export().decisions.every(({ recorded_by: by }) => by === "a1"),
    true,
  );
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
  await writeFile(
    server,
    `
import * as cw from "contextweaver";
import { serveDecisionsStdio } from "contextweaver/mcp";
import { memory } from "./decisions.mjs";
const { closed } = await serveDecisionsStdio(memory(cw), { agent_id: "a1" });
await closed;
`,
  );
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
  const ask = (more = {}, message = body) =>
    handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        body: typeof message === "string" ? message : JSON.stringify(message),
        ...more,
        headers: { "content-type": "application/json", authorization: "Bearer s3cret", ...more.headers },
      }),
    );
  const status = async (...args) => (await ask(...args)).status;
  assert.deepEqual((await (await ask()).json()).result.structuredContent, { actions: [], total: 0, filtered: 0 });
  assert.equal(await status({ headers: { authorization: "bearer  s3cret " } }), 200);
  for (const authorization of ["", "Bearer", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret"])
    assert.equal(await status({ headers: { authorization } }), 401, authorization);
  assert.equal((await handler(new Request("http://localhost/mcp"))).status, 405);
  assert.equal(await status({ headers: { "content-length": String(17 * 1024 * 1024) } }), 413);
  assert.equal(await status({ headers: { "content-type": "text/plain" } }), 415);
  assert.equal(await status({}, "{"), 400);
  assert.equal(await status({}, { jsonrpc: "2.0", method: "notifications/initialized" }), 202);
  assert.equal(await status({ headers: { "mcp-protocol-version": "2025-06-18" } }), 200);
  assert.equal(await status({ headers: { "mcp-protocol-version": "1999-01-01" } }), 400);
  const modern = {
    ...body,
    params: { ...body.params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } },
  };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "ready" };
  assert.equal(await status({ headers }, modern), 200);
  for (const wrong of [{ "mcp-name": "get_stats" }, { "mcp-method": "tools/list" }, { "mcp-protocol-version": "2025-11-25" }]) {
    const answer = await ask({ headers: { ...headers, ...wrong } }, modern);
    assert.deepEqual([answer.status, (await answer.json()).error.code], [400, -32020]);
  }
  const short = decisionsHandler(store, { token: false, max_chars: 10 });
  assert.equal(
    (await short(new Request("http://localhost/", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }))).status,
    413,
  );
  // Nobody announces how long it gets.
  let pulled = 0;
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(((pulled += 1), 2 ** 20)).fill(0x20)) });
  assert.equal(await status({ duplex: "half", body: endless }), 413);
  assert.ok(pulled < 20, String(pulled));
  assert.equal(await status({ body: new Uint8Array([0x22, 0xff, 0x22]) }), 400);
  store.free();
});

test("a text that was cut in the middle of a character is kept, and a store that is gone is told as the server's failure", async () => {
  const store = memory(cw);
  const handler = decisionsHandler(store, { token: false });
  const headers = { "content-type": "application/json" };
  const over = async (message) => (await handler(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(message) }))).json();
  const sent = [];
  const transport = { start: async () => {}, close: async () => {}, send: async (message) => void sent.push(message) };
  await connectDecisions(store, transport);
  const wire = async (message) => {
    const { length } = sent;
    transport.onmessage(message);
    while (sent.length === length) await new Promise(setImmediate);
    return sent.at(-1);
  };
  const call = (id, name, given) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } });
  const logged = { decision: "Ship it \ud83d", confidence: 0.9, category: "process" };
  for (const [at, ask] of [over, wire].entries()) {
    const { id, result } = await ask(call(at, "log_decision", logged));
    assert.deepEqual([id, result.isError], [at, undefined]);
    const { id: decision } = JSON.parse(result.content[0].text);
    assert.match((await ask(call(at, "get_decision", { id: decision }))).result.content[0].text, /Ship it \ufffd/);
  }
  store.free();
  for (const ask of [over, wire]) {
    const { id, error } = await ask(call("last", "ready", {}));
    assert.deepEqual([id, error.code], ["last", -32603]);
    assert.match(error.message, /^DISPOSED/);
  }
});

test("over HTTP: options are checked when the handler is made", () => {
  const store = memory(cw);
  const wrong = [
    [undefined, "MISSING_FIELD", "/token", /token: false/],
    [{}, "MISSING_FIELD", "/token", /token: false/],
    [{ token: undefined }, "MISSING_FIELD", "/token", /environment variable/],
    [{ token: null }, "INVALID_INPUT", "/token", /token: false/],
    [{ token: true }, "INVALID_INPUT", "/token", /token: false/],
    [{ token: [] }, "INVALID_INPUT", "/token", /token: false/],
    [{ token: "" }, "INVALID_INPUT", "/token", /token: false/],
    [{ token: "s3cret\n" }, "INVALID_INPUT", "/token", /trim/],
    [{ token: "pässword" }, "INVALID_INPUT", "/token", /base64/],
    [{ token: "t", origins: "https://app.example" }, "INVALID_INPUT", "/origins", /\["https:/],
    [{ token: "t", origins: null }, "INVALID_INPUT", "/origins", /\["https:/],
    [{ token: "t", origins: [/example/] }, "INVALID_INPUT", "/origins/0"],
    [{ token: "t", origins: ["https://a.example", "https://app.example/"] }, "INVALID_INPUT", "/origins/1", /send `https:\/\/app\.example`/],
    [{ token: "t", origins: ["HTTPS://App.example:443"] }, "INVALID_INPUT", "/origins/0", /send `https:\/\/app\.example`/],
    ...["*", "null", "", "app.example", "https://*.example", "file:///", "data:text/html,x"].map((origin) => [
      { token: "t", origins: [origin] },
      "INVALID_INPUT",
      "/origins/0",
      /scheme/,
    ]),
    [{ token: "t", max_chars: "10" }, "INVALID_INPUT", "/max_chars"],
    ...[0, -1, 1.5, NaN, Infinity, 2 ** 24].map((max_chars) => [{ token: "t", max_chars }, "OUT_OF_RANGE", "/max_chars", /from 1 to 8388608/]),
    [{ token: "t", agent_id: 1 }, "INVALID_INPUT", "/agent_id"],
    [{ token: "t", trace_id: null }, "INVALID_INPUT", "/trace_id"],
    [{ token: "t", origin: [] }, "UNKNOWN_FIELD", "/origin", /origins/],
    ["t", "INVALID_INPUT", undefined],
  ];
  for (const [options, code, path, hint = /^/] of wrong) {
    assert.throws(
      () => decisionsHandler(store, options),
      (error) => {
        assert.deepEqual([error.name, error.code, error.path], ["ContextWeaverError", code, path], JSON.stringify(options));
        assert.match(error.hint ?? "", hint, JSON.stringify(options));
        assert.doesNotMatch(`${error.message} ${error.hint}`, /s3cret|pässword/);
        return true;
      },
    );
  }
  for (const origins of [[], ["https://app.example:8443", "http://[::2]:1", "chrome-extension://abcdef"]]) decisionsHandler(store, { token: "t", origins });
  store.free();
});

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

/** Asks a handler as a client or a page does. */
async function asked(handler, { host = "localhost:8080", at = host, method = "POST", ...headers }) {
  const given = { "content-type": "application/json", ...(host && { host }), ...headers };
  const response = await handler(new Request(`http://${at}/mcp`, { method, headers: given, ...(method === "POST" && { body: JSON.stringify(PING) }) }));
  return { status: response.status, allowed: response.headers.get("access-control-allow-origin"), headers: response.headers };
}

test("over HTTP: the token", async () => {
  const store = memory(cw);
  const handler = decisionsHandler(store, { token: "s3cret" });
  const status = async (authorization) => (await asked(handler, authorization === undefined ? {} : { authorization })).status;
  for (const authorization of ["Bearer s3cret", "bearer   s3cret", "BEARER s3cret "]) assert.equal(await status(authorization), 200, authorization);
  const wrong = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "s3cret",
    "Bearer s3cre",
    "Bearer s3cret2",
    "Bearer s3creT",
    "Bearer s3crets3cret",
    "Bearer null",
    "Bearer undefined",
    "Basic s3cret",
  ];
  for (const authorization of wrong) assert.equal(await status(authorization), 401, authorization);
  const open = decisionsHandler(store, { token: false });
  assert.equal((await asked(open, {})).status, 200);
  store.free();
});

test("over HTTP: pages may ask from named origins, and from this machine", async () => {
  const store = memory(cw);
  const handler = decisionsHandler(store, { token: false, origins: ["https://app.example", "chrome-extension://abcdef"] });
  // Whatever the server's address: the pages that were named.
  for (const host of ["localhost:8080", "decisions.example"]) {
    for (const origin of ["https://app.example", "chrome-extension://abcdef"]) {
      const { status, allowed, headers } = await asked(handler, { host, origin });
      assert.deepEqual([status, allowed, headers.get("vary")], [200, origin, "Origin"]);
      assert.match(headers.get("access-control-expose-headers"), /mcp-session-id/);
    }
    for (const origin of [
      "https://app",
      "https://app.example.evil.example",
      "http://app.example",
      "https://app.example:8443",
      "https://evil.example",
      "null",
      "",
      "file://",
    ]) {
      const { status, allowed, headers } = await asked(handler, { host, origin });
      assert.deepEqual([status, allowed, headers.get("vary")], [403, null, "Origin"], origin);
    }
  }
  // Pages of this machine, where it is addressed as what it is.
  for (const origin of ["http://localhost:8080", "http://localhost", "https://localhost:3000", "http://127.0.0.1:6274", "http://[::1]:8080"]) {
    for (const host of ["localhost:8080", "127.0.0.1", "[::1]:8080"]) {
      const { status, allowed } = await asked(handler, { host, origin });
      assert.deepEqual([status, allowed], [200, origin], `${origin} asks ${host}`);
    }
    // The header counts where an adapter gives every request the same address; without one, as on Workers, the address.
    assert.equal((await asked(handler, { host: "evil.example", at: "localhost", origin })).status, 403);
    assert.equal((await asked(handler, { host: "", at: "evil.example", origin })).status, 403);
    assert.equal((await asked(handler, { host: "", at: "localhost:8080", origin })).status, 200);
  }
  // A page that pointed its own name here is of the same origin as the server.
  for (const name of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example"]) {
    assert.equal((await asked(handler, { host: name, at: "localhost:8080", origin: `http://${name}` })).status, 403, name);
    assert.equal((await asked(handler, { origin: `http://${name}` })).status, 403, name);
  }
  // Programs have no origin.
  const { status, allowed, headers } = await asked(handler, { host: "decisions.example" });
  assert.deepEqual([status, allowed, headers.get("vary")], [200, null, "Origin"]);
  store.free();
});

test("over HTTP: preflights are answered without a token, and what follows can be read", async () => {
  const store = memory(cw);
  const handler = decisionsHandler(store, { token: "s3cret", origins: ["https://app.example"] });
  const preflight = {
    method: "OPTIONS",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,mcp-protocol-version,mcp-param-region, mcp-param-a\u007fb,x-own",
  };
  const { status, allowed, headers } = await asked(handler, { ...preflight, origin: "https://app.example" });
  assert.deepEqual([status, allowed, headers.get("vary")], [204, "https://app.example", "Origin"]);
  assert.deepEqual(headers.get("access-control-allow-methods").split(", "), ["GET", "POST", "DELETE"]);
  const names = headers.get("access-control-allow-headers").split(", ");
  for (const name of ["authorization", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"])
    assert.ok(names.includes(name), name);
  // Those of arguments are a tool's to name.
  assert.deepEqual(
    names.filter((name) => /param|own/.test(name)),
    ["mcp-param-region"],
  );
  const refused = await asked(handler, { ...preflight, origin: "https://evil.example" });
  assert.deepEqual([refused.status, refused.allowed, refused.headers.get("access-control-allow-methods")], [403, null, null]);
  // What is no preflight is a method that is not served.
  assert.equal((await asked(handler, { ...preflight })).status, 405);
  assert.equal((await asked(handler, { method: "OPTIONS", origin: "https://app.example" })).status, 405);
  for (const [more, wanted] of [
    [{}, 401],
    [{ method: "GET" }, 405],
    [{ authorization: "Bearer s3cret", "content-type": "text/plain" }, 415],
  ]) {
    const answer = await asked(handler, { ...more, origin: "https://app.example" });
    assert.deepEqual([answer.status, answer.allowed], [wanted, "https://app.example"]);
  }
  store.free();
});

test("over HTTP, from pages in a browser", async (t) => {
  if (!has(t, chromium.path, chromium)) return;
  const [{ sdk, missing, name }] = installed;
  assert.match(name, /sdk 1\.x$/);
  if (!has(t, sdk, { missing })) return;
  const store = memory(cw);
  const { url, port } = await httpServer(t, (own) => decisionsHandler(store, { token: "s3cret", origins: [`http://app.example:${own}`] }));
  const browser = await launchChromium(t, ["--host-resolver-rules=MAP *.example 127.0.0.1"]);
  const pageAt = async (origin) => {
    const tab = await browser.newPage();
    await tab.goto(`${origin}/`);
    return tab;
  };
  /** Status of a request of a page, or what the browser says instead of an answer. */
  const fetched = (tab, to, more) =>
    tab.evaluate(
      async ([to, more, body]) => {
        const headers = { "content-type": "application/json", "mcp-protocol-version": "2025-11-25", authorization: "Bearer s3cret", ...more?.headers };
        const method = more?.method ?? "POST";
        return fetch(to, { method, headers, ...(method === "POST" && { body }) }).then(
          async (response) => [response.status, response.headers.get("www-authenticate"), await response.text()],
          (error) => [error.name],
        );
      },
      [to, more, JSON.stringify(PING)],
    );
  const pong = [200, null, JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} })];

  await t.test("one that was named", async () => {
    const tab = await pageAt(`http://app.example:${port}`);
    // To another origin: the address instead of the name.
    assert.deepEqual(await fetched(tab, url), pong);
    assert.deepEqual(await fetched(tab, url, { headers: { authorization: "Bearer wrong" } }), [401, "Bearer", ""]);
    assert.deepEqual((await fetched(tab, url, { method: "GET" }))[0], 405);
    assert.deepEqual((await fetched(tab, url, { method: "DELETE", headers: { "mcp-session-id": "1" } }))[0], 405);
    assert.deepEqual((await fetched(tab, url, { method: "GET", headers: { "last-event-id": "1" } }))[0], 405);
    assert.deepEqual((await fetched(tab, url, { headers: { "mcp-method": "ping", "mcp-name": "x" } }))[0], 200);
  });

  await t.test("the client of the official SDK", async () => {
    const { outputFiles } = await build({ stdin: { contents: CLIENT, resolveDir: here }, bundle: true, format: "iife", write: false, logLevel: "silent" });
    const tab = await pageAt(`http://app.example:${port}`);
    await tab.addScriptTag({ content: outputFiles[0].text });
    const { tools, ready } = await tab.evaluate((url) => globalThis.decisions(url, "s3cret"), url);
    assert.deepEqual(
      tools,
      store.listTools().map(({ name }) => name),
    );
    assert.deepEqual(ready.structuredContent, { actions: [], total: 0, filtered: 0 });
  });

  await t.test("one on this machine", async () => {
    assert.deepEqual(await fetched(await pageAt(`http://localhost:${port}`), url), pong);
  });

  await t.test("a strange one, which cannot even ask", async () => {
    assert.deepEqual(await fetched(await pageAt(`http://evil.example:${port}`), url), ["TypeError"]);
  });

  await t.test("a strange one that pointed its name to the server", async () => {
    const own = `http://evil.example:${port}`;
    assert.deepEqual((await fetched(await pageAt(own), `${own}/mcp`))[0], 403);
  });
  store.free();
});

/** Uses a server from a page, with the SDK. */
const CLIENT = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
globalThis.decisions = async (url, token) => {
  const client = new Client({ name: "page", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: "Bearer " + token } } }));
  const { tools } = await client.listTools();
  const ready = await client.callTool({ name: "ready", arguments: {} });
  await client.close();
  return { tools: tools.map(({ name }) => name), ready };
};
`;

/** Serves a handler at /mcp and an empty page at /, under whatever name it is asked. */
async function httpServer(t, make) {
  let handler;
  const server = createServer(async (request, response) => {
    if (request.url !== "/mcp") return void response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>test</title>");
    const body = await buffer(request);
    const { method, headers } = request;
    const answer = await handler(new Request(`http://${headers.host}/mcp`, { method, headers, ...(method === "POST" && { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const { port } = server.address();
  handler = make(port);
  return { url: `http://127.0.0.1:${port}/mcp`, port };
}
