// Plots as SVG: small panels side by side, readable on light and dark pages (no background, middle tones).
const PANEL = { width: 250, height: 170, left: 34, right: 14, top: 26, bottom: 26 };
const COLUMNS = 3;
const LEGEND = { line: 18, below: 17 };
export const TEXT = "#7a7a7a";
/** Ours first; each series also has a dash of its own, for eyes and prints without colour. */
export const OURS = { colour: "#2f81f7", width: 2.5, dash: "" };
export const STYLES = [
  { colour: "#d9730d", width: 1.5, dash: "6 3" },
  { colour: "#1a9e5c", width: 1.5, dash: "2 3" },
  { colour: "#a371f7", width: 1.5, dash: "8 3 2 3" },
  { colour: "#e0524d", width: 1.5, dash: "1 2" },
];

export const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
export const number = (value) => String(Math.round(value * 10) / 10);
export const label = (x, y, text, rest = "") => `<text x="${number(x)}" y="${number(y)}"${rest}>${escape(text)}</text>`;

/** Runs of points that have a value. */
function runs(points) {
  const found = [[]];
  for (const point of points) {
    if (Number.isFinite(point[1])) found.at(-1).push(point);
    else if (found.at(-1).length > 0) found.push([]);
  }
  return found.filter((run) => run.length > 0);
}

const stroke = ({ colour, width, dash }) => `fill="none" stroke="${colour}" stroke-width="${width}"${dash ? ` stroke-dasharray="${dash}"` : ""}`;
const places = (points) => points.map(([x, y]) => `${number(x)},${number(y)}`).join(" ");
const across = (left, right, y, style) => `<line x1="${number(left)}" x2="${number(right)}" y1="${number(y)}" y2="${number(y)}" ${style}/>`;

function line(points, style, x, y) {
  return runs(points)
    .map((run) => `<polyline points="${places(run.map(([at, value]) => [x(at), y(value)]))}" ${stroke(style)}/>`)
    .join("");
}

/** Where our default stands is a disc, where it is to be a ring. */
function circle(x, y, kind) {
  const looks = kind === "default" ? `r="4.5" fill="${OURS.colour}"` : `r="5.5" fill="none" stroke="${TEXT}" stroke-width="1.5"`;
  return `<circle cx="${number(x)}" cy="${number(y)}" ${looks}/>`;
}

/**
 * Draws one panel. `series` is [{name, points: [[x, share], ...]}], of which the first is ours; `band` is the noise of
 * its points; `marks` are [x, share, "target" or "default"].
 */
function panel({ title, series, band, marks = [] }, axis, styles) {
  const { width, height, left, right, top, bottom } = PANEL;
  const [low, high] = [axis.scale(axis.ticks[0]), axis.scale(axis.ticks.at(-1))];
  const x = (value) => left + ((axis.scale(value) - low) / (high - low)) * (width - left - right);
  const y = (share) => height - bottom - share * (height - top - bottom);
  const parts = [label(left, 15, title, ' font-weight="600"')];
  for (const share of [0, 0.5, 1]) {
    parts.push(across(left, width - right, y(share), `stroke="${TEXT}" stroke-opacity=".35"`));
    parts.push(label(left - 5, y(share) + 4, String(100 * share), ' text-anchor="end"'));
  }
  for (const tick of axis.ticks) parts.push(label(x(tick), height - 10, axis.text(tick), ' text-anchor="middle"'));
  if (band) {
    const inside = (share) => Math.min(1, Math.max(0, share));
    const edge = (sign) => series[0].points.map(([at, share], point) => [x(at), y(inside(share + sign * band[point]))]);
    const outline = places([...edge(1), ...edge(-1).reverse()]);
    parts.push(`<polygon points="${outline}" fill="${OURS.colour}" fill-opacity=".18"/>`);
  }
  // Ours last, so that it lies on top.
  for (const { name, points } of [...series].reverse()) parts.push(line(points, styles.get(name), x, y));
  for (const [at, share, kind] of marks) {
    parts.push(circle(x(at), y(share), kind));
  }
  return parts.join("\n");
}

function legend(names, styles, marks) {
  let [x, y] = [PANEL.left, 13];
  const parts = [];
  const put = (sample, name) => {
    // Letters of this font are some 6.6 wide at most.
    const width = 42 + name.length * 6.6;
    if (x + width > COLUMNS * PANEL.width) [x, y] = [PANEL.left, y + LEGEND.line];
    parts.push(sample(), label(x + 30, y + 4, name));
    x += width;
  };
  for (const name of names) put(() => across(x, x + 24, y, stroke(styles.get(name))), name);
  for (const kind of marks) put(() => circle(x + 12, y, kind), kind);
  return [parts.join("\n"), y + LEGEND.below];
}

/** A picture of all panels, with a title for those who hear it read. */
export function picture({ title, axis, panels }) {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))];
  const styles = new Map(names.map((name, at) => [name, at === 0 ? OURS : STYLES[(at - 1) % STYLES.length]]));
  const marks = [...new Set(panels.flatMap(({ marks: all = [] }) => all.map(([, , kind]) => kind)))];
  const [key, top] = legend(names, styles, marks);
  const width = COLUMNS * PANEL.width;
  const height = top + Math.ceil(panels.length / COLUMNS) * PANEL.height + 20;
  const place = (at) => `translate(${(at % COLUMNS) * PANEL.width} ${top + Math.floor(at / COLUMNS) * PANEL.height})`;
  const drawn = panels.map((one, at) => `<g transform="${place(at)}">\n${panel(one, axis, styles)}\n</g>`);
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  const looks = `font-family="system-ui, sans-serif" font-size="11" fill="${TEXT}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escape(title)}" ${looks}>`;
  return `${[head, `<title>${escape(title)}</title>`, key, ...drawn, label(PANEL.left, height - 8, axis.name), "</svg>"].join("\n")}\n`;
}

/** Whole recall over the budget, of {set, budgets: {budget: {recall}}, peers: {name: {budget: share}}}. */
export function recallPicture(sets, noiseOf) {
  const points = (shares) => Object.entries(shares).map(([budget, share]) => [Number(budget), share]);
  const panels = sets.map(({ set, budgets, peers }) => {
    const all = Object.entries(budgets);
    const ours = { name: "contextweaver", points: all.map(([budget, { recall }]) => [Number(budget), recall]) };
    const others = Object.entries(peers).map(([name, shares]) => ({ name, points: points(shares) }));
    const { queries } = all[0][1];
    return { title: `${set}, ${queries} queries`, series: [ours, ...others], band: all.map(([, { recall }]) => noiseOf(recall, queries)) };
  });
  const ticks = Object.keys(sets[0].budgets).map(Number);
  const name = "Up: questions whose whole evidence is in the prompt, percent. Right: budget in tokens. Shaded: one standard error.";
  const axis = { ticks, scale: Math.log, text: (budget) => `${budget / 1000}k`, name };
  return picture({ title: "Recall over budget", axis, panels });
}

/** False returns over false abstentions, of {set, served, unserved, engines: {name: {curve, ...}}}; targets by set. */
export function abstainPicture(sets, targets) {
  const panels = sets.map(({ set, served, unserved, engines }) => {
    const points = ({ curve }) => curve.map((share, percent) => [percent, share ?? Number.NaN]);
    const series = Object.entries(engines).map(([name, engine]) => ({ name, points: points(engine) }));
    const ours = engines.contextweaver;
    const marks = [[100 * ours["false abstain"], ours["false return"], "default"]];
    const target = targets[set];
    if (target?.["false return"] !== undefined) marks.push([target["false abstain"], target["false return"] / 100, "target"]);
    return { title: `${set} (${served} / ${unserved})`, series: series.filter(({ points }) => runs(points).length > 0), marks };
  });
  const name = "Up: tools for what none serves, percent. Right: refused what some tool serves. In brackets: queries served / not.";
  const axis = { ticks: [0, 5, 10, 15, 20], scale: (value) => value, text: String, name };
  return picture({ title: "False returns over false abstentions", axis, panels });
}
