// The tab of decisions: what an agent decided and why, what came of it, and what that says about the next decision.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAddress, useChoice } from "../shared/address.ts";
import * as address from "../shared/address.ts";
import { give, useAnswer } from "../shared/ask.ts";
import { Json } from "../shared/json.tsx";
import { useMedia } from "../shared/list.tsx";
import { ProblemBox, TabPanel, Tabs, count } from "../shared/parts.tsx";
import { OWN, Sources, fetchSample, type Given } from "../shared/sources.tsx";
import type { MemoryView } from "../worker/decisions.ts";
import { AskPanel, Outcome } from "./ask.tsx";
import { CalibrationPanel } from "./calibration.tsx";
import { GraphPanel } from "./graph.tsx";
import { GuardrailsPanel } from "./guardrails.tsx";
import { linkName } from "./words.ts";

const SAMPLES = [{ key: "shop", title: "A year of decisions about a shop (made up)" }] as const;
const VIEWS = [
  { key: "ask", title: "Ask" },
  { key: "guardrails", title: "Guardrails" },
  { key: "calibration", title: "Calibration" },
  { key: "graph", title: "Graph" },
] as const;
const VIEW_KEYS = VIEWS.map(({ key }) => key);

export function DecisionsTab({ isActive }: { isActive: boolean }): JSX.Element {
  const [memory, setMemory] = useState<MemoryView>();
  const [version, setVersion] = useState(0);
  const [named] = useAddress("memory", "shop");
  const [sample, setSample] = useState<"shop" | "">("shop");
  const [isLost, setLost] = useState(false);
  const [view, setView] = useChoice("dview", VIEW_KEYS, "ask");
  const [place, setPlace] = useState(-1);
  const hasChoice = view === "ask" || view === "graph";
  const isNarrow = useMedia("(max-width: 63.99rem)");
  const details = place < 0 ? null : <Decision place={place} version={version} onDecision={setPlace} />;
  const below = isNarrow && details ? <div class="details below">{details}</div> : null;

  const load = async (given: Given): Promise<void> => {
    setMemory(await give("decisions.load", given, [given.bytes]));
    setPlace(-1);
    setVersion((before) => before + 1);
  };
  const common = { version, selected: place, onDecision: setPlace, details: below };
  return (
    <div class="stack">
      <p class="quiet small">
        A memory of decisions keeps what was decided, why, how sure one was, and what came of it. Before the next
        decision it says what is similar, which rules speak against it, and whether such confidence has been right.
      </p>
      <Sources
        id="memory"
        isActive={isActive}
        samples={SAMPLES}
        sample={sample}
        isLost={isLost}
        onSample={async (key) => {
          await load({ name: "Decisions about a shop", bytes: await fetchSample("decisions.json") });
          setLost(!memory && named === OWN);
          setSample(key);
          address.set("memory", undefined);
        }}
        onGiven={async (given) => {
          await load(given);
          setLost(false);
          setSample("");
          address.set("memory", OWN);
        }}
        accepts="What JSON.stringify(store) or contextweaver decisions wrote, or a list of records"
        status={memory?.line ?? "Loading."}
      />
      {memory && memory.leftOut.length > 0 && (
        <details>
          <summary>{count(memory.leftOut.length, "record")} that could not be read</summary>
          <ul>
            {memory.leftOut.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
      {memory && (
        <div class={hasChoice ? "columns" : "stack"}>
          <section aria-label="Decisions" class="stack">
            <Tabs label="Decisions" id="dview" tabs={VIEWS} selected={view} onSelect={setView} />
            <TabPanel id="dview" name="ask" shown={view === "ask"}>
              {view === "ask" && <AskPanel {...common} categories={memory.categories} />}
            </TabPanel>
            <TabPanel id="dview" name="guardrails" shown={view === "guardrails"}>
              {view === "guardrails" && <GuardrailsPanel version={version} categories={memory.categories} />}
            </TabPanel>
            <TabPanel id="dview" name="calibration" shown={view === "calibration"}>
              {view === "calibration" && <CalibrationPanel version={version} />}
            </TabPanel>
            <TabPanel id="dview" name="graph" shown={view === "graph"}>
              {view === "graph" && <GraphPanel {...common} />}
            </TabPanel>
          </section>
          {!isNarrow && hasChoice && (
            <section aria-label="Decision" class="details beside">
              {details ?? (
                <p class="quiet">Choose a decision to see its reasons, what was learned, and what it is linked with.</p>
              )}
            </section>
          )}
        </div>
      )}
    </div>
  );
}

function Decision({
  place,
  version,
  onDecision,
}: {
  place: number;
  version: number;
  onDecision: (place: number) => void;
}): JSX.Element {
  const { value, problem } = useAnswer("decisions.decision", { place }, version);
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="decision">
      <h3 class="item-title">
        {value.text} <Outcome outcome={value.outcome} />
      </h3>
      <dl class="facts">
        <dt>When</dt>
        <dd>{value.date}</dd>
        <dt>Confidence</dt>
        <dd>{value.confidence === null ? "not said" : `${Math.round(value.confidence * 100)} %`}</dd>
        <dt>Stakes</dt>
        <dd>{value.stakes || "not said"}</dd>
        <dt>Category</dt>
        <dd>{value.category}</dd>
        {value.tags.length > 0 && (
          <>
            <dt>Tags</dt>
            <dd>{value.tags.join(", ")}</dd>
          </>
        )}
        {value.reasons.map(({ type, text }) => (
          <>
            <dt>{type}</dt>
            <dd>{text}</dd>
          </>
        ))}
        {value.lessons && (
          <>
            <dt>Learned</dt>
            <dd>{value.lessons}</dd>
          </>
        )}
      </dl>
      {value.context && <p class="description">{value.context}</p>}
      {value.links.length > 0 && (
        <ul class="links" aria-label="Linked decisions">
          {value.links.map((link) => (
            <li key={`${link.place} ${link.type} ${link.isOutgoing}`} class="small">
              <span class="quiet">{linkName(link.type, link.isOutgoing)}</span>{" "}
              <button type="button" class="link" onClick={() => onDecision(link.place)}>
                {link.title}
              </button>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>Whole record</summary>
        <Json label="Whole record of the decision">{value.record}</Json>
      </details>
    </div>
  );
}
