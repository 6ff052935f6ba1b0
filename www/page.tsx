// The page: its parts, and nothing that computes.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { ContextTab } from "./context/tab.tsx";
import { DecisionsTab } from "./decisions/tab.tsx";
import { McpTab } from "./mcp/tab.tsx";
import { useChoice } from "./shared/address.ts";
import { TabPanel, Tabs } from "./shared/parts.tsx";
import { ToolsTab } from "./tools/tab.tsx";

interface Part {
  readonly key: string;
  readonly title: string;
  readonly Content: (props: { readonly isActive: boolean }) => JSX.Element;
}

const PARTS = [
  { key: "context", title: "Context", Content: ContextTab },
  { key: "tools", title: "Tools", Content: ToolsTab },
  { key: "mcp", title: "MCP", Content: McpTab },
  { key: "decisions", title: "Decisions", Content: DecisionsTab },
] as const satisfies readonly Part[];
const KEYS = PARTS.map(({ key }) => key);

export function Page(): JSX.Element {
  const [tab, setTab] = useChoice<(typeof KEYS)[number]>("tab", KEYS, "context");
  // A part is made when it is first opened, and keeps what was loaded into it.
  const opened = useRef(new Set<string>());
  opened.current.add(tab);
  return (
    <>
      <header class="masthead">
        <h1>contextweaver</h1>
        <p class="tagline">What enters the prompt of an agent, what stays out, and why. Computed here: what you load never leaves this page.</p>
        <Tabs label="Parts of the page" id="tab" tabs={PARTS} selected={tab} onSelect={setTab} class="top" />
      </header>
      <main id="page" tabIndex={-1}>
        {PARTS.map(({ key, title, Content }) => (
          <TabPanel key={key} id="tab" name={key} shown={tab === key}>
            {/* The first part has its own: the sentence that it begins with. */}
            {key !== "context" && <h2 class="unseen">{title}</h2>}
            {opened.current.has(key) && <Content isActive={tab === key} />}
          </TabPanel>
        ))}
      </main>
    </>
  );
}
