// Cost over recall as SVG: a row of panels for each set, a panel for each budget, a mark for each strategy. Below and to the right is
// better.
import { OURS, STYLES, TEXT, escape, label, number } from "./plots.mjs";

const PANEL = { width: 150, height: 132, left: 30, right: 14, top: 22, bottom: 20 };
const LEGEND = 36;
/** What the words below and above the panels need. */
const LEAST_WIDTH = 520;
/** Below this share of evidence a mark stands at the edge. */
const LEAST_RECALL = 0.5;
/** Costs that are named, as shares of no engine. */
const TICKS = [0.125, 0.25, 0.5, 1, 2, 4];
const RADIUS = 3.6;

const square = (x, y, r) => `M${number(x - r)} ${number(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`;
const diamond = (x, y, r) => `M${number(x)} ${number(y - r - 1)}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`;
const up = (x, y, r) => `M${number(x)} ${number(y - r)}l${r} ${2 * r}h${-2 * r}z`;
const down = (x, y, r) => `M${number(x)} ${number(y + r)}l${r} ${-2 * r}h${-2 * r}z`;
const cross = (x, y, r) => `M${number(x - r)} ${number(y - r)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
const SHAPES = [square, up, down, diamond, cross];

/** A mark: ours is a disc, each other has a shape of its own, for eyes and prints without colour. */
function mark(x, y, style) {
  if (style === undefined) return `<circle cx="${number(x)}" cy="${number(y)}" r="${RADIUS + 1}" fill="${OURS.colour}"/>`;
  return `<path d="${style.shape(x, y, RADIUS)}" fill="none" stroke="${style.colour}" stroke-width="1.5"/>`;
}

/** A strategy with several settings, a share each, is one line. */
const familyOf = (name) => name.replace(/-\d\.\d+$/, "");

function stylesOf(names) {
  const families = [...new Set(names.filter((name) => name !== "default").map(familyOf))];
  return new Map(families.map((family, at) => [family, { colour: STYLES[at % STYLES.length].colour, shape: SHAPES[at % SHAPES.length] }]));
}

function panel({ title, points }, range, styles) {
  const { width, height, left, right, top, bottom } = PANEL;
  const share = (cost) => (Math.log2(cost) - range.low) / (range.high - range.low);
  const x = (recall) => left + ((Math.max(recall, LEAST_RECALL) - LEAST_RECALL) / (1 - LEAST_RECALL)) * (width - left - right);
  const y = (cost) => height - bottom - share(cost) * (height - top - bottom);
  const parts = [label(left, 13, title, ' font-weight="600"')];
  for (const tick of TICKS.filter((cost) => share(cost) >= 0 && share(cost) <= 1)) {
    const strength = tick === 1 ? ".8" : ".25";
    parts.push(`<line x1="${left}" x2="${width - right}" y1="${number(y(tick))}" y2="${number(y(tick))}" stroke="${TEXT}" stroke-opacity="${strength}"/>`);
    parts.push(label(left - 4, y(tick) + 4, String(tick).replace(/^0/, ""), ' text-anchor="end"'));
  }
  for (const recall of [0.5, 0.75, 1]) parts.push(label(x(recall), height - 6, String(100 * recall), ' text-anchor="middle"'));
  for (const family of styles.keys()) {
    const line = points.filter(({ name }) => familyOf(name) === family);
    const style = styles.get(family);
    if (line.length > 1)
      parts.push(
        `<polyline points="${line.map(({ recall, cost }) => `${number(x(recall))},${number(y(cost))}`).join(" ")}" fill="none" stroke="${style.colour}" stroke-opacity=".6"/>`,
      );
  }
  // Ours last, so that it lies on top.
  const ours = ({ name }) => (name === "default" ? 1 : 0);
  for (const point of points.toSorted((a, b) => ours(a) - ours(b))) parts.push(mark(x(point.recall), y(point.cost), styles.get(familyOf(point.name))));
  return parts.join("\n");
}

function legend(styles) {
  let at = PANEL.left;
  const entries = [["contextweaver", undefined], ...styles].map(([name, style]) => {
    const drawn = `${mark(at, 12, style)}\n${label(at + 10, 16, name)}`;
    at += 28 + name.length * 6.6;
    return drawn;
  });
  return entries.join("\n");
}

/** The results of `bench cost` at the prices of one provider; strategies without any recall to show are left out. */
export function costPicture(results, prices) {
  const names = [...new Set(results.flatMap(({ strategies }) => Object.keys(strategies)))].filter((name) => name !== "full");
  const styles = stylesOf(names);
  const panels = results.map(({ set, join, budget, strategies }) => {
    const points = names.flatMap((name) => {
      const { cost, recall } = strategies[name]?.[prices] ?? {};
      return Number.isFinite(cost) && Number.isFinite(recall) ? [{ name, cost, recall }] : [];
    });
    return { row: `${set} ${join}`, title: `${set}${join > 1 ? ` x ${join}` : ""}, ${budget / 1000}k`, points };
  });
  const costs = panels.flatMap(({ points }) => points.map(({ cost }) => Math.log2(cost)));
  const range = { low: Math.min(-1, ...costs) - 0.2, high: Math.max(0, ...costs) + 0.2 };
  const rows = [...new Set(panels.map(({ row }) => row))];
  const columns = Math.max(...rows.map((row) => panels.filter((one) => one.row === row).length));
  const drawn = rows.flatMap((row, at) =>
    panels
      .filter((one) => one.row === row)
      .map((one, column) => `<g transform="translate(${column * PANEL.width} ${LEGEND + at * PANEL.height})">\n${panel(one, range, styles)}\n</g>`),
  );
  const [width, height] = [Math.max(columns * PANEL.width, LEAST_WIDTH), LEGEND + rows.length * PANEL.height + 36];
  const title = `Cost over recall at the prices of ${prices}`;
  const looks = `font-family="system-ui, sans-serif" font-size="10" fill="${TEXT}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}" ${looks}>`;
  const axes = [
    "Up: cost, 1 is the whole conversation in every call.",
    "Right: questions whose evidence is in the prompt, percent; 50 and less stand at the edge.",
  ];
  return `${[head, `<title>${escape(title)}</title>`, legend(styles), ...drawn, ...axes.map((axis, at) => label(PANEL.left, height - 20 + 14 * at, axis)), "</svg>"].join("\n")}\n`;
}
