// A report: the views of a build over what was recorded of it. No engine, no network.
import type { JSX } from "preact";
import { render } from "preact";
import { useRef, useState } from "preact/hooks";
import { type Shown, ItemList } from "../context/item-list.tsx";
import { ItemPanel } from "../context/item.tsx";
import { PhaseChart } from "../context/phase-chart.tsx";
import { PromptPanel } from "../context/prompt-panel.tsx";
import { RuleList } from "../context/rules-panel.tsx";
import { Headline, Ledger } from "../context/story.tsx";
import { PHASE } from "../context/words.ts";
import { TabPanel, Tabs, number } from "../shared/parts.tsx";
import { answerWith, prepareWith } from "../shared/record.ts";
import type { Filter, Row } from "../worker/rows.ts";
import type { Report } from "./collect.ts";

const report = JSON.parse(document.getElementById("report")?.textContent ?? "{}") as Report;

const passes = ({ show, kind, search }: Filter, row: Row): boolean =>
  (show === "all" || (show === "in" && row.state !== "dropped") || row.state === show || row.reason === show) &&
  (kind === "" || row.kind === kind) &&
  (search.trim() === "" || `${row.label} ${row.line}`.toLowerCase().includes(search.trim().toLowerCase()));

const ANSWERS: Readonly<Record<string, (args: never) => unknown>> = {
  "context.item": ({ place }: { place: number }) => report.items[place],
  "context.why": ({ place }: { place: number }) => report.whys[place],
  "context.prompt": ({ page }: { page: number }) => report.pages[Math.min(page, report.pages.length - 1)],
  "context.pageOf": ({ place }: { place: number }) => report.pageOf[place] ?? -1,
  "context.find": ({ filter, place }: { filter: Filter; place: number }) =>
    report.rows.filter((row) => passes(filter, row)).findIndex((row) => row.place === place),
  "context.rows": ({ filter, from, to }: { filter: Filter; from: number; to: number }) => {
    const found = report.rows.filter((row) => passes(filter, row));
    return { total: found.length, rows: found.slice(Math.max(0, from), to) };
  },
};
answerWith((name, args) => (Object.hasOwn(ANSWERS, name) ? ANSWERS[name]?.(args as never) : undefined));
prepareWith(() => Promise.reject(new Error("this is not part of the report")));

const VIEWS = [
  { key: "item", title: "Item" },
  { key: "prompt", title: "Prompt" },
  ...(report.rules.length > 0 ? [{ key: "rules", title: "Rules in force" } as const] : []),
] as const;

function Page(): JSX.Element {
  const { title, phase, query, view, rows } = report;
  const dropped = rows
    .filter(({ state, reason }) => state === "dropped" && reason === "budget")
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  const [place, setPlace] = useState(dropped[0]?.place ?? rows.at(-1)?.place ?? 0);
  const [shown, setShown] = useState<"item" | "prompt" | "rules">("item");
  const [target, setTarget] = useState({ place: 0, times: 0 });
  const [filter, setFilter] = useState<Shown>({ show: "all", kind: "", search: "" });
  const items = useRef<HTMLElement>(null);
  const choose = (next: number): void => setPlace(next);
  const chooseItem = (next: number): void => {
    choose(next);
    setShown("item");
  };
  const enter = (): void => {
    setShown("item");
    requestAnimationFrame(() => document.getElementById("item-title")?.focus());
  };
  return (
    <>
      <header class="masthead">
        <h1>{title || "A build, and why"}</h1>
        <p class="tagline">
          The {phase} prompt: to {PHASE[phase].task}
          {query !== "" && <> for “{query}”</>}. Recorded; nothing is computed here, and nothing leaves this file.
        </p>
      </header>
      <main id="page" tabIndex={-1}>
        <div class="story">
          <Headline phase={phase} view={view} items={rows.length} />
          <Ledger phase={phase} view={view} items={rows.length} />
        </div>
        <div class="explorer">
          <div class="overview stack">
            <PhaseChart
              phases={[phase]}
              views={[view]}
              items={rows.length}
              selected={phase}
              onPhase={() => undefined}
              onFilter={(_, show, kind) => {
                setFilter({ show, kind, search: "" });
                items.current?.scrollIntoView({ block: "nearest" });
              }}
            />
          </div>
          <section aria-label="Details" class="details">
            <Tabs label="Details" id="view" tabs={VIEWS} selected={shown} onSelect={setShown} />
            <TabPanel id="view" name="item" shown={shown === "item"}>
              {shown === "item" && place in report.items && (
                <ItemPanel
                  phase={phase}
                  place={place}
                  version=""
                  marks={[]}
                  isPinned={false}
                  pinProblem={undefined}
                  hasWhy={place in report.whys}
                  onItem={choose}
                  onPrompt={(next) => {
                    setShown("prompt");
                    setTarget(({ times }) => ({ place: next, times: times + 1 }));
                  }}
                />
              )}
              {shown === "item" && !(place in report.items) && (
                <p>
                  Of item {number(place + 1)} the report has no more than its line in the list: it keeps the details of{" "}
                  {number(Object.keys(report.items).length)} of {number(rows.length)} items.
                </p>
              )}
            </TabPanel>
            <TabPanel id="view" name="prompt" shown={shown === "prompt"}>
              {shown === "prompt" &&
                (report.pages.length > 0 ? (
                  <PromptPanel phase={phase} version="" selected={place} target={target} onItem={choose} />
                ) : (
                  <p>There is no prompt.</p>
                ))}
            </TabPanel>
            {report.rules.length > 0 && (
              <TabPanel id="view" name="rules" shown={shown === "rules"}>
                {shown === "rules" && <RuleList rules={report.rules} onItem={chooseItem} />}
              </TabPanel>
            )}
          </section>
          <section aria-labelledby="items-title" class="items stack" ref={items}>
            <h3 id="items-title">Every item, in log order</h3>
            <ItemList
              phase={phase}
              version=""
              filter={filter}
              onFilter={setFilter}
              selected={place}
              onItem={choose}
              onEnter={enter}
            />
          </section>
        </div>
      </main>
    </>
  );
}

const root = document.getElementById("root");
if (root) {
  root.replaceChildren();
  render(<Page />, root);
}
