// The way back after a trap, on the variant of the package whose exports can trap, and then the shared cases again.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { expected, has, here, project, report, run, trapTarball } from "./harness.mjs";

test("the facade survives traps of the engine", async (t) => {
  if (!has(t, trapTarball, { missing: "the trap variant was not built" })) return;
  const folder = await project("recovery", { "main.mjs": main }, { from: trapTarball });
  await copyFile(join(here, "recovery-cases.mjs"), join(folder, "recovery-cases.mjs"));
  await report(t, (await run("node", ["main.mjs"], { cwd: folder })).stdout);
});

const main = `
import * as cw from "contextweaver";
import { context as core, decisions, routing } from "./node_modules/contextweaver/dist/node/engines.js";
import { runCases } from "./cases.mjs";
import { assert } from "./assert.mjs";
import { recoveryCases } from "./recovery-cases.mjs";
const results = [];
for (const [name, run] of Object.entries(recoveryCases)) {
  try {
    await run(cw, assert, { core, decisions, routing });
    results.push({ name, ok: true });
  } catch (error) {
    results.push({ name, ok: false, error: String(error?.stack ?? error) });
  }
}
console.log(JSON.stringify([...results, ...(await runCases(cw, assert, ${JSON.stringify(expected)}))]));
`;
