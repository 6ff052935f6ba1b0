// Measures what stays within reach: of all identifiers in a log, which share stands in the prompt, or in the answer of one recall?
//
//   node benches/recall.mjs --package <folder of the built package> --sets <folder> [--json] [--budget 10000] [--words 8] [--every 1]
//
// Identifiers are ids, paths, addresses, hashes, numbers of five digits and more, and names in keys of JSON; each counts once a log,
// where it stands first. One that is not in the prompt (answer phase, asked the last query of the session) is asked for with the
// words around it, `--words` on either side and itself left out, in 300 tokens. `--every 5` asks for the first and every fifth after it.
// Beside it stands the same for prompts that name nothing of what left them (`ledger: false`).
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    sets: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    budget: { type: "string", default: "10000" },
    words: { type: "string", default: "8" },
    every: { type: "string", default: "1" },
  },
});
const { ContextManager } = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));
const [budget, around, every] = [Number(args.budget), Number(args.words), Number(args.every)];
const MAX_TOKENS = 300;
/** The share that has to be within reach. */
const TARGET = 0.95;

function folders() {
  if (args.sets) return args.sets.map((folder) => resolve(folder));
  const shared = join(home, "../shared/bench/context");
  if (existsSync(shared)) return [shared];
  if (!args.json) console.log("SKIPPED: the public sets are not here (../shared/bench/context); using our own");
  return [join(home, "tests/quality")];
}

function readSets(folder) {
  const documents = readdirSync(folder)
    .sort()
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
  return documents.filter(({ sessions }) => Array.isArray(sessions));
}

const WORD = /[\p{L}\p{N}_./@:#-]+/gu;
const EDGES = /^[./:#@-]+|[./:#@-]+$/g;

function isIdentifier(word) {
  if (word.length < 4 || word.length > 200) return false;
  if (!/\p{L}/u.test(word)) return (word.match(/\d/g)?.length ?? 0) >= 5;
  if (/@.*\.|:\/\//.test(word)) return true;
  const parts = word.split("/").filter(Boolean).length;
  if (parts > 1) return parts > 2 || /[._]/.test(word);
  return word.includes("_") || (/\d/.test(word) && word.length > 4);
}

/** Identifiers of a text and where they stand. */
function* identifiers(text) {
  for (const { 0: run, index } of text.matchAll(WORD)) {
    const word = run.replaceAll(EDGES, "");
    const at = index + run.indexOf(word);
    const isKey = text[at - 1] === '"' && /^"\s*:/.test(text.slice(at + word.length, at + word.length + 4)) && word.length > 2;
    if (isIdentifier(word) || isKey) yield { word, start: at, end: at + word.length };
  }
}

function wordsAround(text, { start, end }) {
  const near = around * 40;
  const before = text.slice(Math.max(0, start - near), start).match(WORD) ?? [];
  const after = text.slice(end, end + near).match(WORD) ?? [];
  return [...before.slice(-around), ...after.slice(0, around)].join(" ");
}

/** Counts of a kind of prompt: what stands in it, and of what does not how much one recall finds. */
const prompts = () => ({ shown: 0, asked: 0, found: 0 });
const reach = ({ shown, asked, found }, all) => {
  const share = shown / Math.max(1, all);
  return { in_prompt: share, within_reach: share + (1 - share) * (asked === 0 ? 0 : found / asked) };
};

function measure(set) {
  let hidden = 0;
  const sum = { identifiers: 0, most_tokens: 0, ms: 0, ledgers: 0, named: 0, most_ledger_share: 0 };
  const [bare, with_ledger] = [prompts(), prompts()];
  for (const session of set.sessions) {
    const build = { phase: "answer", query: session.queries?.at(-1)?.query ?? "", budget_tokens: budget };
    // An identifier may look like a credential, so nothing is masked here.
    const [without, manager] = [false, true].map((ledger) => new ContextManager({ redact_secrets: false, ledger }));
    for (const one of [without, manager]) one.ingestAll(session.items);
    const { prompt: barePrompt } = without.build(build);
    const { prompt, stats } = manager.build(build);
    if (stats.ledger) {
      sum.ledgers += 1;
      sum.named += stats.ledger.identifiers;
      sum.most_ledger_share = Math.max(sum.most_ledger_share, stats.ledger.tokens / budget);
    }
    without.free();
    const seen = new Set();
    for (const { text } of session.items) {
      for (const place of identifiers(text)) {
        if (seen.has(place.word)) continue;
        seen.add(place.word);
        sum.identifiers += 1;
        const absent = [
          [bare, barePrompt],
          [with_ledger, prompt],
        ].filter(([counts, text]) => {
          const stands = text.includes(place.word);
          counts.shown += stands;
          return !stands;
        });
        if (absent.length === 0) continue;
        hidden += 1;
        if ((hidden - 1) % every !== 0) continue;
        const query = wordsAround(text, place);
        const began = performance.now();
        const answer = query === "" ? undefined : manager.recall(query, { max_tokens: MAX_TOKENS });
        sum.ms += performance.now() - began;
        sum.most_tokens = Math.max(sum.most_tokens, answer?.tokens ?? 0);
        for (const [counts] of absent) {
          counts.asked += 1;
          counts.found += answer?.text.includes(place.word) ? 1 : 0;
        }
      }
    }
    manager.free();
  }
  const { asked, found } = with_ledger;
  const { in_prompt: without, within_reach } = reach(with_ledger, sum.identifiers);
  return { ...sum, asked, found, without, within_reach, without_ledger: reach(bare, sum.identifiers) };
}

const report = {};
const percent = (value) => (100 * value).toFixed(1).padStart(6);
if (!args.json) {
  console.log(`                                     without a ledger       with one                                   (${budget} tokens)`);
  console.log("set                 identifiers  prompt  or recall   prompt  or recall   asked  found  tokens  ms each  ledgers  named");
}
for (const set of folders().flatMap(readSets)) {
  const result = measure(set);
  report[set.name] = result;
  const { identifiers: all, asked, found, most_tokens: tokens, ms, without_ledger: bare, without: shown, within_reach: within, ledgers, named } = result;
  const shares = [bare.in_prompt, bare.within_reach, shown, within].map(percent);
  const line = [all, ...shares, asked, percent(found / Math.max(1, asked)), tokens, (ms / Math.max(1, asked)).toFixed(2), ledgers, named];
  const widths = [11, 7, 10, 8, 10, 7, 6, 7, 8, 8, 6];
  if (!args.json)
    console.log(`${set.name.padEnd(19)} ${line.map((value, at) => String(value).padStart(widths[at])).join(" ")}${within < TARGET ? "  below 95" : ""}`);
}
if (args.json) console.log(JSON.stringify(report));
