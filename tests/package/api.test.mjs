// The public API on the packed package in Node; all but the last three groups run in every runtime through cases.mjs.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { expected, here, project, report, run } from "./harness.mjs";

/** Names of the groups of cases, with the file and the export of each. */
const GROUPS = {
  behaviour: ["behaviour.mjs", "behaviourCases"],
  stores: ["stores.mjs", "storeCases"],
  "large results": ["results.mjs", "resultCases"],
  catalogs: ["catalog.mjs", "catalogCases"],
  routers: ["routing.mjs", "routingCases"],
  "tools and sessions of MCP": ["mcp.mjs", "mcpCases"],
  "messages and results": ["messages.mjs", "messageCases"],
  "contexts of tool calls": ["tool-call-context.mjs", "contextCases"],
  "secrets of contexts": ["context-leaks.mjs", "leakCases"],
  "definitions of tools": ["tool-definition.mjs", "toolDefinitionCases"],
  "the decision memory": ["decisions.mjs", "decisionCases"],
  "vectors of items": ["embedding.mjs", "embeddingCases"],
  journals: ["journal.mjs", "journalCases"],
  "records and memories that are kept": ["stored.mjs", "storedCases"],
  "hostile values": ["hostile.mjs", "hostileCases"],
  "long journals": ["journal.mjs", "exhaustiveJournalCases"],
  "every hostile value at every entry point": ["hostile-values.mjs", "exhaustiveCases"],
  canaries: ["canaries.mjs", "canaryCases"],
};
const mains = Object.values(GROUPS).map(([file, name]) => [`main-${name}.mjs`, main(file, name)]);
const folder = await project("api", Object.fromEntries(mains));
// Not among the shared cases.
await copyFile(join(here, "canaries.mjs"), join(folder, "canaries.mjs"));

for (const [group, [, name]] of Object.entries(GROUPS)) {
  test(group, async (t) => report(t, await results(`main-${name}.mjs`)));
}

test("the slim entry says that it was not started", async () => {
  const script = `
    import * as cw from "contextweaver/slim";
    for (const use of [() => new cw.ContextManager(), () => cw.countTokens("x"), () => cw.version()]) {
      try { use(); } catch (error) { console.log(cw.ContextWeaverError.is(error), error.code, error.hint); }
    }`;
  const { stdout } = await run("node", ["--input-type=module", "-e", script], { cwd: folder });
  assert.equal(stdout, "true UNSUPPORTED call initSync({ context }) or await init({ context }) of contextweaver/slim first\n".repeat(3));
});

test("the slim entry names what is no module", async () => {
  const script = `
    import * as cw from "contextweaver/slim";
    const told = [];
    for (const source of [null, 5, "x.wasm", {}, Promise.resolve()]) {
      try { cw.initSync({ context: source }); } catch ({ code, path }) { told.push([code, path]); }
      if (source === "x.wasm") continue; // an address
      await cw.init({ context: source }).catch(({ code, path }) => told.push([code, path]));
    }
    console.log(JSON.stringify(told));`;
  const { stdout } = await run("node", ["--input-type=module", "-e", script], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), Array(9).fill(["INVALID_INPUT", "/context"]));
});

test("the slim entry works with one of the modules and names the other", async () => {
  const script = `
    import { readFileSync } from "node:fs";
    import { createRequire } from "node:module";
    import * as cw from "contextweaver/slim";
    const bytes = (name) => new Uint8Array(readFileSync(createRequire(import.meta.url).resolve("contextweaver/" + name)));
    const tell = (use) => {
      try { return use(); } catch (error) { return [error.code, error.path, error.message, error.hint]; }
    };
    const manager = () => new cw.ContextManager().events.count();
    const catalog = () => new cw.Catalog().size;
    const [context, routing] = [bytes("context_bg.wasm"), bytes("routing_bg.wasm")];
    const swapped = [tell(() => cw.initSync({ context: routing, routing: context })), tell(() => cw.initSync({ context, routing: context }))];
    const before = [tell(manager), tell(catalog)];
    const steps = process.argv[1] === "context" ? [{ context }, { routing }] : [{ routing, context: undefined }, { context }];
    const after = [];
    for (const step of steps) {
      if (process.argv[2] === "sync") cw.initSync(step);
      else await cw.init(step);
      after.push([tell(manager), tell(catalog)]);
    }
    console.log(JSON.stringify({ swapped, before, after }));`;
  const noContext = [
    "UNSUPPORTED",
    null,
    "no module for this is loaded: init has not been given context",
    "call initSync({ context }) or await init({ context }) of contextweaver/slim first",
  ];
  const noRouting = [
    "UNSUPPORTED",
    null,
    "no module for this is loaded: init has not been given routing",
    "call initSync({ routing }) or await init({ routing }) of contextweaver/slim first",
  ];
  const wrong = (path, file) => ["INVALID_INPUT", path, `expected the module ${file}, got another one`, null];
  for (const first of ["context", "routing"]) {
    for (const how of ["sync", "async"]) {
      const args = ["--input-type=module", "-e", script, first, how];
      assert.deepEqual(JSON.parse((await run("node", args, { cwd: folder })).stdout), {
        swapped: [wrong("/context", "context_bg.wasm"), wrong("/routing", "routing_bg.wasm")],
        before: [noContext, noRouting],
        after: [first === "context" ? [0, noRouting] : [noContext, 0], [0, 0]],
      });
    }
  }
});

async function results(file) {
  // A rejection that nobody handles would end the process: that is part of what is tested.
  const { stdout, stderr } = await run("node", ["--unhandled-rejections=strict", file], { cwd: folder });
  assert.equal(stderr, "");
  return stdout;
}

function main(file, name) {
  return `
import * as cw from "contextweaver";
import { assert, runAll } from "./assert.mjs";
import { ${name} as list } from "./${file}";
const results = await runAll(list, cw, assert, ${JSON.stringify({ ...expected, tools: 20_000 })});
// Late failures of asynchronous functions must have been caught as well.
await new Promise((later) => setTimeout(later, 20));
console.log(JSON.stringify(results));
`;
}
