// Bars of shares. They need no measuring: the drawing stretches with its box, and its lines stay one pixel wide.
import type { JSX } from "preact";

export interface Bar {
  /** The row it is in; bars of a row follow each other. */
  readonly row: string;
  readonly name: string;
  readonly value: number;
  readonly fill: string;
  readonly title: string;
}

interface BarsProps {
  /** What a reader who does not see the chart is told. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** End of the scale. */
  readonly to: number;
  /** In pixels. */
  readonly rowHeight?: number;
}

/** Units of the drawing from the start of the scale to its end. */
const WIDTH = 1000;
/** Pixels between rows, and around them for their outlines. */
const GAP = 2;

/** Stacked bars, one row or several, on one scale that starts at zero. */
export function Bars({ label, bars, to, rowHeight = 14 }: BarsProps): JSX.Element {
  const rows = [...new Set(bars.map(({ row }) => row))];
  const height = Math.max(1, rows.length) * (rowHeight + GAP) + GAP;
  const ends = new Map<string, number>();
  return (
    <svg
      class="bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      height={height}
    >
      {bars.map(({ row, name, value, fill, title }) => {
        const from = ends.get(row) ?? 0;
        ends.set(row, from + value);
        const width = (Math.max(0, value) / (to || 1)) * WIDTH;
        return (
          <rect
            key={`${row} ${name}`}
            x={(from / (to || 1)) * WIDTH}
            y={GAP + rows.indexOf(row) * (rowHeight + GAP)}
            width={width}
            height={rowHeight}
            fill={fill}
          >
            <title>{title}</title>
          </rect>
        );
      })}
    </svg>
  );
}
