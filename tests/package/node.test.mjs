// Node: require, the slim entry and the command line program; what is imported is in api.test.mjs.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { expected, printCasesFromRequire, project, report, run } from "./harness.mjs";

test("Node, require()", async (t) => {
  const folder = await project("node-cjs", { "main.cjs": printCasesFromRequire }, { type: "commonjs" });
  await report(t, (await run("node", ["main.cjs"], { cwd: folder })).stdout);
});

test("Node, slim entry", async (t) => {
  const folder = await project("node-slim", {
    "sync.mjs": slim(ALL, `cw.initSync({ agent, routing, decisions }); cw.initSync({ agent, decisions });`),
    "async.mjs": slim(SOME, `await cw.init({ agent: WebAssembly.compile(agent), routing, decisions }); await cw.init({ agent });`),
    "response.mjs": slim(
      SOME,
      `
      const response = (bytes) => new Response(bytes, { headers: { "content-type": "application/wasm" } });
      await cw.init({ agent: response(agent), routing: Promise.resolve(response(routing)), decisions });`,
    ),
  });
  for (const file of ["sync.mjs", "async.mjs", "response.mjs"]) {
    const { stdout } = await run("node", [file], { cwd: folder });
    await t.test(file, (t) => report(t, stdout));
  }
});

test("Node, the exports of the modules", async (t) => {
  const folder = await project(
    "node-exports",
    {
      "main.mjs": `
import { runExportCases } from "./exports.mjs";
import { assert } from "./assert.mjs";
console.log(JSON.stringify(await runExportCases("./node_modules/contextweaver/dist", assert, ${JSON.stringify(expected)})));`,
    },
    { also: ["exports.mjs"] },
  );
  await report(t, (await run("node", ["main.mjs"], { cwd: folder })).stdout);
});

test("Node, the command line program", async () => {
  const folder = await project("node-bin");
  const { stdout } = await run(join(folder, "node_modules/.bin/contextweaver"), ["--version"], { cwd: folder });
  assert.ok(stdout.includes(expected.version), stdout);
});

const ALL = `import { runCases } from "./cases.mjs";`;
/** Of each module a part: however they were started, they are the same. */
const SOME = `
import { behaviourCases } from "./behaviour.mjs";
import { decisionCases } from "./decisions.mjs";
import { routingCases } from "./routing.mjs";
const runCases = (...given) => runAll({ ...behaviourCases, ...routingCases, ...decisionCases }, ...given);`;

/** Refuses use before init with a clear error, starts as `init` says, then runs the cases that `cases` imports. */
function slim(cases, init) {
  return `
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import * as cw from "contextweaver/slim";
import { assert, runAll } from "./assert.mjs";
${cases}
const { resolve } = createRequire(import.meta.url);
const read = async (name) => new Uint8Array(await readFile(resolve("contextweaver/" + name)));
const [agent, routing, decisions] = [await read("agent_bg.wasm"), await read("routing_bg.wasm"), await read("decisions_bg.wasm")];
assert.throws(() => cw.version(), /init/);
${init}
console.log(JSON.stringify(await runCases(cw, assert, ${JSON.stringify(expected)})));
`;
}
