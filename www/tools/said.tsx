// What was said before the query: how it is given, and what the router completed the query to with it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAddress } from "../shared/address.ts";
import { Failure, ask, useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, kindName, swatch } from "../shared/parts.tsx";
import type { Problem } from "../worker/text.ts";
import type { Said } from "../worker/turns.ts";

/** Out of the recorded session shop.jsonl. */
const STAGED = `user: Fine. What does the working tree look like, is everything ready to commit?
call: git_status
agent: Three modified files, nothing staged, nothing untracked. Ready for a commit on main.`;
const DIMMERS = `user: Marketing asks for the variants of the dimmers. Have a look into the catalogue export, stock and supplier would be nice.
agent: I read the catalogue export.
call: read_text_file
agent: Both dimmers, DIM-7001 and DIM-7002, come in five finishes each. The rows with stock per warehouse and supplier are in data/products.csv; of 70 variants ten are dimmers.`;
const EXAMPLES = [
  { query: "yes, do it", said: STAGED },
  { query: "and for the lamps?", said: DIMMERS },
  { query: "no, thanks", said: STAGED },
] as const;

/** Turns out of the transcript of the other tab: kept for as long as the page is open, as the transcript is. */
export interface Taken {
  readonly text: string;
  /** The turn that they were chosen by; nothing once they were changed. */
  readonly label: string | null;
}

/** The turns as they are written, and what changes them. */
export interface SaidState {
  readonly text: string;
  readonly taken: Taken | null;
  /** Changes what is there. */
  readonly write: (text: string) => void;
  /** Puts something else there. */
  readonly put: (text: string) => void;
  readonly take: (taken: Taken) => void;
}

/** What somebody writes is in the address, as the query is; what a transcript holds is not. */
export function useSaid(): SaidState {
  const [typed, setTyped] = useAddress("said", "");
  const [taken, setTaken] = useState<Taken | null>(null);
  const put = (text: string): void => {
    setTaken(null);
    setTyped(text);
  };
  return {
    text: taken?.text ?? typed,
    taken,
    write: (text) => (taken === null || text === "" ? put(text) : setTaken({ text, label: null })),
    put,
    take: (next) => {
      setTyped("");
      setTaken(next);
    },
  };
}

interface FieldsProps {
  readonly said: SaidState;
  readonly onQuery: (query: string) => void;
  /** How many turns there are, where that is known. */
  readonly turns: number | undefined;
  readonly isActive: boolean;
}

export function SaidFields({
  said: { text, taken, write, put, take },
  onQuery,
  turns,
  isActive,
}: FieldsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="controls">
      <details id="said-before" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          Said before{text.trim() === "" ? ": nothing" : turns === undefined ? "" : `: ${count(turns, "turn")}`}
        </summary>
        <div class="stack">
          <label for="said" class="small">
            One turn a line: <code>user:</code>, <code>agent:</code>, <code>call:</code> and the name of the tool,{" "}
            <code>waiting call:</code> when it has no result yet
          </label>
          <textarea
            id="said"
            rows={6}
            maxlength={24_000}
            spellcheck={false}
            autocomplete="off"
            placeholder={"user: What is new in the repo?\nagent: Three files have changed. Shall I commit them?"}
            value={text}
            onInput={({ currentTarget }) => write(currentTarget.value.toWellFormed())}
          />
          {isOpen && <Transcript taken={taken} onTake={take} isActive={isActive} />}
        </div>
      </details>
      <span id="said-examples" class="small quiet">
        Try a follow-up:
      </span>
      <span class="flat" role="group" aria-labelledby="said-examples">
        {EXAMPLES.map((example) => (
          <button
            key={example.query}
            type="button"
            onClick={() => {
              put(example.said);
              onQuery(example.query);
            }}
          >
            {example.query}
          </button>
        ))}
      </span>
    </div>
  );
}

interface TranscriptProps {
  readonly taken: Taken | null;
  readonly onTake: (taken: Taken) => void;
  readonly isActive: boolean;
}

/** Takes the turns of the session that is open. */
function Transcript({ taken, onTake, isActive }: TranscriptProps): JSX.Element {
  const { value, problem } = useAnswer("context.turns", isActive ? {} : null);
  const [failed, setFailed] = useState<Problem>();
  const chosen = value?.find(({ label }) => label === taken?.label);
  const take = async (place: number): Promise<void> => {
    try {
      onTake({
        text: await ask("context.said", { place }),
        label: value?.find((turn) => turn.place === place)?.label ?? null,
      });
      setFailed(undefined);
    } catch (error) {
      setFailed(error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" });
    }
  };
  // There is none to be asked about.
  if (problem?.code === "INPUT")
    return <p class="small quiet">The turns of a session of yours can be taken, too: open it under Session.</p>;
  if (value?.length === 0) return <p class="small quiet">The session that is open has no turn of a user.</p>;
  return (
    <>
      <label class="block">
        Or take them from the session that is open, with what followed the turn
        <select
          id="said-turn"
          value={chosen?.place ?? ""}
          onChange={({ currentTarget: { value: place } }) => place !== "" && void take(Number(place))}
        >
          <option value="">choose a turn</option>
          {value?.map((turn) => (
            <option key={turn.place} value={turn.place}>
              {turn.label}
            </option>
          ))}
        </select>
      </label>
      <ProblemBox problem={failed ?? problem} />
    </>
  );
}

/** Turns that are shown whether or not the query was completed from them: the last ones. */
const SHOWN = 4;

/** What became of the query because of the turns before it, or why nothing did. */
export function Completion({ said, noMatch }: { said: Said; noMatch: boolean }): JSX.Element {
  const { turns, completion } = said;
  const shown = turns.filter(({ isUsed }, at) => isUsed || at >= turns.length - SHOWN);
  const hidden = turns.length - shown.length;
  return (
    <section class="card completion" aria-label="What was said before the query">
      <p id="completion" role="status">
        <Sentence said={said} noMatch={noMatch} />
      </p>
      {completion && <blockquote id="completed">{completion.query}</blockquote>}
      <ol class="turns small" aria-label="Turns before the query">
        {hidden > 0 && <li class="quiet">{count(hidden, "turn")} not shown</li>}
        {shown.map(({ kind, text, isOpen, isUsed }, at) => (
          <li key={at} class={isUsed ? "used" : ""}>
            <span class={`kind ${swatch(kind)}`}>{kindName(kind)}</span>
            <span>
              {kind === "tool_call" ? <code>{text}</code> : text} {isOpen && <span class="badge warning">waits</span>}{" "}
              {isUsed && <span class="badge info">completed from this</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Sentence({ said: { query, turns, completion }, noMatch }: { said: Said; noMatch: boolean }): JSX.Element {
  if (completion) {
    const isCall = turns.some(({ isUsed, isOpen }) => isUsed && isOpen);
    const agrees = isCall ? "agrees to a call that waits" : "agrees to what the agent proposed";
    return (
      <>
        “{query}” does not stand on its own: it{" "}
        {completion.reason === "agreement" ? agrees : "asks for the same again, or of something else"}. <b>Completed</b>{" "}
        from what was said before, it reads:
      </>
    );
  }
  if (!noMatch) return <>The query finds tools by itself: with or without these turns, the result is the same.</>;
  return (
    <>
      <b>Nothing is completed, so nothing is returned.</b> A query is completed when it agrees to what the agent
      proposed or to a call that waits, or when it asks for the same again or of something else. This one does not, or
      what it goes on with leads to no tool.
    </>
  );
}
