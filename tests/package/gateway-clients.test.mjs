// Clients of the gateway, beside the same clients without it: the official SDKs of both majors in every era, and the MCP client of the
// AI SDK, against servers of both eras. What they see is the same, but for what the gateway is there for.
import assert from "node:assert/strict";
import test from "node:test";
import { createMCPClient } from "@ai-sdk/mcp";
import { SDKS, call as toolCall, modelOf, said } from "./ai-sdk-models.mjs";
import { CLIENTS, configured, connected, gatewayIn, handleIn, textOf } from "./gateway-harness.mjs";
import { LARGE, PNG, ROWS, WATCHED, featureServer, rowOf } from "./gateway-features.mjs";
import { project, until } from "./harness.mjs";

const folder = await project("gateway-clients");
const ERAS = ["legacy", "modern"];
const ANSWERS = {
  "elicitation/create": () => ({ action: "accept", content: { name: "Ann" } }),
  "sampling/createMessage": () => ({ role: "assistant", model: "none", content: { type: "text", text: "sampled" } }),
  "roots/list": () => ({ roots: [{ uri: "file:///project", name: "work" }] }),
};
/** Tools of the gateway itself. */
const OWN = ["drilldown", "recall"];
/** The level of log messages that a request of 2026-07-28 wants. */
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

/** What an error tells the client: SDK 1.x puts words of its own before the message. */
const failure = (promise) =>
  promise.then(
    (result) => assert.fail(JSON.stringify(result).slice(0, 500)),
    ({ code, message, data }) => ({ code, message: message.replace(/^MCP error -\d+: /, ""), ...(data !== undefined && { data }) }),
  );
const plain = (value) => JSON.parse(JSON.stringify(value));

/** Everything a client does in a session. Returns what it saw. */
async function session(user, seen, { isThrough }) {
  const { client, told, asked, isModern } = user;
  const saw = {};
  const { tools } = await client.listTools();
  const own = tools.filter(({ name }) => OWN.includes(name));
  assert.equal(own.length, isThrough ? OWN.length : 0);
  saw.tools = plain(tools.filter((tool) => !own.includes(tool)).map(({ outputSchema: _, ...tool }) => tool));
  saw.instructions = client.getInstructions().includes("Ask the shop.");

  saw.echo = plain((await user.call("echo", { say: "hi" })).content);
  const large = await user.call("large");
  const part = isThrough
    ? textOf(await user.call("drilldown", { handle: handleIn(large), selector: { type: "lines", start: 4_321, end: 4_322 } }))
    : textOf(large).split("\n")[4_321];
  if (isThrough) assert.ok(JSON.stringify(large).length < 8_000);
  saw.row = part.split("\n")[0];
  saw.picture = plain((await user.call("picture")).content);
  const { content, structuredContent } = await user.call("typed");
  saw.typed = plain({ content, structuredContent });
  const failed = await user.call("fail");
  saw.fail = plain({ content: failed.content, isError: failed.isError });
  saw.refuse = await failure(user.call("refuse"));

  // The SDKs forget who waits for progress that arrives in one piece with the result: on a busy machine that happens.
  for (let attempts = 0; attempts < 10 && saw.steps?.length !== 3; attempts += 1) {
    const steps = [];
    await user.call("steps", {}, { onprogress: ({ progress, total, message }) => void steps.push({ progress, total, message }) });
    saw.steps = steps;
  }
  const before = seen.cancelled;
  const stop = new AbortController();
  const waits = user.call("wait", {}, { signal: stop.signal }).then(
    () => "answered",
    () => "cancelled",
  );
  await until("the call is under way", () => seen.calls.at(-1) === "wait");
  stop.abort();
  saw.wait = await waits;
  await until("the server was told", () => seen.cancelled === before + 1);

  for (const name of ["ask_user", "ask_model", "ask_roots"]) saw[name] = textOf(await user.call(name));
  saw.asked = asked.map(({ method, params = {} }) => ({
    method,
    message: params.message,
    schema: plain(params.requestedSchema ?? null),
    maxTokens: params.maxTokens,
  }));

  const logs = async (level) => {
    const from = told.length;
    if (isModern) await client.callTool({ name: "log", arguments: {}, _meta: { [LOG_LEVEL]: level } });
    else {
      await client.setLoggingLevel(level);
      await user.call("log");
    }
    return told
      .slice(from)
      .filter(({ method }) => method === "notifications/message")
      .map(({ params: { level, logger, data } }) => ({ level, logger, data }));
  };
  saw.logs = [await logs("debug"), await logs("warning")];

  saw.resources = plain((await client.listResources()).resources.map(({ uri, name, mimeType }) => ({ uri, name, mimeType })));
  saw.templates = plain((await client.listResourceTemplates()).resourceTemplates);
  for (const uri of [WATCHED, "shop://logo", "shop://items/a7"]) saw[uri] = plain((await client.readResource({ uri })).contents);
  const unknown = await failure(client.readResource({ uri: "shop://nothing" }));
  assert.ok([-32_002, -32_602].includes(unknown.code), JSON.stringify(unknown));
  saw.prompts = plain((await client.listPrompts()).prompts);
  saw.prompt = plain((await client.getPrompt({ name: "greet", arguments: { who: "Ann" } })).messages);
  saw.completions = [];
  for (const ref of [
    { type: "ref/prompt", name: "greet" },
    { type: "ref/resource", uri: "shop://items/{id}" },
  ])
    saw.completions.push((await client.complete({ ref, argument: { name: ref.name ? "who" : "id", value: ref.name ? "A" : "a" } })).completion.values);

  await user.subscribe([WATCHED]);
  told.length = 0;
  await user.call("touch");
  await until("the resource changed", () => told.some(({ method, params }) => method === "notifications/resources/updated" && params.uri === WATCHED));
  saw.touched = textOf({ content: (await client.readResource({ uri: WATCHED })).contents });
  await user.call("grow");
  for (const list of ["tools", "prompts", "resources"])
    await until(`${list} changed`, () => told.some(({ method }) => method === `notifications/${list}/list_changed`));
  saw.grown = [
    await user.names(),
    (await client.listPrompts()).prompts.map(({ name }) => name),
    (await client.listResources()).resources.map(({ uri }) => uri),
  ].map((list) => list.some((one) => one.includes("grown")));
  return saw;
}

/** What a client has to see, whatever it and the server speak. */
function holds(saw, { era }) {
  assert.deepEqual(saw.echo, [{ type: "text", text: "hi" }]);
  assert.equal(saw.row, rowOf(4_321));
  assert.deepEqual(saw.picture, [
    { type: "text", text: "a pixel" },
    { type: "image", data: PNG, mimeType: "image/png" },
  ]);
  assert.deepEqual(saw.typed.structuredContent, { count: 3 });
  assert.deepEqual(saw.fail, { content: [{ type: "text", text: "the shop is closed" }], isError: true });
  assert.deepEqual(saw.refuse, { code: -32_050, message: "no such shelf", data: { shelf: 7 } });
  assert.deepEqual(
    saw.steps,
    [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })),
  );
  assert.equal(saw.wait, "cancelled");
  assert.match(saw.ask_user, /Ann/);
  assert.match(saw.ask_model, /sampled/);
  assert.match(saw.ask_roots, /file:\/\/\/project/);
  assert.deepEqual(
    saw.logs.map((logs) => logs.map(({ level }) => level)),
    [["debug", "warning"], ["warning"]],
    era,
  );
  assert.deepEqual(saw.completions, [
    ["Ada", "Alan"],
    ["a1", "a2"],
  ]);
  assert.match(saw.touched, /^touched \d+ times$/);
  assert.deepEqual(saw.grown, [true, true, true]);
}

const speaks = (kind, era) => kind === "SDK 2.x, auto" || (era === "modern") === kind.includes("2026");

for (const era of ERAS) {
  for (const kind of Object.keys(CLIENTS)) {
    for (const transport of kind === "SDK 2.x, auto" ? ["HTTP"] : ["HTTP", "stdio"]) {
      test(`${kind} over ${transport}, a server of the ${era} era`, async (t) => {
        const name = `${kind}-${transport}-${era}`.replaceAll(/[ ,.]+/g, "-");
        const through = await featureServer(era);
        t.after(through.close);
        const gateway = gatewayIn(folder, await configured(folder, `${name}.json`, { shop: { type: "http", url: through.url } }));
        const where = transport === "HTTP" ? { url: (await gateway.http(t)).url } : { program: gateway.stdio() };
        const user = await connected(t, kind, { ...where, answers: ANSWERS });
        const saw = await session(user, through.seen, { isThrough: true });
        holds(saw, { era });
        if (!speaks(kind, era)) return;
        const direct = await featureServer(era);
        t.after(direct.close);
        const sees = await session(await connected(t, kind, { url: direct.url, answers: ANSWERS }), direct.seen, { isThrough: false });
        holds(sees, { era });
        assert.deepEqual(saw, sees);
      });
    }
  }
}

for (const era of ERAS) {
  test(`the AI SDK's MCP client in generateText, a server of the ${era} era`, async (t) => {
    const { 7: sdk } = SDKS;
    const outputs = {};
    for (const way of ["direct", "through"]) {
      const shop = await featureServer(era);
      t.after(shop.close);
      const gateway =
        way === "through" && (await gatewayIn(folder, await configured(folder, `ai-${era}.json`, { shop: { type: "http", url: shop.url } })).http(t));
      const mcp = await createMCPClient({ transport: { type: "http", url: gateway ? gateway.url : shop.url }, capabilities: { elicitation: {} } });
      t.after(() => mcp.close());
      const tools = await mcp.tools();
      const plan = [["echo", { say: "hi" }], ["large", {}], ...(gateway ? [["drilldown", undefined]] : []), ["picture", {}], ["typed", {}], ["fail", {}]];
      const offered = new Set();
      const model = modelOf(sdk, ({ prompt, tools: given = [] }) => {
        for (const { name } of given) offered.add(name);
        const done = prompt.filter(({ role }) => role === "tool").length;
        if (done === plan.length) return said([{ type: "text", text: "All done." }]);
        const [name, input] = plan[done];
        const [handle] = /artifact:result:[\w-]+/.exec(JSON.stringify(prompt)) ?? [];
        return said([toolCall(`call-${done}`, name, input ?? { handle, selector: { type: "lines", start: ROWS - 1, end: ROWS } })]);
      });
      const { text, steps } = await sdk.generateText({ model, tools, stopWhen: sdk.stop(10), prompt: "Use every tool." });
      assert.equal(text, "All done.");
      assert.ok(offered.has("echo") && offered.has("drilldown") === (way === "through"));
      const results = steps
        .flatMap(({ content }) => content)
        .filter(({ type }) => type === "tool-result" || type === "tool-error")
        .map(({ toolName, output, error }) => [toolName, plain(output ?? { error: String(error) })]);
      assert.deepEqual(
        results.map(([name]) => name),
        plan.map(([name]) => name),
      );
      // Revision 2026-07-28, which the gateway speaks with every server, says with each result who answers.
      outputs[way] = Object.fromEntries(results.map(([name, { _meta, resultType, isError, ...output }]) => [name, { ...output, isError: isError ?? false }]));
      outputs[way].resource = plain((await mcp.readResource({ uri: "shop://logo" })).contents);
      outputs[way].prompt = plain((await mcp.getPrompt({ name: "greet", arguments: { who: "Ann" } })).messages);
      outputs[way].completion = (await mcp.complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "B" } })).completion.values;
    }
    const { large, drilldown, ...through } = outputs.through;
    const { large: whole, ...direct } = outputs.direct;
    assert.equal(textOf(whole), LARGE);
    assert.ok(JSON.stringify(large).length < 8_000);
    assert.equal(textOf(drilldown).split("\n")[0], rowOf(ROWS - 1));
    assert.deepEqual(through, direct);
  });
}
