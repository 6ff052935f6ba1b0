// The marks of Anthropic's cache in what the AI SDK sends, before a cache that works as the provider's documentation says.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { HOW, SDKS, call, modelOf, said } from "./ai-sdk-models.mjs";
import { AnthropicCache } from "./anthropic-cache.mjs";
import { project } from "./harness.mjs";

const folder = await project("ai-sdk-cache", { "entry.mjs": `export * from "contextweaver/ai-sdk";` });
const { contextWeaver } = await import(pathToFileURL(join(folder, "entry.mjs")));

const OPTIONS = { budget_tokens: 200_000 };
const CLAUDE = ["anthropic.messages", "m"];
/** Claude as gateways and clouds serve it: whose provider it is, and its name. */
const SERVED = [
  ["googleVertex.anthropic.messages", "claude-sonnet-4-5@20250929"],
  ["gateway", "anthropic/claude-sonnet-4.5"],
  ["openrouter", "anthropic/claude-sonnet-4.5"],
  ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
];
const OTHERS = [
  ["openai.responses", "gpt-5"],
  ["gateway", "openai/gpt-5"],
  ["amazon-bedrock", "amazon.nova-pro-v1:0"],
];
const STEPS = 5;

/** What the provider of the SDK makes of a call, as far as the cache sees it: a block for each part, with the mark of its options. */
function requestOf({ tools = [], prompt }) {
  const block = ({ providerOptions, ...part }) => {
    const { cacheControl = providerOptions?.bedrock?.cachePoint, ...anthropic } = providerOptions?.anthropic ?? {};
    const type = { "tool-call": "tool_use", "tool-result": "tool_result", reasoning: "thinking" }[part.type] ?? part.type ?? "text";
    return { ...part, type, anthropic, ...(cacheControl && { cache_control: cacheControl }) };
  };
  const above = prompt.findLastIndex(({ role }) => role === "system") + 1;
  // The options of a message are those of its last part.
  const last = ({ content, providerOptions }) =>
    content.map((part, at) => (at === content.length - 1 ? { ...part, providerOptions: part.providerOptions ?? providerOptions } : part));
  const messages = prompt.slice(above).map((message) => ({ role: message.role, content: last(message).map(block) }));
  return { model: "m", tools: tools.map(block), system: prompt.slice(0, above).map(block), messages };
}

const bare = (request) => JSON.parse(JSON.stringify(request, (key, value) => (key === "cache_control" ? undefined : value)));
const marksOf = (request) => JSON.stringify(request).split("cache_control").length - 1;

for (const [version, sdk] of Object.entries(SDKS)) {
  for (const [name, run] of Object.entries(HOW)) {
    /** Runs steps of 30 calls each; returns what the model was sent. */
    const sentBy = async ([provider, modelId], form, options, more) => {
      const asked = [];
      const ids = (step) => Array.from({ length: 30 }, (_, n) => `c${step}_${n}`);
      const model = modelOf(sdk, (params) => {
        asked.push(requestOf(params));
        return said(
          asked.length < STEPS
            ? [{ type: "reasoning", text: `thinking of ${asked.length}` }, ...ids(asked.length).map((id) => call(id, "look", { at: id }))]
            : [{ type: "text", text: "done" }],
        );
      });
      Object.assign(model, { provider, modelId });
      const tools = { look: sdk.tool({ description: "Look it up", inputSchema: z.object({ at: z.string() }), execute: async ({ at }) => `row of ${at}` }) };
      const settings = { stopWhen: sdk.stop(STEPS), [sdk.system]: "Be brief.", prompt: "Plan it.", ...more };
      const cw = contextWeaver({ ...OPTIONS, ...options, ...(form === "prepareStep" && { tools }) });
      if (form === "prepareStep") await run(sdk, { ...settings, model, tools: cw.tools, prepareStep: cw.prepareStep });
      else await run(sdk, { ...settings, model: sdk.wrapLanguageModel({ model, middleware: cw }), tools });
      cw.free();
      assert.equal(asked.length, STEPS);
      return asked;
    };

    for (const form of ["prepareStep", "a middleware"]) {
      test(`AI SDK ${version}, ${name}, ${form}: each call of Anthropic's models reads all that the call before has written`, async () => {
        const plain = await sentBy(CLAUDE, form, { cache: false });
        assert.equal(plain.map(marksOf).join(), "0,0,0,0,0");
        // Whoever serves it is asked by one way alone.
        for (const model of name === Object.keys(HOW)[0] ? [CLAUDE, ...SERVED] : [CLAUDE]) {
          const sent = await sentBy(model, form);
          assert.deepEqual(sent.map(bare), plain.map(bare));
          const cache = new AnthropicCache();
          let before;
          for (const [step, request] of sent.entries()) {
            assert.ok(marksOf(request) <= 4);
            const { blocks, read, written } = cache.send(request);
            assert.ok(written.includes(blocks - 1), `${model}: the end of call ${step} is not written`);
            // The tools for results come with the first result, and make the whole prompt new.
            if (step > 1) assert.ok(read >= before, `${model}: call ${step} reads ${read} of ${before}`);
            before = blocks;
          }
        }
        for (const model of OTHERS) assert.equal(marksOf(await sentBy(model, form)), 0);
      });
    }

    test(`AI SDK ${version}, ${name}, prepareStep: instructions keep what the caller marks, in every step`, async () => {
      const cacheControl = { type: "ephemeral", ttl: "1h" };
      const instructions = { role: "system", content: "Be brief.", providerOptions: { anthropic: { cacheControl, other: 1 } } };
      for (const model of [CLAUDE, OTHERS[0]]) {
        for (const request of await sentBy(model, "prepareStep", {}, { [sdk.system]: instructions })) {
          assert.deepEqual(request.system, [{ role: "system", content: "Be brief.", type: "text", anthropic: { other: 1 }, cache_control: cacheControl }]);
          assert.ok(marksOf(request) <= 4, `${marksOf(request)} marks`);
        }
      }
    });
  }

  test(`AI SDK ${version}: marks of the caller count, and the option is true or false`, async () => {
    const asked = [];
    const model = modelOf(sdk, (params) => (asked.push(requestOf(params)), said([{ type: "text", text: "done" }])));
    Object.assign(model, { provider: "gateway", modelId: "anthropic/claude-sonnet-4.5" });
    const middleware = contextWeaver(OPTIONS);
    const marked = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } };
    const messages = [0, 1, 2].flatMap((n) => [
      { role: "user", content: [{ type: "text", text: `question ${n}`, providerOptions: marked }] },
      { role: "assistant", content: `answer ${n}` },
    ]);
    await sdk.generateText({ model: sdk.wrapLanguageModel({ model, middleware }), messages: [...messages, { role: "user", content: "And now?" }] });
    assert.equal(marksOf(asked[0]), 4);
    assert.deepEqual(asked[0].messages.at(-1).content.at(-1).cache_control, { type: "ephemeral" });
    // The gateway sets one of its own where it is asked to.
    const ask = { messages: [...messages, { role: "user", content: "And now?" }], providerOptions: { gateway: { caching: "auto" } } };
    await sdk.generateText({ model: sdk.wrapLanguageModel({ model, middleware }), ...ask });
    assert.equal(marksOf(asked[1]), 3);
    // What is kept for an hour must come first: the provider refuses it behind what is kept for less.
    const long = [
      ...messages.map(({ role, content }) => ({ role, content: typeof content === "string" ? content : content.map(({ type, text }) => ({ type, text })) })),
      messages[0],
    ];
    await sdk.generateText({ model: sdk.wrapLanguageModel({ model, middleware }), messages: long });
    const ttls = [...JSON.stringify(asked[2]).matchAll(/"cache_control":(\{.*?\})/g)].map(([, mark]) => JSON.parse(mark).ttl ?? "5m");
    assert.ok(ttls.length > 1 && ttls.every((ttl) => ttl === "1h"), ttls.join());
    middleware.free();
    for (const options of [OPTIONS, { ...OPTIONS, tools: {} }])
      assert.throws(
        () => contextWeaver({ ...options, cache: 1 }),
        ({ code, path }) => (assert.deepEqual([code, path], ["INVALID_INPUT", "/cache"]), true),
      );
  });
}
