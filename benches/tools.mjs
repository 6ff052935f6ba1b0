// Which of many tools a request needs: our router beside BM25, a search by regular expressions, JavaScript search libraries and
// small embedding models, alone and with ours, on labelled sets; and how our `confidence` compares with what comes true.
//
//   node benches/tools.mjs [--package <folder of the built package>] [--sets <folder>] [--mirror <folder of clones>]
//                          [--work <folder>] [--only <set>]... [--no-peers] [--no-models] [--weights .25,.5,1,2] [--json]
//
// `--mirror` (default $CONTEXTWEAVER_MIRROR, else ../.mirror) has clones of icip-cas/LiveMCPBench and github/github-mcp-server as
// <owner>+<name>; `--sets` (default ../shared/bench) the folders routing and multitool. What is missing is named on stderr.
// Models are packages of npm and of the Python registry (tools/models.mjs); their vectors are kept in `--work`.
//
// recall@k, MRR and complete@5 as in routing.mjs; hit@5: one of the wanted tools is among the first five. "even" and "odd" are
// recall@5 of the queries at even and odd places: of LiveMCPBench only misses of the first were read.
// `--weights` adds a row for each embedding_weight. A query that is a list (annotated steps) is asked step by step, and the answers
// are taken in turn.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { MIRROR } from "./mirror.mjs";
import { models } from "./tools/models.mjs";
import { LISTED, bm25, libraries, regex } from "./tools/peers.mjs";
import { toolSets } from "./tools/sets.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(here, "../pkg") },
    sets: { type: "string", default: join(here, "../../shared/bench") },
    mirror: { type: "string", default: MIRROR },
    work: { type: "string", default: join(here, "../target/bench") },
    only: { type: "string", multiple: true, default: [] },
    weights: { type: "string", default: "" },
    peers: { type: "boolean", default: true },
    models: { type: "boolean", default: true },
    json: { type: "boolean", default: false },
  },
  allowNegative: true,
});
const say = (line) => console.error(line);
const { Router } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));

const SHORT = 5;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const inTurn = (lists) => [...new Set(Array.from({ length: LISTED }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat())];

// --- the ways to search: each takes the tools of a set and its queries, and returns a function from a query to {ids, confidence?} ---

const plain = (make) => async (items) => {
  const find = make(items);
  return async (query) => ({ ids: find(query) });
};

const ours = (embed, weight) => async (items) => {
  const router = new Router(items, embed && { embed, ...(weight !== undefined && { embedding_weight: weight }) });
  if (embed) await router.embedMissing();
  return async (query) => {
    if (embed) await router.embedMissing(query);
    const { candidate_ids: ids, confidence } = router.route(query, { top_k: LISTED });
    return { ids, confidence: confidence ?? 0 };
  };
};

/** Cosine alone, over the texts that a router embeds. */
const alone = (embed) => async (items) => {
  const vectors = await embed(items.map(({ namespace, name, title, description }) => [namespace, name, title, description].filter(Boolean).join("\n").trim()));
  const unit = (vector) => Math.hypot(...vector) || 1;
  const sizes = vectors.map(unit);
  return async (query) => {
    const [asked] = await embed([query]);
    const scores = vectors.map((vector, at) => vector.reduce((sum, value, place) => sum + value * asked[place], 0) / sizes[at]);
    return {
      ids: [...scores.keys()]
        .sort((a, b) => scores[b] - scores[a] || a - b)
        .slice(0, LISTED)
        .map((at) => items[at].id),
    };
  };
};

async function searches() {
  const found = [["contextweaver", ours()]];
  if (args.peers) {
    found.push(["BM25", plain(bm25)], ["regular expression", plain(regex)]);
    for (const [name, make] of await libraries(args.work, say)) found.push([name, plain(make)]);
  }
  if (!args.models) return found;
  for (const [name, embed] of await models(args.work, say)) {
    found.push([`${name} alone`, alone(embed)], [`contextweaver with ${name}`, ours(embed)]);
    for (const weight of args.weights.split(",").filter(Boolean)) found.push([`  … at ${weight}`, ours(embed, Number(weight))]);
  }
  return found;
}

// --- figures ---

const wanted = ({ expected = [], any, needs }) => needs ?? (any ? [expected] : [...new Set(expected)].map((id) => [id]));

async function measure({ items, queries }, make) {
  const find = await make(items);
  const rows = [];
  for (const query of queries) {
    const need = wanted(query);
    const asked = Array.isArray(query.query) ? query.query : [query.query];
    const answers = [];
    for (const text of asked) answers.push(await find(text));
    const ids = asked.length > 1 ? inTurn(answers.map((answer) => answer.ids)) : answers.flatMap((answer) => answer.ids);
    const met = (count) => need.filter((list) => list.some((id) => ids.slice(0, count).includes(id))).length;
    const first = ids.findIndex((id) => need.flat().includes(id));
    rows.push({
      "recall@1": met(1) / need.length,
      "recall@5": met(SHORT) / need.length,
      "recall@10": met(10) / need.length,
      "complete@5": Number(met(SHORT) === need.length),
      "hit@5": Number(first >= 0 && first < SHORT),
      mrr: first < 0 ? 0 : 1 / (first + 1),
      confidence: mean(answers.map(({ confidence }) => confidence ?? Number.NaN)),
    });
  }
  const over = (list, key) => mean(list.map((row) => row[key]));
  const half = (odd) =>
    over(
      rows.filter((_, at) => at % 2 === odd),
      "recall@5",
    );
  return { ...Object.fromEntries(Object.keys(rows[0]).map((key) => [key, over(rows, key)])), even: half(0), odd: half(1) };
}

const COLUMNS = ["recall@1", "recall@5", "even", "odd", "recall@10", "mrr", "complete@5", "hit@5", "confidence"];
const sets = toolSets({ sets: resolve(args.sets), mirror: args.mirror, say }).filter(({ name }) => args.only.length === 0 || args.only.includes(name));
const contenders = await searches();
const report = {};
for (const set of sets) {
  const engines = {};
  report[set.name] = { tools: set.items.length, queries: set.queries.length, ...(set.revision && { revision: set.revision }), engines };
  if (!args.json)
    console.log(
      `\n${set.name}${set.revision ? ` @${set.revision}` : ""}: ${set.items.length} tools, ${set.queries.length} queries\n${"".padEnd(34)}${COLUMNS.map((column) => column.padStart(11)).join("")}`,
    );
  for (const [name, make] of contenders) {
    const figures = await measure(set, make);
    engines[name.trim()] = figures;
    const cells = COLUMNS.map((column) =>
      (Number.isNaN(figures[column]) || (column === "confidence" && Array.isArray(set.queries[0].query)) ? "" : figures[column].toFixed(3)).padStart(11),
    );
    if (!args.json) console.log(name.padEnd(34) + cells.join(""));
  }
}
if (args.json) console.log(JSON.stringify(report, null, 1));
