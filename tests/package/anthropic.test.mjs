// The adapter for Anthropic's SDK in the SDK's own client and tool runner, which talk to a scripted server.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import {
  ANSWER,
  BUDGET,
  DONE,
  FIND_ROW,
  LARGE,
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
import { AnthropicCache } from "./anthropic-cache.mjs";
import { project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const folder = await project("anthropic", {
  "entry.mjs": `export * from "contextweaver/anthropic"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

const PARAMS = { model: "claude-opus-4-5", max_tokens: 1_024 };
const MARK = { type: "ephemeral" };
const text = (value, more) => ({ type: "text", text: value, ...more });
const call = (id, name, input) => ({ type: "tool_use", id, name, input });

/** Blocks of a request in the order in which the provider caches them. */
const blocksOf = ({ tools = [], system = [], messages }) => [
  ...tools,
  ...(typeof system === "string" ? [text(system)] : system),
  ...messages.flatMap(({ role, content }) => (typeof content === "string" ? [text(content)] : content).map((block) => ({ role, ...block }))),
];

/** What the provider wants, within the budget. */
function accepts(body, budget = BUDGET) {
  assert.equal(PROVIDER_RULES.anthropic(body), undefined);
  const { messages, system = "", tools = [], tool_choice } = body;
  assert.equal(body.thread, undefined);
  assert.ok(tools.length > 0 || (body.tools === undefined && tool_choice === undefined), "a choice among no tools");
  for (const tool of tools)
    assert.deepEqual(
      Object.keys(tool).filter((key) => ["run", "parse"].includes(key)),
      [],
    );
  // What is deferred costs nothing, until it is found.
  const isDeferred = tools.some(({ defer_loading: deferred }) => deferred);
  assert.ok(!isDeferred || tools.some(({ name, defer_loading: deferred }) => name === "find_tools" && deferred === undefined), "all is deferred");
  assert.ok(tools.every(({ defer_loading: deferred, cache_control: mark }) => deferred === undefined || (deferred === true && mark === undefined)));
  const loaded = [
    ...tools.filter(({ defer_loading: deferred }) => !deferred),
    ...referencesOf(messages).map((name) => tools.find((tool) => tool.name === name) ?? assert.fail(`${name} is not there`)),
  ];
  const sent = textsOf([messages, system], ["cache_control"]).concat(loaded.map((tool) => JSON.stringify(tool)));
  withinBudget(sent, countTokens, budget);
  const marks = [...blocksOf(body).flatMap(({ cache_control: mark }) => mark ?? []), ...(body.cache_control ? [body.cache_control] : [])];
  assert.ok(marks.length <= 4, "too many marks");
  assert.ok(
    marks.every(({ ttl }, at) => ttl !== "1h" || marks.slice(0, at).every((before) => before.ttl === "1h")),
    "a long mark after a short one",
  );
}

/** The tools that results refer to, each as often as it is. */
const referencesOf = (messages) =>
  messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .flatMap(({ type, content }) => (type === "tool_result" && Array.isArray(content) ? content : []))
    .flatMap(({ type, tool_name: name }) => (type === "tool_reference" ? [name] : []));

/** What a model says, as the server sends it; of what was asked the half is in the cache. */
function answered(content, isStream, tokens = 10) {
  const end = { stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn", stop_sequence: null };
  const cached = Math.floor(tokens / 4);
  const usage = { input_tokens: tokens - 2 * cached, cache_creation_input_tokens: cached, cache_read_input_tokens: cached, output_tokens: 20 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: PARAMS.model, content, ...end, usage };
  if (!isStream) return Response.json(message);
  const events = [{ type: "message_start", message: { ...message, content: [], stop_reason: null } }];
  for (const [index, block] of content.entries()) {
    const [start, delta] =
      block.type === "text"
        ? [text(""), { type: "text_delta", text: block.text }]
        : [
            { ...block, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
          ];
    events.push(
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    );
  }
  events.push({ type: "message_delta", delta: end, usage }, { type: "message_stop" });
  return new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** A client whose server says what `next` says to what it is sent. */
function clientOf(next, budget) {
  const fetch = async (url, { body }) => {
    assert.match(String(url), /\/v1\/messages(\?|$)/);
    const request = JSON.parse(body);
    accepts(request, budget);
    const { content, tokens } = [next(request)].flatMap((said) => (Array.isArray(said) ? { content: said } : said))[0];
    return answered(content, request.stream === true, tokens);
  };
  return new Anthropic({ apiKey: "none", fetch, maxRetries: 0 });
}

/** The tools that a model can call. */
const offeredBy = ({ messages, tools = [] }) => [
  ...tools.filter(({ defer_loading: deferred }) => !deferred).map(({ name }) => name),
  ...referencesOf(messages),
];

/** The session as the server plays it. */
function scripted() {
  const next = script();
  return (body) => {
    const { text: said, calls = [] } = next({ sent: body.messages, offered: offeredBy(body) });
    return said === undefined ? calls.map(({ id, name, input }) => call(id, name, input)) : [text(said)];
  };
}

/** The tools of the session as the SDK's tool runner takes them. */
function sdkTools(count) {
  const { tools, executed } = manyTools(count);
  const picture = [text("the desk"), { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } }];
  const contentOf = (name, value) => (name === "take_picture" ? picture : JSON.stringify(value));
  return {
    executed,
    tools: tools.map(({ name, description, schema, run }) => ({
      name,
      description,
      input_schema: schema,
      run: async () => contentOf(name, run()),
      parse: (input) => input,
    })),
  };
}

const textOf = ({ content }) => content.map((block) => block.text ?? "").join("");

/** A loop as a user writes it. */
async function loop(cw, tools, params, ask) {
  const messages = [...params.messages];
  for (;;) {
    const message = await ask(cw.fit({ ...params, messages }));
    cw.observe(message);
    const calls = message.content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) return message;
    const mine = async (block) => {
      const { id, name, input } = cw.resolve(block);
      return { type: "tool_result", tool_use_id: id, content: await tools.find((tool) => tool.name === name).run(input) };
    };
    messages.push(
      { role: "assistant", content: message.content },
      { role: "user", content: await Promise.all(calls.map(async (block) => (await cw.answerAsync(block)) ?? mine(block))) },
    );
  }
}

const runner = (client, cw, params, more) =>
  cw.serve(client).beta.messages.toolRunner({ ...params, ...more, tools: cw.tools, max_iterations: STEPS + 5, thread: false });
const HOW = {
  "messages.create": (client, cw, tools, params) => loop(cw, tools, params, (fitted) => client.messages.create(fitted)),
  "messages.stream": (client, cw, tools, params) => loop(cw, tools, params, (fitted) => client.messages.stream(fitted).finalMessage()),
  toolRunner: (client, cw, _, params) => runner(client, cw, params).runUntilDone(),
  "toolRunner, streaming": (client, cw, _, params) => runner(client, cw, params, { stream: true }).runUntilDone(),
};

/** Runs the session of 60 steps, which must end well, within the budget and without a warning; returns what the provider was sent. */
async function session(run, { tools, executed }, options) {
  const steps = [];
  const bodies = [];
  const cw = contextWeaver({ tools, budget_tokens: BUDGET, ...options, on_step: (step) => steps.push(step) });
  const next = scripted();
  const client = clientOf((body) => (bodies.push(body), next(body)));
  const message = await run(client, cw, tools, { ...PARAMS, system: "Be brief.", messages: [{ role: "user", content: QUESTION }] });
  assert.equal(textOf(message), ANSWER);
  assert.equal(steps.length, STEPS);
  for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
  assert.deepEqual(
    steps.flatMap(({ warnings }) => warnings),
    [],
  );
  holdsTheSession(cw.manager, executed);
  cw.free();
  return bodies;
}

for (const [name, run] of Object.entries(HOW)) {
  test(`Anthropic, ${name}: 60 steps, 200 tools, large results and a picture`, async () => {
    const bodies = await session(run, sdkTools());
    assertCached(bodies);
  });
}

/** A loop without contextweaver. */
const BARE = { fit: (params) => params, observe: () => {}, answerAsync: async () => undefined, resolve: (block) => block, serve: (client) => client };

/** What is sent but for the marks, with contents as blocks. */
const unmarked = ({ messages, stream: _, ...head }) => {
  const plain = (value) => JSON.parse(JSON.stringify(value, (key, one) => (key === "cache_control" ? undefined : one)));
  return {
    head: plain({ ...head, system: blocksOf({ system: head.system, messages: [] }) }),
    messages: plain(messages.map(({ role, content }) => ({ role, content: typeof content === "string" ? [text(content)] : content }))),
  };
};

for (const [name, run] of Object.entries(HOW)) {
  test(`Anthropic, ${name}: ${RUN_BUDGETS.join(" and ")} tokens for 40 steps with large results`, async () => {
    const tools = RUN_TOOLS.map(({ name: called, description, schema }) => ({
      name: called,
      description,
      input_schema: schema,
      run: async ({ part }) => partOf(part),
      parse: (input) => input,
    }));
    const play = async (cw) => {
      const next = longRun();
      const bodies = [];
      const client = clientOf((body) => {
        bodies.push(body);
        const { text: said, calls = [] } = next();
        return [text(said), ...calls.map(({ id, name: called, input }) => call(id, called, input))];
      }, Infinity);
      assert.equal(textOf(await run(client, cw, tools, { ...PARAMS, system: RUN_INSTRUCTIONS, messages: [{ role: "user", content: TASK }] })), DONE);
      return bodies;
    };
    const bare = (await play({ ...BARE, tools })).map(unmarked);
    for (const budget of RUN_BUDGETS) {
      const steps = [];
      const cw = contextWeaver({ tools, budget_tokens: budget, on_step: (step) => steps.push(step) });
      const bodies = await play(cw);
      holdsTheRun({ budget, requests: bodies.map(unmarked), bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
      // Each call reads all that the call before wrote, unless it was cut in between.
      const cache = new AnthropicCache();
      let wrote = 0;
      for (const [at, body] of bodies.entries()) {
        const { blocks, read, written } = cache.send(body);
        assert.ok(written.includes(blocks - 1), `the end of call ${at} is not written`);
        if (steps[at].built.step.cut === undefined) assert.equal(read, wrote, `call ${at}`);
        wrote = blocks;
      }
      cw.free();
    }
  });
}

for (const [name, run] of Object.entries(HOW)) {
  test(`Anthropic, ${name}: 2,000 tools that the provider defers`, async () => {
    const served = sdkTools(2_000);
    const always = ["export_orders", "take_picture"];
    const bodies = await session(run, served, { always, tool_search: true });
    const lists = new Set(bodies.map(({ tools }) => JSON.stringify(tools)));
    const found = new Set(bodies.flatMap(({ messages }) => referencesOf(messages)));
    // The list that the provider caches is the same in every call, byte for byte.
    assert.equal(lists.size, 1);
    assert.equal(JSON.parse([...lists][0]).length, 2_003);
    assertCached(bodies);
    assert.equal(found.size, 5);
    assert.ok(served.executed.filter((one) => found.has(one)).length > 100);
  });
}

for (const [name, run] of Object.entries(HOW)) {
  test(`Anthropic, ${name}: what calls cost is what the budget is kept by`, async () => {
    for (const calibrate of [true, false]) {
      const { costs, next, page } = costly(countTokens);
      const steps = [];
      const client = clientOf(({ messages, tools = [] }) => {
        const { cost, call: wanted, text: said } = next([...textsOf(messages), ...tools.map((tool) => JSON.stringify(tool))]);
        return { content: [wanted ? call(wanted.id, wanted.name, wanted.input) : text(said)], tokens: cost };
      });
      const tools = [
        { name: READ.name, description: READ.description, input_schema: READ.schema, run: async ({ page: n }) => page(n), parse: (input) => input },
      ];
      const cw = contextWeaver({ tools, budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
      await run(client, cw, tools, { ...PARAMS, messages: [{ role: "user", content: "Read all pages." }] });
      // By the name of the request, whatever the answer says.
      holdsTheCost({ costs, steps, calibrate, model: PARAMS.model });
      cw.free();
    }
  });
}

for (const [name, run] of Object.entries(HOW)) {
  test(`Anthropic, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
    const { manager, read, on_step, next, holds } = evicted({ ContextManager });
    let last;
    const client = clientOf(({ messages }) => {
      const { call: wanted, text: said } = next(textsOf(messages));
      last = said;
      return { content: [wanted ? call(wanted.id, wanted.name, wanted.input) : text(said)] };
    });
    const tools = [{ name: READ.name, description: READ.description, input_schema: READ.schema, run: async () => read(), parse: (input) => input }];
    const cw = contextWeaver({ tools, budget_tokens: BUDGET, manager, on_step });
    await run(client, cw, tools, { ...PARAMS, messages: [{ role: "user", content: QUESTION }] });
    holds(last);
    manager.free();
  });
}

test("Anthropic: an answer at once is of what is in memory, and says how else", async () => {
  const { manager, handle, read, on_step } = evicted({ ContextManager });
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET, manager, on_step });
  cw.fit({
    ...PARAMS,
    messages: [
      { role: "user", content: QUESTION },
      { role: "assistant", content: [call(LARGE, READ.name, {})] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: LARGE, content: read() }] },
    ],
  });
  const asked = call("d1", "drilldown", { handle, selector: FIND_ROW });
  assert.match(cw.answer(asked).content, /^ARTIFACT_EXPIRED: .*answerAsync/);
  const [one, other] = await Promise.all([cw.answerAsync(asked), cw.answerAsync({ ...asked, id: "d2" })]);
  assert.deepEqual([one.tool_use_id, one.content.includes(ANSWER), other.content], ["d1", true, one.content]);
  assert.deepEqual(cw.answer(asked), one);
  assert.equal(await cw.answerAsync(text("no call")), undefined);
  assert.equal(await cw.answerAsync(call("o1", "other", {})), undefined);
  assert.match((await cw.answerAsync(call("f1", "find_tools", { query: "mail" }))).content, /offered already/);
  assert.match((await cw.answerAsync(call("d3", "drilldown", "{"))).content, /no JSON object/);
  manager.free();
});

test("Anthropic: what is no cost of the last call is passed over, and what is no answer is refused", () => {
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
  const fit = () => cw.fit({ ...PARAMS, messages: [{ role: "user", content: "word ".repeat(400) }] });
  cw.observe({ usage: { input_tokens: 500 } });
  for (const usage of [undefined, null, {}, { input_tokens: "500" }, { input_tokens: 1 }, { input_tokens: 9_000 }]) {
    fit();
    cw.observe({ usage });
  }
  // What the provider's own tools brought was not sent.
  for (const { content, server_tool_use } of [
    { server_tool_use: { web_search_requests: 0, web_fetch_requests: 1 } },
    { content: [text("I look."), { type: "server_tool_use", id: "s", name: "code_execution", input: {} }] },
    { content: [{ type: "mcp_tool_use", id: "m", name: "find", server_name: "wiki", input: {} }] },
  ]) {
    fit();
    cw.observe({ content, usage: { input_tokens: 500, cache_read_input_tokens: 100, server_tool_use } });
  }
  assert.equal(cw.costs().observed, undefined);
  assert.doesNotMatch(JSON.stringify(cw.manager), /claude/);
  for (const answer of [undefined, null, "answer"])
    assert.throws(
      () => cw.observe(answer),
      (error) => (assert.equal(error.code, "INVALID_INPUT"), ContextWeaverError.is(error)),
    );
  fit();
  cw.observe({ content: [text("Done.")], usage: { input_tokens: 500, cache_read_input_tokens: null, server_tool_use: { web_search_requests: 0 } } });
  assert.match(JSON.stringify(cw.manager), /claude/);
  cw.free();
});

test("Anthropic: a client that is served answers as it would: errors, responses, streams that are left", async () => {
  const answers = [
    () => Response.json({ type: "error", error: { type: "invalid_request_error", message: "no such model" } }, { status: 400 }),
    () => answered([text("whole")], false, 60),
    () => answered([text("left")], true, 60),
    () =>
      new Response('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n', {
        headers: { "content-type": "text/event-stream" },
      }),
  ];
  const plain = new Anthropic({ apiKey: "none", fetch: async () => answers.shift()(), maxRetries: 0 });
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
  const client = cw.serve(plain);
  const params = { ...PARAMS, messages: [{ role: "user", content: "word ".repeat(50) }] };
  await assert.rejects(client.messages.create(params), /no such model/);
  const { data, response } = await client.messages.create(params).withResponse();
  assert.deepEqual([data.content, response.status], [[text("whole")], 200]);
  for await (const { type } of await client.messages.create({ ...params, stream: true })) if (type === "message_start") break;
  const busy = async () => {
    for await (const _ of await client.messages.create({ ...params, stream: true })) void _;
  };
  await assert.rejects(busy(), /busy/);
  // Of the answer that was whole and of the stream that was left it took the cost.
  assert.equal(JSON.parse(JSON.stringify(cw.manager)).calibration[PARAMS.model].length, 2);
  cw.free();
});

test("Anthropic: of two calls at once the answer is taken that belongs to what was fitted last", async () => {
  const asked = [];
  const plain = new Anthropic({ apiKey: "none", fetch: () => new Promise((answer) => asked.push(answer)), maxRetries: 0 });
  const steps = [];
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
  const client = cw.serve(plain);
  const ask = (words) => client.messages.create({ ...PARAMS, messages: [{ role: "user", content: "word ".repeat(words) }] });
  const both = [ask(400), ask(900)];
  while (asked.length < 2) await new Promise(setImmediate);
  // The count of either is true, and would be believed of the other.
  const [first, second] = steps.map(({ built }) => built.tokens);
  asked[0](answered([text("first")], false, first));
  await both[0];
  const { observed } = cw.costs();
  asked[1](answered([text("second")], false, second));
  await both[1];
  assert.deepEqual([observed, cw.costs().observed.steps], [undefined, 1]);
  assert.deepEqual(JSON.parse(JSON.stringify(cw.manager)).calibration, { [PARAMS.model]: [[second, second]] });
  cw.free();
});

/** Each call reads what the one before has written, as far as it is the same, and writes up to its end. */
function assertCached(bodies) {
  const cache = new AnthropicCache();
  let wrote = 0;
  for (const [at, body] of bodies.entries()) {
    const { blocks, read, readable, written } = cache.send(body);
    assert.ok(written.includes(blocks - 1), `the end of call ${at} is not written`);
    if (readable >= wrote) assert.ok(read >= wrote, `call ${at} reads ${read} of ${wrote} blocks`);
    wrote = blocks;
  }
}

test("Anthropic: a conversation of several turns, edited and trimmed", async () => {
  const asked = [];
  const client = clientOf(({ messages }) => (asked.push(textsOf(messages).join("\n")), [text(`answer ${asked.length}`)]));
  const cw = contextWeaver({ tools: [], budget_tokens: BUDGET });
  let messages = [];
  const turn = async (content) => {
    messages.push({ role: "user", content });
    const params = { ...PARAMS, messages, tool_choice: { type: "auto" } };
    const before = JSON.stringify(params);
    const message = await client.messages.create(cw.fit(params));
    assert.equal(JSON.stringify(params), before);
    messages.push({ role: message.role, content: message.content });
  };
  await turn("My name is Ada.");
  await turn("I live in Paris.");
  await turn("Which city is it?");
  assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
  // The user mends what was said last, and the host forgets the oldest turn.
  messages = messages.slice(2, -2);
  await turn("Which country is it?");
  assert.match(asked[3], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
  assert.doesNotMatch(asked[3], /city|answer 3/);
  cw.free();
});

test("Anthropic: what a tool throws is a result, and a run may be aborted and taken up", async () => {
  const controller = new AbortController();
  const tools = [
    {
      name: "fail",
      description: "Fails",
      input_schema: { type: "object" },
      run: () => {
        throw new Error("the disk is full");
      },
      parse: (input) => input,
    },
    {
      name: "hang",
      description: "Hangs",
      input_schema: { type: "object" },
      run: (_, { signal }) => {
        controller.abort();
        signal.throwIfAborted();
      },
      parse: (input) => input,
    },
  ];
  const bodies = [];
  const client = clientOf((body) => (bodies.push(body), [[call("f", "fail", {})], [call("h", "hang", {})], [text("done")]][bodies.length - 1]));
  const warnings = [];
  const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step: (step) => warnings.push(...step.warnings) });
  const messages = [{ role: "user", content: "Do it." }];
  const run = cw.serve(client).beta.messages.toolRunner({ ...PARAMS, tools: cw.tools, messages, thread: false }, { signal: controller.signal });
  await assert.rejects(run.runUntilDone(), /abort/i);
  assert.equal(bodies.length, 2);
  const failed = bodies[1].messages.at(-1).content.find(({ type }) => type === "tool_result");
  assert.equal(failed.is_error, true);
  assert.match(textsOf(failed.content).join(""), /the disk is full/);
  assert.deepEqual(warnings, []);
  // What the host has of it is a call without its result.
  const left = [...messages, { role: "assistant", content: [call("h2", "hang", {})] }, { role: "user", content: "Go on." }];
  assert.equal(textOf(await client.messages.create(cw.fit({ ...PARAMS, messages: left }))), "done");
  assert.notDeepEqual(warnings, []);
  cw.free();
});

test("Anthropic: what a search found is loaded where it stands, in a conversation that is edited, trimmed and taken up", () => {
  const tools = Array.from({ length: 40 }, (_, n) => ({
    name: `tool_${n}`,
    description: `Paints the ${["door", "roof", "wall", "gate"][n % 4]} number ${n}`,
    input_schema: { type: "object" },
  }));
  const manager = new ContextManager();
  const warnings = [];
  const options = { tools, budget_tokens: BUDGET, tool_search: true, manager, on_step: (step) => warnings.push(...step.warnings) };
  const cw = contextWeaver(options);
  const searched = (id, content) => [
    { role: "assistant", content: [call(id, "find_tools", { query: "paint the roof" })] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ];
  const answer = cw.answer(call("s1", "find_tools", { query: "paint the roof number 9" }));
  assert.deepEqual([answer.type, answer.tool_use_id, answer.content.length], ["tool_result", "s1", 5]);
  assert.ok(answer.content.every(({ type, tool_name: name }) => type === "tool_reference" && tools.some((tool) => tool.name === name)));
  const names = answer.content.map(({ tool_name: name }) => name);
  const messages = [
    { role: "user", content: "Paint the house." },
    ...searched("s1", answer.content),
    { role: "assistant", content: "It is painted." },
    { role: "user", content: "And the garden?" },
  ];
  const fit = (given, by = cw) => {
    const before = JSON.stringify(given);
    const fitted = by.fit({ ...PARAMS, messages: given });
    assert.equal(JSON.stringify(given), before);
    accepts(fitted);
    return fitted;
  };
  const first = fit(messages);
  assert.deepEqual(referencesOf(first.messages), names);
  assert.deepEqual(referencesOf(fit(messages).messages), names);
  // The log says it in words, which other providers are told, too.
  assert.ok(manager.build({ phase: "answer", query: "", budget_tokens: BUDGET }).prompt.includes(`Found: ${names.join(", ")}`));
  // What the host forgets is in the log.
  assert.deepEqual(referencesOf(fit(messages.slice(3)).messages), names);
  // What is edited loads what it names now; a tool that there is not, nothing.
  const edited = [
    messages[0],
    ...searched("s1", [
      { type: "tool_reference", tool_name: "tool_7" },
      { type: "tool_reference", tool_name: "gone" },
    ]),
    ...messages.slice(3),
  ];
  assert.deepEqual(referencesOf(fit(edited).messages), ["tool_7"]);
  const gone = [messages[0], ...searched("s2", [{ type: "tool_reference", tool_name: "gone" }]), ...messages.slice(3)];
  assert.deepEqual(referencesOf(fit(gone).messages), []);
  assert.match(JSON.stringify(fit(gone).messages), /Found: gone/);
  // The same found twice is loaded where it stands, once at least.
  const again = [...messages, ...searched("s3", answer.content), { role: "assistant", content: "Yes." }, { role: "user", content: "Which?" }];
  assert.deepEqual(new Set(referencesOf(fit(again).messages)), new Set(names));
  // A log of another day, and one whose tools are all loaded again.
  const next = contextWeaver({ ...options, manager: ContextManager.fromJSON(JSON.stringify(manager)) });
  assert.deepEqual(referencesOf(fit(messages, next).messages), names);
  const plain = contextWeaver({ tools, budget_tokens: BUDGET });
  assert.deepEqual(referencesOf(fit(messages, plain).messages), []);
  for (const one of [next, plain, cw]) one.free();
  assert.deepEqual(warnings, []);
  manager.free();
});

test("Anthropic: searches without end: what was found last is loaded", () => {
  const jobs = ["paint", "dig", "cook", "sing", "weld", "sew", "plough", "print"];
  const tools = Array.from({ length: 400 }, (_, n) => ({
    name: `${jobs[n % 8]}_${n}`,
    description: `Does ${jobs[n % 8]} ${"well ".repeat(40)}${n}`,
    input_schema: { type: "object" },
  }));
  const cw = contextWeaver({ tools, budget_tokens: BUDGET, tool_search: true });
  const messages = [{ role: "user", content: "Do everything." }];
  const loaded = [];
  for (let at = 0; at < 40; at += 1) {
    const block = call(`s${at}`, "find_tools", { query: `${jobs[at % 8]} ${at}` });
    const answer = cw.answer(block);
    const [{ tool_name: first }] = answer.content;
    messages.push({ role: "assistant", content: [block] }, { role: "user", content: [answer] });
    const fitted = cw.fit({ ...PARAMS, messages });
    accepts(fitted);
    const references = referencesOf(fitted.messages);
    assert.deepEqual(
      references.slice(-5),
      answer.content.map(({ tool_name: name }) => name),
      `step ${at}`,
    );
    loaded.push(references.length);
    messages.push(
      { role: "assistant", content: [call(`c${at}`, first, {})] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: `done ${at}: ${"fine ".repeat(60)}` }] },
    );
    accepts(cw.fit({ ...PARAMS, messages }));
  }
  // There is room for many, and not for all.
  assert.ok(Math.max(...loaded) >= 15 && loaded.at(-1) < 200, `${loaded}`);
  cw.free();
});

test("Anthropic: a search that finds nothing, or for whose tools there is no room", () => {
  const tools = Array.from({ length: 40 }, (_, n) => ({
    name: `${["paint", "dig", "cook", "sing"][n % 4]}_${n}`,
    description: `Does ${["paint", "dig", "cook", "sing"][n % 4]} ${"well ".repeat(40)}${n}`,
    input_schema: { type: "object" },
  }));
  const steps = [];
  const options = {
    tools: [{ ...tools[0], cache_control: MARK }, ...tools.slice(1)],
    budget_tokens: 1_400,
    tool_search: true,
    cache: true,
    on_step: (step) => steps.push(step),
  };
  const cw = contextWeaver(options);
  assert.equal(cw.answer(call("n", "find_tools", { query: "zzzz" })).content, "No tool fits.");
  assert.match(cw.answer(call("n", "find_tools", 7)).content, /^INVALID_INPUT/);
  assert.match(cw.answer(call("n", "find_tools", {})).content, /^(INVALID_INPUT|MISSING_FIELD)/);
  const search = (id, query) => {
    const block = call(id, "find_tools", { query });
    return [
      { role: "assistant", content: [block] },
      { role: "user", content: [cw.answer(block)] },
    ];
  };
  const messages = [{ role: "user", content: "Work." }, ...search("a", "paint"), ...search("n", "zzzz"), ...search("b", "dig")];
  const fitted = cw.fit({ ...PARAMS, messages });
  accepts(fitted);
  const [newest, oldest] = [messages[6], messages[2]].map(({ content: [{ content }] }) => content.map(({ tool_name: name }) => name));
  const loaded = referencesOf(fitted.messages);
  // The newest have room before the others, as many as half of the budget holds.
  assert.deepEqual(loaded, newest.slice(0, loaded.length));
  assert.ok(loaded.length > 0 && loaded.length < 5);
  assert.match(JSON.stringify(fitted.messages), new RegExp(`Found: ${oldest.join(", ")}. What is not loaded, find again.`));
  const [{ built, tool_tokens, tools: offered, warnings }] = steps;
  assert.ok(built.tokens + tool_tokens <= 1_400 && tool_tokens <= 700);
  assert.ok(loaded.every((name) => offered.includes(name)));
  const missing = [...newest.slice(loaded.length), ...oldest];
  assert.deepEqual(
    warnings.map(({ code, path }) => [code, path]),
    [...missing.map((name) => ["TOOL_LEFT_OUT", `/tools/${name}`]), ["CACHE_CONTROL_LEFT_OUT", "/tools/0"]],
  );
  // Marks are at what is cached.
  assert.deepEqual(
    fitted.tools.filter(({ cache_control: mark }) => mark).map(({ name }) => name),
    ["find_tools"],
  );
  // One that must be called is loaded in that call.
  const forced = cw.fit({ ...PARAMS, messages: messages.slice(0, 1), tool_choice: { type: "tool", name: "dig_5" } });
  accepts(forced);
  assert.equal(forced.tools.find(({ name }) => name === "dig_5").defer_loading, undefined);
  cw.free();
  // With few tools none is deferred.
  const few = contextWeaver({ tools: tools.slice(0, 3), budget_tokens: BUDGET, tool_search: true, cache: false });
  assert.deepEqual(few.fit({ ...PARAMS, messages: messages.slice(0, 1) }).tools, tools.slice(0, 3));
  few.free();
});

test("Anthropic: the marks of the caller stay, and move without an edit of the conversation", () => {
  const steps = [];
  const LONG = { type: "ephemeral", ttl: "1h" };
  const one = { name: "one", description: "One", input_schema: { type: "object" }, cache_control: LONG, defer_loading: true };
  const cw = contextWeaver({ tools: [one], budget_tokens: BUDGET, cache: true, on_step: (step) => steps.push(step) });
  const system = [text("Be brief.", { cache_control: LONG })];
  const messages = [{ role: "user", content: [text("first", { cache_control: MARK })] }];
  const first = cw.fit({ ...PARAMS, system, messages });
  accepts(first);
  assert.deepEqual(first.system, system);
  assert.deepEqual(first.messages, messages);
  assert.deepEqual(
    first.tools.map(({ cache_control: mark }) => mark),
    [LONG],
  );
  const moved = [
    { role: "user", content: "first" },
    { role: "assistant", content: "yes" },
    { role: "user", content: [text("second", { cache_control: MARK })] },
  ];
  const second = cw.fit({ ...PARAMS, system, messages: [{ role: "user", content: [text("first")] }, ...moved.slice(1)] });
  accepts(second);
  assert.deepEqual(
    steps.flatMap(({ synced, warnings }) => [...synced.superseded, ...warnings]),
    [],
  );
  // Those of the tool, the instructions and the end are the caller's; the one that is left is at what was there before.
  assert.deepEqual(
    blocksOf(second).flatMap(({ cache_control: mark }, at) => (mark ? [at] : [])),
    [0, 1, 2, 4],
  );
  // The provider's own mark counts, and is at the end.
  const automatic = cw.fit({ ...PARAMS, cache_control: MARK, system, messages: moved.slice(0, 1) });
  assert.deepEqual(
    blocksOf(automatic).flatMap(({ cache_control: mark }, at) => (mark ? [at] : [])),
    [0, 1],
  );
  // What is kept for longer comes first.
  const long = cw.fit({
    ...PARAMS,
    system: "Be brief.",
    messages: [...moved.slice(0, 2), { role: "user", content: [text("third", { cache_control: LONG })] }],
  });
  accepts(long);
  assert.deepEqual(long.system, system);
  accepts(cw.fit({ ...PARAMS, system: "Be brief.", cache_control: LONG, messages: moved.slice(0, 1) }));
  // A mark on a block that is not sent as it was.
  const large = contextWeaver({ tools: [], budget_tokens: 900, on_step: (step) => steps.push(step) });
  const old = { role: "user", content: [text("word ".repeat(1_200), { cache_control: MARK })] };
  accepts(large.fit({ ...PARAMS, messages: [old, { role: "assistant", content: "yes" }, { role: "user", content: "And now?" }] }));
  assert.deepEqual(
    steps.at(-1).warnings.map(({ code, path }) => [code, path]),
    [["CACHE_CONTROL_LEFT_OUT", "/messages/0/content/0"]],
  );
  large.free();
  cw.free();
});

test("Anthropic: tools that the provider runs, and one that must be called", () => {
  const search = { type: "web_search_20250305", name: "web_search", max_uses: 2 };
  const toolset = { type: "mcp_toolset", mcp_server_name: "wiki" };
  const many = Array.from({ length: 40 }, (_, n) => ({ name: `tool_${n}`, description: `Does number ${n}`, input_schema: { type: "object" } }));
  const cw = contextWeaver({ tools: [search, toolset, ...many], budget_tokens: BUDGET });
  const fitted = cw.fit({ ...PARAMS, messages: [{ role: "user", content: "What is the weather?" }], tool_choice: { type: "tool", name: "tool_39" } });
  accepts(fitted);
  assert.deepEqual(fitted.tools.slice(0, 2), [search, toolset]);
  assert.ok(fitted.tools.some(({ name }) => name === "tool_39"));
  assert.deepEqual(fitted.tool_choice, { type: "tool", name: "tool_39" });
  // What is wrong with a call is told to the model.
  assert.match(cw.answer(call("a", "drilldown", { handle: "artifact:none", selector: { type: "rows" } })).content, /^ARTIFACT_NOT_FOUND/);
  assert.match(cw.answer(call("a", "find_tools", "no JSON")).content, /^INVALID_INPUT/);
  assert.match(cw.answer(call("a", "find_tools", {})).content, /^(MISSING_FIELD|INVALID_INPUT)/);
  assert.equal(cw.answer(call("a", "tool_1", {})), undefined);
  assert.equal(cw.answer(text("drilldown")), undefined);
  cw.free();
});

test("Anthropic: what cannot be is said before the model is asked", async () => {
  const refuses = (run, code, path) => assert.throws(run, (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)));
  const one = { name: "one", description: "One", input_schema: { type: "object" } };
  for (const [options, code, path] of [
    [{ tools: [] }, "MISSING_FIELD", "/budget_tokens"],
    [{ budget_tokens: 8_000 }, "MISSING_FIELD", "/tools"],
    [{ tools: {}, budget_tokens: 8_000 }, "INVALID_INPUT", "/tools"],
    [{ tools: [{}], budget_tokens: 8_000 }, "INVALID_INPUT", "/tools/0"],
    [{ tools: [one, one], budget_tokens: 8_000 }, "DUPLICATE_ID", "/tools/one"],
    [{ tools: [{ ...one, name: "find_tools" }], budget_tokens: 8_000 }, "DUPLICATE_ID", "/tools/find_tools"],
    [{ tools: [{ type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" }], budget_tokens: 8_000 }, "UNSUPPORTED", "/tools/0"],
    [{ tools: [one], budget_tokens: 8_000, always: ["two"] }, "NOT_FOUND", "/always"],
    [{ tools: [], budget_tokens: 8_000, cache: "yes" }, "INVALID_INPUT", "/cache"],
    [{ tools: [], budget_tokens: 8_000, tool_search: "yes" }, "INVALID_INPUT", "/tool_search"],
    [{ tools: [], budget_tokens: 8_000, budget: 1 }, "UNKNOWN_FIELD", "/budget"],
  ]) {
    refuses(() => contextWeaver(options), code, path);
  }
  const manager = new ContextManager();
  const cw = contextWeaver({ tools: [one], budget_tokens: 50, manager });
  const messages = [{ role: "user", content: "hi" }];
  refuses(() => cw.fit({ ...PARAMS }), "MISSING_FIELD", "/messages");
  refuses(() => cw.fit({ ...PARAMS, messages, thread: { id: "t" } }), "UNSUPPORTED", "/thread");
  refuses(() => cw.fit({ ...PARAMS, messages, tools: [one, { ...one, name: "two" }] }), "NOT_FOUND", "/tools/1");
  refuses(() => cw.fit({ ...PARAMS, messages, tools: cw.tools.slice(1) }), "INVALID_INPUT", "/tools");
  refuses(() => cw.fit({ ...PARAMS, messages: [{ role: "user", content: "word ".repeat(500) }] }), "BUDGET_EXCEEDED", undefined);
  refuses(
    () => cw.fit({ ...PARAMS, messages: [...messages, { role: "assistant", content: [call("a", 1, {})] }] }),
    "INVALID_INPUT",
    "/messages/1/content/0/name",
  );
  // It comes out of the runner as it is, at once.
  const client = new Anthropic({ apiKey: "none", fetch: () => assert.fail("the model was asked") });
  const run = cw
    .serve(client)
    .beta.messages.toolRunner({ ...PARAMS, tools: cw.tools, messages: [{ role: "user", content: "word ".repeat(500) }], thread: false });
  await assert.rejects(run.runUntilDone(), (error) => (assert.equal(error.code, "BUDGET_EXCEEDED"), true));
  cw.free();
  assert.ok(manager.stats());
  manager.free();
});
