// What converters of MCP records take and return.
import type { JsonObject } from "../types.js";
import type { ConversionWarning, RevisionChange } from "../generated.js";

export type { ConversionWarning, McpSession, RevisionChange, SessionProblem } from "../generated.js";

/** A published revision of the Model Context Protocol. */
export type McpRevision = "2025-06-18" | "2025-11-25" | "2026-07-28";

/** How one tool of an MCP server is read. */
export interface McpToolOptions {
  /** The name you give the server, which becomes the namespace. Default: guessed from the tool's name. */
  readonly server?: string;
  /** `name`: `mcp:<name>`, or `mcp:<server>/<name>`. `canonical`: with a hash of the arguments' names. Default: `name`. */
  readonly id_form?: "name" | "canonical";
  /** Whether a verb such as `get` in `get_all_users` counts as a guessed namespace. Default: true. */
  readonly verb_namespaces?: boolean;
}

/** How one resource or prompt of an MCP server is read. */
export interface McpListOptions {
  /** The name you give the server, which becomes the namespace. Default: a resource's scheme, or guessed from a prompt's name. */
  readonly server?: string;
}

/** The effects of a tool as the protocol reads its annotations, with its defaults. Hints of a server; they permit nothing. */
export interface McpHints {
  /** Default: false; also false when the tool is declared destructive. */
  readonly readOnlyHint: boolean;
  /** Default: true, unless it only reads. */
  readonly destructiveHint: boolean;
  /** Default: false. */
  readonly idempotentHint: boolean;
  /** Default: true. */
  readonly openWorldHint: boolean;
}

/** What a converted tool has in `metadata._contextweaver.mcp`. */
export interface McpToolRecord {
  /** Fields that an item has no field for: `icons` with a safe source, `execution`, `_meta`, and the server's own. */
  readonly fields?: JsonObject;
  /** Fields as they were, for the way back only: what was ignored is here, too. */
  readonly given?: JsonObject;
  /** Fields that were not there. */
  readonly absent?: readonly string[];
  /** Annotations that are the server's own. */
  readonly annotations?: readonly string[];
  readonly hints?: McpHints;
  /** Eight hexadecimal digits for the tool's name and its arguments' names, as in canonical ids. */
  readonly shape_hash?: string;
  /** `sha256:` and the digest of both schemas: another one when only a type changes. */
  readonly schema_digest?: string;
  readonly warnings?: readonly ConversionWarning[];
}

/** An item written as a tool of MCP. */
export interface WrittenMcpTool {
  readonly tool: JsonObject;
  /** What the tool does not say because the revision does not know it. Empty without a revision. */
  readonly report: readonly RevisionChange[];
}

/** How a recorded session is read. */
export interface SessionOptions {
  /**
   * Whether an unknown type, a field of the wrong type, a repeated id and a parent that is not there are errors; otherwise
   * they are warnings, and what has no known type is a turn of the user. Default: true.
   */
  readonly strict?: boolean;
}
