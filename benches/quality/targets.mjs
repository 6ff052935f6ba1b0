// What each known set is to reach, in percent, from the notes of the sets. A set without targets is measured all the
// same; one that is listed here and is not found is named as skipped.

const route = (first, five, mrr) => ({ "recall@1": first, "recall@5": five, mrr });
const refuse = (returned, refused, recall) => ({ "false return": returned, "false abstain": refused, "recall@5": recall });
const byBudget = (metric, budgets, values) => Object.fromEntries(budgets.map((budget, at) => [`${metric} at ${budget}`, values[at]]));
const recall = (budgets, values) => byBudget("recall", budgets, values);
const context = (...values) => recall([1000, 2000, 4000, 6000], values);
/** Costs in percent of no engine, at the prices of OpenAI, and recall, by budgets in thousands of tokens. */
const pays = (budgets) =>
  Object.fromEntries(
    Object.entries(budgets).flatMap(([budget, [cost, shown]]) => [
      [`cost at ${budget}k`, cost],
      [`recall at ${budget}k`, shown],
    ]),
  );
const stands = (...values) => byBudget("standing", ["10 %", 2000, 4000, 8000], values);
const agents = (...values) => recall([1000, 2000, 4000, 8000], values);

/** The budgets, in tokens, at which prompts are compiled. */
export const BUDGETS = [1000, 2000, 4000, 6000, 8000];
/** The least share of all identifiers of a log that is in the prompt or in one recall. */
export const REACH = 95;
/** Builds that may fail or break a rule of prompts. */
export const BROKEN = 0;
/** Budgets at which sessions are replayed, and how many are joined to one conversation. */
export const COST_BUDGETS = [8000, 16000, 32000, 64000, 200000];
export const COST_JOINS = [1, 4];
/**
 * What holds for every set: the share of sessions that may cost more than without an engine, the dearest of them, what of the next step
 * and of the newest result is to be there, and what 500 tools may cost beside all of them or a list for each turn.
 */
export const COST = { dearer: 1 / 40, worst: 1.1, next: 1, newest: 0.99, tools: 0.5 };
/** The sets of agents, which also have targets as one set. */
export const AGENTS = { name: "all agents", of: ["swe-mini", "tau2-gpt5", "tbench"] };

export const TARGETS = {
  routing: {
    "bfcl-core": route(68.5, 92, 85),
    "contextweaver-50": route(74, 94, 84),
    "contextweaver-83": route(70, 91.5, 80),
    "contextweaver-1000": route(69, 91, 79),
    "contextweaver-large-320": route(100, 100, 100),
    livemcp: route(40, 64, 62),
    metatool: route(52, 74, 64),
    "mcp-servers": {},
  },
  tools: {
    livemcpbench: { "recall@5": 46, "recall@5 with MiniLM-L6 (23M)": 50, "confidence off by": 7 },
    "livemcpbench, by step": {},
    "github-mcp-server": {},
    "mcp-servers": {},
  },
  abstain: {
    "bfcl-lists": refuse(40, 4, 98),
    "pool-cw-80": refuse(10, 2, 91.5),
    "pool-mcp-narrow": refuse(35, 4, 69.2),
    unanswerable: {},
    "held-out": {},
  },
  multitool: { "seal-multi-dev": { "complete@5": 81, "complete@10": 92 }, "several-wishes": {} },
  context: {
    "bfcl-base": context(77, 95, 100, 100),
    "bfcl-long": context(92, 92, 98, 98),
    qmsum: context(15, 40, 53, 62),
    "tau-airline": context(23, 48, 72, 90),
    "mcp-shop": {},
  },
  chats: { "locomo-dev": recall([1000, 2000], [67, 75]), "beam-dev": agents(40, 47, 60, 72) },
  trajectories: {
    "swe-mini": agents(44, 56, 82, 92),
    "tau2-gpt5": {},
    tbench: {},
    [AGENTS.name]: agents(42, 54, 78, 90),
  },
  rules: {
    "rules-own": {},
    "rules-traj": {},
    "both sets of rules": {
      ...stands(72, 75, 86, 93),
      "replaced right at 4000": 92,
      "replaced stale at 4000": 2,
      "words of others taken for rules at 4000": 0,
    },
    "sixty, held out": {},
  },
  recall: Object.fromEntries(
    ["bfcl-base", "bfcl-long", "qmsum", "tau-airline", "mcp-shop", "swe-mini", "tau2-gpt5", "tbench", "beam-dev"].map((set) => [
      set,
      { "within reach": REACH },
    ]),
  ),
  encodings: {},
  digests: { recall_benchmark: { inline: (100 * 48) / 55 }, "digest-families": {} },
  cost: {
    recorded: {},
    "swe-mini": pays({ 8: [62, 84], 16: [76, 96], 32: [88, 98], 200: [100, 100] }),
    "tau2-gpt5": {},
    tbench: pays({ 8: [55, 82], 16: [70, 82], 32: [82, 91], 200: [100, 100] }),
    "500 tools": {},
  },
  secrets: {
    secrets: { masked: 95, "ordinary text kept": 100 },
  },
};

/** Of sessions that are joined; a set that is missing is named once. */
export const COST_JOINED = { "swe-mini, 4 joined": pays({ 16: [34, 94], 32: [46, 98], 64: [70, 100], 200: [80, 98] }) };

/** Where a set that is missing comes from. */
export const SOURCES = {
  chats: "may not be stored: make it with convert-chats.py",
  trajectories: "may not be stored: make it with convert-traj.py",
  cost: "may not be stored: make it with convert-traj.py",
};
