// Large results: what stands for them, and the ways back to the rest. Only the language itself may be used here: these
// cases run in every runtime.
import { item, refuses } from "./hostile-values.mjs";

const SECRET = "AKIAABCDEFGHIJKLMNOP";
/** A log with one error in it; of its orders only a search finds a certain one. */
const LINES = Array.from({ length: 400 }, (_, i) => `2026-01-01T00:00:${i % 60} INFO order ${10_000 + i} packed in ${i * 3} ms`);
LINES[120] = "2026-01-01T00:00:00 ERROR payment gateway timed out after 5000 ms";
const ORDER = "order 10333";
const LOG = LINES.join("\n");
const ROWS = Array.from({ length: 120 }, (_, i) => ({ id: `INV-${i}`, customer: i % 7 === 3 ? "ACME" : "Initech", total: i * 10 }));
const CSV = ["id,customer,total", ...ROWS.map(({ id, customer, total }) => `${id},${customer},${total}`)].join("\n");
const JSON_TEXT = JSON.stringify({ invoices: ROWS, page: { next: null, size: 120 }, note: "as of today" });

const text = (bytes) => new TextDecoder().decode(bytes);
const call = (id, text = "{}") => ({ id, kind: "tool_call", text, metadata: { function_name: "fetch" } });
const result = (tool_call_id, raw_output, more = {}) => ({ tool_call_id, tool_name: "fetch", raw_output, ...more });

/** A manager whose call has a large result; the handle of that. */
function withResult(cw, raw = LOG, options = {}, more = {}) {
  const m = new cw.ContextManager(options);
  m.ingest(item("u1", "What happened?"));
  m.ingest(call("c1"));
  const { item: added, envelope } = m.ingestToolResult(result("c1", raw, more));
  return { m, added, envelope, handle: envelope.artifacts[0].handle };
}

/** Reads a selector to its end through `next`; the slices. */
function follow(m, handle, selector, max_tokens) {
  const slices = [];
  for (let next = selector; next && slices.length < 500; next = slices.at(-1).next) {
    slices.push(m.drilldown(handle, next, { max_tokens }));
  }
  return slices;
}

export const resultCases = {
  "below a digest stands what is left and how to see it"(cw, assert) {
    const { m, added, handle } = withResult(cw);
    // With more room, more of the log would stand below the digest.
    const { prompt } = m.build({ phase: "interpret", budget_tokens: 250 });
    assert.ok(added.text.includes("ERROR payment gateway") && !added.text.includes(ORDER), "the digest shows the error");
    const [, shown, total, name, selector] = /\((\d+) of (\d+) tokens; drilldown (\S+) (\{.*\})\)/.exec(prompt) ?? [];
    assert.deepEqual([name, Number(total)], [handle, cw.countTokens(LOG)]);
    assert.ok(Number(shown) <= 250, `${shown} tokens shown`);
    const focus = m.drilldown(name, JSON.parse(selector));
    assert.ok(focus.text.includes(LINES[120]) && focus.unit === "lines", "the selector leads to the error");

    assert.ok(!prompt.includes(ORDER), "not in the prompt");
    const found = m.drilldown(handle, { type: "search", text: ORDER }, { inject: true, parent_id: "c1", max_tokens: 200 });
    assert.ok(found.text.includes(`333:${LINES[333]}`), found.text);
    assert.deepEqual([found.unit, found.total, found.start, found.end, found.truncated], ["hits", 1, 0, 1, false]);
    assert.equal(found.tokens, cw.countTokens(found.text));
    const stored = m.events.get(found.item_id);
    assert.deepEqual([stored.kind, stored.parent_id, stored.metadata.drilldown_handle], ["tool_result", "c1", handle]);
    const copy = cw.ContextManager.fromJSON(JSON.stringify(m));
    for (const one of [m, copy]) assert.ok(one.build({ phase: "interpret" }).prompt.includes(ORDER), "in the next prompt");
    assert.equal(text(m.artifacts.bytes(handle)), LOG, "the bytes are those that came");
    copy.free();
    m.free();
  },

  "what left the prompt is found again, and cited"(cw, assert) {
    const { m, handle } = withResult(cw);
    const answer = m.recall(LINES[333]);
    const [first] = answer.excerpts;
    assert.deepEqual([first.handle, first.kind], [handle, "tool_result"]);
    assert.ok(first.text.includes(LINES[333]) && answer.text.includes(first.text), answer.text);
    assert.equal(m.drilldown(handle, { type: "head", start: first.start, chars: first.end - first.start }).text, first.text);
    assert.ok(answer.text.includes(`[${handle} chars ${first.start}-${first.end} of ${first.total}]]`), answer.text);
    assert.deepEqual([answer.tokens, answer.unread], [cw.countTokens(answer.text), []]);
    assert.ok(answer.tokens <= 300 && m.recall(LINES[333], { max_tokens: 60 }).tokens <= 60);
    assert.deepEqual(m.recall(LINES[333], { handles: ["artifact:other"] }).excerpts, []);
    const copy = cw.ContextManager.fromJSON(JSON.stringify(m));
    assert.deepEqual(copy.recall(LINES[333]), answer);
    copy.free();
    for (const query of ["", "  "]) assert.throws(() => m.recall(query), { code: "INVALID_INPUT", path: "/query" });
    assert.throws(() => m.recall("a", { max_token: 9 }), { code: "UNKNOWN_FIELD", path: "/max_token" });
    m.free();
    const tool = cw.recallTool();
    assert.deepEqual([tool.name, tool.args_schema.required, Object.keys(tool.args_schema.properties)], ["recall", ["query"], ["query", "max_tokens"]]);
  },

  "slices lead from one to the next until all is read"(cw, assert) {
    const { m, handle } = withResult(cw);
    const heads = follow(m, handle, { type: "head", chars: 1e6 }, 300);
    assert.equal(heads.map((slice) => slice.text).join(""), LOG);
    const pages = follow(m, handle, { type: "lines" }, 300);
    assert.equal(pages.map((slice) => slice.text).join("\n"), LOG);
    for (const slice of [...heads, ...pages]) assert.ok(slice.tokens <= 300, `${slice.tokens} tokens`);
    const edges = pages.map(({ start, end }) => [start, end]);
    assert.ok(
      edges.every(([start], i) => start === (i === 0 ? 0 : edges[i - 1][1])),
      "nothing twice, nothing left out",
    );
    const last = pages.at(-1);
    assert.deepEqual([last.end, last.total, last.truncated, last.next], [400, 400, false, undefined]);
    const none = m.drilldown(handle, { type: "lines" }, { max_tokens: 0 });
    assert.ok(none.tokens === 0 && none.truncated && none.text.length < 4, "no room");
    m.free();
  },

  "views together show everything, and each can be read"(cw, assert) {
    const { m, envelope, handle } = withResult(cw);
    const views = m.artifacts.views(handle);
    assert.deepEqual(views, envelope.views);
    assert.ok(views[0].label.startsWith("Error at 120"), views[0].label);
    assert.ok(
      views.every((view) => view.artifact_ref.handle === handle && view.view_id.startsWith(`${handle}:`)),
      "ids",
    );
    const lines = new Set();
    for (const { selector } of views) {
      const { text: part, unit } = m.drilldown(handle, selector);
      if (unit === "lines") for (const line of part.split("\n")) lines.add(line);
    }
    assert.ok(
      LINES.every((line) => lines.has(line)),
      "every line is in a view",
    );
    assert.equal(JSON.stringify(cw.ContextManager.fromJSON(m.toJSON()).artifacts.views(handle)), JSON.stringify(views));
    m.artifacts.put({ handle: "binary", content: new Uint8Array([0, 255, 1]) });
    assert.deepEqual(m.artifacts.views("binary"), []);
    refuses(cw, assert, "no such handle", () => m.artifacts.views("none"), ["ARTIFACT_NOT_FOUND"]);
    refuses(cw, assert, "no text", () => m.drilldown("binary", { type: "head" }), ["UNSUPPORTED"]);
    m.free();
  },

  "every kind of selector answers"(cw, assert) {
    const m = new cw.ContextManager();
    m.artifacts.put({ handle: "csv", content: CSV, media_type: "text/csv" });
    m.artifacts.put({ handle: "json", content: JSON_TEXT, media_type: "application/json" });
    const table = [
      ["csv", { type: "head", chars: 5, start: 3 }, "custo", "chars"],
      ["csv", { type: "tail", chars: 12 }, "Initech,1190", "chars"],
      ["csv", { type: "lines", start: -1 }, "INV-119,Initech,1190", "lines"],
      ["csv", { type: "around", line: 3, context: 0 }, "INV-2,Initech,20", "lines"],
      ["csv", { type: "rows", start: 4, end: 5 }, "id,customer,total\nINV-3,ACME,30", "rows"],
      ["csv", { type: "rows", columns: ["id"], where: [{ column: "total", op: ">", value: 1180 }] }, "id\nINV-119", "rows"],
      ["csv", { type: "rows", columns: ["id"], start: 1, end: 2, header: false }, "INV-0", "rows"],
      ["json", { type: "json_keys", keys: ["note"] }, '{"note": "as of today"}', "keys"],
      ["json", { type: "json_path", path: "invoices[3].customer" }, '"ACME"', "values"],
      ["json", { type: "json_path", path: "invoices[].total", start: 1, end: 3 }, "[10, 20]", "items"],
      ["csv", { type: "search", text: "INV-77,", context: 0 }, "78:INV-77,Initech,770", "hits"],
      ["csv", { type: "search", pattern: "^INV-11\\d,acme", regex: true, ignore_case: true, context: 0 }, "116:INV-115,ACME,1150", "hits"],
      ["csv", { type: "columns" }, undefined, "columns"],
      ["csv", { type: "stats", columns: ["total"] }, undefined, "columns"],
      ["json", { type: "outline" }, undefined, "entries"],
    ];
    for (const [handle, selector, expected, unit] of table) {
      const name = JSON.stringify(selector);
      const slice = m.drilldown(handle, selector);
      if (expected !== undefined) assert.equal(slice.text.replaceAll(/\s*\n\s*(?=[{}[\]"])/g, ""), expected, name);
      assert.ok(slice.text.length > 0 && slice.unit === unit && !slice.truncated, `${name}: ${slice.unit} ${slice.text}`);
      assert.deepEqual(slice.selector, selector);
    }
    const wrong = [
      ["csv", { type: "middle" }, ["UNSUPPORTED"], "/selector/type"],
      ["csv", { type: "head", char: 1 }, ["UNKNOWN_FIELD"], "/selector/char"],
      ["csv", { type: "rows", columns: ["nope"] }, ["NOT_FOUND"], "/selector/columns"],
      ["csv", { type: "json_path", path: "a" }, ["DECODE_FAILED"], "/selector"],
      ["json", { type: "json_path", path: "nope" }, ["NOT_FOUND"], "/selector/path"],
      ["csv", { type: "search", pattern: "(", regex: true }, ["INVALID_INPUT"], "/selector/pattern"],
      ["none", { type: "head" }, ["ARTIFACT_NOT_FOUND"], "/handle"],
    ];
    for (const [handle, selector, codes, path] of wrong) {
      const error = refuses(cw, assert, JSON.stringify(selector), () => m.drilldown(handle, selector), codes);
      assert.equal(error.path, path, JSON.stringify(selector));
    }
    m.free();
  },

  "a result that the caller put into the log can be looked into as well"(cw, assert) {
    const m = new cw.ContextManager();
    m.ingestAll([call("c1"), { id: "r1", kind: "tool_result", text: LOG, parent_id: "c1" }]);
    assert.ok(m.drilldown("artifact:r1", { type: "search", text: ORDER }).text.includes(LINES[333]), "by its id");
    assert.ok(m.artifacts.views("artifact:r1").length > 1, "views");
    refuses(cw, assert, "a call", () => m.drilldown("artifact:c1", { type: "head" }), ["ARTIFACT_NOT_FOUND"]);
    m.free();
  },

  "the policy holds for every way to the rest"(cw, assert) {
    const { m, handle } = withResult(cw, `${LOG}\nkey=${SECRET}`, {}, { sensitivity: "confidential" });
    const ways = { drilldown: () => m.drilldown(handle, { type: "tail" }), views: () => m.artifacts.views(handle) };
    for (const [name, way] of Object.entries(ways)) {
      assert.equal(refuses(cw, assert, name, way, ["POLICY_VIOLATION"]).path, "/handle");
    }
    assert.deepEqual(m.summaryRequests(), []);
    const open = withResult(cw, `${LOG}\nkey=${SECRET}`);
    const shown = [
      open.m.drilldown(open.handle, { type: "tail", chars: 40 }),
      open.m.drilldown(open.handle, { type: "search", text: SECRET }).text,
      open.m.summaryRequests(),
      open.m.compact(`${LOG}\nkey=${SECRET}`),
      open.m.compact({ note: `key=${SECRET}` }),
      open.m.supplySummary({ item_id: "result:c1", summary: `the key is ${SECRET}`, facts: [`key: ${SECRET}`] }),
      open.m.build({ phase: "interpret" }).prompt,
    ];
    assert.ok(!JSON.stringify(shown).includes(SECRET.slice(4)), "secrets are masked on every way");
    assert.ok(text(open.m.artifacts.bytes(open.handle)).includes(SECRET), "and kept");
    open.m.free();
    m.free();
  },

  "of a result only the paths to keep are shown"(cw, assert) {
    const m = new cw.ContextManager();
    const keep = ["invoices[].total", "page.size"];
    const json = JSON.stringify({ ...JSON.parse(JSON_TEXT), invoices: ROWS.slice(0, 30) });
    const { item: added, envelope } = m.ingestToolResult(result("c1", json, { media_type: "application/json", keep }));
    const totals = ROWS.slice(0, 30).map(({ total }) => ({ total }));
    assert.deepEqual(JSON.parse(added.text), { invoices: totals, page: { size: 120 } });
    assert.deepEqual([envelope.status, envelope.firewall_stats.strategy], ["ok", "structured"]);
    assert.ok(!m.build({ phase: "interpret", query: "ACME invoices note" }).prompt.includes("ACME"), "nothing else in a prompt");
    const none = m.ingestToolResult(result("c2", LOG, { keep }));
    assert.deepEqual([none.item.text, none.envelope.status], ["{}", "error"]);
    refuses(cw, assert, "an empty path", () => m.ingestToolResult(result("c3", LOG, { keep: ["a", " "] })), ["INVALID_INPUT"]);
    m.free();
  },

  "white space is the first to go"(cw, assert) {
    const rows = ROWS.slice(0, 12);
    const { m, added, envelope } = withResult(cw, JSON.stringify({ rows }, null, 8), {}, { media_type: "application/json" });
    assert.equal(envelope.firewall_stats.strategy, "reshaped");
    for (const { id } of rows) assert.ok(added.text.includes(id), id);
    assert.ok(!m.build({ phase: "interpret" }).prompt.includes("drilldown"), "nothing is left out, so nothing is said");
    assert.deepEqual(m.summaryRequests(), []);
    m.free();
  },

  "a result outside of conversations is reduced to a budget"(cw, assert) {
    const m = new cw.ContextManager();
    const small = m.compact({ a: [1, null], key: "v" });
    assert.deepEqual([small.firewalled, small.payload, small.artifact_ref, small.views], [false, { a: [1, null], key: "v" }, null, []]);
    assert.equal(m.artifacts.list().length, 0, "nothing is stored of what is shown whole");
    const large = m.compact(LOG, { budget_tokens: 100 });
    assert.ok(large.firewalled && large.status === "ok" && cw.countTokens(large.payload) <= 100, "text");
    assert.match(large.artifact_ref, /^artifact:compact:[0-9a-f]{16}$/);
    assert.equal(text(m.artifacts.bytes(large.artifact_ref)), LOG);
    assert.ok(m.drilldown(large.artifact_ref, { type: "search", text: ORDER }).total === 1, "to be looked into");
    assert.deepEqual(
      m.artifacts.views(large.artifact_ref).map((view) => view.label),
      large.views.map((view) => view.label),
    );
    assert.deepEqual(m.compact(LOG, { budget_tokens: 100 }), large);
    assert.equal(m.artifacts.list().length, 1, "the same text is stored once");
    const kept = m.compact(JSON.parse(JSON_TEXT), { keep: ["page"] });
    assert.deepEqual([kept.payload, kept.stats.strategy], [{ page: { next: null, size: 120 } }, "structured"]);
    const whole = m.compact(LOG, { strategy: "passthrough" });
    assert.deepEqual([whole.firewalled, whole.payload], [false, LOG]);
    assert.equal(m.events.count(), 0);
    assert.equal(refuses(cw, assert, "strategy", () => m.compact("x", { strategy: "magic" }), ["INVALID_INPUT"]).path, "/strategy");
    assert.equal(refuses(cw, assert, "nothing", () => m.compact(undefined), ["MISSING_FIELD"]).path, "/data");
    refuses(cw, assert, "options that are none", () => m.compact("x", { threshold_chars: 1 }), ["UNKNOWN_FIELD"]);
    refuses(cw, assert, "functions that are none", () => m.compact("x", { summarizer: () => "" }), ["UNKNOWN_FIELD"]);
    m.free();
  },

  "arguments are found where they stand, and not guessed"(cw, assert) {
    const m = new cw.ContextManager();
    const properties = { customer_id: { type: "string" }, region: { type: "string", enum: ["EU", "US"] }, limit: { type: "integer" }, key: { type: "string" } };
    const args_schema = { type: "object", properties, required: ["customer_id", "region", "order_id"] };
    const tool = { id: "t", kind: "tool", name: "pay", description: "Pays", args_schema, examples: ["pay()"], constraints: { max: 1 } };
    const plain = m.hydrate({ tool });
    assert.deepEqual([plain.args_schema, plain.examples, plain.constraints], [args_schema, ["pay()"], { max: 1 }]);
    assert.ok(plain.item.id === "t" && plain.item.namespace === "" && !("arguments" in plain) && !("missing" in plain), "without arguments");
    m.addFact({ fact_id: "f1", key: "Region", value: "EU" });
    m.ingestAll([call("c1"), { id: "r1", kind: "tool_result", text: '{"customer":{"customerId":"C-7"},"limit":5}', parent_id: "c1" }]);
    m.ingest({ id: "s1", kind: "tool_result", text: '{"order_id":"O-1"}', sensitivity: "restricted" });
    const full = m.hydrate({ tool, arguments: { key: "given" } });
    assert.deepEqual(full.arguments, { key: "given", customer_id: "C-7", region: "EU" });
    assert.deepEqual(full.context_used, [
      { argument: "customer_id", source: { item_id: "r1", path: "/customer/customerId" } },
      { argument: "region", source: { fact_id: "f1" } },
    ]);
    assert.deepEqual(full.missing, ["order_id"]);
    assert.equal(refuses(cw, assert, "no tool", () => m.hydrate({}), ["MISSING_FIELD"]).path, "/tool");
    refuses(cw, assert, "a typing error", () => m.hydrate({ tool, args: {} }), ["UNKNOWN_FIELD"]);
    m.free();
  },

  "a summary may come later"(cw, assert) {
    const { m, added, handle } = withResult(cw);
    const [request, ...others] = m.summaryRequests();
    assert.equal(others.length, 0);
    assert.deepEqual([request.item_id, request.tool_name, request.media_type], ["result:c1", "fetch", "text/plain"]);
    assert.deepEqual([request.text, request.tokens, request.max_tokens], [LOG, cw.countTokens(LOG), 500]);
    assert.deepEqual(m.summaryRequests({ limit: 0 }), []);
    const refused = [
      [{ item_id: "none", summary: "x" }, ["NOT_FOUND"], "/item_id"],
      [{ item_id: "result:c1", summary: "" }, ["INVALID_INPUT"], "/summary"],
      [{ item_id: "result:c1", summary: "x", provider_metadata: { model: 1 } }, ["INVALID_INPUT"], "/provider_metadata/model"],
      [{ item_id: "result:c1", summary: "x", model: "m" }, ["UNKNOWN_FIELD"], "/model"],
    ];
    for (const [summary, codes, path] of refused) {
      assert.equal(refuses(cw, assert, path, () => m.supplySummary(summary), codes).path, path);
    }
    assert.equal(m.events.get("result:c1").text, added.text, "nothing has changed");
    const summary = "One payment timed out; 399 orders were packed.";
    const done = m.supplySummary({ item_id: "result:c1", summary, facts: ["orders: 399"], provider_metadata: { model: "m-1" } });
    const { strategy, summarized_by_llm, llm_provider } = done.envelope.firewall_stats;
    assert.deepEqual([strategy, summarized_by_llm, llm_provider], ["llm_summary", true, { model: "m-1" }]);
    assert.deepEqual([done.item.text, done.envelope.facts, done.envelope.status], [summary, ["orders: 399"], "ok"]);
    assert.deepEqual(m.summaryRequests(), []);
    const copy = cw.ContextManager.fromJSON(JSON.stringify(m));
    for (const one of [m, copy]) assert.ok(one.build({ phase: "interpret" }).prompt.includes(summary), "in prompts from now on");
    assert.equal(text(m.artifacts.bytes(handle)), LOG);
    m.ingestToolResult(result("c2", "short"));
    assert.deepEqual(m.summaryRequests(), [], "nothing was left out of it");
    refuses(cw, assert, "whole", () => m.supplySummary({ item_id: "result:c2", summary: "x" }), ["INVALID_INPUT"]);
    copy.free();
    m.free();
    const strict = withResult(cw, LOG, { firewall: { deterministic: true } });
    refuses(cw, assert, "a model", () => strict.m.supplySummary({ item_id: "result:c1", summary }), ["DETERMINISM"]);
    const { envelope } = strict.m.supplySummary({ item_id: "result:c1", summary, is_llm: false });
    assert.equal(envelope.firewall_stats.strategy, "summary");
    strict.m.free();
  },

  "a function that fails costs its part of a digest, not the result"(cw, assert) {
    const fails = () => {
      throw new Error(`quotes ${LOG}`);
    };
    for (const options of [{ summarizer: fails }, { extractor: { extract: fails, name: "mine" } }]) {
      const { m, added, envelope, handle } = withResult(cw, LOG, options);
      assert.equal(envelope.status, "partial");
      assert.ok(added.text.includes("ERROR payment gateway"), "a digest instead");
      assert.equal(text(m.artifacts.bytes(handle)), LOG);
      assert.equal(m.stats().hook_errors, 1);
      assert.equal(m.compact(`${LOG}\n`).status, "partial");
      assert.equal(m.compact(`${LOG}\n`).status, "partial");
      assert.equal(m.stats().hook_errors, 3, "asked each time");
      m.free();
    }
    const talkative = withResult(cw, LOG, { summarizer: (i, raw) => raw });
    assert.ok(cw.countTokens(talkative.added.text) <= 500 && talkative.added.text.endsWith("…"), "cut at the gate");
    talkative.m.free();
  },

  "a promise is refused with the way that waits"(cw, assert) {
    for (const options of [{ summarizer: async () => "x" }, { extractor: async () => [] }]) {
      const m = new cw.ContextManager(options);
      const error = refuses(cw, assert, "async", () => m.ingestToolResult(result("c1", LOG)), ["CALLBACK_FAILED"]);
      assert.match(error.message, /promise/);
      assert.match(error.hint, /summaryRequests.*supplySummary/);
      assert.deepEqual([m.events.count(), m.artifacts.list().length], [0, 0]);
      m.free();
    }
  },

  "models may be forbidden"(cw, assert) {
    const summarizer = { summarize: () => "by a model", is_llm: true, provider_metadata: { model: "m-1" } };
    const m = new cw.ContextManager({ summarizer, firewall: { deterministic: true } });
    for (const use of [() => m.ingestToolResult(result("c1", LOG)), () => m.compact(LOG)]) {
      refuses(cw, assert, "deterministic", use, ["DETERMINISM"]);
    }
    m.free();
    const free = withResult(cw, LOG, { summarizer });
    assert.deepEqual([free.added.text, free.envelope.firewall_stats.llm_provider], ["by a model", { model: "m-1" }]);
    assert.deepEqual(free.m.summaryRequests(), []);
    free.m.free();
    const builtIn = withResult(cw, LOG, { summarizer: "rule_based", extractor: "structured" });
    assert.ok(builtIn.envelope.firewall_stats.triggered && builtIn.added.text.length < LOG.length, "the Python library's");
    builtIn.m.free();
  },

  "the firewall's gate and the size of digests can be set"(cw, assert) {
    const whole = withResult(cw, LOG, { firewall: { threshold_tokens: 1e6 } });
    assert.equal(whole.added.text, LOG);
    whole.m.free();
    const tiny = withResult(cw, LOG, { firewall: { summary_tokens: 40 } });
    assert.ok(cw.countTokens(tiny.added.text) <= 40, tiny.added.text);
    tiny.m.free();
  },

  "what expired or was evicted says so, and prompts go on"(cw, assert) {
    let now = 0;
    const { m, handle } = withResult(cw, LOG, { clock: () => now, limits: { artifact_ttl_seconds: 10 } });
    const before = m.build({ phase: "interpret" }).prompt;
    now = 10_001;
    for (const use of [() => m.drilldown(handle, { type: "head" }), () => m.artifacts.views(handle)]) {
      const error = refuses(cw, assert, "expired", use, ["ARTIFACT_EXPIRED"]);
      assert.equal(error.details.reason, "ttl");
    }
    assert.deepEqual(m.summaryRequests(), []);
    assert.ok(m.build({ phase: "interpret" }).prompt.includes("ERROR payment gateway"), before);
    m.free();
  },

  "models are told of every selector"(cw, assert) {
    const tool = cw.drilldownTool();
    assert.deepEqual([tool.name, tool.kind, tool.side_effects], ["drilldown", "internal", false]);
    const { selector, handle, max_tokens } = tool.args_schema.properties;
    const types = ["head", "tail", "lines", "around", "rows", "json_keys", "json_path", "search", "columns", "stats", "outline"];
    assert.deepEqual([...selector.properties.type.enum].sort(), types.sort());
    assert.ok(handle.type === "string" && max_tokens.type === "integer", "the other arguments");
    const m = new cw.ContextManager();
    assert.match(m.buildCall({ tool }).prompt, /Tool: drilldown/);
    m.free();
  },
};
