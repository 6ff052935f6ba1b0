// Masks what clients read of servers, as the results of their tools are masked.
import { MIB } from "../boundary/guard-limits.js";
import { wellFormed } from "../boundary/repairs.js";
import type { Masking } from "../manager/options.js";
import { redactSecrets } from "../manager/text.js";
import { VIEWS } from "./extensions.js";
import type { Fields } from "./server-sdk.js";

/** UTF-16 units that are masked at a time: the engine takes 8 MiB of UTF-8, which is at most three bytes for each. */
const PART = 2 * MIB;

/** Masks the contents of a resource. Views stay as they are: a host runs them, and no model reads them. */
export function maskedContents(result: Fields, masking: Masking): Fields {
  const { contents } = result;
  if (masking === false || !Array.isArray(contents)) return result;
  const isView = ({ uri, mimeType }: Fields): boolean =>
    String(uri).startsWith("ui://") || VIEWS.mimeTypes.includes(String(mimeType));
  return {
    ...result,
    contents: (contents as readonly Fields[]).map((part) => (isView(part) ? part : maskedField(part, "text", masking))),
  };
}

/** Masks the messages of a prompt. */
export function maskedMessages(result: Fields, masking: Masking): Fields {
  const { messages } = result;
  if (masking === false || !Array.isArray(messages)) return result;
  const maskedBlock = (block: Fields): Fields => {
    const { resource } = block;
    return typeof resource === "object" && resource !== null
      ? { ...block, resource: maskedField(resource as Fields, "text", masking) }
      : maskedField(block, "text", masking);
  };
  return {
    ...maskedField(result, "description", masking),
    messages: (messages as readonly Fields[]).map((message) => ({
      ...message,
      content: maskedBlock(message["content"] as Fields),
    })),
  };
}

function maskedField(fields: Fields, name: string, masking: Masking): Fields {
  const text = fields[name];
  return typeof text === "string" ? { ...fields, [name]: masked(text, masking) } : fields;
}

/** A part ends with a line where it can, so that no credential is in two. */
function masked(text: string, masking: Masking): string {
  const except = typeof masking === "object" ? masking.except : [];
  const whole = wellFormed(text);
  const parts: string[] = [];
  for (let at = 0; at < whole.length; ) {
    const rest = whole.slice(at, at + PART);
    const line = at + PART < whole.length ? rest.lastIndexOf("\n") + 1 : 0;
    // Without a line it ends before half of a surrogate pair.
    const part = line > 0 ? rest.slice(0, line) : rest.replace(/[\ud800-\udbff]$/, "");
    parts.push(redactSecrets(part, { except }));
    at += part.length;
  }
  return parts.join("");
}
