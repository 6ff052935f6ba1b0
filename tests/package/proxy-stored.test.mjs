// Conversations of the proxy that outlive the process: in a store, by several proxies at once, and what of it nobody else reads.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { RUN_INSTRUCTIONS, RUN_STEPS, RUN_TOOLS, TASK, longRun, partOf, textsOf } from "./agent-session.mjs";
import { project, temporaryFolder } from "./harness.mjs";
import { WAYS, agentOf } from "./proxy-agents.mjs";
import { scriptedProvider } from "./proxy-provider.mjs";
import { Agent } from "./proxy-reader.mjs";

const entry = `export * from "contextweaver/proxy"; export * from "contextweaver/storage"; export { fileStore } from "contextweaver/node";`;
const folder = await project("proxy-stored", { "entry.mjs": entry });
const { fileStore, memoryStore, proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const BUDGET = 16_000;
const tools = RUN_TOOLS.map((tool) => ({ ...tool, run: ({ part }) => partOf(part) }));
const listOf = (body) => body.messages ?? body.input ?? body.contents;
const statusOf = (response) => response.headers.get("x-contextweaver");

/** A model that reads what left, now and then, beside its script. */
function reading(script, every = 9) {
  let asked = 0;
  let reads = 0;
  return (body) => {
    const last = JSON.stringify(listOf(body).at(-1));
    const [, handle] = /drilldown (artifact:result:\w+) /.exec(textsOf(listOf(body)).join("\n")) ?? [];
    const isAnswered = /"look\d+"|"functionResponse":\{"name":"drilldown"/.test(last);
    if (handle && !isAnswered && (asked += 1) % every === 0)
      return { text: "Look:", calls: [{ id: `look${(reads += 1)}`, name: "drilldown", input: { handle, selector: { type: "lines", start: 2, end: 4 } } }] };
    return script();
  };
}

/** A session of an agent: what the provider is sent, with a proxy made anew where `isEvicted` says so. */
async function played(api, isStream, { store, isEvicted = () => false } = {}) {
  const { sent, answer } = scriptedProvider(reading(longRun()));
  const errors = [];
  const make = () => proxy({ budget_tokens: BUDGET, token: false, fetch: answer, ...(store && { store }), on_error: (error) => errors.push(error) });
  let handler = make();
  let asked = 0;
  const statuses = [];
  const fetch = async (request) => {
    if (isEvicted((asked += 1))) {
      handler.free();
      handler = make();
    }
    const response = await handler(request);
    statuses.push(statusOf(response));
    return response;
  };
  const agent = agentOf(api, isStream, { fetch, tools, instructions: RUN_INSTRUCTIONS });
  assert.match(await agent.ask(TASK), /settle_31_7/);
  const stats = handler.stats();
  handler.free();
  assert.deepEqual(errors, []);
  return { sent, statuses, stats, agent };
}

for (const [api, isStream] of WAYS.filter(([name, isStreamed]) => isStreamed || name === "messages")) {
  test(`Proxy, stored, ${api}${isStream ? ", stream" : ""}: whatever ends between two requests, the provider is sent the same bytes`, async () => {
    const whole = await played(api, isStream);
    assert.ok(
      whole.statuses.some((status) => /cut=/.test(status)),
      "nothing was cut",
    );
    const store = memoryStore();
    const torn = await played(api, isStream, { store, isEvicted: (asked) => asked % 2 === 0 });
    assert.deepEqual(torn.statuses, whole.statuses);
    for (const [at, { text }] of whole.sent.entries()) assert.equal(torn.sent[at].text === text, true, `request ${at} of ${whole.sent.length}`);
    assert.equal(torn.sent.length, whole.sent.length);
    assert.ok(whole.sent.length > RUN_STEPS, "nothing was read");
    // The last proxy has counted its own requests alone.
    assert.ok(torn.stats.costs.steps <= 4, `${torn.stats.costs.steps} steps`);
    assert.ok((await store.sessions()).every(({ id }) => id.startsWith("proxy/")));
  });
}

/** Proxies that share a store, before one provider: `ask(body, headers, which)`. */
function sharing(store, count, says = () => undefined, options = {}) {
  const provider = scriptedProvider((body) => says(body) ?? { text: "Go on." });
  const errors = [];
  const make = () =>
    proxy({ budget_tokens: 4_000, token: false, fetch: provider.answer, on_error: (error) => errors.push(error), ...(store && { store }), ...options });
  const handlers = Array.from({ length: count }, make);
  const ask = async (body, headers = {}, which = 0) => {
    const given = JSON.stringify({ model: "m", max_tokens: 9, tools: [{ name: "read", description: "", input_schema: { type: "object" } }], ...body });
    const response = await handlers[which](
      new Request("http://127.0.0.1:8323/v1/messages", { method: "POST", headers: { "x-api-key": "key-a", ...headers }, body: given }),
    );
    const text = await response.text();
    return { given, status: statusOf(response), text, answer: JSON.parse(text) };
  };
  const restart = (which = 0) => {
    handlers[which].free();
    handlers[which] = make();
  };
  return { ...provider, handlers, ask, errors, restart, free: () => handlers.forEach((one) => one.free()) };
}

/** A model that reads what left, once in a while, and what its calls really cost. */
const looking = (every, cost) => {
  let asked = 0;
  return (body) => {
    const last = JSON.stringify(body.messages.at(-1));
    const [, handle] = /drilldown (artifact:result:\w+) /.exec(textsOf(body.messages).join("\n")) ?? [];
    const isLook = handle !== undefined && !last.includes('"look') && (asked += 1) % every === 0;
    const content = isLook ? [{ type: "tool_use", id: `look${asked}`, name: "drilldown", input: { handle } }] : [{ type: "text", text: "Go on." }];
    const usage = { input_tokens: Math.round(cost * JSON.stringify(body).length), output_tokens: 9 };
    return Response.json({
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: isLook ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage,
    });
  };
};

test("Proxy, stored: what calls really cost is known after a restart, too", async () => {
  const runs = [];
  for (const isTorn of [false, true]) {
    const shared = sharing(isTorn ? memoryStore() : undefined, 1, looking(4, 0.4));
    const agent = new Agent("agent", shared.ask);
    for (let step = 0; step < 14; step += 1) {
      await agent.step();
      if (isTorn) shared.restart();
    }
    runs.push(shared.sent.map(({ text }) => text));
    assert.deepEqual(shared.errors, []);
    shared.free();
  }
  assert.ok(
    runs[0].some((text) => text.includes('"look')),
    "nothing was read",
  );
  assert.deepEqual(runs[1], runs[0]);
});

test("Proxy, stored: two proxies on one store, in turn: the prompt of the one goes on with that of the other", async () => {
  const runs = [];
  for (const count of [1, 2]) {
    const shared = sharing(memoryStore(), count, looking(3, 0.3));
    const agent = new Agent("agent", (body, headers) => shared.ask(body, headers, agent.steps % count));
    for (let step = 0; step < 16; step += 1) await agent.step();
    runs.push(shared.sent.map(({ text }) => text));
    assert.deepEqual(shared.errors, []);
    shared.free();
  }
  assert.ok(runs[0].filter((text) => text.includes('"look')).length >= 3);
  assert.deepEqual(runs[1], runs[0]);
});

test("Proxy, stored: two proxies on one store at the same time, agents that begin alike: nothing lost, nothing crossed", async () => {
  const store = memoryStore();
  const shared = sharing(store, 2, looking(5, 0.3));
  const names = ["ash", "birch", "cedar", "damson"];
  const agents = names.map(
    (name, at) => new Agent(name, (body, headers) => shared.ask(body, headers, (agents[at].steps + at) % 2), { task: "Read all of it." }),
  );
  for (let step = 0; step < 12; step += 1) {
    const done = await Promise.all(agents.map((agent) => agent.step()));
    for (const { status } of done) assert.match(status, /^(?:whole|shortened)/);
  }
  assert.deepEqual(shared.errors, []);
  for (const { text } of shared.sent) {
    const said = names.filter((name) => text.includes(`${name} `) || text.includes(`"${name}_`));
    assert.ok(said.length <= 1, `${said} in one prompt`);
  }
  // Each has its newest result whole, and its beginning.
  for (const agent of agents) {
    const { text } = shared.sent.findLast(({ text: one }) => one.includes(`"${agent.name}_${agent.steps - 1}"`));
    assert.ok(text.includes(`${agent.name} ${agent.steps - 1}.59`));
  }
  shared.free();
});

test("Proxy, stored: the same request at two proxies at once, while the answer of one is under way", async () => {
  const shared = sharing(memoryStore(), 2, looking(4, 0.3));
  const agent = new Agent("agent", shared.ask);
  for (let step = 0; step < 8; step += 1) await agent.step();
  const body = { system: agent.system, messages: agent.messages };
  const both = await Promise.all([shared.ask(body, {}, 0), shared.ask(body, {}, 1)]);
  for (const { status, answer } of both) assert.ok(status.startsWith("shortened") && answer.type === "message", status);
  assert.deepEqual(shared.errors, []);
  agent.call = (one, headers) => shared.ask(one, headers, 1);
  assert.match((await agent.step()).status, /^shortened/);
  shared.free();
});

test("Proxy, stored: the files have no key and nothing by which another key finds them", async (t) => {
  const at = await temporaryFolder("proxy");
  const keys = { a: "sk-ant-api03-0123456789abcdefghij", b: "sk-ant-api03-jihgfedcba9876543210" };
  const shared = sharing(fileStore(at), 1, looking(3, 0.3));
  const session = { "x-contextweaver-session": "shared-by-both" };
  const agents = Object.entries(keys).map(
    ([name, key]) => new Agent(name.repeat(5), shared.ask, { task: "Read all of it.", headers: { "x-api-key": key, ...session } }),
  );
  for (let step = 0; step < 6; step += 1) {
    for (const agent of agents) await agent.step();
    shared.restart();
  }
  assert.deepEqual(shared.errors, []);
  for (const [one, other] of [
    ["aaaaa", "bbbbb"],
    ["bbbbb", "aaaaa"],
  ]) {
    const prompts = shared.sent.filter(({ text }) => text.includes(one));
    assert.ok(prompts.length >= 5 && prompts.every(({ text }) => !text.includes(other)));
  }
  const files = (await readdir(at, { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile())
    .map(({ parentPath, path, name }) => join(parentPath ?? path, name));
  const bytes = await Promise.all(files.map((file) => readFile(file, "latin1")));
  const all = [...files, ...bytes].join("\n");
  assert.ok(all.includes("aaaaa 1."), "what was said is stored");
  for (const secret of [keys.a, keys.b, keys.a.slice(13), "shared-by-both", Buffer.from(keys.a).toString("base64").slice(0, 30)])
    assert.ok(!all.includes(secret), secret);
  shared.free();
});

test("Proxy, stored: a store that fails holds up no request, and what it lost begins anew", async () => {
  const inner = memoryStore();
  let broken = "";
  const store = {
    ...inner,
    session: (id) => {
      const storage = inner.session(id);
      const fails =
        (method) =>
        (...args) =>
          broken === method ? Promise.reject(new Error("disk full")) : storage[method](...args);
      return { ...storage, load: fails("load"), append: fails("append"), putBlob: fails("putBlob") };
    },
    delete: (id) => inner.delete(id),
  };
  const shared = sharing(store, 1);
  const agent = new Agent("agent", shared.ask);
  for (const method of ["", "append", "", "putBlob", "load", ""]) {
    broken = method;
    const { length } = shared.errors;
    for (let step = 0; step < 2; step += 1) assert.match((await agent.step()).status, /^(?:whole|shortened|bypassed; reason=internal)/);
    if (method === "load") shared.restart();
    if (method === "load") assert.match((await agent.step()).status, /^bypassed; reason=internal/);
    if (method !== "load") assert.equal(shared.errors.length > length, method !== "");
  }
  assert.match((await agent.step()).status, /^shortened/);
  // All is removed behind its back, as by `prune`.
  for (const { id } of await inner.sessions()) await inner.delete(id);
  const { length } = shared.errors;
  assert.match((await agent.step()).status, /^shortened/);
  shared.restart();
  const back = await agent.step();
  assert.match(back.status, /^(?:whole|shortened)/);
  assert.equal(shared.errors.length, length);
  shared.free();
});

test("Proxy, stored: of conversations that begin alike those that were idle longest leave the store", async () => {
  const store = memoryStore();
  const shared = sharing(store, 1, undefined, { limits: { max_conversations: 3 } });
  for (const name of ["one", "two", "three", "four", "five"]) {
    const agent = new Agent(name, shared.ask, { task: "Read all of it.", system: `You are ${name}.` });
    for (let step = 0; step < 3; step += 1) await agent.step();
  }
  const ids = (await store.sessions()).map(({ id }) => id);
  assert.equal(ids.filter((id) => /^proxy\/[^/]+\/[^/]+$/.test(id)).length, 3);
  assert.equal(shared.handlers[0].stats().conversations, 3);
  assert.deepEqual(shared.errors, []);
  shared.free();
});

test("Proxy, forward: calls go by the name of their conversation, what is none passes, and one that nobody answers goes on as it came", async () => {
  const provider = scriptedProvider(() => ({ text: "Go on." }));
  const errors = [];
  const given = { budget_tokens: 4_000, token: "t0ken", fetch: provider.answer, on_error: (error) => errors.push(error) };
  const objects = new Map();
  let isDown = false;
  const front = proxy({
    ...given,
    forward: (name) => {
      if (isDown) throw new Error("no object");
      if (!objects.has(name)) objects.set(name, proxy({ ...given, store: memoryStore() }));
      return { fetch: objects.get(name) };
    },
  });
  const ask = (path, body, headers = {}) =>
    front(
      new Request(`https://proxy.example${path}`, {
        method: "POST",
        headers: { "x-contextweaver-token": "t0ken", "x-api-key": "key-a", ...headers },
        body: JSON.stringify(body),
      }),
    );
  const call = async (body, headers) => {
    const response = await ask("/v1/messages", { model: "m", max_tokens: 9, ...body }, headers);
    return { status: statusOf(response), text: await response.text() };
  };
  const agents = [
    ["one", {}],
    ["two", { "x-api-key": "key-b" }],
    ["three", { "x-contextweaver-session": "s3" }],
  ].map(([name, headers]) => new Agent(name, call, { task: "Read all of it.", headers }));
  for (let step = 0; step < 9; step += 1) for (const agent of agents) await agent.step();
  assert.equal(objects.size, 3);
  assert.ok([...objects.keys()].every((name) => /^[0-9a-f]{64}$/.test(name)));
  assert.ok([...objects.values()].every((object) => object.stats().shortened > 0));
  // The count of tokens is of the same conversation.
  const counted = await ask("/v1/messages/count_tokens", { model: "m", system: agents[0].system, messages: agents[0].messages });
  assert.equal(statusOf(counted), "shortened");
  await counted.text();
  assert.equal(objects.size, 3);
  assert.deepEqual([front.stats().forwarded, front.stats().conversations], [28, 0]);
  assert.equal(statusOf(await ask("/v1/embeddings", {})), "passed");
  assert.equal(statusOf(await ask("/v1/messages", { messages: 7 })), "bypassed; reason=unread");
  assert.equal((await front(new Request("https://proxy.example/v1/messages", { method: "POST", body: "{}" }))).status, 401);
  isDown = true;
  const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const passed = await ask("/v1/messages", JSON.parse(text));
  assert.equal(statusOf(passed), "bypassed; reason=internal");
  assert.equal(provider.sent.at(-1).text, text);
  assert.deepEqual(
    errors.map(({ message }) => message),
    ["no object"],
  );
  [front, ...objects.values()].forEach((one) => one.free());
});
