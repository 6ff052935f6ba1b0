// The cuts of a session as a table: why, what left and where it is now, what that cost, and when it was paid back.
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { MAX_CUTS } from "../shared/cut-limit.ts";
import { ProblemBox, number } from "../shared/parts.tsx";
import type { TapeView } from "../worker/session.ts";
import { cutName, fatesText, priceText } from "./words.ts";

export function Cuts({
  tape,
  version,
  onCall,
}: {
  tape: TapeView;
  version: string;
  onCall: (number: number) => void;
}): JSX.Element {
  const { value, problem } = useAnswer("session.cuts", { key: version });
  const cuts = tape.calls.filter(({ cut }) => cut !== null);
  const where = new Map(value?.map((each) => [each.number, each]));
  return (
    <section aria-labelledby="cuts-title" class="stack" id="cuts">
      <h3 id="cuts-title">The cuts</h3>
      <ProblemBox problem={problem} />
      <div class="table-box" role="region" aria-label="Table of the cuts" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Why</th>
              <th scope="col" class="n">
                Left
              </th>
              <th scope="col" class="n">
                Rewritten
              </th>
              <th scope="col" class="n">
                Dearer by
              </th>
              <th scope="col" class="n">
                Paid back
              </th>
              <th scope="col">What left, and where it is now</th>
            </tr>
          </thead>
          <tbody>
            {cuts.slice(0, MAX_CUTS).map((call) => {
              const fates = where.get(call.number);
              return (
                <tr key={call.number}>
                  <th scope="row">
                    <button type="button" class="link" onClick={() => onCall(call.number)}>
                      {number(call.number)}
                    </button>
                  </th>
                  <td>{call.cut !== null && cutName(call.cut)}</td>
                  <td class="n">{number(call.left)}</td>
                  <td class="n">{number(call.rewritten)}</td>
                  <td class="n">{priceText(call.extra, tape.isMoney, 4)}</td>
                  <td class="n">{call.paid === null ? "no" : `call ${number(call.paid)}`}</td>
                  <td>
                    {fates && (
                      <>
                        {fates.largest.join("; ")} <span class="quiet">{fatesText(fates)}</span>
                      </>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {cuts.length > MAX_CUTS && (
        <p class="quiet">
          The first {MAX_CUTS} of {number(cuts.length)}.
        </p>
      )}
    </section>
  );
}
