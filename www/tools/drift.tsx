// What changed from one capture of a server's tools to the next.
import type { JSX } from "preact";
import { useAddress } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, number } from "../shared/parts.tsx";

/** What a risk means to who uses the tool. */
const RISK: Readonly<Record<string, string>> = {
  none: "no effect",
  documentation: "words only, but words are what a model goes by",
  compatible: "calls of before still work",
  review: "may work otherwise than before",
  breaking: "calls of before may fail",
};

export function DriftPanel({ version }: { version: number }): JSX.Element {
  const [query] = useAddress("tq", "");
  const [more, setMore] = useAddress(
    "probes",
    "read the last lines of a log file\ncreate a folder\nfind a file by name",
  );
  const queries = [query, ...more.split("\n")];
  const { value, problem } = useAnswer("tools.drift", { queries }, version);
  return (
    <div class="stack" id="drift">
      <label for="probes">
        Queries to try on both, one per line{query === "" ? "" : ", besides that of the first tab"}
      </label>
      <textarea
        id="probes"
        rows={3}
        spellcheck={false}
        autocomplete="off"
        value={more}
        onInput={({ currentTarget }) => setMore(currentTarget.value.toWellFormed())}
      />
      <ProblemBox problem={problem} />
      {value && (
        <>
          <p id="drift-count" role="status">
            {value.isSame
              ? "Nothing has changed."
              : `${count(value.changed.length, "tool")} changed, ${number(value.added.length)} added, ${number(value.removed.length)} removed.`}{" "}
            {value.probes > 0 &&
              (value.moved.length === 0
                ? `All of ${count(value.probes, "query", "queries")} still lead to the same tool.`
                : `${number(value.moved.length)} of ${count(value.probes, "query", "queries")} lead to another tool.`)}
          </p>
          {value.moved.map(({ query: asked, before, after }) => (
            <p key={asked} class="small">
              “{asked}”: <del>{before}</del> <ins>{after}</ins>
            </p>
          ))}
          <Ids title="Added" ids={value.added} />
          <Ids title="Removed" ids={value.removed} />
          <ul class="findings">
            {value.changed.map(({ id, risk, changes }) => (
              <li key={id} class={`card risk-${risk}`}>
                <div class="card-head">
                  <span class={`badge risk-${risk}`}>{risk}</span> <b>{id}</b>{" "}
                  <span class="quiet small">{RISK[risk]}</span>
                </div>
                <ul class="changes-of-tool">
                  {changes.map((change, at) => (
                    <li key={at}>
                      <code>{change.path}</code> <span class={`badge risk-${change.risk}`}>{change.risk}</span>{" "}
                      <span class="small">{change.effect}</span>
                      {change.before !== change.after && change.before && <del class="small">{change.before}</del>}
                      {change.before !== change.after && change.after && <ins class="small">{change.after}</ins>}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Ids({ title, ids }: { title: string; ids: readonly string[] }): JSX.Element | null {
  if (ids.length === 0) return null;
  return (
    <p class="small">
      <b>{title}:</b> {ids.join(", ")}
    </p>
  );
}
