// The marks of Anthropic's cache in chat completions, for whoever serves its models behind OpenAI's API, before a cache that works as the
// provider's documentation says.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { AnthropicCache } from "./anthropic-cache.mjs";
import { project } from "./harness.mjs";

const folder = await project("chat-marks", { "entry.mjs": `export * from "contextweaver/openai";` });
const { contextWeaver } = await import(pathToFileURL(join(folder, "entry.mjs")));

const CLAUDE = "anthropic/claude-sonnet-4.5";
const OTHERS = ["gpt-5", "openai/gpt-5", "deepseek/deepseek-v3.2", "google/gemini-2.5-pro"];
const STEPS = 6;
const look = {
  type: "function",
  function: { name: "look", description: "Look it up", parameters: { type: "object", properties: { at: { type: "string" } } } },
};

/** What a gateway makes of a call for the provider: a block for each part, call and result, with the mark that it bears. */
function requestOf({ model, messages, tools = [] }) {
  const partsOf = ({ role, content, tool_calls: calls = [], cache_control, ...rest }) => {
    const mark = cache_control && { cache_control };
    if (role === "tool") return [{ type: "tool_result", content, ...rest, ...mark }];
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
    return [...parts, ...calls.map((call) => ({ type: "tool_use", call }))].map((part, at, all) => (at === all.length - 1 ? { ...part, ...mark } : part));
  };
  const above = messages.findLastIndex(({ role }) => role === "system") + 1;
  const role = (message) => (message.role === "assistant" ? "assistant" : "user");
  return {
    model,
    tools,
    system: messages.slice(0, above).flatMap(partsOf),
    messages: messages.slice(above).map((message) => ({ role: role(message), content: partsOf(message) })),
  };
}

const marksOf = (sent) => [...JSON.stringify(sent).matchAll(/"cache_control":(\{.*?\})/g)].map(([, mark]) => JSON.parse(mark));

/** Plays a loop of steps with some calls each; returns the params that were sent. */
function play({ model = CLAUDE, calls = 3, options, change = (params) => params } = {}) {
  const cw = contextWeaver({ budget_tokens: 200_000, tools: [look], ...options });
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Plan it." },
  ];
  const sent = [];
  for (let step = 0; step < STEPS; step += 1) {
    const before = JSON.stringify(messages);
    sent.push(cw.fit(change({ model, messages, tools: cw.tools }, step)));
    assert.equal(JSON.stringify(messages), before, "what was given is as it was");
    const tool_calls = Array.from({ length: calls }, (_, n) => ({
      id: `c${step}_${n}`,
      type: "function",
      function: { name: "look", arguments: `{"at":"${n}"}` },
    }));
    messages.push({ role: "assistant", content: step % 2 === 0 ? null : `thinking of ${step}`, tool_calls });
    messages.push(...tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `row of ${id}` })));
  }
  cw.free();
  return sent;
}

for (const calls of [1, 3, 30]) {
  test(`chat completions with ${calls} calls a step: each call of Anthropic's models reads all that the call before has written`, () => {
    const cache = new AnthropicCache();
    let before;
    for (const [step, params] of play({ calls }).entries()) {
      assert.ok(marksOf(params).length <= 4);
      const { blocks, read, written } = cache.send(requestOf(params));
      assert.ok(written.includes(blocks - 1), `the end of call ${step} is not written`);
      // The tools for results come with the first result, and make the whole prompt new.
      if (step > 1) assert.ok(read >= before, `call ${step} reads ${read} of ${before}`);
      before = blocks;
    }
  });
}

test("chat completions: marks stand where gateways read them, and take nothing else", () => {
  const sent = play();
  const { messages } = sent[2];
  assert.deepEqual(messages[0], { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] });
  assert.deepEqual(messages.at(-1), { role: "tool", tool_call_id: "c1_2", content: "row of c1_2", cache_control: { type: "ephemeral" } });
  for (const { role, content, cache_control } of messages.filter(({ role }) => role === "assistant")) {
    assert.equal(marksOf({ content, cache_control }).length, 0, `${role}: none at an answer`);
  }
  const plain = play({ options: { cache: false } });
  assert.equal(marksOf(plain).length, 0);
  const bare = (params) => requestOf(JSON.parse(JSON.stringify(params, (key, value) => (key === "cache_control" ? undefined : value))));
  assert.deepEqual(sent.map(bare), plain.map(bare));
});

test("chat completions: models of others are not marked, and the option is true or false", () => {
  for (const model of OTHERS) assert.equal(marksOf(play({ model })).length, 0, model);
  assert.throws(
    () => contextWeaver({ budget_tokens: 4_000, tools: [], cache: "yes" }),
    ({ code, path }) => (assert.deepEqual([code, path], ["INVALID_INPUT", "/cache"]), true),
  );
});

test("chat completions: marks of the caller count, and what is kept for an hour comes first", () => {
  const ephemeral = { type: "ephemeral" };
  const withMarks = (mark) => (params) => ({
    ...params,
    messages: params.messages.map((message, at) =>
      at < 2 ? { ...message, content: [{ type: "text", text: message.content, cache_control: mark }] } : message,
    ),
  });
  for (const params of play({ change: withMarks(ephemeral) })) {
    assert.ok(marksOf(params).length <= 4);
    assert.deepEqual(params.messages[1].content[0].cache_control, ephemeral);
    assert.equal(marksOf(params.messages.at(-1)).length, 1, "the end is marked");
  }
  for (const params of play({ change: withMarks({ ...ephemeral, ttl: "1h" }) })) {
    const ttls = marksOf(params.messages).map(({ ttl = "5m" }) => ttl);
    assert.deepEqual(ttls, [...ttls].sort(), "no hour behind five minutes");
  }
  // OpenRouter marks the end itself where the call is marked.
  for (const params of play({ change: (params) => ({ ...params, cache_control: ephemeral }) })) {
    assert.deepEqual(params.cache_control, ephemeral);
    assert.ok(marksOf(params.messages).length <= 3);
    assert.equal(marksOf(params.messages.at(-1)).length, 0, "its end is the gateway's");
  }
});
