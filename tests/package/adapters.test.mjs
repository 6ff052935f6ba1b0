// One conversation through every adapter and by hand: the same prompt.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Agent } from "@mastra/core/agent";
import { MockLanguageModelV3 } from "ai-6/test";
import { project } from "./harness.mjs";

const ENTRIES = ["ai-sdk", "anthropic", "langchain", "mastra", "openai", "openai-agents"];
const lines = ENTRIES.map((name) => `export { contextWeaver as ${name.replace("-", "_")} } from "contextweaver/${name}";`);
const folder = await project("adapters", {
  "entry.mjs": [...lines, 'export { ContextManager, openSession } from "contextweaver";', 'export { memoryStore } from "contextweaver/storage";'].join("\n"),
});
const entries = await import(pathToFileURL(join(folder, "entry.mjs")));

/** What was said, in the words of no SDK: a large result, a small one, and questions. */
const rows = JSON.stringify(
  Array.from({ length: 400 }, (_, n) => ({ id: 4000 + n, customer: `C-${n % 37}`, status: ["paid", "open"][n % 2], note: `parcel ${(n * 7919) % 10007}` })),
);
const LOG = Array.from({ length: 300 }, (_, n) => `12:${String(n % 60).padStart(2, "0")} INFO request ${n} took ${(n * 37) % 90} ms`).join("\n");
const TURNS = [
  { user: "Read the orders, please." },
  { calls: [{ id: "c1", name: "read_orders", input: { since: "2024" }, result: rows }] },
  { agent: "I have read 400 orders." },
  { user: "And the log?" },
  {
    calls: [
      { id: "c2", name: "read_log", input: {}, result: LOG },
      { id: "c3", name: "count", input: { of: "lines" }, result: "300" },
    ],
  },
  { agent: "It has 300 lines." },
  { user: "What is in the parcel of order 4100?" },
];

/** Talk that fills a prompt of some thousand tokens. */
const TALK = Array.from({ length: 60 }, (_, n) => [
  { user: `What of shelf ${n}? ${"It was moved and swept. ".repeat(12)}` },
  { agent: `Shelf ${n} is done. ${"The rest is to follow soon. ".repeat(14)}` },
]).flat();

/** The turns in the form of a format: what `user`, `agent` and calls made in one go are there. */
const told = (turns, { user, agent, calls }) => turns.flatMap((turn) => (turn.user ? user(turn.user) : turn.agent ? agent(turn.agent) : calls(turn.calls)));
const AI_SDK = {
  user: (content) => ({ role: "user", content: [{ type: "text", text: content }] }),
  agent: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
  calls: (calls) => [
    { role: "assistant", content: calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input })) },
    {
      role: "tool",
      content: calls.map(({ id, name, result }) => ({ type: "tool-result", toolCallId: id, toolName: name, output: { type: "text", value: result } })),
    },
  ],
};
const CHAT = {
  user: (content) => ({ role: "user", content }),
  agent: (content) => ({ role: "assistant", content }),
  calls: (calls) => [
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } })),
    },
    ...calls.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result })),
  ],
};

/** How each adapter is given a conversation. */
const ADAPTERS = {
  "ai-sdk": async (contextWeaver, options, turns) => contextWeaver({ ...options, tools: {} }).prepareStep({ messages: told(turns, AI_SDK) }),
  anthropic: async (contextWeaver, options, turns) => {
    const messages = told(turns, {
      user: (content) => ({ role: "user", content }),
      agent: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
      calls: (calls) => [
        { role: "assistant", content: calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })) },
        { role: "user", content: calls.map(({ id, result }) => ({ type: "tool_result", tool_use_id: id, content: result })) },
      ],
    });
    contextWeaver({ ...options, tools: [] }).fit({ model: "m", max_tokens: 10, messages });
  },
  "openai, chat": async (contextWeaver, options, turns) => void contextWeaver({ ...options, tools: [] }).fit({ model: "m", messages: told(turns, CHAT) }),
  "openai, responses": async (contextWeaver, options, turns) => {
    const input = told(turns, {
      user: (content) => ({ role: "user", content }),
      agent: (text) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text }] }),
      calls: (calls) => [
        ...calls.map(({ id, name, input }) => ({ type: "function_call", call_id: id, name, arguments: JSON.stringify(input) })),
        ...calls.map(({ id, result }) => ({ type: "function_call_output", call_id: id, output: result })),
      ],
    });
    contextWeaver({ ...options, tools: [] }).fit({ model: "m", input });
  },
  "openai-agents": async (contextWeaver, options, turns) => {
    const cw = contextWeaver(options);
    const input = told(turns, {
      user: (content) => ({ type: "message", role: "user", content }),
      agent: (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }),
      calls: (calls) => [
        ...calls.map(({ id, name, input }) => ({ type: "function_call", callId: id, name, arguments: JSON.stringify(input), status: "completed" })),
        ...calls.map(({ id, name, result }) => ({
          type: "function_call_result",
          callId: id,
          name,
          status: "completed",
          output: { type: "text", text: result },
        })),
      ],
    });
    await cw.serve({ getResponse: async () => ({}), getStreamedResponse() {} }).getResponse({ input, tools: cw.tools([]), handoffs: [], modelSettings: {} });
  },
  langchain: async (contextWeaver, options, turns) => {
    const messages = told(turns, {
      user: (content) => new HumanMessage({ id: content, content }),
      agent: (content) => new AIMessage(content),
      calls: (calls) => [
        new AIMessage({ content: "", tool_calls: calls.map(({ id, name, input }) => ({ id, name, args: input, type: "tool_call" })) }),
        ...calls.map(({ id, name, result }) => new ToolMessage({ tool_call_id: id, name, content: result })),
      ],
    });
    const request = { messages, systemMessage: new SystemMessage(""), tools: [], state: { messages }, runtime: {} };
    await contextWeaver(options).wrapModelCall(request, () => undefined);
  },
  mastra: async (contextWeaver, options, turns) => {
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = new MockLanguageModelV3({
      doGenerate: async () => ({ content: [{ type: "text", text: "." }], finishReason: { unified: "stop" }, usage, warnings: [] }),
    });
    const agent = new Agent({ id: "a", name: "a", instructions: "", model, inputProcessors: [contextWeaver(options)] });
    await agent.generate(told(turns, AI_SDK));
  },
};
const contextWeaverOf = (name) => entries[name.split(",")[0].replace("-", "_")];

/** The prompt by hand, within what an adapter leaves for messages. */
function byHand(turns, query, budget_tokens, running = false) {
  const manager = new entries.ContextManager();
  manager.syncMessages(told(turns, CHAT), "openai-chat");
  const { prompt } = manager.build({ phase: "answer", query, budget_tokens, running });
  manager.free();
  return prompt;
}

for (const name of Object.keys(ADAPTERS)) {
  test(`${name}: the prompt is the one that is made by hand`, async () => {
    for (const [count, budget] of [
      [1, 4_000],
      [4, 40_000],
      [TURNS.length, 40_000],
    ]) {
      const turns = TURNS.slice(0, count);
      const steps = [];
      await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: budget, on_step: (step) => steps.push(step) }, turns);
      const [{ built, synced }] = steps;
      assert.equal(steps.length, 1);
      assert.equal(
        synced.added.length,
        turns.reduce((sum, { calls }) => sum + (calls ? 2 * calls.length : 1), 0),
      );
      const query = turns.at(-1).user;
      assert.equal(built.pack.prompt, byHand(turns, query, budget));
    }
  });

  test(`${name}: in little room the same items stand there in the same way`, async () => {
    const steps = [];
    await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 1_700, on_step: (step) => steps.push(step) }, TURNS);
    const [{ built, tool_tokens }] = steps;
    assert.ok(built.tokens + tool_tokens <= 1_700);
    // Frames of formats differ by a few tokens, so that an excerpt may have a line more.
    const labels = (prompt) => prompt.split("\n").filter((line) => /^\[[A-Z]/.test(line));
    assert.deepEqual(labels(built.pack.prompt), labels(byHand(TURNS, TURNS.at(-1).user, built.pack.stats.budget_tokens, true)));
  });

  test(`${name}: a line names what left the prompt, where the model reads it`, async () => {
    const steps = [];
    // The first request stays, so that what leaves is said in the second, and named behind the first.
    const turns = [
      { user: "Good morning." },
      { agent: "Good morning." },
      { user: `My order is W-2378156. ${"It was for the office. ".repeat(20)}` },
      { agent: "I noted it." },
      ...TALK,
      { user: "And what is left to be swept?" },
    ];
    await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 9_000, manager: { ledger: true, rules: false }, on_step: (step) => steps.push(step) }, turns);
    const [{ built, tool_tokens }] = steps;
    const line = "recall finds: W-2378156 (";
    assert.ok(built.tokens + tool_tokens <= 9_000);
    assert.deepEqual([built.step.cut, built.step.hides], ["first", true]);
    assert.equal(built.pack.stats.ledger.identifiers, 1);
    assert.ok(built.pack.prompt.startsWith(`[USER]\nGood morning.\n\n[LEFT OUT]\n${line}`), built.pack.prompt.slice(0, 200));
    assert.equal(JSON.stringify(built.messages).split(line).length, 2);
    const at = built.messages.findIndex((message) => JSON.stringify(message).includes(line));
    assert.equal(built.messages[at].role, "user");
    assert.ok(at <= 1, `behind ${at} messages`);
  });

  test(`${name}: what the caller pins stays, and leaves when it is edited`, async () => {
    const turns = (brief) => [
      { user: "Good morning." },
      { agent: "Good morning." },
      { user: brief },
      { agent: "I noted it." },
      ...TALK,
      { user: "And what is left?" },
    ];
    const brief = `BRIEF: the hall is swept from the north. ${"Mind the corners and the long bench. ".repeat(20).trim()}`;
    const prompts = [];
    const asked = [];
    const pin = (item) => (asked.push(item.id), item.kind === "user_turn" && item.text.startsWith("BRIEF"));
    const manager = new entries.ContextManager();
    const isShared = !["langchain", "mastra"].includes(name);
    const options = { budget_tokens: 4_000, manager: isShared ? manager : () => manager, on_step: ({ built }) => prompts.push(built.pack.prompt) };
    await ADAPTERS[name](contextWeaverOf(name), options, turns(brief));
    await ADAPTERS[name](contextWeaverOf(name), { ...options, pin }, turns(brief));
    assert.deepEqual(
      prompts.map((prompt) => prompt.includes(brief)),
      [false, true],
    );
    assert.equal(new Set(asked).size, asked.length);
    assert.equal(asked.length, turns(brief).length);
    await ADAPTERS[name](contextWeaverOf(name), { ...options, pin }, turns("Never mind."));
    assert.ok(!prompts[2].includes(brief));
    await assert.rejects(async () => ADAPTERS[name](contextWeaverOf(name), { ...options, pin: "BRIEF" }, turns(brief)), { code: "INVALID_INPUT" });
    manager.free();
  });

  test(`${name}: an embedder says what items are about`, async () => {
    const asked = [];
    const embed = async (texts) => (asked.push(...texts), texts.map((text) => [text.length, 1]));
    for (const [given, codes] of [
      [embed, []],
      [
        async () => {
          throw new Error("no");
        },
        ["EMBEDDING_FAILED"],
      ],
    ]) {
      const steps = [];
      await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 4_000, manager: { embed: given }, on_step: (step) => steps.push(step) }, TURNS);
      const [{ built, warnings }] = steps;
      const isTold = (built.pack.warnings ?? []).some((one) => one.includes("embedMissing"));
      // Where the loop is the caller's own, and nothing waits, the caller asks for the vectors.
      const waits = !["anthropic", "openai"].includes(name.split(",")[0]);
      assert.deepEqual(
        warnings.map(({ code }) => code),
        waits ? codes : [],
      );
      assert.equal(isTold, !waits || codes.length > 0);
      assert.equal(asked.includes(TURNS.at(-1).user), waits);
    }
  });
}

/** Adapters that are given all tools at once, in the form of each. */
const WITH_TOOLS = {
  anthropic: ({ name, description }) => ({ name, description, input_schema: { type: "object" } }),
  "openai, chat": (tool) => ({ type: "function", function: { ...tool, parameters: { type: "object" } } }),
  "openai, responses": (tool) => ({ type: "function", strict: false, ...tool, parameters: { type: "object" } }),
};
for (const [name, form] of Object.entries(WITH_TOOLS)) {
  test(`${name}: tools are looked for once in a turn of the user, and again for the same words in another`, async () => {
    const shelves = Array.from({ length: 30 }, (_, n) => ({ name: `work_${n}`, description: `Counts the boxes of shelf ${n}` }));
    const tools = [...shelves, { name: "refund_order", description: "Refunds an order" }, { name: "order_status", description: "Tells where a parcel is" }];
    const steps = [];
    const asked = [];
    const manager = new entries.ContextManager();
    const { turnsBefore } = entries.ContextManager.prototype;
    manager.turnsBefore = (query) => (asked.push(query), turnsBefore.call(manager, query));
    const cw = contextWeaverOf(name)({ tools: tools.map(form), budget_tokens: 4_000, max_tools: 4, manager, on_step: (step) => steps.push(step) });
    const turns = [];
    const step = async (...more) => {
      turns.push(...more);
      await ADAPTERS[name](() => cw, {}, turns);
      return steps.at(-1);
    };
    const wants = ({ tools: listed, unlisted }) => [...listed, ...unlisted];
    const call = (id, tool) => ({ calls: [{ id, name: tool, input: { id: 7 }, result: `done ${id}` }] });
    const first = await step({ user: "Where is the parcel 7?" });
    assert.ok(first.tools.includes("order_status"), first.tools.join());
    for (const id of ["a", "b", "c"]) await step(call(id, "order_status"));
    assert.deepEqual(asked, ["Where is the parcel 7?"]);
    const agreed = await step({ agent: "It was lost. Shall I refund the order?" }, { user: "yes, please" });
    assert.ok(wants(agreed).includes("refund_order"), wants(agreed).join());
    for (const id of ["d", "e"]) assert.deepEqual(wants(await step(call(id, "refund_order"))), wants(agreed));
    const again = await step({ agent: "It is refunded. Shall I look where the parcel of your other order is?" }, { user: "yes, please" });
    assert.ok(wants(again).includes("order_status"), wants(again).join());
    // Another list would make the whole prompt new to the provider's cache.
    assert.equal(new Set(steps.map(({ tools: listed }) => listed.join())).size, 1);
    await step(call("f", "order_status"));
    assert.deepEqual(asked.slice(1), ["yes, please", "yes, please"]);
    cw.free();
    manager.free();
  });
}

/** Every entry with a handle, as it is made. */
const HANDLES = {
  "ai-sdk": { tools: {} },
  "ai-sdk, middleware": {},
  anthropic: { tools: [] },
  langchain: {},
  mastra: {},
  openai: { tools: [] },
  "openai-agents": {},
};
/** What of a handle plays a conversation. */
const PLAYS = { "ai-sdk, middleware": undefined, openai: "openai, chat" };

for (const [name, given] of Object.entries(HANDLES)) {
  test(`${name}: the handle is that of all entries`, async () => {
    const lines = [];
    const cw = contextWeaverOf(name)({ budget_tokens: 9_000, ...given, debug: (line) => lines.push(line) });
    const { manager } = cw;
    assert.ok(manager instanceof entries.ContextManager, "there from the beginning");
    assert.deepEqual([cw.costs().steps, String(cw.report()), cw.report().last], [0, "no step yet", undefined]);
    const play = name in PLAYS ? PLAYS[name] : name;
    if (play) {
      await ADAPTERS[play](() => cw, {}, [...TURNS.slice(0, 2), ...TALK, TURNS.at(-1)]);
      assert.equal(cw.manager, manager);
      const { costs, last, build, text } = cw.report();
      assert.deepEqual(
        last.digested.map(({ handle, tool_name }) => [handle, tool_name]),
        [["artifact:result:c1", "read_orders"]],
      );
      assert.deepEqual([costs.steps, costs.tokens], [cw.costs().steps, last.step.tokens]);
      assert.equal(last.step.repeated_tokens + last.new_tokens + last.rewritten_tokens, last.step.tokens);
      assert.equal(last.stats.dropped_count, build.data.candidates.dropped);
      assert.ok(text.includes(lines[0].split(" (")[0]) && `${cw.report()}` === text, text);
      assert.doesNotMatch(text, /headroom|closures|[Gg]enerated|\d\.\d{3}/);
      const [digest] = last.left_out.filter(({ handle }) => handle === "artifact:result:c1");
      assert.deepEqual([digest.item_id, digest.kind, digest.tokens], [last.digested[0].item_id, "tool_result", last.digested[0].tokens]);
      assert.ok(digest.became === "digest" || digest.became === "excerpt", digest.became);
      assert.ok(digest.shown_tokens > 0 && digest.shown_tokens < digest.tokens && text.includes(digest.reason), text);
      assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(cw.report()))), ["costs", "last", "build", "text"]);
      const again = entries.ContextManager.fromJSON(cw.report().session());
      assert.equal(again.stats().items, manager.stats().items);
      again.free();
    }
    cw.free();
    // In the order of none: what the framework takes stands beside these.
    for (const field of ["manager", "costs", "report", "free"]) assert.ok(field in cw, field);
  });
}

/** What was said, none of which a line may quote. */
const SAID = ["parcel", "customer", "INFO request", "swept", "read_orders {"];

test("a line of `debug` counts what was sent, digested and dropped, and says why it was cut", async () => {
  const lines = [];
  const manager = new entries.ContextManager();
  const cw = entries.openai({ tools: [], budget_tokens: 2_500, manager, debug: (line) => lines.push(line) });
  const turns = [...TURNS.slice(0, 2)];
  for (let at = 0; at < 40; at += 2) {
    turns.push(...TALK.slice(at, at + 2), { user: `And now ${at}?` }, { agent: "Yes." }, { user: "Go on." });
    await ADAPTERS["openai, chat"](() => cw, {}, turns);
  }
  const form =
    /^step (\d+): ([\d,]+) of 2,500 tokens \(~([\d,]+) expected from the cache, ([\d,]+) new, ([\d,]+) rewritten\); (?:nothing left out|\d+ (?:dropped|stub|excerpt|digest).*; largest .*?); (?:not cut|the first prompt|cut: (\w+) \(.+\))/;
  const read = lines.map((line) => form.exec(line) ?? assert.fail(line));
  const number = (text) => Number(text.replaceAll(",", ""));
  assert.deepEqual(
    read.map(([, step]) => Number(step)),
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
  for (const [, , tokens, cached, fresh, rewritten] of read) assert.equal(number(tokens), number(cached) + number(fresh) + number(rewritten));
  assert.match(
    lines[0],
    /1 excerpt; largest read_orders: [\d,]{5,} tokens, excerpt, artifact:result:c1, it is too large to be shown whole; the first prompt; drilldown, recall, \d+ tokens$/,
  );
  const later = read.slice(1).filter(([, , , , , , cut]) => cut !== undefined);
  assert.ok(later.length > 0 && later.some(([, , , , , rewritten]) => number(rewritten) > 0), lines.join("\n"));
  for (const [at, [, , , cached, , rewritten, cut]] of read.entries())
    if (at > 0 && cut === undefined) assert.ok(number(cached) > 0 && rewritten === "0", lines[at]);
  assert.match(lines.join("\n"), /[1-9]\d* dropped.*; largest [\w:.-]+: [\d,]+ tokens, /);
  for (const said of SAID) assert.ok(!lines.join("\n").includes(said), said);
  assert.throws(() => cw.fit({ model: "m", messages: [{ role: "user", content: "word ".repeat(9_000) }] }), { code: "BUDGET_EXCEEDED" });
  assert.match(lines.at(-1), /^step failed: BUDGET_EXCEEDED/);
  assert.throws(() => entries.openai({ tools: [], budget_tokens: 2_500, debug: "yes" }), { code: "INVALID_INPUT", path: "/debug" });
  // Who watches does not disturb.
  const other = entries.openai({
    tools: [],
    budget_tokens: 2_500,
    debug: () => {
      throw new Error("no");
    },
  });
  assert.equal(other.fit({ model: "m", messages: [{ role: "user", content: "Hello" }] }).messages.length, 1);
  other.free();
  cw.free();
  manager.free();
});

/** A tool that answers what it is told to. */
const readOrder = {
  type: "function",
  function: { name: "read_order", description: "Read an order.", parameters: { type: "object", properties: { id: { type: "string" } } } },
};

test("a line names the thrift of a manager that was handed over, as the manager has it", () => {
  for (const [settings, thrift] of [
    [{}, 0.5],
    [{ thrift: 0.4 }, 0.4],
  ]) {
    const lines = [];
    const manager = new entries.ContextManager(settings);
    const cw = entries.openai({ manager, tools: [readOrder], budget_tokens: 4_000, debug: (line) => lines.push(line) });
    const messages = [];
    for (let at = 0; at < 30; at += 1) {
      messages.push({ role: "user", content: `Note ${at}: ${Array.from({ length: 150 }, (_, word) => `w${at}x${word % 40}`).join(" ")}` });
      cw.fit({ model: "gpt-5", messages: [...messages] });
      messages.push({ role: "assistant", content: "Noted." });
    }
    const cuts = lines.filter((line) => line.includes("; cut: full"));
    assert.ok(cuts.length > 0 && cuts.every((line) => line.includes(`one deep cut is cheaper than many (thrift ${thrift})`)), cuts.join("\n"));
    manager.free();
  }
});

test("a large result that stands whole in the prompt is not told as left out", () => {
  const cw = entries.openai({ tools: [readOrder], budget_tokens: 30_000 });
  const call = { id: "c1", type: "function", function: { name: "read_order", arguments: "{}" } };
  const content = Array.from({ length: 300 }, (_, at) => `line ${at}: order ${at * 7919}`).join("\n");
  const result = { role: "tool", tool_call_id: "c1", content };
  const { messages } = cw.fit({
    model: "gpt-5",
    messages: [{ role: "user", content: "Read it." }, { role: "assistant", content: null, tool_calls: [call] }, result],
  });
  assert.ok(messages.some((message) => message.content === content));
  const { last, text } = cw.report();
  assert.deepEqual(last.left_out, [], text);
  assert.ok(!text.includes("not whole"), text);
  cw.free();
});

test("a line and the report say what was left out at a cut and why, what lost the cache, and what the provider had in it", () => {
  const lines = [];
  const cw = entries.openai({ tools: [readOrder], budget_tokens: 4_000, thrift: 0.5, debug: (line) => lines.push(line) });
  const messages = [];
  const say = (text, model = "gpt-5") => {
    messages.push({ role: "user", content: text });
    cw.fit({ model, messages: [...messages] });
    messages.push({ role: "assistant", content: "Noted." });
    return cw.report();
  };
  const steps = Array.from({ length: 30 }, (_, at) => say(`Note ${at}: ${Array.from({ length: 150 }, (_, word) => `w${at}x${word % 40}`).join(" ")}`).last);
  const at = steps.findIndex(({ step }) => step.cut === "full");
  assert.ok(at > 0, lines.join("\n"));
  const { left_out, stats, step } = steps[at];
  const dropped = left_out.filter(({ became }) => became === "dropped");
  assert.equal(dropped.length, stats.dropped_count);
  assert.ok(
    dropped.some(({ reason }) => reason === "left at a cut, as one deep cut is cheaper than many (thrift 0.5)"),
    JSON.stringify(dropped),
  );
  for (const { shown_tokens, tokens, kind } of dropped) assert.ok(shown_tokens === 0 && tokens > 0 && kind, "of what was dropped");
  assert.match(
    lines[at],
    new RegExp(
      `; cut: full \\(the next one would not fit\\), shortened to ${step.tokens.toLocaleString("en-US")} of 4,000, as one deep cut is cheaper than many \\(thrift 0.5\\);`,
    ),
  );
  assert.match(lines[at], /; 1 of 1 tools, and drilldown, recall, \d+ tokens/);
  assert.match(lines[0], /; nothing left out; the first prompt; 1 of 1 tools, \d+ tokens$/);
  // A call of the model is observed: what was a forecast has a fact beside it.
  const { step: forecast } = cw.report().last;
  cw.observe({ model: "gpt-5", usage: { prompt_tokens: Math.round(1.5 * forecast.tokens), prompt_tokens_details: { cached_tokens: 640 } } });
  const expected = `~${forecast.repeated_tokens.toLocaleString("en-US")} expected`;
  assert.equal(cw.report().last.observed_cached_tokens, 640);
  assert.ok(`${cw.report()}`.includes(`${expected} from the cache, where the provider had 640`), `${cw.report()}`);
  const { last } = say("And now?");
  assert.ok(lines.at(-1).includes(`of the call before the provider had 640 tokens in its cache (${expected})`), lines.at(-1));
  assert.match(lines.at(-1), /of [\d,]+ tokens \(4,000 as the provider counts, 1\.\d+ times as much\)/);
  assert.equal(last.observed_cached_tokens, undefined);
  // Another model has nothing of it in its cache.
  const other = say("Who are you?", "gpt-4o");
  assert.equal(other.last.cold_because, other.last.step.cut === "cold" ? "another model is called" : undefined);
  // It pays its full price anyway, and may leave something.
  assert.match(
    lines.at(-1),
    /cut: cold \(the provider's cache is lost, because another model is called\)(, shortened to [\d,]+ of [\d,]+[^;]*)?; 1 of 1 tools/,
  );
  const text = `${other}`;
  const listed = text.split("\n").filter((line) => /^ {2}\S+ \(/.test(line));
  assert.equal(listed.length, 10);
  assert.match(text, new RegExp(`\n  and ${other.last.left_out.length - 10} more$`));
  assert.match(text, /they cost as [\d,]+ input tokens at full price, \d+ % (?:less|more) than sending everything/);
  const { cost, cost_without } = cw.costs();
  for (const price of [cost, cost_without, other.last.step.cost, other.last.step.cost_without]) assert.equal(price, Number(price.toFixed(1)));
  cw.free();
});

test("a line says that tools which joined, or a pause, lost the provider's cache", (t) => {
  const lines = [];
  const cw = entries.openai({ tools: [readOrder], budget_tokens: 4_000, debug: (line) => lines.push(line) });
  const call = { id: "c1", type: "function", function: { name: "read_order", arguments: "{}" } };
  const messages = [{ role: "user", content: "Hello" }];
  cw.fit({ model: "gpt-5", messages });
  const rows = Array.from({ length: 400 }, (_, at) => `line ${at} value ${(at * 7919) % 1000}`).join("\n");
  messages.push({ role: "assistant", content: null, tool_calls: [call] }, { role: "tool", tool_call_id: "c1", content: rows });
  cw.fit({ model: "gpt-5", messages });
  assert.match(lines[1], /; cut: cold \(the provider's cache is lost, because the tools changed: drilldown, recall joined\)/);
  t.mock.method(Date, "now", () => new Date().getTime() + 3 * 86_400_000);
  cw.fit({ model: "gpt-5", messages: [...messages, { role: "assistant", content: "Read." }, { role: "user", content: "And?" }] });
  assert.match(lines[2], /because [\d,]+ minutes passed since the call before\)/);
  cw.free();
});

test("`debug: true` writes to standard error, and in Workers to console.debug", async (t) => {
  const error = t.mock.method(console, "error", () => {});
  const debug = t.mock.method(console, "debug", () => {});
  const fit = () => entries.openai({ tools: [], budget_tokens: 2_500, debug: true }).fit({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  fit();
  assert.match(error.mock.calls[0].arguments[0], /^contextweaver: step 1: /);
  const { navigator } = globalThis;
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Cloudflare-Workers" }, configurable: true });
  fit();
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  assert.deepEqual([error.mock.callCount(), debug.mock.callCount()], [1, 1]);
});

test("a session in place of a log is saved before the model is asked, and is not freed", async () => {
  const store = entries.memoryStore();
  const session = await entries.openSession(store.session("s"));
  const cw = entries.ai_sdk({ tools: {}, budget_tokens: 9_000, session });
  assert.equal(cw.manager, session.manager);
  await ADAPTERS["ai-sdk"](() => cw, {}, TURNS.slice(0, 4));
  const again = await entries.openSession(store.session("s"));
  assert.equal(again.manager.stats().items, session.manager.stats().items);
  cw.free();
  assert.ok(session.manager.stats().items > 0);
  for (const [more, path] of [
    [{ manager: {} }, "/manager"],
    [{ thrift: 0.2 }, "/thrift"],
    [{ session: {} }, "/session"],
  ]) {
    assert.throws(() => entries.ai_sdk({ tools: {}, budget_tokens: 9_000, session, ...more }), { code: "INVALID_INPUT", path });
  }
  again.free();
  session.free();
});

for (const name of ["langchain", "mastra"]) {
  test(`${name}: each conversation has a handle, and the last one is that of the agent`, async () => {
    const cw = contextWeaverOf(name)({ budget_tokens: 9_000 });
    await ADAPTERS[name](() => cw, {}, TURNS.slice(0, 1));
    const first = cw.manager;
    await ADAPTERS[name](() => cw, {}, [{ user: "Something else." }]);
    assert.notEqual(cw.manager, first);
    assert.equal(cw.conversation("nobody"), undefined);
    cw.free();
    const asked = contextWeaverOf(name)({ budget_tokens: 9_000, manager: () => new entries.ContextManager() });
    assert.throws(() => asked.manager, { code: "NOT_FOUND" });
    assert.doesNotThrow(() => ({ ...asked }));
  });
}

for (const [name, given] of Object.entries(HANDLES)) {
  test(`${name}: an option that there is not names the one that is meant`, () => {
    const isMany = ["langchain", "mastra"].includes(name);
    const [wrong, hint] = isMany ? ["max_conversation", "max_conversations"] : name.startsWith("ai-sdk") ? ["cache_kye", "cache_key"] : ["onStep", "on_step"];
    assert.throws(() => contextWeaverOf(name)({ budget_tokens: 9_000, ...given, [wrong]: 1 }), {
      code: "UNKNOWN_FIELD",
      path: `/${wrong}`,
      hint: `did you mean \`${hint}\`?`,
    });
    assert.throws(() => contextWeaverOf(name)({ budget_tokens: 9_000, ...given, zzz: 1 }), { code: "UNKNOWN_FIELD", hint: /^one of: budget_tokens .*debug/ });
  });
}

test("what is not there names what there is", async () => {
  const known = (id, tool) => ({ calls: [{ id, name: tool, input: {}, result: rows }] });
  const cw = entries.openai({ tools: [], budget_tokens: 9_000 });
  await ADAPTERS["openai, chat"](() => cw, {}, [{ user: "Read them." }, known("c1", "read_orders"), known("c2", "read_more")]);
  const { manager } = cw;
  const of = (handle) => () => manager.drilldown(handle, { type: "head", chars: 10 });
  assert.throws(of("artifact:result:c3"), { code: "ARTIFACT_NOT_FOUND", hint: "did you mean `artifact:result:c1`? there are 2 artifacts" });
  assert.throws(of("result:c2x"), { code: "ARTIFACT_NOT_FOUND", hint: "there are 2 artifacts: `artifact:result:c1`, `artifact:result:c2`" });
  assert.throws(() => manager.events.get("9"), { code: "NOT_FOUND", hint: /^there are 5 items: / });
  assert.throws(() => manager.build({ phase: "answer", pin: ["result:c11"] }), { code: "NOT_FOUND", path: "/pin/0", hint: /did you mean `result:c1`/ });
  // The model is told, too.
  const said = cw.answer({ type: "function", id: "x", function: { name: "drilldown", arguments: JSON.stringify({ handle: "artifact:result:c3" }) } });
  assert.match(said.content, /did you mean/);
  assert.throws(
    () => entries.openai({ tools: [{ type: "function", function: { name: "read_orders", parameters: {} } }], budget_tokens: 9_000, always: ["read_order"] }),
    { code: "NOT_FOUND", path: "/always", hint: "did you mean `read_orders`?" },
  );
  cw.free();
});

test("what `pin` throws ends the step, and the next one asks again", () => {
  let isUnwell = true;
  const asked = [];
  const pin = ({ id, text }) => {
    asked.push(id);
    if (isUnwell && text.startsWith("The brief")) throw new Error("unwell");
    return text.startsWith("The brief");
  };
  const cw = entries.openai({ tools: [], budget_tokens: 4_000, pin });
  const said = (role, content) => ({ role, content });
  const messages = [said("user", "Hello"), said("assistant", `The brief: ${"zebra ".repeat(150)}`), said("user", "Go on")];
  assert.throws(() => cw.fit({ model: "gpt-5", messages }), { message: "unwell" });
  isUnwell = false;
  for (let n = 0; n < 60; n += 1) messages.push(said("assistant", `${"word ".repeat(200)}${n}`), said("user", `And ${n}?`));
  const { messages: sent } = cw.fit({ model: "gpt-5", messages });
  assert.ok(sent.length < messages.length && JSON.stringify(sent).includes("The brief"));
  // Each once, and the one that failed twice.
  assert.equal(asked.length, messages.length + 1);
  cw.free();
});

test("what a server says of a tool is repaired, however many tools there are", () => {
  const nested = Array.from({ length: 80 }).reduce((inner) => ({ type: "object", properties: { a: inner } }), { type: "object" });
  const odd = {
    half: ["Counts zebras \ud83d", { type: "object", properties: { "a\ud83d": { type: "string", description: "\ud83d" } } }],
    deep: ["Counts zebras", nested],
    list: ["Counts zebras", []],
    anything: ["Counts zebras", true],
  };
  for (const [title, [description, parameters]] of Object.entries(odd)) {
    for (const others of [1, 40]) {
      const tool = (name, said, schema = { type: "object" }) => ({ type: "function", function: { name, description: said, parameters: schema } });
      const tools = [tool("count", description, parameters), ...Array.from({ length: others }, (_, n) => tool(`sweep_${n}`, `Sweeps floor ${n}`))];
      const cw = entries.openai({ tools, budget_tokens: 16_000 });
      const { tools: sent } = cw.fit({ model: "gpt-5", messages: [{ role: "user", content: "Count the zebras" }] });
      assert.ok(
        sent.some((one) => one.function.name === "count"),
        `${title}, ${others}`,
      );
      if (others > 16) {
        const { content } = cw.answer({ type: "function", id: "c1", function: { name: "find_tools", arguments: '{"query":"count zebras"}' } });
        assert.match(content, /^count: Counts zebras/, title);
      }
      cw.free();
    }
  }
});

test("instructions that were cut in the middle of a character are repaired", async () => {
  const cw = entries.openai({ tools: [], budget_tokens: 4_000 });
  assert.equal(cw.fit({ model: "gpt-5", instructions: "Be brief \ud83d", input: "Hello" }).instructions, "Be brief \ufffd");
  cw.free();
  const agents = entries.openai_agents({ budget_tokens: 4_000 });
  const model = { getResponse: async (request) => request, async *getStreamedResponse() {} };
  const request = { input: "Hello", tools: agents.tools([]), handoffs: [], modelSettings: {}, systemInstructions: "Be brief \ud83d" };
  assert.equal((await agents.serve(model).getResponse(request)).systemInstructions, "Be brief \ufffd");
  agents.free();
});

test("who gives no options is told which are needed", () => {
  for (const [name, path] of Object.entries({ openai: "/tools", anthropic: "/tools", openai_agents: "/budget_tokens", ai_sdk: "/budget_tokens" }))
    for (const options of [undefined, null]) assert.throws(() => entries[name](options), { code: "MISSING_FIELD", path }, name);
});
