// The tape of a session: its figures are those of `contextweaver audit`, its prompts those that an adapter sends, and what is no session
// is said. The operations of the page's worker run here as they are.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { conversation } from "../../benches/cost/conversation.mjs";
import { callsOf, replay } from "../../benches/cost/replay.mjs";
import { ownSet } from "../../benches/cost/sets.mjs";
import { strategiesOf } from "../../benches/cost/strategies.mjs";
import { SDKS, USAGE, call, said } from "./ai-sdk-models.mjs";
import * as written from "./audit-sessions.mjs";
import { has, packageDir, page, project, root, run } from "./harness.mjs";

const folder = await project("tape", {
  "entry.mjs": `export { contextWeaver } from "contextweaver/openai"; export { contextWeaver as aiSdk } from "contextweaver/ai-sdk"; export * from "contextweaver";`,
});
const program = join(folder, "node_modules/contextweaver/bin/contextweaver.js");
const cw = await import(pathToFileURL(join(folder, "entry.mjs")));
const fixtures = join(root, "tests/package/fixtures/audit");
const near = (actual, expected, what, within = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= within * Math.max(1e-6, Math.abs(expected)), `${what}: ${actual}, expected ${expected}`);
const sum = (list) => list.reduce((total, value) => total + value, 0);
const lines = (values) => `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;

/** The worker's operations, bundled as the page has them. */
async function operations() {
  const { build } = await import(pathToFileURL(join(root, "www/node_modules/esbuild/lib/main.js")));
  const { buildOptions } = await import(pathToFileURL(join(root, "www/build-options.mjs")));
  const outfile = join(folder, "worker.mjs");
  await build({
    ...buildOptions(packageDir),
    minify: false,
    stdin: { contents: `export { operations } from "./worker/session.ts"; export { initSync } from "contextweaver/slim"`, resolveDir: join(root, "www") },
    outfile,
    platform: "node",
    target: "node20",
  });
  const made = await import(pathToFileURL(outfile));
  made.initSync({ agent: await readFile(join(packageDir, "dist/wasm/agent_bg.wasm")) });
  return made.operations;
}

const worker = page.path ? await operations() : undefined;
const bytesOf = async (path) => (path.endsWith(".gz") ? gunzipSync(await readFile(path)) : readFile(path));

/** Opens a file as the page does. */
async function opened(name, bytes) {
  return worker["session.open"]({ name, file: new Blob([bytes]) });
}

/** Plays the longest conversation of a file. */
async function tapeOf(name, bytes, budget, model = "") {
  const session = await opened(name, bytes);
  return { session, tape: worker["session.tape"]({ conversation: session.chosen, budget: budget ?? session.budget, model }) };
}

/** What the program says of the same file. */
async function audited(name, bytes, budget) {
  await writeFile(join(folder, name), bytes);
  const { stdout, stderr, code } = await run("node", [program, "audit", name, "--budgets", String(budget), "--json"], { cwd: folder, check: false });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const RECORDED = {
  "rollout-codex-long.jsonl.gz": { agent: "Codex", calls: 47, cuts: true, budgets: [32_000, 48_000] },
  "rollout-codex.jsonl": { agent: "Codex", calls: 5, cuts: false, budgets: [24_000] },
  "claude-code.jsonl": { agent: "Claude Code", calls: 7, cuts: false, budgets: [128_000] },
  "claude-code-subagent.jsonl": { agent: "Claude Code", calls: 2, cuts: false, budgets: [64_000] },
  "gemini-cli.jsonl": { agent: "Gemini CLI", calls: 4, cuts: false, budgets: [64_000] },
  "opencode.json": { agent: "OpenCode", calls: 4, cuts: false, budgets: [32_000] },
};

for (const [file, { agent, calls, cuts, budgets }] of Object.entries(RECORDED)) {
  for (const budget of budgets) {
    test(`the figures of the tape are those of an audit: ${file} at ${budget}`, async (t) => {
      if (!has(t, page.path, page)) return;
      const bytes = await bytesOf(join(fixtures, file));
      const name = file.replace(/\.gz$/, "");
      const { session, tape } = await tapeOf(name, bytes, budget);
      assert.deepEqual([session.agent, tape.calls.length, tape.cuts > 0, tape.isMoney], [agent, calls, cuts, true]);
      const { sessions, models } = await audited(name, bytes, budget);
      const report = sessions.reduce((best, each) => (each.calls > best.calls ? each : best));
      const of = (strategy) => report.strategies.find((each) => each.name === strategy);
      const dollars = (cost) => (cost * models[0].price.input) / 1e6;
      // The program rounds to six digits.
      near(tape.price, dollars(of("contextweaver").cost), "contextweaver", 1e-3);
      near(tape.everything, dollars(report.cost), "everything", 1e-3);
      near(tape.trimmed, dollars(of("newest").cost), "trimming", 1e-3);
      assert.deepEqual([tape.cuts, tape.copied, tape.shown], [of("contextweaver").cuts, report.copied, of("contextweaver").shown]);
      for (const [key, of] of [
        ["price", tape.price],
        ["everything", tape.everything],
        ["trimmed", tape.trimmed],
        ["copied", tape.copied],
        ["shown", tape.shown],
      ])
        near(sum(tape.calls.map((call) => call[key])), of, key);
      for (const call of tape.calls) {
        assert.equal(call.repeated + call.rewritten + call.fresh, call.tokens, `call ${call.number}`);
        assert.ok(Math.min(call.repeated, call.rewritten, call.fresh) >= 0 && (call.isOver || call.tokens <= budget), JSON.stringify(call));
      }
    });
  }
}

test("one conversation in every format is opened, with the same calls and the provider's counts", async (t) => {
  if (!has(t, page.path, page)) return;
  for (const [name, text] of Object.entries(written.inEveryFormat())) {
    // Folders are read by the program alone.
    if (typeof text !== "string") continue;
    const { tape } = await tapeOf(name, text, 8_000);
    assert.equal(tape.calls.length, written.STEPS.length + 1, name);
    assert.deepEqual(tape.calls[0].counted, 2000, name);
    near(tape.everything, (written.SUMS[0] - written.SUMS[1]) * 1.25e-6 + written.SUMS[1] * 0.125e-6, name, 1e-6);
  }
});

test("the prompt of each call is, byte for byte, what an adapter sends", async (t) => {
  if (!has(t, page.path, page)) return;
  const task = { role: "user", content: "Which module has the held order?" };
  const step = (n) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `call_${n}`, type: "function", function: { name: "read", arguments: JSON.stringify({ path: `part-${n}.txt` }) } }],
    },
    {
      role: "tool",
      tool_call_id: `call_${n}`,
      content: Array.from(
        { length: 90 },
        (_, at) => `line ${at} of part ${n}: order ${n * 1000 + at} is ${at === n ? "held" : "sent"} by branch ${(at * 7) % 13}`,
      ).join("\n"),
    },
  ];
  const messages = [task, ...Array.from({ length: 14 }, (_, n) => step(n)).flat(), { role: "assistant", content: "It is in part 7." }];
  const budget = 8_000;
  const { tape } = await tapeOf("chat.jsonl", lines(messages), budget, "gpt-5");
  assert.ok(tape.cuts >= 1 && tape.calls.length === 15, JSON.stringify([tape.cuts, tape.calls.length]));
  const weaver = cw.contextWeaver({ tools: [], budget_tokens: budget, prices: "openai" });
  let sent = 0;
  for (let count = 1, number = 1; count < messages.length; count += 2, number += 1) {
    const { messages: fitted } = weaver.fit({ model: "gpt-5", messages: messages.slice(0, count) });
    const { pieces } = worker["session.call"]({ number });
    assert.equal(pieces.length, fitted.length, `call ${number}`);
    for (const [place, message] of fitted.entries()) {
      const { text } = worker["session.text"]({ number, place, part: 0 });
      const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) => `${name} ${given}`);
      const expected = cw.sanitizeText([message.content ?? "", ...calls].filter((part) => part !== "").join("\n"));
      assert.equal(text, expected.slice(0, text.length), `call ${number}, message ${place}`);
      assert.ok(text.length === expected.length || text.length >= 19_999);
      sent += 1;
    }
  }
  weaver.free();
  assert.ok(sent > 100);
});

test("the tape cuts as the cost benchmark does, and costs the same share of the whole conversation", async (t) => {
  if (!has(t, page.path, page)) return;
  const { default: ours, full } = await strategiesOf(packageDir);
  const recorded = ownSet().sessions.map(conversation);
  for (const [at, budget] of [
    [0, 8_000],
    [1, 16_000],
    [2, 16_000],
  ]) {
    const { id, messages } = recorded[at];
    const { tape } = await tapeOf("chat.jsonl", lines(messages), budget, "gpt-5");
    const calls = callsOf({ messages, questions: [] });
    let cuts;
    const make = (most, prices) => {
      const strategy = ours.make(most, prices);
      const counted = () => (prices === "openai" ? (cuts = strategy.cuts()) : undefined);
      return { ...strategy, end: () => (counted(), strategy.end()) };
    };
    const paid = (strategy) => replay([calls], strategy, budget).openai.paid[0];
    const share = paid({ ...ours, make }) / paid(full);
    assert.deepEqual([tape.calls.length, tape.cuts], [calls.length, cuts], id);
    assert.ok(cuts > 5, id);
    // The benchmark counts four characters of JSON as a token, the tape as the engine does: 4 points at most on these.
    near(tape.price / tape.everything, share, id, 0.04 / share);
  }
});

/** An agent of the AI SDK with results of about 12,000 and 70,000 tokens, as it ended: what it counted, and its session. */
async function ranAgent() {
  const sdk = SDKS[7];
  const log = (service) =>
    Array.from(
      { length: 640 },
      (_, n) => `12:${String(n % 60).padStart(2, "0")} INFO ${service} 200 order=${4000 + n} worker=${n % 7} in ${20 + ((n * 37) % 90)} ms`,
    ).join("\n");
  const orders = Array.from({ length: 2000 }, (_, n) => ({
    id: 4000 + n,
    customer: `C-${1000 + ((n * 7) % 211)}`,
    total: 20 + n,
    status: n % 97 === 0 ? "held" : "shipped",
    payment_ref: `pg_${(0x5d1e00 + n).toString(16)}`,
  }));
  const tools = {
    read_log: sdk.tool({ inputSchema: z.object({ service: z.string() }), execute: async ({ service }) => log(service) }),
    list_orders: sdk.tool({ inputSchema: z.object({}), execute: async () => orders }),
  };
  const lines = (handle, start) => ["drilldown", { handle: `artifact:result:${handle}`, selector: { type: "lines", start, end: start + 120 } }];
  const moves = [
    ["read_log", { service: "checkout" }],
    lines("c0", 0),
    ["list_orders", {}],
    lines("c0", 200),
    ["read_log", { service: "payments" }],
    lines("c4", 0),
    lines("c4", 200),
    lines("c0", 400),
  ];
  let turn = 0;
  const model = new sdk.Model({
    provider: "openai",
    modelId: "gpt-5",
    doGenerate: async ({ prompt }) => {
      const at = turn++;
      const answer = said(at < moves.length ? [call(`c${at}`, ...moves[at])] : [{ type: "text", text: "Order 4411 is held." }]);
      return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total: 300 + Math.round(JSON.stringify(prompt).length / 3) } } };
    },
  });
  const weaver = cw.aiSdk({ tools, budget_tokens: 8_000 });
  await sdk.generateText({ model, tools: weaver.tools, prepareStep: weaver.prepareStep, stopWhen: sdk.stop(20), prompt: "Which orders are held, and why?" });
  const ran = { costs: weaver.costs(), session: weaver.report().session(), calls: turn };
  weaver.free();
  return ran;
}

test("a session of contextweaver is played as it ran: whole results, its calls, its budget and its model", async (t) => {
  if (!has(t, page.path, page)) return;
  const { costs, session, calls } = await ranAgent();
  assert.deepEqual([costs.steps, calls, costs.tokens_without > 10 * costs.tokens], [9, 9, true], JSON.stringify(costs));
  const { session: opened, tape } = await tapeOf("session.json", session);
  assert.deepEqual(
    [opened.budget, opened.problems, opened.hasModels, tape.budget, tape.calls.length, tape.isMoney, tape.model.name],
    [8_000, [], true, 8_000, 9, true, "gpt-5"],
  );
  assert.deepEqual(tape.account, { budget: 8_000, ...Object.fromEntries(Object.entries(costs).filter(([key]) => key !== "observed")) });
  near(sum(tape.calls.map(({ whole }) => whole)), costs.tokens_without, "tokens without", 0.05);
  near(sum(tape.calls.map(({ tokens }) => tokens)), costs.tokens, "tokens sent", 0.25);
  near(1 - tape.price / tape.everything, 1 - costs.cost / costs.cost_without, "share saved", 0.05);
  assert.ok(tape.cuts >= 1 && tape.calls.every(({ tokens, isOver }) => tokens <= 8_000 && !isOver), JSON.stringify(tape.calls));

  await writeFile(join(folder, "session.json"), session);
  const report = JSON.parse((await run("node", [program, "audit", "session.json", "--json"], { cwd: folder })).stdout);
  const {
    total,
    sessions: [one],
    budgets,
    models,
    problems,
  } = report;
  assert.deepEqual([total.calls, budgets[0], models[0].model, problems], [9, 8_000, "gpt-5", []]);
  assert.deepEqual(
    [one.account.budget, one.account.steps, one.account.tokens, one.account.tokens_without],
    [8_000, costs.steps, costs.tokens, costs.tokens_without],
  );
  near(total.tokens, costs.tokens_without, "tokens without", 0.05);
  assert.ok(report.results[0].tool === "list_orders" && report.results[0].tokens > 50_000, JSON.stringify(report.results[0]));
  const ours = total.strategies.find(({ name, budget }) => name === "contextweaver" && budget === 8_000);
  assert.ok(ours.cuts >= 1 && ours.share < 0.2, JSON.stringify(ours));

  // Without its bytes a result counts with the size that the log states, and that is said.
  const snapshot = JSON.parse(session);
  snapshot.artifact_store.data = {};
  const bare = await tapeOf("session.json", JSON.stringify(snapshot));
  near(sum(bare.tape.calls.map(({ whole }) => whole)), costs.tokens_without, "tokens without", 0.05);
  assert.match(bare.session.problems.join(), /the bytes of 3 results are not in the file/);
});

test("at a cut, what left is told with what became of it", async (t) => {
  if (!has(t, page.path, page)) return;
  const { tape } = await tapeOf("rollout-codex-long.jsonl", await bytesOf(join(fixtures, "rollout-codex-long.jsonl.gz")), 32_000);
  const cuts = worker["session.cuts"]({ key: "" });
  assert.deepEqual(
    cuts.map(({ number }) => number),
    tape.calls.filter(({ cut }) => cut !== null).map(({ number }) => number),
  );
  for (const { number, left } of cuts) {
    const { left: shown, leftMore, pieces } = worker["session.call"]({ number });
    assert.equal(shown.length + leftMore, left);
    assert.ok(pieces.some(({ state }) => state === "new"));
    // What a handle stands for is not in the prompt any more.
    for (const { handle, after, before } of shown) if (after !== null && handle !== null) assert.notEqual(after, before);
  }
  assert.ok(cuts.some(({ handles }) => handles > 0) && cuts.some(({ shortened }) => shortened > 0), JSON.stringify(cuts));
  const paid = tape.calls.filter(({ paid }) => paid !== null);
  for (const { paid: at, number, extra, saves } of paid)
    assert.ok(at >= number && (at - number) * saves >= extra - 1e-12 && (at - number - 1) * saves < extra + 1e-12, JSON.stringify([at, number, extra, saves]));
});

test("arguments of calls that left are read once, and not for each line of the prompt", async (t) => {
  if (!has(t, page.path, page)) return;
  // Some 15 files of 140 KB leave beside 60,000 lines.
  const task = { role: "user", content: `Write the files.\n${"ab\n".repeat(60_000)}` };
  const step = (n) => {
    const given = JSON.stringify({ path: `src/part-${n}.ts`, content: `const value_${n} = compute(other_thing);\n`.repeat(3_500) });
    return [
      { role: "assistant", content: null, tool_calls: [{ id: `call_${n}`, type: "function", function: { name: "write_file", arguments: given } }] },
      { role: "tool", tool_call_id: `call_${n}`, content: "written" },
    ];
  };
  await tapeOf("chat.jsonl", lines([task, ...Array.from({ length: 20 }, (_, n) => step(n)).flat(), { role: "assistant", content: "Done." }]), 128_000, "gpt-5");
  assert.ok(sum(worker["session.cuts"]({ key: "" }).map(({ left }) => left)) >= 10);
});

test("what left is named by its whole handle", async (t) => {
  if (!has(t, page.path, page)) return;
  const idOf = (n) => `call_${n}|fc/${n}=`;
  const said = "artifact:result:call_2|fc/2=, and not artifact:result:call_1|fc/1=0";
  const task = { role: "user", content: `Which part has the held order?\nRead ${said}.` };
  const step = (n) => [
    { role: "assistant", content: null, tool_calls: [{ id: idOf(n), type: "function", function: { name: "read", arguments: JSON.stringify({ part: n }) } }] },
    {
      role: "tool",
      tool_call_id: idOf(n),
      content: Array.from({ length: 90 }, (_, at) => `line ${at} of part ${n}: order ${n * 1000 + at} is sent by branch ${(at * 7) % 13}`).join("\n"),
    },
  ];
  const messages = [task, ...Array.from({ length: 30 }, (_, n) => step(n)).flat(), { role: "assistant", content: "In part 7." }];
  const { tape } = await tapeOf("chat.jsonl", lines(messages), 8_000, "gpt-5");
  const left = tape.calls.filter(({ cut }) => cut !== null).flatMap(({ number }) => worker["session.call"]({ number }).left);
  const handled = left.filter(({ label, handle }) => handle !== null && label.startsWith("read"));
  for (const { label, handle } of handled) assert.equal(handle, `artifact:result:${idOf(JSON.parse(label.slice("read ".length)).part)}`);
  const named = (n) => left.filter(({ label, after }) => label === `read {"part":${n}}` && after === null).map(({ named }) => named);
  assert.deepEqual([handled.length > 20, named(1), named(2)], [true, [null], [`Read ${said}.`]]);
});

test("prices, caches and models that are not known", async (t) => {
  if (!has(t, page.path, page)) return;
  const shop = await readFile(join(root, "examples/sessions/shop.jsonl"));
  const { session, tape } = await tapeOf("shop.jsonl", shop, 8_000);
  assert.deepEqual([session.hasModels, tape.isMoney, tape.model], [false, false, null]);
  const priced = worker["session.tape"]({ conversation: 0, budget: 8_000, model: "gpt-5" });
  assert.ok(priced.isMoney);
  near(priced.price, (tape.price * 1.25) / 1e6, "the same tokens in dollars");
});

test("what is no session is said, and what was open stays", async (t) => {
  if (!has(t, page.path, page)) return;
  const good = await tapeOf("shop.jsonl", await readFile(join(root, "examples/sessions/shop.jsonl")), 8_000);
  for (const [text, expected] of [
    ["", /^It is empty; we read sessions of Claude Code, Codex/],
    ["\n\n", /nothing but blank lines/],
    ["once upon a time", /^This is no JSON; we read .*\nline 1: the line is not valid JSON/s],
    ['{"level":"info","msg":"sk-ant-abcdefghijklmnopqrstuvwx"}\n', /^This is a log of a server; we read/],
    ['{"openapi":"3.1.0"}', /^This is a description of an API/],
    ['{"log":{"version":"1.2","creator":{},"entries":[]}}', /^This is a log of a browser/],
    ['{"a":1,"b <img>":2}', /^This is a document with the fields `a`, `b img`; we read/],
    ["[]", /^This is a list of nothing/],
    ["[1,2]", /^This is a list of numbers/],
    ['"text"', /^This is JSON of strings/],
  ]) {
    await assert.rejects(opened("x", text), (error) => {
      assert.match(error.message, expected);
      assert.ok(!error.message.includes("sk-ant"));
      return true;
    });
  }
  assert.equal(worker["session.tape"]({ conversation: 0, budget: 8_000, model: "" }).calls.length, good.tape.calls.length);
});

test("60 megabytes are read by lines", async (t) => {
  if (!has(t, page.path, page)) return;
  const result = "a line of a log with words in it and a number 12345\n".repeat(5_000);
  const line = (n) =>
    lines([
      { role: "assistant", content: null, tool_calls: [{ id: `c${n}`, type: "function", function: { name: "read", arguments: "{}" } }] },
      { role: "tool", tool_call_id: `c${n}`, content: `${n} ${result}` },
    ]);
  const file = new Blob([lines([{ role: "user", content: "Read all of it." }]), ...Array.from({ length: 240 }, (_, n) => line(n))]);
  assert.ok(file.size > 60_000_000);
  const session = await worker["session.open"]({ name: "large.jsonl", file });
  assert.equal(session.conversations[0].calls, 240);
});
