// A query and the short list for it: scores, what they are made of, the cards a model sees.
import type { JSX } from "preact";
import { useAddress } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Legend, ProblemBox, Text, colour, count, number } from "../shared/parts.tsx";
import type { CatalogView, Ranked, Routed } from "../worker/tools.ts";

/** How a term of the query came to be looked for. */
const ORIGIN: Readonly<Record<string, string>> = {
  word: "a word of the query",
  pair: "two words side by side",
  fuzzy: "a similar spelling",
  phrase: "what a phrase stands for",
  neighbour: "a related word",
};

const within = (value: string, least: number, most: number, fallback: number): number => {
  const wanted = Number(value);
  return Number.isInteger(wanted) && wanted >= least && wanted <= most ? wanted : fallback;
};

interface RouteProps {
  readonly catalog: CatalogView;
  readonly version: number;
  readonly selected: number;
  readonly onTool: (place: number) => void;
}

export function RoutePanel({ catalog, version, selected, onTool }: RouteProps): JSX.Element {
  const [query, setQuery] = useAddress("tq", "read the last lines of a log file");
  const [topText, setTop] = useAddress("top", "10");
  const [budgetText, setBudget] = useAddress("cards", "600");
  const [wanted, setNamespace] = useAddress("ns", "");
  const namespace = catalog.namespaces.some((each) => each.namespace === wanted) ? wanted : "";
  const top = within(topText, 1, 100, 10);
  const budget = within(budgetText, 1, 100_000, 600);
  const { value, problem } = useAnswer("tools.route", { query, top, namespace, budget }, version);
  return (
    <div class="stack">
      <p class="quiet small">
        A prompt has no room for {count(catalog.tools, "tool")}. The router ranks them for the query, without a model, and only cards of the first few go into the
        prompt.
      </p>
      <div class="controls">
        <label class="grow">
          Query{" "}
          <input id="tool-query" type="text" maxlength={2000} autocomplete="off" spellcheck={false} value={query} onInput={({ currentTarget }) => setQuery(currentTarget.value.toWellFormed())} />
        </label>
        <label class="inline">
          First{" "}
          <input id="top" type="number" min={1} max={100} value={top} onInput={({ currentTarget }) => setTop(currentTarget.value)} />
        </label>
        <label class="inline">
          Cards within{" "}
          <input id="card-budget" type="number" min={1} max={100000} step={50} value={budget} onInput={({ currentTarget }) => setBudget(currentTarget.value)} /> tokens
        </label>
        {catalog.namespaces.length > 1 && (
          <label class="inline">
            Namespace{" "}
            <select id="namespace" value={namespace} onChange={({ currentTarget }) => setNamespace(currentTarget.value)}>
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
      <ProblemBox problem={problem} />
      {value && !problem && <Ranking value={value} selected={selected} onTool={onTool} />}
    </div>
  );
}

function verdict({ noMatch, isAmbiguous, question, confidence }: Routed): string {
  if (noMatch) return "No tool fits the query: none has any of its words. The model is told so instead of being offered a bad choice.";
  const prior = confidence === null ? "" : ` With such a lead the first was the right one for ${Math.round(confidence * 100)} of 100 public test queries.`;
  if (isAmbiguous) return `The first two are too close to call.${question ? ` ${question}` : ""}${prior}`;
  return `The first leads by enough not to ask back.${prior}`;
}

function Ranking({ value, selected, onTool }: { value: Routed; selected: number; onTool: (place: number) => void }): JSX.Element {
  const { ranked, cards, cardTokens, dropped } = value;
  const most = Math.max(0.001, ...ranked.map(({ score }) => score));
  return (
    <>
      <p id="verdict" role="status">
        {verdict(value)}
      </p>
      <ol class="ranking">
        {ranked.map((tool, rank) => (
          <li key={tool.place} class={`card ${tool.place === selected ? "selected" : ""}`}>
            <Card tool={tool} rank={rank} most={most} isSelected={tool.place === selected} onTool={onTool} />
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

function Card({ tool, rank, most, isSelected, onTool }: { tool: Ranked; rank: number; most: number; isSelected: boolean; onTool: (place: number) => void }): JSX.Element {
  const terms = tool.terms.map((term, at) => ({ ...term, fill: colour(`term-${at % 6}`), key: `${at} ${term.term}` }));
  const said = terms.map(({ term, contribution }) => `${term} ${contribution.toFixed(2)}`).join(", ");
  return (
    <>
      <div class="card-head">
        <button type="button" class="link" aria-pressed={isSelected} onClick={() => onTool(tool.place)}>
          {number(rank + 1)}. {tool.name}
        </button>{" "}
        <span class="quiet small">{tool.namespace}</span> {tool.safety && <span class={`badge ${tool.safety === "destructive" ? "dropped" : "kept"}`}>{tool.safety}</span>}
        <span class="score">
          <b>{tool.score.toFixed(2)}</b> <span class="quiet small">covers {Math.round(tool.coverage * 100)} % of the query</span>
        </span>
      </div>
      <p class="small">{tool.description}</p>
      {terms.length > 0 && (
        <>
          <Bars
            label={`Score ${tool.score.toFixed(2)}: ${said}`}
            to={most}
            rowHeight={10}
            bars={terms.map(({ key, contribution, fill, term }) => ({ row: "", name: key, value: Math.max(0, contribution), fill, title: `${term}: ${contribution.toFixed(2)}` }))}
          />
          <Legend
            label="Matched terms"
            shares={terms.map(({ key, term, origin, from, contribution, fields }, at) => ({
              key,
              class: `term-${at % 6}`,
              text: (
                <span title={`${ORIGIN[origin] ?? origin}${from ? ` (${from})` : ""}, in ${fields}`}>
                  <b>{term}</b> {contribution.toFixed(2)}{" "}
                  <span class="quiet">
                    {origin === "word" ? "" : `${ORIGIN[origin] ?? origin}${from ? ` of ${from}` : ""}, `}in {fields}
                  </span>
                </span>
              ),
            }))}
          />
        </>
      )}
    </>
  );
}
