// The adapter for LangChain in the framework's own loop, with a scripted model.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, providerStrategy, tool, toolStrategy } from "langchain";
import { ConfigurableModel } from "langchain/chat_models/universal";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  ANSWER,
  BUDGET,
  CALLS,
  DONE,
  FIND_ROW,
  PICTURE,
  QUESTION,
  READ,
  RUN_BUDGETS,
  RUN_INSTRUCTIONS,
  RUN_TOOLS,
  STEPS,
  TASK,
  costly,
  evicted,
  holdsTheCost,
  holdsTheRun,
  holdsTheSession,
  longRun,
  manyTools,
  orders,
  partOf,
  script,
  textsOf,
} from "./agent-session.mjs";
import { project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const folder = await project("langchain", {
  "entry.mjs": `export * from "contextweaver/langchain"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

const LIMIT = { recursionLimit: 1_000 };

/** The schemas that are of Zod; the others are JSON Schema. */
const SCHEMAS = { export_orders: z.object({ since: z.string().optional() }), take_picture: z.object({}) };
const picture = [
  { type: "text", text: "the desk" },
  { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } },
];

/** The tools of the session as the framework has them. */
function sdkTools() {
  const { tools, executed } = manyTools();
  const made = tools.map(({ name, description, schema, run }) =>
    tool(async () => (name === "take_picture" ? (run(), picture) : run()), { name, description, schema: SCHEMAS[name] ?? schema }),
  );
  return { tools: made, executed };
}

/** A model that says what `next` says to what it is asked. */
class ScriptedModel extends BaseChatModel {
  constructor(next, tools = [], settings = {}) {
    super({});
    Object.assign(this, { next, offered: tools, settings });
  }
  _llmType() {
    return "scripted";
  }
  bindTools(tools, settings) {
    return new ScriptedModel(this.next, tools, settings);
  }
  async _generate(messages, { signal }) {
    signal?.throwIfAborted();
    const message = new AIMessage(await this.next({ messages, tools: this.offered, settings: this.settings }));
    return { generations: [{ text: "", message }] };
  }
  async *_streamResponseChunks(messages, _, run) {
    const { content, tool_calls = [], usage_metadata } = await this.next({ messages, tools: this.offered, settings: this.settings });
    const pieces = [
      ...(typeof content === "string" ? [...content].map((letter) => ({ content: letter })) : [{ content }]),
      ...tool_calls.flatMap(({ id, name, args }, index) => [
        { content: "", tool_call_chunks: [{ id, name, args: "", index }] },
        { content: "", tool_call_chunks: [{ args: JSON.stringify(args), index }] },
      ]),
      ...(usage_metadata ? [{ content: "", usage_metadata }] : []),
    ];
    for (const piece of pieces) {
      yield new ChatGenerationChunk({ text: typeof piece.content === "string" ? piece.content : "", message: new AIMessageChunk(piece) });
      await run?.handleLLMNewToken(typeof piece.content === "string" ? piece.content : "");
    }
  }
}

const call = (id, name, args) => ({ type: "tool_call", id, name, args });
const asks = (...tool_calls) => ({ content: "", tool_calls });
const says = (content) => ({ content });

const sentTexts = (messages) =>
  textsOf(
    messages.map(({ content, tool_calls = [], tool_call_id = "" }) => [
      content,
      tool_call_id,
      tool_calls.map(({ id, name, args }) => [id, name, JSON.stringify(args)]),
    ]),
  );
const definition = ({ name, description, schema, function: inner }) => JSON.stringify(inner ?? { name, description, schema: schema && toJsonSchema(schema) });

/** What every provider wants, within the budget. */
function accepts({ messages, tools, settings = {} }, budget = BUDGET) {
  for (const message of messages) assert.ok(message instanceof BaseMessage, "no message of the framework");
  const roles = { human: "user", ai: "assistant", system: "system", tool: "tool" };
  const chat = messages.map((message) => {
    assert.ok(typeof message.text === "string" && message.getType() === message.type);
    const calls = (message.tool_calls ?? []).map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } }));
    // Calls stand in the content, too, for Anthropic; LangChain's converter for OpenAI takes them out.
    const content = Array.isArray(message.content) ? message.content.filter(({ type }) => type !== "tool_use") : message.content;
    return {
      role: roles[message.type],
      content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(message.type === "tool" && { tool_call_id: message.tool_call_id }),
    };
  });
  assert.equal(PROVIDER_RULES["openai-chat"]({ messages: chat }), undefined);
  assert.ok(
    chat.every(({ role }, at) => role !== "system" || at === 0),
    "instructions below the beginning",
  );
  const { response_format: { json_schema: answer } = {} } = settings;
  const tokens = sentTexts(messages)
    .concat(tools.map(definition), answer ? [JSON.stringify(toJsonSchema(answer.schema))] : [])
    .reduce((sum, text) => sum + countTokens(text), 0);
  assert.ok(tokens <= budget, `${tokens} tokens`);
}

/** The session as a model of the framework. */
function scripted() {
  const next = script();
  return (options) => {
    accepts(options);
    const { text, calls = [] } = next({
      sent: [sentTexts(options.messages), options.messages.map(({ content }) => content)],
      offered: options.tools.map(({ name }) => name),
    });
    return text === undefined ? asks(...calls.map(({ id, name, input }) => call(id, name, input))) : says(text);
  };
}

const HOW = {
  invoke: (agent, input, config) => agent.invoke(input, { ...LIMIT, ...config }),
  stream: async (agent, input, config) => {
    let state;
    let tokens = 0;
    for await (const [mode, value] of await agent.stream(input, { ...LIMIT, ...config, streamMode: ["messages", "values"] })) {
      if (mode === "values") state = value;
      else if (AIMessageChunk.isInstance(value[0])) tokens += 1;
    }
    assert.ok(tokens > 0, "nothing was streamed");
    return state;
  },
};

const user = (content) => ({ role: "user", content });
const thread = (thread_id) => ({ configurable: { thread_id } });

for (const [name, run] of Object.entries(HOW)) {
  test(`LangChain, ${name}: 60 steps, 200 tools, large results and a picture`, async () => {
    const { tools, executed } = sdkTools();
    const steps = [];
    const called = [];
    const hooks = { tool_executed: ({ name: one, call_id }) => called.push([one, call_id]) };
    const cw = contextWeaver({ budget_tokens: BUDGET, manager: { hooks }, on_step: (step) => steps.push(step) });
    const agent = createAgent({ model: new ScriptedModel(scripted()), tools, middleware: [cw], systemPrompt: "Be brief." });
    const { messages } = await run(agent, { messages: [user(QUESTION)] }, thread("t"));
    assert.equal(messages.at(-1).text, ANSWER);
    assert.equal(steps.length, STEPS);
    for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
    assert.deepEqual(
      steps.flatMap(({ warnings }) => warnings),
      [],
    );
    // Nothing was said twice, and nothing is lost: in the log as in the state of the graph.
    holdsTheSession(cw.manager, executed);
    assert.equal(messages.length, 1 + STEPS + CALLS);
    assert.equal(JSON.parse(messages[2].content).length, 900);
    assert.deepEqual(called, [
      ["find_tools", "c1b"],
      ["recall", "again"],
      ["drilldown", "last"],
    ]);
    cw.free();
  });

  test(`LangChain, ${name}: ${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results`, async () => {
    const tools = RUN_TOOLS.map((one) => tool(async ({ part }) => partOf(part), one));
    const play = async (middleware) => {
      const next = longRun();
      const requests = [];
      const model = new ScriptedModel((options) => {
        accepts(options, Infinity);
        const [system, ...messages] = options.messages.map(({ type, content, tool_calls: calls = [], tool_call_id: of }) => ({
          type,
          content,
          calls: calls.map(({ id, name: called, args }) => [id, called, args]),
          of,
        }));
        requests.push(JSON.parse(JSON.stringify({ head: [system, options.tools.map(definition), options.settings], messages })));
        const { text, calls = [] } = next();
        return { ...says(text), tool_calls: calls.map(({ id, name: called, input }) => call(id, called, input)) };
      });
      const { messages } = await run(createAgent({ model, tools, middleware, systemPrompt: RUN_INSTRUCTIONS }), { messages: [user(TASK)] }, thread("t"));
      assert.equal(messages.at(-1).text, DONE);
      return requests;
    };
    const bare = await play([]);
    for (const budget of RUN_BUDGETS) {
      const steps = [];
      const cw = contextWeaver({ budget_tokens: budget, on_step: (step) => steps.push(step) });
      holdsTheRun({ budget, requests: await play([cw]), bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
      cw.free();
    }
  });

  test(`LangChain, ${name}: what calls cost is what the budget is kept by`, async () => {
    for (const calibrate of [true, false]) {
      const { costs, next, page } = costly(countTokens);
      const steps = [];
      const model = new ScriptedModel(({ messages, tools }) => {
        const { cost, call: wanted, text } = next([...sentTexts(messages), ...tools.map(definition)]);
        const usage_metadata = { input_tokens: cost, output_tokens: 1, total_tokens: cost + 1 };
        return { ...(wanted ? asks(call(wanted.id, wanted.name, wanted.input)) : says(text)), usage_metadata };
      });
      const cw = contextWeaver({ budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
      const read = tool(async ({ page: n }) => page(n), READ);
      await run(createAgent({ model, tools: [read], middleware: [cw] }), { messages: [user("Read all pages.")] }, thread("t"));
      holdsTheCost({ costs, steps, calibrate, model: "ScriptedModel" });
      cw.free();
    }
  });

  test(`LangChain, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
    const { manager, read, on_step, next, holds } = evicted({ ContextManager });
    let last;
    const model = new ScriptedModel(({ messages }) => {
      const { call: wanted, text } = next(sentTexts(messages));
      last = text;
      return wanted ? asks(call(wanted.id, wanted.name, wanted.input)) : says(text);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, manager: () => manager, on_step });
    await run(createAgent({ model, tools: [tool(async () => read(), READ)], middleware: [cw] }), { messages: [user(QUESTION)] }, thread("t"));
    holds(last);
    manager.free();
  });

  test(`LangChain, ${name}: a conversation of several runs, edited and trimmed`, async () => {
    const asked = [];
    const model = new ScriptedModel((options) => {
      accepts(options);
      asked.push(sentTexts(options.messages).join("\n"));
      return says(`answer ${asked.length}`);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = createAgent({ model, middleware: [cw] });
    let messages = [user("My name is Ada.")];
    const turn = async (content) => {
      if (content) messages.push(user(content));
      ({ messages } = await run(agent, { messages }, thread("t")));
    };
    await turn();
    await turn("I live in Paris.");
    await turn("Which city is it?");
    assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
    // The user mends what was said last, and the host forgets the oldest turn.
    messages = [...messages.slice(2, -2), user("Which country is it?")];
    await turn();
    assert.match(asked[3], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
    assert.doesNotMatch(asked[3], /city|answer 3/);
    cw.free();
  });

  test(`LangChain, ${name}: what a tool throws is a result, and a run may be aborted and taken up`, async () => {
    const controller = new AbortController();
    const fail = tool(
      async () => {
        throw new Error("the disk is full");
      },
      { name: "fail", description: "Fails", schema: z.object({}) },
    );
    const hang = tool(
      async (_, { signal }) => {
        controller.abort();
        signal.throwIfAborted();
      },
      { name: "hang", description: "Hangs", schema: z.object({}) },
    );
    const texts = [];
    const turns = [asks(call("f", "fail", {})), asks(call("h", "hang", {})), says("done")];
    const model = new ScriptedModel((options) => {
      accepts(options);
      texts.push(sentTexts(options.messages).join("\n"));
      return turns[texts.length - 1];
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = createAgent({ model, tools: [fail, hang], middleware: [cw], checkpointer: new MemorySaver() });
    await assert.rejects(run(agent, { messages: [user("Do it.")] }, { ...thread("t"), signal: controller.signal }), /abort/i);
    assert.match(texts[1], /the disk is full/);
    // What the graph has of it is a call without its result.
    const { messages } = await run(agent, { messages: [user("Go on.")] }, thread("t"));
    assert.equal(messages.at(-1).text, "done");
    assert.match(texts[2], /No result was recorded[^]*Go on/);
    cw.free();
  });

  test(`LangChain, ${name}: calls that wait for a person, approved, edited and rejected`, async () => {
    const paid = [];
    const pay = tool(async ({ to }) => (paid.push(to), "paid"), { name: "pay", description: "Pay", schema: z.object({ to: z.string() }) });
    const texts = [];
    const model = new ScriptedModel((options) => {
      accepts(options);
      texts.push(sentTexts(options.messages).join("\n"));
      return (
        [asks(call("p1", "pay", { to: "Ada" }), call("p2", "pay", { to: "Bop" })), asks(call("p3", "pay", { to: "Mallory" }))][texts.length - 1] ?? says("done")
      );
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const middleware = [cw, humanInTheLoopMiddleware({ interruptOn: { pay: true } })];
    const agent = createAgent({ model, tools: [pay], middleware, checkpointer: new MemorySaver() });
    const decided = (...decisions) => run(agent, new Command({ resume: { decisions } }), thread("t"));
    await run(agent, { messages: [user("Pay them.")] }, thread("t"));
    assert.deepEqual(paid, []);
    await decided({ type: "approve" }, { type: "edit", editedAction: { name: "pay", args: { to: "Bob" } } });
    assert.deepEqual(paid, ["Ada", "Bob"]);
    assert.match(texts[1], /Bob/);
    assert.doesNotMatch(texts[1], /Bop/);
    const { messages } = await decided({ type: "reject", message: "not to her" });
    assert.deepEqual(paid, ["Ada", "Bob"]);
    assert.equal(messages.at(-1).text, "done");
    assert.match(texts[2], /Mallory[^]*not to her/);
    cw.free();
  });

  test(`LangChain, ${name}: threads of one agent have nothing of each other`, async () => {
    const texts = [];
    const read = tool(async ({ of }) => orders().map((order) => ({ ...order, note: `${of} ${order.note}` })), {
      name: "read",
      description: "Read the orders",
      schema: z.object({ of: z.string() }),
    });
    const model = new ScriptedModel((options) => {
      accepts(options);
      const text = sentTexts(options.messages).join("\n");
      texts.push(text);
      const { type, content } = options.messages.at(-1);
      if (type === "tool") return says("read");
      return content.startsWith("look")
        ? asks(call(`d${texts.length}`, "drilldown", { handle: "artifact:result:same", selector: FIND_ROW }))
        : asks(call("same", "read", { of: content }));
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, max_conversations: 1 });
    const agent = createAgent({ model, tools: [read], middleware: [cw], checkpointer: new MemorySaver() });
    await run(agent, { messages: [user("Ada")] }, thread("a"));
    await run(agent, { messages: [user("Bob")] }, thread("b"));
    assert.doesNotMatch(texts.slice(2).join("\n"), /Ada/);
    // The log of the first had to give way, and comes back out of its state.
    assert.deepEqual([cw.conversation("a")?.manager, cw.conversation("b")?.manager instanceof ContextManager], [undefined, true]);
    const { messages } = await run(agent, { messages: [user("look again")] }, thread("a"));
    assert.ok(messages.at(-2).content.includes(`Ada ${ANSWER}`), messages.at(-2).content);
    assert.doesNotMatch(texts.slice(4).join("\n"), /Bob/);
    cw.free();
  });

  test(`LangChain, ${name}: threads that are asked at once stay until they are answered, whatever the limit`, async () => {
    let asked = 0;
    let all;
    const together = new Promise((resolve) => (all = resolve));
    const model = new ScriptedModel(async ({ messages }) => {
      if (++asked === 3) all();
      await together;
      const input_tokens = countTokens(messages.at(-1).text);
      return { content: messages.at(-1).text[0], usage_metadata: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } };
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, max_conversations: 1 });
    const agent = createAgent({ model, tools: [], middleware: [cw], checkpointer: new MemorySaver() });
    const keys = ["a", "b", "c"];
    const states = await Promise.all(keys.map((key) => run(agent, { messages: [user(key.repeat(2_000))] }, thread(key))));
    assert.deepEqual(
      states.map(({ messages }) => messages.at(-1).text[0]),
      keys,
    );
    assert.equal(keys.filter((key) => cw.conversation(key)).length, 1);
    cw.free();
  });

  test(`LangChain, ${name}: without a thread a run is a conversation`, async () => {
    const keys = new Set();
    const read = tool(async () => orders(), { name: "read", description: "Read the orders", schema: z.object({}) });
    const model = new ScriptedModel((options) => {
      accepts(options);
      const results = options.messages.filter(({ type }) => type === "tool").length;
      return (
        [asks(call("same", "read", {})), asks(call("row", "drilldown", { handle: "artifact:result:same", selector: FIND_ROW }))][results] ??
        says(options.messages.at(-1).content)
      );
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (_, conversation) => keys.add(conversation) });
    const agent = createAgent({ model, tools: [read], middleware: [cw] });
    for (const count of [1, 2]) {
      const { messages } = await run(agent, { messages: [user("Read.")] });
      assert.ok(messages.at(-1).text.includes(ANSWER), messages.at(-1).text);
      assert.equal(keys.size, count);
    }
    cw.free();
  });

  test(`LangChain, ${name}: structured answers`, async () => {
    // What the answer is to look like has its share of the budget.
    const shape = z.object({ reason: z.string().describe("word ".repeat(3_000)) });
    const read = tool(async () => orders(), { name: "read", description: "Read the orders", schema: z.object({}) });
    for (const [kind, responseFormat, last] of [
      ["tool", toolStrategy(shape), ({ tools }) => asks(call("end", tools.at(-1).function.name, { reason: "expired" }))],
      ["provider", providerStrategy(shape), ({ settings }) => (assert.ok(settings.response_format), says(`{"reason":"expired"}`))],
    ]) {
      let asked = 0;
      const model = new ScriptedModel((options) => (accepts(options), asked++ % 2 === 0 ? asks(call(`${kind}${asked}`, "read", {})) : last(options)));
      const cw = contextWeaver({ budget_tokens: BUDGET });
      const agent = createAgent({ model, tools: [read], middleware: [cw], responseFormat, checkpointer: new MemorySaver() });
      const first = await run(agent, { messages: [user("Why?")] }, thread("t"));
      assert.deepEqual(first.structuredResponse, { reason: "expired" }, kind);
      // The conversation goes on with the call that was the answer.
      assert.deepEqual((await run(agent, { messages: [user("Sure?")] }, thread("t"))).structuredResponse, { reason: "expired" }, kind);
      cw.free();
    }
  });
}

/** Sends messages to an agent and returns what its model got. */
async function sent(messages, { tools = [], budget = BUDGET, steps = [], ...options } = {}) {
  const got = [];
  const cw = contextWeaver({ budget_tokens: budget, on_step: (step) => steps.push(step), ...options });
  const model = new ScriptedModel((given) => (got.push(given), says("done")));
  await createAgent({ model, tools, middleware: [cw], systemPrompt: options.systemPrompt }).invoke({ messages });
  cw.free();
  return got[0];
}

test("LangChain: a call is known by the name of its model, and what it cost is read of any answer", async () => {
  const named = Object.assign(new ScriptedModel(() => says("")), { model: "gpt-5" });
  const configurable = new ConfigurableModel({ defaultConfig: { model: "claude-opus-4-5" }, configurableFields: "any" });
  const usage_metadata = { input_tokens: 500, output_tokens: 1, total_tokens: 501 };
  const message = new AIMessage({ content: "yes", usage_metadata });
  for (const [model, name] of [
    [named, "gpt-5"],
    [named.withConfig({ tags: ["a"] }), "gpt-5"],
    [Object.assign(new ScriptedModel(() => says("")), { modelName: "gpt-4" }), "gpt-4"],
    [configurable, "claude-opus-4-5"],
    [new ScriptedModel(() => says("")), "ScriptedModel"],
  ]) {
    for (const [answer, isPaid] of [
      [message, true],
      [{ structuredResponse: {}, messages: [message, new AIMessage("done")] }, true],
      [new AIMessage("yes"), false],
      [new Command({ update: {} }), false],
    ]) {
      const cw = contextWeaver({ budget_tokens: BUDGET });
      const messages = [new HumanMessage({ id: "m", content: "word ".repeat(400) })];
      const request = { model, messages, systemMessage: new SystemMessage(""), tools: [], state: { messages }, runtime: thread("t") };
      assert.equal(await cw.wrapModelCall(request, () => answer), answer);
      assert.equal(JSON.stringify(cw.conversation("t")?.manager).includes(`"${name}"`), isPaid, name);
      cw.free();
    }
  }
});

test("LangChain: of two calls at once in a thread, what the earlier one cost is not taken for the later one's", async () => {
  const steps = [];
  let later;
  const asked = new Promise((resolve) => (later = resolve));
  const model = new ScriptedModel(async ({ messages }) => {
    if (steps.length === 2) later();
    await asked;
    const input_tokens = messages.reduce((sum, { text }) => sum + countTokens(text), 0);
    return { content: "done", usage_metadata: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } };
  });
  const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
  const agent = createAgent({ model, tools: [], middleware: [cw] });
  const ask = (count) => agent.invoke({ messages: [user("word ".repeat(count))] }, thread("t"));
  await Promise.all([ask(450), ask(1_000)]);
  await ask(10);
  const { factor } = steps.at(-1).built.pack.stats.calibration;
  assert.ok(Math.abs(factor - 1) < 0.05, String(factor));
  cw.free();
});

test("LangChain: threads that are numbered are conversations of their own, whatever ids their messages have", async () => {
  const model = new ScriptedModel(() => says("Noted."));
  const cw = contextWeaver({ budget_tokens: BUDGET });
  const agent = createAgent({ model, tools: [], middleware: [cw] });
  const said = (content) => ({ messages: [new HumanMessage({ id: "1", content })] });
  await agent.invoke(said("I am Ada."), thread(1));
  await agent.invoke(said("I am Bob."), thread(2));
  const [ada, bob] = ["1", "2"].map((key) => JSON.stringify(cw.conversation(key)?.manager.events.list()));
  assert.deepEqual([/Ada/.test(ada), /Bob/.test(ada), /Ada/.test(bob), /Bob/.test(bob)], [true, false, false, true]);
  cw.free();
});

test("LangChain: a log that had to give way while a call waited is read from the state", async () => {
  const read = tool(async () => orders(), { name: "read", description: "Read the orders", schema: z.object({}) });
  const model = new ScriptedModel((options) => {
    accepts(options);
    if (options.messages.at(-1).text === "Hello.") return says("hello");
    const results = options.messages.filter(({ type }) => type === "tool").length;
    return [asks(call("same", "read", {})), asks(call("row", "drilldown", { handle: "artifact:result:same", selector: FIND_ROW }))][results] ?? says("done");
  });
  const cw = contextWeaver({ budget_tokens: BUDGET, max_conversations: 1 });
  const middleware = [cw, humanInTheLoopMiddleware({ interruptOn: { drilldown: true } })];
  const agent = createAgent({ model, tools: [read], middleware, checkpointer: new MemorySaver(), systemPrompt: "Be brief." });
  await agent.invoke({ messages: [user("Read.")] }, thread("a"));
  await agent.invoke({ messages: [user("Hello.")] }, thread("b"));
  assert.equal(cw.conversation("a")?.manager, undefined);
  const { messages } = await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread("a"));
  assert.ok(messages.at(-2).text.includes(ANSWER), messages.at(-2).text);
  assert.equal(messages.at(-1).text, "done");
  cw.free();
});

test("LangChain: a process that does not know the tools yet tells the model to look for them in the next step", async () => {
  const { tools } = sdkTools();
  const looks = [call("f", "find_tools", { query: "archive" }), call("c", "call_tool", { name: "crm_list_2", arguments: { group: 2 } })];
  const model = new ScriptedModel(({ messages }) => {
    const results = messages.filter(({ type }) => type === "tool");
    if (results.length === 0) return asks(...looks);
    return results.length === 2 ? asks(call("f2", "find_tools", { query: "archive" })) : says("done");
  });
  const checkpointer = new MemorySaver();
  const made = () => {
    const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 2 });
    return { cw, agent: createAgent({ model, tools, middleware: [cw, humanInTheLoopMiddleware({ interruptOn: { find_tools: true } })], checkpointer }) };
  };
  const [first, second] = [made(), made()];
  const approval = () => new Command({ resume: { decisions: [{ type: "approve" }] } });
  await first.agent.invoke({ messages: [user("Archive the mail of group 4.")] }, thread("t"));
  await second.agent.invoke(approval(), thread("t"));
  const { messages } = await second.agent.invoke(approval(), thread("t"));
  const said = Object.fromEntries(messages.filter(({ type }) => type === "tool").map(({ tool_call_id, text }) => [tool_call_id, text]));
  assert.match(said.f, /next step/);
  assert.doesNotMatch(said.f2, /next step|already/);
  assert.match(said.f2, /_archive_/);
  for (const { cw } of [first, second]) cw.free();
});

test("LangChain: a tool that is demanded is offered, whatever the query brings", async () => {
  const { tools } = sdkTools();
  let offered;
  const model = new ScriptedModel(({ tools }) => ((offered = tools.map(({ name }) => name)), says("done")));
  const demand = {
    name: "demand",
    wrapModelCall: (request, handler) => handler({ ...request, toolChoice: { type: "function", function: { name: "take_picture" } } }),
  };
  const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 2 });
  await createAgent({ model, tools, middleware: [demand, cw] }).invoke({ messages: [user("Archive the mail of group 4.")] });
  assert.ok(offered.includes("take_picture") && offered.length < 8, `${offered}`);
  cw.free();
});

test("LangChain: messages that have room are the very objects of the state", async () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } };
  const messages = [
    new SystemMessage({ content: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }] }),
    new HumanMessage({
      content: [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}`, detail: "low" } }, image],
      name: "ada",
    }),
    new AIMessage({
      content: [
        { type: "thinking", thinking: "I should look.", signature: "c2ln" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "a", name: "look", input: { deep: true } },
      ],
      tool_calls: [call("a", "look", { deep: true }), call("b", "look", { deep: 1.5 })],
      response_metadata: { model_provider: "anthropic" },
    }),
    new ToolMessage({
      tool_call_id: "a",
      content: [
        { type: "text", text: "a cat" },
        { type: "image", source_type: "base64", mime_type: "image/png", data: PICTURE },
      ],
      artifact: { raw: 1 },
    }),
    new ToolMessage({ tool_call_id: "b", content: "no eyes", status: "error" }),
    new AIMessage({
      content: [
        { type: "reasoning", reasoning: "Clearly." },
        { type: "text", text: "A cat." },
      ],
      response_metadata: { output_version: "v1" },
    }),
    new AIMessage("ok"),
    new HumanMessage({
      content: [
        { type: "audio", source_type: "base64", mime_type: "audio/wav", data: PICTURE },
        { type: "text", text: "And now?" },
      ],
    }),
  ];
  const got = await sent(messages);
  assert.equal(got.messages.length, messages.length);
  for (const [index, message] of got.messages.slice(1).entries()) assert.equal(message, messages[index + 1], `message ${index + 1}`);
  assert.deepEqual(got.messages[0].content, messages[0].content);
});

test("LangChain: what is made anew is of the framework's classes, with its images", async () => {
  const steps = [];
  const rows = JSON.stringify(orders());
  const messages = [
    new HumanMessage("Look."),
    new AIMessage({
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "a", name: "look", input: {} },
      ],
      tool_calls: [call("a", "look", {})],
    }),
    new ToolMessage({
      tool_call_id: "a",
      name: "look",
      content: [
        { type: "text", text: rows },
        { type: "image", source_type: "base64", mime_type: "image/png", data: PICTURE },
      ],
      artifact: { raw: 1 },
      id: "kept",
    }),
    new AIMessage({ content: "", tool_calls: [call("b", "look", {})] }),
    new ToolMessage({ tool_call_id: "b", content: rows, status: "error" }),
    new HumanMessage("What is it?"),
  ];
  const got = await sent(messages, { steps });
  accepts(got);
  const [, , seen, , failed] = got.messages;
  assert.ok(ToolMessage.isInstance(seen) && seen instanceof ToolMessage);
  assert.deepEqual([seen.tool_call_id, seen.name, seen.id, seen.artifact], ["a", "look", "kept", { raw: 1 }]);
  assert.deepEqual(
    seen.content.map(({ type }) => type),
    ["text", "image_url"],
  );
  assert.equal(seen.content[1].image_url.url, `data:image/png;base64,${PICTURE}`);
  assert.match(seen.content[0].text, /drilldown artifact:result:a/);
  assert.equal(failed.status, "error");
  assert.deepEqual(steps[0].warnings, []);
  // What the graph has is as it was.
  assert.equal(messages[2].content[0].text, rows);
});

test("LangChain: an answer that is made anew keeps what signs its calls, and nothing else that stands beside it", async () => {
  const steps = [];
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
  const kept = (signature) => ({ signatures: ["", signature, ""], __gemini_function_call_thought_signatures__: { [`a${signature}`]: signature } });
  const turn = (said, signature) => [
    new HumanMessage(`Look at ${signature}.`),
    new AIMessage({
      content: [said, "Now."].map((words) => ({ type: "text", text: words })),
      tool_calls: [{ ...call(`a${signature}`, "look", {}), thoughtSignature: signature }, call(`b${signature}`, "look", {})],
      additional_kwargs: {
        ...kept(signature),
        signatures: ["", "", signature, ""],
        reasoning_content: `It is ${secret}.`,
        tool_calls: [{ id: `a${signature}`, type: "function", function: { name: "look", arguments: `{"token":"${secret}"}` } }],
      },
    }),
    ...["a", "b"].map((id) => new ToolMessage({ tool_call_id: `${id}${signature}`, content: "seen" })),
  ];
  const messages = [...turn(`I take ${secret}.`, "s1"), ...turn("I look.", "s2"), ...turn(`${secret} again.`, "s3"), new HumanMessage("Go on.")];
  const got = await sent(messages, { steps });
  accepts(got);
  const answers = got.messages.filter(({ type }) => type === "ai");
  assert.equal(answers[1], messages[5]);
  for (const [at, signature] of [
    [0, "s1"],
    [2, "s3"],
  ]) {
    assert.match(answers[at].text, /REDACTED/);
    assert.deepEqual(answers[at].additional_kwargs, kept(signature));
    assert.deepEqual(
      answers[at].tool_calls.map(({ id, thoughtSignature }) => [id, thoughtSignature]),
      [
        [`a${signature}`, signature],
        [`b${signature}`, undefined],
      ],
    );
  }
  assert.ok(!JSON.stringify([answers[0], answers[2]]).includes(secret));
  assert.deepEqual(
    steps[0].warnings.map(({ code }) => code),
    ["OPAQUE_LEFT_OUT"],
  );
});

test("LangChain: a call whose arguments were no JSON keeps its id with the answer to it", async () => {
  const broken = { id: "c1", name: "look", args: '{"p": "a', error: "no JSON", type: "invalid_tool_call" };
  const messages = (fields) => [
    new HumanMessage("Look."),
    new AIMessage({ content: "", tool_calls: [], invalid_tool_calls: [broken], ...fields }),
    new ToolMessage({ content: "Error: no JSON", tool_call_id: "c1", status: "error" }),
    new HumanMessage("Again."),
  ];
  const raw = { id: "c1", type: "function", function: { name: "look", arguments: broken.args } };
  for (const fields of [{}, { additional_kwargs: { tool_calls: [raw] } }]) {
    const steps = [];
    const got = await sent(messages(fields), { steps });
    accepts(got);
    const [, answer, result] = got.messages;
    assert.deepEqual(
      answer.tool_calls.map(({ id, name, args }) => ({ id, name, args })),
      [{ id: "c1", name: "look", args: { input: broken.args } }],
    );
    assert.deepEqual([result.tool_call_id, result.text], ["c1", "Error: no JSON"]);
    assert.deepEqual(steps[0].warnings, []);
  }
});

test("LangChain: results and answers of which the conversation has no class", async () => {
  const steps = [];
  const got = await sent([new HumanMessage("Look."), new AIMessage({ content: "", tool_calls: [call("a", "look", {})] }), new HumanMessage("And?")], { steps });
  accepts(got);
  const stub = got.messages[2];
  assert.ok(stub instanceof ToolMessage && stub.status === "error" && stub.name === "look");
  assert.equal(stub.lc_id.at(-1), "ToolMessage");
  assert.deepEqual(
    steps[0].warnings.map(({ code }) => code),
    ["RESULT_MISSING"],
  );
  // A log that was kept elsewhere: the conversation has none of its messages.
  const manager = new ContextManager();
  manager.ingestMessages(
    [
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello, Ada." },
    ],
    "openai-chat",
  );
  const [, answer, question] = (await sent([new HumanMessage("Who am I?")], { manager: () => manager })).messages;
  assert.ok(AIMessage.isInstance(answer) && answer.text === "Hello, Ada." && answer.tool_calls.length === 0);
  assert.equal(question.text, "Who am I?");
  manager.free();
});

test("LangChain: tools that the provider runs are always offered, and lists that look like blocks are data", async () => {
  const hosted = { type: "web_search_20260101", name: "web_search" };
  const { tools } = sdkTools();
  const got = await sent([new HumanMessage("Read the orders.")], { tools: [...tools, hosted], always: ["take_picture"] });
  const names = got.tools.map(({ name }) => name);
  for (const name of ["web_search", "take_picture", "export_orders", "find_tools"]) assert.ok(names.includes(name), `${names}`);
  assert.ok(names.length < 25);
  const records = Array.from({ length: 900 }, (_, n) => ({ type: n === 7 ? "refund" : "order", id: n }));
  const data = await sent([
    new HumanMessage("Look."),
    new AIMessage({ content: "", tool_calls: [call("a", "look", {})] }),
    new ToolMessage({ tool_call_id: "a", content: records }),
  ]);
  accepts(data);
  assert.match(data.messages[2].content, /900 items/);
});

test("LangChain: what cannot be is said before the model is asked", async () => {
  const model = new ScriptedModel(() => assert.fail("the model was asked"));
  const fails = async (options, tools, prompt, expected) => {
    const cw = contextWeaver({ budget_tokens: BUDGET, ...options });
    await assert.rejects(createAgent({ model, tools, middleware: [cw] }).invoke({ messages: [user(prompt)] }), (thrown) => {
      const error = thrown.cause ?? thrown;
      assert.ok(ContextWeaverError.is(error), String(error));
      assert.deepEqual({ code: error.code, path: error.path }, expected);
      return true;
    });
    cw.free();
  };
  const named = (name, schema = z.object({})) => tool(async () => 1, { name, description: "One", schema });
  await fails({ always: ["two"] }, [named("one")], "hi", { code: "NOT_FOUND", path: "/always" });
  await fails({}, [named("drilldown")], "hi", { code: "DUPLICATE_ID", path: "/tools/drilldown" });
  await fails({}, [named("old", z3.object({}))], "hi", { code: "UNSUPPORTED", path: "/tools/0/schema" });
  await fails({ budget_tokens: 50 }, [], "word ".repeat(500), { code: "BUDGET_EXCEEDED", path: undefined });
  const { tools } = await sent([new HumanMessage("hi")], { tools: [named("old", z3.object({}))], toJsonSchema });
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["old"],
  );
  // What is left out for want of room is told.
  const steps = [];
  const large = tool(async () => 1, { name: "large", description: "word ".repeat(400), schema: z.object({}) });
  await sent([new HumanMessage("hi")], { tools: [large, named("one")], budget: 700, always: ["large"], steps });
  assert.deepEqual(
    steps.map(({ tools, warnings }) => [tools, warnings.map(({ code, path }) => [code, path])]),
    [[["one"], [["TOOL_LEFT_OUT", "/tools/large"]]]],
  );
  for (const [options, code, path] of [
    [{}, "MISSING_FIELD", "/budget_tokens"],
    [{ budget_tokens: "8000" }, "INVALID_INPUT", "/budget_tokens"],
    [{ budget_tokens: 8_000, budget: 1 }, "UNKNOWN_FIELD", "/budget"],
    [{ budget_tokens: 8_000, max_conversations: 0 }, "INVALID_INPUT", "/max_conversations"],
    [{ budget_tokens: 8_000, on_step: true }, "INVALID_INPUT", "/on_step"],
    [{ budget_tokens: 8_000, toJsonSchema: true }, "INVALID_INPUT", "/toJsonSchema"],
    [{ budget_tokens: 8_000, manager: { budget: { answer: -1 } } }, "OUT_OF_RANGE", "/budget/answer"],
    [{ budget_tokens: 8_000, manager: new ContextManager() }, "INVALID_INPUT", "/manager"],
    [undefined, "INVALID_INPUT", undefined],
  ]) {
    assert.throws(
      () => contextWeaver(options),
      (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
    );
  }
});
