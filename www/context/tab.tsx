// One prompt of the session: a phase with its query and budget, and the fate of every item.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { useAddress, useChoice } from "../shared/address.ts";
import { Failure, ask, useAnswer } from "../shared/ask.ts";
import { ProblemBox, number } from "../shared/parts.tsx";
import { fetchSample } from "../shared/sources.tsx";
import type { Request } from "../worker/builds.ts";
import { DEFAULTS } from "../worker/defaults.ts";
import type { Settings } from "../worker/defaults.ts";
import type { Overview } from "../worker/log.ts";
import type { SessionView } from "../worker/session.ts";
import type { Problem } from "../worker/text.ts";
import { isBudget } from "./controls.tsx";
import { Explorer } from "./explorer.tsx";
import { type Asked, FIRST_PHASE, askedOf, budgetsFor } from "./first.ts";
import { Headline, Ledger } from "./story.tsx";
import { PHASE, PHASES } from "./words.ts";

const SETTINGS = ["redact", "rules"] as const satisfies readonly (keyof Settings)[];
const MAX_QUERY = 2000;
const NOTHING: Asked = { queries: {}, values: {} };

interface ContextProps {
  readonly session: SessionView;
  readonly isSample: boolean;
  /** Counts what was opened. */
  readonly version: number;
}

export function ContextTab({ session, isSample, version }: ContextProps): JSX.Element {
  const [overview, setOverview] = useState<Overview>();
  const [asked, setAsked] = useState<Asked>(NOTHING);
  const [problem, setProblem] = useState<Problem>();
  const [setText, setSetText] = useAddress("set", "");
  const [pinText, setPinText] = useAddress("pins", "");
  const settings = useMemo(() => settingsOf(setText), [setText]);
  const pins = useMemo(() => (overview ? placesOf(pinText, overview.items) : []), [pinText, overview?.items]);
  const [log, setLog] = useState(0);
  const [header] = useAddress("header", "");
  const [footer] = useAddress("footer", "");
  const [budgets, setBudgets] = useState(() => budgetsFor(null));
  const phases = usePhases(asked, budgets);

  const changed = (next: Overview): void => {
    setOverview(next);
    setProblem(undefined);
    setLog((count) => count + 1);
  };
  const failed = (error: unknown): void =>
    setProblem(error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" });
  const change = (answer: Promise<Overview>): void => void answer.then(changed, failed);
  const [settled, setSettled] = useState(settings);
  const load = async (): Promise<void> => {
    const [next, questions] = await Promise.all([
      ask("context.load", { conversation: session.chosen, settings }),
      isSample ? questionsOfSample() : NOTHING,
    ]);
    setAsked(questions);
    setBudgets(budgetsFor(isSample ? null : next.tokens));
    setSettled(settings);
    changed(next);
  };
  useEffect(() => {
    setOverview(undefined);
    void load().catch(failed);
  }, [version]);
  useEffect(() => {
    if (!overview || settled === settings) return;
    setSettled(settings);
    change(ask("context.settle", settings));
  }, [settings]);

  const request = useMemo(
    (): Request => ({ phases, pins, header, footer }),
    [JSON.stringify(phases), pins, header, footer],
  );
  const { value: answer, isBusy, problem: unbuilt } = useAnswer("context.build", overview ? request : null, log);
  const [phase] = useChoice<Phase>("phase", PHASES, FIRST_PHASE);
  const shown = answer?.phases.find((each) => each.phase === phase);
  return (
    <div class="stack">
      <div class="story">
        {overview ? (
          <Headline id="prompt-headline" phase={phase} view={shown} items={overview.items} />
        ) : (
          <h2 class="headline">Making items of the session…</h2>
        )}
        {overview && shown && <Ledger phase={phase} view={shown} items={overview.items} />}
      </div>
      {session.isOnePrompt && <p id="no-calls">No model call in this file: one prompt.</p>}
      {overview && (
        <p id="log-status" role="status" class="quiet">
          {overview.line}
        </p>
      )}
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
      {(problem ?? unbuilt) && (
        <button
          type="button"
          id="engine-again"
          onClick={() => (overview ? setLog((count) => count + 1) : void load().catch(failed))}
        >
          Try again
        </button>
      )}
      {overview && answer && (
        <Explorer
          key={version}
          overview={overview}
          answer={answer}
          isBusy={isBusy}
          log={log}
          request={request}
          settings={settings}
          isShared={isSample}
          onSettings={(next) => setSetText(textOf(next))}
          onPins={(next) => setPinText(next.join(" "))}
          onTurn={(text) => change(ask("context.addTurn", { text }))}
        />
      )}
    </div>
  );
}

async function questionsOfSample(): Promise<Asked> {
  const meta = await fetchSample("shop.meta.json");
  return askedOf(JSON.parse(new TextDecoder().decode(meta)) as Parameters<typeof askedOf>[0]);
}

function settingsOf(text: string): Settings {
  const words = text.split(" ");
  const isOn = (key: keyof Settings): boolean => words.includes(key) || (DEFAULTS[key] && !words.includes(`no-${key}`));
  return { running: false, redact: isOn("redact"), rules: isOn("rules") };
}

/** The settings that are not as by default, as the address says them. */
function textOf(settings: Settings): string {
  return SETTINGS.filter((key) => settings[key] !== DEFAULTS[key])
    .map((key) => (settings[key] ? key : `no-${key}`))
    .join(" ");
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
    return {
      query,
      budget: isBudget(budget) ? budget : (budgets[phase] ?? PHASE[phase].budget),
      values: query === given ? (values[phase] ?? []) : [],
    };
  };
  const [route, call, interpret, answer] = PHASES.map(of) as [
    Request["phases"][Phase],
    Request["phases"][Phase],
    Request["phases"][Phase],
    Request["phases"][Phase],
  ];
  return { route, call, interpret, answer };
}
