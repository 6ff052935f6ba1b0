// One item: what became of it, the figures that decided, and what would have kept it.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Pager, ProblemBox, colour, count, kindName, number, swatch } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { ItemView } from "../worker/rows.ts";
import type { Part, Problem } from "../worker/text.ts";
import type { Why } from "../worker/why.ts";
import { Marked } from "./marked.tsx";
import { NumberLine } from "./number-line.tsx";
import { SCORE_PART, STATE, TERM, reasonName, reasonText } from "./words.ts";

interface ItemProps {
  readonly phase: Phase;
  readonly place: number;
  readonly version: string;
  readonly marks: readonly string[];
  readonly isPinned: boolean;
  /** Why its pin is not obeyed. */
  readonly pinProblem: Problem | undefined;
  /** What cannot be done, as in a report, has no button. */
  readonly onPin?: () => void;
  readonly onBudget?: (budget: number) => void;
  readonly onItem: (place: number) => void;
  readonly onPrompt: (place: number) => void;
  /** Whether it is known what would have kept it; a report knows it of some. */
  readonly hasWhy?: boolean;
}

export function ItemPanel(props: ItemProps): JSX.Element {
  const { phase, place, version, marks, isPinned, pinProblem, onPin, onItem, onPrompt, hasWhy = true } = props;
  const [part, setPart] = useState(0);
  useEffect(() => setPart(0), [place]);
  const { value: item, problem } = useAnswer("context.item", { phase, place, part }, version);
  if (!item) return <ProblemBox problem={problem} />;
  const isForbidden = item.reason === "sensitivity" && item.state === "dropped";
  return (
    <div class="stack" id="item">
      <h3 class="item-title" tabIndex={-1} id="item-title">
        <span class="id">{item.label}</span> <span class={`kind ${swatch(item.kind)}`}>{kindName(item.kind)}</span>{" "}
        <span class={`badge ${item.state}`}>{STATE[item.state] ?? item.state}</span>
      </h3>
      <p class="reason" id="reason">
        {reasonText(item, phase)}
      </p>
      {item.stage !== "" && hasWhy && <WhatIf {...props} item={item} />}
      {item.shown && <Marked label={`What the ${phase} prompt has of it`} text={item.shown.text} marks={marks} />}
      <Figures item={item} phase={phase} />
      <Score item={item} onItem={onItem} />
      <Together item={item} onItem={onItem} />
      <div class="controls">
        {onPin && (
          <button
            type="button"
            aria-pressed={isPinned}
            disabled={isForbidden && !isPinned}
            aria-describedby={isForbidden ? "reason" : undefined}
            onClick={onPin}
          >
            {isPinned ? "Unpin" : "Pin it"}
          </button>
        )}
        {onPin && isForbidden && !isPinned && (
          <span class="quiet small">It cannot be pinned: its label forbids it.</span>
        )}
        {item.state !== "dropped" && (
          <button type="button" onClick={() => onPrompt(place)}>
            Show in the prompt
          </button>
        )}
      </div>
      <ProblemBox problem={pinProblem} />
      {item.text ? (
        <Whole
          key={`${place} ${item.shown === null}`}
          text={item.text}
          isOpen={!item.shown}
          marks={marks}
          onPage={setPart}
        />
      ) : (
        <p class="quiet">Text withheld: the item is {item.sensitivity}.</p>
      )}
    </div>
  );
}

interface WholeProps {
  readonly text: Part;
  readonly isOpen: boolean;
  readonly marks: readonly string[];
  readonly onPage: (page: number) => void;
}

/** The whole text, which may be long: it is drawn when it is opened. */
function Whole({ text, isOpen, marks, onPage }: WholeProps): JSX.Element {
  const [opened, setOpened] = useState(isOpen);
  return (
    <details open={isOpen} id="whole-text" onToggle={({ currentTarget }) => setOpened(currentTarget.open)}>
      <summary>Whole text</summary>
      {opened && <Marked label="Text of the item" text={text.text} marks={marks} />}
      {opened && <Pager page={text.part} pages={text.parts} onPage={onPage} what="the text" />}
    </details>
  );
}

function Figures({ item, phase }: { item: ItemView; phase: Phase }): JSX.Element {
  const { tokens, whole, block, partners, sensitivity, phases, state } = item;
  return (
    <dl class="facts">
      <dt>Tokens</dt>
      <dd>
        {state === "summarised" && whole !== null && tokens !== null
          ? `${number(tokens)} of ${number(whole)}`
          : whole === null
            ? "unknown"
            : number(whole)}
        {block !== null && partners > 0 && (
          <>
            ; its <Term means={TERM.block}>block</Term> of {number(partners + 1)} has {number(block)} whole
          </>
        )}
      </dd>
      <dt>Label</dt>
      <dd>{sensitivity}</dd>
      {phases.length > 0 && (
        <>
          <dt>Elsewhere</dt>
          <dd>
            {phases
              .filter((each) => each.phase !== phase)
              .map((each) => (
                <span key={each.phase} class="phase-fate">
                  {each.phase} <span class={`badge ${each.state}`}>{STATE[each.state] ?? each.state}</span>
                </span>
              ))}
          </dd>
        </>
      )}
    </dl>
  );
}

/** Parts in hundredths that add up to the whole in hundredths: what rounding leaves goes to the largest. */
function addingUp(whole: number, parts: ItemView["parts"]): ItemView["parts"] {
  // As the whole is written: .075 is below its half in binary.
  const cents = (value: number): number => Math.round(Number(value.toFixed(2)) * 100);
  const rounded = parts.map(({ name, value }) => ({ name, value: cents(value) }));
  const most = rounded.reduce<(typeof rounded)[number] | undefined>(
    (best, each) => (each.value > (best?.value ?? -1) ? each : best),
    undefined,
  );
  const rest = cents(whole) - rounded.reduce((sum, { value }) => sum + value, 0);
  return rounded.map((part) => ({ name: part.name, value: (part === most ? part.value + rest : part.value) / 100 }));
}

/** What the score is made of. */
function Score({
  item: { score, parts, best, place, priority, rank, ranked },
  onItem,
}: {
  item: ItemView;
  onItem: (place: number) => void;
}): JSX.Element {
  if (score === null) return <p class="quiet small">No score: it left before items were compared with the query.</p>;
  const used = addingUp(
    score,
    parts.filter(({ value }) => value !== 0),
  );
  const said = used.map(({ name, value }) => `${value.toFixed(2)} ${SCORE_PART[name] ?? name}`).join(" + ");
  return (
    <div class="score-parts">
      <p class="small" id="score">
        Score <b>{score.toFixed(2)}</b>
        {said ? ` = ${said}` : ": nothing in it matches the query"}
      </p>
      {used.length > 0 && (
        <Bars
          label={`Score ${score.toFixed(2)} = ${said}`}
          to={Math.max(1, score)}
          rowHeight={10}
          bars={used.map(({ name, value }) => ({
            row: "",
            name,
            value: Math.max(0, value),
            fill: colour(`part-${name}`),
            title: `${SCORE_PART[name] ?? name}: ${value.toFixed(2)}`,
          }))}
        />
      )}
      {priority !== null && best && (
        <p class="small quiet" id="priority">
          In line by {best.score.toFixed(2)}
          {best.place === place ? "" : <> of </>}
          {best.place !== place && (
            <button type="button" class="link" onClick={() => onItem(best.place)}>
              {best.label}
            </button>
          )}{" "}
          for its size: {priority.toFixed(2)}, number {number(rank ?? 0)} of {number(ranked)}.
        </p>
      )}
    </div>
  );
}

function Together({ item, onItem }: { item: ItemView; onItem: (place: number) => void }): JSX.Element | null {
  const isApart = item.parent && !item.unit.some(({ place }) => place === item.parent?.place);
  const others = isApart && item.parent ? [item.parent, ...item.unit] : item.unit;
  if (others.length === 0) return null;
  const rest = item.partners - item.unit.length;
  return (
    <p class="small">
      Belongs together with{" "}
      {others.map(({ place, label }) => (
        <button key={place} type="button" class="link chip" onClick={() => onItem(place)}>
          {label}
        </button>
      ))}
      {rest > 0 && `and ${number(rest)} more`}
    </p>
  );
}

/** Answers "what would have kept this" by building again and again. */
function WhatIf({ phase, place, version, item, onBudget, onItem }: ItemProps & { item: ItemView }): JSX.Element {
  const { value, problem, isBusy } = useAnswer("context.why", { phase, place }, version);
  const why = value && !(isBusy && !problem && value.place !== place) && value.place === place ? value : undefined;
  const isIn = item.state !== "dropped";
  return (
    <section
      class={isIn ? "what-if" : "what-if left-out"}
      aria-label={isIn ? "How small the budget may get" : "What would keep it"}
    >
      {!why && <p class="quiet small working">Trying budgets…</p>}
      {problem && !isBusy && problem.code !== "INPUT" && <ProblemBox problem={problem} />}
      {why && <Found why={why} isIn={isIn} phase={phase} item={item} onBudget={onBudget} onItem={onItem} />}
    </section>
  );
}

interface FoundProps {
  readonly why: Why;
  readonly isIn: boolean;
  readonly phase: Phase;
  readonly item: ItemView;
  readonly onBudget: ((budget: number) => void) | undefined;
  readonly onItem: (place: number) => void;
}

function Found({ why: { budget, now, pin }, isIn, phase, item, onBudget, onItem }: FoundProps): JSX.Element {
  return (
    <div id="why-answer">
      {budget === null ? (
        <p>
          <b>Budget:</b> none would keep it.{" "}
          {["budget", "near_repeat"].includes(item.reason)
            ? ""
            : `The reason is another one: ${reasonName(item.reason)}.`}
        </p>
      ) : (
        <>
          <p>
            <b>Budget:</b>{" "}
            {isIn
              ? `it stays down to ${number(budget)} tokens`
              : `from ${number(budget)} tokens on, ${number(budget - now)} more than now`}
            .{" "}
            {onBudget && (
              <button type="button" class="link" onClick={() => onBudget(budget)}>
                Set {phase} to {number(budget)}
              </button>
            )}
          </p>
          <NumberLine now={now} needed={budget} isIn={isIn} />
        </>
      )}
      {!isIn && pin?.works && (
        <p>
          <b>Pin:</b> it would be in, for {number(pin.tokens)} tokens
          {pin.others > 0 && ` with the ${count(pin.others, "item")} that must come with it`}.{" "}
          {pin.pushedCount === 0 ? "Nothing would have to leave." : `${count(pin.pushedCount, "item")} would leave: `}
          {pin.pushed.map(({ place, label }) => (
            <button key={place} type="button" class="link chip" onClick={() => onItem(place)}>
              {label}
            </button>
          ))}
        </p>
      )}
      {!isIn && pin && !pin.works && (
        <p>
          <b>Pin:</b> would not help{pin.problem ? `: ${pin.problem.message}` : "."}
        </p>
      )}
    </div>
  );
}
