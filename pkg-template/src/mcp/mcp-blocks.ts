// Results of the Model Context Protocol as it has them. Clients of the official SDK refuse a whole result, after the tool has run, for one
// block of it that is something else.
import { readValue } from "../boundary/guard.js";
import { SENT } from "../boundary/guard-limits.js";

type Fields = Readonly<Record<string, unknown>>;

/** A result that clients take, and what was wrong with it. */
export interface MendedResult {
  readonly result: Fields;
  /** JSON pointers of what was mended; none where the result is as it came. */
  readonly mended: readonly string[];
}

/** Places that are told. */
const MAX_TOLD = 8;
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";

/** Whether a decoder takes a text as base64: of megabytes only the alphabet and the length are looked at. */
function isBase64(value: unknown): boolean {
  if (!isText(value)) return false;
  const bare = value.replace(/[\t\n\f\r ]+/g, "");
  return BASE64.test(bare) && (bare.includes("=") ? bare.length % 4 === 0 : bare.length % 4 !== 1);
}

/**
 * Makes a result of a tool one that every client takes: a block that is none becomes a text that says what came, and a field that is
 * something else is left out. A result that has no blocks, such as a task, stays as it is.
 */
export function mendedResult(result: Fields): MendedResult {
  const mended: string[] = [];
  const told = (path: string): void => void (mended.length < MAX_TOLD && mended.push(path));
  const fields: Record<string, unknown> = { ...result };
  const { content } = result;
  if (Array.isArray(content)) fields["content"] = blocks(content, "/content", told);
  else if ("content" in result || "structuredContent" in result || "isError" in result) {
    if (content !== undefined) told("/content");
    fields["content"] = content === undefined || content === null ? [] : [asText(content)];
  }
  for (const [key, isRight] of Object.entries({
    structuredContent: isRecord,
    isError: (value: unknown) => typeof value === "boolean",
    _meta: isRecord,
  })) {
    if (result[key] === undefined || isRight(result[key])) continue;
    told(`/${key}`);
    delete fields[key];
    if (key === "isError")
      fields[key] = result[key] !== null && result[key] !== 0 && result[key] !== "false" && result[key] !== "";
    else if (result[key] !== null && key === "structuredContent")
      fields["content"] = [
        ...(Array.isArray(fields["content"]) ? (fields["content"] as Fields[]) : []),
        asText(result[key]),
      ];
  }
  return mended.length > 0 ? { result: fields, mended } : { result, mended };
}

/** Makes each block one that clients take. */
function blocks(content: readonly unknown[], path: string, told: (path: string) => void): Fields[] {
  return content.map((block, index) => {
    const at = `${path}/${index}`;
    if (!isRecord(block)) {
      told(at);
      return asText(block);
    }
    const fields = optional(block, at, told);
    // Told apart by what is wrong with it, which no type says.
    const isRight: boolean = isBlock(fields);
    if (isRight) return fields;
    told(at);
    // A text without its type, as some servers send it.
    if (isText(fields["text"]) && (fields["type"] === undefined || fields["type"] === "text"))
      return { ...fields, type: "text" };
    const media = withType(fields);
    return media && isBlock(media) ? media : asText(block);
  });
}

/** Gives a picture or a sound the type that it is most likely of, and its bytes the alphabet of the protocol. */
function withType(block: Fields): Fields | undefined {
  const { type, mimeType, data } = block;
  if ((type !== "image" && type !== "audio") || !isText(data)) return undefined;
  const comma = data.indexOf(",");
  const head = comma === -1 ? "" : data.slice(0, comma);
  const declared = head.endsWith(";base64") ? /^data:([\w.+/-]+)/.exec(head)?.[1] : undefined;
  const bytes = declared === undefined ? data : data.slice(comma + 1);
  const likely = declared ?? (type === "image" ? "image/png" : "audio/wav");
  return {
    ...block,
    data: bytes.replaceAll("-", "+").replaceAll("_", "/"),
    mimeType: isText(mimeType) ? mimeType : likely,
  };
}

/** Whether a block is what the protocol says of its type. */
export function isBlock(block: unknown): block is Fields {
  if (!isRecord(block)) return false;
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === "text") return isText(text);
  if (type === "image" || type === "audio") return isBase64(data) && isText(mimeType);
  if (type === "resource") return isRecord(resource) && isContents(resource);
  return type === "resource_link" && isText(uri) && isText(name);
}

/** Whether the bytes of a block are written as every reader of base64 takes them: filled up, and without white space. */
export function isPadded({ data, resource }: Fields): boolean {
  const bytes = isRecord(resource) ? resource["blob"] : data;
  return !isText(bytes) || (bytes.length % 4 === 0 && !/\s/.test(bytes));
}

/** Whether something is what a resource has in it. */
function isContents({ uri, mimeType, text, blob, _meta }: Fields): boolean {
  return (
    isText(uri) &&
    (mimeType === undefined || isText(mimeType)) &&
    (_meta === undefined || isRecord(_meta)) &&
    (isText(text) || isBase64(blob))
  );
}

/** Leaves out optional fields that are something else. */
function optional(block: Fields, at: string, told: (path: string) => void): Fields {
  const wrong = Object.keys(block).filter(
    (key) => OPTIONAL.get(key)?.(block[key]) === false && !(key === "mimeType" && block["type"] !== "resource_link"),
  );
  const annotations = isRecord(block["annotations"])
    ? Object.entries(block["annotations"]).filter(([key, value]) => ANNOTATIONS.get(key)?.(value) === false)
    : [];
  const resource = block["type"] === "resource" && isRecord(block["resource"]) ? block["resource"] : undefined;
  const inner =
    resource &&
    Object.keys(resource).filter(
      (key) => (key === "mimeType" || key === "_meta") && OPTIONAL.get(key)?.(resource[key]) === false,
    );
  if (wrong.length + annotations.length + (inner?.length ?? 0) === 0) return block;
  for (const key of wrong) told(`${at}/${key}`);
  for (const [key] of annotations) told(`${at}/annotations/${key}`);
  for (const key of inner ?? []) told(`${at}/resource/${key}`);
  const without = (fields: Fields, keys: readonly string[]): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
  const kept = without(block, wrong);
  return {
    ...kept,
    ...(annotations.length > 0 && {
      annotations: without(
        block["annotations"] as Fields,
        annotations.map(([key]) => key),
      ),
    }),
    ...(resource && inner && inner.length > 0 && { resource: without(resource, inner) }),
  };
}

function isIcon(icon: unknown): boolean {
  if (!isRecord(icon)) return false;
  const { src, mimeType, sizes, theme } = icon;
  const isSizes = sizes === undefined || (Array.isArray(sizes) && sizes.every(isText));
  return (
    isText(src) &&
    (mimeType === undefined || isText(mimeType)) &&
    isSizes &&
    (theme === undefined || theme === "light" || theme === "dark")
  );
}

type Check = (value: unknown) => boolean;
// Maps, as a server may name a field like one that every object has.
const OPTIONAL: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["annotations", isRecord],
  ["_meta", isRecord],
  ["title", isText],
  ["description", isText],
  ["mimeType", isText],
  ["size", (value) => typeof value === "number"],
  ["icons", (value) => Array.isArray(value) && value.every(isIcon)],
]);
const ANNOTATIONS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["audience", (value) => Array.isArray(value) && value.every((role) => role === "user" || role === "assistant")],
  ["priority", (value) => typeof value === "number" && value >= 0 && value <= 1],
  ["lastModified", (value) => isText(value) && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value))],
]);

/** Says what came in the place of a block. */
function asText(value: unknown): Fields {
  return { type: "text", text: isText(value) ? value : jsonOf(value) };
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested deeper than the stack: the levels below are cut.
    return readValue(value, "", SENT).json;
  }
}

/** Makes what was read of a resource one that clients take. */
export function mendedContents(result: Fields, uri: string): MendedResult {
  const mended: string[] = [];
  const told = (path: string): void => void (mended.length < MAX_TOLD && mended.push(path));
  const { contents } = result;
  const list = Array.isArray(contents)
    ? (contents as readonly unknown[])
    : contents === undefined || contents === null
      ? []
      : [contents];
  if (!Array.isArray(contents)) told("/contents");
  const fixed = list.map((part, index) => {
    if (isRecord(part) && isContents(part)) return part;
    told(`/contents/${index}`);
    if (!isRecord(part)) return { uri, text: asText(part)["text"] };
    const named = { ...part, uri: isText(part["uri"]) ? part["uri"] : uri };
    const { mimeType, _meta, ...rest } = named as Fields;
    const kept = { ...rest, ...(isText(mimeType) && { mimeType }), ...(isRecord(_meta) && { _meta }) };
    return isContents(kept) ? kept : { uri: named.uri, text: jsonOf(part) };
  });
  return mended.length > 0 ? { result: { ...withoutWrongMeta(result), contents: fixed }, mended } : { result, mended };
}

/** Makes the messages of a prompt ones that clients take. */
export function mendedMessages(result: Fields): MendedResult {
  const mended: string[] = [];
  const told = (path: string): void => void (mended.length < MAX_TOLD && mended.push(path));
  const { messages, description } = result;
  if (!Array.isArray(messages)) told("/messages");
  if (description !== undefined && !isText(description)) told("/description");
  const list = Array.isArray(messages) ? (messages as readonly unknown[]) : [];
  const fixed = list.flatMap((message, index) => {
    const at = `/messages/${index}`;
    const fields = isRecord(message) ? message : { content: message };
    const { role, content } = fields;
    const isRole = role === "user" || role === "assistant";
    if (!isRole) told(`${at}/role`);
    if (content === undefined || content === null) {
      // It says nothing.
      told(`${at}/content`);
      return [];
    }
    // Several blocks are several messages.
    if (Array.isArray(content)) told(`${at}/content`);
    const parts = blocks(Array.isArray(content) ? content : [content], `${at}/content`, told);
    return parts.map((part) => ({ ...fields, role: isRole ? role : "user", content: part }));
  });
  if (mended.length === 0) return { result, mended };
  const { description: _, ...rest } = withoutWrongMeta(result);
  return { result: { ...rest, ...(isText(description) && { description }), messages: fixed }, mended };
}

function withoutWrongMeta(result: Fields): Fields {
  const { _meta, ...rest } = result;
  return isRecord(_meta) ? result : rest;
}
