// Contexts of tool calls, decorators, and what crosses as `_meta`, through the public API. Only the language itself may be
// used here: these cases run in every runtime.
import { vectors } from "./context-vectors.mjs";

const own = (json) => JSON.parse(json);
const reasonOf = (error) => error?.details?.reason;

/** Runs something that must fail for a reason, with a code of this package and without a value in it. */
function refuses(cw, assert, action, reason, secret = "s3cret-value") {
  const error = assert.throws(action);
  return isRefusal(cw, assert, error, reason, secret);
}

async function rejects(cw, assert, action, reason, secret = "s3cret-value") {
  return isRefusal(cw, assert, await assert.rejects(action), reason, secret);
}

function isRefusal(cw, assert, error, reason, secret) {
  assert.ok(cw.ContextWeaverError.is(error), `${reason}: ${error?.stack ?? error}`);
  assert.equal(reasonOf(error) ?? error.code, reason, error.message);
  const all = [error.message, error.path, error.hint, JSON.stringify(error.details), error.stack, String(error.cause)].join("\n");
  assert.ok(!all.includes(secret), `${reason}: the value is in the error`);
  return error;
}

/** Without a prototype, as `toObject` gives it. */
const bare = (object) => Object.assign(Object.create(null), object);
const revealed = (context) => ({ ...context.toObject({ reveal: true }) });

// The recorded cases.

const bagOperations = {
  merge: (cw, { layers }) => {
    const merged = layers.map((layer) => cw.ToolCallContext.of(layer)).reduce((a, b) => a.merge(b));
    return { entries: revealed(merged), ...(merged.isEmpty && { isEmpty: true }) };
  },
  contains: (cw, { entries, key }) => ({ value: cw.ToolCallContext.of(entries).has(key) }),
  get: (cw, { entries, key }) => {
    const context = cw.ToolCallContext.of(entries);
    return context.has(key) ? { present: true, value: context.get(key) } : { present: false };
  },
  getOrDefault: (cw, { entries, key, default: fallback }) => ({ value: cw.ToolCallContext.of(entries).getOr(key, fallback) }),
  isEmpty: (cw, { entries }) => ({ value: cw.ToolCallContext.of(entries).isEmpty }),
  toMap: (cw, { entries }) => ({ entries: Object.fromEntries(cw.ToolCallContext.of(entries).toMap({ reveal: true })) }),
};

const policies = {
  none: (cw) => cw.MetaPolicy.none,
  passThrough: (cw) => cw.MetaPolicy.passThrough(),
  allow: (cw, { keys }) => cw.MetaPolicy.allow(keys),
  deny: (cw, { keys }) => cw.MetaPolicy.deny(keys),
};

function metaOf(cw, { context, policy }) {
  // The recordings are of the filter alone: nothing counts as a secret.
  const open = cw.ToolCallContext.of(context, { declassify: Object.keys(context) });
  return { entries: cw.toMcpMeta(open, policies[policy.kind](cw, policy), { onWarning: () => {} }) ?? {} };
}

async function propagated(cw, { chain, call }) {
  const seen = { decorators_ran: [] };
  const ran = (name) => seen.decorators_ran.push(name);
  const leafs = {
    aware: () => cw.defineTool({ name: "aware" }, (_input, context) => ((seen.leaf_called = true), (seen.leaf_sees = revealed(context)), "ok")),
    legacy: () => cw.defineTool({ name: "legacy" }, (_input) => ((seen.leaf_called = true), (seen.leaf_sees = null), "ok")),
  };
  const layers = {
    dec: (name) => ({ around: (input, context, next) => (ran(name), next(input, context)) }),
    forward: () => ({ around: (input, context, next) => next(input, context) }),
    rename: (name) => ({ name, around: (input, _context, next) => next(input) }),
    add: (pair) => ({ around: (input, context, next) => next(input, context.with(...pair.split("="))) }),
    gate: (verdict) => ({ around: (input, _context, next) => (ran("gate"), verdict === "allow" ? next(input) : { isError: true }) }),
  };
  const tool = chain.reduceRight((inner, step) => {
    const [kind, argument] = step.split(":");
    return inner ? cw.decorate(inner, layers[kind](argument)) : leafs[kind]();
  }, undefined);
  seen.leaf_called = false;
  await (call.context ? tool.call({}, cw.ToolCallContext.of(call.context)) : tool.call({}));
  return { ...seen, outer_name: tool.name };
}

const recorded = {};
const runners = { bag: (cw, input) => bagOperations[input.op](cw, input), mcp_meta: metaOf, propagation: propagated };
for (const [file, cases] of Object.entries(vectors)) {
  for (const { name, input, expected } of cases) {
    recorded[`recorded ${file}: ${name}`] = async (cw, assert) => {
      const actual = await runners[file](cw, input);
      for (const [field, value] of Object.entries(expected)) assert.deepEqual(own(JSON.stringify(actual[field])), value, field);
    };
  }
}

// The bag.

const bagCases = {
  "a context is one frozen object without properties, and the empty one is one"(cw, assert) {
    const { ToolCallContext } = cw;
    const context = ToolCallContext.of({ a: 1 });
    assert.ok(Object.isFrozen(context) && Object.isFrozen(ToolCallContext.EMPTY));
    assert.deepEqual(Object.keys(context), []);
    for (const none of [{}, [], new Map(), { a: undefined }]) assert.ok(ToolCallContext.of(none) === ToolCallContext.EMPTY);
    assert.ok(context.merge(ToolCallContext.EMPTY) === context && ToolCallContext.EMPTY.merge(context) === context);
    assert.ok(context.with("a", 1) === context && context.without("b") === context && context.with("b", undefined) === context);
    assert.ok(context.without("a") === ToolCallContext.EMPTY && context.pick(["a"]) === context && context.omit([]) === context);
    assert.ok(ToolCallContext.of(context) === context);
    for (const forge of [
      () => new ToolCallContext(),
      () => new ToolCallContext(new Map([["a", { value: 1, flags: 0 }]])),
      () => new cw.MetaPolicy({ kind: "passThrough" }),
    ]) {
      assert.throws(forge, { code: "INVALID_INPUT" });
    }
  },

  "what is stored is stored as it was, and order is that of first setting"(cw, assert) {
    const { ToolCallContext } = cw;
    const context = ToolCallContext.of({ zero: 0, no: false, text: "", list: [1, null] });
    assert.deepEqual([context.get("zero"), context.get("no"), context.get("text")], [0, false, ""]);
    assert.deepEqual(
      ["zero", "no", "text"].map((key) => context.getOr(key, "x")),
      [0, false, ""],
    );
    assert.equal(context.getOr("absent", "x"), "x");
    assert.deepEqual(context.with("no", true).keys(), ["zero", "no", "text", "list"]);
    const pairs = ToolCallContext.of([
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ]);
    assert.deepEqual([pairs.keys(), pairs.get("a")], [["a", "b"], 3]);
    assert.ok(
      pairs.equals(
        ToolCallContext.of(
          new Map([
            ["b", 2],
            ["a", 3],
          ]),
        ),
      ),
    );
    assert.ok(!pairs.equals(pairs.with("a", 4)) && !pairs.equals(pairs.without("a")) && !pairs.equals({}));
    assert.deepEqual(pairs.toObject(), bare({ a: 3, b: 2 }));
  },

  "plain data is copied and frozen, everything else stays itself"(cw, assert) {
    const data = { list: [{ deep: 1 }] };
    const act = () => 1;
    const context = cw.ToolCallContext.of({ data, act, when: new Date(0) });
    data.list[0].deep = 2;
    data.list.push(3);
    assert.deepEqual(context.get("data"), { list: [{ deep: 1 }] });
    assert.ok(Object.isFrozen(context.get("data").list[0]) && context.get("act") === act);
    context.toMap().set("data", 1);
    context.toObject().data = 1;
    assert.deepEqual(context.get("data"), { list: [{ deep: 1 }] });
    const frozen = Object.freeze({ inner: Object.freeze([1]) });
    assert.deepEqual(cw.ToolCallContext.of({ frozen }).get("frozen"), frozen);
    assert.ok(context.equals(cw.ToolCallContext.of({ data: context.get("data"), act, when: context.get("when") })));
    assert.ok(!context.equals(context.with("act", () => 1)));
    assert.deepEqual({ ...context.toJSON() }, { data: { list: [{ deep: 1 }] }, act: "[local]", when: "[local]" });
    // Whatever a runtime thinks of it, the copy can be cloned.
    if (typeof structuredClone === "function") assert.deepEqual({ ...structuredClone(context.toCloneable()) }, { ...context.toJSON() });
  },

  "hostile keys are data or refused"(cw, assert) {
    const { ToolCallContext } = cw;
    const hostile = own('{"__proto__":{"polluted":true},"constructor":1,"prototype":2,"toString":3,"hasOwnProperty":4}');
    const context = ToolCallContext.of(hostile).merge(ToolCallContext.of({ own: 5 }));
    assert.deepEqual(context.get("__proto__"), { polluted: true });
    assert.equal(Object.prototype.polluted, undefined);
    assert.equal(Object.getPrototypeOf(context.toObject()), null);
    assert.deepEqual(Object.keys(context.toObject()), ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "own"]);
    for (const key of ["__proto__", "constructor", "toString", "valueOf"]) assert.ok(!ToolCallContext.of({ a: 1 }).has(key), key);
    const nested = ToolCallContext.of({ data: own('{"__proto__":{"polluted":true}}') }).get("data");
    assert.ok(Object.hasOwn(nested, "__proto__") && nested.polluted === undefined);
    const long = (count, letter = "k") => letter.repeat(count);
    for (const key of [long(256), long(128, "é"), long(64, "😀"), " ", "\n", "a/b"]) assert.ok(ToolCallContext.of({ [key]: 1 }).has(key));
    for (const key of ["", long(257), long(129, "é"), "\ud800", "a\udc00", long(9 * 2 ** 20)]) {
      refuses(cw, assert, () => ToolCallContext.of({ [key]: "s3cret-value" }), "InvalidContextKey");
      refuses(cw, assert, () => ToolCallContext.EMPTY.with(key, "s3cret-value"), "InvalidContextKey");
    }
    for (const key of [Symbol("s3cret-value"), 5, null, {}]) {
      refuses(cw, assert, () => ToolCallContext.of([[key, "s3cret-value"]]), "InvalidContextKey");
    }
  },

  "hostile values end in an error that does not quote them"(cw, assert) {
    const { ToolCallContext } = cw;
    const cycle = { secret: "s3cret-value" };
    cycle.self = cycle;
    let deep = "s3cret-value";
    for (let level = 0; level < 70; level += 1) deep = [deep];
    let wide = ["s3cret-value"];
    for (let level = 0; level < 40; level += 1) wide = [wide, wide];
    const throws = {
      get a() {
        throw new Error("s3cret-value");
      },
    };
    const proxies = ["ownKeys", "getPrototypeOf", "get", "getOwnPropertyDescriptor"].map(
      (trap) =>
        new Proxy(
          { a: 1 },
          {
            [trap]() {
              throw new Error("s3cret-value");
            },
          },
        ),
    );
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const value of [cycle, deep, wide, throws, ...proxies.slice(0, 3), revoked.proxy, { [Symbol("s")]: "s3cret-value" }, null]) {
      refuses(cw, assert, () => ToolCallContext.of({ key: value }), "InvalidContextValue");
    }
    for (const entries of [throws, ...proxies, revoked.proxy, null, undefined, 5, "a=1", [["a", 1], 5], new Date(), () => 1]) {
      const error = assert.throws(() => ToolCallContext.of(entries), { code: "INVALID_INPUT" });
      assert.ok(!`${error.message}${error.stack}${error.cause}`.includes("s3cret-value"));
    }
    assert.throws(
      () =>
        ToolCallContext.of(
          (function* () {
            for (;;) yield ["a", 1];
          })(),
        ),
      { code: "TOO_LARGE" },
    );
    let reads = 0;
    const counted = ToolCallContext.of({
      get a() {
        return (reads += 1);
      },
    });
    assert.deepEqual([counted.get("a"), counted.get("a"), reads], [1, 1, 1]);
    assert.throws(() => ToolCallContext.of({ a: 1 }, { secret: ["a"] }), { code: "UNKNOWN_FIELD", path: "/secret" });
    assert.throws(() => ToolCallContext.of({ a: 1 }, { secrets: "a" }), { code: "INVALID_INPUT", path: "/secrets" });
    assert.throws(() => ToolCallContext.of({ a: 1 }).merge({ b: 1 }), { code: "INVALID_INPUT", path: "/other" });
    for (const keys of [{}, undefined, 5, "a"]) {
      assert.throws(() => ToolCallContext.of({ a: 1 }).omit(keys), { code: "INVALID_INPUT", path: "/keys" });
      assert.throws(() => ToolCallContext.of({ a: 1 }).pick(keys), { code: "INVALID_INPUT", path: "/keys" });
    }
  },

  "typed keys check, hide and keep"(cw, assert) {
    const { ToolCallContext, contextKey } = cw;
    const TENANT = contextKey("tenantId", { validate: (value) => typeof value === "string" });
    const HANDLE = contextKey("handle", { secret: true });
    const COUNT = contextKey("tokenCount", { secret: false });
    const LOCAL = contextKey("place", { forward: false });
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => (typeof value === "number" ? { value: value * 2 } : { issues: [{ message: `not ${value}` }] }),
      },
    };
    const context = ToolCallContext.of([
      [TENANT, "acme"],
      [HANDLE, "s3cret-value"],
      [COUNT, 5],
    ]).with(LOCAL, "here");
    assert.deepEqual([context.get(TENANT), context.get(COUNT), context.has(HANDLE), context.getOr(LOCAL, "x")], ["acme", 5, true, "here"]);
    assert.equal(`${context}`, "ToolCallContext(tenantId, handle=[secret], tokenCount, place)");
    refuses(cw, assert, () => context.with(TENANT, 5), "InvalidContextValue");
    refuses(cw, assert, () => ToolCallContext.of({ tenantId: ["s3cret-value"] }).get(TENANT), "ContextTypeError");
    refuses(cw, assert, () => context.with(contextKey("n", { validate: schema }), "s3cret-value"), "InvalidContextValue");
    const late = { "~standard": { version: 1, vendor: "test", validate: () => Promise.reject(new Error("s3cret-value")) } };
    refuses(cw, assert, () => context.with(contextKey("n", { validate: late }), "s3cret-value"), "InvalidContextValue");
    // Nobody waits for a validator. What it rejects with quotes the value, and must not end the process.
    const rejects = async (value) => {
      throw new Error(value);
    };
    const foreign = { "~standard": { version: 1, vendor: "test", validate: () => ({ then: (done) => done({ value: 1 }) }) } };
    for (const validate of [rejects, async () => true, () => ({ then: () => undefined }), foreign])
      refuses(cw, assert, () => context.with(contextKey("n", { validate }), "s3cret-value"), "InvalidContextValue");
    refuses(
      cw,
      assert,
      () =>
        context.with(
          contextKey("n", {
            validate: () => {
              throw new Error("s3cret-value");
            },
          }),
          1,
        ),
      "InvalidContextValue",
    );
    assert.equal(context.number("tokenCount"), 5);
    assert.deepEqual([context.string("absent"), context.boolean("absent")], [undefined, undefined]);
    const error = refuses(cw, assert, () => context.number("handle"), "ContextTypeError");
    assert.deepEqual([error.details.key, error.details.expected, error.details.actualType], ["handle", "number", "string"]);
    assert.equal(context.parse("tokenCount", schema), 10);
    refuses(cw, assert, () => context.parse("handle", schema), "ContextTypeError");
    refuses(cw, assert, () => context.parse("absent", schema), "ContextTypeError");
    const all = cw.toMcpMeta(context, cw.MetaPolicy.passThrough());
    assert.deepEqual(all, { tenantId: "acme", tokenCount: 5 });
    assert.equal(cw.toMcpMeta(context, cw.MetaPolicy.allow([LOCAL, HANDLE])), undefined);
    assert.throws(() => contextKey("a", { validator: 1 }), { code: "UNKNOWN_FIELD" });
  },

  "secrets are told by name and by declaration"(cw, assert) {
    const { ToolCallContext } = cw;
    const names = { authToken: "s3cret-value", "API-KEY": "s3cret-value", author: "me", mapped: "s3cret-value", tokenCount: 1 };
    const context = ToolCallContext.of(names, { secrets: ["mapped"], declassify: ["tokenCount", "mapped"] });
    assert.deepEqual(
      context.keys().filter((key) => context.isSecret(key)),
      ["authToken", "API-KEY", "mapped"],
    );
    assert.equal(context.toString(), "ToolCallContext(authToken=[secret], API-KEY=[secret], author, mapped=[secret], tokenCount)");
    assert.ok(!JSON.stringify([context, context.toObject(), [...context.toMap()]]).includes("s3cret-value"));
    assert.equal(context.toObject({ reveal: true }).authToken, "s3cret-value");
    assert.equal(context.get("authToken"), "s3cret-value");
    assert.ok(context.with("mapped", "other").isSecret("mapped"), "a declaration stays");
    assert.ok(!context.with("tokenCount", 2).isSecret("tokenCount"));
    assert.ok(context.merge(ToolCallContext.of({ tokenCount: 2 })).isSecret("tokenCount"), "another's value was not meant");
    assert.ok(ToolCallContext.EMPTY.withSecret("plain", 1).isSecret("plain"));
    assert.ok(context.equals(ToolCallContext.of(names)), "what is known of entries is no part of them");
    assert.ok(!context.equals(context.with("authToken", "s3cret-valuf")));
    assert.equal(`${ToolCallContext.of({ "a, b=[x])\n": 1 })}`, 'ToolCallContext("a, b=[x])\\n")');
  },

  "a snapshot holds all that is known, and no secret unless told to"(cw, assert) {
    const { ToolCallContext } = cw;
    const context = ToolCallContext.of({ tenantId: "acme", authToken: "s3cret-value", n: { x: [1] } }, { secrets: ["n"], sealed: ["tenantId"] });
    refuses(cw, assert, () => context.toSnapshot(), "SecretsInSnapshot");
    const back = ToolCallContext.fromSnapshot(own(JSON.stringify(context.toSnapshot({ reveal: true }))));
    assert.ok(back.equals(context) && back.isSecret("n") && back.isSealed("tenantId") && back.isSecret("authToken"));
    refuses(cw, assert, () => ToolCallContext.of({ f: () => 1 }).toSnapshot(), "UnserialisableContextValue");
    assert.throws(() => ToolCallContext.fromSnapshot({ version: 2, entries: [] }), { code: "SNAPSHOT_VERSION" });
    assert.throws(() => ToolCallContext.fromSnapshot({ version: 1, entries: 5 }), { code: "INVALID_INPUT" });
    assert.ok(ToolCallContext.fromSnapshot(ToolCallContext.EMPTY.toSnapshot()) === ToolCallContext.EMPTY);
  },

  "the old form of a text is read"(cw, assert) {
    const { ToolCallContext } = cw;
    assert.deepEqual(revealed(ToolCallContext.parse(" a = 1 , b=x=y,c=")), { a: "1", b: "x=y", c: "" });
    assert.ok(ToolCallContext.parse(" ") === ToolCallContext.EMPTY);
    refuses(cw, assert, () => ToolCallContext.parse("a=1,s3cret-value"), "InvalidContextText");
    refuses(cw, assert, () => ToolCallContext.parse("=s3cret-value"), "InvalidContextKey");
  },

  "levels merge from the top, and sealed keys stay"(cw, assert) {
    const { ToolCallContext, effectiveContext } = cw;
    const process = ToolCallContext.sealed({ tenantId: "acme" }).with("region", "eu");
    const levels = [process, ToolCallContext.of({ region: "us", step: 1 }), ToolCallContext.of({ step: 2 })];
    assert.deepEqual(revealed(effectiveContext(...levels)), { tenantId: "acme", region: "us", step: 2 });
    assert.ok(effectiveContext() === ToolCallContext.EMPTY && effectiveContext(undefined, process) === process);
    const evil = ToolCallContext.of({ tenantId: "s3cret-value" });
    for (const change of [
      () => effectiveContext(process, evil),
      () => effectiveContext(process, undefined, evil),
      () => process.merge(evil),
      () => effectiveContext(process, levels[1]).with("tenantId", "s3cret-value"),
      () => process.without("tenantId"),
      () => process.omit(["tenantId"]),
    ]) {
      const error = refuses(cw, assert, change, "SealedKeyConflict");
      assert.deepEqual([error.code, error.details.key], ["POLICY_VIOLATION", "tenantId"]);
    }
    assert.equal(effectiveContext(process, evil, undefined, { onConflict: "keep-upper" }).get("tenantId"), "acme");
    assert.equal(process.merge(ToolCallContext.of({ tenantId: "acme", x: 1 })).get("x"), 1, "the same value is no change");
    assert.throws(() => effectiveContext(process, evil, undefined, { onConflict: "win" }), { code: "INVALID_INPUT", path: "/onConflict" });
    assert.throws(() => effectiveContext(process, {}), { code: "INVALID_INPUT", path: "/interaction" });
  },

  "loops are told apart, a bounded number of them"(cw, assert) {
    const memo = new cw.LoopMemo(2);
    const loop = (id) => cw.ToolCallContext.of([[cw.contextKeys.loopId, id]]);
    const first = (id) => cw.firstTimeIn(loop(id), memo);
    assert.deepEqual([first("a"), first("a"), first("b"), first("c"), first("a"), first("c")], [true, false, true, true, true, false]);
    assert.ok(cw.firstTimeIn(cw.ToolCallContext.EMPTY, memo) && cw.firstTimeIn(cw.ToolCallContext.EMPTY, memo));
    assert.equal(memo.size, 2);
    assert.deepEqual([memo.delete("a"), memo.delete("a"), first("a")], [true, false, true]);
    assert.throws(() => new cw.LoopMemo(0), { code: "OUT_OF_RANGE" });
  },
};

// Tools.

/** A tool of a class of its own, which knows nothing of this package. */
class Foreign {
  name = "foreign";
  description = "of another library";
  inputSchema = { type: "object", properties: { city: { type: "string" } } };
  annotations = { readOnlyHint: true };
  seen = [];
  async call(input, context) {
    this.seen.push([input, context]);
    return `${input.city}`;
  }
}

const toolCases = {
  async "a confirmation runs on every way in, through other decorators and a foreign tool"(cw, assert) {
    for (const answer of [true, false]) {
      for (const context of [undefined, cw.ToolCallContext.EMPTY, cw.ToolCallContext.of({ tenantId: "acme" })]) {
        for (const place of [0, 1, 2]) {
          const foreign = new Foreign();
          let asked = 0;
          const track = { label: "track", around: (input, present, next) => next(input, present.with("tracked", true)) };
          const retry = { label: "retry", around: async (input, _context, next) => next(input).catch(() => next(input)) };
          const confirm = {
            label: "confirm",
            around: async (input, _context, next) => ((asked += 1), answer ? next(input) : "refused"),
          };
          const layers = [track, retry];
          layers.splice(place, 0, confirm);
          const tool = layers.reduceRight((inner, layer) => cw.decorate(inner, layer), cw.fromForeign(foreign));
          for (const call of [
            () => tool.call({ city: "x" }, context),
            () => cw.runTool(tool, { city: "x" }, context),
            ...(context ? [] : [() => tool.call({ city: "x" })]),
          ]) {
            asked = 0;
            foreign.seen.length = 0;
            assert.equal(await call(), answer ? "x" : "refused");
            assert.equal(asked, 1);
            assert.equal(foreign.seen.length, answer ? 1 : 0);
            // After the approval the original context goes on.
            if (answer) assert.ok(foreign.seen[0][1].equals((context ?? cw.ToolCallContext.EMPTY).with("tracked", true)));
          }
          assert.deepEqual(
            cw.decoratorsOf(tool),
            layers.map(({ label }) => label),
          );
          assert.deepEqual([tool.name, tool.inputSchema, tool.annotations], ["foreign", foreign.inputSchema, { readOnlyHint: true }]);
          assert.deepEqual([cw.unwrap(tool).name, cw.decoratorsOf(cw.unwrap(tool))], ["foreign", []]);
        }
      }
    }
  },

  async "a context is never undefined, and only dropped on purpose"(cw, assert) {
    const { ToolCallContext } = cw;
    const seen = [];
    const leaf = cw.defineTool({ name: "leaf" }, (_input, context) => void seen.push(context));
    const forgets = cw.decorate(leaf, { around: (input, _context, next) => next(input) });
    const drops = cw.decorate(leaf, { around: (input, _context, next) => next(input, ToolCallContext.EMPTY) });
    const context = ToolCallContext.of({ a: 1 });
    for (const tool of [leaf, forgets, drops]) {
      await tool.call({}, context);
      await tool.call({});
    }
    assert.ok([context, ToolCallContext.EMPTY, context, ToolCallContext.EMPTY].every((wanted, at) => seen[at] === wanted));
    assert.ok(seen[4] === ToolCallContext.EMPTY && seen[5] === ToolCallContext.EMPTY);
    for (const wrong of [null, {}, { a: 1 }, new Map(), Object.create(ToolCallContext.prototype)]) {
      assert.ok(cw.ContextWeaverError.is(await assert.rejects(leaf.call({}, wrong))));
      assert.ok(cw.ContextWeaverError.is(await assert.rejects(cw.decorate(leaf, { around: (input, _c, next) => next(input, wrong) }).call({}))));
    }
    assert.equal(seen.length, 6);
  },

  async "a model cannot write the context"(cw, assert) {
    let seen;
    const tool = cw.defineTool({ name: "t" }, (input, context) => (seen = [input, context]));
    const input = { context: { tenantId: "evil" }, _meta: { tenantId: "evil" } };
    await tool.call(input, cw.ToolCallContext.of({ tenantId: "acme" }));
    assert.deepEqual([seen[0], seen[1].get("tenantId")], [input, "acme"]);
    const objects = cw.defineTool({ name: "t", style: "object" }, (call) => (seen = call));
    await objects.call(input, cw.ToolCallContext.of({ tenantId: "acme" }));
    assert.deepEqual([seen.input, seen.context.get("tenantId")], [input, "acme"]);
    assert.ok(!JSON.stringify(objects.inputSchema).includes("context"));
  },

  async "a property that is called like the context is refused where both would meet"(cw, assert) {
    const define = (schema, style) => cw.defineTool({ name: "t", schema, style }, () => 1);
    const clash = { type: "object", properties: { context: {} } };
    for (const schema of [clash, { allOf: [clash] }, { anyOf: [{ oneOf: [clash] }] }, { if: clash }, { required: ["context"] }]) {
      const error = refuses(cw, assert, () => define(schema, "object"), "ContextNameClash");
      assert.equal(error.code, "INVALID_INPUT");
      assert.equal(define(schema).name, "t");
    }
    assert.equal(define({ type: "object", properties: { input: {} } }, "object").name, "t");
    for (const [spec, handler, path] of [
      [{ name: "" }, () => 1, "/name"],
      [{ name: "t" }, 5, "/handler"],
      [{ name: "t", style: "x" }, () => 1, "/style"],
      [{ name: "t", schema: { f: () => 1 } }, () => 1, "/schema"],
      [{ name: "t", execute: 1 }, () => 1, "/execute"],
    ])
      assert.throws(() => cw.defineTool(spec, handler), { path });
    assert.throws(() => cw.fromForeign({ name: "t" }), { path: "/call" });
    assert.throws(() => cw.decorate(define({}), {}), { path: "/around" });
    assert.throws(() => cw.decorate(define({}), { around: () => 1, call: () => 1 }), { path: "/call" });
  },

  async "decorators change names, add for those inside, and keep what a tool tells of itself"(cw, assert) {
    const { ToolCallContext } = cw;
    const seen = [];
    const leaf = cw.fromForeign({
      name: "leaf",
      title: "Leaf",
      annotations: { destructiveHint: true },
      call: (_input, context) => void seen.push(["leaf", ...context.keys()]),
    });
    const add = (key) => ({
      label: key,
      around: (input, context, next, info) => (seen.push([info.name, ...context.keys()]), next(input, context.with(key, 1))),
    });
    const tool = cw.decorate(cw.decorate(leaf, add("b")), { ...add("a"), name: "outer", description: "new" });
    assert.deepEqual([tool.name, tool.description, tool.title, tool.annotations, tool.inner.name], ["outer", "new", "Leaf", { destructiveHint: true }, "leaf"]);
    const context = ToolCallContext.of({ x: 1 });
    await tool.call({}, context);
    assert.deepEqual(seen, [
      ["leaf", "x"],
      ["leaf", "x", "a"],
      ["leaf", "x", "a", "b"],
    ]);
    assert.deepEqual(context.keys(), ["x"]);
    assert.ok(Object.isFrozen(tool));
    const sealed = ToolCallContext.sealed({ tenantId: "acme" });
    const evil = cw.decorate(leaf, { around: (input, _context, next) => next(input, ToolCallContext.of({ tenantId: "s3cret-value" })) });
    await rejects(cw, assert, evil.call({}, sealed), "SealedKeyConflict");
    assert.equal(seen.length, 3);
  },

  async "who asks to stop is heard before every layer"(cw, assert) {
    const { ToolCallContext } = cw;
    const signal = { aborted: false, reason: new Error("stop") };
    const ran = [];
    const leaf = cw.fromForeign({ name: "leaf", call: () => ran.push("leaf") });
    const layer = (name, stops) => ({ around: (input, _context, next) => (ran.push(name), (signal.aborted = stops), next(input)) });
    const tool = cw.decorate(cw.decorate(leaf, layer("inner", true)), layer("outer", false));
    const context = ToolCallContext.of({ signal });
    assert.ok((await assert.rejects(tool.call({}, context))) === signal.reason);
    assert.deepEqual(ran, ["outer", "inner"]);
    assert.ok((await assert.rejects(tool.call({}, context))) === signal.reason);
    assert.equal(ran.length, 2);
    signal.aborted = false;
    assert.equal(cw.toMcpMeta(context.with("a", 1), cw.MetaPolicy.passThrough())?.signal, undefined);
  },

  async "secrets are taken out of what tools throw"(cw, assert) {
    class OwnError extends Error {
      constructor(message, more) {
        super(message, more);
        this.request = { headers: { authorization: "Bearer s3cret-value" } };
        this.self = this;
      }
    }
    const context = cw.ToolCallContext.of(
      { authToken: "s3cret-value", nested: { cookie: ["s3cret-value-longer"] }, pin: "1234", name: "public-value" },
      { secrets: ["nested", "pin"] },
    );
    const fails = (make) =>
      cw.decorate(
        cw.defineTool({ name: "t" }, () => {
          throw make();
        }),
        { around: (input, _c, next) => next(input) },
      );
    const thrown = await assert.rejects(
      fails(() => new OwnError("no s3cret-value for public-value, pin 1234", { cause: new Error("s3cret-value-longer") })).call({}, context),
    );
    assert.ok(thrown instanceof OwnError && thrown instanceof Error);
    assert.equal(thrown.message, "no [redacted:authToken] for public-value, pin 1234");
    assert.equal(thrown.cause.message, "[redacted:nested]");
    assert.equal(thrown.request.headers.authorization, "Bearer [redacted:authToken]");
    assert.ok(thrown.self === thrown && !`${thrown.stack}${thrown.cause.stack}`.includes("s3cret-value"));
    const untouched = new OwnError("fine");
    untouched.request = undefined;
    assert.ok((await assert.rejects(fails(() => untouched).call({}, context))) === untouched);
    assert.equal(await assert.rejects(fails(() => "s3cret-value!").call({}, context)), "[redacted:authToken]!");
    const proxy = new Proxy(new Error("s3cret-value"), {
      ownKeys() {
        throw new Error("s3cret-value");
      },
    });
    assert.ok(!`${(await assert.rejects(fails(() => proxy).call({}, context)))?.message}`.includes("s3cret-value"));
    const all = await assert.rejects(fails(() => new AggregateError([new Error("s3cret-value")], "several")).call({}, context));
    assert.equal(all.errors[0].message, "[redacted:authToken]");
    const foreign = cw.runTool(
      {
        name: "t",
        call: async () => {
          throw new Error("s3cret-value");
        },
      },
      {},
      { process: context },
    );
    assert.equal((await assert.rejects(foreign)).message, "[redacted:authToken]");
  },

  async "levels are put together by the runner"(cw, assert) {
    const { ToolCallContext } = cw;
    const tool = cw.defineTool({ name: "t" }, (_input, context) => revealed(context));
    const levels = { process: ToolCallContext.of({ a: 1, b: 1 }), interaction: ToolCallContext.of({ b: 2 }), call: ToolCallContext.of({ c: 3 }) };
    assert.deepEqual(await cw.runTool(tool, {}, levels), { a: 1, b: 2, c: 3 });
    assert.deepEqual(await cw.runTool(tool, {}), {});
    const sealed = { process: ToolCallContext.sealed({ a: 1 }), call: ToolCallContext.of({ a: 2 }) };
    await rejects(cw, assert, cw.runTool(tool, {}, sealed), "SealedKeyConflict");
    assert.deepEqual(await cw.runTool(tool, {}, { ...sealed, onConflict: "keep-upper" }), { a: 1 });
  },

  async "a tool may answer once in a loop"(cw, assert) {
    let calls = 0;
    const tool = cw.oncePerLoop(
      cw.defineTool({ name: "t" }, () => (calls += 1)),
      "use what you have",
    );
    const loop = cw.ToolCallContext.of([[cw.contextKeys.loopId, "1"]]);
    assert.deepEqual(
      [await tool.call({}, loop), await tool.call({}, loop), await tool.call({}), await tool.call({})],
      [1, "already delivered this turn: use what you have", 2, 3],
    );
    const failing = cw.oncePerLoop(
      cw.defineTool({ name: "f" }, () => {
        calls += 1;
        if (calls < 6) throw new Error("busy");
        return "done";
      }),
    );
    for (const turn of [4, 5]) assert.deepEqual([(await assert.rejects(failing.call({}, loop))).message, calls], ["busy", turn]);
    assert.deepEqual([await failing.call({}, loop), await failing.call({}, loop), calls], ["done", "already delivered this turn", 6]);
  },

  async "decorators that skip or lose the context are found"(cw, assert) {
    const sound = [
      (tool) => cw.decorate(tool, { around: (input, _context, next) => next(input) }),
      (tool) => cw.decorate(tool, { around: () => "refused" }),
      (tool) =>
        cw.decorate(tool, {
          around: () => {
            throw new Error("no");
          },
        }),
      (tool) => cw.fromForeign({ name: "f", call: (input, context) => tool.call(input, context) }),
    ];
    for (const decorator of sound) await cw.assertPropagates(decorator);
    await cw.assertPropagates((tool) => cw.decorate(tool, { around: (input, context, next) => next(input, context.with("more", 1)) }), { adds: ["more"] });
    let ran = 0;
    const unsound = [
      // The defect this contract is about: the gate is in the one-argument call only.
      (tool) => ({ ...tool, call: (input, context) => (context ? tool.call(input, context) : Promise.resolve("refused")) }),
      (tool) => ({ ...tool, call: (input) => tool.call(input) }),
      (tool) => cw.decorate(tool, { around: (input, _context, next) => next(input, cw.ToolCallContext.EMPTY) }),
      (tool) => cw.decorate(tool, { around: (input, context, next) => next(input, context.isEmpty ? context : context.with("probe", 2)) }),
      (tool) => cw.decorate(tool, { around: (input, context, next) => next(input, context.with("more", 1)) }),
      (tool) => cw.decorate(tool, { around: (input, context, next) => next(context.isEmpty ? input : { x: 1 }) }),
      (tool) => cw.decorate(tool, { around: async (input, context, next) => `${await next(input)}${context.size}` }),
    ];
    for (const decorator of unsound) await rejects(cw, assert, () => cw.assertPropagates(decorator), "ContextNotPropagated");
    const counts = (tool) => ({ ...tool, call: (input, context) => (context ? 0 : (ran += 1), tool.call(input, context)) });
    await cw.assertPropagates(counts);
    await rejects(cw, assert, () => cw.assertPropagates(counts, { ran: () => ran }), "ContextNotPropagated");
  },
};

// What crosses.

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const metaCases = {
  "nothing leaves by default, and that is said once"(cw, assert) {
    const told = [];
    const onWarning = (warning) => told.push(warning);
    const context = cw.ToolCallContext.of({ tenantId: "s3cret-value", authToken: "s3cret-value" });
    for (let time = 0; time < 3; time += 1) assert.equal(cw.toMcpMeta(context, undefined, { onWarning }), undefined);
    assert.equal(told.length, 1);
    assert.ok(told[0].message.includes("`tenantId`, `authToken`") && !told[0].message.includes("s3cret-value"), told[0].message);
    cw.toMcpMeta(context, cw.MetaPolicy.none, { onWarning, server: "other" });
    assert.equal(told.length, 2);
    assert.equal(cw.toMcpMeta(cw.ToolCallContext.EMPTY, cw.MetaPolicy.passThrough(), { onWarning }), undefined);
    assert.equal(cw.toMcpMeta(context, cw.MetaPolicy.allow([]), { onWarning }), undefined);
    assert.equal(told.length, 2);
  },

  "policies let out what they say, secrets only by name"(cw, assert) {
    const { MetaPolicy } = cw;
    const context = cw.ToolCallContext.of({ tenantId: "a", locale: "de", authToken: "s3cret-value" });
    const sent = (policy, options) => cw.toMcpMeta(context, policy, { onWarning: () => {}, ...options });
    const both = { tenantId: "a", locale: "de" };
    const allowed = MetaPolicy.allow(["tenantId", "authToken"], { secrets: ["authToken"] });
    for (const [policy, wanted] of [
      [MetaPolicy.passThrough(), both],
      [MetaPolicy.deny([]), both],
      [MetaPolicy.deny(["locale"]), { tenantId: "a" }],
      [MetaPolicy.allow(["tenantId", "authToken"]), { tenantId: "a" }],
      [allowed, { tenantId: "a", authToken: "s3cret-value" }],
      [MetaPolicy.dangerouslyPassThrough(), { ...both, authToken: "s3cret-value" }],
      [MetaPolicy.compose(allowed, MetaPolicy.passThrough()), { tenantId: "a" }],
      [MetaPolicy.compose(MetaPolicy.dangerouslyPassThrough(), MetaPolicy.allow(["locale"])), { locale: "de" }],
      [MetaPolicy.compose(), undefined],
      [MetaPolicy.map((all) => ({ tenant: all.get("tenantId"), authToken: all.get("authToken"), password: 1 })), { tenant: "a" }],
      [
        MetaPolicy.compose(
          MetaPolicy.map((all) => ({ tenant: all.get("tenantId"), x: 1 })),
          MetaPolicy.allow(["tenant"]),
        ),
        { tenant: "a" },
      ],
      [
        MetaPolicy.compose(
          MetaPolicy.allow(["locale"]),
          MetaPolicy.map((all) => ({ seen: [...all.keys()] })),
        ),
        { seen: ["locale"] },
      ],
    ])
      assert.deepEqual(sent(policy), wanted);
    const byServer = MetaPolicy.policyFor({ github: MetaPolicy.allow(["locale"]) });
    assert.deepEqual(
      [sent(byServer, { server: "github" }), sent(byServer, { server: "other" }), sent(byServer, { server: "toString" }), sent(byServer)],
      [{ locale: "de" }, undefined, undefined, undefined],
    );
    assert.throws(() => MetaPolicy.passThrough({ includeSecrets: true }), { code: "INVALID_INPUT", path: "/includeSecrets" });
    assert.throws(() => MetaPolicy.allow("tenantId"), { path: "/keys" });
    assert.throws(() => sent({ kind: "passThrough", includeSecrets: true }), { path: "/policy" });
    assert.throws(() => sent(MetaPolicy.allow([]), { prefx: "" }), { code: "UNKNOWN_FIELD", path: "/prefx" });
    const throwing = MetaPolicy.map((all) => {
      throw new Error(all.get("authToken"));
    });
    const error = assert.throws(() => sent(throwing), { code: "CALLBACK_FAILED" });
    assert.equal(error.cause.message, "[redacted:authToken]");
    const renamed = MetaPolicy.map(() => ({ handle: "s3cret-value" }));
    assert.equal(cw.toMcpMeta(cw.ToolCallContext.of({ handle: 1 }, { secrets: ["handle"] }), renamed), undefined);
  },

  "keys must be legal for every revision"(cw, assert) {
    const { ToolCallContext, MetaPolicy } = cw;
    const told = [];
    const sent = (values, options) =>
      cw.toMcpMeta(ToolCallContext.of(values), MetaPolicy.dangerouslyPassThrough(), { onWarning: ({ code }) => told.push(code), ...options });
    for (const key of [
      "io.modelcontextprotocol/protocolVersion",
      "io.modelcontextprotocol/related-task",
      "dev.mcp/x",
      "org.modelcontextprotocol.api/x",
      "com.mcp.tools/x",
      "modelcontextprotocol.io/x",
      "mcp.dev/x",
      "api.modelcontextprotocol.org/x",
      "tools.mcp.com/x",
      "progressToken",
    ]) {
      const error = refuses(cw, assert, () => sent({ [key]: "s3cret-value" }), "ReservedMetaKey");
      assert.equal(error.details.key, key);
    }
    for (const key of ["naïve", "a b", "_a", "a_", "9x/y", "__proto__", "/a"])
      refuses(cw, assert, () => sent(own(JSON.stringify({ x: 1 }).replace("x", key))), "InvalidMetaKey");
    assert.deepEqual(sent({ "com.example.mcp/x": 1, "a.b_c-d": 2, "com.example/": 3 }), { "com.example.mcp/x": 1, "a.b_c-d": 2, "com.example/": 3 });
    assert.deepEqual(sent({ naïve: 1, é: 2 }, { onInvalidKey: "encode" }), { "na.C3.AFve": 1, "x.C3.A9": 2 });
    assert.deepEqual(sent({ naïve: 1, a: 2 }, { onInvalidKey: "drop" }), { a: 2 });
    assert.deepEqual(sent({ "mcp/x": 1, traceparent: "00-no", tracestate: "a=1", baggage: "k=v" }), { tracestate: "a=1", baggage: "k=v" });
    assert.deepEqual(told, ["invalid_meta_key", "lonely_prefix", "invalid_trace_context"]);
    assert.deepEqual(sent({ traceparent: PARENT, tenantId: 1 }, { prefix: "com.example/" }), { traceparent: PARENT, "com.example/tenantId": 1 });
    assert.deepEqual(sent({ tenantId: 1, x: 2 }, { existing: { progressToken: 7, x: 3 } }), { progressToken: 7, x: 3, tenantId: 1 });
    assert.equal(told.at(-1), "meta_key_taken");
    assert.deepEqual(cw.toMcpMeta(ToolCallContext.EMPTY, MetaPolicy.none, { existing: { a: 1 } }), { a: 1 });
    for (const prefix of ["com.example", "1/", "io.mcp/", "mcp/", "a/b/"])
      assert.throws(() => sent({ a: 1 }, { prefix }), { code: "INVALID_INPUT", path: "/prefix" });
    refuses(cw, assert, () => sent({ a: "s3cret-value".repeat(1000) }), "MetaTooLarge");
    refuses(cw, assert, () => sent({ a: "s3cret-value" }, { maxBytes: 10 }), "MetaTooLarge");
    for (const value of [() => 1, new Date(), 10n, NaN, { deep: [Symbol.iterator] }, "\ud800", [undefined]])
      refuses(cw, assert, () => sent({ a: value }), "UnserialisableContextValue");
  },

  "what comes in was asked for, and is nobody's identity"(cw, assert) {
    const told = [];
    const meta = {
      locale: "de",
      userId: "evil",
      "com.example/locale": "fr",
      big: "x".repeat(5000),
      none: null,
      progressToken: 1,
      traceparent: PARENT,
      "dev.mcp/x": 1,
    };
    const taken = (options) => cw.fromMcpMeta(meta, { onWarning: ({ code }) => told.push(code), ...options });
    const context = taken({ allow: ["locale", "absent", "big", "none", "traceparent", "dev.mcp/x"] });
    assert.deepEqual(revealed(context), { locale: "de", traceparent: PARENT });
    assert.deepEqual(
      [context.origin, context.originOf("locale"), context.with("x", 1).originOf("x"), told],
      ["mcp", "mcp", "host", ["string_too_long", "null_value", "reserved_meta_key"]],
    );
    assert.deepEqual(revealed(taken({ allow: ["locale"], prefix: "com.example/" })), { locale: "fr" });
    for (const key of ["userId", "tenantId", "authToken", "tenant_id", "com.example/userId"]) {
      const error = refuses(cw, assert, () => taken({ allow: ["locale", key] }), "IdentityNotTrusted");
      assert.equal(error.path, "/allow/1");
    }
    assert.equal(taken({ allow: ["userId"], trustIdentity: true }).get("userId"), "evil");
    assert.throws(() => taken({}), { code: "MISSING_FIELD", path: "/allow" });
    assert.throws(() => cw.fromMcpMeta(meta), { code: "MISSING_FIELD", path: "/allow" });
    for (const none of [undefined, null, {}]) assert.ok(cw.fromMcpMeta(none, { allow: ["a"] }) === cw.ToolCallContext.EMPTY);
    assert.ok(cw.fromMcpMeta([1], { allow: ["a"], onWarning: () => {} }).isEmpty);
    assert.ok(!cw.fromMcpMeta(own('{"__proto__":{"a":1}}'), { allow: ["a", "toString"] }).has("a"));
    const LOCALE = cw.contextKey("locale", { validate: (value) => value === "fr" });
    assert.ok(taken({ allow: [LOCALE] }).isEmpty && told.at(-1) === "invalid_value");
    refuses(cw, assert, () => taken({ allow: ["locale"], schema: () => false }), "InvalidContextValue");
    const marker = "contextweaver.encoded/";
    const there = cw.toMcpMeta(cw.ToolCallContext.of({ "é b.c": 1 }), cw.MetaPolicy.passThrough(), { prefix: marker, onInvalidKey: "encode" });
    assert.deepEqual(revealed(cw.fromMcpMeta(there, { allow: ["é b.c"], prefix: marker })), { "é b.c": 1 });
  },

  async "contexts of other libraries come in and go out"(cw, assert) {
    const { ToolCallContext } = cw;
    const signal = { aborted: false };
    const authInfo = { token: "s3cret-value", scopes: [] };
    const extra = { _meta: { progressToken: 7, locale: "de", userId: "evil" }, signal, authInfo, sessionId: "s1", requestId: 0, sendRequest: () => 1 };
    const context = cw.fromExtra(extra, { allow: ["locale"] });
    assert.deepEqual(
      [context.get("locale"), context.get("progressToken"), context.get("requestId"), context.get("sessionId"), context.has("userId")],
      ["de", 7, 0, "s1", false],
    );
    assert.ok(context.signal === signal && !`${context}${JSON.stringify(context)}`.includes("s3cret-value"));
    assert.deepEqual(cw.toMcpMeta(context, cw.MetaPolicy.dangerouslyPassThrough()), { locale: "de" });
    assert.deepEqual(cw.fromExtra({ _meta: { locale: "de" }, signal }).keys(), ["signal"]);
    const given = { tenantId: "a", n: [1] };
    const rest = { toolCallId: "c1", abortSignal: signal };
    // Both fields are written: version 7 looks for one, earlier versions for the other.
    for (const foreign of [
      { experimental_context: given, ...rest },
      { context: given, ...rest },
      { experimental_context: { n: 0 }, context: given, ...rest },
    ]) {
      const written = own(JSON.stringify(cw.toAiSdk(cw.fromAiSdk(foreign))));
      assert.deepEqual(written, own(JSON.stringify({ context: given, experimental_context: given, ...rest })));
      assert.ok(cw.fromAiSdk(foreign).signal === signal);
    }
    assert.ok(cw.toAiSdk(ToolCallContext.EMPTY) === undefined);
    const config = { configurable: { thread_id: "t", authToken: "s3cret-value" }, signal };
    assert.deepEqual(own(JSON.stringify(cw.toConfigurable(cw.fromConfigurable(config)))), own(JSON.stringify(config)));
    assert.ok(cw.toConfigurable(ToolCallContext.EMPTY) === undefined);
    const calls = [];
    const tool = cw.fromExecutable({ name: "t", execute: (...args) => calls.push(args) }, (given) => ({ userId: given.get("userId") }));
    await tool.call({ a: 1 });
    await tool.call({ a: 1 }, ToolCallContext.of({ userId: "u" }));
    assert.deepEqual(calls, [[{ a: 1 }], [{ a: 1 }, { userId: "u" }]]);
  },
};

export const contextCases = { ...recorded, ...bagCases, ...toolCases, ...metaCases };
