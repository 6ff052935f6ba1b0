// QUALITY.md and its plots.
import { noiseOf } from "./compare.mjs";
import { costPicture } from "./cost-plot.mjs";
import { abstainPicture, recallPicture } from "./plots.mjs";
import { markdown, missedBy } from "./table.mjs";
import { TARGETS } from "./targets.mjs";

/** What each kind of set measures. */
export const TITLES = {
  routing: "Choosing tools",
  tools: "Choosing tools for long tasks",
  abstain: "Saying no",
  multitool: "All the tools a request needs",
  context: "Evidence in the prompt: tool logs and meetings",
  chats: "Evidence in the prompt: long chats",
  trajectories: "Evidence in the prompt: sessions of agents",
  rules: "What the user said once and for all",
  cost: "What an agent pays, and what it sees",
  recall: "Identifiers within reach",
  digests: "Facts in digests of large results",
  encodings: "Spellings of structured results",
  secrets: "Credentials",
};

/** Name, title, the curves that it is drawn of, and how. */
const PLOTS = [
  ["recall", "Recall over budget", "recall", (curves) => recallPicture(curves, noiseOf)],
  ["abstain", "False returns over false abstentions", "abstain", (curves) => abstainPicture(curves, TARGETS.abstain)],
  ["cost-openai", "Cost over recall, prices of OpenAI", "cost", (curves) => costPicture(curves, "openai")],
  ["cost-anthropic", "Cost over recall, prices of Anthropic", "cost", (curves) => costPicture(curves, "anthropic")],
];

/** The plots that there are data for: name and SVG. */
export function pictures(curves) {
  return PLOTS.filter(([, , source]) => curves[source].length > 0).map(([name, , source, draw]) => [name, draw(curves[source])]);
}

/** Counts of figures, targets and skips, a line each. */
export function summary({ figures, unmeasured, skipped }) {
  const kinds = new Set(figures.map(({ kind }) => kind)).size;
  const aimed = figures.filter(({ target }) => target !== undefined);
  const reached = aimed.filter((figure) => missedBy(figure) === 0).length;
  const targets = `${reached} of ${aimed.length} targets reached`;
  const counts = `${figures.length} figures of ${kinds} ${kinds === 1 ? "kind" : "kinds"}; ${targets}; ${skipped.length} skipped`;
  return [counts, ...(unmeasured.length > 0 ? [`${unmeasured.length} figures of the baseline were not measured`] : [])];
}

const NOTES = `\
- **Noise** is one standard error of a figure, from the number of its queries, and at least one query. The run fails when a figure
  is worse than the committed one (\`quality/baseline.json\`) by more.
- **Best peer** is the best of those that ran. For tools: minisearch and orama with the same texts, the search of the Python
  library (\`navigator: "beam"\`) and, for several tools at once, plain BM25. For prompts: BM25 over items, best first, and the newest
  items, until the budget is full. "Not run" says that none could.
- **Long tasks**: the best peer without a model is BM25, a search by regular expressions, minisearch or orama; with a model it is
  that model alone. "Confidence off by" is how far the mean of \`confidence\` is from the share of queries that have a right tool
  among the first five.
- **Saying no**: peers refuse nothing, so each gets the threshold on its own score, of that very set, at which it refuses as many
  served queries as we do. Ours is one default for all sets.
- **Cost** is what all prompts of a session cost beside the whole conversation in every call (100), when what repeats the beginning of
  the call before costs a tenth; answers are left out. Its best peer is the cheapest of those within the budget that show at least as
  much, and that of recall the one that shows most at no higher cost. *Recall* is in the prompt that has the step a question is
  about, *recall ahead* in the one before, which the model had when it wrote that step. *Dearer* is a session above 102. Sums are
  over all budgets and both prices.
- Most sets were in view while parameters were chosen, so their figures are optimistic. \`held-out\` was not.`;

/** The report: the result of a run, the cells of each kind that was measured, and the curves of the plots. */
export function document(result, tables, curves) {
  const lines = [
    "<!-- Written by `cargo xtask bench quality`; changes by hand are lost. -->",
    "# Quality",
    "",
    `contextweaver ${result.version}, default options. Every figure of a peer is of the same run. Percent, except counts.`,
    "",
    ...summary(result).map((line) => `- ${line}.`),
    ...result.skipped.map((reason) => `- **Skipped**: ${reason}.`),
    "",
    "How to read it:",
    "",
    NOTES,
    "",
    "What the sets are and where they come from: [README.md](README.md).",
  ];
  for (const [name, title, source] of PLOTS) if (curves[source].length > 0) lines.push("", `## ${title}`, "", `![${title}](quality/${name}.svg)`);
  for (const [kind, cells] of tables) lines.push("", `## ${TITLES[kind]}`, "", markdown(cells));
  return `${lines.join("\n")}\n`;
}
