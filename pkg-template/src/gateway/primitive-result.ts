// A resource or a prompt as the result of a tool: reference mode reads both by tools, and keeps what came as it keeps results.
import { mendedContents, mendedMessages } from "../mcp/mcp-blocks.js";
import type { Fields } from "./server-sdk.js";

/** Makes a result of what was read; results of tools stay as they are. */
export function asToolResult(result: Fields): Fields {
  if ("contents" in result) return { content: (mendedContents(result, "").result["contents"] as readonly Fields[]).map((resource) => ({ type: "resource", resource })) };
  if ("messages" in result) return { content: (mendedMessages(result).result["messages"] as readonly Fields[]).map(ofMessage) };
  return result;
}

/** A message as a block: who says a text stands before it. */
function ofMessage({ role, content }: Fields): Fields {
  const block = (content ?? {}) as Fields;
  return block["type"] === "text" ? { ...block, text: `[${String(role)}] ${String(block["text"]).trimEnd()}` } : block;
}
