// `contextweaver audit`: what recorded sessions cost and would cost. The sessions in `fixtures/audit` were recorded by the agents
// themselves (Codex 0.171, Claude Code 2.1, Gemini CLI 0.61, OpenCode 1.18) against a provider that plays a script.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { project, root, run } from "./harness.mjs";
import * as written from "./audit-sessions.mjs";

const folder = await project("audit", { "entry.mjs": `export { countTokens } from "contextweaver"; export { contextWeaver } from "contextweaver/openai";` });
const { countTokens, contextWeaver } = await import(pathToFileURL(join(folder, "entry.mjs")));
await cp(join(root, "tests/package/fixtures/audit"), join(folder, "recorded"), { recursive: true });
await writeFile(join(folder, "long.jsonl"), gunzipSync(await readFile(join(folder, "recorded/rollout-codex-long.jsonl.gz"))));
const program = join(folder, "node_modules/contextweaver/bin/contextweaver.js");
const cli = (args, options = {}) => run("node", [program, "audit", ...args], { cwd: folder, check: false, ...options });

/** The report of files, as JSON. */
async function report(args, options) {
  const { code, stdout, stderr } = await cli([...args, "--json"], options);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

let made = 0;
/** Writes a file and returns its name. */
async function file(text, name = `made-${(made += 1)}.jsonl`) {
  await mkdir(join(folder, name, ".."), { recursive: true });
  await writeFile(join(folder, name), text);
  return name;
}

const lines = (values) => `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;
const sum = (list) => list.reduce((total, value) => total + value, 0);
const near = (actual, expected, what, within = 0.005) =>
  assert.ok(Math.abs(actual - expected) <= within * Math.max(1, Math.abs(expected)), `${what}: ${actual}, expected ${expected}`);

/** Answers of a recorded file by their ids, as [prompt, cached, written, output]: read with regular expressions, not with the readers. */
async function usages(name, pattern, toUsage) {
  const text = await readFile(join(folder, "recorded", name), "utf8");
  return [...new Map([...text.matchAll(pattern)].map((found) => [found[1], toUsage(found.slice(2).map(Number))])).values()];
}

const RECORDED = {
  "rollout-codex.jsonl": {
    pattern: /"response_id":"(\w+)","usage":\{"input_tokens":(\d+),"cached_input_tokens":(\d+),"cache_write_input_tokens":\d+,"output_tokens":(\d+)/g,
    toUsage: ([input, cached, output]) => [input, cached, 0, output],
    prices: { input: 1.25, cached: 0.125, written: 1.25, output: 10 },
    agent: "codex",
    conversations: 1,
    compactions: 1,
    results: 4,
    task: "Read the modules and say what they share.",
  },
  "claude-code.jsonl": {
    pattern: /"message":\{"id":"(msg_\w+)".*?"input_tokens":(\d+),"cache_creation_input_tokens":(\d+),"cache_read_input_tokens":(\d+),"output_tokens":(\d+)/g,
    toUsage: ([rest, made, cached, output]) => [rest + made + cached, cached, made, output],
    prices: { input: 3, cached: 0.3, written: 3.75, output: 15 },
    agent: "claude-code",
    conversations: 1,
    compactions: 1,
    results: 6,
    task: "Read the modules and say what they share.",
  },
  "claude-code-subagent.jsonl": {
    pattern: /"message":\{"id":"(msg_\w+)".*?"input_tokens":(\d+),"cache_creation_input_tokens":(\d+),"cache_read_input_tokens":(\d+),"output_tokens":(\d+)/g,
    toUsage: ([rest, made, cached, output]) => [rest + made + cached, cached, made, output],
    prices: { input: 3, cached: 0.3, written: 3.75, output: 15 },
    agent: "claude-code",
    conversations: 1,
    compactions: 0,
    results: 1,
    task: "Say what module-3.js has.",
  },
  "gemini-cli.jsonl": {
    pattern: /"id":"([\w-]+)","timestamp":"[^"]+","type":"gemini".*?"input":(\d+),"output":(\d+),"cached":(\d+)/g,
    toUsage: ([input, output, cached]) => [input, cached, 0, output],
    prices: { input: 0.3, cached: 0.03, written: 0.3, output: 2.5 },
    agent: "gemini-cli",
    conversations: 1,
    compactions: 0,
    results: 4,
    task: "Read the modules and say what they share.",
  },
  "opencode.json": {
    pattern: /"finish": "[\w-]+",\s+"id": "(msg_\w+)"/g,
    toUsage: () => undefined,
    prices: { input: 1.25, cached: 0.125, written: 1.25, output: 10 },
    agent: "opencode",
    conversations: 1,
    compactions: 0,
    results: 4,
    task: '"Read the modules and say what they share."',
  },
};

for (const [name, { pattern, toUsage, prices, agent, conversations, compactions, results, task }] of Object.entries(RECORDED)) {
  test(`a recorded session: ${name}`, async () => {
    let counted = await usages(name, pattern, toUsage);
    if (name === "opencode.json") {
      const { messages } = JSON.parse(await readFile(join(folder, "recorded", name), "utf8"));
      counted = messages
        .filter(({ info }) => info.role === "assistant")
        .map(({ info: { tokens } }) => [tokens.input + tokens.cache.read + tokens.cache.write, tokens.cache.read, tokens.cache.write, tokens.output]);
    }
    const { total, sessions, problems } = await report([`recorded/${name}`, "--budgets", "none"]);
    assert.deepEqual(problems, []);
    assert.equal(total.calls, counted.length);
    assert.deepEqual([total.conversations, total.compactions, total.results.count, total.counted_calls], [conversations, compactions, results, counted.length]);
    assert.deepEqual(
      [total.tokens, total.repeated_tokens, total.output_tokens],
      [0, 1, 3].map((at) => sum(counted.map((one) => one[at]))),
    );
    assert.equal(total.new_tokens + total.repeated_tokens + total.rewritten_tokens, total.tokens);
    near(
      total.usd,
      sum(
        counted.map(
          ([input, cached, made, output]) => (input - cached - made) * prices.input + cached * prices.cached + made * prices.written + output * prices.output,
        ),
      ) / 1e6,
      "money",
      1e-3,
    );
    assert.deepEqual(
      sessions.map((one) => [one.agent, one.task]),
      [[agent, task]],
    );
    assert.equal(sessions[0].parent !== undefined, name.includes("subagent"));
  });
}

test("one conversation in every format is the same calls, results and money", async () => {
  const expectedCalls = written.STEPS.length + 1;
  for (const [name, text] of Object.entries(written.inEveryFormat())) {
    const isFolder = typeof text !== "string";
    for (const [path, part] of Object.entries(isFolder ? text : {})) await file(part, `${name}/${path}`);
    const path = isFolder ? name : await file(text, `formats/${name}`);
    const { total, sessions, results, problems } = await report([path, "--budgets", "none"]);
    assert.deepEqual(
      problems.filter((problem) => !problem.file.endsWith("base_state.json")),
      [],
      name,
    );
    assert.equal(sessions[0].agent, written.AGENT_OF[name], name);
    assert.equal(total.calls, expectedCalls, name);
    assert.equal(total.results.count, written.STEPS.length, name);
    assert.deepEqual([total.tokens, total.repeated_tokens, total.output_tokens], written.SUMS, name);
    // The second result is copied from in the third step, and the first one is read again.
    const used = results.filter((one) => one.used_lines > 0);
    assert.equal(used.length, 1, name);
    assert.equal(total.results.repeats, 1, name);
    near(total.usd, written.USD, name, 1e-3);
    assert.ok(total.forecast, name);
  }
});

test("chat messages and sessions of contextweaver: a call for each answer", async () => {
  const chat = written.STEPS.flatMap(({ name, args, result }, n) => [
    { role: "assistant", content: null, tool_calls: [{ id: `c${n}`, type: "function", function: { name, arguments: JSON.stringify(args) } }] },
    { role: "tool", tool_call_id: `c${n}`, content: result },
  ]);
  const messages = [{ role: "user", content: "Which order is held?" }, ...chat, { role: "assistant", content: "It is done." }];
  const anthropic = [
    { role: "user", content: "Which order is held?" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "held" }] },
    { role: "assistant", content: "It is held." },
  ];
  for (const [text, calls, results] of [
    [lines(messages), 5, 4],
    [JSON.stringify(messages), 5, 4],
    [JSON.stringify({ messages }, null, 2), 5, 4],
    [JSON.stringify({ system: "Be brief.", messages: anthropic }), 2, 1],
  ]) {
    const { total, sessions, problems } = await report([await file(text), "--budgets", "none"]);
    assert.deepEqual([problems, sessions[0].agent, total.calls, total.results.count, total.unpriced_calls], [[], "chat-messages", calls, results, calls]);
  }
  const { total, sessions, problems } = await report([join(root, "examples/sessions/shop.jsonl"), "--budgets", "8000"]);
  const own = (await readFile(join(root, "examples/sessions/shop.jsonl"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  // A call whose result is withheld has one that says that there is none.
  assert.deepEqual([sessions[0].agent, total.calls, total.results.count], ["contextweaver", 44, own.filter(({ kind }) => kind === "tool_result").length]);
  assert.match(problems[0].reason, /confidential or restricted/);
  const [ours] = total.strategies;
  assert.ok(ours.cuts > 2 && ours.share < 0.6, JSON.stringify(ours));
  // What has roles and kinds of another meaning is nobody's.
  const { total: none } = JSON.parse((await cli([await file('{"role":"admin","name":"x"}\n'), "--json"])).stdout);
  assert.equal(none.calls, 0);
});

test("forms of other versions, and what happens in sessions", async () => {
  for (const [name, { text, calls, results, tokens, output, edits = 0, compactions = 0, parent }] of Object.entries(written.otherForms())) {
    const path = await file(Array.isArray(text) ? lines(text) : JSON.stringify(text, null, 2), `forms/${name}`);
    const { total, sessions, problems } = await report([path, "--budgets", "none"]);
    assert.deepEqual(problems, [], name);
    assert.deepEqual([total.calls, total.results.count, total.edits, total.compactions], [calls, results, edits, compactions], name);
    if (tokens === undefined) assert.equal(total.counted_calls, 0, name);
    else assert.equal(total.tokens, tokens, name);
    if (output !== undefined) assert.equal(total.output_tokens, output, name);
    assert.equal(sessions[0].parent, parent, name);
  }
});

test("calls that lost the cache, and by what", async () => {
  const { log, broken } = written.brokenLog();
  const { total, breaks } = await report([await file(lines(log)), "--budgets", "none"]);
  assert.deepEqual(
    breaks.map(({ call, why }) => [call, why]).sort((a, b) => a[0] - b[0]),
    broken,
  );
  assert.equal(total.conversations, 1);
  for (const why of new Set(broken.map(([, one]) => one))) assert.equal(total.breaks[why].calls, broken.filter(([, one]) => one === why).length, why);
});

test("a router's providers have caches of their own", async () => {
  const { log, broken, cached } = written.routedLog();
  const { breaks, total } = await report([await file(lines(log)), "--budgets", "none"]);
  assert.deepEqual(
    breaks.map(({ call, why }) => [call, why]).sort((a, b) => a[0] - b[0]),
    broken,
  );
  near(total.forecast.cached_tokens, sum(cached), "what was expected of the caches", 0.001);
  // The last call found nothing, and nothing says why.
  assert.deepEqual([total.forecast.missed_calls, total.forecast.missed_tokens], [1, cached.at(-1)]);
  // Back at the first provider, which had other tools.
  const tools = [{ type: "function", function: { name: "read", description: "Reads", parameters: { type: "object" } } }];
  const changed = structuredClone(log);
  for (const { request, response } of changed.slice(3)) {
    request.tools = tools;
    response.usage.prompt_tokens_details.cached_tokens = 0;
  }
  const other = await report([await file(lines(changed)), "--budgets", "none"]);
  assert.deepEqual([other.total.forecast.missed_calls, other.total.forecast.cached_tokens], [1, cached[0] + cached[3]]);
});

test("what Gemini thought is output, what its tools brought is input, and streams that were kept as lists have their counts", async () => {
  const request = { model: "gemini-2.5-pro", contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 20, thoughtsTokenCount: 3000 };
  const chunks = [{ candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }] }, { usageMetadata }];
  for (const response of [
    { usageMetadata },
    { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 3020 } },
    { usageMetadata: { ...usageMetadata, promptTokenCount: 4, toolUsePromptTokenCount: 6 } },
    chunks,
    JSON.stringify(chunks),
    { body: chunks },
  ]) {
    const { total } = await report([await file(lines([{ request, response }])), "--budgets", "none"]);
    assert.deepEqual([total.calls, total.counted_calls, total.tokens, total.output_tokens], [1, 1, 10, 3020], JSON.stringify(response));
    assert.equal(total.usd, 0.0302);
  }
  // A stream of Azure, which was logged twice.
  const stream = [{ id: "", model: "", choices: [] }, { id: "chatcmpl-1", model: "gpt-4o" }, { usage: { prompt_tokens: 10, completion_tokens: 2 } }];
  const twice = {
    request: { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] },
    response: stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  };
  const { total } = await report([await file(lines([twice, twice])), "--budgets", "none"]);
  assert.deepEqual([total.calls, total.tokens], [1, 10]);
});

test("embeddings, moderations and speech are no calls of a conversation", async () => {
  const call = { request: { model: "gpt-4o", input: "Hello" }, response: { id: "r", object: "response", usage: { input_tokens: 10, output_tokens: 2 } } };
  const others = [
    { request: { model: "text-embedding-3-small", input: "Hello" } },
    { request: { model: "mine", input: "Hello" }, response: { object: "list", data: [{ embedding: [1] }], usage: { prompt_tokens: 9 } } },
    { request: { model: "mine", input: ["Hello", "again"] } },
    { request: { model: "omni-moderation-latest", input: [{ type: "text", text: "Hello" }] } },
    { request: { model: "mine", input: "Hello" }, response: { id: "modr-1", results: [{ flagged: false }] } },
    { request: { model: "gpt-4o-mini-tts", input: "Hello" } },
    { request: { model: "mine", input: "Hello", voice: "alloy" } },
    { contents: [] },
  ];
  const { total, problems } = await report([await file(lines([call, ...others])), "--budgets", "none"]);
  assert.deepEqual([total.conversations, total.calls, total.counted_calls, problems], [1, 1, 1, []]);
});

test("an edit, a subagent, a copy in another file and lines of one answer", async () => {
  const [one, other] = written.claudeTwice();
  await file(lines(one), "twice/one.jsonl");
  await file(lines(other), "twice/two.jsonl");
  const { total, sessions } = await report(["twice", "--budgets", "none"]);
  // Four calls, of which one was thrown away and one is the subagent's, and one in the file that goes on.
  assert.deepEqual([total.calls, total.edits, total.conversations], [5, 1, 3]);
  assert.equal(sessions.filter(({ parent }) => parent !== undefined).length, 1);
  const first = sessions.find((session) => session.file === "twice/one.jsonl" && session.parent === undefined);
  assert.equal(first.calls, 3);
  assert.equal(first.results.count, 3, "results between the lines of an answer stay with it");
  assert.equal(sessions.find((session) => session.file === "twice/two.jsonl").calls, 1, "copies were counted where they were made");
  // Of a session that goes on in another file, results are sent again by the calls of that file alone.
  const main = one.filter(({ isSidechain }) => isSidechain !== true);
  await file(lines(main), "resumed/one.jsonl");
  await file(lines([...main, ...other.slice(-2).map((line, at) => (at === 0 ? { ...line, parentUuid: "a6" } : line))]), "resumed/two.jsonl");
  const [alone, both] = [await report(["resumed/one.jsonl", "--budgets", "none"]), await report(["resumed", "--budgets", "none"])];
  const again = both.results.filter(({ calls, idle_calls: idle }) => calls === 1 && idle === 1);
  assert.equal(again.length, 3);
  // A token that was written before costs a write once more.
  near(both.total.results.cost - alone.total.results.cost, 1.25 * sum(again.map(({ tokens }) => tokens)), "results", 0.02);
});

test("calls of other sessions are no copies, whatever their ids are", async () => {
  // Events are numbered from 0; the model has no ids.
  const events = (task) => [
    { id: 0, source: "user", action: "message", args: { content: task } },
    ...[1, 3].flatMap((id) => [
      { id, source: "agent", action: "run", args: { command: "ls", thought: "look" } },
      { id: id + 1, source: "environment", observation: "run", cause: id, content: `what ${task} has` },
    ]),
  ];
  for (const task of ["one", "two", "three"]) await file(JSON.stringify(events(task)), `numbered/${task}.json`);
  const numbered = await report(["numbered", "--budgets", "none"]);
  assert.deepEqual([numbered.total.conversations, numbered.total.calls], [3, 6]);
  // A server that gives the same id again, in logs and in sessions.
  const call = (content, id) => ({
    request: { model: "gpt-5", messages: [{ role: "user", content }] },
    response: { id, usage: { prompt_tokens: 10, completion_tokens: 2 } },
  });
  const log = await report([await file(lines([call("one", "r-1"), call("two", "r-1"), call("one", "r-1"), call("one", "r-2")])), "--budgets", "none"]);
  assert.equal(log.total.calls, 3);
  const old = written.inEveryFormat()["openhands-old.json"];
  await file(old, "again/one.json");
  await file(old, "again/same.json");
  await file(old.replaceAll("2026-10-01", "2026-10-02"), "again/next-day.json");
  const again = await report(["again", "--budgets", "none"]);
  assert.equal(again.total.calls, 2 * (written.STEPS.length + 1));
});

test("calls that were refused cost nothing", async () => {
  const request = { model: "gpt-5", messages: [{ role: "user", content: "Hello" }] };
  const error = { type: "overloaded_error", message: "Overloaded" };
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  const refused = [
    { request, response: { error } },
    { request, response: [{ error }] },
    { request, response: `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n` },
    { request, response: { status: "failed", error, usage: null } },
    { request, error: "connection reset" },
    { request, response: "Bad gateway", status: 502 },
    { request, response: { status_code: 429, body: {} } },
  ];
  const paid = [
    { request, response: { id: "r-1", error: null, usage }, status: 200 },
    // Broken off, and counted.
    { request, response: { id: "r-2", error, usage } },
    { request, response: { id: "r-3" } },
  ];
  const { total, problems } = await report([await file(lines([...refused, ...paid])), "--budgets", "none"]);
  assert.deepEqual([total.calls, total.counted_calls, problems], [3, 2, []]);
  const spans = JSON.parse(written.inEveryFormat()["otel.json"]);
  const [{ spans: list }] = spans.resourceSpans[0].scopeSpans;
  const [asked] = list.filter(({ spanId }) => spanId === "span_0");
  const attributes = asked.attributes.filter(({ key }) => !key.startsWith("gen_ai.usage."));
  list.push({ ...asked, spanId: "refused", attributes: [...attributes, { key: "error.type", value: { stringValue: "429" } }] });
  const { total: traced } = await report([await file(JSON.stringify(spans)), "--budgets", "none"]);
  assert.equal(traced.calls, written.STEPS.length + 1);
});

test("what a router says was written to a cache has the price of a write", async () => {
  const request = { model: "anthropic/claude-sonnet-4-5", messages: [{ role: "user", content: "Hello" }] };
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 200_000, cache_write_tokens: 400_000 } };
  const { total } = await report([await file(lines([{ request, response: { id: "r", usage } }])), "--budgets", "none"]);
  // 0.4 × 3 + 0.2 × 0.3 + 0.4 × 3.75
  assert.equal(total.usd, 2.76);
});

test("what a result costs is its size in every call that it was sent in", async () => {
  const { log, sizes } = written.resultLog();
  const { results, total } = await report([await file(lines(log)), "--budgets", "none"]);
  for (const { marker, tokens, cost, calls, idle } of sizes) {
    const found = results.find((one) => one.arguments.includes(marker));
    assert.ok(found, marker);
    assert.equal(found.calls, calls, marker);
    assert.equal(found.idle_calls, idle, marker);
    near(found.tokens, tokens(countTokens), `${marker} tokens`, 0.02);
    near(found.cost, cost(countTokens), `${marker} cost`, 0.02);
  }
  near(total.results.cost, sum(results.map(({ cost }) => cost)), "sum");
});

test("each call of a session has the price of its own model", async () => {
  const models = (log, last) => log.map(({ request }, at) => ({ request: { ...request, model: at < log.length - 1 ? "claude-opus-4-1" : last } }));
  const { log } = written.resultLog();
  for (const [last, dollars] of [
    ["claude-haiku-4-5", 1],
    ["house-model", 0],
  ]) {
    const { results, total } = await report([await file(lines(models(log.slice(0, 3), last))), "--budgets", "none"]);
    const { tokens, usd } = results.find((one) => one.arguments.includes("alpha.md"));
    // It is written for the first model and, as that has a cache of its own, for the second.
    const written = 1.25 * 15 + 1.25 * dollars;
    near(usd / ((tokens * written) / 1e6), 1, last, 0.02);
    near(total.results.usd, sum(results.map((one) => one.usd ?? 0)), "sum", 2e-4);
  }
  for (const last of ["claude-haiku-4-5", "house-model"]) {
    const { total } = await report([await file(lines(models(written.longLog().log.slice(0, 12), last))), "--budgets", "6000"]);
    for (const { name, cost, usd } of total.strategies) near(usd / total.usd, cost / total.cost, `${name}, ${last}`, 1e-3);
  }
});

/** Tokens of a message as the engine counts them. */
const tokensOf = ({ content, tool_calls: calls = [] }) => {
  const texts = [content ?? "", ...calls.map((call) => `${call.function.name} ${call.function.arguments}`)].filter((text) => text !== "");
  return (texts.length === 0 ? 0 : countTokens(texts.join("\n"))) + 4 * (1 + calls.length);
};
const promptTokens = (messages) => sum(messages.map(tokensOf));
/** What prompts cost at OpenAI's prices: whole messages from the first on that are the same are read from the cache. */
function priced(prompts) {
  let before = [];
  return sum(
    prompts.map((prompt) => {
      let same = 0;
      while (same < before.length && same < prompt.length && JSON.stringify(before[same]) === JSON.stringify(prompt[same])) same += 1;
      before = prompt;
      const [tokens, repeated] = [promptTokens(prompt), promptTokens(prompt.slice(0, same))];
      const hit = repeated < 1024 ? 0 : Math.floor(repeated / 128) * 128;
      return tokens - 0.9 * hit;
    }),
  );
}

test("the same calls through plain policies and through contextweaver", async () => {
  const { log, prompts } = written.longLog();
  const budgets = [6000, 12_000];
  const { total } = await report([await file(lines(log)), "--budgets", budgets.join()]);
  const full = priced(prompts);
  near(total.cost, full, "everything", 0.01);
  const share = (name, budget) => total.strategies.find((one) => one.name === name && one.budget === budget).share;
  for (const budget of budgets) {
    near(share("newest", budget), priced(prompts.map((prompt) => newest(prompt, budget))) / full, `newest ${budget}`, 0.01);
    near(share("clear", budget), priced(cleared(prompts, budget)) / full, `clear ${budget}`, 0.02);
    const weaver = contextWeaver({ tools: [], budget_tokens: budget, prices: "openai" });
    for (const messages of prompts) weaver.fit({ model: "gpt-5", messages });
    const { cost, cost_without } = weaver.costs();
    weaver.free();
    near(share("contextweaver", budget), cost / cost_without, `contextweaver ${budget}`, 1e-3);
  }
  const ends = (text) => (text.length <= 2000 ? text : `${text.slice(0, 1000)}\n[…]\n${text.slice(-1000)}`);
  const shortened = prompts.map((prompt) => prompt.map((message) => (message.role === "tool" ? { ...message, content: ends(message.content) } : message)));
  near(share("head-tail"), priced(shortened) / full, "head-tail", 0.01);
});

/** The first message and the newest that fit. */
function newest([task, ...rest], budget) {
  let from = 0;
  while (from < rest.length && promptTokens([task, ...rest.slice(from)]) > budget) from += 1;
  if (from > 0) while (rest[from]?.role === "tool") from += 1;
  return [task, ...rest.slice(from)];
}

/** Old results go, but for the newest three, until a third of the budget is free. */
function cleared(prompts, budget) {
  const gone = new Set();
  const shown = (prompt) => prompt.map((message, at) => (gone.has(at) ? { ...message, content: "[cleared]" } : message));
  return prompts.map((prompt) => {
    if (promptTokens(shown(prompt)) <= budget) return shown(prompt);
    const results = prompt.flatMap(({ role }, at) => (role === "tool" && !gone.has(at) ? [at] : []));
    while (promptTokens(shown(prompt)) > budget - budget / 3 && results.length > 3) gone.add(results.shift());
    return shown(prompt);
  });
}

test("what cannot be read is named with its line, and the rest is read", async () => {
  const [first, second, ...rest] = (await readFile(join(folder, "recorded/rollout-codex.jsonl"), "utf8")).trim().split("\n");
  await file([first, second, '{"type": "response_item", "pay', ...rest].join("\n"), "damaged/rollout-1.jsonl");
  await file("{ this is no JSON\n", "damaged/other.json");
  await file("{\n  this is no JSON\n}\n", "damaged/several.json");
  await file('{"name":"nothing of that kind"}', "damaged/settings.json");
  await file("text", "damaged/notes.txt");
  await file('{"input":"src/index.js","messages":["a"]}', "damaged/build.json");
  await file("", "damaged/opencode.db");
  const { total, problems, problem_count: count } = await report(["damaged", "missing.jsonl", "--budgets", "none"]);
  assert.equal(total.calls, 6);
  assert.equal(count, problems.length);
  const told = problems.map(({ file: name, line, reason }) => `${name}:${line ?? ""} ${reason}`);
  for (const expected of [
    /^damaged\/rollout-1.jsonl:3 the line is not valid JSON$/,
    /^damaged\/other.json:1 the line is not valid JSON$/,
    /^damaged\/several.json:1 the file is neither JSON Lines nor JSON$/,
    /^damaged\/settings.json: no format/,
    /^damaged\/build.json: no format/,
    /1 \.txt$/,
    /^damaged\/opencode.db: .*opencode export/,
    /^missing.jsonl: there is no such file/,
  ]) {
    assert.ok(
      told.some((one) => expected.test(one)),
      `${expected} in ${told.join("\n")}`,
    );
  }
});

test("whatever a log has in place of what it should, the rest is read", async () => {
  const texts = Object.entries(written.inEveryFormat()).filter(([, text]) => typeof text === "string");
  for (const name of Object.keys(RECORDED)) texts.push([name, await readFile(join(folder, "recorded", name), "utf8")]);
  for (let round = 1; round <= 4; round += 1) {
    for (const [at, [name, text]] of texts.entries()) await file(written.damaged(text, round * 7 + at), `hostile-${round}/${at}-${name}`);
    const { total, sessions, problems } = await report([`hostile-${round}`, "--budgets", "8000"]);
    assert.ok(total.calls > 0 && problems.length > 0);
    for (const one of [total, ...sessions]) near(one.new_tokens + one.repeated_tokens + one.rewritten_tokens, one.tokens, "tokens");
    assert.doesNotMatch(JSON.stringify({ total, sessions }), /null|NaN/);
  }
});

test("bad usage, bad prices, and nothing to audit", async () => {
  await file("{", "bad.json");
  await file('{"models":[{"match":"x","input":-1}]}', "range.json");
  await file('{"models":[{"match":"x","inptu":1}]}', "field.json");
  await file('{"models":[{"match":"x","input":1,"cache":"mine"}]}', "cache.json");
  await file('{"models":[]}', "none.json");
  const cases = [
    [[], /takes files and folders/],
    [["x", "--budgets", "many"], /--budgets is up to 8 numbers.*not 'many'/],
    [["x", "--budgets", "10"], /--budgets/],
    [["x", "--prices", "bad.json"], /bad.json is not valid JSON/],
    [["x", "--prices", "range.json"], /OUT_OF_RANGE at \/models\/0\/input/],
    [["x", "--prices", "field.json"], /UNKNOWN_FIELD at \/models\/0\/inptu[^]*there are: match/],
    [["x", "--prices", "cache.json"], /INVALID_INPUT at \/models\/0\/cache[^]*openai anthropic/],
    [["x", "--prices", "none.json"], /INVALID_INPUT at \/models[^]*match/],
    [["recorded/opencode.json", "--html", "no/such/folder.html"], /cannot write/],
  ];
  for (const [args, expected] of cases) {
    const { code, stderr } = await cli(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, expected);
  }
  const { code, stdout } = await cli(["range.json"]);
  assert.equal(code, 1);
  assert.match(stdout, /No call of a model was found/);
});

test("prices of yours go before those that are known", async () => {
  const prices = await file('{"models":[{"match":["gpt-5*"],"input":10,"output":100,"cached":5,"source":"our contract","as_of":"2026-10"}]}', "prices.json");
  const { models, total } = await report(["recorded/rollout-codex.jsonl", "--budgets", "none", "--prices", prices]);
  const uncached = total.tokens - total.repeated_tokens;
  near(total.usd, (10 * uncached + 5 * total.repeated_tokens + 100 * total.output_tokens) / 1e6, "money", 1e-3);
  assert.deepEqual(models[0].price, { input: 10, output: 100, cached: 5, written: 10, source: "our contract", as_of: "2026-10" });
  const router = await file('{"models":[{"match":"openrouter/*","input":7}]}', "router.json");
  const routed = await report([
    await file(
      lines(["gpt-5", "openai/gpt-5", "openrouter/openai/gpt-5"].map((model) => ({ request: { model, messages: [{ role: "user", content: "Hello" }] } }))),
    ),
    "--budgets",
    "none",
    "--prices",
    router,
  ]);
  assert.deepEqual(Object.fromEntries(routed.models.map(({ model, price }) => [model, price.input])), {
    "gpt-5": 1.25,
    "openai/gpt-5": 1.25,
    "openrouter/openai/gpt-5": 7,
  });
  const unpriced = await report([await file(lines(written.brokenLog("house-model").log)), "--budgets", "none"]);
  assert.equal(unpriced.total.usd, undefined);
  assert.equal(unpriced.total.unpriced_calls, unpriced.total.calls);
});

test("a table within 100 columns, and one HTML file that asks for nothing", async () => {
  const evil = `<script>alert(1)</script> \u001b]52;c;aGk=\u0007 sk-ant-api03-${"A".repeat(93)}AA`;
  await file(lines(written.longLog(evil).log), "evil/log.jsonl");
  const { code, stdout } = await cli(["evil", "recorded", "--html", "report.html"]);
  assert.equal(code, 0);
  for (const line of stdout.split("\n")) assert.ok([...line].length <= 100, line);
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f]|sk-ant-api03-A/);
  for (const title of [
    "Conversations, the dearest first",
    "Calls that lost the cache",
    "The same calls",
    "results of tools",
    "Read more than once",
    "Forecast beside",
  ])
    assert.ok(stdout.includes(title), title);
  const html = await readFile(join(folder, "report.html"), "utf8");
  assert.match(html, /^<!doctype html>[^]*Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"[^]*<\/html>\n$/);
  assert.doesNotMatch(html, /<script|<img|<link|https?:\/\/|sk-ant-api03-A/);
});

test("the forecast of a long session is within 3 % of what the provider counted", async () => {
  const { total } = await report(["long.jsonl", "--budgets", "none"]);
  const text = await readFile(join(folder, "long.jsonl"), "utf8");
  const counted = [...text.matchAll(/"response_id":"\w+","usage":\{"input_tokens":(\d+),"cached_input_tokens":(\d+)/g)]
    .slice(1)
    .map(([, input, cached]) => [Number(input), Number(cached)]);
  const { calls, cached_tokens: cached, uncached_tokens: uncached } = total.forecast;
  assert.equal(calls, counted.length);
  near(cached, sum(counted.map(([, read]) => read)), "cached", 0.03);
  near(uncached, sum(counted.map(([input, read]) => input - read)), "uncached", 0.03);
});

test("the document shows what is printed", async () => {
  const { stdout } = await cli(["long.jsonl"]);
  const [, shown] = /```text\n([^]*?)```/.exec(await readFile(join(root, "docs/audit.md"), "utf8"));
  const printed = stdout.split("\n");
  let from = 0;
  for (const line of shown.trimEnd().split("\n")) {
    const place = printed.indexOf(line, from);
    assert.ok(place !== -1, `'${line}' is not printed there`);
    from = place + 1;
  }
});

test("the same files give the same bytes", async () => {
  const [one, other] = [await cli(["recorded", "--json"]), await cli(["recorded", "--json"])];
  assert.equal(one.stdout, other.stdout);
  assert.ok(!one.stdout.includes(folder));
});

test("the least prefix that is cached is that of the model", async () => {
  const text = Array.from({ length: 1_700 }, (_, at) => `word${at % 97}`).join(" ");
  const repeated = async (model) => {
    const first = [{ role: "user", content: text }];
    const calls = [first, [...first, { role: "assistant", content: "Yes." }, { role: "user", content: "And now?" }]];
    const log = calls.map((messages, at) => ({
      timestamp: `2026-11-01T10:00:0${at}Z`,
      request: { model, messages },
      response: { choices: [{ message: { role: "assistant", content: "Yes." } }] },
    }));
    return (await report([await file(lines(log)), "--budgets", "none"])).total;
  };
  const [third, second] = [await repeated("gemini-3-pro"), await repeated("gemini-2.5-pro")];
  assert.ok(second.tokens / 2 > 2_048 && second.tokens / 2 < 4_096, String(second.tokens));
  assert.deepEqual([third.repeated_tokens, second.repeated_tokens], [0, 2_048]);
});

test("many conversations are replayed on threads, with the figures of one", async () => {
  const text = await readFile(join(folder, "long.jsonl"), "utf8");
  const names = Array.from({ length: 8 }, (_, copy) => `many/rollout-${copy}.jsonl`);
  for (const [copy, name] of names.entries()) await file(text.replaceAll('"response_id":"', `"response_id":"${copy}-`), name);
  // Threads are there from two megabytes on.
  const few = await report(names.slice(0, 4));
  const [many, again] = [await report(["many"]), await report(["many"])];
  assert.ok(few.bytes < 2e6 && many.bytes > 2e6);
  assert.deepEqual(many, again);
  const by = new Map(many.sessions.map((session) => [session.file, session]));
  assert.deepEqual([...by.keys()].sort(), names);
  for (const session of few.sessions) assert.deepEqual(by.get(session.file), session);
  for (const { name, budget, shown } of many.total.strategies) {
    const all = many.sessions.map(({ strategies }) => strategies.find((one) => one.name === name && one.budget === budget));
    assert.equal(shown, sum(all.map((one) => one.shown)), name);
  }
});

test("a long log is held a conversation at a time", async () => {
  // 80 conversations of half a megabyte each, made while they are read. A log may go on with any of the newest 32.
  const child = spawn("node", ["--max-old-space-size=96", program, "audit", "-", "--budgets", "none", "--json"], { stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const ended = new Promise((done) => child.on("close", done));
  for (const line of written.manyConversations(80, 500_000)) {
    if (!child.stdin.write(line)) await new Promise((done) => child.stdin.once("drain", done));
  }
  child.stdin.end();
  assert.equal(await ended, 0, stderr);
  const { total, bytes, peak_characters: peak } = JSON.parse(stdout);
  assert.equal(total.conversations, 80);
  assert.ok(bytes > 30_000_000, String(bytes));
  assert.ok(peak < 4_000_000, `${peak} characters were held of ${bytes} bytes`);
});
