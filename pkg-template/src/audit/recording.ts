// A file of recorded sessions in memory: its conversations as events, or what the file is where it has none.
import type { SessionAccount, SessionEvent } from "./events.js";
import { fieldsOf } from "../boundary/fields.js";
import { READERS, recognised } from "./readers/index.js";
import { valuesOf } from "./values.js";

export type { ChatMessage, SessionAccount, SessionEvent } from "./events.js";

/** A conversation as it was recorded. */
export interface RecordedConversation {
  readonly session: string;
  /** The session whose subagent it is. */
  readonly parent: string | undefined;
  /** What it counted while it ran, of a session of contextweaver. */
  readonly account: SessionAccount | undefined;
  /** What happened, from its beginning on. */
  readonly events: readonly SessionEvent[];
  /** Calls of models, but for those that wrote a summary of it. */
  readonly calls: number;
}

/** What could not be read. */
export interface RecordingProblem {
  readonly line?: number | undefined;
  readonly reason: string;
}

/** A file that was read. */
export interface Recording {
  /** The reader; undefined of a file that none knows. */
  readonly agent: string | undefined;
  /** In the order in which they begin. */
  readonly conversations: readonly RecordedConversation[];
  readonly problems: readonly RecordingProblem[];
  readonly problem_count: number;
  /** What the file is, in a sentence, where no reader knows it. */
  readonly otherwise: string | undefined;
}

/** Problems that are kept. */
const MAX_PROBLEMS = 100;
/** Objects of a list whose names of fields are told, and how many names. */
const LOOKED_AT = 64;
const FIELDS = 6;

/** What is read, for whoever brought something else. */
export const WHAT_IS_READ =
  "sessions of Claude Code, Codex, OpenCode, Gemini CLI, mini-swe-agent and OpenHands, logs of requests to OpenAI, Anthropic and Gemini, spans of OpenTelemetry, chat messages, and sessions and snapshots of contextweaver";

/** The readers by name, as `readRecording` takes them. Not a constant: a bundle that reads nothing would carry them. */
export const readerNames = (): readonly string[] => READERS.map(({ name }) => name);

/** Reads a file. `as` names the reader where its first values do not tell. */
export async function readRecording(chunks: AsyncIterable<Uint8Array>, name: string, as?: string): Promise<Recording> {
  const problems: RecordingProblem[] = [];
  let problem_count = 0;
  let bytes = 0;
  const problem = (line: number | undefined, reason: string): void => {
    problem_count += 1;
    if (problems.length < MAX_PROBLEMS) problems.push({ ...(line !== undefined && { line }), reason });
  };
  const values = valuesOf(chunks, {
    problem,
    bytes: (count) => {
      bytes += count;
    },
    held: () => undefined,
  });
  const { reader, first, source } = await recognised(values, name, as);
  if (!reader)
    return {
      agent: undefined,
      conversations: [],
      problems,
      problem_count,
      otherwise: otherwise(
        bytes,
        first.map(({ value }) => value),
        problem_count,
      ),
    };
  const open = new Map<
    string,
    {
      session: string;
      parent: string | undefined;
      account: SessionAccount | undefined;
      events: SessionEvent[];
      calls: number;
    }
  >();
  const conversations: RecordedConversation[] = [];
  for await (const event of reader.read(source)) {
    if (event.kind === "problem") {
      problem(event.line, event.reason);
      continue;
    }
    if (event.kind === "begin") {
      const begun = { session: event.session, parent: event.parent, account: event.account, events: [], calls: 0 };
      open.set(event.conversation, begun);
      conversations.push(begun);
      continue;
    }
    const conversation = open.get(event.conversation);
    if (!conversation) continue;
    conversation.events.push(event);
    if (event.kind === "call" && event.call.isSummary !== true) conversation.calls += 1;
  }
  return {
    agent: reader.name,
    conversations: conversations.filter(({ events }) => events.some(({ kind }) => kind === "messages")),
    problems,
    problem_count,
    otherwise: undefined,
  };
}

/** Says what a file is that no reader knows. Nothing of its values is told, as they may hold secrets. */
function otherwise(bytes: number, first: readonly unknown[], problems: number): string {
  if (bytes === 0) return `It is empty; we read ${WHAT_IS_READ}.`;
  if (first.length === 0 && problems === 0) return `There is nothing but blank lines in it; we read ${WHAT_IS_READ}.`;
  if (first.length === 0) return `This is no JSON; we read ${WHAT_IS_READ}.`;
  return `This is ${kindOf(first)}; we read ${WHAT_IS_READ}.`;
}

/** Fields that objects have, each once. */
function namesOf(objects: readonly unknown[]): readonly string[] {
  const keys = objects.flatMap((one) => Object.keys(fieldsOf(one)));
  return [...new Set(keys.map((key) => key.replace(/[^\w $.-]/g, "").slice(0, 40)))].filter((key) => key !== "");
}

const SERVER: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["openapi"], "a description of an API (OpenAPI)"],
  [["log", "creator"], "a log of a browser (HAR)"],
  [["traceEvents"], "a trace of a browser"],
  [["resourceLogs"], "a log of OpenTelemetry without spans of models"],
  [["resourceMetrics"], "metrics of OpenTelemetry"],
  [["tools"], "a list of tools"],
  [["peak_characters", "strategies"], "a report of `contextweaver audit`: open the session files that it names"],
  [["level", "msg"], "a log of a server"],
  [["level", "message"], "a log of a server"],
  [["method", "status"], "a log of a server"],
];

function kindOf(first: readonly unknown[]): string {
  const one = first.length === 1;
  const value = first[0];
  const list = one && Array.isArray(value) ? (value as unknown[]) : first;
  const fields = namesOf(list.slice(0, 1));
  const known = SERVER.find(([keys]) =>
    keys.every((key) => fields.includes(key) || key in fieldsOf(fieldsOf(value)["log"])),
  );
  if (known) return known[1];
  if (fields.length === 0)
    return one && Array.isArray(value)
      ? `a list of ${list.length === 0 ? "nothing" : `${typeof list[0]}s`}`
      : `JSON of ${typeof value}s`;
  const named = namesOf(list.slice(0, LOOKED_AT))
    .slice(0, FIELDS)
    .map((key) => `\`${key}\``)
    .join(", ");
  return one && !Array.isArray(value)
    ? `a document with the fields ${named}`
    : `a list of objects with the fields ${named}`;
}
