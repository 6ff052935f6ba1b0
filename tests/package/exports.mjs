// The exports of the modules below the facade: handles, JSON text and bytes in and out. Only the language itself may be used.
import { runAll } from "./assert.mjs";
import { newest } from "./instances.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const record = (id) => JSON.stringify({ tool_call_id: id, tool_name: "orders" });

/** Calls with JSON in and out. */
const caller = (engine, name) => (handle, operation, args) =>
  JSON.parse(engine.call((glue) => glue[name](handle, operation, typeof args === "string" ? args : JSON.stringify(args))));

function session(core) {
  const handle = core.call((glue) => glue.manager_new("{}"));
  const items = [
    { id: "u", kind: "user_turn", text: "which order failed?" },
    { id: "c", kind: "tool_call", text: "orders()" },
  ];
  caller(core, "manager_call")(handle, "ingest", { items });
  return handle;
}

/** `{ name: (engines, assert, expected) => … }` */
export const exportCases = {
  "the version is the crate's"({ core }, assert, expected) {
    assert.equal(
      core.call((glue) => glue.engine_version()),
      expected.version,
    );
    assert.equal(
      core.call((glue) => glue.last_panic()),
      "",
    );
  },

  "a session compiles and survives a snapshot"({ core }, assert) {
    const call = caller(core, "manager_call");
    const handle = session(core);
    const raw = bytes("order 7 failed: amount is no integer\n".repeat(200));
    const { done, events } = JSON.parse(core.call((glue) => glue.manager_call_with(handle, "ingest_tool_result", record("c"), "", [raw])));
    assert.deepEqual([done.item.id, events[0].hook], ["result:c", "firewall_triggered"]);
    assert.deepEqual([...core.call((glue) => glue.artifact_bytes(handle, "artifact:result:c"))], [...raw]);
    const request = { phase: "answer", query: "failed order", budget_tokens: 400 };
    const pack = call(handle, "build", request).done;
    assert.ok(pack.stats.prompt_tokens <= 400);
    const restored = core.call((glue) => glue.manager_restore(glue.manager_snapshot(handle), "{}"));
    assert.deepEqual(call(restored, "build", request).done, pack);
    for (const one of [handle, restored]) core.call((glue) => glue.manager_free(one));
  },

  // A runtime may collect garbage whenever the memory grows: thousands of results took twice as long for that.
  "the memory grows by parts of itself"({ core }, assert) {
    const handle = core.call((glue) => glue.manager_new("{}"));
    const { memory } = newest("manager_call");
    const start = memory.buffer.byteLength;
    let [last, times] = [start, 0];
    for (let number = 0; number < 3_000; number += 1) {
      const raw = bytes(`order ${number} failed: amount is no integer\n`.repeat(40));
      core.call((glue) => glue.manager_call_with(handle, "ingest_tool_result", record(`c${number}`), "", [raw]));
      if (memory.buffer.byteLength > last) [last, times] = [memory.buffer.byteLength, times + 1];
    }
    assert.ok(last > start + 100 * 65_536 && times < 60, `from ${start} to ${last} bytes in ${times} calls`);
    core.call((glue) => glue.manager_free(handle));
  },

  "errors carry code and path and leave the instance alive"({ core }, assert) {
    const call = caller(core, "manager_call");
    const handle = session(core);
    const { generation } = core;
    const bad = { items: [{ id: "x", kind: "nonsense", text: "t" }] };
    assert.throws(() => call(handle, "ingest", bad), { code: "INVALID_INPUT", path: "/items/0/kind" });
    for (const [text, code] of [
      ["{", "DECODE_FAILED"],
      ["[".repeat(500), "TOO_DEEP"],
      ["[]", "INVALID_INPUT"],
    ]) {
      assert.throws(() => call(handle, "build", text), { code });
    }
    assert.throws(() => call(handle, "nonsense", {}), { code: "UNSUPPORTED" });
    assert.ok(call(handle, "build", { phase: "answer" }).done);
    for (let twice = 0; twice < 2; twice += 1) core.call((glue) => glue.manager_free(handle));
    assert.throws(() => call(handle, "stats", {}), { code: "DISPOSED" });
    assert.equal(core.generation, generation);
  },

  "questions are handed out and answered"({ core }, assert) {
    const call = caller(core, "manager_call");
    const handle = core.call((glue) => glue.manager_new(JSON.stringify({ estimator: { custom: "mine" } })));
    call(handle, "ingest", { items: [{ id: "u", kind: "user_turn", text: "a b c" }] });
    let answer = call(handle, "build", { phase: "answer" });
    for (let rounds = 0; answer.need; rounds += 1) {
      assert.ok(rounds < 10);
      call(handle, "supply", { answers: answer.need.map(({ text }) => text.split(/\s+/).filter(Boolean).length) });
      answer = call(handle, "build", { phase: "answer" });
    }
    assert.deepEqual([answer.done.stats.prompt_tokens, answer.done.stats.token_estimator], [4, "mine"]);
    core.call((glue) => glue.manager_free(handle));
  },

  "text functions answer"({ core }, assert) {
    const text = (operation, args) => core.call((glue) => glue.text_call(operation, JSON.stringify(args)));
    assert.equal(text("count_tokens", { text: "你好世界" }), '{"done":{"tokens":4}}');
    assert.equal(text("redact_secrets", { text: "password=hunter22" }), '{"done":{"text":"password=[REDACTED-SECRET]"}}');
    assert.throws(() => text("count_tokens", { text: "a", extra: 1 }), { code: "UNKNOWN_FIELD" });
  },

  "a catalog answers until it is freed"({ routing }, assert) {
    const call = caller(routing, "catalog_call");
    const items = [{ id: "a", kind: "tool", name: "a", description: "does it" }];
    const handle = routing.call((glue) => glue.catalog_new(bytes(JSON.stringify({ items }))));
    assert.deepEqual(call(handle, "size", {}), { done: { size: 1 } });
    assert.throws(() => call(handle, "get", { id: "b" }), { code: "NOT_FOUND" });
    assert.throws(() => call(handle, "register", { item: items[0] }), { code: "DUPLICATE_ID", path: "/item/id" });
    for (let twice = 0; twice < 2; twice += 1) routing.call((glue) => glue.catalog_free(handle));
    assert.throws(() => call(handle, "size", {}), { code: "DISPOSED", message: "the catalog was freed" });
  },
};

/** Runs the cases on the package's own files below a folder. */
export async function runExportCases(dist, assert, expected) {
  await import(`${dist}/index.js`);
  const { context: core, routing } = await import(`${dist}/boundary/engines.js`);
  return runAll(exportCases, { core, routing }, assert, expected);
}
