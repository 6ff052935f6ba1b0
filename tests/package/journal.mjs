// Journals: what is written of a manager, and the manager that is made of it.

const item = (id, text, more) => ({ id, kind: "user_turn", text, ...more });
const rows = (count, name = "row") => JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, name: `${name} ${id}` })));
const QUERY = { phase: "answer", query: "where is row 123?", budget_tokens: 800 };
const prompts = (manager) => ["route", "call", "interpret", "answer"].map((phase) => manager.build({ ...QUERY, phase }).prompt);

/** Where sessions are kept, as `contextweaver/storage` does it, and what fails when. */
export function storage() {
  const kept = { first: 0, parts: [], blobs: new Map(), writes: 0, fails: 0, deleted: false };
  const check = (first) => {
    if (kept.fails > 0) {
      kept.fails -= 1;
      throw new Error("the disk is full");
    }
    if (first !== kept.first + kept.parts.length) throw Object.assign(new Error("somebody else wrote"), { code: "CONFLICT" });
    kept.writes += 1;
  };
  return {
    kept,
    load: async () => ({ first: kept.first, parts: [...kept.parts] }),
    append: async (first, parts) => {
      check(first);
      kept.parts.push(...parts);
    },
    compact: async (first, parts, blobs) => {
      check(first);
      Object.assign(kept, { first, parts: [...parts] });
      for (const hash of kept.blobs.keys()) if (!blobs.includes(hash)) kept.blobs.delete(hash);
    },
    putBlob: async (hash, bytes) => void kept.blobs.set(hash, bytes.slice()),
    getBlob: async (hash) => kept.blobs.get(hash),
    delete: async () => void Object.assign(kept, { first: 0, parts: [], blobs: new Map(), deleted: true }),
  };
}

function turn(manager, n, size = 40) {
  manager.ingest(item(`u${n}`, `turn ${n}: list the rows`));
  manager.ingest({ id: `c${n}`, kind: "tool_call", text: "list()", parent_id: `u${n}`, metadata: { tool_name: "list" } });
  manager.ingestToolResult({ tool_call_id: `c${n}`, tool_name: "list", raw_output: rows(size, `row of turn ${n}`) });
  manager.ingest({ id: `a${n}`, kind: "agent_msg", text: `these are the ${size} rows of turn ${n}` });
}

export const journalCases = {
  "a journal makes the same manager"(cw, assert) {
    const options = { budget: { answer: 700 }, limits: { max_store_bytes: 2 ** 20, eviction: "lru" } };
    const manager = new cw.ContextManager(options);
    const [changes, blobs] = [[], new Map()];
    let cursor;
    const save = () => {
      const exported = manager.exportSince(cursor, { part_bytes: 4096 });
      assert.equal(exported.first, changes.length);
      assert.equal(exported.whole, cursor === undefined);
      for (const part of exported.changes) assert.ok(part.length <= 4096 && !part.includes("\n"));
      changes.push(...exported.changes);
      for (const { hash, bytes, size_bytes } of exported.blobs) {
        assert.equal(bytes.length, size_bytes);
        blobs.set(hash, bytes);
      }
      cursor = exported.cursor;
    };
    for (let n = 0; n < 6; n += 1) {
      turn(manager, n, 40 + 200 * n);
      manager.addFact({ key: "city", value: `Lisbon ${n}` });
      manager.build(QUERY);
      save();
    }
    manager.syncMessages([{ role: "user", content: "hello" }], "openai-chat");
    manager.facts.delete(manager.facts.list()[0].fact_id);
    save();
    save();
    // Options that are data come with it, each can be given anew.
    const again = cw.ContextManager.restore(changes, { blobs });
    assert.deepEqual(again.restored, { cursor, findings: [], missing_blobs: [], missing_functions: [] });
    assert.deepEqual(again.toJSON(), manager.toJSON());
    const further = cw.ContextManager.restore(changes, { blobs });
    assert.deepEqual(prompts(again), prompts(manager));
    assert.equal(again.build({ phase: "answer" }).stats.budget_tokens, 700);
    assert.equal(cw.ContextManager.restore(changes.join("\n"), { blobs, budget: { answer: 300 } }).build({ phase: "answer" }).stats.budget_tokens, 300);
    // It goes on where it ended, and writes what is new alone.
    further.ingest(item("more", "one more"));
    const more = further.exportSince(cursor);
    assert.ok(more.changes.length === 1 && more.changes[0].length < 1000 && !more.whole, more.changes[0]);
    for (const one of [manager, again, further]) one.free();
  },

  "functions are given again, and named where they are not"(cw, assert) {
    const manager = new cw.ContextManager({ estimator: (text) => text.length, clock: () => 5, hooks: {}, redact_secrets: false });
    manager.ingest(item("u1", "hello"));
    const { changes } = manager.exportSince();
    const again = cw.ContextManager.restore(changes, { clock: () => 5 });
    assert.deepEqual(again.restored.missing_functions, ["estimator", "hooks"]);
    const same = cw.ContextManager.restore(changes, { estimator: (text) => text.length, clock: () => 5, hooks: {} });
    assert.deepEqual(same.restored.missing_functions, []);
    assert.equal(same.build({ phase: "answer" }).stats.prompt_tokens, manager.build({ phase: "answer" }).stats.prompt_tokens);

    // All that may be functions, or hold some; names of what is built in are data.
    const embed = async (texts) => texts.map(() => [1]);
    const all = {
      summarizer: { name: "mine", summarize: () => "short" },
      embed,
      extractor: () => [],
      redaction_hooks: { mine: () => "x" },
      get_blob: async () => undefined,
      item_scores: () => ({}),
      classifier: () => "public",
    };
    for (const [options, functions, data] of [
      [all, Object.keys(all).sort(), {}],
      [
        { embed, embedding_weight: 0.25, estimator: "heuristic/v2", prices: "anthropic", thrift: 0.25, hooks: undefined },
        ["embed"],
        { embedding_weight: 0.25, estimator: "heuristic/v2", prices: "anthropic", thrift: 0.25 },
      ],
    ]) {
      const given = new cw.ContextManager(options);
      given.ingest(item("u1", "hello"));
      const [settings] = given.exportSince().changes.map((line) => JSON.parse(line).part.settings);
      assert.deepEqual([[...settings.functions].sort(), settings.options], [functions, data]);
      assert.deepEqual(cw.ContextManager.restore(given.exportSince().changes, options).restored.missing_functions, []);
      assert.deepEqual([...cw.ContextManager.restore(given.exportSince().changes).restored.missing_functions].sort(), functions);
      given.free();
    }
  },

  async "bytes that are not in memory are fetched when they are read"(cw, assert) {
    const kept = new Map();
    const asked = [];
    const get_blob = async (hash) => {
      asked.push(hash);
      return kept.get(hash);
    };
    const manager = new cw.ContextManager({ get_blob, limits: { max_store_bytes: 60_000, eviction: "lru" } });
    let cursor;
    for (let n = 0; n < 6; n += 1) {
      turn(manager, n, 500);
      const exported = manager.exportSince(cursor);
      for (const { hash, bytes } of exported.blobs) kept.set(hash, bytes);
      cursor = exported.cursor;
    }
    const handle = "artifact:result:c0";
    const selector = { type: "rows", where: [{ column: "id", op: "=", value: 499 }] };
    assert.throws(
      () => manager.drilldown(handle, selector),
      (error) => error.code === "ARTIFACT_EXPIRED" && error.hint.includes("drilldownAsync"),
    );
    const hidden = manager.recall("row of turn 0 499");
    assert.ok(!hidden.text.includes("row of turn 0 499") && hidden.unread.includes(handle), JSON.stringify(hidden));
    const found = await manager.recallAsync("row of turn 0 499");
    assert.ok(found.text.includes("row of turn 0 499"), found.text);
    assert.ok(asked.length > 0 && asked.length <= 8, `${asked.length} were fetched`);
    const slice = await manager.drilldownAsync(handle, selector);
    assert.ok(slice.text.includes("row of turn 0 499"), slice.text);
    assert.ok(manager.drilldown(handle, selector).text.includes("499"), "it is in memory now");
    assert.ok(manager.stats().artifact_bytes <= 60_000);
    // Calls at once, whose results have no room beside each other.
    const turns = [0, 1, 2, 3, 4, 5, 5, 0, 0, 3];
    const slices = await Promise.all(turns.map((n) => manager.drilldownAsync(`artifact:result:c${n}`, selector)));
    for (const [at, n] of turns.entries()) assert.ok(slices[at].text.includes(`row of turn ${n} 499`), slices[at].text);
    assert.ok(manager.stats().artifact_bytes <= 60_000);
    kept.clear();
    const gone = turns.map((n) => `artifact:result:c${n}`).find((one) => !manager.artifacts.exists(one));
    await assert.rejects(
      () => manager.drilldownAsync(gone, selector),
      (error) => error.code === "ARTIFACT_EXPIRED",
    );
    await assert.rejects(
      () => manager.drilldownAsync("artifact:none", selector),
      (error) => error.code === "ARTIFACT_NOT_FOUND",
    );
    const other = new cw.ContextManager({ get_blob: async () => new Uint8Array(3), limits: { max_store_bytes: 60_000, eviction: "lru" } });
    for (let n = 0; n < 6; n += 1) turn(other, n, 500);
    await assert.rejects(
      () => other.drilldownAsync(handle, selector),
      (error) => error.code === "INVALID_INPUT" && error.path === "/bytes",
    );
    manager.free();
    other.free();
  },

  "what is missing is named"(cw, assert) {
    const manager = new cw.ContextManager();
    turn(manager, 0, 500);
    const first = manager.exportSince();
    turn(manager, 1);
    const second = manager.exportSince(first.cursor);
    turn(manager, 2);
    const third = manager.exportSince(second.cursor);
    const bare = cw.ContextManager.restore(first.changes);
    assert.deepEqual(
      bare.restored.missing_blobs,
      first.blobs.map(({ hash }) => hash),
    );
    assert.ok(bare.build(QUERY).prompt.includes("turn 0"));
    const gap = [...first.changes, ...third.changes];
    assert.throws(
      () => cw.ContextManager.restore(gap),
      (error) => error.code === "JOURNAL_DAMAGED" && error.message.includes("parts 2 to 2 are missing") && error.details.findings === 1,
    );
    const torn = [...first.changes, second.changes[0].slice(0, 300), ...third.changes];
    assert.throws(
      () => cw.ContextManager.restore(torn),
      (error) => error.code === "JOURNAL_DAMAGED" && error.path === "/1",
    );
    const saved = cw.ContextManager.restore(torn, { salvage: true });
    assert.equal(saved.restored.cursor, null);
    assert.deepEqual(
      saved.restored.findings.map(({ part, code }) => [part, code]),
      [
        [1, "JOURNAL_DAMAGED"],
        [null, "JOURNAL_DAMAGED"],
      ],
    );
    assert.deepEqual(
      saved.events
        .list()
        .map(({ id }) => id)
        .filter((id) => id.startsWith("u")),
      ["u0", "u2"],
    );
    assert.ok(saved.exportSince(undefined, { first: 3 }).whole);
    for (const [bad, code] of [
      [["x"], "JOURNAL_DAMAGED"],
      ["{}", "JOURNAL_DAMAGED"],
      [[5], "INVALID_INPUT"],
    ]) {
      assert.throws(
        () => cw.ContextManager.restore(bad),
        (error) => error.code === code,
        JSON.stringify(bad),
      );
    }
    assert.throws(
      () => manager.exportSince("x"),
      (error) => error.code === "INVALID_INPUT" && error.path === "/cursor",
    );
    assert.throws(
      () => manager.exportSince(undefined, { part_bytes: 5 }),
      (error) => error.code === "OUT_OF_RANGE" && error.path === "/part_bytes",
    );
    assert.throws(
      () => manager.exportSince(undefined, { wholly: true }),
      (error) => error.code === "UNKNOWN_FIELD",
    );
  },

  "what is forgotten is nowhere"(cw, assert) {
    const manager = new cw.ContextManager();
    turn(manager, 0, 300);
    manager.ingest(item("p", "I live in Rua Augusta 5"));
    manager.build(QUERY);
    manager.exportSince();
    assert.deepEqual(manager.forget("p"), { artifacts: [], related: [] });
    assert.deepEqual(manager.forget("result:c0"), { artifacts: ["artifact:result:c0"], related: [] });
    const { changes, blobs } = manager.exportSince(undefined, { whole: true });
    const everything = `${JSON.stringify(manager)}${changes.join("")}${prompts(manager).join("")}`;
    assert.ok(!everything.includes("Augusta") && !everything.includes("row of turn 0") && everything.includes("list the rows"));
    assert.equal(blobs.length, 0);
    assert.throws(
      () => manager.forget("nobody"),
      (error) => error.code === "NOT_FOUND" && error.path === "/item_id",
    );
  },

  async "a session is saved after each turn and opened again"(cw, assert) {
    const place = storage();
    let session = await cw.openSession(place, { budget: { answer: 600 } });
    const twin = new cw.ContextManager({ budget: { answer: 600 } });
    for (let n = 0; n < 8; n += 1) {
      turn(session.manager, n, 300);
      turn(twin, n, 300);
      const { bytes, sequence } = await session.save();
      assert.ok(bytes > 0 && sequence === n + 1);
      assert.deepEqual(await session.save(), { sequence, bytes: 0 });
      if (n % 3 === 2) {
        session.free();
        session = await cw.openSession(place);
        assert.deepEqual(session.findings, []);
        assert.equal(session.sequence, sequence);
      }
      assert.deepEqual(prompts(session.manager), prompts(twin));
    }
    // One that could not be stored is stored with the next.
    place.kept.fails = 1;
    turn(session.manager, 8);
    turn(twin, 8);
    await assert.rejects(
      () => session.save(),
      (error) => error.message === "the disk is full",
    );
    turn(session.manager, 9);
    turn(twin, 9);
    await Promise.all([session.save(), session.save()]);
    const again = await cw.openSession(place);
    assert.deepEqual(prompts(again.manager), prompts(twin));
    // Two who write: the second one is told.
    turn(again.manager, 10);
    await again.save();
    turn(session.manager, 10);
    await assert.rejects(
      () => session.save(),
      (error) => error.code === "CONFLICT",
    );
    const compacted = await again.compact();
    assert.equal(place.kept.parts.length, compacted.sequence - place.kept.first);
    const after = await cw.openSession(place);
    assert.deepEqual(after.manager.toJSON(), again.manager.toJSON());
    await after.forget("result:c0");
    assert.ok(!place.kept.parts.join("").includes("row of turn 0 "));
    await after.delete();
    assert.ok(place.kept.deleted && place.kept.blobs.size === 0);
    for (const one of [session, again]) one.free();
    twin.free();
  },

  async "a session is compacted when that pays"(cw, assert) {
    const place = storage();
    const session = await cw.openSession(place, { compact_bytes: 20_000 });
    let written = 0;
    for (let n = 0; n < 60; n += 1) {
      session.manager.ingest(item(`u${n}`, `turn ${n} ${"of a long day ".repeat(100)}`));
      written += (await session.save()).bytes;
    }
    assert.ok(place.kept.first > 0, "never compacted");
    const held = place.kept.parts.join("").length;
    assert.ok(written < 4 * held, `${written} bytes were written for ${held}`);
    const again = await cw.openSession(place);
    assert.equal(again.manager.events.count(), 60);
    for (const one of [session, again]) one.free();
  },

  async "what was evicted is read again, however small it is"(cw, assert) {
    const place = storage();
    let session = await cw.openSession(place, { limits: { max_store_bytes: 60_000, eviction: "lru" } });
    const texts = Array.from({ length: 120 }, (_, n) => (n % 3 === 0 ? `row ${n} `.repeat(120) : rows(20 + n, `row of turn ${n}`)));
    for (const [n, raw_output] of texts.entries()) {
      session.manager.ingest(item(`u${n}`, `list the rows of turn ${n}`));
      session.manager.ingest({ id: `c${n}`, kind: "tool_call", text: "list()", parent_id: `u${n}` });
      session.manager.ingestToolResult({ tool_call_id: `c${n}`, tool_name: "list", raw_output });
      if (n % 4 === 3) await session.save();
    }
    const gone = texts.map((_, n) => `artifact:result:c${n}`).filter((handle) => !session.manager.artifacts.exists(handle));
    assert.ok(gone.length > 50 && gone.some((handle) => place.kept.parts.join("").includes(handle)), String(gone.length));
    const holds = async () => {
      for (const handle of gone) {
        const { text } = await session.drilldown(handle, { type: "head", chars: 400 });
        assert.ok(texts[Number(handle.slice(17))].startsWith(text), handle);
      }
    };
    await holds();
    for (const compacts of [false, true]) {
      await (compacts ? session.compact() : session.save());
      session.free();
      session = await cw.openSession(place);
      await holds();
    }
    session.free();
  },

  async "a damaged session is opened by those who ask for it, and written anew"(cw, assert) {
    const place = storage();
    const session = await cw.openSession(place);
    for (let n = 0; n < 4; n += 1) {
      turn(session.manager, n);
      await session.save();
    }
    place.kept.parts[2] = place.kept.parts[2].replace("turn 2", "turn 5");
    await assert.rejects(
      () => cw.openSession(place),
      (error) => error.code === "JOURNAL_DAMAGED",
    );
    const saved = await cw.openSession(place, { salvage: true });
    assert.ok(saved.findings.length > 0 && saved.manager.events.count() > 0);
    await saved.save();
    const again = await cw.openSession(place);
    assert.deepEqual([again.findings, prompts(again.manager)], [[], prompts(saved.manager)]);
  },
};

/** What takes seconds and is the same code in every runtime: one runtime runs these. */
export const exhaustiveJournalCases = {
  async "a session that is opened for each turn writes what is new, not everything"(cw, assert) {
    const place = storage();
    let written = 0;
    for (let n = 0; n < 60; n += 1) {
      const session = await cw.openSession(place, { compact_bytes: 100_000 });
      session.manager.ingest(item(`u${n}`, `turn ${n} ${"of a long day ".repeat(900)}`));
      written += (await session.save()).bytes;
      session.free();
    }
    const { first, parts } = place.kept;
    assert.ok(first > 0, "never compacted");
    const held = parts.join("").length;
    assert.ok(held > 2 * 256 * 1024 && written < 4 * held, `${written} bytes were written for ${held}`);
  },
};
