// The declarations with the oldest TypeScript that the documents name, which is among the optional runtimes.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { has, manifest, optionalProgram, project, root, run } from "./harness.mjs";

test("every entry with the oldest TypeScript that the documents name", async (t) => {
  const runtimes = await readFile(join(root, "docs", "runtimes.md"), "utf8");
  const [, oldest] = /need TypeScript (\d+\.\d+) or later/.exec(runtimes);
  const [, node] = /^\| Node (\d+\.\d+) or later/m.exec(runtimes);
  assert.equal(manifest.engines.node, `>=${node}`);
  const old = await optionalProgram("tsc");
  if (!has(t, old.path, old)) return;
  assert.match((await run(old.path, ["--version"])).stdout, new RegExp(`^Version ${oldest}\\.`));
  const entries = Object.keys(manifest.exports)
    .filter((name) => !/\.(wasm|json)$/.test(name))
    .map((name) => `contextweaver${name.slice(1)}`);
  const lines = [
    ...entries.map((name, at) => `import * as entry${at} from "${name}";`),
    `export const all: object[] = [${entries.map((_, at) => `entry${at}`).join(", ")}];`,
    "const cw = entry0.ContextManager.restore([]);",
    "export const items: number = cw.stats().items;",
    "export const body = new Response(new entry0.Router([]).indexBytes());",
    "// @ts-expect-error a number is no phase",
    "cw.build({ phase: 1 });",
  ];
  const folder = await project("types-oldest", { "index.mts": lines.join("\n") });
  for (const [module, moduleResolution] of [
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler"],
  ]) {
    const compilerOptions = { strict: true, noEmit: true, target: "ES2022", skipLibCheck: false, module, moduleResolution, lib: ["ES2023", "DOM"], types: [] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["index.mts"] }));
    await run(old.path, ["--project", "tsconfig.json"], { cwd: folder });
  }
});
