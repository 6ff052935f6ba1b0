// Storages of sessions: the same cases on every engine.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as promises from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, here, modernNode, optionalProgram, packageDir, project, report, run, runtimes, temporaryFolder } from "./harness.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
const { fileStore } = await load("node.js");
const { memoryStore } = await load("storage.js");

const folder = await project(
  "storage",
  {
    "main.mjs": `
import * as cw from "contextweaver/node";
import { memoryStore } from "contextweaver/storage";
import { assert } from "./assert.mjs";
import { runStorageCases } from "./storage-contract.mjs";
import { fileEngines, sqliteEngines } from "./storage-engines.mjs";
import { mapBlobs, memoryEngines } from "./storage-faults.mjs";
const [kind, driver, where] = process.argv.slice(2);
const engines = {
  memory: () => memoryEngines(memoryStore),
  files: () => fileEngines(cw),
sqlite: () => sqliteEngines(cw, driver, where === "elsewhere" ? mapBlobs : undefined),
};
console.log(JSON.stringify(await runStorageCases(await engines[kind](), assert)));`,
  },
  { also: ["storage-contract.mjs", "storage-engines.mjs"] },
);
const driver = runtimes && join(runtimes, "node_modules", "better-sqlite3");
if (driver && existsSync(driver)) await promises.symlink(driver, join(folder, "node_modules", "better-sqlite3"));

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

for (const runtime of ["this Node", "Deno", "Bun"]) inRuntime("memory", runtime, ["memory"]);
for (const runtime of ["this Node", "Deno", "Bun"]) inRuntime("files", runtime, ["files"]);
inRuntime("node:sqlite", "Node", ["sqlite", "node:sqlite"]);
inRuntime("node:sqlite, blobs elsewhere", "Node", ["sqlite", "node:sqlite", "elsewhere"]);
inRuntime("node:sqlite", "Deno", ["sqlite", "node:sqlite"]);
inRuntime("bun:sqlite", "Bun", ["sqlite", "bun:sqlite"]);
inRuntime("better-sqlite3", "Node", ["sqlite", "better-sqlite3"]);

test("sessions without a time do not end, and a store's own clock says what time it is", async () => {
  await assert.rejects(
    (async () => {
      const store = memoryStore();
      assert.deepEqual(await store.prune({ max_sessions: 0 }), []);
      await store.session("s").append(0, ["1"]);
      await store.prune({ max_sessions: 0 });
    })(),
    { code: "MISSING_FIELD", path: "/clock" },
  );
  let now = 1_000;
  const store = memoryStore({ clock: () => now });
  await store.session("s").append(0, ["1"]);
  now = 2_000;
  assert.deepEqual(await store.prune({ idle_ms: 1_001 }), []);
  assert.deepEqual(await store.prune({ idle_ms: 1_000 }), [{ id: "s", bytes: 1, blob_bytes: 0, written_at: 1_000 }]);

  // One of a time before the store had a clock.
  for (const id of ["timed", "untimed"]) await store.session(id).append(0, ["1"]);
  const list = store.sessions.bind(store);
  store.sessions = async () => (await list()).map(({ written_at, ...rest }) => (rest.id === "untimed" ? rest : { ...rest, written_at }));
  assert.deepEqual(
    (await store.prune({ max_sessions: 1 })).map(({ id }) => id),
    ["timed"],
  );
});

test("files: where no folder can be made, a write ends with the error of the file system, which names it", async (t) => {
  if (!has(t, process.platform === "linux", { missing: "only Linux has /proc" })) return;
  for (const directory of ["/proc/contextweaver", "/proc/contextweaver/sessions", "/proc"]) {
    const named = (error) => error.code === "ENOENT" && error.path.startsWith(directory === "/proc" ? "/proc/s-a" : "/proc/contextweaver");
    await assert.rejects(fileStore(directory).session("a").append(0, ["1"]), named);
    await assert.rejects(
      fileStore(directory).session("a").putBlob("0".repeat(64), new Uint8Array(1)),
      (error) => error.code === "INVALID_INPUT" || named(error),
    );
  }
  const made = join(await temporaryFolder("deep"), "a", "b", "sessions");
  await fileStore(made).session("a").append(0, ["1"]);
  assert.deepEqual((await fileStore(made).session("a").load()).parts, ["1"]);
});

test("files: of two who find the same place free one writes, and the other is told", async (t) => {
  const place = await temporaryFolder("same");
  t.after(() => promises.rm(place, { recursive: true }));
  /** A file system on which whoever ends a journal, or goes on with it, waits for the other. */
  const meeting = () => {
    let arrived = 0;
    let go;
    const both = new Promise((done) => (go = done));
    const meet = async () => {
      if ((arrived += 1) === 2) go();
      await both;
    };
    return () => ({
      ...promises,
      open: async (path, flags, mode) => {
        const file = await promises.open(path, flags, mode);
        let isFirst = path.endsWith("journal") && flags === "a+";
        return {
          read: (...args) => file.read(...args),
          stat: () => file.stat(),
          sync: () => file.sync(),
          close: () => file.close(),
          write: async (...args) => {
            if (isFirst) await meet();
            isFirst = false;
            return file.write(...args);
          },
        };
      },
    });
  };
  const changes = {
    append: [(session, name) => session.append(2, [name]), (name) => ({ first: 0, parts: ["1", "2", name] })],
    compact: [(session, name) => session.compact(2, [name], []), (name) => ({ first: 2, parts: [name] })],
  };
  for (const one of Object.keys(changes)) {
    for (const other of Object.keys(changes)) {
      const id = `${one}-${other}`;
      await fileStore(place).session(id).append(0, ["1", "2"]);
      const fs = meeting();
      const done = await Promise.allSettled(
        [
          [one, "one"],
          [other, "other"],
        ].map(([method, name]) => changes[method][0](fileStore(place, fs()).session(id), name)),
      );
      assert.deepEqual(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"], id);
      const { reason } = done.find(({ status }) => status === "rejected");
      assert.equal(reason.code, "CONFLICT", reason.stack);
      const winner = done[0].status === "fulfilled" ? [one, "one"] : [other, "other"];
      assert.deepEqual(await fileStore(place).session(id).load(), changes[winner[0]][1](winner[1]), id);
      assert.deepEqual(
        (await promises.readdir(join(place, `s-${id}`))).filter((name) => name.endsWith(".next")),
        [],
        id,
      );
    }
  }
});

test("Durable Object and R2", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  const folder = await project("storage-worker", {}, { also: ["storage-worker.mjs"] });
  const modules = await bundleWorker(join(folder, "storage-worker.mjs"));
  assert.deepEqual(
    modules.map(({ type }) => type),
    ["ESModule"],
    "a module of WebAssembly came along",
  );
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
  await t.test("memory", async (t) => report(t, await get("/memory")));
  await t.test("the cases", async (t) => report(t, await get("/cases")));
  await t.test("the cases, of sessions in one object", async (t) => report(t, await get("/store")));
  await t.test("the cases, evicted between calls", async (t) => report(t, await get("/evicted")));
  await t.test("rows are small, and listings whole", async () => {
    const { listed, sorted, left, rows } = JSON.parse(await get("/rows"));
    assert.deepEqual([listed, sorted, left], [1_203, true, ["other"]]);
    assert.deepEqual(rows, { most: 2 ** 20, count: 2, bytes: 0 });
  });
});
