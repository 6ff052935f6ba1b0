// The page: three tabs, and nothing that computes.
import { render } from "preact";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { ContextTab } from "./context/tab.tsx";
import { McpTab } from "./mcp/tab.tsx";
import { useChoice } from "./shared/address.ts";
import { TabPanel, Tabs } from "./shared/parts.tsx";
import { ToolsTab } from "./tools/tab.tsx";

const TABS = [
  { key: "context", title: "Context" },
  { key: "tools", title: "Tools" },
  { key: "mcp", title: "MCP" },
] as const;
const KEYS = TABS.map(({ key }) => key);

function Page(): JSX.Element {
  const [tab, setTab] = useChoice<(typeof KEYS)[number]>("tab", KEYS, "context");
  // A tab is made when it is first opened, and keeps what was loaded into it.
  const opened = useRef(new Set<string>());
  opened.current.add(tab);
  return (
    <>
      <Tabs label="Parts of the page" id="tab" tabs={TABS} selected={tab} onSelect={setTab} class="top" />
      <TabPanel id="tab" name="context" shown={tab === "context"}>
        {opened.current.has("context") && <ContextTab isActive={tab === "context"} />}
      </TabPanel>
      <TabPanel id="tab" name="tools" shown={tab === "tools"}>
        {opened.current.has("tools") && <ToolsTab isActive={tab === "tools"} />}
      </TabPanel>
      <TabPanel id="tab" name="mcp" shown={tab === "mcp"}>
        {opened.current.has("mcp") && <McpTab isActive={tab === "mcp"} />}
      </TabPanel>
    </>
  );
}

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Page />, place);
}
