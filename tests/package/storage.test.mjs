// Storages of sessions: the same cases on every engine.
import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { assert as plain } from "./assert.mjs";
import { has, modernNode, optionalProgram, packageDir, project, report, run, runtimes } from "./harness.mjs";
import { runStorageCases } from "./storage-contract.mjs";

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
import { fileEngines, mapBlobs, sqliteEngines } from "./storage-engines.mjs";
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
