// Marks for a provider's cache that clients move on from call to call, as those of OpenRouter and of the AI SDK do: a message is no other
// with one. What is sent goes on with what was sent before, and bears the marks of now.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { SDKS, modelOf, said } from "./ai-sdk-models.mjs";
import { bareMessage } from "./bare-message.mjs";
import { project } from "./harness.mjs";

const folder = await project("moving-marks", {
  "entry.mjs": `export { proxy } from "contextweaver/proxy"; export { contextWeaver as openai } from "contextweaver/openai"; export { contextWeaver as aiSdk } from "contextweaver/ai-sdk";`,
});
const entries = await import(pathToFileURL(join(folder, "entry.mjs")));

const MODEL = "anthropic/claude-sonnet-4.5";
const MARK = { cache_control: { type: "ephemeral" } };
const STEPS = 24;
const BUDGET = 6_000;
const rows = (step) => Array.from({ length: 40 }, (_, row) => `row ${row} of step ${step}: ${(row * 7919 + step * 104_729) % 100_003}`).join("\n");

/** A conversation of chat completions up to a step, with the instructions and the newest message marked as OpenRouter takes it. */
function chat(step, form) {
  const messages = [{ role: "user", content: [{ type: "text", text: "Read the rows of each step." }] }];
  for (let n = 1; n < step; n += 1) {
    const call = { id: `call_${n}`, type: "function", function: { name: "rows", arguments: JSON.stringify({ n }) } };
    messages.push({ role: "assistant", content: null, tool_calls: [call] }, { role: "tool", tool_call_id: call.id, content: rows(n) });
  }
  if (form === "of none") return [{ role: "system", content: "Be exact." }, ...messages];
  const last = messages.at(-1);
  const text = typeof last.content === "string" ? last.content : last.content[0].text;
  const isPart = form === "of parts" || last.role === "user";
  messages[messages.length - 1] = isPart ? { ...last, content: [{ type: "text", text, ...MARK }] } : { ...last, ...MARK };
  return [{ role: "system", content: [{ type: "text", text: "Be exact.", ...MARK }] }, ...messages];
}

const TOOL = { type: "function", function: { name: "rows", description: "Reads rows", parameters: { type: "object", properties: { n: { type: "number" } } } } };

/** Plays calls; each road returns the messages that were sent, for each call. */
const ROADS = {
  async proxy(form) {
    const sent = [];
    const fetch = async (request, init) => {
      sent.push(JSON.parse(await new Response(init?.body ?? request.body).text()).messages);
      const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];
      return Response.json({
        id: "x",
        object: "chat.completion",
        created: 1,
        model: MODEL,
        choices,
        usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
      });
    };
    const handler = entries.proxy({ budget_tokens: BUDGET, token: false, fetch });
    for (let step = 1; step <= STEPS; step += 1) {
      const body = JSON.stringify({ model: MODEL, messages: chat(step, form), tools: [TOOL] });
      const headers = { "content-type": "application/json", authorization: "Bearer none" };
      await (await handler(new Request("http://localhost/v1/chat/completions", { method: "POST", headers, body }))).text();
    }
    handler.free();
    return sent;
  },
  async openai(form) {
    const cw = entries.openai({ tools: [TOOL], budget_tokens: BUDGET });
    const sent = Array.from({ length: STEPS }, (_, at) => cw.fit({ model: MODEL, messages: chat(at + 1, form) }).messages);
    cw.free();
    return sent;
  },
};

const marked = (messages) => messages.flatMap((message, at) => (JSON.stringify(message).includes("cache_control") ? [at] : []));

for (const [road, play] of Object.entries(ROADS)) {
  for (const form of ["of parts", "of messages"]) {
    test(`${road}: marks ${form} that move on are no edit`, async () => {
      const sent = await play(form);
      assert.equal(sent.length, STEPS);
      let rewritten = 0;
      for (const [at, messages] of sent.entries()) {
        const places = marked(messages);
        const own = [0, messages.length - 1];
        // Others are added, as far as a call takes them.
        assert.deepEqual([...new Set([...places, ...own])].sort(), [...places].sort(), `call ${at + 1}`);
        assert.ok(places.length <= 4, `call ${at + 1}`);
        const before = (sent[at - 1] ?? []).map(bareMessage);
        rewritten += messages.map(bareMessage).slice(0, before.length).join("\n") === before.join("\n") ? 0 : 1;
      }
      assert.ok(rewritten >= 1 && rewritten <= 4, `${rewritten} of ${STEPS} prompts were made anew`);
      assert.ok(
        JSON.stringify(sent.at(-1)).includes(
          rows(STEPS - 1)
            .slice(-60)
            .replaceAll("\n", "\\n"),
        ),
        "the newest result is whole",
      );
    });
  }
}

for (const [version, sdk] of Object.entries(SDKS)) {
  test(`AI SDK ${version}: marks of the caller that move on are no edit`, async () => {
    const asked = [];
    const model = modelOf(sdk, ({ prompt }) => (asked.push(prompt), said([{ type: "text", text: `Noted ${asked.length}.` }])));
    Object.assign(model, { provider: "openrouter", modelId: MODEL });
    const cw = entries.aiSdk({ budget_tokens: BUDGET });
    const wrapped = sdk.wrapLanguageModel({ model, middleware: cw });
    const history = [];
    const cuts = [];
    const providerOptions = { openrouter: { cacheControl: { type: "ephemeral" } } };
    for (let turn = 1; turn <= STEPS; turn += 1) {
      const question = { role: "user", content: [{ type: "text", text: rows(turn) }] };
      await sdk.generateText({ model: wrapped, messages: [...history, { ...question, providerOptions }] });
      cuts.push(cw.report().last.step.cut);
      history.push(question, { role: "assistant", content: [{ type: "text", text: `Noted ${turn}.` }] });
      const marks = JSON.stringify(asked.at(-1)).split("cacheControl").length - 1;
      assert.ok(marks >= 1 && marks <= 4, `${marks} marks in turn ${turn}`);
      assert.deepEqual(asked.at(-1).at(-1).providerOptions, providerOptions);
    }
    assert.ok(!cuts.includes("edited") && cuts.filter((cut) => cut !== undefined).length <= 4, cuts.join());
    cw.free();
  });
}

test("a mark stays at its own message of several with instructions, and goes to the last one where these are written as one", async () => {
  const { CHAT_MARKS, takeMarks } = await import(pathToFileURL(join(folder, "node_modules/contextweaver/dist/adapters/moving-marks.js")));
  const rules = (mark) => ({ role: "system", content: [{ type: "text", text: "Be exact.", ...mark }] });
  const clock = { role: "system", content: "It is 10:42." };
  const { messages, putBack } = takeMarks([rules(MARK), clock, { role: "user", content: "hi" }], CHAT_MARKS);
  assert.deepEqual(messages[0], rules());
  assert.deepEqual(putBack(messages), [rules(MARK), clock, messages[2]]);
  const one = { role: "system", content: "Be exact.\n\nIt is 10:42." };
  assert.deepEqual(putBack([one, messages[2]])[0].content, [{ type: "text", text: one.content, ...MARK }]);
});

test("proxy: a client that marks nothing is marked above the budget, and below it nothing is touched", async () => {
  const sent = await ROADS.proxy("of none");
  const cut = sent.findIndex((messages) => JSON.stringify(messages).includes("LEFT OUT"));
  assert.ok(cut > 1 && cut < STEPS - 1, `first cut in call ${cut + 1}`);
  for (const [at, messages] of sent.entries()) {
    const places = marked(messages);
    if (at < cut - 1) assert.deepEqual(messages, chat(at + 1, "of none"));
    if (at >= cut) assert.ok(places.includes(messages.length - 1) && places.length <= 4, `call ${at + 1}: ${places}`);
  }
});
