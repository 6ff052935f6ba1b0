// Chats of Gemini CLI, below `~/.gemini/tmp/<project>/chats`: a document, or in newer versions a line for each message. A line with the id
// of one before replaces it.
import { toChat, conversionProblem } from "../chat.js";
import type { RecordedUsage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { countOf, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";

const CONVERSATION = "main";

export const geminiCli: Reader = {
  name: "gemini-cli",
  recognise: (first) => first.some((value) => "projectHash" in fieldsOf(value) && "sessionId" in fieldsOf(value)),
  read,
};

async function* read({ values }: Source): AsyncGenerator<SessionEvent> {
  const chat = new GeminiChat();
  for await (const { line, value } of values) {
    const entry = fieldsOf(value);
    if ("projectHash" in entry) {
      yield {
        kind: "begin",
        conversation: CONVERSATION,
        session: String(entry["sessionId"]),
        parent: entry["kind"] === "subagent" ? "another session" : undefined,
      };
      for (const message of listOf(entry["messages"])) yield* chat.take(fieldsOf(message), line);
    } else if ("$set" in entry) {
      yield* chat.replaced(listOf(fieldsOf(entry["$set"])["messages"]), line);
    } else {
      yield* chat.take(entry, line);
    }
  }
  yield* chat.end();
}

/** An answer of the model, until it is known what it led to. */
interface Answer {
  readonly line: number;
  readonly sent_at: number | undefined;
  entry: Fields;
}

class GeminiChat {
  #answer: Answer | undefined;
  #known = new Set<string>();
  #heard: number | undefined;
  #isBegun = false;

  *take(entry: Fields, line: number): Generator<SessionEvent> {
    this.#isBegun = true;
    if (entry["type"] === "gemini") {
      if (this.#answer?.entry["id"] !== entry["id"]) {
        yield* this.#flush([]);
        this.#answer = { line, sent_at: this.#heard ?? timeOf(entry["timestamp"]), entry };
      }
      if (this.#answer) this.#answer.entry = entry;
      return;
    }
    // What is told to the user alone.
    if (entry["type"] !== "user") return;
    const parts = partsOf(entry["content"]);
    const results = parts.filter((part) => "functionResponse" in fieldsOf(part));
    yield* this.#flush(results);
    const rest = parts.filter((part) => !results.includes(part));
    this.#heard = timeOf(entry["timestamp"]) ?? this.#heard;
    if (rest.length > 0) yield* this.#add([{ role: "user", parts: rest }], line);
  }

  /** The list of messages is set anew, as when a chat is compressed. */
  *replaced(messages: readonly unknown[], line: number): Generator<SessionEvent> {
    if (messages.length === 0) return;
    yield* this.#flush([]);
    if (this.#isBegun) yield { kind: "back", conversation: CONVERSATION, to: 0, why: "compaction" };
    this.#known = new Set();
    // What they cost was told when they were sent.
    for (const message of messages) {
      const { type, content, toolCalls } = fieldsOf(message);
      this.#isBegun = true;
      if (type === "user") yield* this.#add([{ role: "user", parts: partsOf(content) }], line);
      else if (type === "gemini")
        yield* this.#add([modelMessage({ content, toolCalls }), ...resultMessages(listOf(toolCalls))], line);
    }
  }

  *end(): Generator<SessionEvent> {
    yield* this.#flush([]);
    yield { kind: "end", conversation: CONVERSATION };
  }

  /** Tells of an answer, with the results that the next message brings, or those that stand with its calls. */
  *#flush(results: readonly unknown[]): Generator<SessionEvent> {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { entry, line, sent_at } = answer;
    yield {
      kind: "call",
      conversation: CONVERSATION,
      call: {
        at: sent_at,
        model: textOf(entry["model"]),
        usage: usageOf(fieldsOf(entry["tokens"])),
        key: textOf(entry["id"]),
      },
    };
    const answers =
      results.length > 0 ? [{ role: "user", parts: results }] : resultMessages(listOf(entry["toolCalls"]));
    yield* this.#add([modelMessage(entry), ...answers], line);
  }

  *#add(contents: readonly object[], line: number): Generator<SessionEvent> {
    try {
      yield { kind: "messages", conversation: CONVERSATION, messages: toChat(contents, "gemini", this.#known) };
    } catch (error) {
      yield { kind: "problem", line, reason: conversionProblem(error) };
    }
  }
}

function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content)
    ? listOf(content).map((part) => (typeof part === "string" ? { text: part } : part))
    : [fieldsOf(content)];
}

function modelMessage({ content, toolCalls }: Fields): object {
  const calls = listOf(toolCalls).map((call) => {
    const { id, name, args } = fieldsOf(call);
    return { functionCall: { id, name, args } };
  });
  return {
    role: "model",
    parts: [...partsOf(content).filter((part) => textOf(fieldsOf(part)["text"]) !== undefined), ...calls],
  };
}

function resultMessages(calls: readonly unknown[]): readonly object[] {
  const parts = calls.flatMap((call) => {
    const { result } = fieldsOf(call);
    return partsOf(result).filter((part) => "functionResponse" in fieldsOf(part));
  });
  return parts.length > 0 ? [{ role: "user", parts }] : [];
}

function usageOf(tokens: Fields): RecordedUsage | undefined {
  const input = countOf(tokens["input"]);
  if (input === undefined) return undefined;
  return {
    input,
    cached: countOf(tokens["cached"]),
    output: (countOf(tokens["output"]) ?? 0) + (countOf(tokens["thoughts"]) ?? 0),
  };
}
