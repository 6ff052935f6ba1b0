// Sessions of Claude Code: one JSON object per line, below `~/.claude/projects`. An answer of the model stands in several lines, one for
// each block, and results may stand between them. Lines name their parents: one whose parent is not the newest goes back to it.
import { toChat, conversionProblem } from "../chat.js";
import type { RecordedUsage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";

/** The model of lines that the agent writes itself. */
const SYNTHETIC = "<synthetic>";

/** An answer whose lines are still coming. */
interface Answer {
  readonly id: string;
  readonly line: number;
  readonly sent_at: number | undefined;
  readonly blocks: unknown[];
  readonly results: unknown[];
  /** Lines of it, and of results between them. */
  readonly uuids: string[];
  usage: Fields;
  readonly model: string | undefined;
  readonly request: string | undefined;
}

/** One conversation of the file: the session's own, or that of a subagent. */
class Thread {
  readonly name: string;
  /** Messages so far. */
  count = 0;
  /** Where the lines stand: how many messages there are with them. */
  places = new Map<string, number>();
  answer: Answer | undefined;
  known = new Set<string>();
  /** When the newest line that is no answer was written. */
  heard: number | undefined;
  isCompacted = false;

  constructor(name: string) {
    this.name = name;
  }
}

export const claudeCode: Reader = {
  name: "claude-code",
  recognise: (first) => first.some(isLine),
  read,
};

function isLine(value: unknown): boolean {
  const { sessionId, uuid, message, type } = fieldsOf(value);
  return (
    typeof sessionId === "string" &&
    (typeof uuid === "string" ? "parentUuid" in fieldsOf(value) : false) &&
    (type !== "user" && type !== "assistant" ? true : typeof message === "object")
  );
}

async function* read({ values }: Source): AsyncGenerator<SessionEvent> {
  const threads = new Map<string, Thread>();
  for await (const { line, value } of values) {
    const entry = fieldsOf(value);
    if (!["user", "assistant", "system", "attachment", "progress"].includes(String(entry["type"]))) continue;
    const { name, parent } = threadOf(entry);
    let thread = threads.get(name);
    if (!thread) {
      thread = new Thread(name);
      threads.set(name, thread);
      yield { kind: "begin", conversation: name, session: String(entry["sessionId"]), parent };
    }
    yield* taken(thread, entry, line);
  }
  for (const thread of threads.values()) {
    yield* flushed(thread);
    yield { kind: "end", conversation: thread.name };
  }
}

/** Lines that were copied from another session keep its id, and are part of the same conversation. */
function threadOf(entry: Fields): { readonly name: string; readonly parent?: string } {
  if (entry["isSidechain"] !== true) return { name: "main" };
  return { name: `subagent ${textOf(entry["agentId"]) ?? ""}`, parent: String(entry["sessionId"]) };
}

function* taken(thread: Thread, entry: Fields, line: number): Generator<SessionEvent> {
  const uuid = textOf(entry["uuid"]) ?? "";
  const message = fieldsOf(entry["message"]);
  const isCut = entry["type"] === "system" && entry["subtype"] === "compact_boundary";
  if (entry["type"] === "assistant") {
    if (message["model"] === SYNTHETIC || entry["isApiErrorMessage"] === true) return;
    yield* answered(thread, entry, message, line);
    return;
  }
  const results =
    entry["type"] === "user"
      ? listOf(message["content"]).filter((block) => fieldsOf(block)["type"] === "tool_result")
      : [];
  const isOwn = results.some((block) =>
    thread.answer?.blocks.some((call) => at(call, "id") === at(block, "tool_use_id")),
  );
  thread.heard = timeOf(entry["timestamp"]) ?? thread.heard;
  if (isOwn && thread.answer) {
    thread.answer.results.push({ role: "user", content: message["content"] });
    thread.answer.uuids.push(uuid);
    return;
  }
  if (entry["type"] !== "user" && !isCut) {
    // Marks and notes of the agent are no messages, but others name them as parents.
    const attached = attachedText(fieldsOf(entry["attachment"]));
    if (thread.answer) {
      thread.answer.uuids.push(uuid);
      if (attached !== undefined) thread.answer.results.push({ role: "user", content: attached });
      return;
    }
    if (attached !== undefined) yield* added(thread, [{ role: "user", content: attached }], line);
    thread.places.set(uuid, thread.count);
    return;
  }
  yield* flushed(thread);
  if (isCut || (entry["isCompactSummary"] === true && !thread.isCompacted)) yield* cut(thread);
  if (isCut) return;
  thread.isCompacted = false;
  yield* wentBack(thread, textOf(entry["parentUuid"]));
  yield* added(thread, [{ role: "user", content: message["content"] }], line);
  thread.places.set(uuid, thread.count);
}

/** The text that is sent of an attachment, such as a file that the user named. */
function attachedText({ content, addedLines }: Fields): string | undefined {
  const file = textOf(at(content, "file", "content"));
  if (file !== undefined) return `${textOf(at(content, "file", "filePath")) ?? ""}\n${file}`;
  return (
    textOf(content) ??
    textOf(
      listOf(addedLines)
        .map((line) => textOf(line) ?? "")
        .join("\n"),
    )
  );
}

function* cut(thread: Thread): Generator<SessionEvent> {
  yield { kind: "back", conversation: thread.name, to: 0, why: "compaction" };
  thread.count = 0;
  thread.places = new Map();
  thread.known = new Set();
  thread.isCompacted = true;
}

/** A line that goes on from an older one leaves out what came after that. */
function* wentBack(thread: Thread, parent: string | undefined): Generator<SessionEvent> {
  const place = parent === undefined ? undefined : thread.places.get(parent);
  if (place === undefined || place >= thread.count) return;
  yield { kind: "back", conversation: thread.name, to: place, why: "edit" };
  thread.count = place;
}

function* answered(thread: Thread, entry: Fields, message: Fields, line: number): Generator<SessionEvent> {
  const id = textOf(message["id"]) ?? textOf(entry["uuid"]) ?? "";
  if (thread.answer?.id !== id) {
    yield* flushed(thread);
    yield* wentBack(thread, textOf(entry["parentUuid"]));
    const sent_at = thread.heard ?? timeOf(entry["timestamp"]);
    const [model, request] = [textOf(message["model"]), textOf(entry["requestId"])];
    thread.answer = { id, line, sent_at, blocks: [], results: [], uuids: [], usage: {}, model, request };
  }
  const { answer } = thread;
  if (!answer) return;
  const { content } = message;
  answer.blocks.push(...(typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)));
  answer.uuids.push(textOf(entry["uuid"]) ?? "");
  // The last line of an answer has its final count.
  answer.usage = fieldsOf(message["usage"]);
}

/** Tells of an answer whose lines are complete, and of the results that came with it. */
function* flushed(thread: Thread): Generator<SessionEvent> {
  const { answer } = thread;
  if (!answer) return;
  thread.answer = undefined;
  const key = answer.request === undefined ? answer.id : `${answer.id} ${answer.request}`;
  yield {
    kind: "call",
    conversation: thread.name,
    call: { at: answer.sent_at, model: answer.model, usage: usageOf(answer.usage), key },
  };
  yield* added(thread, [{ role: "assistant", content: answer.blocks }, ...answer.results], answer.line);
  for (const uuid of answer.uuids) thread.places.set(uuid, thread.count);
}

function* added(thread: Thread, messages: readonly unknown[], line: number): Generator<SessionEvent> {
  try {
    const chat = toChat(messages, "anthropic", thread.known);
    thread.count += chat.length;
    yield { kind: "messages", conversation: thread.name, messages: chat };
  } catch (error) {
    yield { kind: "problem", line, reason: conversionProblem(error) };
  }
}

/** Anthropic counts what is read from the cache and what is written to it beside the rest. */
export function usageOf(usage: Fields): RecordedUsage | undefined {
  const input = countOf(usage["input_tokens"]);
  if (input === undefined) return undefined;
  const [cached, written] = [countOf(usage["cache_read_input_tokens"]), countOf(usage["cache_creation_input_tokens"])];
  const written_hour = countOf(at(usage["cache_creation"], "ephemeral_1h_input_tokens"));
  return {
    input: input + (cached ?? 0) + (written ?? 0),
    cached,
    written,
    written_hour,
    output: countOf(usage["output_tokens"]),
  };
}
