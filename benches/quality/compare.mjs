// Figures against the committed ones: what fell by more than its noise?
//
// A figure is {"kind", "set", "metric", "value", "queries", "noise", "better": "higher" | "lower"}.

/** Digits that are kept, so that a figure that did not change is the same everywhere. */
const DIGITS = 1e5;
const rounded = (value) => Math.round(value * DIGITS) / DIGITS;

/** The name of a figure in the baseline. */
export const nameOf = ({ kind, set, metric }) => `${kind}/${set}/${metric}`;

/**
 * One standard error of a share over so many queries, and at least one query. Where a query counts in part, as in
 * recall@5, it is an upper bound.
 */
export function noiseOf(share, queries) {
  if (!(queries > 0)) throw new RangeError(`a figure needs queries, not ${queries}`);
  return Math.max(1 / queries, Math.sqrt(Math.max(0, share * (1 - share)) / queries));
}

/** What is committed of figures: no more than is needed to compare. */
export function baselineOf(figures) {
  const entry = ({ value, noise, queries }) => ({ value: rounded(value), noise: rounded(noise), queries });
  return Object.fromEntries(figures.map((figure) => [nameOf(figure), entry(figure)]));
}

/** The change since the baseline, where above 0 is better; nothing when the figure is new. */
export function changeOf(figure, baseline) {
  const before = baseline[nameOf(figure)];
  if (before === undefined) return undefined;
  const difference = rounded(figure.value) - before.value;
  return figure.better === "lower" ? 0 - difference : difference;
}

const EPSILON = 0.1 / DIGITS;

/**
 * Compares figures with a baseline. `fell`: worse by more than the noise of the baseline. `gone`: the set was measured,
 * but the figure is not there any more. `resized`: the set has another number of queries, so nothing can be said.
 * `fresh`: not in the baseline. `unmeasured`: in the baseline, of a set that was not measured.
 */
export function compare(figures, baseline) {
  const measured = new Set(figures.map(({ kind, set }) => `${kind}/${set}`));
  const names = new Set(figures.map(nameOf));
  const result = { fell: [], gone: [], resized: [], fresh: [], unmeasured: [] };
  for (const figure of figures) {
    const before = baseline[nameOf(figure)];
    if (before === undefined) result.fresh.push(figure);
    else if (before.queries !== figure.queries) result.resized.push(figure);
    else if (changeOf(figure, baseline) < -before.noise - EPSILON) result.fell.push(figure);
  }
  for (const name of Object.keys(baseline)) {
    if (names.has(name)) continue;
    const [kind, set] = name.split("/");
    (measured.has(`${kind}/${set}`) ? result.gone : result.unmeasured).push(name);
  }
  return result;
}

/** The best of the peers that ran, or nothing. */
export function bestOf(values, better) {
  const known = values.filter(({ value }) => Number.isFinite(value));
  known.sort((a, b) => (better === "lower" ? a.value - b.value : b.value - a.value));
  return known[0];
}

/** A figure that is a share of so many queries. */
export function share(set, metric, value, queries, better = "higher") {
  return { set, metric, value, queries, noise: noiseOf(Math.min(1, value), queries), better, unit: "share" };
}
