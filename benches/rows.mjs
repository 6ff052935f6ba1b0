// What users wait for, a row each, in fresh processes; with two packages in turns, so that both have the same machine.
//
//   node benches/rows.mjs [--package <folder of the built package>] [--before <folder of another>] [--rounds 5] [--rows "a;b"]
//                         [--json]
//
// Milliseconds: the median of the rounds, each the best of a few runs in a process of its own. Memory: peak resident set of
// that process above what importing took, MiB.
import { spawnSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { catalog, routingQueries } from "./synthetic-tools.mjs";
import { log, queries, textLog } from "./synthetic.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(here, "../pkg") },
    before: { type: "string" },
    rounds: { type: "string", default: "5" },
    rows: { type: "string" },
    json: { type: "boolean", default: false },
    // What a fresh process is started for.
    row: { type: "string" },
  },
});

const MIB = 1024 * 1024;

/** Turns of four messages: a question, a call, its result, an answer. */
function conversation(turns) {
  const messages = [];
  for (let n = 0; n < turns; n += 1) {
    const [id, order] = [`call_${n}`, `ord_${n * 7}`];
    messages.push({ role: "user", content: `question ${n} about the order ${order} and what happened to it in march` });
    const call = { name: "find_order", arguments: JSON.stringify({ id: order, fields: ["state", "total"] }) };
    messages.push({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] });
    messages.push({ role: "tool", tool_call_id: id, content: JSON.stringify({ id: order, state: "paid", total: n * 3 }) });
    messages.push({ role: "assistant", content: `The order ${order} is paid, total ${n * 3}.` });
  }
  return messages;
}

function timed(run) {
  const before = performance.now();
  run();
  return performance.now() - before;
}

const best = (runs, run) => Math.min(...Array.from({ length: runs }, (_, at) => timed(() => run(at))));

/** The median and the 99th percentile of `count` calls, after as many that warm up. */
function spread(count, run) {
  for (let at = 0; at < count; at += 1) run(at);
  const times = Array.from({ length: count }, (_, at) => timed(() => run(at))).sort((a, b) => a - b);
  return { p50: times[count >> 1], p99: times[Math.floor(count * 0.99)] };
}

function withItems({ ContextManager }, size, run) {
  const items = log(size);
  const manager = new ContextManager();
  const ingested = timed(() => manager.ingestAll(items));
  const result = run(manager, items, ingested);
  manager.free();
  return result;
}

const route =
  (size) =>
  ({ Router }) => {
    const router = new Router(catalog(size));
    const asked = routingQueries(200);
    return spread(1000, (at) => router.route(asked[at % asked.length]));
  };

const toolResult = (raw_output, at = 0) => ({ tool_call_id: `c${at}`, tool_name: "tool", raw_output });

const ROWS = {
  "import and first call": undefined,
  "ingest of 10,000 items": (cw) => Math.min(...Array.from({ length: 4 }, () => withItems(cw, 10_000, (_, __, ms) => ms))),
  "build, answer phase, 10,000 items": (cw) =>
    withItems(cw, 10_000, (manager, items) => {
      const asked = queries(items, 20);
      return spread(20, (at) => manager.build({ phase: "answer", query: asked[at] })).p50;
    }),
  "1 MB log through the firewall": ({ ContextManager }) => {
    const text = textLog(1_000_000);
    return best(10, () => {
      const manager = new ContextManager();
      manager.ingestToolResult(toolResult(text));
      manager.free();
    });
  },
  "10,000 results of 2 KB": ({ ContextManager }) => {
    const text = textLog(2000);
    const data = Array.from({ length: 10_000 }, (_, n) => `row ${n}: ${text.slice(0, 2000 - (n % 50))}`);
    const manager = new ContextManager({ limits: { max_store_bytes: 16 * MIB } });
    return timed(() => {
      for (const [n, raw] of data.entries()) {
        try {
          manager.ingestToolResult(toolResult(raw, n));
        } catch (error) {
          if (error.code !== "QUOTA_EXCEEDED") throw error;
        }
      }
    });
  },
  "MCP result with an image of 8 MiB": ({ ContextManager }) => {
    const data = randomFillSync(Buffer.alloc(8 * MIB)).toString("base64");
    const json = JSON.stringify({ content: [{ type: "image", data, mimeType: "image/png" }] });
    return best(5, () => {
      const manager = new ContextManager();
      manager.ingestMcpResult({ tool_call_id: "c", tool_name: "tool", result: JSON.parse(json) });
      manager.free();
    });
  },
  "the same in plain JavaScript": () => {
    const data = randomFillSync(Buffer.alloc(8 * MIB)).toString("base64");
    const json = JSON.stringify({ content: [{ type: "image", data, mimeType: "image/png" }] });
    return best(5, () => Buffer.from(JSON.parse(json).content[0].data, "base64"));
  },
  "messagesToItems, 32,000 messages": ({ messagesToItems }) => {
    const messages = conversation(8000);
    return best(3, () => messagesToItems(messages, "openai-chat"));
  },
  "route, 1,000 tools": route(1000),
  "route, 10,000 tools": route(10_000),
  "index of 10,000 tools": ({ Router }) => {
    const items = catalog(10_000);
    return best(5, () => new Router(items).free());
  },
  "index of 10,000 tools, from a catalog": ({ Catalog, Router }) => {
    const held = new Catalog(catalog(10_000));
    return best(5, () => new Router(held).free());
  },
  "the same from indexBytes()": ({ Catalog, Router }) => {
    const held = new Catalog(catalog(10_000));
    const index = new Router(held).indexBytes();
    return best(5, () => new Router(held, { index }).free());
  },
};

function entry(folder) {
  const files = ["dist/node/index.js", "dist/index.file.js", "dist/index.js"].map((name) => join(resolve(folder), name));
  return pathToFileURL(files.find((file) => existsSync(file))).href;
}

async function child(row) {
  if (row === "import and first call") {
    const before = performance.now();
    const { ContextManager } = await import(entry(args.package));
    const manager = new ContextManager();
    manager.ingest({ id: "u1", kind: "user_turn", text: "Which order failed?" });
    manager.build({ phase: "answer", query: "Which order failed?" });
    return { ms: performance.now() - before };
  }
  const cw = await import(entry(args.package));
  const resident = process.memoryUsage().rss;
  const ms = ROWS[row](cw);
  return { ms, mib: (process.resourceUsage().maxRSS * 1024 - resident) / MIB };
}

function measure(folder, row) {
  const command = [fileURLToPath(import.meta.url), "--package", folder, "--row", row];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  if (status !== 0) throw new Error(`"${row}" failed:\n${stderr}`);
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function summary(runs) {
  const times = runs.map(({ ms }) => ms);
  const ms = typeof times[0] === "number" ? median(times) : { p50: median(times.map(({ p50 }) => p50)), p99: median(times.map(({ p99 }) => p99)) };
  return { ms, mib: runs[0].mib === undefined ? undefined : median(runs.map(({ mib }) => mib)) };
}

function main() {
  const packages = args.before ? { before: args.before, here: args.package } : { here: args.package };
  const report = {};
  for (const row of args.rows ? args.rows.split(";") : Object.keys(ROWS)) {
    const runs = Object.fromEntries(Object.keys(packages).map((name) => [name, []]));
    for (let round = 0; round < Number(args.rounds); round += 1) {
      for (const [name, folder] of Object.entries(packages)) runs[name].push(measure(folder, row));
    }
    report[row] = Object.fromEntries(Object.entries(runs).map(([name, list]) => [name, summary(list)]));
    if (!args.json) print(row, report[row]);
  }
  if (args.json) console.log(JSON.stringify(report));
}

function print(row, sides) {
  const number = (value) => value.toFixed(value < 1 ? 3 : 1);
  const cell = ({ ms, mib }) =>
    (typeof ms === "number" ? number(ms) : `${number(ms.p50)} / ${number(ms.p99)}`) + (mib === undefined ? "" : ` ms, ${mib.toFixed(0)} MiB`);
  console.log(
    `${row.padEnd(40)} ${Object.entries(sides)
      .map(([name, side]) => `${name} ${cell(side)}`.padEnd(34))
      .join("  ")}`,
  );
}

if (args.row) console.log(JSON.stringify(await child(args.row)));
else main();
