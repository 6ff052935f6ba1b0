// Schemas of the real Zod, in every form it has.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project, run } from "./harness.mjs";

const { resolve } = createRequire(import.meta.url);
const from = (name) => JSON.stringify(pathToFileURL(resolve(name)));

test("schemas of Zod become JSON Schema, and what they check is checked", async () => {
  const folder = await project("zod", {
    "main.mjs": `
import * as cw from "contextweaver";
import { z } from ${from("zod")};
import * as mini from ${from("zod/mini")};
import { z as old } from ${from("zod/v3")};
const of = (schema, options, key = "schema") => {
  try {
    const { tool } = cw.toolDefinitionToMcp({ name: "a", description: "d", schema: {}, [key]: schema }, options);
    return key === "schema" ? tool.inputSchema : tool.outputSchema;
  } catch (error) {
    return error.details.reason;
  }
};
const full = z.object({ a: z.string().optional(), b: z.number().default(1), c: z.enum(["x"]) });
const tree = z.object({ name: z.string(), get kids() { return z.array(tree); } });
const dated = z.object({ d: z.date() });
console.log(JSON.stringify({
  alone: of(full), given: of(full, { z }), shape: of(full.shape), shapeGiven: of(full.shape, { z }), output: of(full, {}, "outputSchema"),
  mini: of(mini.object({ a: mini.string() }), { z: mini }), miniAlone: of(mini.object({})), old: of(old.object({})),
  tree: of(tree), branches: of({ tree }), dated: of(dated), datedMine: of(dated, { toJsonSchema: () => ({ type: "object" }) }), text: of(z.string()),
  checked: cw.validateArgs(full, { b: "1" }).errors,
}));`,
  });
  const { stdout } = await run("node", ["main.mjs"], { cwd: folder });
  const properties = { a: { type: "string" }, b: { default: 1, type: "number" }, c: { type: "string", enum: ["x"] } };
  const input = { type: "object", properties, required: ["c"] };
  assert.deepEqual(JSON.parse(stdout), {
    alone: input,
    given: input,
    shape: input,
    shapeGiven: input,
    output: { ...input, required: ["b", "c"], additionalProperties: false },
    mini: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    miniAlone: "schema_not_convertible",
    old: "zod3_unsupported",
    tree: { type: "object", properties: { name: { type: "string" }, kids: { type: "array", items: { $ref: "#" } } }, required: ["name", "kids"] },
    branches: "schema_not_convertible",
    dated: "schema_not_convertible",
    datedMine: { type: "object" },
    text: "root_not_object",
    checked: [
      { path: "/b", keyword: "type", expected: "number" },
      { path: "", keyword: "required", expected: "the property `c`" },
    ],
  });
});
