// What is seen of a transcript: the sentence, the chart, the log, one item, and the list of all.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { useAddress, useChoice } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import type { RefusedPin, Request } from "../worker/builds.ts";
import type { Settings } from "../worker/defaults.ts";
import type { Overview } from "../worker/log.ts";
import type { Operations } from "../worker/operations.ts";
import { codeOf } from "./code.ts";
import { PhaseControls } from "./controls.tsx";
import { FIRST_PHASE, FIRST_PLACE } from "./first.ts";
import { ItemList, type Shown } from "./item-list.tsx";
import { ItemPanel } from "./item.tsx";
import { marksOf } from "./marked.tsx";
import { PhaseChart } from "./phase-chart.tsx";
import { PromptPanel } from "./prompt-panel.tsx";
import { RulesPanel } from "./rules-panel.tsx";
import { SettingsForm } from "./settings.tsx";
import { TakeAway } from "./take-away.tsx";
import { PHASE, PHASES } from "./words.ts";

interface ExplorerProps {
  readonly overview: Overview;
  readonly answer: ReturnType<Operations["context.build"]>;
  readonly isBusy: boolean;
  readonly log: number;
  readonly request: Request;
  readonly settings: Settings;
  /** Whether the address alone brings the transcript back. */
  readonly isShared: boolean;
  readonly onSettings: (settings: Settings) => void;
  readonly onPins: (pins: readonly number[]) => void;
  readonly onTurn: (text: string) => void;
}

export function Explorer(props: ExplorerProps): JSX.Element {
  const { overview, answer, isBusy, log, request, settings, isShared, onSettings, onPins, onTurn } = props;
  const { phases, pins } = request;
  const [phase, setPhase] = useChoice<Phase>("phase", PHASES, FIRST_PHASE);
  const [chosen, setChosen] = useAddress("item", "");
  const [target, setTarget] = useState({ place: 0, times: 0 });
  const [isPromptOpen, setPromptOpen] = useState(false);
  const [isRulesOpen, setRulesOpen] = useState(false);
  const [, setHeader] = useAddress("header", "");
  const [, setFooter] = useAddress("footer", "");
  const items = useRef<HTMLElement>(null);
  const named = /^\d+$/.test(chosen) && Number(chosen) < overview.items ? Number(chosen) : -1;
  const place = named >= 0 ? named : isShared ? FIRST_PLACE : overview.largest;
  const version = `${log} ${answer.version} ${phase}`;
  const shown = answer.phases.find((each) => each.phase === phase);
  const { query, budget, values = [] } = phases[phase];
  const pinned = useAnswer("context.ids", pins.length === 0 ? null : { places: pins }, log).value ?? [];

  const choose = (next: number): void => setChosen(String(next));
  const enter = (): void => {
    requestAnimationFrame(() => document.getElementById("item-title")?.focus());
  };
  const [filter, setFilter] = useFilter();
  const filterBy = (asked: Phase, show: string, kind: string): void => {
    setPhase(asked);
    setFilter({ show, kind, search: "" });
    items.current?.scrollIntoView({ block: "nearest" });
  };
  const most = Math.max(8000, Math.ceil((overview.tokens ?? 0) / 1000) * 1000);
  const code = codeOf({
    phase,
    request,
    pins: pinned,
    settings,
    format: overview.format,
    file: overview.file,
    key: overview.key,
    system: overview.system,
  });
  return (
    <div class="explorer">
      <div class="overview stack">
        <label class="inline">
          Phase{" "}
          <select id="phase" value={phase} onChange={({ currentTarget }) => setPhase(currentTarget.value as Phase)}>
            {PHASES.map((each) => (
              <option key={each} value={each}>
                {each}: to {PHASE[each].task}
              </option>
            ))}
          </select>
        </label>
        <PhaseChart
          phases={[phase]}
          views={answer.phases}
          items={overview.items}
          selected={phase}
          onPhase={setPhase}
          onFilter={filterBy}
        />
        <PhaseControls
          key={phase}
          phase={phase}
          query={query}
          lastTurn={overview.lastTurn}
          budget={budget}
          most={most}
          needs={shown?.needs}
          onQuery={(next) => address.set(`q.${phase}`, next)}
          onBudget={(next) => address.set(`b.${phase}`, String(next))}
        />
        <RefusedPins pins={answer.refused} onItem={choose} />
      </div>
      <section aria-label="Details" class="details">
        <ItemPanel
          phase={phase}
          place={place}
          version={version}
          marks={marksOf(values, query)}
          isPinned={pins.includes(place)}
          pinProblem={answer.refused.find((pin) => pin.place === place)?.problem}
          onPin={() => onPins(pins.includes(place) ? pins.filter((pin) => pin !== place) : [...pins, place])}
          onBudget={(next) => address.set(`b.${phase}`, String(next))}
          onItem={choose}
          onPrompt={(next) => {
            setPromptOpen(true);
            setTarget(({ times }) => ({ place: next, times: times + 1 }));
          }}
        />
        <details
          id="whole-prompt"
          open={isPromptOpen}
          onToggle={({ currentTarget }) => setPromptOpen(currentTarget.open)}
        >
          <summary>The prompt, section by section</summary>
          {isPromptOpen && (
            <PromptPanel phase={phase} version={version} selected={place} target={target} onItem={choose} />
          )}
        </details>
        <details
          id="rules-in-force"
          open={isRulesOpen}
          onToggle={({ currentTarget }) => setRulesOpen(currentTarget.open)}
        >
          <summary>Rules in force</summary>
          {isRulesOpen && (
            <RulesPanel
              version={String(log)}
              isOn={settings.rules}
              onSwitch={(rules) => onSettings({ ...settings, rules })}
              onItem={choose}
            />
          )}
        </details>
      </section>
      <section aria-labelledby="items-title" class="items stack" ref={items}>
        <h3 id="items-title">
          Every item, in log order <span class="quiet">({phase})</span>{" "}
          {isBusy && <span class="quiet small working">building…</span>}
        </h3>
        <ItemList
          phase={phase}
          version={version}
          filter={filter}
          onFilter={setFilter}
          selected={place}
          onItem={choose}
          onEnter={enter}
        />
        <SettingsForm
          settings={settings}
          onSettings={onSettings}
          header={request.header}
          onHeader={setHeader}
          footer={request.footer}
          onFooter={setFooter}
          pins={pins}
          onPins={onPins}
          onTurn={onTurn}
        />
        <TakeAway code={code} isShared={isShared} />
      </section>
    </div>
  );
}

function useFilter(): [Shown, (next: Shown) => void] {
  const [show] = useAddress("show", "all");
  const [kind] = useAddress("kind", "");
  const [search] = useAddress("search", "");
  const set = (next: Shown): void => {
    address.set("show", next.show === "all" ? undefined : next.show);
    address.set("kind", next.kind === "" ? undefined : next.kind);
    address.set("search", next.search === "" ? undefined : next.search);
  };
  return [{ show, kind, search }, set];
}

function RefusedPins({ pins, onItem }: { pins: readonly RefusedPin[]; onItem: (place: number) => void }): JSX.Element {
  return (
    <div role="alert" id="refused-pins" class={pins.length > 0 ? "failure small" : ""}>
      {pins.map(({ place, label, problem }) => (
        <p key={place}>
          <b>Not pinned:</b>{" "}
          <button type="button" class="link chip" onClick={() => onItem(place)}>
            {label}
          </button>{" "}
          {problem.message}
        </p>
      ))}
    </div>
  );
}
