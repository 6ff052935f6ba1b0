// The first item that had no room: why, and the budget that would have kept it.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { count, kindName, number, swatch } from "../shared/parts.tsx";
import { reasonText } from "./words.ts";

interface MissedProps {
  readonly phase: Phase;
  readonly version: string;
  readonly onItem: (place: number) => void;
}

export function FirstMissed({ phase, version, onItem }: MissedProps): JSX.Element | null {
  const { value } = useAnswer("context.missed", { phase }, version);
  if (!value) return null;
  const { item, budget, now } = value;
  return (
    <p class="missed small" id="missed">
      <b>First of what had no room:</b>{" "}
      <button type="button" class="link" onClick={() => onItem(item.place)}>
        {item.label}
      </button>{" "}
      <span class={`kind ${swatch(item.kind)}`}>{kindName(item.kind)}</span>. {reasonText(item, phase)}{" "}
      <b>{budget === null ? "No budget would bring it in." : `${count(budget, "token")} would have kept it; the budget is ${number(now)}.`}</b>
    </p>
  );
}
