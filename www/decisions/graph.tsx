// How decisions are linked: by their dates from left to right, by category from top to bottom; the same links as a list.
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, number } from "../shared/parts.tsx";
import type { DecisionLine, Graph } from "../worker/decisions.ts";
import { Outcome, type PanelProps } from "./ask.tsx";
import { LINK_TYPES, linkClass, linkName, outcomeClass, outcomeName } from "./words.ts";

export function GraphPanel({ version, selected, onDecision, details }: PanelProps): JSX.Element {
  const { value, problem } = useAnswer("decisions.graph", {}, version);
  return (
    <div class="stack" id="graph">
      <p class="quiet small">
        What replaced what, and what stands on what. Dots are decisions by date; full dots went well, hollow ones did
        not, half ones in part. The same links are in the list below.
      </p>
      <ProblemBox problem={problem} />
      {value && !problem && value.edges.length === 0 && (
        <p id="no-links">No two decisions of this memory are linked.</p>
      )}
      {value && !problem && value.edges.length > 0 && (
        <>
          <p id="graph-count" role="status" class="small">
            {count(value.nodes.length, "decision")} with {count(value.edges.length, "link")}
            {value.rest > 0 && `; ${number(value.rest)} older ones are not drawn`}; {number(value.alone)} without a
            link.
          </p>
          <Drawing graph={value} selected={selected} onDecision={onDecision} />
          <Key />
          <Links graph={value} selected={selected} onDecision={onDecision} details={details} />
        </>
      )}
    </div>
  );
}

/** Units of the drawing. */
const STEP = 21;
const ROW = 74;
const NAME = 92;
const RADIUS = 9;

function Drawing({
  graph: { nodes, edges },
  selected,
  onDecision,
}: {
  graph: Graph;
  selected: number;
  onDecision: (place: number) => void;
}): JSX.Element {
  const rows = [...new Set(nodes.map(({ category }) => category))].sort();
  const width = NAME + nodes.length * STEP + STEP;
  const height = rows.length * ROW + 28;
  const at = new Map(
    nodes.map((node, column) => [
      node.place,
      { x: NAME + (column + 0.75) * STEP, y: (rows.indexOf(node.category) + 0.5) * ROW },
    ]),
  );
  const near = new Set(
    edges.filter(({ from, to }) => from === selected || to === selected).flatMap(({ from, to }) => [from, to]),
  );
  return (
    <div class="graph-box" role="region" aria-label="Drawing of the links" tabIndex={0}>
      <svg
        class="graph"
        role="img"
        aria-label={`${count(nodes.length, "decision")} and ${count(edges.length, "link")}; the list below names them`}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {rows.map((row, place) => (
          <g key={row} class="lane">
            <line x1={0} x2={width} y1={(place + 1) * ROW} y2={(place + 1) * ROW} />
            <text x={0} y={place * ROW + 16}>
              {row}
            </text>
          </g>
        ))}
        {edges.map(({ from, to, type }, place) => {
          const [a, b] = [at.get(from), at.get(to)];
          if (!a || !b) return null;
          return (
            <path
              key={place}
              class={`edge ${linkClass(type)} ${from === selected || to === selected ? "near" : ""}`}
              d={arc(a, b)}
              marker-end="url(#arrow)"
            />
          );
        })}
        {nodes.map((node) => {
          const point = at.get(node.place);
          return (
            point && (
              <Dot
                key={node.place}
                node={node}
                {...point}
                isSelected={node.place === selected}
                isNear={near.has(node.place)}
                onDecision={onDecision}
              />
            )
          );
        })}
        {yearMarks(nodes).map(({ column, text }) => (
          <text key={column} class="date" x={NAME + (column + 0.75) * STEP} y={height - 8} text-anchor="middle">
            {text}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** Months under every sixth dot. */
function yearMarks(nodes: readonly DecisionLine[]): { column: number; text: string }[] {
  return nodes.flatMap(({ date }, column) => (column % 6 === 0 ? [{ column, text: date.slice(0, 7) }] : []));
}

/** A curve that leaves and reaches the dots at their edges. */
function arc(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const lift = a.y === b.y ? Math.min(30, 8 + Math.abs(a.x - b.x) / 6) : 0;
  const middle = { x: (a.x + b.x) / 2 + (a.y === b.y ? 0 : (b.y - a.y) / 6), y: (a.y + b.y) / 2 - lift * 1.6 };
  const shift = (from: { x: number; y: number }): { x: number; y: number } => {
    const far = Math.hypot(middle.x - from.x, middle.y - from.y) || 1;
    return {
      x: from.x + ((middle.x - from.x) / far) * (RADIUS + 2),
      y: from.y + ((middle.y - from.y) / far) * (RADIUS + 2),
    };
  };
  const [start, end] = [shift(a), shift(b)];
  return `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`;
}

interface DotProps {
  readonly node: DecisionLine;
  readonly x: number;
  readonly y: number;
  readonly isSelected: boolean;
  readonly isNear: boolean;
  readonly onDecision: (place: number) => void;
}

function Dot({ node: { place, title, outcome, date }, x, y, isSelected, isNear, onDecision }: DotProps): JSX.Element {
  return (
    <g
      class={`dot ${outcomeClass(outcome)} ${isSelected ? "selected" : ""} ${isNear ? "near" : ""}`}
      transform={`translate(${x} ${y})`}
      onClick={() => onDecision(place)}
    >
      <title>{`${title}\n${date}, ${outcomeName(outcome)}`}</title>
      {/* 24 pixels; the list below has the same as buttons. */}
      <circle class="target" r={12} />
      <circle class="shape" r={RADIUS} />
      {outcome === "partial" && <path class="half" d={`M0 ${-RADIUS}a${RADIUS} ${RADIUS} 0 0 0 0 ${2 * RADIUS}z`} />}
    </g>
  );
}

function Key(): JSX.Element {
  return (
    <ul class="legend" aria-label="What lines say">
      {LINK_TYPES.map((type) => (
        <li key={type}>
          <svg class="graph key" width="36" height="10" aria-hidden="true">
            <path class={`edge ${type}`} d="M1 5H35" />
          </svg>{" "}
          {linkName(type)}
        </li>
      ))}
    </ul>
  );
}

function Links({
  graph: { nodes, edges },
  selected,
  onDecision,
  details,
}: Omit<PanelProps, "version"> & { graph: Graph }): JSX.Element {
  const known = new Map(nodes.map((node) => [node.place, node]));
  const name = (place: number): JSX.Element => {
    const node = known.get(place);
    return (
      <>
        <button type="button" class="link" aria-pressed={place === selected} onClick={() => onDecision(place)}>
          {node?.title}
        </button>{" "}
        {node && <Outcome outcome={node.outcome} />}
      </>
    );
  };
  // Details stand once, below the first line that names the decision.
  const first = edges.findIndex(({ from, to }) => from === selected || to === selected);
  return (
    <ul class="links" aria-label="Links">
      {edges.map(({ from, to, type }, at) => (
        <li key={at} class={from === selected || to === selected ? "near" : ""}>
          {name(from)} <span class="quiet">{linkName(type)}</span> {name(to)}
          {at === first && details}
        </li>
      ))}
    </ul>
  );
}
