// What goes into the conversion of MCP results, and what comes out.
import type { ConversionWarning, McpRevision } from "./mcp-types.js";
import type { Bytes, JsonObject, ResultEnvelope, Sensitivity } from "../types.js";

/**
 * The result of a `tools/call`, as it came. Nothing of it is checked by these types: whatever a server sends is taken, and
 * what is malformed is kept as well as it goes.
 */
export interface McpToolResult {
  /** Blocks: `text`, `image`, `audio`, `resource`, `resource_link`, and any that later revisions bring. */
  readonly content?: readonly unknown[] | undefined;
  /** Any JSON; an object before revision 2026-07-28. */
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly [field: string]: unknown;
}

/** The result of `resources/read`, as it came. */
export interface McpReadResult {
  /** Texts and base64 `blob`s, each with its `uri`. */
  readonly contents?: readonly unknown[] | undefined;
  readonly [field: string]: unknown;
}

/** The result of `prompts/get`, as it came. */
export interface McpPromptResult {
  readonly description?: string | undefined;
  /** Each with a `role` and a block, or several, as `content`. */
  readonly messages?: readonly unknown[] | undefined;
  readonly [field: string]: unknown;
}

/** How to read what is behind an MCP resource or prompt. */
export interface McpReadOptions {
  /** Bytes that its parts may unpack to; what is beyond is left out with a warning. Default, and most: 16 MiB. */
  readonly max_bytes?: number;
}

/** How to read an MCP result. */
export interface McpResultOptions extends McpReadOptions {
  /** The revision that the server speaks. Default: shapes of all are taken. */
  readonly revision?: McpRevision;
  /**
   * Whether the model sees where resource links lead. An address is shown as text that no program renders or fetches; most of
   * them only its server can read. Default: `shown`. Withheld ones are kept as the bytes of their artifacts.
   */
  readonly resource_links?: "shown" | "withheld";
}

/** Bytes of an MCP result. */
export interface McpBinary {
  /** A copy of its own. */
  readonly bytes: Bytes;
  /** MIME type of the bytes: of a link `text/uri-list`, whatever it leads to. */
  readonly media_type: string;
  /** A line for people. */
  readonly label: string;
}

/** An MCP result taken apart. */
export interface ConvertedMcpResult {
  /** `partial` when something of the result did not come through, or it is only a promise or a question. */
  readonly envelope: ResultEnvelope;
  /** Bytes by handle, of a tool `mcp:<tool>:<kind>:<index>`, in the order of the content. */
  readonly binaries: ReadonlyMap<string, McpBinary>;
  /** All text that a model may read. Invisible characters and terminal escapes show as `\u{…}`. */
  readonly full_text: string;
  readonly warnings: readonly ConversionWarning[];
}

/** The result of an MCP tool on its way into a log. */
export interface McpResultInput<M extends object = JsonObject> {
  /** The id of the call; the item becomes `result:<tool_call_id>`. */
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly result: McpToolResult;
  /** The revision that the server speaks. Default: shapes of all are taken. */
  readonly revision?: McpRevision;
  /** Whether the model sees where resource links lead. Default: `shown`. */
  readonly resource_links?: "shown" | "withheld";
  /** Default: `public`. */
  readonly sensitivity?: Sensitivity;
  readonly metadata?: M;
}
