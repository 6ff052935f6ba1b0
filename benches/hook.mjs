// What an agent sees of the results of its tools when `contextweaver hook` stands at its door, and how long it waits for it.
//
//   node benches/hook.mjs [--package <folder of the built package>] [--sets <folder>]... [--cold 40] [--json]
//
// Results are those of the recorded sessions that cost.mjs replays: ours, and public sets where they are. Of each call that follows a
// result, its strings of six characters and more count that stand in that result and stood nowhere before; a step is whole when all
// of them are in what the agent got. Tokens are characters / 4. Beside it stands what anybody does: 500 tokens of either end.
//   cold     milliseconds from the start of the process to its end, one after the other: of a result that passes, and of those that are
//            shortened, alone and with the server of MCP there that agents start; `node` is a process that does nothing
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { ownSet, setsIn } from "./cost/sets.mjs";
import { headAndTail, stepsOf } from "./next-step.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    sets: { type: "string", multiple: true },
    cold: { type: "string", default: "40" },
    json: { type: "boolean", default: false },
  },
});
const TARGET = 0.97;
const PEER = 500;
const folders = args.sets ?? [join(home, "../shared/bench/trajectories"), join(home, "target/bench/sets/trajectories")];
const program = join(resolve(args.package), "bin/contextweaver.js");
const { projectResults } = await moduleWithResults();

/** The file of the package that has what the program uses, as it is no entry. */
async function moduleWithResults() {
  const folder = join(resolve(args.package), "dist/node");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".js") && readFileSync(join(folder, name), "utf8").includes("projectResults"))) {
    const found = await import(pathToFileURL(join(folder, file)));
    if (found.projectResults) return found;
  }
  throw new Error(`nothing in ${folder} exports projectResults`);
}

const sets = [ownSet(), ...setsIn(folders)];
const sessions = sets.flatMap(({ sessions: list }) => list.map(stepsOf));
if (!folders.some((folder) => existsSync(folder) && setsIn([folder]).length > 0))
  console.error("SKIPPED: the recorded trajectories are not here; only our own sessions are replayed");

const hooked = async (session) => {
  const folder = mkdtempSync(join(tmpdir(), "hook-"));
  const results = projectResults(folder, { drilldown: "mcp__contextweaver__drilldown" });
  const shown = [];
  for (const { tool, input, text } of session) shown.push((await results.entered({ tool, input, text })) ?? text);
  await results.close();
  rmSync(folder, { recursive: true, force: true });
  return shown;
};

const estimate = (text) => Math.ceil(text.length / 4);
async function figures(way) {
  const sum = { results: 0, tokens: 0, copying: 0, whole: 0 };
  for (const session of sessions) {
    const shown = await way(session);
    for (const [at, { copied }] of session.entries()) {
      sum.results += 1;
      sum.tokens += estimate(shown[at]);
      if (copied.length === 0) continue;
      sum.copying += 1;
      if (copied.every((word) => shown[at].includes(word))) sum.whole += 1;
    }
  }
  return { results: sum.results, tokens: sum.tokens / sum.results, copying: sum.copying, whole: sum.whole / sum.copying };
}

/** Runs a process to its end; milliseconds. */
function timed(argv, input) {
  return new Promise((done) => {
    const begun = process.hrtime.bigint();
    const child = spawn(process.execPath, argv, { stdio: ["pipe", "ignore", "inherit"] });
    child.on("close", () => done(Number(process.hrtime.bigint() - begun) / 1e6));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

async function cold(count) {
  const store = mkdtempSync(join(tmpdir(), "hook-"));
  const large = sessions
    .flat()
    .filter(({ text }) => estimate(text) > 1_150)
    .sort((a, b) => a.text.length - b.text.length);
  const event = (text) => JSON.stringify({ tool_name: "bash", tool_input: { command: "cat" }, tool_response: text });
  const sample = Array.from({ length: count }, (_, at) => large[Math.floor((at * large.length) / count)].text);
  const times = { node: [], passes: [], alone: [], "with the server": [] };
  for (const text of sample) {
    times.node.push(await timed(["-e", ""], ""));
    times.passes.push(await timed([program, "hook", "opencode", "--store", store], event("done")));
    times.alone.push(await timed([program, "hook", "opencode", "--store", store], event(text)));
  }
  const server = spawn(process.execPath, [program, "mcp", "--store", store], { stdio: ["pipe", "ignore", "inherit"] });
  while (!existsSync(join(store, "hook.sock"))) await new Promise((done) => setTimeout(done, 50));
  for (const text of sample) times["with the server"].push(await timed([program, "hook", "opencode", "--store", store], event(text)));
  server.kill();
  rmSync(store, { recursive: true, force: true });
  const sorted = (list) => [...list].sort((a, b) => a - b);
  return Object.fromEntries(
    Object.entries(times).map(([name, list]) => [name, { p50: sorted(list)[count >> 1], p95: sorted(list)[Math.floor(count * 0.95)] }]),
  );
}

const report = {
  whole: await figures(async (session) => session.map(({ text }) => text)),
  [`head ${PEER} + tail ${PEER}`]: await figures(headAndTail(PEER)),
  hook: await figures(hooked),
};
const times = await cold(Number(args.cold));
const peer = report[`head ${PEER} + tail ${PEER}`];
const reached = report.hook.whole >= TARGET && report.hook.tokens <= peer.tokens;
if (args.json) {
  console.log(JSON.stringify({ report, times, reached }));
} else {
  console.log(`${report.hook.results} results, ${report.hook.copying} of them copied from by the next call: steps that are whole, %; tokens a result\n`);
  for (const [name, { whole, tokens }] of Object.entries(report))
    console.log(`${name.padEnd(22)} ${(100 * whole).toFixed(1).padStart(5)} ${tokens.toFixed(0).padStart(5)}`);
  console.log("\ncold, ms                 p50    p95");
  for (const [name, { p50, p95 }] of Object.entries(times)) console.log(`${name.padEnd(22)} ${p50.toFixed(0).padStart(5)} ${p95.toFixed(0).padStart(6)}`);
  console.log(`\n${reached ? "reached" : "MISSED"}: ${(100 * TARGET).toFixed(0)} % at no more tokens than head ${PEER} + tail ${PEER}`);
}
