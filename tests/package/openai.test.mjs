// The adapter for OpenAI's SDK in the SDK's own client and in `runTools`, which talk to a scripted server.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import OpenAI from "openai";
import { zodFunction } from "openai/helpers/zod";
import { z } from "zod";
import {
  ANSWER,
  BUDGET,
  DONE,
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
  partOf,
  script,
  textsOf,
  withinBudget,
} from "./agent-session.mjs";
import { project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const folder = await project("openai", {
  "entry.mjs": `export * from "contextweaver/openai"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

const MODEL = { model: "gpt-5" };
const user = (content) => ({ role: "user", content });
const functionOf = (tool) => tool.function ?? tool;

/** What differs between the two kinds of calls. */
const APIS = {
  chat: {
    format: "openai-chat",
    field: "messages",
    params: { ...MODEL },
    system: (text) => [{ role: "system", content: text }],
    tool: (definition) => ({ type: "function", function: definition }),
    call: ({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } }),
    said: ({ text = null, calls }) => [{ role: "assistant", content: text, refusal: null, ...(calls && { tool_calls: calls.map(APIS.chat.call) }) }],
    callsOf: ([{ tool_calls: calls = [] }]) => calls,
    result: (call, content) => ({ role: "tool", tool_call_id: call.id, content: typeof content === "string" ? content : "the desk" }),
    textOf: ([{ content }]) => content,
    answered(said, isStream, tokens = 1) {
      const [message] = said;
      const whole = { id: "chat_1", created: 1, model: MODEL.model };
      const reason = message.tool_calls ? "tool_calls" : "stop";
      if (!isStream)
        return Response.json({
          ...whole,
          object: "chat.completion",
          choices: [{ index: 0, message, finish_reason: reason, logprobs: null }],
          usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 },
        });
      const deltas = [
        { role: "assistant", content: message.content },
        ...(message.tool_calls ?? []).map((call, index) => ({ tool_calls: [{ index, ...call }] })),
      ];
      const chunk = (delta, finish_reason = null) => ({ ...whole, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
      const cost = { ...chunk({}), choices: [], usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 } };
      return events([...deltas.map((delta) => chunk(delta)), chunk({}, reason), cost], true);
    },
  },
  responses: {
    format: "openai-responses",
    field: "input",
    params: { ...MODEL, store: false },
    system: () => [],
    tool: (definition) => ({ type: "function", strict: false, ...definition }),
    call: ({ id, name, input }) =>
      name === "tool_search"
        ? { type: "tool_search_call", id: `ts_${id}`, call_id: id, execution: "client", arguments: input, status: "completed" }
        : { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(input), status: "completed" },
    said: ({ text, calls = [] }) => [
      ...(text === undefined
        ? []
        : [
            {
              type: "message",
              id: `msg_${text.replace(/\W/g, "")}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
            },
          ]),
      ...calls.map(APIS.responses.call),
    ],
    callsOf: (items) => items.filter(({ type }) => type === "function_call" || type === "tool_search_call"),
    result: (call, output) => ({ type: "function_call_output", call_id: call.call_id, output }),
    textOf: ([{ content }]) => content[0].text,
    answered(output, isStream, tokens = 1) {
      const usage = {
        input_tokens: tokens,
        output_tokens: 1,
        total_tokens: tokens + 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      };
      const response = {
        id: "resp_1",
        usage,
        object: "response",
        created_at: 1,
        model: MODEL.model,
        status: "completed",
        output,
        error: null,
        incomplete_details: null,
        instructions: null,
        metadata: {},
        tools: [],
        tool_choice: "auto",
        parallel_tool_calls: true,
        temperature: 1,
        top_p: 1,
      };
      if (!isStream) return Response.json(response);
      const items = output.flatMap((item, output_index) => ["added", "done"].map((event) => ({ type: `response.output_item.${event}`, output_index, item })));
      const all = [{ type: "response.created", response: { ...response, output: [] } }, ...items, { type: "response.completed", response }];
      return events(
        all.map((event, sequence_number) => ({ ...event, sequence_number })),
        false,
      );
    },
  },
};

const events = (list, isDone) =>
  new Response(
    list.map((event) => `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`).join("") + (isDone ? "data: [DONE]\n\n" : ""),
    { headers: { "content-type": "text/event-stream" } },
  );

/** What the provider wants, within the budget. */
function accepts(body, { format, field, tool }, budget = BUDGET) {
  assert.equal(PROVIDER_RULES[format]({ messages: body[field] }), undefined);
  const { instructions = "", tools = [] } = body;
  assert.ok(
    tools.length > 0 || ["tools", "tool_choice", "parallel_tool_calls"].every((name) => body[name] === undefined),
    "what is said of tools where there are none",
  );
  for (const one of tools.filter(({ type }) => type === "function")) {
    const { strict, type: _, ...definition } = functionOf(one);
    assert.deepEqual(one, tool({ ...definition, ...(strict !== undefined && { strict }) }));
    assert.deepEqual(
      Object.keys(definition).filter((key) => !["name", "description", "parameters"].includes(key)),
      [],
    );
  }
  const sent = textsOf([body[field], instructions]).concat(tools.map((one) => JSON.stringify(one)));
  withinBudget(sent, countTokens, budget);
}

/** A client whose server says what `next` says to what it is sent. */
function clientOf(next, budget) {
  const fetch = async (url, { body }) => {
    const [, path] = /\/v1\/(chat\/completions|responses)$/.exec(String(url)) ?? assert.fail(String(url));
    const api = path === "responses" ? APIS.responses : APIS.chat;
    const request = JSON.parse(body);
    accepts(request, api, budget);
    const said = next(request, api);
    return api.answered(api.said(said), request.stream === true, said.tokens);
  };
  return new OpenAI({ apiKey: "none", fetch, maxRetries: 0 });
}

/** The functions that searches have loaded, each as often as it is. */
const foundIn = (items) => items.flatMap(({ type, tools }) => (type === "tool_search_output" ? tools : []));

/** The session as the server plays it. */
function scripted(api) {
  const next = script({ picture: api === APIS.responses });
  return (body) => {
    const tools = [...(body.tools ?? []), ...(api === APIS.responses ? foundIn(body.input) : [])];
    const offered = tools.map((tool) => (tool.type === "tool_search" ? "find_tools" : functionOf(tool).name));
    const { calls, ...said } = next({ sent: body[api.field], offered });
    const isSearch = ({ name }) => name === "find_tools" && tools.some(({ type }) => type === "tool_search");
    return { ...said, ...(calls && { calls: calls.map((call) => (isSearch(call) ? { ...call, name: "tool_search" } : call)) }) };
  };
}

/** The tools of the session as the SDK takes them, with what runs them, as `runTools` does. */
function sdkTools(api, count) {
  const { tools, executed } = manyTools(count);
  const picture = [
    { type: "input_text", text: "the desk" },
    { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${PICTURE}` },
  ];
  const run = Object.fromEntries(tools.map((tool) => [tool.name, () => (tool.name === "take_picture" ? (tool.run(), picture) : JSON.stringify(tool.run()))]));
  const given = tools.map(({ name, description, schema: parameters }) =>
    api.tool({
      name,
      description,
      parameters,
      ...(api === APIS.chat && { parse: JSON.parse, function: async () => (name === "take_picture" ? (run[name](), "the desk") : run[name]()) }),
    }),
  );
  return { tools: given, run, executed };
}

/** A loop as a user writes it, of an answer and what it is of. */
async function loop(api, cw, run, params, ask) {
  const said = [...params[api.field]];
  for (;;) {
    const [answer, whole] = await ask(cw.fit({ ...params, [api.field]: said }));
    cw.observe?.(whole);
    const calls = api.callsOf(answer);
    if (calls.length === 0) return api.textOf(answer);
    const mine = (call) => api.result(call, run[functionOf(cw.resolve(call)).name](JSON.parse(functionOf(cw.resolve(call)).arguments)));
    const results = await Promise.all(calls.map(async (call) => (await cw.answerAsync(call)) ?? mine(call)));
    said.push(...answer, ...results);
  }
}

const whole = (answer) => [answer.output ?? [answer.choices[0].message], answer];
const runTools = (client, cw, params, more) =>
  cw.serve(client).chat.completions.runTools({ ...params, ...more, tools: cw.tools }, { maxChatCompletions: STEPS + 5 });
const HOW = {
  "chat.completions.create": {
    api: APIS.chat,
    run: (client, cw, run, params) => loop(APIS.chat, cw, run, params, async (fitted) => whole(await client.chat.completions.create(fitted))),
  },
  "chat.completions.stream": {
    api: APIS.chat,
    run: (client, cw, run, params) =>
      loop(APIS.chat, cw, run, params, async (fitted) => whole(await client.chat.completions.stream(fitted).finalChatCompletion())),
  },
  runTools: { api: APIS.chat, run: (client, cw, _, params) => runTools(client, cw, params).finalContent() },
  "runTools, streaming": { api: APIS.chat, run: (client, cw, _, params) => runTools(client, cw, params, { stream: true }).finalContent() },
  "responses.create": {
    api: APIS.responses,
    run: (client, cw, run, params) => loop(APIS.responses, cw, run, params, async (fitted) => whole(await client.responses.create(fitted))),
  },
  "responses.create, streaming": {
    api: APIS.responses,
    run: (client, cw, run, params) =>
      loop(APIS.responses, cw, run, params, async (fitted) => {
        let response;
        for await (const event of await client.responses.create({ ...fitted, stream: true })) if (event.type === "response.completed") ({ response } = event);
        return whole(response);
      }),
  },
  "responses.stream of a client that is served": {
    api: APIS.responses,
    run: (client, cw, run, { input, ...params }) => {
      // The params are fitted by the client, so that they are whole in the loop.
      const own = cw.serve(client);
      return loop(APIS.responses, { fit: (all) => all, answerAsync: cw.answerAsync, resolve: cw.resolve }, run, { ...params, input }, async (all) =>
        whole(await own.responses.stream(all).finalResponse()),
      );
    },
  },
};

for (const [name, { api, run }] of Object.entries(HOW)) {
  test(`OpenAI, ${name}: 60 steps, 200 tools, large results${api === APIS.responses ? " and a picture" : ""}`, async () => {
    const { tools, run: runs, executed } = sdkTools(api);
    const steps = [];
    const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
    const params = {
      ...api.params,
      ...(api === APIS.responses && { instructions: "Be brief. ".repeat(100) }),
      [api.field]: [...api.system("Be brief."), user(QUESTION)],
    };
    assert.equal(await run(clientOf(scripted(api)), cw, runs, params), ANSWER);
    assert.equal(steps.length, STEPS);
    for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
    assert.deepEqual(
      steps.flatMap(({ warnings }) => warnings),
      [],
    );
    holdsTheSession(cw.manager, executed);
    cw.free();
  });
}

/** A loop without contextweaver. */
const BARE = { fit: (params) => params, answerAsync: async () => undefined, resolve: (call) => call, serve: (client) => client };

for (const [name, { api, run }] of Object.entries(HOW)) {
  test(`OpenAI, ${name}: ${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results`, async () => {
    const read = ({ part }) => partOf(part);
    const tools = RUN_TOOLS.map(({ name: called, description, schema: parameters }) =>
      api.tool({ name: called, description, parameters, ...(api === APIS.chat && { parse: JSON.parse, function: async (input) => read(input) }) }),
    );
    const play = async (cw) => {
      const next = longRun();
      const requests = [];
      const client = clientOf(({ [api.field]: messages, ...head }) => (requests.push({ head, messages }), next()), Infinity);
      const params = {
        ...api.params,
        ...(api === APIS.responses && { instructions: RUN_INSTRUCTIONS }),
        [api.field]: [...api.system(RUN_INSTRUCTIONS), user(TASK)],
      };
      assert.equal(await run(client, cw, { read_part: read }, params), DONE);
      return requests;
    };
    const bare = await play({ ...BARE, tools });
    for (const budget of RUN_BUDGETS) {
      const steps = [];
      const cw = contextWeaver({ tools, budget_tokens: budget, on_step: (step) => steps.push(step) });
      holdsTheRun({ budget, requests: await play(cw), bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
      cw.free();
    }
  });
}

for (const [name, { api, run }] of Object.entries(HOW).filter(([, how]) => how.api === APIS.responses)) {
  test(`OpenAI, ${name}: 2,000 tools of which the provider searches those that are needed`, async () => {
    const { tools, run: runs, executed } = sdkTools(api, 2_000);
    const steps = [];
    const lists = new Set();
    const found = new Set();
    const next = scripted(api);
    const client = clientOf((body) => {
      lists.add(JSON.stringify(body.tools));
      for (const one of foundIn(body.input)) {
        assert.equal(one.defer_loading, true);
        found.add(one.name);
      }
      return next(body);
    });
    const cw = contextWeaver({
      tools,
      budget_tokens: BUDGET,
      always: ["export_orders", "take_picture"],
      tool_search: true,
      on_step: (step) => steps.push(step),
    });
    assert.equal(await run(client, cw, runs, { ...api.params, instructions: "Be brief.", input: [user(QUESTION)] }), ANSWER);
    assert.equal(steps.length, STEPS);
    for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
    assert.deepEqual(
      steps.flatMap(({ warnings }) => warnings),
      [],
    );
    holdsTheSession(cw.manager, executed);
    // The list that the provider caches is the same in every call, byte for byte.
    assert.deepEqual(
      [...lists].map((list) => JSON.parse(list).map(({ name: one, type }) => one ?? type)),
      [["export_orders", "take_picture", "tool_search", "drilldown", "recall"]],
    );
    assert.equal(found.size, 5);
    assert.ok(executed.filter((one) => found.has(one)).length > 100);
    cw.free();
  });
}

test("OpenAI: what a search found is loaded where it stands, in a conversation that is edited, trimmed and taken up", () => {
  const tools = Array.from({ length: 40 }, (_, n) =>
    APIS.responses.tool({
      name: `${["paint", "dig", "cook", "sing"][n % 4]}_${n}`,
      description: `Does ${["paint", "dig", "cook", "sing"][n % 4]} ${"well ".repeat(40)}${n}`,
      parameters: { type: "object" },
    }),
  );
  const manager = new ContextManager();
  const steps = [];
  const options = { tools, budget_tokens: BUDGET, tool_search: true, manager, on_step: (step) => steps.push(step) };
  const cw = contextWeaver(options);
  const search = (id, query, by = cw) => {
    const item = APIS.responses.call({ id, name: "tool_search", input: { query } });
    return [item, by.answer(item)];
  };
  const fit = (input, by = cw) => {
    const before = JSON.stringify(input);
    const fitted = by.fit({ ...MODEL, input });
    assert.equal(JSON.stringify(input), before);
    accepts(fitted, APIS.responses);
    return fitted;
  };
  const namesOf = ({ input }) => foundIn(input).map(({ name }) => name);
  const [item, output] = search("s1", "paint");
  assert.deepEqual(output, { type: "tool_search_output", call_id: "s1", execution: "client", status: "completed", tools: output.tools });
  for (const one of output.tools) assert.deepEqual(one, { ...tools.find(({ name }) => name === one.name), defer_loading: true });
  const names = output.tools.map(({ name }) => name);
  assert.equal(names.length, 5);
  const input = [user("Paint the house."), item, output, { role: "assistant", content: "It is painted." }, user("And the garden?")];
  const first = fit(input);
  assert.deepEqual(first.input.slice(1, 3), [item, output]);
  assert.deepEqual(
    first.tools.map(({ type, name }) => name ?? type),
    ["tool_search", "drilldown", "recall"],
  );
  assert.ok(manager.build({ phase: "answer", query: "", budget_tokens: BUDGET }).prompt.includes(`Found: ${names.join(", ")}`));
  // What the host forgets is in the log; what is edited loads what it names now; a tool that there is not, nothing.
  assert.deepEqual(namesOf(fit(input.slice(3))), names);
  assert.deepEqual(namesOf(fit([input[0], item, { ...output, tools: [output.tools[1], { ...output.tools[0], name: "gone" }] }, ...input.slice(3)])), [
    names[1],
  ]);
  // A search that finds nothing, one that is no search, and one that nobody answered.
  assert.deepEqual(search("n", "zzzz")[1].tools, []);
  assert.deepEqual(cw.answer({ type: "tool_search_call", call_id: "n", arguments: 7 }).tools, []);
  assert.equal(cw.answer({ type: "tool_search_call", call_id: null, execution: "server", arguments: {} }), undefined);
  assert.deepEqual(namesOf(fit([user("Dig."), ...search("z", "zzzz"), search("u", "dig")[0], user("Well?")])), []);
  // A model may write what is no JSON.
  for (const given of ["no json {", '{"query": "pai', 7, ["a"]]) {
    const odd = { ...item, call_id: "odd", id: "ts_odd", arguments: given };
    const other = contextWeaver({ tools, budget_tokens: BUDGET, tool_search: true });
    // The provider takes nothing but an object.
    assert.deepEqual(other.fit({ ...MODEL, input: [user("Paint."), odd, other.answer(odd), user("Well?")] }).input[1].arguments, {
      input: typeof given === "string" ? given : JSON.stringify(given),
    });
  }
  // A log of another day, and calls that search otherwise.
  const next = contextWeaver({ ...options, manager: ContextManager.fromJSON(JSON.stringify(manager)) });
  assert.deepEqual(namesOf(fit(input, next)), names);
  const plain = contextWeaver({ tools, budget_tokens: BUDGET });
  assert.deepEqual(
    fit(input, plain).input.map(({ type = "message" }) => type),
    ["message", "function_call", "function_call_output", "message", "message"],
  );
  // The newest have room before the others, as many as half of the budget holds; one that must be called is sent.
  const narrow = contextWeaver({ tools, budget_tokens: 1_400, tool_search: true, on_step: (step) => steps.push(step) });
  const two = [user("Work."), ...search("a", "paint", narrow), ...search("b", "dig", narrow)];
  const fitted = fit(two, narrow);
  const loaded = namesOf(fitted);
  assert.deepEqual(loaded, two[4].tools.map(({ name }) => name).slice(0, loaded.length));
  assert.ok(loaded.length > 0 && loaded.length < 5);
  const { built, tool_tokens, warnings } = steps.at(-1);
  assert.ok(built.tokens + tool_tokens <= 1_400 && tool_tokens <= 700);
  assert.deepEqual(new Set(warnings.map(({ code }) => code)), new Set(["TOOL_LEFT_OUT"]));
  const forced = narrow.fit({ ...MODEL, input: [user("Sing.")], tool_choice: { type: "function", name: "sing_3" } });
  assert.deepEqual(
    forced.tools.map(({ type, name }) => name ?? type),
    ["sing_3", "tool_search", "drilldown", "recall"],
  );
  assert.throws(
    () => narrow.fit({ ...MODEL, messages: [user("hi")] }),
    (error) => (assert.deepEqual([error.code, error.path], ["UNSUPPORTED", "/messages"]), true),
  );
  assert.throws(
    () => contextWeaver({ tools, budget_tokens: 2_000, tool_search: 1 }),
    (error) => (assert.deepEqual([error.code, error.path], ["INVALID_INPUT", "/tool_search"]), true),
  );
  for (const one of [cw, next, plain, narrow]) one.free();
  manager.free();
});

for (const [name, { api, run }] of Object.entries(HOW)) {
  test(`OpenAI, ${name}: what calls cost is what the budget is kept by`, async () => {
    for (const calibrate of [true, false]) {
      const { costs, next, page } = costly(countTokens);
      const steps = [];
      const client = clientOf((body) => {
        const { cost, call, text } = next([...textsOf(body[api.field]), ...(body.tools ?? []).map((tool) => JSON.stringify(tool))]);
        return { tokens: cost, ...(call ? { calls: [call] } : { text }) };
      });
      const { name: called, description, schema: parameters } = READ;
      const read = api.tool({
        name: called,
        description,
        parameters,
        ...(api === APIS.chat && { parse: JSON.parse, function: async ({ page: n }) => page(n) }),
      });
      const cw = contextWeaver({ tools: [read], budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
      await run(client, cw, { read: ({ page: n }) => page(n) }, { ...api.params, [api.field]: [user("Read all pages.")] });
      holdsTheCost({ costs, steps, calibrate, model: MODEL.model });
      cw.free();
    }
  });
}

for (const [name, { api, run }] of Object.entries(HOW)) {
  test(`OpenAI, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
    const { manager, read, on_step, next, holds } = evicted({ ContextManager });
    let last;
    const client = clientOf((body) => {
      const { call, text } = next(textsOf(body[api.field]));
      last = text;
      return call ? { calls: [call] } : { text };
    });
    const { name: called, description, schema: parameters } = READ;
    const tool = api.tool({ name: called, description, parameters, ...(api === APIS.chat && { parse: JSON.parse, function: async () => read() }) });
    const cw = contextWeaver({ tools: [tool], budget_tokens: BUDGET, manager, on_step });
    await run(client, cw, { read }, { ...api.params, [api.field]: [user(QUESTION)] });
    holds(last);
    manager.free();
  });
}

for (const [name, api] of Object.entries(APIS)) {
  const ask = async (client, fitted) =>
    api === APIS.chat ? [(await client.chat.completions.create(fitted)).choices[0].message] : (await client.responses.create(fitted)).output;

  test(`OpenAI, ${name}: a conversation of several turns, edited and trimmed`, async () => {
    const asked = [];
    const client = clientOf((body) => (asked.push(textsOf(body[api.field]).join("\n")), { text: `answer ${asked.length}` }));
    const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
    let said = [];
    const turn = async (content) => {
      said.push(user(content));
      const params = { ...api.params, [api.field]: said, parallel_tool_calls: false, tool_choice: "auto" };
      const before = JSON.stringify(params);
      const fitted = cw.fit(params);
      assert.equal(JSON.stringify(params), before);
      said.push(...(await ask(client, fitted)));
    };
    await turn("My name is Ada.");
    await turn("I live in Paris.");
    await turn("Which city is it?");
    assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
    // The user mends what was said last, and the host forgets the oldest turn.
    said = said.slice(2, -2);
    await turn("Which country is it?");
    assert.match(asked[3], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
    assert.doesNotMatch(asked[3], /city|answer 3/);
    cw.free();
  });

  test(`OpenAI, ${name}: the name of the model says what its cache costs, and \`prices\` says otherwise`, () => {
    const costOf = (model, prices) => {
      const cw = contextWeaver({ tools: [], budget_tokens: BUDGET, ...(prices && { prices }) });
      const said = [user("word ".repeat(3_000))];
      for (let n = 0; n < 4; n += 1) {
        cw.fit({ ...api.params, model, [api.field]: said });
        said.push(...api.said({ text: `answer ${n} ${"word ".repeat(200)}` }), user("Go on."));
      }
      const { cost } = cw.costs();
      cw.free();
      return cost;
    };
    const openai = costOf("m", "openai");
    assert.deepEqual([costOf("m"), costOf("gpt-5"), costOf("claude-sonnet-4-5", "openai")], [openai, openai, openai]);
    for (const [model, prices] of [
      ["anthropic/claude-sonnet-4.5", "anthropic"],
      ["google/gemini-2.5-pro", "gemini"],
    ]) {
      assert.equal(costOf(model), costOf("m", prices));
      assert.notEqual(costOf(model), openai);
    }
  });

  test(`OpenAI, ${name}: tools that the provider runs, and those that must be called`, () => {
    const [search, wiki] =
      api === APIS.chat
        ? [
            { type: "custom", custom: { name: "web_search" } },
            { type: "custom", custom: { name: "wiki" } },
          ]
        : [{ type: "web_search" }, { type: "mcp", server_label: "wiki", server_url: "https://wiki.example" }];
    const many = Array.from({ length: 40 }, (_, n) => api.tool({ name: `tool_${n}`, description: `Does number ${n}`, parameters: { type: "object" } }));
    const cw = contextWeaver({ tools: [search, wiki, ...many], budget_tokens: BUDGET });
    const fit = (tool_choice) => cw.fit({ ...api.params, [api.field]: [user("What is the weather?")], tool_choice });
    const namesOf = ({ tools }) => tools.map((tool) => functionOf(tool).name);
    const one = fit(api === APIS.chat ? { type: "function", function: { name: "tool_39" } } : { type: "function", name: "tool_39" });
    accepts(one, api);
    assert.deepEqual(one.tools.slice(0, 2), [search, wiki]);
    assert.ok(namesOf(one).includes("tool_39"));
    const allowed = { mode: "auto", tools: [api.tool({ name: "tool_37" }), api.tool({ name: "tool_38" })] };
    const choice = api === APIS.chat ? { type: "allowed_tools", allowed_tools: allowed } : { type: "allowed_tools", ...allowed };
    const some = fit(choice);
    assert.deepEqual(some.tool_choice, choice);
    assert.ok(["tool_37", "tool_38"].every((wanted) => namesOf(some).includes(wanted)));
    // Of what is allowed that stays for which there is room, and nothing else is.
    const large = { type: "object", description: "long ".repeat(BUDGET / 4) };
    const [small, long, other] = ["small", "long", "other"].map((called) =>
      api.tool({ name: called, description: called, parameters: called === "small" ? { type: "object" } : large }),
    );
    const narrow = contextWeaver({ tools: [small, long, other], budget_tokens: BUDGET });
    const choose = (...tools) => {
      const given = { mode: "required", tools: tools.map((tool) => api.tool({ name: functionOf(tool).name })) };
      return api === APIS.chat ? { type: "allowed_tools", allowed_tools: given } : { type: "allowed_tools", ...given };
    };
    const chosen = (tool_choice) => narrow.fit({ ...api.params, [api.field]: [user("Go.")], tool_choice });
    const cut = chosen(choose(small, long, other));
    assert.deepEqual([namesOf(cut), cut.tool_choice], [["small", "long"], choose(small, long)]);
    // What alone is allowed is offered.
    assert.deepEqual(chosen(choose(other)).tool_choice, choose(other));
    narrow.free();
    const without = contextWeaver({
      tools: [small, api.tool({ name: "long", parameters: { ...large, title: large.description.repeat(2) } })],
      budget_tokens: BUDGET,
    });
    const none = without.fit({ ...api.params, [api.field]: [user("Go.")], tool_choice: choose(long) });
    assert.deepEqual([namesOf(none), none.tool_choice], [["small"], "none"]);
    without.free();
    // What is wrong with a call is told to the model.
    const told = (called, input) => cw.answer({ ...api.call({ id: "a", name: called, input }) });
    const textOf = (answer) => answer.content ?? answer.output;
    assert.match(textOf(told("drilldown", { handle: "artifact:none", selector: { type: "rows" } })), /^ARTIFACT_NOT_FOUND/);
    assert.match(textOf(told("find_tools", "words")), /^INVALID_INPUT/);
    assert.match(textOf(told("find_tools", {})), /^(MISSING_FIELD|INVALID_INPUT)/);
    assert.equal(told("tool_1", {}), undefined);
    assert.equal(cw.answer({ type: "reasoning", id: "r" }), undefined);
    cw.free();
  });

  test(`OpenAI, ${name}: what cannot be is said before the model is asked`, async () => {
    const refuses = (run, code, path) =>
      assert.throws(run, (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)));
    const one = api.tool({ name: "one", description: "One", parameters: { type: "object" } });
    for (const [options, code, path] of [
      [{ tools: [] }, "MISSING_FIELD", "/budget_tokens"],
      [{ budget_tokens: 8_000 }, "MISSING_FIELD", "/tools"],
      [{ tools: {}, budget_tokens: 8_000 }, "INVALID_INPUT", "/tools"],
      [{ tools: [{}], budget_tokens: 8_000 }, "INVALID_INPUT", "/tools/0"],
      [{ tools: [one, one], budget_tokens: 8_000 }, "DUPLICATE_ID", "/tools/one"],
      [{ tools: [api.tool({ name: "drilldown" })], budget_tokens: 8_000 }, "DUPLICATE_ID", "/tools/drilldown"],
      [{ tools: [one, { type: "tool_search" }], budget_tokens: 8_000 }, "UNSUPPORTED", "/tools/1"],
      [{ tools: [one], budget_tokens: 8_000, always: ["two"] }, "NOT_FOUND", "/always"],
      [{ tools: [], budget_tokens: 8_000, budget: 1 }, "UNKNOWN_FIELD", "/budget"],
    ]) {
      refuses(() => contextWeaver(options), code, path);
    }
    const manager = new ContextManager();
    const cw = contextWeaver({ tools: [one], budget_tokens: 50, manager });
    const params = { ...api.params, [api.field]: [user("hi")] };
    refuses(() => cw.fit({ ...MODEL }), "MISSING_FIELD", undefined);
    refuses(() => cw.fit({ ...params, [api.field]: {} }), "INVALID_INPUT", `/${api.field}`);
    refuses(() => cw.fit({ ...params, tools: [one, api.tool({ name: "two" })] }), "NOT_FOUND", "/tools/1");
    refuses(() => cw.fit({ ...params, tools: cw.tools.slice(1) }), "INVALID_INPUT", "/tools");
    refuses(() => cw.fit({ ...params, [api.field]: [user("word ".repeat(500))] }), "BUDGET_EXCEEDED", undefined);
    if (api === APIS.responses) {
      refuses(() => cw.fit({ ...params, previous_response_id: "resp_1" }), "UNSUPPORTED", "/previous_response_id");
      refuses(() => cw.fit({ ...params, conversation: { id: "conv_1" } }), "UNSUPPORTED", "/conversation");
      refuses(() => cw.fit({ ...params, instructions: "word ".repeat(500) }), "BUDGET_EXCEEDED", undefined);
      assert.equal(cw.fit({ ...params, input: "hi", previous_response_id: null }).input.length, 1);
    }
    cw.free();
    assert.ok(manager.stats());
    manager.free();
  });
}

test("OpenAI: a client that is served answers as it would: responses, streams that are left and streams in two", async () => {
  const said = APIS.chat.said({ text: "hello" });
  const client = new OpenAI({ apiKey: "none", fetch: async (_, { body }) => APIS.chat.answered(said, JSON.parse(body).stream === true, 60), maxRetries: 0 });
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
  const { completions } = cw.serve(client).chat;
  const params = { ...MODEL, messages: [user("word ".repeat(50))] };
  const raw = await completions.create(params).asResponse();
  assert.equal((await raw.json()).choices[0].message.content, "hello");
  assert.doesNotMatch(JSON.stringify(cw.manager), /gpt-5/);
  const { data, response } = await completions.create(params).withResponse();
  assert.deepEqual([data.choices[0].message.content, response.status], ["hello", 200]);
  assert.match(JSON.stringify(cw.manager), /gpt-5/);
  const stream = () => completions.create({ ...params, stream: true });
  for await (const _ of await stream()) break;
  const texts = [];
  for (const half of (await stream()).tee()) for await (const { choices } of half) texts.push(choices[0]?.delta.content ?? "");
  assert.equal(texts.join(""), "hellohello");
  const lines = await new Response((await stream()).toReadableStream()).text();
  assert.match(lines, /hello/);
  cw.free();
});

test("OpenAI: of a stream the last count is taken, once, also of one that is left and of an answer that was cut short", async () => {
  const usage = (cached) => ({ prompt_tokens: 60, completion_tokens: 1, total_tokens: 61, prompt_tokens_details: { cached_tokens: cached } });
  const chunk = (cached, content) => ({
    id: "chat_1",
    created: 1,
    model: MODEL.model,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    usage: usage(cached),
  });
  const { prompt_tokens: input_tokens, prompt_tokens_details: input_tokens_details, ...counts } = usage(30);
  const response = (status) => ({ id: "resp_1", object: "response", status, output: [], usage: { ...counts, input_tokens, input_tokens_details } });
  const created = { type: "response.created", response: { ...response("in_progress"), usage: null } };
  for (const [list, api, most, cached] of [
    [[chunk(10, "a"), chunk(20, "b"), chunk(30, "c")], APIS.chat, 3, 30],
    [[chunk(10, "a"), chunk(20, "b"), chunk(30, "c")], APIS.chat, 2, 20],
    ...["completed", "incomplete", "failed"].map((end) => [[created, { type: `response.${end}`, response: response(end) }], APIS.responses, 2, 30]),
    [[created, { type: "response.failed", response: null }], APIS.responses, 2, undefined],
  ]) {
    const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
    const client = cw.serve(new OpenAI({ apiKey: "none", fetch: async () => events(list, api === APIS.chat), maxRetries: 0 }));
    const params = { ...api.params, [api.field]: [user("word ".repeat(50))], stream: true };
    let read = 0;
    for await (const _ of await (api === APIS.chat ? client.chat.completions : client.responses).create(params)) if (++read === most) break;
    const { steps, cached_tokens } = cw.costs().observed ?? {};
    assert.deepEqual([steps, cached_tokens], cached === undefined ? [undefined, undefined] : [1, cached]);
    assert.equal(/gpt-5/.test(JSON.stringify(cw.manager)), cached !== undefined);
    cw.free();
  }
});

test("OpenAI: what is refused before a call rejects what a client that is served promises, however it is read", async () => {
  const cw = contextWeaver({ tools: [], budget_tokens: 50 });
  const { chat, responses } = cw.serve(new OpenAI({ apiKey: "none", fetch: () => assert.fail("the model was asked") }));
  const content = "word ".repeat(500);
  const params = { ...MODEL, messages: [user(content)] };
  const refusals = [
    () => chat.completions.create(params),
    () => chat.completions.create({ ...params, stream: true }),
    () => chat.completions.create(params).asResponse(),
    () => chat.completions.create(params).withResponse(),
    () => chat.completions.parse(params),
    () => chat.completions.stream(params).finalMessage(),
    () => responses.create({ ...MODEL, input: content }),
    () => responses.parse({ ...MODEL, input: content }),
  ].map((call) => call());
  for (const { reason } of await Promise.allSettled(refusals)) assert.equal((reason.cause ?? reason).code, "BUDGET_EXCEEDED");
  cw.free();
});

test("OpenAI, runTools: a tool that throws ends the run, an abort does, and the conversation goes on", async () => {
  const controller = new AbortController();
  const tool = (name, run) => APIS.chat.tool({ name, description: name, parameters: { type: "object" }, parse: JSON.parse, function: run });
  const tools = [
    tool("fail", () => {
      throw new Error("the disk is full");
    }),
    tool("hang", () => controller.abort()),
  ];
  const bodies = [];
  const turns = [{ calls: [{ id: "f", name: "fail", input: {} }] }, { calls: [{ id: "h", name: "hang", input: {} }] }, { text: "done" }];
  const client = clientOf((body) => (bodies.push(body), turns[bodies.length - 1]));
  const warnings = [];
  const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step: (step) => warnings.push(...step.warnings) });
  const own = cw.serve(client);
  assert.notEqual(own.chat.completions.create, client.chat.completions.create);
  const failed = own.chat.completions.runTools({ ...MODEL, tools: cw.tools, messages: [user("Do it.")] });
  await assert.rejects(failed.done(), /the disk is full/);
  assert.deepEqual(warnings, []);
  const aborted = own.chat.completions.runTools(
    { ...MODEL, tools: cw.tools, messages: [...failed.messages, user("Try the other.")] },
    { signal: controller.signal },
  );
  await assert.rejects(aborted.done(), /abort/i);
  // What the host has of it are calls without their results.
  const last = own.chat.completions.runTools({ ...MODEL, tools: cw.tools, messages: [...aborted.messages, user("Go on.")] });
  assert.equal(await last.finalContent(), "done");
  assert.notDeepEqual(warnings, []);
  // What is refused comes out of the runner as it is.
  const large = own.chat.completions.runTools({ ...MODEL, tools: cw.tools, messages: [user("word ".repeat(20_000))] });
  await assert.rejects(large.done(), (error) => (assert.equal((error.cause ?? error).code, "BUDGET_EXCEEDED"), true));
  assert.equal(bodies.length, 3);
  cw.free();
});

test("OpenAI: an answer that agrees wants the tool that was proposed, the step says so, and the list stays", () => {
  const { tool, call, said, result, params } = APIS.chat;
  const many = Array.from({ length: 30 }, (_, n) => ({ name: `work_${n}`, description: `Counts the boxes of shelf ${n}` }));
  const named = [...many, { name: "refund_order", description: "Refunds an order" }, { name: "order_status", description: "Tells where a parcel is" }];
  const steps = [];
  const cw = contextWeaver({
    tools: named.map((one) => tool({ ...one, parameters: { type: "object" } })),
    budget_tokens: BUDGET,
    max_tools: 4,
    on_step: (step) => steps.push(step),
  });
  const messages = [];
  const turn = (...more) => {
    messages.push(...more);
    const { tools } = cw.fit({ ...params, messages });
    return tools.map((one) => functionOf(one).name);
  };
  const look = call({ id: "a", name: "order_status", input: { id: 7 } });
  assert.ok(turn(user("Where is the parcel 7?")).includes("order_status"));
  turn(...said({ calls: [{ id: "a", name: "order_status", input: { id: 7 } }] }), result(look, "lost"));
  assert.equal(steps.at(-1).completion, undefined, "what stands on its own stays as it is");
  messages.push(...said({ text: "It was lost. Shall I refund the order?" }));
  const agreed = turn(user("yes, please"));
  assert.ok(steps.at(-1).unlisted.includes("refund_order"), steps.at(-1).unlisted.join());
  const { completion } = steps.at(-1);
  assert.deepEqual([completion.reason, /Shall I refund the order\?$/.test(completion.query)], ["agreement", true]);
  assert.equal(cw.manager.events.get(completion.item_ids[0]).text, "It was lost. Shall I refund the order?");
  // The tools of a turn stay within it, and a second "yes, please" is about something else.
  const back = call({ id: "b", name: "refund_order", input: { id: 7 } });
  assert.deepEqual(turn(...said({ calls: [{ id: "b", name: "refund_order", input: { id: 7 } }] }), result(back, "done")), agreed);
  messages.push(...said({ text: "It is refunded. Shall I look where the parcel of your other order is?" }));
  assert.ok(turn(user("yes, please")).includes("order_status"));
  assert.match(steps.at(-1).completion.query, /parcel/);
  messages.push(...said({ text: "It comes today. Shall I count the boxes of shelf 3, too?" }));
  turn(user("no, thanks"));
  assert.equal(steps.at(-1).completion, undefined);
  cw.free();
});

test("OpenAI: where the budget has no room for the tools that read on, the step says so and is made", () => {
  const { tool, said, params } = APIS.chat;
  const messages = [user("Tell me."), ...said({ text: "word ".repeat(900) }), user("Go on."), ...said({ text: "That is all." }), user("And now?")];
  const offers = [250, 700].map((budget_tokens) => {
    const steps = [];
    const cw = contextWeaver({
      tools: [tool({ name: "one", description: "One", parameters: { type: "object" } })],
      budget_tokens,
      on_step: (step) => steps.push(step),
    });
    const fitted = cw.fit({ ...params, messages });
    const [{ built, tools, tool_tokens, warnings }] = steps;
    assert.ok(built.step.hides && built.tokens + tool_tokens <= budget_tokens && tool_tokens <= budget_tokens / 2);
    assert.deepEqual(
      fitted.tools.map((one) => functionOf(one).name),
      tools,
    );
    cw.free();
    return [tools, warnings.map(({ code, path }) => `${code} ${path}`)];
  });
  assert.deepEqual(offers, [
    [["one", "recall"], ["TOOL_LEFT_OUT /tools/drilldown"]],
    [["one", "drilldown"], ["TOOL_LEFT_OUT /tools/recall"]],
  ]);
});

test("OpenAI: calls are parsed as the tools of the caller say", async () => {
  const tools = [zodFunction({ name: "book", parameters: z.object({ seats: z.number() }) })];
  const cw = contextWeaver({ tools, budget_tokens: BUDGET });
  const client = clientOf(() => ({ calls: [{ id: "b", name: "book", input: { seats: 2 } }] }));
  const messages = [user("Two seats.")];
  const streamed = await client.chat.completions.stream(cw.fit({ ...MODEL, messages })).finalMessage();
  const { choices } = await cw.serve(client).chat.completions.parse({ ...MODEL, messages, tools });
  for (const { tool_calls: calls } of [streamed, choices[0].message]) assert.deepEqual(calls[0].function.parsed_arguments, { seats: 2 });
  cw.free();
});

test("OpenAI: a picture of the user arrives, and tools are written as either kind of calls takes them", () => {
  const cw = contextWeaver({ tools: [APIS.responses.tool({ name: "one", parameters: { type: "object" } })], budget_tokens: BUDGET });
  const url = `data:image/png;base64,${PICTURE}`;
  const fitted = cw.fit({
    ...MODEL,
    messages: [
      user([
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url } },
      ]),
    ],
  });
  accepts(fitted, APIS.chat);
  assert.ok(JSON.stringify(fitted.messages).includes(PICTURE));
  assert.deepEqual(fitted.tools, [{ type: "function", function: { name: "one", strict: false, parameters: { type: "object" } } }]);
  cw.free();
});
