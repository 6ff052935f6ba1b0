// The proxy before a scripted provider, by the official SDKs: what the provider is sent, and what the client gets of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { RUN_INSTRUCTIONS, RUN_STEPS, RUN_TOOLS, TASK, longRun, partOf, textsOf, withinBudget } from "./agent-session.mjs";
import { inEnvelope, outOfEnvelope } from "./code-assist.mjs";
import { project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";
import { WAYS, agentOf } from "./proxy-agents.mjs";
import { scriptedProvider } from "./proxy-provider.mjs";

const folder = await project("proxy", { "entry.mjs": `export * from "contextweaver/proxy"; export { countTokens } from "contextweaver";` });
const { proxy, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));

const BUDGET = 16_000;
const FORMATS = { chat: "openai-chat", responses: "openai-responses", messages: "anthropic", contents: "gemini" };
const OWN = ["drilldown", "recall"];
const listOf = (body) => body.messages ?? body.input ?? body.contents;
const namesOf = ({ tools = [] }) => tools.flatMap((tool) => tool.functionDeclarations ?? [tool]).map((tool) => tool.function?.name ?? tool.name);
const withoutMarks = (value) => JSON.stringify(value, (key, one) => (key === "cache_control" ? undefined : one));
const tools = RUN_TOOLS.map((tool) => ({ ...tool, run: ({ part }) => partOf(part) }));

/** A proxy before a provider that says what `next` says, and what became of each request. */
function before(next, options, isEnveloped) {
  const scripted = scriptedProvider(next);
  const provider = isEnveloped ? { ...scripted, answer: outOfEnvelope(scripted.answer) } : scripted;
  const statuses = [];
  const log = [];
  const handler = proxy({ budget_tokens: BUDGET, token: false, fetch: provider.answer, on_request: (entry) => log.push(entry), ...options });
  const fetch = async (request) => {
    const response = await handler(request);
    statuses.push(response.headers.get("x-contextweaver"));
    return response;
  };
  return { ...provider, fetch, statuses, log, handler };
}

/** A model that reads parts, and later lines of one that has left the prompt. */
function readingModel() {
  const next = longRun();
  const read = [];
  let isReading = false;
  return {
    read,
    next: (body) => {
      const text = textsOf(listOf(body)).join("\n");
      const last = JSON.stringify(listOf(body).at(-1));
      // Once what was read before left the prompt, it is read again: by itself, and beside a call of the agent's.
      const [, handle] = /drilldown (artifact:result:\w+) /.exec(text) ?? [];
      if (!isReading && read.length < 6 && handle !== undefined && namesOf(body).includes("drilldown") && !last.includes("lines 2-5 of")) {
        isReading = true;
        const call = { id: `own${read.length}`, name: "drilldown", input: { handle, selector: { type: "lines", start: 2, end: 6 } } };
        read.push({ call, isMixed: read.length % 3 === 2 });
        if (!read.at(-1).isMixed) return { text: read.length % 2 ? "Let me look again." : "", calls: [call], thinking: "what was it?" };
        isReading = false;
        const { calls, ...said } = next();
        return { ...said, calls: [call, ...(calls ?? [])], thinking: "both" };
      }
      isReading = false;
      return { ...next(), thinking: "what comes now?" };
    },
  };
}

for (const [api, isStream, isEnveloped] of [...WAYS, ["contents", false, true], ["contents", true, true]]) {
  const way = `${api}${isEnveloped ? " of Code Assist" : ""}, ${isStream ? "streaming" : "whole"}`;
  const agentBy = ({ fetch, ...options }) => agentOf(api, isStream, { fetch: isEnveloped ? inEnvelope(fetch) : fetch, ...options });

  test(`Proxy, ${way}: below the budget the provider gets byte for byte what the SDK sends`, async () => {
    const play = async (fetch) => {
      const script = longRun();
      let step = 0;
      const provider = before(() => (++step < 9 ? { ...script(), thinking: "so" } : { text: "done" }), { budget_tokens: 200_000 }, isEnveloped);
      const events = [];
      const agent = agentBy({
        fetch: fetch ? provider.answer : provider.fetch,
        tools,
        instructions: RUN_INSTRUCTIONS,
        params: { metadata: { user_id: "u" } },
        onEvent: (event) => events.push(JSON.stringify(event)),
      });
      assert.equal(await agent.ask(TASK), "done");
      step = 8;
      assert.equal(await agent.ask("And now?"), "done");
      const { statuses, sent } = provider;
      const stats = provider.handler.stats();
      provider.handler.free();
      return { sent, events, statuses, stats, history: agent.history };
    };
    const [bare, proxied] = [await play(true), await play(false)];
    assert.equal(proxied.sent.length, 10);
    assert.deepEqual(
      proxied.sent.map(({ text }) => text),
      bare.sent.map(({ text }) => text),
    );
    assert.deepEqual(proxied.events, bare.events);
    assert.deepEqual(proxied.history, bare.history);
    assert.ok(
      proxied.statuses.every((status) => /^whole; tokens=\d+$/.test(status)),
      `${proxied.statuses}`,
    );
    const { whole, shortened, bypassed, conversations } = proxied.stats;
    assert.deepEqual([whole, shortened, bypassed, conversations], [10, 0, {}, 1]);
  });

  test(`Proxy, ${way}: above the budget the prompt keeps to it, stays from call to call, and the model reads what left`, async () => {
    const model = readingModel();
    const { sent, fetch, statuses, handler } = before(model.next, {}, isEnveloped);
    const answers = [];
    const agent = agentBy({ fetch, tools, instructions: RUN_INSTRUCTIONS, onAnswer: (answer) => answers.push(answer) });
    assert.match(await agent.ask(TASK), /settle_31_7/);
    assert.equal(answers.length, RUN_STEPS);
    assert.equal(model.read.length, 6);
    // The client is told of no call that is not its own.
    assert.ok(!OWN.some((name) => JSON.stringify([agent.history, answers]).includes(`"${name}"`)), "a call of ours reached the client");
    const bodies = sent.map(({ body }) => body);
    let cuts = 0;
    for (const [at, body] of bodies.entries()) {
      assert.equal(PROVIDER_RULES[FORMATS[api]]({ ...body, messages: listOf(body) }), undefined, `call ${at}`);
      withinBudget(
        textsOf(
          [listOf(body), body.system ?? body.instructions ?? body.systemInstruction ?? ""],
          ["cache_control", "encrypted_content", "signature", "thoughtSignature"],
        ).concat((body.tools ?? []).map((tool) => JSON.stringify(tool))),
        countTokens,
        BUDGET,
      );
      assert.ok(!JSON.stringify(body).includes("No result was recorded"), `call ${at}: a result of the client's is not with its call`);
      const [list, before] = [listOf(body), at > 0 ? listOf(bodies[at - 1]) : []].map((one) => one.map(withoutMarks));
      const isPrefix = before.every((message, place) => message === list[place]);
      if (!isPrefix) cuts += 1;
      const isSameHead = at === 0 || withoutMarks(body.tools) === withoutMarks(bodies[at - 1].tools);
      assert.ok(isSameHead || !isPrefix, `call ${at}: other tools without a cut`);
    }
    assert.equal(cuts, statuses.filter((status) => /cut=/.test(status)).length);
    assert.ok(cuts >= 3 && cuts <= 12, `${cuts} cuts`);
    // What was read stands in the prompts behind it, until a cut.
    for (const { call } of model.read) {
      const named = api === "contents" ? `"functionCall":{"name":"drilldown","args":${JSON.stringify(call.input)}}` : `"${call.id}"`;
      const holding = bodies.filter((body) => JSON.stringify(listOf(body)).includes(named));
      assert.ok(holding.length >= 1, `${call.id} is not put back`);
      assert.match(JSON.stringify(holding[0]), /lines 2-5 of/);
    }
    const { inner_calls, inner_rounds, bypassed, costs } = handler.stats();
    assert.deepEqual([inner_calls, inner_rounds, bypassed], [6, 4, {}]);
    assert.ok(costs.cost < 1.05 * costs.cost_without, `${costs.cost} of ${costs.cost_without}`);
    handler.free();
  });

  test(`Proxy, ${way}: a session with an error, a client that goes, and one that comes back after a restart`, async () => {
    const script = longRun();
    const gone = new AbortController();
    let event;
    const next = () => {
      event = { 12: "error", 20: "gone" }[sent.length];
      if (event === "error") return Response.json({ error: { message: "try later" } }, { status: 500 });
      if (event === "gone") return (gone.abort(), { text: "for nobody" });
      return script();
    };
    const { sent, fetch: ask, statuses, handler } = before(next, {}, isEnveloped);
    // As the fetch of a runtime has it, nothing is read by who has gone.
    const fetch = async (request) => {
      const response = await ask(request);
      if (event !== "gone") return response;
      await response.body.cancel();
      throw gone.signal.reason;
    };
    let agent = agentBy({ fetch, tools, instructions: RUN_INSTRUCTIONS });
    const failures = [];
    let answer;
    while (answer === undefined) {
      const signal = failures.length === 1 ? gone.signal : undefined;
      answer = await agent.ask(sent.length === 0 ? TASK : undefined, signal).catch((error) => void failures.push(error));
      if (failures.length > 2) throw failures.at(-1);
      // A process that comes back has what it recorded.
      if (failures.length === 2) agent = agentBy({ fetch, tools, instructions: RUN_INSTRUCTIONS, history: JSON.parse(JSON.stringify(agent.history)) });
    }
    assert.match(answer, /settle_31_7/);
    assert.equal(failures.length, 2, `${failures}`);
    assert.equal(sent.length, RUN_STEPS + 2);
    // Whoever asks again sends the same bytes.
    assert.equal(sent[12].text, sent[11].text);
    assert.equal(sent[20].text, sent[19].text);
    const lists = sent.map(({ body }) => listOf(body).map(withoutMarks));
    const rewritten = lists.filter((list, at) => at > 0 && !lists[at - 1].every((message, place) => message === list[place]));
    assert.equal(rewritten.length, statuses.filter((status) => /cut=/.test(status)).length);
    assert.equal(handler.stats().conversations, 1);
    handler.free();
  });
}

test("Code Assist: what stands around a request stays as it was written, and what cannot be read passes", async () => {
  const sent = [];
  const response = { candidates: [{ content: { role: "model", parts: [{ text: "Noted." }] }, finishReason: "STOP" }] };
  const fetch = async (request) => (sent.push([request.url, await request.text()]), Response.json({ response, traceId: "t" }));
  const handler = proxy({ budget_tokens: 3_000, token: false, fetch });
  const ask = async (text, how = "generateContent") => {
    const answer = await handler(
      new Request(`http://localhost/v1internal:${how}`, { method: "POST", headers: { authorization: "Bearer ya29.x" }, body: text }),
    );
    return [answer.headers.get("x-contextweaver"), sent.at(-1), await answer.json()];
  };
  const contents = Array.from({ length: 8 }, (_, turn) => [
    { role: "user", parts: [{ text: Array.from({ length: 150 }, (_, at) => `w${turn}x${at * 7919}`).join(" ") }] },
    { role: "model", parts: [{ text: "Noted." }] },
  ]).flat();
  const request = (list) => JSON.stringify({ contents: [...list, { role: "user", parts: [{ text: "And now?" }] }], generationConfig: { seed: 7 } });
  const around = (text) => `{ "model":"gemini-2.5-pro" , "n": 1.0,"request" : ${text},"project":"p" }\n`;
  const [whole, [address, bytes]] = await ask(around(request([])));
  assert.match(whole, /^whole/);
  assert.deepEqual([address, bytes], ["https://cloudcode-pa.googleapis.com/v1internal:generateContent", around(request([]))]);
  const [status, [, text], answered] = await ask(around(request(contents)));
  assert.match(status, /^shortened/);
  const [, inside] = /^\{ "model":"gemini-2\.5-pro" , "n": 1\.0,"request" : (\{.*\}),"project":"p" \}\n$/s.exec(text);
  const { contents: kept, generationConfig, tools: offered } = JSON.parse(inside);
  assert.ok(kept.length < contents.length && generationConfig.seed === 7);
  assert.deepEqual(offered, [{ functionDeclarations: offered[0].functionDeclarations }]);
  assert.deepEqual([answered.traceId, answered.response.candidates[0].content.parts], ["t", [{ text: "Noted." }]]);
  for (const odd of [`{"model":"m"}`, `{"request":[]}`, `{"request":{"contents":"x"}}`, around(request(contents)).replace("}\n", `,"request":{}}`)]) {
    const [passed, [, same]] = await ask(odd);
    assert.match(passed, /^bypassed; reason=unread/, odd);
    assert.equal(same, odd);
  }
  assert.match((await ask(around(request(contents)), "streamGenerateContent"))[0], /^passed/, "a list that is never whole");
  assert.match((await ask("{}", "loadCodeAssist"))[0], /^passed/);
  handler.free();
});

test("Gemini: tools are added to functions by either spelling, and not beside tools of Google's alone", async () => {
  const words = (turn) => Array.from({ length: 150 }, (_, at) => `w${turn}x${at * 7919}`).join(" ");
  for (const [given, expected] of [
    [[{ function_declarations: [{ name: "read" }] }], [{ function_declarations: ["read", ...OWN] }]],
    [
      [{ google_search: {} }, { functionDeclarations: [{ name: "read" }] }],
      [{ google_search: {} }, { functionDeclarations: ["read", ...OWN] }],
    ],
    [[{ google_search: {} }], [{ google_search: {} }]],
    [undefined, [{ functionDeclarations: OWN }]],
  ]) {
    const bodies = [];
    const candidates = [{ content: { role: "model", parts: [{ text: "Noted." }] }, finishReason: "STOP" }];
    const fetch = async (request, init) => (bodies.push(JSON.parse(await new Response(init?.body ?? request.body).text())), Response.json({ candidates }));
    const handler = proxy({ budget_tokens: 3_000, token: false, fetch });
    const contents = [];
    for (let turn = 0; turn < 8; turn += 1) {
      contents.push({ role: "user", parts: [{ text: words(turn) }] });
      const body = JSON.stringify({ contents, ...(given && { tools: given }), system_instruction: { parts: [{ text: "Be brief." }] } });
      const headers = { "content-type": "application/json", "x-goog-api-key": "none" };
      const response = await handler(new Request("http://localhost/v1beta/models/gemini-2.5-pro:generateContent", { method: "POST", headers, body }));
      assert.equal(response.status, 200, await response.text());
      contents.push(candidates[0].content);
    }
    const named = bodies
      .at(-1)
      .tools.map((tool) => Object.fromEntries(Object.entries(tool).map(([key, list]) => [key, Array.isArray(list) ? list.map(({ name }) => name) : list])));
    assert.deepEqual(named, expected);
    assert.ok(bodies.at(-1).contents.length < contents.length, "it was shortened");
    handler.free();
  }
});
