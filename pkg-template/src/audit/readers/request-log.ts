// Logs of requests to the APIs of OpenAI, Anthropic and Gemini: a line for each call, with the body of the request and, where it was kept,
// of the answer.
import { findMessages } from "../../messages/messages.js";
import { conversionProblem, toChat } from "../chat.js";
import type { Reader, RecordedUsage, SessionEvent, Source } from "../events.js";
import { fieldsOf } from "../../boundary/fields.js";
import { at, countOf, listOf, parsed, textOf, timeOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import { chatUsage } from "./provider-usage.js";
import { Requests } from "./requests.js";
import type { Request } from "./requests.js";

export const requestLog: Reader = {
  name: "request-log",
  recognise: (first) => first.some((value) => requestOf(fieldsOf(value)) !== undefined),
  read,
};

async function* read({ values, path }: Source): AsyncGenerator<SessionEvent> {
  const requests = new Requests(path.split(/[\\/]/).at(-1) ?? path);
  for await (const { line, value } of values) {
    for (const entry of (Array.isArray(value) ? listOf(value) : [value]).map(fieldsOf)) {
      const body = requestOf(entry);
      if (!body) {
        // Other calls of the API, such as a list of models, cost nothing.
        if ("request" in entry || "messages" in entry)
          yield { kind: "problem", line, reason: "the line has no messages that are known" };
        continue;
      }
      const answer = answerOf(entry);
      if (isRefused(entry, answer) || !isConversation(body, answer)) continue;
      try {
        yield* requests.take(asRequest(entry, body, answer));
      } catch (error) {
        yield { kind: "problem", line, reason: conversionProblem(error) };
      }
    }
  }
  yield* requests.end();
}

/** The body of a request, wherever the line has it. */
function requestOf(entry: Fields): Fields | undefined {
  const request = fieldsOf(parsed(entry["request"]));
  const candidates = [
    request,
    parsed(request["body"]),
    parsed(entry["request_body"]),
    parsed(entry["body"]),
    entry,
  ].map(fieldsOf);
  return candidates.find(isBody);
}

/** Many documents have messages or an input: a request names its model, or has contents with parts. */
function isBody({ model, messages, contents, input }: Fields): boolean {
  if (Array.isArray(contents))
    return contents.length > 0 && listOf(contents).every((content) => Array.isArray(fieldsOf(content)["parts"]));
  return typeof model === "string" && (Array.isArray(messages) || typeof input === "string" || Array.isArray(input));
}

/** Names of models that answer with no message: embeddings, moderation, speech. */
const NO_CONVERSATION = /embed|moderation|(?:^|[-_/])tts(?:[-_]|$)/i;

/** Embeddings, moderations and speech have an input, too; they are no calls of a conversation. */
function isConversation({ model, messages, contents, input, voice }: Fields, answer: Fields): boolean {
  if (Array.isArray(messages) || Array.isArray(contents)) return true;
  const isOther =
    voice !== undefined ||
    listOf(input).some((one) => typeof one !== "object" || Array.isArray(one)) ||
    NO_CONVERSATION.test(textOf(model) ?? "") ||
    answer["object"] === "list" ||
    Array.isArray(answer["data"]) ||
    Array.isArray(answer["results"]);
  return !isOther;
}

/** The least status of HTTP that says that a request was refused, or failed. */
const REFUSED = 400;

/** Providers bill nothing for what they refused; an answer that broke off has a count. */
function isRefused(entry: Fields, answer: Fields): boolean {
  const response = fieldsOf(entry["response"]);
  const statuses = [entry["status"], entry["status_code"], response["status"], response["status_code"]];
  if (statuses.some((status) => (countOf(status) ?? 0) >= REFUSED)) return true;
  return (answer["error"] ?? entry["error"]) != null && usageOf(answer) === undefined;
}

function usageOf(answer: Fields): RecordedUsage | undefined {
  return chatUsage(fieldsOf(answer["usage"] ?? answer["usageMetadata"]));
}

function asRequest(entry: Fields, body: Fields, answer: Fields): Request {
  const input =
    typeof body["input"] === "string" ? { ...body, input: [{ role: "user", content: body["input"] }] } : body;
  const found = findMessages(input);
  const format = found?.format ?? "openai-chat";
  const list =
    found?.list ??
    (Array.isArray(input["messages"]) ? "messages" : Array.isArray(input["input"]) ? "input" : "contents");
  const system = body["instructions"] ?? body["system"] ?? body["systemInstruction"] ?? body["system_instruction"];
  const time = timeOf(
    entry["timestamp"] ??
      entry["time"] ??
      entry["started_at"] ??
      entry["start_time"] ??
      entry["created_at"] ??
      entry["created"] ??
      entry["ts"],
  );
  return {
    messages: listOf(input[list]),
    instructions: system == null ? undefined : typeof system === "string" ? system : JSON.stringify(system),
    tools: listOf(body["tools"]).length > 0 ? JSON.stringify(body["tools"]) : undefined,
    id:
      textOf(body["prompt_cache_key"]) ??
      textOf(at(body["metadata"], "user_id")) ??
      textOf(entry["conversation_id"]) ??
      textOf(entry["session_id"]),
    call: {
      at: time,
      model: textOf(body["model"]) ?? textOf(answer["model"]),
      usage: usageOf(answer),
      provider: textOf(answer["provider"]),
      key: textOf(answer["id"]),
    },
    convert: (messages, known) => toChat(messages, format, known),
  };
}

/** The body of an answer; of a stream, what its events say that it cost. */
function answerOf(entry: Fields): Fields {
  const response = entry["response"] ?? entry["response_body"];
  const body = at(response, "body") ?? response;
  if (typeof body === "string" && /^(event|data):/m.test(body))
    return streamed([...body.matchAll(/^data: ?(\{.*)$/gm)].map(([, data]) => parsed(data)));
  const answer = parsed(body);
  return Array.isArray(answer) ? streamed(answer) : fieldsOf(answer);
}

function streamed(events: readonly unknown[]): Fields {
  const answer: Record<string, unknown> = {};
  for (const event of events.map(fieldsOf)) {
    for (const part of [event, fieldsOf(event["message"]), fieldsOf(event["response"])]) {
      if (part["usage"] != null) answer["usage"] = { ...fieldsOf(answer["usage"]), ...fieldsOf(part["usage"]) };
      if (part["error"] != null) answer["error"] = part["error"];
      if (part["usageMetadata"] != null) answer["usageMetadata"] = part["usageMetadata"];
      // Azure's first event has an empty id.
      answer["id"] ??= textOf(part["id"]);
      answer["model"] ??= textOf(part["model"]);
    }
  }
  return answer;
}
