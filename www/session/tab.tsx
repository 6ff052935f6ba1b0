// The tab of a session: what it cost and would cost, its calls as a tape, the prompt of one, and the cuts.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAddress } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, number } from "../shared/parts.tsx";
import type { SessionView, TapeView } from "../worker/session.ts";
import { CallPane } from "./call.tsx";
import { TapeChart } from "./chart.tsx";
import { Cuts } from "./cuts.tsx";
import { CallTable } from "./call-table.tsx";
import { FIRST_BUDGET, FIRST_MODEL } from "./first.ts";
import { Headline } from "./headline.tsx";
import { type Call, pricesText } from "./words.ts";

/** Prices that may be taken for calls whose model has none. */
const MODELS = [
  { key: "", title: "no model: tokens" },
  { key: "gpt-5", title: "gpt-5" },
  { key: "claude-sonnet-5", title: "claude-sonnet-5" },
  { key: "gemini-2.5-flash", title: "gemini-2.5-flash" },
  { key: "none", title: "a provider without a cache: tokens" },
] as const;
const LEAST_BUDGET = 1000;
const MOST_BUDGET = 10_000_000;

interface SessionProps {
  readonly session: SessionView;
  readonly isSample: boolean;
  /** Counts what was opened. */
  readonly version: number;
}

/** What is asked of a session that nobody has touched. */
export function tapeRequest(
  session: SessionView,
  isSample: boolean,
): { readonly conversation: number; readonly budget: number; readonly model: string } {
  return {
    conversation: session.chosen,
    budget: isSample ? FIRST_BUDGET : session.budget,
    model: isSample ? FIRST_MODEL : "",
  };
}

/** Names the tape that answers are about: what is shown may be older than what is asked for. */
export function tapeKey(version: number, { conversation, budget, prices }: TapeView): string {
  return `${version} ${conversation} ${budget} ${prices}`;
}

/** The call that says most: the cut at which most left, else the last one. */
export function firstCall({ calls }: TapeView): number {
  const cuts = calls.filter(({ cut }) => cut !== null && cut !== "compaction" && cut !== "edit");
  const largest = cuts.reduce<Call | undefined>(
    (best, each) => (each.left > (best?.left ?? 0) ? each : best),
    undefined,
  );
  return (largest ?? calls.at(-1))?.number ?? 1;
}

export function SessionTab({ session, isSample, version }: SessionProps): JSX.Element {
  const first = tapeRequest(session, isSample);
  const [budgetText, setBudgetText] = useAddress("budget", String(first.budget));
  const [modelText, setModelText] = useAddress("prices", first.model);
  const [at, setAt] = useState(session.chosen);
  useEffect(() => setAt(session.chosen), [version]);
  const asked = Number(budgetText);
  const budget = Number.isInteger(asked) && asked >= LEAST_BUDGET && asked <= MOST_BUDGET ? asked : first.budget;
  const model = MODELS.find(({ key }) => key === modelText)?.key ?? "";
  const conversation = at < session.conversations.length ? at : session.chosen;
  const request = session.isOnePrompt ? null : { conversation, budget, model };
  const { value: tape, problem, isBusy } = useAnswer("session.tape", request, version);
  return (
    <div class="session stack" aria-busy={isBusy}>
      {tape ? (
        <Headline tape={tape} isSample={isSample} />
      ) : (
        <h2 class="headline">{problem ? "The session could not be played." : "Playing the session, call by call…"}</h2>
      )}
      <ProblemBox problem={problem} id="tape-problem" />
      <div class="tape-controls controls">
        {session.conversations.length > 1 && (
          <label class="inline">
            Conversation{" "}
            <select
              id="conversation"
              value={conversation}
              onChange={({ currentTarget }) => setAt(Number(currentTarget.value))}
            >
              {session.conversations.map(({ name, calls, isSubagent }, index) => (
                <option key={index} value={index}>
                  {name}
                  {isSubagent ? ", subagent" : ""}: {count(calls, "call")}
                </option>
              ))}
            </select>
          </label>
        )}
        <BudgetField
          key={budget}
          budget={budget}
          usual={session.budgets}
          onBudget={(next) => setBudgetText(String(next))}
        />
        {(!session.hasModels || model !== "" || (tape && !tape.isMoney)) && (
          <label class="inline">
            Prices of{" "}
            <select id="prices" value={model} onChange={({ currentTarget }) => setModelText(currentTarget.value)}>
              {MODELS.map(({ key, title }) => (
                <option key={key} value={key}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )}
        {isBusy && tape && <span class="quiet working">playing…</span>}
      </div>
      {tape && <Played tape={tape} version={tapeKey(version, tape)} />}
    </div>
  );
}

/** Any budget, with those that are usual to choose from. It changes when the field is left or Enter is pressed: a long session takes seconds. */
function BudgetField({
  budget,
  usual,
  onBudget,
}: {
  budget: number;
  usual: readonly number[];
  onBudget: (budget: number) => void;
}): JSX.Element {
  const [refused, setRefused] = useState("");
  const change = (value: string): void => {
    const asked = Number(value);
    const isOne = Number.isInteger(asked) && asked >= LEAST_BUDGET && asked <= MOST_BUDGET;
    setRefused(
      isOne
        ? ""
        : `A budget is a whole number from ${number(LEAST_BUDGET)} to ${number(MOST_BUDGET)}; it stays at ${number(budget)}.`,
    );
    if (isOne && asked !== budget) onBudget(asked);
  };
  return (
    <span class="inline">
      <label for="tape-budget">Budget of a call, in tokens</label>
      <input
        id="tape-budget"
        type="number"
        min={LEAST_BUDGET}
        max={MOST_BUDGET}
        step={1}
        inputmode="numeric"
        list="tape-budgets"
        value={budget}
        aria-describedby="tape-budget-refused"
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id="tape-budgets">
        {usual.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <span id="tape-budget-refused" role="status" class="small">
        {refused}
      </span>
    </span>
  );
}

function Played({ tape, version }: { tape: TapeView; version: string }): JSX.Element {
  const [callText, setCall] = useAddress("call", "");
  const { calls } = tape;
  const named = calls.find((call) => String(call.number) === callText);
  const selected = named?.number ?? firstCall(tape);
  const select = (next: number): void => setCall(String(next));
  const cuts = calls.filter(({ cut }) => cut !== null).map((call) => call.number);
  const at = calls.findIndex((call) => call.number === selected);
  const enter = (): void => void requestAnimationFrame(() => document.getElementById("call-title")?.focus());
  const steps = [
    { id: "cut-before", label: "‹ cut", title: "Cut before", to: cuts.filter((cut) => cut < selected).at(-1) },
    { id: "call-before", label: "‹", title: "Call before", to: calls[at - 1]?.number },
    { id: "call-after", label: "›", title: "Next call", to: calls[at + 1]?.number },
    { id: "cut-after", label: "cut ›", title: "Next cut", to: cuts.find((cut) => cut > selected) },
  ];
  const button = (step: (typeof steps)[number]): JSX.Element => (
    <button
      key={step.id}
      type="button"
      id={step.id}
      aria-label={step.title}
      disabled={step.to === undefined}
      onClick={() => step.to !== undefined && select(step.to)}
    >
      {step.label}
    </button>
  );
  return (
    <>
      <div class="tape-and-call">
        <section aria-labelledby="tape-title" class="tape-side stack">
          <Legend tape={tape} />
          <TapeChart tape={tape} selected={selected} onSelect={select} onEnter={enter} />
          <MoneyBars tape={tape} />
          <div class="steps" role="group" aria-label="Calls and cuts">
            {steps.slice(0, 2).map(button)}
            <span class="step-at">
              <b>{number(selected)}</b> of {number(calls.length)}
            </span>
            {steps.slice(2).map(button)}
          </div>
        </section>
        <CallPane tape={tape} number={selected} version={version} onCall={select} />
      </div>
      {cuts.length > 0 && (
        <Cuts
          tape={tape}
          version={version}
          onCall={(next) => {
            select(next);
            enter();
          }}
        />
      )}
      <CallTable tape={tape} />
    </>
  );
}

function Legend({ tape }: { tape: TapeView }): JSX.Element {
  const cached = tape.model && tape.hasCache && tape.model.input > 0 ? tape.model.cached / tape.model.input : undefined;
  const isTenth = cached !== undefined && Math.abs(cached - 0.1) < 0.005;
  const hasTicks = tape.calls.some(({ counted }) => counted !== null);
  const hasEvidence = tape.copied > 0;
  return (
    <div class="tape-key">
      <h3 id="tape-title">Tokens sent, call by call</h3>
      <ul aria-label="What the marks mean">
        <li>
          <i class="key rep" /> repeated
          {isTenth
            ? ", a tenth of the price"
            : cached !== undefined
              ? `, ${Math.round(cached * 100)} % of the price`
              : ""}
        </li>
        <li>
          <i class="key new" /> new
        </li>
        <li>
          <i class="key rew" /> rewritten by a cut
        </li>
        {hasTicks && (
          <li>
            <i class="key counted" /> the provider's count
          </li>
        )}
        {hasEvidence && (
          <li>
            <i class="key there" /> what the answer copied stood there
          </li>
        )}
        {hasEvidence && tape.shown < tape.copied && (
          <li>
            <i class="key away" /> some of it only behind a handle
          </li>
        )}
      </ul>
    </div>
  );
}

/** On a phone the three sums are bars. */
function MoneyBars({ tape }: { tape: TapeView }): JSX.Element {
  const rows = [
    { name: "contextweaver", price: tape.price, class: "ours" },
    { name: "everything", price: tape.everything, class: "everything" },
    { name: "trimming", price: tape.trimmed, class: "trimmed" },
  ];
  const most = Math.max(...rows.map(({ price }) => price)) || 1;
  const texts = pricesText(
    rows.map(({ price }) => price),
    tape.isMoney,
  );
  return (
    <dl class="money-bars">
      {rows.map(({ name, price, class: className }, at) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <svg aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none" height="12">
              <rect class={className} x="0" y="0" width={(price / most) * 100} height="10" />
            </svg>
            {texts[at]}
          </dd>
        </div>
      ))}
    </dl>
  );
}
