// Times the built package on the synthetic log, beside the Python reference when there is one.
//
//   node benches/build.mjs [--package <folder of the built package>] [--python <python with contextweaver 0.18.2>]
//                          [--sizes 100,1000] [--json]
//
// Wall-clock milliseconds, default options. Times say what this machine did in this run: compare them with figures of
// the same run only. How the work grows with the log is proved by the tests, which count operations.
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { TURN, log, queries } from "./synthetic.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: process.env.CONTEXTWEAVER_PACKAGE ?? join(here, "../pkg") },
    python: { type: "string", default: process.env.CONTEXTWEAVER_PYTHON },
    sizes: { type: "string", default: "100,1000,10000,100000" },
    json: { type: "boolean", default: false },
    // What a fresh process is started for: "start" or "memory".
    child: { type: "string" },
  },
});

const BUILDS = 15;
const WARM_UP = 3;
// Node compiles a function of the module quickly first and well later: until then small logs take ten times as long.
const COMPILE_ROUNDS = 30;
const COMPILE_ITEMS = 1000;
const LARGEST_LOG = 100_000;
// One call takes 32 MiB at most.
const ITEMS_PER_CALL = 10_000;
const FRESH_PROCESSES = 5;
const MEMORY_ITEMS = 1000;
const MEMORY_BUILDS = 10_000;
const MEMORY_WARM_UP = 200;

const REFERENCE_VERSION = "0.18.2";
// At 10,000 items one build of the reference takes four minutes.
const REFERENCE_BUILDS = new Map([
  [100, BUILDS],
  [1000, 5],
]);
// CPU milliseconds of single builds of the reference, recorded on another day under load (specification, section 18).
const RECORDED = { 100: 32, 1000: 2033, 5000: 48_250, 10_000: 242_526 };

const packageFile = (name) => pathToFileURL(join(resolve(args.package), "dist/node", name));

function timed(work) {
  const started = performance.now();
  const value = work();
  return [value, performance.now() - started];
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const p50 = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { p50, min: sorted[0], max: sorted.at(-1), runs: sorted.length };
}

const answer = (manager, query) => manager.build({ phase: "answer", query });

function ingestAll(manager, items) {
  for (let at = 0; at < items.length; at += ITEMS_PER_CALL) manager.ingestAll(items.slice(at, at + ITEMS_PER_CALL));
}

/** Lets Node finish compiling, so that the first size is not measured on other code than the last. */
async function warmUp(ContextManager) {
  const items = log(COMPILE_ITEMS);
  for (const query of queries(items, COMPILE_ROUNDS)) {
    const manager = new ContextManager();
    ingestAll(manager, items);
    answer(manager, query);
    manager.free();
    // The better code comes from another thread.
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** A manager with the log, made from nothing, and its first build. */
function measureFull(ContextManager, items, query) {
  const rounds = items.length > 10_000 ? 3 : 7;
  const times = { ingest: [], first: [], full: [] };
  // Round 0 is not counted: it grows the memory.
  for (let round = 0; round <= rounds; round += 1) {
    const manager = new ContextManager();
    const [, ingest] = timed(() => ingestAll(manager, items));
    const [, first] = timed(() => answer(manager, query));
    manager.free();
    if (round === 0) continue;
    times.ingest.push(ingest);
    times.first.push(first);
    times.full.push(ingest + first);
  }
  return { ingest: summary(times.ingest), first_build: summary(times.first), ingest_and_build: summary(times.full) };
}

/** Builds on a manager that has built before, each for another query. */
function measureWarm(ContextManager, items, asked) {
  const manager = new ContextManager();
  ingestAll(manager, items);
  for (const query of asked.slice(-WARM_UP)) answer(manager, query);
  const times = asked.map((query) => timed(() => answer(manager, query))[1]);
  manager.free();
  return summary(times);
}

/** One more turn and the build for it, again and again. */
function measureAppend(ContextManager, size) {
  const turns = WARM_UP + BUILDS;
  // The largest log takes no more items, so there the turns are its last ones.
  const start = Math.min(size, LARGEST_LOG - turns * TURN);
  const items = log(start + turns * TURN);
  const manager = new ContextManager();
  ingestAll(manager, items.slice(0, start));
  const times = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const added = items.slice(start + turn * TURN, start + (turn + 1) * TURN);
    const [, took] = timed(() => {
      manager.ingestAll(added);
      answer(manager, added[0].text);
    });
    if (turn >= WARM_UP) times.push(took);
  }
  manager.free();
  return summary(times);
}

function measureSize(ContextManager, size) {
  const items = log(size);
  const asked = queries(items, BUILDS);
  const full = measureFull(ContextManager, items, asked[0]);
  const build = measureWarm(ContextManager, items, asked);
  return { ...full, build, append_turn_and_build: measureAppend(ContextManager, size) };
}

/** What a fresh process pays before its first result. */
async function childStart() {
  const before = performance.now();
  const { ContextManager } = await import(packageFile("index.js"));
  const imported = performance.now();
  const manager = new ContextManager();
  manager.ingest({ id: "u1", kind: "user_turn", text: "Which order failed?" });
  answer(manager, "Which order failed?");
  return { import: imported - before, first_call: performance.now() - imported, both: performance.now() - before };
}

/** Whether thousands of builds leave anything behind. */
async function childMemory() {
  // The package keeps its memory private: seen when the instance is made.
  const { Instance } = WebAssembly;
  let memory;
  WebAssembly.Instance = function (...given) {
    const instance = new Instance(...given);
    memory = instance.exports.memory;
    return instance;
  };
  const { ContextManager } = await import(packageFile("index.js"));
  const items = log(MEMORY_ITEMS);
  const asked = queries(items, 50);
  const manager = new ContextManager();
  ingestAll(manager, items);
  const run = (builds) => {
    for (let at = 0; at < builds; at += 1) answer(manager, asked[at % asked.length]);
    globalThis.gc();
    return { wasm: memory.buffer.byteLength, rss: process.memoryUsage().rss };
  };
  const before = run(MEMORY_WARM_UP);
  return { items: MEMORY_ITEMS, builds: MEMORY_BUILDS, before, after: run(MEMORY_BUILDS) };
}

function inFreshProcess(child) {
  const script = fileURLToPath(import.meta.url);
  const command = ["--expose-gc", script, "--child", child, "--package", args.package];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the process for "${child}" failed:\n${stderr}`);
  return JSON.parse(stdout);
}

function measureStart() {
  const runs = Array.from({ length: FRESH_PROCESSES }, () => inFreshProcess("start"));
  const of = (key) => summary(runs.map((run) => run[key]));
  return { import: of("import"), first_call: of("first_call"), both: of("both") };
}

/** Times the reference on the same items and queries, or says why not. */
function measureReference(sizes) {
  if (!args.python) return { skipped: "no Python given (--python or CONTEXTWEAVER_PYTHON)" };
  const job = sizes.filter((size) => REFERENCE_BUILDS.has(size));
  const items = log(Math.max(0, ...job));
  const input = JSON.stringify({
    items,
    sizes: job.map((size) => ({
      items: size,
      queries: queries(items.slice(0, size), BUILDS).slice(0, REFERENCE_BUILDS.get(size)),
    })),
  });
  const { status, stdout, stderr, error } = spawnSync(args.python, [join(here, "reference.py")], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 24,
  });
  if (status !== 0) return { skipped: `it failed: ${error?.message ?? stderr.trim().split("\n").at(-1)}` };
  const report = JSON.parse(stdout);
  if (report.version !== REFERENCE_VERSION) {
    return { skipped: `it has contextweaver ${report.version}, not ${REFERENCE_VERSION}` };
  }
  for (const [size, { ingest, builds }] of Object.entries(report.sizes)) {
    const build = summary(builds);
    report.sizes[size] = { ingest, build, ingest_and_build: ingest + build.p50 };
  }
  return report;
}

const ms = (value) => (value < 10 ? value.toFixed(2) : value < 1000 ? value.toFixed(1) : value.toFixed(0));
const range = ({ p50, min, max }) => `${ms(p50)} (${ms(min)}-${ms(max)})`;
const count = (value) => value.toLocaleString("en");
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  for (const row of rows) console.log(row.map((cell, column) => String(cell).padStart(widths[column])).join("  "));
  console.log();
}

function printTimes(sizes) {
  console.log("Milliseconds, p50 (min-max). 'first build' is that of a new manager.\n");
  const rows = [["items", "ingest", "first build", "build, warm", "turn + build", "ingest all + build", "turn / all"]];
  for (const [size, times] of Object.entries(sizes)) {
    const full = times.ingest_and_build;
    rows.push([
      count(Number(size)),
      range(times.ingest),
      range(times.first_build),
      range(times.build),
      range(times.append_turn_and_build),
      range(full),
      (times.append_turn_and_build.p50 / full.p50).toFixed(3),
    ]);
  }
  table(rows);
}

function printReference(reference, sizes) {
  const recorded = Object.entries(RECORDED).map(([size, took]) => `${count(took)} at ${count(Number(size))} items`);
  console.log(`Python reference, build, recorded on another day, CPU ms: ${recorded.join(", ")}`);
  if (reference.skipped) return;
  console.log(`Python reference ${reference.version} on Python ${reference.python}, this run, wall-clock ms:\n`);
  const rows = [["items", "ingest", "build", "here: build, warm", "times", "here: ingest all + build", "times"]];
  for (const [size, theirs] of Object.entries(reference.sizes)) {
    const ours = sizes[size];
    rows.push([
      count(Number(size)),
      ms(theirs.ingest),
      range(theirs.build),
      ms(ours.build.p50),
      count(Math.round(theirs.build.p50 / ours.build.p50)),
      ms(ours.ingest_and_build.p50),
      count(Math.round(theirs.ingest_and_build / ours.ingest_and_build.p50)),
    ]);
  }
  table(rows);
}

function print({ sizes, start, memory, reference }) {
  printTimes(sizes);
  const phases = [
    ["import", start.import],
    ["first call", start.first_call],
    ["both", start.both],
  ];
  const shown = phases.map(([name, times]) => `${name} ${range(times)} ms`).join(", ");
  console.log(`Fresh process, ${start.both.runs} runs: ${shown}`);
  const { before, after } = memory;
  console.log(
    `${count(memory.builds)} builds of ${count(memory.items)} items: ` +
      `WebAssembly memory ${mib(before.wasm)} -> ${mib(after.wasm)}, ` +
      `resident set ${mib(before.rss)} -> ${mib(after.rss)}\n`,
  );
  printReference(reference, sizes);
}

async function main() {
  const { ContextManager } = await import(packageFile("index.js"));
  const wanted = args.sizes.split(",").map(Number);
  const sizes = {};
  await warmUp(ContextManager);
  // The reference last: its process is the longest, and nothing is measured beside it.
  for (const size of wanted) sizes[size] = measureSize(ContextManager, size);
  const report = {
    node: process.version,
    sizes,
    start: measureStart(),
    memory: inFreshProcess("memory"),
    reference: measureReference(wanted),
    recorded_reference_build: RECORDED,
  };
  if (args.json) console.log(JSON.stringify(report));
  else print(report);
  if (report.reference.skipped) console.error(`SKIPPED: the Python reference in this run: ${report.reference.skipped}`);
}

const CHILDREN = { start: childStart, memory: childMemory };
if (args.child) console.log(JSON.stringify(await CHILDREN[args.child]()));
else await main();
