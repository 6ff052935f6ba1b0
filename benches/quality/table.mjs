// Figures as a table: set, metric, here, best peer in the same run, target, change since the baseline.
import { changeOf, nameOf } from "./compare.mjs";

export const HEAD = ["Set", "Metric", "Queries", "Here", "Best peer in this run", "Target", "Since the baseline"];
const LEFT = [true, true, false, false, true, true, true];

/** What stands there when a figure is the committed one. */
const SAME = "=";
const EPSILON = 1e-9;

/** A figure in percent, or a count. */
export function shown(figure, value = figure.value) {
  return figure.unit === "count" ? String(value) : (100 * value).toFixed(1);
}

/** By how much a figure misses its target, in its own unit; 0 when it does not. */
export function missedBy({ value, target, better }) {
  if (target === undefined) return 0;
  const missed = better === "lower" ? value - target : target - value;
  return missed > EPSILON ? missed : 0;
}

function targetCell(figure) {
  if (figure.target === undefined) return "";
  const missed = missedBy(figure);
  const sign = figure.better === "lower" ? "≤" : "≥";
  // A miss that rounds to nothing is one all the same.
  const by = figure.unit !== "count" && missed < 0.0005 ? "less than 0.1" : shown(figure, missed);
  return `${sign} ${shown(figure, figure.target)}${missed > 0 ? `, missed by ${by}` : ""}`;
}

function peerCell({ peer, unit }) {
  if (peer === "none") return "";
  return peer === undefined ? "not run" : `${shown({ unit }, peer.value)} ${peer.name}`;
}

function changeCell(figure, baseline, verdict) {
  const has = (list) => list.some((other) => nameOf(other) === nameOf(figure));
  if (has(verdict.fresh)) return "new";
  if (has(verdict.resized)) return "another number of queries";
  const change = changeOf(figure, baseline);
  const { noise } = baseline[nameOf(figure)];
  const text = Math.abs(change) < EPSILON ? SAME : `${change > 0 ? "better" : "worse"} by ${shown(figure, Math.abs(change))}`;
  return has(verdict.fell) ? `FELL, ${text}; noise ${shown(figure, noise)}` : text;
}

/** The cells of each figure. */
export function rows(figures, baseline, verdict) {
  return figures.map((figure) => [
    figure.set,
    figure.metric,
    String(figure.queries),
    shown(figure),
    peerCell(figure),
    targetCell(figure),
    changeCell(figure, baseline, verdict),
  ]);
}

/** The table for a terminal. */
export function text(cells) {
  const lines = [HEAD, ...cells];
  const widths = HEAD.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  const pad = (cell, at) => (LEFT[at] ? cell.padEnd(widths[at]) : cell.padStart(widths[at]));
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

/** The table in Markdown, without the last column where nothing has changed. */
export function markdown(cells) {
  const columns = cells.every((row) => row.at(-1) === SAME) ? HEAD.length - 1 : HEAD.length;
  const line = (row) =>
    `| ${row
      .slice(0, columns)
      .map((cell) => cell.replaceAll("|", "\\|"))
      .join(" | ")} |`;
  const rule = LEFT.slice(0, columns).map((left) => (left ? "---" : "---:"));
  return [line(HEAD), `|${rule.join("|")}|`, ...cells.map(line)].join("\n");
}
