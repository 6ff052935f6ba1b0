// One call: what it repeats, what is new, why it was cut, and the prompt as it was sent.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { Pager, ProblemBox, Text, count, number } from "../shared/parts.tsx";
import type { CallView, LeftView, PieceView, TapeView } from "../worker/session.ts";
import { STATE, type Call, fateText, isAgents, priceText, pricesText, whyText } from "./words.ts";

interface PaneProps {
  readonly tape: TapeView;
  readonly number: number;
  readonly version: string;
  readonly onCall: (number: number) => void;
}

export function CallPane({ tape, number: at, version, onCall }: PaneProps): JSX.Element {
  const { value, problem } = useAnswer("session.call", { number: at }, version);
  const place = tape.calls.findIndex((each) => each.number === at);
  const call = tape.calls[place];
  const shown = value?.number === at ? value : undefined;
  if (!call) return <section class="call-side" aria-label="Call" />;
  return (
    <section class="call-side stack" aria-labelledby="call-title">
      <div class="call-said" id="call">
        <h3 id="call-title" tabIndex={-1}>
          Call {number(at)} of {number(tape.calls.length)}
          {call.cut !== null && (isAgents(call) ? ": begun anew by the agent" : ": a cut")}
        </h3>
        <CallFigures tape={tape} call={call} before={tape.calls[place - 1]} onCall={onCall} />
      </div>
      <ProblemBox problem={problem} />
      <div
        class="sent"
        id="prompt-sent"
        role="region"
        aria-label={`Prompt of call ${number(at)}, as it is sent`}
        tabIndex={0}
        aria-busy={!shown}
      >
        {call.head > 0 && (
          <p class="head-tokens quiet">instructions and tools, {number(call.head)} tokens, before the messages</p>
        )}
        {shown && <Prompt view={shown} onCall={onCall} />}
      </div>
    </section>
  );
}

function CallFigures({
  tape,
  call,
  before,
  onCall,
}: {
  tape: TapeView;
  call: Call;
  before: Call | undefined;
  onCall: (number: number) => void;
}): JSX.Element {
  const {
    repeated,
    fresh,
    rewritten,
    price,
    everything,
    trimmed,
    cut,
    saves,
    extra,
    paid,
    counted,
    expected,
    copied,
    shown,
    isOver,
  } = call;
  const { isMoney } = tape;
  const [ours, whole, trimming] = pricesText([price, everything, trimmed], isMoney);
  const unit = isMoney ? "" : " tokens at full price";
  return (
    <>
      <p id="call-tokens">
        {number(repeated)} repeated · {number(fresh)} new{rewritten > 0 && ` · ${number(rewritten)} rewritten`}
      </p>
      <p id="call-cost">
        costs {ours}
        {unit}; everything {whole}, trimming {trimming}
      </p>
      {cut !== null && !isAgents(call) && (
        <p id="call-cut">
          {saves <= 0
            ? "It saves nothing."
            : extra > 0
              ? `${priceText(extra, isMoney, 4)} dearer than going on, and saves ${priceText(saves, isMoney, 4)} a call: `
              : `It costs nothing more than going on, and saves ${priceText(saves, isMoney, 4)} a call.`}
          {saves > 0 &&
            extra > 0 &&
            (paid === null ? (
              "not paid back within this session."
            ) : (
              <>
                paid back at call{" "}
                <button type="button" class="link" onClick={() => onCall(paid)}>
                  {number(paid)}
                </button>
                .
              </>
            ))}
        </p>
      )}
      {cut !== null && (
        <p class="quiet" id="call-why">
          {whyText(call, before, tape.budget)}
        </p>
      )}
      {counted !== null && expected !== null && (
        <p class="quiet" id="call-counted">
          {counted === expected
            ? `The provider counted ${number(counted)}, as we expected.`
            : `The provider counted ${number(counted)}, we expected ${number(expected)}.`}
        </p>
      )}
      {copied > 0 && (
        <p class="quiet" id="call-copied">
          The answer copies {count(copied, "value")} from results;{" "}
          {shown === copied
            ? "all stood in the prompt."
            : `${number(shown)} stood in the prompt, the others only behind a handle.`}
        </p>
      )}
      {isOver && (
        <p class="quiet">It goes out as recorded: instructions and tools alone take too much of the budget.</p>
      )}
    </>
  );
}

/** A run of messages in one state. */
interface Run {
  readonly state: PieceView["state"];
  readonly pieces: readonly PieceView[];
  readonly tokens: number;
}

function runsOf(pieces: readonly PieceView[]): readonly Run[] {
  const runs: { state: PieceView["state"]; pieces: PieceView[]; tokens: number }[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.state === piece.state) last.pieces.push(piece);
    else runs.push({ state: piece.state, pieces: [piece], tokens: 0 });
    const run = runs.at(-1);
    if (run) run.tokens += piece.tokens;
  }
  return runs;
}

/** Messages of a run that are drawn before somebody asks for more. */
const DRAWN = 40;

function Prompt({ view, onCall }: { view: CallView; onCall: (number: number) => void }): JSX.Element {
  const runs = runsOf(view.pieces);
  const [first, ...rest] = runs;
  const isRepeated = first?.state === "repeated";
  return (
    <>
      {first && isRepeated && <RunOf key={`${view.number} 0`} run={first} number={view.number} isFolded />}
      {view.left.length > 0 && <Left key={`${view.number} left`} view={view} onCall={onCall} />}
      {(isRepeated ? rest : runs).map((run, at) => (
        <RunOf key={`${view.number} ${at + 1}`} run={run} number={view.number} isFolded={run.state === "repeated"} />
      ))}
    </>
  );
}

function RunOf({
  run: { state, pieces, tokens },
  number: at,
  isFolded,
}: {
  run: Run;
  number: number;
  isFolded: boolean;
}): JSX.Element {
  const [isAll, setAll] = useState(false);
  const [isOpen, setOpen] = useState(!isFolded);
  const drawn = isAll ? pieces : pieces.slice(0, DRAWN);
  return (
    <div class={`run ${state}`}>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <b>
            {STATE[state]} {number(tokens)}
          </b>{" "}
          <span class="quiet">
            {count(pieces.length, "message")}
            {isFolded && !isOpen && pieces[0] ? `: ${pieces[0].line}` : ""}
          </span>
        </summary>
        {isOpen && drawn.map((piece) => <Piece key={piece.place} piece={piece} number={at} />)}
        {isOpen && drawn.length < pieces.length && (
          <button type="button" class="link" onClick={() => setAll(true)}>
            Show the other {number(pieces.length - drawn.length)}
          </button>
        )}
      </details>
    </div>
  );
}

/** A message: its beginning, and the whole once it is opened. */
function Piece({ piece: { place, who, tokens, line }, number: at }: { piece: PieceView; number: number }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [part, setPart] = useState(0);
  const { value, problem } = useAnswer("session.text", isOpen ? { number: at, place, part } : null);
  return (
    <details class="piece" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="who">
          {who}, {count(tokens, "token")}
        </span>
        {!isOpen && <span class="line">{line}</span>}
      </summary>
      <ProblemBox problem={problem} />
      {isOpen && value && <Text label={`Text of the ${who}`}>{value.text}</Text>}
      {isOpen && value && <Pager page={value.part} pages={value.parts} onPage={setPart} what="the text" />}
    </details>
  );
}

/** The largest of what left, before somebody asks for all. */
const LEFT_DRAWN = 4;

function Left({ view: { left, leftMore }, onCall }: { view: CallView; onCall: (number: number) => void }): JSX.Element {
  const [isAll, setAll] = useState(false);
  const tokens = left.reduce((sum, each) => sum + each.tokens, 0);
  return (
    <div class="run left" id="left-here">
      <p>
        <b>
          left here: {count(left.length + leftMore, "message")}, {number(tokens)} tokens
          {leftMore > 0 ? " and more" : ""}
        </b>
      </p>
      {(isAll ? left : left.slice(0, LEFT_DRAWN)).map((each, at) => (
        <LeftOne key={at} left={each} onCall={onCall} />
      ))}
      {!isAll && left.length > LEFT_DRAWN && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          Show the other {number(left.length - LEFT_DRAWN)}
        </button>
      )}
      {isAll && leftMore > 0 && <p class="quiet">and {number(leftMore)} smaller ones</p>}
    </div>
  );
}

function LeftOne({ left, onCall }: { left: LeftView; onCall: (number: number) => void }): JSX.Element {
  const { label, tokens, before, after, named, back } = left;
  return (
    <details class="piece">
      <summary>
        <span class="line">{label}</span>
        <span class="who">
          {count(tokens, "token")} → {fateText(left)}
        </span>
      </summary>
      <div class="before-after">
        <div>
          <h4>Before</h4>
          <pre>{before}</pre>
        </div>
        <div>
          <h4>After</h4>
          <pre>{after ?? named ?? "Nothing stands for it."}</pre>
        </div>
      </div>
      {back !== null && (
        <button type="button" class="link" onClick={() => onCall(back)}>
          Go to call {number(back)}, where it came back
        </button>
      )}
    </details>
  );
}
