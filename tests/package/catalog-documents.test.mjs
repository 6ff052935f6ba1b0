// Catalogs of what people have: documents of OpenAPI, skills, agent cards. They come from strangers, so that some of these are hostile.
import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import Ajv from "ajv/dist/2020.js";
import { project, run } from "./harness.mjs";

const folder = await project("catalog-documents", { "entry.mjs": `export { Catalog, ContextWeaverError, Router } from "contextweaver";` });
const { Catalog, ContextWeaverError, Router } = await import(pathToFileURL(join(folder, "entry.mjs")));

const findingsOf = (catalog) => catalog.findings().map(({ code, severity, item_id, path }) => [code, severity, item_id, path]);

function refuses(make, code, path, hint) {
  assert.throws(make, (error) => {
    assert.ok(ContextWeaverError.is(error), String(error));
    assert.deepEqual([error.code, error.path ?? ""], [code, path], error.message);
    if (hint) assert.match(error.hint ?? "", hint);
    return true;
  });
}

/** A shop, in the version that is asked for. */
const shop = (openapi = "3.1.0", more = {}) => ({
  openapi,
  info: { title: "Shop", version: "1" },
  servers: [{ url: "https://api.example.com/v1" }],
  security: [{ key: [] }, { login: ["orders:read", "orders:write"] }],
  paths: {
    "/orders/{id}": {
      parameters: [{ $ref: "#/components/parameters/Id" }],
      get: {
        operationId: "getOrder",
        summary: "Get an order",
        description: "With all of its lines.",
        tags: ["orders"],
        parameters: [
          { name: "expand", in: "query", schema: { type: "string", enum: ["lines", "customer"] }, description: "What to add" },
          { name: "X-Key", in: "header", schema: { type: "string" } },
          { name: "Authorization", in: "header", schema: { type: "string" } },
          { name: "id", in: "query", schema: { type: "integer" } },
        ],
      },
      delete: { summary: "Cancel an order", deprecated: true, security: [] },
    },
    "/orders": {
      post: {
        operationId: "create order",
        summary: "Place an order",
        servers: [{ url: "https://ann:secret@write.example.com/v1?token=abc" }],
        requestBody: {
          required: true,
          content: { "text/csv": { schema: { type: "string" } }, "application/json": { schema: { $ref: "#/components/schemas/Order" } } },
        },
      },
      get: { operationId: "getOrder", summary: "List orders" },
    },
  },
  components: {
    parameters: { Id: { name: "id", in: "path", schema: { type: "string", format: "uuid" }, description: "Number of the order" } },
    schemas: {
      Order: {
        type: "object",
        required: ["id", "lines"],
        properties: {
          id: { type: "string", readOnly: true },
          lines: { type: "array", items: { $ref: "#/components/schemas/Line" } },
          note: { $ref: "#/components/schemas/Note" },
        },
      },
      Line: {
        type: "object",
        properties: { sku: { type: "string", example: "A-1" }, parts: { type: "array", items: { $ref: "#/components/schemas/Line" } } },
        "x-owner": "shop",
      },
      Note: openapi.startsWith("3.0") ? { type: "string", nullable: true, maxLength: 80 } : { type: ["string", "null"], maxLength: 80 },
    },
    securitySchemes: {
      key: { type: "apiKey", in: "header", name: "X-Key", description: "Ours is hunter2", "x-example": "hunter2" },
      login: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://login.example.com", scopes: {} } } },
    },
  },
  ...more,
});

for (const version of ["3.0.3", "3.1.0"]) {
  test(`OpenAPI ${version}: each operation is a tool`, () => {
    const given = shop(version);
    const before = structuredClone(given);
    const catalog = Catalog.fromOpenApi(given);
    assert.deepEqual(given, before, "nothing that was given is changed");
    assert.deepEqual(
      catalog.items().map(({ id, name }) => [id, name]),
      [
        ["openapi:DELETE /orders/{id}", "delete_orders_id"],
        ["openapi:create order", "create_order"],
        ["openapi:getOrder", "getOrder"],
        ["openapi:getOrder#2", "getOrder_2"],
      ],
    );
    const order = catalog.get("openapi:getOrder");
    assert.equal(order.description, "Get an order\n\nWith all of its lines.");
    assert.deepEqual([order.kind, order.namespace, order.tags, order.side_effects], ["tool", "orders", ["orders", "read_only"], false]);
    assert.deepEqual(order.args_schema, {
      type: "object",
      properties: {
        id: { type: "string", format: "uuid", description: "Number of the order" },
        expand: { type: "string", enum: ["lines", "customer"], description: "What to add" },
        query_id: { type: "integer" },
      },
      required: ["id"],
    });
    assert.deepEqual(order.metadata.openapi, {
      method: "GET",
      path: "/orders/{id}",
      operation_id: "getOrder",
      servers: ["https://api.example.com/v1"],
      security: [[{ id: "key", type: "apiKey", in: "header", name: "X-Key" }], [{ id: "login", type: "oauth2", scopes: ["orders:read", "orders:write"] }]],
      parameters: { id: { in: "path", name: "id" }, expand: { in: "query", name: "expand" }, query_id: { in: "query", name: "id" } },
    });
    const cancel = catalog.get("openapi:DELETE /orders/{id}");
    assert.deepEqual(
      [cancel.tags, cancel.side_effects, cancel.metadata.openapi.deprecated, cancel.metadata.openapi.security],
      [["destructive", "deprecated"], true, true, []],
    );

    const { args_schema, metadata } = catalog.get("openapi:create order");
    assert.deepEqual(args_schema.required, ["body"]);
    assert.deepEqual(args_schema.properties.body, {
      type: "object",
      required: ["lines"],
      properties: {
        lines: {
          type: "array",
          items: { type: "object", properties: { sku: { type: "string", examples: ["A-1"] }, parts: { type: "array", items: { type: "object" } } } },
        },
        note: { type: ["string", "null"], maxLength: 80 },
      },
    });
    assert.deepEqual([metadata.openapi.body, metadata.openapi.servers], ["application/json", ["https://write.example.com/v1"]]);
    assert.ok(!/hunter2|secret|abc|ann/.test(JSON.stringify(catalog)), "no secrets of servers and schemes");
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(args_schema);
    assert.ok(validate({ body: { lines: [{ sku: "A-1", parts: [{}] }], note: null } }) && !validate({ body: { lines: 1 } }) && !validate({}));

    assert.deepEqual(findingsOf(catalog), [
      ["openapi-parameter", "info", "openapi:getOrder", "/paths/~1orders~1{id}/get/parameters/1"],
      ["openapi-parameter", "info", "openapi:getOrder", "/paths/~1orders~1{id}/get/parameters/2"],
      ["openapi-argument-renamed", "warning", "openapi:getOrder", "/paths/~1orders~1{id}/get/parameters/3"],
      ["openapi-duplicate-id", "warning", "openapi:getOrder#2", "/paths/~1orders/get/operationId"],
      ["openapi-media", "info", "openapi:create order", "/paths/~1orders/post/requestBody/content"],
      [
        "openapi-cycle",
        "warning",
        "openapi:create order",
        "/paths/~1orders/post/requestBody/content/application~1json/schema/properties/lines/items/properties/parts/items",
      ],
      ["openapi-server", "warning", "openapi:create order", "/paths/~1orders/post"],
    ]);
    assert.equal(new Router(catalog).route("cancel the order").candidate_ids[0], "openapi:DELETE /orders/{id}");
    assert.deepEqual(Catalog.fromOpenApi(JSON.stringify(given)).hash(), catalog.hash());
  });
}

test("OpenAPI 3.0: what its schemas say in their own way", () => {
  const schema = { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false, nullable: true, enum: [2, 3], xml: { name: "n" } };
  const of = (version, one) =>
    Catalog.fromOpenApi({
      openapi: version,
      paths: { "/a": { get: { operationId: "a", parameters: [{ name: "n", in: "query", schema: one, deprecated: true }] } } },
    }).get("openapi:a").args_schema.properties.n;
  assert.deepEqual(of("3.0.0", schema), { type: ["number", "null"], exclusiveMinimum: 1, maximum: 9, enum: [2, 3, null], deprecated: true });
  assert.deepEqual(of("3.1.0", { type: "integer", exclusiveMinimum: 1, const: 2 }), { type: "integer", exclusiveMinimum: 1, const: 2, deprecated: true });
  assert.deepEqual(of("3.1.0", true), { deprecated: true });
  assert.deepEqual(of("3.1.0", { properties: { readOnly: { type: "boolean" }, ["__proto__"]: { type: "string" } } }).properties.readOnly, { type: "boolean" });
});

test("OpenAPI: a field that is read only is no argument, wherever it says so and wherever it is required", () => {
  const text = { type: "string" };
  const schemas = {
    Id: { type: "integer", readOnly: true },
    Alias: { $ref: "#/components/schemas/Id" },
    Loop: { $ref: "#/components/schemas/Loop" },
    Base: {
      type: "object",
      required: ["owner", "name"],
      properties: {
        id: { $ref: "#/components/schemas/Alias" },
        described: { allOf: [{ $ref: "#/components/schemas/Id" }], description: "d" },
        created: { ...text, readOnly: true },
        name: text,
        loop: { $ref: "#/components/schemas/Loop" },
      },
    },
    Part: { type: "object", required: ["created"], properties: { created: text } },
    Pet: {
      required: ["created", "tag"],
      allOf: [
        { $ref: "#/components/schemas/Base" },
        {
          type: "object",
          required: ["created", "id", "name"],
          properties: { tag: text, owner: { ...text, readOnly: true }, part: { $ref: "#/components/schemas/Part" } },
        },
      ],
    },
  };
  for (const openapi of ["3.0.3", "3.1.0"]) {
    const document = {
      openapi,
      paths: { "/a": { post: { operationId: "a", requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } } } } },
      components: { schemas },
    };
    const given = structuredClone(document);
    const { required, allOf } = Catalog.fromOpenApi(document).get("openapi:a").args_schema.properties.body;
    assert.deepEqual(document, given);
    assert.deepEqual([required, ...allOf.map((part) => part.required)], [["tag"], ["name"], ["name"]], openapi);
    assert.deepEqual(
      allOf.map((part) => Object.keys(part.properties)),
      [
        ["name", "loop"],
        ["tag", "part"],
      ],
    );
    // What is inside of a field is another object.
    assert.deepEqual(allOf[1].properties.part, { type: "object", required: ["created"], properties: { created: text } });
  }
});

test("OpenAPI: what cannot be read is left out and told, or raised", () => {
  const broken = {
    openapi: "3.1.0",
    webhooks: { paid: { post: {} } },
    paths: {
      "/a": {
        get: 7,
        put: { operationId: 5 },
        post: {
          operationId: "ok",
          parameters: [
            null,
            { name: "x" },
            { $ref: "other.json#/x" },
            { $ref: "#/nowhere" },
            { name: "s", in: "query", schema: { $ref: "http://127.0.0.1:1/x" } },
          ],
          requestBody: { content: {} },
        },
      },
      "/b": { patch: { operationId: "list", parameters: {} } },
      "/c": 3,
      "/d": { $ref: "#/components/pathItems/none" },
      "/e": { $ref: "#/paths/~1e" },
      "x-more": {},
    },
  };
  const catalog = Catalog.fromOpenApi(broken);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["openapi:ok"],
  );
  assert.deepEqual(catalog.get("openapi:ok").args_schema, { type: "object", properties: { s: {} } });
  const findings = catalog.findings();
  const left = findings.filter(({ index }) => index !== undefined).map(({ code, severity, path }) => [code, severity, path]);
  assert.deepEqual(
    left,
    ["/paths/~1a/get", "/paths/~1a/put/operationId", "/paths/~1b/patch/parameters", "/paths/~1c", "/paths/~1d", "/paths/~1e"].map((path) => [
      "openapi-invalid",
      "error",
      path,
    ]),
  );
  const noted = findings.filter(({ index, item_id }) => index === undefined && item_id === "openapi:ok").map(({ code }) => code);
  assert.deepEqual(noted, [
    "openapi-parameter",
    "openapi-parameter",
    "openapi-ref",
    "openapi-parameter",
    "openapi-ref",
    "openapi-parameter",
    "openapi-body",
    "openapi-ref",
  ]);
  assert.ok(findings.some(({ code, severity }) => code === "openapi-webhooks" && severity === "info"));
  refuses(() => Catalog.fromOpenApi(broken, { on_invalid: "raise" }), "INVALID_INPUT", "/paths/~1a/get");

  refuses(() => Catalog.fromOpenApi("openapi: 3.1.0\npaths: {}"), "INVALID_INPUT", "", /YAML/);
  refuses(() => Catalog.fromOpenApi("<html>"), "INVALID_INPUT", "", /JSON/);
  refuses(() => Catalog.fromOpenApi({ swagger: "2.0", paths: {} }), "UNSUPPORTED", "/swagger", /convert/);
  refuses(() => Catalog.fromOpenApi({ openapi: "4.0.0" }), "UNSUPPORTED", "/openapi");
  refuses(() => Catalog.fromOpenApi({ openapi: 3.1 }), "UNSUPPORTED", "/openapi");
  refuses(() => Catalog.fromOpenApi({ paths: {} }), "MISSING_FIELD", "/openapi");
  refuses(() => Catalog.fromOpenApi({ openapi: "3.1.0", paths: [] }), "INVALID_INPUT", "/paths");
  for (const given of [null, undefined, 7, []]) refuses(() => Catalog.fromOpenApi(given), "INVALID_INPUT", "");
  const cyclic = shop();
  cyclic.self = cyclic;
  refuses(() => Catalog.fromOpenApi(cyclic), "CYCLE", "/self");
  refuses(() => Catalog.fromOpenApi(shop(), { servers: "x" }), "UNKNOWN_FIELD", "/servers");
  refuses(() => Catalog.fromOpenApi(shop(), { server: 7 }), "INVALID_INPUT", "/server");
  assert.deepEqual(findingsOf(Catalog.fromOpenApi({ openapi: "3.1.0", paths: {} })), [["openapi-empty", "warning", "", "/paths"]]);
});

test("OpenAPI: names are callable, and ids are one each", () => {
  const paths = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`/${"very-long-".repeat(10)}/${at}`, { get: {}, post: { operationId: at % 2 ? "same" : "same " } }]),
  );
  const catalog = Catalog.fromOpenApi({ openapi: "3.1.0", paths: { ...paths, "/": { get: {} }, "/ü": { get: { operationId: "ü" } } } }, { server: "shop" });
  const items = catalog.items();
  assert.equal(items.length, 122);
  assert.equal(new Set(items.map(({ name }) => name)).size, items.length);
  for (const { id, name, namespace } of items) {
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.ok(id.startsWith("openapi:shop/") && namespace === "shop");
  }
});

test("OpenAPI: of arguments that are too large the upper part is whole", () => {
  const level = (at) => ({
    type: "object",
    properties: Object.fromEntries(["a", "b", "c", "d", "e"].map((key) => [key, { $ref: `#/components/schemas/S${at + 1}` }])),
  });
  const schemas = { ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`S${at}`, level(at)])), S12: { type: "string" } };
  const schema = { type: "object", properties: { deep: { $ref: "#/components/schemas/S0" }, last: { type: "string" } } };
  const catalog = Catalog.fromOpenApi({
    openapi: "3.1.0",
    components: { schemas },
    paths: { "/a": { post: { operationId: "a", requestBody: { content: { "application/json": { schema } } } } } },
  });
  assert.deepEqual(
    findingsOf(catalog).map(([code]) => code),
    ["openapi-schema-cut"],
  );
  const { properties } = catalog.get("openapi:a").args_schema.properties.body;
  assert.deepEqual(properties.last, { type: "string" });
  assert.deepEqual(Object.keys(properties.deep.properties), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(Object.keys(properties.deep.properties.e.properties), ["a", "b", "c", "d", "e"], "the last as the first");
});

/** Values in a value, each object, list and leaf counted. */
const nodes = (value) => 1 + (value !== null && typeof value === "object" ? Object.values(value).reduce((sum, one) => sum + nodes(one), 0) : 0);

test("OpenAPI: hostile documents cost bounded work", () => {
  // Each level refers to the next twice, so that they stand for 2^60 schemas.
  const schemas = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `S${at}`,
      { type: "object", properties: { a: { $ref: `#/components/schemas/S${at + 1}` }, b: { $ref: `#/components/schemas/S${at + 1}` } } },
    ]),
  );
  const doubling = {
    openapi: "3.1.0",
    components: { schemas },
    paths: Object.fromEntries(
      Array.from({ length: 2000 }, (_, at) => [
        `/${at}`,
        { post: { requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } } } } },
      ]),
    ),
  };
  const cut = Catalog.fromOpenApi(doubling);
  assert.equal(cut.size, 2000);
  assert.ok(findingsOf(cut).some(([code]) => code === "openapi-schema-cut"));
  assert.ok(cut.findings().length <= 1001, "findings are bounded");
  // A document affords a million steps, however many tools it has; some schemas are begun again with fewer references.
  const written = cut.items().reduce((sum, { args_schema }) => sum + nodes(args_schema), 0);
  assert.ok(written <= 1_000_000, `${written} values of schemas`);

  const long = "x".repeat(100_000);
  const enormous = {
    openapi: "3.1.0",
    components: {
      pathItems: {
        All: {
          description: long,
          get: { description: long, tags: [long], parameters: Array.from({ length: 400 }, (_, at) => ({ name: `p${at}`, in: "query", description: long })) },
        },
      },
      schemas: { Loop: { $ref: "#/components/schemas/Loop" }, Wide: { allOf: Array.from({ length: 50_000 }, () => ({ $ref: "#/components/schemas/Wide" })) } },
    },
    paths: {
      "/loop": { put: { operationId: "loop", requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Loop" } } } } } },
      "/wide": { put: { operationId: "wide", requestBody: { content: { a: { schema: { $ref: "#/components/schemas/Wide" } } } } } },
    },
  };
  for (let at = 0; at < 3000; at += 1) enormous.paths[`/${at}`] = { $ref: "#/components/pathItems/All" };
  const refused = Catalog.fromOpenApi(enormous);
  assert.deepEqual(
    refused.items().map(({ id }) => id),
    ["openapi:loop", "openapi:wide"],
  );
  const deep = {
    openapi: "3.1.0",
    paths: {
      "/a": {
        get: { operationId: "deep", parameters: [{ name: "d", in: "query", schema: Array.from({ length: 60 }).reduce((inner) => ({ items: inner }), {}) }] },
      },
    },
  };
  assert.deepEqual(
    findingsOf(Catalog.fromOpenApi(deep)).map(([code]) => code),
    ["openapi-schema-cut"],
  );
});

const skill = (front, path = "skills/refunds/SKILL.md") => ({ path, text: `---\n${front}\n---\n\n# Refunds\n\nFirst, find the order. name: no field\n` });

test("skills: what stands in front", () => {
  const catalog = Catalog.fromSkills([
    skill(`name: refunds
description: >-
  Use when a customer
  wants money back.

  Never for gifts.
license: Apache-2.0 # see LICENSE
compatibility: 'It''s for Node'
allowed-tools: Read Bash(git:*)
metadata:
  author: "shop \\"A\\" \\u00fc"
  version: "1.0"`),
    { path: "c:\\skills\\reports\\SKILL.md", text: "\ufeff---\r\nname: reports\r\ndescription: Make a report\r\n  of sales: by month\r\n---\r\nBody" },
    { path: "SKILL.md", text: '---\nname: "quoted"\ndescription: "Over\n  two lines"\n---' },
    { path: "SKILL.md", text: "---\nname: block\ndescription: |\n  First line\n    further in\n  last\n---" },
  ]);
  assert.deepEqual(findingsOf(catalog), []);
  const [long] = Catalog.fromSkills([skill('name: long\ndescription: "One\\\n  \\U0001F600\n\n  two\u2028"')]).items();
  assert.equal(long.description, "One\u{1F600}\ntwo\u2028");
  const refunds = catalog.get("skill:refunds");
  assert.deepEqual([refunds.kind, refunds.name, refunds.description], ["skill", "refunds", "Use when a customer wants money back.\nNever for gifts."]);
  assert.deepEqual(refunds.metadata.skill, {
    path: "skills/refunds/SKILL.md",
    license: "Apache-2.0",
    compatibility: "It's for Node",
    allowed_tools: ["Read", "Bash(git:*)"],
    metadata: { author: 'shop "A" ü', version: "1.0" },
  });
  assert.equal(catalog.get("skill:reports").description, "Make a report of sales: by month");
  assert.equal(catalog.get("skill:quoted").description, "Over two lines");
  assert.equal(catalog.get("skill:block").description, "First line\n  further in\nlast");
  assert.ok(!JSON.stringify(catalog).includes("find the order"), "the body is read when the skill is used");
  assert.equal(new Router(catalog).route("the customer wants his money back").candidate_ids[0], "skill:refunds");
});

test("skills: the tools that are allowed, as a text and as a list", () => {
  const allowed = (front) => {
    const catalog = Catalog.fromSkills([skill(`name: refunds\ndescription: x\n${front}`)]);
    return [catalog.items()[0].metadata.skill, catalog.findings().map(({ code }) => code)];
  };
  for (const [front, tools] of [
    ["allowed-tools: Bash(git add:*) Read", ["Bash(git add:*)", "Read"]],
    ["allowed-tools: Read, Grep,Bash(git diff, x)", ["Read", "Grep", "Bash(git diff, x)"]],
    ["allowed-tools: Read Bash(git", ["Read", "Bash(git"]],
    ["allowed-tools:\n  - Bash(git add:*)\n  # more\n\n  - 'Read'\nlicense: MIT", ["Bash(git add:*)", "Read"]],
    ["allowed-tools: # of Claude\n- Read\n- Grep", ["Read", "Grep"]],
  ]) {
    const [{ allowed_tools }, codes] = allowed(front);
    assert.deepEqual([allowed_tools, codes], [tools, []], front);
  }
  assert.deepEqual(allowed("metadata:\n  tags:\n    - a\n    - b\n  by: c\nlicense: MIT")[0], {
    path: "skills/refunds/SKILL.md",
    license: "MIT",
    metadata: { tags: ["a", "b"], by: "c" },
  });
  for (const nested of ["allowed-tools:\n- Read:\n    a: b", "allowed-tools: [Read]", "metadata:\n  a:\n  - - b"])
    assert.ok(allowed(nested)[1].includes("skill-yaml"), nested);
});

test("half of a surrogate pair in a document is replaced, and told", () => {
  const half = "cut \ud83d";
  const document = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "a", summary: half } }, "/b": { get: { operationId: "b" } } } };
  const escaped = skill('name: refunds\ndescription: "cut \\ud83d"');
  const card = { ...CARDS["0.3"], description: half };
  for (const [catalog, id, path] of [
    [Catalog.fromOpenApi(document), "openapi:a", "/paths/~1a/get/summary"],
    [Catalog.fromOpenApi(JSON.stringify(document), { on_invalid: "raise" }), "openapi:a", "/paths/~1a/get/summary"],
    [Catalog.fromSkills([skill("name: other\ndescription: x", "other/SKILL.md"), escaped]), "skill:refunds", "/1"],
    [Catalog.fromAgentCard([card]), "agent:route_planner", "/0/description"],
  ]) {
    assert.ok(catalog.get(id).description.startsWith("cut \ufffd"), id);
    const told = catalog.findings().filter(({ code }) => code === "text-repaired");
    assert.deepEqual(
      told.map(({ path: at, index }) => [at, index]),
      [[path, undefined]],
      id,
    );
  }
  refuses(() => Catalog.fromOpenApi({ ...document, paths: {}, info: 1n }), "INVALID_INPUT", "/info");
});

test("skills: what is not as the format says", () => {
  const given = [
    skill("name: Refunds!\ndescription: x"),
    skill(`name: refunds\ndescription: ${"long ".repeat(300)}`),
    skill("name: refunds\ndescription: x\ncolour: red\nlist:\n- a\n&anchor"),
    skill("name: refunds\ndescription: [a, b]"),
    skill('name: refunds\ndescription: "open'),
    skill("description: x"),
    skill("name: refunds"),
    { path: "a/SKILL.md", text: "# No front\n" },
    { path: "a/SKILL.md", text: "---\nname: endless\n" },
    { path: "a/SKILL.md", text: `---\n${"x: y\n".repeat(20_000)}---\n` },
    { path: 7, text: "" },
    { path: "a/SKILL.md" },
    null,
  ];
  const catalog = Catalog.fromSkills(given);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["skill:Refunds!", "skill:refunds", "skill:refunds#2", "skill:refunds#3", "skill:refunds#4"],
  );
  const left = catalog.findings().filter(({ index }) => index !== undefined);
  assert.deepEqual(
    left.map(({ index, path }) => [index, path]),
    [
      [5, "/5/text"],
      [6, "/6/text"],
      [7, "/7/text"],
      [8, "/8/text"],
      [9, "/9/text"],
      [10, "/10/path"],
      [11, "/11/text"],
      [12, "/12"],
    ],
  );
  assert.ok(left.every(({ code, severity }) => code === "skill-invalid" && severity === "error"));
  const noted = catalog
    .findings()
    .filter(({ index }) => index === undefined)
    .map(({ code, item_id }) => `${item_id} ${code}`);
  for (const one of [
    "skill:Refunds! skill-name",
    "skill:Refunds! skill-folder",
    "skill:refunds skill-description",
    "skill:refunds#2 skill-field",
    "skill:refunds#2 skill-line",
    "skill:refunds#2 skill-duplicate",
    "skill:refunds#3 skill-yaml",
    "skill:refunds#4 skill-quote",
  ]) {
    assert.ok(noted.includes(one), `${one} in ${noted.join(", ")}`);
  }
  refuses(() => Catalog.fromSkills(given, { on_invalid: "raise" }), "MISSING_FIELD", "/5/text");
  for (const wrong of [null, undefined, 7, {}, "x"]) refuses(() => Catalog.fromSkills(wrong), "INVALID_INPUT", "");
});

/** Reads what stands in front of hostile skills, twenty times: what grows with the square of it would take minutes. */
const HOSTILE_SKILLS = `
import { Catalog } from "./entry.mjs";
const inner = 64 * 1024 - 64;
const fronts = [" ".repeat(inner), '"'.repeat(inner), \`a: "\${"\\\\".repeat(inner)}\`, \`a: "\${"\\n".repeat(inner)}\`, \`a: \${"#".repeat(inner)}\`, "a: >\\n".concat("\\n ".repeat(inner / 2)), "- ".repeat(inner / 2), \`a:\\n\${" b: c\\n".repeat(inner / 7)}\`, \`a: '\${"''".repeat(inner / 2)}\`, "a: b\\n\\n".repeat(inner / 6)];
// A long path, and thousands of one name.
const text = "---\\nname: b\\ndescription: b\\n---\\n";
if (Catalog.fromSkills([{ path: "a".repeat(1e6), text }, { path: "/".repeat(1e6) + "skill.m", text }]).size !== 2) throw new Error("paths");
if (Catalog.fromSkills(Array.from({ length: 50_000 }, () => ({ path: "b/SKILL.md", text }))).size !== 50_000) throw new Error("names");
for (let n = 0; n < 20; n += 1) {
  for (const front of fronts) {
    const catalog = Catalog.fromSkills([
      { path: "a/SKILL.md", text: "---\\n" + front + "\\n---\\n" },
      { path: "b/SKILL.md", text: "---\\nname: b\\ndescription: b\\n" + front + "\\n---\\n" },
    ]);
    if (catalog.size > 1) throw new Error(catalog.size + " skills");
    catalog.free();
  }
}
process.stdout.write("read");
`;

test("skills: hostile files cost bounded work", async () => {
  // A process of its own, as nothing ends a loop in this one.
  const { code, stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", HOSTILE_SKILLS], { cwd: folder, timeout: 120_000, check: false });
  assert.deepEqual([code, stdout], [0, "read"], stderr);
});

const CARDS = {
  0.3: {
    protocolVersion: "0.3.0",
    name: "Route Planner",
    description: "Plans routes.",
    url: "https://ann:secret@planner.example.com/a2a?key=abc",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: "https://planner.example.com/a2a", transport: "JSONRPC" },
      { url: "https://planner.example.com/rest", transport: "HTTP+JSON" },
    ],
    provider: { organization: "Maps Inc.", url: "https://maps.example.com" },
    version: "1.2.0",
    capabilities: { streaming: true, pushNotifications: false },
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      google: { type: "openIdConnect", openIdConnectUrl: "https://accounts.example.com" },
      key: { type: "apiKey", in: "header", name: "X-Key", description: "hunter2" },
    },
    security: [{ google: ["openid"] }, { key: [] }],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [
      {
        id: "route",
        name: "Traffic-aware route",
        description: "Finds the fastest way between two places.",
        tags: ["maps", "routing"],
        examples: ["From Berlin to Rome"],
      },
      { id: "map", name: "Custom maps", description: "Draws maps with your own marks.", tags: ["maps"] },
    ],
  },
};
CARDS["1.0"] = {
  ...CARDS["0.3"],
  protocolVersion: undefined,
  url: undefined,
  preferredTransport: undefined,
  additionalInterfaces: undefined,
  supportsAuthenticatedExtendedCard: undefined,
  security: undefined,
  supportedInterfaces: [
    { url: "https://ann:secret@planner.example.com/a2a?key=abc", protocolBinding: "JSONRPC", protocolVersion: "0.3.0" },
    { url: "https://planner.example.com/rest", protocolBinding: "HTTP+JSON", protocolVersion: "0.3.0" },
  ],
  capabilities: { streaming: true, extendedAgentCard: true },
  securitySchemes: {
    google: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://accounts.example.com" } },
    key: { apiKeySecurityScheme: { location: "header", name: "X-Key", description: "hunter2" } },
  },
  securityRequirements: [{ schemes: { google: { list: ["openid"] } } }, { schemes: { key: { list: [] } } }],
};

for (const [version, card] of Object.entries(CARDS)) {
  test(`agent cards of A2A ${version}`, () => {
    const catalog = Catalog.fromAgentCard(card);
    const agent = catalog.get("agent:route_planner");
    assert.deepEqual(
      [agent.kind, agent.name, agent.title, agent.tags, agent.examples],
      ["agent", "route_planner", "Route Planner", ["maps", "routing"], ["From Berlin to Rome"]],
    );
    assert.match(agent.description, /^Plans routes\.\n- Traffic-aware route: Finds the fastest way/);
    const { security, security_schemes, skills, ...rest } = agent.metadata.a2a;
    assert.deepEqual(rest, {
      version: "1.2.0",
      provider: "Maps Inc.",
      interfaces: [
        { url: "https://planner.example.com/a2a", binding: "JSONRPC", protocol_version: "0.3.0" },
        { url: "https://planner.example.com/rest", binding: "HTTP+JSON", protocol_version: "0.3.0" },
      ],
      capabilities: ["streaming", "extendedAgentCard"],
      input_modes: ["text/plain"],
      output_modes: ["text/plain", "application/json"],
    });
    const [google, key] = security_schemes;
    assert.equal(google.type.toLowerCase(), "openidconnect");
    assert.deepEqual(key, { id: "key", type: "apiKey", in: "header", name: "X-Key" });
    assert.deepEqual(security, [[{ ...google, scopes: ["openid"] }], [key]]);
    assert.deepEqual(
      skills.map(({ id }) => id),
      ["route", "map"],
    );
    assert.ok(!/hunter2|secret|abc/.test(JSON.stringify(catalog)));
    assert.deepEqual(findingsOf(catalog), [["agent-address", "warning", "agent:route_planner", ""]]);
    const weather = {
      name: "Weather",
      description: "Tells the weather.",
      url: "https://weather.example.com",
      skills: [{ id: "w", name: "Forecast", description: "Of a week", tags: [] }],
    };
    assert.equal(new Router(Catalog.fromAgentCard([weather, card])).route("the fastest way between two places").candidate_ids[0], "agent:route_planner");
  });
}

test("agent cards: what is missing is told", () => {
  const given = [
    { name: "A" },
    { description: "x" },
    7,
    {
      name: "a",
      skills: [{}, { id: "s" }, ...Array.from({ length: 400 }, () => ({ name: "x".repeat(2000) }))],
      signatures: [{}],
      url: "https://a.example.com",
    },
  ];
  const catalog = Catalog.fromAgentCard(given);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["agent:a", "agent:a#2"],
  );
  const found = catalog.findings().map(({ code, path, index }) => [code, path, index]);
  assert.deepEqual(
    found.filter(([, , index]) => index !== undefined),
    [
      ["agent-invalid", "/1/name", 1],
      ["agent-invalid", "/2", 2],
    ],
  );
  for (const [code, path] of [
    ["agent-description", "/0/description"],
    ["agent-skills", "/0/skills"],
    ["agent-interface", "/0/supportedInterfaces"],
    ["agent-duplicate", "/3/name"],
    ["agent-skills", "/3/skills"],
    ["agent-skill", "/3/skills/0"],
    ["agent-signature", "/3/signatures"],
  ]) {
    assert.ok(
      found.some(([one, at]) => one === code && at === path),
      `${code} at ${path}`,
    );
  }
  refuses(() => Catalog.fromAgentCard(given, { on_invalid: "raise" }), "MISSING_FIELD", "/1/name");
  for (const wrong of [null, undefined, 7]) refuses(() => Catalog.fromAgentCard(wrong), "INVALID_INPUT", "");
  assert.equal(Catalog.fromAgentCard({ name: "漢字", description: "x", url: "https://a.example.com", skills: [] }).items()[0].name, "漢字");
});

test("the program reads the same", async () => {
  const write = async (path, content) => {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  await write("shop.json", shop());
  await write("card.json", CARDS["1.0"]);
  await write("cards.json", [CARDS["0.3"]]);
  await write("shop.yaml", "openapi: 3.1.0\npaths: {}\n");
  await write("skills/refunds/SKILL.md", skill("name: refunds\ndescription: Use when a customer wants money back.").text);
  await write("skills/more/reports/SKILL.md", skill("name: sales\ndescription: Make a report of sales.").text);
  await write("skills/more/broken/SKILL.md", "no front");
  await write("skills/refunds/references/SKILL.md", skill("name: inner\ndescription: Of the skill itself.").text);
  await write("skills/node_modules/x/SKILL.md", skill("name: other\ndescription: Of somebody else.").text);
  await mkdir(join(folder, "empty"), { recursive: true });
  await symlink("..", join(folder, "skills", "more", "up")).catch(() => undefined);
  const cli = (...args) => run(join(folder, "node_modules", ".bin", "contextweaver"), args, { cwd: folder, check: false });
  const ids = async (...args) => JSON.parse((await cli("route", ...args, "--json")).stdout).candidate_ids;

  assert.deepEqual((await ids("shop.json", "cancel the order"))[0], "openapi:DELETE /orders/{id}");
  assert.deepEqual(await ids("card.json", "fastest way between places"), ["agent:route_planner"]);
  assert.deepEqual(await ids("cards.json", "fastest way between places"), ["agent:route_planner"]);
  assert.deepEqual(await ids("skills/", "money back for a customer"), ["skill:refunds"]);
  assert.deepEqual(await ids("skills/refunds/SKILL.md", "money back"), ["skill:refunds"]);
  assert.deepEqual(await ids("shop.json", "skills/", "money back for a customer", "--top", "1"), ["skill:skills/refunds"]);

  const { code, stdout } = await cli("lint", "shop.json", "skills", "--json");
  const found = JSON.parse(stdout).map((finding) => `${finding.file ?? ""} ${finding.code} ${finding.item_id}`.trim());
  for (const one of ["shop.json openapi-cycle openapi:shop/create order", "skills skill-invalid", "skills skill-folder skill:skills/sales"])
    assert.ok(found.includes(one), `${one} in ${found.join(", ")}`);
  assert.equal(code, 1, "a skill could not be read");
  const skills = JSON.parse((await cli("convert", "tools", "skills")).stdout);
  assert.deepEqual(
    skills.items.map(({ id }) => id),
    ["skill:refunds", "skill:sales"],
    "neither a skill's own files nor those of others",
  );

  const converted = JSON.parse((await cli("convert", "tools", "shop.json", "--server", "shop")).stdout);
  assert.deepEqual(
    converted.items.map(({ id }) => id),
    Catalog.fromOpenApi(shop(), { server: "shop" })
      .items()
      .map(({ id }) => id),
  );
  for (const [args, message] of [
    [["lint", "shop.yaml"], /YAML.*yq/],
    [["lint", "empty"], /no SKILL\.md/],
    [["convert", "tools", "shop.json", "--id-form", "name"], /ids have one form/],
    [["lint", "nowhere"], /cannot read nowhere: ENOENT/],
  ]) {
    const refused = await cli(...args);
    assert.equal(refused.code, 2, args.join(" "));
    assert.match(refused.stderr, message);
  }
});
