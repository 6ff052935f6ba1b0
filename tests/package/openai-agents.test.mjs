// The adapter for OpenAI's Agents SDK in the SDK's own runs, with a scripted model.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, MemorySession, OpenAIProvider, Runner, Usage, handoff, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import {
  ANSWER,
  BUDGET,
  DONE,
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
  partOf,
  script,
  textsOf,
  withinBudget,
} from "./agent-session.mjs";
import { here, project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const folder = await project("openai-agents", {
  "entry.mjs": `export * from "contextweaver/openai-agents"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));
// What the SDK makes of its items for the provider.
const { getInputItems } = await import(pathToFileURL(join(here, "node_modules/@openai/agents-openai/dist/openaiResponsesConverter.mjs")));
setTracingDisabled(true);

const user = (content) => ({ type: "message", role: "user", content });
const text = (value) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: value }] });
const call = (callId, name, input) => ({ type: "function_call", callId, name, arguments: JSON.stringify(input), status: "completed" });
const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
const simple = (name, execute, more) => tool({ name, description: name, strict: false, parameters: schema, execute, ...more });

/** What the provider wants, within the budget. */
function accepts({ input, tools, handoffs, systemInstructions = "" }, budget = BUDGET) {
  assert.equal(PROVIDER_RULES["openai-responses"]({ messages: getInputItems(input) }), undefined);
  const definitions = [...tools, ...handoffs].map((one) => JSON.stringify(one));
  withinBudget(textsOf([input, systemInstructions]).concat(definitions), countTokens, budget);
}

/** A model that says what `next` says to what it is asked. */
class Scripted {
  #next;
  #budget;
  constructor(next, budget) {
    [this.#next, this.#budget] = [next, budget];
  }
  async getResponse(request) {
    accepts(request, this.#budget);
    return { usage: new Usage({ requests: 1 }), output: this.#next(request) };
  }
  async *getStreamedResponse(request) {
    accepts(request, this.#budget);
    const output = this.#next(request);
    yield { type: "response_started" };
    yield { type: "response_done", response: { id: "resp", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output } };
  }
}

/** The session as a model of the SDK. */
function scripted() {
  const next = script();
  return ({ input, tools }) => {
    const { text: said, calls = [] } = next({ sent: input, offered: tools.map(({ name }) => name) });
    return said === undefined ? calls.map(({ id, name, input: given }) => call(id, name, given)) : [text(said)];
  };
}

/** The tools of the session as the SDK has them. */
function sdkTools() {
  const { tools, executed } = manyTools();
  const picture = [
    { type: "text", text: "the desk" },
    { type: "image", image: { data: PICTURE, mediaType: "image/png" } },
  ];
  const list = tools.map(({ name, description, schema: parameters, run: runs }) =>
    simple(name, async () => (name === "take_picture" ? (runs(), picture) : runs()), {
      description,
      parameters: { ...schema, ...parameters, additionalProperties: true },
    }),
  );
  return { executed, tools: list };
}

const HOW = {
  run: (agent, input, options, runner = new Runner()) => runner.run(agent, input, options),
  "run, streaming": async (agent, input, options, runner = new Runner()) => {
    const result = await runner.run(agent, input, { ...options, stream: true });
    for await (const _ of result) void _;
    await result.completed;
    return result;
  },
};

for (const [name, runs] of Object.entries(HOW)) {
  test(`OpenAI Agents, ${name}: 60 steps, 200 tools, large results and a picture`, async () => {
    const { tools, executed } = sdkTools();
    const steps = [];
    const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
    const session = new MemorySession();
    const agent = new Agent({ name: "orders", instructions: "Be brief. ".repeat(100), model: cw.serve(new Scripted(scripted())), tools: cw.tools(tools) });
    const { finalOutput, history } = await runs(agent, QUESTION, { maxTurns: STEPS + 5, session });
    assert.equal(finalOutput, ANSWER);
    assert.equal(steps.length, STEPS);
    for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
    assert.deepEqual(
      steps.flatMap(({ warnings }) => warnings),
      [],
    );
    holdsTheSession(cw.manager, executed);
    // What the run and the session hold is what was said.
    for (const items of [history, await session.getItems()]) {
      const { output } = items.find(({ type, callId }) => type === "function_call_result" && callId === "c0");
      assert.equal(JSON.parse(output.text).length, 900);
    }
    cw.free();
  });

  test(`OpenAI Agents, ${name}: ${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results`, async () => {
    const tools = RUN_TOOLS.map(({ name: called, description, schema: parameters }) =>
      simple(called, async ({ part }) => partOf(part), { description, parameters: { ...schema, ...parameters } }),
    );
    const play = async (cw) => {
      const next = longRun();
      const requests = [];
      const model = new Scripted(({ input, tools: offered, handoffs, systemInstructions }) => {
        requests.push(JSON.parse(JSON.stringify({ head: [systemInstructions, offered, handoffs], messages: getInputItems(input) })));
        const { text: said, calls = [] } = next();
        return [text(said), ...calls.map(({ id, name: called, input: given }) => call(id, called, given))];
      }, Infinity);
      const agent = new Agent({ name: "mender", instructions: RUN_INSTRUCTIONS, model: cw?.serve(model) ?? model, tools: cw?.tools(tools) ?? tools });
      assert.equal((await runs(agent, TASK, { maxTurns: RUN_STEPS })).finalOutput, DONE);
      return requests;
    };
    const bare = await play();
    for (const budget of RUN_BUDGETS) {
      const steps = [];
      const cw = contextWeaver({ budget_tokens: budget, on_step: (step) => steps.push(step) });
      holdsTheRun({ budget, requests: await play(cw), bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
      cw.free();
    }
  });

  test(`OpenAI Agents, ${name}: what calls cost is what the budget is kept by`, async () => {
    for (const calibrate of [true, false]) {
      const { costs, next, page } = costly(countTokens);
      const steps = [];
      const answered = ({ input, tools }) => {
        const { cost, call: wanted, text: said } = next([...textsOf(input), ...tools.map((one) => JSON.stringify(one))]);
        return { usage: new Usage({ requests: 1, inputTokens: cost }), output: [wanted ? call(wanted.id, wanted.name, wanted.input) : text(said)] };
      };
      const model = {
        getResponse: async (request) => answered(request),
        async *getStreamedResponse(request) {
          const { usage, output } = answered(request);
          yield { type: "response_done", response: { id: "resp", usage: { inputTokens: usage.inputTokens, outputTokens: 1, totalTokens: 2 }, output } };
        },
      };
      const cw = contextWeaver({ budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
      const read = simple("read", async ({ page: n }) => page(n), { parameters: { ...schema, ...READ.schema } });
      // By a provider, which knows the name of the model.
      const runner = new Runner({ modelProvider: cw.serve({ getModel: () => model }), tracingDisabled: true });
      await runs(new Agent({ name: "reader", model: "m-1", tools: cw.tools([read]) }), "Read all pages.", { maxTurns: 20 }, runner);
      holdsTheCost({ costs, steps, calibrate, model: "m-1" });
      cw.free();
    }
  });

  test(`OpenAI Agents, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
    const { manager, read, on_step, next, holds } = evicted({ ContextManager });
    const answered = ({ input }) => {
      const { call: wanted, text: said } = next(textsOf(input));
      return { usage: new Usage(), output: [wanted ? call(wanted.id, wanted.name, wanted.input) : text(said)] };
    };
    const model = {
      getResponse: async (request) => answered(request),
      async *getStreamedResponse(request) {
        yield { type: "response_done", response: { id: "resp", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: answered(request).output } };
      },
    };
    const cw = contextWeaver({ budget_tokens: BUDGET, manager, on_step });
    const page = simple(READ.name, async () => read(), { parameters: { ...schema, ...READ.schema } });
    const { finalOutput } = await runs(new Agent({ name: "reader", model: cw.serve(model), tools: cw.tools([page]) }), QUESTION, { maxTurns: 5 });
    holds(finalOutput);
    manager.free();
  });

  test(`OpenAI Agents, ${name}: a conversation of several runs, edited and trimmed`, async () => {
    const asked = [];
    const model = new Scripted(({ input }) => (asked.push(textsOf(input).join("\n")), [text(`answer ${asked.length}`)]));
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = new Agent({ name: "friend", model: cw.serve(model), tools: cw.tools([]) });
    let items = [];
    const turn = async (content) => {
      items = (await runs(agent, [...items, user(content)])).history;
    };
    await turn("My name is Ada.");
    await turn("I live in Paris.");
    await turn("Which city is it?");
    assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
    // The user mends what was said last, and the host forgets the oldest turn.
    items = items.slice(2, -2);
    await turn("Which country is it?");
    assert.match(asked[3], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
    assert.doesNotMatch(asked[3], /city|answer 3/);
    cw.free();
  });

  test(`OpenAI Agents, ${name}: what a tool throws is a result, and a run may be aborted and taken up`, async () => {
    const controller = new AbortController();
    const tools = [
      simple(
        "fail",
        async () => {
          throw new Error("the disk is full");
        },
        { errorFunction: (_, error) => error.message },
      ),
      simple("hang", async () => (controller.abort(), "late")),
    ];
    const asked = [];
    const turns = [[call("f", "fail", {})], [call("h", "hang", {})], [text("done")]];
    const model = new Scripted(({ input }) => (asked.push(textsOf(input).join("\n")), turns[asked.length - 1]));
    const warnings = [];
    const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => warnings.push(...step.warnings) });
    const agent = new Agent({ name: "worker", model: cw.serve(model), tools: cw.tools(tools) });
    // A stream ends, a run rejects.
    await runs(agent, "Do it.", { signal: controller.signal }).catch((error) => assert.match(String(error), /abort/i));
    assert.match(asked[1], /the disk is full/);
    assert.equal(asked.length, 2);
    assert.deepEqual(warnings, []);
    // What the host has of it is a call without its result.
    const { finalOutput } = await runs(agent, [user("Do it."), call("h2", "hang", {}), user("Go on.")]);
    assert.equal(finalOutput, "done");
    assert.notDeepEqual(warnings, []);
    cw.free();
  });

  test(`OpenAI Agents, ${name}: calls that wait for an approval, granted and denied`, async () => {
    const paid = [];
    const pay = simple("pay", async ({ to }) => (paid.push(to), "paid"), {
      needsApproval: true,
      parameters: { ...schema, properties: { to: { type: "string" } } },
    });
    const asked = [];
    const model = new Scripted(
      ({ input }) => (
        asked.push(textsOf(input).join("\n")), asked.length === 1 ? [call("p1", "pay", { to: "Ada" }), call("p2", "pay", { to: "Mallory" })] : [text("done")]
      ),
    );
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const agent = new Agent({ name: "teller", model: cw.serve(model), tools: cw.tools([pay]) });
    const { interruptions, state } = await runs(agent, "Pay both.");
    assert.equal(interruptions.length, 2);
    for (const one of interruptions) one.rawItem.callId === "p1" ? state.approve(one) : state.reject(one, { message: "not to her" });
    const { finalOutput } = await runs(agent, state);
    assert.equal(finalOutput, "done");
    assert.deepEqual(paid, ["Ada"]);
    assert.match(asked[1], /paid/);
    assert.match(asked[1], /not to her/);
    cw.free();
  });

  test(`OpenAI Agents, ${name}: a call of an added tool with arguments that are no object is answered`, async () => {
    const odd = ["", "null", "[]", '{"handle"', undefined];
    const names = ["drilldown", "recall", "find_tools", "call_tool"];
    const asked = [];
    const calls = odd.flatMap((given, at) => names.map((one) => ({ ...call(`${one}${at}`, one, {}), arguments: given })));
    const model = new Scripted(({ input }) => (asked.push(input), asked.length === 1 ? calls : [text("done")]));
    const cw = contextWeaver({ budget_tokens: BUDGET, max_tools: 1 });
    const tools = [simple("one", async () => 1), simple("two", async () => 2)];
    const { finalOutput, interruptions } = await runs(new Agent({ name: "a", model: cw.serve(model), tools: cw.tools(tools) }), "Go on.");
    assert.deepEqual([finalOutput, interruptions], ["done", []]);
    const results = asked[1].filter(({ type }) => type === "function_call_result");
    assert.equal(results.length, calls.length);
    for (const { output } of results) assert.match(output.text, /missing/);
    cw.free();
  });

  test(`OpenAI Agents, ${name}: agents that hand over, each with its tools`, async () => {
    const many = (area) => Array.from({ length: 30 }, (_, n) => simple(`${area}_${n}`, async () => `${area} ${n}`));
    const offered = [];
    const turns = [
      [call("a", "find_tools", { query: "books 7" })],
      [call("b", "call_tool", { name: "books_7", arguments: {} })],
      [call("t", "transfer_to_mailer", {})],
      [call("c", "find_tools", { query: "mails 9" })],
      [call("d", "call_tool", { name: "mails_9", arguments: {} })],
      [text("sent")],
    ];
    const model = new Scripted(({ tools, handoffs, input }) => {
      offered.push(tools.map(({ name: one }) => one));
      assert.equal(handoffs.length, offered.length <= 3 ? 1 : 0);
      if (offered.length === 6) assert.match(textsOf(input).join("\n"), /books 7[^]*mails 9/);
      return turns[offered.length - 1];
    });
    const warnings = [];
    const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => warnings.push(...step.warnings) });
    // By the provider of the models, as a runner takes it.
    const provider = { getModel: () => model };
    const mailer = new Agent({ name: "mailer", model: cw.serve(model), tools: cw.tools(many("mails")) });
    const keeper = new Agent({ name: "keeper", model: "any", tools: cw.tools(many("books")), handoffs: [handoff(mailer)] });
    const runner = new Runner({ modelProvider: cw.serve(provider), tracingDisabled: true });
    const { finalOutput } = await runs(keeper, "Look it up and mail it.", {}, runner);
    assert.equal(finalOutput, "sent");
    // Each agent's list stays as it was.
    assert.deepEqual([offered[1], offered[2], offered[4], offered[5]], [offered[0], offered[0], offered[3], offered[3]]);
    assert.ok(!offered[4].some((one) => one.startsWith("books")), String(offered[4]));
    assert.deepEqual(warnings, []);
    cw.free();
  });
}

for (const useResponses of [true, false]) {
  test(`OpenAI Agents: the SDK's own models of ${useResponses ? "responses" : "chat completions"}`, async () => {
    const bodies = [];
    const rows = Array.from({ length: 400 }, (_, n) => ({ n, word: `w${n}` }));
    const list = simple("list", async () => rows);
    const chat = (message, finish_reason) => ({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "gpt-5",
      choices: [{ index: 0, finish_reason, logprobs: null, message: { role: "assistant", content: null, refusal: null, ...message } }],
    });
    const response = (item) => ({
      id: "r",
      object: "response",
      created_at: 1,
      model: "gpt-5",
      status: "completed",
      error: null,
      output: [item],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    });
    const answers = useResponses
      ? [
          response({ type: "function_call", id: "fc_1", call_id: "c0", name: "list", arguments: "{}", status: "completed" }),
          response({ type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done", annotations: [] }] }),
        ]
      : [chat({ tool_calls: [{ id: "c0", type: "function", function: { name: "list", arguments: "{}" } }] }, "tool_calls"), chat({ content: "done" }, "stop")];
    const fetch = async (_, { body }) => {
      const request = JSON.parse(body);
      const messages = useResponses ? request.input : request.messages;
      assert.equal(PROVIDER_RULES[useResponses ? "openai-responses" : "openai-chat"]({ messages }), undefined);
      bodies.push(request);
      return Response.json(answers[bodies.length - 1]);
    };
    const client = new OpenAI({ apiKey: "none", fetch, maxRetries: 0 });
    const cw = contextWeaver({ budget_tokens: 2_000 });
    const runner = new Runner({ modelProvider: cw.serve(new OpenAIProvider({ openAIClient: client, useResponses })), tracingDisabled: true });
    const { finalOutput } = await runner.run(new Agent({ name: "lister", model: "gpt-5", tools: cw.tools([list]) }), "List them.");
    assert.equal(finalOutput, "done");
    assert.deepEqual(
      bodies.map(({ tools }) => tools.map((one) => (one.function ?? one).name)),
      [["list"], ["list", "drilldown", "recall"]],
    );
    assert.ok(countTokens(JSON.stringify(bodies[1])) < 2_500);
    assert.match(JSON.stringify(bodies[1]), /drilldown artifact:result:c0/);
    cw.free();
  });
}

test("OpenAI Agents: the prices are those of the model, by its name", async () => {
  const costs = {};
  for (const name of ["gpt-5", "openrouter/some-model", "anthropic/claude-sonnet-4.5"]) {
    const answer = { usage: new Usage(), output: [text("Done.")] };
    const cw = contextWeaver({ budget_tokens: BUDGET });
    const model = cw.serve({ model: name, getResponse: async () => answer });
    await model.getResponse({ input: [user("word ".repeat(2_000))], tools: cw.tools([]), handoffs: [], modelSettings: {} });
    costs[name] = cw.costs().cost / cw.costs().tokens;
    cw.free();
  }
  // What is written costs a quarter more of Anthropic, and nothing more of OpenAI, whose prices any other model has.
  assert.deepEqual(costs, { "gpt-5": 1, "openrouter/some-model": 1, "anthropic/claude-sonnet-4.5": 1.25 });
});

test("OpenAI Agents: items of every kind arrive as they are", async () => {
  const items = [
    { type: "message", role: "system", content: "Be brief." },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Look.", providerData: { a: 1 } },
        { type: "input_image", image: `data:image/png;base64,${PICTURE}`, detail: "low" },
        { type: "input_file", file: { url: "https://files.example/a.pdf" }, filename: "a.pdf" },
        { type: "audio", audio: "AAAA", format: "mp3" },
      ],
    },
    {
      type: "reasoning",
      id: "rs_1",
      content: [{ type: "input_text", text: "hm" }],
      rawContent: [{ type: "reasoning_text", text: "raw" }],
      providerData: { encrypted_content: "x" },
    },
    { type: "hosted_tool_call", id: "ws_1", name: "web_search_call", status: "completed", providerData: { type: "web_search_call" } },
    { type: "computer_call", id: "cu_1", callId: "cc", status: "completed", action: { type: "screenshot" } },
    { type: "computer_call_result", callId: "cc", output: { type: "computer_screenshot", data: `data:image/png;base64,${PICTURE}` } },
    { type: "shell_call", callId: "sh", status: "completed", action: { commands: ["ls"] } },
    { type: "shell_call_output", callId: "sh", output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }] },
    { ...call("f", "look", {}), namespace: "eyes", id: "fc_1", providerData: { b: 2 } },
    {
      type: "function_call_result",
      name: "look",
      namespace: "eyes",
      callId: "f",
      status: "completed",
      output: [
        { type: "input_text", text: "seen" },
        { type: "input_image", image: { id: "file_1" } },
      ],
    },
    { type: "compaction", id: "cmp", encrypted_content: "y" },
    { type: "unknown", providerData: { c: 3 } },
    { ...text("It is a desk."), id: "msg_1", providerData: { d: 4 } },
    { role: "user", content: "Which?" },
  ];
  const before = JSON.stringify(items);
  const requests = [];
  const warnings = [];
  const model = { getResponse: async (request) => (requests.push(request), { usage: new Usage(), output: [text("A large one.")] }) };
  const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => warnings.push(...step.warnings) });
  const { getResponse } = cw.serve(model);
  await getResponse({ input: items, tools: cw.tools([simple("look", async () => 1)]), handoffs: [], modelSettings: { toolChoice: "auto" } });
  assert.deepEqual(requests[0].input, items);
  assert.deepEqual(requests[0].modelSettings, { toolChoice: "auto" });
  // A choice among no tools is refused, and nothing is hidden that a tool would read.
  await getResponse({ input: items, tools: cw.tools([]), handoffs: [], modelSettings: { toolChoice: "auto" } });
  const [{ input: again, tools: offered, modelSettings }] = requests.splice(1);
  assert.deepEqual([again, offered, modelSettings], [items, [], {}]);
  assert.deepEqual(warnings, []);
  assert.equal(JSON.stringify(items), before);
  cw.free();
  // Where there is no room for it, an item is shorter and still of the SDK's form.
  const small = contextWeaver({ budget_tokens: 2_000 });
  const large = {
    type: "function_call_result",
    name: "look",
    callId: "g",
    status: "completed",
    output: { type: "text", text: JSON.stringify(Array.from({ length: 300 }, (_, n) => ({ n, word: `w${n}` }))) },
  };
  await small.serve(model).getResponse({ input: [user("Look."), call("g", "look", {}), large], tools: small.tools([]), handoffs: [], modelSettings: {} });
  const sent = requests[1].input.find(({ type }) => type === "function_call_result");
  assert.deepEqual({ ...sent, output: { ...sent.output, text: "" } }, { ...large, output: { type: "text", text: "" } });
  assert.ok(sent.output.text.length < large.output.text.length / 2 && /drilldown/.test(sent.output.text), sent.output.text);
  assert.deepEqual(
    requests[1].tools.map(({ name }) => name),
    ["drilldown", "recall"],
  );
  small.free();
  // So is one whose secrets are masked.
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
  const masking = contextWeaver({ budget_tokens: BUDGET });
  const told = [
    {
      ...user([
        { type: "input_text", text: `My token is ${secret}.` },
        { type: "input_image", image: { id: "file_2" }, detail: "low" },
      ]),
    },
    { ...text(`It is ${secret}.`), id: "msg_2" },
    user(`Use ${secret}.`),
    call("u", "use", { token: secret }),
    { type: "function_call_result", name: "use", callId: "u", status: "completed", output: [{ type: "input_text", text: `used ${secret}` }] },
  ];
  await masking.serve(model).getResponse({ input: told, tools: masking.tools([]), handoffs: [], modelSettings: {} });
  const { input: masked } = requests[2];
  assert.ok(!JSON.stringify(masked).includes(secret));
  assert.equal(PROVIDER_RULES["openai-responses"]({ messages: getInputItems(masked) }), undefined);
  assert.deepEqual(
    masked.map(({ type, role = type }) => role),
    ["user", "assistant", "user", "function_call", "function_call_result"],
  );
  assert.deepEqual(masked[0].content[1], { type: "input_image", image: { id: "file_2" }, detail: "low" });
  assert.deepEqual(
    masked[1].content.map(({ type }) => type),
    ["output_text"],
  );
  assert.deepEqual(textsOf(masked).filter((one) => /REDACTED/.test(one)).length, 5);
  masking.free();
});

test("OpenAI Agents: the name of the model says what its cache costs", async () => {
  const costOf = async (name, prices) => {
    const cw = contextWeaver({ budget_tokens: BUDGET, ...(prices && { prices }) });
    const model = cw.serve({ model: name, getResponse: async () => ({ usage: new Usage(), output: [] }) });
    const input = [user("word ".repeat(3_000))];
    for (let n = 0; n < 4; n += 1) {
      await model.getResponse({ input, tools: cw.tools([]), handoffs: [], modelSettings: {} });
      input.push(text(`answer ${n} ${"word ".repeat(200)}`), user("Go on."));
    }
    const { cost } = cw.costs();
    cw.free();
    return cost;
  };
  const [openai, anthropic] = [await costOf("gpt-5"), await costOf("claude-sonnet-4-5")];
  assert.deepEqual([await costOf("m", "openai"), await costOf("m", "anthropic")], [openai, anthropic]);
  assert.notEqual(openai, anthropic);
});

test("OpenAI Agents: what cannot be is said before the model is asked", async () => {
  const model = new Scripted(() => assert.fail("the model was asked"));
  const fails = async (options, agentOf, expected, input = "hi", runOptions = {}) => {
    const cw = contextWeaver({ budget_tokens: BUDGET, ...options });
    for (const runs of Object.values(HOW)) {
      await assert.rejects(runs(agentOf(cw), input, runOptions), (error) => {
        assert.ok(ContextWeaverError.is(error), String(error));
        assert.deepEqual({ code: error.code, path: error.path }, expected);
        return true;
      });
    }
    cw.free();
  };
  const one = simple("one", async () => 1);
  const agent = (tools) => (cw) => new Agent({ name: "a", model: cw.serve(model), tools: cw.tools(tools) });
  await fails({}, (cw) => new Agent({ name: "a", model: cw.serve(model), tools: [one] }), { code: "NOT_FOUND", path: "/tools" });
  await fails({ always: ["two"] }, agent([one]), { code: "NOT_FOUND", path: "/always" });
  await fails({}, agent([simple("late", async () => 1, { deferLoading: true })]), { code: "UNSUPPORTED", path: "/tools/0" });
  await fails({ budget_tokens: 50 }, agent([]), { code: "BUDGET_EXCEEDED", path: undefined }, "word ".repeat(500));
  await fails({}, agent([]), { code: "UNSUPPORTED", path: "/previousResponseId" }, "hi", { previousResponseId: "resp_1" });
  await fails({}, agent([]), { code: "UNSUPPORTED", path: "/conversationId" }, "hi", { conversationId: "conv_1" });
  for (const [options, code, path] of [
    [{}, "MISSING_FIELD", "/budget_tokens"],
    [{ budget_tokens: 8_000, tools: [] }, "UNKNOWN_FIELD", "/tools"],
    [{ budget_tokens: 8_000, max_tools: 0 }, "INVALID_INPUT", "/max_tools"],
  ]) {
    assert.throws(
      () => contextWeaver(options),
      (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
    );
  }
});
