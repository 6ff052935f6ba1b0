// A query and the short list for it: scores, what they are made of, the cards a model sees.
import type { ComponentChildren, JSX } from "preact";
import { useAddress } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { NumberField } from "../shared/number-field.tsx";
import { ProblemBox, Text, colour, count, number } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { CatalogView, Ranked, Routed } from "../worker/tools.ts";
import { Completion, SaidFields, type SaidState } from "./said.tsx";

/** None of its words is in the name of the tool it finds. */
export const QUERY = "which columns does the customers table have";

/** How a term of the query came to be looked for. */
const ORIGIN: Readonly<Record<string, string>> = {
  word: "a word of the query",
  pair: "two words side by side",
  fuzzy: "a similar spelling",
  phrase: "what a phrase stands for",
  neighbour: "a related word",
};

interface RouteProps {
  readonly catalog: CatalogView;
  readonly version: number;
  readonly said: SaidState;
  readonly isActive: boolean;
  readonly selected: number;
  readonly onTool: (place: number) => void;
  /** What is shown below the chosen tool, where there is no room beside the list. */
  readonly details: JSX.Element | null;
}

export function RoutePanel({ catalog, version, said, isActive, selected, onTool, details }: RouteProps): JSX.Element {
  const [query, setQuery] = useAddress("tq", QUERY);
  const [topText, setTop] = useAddress("top", "10");
  const [budgetText, setBudget] = useAddress("cards", "600");
  const [wanted, setNamespace] = useAddress("ns", "");
  const namespace = catalog.namespaces.some((each) => each.namespace === wanted) ? wanted : "";
  const top = NumberField.within(topText, 1, 100, 10);
  const budget = NumberField.within(budgetText, 1, 100_000, 600);
  const isEmpty = query.trim() === "";
  const { value, problem } = useAnswer(
    "tools.route",
    isEmpty ? null : { query, said: said.text, top, namespace, budget },
    version,
  );
  return (
    <div class="stack">
      <p class="quiet small">
        A prompt has no room for {count(catalog.tools, "tool")}. The router ranks them for the query, without a model,
        and only{" "}
        <Term means="One line per tool: its name, what it does, whether it changes anything. The schema of its arguments follows when it was chosen.">
          cards
        </Term>{" "}
        of the first few go into the prompt.
      </p>
      <div class="controls">
        <label class="grow">
          Query{" "}
          <input
            id="tool-query"
            type="text"
            maxlength={2000}
            autocomplete="off"
            spellcheck={false}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value.toWellFormed())}
          />
        </label>
        <NumberField id="top" label="Tools" least={1} most={100} fallback={10} text={topText} onText={setTop} />
        <NumberField
          id="card-budget"
          label="Tokens for cards"
          least={1}
          most={100_000}
          step={50}
          fallback={600}
          text={budgetText}
          onText={setBudget}
        />
        {catalog.namespaces.length > 1 && (
          <label class="inline">
            Server{" "}
            <select
              id="namespace"
              value={namespace}
              onChange={({ currentTarget }) => setNamespace(currentTarget.value)}
            >
              <option value="">all</option>
              {catalog.namespaces.map((each) => (
                <option key={each.namespace} value={each.namespace}>
                  {each.namespace} ({number(each.tools)})
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <SaidFields said={said} onQuery={setQuery} turns={value?.said.turns.length} isActive={isActive} />
      <ProblemBox problem={problem} />
      {isEmpty && (
        <p id="no-query" class="quiet">
          Nothing to choose by: write what is to be done, in your own words. Tools in groups are under Browse.
        </p>
      )}
      {value && !problem && !isEmpty && <Ranking value={value} selected={selected} onTool={onTool} details={details} />}
    </div>
  );
}

/** How sure the first place is, in a word. */
function sureness(confidence: number): string {
  return confidence >= 0.8 ? "High" : confidence >= 0.6 ? "Medium" : "Low";
}

function Verdict({
  value: { ranked, said, noMatch, reason, isAmbiguous, question, confidence },
}: {
  value: Routed;
}): JSX.Element {
  if (noMatch) {
    return (
      <>
        No tool fits the query: {reason}.{" "}
        {said.turns.length === 0 && "Nothing was said before it that it could go on with. "}The model is told so instead
        of being offered a bad choice.
      </>
    );
  }
  // What such a lead is worth was measured where scores alone decide.
  if (ranked[0]?.isSaid)
    return (
      <>
        The first was called or named in the turns before the query; the others are ranked for what the query was
        completed to.
      </>
    );
  const lead = isAmbiguous
    ? `The first two are too close to call.${question ? ` ${question}` : ""}`
    : "The first leads by enough not to ask back.";
  if (confidence === null) return <>{lead}</>;
  const percent = Math.round(confidence * 100);
  return (
    <>
      {lead}{" "}
      <Term
        means={`With such a lead the first tool was the right one for ${percent} of 100 queries of public test sets. It is no promise about your tools.`}
      >
        {sureness(confidence)} confidence ({percent} %)
      </Term>
    </>
  );
}

/** One colour for each term, whichever tools have it; the terms that count most get theirs first. */
function coloursOf(ranked: readonly Ranked[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { terms } of ranked)
    for (const { term, contribution } of terms) weights.set(term, (weights.get(term) ?? 0) + contribution);
  const sorted = [...weights].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return new Map(sorted.map(([term], at) => [term, Math.min(at, OTHERS)]));
}

/** Terms beyond the colours there are share the last one. */
const OTHERS = 6;

function Ranking({
  value,
  selected,
  onTool,
  details,
}: { value: Routed } & Pick<RouteProps, "selected" | "onTool" | "details">): JSX.Element {
  const { ranked, said, noMatch, cards, cardTokens, dropped } = value;
  const most = Math.max(0.001, ...ranked.map(({ score }) => score));
  const colours = coloursOf(ranked);
  return (
    <>
      {said.turns.length > 0 && <Completion said={said} noMatch={noMatch} />}
      <p id="verdict" role="status">
        <Verdict value={value} />
      </p>
      <ol class="ranking">
        {ranked.map((tool, rank) => (
          <li key={tool.place} class={`card ${tool.place === selected ? "selected" : ""}`}>
            <Card
              tool={tool}
              rank={rank}
              most={most}
              colours={colours}
              isSelected={tool.place === selected}
              onTool={onTool}
            />
            {tool.place === selected && details}
          </li>
        ))}
      </ol>
      <h3>What the model sees</h3>
      <p class="small quiet" id="card-tokens">
        {count(cardTokens, "token")}
        {dropped > 0 ? `; ${count(dropped, "card")} did not fit` : ""}. The schema follows when a tool was chosen.
      </p>
      <Text label="Cards">{cards}</Text>
    </>
  );
}

interface CardProps {
  readonly tool: Ranked;
  readonly rank: number;
  readonly most: number;
  readonly colours: ReadonlyMap<string, number>;
  readonly isSelected: boolean;
  readonly onTool: (place: number) => void;
}

function Card({ tool, rank, most, colours, isSelected, onTool }: CardProps): JSX.Element {
  const terms = tool.terms.map((term, at) => ({
    ...term,
    at: colours.get(term.term) ?? OTHERS,
    key: `${at} ${term.term}`,
  }));
  const said = terms.map(({ term, contribution }) => `${term} ${contribution.toFixed(2)}`).join(", ");
  return (
    <>
      <div class="card-head">
        <button type="button" class="link" aria-pressed={isSelected} onClick={() => onTool(tool.place)}>
          {number(rank + 1)}. {tool.name}
        </button>{" "}
        <span class="quiet small">{tool.namespace}</span>{" "}
        {tool.safety && (
          <span class={`badge ${tool.safety === "destructive" ? "warning" : "info"}`}>{tool.safety}</span>
        )}{" "}
        {tool.isSaid && <span class="badge kept">said before</span>}
        <span class="score">
          <b>{tool.score.toFixed(2)}</b>{" "}
          <span
            class="quiet small"
            title="Of what the query asks for, rare words counting more, so much is found in this tool"
          >
            {Math.round(tool.coverage * 100)} % of the query found
          </span>
        </span>
      </div>
      <p class="small">{tool.description}</p>
      {terms.length > 0 && (
        <>
          <Bars
            label={`Score ${tool.score.toFixed(2)}: ${said}`}
            to={most}
            rowHeight={10}
            bars={terms.map(({ key, contribution, at, term }) => ({
              row: "",
              name: key,
              value: Math.max(0, contribution),
              fill: colour(`term-${at}`),
              title: `${term}: ${contribution.toFixed(2)}`,
            }))}
          />
          <ul class="legend" aria-label="Matched terms">
            {terms.map(({ key, term, at, origin, from, contribution, fields }) => (
              <TermOf key={key} at={at} title={`${ORIGIN[origin] ?? origin}${from ? ` (${from})` : ""}, in ${fields}`}>
                <b>{term}</b> {contribution.toFixed(2)}{" "}
                <span class="quiet">
                  {origin === "word" ? "" : `${ORIGIN[origin] ?? origin}${from ? ` of ${from}` : ""}, `}in {fields}
                </span>
              </TermOf>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function TermOf({ at, title, children }: { at: number; title: string; children: ComponentChildren }): JSX.Element {
  return (
    <li>
      <span class={`swatch term-${at}`} aria-hidden="true" /> <span title={title}>{children}</span>
    </li>
  );
}
