// Trajectories of mini-swe-agent: a document with the messages of chat completions. Models without tools write a command into a block of
// code, and the next message of the user is its output; both are read as a call and its result.
import type { ChatMessage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import { chatUsage } from "./provider-usage.js";

const CONVERSATION = "main";
const COMMAND = /```(?:mswea_bash_command|bash|sh)?\s*\n([\s\S]*?)\n```/;

export const miniSweAgent: Reader = {
  name: "mini-swe-agent",
  recognise: (first, path) =>
    first.some((value) => {
      const { trajectory_format: format, info, messages } = fieldsOf(value);
      if (!Array.isArray(messages)) return false;
      return (
        /^mini-swe-agent/.test(String(format)) ||
        "mini_version" in fieldsOf(info) ||
        (/\.traj(\.json)?$/.test(path) && "model_stats" in fieldsOf(info))
      );
    }),
  read,
};

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  for await (const { value } of values) {
    const { messages, info, instance_id } = fieldsOf(value);
    const model = textOf(at(info, "config", "model", "model_name"));
    yield {
      kind: "begin",
      conversation: CONVERSATION,
      session: textOf(instance_id) ?? path.split(/[\\/]/).at(-1) ?? path,
    };
    let heard: number | undefined;
    let waiting: string | undefined;
    for (const [number, message] of listOf(messages).map(fieldsOf).entries()) {
      const { role, content, extra } = message;
      if (role === "assistant") {
        const response = fieldsOf(at(extra, "response"));
        const call = {
          at: heard,
          model: textOf(response["model"]) ?? model,
          usage: chatUsage(fieldsOf(response["usage"])),
          provider: textOf(response["provider"]),
        };
        yield { kind: "call", conversation: CONVERSATION, call };
      }
      heard =
        timeOf(at(extra, "timestamp")) ??
        timeOf(message["timestamp"]) ??
        timeOf(at(extra, "response", "created")) ??
        heard;
      const chat = messageOf(message, number, waiting);
      waiting = role === "assistant" ? commandId(message, number) : undefined;
      if (chat) yield { kind: "messages", conversation: CONVERSATION, messages: [chat] };
      else if (content !== undefined && role !== "exit")
        yield { kind: "problem", reason: `message ${number} has no role that is known` };
    }
    yield { kind: "end", conversation: CONVERSATION };
  }
}

/** The id of the call that a command in a text stands for. */
function commandId({ content, tool_calls: calls }: Fields, number: number): string | undefined {
  return listOf(calls).length === 0 && COMMAND.test(plain(content)) ? `command_${number}` : undefined;
}

function messageOf(message: Fields, number: number, waiting: string | undefined): ChatMessage | undefined {
  const { role, content, tool_calls: calls, tool_call_id: answers } = message;
  const text = plain(content);
  if (role === "tool") return { role, tool_call_id: String(answers), content: text };
  if (role === "user" && waiting !== undefined) return { role: "tool", tool_call_id: waiting, content: text };
  if (role === "system" || role === "user") return { role, content: text };
  if (role !== "assistant") return undefined;
  if (listOf(calls).length > 0)
    return {
      role,
      content: text === "" ? null : text,
      tool_calls: listOf(calls) as NonNullable<ChatMessage["tool_calls"]>,
    };
  const id = commandId(message, number);
  if (id === undefined) return { role, content: text };
  const command = COMMAND.exec(text)?.[1] ?? "";
  return {
    role,
    content: text.replace(COMMAND, ""),
    tool_calls: [{ id, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } }],
  };
}

function plain(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(fieldsOf(part)["text"]) ?? "")
    .join("\n");
}
