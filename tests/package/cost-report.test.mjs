// The measurement of `cargo xtask bench cost`: what a prompt costs beside the one before it, what counts as seen, and our sessions.
import assert from "node:assert/strict";
import test from "node:test";
import { conversation, joined } from "../../benches/cost/conversation.mjs";
import { PRICES } from "../../benches/cost/prices.mjs";
import { lengthOf, lineOf, repeats, tokensOf } from "../../benches/cost/prompt.mjs";
import { questions } from "../../benches/cost/record/evidence.mjs";
import { callsOf, figures, replay } from "../../benches/cost/replay.mjs";
import { ownSet } from "../../benches/cost/sets.mjs";
import { costPicture } from "../../benches/quality/cost-plot.mjs";
import { costFigures } from "../../benches/quality/cost.mjs";

const user = (content) => ({ role: "user", content });

test("what is repeated is what the two texts have in common", () => {
  const [a, b, c] = [user("one"), user("two"), user("twice")];
  const text = (messages) => messages.map((message) => JSON.stringify(message)).join("\n");
  const common = (before, now) => [...text(before)].findIndex((character, at) => character !== text(now)[at]);
  for (const [before, now] of [
    [[a], [b]],
    [
      [a, b],
      [a, c],
    ],
    [
      [a, b, c],
      [a, c, b],
    ],
  ]) {
    assert.equal(repeats(before, now).characters, common(before, now), text(now));
  }
  assert.equal(repeats([a], [a, b]).characters, text([a]).length, "all of the prompt before");
  assert.equal(repeats([a, b], [a]).characters, text([a]).length, "a prompt that became shorter");
  assert.deepEqual(repeats([], [a]), { messages: 0, characters: 0, whole: 0 });
  assert.equal(lengthOf([a, b]), text([a, b]).length);
});

test("OpenAI reads steps of 128 tokens from 1,024 on; Anthropic reads whole messages and takes more for what it writes", () => {
  const same = (characters, whole) => ({ messages: 1, characters, whole });
  assert.equal(PRICES.openai(3000, same(4 * 1023, 1023)), 3000);
  assert.equal(PRICES.openai(3000, same(4 * 1151, 0)), 3000 - 0.9 * 1024);
  assert.equal(PRICES.openai(3000, same(4 * 1152, 0)), 3000 - 0.9 * 1152);
  assert.equal(PRICES.anthropic(3000, same(0, 1023)), 1.25 * 3000);
  assert.equal(PRICES.anthropic(3000, same(0, 2000)), 1.25 * 1000 + 0.1 * 2000);
});

const result = "the hit is in src/deep/where.rs and it has one-of-its-kind.rs beside it, ".repeat(90);
const SESSION = {
  id: "s",
  items: [
    { id: "1", kind: "user_turn", text: "find it" },
    { id: "2", kind: "agent_msg", text: "a search" },
    { id: "3", kind: "tool_call", text: 'grep {"pattern":"x"}', metadata: { tool_name: "grep" } },
    { id: "4", kind: "tool_result", text: result, parent_id: "3" },
    { id: "5", kind: "agent_msg", text: "I open it" },
    { id: "6", kind: "tool_call", text: 'read {"path":"src/deep/where.rs"}', metadata: { tool_name: "read" } },
    { id: "7", kind: "tool_result", text: "fn hit() {}", parent_id: "6" },
    { id: "8", kind: "agent_msg", text: "now the other" },
  ],
  queries: [{ query: "now the other", at: 7, evidence: ["4"], values: { 4: ["one-of-its-kind.rs"] } }],
};

const measured = (fit, budget = 50_000) => {
  const calls = [callsOf(conversation(SESSION))];
  const full = replay(calls, { make: () => ({ fit: (messages) => messages }) }, budget);
  const ours = replay(calls, { make: () => ({ fit }) }, budget);
  return Object.fromEntries(Object.keys(PRICES).map((name) => [name, figures(ours[name], full[name])]));
};

test("the whole conversation costs 1 and shows everything", () => {
  const { openai, anthropic } = measured((messages) => messages);
  assert.deepEqual([openai.cost, anthropic.cost, openai.dearer, openai.worst], [1, 1, 0, 1]);
  assert.deepEqual([openai.recall, openai["recall ahead"], openai.next, openai.newest, openai.rewrites, openai.failed], [1, 1, 1, 1, 0, 0]);
  assert.equal(openai.calls, 4, "before each of three messages of the agent, and where the question is asked");
});

test("what leaves the prompt is missed, and a beginning that changes is paid anew", () => {
  let step = 0;
  const forgetful = measured((messages) => [
    user(`step ${(step += 1)}`),
    ...messages.map((message) => (message.role === "tool" ? { ...message, content: "gone" } : message)),
  ]);
  assert.deepEqual([forgetful.openai.recall, forgetful.openai.next, forgetful.openai.newest], [0, 0, 0]);
  assert.equal(forgetful.openai.rewrites, 3, "each call but the first");
  step = 0;
  const restless = measured((messages) => [user(`step ${(step += 1)}`), ...messages]);
  assert.ok(restless.openai.cost > 1.5 && restless.anthropic.cost > 1.5, JSON.stringify(restless.openai.cost));
  assert.deepEqual([restless.openai.dearer, restless.anthropic.dearer], [1, 1], "at either price");
});

test("a strategy that throws is counted, and one that sends too much", () => {
  const failing = measured(() => {
    throw new Error("no room");
  });
  assert.deepEqual([failing.openai.failed, failing.openai.error], [4, "Error: no room"]);
  assert.equal(measured((messages) => messages, 1000).openai.over, 3);
});

test("what acts by the price model is replayed once for each", () => {
  const calls = [callsOf(conversation(SESSION))];
  const seen = [];
  const make = (budget, prices) => {
    seen.push(prices);
    return { fit: (messages) => (prices === "anthropic" ? messages.slice(-1) : messages) };
  };
  const priced = replay(calls, { make, priced: true }, 50_000);
  assert.deepEqual(seen, Object.keys(PRICES));
  assert.ok(priced.anthropic.tokens < priced.openai.tokens, "each has the figures of its own replay");
  seen.length = 0;
  replay(calls, { make }, 50_000);
  assert.deepEqual(seen, [undefined]);
});

test("joined sessions are one conversation, and their questions are asked where they were", () => {
  const one = conversation(SESSION);
  const [both, ...rest] = joined([one, one, one], 2);
  assert.equal(rest.length, 0, "what does not fill one is left out");
  assert.equal(both.messages.length, 2 * one.messages.length);
  assert.deepEqual(
    both.questions.map(({ at }) => at),
    [one.questions[0].at, one.messages.length + one.questions[0].at],
  );
  const ids = both.messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  assert.equal(new Set(ids).size, 4, "calls of different sessions have different ids");
  const answered = both.messages.filter(({ role }) => role === "tool").map((message) => message.tool_call_id);
  assert.deepEqual(answered, ids);
});

test("a step needs a result when it copies what nothing newer holds", () => {
  const filler = (id) => [
    { id: `${id}a`, kind: "agent_msg", text: "next" },
    { id: `${id}b`, kind: "tool_call", text: "list {}" },
    { id: `${id}c`, kind: "tool_result", text: "nothing of note. ".repeat(600), parent_id: `${id}b` },
  ];
  const items = (thought) => [
    { id: "u", kind: "user_turn", text: "go" },
    { id: "1", kind: "agent_msg", text: "search" },
    { id: "2", kind: "tool_call", text: "find {}" },
    { id: "3", kind: "tool_result", text: "order ORD-41234 of last week", parent_id: "2" },
    ...["x", "y", "z"].flatMap(filler),
    { id: "8", kind: "agent_msg", text: thought },
    { id: "9", kind: "tool_call", text: 'query {"id":"ORD-41234"}' },
  ];
  assert.deepEqual(questions(items("look it up"), 5), [{ query: "look it up", at: 13, evidence: ["3"], groups: [["3"]], values: { 3: ["ORD-41234"] } }]);
  assert.deepEqual(questions(items("look up ORD-41234"), 5), [], "the thought has it");
  const newer = items("look it up");
  newer[12] = { ...newer[12], text: `${newer[12].text} ORD-41234` };
  assert.deepEqual(questions(newer, 5), [], "the last result has it");
});

test("our sessions are long, of three kinds, and all that they ask for is in the whole conversation", () => {
  const { sessions } = ownSet();
  for (const kind of ["coding", "data", "support"]) assert.ok(sessions.filter(({ id }) => id.startsWith(kind)).length >= 2, kind);
  for (const session of sessions) {
    const one = conversation(session);
    assert.ok(tokensOf(lengthOf(one.messages)) >= 60_000, `${session.id}: ${tokensOf(lengthOf(one.messages))} tokens`);
    assert.equal(session.queries.length, 8, session.id);
    const { openai } = replay([callsOf(one)], { make: () => ({ fit: (messages) => messages }) }, 200_000);
    assert.deepEqual([openai.found, openai.aheadFound, openai.nextFound], [openai.queries, openai.ahead, openai.next], session.id);
    const text = one.messages.map(lineOf).join("\n");
    assert.doesNotMatch(text, /\/tmp\/|contextweaver-record/, `${session.id} names the machine it was recorded on`);
  }
});

const row = (cost, recall, rest = {}) => ({
  calls: 10,
  queries: 20,
  cost,
  recall,
  "recall ahead": recall,
  dearer: 0,
  worst: cost,
  next: 1,
  "next of": 5,
  newest: 1,
  "newest of": 5,
  rewrites: 0,
  over: 0,
  failed: 0,
  ...rest,
});
const both = (cost, recall, rest) => ({ openai: row(cost, recall, rest), anthropic: row(cost + 0.1, recall, rest) });
const RUN = {
  sessions: [
    {
      set: "a<b",
      join: 1,
      budget: 8000,
      sessions: 4,
      strategies: {
        full: both(1, 1),
        default: both(1.2, 0.9, { dearer: 3, rewrites: 2 }),
        "cut-0.3": both(0.6, 0.8),
        "cut-0.5": both(0.8, 0.95),
        "head-tail-500": both(0.1, 1, { over: 1 }),
        clear: both(1.5, 1),
      },
    },
  ],
  tools: {
    tools: 500,
    tokens: 60_000,
    steps: 10,
    offers: {
      "all tools": { cost: { openai: 1, anthropic: 1 }, right: 10 },
      "a list": { cost: { openai: 0.5, anthropic: 0.5 }, right: 9 },
      default: { cost: { openai: 0.4, anthropic: 0.6 }, right: 9 },
    },
  },
};

test("a figure stands beside the cheapest peer within the budget that shows as much, and what shows most at its cost", () => {
  const found = new Map(costFigures(RUN, { "a<b": { "cost at 8k": 62 } }).map((figure) => [`${figure.set}: ${figure.metric}`, figure]));
  const at = (name) => found.get(name) ?? assert.fail(`no figure ${name}`);
  assert.deepEqual(at("a<b: cost at 8k").peer, { name: "cut-0.5", value: 0.8 });
  assert.deepEqual([at("a<b: cost at 8k").better, at("a<b: cost at 8k").target], ["lower", 62]);
  assert.deepEqual(at("a<b: recall at 8k").peer, { name: "cut-0.5", value: 0.95 });
  assert.deepEqual([at("a<b: dearer sessions").value, at("a<b: dearer sessions").queries, at("a<b: dearer sessions").target], [6, 8, 0]);
  assert.equal(at("a<b: dearest session").value, 1.3, "of both prices");
  assert.equal(at("a<b: rewrites that no cut names").value, 4);
  assert.equal(at("500 tools: cost beside a list").value, 0.8);
  assert.deepEqual(at("500 tools: tools called right").peer, { name: "all tools", value: 1 });
});

test("the plot has a mark for each strategy but none for no engine", () => {
  const svg = costPicture(RUN.sessions, "anthropic");
  assert.match(svg, /a&lt;b, 8k/);
  assert.equal(svg.match(/<circle/g).length, 2, "ours and its sample");
  assert.equal(svg.match(/<path/g).length, 7, "four peers and the samples of three families");
  assert.equal(svg.match(/<polyline/g).length, 1, "the settings of one strategy");
  assert.doesNotMatch(svg, /NaN|full/);
});
