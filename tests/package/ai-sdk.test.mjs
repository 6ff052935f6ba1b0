// The adapter for the AI SDK in the SDK's own loops, versions 6 and 7, with a scripted model.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { ANSWER, BUDGET, QUESTION, READ, STEPS, costly, evicted, holdsTheCost, holdsTheSession, textsOf } from "./agent-session.mjs";
import { HOW, SDKS, USAGE, call, modelOf, said, sdkTools, sessionWith } from "./ai-sdk-models.mjs";
import { project } from "./harness.mjs";

const folder = await project("ai-sdk", {
  "entry.mjs": `export * from "contextweaver/ai-sdk"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));
const { accepts, scripted } = sessionWith(countTokens);

for (const [version, sdk] of Object.entries(SDKS)) {
  for (const [name, run] of Object.entries(HOW)) {
    test(`AI SDK ${version}, ${name}: 60 steps, 200 tools, large results and a picture`, async () => {
      const { tools, executed } = sdkTools(sdk);
      const steps = [];
      const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      const settings = { model: modelOf(sdk, scripted()), tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(STEPS), [sdk.system]: "Be brief." };
      const { text } = await run(sdk, { ...settings, prompt: QUESTION });
      assert.equal(text, ANSWER);
      assert.equal(steps.length, STEPS);
      for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
      assert.deepEqual(
        steps.flatMap(({ warnings }) => warnings),
        [],
      );
      holdsTheSession(cw.manager, executed);
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: what calls cost is what the budget is kept by`, async () => {
      for (const calibrate of [true, false]) {
        const { costs, next, page } = costly(countTokens);
        const steps = [];
        const model = modelOf(sdk, ({ prompt, tools = [] }) => {
          const {
            cost,
            call: wanted,
            text,
          } = next(textsOf([prompt, tools.map(({ inputSchema, description }) => [description, JSON.stringify(inputSchema)])], ["providerOptions"]));
          const answer = said(wanted ? [call(wanted.id, wanted.name, wanted.input)] : [{ type: "text", text }]);
          return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total: cost } } };
        });
        const tools = {
          [READ.name]: sdk.tool({ description: READ.description, inputSchema: z.object({ page: z.number() }), execute: async ({ page: n }) => page(n) }),
        };
        const cw = contextWeaver({ tools, budget_tokens: BUDGET, manager: { calibrate }, on_step: (step) => steps.push(step) });
        await run(sdk, { model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(20), prompt: "Read all pages." });
        holdsTheCost({ costs, steps, calibrate, model: model.modelId });
        cw.free();
      }
    });

    test(`AI SDK ${version}, ${name}: what a call cost is told of the model that was called`, async () => {
      const factors = { small: 0.5, big: 1.2 };
      const steps = [];
      const models = Object.keys(factors).map((modelId) => {
        const model = modelOf(sdk, () => {
          const { built, tool_tokens } = steps.at(-1);
          const total = Math.round(factors[modelId] * (built.tokens + tool_tokens));
          const answer = said(steps.length < 5 ? [call(`c${steps.length}`, "read", {})] : [{ type: "text", text: "done" }]);
          return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total } } };
        });
        return Object.assign(model, { modelId });
      });
      const tools = { read: sdk.tool({ description: "Read", inputSchema: z.object({}), execute: async () => "word ".repeat(100) }) };
      const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      const prepareStep = async (step) => {
        const model = models[step.stepNumber % 2];
        return { ...(await cw.prepareStep({ ...step, model })), model };
      };
      await run(sdk, { model: models[0], tools: cw.tools, prepareStep, stopWhen: sdk.stop(6), prompt: "word ".repeat(500) });
      const told = steps.slice(2).map(({ built }) => built.pack.stats.calibration);
      assert.deepEqual(
        told.map(({ model, factor }) => [model, Math.round(10 * factor) / 10]),
        ["small", "big", "small"].map((model) => [model, factors[model]]),
      );
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: a call of an added tool whose input is no object is answered`, async () => {
      const odd = [null, [], "x", 5];
      const names = ["drilldown", "recall", "find_tools", "call_tool"];
      const calls = odd.flatMap((input, at) => names.map((one) => call(`${one}${at}`, one, input)));
      const prompts = [];
      const model = modelOf(sdk, ({ prompt }) => (prompts.push(prompt), said(prompts.length === 1 ? calls : [{ type: "text", text: "done" }])));
      const cw = contextWeaver({ tools: sdkTools(sdk).tools, budget_tokens: BUDGET });
      await run(sdk, { model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(5), prompt: QUESTION });
      const results = prompts[1].filter(({ role }) => role === "tool").flatMap(({ content }) => content);
      assert.equal(results.length, calls.length);
      for (const { output } of results) assert.match(output.value, /no JSON object/);
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
      const { manager, read, on_step, next, holds } = evicted({ ContextManager });
      const model = modelOf(sdk, ({ prompt }) => {
        const { call: wanted, text } = next(textsOf(prompt, ["providerOptions"]));
        return said(wanted ? [call(wanted.id, wanted.name, wanted.input)] : [{ type: "text", text }]);
      });
      const tools = { [READ.name]: sdk.tool({ description: READ.description, inputSchema: z.object({ page: z.number() }), execute: async () => read() }) };
      const cw = contextWeaver({ tools, budget_tokens: BUDGET, manager, on_step });
      const { text } = await run(sdk, { model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(5), prompt: QUESTION });
      holds(text);
      manager.free();
    });

    test(`AI SDK ${version}, ${name}: a conversation of several runs, edited and trimmed`, async () => {
      const asked = [];
      const model = modelOf(sdk, (options) => {
        accepts(options);
        asked.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
        return said([{ type: "text", text: `answer ${asked.length}` }]);
      });
      const cw = contextWeaver({ tools: {}, budget_tokens: BUDGET });
      const settings = { model, tools: cw.tools, prepareStep: cw.prepareStep };
      let messages = [{ role: "user", content: "My name is Ada." }];
      const turn = async (content) => {
        if (content) messages.push({ role: "user", content });
        const { response } = await run(sdk, { ...settings, messages });
        messages.push(...response.messages);
      };
      await turn();
      await turn("I live in Paris.");
      await turn("Which city is it?");
      assert.match(asked[2], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which city/);
      // The user mends what was said last, and the host forgets the oldest turn.
      messages = [...messages.slice(2, -2), { role: "user", content: "Which country is it?" }];
      await turn();
      assert.match(asked[3], /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
      assert.doesNotMatch(asked[3], /city|answer 3/);
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: what a tool throws is a result, and a run may be aborted and taken up`, async () => {
      const controller = new AbortController();
      const tools = {
        fail: sdk.tool({
          description: "Fails",
          inputSchema: z.object({}),
          execute: async () => {
            throw new Error("the disk is full");
          },
        }),
        hang: sdk.tool({
          description: "Hangs",
          inputSchema: z.object({}),
          execute: async (_, { abortSignal }) => {
            controller.abort();
            abortSignal.throwIfAborted();
          },
        }),
      };
      const texts = [];
      const turns = [() => said([call("f", "fail", {})]), () => said([call("h", "hang", {})]), () => said([{ type: "text", text: "done" }])];
      const model = modelOf(sdk, (options) => {
        accepts(options);
        texts.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
        return turns[texts.length - 1]();
      });
      const cw = contextWeaver({ tools, budget_tokens: BUDGET });
      const settings = { model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(5) };
      const messages = [{ role: "user", content: "Do it." }];
      const steps = [];
      await run(sdk, { ...settings, messages, abortSignal: controller.signal, onStepFinish: (step) => steps.push(step) }).catch((error) =>
        assert.match(String(error), /abort/i),
      );
      assert.match(texts[1], /the disk is full/);
      // What the host has of it is a call without its result.
      const pending = { role: "assistant", content: [{ type: "tool-call", toolCallId: "h2", toolName: "hang", input: {} }] };
      const { text } = await run(sdk, {
        ...settings,
        model: modelOf(sdk, (options) => (accepts(options), said([{ type: "text", text: "done" }]))),
        messages: [...messages, pending, { role: "user", content: "Go on." }],
      });
      assert.equal(text, "done");
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: calls that wait for an approval, granted and denied`, async () => {
      const paid = [];
      const tools = {
        pay: sdk.tool({
          description: "Pay",
          inputSchema: z.object({ to: z.string() }),
          needsApproval: true,
          execute: async ({ to }) => (paid.push(to), "paid"),
        }),
      };
      const texts = [];
      const model = modelOf(sdk, (options) => {
        accepts(options);
        texts.push(textsOf(options.prompt, ["providerOptions"]).join("\n"));
        return texts.length === 1 ? said([call("p1", "pay", { to: "Ada" }), call("p2", "pay", { to: "Mallory" })]) : said([{ type: "text", text: "done" }]);
      });
      const cw = contextWeaver({ tools, budget_tokens: BUDGET });
      const settings = { model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: sdk.stop(5) };
      const messages = [{ role: "user", content: "Pay both." }];
      messages.push(...(await run(sdk, { ...settings, messages })).response.messages);
      const asked = messages.at(-1).content.filter(({ type }) => type === "tool-approval-request");
      const approved = ({ toolCallId }) => toolCallId === "p1";
      messages.push({
        role: "tool",
        content: asked.map((one) => ({
          type: "tool-approval-response",
          approvalId: one.approvalId,
          approved: approved(one),
          reason: approved(one) ? "yes" : "not to her",
        })),
      });
      const { text } = await run(sdk, { ...settings, messages });
      assert.equal(text, "done");
      assert.deepEqual(paid, ["Ada"]);
      assert.match(texts[1], /paid/);
      assert.match(texts[1], /not to her/);
      cw.free();
    });

    test(`AI SDK ${version}, ${name}: a tool that a step forces is offered, or the choice is the model's where it has no room`, async () => {
      const many = sdkTools(sdk).tools;
      const last = Object.keys(many)[140];
      const huge = sdk.tool({ description: "word ".repeat(BUDGET), inputSchema: z.object({}), execute: async () => 1 });
      const [asked, steps] = [[], []];
      const model = modelOf(sdk, (options) => {
        asked.push(options);
        return said(asked.length < 4 ? [call(`c${asked.length}`, last, {})] : [{ type: "text", text: "done" }]);
      });
      const cw = contextWeaver({ tools: { ...many, huge }, budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      const force = (toolName) => ({ type: "tool", toolName });
      const choices = [force(last), force("huge"), "required", undefined];
      const prepareStep = (step) => cw.prepareStep({ ...step, toolChoice: choices[step.stepNumber] });
      await run(sdk, { model, tools: cw.tools, prepareStep, stopWhen: sdk.stop(4), prompt: "hi" });
      assert.ok(asked[0].tools.some(({ name: one }) => one === last));
      assert.deepEqual(
        asked.map(({ toolChoice }) => toolChoice),
        [force(last), { type: "auto" }, { type: "required" }, { type: "auto" }],
      );
      assert.deepEqual(
        steps.map(({ warnings }) => warnings.map(({ code, path }) => [code, path])),
        [[], [["TOOL_LEFT_OUT", "/tools/huge"]], [], []],
      );
      cw.free();
    });
  }

  test(`AI SDK ${version}: what cannot be is said before the model is asked`, async () => {
    const model = modelOf(sdk, () => assert.fail("the model was asked"));
    const fails = async (options, prompt, expected) => {
      const cw = contextWeaver({ budget_tokens: BUDGET, ...options });
      await assert.rejects(sdk.generateText({ model, tools: cw.tools, prepareStep: cw.prepareStep, prompt, maxRetries: 0 }), (error) => {
        assert.ok(ContextWeaverError.is(error), String(error));
        assert.deepEqual({ code: error.code, path: error.path }, expected);
        return true;
      });
      cw.free();
    };
    const one = sdk.tool({ description: "One", inputSchema: z.object({}), execute: async () => 1 });
    await fails({ tools: { drilldown: one } }, "hi", { code: "DUPLICATE_ID", path: "/tools/drilldown" });
    await fails({ tools: { one }, always: ["two"] }, "hi", { code: "NOT_FOUND", path: "/always" });
    await fails({ tools: {}, budget_tokens: 50 }, "word ".repeat(500), { code: "BUDGET_EXCEEDED", path: undefined });
    const old = z3.object({ page: z3.number().describe("Which page") });
    await fails({ tools: { old: sdk.tool({ inputSchema: old, execute: async () => 1 }) } }, "hi", { code: "UNSUPPORTED", path: "/tools/old/inputSchema" });
    // As the hint says; tools without a schema and tools of the provider's are no error.
    const tools = {
      old: sdk.tool({ description: "Old", inputSchema: sdk.zodSchema(old), execute: async () => 1 }),
      bare: { description: "Bare", execute: async () => 1 },
      hosted: { type: "provider", id: "scripted.search", args: {}, inputSchema: old },
    };
    const counted = [];
    const wrapped = contextWeaver({ tools, budget_tokens: BUDGET, on_step: ({ tool_tokens }) => counted.push(tool_tokens) });
    let offered;
    const listening = modelOf(sdk, (asked) => ((offered = asked.tools), said([{ type: "text", text: "done" }])));
    await sdk.generateText({ model: listening, tools: wrapped.tools, prepareStep: wrapped.prepareStep, prompt: "hi" });
    assert.deepEqual(offered.map(({ name }) => name).sort(), ["bare", "hosted", "old"]);
    assert.ok(counted[0] >= countTokens(JSON.stringify(offered[0].inputSchema)), String(counted));
    wrapped.free();
    // What is left out for want of room is told.
    const steps = [];
    const large = sdk.tool({ description: "word ".repeat(400), inputSchema: z.object({}), execute: async () => 1 });
    const cw = contextWeaver({ tools: { large, one }, budget_tokens: 700, always: ["large"], on_step: (step) => steps.push(step) });
    await sdk.generateText({ model: modelOf(sdk, () => said([{ type: "text", text: "done" }])), tools: cw.tools, prepareStep: cw.prepareStep, prompt: "hi" });
    assert.deepEqual(
      steps.map(({ tools, warnings }) => [tools, warnings.map(({ code, path }) => [code, path])]),
      [[["one"], [["TOOL_LEFT_OUT", "/tools/large"]]]],
    );
    cw.free();
    for (const [options, code, path] of [
      [{ tools: {} }, "MISSING_FIELD", "/budget_tokens"],
      [{ tools: {}, budget_tokens: "8000" }, "INVALID_INPUT", "/budget_tokens"],
      [{ tools: undefined, budget_tokens: 8_000 }, "MISSING_FIELD", "/tools"],
      [{ tools: {}, budget_tokens: 8_000, budget: 1 }, "UNKNOWN_FIELD", "/budget"],
      [{ tools: {}, budget_tokens: 8_000, max_tools: 0 }, "INVALID_INPUT", "/max_tools"],
      [{ tools: {}, budget_tokens: 8_000, manager: { budget: { answer: -1 } } }, "OUT_OF_RANGE", "/budget/answer"],
    ]) {
      assert.throws(
        () => contextWeaver(options),
        (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
      );
    }
  });
}
