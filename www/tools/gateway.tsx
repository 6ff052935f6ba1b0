// The same tools behind a gateway: what a model is shown of them, in tokens.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAddress } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Json } from "../shared/json.tsx";
import { ProblemBox, Text, count, number } from "../shared/parts.tsx";
import type { Searched } from "../worker/gateway.ts";
import { QUERY } from "./route.tsx";

export function GatewayPanel({ version }: { version: number }): JSX.Element {
  const [query, setQuery] = useAddress("tq", QUERY);
  const [tries, setTries] = useState(0);
  const { value, problem, isBusy } = useAnswer("gateway.search", { query }, version, tries);
  const again = (): void => setTries((before) => before + 1);
  // What is not an error of the engine is a module that did not come.
  const isMissing = problem?.code === "PAGE";
  useEffect(() => {
    if (!isMissing) return;
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [isMissing]);
  return (
    <div class="stack" id="gateway">
      <p class="quiet small">
        Every tool that a client lists costs tokens in every prompt. <code>contextweaver gateway</code> stands before
        all servers and lists three tools in their place: one to search, one to call what was found, one to look into
        large results.
      </p>
      <label class="block">
        What the model asks <code>search_tools</code>
        <input
          id="gateway-query"
          type="text"
          maxlength={2000}
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value.toWellFormed())}
        />
      </label>
      {!value && isBusy && <p role="status">Loading the gateway.</p>}
      <ProblemBox problem={problem} id="gateway-problem" />
      {isMissing && (
        <button type="button" id="gateway-again" onClick={again}>
          Try again
        </button>
      )}
      {value && !problem && <Answer value={value} isEmpty={query.trim() === ""} />}
    </div>
  );
}

function Answer({ value: { all, listed, answer, held }, isEmpty }: { value: Searched; isEmpty: boolean }): JSX.Element {
  const together = listed.tokens + answer.tokens;
  const times = Math.floor(all.tokens / Math.max(1, together));
  const lines = [
    { name: `Schemas of ${count(all.tools, "tool")}`, tokens: all.tokens, fill: "var(--out)" },
    { name: `The ${count(listed.names.length, "tool")} of the gateway`, tokens: listed.tokens, fill: "var(--accent)" },
    { name: "What search_tools answers", tokens: answer.tokens, fill: "var(--accent)" },
  ];
  return (
    <>
      <p id="gateway-total" class="headline" role="status">
        <b>{number(all.tokens)}</b> tokens → <b>{number(together)}</b>
        {times > 1 && (
          <span class="quiet small"> {number(times)} times fewer, with the tool found and its arguments known</span>
        )}
      </p>
      <table class="measure">
        <caption class="unseen">Tokens of the tools, with and without a gateway</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">What the model is shown</th>
            <th scope="col">Tokens</th>
            <th scope="col">On one scale</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, tokens, fill }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="c-number">{number(tokens)}</td>
              <td class="c-bar">
                <Bars
                  label={`${number(tokens)} of ${number(all.tokens)} tokens`}
                  to={Math.max(all.tokens, together)}
                  bars={[{ row: "", name, value: tokens, fill, title: `${name}: ${number(tokens)} tokens` }]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>The answer {isEmpty && <span class="quiet small">to an empty query: which servers there are</span>}</h3>
      <Text label="Answer of search_tools">{answer.text}</Text>
      {held.length > 0 && (
        <p class="small" id="gateway-held">
          <b>{count(held.length, "tool")} held back</b> until somebody has looked at {held.length === 1 ? "it" : "them"}
          : {held.slice(0, 10).join(", ")}
          {held.length > 10 && ` and ${number(held.length - 10)} more`}.
        </p>
      )}
      <details>
        <summary>What the gateway lists: {listed.names.join(", ")}</summary>
        <Json label="Tools that the gateway lists">{listed.json}</Json>
      </details>
    </>
  );
}
