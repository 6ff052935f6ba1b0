// Scores the context compiler on labelled sets: which share of the evidence is in the prompt at a budget?
//
//   node benches/context.mjs --package <folder of the built package> --sets <folder> [--json] [--budgets 1000,2000]
//
// A set is {"name", "sessions": [{"id", "items": [...], "queries": [{"query", "at", "evidence", "groups"?, "values"?}]}]}.
// For each query the log is cut after item `at` and compiled for the answer phase. An evidence item counts when its
// whole text is in the prompt, or when every string of `values` for it is in the part that is. What the block of standing
// instructions says in the user's words, with the item behind it, is a part of that item. A pack whose text is
// larger than the budget (ceil(chars/4) per item, wrappers free) counts as empty. `--json` prints {"<set>": {"<budget>":
// {"queries", "recall", "partial", "broken"}}}, where a build is broken that failed, is over its budget, has a result
// without its call or is out of order.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    sets: { type: "string" },
    json: { type: "boolean", default: false },
    budgets: { type: "string", default: "1000,2000,4000,6000" },
  },
});

const { ContextManager, ContextWeaverError } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));
const budgets = args.budgets.split(",").map(Number);

function setsFolder() {
  if (args.sets) return resolve(args.sets);
  const shared = join(home, "../shared/bench/context");
  if (existsSync(shared)) return shared;
  if (!args.json) console.log("SKIPPED: the public sets are not here (../shared/bench/context); using our own");
  return join(home, "tests/quality");
}

function readSets(folder) {
  const sets = [];
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith(".json")) continue;
    const document = JSON.parse(readFileSync(join(folder, file), "utf8"));
    if (Array.isArray(document.sessions)) sets.push(document);
  }
  return sets;
}

// Evidence may be a token that a later call needs, so nothing is masked here. The sets define a token as four
// characters, so that is how it is counted; the default estimator is stricter with digits and punctuation.
const options = { redact_secrets: false, estimator: "heuristic/chardiv4" };

const tokens = (text) => Math.ceil([...text].length / 4);
const decoder = new TextDecoder();
const encoder = new TextEncoder();

// Returns [id, rendered text] for every section of the prompt, label line taken off.
function sections(pack) {
  const bytes = encoder.encode(pack.prompt);
  return pack.items.map((item) => {
    const section = decoder.decode(bytes.subarray(item.start, item.end));
    return [item.id, section.slice(section.indexOf("\n") + 1)];
  });
}

// Returns what the standing instructions say of each item, by its id: a line is "- <the user's words> (<id>)".
function instructions(prompt) {
  const said = new Map();
  const block = /^\[STANDING INSTRUCTIONS\]\n((?:- .*(?:\n|$))+)/m.exec(prompt);
  for (const line of block?.[1].trimEnd().split("\n") ?? []) {
    const at = line.lastIndexOf(" (");
    const id = line.slice(at + 2, -1);
    said.set(id, `${said.has(id) ? `${said.get(id)} ` : ""}${line.slice(2, at)}`);
  }
  return said;
}

const oneLine = (text) => text.split(/\s+/).join(" ").trim();

function judge(query, items, pack) {
  const byId = new Map(items.map((item) => [item.id, item]));
  const shown = new Map(pack ? sections(pack) : []);
  const recalled = new Set((pack?.items ?? []).filter((item) => item.recalled).map((item) => item.id));
  const instructed = pack ? instructions(pack.prompt) : new Map();
  let charge = 0;
  for (const text of [...shown.values(), ...instructed.values()]) charge += tokens(text);
  const over = charge > query.budget;
  const has = (id) => {
    const text = shown.get(id);
    const said = instructed.get(id);
    if (over || (text === undefined && said === undefined)) return false;
    const item = byId.get(id)?.text;
    if (text?.includes(item) || (said !== undefined && item !== undefined && said.includes(oneLine(item)))) return true;
    return query.values?.[id]?.every((value) => text?.includes(value) || said?.includes(value)) ?? false;
  };
  const groups = query.groups ?? query.evidence.map((id) => [id]);
  const hits = groups.filter((group) => group.some(has)).length;
  const torn = items.some((item) => item.kind === "tool_result" && byId.has(item.parent_id) && shown.has(item.id) !== shown.has(item.parent_id));
  const rank = new Map(items.map((item, index) => [item.id, index]));
  const order = [...shown.keys()].filter((id) => !recalled.has(id)).map((id) => rank.get(id));
  return {
    whole: hits === groups.length,
    partial: hits / groups.length,
    pairs: !torn,
    chronological: order.every((at, index) => index === 0 || at > order[index - 1]),
    over,
    failed: !pack,
  };
}

function build(manager, query, budget) {
  try {
    return manager.build({ phase: "answer", query, budget_tokens: budget });
  } catch (error) {
    if (error instanceof ContextWeaverError && error.code === "BUDGET_EXCEEDED") return undefined;
    throw error;
  }
}

function score(set, budget) {
  const sum = { queries: 0, recall: 0, partial: 0, pair_valid: 0, chronological: 0, over: 0, failed: 0, broken: 0 };
  for (const session of set.sessions) {
    for (const asked of session.queries) {
      const query = { ...asked, budget };
      const visible = session.items.slice(0, query.at + 1);
      const manager = new ContextManager(options);
      manager.ingestAll(visible);
      const result = judge(query, visible, build(manager, query.query, budget));
      manager.free();
      sum.queries += 1;
      sum.recall += result.whole;
      sum.partial += result.partial;
      sum.pair_valid += result.pairs;
      sum.chronological += result.chronological;
      sum.over += result.over;
      sum.failed += result.failed;
      sum.broken += result.failed || result.over || !result.pairs || !result.chronological;
    }
  }
  for (const key of ["recall", "partial", "pair_valid", "chronological"]) sum[key] /= Math.max(1, sum.queries);
  return sum;
}

const sets = readSets(setsFolder());
const report = {};
const percent = (value) => (100 * value).toFixed(1).padStart(6);
if (!args.json) console.log("set                 budget queries recall partial pairs% chrono% over fail");
for (const set of sets) {
  report[set.name] = {};
  for (const budget of budgets) {
    const result = score(set, budget);
    const { queries, recall, partial, broken } = result;
    report[set.name][budget] = { queries, recall, partial, broken };
    if (args.json) continue;
    const line =
      `${set.name.padEnd(19)} ${String(budget).padStart(6)} ${String(result.queries).padStart(7)} ${percent(result.recall)} ` +
      `${percent(result.partial)}  ${percent(result.pair_valid)} ${percent(result.chronological)} ` +
      `${String(result.over).padStart(4)} ${String(result.failed).padStart(4)}`;
    console.log(line);
  }
}
if (args.json) console.log(JSON.stringify(report));
