// `call_tool` in every adapter: the tool that is meant runs as the framework runs any other, with its approval, its checks and its
// output; what cannot be run so is offered by its own name.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { createTool } from "@mastra/core/tools";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { Agent, Runner, Usage, tool as agentTool } from "@openai/agents";
import { createAgent, tool as langchainTool } from "langchain";
import { zodFunction } from "openai/helpers/zod";
import { z } from "zod";
import { SDKS, call, modelOf, said } from "./ai-sdk-models.mjs";
import { project } from "./harness.mjs";

const entries = ["anthropic", "openai", "openai-agents", "ai-sdk", "langchain", "mastra"];
const folder = await project("call-tool", {
  ...Object.fromEntries(entries.map((name) => [`${name}.mjs`, `export * from "contextweaver/${name}";`])),
  "core.mjs": `export { ContextManager } from "contextweaver";`,
});
const [anthropic, openai, agents, aiSdk, langchain, mastra, { ContextManager }] = await Promise.all(
  [...entries, "core"].map((name) => import(pathToFileURL(join(folder, `${name}.mjs`)))),
);

const OPTIONS = { budget_tokens: 8_000, max_tools: 2 };
const QUESTION = "Count the boxes of shelf 3.";
/** Names of tools that the question finds, and that of the tool that it does not. */
const SHELVES = Array.from({ length: 20 }, (_, n) => `count_boxes_${n}`);
const object = (properties, required = []) => ({ type: "object", properties, required });
const PAY = { name: "pay_invoice", description: "Pays an invoice", schema: object({ id: { type: "integer" } }, ["id"]) };
const shelf = (name) => ({ name, description: `Counts the boxes of shelf ${name.slice(12)}`, schema: object({ deep: { type: "boolean" } }) });
const WRONG = { name: "pay_invoces", arguments: { id: 7 } };
const RIGHT = { name: PAY.name, arguments: { id: 7 } };

test("call_tool, hand-written loops: resolve reads what is meant, answer says what is wrong, in every form of call", () => {
  const forms = [
    {
      cw: anthropic,
      tool: ({ name, description, schema }) => ({ name, description, input_schema: schema }),
      field: "messages",
      call: (name, input) => ({ type: "tool_use", id: "c1", name, input }),
      told: ({ content }) => content,
    },
    {
      cw: openai,
      tool: ({ name, description, schema: parameters }) => ({ type: "function", function: { name, description, parameters } }),
      field: "messages",
      call: (name, input) => ({ type: "function", id: "c1", function: { name, arguments: JSON.stringify(input) } }),
      told: ({ content }) => content,
    },
    {
      cw: openai,
      tool: ({ name, description, schema: parameters }) => ({ type: "function", name, description, parameters }),
      field: "input",
      call: (name, input) => ({ type: "function_call", id: "f1", call_id: "c1", name, arguments: JSON.stringify(input) }),
      told: ({ output }) => output,
    },
  ];
  for (const { cw: adapter, tool, field, call: made, told } of forms) {
    const cw = adapter.contextWeaver({ ...OPTIONS, tools: [...SHELVES.map(shelf), PAY].map(tool) });
    const names = ({ tools }) => tools.map((one) => (one.function ?? one).name);
    const fit = (...messages) => cw.fit({ model: "m", max_tokens: 10, [field]: messages });
    const first = names(fit({ role: "user", content: QUESTION }));
    assert.deepEqual(first.slice(-4), ["find_tools", "call_tool", "drilldown", "recall"]);
    assert.ok(!first.includes(PAY.name));
    assert.match(told(cw.answer(made("find_tools", { query: "pay an invoice" }))), /^pay_invoice: Pays an invoice\narguments: \{.*"id"/);
    assert.deepEqual(cw.resolve(made("call_tool", RIGHT)), made(PAY.name, RIGHT.arguments));
    assert.equal(cw.answer(made("call_tool", RIGHT)), undefined);
    assert.match(told(cw.answer(made("call_tool", WRONG))), /There is no tool "pay_invoces"\. Is it pay_invoice\?/);
    assert.match(told(cw.answer(made("call_tool", { name: PAY.name, arguments: {} }))), /^id: missing/);
    // Half of a surrogate pair is no word to search for.
    for (const made_up of [made("call_tool", { name: "pay\ud800" }), made("find_tools", { query: "pay \ud800" })])
      assert.match(told(cw.answer(made_up)), /pay_invoice/);
    // Every other call is what it is.
    for (const other of [made("call_tool", WRONG), made(PAY.name, { id: 7 }), made("find_tools", { query: "x" })]) assert.equal(cw.resolve(other), other);
    // Another question leaves the list as it is.
    assert.deepEqual(
      names(fit({ role: "user", content: QUESTION }, { role: "assistant", content: "Six." }, { role: "user", content: "Pay the invoice 7." })),
      first,
    );
    cw.free();
    const few = adapter.contextWeaver({ ...OPTIONS, tools: [tool(PAY)] });
    assert.deepEqual(names(few.fit({ model: "m", max_tokens: 10, [field]: [{ role: "user", content: QUESTION }] })), [PAY.name]);
    assert.match(told(few.answer(made("call_tool", RIGHT))), /offered already/);
    few.free();
  }
});

test("call_tool: numbers that JavaScript would round arrive as the model wrote them", async () => {
  const id = "9007199254740993";
  const inner = `{"id":${id},"note":"${id}"}`;
  const tools = [PAY, ...SHELVES.map(shelf)].map(({ name, description, schema: parameters }) => ({ type: "function", name, description, parameters }));
  for (const text of [`{"name":"pay_invoice","arguments":${inner}}`, JSON.stringify({ name: "pay_invoice", arguments: inner })]) {
    const cw = openai.contextWeaver({ tools, ...OPTIONS });
    const item = { type: "function_call", call_id: "c1", name: "call_tool", arguments: text };
    assert.deepEqual(cw.resolve(item), { ...item, name: "pay_invoice", arguments: inner });
    const called = { type: "function", id: "c1", function: { name: "call_tool", arguments: text } };
    assert.equal(cw.resolve(called).function.arguments, inner);
    cw.free();
    const ran = [];
    const { type, ...pay } = tools[0];
    const run = { type, function: { ...pay, function: async (given) => void ran.push(given) } };
    const running = openai.contextWeaver({ tools: [run, ...tools.slice(1)], ...OPTIONS });
    const added = running.tools.find((one) => one.function?.name === "call_tool").function;
    await added.function(added.parse(text), undefined);
    assert.deepEqual(ran, [inner]);
    running.free();
    const agent = agents.contextWeaver(OPTIONS);
    const output = [{ type: "function_call", callId: "c1", name: "call_tool", arguments: text }];
    const model = agent.serve({ getResponse: async () => ({ usage: {}, output }), async *getStreamedResponse() {} });
    const request = { input: QUESTION, tools: agent.tools(tools), handoffs: [], modelSettings: {} };
    assert.deepEqual((await model.getResponse(request)).output, [{ ...output[0], name: "pay_invoice", arguments: inner }]);
    agent.free();
  }
});

test("call_tool, loops of the SDKs of Anthropic and OpenAI: the tool is run by what runs it, or offered where nothing does", async () => {
  const paid = [];
  const shelves = SHELVES.map(shelf);
  const run = async (input, context) => (paid.push([input, context]), "paid");
  const runnable = { name: PAY.name, description: PAY.description, input_schema: PAY.schema, run, parse: (input) => ({ ...input, parsed: true }) };
  const cw = anthropic.contextWeaver({
    ...OPTIONS,
    tools: [...shelves.map(({ name, description, schema }) => ({ name, description, input_schema: schema })), runnable],
  });
  const own = cw.tools.find(({ name }) => name === "call_tool");
  const context = { toolUse: { id: "c1" } };
  assert.equal(await own.run(own.parse(RIGHT), context), "paid");
  assert.deepEqual(paid.splice(0), [[{ id: 7, parsed: true }, context]]);
  assert.match(await own.run(WRONG), /Is it pay_invoice\?/);
  // What runs elsewhere is offered from the next call on.
  assert.match(await own.run({ name: SHELVES[9], arguments: {} }), /count_boxes_9 .*own name/);
  const offered = () => cw.fit({ model: "m", max_tokens: 10, messages: [{ role: "user", content: "Pay the invoice 7." }] }).tools.map(({ name }) => name);
  assert.ok(offered().includes(SHELVES[9]));
  cw.free();

  const asRun = ({ name, description, schema: parameters }, more) => ({ type: "function", function: { name, description, parameters, ...more } });
  const chat = openai.contextWeaver({
    ...OPTIONS,
    tools: [
      ...shelves.map((one) => asRun(one)),
      asRun(PAY, { parse: JSON.parse, function: async (...given) => (paid.push(given), { paid: true }) }),
      zodFunction({ name: "weigh_parcel", parameters: z.object({ id: z.number() }), function: async (...given) => (paid.push(given), "weighed") }),
      zodFunction({ name: "ask_browser", parameters: z.object({}) }),
    ],
  });
  const { function: inner } = chat.tools.find((one) => one.function?.name === "call_tool");
  const ask = (name, given) => inner.function(inner.parse(JSON.stringify({ name, arguments: given })), "runner", "context");
  assert.equal(await ask(PAY.name, { id: 7 }), `{"paid":true}`);
  assert.equal(await ask("weigh_parcel", { id: 8 }), "weighed");
  assert.deepEqual(paid.splice(0), [
    [{ id: 7 }, "runner", "context"],
    [{ id: 8 }, "runner", "context"],
  ]);
  // What a parser says of its arguments goes to the model, as the runner has it.
  assert.match(await ask("weigh_parcel", { id: "eight" }), /expected number/);
  assert.deepEqual(paid, []);
  assert.match(await ask(WRONG.name, WRONG.arguments), /Is it pay_invoice\?/);
  for (const elsewhere of [SHELVES[9], "ask_browser"]) assert.match(await ask(elsewhere, {}), /own name/);
  chat.free();
});

for (const [version, sdk] of Object.entries(SDKS)) {
  /** The tools of the SDK: one that waits for approval, one with a schema that changes what it is given, one that runs elsewhere. */
  const sdkTools = (paid) => ({
    ...Object.fromEntries(
      SHELVES.map((name) => [name, sdk.tool({ description: shelf(name).description, inputSchema: z.object({}), execute: async () => name })]),
    ),
    pay_invoice: sdk.tool({
      description: PAY.description,
      inputSchema: z.object({ id: z.number() }),
      needsApproval: true,
      async *execute({ id }) {
        yield "paying";
        paid.push(id);
        yield "paid";
      },
    }),
    weigh_parcel: sdk.tool({
      description: "Weighs a parcel",
      inputSchema: z.object({ id: z.coerce.number().default(3) }),
      execute: async (input) => input,
      toModelOutput: ({ output }) => ({ type: "text", value: `weighed ${output.id}` }),
    }),
    ask_browser: sdk.tool({ description: "Asks the browser", inputSchema: z.object({}) }),
  });
  const asked = [];
  const scripted = (...turns) => modelOf(sdk, (params) => (asked.push(params), turns[Math.min(asked.length, turns.length) - 1]));
  const namesOf = ({ tools }) => tools.map(({ name }) => name);
  const promptOf = (params) => JSON.stringify(params.prompt);
  const approve = (messages) => [
    ...messages,
    {
      role: "tool",
      content: messages
        .at(-1)
        .content.filter(({ type }) => type === "tool-approval-request")
        .map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true })),
    },
  ];
  const done = said([{ type: "text", text: "done" }]);

  test(`call_tool, AI SDK ${version}: prepareStep runs what is meant, after its approval, also in another process`, async () => {
    asked.length = 0;
    const paid = [];
    const begin = (manager) => aiSdk.contextWeaver({ ...OPTIONS, tools: sdkTools(paid), ...(manager && { manager }) });
    const cw = begin();
    const settings = ({ tools, prepareStep }, model, messages) => ({ model, tools, prepareStep, messages, stopWhen: sdk.stop(5) });
    const model = scripted(
      said([call("w", "call_tool", { name: "weigh_parcel", arguments: { id: "12" } })]),
      said([call("b", "call_tool", { name: "ask_browser", arguments: {} })]),
      said([call("x", "call_tool", WRONG)]),
      said([call("p", "call_tool", RIGHT)]),
      done,
    );
    const question = [{ role: "user", content: QUESTION }];
    const { response, content } = await sdk.generateText(settings(cw, model, question));
    // The schema made a number of it, and the model is told in the tool's words.
    assert.match(promptOf(asked[1]), /weighed 12/);
    assert.match(promptOf(asked[2]), /ask_browser is not run by call_tool/);
    assert.ok(!namesOf(asked[1]).includes("ask_browser") && namesOf(asked[2]).includes("ask_browser"));
    assert.match(promptOf(asked[3]), /Is it pay_invoice\?/);
    assert.deepEqual(paid, []);
    assert.equal(content.at(-1).type, "tool-approval-request");
    // What was approved is run before the first step.
    const other = begin();
    await sdk.generateText(settings(other, model, approve([...question, ...response.messages])));
    assert.deepEqual(paid, [7]);
    assert.match(promptOf(asked.at(-1)), /"paid"/);
    for (const one of [cw, other]) one.free();
  });

  test(`call_tool, AI SDK ${version}: what a tool says last is its result, whether its schema checks at once or later`, async () => {
    async function* words({ id }) {
      yield { state: "begun" };
      yield { state: "done", id };
    }
    const schema = z.object({ id: z.number() });
    // Only of what is made by `async function*` it is known that it answers little by little before it is called.
    for (const [inputSchema, execute, early] of [
      [schema, words, 2],
      [sdk.zodSchema(schema), words, 2],
      [sdk.zodSchema(schema), (input) => words(input), 0],
      [sdk.zodSchema(schema), async ({ id }) => ({ state: "done", id }), 0],
    ]) {
      asked.length = 0;
      const tools = { ...sdkTools([]), watch_parcel: sdk.tool({ description: "Watches it", inputSchema, execute }) };
      const cw = aiSdk.contextWeaver({ ...OPTIONS, tools });
      const model = scripted(said([call("w", "call_tool", { name: "watch_parcel", arguments: { id: 7 } })]), done);
      const settings = { model, tools: cw.tools, prepareStep: cw.prepareStep, prompt: QUESTION, stopWhen: sdk.stop(5) };
      const told = [];
      for await (const { type, preliminary = false, output } of sdk.streamText(settings).fullStream)
        if (type === "tool-result") told.push([preliminary, output]);
      assert.deepEqual(told.pop(), [false, { state: "done", id: 7 }]);
      assert.deepEqual([told.length, told.every(([preliminary]) => preliminary)], [early, true]);
      assert.match(promptOf(asked[1]), /"state":"done","id":7/);
      cw.free();
    }
  });

  test(`call_tool, AI SDK ${version}: a middleware makes it the call that is meant, which the SDK runs`, async () => {
    for (const how of ["generateText", "streamText"]) {
      asked.length = 0;
      const paid = [];
      const middleware = aiSdk.contextWeaver(OPTIONS);
      const inputs = [
        { type: "tool-input-start", id: "w", toolName: "call_tool" },
        { type: "tool-input-delta", id: "w", delta: "{" },
        { type: "tool-input-end", id: "w" },
      ];
      const turn = said([
        ...(how === "streamText" ? inputs : []),
        call("w", "call_tool", { name: "weigh_parcel", arguments: {} }),
        call("p", "call_tool", RIGHT),
        call("x", "call_tool", WRONG),
      ]);
      const model = sdk.wrapLanguageModel({ model: scripted(turn, done), middleware });
      const parts = [];
      const settings = { model, tools: sdkTools(paid), stopWhen: sdk.stop(5), prompt: QUESTION };
      const result = how === "generateText" ? await sdk.generateText(settings) : sdk.streamText(settings);
      if (how === "streamText") for await (const part of result.fullStream) parts.push(part);
      const { content } = (await result.steps)[0];
      assert.ok(
        parts.every(({ toolName }, at) => toolName !== "call_tool" || !parts[at].type.startsWith("tool-input")),
        how,
      );
      const calls = content
        .filter(({ type }) => type === "tool-call")
        .map(({ toolName, input, providerExecuted = false }) => [toolName, input, providerExecuted]);
      assert.deepEqual(calls, [
        ["weigh_parcel", { id: 3 }, false],
        ["pay_invoice", { id: 7 }, false],
        ["call_tool", WRONG, true],
      ]);
      assert.deepEqual(
        content.filter(({ type }) => type === "tool-approval-request").map(({ toolCall }) => toolCall.toolName),
        ["pay_invoice"],
      );
      assert.match(content.find(({ type, toolName }) => type === "tool-result" && toolName === "call_tool").output, /Is it pay_invoice\?/);
      assert.deepEqual(paid, []);
      middleware.free();
    }
  });

  test(`call_tool, AI SDK ${version}: a conversation that another instance takes up keeps its list of tools`, async () => {
    asked.length = 0;
    const manager = new ContextManager();
    const messages = [{ role: "user", content: QUESTION }];
    for (const words of ["Pay the invoice.", "Weigh the parcel.", ""]) {
      const { tools, prepareStep } = aiSdk.contextWeaver({ ...OPTIONS, tools: sdkTools([]), manager });
      await sdk.generateText({ model: scripted(done), tools, prepareStep, messages });
      messages.push({ role: "assistant", content: "done" }, { role: "user", content: words });
    }
    assert.equal(new Set(asked.map((params) => JSON.stringify(params.tools))).size, 1);
    manager.free();
  });
}

test("call_tool, OpenAI's Agents SDK: the agent's own tool is called, and waits for its approval", async () => {
  for (const stream of [false, true]) {
    const paid = [];
    const parameters = { type: "object", properties: { id: { type: "integer" } }, required: ["id"], additionalProperties: false };
    const simple = (name, execute, more) =>
      agentTool({ name, description: shelf(name).description, strict: false, parameters: { ...parameters, required: [] }, execute, ...more });
    const tools = [
      ...SHELVES.map((name) => simple(name, async () => name)),
      simple(PAY.name, async ({ id }) => (paid.push(id), "paid"), { description: PAY.description, parameters, needsApproval: true }),
    ];
    const fn = (callId, input) => ({ type: "function_call", callId, name: "call_tool", arguments: JSON.stringify(input), status: "completed" });
    const turns = [
      [fn("p", RIGHT), fn("x", WRONG)],
      [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }],
    ];
    const lists = [];
    const next = ({ tools: given }) => (lists.push(given.map(({ name }) => name).join()), turns[lists.length - 1]);
    const model = {
      getResponse: async (request) => ({ usage: new Usage({ requests: 1 }), output: next(request) }),
      async *getStreamedResponse(request) {
        yield { type: "response_done", response: { id: "r", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: next(request) } };
      },
    };
    const cw = agents.contextWeaver(OPTIONS);
    const agent = new Agent({ name: "teller", model: cw.serve(model), tools: cw.tools(tools) });
    const run = async (input) => {
      const result = await new Runner({ tracingDisabled: true }).run(agent, input, { stream });
      if (stream) for await (const _ of result) void _;
      if (stream) await result.completed;
      return result;
    };
    const { interruptions, state } = await run(QUESTION);
    assert.deepEqual([interruptions.map(({ rawItem }) => rawItem.name), paid], [[PAY.name], []]);
    state.approve(interruptions[0]);
    const { finalOutput, history } = await run(state);
    assert.deepEqual([finalOutput, paid], ["done", [7]]);
    assert.match(JSON.stringify(history), /Is it pay_invoice\?/);
    assert.equal(new Set(lists).size, 1);
    cw.free();
  }
});

test("call_tool, LangChain: the agent's own tool is called, and whoever watches calls sees which it is", async () => {
  const turns = [
    { content: [{ type: "tool_use", id: "p", name: "call_tool", input: RIGHT }], tool_calls: [{ type: "tool_call", id: "p", name: "call_tool", args: RIGHT }] },
    { content: "", tool_calls: [{ type: "tool_call", id: "x", name: "call_tool", args: WRONG }] },
    { content: "done" },
  ];
  class Scripted extends BaseChatModel {
    lists = [];
    _llmType() {
      return "scripted";
    }
    bindTools(tools) {
      this.lists.push(tools.map(({ name }) => name).join());
      return this;
    }
    async _generate() {
      return { generations: [{ text: "", message: new AIMessage(turns[this.lists.length - 1]) }] };
    }
  }
  const paid = [];
  const watched = [];
  const tools = [
    ...SHELVES.map((name) => langchainTool(async () => name, { name, description: shelf(name).description, schema: z.object({}) })),
    langchainTool(async ({ id }) => (paid.push(id), "paid"), { name: PAY.name, description: PAY.description, schema: z.object({ id: z.number() }) }),
  ];
  const watch = { name: "watch", wrapToolCall: (request, handler) => (watched.push(request.toolCall.name), handler(request)) };
  const cw = langchain.contextWeaver(OPTIONS);
  const model = new Scripted({});
  const { messages } = await createAgent({ model, tools, middleware: [watch, cw] }).invoke({ messages: [{ role: "user", content: QUESTION }] });
  assert.deepEqual([paid, watched], [[7], [PAY.name, "call_tool"]]);
  assert.deepEqual([messages[1].tool_calls[0].name, messages[1].content[0].name, messages[1].content[0].input], [PAY.name, PAY.name, { id: 7 }]);
  assert.match(messages.at(-2).content, /Is it pay_invoice\?/);
  assert.equal(new Set(model.lists).size, 1);
  cw.free();
});

test("call_tool, Mastra: it runs what is free to run, and offers what a human has to approve", async () => {
  const sdk = SDKS[7];
  const paid = [];
  const tools = {
    ...Object.fromEntries(
      SHELVES.map((name) => [name, createTool({ id: name, description: shelf(name).description, inputSchema: z.object({}), execute: async () => name })]),
    ),
    weigh_parcel: createTool({
      id: "weigh_parcel",
      description: "Weighs a parcel",
      inputSchema: z.object({ id: z.number() }),
      execute: async ({ id }) => ({ weighed: id }),
    }),
    pay_invoice: createTool({
      id: PAY.name,
      description: PAY.description,
      inputSchema: z.object({ id: z.number() }),
      requireApproval: true,
      execute: async ({ id }) => (paid.push(id), "paid"),
    }),
  };
  const asked = [];
  const turns = [
    said([call("w", "call_tool", { name: "weigh_parcel", arguments: { id: 12 } })]),
    said([call("x", "call_tool", WRONG)]),
    said([call("p", "call_tool", RIGHT)]),
    said([{ type: "text", text: "done" }]),
  ];
  const model = modelOf(sdk, (params) => (asked.push(params), turns[asked.length - 1]));
  const cw = mastra.contextWeaver(OPTIONS);
  const agent = new MastraAgent({ id: "a", name: "a", instructions: "Be brief.", model, tools, inputProcessors: [cw] });
  await agent.generate(QUESTION, { maxSteps: 6 });
  const prompts = asked.map(({ prompt }) => JSON.stringify(prompt));
  const lists = asked.map(({ tools: given }) => given.map(({ name }) => name));
  assert.match(prompts[1], /"weighed\\*":\s*12/);
  assert.match(prompts[2], /Is it pay_invoice\?/);
  assert.match(prompts[3], /pay_invoice is not run by call_tool/);
  assert.deepEqual(paid, []);
  assert.deepEqual([lists[1], lists[2]], [lists[0], lists[0]]);
  assert.deepEqual([...lists[3]].sort(), [...lists[0], PAY.name].sort());
  cw.free();
});
