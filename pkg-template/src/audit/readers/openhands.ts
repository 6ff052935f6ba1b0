// Trajectories of OpenHands: a list of events, alone, as `history` or `trajectory` of a result, with one event per line, or in version 1
// with a file for each event in a folder `events`. Events have
// `action` and `observation`, or in version 1 a `kind`.
import type { ChatCall, ChatMessage, RecordedUsage, Reader, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import type { Folder } from "./folder.js";
import { chatUsage } from "./provider-usage.js";

const CONVERSATION = "main";

export const openHands: Reader = {
  name: "openhands",
  recognise: (first) => first.some((value) => eventsOf(value).some(isEvent)),
  read,
};

/** The events of a value: of a list, of a result, or the value itself. */
function eventsOf(value: unknown): readonly Fields[] {
  if (Array.isArray(value)) return listOf(value).map(fieldsOf);
  const { history, trajectory } = fieldsOf(value);
  return listOf(history ?? trajectory ?? [value]).flatMap((event) =>
    Array.isArray(event) ? listOf(event).map(fieldsOf) : [fieldsOf(event)],
  );
}

function isEvent(event: Fields): boolean {
  const isOld =
    typeof event["source"] === "string" &&
    (typeof event["action"] === "string" || typeof event["observation"] === "string");
  return (
    isOld ||
    (typeof event["kind"] === "string" && /^(SystemPrompt|Message|Action|Observation)Event$/.test(event["kind"]))
  );
}

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  let run: Run | undefined;
  for await (const { value } of values) {
    const isOwn = Array.isArray(value) || Array.isArray(fieldsOf(value)["history"] ?? fieldsOf(value)["trajectory"]);
    if (!run || isOwn) {
      if (run) yield* run.end();
      const session = textOf(fieldsOf(value)["instance_id"]) ?? path.split(/[\\/]/).at(-1) ?? path;
      run = new Run(fieldsOf(fieldsOf(value)["metrics"]), textOf(at(value, "metadata", "llm_config", "model")));
      yield { kind: "begin", conversation: CONVERSATION, session };
    }
    for (const event of eventsOf(value)) yield* run.take(event);
  }
  if (run) yield* run.end();
}

/** Reads a folder with a file for each event; what calls cost stands in a file beside it. */
export async function* readEvents(folder: Folder): AsyncGenerator<SessionEvent> {
  const state = folder.jsonAt("../base_state.json");
  const usages =
    typeof state === "string"
      ? []
      : Object.values(fieldsOf(at(state, "stats", "usage_to_metrics"))).flatMap((metrics) =>
          listOf(at(metrics, "token_usages")),
        );
  const run = new Run(
    { token_usages: usages },
    typeof state === "string" ? undefined : textOf(at(state, "agent", "llm", "model")),
  );
  const session =
    (typeof state === "string" ? undefined : textOf(state["id"])) ?? folder.path.split(/[\\/]/).at(-2) ?? folder.path;
  yield { kind: "begin", conversation: CONVERSATION, session };
  for (const name of folder.namesIn(".").filter((one) => EVENT_FILE.test(one))) {
    const event = folder.jsonAt(name);
    if (typeof event === "string") yield { kind: "problem", reason: `${name}: ${event}` };
    else yield* run.take(event);
  }
  yield* run.end();
}

/** Names of such files. */
export const EVENT_FILE = /^event-\d+.*\.json$/;

/** An answer of the model as far as it is known. */
interface Answer {
  readonly id: string;
  /** Absent of a model whose answers have no ids: events are numbered from 0 in every session. */
  readonly key: string | undefined;
  text: string;
  readonly calls: ChatCall[];
  readonly results: ChatMessage[];
  readonly usage: RecordedUsage | undefined;
  readonly sent_at: number | undefined;
  readonly model: string | undefined;
}

class Run {
  readonly #usages: ReadonlyMap<string, Fields>;
  readonly #model: string | undefined;
  #answer: Answer | undefined;
  #heard: number | undefined;

  constructor(metrics: Fields, model: string | undefined) {
    this.#usages = new Map(
      listOf(metrics["token_usages"]).map((usage) => [String(at(usage, "response_id")), fieldsOf(usage)]),
    );
    this.#model = model;
  }

  *take(event: Fields): Generator<SessionEvent> {
    if (typeof event["kind"] === "string") yield* this.#newer(event);
    else yield* this.#older(event);
  }

  *end(): Generator<SessionEvent> {
    yield* this.#flush();
    yield { kind: "end", conversation: CONVERSATION };
  }

  *#older(event: Fields): Generator<SessionEvent> {
    const { action, observation, source, args, tool_call_metadata: metadata } = event;
    const response = fieldsOf(at(metadata, "model_response"));
    if (textOf(response["id"]) !== undefined) {
      yield* this.#answered(String(response["id"]), event, {
        usage: chatUsage(fieldsOf(response["usage"])),
        model: textOf(response["model"]),
      });
      const message = fieldsOf(at(listOf(response["choices"])[0], "message"));
      if (this.#answer && this.#answer.calls.length === 0) {
        this.#answer.text = textOf(message["content"]) ?? "";
        this.#answer.calls.push(...(listOf(message["tool_calls"]).map(fieldsOf) as unknown as ChatCall[]));
      }
    }
    if (action === "system") yield* this.#said("system", textOf(at(args, "content")) ?? "", event);
    else if (action === "message" && source === "user")
      yield* this.#said("user", textOf(at(args, "content")) ?? "", event);
    else if (typeof action === "string" && source === "agent" && metadata === undefined)
      yield* this.#acted(event, action, fieldsOf(args));
    else if (typeof observation === "string")
      this.#observed(
        textOf(at(metadata, "tool_call_id")) ?? `event_${String(event["cause"])}`,
        textOf(event["content"]) ?? "",
        event,
      );
  }

  /** An action of a model that writes no calls of tools: a message, or what it does with its arguments. */
  *#acted(event: Fields, action: string, args: Fields): Generator<SessionEvent> {
    yield* this.#answered(`event ${String(event["id"])}`, event, { isNumbered: true });
    if (!this.#answer) return;
    const { thought, content, ...rest } = args;
    this.#answer.text = textOf(thought) ?? (action === "message" ? (textOf(content) ?? "") : "");
    if (action === "message") return;
    this.#answer.calls.push({
      id: `event_${String(event["id"])}`,
      type: "function",
      function: { name: action, arguments: JSON.stringify(action === "write" ? args : rest) },
    });
  }

  *#newer(event: Fields): Generator<SessionEvent> {
    const { kind, llm_message: said, thought, tool_call: call, tool_call_id: answers } = event;
    if (kind === "SystemPromptEvent") {
      yield { kind: "head", conversation: CONVERSATION, tools: JSON.stringify(event["tools"] ?? []) };
      yield* this.#said("system", textOf(at(event["system_prompt"], "text")) ?? "", event);
    } else if (kind === "MessageEvent" && event["source"] === "agent") {
      yield* this.#answered(textOf(event["llm_response_id"]) ?? String(event["id"]), event, {});
      if (this.#answer) this.#answer.text = textsOf(at(said, "content"));
    } else if (kind === "MessageEvent") {
      yield* this.#said("user", textsOf(at(said, "content")), event);
    } else if (kind === "ActionEvent") {
      yield* this.#answered(textOf(event["llm_response_id"]) ?? String(event["id"]), event, {});
      const name =
        textOf(at(call, "name")) ?? textOf(at(call, "function", "name")) ?? textOf(event["tool_name"]) ?? "tool";
      const written =
        textOf(at(call, "arguments")) ??
        textOf(at(call, "function", "arguments")) ??
        JSON.stringify(event["action"] ?? {});
      if (this.#answer) {
        this.#answer.text ||= textsOf(thought);
        this.#answer.calls.push({
          id: String(answers ?? at(call, "id")),
          type: "function",
          function: { name, arguments: written },
        });
      }
    } else if (kind === "ObservationEvent") {
      const observed = fieldsOf(event["observation"]);
      this.#observed(
        String(answers),
        textOf(observed["output"]) ?? (textsOf(observed["content"]) || JSON.stringify(observed)),
        event,
      );
    }
  }

  *#answered(
    id: string,
    event: Fields,
    {
      usage,
      model,
      isNumbered = false,
    }: {
      readonly usage?: RecordedUsage | undefined;
      readonly model?: string | undefined;
      readonly isNumbered?: boolean;
    },
  ): Generator<SessionEvent> {
    if (this.#answer?.id === id) return;
    yield* this.#flush();
    const told = fieldsOf(this.#usages.get(id));
    const counted = countOf(told["prompt_tokens"]) === undefined ? usage : usageOf(told);
    this.#answer = {
      id,
      // Some servers give the same ids again and again.
      key: isNumbered ? undefined : `${id} ${String(event["timestamp"])}`,
      text: "",
      calls: [],
      results: [],
      usage: counted,
      model: model ?? textOf(told["model"]) ?? this.#model,
      sent_at: this.#heard ?? timeOf(event["timestamp"]),
    };
  }

  *#said(role: "system" | "user", content: string, event: Fields): Generator<SessionEvent> {
    yield* this.#flush();
    this.#heard = timeOf(event["timestamp"]) ?? this.#heard;
    yield { kind: "messages", conversation: CONVERSATION, messages: [{ role, content }] };
  }

  #observed(id: string, content: string, event: Fields): void {
    this.#heard = timeOf(event["timestamp"]) ?? this.#heard;
    // Notes of the environment answer no call.
    if (this.#answer?.calls.some((call) => call.id === id))
      this.#answer.results.push({ role: "tool", tool_call_id: id, content });
  }

  *#flush(): Generator<SessionEvent> {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const { key, text, calls, results, usage, sent_at, model } = answer;
    yield { kind: "call", conversation: CONVERSATION, call: { at: sent_at, model, usage, key } };
    yield {
      kind: "messages",
      conversation: CONVERSATION,
      messages: [
        {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        ...results,
      ],
    };
  }
}

function textsOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(fieldsOf(part)["text"]) ?? "")
    .join("\n");
}

/** Counts by call, as OpenHands sums them up. */
function usageOf(told: Fields): RecordedUsage {
  return {
    input: countOf(told["prompt_tokens"]) ?? 0,
    cached: countOf(told["cache_read_tokens"]),
    written: countOf(told["cache_write_tokens"]),
    output: countOf(told["completion_tokens"]),
  };
}
