// Deployments that carry the files a program needs and nothing else, as @vercel/nft finds them for Vercel, Nuxt, SvelteKit, Astro and the
// standalone output of Next.js: what was copied must run in Node, whose conditions are not the tool's.
import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { nodeFileTrace } from "@vercel/nft";
import { build } from "esbuild";
import { packageDir, project, run, temporaryFolder } from "./harness.mjs";

const PROGRAM = `
  import { ContextManager, DecisionStore, Router } from "contextweaver";
  const manager = new ContextManager();
  manager.ingest({ id: "u", kind: "user_turn", text: "Hello" });
  const { prompt } = manager.build({ phase: "answer", query: "hello", budget_tokens: 100 });
  new DecisionStore();
  new Router([]);
  console.log(prompt);`;
/** Of entries that carry their modules by themselves. */
const PARTS = `
  import { ContextManager } from "contextweaver/context";
  import { messagesToItems } from "contextweaver/convert";
  import { DecisionStore } from "contextweaver/decisions";
  import { Catalog } from "contextweaver/routing";
  const { items } = messagesToItems([{ role: "user", content: "Hello" }], "openai-chat");
  console.log(typeof new ContextManager().build, typeof new DecisionStore().listTools(), items.length, typeof new Catalog([]));`;
/** Entries that only their platform has, or that are no JavaScript. */
const OTHERS = /\.(wasm|json)$|^\.\/(cloudflare-agents|worker)$/;
const { exports } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
const entries = Object.keys(exports).filter((entry) => !OTHERS.test(entry));

test("what a tool copies of every entry runs in Node", async (t) => {
  const [from, to] = [await temporaryFolder("traced"), await temporaryFolder("deployed")];
  t.after(() => Promise.all([from, to].map((folder) => rm(folder, { recursive: true, force: true }))));
  await cp(packageDir, join(from, "node_modules", "contextweaver"), { recursive: true });
  const imports = entries.map((entry) => `import * as e${entries.indexOf(entry)} from "contextweaver${entry.slice(1)}";`);
  await writeFile(join(from, "app.mjs"), `${imports.join("\n")}\n${PROGRAM}`);
  const { fileList } = await nodeFileTrace([join(from, "app.mjs")], { base: from, processCwd: from });
  for (const file of fileList) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await cp(join(from, file), join(to, file));
  }
  for (const flags of [[], ["--no-addons"]]) {
    const { stdout } = await run(process.execPath, [...flags, "app.mjs"], { cwd: to });
    assert.equal(stdout, "[USER]\nHello\n", flags.join());
  }
});

test("a bundler that takes the condition of Node carries the module as text", async (t) => {
  const folder = await project("traced", { "main.mjs": PROGRAM, "parts.mjs": PARTS });
  const elsewhere = await temporaryFolder("traced-bundle");
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  // With a condition of the caller's, esbuild no longer takes `module`.
  const options = { bundle: true, platform: "node", logLevel: "silent", conditions: ["production"] };
  for (const format of ["esm", "cjs"]) {
    const outfile = join(elsewhere, `bundle.${format === "esm" ? "mjs" : "cjs"}`);
    const { warnings } = await build({ ...options, format, entryPoints: [join(folder, "main.mjs")], outfile });
    assert.deepEqual(warnings, []);
    assert.doesNotMatch(await readFile(outfile, "utf8"), /createRequire/, "what tools read is left away");
    assert.equal((await run(process.execPath, [outfile], { cwd: elsewhere })).stdout, "[USER]\nHello\n");
    await build({ ...options, format, entryPoints: [join(folder, "parts.mjs")], outfile });
    assert.equal((await run(process.execPath, [outfile], { cwd: elsewhere })).stdout, "function object 1 object\n");
  }
});
