// The log in one line, in order: how large each item is, how much of it is in the prompt, and what is withheld.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { count, kindName, number, swatch } from "../shared/parts.tsx";
import type { Cell, Strip } from "../worker/strip.ts";

interface StripProps {
  readonly phase: Phase;
  readonly version: string;
  readonly selected: number;
  readonly onItem: (place: number) => void;
  /** Goes to what is said of the item. */
  readonly onEnter: () => void;
}

const HEIGHT = 100;
/** Of the height, what the smallest item has. */
const LEAST = 14;

export function LogStrip({ phase, version, selected, onItem, onEnter }: StripProps): JSX.Element {
  const { value } = useAnswer("context.strip", { phase }, version);
  const [pointed, setPointed] = useState(-1);
  const box = useRef<HTMLDivElement>(null);
  const cells = value?.cells ?? [];
  const per = value?.per ?? 1;
  const items = value?.items ?? 0;
  const at = Math.max(0, selected);
  const told = cells[Math.floor((pointed >= 0 ? pointed : at) / per)];
  const placeAt = (event: MouseEvent): number => {
    const { left, width } = box.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const cell = Math.floor(((event.clientX - left) / Math.max(1, width)) * cells.length);
    return Math.min(items - 1, Math.max(0, cell) * per);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter") {
      event.preventDefault();
      onEnter();
      return;
    }
    const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10 * per, PageDown: -10 * per };
    const to = event.key === "Home" ? 0 : event.key === "End" ? items - 1 : event.key in steps ? at + (steps[event.key] ?? 0) : -2;
    if (to === -2 || items === 0) return;
    event.preventDefault();
    onItem(Math.min(items - 1, Math.max(0, to)));
  };
  return (
    <section class="log" aria-labelledby="log-title">
      <h3 id="log-title">
        The log in order <span class="quiet">({phase}): filled is in the prompt, hollow is left out, hatched is withheld</span>
      </h3>
      <div
        class="log-strip"
        id="strip"
        role="slider"
        aria-labelledby="log-title"
        aria-valuemin={1}
        aria-valuemax={Math.max(1, items)}
        aria-valuenow={at + 1}
        aria-valuetext={told ? cellText(cells[Math.floor(at / per)] ?? told, per, items) : "empty"}
        tabIndex={0}
        ref={box}
        onKeyDown={onKey}
        onPointerMove={(event) => setPointed(placeAt(event))}
        onPointerLeave={() => setPointed(-1)}
        onClick={(event) => onItem(placeAt(event))}
      >
        {value && <Drawing strip={value} selected={selected} />}
      </div>
      <p class="small log-told" id="strip-told">
        {told ? cellText(told, per, items) : ""}
      </p>
    </section>
  );
}

function cellText({ place, kind, whole, shown, withheld, in: inside }: Cell, per: number, items: number): string {
  if (per > 1) {
    const to = Math.min(items, place + per);
    return `Items ${number(place + 1)} to ${number(to)}, mostly ${kindName(kind)}: ${number(inside)} in the prompt with ${number(shown)} of ${count(whole, "token")}${withheld > 0 ? `, ${number(withheld)} withheld` : ""}`;
  }
  const what = `Item ${number(place + 1)}, ${kindName(kind)}, ${count(whole, "token")}`;
  if (withheld > 0) return `${what}: withheld`;
  if (inside === 0) return `${what}: left out`;
  return shown < whole ? `${what}: cut to ${number(shown)}` : `${what}: in the prompt`;
}

/** Paths rather than boxes: a few elements, however many items there are. */
function Drawing({ strip: { cells, per }, selected }: { strip: Strip; selected: number }): JSX.Element {
  const most = Math.log1p(Math.max(1, ...cells.map(({ whole }) => whole)));
  const outline: string[] = [];
  const hatched: string[] = [];
  const filled = new Map<string, string[]>();
  cells.forEach((cell, x) => {
    const height = LEAST + ((HEIGHT - LEAST) * Math.log1p(cell.whole)) / most;
    const box = (tall: number): string => `M${x + 0.1} ${HEIGHT}v${-round(tall)}h.8v${round(tall)}z`;
    outline.push(box(height));
    if (cell.withheld > 0) hatched.push(box((height * cell.withheld) / Math.max(cell.withheld, Math.min(per, 1))));
    if (cell.in === 0 || cell.withheld > 0) return;
    const paths = filled.get(cell.kind) ?? [];
    paths.push(box(height * Math.min(1, Math.max(0.12, cell.shown / Math.max(1, cell.whole)))));
    filled.set(cell.kind, paths);
  });
  const chosen = selected < 0 ? -1 : Math.floor(selected / per);
  return (
    <svg aria-hidden="true" viewBox={`0 -8 ${Math.max(1, cells.length)} ${HEIGHT + 10}`} preserveAspectRatio="none">
      <defs>
        <pattern id="hatch" width="0.5" height="10" patternUnits="userSpaceOnUse">
          <rect class="hatch" width="0.5" height="5" />
        </pattern>
      </defs>
      {[...filled].map(([kind, paths]) => (
        <path key={kind} class={`cell ${swatch(kind)}`} d={paths.join("")} />
      ))}
      <path class="withheld" d={hatched.join("")} fill="url(#hatch)" />
      <path class="outline" d={outline.join("")} />
      {chosen >= 0 && <rect class="chosen" x={chosen} y="-6" width="1" height={HEIGHT + 7} />}
    </svg>
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;
