// Cloudflare Workers' runtime, bundled the way wrangler does it, without a network.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { expected, has, here, project, report } from "./harness.mjs";

const COMPATIBILITY_DATE = "2025-01-01";

test("workerd", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  const folder = await project("workerd", { "worker.mjs": worker });
  const modules = await bundle(folder);
  assert.ok(
    modules.some((module) => module.type === "CompiledWasm"),
    "the workerd entry must import the module instead of carrying it as text",
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

/** The engine starts in global scope, so the first line of `fetch` may use it. */
const worker = `
import * as cw from "contextweaver";
import { runCases } from "./cases.mjs";
import { assert } from "./assert.mjs";
export default {
  async fetch() {
    return Response.json(await runCases(cw, assert, ${JSON.stringify(expected)}));
  },
};
`;

/** wrangler's resolution: its conditions in its order, and every imported .wasm kept as a compiled module. */
async function bundle(folder) {
  const compiled = new Map();
  const keepWasm = {
    name: "keep-wasm",
    setup(build) {
      build.onResolve({ filter: /\.wasm$/ }, (args) => {
        const name = `module-${compiled.size}.wasm`;
        compiled.set(name, join(args.resolveDir, args.path));
        return { path: `./${name}`, external: true };
      });
    },
  };
  const { outputFiles } = await build({
    entryPoints: [join(folder, "worker.mjs")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    plugins: [keepWasm],
    logLevel: "silent",
  });
  const modules = [{ type: "ESModule", path: "/worker.mjs", contents: outputFiles[0].text }];
  for (const [name, path] of compiled) {
    modules.push({ type: "CompiledWasm", path: `/${name}`, contents: await readFile(path) });
  }
  return modules;
}
