// Two builds side by side: what differs, and where a provider's cache ends.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ask, useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { ProblemBox, count, kindName, number, swatch } from "../shared/parts.tsx";
import type { Against, BuildFigures, Change, Changes } from "../worker/prompt.ts";
import { PHASES, partingText, runningText } from "./words.ts";

interface CompareProps {
  readonly phase: Phase;
  readonly version: string;
  readonly onItem: (place: number) => void;
  readonly onFix: () => void;
}

export function ComparePanel({ phase, version, onItem, onFix }: CompareProps): JSX.Element {
  const [against, setAgainst] = useState<Against>("before");
  const { value, problem } = useAnswer("context.changes", { phase, against: against === phase ? "before" : against }, version);
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="changes">
      <div class="controls">
        <label class="inline">
          Compare with{" "}
          <select id="against" value={against === phase ? "before" : against} onChange={({ currentTarget }) => setAgainst(currentTarget.value as Against)}>
            <option value="before">{value.isFixed ? "the prompt that you kept" : "the prompt before"}</option>
            {PHASES.filter((each) => each !== phase).map((each) => (
              <option key={each} value={each}>
                the {each} prompt
              </option>
            ))}
          </select>
        </label>
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
        <Compared value={value} isBefore={against === "before" || against === phase} onItem={onItem} />
      )}
    </div>
  );
}

function Compared({ value, isBefore, onItem }: { value: Changes; isBefore: boolean; onItem: (place: number) => void }): JSX.Element {
  const { counts, prefix, running, changes, rest, from, base, now } = value;
  const percent = prefix.of === 0 ? 100 : Math.round((prefix.bytes / prefix.of) * 100);
  return (
    <>
      <dl class="sides">
        <Side title="Then" figures={base} />
        <Side title="Now" figures={now} />
      </dl>
      <p id="change-counts">
        <b class="added">{count(counts.added, "section")} added</b>, <b class="removed">{number(counts.removed)} removed</b>, {number(counts.changed)} changed,{" "}
        {number(counts.same)} as before{from ? ` (${from})` : ""}.
      </p>
      <Bars
        label={`The first ${percent} percent of the prompt are as before`}
        to={Math.max(1, prefix.of)}
        rowHeight={12}
        bars={[
          { row: "", name: "cached", value: prefix.bytes, fill: "var(--accent)", title: "as before" },
          { row: "", name: "fresh", value: prefix.of - prefix.bytes, fill: "var(--sunken)", title: "to be read anew" },
        ]}
      />
      <p id="prefix">
        The cacheable prefix ends at byte {number(prefix.bytes)} of {number(prefix.of)} ({percent} %, {count(prefix.tokens, "token")}). Providers charge less for a
        beginning they have seen; everything after it is read anew.
      </p>
      {running && isBefore && (
        <p id="running">
          {runningText(running.step)} {partingText(running.parting)}
        </p>
      )}
      <ol class="changes" aria-label="Changes" tabIndex={0}>
        {changes.map((change, place) => (
          <ChangeRow key={place} change={change} onItem={onItem} />
        ))}
      </ol>
      {rest > 0 && <p class="quiet">and {count(rest, "more change")}</p>}
    </>
  );
}

function Side({ title, figures }: { title: string; figures: BuildFigures | null }): JSX.Element | null {
  if (!figures) return null;
  const { phase, budget, tokens, items, query } = figures;
  return (
    <div>
      <dt>
        {title}: {phase}
      </dt>
      <dd>
        <b>{number(tokens)}</b> of {number(budget)} tokens, {count(items, "item")}
        <span class="quiet"> {query === "" ? "no query" : query}</span>
      </dd>
    </div>
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
      <div class="both">
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
      </div>
    </li>
  );
}
