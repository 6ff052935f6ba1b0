// What of a large result is still answerable after the firewall, what that costs, and what it takes to get there.
//
//   node benches/firewall.mjs [--package <folder of the built package>] [--no-times] [--json]
//   node benches/firewall.mjs --encodings [--mirror <folder of clones>] [--work <folder>] [--package …] [--json]
//
// With `--encodings` only: what structured results cost as we spell them, beside compact JSON and TOON (firewall/encodings.mjs).
//
// Quality: planted facts found verbatim in the digest or its facts ("inline"), and in these or in one drilldown along a
// view of at most 250 tokens ("one view"); tokens are heuristic/v2, as in the recorded scores of the Python reference.
// Times: wall-clock milliseconds and peak resident memory of a fresh process each, beside plain JavaScript doing the
// least that a hand-made solution does, in the same run.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { encodings } from "./firewall/encodings.mjs";
import { MIRROR } from "./mirror.mjs";
import { textLog } from "./synthetic.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: process.env.CONTEXTWEAVER_PACKAGE ?? join(here, "../pkg") },
    json: { type: "boolean", default: false },
    times: { type: "boolean", default: true },
    encodings: { type: "boolean", default: false },
    mirror: { type: "string", default: MIRROR },
    work: { type: "string", default: join(here, "../target/bench") },
    // What a fresh process is started for: the name of a task, "ours" or "plain".
    task: { type: "string" },
    side: { type: "string" },
  },
  allowNegative: true,
});

const SETS = ["../tests/vectors/firewall/recall_benchmark.json", "../tests/quality/digest-families.json"];
const VIEW_TOKENS = 250;
const ROUNDS = 7;
const MIB = 1024 * 1024;

const load = () => import(pathToFileURL(join(resolve(args.package), "dist/node/index.js")));

/** Reads both forms: recorded cases, and families of our own. */
function payloads({ cases, families }) {
  if (families) return families.map(({ content, text, media_type, needles }) => ({ text: text ?? content, media_type, needles }));
  return cases.map(({ input, expected }) => ({ ...input, text: input.content.utf8, expected }));
}

/** Scores a set of payloads with planted facts. */
function score({ ContextManager, countTokens }, file) {
  const cases = payloads(JSON.parse(readFileSync(join(here, file), "utf8")));
  const sum = { payloads: cases.length, needles: 0, inline: 0, one_view: 0, tokens: 0, reference_inline: 0, reference_one_view: 0 };
  for (const { text, media_type, needles, expected } of cases) {
    const manager = new ContextManager();
    const result = { tool_call_id: "c", tool_name: "tool", raw_output: text, media_type };
    const { envelope } = manager.ingestToolResult(result);
    const inline = [envelope.summary, ...envelope.facts].join("\n");
    const handle = envelope.artifacts[0].handle;
    const slices = envelope.views
      .map(({ selector }) => manager.drilldown(handle, selector).text)
      .filter((text) => countTokens(text, { estimator: "heuristic/v2" }) <= VIEW_TOKENS);
    for (const { needle } of needles) {
      const here = inline.includes(needle);
      sum.needles += 1;
      sum.inline += here ? 1 : 0;
      sum.one_view += here || slices.some((text) => text.includes(needle)) ? 1 : 0;
    }
    sum.tokens += countTokens(inline, { estimator: "heuristic/v2" });
    sum.reference_inline += expected?.reference_default?.hits_inline ?? 0;
    sum.reference_one_view += expected?.reference_default?.hits_one_view_250 ?? 0;
    manager.free();
  }
  return { ...sum, tokens_per_payload: Math.round(sum.tokens / cases.length) };
}

const image = () =>
  Buffer.alloc(
    8 * MIB,
    Uint8Array.from({ length: 251 }, (_, i) => (i * 197) % 256),
  ).toString("base64");
/** Starts of secrets that are none. */
const nearMisses = () => "sk-x AKIAx eyJx. ghp_x password: ab xoxb-x ".repeat(1 + (8 * MIB) / 43).slice(0, 8 * MIB);

/** The least a hand-made solution does: keep the bytes, their hash, both ends and the lines with errors. */
function plainText(text, store) {
  const bytes = Buffer.from(text);
  const handle = createHash("sha256").update(bytes).digest("hex");
  store.set(handle, bytes);
  const errors = text.split("\n").filter((line) => /\b(error|failed|exception)\b/i.test(line));
  return [text.slice(0, 350), ...errors.slice(0, 5), text.slice(-150)].join("\n");
}

const ours =
  (media_type) =>
  ({ ContextManager }, data) => {
    const manager = new ContextManager();
    const { item } = manager.ingestToolResult({ tool_call_id: "c", tool_name: "tool", raw_output: data, media_type });
    manager.free();
    return item.text;
  };

const TASKS = {
  "1 MB log": { data: () => textLog(1_000_000), ours: ours("text/plain"), plain: (data) => plainText(data, new Map()) },
  "8 MiB image, base64 in JSON": {
    data: () => JSON.stringify({ content: [{ type: "image", mimeType: "image/png", data: image() }] }),
    ours: ours("application/json"),
    plain: (data) => Buffer.from(JSON.parse(data).content[0].data, "base64").length,
  },
  "8 MiB image, bytes": {
    data: () => Buffer.from(image(), "base64"),
    ours: ours("image/png"),
    plain: (data) => createHash("sha256").update(Buffer.from(data)).digest("hex"),
  },
  "8 MiB of near misses, redactSecrets": {
    data: nearMisses,
    ours: ({ redactSecrets }, data) => redactSecrets(data).length,
    plain: (data) => data.replace(/sk-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16}|ghp_[A-Za-z0-9]{36,}/g, "x").length,
  },
  "10,000 results of 2 KB, one store": {
    data: () => Array.from({ length: 10_000 }, (_, n) => `row ${n}: ${textLog(2000).slice(0, 2000 - (n % 50))}`),
    ours: ({ ContextManager }, data) => {
      const manager = new ContextManager({ limits: { max_store_bytes: 16 * MIB } });
      let full = 0;
      for (const [n, raw_output] of data.entries()) {
        try {
          manager.ingestToolResult({ tool_call_id: `c${n}`, tool_name: "tool", raw_output });
        } catch (error) {
          if (error.code !== "QUOTA_EXCEEDED") throw error;
          full += 1;
        }
      }
      const { artifact_bytes } = manager.stats();
      manager.free();
      return `${full} refused, ${(artifact_bytes / MIB).toFixed(1)} MiB kept`;
    },
    plain: (data) => {
      const store = new Map();
      for (const text of data) plainText(text, store);
      return store.size;
    },
    rounds: 1,
  },
};

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50: sorted[sorted.length >> 1], min: sorted[0], max: sorted.at(-1) };
}

/** One side of a task, in a process of its own; prints what it took. */
async function child(name, side) {
  const task = TASKS[name];
  const data = task.data();
  const engine = side === "ours" ? await load() : undefined;
  // The module itself and its compilation are not the task's.
  if (engine) ours("text/plain")(engine, textLog(20_000));
  globalThis.gc?.();
  const before = process.resourceUsage().maxRSS;
  const run = side === "ours" ? () => task.ours(engine, data) : () => task.plain(data);
  const times = [];
  let result = "";
  for (let round = 0; round < (task.rounds ?? ROUNDS); round += 1) {
    const started = performance.now();
    result = run();
    times.push(performance.now() - started);
    globalThis.gc?.();
  }
  const peak = (process.resourceUsage().maxRSS - before) / 1024;
  console.log(JSON.stringify({ ...summary(times), peak_mib: peak, result: String(result).slice(0, 200) }));
}

function measure(name, side) {
  const file = fileURLToPath(import.meta.url);
  const flags = ["--expose-gc", file, "--package", args.package, "--task", name, "--side", side];
  const { stdout, stderr, status } = spawnSync(process.execPath, flags, { encoding: "utf8", maxBuffer: 64 * MIB });
  if (status !== 0) throw new Error(`${name}, ${side}: ${stderr}`);
  return JSON.parse(stdout);
}

async function main() {
  const engine = await load();
  const quality = {};
  for (const file of SETS) {
    if (existsSync(join(here, file))) quality[file.split("/").at(-1).replace(".json", "")] = score(engine, file);
    else console.error(`SKIPPED: ${file} is not here`);
  }
  const times = {};
  for (const name of args.times ? Object.keys(TASKS) : []) times[name] = { ours: measure(name, "ours"), plain: measure(name, "plain") };
  if (args.json) {
    console.log(JSON.stringify({ quality, times }));
    return;
  }
  console.log("set                  payloads  inline         one view       tokens a payload   reference inline / one view");
  for (const [name, s] of Object.entries(quality)) {
    const share = (hits) => `${hits}/${s.needles}`.padEnd(15);
    const reference = s.reference_inline ? `${s.reference_inline} / ${s.reference_one_view}` : "-";
    console.log(
      `${name.padEnd(21)}${String(s.payloads).padStart(8)}  ${share(s.inline)}${share(s.one_view)}${String(s.tokens_per_payload).padEnd(19)}${reference}`,
    );
  }
  if (args.times) console.log("\nMilliseconds p50 (min-max) and peak resident memory above the start, MiB; plain JavaScript below");
  for (const [name, sides] of Object.entries(times)) {
    for (const [side, t] of Object.entries(sides)) {
      const label = side === "ours" ? name : "";
      const ms = `${t.p50.toFixed(1)} (${t.min.toFixed(1)}-${t.max.toFixed(1)})`;
      console.log(`${label.padEnd(38)}${side.padEnd(7)}${ms.padStart(26)}${t.peak_mib.toFixed(1).padStart(10)}`);
    }
  }
}

const percent = (tokens, of) => `${((100 * tokens) / of - 100).toFixed(1)} %`;

async function spellings() {
  const rows = await encodings(await load(), { work: args.work, mirror: args.mirror, say: (line) => console.error(line) });
  if (args.json) return console.log(JSON.stringify({ encodings: rows ?? [] }));
  if (rows === undefined) return undefined;
  console.log("set              compact JSON      TOON      ours   beside TOON   beside JSON   strategy");
  for (const { set, json, toon, ours, strategy } of rows) {
    const counts = [json, toon, ours].map((count) => String(count).padStart(10)).join("");
    console.log(`${set.padEnd(17)}${counts}  ${percent(ours, toon).padStart(12)}  ${percent(ours, json).padStart(12)}   ${strategy}`);
  }
}

await (args.task ? child(args.task, args.side) : args.encodings ? spellings() : main());
