// Results of MCP tools, resources and prompts, whose images cross beside the JSON.
import { convert } from "../boundary/engines.js";
import { fields, readArgument } from "../boundary/guard.js";
import { MCP_RESULT } from "../boundary/guard-limits.js";
import { asMcpWarnings } from "../boundary/repairs.js";
import type {
  ConvertedMcpResult,
  McpBinary,
  McpPromptResult,
  McpReadOptions,
  McpReadResult,
  McpResultOptions,
  McpToolResult,
} from "./mcp-result-types.js";
import type { ConversionWarning } from "./mcp-types.js";
import type { ResultEnvelope } from "../types.js";

/** An answer with bytes beside it. @internal */
export interface WithBytes {
  /** JSON text: the answer below `done`. */
  readonly json: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What was repaired of the result, so that it could be read. */
  readonly repairs: readonly ConversionWarning[];
}

/** Where the bytes of a part are. */
interface Place {
  readonly handle: string;
  readonly media_type: string;
  readonly label: string;
  readonly offset: number;
  readonly length: number;
}

/** Takes a result apart; `args` name it with its tool and the options. @internal */
export function convertResult(args: Record<string, unknown>): WithBytes {
  const { json: text, repairs } = readArgument(args, MCP_RESULT);
  return convert.call((glue) => {
    const answer = glue.convert_result(text);
    try {
      // The glue copies out of WebAssembly memory, into an ArrayBuffer of its own.
      return { json: answer.json(), bytes: answer.bytes() as Uint8Array<ArrayBuffer>, repairs: asMcpWarnings(repairs) };
    } finally {
      answer.free();
    }
  });
}

/**
 * Takes the result of an MCP tool apart: an envelope for the model, the bytes of images, audio, resources and structured
 * content by handle, and all of the text. Nothing is fetched, and what a server says of its result permits nothing.
 *
 * Any object is taken. Base64 may be for URLs, unpadded, spaced, or a data URI; what is none is kept as text. Blocks of
 * unknown types are kept as JSON. Each such thing is named in `warnings`. What is for the user only is kept and not shown;
 * `envelope.provenance.withheld_parts` has the indices.
 *
 * What is none of JSON is repaired as in messages, and what is deeper than 64 levels or larger than 48 MiB is cut: `warnings` has
 * `value-repaired`, `text-repaired` and `value-cut`. `INVALID_INPUT` when the result is no object.
 */
export function mcpResultToEnvelope(
  result: McpToolResult,
  toolName: string,
  options?: McpResultOptions,
): ConvertedMcpResult {
  return apart({ ...fields(options), result, tool_name: toolName });
}

/**
 * Takes the result of reading an MCP resource apart, as `mcpResultToEnvelope` does that of a tool. Handles are
 * `resource:<resourceId>:<index>`; there are no facts.
 */
export function mcpResourceToEnvelope(
  result: McpReadResult,
  resourceId: string,
  options?: McpReadOptions,
): ConvertedMcpResult {
  return apart({ ...fields(options), result, resource_id: resourceId });
}

/**
 * Takes an MCP prompt apart: a text of lines `[role] text`, also stored as `prompt:<promptId>:messages`, and the bytes of
 * images and the like as `prompt:<promptId>:<kind>:<index>`. The summary is the description, or the beginning of the text.
 * There are no facts. A message may hold lines that look like those of another role.
 */
export function mcpPromptToEnvelope(
  result: McpPromptResult,
  promptId: string,
  options?: McpReadOptions,
): ConvertedMcpResult {
  return apart({ ...fields(options), result, prompt_id: promptId });
}

function apart(args: Record<string, unknown>): ConvertedMcpResult {
  const { json, bytes, repairs } = convertResult(args);
  const { done } = JSON.parse(json) as {
    done: { envelope: ResultEnvelope; full_text: string; warnings: ConversionWarning[]; binaries: Place[] };
  };
  const binaries = new Map<string, McpBinary>();
  for (const { handle, media_type, label, offset, length } of done.binaries) {
    // Each its own buffer, so that none can be changed or transferred with another.
    binaries.set(handle, { bytes: bytes.slice(offset, offset + length), media_type, label });
  }
  return { envelope: done.envelope, binaries, full_text: done.full_text, warnings: [...repairs, ...done.warnings] };
}
