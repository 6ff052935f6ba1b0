// The prompt with sections that lead to their items, and what changed since the one before.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Pager, ProblemBox, count, kindName, number, swatch } from "../shared/parts.tsx";
import type { Change, Changes, Piece } from "../worker/prompt.ts";

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
        {value.shared !== null && ` The first ${number(value.shared)} bytes are those of the prompt before; the dashed line is where they end.`}
      </p>
      <Pager page={value.page} pages={value.pages} onPage={setPage} what="the prompt" />
      <div class="prompt" role="region" aria-label="Rendered prompt" tabIndex={0} id="prompt">
        {value.pieces.length === 0 && <p class="quiet">(empty)</p>}
        {value.pieces.map((piece) => (
          <PromptSection key={piece.start} piece={piece} isSelected={piece.place === selected} onItem={onItem} shared={value.shared} />
        ))}
      </div>
      <Pager page={value.page} pages={value.pages} onPage={setPage} what="the prompt, below" />
    </div>
  );
}

interface SectionProps {
  readonly piece: Piece;
  readonly isSelected: boolean;
  readonly shared: number | null;
  readonly onItem: (place: number) => void;
}

function PromptSection({ piece: { place, label, kind, form, tokens, text, continued, end }, isSelected, shared, onItem }: SectionProps): JSX.Element {
  const about = [continued ? "continued" : "", form === "whole" ? "" : form, tokens === null ? "" : count(tokens, "token")].filter(Boolean).join(", ");
  const isCached = shared !== null && end <= shared;
  return (
    <div class={`section ${swatch(kind)} ${isSelected ? "selected" : ""} ${isCached ? "" : "fresh"}`} id={place === null ? undefined : `section-${place}`}>
      <div class="section-head">
        {place === null ? (
          <span>{label}</span>
        ) : (
          <button type="button" class="link" aria-pressed={isSelected} onClick={() => onItem(place)}>
            {label}
          </button>
        )}{" "}
        <span class="kind">{kindName(kind)}</span> <span class="quiet">{about}</span>
      </div>
      <pre>{text}</pre>
    </div>
  );
}

interface ChangesProps {
  readonly phase: Phase;
  readonly version: string;
  readonly isAppend: boolean;
  readonly onItem: (place: number) => void;
  readonly onFix: () => void;
}

/** Why a prompt of append mode parts from the one before, in words. */
const PREFIX_REASON: Readonly<Record<string, string>> = {
  none: "Nothing had to be cut: the prompt before is the beginning of this one.",
  first: "The settings are others, so prompts began anew.",
  header: "The header is another one.",
  footer: "The footer is another one.",
  overflow: "The budget was full, so the prompt was cut anew.",
  changed: "An item that was in the prompt has changed.",
  options: "The settings are others.",
};

export function ChangesPanel({ phase, version, isAppend, onItem, onFix }: ChangesProps): JSX.Element {
  const { value, problem } = useAnswer("context.changes", { phase }, version);
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="changes">
      <div class="controls">
        <button
          type="button"
          aria-pressed={value.isFixed}
          onClick={() => void ask("context.fix", { phase, on: !value.isFixed }).then(onFix)}
        >
          {value.isFixed ? "Compare with the prompt before" : "Compare with this prompt from now on"}
        </button>
      </div>
      {value.isFirst ? (
        <p>Nothing to compare with yet. Move a budget, change a query, pin an item or add a turn, and this shows what that does to the prompt.</p>
      ) : (
        <Compared value={value} isAppend={isAppend} onItem={onItem} />
      )}
    </div>
  );
}

function Compared({ value, isAppend, onItem }: { value: Changes; isAppend: boolean; onItem: (place: number) => void }): JSX.Element {
  const { counts, prefix, changes, rest, from } = value;
  const percent = prefix.of === 0 ? 100 : Math.round((prefix.bytes / prefix.of) * 100);
  return (
    <>
      <p id="change-counts">
        <b class="added">{count(counts.added, "section")} added</b>, <b class="removed">{number(counts.removed)} removed</b>, {number(counts.changed)} changed,{" "}
        {number(counts.same)} as before{from ? ` (${from})` : ""}.
      </p>
      <Bars
        label={`The first ${percent} percent of the prompt are as before`}
        to={Math.max(1, prefix.of)}
        rowHeight={12}
        bars={[
          { row: "", name: "cached", value: prefix.bytes, fill: "var(--good)", title: "as before" },
          { row: "", name: "fresh", value: prefix.of - prefix.bytes, fill: "var(--reason-budget)", title: "to be read anew" },
        ]}
      />
      <p id="prefix">
        The cacheable prefix ends at byte {number(prefix.bytes)} of {number(prefix.of)} ({percent} %, {count(prefix.tokens, "token")}). Providers charge less for a
        beginning they have seen; everything after it is read anew. {isAppend ? (PREFIX_REASON[prefix.reason] ?? "") : ""}
      </p>
      <ol class="changes" aria-label="Changes" tabIndex={0}>
        {changes.map((change, place) => (
          <ChangeRow key={place} change={change} onItem={onItem} />
        ))}
      </ol>
      {rest > 0 && <p class="quiet">and {count(rest, "more change")}</p>}
    </>
  );
}

function ChangeRow({ change, onItem }: { change: Change; onItem: (place: number) => void }): JSX.Element {
  if (change.type === "same") {
    return (
      <li class="same quiet">
        {count(change.count, "section")} as before, {count(change.tokens, "token")}
      </li>
    );
  }
  if (change.type === "prefix") return <li class="prefix-end">The cacheable prefix ends here</li>;
  const { type, place, label, kind, before, after } = change;
  return (
    <li class={type}>
      <div class="section-head">
        <span class="badge">{type}</span>{" "}
        {place === null ? (
          <span>{label}</span>
        ) : (
          <button type="button" class="link" onClick={() => onItem(place)}>
            {label}
          </button>
        )}{" "}
        <span class={`kind ${swatch(kind)}`}>{kindName(kind)}</span>
      </div>
      {before !== "" && (
        <del>
          <pre>{before}</pre>
        </del>
      )}
      {after !== "" && (
        <ins>
          <pre>{after}</pre>
        </ins>
      )}
    </li>
  );
}
