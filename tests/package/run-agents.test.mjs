// Agents from npm play a whole session through `contextweaver run`, and the same one without it: streams, tools, a provider that fails, two
// helpers at once, an answer that is aborted, a resume. What reached the provider is judged, and what the agent recorded is compared.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { AGENTS, ALONE, KEY, LOGINS, installed } from "./agents.mjs";
import { bareMessage } from "./bare-message.mjs";
import { until } from "./harness.mjs";
import { listening } from "./proxy-listening.mjs";
import { PROGRAM } from "./proxy-program.mjs";
import { eventsOf, streamed } from "./proxy-provider.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

const TASK = "Count as far as you can, in steps, and have two helpers count too";
const HELPERS = ["HELPER-ONE counts from 40000", "HELPER-TWO counts from 60000"];
/** Tokens beyond the agent's own instructions and tools: some four results. */
const ROOM = 12_500;
/** Steps of the main conversation: results of a shell but for these, up to the last, which is an answer. */
const [FAILS, HELPED, STALLS, READS, LAST] = [2, 3, 7, 9, 12];

const firstOf = (step) => 1_000 + step * 2_000;
const count = (from) => `seq ${from} ${from + 1_100}`;

/** A model that says what stands in its script, for the process that is aborted and the one that goes on. */
function model(agent) {
  const state = { main: 0, helpers: [0, 0], hasFailed: false, isRead: false, answer: "none", asked: [] };
  const shell = (id, from) => ({ text: `I count from ${from}.`, thinking: "hm", calls: [{ id, ...agent.shell(count(from)) }] });
  const busy = () =>
    Response.json(
      { type: "error", error: { type: "overloaded_error", message: "busy", code: 503, status: "UNAVAILABLE" } },
      { status: 503, headers: { "retry-after": "1" } },
    );
  /** Begins an answer, and never ends it. */
  const stalled = (body, path) => {
    state.answer = "begun";
    const events = eventsOf(path, { text: "I think about it for a long time, and then I go on." }, "stalls", body.model ?? "m", body);
    const wait = (at) => (at < 5 ? undefined : new Promise(() => {}));
    const stream = streamed(events, { wait, cancelled: () => (state.answer = "cancelled") });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
  const main = (body, { text, path }) => {
    const step = state.main;
    state.asked.push({ whose: "main", step, body, text });
    if (step === FAILS && !state.hasFailed) return ((state.hasFailed = true), busy());
    if (step === STALLS && state.answer === "none") return stalled(body, path);
    if (step === READS && !state.isRead && text.includes('"recall"'))
      return ((state.isRead = true), { isSigned: true, calls: [{ id: "look", name: "recall", input: { query: "1005 1006 1007" } }] });
    // Codex waits for its helpers by a call, and gives up an answer when one is done in the middle of it.
    const isHelped = HELPERS.every((_, at) => text.includes(`Helper ${at} is done.`));
    if (agent.wait && step === HELPED + 1 && !isHelped) return { calls: [{ id: `wait_${state.asked.length}`, ...agent.wait }] };
    state.main += 1;
    if (step === HELPED && agent.helper)
      return { text: "Two helpers count.", calls: HELPERS.map((prompt, at) => ({ id: `help_${at}`, ...agent.helper(prompt, `help${at}`) })) };
    return step < LAST ? shell(`call_${step}`, firstOf(step)) : { text: "All done." };
  };
  const helper = (at, body, { text }) => {
    const step = state.helpers[at];
    state.asked.push({ whose: HELPERS[at], step, body, text });
    state.helpers[at] += 1;
    return step < 2 ? shell(`h${at}_${step}`, (at + 2) * 20_000 + step * 2_000) : { text: `Helper ${at} is done.` };
  };
  const next = (body, one) => {
    // Without tools it is a title, or another thing beside the conversation.
    const tools = body.tools ?? body.input?.[0]?.tools ?? [];
    if (tools.length === 0) return { text: "A title" };
    if (one.text.includes(TASK)) return main(body, one);
    return helper(
      HELPERS.findIndex((prompt) => one.text.includes(prompt)),
      body,
      one,
    );
  };
  return { state, next };
}

/** Starts a program with what it starts in a group of processes, as a terminal does: `interrupt` is what that does on Ctrl-C. */
function started({ cwd, env }, program, args) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1", ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (told[name] += text));
  const ended = new Promise((done) => child.on("close", (code, signal) => done({ code: code ?? signal, ...told })));
  const signal = (name) => () => process.kill(-child.pid, name);
  return { told, ended, interrupt: signal("SIGINT"), kill: signal("SIGKILL") };
}

/** Plays the session: until the answer that stalls, which is aborted, and then on. */
async function session(t, name, isThrough) {
  const agent = await installed(t, name);
  if (!agent) return undefined;
  const { state, next } = model(agent);
  const { address, sent } = await listening(t, next, agent.serves, agent.around);
  const begin = (args) => {
    if (isThrough) {
      const options = [
        "--budget",
        String(agent.room + ROOM),
        "--store",
        join(agent.home, "prompts"),
        "--verbose",
        agent.flag,
        agent.base?.(address) ?? address,
      ];
      return started(agent, process.execPath, [PROGRAM, "run", ...options, "--", agent.program, ...args]);
    }
    const { env = {}, args: more = [] } = agent.direct(address);
    return started({ ...agent, env: { ...agent.env, ...env } }, agent.program, [args[0], ...more, ...args.slice(1)]);
  };
  const first = begin(agent.ask(TASK));
  await until(
    () => `the agent comes to step ${STALLS}: it is at ${state.main}\n${first.told.stdout}\n${first.told.stderr}`,
    () => state.answer === "begun",
    120_000,
  );
  // What has begun is written down by now. OpenCode hears no interrupt while it waits for a model.
  await new Promise((done) => setTimeout(done, 1_500));
  first.interrupt();
  const isLeft = await Promise.race([first.ended, new Promise((done) => setTimeout(done, 5_000, "left"))]);
  if (isLeft === "left") first.kill();
  const aborted = await first.ended;
  await until("the provider hears that nobody reads on", () => state.answer === "cancelled");
  const ended = await begin(agent.resume("Go on with the rest.")).ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /All done\./);
  if (agent.isPaid) assert.ok(sent.every(agent.isPaid), "who pays");
  return {
    agent,
    asked: state.asked,
    told: [aborted.stderr, ended.stderr],
    recorded: (await agent.recorded(agent)).flatMap((records) => said(records, agent.home)),
  };
}

/** What differs from one run to the next: names, times, seals, and what the provider was paid. */
const OF_A_RUN =
  /^(id|.*[uU]uid|.*I[dD]|.*_id|.*[hH]ash|time|.*[tT]ime|timestamp|lastUpdated|.*[sS]ignature|.*[eE]ncrypted.*|internal_.*|tokens|cost|usage|metadata)$/;
const NAMED = [
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  /\b[0-9a-f]{9,}\b/g,
  /\bses_\w+/g,
  /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
  /(duration_ms: |Wall time |PGID: |[Pp]rocess [Gg]roup.*: )[\d.]+/g,
];

/** What the records of a conversation say. */
function said(records, home) {
  const plain = (key, value) => {
    if (OF_A_RUN.test(key)) return undefined;
    return typeof value === "string" ? NAMED.reduce((text, pattern) => text.replace(pattern, "…"), value.replaceAll(home, "~")) : value;
  };
  return records.map((record) => JSON.stringify(record, plain));
}

/** What one list has more often than another. The order says nothing: helpers that work at the same time answer in any. */
function beyond(list, other) {
  const left = [...other];
  return list.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The conversation of a request, as the rules of its provider take it, and each block as it is compared with the one before. */
function promptOf({ format }, { messages, input, contents, system, systemInstruction }) {
  const prompt = { messages: messages ?? input ?? contents, system: system ?? systemInstruction };
  const complaint = PROVIDER_RULES[format](prompt);
  // What a user says behind a result is a block more of the same message.
  const blocks = prompt.messages.flatMap((message) =>
    Array.isArray(message.content) ? message.content.map((one) => ({ ...message, content: [one] })) : [message],
  );
  return { complaint, list: blocks.map(bareMessage) };
}

for (const name of [AGENTS, ALONE, LOGINS].flatMap(Object.keys)) {
  test(`contextweaver run: ${name} plays a whole session, and records what it records without`, { timeout: 400_000 }, async (t) => {
    const [without, through] = [await session(t, name, false), await session(t, name, true)];
    if (!without || !through) return;
    const { agent, asked, told } = through;
    const prompts = asked.map(({ body }) => promptOf(agent, body));
    for (const [at, { whose, step, text }] of asked.entries()) {
      const where = `${whose}, step ${step}`;
      // What came whole is the agent's own.
      if (text.includes('"drilldown"')) assert.equal(prompts[at].complaint, undefined, where);
      assert.ok(text.includes(whose === "main" ? TASK : whose), where);
      // The newest result, whole; behind the helpers, what was recalled, and the user's next turn, it is not the newest.
      const from = whose === "main" ? firstOf(step - 1) : (HELPERS.indexOf(whose) + 2) * 20_000 + (step - 1) * 2_000;
      const isAfter = (step === HELPED + 1 && agent.helper) || text.includes('"look"') || text.includes("Go on with the rest.");
      const isShown = step > 0 && (whose === "main" ? !isAfter || step > READS : step <= 2);
      if (isShown) for (const number of [from + 300, from + 700, from + 1_100]) assert.ok(text.includes(String(number)), `${where} lacks ${number}`);
    }
    // Each prompt goes on with the one before of its conversation, but where the log says that it was cut.
    // A cut while a call is answered inside is in the sum alone, which an agent that was killed does not come to.
    const cutsOf = (text) => Math.max(text.match(/tokens \(\w+\)$/gm)?.length ?? 0, Number(/, cut (\d+) times/.exec(text)?.[1] ?? 0));
    const cuts = told.reduce((sum, text) => sum + cutsOf(text), 0);
    const rewritten = [];
    for (const whose of ["main", ...HELPERS]) {
      const own = prompts.filter((_, at) => asked[at].whose === whose).map(({ list }) => list);
      for (const [at, list] of own.slice(1).entries()) if (!own[at].every((message, place) => message === list[place])) rewritten.push(`${whose} ${at + 1}`);
    }
    assert.ok(rewritten.length <= cuts, `${rewritten} of ${cuts} cuts: ${told.join("\n----\n")}`);
    // The agent that was resumed goes on with its prompt; Claude Code names another model in its instructions, which no cache has then.
    assert.equal(told[1].includes("(first)"), agent.isResumedAnew === true);
    // What the model read on was there, the failed call was asked again as it was, and nothing of us or of a key is told.
    const found = asked.find(({ step, text }) => step === READS && text.includes("1005\\n1006"));
    assert.ok(found, "what was recalled");
    const [failed, again] = asked.filter(({ whose, step }) => whose === "main" && step === FAILS);
    assert.equal(failed.text, again.text);
    assert.match(told.join(""), /shortened [\d,]+ of [\d,]+ tokens/);
    assert.match(told[1], /1 calls of drilldown and recall answered/);
    assert.ok(!told.join("").includes(KEY));
    // The agent does not know that anything was shortened.
    const [ours, theirs] = [through.recorded, without.recorded];
    const differs = [beyond(ours, theirs), beyond(theirs, ours)].map((list) => list.map((record) => record.slice(0, 300)));
    assert.deepEqual(differs, [[], []]);
  });
}
