// One item: what became of it, why, and what would have kept it.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, ask, useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Pager, ProblemBox, Text, colour, count, kindName, number, swatch } from "../shared/parts.tsx";
import type { ItemView, Why } from "../worker/rows.ts";
import type { Problem } from "../worker/text.ts";
import { PHASE, SCORE_PART, STAGE, reasonName, reasonText } from "./words.ts";

interface ItemProps {
  readonly phase: Phase;
  readonly place: number;
  readonly version: string;
  readonly isPinned: boolean;
  /** Why its pin is not obeyed. */
  readonly pinProblem: Problem | undefined;
  readonly onPin: () => void;
  readonly onBudget: (budget: number) => void;
  readonly onItem: (place: number) => void;
  readonly onPrompt: (place: number) => void;
  readonly onArtifact: (place: number) => void;
}

export function ItemPanel(props: ItemProps): JSX.Element {
  const { phase, place, version, isPinned, pinProblem, onPin, onItem, onPrompt, onArtifact } = props;
  const [part, setPart] = useState(0);
  useEffect(() => setPart(0), [place]);
  const { value: item, problem } = useAnswer("context.item", { phase, place, part }, version);
  if (!item) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="item">
      <h3 class="item-title">
        {item.label} <span class={`kind ${swatch(item.kind)}`}>{kindName(item.kind)}</span>{" "}
        <span class={`badge ${item.state}`}>{item.state}</span>
      </h3>
      <p>{fateText(item, phase)}</p>
      <dl class="facts">
        <dt>Decided by</dt>
        <dd>
          <b>{item.stage || "?"}</b> <span class="quiet">{STAGE[item.stage] ?? ""}</span>
        </dd>
        <dt>Tokens</dt>
        <dd>{item.tokens === null ? "unknown" : number(item.tokens)}</dd>
        <dt>Label</dt>
        <dd>{item.sensitivity}</dd>
        <dt>Phases</dt>
        <dd>
          {item.phases.map((each) => (
            <span key={each.phase} class="phase-fate">
              {each.phase} <span class={`badge ${each.state}`}>{each.state}</span>
            </span>
          ))}
        </dd>
      </dl>
      <Score item={item} />
      <Together item={item} onItem={onItem} />
      <div class="controls">
        <button type="button" aria-pressed={isPinned} onClick={onPin}>
          {isPinned ? "Unpin" : "Pin it"}
        </button>
        {item.state !== "dropped" && (
          <button type="button" onClick={() => onPrompt(place)}>
            Show in the prompt
          </button>
        )}
        {item.hasArtifact && (
          <button type="button" onClick={() => onArtifact(place)}>
            Look into the result
          </button>
        )}
      </div>
      <ProblemBox problem={pinProblem} />
      {item.stage !== "" && <WhatIf {...props} item={item} />}
      {item.text ? (
        <>
          <Text label="Text of the item">{item.text.text}</Text>
          <Pager page={item.text.part} pages={item.text.parts} onPage={setPart} what="the text" />
        </>
      ) : (
        <p class="quiet">Text withheld: the item is {item.sensitivity}.</p>
      )}
    </div>
  );
}

function fateText({ state, reason, stage, kind }: ItemView, phase: Phase): string {
  if (stage === "") return `There is no ${phase} prompt: what must be in it does not fit its budget.`;
  if (state === "dropped") return reason === "phase" ? reasonText(reason, phase).replace("of this kind", `of the kind ${kindName(kind)}`) : reasonText(reason, phase);
  if (state === "redacted") return "It is in the prompt, but its text is withheld because of its label.";
  if (state === "kept") return `It is in the prompt as it is${reason ? ` (${reason})` : ""}.`;
  if (reason === "named only") return `It is in the prompt as one line: to ${PHASE[phase].task}, it is enough to know that the result exists.`;
  return `It is in the prompt in fewer words: ${reason}. The whole stays stored and can be looked into.`;
}

/** What the score is made of. */
function Score({ item: { score, parts } }: { item: ItemView }): JSX.Element {
  if (score === null) return <p class="quiet small">No score: it left before items were compared with the query.</p>;
  const used = parts.filter(({ value }) => value !== 0);
  const said = used.map(({ name, value }) => `${SCORE_PART[name] ?? name} ${value.toFixed(2)}`).join(", ");
  return (
    <div>
      <p class="small">
        Score <b>{score.toFixed(2)}</b>
        {said ? `: ${said}` : ": nothing in it matches the query"}
      </p>
      {used.length > 0 && (
        <Bars
          label={`Score ${score.toFixed(2)}: ${said}`}
          to={Math.max(score, ...[used.reduce((sum, { value }) => sum + Math.max(0, value), 0)])}
          rowHeight={10}
          bars={used.map(({ name, value }) => ({ row: "", name, value: Math.max(0, value), fill: colour(`part-${name}`), title: `${SCORE_PART[name] ?? name}: ${value.toFixed(2)}` }))}
        />
      )}
    </div>
  );
}

function Together({ item, onItem }: { item: ItemView; onItem: (place: number) => void }): JSX.Element | null {
  const others = item.parent && !item.unit.some(({ place }) => place === item.parent?.place) ? [item.parent, ...item.unit] : item.unit;
  if (others.length === 0) return null;
  return (
    <p class="small">
      Belongs together with{" "}
      {others.map(({ place, label }) => (
        <button key={place} type="button" class="link chip" onClick={() => onItem(place)}>
          {label}
        </button>
      ))}
    </p>
  );
}

/** Answers "what would have kept this" by building again and again. */
function WhatIf({ phase, place, version, item, onBudget, onItem }: ItemProps & { item: ItemView }): JSX.Element {
  const [answer, setAnswer] = useState<{ key: string; why?: Why; problem?: Problem; isBusy?: boolean }>({ key: "" });
  const key = `${phase} ${place} ${version}`;
  const present = answer.key === key ? answer : { key };
  const isIn = item.state !== "dropped";
  const find = async (): Promise<void> => {
    setAnswer({ key, isBusy: true });
    try {
      setAnswer({ key, why: await ask("context.why", { phase, place }) });
    } catch (error) {
      setAnswer({ key, problem: error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" } });
    }
  };
  return (
    <section class="what-if" aria-label="What if">
      {!present.why && (
        <button type="button" id="why" disabled={present.isBusy} onClick={() => void find()}>
          {present.isBusy ? "Trying…" : isIn ? "How small may the budget get?" : "What would have kept this?"}
        </button>
      )}
      <ProblemBox problem={present.problem} />
      {present.why && <Found why={present.why} isIn={isIn} phase={phase} reason={item.reason} onBudget={onBudget} onItem={onItem} />}
    </section>
  );
}

interface FoundProps {
  readonly why: Why;
  readonly isIn: boolean;
  readonly phase: Phase;
  readonly reason: string;
  readonly onBudget: (budget: number) => void;
  readonly onItem: (place: number) => void;
}

function Found({ why: { budget, now, pin, builds }, isIn, phase, reason, onBudget, onItem }: FoundProps): JSX.Element {
  return (
    <div id="why-answer" role="status">
      {budget === null ? (
        <p>
          <b>Budget:</b> none would. {reason === "budget" ? "" : `The reason is another one: ${reasonName(reason)}.`}
        </p>
      ) : (
        <p>
          <b>Budget:</b> {isIn ? `it stays down to ${number(budget)} tokens` : `from ${number(budget)} tokens on, ${number(budget - now)} more than now`}.{" "}
          <button type="button" class="link" onClick={() => onBudget(budget)}>
            Set {phase} to {number(budget)}
          </button>
        </p>
      )}
      {!isIn && pin.works && (
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
      {!isIn && !pin.works && (
        <p>
          <b>Pin:</b> would not help{pin.problem ? `: ${pin.problem.message}` : "."}
        </p>
      )}
      <p class="quiet small">Found by {count(builds, "build")}.</p>
    </div>
  );
}
