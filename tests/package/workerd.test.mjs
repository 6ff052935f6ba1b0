// Cloudflare Workers' runtime, bundled the way wrangler does it, without a network.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { expected, has, here, project, report } from "./harness.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const COMPATIBILITY_DATE = "2025-01-01";

test("workerd", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  const folder = await project("workerd", { "worker.mjs": worker });
  const modules = await bundleWorker(join(folder, "worker.mjs"));
  assert.equal(
    modules.filter((module) => module.type === "CompiledWasm").length,
    3,
    "the workerd entry must import the modules instead of carrying them as text",
  );
  const miniflare = new Miniflare({ modules, modulesRoot: "/", compatibilityDate: COMPATIBILITY_DATE });
  try {
    const response = await miniflare.dispatchFetch("http://localhost/");
    const text = await response.text();
    assert.equal(response.status, 200, text);
    await report(t, text);
  } finally {
    await miniflare.dispose();
  }
});

test("a Worker carries the module of the entry that it imports, and no other", async (t) => {
  const uses = {
    context: `new cw.ContextManager().build({ phase: "answer" }).prompt === ""`,
    convert: `cw.messagesToItems([{ role: "user", content: "hi" }], "openai-chat").items.length === 1`,
    routing: `new cw.Catalog().size === 0`,
    decisions: `new cw.DecisionStore().listTools().length > 0`,
  };
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  for (const [entry, use] of Object.entries(uses)) {
    const folder = await project(`workerd-${entry}`, {
      "worker.mjs": `import * as cw from "contextweaver/${entry}"; export default { fetch: () => new Response(String(${use})) };`,
    });
    const modules = await bundleWorker(join(folder, "worker.mjs"));
    const carried = modules.filter((module) => module.type === "CompiledWasm");
    const file = await readFile(join(folder, "node_modules/contextweaver/dist/wasm", `${entry}_bg.wasm`));
    assert.equal(carried.length, 1, entry);
    assert.ok(file.equals(carried[0].contents), entry);
    const miniflare = new Miniflare({ modules, modulesRoot: "/", compatibilityDate: COMPATIBILITY_DATE });
    try {
      assert.equal(await (await miniflare.dispatchFetch("http://localhost/")).text(), "true", entry);
    } finally {
      await miniflare.dispose();
    }
  }
});

/** The engine starts with the first call; in global scope, too, where a Worker may not do much. */
const worker = `
import * as cw from "contextweaver";
import { runCases } from "./cases.mjs";
import { assert } from "./assert.mjs";
import { tools } from "./routing.mjs";
const catalog = new cw.Catalog(tools());
// As a Worker would have it from a file: the index is not built again.
const index = new cw.Router(tools()).indexBytes();
const router = new cw.Router(catalog, { index });
export default {
  async fetch() {
    assert.equal(catalog.size, 6);
    assert.equal(router.route("create an invoice").candidate_ids[0], "billing.create_invoice");
    return Response.json(await runCases(cw, assert, ${JSON.stringify(expected)}));
  },
};
`;
