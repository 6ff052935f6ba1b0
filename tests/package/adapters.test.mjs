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
const folder = await project("adapters", { "entry.mjs": [...lines, 'export { ContextManager } from "contextweaver";'].join("\n") });
const entries = await import(pathToFileURL(join(folder, "entry.mjs")));

/** What was said, in the words of no SDK: a large result, a small one, and questions. */
const rows = JSON.stringify(Array.from({ length: 400 }, (_, n) => ({ id: 4000 + n, customer: `C-${n % 37}`, status: ["paid", "open"][n % 2], note: `parcel ${(n * 7919) % 10007}` })));
const LOG = Array.from({ length: 300 }, (_, n) => `12:${String(n % 60).padStart(2, "0")} INFO request ${n} took ${(n * 37) % 90} ms`).join("\n");
const TURNS = [
  { user: "Read the orders, please." },
  { calls: [{ id: "c1", name: "read_orders", input: { since: "2024" }, result: rows }] },
  { agent: "I have read 400 orders." },
  { user: "And the log?" },
  { calls: [{ id: "c2", name: "read_log", input: {}, result: LOG }, { id: "c3", name: "count", input: { of: "lines" }, result: "300" }] },
  { agent: "It has 300 lines." },
  { user: "What is in the parcel of order 4100?" },
];

/** Talk that fills a prompt of some thousand tokens. */
const TALK = Array.from({ length: 60 }, (_, n) => [{ user: `What of shelf ${n}? ${"It was moved and swept. ".repeat(12)}` }, { agent: `Shelf ${n} is done. ${"The rest is to follow soon. ".repeat(14)}` }]).flat();

/** The turns in the form of a format: what `user`, `agent` and calls made in one go are there. */
const told = (turns, { user, agent, calls }) => turns.flatMap((turn) => (turn.user ? user(turn.user) : turn.agent ? agent(turn.agent) : calls(turn.calls)));
const AI_SDK = {
  user: (content) => ({ role: "user", content: [{ type: "text", text: content }] }),
  agent: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
  calls: (calls) => [
    { role: "assistant", content: calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input })) },
    { role: "tool", content: calls.map(({ id, name, result }) => ({ type: "tool-result", toolCallId: id, toolName: name, output: { type: "text", value: result } })) },
  ],
};
const CHAT = {
  user: (content) => ({ role: "user", content }),
  agent: (content) => ({ role: "assistant", content }),
  calls: (calls) => [
    { role: "assistant", content: null, tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } })) },
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
        ...calls.map(({ id, name, result }) => ({ type: "function_call_result", callId: id, name, status: "completed", output: { type: "text", text: result } })),
      ],
    });
    await cw.serve({ getResponse: async () => ({}), getStreamedResponse() {} }).getResponse({ input, tools: cw.tools([]), handoffs: [], modelSettings: {} });
  },
  langchain: async (contextWeaver, options, turns) => {
    const messages = told(turns, {
      user: (content) => new HumanMessage(content),
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
    const model = new MockLanguageModelV3({ doGenerate: async () => ({ content: [{ type: "text", text: "." }], finishReason: { unified: "stop" }, usage, warnings: [] }) });
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
    for (const [count, budget] of [[1, 4_000], [4, 40_000], [TURNS.length, 40_000]]) {
      const turns = TURNS.slice(0, count);
      const steps = [];
      await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: budget, onStep: (step) => steps.push(step) }, turns);
      const [{ built, synced }] = steps;
      assert.equal(steps.length, 1);
      assert.equal(synced.added.length, turns.reduce((sum, { calls }) => sum + (calls ? 2 * calls.length : 1), 0));
      const query = turns.at(-1).user;
      assert.equal(built.pack.prompt, byHand(turns, query, budget));
    }
  });

  test(`${name}: in little room the same items stand there in the same way`, async () => {
    const steps = [];
    await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 1_700, onStep: (step) => steps.push(step) }, TURNS);
    const [{ built, tool_tokens }] = steps;
    assert.ok(built.tokens + tool_tokens <= 1_700);
    // Frames of formats differ by a few tokens, so that an excerpt may have a line more.
    const labels = (prompt) => prompt.split("\n").filter((line) => /^\[[A-Z]/.test(line));
    assert.deepEqual(labels(built.pack.prompt), labels(byHand(TURNS, TURNS.at(-1).user, built.pack.stats.budget_tokens, true)));
  });

  test(`${name}: a line names what left the prompt, where the model reads it`, async () => {
    const steps = [];
    // The first request stays, so that what leaves is said in the second, and named behind the first.
    const turns = [{ user: "Good morning." }, { agent: "Good morning." }, { user: `My order is W-2378156. ${"It was for the office. ".repeat(20)}` }, { agent: "I noted it." }, ...TALK, { user: "And what is left to be swept?" }];
    await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 9_000, manager: { ledger: true, rules: false }, onStep: (step) => steps.push(step) }, turns);
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
    const turns = (brief) => [{ user: "Good morning." }, { agent: "Good morning." }, { user: brief }, { agent: "I noted it." }, ...TALK, { user: "And what is left?" }];
    const brief = `BRIEF: the hall is swept from the north. ${"Mind the corners and the long bench. ".repeat(20).trim()}`;
    const prompts = [];
    const asked = [];
    const pin = (item) => (asked.push(item.id), item.kind === "user_turn" && item.text.startsWith("BRIEF"));
    const manager = new entries.ContextManager();
    const isShared = !["langchain", "mastra"].includes(name);
    const options = { budget_tokens: 4_000, manager: isShared ? manager : () => manager, onStep: ({ built }) => prompts.push(built.pack.prompt) };
    await ADAPTERS[name](contextWeaverOf(name), options, turns(brief));
    await ADAPTERS[name](contextWeaverOf(name), { ...options, pin }, turns(brief));
    assert.deepEqual(prompts.map((prompt) => prompt.includes(brief)), [false, true]);
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
    for (const [given, codes] of [[embed, []], [async () => { throw new Error("no"); }, ["EMBEDDING_FAILED"]]]) {
      const steps = [];
      await ADAPTERS[name](contextWeaverOf(name), { budget_tokens: 4_000, manager: { embed: given }, onStep: (step) => steps.push(step) }, TURNS);
      const [{ built, warnings }] = steps;
      const isTold = (built.pack.warnings ?? []).some((one) => one.includes("embedMissing"));
      // Where the loop is the caller's own, and nothing waits, the caller asks for the vectors.
      const waits = !["anthropic", "openai"].includes(name.split(",")[0]);
      assert.deepEqual(warnings.map(({ code }) => code), waits ? codes : []);
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
    const cw = contextWeaverOf(name)({ tools: tools.map(form), budget_tokens: 4_000, max_tools: 4, manager, onStep: (step) => steps.push(step) });
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
