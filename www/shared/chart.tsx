// Charts by Observable Plot.
import { barX, plot, ruleX, type PlotOptions } from "@observablehq/plot";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

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
  readonly rowHeight?: number;
  readonly labels?: boolean;
  readonly axis?: boolean;
  readonly marginLeft?: number;
}

const EDGE = 14;

/** Stacked bars, one row or several. */
export function Bars({ label, bars, to, rowHeight = 22, labels = false, axis = true, marginLeft = labels ? 120 : 0 }: BarsProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const key = JSON.stringify([bars, to, width, rowHeight, labels, axis, marginLeft]);
  useEffect(() => {
    if (!box.current || width === 0) return;
    const rows = [...new Set(bars.map(({ row }) => row))];
    const options: PlotOptions = {
      width,
      height: Math.max(1, rows.length) * rowHeight + (axis ? 22 : 2),
      marginTop: 1,
      marginBottom: axis ? 20 : 1,
      marginLeft,
      // Room for half of the last number.
      marginRight: EDGE,
      x: { domain: [0, to || 1], axis: axis ? "bottom" : null, ticks: Math.max(2, Math.floor(width / 90)), tickFormat: short, label: null },
      y: { domain: rows, axis: labels ? "left" : null, label: null, padding: labels ? 0.25 : 0 },
      marks: [
        barX([...bars], { x: "value", y: "row", fill: "fill", title: "title", insetLeft: 0.5, insetRight: 0.5, order: null }),
        ...(axis ? [ruleX([0, to || 1], { stroke: "var(--control)" })] : []),
      ],
    };
    const drawn = plot(options);
    // Its rules are in style.css: the policy of the page admits no style of elements.
    for (const style of drawn.querySelectorAll("style")) style.remove();
    drawn.removeAttribute("class");
    drawn.setAttribute("class", "plot");
    drawn.setAttribute("aria-hidden", "true");
    box.current.replaceChildren(drawn);
  }, [key]);
  return <div class="chart" role="img" aria-label={label} ref={box} />;
}

const short = (value: number): string => (value >= 10_000 ? `${Math.round(value / 100) / 10}k` : value.toLocaleString("en"));

/** The width of an element, followed. */
function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
