// Records and memories of decisions that are kept: what is written of them, and what comes back.
import { storage } from "./journal.mjs";

const NOW = 1_780_000_000_000;
const logged = (memory, decision, more) => memory.store.callTool("log_decision", { decision, confidence: 0.8, category: "architecture", ...more });
const clocked = (options) => {
  let ids = options?.first ?? 0;
  return { clock: () => NOW, new_id: () => (ids += 1).toString(16).padStart(8, "0"), ...options?.more };
};
const vectorOf = (text) => Array.from({ length: 4 }, (_, at) => (text.length % (at + 3)) + 0.25);

/** Changes a part so that nobody notices but who looks at its hash. */
const damaged = (part) => part.replace(/"(?:value|decision)"/, (name) => `${name.slice(0, -2)}x"`);

export const storedCases = {
  async "records come back, and a save writes what changed"(cw, assert) {
    const place = storage();
    const records = await cw.openRecords(place);
    assert.deepEqual([records.size, await records.save()], [0, { sequence: 0, bytes: 0 }]);
    const given = { list: [1, { a: "ž" }] };
    records
      .set("b", given)
      .set("a", null)
      .assign({ __proto__: 1, c: "x".repeat(3_000_000) });
    given.list.push(2);
    const first = await records.save();
    assert.ok(first.bytes > 3_000_000 && place.kept.parts.every((part) => part.length <= 2 ** 20));
    records.set("a", null).set("b", { list: [1, { a: "ž" }] });
    assert.deepEqual(await records.save(), { sequence: first.sequence, bytes: 0 }, "what is the same was written");
    assert.deepEqual([records.remove("a"), records.remove("a")], [true, false]);
    assert.ok((await records.save()).bytes < 400);
    const again = await cw.openRecords(place);
    assert.deepEqual([again.toJSON(), again.names(), again.sequence], [{ b: { list: [1, { a: "ž" }] }, c: records.get("c") }, ["b", "c"], records.sequence]);
    again.get("b").list.push(3);
    assert.deepEqual(again.get("b"), records.get("b"));
    assert.throws(() => again.assign({ fine: 1, wrong: { x: 1n } }), { path: "/wrong/x" });
    assert.equal(again.get("fine"), undefined);
    // Who comes too late is told; nothing of either is lost.
    again.set("late", 1);
    records.set("d", 1);
    await records.save();
    await assert.rejects(again.save(), { code: "CONFLICT" });
    const third = await cw.openRecords(place);
    assert.deepEqual([third.get("d"), third.get("late")], [1, undefined]);
    await third.compact();
    assert.equal((await cw.openRecords(place)).size, 3);
    await third.delete();
    assert.ok(place.kept.deleted);
  },

  async "a save that fails is made up for by the next, and calls go one after the other"(cw, assert) {
    const place = storage();
    const records = await cw.openRecords(place);
    records.set("a", 1);
    place.kept.fails = 1;
    const failed = records.save();
    records.set("b", 2);
    const second = records.save();
    await assert.rejects(failed, /the disk is full/);
    await second;
    assert.deepEqual((await cw.openRecords(place)).toJSON(), { a: 1, b: 2 });
  },

  async "records that are damaged are refused, and read as far as they go with salvage"(cw, assert) {
    const place = storage();
    const records = await cw.openRecords(place);
    for (const name of ["a", "b", "c"]) {
      records.set(name, name);
      await records.save();
    }
    place.kept.parts[1] = damaged(place.kept.parts[1]);
    await assert.rejects(cw.openRecords(place), { code: "JOURNAL_DAMAGED", path: "/1" });
    const salvaged = await cw.openRecords(place, { salvage: true });
    assert.deepEqual([salvaged.toJSON(), salvaged.findings.length], [{ a: "a", c: "c" }, 2]);
    salvaged.set("d", "d");
    await salvaged.save();
    assert.deepEqual((await cw.openRecords(place)).toJSON(), { a: "a", c: "c", d: "d" });
    await assert.rejects(cw.openRecords(place, { salvaged: true }), { code: "UNKNOWN_FIELD" });
    await assert.rejects(cw.openSession(place), { code: "INVALID_INPUT" });
  },

  async "a memory of decisions is the same in another process"(cw, assert) {
    const place = storage();
    let embedded = 0;
    const embed = (texts) => {
      embedded += texts.length;
      return texts.map(vectorOf);
    };
    const open = (first) => cw.openDecisions(place, { ...clocked({ first }), embed, embedding_model: "four", circuit_breakers: [{ scope: "global" }] });
    const memory = await open(0);
    assert.ok((await memory.save()).bytes > 0, "the breakers");
    assert.equal((await memory.save()).bytes, 0);
    for (const text of ["Keep orders in PostgreSQL", "Cache sessions in Redis", "Write migrations by hand"]) {
      await logged(memory, text);
      await memory.save();
    }
    const seen = memory.store.export().revision;
    const { bytes: thought } = await (await memory.store.callTool("record_thought", { text: "what about backups?" }), memory.save());
    assert.ok(thought < 900, `a thought is written in ${thought} bytes`);
    const [{ id }] = memory.store.export().decisions;
    await memory.store.callTool("review_outcome", { id, outcome: "failure" });
    memory.store.addGuardrails([{ id: "sure", condition_confidence: "< 0.5", action: "block" }]);
    await memory.save();
    const found = (one) =>
      one.store
        .callTool("query_decisions", { query: "where are orders kept?", retrieval_mode: "semantic" })
        .then(({ structuredContent: { decisions } }) => decisions);
    const expected = await found(memory);
    const { bytes: vectors } = await memory.save();
    assert.ok(vectors > 0 && vectors < 2_000, `vectors are written in ${vectors} bytes`);
    const whole = memory.store.export();
    assert.deepEqual(Object.keys(whole.embeddings.vectors).length, 3);
    const calls = embedded;

    const again = await open(10);
    assert.deepEqual(again.store.export(), whole);
    assert.deepEqual(again.store.exportSince(seen).decisions, memory.store.exportSince(seen).decisions);
    assert.equal(again.store.exportSince(seen).decisions.length, 1);
    assert.deepEqual(await found(again), expected);
    assert.equal(embedded - calls, 1, "vectors were made anew");
    const wrote = place.kept.writes;
    await again.save();
    assert.ok(place.kept.writes - wrote <= 1);
    await again.compact();
    assert.deepEqual((await open(20)).store.export(), again.store.export());
    await assert.rejects(
      logged(memory, "This comes too late").then(() => memory.save()),
      { code: "CONFLICT" },
    );
    await again.delete();
    await assert.rejects(async () => again.store.size, { code: "DISPOSED" });
    assert.equal((await open(30)).store.size, 0);
  },

  async "what an import replaced is gone from what is stored"(cw, assert) {
    const place = storage();
    const memory = await cw.openDecisions(place, clocked());
    await logged(memory, "Keep orders in PostgreSQL");
    await memory.save();
    memory.store.import([{ id: "d1", decision: "Keep orders in files" }], { mode: "replace" });
    await memory.save();
    const again = await cw.openDecisions(place, clocked());
    assert.deepEqual(
      again.store.export().decisions.map(({ id }) => id),
      ["d1"],
    );
  },

  async "a damaged memory of decisions is read as far as it goes"(cw, assert) {
    const place = storage();
    const memory = await cw.openDecisions(place, clocked());
    for (const text of ["Keep orders in PostgreSQL", "Cache sessions in Redis", "Write migrations by hand"]) {
      await logged(memory, text);
      await memory.save();
    }
    place.kept.parts[1] = damaged(place.kept.parts[1]);
    await assert.rejects(cw.openDecisions(place, clocked()), { code: "JOURNAL_DAMAGED" });
    const salvaged = await cw.openDecisions(place, { ...clocked(), salvage: true });
    assert.deepEqual([salvaged.store.size, salvaged.findings.length], [2, 2]);
    await salvaged.save();
    assert.equal((await cw.openDecisions(place, clocked())).store.size, 2);
  },
};
