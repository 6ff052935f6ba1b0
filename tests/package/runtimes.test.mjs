// Deno and Bun, where they can be installed.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { has, optionalProgram, printCases, printCasesFromRequire, project, report, run, temporaryFolder } from "./harness.mjs";

test("Deno, without any permission", async (t) => {
  const deno = await optionalProgram("deno");
  if (!has(t, deno.path, { ...deno, optional: true })) return;
  const folder = await project("deno", { "main.mjs": printCases });
  const env = { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") };
  const args = ["run", "--no-prompt", "--cached-only", "--node-modules-dir=manual", "main.mjs"];
  await report(t, (await run(deno.path, args, { cwd: folder, env })).stdout);
});

test("Bun, import", async (t) => {
  const bun = await optionalProgram("bun");
  if (!has(t, bun.path, { ...bun, optional: true })) return;
  const folder = await project("bun-esm", { "main.mjs": printCases });
  await report(t, (await run(bun.path, ["main.mjs"], { cwd: folder })).stdout);
});

test("Bun, require()", async (t) => {
  const bun = await optionalProgram("bun");
  if (!has(t, bun.path, { ...bun, optional: true })) return;
  const folder = await project("bun-cjs", { "main.cjs": printCasesFromRequire }, { type: "commonjs" });
  await report(t, (await run(bun.path, ["main.cjs"], { cwd: folder })).stdout);
});

test("Bun, one file of its bundler, and a program of its own", async (t) => {
  const bun = await optionalProgram("bun");
  if (!has(t, bun.path, { ...bun, optional: true })) return;
  // The cases are the same as those above: what is asked here is whether each module is found.
  const folder = await project("bun-bundle", {
    "main.mjs": `
      import { ContextManager, DecisionStore, Router, itemsToMessages } from "contextweaver";
      const manager = new ContextManager();
      manager.ingest({ id: "u", kind: "user_turn", text: "Hello" });
      const { prompt } = manager.build({ phase: "answer", query: "hello", budget_tokens: 100 });
      console.log(JSON.stringify(prompt), typeof new Router([]).route, typeof new DecisionStore().listTools(), typeof itemsToMessages);`,
  });
  const isRun = ({ stdout }) => assert.equal(stdout, '"[USER]\\nHello" function object function\n');
  // Far from the project, so that nothing can be found but the file.
  const elsewhere = await temporaryFolder("bun");
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  for (const [target, program] of [
    ["bun", bun.path],
    ["node", process.execPath],
  ]) {
    const file = join(elsewhere, `${target}.mjs`);
    await run(bun.path, ["build", "main.mjs", `--target=${target}`, `--outfile=${file}`], { cwd: folder });
    isRun(await run(program, [file], { cwd: elsewhere }));
  }
  const file = join(elsewhere, "program");
  await run(bun.path, ["build", "main.mjs", "--compile", `--outfile=${file}`], { cwd: folder });
  isRun(await run(file, [], { cwd: elsewhere }));
});
