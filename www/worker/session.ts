// What the tab of a session asks for: the file that was opened, its calls in figures, and the prompt of each.
import { type RecordedConversation, type Recording, readRecording, readerNames } from "contextweaver/recording";
import { TAPE_BUDGETS, TapePlayer, budgetFor, type Tape, type TapeLeft, type TapeMessage } from "contextweaver/tape";
import type { ChatMessage, SessionEvent } from "contextweaver/recording";
import { MAX_CUTS } from "../shared/cut-limit.ts";
import { type Format, InputError, line, masked, partOf, safe, type Part } from "./text.ts";

/** A conversation of a file. */
export interface ConversationView {
  readonly name: string;
  readonly calls: number;
  readonly isSubagent: boolean;
}

/** What the page says of a file. */
export interface SessionView {
  readonly file: string;
  /** Whose file it is, in words; empty where no reader knows it. */
  readonly agent: string;
  readonly conversations: readonly ConversationView[];
  /** The conversation that is shown first, and its calls. */
  readonly chosen: number;
  /** No call of a model is in it, but something that a prompt is made of. */
  readonly isOnePrompt: boolean;
  /** Whether the calls name their model. */
  readonly hasModels: boolean;
  /** The budget that is tried first. */
  readonly budget: number;
  /** Those that are usual. */
  readonly budgets: readonly number[];
  readonly problems: readonly string[];
  readonly problemCount: number;
}

const AGENTS: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  opencode: "OpenCode",
  "mini-swe-agent": "mini-swe-agent",
  openhands: "OpenHands",
  otel: "OpenTelemetry",
  "request-log": "requests",
  contextweaver: "contextweaver",
  "chat-messages": "chat messages",
};

/** What the recogniser knows, in words. */
const formats = (): readonly Format[] => readerNames().map((key) => ({ key, title: AGENTS[key] ?? key }));

/** Problems that are shown. */
const MAX_PROBLEMS = 5;
/** Formats whose items and messages a prompt is made of as they are. */
const AS_THEY_ARE = ["contextweaver", "chat-messages"];

interface Present {
  readonly name: string;
  readonly file: Blob;
  readonly recording: Recording;
}

let present: Present | undefined;
let player: TapePlayer | undefined;
/** Counts what was opened, with the conversation that is shown first. */
let opening = { count: 0, chosen: 0 };

export const opened = (): typeof opening => opening;

/** Opens a file, or says what it is and keeps the one that is there. `as` is the format that was asked for. */
export async function open({
  name,
  file,
  as,
}: {
  readonly name: string;
  readonly file: Blob;
  readonly as?: string | undefined;
}): Promise<SessionView> {
  const recording = await readRecording(chunksOf(file), name, as);
  const isUnknown = recording.agent === undefined;
  // What a prompt is made of, such as a snapshot without a turn, may have no call.
  if (isUnknown || recording.conversations.length === 0)
    throw new InputError(reasonOf(recording), file.size > 0 ? formats() : undefined);
  [present, player] = [{ name, file, recording }, undefined];
  const { agent = "", conversations, problems, problem_count } = recording;
  const chosen = Math.max(
    0,
    conversations.reduce((best, each, at) => (each.calls > (conversations[best]?.calls ?? 0) ? at : best), 0),
  );
  opening = { count: opening.count + 1, chosen };
  return {
    file: safe(name),
    agent: AGENTS[agent] ?? agent,
    conversations: conversations.map(({ session, calls, parent }) => ({
      name: line(session, 60),
      calls,
      isSubagent: parent !== undefined,
    })),
    chosen,
    isOnePrompt: (conversations[chosen]?.calls ?? 0) === 0,
    hasModels: conversations.some(({ events }) =>
      events.some((event) => event.kind === "call" && event.call.model !== undefined),
    ),
    budget: budgetFor(conversation(chosen)),
    budgets: usualBudgets(conversation(chosen)),
    problems: problems
      .slice(0, MAX_PROBLEMS)
      .map(({ line: at, reason }) => safe(at === undefined ? reason : `line ${at}: ${reason}`)),
    problemCount: problem_count,
  };
}

/** Budgets to choose from; of a session of contextweaver its own, too. */
function usualBudgets({ account }: RecordedConversation): readonly number[] {
  return [...new Set([...TAPE_BUDGETS, ...(account ? [account.budget] : [])])].sort((a, b) => a - b);
}

function reasonOf({ otherwise, problems, problem_count: count }: Recording): string {
  const told = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line: at, reason }) => (at === undefined ? reason : `line ${at}: ${reason}`));
  if (count > told.length) told.push(`and ${(count - told.length).toLocaleString("en")} more`);
  return [otherwise ?? "There is no message in it.", ...told].join("\n");
}

/** The bytes of a file as they come; not every browser lets one walk through a stream. */
async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

function conversation(at: number): RecordedConversation {
  const found = present?.recording.conversations[at];
  if (!found) throw new InputError("no session is opened");
  return found;
}

/** A tape for the page: `Tape`, but for the report. */
export type TapeView = Omit<Tape, "report"> & {
  readonly conversation: number;
  /** Whose prices were asked for. */
  readonly prices: string;
};

/** Plays a conversation at a budget. `model` is whose prices are taken where calls name no model; empty for none. */
export function tape({
  conversation: at,
  budget,
  model,
}: {
  readonly conversation: number;
  readonly budget: number;
  readonly model: string;
}): TapeView {
  const { name = "", recording } = present ?? {};
  player = new TapePlayer(conversation(at), {
    file: name,
    agent: recording?.agent ?? "",
    budget,
    model: model === "" ? undefined : model,
  });
  const { report: _, ...view } = player.tape;
  return {
    ...view,
    task: safe(view.task),
    calls: view.calls.map((call) => ({ ...call, model: safe(call.model) })),
    conversation: at,
    prices: model,
  };
}

function played(): TapePlayer {
  if (!player) throw new InputError("no session is opened");
  return player;
}

/** A message of a prompt as the page shows it. */
export interface PieceView {
  /** In the prompt. */
  readonly place: number;
  readonly state: TapeMessage["state"];
  readonly who: string;
  readonly tokens: number;
  readonly line: string;
}

/** What became of something that left. */
export interface LeftView {
  readonly label: string;
  readonly tokens: number;
  readonly before: string;
  /** What stands for it, and how many tokens that takes; null where it is gone. */
  readonly after: string | null;
  readonly afterTokens: number;
  readonly handle: string | null;
  readonly named: string | null;
  readonly back: number | null;
}

/** The prompt of a call. */
export interface CallView {
  readonly number: number;
  readonly pieces: readonly PieceView[];
  readonly left: readonly LeftView[];
  /** Those that are not listed. */
  readonly leftMore: number;
}

const LINE = 180;
const TEXT = 1200;
const MAX_LEFT = 40;

function textOf({ content, tool_calls: calls = [] }: ChatMessage): string {
  const said =
    typeof content === "string" ? content : (content ?? []).map(({ text, type }) => text ?? `[${type}]`).join("\n");
  return [said, ...calls.map(({ function: { name, arguments: given } }) => `${name} ${given}`)]
    .filter((text) => text !== "")
    .join("\n");
}

function whoOf({ role, tool_calls: calls = [] }: ChatMessage): string {
  if (role === "tool") return "result";
  return calls.length > 0 ? `call of ${safe(calls.map(({ function: { name } }) => name).join(", "))}` : role;
}

function headOf(text: string): string {
  const shown = masked(text.slice(0, 4 * TEXT));
  return shown.length > TEXT ? `${shown.slice(0, TEXT).toWellFormed()}…` : shown;
}

function leftView({ before, tokens, call, after, handle, named, back }: TapeLeft): LeftView {
  const label = call ? `${call.name} ${call.arguments}` : `${whoOf(before)}: ${textOf(before)}`;
  return {
    label: line(label, 100),
    tokens,
    before: headOf(textOf(before)),
    after: after ? headOf(textOf(after)) : null,
    afterTokens: after ? Math.round(textOf(after).length / 4) : 0,
    handle: handle === undefined ? null : safe(handle),
    named: named === undefined ? null : line(named, 300),
    back: back ?? null,
  };
}

export function call({ number }: { readonly number: number }): CallView {
  const { messages, left } = played().prompt(number);
  const largest = [...left].sort((a, b) => b.tokens - a.tokens);
  return {
    number,
    pieces: messages.map(({ message, state, tokens }, place) => ({
      place,
      state,
      who: whoOf(message),
      tokens,
      line: line(textOf(message), LINE),
    })),
    left: largest.slice(0, MAX_LEFT).map(leftView),
    leftMore: Math.max(0, left.length - MAX_LEFT),
  };
}

/** The text of a message of a prompt. */
export function text({
  number,
  place,
  part,
}: {
  readonly number: number;
  readonly place: number;
  readonly part: number;
}): Part {
  const found = played().prompt(number).messages[place];
  if (!found) throw new InputError("there is no such message");
  return partOf(masked(textOf(found.message)), part);
}

/** What left at a cut, and where it is now, in counts. */
export interface CutView {
  readonly number: number;
  readonly left: number;
  readonly shortened: number;
  readonly handles: number;
  readonly named: number;
  readonly back: number;
  readonly largest: readonly string[];
}

export function cuts(_: { readonly key: string }): readonly CutView[] {
  const all = played().tape.calls.filter(({ cut }) => cut !== null);
  return all.slice(0, MAX_CUTS).map(({ number }) => {
    const { left } = played().prompt(number);
    const handles = left.filter(({ handle, after }) => handle !== undefined && (!after || isStub(after)));
    return {
      number,
      left: left.length,
      shortened: left.filter(({ after }) => after && !isStub(after)).length,
      handles: handles.length,
      named: left.filter(({ named, handle }) => named !== undefined && handle === undefined).length,
      back: left.filter(({ back }) => back !== undefined).length,
      largest: [...left]
        .sort((a, b) => b.tokens - a.tokens)
        .slice(0, 2)
        .map((each) => leftView(each).label),
    };
  });
}

/** Whether no more than the handle stands there. */
const isStub = (message: ChatMessage): boolean => textOf(message).length < 120 && textOf(message).includes("artifact:");

/** What one prompt is made of: the text of the file where all of it is items or messages, else the conversation as it ended. */
export async function source(
  at: number,
): Promise<
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly messages: readonly ChatMessage[] }
> {
  if (!present) throw new InputError("no session is opened");
  const { name, file, recording } = present;
  const isWhole = recording.problems.every(({ line: at }) => at === undefined);
  if (isWhole && AS_THEY_ARE.includes(recording.agent ?? "") && file.size <= MAX_TEXT)
    return { name, text: await file.text() };
  return { name, messages: ended(conversation(at).events) };
}

/** Bytes of a text that is read as one. */
const MAX_TEXT = 20 * 1024 * 1024;

function ended(events: readonly SessionEvent[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const event of events) {
    if (event.kind === "messages") messages.push(...event.messages);
    else if (event.kind === "back") messages.length = Math.min(messages.length, event.to);
  }
  return messages;
}

export const operations = {
  "session.open": open,
  "session.tape": tape,
  "session.call": call,
  "session.text": text,
  "session.cuts": cuts,
};
