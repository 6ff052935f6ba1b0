// The key by which OpenAI finds the cache of a conversation, in what the adapters send.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, Runner, Usage } from "@openai/agents";
import { HOW, SDKS, said } from "./ai-sdk-models.mjs";
import { project } from "./harness.mjs";

const entries = ["openai", "openai-agents", "ai-sdk"];
const folder = await project("cache-key", Object.fromEntries(entries.map((name) => [`${name}.mjs`, `export * from "contextweaver/${name}";`])));
const [openai, agents, aiSdk] = await Promise.all(entries.map((name) => import(pathToFileURL(join(folder, `${name}.mjs`)))));

const OPTIONS = { budget_tokens: 8_000 };
const refuses = (run) => assert.throws(run, ({ code, path }) => (assert.deepEqual([code, path], ["INVALID_INPUT", "/cache_key"]), true));

for (const [field, first] of [
  ["messages", [{ role: "system", content: "Be brief." }]],
  ["input", []],
]) {
  test(`Cache key, ${field} of OpenAI's SDK: the same in all calls of a conversation, another in another`, () => {
    const conversation = (question, options) => {
      const cw = openai.contextWeaver({ tools: [], ...OPTIONS, ...options });
      const list = [...first, { role: "user", content: question }];
      const fit = (more) => cw.fit({ model: "gpt-5", [field]: list, ...(field === "input" && { instructions: "Be brief." }), ...more });
      const keys = [fit().prompt_cache_key];
      list.push({ role: "assistant", content: "yes" }, { role: "user", content: "And now?" });
      keys.push(fit().prompt_cache_key);
      // What was said first may be edited: it is the same conversation.
      list[first.length] = { role: "user", content: `${question} Please.` };
      keys.push(fit().prompt_cache_key);
      const sent = { own: fit({ prompt_cache_key: "mine" }), other: fit({ model: "llama-4" }), open: fit({ model: "openai/gpt-oss-120b" }) };
      cw.free();
      assert.equal(new Set(keys).size, 1);
      return { key: keys[0], ...sent };
    };
    const one = conversation("Where is the parcel?");
    assert.match(one.key, /^contextweaver-[0-9a-f]{16}$/);
    assert.ok(one.key.length <= 64);
    assert.equal(conversation("Where is the parcel?").key, one.key);
    assert.notEqual(conversation("Where is the letter?").key, one.key);
    assert.equal(one.own.prompt_cache_key, "mine");
    // Others who speak the language of OpenAI's API may refuse it.
    assert.ok(!("prompt_cache_key" in one.other) && !("prompt_cache_key" in one.open));
    const always = conversation("Where is the parcel?", { cache_key: true });
    assert.deepEqual([always.key, always.other.prompt_cache_key], [one.key, one.key]);
    assert.equal(conversation("Where is the parcel?", { cache_key: "tenant-7" }).key, "tenant-7");
    const never = conversation("Where is the parcel?", { cache_key: false });
    assert.deepEqual([never.key, never.own.prompt_cache_key], [undefined, "mine"]);
    for (const cache_key of ["", "k".repeat(65), 7, null]) refuses(() => openai.contextWeaver({ tools: [], ...OPTIONS, cache_key }));
  });
}

test("Cache key, OpenAI's Agents SDK: beside the settings of the provider, where the model is OpenAI's", async () => {
  const asked = [];
  const model = {
    getResponse: async ({ modelSettings }) => (
      asked.push(modelSettings),
      {
        usage: new Usage({ requests: 1 }),
        output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "yes" }] }],
      }
    ),
  };
  const runs = async (name, options, modelSettings) => {
    const cw = agents.contextWeaver({ ...OPTIONS, ...options });
    const runner = new Runner({ modelProvider: cw.serve({ getModel: () => model }), tracingDisabled: true });
    const agent = new Agent({ name: "friend", instructions: "Be brief.", model: name, tools: cw.tools([]), ...(modelSettings && { modelSettings }) });
    const { history } = await runner.run(agent, "Where is the parcel?");
    await runner.run(agent, [...history, { role: "user", content: "And now?" }]);
    cw.free();
    return asked.splice(0).map(({ providerData }) => providerData);
  };
  const [first, second] = await runs("gpt-5");
  assert.match(first.prompt_cache_key, /^contextweaver-/);
  assert.deepEqual(second, first);
  assert.deepEqual(await runs("gpt-5", {}, { providerData: { prompt_cache_key: "mine", user: "u" } }), Array(2).fill({ prompt_cache_key: "mine", user: "u" }));
  assert.deepEqual(await runs("gpt-5", {}, { providerData: { user: "u" } }), Array(2).fill({ ...first, user: "u" }));
  assert.ok((await runs("llama-4")).every((data) => data?.prompt_cache_key === undefined));
  assert.deepEqual(await runs("llama-4", { cache_key: "k" }), Array(2).fill({ prompt_cache_key: "k" }));
  refuses(() => agents.contextWeaver({ ...OPTIONS, cache_key: 7 }));
});

for (const [version, sdk] of Object.entries(SDKS)) {
  for (const [name, run] of Object.entries(HOW)) {
    test(`Cache key, AI SDK ${version}, ${name}: a middleware sets it for OpenAI's models, prepareStep where it is asked to`, async () => {
      const answer = said([{ type: "text", text: "yes" }]);
      const stream = async () => ({
        stream: sdk.convertArrayToReadableStream([
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "0" },
          { type: "text-delta", id: "0", delta: "yes" },
          { type: "text-end", id: "0" },
          { type: "finish", finishReason: answer.finishReason, usage: answer.usage },
        ]),
      });
      const optionsOf = async (provider, { middleware, prepareStep, ...settings } = {}) => {
        const asked = [];
        const model = new sdk.Model({
          provider,
          doGenerate: async (params) => (asked.push(params), answer),
          doStream: async (params) => (asked.push(params), stream()),
        });
        await run(sdk, {
          model: middleware ? sdk.wrapLanguageModel({ model, middleware }) : model,
          prompt: "Where is the parcel?",
          ...(prepareStep && { prepareStep }),
          ...settings,
        });
        return asked[0].providerOptions?.openai;
      };
      const middleware = aiSdk.contextWeaver(OPTIONS);
      const key = (await optionsOf("openai.responses", { middleware }))?.promptCacheKey;
      assert.match(key, /^contextweaver-/);
      assert.deepEqual(await optionsOf("openai.chat", { middleware, providerOptions: { openai: { user: "u" } } }), { promptCacheKey: key, user: "u" });
      assert.deepEqual(await optionsOf("openai.chat", { middleware, providerOptions: { openai: { promptCacheKey: "mine" } } }), { promptCacheKey: "mine" });
      assert.equal(await optionsOf("groq.chat", { middleware }), undefined);
      middleware.free();
      const off = aiSdk.contextWeaver({ ...OPTIONS, cache_key: false });
      assert.equal(await optionsOf("openai.responses", { middleware: off }), undefined);
      off.free();
      for (const [cache_key, expected] of [
        [undefined, undefined],
        [true, { promptCacheKey: key }],
        ["k", { promptCacheKey: "k" }],
      ]) {
        const { prepareStep, free } = aiSdk.contextWeaver({ ...OPTIONS, tools: {}, ...(cache_key !== undefined && { cache_key }) });
        const sent = await optionsOf("openai.responses", { prepareStep });
        if (cache_key === true) assert.match(sent.promptCacheKey, /^contextweaver-/);
        else assert.deepEqual(sent, expected);
        free();
      }
      refuses(() => aiSdk.contextWeaver({ ...OPTIONS, cache_key: 7 }));
      refuses(() => aiSdk.contextWeaver({ ...OPTIONS, tools: {}, cache_key: 7 }));
    });
  }
}
