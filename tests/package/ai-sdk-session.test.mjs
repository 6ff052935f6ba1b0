// A long session of an agent in the SDK's own loop, by what the model really gets: each call is the one before and what is new,
// it costs no more than without, and what the agent has just asked for stands there.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { textsOf } from "./agent-session.mjs";
import { SDKS, USAGE, call, modelOf, said } from "./ai-sdk-models.mjs";
import { project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";
import { random } from "./random-logs.mjs";

const folder = await project("ai-sdk-session", { "entry.mjs": `export * from "contextweaver/ai-sdk"; export { countTokens } from "contextweaver";` });
const { contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

const STEPS = 40;
const TASK = "Find out why the nightly import drops orders, and mend it. Tell me what was wrong. Do not touch the ledger.";
const NOUNS = "order batch carrier ledger window queue voucher parcel refund depot letter account shelf harbour invoice basket".split(" ");
const VERBS = "load parse check store drop merge split count send lock free mark".split(" ");

/** Files of 1,000 to 6,000 tokens, none like another, and each with a word that no other has. */
const FILES = (() => {
  const draw = random(40);
  return Array.from({ length: STEPS }, (_, n) => {
    const most = 1_000 + draw.below(5_000);
    const lines = [`// import/part_${n}.js, checked by ${MARK(n)}`];
    for (let tokens = 0; tokens < most - 60; tokens += countTokens(lines.at(-1))) {
      const [verb, noun, other] = [draw.pick(VERBS), draw.pick(NOUNS), draw.pick(NOUNS)];
      lines.push(
        draw.pick([
          `  const ${noun}${draw.below(1e5)} = await ${verb}(${other}, ${draw.below(1e4)}); // see ${noun} ${draw.below(1e6)}`,
          `  if (${noun}.${verb}ed > ${draw.below(1e5)}) throw new Error("the ${noun} of ${other} ${draw.below(1e5)} was not ${verb}ed");`,
          `function ${verb}${draw.below(1e5)}(${noun}, ${other}) { return ${noun}.${verb}(${other}.${draw.pick(NOUNS)}, ${draw.below(1e5)}); }`,
        ]),
      );
    }
    return lines.join("\n");
  });
})();
function MARK(n) {
  return `reviewer-${(n * 7919) % 10007}`;
}
const SIZES = FILES.map((file) => countTokens(file));

const plain = (value) => JSON.parse(JSON.stringify(value));
const without = (prompt) => plain(prompt.map(({ providerOptions: _, ...message }) => message));
const tokensOf = (value) => textsOf(value, ["providerOptions"]).reduce((sum, text) => sum + countTokens(text), 0);

/** A model that reads one file after the other, and what it was sent. */
function reader(sdk) {
  const sent = [];
  const model = modelOf(sdk, ({ prompt, tools = [] }) => {
    const at = sent.length;
    const definitions = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    sent.push({ prompt: without(prompt), tools: plain(definitions) });
    const total = tokensOf(prompt) + countTokens(JSON.stringify(definitions)) + 4 * prompt.length;
    const answer = said(
      at < STEPS
        ? [{ type: "text", text: `I read part ${at} next.` }, call(`c${at}`, "read_file", { path: `import/part_${at}.js` })]
        : [{ type: "text", text: "It was the window." }],
    );
    return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total } } };
  });
  return { model, sent };
}

const toolsOf = (sdk) => ({
  read_file: sdk.tool({
    description: "Read a file of the project",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => FILES[Number(/\d+/.exec(path)[0])],
  }),
  write_file: sdk.tool({
    description: "Write a file of the project",
    inputSchema: z.object({ path: z.string(), text: z.string() }),
    execute: async () => "written",
  }),
});

/** The two ways into the SDK's loop. */
const WAYS = {
  prepareStep: async (sdk, model, settings, options) => {
    const cw = contextWeaver({ tools: settings.tools, ...options });
    await sdk.generateText({ ...settings, model, tools: cw.tools, prepareStep: cw.prepareStep });
    return cw;
  },
  middleware: async (sdk, model, settings, options) => {
    const cw = contextWeaver(options);
    await sdk.generateText({ ...settings, model: sdk.wrapLanguageModel({ model, middleware: cw }) });
    return cw;
  },
};

/** How many messages two calls begin with alike; none where their tools differ. */
function repeated(before, after) {
  if (before === undefined || JSON.stringify(before.tools) !== JSON.stringify(after.tools)) return 0;
  const differs = after.prompt.findIndex((message, at) => JSON.stringify(message) !== JSON.stringify(before.prompt[at]));
  return differs === -1 ? after.prompt.length : differs;
}

/** What calls cost by somebody else's count: a tenth for the messages that repeat the call before. */
function bill(sent) {
  let sum = 0;
  for (const [at, one] of sent.entries()) {
    const kept = repeated(sent[at - 1], one);
    const tokens = (messages) => messages.reduce((total, message) => total + tokensOf(message) + 4, 0);
    const tools = countTokens(JSON.stringify(one.tools));
    sum += kept > 0 ? 0.1 * (tools + tokens(one.prompt.slice(0, kept))) + tokens(one.prompt.slice(kept)) : tools + tokens(one.prompt);
  }
  return sum;
}

for (const [version, sdk] of Object.entries(SDKS)) {
  const settings = { tools: toolsOf(sdk), stopWhen: sdk.stop(STEPS + 1), prompt: TASK, [sdk.system]: "You mend programs. Be brief." };
  const bare = reader(sdk);
  const bareRun = sdk.generateText({ ...settings, model: bare.model });
  for (const [way, run] of Object.entries(WAYS)) {
    for (const budget_tokens of [16_000, 100_000]) {
      test(`AI SDK ${version}, ${way}, ${budget_tokens} tokens: ${STEPS} steps with large results`, async () => {
        await bareRun;
        const steps = [];
        const { model, sent } = reader(sdk);
        const cw = await run(sdk, model, settings, { budget_tokens, on_step: (step) => steps.push(step) });
        assert.equal(sent.length, STEPS + 1);
        assert.deepEqual(
          steps.flatMap(({ warnings }) => warnings),
          [],
        );
        let first = sent.length;
        const cuts = [];
        for (const [at, { prompt, tools }] of sent.entries()) {
          const { step } = steps[at].built;
          const about = `step ${at}, cut ${step.cut}`;
          assert.equal(PROVIDER_RULES["ai-sdk-model"]({ messages: prompt }), undefined, about);
          assert.ok(tokensOf(prompt) + countTokens(JSON.stringify(tools)) <= budget_tokens, about);
          if (step.cut === undefined)
            assert.equal(repeated({ ...sent[at - 1], tools }, sent[at]), sent[at - 1].prompt.length, `${about}: what was sent was changed`);
          else if (at > 0) [cuts[cuts.length], first] = [at, Math.min(first, at)];
          // The list of tools changes in a cut alone, but for those that read what is hidden.
          if (at > 0 && JSON.stringify(tools) !== JSON.stringify(sent[at - 1].tools)) assert.ok(step.cut !== undefined && step.hides, about);
          // As long as all fits, it is what the SDK would have sent.
          if (at < first) assert.deepEqual(sent[at], bare.sent[at], about);
          // What was read last stands there whole.
          const [newest] = prompt.at(-1).content;
          if (at > 0) assert.ok(SIZES[at - 1] > budget_tokens / 4 || newest.output.value === FILES[at - 1], `${about}: ${SIZES[at - 1]} tokens were cut`);
          assert.ok(JSON.stringify(prompt).includes("Do not touch the ledger"), about);
          assert.equal(newest.type === "text", at === 0);
        }
        assert.ok(cuts.length > 0, "the budget was never full");
        assert.ok(first > 2, `${cuts}`);
        const { cost, cost_without, steps: count } = cw.costs();
        assert.equal(count, STEPS + 1);
        assert.ok(cost <= 1.02 * cost_without, `${cost} of ${cost_without}`);
        const [ours, theirs] = [bill(sent), bill(bare.sent)];
        assert.ok(ours <= 1.02 * theirs, `${ours} of ${theirs}`);
        // The forecast is what was counted here; that a prompt which is cut begins as the one before is no part of it.
        assert.ok(ours <= 1.02 * cost && cost <= 1.1 * ours, `${cost} for ${ours}`);
        assert.ok(Math.abs(cost_without / theirs - 1) < 0.03, `${cost_without} for ${theirs}`);
        cw.free();
      });
    }
  }
}
