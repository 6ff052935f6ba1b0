// What of a server's result may reach a client as it came: blocks of the protocol, without credentials and without what only this
// package may say.
import { countTokens, redactSecrets } from "./text.js";

type Fields = Readonly<Record<string, unknown>>;

/** Keys of `_meta` that begin so are this package's. */
const RESERVED = "contextweaver/";
/** UTF-16 units of JSON that are counted; more is too much for any client. */
const MOST_COUNTED = 2 ** 21;
/** Fields of a result that are read by name. */
const READ = ["content", "structuredContent", "isError", "_meta"];

/** Whether data is more than so many tokens, or has in it what a client may not get. */
export function isTooMuch(data: unknown, most: number): boolean {
  const text = JSON.stringify(data) ?? "";
  return text.length > MOST_COUNTED || countTokens(text) > most || redactSecrets(text) !== text;
}

/** Whether a block is what the protocol says of its type; of types that are not known nobody can say. */
export function isBlock(block: unknown): block is Fields {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return false;
  const { type, text, data, mimeType, resource, uri, name } = block as Fields;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return isBase64(data) && typeof mimeType === "string";
    case "resource": {
      const { uri: address, text: said, blob } = (typeof resource === "object" && resource !== null ? resource : {}) as Fields;
      return typeof address === "string" && (typeof said === "string" || isBase64(blob));
    }
    case "resource_link":
      return typeof uri === "string" && typeof name === "string";
    default:
      return typeof type === "string";
  }
}

/** Whether something is base64 as clients take it. */
function isBase64(value: unknown): boolean {
  return typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
}

export const isMedia = ({ type }: Fields): boolean => type === "image" || type === "audio";

/** Whether the model may see a block: some are for the user alone. */
export function isForModel({ annotations }: Fields): boolean {
  const { audience } = (annotations ?? {}) as Fields;
  return !Array.isArray(audience) || audience.length === 0 || audience.includes("assistant");
}

/** What of a block is neither its text nor its picture; of other blocks all. Nothing where there is no more. */
export function besideContent(block: Fields): Fields | undefined {
  const content = contentOf(block);
  const rest = Object.entries(block).filter(([key]) => content === undefined || (key !== "type" && key !== content));
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

/** Where a block has its text or its picture. */
function contentOf(block: Fields): string | undefined {
  if (block["type"] === "text") return "text";
  return isMedia(block) ? "data" : undefined;
}

/** A block without those of its further fields that may not pass. The same object where all may. */
export function passingBlock(block: Fields, most: number): Fields {
  const content = contentOf(block);
  return passing(block, content === undefined ? ["type", "resource", "uri", "name"] : ["type", content], most);
}

/** The fields of a result beside its contents that may pass. */
export function passingRest(result: Fields, most: number): Fields {
  const { content: _, structuredContent: __, ...rest } = result;
  return passing(rest, READ, most);
}

/** A result whose contents pass. The same object where all of it does. */
export function passingResult(result: Fields, blocks: readonly Fields[], most: number): Fields {
  const { content, structuredContent } = result;
  const rest = passingRest(result, most);
  const passed = blocks.map((block) => passingBlock(block, most));
  const isSame = passed.every((block, at) => block === blocks[at]) && Object.keys(result).every((key) => ["content", "structuredContent"].includes(key) || rest[key] === result[key]);
  if (isSame) return result;
  return { ...rest, ...(content !== undefined && { content: passed }), ...(structuredContent !== undefined && { structuredContent }) };
}

/** The entries of a `_meta` that may pass; nothing where none may. */
function passingMeta(meta: unknown, most: number): Fields | undefined {
  if (typeof meta !== "object" || meta === null) return undefined;
  const entries = Object.entries(meta).filter(([key, value]) => !key.startsWith(RESERVED) && !isTooMuch({ [key]: value }, most));
  if (entries.length === Object.keys(meta).length) return meta as Fields;
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function passing(fields: Fields, known: readonly string[], most: number): Fields {
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    if (key === "_meta") {
      const meta = passingMeta(value, most);
      return meta ? [[key, meta] as const] : [];
    }
    return known.includes(key) || !isTooMuch({ [key]: value }, most) ? [[key, value] as const] : [];
  });
  const isSame = kept.length === Object.keys(fields).length && kept.every(([key, value]) => fields[key] === value);
  return isSame ? fields : Object.fromEntries(kept);
}
