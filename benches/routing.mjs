// Scores the router on labelled sets and times it on synthetic catalogs, beside JavaScript search libraries.
//
//   node benches/routing.mjs [--package <folder of the built package>] [--sets <folder>] [--work <folder for peers>]
//                            [--sizes 100,1000,10000,50000] [--no-peers] [--no-times] [--json]
//
// A set is {"items": [...], "queries": [{"query", "expected": [ids], "any"?}]}. recall@k is the share of the expected
// tools among the first k, averaged over queries; with `any` one of them is enough. MRR is 1/rank of the first expected
// tool in the first 50. `--json` prints {"<set>": {"recall@1", "recall@5", "recall@10", "mrr"}} for our default, and
// nothing else. Times say what this machine did in this run: compare them with figures of the same run only. Each
// engine is timed in a process of its own, so that none pays for or profits from what another compiled or left behind.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { install } from "./npm.mjs";
import { catalog, routingQueries } from "./synthetic-tools.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(here, "../pkg") },
    sets: { type: "string" },
    work: { type: "string", default: join(here, "../target/bench") },
    sizes: { type: "string", default: "100,1000,10000,50000" },
    json: { type: "boolean", default: false },
    peers: { type: "boolean", default: true },
    times: { type: "boolean", default: true },
    // For the processes that are timed: print the times of this engine.
    engine: { type: "string" },
  },
  allowNegative: true,
});

const PEERS = ["minisearch@7.2.0", "@orama/orama@3.1.18"];
const LISTED = 50;
const CUTS = [1, 5, 10];
const QUERIES = 200;
// From here on one query of a peer takes too long for many.
const MANY_TOOLS = 10_000;

const { Router } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));
const say = (line) => console.error(line);

// --- the engines: each makes an index of tools and returns a function from a query to ids, best first ---

const ours = (options) => (items) => {
  const router = new Router(items, options);
  const find = (query) => router.route(query, { top_k: LISTED }).candidate_ids;
  return Object.assign(find, { free: () => router.free() });
};

// What the peers are given: the same fields, identifiers split, as their users would have to.
const split = (text) => text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_\-./:]+/g, " ");

function schemaText(schema, depth = 0) {
  const words = [];
  if (!schema || typeof schema !== "object" || depth > 4) return words;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    words.push(split(name));
    if (typeof property?.description === "string") words.push(property.description);
    words.push(...schemaText(property, depth + 1));
  }
  if (schema.items) words.push(...schemaText(schema.items, depth + 1));
  return words;
}

const document = (item) => ({
  id: item.id,
  name: split(`${item.name} ${item.title ?? ""}`),
  namespace: split(item.namespace ?? ""),
  tags: (item.tags ?? []).join(" "),
  description: item.description,
  schema: schemaText(item.args_schema).join(" "),
});

const FIELDS = ["name", "namespace", "tags", "description", "schema"];
const BOOSTS = { name: 2.5, schema: 0.5 };

function minisearch({ default: MiniSearch }, options) {
  return (items) => {
    const index = new MiniSearch({ fields: FIELDS, searchOptions: { boost: BOOSTS, ...options } });
    index.addAll(items.map(document));
    return (query) => index.search(query).slice(0, LISTED).map((hit) => hit.id);
  };
}

function orama({ create, insertMultiple, search }) {
  return (items) => {
    const index = create({ schema: Object.fromEntries(["id", ...FIELDS].map((field) => [field, "string"])) });
    insertMultiple(index, items.map(document), 1000);
    const query = (term) => search(index, { term, properties: FIELDS, boost: BOOSTS, limit: LISTED, threshold: 1 });
    return (term) => query(term).hits.map((hit) => hit.document.id);
  };
}

async function engines() {
  const found = [
    ["contextweaver", ours({})],
    ["tf-idf beam (compat)", ours({ compat: "0.18" })],
  ];
  if (!args.peers || args.json) return found;
  const missing = PEERS.map((peer) => [peer, install(args.work, peer)]).filter(([, why]) => why);
  for (const [peer, why] of missing) say(`SKIPPED: ${peer} cannot be installed: ${why}`);
  const load = async (name) => {
    const require = createRequire(join(resolve(args.work), "package.json"));
    return import(pathToFileURL(require.resolve(name)));
  };
  const has = (name) => !missing.some(([peer]) => peer.startsWith(`${name}@`));
  if (has("minisearch")) {
    const module = await load("minisearch");
    found.push(["minisearch", minisearch(module.default?.default ? module.default : module, {})]);
    found.push(["minisearch fuzzy prefix", minisearch(module, { fuzzy: 0.2, prefix: true })]);
  }
  if (has("@orama/orama")) found.push(["orama", orama(await load("@orama/orama"))]);
  return found;
}

// --- quality ---

function setsFolder() {
  if (args.sets) return resolve(args.sets);
  const shared = join(here, "../../shared/bench/routing");
  if (existsSync(shared)) return shared;
  say("SKIPPED: the public sets are not here (../shared/bench/routing); using our own");
  return join(here, "../tests/quality/routing");
}

// The kind of a tool is optional in a set.
const readSet = (set, name) => ({ ...set, name, items: set.items.map((item) => ({ kind: "tool", ...item })) });

function readSets(folder) {
  const sets = [];
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith(".json")) continue;
    const set = JSON.parse(readFileSync(join(folder, file), "utf8"));
    if (Array.isArray(set.items) && Array.isArray(set.queries)) sets.push(readSet(set, basename(file, ".json")));
  }
  if (sets.length === 0) throw new Error(`no set of tools and queries in ${folder}`);
  return sets;
}

function score(set, find) {
  const sum = Object.fromEntries([...CUTS.map((k) => [`recall@${k}`, 0]), ["mrr", 0]]);
  for (const { query, expected, any } of set.queries) {
    const ids = [...new Set(find(query))].slice(0, LISTED);
    const wanted = new Set(expected);
    for (const k of CUTS) {
      const hits = ids.slice(0, k).filter((id) => wanted.has(id)).length;
      sum[`recall@${k}`] += any ? Math.min(hits, 1) : hits / wanted.size;
    }
    const first = ids.findIndex((id) => wanted.has(id));
    if (first >= 0) sum.mrr += 1 / (first + 1);
  }
  return Object.fromEntries(Object.entries(sum).map(([metric, value]) => [metric, value / set.queries.length]));
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
const quality = {};
for (const set of sets) {
  const default_ = contenders.slice(0, args.json ? 1 : undefined);
  quality[set.name] = Object.fromEntries(default_.map(([name, make]) => [name, score(set, make(set.items))]));
}
if (args.json) {
  const report = Object.entries(quality).map(([set, engines]) => [set, engines.contextweaver]);
  console.log(JSON.stringify(Object.fromEntries(report), null, 1));
  process.exit(0);
}

const metrics = [...CUTS.map((k) => `recall@${k}`), "mrr"];
for (const set of sets) {
  console.log(`\n${set.name}: ${set.items.length} tools, ${set.queries.length} queries`);
  console.log(["".padEnd(26), ...metrics.map((metric) => metric.padStart(10))].join(""));
  for (const [name, scores] of Object.entries(quality[set.name])) {
    console.log([name.padEnd(26), ...metrics.map((metric) => scores[metric].toFixed(4).padStart(10))].join(""));
  }
  const best = quality[set.name].contextweaver;
  const ahead = Object.entries(quality[set.name]).filter(([, scores]) => metrics.some((m) => scores[m] > best[m] + 1e-12));
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
