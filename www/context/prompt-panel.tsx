// The prompt with sections that lead to their items.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, useAnswer } from "../shared/ask.ts";
import { Pager, ProblemBox, count, kindName, number, swatch } from "../shared/parts.tsx";
import type { Piece } from "../worker/prompt.ts";

interface PromptProps {
  readonly phase: Phase;
  readonly version: string;
  readonly selected: number;
  /** Item to be scrolled to, and how often that was asked. */
  readonly target: { readonly place: number; readonly times: number };
  readonly onItem: (place: number) => void;
}

export function PromptPanel({ phase, version, selected, target, onItem }: PromptProps): JSX.Element {
  const [page, setPage] = useState(0);
  const { value, problem } = useAnswer("context.prompt", { phase, page }, version);
  useEffect(() => {
    if (target.times === 0) return;
    void ask("context.pageOf", { phase, place: target.place }).then((found) => {
      if (found >= 0) setPage(found);
    });
  }, [target]);
  useEffect(() => {
    if (target.times === 0) return;
    document.getElementById(`section-${target.place}`)?.scrollIntoView({ block: "nearest" });
  }, [target, value]);
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack">
      <p class="quiet small">
        {number(value.tokens)} tokens, {number(value.bytes)} bytes. Choose the name of a section to see why it is here.
      </p>
      <Pager page={value.page} pages={value.pages} onPage={setPage} what="the prompt" />
      <div class="prompt" role="region" aria-label="Rendered prompt" tabIndex={0} id="prompt">
        {value.pieces.length === 0 && <p class="quiet">(empty)</p>}
        {value.pieces.map((piece) => (
          <PromptSection key={piece.start} piece={piece} isSelected={piece.place === selected} onItem={onItem} />
        ))}
      </div>
      <Pager page={value.page} pages={value.pages} onPage={setPage} what="the prompt, below" />
    </div>
  );
}

interface SectionProps {
  readonly piece: Piece;
  readonly isSelected: boolean;
  readonly onItem: (place: number) => void;
}

function PromptSection({
  piece: { place, label, kind, form, tokens, text, continued },
  isSelected,
  onItem,
}: SectionProps): JSX.Element {
  const about = [
    continued ? "continued" : "",
    form === "whole" ? "" : form,
    tokens === null ? "" : count(tokens, "token"),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <div
      class={`section ${swatch(kind)} ${isSelected ? "selected" : ""}`}
      id={place === null ? undefined : `section-${place}`}
    >
      <div class="section-head">
        {place === null ? (
          <span>{label}</span>
        ) : (
          <button type="button" class="link" aria-pressed={isSelected} onClick={() => onItem(place)}>
            {label}
          </button>
        )}{" "}
        <span class={`kind ${swatch(kind)}`}>{kindName(kind)}</span> <span class="quiet">{about}</span>
      </div>
      <pre>{text}</pre>
    </div>
  );
}
