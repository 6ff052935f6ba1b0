// Measures the built-in token estimators against real tokenizers on sample texts.
//
//   node benches/tokens.mjs [--package <folder of the built package>] [--work <folder for the tokenizer>] [--json]
//
// The tokenizers are OpenAI's o200k_base and cl100k_base, from the npm package gpt-tokenizer, which is installed into
// the work folder (default: target/bench) and nowhere else. Models of other vendors cut text in other ways.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { install } from "./npm.mjs";
import { random } from "./synthetic.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: process.env.CONTEXTWEAVER_PACKAGE ?? join(here, "../pkg") },
    work: { type: "string", default: join(here, "../target/bench") },
    json: { type: "boolean", default: false },
  },
});

// Exactly one version: another could have another way of counting special tokens.
const TOKENIZER = "gpt-tokenizer@4.0.0";
const ENCODINGS = ["o200k_base", "cl100k_base"];
const ESTIMATORS = ["heuristic/v3", "heuristic/v2", "heuristic/chardiv4"];

const sample = (name) => readFileSync(join(here, "samples", `${name}.txt`), "utf8");

/** Texts of items of the recorded session. */
function session() {
  const lines = readFileSync(join(here, "../examples/sessions/shop.jsonl"), "utf8").trim().split("\n");
  return new Map(lines.map((line) => JSON.parse(line)).map((item) => [item.id, item.text]));
}

/** Bytes that compress to nothing shorter, as images and keys do. */
function noise(length) {
  const next = random(64);
  return Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
}

/** Every class of text with its sample. */
function classes() {
  const recorded = session();
  const result = (id, length) => recorded.get(id).slice(0, length);
  const pretty = `${recorded.get("i075")}\n${recorded.get("i034")}`;
  const minified = ["i075", "i034"].map((id) => JSON.stringify(JSON.parse(recorded.get(id)))).join("\n");
  return {
    "English prose": sample("english"),
    Markdown: sample("markdown"),
    TypeScript: sample("typescript"),
    JavaScript: result("i028"),
    Rust: sample("rust"),
    Python: sample("python"),
    "JSON, pretty": pretty,
    "JSON, minified": minified,
    "log lines": result("i017", 4000),
    "test output": result("i022", 4000),
    "CSV, orders": result("i052", 3000),
    "CSV, addresses": result("i057", 3000),
    base64: noise(1500).toString("base64"),
    hex: noise(1000).toString("hex"),
    German: sample("german"),
    Russian: sample("russian"),
    Greek: sample("greek"),
    Arabic: sample("arabic"),
    Hebrew: sample("hebrew"),
    Hindi: sample("hindi"),
    Thai: sample("thai"),
    Chinese: sample("chinese"),
    Japanese: sample("japanese"),
    Korean: sample("korean"),
    emoji: sample("emoji"),
  };
}

/** Functions that count tokens, by encoding. */
async function tokenizers(folder) {
  const { resolve: find } = createRequire(join(resolve(folder), "package.json"));
  const counters = {};
  for (const name of ENCODINGS) {
    const { encode } = await import(pathToFileURL(find(`gpt-tokenizer/encoding/${name}`)));
    counters[name] = (text) => encode(text).length;
  }
  return counters;
}

/** The weight of a non-ASCII code point, in quarter tokens, that would make the estimate right if ASCII weighs 1. */
function rightWeight(text, tokens) {
  const points = [...text];
  const ascii = points.filter((point) => point.codePointAt(0) < 128).length;
  // In text that is nearly all ASCII the rest decides nothing.
  if (points.length - ascii < points.length / 5) return undefined;
  return (4 * tokens - ascii) / (points.length - ascii);
}

function measure(text, counters, countTokens) {
  const real = Object.fromEntries(ENCODINGS.map((name) => [name, counters[name](text)]));
  const estimated = Object.fromEntries(ESTIMATORS.map((estimator) => [estimator, countTokens(text, { estimator })]));
  const right_weight = Object.fromEntries(ENCODINGS.map((name) => [name, rightWeight(text, real[name])]));
  return { chars: [...text].length, real, estimated, right_weight };
}

/** Parts of a text in turns: calls that were paid, and those that follow. */
const CALLS = 10;

/** How far off estimates are, in percent of what is real, before calls of a model were observed and after. */
function calibrate(text, counters, { ContextManager, countTokens }) {
  const points = [...text];
  const length = Math.ceil(points.length / (2 * CALLS));
  const parts = Array.from({ length: 2 * CALLS }, (_, at) => points.slice(at * length, (at + 1) * length).join("")).filter((part) => part !== "");
  const [paid, next] = [parts.filter((_, at) => at % 2 === 0), parts.filter((_, at) => at % 2 === 1)];
  const errors = {};
  for (const name of ENCODINGS) {
    const manager = new ContextManager();
    let factor = 1;
    for (const part of paid) factor = manager.observeUsage({ model: name, estimated: countTokens(part), actual: counters[name](part) }).factor;
    const error = (factor) => next.reduce((sum, part) => sum + Math.abs(factor * countTokens(part) - counters[name](part)), 0);
    const real = next.reduce((sum, part) => sum + counters[name](part), 0);
    errors[name] = { factor, before: (100 * error(1)) / real, after: (100 * error(factor)) / real };
    manager.free();
  }
  return errors;
}

function printCalibration(report) {
  console.log(`\nError of the estimate in percent, before and after ${CALLS} observed calls with a twentieth of the text each.\n`);
  console.log(["class".padEnd(18), ...ENCODINGS.flatMap((name) => [name, "before", "after"])].join("  "));
  for (const [name, { calibrated }] of Object.entries(report)) {
    const cells = ENCODINGS.flatMap((encoding) => {
      const { factor, before, after } = calibrated[encoding];
      return [factor.toFixed(2).padStart(encoding.length), before.toFixed(1).padStart(6), after.toFixed(1).padStart(5)];
    });
    console.log([name.padEnd(18), ...cells].join("  "));
  }
}

function print(report) {
  console.log(`Tokens of each sample, and estimated / real: below 1 the estimate is too low. ${TOKENIZER}.`);
  console.log("'weight' is the number of quarter tokens a non-ASCII code point would need to be right.\n");
  const short = (name) => name.replace("heuristic/", "").replace("_base", "");
  const rows = [["class", "chars", ...ENCODINGS.map(short), ...ESTIMATORS.map(short)]];
  for (const encoding of ENCODINGS) {
    rows[0].push(...ESTIMATORS.map((estimator) => `${short(estimator)}/${short(encoding)}`), "weight");
  }
  for (const [name, { chars, real, estimated, right_weight }] of Object.entries(report)) {
    const row = [name, chars, ...ENCODINGS.map((key) => real[key]), ...ESTIMATORS.map((key) => estimated[key])];
    for (const encoding of ENCODINGS) {
      row.push(...ESTIMATORS.map((estimator) => (estimated[estimator] / real[encoding]).toFixed(2)));
      row.push(right_weight[encoding]?.toFixed(2) ?? "");
    }
    rows.push(row);
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const cell = (value, column) => (column ? String(value).padStart(widths[column]) : value.padEnd(widths[0]));
  for (const row of rows) console.log(row.map(cell).join("  "));
}

async function main() {
  const missing = install(args.work, TOKENIZER);
  if (missing !== undefined) {
    console.error(`SKIPPED: ${TOKENIZER} cannot be installed: ${missing}`);
    if (args.json) console.log(JSON.stringify({ skipped: missing }));
    return;
  }
  const counters = await tokenizers(args.work);
  const contextweaver = await import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));
  const report = {};
  for (const [name, text] of Object.entries(classes())) {
    report[name] = { ...measure(text, counters, contextweaver.countTokens), calibrated: calibrate(text, counters, contextweaver) };
  }
  if (args.json) console.log(JSON.stringify({ tokenizer: TOKENIZER, classes: report }));
  else {
    print(report);
    printCalibration(report);
  }
}

await main();
