// What an agent pays for a session, and what it still sees: recorded sessions, replayed call by call through strategies.
//
//   node benches/cost.mjs [--package <folder of the built package>] [--sets <folder>]... [--budgets 8000,16000,32000,64000,200000]
//                         [--join 1,4] [--only default,cut-0.5] [--set swe-mini]...
//                         [--parts sessions,tools] [--plots <folder>] [--json]
//
// Our sessions (cost/sessions) are replayed in any case; sets of the format that context.mjs describes where they are: in --sets,
// else in ../shared/bench/trajectories and target/bench/sets/trajectories. `--join 4` puts four sessions into one conversation, one
// task after the other. Counted are the sessions of more than 9,000 tokens, at most 60 of a set.
//
// `--plots` writes cost over recall as SVG, once for each provider. A token is four characters of the JSON of the messages.
//   cost          what all prompts cost, as a share of `full`: the whole conversation each time. `cost/prices.mjs` has the two models.
//   dearer        sessions that cost more than 1.02 times `full`; `worst` is the dearest
//   recall        questions whose labelled evidence stands in the prompt that has the step they are about
//   recall ahead  the same in the prompt before it, which the model had when it wrote that step
//   next          steps whose call copies words that only the newest result has, and that all stand in the prompt
//   newest        newest results that stand whole, of those that take at most a quarter of the budget
//   rewrites      calls whose prompt changed what was sent, although the whole conversation is within the budget and no cut says why
//   over, failed  prompts above 1.05 times the budget; calls without a prompt
//
// At last a conversation with eight questions of a user and 500 tools (cost/tools.mjs), where what is offered counts as part of the
// prompt, in front: cost beside all tools in every call, and steps whose tool was offered or found.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { joined } from "./cost/conversation.mjs";
import { callsOf, figures, replay } from "./cost/replay.mjs";
import { conversationsOf, ownSet, setsIn } from "./cost/sets.mjs";
import { entry, strategiesOf } from "./cost/strategies.mjs";
import { measureTools } from "./cost/tools.mjs";
import { costPicture } from "./quality/cost-plot.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    sets: { type: "string", multiple: true },
    set: { type: "string", multiple: true },
    budgets: { type: "string", default: "8000,16000,32000,64000,200000" },
    join: { type: "string", default: "1,4" },
    only: { type: "string" },
    parts: { type: "string", default: "sessions,tools" },
    json: { type: "boolean", default: false },
    plots: { type: "string" },
    work: { type: "string", default: join(home, "target/bench") },
  },
});

/** Public sets that are replayed where they are. */
const PUBLIC = ["swe-mini", "tau2-gpt5", "tbench"];
const LEAST = 9_000;
const MOST = 60;
const numbers = (list) => list.split(",").map(Number);
const folders = args.sets ?? [join(home, "../shared/bench/trajectories"), join(args.work, "sets/trajectories")];
const strategies = await strategiesOf(args.package);
const names = args.only?.split(",") ?? Object.keys(strategies);
const unknown = names.find((name) => !(name in strategies));
if (unknown !== undefined) {
  console.error(`error: there is no strategy '${unknown}'; there are ${Object.keys(strategies).join(", ")}`);
  process.exit(2);
}

function sets() {
  const found = [ownSet(), ...setsIn(folders)];
  for (const name of PUBLIC) {
    if (!found.some((set) => set.name === name))
      console.error(`SKIPPED: cost: the set ${name} is not here; it may not be stored: make it with convert-traj.py`);
  }
  return args.set ? found.filter(({ name }) => args.set.includes(name)) : found;
}

/** All strategies on some conversations at a budget: {sessions, strategies: {name: {price model: figures}}}. */
function measure(conversations, budget) {
  const full = replay(conversations, strategies.full, budget);
  const measured = names.map((name) => {
    const rows = name === "full" ? full : replay(conversations, strategies[name], budget);
    return [name, Object.fromEntries(Object.entries(rows).map(([prices, row]) => [prices, figures(row, full[prices])]))];
  });
  return { sessions: conversations.length, strategies: Object.fromEntries(measured) };
}

const percent = (share) => (share === undefined ? "-" : (100 * share).toFixed(0));

function table({ sessions, strategies: measured }) {
  const head = ["", "openai", "dearer", "worst", "anthropic", "dearer", "worst", "tokens", "recall", "ahead", "next", "newest", "rewrites", "over", "failed"];
  const rows = Object.entries(measured).map(([name, { openai, anthropic }]) => [
    name,
    ...[openai, anthropic].flatMap(({ cost, dearer, worst }) => [cost.toFixed(2), `${dearer}/${sessions}`, worst.toFixed(2)]),
    openai.tokens.toFixed(2),
    ...["recall", "recall ahead", "next", "newest"].map((key) => percent(openai[key])),
    ...["rewrites", "over", "failed"].map((key) => String(openai[key])),
  ]);
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => `  ${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ")}`).join("\n");
}

function sessions() {
  const results = [];
  for (const set of sets()) {
    const all = conversationsOf(set, LEAST, MOST);
    for (const count of numbers(args.join)) {
      const conversations = joined(all, count).map(callsOf);
      if (conversations.length === 0) {
        console.error(`SKIPPED: cost: ${set.name} has no ${count} sessions of ${LEAST} tokens to join`);
        continue;
      }
      for (const budget of numbers(args.budgets)) {
        const result = { set: set.name, join: count, budget, ...measure(conversations, budget) };
        results.push(result);
        if (!args.json) print(result);
      }
    }
  }
  return results;
}

function print(result) {
  const [{ openai }] = Object.values(result.strategies);
  const tasks = result.join === 1 ? "one task" : `${result.join} tasks`;
  console.log(
    `\n${result.set}, ${tasks} a conversation, ${result.budget} tokens: ${result.sessions} conversations, ${openai.calls} calls, ${openai.queries} questions`,
  );
  console.log(table(result));
  for (const [
    name,
    {
      openai: { error },
    },
  ] of Object.entries(result.strategies))
    if (error) console.log(`  ${name}: ${error}`);
}

function printTools({ tools, tokens, steps, offers }) {
  console.log(`\n${tools} tools, eight questions, ${tokens} tokens of conversation, ${steps} steps`);
  for (const [name, { cost, right, searches, changes }] of Object.entries(offers)) {
    console.log(
      `  ${name.padEnd(30)} openai ${cost.openai.toFixed(2)}  anthropic ${cost.anthropic.toFixed(2)}  right ${right}/${steps}  searches ${searches}  changed lists ${changes}`,
    );
  }
}

const parts = args.parts.split(",");
const result = {};
if (parts.includes("sessions")) result.sessions = sessions();
if (args.plots !== undefined) {
  mkdirSync(args.plots, { recursive: true });
  for (const prices of ["openai", "anthropic"]) writeFileSync(join(args.plots, `cost-${prices}.svg`), costPicture(result.sessions, prices));
}
if (parts.includes("tools")) {
  result.tools = measureTools({ ...(await entry(args.package, "openai")), ...(await entry(args.package, "index")) });
  if (!args.json) printTools(result.tools);
}
if (args.json) console.log(JSON.stringify(result));
