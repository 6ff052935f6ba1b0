// After a trap the facade replaces the instance, and the same objects go on.
import { tool } from "./catalog.mjs";
import { TOUR, called, content, failed, memory } from "./decisions.mjs";
import { fixture, item, refuses } from "./hostile-values.mjs";
import { TRAPS } from "./instances.mjs";
import { tools } from "./routing.mjs";

/** Runs a trap through the facade's own wrapper, in one of the engines; returns the error. */
function trap(cw, assert, engines, what, where = "core") {
  const engine = engines[where];
  const born = engine.generation;
  let error;
  try {
    engine.call(TRAPS[what]);
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(cw.ContextWeaverError.is(error) && error.code === "INTERNAL", `${what}: ${error}`);
  assert.ok(error.cause instanceof WebAssembly.RuntimeError || error.cause instanceof RangeError, `${what}: the cause`);
  assert.ok(engine.generation > born, `${what}: a new instance`);
  return error;
}

/** Routers of a catalog, with what they may have been given. */
function routersOf(cw, catalog) {
  const plain = new cw.Router(catalog);
  const [index, graph] = [plain.indexBytes(), plain.graph()];
  const vectors = new cw.Router(catalog.items());
  vectors.setEmbeddings({ "mail.send_email": [1, 0], later: [0, 1] });
  const beam = new cw.Router(catalog, { navigator: "beam", graph });
  return [plain, new cw.Router(catalog, { index }), vectors, beam];
}

/** What can be seen of a catalog or a router. */
function stateOf(one) {
  if (!("route" in one)) return [one.items(), one.hash(), one.size];
  return [one.items(), one.graph(), one.indexBytes(), one.route("send an invoice"), one.browse()];
}

function refusesToRestore(cw, assert, action) {
  const error = assert.throws(action, { code: "POISONED" });
  assert.equal(error.cause.code, "INTERNAL");
  return error;
}

/** Counts what is made and freed in the routing engine meanwhile. */
function counted(engines, run) {
  const counts = { made: 0, freed: 0 };
  const count =
    (key, work) =>
    (...args) => {
      const result = work(...args);
      counts[key] += 1;
      return result;
    };
  const made = ["catalog_new", "catalog_restore", "router_new", "router_of_items", "router_restore", "router_with_index"];
  const freed = ["catalog_free", "router_free"];
  const { call } = engines.routing;
  const spied = (glue) =>
    new Proxy(
      {},
      {
        get: (_, key) => (made.includes(key) ? count("made", glue[key]) : freed.includes(key) ? count("freed", glue[key]) : glue[key]),
      },
    );
  engines.routing.call = (work) => call.call(engines.routing, (glue) => work(spied(glue)));
  try {
    run();
  } finally {
    delete engines.routing.call;
  }
  return counts;
}

/** Steps of a running prompt, as text and as messages. */
const RUNNING = { phase: "answer", running: true };
const STEP = { phase: "answer", format: "openai-chat" };

/** `{ name: (cw, assert, engines) => … }` */
export const recoveryCases = {
  ...Object.fromEntries(
    Object.keys(TRAPS).map((what) => [
      `after ${what} the same manager has its state`,
      (cw, assert, parts) => {
        const { manager, before } = fixture(cw);
        manager.addFact({ fact_id: "f", key: "k", value: "v" });
        manager.addEpisode({ episode_id: "e", summary: "s" });
        manager.observeUsage({ model: "m", estimated: 100, actual: 120 });
        manager.drilldown("artifact:result:c1", { type: "head", chars: 5 }, { inject: true });
        const sent = manager.buildMessages(STEP).messages;
        const state = JSON.stringify(manager);
        const error = trap(cw, assert, parts, what);
        if (what === "a panic") assert.match(String(error.details?.panic), /\.rs:\d+:\d+$/); // where, not what: that may quote an item
        assert.equal(JSON.stringify(manager), state, `${what}: the snapshot`);
        assert.ok(manager.build({ phase: "answer" }).prompt.includes("total: 42"), before);
        assert.equal(new TextDecoder().decode(manager.artifacts.bytes("artifact:result:c1")), "total: 42");
        manager.ingest(item("after", "still here"));
        assert.equal(manager.events.count(), 4);
        const { messages, step } = manager.buildMessages(STEP);
        assert.deepEqual([step.cut, messages.slice(0, sent.length)], [undefined, sent], `${what}: the running prompt`);
        assert.equal(cw.countTokens("12345678"), 4);
        manager.free();
      },
    ]),
  ),

  "restored managers, custom functions and running prompts survive too"(cw, assert, parts) {
    const source = fixture(cw);
    const text = JSON.stringify(source.manager);
    let asked = 0;
    const options = {
      estimator: (t) => t.length,
      summarizer: () => {
        asked += 1;
        return "summed up";
      },
    };
    const manager = cw.ContextManager.fromJSON(text, options);
    manager.ingestToolResult({ tool_call_id: "big", tool_name: "t", raw_output: "word ".repeat(3000) });
    const first = manager.build(RUNNING);
    assert.equal(asked, 1);
    trap(cw, assert, parts, "a panic");
    assert.equal(manager.events.get("result:big").text, "summed up");
    assert.equal(asked, 1, "known answers are not asked for again");
    manager.ingest(item("next"));
    const second = manager.build(RUNNING);
    assert.ok(second.prompt.startsWith(first.prompt) && second.prompt.length > first.prompt.length, "the prompt before");
    assert.deepEqual([second.running.cut, second.running.step], [undefined, 2]);
    manager.free();
    source.manager.free();
  },

  "rules that were added, corrected and forgotten survive too"(cw, assert, parts) {
    let asked = 0;
    const find = () => void (asked += 1);
    const manager = new cw.ContextManager({ rules: { find } });
    manager.ingest({ id: "u1", kind: "user_turn", text: "Never push to main. Call me Jo. Ask me above 200 euros." });
    manager.addRule({ text: "Answer in Spanish." });
    manager.correctRule("u1#3", { text: "Ask me above 350 euros." });
    manager.forgetRule("u1#2");
    const state = () => JSON.stringify([manager, manager.rules(), manager.build({ phase: "answer" }).prompt]);
    const before = state();
    trap(cw, assert, parts, "a panic");
    assert.equal(state(), before);
    assert.equal(asked > 0, true);
    assert.equal(manager.addRule({ text: "Answer in French." }).id, "rule:1");
    manager.free();
  },

  "what expired or was evicted stays so, and what was kept is kept"(cw, assert, parts) {
    let now = 1_000_000;
    const limits = { max_artifacts: 3, eviction: "lru", artifact_ttl_seconds: 60 };
    const manager = new cw.ContextManager({ limits, clock: () => now });
    const put = (handle) => manager.artifacts.put({ handle, content: handle });
    const state = () => [JSON.stringify(manager.artifacts.list()), JSON.stringify(manager)];
    // Enough builds for the replay log to be folded into a snapshot, which says nothing of times.
    for (let i = 0; i < 300; i += 1) {
      now += 1_000;
      put(`h${i}`);
      if (i % 2 === 0) manager.artifacts.bytes(`h${i - 1 < 0 ? 0 : i - 1}`);
      if (i % 7 === 0) manager.drilldown(`h${i}`, { type: "head" });
      manager.build(RUNNING);
    }
    for (const rest of [0, 30_000, 29_000, 1_000, 60_000]) {
      now += rest;
      const before = state();
      trap(cw, assert, parts, "a panic");
      assert.deepEqual(state(), before, `after ${rest}`);
      if (rest < 60_000) put(`later ${rest}`);
    }
    manager.free();
  },

  "what was overwritten, removed and evicted is forgotten, and all else is as it was"(cw, assert, parts) {
    const filler = (i) => `${i} `.padEnd(8_000, `word${i} `);
    let now = 1_000;
    const limits = { max_artifacts: 9, eviction: "lru", artifact_ttl_seconds: 100 };
    const options = { limits, clock: () => now };
    const managers = [new cw.ContextManager(), new cw.ContextManager(options), cw.ContextManager.fromJSON(fixture(cw).manager.toJSON(), options)];
    for (const manager of managers) {
      const state = () => [JSON.stringify(manager), JSON.stringify(manager.artifacts.list()), manager.build({ phase: "answer" })];
      manager.ingestToolResult({ tool_call_id: "kept", tool_name: "t", raw_output: filler("kept") });
      for (let i = 0; i < 50; i += 1) {
        // Several at one time: the order in which they expire is that of the puts.
        if (i % 4 === 0) now += 1_000;
        manager.ingest(item(`log${i}`, `turn ${i}`));
        manager.artifacts.put({ handle: `h${99 - i}`, content: filler(i), label: "x" });
        manager.artifacts.put({ handle: "same", content: filler(-i) });
        if (i % 3 === 0) manager.artifacts.pin("same");
        if (i % 3 === 1) manager.artifacts.unpin("same");
        if (i % 2 === 0) manager.artifacts.delete(`h${99 - i}`);
        manager.facts.put({ fact_id: `f${i % 4}`, key: `k${i % 2}`, value: filler(i) });
        manager.addEpisode({ episode_id: `e${i}`, summary: filler(i) });
        if (i > 2) manager.episodes.delete(`e${i - 3}`);
        if (i % 10 === 9) manager.facts.delete(`f${i % 4}`);
        if (i % 16 === 15) {
          const was = state();
          trap(cw, assert, parts, "a panic");
          assert.deepEqual(state(), was, `after ${i}`);
        }
      }
      // What was evicted is still known to have been.
      for (const step of [0, 60_000, 60_000, 60_000]) {
        now += step;
        const was = state();
        trap(cw, assert, parts, "a panic");
        assert.deepEqual(state(), was, `after ${step} more`);
      }
      manager.free();
    }
  },

  "what was answered stays answered when the entries around it are folded"(cw, assert, parts) {
    let asked = 0;
    const summarizer = (_, text) => {
      asked += 1;
      return `summary of ${text.length}`;
    };
    const manager = new cw.ContextManager({ summarizer });
    for (let i = 0; i < 8; i += 1) {
      manager.ingestToolResult({ tool_call_id: `c${i}`, tool_name: "t", raw_output: `${i} `.padEnd(30_000, "word ") });
      for (let again = 0; again < 5; again += 1) manager.artifacts.put({ handle: "same", content: `${again} `.padEnd(100_000, "x ") });
    }
    const [was, count] = [JSON.stringify(manager), asked];
    trap(cw, assert, parts, "a panic");
    assert.deepEqual([JSON.stringify(manager), asked], [was, count]);
    manager.free();
  },

  "what was looked into, reduced and summarised later is there again"(cw, assert, parts) {
    const log = "word of a long result\n".repeat(3000);
    let asked = 0;
    const extractor = () => {
      asked += 1;
      throw new Error("no facts today");
    };
    const limits = { max_artifacts: 5, eviction: "lru" };
    const manager = new cw.ContextManager({ extractor, limits });
    manager.ingest({ id: "r0", kind: "tool_result", text: log });
    const { envelope } = manager.ingestToolResult({ tool_call_id: "big", tool_name: "t", raw_output: log });
    const [{ handle }] = envelope.artifacts;
    const { item_id } = manager.drilldown(handle, { type: "search", text: "word", max_hits: 1 }, { inject: true });
    manager.supplySummary({ item_id: "result:big", summary: "words" });
    const { artifact_ref } = manager.compact(log + "end");
    manager.compact("small");
    // Reading counts as a use, of what is an artifact and of what is none.
    manager.drilldown("artifact:r0", { type: "head" });
    manager.artifacts.views("artifact:r0");
    manager.artifacts.views(handle);
    manager.summaryRequests();
    const state = JSON.stringify(manager);
    trap(cw, assert, parts, "a panic");
    assert.equal(JSON.stringify(manager), state);
    assert.deepEqual(
      [manager.events.get(item_id).text, manager.events.get("result:big").text],
      [manager.drilldown(handle, { type: "search", text: "word", max_hits: 1 }).text, "words"],
    );
    assert.equal(manager.artifacts.bytes(artifact_ref).length, log.length + 3);
    assert.deepEqual([asked, manager.stats().hook_errors], [3, 3], "nobody is asked again");
    manager.free();
  },

  "messages and results of MCP come back with their images"(cw, assert, parts) {
    const data = btoa("some bytes ".repeat(3_000));
    const manager = new cw.ContextManager({ estimator: (text) => text.length });
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "t", arguments: "{}" } }] },
    ];
    manager.ingestMessages(messages, "openai-chat");
    const content = [
      { type: "image", data, mimeType: "image/png" },
      { type: "resource", resource: { uri: "u:x", blob: data } },
    ];
    manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result: { content } });
    manager.ingestMessages([{ role: "user", content: "and now?" }], "openai-chat");
    const talk = [{ role: "user", content: [{ text: "hello", type: "text" }] }];
    manager.syncMessages(talk, "anthropic");
    manager.syncMessages([...talk, { role: "assistant", content: "hi" }], "anthropic");
    const was = JSON.stringify(manager);
    trap(cw, assert, parts, "a panic");
    assert.equal(JSON.stringify(manager), was);
    assert.equal(manager.syncMessages([...talk, { role: "assistant", content: "hi" }, ...talk], "anthropic").added.length, 1);
    assert.equal(manager.artifacts.bytes("mcp:t:c:image:0").length, 33_000);
    manager.free();
  },

  "many managers come back, each when it is used"(cw, assert, parts) {
    const managers = Array.from({ length: 20 }, (_, i) => {
      const manager = new cw.ContextManager();
      manager.ingest(item(`only-${i}`));
      return manager;
    });
    for (const what of Object.keys(TRAPS)) trap(cw, assert, parts, what);
    managers.forEach((manager, i) => assert.equal(manager.events.list()[0].id, `only-${i}`));
    trap(cw, assert, parts, "a panic");
    for (const manager of managers) manager.free();
    refuses(cw, assert, "freed", () => managers[0].stats(), ["DISPOSED"]);
  },

  "a trap inside a function of the caller does not lose the manager that asked"(cw, assert, parts) {
    let armed = true;
    const manager = new cw.ContextManager({
      estimator: (text) => {
        if (armed) {
          armed = false;
          trap(cw, assert, parts, "a panic");
        }
        return text.length;
      },
    });
    manager.ingest(item("u1", "one"));
    assert.match(manager.build({ phase: "answer" }).prompt, /one/);
    manager.free();
  },

  "hundreds of steps of a running prompt are not forgotten, nor all kept"(cw, assert, parts) {
    const manager = new cw.ContextManager();
    let last = "";
    for (let i = 0; i < 400; i += 1) {
      manager.ingest(item(`i${i}`, `turn ${i}`));
      last = manager.build({ ...RUNNING, budget_tokens: 20_000 }).prompt;
    }
    trap(cw, assert, parts, "a panic");
    manager.ingest(item("next"));
    const next = manager.build({ ...RUNNING, budget_tokens: 20_000 });
    assert.ok(next.prompt.startsWith(last) && next.prompt.length > last.length, next.running.cut);
    assert.deepEqual([next.running.cut, next.running.step, manager.costs().steps], [undefined, 401, 401]);
    manager.free();
  },

  ...Object.fromEntries(
    Object.keys(TRAPS).map((what) => [
      `after ${what} the same catalogs and routers have their tools, and managers notice nothing`,
      (cw, assert, engines) => {
        const { manager, before } = fixture(cw);
        const catalog = new cw.Catalog(tools());
        catalog.register(tool("later"));
        catalog.remove("files.read_file");
        const routers = routersOf(cw, catalog);
        const freed = new cw.Catalog([tool("a")]);
        freed.free();
        const state = () => [catalog, ...routers].map(stateOf);
        const was = state();
        const managers = engines.core.generation;
        const error = trap(cw, assert, engines, what, "routing");
        if (what === "a panic") assert.match(String(error.details?.panic), /\.rs:\d+:\d+$/);
        assert.equal(engines.core.generation, managers, "the other engine");
        // Its handle may be that of a lost one, which must not free it.
        const next = new cw.Catalog([tool("b"), tool("c")]);
        assert.deepEqual(state(), was, what);
        assert.equal(next.size, 2);
        refuses(cw, assert, "freed before", () => freed.size, ["DISPOSED"]);
        // What was done after a restart is known after the next.
        for (const router of routers) {
          router.add([tool("after")]);
          router.remove(["later"]);
        }
        catalog.register(tool("after"));
        const now = state();
        trap(cw, assert, engines, what, "routing");
        assert.deepEqual(state(), now, `${what}, again`);
        assert.equal(manager.build({ phase: "answer" }).prompt, before);
        assert.ok(manager.buildRoute({ router: routers[0], query: "invoice" }).cards.length > 0, "a prompt");
        trap(cw, assert, engines, what, "routing");
        for (const one of [catalog, next, ...routers]) {
          one.free();
          refuses(cw, assert, "freed", () => one.items(), ["DISPOSED"]);
        }
        manager.free();
      },
    ]),
  ),

  "catalogs and routers whose tools came and went are as they were"(cw, assert, engines) {
    const long = (i) => ({ description: `${i} `.padEnd(6_000, `word${i} `) });
    const reported = new cw.Catalog([tool("a"), tool("a"), { id: "b" }, tool("c", { depends_on: ["z"] })], { on_invalid: "report" });
    const graph = new cw.Router([tool("x"), tool("y")]).graph();
    const plain = new cw.Router([tool("x"), tool("y")]);
    const given = new cw.Router([tool("x"), tool("y")], { graph: { ...graph, build_meta: { ...graph.build_meta, mine: 1 } } });
    const beam = new cw.Router([tool("x"), tool("y")], { navigator: "beam", graph });
    const vector = (i) => [Math.sin(i), Math.cos(i * 3), i / 7, 0.1];
    for (let i = 0; i < 120; i += 1) {
      reported.register(tool(`n${i}`, long(i)));
      plain.add([tool(`n${i}`, long(i))]);
      beam.add([tool(`n${i}`, long(i))]);
      plain.setEmbeddings({ x: vector(i), [`n${i}`]: vector(i + 0.5) });
      given.setEmbeddings({ x: Array.from({ length: 500 }, (_, at) => at / 3 + i).concat(vector(i)), y: Array.from({ length: 504 }, () => 1) });
      if (i > 3) {
        reported.remove(`n${i - 4}`);
        plain.remove([`n${i - 4}`]);
        beam.remove([`n${i - 4}`]);
      }
      if (i % 40 !== 39) continue;
      given.setEmbeddings({ x: [...Array(500).fill(0), ...vector(i)] });
      const dimension = (one) => (one === given ? [...Array(500).fill(0), ...vector(1)] : vector(1));
      const state = () => [
        [reported.items(), reported.findings(), reported.lint(), reported.hash()],
        ...[plain, given].map((one) => [...stateOf(one), one.route("word", { query_embedding: dimension(one), debug: true })]),
        stateOf(beam),
      ];
      const was = state();
      trap(cw, assert, engines, "a panic", "routing");
      assert.deepEqual(state(), was, `after ${i}`);
    }
    // Who holds a router's catalog no longer matters, nor what became of it.
    const late = new cw.Router(reported);
    const was = stateOf(late);
    for (const { id } of reported.items()) reported.remove(id);
    reported.free();
    trap(cw, assert, engines, "a panic", "routing");
    assert.deepEqual(stateOf(late), was);
    for (const one of [plain, given, beam, late]) one.free();
  },

  async "a router survives its catalog, and a text is not embedded again"(cw, assert, engines) {
    let asked = 0;
    const embed = (texts) => {
      asked += texts.length;
      return texts.map((text) => [text.includes("email") ? 1 : 0, 1]);
    };
    const catalog = new cw.Catalog(tools());
    catalog.register(tool("mail.more"));
    const router = new cw.Router(catalog, { embed });
    catalog.free();
    assert.equal(await router.embedMissing("zzqq"), 8);
    const was = router.route("zzqq");
    trap(cw, assert, engines, "a panic", "routing");
    assert.deepEqual(router.route("zzqq"), was);
    assert.equal(await router.embedMissing("zzqq"), 0);
    assert.equal(asked, 8);
    router.free();
  },

  async "a trap while an embedder is asked does not lose the router"(cw, assert, engines) {
    const router = new cw.Router(tools(), {
      embed: (texts) => {
        trap(cw, assert, engines, "a panic", "routing");
        return texts.map((text) => [text.length, 1]);
      },
    });
    await router.embedMissing("invoice");
    const was = router.route("invoice");
    router.add([tool("more")]);
    assert.equal(await router.embedMissing("invoice"), 1);
    assert.equal(router.items().length, 7);
    assert.equal(router.route("invoice", { top_k: 1 }).candidate_ids[0], was.candidate_ids[0]);
    router.free();
  },

  "what cannot be restored says so, and the next call tries again"(cw, assert, engines) {
    const catalog = new cw.Catalog(tools());
    const routers = { ofCatalog: new cw.Router(catalog), ofItems: new cw.Router(tools()) };
    for (const router of Object.values(routers)) router.add([tool("more")]);
    const managers = fixture(cw);
    const was = [catalog, routers.ofCatalog, routers.ofItems].map(stateOf);
    for (const [from, router] of [
      ["catalog_new", routers.ofCatalog],
      ["router_new", routers.ofCatalog],
      ["router_call", routers.ofCatalog],
      ["router_of_items", routers.ofItems],
    ]) {
      trap(cw, assert, engines, "a panic", "routing");
      // The engine fails once more, in the middle of the way back.
      const { call } = engines.routing;
      let broken = true;
      engines.routing.call = function (run) {
        return call.call(engines.routing, (glue) => {
          const fails = () => TRAPS["a panic"](glue);
          return broken ? run(new Proxy({}, { get: (_, key) => (key === from ? fails : glue[key]) })) : run(glue);
        });
      };
      try {
        const error = refusesToRestore(cw, assert, () => router.items());
        assert.match(error.message, /router could not be restored/);
        refusesToRestore(cw, assert, () => router.items());
        if (from === "catalog_new") refusesToRestore(cw, assert, () => catalog.items());
        broken = false;
        assert.deepEqual([catalog, routers.ofCatalog, routers.ofItems].map(stateOf), was, from);
      } finally {
        delete engines.routing.call;
      }
    }
    assert.equal(managers.manager.build({ phase: "answer" }).prompt, managers.before);
    for (const one of [catalog, routers.ofCatalog, routers.ofItems, managers.manager]) one.free();
  },

  "a router that cannot be made leaves nothing behind"(cw, assert, engines) {
    const fails = [
      () => new cw.Router(tools(), { embed: "a model" }),
      () => new cw.Router(tools(), { navigator: "beam", embed: () => [] }),
      () => new cw.Router(tools(), { topk: 1 }),
      () => new cw.Router(tools(), { graph: {} }),
      () => new cw.Router(tools(), { index: new Uint8Array(9) }),
      () => new cw.Router([...tools(), tools()[0]]),
    ];
    for (const make of fails) {
      const counts = counted(engines, () => {
        try {
          make();
        } catch (error) {
          assert.ok(cw.ContextWeaverError.is(error), error);
        }
      });
      assert.equal(counts.made, counts.freed, `${make}: ${JSON.stringify(counts)}`);
    }
  },

  "a trap beside catalogs leaves them alone"(cw, assert, engines) {
    const catalog = new cw.Catalog([tool("a")]);
    for (const what of Object.keys(TRAPS)) trap(cw, assert, engines, what, "core");
    assert.equal(catalog.get("a").id, "a");
    catalog.free();
  },

  ...Object.fromEntries(
    Object.keys(TRAPS).map((what) => [
      `after ${what} the same decision stores have their decisions, and what led to them`,
      async (cw, assert, engines) => {
        let asked = 0;
        const embed = (texts) => {
          asked += texts.length;
          return texts.map((text) => [text.length % 7, 1]);
        };
        const [store, embedded, freed] = [memory(cw), memory(cw, { embed }), memory(cw)];
        freed.free();
        for (const [name, args] of TOUR) {
          await called(assert, store, name, args);
          await called(assert, embedded, name, args);
        }
        store.addGuardrails({ id: "later", condition_stakes: "low", action: "block" });
        await called(assert, store, "record_thought", { text: "kept for later" });
        const state = () => [store, embedded].map((one) => JSON.stringify(one));
        const [was, count] = [state(), asked];
        trap(cw, assert, engines, what, "decisions");
        assert.deepEqual(state(), was);
        assert.equal(asked, count, "vectors are not asked for again");
        refuses(cw, assert, "freed before", () => freed.size, ["DISPOSED"]);
        assert.equal((await called(assert, store, "check_action", { description: "x", stakes: "low" })).allowed, false);
        assert.equal((await failed(assert, store, "get_decision", {})).error, "validation_error");

        const copy = memory(cw);
        copy.import(JSON.stringify(store), { mode: "replace" });
        // So much that the replay log is folded into a snapshot.
        for (let i = 0; i < 90; i += 1)
          await called(assert, copy, "log_decision", { decision: `No. ${i}: ${"x".repeat(15_000)}`, confidence: 1, category: "process" });
        const [full, { revision }] = [content(copy), copy.export()];
        trap(cw, assert, engines, what, "decisions");
        assert.deepEqual(content(copy), full);
        assert.ok(copy.export().revision >= revision);
        for (const one of [store, embedded, copy]) one.free();
      },
    ]),
  ),

  async "decisions that were imported again and again are as they were"(cw, assert, engines) {
    const source = memory(cw);
    for (let i = 0; i < 4; i += 1)
      await called(assert, source, "log_decision", { decision: `No. ${i}: ${"x".repeat(15_000)}`, confidence: 1, category: "process" });
    const [snapshot, store] = [JSON.stringify(source), memory(cw)];
    for (let i = 0; i < 12; i += 1) {
      store.import(snapshot, { mode: "replace" });
      store.addGuardrails({ id: `g${i}`, condition_stakes: "low", action: "block" });
      if (i % 2 === 0) store.removeGuardrail(`g${i}`);
      await called(assert, store, "log_decision", { decision: `Own ${i}`, confidence: 1, category: "process" });
    }
    const was = content(store);
    trap(cw, assert, engines, "a panic", "decisions");
    assert.deepEqual(content(store), was);
    for (const one of [source, store]) one.free();
  },

  async "a trap while vectors are made does not lose the call"(cw, assert, engines) {
    let armed = true;
    const store = memory(cw, {
      embed: async (texts) => {
        if (armed) trap(cw, assert, engines, "a panic", "decisions");
        armed = false;
        return texts.map(() => [1, 2]);
      },
    });
    await called(assert, store, "log_decision", { decision: "One", confidence: 1, category: "process" });
    assert.equal((await called(assert, store, "query_decisions", { query: "one" })).total, 1);
    assert.equal(store.size, 1);
    store.free();
  },
};
