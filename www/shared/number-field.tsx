// A number within bounds: what is out of them is said, and what counts in its place.
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { number } from "./parts.tsx";

interface NumberFieldProps {
  readonly id: string;
  readonly label: string;
  readonly least: number;
  readonly most: number;
  readonly fallback: number;
  readonly step?: number;
  /** As it was typed. */
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function NumberField({ id, label, least, most, fallback, step, text, onText }: NumberFieldProps): JSX.Element {
  const hint = useId();
  const isWrong = NumberField.within(text, least, most, NaN) !== Number(text) || text.trim() === "";
  return (
    <span class="number-field">
      <label class="inline">
        {label}{" "}
        <input
          id={id}
          type="number"
          min={least}
          max={most}
          step={step}
          value={text}
          aria-invalid={isWrong}
          aria-describedby={hint}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      <span id={hint} role="status" class="wrong small">
        {isWrong
          ? `a whole number from ${number(least)} to ${number(most)}; ${number(fallback)} counts until then`
          : ""}
      </span>
    </span>
  );
}

/** The number that was typed, or what counts in its place. */
NumberField.within = (text: string, least: number, most: number, fallback: number): number => {
  const wanted = Number(text);
  return text.trim() !== "" && Number.isInteger(wanted) && wanted >= least && wanted <= most ? wanted : fallback;
};
