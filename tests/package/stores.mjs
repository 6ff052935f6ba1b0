// The stores of a manager through its views. Only the language itself may be used here: these cases run in every runtime.
import { item, refuses } from "./hostile-values.mjs";

const text = (bytes) => new TextDecoder().decode(bytes);
const ids = (items) => items.map((entry) => entry.id);

export const storeCases = {
  "the log is read by position, kind and parent"(cw, assert) {
    const m = new cw.ContextManager();
    m.ingestAll([
      item("u1"),
      { id: "c1", kind: "tool_call", text: "search()", parent_id: "u1" },
      { id: "c2", kind: "tool_call", text: "fetch()", parent_id: "u1" },
      { id: "a1", kind: "agent_msg", text: "done", parent_id: "gone" },
    ]);
    assert.deepEqual(ids(m.events.tail(2)), ["c2", "a1"]);
    assert.deepEqual(ids(m.events.tail()), ["a1"]);
    assert.deepEqual(m.events.tail(0), []);
    assert.deepEqual(ids(m.events.children("u1")), ["c1", "c2"]);
    assert.deepEqual(ids(m.events.children("gone")), ["a1"]);
    assert.equal(m.events.parent("c2").id, "u1");
    assert.equal(m.events.parent("a1"), null);
    assert.equal(m.events.count({ kinds: ["tool_call"] }), 2);
    refuses(cw, assert, "no such item", () => m.events.parent("none"), ["NOT_FOUND"]);
    assert.equal(refuses(cw, assert, "count", () => m.events.tail(-1), ["OUT_OF_RANGE"]).path, "/n");
    refuses(cw, assert, "a typing error", () => m.events.count({ kind: [] }), ["UNKNOWN_FIELD"]);
    m.free();
  },

  "artifacts of one's own are put, read and deleted"(cw, assert) {
    const m = new cw.ContextManager();
    const buffer = new Uint8Array([1, 2, 255]);
    const ref = m.artifacts.put({ handle: "a", content: buffer, media_type: "image/png", label: "a picture" });
    assert.deepEqual([ref.handle, ref.media_type, ref.size_bytes, ref.label], ["a", "image/png", 3, "a picture"]);
    assert.match(ref.content_hash, /^[0-9a-f]{64}$/);
    buffer.fill(0);
    assert.deepEqual([...m.artifacts.bytes("a")], [1, 2, 255], "copied on the way in");
    m.artifacts.bytes("a").fill(9);
    assert.deepEqual([...m.artifacts.bytes("a")], [1, 2, 255], "copied on the way out");
    m.artifacts.put({ handle: "b", content: "text" });
    assert.equal(m.artifacts.ref("b").media_type, "application/octet-stream");
    assert.equal(m.drilldown("b", { type: "head", chars: 2 }).text, "te");
    m.artifacts.put({ handle: "b", content: "other" });
    assert.equal(text(m.artifacts.bytes("b")), "other", "replaced");
    m.artifacts.delete("a");
    assert.ok(!m.artifacts.exists("a") && m.artifacts.exists("b"), "deleted");
    for (const use of ["ref", "bytes", "delete", "pin", "unpin"]) {
      refuses(cw, assert, use, () => m.artifacts[use]("a"), ["ARTIFACT_NOT_FOUND"]);
    }
    refuses(cw, assert, "no content", () => m.artifacts.put({ handle: "a" }), ["MISSING_FIELD"]);
    refuses(cw, assert, "no handle", () => m.artifacts.put({ content: "" }), ["MISSING_FIELD"]);
    refuses(cw, assert, "a typing error", () => m.artifacts.put({ handle: "a", content: "", mediaType: "" }), ["UNKNOWN_FIELD"]);
    m.free();
  },

  "a full store refuses, and counts what it holds"(cw, assert) {
    const m = new cw.ContextManager({ limits: { max_artifacts: 2, max_store_bytes: 10 } });
    m.artifacts.put({ handle: "a", content: "12345" });
    refuses(cw, assert, "bytes", () => m.artifacts.put({ handle: "b", content: "123456" }), ["QUOTA_EXCEEDED"]);
    m.artifacts.put({ handle: "b", content: "12345" });
    refuses(cw, assert, "count", () => m.artifacts.put({ handle: "c", content: "" }), ["QUOTA_EXCEEDED"]);
    assert.deepEqual(
      m.artifacts.list().map((ref) => ref.handle),
      ["a", "b"],
    );
    assert.equal(m.stats().artifact_bytes, 10, "equal bytes count each");
    m.free();
  },

  "an evicting store gives up what was not used, except pins"(cw, assert) {
    const m = new cw.ContextManager({ limits: { max_artifacts: 3, eviction: "lru" } });
    for (const handle of ["pinned", "old", "read"]) m.artifacts.put({ handle, content: handle });
    m.artifacts.pin("pinned");
    m.artifacts.bytes("read");
    m.artifacts.put({ handle: "new", content: "new" });
    const error = refuses(cw, assert, "evicted", () => m.artifacts.bytes("old"), ["ARTIFACT_EXPIRED"]);
    assert.deepEqual(error.details, { reason: "lru" });
    m.drilldown("read", { type: "head" });
    const restored = cw.ContextManager.fromJSON(JSON.stringify(m), { limits: { max_artifacts: 3, eviction: "lru" } });
    for (const manager of [m, restored]) {
      manager.artifacts.put({ handle: "newer", content: "newer" });
      assert.deepEqual(
        manager.artifacts.list().map((ref) => ref.handle),
        ["newer", "pinned", "read"],
      );
      refuses(cw, assert, "still evicted", () => manager.artifacts.ref("old"), ["ARTIFACT_EXPIRED"]);
      for (const handle of ["newer", "read"]) manager.artifacts.pin(handle);
      refuses(cw, assert, "all are pinned", () => manager.artifacts.put({ handle: "x", content: "" }), ["QUOTA_EXCEEDED"]);
      manager.artifacts.unpin("pinned");
      manager.artifacts.put({ handle: "x", content: "" });
      refuses(cw, assert, "unpinned", () => manager.artifacts.ref("pinned"), ["ARTIFACT_EXPIRED"]);
      manager.free();
    }
    refuses(cw, assert, "eviction", () => new cw.ContextManager({ limits: { eviction: "fifo" } }), ["INVALID_INPUT"]);
  },

  "artifacts expire by the clock"(cw, assert) {
    let now = 1_700_000_000_000;
    const limits = { artifact_ttl_seconds: 60 };
    const m = new cw.ContextManager({ limits, clock: () => now });
    m.artifacts.put({ handle: "a", content: "a" });
    m.ingestToolResult({ tool_call_id: "c1", tool_name: "t", raw_output: "rows" });
    now += 59_000;
    m.artifacts.put({ handle: "b", content: "b" });
    assert.equal(text(m.artifacts.bytes("a")), "a");
    now += 1_000;
    for (const handle of ["a", "artifact:result:c1"]) {
      const error = refuses(cw, assert, handle, () => m.artifacts.bytes(handle), ["ARTIFACT_EXPIRED"]);
      assert.deepEqual(error.details, { reason: "ttl" });
    }
    assert.deepEqual(
      m.artifacts.list().map((ref) => ref.handle),
      ["b"],
    );
    now -= 3_600_000;
    refuses(cw, assert, "time does not go back", () => m.drilldown("a", { type: "head" }), ["ARTIFACT_EXPIRED"]);
    m.free();
    assert.equal(refuses(cw, assert, "no clock", () => new cw.ContextManager({ limits }), ["MISSING_FIELD"]).path, "/clock");
    const broken = new cw.ContextManager({ limits, clock: () => "noon" });
    refuses(cw, assert, "a broken clock", () => broken.stats(), ["CALLBACK_FAILED"]);
    broken.free();
    const asking = new cw.ContextManager({ limits, clock: () => asking.events.count() });
    assert.equal(refuses(cw, assert, "a clock that asks", () => asking.stats(), ["CALLBACK_FAILED"]).cause.code, "REENTRANT");
    asking.free();
  },

  "facts are replaced and deleted, and their numbers are not used again"(cw, assert) {
    const m = new cw.ContextManager();
    m.facts.put({ fact_id: "f", key: "env.region", value: "eu" });
    m.facts.put({ fact_id: "f", key: "env.region", value: "us" });
    const made = m.addFact({ key: "env.stage", value: "test" });
    assert.deepEqual(m.facts.listKeys("env."), ["env.region", "env.stage"]);
    assert.deepEqual(m.facts.listKeys("x"), []);
    assert.equal(m.facts.get("f").value, "us");
    assert.deepEqual(
      m.facts.getByKey("env.stage").map((fact) => fact.fact_id),
      [made.fact_id],
    );
    assert.match(m.build({ phase: "answer" }).prompt, /us/);
    m.facts.delete(made.fact_id);
    m.facts.delete("f");
    assert.deepEqual(m.facts.list(), []);
    assert.notEqual(m.addFact({ key: "env.stage", value: "live" }).fact_id, made.fact_id);
    refuses(cw, assert, "deleted", () => m.facts.get("f"), ["NOT_FOUND"]);
    refuses(cw, assert, "deleted twice", () => m.facts.delete("f"), ["NOT_FOUND"]);
    refuses(cw, assert, "no id", () => m.facts.put({ key: "k", value: "v" }), ["MISSING_FIELD"]);
    m.free();
  },

  "episodes are found in any script, or not at all"(cw, assert) {
    const m = new cw.ContextManager();
    const summaries = { e1: "Přihlášení selhalo", e2: "日本語のログ", e3: "Rotated the database keys" };
    for (const [episode_id, summary] of Object.entries(summaries)) m.addEpisode({ episode_id, summary });
    const found = (query, options) => m.episodes.search(query, options).map((episode) => episode.episode_id);
    assert.deepEqual(found("přihlášení"), ["e1"]);
    assert.deepEqual(found("日本語"), ["e2"]);
    assert.deepEqual(found("database"), ["e3"]);
    assert.deepEqual(found("database", { top_k: 0 }), []);
    assert.deepEqual(found("weather tomorrow"), []);
    assert.equal(m.episodes.get("e2").summary, summaries.e2);
    assert.equal(m.episodes.get("none"), null);
    assert.deepEqual(
      m.episodes.latest(2).map((episode) => episode.episode_id),
      ["e3", "e2"],
    );
    m.episodes.delete("e3");
    assert.deepEqual(found("database"), []);
    assert.equal(m.episodes.latest().length, 2);
    refuses(cw, assert, "deleted twice", () => m.episodes.delete("e3"), ["NOT_FOUND"]);
    m.free();
  },

  "snapshots keep what a later release has put there"(cw, assert) {
    const m = new cw.ContextManager();
    m.ingest(item("u1"));
    m.artifacts.put({ handle: "a", content: "a" });
    m.artifacts.pin("a");
    m.addEpisode({ episode_id: "e", summary: "s" });
    m.facts.put({ fact_id: "f", key: "k", value: "v" });
    const later = JSON.parse(JSON.stringify(m));
    later.later = [1];
    later.event_log.items[0].later = { deep: null };
    later.artifact_store.refs[0].later = "x";
    later.episodic_store.episodes[0].later = 1;
    later.fact_store.later = true;
    const restored = cw.ContextManager.fromJSON(later);
    assert.deepEqual(JSON.parse(JSON.stringify(restored)), later);
    assert.ok(!("later" in restored.events.get("u1")), "records are those of this release");
    restored.free();
    m.free();
  },
};
