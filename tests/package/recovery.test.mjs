// The way back after a trap, on the modules that the package carries, and then the shared cases again.
import test from "node:test";
import { expected, project, report, run } from "./harness.mjs";

test("the facade survives traps of the engine", async (t) => {
  const folder = await project("recovery", { "main.mjs": main }, { also: ["recovery-cases.mjs"] });
  await report(t, (await run("node", ["main.mjs"], { cwd: folder })).stdout);
});

const main = `
import "./instances.mjs";
import * as cw from "./node_modules/contextweaver/dist/index.js";
import { context as core, decisions, routing } from "./node_modules/contextweaver/dist/boundary/engines.js";
import { runCases } from "./cases.mjs";
import { assert, runAll } from "./assert.mjs";
import { recoveryCases } from "./recovery-cases.mjs";
console.log(JSON.stringify([...(await runAll(recoveryCases, cw, assert, { core, decisions, routing })), ...(await runCases(cw, assert, ${JSON.stringify(expected)}))]));
`;
