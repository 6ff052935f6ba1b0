// A list of any length: only the rows in view are part of the document.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLatest } from "./ask.ts";

interface ListProps<Row> {
  readonly label: string;
  /** Names the columns. */
  readonly head: readonly { readonly title: string; readonly class: string; readonly hint?: string }[];
  /** Whatever changes when the rows do. */
  readonly version: string;
  readonly read: (from: number, to: number) => Promise<{ readonly total: number; readonly rows: readonly Row[] }>;
  /** Row in view after it has changed. */
  readonly reveal?: number;
  readonly selected: number;
  readonly onSelect: (row: Row, index: number) => void;
  /** What a click does besides choosing. */
  readonly onClick?: () => void;
  /** What Enter does: it leads to what is said of the row. */
  readonly onEnter?: () => void;
  readonly cells: (row: Row) => readonly ComponentChildren[];
  readonly rowClass: (row: Row) => string;
  readonly rowHeight: number;
  /** Row height where the page is narrow. */
  readonly phoneHeight: number;
  readonly empty: string;
}

const OVERSCAN = 12;
/** Keys in less time than this are one movement. */
const KEYS_MS = 600;
const PHONE = "(max-width: 47.99rem)";

export function List<Row>(props: ListProps<Row>): JSX.Element {
  const { label, head, version, read, selected, onSelect, cells, rowClass, empty, reveal } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const isPhone = useMedia(PHONE);
  const height = isPhone ? props.phoneHeight : props.rowHeight;
  const [view, setView] = useState({ from: 0, to: 40 });
  const { value, isBusy } = useLatest(
    async () => ({ from: view.from, ...(await read(view.from, view.to)) }),
    [version, view.from, view.to],
  );
  const total = value?.total ?? 0;

  const look = (): void => {
    const { current } = box;
    if (!current) return;
    const first = Math.floor(current.scrollTop / height);
    const shown = Math.ceil(current.clientHeight / height);
    // In steps, so that not every pixel is a question.
    const from = Math.max(0, Math.floor((first - OVERSCAN) / OVERSCAN) * OVERSCAN);
    const to = from + Math.ceil((shown + 3 * OVERSCAN) / OVERSCAN) * OVERSCAN;
    if (from !== view.from || to !== view.to) setView({ from, to });
  };
  useLayoutEffect(look, [height, version, total]);
  const show = (index: number): void => {
    const { current } = box;
    if (!current) return;
    const header = current.querySelector<HTMLElement>(".list-head")?.offsetHeight ?? 0;
    const [top, bottom] = [index * height, (index + 1) * height + header];
    if (top < current.scrollTop) current.scrollTop = top;
    else if (bottom > current.scrollTop + current.clientHeight) current.scrollTop = bottom - current.clientHeight;
  };
  useEffect(() => {
    if (reveal !== undefined && reveal >= 0) show(reveal);
  }, [reveal, version, total === 0]);

  // Keys may come faster than answers: they count from where the last one led.
  const cursor = useRef({ at: selected, pressed: 0 });
  useEffect(() => {
    if (performance.now() - cursor.current.pressed > KEYS_MS) cursor.current.at = selected;
  }, [selected, version]);
  const choose = async (index: number): Promise<void> => {
    const at = Math.min(Math.max(0, index), total - 1);
    if (at < 0) return;
    cursor.current = { at, pressed: performance.now() };
    show(at);
    const known = value && value.rows[at - value.from];
    const row = known ?? (await read(at, at + 1)).rows[0];
    if (row !== undefined) onSelect(row, at);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && props.onEnter) {
      event.preventDefault();
      props.onEnter();
      return;
    }
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / height) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const to = event.key === "Home" ? 0 : event.key === "End" ? total - 1 : cursor.current.at + (steps[event.key] ?? 0);
    if (!(event.key in steps) && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    void choose(to);
  };
  const isShown = value !== undefined && selected >= value.from && selected < value.from + value.rows.length;
  return (
    <div
      class="list"
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-busy={isBusy}
      aria-activedescendant={isShown ? `${id}-${selected}` : undefined}
      tabIndex={0}
      ref={box}
      onScroll={look}
      onKeyDown={onKey}
    >
      <div role="rowgroup" class="list-head">
        <div role="row" aria-rowindex={1} class="row">
          {head.map((column) => (
            <div key={column.title} role="columnheader" class={column.class} title={column.hint}>
              {column.title}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="list-body" {...(total > 0 && { style: { height: `${total * height}px` } })}>
        {value?.rows.map((row, offset) => {
          const index = value.from + offset;
          return (
            <div
              key={index}
              role="row"
              id={`${id}-${index}`}
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              class={`row ${rowClass(row)}`}
              style={{ top: `${index * height}px`, height: `${height}px` }}
              onClick={() => {
                cursor.current = { at: index, pressed: performance.now() };
                onSelect(row, index);
                props.onClick?.();
              }}
            >
              {cells(row).map((cell, column) => (
                <div key={column} role="gridcell" class={head[column]?.class}>
                  {cell}
                </div>
              ))}
            </div>
          );
        })}
        {value !== undefined && total === 0 && (
          <div role="row" class="row none">
            <div role="gridcell">{empty}</div>
          </div>
        )}
      </div>
    </div>
  );
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(false);
  useEffect(() => {
    const list = matchMedia(query);
    setMatches(list.matches);
    const listener = (): void => setMatches(list.matches);
    list.addEventListener("change", listener);
    return () => list.removeEventListener("change", listener);
  }, []);
  return matches;
}
