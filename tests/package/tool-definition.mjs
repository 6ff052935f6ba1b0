// Definitions of tools and their results, through the public API. Only the language itself and timers may be used here:
// these cases run in every runtime.
import { refuses } from "./hostile-values.mjs";

const make = (more = {}) => ({
  name: "get_weather",
  description: "Fetches weather. Use when asked.",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  category: "read",
  ...more,
});
const own = (json) => JSON.parse(json);
const TIME = "2025-01-15T10:30:00.000Z";
const clock = () => Date.parse(TIME);
const reasons = (cw, assert, cases) => {
  for (const [name, action, code, reason, path] of cases) {
    const error = refuses(cw, assert, name, action, [code]);
    assert.deepEqual([error.details?.reason, error.path], [reason, path], name);
  }
};

/** What Zod 4 looks like from outside. */
const field = (json, optin) => ({
  _zod: { optin, optout: optin },
  "~standard": { version: 1, vendor: "zod", jsonSchema: { input: () => json, output: () => ({ ...json, out: true }) } },
});

const mapping = {
  "a definition becomes a tool and comes back"(cw, assert) {
    const definition = make({ tags: ["a"], timeout: 5000, version: "1.0.0", execute: () => undefined, requiresConfirmation: true });
    const before = JSON.stringify(definition);
    const { tool, handler, warnings } = cw.toolDefinitionToMcp(Object.freeze(definition));
    assert.deepEqual([handler, warnings], [{ name: "get_weather", timeout: 5000 }, []]);
    assert.deepEqual(Object.keys(tool), ["name", "description", "inputSchema", "annotations", "_meta"]);
    assert.deepEqual(tool.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true });
    assert.equal(JSON.stringify(definition), before);
    const back = cw.mcpToToolDefinition(tool, { trusted: true }).definition;
    const { execute, ...rest } = definition;
    assert.ok(execute);
    assert.deepEqual(back, rest);
    const guessed = cw.mcpToToolDefinition({ ...tool, annotations: undefined });
    assert.deepEqual([guessed.definition.requiresConfirmation, guessed.warnings[0].code], [true, "no_annotations"]);
    assert.deepEqual(cw.toolDefinitionToMcp(definition, { meta: false }).tool._meta, undefined);
  },

  "several definitions are mapped, and bad ones named"(cw, assert) {
    const zod3 = { _def: { typeName: "ZodObject" } };
    const list = [make(), make({ name: "b", schema: zod3 }), make(), make({ name: "c", dependsOn: ["gone"] }), make({ name: "d", tags: [() => 1] })];
    const { tools, handlers, errors, warnings } = cw.toolDefinitionToMcp(list);
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["get_weather", "c"],
    );
    assert.deepEqual(
      handlers.map(({ timeout }) => timeout),
      [15000, 15000],
    );
    assert.deepEqual(
      errors.map(({ index, code, path, details }) => [index, code, path, details?.reason]),
      [
        [1, "UNSUPPORTED", "/1/schema", "zod3_unsupported"],
        [2, "DUPLICATE_ID", "/2/name", "duplicate_name"],
        [4, "INVALID_INPUT", "/4/tags/0", undefined],
      ],
    );
    assert.deepEqual(
      warnings.map(({ code, path }) => [code, path]),
      [["unknown_dependency", "/3/dependsOn/0"]],
    );
    reasons(cw, assert, [
      ["strict", () => cw.toolDefinitionToMcp(list, { strict: true }), "UNSUPPORTED", "zod3_unsupported", "/1/schema"],
      ["the name", () => cw.toolDefinitionToMcp(make({ name: "a b" })), "INVALID_INPUT", "invalid_name", "/name"],
      ["the prefix", () => cw.toolDefinitionToMcp(make(), { prefix: "io.modelcontextprotocol" }), "INVALID_INPUT", "reserved_prefix", "/prefix"],
      ["an option", () => cw.toolDefinitionToMcp(make(), { titel: "x" }), "UNKNOWN_FIELD", undefined, "/titel"],
      ["another option", () => cw.toolDefinitionToMcp(make(), { definition: {} }), "UNKNOWN_FIELD", undefined, "/definition"],
      ["a converter", () => cw.toolDefinitionToMcp(make(), { toJsonSchema: {} }), "INVALID_INPUT", undefined, "/toJsonSchema"],
      ["no schema", () => cw.toolDefinitionToMcp(make({ schema: undefined })), "MISSING_FIELD", "invalid_schema", "/schema"],
      ["a boolean", () => cw.toolDefinitionToMcp(make({ schema: true })), "INVALID_INPUT", "invalid_schema", "/schema"],
    ]);
    const renamed = cw.mcpToToolDefinition([{ name: "getUser", inputSchema: {} }], { rename: "snake_case" });
    assert.deepEqual(renamed.names, { get_user: "getUser" });
  },

  "schemas of libraries become JSON Schema"(cw, assert) {
    const schemaOf = (schema, options) => cw.toolDefinitionToMcp(make({ schema }), options).tool.inputSchema;
    const object = { type: "object", properties: { a: { type: "string" } } };
    assert.deepEqual(schemaOf({ a: { optional: true } }), object);
    assert.deepEqual(schemaOf({ ...object, [Symbol("TypeBox.Kind")]: "Object" }), object);
    assert.deepEqual(schemaOf(field(object)), object);
    assert.deepEqual(cw.toolDefinitionToMcp(make({ outputSchema: field(object) })).tool.outputSchema, { ...object, out: true });
    const shape = { a: field({ type: "string" }), b: field({ type: "number" }, "defaulted") };
    assert.deepEqual(schemaOf(shape), { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] });
    const old = {
      "~standard": {
        jsonSchema: {
          input: ({ target }) => {
            if (target !== "draft-07") throw new Error(target);
            return object;
          },
        },
      },
    };
    assert.deepEqual(schemaOf(old), object);
    assert.deepEqual(schemaOf(Object.assign(() => true, { toJsonSchema: () => object })), object);
    const mine = { "~standard": { validate: () => ({}) } };
    assert.deepEqual(schemaOf(mine, { toJsonSchema: (schema, { io }) => ({ ...object, title: `${schema === mine} ${io}` }) }).title, "true input");
    const z = { toJSONSchema: (schema, { io }) => ({ ...object, title: `${Object.keys(schema)} ${io}` }), object: (made) => made };
    assert.equal(schemaOf(shape, { z }).title, "a,b input");
    assert.equal(schemaOf({ _zod: {} }, { z }).title, "_zod input");
    const throwing = () => {
      throw new Error("no");
    };
    reasons(cw, assert, [
      ["a validator", () => schemaOf(mine), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["Zod before 4.2", () => schemaOf({ _zod: {} }), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["a function", () => schemaOf(() => true), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["a class", () => schemaOf(new Map()), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["a throwing converter", () => schemaOf(mine, { toJsonSchema: throwing }), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["what throws", () => schemaOf({ "~standard": { jsonSchema: { input: throwing } } }), "UNSUPPORTED", "schema_not_convertible", "/schema"],
      ["what returns nothing", () => schemaOf(mine, { toJsonSchema: () => 5 }), "INVALID_INPUT", "invalid_schema", "/schema"],
      ["a proxy", () => schemaOf(new Proxy({}, { get: throwing })), "INVALID_INPUT", undefined, "/schema"],
    ]);
  },

  "a definition becomes something to choose"(cw, assert) {
    const { item } = cw.toolDefinitionToSelectable(make({ tags: ["weather"] }), { server: "met" });
    assert.deepEqual([item.id, item.side_effects, item.tags], ["mcp:met/get_weather", false, ["mcp", "read-only", "weather"]]);
    const router = new cw.Router([item]);
    assert.deepEqual(router.route("weather").candidate_ids, ["mcp:met/get_weather"]);
    router.free();
  },

  "arguments are checked, and what is wrong is told without the value"(cw, assert) {
    const { schema } = make();
    assert.deepEqual(cw.validateArgs(schema, { city: "Oslo" }), { valid: true, errors: [], warnings: [] });
    const { valid, errors } = cw.validateArgs(schema, { city: 12345 });
    assert.deepEqual([valid, errors], [false, [{ path: "/city", keyword: "type", expected: "string" }]]);
    assert.deepEqual(cw.validateArgs({ properties: { n: { default: 3 } } }, {}, { useDefaults: true }).value, { n: 3 });
    assert.equal(cw.validateArgs(schema, undefined).valid, false);
    refuses(cw, assert, "a recursive schema", () => cw.validateArgs({ $ref: "#" }, {}), ["TOO_DEEP"]);
  },
};

const results = {
  "results go to MCP and come back"(cw, assert) {
    const to = (result, options) => cw.toolResultToMcp({ tool: "t", fetchedAt: TIME, ...result }, options);
    const { result } = to({ data: { temp: 72 } }, { protocolVersion: "2025-11-25" });
    assert.deepEqual(Object.keys(result), ["content", "structuredContent", "_meta"]);
    assert.equal(to({ data: { temp: 72 } }, { render: "summary" }).result.content[0].text, "Temp: 72");
    assert.equal(to({ data: { temp: 72 } }, { render: ({ temp }) => `${temp}°F` }).result.content[0].text, "72°F");
    assert.deepEqual(to({ error: "no" }).result.content, [{ type: "text", text: "Error: no" }]);
    for (const data of [{ a: 1 }, [1], "x", 5]) {
      for (const protocolVersion of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
        const back = cw.mcpToToolResult(to({ data }, { protocolVersion }).result, { tool: "t" });
        assert.deepEqual([back.outcome, back.result], ["result", { tool: "t", fetchedAt: TIME, data }]);
      }
    }
    const schema = { n: { type: "number" } };
    assert.equal(to({ data: {} }, { outputSchema: schema }).result.isError, undefined);
    assert.equal(to({ data: {} }, { outputSchema: { type: "object", required: ["n"] }, validateOutput: true }).result.isError, true);
    const asks = { resultType: "input_required", inputRequests: {} };
    assert.deepEqual(cw.mcpToToolResult(asks, { tool: "t" }), { outcome: "input_required", request: asks });
    assert.match(cw.mcpToToolResult({ content: [] }, { tool: "t" }).result.fetchedAt, /^\d{4}-.*\.\d{3}Z$/);
    const fails = [
      () => {
        throw new Error("x");
      },
      () => 5,
    ];
    for (const render of fails) refuses(cw, assert, "render", () => to({ data: 1 }, { render }), ["CALLBACK_FAILED"]);
    refuses(cw, assert, "no tool", () => cw.mcpToToolResult({}, {}), ["MISSING_FIELD"]);
    // Values that a server sent are repaired, and each repair is told.
    const half = cw.mcpToToolResult({ content: [{ type: "text", text: "cut \ud83d" }], structuredContent: { n: NaN, at: 5n } }, { tool: "t" });
    assert.deepEqual(half.warnings.map(({ code }) => code).slice(0, 3), ["text-repaired", "value-repaired", "value-repaired"]);
    assert.equal(JSON.stringify(half).includes("\\ud83d"), false);
    const listed = cw.mcpToToolDefinition({ name: "t", description: "cut \ud83d", inputSchema: { type: "object" } });
    assert.equal(listed.warnings[0].code, "text-repaired");
  },

  "what JSON cannot hold is changed with a warning, or refused"(cw, assert) {
    const to = (data) => cw.toolResultToMcp({ tool: "t", fetchedAt: TIME, data });
    const odd = { n: NaN, i: -Infinity, b: 12345678901234567890n, d: new Date(clock()), u: undefined, l: [undefined, 1], e: new Date(NaN), s: "a\ud800" };
    const { result, warnings } = to(odd);
    assert.equal(result.content[0].text, `{"n":null,"i":null,"b":"12345678901234567890","d":"${TIME}","l":[null,1],"e":null,"s":"a\ufffd"}`);
    assert.deepEqual(
      warnings.map(({ code, path }) => [code, path]),
      [
        ["non_finite_number", "/data/n"],
        ["non_finite_number", "/data/i"],
        ["bigint_as_text", "/data/b"],
        ["date_as_text", "/data/d"],
        ["invalid_date", "/data/e"],
        ["lone_surrogate", "/data/s"],
      ],
    );
    const circle = {};
    circle.self = [circle];
    let deep = {};
    for (let level = 0; level < 1000; level += 1) deep = { deep };
    const shared = [];
    let dag = [1];
    for (let level = 0; level < 40; level += 1) dag = [dag, dag];
    shared.push(dag);
    reasons(cw, assert, [
      ["a map", () => to({ a: new Map() }), "INVALID_INPUT", "unserialisable", "/data/a"],
      ["a set", () => to([new Set()]), "INVALID_INPUT", "unserialisable", "/data/0"],
      ["a function", () => to({ f() {} }), "INVALID_INPUT", "unserialisable", "/data/f"],
      ["a circle", () => to(circle), "CYCLE", "unserialisable", "/data/self/0"],
      ["a class", () => to(new (class A {})()), "INVALID_INPUT", "unserialisable", "/data"],
      [
        "a getter",
        () =>
          to({
            get x() {
              throw new Error("x");
            },
          }),
        "INVALID_INPUT",
        "unserialisable",
        "/data/x",
      ],
    ]);
    refuses(cw, assert, "depth", () => to(deep), ["TOO_DEEP"]);
    refuses(cw, assert, "paths", () => to(shared), ["TOO_LARGE"]);
    refuses(cw, assert, "a long list", () => to(new Array(2 ** 32 - 1)), ["TOO_LARGE"]);
    const names = ["__proto__", "constructor", "toString"];
    const keyed = own(`{${names.map((name) => `"${name}":{"a":1}`).join()}}`);
    assert.deepEqual(Object.keys(to(keyed).result.structuredContent), names);
    const properties = own(`{${names.map((name) => `"${name}":{"type":"string"}`).join()}}`);
    const { tool } = cw.toolDefinitionToMcp(make({ schema: { type: "object", properties } }));
    assert.deepEqual(Object.keys(tool.inputSchema.properties), names);
    assert.equal(cw.validateArgs({ properties }, own(`{"__proto__":1}`)).valid, false);
    assert.equal({}.a, undefined);
  },
};

const bound = {
  async "bound tools are listed and called"(cw, assert) {
    const seen = [];
    const tools = cw.bindTools(
      [
        make({
          execute: ({ city }, context, { signal }) => {
            seen.push([city, context, signal.aborted]);
            return { data: { city } };
          },
        }),
        make({
          name: "fails",
          schema: {},
          execute: () => {
            throw new Error("broken pipe");
          },
        }),
        make({
          name: "odd",
          schema: {},
          execute: async () => {
            throw "text";
          },
        }),
        make({ name: "slow", schema: {}, timeout: 5, execute: () => new Promise(() => {}) }),
        make({
          name: "stops",
          schema: {},
          execute: () => {
            throw { interrupt: true };
          },
        }),
        make({ name: "bare", schema: {}, execute: () => ({ temp: 1 }) }),
        make({ name: "nothing", schema: {}, execute: () => undefined }),
        make({ name: "unwritable", schema: {}, execute: () => ({ data: new Map() }) }),
        make({ name: "typed", schema: {}, outputSchema: { type: "object", required: ["n"] }, execute: () => ({ data: {} }) }),
      ],
      { clock, contextFor: (definition, context) => ({ for: definition.name, ...context }), isInterrupt: (thrown) => thrown?.interrupt === true },
    );
    assert.equal(tools.list()[0].name, "get_weather");
    assert.ok(tools.list() !== tools.list() && tools.list().length === 9);
    const text = async (...args) => (await tools.call(...args)).content[0].text;
    const ok = await tools.call("get_weather", { city: "Oslo" }, { user: "u" });
    assert.deepEqual([ok.structuredContent, ok.isError, ok._meta["dev.contextweaver/fetched-at"]], [{ city: "Oslo" }, undefined, TIME]);
    assert.deepEqual(seen, [["Oslo", { for: "get_weather", user: "u" }, false]]);
    assert.ok(!JSON.stringify(ok).includes("user"), "the context stays here");
    for (const [args, wanted] of [
      [["get_weather", { city: 5 }], "Error: Invalid arguments: /city: expected string"],
      [["get_weather", { city: 5n }], /^Error: Invalid arguments: /],
      [["get_weather"], "Error: Invalid arguments: /: expected the property `city`"],
      [["fails"], "Error: broken pipe"],
      [["odd"], "Error: text"],
      [["slow"], "Error: Timed out after 5 ms"],
      [["bare"], /^Error: the tool returned neither/],
      [["nothing"], "OK"],
      [["unwritable"], /^Error: an instance of a class/],
      [["typed"], "Error: output does not match schema: /: expected the property `n`"],
    ]) {
      const found = await text(...args);
      if (typeof wanted === "string") assert.equal(found, wanted, args[0]);
      else assert.match(found, wanted, args[0]);
    }
    let thrown;
    await tools.call("stops").catch((error) => (thrown = error));
    assert.deepEqual(thrown, { interrupt: true });
    await tools.call("gone").catch((error) => (thrown = error));
    assert.deepEqual([thrown.code, thrown.message, thrown.details.rpc_code], ["NOT_FOUND", "Unknown tool: gone", -32602]);
    reasons(cw, assert, [
      ["no function", () => cw.bindTools([make()]), "MISSING_FIELD", undefined, "/0/execute"],
      ["no definition", () => cw.bindTools([5]), "INVALID_INPUT", undefined, "/0"],
      ["a typing error", () => cw.bindTools([], { confirmation: "hint" }), "UNKNOWN_FIELD", undefined, "/confirmation"],
      ["who confirms", () => cw.bindTools([], { confirm: "elicit" }), "INVALID_INPUT", undefined, "/confirm"],
    ]);
  },

  async "calls can be denied, cancelled and stopped"(cw, assert) {
    const ran = [];
    let aborted;
    const grave = make({
      name: "drop",
      schema: {},
      category: "delete",
      requiresConfirmation: true,
      execute: () => {
        ran.push("drop");
        return { data: 1 };
      },
    });
    const long = make({
      name: "long",
      schema: {},
      execute: (args, context, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            aborted = signal.reason.message;
            resolve({ data: "late" });
          }),
        ),
    });
    const call = async (confirm, ...args) => (await cw.bindTools([grave, long], { confirm }).call(...args)).content[0].text;
    assert.equal(await call(() => false, "drop"), "Error: Cancelled by user");
    assert.equal(await call(async () => "yes", "drop"), "Error: Cancelled by user");
    assert.equal(
      await call(() => {
        throw new Error("no one there");
      }, "drop"),
      "Error: no one there",
    );
    assert.deepEqual(ran, []);
    assert.equal(await call(async ({ name }) => name === "drop", "drop"), "1");
    assert.equal(await call(undefined, "drop"), "1");
    const signal = AbortSignal.abort();
    assert.equal(await call("hint", "drop", {}, undefined, { signal }), "Error: Request was cancelled");
    assert.equal(ran.length, 2);
    const controller = new AbortController();
    const answer = call("hint", "long", {}, undefined, { signal: controller.signal });
    controller.abort();
    assert.deepEqual([await answer, aborted], ["Error: Request was cancelled", "Request was cancelled"]);
  },
};

export const toolDefinitionCases = { ...mapping, ...results, ...bound };
