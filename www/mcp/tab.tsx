// The tab of the protocol: what a tool, a result and a context become on the way in and out.
import type { JSX } from "preact";
import { useChoice } from "../shared/address.ts";
import { TabPanel, Tabs } from "../shared/parts.tsx";
import { MetaPanel } from "./meta.tsx";
import { ResultPanel } from "./result.tsx";
import { ToolPanel } from "./tool.tsx";

const VIEWS = [
  { key: "result", title: "Result" },
  { key: "tool", title: "Tool" },
  { key: "meta", title: "_meta" },
] as const;
const VIEW_KEYS = VIEWS.map(({ key }) => key);

export function McpTab({ isActive }: { isActive: boolean }): JSX.Element {
  const [view, setView] = useChoice("mview", VIEW_KEYS, "result");
  return (
    <div class="stack">
      <Tabs label="Records of the protocol" id="mview" tabs={VIEWS} selected={view} onSelect={setView} />
      <TabPanel id="mview" name="result" shown={view === "result"}>
        <ResultPanel isActive={isActive && view === "result"} />
      </TabPanel>
      <TabPanel id="mview" name="tool" shown={view === "tool"}>
        <ToolPanel isActive={isActive && view === "tool"} />
      </TabPanel>
      <TabPanel id="mview" name="meta" shown={view === "meta"}>
        <MetaPanel />
      </TabPanel>
    </div>
  );
}
