// Storages of sessions: the same cases on every engine.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { assert as plain } from "./assert.mjs";
import { has, here, modernNode, optionalProgram, packageDir, project, report, run, runtimes } from "./harness.mjs";
import { runStorageCases } from "./storage-contract.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const { memoryStore } = await import(pathToFileURL(join(packageDir, "dist", "storage.js")));

test("memory", async (t) => {
  const open = () => {
    const store = memoryStore({ clock: Date.now });
    const session = (id) => store.session(id);
    return { session, other: session, store: () => store };
  };
  await report(t, await runStorageCases(open, plain));
});

const folder = await project("storage", {
  "main.mjs": `
import * as cw from "contextweaver/node";
import { assert } from "./assert.mjs";
import { runStorageCases } from "./storage-contract.mjs";
import { fileEngines, sqliteEngines } from "./storage-engines.mjs";
import { mapBlobs } from "./storage-faults.mjs";
const [kind, driver, where] = process.argv.slice(2);
const engines = {
  files: () => fileEngines(cw),
sqlite: () => sqliteEngines(cw, driver, where === "elsewhere" ? mapBlobs : undefined),
};
console.log(JSON.stringify(await runStorageCases(await engines[kind](), assert)));`,
}, { also: ["storage-contract.mjs", "storage-engines.mjs"] });
const driver = runtimes && join(runtimes, "node_modules", "better-sqlite3");
if (driver && existsSync(driver)) await symlink(driver, join(folder, "node_modules", "better-sqlite3"));

const node = await modernNode();
const deno = await optionalProgram("deno");
const bun = await optionalProgram("bun");
const PROGRAMS = {
  "this Node": { path: process.execPath, args: [] },
  Node: { ...node, args: ["--no-warnings"] },
  Deno: { ...deno, args: ["run", "-A", "--cached-only", "--node-modules-dir=manual"] },
  Bun: { ...bun, args: [] },
};

/** Runs the cases on an engine in a runtime. */
function inRuntime(name, runtime, args) {
  test(`${name}, ${runtime}`, async (t) => {
    const { path, missing, args: before } = PROGRAMS[runtime];
    if (!has(t, path, { missing, optional: true })) return;
    const env = { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") };
    await report(t, (await run(path, [...before, "main.mjs", ...args], { cwd: folder, env })).stdout);
  });
}

inRuntime("files", "this Node", ["files"]);
inRuntime("files", "Deno", ["files"]);
inRuntime("files", "Bun", ["files"]);
inRuntime("node:sqlite", "Node", ["sqlite", "node:sqlite"]);
inRuntime("node:sqlite, blobs elsewhere", "Node", ["sqlite", "node:sqlite", "elsewhere"]);
inRuntime("node:sqlite", "Deno", ["sqlite", "node:sqlite"]);
inRuntime("bun:sqlite", "Bun", ["sqlite", "bun:sqlite"]);
inRuntime("better-sqlite3", "Node", ["sqlite", "better-sqlite3"]);

test("Durable Object and R2", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  const folder = await project("storage-worker", {}, { also: ["storage-worker.mjs"] });
  const modules = await bundleWorker(join(folder, "storage-worker.mjs"));
  assert.deepEqual(modules.map(({ type }) => type), ["ESModule"], "a module of WebAssembly came along");
  const miniflare = new Miniflare({
    modules,
    modulesRoot: "/",
    compatibilityDate: "2025-01-01",
    durableObjects: { SESSION: { className: "Session", useSQLite: true } },
    r2Buckets: ["BUCKET"],
  });
  t.after(() => miniflare.dispose());
  const get = async (path) => {
    const response = await miniflare.dispatchFetch(`http://localhost${path}`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  };
  await t.test("the cases", async (t) => report(t, await get("/cases")));
  await t.test("the cases, evicted between calls", async (t) => report(t, await get("/evicted")));
  await t.test("rows are small, and listings whole", async () => {
    const { listed, sorted, left, rows } = JSON.parse(await get("/rows"));
    assert.deepEqual([listed, sorted, left], [1_203, true, ["other"]]);
    assert.deepEqual(rows, { most: 2 ** 20, count: 2, bytes: 0 });
  });
});
