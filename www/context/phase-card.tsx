// One phase: what it is for, its budget, and what did not fit.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { Bars } from "../shared/chart.tsx";
import { Legend, colour, count, kindName, number, swatch } from "../shared/parts.tsx";
import type { PhaseView, Share } from "../worker/builds.ts";
import { PHASE, reasonName } from "./words.ts";

export const MAX_BUDGET = 2 ** 24;
const SLIDER_FROM = 50;
const SLIDER_STEPS = 200;

export const isBudget = (budget: number): boolean => Number.isInteger(budget) && budget >= 1 && budget <= MAX_BUDGET;

interface CardProps {
  readonly phase: Phase;
  readonly view: PhaseView | undefined;
  readonly items: number;
  readonly query: string;
  readonly budget: number;
  /** Right end of the slider. */
  readonly most: number;
  /** Scale of what is left out, the same for all phases. */
  readonly mostLeft: number;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onQuery: (query: string) => void;
  readonly onBudget: (budget: number) => void;
  readonly onFilter: (show: string, kind: string) => void;
}

export function PhaseCard(props: CardProps): JSX.Element {
  const { phase, view, isSelected, onSelect } = props;
  const { task, caption } = PHASE[phase];
  return (
    <section class={`card phase ${isSelected ? "selected" : ""}`} aria-labelledby={`phase-${phase}`} id={`card-${phase}`}>
      <h3 id={`phase-${phase}`}>
        <button type="button" aria-pressed={isSelected} onClick={onSelect} title={`Show the items and the prompt of ${phase}`}>
          {phase}
        </button>{" "}
        <span class="quiet">{task}</span>
      </h3>
      <p class="small caption">{caption}</p>
      <Controls {...props} />
      {view?.problem && (
        <p class="failure small" role="alert">
          <b>No prompt.</b> {view.problem.message}
        </p>
      )}
      {view && !view.problem && <Numbers {...props} view={view} />}
    </section>
  );
}

function Controls({ phase, query, budget, most, onQuery, onBudget }: CardProps): JSX.Element {
  // Logarithmic: a hundred tokens matter to a small budget, not to a large one.
  const at = (position: number): number => Math.round(SLIDER_FROM * (most / SLIDER_FROM) ** (position / SLIDER_STEPS));
  const position = Math.round((Math.log(budget / SLIDER_FROM) / Math.log(most / SLIDER_FROM)) * SLIDER_STEPS);
  return (
    <div class="phase-controls">
      <label>
        Query{" "}
        <input
          id={`query-${phase}`}
          type="text"
          maxlength={2000}
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={({ currentTarget: { value } }) => onQuery(value.toWellFormed())}
        />
      </label>
      <span class="budget">
        <label for={`budget-${phase}`}>Budget</label>
        <input
          id={`budget-${phase}`}
          type="range"
          min={0}
          max={SLIDER_STEPS}
          value={position}
          aria-valuetext={`${number(budget)} tokens`}
          onInput={({ currentTarget: { value } }) => onBudget(at(Number(value)))}
        />
        <input
          id={`exact-${phase}`}
          type="number"
          min={1}
          max={MAX_BUDGET}
          inputmode="numeric"
          aria-label={`Budget of ${phase} in tokens, exact`}
          value={budget}
          onInput={({ currentTarget: { valueAsNumber } }) => isBudget(valueAsNumber) && onBudget(valueAsNumber)}
        />
      </span>
    </div>
  );
}

function Numbers({ phase, view, items, mostLeft, onFilter }: CardProps & { view: PhaseView }): JSX.Element {
  const { prompt_tokens, budget, shares, free, grows, left, included, warnings } = view;
  const percent = (tokens: number): string => `${Math.round((tokens / Math.max(budget, 1)) * 100)} %`;
  const leftTokens = left.reduce((sum, { tokens }) => sum + tokens, 0);
  const leftItems = left.reduce((sum, each) => sum + each.items, 0);
  const parts = [...shares, { name: "free", tokens: free, items: 0 }];
  const named = parts.map((share) => (grows && share.name === "free" ? { ...share, title: "kept free to grow" } : { ...share, title: kindName(share.name) }));
  const said = named.map(({ title, tokens }) => `${title} ${number(tokens)} (${percent(tokens)})`).join(", ");
  const reasons = left.map(({ name, tokens, items }) => `${reasonName(name)}: ${count(items, "item")}, ${number(tokens)} tokens`);
  return (
    <>
      <p class="figures" id={`numbers-${phase}`}>
        <b>{number(prompt_tokens)}</b> of {number(budget)} tokens, <b>{number(included)}</b> of {count(items, "item")}
      </p>
      <Bars
        label={`Budget of ${number(budget)} tokens: ${said}`}
        to={budget}
        bars={shares.map(({ name, tokens }) => ({ row: "", name, value: tokens, fill: colour(name), title: `${kindName(name)}: ${number(tokens)} tokens` }))}
      />
      <Legend
        label={`What the ${phase} prompt is made of`}
        shares={named.map((share) => ({ key: share.name, class: swatch(share.name), text: shareText(share, (kind) => onFilter("in", kind)) }))}
      />
      <p class="figures">
        Left out: <b>{count(leftItems, "item")}</b>, {number(leftTokens)} tokens
      </p>
      <Bars
        label={`Left out of ${phase}: ${reasons.join("; ") || "nothing"}`}
        to={mostLeft}
        rowHeight={12}
        bars={left.map(({ name, tokens }) => ({ row: "", name, value: tokens, fill: colour(`reason-${name}`), title: `${reasonName(name)}: ${number(tokens)} tokens` }))}
      />
      <Legend
        label={`Why items are left out of ${phase}`}
        shares={left.map(({ name, items }) => ({
          key: name,
          class: `reason-${name}`,
          text: (
            <button type="button" class="link" onClick={() => onFilter(name, "")}>
              {reasonName(name)} {number(items)}
            </button>
          ),
        }))}
      />
      {warnings.length > 0 && (
        <ul class="failure small">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function shareText({ name, title, tokens, items }: Share & { readonly title: string }, onKind: (kind: string) => void): JSX.Element | string {
  if (items === 0) return `${title} ${number(tokens)}`;
  return (
    <button type="button" class="link" onClick={() => onKind(name)}>
      {title} {number(tokens)}
    </button>
  );
}
