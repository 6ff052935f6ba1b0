// What tools, servers and models send need not be JSON: no loop ends for it, in whatever framework.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import * as ai6 from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import * as ai7 from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { packageDir, project, temporaryFolder } from "./harness.mjs";
import { CUT, SENT, wanted } from "./sent-values.mjs";

const ENTRIES = ["ai-sdk", "anthropic", "langchain", "mastra", "openai", "openai-agents"];
const lines = ENTRIES.map((name) => `export { contextWeaver as ${name.replace("-", "_")} } from "contextweaver/${name}";`);
const folder = await project("sent-values", {
  "entry.mjs": [...lines, 'export * from "contextweaver"; export { firewalled } from "contextweaver/mcp";'].join("\n"),
});
const cw = await import(pathToFileURL(join(folder, "entry.mjs")));

const result = (value) => [
  { role: "user", content: "x" },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "f", input: {} }] },
  { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "f", output: { type: "json", value } }] },
];
const written = (manager) => manager.buildMessages({ phase: "answer", format: "ai-sdk-model", budget_tokens: 20_000 }).messages.at(-1).content[0].output.value;
const PLACE = "/messages/2/content/0/output/value";

test("values in messages become what JSON.stringify makes of them, or text", () => {
  for (const [name, make, expected, codes] of SENT) {
    for (const method of ["syncMessages", "ingestMessages"]) {
      const manager = new cw.ContextManager();
      const { warnings } = manager[method](result(make()), "ai-sdk-model");
      assert.deepEqual(written(manager), wanted(make, expected), name);
      assert.deepEqual(
        warnings.map(({ code }) => code),
        codes,
        name,
      );
      assert.ok(
        warnings.every(({ path, message }) => path.startsWith(PLACE) && !message.includes("secret")),
        name,
      );
      // The next turn is compared with it, and costs nothing new.
      const next = [...result(make()), { role: "assistant", content: "seen" }];
      if (method === "syncMessages") assert.deepEqual(manager.syncMessages(next, "ai-sdk-model").superseded, [], name);
      manager.free();
    }
    assert.deepEqual(
      cw.messagesToItems(result(make()), "ai-sdk-model").warnings.map(({ code }) => code),
      codes,
      name,
    );
  }
});

test("what is too deep or too long is cut, with a warning", () => {
  for (const [name, make, pattern] of CUT) {
    const manager = new cw.ContextManager();
    const { warnings } = manager.syncMessages(result(make()), "ai-sdk-model");
    assert.ok(
      warnings.some(({ code }) => code === "VALUE_CUT"),
      name,
    );
    assert.match(new TextDecoder().decode(manager.artifacts.bytes("artifact:result:c").subarray(0, 10_000)), pattern, name);
    manager.free();
  }
  const manager = new cw.ContextManager();
  const long = `${"one more line of it\n".repeat(500_000)}`;
  const { warnings } = manager.syncMessages(
    [
      { role: "user", content: "x" },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: long },
    ],
    "openai-chat",
  );
  assert.deepEqual(
    warnings.map(({ code, path }) => [code, path]),
    [["VALUE_CUT", "/messages/2/content"]],
  );
  const kept = new TextDecoder().decode(manager.artifacts.bytes("artifact:result:c"));
  assert.match(kept.slice(-80), /\[the last \d+ characters are left out\]$/);
  assert.ok(kept.length > 8_000_000);
  manager.free();
});

test("a thousand of them are told in few warnings, and nothing of the caller's is changed", () => {
  const rows = Array.from({ length: 1_000 }, () => ({ mean: NaN }));
  const { warnings, items } = cw.messagesToItems(result({ rows }), "ai-sdk-model");
  assert.equal(warnings.length, 33);
  assert.match(warnings.at(-1).message, /^968 more/);
  assert.ok(items[2].text.startsWith('{"rows":[{"mean":null}'));
  assert.ok(Number.isNaN(rows[0].mean));
  // Options are the caller's, and refused as ever.
  const refused = (run, path) => assert.throws(run, { code: "INVALID_INPUT", path });
  const manager = new cw.ContextManager();
  refused(() => manager.syncMessages([], "openai-chat", { id_prefix: 1n }), "/id_prefix");
  refused(() => manager.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: NaN }), "/budget_tokens");
  refused(() => manager.ingest({ id: "a", kind: "user_turn", text: "x", metadata: { at: new Map() } }), "/metadata/at");
  refused(() => manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result: { content: [] }, metadata: { a: NaN } }), "/metadata/a");
  manager.free();
});

test("halves of characters are repaired wherever text comes in", async () => {
  const half = "cut \ud83d";
  const whole = "cut \ufffd";
  const manager = new cw.ContextManager();
  const { warnings } = manager.syncMessages([{ role: "user", content: half }], "openai-chat");
  assert.deepEqual(warnings, [{ code: "TEXT_REPAIRED", message: warnings[0].message, path: "/messages/0/content" }]);
  const built = manager.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: 1_000, query: half });
  assert.equal(built.messages[0].content, whole);
  assert.deepEqual(manager.build({ phase: "answer", query: half }).warnings, [
    "/query: half of a surrogate pair is U+FFFD: a text was cut in the middle of a character",
  ]);
  const raw = manager.ingestToolResult({ tool_call_id: "r", tool_name: "t", raw_output: half });
  assert.deepEqual([raw.item.text, raw.envelope.provenance.warnings], [whole, [{ code: "text-repaired", path: "/raw_output" }]]);
  const mcp = manager.ingestMcpResult({
    tool_call_id: "m",
    tool_name: "t",
    result: { content: [{ type: "text", text: half }], structuredContent: { mean: NaN } },
  });
  assert.deepEqual([mcp.item.text.split("\n")[0], mcp.envelope.provenance.warnings.map(({ code }) => code)], [whole, ["text-repaired", "value-repaired"]]);
  const apart = cw.mcpResultToEnvelope({ content: [{ type: "text", text: half }] }, "t");
  assert.deepEqual([apart.full_text, apart.warnings[0].code, apart.warnings[0].path], [whole, "text-repaired", "/result/content/0/text"]);
  manager.free();
});

test("a client that is firewalled answers whatever the server and the model send", async () => {
  for (const [name, make] of SENT) {
    const manager = new cw.ContextManager();
    const client = {
      callTool: async () => ({ content: [{ type: "text", text: "cut \ud83d" }], structuredContent: { value: make() } }),
      listTools: async () => ({ tools: [] }),
    };
    const answer = await cw.firewalled(client, manager).callTool({ name: "t", arguments: { q: make(), text: "cut \ud83d" } });
    assert.equal(answer.content[0].text, "cut \ufffd", name);
    assert.equal(manager.events.count(), 2, name);
    manager.free();
  }
});

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const said = (...content) => ({ content, finishReason: { unified: content[0].type === "tool-call" ? "tool-calls" : "stop" }, usage: USAGE, warnings: [] });
const modelOf = (Model) => {
  const prompts = [];
  const doGenerate = async ({ prompt }) =>
    prompts.push(prompt) === 1 ? said({ type: "tool-call", toolCallId: "c1", toolName: "f", input: "{}" }) : said({ type: "text", text: "done" });
  return Object.assign(new Model({ doGenerate }), { prompts });
};
const outputOf = ({ prompts }) => prompts[1].at(-1).content[0].output.value;

for (const [version, sdk, Model, stop] of [
  [6, ai6, MockLanguageModelV3, ai6.stepCountIs],
  [7, ai7, MockLanguageModelV4, ai7.isStepCount],
]) {
  for (const how of ["prepareStep", "middleware"]) {
    test(`AI SDK ${version}, ${how}: no value of a tool ends the loop that does not end it alone`, async () => {
      const run = async (make, context) => {
        const model = modelOf(Model);
        const tools = { f: sdk.tool({ description: "f", inputSchema: z.object({}), execute: async () => make() }) };
        const weaver = context && cw.ai_sdk(how === "prepareStep" ? { tools, budget_tokens: 8_000 } : { budget_tokens: 8_000 });
        const given = !weaver
          ? { model, tools }
          : how === "prepareStep"
            ? { model, tools: weaver.tools, prepareStep: weaver.prepareStep }
            : { model: sdk.wrapLanguageModel({ model, middleware: weaver }), tools };
        const { text } = await sdk.generateText({ ...given, stopWhen: stop(3), prompt: "x", maxRetries: 0 });
        weaver?.free();
        return { text, model };
      };
      for (const [name, make] of [...SENT, CUT[0]]) {
        const alone = await run(make, false).catch(() => undefined);
        if (!alone) continue;
        const { text, model } = await run(make, true);
        assert.equal(text, "done", name);
        assert.notEqual(outputOf(model), undefined, name);
      }
    });
  }
}

test("Mastra: no value of a tool ends the loop that does not end it alone", async () => {
  const run = async (make, weaver) => {
    const model = modelOf(MockLanguageModelV3);
    const tools = { f: createTool({ id: "f", description: "f", inputSchema: z.object({}), execute: async () => make() }) };
    const agent = new Agent({ id: "a", name: "a", instructions: "Be brief.", model, tools, ...(weaver && { inputProcessors: [weaver] }) });
    agent.__setLogger({
      debug() {},
      info() {},
      warn() {},
      error() {},
      trackException() {},
      child() {
        return this;
      },
    });
    const answer = await agent.generate("x", { maxSteps: 3 });
    weaver?.free();
    if (answer.error) throw answer.error;
    return answer.text;
  };
  for (const [name, make] of SENT) {
    const alone = await run(make).catch(() => undefined);
    if (alone === "done") assert.equal(await run(make, cw.mastra({ budget_tokens: 8_000 })), "done", name);
  }
});

const HALF = "cut \ud83d";
const CALL = { id: "c1", name: "f", input: { q: HALF } };
const TEXTS = {
  anthropic: async (weaver) =>
    weaver({ budget_tokens: 8_000, tools: [] }).fit({
      model: "m",
      max_tokens: 10,
      messages: [
        { role: "user", content: HALF },
        { role: "assistant", content: [{ type: "tool_use", ...CALL }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: HALF }] },
      ],
    }),
  openai: async (weaver) =>
    weaver({ budget_tokens: 8_000, tools: [] }).fit({
      model: "m",
      messages: [
        { role: "user", content: HALF },
        { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: JSON.stringify(CALL.input) } }] },
        { role: "tool", tool_call_id: "c1", content: HALF },
      ],
    }),
  "openai-agents": async (weaver) => {
    const made = weaver({ budget_tokens: 8_000 });
    let sent;
    const input = [
      { type: "message", role: "user", content: HALF },
      { type: "function_call", callId: "c1", name: "f", arguments: "{}", status: "completed" },
      { type: "function_call_result", callId: "c1", name: "f", status: "completed", output: { type: "text", text: HALF } },
    ];
    await made
      .serve({ getResponse: async (request) => ((sent = request), {}), getStreamedResponse() {} })
      .getResponse({ input, tools: made.tools([]), handoffs: [], modelSettings: {} });
    return sent.input;
  },
  langchain: async (weaver) => {
    const odd = { cycle: undefined, n: 1n };
    odd.cycle = odd;
    const messages = [
      new HumanMessage(HALF),
      new AIMessage({ content: "", tool_calls: [{ ...CALL, args: CALL.input, type: "tool_call" }] }),
      new ToolMessage({ tool_call_id: "c1", name: "f", content: HALF }),
      new HumanMessage({
        content: [
          { type: "custom", odd },
          { type: "text", text: HALF },
        ],
      }),
    ];
    let sent;
    await weaver({ budget_tokens: 8_000 }).wrapModelCall(
      { messages, systemMessage: new SystemMessage(""), tools: [], state: { messages }, runtime: {} },
      (request) => (sent = request),
    );
    return sent.messages.map(({ content }) => content);
  },
};
for (const [name, run] of Object.entries(TEXTS)) {
  test(`${name}: half of a character ends no conversation`, async () => {
    const sent = JSON.stringify(await run(cw[name.replace("-", "_")]));
    assert.ok(sent.includes("cut \ufffd"), sent);
    assert.doesNotMatch(sent.replace(/\\\\ud83d/g, ""), /\\ud83d/);
  });
}

// A server that writes lines of JSON as they are, and tells what it was sent as a text.
const SERVER = `
const results = { rawid: '{"content":[{"type":"text","text":"id 725653563933458433"}],"structuredContent":{"id":725653563933458433,"least":-9223372036854775808,"most":18446744073709551615,"n":1.5}}' };
const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807},"text":{"type":"string"}}}';
export const answer = (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return undefined;
  const raw = JSON.stringify(id);
  if (method === "initialize") return '{"jsonrpc":"2.0","id":' + raw + ',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';
  if (method === "tools/list") return '{"jsonrpc":"2.0","id":' + raw + ',"result":{"tools":[' + ["rawid", "seen"].map((name) => '{"name":"' + name + '","description":"cut \\\\ud83d","inputSchema":' + schema + "}").join() + "]}}";
  if (method !== "tools/call") return '{"jsonrpc":"2.0","id":' + raw + ',"error":{"code":-32601,"message":"no"}}';
  const result = results[params.name] ?? '{"content":[{"type":"text","text":' + JSON.stringify("seen " + line) + "}]}";
  return '{"jsonrpc":"2.0","id":' + raw + ',"result":' + result + "}";
};
`;
const STDIO = `import { createInterface } from "node:readline"; import { answer } from "./server.mjs";
createInterface({ input: process.stdin }).on("line", (line) => { const said = answer(line); if (said) process.stdout.write(said + "\\n"); });`;

/** The lines that a client sends to the gateway, and what comes back, as text. */
const REQUESTS = [
  '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}',
  '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"rawid","arguments":{}}}',
  '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"seen","arguments":{"id":725653563933458433,"text":"half \\ud83d of it","same":"725653563933458433"}}}',
];
const HELLO =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';
function holdsNumbers(answers) {
  const [listed, raw, seen] = [2, 3, 4].map(
    (id) => answers.find((line) => new RegExp(`"id":${id}\\b`).test(line)) ?? assert.fail(`no answer to ${id}: ${answers}`),
  );
  assert.match(listed, /"maximum":9223372036854775807/);
  assert.ok(listed.includes("cut \ufffd") || listed.includes("cut \\ufffd"), listed);
  assert.match(raw, /"id":725653563933458433,"least":-9223372036854775808,"most":18446744073709551615,"n":1.5/);
  assert.match(seen, /\\"id\\":725653563933458433,/);
  assert.ok(seen.includes("half \ufffd of it") || seen.includes("half \\ufffd of it"), seen);
  assert.match(seen, /\\"same\\":\\"725653563933458433\\"/);
  for (const line of answers) assert.doesNotMatch(line, /\\ud83d|\\ud800/);
}

async function servers(t) {
  const place = await temporaryFolder("sent");
  t.after(() => rm(place, { recursive: true, force: true }));
  await writeFile(join(place, "server.mjs"), SERVER);
  await writeFile(join(place, "stdio.mjs"), STDIO);
  const { answer } = await import(pathToFileURL(join(place, "server.mjs")));
  const http = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      const said = request.method === "POST" ? answer(body) : undefined;
      // Answers are streams of events and plain JSON in turn.
      const isStream = said !== undefined && body.includes("tools/call");
      response.writeHead(said ? 200 : request.method === "POST" ? 202 : 405, { "content-type": isStream ? "text/event-stream" : "application/json" });
      response.end(said && (isStream ? `id: 725653563933458433\ndata: ${said}\n\n` : said));
    });
  });
  await new Promise((done) => http.listen(0, "127.0.0.1", done));
  t.after(() => (http.closeAllConnections(), http.close()));
  return { stdio: { command: process.execPath, args: [join(place, "stdio.mjs")] }, http: { url: `http://127.0.0.1:${http.address().port}/mcp` }, place };
}

const BIN = join(packageDir, "bin", "contextweaver.js");
for (const kind of ["stdio", "http"]) {
  test(`gateway before a server over ${kind}: numbers and texts pass as they are, by standard input and by HTTP`, { timeout: 120_000 }, async (t) => {
    const made = await servers(t);
    const config = join(made.place, "config.json");
    await writeFile(config, JSON.stringify({ mcpServers: { s: made[kind] } }));
    const child = spawn(process.execPath, [BIN, "gateway", "--config", config], { stdio: ["pipe", "pipe", "ignore"] });
    t.after(() => child.kill());
    let out = "";
    const answered = new Promise((done) =>
      child.stdout.on("data", (data) => ((out += data), [2, 3, 4].every((id) => new RegExp(`"id":${id}\\b`).test(out)) && done())),
    );
    child.stdin.write(`${HELLO}\n`);
    await new Promise((done) => child.stdout.once("data", done));
    child.stdin.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}\n${REQUESTS.join("\n")}\n`);
    await answered;
    holdsNumbers(out.split("\n"));

    const served = spawn(process.execPath, [BIN, "gateway", "--config", config, "--http", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
    t.after(() => served.kill());
    const address = await new Promise((done) =>
      served.stdout.on("data", (data) => /listening on (\S+)/.test(data) && done(/listening on (\S+)/.exec(data)[1])),
    );
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const post = (body, more) => fetch(address, { method: "POST", headers: { ...headers, ...more }, body });
    const begun = await post(HELLO);
    await begun.text();
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-06-18" };
    await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', session);
    const answers = [];
    for (const request of REQUESTS) answers.push(await (await post(request, session)).text());
    holdsNumbers(answers.flatMap((text) => text.split("\n")));
  });
}
