// The adapter for Mastra in the framework's own loop, with a scripted model.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MockMemory } from "@mastra/core/memory";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import * as test7 from "ai/test";
import * as test6 from "ai-6/test";
import { z } from "zod";
import {
  ANSWER,
  BUDGET,
  DONE,
  FIND_ROW,
  PICTURE,
  QUESTION,
  READ,
  RUN_BUDGETS,
  RUN_INSTRUCTIONS,
  RUN_STEPS,
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

const folder = await project("mastra", {
  "entry.mjs": `export * from "contextweaver/mastra"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

/** The versions of the interface of models that the framework speaks. */
const MODELS = { 3: { ...test6, Model: test6.MockLanguageModelV3 }, 4: { ...test7, Model: test7.MockLanguageModelV4 } };
const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 20, text: 20, reasoning: undefined },
};

/** What the model is shown of the tool that takes a picture. */
const shown = () => ({
  type: "content",
  value: [
    { type: "text", text: "the desk" },
    { type: "media", mediaType: "image/png", data: PICTURE },
  ],
});
/** The schemas that are of Zod alone. */
const SCHEMAS = { export_orders: z.object({}), take_picture: z.object({}) };

/** The tools of the session as the framework has them. */
function sdkTools() {
  const { tools, executed } = manyTools();
  const made = tools.map(({ name, description, run }) => {
    const inputSchema = SCHEMAS[name] ?? z.object({ group: z.number() });
    return [
      name,
      createTool({
        id: name,
        description,
        inputSchema,
        execute: async () => run(),
        ...(name === "take_picture" && { execute: async () => (run(), { taken: true }), toModelOutput: shown }),
      }),
    ];
  });
  return { tools: Object.fromEntries(made), executed };
}

/** What every provider wants, within the budget. */
function accepts({ prompt, tools = [], responseFormat }, budget = BUDGET) {
  assert.equal(PROVIDER_RULES["ai-sdk-model"]({ messages: prompt }), undefined);
  for (const { role, content } of prompt) assert.ok(role === "system" ? typeof content === "string" : Array.isArray(content), `content of ${role}`);
  const schema = responseFormat?.schema ? [JSON.stringify(responseFormat.schema)] : [];
  const sent = textsOf(prompt, ["providerOptions"]).concat(
    schema,
    tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema })),
  );
  const tokens = sent.reduce((sum, text) => sum + countTokens(text), 0);
  assert.ok(tokens <= budget, `${tokens} tokens`);
}

const call = (toolCallId, toolName, input) => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) });
const said = (...content) => ({
  content,
  finishReason: { unified: content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop", raw: undefined },
  usage: USAGE,
  warnings: [],
});
const says = (text) => said({ type: "text", text });

/** The session as a model of the framework. */
function scripted() {
  const next = script();
  return (options) => {
    accepts(options);
    const { text, calls = [] } = next({ sent: options.prompt, offered: (options.tools ?? []).map(({ name }) => name) });
    return text === undefined ? said(...calls.map(({ id, name, input }) => call(id, name, input))) : says(text);
  };
}

/** What a model says, as a stream. */
function streamed({ convertArrayToReadableStream }, { content, finishReason, usage }) {
  const parts = content.flatMap((part, at) =>
    part.type === "text"
      ? [
          { type: "text-start", id: `${at}` },
          { type: "text-delta", id: `${at}`, delta: part.text },
          { type: "text-end", id: `${at}` },
        ]
      : [part],
  );
  return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
}

const HOW = {
  generate: async (agent, input, options) => agent.generate(input, options),
  stream: async (agent, input, options) => {
    const result = await agent.stream(input, options);
    await result.consumeStream();
    if (result.error) throw result.error;
    return { text: await result.text, object: options.structuredOutput && (await result.object), messages: result.messageList.get.all.db() };
  },
};

/** A model that says what `next` says to what it is asked. */
const modelOf = (version, next) =>
  new MODELS[version].Model({
    supportedUrls: { "image/*": [/./] },
    doGenerate: async (options) => next(options),
    doStream: async (options) => streamed(MODELS[version], next(options)),
  });
/** An agent that is quiet about what the tests make fail. */
const agentOf = ({ cw, ...settings }) => {
  const agent = new Agent({ id: "agent", name: "agent", instructions: "Be brief.", inputProcessors: [cw], ...settings });
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
  return agent;
};
const memoryOf = (thread) => ({ thread, resource: "user" });

for (const version of Object.keys(MODELS)) {
  for (const [name, run] of Object.entries(HOW)) {
    test(`Mastra, ${name}, models of version ${version}: 60 steps, 200 tools, large results and a picture`, async () => {
      const { tools, executed } = sdkTools();
      const steps = [];
      const called = [];
      const hooks = { tool_executed: ({ name: one, call_id }) => called.push([one, call_id]) };
      const cw = contextWeaver({ budget_tokens: BUDGET, manager: { hooks }, on_step: (step) => steps.push(step) });
      const memory = new MockMemory();
      const agent = agentOf({ model: modelOf(version, scripted()), tools, cw, memory });
      const { text } = await run(agent, QUESTION, { maxSteps: STEPS, memory: memoryOf("t") });
      assert.equal(text, ANSWER);
      assert.equal(steps.length, STEPS);
      for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
      assert.deepEqual(
        steps.flatMap(({ warnings }) => warnings),
        [],
      );
      assert.deepEqual(
        steps.flatMap(({ synced }) => synced.superseded),
        [],
      );
      // Nothing was said twice, and nothing is lost: in the log as in the memory.
      holdsTheSession(cw.manager, executed);
      const { messages } = await memory.recall({ threadId: "t", resourceId: "user" });
      assert.ok(JSON.stringify(messages).includes(ANSWER));
      assert.deepEqual(called, [
        ["find_tools", "c1b"],
        ["recall", "again"],
        ["drilldown", "last"],
      ]);
      cw.free();
    });
  }
}

for (const [name, run] of Object.entries(HOW)) {
  test(`Mastra, ${name}: ${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results`, async () => {
    const PART = z.object({ part: z.number() });
    const tools = Object.fromEntries(
      RUN_TOOLS.map(({ name: id, description }) => [id, createTool({ id, description, inputSchema: PART, execute: async ({ part }) => partOf(part) })]),
    );
    const play = async (settings) => {
      const next = longRun();
      const requests = [];
      const model = modelOf(4, (options) => {
        accepts(options, Infinity);
        const [system, ...messages] = options.prompt;
        requests.push(JSON.parse(JSON.stringify({ head: [system, options.tools, options.toolChoice], messages })));
        const { text, calls = [] } = next();
        return said({ type: "text", text }, ...calls.map(({ id, name: called, input }) => call(id, called, input)));
      });
      const { text } = await run(agentOf({ model, tools, instructions: RUN_INSTRUCTIONS, ...settings }), TASK, { maxSteps: RUN_STEPS, memory: memoryOf("t") });
      assert.ok(text.endsWith(DONE), text);
      return requests;
    };
    const bare = await play({ inputProcessors: [], memory: new MockMemory() });
    for (const budget of RUN_BUDGETS) {
      const steps = [];
      const cw = contextWeaver({ budget_tokens: budget, on_step: (step) => steps.push(step) });
      holdsTheRun({ budget, requests: await play({ cw, memory: new MockMemory() }), bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
      cw.free();
    }
  });

  test(`Mastra, ${name}: what calls cost is what the budget is kept by`, async () => {
    for (const calibrate of [true, false]) {
      const { costs, next, page } = costly(countTokens);
      const steps = [];
      const model = modelOf(4, ({ prompt, tools = [] }) => {
        const { cost, call: wanted, text } = next([...textsOf(prompt, ["providerOptions"]), ...tools.map((one) => JSON.stringify(one))]);
        const answer = wanted ? said(call(wanted.id, wanted.name, wanted.input)) : says(text);
        return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total: cost } } };
      });
      const cw = contextWeaver({ budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
      const read = createTool({
        id: "read",
        description: READ.description,
        inputSchema: z.object({ page: z.number() }),
        execute: async ({ page: n }) => page(n),
      });
      await run(agentOf({ model, tools: { read }, cw }), "Read all pages.", { maxSteps: 20 });
      holdsTheCost({ costs, steps, calibrate, model: model.modelId });
      cw.free();
    }
  });

  test(`Mastra, ${name}: what Anthropic's models of version 2 had in the cache is counted, or nothing where that is not clear`, async () => {
    const SPLITS = { "as Anthropic counts": [0.1, 0.6, 0.3], "as Bedrock counts": [0.1, 0.6, 0.3], "nobody knows": [1, 0.3, 0.2] };
    for (const [how, [rest, read, written]] of Object.entries(SPLITS)) {
      const steps = [];
      const answered = () => {
        const { built, tool_tokens } = steps.at(-1);
        const count = (share) => Math.round(share * (built.tokens + tool_tokens));
        const { content, finishReason } = steps.length < 5 ? said(call(`c${steps.length}`, "read", {})) : says("done");
        const usage = { inputTokens: count(rest), outputTokens: 1, totalTokens: count(rest) + 1, cachedInputTokens: count(read) };
        const metadata =
          how === "as Bedrock counts"
            ? { bedrock: { usage: { cacheWriteInputTokens: count(written) } } }
            : { anthropic: { cacheCreationInputTokens: count(written) } };
        return { content, finishReason: finishReason.unified, usage, warnings: [], providerMetadata: metadata };
      };
      const model = {
        specificationVersion: "v2",
        provider: "anthropic.messages",
        modelId: "claude-sonnet-4-5",
        supportedUrls: {},
        doGenerate: async () => answered(),
        doStream: async () => {
          const { providerMetadata, ...answer } = answered();
          const { stream } = streamed(MODELS[4], answer);
          const finishing = new TransformStream({ transform: (part, to) => to.enqueue(part.type === "finish" ? { ...part, providerMetadata } : part) });
          return { stream: stream.pipeThrough(finishing) };
        },
      };
      const read_more = createTool({ id: "read", description: "Read", inputSchema: z.object({}), execute: async () => "word ".repeat(300) });
      const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      await run(agentOf({ model, tools: { read: read_more }, cw }), "Read on.", { maxSteps: 6 });
      assert.equal(steps.length, 5);
      const factors = steps.map(({ built }) => built.pack.stats.calibration?.factor);
      for (const factor of factors.slice(1)) assert.ok(how === "nobody knows" ? factor === undefined : Math.abs(factor - 1) < 0.05, `${how}: ${factors}`);
      cw.free();
    }
  });

  test(`Mastra, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
    const { manager, read, on_step, next, holds } = evicted({ ContextManager });
    let last;
    const model = modelOf(4, ({ prompt }) => {
      const { call: wanted, text } = next(textsOf(prompt, ["providerOptions"]));
      last = text;
      return wanted ? said(call(wanted.id, wanted.name, wanted.input)) : says(text);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, manager: () => manager, on_step });
    const page = createTool({ id: READ.name, description: READ.description, inputSchema: z.object({ page: z.number() }), execute: async () => read() });
    await run(agentOf({ model, tools: { [READ.name]: page }, cw }), QUESTION, { maxSteps: 5 });
    holds(last);
    manager.free();
  });

  test(`Mastra, ${name}: a conversation of several runs, trimmed`, async () => {
    const asked = [];
    const model = modelOf(4, (options) => {
      accepts(options);
      asked.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
      return says(`answer ${asked.length}`);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = agentOf({ model, cw, instructions: "", memory: new MockMemory({ options: { lastMessages: 3 } }) });
    for (const text of ["My name is Ada.", "I live in Paris.", "Which city is it?"]) await run(agent, text, { memory: memoryOf("t") });
    // The memory has forgotten the oldest turn by now.
    assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
    cw.free();
  });

  test(`Mastra, ${name}: what a tool throws is a result, and a run may be aborted and taken up`, async () => {
    const controller = new AbortController();
    const fail = createTool({
      id: "fail",
      description: "Fails",
      inputSchema: z.object({}),
      execute: async () => {
        throw new Error("the disk is full");
      },
    });
    const hang = createTool({
      id: "hang",
      description: "Hangs",
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => {
        controller.abort();
        abortSignal.throwIfAborted();
      },
    });
    const texts = [];
    const turns = [said(call("f", "fail", {})), said(call("h", "hang", {}))];
    const model = modelOf(4, (options) => {
      accepts(options);
      texts.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
      return turns[texts.length - 1] ?? says("done");
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = agentOf({ model, tools: { fail, hang }, cw, memory: new MockMemory() });
    await run(agent, "Do it.", { maxSteps: 5, memory: memoryOf("t"), abortSignal: controller.signal }).catch((error) => assert.match(String(error), /abort/i));
    assert.match(texts[1], /the disk is full/);
    const { text } = await run(agent, "Go on.", { memory: memoryOf("t") });
    assert.equal(text, "done");
    assert.match(texts[2], /Go on/);
    cw.free();
  });

  test(`Mastra, ${name}: threads of one agent have nothing of each other`, async () => {
    const texts = [];
    const read = createTool({
      id: "read",
      description: "Read the orders",
      inputSchema: z.object({ of: z.string() }),
      execute: async ({ of }) => orders().map((order) => ({ ...order, note: `${of} ${order.note}` })),
    });
    const model = modelOf(4, (options) => {
      accepts(options);
      texts.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
      const { role, content } = options.prompt.at(-1);
      if (role === "tool") return says("read");
      const [{ text }] = content;
      return said(
        text.startsWith("look")
          ? call(`d${texts.length}`, "drilldown", { handle: "artifact:result:same", selector: FIND_ROW })
          : call("same", "read", { of: text }),
      );
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, max_conversations: 1 });
    const agent = agentOf({ model, tools: { read }, cw, memory: new MockMemory() });
    await run(agent, "Ada", { maxSteps: 5, memory: memoryOf("a") });
    await run(agent, "Bob", { maxSteps: 5, memory: memoryOf("b") });
    assert.doesNotMatch(texts.slice(2).join("\n"), /Ada/);
    // The log of the first had to give way, and comes back out of the memory.
    assert.deepEqual([cw.conversation("a")?.manager, cw.conversation("b")?.manager instanceof ContextManager], [undefined, true]);
    await run(agent, "look again", { maxSteps: 5, memory: memoryOf("a") });
    assert.match(texts.at(-1), /look again[^]*Ada parcel 6475/);
    assert.doesNotMatch(texts.slice(4).join("\n"), /Bob/);
    // Without a memory a run is a conversation.
    await run(agentOf({ model, tools: { read }, cw }), "Cyd", { maxSteps: 5 });
    assert.doesNotMatch(texts.at(-1), /Ada|Bob/);
    cw.free();
  });

  test(`Mastra, ${name}: a log that had to give way while the model was asked knows the tools again`, async () => {
    const { tools, executed } = sdkTools();
    const asked = [];
    const turns = [[call("f", "find_tools", { query: "take a picture" })], [call("c", "call_tool", { name: "take_picture", arguments: {} })]];
    const model = modelOf(4, ({ prompt }) => {
      asked.push(textsOf(prompt).join("\n"));
      cw.conversation("t").free();
      return asked.length > turns.length ? says("done") : said(...turns[asked.length - 1]);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 2 });
    const agent = agentOf({ model, tools, cw, memory: new MockMemory() });
    await run(agent, "Archive the mail of group 4.", { maxSteps: 5, memory: memoryOf("t") });
    assert.match(asked[1], /take_picture: Take a picture of the order desk/);
    assert.deepEqual(executed, ["take_picture"]);
    cw.free();
  });

  test(`Mastra, ${name}: structured answers, and tools that the caller left out`, async () => {
    const read = createTool({ id: "read", description: "Read the orders", inputSchema: z.object({}), execute: async () => orders() });
    const other = createTool({ id: "other", description: "Another", inputSchema: z.object({}), execute: async () => 1 });
    const offers = [];
    const model = modelOf(4, (options) => {
      accepts(options);
      offers.push((options.tools ?? []).map(({ name }) => name));
      return offers.length === 1 ? said(call("r", "read", {})) : says(`{"reason":"expired"}`);
    });
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = agentOf({ model, tools: { read, other }, cw });
    // What the answer is to look like has its share of the budget.
    const schema = z.object({ reason: z.string().describe("word ".repeat(3_000)) });
    const { object } = await run(agent, "Why?", { maxSteps: 5, structuredOutput: { schema }, activeTools: ["read"] });
    assert.deepEqual(object, { reason: "expired" });
    // The framework wants the tools before anybody knows what is going to be hidden, and the list of a run stays.
    assert.deepEqual(offers, [
      ["read", "drilldown", "recall"],
      ["read", "drilldown", "recall"],
    ]);
    cw.free();
  });
}

test("Mastra: a tool that is demanded is offered, whatever the query brings, or the choice is the model's where it has no room", async () => {
  const [asked, steps] = [[], []];
  const model = modelOf(4, ({ tools, toolChoice }) => (asked.push({ names: tools.map(({ name }) => name), toolChoice }), says("done")));
  const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 2, on_step: (step) => steps.push(step) });
  const huge = createTool({ id: "huge", description: "word ".repeat(BUDGET), inputSchema: z.object({}), execute: async () => 1 });
  const agent = agentOf({ model, tools: { ...sdkTools().tools, huge }, cw });
  const choices = [{ type: "tool", toolName: "take_picture" }, { type: "tool", toolName: "huge" }, "required"];
  for (const toolChoice of choices) await agent.generate("Archive the mail of group 4.", { toolChoice });
  assert.ok(asked[0].names.includes("take_picture") && asked[0].names.length < 8, `${asked[0].names}`);
  assert.deepEqual(
    asked.map(({ toolChoice }) => toolChoice),
    [choices[0], { type: "auto" }, { type: "required" }],
  );
  assert.deepEqual(
    steps.map(({ warnings }) => warnings.map(({ code, path }) => [code, path])),
    [[], [["TOOL_LEFT_OUT", "/tools/huge"]], []],
  );
  cw.free();
});

test("Mastra: calls that wait for an approval, granted and declined", async () => {
  const paid = [];
  const pay = createTool({
    id: "pay",
    description: "Pay",
    inputSchema: z.object({ to: z.string() }),
    requireApproval: true,
    execute: async ({ to }) => (paid.push(to), "paid"),
  });
  const texts = [];
  const model = modelOf(4, (options) => {
    accepts(options);
    texts.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
    return [said(call("p1", "pay", { to: "Ada" })), said(call("p2", "pay", { to: "Mallory" }))][texts.length - 1] ?? says("done");
  });
  const cw = contextWeaver({ budget_tokens: BUDGET });
  const agent = agentOf({ model, tools: { pay }, cw, memory: new MockMemory() });
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  const first = await agent.stream("Pay them.", { maxSteps: 5, memory: memoryOf("t") });
  await first.consumeStream();
  assert.deepEqual(paid, []);
  const second = await agent.approveToolCall({ runId: first.runId, toolCallId: "p1" });
  await second.consumeStream();
  assert.deepEqual(paid, ["Ada"]);
  const last = await agent.declineToolCall({ runId: second.runId, toolCallId: "p2" });
  await last.consumeStream();
  assert.deepEqual(paid, ["Ada"]);
  assert.equal(await last.text, "done");
  assert.match(texts.at(-1), /Ada[^]*paid[^]*Mallory/);
  cw.free();
});

test("Mastra: what was attached, and pictures beside a digest, in every version of the interface", async () => {
  const address = "https://example.com/cat.png";
  const look = (id, text) =>
    createTool({
      id,
      description: "Look",
      inputSchema: z.object({}),
      execute: async () => text,
      toModelOutput: (text) => ({
        type: "content",
        value: [
          { type: "text", text },
          { type: "media", mediaType: "image/png", data: PICTURE },
        ],
      }),
    });
  for (const version of Object.keys(MODELS)) {
    const got = [];
    const model = modelOf(
      version,
      (options) => (accepts(options), got.push(options.prompt), got.length === 1 ? said(call("a", "short", {}), call("b", "long", {})) : says("done")),
    );
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = agentOf({ model, tools: { short: look("short", "a cat"), long: look("long", JSON.stringify(orders())) }, cw });
    const files = [
      { type: "file", mediaType: "image/png", data: PICTURE },
      { type: "file", mediaType: "image/png", data: address },
    ];
    await agent.generate([{ role: "user", content: [{ type: "text", text: "What is it?" }, ...files] }], { maxSteps: 5 });
    const [bytes, url] = got[0].at(-1).content.filter(({ type }) => type === "file");
    assert.deepEqual([bytes.mediaType, version === "4" ? bytes.data.data : bytes.data], ["image/png", PICTURE]);
    assert.equal(String(version === "4" ? url.data.url : url.data), address);
    assert.ok((version === "4" ? url.data.url : url.data) instanceof URL);
    const [short, long] = got[1]
      .filter(({ role }) => role === "tool")
      .flatMap(({ content }) => content)
      .map(({ output }) => output.value);
    assert.match(long[0].text, /drilldown artifact:result:b/);
    assert.deepEqual(long[1], short[1]);
    cw.free();
  }
});

test("Mastra: what cannot be is said before the model is asked", async () => {
  const model = modelOf(4, () => assert.fail("the model was asked"));
  const fails = async (options, tools, prompt, expected) => {
    const cw = contextWeaver({ budget_tokens: BUDGET, ...options });
    await assert.rejects(agentOf({ model, tools, cw }).generate(prompt), (thrown) => {
      const error = [thrown, thrown.cause].find((one) => ContextWeaverError.is(one));
      assert.ok(error, String(thrown));
      assert.deepEqual({ code: error.code, path: error.path }, expected);
      return true;
    });
    cw.free();
  };
  const named = (id) => ({ [id]: createTool({ id, description: "One", inputSchema: z.object({}), execute: async () => 1 }) });
  await fails({ always: ["two"] }, named("one"), "hi", { code: "NOT_FOUND", path: "/always" });
  await fails({}, named("drilldown"), "hi", { code: "DUPLICATE_ID", path: "/tools/drilldown" });
  await fails({ budget_tokens: 50 }, {}, "word ".repeat(500), { code: "BUDGET_EXCEEDED", path: undefined });
  for (const [options, code, path] of [
    [{}, "MISSING_FIELD", "/budget_tokens"],
    [{ budget_tokens: 8_000, budget: 1 }, "UNKNOWN_FIELD", "/budget"],
    [{ budget_tokens: 8_000, max_conversations: 0 }, "INVALID_INPUT", "/max_conversations"],
    [{ budget_tokens: 8_000, manager: new ContextManager() }, "INVALID_INPUT", "/manager"],
    [undefined, "INVALID_INPUT", undefined],
  ]) {
    assert.throws(
      () => contextWeaver(options),
      (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
    );
  }
});

for (const [name, run] of Object.entries(HOW)) {
  test(`Mastra, ${name}: what the agent proposed is wanted in the first step after the user agreed, and the list stays`, async () => {
    const does = (id, description) => createTool({ id, description, inputSchema: z.object({}), execute: async () => ({ done: id }) });
    const shelves = Array.from({ length: 30 }, (_, n) => does(`work_${n}`, `Counts the boxes of shelf ${n}`));
    const all = [...shelves, does("refund_order", "Refunds an order"), does("order_status", "Tells where a parcel is")];
    const tools = Object.fromEntries(all.map((one) => [one.id, one]));
    const REFUND = "Shall I refund the order?";
    const session = async ({ between = () => {}, ...options }) => {
      const steps = [];
      const answers = [
        [says(`It was lost. ${REFUND}`)],
        [
          said(call("r", "call_tool", { name: "refund_order", arguments: {} })),
          said(call("w", "call_tool", { name: "work_7", arguments: {} })),
          says("It is refunded. Shall I look where the parcel of your other order is?"),
        ],
        [says("It is on its way.")],
      ];
      const model = modelOf(4, (asked) => (accepts(asked), answers[0].shift()));
      const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 4, on_step: (step) => steps.push(step), ...options });
      const agent = agentOf({ model, tools, cw, memory: new MockMemory() });
      const turns = [];
      for (const text of ["Why did the boxes of shelf 3 not come?", "yes, please", "yes, please"]) {
        await run(agent, text, { maxSteps: 5, memory: memoryOf("t") });
        await between(agent, cw);
        turns.push(steps.splice(0));
        answers.shift();
      }
      return { turns, cw };
    };
    const wants = (steps, tool) => steps.map(({ tools: listed, unlisted }) => [...listed, ...unlisted].includes(tool));
    const { turns, cw } = await session({});
    assert.deepEqual(wants(turns[1], "refund_order"), [true, true, true]);
    assert.deepEqual(wants(turns[2], "order_status"), [true]);
    // It says from which item of the log, and the tools of the conversation stay, although the framework makes them anew.
    const { completion } = turns[1][0];
    const { text } = cw.conversation("t").manager.events.get(completion.item_ids[0]);
    assert.deepEqual([completion.reason, completion.query, text], ["agreement", text, `It was lost. ${REFUND}`]);
    assert.equal(new Set(turns.flat().map(({ tools: names }) => names.join())).size, 1);
    assert.deepEqual(
      turns.flat().flatMap(({ synced }) => synced.superseded),
      [],
    );
    cw.free();

    // Without the log, which had to give way, the framework's own list is what is known.
    const other = (agent) => run(agentOf({ model: modelOf(4, () => says("hi")), tools, cw: agent, memory: new MockMemory() }), "Hi", { memory: memoryOf("u") });
    const evicted = await session({ max_conversations: 1, between: (_, cw) => other(cw) });
    assert.ok(evicted.turns[1][0].tools.includes("refund_order"));
    evicted.cw.free();

    // What the policy withholds completes nothing.
    const classifier = ({ text }) => (text.includes(REFUND) ? "restricted" : "public");
    const withheld = await session({ manager: { classifier } });
    assert.deepEqual([wants(withheld.turns[1], "refund_order")[0], withheld.turns[1][0].completion], [false, undefined]);
    withheld.cw.free();
  });
}

test("prompts for models of Anthropic are marked for its cache, whoever serves them", async () => {
  const marks = async (provider, modelId, options) => {
    const asked = [];
    const model = modelOf(4, ({ prompt }) => (asked.push(prompt), asked.length < 3 ? said(call(`c${asked.length}`, "export_orders", {})) : says("done")));
    // Not a property of its own, as in the providers' classes.
    Object.defineProperties(model, { provider: { get: () => provider }, modelId: { get: () => modelId } });
    const cw = contextWeaver({ budget_tokens: 8_000, ...options });
    await agentOf({ model, tools: { export_orders: sdkTools().tools.export_orders }, cw }).generate("Export them.", { maxSteps: 5 });
    cw.free();
    const mark = provider === "amazon-bedrock" ? '"bedrock":{"cachePoint":{"type":"default"}}' : '"anthropic":{"cacheControl":{"type":"ephemeral"}}';
    return asked.map((prompt) => prompt.findLastIndex((message) => JSON.stringify(message).includes(mark)) === prompt.length - 1);
  };
  for (const [provider, modelId] of [
    ["anthropic.messages", "claude-sonnet-4-5"],
    ["gateway", "anthropic/claude-sonnet-4.5"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ]) {
    assert.deepEqual(await marks(provider, modelId), [true, true, true]);
    assert.deepEqual(await marks(provider, modelId, { cache: false }), [false, false, false]);
  }
  assert.deepEqual(await marks("gateway", "openai/gpt-5"), [false, false, false]);
  assert.throws(
    () => contextWeaver({ budget_tokens: 8_000, cache: "yes" }),
    ({ code, path }) => (assert.deepEqual([code, path], ["INVALID_INPUT", "/cache"]), true),
  );
});
