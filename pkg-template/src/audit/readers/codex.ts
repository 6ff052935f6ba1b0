// Sessions of Codex: `rollout-*.jsonl` below `~/.codex/sessions`. Items are those of OpenAI's Responses. What a call cost comes behind the
// items of its answer, in newer versions behind the results of its calls too.
import { toChat, conversionProblem } from "../chat.js";
import type { RecordedUsage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";

const CONVERSATION = "main";
/** Items that a model writes. */
const WRITTEN = [
  "reasoning",
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "web_search_call",
  "tool_search_call",
];
const OUTPUTS = ["function_call_output", "custom_tool_call_output", "tool_search_output"];
const ITEMS = ["message", ...WRITTEN, ...OUTPUTS];

/** An answer of the model with the results of its calls. */
interface Answer {
  readonly line: number;
  readonly sent_at: number | undefined;
  readonly items: Fields[];
  hasOutput: boolean;
  /** It is the summary that the session goes on from. */
  readonly isSummary: boolean;
  usage?: Fields;
  key?: string;
}

export const codex: Reader = {
  name: "codex",
  recognise: (first, path) =>
    first.some((value) => at(value, "type") === "session_meta") ||
    (/rollout-[^/\\]*\.jsonl$/.test(path) && first.some((value) => itemOf(fieldsOf(value)) !== undefined)),
  read,
};

/** The item of a line; older versions write it without anything around it. */
function itemOf(entry: Fields): Fields | undefined {
  const item = entry["type"] === "response_item" ? fieldsOf(entry["payload"]) : entry;
  return ITEMS.includes(String(item["type"])) ? item : undefined;
}

async function* read({ values }: Source): AsyncGenerator<SessionEvent> {
  const session = new CodexSession();
  for await (const { line, value } of values) yield* session.take(fieldsOf(value), line);
  yield* session.end();
}

class CodexSession {
  #isBegun = false;
  #model: string | undefined;
  #answer: Answer | undefined;
  #known = new Set<string>();
  #count = 0;
  /** Messages before each of the user's turns. */
  #turns: number[] = [];
  #heard: number | undefined;
  /** The newest count of tokens, which is told again with every change of limits. */
  #total: string | undefined;

  *take(entry: Fields, line: number): Generator<SessionEvent> {
    const payload = fieldsOf(entry["payload"]);
    const time = timeOf(entry["timestamp"]);
    if (!this.#isBegun) yield* this.#begin(entry["type"] === "session_meta" ? payload : entry);
    switch (entry["type"]) {
      case "turn_context":
        this.#model = textOf(payload["model"]) ?? this.#model;
        return;
      case "token_usage_record":
        this.#counted(fieldsOf(payload["usage"]), textOf(payload["response_id"]));
        return;
      case "event_msg":
        yield* this.#event(payload, time);
        return;
      case "compacted":
        yield* this.#compacted(payload, line);
        return;
    }
    const item = itemOf(entry);
    if (item) yield* this.#item(item, time, line, at(entry["metadata"], "compaction_output") === true);
  }

  *end(): Generator<SessionEvent> {
    if (!this.#isBegun) return;
    yield* this.#flush();
    yield { kind: "end", conversation: CONVERSATION };
  }

  *#begin(meta: Fields): Generator<SessionEvent> {
    this.#isBegun = true;
    const isSubagent = meta["thread_source"] === "subagent" || "subagent" in fieldsOf(meta["source"]);
    const parent = isSubagent
      ? (textOf(meta["forked_from_id"]) ??
        textOf(at(meta["source"], "subagent", "thread_spawn", "parent_thread_id")) ??
        "another session")
      : undefined;
    yield { kind: "begin", conversation: CONVERSATION, session: String(meta["id"] ?? "codex"), parent };
    const instructions = textOf(at(meta["base_instructions"], "text")) ?? textOf(meta["instructions"]);
    if (instructions !== undefined) yield { kind: "head", conversation: CONVERSATION, instructions };
  }

  *#event(payload: Fields, time: number | undefined): Generator<SessionEvent> {
    if (payload["type"] === "token_count") {
      const usage = fieldsOf(at(payload["info"], "last_token_usage"));
      const total = JSON.stringify(at(payload["info"], "total_token_usage") ?? null);
      if (total === this.#total || total === "null") return;
      this.#total = total;
      // A copy in a session that was forked has the time and the sum of the first.
      if (this.#answer?.usage === undefined) this.#counted(usage, `${time ?? ""} ${total}`);
    } else if (payload["type"] === "thread_rolled_back") {
      yield* this.#flush();
      const turns = countOf(payload["num_turns"]) ?? 0;
      const to = this.#turns.splice(Math.max(0, this.#turns.length - turns))[0];
      if (turns > 0 && to !== undefined) yield* this.#back(to, "edit");
    }
  }

  #counted(usage: Fields, key: string | undefined): void {
    if (!this.#answer) return;
    this.#answer.usage = usage;
    if (key !== undefined) this.#answer.key = key;
  }

  *#item(item: Fields, time: number | undefined, line: number, isSummary: boolean): Generator<SessionEvent> {
    const type = String(item["type"]);
    const isWritten = WRITTEN.includes(type) || (type === "message" && item["role"] === "assistant");
    if (isWritten) {
      // The next answer begins once there are results, or the one before was counted.
      if (this.#answer && (this.#answer.hasOutput || this.#answer.usage)) yield* this.#flush();
      this.#answer ??= { line, sent_at: this.#heard ?? time, items: [], hasOutput: false, isSummary };
      this.#answer.items.push(item);
      return;
    }
    this.#heard = time ?? this.#heard;
    if (OUTPUTS.includes(type) && this.#answer) {
      this.#answer.items.push(item);
      this.#answer.hasOutput = true;
      return;
    }
    yield* this.#flush();
    if (type === "message" && item["role"] === "user") this.#turns.push(this.#count);
    yield* this.#add([item], line);
  }

  /** Tells of an answer that is complete. */
  *#flush(): Generator<SessionEvent> {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { sent_at, usage, key, items, line, isSummary } = answer;
    yield {
      kind: "call",
      conversation: CONVERSATION,
      call: { at: sent_at, model: this.#model, usage: usage && usageOf(usage), key, isSummary },
    };
    if (!isSummary) yield* this.#add(items, line);
  }

  *#compacted(payload: Fields, line: number): Generator<SessionEvent> {
    yield* this.#flush();
    yield* this.#back(0, "compaction");
    this.#known = new Set();
    this.#turns = [];
    const history = listOf(payload["replacement_history"])
      .map(fieldsOf)
      .filter((item) => ITEMS.includes(String(item["type"])));
    const summary = {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: textOf(payload["message"]) ?? "" }],
    };
    yield* this.#add(history.length > 0 ? history : [summary], line);
  }

  *#back(to: number, why: "compaction" | "edit"): Generator<SessionEvent> {
    yield { kind: "back", conversation: CONVERSATION, to, why };
    this.#count = Math.min(this.#count, to);
  }

  *#add(items: readonly Fields[], line: number): Generator<SessionEvent> {
    try {
      const messages = toChat(items, "openai-responses", this.#known);
      this.#count += messages.length;
      if (messages.length > 0) yield { kind: "messages", conversation: CONVERSATION, messages };
    } catch (error) {
      yield { kind: "problem", line, reason: conversionProblem(error) };
    }
  }
}

function usageOf(usage: Fields): RecordedUsage | undefined {
  const input = countOf(usage["input_tokens"]);
  if (input === undefined || input === 0) return undefined;
  const written = countOf(usage["cache_write_input_tokens"]);
  return {
    input,
    cached: countOf(usage["cached_input_tokens"]),
    ...(written !== undefined && written > 0 && { written }),
    output: countOf(usage["output_tokens"]),
  };
}
