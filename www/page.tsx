// The page: its parts, and nothing that computes.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { ContextTab } from "./context/tab.tsx";
import { DecisionsTab } from "./decisions/tab.tsx";
import { McpTab } from "./mcp/tab.tsx";
import { SessionTab } from "./session/tab.tsx";
import { useChoice } from "./shared/address.ts";
import { useProgress } from "./shared/ask.ts";
import { count, number } from "./shared/parts.tsx";
import { useSession, type Opened } from "./shared/session.ts";
import { Sources } from "./shared/sources.tsx";
import { ToolsTab } from "./tools/tab.tsx";

const SESSION = [
  { key: "session", title: "Session" },
  { key: "context", title: "One prompt" },
] as const;
const MORE = [
  { key: "tools", title: "Tools", Content: ToolsTab },
  { key: "mcp", title: "MCP", Content: McpTab },
  { key: "decisions", title: "Decisions", Content: DecisionsTab },
] as const;
const KEYS = [...SESSION, ...MORE].map(({ key }) => key);
type Key = (typeof KEYS)[number];

const SAMPLES = [{ key: "shop", title: "Recorded session: a failing checkout" }] as const;

export function Page(): JSX.Element {
  const [tab, setTab] = useChoice<Key>("tab", KEYS, "session");
  const opened = useSession();
  const { session, sample, version } = opened;
  // A part is made when it is first opened, and keeps what was loaded into it.
  const seen = useRef(new Set<string>());
  seen.current.add(tab);
  const isSession = tab === "session" || tab === "context";
  const isMore = !isSession;
  // Without calls there is one prompt to show.
  const shown = tab === "session" && session?.isOnePrompt ? "context" : tab;
  seen.current.add(shown);
  return (
    <>
      <header class="masthead">
        <h1>contextweaver</h1>
        <p class="file" id="context-status" role="status">
          {statusOf(opened)}
        </p>
        <nav aria-label="Parts of the page" class="top">
          {SESSION.map(({ key, title }) => (
            <TabButton key={key} name={key} title={title} selected={shown} onSelect={setTab} />
          ))}
          <details class="more" id="more" open={isMore}>
            <summary>More</summary>
            <div class="more-parts">
              {MORE.map(({ key, title }) => (
                <TabButton key={key} name={key} title={title} selected={tab} onSelect={setTab} />
              ))}
            </div>
          </details>
        </nav>
      </header>
      <main id="page" tabIndex={-1}>
        <div hidden={!isSession}>
          <Sources
            id="context"
            isActive={isSession}
            samples={SAMPLES}
            sample={sample}
            onSample={opened.onSample}
            onFile={opened.onFile}
            brought={opened.brought}
            isLost={opened.isLost}
            accepts="A session of Claude Code, Codex, OpenCode, Gemini CLI, mini-swe-agent or OpenHands, a log of requests, chat messages, or a session or snapshot of contextweaver"
            status=""
          />
          {session && session.problemCount > 0 && (
            <details class="warnings" id="session-problems">
              <summary>{count(session.problemCount, "note")} about what was read</summary>
              <ul>
                {session.problems.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            </details>
          )}
          <Loading />
        </div>
        <section id="panel-session" aria-label="Session" hidden={shown !== "session"}>
          {session ? (
            !session.isOnePrompt &&
            seen.current.has("session") && (
              <SessionTab key={version} session={session} isSample={sample !== ""} version={version} />
            )
          ) : (
            <h2 class="headline">What a session repeats, what is new, and what it costs</h2>
          )}
        </section>
        <section id="panel-context" aria-label="One prompt" hidden={shown !== "context"}>
          {session && seen.current.has("context") && (
            <ContextTab session={session} isSample={sample !== ""} version={version} />
          )}
        </section>
        {MORE.map(({ key, title, Content }) => (
          <div key={key} id={`panel-${key}`} hidden={tab !== key}>
            <h2 class="unseen">{title}</h2>
            {seen.current.has(key) && <Content isActive={tab === key} />}
          </div>
        ))}
      </main>
    </>
  );
}

function TabButton({
  name,
  title,
  selected,
  onSelect,
}: {
  name: Key;
  title: string;
  selected: Key;
  onSelect: (key: Key) => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class="part"
      id={`tab-tab-${name}`}
      aria-current={name === selected ? "page" : undefined}
      onClick={() => onSelect(name)}
    >
      {title}
    </button>
  );
}

/** What is open, in a line. */
function statusOf({ session, sample }: Opened): string {
  if (!session) return "";
  const { file, agent, conversations, chosen } = session;
  const calls = conversations[chosen]?.calls ?? 0;
  const of = agent === "" || agent === "contextweaver" ? "" : `, ${agent}`;
  const several = conversations.length > 1 ? ` in the longest of ${number(conversations.length)} conversations` : "";
  return `${sample === "" ? "" : "Recorded session "}${file}${of} · ${count(calls, "call")}${several}`;
}

/** Says how much of the engine has come, while it does. */
function Loading(): JSX.Element | null {
  const progress = useProgress();
  if (!progress) return null;
  return (
    <p class="loading quiet" role="status">
      <label>
        Loading the engine <progress value={progress.loaded} max={progress.total} />
      </label>
    </p>
  );
}
