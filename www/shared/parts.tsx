// Small parts that the tabs are made of. Text enters the document as text nodes only.
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Problem } from "../worker/text.ts";

export const number = (value: number): string => value.toLocaleString("en");
export const count = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;

export function ProblemBox({ problem, id }: { problem: Problem | undefined; id?: string }): JSX.Element {
  return (
    <div role="alert" id={id} class={problem ? "failure" : ""}>
      {problem?.message}
    </div>
  );
}

/** The class of the colour of a kind. */
export const swatch = (name: string): string => `kind-${name.replaceAll(" ", "_")}`;
/** The same colour, for charts. */
export const colour = (name: string): string => `var(--${name.replaceAll(" ", "-").replaceAll("_", "-")})`;

/** Words for kinds. */
export const kindName = (kind: string): string => kind.replaceAll("_", " ");

interface TabsProps<T extends string> {
  readonly label: string;
  readonly id: string;
  readonly tabs: readonly { readonly key: T; readonly title: string }[];
  readonly selected: T;
  readonly onSelect: (key: T) => void;
  readonly class?: string;
}

/** A list of tabs as the pattern of the ARIA authoring practices has it. */
export function Tabs<T extends string>({
  label,
  id,
  tabs,
  selected,
  onSelect,
  class: className = "",
}: TabsProps<T>): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const onKey = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ key }) => key === selected);
    const last = tabs.length - 1;
    const to = { ArrowLeft: at === 0 ? last : at - 1, ArrowRight: at === last ? 0 : at + 1, Home: 0, End: last }[
      event.key
    ];
    const tab = to === undefined ? undefined : tabs[to];
    if (!tab) return;
    event.preventDefault();
    onSelect(tab.key);
    list.current?.querySelector<HTMLElement>(`[data-key="${tab.key}"]`)?.focus();
  };
  return (
    <div role="tablist" aria-label={label} ref={list} onKeyDown={onKey} class={className}>
      {tabs.map(({ key, title }) => (
        <button
          key={key}
          type="button"
          role="tab"
          id={`${id}-tab-${key}`}
          data-key={key}
          aria-selected={key === selected}
          aria-controls={`${id}-panel-${key}`}
          tabIndex={key === selected ? 0 : -1}
          onClick={() => onSelect(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

interface PanelProps {
  readonly id: string;
  readonly name: string;
  readonly shown: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function TabPanel({ id, name, shown, class: className = "", children }: PanelProps): JSX.Element {
  return (
    <div
      role="tabpanel"
      id={`${id}-panel-${name}`}
      aria-labelledby={`${id}-tab-${name}`}
      hidden={!shown}
      class={className}
    >
      {children}
    </div>
  );
}

/** Text as it is. It scrolls, so that it can be reached by keyboard. */
export function Text({
  label,
  children,
  class: className = "",
}: {
  label: string;
  children: string;
  class?: string;
}): JSX.Element {
  return (
    <pre class={`text ${className}`} role="region" aria-label={label} tabIndex={0}>
      {children === "" ? "(empty)" : children}
    </pre>
  );
}

/** One of several pages. */
export function Pager({
  page,
  pages,
  onPage,
  what,
}: {
  page: number;
  pages: number;
  onPage: (page: number) => void;
  what: string;
}): JSX.Element | null {
  if (pages < 2) return null;
  return (
    <div class="pager" role="group" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Back
      </button>
      <span>
        Page {number(page + 1)} of {number(pages)}
      </span>
      <button type="button" disabled={page === pages - 1} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </div>
  );
}

/** A legend of shares as text: what a chart says by length and colour. */
export function Legend({
  label,
  shares,
}: {
  label: string;
  shares: readonly { readonly key: string; readonly class: string; readonly text: ComponentChildren }[];
}): JSX.Element {
  return (
    <ul class="legend" aria-label={label}>
      {shares.map(({ key, class: className, text }) => (
        <li key={key}>
          <span class={`swatch ${className}`} aria-hidden="true" /> {text}
        </li>
      ))}
    </ul>
  );
}
