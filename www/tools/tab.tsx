// The tab of tools: which few of many a query needs, how they are grouped, what is wrong with them, what changed.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { useAddress, useChoice } from "../shared/address.ts";
import { give, useAnswer } from "../shared/ask.ts";
import { Json } from "../shared/json.tsx";
import { useMedia } from "../shared/list.tsx";
import { ProblemBox, TabPanel, Tabs, count, number } from "../shared/parts.tsx";
import { OWN, Sources, fetchSample, type Given } from "../shared/sources.tsx";
import type { CatalogView, ToolSource } from "../worker/tools.ts";
import { DriftPanel } from "./drift.tsx";
import { GatewayPanel } from "./gateway.tsx";
import { LintPanel } from "./lint.tsx";
import { RoutePanel } from "./route.tsx";
import { useSaid } from "./said.tsx";
import { Tree } from "./tree.tsx";

const SERVERS = [
  "chrome-devtools",
  "context7",
  "everything",
  "filesystem",
  "firecrawl",
  "git",
  "memory",
  "mongodb",
  "notion",
  "playwright",
  "sequential-thinking",
  "supabase",
] as const;
const SAMPLES = [
  { key: "all", title: "All recorded servers together" },
  ...SERVERS.map((server) => ({ key: server, title: `Recorded server: ${server}` })),
  { key: "poisoned", title: "A server with bad intentions (made up)" },
] as const;
type Sample = "all" | "poisoned" | (typeof SERVERS)[number];
const SAMPLE_KEYS: readonly Sample[] = ["all", "poisoned", ...SERVERS];
const BEFORE = [
  { key: "filesystem-before", title: "Recorded server: filesystem, an altered copy" },
  { key: "none", title: "nothing" },
] as const;

const VIEWS = [
  { key: "route", title: "Choose" },
  { key: "gateway", title: "Gateway" },
  { key: "tree", title: "Browse" },
  { key: "lint", title: "Lint" },
  { key: "drift", title: "Drift" },
] as const;
const VIEW_KEYS = VIEWS.map(({ key }) => key);

async function sourcesOf(sample: Sample): Promise<ToolSource[]> {
  if (sample === "poisoned")
    return [{ name: "made up", server: "poisoned", bytes: await fetchSample("poisoned.json") }];
  const servers = sample === "all" ? SERVERS : [sample];
  return Promise.all(
    servers.map(async (server) => ({ name: server, server, bytes: await fetchSample(`catalogs/${server}.json`) })),
  );
}

export function ToolsTab({ isActive }: { isActive: boolean }): JSX.Element {
  const [catalog, setCatalog] = useState<CatalogView>();
  const [before, setBefore] = useState<CatalogView>();
  const [beforeSample, setBeforeSample] = useState<(typeof BEFORE)[number]["key"] | "">("none");
  const [version, setVersion] = useState(0);
  const [named, setSample] = useAddress("tools", "all");
  const sample = SAMPLE_KEYS.find((key) => key === named) ?? (named === OWN ? "" : "all");
  const [isLost, setLost] = useState(false);
  const [view, setView] = useChoice("tview", VIEW_KEYS, "route");
  const [place, setPlace] = useState(-1);
  const said = useSaid();
  // Where there is one column, details stand where they were asked for.
  const isNarrow = useMedia("(max-width: 63.99rem)");
  const details = place < 0 ? null : <Tool place={place} version={version} />;
  const below = isNarrow && details ? <div class="details below">{details}</div> : null;

  const load = async (sources: readonly ToolSource[]): Promise<void> => {
    setCatalog(
      await give(
        "tools.load",
        { which: "now", sources },
        sources.map(({ bytes }) => bytes),
      ),
    );
    setPlace(-1);
    setVersion((before) => before + 1);
  };
  const loadBefore = async (sources: readonly ToolSource[]): Promise<void> => {
    setBefore(
      await give(
        "tools.load",
        { which: "before", sources },
        sources.map(({ bytes }) => bytes),
      ),
    );
    setVersion((before) => before + 1);
  };
  return (
    <div class="stack">
      <Sources<Sample>
        id="tools"
        isActive={isActive && view !== "drift"}
        samples={SAMPLES}
        sample={sample || "all"}
        isLost={isLost}
        onSample={async (key) => {
          await load(await sourcesOf(key));
          setLost(!catalog && named === OWN);
          setSample(key);
        }}
        onGiven={async ({ name, bytes }: Given) => {
          await load([{ name, bytes }]);
          setLost(false);
          address.set("tools", OWN);
        }}
        accepts="The answer of a server to tools/list, a list of tools, or a catalog, as JSON"
        status={catalog?.line ?? "Loading."}
      />
      {catalog && catalog.leftOut.length > 0 && (
        <details>
          <summary>{count(catalog.leftOut.length, "tool")} with something that could not be read</summary>
          <ul>
            {catalog.leftOut.map((finding, at) => (
              <li key={at}>
                {finding.tool} {finding.path}: {finding.message}
              </li>
            ))}
          </ul>
        </details>
      )}
      {catalog && (
        <div class={view === "gateway" || view === "drift" ? "stack" : "columns"}>
          <section aria-label="Tools" class="stack">
            <Tabs label="Tools" id="tview" tabs={VIEWS} selected={view} onSelect={setView} />
            <TabPanel id="tview" name="route" shown={view === "route"}>
              {view === "route" && (
                <RoutePanel
                  catalog={catalog}
                  version={version}
                  said={said}
                  isActive={isActive}
                  selected={place}
                  onTool={setPlace}
                  details={below}
                />
              )}
            </TabPanel>
            <TabPanel id="tview" name="gateway" shown={view === "gateway"}>
              {view === "gateway" && <GatewayPanel version={version} />}
            </TabPanel>
            <TabPanel id="tview" name="tree" shown={view === "tree"}>
              {view === "tree" && <Tree version={version} selected={place} onTool={setPlace} details={below} />}
            </TabPanel>
            <TabPanel id="tview" name="lint" shown={view === "lint"}>
              {view === "lint" && <LintPanel version={version} selected={place} onTool={setPlace} details={below} />}
            </TabPanel>
            <TabPanel id="tview" name="drift" shown={view === "drift"}>
              <div class="stack">
                <p>
                  A server may change its tools after you have approved them. Load how they were, and see what changed
                  since, how risky each change is, and whether known queries now lead elsewhere.
                </p>
                <h3>Compare with</h3>
                <Sources
                  id="before"
                  isActive={isActive && view === "drift"}
                  samples={BEFORE}
                  sample={beforeSample}
                  onSample={async (key) => {
                    if (key === "filesystem-before") {
                      await load(await sourcesOf("filesystem"));
                      setSample("filesystem");
                      await loadBefore([
                        {
                          name: "filesystem, altered copy",
                          server: "filesystem",
                          bytes: await fetchSample("filesystem-before.json"),
                        },
                      ]);
                    }
                    setBeforeSample(key);
                  }}
                  onGiven={async ({ name, bytes }) => {
                    await loadBefore([{ name, bytes }]);
                    setBeforeSample("");
                  }}
                  accepts="An earlier answer of the same server"
                  status={before?.line ?? "Nothing to compare with."}
                />
                {before && view === "drift" && <DriftPanel version={version} />}
              </div>
            </TabPanel>
          </section>
          {!isNarrow && view !== "gateway" && view !== "drift" && (
            <section aria-label="Tool" class="details beside">
              {details ?? <p class="quiet">Choose a tool to see its schema and everything else that is known of it.</p>}
            </section>
          )}
        </div>
      )}
    </div>
  );
}

function Tool({ place, version }: { place: number; version: number }): JSX.Element {
  const { value, problem } = useAnswer("tools.tool", { place }, version);
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="tool">
      <h3 class="item-title">
        {value.name} <span class="quiet">{value.namespace}</span>
      </h3>
      <p class="small quiet">{value.id}</p>
      <p class="description">{value.description}</p>
      <h4>Arguments</h4>
      <Json label="Schema of the arguments">{value.schema}</Json>
      <details>
        <summary>Whole record, {number(value.record.length)} characters</summary>
        <Json label="Whole record of the tool">{value.record}</Json>
      </details>
    </div>
  );
}
