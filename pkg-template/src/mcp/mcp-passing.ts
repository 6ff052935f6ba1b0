// What of a server's result may reach a client as it came: blocks of the protocol, without credentials and without what only this
// package may say.
type Fields = Readonly<Record<string, unknown>>;

/** Keys of `_meta` that begin so are this package's. */
const RESERVED = "contextweaver/";
/** Fields of a result that are read by name. */
const READ = ["content", "structuredContent", "isError", "_meta"];

/** Whether data is more than a client gets, or has in it what it may not. */
export type TooMuch = (data: unknown) => boolean;

/** Whether a block is a picture or a sound. */
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
export function passingBlock(block: Fields, isTooMuch: TooMuch): Fields {
  const content = contentOf(block);
  return passing(block, content === undefined ? ["type", "resource", "uri", "name"] : ["type", content], isTooMuch);
}

/** The fields of a result beside its contents that may pass. */
export function passingRest(result: Fields, isTooMuch: TooMuch): Fields {
  const { content: _, structuredContent: __, ...rest } = result;
  return passing(rest, READ, isTooMuch);
}

/** A result whose contents pass. The same object where all of it does. */
export function passingResult(result: Fields, blocks: readonly Fields[], isTooMuch: TooMuch): Fields {
  const { content, structuredContent } = result;
  const rest = passingRest(result, isTooMuch);
  const passed = blocks.map((block) => passingBlock(block, isTooMuch));
  const isSame =
    passed.every((block, at) => block === blocks[at]) &&
    Object.keys(result).every((key) => ["content", "structuredContent"].includes(key) || rest[key] === result[key]);
  if (isSame) return result;
  return {
    ...rest,
    ...(content !== undefined && { content: passed }),
    ...(structuredContent !== undefined && { structuredContent }),
  };
}

/** The entries of a `_meta` that may pass; nothing where none may. */
function passingMeta(meta: unknown, isTooMuch: TooMuch): Fields | undefined {
  if (typeof meta !== "object" || meta === null) return undefined;
  const entries = Object.entries(meta).filter(
    ([key, value]) => !key.startsWith(RESERVED) && !isTooMuch({ [key]: value }),
  );
  if (entries.length === Object.keys(meta).length) return meta as Fields;
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function passing(fields: Fields, known: readonly string[], isTooMuch: TooMuch): Fields {
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    if (key === "_meta") {
      const meta = passingMeta(value, isTooMuch);
      return meta ? [[key, meta] as const] : [];
    }
    return known.includes(key) || !isTooMuch({ [key]: value }) ? [[key, value] as const] : [];
  });
  const isSame = kept.length === Object.keys(fields).length && kept.every(([key, value]) => fields[key] === value);
  return isSame ? fields : Object.fromEntries(kept);
}
