// Sessions of OpenCode: what `opencode export` writes, and the folder `storage` of versions before 1.2, with a file for each session,
// message and part.
import type { ChatMessage, RecordedUsage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import type { Folder } from "./folder.js";

export const opencode: Reader = {
  name: "opencode",
  recognise: (first) =>
    first.some(
      (value) =>
        "id" in fieldsOf(at(value, "info")) &&
        "time" in fieldsOf(at(value, "info")) &&
        Array.isArray(at(value, "messages")),
    ),
  read: readExport,
};

async function* readExport({ values }: Source): AsyncGenerator<SessionEvent> {
  for await (const { value } of values) {
    const { info, messages } = fieldsOf(value);
    yield* sessionEvents(fieldsOf(info), listOf(messages));
  }
}

/** Reads a folder that has `session`, `message` and `part`, a session at a time. */
export async function* readStorage(folder: Folder): AsyncGenerator<SessionEvent> {
  for (const project of folder.namesIn("session")) {
    for (const file of folder.namesIn(`session/${project}`)) {
      const path = `session/${project}/${file}`;
      const info = folder.jsonAt(path);
      if (typeof info === "string") yield { kind: "problem", reason: `${path}: ${info}` };
      else yield* storedSession(folder, info);
    }
  }
}

function* storedSession(folder: Folder, info: Fields): Generator<SessionEvent> {
  const id = String(info["id"]);
  const problems: string[] = [];
  const read = (path: string): Fields => {
    const json = folder.jsonAt(path);
    if (typeof json !== "string") return json;
    problems.push(`${path}: ${json}`);
    return {};
  };
  // Names are in the order in which they were made.
  const messages = folder.namesIn(`message/${id}`).map((file) => {
    const message = read(`message/${id}/${file}`);
    const own = String(message["id"]);
    return { info: message, parts: folder.namesIn(`part/${own}`).map((part) => read(`part/${own}/${part}`)) };
  });
  for (const reason of problems) yield { kind: "problem", reason };
  yield* sessionEvents(info, messages);
}

function* sessionEvents(info: Fields, messages: readonly unknown[]): Generator<SessionEvent> {
  const conversation = String(info["id"]);
  yield { kind: "begin", conversation, session: conversation, parent: textOf(info["parentID"]) };
  let heard: number | undefined;
  for (const message of messages) {
    const own = fieldsOf(at(message, "info"));
    const parts = listOf(at(message, "parts")).map(fieldsOf);
    if (own["role"] === "user") {
      heard = timeOf(at(own["time"], "created")) ?? heard;
      const text = parts.filter(({ type }) => type === "text").map((part) => textOf(part["text"]) ?? "");
      if (text.length > 0)
        yield { kind: "messages", conversation, messages: [{ role: "user", content: text.join("\n") }] };
    } else {
      yield* answer(conversation, own, parts, heard);
      heard = timeOf(at(own["time"], "completed")) ?? heard;
    }
  }
  yield { kind: "end", conversation };
}

/** A message of the model is a step, in older versions several. */
function* answer(
  conversation: string,
  info: Fields,
  parts: readonly Fields[],
  sent_at: number | undefined,
): Generator<SessionEvent> {
  const steps: Fields[][] = [[]];
  for (const part of parts) {
    if (part["type"] === "step-start" && steps.at(-1)?.some(({ type }) => type === "step-finish")) steps.push([]);
    steps.at(-1)?.push(part);
  }
  let time = sent_at ?? timeOf(at(info["time"], "created"));
  for (const [number, step] of steps.entries()) {
    const finish = step.find(({ type }) => type === "step-finish");
    const tokens = finish?.["tokens"] ?? (steps.length === 1 ? info["tokens"] : undefined);
    const model = textOf(info["modelID"]);
    yield {
      kind: "call",
      conversation,
      call: { at: time, model, usage: usageOf(fieldsOf(tokens)), key: `${String(info["id"])} ${number}` },
    };
    // The session goes on from the summary that this step wrote.
    if (info["summary"] === true) yield { kind: "back", conversation, to: 0, why: "compaction" };
    yield { kind: "messages", conversation, messages: messagesOf(step) };
    const ended = step.map((part) => timeOf(at(part, "state", "time", "end"))).filter((end) => end !== undefined);
    time = ended.length > 0 ? Math.max(...ended) : time;
  }
}

function messagesOf(step: readonly Fields[]): readonly ChatMessage[] {
  const text = step
    .filter(({ type }) => type === "text")
    .map((part) => textOf(part["text"]) ?? "")
    .join("\n");
  const tools = step.filter(({ type }) => type === "tool");
  const calls = tools.map((tool) => ({
    id: String(tool["callID"]),
    type: "function" as const,
    function: { name: String(tool["tool"]), arguments: JSON.stringify(at(tool["state"], "input") ?? {}) },
  }));
  const results = tools.map(
    (tool): ChatMessage => ({
      role: "tool",
      tool_call_id: String(tool["callID"]),
      content: textOf(at(tool["state"], "output")) ?? textOf(at(tool["state"], "error")) ?? "",
    }),
  );
  return [
    {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    ...results,
  ];
}

/** OpenCode counts tokens that were read from the cache or written to it beside the others. */
function usageOf(tokens: Fields): RecordedUsage | undefined {
  const rest = countOf(tokens["input"]);
  if (rest === undefined) return undefined;
  const [cached = 0, written = 0] = [countOf(at(tokens["cache"], "read")), countOf(at(tokens["cache"], "write"))];
  const input = rest + cached + written;
  // A step that was aborted has no counts.
  return input === 0
    ? undefined
    : { input, cached, written, output: (countOf(tokens["output"]) ?? 0) + (countOf(tokens["reasoning"]) ?? 0) };
}
