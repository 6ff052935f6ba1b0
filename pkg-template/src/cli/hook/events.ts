// What agents tell a hook after a tool has run, and how a hook puts another text in the place of the result.

import { fieldsOf } from "../../boundary/fields.js";
import type { Fields } from "../../boundary/fields.js";

/** A result of a tool, as an agent tells of it. */
export interface ToolEvent {
  readonly tool: string;
  readonly input: unknown;
  readonly text: string;
  /** A file that has the whole of a text that the agent has cut off. */
  readonly file?: string;
  /** What the agent is answered so that its model sees another text. */
  readonly answer: (text: string) => object;
}

/** How an agent speaks with its hooks. */
export interface HookedAgent {
  /** What its model calls the tool that reads on. */
  readonly drilldown: string;
  /** Variables that name the project, beside `cwd` of the event. */
  readonly project?: string;
  /** Reads an event; undefined where nothing of it can be replaced. */
  read(event: Fields): ToolEvent | undefined;
}

/** A part of a result that is a text, and the result with another text there. */
interface Slot {
  readonly text: string;
  readonly file?: string;
  /** Whether images or other blocks stand beside it. */
  readonly hasOthers?: boolean;
  readonly put: (text: string) => unknown;
}

/** A text, or the blocks of a list that are texts. Other blocks stay. */
function slotOf(value: unknown): Slot | undefined {
  if (typeof value === "string") return { text: value, put: (text) => text };
  if (!Array.isArray(value)) return undefined;
  const isText = (block: unknown): boolean => typeof fieldsOf(block)["text"] === "string";
  const texts = value.filter(isText) as readonly Fields[];
  if (texts.length === 0) return undefined;
  return {
    text: texts.map((block) => block["text"]).join("\n"),
    hasOthers: texts.length < value.length,
    put: (text) => [{ ...texts[0], text }, ...value.filter((block) => !isText(block))],
  };
}

/** The same of a field further down. */
function slotAt(value: unknown, [name, ...rest]: readonly string[]): Slot | undefined {
  if (name === undefined) return slotOf(value);
  const slot = slotAt(fieldsOf(value)[name], rest);
  return slot && { ...slot, put: (text) => ({ ...fieldsOf(value), [name]: slot.put(text) }) };
}

/** The same for an agent that puts a text in the place of the whole result: one with other blocks stays. */
function textAlone(slot: Slot | undefined): Slot | undefined {
  return slot?.hasOthers === true ? undefined : slot;
}

/** Where the tools of Claude Code have what its model reads. Its other tools answer in a line, or with what stands in a file anyway. */
const CLAUDE_CODE: Readonly<Record<string, readonly string[]>> = {
  Bash: ["stdout"],
  Read: ["file", "content"],
  Grep: ["content"],
  WebFetch: ["result"],
  Task: ["content"],
  Agent: ["content"],
};
/** Where it has stored an output that it cuts off: shown in place of the text, if it stays. */
const PERSISTED = ["persistedOutputPath", "persistedOutputSize"];
/** Lines of a file are numbered as they are shown. */
const NUMBERED = "(Excerpts of the file: the line numbers here count what is shown, not the file.)";

function claudeCodeSlot(tool: string, response: unknown): Slot | undefined {
  if (tool.startsWith("mcp__")) return slotOf(response) ?? slotAt(response, ["content"]);
  const path = CLAUDE_CODE[tool];
  if (!path || fieldsOf(response)["isImage"] === true) return undefined;
  const slot = slotAt(response, path);
  if (!slot || tool === "Bash") return slot && bashSlot(slot, fieldsOf(response)[PERSISTED[0] as string]);
  return tool === "Read" ? { text: slot.text, put: (text) => slot.put(`${NUMBERED}\n${text}`) } : slot;
}

function bashSlot({ text, put }: Slot, file: unknown): Slot {
  return { text, ...(typeof file === "string" && { file }), put: (other) => without(put(other), PERSISTED) };
}

function without(value: unknown, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fieldsOf(value)).filter(([name]) => !names.includes(name)));
}

/** Tells whether a tool is one of ours: what it answers was asked for. */
function isOwn(tool: string): boolean {
  return /(?:^|_)contextweaver_{1,2}(?:drilldown|recall)$/.test(tool);
}

/** Makes an event of what agents call alike. */
function eventOf(
  { tool_name, tool_input }: Fields,
  slot: Slot | undefined,
  answer: (slot: Slot, text: string) => object,
): ToolEvent | undefined {
  const tool = String(tool_name ?? "");
  if (!slot || isOwn(tool)) return undefined;
  const { text, file } = slot;
  return {
    tool,
    input: tool_input ?? {},
    text,
    ...(file !== undefined && { file }),
    answer: (other) => answer(slot, other),
  };
}

/** Agents by the name that `hook` and `install` take. */
export const AGENTS: Readonly<Record<string, HookedAgent>> = {
  "claude-code": {
    drilldown: "mcp__contextweaver__drilldown",
    project: "CLAUDE_PROJECT_DIR",
    read: (event) =>
      eventOf(event, claudeCodeSlot(String(event["tool_name"]), event["tool_response"]), (slot, text) => ({
        hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: slot.put(text) },
      })),
  },
  "gemini-cli": {
    drilldown: "mcp_contextweaver_drilldown",
    project: "GEMINI_PROJECT_DIR",
    // Its word for another text in place of a result is that the result was denied.
    read: (event) =>
      eventOf(event, textAlone(slotAt(event["tool_response"], ["llmContent"])), (_, text) => ({
        decision: "deny",
        reason: `(The tool ${fieldsOf(event["tool_response"])["error"] == null ? "succeeded" : "failed"}; its result was shortened.)\n${text}`,
      })),
  },
  codex: {
    drilldown: "mcp__contextweaver__drilldown",
    read: (event) =>
      eventOf(
        event,
        textAlone(slotOf(event["tool_response"]) ?? slotAt(event["tool_response"], ["content"])),
        (_, text) => ({ decision: "block", reason: text }),
      ),
  },
  // Its plugin is ours, and so is what it sends.
  opencode: {
    drilldown: "contextweaver_drilldown",
    read: (event) => {
      const { tool_response, tool_file } = event;
      const slot = slotOf(tool_response);
      return eventOf(
        event,
        slot && { ...slot, ...(typeof tool_file === "string" && { file: tool_file }) },
        ({ put }, text) => ({ output: put(text) }),
      );
    },
  },
};
