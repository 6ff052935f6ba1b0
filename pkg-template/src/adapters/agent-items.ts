// Items of OpenAI's Agents SDK as items of OpenAI's Responses, which they are near to, and back.
import { encodeBase64 } from "../boundary/base64.js";
import { keyText } from "./text-hash.js";
import type { OpenAiResponsesItem } from "contextweaver";

type Fields = Readonly<Record<string, unknown>>;

/** Reads a list of items, and writes what was made of it. */
export class AgentItems {
  /** In the other form. */
  readonly translated: readonly Fields[];
  /** By what they were translated to: what was not changed is written as it was. */
  readonly #originals = new Map<string, Fields>();
  readonly #results = new Map<unknown, Fields>();
  readonly #calls = new Map<unknown, Fields>();

  constructor(items: readonly object[]) {
    this.translated = items.map((item) => {
      const fields = item as Fields;
      const translated = itemOf(fields);
      const { type, callId } = fields;
      this.#originals.set(keyText(translated), fields);
      if (type === "function_call_result") this.#results.set(callId, fields);
      else if (callId !== undefined && !this.#calls.has(callId)) this.#calls.set(callId, fields);
      return translated;
    });
  }

  /** Writes items that were compiled from these. */
  written(items: readonly OpenAiResponsesItem[]): Fields[] {
    return items.map((item) => this.#originals.get(JSON.stringify(item)) ?? this.#changed(item));
  }

  #changed(item: Fields): Fields {
    const { type = "message", call_id: callId, ...rest } = item;
    if (type === "message") return changedMessage(rest);
    if (type === "function_call_output") {
      const { output, ...more } = rest;
      const call = this.#calls.get(callId);
      const known = this.#results.get(callId) ?? {
        name: call?.["name"] ?? "tool",
        ...(call?.["namespace"] !== undefined && { namespace: call["namespace"] }),
        status: "completed",
      };
      return { ...more, ...known, type: "function_call_result", callId, output: resultOf(output) };
    }
    if (type === "reasoning") {
      const { summary, ...more } = rest;
      return { ...more, type, content: (summary as Fields[]).map((part) => ({ ...part, type: "input_text" })) };
    }
    if (type === "function_call") return { status: "completed", ...rest, type, callId };
    return callId === undefined
      ? item
      : { ...rest, type: type === "computer_call_output" ? "computer_call_result" : type, callId };
  }
}

function itemOf(item: Fields): Fields {
  const { type = "message", callId, ...rest } = item;
  if (type === "message") return { ...rest, type, content: contentOf(rest["content"]) };
  if (type === "function_call_result")
    return { ...rest, type: "function_call_output", call_id: callId, output: outputOf(rest["output"]) };
  if (type === "reasoning") {
    const { content, id = "", ...more } = rest;
    const said = Array.isArray(content) ? (content as Fields[]) : [];
    return { ...more, type, id, summary: said.map(({ text, ...part }) => ({ ...part, type: "summary_text", text })) };
  }
  if (callId === undefined) return item;
  return { ...rest, type: type === "computer_call_result" ? "computer_call_output" : type, call_id: callId };
}

function contentOf(content: unknown): unknown {
  return Array.isArray(content) ? (content as Fields[]).map(partOf) : content;
}

/** Writes a part of a message, or of a result, as Responses take it. */
function partOf(part: Fields): Fields {
  const { type, ...rest } = part;
  if (type === "text") return { ...rest, type: "input_text" };
  if (type === "input_image" || type === "image") {
    const { image, detail, ...more } = rest;
    return { ...more, type: "input_image", detail: detail ?? "auto", ...addressOf(image, "image_url", "image/png") };
  }
  if (type === "input_file" || type === "file") {
    const { file, ...more } = rest;
    const { filename } = (typeof file === "object" && file !== null ? file : {}) as Fields;
    return {
      ...more,
      type: "input_file",
      ...(filename !== undefined && { filename }),
      ...addressOf(file, "file_data", "application/octet-stream"),
    };
  }
  if (type === "audio") {
    const { audio, format, ...more } = rest;
    return { ...more, type: "input_audio", input_audio: { data: audio, format: format ?? "wav" } };
  }
  return part;
}

/** Where a picture or a file is, in the field that the Responses have for that. */
function addressOf(given: unknown, inline: "image_url" | "file_data", fallback: string): Fields {
  if (typeof given !== "object" || given === null) {
    const isAddress = typeof given === "string" && /^https?:/.test(given);
    return given === undefined ? {} : { [isAddress && inline === "file_data" ? "file_url" : inline]: given };
  }
  const { id, fileId, url, data, mediaType } = given as Fields;
  const file = id ?? fileId;
  if (file !== undefined) return { file_id: file };
  if (url !== undefined) return { [inline === "image_url" ? "image_url" : "file_url"]: url };
  return {
    [inline]: `data:${String(mediaType ?? fallback)};base64,${typeof data === "string" ? data : encodeBase64(new Uint8Array(data as Uint8Array))}`,
  };
}

function outputOf(output: unknown): unknown {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return (output as Fields[]).map(partOf);
  const { type, text } = output as Fields;
  // A text alone is digested as what it is, such as JSON.
  return type === "text" ? text : [partOf(output as Fields)];
}

/** Writes a result whose text is another than it was. */
function resultOf(output: unknown): unknown {
  return Array.isArray(output) ? (output as Fields[]).map(partBack) : { type: "text", text: output };
}

function changedMessage({ role, content, ...rest }: Fields): Fields {
  const parts = Array.isArray(content) ? (content as Fields[]) : [{ type: "input_text", text: content }];
  if (role === "user")
    return { ...rest, type: "message", role, content: typeof content === "string" ? content : parts.map(partBack) };
  if (role === "assistant") {
    const said = parts.map((part) => (part["type"] === "input_text" ? { ...part, type: "output_text" } : part));
    return { status: "completed", ...rest, type: "message", role, content: said };
  }
  return { ...rest, type: "message", role: "system", content: parts.map(({ text }) => text).join("\n\n") };
}

function partBack(part: Fields): Fields {
  const { type, image_url: image, file_url: url, file_data: data, file_id: id, input_audio: audio, ...rest } = part;
  if (type === "input_image") return { ...rest, type, image: id === undefined ? image : { id } };
  if (type === "input_file")
    return { ...rest, type, file: id !== undefined ? { id } : url !== undefined ? { url } : data };
  if (type === "input_audio") {
    const { data: sound, format } = audio as Fields;
    return { ...rest, type: "audio", audio: sound, format };
  }
  return part;
}
