// The adapter for the AI SDK as a middleware of a model, versions 6 and 7: what calls it needs no other glue.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ANSWER, BUDGET, FIND_ROW, LARGE, PICTURE, QUESTION, READ, STEPS, evicted, holdsTheSession, orders, textsOf } from "./agent-session.mjs";
import { HOW, SDKS, USAGE, call, modelOf, said, sdkTools, sessionWith } from "./ai-sdk-models.mjs";
import { packageDir, project } from "./harness.mjs";

const folder = await project("ai-sdk-middleware", {
  "entry.mjs": `export * from "contextweaver/ai-sdk"; export { ContextManager, ContextWeaverError, countTokens } from "contextweaver";`,
});
const { ContextManager, ContextWeaverError, contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));
const { accepts, scripted } = sessionWith(countTokens);

const text = (words) => said([{ type: "text", text: words }]);
const handle = `artifact:result:${LARGE}`;
const drilldown = (id) => call(id, "drilldown", { handle, selector: FIND_ROW });
const namesOf = ({ tools = [] }) => tools.map(({ name }) => name);
/** What is there before a drilldown makes sense: a call whose result is large. */
const history = () => [
  { role: "user", content: QUESTION },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: LARGE, toolName: "export_orders", input: {} }] },
  { role: "tool", content: [{ type: "tool-result", toolCallId: LARGE, toolName: "export_orders", output: { type: "json", value: orders() } }] },
  { role: "user", content: "Which parcel is it?" },
];

for (const [version, sdk] of Object.entries(SDKS)) {
  /** A model that says what it is told to, wrapped; `asked` has what it was sent. */
  const wrapped = (turns, options = {}) => {
    const asked = [];
    const model = modelOf(sdk, (params) => {
      accepts(params);
      params.abortSignal?.throwIfAborted();
      asked.push(params);
      const turn = turns[Math.min(asked.length, turns.length) - 1];
      return typeof turn === "function" ? turn(params) : turn;
    });
    const middleware = contextWeaver({ budget_tokens: BUDGET, ...options });
    return { asked, middleware, model: sdk.wrapLanguageModel({ model, middleware }) };
  };
  const sent = ({ prompt }) => textsOf(prompt, ["providerOptions"]).join("\n");

  for (const [name, run] of Object.entries(HOW)) {
    test(`AI SDK ${version} as a middleware, ${name}: 60 steps, 200 tools, large results and a picture`, async () => {
      const { tools, executed } = sdkTools(sdk);
      const steps = [];
      const cw = contextWeaver({ budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      const model = sdk.wrapLanguageModel({ model: modelOf(sdk, scripted()), middleware: cw });
      const answer = await run(sdk, { model, tools, stopWhen: sdk.stop(STEPS), [sdk.system]: "Be brief.", prompt: QUESTION });
      assert.match(answer.text, new RegExp(ANSWER));
      assert.equal(steps.length, STEPS);
      for (const { built, tool_tokens } of steps) assert.ok(built.tokens + tool_tokens <= BUDGET);
      assert.deepEqual(
        steps.flatMap(({ warnings }) => warnings),
        [],
      );
      holdsTheSession(cw.manager, executed);
      cw.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: what has left memory is fetched when the model reads on in it`, async () => {
      const { manager, read, on_step, next, holds } = evicted({ ContextManager });
      const model = modelOf(sdk, (params) => {
        const { call: wanted, text: words } = next([sent(params)]);
        return said(wanted ? [call(wanted.id, wanted.name, wanted.input)] : [{ type: "text", text: words }]);
      });
      const tools = { [READ.name]: sdk.tool({ description: READ.description, inputSchema: z.object({ page: z.number() }), execute: async () => read() }) };
      const cw = contextWeaver({ budget_tokens: BUDGET, manager, on_step });
      const { text: last } = await run(sdk, { model: sdk.wrapLanguageModel({ model, middleware: cw }), tools, stopWhen: sdk.stop(5), prompt: QUESTION });
      holds(last);
      manager.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: what is answered in it stands in the SDK's messages, and is read there again`, async () => {
      const thinks = { type: "reasoning", text: "The row is hidden.", providerMetadata: { scripted: { signature: "s1" } } };
      const { asked, middleware, model } = wrapped([
        said([thinks, { type: "text", text: "I look." }, drilldown("d1")]),
        said([{ type: "text", text: ANSWER }]),
        text("You are welcome."),
      ]);
      const messages = history();
      const { text: last, response } = await run(sdk, { model, messages });
      assert.equal(asked.length, 2);
      assert.match(last, new RegExp(ANSWER));
      assert.ok(!sent(asked[0]).includes(ANSWER));
      assert.ok(sent(asked[1]).includes(ANSWER));
      const [assistant, ...more] = response.messages;
      assert.deepEqual([assistant.role, more], ["assistant", []]);
      assert.deepEqual(
        assistant.content.map(({ type, toolName, providerExecuted }) => [type, toolName, providerExecuted]),
        [
          ["reasoning", undefined, undefined],
          ["text", undefined, undefined],
          ["tool-call", "drilldown", true],
          ["tool-result", "drilldown", undefined],
          ["text", undefined, undefined],
        ],
      );
      // A host stores messages as JSON.
      const stored = JSON.parse(JSON.stringify([...messages, ...response.messages, { role: "user", content: "Thank you." }]));
      await run(sdk, { model, messages: stored });
      const turns = asked[2].prompt.map(({ role, content }) => [role, typeof content === "string" ? [] : content.map(({ type }) => type)]);
      assert.deepEqual(turns.slice(-5), [
        ["user", ["text"]],
        ["assistant", ["reasoning", "text", "tool-call"]],
        ["tool", ["tool-result"]],
        ["assistant", ["text"]],
        ["user", ["text"]],
      ]);
      assert.ok(
        asked[2].prompt.flatMap(({ content }) => content).every(({ toolName, providerExecuted }) => toolName !== "drilldown" || providerExecuted === undefined),
      );
      const thought = asked[2].prompt.flatMap(({ content }) => content).find(({ type }) => type === "reasoning");
      assert.deepEqual([thought.text, thought.providerOptions], [thinks.text, thinks.providerMetadata]);
      // Nothing of it was said twice.
      assert.equal(middleware.manager.events.count({ kinds: ["tool_call"] }), 2);
      assert.equal(middleware.manager.events.count({ kinds: ["tool_result"] }), 2);
      middleware.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: what the provider found, drew and cited stays beside what is read on`, async () => {
      const search = { type: "tool-call", toolCallId: "s1", toolName: "search", input: "{}", providerExecuted: true, dynamic: true };
      const found = { type: "tool-result", toolCallId: "s1", toolName: "search", result: { hits: ["a page"] }, providerExecuted: true, dynamic: true };
      const drawn = { type: "file", mediaType: "image/png", data: version === "7" ? { type: "data", data: PICTURE } : PICTURE };
      const source = { type: "source", sourceType: "url", id: "u1", url: "https://example.com/" };
      const { asked, middleware, model } = wrapped([said([search, found, source, drawn, drilldown("d1")]), text(ANSWER), text("done")]);
      const messages = history();
      const { response } = await run(sdk, { model, messages });
      const parts = asked[1].prompt.flatMap(({ content }) => content);
      assert.ok(parts.some(({ type, toolName, output }) => type === "tool-result" && toolName === "search" && JSON.stringify(output).includes("a page")));
      assert.ok(parts.some(({ type, toolName, providerExecuted }) => type === "tool-call" && toolName === "search" && providerExecuted === true));
      assert.ok(JSON.stringify(parts).includes(PICTURE), "what was drawn is not there");
      assert.ok(sent(asked[1]).includes(ANSWER));
      await run(sdk, { model, messages: [...messages, ...response.messages, { role: "user", content: "And?" }] });
      assert.ok(sent(asked[2]).includes("a page") && sent(asked[2]).includes(ANSWER));
      middleware.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: a call of an added tool beside one of yours waits for yours`, async () => {
      const ran = [];
      const tools = {
        note: sdk.tool({ description: "Note", inputSchema: z.object({ it: z.string() }), execute: async ({ it }) => (ran.push(it), `noted ${it}`) }),
      };
      const { asked, middleware, model } = wrapped([said([drilldown("d1"), call("n1", "note", { it: "a" })]), text(ANSWER)]);
      const { text: last } = await run(sdk, { model, tools, messages: history(), stopWhen: sdk.stop(5) });
      assert.equal(last, ANSWER);
      assert.deepEqual(ran, ["a"]);
      assert.equal(asked.length, 2);
      assert.match(sent(asked[1]), /noted a/);
      assert.ok(sent(asked[1]).includes(ANSWER));
      assert.deepEqual(
        asked[1].prompt.slice(-2).map(({ role, content }) => [role, content.map(({ toolName }) => toolName)]),
        [
          ["assistant", ["drilldown", "note"]],
          ["tool", ["drilldown", "note"]],
        ],
      );
      middleware.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: whoever reads on and on is asked to come to an end`, async () => {
      let step = 0;
      const reads = (params) => (namesOf(params).includes("drilldown") && params.toolChoice?.type !== "none" ? said([drilldown(`d${step++}`)]) : text("done"));
      const { asked, middleware, model } = wrapped([reads], { max_rounds: 3 });
      const { text: last } = await run(sdk, { model, messages: history() });
      assert.equal(last, "done");
      assert.equal(asked.length, 4);
      // Providers want the definitions of tools that were called.
      assert.deepEqual([namesOf(asked[3]), asked[3].toolChoice], [["drilldown", "recall"], { type: "none" }]);
      const note = sdk.tool({ description: "Note", inputSchema: z.object({}), execute: async () => "noted" });
      await run(sdk, { model, tools: { note }, messages: history() });
      assert.deepEqual([asked.length, namesOf(asked[7]), asked[7].toolChoice?.type], [8, ["note"], "auto"]);
      middleware.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: what all rounds cost is told as the cost of the step, and each tells what tokens are`, async () => {
      const [rounds, costs] = [[], []];
      // A figure far from the estimate is not believed.
      const paid = (answer) => () => {
        const { built, tool_tokens } = rounds.at(-1);
        costs.push(2 * (built.tokens + tool_tokens));
        return { ...answer, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, total: costs.at(-1), cacheRead: 4 } } };
      };
      const { middleware, model } = wrapped([paid(said([drilldown("d1")])), paid(text("done"))], { on_step: (round) => rounds.push(round) });
      const steps = [];
      await run(sdk, { model, messages: history(), [version === "7" ? "onStepEnd" : "onStepFinish"]: (step) => steps.push(step) });
      assert.equal(steps.length, 1);
      assert.equal(costs.length, 2);
      assert.equal(steps[0].usage.inputTokens, costs[0] + costs[1]);
      assert.equal(steps[0].usage.outputTokens, 40);
      assert.equal(steps[0].usage.inputTokenDetails.cacheReadTokens, 8);
      assert.deepEqual(
        rounds.map(({ built }) => built.pack.stats.calibration?.observations),
        [undefined, 1],
      );
      middleware.free();
    });

    test(`AI SDK ${version} as a middleware, ${name}: what is asked of a call stays: a demanded tool, no tool, a provider's tool, a format`, async () => {
      const many = sdkTools(sdk).tools;
      const last = Object.keys(many)[140];
      const { asked, middleware, model } = wrapped([said([call("x", last, {})]), text("none"), text("provider"), text(JSON.stringify({ parcel: ANSWER }))]);
      await run(sdk, { model, tools: many, prompt: "hi", toolChoice: { type: "tool", toolName: last } });
      assert.ok(namesOf(asked[0]).includes(last));
      assert.deepEqual(asked[0].toolChoice, { type: "tool", toolName: last });
      await run(sdk, { model, tools: many, messages: history(), toolChoice: "none" });
      assert.deepEqual(
        ["drilldown", "recall", "find_tools"].filter((one) => namesOf(asked[1]).includes(one)),
        [],
      );
      const search = {
        type: "provider",
        id: "scripted.search",
        args: { depth: 2 },
        isProviderExecuted: true,
        supportsDeferredResults: false,
        inputSchema: sdk.jsonSchema({ type: "object" }),
      };
      await run(sdk, { model, tools: { ...many, search }, prompt: "hi" });
      assert.deepEqual(asked[2].tools.find(({ id }) => id === "scripted.search")?.args, { depth: 2 });
      const schema = z.object({ parcel: z.string().describe("word ".repeat(200)) });
      await run(sdk, { model, output: sdk.Output.object({ schema }), messages: history(), maxOutputTokens: 77 });
      const { maxOutputTokens, responseFormat, prompt, tools } = asked[3];
      assert.deepEqual([maxOutputTokens, responseFormat.type], [77, "json"]);
      // The schema of an answer is paid for, too.
      const texts = [...textsOf(prompt, ["providerOptions"]), ...[...tools, responseFormat.schema].map((one) => JSON.stringify(one))];
      assert.ok(texts.reduce((sum, one) => sum + countTokens(one), 0) <= BUDGET);
      middleware.free();
    });
  }

  test(`AI SDK ${version} as a middleware: a stream tells what comes as it comes, and can be left`, async () => {
    const { asked, middleware, model } = wrapped([said([{ type: "text", text: "I look." }, drilldown("d1")]), text(ANSWER)]);
    const result = sdk.streamText({ model, messages: history() });
    const seen = [];
    for await (const part of result.fullStream) seen.push(part.type);
    const order = ["text-start", "tool-call", "tool-result", "text-delta"].map((type) => seen.indexOf(type));
    assert.ok(order[0] < order[1] && order[1] < order[2] && seen.lastIndexOf("text-delta") > order[2], `${seen}`);
    assert.equal(seen.filter((type) => type === "finish-step").length, 1);
    assert.equal(asked.length, 2);
    middleware.free();
    // Whoever leaves in the middle is not asked again.
    const left = wrapped([said([{ type: "text", text: "I look." }, drilldown("d1")]), text(ANSWER)]);
    const { stream } = await left.model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    assert.equal(left.asked.length, 1);
    left.middleware.free();
    // What goes wrong when it is asked again is told as what goes wrong at first.
    const broken = wrapped([
      said([drilldown("d1")]),
      () => {
        throw new Error("overloaded");
      },
    ]);
    const failures = [];
    await sdk
      .streamText({ model: broken.model, messages: history(), maxRetries: 0, onError: ({ error }) => void failures.push(String(error)) })
      .consumeStream();
    assert.deepEqual(failures, ["Error: overloaded"]);
    await assert.rejects(sdk.generateText({ model: broken.model, messages: history(), maxRetries: 0 }), /overloaded/);
    broken.middleware.free();
    // Nor is it asked again after an error that the stream told of.
    const failed = wrapped([said([drilldown("d1"), { type: "error", error: new Error("cut off") }]), text(ANSWER)]);
    await sdk.streamText({ model: failed.model, messages: history(), onError: ({ error }) => void failures.push(String(error)) }).consumeStream();
    assert.deepEqual([failures.slice(1), failed.asked.length], [["Error: cut off"], 1]);
    failed.middleware.free();
    const controller = new AbortController();
    const aborted = wrapped([said([drilldown("d1")]), ({ abortSignal }) => (controller.abort(), abortSignal.throwIfAborted())]);
    const ended = [];
    for await (const { type } of sdk.streamText({ model: aborted.model, messages: history(), abortSignal: controller.signal }).fullStream) ended.push(type);
    assert.deepEqual([ended.includes("abort"), ended.includes("error")], [true, false], `${ended}`);
    aborted.middleware.free();
  });

  test(`AI SDK ${version} as a middleware: a conversation that is edited and trimmed, and one whose call was aborted`, async () => {
    const { asked, middleware, model } = wrapped([(params) => text(`answer ${asked.length} to ${params.prompt.length}`)]);
    let messages = [];
    const turn = async (content) => {
      messages.push({ role: "user", content });
      messages.push(...(await sdk.generateText({ model, messages })).response.messages);
    };
    await turn("My name is Ada.");
    await turn("I live in Paris.");
    await turn("Which city is it?");
    messages = [...messages.slice(2, -2)];
    await turn("Which country is it?");
    assert.match(sent(asked[3]), /Ada[^]*answer 1[^]*Paris[^]*answer 2[^]*Which country/);
    assert.doesNotMatch(sent(asked[3]), /city|answer 3/);
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(sdk.generateText({ model, messages: [...messages, { role: "user", content: "Stop." }], abortSignal: controller.signal }), /abort/i);
    await turn("Go on.");
    assert.match(sent(asked.at(-1)), /Go on/);
    middleware.free();
  });

  test(`AI SDK ${version} as a middleware: what cannot be is said`, async () => {
    const { asked, middleware, model } = wrapped([text("done")]);
    const one = sdk.tool({ description: "One", inputSchema: z.object({}), execute: async () => 1 });
    const fails = async (settings, options, expected) => {
      const given = wrapped([text("done")], options);
      await assert.rejects(sdk.generateText({ model: given.model, maxRetries: 0, ...settings }), (error) => {
        assert.ok(ContextWeaverError.is(error), String(error));
        assert.deepEqual([error.code, error.path], expected);
        return true;
      });
      assert.equal(given.asked.length, 0);
      given.middleware.free();
    };
    await fails({ tools: { find_tools: one }, prompt: "hi" }, {}, ["DUPLICATE_ID", "/tools/find_tools"]);
    await fails({ tools: { one }, prompt: "hi" }, { always: ["two"] }, ["NOT_FOUND", "/always"]);
    await fails({ prompt: "word ".repeat(500) }, { budget_tokens: 50 }, ["BUDGET_EXCEEDED", undefined]);
    await sdk.generateText({ model, prompt: "hi" });
    assert.equal(asked[0].tools, undefined);
    // As if it were the form for a loop.
    for (const key of ["tools", "prepareStep"])
      assert.throws(
        () => middleware[key],
        (error) => error.code === "MISSING_FIELD" && error.path === "/tools",
      );
    assert.deepEqual(Object.keys({ ...middleware }).sort(), ["costs", "free", "manager", "report", "specificationVersion", "wrapGenerate", "wrapStream"]);
    middleware.free();
    for (const [options, code, path] of [
      [{}, "MISSING_FIELD", "/budget_tokens"],
      [{ budget_tokens: 8_000, max_rounds: 0 }, "INVALID_INPUT", "/max_rounds"],
      [{ budget_tokens: 8_000, max_rounds: "2" }, "INVALID_INPUT", "/max_rounds"],
      [{ budget_tokens: 8_000, rounds: 2 }, "UNKNOWN_FIELD", "/rounds"],
    ]) {
      assert.throws(
        () => contextWeaver(options),
        (error) => (assert.deepEqual([error.code, error.path], [code, path]), ContextWeaverError.is(error)),
      );
    }
  });
}

test("an address with all of a file in it goes to models as base64", async () => {
  const { promptMessage } = await import(pathToFileURL(join(packageDir, "dist/adapters/model-prompt.js")));
  const inline = "data:application/pdf;base64,JVBERi0=";
  const partOf = (message, version) => promptMessage(message, version).content[0];
  const file = (data) => ({ role: "user", content: [{ type: "file", mediaType: "application/pdf", data }] });
  for (const given of [inline, new URL(inline)]) {
    assert.equal(partOf(file(given), "v2").data, "JVBERi0=");
    assert.equal(partOf(file(given), "v3").data, "JVBERi0=");
    assert.deepEqual(partOf(file(given), "v4").data, { type: "data", data: "JVBERi0=" });
  }
  assert.equal(partOf(file("https://x.example/a.pdf"), "v3").data.href, "https://x.example/a.pdf");
  const value = [{ type: "file-url", mediaType: "application/pdf", url: inline }];
  const result = { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output: { type: "content", value } }] };
  assert.deepEqual(partOf(result, "v2").output.value, [{ type: "media", data: "JVBERi0=", mediaType: "application/pdf" }]);
  assert.deepEqual(partOf(result, "v4").output.value, [{ type: "file", mediaType: "application/pdf", data: { type: "data", data: "JVBERi0=" } }]);
});
