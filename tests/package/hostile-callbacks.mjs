// The caller's own functions misbehaving.
import { fixture, isSound, item, refuses } from "./hostile-values.mjs";

const LARGE = "line of a large result\n".repeat(400);
const large = (id = "big") => ({ tool_call_id: id, tool_name: "t", raw_output: LARGE });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** What a function may return instead of an answer. */
const WRONG = {
  undefined: () => undefined,
  null: () => null,
  "an object": () => ({}),
  "a symbol": () => Symbol("s"),
  "a BigInt": () => 1n,
  NaN: () => NaN,
  "a promise": () => Promise.resolve(1),
  "a rejected promise": () => Promise.reject(new Error("late")),
  "a thenable": () => ({
    get then() {
      throw new Error("then");
    },
  }),
  "a revoked proxy": revoked,
};
const WRONG_COUNT = { "-1": () => -1, 1.5: () => 1.5, "2^53": () => 2 ** 53, "2^24 + 1": () => 2 ** 24 + 1, text: () => "1" };
const WRONG_TEXT = { "half a pair": () => "\ud800", "9 MiB": () => "x".repeat(9 * 1024 * 1024), number: () => 1 };

/** For each kind of function: options that use it, and a call that asks it. */
const FUNCTIONS = {
  estimator: [(f) => ({ estimator: f }), (m) => m.build({ phase: "answer", query: "x" }), WRONG_COUNT],
  classifier: [(f) => ({ classifier: f }), (m) => m.build({ phase: "answer", query: "x" }), { secret: () => "secret", "": () => "" }],
  summarizer: [(f) => ({ summarizer: f }), (m) => m.ingestToolResult(large()), WRONG_TEXT],
  "named summarizer": [(f) => ({ summarizer: { summarize: f, name: "n" } }), (m) => m.ingestToolResult(large()), WRONG_TEXT],
  extractor: [(f) => ({ extractor: f }), (m) => m.ingestToolResult(large()), { number: () => 1, numbers: () => [1], "half a pair": () => ["\ud800"] }],
  "redaction hook": [
    (f) => ({ redaction_hooks: { mine: f }, policy: { sensitivity_action: "redact", redaction_hooks: ["mine"] } }),
    (m) => m.build({ phase: "answer" }),
    WRONG_TEXT,
  ],
};

/** Those that may throw: a result is worth more than its summary. */
const ON_RESULTS = ["summarizer", "named summarizer", "extractor"];

/** A manager whose function behaves until `break`. */
function fragile(cw, kind, bad) {
  const [options, use] = FUNCTIONS[kind];
  const good = { estimator: (t) => Math.ceil(t.length / 4), classifier: () => "public", extractor: () => ["a fact"] }[kind] ?? (() => "short");
  let broken = false;
  const fn = (...args) => (broken ? bad(...args) : good(...args));
  const manager = new cw.ContextManager(options(fn));
  manager.ingestAll([item("u1", "one"), item("u2", "two", { sensitivity: kind === "redaction hook" ? "restricted" : "public" })]);
  const state = { manager, use: () => use(manager), break: (on) => (broken = on) };
  return state;
}

/** Breaks the function, uses it, mends it, uses it again. */
function breaks(cw, assert, kind, what, bad, codes = ["CALLBACK_FAILED"]) {
  const name = `${kind}: ${what}`;
  const state = fragile(cw, kind, (...args) => bad(state.manager, ...args));
  const before = JSON.stringify(state.manager);
  state.break(true);
  const error = refuses(cw, assert, name, state.use, codes);
  assert.equal(JSON.stringify(state.manager), before, `${name}: something was written`);
  state.break(false);
  const result = state.use();
  assert.ok(result.prompt ?? result.item, `${name}: works again`);
  state.manager.free();
  return error;
}

export const callbackCases = {
  "a function that throws is CALLBACK_FAILED with the cause, and nothing is written"(cw, assert) {
    for (const kind of Object.keys(FUNCTIONS).filter((kind) => !ON_RESULTS.includes(kind))) {
      for (const thrown of [new Error("mine"), "text", undefined, null, revoked()]) {
        const error = breaks(cw, assert, kind, "throws", () => {
          throw thrown;
        });
        assert.ok("cause" in error && error.cause === thrown, `${kind}: the cause`);
      }
    }
  },

  "a function that works on results may throw anything, and the result is there"(cw, assert) {
    for (const kind of ON_RESULTS) {
      for (const thrown of [new Error("mine"), "text", undefined, null, revoked()]) {
        const state = fragile(cw, kind, () => {
          throw thrown;
        });
        state.break(true);
        const { item: added, envelope } = state.use();
        assert.ok(envelope.status === "partial" && added.text.length > 0, `${kind}: a digest`);
        assert.equal(state.manager.stats().hook_errors, 1, `${kind}: counted`);
        assert.equal(state.manager.artifacts.bytes("artifact:result:big").length, LARGE.length, `${kind}: the bytes`);
        state.manager.free();
      }
    }
  },

  "an answer of the wrong type is CALLBACK_FAILED"(cw, assert) {
    for (const [kind, [, , more]] of Object.entries(FUNCTIONS)) {
      for (const [what, make] of Object.entries({ ...WRONG, ...more })) {
        const error = breaks(cw, assert, kind, what, make);
        assert.equal(error.path, undefined, `${kind}, ${what}: the path`);
        if (what === "a promise") assert.match(error.message, /promise/);
      }
    }
  },

  "a function cannot call the manager that waits for it"(cw, assert) {
    const calls = {
      build: (m) => m.build({ phase: "answer" }),
      ingest: (m) => m.ingest(item("no")),
      stats: (m) => m.stats(),
      bytes: (m) => m.artifacts.bytes("x"),
      free: (m) => m.free(),
    };
    for (const kind of Object.keys(FUNCTIONS)) {
      for (const [what, run] of Object.entries(calls)) {
        const error = breaks(cw, assert, kind, what, run);
        assert.equal(error.cause?.code, "REENTRANT", `${kind}, ${what}`);
      }
    }
  },

  "what the manager asks for itself cannot call it either"(cw, assert) {
    const calls = {
      build: (m) => m.build({ phase: "answer" }),
      ingest: (m) => m.ingest(item("no")),
      bytes: (m) => m.artifacts.bytes("x"),
      free: (m) => m.free(),
    };
    const asking = {
      item_scores: (m) => m.build({ phase: "answer" }),
      clock: (m) => m.consolidate(),
    };
    for (const [kind, ask] of Object.entries(asking)) {
      for (const [what, run] of Object.entries(calls)) {
        let armed = true;
        const manager = new cw.ContextManager({
          [kind]: () => {
            if (armed) run(manager);
            return kind === "clock" ? 0 : {};
          },
        });
        manager.ingest(item("u1", "one"));
        const error = refuses(cw, assert, `${kind}, ${what}`, () => ask(manager), ["CALLBACK_FAILED"]);
        assert.equal(error.cause?.code, "REENTRANT", `${kind}, ${what}`);
        armed = false;
        ask(manager);
        assert.equal(manager.events.count(), 1, `${kind}, ${what}: nothing was added`);
        manager.free();
      }
    }
  },

  "a function may use another manager"(cw, assert) {
    const other = fixture(cw);
    const manager = new cw.ContextManager({
      estimator: (text) => {
        other.manager.build({ phase: "route" });
        return text.length;
      },
    });
    manager.ingest(item("u1", "one"));
    assert.match(manager.build({ phase: "answer" }).prompt, /one/);
    isSound(assert, other, "the other manager");
    manager.free();
    other.manager.free();
  },

  "a function that changes its argument changes nothing"(cw, assert) {
    const manager = new cw.ContextManager({
      classifier: (i) => {
        i.text = "changed";
        i.metadata.x = 1;
        return "public";
      },
    });
    manager.ingest(item("u1", "one", { metadata: { a: 1 } }));
    assert.match(manager.build({ phase: "answer" }).prompt, /one/);
    assert.deepEqual(manager.events.get("u1").metadata, { a: 1 });
    manager.free();
  },

  "a function's name may be anything"(cw, assert) {
    const names = [
      undefined,
      1,
      "",
      "x".repeat(100),
      {
        get() {
          throw new Error("name");
        },
      },
    ];
    for (const name of names) {
      const estimator = (text) => text.length;
      Object.defineProperty(estimator, "name", typeof name === "object" ? name : { value: name });
      const manager = new cw.ContextManager({ estimator });
      manager.ingest(item("u1", "one"));
      assert.ok(manager.build({ phase: "answer" }).stats.token_estimator.length > 0);
      manager.free();
    }
    const lone = Object.defineProperty(() => 1, "name", { value: "\ud800" });
    refuses(cw, assert, "lone surrogate", () => new cw.ContextManager({ estimator: lone }), ["INVALID_INPUT"]);
  },

  "functions where data is expected, and data where functions are"(cw, assert) {
    const wrong = {
      "/estimator": { estimator: { count: 1 } },
      "/summarizer/summarize": { summarizer: { name: "x" } },
      "/hooks/context_built": { hooks: { context_built: 1 } },
      "/hooks/on_build": { hooks: { on_build: () => {} } },
      "/redaction_hooks/x": { redaction_hooks: { x: "mask" } },
    };
    for (const [path, options] of Object.entries(wrong)) {
      const error = refuses(cw, assert, path, () => new cw.ContextManager(options));
      assert.ok(error.path?.startsWith(path), `${error.path}, wanted ${path}`);
    }
    refuses(cw, assert, "built-in name", () => new cw.ContextManager({ redaction_hooks: { mask: () => "" } }), ["DUPLICATE_ID"]);
  },

  "a buffer that shrinks while a function runs was copied before"(cw, assert) {
    if (!("resize" in ArrayBuffer.prototype)) return;
    const buffer = new ArrayBuffer(LARGE.length, { maxByteLength: LARGE.length });
    const raw_output = new Uint8Array(buffer);
    raw_output.set(new TextEncoder().encode(LARGE));
    const manager = new cw.ContextManager({
      summarizer: () => {
        buffer.resize(0);
        return "short";
      },
    });
    const { envelope } = manager.ingestToolResult({ tool_call_id: "big", tool_name: "t", raw_output });
    assert.equal(buffer.byteLength, 0, "the summarizer ran");
    assert.equal(manager.artifacts.bytes(envelope.artifacts[0].handle).length, LARGE.length);
    manager.free();
  },

  "a hook that fails is counted and warned about, and disturbs nothing"(cw, assert) {
    for (const hook of [
      () => {
        throw new Error("x");
      },
      () => {
        throw undefined;
      },
    ]) {
      const manager = new cw.ContextManager({ hooks: { context_built: hook, firewall_triggered: hook } });
      manager.ingest(item("u1", "one"));
      const pack = manager.build({ phase: "answer" });
      assert.match(pack.prompt, /one/);
      assert.equal(pack.warnings.filter((w) => w.includes("context_built")).length, 1);
      assert.equal(manager.stats().hook_errors, 1);
      manager.ingestToolResult(large());
      assert.equal(manager.stats().hook_errors, 2);
      manager.free();
    }
  },

  async "an asynchronous hook may fail later"(cw, assert) {
    const manager = new cw.ContextManager({
      hooks: {
        context_built: async () => {
          throw new Error("late");
        },
      },
    });
    assert.equal(manager.build({ phase: "answer" }).warnings, undefined);
    await new Promise((later) => setTimeout(later, 10));
    assert.equal(manager.stats().hook_errors, 1);
    manager.free();
  },

  "a hook may use, change and free its manager"(cw, assert) {
    let told = 0;
    const manager = new cw.ContextManager({
      hooks: {
        context_built: () => {
          told += 1;
          manager.ingest(item(`h${told}`));
          manager.build({ phase: "answer" });
        },
      },
    });
    manager.build({ phase: "answer" });
    assert.equal(told, 1, "a build inside a hook tells no hook");
    assert.equal(manager.events.count(), 1);
    const freed = new cw.ContextManager({ hooks: { context_built: () => freed.free() } });
    assert.equal(freed.build({ phase: "answer" }).phase, "answer");
    refuses(cw, assert, "freed", () => freed.stats(), ["DISPOSED"]);
    manager.free();
  },
};
