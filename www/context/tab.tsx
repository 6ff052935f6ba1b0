// The tab of prompts: a transcript, its four phases, and the fate of every item.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { useAddress, useChoice } from "../shared/address.ts";
import { Failure, ask, give, send, useAnswer, useProgress } from "../shared/ask.ts";
import { brought } from "../shared/brought.ts";
import { ProblemBox, number } from "../shared/parts.tsx";
import { isReady, prepareWith, ready, recorded } from "../shared/record.ts";
import { OWN, Sources, fetchSample, type Given } from "../shared/sources.tsx";
import type { Request } from "../worker/builds.ts";
import { DEFAULTS } from "../worker/defaults.ts";
import type { Overview, Settings } from "../worker/log.ts";
import type { Problem } from "../worker/text.ts";
import { isBudget } from "./controls.tsx";
import { Explorer } from "./explorer.tsx";
import { type Asked, FIRST_PHASE, SAMPLE_NAME, askedOf, budgetsFor, firstRequest } from "./first.ts";
import { Headline, Ledger } from "./story.tsx";
import { FORMATS, PHASE, PHASES, type Format } from "./words.ts";

const SAMPLES = [{ key: "shop", title: "Recorded session: a failing checkout" }] as const;
const SETTINGS = ["firewall", "redact", "running", "rules"] as const satisfies readonly (keyof Settings)[];
const MAX_QUERY = 2000;
const NOTHING: Asked = { queries: {}, values: {} };
/** Of data that come again with every reload, the address says nothing. */
const OPENED = "opened";

/** What the build of the page knows of the sample. */
export interface FirstSight {
  readonly overview: Overview;
  readonly asked: Asked;
}

/** What there is before anything is loaded: what was recorded, unless the address asks for something else. */
function firstSight(): FirstSight | undefined {
  const isOther = address.get("set") !== undefined || address.get("data") === OWN;
  return isOther ? undefined : (recorded("first", null) as FirstSight | undefined);
}

/** Loads the sample into the worker as it was when the answers were recorded. */
async function prepareSample(asked: Asked): Promise<void> {
  const bytes = await fetchSample("shop.jsonl");
  await send("context.load", { name: SAMPLE_NAME, bytes, format: "recorded" }, [bytes]);
  await send("context.build", firstRequest(asked), []);
}

export function ContextTab({ isActive }: { isActive: boolean }): JSX.Element {
  const [sight] = useState(firstSight);
  const [overview, setOverview] = useState<Overview | undefined>(sight?.overview);
  const [asked, setAsked] = useState<Asked>(sight?.asked ?? NOTHING);
  const [problem, setProblem] = useState<Problem>();
  const [setText, setSetText] = useAddress("set", "");
  const [pinText, setPinText] = useAddress("pins", "");
  const settings = useMemo(() => settingsOf(setText), [setText]);
  const pins = useMemo(() => (overview ? placesOf(pinText, overview.items) : []), [pinText, overview?.items]);
  const [opened] = useState(brought);
  const [log, setLog] = useState(sight ? 1 : 0);
  const [sample, setSample] = useState<"shop" | "">(opened ? "" : "shop");
  const [isLost, setLost] = useState(false);
  const [format, setFormat] = useState<Format>("auto");
  const [header] = useAddress("header", "");
  const [footer] = useAddress("footer", "");
  const [budgets, setBudgets] = useState(() => budgetsFor(null));
  const phases = usePhases(asked, budgets);
  usePreparation(sight);

  const changed = (next: Overview): void => {
    setOverview(next);
    setProblem(undefined);
    setLog((count) => count + 1);
  };
  const change = (answer: Promise<Overview>): void =>
    void answer.then(changed, (error: unknown) => setProblem(error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" }));
  const [settled, setSettled] = useState(settings);
  useEffect(() => {
    if (!overview || settled === settings) return;
    setSettled(settings);
    change(ask("context.settle", settings));
  }, [settings]);

  const load = ({ name, bytes }: Given, from: Format | "recorded"): Promise<Overview> => give("context.load", { name, bytes, format: from, settings }, [bytes]);
  // All at once, so that nothing is built that nobody asked for: the first prompt is what changes are compared with.
  const replaced = (next: Overview, from: typeof sample | typeof OPENED, questions: Asked, isAddressed: boolean): void => {
    if (!isAddressed) address.clear("q.", "b.", "item", "pins");
    address.set("data", from === "" ? OWN : undefined);
    setSample(from === OPENED ? "" : from);
    setAsked(questions);
    setBudgets(budgetsFor(from === "shop" ? null : next.tokens));
    setSettled(settings);
    changed(next);
  };
  const own = async (given: Given): Promise<void> => {
    // What the address says may be of the file that the page was opened with, but of no other.
    const isOpened = !overview && opened !== undefined;
    replaced(await load(given, format), isOpened ? OPENED : "", NOTHING, isOpened && address.get("data") !== OWN);
    setLost(false);
  };
  const onSample = async (): Promise<void> => {
    // It is there already, as the page was built with it.
    if (sight && !isReady()) return;
    const [bytes, meta] = await Promise.all([fetchSample("shop.jsonl"), fetchSample("shop.meta.json")]);
    const questions = askedOf(JSON.parse(new TextDecoder().decode(meta)) as Parameters<typeof askedOf>[0]);
    const next = await load({ name: SAMPLE_NAME, bytes }, "recorded");
    // What the address says is for the page as it was opened, and for the data that was in it.
    const isGone = !overview && address.get("data") === OWN;
    replaced(next, "shop", questions, !overview && !isGone);
    setLost(isGone);
  };

  const request = useMemo((): Request => ({ phases, pins, header, footer }), [JSON.stringify(phases), pins, header, footer]);
  const { value: answer, isBusy, problem: unbuilt } = useAnswer("context.build", overview ? request : null, log);
  const [phase] = useChoice<Phase>("phase", PHASES, FIRST_PHASE);
  const shown = answer?.phases.find((each) => each.phase === phase);
  return (
    <div class="stack">
      {overview && (
        <div class="story">
          <Headline phase={phase} view={shown} items={overview.items} />
          {shown && <Ledger phase={phase} view={shown} items={overview.items} />}
        </div>
      )}
      <Sources
        id="context"
        isActive={isActive}
        samples={SAMPLES}
        sample={sample}
        onSample={onSample}
        onGiven={own}
        brought={opened}
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
      <ProblemBox problem={problem ?? unbuilt} id="context-problem" />
      {unbuilt && (
        <button type="button" id="engine-again" onClick={() => setLog((count) => count + 1)}>
          Try again
        </button>
      )}
      <Loading />
      {overview && answer && (
        <Explorer
          key={sample}
          overview={overview}
          answer={answer}
          isBusy={isBusy}
          log={log}
          request={request}
          settings={settings}
          isShared={sample !== ""}
          onSettings={(next) => setSetText(textOf(next))}
          onPins={(next) => setPinText(next.join(" "))}
          onTurn={(text) => change(ask("context.addTurn", { text }))}
        />
      )}
    </div>
  );
}

/** Says how much of the engine has come, while it does. */
function Loading(): JSX.Element | null {
  const progress = useProgress();
  if (!progress) return null;
  return (
    <p class="loading small quiet" role="status">
      <label>
        Loading the engine <progress value={progress.loaded} max={progress.total} />
      </label>
    </p>
  );
}

const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"] as const;

/** Fetches the engine at the first sign that somebody wants to do something, so that it is there when they do. */
function usePreparation(sight: FirstSight | undefined): void {
  // Before any part of the page asks.
  useState(() => sight && prepareWith(() => prepareSample(sight.asked)));
  useEffect(() => {
    if (!sight) return;
    const begin = (): void => {
      for (const sign of SIGNS) removeEventListener(sign, begin, true);
      const { connection } = navigator as Navigator & { readonly connection?: { readonly saveData?: boolean } };
      // Who needs an answer is told what went wrong; nobody waits for this.
      if (connection?.saveData !== true) ready().catch(() => undefined);
    };
    for (const sign of SIGNS) addEventListener(sign, begin, { capture: true, passive: true });
    return () => {
      for (const sign of SIGNS) removeEventListener(sign, begin, true);
    };
  }, []);
}

function settingsOf(text: string): Settings {
  const words = text.split(" ");
  const isOn = (key: keyof Settings): boolean => words.includes(key) || (DEFAULTS[key] && !words.includes(`no-${key}`));
  return { firewall: isOn("firewall"), redact: isOn("redact"), running: isOn("running"), rules: isOn("rules") };
}

/** The settings that are not as by default, as the address says them. */
function textOf(settings: Settings): string {
  return SETTINGS.filter((key) => settings[key] !== DEFAULTS[key]).map((key) => (settings[key] ? key : `no-${key}`)).join(" ");
}

/** Places of items, as far as there are such. */
function placesOf(text: string, items: number): readonly number[] {
  const places = text.split(" ").filter((each) => /^\d+$/.test(each) && Number(each) < items);
  return [...new Set(places.map(Number))];
}

/** Query and budget of every phase: what the address says, else what the sample brings, or what suits the transcript. */
function usePhases({ queries, values }: Asked, budgets: Readonly<Record<Phase, number>>): Request["phases"] {
  useAddress("", "");
  const of = (phase: Phase): Request["phases"][Phase] => {
    const budget = Number(address.get(`b.${phase}`));
    const given = queries[phase] ?? "";
    const query = (address.get(`q.${phase}`) ?? given).slice(0, MAX_QUERY).toWellFormed();
    // What answers the question of the sample says nothing about another one.
    return { query, budget: isBudget(budget) ? budget : (budgets[phase] ?? PHASE[phase].budget), values: query === given ? (values[phase] ?? []) : [] };
  };
  const [route, call, interpret, answer] = PHASES.map(of) as [Request["phases"][Phase], Request["phases"][Phase], Request["phases"][Phase], Request["phases"][Phase]];
  return { route, call, interpret, answer };
}
