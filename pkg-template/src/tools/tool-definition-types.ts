// Tools as an application defines them, and what mapping them to MCP and back takes and gives. Field names are those of
// the definitions themselves and of MCP.
import type { ErrorCode } from "../boundary/errors.js";
import type { ConversionWarning, McpRevision } from "../mcp/mcp-types.js";
import type { JsonObject, JsonValue, SelectableItem } from "../types.js";

/** What a tool does. Anything else counts as unknown, and unknown never counts as safe. */
export type ToolCategory = "read" | "write" | "analysis" | "delete" | "side_effect";

/** What MCP calls hints. They inform; they permit and forbid nothing, and of a server they are hearsay. */
export interface ToolHints {
  readonly title?: string;
  /** Absent means false. */
  readonly readOnlyHint?: boolean;
  /** Absent means true. */
  readonly destructiveHint?: boolean;
  /** Absent means false. */
  readonly idempotentHint?: boolean;
  /** Absent means true. */
  readonly openWorldHint?: boolean;
  readonly [key: string]: JsonValue | undefined;
}

/**
 * A schema: JSON Schema, `{field: {type, description?, optional?, enum?, default?, items?}}`, Zod 4 and Zod Mini, a record
 * of Zod fields, Standard JSON Schema (`~standard.jsonSchema`), ArkType (`toJsonSchema()`), TypeBox; others with
 * {@link SchemaConverters.toJsonSchema}.
 */
export type ToolSchema = object;

/** What a tool runs with besides its arguments. */
export interface ToolRun {
  /** Aborted when the caller gives up or the time is over. */
  readonly signal: AbortSignal;
}

/** What a tool returns: `data` or `error`, never both. */
export interface ToolDefinitionResult {
  /** Name of the tool. */
  readonly tool?: string;
  /** When: ISO 8601 UTC with milliseconds and `Z`. */
  readonly fetchedAt?: string;
  /**
   * JSON data. On the way to MCP `undefined` members are left out, `NaN` and infinities become null, a BigInt its digits, a
   * Date its ISO form, each but the first with a warning; a Map, a Set, a function or a cycle is refused with the reason
   * `unserialisable`.
   */
  readonly data?: unknown;
  /** What went wrong, for people and models. Its presence is the signal, even as empty text. */
  readonly error?: string;
}

/** A tool as its author defines it. */
export interface ToolDefinition<Args = never, Context = never> {
  /** Snake case, 1 to 128 of `A-Z a-z 0-9 _ - .`. */
  readonly name: string;
  /** All a model has to choose by: what it does, when to use it, what to use instead. Never cut or changed. */
  readonly description: string;
  /** The arguments; an object at its root. */
  readonly schema: ToolSchema;
  readonly title?: string;
  /** Default: unknown. */
  readonly category?: ToolCategory | (string & {});
  /** Default: unknown. */
  readonly consequenceLevel?: "low" | "medium" | "high" | (string & {});
  /** Default false; never inferred from the others. */
  readonly requiresConfirmation?: boolean;
  /** Milliseconds, 1 to 2147483647; of the handler only, never sent. Default 15000. */
  readonly timeout?: number;
  readonly tags?: readonly string[];
  readonly version?: string;
  /** Names of tools to call before. */
  readonly dependsOn?: readonly string[];
  /** The structured content. Before 2026-07-28 an object. */
  readonly outputSchema?: ToolSchema;
  /** As in MCP, from 2025-11-25 on. */
  readonly icons?: readonly JsonObject[];
  /** Overrides what the category implies. */
  readonly idempotent?: boolean;
  /** Overrides what the category implies. A tool that reads local memory needs `false`. */
  readonly openWorld?: boolean;
  /** Overrides everything, hint by hint. */
  readonly annotations?: ToolHints;
  /** With `false` the hints are `annotations` and nothing else, as of a tool that came from a server. Default true. */
  readonly inferAnnotations?: boolean;
  /** Example calls, for choosing among tools. */
  readonly examples?: readonly string[];
  /** What a tool of MCP has and a definition has no field for; goes back where it came from. */
  readonly mcp?: JsonObject;
  /** Runs the tool. Stays where it is: it is never sent, and a definition without it converts as well. */
  execute?(
    args: Args,
    context: Context,
    run: ToolRun,
  ): Promise<ToolDefinitionResult | undefined> | ToolDefinitionResult | undefined;
}

/** A definition whose `execute` takes whatever it takes. */
export type AnyToolDefinition = ToolDefinition<never, never>;

/** A tool as a server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly JsonObject[];
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolHints;
  readonly _meta?: JsonObject;
  readonly [key: string]: unknown;
}

/** The answer to `tools/call`. */
export interface McpCallResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly resultType?: string;
  readonly _meta?: JsonObject;
  readonly [key: string]: unknown;
}

/** Why one of several could not be converted. `details.reason` has the name of the rule, such as `invalid_name`. */
export interface ToolMapError {
  readonly code: ErrorCode;
  readonly message: string;
  /** JSON pointer of the place in the list. */
  readonly path?: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The place in the list. */
  readonly index: number;
}

/** Functions of yours that make JSON Schema of what is none. They are called with schemas only. */
export interface SchemaConverters {
  /** Takes any schema that is no JSON data; called before everything that is built in. */
  toJsonSchema?(schema: unknown, context: { readonly io: "input" | "output" }): unknown;
  /** The `z` of Zod 4. Needed only for versions before 4.2 and for records of Zod fields of those. */
  readonly z?: {
    toJSONSchema(schema: never, options: { readonly io: "input" | "output" }): unknown;
    object?(shape: never): unknown;
  };
}

/** How definitions become tools. */
export interface ToolDefinitionToMcpOptions extends SchemaConverters {
  /** The revision to write for. Default `2026-07-28`. */
  readonly protocolVersion?: McpRevision;
  /** Whose keys in `_meta` are: a domain turned round that MCP does not reserve. Default `dev.contextweaver`. */
  readonly prefix?: string;
  /** Whether what MCP has no field for travels in `_meta`, so that the way back is lossless. Default true. */
  readonly meta?: boolean;
  /** `humanize` makes a title of the name where there is none: `get_weather` becomes `Get Weather`. Default `keep`. */
  readonly title?: "keep" | "humanize";
  /** Whether the description ends with a line `Tags: a, b`. Default false. */
  readonly tagsInDescription?: boolean;
  /** How schemas that are JSON are written; recognised by default. */
  readonly schemaFormat?: "json-schema" | "shorthand";
  /** Whether local references are replaced by what they lead to. Default false. */
  readonly inlineRefs?: boolean;
}

/** What a host needs to run a tool and MCP does not say. */
export interface ToolHandler {
  readonly name: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** A tool of MCP and what goes with it. */
export interface ToolDefinitionToMcp {
  readonly tool: McpTool;
  readonly handler: ToolHandler;
  /** Codes such as `name_not_snake_case`, `unknown_category`, `annotation_contradiction`, `root_composition`. */
  readonly warnings: readonly ConversionWarning[];
}

/** What became of several definitions, in their order. */
export interface ToolDefinitionsToMcp {
  readonly tools: readonly McpTool[];
  /** One for each tool. */
  readonly handlers: readonly ToolHandler[];
  readonly errors: readonly ToolMapError[];
  readonly warnings: readonly ConversionWarning[];
}

/** How tools become definitions. */
export interface McpToToolDefinitionOptions {
  /** Whose keys in `_meta` are looked at. Default `dev.contextweaver`. */
  readonly prefix?: string;
  /** Whether `_meta` may say what the definition was. A server can write there what it likes. Default false. */
  readonly trusted?: boolean;
  /** `snake_case` renames: `getUser` becomes `get_user`. Two tools with one name then are `DUPLICATE_ID`. Default `keep`. */
  readonly rename?: "keep" | "snake_case";
}

/** A definition of a server's tool: JSON throughout, without `execute`. */
export type McpToolDefinition = Omit<ToolDefinition, "execute" | "schema" | "outputSchema"> & {
  readonly schema: JsonObject;
  readonly outputSchema?: JsonObject;
};

/** A definition and what of its tool could not be used. */
export interface McpToToolDefinition {
  readonly definition: McpToolDefinition;
  /** The name the server knows the tool by, if it was renamed. */
  readonly mcp_name?: string;
  readonly warnings: readonly ConversionWarning[];
}

/** What became of several tools, in their order. */
export interface McpToToolDefinitions {
  readonly definitions: readonly McpToolDefinition[];
  /** Of renamed tools, the names the server knows them by. */
  readonly names: Readonly<Record<string, string>>;
  readonly errors: readonly ToolMapError[];
  readonly warnings: readonly ConversionWarning[];
}

/** How a definition becomes something to choose. */
export interface ToolDefinitionToSelectableOptions extends ToolDefinitionToMcpOptions {
  /** The host's name for the server that offers the tool: ids are `mcp:<server>/<name>`. Default none: `mcp:<name>`. */
  readonly server?: string;
  /** `canonical` ids change with the names of the arguments. Default `name`. */
  readonly id_form?: "name" | "canonical";
  /** The group. Default: the server, or what the name suggests. */
  readonly namespace?: string;
}

/** An item and what of its definition was passed over. */
export interface ToolDefinitionToSelectable {
  readonly item: SelectableItem;
  readonly warnings: readonly ConversionWarning[];
}

/** How a result becomes a result of MCP. */
export interface ToolResultToMcpOptions extends SchemaConverters {
  /** The revision to write for. Default `2026-07-28`. */
  readonly protocolVersion?: McpRevision;
  /** Whose keys in `_meta` are. Default `dev.contextweaver`. */
  readonly prefix?: string;
  /** The key around data that are no object, for revisions before 2026-07-28. Default `result`. */
  readonly wrapKey?: string;
  /** Where the time goes: into `_meta`, also into structured content that is an object, or nowhere. Default `meta`. */
  readonly fetchedAt?: "meta" | "structured" | "omit";
  /** Whether a success says `isError: false`. Default false. */
  readonly explicitIsError?: boolean;
  /** Whether an error that begins with `Error: ` gets no second one. Default false. */
  readonly dedupePrefix?: boolean;
  /**
   * The text of the data: compact JSON, JSON in lines, `Key: value, Other key: value` where the data are flat, or a function
   * of yours. Default `json`.
   */
  readonly render?: "json" | "pretty" | "summary" | ((data: JsonValue) => string);
  /** The schema of the structured content. */
  readonly outputSchema?: ToolSchema;
  /** Whether data that do not fit `outputSchema` become an error. Default false. */
  readonly validateOutput?: boolean;
}

/** A result of MCP and what of the result was passed over. */
export interface ToolResultToMcp {
  readonly result: McpCallResult;
  readonly warnings: readonly ConversionWarning[];
}

/** How a result of MCP is read. */
export interface McpToToolResultOptions {
  /** The tool that was called: results do not name it. */
  readonly tool: string;
  /** The time for results without one. Default: the present. */
  readonly now?: string;
  /** Whether a text that is a JSON object or array becomes that. Default false. */
  readonly parseText?: boolean;
  /** Whose keys in `_meta` are looked at. Default `dev.contextweaver`. */
  readonly prefix?: string;
}

/** What came of a call: a result, questions of the server (`inputRequests`, `requestState`), or a task it works on. */
export type McpToToolResult =
  | {
      readonly outcome: "result";
      readonly result: {
        readonly tool: string;
        readonly fetchedAt: string;
        /** Of images, audio and resources: `{text?, parts}`. */
        readonly data?: JsonValue;
        readonly error?: string;
      };
      /** What else the server noted in `_meta`. */
      readonly meta?: JsonObject;
      readonly warnings: readonly ConversionWarning[];
    }
  | {
      readonly outcome: "input_required" | "task";
      readonly request: JsonObject;
      /** What of it was no JSON and was repaired; absent where nothing was. */
      readonly warnings?: readonly ConversionWarning[];
    };

/** How arguments are checked. */
export interface ValidateArgsOptions extends SchemaConverters {
  /** Whether absent properties get the `default` of their schema first. Default false. */
  readonly useDefaults?: boolean;
}

/** One difference between a value and its schema. The value itself is never named. */
export interface SchemaFailure {
  /** JSON pointer of the place in the value. */
  readonly path: string;
  /** The keyword of the schema. */
  readonly keyword: string;
  readonly expected: string;
}

/** What came of a check. */
export interface ValidatedArgs {
  readonly valid: boolean;
  /** The first ten. */
  readonly errors: readonly SchemaFailure[];
  /** Parts of the schema that were not enforced, such as patterns with lookaround. */
  readonly warnings: readonly ConversionWarning[];
  /** With `useDefaults`: the value with defaults filled in. */
  readonly value?: JsonValue;
}
