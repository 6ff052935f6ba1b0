// Figures of what `bench cost` prints.
import { share } from "./compare.mjs";
import { COST, COST_JOINED } from "./targets.mjs";

const PRICES = ["openai", "anthropic"];
const NAMES = { openai: "", anthropic: ", Anthropic" };
/** A replay is the same each time; what remains is rounding. */
const COST_NOISE = 0.01;
const OURS = "default";

/** Everything but ours and no engine at all, as far as it keeps to the budget: what sends too much shows more for it. */
const peersOf = (strategies) =>
  Object.entries(strategies).filter(
    ([name, { openai }]) => name !== OURS && name !== "full" && !name.startsWith("thrift") && openai.over + openai.failed === 0,
  );

/** The cheapest peer that shows at least as much, or nothing. */
function cheapest(strategies, prices) {
  const { recall } = strategies[OURS][prices];
  const able = peersOf(strategies).filter(([, rows]) => rows[prices].recall >= recall);
  const [best] = able.map(([name, rows]) => ({ name, value: rows[prices].cost })).sort((a, b) => a.value - b.value);
  return best ?? "none";
}

/** What shows most among the peers that cost no more, or nothing. */
function mostShown(strategies, metric) {
  const { cost } = strategies[OURS].openai;
  const able = peersOf(strategies).filter(([, rows]) => rows.openai.cost <= cost && Number.isFinite(rows.openai[metric]));
  const [best] = able.map(([name, rows]) => ({ name, value: rows.openai[metric] })).sort((a, b) => b.value - a.value);
  return best ?? "none";
}

const figure = (set, metric, value, queries, rest) => ({ ...share(set, metric, value, queries), peer: "none", ...rest });
const cost = (set, metric, value, queries, rest) => figure(set, metric, value, queries, { noise: COST_NOISE, better: "lower", ...rest });
const count = (set, metric, value, queries, target) => ({ set, metric, value, queries, noise: 0, better: "lower", unit: "count", peer: "none", target });

function atBudget(name, targets, { budget, sessions, strategies }) {
  const at = `at ${budget / 1000}k`;
  const ours = strategies[OURS];
  const target = (metric) => (targets[metric] === undefined ? {} : { target: targets[metric] });
  const costs = PRICES.map((prices) => {
    const metric = `cost ${at}${NAMES[prices]}`;
    return cost(name, metric, ours[prices].cost, sessions, { peer: cheapest(strategies, prices), ...target(metric) });
  });
  const shown = ["recall", "recall ahead"]
    .filter((metric) => Number.isFinite(ours.openai[metric]))
    .map((metric) => {
      return figure(name, `${metric} ${at}`, ours.openai[metric], ours.openai.queries, { peer: mostShown(strategies, metric), ...target(`${metric} ${at}`) });
    });
  return [...costs, ...shown];
}

/** What holds at every budget and at both prices. */
function promises(name, results) {
  const rows = results.flatMap(({ sessions, strategies }) => PRICES.map((prices) => ({ sessions, ...strategies[OURS][prices] })));
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const weighted = (key) => rows.reduce((total, row) => total + (row[key] ?? 0) * row[`${key} of`], 0) / sum(`${key} of`);
  const replays = sum("sessions");
  return [
    count(name, "dearer sessions", sum("dearer"), replays, Math.floor(replays * COST.dearer)),
    cost(name, "dearest session", Math.max(...rows.map(({ worst }) => worst)), replays, { target: 100 * COST.worst }),
    figure(name, "next-step strings there", weighted("next"), sum("next of"), { target: 100 * COST.next }),
    figure(name, "newest result whole", weighted("newest"), sum("newest of"), { target: 100 * COST.newest }),
    ...["rewrites", "over", "failed"].map((key) =>
      count(name, { rewrites: "rewrites that no cut names", over: "prompts over budget", failed: "failed calls" }[key], sum(key), sum("calls"), 0),
    ),
  ];
}

function ofTools({ tools, steps, offers }) {
  const set = `${tools} tools`;
  const { [OURS]: ours, ...others } = offers;
  const costs = Object.entries(others).flatMap(([name, { cost: theirs }]) =>
    PRICES.map((prices) =>
      cost(set, `cost beside ${name}${NAMES[prices]}`, ours.cost[prices] / theirs[prices], steps, prices === "openai" ? { target: 100 * COST.tools } : {}),
    ),
  );
  const right = Object.entries(others)
    .map(([name, { right: value }]) => ({ name, value: value / steps }))
    .sort((a, b) => b.value - a.value)[0];
  return [...costs, figure(set, "tools called right", ours.right / steps, steps, { peer: right, target: 100 * right.value })];
}

/** All figures of a run of `cost.mjs`. Joined sessions are a set of their own. */
export function costFigures({ sessions, tools }, targets) {
  const groups = new Map();
  for (const result of sessions) {
    const name = result.join === 1 ? result.set : `${result.set}, ${result.join} joined`;
    groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  const figures = [...groups].flatMap(([name, results]) => {
    const known = { ...targets[name], ...COST_JOINED[name] };
    return [...results.flatMap((result) => atBudget(name, known, result)), ...promises(name, results)];
  });
  return [...figures, ...ofTools(tools)];
}
