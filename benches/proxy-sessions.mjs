// What the proxy sends of recorded sessions: whether each prompt begins with the one before, and what it costs beside sending everything.
//
//   node benches/proxy-sessions.mjs [--package <folder of the built package>] [--sets <folder>]... [--budgets 20000,60000,200000]
//                                   [--join 1] [--json]
//
// Our sessions (cost/sessions) in any case, sets of the format that context.mjs describes where they are. Each is played call by call
// through the handler, in the messages of three APIs; the provider is a function that keeps what it was sent. Marks of a cache count as
// nothing, as they are no part of a prompt. A token is four characters; prices are those of cost/prices.mjs.
//   same        calls whose prompt, tools and instructions among it, begins with all of the one before: of those where the whole
//               conversation is within the budget with room for the tools of the proxy, and of all but those that the proxy says to be cut
//   cost        of all sessions, and of the dearest, where sending everything is 1
//   failed      calls that the proxy passed on as it could not change them
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { joined } from "./cost/conversation.mjs";
import { PRICES } from "./cost/prices.mjs";
import { lengthOf, repeats, tokensOf } from "./cost/prompt.mjs";
import { conversationsOf, ownSet, setsIn } from "./cost/sets.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    sets: { type: "string", multiple: true },
    budgets: { type: "string", default: "20000,60000,200000" },
    join: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const SAME = 0.99;
/** Tokens of the two tools that a cut adds, for which there is room from the beginning. */
const OWN_TOOLS = 500;
const [DEARER, WORST] = [1.02, 1.1];
const DEARER_SHARE = 1 / 40;
const from = (name) => import(pathToFileURL(join(resolve(args.package), "dist", name)));
const [{ proxy }, { itemsToMessages, messagesToItems }] = [await from("proxy.js"), await from("node/index.js")];
const numbers = (list) => list.split(",").map(Number);
const folders = args.sets ?? [join(home, "../shared/bench/trajectories"), join(home, "target/bench/sets/trajectories")];
const sets = [ownSet(), ...setsIn(folders)];
const all = joined(
  sets.flatMap((set) => conversationsOf(set, 9_000, 60)),
  Number(args.join),
);

const schema = { type: "object", properties: { command: { type: "string" } } };
const APIS = {
  "openai-chat": {
    path: "/v1/chat/completions",
    field: "messages",
    prices: "openai",
    rest: { model: "gpt-5", tools: [{ type: "function", function: { name: "shell", description: "Runs a command", parameters: schema } }] },
  },
  "openai-responses": {
    path: "/v1/responses",
    field: "input",
    prices: "openai",
    rest: { model: "gpt-5", tools: [{ type: "function", name: "shell", description: "Runs a command", parameters: schema }] },
  },
  anthropic: {
    path: "/v1/messages",
    field: "messages",
    prices: "anthropic",
    rest: { model: "claude-sonnet-5", max_tokens: 1_000, tools: [{ name: "shell", description: "Runs a command", input_schema: schema }] },
  },
};

/** Messages of each call of a model: one is made before each message of the assistant. */
function callsOf(messages, format) {
  const counts = messages.flatMap(({ role }, at) => (role === "assistant" && at > 0 ? [at] : []));
  if (format === "openai-chat") return counts.map((count) => messages.slice(0, count));
  const { items } = messagesToItems(messages, "openai-chat");
  const written = itemsToMessages(items, format).messages;
  const isAnswer = ({ role, type }) => role === "assistant" || /_call$|^reasoning$/.test(type ?? "");
  // One call writes all that stands between what others said.
  return written.flatMap((message, at) => (at > 0 && isAnswer(message) && !isAnswer(written[at - 1]) ? [written.slice(0, at)] : []));
}

/** Without marks of a cache; a text stands for the block that a mark is put on. */
const bare = (value) =>
  JSON.parse(
    JSON.stringify(value, (key, one) =>
      key === "cache_control" ? undefined : key === "content" && typeof one === "string" ? [{ type: "text", text: one }] : one,
    ),
  );

/** A prompt as a list whose first element is what stands before the messages. */
function promptOf(body, field) {
  const { tools, system, instructions, [field]: messages } = bare(body);
  return [{ tools, system, instructions }, ...messages];
}

async function played(calls, { path, field, prices, rest }, budget) {
  let sent;
  const provider = async (request) => {
    sent = await request.json();
    return Response.json({});
  };
  const handler = proxy({ budget_tokens: budget, token: false, fetch: provider });
  const sum = { calls: 0, below: 0, below_same: 0, uncut: 0, uncut_same: 0, failed: 0, cost: 0, full: 0 };
  let [before, beforeWhole] = [[], []];
  for (const messages of calls) {
    const body = { ...rest, [field]: messages };
    const response = await handler(
      new Request(`http://localhost${path}`, { method: "POST", body: JSON.stringify(body), headers: { authorization: "Bearer k" } }),
    );
    await response.text();
    const [status, ...told] = response.headers.get("x-contextweaver").split("; ");
    const says = Object.fromEntries(told.map((one) => one.split("=")));
    const [now, whole] = [promptOf(sent, field), promptOf(body, field)];
    const same = repeats(before, now);
    const isSame = same.messages === before.length;
    sum.calls += 1;
    if (status === "bypassed") sum.failed += 1;
    const isBelow = Number(says.without ?? says.tokens) + OWN_TOOLS <= budget;
    if (sum.calls > 1 && isBelow) [sum.below, sum.below_same] = [sum.below + 1, sum.below_same + (isSame ? 1 : 0)];
    if (sum.calls > 1 && says.cut === undefined) [sum.uncut, sum.uncut_same] = [sum.uncut + 1, sum.uncut_same + (isSame ? 1 : 0)];
    sum.cost += PRICES[prices](tokensOf(lengthOf(now)), same);
    sum.full += PRICES[prices](tokensOf(lengthOf(whole)), repeats(beforeWhole, whole));
    [before, beforeWhole] = [now, whole];
  }
  handler.free();
  return sum;
}

const total = (list, name) => list.reduce((sum, one) => sum + one[name], 0);
const report = [];
for (const [format, api] of Object.entries(APIS)) {
  for (const budget of numbers(args.budgets)) {
    const sessions = [];
    for (const { messages } of all) sessions.push(await played(callsOf(messages, format), api, budget));
    const ratios = sessions.map(({ cost, full }) => cost / full);
    const row = {
      format,
      budget,
      sessions: sessions.length,
      calls: total(sessions, "calls"),
      failed: total(sessions, "failed"),
      below: total(sessions, "below"),
      below_same: total(sessions, "below_same") / Math.max(1, total(sessions, "below")),
      uncut: total(sessions, "uncut"),
      uncut_same: total(sessions, "uncut_same") / Math.max(1, total(sessions, "uncut")),
      cost: total(sessions, "cost") / total(sessions, "full"),
      dearer: ratios.filter((ratio) => ratio > DEARER).length,
      worst: Math.max(...ratios),
    };
    report.push(row);
    if (args.json) continue;
    const percent = (share) => `${(100 * share).toFixed(1)} %`.padStart(8);
    console.log(
      `${`${format}, ${budget}`.padEnd(26)} ${row.calls} calls, ${row.failed} failed; same: below the budget ${percent(row.below_same)} of ${row.below}, uncut ${percent(row.uncut_same)} of ${row.uncut}; cost ${row.cost.toFixed(2)}, dearer ${row.dearer}/${row.sessions}, worst ${row.worst.toFixed(3)}`,
    );
  }
}
const reached = report.every(
  ({ below, below_same, dearer, worst, sessions }) => (below === 0 || below_same >= SAME) && dearer <= Math.ceil(sessions * DEARER_SHARE) && worst <= WORST,
);
if (args.json) console.log(JSON.stringify({ report, reached }));
else console.log(`${reached ? "reached" : "MISSED"}: ${100 * SAME} % below the budget, one in forty above ${DEARER}, none above ${WORST}`);
