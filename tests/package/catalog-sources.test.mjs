// Catalogs of tools as frameworks and providers have them: their own objects, with schemas of their own kinds.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { DynamicTool, tool as langChainTool } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { dynamicTool, jsonSchema, tool } from "ai";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { project } from "./harness.mjs";

const folder = await project("catalog-sources", { "entry.mjs": `export { Catalog, ContextWeaverError, Router } from "contextweaver";` });
const { Catalog, ContextWeaverError, Router } = await import(pathToFileURL(join(folder, "entry.mjs")));

const REFUND = z.object({ order: z.string().describe("Number of the order"), amount: z.number().optional() });
const parameters = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };

/** Code, place and path of each finding. */
const findingsOf = (catalog) => catalog.findings().map(({ code, index, item_id, path }) => [code, index, item_id, path]);

function refuses(make, code, path) {
  assert.throws(make, (error) => {
    assert.ok(ContextWeaverError.is(error), String(error));
    assert.deepEqual([error.code, error.path], [code, path], error.message);
    return true;
  });
}

test("LangChain: schemas of Zod 4 and JSON Schema, tools of text, records of providers", () => {
  const run = async () => "done";
  const tools = [
    langChainTool(run, { name: "refund", description: "Refund an order", schema: REFUND }),
    langChainTool(run, { name: "archive", description: "Archive a mail", schema: parameters }),
    new DynamicTool({ name: "search", description: "Search the handbook", func: run }),
    { type: "function", function: { name: "ship", description: "Ship an order", parameters } },
    { name: "count", description: "Count the orders", input_schema: parameters },
  ];
  const catalog = Catalog.fromLangChain(tools);
  assert.deepEqual(catalog.findings(), []);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["archive", "count", "refund", "search", "ship"],
  );
  const { name, description, args_schema } = catalog.get("refund");
  assert.deepEqual([name, description], ["refund", "Refund an order"]);
  assert.deepEqual(args_schema.properties, { order: { type: "string", description: "Number of the order" }, amount: { type: "number" } });
  assert.deepEqual(args_schema.required, ["order"]);
  for (const id of ["archive", "ship", "count"]) assert.deepEqual(catalog.get(id).args_schema, parameters);
  assert.deepEqual(catalog.get("search").args_schema.properties, { input: { type: "string" } });
  // The route names tools as the framework does.
  assert.equal(new Router(catalog).route("refund an order").candidate_ids[0], "refund");
});

test("LangChain: what cannot be read is left out and told, or raised", () => {
  const old = langChainTool(async () => 1, { name: "old", description: "Of Zod 3", schema: z3.object({ order: z3.string() }) });
  const one = { name: "one", description: "One", schema: parameters };
  const tools = [null, old, { ...one, name: " " }, { type: "web_search", name: "web" }, one, { ...one, description: 7 }, one];
  const catalog = Catalog.fromLangChain(tools);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["one"],
  );
  assert.deepEqual(findingsOf(catalog), [
    ["tool-invalid", 0, "", ""],
    ["tool-invalid", 1, "old", "/schema"],
    ["tool-invalid", 2, " ", "/name"],
    ["tool-hosted", 3, "web", ""],
    ["tool-invalid", 5, "one", "/description"],
    ["duplicate-id", 6, "one", "/id"],
  ]);
  assert.match(catalog.findings()[1].message, /Zod 3 are not supported.*toJsonSchema/);
  refuses(() => Catalog.fromLangChain(tools, { on_invalid: "raise" }), "INVALID_INPUT", "/0");
  refuses(() => Catalog.fromLangChain([old], { on_invalid: "raise" }), "UNSUPPORTED", "/0/schema");
  refuses(() => Catalog.fromLangChain([{ type: "web_search" }, one, one], { on_invalid: "raise" }), "DUPLICATE_ID", "/2/id");
  // The framework's own function makes JSON Schema of Zod 3.
  const converted = Catalog.fromLangChain([old], { toJsonSchema });
  assert.deepEqual(converted.get("old").args_schema.properties, { order: { type: "string" } });
});

test("AI SDK: tools by name, with schemas of every kind", () => {
  const execute = async () => 1;
  const catalog = Catalog.fromAiSdk({
    refund: tool({ description: "Refund an order", inputSchema: REFUND, execute }),
    archive: tool({ description: "Archive a mail", inputSchema: jsonSchema(parameters), execute }),
    late: tool({ description: "Ship an order", inputSchema: () => jsonSchema(parameters), execute }),
    dynamic: dynamicTool({ description: "Count the orders", inputSchema: z.object({}), execute }),
    pending: tool({ inputSchema: jsonSchema(Promise.resolve(parameters)), execute }),
    hosted: { type: "provider", id: "openai.web_search", args: {} },
    broken: 7,
  });
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["archive", "dynamic", "late", "refund"],
  );
  assert.deepEqual(catalog.get("refund").args_schema.required, ["order"]);
  for (const id of ["archive", "late"]) assert.deepEqual(catalog.get(id).args_schema, parameters);
  assert.deepEqual(findingsOf(catalog), [
    ["tool-invalid", 4, "", "/inputSchema"],
    ["tool-hosted", 5, "hosted", ""],
    ["tool-invalid", 6, "", ""],
  ]);
  refuses(() => Catalog.fromAiSdk({ broken: 7 }, { on_invalid: "raise" }), "INVALID_INPUT", "/broken");
});

test("OpenAI: tools of chat completions and of Responses", () => {
  const own = (name) => ({ name, description: `Do ${name}`, parameters });
  const catalog = Catalog.fromOpenAI([
    { type: "function", function: own("chat") },
    { type: "function", ...own("responses"), strict: true },
    { type: "function", name: "bare" },
    { type: "custom", custom: { name: "custom", description: "Run a script" } },
    { type: "custom", name: "grammar", description: "Run a query", format: { type: "text" } },
    { type: "web_search" },
    { type: "function", function: { description: "nameless" } },
    { type: "function", name: "wrong", parameters: "none" },
  ]);
  assert.deepEqual(
    catalog.items().map(({ id }) => id),
    ["bare", "chat", "custom", "grammar", "responses"],
  );
  for (const id of ["chat", "responses"]) assert.deepEqual(catalog.get(id).args_schema, parameters);
  assert.deepEqual(findingsOf(catalog), [
    ["tool-hosted", 5, "", ""],
    ["tool-invalid", 6, "", "/function/name"],
    ["tool-invalid", 7, "wrong", "/parameters"],
  ]);
});

test("what is no list, and options that are none", () => {
  refuses(() => Catalog.fromOpenAI({}), "INVALID_INPUT", undefined);
  refuses(() => Catalog.fromLangChain(undefined), "INVALID_INPUT", undefined);
  refuses(() => Catalog.fromAiSdk([]), "INVALID_INPUT", undefined);
  refuses(() => Catalog.fromOpenAI([], { strict: true }), "UNKNOWN_FIELD", "/strict");
  refuses(() => Catalog.fromOpenAI([], { on_invalid: "ignore" }), "INVALID_INPUT", "/on_invalid");
  refuses(() => Catalog.fromOpenAI([], { toJsonSchema: 1 }), "INVALID_INPUT", "/toJsonSchema");
});

/** A schema in a schema, so many times. */
const nested = (levels) => {
  let schema = { type: "string" };
  for (let at = 0; at < levels; at += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
};

test("what JSON cannot carry of one tool does not cost the others", () => {
  const ok = { name: "ok", description: "Fine", inputSchema: { type: "object" } };
  const half = { name: "half", description: "cut \ud83d", inputSchema: { type: "object" } };
  const deep = { name: "deep", description: "Deep", inputSchema: nested(60) };
  for (const wrapped of [(tools) => tools, (tools) => ({ tools }), (tools) => ({ jsonrpc: "2.0", id: 1, result: { tools } })]) {
    const catalog = Catalog.fromMcp(wrapped([half, deep, ok, { description: "nameless" }]), { server: "s" });
    assert.deepEqual(
      catalog.items().map(({ id, description }) => [id, description]),
      [
        ["mcp:s/half", "cut \ufffd"],
        ["mcp:s/ok", "Fine"],
      ],
    );
    assert.deepEqual(
      findingsOf(catalog).map(([code, index]) => [code, index]),
      [
        ["text-repaired", 0],
        ["tool-invalid", 1],
        ["tool-invalid", 3],
      ],
    );
  }
  // A level above those that the engine reads, and below those that are written.
  const between = findingsOf(Catalog.fromMcp([{ ...deep, inputSchema: nested(33) }, ok]));
  assert.deepEqual([between.length, between[0].slice(0, 2)], [1, ["tool-invalid", 0]]);
  assert.equal(Catalog.fromMcp([half, ok], { on_invalid: "raise" }).size, 2);
  refuses(() => Catalog.fromMcp([half, deep], { on_invalid: "raise" }), "INVALID_INPUT", "/0/description");

  const large = { ...ok, name: "large", description: "x".repeat(25 * 2 ** 20) };
  const functions = [half, large, ok].map(({ name, description, inputSchema: schema }) => ({ type: "function", name, description, parameters: schema }));
  const catalog = Catalog.fromOpenAI(functions);
  assert.deepEqual(
    catalog.items().map(({ id, description }) => [id, description]),
    [
      ["half", "cut \ufffd"],
      ["ok", "Fine"],
    ],
  );
  const [left, repaired] = findingsOf(catalog);
  assert.deepEqual(
    [left.slice(0, 3), repaired],
    [
      ["tool-invalid", 1, ""],
      ["text-repaired", undefined, "half", "/description"],
    ],
  );
  assert.equal(Catalog.fromOpenAI([functions[0], functions[2]], { on_invalid: "raise" }).size, 2);
  assert.throws(() => Catalog.fromOpenAI(functions, { on_invalid: "raise" }), { code: "INVALID_INPUT", path: "/0/description" });
});
