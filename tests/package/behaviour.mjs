// What the public API promises, as cases for every runtime: only the language itself may be used here.

const item = (id, kind, text, more = {}) => ({ id, kind, text, ...more });
const bytes = (text) => new TextEncoder().encode(text).length;
const LOG = Array.from({ length: 200 }, (_, i) => `2026-01-01 ${i} INFO request ${i} took ${i * 3} ms`).join("\n");

/** A short session with a call and its result. */
export function session() {
  return [
    item("p1", "policy", "Answer in one sentence."),
    item("u1", "user_turn", "Which invoices of ACME are overdue?"),
    item("c1", "tool_call", '{"customer":"ACME"}', { parent_id: "u1", metadata: { function_name: "list_invoices" } }),
    item("r1", "tool_result", "INV-7 is overdue by 12 days", { parent_id: "c1", metadata: { function_name: "list_invoices" } }),
    item("a1", "agent_msg", "INV-7 is overdue."),
    item("s1", "user_turn", "The payroll file is confidential.", { sensitivity: "confidential" }),
    item("u2", "user_turn", "And who pays for INV-7?"),
  ];
}

function manager(cw, options) {
  const made = new cw.ContextManager(options);
  made.ingestAll(session());
  return made;
}

/** Every candidate is either in the prompt or dropped with a reason. */
function balances(assert, pack) {
  const { stats, items } = pack;
  assert.equal(stats.included_count + stats.dropped_count, stats.total_candidates);
  const ids = [...items.map((i) => i.id), ...stats.dropped_items.map((d) => d.item_id)];
  assert.equal(new Set(ids).size, stats.total_candidates, "every candidate once");
  assert.ok(
    stats.dropped_items.every((d) => d.reason && d.stage && d.tokens >= 0),
    "reason, stage, tokens",
  );
  assert.ok(stats.prompt_tokens <= stats.budget_tokens, `${stats.prompt_tokens} of ${stats.budget_tokens}`);
}

export const behaviourCases = {
  "a build shows the log in order and says what it left out"(cw, assert) {
    const m = manager(cw);
    const pack = m.build({ phase: "answer", query: "INV-7 overdue", explain: true });
    balances(assert, pack);
    assert.equal(pack.phase, "answer");
    const places = pack.items.map((i) => session().findIndex((s) => s.id === i.id));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    const drop = pack.stats.dropped_items.find((d) => d.item_id === "s1");
    assert.deepEqual([drop.reason, drop.stage], ["sensitivity", "sensitivity"]);
    assert.ok(!pack.prompt.includes("payroll"), "the confidential item");
    assert.match(pack.prompt, /\[TOOL RESULT\b/);
    assert.equal(pack.explanation.candidates.length, pack.stats.total_candidates);
    assert.equal(m.build({ phase: "answer" }).explanation, undefined);
    const one = new cw.ContextManager();
    one.ingestAll(Array.from({ length: 30 }, (_, n) => ({ id: `u${n}`, kind: "user_turn", text: `order ${n} was sent to Lisbon` })));
    const all = one.build({ phase: "answer", budget_tokens: 40 });
    const { stats, ...rest } = one.build({ phase: "answer", budget_tokens: 40, list_dropped: 1 });
    assert.ok(all.stats.dropped_items.length > 1);
    assert.deepEqual({ ...rest, stats }, { ...all, stats: { ...all.stats, dropped_items: all.stats.dropped_items.slice(0, 1) } });
    assert.throws(() => one.build({ phase: "answer", list_dropped: -1 }), { code: "OUT_OF_RANGE", path: "/list_dropped" });
    one.free();
    const last = pack.items.at(-1);
    assert.ok(last.end <= bytes(pack.prompt) && last.start < last.end, "byte ranges");
    m.free();
  },

  "a budget is never exceeded, and pins are kept or named"(cw, assert) {
    const m = manager(cw);
    m.ingestAll(Array.from({ length: 100 }, (_, i) => item(`x${i}`, "agent_msg", `remark ${i} about the weather`)));
    m.ingest(item("u3", "user_turn", "So?"));
    for (const budget_tokens of [40, 60, 100, 400]) {
      const pack = m.build({ phase: "answer", query: "ACME invoices", budget_tokens });
      balances(assert, pack);
      assert.equal(pack.stats.budget_tokens, budget_tokens);
    }
    const pinned = m.build({ phase: "answer", budget_tokens: 80, pin: ["x3"] });
    assert.ok(
      pinned.items.some((i) => i.id === "x3"),
      "the pinned item",
    );
    const error = assert.throws(() => m.build({ phase: "answer", budget_tokens: 3, pin: ["x3"] }), { code: "BUDGET_EXCEEDED" });
    assert.ok(error.details.over_by > 0, "by how much");
    assert.throws(() => m.build({ phase: "answer", pin: ["nobody"] }), { code: "NOT_FOUND" });
    m.free();
  },

  "a run of 400 steps compiles by default"(cw, assert) {
    const m = new cw.ContextManager();
    const kept = new cw.ContextManager({ active_turn: "keep" });
    m.ingest(item("u", "user_turn", "fix the bug"));
    for (let n = 0; n < 400; n++) {
      m.ingest(item(`c${n}`, "tool_call", `I look into file ${n} because it may hold the reason for the failure we see in the tests`));
      m.ingestToolResult({ tool_call_id: `c${n}`, tool_name: "read_file", raw_output: `export const x = ${n};` });
      if (n % 40 !== 39) continue;
      for (const budget_tokens of [300, undefined]) {
        const pack = m.build({ phase: "interpret", query: "fix the bug", ...(budget_tokens && { budget_tokens }) });
        balances(assert, pack);
        const ids = pack.items.map((i) => i.id);
        assert.ok(ids.includes("u") && ids.includes(`result:c${n}`), `step ${n}`);
        assert.deepEqual(
          ids.filter((id) => id.startsWith("c")),
          ids.filter((id) => id.startsWith("result:")).map((id) => id.slice(7)),
        );
      }
      const { messages } = m.buildMessages({ phase: "interpret", format: "openai-chat" });
      assert.ok(messages.length > 20, `${messages.length} messages`);
    }
    kept.ingestAll(m.events.list());
    const error = assert.throws(() => kept.build({ phase: "interpret" }), { code: "BUDGET_EXCEEDED" });
    assert.match(error.hint, /trim/);
    kept.free();
    m.free();
  },

  "a result is not shown without its call"(cw, assert) {
    const m = manager(cw);
    for (let budget_tokens = 20; budget_tokens < 120; budget_tokens += 7) {
      const ids = m.build({ phase: "answer", query: "overdue", budget_tokens }).items.map((i) => i.id);
      assert.equal(ids.includes("r1"), ids.includes("c1"), `at ${budget_tokens}`);
    }
    m.free();
  },

  "phases differ in what they admit, options are closed"(cw, assert) {
    const m = manager(cw);
    const kinds = (phase) => new Set(m.build({ phase }).items.map((i) => m.events.get(i.id).kind));
    assert.ok(!kinds("route").has("tool_result") && kinds("interpret").has("tool_result"), "tool results");
    assert.throws(() => m.build({ phase: "dance" }), { code: "INVALID_INPUT", path: "/phase" });
    for (const none of [{}, { phase: undefined }, { phase: null }]) {
      assert.equal(m.build(none).prompt, m.build({ phase: "answer" }).prompt);
      for (const running of [false, true]) {
        const { messages, pack } = m.buildMessages({ ...none, format: "anthropic", running });
        const said = m.buildMessages({ phase: "answer", format: "anthropic", running });
        assert.deepEqual(messages, said.messages);
        assert.ok(messages.length > 0 && pack.items.length > 0);
        assert.deepEqual([pack.phase, pack.items], ["answer", said.pack.items]);
      }
    }
    // What may stand for a missing field is named, or the values that it may have.
    const missing = (path, hint) => ({ code: "MISSING_FIELD", path, hint });
    assert.throws(() => m.ingest({ ID: "x", kind: "user_turn", text: "hi" }), missing("/id", "there is `ID`; did you mean `id`?"));
    assert.throws(
      () => m.ingest({ id: "x", text: "hi" }),
      missing("/kind", "one of: user_turn agent_msg tool_call tool_result doc_snippet retrieved_doc memory_fact plan_state policy"),
    );
    assert.throws(() => m.ingest([{ id: "x", kind: "user_turn", text: "hi" }]), { code: "INVALID_INPUT", hint: "a list of items goes to ingestAll" });
    const misspelt = (hint) => ({ code: "UNKNOWN_FIELD", hint });
    assert.throws(() => m.build({ phase: "answer", querry: "x" }), { path: "/querry", ...misspelt("did you mean `query`?") });
    assert.throws(() => m.build({ phase: "answer", budgetTokens: 5 }), { path: "/budgetTokens", ...misspelt("did you mean `budget_tokens`?") });
    assert.throws(() => m.build({ phase: "answer", colour: 5 }), { path: "/colour", ...misspelt(undefined) });
    assert.throws(() => new cw.ContextManager({ budgets: {} }), { path: "/budgets", ...misspelt("did you mean `budget`?") });
    assert.throws(() => new cw.ContextManager({ policy: { floor: "public" } }), { path: "/policy/floor", code: "UNKNOWN_FIELD" });
    assert.throws(() => new cw.ContextManager({ hooks: { context_build: () => 1 } }), {
      path: "/hooks/context_build",
      ...misspelt("did you mean `context_built`?"),
    });
    assert.throws(() => cw.ToolCallContext.of({}, { secret: ["a"] }), { path: "/secret", ...misspelt("did you mean `secrets`?") });
    assert.throws(() => new cw.ContextManager({ scoring: { recency_weight: 0.5, dedup_threshold: 1 } }), { code: "UNKNOWN_FIELD" });
    const error = assert.throws(() => new cw.ContextManager({ profile: "quick" }), { path: "/profile" });
    assert.match(error.hint, /fast/);
    m.free();
  },

  "what calls of a model cost scales the budgets of its prompts"(cw, assert) {
    const m = new cw.ContextManager();
    m.ingestAll(Array.from({ length: 90 }, (_, at) => ({ id: `u${at}`, kind: "user_turn", text: `turn ${at} `.repeat(40) })));
    const build = (model, manager = m) => manager.build({ phase: "answer", budget_tokens: 3_000, ...(model && { model }) });
    const before = build();
    for (const actual of [1_400, 1_600]) m.observeUsage({ model: "m-1", estimated: 1_000, actual });
    const { stats } = build("m-1");
    assert.deepEqual(stats.calibration, { model: "m-1", factor: 1.5, observations: 2 });
    assert.ok(stats.budget_tokens === 2_000 && stats.prompt_tokens <= 2_000 && stats.prompt_tokens > 1_800, stats.prompt_tokens);
    assert.deepEqual(build("m-2"), before);
    assert.deepEqual(build(), before);
    const copy = cw.ContextManager.fromJSON(JSON.parse(JSON.stringify(m)));
    assert.deepEqual(build("m-1", copy), build("m-1"));
    const off = cw.ContextManager.fromJSON(JSON.stringify(m), { calibrate: false });
    assert.deepEqual(build("m-1", off), before);
    const messages = m.buildMessages({ phase: "answer", format: "openai-chat", model: "m-1", budget_tokens: 3_000 });
    assert.ok(messages.tokens <= 2_000 && messages.pack.stats.calibration.factor === 1.5, messages.tokens);
    assert.throws(() => m.observeUsage({ model: "m-1", estimated: 0, actual: 1 }), { code: "OUT_OF_RANGE", path: "/estimated" });
    assert.throws(() => m.observeUsage({ model: "m-1", estimated: 1 }), { code: "MISSING_FIELD", path: "/actual" });
    for (const one of [m, copy, off]) one.free();
  },

  "sections are counted by the caller's estimator"(cw, assert) {
    const half = (text) => [...text].length >> 1;
    const m = new cw.ContextManager({ estimator: half });
    for (let i = 0; i < 40; i++) m.ingest({ id: `i${i}`, kind: i % 2 ? "agent_msg" : "user_turn", text: `message ${i} ${"abcdefg ".repeat(10)}` });
    const { prompt, items, stats } = m.build({ phase: "answer", query: "message 7", budget_tokens: 1000 });
    assert.equal(stats.prompt_tokens, half(prompt));
    for (const item of items) assert.ok(item.tokens - half(prompt.slice(item.start, item.end)) <= 1, item.id);
    const sum = Object.values(stats.tokens_per_section).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - stats.prompt_tokens) <= items.length, `${sum} of ${stats.prompt_tokens}`);
    m.free();
  },

  "encodings of other packages count tokens"(cw, assert) {
    const text = "a <|endoftext|> b";
    const asked = [];
    const counting = {
      countTokens(given, options) {
        asked.push([this === counting, options.disallowedSpecial.size]);
        return given.split(" ").length;
      },
    };
    const encoding = {
      encode(given, ...special) {
        asked.push([this === encoding, special.flat().length]);
        return given.split(" ");
      },
    };
    for (const estimator of [counting, encoding]) {
      const m = new cw.ContextManager({ estimator });
      m.ingest({ id: "u", kind: "user_turn", text });
      const { prompt, stats } = m.build({ phase: "answer" });
      assert.equal(stats.prompt_tokens, prompt.split(" ").length);
      const count = asked.length;
      m.build({ phase: "answer" });
      assert.equal(asked.length, count, "texts are counted once");
      m.free();
    }
    assert.ok(
      asked.every(([isOwn, special]) => isOwn && special === 0),
      JSON.stringify(asked),
    );
    assert.throws(() => new cw.ContextManager({ estimator: { count: () => 1 } }), { code: "INVALID_INPUT", path: "/estimator" });
  },

  "header, footer and memory are part of the prompt and of its budget"(cw, assert) {
    const m = manager(cw);
    assert.match(m.addFact({ key: "region", value: "Europe" }).fact_id, /region/);
    m.addEpisode({ episode_id: "e1", summary: "ACME paid late in March." });
    const pack = m.build({ phase: "answer", header: "You are careful.", footer: "Answer:" });
    for (const part of ["region: Europe", "paid late", "You are careful."]) assert.ok(pack.prompt.includes(part), part);
    assert.ok(pack.prompt.endsWith("Answer:"), "the footer");
    assert.equal(pack.stats.prompt_tokens, cw.countTokens(pack.prompt));
    assert.deepEqual(
      m.facts.list().map((f) => f.key),
      ["region"],
    );
    assert.deepEqual(
      m.episodes.list().map((e) => e.episode_id),
      ["e1"],
    );
    m.free();
  },

  "bad items leave no trace"(cw, assert) {
    const m = manager(cw);
    const before = JSON.stringify(m);
    const bad = [
      [[item("n1", "user_turn", "x"), item("n2", "guest", "x")], { code: "INVALID_INPUT", path: "/items/1/kind" }],
      [[item("n1", "user_turn", "x"), item("n1", "user_turn", "x")], { code: "DUPLICATE_ID" }],
      [[item("n1", "user_turn", "x"), item("u1", "user_turn", "x")], { code: "DUPLICATE_ID" }],
      [[item("n1", "user_turn", "x"), { id: "n2", kind: "user_turn" }], { code: "MISSING_FIELD", path: "/items/1/text" }],
    ];
    for (const [items, expected] of bad) assert.throws(() => m.ingestAll(items), expected);
    assert.throws(() => m.ingest(item("u1", "user_turn", "x")), { code: "DUPLICATE_ID" });
    assert.equal(JSON.stringify(m), before);
    m.free();
  },

  "large results are kept whole and read in part"(cw, assert) {
    const m = manager(cw);
    const small = m.ingestToolResult({ tool_call_id: "c1", tool_name: "one", raw_output: "total: 42" });
    assert.equal(small.item.text, "total: 42");
    m.ingest(item("c2", "tool_call", "logs()"));
    const { item: added, envelope } = m.ingestToolResult({ tool_call_id: "c2", tool_name: "logs", raw_output: LOG });
    assert.deepEqual([added.id, added.parent_id, added.kind], ["result:c2", "c2", "tool_result"]);
    assert.ok(added.text.length < LOG.length / 2, "the summary is short");
    const [{ handle, size_bytes }] = envelope.artifacts;
    assert.equal(size_bytes, bytes(LOG));
    assert.equal(new TextDecoder().decode(m.artifacts.bytes(handle)), LOG);
    assert.ok(
      m.artifacts.list().some((a) => a.handle === handle),
      "listed",
    );
    const slice = m.drilldown(handle, { type: "lines", start: 10, end: 12 });
    assert.equal(slice.text, LOG.split("\n").slice(10, 12).join("\n"));
    assert.deepEqual([slice.handle, slice.selector], [handle, { type: "lines", start: 10, end: 12 }]);
    assert.equal(slice.item_id, undefined);
    const cut = m.drilldown(handle, { type: "head", chars: 4000 }, { max_tokens: 20 });
    assert.ok(cut.truncated && cw.countTokens(cut.text) <= 20, "max_tokens");
    const injected = m.drilldown(handle, { type: "head", chars: 60 }, { inject: true });
    assert.equal(m.events.get(injected.item_id).text, LOG.slice(0, 60));
    assert.throws(() => m.drilldown("artifact:none", { type: "head" }), { code: "ARTIFACT_NOT_FOUND" });
    assert.throws(() => m.drilldown(handle, { type: "middle" }), { code: "UNSUPPORTED" });
    assert.throws(() => m.ingestToolResult({ tool_call_id: "c2", tool_name: "logs", raw_output: "again" }), { code: "DUPLICATE_ID" });
    assert.equal(new TextDecoder().decode(m.artifacts.bytes(handle)), LOG, "a refused result does not overwrite");
    m.free();
  },

  "sensitive results cannot be read around the policy"(cw, assert) {
    const m = new cw.ContextManager();
    const said = [
      m.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: "salary: 1", sensitivity: "restricted" }),
      m.ingestEnvelope({ tool_call_id: "e", tool_name: "t", envelope: { status: "ok", summary: "salary: 1" }, sensitivity: "restricted" }),
      m.stats(),
    ];
    assert.ok(!JSON.stringify(said).includes("salary"), JSON.stringify(said));
    assert.deepEqual([said[0].envelope.summary, said[0].envelope.facts], ["[REDACTED: restricted]", []]);
    const [{ handle }] = m.artifacts.list();
    assert.equal(new TextDecoder().decode(m.artifacts.bytes(handle)), "salary: 1");
    assert.equal(m.events.get("result:e").text, "salary: 1");
    assert.throws(() => m.drilldown(handle, { type: "head" }), { code: "POLICY_VIOLATION" });
    assert.ok(!m.build({ phase: "answer" }).prompt.includes("salary"), "the prompt");
    m.free();
  },

  "envelopes from elsewhere are taken as they are"(cw, assert) {
    const m = manager(cw);
    const { item: added } = m.ingestEnvelope({ tool_call_id: "c1", tool_name: "t", envelope: { status: "success", summary: "all good" } });
    assert.equal(added.text, "all good");
    assert.throws(() => m.ingestEnvelope({ tool_call_id: "c9", tool_name: "t", envelope: { status: "fine", summary: "" } }), {
      code: "INVALID_INPUT",
      path: "/envelope/status",
    });
    m.free();
  },

  "a snapshot restores the same prompts"(cw, assert) {
    const m = manager(cw, { budget: { answer: 90 } });
    m.addFact({ fact_id: "f", key: "k", value: "v" });
    m.ingestToolResult({ tool_call_id: "c3", tool_name: "logs", raw_output: LOG });
    const snapshot = JSON.stringify(m);
    for (const from of [snapshot, JSON.parse(snapshot), m.toJSON()]) {
      const copy = cw.ContextManager.fromJSON(from, { budget: { answer: 90 } });
      assert.equal(JSON.stringify(copy), snapshot);
      for (const phase of ["route", "call", "interpret", "answer"]) {
        const query = "overdue invoices";
        assert.deepEqual(copy.build({ phase, query }), m.build({ phase, query }));
      }
      copy.ingest(item("more", "user_turn", "x"));
      assert.equal(m.events.count() + 1, copy.events.count());
      copy.free();
    }
    const next = JSON.stringify({ ...m.toJSON(), schema_version: 99 });
    assert.throws(() => cw.ContextManager.fromJSON(next), { code: "SNAPSHOT_VERSION", path: "/schema_version" });
    for (const other of [{}, { error: "not found" }, { items: session() }, '{"error":"not found"}']) {
      const error = assert.throws(() => cw.ContextManager.fromJSON(other), { code: "MISSING_FIELD", path: "/schema_version" });
      assert.match(error.hint, /toJSON.*event_log: \{items\}/);
    }
    assert.throws(() => cw.ContextManager.fromJSON({ schema_version: 1 }), { code: "MISSING_FIELD", path: "/event_log" });
    m.free();
  },

  "one by one or in bulk, the prompts are the same"(cw, assert) {
    const bulk = manager(cw);
    const single = new cw.ContextManager();
    for (const each of session()) single.ingest(each);
    const lazy = new cw.ContextManager();
    lazy.ingestAll(
      (function* () {
        yield* session();
      })(),
    );
    const built = [bulk, single, lazy].map((m) => JSON.stringify(m.build({ phase: "answer", query: "ACME", explain: true })));
    assert.equal(new Set(built).size, 1);
    for (const m of [bulk, single, lazy]) m.free();
  },

  "a running prompt only adds to the one before"(cw, assert) {
    const m = manager(cw);
    const step = (each, query) => each.build({ phase: "answer", query, running: true });
    const first = step(m, "invoices");
    assert.equal(first.running.cut, "first");
    m.ingest(item("a2", "agent_msg", "ACME pays."));
    m.ingest(item("u4", "user_turn", "When?"));
    const second = step(m, "when");
    assert.ok(second.prompt.startsWith(first.prompt), "the earlier prompt is a prefix");
    assert.ok(second.prompt.length > first.prompt.length, "what is new stands behind it");
    assert.deepEqual([second.running.cut, second.running.repeated_tokens], [undefined, first.running.tokens]);
    const copy = cw.ContextManager.fromJSON(m.toJSON());
    for (const each of [m, copy]) each.ingest(item("u5", "user_turn", "How much?"));
    const third = step(m, "");
    assert.ok(third.prompt.startsWith(second.prompt), "it goes on");
    assert.equal(step(copy, "").prompt, third.prompt);
    copy.free();
    m.free();
  },

  "the record of a step is made when it is read, up to the second cut after it"(cw, assert) {
    const m = new cw.ContextManager();
    const steps = [];
    const cuts = () => steps.filter(({ step }) => step.cut).length;
    for (let n = 0; cuts() < 3; n += 1) {
      m.ingest(item(`u${n}`, n % 2 ? "agent_msg" : "user_turn", `turn ${n} ${"some words that take room ".repeat(20)}`));
      steps.push(m.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: 1_000 }));
    }
    const first = steps.findIndex(({ step }) => step.cut === "full");
    for (const { pack, step } of steps.slice(first)) {
      assert.equal(pack.stats.prompt_tokens, cw.countTokens(pack.prompt), `step ${step.step}`);
      assert.deepEqual([pack.items.length, pack.running, pack.phase], [pack.stats.included_count, step, "answer"]);
      assert.ok(pack.prompt === pack.prompt && Array.isArray(pack.envelopes));
    }
    // What went before has its numbers.
    for (const { pack } of steps.slice(0, first)) {
      assert.ok(pack.stats.prompt_tokens > 0);
      assert.throws(() => pack.prompt, { code: "NOT_FOUND", path: "/step" });
    }
    const [read, unread] = [steps.at(-1), m.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: 1_000 })];
    m.free();
    assert.ok(read.pack.prompt.length > 0);
    assert.throws(() => unread.pack.items, { code: "DISPOSED" });
  },

  "functions of the caller count, label, summarise and redact"(cw, assert) {
    const seen = [];
    const words = (text) => text.split(/\s+/).length;
    const m = new cw.ContextManager({
      estimator: words,
      classifier: (i) => (i.text.includes("secret plan") ? "restricted" : "public"),
      summarizer: { name: "short", summarize: (i, text) => `${text.length} characters of ${i.metadata.tool_name}` },
      policy: { sensitivity_action: "redact", redaction_hooks: ["stars"] },
      redaction_hooks: { stars: (i) => "*".repeat(3) + i.id },
      hooks: { context_built: (e) => seen.push(e.phase), items_excluded: (e) => seen.push(e.reason) },
    });
    m.ingest(item("u1", "user_turn", "the secret plan"));
    m.ingest(item("c1", "tool_call", "logs()"));
    assert.equal(m.ingestToolResult({ tool_call_id: "c1", tool_name: "logs", raw_output: LOG }).item.text, `${LOG.length} characters of logs`);
    const pack = m.build({ phase: "answer" });
    assert.equal(pack.stats.token_estimator, words.name); // a bundler may have renamed it
    assert.ok(pack.prompt.includes("***u1") && !pack.prompt.includes("plan"), pack.prompt);
    assert.ok(pack.stats.prompt_tokens <= pack.stats.budget_tokens, "budget in words");
    assert.deepEqual(seen, ["answer"]);
    m.free();
  },

  "a clock ages memories, and scores of the caller's count"(cw, assert) {
    let now = 1_000;
    const m = new cw.ContextManager({ clock: () => now, item_scores: ({ query }) => ({ d2: query === "x" ? 1 : 0 }) });
    const entries = [
      { id: "old", text: "old note", expires_at: 2_000 },
      { id: "new", text: "new note" },
    ];
    const select = () => m.selectMemory({ entries, phase: "answer", budget_tokens: 100 }).selected;
    assert.deepEqual([...select()].sort(), ["new", "old"]);
    now = 2_000;
    assert.deepEqual(select(), ["new"]);
    assert.ok(Array.isArray(m.consolidate().clusters));
    for (const id of ["d1", "d2"]) m.ingest(item(id, "doc_snippet", `text of ${id}, nothing to choose`));
    m.ingest(item("u1", "user_turn", "go on"));
    const given = (query) => m.build({ phase: "answer", query, explain: true }).explanation.candidates.find((c) => c.item_id === "d2").parts.caller;
    assert.deepEqual([given("x"), given("y")], [1, 0]);
    now = Number.NaN;
    assert.throws(select, (error) => error.code === "CALLBACK_FAILED");
    m.free();
  },

  "secrets are masked in the prompt and kept in the artifact"(cw, assert) {
    const secret = "AKIAABCDEFGHIJKLMNOP";
    const m = new cw.ContextManager();
    m.ingest(item("u1", "user_turn", `my key is ${secret}`));
    m.ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: `key=${secret}` });
    const pack = m.build({ phase: "answer", query: secret, explain: true });
    assert.ok(!JSON.stringify(pack).includes(secret), "no secret in the pack");
    assert.equal(new TextDecoder().decode(m.artifacts.bytes("artifact:result:c")), `key=${secret}`);
    const open = new cw.ContextManager({ redact_secrets: false });
    open.ingest(item("u1", "user_turn", `my key is ${secret}`));
    assert.ok(open.build({ phase: "answer" }).prompt.includes(secret), "switched off");
    open.free();
    m.free();
  },

  "colours and zero-width characters hide no secret"(cw, assert) {
    const secret = `ghp_${"A1b2C3d4E5f6".repeat(3)}`;
    const raw = `\u001b[32m${secret}\u001b[0m and x\u200b${secret}\n\u001b[34;1m"password"\u001b[0m: \u001b[32m"hunter 22"\u001b[0m`;
    assert.equal(cw.redactSecrets(`\u001b[32m${secret}\u001b[0m`), "\u001b[32m[REDACTED-SECRET]\u001b[0m");
    const m = new cw.ContextManager();
    m.ingest(item("c", "tool_call", "f {}"));
    const { envelope } = m.ingestToolResult({ tool_call_id: "c", tool_name: "f", raw_output: raw });
    const { text } = m.drilldown("artifact:result:c", { type: "head" });
    for (const shown of [envelope.summary, m.build({ phase: "interpret" }).prompt, text]) {
      assert.ok(shown.includes("[REDACTED-SECRET]") && !shown.includes(secret) && !shown.includes("hunter"), JSON.stringify(shown));
    }
    assert.equal(new TextDecoder().decode(m.artifacts.bytes("artifact:result:c")), raw);
    m.free();
  },

  "handoff, memory, consolidation and reports answer"(cw, assert) {
    const m = manager(cw);
    m.ingest(item("d1", "plan_state", "Use the staging ledger."));
    const handoff = m.handoff();
    assert.ok(handoff.pack.decisions.some((d) => d.id === "d1") && handoff.markdown.includes("staging ledger"), "handoff");
    const entries = [
      { id: "m1", text: "ACME pays late", scope: "fact" },
      { id: "m2", text: "likes tea", scope: "preference" },
    ];
    const choice = m.selectMemory({ entries, query: "who pays late", phase: "answer", budget_tokens: 50, ingest: true });
    assert.equal(choice.selected[0], "m1");
    assert.equal(m.events.get("memory:m1").kind, "memory_fact");
    for (const [id, day] of [
      ["e1", "01"],
      ["e2", "02"],
      ["e3", "03"],
    ]) {
      m.addEpisode({ episode_id: id, summary: "user prefers dark mode", metadata: { session_id: id, timestamp: `2026-01-${day}` } });
    }
    const report = m.consolidate({ apply: true });
    assert.equal(report.promoted.length, 1);
    assert.ok(
      m.facts.list().some((f) => f.fact_id === report.promoted[0].fact_id),
      "the promoted fact",
    );
    const pack = m.build({ phase: "answer", explain: true });
    assert.match(m.inspect({ pack, explanation: pack.explanation }).markdown, /\w/);
    assert.match(cw.buildReport({ stats: pack.stats, phase: "answer", budget: 6000 }).text, /Included/);
    const tool = { id: "t1", kind: "tool", name: "pay", description: "Pays an invoice", args_schema: { type: "object" } };
    assert.match(m.buildCall({ tool, query: "pay" }).prompt, /Tool: pay \(t1\)/);
    const stats = m.stats();
    assert.deepEqual([stats.items, stats.total_builds, stats.episodes, stats.hook_errors], [10, 2, 3, 0]);
    m.free();
  },

  "reads of the log"(cw, assert) {
    const m = manager(cw);
    assert.equal(m.events.count(), 7);
    assert.deepEqual(
      m.events.list({ kinds: ["user_turn"] }).map((i) => i.id),
      ["u1", "s1", "u2"],
    );
    assert.deepEqual(
      m.events.list({ since: 5 }).map((i) => i.id),
      ["s1", "u2"],
    );
    assert.deepEqual(
      m.events.list({ limit: 1 }).map((i) => i.id),
      ["p1"],
    );
    assert.deepEqual(m.events.get("u1"), {
      ...session()[1],
      token_estimate: 0,
      sensitivity: "public",
      metadata: {},
      parent_id: null,
      artifact_ref: null,
    });
    assert.throws(() => m.events.get("none"), { code: "NOT_FOUND" });
    m.free();
  },

  "text functions"(cw, assert) {
    assert.equal(cw.countTokens("12345678", { estimator: "heuristic/chardiv4" }), 2);
    assert.throws(() => cw.countTokens("x", { estimator: "gpt" }), { code: "INVALID_INPUT", path: "/estimator" });
    assert.throws(() => cw.countTokens("x", { estimater: "gpt" }), { code: "UNKNOWN_FIELD" });
    assert.equal(cw.redactSecrets("AKIAABCDEFGHIJKLMNOP", { mask: "$1" }), "$1");
    // As for a model: what it has to repeat stays, and what the caller names.
    const repeated = '{"csrf_token":"9f8e7d6c5b4a","upload":{"key":"password=hunter22"},"token":"9f8e7d6c5b4a"}';
    const masked = (text, ...fields) => fields.reduce((told, field) => told.replace(new RegExp(`("${field}":")[^"]*`), "$1[REDACTED-SECRET]"), text);
    assert.equal(cw.redactSecrets(repeated, { except: [] }), masked(repeated, "token").replace("password=hunter22", "password=[REDACTED-SECRET]"));
    assert.equal(cw.redactSecrets(repeated, { except: ["upload.key"] }), masked(repeated, "token"));
    assert.ok(!cw.redactSecrets(repeated).includes("9f8e7d6c5b4a"));
    assert.throws(() => cw.redactSecrets("x", { except: [""] }), { code: "INVALID_INPUT", path: "/except/0" });
    assert.throws(() => cw.redactSecrets("x", { except: "csrf" }), { code: "INVALID_INPUT", path: "/except" });
    assert.equal(cw.sanitizeText("a\u001b[31mb\r\n\u202ec"), "a\\u{1b}[31mb\n\\u{202e}c");
    assert.ok(cw.tokenize("the overdue Invoices").length > 0, "words");
  },

  "errors can be told from others"(cw, assert) {
    const error = assert.throws(() => new cw.ContextManager({ nope: 1 }), { name: "ContextWeaverError" });
    assert.ok(cw.ContextWeaverError.is(error) && error instanceof cw.ContextWeaverError && error instanceof Error, "class");
    const foreign = Object.assign(new Error("x"), { name: "ContextWeaverError", code: "CYCLE" });
    assert.ok(cw.ContextWeaverError.is(foreign), "another copy of the package");
    for (const other of [undefined, null, 1, "x", new Error("x"), { code: "CYCLE" }, { name: "ContextWeaverError", code: "X" }]) {
      assert.ok(!cw.ContextWeaverError.is(other), String(other));
    }
    assert.ok(cw.ERROR_CODES.includes("BUDGET_EXCEEDED") && new Set(cw.ERROR_CODES).size === cw.ERROR_CODES.length, "codes");
  },
};
