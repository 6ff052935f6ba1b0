// The entries of edge functions, as Next.js and Vercel run them: in a sandbox of its own that compiles nothing, with modules that the host
// has compiled outside of it, which are no instances of the sandbox's classes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { packageDir, project } from "./harness.mjs";

const folder = await project("edge-light", {
  "entry.mjs": `
    import { Catalog, ContextManager, Router, countTokens, version } from "contextweaver";
    import { contextWeaver } from "contextweaver/ai-sdk";
    import { DecisionStore } from "contextweaver/decisions";
    globalThis.run = () => {
      const manager = new ContextManager();
      manager.ingest({ id: "u", kind: "user_turn", text: "Hello" });
      const { prompt } = manager.build({ phase: "answer", query: "hello", budget_tokens: 100 });
      const router = new Router([{ id: "mail.send", kind: "tool", name: "send", description: "Send a letter" }]);
      const { candidate_ids } = router.route("send a letter");
      const store = new DecisionStore();
      const middleware = contextWeaver({ budget_tokens: 4_000 });
      return JSON.stringify([version(), countTokens("hello world"), prompt, candidate_ids, typeof store.listTools(), typeof middleware.wrapStream]);
    };`,
  "slim.mjs": `
    import { ContextManager, init, initSync } from "contextweaver/slim";
    globalThis.runSync = (modules) => (initSync(modules), typeof new ContextManager().build);
    globalThis.runAsync = async (modules) => (await init(modules), typeof new ContextManager().build);`,
});

/** Bundles an entry as for the edge; returns its script and the modules that it imports, by the name of the global that holds each. */
async function bundled(entry) {
  const modules = new Map();
  const plugin = {
    name: "modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path.slice(0, -"?module".length)), namespace: "module" }));
      onLoad({ filter: /./, namespace: "module" }, async ({ path }) => {
        const name = `wasm_${basename(path, ".wasm")}`;
        modules.set(name, await WebAssembly.compile(await readFile(path)));
        return { contents: `export default globalThis.${name};` };
      });
    },
  };
  const options = { bundle: true, write: false, format: "iife", conditions: ["edge-light"], logLevel: "silent", plugins: [plugin] };
  const { outputFiles } = await build({ ...options, entryPoints: [join(folder, entry)] });
  return { script: outputFiles[0].text, modules };
}

/** A realm with what edge functions have, which compiles neither scripts nor modules. */
function sandbox(modules) {
  const platform = { TextEncoder, TextDecoder, URL, crypto, performance, structuredClone, setTimeout, clearTimeout, queueMicrotask, console };
  return createContext({ ...platform, ...Object.fromEntries(modules) }, { codeGeneration: { strings: false, wasm: false } });
}

test("an edge function runs on modules that its host has compiled", async () => {
  const { script, modules } = await bundled("entry.mjs");
  assert.deepEqual([...modules.keys()].sort(), ["wasm_agent_bg", "wasm_decisions_bg", "wasm_routing_bg"]);
  const realm = sandbox(modules);
  assert.equal(runInContext("wasm_agent_bg instanceof WebAssembly.Module", realm), false, "the realms are one");
  runInContext(script, realm);
  const { version } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
  assert.deepEqual(JSON.parse(runInContext("run()", realm)), [version, 2, "[USER]\nHello", ["mail.send"], "object", "function"]);
});

test("the slim entry takes modules and bytes of another realm", async () => {
  const { script } = await bundled("slim.mjs");
  const bytes = await readFile(join(packageDir, "dist", "wasm", "context_bg.wasm"));
  const module = await WebAssembly.compile(bytes);
  for (const call of ["runSync", "runAsync"]) {
    const realm = sandbox([]);
    runInContext(script, realm);
    assert.equal(await realm[call]({ context: module }), "function");
  }
  const realm = createContext({ TextEncoder, TextDecoder, URL, crypto, performance, structuredClone, console });
  runInContext(script, realm);
  assert.equal(await realm.runAsync({ context: new Uint8Array(bytes).buffer }), "function");
});
