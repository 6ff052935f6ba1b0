// Bundles for Node, made without any setting; bundles for the browser are in chromium.test.mjs.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { printCases, project, report, run } from "./harness.mjs";

const folder = await project("bundlers", { "main.mjs": printCases, "unused.mjs": `import "contextweaver";` });
const common = { bundle: true, platform: "node", logLevel: "silent" };

for (const [format, name] of [
  ["esm", "bundle.mjs"],
  ["cjs", "bundle.cjs"],
]) {
  test(`esbuild, one ${format} file`, async (t) => {
    // Far from the project, so that nothing can be found but the bundle.
    const elsewhere = await mkdtemp(join(tmpdir(), "contextweaver-bundle-"));
    t.after(() => rm(elsewhere, { recursive: true }));
    const { warnings } = await build({
      ...common,
      entryPoints: [join(folder, "main.mjs")],
      format,
      outfile: join(elsewhere, name),
    });
    assert.deepEqual(warnings, []);
    await report(t, (await run("node", [name], { cwd: elsewhere })).stdout);
  });
}

test("esbuild keeps the start of the engine when only side effects are imported", async () => {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join(folder, "unused.mjs")],
    minify: true,
    write: false,
    format: "esm",
  });
  assert.ok(outputFiles[0].text.length > 1000, "the entry was dropped: package.json's sideEffects is wrong");
});
