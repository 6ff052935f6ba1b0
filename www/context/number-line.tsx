// Where a budget stands, and where it would have to stand.
import type { JSX } from "preact";
import { number } from "../shared/parts.tsx";

interface LineProps {
  readonly now: number;
  readonly needed: number;
  readonly isIn: boolean;
}

/** Share of the line near its ends, where a label is written towards the middle. */
const EDGE = 0.16;

export function NumberLine({ now, needed, isIn }: LineProps): JSX.Element {
  const to = Math.max(now, needed) * 1.06;
  const at = (value: number): string => `${Math.round((value / to) * 1000) / 10}%`;
  const anchor = (value: number): "start" | "middle" | "end" =>
    value / to < EDGE ? "start" : value / to > 1 - EDGE ? "end" : "middle";
  const what = isIn ? "stays down to" : "needed";
  return (
    <svg
      class="number-line"
      role="img"
      aria-label={`Budget now ${number(now)} tokens, ${what} ${number(needed)}`}
      width="100%"
      height="58"
    >
      <line class="base" x1="0" x2="100%" y1="29" y2="29" />
      <line
        class={isIn ? "spare" : "missing"}
        x1={at(Math.min(now, needed))}
        x2={at(Math.max(now, needed))}
        y1="29"
        y2="29"
      />
      <circle class="needed" cx={at(needed)} cy="29" r="6" />
      <text x={at(needed)} y="14" text-anchor={anchor(needed)}>
        {what} {number(needed)}
      </text>
      <rect class="now" x={at(now)} y="20" width="3" height="18" />
      <text x={at(now)} y="54" text-anchor={anchor(now)}>
        now {number(now)}
      </text>
    </svg>
  );
}
