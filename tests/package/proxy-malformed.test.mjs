// Requests and answers in which anything may stand anywhere, and those that some providers write otherwise than others: the proxy passes
// them on, and nothing of it throws.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import OpenAI from "openai";
import { project } from "./harness.mjs";
import { eventsOf, scriptedProvider, streamed } from "./proxy-provider.mjs";

const folder = await project("proxy-malformed", { "entry.mjs": `export * from "contextweaver/proxy";` });
const { proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const PATHS = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  contents: "/v1beta/models/m:streamGenerateContent?alt=sse",
};
const ODD = [null, true, -1, 1e400, "", "drilldown", "user", [], [null], {}, { type: 7 }, { role: [] }, "\ud800", 2 ** 53];
const output = "harbour letter garden window ".repeat(120);
const BODIES = {
  chat: {
    model: "m",
    stream: true,
    tools: [{ type: "function", function: { name: "read", parameters: {} } }],
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "q" },
      ...[1, 2, 3, 4].flatMap((n) => [
        { role: "assistant", content: "a", tool_calls: [{ id: `c${n}`, type: "function", function: { name: "read", arguments: "{}" } }] },
        { role: "tool", tool_call_id: `c${n}`, content: output },
      ]),
    ],
  },
  responses: {
    model: "m",
    stream: true,
    instructions: "s",
    tools: [{ type: "function", name: "read", parameters: {} }],
    input: [
      { type: "additional_tools", tools: [{ type: "custom", name: "x" }] },
      { role: "user", content: [{ type: "input_text", text: "q" }] },
      ...[1, 2, 3, 4].flatMap((n) => [
        { type: "reasoning", id: `r${n}`, summary: [], encrypted_content: "e" },
        { type: "function_call", call_id: `c${n}`, name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: `c${n}`, output },
      ]),
    ],
  },
  messages: {
    model: "m",
    stream: true,
    max_tokens: 9,
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
    tools: [{ name: "read", input_schema: {} }],
    messages: [
      { role: "user", content: "q" },
      ...[1, 2, 3, 4].flatMap((n) => [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "s" },
            { type: "tool_use", id: `c${n}`, name: "read", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: output }] },
      ]),
    ],
  },
  contents: {
    systemInstruction: { parts: [{ text: "s" }] },
    tools: [{ functionDeclarations: [{ name: "read" }] }],
    contents: [
      { role: "user", parts: [{ text: "q" }] },
      ...[1, 2, 3, 4].flatMap((n) => [
        { role: "model", parts: [{ functionCall: { name: "read", args: { n } } }] },
        { role: "user", parts: [{ functionResponse: { name: "read", response: { output } } }] },
      ]),
    ],
  },
};

/** Numbers that are the same in each run. */
function numbers(seed) {
  let state = seed;
  return (below) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0), (state >>> 8) % below);
}

/** Puts something odd in place of a value, or takes it away, somewhere. */
function spoiled(value, random) {
  const copy = structuredClone(value);
  const places = [];
  const walk = (one) => {
    for (const key of Object.keys(one)) {
      places.push([one, key]);
      if (typeof one[key] === "object" && one[key] !== null) walk(one[key]);
    }
  };
  walk(copy);
  for (let count = 1 + random(3); count > 0 && places.length > 0; count -= 1) {
    const [at, key] = places[random(places.length)];
    if (random(4) === 0) delete at[key];
    else at[key] = ODD[random(ODD.length)];
  }
  return copy;
}

for (const [api, body] of Object.entries(BODIES)) {
  test(`Proxy, ${api}: a request in which anything may stand is sent as it came, or as a prompt of it`, async () => {
    const random = numbers(7);
    const { sent, answer } = scriptedProvider(() => ({ text: "fine" }));
    const handler = proxy({ budget_tokens: 2_000, token: false, fetch: answer, limits: { max_conversations: 20 } });
    const seen = new Map();
    for (let round = 0; round < 400; round += 1) {
      const text = JSON.stringify(spoiled(body, random));
      const response = await handler(new Request(`http://localhost${PATHS[api]}`, { method: "POST", headers: { "x-api-key": "k" }, body: text }));
      await response.text();
      const status = response.headers.get("x-contextweaver");
      const [how] = status.split(";");
      seen.set(how, (seen.get(how) ?? 0) + 1);
      if (how !== "shortened") assert.equal(sent.at(-1).text, text, status);
      else JSON.parse(sent.at(-1).text);
    }
    assert.ok(seen.get("shortened") > 50 && !seen.has("failed"), JSON.stringify([...seen]));
    handler.free();
  });

  test(`Proxy, ${api}: an answer in which anything may stand reaches the client`, async () => {
    const random = numbers(11);
    const said = {
      text: "one two three",
      thinking: "hm",
      calls: [
        { id: "c9", name: "read", input: {} },
        { id: "d9", name: "drilldown", input: { handle: "artifact:result:c1" } },
      ],
    };
    let parts = [];
    let count = 0;
    const handler = proxy({
      budget_tokens: 2_000,
      token: false,
      max_rounds: 2,
      fetch: async (request) => {
        await request.text();
        const isWhole = (count += 1) % 3 === 0;
        parts = eventsOf(PATHS[api], random(2) === 0 ? said : { ...said, calls: said.calls.slice(1) }, "id", "m", {}).map((part) => {
          const [, before, json] = /^([^]*?data: )(.*)/.exec(part);
          return random(3) > 0 || json[0] !== "{" ? part : `${before}${JSON.stringify(spoiled(JSON.parse(json), random))}\n\n`;
        });
        if (isWhole) return Response.json(spoiled(JSON.parse(/data: (\{.*)/.exec(parts.at(-1))?.[1] ?? "{}"), random));
        return new Response(streamed(parts), { headers: { "content-type": "text/event-stream" } });
      },
    });
    for (let round = 0; round < 200; round += 1) {
      const response = await handler(
        new Request(`http://localhost${PATHS[api]}`, { method: "POST", headers: { "x-api-key": "k" }, body: JSON.stringify(body) }),
      );
      assert.match(response.headers.get("x-contextweaver"), /^shortened/);
      await response.text();
    }
    assert.ok(handler.stats().inner_rounds > 10, `${handler.stats().inner_rounds} rounds`);
    handler.free();
  });
}

/** A proxy before a provider that says `rounds`, one for each request: the data of events, or an answer that comes at once, or its `text`. */
function before(api, rounds, { headers, ...options } = {}) {
  const sent = [];
  const usage = [];
  const handler = proxy({
    budget_tokens: 2_000,
    token: false,
    hooks: { model_call_completed: (call) => usage.push(call.usage) },
    fetch: async (request) => {
      sent.push(await request.json());
      const said = rounds[Math.min(sent.length, rounds.length) - 1];
      if (!Array.isArray(said)) return said.text ? new Response(said.text, { headers: { "content-type": "application/json" } }) : Response.json(said);
      const text = said.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream", ...headers?.(text) } });
    },
    ...options,
  });
  const ask = (url, init) => handler(new Request(url, init));
  const post = async (body = BODIES[api], path = PATHS[api]) => {
    const response = await ask(`http://localhost${path}`, { method: "POST", headers: { authorization: "Bearer k" }, body: JSON.stringify(body) });
    assert.match(response.headers.get("x-contextweaver"), /^shortened/);
    const text = await response.text();
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data));
    return { response, text, events };
  };
  return { sent, usage, handler, ask, post };
}

const LOOK = { handle: "artifact:result:c1" };
const chunk = (delta, finish_reason = null) => ({
  id: "a",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const own = (index = 0) => ({ index, id: "look", type: "function", function: { name: "drilldown", arguments: JSON.stringify(LOOK) } });
const client = (index = 0, id = "c9") => ({ index, id, type: "function", function: { name: "read", arguments: "{}" } });
const CALLED = [chunk({}, "tool_calls"), "[DONE]"];
const DONE = [chunk({ role: "assistant", content: "" }), chunk({ content: "Done." }), chunk({}, "stop"), "[DONE]"];
const looking = (...deltas) => [...deltas.map((delta) => chunk(delta)), ...CALLED];
const deltasOf = ({ events }) => events.flatMap(({ choices }) => choices.map(({ delta }) => delta));

test("Proxy: lists in the usage of several rounds stay lists, and Gemini's thoughts are output", async () => {
  const gemini = (parts, tokens) => ({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: tokens,
      candidatesTokenCount: 9,
      thoughtsTokenCount: 50,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: tokens - 1 },
        { modality: tokens === 100 ? "IMAGE" : "AUDIO", tokenCount: 1 },
      ],
    },
  });
  const rounds = [gemini([{ functionCall: { name: "drilldown", args: LOOK } }], 100), gemini([{ text: "Done." }], 200)];
  for (const [said, path] of [
    [rounds.map((round) => [round]), PATHS.contents],
    [rounds, "/v1beta/models/m:generateContent"],
  ]) {
    const { post, usage, handler } = before("contents", said);
    const { text, events } = await post(BODIES.contents, path);
    const { promptTokensDetails, promptTokenCount } = (events.at(-1) ?? JSON.parse(text)).usageMetadata;
    assert.equal(promptTokenCount, 300);
    assert.deepEqual(promptTokensDetails, [
      { modality: "TEXT", tokenCount: 298 },
      { modality: "IMAGE", tokenCount: 1 },
      { modality: "AUDIO", tokenCount: 1 },
    ]);
    assert.deepEqual(usage, [
      { input_tokens: 100, output_tokens: 59 },
      { input_tokens: 200, output_tokens: 59 },
    ]);
    handler.free();
  }
  const iterations = [{ type: "message", input_tokens: 10, output_tokens: 5 }];
  const message = (block, stop_reason) => ({ content: [block], stop_reason, usage: { input_tokens: 10, output_tokens: 5, iterations } });
  const { post, handler } = before("messages", [
    message({ type: "tool_use", id: "look", name: "drilldown", input: LOOK }, "tool_use"),
    message({ type: "text", text: "Done." }, "end_turn"),
  ]);
  assert.deepEqual(JSON.parse((await post()).text).usage, { input_tokens: 20, output_tokens: 10, iterations: [...iterations, ...iterations] });
  handler.free();
});

test("Proxy, chat: the client is told whose answer it is where the first chunk has a call that is answered inside", async () => {
  const { ask, handler } = before("chat", [looking({ role: "assistant", content: null, tool_calls: [own()] }), DONE]);
  const sdk = new OpenAI({ apiKey: "k", baseURL: "http://localhost/v1", fetch: ask });
  const { choices } = await sdk.chat.completions.stream(BODIES.chat).finalChatCompletion();
  assert.deepEqual([choices[0].message.role, choices[0].message.content], ["assistant", "Done."]);
  handler.free();
});

test("Proxy, chat: calls that share an index are calls of their own", async () => {
  for (const calls of [
    [own(), client()],
    [client(), own()],
    [client(0, "c8"), own(), client()],
  ]) {
    for (const deltas of [[{ tool_calls: calls }], calls.map((call) => ({ tool_calls: [call] }))]) {
      const { post, sent, handler } = before("chat", [looking({ role: "assistant" }, ...deltas), DONE]);
      const told = deltasOf(await post()).flatMap(({ tool_calls: given = [] }) => given);
      const shown = calls.filter(({ id }) => id !== "look");
      assert.deepEqual(
        told,
        shown.map((call, index) => ({ ...call, index })),
      );
      assert.equal(sent.length, 1);
      // What was read stands beside the client's result in the next request.
      const results = shown.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "fine" }));
      await post({ ...BODIES.chat, messages: [...BODIES.chat.messages, { role: "assistant", content: null, tool_calls: shown }, ...results] });
      const read = sent[1].messages.find(({ tool_call_id: id }) => id === "look");
      assert.match(read.content, /harbour letter/);
      handler.free();
    }
  }
});

test("Proxy, chat: what later pieces of a call repeat, or leave empty, changes nothing", async () => {
  for (const more of [
    { id: "", type: "", function: { name: "" } },
    { id: null, function: { name: null } },
    { id: "look", function: { name: "drilldown" } },
    { id: "other", function: {} },
    { function: { name: "drilldown" } },
  ]) {
    const pieces = JSON.stringify(LOOK).match(/.{1,12}/g);
    const [begin, ...rest] = pieces.map((json, at) => ({ ...own(), ...(at > 0 && more), function: { ...(at > 0 ? more : own()).function, arguments: json } }));
    const { post, sent, handler } = before("chat", [looking(...[begin, ...rest].map((call) => ({ tool_calls: [call] }))), DONE]);
    const { text } = await post();
    assert.match(text, /Done\..*"finish_reason":"stop"/s);
    const [said, read] = sent[1].messages.slice(-2);
    assert.deepEqual(said.tool_calls[0].function, { name: "drilldown", arguments: JSON.stringify(LOOK) }, JSON.stringify(more));
    assert.match(read.content, /harbour letter/);
    assert.equal(said.tool_calls[0].id, read.tool_call_id);
    handler.free();
  }
});

test("Proxy, chat: thoughts and content in blocks go into the next round as they came", async () => {
  const thinking = (text) => ({ type: "thinking", thinking: [{ type: "text", text }] });
  const block = (text) => ({ type: "text", text });
  for (const [deltas, message, expected] of [
    [
      [{ reasoning_content: "I must " }, { reasoning_content: "look." }],
      { content: null, reasoning_content: "I must look." },
      { content: null, reasoning_content: "I must look." },
    ],
    [[{ content: "So:", reasoning: "hm" }], { content: "So:", reasoning: "hm" }, { content: "So:", reasoning: "hm" }],
    [
      [{ content: [thinking("Hm")] }, { content: [thinking("m.")] }, { content: "So" }, { content: [block(":")] }],
      { content: [thinking("Hmm."), block("So:")] },
      { content: [thinking("Hmm."), block("So:")] },
    ],
  ]) {
    const whole = { choices: [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", ...message, tool_calls: [own()] } }] };
    for (const first of [looking(...deltas, { tool_calls: [own()] }), whole]) {
      const { post, sent, handler } = before("chat", [first, DONE]);
      await post();
      const { tool_calls: _, ...said } = sent[1].messages.at(-2);
      assert.deepEqual(said, { role: "assistant", ...expected });
      handler.free();
    }
  }
});

test("Proxy, messages: what a provider compacted stays in the next round as it said it", async () => {
  for (const compacted of [
    { content: "All was read.", encrypted_content: "ENC" },
    { content: null, encrypted_content: null },
  ]) {
    const events = eventsOf(PATHS.messages, { calls: [{ id: "look", name: "drilldown", input: LOOK }] }, "id", "m").map((event) =>
      JSON.parse(/data: (.*)/.exec(event)[1]),
    );
    events.splice(
      -2,
      0,
      { type: "content_block_start", index: 1, content_block: { type: "compaction", content: null } },
      { type: "content_block_delta", index: 1, delta: { type: "compaction_delta", ...compacted } },
      { type: "content_block_stop", index: 1 },
    );
    const { post, sent, handler } = before("messages", [events, { content: [{ type: "text", text: "Done." }], stop_reason: "end_turn" }]);
    await post();
    assert.deepEqual(sent[1].messages.at(-2).content[1], { type: "compaction", ...compacted });
    handler.free();
  }
});

test("Proxy, chat: tokens of the cache that are counted in the prompt, too, are not counted twice", async () => {
  const usage = { prompt_tokens: 3_240, completion_tokens: 5, cache_read_input_tokens: 2_916, cache_creation_input_tokens: 259 };
  const {
    post,
    usage: told,
    handler,
  } = before("chat", [{ choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }], usage }]);
  await post();
  assert.deepEqual(told, [{ input_tokens: 3_240, output_tokens: 5, cached_tokens: 2_916 }]);
  handler.free();
});

test("Proxy, chat: a stream that is told on has no length", async () => {
  const headers = (text) => ({ "content-length": String(text.length) });
  const { post, handler } = before("chat", [looking({ tool_calls: [own()] }), DONE], { headers });
  assert.equal((await post()).response.headers.get("content-length"), null);
  handler.free();
});

test("Proxy: calls of an answer that broke off are not answered, and it does not look whole", async () => {
  const torn = { index: 0, id: "torn", type: "function", function: { name: "drilldown", arguments: '{"handle":"artif' } };
  for (const end of [[], [{ ...chunk({}, "error"), error: { code: 502, message: "gone" } }]]) {
    for (const rounds of [[[chunk({ tool_calls: [torn] }), ...end]], [looking({ tool_calls: [own()] }), [chunk({ tool_calls: [torn] }), ...end]]]) {
      const { post, sent, handler } = before("chat", [...rounds, DONE]);
      const { text } = await post();
      assert.equal(sent.length, rounds.length);
      assert.doesNotMatch(text, /drilldown|Done|"finish_reason":"(?:stop|tool_calls)"/);
      assert.equal(/"message":"gone"/.test(text), end.length > 0);
      handler.free();
    }
  }
  for (const [api, error] of [
    ["messages", { type: "error", error: { type: "overloaded_error", message: "gone" } }],
    ["responses", { type: "error", code: "server_error", message: "gone" }],
  ]) {
    const events = eventsOf(PATHS[api], { calls: [{ id: "look", name: "drilldown", input: LOOK }] }, "id", "m").map((event) =>
      JSON.parse(/data: (.*)/.exec(event)[1]),
    );
    for (const end of [[], [error]]) {
      const { post, sent, handler } = before(api, [events, [...events.slice(0, 3), ...end], eventsOf(PATHS[api], { text: "Done." }, "id", "m")]);
      const { text } = await post();
      assert.equal(sent.length, 2, api);
      assert.doesNotMatch(text, /drilldown|Done|message_stop|response\.completed/);
      assert.equal(/"message":"gone"/.test(text), end.length > 0);
      handler.free();
    }
  }
});

test("Proxy: a call that broke off in an answer that comes at once is not told either", async () => {
  const input = JSON.stringify(LOOK);
  for (const [api, path, answer, shown] of [
    ["chat", PATHS.chat, { choices: [{ finish_reason: "length", message: { role: "assistant", content: "Look:", tool_calls: [own()] } }] }, "length"],
    [
      "messages",
      PATHS.messages,
      {
        stop_reason: "max_tokens",
        content: [
          { type: "text", text: "Look:" },
          { type: "tool_use", id: "look", name: "drilldown", input: {} },
        ],
      },
      "max_tokens",
    ],
    [
      "responses",
      PATHS.responses,
      {
        status: "incomplete",
        output: [
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "Look:" }] },
          { type: "function_call", call_id: "look", name: "drilldown", arguments: input },
        ],
      },
      "incomplete",
    ],
    [
      "contents",
      "/v1beta/models/m:generateContent",
      {
        candidates: [
          { finishReason: "MAX_TOKENS", content: { role: "model", parts: [{ text: "Look:" }, { functionCall: { name: "drilldown", args: LOOK } }] } },
        ],
      },
      "MAX_TOKENS",
    ],
  ]) {
    const { post, sent, handler } = before(api, [answer]);
    const { text } = await post(BODIES[api], path);
    assert.equal(sent.length, 1);
    assert.ok(text.includes("Look:") && text.includes(`"${shown}"`) && !text.includes("drilldown"), text);
    handler.free();
  }
});

test("Proxy, responses: reasoning that nobody has kept is not sent back", async () => {
  const look = { type: "function_call", id: "fc_1", call_id: "look", name: "drilldown", arguments: JSON.stringify(LOOK), status: "completed" };
  const kept = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "ENC" };
  for (const store of [false, true, undefined]) {
    const output = [{ type: "reasoning", id: "rs_1", summary: [] }, kept, look];
    const { post, sent, handler } = before("responses", [
      { status: "completed", output },
      { status: "completed", output: [] },
    ]);
    await post({ ...BODIES.responses, store });
    const thoughts = sent[1].input.filter(({ type, id }) => type === "reasoning" && id.startsWith("rs_")).map(({ id }) => id);
    assert.deepEqual(thoughts, store === false ? ["rs_2"] : ["rs_1", "rs_2"]);
    handler.free();
  }
});

test("Proxy: numbers that JavaScript would round reach the client as the model wrote them", async () => {
  const args = '{"user":1234567890123456789,"least":[-9223372036854775808],"text":"1234567890123456789"}';
  const exact = (json) => json.replace('"ARGS"', args);
  const part = (name, given) => ({ functionCall: { name, args: given } });
  const gemini = (...parts) => exact(JSON.stringify({ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] }));
  const block = (id, name, input) => ({ type: "tool_use", id, name, input });
  const message = (...content) => exact(JSON.stringify({ content, stop_reason: "tool_use" }));
  for (const [api, path, own, theirs, written] of [
    ["contents", PATHS.contents, part("drilldown", LOOK), part("read", "ARGS"), gemini],
    ["contents", "/v1beta/models/m:generateContent", part("drilldown", LOOK), part("read", "ARGS"), gemini],
    ["messages", PATHS.messages, block("look", "drilldown", LOOK), block("c9", "read", "ARGS"), message],
  ]) {
    const body = (json) => (path === PATHS.contents ? [json] : { text: json });
    for (const rounds of [[written(own, theirs)], [written(own), written(theirs)]]) {
      const { post, sent, handler } = before(api, rounds.map(body));
      const { text } = await post(BODIES[api], path);
      assert.equal(sent.length, rounds.length);
      assert.ok(text.includes(args) && !text.includes("drilldown"), text);
      // What was read is put back, too, where the client's own history has rounded the numbers.
      const list = api === "contents" ? "contents" : "messages";
      const answer = api === "contents" ? { role: "model", parts: [theirs] } : { role: "assistant", content: [theirs] };
      const result =
        api === "contents"
          ? { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "fine" } } }] }
          : { role: "user", content: [{ type: "tool_result", tool_use_id: "c9", content: "fine" }] };
      await post(JSON.parse(exact(JSON.stringify({ ...BODIES[api], [list]: [...BODIES[api][list], answer, result] }))), path);
      assert.match(JSON.stringify(sent.at(-1)[list].slice(-4)), /"name":"drilldown".*fine/);
      handler.free();
    }
  }
});
