// The proxy as a Worker, in miniflare: an object for each conversation, made from an empty folder with what docs/proxy-cloudflare.md
// shows, before a scripted provider that listens.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { RUN_INSTRUCTIONS, RUN_STEPS, RUN_TOOLS, TASK, longRun, partOf, textsOf } from "./agent-session.mjs";
import { has, here, project, root } from "./harness.mjs";
import { agentOf } from "./proxy-agents.mjs";
import { listening } from "./proxy-listening.mjs";
import { Agent } from "./proxy-reader.mjs";
import { configOf, deployed } from "./worker-deployed.mjs";

const installed = existsSync(join(here, "node_modules", "workerd"));
const missing = "workerd is not installed for this platform";
const TOKEN = "a-token-of-the-proxy-in-tests";
const TOKEN_HEADER = "x-contextweaver-token";
const tools = RUN_TOOLS.map((tool) => ({ ...tool, run: ({ part }) => partOf(part) }));
const listOf = (body) => body.messages ?? body.input ?? body.contents;

/** The files that the document shows, which are those of the example. */
async function shownFiles() {
  const text = await readFile(join(root, "docs", "proxy-cloudflare.md"), "utf8");
  const files = {};
  for (const name of ["worker.ts", "wrangler.jsonc"]) {
    files[name] = new RegExp(`\`\`\`[^\\n]*\\n// ${name.replace(".", "\\.")}\\n([^]*?)\`\`\``).exec(text)?.[1] ?? assert.fail(`the document shows no ${name}`);
    assert.equal(
      (await readFile(join(root, "examples", "worker-proxy", name), "utf8")).replace(/^\/\/.*\n/, ""),
      files[name],
      `examples/worker-proxy/${name} is another`,
    );
  }
  return files;
}

/** The Worker before a provider, and requests to it. */
async function started(t, next, extra, { budget = 16_000 } = {}) {
  const files = await shownFiles();
  const folder = await project("proxy-worker", files);
  const { main, options } = configOf(files["wrangler.jsonc"]);
  const provider = await listening(t, next, extra);
  const { address } = provider;
  const bindings = {
    ...options.bindings,
    CONTEXTWEAVER_TOKEN: TOKEN,
    BUDGET_TOKENS: budget,
    UPSTREAMS: { openai: address, anthropic: address, gemini: address },
  };
  let logs = "";
  const handleRuntimeStdio = (...streams) => streams.forEach((stream) => stream.on("data", (part) => (logs += part)));
  const worker = await deployed(t, join(folder, main), { ...options, bindings, handleRuntimeStdio });
  const statuses = [];
  const ask = async (url, { method = "POST", headers = {}, body, signal } = {}) => {
    const response = await worker.ask(new URL(url, "http://proxy.test").pathname + new URL(url, "http://proxy.test").search, {
      method,
      body,
      signal,
      headers: { [TOKEN_HEADER]: TOKEN, ...headers },
    });
    statuses.push(response.headers.get("x-contextweaver"));
    return response;
  };
  /** As the SDKs call it. */
  const fetch = async (request) =>
    ask(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(request.method === "POST" && { body: await request.text() }),
      signal: request.signal,
    });
  return { ...provider, worker, ask, fetch, statuses, logs: () => logs };
}

test("a Worker of conversations: a whole session by stream, with tools, reads inside, a client that goes, and objects that end at any time", async (t) => {
  if (!has(t, installed, { missing })) return;
  const script = longRun();
  let reads = 0;
  let asked = 0;
  const gone = new AbortController();
  const model = (body) => {
    const last = JSON.stringify(listOf(body).at(-1));
    const [, handle] = /drilldown (artifact:result:\w+) /.exec(textsOf(listOf(body)).join("\n")) ?? [];
    if (handle && !/"look\d+"/.test(last) && (asked += 1) % 9 === 0)
      return {
        text: "Look:",
        calls: [
          {
            id: `look${(reads += 1)}`,
            name: reads % 2 === 0 ? "recall" : "drilldown",
            input: reads % 2 === 0 ? { query: "settle_3_7" } : { handle, selector: { type: "lines", start: 2, end: 4 } },
          },
        ],
      };
    return script();
  };
  // One answer that never ends, whose reader goes.
  let isEnded = false;
  let isStalled = false;
  const extra = (incoming) => {
    if (!isStalled) return undefined;
    isStalled = false;
    incoming.socket.on("close", () => (isEnded = true));
    let isTold = false;
    return new Response(
      new ReadableStream({
        pull: (controller) =>
          isTold ? new Promise(() => undefined) : ((isTold = true), controller.enqueue(Buffer.from(`event: ping\ndata: {"type":"ping"}\n\n`))),
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  };
  const { sent, worker, fetch, statuses } = await started(t, model, extra);
  let calls = 0;
  const torn = async (request) => {
    calls += 1;
    // The object is gone between two requests, with all that is in memory.
    if (calls % 7 === 0) await worker.restart();
    if (calls !== 24) return fetch(request);
    isStalled = true;
    const text = await request.clone().text();
    const response = await fetch(new Request(request.url, { method: "POST", headers: request.headers, body: text, signal: gone.signal }));
    const reader = response.body.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /ping/);
    gone.abort();
    await reader.cancel().catch(() => undefined);
    // The SDK tries again, with what it has.
    return fetch(new Request(request.url, { method: "POST", headers: request.headers, body: text }));
  };
  const agent = agentOf("messages", true, { fetch: torn, tools, instructions: RUN_INSTRUCTIONS });
  assert.match(await agent.ask(TASK), /settle_31_7/);
  assert.ok(reads >= 2, `${reads} reads`);
  assert.equal(sent.length, RUN_STEPS + reads);
  while (!isEnded) await new Promise((done) => setTimeout(done, 20));
  assert.ok(!JSON.stringify(agent.history).includes('"look'));
  // Every prompt goes on with the one before, but for cuts: nothing was forgotten with an object.
  const bare = (message) => JSON.stringify(message, (key, value) => (key === "cache_control" ? undefined : value));
  const lists = sent.map(({ body }) => body.messages.map(bare));
  const rewritten = lists.filter((list, at) => at > 0 && !lists[at - 1].every((message, place) => message === list[place]));
  assert.equal(rewritten.length, statuses.filter((status) => /cut=/.test(status)).length, `${statuses}`);
  assert.ok(
    statuses.every((status) => /^(?:whole|shortened)/.test(status)),
    `${statuses}`,
  );
  for (let read = 1; read <= reads; read += 1)
    assert.ok(
      sent.some(({ text }, at) => at > 0 && text.includes(`"tool_use_id":"look${read}"`)),
      `look${read} was not answered`,
    );
});

test("a Worker of conversations: two keys that begin alike share nothing, and without the token nobody asks", async (t) => {
  if (!has(t, installed, { missing })) return;
  const model = (body) => {
    const handle = /drilldown (artifact:result:\w+) /.exec(JSON.stringify(body.messages))?.[1];
    const theirs = JSON.stringify(body.messages).includes("ours 1") ? "artifact:result:theirs_1" : "artifact:result:ours_1";
    return handle && !JSON.stringify(body.messages.at(-1)).includes('"peek')
      ? {
          calls: [
            { id: "peek1", name: "drilldown", input: { handle: theirs } },
            { id: "peek2", name: "recall", input: { query: "ours theirs harbour" } },
          ],
        }
      : { text: "Go on." };
  };
  const { sent, ask, worker, statuses, logs } = await started(t, model, undefined, { budget: 4_000 });
  const by = (key) => async (body, headers) => {
    const response = await ask("/v1/messages", {
      headers: { "x-api-key": key, "content-type": "application/json", "x-contextweaver-session": "s", ...headers },
      body: JSON.stringify({ model: "m", max_tokens: 9, ...body }),
    });
    return { status: response.headers.get("x-contextweaver"), answer: await response.json() };
  };
  const agents = [
    ["ours", "sk-one"],
    ["theirs", "sk-two"],
  ].map(([name, key]) => new Agent(name, by(key), { task: "Read all of it." }));
  for (let step = 0; step < 14; step += 1) {
    for (const agent of agents) await agent.step();
    if (step === 9) await worker.restart();
  }
  assert.ok(statuses.filter((status) => status.startsWith("shortened")).length > 6, `${statuses}`);
  assert.ok(
    sent.some(({ text }) => text.includes('"peek1"') && text.includes("ARTIFACT_NOT_FOUND")),
    "nobody peeked",
  );
  for (const { text, headers } of sent) {
    assert.ok(!(text.includes("ours 1.") && text.includes("theirs 1.")), "crossed");
    const [own, other] = headers["x-api-key"] === "sk-one" ? ["ours", "theirs"] : ["theirs", "ours"];
    // As ids of calls; a handle that is asked for has more before it.
    assert.ok(!text.includes(`"${other}_`), headers["x-api-key"]);
    assert.ok(sent.some((one) => one.text.includes(`"${own}_1"`)));
    assert.ok(!(TOKEN_HEADER in headers) && !("x-contextweaver-session" in headers));
  }
  // No object is made for who may not ask, nor for what is no call of a model.
  const { length } = sent;
  for (const headers of [{ [TOKEN_HEADER]: "wrong" }, { [TOKEN_HEADER]: "" }, { origin: "https://evil.example" }]) {
    for (const path of ["/v1/messages", "/stats", "/v1/models"]) {
      const refused = await ask(path, { headers, body: "{}" });
      assert.ok([401, 403].includes(refused.status), `${refused.status}`);
      await refused.text();
    }
  }
  assert.equal(sent.length, length);
  const objects = async () => (await worker.objects()).length;
  assert.equal(await objects(), 2);
  const passed = await ask("/v1/models", { method: "GET" });
  assert.deepEqual([passed.status, passed.headers.get("x-contextweaver")], [200, "passed"]);
  await passed.text();
  const unread = await ask("/v1/messages", { body: `{"messages":1}` });
  assert.equal(unread.headers.get("x-contextweaver"), "bypassed; reason=unread");
  await unread.text();
  const { forwarded, passed: count, bypassed, conversations } = await (await ask("/stats", { method: "GET" })).json();
  assert.ok(forwarded >= 4 && count === 1 && bypassed.unread === 1 && conversations === 0, `${forwarded}`);
  assert.equal(await objects(), 2);
  // What is logged names no key and quotes nothing.
  assert.match(logs(), /sent: 'shortened'/);
  for (const secret of ["sk-one", "sk-two", TOKEN, "harbour", "Read all"]) assert.ok(!logs().includes(secret), secret);
  // The page of a browser asks first, without the token; it is told nothing.
  const preflight = await ask("/v1/messages", { method: "OPTIONS", headers: { origin: "https://evil.example", "access-control-request-method": "POST" } });
  assert.equal(preflight.status, 403);
});
