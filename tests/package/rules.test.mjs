// Standing instructions as a program handles them: added, corrected, forgotten, found by a function of its own, stored and handed over.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, temporaryFolder } from "./harness.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
const { ContextManager, openSession } = await load("node/index.js");
const { fileStore } = await load("node/node.js");
const { memoryStore } = await load("node/storage.js");

const TALK = "The train was late, the sea was grey, and nobody minded. ".repeat(6);
const ANSWER = { phase: "answer", query: "sea" };
const turn = (id, text) => ({ id, kind: "user_turn", text });

/** A manager in which the user said something, each turn with talk behind it. */
function talked(turns, options) {
  const manager = new ContextManager({ budget: { answer: 1_000 }, ...options });
  for (const [at, text] of turns.entries()) {
    manager.ingest(turn(`u${at + 1}`, text));
    for (let n = 0; n < 8; n += 1) manager.ingest({ id: `a${at}-${n}`, kind: "agent_msg", text: `${n} of ${at}. ${TALK}` });
  }
  return manager;
}
const inForce = (manager) =>
  manager
    .rules()
    .filter(({ state }) => state === "in_force")
    .map(({ text }) => text);

test("rules are added, corrected and forgotten, and prompts follow", () => {
  const manager = talked(["Never push to main. Ask me above 200 euros."]);
  assert.deepEqual(manager.rules()[0], { id: "u1#1", text: "Never push to main.", kind: "prohibition", state: "in_force", why: 'says "Never"', item_id: "u1" });
  const added = manager.addRule({ text: "Answer in Spanish.", id: "tongue" });
  assert.deepEqual(added, { id: "tongue", text: "Answer in Spanish.", kind: "format", state: "in_force", why: "added by the caller" });
  const corrected = manager.correctRule("u1#2", { text: "Ask me above 350 euros." });
  assert.equal(corrected.said, "Ask me above 200 euros.");
  const { prompt, stats } = manager.build(ANSWER);
  assert.match(prompt, /\n- Answer in Spanish\. \(added\)/);
  assert.match(prompt, /\n- Ask me above 350 euros\. \(u1, corrected\)/);
  assert.ok(stats.prompt_tokens <= 1_000 && stats.rules.statements >= 2);
  const { messages } = manager.buildMessages({ phase: "answer", format: "openai-chat", running: false, query: "sea" });
  assert.ok(messages.some(({ role, content }) => role === "user" && content.includes("- Answer in Spanish. (added)")));
  manager.forgetRule("tongue");
  assert.ok(!manager.build(ANSWER).prompt.includes("Answer in Spanish."));
  assert.deepEqual(inForce(manager), ["Never push to main.", "Ask me above 350 euros."]);
});

test("what is wrong is refused with a code, a path and a hint", () => {
  const manager = talked(["Never push to main. Call me Jo."]);
  const refused = [
    [() => manager.forgetRule("u1#9"), { code: "NOT_FOUND", path: "/id", hint: /u1#1/ }],
    [() => manager.correctRule("main", { text: "Never." }), { code: "NOT_FOUND", path: "/id", hint: /there are: u1#1 u1#2/ }],
    [() => manager.correctRule("u1#1", {}), { code: "MISSING_FIELD" }],
    [() => manager.correctRule("u1#1", { state: "replaced" }), { code: "INVALID_INPUT", path: "/state" }],
    [() => manager.correctRule("u1#1", { words: "x" }), { code: "UNKNOWN_FIELD", path: "/words" }],
    [() => manager.addRule({}), { code: "MISSING_FIELD", path: "/text" }],
    [() => manager.addRule({ text: "x".repeat(401) }), { code: "OUT_OF_RANGE", path: "/text" }],
    [() => manager.addRule({ text: "Never.", kind: "law" }), { code: "INVALID_INPUT", path: "/kind", hint: /prohibition/ }],
    [() => manager.addRule({ text: "Never.", id: "a#1" }), { code: "INVALID_INPUT", path: "/id" }],
    [() => manager.addRule("Never."), { code: "INVALID_INPUT" }],
    [() => manager.forgetRule(7), { code: "INVALID_INPUT", path: "/id" }],
    [() => new ContextManager({ rules: false }).addRule({ text: "Never." }), { code: "UNSUPPORTED", hint: /rules: true/ }],
    [() => new ContextManager({ rules: { find: 7 } }), { code: "INVALID_INPUT", path: "/rules/find" }],
    [() => new ContextManager({ rules: { finder: true } }), { code: "UNKNOWN_FIELD", path: "/rules/finder" }],
  ];
  const before = JSON.stringify(manager);
  for (const [act, expected] of refused)
    assert.throws(act, (error) => {
      const { hint, ...rest } = expected;
      for (const [key, value] of Object.entries(rest)) assert.equal(error[key], value, `${act}: ${error.code} ${error.path} ${error.message}`);
      if (hint) assert.match(error.hint ?? "", hint);
      return true;
    });
  assert.equal(JSON.stringify(manager), before);
  manager.addRule({ text: "Never.", id: "mine" });
  assert.throws(() => manager.addRule({ text: "Always.", id: "mine" }), { code: "DUPLICATE_ID", path: "/id" });
});

test("a function finds what is stated; where it says nothing or throws, the built-in finder does", () => {
  const seen = [];
  const find = (item) => {
    seen.push(item.id);
    if (item.text.includes("throw")) throw new Error("no model");
    if (item.text.includes("guests")) return [{ text: "The blue one is for guests.", kind: "definition" }, "Water it on Mondays."];
    return item.text.includes("verse") ? [] : undefined;
  };
  const turns = ["The blue one is for guests. Never push to main.", "Always answer in verse.", "Never answer after nine.", "Always throw it away."];
  const manager = talked(turns, { rules: { find } });
  assert.deepEqual(inForce(manager), ["The blue one is for guests.", "Water it on Mondays.", "Never answer after nine.", "Always throw it away."]);
  const pack = manager.build(ANSWER);
  assert.ok(
    pack.warnings.some((warning) => warning.includes("/rules/find") && warning.includes("u4")),
    pack.warnings?.join(),
  );
  assert.equal(manager.build(ANSWER).warnings, undefined, "it is said once");
  assert.match(pack.prompt, /\n- Water it on Mondays\. \(u1\)/, "words that no turn has are said");
  assert.deepEqual(seen, ["u1", "u2", "u3", "u4"], "each turn is asked for once");
  assert.equal(manager.stats().hook_errors, 1);
  for (const answer of ["Never.", [7], [{ words: "x" }], Promise.resolve([])]) {
    const wrong = talked(["Never push to main."], { rules: { find: () => answer } });
    assert.throws(() => wrong.rules(), { code: "CALLBACK_FAILED" });
  }
  const inner = talked(["Never push to main."], { rules: { find: () => inner.rules() } });
  assert.throws(() => inner.rules(), { code: "CALLBACK_FAILED" });
  const withheld = new ContextManager({ rules: { find: ({ id }) => assert.notEqual(id, "secret") } });
  withheld.ingest({ ...turn("secret", "Never say the code."), sensitivity: "restricted" });
  assert.deepEqual(withheld.rules(), []);
});

test("sessions keep what was added, corrected and forgotten", async (t) => {
  const folder = await temporaryFolder("rules");
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, store] of [
    ["memory", memoryStore()],
    ["files", fileStore(folder)],
  ]) {
    const options = { budget: { answer: 1_000 } };
    const session = await openSession(store.session("s1"), options);
    session.manager.ingest(turn("u1", "Never push to main. Call me Jo. Ask me above 200 euros."));
    session.manager.addRule({ text: "Answer in Spanish." });
    await session.save();
    session.manager.correctRule("u1#3", { text: "Ask me above 350 euros." });
    session.manager.forgetRule("u1#2");
    await session.save();
    session.manager.ingest(turn("u2", "What is left?"));
    await session.save();
    const again = await openSession(store.session("s1"), options);
    assert.deepEqual(again.manager.rules(), session.manager.rules(), name);
    assert.deepEqual(inForce(again.manager).sort(), ["Answer in Spanish.", "Ask me above 350 euros.", "Never push to main."], name);
    assert.equal(again.manager.build(ANSWER).prompt, session.manager.build(ANSWER).prompt, name);
    again.manager.forgetRule("rule:0");
    await again.save();
    const third = await openSession(store.session("s1"), options);
    assert.equal(third.manager.addRule({ text: "Answer in French." }).id, "rule:1", `${name}: an id is not used twice`);
  }
  const manager = talked(["Never push to main."], { rules: { find: () => undefined } });
  const restored = ContextManager.restore(manager.exportSince().changes);
  assert.deepEqual(restored.restored.missing_functions, ["rules"]);
  assert.deepEqual(inForce(restored), ["Never push to main."], "without its function rules are kept all the same");
});

test("a handoff carries what is in force, and recall says whether it is", () => {
  const turns = ["Refunds above 200 euros go to me first.", "Call me Jo.", "From now on only refunds above 350 euros go to me first."];
  const manager = talked(turns);
  manager.addRule({ text: "Never name a customer." });
  const { pack, markdown } = manager.handoff();
  assert.deepEqual(
    pack.rules.map(({ id }) => id),
    ["u2#1", "u3#1", "rule:0"],
  );
  assert.match(
    markdown,
    /## Rules in force\n- Call me Jo\. \(u2\)\n- From now on only refunds above 350 euros go to me first\. \(u3\)\n- Never name a customer\. \(added\)\n/,
  );
  assert.ok(!markdown.includes("200 euros") && pack.token_estimate <= 1_500);
  const small = manager.handoff({ budget_tokens: 60 });
  assert.ok(
    small.pack.rules.some(({ text }) => text === "Never name a customer."),
    "what was added goes first",
  );

  const { text, rules } = manager.recall("refunds above 200 euros");
  assert.deepEqual(
    rules.map(({ id, state }) => [id, state]),
    [
      ["u3#1", "in_force"],
      ["u1#1", "replaced"],
    ],
  );
  assert.ok(
    text.startsWith(
      "[STANDING INSTRUCTIONS]\n- From now on only refunds above 350 euros go to me first. (u3)\n- no longer in force, replaced by u3#1: Refunds above 200 euros go to me first. (u1)",
    ),
    text,
  );
  const named = manager.recall("may I name the customer?");
  assert.equal(named.rules[0].text, "Never name a customer.");
  assert.deepEqual(manager.recall("a grey sea").rules, []);
  assert.ok(manager.recall("refunds euros", { max_tokens: 60 }).tokens <= 60);
});

test("the first request and the current one stay, also in a plain build", () => {
  const long = `We move the archive of the harbour office to the new shelves. ${"It has many boxes, and each has a label in ink. ".repeat(60)}`;
  for (const first of ["We move the archive of the harbour office to the new shelves.", long]) {
    const manager = talked([first, ...Array.from({ length: 30 }, (_, n) => `And then, in year ${n}? ${TALK}`), "Which boxes are left?"]);
    for (const budget_tokens of [600, 1_000, 4_000, 8_000]) {
      const { prompt, stats } = manager.build({ phase: "answer", query: "Which boxes are left?", budget_tokens });
      assert.ok(prompt.includes("archive of the harbour") || prompt.includes("has a label in ink"), `${budget_tokens}: the first request`);
      assert.ok(prompt.includes("Which boxes are left?"), `${budget_tokens}: the current one`);
      assert.ok(stats.prompt_tokens <= budget_tokens);
    }
  }
});
