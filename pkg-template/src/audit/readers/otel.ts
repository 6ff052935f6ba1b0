// Spans of OpenTelemetry's conventions for generative AI, as OTLP writes them in JSON. Spans of models need their messages: instrumentation
// records them when it is told to.
import type { ChatCall, ChatMessage, Reader, RecordedUsage, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, parsed, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import { Requests } from "./requests.js";

/** Calls of a model, by `gen_ai.operation.name`. */
const CALLS = ["chat", "generate_content", "text_completion"];

export const otelSpans: Reader = {
  name: "otel",
  recognise: (first) => first.some((value) => Array.isArray(fieldsOf(value)["resourceSpans"])),
  read,
};

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  const requests = new Requests(path.split(/[\\/]/).at(-1) ?? path);
  let bare = 0;
  for await (const { value } of values) {
    const spans = listOf(fieldsOf(value)["resourceSpans"])
      .flatMap((resource) => listOf(at(resource, "scopeSpans")))
      .flatMap((scope) => listOf(at(scope, "spans")).map(fieldsOf));
    spans.sort((a, b) => (timeOf(a["startTimeUnixNano"]) ?? 0) - (timeOf(b["startTimeUnixNano"]) ?? 0));
    for (const span of spans) {
      const attributes = new Map(
        listOf(span["attributes"]).map((one) => [String(at(one, "key")), valueOf(fieldsOf(one)["value"])]),
      );
      if (!CALLS.includes(String(attributes.get("gen_ai.operation.name")))) continue;
      const usage = usageOf(attributes);
      // A call that was refused cost nothing.
      if (attributes.has("error.type") && usage === undefined) continue;
      const messages = listOf(parsed(attributes.get("gen_ai.input.messages")));
      if (messages.length === 0) {
        bare += 1;
        continue;
      }
      const system = attributes.get("gen_ai.system_instructions");
      yield* requests.take({
        messages,
        instructions: system === undefined ? undefined : textsOf(listOf(parsed(system))),
        tools: textOf(attributes.get("gen_ai.tool.definitions")) ?? undefined,
        id: textOf(attributes.get("gen_ai.conversation.id")),
        call: {
          at: timeOf(span["startTimeUnixNano"]),
          model: textOf(attributes.get("gen_ai.request.model")) ?? textOf(attributes.get("gen_ai.response.model")),
          usage,
          key: textOf(attributes.get("gen_ai.response.id")) ?? textOf(span["spanId"]),
        },
        convert: (parts) => parts.flatMap((message) => chatOf(fieldsOf(message))),
      });
    }
  }
  yield* requests.end();
  if (bare > 0)
    yield {
      kind: "problem",
      reason: `${bare} spans of models have no gen_ai.input.messages: let your instrumentation record content`,
    };
}

/** A value of an attribute, without the names of its types. */
function valueOf(value: unknown): unknown {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = fieldsOf(value);
  if (arrayValue !== undefined) return listOf(at(arrayValue, "values")).map(valueOf);
  if (kvlistValue !== undefined)
    return Object.fromEntries(
      listOf(at(kvlistValue, "values")).map((one) => [String(at(one, "key")), valueOf(fieldsOf(one)["value"])]),
    );
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;
}

function usageOf(attributes: ReadonlyMap<string, unknown>): RecordedUsage | undefined {
  const input = countOf(attributes.get("gen_ai.usage.input_tokens"));
  if (input === undefined) return undefined;
  const cached = countOf(attributes.get("gen_ai.usage.cache_read.input_tokens"));
  const written = countOf(attributes.get("gen_ai.usage.cache_creation.input_tokens"));
  // The conventions count what the cache had as part of the input; who does not is seen where it is more.
  const isBeside = (cached ?? 0) + (written ?? 0) > input;
  return {
    input: isBeside ? input + (cached ?? 0) + (written ?? 0) : input,
    cached,
    written,
    output: countOf(attributes.get("gen_ai.usage.output_tokens")),
  };
}

function textsOf(parts: readonly unknown[]): string {
  return parts.map((part) => textOf(at(part, "content")) ?? "").join("\n");
}

/** A message of the conventions: results of calls are messages of their own in a chat. */
function chatOf(message: Fields): readonly ChatMessage[] {
  const parts = listOf(message["parts"]).map(fieldsOf);
  const role = message["role"] === "system" || message["role"] === "assistant" ? message["role"] : "user";
  const results = parts.filter(({ type }) => type === "tool_call_response");
  const calls = parts.filter(({ type }) => type === "tool_call");
  const text =
    typeof message["content"] === "string" ? message["content"] : textsOf(parts.filter(({ type }) => type === "text"));
  const answers = results.map(
    (part): ChatMessage => ({
      role: "tool",
      tool_call_id: String(part["id"]),
      content: written(part["response"] ?? part["result"]),
    }),
  );
  if (calls.length === 0 && text === "" && answers.length > 0) return answers;
  const tool_calls = calls.map(
    (part): ChatCall => ({
      id: String(part["id"]),
      type: "function",
      function: { name: String(part["name"]), arguments: written(part["arguments"] ?? {}) },
    }),
  );
  return [
    ...answers,
    { role, content: text === "" && tool_calls.length > 0 ? null : text, ...(tool_calls.length > 0 && { tool_calls }) },
  ];
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
