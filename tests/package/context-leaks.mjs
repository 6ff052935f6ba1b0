// Secrets planted in a context occur in nothing that this package says, whatever the context is used for. Only the language
// itself may be used here: these cases run in every runtime.

const PLANTED = ["planted-alpha-7f3a", "planted-beta-91c2", "planted-gamma-04de", "planted-delta-55aa"];

/** Secrets by name, by declaration, by typed key, nested, and in what stays in this program. */
function planted(cw) {
  const HANDLE = cw.contextKey("handle", { secret: true });
  return cw.ToolCallContext.of(
    {
      tenantId: "acme",
      authToken: PLANTED[0],
      vault: { inner: [PLANTED[1]] },
      authInfo: new (class {
        token = PLANTED[3];
      })(),
    },
    { secrets: ["vault"] },
  ).with(HANDLE, PLANTED[2]);
}

/** Everything a value says of itself, in whatever way it is asked. */
function said(value) {
  const seen = new Set();
  const parts = [];
  const visit = (what) => {
    if (typeof what === "string") parts.push(what);
    if (typeof what === "symbol") parts.push(String(what.description));
    if ((typeof what !== "object" && typeof what !== "function") || what === null || seen.has(what)) return;
    seen.add(what);
    for (const ask of [
      () => String(what),
      () => `${what}`,
      () => JSON.stringify(what),
      () => Object.prototype.toString.call(what),
      () => what.toLocaleString(),
      () => what.stack,
      () => what.message,
      () => (typeof structuredClone === "function" ? JSON.stringify(structuredClone(what)) : ""),
      ...["nodejs.util.inspect.custom", "Deno.customInspect"].map((name) => () => what[Symbol.for(name)]?.(5, {}, (inner) => JSON.stringify(inner))),
    ]) {
      try {
        parts.push(String(ask()));
      } catch {
        // what cannot be said says nothing
      }
    }
    for (const key of Reflect.ownKeys(what)) {
      parts.push(String(key));
      const property = Object.getOwnPropertyDescriptor(what, key);
      if ("value" in property) visit(property.value);
    }
  };
  visit(value);
  return parts.join("\n");
}

/** The console of this runtime, and what is written to it meanwhile. */
async function listening(run) {
  const written = [];
  const originals = {};
  for (const method of ["log", "info", "warn", "error", "debug", "trace"]) {
    originals[method] = console[method];
    console[method] = (...args) => written.push(...args);
  }
  try {
    await run();
  } finally {
    Object.assign(console, originals);
  }
  return written;
}

const caught = async (action) => {
  try {
    return await action();
  } catch (error) {
    return error;
  }
};

function isClean(assert, what, name) {
  const text = said(what);
  for (const secret of PLANTED) assert.ok(!text.includes(secret), `${name} says ${secret}`);
}

export const leakCases = {
  "the search for planted secrets finds them"(_cw, assert) {
    for (const what of [PLANTED[0], { a: [PLANTED[0]] }, new Error(PLANTED[0]), { [PLANTED[0]]: 1 }, new Error("x", { cause: new Error(PLANTED[0]) })]) {
      assert.ok(said(what).includes(PLANTED[0]));
    }
  },

  async "a context shows no secret in whatever way it is looked at"(cw, assert) {
    const context = planted(cw);
    const shown = [
      context,
      [context],
      { context },
      context.toObject(),
      context.toJSON(),
      context.toCloneable(),
      Object.fromEntries(context.toMap()),
      context.keys(),
      Object.assign({}, context),
      { ...context },
    ];
    shown.forEach((what, place) => {
      // The instance of a class is the caller's own; it is shown only to who asks for the values.
      if (what && typeof what === "object") isClean(assert, what, `form ${place}`);
    });
    const error = new Error(`${context}`, { cause: context });
    isClean(assert, error, "an error");
    for (const combined of [
      context.merge(cw.ToolCallContext.of({ x: 1 })),
      context.with("y", 2),
      context.without("tenantId"),
      cw.effectiveContext(cw.ToolCallContext.of({ z: 1 }), context),
    ]) {
      isClean(assert, combined, "a combination");
      isClean(assert, combined.toObject(), "a combination as an object");
    }
  },

  async "no operation quotes a value when it fails"(cw, assert) {
    const context = planted(cw);
    const { ToolCallContext, MetaPolicy } = cw;
    const failures = [
      () => context.number("authToken"),
      () => context.boolean("vault"),
      () => context.parse("handle", () => false),
      () =>
        context.get(
          cw.contextKey("authToken", {
            validate: () => {
              throw new Error(PLANTED[0]);
            },
          }),
        ),
      () => context.toSnapshot(),
      () =>
        ToolCallContext.of({
          authToken: {
            get a() {
              throw new Error(PLANTED[0]);
            },
          },
        }),
      () => ToolCallContext.of({ [`${"k".repeat(300)}`]: PLANTED[0] }),
      () => ToolCallContext.sealed({ authToken: PLANTED[0] }).with("authToken", PLANTED[1]),
      () => ToolCallContext.of({ authToken: null, x: PLANTED[0] }),
      () => cw.toMcpMeta(context, MetaPolicy.allow(["authInfo"], { secrets: ["authInfo"] })),
      () => cw.toMcpMeta(context, MetaPolicy.dangerouslyPassThrough()),
      () => cw.toMcpMeta(context.without("authInfo"), MetaPolicy.dangerouslyPassThrough(), { maxBytes: 1 }),
      () =>
        cw.toMcpMeta(
          context,
          MetaPolicy.map(() => {
            throw new Error(PLANTED[0]);
          }),
        ),
      () => cw.fromMcpMeta({ a: PLANTED[0] }, { allow: ["authToken"] }),
      () => cw.fromMcpMeta({ a: PLANTED[0] }, { allow: ["a"], schema: () => false }),
      () => cw.defineTool(context, () => 1),
      () => new cw.Router([{ id: "a", kind: "tool", name: "a", description: "a", metadata: { context } }]),
      () => new cw.ContextManager(context),
      () => new cw.ContextManager().ingest({ id: "a", kind: "user_turn", text: "a", metadata: { context } }),
      () => new cw.ContextManager().addFact({ key: "a", value: context }),
      () => cw.countTokens(context),
    ];
    for (const [place, action] of failures.entries()) {
      const error = await caught(action);
      assert.ok(cw.ContextWeaverError.is(error), `failure ${place}: ${error}`);
      isClean(assert, error, `failure ${place}`);
    }
  },

  async "tools, decorators and policies let nothing out"(cw, assert) {
    const context = planted(cw);
    const outputs = [];
    const written = await listening(async () => {
      const leaf = cw.defineTool({ name: "leaf", description: "a tool" }, (input, given) => {
        if (input.throws)
          throw new TypeError(`401 for ${given.get("authToken")} and ${given.get("vault").inner[0]}`, {
            cause: { header: given.get("handle"), info: given.get("authInfo").token },
          });
        return { ok: true, seen: `${given}`, given: JSON.stringify(given) };
      });
      const tool = cw.decorate(cw.decorate(leaf, { around: (input, _c, next) => next(input) }), {
        around: async (input, given, next, info) => {
          console.log(given, `${given}`, JSON.stringify(given), info, input);
          return next(input, given.withSecret("more", PLANTED[1]));
        },
      });
      outputs.push(tool, leaf, cw.decoratorsOf(tool), cw.unwrap(tool));
      for (const input of [{}, { throws: true }]) {
        outputs.push(await caught(() => tool.call(input, context)));
        outputs.push(await caught(() => cw.runTool(tool, input, { process: context })));
        outputs.push(await caught(() => cw.runTool({ name: "f", call: leaf.call }, input, context)));
      }
      outputs.push(
        await caught(() => cw.assertPropagates((inner) => cw.decorate(inner, { around: (_input, _given, next) => next(context.get("authToken"), context) }))),
      );
      for (const policy of [
        undefined,
        cw.MetaPolicy.none,
        cw.MetaPolicy.passThrough(),
        cw.MetaPolicy.deny([]),
        cw.MetaPolicy.allow(["tenantId", "authToken", "vault", "handle"]),
      ]) {
        outputs.push(await caught(() => cw.toMcpMeta(context, policy, { existing: { progressToken: 1 } })));
        outputs.push(await caught(() => cw.toMcpMeta(context, policy)));
      }
    });
    assert.ok(outputs.length > 15 && written.length > 5);
    // The probe of the last test is given the secret by the decorator itself; its failure must not tell it.
    for (const [place, output] of outputs.entries()) isClean(assert, output, `output ${place}`);
    for (const [place, output] of written.entries()) isClean(assert, output, `line ${place}`);
  },

  async "prompts, routes, stores and snapshots know nothing of the context of a call"(cw, assert) {
    const context = planted(cw);
    const outputs = [];
    const written = await listening(async () => {
      const leaf = cw.defineTool(
        { name: "search", description: "Searches files", schema: { type: "object", properties: { q: { type: "string" } } } },
        (input) => `found ${input.q}`,
      );
      const failing = cw.defineTool({ name: "fail", description: "Fails" }, (_input, given) => {
        throw new Error(`denied: ${given.get("authToken")}`);
      });
      const manager = new cw.ContextManager();
      manager.ingest({ id: "u1", kind: "user_turn", text: "find files" });
      const answers = [await leaf.call({ q: "x" }, context), String((await caught(() => failing.call({}, context))).message)];
      answers.forEach((raw_output, place) => outputs.push(manager.ingestToolResult({ tool_call_id: `c${place}`, tool_name: leaf.name, raw_output })));
      const router = new cw.Router(
        [leaf, failing].map(({ name, description, inputSchema }) => ({ id: name, kind: "tool", name, description, args_schema: inputSchema })),
      );
      const result = router.route("search files");
      outputs.push(
        result,
        router.cards(result),
        cw.explainRoute(result),
        manager.build({ phase: "answer", query: "files", explain: true }),
        manager.toJSON(),
        manager.stats(),
      );
      outputs.push(manager.events.items?.() ?? [], await caught(() => manager.build({ phase: context })));
      router.free();
    });
    for (const [place, output] of [...outputs, ...written].entries()) isClean(assert, output, `output ${place}`);
    assert.ok(said(outputs).includes("denied: [redacted:authToken]"), "the tool's error is there, without the secret");
  },
};
