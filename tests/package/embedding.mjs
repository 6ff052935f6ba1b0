// Vectors of items: what is embedded, how it is told, and what it does to a prompt.

const NEAR = { refund: [1, 0, 0], money: [0.9, 0.1, 0], server: [0, 1, 0], lunch: [0, 0, 1] };
/** A model that knows four things. */
const vector = (text) => {
  const sum = [0.01, 0.01, 0.01];
  for (const [word, near] of Object.entries(NEAR)) if (text.includes(word)) near.forEach((part, at) => (sum[at] += part));
  return sum;
};
const item = (id, text, more) => ({ id, kind: "user_turn", text, ...more });

/** A manager whose log has an answer that shares no word with the question, and an embedder that remembers what it was asked. */
function desk(cw, { later = true, ...options } = {}) {
  const asked = [];
  const embed = (texts) => {
    asked.push([...texts]);
    const made = texts.map(vector);
    return later ? Promise.resolve(made) : made;
  };
  const manager = new cw.ContextManager({ embed, embedding_weight: 0.5, rules: false, ...options });
  manager.ingest(item("answer", "the money goes back within 14 days of the order"));
  for (let n = 0; n < 40; n += 1)
    manager.ingest(item(`t${n}`, `${n % 2 ? "the server was restarted" : "lunch is served"} on day ${n} of the month, as on the days before`));
  return { manager, asked };
}

const QUERY = { phase: "answer", query: "how does a refund work", budget_tokens: 160 };
const shows = (pack, id) => pack.items.some((one) => one.id === id);

export const embeddingCases = {
  async "what means the same is found without a common word"(cw, assert) {
    for (const later of [true, false]) {
      const { manager, asked } = desk(cw, { later });
      const without = manager.build(QUERY);
      assert.ok(!shows(without, "answer"), without.prompt);
      assert.ok(
        without.warnings.some((one) => one.includes("embedMissing")),
        "nobody was told",
      );
      // Equal texts are one text: there are 41 here, all different, and the query.
      assert.equal(await manager.embedMissing(QUERY.query), 42);
      const pack = manager.build(QUERY);
      assert.ok(shows(pack, "answer"), pack.prompt);
      assert.equal((pack.warnings ?? []).filter((one) => one.includes("embedMissing")).length, 0);
      assert.ok(asked.every((texts) => texts.length <= 100));
      assert.equal(manager.build(QUERY).prompt, pack.prompt);
      manager.free();
    }
  },

  async "only what is new is embedded, and equal texts once"(cw, assert) {
    const { manager, asked } = desk(cw);
    await manager.embedMissing();
    assert.equal(await manager.embedMissing(), 0);
    manager.ingestAll([item("a", "the same words"), item("b", "the same words"), item("c", "   ")]);
    assert.equal(await manager.embedMissing(QUERY.query), 2);
    assert.deepEqual(asked.at(-1), ["the same words", QUERY.query]);
    // Two at once end as one after the other.
    manager.ingest(item("d", "one more"));
    await Promise.all([manager.embedMissing(QUERY.query), manager.embedMissing(QUERY.query)]);
    assert.equal(await manager.embedMissing(QUERY.query), 0);
    manager.free();
  },

  async "no secret and nothing withheld is shown to the model"(cw, assert) {
    const key = "sk-proj-" + "a1B2c3D4e5F6g7H8".repeat(3);
    for (const [policy, hidden] of [
      [undefined, ["confidential", "restricted"]],
      [{ sensitivity_floor: "internal" }, ["internal", "confidential", "restricted"]],
      [{ sensitivity_floor: "restricted" }, ["confidential", "restricted"]],
    ]) {
      const { manager, asked } = desk(cw, policy && { policy });
      for (const sensitivity of ["public", "internal", "confidential", "restricted"])
        manager.ingest(item(sensitivity, `it is ${sensitivity}, with ${key}`, { sensitivity }));
      await manager.embedMissing(`where is ${key}`);
      const told = asked.flat().join("\n");
      assert.ok(!told.includes(key.slice(8)), told);
      for (const label of ["public", "internal", "confidential", "restricted"]) assert.equal(told.includes(`it is ${label}`), !hidden.includes(label), label);
      // A secret that is cut in the middle is no secret to a rule.
      manager.ingest(item("long", "x ".repeat(4_080) + key));
      await manager.embedMissing();
      assert.ok(asked.at(-1)[0].length <= 8_192);
      assert.ok(!asked.at(-1)[0].includes("sk-proj-a"), asked.at(-1)[0].slice(-60));
      manager.free();
    }
  },

  async "an embedding model is taken as frameworks have it"(cw, assert) {
    const calls = [];
    const sdk = {
      specificationVersion: "v3",
      modelId: "m",
      doEmbed({ values }) {
        calls.push(this === sdk);
        return Promise.resolve({ embeddings: values.map(vector) });
      },
    };
    const langchain = {
      embedDocuments(texts) {
        calls.push(this === langchain);
        return Promise.resolve(texts.map(vector));
      },
    };
    const ai = {
      run(model, { text }) {
        calls.push(this === ai && model === "@cf/baai/bge-small-en-v1.5");
        return Promise.resolve({ shape: [text.length, 3], data: text.map(vector) });
      },
    };
    for (const embed of [sdk, langchain, { ai, model: "@cf/baai/bge-small-en-v1.5" }, (texts) => texts.map((text) => Float32Array.from(vector(text)))]) {
      const { manager } = desk(cw, { embed });
      assert.equal(await manager.embedMissing(QUERY.query), 42);
      assert.ok(shows(manager.build(QUERY), "answer"));
      manager.free();
      const store = new cw.DecisionStore({ embed });
      await store.callTool("log_decision", {
        decision: "Refunds within 14 days",
        confidence: 0.9,
        category: "process",
        stakes: "low",
        reasons: [{ type: "authority", text: "it is the law" }],
      });
      const { structuredContent } = await store.callTool("query_decisions", { query: "money", retrieval_mode: "semantic", limit: 1 });
      assert.equal(structuredContent.decisions[0].title, "Refunds within 14 days");
      store.free();
    }
    assert.ok(calls.length >= 6 && calls.every(Boolean), JSON.stringify(calls));
  },

  async "an embedder that fails costs the vectors, not the log"(cw, assert) {
    const wrong = [
      () => {
        throw new Error("no");
      },
      async () => {
        throw new Error("no");
      },
      () => [],
      () => undefined,
      (texts) => texts.map(() => []),
      (texts) => texts.map(() => [Number.NaN]),
      (texts) => texts.map((_, at) => Array(at + 1).fill(1)),
      (texts) => texts.map(() => "1"),
    ];
    for (const embed of wrong) {
      const { manager } = desk(cw, { embed });
      const before = manager.build(QUERY).prompt;
      await assert.rejects(manager.embedMissing(QUERY.query), { code: "CALLBACK_FAILED" });
      assert.equal(manager.build(QUERY).prompt, before);
      manager.free();
    }
    let failing = false;
    const { manager } = desk(cw, { embed: (texts) => (failing ? texts.map(() => [1, 2]) : texts.map(vector)) });
    await manager.embedMissing(QUERY.query);
    failing = true;
    manager.ingest(item("new", "what came later"));
    await assert.rejects(manager.embedMissing(), { code: "CALLBACK_FAILED", path: "/embed" });
    assert.ok(shows(manager.build(QUERY), "answer"));
    manager.free();
    await assert.rejects(manager.embedMissing(), { code: "DISPOSED" });
  },

  async "what is wrong with the options of an embedder is told with a path"(cw, assert) {
    for (const embed of [1, "m", {}, [], { ai: {}, model: "m" }, null])
      assert.throws(() => new cw.ContextManager({ embed }), { code: "INVALID_INPUT", path: "/embed" });
    for (const embedding_weight of [-1, 2, "1", Number.NaN])
      assert.throws(() => new cw.ContextManager({ embed: () => [], embedding_weight }), { code: "INVALID_INPUT", path: "/embedding_weight" });
    assert.throws(() => new cw.ContextManager({ embedding_weight: 0.3 }), { code: "MISSING_FIELD", path: "/embed" });
    const manager = new cw.ContextManager();
    await assert.rejects(manager.embedMissing("x"), { code: "MISSING_FIELD", path: "/embed" });
    manager.free();
    const { manager: other } = desk(cw);
    await assert.rejects(other.embedMissing(1), { code: "INVALID_INPUT", path: "/query" });
    other.free();
  },

  async "scores of the caller's stand before those of vectors"(cw, assert) {
    const { manager } = desk(cw, { item_scores: () => ({ answer: 0 }) });
    await manager.embedMissing(QUERY.query);
    assert.ok(!shows(manager.build(QUERY), "answer"));
    assert.ok(shows(manager.build({ ...QUERY, item_scores: { answer: 1 } }), "answer"));
    manager.free();
    const { manager: none } = desk(cw, { embedding_weight: 0 });
    await none.embedMissing(QUERY.query);
    assert.ok(!shows(none.build(QUERY), "answer"));
    none.free();
  },
};
