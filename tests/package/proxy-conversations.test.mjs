// Whose conversation a request is: what interleaved agents, forks, edits and other keys share behind one proxy, and what they never do.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project } from "./harness.mjs";
import { scriptedProvider } from "./proxy-provider.mjs";
import { Agent, result } from "./proxy-reader.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const folder = await project("proxy-conversations", { "entry.mjs": `export * from "contextweaver/proxy";` });
const { proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const BUDGET = 4_000;
/** A proxy in which every model says the next step of its agent, by name. */
function setting(options = {}, says = () => undefined) {
  const provider = scriptedProvider((body) => says(body) ?? { text: "Go on." });
  const handler = proxy({ budget_tokens: BUDGET, token: false, fetch: provider.answer, ...options });
  const ask = async (body, headers = {}) => {
    const response = await handler(
      new Request("http://127.0.0.1:8323/v1/messages", {
        method: "POST",
        headers: { "x-api-key": "key-a", "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "m", max_tokens: 9, tools: [{ name: "read", description: "", input_schema: { type: "object" } }], ...body }),
      }),
    );
    const text = await response.text();
    return { status: response.headers.get("x-contextweaver"), answer: JSON.parse(text), sent: provider.sent.at(-1).text };
  };
  return { ...provider, handler, ask };
}

const shortened = ({ status }) => status.startsWith("shortened");

test("Proxy: agents of one key whose requests come in turn each have their own prompt", async () => {
  const { ask, handler, sent } = setting();
  // The second is a helper of the first, in the same session, and the last two begin alike.
  const session = { metadata: { user_id: "user_1_session_7" } };
  const agents = [
    new Agent("main", ask, { body: session }),
    new Agent("helper", ask, { system: "You only look.", body: session }),
    new Agent("other", ask),
    new Agent("twin1", ask, { task: "The same task." }),
    new Agent("twin2", ask, { task: "The same task." }),
  ];
  const last = new Map();
  const cuts = [];
  for (let step = 0; step < 9; step += 1) {
    for (const agent of agents) {
      const done = await agent.step();
      last.set(agent.name, done);
      cuts.push(...(/cut=(\w+)/.exec(done.status)?.slice(1) ?? []));
    }
  }
  // None rewrites the log of another.
  assert.deepEqual([...new Set(cuts)], ["full"]);
  for (const { name } of agents) {
    assert.ok(shortened(last.get(name)), name);
    for (const { name: other } of agents)
      assert.equal(last.get(name).sent.includes(`${other} `) && last.get(name).sent.includes(`"${other}_`), other === name, `${other} in ${name}`);
  }
  // Between cuts each prompt goes on with the one before of the same agent.
  for (const { name } of agents) {
    const own = sent
      .filter(({ text }) => text.includes(`"${name}_`))
      .map(({ body }) => body.messages.map((message) => JSON.stringify(message, (key, one) => (key === "cache_control" ? undefined : one))));
    const kept = own.filter((list, at) => at > 0 && own[at - 1].every((message, place) => message === list[place])).length;
    assert.ok(kept >= own.length - 5, `${name}: ${kept} of ${own.length}`);
  }
  assert.ok(handler.stats().conversations <= agents.length + 1);
  handler.free();
});

test("Proxy: what one key has stored no other reads, in the same session and the same words", async () => {
  const handle = "artifact:result:agent_1";
  const reads = ({ messages, tools }) => {
    const answers = (id) => messages.at(-1).content.some?.(({ tool_use_id: one }) => one === id);
    if (answers("look")) return { calls: [{ id: "agent_9", name: "read", input: { n: 9 } }] };
    return answers("agent_8") && tools.length > 1
      ? { calls: [{ id: "look", name: "drilldown", input: { handle, selector: { type: "lines", start: 0, end: 2 } } }] }
      : undefined;
  };
  const { ask, handler, sent } = setting({}, reads);
  const body = { metadata: { user_id: "u" } };
  const first = new Agent("agent", ask, { body, headers: { "x-api-key": "key-a" } });
  for (let step = 0; step < 9; step += 1) await first.step();
  assert.match(sent.at(-1).text, /agent 1\.0 .*agent 1\.1 .*\(lines 0-1 of /);
  // The very same conversation by another key: what was read for the first is not put back for it.
  const copied = await ask({ system: first.system, messages: first.messages, ...body }, { "x-api-key": "key-c" });
  assert.ok(copied.status.endsWith("cut=first") && !copied.sent.includes('"look"'), copied.status);
  assert.ok((await first.step()).sent.includes('"look"'));
  // The same conversation, but for the result, by a third.
  const second = new Agent("agent", ask, { body, headers: { "x-api-key": "key-b" } });
  for (let step = 0; step < 9; step += 1) {
    const secret = second.messages.findIndex((message) => JSON.stringify(message).includes("agent 1.0 "));
    if (secret > 0) second.messages[secret] = JSON.parse(JSON.stringify(second.messages[secret]).replaceAll("agent 1.", "mine 1."));
    await second.step();
  }
  assert.ok(!sent.filter(({ headers }) => headers["x-api-key"] === "key-b").some(({ text }, at) => at > 0 && text.includes("agent 1.1 ")));
  assert.match(sent.at(-1).text, /mine 1\.0 .*mine 1\.1 .*\(lines 0-1 of /);
  assert.equal(handler.stats().conversations, 3);
  handler.free();
});

test("Proxy: of one user a conversation goes on when a login has renewed its key, and of several it does not", async () => {
  for (const single_user of [true, false]) {
    const { ask, handler } = setting({ single_user });
    const agent = new Agent("agent", ask);
    for (let step = 0; step < 8; step += 1) await agent.step();
    agent.headers = { "x-api-key": "key-renewed" };
    const { status } = await agent.step();
    assert.match(status, single_user ? /^shortened; tokens=\d+; without=\d+$/ : /cut=first$/);
    assert.equal(handler.stats().conversations, single_user ? 1 : 2);
    handler.free();
  }
  assert.throws(() => setting({ single_user: "yes" }), { code: "INVALID_INPUT", path: "/single_user" });
});

/** The reasons for which an agent's prompt was made anew, in so many steps; `change` is told the step. */
async function cutsOf(steps, change) {
  const { ask, handler, sent } = setting({ budget_tokens: 8_000 });
  const agent = new Agent("agent", ask);
  const cuts = [];
  for (let step = 0; step < steps; step += 1) {
    Object.assign(agent, change(step, agent));
    cuts.push(...(/cut=(\w+)/.exec((await agent.step()).status)?.slice(1) ?? []));
  }
  handler.free();
  return { cuts, sent };
}

test("Proxy, Anthropic: what Claude Code tells of itself in its instructions is another with every call, and cuts nothing", async () => {
  const header = (step) => `x-anthropic-billing-header: cc_version=2.1; cch=${step}abc;`;
  const system = (step, mark) => [
    { type: "text", text: header(step), ...(mark && { cache_control: { type: "ephemeral" } }) },
    { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
  ];
  const { cuts, sent } = await cutsOf(24, (step) => ({ system: system(step) }));
  assert.ok(cuts.length > 1 && cuts.every((cut) => cut === "full"), cuts.join());
  assert.deepEqual(
    sent.map(({ body }) => body.system[0].text),
    sent.map((_, step) => header(step)),
  );
  // Whoever marks it has it in the prompt.
  assert.ok((await cutsOf(24, (step) => ({ system: system(step, true) }))).cuts.includes("instructions"));
});

test("Proxy, Anthropic: a tool that a search has loaded cuts nothing, as the provider loads it where it was found, and is counted", async () => {
  const read = { name: "read", description: "", input_schema: { type: "object" } };
  const search = { name: "find_tools", description: "", input_schema: { type: "object" } };
  const deferred = (n) => ({
    name: `late_${n}`,
    description: "Does what nobody else does. ".repeat(20),
    input_schema: { type: "object" },
    defer_loading: true,
  });
  const found = (n) => [
    { role: "assistant", content: [{ type: "tool_use", id: `find_${n}`, name: "find_tools", input: { n } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `find_${n}`, content: [{ type: "tool_reference", tool_name: `late_${n}` }] }] },
  ];
  // As Claude Code does, which sends a tool from then on.
  const loading = (isDeferred) => (step, agent) => {
    const n = Math.floor(step / 3);
    const tools = Array.from({ length: n + 1 }, (_, at) => ({ ...deferred(at), ...(!isDeferred && { defer_loading: false }) }));
    return { messages: step % 3 === 0 ? [...agent.messages, ...found(n)] : agent.messages, body: { tools: [read, search, ...tools] } };
  };
  const { cuts } = await cutsOf(24, loading(true));
  assert.ok(cuts.length > 1 && cuts.every((cut) => cut === "full"), cuts.join());
  assert.ok((await cutsOf(24, loading(false))).cuts.includes("cold"));
  // Of those that nothing refers to no token is counted.
  const { ask, handler } = setting({ budget_tokens: 8_000 });
  const tokensOf = async (messages, tools) => Number(/tokens=(\d+)/.exec((await ask({ messages, tools: [read, search, ...tools] })).status)[1]);
  const many = Array.from({ length: 50 }, (_, at) => deferred(at));
  const [none, held, one] = [
    await tokensOf([{ role: "user", content: "A" }], []),
    await tokensOf([{ role: "user", content: "B" }], many),
    await tokensOf([{ role: "user", content: "C" }, ...found(7)], many),
  ];
  assert.ok(held === none && one > none + 100 && one < none + 400, [none, held, one].join());
  handler.free();
});

test("Proxy: an edited message and one that was taken back are never sent again; the client's own compaction begins anew", async () => {
  const { ask, handler } = setting();
  const agent = new Agent("agent", ask);
  for (let step = 0; step < 8; step += 1) await agent.step();
  const edited = agent.messages.map((message, at) => (at === 12 ? JSON.parse(JSON.stringify(message).replaceAll("agent 6.", "EDITED 6.")) : message));
  const { sent, status } = await ask({ system: agent.system, messages: edited });
  assert.match(status, /^shortened/);
  assert.ok(!sent.includes("agent 6.0 "));
  // What was said since is taken back.
  const back = await ask({ system: agent.system, messages: agent.messages.slice(0, 11) });
  assert.ok(!back.sent.includes("agent 8.") && !back.sent.includes("EDITED"));
  const compacted = [{ role: "user", content: "Summary: parts 1 to 8 were read. Go on." }];
  const anew = await ask({ system: agent.system, messages: compacted });
  assert.match(anew.status, /^whole/);
  assert.deepEqual(JSON.parse(anew.sent).messages, compacted);
  // The one before goes on where it was.
  assert.ok(shortened(await agent.step()));
  handler.free();
});

test("Proxy: reminders of instructions, and texts that are marked for the cache in one call alone, cut no prompt", async () => {
  const { ask, handler, sent } = setting();
  const agent = new Agent("agent", ask);
  const reminder = { role: "system", content: "Remember to keep the list of tasks up to date." };
  const cuts = [];
  for (let step = 0; step < 16; step += 1) {
    // Twice the same words, behind the user, and a question whose text is a block as long as it is the newest.
    if (step === 9 || step === 12) agent.messages = [...agent.messages, reminder];
    if (step === 10) agent.messages = [...agent.messages, { role: "assistant", content: "Half of it is read." }, { role: "user", content: "And the rest?" }];
    const { messages } = agent;
    if (step === 10)
      agent.messages = messages.with(-1, {
        role: "user",
        content: [{ type: "text", text: "And the rest?", cache_control: { type: "ephemeral" } }],
      });
    const { status } = await agent.step();
    if (step === 10) agent.messages = [...messages, ...agent.messages.slice(messages.length)];
    cuts.push(/cut=(\w+)/.exec(status)?.[1]);
    const { messages: last, system } = sent.at(-1).body;
    assert.equal(PROVIDER_RULES.anthropic({ messages: last, system }), undefined);
    assert.ok(!JSON.stringify(system).includes("list of tasks"));
    const reminders = last.filter(({ role }) => role === "system").map(({ content }) => content);
    assert.ok(step < 9 || JSON.stringify(reminders).includes("list of tasks"), `call ${step}: ${JSON.stringify(reminders)}`);
  }
  assert.deepEqual([...new Set(cuts)], [undefined, "full"], `${cuts}`);
  handler.free();
});

test("Proxy: x-contextweaver-session tells conversations apart, and does not reach the provider", async () => {
  const { ask, handler, sent } = setting();
  const agents = ["s1", "s2"].map((session) => new Agent("agent", ask, { headers: { "x-contextweaver-session": session } }));
  for (let step = 0; step < 4; step += 1) for (const agent of agents) await agent.step();
  assert.equal(handler.stats().conversations, 2);
  assert.ok(sent.every(({ headers }) => !("x-contextweaver-session" in headers)));
  handler.free();
});

test("Proxy: the conversation that was idle longest leaves, and goes on anew when it comes back", async () => {
  const { ask, handler } = setting({ limits: { max_conversations: 2, max_units: 200_000 } });
  const agents = ["one", "two", "three", "four"].map((name) => new Agent(name, ask));
  for (const agent of agents) for (let step = 0; step < 8; step += 1) await agent.step();
  assert.equal(handler.stats().conversations, 2);
  assert.ok(handler.stats().costs.steps >= 32, "what a conversation cost is not forgotten with it");
  const again = await agents[0].step();
  assert.match(again.status, /^shortened; .*cut=first/);
  assert.ok(!again.sent.includes("four 1."));
  // One alone that is larger than all that is kept is answered, and leaves.
  const large = setting({ limits: { max_units: 1_000 } });
  assert.match((await new Agent("big", large.ask, { task: "x".repeat(2_000) }).step()).status, /^whole/);
  await large.ask({ messages: [{ role: "user", content: "small" }] });
  assert.equal(large.handler.stats().conversations, 1);
  [handler, large.handler].forEach((one) => one.free());
});

test("Proxy: 240 conversations in turn, of which 200 and so many units are kept: those that left go on anew, with nothing lost", async () => {
  const limits = { max_conversations: 200, max_units: 6_000_000 };
  const { ask, handler, sent: all } = setting({ budget_tokens: 2_000, limits });
  const agents = Array.from({ length: 240 }, (_, n) => new Agent(`agent${n}`, ask));
  let [conversations, units] = [0, 0];
  for (let step = 0; step < 4; step += 1) {
    // Eight at a time, as they come.
    for (let from = 0; from < agents.length; from += 8) {
      const done = await Promise.all(agents.slice(from, from + 8).map((agent) => agent.step()));
      for (const [at, { status }] of done.entries()) {
        const { name } = agents[from + at];
        const { text: sent } = all.findLast(({ text }) => text.includes(`Read all of ${name}.`));
        const others = agents.filter((agent) => agent.name !== name && sent.includes(`${agent.name} `));
        assert.deepEqual([others.length, /^(whole|shortened);/.test(status)], [0, true], `${name}: ${status}`);
        // The newest result stands there, whoever left in between.
        if (step > 0) assert.ok(sent.includes(`${name} ${step}.0`), `${name} lost its newest result`);
        if (step === 3) assert.ok(shortened({ status }), `${name}: ${status}`);
      }
      const now = handler.stats();
      [conversations, units] = [Math.max(conversations, now.conversations), Math.max(units, now.units)];
    }
  }
  assert.equal(conversations, limits.max_conversations);
  assert.ok(units <= limits.max_units, `${units} units were kept`);
  const { requests, bypassed, costs } = handler.stats();
  assert.deepEqual([requests, bypassed], [4 * agents.length, {}]);
  assert.equal(costs.steps, requests, "the costs of those that left are counted");
  handler.free();
  // Fewer units than they say: some leave before there are two hundred.
  const tight = setting({ budget_tokens: 2_000, limits: { max_conversations: 200, max_units: 100_000 } });
  for (const agent of agents.slice(0, 100).map(({ name }) => new Agent(name, tight.ask))) {
    await agent.step();
    await agent.step();
    assert.ok(tight.handler.stats().units <= 100_000);
  }
  assert.ok(tight.handler.stats().conversations < 100);
  tight.handler.free();
});

test("Proxy: a retry sends the same bytes, and goes on behind rounds that came to no end", async () => {
  let isDown = false;
  let asked = 0;
  const reads = (body) => {
    const handle = /drilldown (artifact:result:agent_\d+) /.exec(JSON.stringify(body.messages))?.[1];
    if (JSON.stringify(body.messages.at(-1)).includes("look"))
      return isDown ? Response.json({ type: "error", error: { type: "overloaded_error", message: "busy" } }, { status: 529 }) : undefined;
    return handle && asked++ === 3 ? { text: "Wait.", calls: [{ id: "look", name: "drilldown", input: { handle } }] } : undefined;
  };
  const { ask, handler, sent } = setting({}, reads);
  const agent = new Agent("agent", ask);
  for (let step = 0; step < 6; step += 1) await agent.step();
  const body = { system: agent.system, messages: agent.messages };
  const [one, two] = [await ask(body), await ask(body)];
  assert.equal(one.sent, two.sent);
  isDown = true;
  while (!sent.at(-1).text.includes('"look"')) await agent.step();
  const failed = sent.at(-1).text;
  agent.messages = agent.messages.slice(0, -2);
  isDown = false;
  const { answer } = await agent.step();
  assert.equal(sent.at(-1).text, failed, "the round that failed is asked again as it was");
  assert.deepEqual(answer.content, [{ type: "text", text: "Go on." }]);
  handler.free();
});

test("Proxy: tokens are counted as they are sent", async () => {
  const { ask, handler, sent } = setting();
  const agent = new Agent("agent", ask);
  const count = async () => {
    const response = await handler(
      new Request("http://127.0.0.1/v1/messages/count_tokens", {
        method: "POST",
        headers: { "x-api-key": "key-a" },
        body: JSON.stringify({
          model: "m",
          tools: [{ name: "read", description: "", input_schema: { type: "object" } }],
          system: agent.system,
          messages: agent.messages,
        }),
      }),
    );
    await response.text();
    return { status: response.headers.get("x-contextweaver"), body: sent.at(-1).body };
  };
  await agent.step();
  assert.deepEqual((await count()).body.messages, agent.messages);
  for (let step = 0; step < 8; step += 1) await agent.step();
  const { status, body } = await count();
  assert.equal(status, "shortened");
  assert.ok(JSON.stringify(body.messages).length < JSON.stringify(agent.messages).length / 2);
  assert.deepEqual(body.messages.slice(-2), agent.messages.slice(-2));
  assert.deepEqual(
    body.tools.map(({ name }) => name),
    ["read", "drilldown", "recall"],
  );
  handler.free();
});

test("Proxy, responses: instructions that were cut in the middle of a character are shortened with the rest", async () => {
  const { handler, sent } = setting();
  const input = Array.from({ length: 40 }, (_, n) => [
    { role: "user", content: `And ${n}?` },
    { role: "assistant", content: `${"word ".repeat(150)}${n}` },
  ]).flat();
  const body = JSON.stringify({ model: "gpt-5", instructions: "Be brief \ud83d", input: [...input, { role: "user", content: "Go on" }] });
  const headers = { authorization: "Bearer key-a", "content-type": "application/json" };
  const response = await handler(new Request("http://127.0.0.1:8323/v1/responses", { method: "POST", headers, body }));
  await response.text();
  assert.match(response.headers.get("x-contextweaver"), /^shortened/);
  assert.ok(sent.at(-1).text.length < body.length / 2);
  handler.free();
});
