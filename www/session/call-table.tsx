// The tape as a table, for whoever reads tables.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Pager, number } from "../shared/parts.tsx";
import type { TapeView } from "../worker/session.ts";
import { cutName, priceText } from "./words.ts";

const ROWS = 200;

export function CallTable({ tape }: { tape: TapeView }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details id="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <Rows tape={tape} />}
    </details>
  );
}

function Rows({ tape: { calls, isMoney } }: { tape: TapeView }): JSX.Element {
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(calls.length / ROWS));
  const shown = Math.min(page, pages - 1);
  const head = [
    "Call",
    "Sent",
    "Repeated",
    "Rewritten",
    "New",
    "Whole conversation",
    "Cost",
    "Everything",
    "Trimming",
    "Copied values there",
    "Provider counted",
  ];
  return (
    <>
      <div class="table-box" role="region" aria-label="Calls of the session" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {head.map((title) => (
                <th key={title} scope="col" class="n">
                  {title}
                </th>
              ))}
              <th scope="col">Cut</th>
            </tr>
          </thead>
          <tbody>
            {calls.slice(shown * ROWS, (shown + 1) * ROWS).map((call) => (
              <tr key={call.number}>
                <th scope="row" class="n">
                  {number(call.number)}
                </th>
                {[call.tokens, call.repeated, call.rewritten, call.fresh, call.whole].map((tokens, at) => (
                  <td key={at} class="n">
                    {number(tokens)}
                  </td>
                ))}
                {[call.price, call.everything, call.trimmed].map((price, at) => (
                  <td key={at} class="n">
                    {priceText(price, isMoney, 4)}
                  </td>
                ))}
                <td class="n">{call.copied === 0 ? "" : `${number(call.shown)} of ${number(call.copied)}`}</td>
                <td class="n">{call.counted === null ? "" : number(call.counted)}</td>
                <td>{call.cut === null ? "" : cutName(call.cut)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager page={shown} pages={pages} onPage={setPage} what="the calls" />
    </>
  );
}
