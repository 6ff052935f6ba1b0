// Measures sessions that are kept: what a turn writes, how long opening takes, and what the service does in a second.
//
//   node benches/sessions.mjs [--package <folder of the built package>] [--long]
//
// The journal is measured in this process, medians of 5. The service is measured from outside, one request after the other in
// each of four sessions at a time: `contextweaver serve` over files, and the Worker of `examples/worker` in workerd. A turn appends
// a question, a call, its result and an answer, and builds the prompt. Needs the packages of tests/package.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({ options: { package: { type: "string", default: join(home, "pkg") }, long: { type: "boolean", default: false } } });
const installed = resolve(args.package);
const { ContextManager } = await import(pathToFileURL(join(installed, "dist/node/index.js")));
const { sessionClient } = await import(pathToFileURL(join(installed, "dist/service.js")));

const TOKEN = "a-token-for-the-bench";
const turn = (n) => [
  { id: `u${n}`, kind: "user_turn", text: `turn ${n}: where is order ${10_000 + n}, and who sent it to the wrong address?` },
  { id: `c${n}`, kind: "tool_call", text: `orders({"id":${10_000 + n}})`, parent_id: `u${n}`, metadata: { tool_name: "orders" } },
  { id: `r${n}`, kind: "tool_result", text: `{"id":${10_000 + n},"state":"sent","city":"Lisbon","lines":[${n},${n + 1}]}`, parent_id: `c${n}` },
  { id: `a${n}`, kind: "agent_msg", text: `Order ${10_000 + n} was sent to Lisbon on day ${n % 30}; ${n % 7} lines.` },
];
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const part = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const timed = (run) => {
  const began = performance.now();
  const value = run();
  return [performance.now() - began, value];
};

function journal(items) {
  const manager = new ContextManager();
  manager.ingestAll(Array.from({ length: items / 4 }, (_, n) => turn(n)).flat());
  const [, whole] = timed(() => manager.exportSince());
  const fresh = turn(items);
  manager.ingestAll(fresh);
  const exports = Array.from({ length: 5 }, () => timed(() => manager.exportSince(whole.cursor)));
  const { changes } = exports[0][1];
  const lines = [...whole.changes, ...changes];
  const restores = Array.from({ length: 5 }, () => timed(() => ContextManager.restore(lines).free())[0]);
  const text = JSON.stringify(manager);
  const snapshots = Array.from({ length: 5 }, () => timed(() => ContextManager.fromJSON(text).free())[0]);
  const saves = Array.from({ length: 5 }, () => timed(() => JSON.stringify(manager))[0]);
  manager.free();
  const written = changes.join("").length;
  return {
    items,
    "turn, bytes": written,
    "of new JSON": (written / JSON.stringify(fresh).length).toFixed(2),
    "turn, ms": median(exports.map(([ms]) => ms)).toFixed(2),
    "restore, ms": median(restores).toFixed(0),
    "snapshot, MB": (text.length / 1e6).toFixed(1),
    "snapshot written, ms": median(saves).toFixed(0),
    "snapshot read, ms": median(snapshots).toFixed(0),
  };
}

/** Plays turns in sessions beside each other, and says how long a turn took at which length. */
async function load(client, lengths) {
  const times = new Map(lengths.map((length) => [length, []]));
  const seconds = new Map();
  const sessions = ["a", "b", "c", "d"];
  for (const id of sessions) await client.createSession({ id, options: { budget: { answer: 4_000 } } });
  let done = 0;
  for (const length of lengths) {
    // What comes before is not measured, and goes in larger portions.
    for (; done + 50 < length / 4; done += 50) {
      const items = Array.from({ length: 50 }, (_, n) => turn(done + n)).flat();
      await Promise.all(sessions.map((session) => client.append({ session, items })));
    }
    const began = performance.now();
    await Promise.all(
      sessions.map(async (session) => {
        for (let n = 0; n < 50; n += 1) {
          const asked = performance.now();
          await client.append({ session, items: turn(done + n) });
          await client.build({ session, build: { phase: "answer", query: `order ${10_000 + n}` } });
          times.get(length).push(performance.now() - asked);
        }
      }),
    );
    seconds.set(length, (performance.now() - began) / 1000);
    done += 50;
  }
  return lengths.map((length) => {
    const list = times.get(length);
    return {
      "items of a session": length,
      "turns a second": (list.length / seconds.get(length)).toFixed(0),
      "p50, ms": part(list, 0.5).toFixed(1),
      "p99, ms": part(list, 0.99).toFixed(1),
    };
  });
}

async function served(lengths) {
  const folder = await mkdtemp(join(tmpdir(), "contextweaver-bench-"));
  const port = 18_321;
  const child = spawn(process.execPath, [join(installed, "bin/contextweaver.js"), "serve", "--store", folder, "--port", String(port)], {
    env: { ...process.env, CONTEXTWEAVER_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await new Promise((ready) => child.stdout.once("data", ready));
    return await load(sessionClient({ url: `http://127.0.0.1:${port}`, token: TOKEN }), lengths);
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function inWorkerd(lengths) {
  const { bundleWorker } = await import("../tests/package/workerd-bundle.mjs");
  const { Miniflare } = await import(pathToFileURL(join(home, "tests/package/node_modules/miniflare/dist/src/index.js")));
  const folder = await mkdtemp(join(tmpdir(), "contextweaver-bench-"));
  await mkdir(join(folder, "node_modules"));
  await symlink(installed, join(folder, "node_modules", "contextweaver"));
  const objects = { SESSIONS: { className: "SessionObject", useSQLite: true }, DECISIONS: { className: "DecisionObject", useSQLite: true } };
  const worker = new Miniflare({
    modules: await bundleWorker(join(home, "examples/worker/worker.ts"), { nodePaths: [join(folder, "node_modules")] }),
    modulesRoot: "/",
    compatibilityDate: "2025-06-01",
    durableObjects: objects,
    r2Buckets: ["BLOBS"],
    bindings: { CONTEXTWEAVER_TOKEN: TOKEN },
    durableObjectsPersist: join(folder, "objects"),
    r2Persist: join(folder, "blobs"),
  });
  try {
    return await load(sessionClient({ url: "http://localhost", token: TOKEN, fetch: (url, init) => worker.dispatchFetch(url, init) }), lengths);
  } finally {
    await worker.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

console.log("The journal");
console.table([1_000, 5_000, 20_000].map(journal));
const lengths = args.long ? [100, 1_000, 5_000, 20_000] : [100, 1_000, 5_000];
console.log("contextweaver serve, files");
console.table(await served(lengths));
console.log("The Worker in workerd, SQLite of Durable Objects");
console.table(await inWorkerd(lengths));
