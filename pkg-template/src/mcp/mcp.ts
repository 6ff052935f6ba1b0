// Tools and recorded sessions of the Model Context Protocol.
import { convertCall } from "../messages/convert-call.js";
import { encode, fields } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import type {
  McpListOptions,
  McpRevision,
  McpSession,
  McpToolOptions,
  SessionOptions,
  WrittenMcpTool,
} from "./mcp-types.js";
import type { SelectableItem, StoredTool } from "../types.js";

function convert<T>(operation: string, args: Record<string, unknown>): T {
  return convertCall(operation, encode(args, "", SNAPSHOT));
}

/**
 * Makes an item of one tool of `tools/list`, of any revision. Whatever the server wrote, only a tool without a name is an
 * error (`MISSING_FIELD`, `INVALID_INPUT`, with the path below `/tool`): what is not as the protocol says is ignored, and told
 * with the effective hints in `metadata._contextweaver.mcp` (see `McpToolRecord`). `side_effects` is false only for a tool
 * that is declared read-only and not destructive.
 */
export function mcpToolToSelectable(tool: unknown, options?: McpToolOptions): StoredTool {
  return convert<{ item: StoredTool }>("mcp_tool_to_selectable", { ...fields(options), tool }).item;
}

/**
 * Makes an item of one resource of `resources/list`; only one without a `uri` is an error. The id is
 * `resource::<namespace>:<name>#<hash of the address>`, `metadata` has `uri`, `mime_type` and `primitive`. Nothing is fetched.
 * Items of a list may share an id when they share a namespace, a name and an address.
 */
export function mcpResourceToSelectable(resource: unknown, options?: McpListOptions): StoredTool {
  return convert<{ item: StoredTool }>("mcp_resource_to_selectable", { ...fields(options), resource }).item;
}

/**
 * Makes an item of one prompt of `prompts/list`; only one without a `name` is an error. The id is
 * `prompt::<namespace>:<name>#<hash of the arguments' names>`, the arguments become a schema of strings, `metadata` has
 * `prompt_name`, `primitive` and the names of the `arguments` in their order.
 */
export function mcpPromptToSelectable(prompt: unknown, options?: McpListOptions): StoredTool {
  return convert<{ item: StoredTool }>("mcp_prompt_to_selectable", { ...fields(options), prompt }).item;
}

/**
 * Writes an item as a tool of MCP. Without a revision, an item that `mcpToolToSelectable` made gives the very tool back, in
 * another order of its fields at most. With one, what that revision does not know is left out and reported. `UNSUPPORTED`:
 * another revision. Other metadata than annotations is not written.
 */
export function selectableToMcpTool(
  item: SelectableItem,
  options?: {
    /** Default: every field is written. */
    readonly revision?: McpRevision;
  },
): WrittenMcpTool {
  return convert("selectable_to_mcp_tool", { ...fields(options), item });
}

/** Guesses where a tool belongs: what is before the first `.` or `/`, or the first of three words joined by `_`; else `mcp`. */
export function inferNamespace(name: string): string {
  return convert<{ namespace: string }>("infer_namespace", { name }).namespace;
}

/**
 * Reads a session of one JSON object per line: `type` (or `kind`), `id`, `text` or `content`, `parent_id`,
 * `token_estimate`, `sensitivity`, `metadata`, `artifact_ref`; other fields are kept in `metadata._contextweaver.session`. At
 * most 24 Mi characters. The error names the first bad line; its `details` have `line` and `problems`, the first 20
 * `SessionProblem`s.
 */
export function loadMcpSessionJsonl(text: string, options?: SessionOptions): McpSession {
  return convert("load_mcp_session", { ...fields(options), text });
}
