// Four prompts on one scale: what fills each budget, by kind, and what did not fit.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { count, kindName, number, swatch } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { PhaseView, Share } from "../worker/builds.ts";
import { PHASE, PHASES, TERM, partingText, reasonName, runningText } from "./words.ts";

/** The order of kinds wherever they stand together. */
const ORDER = [
  "policy",
  "memory_fact",
  "plan_state",
  "user_turn",
  "agent_msg",
  "tool_call",
  "tool_result",
  "retrieved_doc",
  "doc_snippet",
  "names of what left",
  "header and footer",
];
const placeOf = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
const ordered = (shares: readonly Share[]): Share[] => [...shares].sort((a, b) => placeOf(a.name) - placeOf(b.name));

/** Share of the scale from which a segment has room for its name. */
const WIDE = 0.16;
const BAR = 30;

interface ChartProps {
  /** The rows there are. */
  readonly phases?: readonly Phase[];
  readonly views: readonly PhaseView[];
  readonly items: number;
  readonly selected: Phase;
  readonly onPhase: (phase: Phase) => void;
  readonly onFilter: (phase: Phase, show: string, kind: string) => void;
}

export function PhaseChart({ phases = PHASES, views, items, selected, onPhase, onFilter }: ChartProps): JSX.Element {
  const to = scaleEnd(Math.max(1, ...views.map(({ budget, prompt_tokens }) => Math.max(budget, prompt_tokens))));
  const shown = views.find(({ phase }) => phase === selected);
  return (
    <section class="chart" aria-labelledby="phases-title">
      <h3 id="phases-title">
        What fills the prompt of this <Term means={TERM.phase}>phase</Term>, in <Term means={TERM.token}>tokens</Term>
      </h3>
      <div class="phase-rows">
        {phases.map((phase) => (
          <PhaseRow
            key={phase}
            phase={phase}
            view={views.find((each) => each.phase === phase)}
            items={items}
            to={to}
            isSelected={phase === selected}
            onPhase={onPhase}
            onFilter={onFilter}
          />
        ))}
        <Axis to={to} />
      </div>
      {shown && !shown.problem && <Legends view={shown} onFilter={onFilter} />}
    </section>
  );
}

interface RowProps extends Omit<ChartProps, "views" | "selected"> {
  readonly phase: Phase;
  readonly view: PhaseView | undefined;
  readonly to: number;
  readonly isSelected: boolean;
}

function PhaseRow({ phase, view, items, to, isSelected, onPhase, onFilter }: RowProps): JSX.Element {
  const { task, caption } = PHASE[phase];
  return (
    <div
      class={`phase-row ${isSelected ? "selected" : ""}`}
      role="group"
      aria-labelledby={`phase-${phase}`}
      id={`card-${phase}`}
    >
      <p class="phase-name">
        <button type="button" id={`phase-${phase}`} aria-pressed={isSelected} onClick={() => onPhase(phase)}>
          {phase}
        </button>{" "}
        <b>{task}</b> <span class="quiet caption">{caption}</span>
      </p>
      <div class="phase-bar">
        {view?.problem ? (
          <p class="failure small" role="alert">
            <b>No prompt.</b> {view.problem.message}
          </p>
        ) : (
          view && <BudgetBar view={view} to={to} onFilter={onFilter} />
        )}
      </div>
      {view && !view.problem && (
        <p class="figures" id={`numbers-${phase}`}>
          <b>{number(view.prompt_tokens)}</b> of {number(view.budget)} tokens, <b>{number(view.included)}</b> of{" "}
          {count(items, "item")}
        </p>
      )}
    </div>
  );
}

/** The end of the scale: the largest budget, with a little room for its outline. */
const scaleEnd = (most: number): number => most * 1.01;

const percent = (value: number, to: number): string => `${Math.round((value / to) * 100_000) / 1000}%`;

function BudgetBar({
  view,
  to,
  onFilter,
}: {
  view: PhaseView;
  to: number;
  onFilter: ChartProps["onFilter"];
}): JSX.Element {
  const { phase, budget, shares, free, running } = view;
  const parts = ordered(shares);
  const share = (tokens: number): string => `${Math.round((tokens / Math.max(1, budget)) * 100)} %`;
  const said = [
    ...parts.map(({ name, tokens }) => `${kindName(name)} ${number(tokens)} (${share(tokens)})`),
    `${running ? "kept free to grow" : "free"} ${number(free)} (${share(free)})`,
  ];
  let from = 0;
  return (
    <svg
      class="budget-bar"
      role="img"
      aria-label={`Budget of ${number(budget)} tokens: ${said.join(", ")}`}
      width="100%"
      height={BAR + 4}
    >
      <rect class="budget-box" x="0" y="1" width={percent(budget, to)} height={BAR + 2} />
      {parts.map(({ name, tokens, items }) => {
        const at = from;
        from += tokens;
        return (
          <g
            key={name}
            class={`segment ${swatch(name)}`}
            onClick={items > 0 ? () => onFilter(phase, "in", name) : undefined}
          >
            <rect x={percent(at, to)} y="2" width={percent(tokens, to)} height={BAR} />
            <svg x={percent(at, to)} y="2" width={percent(tokens, to)} height={BAR}>
              {tokens / to > WIDE && (
                <text x="6" y={BAR / 2} dominant-baseline="central">
                  {kindName(name)} {number(tokens)}
                </text>
              )}
            </svg>
            <title>{`${kindName(name)}: ${number(tokens)} tokens, ${count(items, "item")}. Choose it to list them.`}</title>
          </g>
        );
      })}
    </svg>
  );
}

function Axis({ to }: { to: number }): JSX.Element {
  const rough = to / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const ticks = Array.from({ length: Math.floor(to / step) + 1 }, (_, at) => at * step);
  return (
    <svg class="axis" aria-hidden="true" width="100%" height="20">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={percent(tick, to)} x2={percent(tick, to)} y1="0" y2="5" />
          <text x={percent(tick, to)} y="16" text-anchor={tick === 0 ? "start" : tick / to > 0.95 ? "end" : "middle"}>
            {number(tick)}
          </text>
        </g>
      ))}
    </svg>
  );
}

/** What the drawing says by length and colour, as text that can be chosen. */
function Legends({ view, onFilter }: { view: PhaseView; onFilter: ChartProps["onFilter"] }): JSX.Element {
  const { phase, shares, free, running, left, warnings } = view;
  return (
    <div class="legends">
      <ul class="legend" aria-label={`What the ${phase} prompt is made of`}>
        {ordered(shares).map(({ name, tokens, items }) => (
          <li key={name}>
            <span class={`swatch ${swatch(name)}`} aria-hidden="true" />{" "}
            {items > 0 ? (
              <button type="button" class="link" onClick={() => onFilter(phase, "in", name)}>
                {kindName(name)} {number(tokens)}
              </button>
            ) : (
              `${kindName(name)} ${number(tokens)}`
            )}
          </li>
        ))}
        <li>
          <span class="swatch kind-free" aria-hidden="true" /> {running ? "kept free to grow" : "free"} {number(free)}
        </li>
      </ul>
      <ul class="legend" aria-label={`Why items are left out of ${phase}`}>
        {left.length === 0 && (
          <li>
            {view.cut > 0
              ? `Nothing is left out whole; ${number(view.cut)} tokens are cut from ${count(view.shortened, "item")}.`
              : "Nothing is left out."}
          </li>
        )}
        {left.map(({ name, tokens, items }) => (
          <li key={name}>
            <button type="button" class="link" onClick={() => onFilter(phase, name, "")}>
              {reasonName(name)} {number(items)}
            </button>{" "}
            <span class="quiet">{number(tokens)} tokens</span>
          </li>
        ))}
      </ul>
      {running && (
        <p class="quiet small">
          {runningText(running)} {running.cut && partingText(running.cut)}
        </p>
      )}
      {warnings.length > 0 && (
        <ul class="failure small">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
