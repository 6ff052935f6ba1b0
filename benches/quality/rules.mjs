// Figures of what the scorer of standing instructions prints.
import { bestOf, share } from "./compare.mjs";

/** Budgets in tokens; below 1, shares of the conversation. */
export const RULE_BUDGETS = [0.1, 2000, 4000, 8000];
/** The budget at which replaced statements are judged. */
const JUDGED_AT = 4000;
const PEERS = ["newest", "newest-skip", "bm25", "users-first"];
/** Ours: prompts as text, and as messages. */
const FORMS = { build: "", messages: ", messages" };

const nameOf = (budget) => (budget < 1 ? `${100 * budget} %` : String(budget));
const part = (row, name) => Number(row[name]) / 100;
const statementsOf = (row) => Object.values(row.kinds.class).reduce((sum, [, count]) => sum + count, 0);

/** The figures of a set, `{method: {budget: row}}`. */
export function ruleFigures(set, methods) {
  const figure = (metric, value, queries, better, peer) => ({ ...share(set, metric, value, queries, better), peer });
  const peersOf = (budget, name, better) => {
    const known = PEERS.filter((peer) => methods[peer]).map((peer) => ({ name: peer, value: part(methods[peer][budget], name) }));
    return bestOf(known, better) ?? "none";
  };
  return Object.entries(FORMS).flatMap(([form, suffix]) => {
    const standing = RULE_BUDGETS.map((budget) => {
      const row = methods[form][budget];
      return figure(`standing at ${nameOf(budget)}${suffix}`, part(row, "standing %"), statementsOf(row), "higher", peersOf(budget, "standing %", "higher"));
    });
    const row = methods[form][JUDGED_AT];
    const [wrong, distractors] = row["distractor errors"].split("/").map(Number);
    const replaced = [
      ["right", "replaced right %", "higher"],
      ["stale", "stale %", "lower"],
    ].map(([metric, name, better]) => figure(`replaced ${metric} at ${JUDGED_AT}${suffix}`, part(row, name), row.probes, better, "none"));
    return [...standing, ...replaced, figure(`words of others taken for rules at ${JUDGED_AT}${suffix}`, wrong / distractors, distractors, "lower", "none")];
  });
}
