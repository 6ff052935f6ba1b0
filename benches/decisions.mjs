// Times the decision memory of the built package.
//
//   node benches/decisions.mjs [--package <folder of the built package>] [--sizes 1000,10000,50000] [--json]
//
// Wall-clock milliseconds, default options: both halves of the hybrid search run, on vectors that are made here. Times say
// what this machine did in this run: compare them with figures of the same run only.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: process.env.CONTEXTWEAVER_PACKAGE ?? join(here, "../pkg") },
    sizes: { type: "string", default: "1000,10000,50000" },
    json: { type: "boolean", default: false },
  },
});

const WARM_UP = 5;
const CALLS = 30;
const { DecisionStore } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));

const CATEGORIES = ["architecture", "process", "integration", "tooling", "security"];
const THINGS = "cache queue database router index session parser scheduler gateway ledger catalog renderer".split(" ");
const WAYS = "sharded replicated append-only in-memory columnar event-driven batched lazy typed signed pooled bounded".split(" ");
const AIMS = "latency cost safety recovery audit throughput privacy migration testing onboarding scale isolation".split(" ");

/** The same decisions in every run: words that occur often and words that occur once. */
function decision(number) {
  const pick = (list, step) => list[Math.floor(number / step) % list.length];
  const [way, thing, aim] = [pick(WAYS, 1), pick(THINGS, 12), pick(AIMS, 7)];
  const reviewed = number % 3 > 0;
  return {
    id: `d${number}`,
    decision: `Use a ${way} ${thing} for ${aim} in service ${number % 977}`,
    context: `Team ${number % 41} compared it with a ${pick(WAYS, 5)} ${pick(THINGS, 3)} and measured ${pick(AIMS, 11)} for ticket T-${number}`,
    category: CATEGORIES[number % 5],
    confidence: (50 + ((number * 7) % 50)) / 100,
    stakes: ["low", "medium", "high"][number % 3],
    status: reviewed ? "reviewed" : "pending",
    ...(reviewed ? { outcome: number % 4 ? "success" : "failure", reviewed_at: "2026-03-01T00:00:00+00:00" } : {}),
    date: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    reasons: [{ type: "analysis", text: `${aim} matters most to users of the ${thing}`, strength: 0.8 }],
    tags: [thing, aim],
    pattern: `${way} ${thing}`,
  };
}

const query = (number) => `${WAYS[number % 12]} ${THINGS[(number * 5) % 12]} that helps ${AIMS[(number * 7) % 12]} of service ${(number * 31) % 977}`;

async function timed(work) {
  const started = performance.now();
  const value = await work();
  return [value, performance.now() - started];
}

async function p50(work) {
  const times = [];
  for (let round = 0; round < WARM_UP + CALLS; round += 1) {
    const [result, time] = await timed(() => work(round));
    if (result.isError) throw new Error(result.content[0].text);
    if (round >= WARM_UP) times.push(time);
  }
  return times.sort((a, b) => a - b)[CALLS >> 1];
}

const rows = [];
for (const size of args.sizes.split(",").map(Number)) {
  const store = new DecisionStore({ limits: { decisions: size + 1000 } });
  const records = Array.from({ length: size }, (_, number) => decision(number));
  const [report, load] = await timed(() => store.import(records));
  if (report.imported !== size) throw new Error(JSON.stringify(report.errors.slice(0, 3)));
  const [, first] = await timed(() => store.callTool("query_decisions", { query: query(0) }));
  const row = { decisions: size, import: load, first_query: first };
  for (const mode of ["hybrid", "keyword", "semantic"]) {
    row[mode] = await p50((round) => store.callTool("query_decisions", { query: query(round), retrieval_mode: mode }));
  }
  row.pre_action = await p50((round) =>
    store.callTool("pre_action", { action: { description: query(round), category: CATEGORIES[round % 5], confidence: 0.7 } }),
  );
  row.session_context = await p50((round) => store.callTool("get_session_context", { task_description: query(round) }));
  const [text, written] = await timed(() => JSON.stringify(store));
  row.export = written;
  row.export_mib = text.length / 2 ** 20;
  row.append = await p50((round) => store.callTool("log_decision", { decision: `One more ${round}`, confidence: 0.5, category: "process" }));
  store.free();
  rows.push(row);
}

if (args.json) console.log(JSON.stringify(rows, null, 2));
else {
  const heads = ["decisions", "import", "first query", "hybrid", "keyword", "semantic", "pre_action", "session context", "export", "MiB", "log_decision"];
  console.log(`| ${heads.join(" | ")} |\n|${heads.map(() => "---:").join("|")}|`);
  const cell = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2));
  for (const { decisions, ...row } of rows) console.log(`| ${decisions.toLocaleString("en")} | ${Object.values(row).map(cell).join(" | ")} |`);
}
