// Clients of the official SDKs of MCP whose results are digested, with servers of the SDKs.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { ANSWER, FIND_ROW, PICTURE, evicted, orders } from "./agent-session.mjs";
import { has, project } from "./harness.mjs";
import { sdks } from "./mcp-sdk-peers.mjs";

const folder = await project("mcp-client", {
  "entry.mjs": `export * from "contextweaver/mcp"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, countTokens, firewalled } = await import(pathToFileURL(join(folder, "entry.mjs")));

const HANDLE = "contextweaver/handle";
const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
const inputSchema = { type: "object" };
const text = (words, more) => ({ type: "text", text: words, ...more });
const picture = { type: "image", data: PICTURE, mimeType: "image/png" };
const json = JSON.stringify(orders());
const RESULTS = {
  small: { content: [text("ok", { annotations: { priority: 1 } })], structuredContent: { ok: true }, _meta: { "example/trace": 1 } },
  orders: { content: [text(json)], structuredContent: { orders: orders() } },
  hidden: { content: [text("ok")], structuredContent: { orders: orders() } },
  seen: { content: [text("the desk"), picture, { type: "audio", data: "UklGRg==", mimeType: "audio/wav" }] },
  mixed: {
    content: [text(json), picture, { ...picture, annotations: { audience: ["user"] } }, text("for the user", { annotations: { audience: ["user"] } })],
    _meta: { "example/trace": 2 },
  },
  fails: { content: [text(json)], isError: true },
  file: { content: [text("a file"), { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/octet-stream", blob: "A".repeat(8_000) } }] },
  tells: { content: [text(`the key is ${SECRET}`)], structuredContent: { key: SECRET } },
};
const OUTPUT = { type: "object", properties: { orders: { type: "array" } }, required: ["orders"] };

/** A server with these tools, and a client of it. */
async function connected(sdk, { call = ({ name }) => RESULTS[name], tools } = {}) {
  const listed = tools ?? Object.keys(RESULTS).map((name) => ({ name, inputSchema, ...(["orders", "hidden"].includes(name) && { outputSchema: OUTPUT }) }));
  const asked = [];
  const peer = await sdk.connect("2025-11-25", { list: () => ({ tools: listed }), call: (params, notify) => (asked.push(params.name), call(params, notify)) });
  return { ...peer, asked };
}

/** Calls a tool, with what the versions put elsewhere. */
const calling =
  (client, version) =>
  (name, args = {}, options) =>
    version === 1 ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);

for (const [at, { name: title, sdk, missing }] of (await sdks()).entries()) {
  const version = at + 1;

  test(`${title}: results are digested, kept by handle, and read on in`, async (t) => {
    if (!has(t, sdk, { missing })) return;
    const { client: raw, asked, close } = await connected(sdk);
    const manager = new ContextManager();
    const client = firewalled(raw, manager, { result_tokens: 200 });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...Object.keys(RESULTS), "drilldown", "recall"],
    );
    const added = tools.at(-2);
    assert.deepEqual([tools.at(-1).inputSchema.required, tools.at(-1).annotations.readOnlyHint], [["query"], true]);
    assert.deepEqual([added.inputSchema.type, added.inputSchema.required, added.annotations.readOnlyHint], ["object", ["handle"], true]);
    assert.equal((await raw.listTools()).tools.length, Object.keys(RESULTS).length, "the client's own list was changed");
    sdk.parse("ListToolsResult", { tools });
    const call = calling(client, version);
    const result = async (name) => sdk.parse("CallToolResult", JSON.parse(JSON.stringify(await call(name, { since: "2026" }))));

    // What is small is as it came.
    assert.deepEqual(await result("small"), RESULTS.small);
    assert.deepEqual(await result("seen"), RESULTS.seen);

    const large = await result("orders");
    assert.equal(large.structuredContent, undefined);
    const [{ text: shown }, ...others] = large.content;
    assert.deepEqual(others, []);
    assert.ok(shown.length < 1_000 && !shown.includes(ANSWER), shown);
    const handle = large._meta[HANDLE];
    assert.match(shown, new RegExp(`tokens; drilldown ${handle} \\{.*\\)\n\\(structured content from orders: drilldown mcp:orders:.*:structured_content\\)$`));
    assert.equal(Buffer.from(manager.artifacts.bytes(handle)).toString(), json);
    const [structured] = /mcp:orders:\S+:structured_content/.exec(shown);
    assert.deepEqual(JSON.parse(Buffer.from(manager.artifacts.bytes(structured)).toString()), RESULTS.orders.structuredContent);

    const read = await call("drilldown", { handle, selector: FIND_ROW });
    assert.ok(read.content[0].text.includes(ANSWER) && read.isError === undefined);
    const again = await call("recall", { query: "the order with id 4711" });
    assert.ok(again.content[0].text.includes(ANSWER) && again.content[0].text.includes(handle) && again.isError === undefined, again.content[0].text);
    assert.match((await call("recall", { query: "zebra" })).content[0].text, /^Nothing was found/);
    assert.match((await call("recall", { query: "" })).content[0].text, /^INVALID_INPUT: /);
    const wrong = await call("drilldown", { handle: "nowhere", selector: FIND_ROW });
    assert.match(wrong.content[0].text, /^ARTIFACT_NOT_FOUND: /);
    assert.equal(wrong.isError, true);
    assert.equal((await call("drilldown", {})).isError, true);
    assert.ok(!asked.includes("drilldown") && !asked.includes("recall"), "the server was asked");

    // What is hidden in data that no text tells.
    const hidden = await result("hidden");
    assert.equal(hidden.structuredContent, undefined);
    assert.match(hidden.content[0].text, /^ok\n\(structured content from hidden: drilldown mcp:hidden:/);

    const mixed = await result("mixed");
    assert.deepEqual(
      mixed.content.map(({ type }) => type),
      ["text", "image"],
    );
    assert.equal(mixed.content[1].data, PICTURE);
    assert.equal(mixed._meta["example/trace"], 2);
    assert.doesNotMatch(mixed.content[0].text, /for the user/);

    const failed = await result("fails");
    assert.deepEqual([failed.isError, failed.content[0].text.includes(ANSWER)], [true, false]);

    const file = await result("file");
    assert.deepEqual(
      file.content.map(({ type }) => type),
      ["text"],
    );
    assert.match(file.content[0].text, /^a file\n\(.*application\/octet-stream: mcp:file:.*:resource:1\)$/);

    const told = await result("tells");
    assert.ok(!JSON.stringify(told).includes(SECRET), JSON.stringify(told));

    // The log has each call with its arguments, where it came from, and its result.
    const of = (kind) => manager.events.list({ kinds: [kind] });
    assert.deepEqual(
      of("tool_call").map(({ text: said }) => said.split(" ")[0]),
      ["small", "seen", "orders", "hidden", "mixed", "fails", "file", "tells"],
    );
    assert.equal(of("tool_result").length, 8);
    assert.deepEqual([of("tool_call")[0].metadata.arguments, of("tool_call")[0].metadata.server], [{ since: "2026" }, "peer"]);
    const { messages } = manager.buildMessages({ phase: "answer", query: "orders", format: "anthropic", budget_tokens: 4_000 });
    assert.match(JSON.stringify(messages), /"name":"orders","input":\{"since":"2026"\}/);
    await close();
    manager.free();
  });

  test(`${title}: the rest of the client is its own: checks, progress, aborting, errors, notifications, close`, async (t) => {
    if (!has(t, sdk, { missing })) return;
    let began;
    const {
      client: raw,
      asked,
      close,
    } = await connected(sdk, {
      call: async ({ name, _meta }, notify) => {
        if (name === "hidden") return { content: [text("ok")], structuredContent: { orders: "none" } };
        if (name === "fails") throw Object.assign(new Error("no disk"), { code: -32603 });
        if (name === "orders") {
          await notify({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1, total: 2 } });
          return RESULTS.orders;
        }
        began();
        return new Promise(() => {});
      },
    });
    const manager = new ContextManager();
    const client = firewalled(raw, manager);
    const call = calling(client, version);
    await client.listTools();
    // The SDK's check of what a server promised goes before.
    await assert.rejects(call("hidden"), /Structured content does not match/);
    await assert.rejects(call("fails"), /no disk/);
    const progress = [];
    assert.ok((await call("orders", {}, { onprogress: (one) => progress.push(one) }))._meta[HANDLE]);
    assert.deepEqual(
      progress.map(({ progress: done, total }) => [done, total]),
      [[1, 2]],
    );
    const controller = new AbortController();
    const hung = new Promise((resolve) => (began = resolve));
    const pending = call("small", {}, { signal: controller.signal });
    await hung;
    controller.abort(new Error("enough"));
    await assert.rejects(pending, /enough/);
    // What failed is no result.
    assert.equal(manager.events.count({ kinds: ["tool_result"] }), 1);
    assert.equal(manager.events.count({ kinds: ["tool_call"] }), 1);
    assert.equal(asked.length, 4);

    assert.ok(client instanceof raw.constructor);
    assert.equal(client.constructor, raw.constructor);
    assert.deepEqual(client.getServerVersion(), raw.getServerVersion());
    assert.equal(client.transport, raw.transport);
    assert.equal(client.ping, client.ping);
    await client.ping();
    const closed = new Promise((resolve) => (client.onclose = resolve));
    assert.equal(typeof raw.onclose, "function");
    await client.close();
    await closed;
    await close();
    manager.free();
  });

  test(`${title}: several clients of one manager, and names that meet`, async (t) => {
    if (!has(t, sdk, { missing })) return;
    const [one, two] = await Promise.all([connected(sdk), connected(sdk)]);
    const manager = new ContextManager();
    const [first, second] = [firewalled(one.client, manager), firewalled(two.client, manager, { drilldown: false })];
    assert.ok(!(await second.listTools()).tools.some(({ name }) => name === "drilldown"));
    const results = await Promise.all([first, second, first].map((client) => calling(client, version)("orders")));
    const handles = results.map(({ _meta }) => _meta[HANDLE]);
    assert.equal(new Set(handles).size, 3);
    for (const handle of handles) assert.ok((await calling(first, version)("drilldown", { handle, selector: FIND_ROW })).content[0].text.includes(ANSWER));
    // A log that is taken up goes on counting.
    const again = ContextManager.fromJSON(JSON.stringify(manager));
    const { _meta } = await calling(firewalled(one.client, again), version)("orders");
    assert.ok(!handles.includes(_meta[HANDLE]));
    again.free();
    await Promise.all([one.close(), two.close()]);

    const taken = await connected(sdk, { tools: [{ name: "drilldown", inputSchema }], call: () => RESULTS.small });
    await assert.rejects(
      firewalled(taken.client, manager).listTools(),
      (error) => ContextWeaverError.is(error) && error.code === "DUPLICATE_ID" && error.path === "/tools",
    );
    const renamed = firewalled(taken.client, manager, { drilldown: "read_on", recall: "find_again" });
    assert.deepEqual(
      (await renamed.listTools()).tools.map(({ name }) => name),
      ["drilldown", "read_on", "find_again"],
    );
    assert.deepEqual((await calling(renamed, version)("drilldown")).content, RESULTS.small.content);
    assert.ok((await calling(renamed, version)("read_on", { handle: handles[0], selector: FIND_ROW })).content[0].text.includes(ANSWER));
    await taken.close();
    manager.free();
  });
}

test("what has left memory is fetched when it is read on in", async () => {
  const { manager, on_step } = evicted({ ContextManager });
  const client = firewalled({ callTool: async () => RESULTS.orders, listTools: async () => ({ tools: [] }) }, manager);
  const { _meta } = await client.callTool({ name: "orders" });
  on_step();
  assert.ok(!manager.artifacts.exists(_meta[HANDLE]));
  const { content, isError } = await client.callTool({ name: "drilldown", arguments: { handle: _meta[HANDLE], selector: FIND_ROW } });
  assert.deepEqual([isError, content[0].text.includes(ANSWER)], [undefined, true]);
  manager.free();
});

test("base64 that is broken into lines, or not filled up, reaches clients as every reader takes it", async () => {
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));
  const whole = bytes.toString("base64");
  const forms = { lines: whole.replace(/.{76}/g, "$&\r\n"), bare: whole.replace(/=+$/, ""), whole };
  for (const [form, data] of Object.entries(forms)) {
    const manager = new ContextManager();
    const content = [
      text("seen"),
      { type: "image", mimeType: "image/png", data },
      { type: "audio", mimeType: "audio/wav", data },
      { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: data } },
    ];
    const served = firewalled({ callTool: async () => ({ content }), listTools: async () => ({ tools: [] }) }, manager);
    const result = await served.callTool({ name: "x", arguments: {} });
    assert.deepEqual(
      result.content.filter(({ type }) => type === "image" || type === "audio").map((block) => block.data),
      [whole, whole],
      form,
    );
    assert.ok(!JSON.stringify(result).includes("malformed"), form);
    const handle = /mcp:x:[\w:.-]+:resource:3/.exec(JSON.stringify(result))?.[0];
    if (form !== "whole") assert.ok(handle, `${form}: ${JSON.stringify(result).slice(0, 400)}`);
    if (handle) assert.deepEqual(Buffer.from(manager.artifacts.bytes(handle)), bytes, form);
    manager.free();
  }
});

test("blocks reach clients whatever a server names a field, however deep it nests, and however long what is no picture is", async () => {
  const deep = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
  const named = (name) => JSON.parse(`{ "type": "text", "text": "seen", "annotations": { "priority": 1, "${name}": {} }, "${name}": {} }`);
  const cases = {
    ...Object.fromEntries(["__proto__", "__defineGetter__", "hasOwnProperty", "toString"].map((name) => [name, [named(name)]])),
    "a deep block": [text("seen"), deep],
    // Every "data:" that begins in it looks for its comma: in quadratic time this takes hours.
    "no picture": [text("seen"), { type: "image", mimeType: "image/png", data: `data:${"a".repeat(4_000_000)}` }],
  };
  for (const [title, content] of Object.entries(cases)) {
    const manager = new ContextManager();
    const served = firewalled({ callTool: async () => ({ content }), listTools: async () => ({ tools: [] }) }, manager);
    const result = await served.callTool({ name: "x", arguments: {} });
    assert.match(JSON.stringify(result), /seen/, title);
    if (content.length === 1) assert.ok(!JSON.stringify(result).includes("malformed"), title);
    manager.free();
  }
  const odd = { callTool: async () => ({ structuredContent: deep }), listTools: async () => ({ tools: [] }) };
  const manager = new ContextManager();
  assert.match(JSON.stringify(await firewalled(odd, manager).callTool({ name: "x", arguments: {} })), /nested deeper than 60 levels/);
  manager.free();
});

test("what cannot be is said at once, and a store that is full as well", async () => {
  const [{ sdk }] = await sdks();
  const { client, close } = await connected(sdk);
  const manager = new ContextManager({ limits: { max_artifact_bytes: 4_096 } });
  for (const [args, code, path] of [
    [[{}, manager], "INVALID_INPUT", "/client"],
    [[null, manager], "INVALID_INPUT", "/client"],
    [[client, {}], "INVALID_INPUT", "/manager"],
    [[client, manager, { drilldown: "" }], "INVALID_INPUT", "/drilldown"],
    [[client, manager, { drilldown: true }], "INVALID_INPUT", "/drilldown"],
    [[client, manager, { recall: "" }], "INVALID_INPUT", "/recall"],
    [[client, manager, { recall: "drilldown" }], "DUPLICATE_ID", "/recall"],
    [[client, manager, { name: "x" }], "UNKNOWN_FIELD", "/name"],
    [[client, manager, { result_tokens: 0 }], "OUT_OF_RANGE", "/result_tokens"],
    [[client, manager, { result_tokens: "all" }], "OUT_OF_RANGE", "/result_tokens"],
    [[client, manager, { context_tokens: 1.5 }], "OUT_OF_RANGE", "/context_tokens"],
    [[client, manager, { result_tokens: 100, context_tokens: 2 ** 25 }], "OUT_OF_RANGE", "/context_tokens"],
  ]) {
    assert.throws(
      () => firewalled(...args),
      (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
    );
  }
  const call = calling(firewalled(client, manager), 1);
  await call("small");
  const [log, counted] = [JSON.stringify(manager), manager.stats()];
  for (const name of ["orders", "file"]) {
    await assert.rejects(call(name), { code: "QUOTA_EXCEEDED" });
    assert.equal(JSON.stringify(manager), log, `${name} left something behind`);
    assert.deepEqual(manager.stats(), counted);
  }
  await call("small");
  assert.equal(manager.events.count(), 4);
  await close();
  manager.free();
});

/** A source file of about so many tokens: names that are all different, and an error far from both ends. */
function source(tokens) {
  const lines = ["import { start } from './start.js';"];
  for (let n = 0; countTokens(lines.join("\n")) < tokens; n += 1) lines.push(`  const row_${n} = table.read("column_${n % 40}"); // as above`);
  lines[Math.floor(lines.length / 2)] = "  log.error(`payment failed: ${reason}`);";
  return lines.join("\n");
}

test("a client gets as much of a result as it takes, and of a larger one what names the most", async () => {
  const manager = new ContextManager();
  let answer;
  const server = { callTool: async () => ({ content: [text(answer)] }), listTools: async () => ({ tools: [] }) };
  const shown = async (tokens, options, args = {}) => {
    answer = source(tokens);
    const { content, _meta } = await firewalled(server, manager, options).callTool({ name: "read", arguments: args });
    return { text: content[0].text, isWhole: content[0].text === answer, handle: _meta?.[HANDLE] };
  };
  for (const [options, most] of [
    [{}, 1_150],
    [{ result_tokens: 300 }, 300],
    [{ context_tokens: 128_000 }, 8_000],
    [{ context_tokens: 128_000, result_tokens: 300 }, 300],
  ]) {
    // A cut that saves less than an eighth is none.
    assert.ok((await shown(most, options)).isWhole, `${most} of ${JSON.stringify(options)}`);
    const { isWhole, text: cut, handle } = await shown(most * 1.5, options);
    assert.ok(!isWhole && countTokens(cut.slice(0, cut.lastIndexOf("\n("))) <= most, `${countTokens(cut)} of ${most}`);
    const [, tokens, total] = /\((\d+) of (\d+) tokens; drilldown \S+/.exec(cut.slice(cut.lastIndexOf("\n(")));
    assert.ok(Number(tokens) <= most && Number(total) >= most * 1.5 && cut.includes("import { start }") && cut.includes("payment failed"), cut.slice(-200));
    assert.equal(Buffer.from(manager.artifacts.bytes(handle)).toString(), answer);
  }
  // Names of the arguments are found wherever they stand.
  assert.ok((await shown(9_000, {}, { name: "row_317" })).text.includes("const row_317 ="));
  assert.ok(!(await shown(9_000, {})).text.includes("const row_317 ="));
  manager.free();
});

test("what the caller's functions and policies say of a result stands for it, whatever its size", async () => {
  const secret = {
    callTool: async () => ({ content: [text(`the key is ${SECRET}, ${"and more of it ".repeat(900)}`)] }),
    listTools: async () => ({ tools: [] }),
  };
  for (const [options, expected] of [
    [{ summarizer: () => "a summary of mine" }, /^a summary of mine\n\(/],
    [{ classifier: () => "restricted" }, /./],
  ]) {
    const manager = new ContextManager(options);
    const { content } = await firewalled(secret, manager).callTool({ name: "read" });
    assert.match(content[0].text, expected);
    assert.doesNotMatch(content[0].text, /sk-ant|and more of it/);
    manager.free();
  }
  const manager = new ContextManager();
  const { content } = await firewalled(secret, manager).callTool({ name: "read" });
  assert.match(content[0].text, /and more of it/);
  assert.doesNotMatch(content[0].text, /sk-ant/);
  manager.free();
});

test("@modelcontextprotocol/sdk 1.x: a call that runs as a task is digested when its result comes", async () => {
  const [{ sdk }] = await sdks();
  const { client: raw, close } = await connected(sdk);
  const manager = new ContextManager();
  const client = firewalled(raw, manager);
  const last = async (params) => {
    const messages = [];
    for await (const message of client.experimental.tasks.callToolStream(params)) messages.push(message);
    return messages.at(-1);
  };
  const { type, result } = await last({ name: "orders", arguments: {} });
  assert.equal(type, "result");
  assert.ok(!result.content[0].text.includes(ANSWER));
  const read = await last({ name: "drilldown", arguments: { handle: result._meta[HANDLE], selector: FIND_ROW } });
  assert.ok(read.result.content[0].text.includes(ANSWER));
  await close();
  manager.free();
});
