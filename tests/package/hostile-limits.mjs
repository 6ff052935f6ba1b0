// Sizes, numbers and bytes at and beyond their bounds.
import { fixture, isSound, item, refuses, survives } from "./hostile-values.mjs";

const MIB = 1024 * 1024;
const GOOD_BUDGETS = [0, 1, 2 ** 24];
const BAD_BUDGETS = [-1, 1.5, NaN, Infinity, 2 ** 24 + 1, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, "10", true, null, [], {}];

export const limitCases = {
  "budgets are whole numbers from 0 to 2^24"(cw, assert) {
    const state = fixture(cw);
    const { manager } = state;
    const wrong = ["INVALID_INPUT", "OUT_OF_RANGE"];
    for (const budget of GOOD_BUDGETS) {
      const pack = survives(cw, assert, `budget ${budget}`, () => manager.build({ phase: "answer", budget_tokens: budget }));
      if (pack) assert.ok(pack.stats.prompt_tokens <= budget, `${pack.stats.prompt_tokens} of ${budget}`);
      new cw.ContextManager({ budget: { answer: budget } }).free();
    }
    for (const budget of BAD_BUDGETS) {
      const name = `budget ${JSON.stringify(budget)}`;
      // null and numeric strings count as the reference has them: absent, and as the number.
      if (budget !== null) refuses(cw, assert, name, () => manager.build({ phase: "answer", budget_tokens: budget }), wrong);
      if (budget !== null) refuses(cw, assert, name, () => manager.handoff({ budget_tokens: budget }), wrong);
      if (budget !== null && budget !== "10") {
        const error = refuses(cw, assert, name, () => new cw.ContextManager({ budget: { route: budget } }), wrong);
        assert.equal(error.path, "/budget/route");
      }
      isSound(assert, state, name);
    }
    manager.free();
  },

  "other numbers have bounds too"(cw, assert) {
    const state = fixture(cw);
    const { manager } = state;
    for (const bad of [-1, 1.5, 2 ** 24 + 1, 2 ** 53, -(2 ** 31)]) {
      const name = `${bad}`;
      refuses(cw, assert, name, () => manager.ingest(item("n", "t", { token_estimate: bad })), ["OUT_OF_RANGE"]);
      refuses(cw, assert, name, () => new cw.ContextManager({ firewall: { threshold_tokens: bad } }), ["OUT_OF_RANGE"]);
      const head = { type: "head" };
      refuses(cw, assert, name, () => manager.drilldown("artifact:result:c1", head, { max_tokens: bad }), ["OUT_OF_RANGE"]);
      refuses(cw, assert, name, () => manager.recall("total", { max_tokens: bad }), ["OUT_OF_RANGE"]);
      refuses(cw, assert, name, () => manager.compact("text", { budget_tokens: bad }), ["OUT_OF_RANGE"]);
      refuses(cw, assert, name, () => manager.summaryRequests({ limit: bad }), ["OUT_OF_RANGE"]);
      survives(cw, assert, name, () => manager.drilldown("artifact:result:c1", { type: "head", chars: bad }));
      survives(cw, assert, name, () => manager.drilldown("artifact:result:c1", { type: "around", line: bad, context: 1 }));
      survives(cw, assert, name, () => manager.drilldown("artifact:result:c1", { type: "search", text: "total", start: bad }));
      survives(cw, assert, name, () => manager.drilldown("artifact:result:c1", { type: "lines", start: bad, end: bad }));
      survives(cw, assert, name, () => manager.events.list({ since: bad, limit: bad }));
      isSound(assert, state, name);
    }
    for (const bad of [-1, 1.0000001, 2 ** 53]) {
      refuses(cw, assert, "weight", () => new cw.ContextManager({ scoring: { kind_weight: bad } }), ["OUT_OF_RANGE"]);
      refuses(cw, assert, "score", () => manager.build({ phase: "answer", item_scores: { u1: bad } }), ["OUT_OF_RANGE"]);
    }
    manager.free();
  },

  "sums beyond 32 bits do not wrap"(cw, assert) {
    const manager = new cw.ContextManager();
    manager.ingestAll(Array.from({ length: 300 }, (_, i) => item(`n${i}`, `number ${i}`, { token_estimate: 2 ** 24 })));
    for (const budget of [0, 100, 2 ** 24]) {
      const pack = survives(cw, assert, `${budget}`, () => manager.build({ phase: "answer", budget_tokens: budget }));
      if (!pack) continue;
      assert.ok(pack.stats.prompt_tokens <= budget, `${pack.stats.prompt_tokens} tokens of ${budget}`);
      assert.equal(pack.stats.included_count + pack.stats.dropped_count, 300);
    }
    manager.free();
  },

  "items without end are cut off"(cw, assert) {
    const state = fixture(cw);
    let closed = false;
    function* forever() {
      try {
        for (let i = 0; ; i += 1) yield { id: `i${i}`, kind: "user_turn", text: "x" };
      } finally {
        closed = true;
      }
    }
    const error = refuses(cw, assert, "endless", () => state.manager.ingestAll(forever()), ["QUOTA_EXCEEDED", "TOO_LARGE"]);
    assert.equal(error.path, "/items/100000");
    assert.ok(closed, "the generator was closed");
    isSound(assert, state, "endless");
    state.manager.free();
  },

  "many small items, long chains, and nothing at all"(cw, assert) {
    const manager = new cw.ContextManager();
    manager.ingestAll([]);
    manager.ingestAll("");
    assert.equal(manager.build({ phase: "answer" }).prompt.length >= 0, true);
    const chain = Array.from({ length: 20_000 }, (_, i) => item(`i${i}`, "x", i > 0 ? { parent_id: `i${i - 1}` } : {}));
    manager.ingestAll(chain);
    const pack = survives(cw, assert, "chain", () => manager.build({ phase: "answer", query: "x" }));
    if (pack) assert.equal(pack.stats.included_count + pack.stats.dropped_count, 20_000);
    manager.free();
    const empty = new cw.ContextManager({});
    for (const text of ["", " ", "\n", "\u0000"]) empty.ingest(item(`t${text}`, text, { metadata: {} }));
    for (const phase of ["route", "call", "interpret", "answer"]) empty.build({ phase, query: "", header: "", pin: [] });
    assert.equal(cw.countTokens(""), 0);
    assert.deepEqual(cw.tokenize(""), []);
    assert.equal(cw.sanitizeText(""), "");
    empty.free();
  },

  "a circle of parents ends"(cw, assert) {
    const manager = new cw.ContextManager();
    manager.ingest(item("self", "me", { parent_id: "self" }));
    manager.ingestAll([item("a", "to b", { parent_id: "b" }), item("b", "to a", { parent_id: "a" })]);
    const { stats } = manager.build({ phase: "answer" });
    assert.equal(stats.included_count + stats.dropped_count, stats.total_candidates);
    manager.free();
  },

  "texts have a limit of 8 MiB, inputs of 32 MiB, artifacts of 16 MiB"(cw, assert) {
    const state = fixture(cw);
    const { manager } = state;
    const text = "x".repeat(8 * MIB + 1);
    assert.equal(refuses(cw, assert, "text", () => manager.ingest(item("t", text)), ["TOO_LARGE"]).path, "/text");
    const wide = "\u{1f600}".repeat(3 * MIB); // 6 Mi units, 12 MiB
    refuses(cw, assert, "UTF-8", () => manager.ingest(item("t", wide)), ["TOO_LARGE"]);
    const many = Array.from({ length: 5 }, (_, i) => item(`m${i}`, text.slice(2)));
    refuses(cw, assert, "input", () => manager.ingestAll(many), ["TOO_LARGE"]);
    const raw_output = new Uint8Array(16 * MIB + 1);
    refuses(cw, assert, "bytes", () => manager.ingestToolResult({ tool_call_id: "x", tool_name: "t", raw_output }), ["QUOTA_EXCEEDED"]);
    isSound(assert, state, "large");
    manager.free();
  },

  "bytes are copied at the call, whatever their buffer does"(cw, assert) {
    const state = fixture(cw);
    const { manager } = state;
    const add = (tool_call_id, raw_output) => manager.ingestToolResult({ tool_call_id, tool_name: "t", raw_output });
    const bytes = new TextEncoder().encode("kept");
    add("kept", bytes);
    bytes.fill(0);
    assert.equal(new TextDecoder().decode(manager.artifacts.bytes("artifact:result:kept")), "kept");
    const out = manager.artifacts.bytes("artifact:result:kept");
    out.fill(0);
    assert.equal(new TextDecoder().decode(manager.artifacts.bytes("artifact:result:kept")), "kept");
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    survives(cw, assert, "detached", () => add("detached", detached));
    class Liar extends Uint8Array {
      static get [Symbol.species]() {
        throw new Error("species");
      }
      get length() {
        return 2 ** 40;
      }
      get byteLength() {
        return 2 ** 40;
      }
      slice() {
        throw new Error("slice");
      }
      [Symbol.iterator]() {
        throw new Error("iterator");
      }
    }
    add("liar", new Liar([104, 105]));
    assert.equal(new TextDecoder().decode(manager.artifacts.bytes("artifact:result:liar")), "hi");
    refuses(cw, assert, "proxy", () => add("proxy", new Proxy(new Uint8Array(1), {})), ["INVALID_INPUT"]);
    refuses(cw, assert, "view", () => add("view", new DataView(new ArrayBuffer(1))), ["INVALID_INPUT"]);
    add("binary", new Uint8Array([0, 255, 0xed, 0xa0, 0x80]));
    assert.deepEqual([...manager.artifacts.bytes("artifact:result:binary")], [0, 255, 0xed, 0xa0, 0x80]);
    manager.free();
  },

  "a freed manager says so, and can be freed again"(cw, assert) {
    const { manager } = fixture(cw);
    manager.free();
    manager.free();
    if (Symbol.dispose) manager[Symbol.dispose]();
    assert.deepEqual(Object.keys(cw.ContextManager.prototype), []);
    const calls = {
      ingest: () => manager.ingest(item("x")),
      build: () => manager.build({ phase: "answer" }),
      stats: () => manager.stats(),
      toJSON: () => manager.toJSON(),
      events: () => manager.events.count(),
      bytes: () => manager.artifacts.bytes("artifact:result:c1"),
    };
    for (const [name, run] of Object.entries(calls)) refuses(cw, assert, name, run, ["DISPOSED"]);
  },

  "methods need a manager"(cw, assert) {
    const isTypeError = (error) => error instanceof TypeError;
    for (const name of ["ingest", "build", "drilldown", "stats", "free", "toJSON"]) {
      const method = cw.ContextManager.prototype[name];
      assert.throws(() => method.call({}, item("x"), { type: "head" }), isTypeError, name);
    }
    assert.throws(() => cw.ContextManager(), isTypeError);
    const extra = new cw.ContextManager(undefined, '{"schema_version":1}');
    assert.equal(extra.events.count(), 0, "the constructor has one parameter");
    extra.free();
  },

  "broken snapshots are refused"(cw, assert) {
    const { manager } = fixture(cw);
    const good = JSON.stringify(manager);
    cw.ContextManager.fromJSON(good).free();
    for (const bad of ["", "null", "[]", "{}", "1", "{", good.slice(0, -1), good.replace(/"events"/, '"evnts"'), `${"[".repeat(1e5)}`]) {
      survives(cw, assert, bad.slice(0, 20), () => cw.ContextManager.fromJSON(bad).free());
      if (bad.length < 5) refuses(cw, assert, bad, () => cw.ContextManager.fromJSON(bad));
    }
    const items = JSON.parse(good);
    const twice = JSON.stringify(items).replace(/("items":\[)(\{[^]*?"artifact_ref":null\})/, "$1$2,$2");
    if (twice !== good) refuses(cw, assert, "twice", () => cw.ContextManager.fromJSON(twice), ["DUPLICATE_ID"]);
    manager.free();
  },
};
