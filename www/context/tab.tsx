// The tab of prompts: a transcript, its four phases, and the fate of every item.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { useAddress, useChoice } from "../shared/address.ts";
import { Failure, ask, give, useAnswer } from "../shared/ask.ts";
import { List } from "../shared/list.tsx";
import { ProblemBox, TabPanel, Tabs, kindName, number, swatch } from "../shared/parts.tsx";
import { OWN, Sources, fetchSample, type Given } from "../shared/sources.tsx";
import type { RefusedPin, Request } from "../worker/builds.ts";
import type { Overview, Settings } from "../worker/log.ts";
import type { Filter, Row } from "../worker/rows.ts";
import type { Problem } from "../worker/text.ts";
import { ArtifactsPanel } from "./artifacts-panel.tsx";
import { ItemPanel } from "./item.tsx";
import { PhaseCard, isBudget } from "./phase-card.tsx";
import { ChangesPanel, PromptPanel } from "./prompt-panels.tsx";
import { SettingsForm } from "./settings.tsx";
import { FORMATS, PHASE, PHASES, reasonName, type Format } from "./words.ts";

const SAMPLES = [{ key: "shop", title: "Recorded session: a failing checkout" }] as const;
const VIEWS = [
  { key: "item", title: "Item" },
  { key: "prompt", title: "Prompt" },
  { key: "changes", title: "Changes" },
  { key: "artifacts", title: "Artifacts" },
] as const;
const VIEW_KEYS = VIEWS.map(({ key }) => key);
const SHOWN = ["all", "in", "kept", "summarised", "redacted", "dropped", "phase", "budget", "append", "sensitivity", "dedup", "kind_limit", "pair"] as const;
const KINDS = ["", ...["policy", "memory_fact", "plan_state", "user_turn", "agent_msg", "tool_call", "tool_result", "retrieved_doc", "doc_snippet"]] as const;
const HEAD = [
  { title: "Item", class: "c-name" },
  { title: "Kind", class: "c-kind" },
  { title: "Text", class: "c-line" },
  { title: "State", class: "c-state" },
  { title: "Why", class: "c-why" },
  { title: "Tokens", class: "c-number" },
  { title: "Score", class: "c-number c-score" },
];
const SETTINGS = ["firewall", "redact", "append"] as const satisfies readonly (keyof Settings)[];
const MAX_QUERY = 2000;

type Queries = Partial<Record<Phase, string>>;

export function ContextTab({ isActive }: { isActive: boolean }): JSX.Element {
  const [overview, setOverview] = useState<Overview>();
  const [queries, setQueries] = useState<Queries>({});
  const [problem, setProblem] = useState<Problem>();
  const [setText, setSetText] = useAddress("set", "");
  const [pinText, setPinText] = useAddress("pins", "");
  const settings = useMemo(() => settingsOf(setText), [setText]);
  const pins = useMemo(() => (overview ? placesOf(pinText, overview.items) : []), [pinText, overview?.items]);
  const setPins = (next: readonly number[]): void => setPinText(next.join(" "));
  const [log, setLog] = useState(0);
  const [sample, setSample] = useState<"shop" | "">("shop");
  const [isLost, setLost] = useState(false);
  const [format, setFormat] = useState<Format>("auto");
  const [header, setHeader] = useAddress("header", "");
  const [footer, setFooter] = useAddress("footer", "");
  const phases = usePhases(queries);
  const changed = (next: Overview): void => {
    setOverview(next);
    setProblem(undefined);
    setLog((count) => count + 1);
  };
  const change = (answer: Promise<Overview>): void =>
    void answer.then(changed, (error: unknown) => setProblem(error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" }));
  useEffect(() => {
    if (overview) change(ask("context.settle", settings));
  }, [settings]);

  const load = ({ name, bytes }: Given, asked: Format): Promise<Overview> => give("context.load", { name, bytes, format: asked, settings }, [bytes]);
  // All at once, so that nothing is built that nobody asked for: the first prompt is what changes are compared with.
  const replaced = (next: Overview, from: typeof sample, asked: Queries, isAddressed: boolean): void => {
    if (!isAddressed) address.clear("q.", "b.", "item", "pins");
    address.set("data", from === "" ? OWN : undefined);
    setSample(from);
    setQueries(asked);
    changed(next);
  };
  const own = async (given: Given): Promise<void> => {
    replaced(await load(given, format), "", {}, false);
    setLost(false);
  };
  const onSample = async (): Promise<void> => {
    const [bytes, meta] = await Promise.all([fetchSample("shop.jsonl"), fetchSample("shop.meta.json")]);
    const { queries: named } = JSON.parse(new TextDecoder().decode(meta)) as { queries: Record<string, { query: string }> };
    const next = await load({ name: "Recorded session shop.jsonl", bytes }, "session");
    // What the address says is for the page as it was opened, and for the data that was in it.
    const isLost = !overview && address.get("data") === OWN;
    replaced(next, "shop", Object.fromEntries(Object.entries(named).map(([phase, { query }]) => [phase, query])), !overview && !isLost);
    setLost(isLost);
  };

  const request = useMemo((): Request => ({ phases, pins, header, footer }), [JSON.stringify(phases), pins, header, footer]);
  const { value: answer, isBusy } = useAnswer("context.build", overview ? request : null, log);
  return (
    <div class="stack">
      <Sources
        id="context"
        isActive={isActive}
        samples={SAMPLES}
        sample={sample}
        onSample={onSample}
        onGiven={own}
        isLost={isLost}
        accepts={'Session as JSON Lines ({"id": "u1", "kind": "user_turn", "text": "Hello"}), messages of a provider, or a snapshot'}
        status={overview?.line ?? "Loading. If this does not change, the page was opened as a file: modules need a web server (cargo xtask serve)."}
      >
        <label class="inline">
          Format{" "}
          <select id="context-format" value={format} onChange={({ currentTarget }) => setFormat(currentTarget.value as Format)}>
            {FORMATS.map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </Sources>
      {overview && overview.warnings.length > 0 && (
        <details class="warnings">
          <summary>{number(overview.warnings.length)} notes about the messages</summary>
          <ul>
            {overview.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
      <ProblemBox problem={problem} id="context-problem" />
      {overview && answer && (
        <Explorer
          key={sample}
          overview={overview}
          answer={answer}
          isBusy={isBusy}
          log={log}
          phases={phases}
          settings={settings}
          pins={pins}
          onPins={setPins}
          extras={
            <SettingsForm
              settings={settings}
              onSettings={(next) => setSetText(SETTINGS.filter((key) => next[key]).join(" "))}
              header={header}
              onHeader={setHeader}
              footer={footer}
              onFooter={setFooter}
              pins={pins}
              onPins={setPins}
              onTurn={(text) => change(ask("context.addTurn", { text }))}
            />
          }
        />
      )}
    </div>
  );
}

function settingsOf(text: string): Settings {
  const on = text.split(" ");
  return { firewall: on.includes("firewall"), redact: on.includes("redact"), append: on.includes("append") };
}

/** Places of items, as far as there are such. */
function placesOf(text: string, items: number): readonly number[] {
  const places = text.split(" ").filter((each) => /^\d+$/.test(each) && Number(each) < items);
  return [...new Set(places.map(Number))];
}

/** Query and budget of every phase: what the address says, else what the sample brings. */
function usePhases(queries: Queries): Request["phases"] {
  useAddress("", "");
  const of = (phase: Phase): Request["phases"][Phase] => {
    const budget = Number(address.get(`b.${phase}`));
    const query = address.get(`q.${phase}`) ?? queries[phase] ?? "";
    return { query: query.slice(0, MAX_QUERY).toWellFormed(), budget: isBudget(budget) ? budget : PHASE[phase].budget };
  };
  return { route: of("route"), call: of("call"), interpret: of("interpret"), answer: of("answer") };
}

interface ExplorerProps {
  readonly overview: Overview;
  readonly answer: ReturnType<typeof import("../worker/builds.ts").build>;
  readonly isBusy: boolean;
  readonly log: number;
  readonly phases: Request["phases"];
  readonly settings: Settings;
  readonly pins: readonly number[];
  readonly onPins: (pins: readonly number[]) => void;
  readonly extras: JSX.Element;
}

function Explorer({ overview, answer, isBusy, log, phases, settings, pins, onPins, extras }: ExplorerProps): JSX.Element {
  const [phase, setPhase] = useChoice<Phase>("phase", PHASES, "answer");
  const [view, setView] = useChoice<(typeof VIEW_KEYS)[number]>("view", VIEW_KEYS, "item");
  const [show, setShow] = useChoice("show", SHOWN, "all");
  const [kind, setKind] = useChoice("kind", KINDS, "");
  const [search, setSearch] = useAddress("search", "");
  const [chosen, setChosen] = useAddress("item", "");
  const [target, setTarget] = useState({ place: 0, times: 0 });
  const [artifact, setArtifact] = useState(-1);
  const [fixes, setFixes] = useState(0);
  const place = /^\d+$/.test(chosen) && Number(chosen) < overview.items ? Number(chosen) : -1;
  const filter: Filter = { show, kind, search };
  const version = `${log} ${answer.version} ${phase} ${fixes}`;
  const { value: at = -1 } = useAnswer("context.find", place < 0 ? null : { phase, filter, place }, version);
  const items = useRef<HTMLElement>(null);

  const choose = (next: number): void => {
    setChosen(String(next));
    if (view !== "item" && view !== "prompt") setView("item");
  };
  const filterBy = (nextShow: string, nextKind: string): void => {
    setShow(nextShow as (typeof SHOWN)[number]);
    setKind(nextKind as (typeof KINDS)[number]);
    items.current?.scrollIntoView({ block: "nearest" });
  };
  const most = Math.max(8000, Math.ceil((overview.tokens ?? 0) / 1000) * 1000);
  const left = answer.phases.map((each) => each.left.reduce((sum, { tokens }) => sum + tokens, 0));
  useEffect(() => setArtifact(-1), [log]);
  return (
    <>
      <section aria-labelledby="phases-title">
        <h2 id="phases-title">
          Four phases, four prompts {isBusy && <span class="quiet small working">building…</span>}
        </h2>
        <p class="quiet small">
          An agent asks its model for different things in turn. Each needs another part of the session, so each phase has a prompt and a budget of its own.
        </p>
        <div class="phases">
          {PHASES.map((each) => (
            <PhaseCard
              key={each}
              phase={each}
              view={answer.phases.find((candidate) => candidate.phase === each)}
              items={overview.items}
              query={phases[each].query}
              budget={phases[each].budget}
              most={most}
              mostLeft={Math.max(1, ...left)}
              isSelected={each === phase}
              onSelect={() => setPhase(each)}
              onQuery={(query) => address.set(`q.${each}`, query)}
              onBudget={(budget) => address.set(`b.${each}`, String(budget))}
              onFilter={(nextShow, nextKind) => {
                setPhase(each);
                filterBy(nextShow, nextKind);
              }}
            />
          ))}
        </div>
        {extras}
      </section>
      <RefusedPins pins={answer.refused} onItem={choose} />
      <div class="columns">
        <section aria-labelledby="items-title" ref={items}>
          <h2 id="items-title">
            Items, in log order <span class="quiet">({phase})</span>
          </h2>
          <Filters show={show} onShow={setShow} kind={kind} onKind={setKind} search={search} onSearch={setSearch} />
          <List<Row>
            label={`Items of the log and what became of them in ${phase}`}
            head={HEAD}
            version={`${version} ${JSON.stringify(filter)}`}
            read={(from, to) => ask("context.rows", { phase, filter, from, to })}
            reveal={at}
            selected={at}
            onSelect={(row) => choose(row.place)}
            cells={cellsOf}
            rowClass={({ state }) => (state === "dropped" ? "out" : "")}
            rowHeight={30}
            phoneHeight={76}
            empty="No item is like that."
          />
        </section>
        <section aria-label="Details" class="details">
          <Tabs label="Details" id="view" tabs={VIEWS} selected={view} onSelect={setView} />
          <TabPanel id="view" name="item" shown={view === "item"}>
            {place < 0 && <p class="quiet">Choose an item to see why it is in the prompt, or why not, and what would have kept it.</p>}
            {place >= 0 && view === "item" && (
              <ItemPanel
                phase={phase}
                place={place}
                version={version}
                isPinned={pins.includes(place)}
                pinProblem={answer.refused.find((pin) => pin.place === place)?.problem}
                onPin={() => onPins(pins.includes(place) ? pins.filter((pin) => pin !== place) : [...pins, place])}
                onBudget={(budget) => address.set(`b.${phase}`, String(budget))}
                onItem={choose}
                onPrompt={(next) => {
                  setView("prompt");
                  setTarget(({ times }) => ({ place: next, times: times + 1 }));
                }}
                onArtifact={(next) => {
                  setView("artifacts");
                  void ask("context.artifactOf", { place: next }).then(setArtifact);
                }}
              />
            )}
          </TabPanel>
          <TabPanel id="view" name="prompt" shown={view === "prompt"}>
            {view === "prompt" && <PromptPanel phase={phase} version={version} selected={place} target={target} onItem={choose} />}
          </TabPanel>
          <TabPanel id="view" name="changes" shown={view === "changes"}>
            {view === "changes" && (
              <ChangesPanel phase={phase} version={version} isAppend={settings.append} onItem={choose} onFix={() => setFixes((count) => count + 1)} />
            )}
          </TabPanel>
          <TabPanel id="view" name="artifacts" shown={view === "artifacts"}>
            {view === "artifacts" && <ArtifactsPanel version={String(log)} selected={artifact} onSelect={setArtifact} />}
          </TabPanel>
        </section>
      </div>
    </>
  );
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

function cellsOf({ label, kind, line, state, stage, reason, tokens, score }: Row): (string | JSX.Element)[] {
  return [
    <b>{label}</b>,
    <span class={`kind ${swatch(kind)}`}>{kindName(kind)}</span>,
    line,
    <span class={`badge ${state}`}>{state}</span>,
    state === "dropped" ? <WhyDropped stage={stage} reason={reason} /> : reason,
    tokens === null ? "" : number(tokens),
    score === null ? "" : score.toFixed(2),
  ];
}

function WhyDropped({ stage, reason }: { stage: string; reason: string }): JSX.Element {
  if (stage === "") return <span class="quiet">no prompt</span>;
  return (
    <>
      <span class="quiet">{stage}:</span> {reasonName(reason)}
    </>
  );
}

interface FiltersProps {
  readonly show: string;
  readonly onShow: (show: (typeof SHOWN)[number]) => void;
  readonly kind: string;
  readonly onKind: (kind: (typeof KINDS)[number]) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

const SHOWN_NAME: Readonly<Record<string, string>> = { all: "all", in: "in the prompt", kept: "kept whole", summarised: "summarised", redacted: "redacted", dropped: "dropped" };

function Filters({ show, onShow, kind, onKind, search, onSearch }: FiltersProps): JSX.Element {
  return (
    <div class="controls filters">
      <label class="inline">
        Show{" "}
        <select id="show" value={show} onChange={({ currentTarget }) => onShow(currentTarget.value as (typeof SHOWN)[number])}>
          {SHOWN.map((each) => (
            <option key={each} value={each}>
              {SHOWN_NAME[each] ?? `dropped: ${reasonName(each)}`}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        Kind{" "}
        <select id="kind" value={kind} onChange={({ currentTarget }) => onKind(currentTarget.value as (typeof KINDS)[number])}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {each === "" ? "all" : kindName(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        Find{" "}
        <input id="search" type="search" maxlength={200} autocomplete="off" spellcheck={false} value={search} onInput={({ currentTarget: { value } }) => onSearch(value.toWellFormed())} />
      </label>
    </div>
  );
}
