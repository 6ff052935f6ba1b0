// The tape: one column a call, its height the tokens sent; below it what was copied stood there or not, and the money so far. The chart
// is the control.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { number } from "../shared/parts.tsx";
import type { TapeView } from "../worker/session.ts";
import { type Call, callText, isAgents, pricesText, short } from "./words.ts";

interface ChartProps {
  readonly tape: TapeView;
  readonly selected: number;
  readonly onSelect: (number: number) => void;
  readonly onEnter: () => void;
}

/** Calls that share a column; a cut has its own. */
export interface Column {
  readonly from: number;
  readonly to: number;
  /** The call that stands for them: the longest prompt. */
  readonly call: Call;
}

/** Columns that a window has room for. */
const MOST = 400;
const MOST_NARROW = 85;
const NARROW = 560;
const [LEFT, RIGHT, TOP, TOKENS, LANE, LABELS, MONEY] = [46, 6, 20, 220, 16, 22, 116] as const;
/** Pixels that the label of a cut takes. */
const LABEL_WIDTH = 58;
const LINE_HEIGHT = 15;
/** Pixels from a label above the end of a line to one below it. */
const BELOW = 27;

/** Puts calls into as many columns as there is room for; where cuts alone take more, a run between two of them is one. */
export function columnsOf(calls: readonly Call[], most: number): readonly Column[] {
  let size = 1;
  let columns = inColumns(calls, size);
  while (columns.length > most && size < calls.length) columns = inColumns(calls, (size *= 2));
  // Between the last two sizes there may be one that fits.
  for (let less = Math.floor(size / 2) + 1; less < size; less += 1) {
    const finer = inColumns(calls, less);
    if (finer.length <= most) return finer;
  }
  return columns;
}

function inColumns(calls: readonly Call[], size: number): readonly Column[] {
  const columns: Column[] = [];
  let open: Call[] = [];
  const close = (): void => {
    const [first] = open;
    if (first)
      columns.push({
        from: first.number,
        to: open.at(-1)?.number ?? first.number,
        call: open.reduce((best, each) => (each.tokens > best.tokens ? each : best)),
      });
    open = [];
  };
  for (const call of calls) {
    if (call.cut !== null) {
      close();
      columns.push({ from: call.number, to: call.number, call });
      continue;
    }
    open.push(call);
    if (open.length === size) close();
  }
  close();
  return columns;
}

/** A step of an axis in round numbers. */
function ticksOf(most: number, count: number): readonly number[] {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, at) => at * step);
}

function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(860);
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(280, Math.floor(current.clientWidth))));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

export function TapeChart({ tape, selected, onSelect, onEnter }: ChartProps): JSX.Element {
  const [box, width] = useWidth();
  const { calls, budget, isMoney } = tape;
  const columns = columnsOf(calls, width < NARROW ? MOST_NARROW : MOST);
  const plot = width - LEFT - RIGHT;
  const step = plot / Math.max(1, columns.length);
  const wide = Math.min(step, 40);
  const gap = wide > 3 ? 1 : 0;
  const most = Math.max(1, ...calls.map(({ tokens, counted }) => Math.max(tokens, counted ?? 0)));
  const scale = Math.max(most, most > budget / 3 ? budget : 0) * 1.02;
  const y = (tokens: number): number => TOP + TOKENS - (tokens / scale) * TOKENS;
  const x = (at: number): number => LEFT + at * wide;
  const chosen = columns.findIndex(({ from, to }) => selected >= from && selected <= to);
  const moneyTop = TOP + TOKENS + LANE + LABELS * 2;
  // On a phone the three sums are bars below the drawing.
  const hasMoney = width >= NARROW;
  const height = hasMoney ? moneyTop + MONEY + 8 : moneyTop;
  const pick = (event: PointerEvent): void => {
    const { left, width: drawn } = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.floor((((event.clientX - left) / drawn) * width - LEFT) / wide);
    const column = columns[Math.min(columns.length - 1, Math.max(0, at))];
    if (column) onSelect(column.call.number);
  };
  const onKey = (event: KeyboardEvent): void => {
    const cuts = calls.filter(({ cut }) => cut !== null).map((call) => call.number);
    const last = calls.at(-1)?.number ?? 1;
    const first = calls[0]?.number ?? 1;
    const forward = event.key === "ArrowRight" || event.key === "ArrowUp";
    const back = event.key === "ArrowLeft" || event.key === "ArrowDown";
    let to: number | undefined;
    if (event.key === "Home") to = first;
    else if (event.key === "End") to = last;
    else if (event.key === "Enter") onEnter();
    else if (forward) to = event.shiftKey ? cuts.find((cut) => cut > selected) : nextOf(calls, selected, 1);
    else if (back) to = event.shiftKey ? cuts.filter((cut) => cut < selected).at(-1) : nextOf(calls, selected, -1);
    else return;
    event.preventDefault();
    if (to !== undefined) onSelect(to);
  };
  const call = calls.find((each) => each.number === selected);
  const hasEvidence = calls.some(({ copied }) => copied > 0);
  return (
    <div class="tape-box" ref={box}>
      <svg
        id="tape"
        class="tape"
        role="slider"
        tabindex={0}
        aria-label="Calls of the session: arrows lead from call to call, with Shift from cut to cut, Enter to the prompt"
        aria-valuemin={calls[0]?.number ?? 1}
        aria-valuemax={calls.at(-1)?.number ?? 1}
        aria-valuenow={selected}
        aria-valuetext={call ? callText(call, calls.length, isMoney) : ""}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          pick(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && pick(event)}
      >
        <defs>
          <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="hatch-ground" width="5" height="5" />
            <rect class="hatch-line" width="2" height="5" />
          </pattern>
        </defs>
        {ticksOf(scale, 4).map((tick) => (
          <g key={tick} aria-hidden="true">
            <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {tick === 0 ? "0" : short(tick)}
            </text>
          </g>
        ))}
        <g class={`columns-of ${wide > 4 ? "edged" : ""}`}>
          {columns.map(({ from, to, call: each }, at) => (
            <g key={from} data-call={each.number}>
              <title>
                {from === to
                  ? callText(each, calls.length, isMoney)
                  : `Calls ${number(from)} to ${number(to)}; the longest: ${callText(each, calls.length, isMoney)}`}
              </title>
              <rect class="hit" x={x(at)} y={TOP} width={wide} height={TOKENS} />
              <rect class="rep" x={x(at)} width={wide - gap} y={y(each.repeated)} height={y(0) - y(each.repeated)} />
              {each.rewritten > 0 && (
                <rect
                  class="rew"
                  x={x(at) + 0.5}
                  width={Math.max(1, wide - gap - 1)}
                  y={y(each.repeated + each.rewritten)}
                  height={y(each.repeated) - y(each.repeated + each.rewritten)}
                />
              )}
              <rect
                class="new"
                x={x(at)}
                width={wide - gap}
                y={y(each.tokens)}
                height={y(each.tokens - each.fresh) - y(each.tokens)}
              />
              {each.counted !== null && wide >= 3 && (
                <line class="counted" x1={x(at)} x2={x(at) + wide - gap} y1={y(each.counted)} y2={y(each.counted)} />
              )}
              {hasEvidence && each.copied > 0 && (
                <Evidence
                  x={x(at) + (wide - gap) / 2}
                  y={TOP + TOKENS + LANE / 2 + 2}
                  call={each}
                  size={Math.min(3.5, Math.max(1.5, wide / 3))}
                />
              )}
              {each.cut !== null && (
                <path
                  class={isAgents(each) ? "mark agents" : "mark"}
                  d={`M${x(at) + wide / 2} ${TOP + TOKENS + LANE + 3}l5 7h-10z`}
                />
              )}
            </g>
          ))}
        </g>
        {budget <= scale && (
          <g aria-hidden="true">
            <line class="budget" x1={LEFT} x2={width - RIGHT} y1={y(budget)} y2={y(budget)} />
            <text class="strong" x={LEFT + 4} y={y(budget) - 5}>
              budget {number(budget)}
            </text>
          </g>
        )}
        <CutLabels columns={columns} x={(at) => x(at) + wide / 2} top={TOP + TOKENS + LANE + LABELS} width={width} />
        {hasMoney && <MoneyLines tape={tape} columns={columns} x={(at) => x(at) + wide} top={moneyTop} width={width} />}
        {chosen >= 0 && (
          <rect class="cursor" x={x(chosen) - 1.5} y={TOP - 12} width={wide - gap + 3} height={height - TOP + 8} />
        )}
      </svg>
    </div>
  );
}

function nextOf(calls: readonly Call[], selected: number, by: number): number | undefined {
  return calls[calls.findIndex((call) => call.number === selected) + by]?.number;
}

/** One mark a call: all that its answer copied stood in the prompt, or not. */
function Evidence({
  x,
  y,
  size,
  call: { copied, shown },
}: {
  x: number;
  y: number;
  size: number;
  call: Call;
}): JSX.Element {
  return <circle class={shown === copied ? "there" : "away"} cx={x} cy={y} r={size} />;
}

function CutLabels({
  columns,
  x,
  top,
  width,
}: {
  columns: readonly Column[];
  x: (at: number) => number;
  top: number;
  width: number;
}): JSX.Element {
  const ends = [-LABEL_WIDTH, -LABEL_WIDTH];
  return (
    <g aria-hidden="true">
      {columns.map(({ from, call }, at) => {
        if (call.cut === null) return null;
        const middle = Math.min(width - LABEL_WIDTH / 2, Math.max(LABEL_WIDTH / 2, x(at)));
        const row = ends.findIndex((end) => middle - LABEL_WIDTH / 2 >= end);
        // What has no room stands in the table of cuts.
        if (row < 0) return null;
        ends[row] = middle + LABEL_WIDTH / 2;
        return (
          <text key={from} class="cut-label" x={middle} y={top + row * LINE_HEIGHT} text-anchor="middle">
            {number(call.number)}: −{short(call.left)}
          </text>
        );
      })}
    </g>
  );
}

const LINES = [
  { key: "trimmed", name: "trimming", class: "line-trimmed" },
  { key: "everything", name: "everything", class: "line-everything" },
  { key: "price", name: "contextweaver", class: "line-ours" },
] as const;

/** What was paid so far, each way, labelled at its end. */
function MoneyLines({
  tape,
  columns,
  x,
  top,
  width,
}: {
  tape: TapeView;
  columns: readonly Column[];
  x: (at: number) => number;
  top: number;
  width: number;
}): JSX.Element {
  const most = Math.max(tape.price, tape.everything, tape.trimmed) || 1;
  const bottom = top + MONEY;
  const y = (price: number): number => bottom - (price / (most * 1.04)) * MONEY;
  const sums = { trimmed: 0, everything: 0, price: 0 };
  const paths = { trimmed: `M${LEFT} ${bottom}`, everything: `M${LEFT} ${bottom}`, price: `M${LEFT} ${bottom}` };
  let next = 0;
  for (const [at, { to }] of columns.entries()) {
    for (; next < tape.calls.length && (tape.calls[next]?.number ?? 0) <= to; next += 1) {
      for (const { key } of LINES) sums[key] += tape.calls[next]?.[key] ?? 0;
    }
    for (const { key } of LINES) paths[key] += `L${x(at).toFixed(1)} ${y(sums[key]).toFixed(1)}`;
  }
  const end = x(columns.length - 1);
  const texts = pricesText(
    LINES.map(({ key }) => tape[key]),
    tape.isMoney,
  );
  const labels = LINES.map((line) => ({ ...line, at: y(tape[line.key]) - 6 })).sort((a, b) => a.at - b.at);
  // Lines rise to the right, so under the end of the lowest there is nothing, where it is high enough.
  const lowest = labels.at(-1);
  if (lowest && lowest.at + BELOW < bottom - 2) lowest.at += BELOW;
  // From below, each at least a line above the one before; the lowest may not leave the drawing.
  for (let at = labels.length - 1, least = bottom - 2; at >= 0; at -= 1) {
    const label = labels[at];
    if (!label) continue;
    label.at = Math.min(label.at, least);
    least = label.at - LINE_HEIGHT;
  }
  return (
    <g aria-hidden="true">
      {ticksOf(most * 1.04, 3).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
            {tape.isMoney ? `$${Number(tick.toPrecision(2))}` : short(Math.round(tick))}
          </text>
        </g>
      ))}
      {LINES.map((line) => (
        <path key={line.key} class={line.class} d={paths[line.key]} />
      ))}
      {labels.map(({ key, name, at }) => (
        <text
          key={key}
          class="line-end"
          x={Math.min(width - RIGHT, Math.max(end, LEFT + 150)) - 4}
          y={at}
          text-anchor="end"
        >
          {name} {texts[LINES.findIndex((line) => line.key === key)]}
        </text>
      ))}
    </g>
  );
}
