// Messages of LangChain as messages of the AI SDK, which the engine reads, and back. What the engine left as it was comes back as
// the very object that it was read from; the rest is made by the classes of the messages that are there.
import { encodeBase64 } from "../boundary/base64.js";
import { keyText } from "./text-hash.js";
import { ContextWeaverError } from "contextweaver";

type Fields = Readonly<Record<string, unknown>>;

/** A message of the AI SDK. */
export interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly Fields[];
  readonly name?: string;
}

type MessageClass = (new (fields: Fields) => object) & { readonly lc_name?: () => string };

/** Names of the classes by type of message, as the framework writes them down. */
const CLASSES: Readonly<Record<string, string>> = {
  human: "HumanMessage",
  ai: "AIMessage",
  system: "SystemMessage",
  tool: "ToolMessage",
};

/** A conversation in both forms. */
export interface ReadConversation {
  readonly messages: readonly ModelMessage[];
  /** The objects by what was made of them, in their order. */
  readonly originals: ReadonlyMap<string, object[]>;
  /** Messages that never come back as they are. */
  readonly mended: readonly object[];
  /** Those with calls, by the ids of these. */
  readonly calling: ReadonlyMap<string, Fields>;
}

/** Reads and writes the messages of an agent. */
export class LangChainMessages {
  /** By type of message. */
  readonly #classes = new Map<string, MessageClass>();

  /** Reads a conversation; `system` stands above it, unless it is empty. */
  read(messages: readonly object[], system?: object): ReadConversation {
    const originals = new Map<string, object[]>();
    const mended: object[] = [];
    const calling = new Map<string, Fields>();
    const read: ModelMessage[] = [];
    const names = new Map<unknown, unknown>();
    const answered = new Set(messages.map((message) => (message as Fields)["tool_call_id"]));
    const add = (message: object, path: string): void => {
      this.#learn(message);
      const fields = withInvalidCalls(message as Fields, answered);
      const made = readMessage(fields, names, path);
      read.push(made);
      const ids = callsKey(made);
      if (ids !== undefined && !calling.has(ids)) calling.set(ids, message as Fields);
      // As it is, the provider would refuse its arguments.
      if (fields !== message) return void mended.push(message);
      const key = keyText(made);
      originals.set(key, [...(originals.get(key) ?? []), message]);
    };
    if (system) this.#learn(system);
    if (system && textOf((system as Fields)["content"]) !== "") add(system, "/systemMessage");
    for (const [index, message] of messages.entries()) add(message, `/messages/${index}`);
    return { messages: read, originals, mended, calling };
  }

  /** Writes what the engine made of a conversation. `lost` is told what a message had that is shown otherwise than it was. */
  write(
    messages: readonly ModelMessage[],
    { originals, mended, calling }: ReadConversation,
    lost?: (what: string) => void,
  ): object[] {
    const left = new Map([...originals].map(([key, list]) => [key, [...list]]));
    const results = new Map(
      [...originals.values()]
        .flat()
        .flatMap((message) =>
          typeOf(message as Fields) === "tool" ? [[(message as Fields)["tool_call_id"], message as Fields]] : [],
        ),
    );
    // From the end, as what is left out stands before what is kept: of two that are alike the later one is meant.
    let isChanged = false;
    const written = [...messages].reverse().flatMap((message) => {
      const original = left.get(JSON.stringify(message))?.pop();
      isChanged ||= !original && message.role === "assistant";
      return original ? [original] : this.#made(message, results, calling.get(callsKey(message) ?? "")).reverse();
    });
    // What stands beside an answer, which no part of a message holds: thoughts, and calls that nobody could answer.
    const thinks = ({ additional_kwargs: more }: Fields): boolean =>
      Boolean((more as Fields | undefined)?.["reasoning_content"]);
    const failed = ({ invalid_tool_calls: calls = [] }: Fields): boolean =>
      (calls as readonly Fields[]).some(({ id }) => !results.has(id));
    const changed = isChanged ? ([...left.values(), mended].flat() as Fields[]) : [];
    if (changed.some(thinks)) lost?.("reasoning_content");
    if (changed.some(failed)) lost?.("invalid_tool_calls");
    return written.reverse();
  }

  /** Makes the instructions. */
  system(text: string): object {
    return this.#make("system", { content: text });
  }

  /** Notes the class of a message; one that is streamed only if there is no other. */
  #learn(message: object): void {
    const made = message.constructor as MessageClass;
    const type = typeOf(message as Fields);
    const isChunk = made.lc_name?.().endsWith("Chunk") ?? false;
    if (typeof type === "string" && type in CLASSES && !(isChunk && this.#classes.has(type)))
      this.#classes.set(type, made);
  }

  #make(type: string, fields: Fields): object {
    const Known = this.#classes.get(type) ?? this.#derived(type);
    return new Known(fields);
  }

  /** Makes a class of messages of which the conversation has none: by its type the framework takes it for its own. */
  #derived(type: string): MessageClass {
    const Base = Object.getPrototypeOf(this.#classes.get("system")) as MessageClass;
    const made = class extends Base {
      static override lc_name(): string {
        return CLASSES[type] ?? "BaseMessage";
      }
      constructor(fields: Fields) {
        super(fields);
        const { content, ...own } = fields;
        Object.assign(this, { type, ...(type === "ai" && { tool_calls: [], invalid_tool_calls: [] }), ...own });
      }
    };
    this.#classes.set(type, made);
    return made;
  }

  #made(
    { role, content, name }: ModelMessage,
    results: ReadonlyMap<unknown, Fields>,
    caller: Fields | undefined,
  ): object[] {
    const named = name === undefined ? {} : { name };
    if (role === "system") return [this.system(textOf(content))];
    if (role === "user")
      return [
        this.#make("human", { ...named, content: typeof content === "string" ? content : content.map(writeBlock) }),
      ];
    if (role === "assistant") return [this.#make("ai", { ...named, ...writeAnswer(content, caller) })];
    return (content as readonly Fields[]).map((part) => {
      const { id, name: tool, artifact, metadata } = results.get(part["toolCallId"]) ?? { name: part["toolName"] };
      const kept = Object.entries({ id, name: tool, artifact, metadata }).filter(([, value]) => value !== undefined);
      return this.#make("tool", {
        ...Object.fromEntries(kept),
        tool_call_id: part["toolCallId"],
        ...writeOutput(part["output"] as Fields),
      });
    });
  }
}

/** The ids of the calls of a message; undefined where it has none. */
function callsKey({ role, content }: ModelMessage): string | undefined {
  if (role !== "assistant" || typeof content === "string") return undefined;
  const ids = content.flatMap(({ type, toolCallId }) => (type === "tool-call" ? [toolCallId] : []));
  return ids.length > 0 ? JSON.stringify(ids) : undefined;
}

/** A message whose calls with arguments that are no JSON, where they were answered, are among its calls. */
function withInvalidCalls(message: Fields, answered: ReadonlySet<unknown>): Fields {
  const invalid = ((message["invalid_tool_calls"] ?? []) as readonly Fields[]).filter(
    ({ id }) => id !== undefined && answered.has(id),
  );
  if (invalid.length === 0) return message;
  const calls = invalid.map(({ id, name, args }) => ({ id, name: name ?? "tool", args: { input: args ?? "" } }));
  const { content, tool_calls = [], name, role } = message;
  return { type: typeOf(message), content, name, role, tool_calls: [...(tool_calls as readonly Fields[]), ...calls] };
}

function typeOf(message: Fields): unknown {
  return message["type"] ?? (message["getType"] as (() => unknown) | undefined)?.call(message);
}

/** Returns the texts of a content. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = blocksOf(content).map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""));
  return texts.join("");
}

function blocksOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.map((block: unknown) => (typeof block === "string" ? { type: "text", text: block } : (block as Fields)))
    : [];
}

/** Reads a message; `names` are those of the tools by call. */
function readMessage(message: Fields, names: Map<unknown, unknown>, path: string): ModelMessage {
  const { content, name, role } = message;
  const named = typeof name === "string" ? { name } : {};
  const user = (): ModelMessage => ({
    role: "user",
    ...named,
    content: typeof content === "string" ? content : blocksOf(content).map(readBlock),
  });
  switch (typeOf(message)) {
    case "system":
      return { role: "system", content: textOf(content) };
    case "human":
      return user();
    case "ai":
      return { role: "assistant", ...named, content: readAnswer(message, names) };
    case "tool":
      return { role: "tool", content: [readResult(message, names)] };
    case "generic":
      if (role === "system" || role === "developer") return { role: "system", content: textOf(content) };
      return role === "assistant" ? { role, ...named, content: readAnswer(message, names) } : user();
    default:
      throw new ContextWeaverError("UNSUPPORTED", `messages of the type \`${String(typeOf(message))}\` are not read`, {
        path,
      });
  }
}

/** Types of blocks that hold what a model thought. */
const REASONING = ["thinking", "redacted_thinking", "reasoning", "reasoning_content"];

function readAnswer({ content, tool_calls }: Fields, names: Map<unknown, unknown>): string | readonly Fields[] {
  const calls = new Map(((tool_calls ?? []) as readonly Fields[]).map((call) => [call["id"], call]));
  const read = ({ id, name, args }: Fields): Fields => (
    names.set(id, name), { type: "tool-call", toolCallId: id, toolName: name, input: args ?? {} }
  );
  if (typeof content === "string" && calls.size === 0) return content;
  const parts = blocksOf(content).map((block) => {
    const { type, id } = block;
    const call = calls.get(id);
    // Some providers have the call among the blocks, too.
    if (call && (type === "tool_use" || type === "tool_call")) {
      calls.delete(id);
      return { ...read(call), block: type };
    }
    return REASONING.includes(String(type)) ? { type: "reasoning", block } : readBlock(block);
  });
  return [...parts, ...[...calls.values()].map(read)];
}

/**
 * Where the providers of Google have what signs calls, which Gemini 3 refuses without: for each part of the message, or by call. The
 * newest has it in each call.
 */
const SIGNATURES = ["signatures", "__gemini_function_call_thought_signatures__"];
const SIGNATURE = "thoughtSignature";

/** Writes an answer; `caller` is the message whose calls it has. What else stands beside its text may be what was to be left out. */
function writeAnswer(content: string | readonly Fields[], caller: Fields = {}): Fields {
  if (typeof content === "string") return { content };
  const calls = content.filter(({ type }) => type === "tool-call");
  const blocks = content.flatMap((part): Fields[] => {
    const { type, block, toolCallId: id, toolName: name, input } = part;
    if (type === "tool-call")
      return block === undefined ? [] : [{ type: block, id, name, [block === "tool_use" ? "input" : "args"]: input }];
    return type === "reasoning" ? [block as Fields] : [writeBlock(part)];
  });
  const isText = blocks.every(({ type }) => type === "text");
  // Blocks of the framework's own standard say so, or a provider would not know them.
  const isStandard = blocks.some(({ type }) => type === "reasoning" || type === "tool_call");
  const signed = new Map(
    ((caller["tool_calls"] ?? []) as readonly Fields[]).map((call) => [call["id"], call[SIGNATURE]]),
  );
  return {
    content: isText ? blocks.map(({ text }) => text).join("\n") : blocks,
    tool_calls: calls.map(({ toolCallId: id, toolName: name, input: args }) => ({
      type: "tool_call",
      id,
      name,
      args,
      ...(signed.get(id) !== undefined && { [SIGNATURE]: signed.get(id) }),
    })),
    ...signaturesBeside(caller, (isText ? Math.min(1, blocks.length) : blocks.length) + calls.length),
    ...(isStandard && { response_metadata: { output_version: "v1" } }),
  };
}

/** What signs the calls of a message beside its content, for as many parts as it still has. */
function signaturesBeside({ additional_kwargs }: Fields, parts: number): Fields {
  const found = SIGNATURES.flatMap((name) => {
    const value = (additional_kwargs as Fields | undefined)?.[name];
    // Calls stand behind what may be left out.
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.slice(-parts) : value] as const];
  });
  return found.length > 0 ? { additional_kwargs: Object.fromEntries(found) } : {};
}

function readResult(
  { content, tool_call_id: toolCallId, name, status }: Fields,
  names: ReadonlyMap<unknown, unknown>,
): Fields {
  const toolName = name ?? names.get(toolCallId) ?? "tool";
  const failed = status === "error" ? "error-" : "";
  const output = (): Fields => {
    if (!Array.isArray(content)) return { type: `${failed}text`, value: String(content ?? "") };
    const blocks = blocksOf(content);
    const parts = blocks.map((block) =>
      block["type"] === "text" ? block : mediaOf(block) && readMedia(block, "data"),
    );
    // A list that a tool returned may only look like blocks: it is data.
    if (parts.includes(undefined)) return { type: `${failed}json`, value: content };
    return failed !== "" && blocks.every(({ type }) => type === "text")
      ? { type: "error-text", value: textOf(content) }
      : { type: "content", value: parts };
  };
  return { type: "tool-result", toolCallId, toolName, output: output() };
}

function writeOutput({ type, value, reason }: Fields): Fields {
  const status = String(type).startsWith("error-") ? { status: "error" } : {};
  if (type === "content") return { ...status, content: (value as readonly Fields[]).map(writeBlock) };
  const said = value ?? reason ?? "";
  return { ...status, content: typeof said === "string" ? said : JSON.stringify(said) };
}

/** What is known of an image or a file. */
interface Media {
  readonly isImage: boolean;
  /** Base64, a `data:` URL, or an address. */
  readonly data: string;
  readonly mediaType: string | undefined;
  readonly filename: string | undefined;
  readonly detail: unknown;
}

const MEDIA = ["image", "image_url", "audio", "input_audio", "video", "file", "document", "media"];

/** Reads an image or a file in any of the forms that the framework and its providers have; none where its bytes are elsewhere. */
function mediaOf(block: Fields): Media | undefined {
  const { type, image_url: url, input_audio: audio, source, file, metadata, title } = block;
  if (!MEDIA.includes(String(type))) return undefined;
  const inner = ([url, audio, source, file].find((one) => typeof one === "object" && one !== null) ?? block) as Fields;
  if (["text", "content"].includes(String(inner["type"])) || inner["source_type"] === "text") return undefined;
  const given = inner["data"] ?? inner["url"] ?? inner["file_data"] ?? url;
  const data = given instanceof Uint8Array ? encodeBase64(given.slice()) : given;
  const text = (...values: unknown[]): string | undefined =>
    values.find((value): value is string => typeof value === "string" && value !== "");
  if (typeof data !== "string" || data === "") return undefined;
  const format = audio && text(inner["format"]);
  const mediaType = text(
    inner["mimeType"],
    inner["mime_type"],
    inner["media_type"],
    inner["mediaType"],
    format && `audio/${format === "mp3" ? "mpeg" : format}`,
  );
  const { filename, name } = (metadata ?? {}) as Fields;
  return {
    isImage: type === "image" || type === "image_url" || mediaType?.startsWith("image/") === true,
    data,
    mediaType,
    filename: text(inner["filename"], filename, name, title),
    detail: inner["detail"],
  };
}

/** Writes media for the engine: as a part of a message, or with `data` of a result. */
function readMedia(block: Fields, form?: "data"): Fields {
  const { isImage, data, mediaType, filename, detail } = mediaOf(block) as Media;
  const kind = isImage ? "image" : "file";
  const more = {
    ...(mediaType !== undefined && { mediaType }),
    ...(filename !== undefined && { filename }),
    ...(typeof detail === "string" && { detail }),
  };
  if (form === undefined) return { type: kind, [isImage ? "image" : "data"]: data, ...more };
  return data.includes("://") && !data.startsWith("data:")
    ? { type: `${kind}-url`, url: data, ...more }
    : { type: `${kind}-data`, data, ...more };
}

function readBlock(block: Fields): Fields {
  return mediaOf(block) ? readMedia(block) : block;
}

/** Writes a part as a block that all providers of the framework read. */
function writeBlock(part: Fields): Fields {
  const { type, mediaType, filename, detail } = part;
  if (!/^(image|file|media)(-|$)/.test(String(type))) return part;
  const given = part["data"] ?? part["image"] ?? part["url"];
  const data =
    typeof given === "object" && given !== null ? ((given as Fields)["data"] ?? (given as Fields)["url"]) : given;
  if (typeof data !== "string") return part;
  const [, ofUrl, bytes = data] = /^data:([^;,]*);base64,([^]*)$/.exec(data) ?? [];
  const mime = (mediaType ?? ofUrl) as string | undefined;
  const isAddress = data.includes("://") && ofUrl === undefined;
  const isImage = String(type).startsWith("image") || mime?.startsWith("image/") === true;
  if (isImage && (isAddress || mime !== undefined)) {
    return {
      type: "image_url",
      image_url: {
        url: isAddress ? data : `data:${mime};base64,${bytes}`,
        ...(typeof detail === "string" && { detail }),
      },
    };
  }
  const kind = isImage ? "image" : (/^(audio|video)\//.exec(mime ?? "")?.[1] ?? "file");
  return {
    type: kind,
    ...(isAddress ? { source_type: "url", url: data } : { source_type: "base64", data: bytes }),
    ...(mime !== undefined && { mime_type: mime }),
    ...(typeof filename === "string" && { metadata: { filename } }),
  };
}
