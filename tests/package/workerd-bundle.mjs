// Bundles a Worker the way wrangler does, without wrangler: its conditions in its order, and every imported .wasm kept
// as a compiled module. Returns the modules for miniflare.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

export async function bundleWorker(entry, { minify = false, external = [], nodePaths = [] } = {}) {
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
    entryPoints: [entry],
    bundle: true,
    minify,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", ...external],
    nodePaths,
    plugins: [keepWasm],
    logLevel: "silent",
  });
  const modules = [{ type: "ESModule", path: "/worker.mjs", contents: outputFiles[0].text }];
  for (const [name, path] of compiled) {
    modules.push({ type: "CompiledWasm", path: `/${name}`, contents: await readFile(path) });
  }
  return modules;
}
