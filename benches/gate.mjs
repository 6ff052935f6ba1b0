// Measures what a client of MCP sees of a result when no loop of ours builds its prompts (`firewalled`, the gateway): are the strings
// there that its next call copies out of it, and how many tokens does it get?
//
//   node benches/gate.mjs --package <folder of the built package> --sets <folder> [--json]
//
// Sets are those of `context.mjs`. Of each call that follows a result, its strings of six characters and more count that stand in that
// result and stood nowhere before; a step is whole when all of them are in what the client got. Tokens are characters / 4, of all
// results and of those that are copied from. Beside `firewalled` stands what anybody does: the start and the end of a long result.
// Halves are the sessions at even and at odd places of each set: how far they differ is how far chance goes.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { headAndTail, stepsOf } from "./next-step.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: { package: { type: "string", default: join(home, "pkg") }, sets: { type: "string", multiple: true }, json: { type: "boolean", default: false } },
});
const load = (file) => import(pathToFileURL(join(resolve(args.package), "dist/node", file)));
const { ContextManager } = await load("index.js");
const { firewalled } = await load("mcp-server.js");

/** The share of steps that have to be whole, at no more tokens than head and tail of this size take. */
const TARGET = 0.97;
const PEER = 500;

function folders() {
  if (args.sets) return args.sets.map((folder) => resolve(folder));
  const fetched = join(home, "target/bench/sets/trajectories");
  if (existsSync(fetched)) return [fetched];
  if (!args.json) console.log("SKIPPED: the recorded trajectories are not here (target/bench/sets/trajectories); using our own sets");
  return [join(home, "tests/quality")];
}

const sets = folders().flatMap((folder) =>
  readdirSync(folder)
    .sort()
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8"))),
);

const sessions = sets.flatMap(({ sessions = [] }) => sessions.map((session, at) => ({ half: at % 2 === 0 ? "even" : "odd", steps: stepsOf(session) })));

/** What a client gets that is put before a server. */
const served = (options) => async (session) => {
  const manager = new ContextManager();
  let text;
  const client = firewalled({ callTool: async () => ({ content: [{ type: "text", text }] }), listTools: async () => ({ tools: [] }) }, manager, options);
  const shown = [];
  for (const step of session) {
    text = step.text;
    const { content } = await client.callTool({ name: step.tool, arguments: step.input });
    shown.push(content.map((block) => block.text).join("\n"));
  }
  manager.free();
  return shown;
};

/** What stands in a prompt for a result that nobody asked more of. */
const digested = async (session) => {
  const manager = new ContextManager();
  const shown = session.map(
    ({ text, tool }, at) => manager.ingestMcpResult({ tool_call_id: `c${at}`, tool_name: tool, result: { content: [{ type: "text", text }] } }).item.text,
  );
  manager.free();
  return shown;
};

const ways = {
  whole: async (session) => session.map(({ text }) => text),
  ...Object.fromEntries([250, 500, 750, 1_000].map((tokens) => [`head ${tokens} + tail ${tokens}`, headAndTail(tokens)])),
  "digest above 500": digested,
  ...Object.fromEntries([500, 800, 1_000, 1_150, 1_200, 1_600].map((result_tokens) => [`result_tokens: ${result_tokens}`, served({ result_tokens })])),
  default: served({}),
};

const estimate = (text) => Math.ceil(text.length / 4);
const report = {};
for (const [name, way] of Object.entries(ways)) {
  const halves = { even: [0, 0, 0, 0, 0], odd: [0, 0, 0, 0, 0] };
  for (const { half, steps: session } of sessions) {
    const [shown, counts] = [await way(session), halves[half]];
    for (const [at, { copied }] of session.entries()) {
      const tokens = estimate(shown[at]);
      counts[0] += 1;
      counts[1] += tokens;
      if (copied.length === 0) continue;
      counts[2] += 1;
      counts[3] += tokens;
      if (copied.every((word) => shown[at].includes(word))) counts[4] += 1;
    }
  }
  halves.both = halves.even.map((count, at) => count + halves.odd[at]);
  report[name] = Object.fromEntries(
    Object.entries(halves).map(([half, [results, tokens, copying, copied_tokens, whole]]) => [
      half,
      { results, tokens: tokens / results, copying, copied_tokens: copied_tokens / copying, whole: whole / copying },
    ]),
  );
}

const peer = report[`head ${PEER} + tail ${PEER}`].both;
const ours = report.default.both;
const reached = ours.whole >= TARGET && ours.tokens <= peer.tokens;
if (args.json) {
  console.log(JSON.stringify({ report, reached }));
} else {
  console.log(`${ours.results} results, ${ours.copying} of them copied from by the next call: steps that are whole, %; tokens a result, of all and of those\n`);
  for (const [name, halves] of Object.entries(report)) {
    const cells = Object.entries(halves).map(
      ([half, { whole, tokens, copied_tokens }]) =>
        `${half} ${(100 * whole).toFixed(1).padStart(5)} ${tokens.toFixed(0).padStart(4)} ${copied_tokens.toFixed(0).padStart(4)}`,
    );
    console.log(`${name.padEnd(22)} ${cells.join("   ")}`);
  }
  console.log(`\n${reached ? "reached" : "MISSED"}: ${(100 * TARGET).toFixed(0)} % at no more tokens than head ${PEER} + tail ${PEER}`);
}
