// The mode `compat: "0.18"`, where functions of the caller and calls of MCP meet it. The figures are what 0.18.2 answers.
const LARGE = `${"word ".repeat(600)}\nstatus: ok`;
const half = (text) => [...text].length >> 1;

function make(cw, options = {}) {
  return new cw.ContextManager({ compat: "0.18", ...options });
}

export const compatCases = {
  "the caller's estimator counts items, results, slices and header"(cw, assert) {
    for (const [estimator, [small, envelope, slice, header], sections] of [
      [half, [5, 5, 4, 8], { user_turn: 13, agent_msg: 50 }],
      ["heuristic/chardiv4", [2, 2, 2, 4], { user_turn: 6, agent_msg: 25 }],
    ]) {
      const m = make(cw, { estimator });
      const short = "東京 is large";
      const cost = ({ item }) => item.token_estimate;
      assert.equal(cost(m.ingestToolResult({ tool_call_id: "c1", tool_name: "t", raw_output: short })), small);
      assert.equal(cost(m.ingestMcpResult({ tool_call_id: "m1", tool_name: "t", result: { content: [{ type: "text", text: short }] } })), small);
      assert.equal(cost(m.ingestEnvelope({ tool_call_id: "e1", tool_name: "t", envelope: { status: "ok", summary: short } })), envelope);
      const { item_id } = m.drilldown("artifact:result:c1", { type: "head", chars: 8 }, { inject: true });
      assert.equal(m.events.get(item_id).token_estimate, slice);
      m.free();
      const built = make(cw, { estimator });
      built.ingestAll([
        { id: "a", kind: "user_turn", text: "error Ⅻ release response id" },
        { id: "b", kind: "agent_msg", text: "x".repeat(100) },
      ]);
      const { stats } = built.build({ phase: "answer", query: "q", header: "some header text" });
      assert.deepEqual([stats.tokens_per_section, stats.header_footer_tokens], [sections, header]);
      built.free();
    }
  },

  "by default, too, sections are counted by the caller's estimator"(cw, assert) {
    const m = new cw.ContextManager({ estimator: half });
    for (let i = 0; i < 40; i++) m.ingest({ id: `i${i}`, kind: i % 2 ? "agent_msg" : "user_turn", text: `message ${i} ${"abcdefg ".repeat(10)}` });
    const { prompt, items, stats } = m.build({ phase: "answer", query: "message 7", budget_tokens: 1000 });
    assert.equal(stats.prompt_tokens, half(prompt));
    for (const item of items) assert.ok(item.tokens - half(prompt.slice(item.start, item.end)) <= 1, item.id);
    const sum = Object.values(stats.tokens_per_section).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - stats.prompt_tokens) <= items.length, `${sum} of ${stats.prompt_tokens}`);
    m.free();
  },

  "a tool's later MCP result has its own bytes, facts and status"(cw, assert) {
    const fail = () => {
      throw new Error("no");
    };
    const m = make(cw, { summarizer: fail, extractor: fail });
    const take = (tool_call_id, result) => m.ingestMcpResult({ tool_call_id, tool_name: "t", result }).envelope;
    for (const [id, v, size] of [["a", "first", 14], ["b", "second!", 16]]) {
      const { summary, artifacts } = take(id, { content: [], structuredContent: { v } });
      assert.deepEqual([summary, artifacts[0].size_bytes], [`v: ${v}`, size]);
      assert.equal(m.drilldown("mcp:t:structured_content", { type: "head" }).text, `{"v": "${v}"}`);
    }
    const large = take("c", { content: [{ type: "text", text: LARGE }], structuredContent: { total: 3 } });
    assert.deepEqual([large.status, large.summary, large.facts], ["ok", "(summary unavailable)", ["status: ok", "total: 3"]]);
    m.free();
  },

  "every view can be read"(cw, assert) {
    const m = make(cw);
    const rows = Array.from({ length: 80 }, (_, id) => ({ id }));
    m.artifacts.put({ handle: "h", content: JSON.stringify({ a: 1, errors: ["disk full"], rows }), media_type: "application/json" });
    const views = m.artifacts.views("h");
    assert.deepEqual(views.map((view) => view.view_id), ["h:json_keys", "h:key:a", "h:key:errors", "h:key:rows", "h:head"]);
    for (const { selector } of views) assert.ok(m.drilldown("h", selector).text.length > 0, JSON.stringify(selector));
    m.free();
  },

  "a policy replaces that of a profile"(cw, assert) {
    const m = make(cw, { profile: { policy: { sensitivity_floor: "restricted" } }, policy: { sensitivity_action: "drop" } });
    m.ingest({ id: "a", kind: "user_turn", text: "x", sensitivity: "confidential" });
    assert.equal(m.build({ phase: "answer", query: "x" }).stats.included_count, 0);
    m.free();
  },

  "a build that fails calls no hook"(cw, assert) {
    const told = [];
    const hooks = { items_excluded: (event) => told.push(event), budget_exceeded: (event) => told.push(event) };
    const m = make(cw, { policy: { overflow_action: "raise" }, hooks });
    m.ingestAll([1, 2, 3].map((n) => ({ id: `u${n}`, kind: "user_turn", text: `w${n} `.repeat(40) })));
    assert.throws(() => m.build({ phase: "answer", query: "x", budget_tokens: 30 }), (error) => {
      assert.deepEqual([error.code, error.details.dropped_kinds], ["BUDGET_EXCEEDED", ["user_turn"]]);
      return error.details.stats.dropped_items.length > 0;
    });
    assert.deepEqual(told, []);
    m.free();
  },

  "a handoff asks the summarizer"(cw, assert) {
    const m = make(cw, { summarizer: () => "MINE" });
    m.ingest({ id: "d", kind: "tool_result", text: LARGE, metadata: { handoff_category: "decision" } });
    assert.deepEqual(m.handoff().pack.decisions.map((entry) => entry.text), ["MINE"]);
    m.free();
  },
};
