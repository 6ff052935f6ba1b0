// The session in one sentence, and what stands behind it.
import type { JSX } from "preact";
import { count, number } from "../shared/parts.tsx";
import type { TapeView } from "../worker/session.ts";
import { isAgents, priceText, pricesText } from "./words.ts";

/** Shares of a price that are as good as nothing. */
const SAME = 0.0005;

export function Headline({ tape, isSample }: { tape: TapeView; isSample: boolean }): JSX.Element {
  return (
    <div class="story">
      <h2 class="headline" id="headline">
        <Sentence tape={tape} />
      </h2>
      <p id="counted">{about(tape, isSample)}</p>
      {tape.account && <p id="account">{whileItRan(tape.account, tape)}</p>}
    </div>
  );
}

function Sentence({ tape }: { tape: TapeView }): JSX.Element {
  const { calls, price, everything, isMoney, cuts, longest, budget, hasCache } = tape;
  if (calls.length === 1) return <>1 call: nothing repeats yet.</>;
  const isSame = Math.abs(price - everything) <= everything * SAME;
  if (cuts === 0 && isSame && longest <= budget) {
    return (
      <>
        {count(longest, "token")} fit into {number(budget)}: nothing was cut. The same price as without contextweaver.
      </>
    );
  }
  if (cuts === 0 && isSame)
    return (
      <>
        {count(calls.length, "model call")}: nothing of it was ours to cut at {number(budget)} tokens.
      </>
    );
  const [ours, whole] = pricesText([price, everything], isMoney);
  const unit = isMoney ? "" : " tokens at full price";
  if (price > everything) {
    const more = price - everything;
    const share = Math.round((100 * more) / (everything || 1));
    const last = [...calls].reverse().find(({ cut }) => cut !== null);
    const behind = last ? (calls.at(-1)?.number ?? 0) - last.number : 0;
    return (
      <>
        {count(calls.length, "model call")}:{" "}
        <b class="dearer">
          +{priceText(more, isMoney)}
          {unit}
        </b>{" "}
        <span class="nowrap">({share < 1 ? "below 1" : number(share)} %)</span>
        {last && behind <= 3
          ? `: the session ended ${behind === 0 ? "with a cut" : `${count(behind, "call")} behind a cut`}.`
          : ` over ${whole}: what was cut was not paid back.`}
      </>
    );
  }
  return (
    <>
      {count(calls.length, "model call")}: <b>{ours}</b> instead of {whole}
      {unit}.{!hasCache && " No cache at this provider: each call pays in full, so it is compiled anew."}
    </>
  );
}

function about(tape: TapeView, isSample: boolean): string {
  const { calls, price, everything, trimmed, isMoney, model, cuts, budget, copied, shown, hasCache } = tape;
  const over = calls.filter(({ isOver }) => isOver).length;
  const agents = calls.filter(isAgents).length;
  const parts = [
    calls.length > 1
      ? `Trimming the oldest instead: ${pricesText([price, everything, trimmed], isMoney)[2]}${isMoney ? "" : " tokens"}.`
      : "",
    isMoney && model
      ? `Input only, at ${dollars(model.input)} a million tokens${hasCache ? `, repeats at ${dollars(model.cached)}` : ""} (${model.name}, ${model.source}, ${model.as_of}${isSample ? "; the log names no model" : ""}).`
      : "No price is known for this model: tokens, a repeated one at its share.",
    `${count(cuts, "cut")} at a budget of ${number(budget)}.`,
    agents > 0 ? `${count(agents, "time")} the agent itself compacted or went back.` : "",
    over > 0
      ? `${count(over, "call")} ${over === 1 ? "goes" : "go"} out as recorded: instructions and tools alone take most of the budget.`
      : "",
    copied > 0
      ? shown === copied
        ? `Every copied value was there: ${number(shown)} of ${number(copied)}.`
        : `Of the values that answers copied, ${number(shown)} of ${number(copied)} stood in the prompt; the model has to look the others up.`
      : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** What the session itself counted, and why the replay beside it is not the same to the token. */
function whileItRan(
  { steps, cuts, tokens, tokens_without, cost, cost_without, budget: own }: NonNullable<TapeView["account"]>,
  { calls, budget }: TapeView,
): string {
  const less = cost_without > 0 ? `, ${changeText(1 - cost / cost_without)}` : "";
  const other = own === budget ? "" : ` at a budget of ${number(own)}`;
  const missing = steps > calls.length ? ` ${count(steps - calls.length, "call")} of them left no message behind.` : "";
  return `While it ran${other}, the session counted ${count(steps, "call")} and ${number(tokens)} tokens in place of ${number(tokens_without)}${less}, with ${count(cuts, "cut")}.${missing} The figures above are those of a replay: instructions and tools that are not in the file are missing from it, so its cuts may fall at other calls.`;
}

/** A share of a price that was saved. */
const changeText = (saved: number): string => `${Math.abs(Math.round(100 * saved))} % ${saved < 0 ? "more" : "less"}`;

const dollars = (price: number): string => `$${Number(price.toPrecision(3))}`;
