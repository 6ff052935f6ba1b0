// A question to the memory: similar decisions, and what their scores are made of.
import type { RetrievalMode } from "contextweaver/slim";
import type { JSX } from "preact";
import { useAddress, useChoice } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { ProblemBox, count } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { FoundDecision } from "../worker/decisions.ts";
import { outcomeBadge, outcomeName } from "./words.ts";

const QUERY = "retry a payment that failed";
const MODES = ["hybrid", "semantic", "keyword"] as const satisfies readonly RetrievalMode[];
const MODE: Readonly<Record<RetrievalMode, string>> = {
  hybrid: "meaning and words",
  semantic: "meaning alone",
  keyword: "words alone",
};

export interface PanelProps {
  readonly version: number;
  readonly selected: number;
  readonly onDecision: (place: number) => void;
  /** What is shown below the chosen decision, where there is no room beside the list. */
  readonly details: JSX.Element | null;
}

export function Outcome({ outcome }: { outcome: string }): JSX.Element {
  return <span class={`badge ${outcomeBadge(outcome)}`}>{outcomeName(outcome)}</span>;
}

export function CategoryField({
  id,
  categories,
  value,
  onChange,
  all,
}: {
  id: string;
  categories: readonly string[];
  value: string;
  onChange: (value: string) => void;
  all: string;
}): JSX.Element {
  return (
    <label class="inline">
      Category{" "}
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{all}</option>
        {categories.map((category) => (
          <option key={category} value={category}>
            {category}
          </option>
        ))}
      </select>
    </label>
  );
}

export function AskPanel({
  version,
  selected,
  onDecision,
  details,
  categories,
}: PanelProps & { readonly categories: readonly string[] }): JSX.Element {
  const [query, setQuery] = useAddress("dq", QUERY);
  const [mode, setMode] = useChoice("dmode", MODES, "hybrid");
  const [wanted, setCategory] = useAddress("dcat", "");
  const category = categories.includes(wanted) ? wanted : "";
  const isEmpty = query.trim() === "";
  const { value, problem } = useAnswer("decisions.ask", isEmpty ? null : { query, mode, category }, version);
  return (
    <div class="stack">
      <div class="controls">
        <label class="grow">
          <span class="nowrap">About to</span>{" "}
          <input
            id="decision-query"
            type="text"
            maxlength={2000}
            autocomplete="off"
            spellcheck={false}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value.toWellFormed())}
          />
        </label>
        <label class="inline">
          Compare by{" "}
          <select
            id="decision-mode"
            value={mode}
            onChange={({ currentTarget }) => setMode(currentTarget.value as RetrievalMode)}
          >
            {MODES.map((key) => (
              <option key={key} value={key}>
                {MODE[key]}
              </option>
            ))}
          </select>
        </label>
        <CategoryField
          id="decision-category"
          categories={categories}
          value={category}
          onChange={setCategory}
          all="all"
        />
      </div>
      <ProblemBox problem={problem} id="decision-problem" />
      {isEmpty && (
        <p id="no-decision-query" class="quiet">
          Nothing to compare with: write what you are about to do.
        </p>
      )}
      {value && !problem && !isEmpty && (
        <>
          <p id="decision-count" role="status">
            {value.found.length === 0
              ? "Nothing like it has been decided."
              : `${count(value.found.length, "similar decision")}, by ${MODE[value.mode as RetrievalMode]}.`}
          </p>
          {value.warnings.map((warning) => (
            <p key={warning} class="small">
              {warning}
            </p>
          ))}
          {value.found.length > 0 && <Key />}
          <ol class="ranking">
            {value.found.map((found) => (
              <li key={found.place} class={`card ${found.place === selected ? "selected" : ""}`}>
                <Found
                  found={found}
                  most={Math.max(1, ...value.found.map(({ score }) => score))}
                  isSelected={found.place === selected}
                  onDecision={onDecision}
                />
                {found.place === selected && details}
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

/** What the two colours of the bars say. */
function Key(): JSX.Element {
  return (
    <p class="legend">
      <span>
        <span class="swatch part-text" aria-hidden="true" />{" "}
        <Term means="How near two texts are as vectors. The page makes them of hashed words and parts of words; your embedding model can take their place.">
          meaning
        </Term>
      </span>
      <span>
        <span class="swatch part-neighbours" aria-hidden="true" />{" "}
        <Term means="Words that both have, rare ones counting more.">words</Term>
      </span>
    </p>
  );
}

function Found({
  found,
  most,
  isSelected,
  onDecision,
}: {
  found: FoundDecision;
  most: number;
  isSelected: boolean;
  onDecision: (place: number) => void;
}): JSX.Element {
  const { place, title, outcome, category, date, confidence, lessons, score, meaning, words, isSuperseded } = found;
  const said = `Score ${score.toFixed(2)}: meaning ${meaning.toFixed(2)}, words ${words.toFixed(2)}`;
  const parts = [
    { row: "", name: "meaning", value: meaning, fill: "var(--part-text)", title: `meaning: ${meaning.toFixed(2)}` },
    { row: "", name: "words", value: words, fill: "var(--part-neighbours)", title: `words: ${words.toFixed(2)}` },
  ];
  return (
    <>
      <div class="card-head">
        <button type="button" class="link" aria-pressed={isSelected} onClick={() => onDecision(place)}>
          {title}
        </button>{" "}
        <Outcome outcome={outcome} />{" "}
        {isSuperseded && (
          <span class="badge stays" title="Another decision took its place, so its score counts half">
            replaced: counts half
          </span>
        )}
        <span class="score">
          <b>{score.toFixed(2)}</b>{" "}
          <span class="quiet small">
            = {meaning.toFixed(2)} + {words.toFixed(2)}
          </span>
        </span>
      </div>
      <p class="small quiet">
        {category}, {date}
        {confidence !== null && `, ${Math.round(confidence * 100)} % sure`}
      </p>
      {lessons && (
        <p class="small">
          <b>Learned:</b> {lessons}
        </p>
      )}
      <Bars label={said} to={most} rowHeight={10} bars={parts.filter(({ value }) => value > 0)} />
    </>
  );
}
