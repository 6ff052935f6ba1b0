// What the proxy does when something goes wrong: in it, at the provider, or at the client. And that streams pass as they come.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { RUN_INSTRUCTIONS, RUN_TOOLS, TASK, longRun, partOf, textsOf } from "./agent-session.mjs";
import { project } from "./harness.mjs";
import { WAYS, agentOf } from "./proxy-agents.mjs";
import { eventsOf, scriptedProvider, streamed } from "./proxy-provider.mjs";

const folder = await project("proxy-faults", { "entry.mjs": `export * from "contextweaver/proxy";` });
const { proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const BUDGET = 16_000;
const BASE = "http://127.0.0.1:8323";
const PATHS = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  contents: "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
};
const tools = RUN_TOOLS.map((tool) => ({ ...tool, run: ({ part }) => partOf(part) }));
const listOf = (body) => body.messages ?? body.input ?? body.contents;
const statusOf = (response) => response.headers.get("x-contextweaver");

function before(next, options, how) {
  const provider = scriptedProvider(next, how);
  const errors = [];
  const handler = proxy({ budget_tokens: BUDGET, token: false, fetch: provider.answer, on_error: (error) => errors.push(error), ...options });
  const post = (path, body, headers = {}, init = {}) =>
    handler(
      new Request(`${BASE}${path}`, {
        method: "POST",
        headers: { authorization: "Bearer k", "content-type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...init,
      }),
    );
  return { ...provider, handler, post, errors };
}

/** A conversation that does not fit, as each client holds it. */
const LONG = Array.from({ length: 12 }, (_, n) => [`call_${n}`, partOf(n)]);
const longBody = (api, more = {}) =>
  ({
    chat: {
      model: "gpt-5",
      messages: [
        { role: "user", content: TASK },
        ...LONG.flatMap(([id, content]) => [
          { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "read_part", arguments: "{}" } }] },
          { role: "tool", tool_call_id: id, content },
        ]),
      ],
      ...more,
    },
    responses: {
      model: "gpt-5",
      store: false,
      input: [
        { type: "message", role: "user", content: TASK },
        ...LONG.flatMap(([call_id, output]) => [
          { type: "function_call", call_id, name: "read_part", arguments: "{}" },
          { type: "function_call_output", call_id, output },
        ]),
      ],
      ...more,
    },
    messages: {
      model: "claude",
      max_tokens: 9,
      messages: [
        { role: "user", content: TASK },
        ...LONG.flatMap(([id, content]) => [
          { role: "assistant", content: [{ type: "tool_use", id, name: "read_part", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
        ]),
      ],
      ...more,
    },
    contents: {
      contents: [
        { role: "user", parts: [{ text: TASK }] },
        ...LONG.flatMap(([, output]) => [
          { role: "model", parts: [{ functionCall: { name: "read_part", args: {} } }] },
          { role: "user", parts: [{ functionResponse: { name: "read_part", response: { output } } }] },
        ]),
      ],
      ...more,
    },
  })[api];
const SHORT = {
  chat: { messages: [{ role: "user", content: "hi" }] },
  responses: { input: [{ role: "user", content: "hi" }] },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  contents: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

test("Proxy: what cannot be changed passes byte for byte, and the answer says why", async () => {
  const { post, sent, handler } = before(() => ({ text: "hi" }), { limits: { max_body_bytes: 200_000 } });
  const odd = `{"model":"gpt-5", "big":12345678901234567890, "x":1.0,\n"messages":[{"role":"user","content":"hi"}],"n":2}`;
  const cases = [
    ["several_answers", PATHS.chat, odd],
    ["unread", PATHS.chat, `{"model":"gpt-5","messages":"no list"}`],
    ["unread", PATHS.chat, `[1`],
    ["unread", PATHS.messages, new Uint8Array([0x7b, 0xff, 0x7d])],
    ["held", PATHS.responses, JSON.stringify({ model: "gpt-5", input: "hi", previous_response_id: "resp_1" })],
    ...[{ type: "item_reference", id: "fc_1" }, { id: "fc_1" }].map((reference) => [
      "held",
      PATHS.responses,
      JSON.stringify({ model: "gpt-5", input: [{ role: "user", content: "hi" }, reference, { type: "function_call_output", call_id: "c", output: "x" }] }),
    ]),
    [
      "tool_name_taken",
      PATHS.chat,
      JSON.stringify({
        model: "gpt-5",
        messages: [{ role: "user", content: "hi" }],
        tools: [{ type: "function", function: { name: "recall", parameters: {} } }],
      }),
    ],
    ["encoded", PATHS.chat, gzipSync(JSON.stringify(longBody("chat"))), { "content-encoding": "gzip" }],
    ["too_large", PATHS.chat, JSON.stringify(longBody("chat", { metadata: { pad: "x".repeat(200_000) } }))],
    ["requested", PATHS.messages, JSON.stringify(longBody("messages")), { "x-contextweaver-bypass": "1" }],
    ["internal", PATHS.messages, JSON.stringify({ model: "claude", messages: [null] })],
  ];
  for (const [reason, path, body, headers] of cases) {
    const received = [];
    const passing = before(async (_, { text }) => (received.push(text), { text: "hi" }), { limits: { max_body_bytes: 200_000 } });
    const raw = proxy({
      budget_tokens: BUDGET,
      token: false,
      limits: { max_body_bytes: 200_000 },
      fetch: async (request) => (received.push(Buffer.from(await request.arrayBuffer())), Response.json({ ok: true })),
    });
    const response = await raw(new Request(`${BASE}${path}`, { method: "POST", headers: { ...headers }, body }));
    assert.equal(statusOf(response), `bypassed; reason=${reason}`);
    assert.deepEqual(await response.json(), { ok: true });
    assert.deepEqual(received, [Buffer.from(body)], reason);
    assert.equal(raw.stats().bypassed[reason], 1);
    [raw, passing.handler].forEach((one) => one.free());
  }
  // Bytes that no rewriting would keep are kept in what is not the conversation, too.
  const schema = `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"title":"\\\\ud8001234567890123456"}`;
  const tools = `[{"type":"function","function":{"name":"read_part","parameters":{"type":"object","properties":{"part":${schema}}}}}]`;
  const text = JSON.stringify(longBody("chat")).replace(/^\{/, `{"big":12345678901234567890, "x":1.0,\n "seed" : 7e0 ,"tools":${tools},`);
  const response = await post(PATHS.chat, text);
  assert.match(statusOf(response), /^shortened/);
  const written = sent.at(-1).text;
  assert.ok(
    written.startsWith(`{"big":12345678901234567890, "x":1.0,\n "seed" : 7e0 ,"tools":${tools.slice(0, -1)},{"type":"function","function":{"name":"drilldown"`),
  );
  assert.ok(written.includes(`}],"model":"gpt-5","messages":[`));
  assert.ok(written.length < text.length / 2);
  await response.text();
  handler.free();
});

test("Proxy: other paths pass as they are, with their query and method", async () => {
  const { handler, sent } = before(() => ({}));
  for (const [method, path, host, headers] of [
    ["GET", "/v1/models?limit=3", "api.openai.com"],
    ["GET", "/v1/models?limit=3", "api.anthropic.com", { "x-api-key": "sk-ant-1" }],
    ["GET", "/v1/models", "api.openai.com", { authorization: "Bearer k", "x-api-key": "of a gateway" }],
    ["GET", "/v1/files", "api.anthropic.com", { "x-api-key": "sk-ant-1", "anthropic-beta": "files-api-2025-04-14" }],
    ["GET", "/api/organizations/o", "api.anthropic.com", { authorization: "Bearer sk-ant-oat-1", "anthropic-beta": "oauth-2025-04-20" }],
    ["POST", "/v1/embeddings", "api.openai.com"],
    ["DELETE", "/v1/files/file-1", "api.openai.com"],
    ["POST", "/v1/messages/batches", "api.anthropic.com"],
    ["POST", "/v1beta/models/gemini-3:streamGenerateContent", "generativelanguage.googleapis.com"],
    ["POST", "/v1beta/models/gemini-3:countTokens", "generativelanguage.googleapis.com"],
  ]) {
    const response = await handler(new Request(`${BASE}${path}`, { method, headers, ...(method === "POST" && { body: `{"a":1.0}` }) }));
    assert.equal(statusOf(response), "passed");
    await response.text();
    const { method: asked, path: at, search, host: to, text } = sent.at(-1);
    assert.deepEqual([asked, `${at}${search}`, to, text], [method, path, host, method === "POST" ? `{"a":1.0}` : ""]);
  }
  handler.free();
});

test("Proxy: calls of a Codex that is logged in with ChatGPT go where its plan pays for them, shortened as others are", async () => {
  const login = { authorization: "Bearer eyJ.of.a-login", "chatgpt-account-id": "acct_1" };
  for (const [upstreams, base] of [
    [{}, "chatgpt.com/backend-api/codex"],
    [{ openai: "https://gateway.example/api" }, "chatgpt.com/backend-api/codex"],
    [{ chatgpt: "http://127.0.0.1:9/plan/" }, "127.0.0.1:9/plan"],
  ]) {
    const { post, sent, handler } = before(() => ({ text: "fine" }), { upstreams });
    const response = await post(PATHS.responses, longBody("responses"), login);
    assert.match(statusOf(response), /^shortened/);
    await response.text();
    const models = await handler(new Request(`${BASE}/v1/models?client_version=1`, { headers: login }));
    await models.text();
    assert.deepEqual(
      sent.map(({ host, path, search, headers }) => [`${host}${path}${search}`, headers.authorization, headers["chatgpt-account-id"]]),
      ["responses", "models?client_version=1"].map((path) => [`${base}/${path}`, login.authorization, "acct_1"]),
    );
    // pi writes the folder of the plan where others have a version.
    const another = await post("/codex/responses", longBody("responses"), login);
    assert.match(statusOf(another), /^shortened/);
    await another.text();
    assert.equal(`${sent.at(-1).host}${sent.at(-1).path}`, `${base}/responses`);
    handler.free();
  }
  // A key goes to the API, and what another provider is asked stays there.
  const { post, sent, handler } = before(() => ({ text: "fine" }));
  await (await post(PATHS.responses, longBody("responses"))).text();
  await (await post(PATHS.messages, longBody("messages"), { ...login, "anthropic-version": "2023-06-01" })).text();
  assert.deepEqual(
    sent.map(({ host }) => host),
    ["api.openai.com", "api.anthropic.com"],
  );
  handler.free();
});

/** What a provider did not answer has saved nothing. */
function savesNothing(handler) {
  const { cost, cost_without } = handler.stats().costs;
  assert.ok(cost > 0 && Math.abs(cost_without - cost) < 0.01, `${cost} of ${cost_without}`);
}

test("Proxy: what the provider refuses of what was changed is tried once as it came, and never changed again", async () => {
  for (const api of Object.keys(PATHS)) {
    const refusal = { type: "error", error: { type: "invalid_request_error", message: "unknown tool" } };
    const isChanged = (body) => JSON.stringify(body.tools ?? []).includes("drilldown");
    const { post, sent, handler } = before((body) => (isChanged(body) ? Response.json(refusal, { status: 400 }) : { text: "fine" }));
    const text = JSON.stringify(longBody(api));
    for (const [count, headers] of [
      [2, {}],
      [3, {}],
    ]) {
      const response = await post(PATHS[api], text, headers);
      assert.deepEqual([response.status, statusOf(response)], [200, "bypassed; reason=refused"]);
      assert.match(await response.text(), /fine/);
      assert.equal(sent.length, count);
      assert.equal(sent.at(-1).text, text);
    }
    savesNothing(handler);
    handler.free();
    // What is refused as it came is the client's to hear of.
    const both = before(() => Response.json(refusal, { status: 400 }));
    const response = await both.post(PATHS[api], text);
    assert.deepEqual([response.status, await response.json(), both.sent.length], [400, refusal, 2]);
    // Nor is anything tried again that the proxy is no reason for.
    const busy = before(() => Response.json(refusal, { status: 429, headers: { "retry-after": "7" } }));
    const late = await busy.post(PATHS[api], text);
    assert.deepEqual([late.status, late.headers.get("retry-after"), busy.sent.length], [429, "7", 1]);
    await late.text();
    savesNothing(busy.handler);
    // Nor has a later round that failed, beside one that did not.
    const saved = [];
    for (const end of [{ text: "fine" }, Response.json(refusal, { status: 429 })]) {
      const looking = before(() => (looking.sent.length > 1 ? end : { calls: [{ id: "look", name: "drilldown", input: { handle: "none" } }] }));
      await (await looking.post(PATHS[api], { ...longBody(api), stream: true })).text();
      assert.equal(looking.sent.length, 2);
      const { cost, cost_without } = looking.handler.stats().costs;
      saved.push(cost_without - cost);
      looking.handler.free();
    }
    assert.ok(saved[1] > 0 && saved[1] < saved[0], `${saved}`);
    [both, busy].forEach(({ handler: one }) => one.free());
  }
});

test("Proxy: a provider that cannot be reached is an error that the SDKs read", async () => {
  const handler = proxy({ budget_tokens: BUDGET, token: false, fetch: () => Promise.reject(new TypeError("connect ECONNREFUSED sk-key")) });
  const fetch = (url, init) => handler(new Request(url, init));
  const failed = ({ status, message }) => (assert.equal(status, 502), assert.match(message, /cannot be reached/), assert.doesNotMatch(message, /sk-key/), true);
  await assert.rejects(new OpenAI({ apiKey: "k", baseURL: `${BASE}/v1`, fetch, maxRetries: 0 }).chat.completions.create(longBody("chat")), failed);
  await assert.rejects(new Anthropic({ apiKey: "k", baseURL: BASE, fetch, maxRetries: 0 }).messages.create(longBody("messages")), failed);
  handler.free();
});

/** The result of a call of the proxy's own. */
const LOOKED = /"look"|"functionResponse":\{"name":"drilldown"/;

for (const [api] of WAYS.filter(([, isStream]) => isStream)) {
  for (const isLong of [false, true]) {
    test(`Proxy, ${api}, ${isLong ? "shortened" : "whole"}: each piece of a stream passes before the next is there, and who goes ends it`, async () => {
      const body = isLong ? longBody(api) : { model: "gpt-5", ...SHORT[api] };
      const parts = eventsOf(PATHS[api], { text: "one two three four five" }, "id", "m", {});
      let given = 0;
      let isCancelled = false;
      const gates = parts.map(
        () =>
          Promise.withResolvers?.() ??
          (() => {
            let resolve;
            const promise = new Promise((done) => (resolve = done));
            return { promise, resolve };
          })(),
      );
      const { post, handler, sent } = before(
        () =>
          new Response(
            streamed(parts, {
              wait: async (at) => {
                await gates[at]?.promise;
                given = at;
              },
              cancelled: () => void (isCancelled = true),
            }),
            { headers: { "content-type": "text/event-stream" } },
          ),
      );
      const gone = new AbortController();
      const response = await post(PATHS[api], { ...body, stream: true }, {}, { signal: gone.signal });
      assert.match(statusOf(response), isLong ? /^shortened/ : /^whole/);
      const reader = response.body.getReader();
      const read = [];
      for (let at = 0; at < 4; at += 1) {
        gates[at].resolve();
        read.push(new TextDecoder().decode((await reader.read()).value));
      }
      assert.ok(given <= 4, "read ahead");
      assert.deepEqual(read, parts.slice(0, 4));
      assert.equal(handler.stats().conversations, 1);
      await reader.cancel();
      gates.forEach(({ resolve }) => resolve());
      await new Promise(setImmediate);
      assert.ok(isCancelled || sent[0].signal.aborted, "the provider goes on for nobody");
      handler.free();
    });
  }

  test(`Proxy, ${api}: a client that goes before anything comes ends the call at a provider that stalls`, async () => {
    const gone = new AbortController();
    const { post, handler } = before(() => undefined, {
      fetch: (request) =>
        new Promise((_, fail) => {
          request.signal.addEventListener("abort", () => fail(request.signal.reason));
          gone.abort();
        }),
    });
    assert.equal((await post(PATHS[api], longBody(api), {}, { signal: gone.signal })).status, 499);
    handler.free();
  });

  test(`Proxy, ${api}: a model that reads on and on is stopped, and the agent goes on`, async () => {
    let reads = 0;
    const { post, handler, sent } = before(
      (body) => {
        const [, handle] = /drilldown (artifact:result:\w+) /.exec(textsOf(listOf(body)).join("\n"));
        return { calls: [{ id: `own${(reads += 1)}`, name: "drilldown", input: { handle } }] };
      },
      { max_rounds: 3 },
    );
    const response = await post(PATHS[api], { ...longBody(api), stream: true });
    const text = await response.text();
    assert.equal(sent.length, 4);
    assert.match(JSON.stringify(listOf(sent[3].body).at(-1)), /Nothing more is read for this answer/);
    assert.ok(!text.includes("drilldown"));
    assert.doesNotMatch(text, /"(?:tool_calls|tool_use)"/);
    assert.match(
      text,
      {
        chat: /"finish_reason":"stop".*\[DONE\]/s,
        responses: /"status":"completed"/,
        messages: /"stop_reason":"end_turn".*message_stop/s,
        contents: /"finishReason":"STOP"/,
      }[api],
    );
    handler.free();
  });

  test(`Proxy, ${api}: a stream that breaks off, lies, or never ends an event passes as it came`, async () => {
    const parts = eventsOf(
      PATHS[api],
      { text: "one two three four five six", calls: [{ id: "c", name: "drilldown", input: { handle: "none" } }] },
      "id",
      "m",
      {},
    );
    const half = parts.slice(0, 4);
    const lies = [
      [...half, 'data: {"half'],
      ["data: no json\n\n", ": comment\n\n", "event: odd\ndata: [1,2]\n\n", 'data: {"choices":7,"output_index":"x","type":"content_block_delta"}\n\n'],
      [`data: ${"x".repeat(2 ** 24)}`, "y".repeat(100), "\n\n"],
    ];
    for (const said of lies) {
      const { post, handler } = before(() => new Response(streamed(said), { headers: { "content-type": "text/event-stream" } }));
      const response = await post(PATHS[api], { ...longBody(api), stream: true });
      assert.match(statusOf(response), /^shortened/);
      const text = await response.text();
      if (said === lies[1]) assert.ok(text.startsWith(said.slice(0, 3).join("")));
      else assert.ok(text === said.join(""), text.slice(0, 300));
      handler.free();
    }
    // Gemini's arguments are no text.
    if (api === "contents") return;
    // Arguments that are no JSON are answered as what they are.
    const torn = parts.map((part) => part.replaceAll(/(handle|"none\\?"|none)/g, "nil"));
    let round = 0;
    const { post, handler, sent } = before(() =>
      round++ === 0 ? new Response(streamed(torn), { headers: { "content-type": "text/event-stream" } }) : { text: "so be it" },
    );
    assert.match(await (await post(PATHS[api], { ...longBody(api), stream: true })).text(), /so be/);
    assert.equal(sent.length, 2);
    assert.match(JSON.stringify(listOf(sent[1].body).at(-1)), /handle|INVALID|MISSING/);
    handler.free();
  });

  test(`Proxy, ${api}: a round that fails is told in the stream, and the next try of the SDK goes on behind it`, async () => {
    for (const [broken, told] of [
      [Response.json({ error: { type: "overloaded_error", message: "busy now" } }, { status: 503 }), /busy now/],
      [new Response(null, { headers: { "content-type": "text/event-stream" } }), /the provider answered 502/],
    ]) {
      const script = longRun();
      let fails = 1;
      let isLooking = false;
      const next = (body) => {
        const last = JSON.stringify(listOf(body).at(-1));
        if (LOOKED.test(last) && fails-- > 0) return broken;
        const [, handle] = /drilldown (artifact:result:\w+) /.exec(textsOf(listOf(body)).join("\n")) ?? [];
        if (handle && !isLooking) return ((isLooking = true), { text: "Look:", calls: [{ id: "look", name: "drilldown", input: { handle } }], thinking: "hm" });
        return script();
      };
      const { handler, sent } = before(next);
      const failures = [];
      const agent = agentOf(api, true, { fetch: handler, tools, instructions: RUN_INSTRUCTIONS });
      let answer;
      while (answer === undefined) answer = await agent.ask(sent.length === 0 ? TASK : undefined).catch((error) => void failures.push(error.message));
      assert.equal(failures.length, 1);
      assert.match(failures[0], told);
      const looks = sent.filter(({ body }) => LOOKED.test(JSON.stringify(listOf(body).at(-1))));
      assert.equal(looks.length, 2);
      assert.equal(looks[0].text, looks[1].text);
      assert.ok(!JSON.stringify(agent.history).includes('"drilldown"'));
      handler.free();
    }
  });
}

test("Proxy: an answer that comes at once and is too large to be read passes", async () => {
  const huge = `{"content":[{"type":"text","text":"${"x".repeat(2 ** 25)}"}]}`;
  const { post, handler } = before(() => new Response(huge, { headers: { "content-type": "application/json" } }));
  const text = await (await post(PATHS.messages, longBody("messages"))).text();
  assert.equal(text.length, huge.length);
  handler.free();
});

test("Proxy: an answer that comes at once and breaks off is an error that the SDKs read", async () => {
  const broken = () =>
    new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(`{"content":[`)), pull: (controller) => controller.error(new Error("cut")) });
  const { handler, errors } = before(() => new Response(broken(), { headers: { "content-type": "application/json" } }));
  const fetch = (url, init) => handler(new Request(url, init));
  const client = new Anthropic({ apiKey: "k", baseURL: BASE, fetch, maxRetries: 0 });
  await assert.rejects(
    client.messages.create(longBody("messages")),
    ({ status, message }) => (assert.equal(status, 502), assert.match(message, /broke off/), true),
  );
  assert.equal(errors.length, 1);
  // What passes as it comes breaks off as it does.
  await assert.rejects(client.messages.create({ model: "m", ...SHORT.messages }));
  handler.free();
});

test("Proxy: two hundred megabytes of a provider pass piece by piece, as events and as one that never ends", async () => {
  const piece = Buffer.from("x".repeat(2 ** 20));
  for (const [name, body, pieces] of [
    ["one event", SHORT.chat, Array.from({ length: 200 }, () => piece)],
    ["many events", SHORT.chat, Array.from({ length: 200 }, () => Buffer.concat([Buffer.from("data: "), piece, Buffer.from("\n\n")]))],
    ["one event, shortened", longBody("chat"), Array.from({ length: 200 }, () => piece)],
  ]) {
    let [given, taken, ahead] = [0, 0, 0];
    const stream = new ReadableStream({
      pull(controller) {
        if (given === pieces.length) controller.close();
        else controller.enqueue(pieces[given++]);
        ahead = Math.max(ahead, given * piece.length - taken);
      },
    });
    const { post, handler } = before(() => new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    for await (const part of (await post(PATHS.chat, { model: "m", stream: true, ...body })).body) taken += part.length;
    assert.equal(
      taken,
      pieces.reduce((sum, { length }) => sum + length, 0),
      name,
    );
    // An event is waited for up to 16 Mi units; what is beyond passes.
    assert.ok(ahead < 2 ** 25, `${name}: ${ahead} bytes were held`);
    handler.free();
  }
});
