// The public API on the packed package in Node; the same cases run in every runtime through cases.mjs.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { here, project, report, run } from "./harness.mjs";

const SHARED = ["behaviour.mjs", "stores.mjs", "results.mjs", "hostile.mjs", "hostile-callbacks.mjs", "hostile-limits.mjs", "hostile-values.mjs"];
const folder = await project("api", {
  "behaviour-main.mjs": main("behaviour.mjs", "behaviourCases"),
  "stores-main.mjs": main("stores.mjs", "storeCases"),
  "results-main.mjs": main("results.mjs", "resultCases"),
  "hostile-main.mjs": main("hostile.mjs", "hostileCases"),
});
for (const file of SHARED) await copyFile(join(here, file), join(folder, file));

test("behaviour", async (t) => report(t, await results("behaviour-main.mjs")));
test("stores", async (t) => report(t, await results("stores-main.mjs")));
test("large results", async (t) => report(t, await results("results-main.mjs")));
test("hostile values", async (t) => report(t, await results("hostile-main.mjs")));

test("the slim entry says that it was not started", async () => {
  const script = `
    import * as cw from "contextweaver/slim";
    for (const use of [() => new cw.ContextManager(), () => cw.countTokens("x"), () => cw.version()]) {
      try { use(); } catch (error) { console.log(cw.ContextWeaverError.is(error), error.code, error.hint); }
    }`;
  const { stdout } = await run("node", ["--input-type=module", "-e", script], { cwd: folder });
  assert.equal(stdout, "true UNSUPPORTED call initSync(module) or await init(source) of contextweaver/slim first\n".repeat(3));
});

async function results(file) {
  // A rejection that nobody handles would end the process: that is part of what is tested.
  return (await run("node", ["--unhandled-rejections=strict", file], { cwd: folder })).stdout;
}

function main(file, name) {
  return `
import * as cw from "contextweaver";
import { assert } from "./assert.mjs";
import { runHostileCases } from "./hostile.mjs";
import { ${name} as list } from "./${file}";
const results = await runHostileCases(cw, assert, list);
// Late failures of asynchronous functions must have been caught as well.
await new Promise((later) => setTimeout(later, 20));
console.log(JSON.stringify(results));
`;
}
