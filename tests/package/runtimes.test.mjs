// Deno and Bun, where they can be installed.
import { join } from "node:path";
import test from "node:test";
import { has, optionalProgram, printCases, printCasesFromRequire, project, report, run } from "./harness.mjs";

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
