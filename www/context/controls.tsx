// What the selected phase is asked, and how much room it has.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { number } from "../shared/parts.tsx";

export const MAX_BUDGET = 2 ** 24;
const SLIDER_FROM = 50;
const SLIDER_STEPS = 200;

export const isBudget = (budget: number): boolean => Number.isInteger(budget) && budget >= 1 && budget <= MAX_BUDGET;

interface ControlsProps {
  readonly phase: Phase;
  readonly query: string;
  /** What is asked where there is no query. */
  readonly lastTurn: string;
  readonly budget: number;
  /** Right end of the slider. */
  readonly most: number;
  /** Smallest budget that has a prompt, where this one has none. */
  readonly needs: number | undefined;
  readonly onQuery: (query: string) => void;
  readonly onBudget: (budget: number) => void;
}

export function PhaseControls({
  phase,
  query,
  lastTurn,
  budget,
  most,
  needs,
  onQuery,
  onBudget,
}: ControlsProps): JSX.Element {
  const [refused, setRefused] = useState("");
  // Logarithmic: a hundred tokens matter to a small budget, not to a large one.
  const at = (position: number): number => Math.round(SLIDER_FROM * (most / SLIDER_FROM) ** (position / SLIDER_STEPS));
  const position = Math.round((Math.log(budget / SLIDER_FROM) / Math.log(most / SLIDER_FROM)) * SLIDER_STEPS);
  const exactly = (text: string, value: number): void => {
    setRefused(isBudget(value) ? "" : text === "" ? "nothing" : text);
    if (isBudget(value)) onBudget(value);
  };
  return (
    <div class="phase-controls">
      <label class="query">
        Query of {phase}{" "}
        <input
          id={`query-${phase}`}
          type="text"
          maxlength={2000}
          autocomplete="off"
          spellcheck={false}
          value={query}
          placeholder={lastTurn === "" ? "what the prompt is about" : `last user turn: ${lastTurn}`}
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
          onInput={({ currentTarget: { value } }) => {
            setRefused("");
            onBudget(at(Number(value)));
          }}
        />
        <input
          id={`exact-${phase}`}
          type="number"
          min={1}
          max={MAX_BUDGET}
          inputmode="numeric"
          aria-label={`Budget of ${phase} in tokens, exact`}
          aria-describedby="budget-refused"
          value={budget}
          onInput={({ currentTarget: { value, valueAsNumber } }) => exactly(value, valueAsNumber)}
        />
      </span>
      <p id="budget-refused" role="status" class="small">
        {refused !== "" &&
          `A budget is a whole number from 1 to ${number(MAX_BUDGET)}: ${refused} is none, so it stays at ${number(budget)}.`}
      </p>
      {needs !== undefined && isBudget(needs) && (
        <button type="button" class="primary" id="raise" onClick={() => onBudget(needs)}>
          Raise it to {number(needs)}, the least that has a prompt
        </button>
      )}
    </div>
  );
}
