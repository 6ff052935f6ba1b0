// Scores the router on labelled sets and times it on synthetic catalogs, beside JavaScript search libraries.
//
//   node benches/routing.mjs [--package <folder of the built package>] [--sets <folder>] [--work <folder for peers>]
//                            [--sizes 100,1000,10000,50000] [--no-peers] [--no-times] [--json [--compare]]
//
// A set is {"items": [...], "queries": [{"query", "expected": [ids], "any"?, "needs"?: [[ids]], "log"?}]}, where `items` may name
// the file that has them, or a .jsonl of queries that have `items` each. recall@k is the share of the expected tools
// among the first k, averaged over queries; with `any` one of them is enough, and so is one of each list of `needs`. MRR
// is 1/rank of the first expected tool in the first 50. complete@k, where every query needs several tools, is the share
// of queries that have all of them among the first k. `log` is what was said before, as [kind, text]; peers are not told.
//
// Queries without `expected` and `needs` are those that no tool serves, unless they say `answerable`. A set that has
// some is judged by short lists of 5: "false return" is the share of these that get tools, "false abstain" the share of
// the others that get none, and recall@5 divides by at most 5. Peers do not judge whether anything fits, so each is given
// the threshold on its best score, of this very set, at which it refuses as many answerable queries as ours does.
//
// `--json` prints {"<set>": {"recall@1", "recall@5", "recall@10", "mrr"}} (or the metrics above) for our default, and
// nothing else; with `--compare` {"<set>": {"queries", "served", "known", "engines": {"<engine>": {...}}}} for all
// engines, where `known` counts the served queries whose tools are known. Times say what this machine did in this run:
// compare them with figures of the same run only. Each engine is timed in a process of its own, so that none pays for
// or profits from what another compiled or left behind.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { catalog, routingQueries } from "./synthetic-tools.mjs";
import { LISTED, SHORT, libraries } from "./tools/peers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(here, "../pkg") },
    sets: { type: "string" },
    work: { type: "string", default: join(here, "../target/bench") },
    sizes: { type: "string", default: "100,1000,10000,50000" },
    json: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
    peers: { type: "boolean", default: true },
    times: { type: "boolean", default: true },
    // For the processes that are timed: print the times of this engine.
    engine: { type: "string" },
  },
  allowNegative: true,
});

const CUTS = [1, 5, 10];
/** Percent of the answerable queries that are given up, up to which the curve of false returns goes. */
const MAX_GIVEN_UP = 20;
const QUERIES = 200;
// From here on one query of a peer takes too long for many.
const MANY_TOOLS = 10_000;

const { ContextManager, Router } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));
const say = (line) => console.error(line);

// --- the engines: each makes an index of tools and returns a function from a query to ids, best first. Its `judge`
// returns a short list, and `signal`, which is higher the more there is for it: what a threshold would be set on ---

const ours = (options) => (items) => {
  const router = new Router(items, options);
  const find = (query) => router.route(query, { top_k: LISTED }).candidate_ids;
  const judge = (query, log) => {
    const { candidate_ids: ids, confidence, scores } = router.route(query, { top_k: SHORT, ...(log && { conversation: turnsOf(log, query) }) });
    // Our confidence is there when the list is empty, too; the beam has none and never refuses.
    const signal = confidence ?? scores[0] ?? 0;
    return { ids, signal: signal > 0 ? signal : undefined };
  };
  return Object.assign(find, { judge, free: () => router.free() });
};

/** What was said before a query, as `buildRoute` reads it off a log of kinds and texts. */
function turnsOf(log, query) {
  const manager = new ContextManager();
  manager.ingestAll(
    log.map(([kind, text], at) => {
      if (!kind.startsWith("tool_result")) return { id: `i${at}`, kind, text };
      return { id: `i${at}`, kind: "tool_result", text, parent_id: `i${at - 1}`, metadata: { is_error: kind === "tool_result_failed" } };
    }),
  );
  const turns = manager.turnsBefore(query);
  manager.free();
  return turns;
}

async function engines() {
  const found = [
    ["contextweaver", ours({})],
    ["tf-idf beam", ours({ navigator: "beam" })],
  ];
  if (!args.peers || (args.json && !args.compare)) return found;
  return [...found, ...(await libraries(args.work, say))];
}

// --- quality ---

function setsFolder() {
  if (args.sets) return resolve(args.sets);
  const shared = join(here, "../../shared/bench/routing");
  if (existsSync(shared)) return shared;
  say("SKIPPED: the public sets are not here (../shared/bench/routing); using our own");
  return join(here, "../tests/quality/routing");
}

/** Whether some tool serves a query. */
const isServed = ({ expected, needs, answerable }) => answerable ?? ((expected?.length ?? 0) > 0 || needs !== undefined);

/** The tools that a query needs: of each list one is enough. */
function wanted({ expected = [], any, needs }) {
  if (needs) return needs;
  return any ? [expected] : [...new Set(expected)].map((id) => [id]);
}

// The kind of a tool is optional in a set.
const tools = (items) => items.map((item) => ({ kind: "tool", ...item }));

function readSet(folder, file) {
  const text = readFileSync(join(folder, file), "utf8");
  const name = basename(file).replace(/\.jsonl?$/, "");
  if (file.endsWith(".jsonl")) {
    const queries = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    if (!queries.every(({ query, items }) => typeof query === "string" && Array.isArray(items))) return [];
    return [{ name, queries: queries.map((query) => ({ ...query, items: tools(query.items) })) }];
  }
  const set = JSON.parse(text);
  if (!Array.isArray(set.queries)) return [];
  if (typeof set.items !== "string") return Array.isArray(set.items) ? [{ name, items: tools(set.items), queries: set.queries }] : [];
  const lender = JSON.parse(readFileSync(join(folder, set.items), "utf8"));
  // Refusing everything would be right everywhere, so the queries that came with the tools are there to be answered.
  const queries = set.queries.some(isServed) ? set.queries : [...lender.queries, ...set.queries];
  return [{ name, items: tools(lender.items), queries }];
}

function readSets(folder) {
  const files = readdirSync(folder)
    .sort()
    .filter((file) => /\.jsonl?$/.test(file));
  const sets = files.flatMap((file) => readSet(folder, file));
  if (sets.length === 0) throw new Error(`no set of tools and queries in ${folder}`);
  return sets;
}

/** What `answer` makes of each query of the set, by an index of its tools. */
function answers(set, make, answer) {
  let [find, items] = [undefined, undefined];
  const all = set.queries.map((query) => {
    if (find === undefined || (query.items ?? set.items) !== items) {
      find?.free?.();
      items = query.items ?? set.items;
      find = make(items);
    }
    return answer(find, query);
  });
  find?.free?.();
  return all;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const met = (needs, ids) => needs.filter((need) => need.some((id) => ids.includes(id))).length;

function score(set, make) {
  const needs = set.queries.map(wanted);
  const found = answers(set, make, (find, { query }) => [...new Set(find(query))].slice(0, LISTED));
  const over = (value) => mean(found.map((ids, at) => value(ids, needs[at])));
  const result = Object.fromEntries(CUTS.map((k) => [`recall@${k}`, over((ids, need) => met(need, ids.slice(0, k)) / need.length)]));
  result.mrr = over((ids, need) => {
    const first = ids.findIndex((id) => need.flat().includes(id));
    return first < 0 ? 0 : 1 / (first + 1);
  });
  if (!needs.every((need) => need.length > 1)) return result;
  const complete = (k) => over((ids, need) => Number(met(need, ids.slice(0, k)) === need.length));
  return { "complete@5": complete(5), "complete@10": complete(10), ...result };
}

const strength = ({ signal }) => signal ?? Number.NEGATIVE_INFINITY;

/** The signal below which this share of the answerable queries stays; none when more of them have none at all. */
function cutAt(served, share) {
  const cut = served.map(strength).sort((a, b) => a - b)[Math.min(served.length - 1, Math.floor(share * served.length))];
  return Number.isFinite(cut) ? cut : undefined;
}

/** Judges refusals. `share`, for a peer, is that of the answerable queries that it may refuse. */
function scoreRefusals(set, make, share) {
  const short = answers(set, make, (find, query) => ({ ...find.judge(query.query, query.log), query }));
  const parted = (list) => [list.filter(({ query }) => isServed(query)), list.filter(({ query }) => !isServed(query))];
  const [allServed, allUnserved] = parted(short);
  const cut = share === undefined ? undefined : cutAt(allServed, share);
  const [served, unserved] = parted(short.map((one) => (cut !== undefined && strength(one) < cut ? { ...one, ids: [] } : one)));
  const known = served.map(({ query, ids }) => [wanted(query), ids]).filter(([need]) => need.length > 0);
  // null where more answerable queries than this have no signal at all.
  const curve = Array.from({ length: MAX_GIVEN_UP + 1 }, (_, percent) => {
    const at = cutAt(allServed, percent / 100);
    return at === undefined ? null : mean(allUnserved.map((one) => Number(strength(one) >= at)));
  });
  return {
    "false return": mean(unserved.map(({ ids }) => Number(ids.length > 0))),
    "false abstain": mean(served.map(({ ids }) => Number(ids.length === 0))),
    "recall@5": mean(known.map(([need, ids]) => met(need, ids) / Math.min(SHORT, need.length))),
    curve,
  };
}

function quality(set, contenders) {
  if (set.queries.every(isServed)) return Object.fromEntries(contenders.map(([name, make]) => [name, score(set, make)]));
  const [[name, make], ...others] = contenders;
  const ours = scoreRefusals(set, make);
  const rest = others.map(([peer, makePeer]) => [peer, scoreRefusals(set, makePeer, ours["false abstain"])]);
  return Object.fromEntries([[name, ours], ...rest]);
}

// --- times ---

function timed(work) {
  const started = performance.now();
  const value = work();
  return [value, performance.now() - started];
}

function percentile(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Times the first build of the process, the best of the later ones, and queries. */
function measure(make, items, queries) {
  const [first, cold] = timed(() => make(items));
  let find = first;
  const took = [];
  for (let round = items.length > MANY_TOOLS ? 1 : 5; round > 0; round -= 1) {
    // What is not in use any more is freed here, and collected as garbage elsewhere.
    find.free?.();
    const [made, time] = timed(() => make(items));
    find = made;
    took.push(time);
  }
  for (const query of queries.slice(0, 20)) find(query);
  const times = queries.map((query) => timed(() => find(query))[1]);
  return {
    cold,
    build: Math.min(...took),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    queries: times.length,
  };
}

/** Measures one engine in a process of its own. */
function measuredApart(name, size) {
  const options = ["--engine", name, "--sizes", String(size), "--package", args.package, "--work", args.work];
  const command = [fileURLToPath(import.meta.url), ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  if (status !== 0) throw new Error(`cannot time ${name}: ${stderr}`);
  return JSON.parse(stdout);
}

// --- the run ---

const contenders = await engines();
if (args.engine) {
  const [name, make] = contenders.find(([name]) => name === args.engine);
  const size = Number(args.sizes);
  const isSlow = name !== "contextweaver" && size >= MANY_TOOLS;
  const times = measure(make, catalog(size), routingQueries(isSlow ? QUERIES / 10 : QUERIES));
  console.log(JSON.stringify(times));
  process.exit(0);
}
const sets = readSets(setsFolder());
const compared = args.json && !args.compare ? contenders.slice(0, 1) : contenders;
const results = sets.map((set) => [set, quality(set, compared)]);
if (args.json) {
  const served = (set) => set.queries.filter(isServed).length;
  const known = (set) => set.queries.filter((query) => isServed(query) && wanted(query).length > 0).length;
  const all = ([set, engines]) => [set.name, { queries: set.queries.length, served: served(set), known: known(set), engines }];
  const report = results.map(args.compare ? all : ([set, engines]) => [set.name, engines.contextweaver]);
  console.log(JSON.stringify(Object.fromEntries(report), null, 1));
  process.exit(0);
}

for (const [set, engines] of results) {
  const metrics = Object.keys(engines.contextweaver).filter((metric) => metric !== "curve");
  console.log(`\n${set.name}: ${set.items ? `${set.items.length} tools` : "tools for each query"}, ${set.queries.length} queries`);
  console.log(["".padEnd(26), ...metrics.map((metric) => metric.padStart(15))].join(""));
  for (const [name, scores] of Object.entries(engines)) {
    console.log([name.padEnd(26), ...metrics.map((metric) => scores[metric].toFixed(4).padStart(15))].join(""));
  }
  const best = engines.contextweaver;
  const isAhead = (scores, metric) => (scores[metric] - best[metric]) * (metric.startsWith("false") ? -1 : 1) > 1e-12;
  const ahead = Object.entries(engines).filter(([, scores]) => metrics.some((metric) => isAhead(scores, metric)));
  for (const [name] of ahead) console.log(`  ! ${name} is ahead on this set`);
}

if (args.times) {
  console.log(`\nmilliseconds: index build, the first in a process and the best of five later ones (one above ${MANY_TOOLS} tools);`);
  console.log(`then one query, p50 and p99 of ${QUERIES} (fewer where marked)`);
  for (const size of args.sizes.split(",").map(Number)) {
    console.log(`\n${size} tools`);
    console.log(["".padEnd(26), ...["first build", "build", "p50", "p99", "queries"].map((head) => head.padStart(12))].join(""));
    for (const [name] of contenders) {
      if (name.startsWith("tf-idf") && size > MANY_TOOLS) continue;
      const result = measuredApart(name, size);
      const times = [result.cold.toFixed(1), result.build.toFixed(1), result.p50.toFixed(3), result.p99.toFixed(3)];
      console.log([name.padEnd(26), ...[...times, String(result.queries)].map((cell) => cell.padStart(12))].join(""));
    }
  }
}
