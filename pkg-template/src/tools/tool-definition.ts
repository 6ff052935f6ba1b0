// Definitions of tools to MCP and back, results both ways, arguments checked. The engine maps; here schemas of libraries
// become JSON Schema, and functions stay behind.
import { convertCall } from "../messages/convert-call.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields, listed, readValue } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import type { ConversionWarning } from "../mcp/mcp-types.js";
import { asMcpWarnings } from "../boundary/repairs.js";
import { toData } from "./tool-data.js";
import type {
  AnyToolDefinition,
  McpToToolDefinition,
  McpToToolDefinitionOptions,
  McpToToolDefinitions,
  McpToToolResult,
  McpToToolResultOptions,
  SchemaConverters,
  ToolDefinitionToMcp,
  ToolDefinitionToMcpOptions,
  ToolDefinitionToSelectable,
  ToolDefinitionToSelectableOptions,
  ToolDefinitionsToMcp,
  ToolMapError,
  ToolDefinitionResult,
  ToolResultToMcp,
  ToolResultToMcpOptions,
  ToolSchema,
  ValidateArgsOptions,
  ValidatedArgs,
} from "./tool-definition-types.js";
import { jsonSchema } from "./tool-schema.js";
import type { JsonValue } from "../types.js";

type Fields = Record<string, unknown>;

/** Takes the converters out of the options. */
function converters(given: Fields): SchemaConverters {
  const { toJsonSchema, z } = given;
  delete given["toJsonSchema"];
  delete given["z"];
  if (toJsonSchema !== undefined && typeof toJsonSchema !== "function") {
    throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/toJsonSchema" });
  }
  return { toJsonSchema, z } as SchemaConverters;
}

/** Writes arguments for the engine: JSON that is checked already, and options. */
function record(parts: Readonly<Record<string, string>>, options: Fields): string {
  for (const name of Object.keys(parts)) {
    if (name in options)
      throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${name}\``, { path: `/${name}` });
  }
  const rest = encode(options);
  const own = Object.entries(parts).map(([name, json]) => `"${name}":${json}`);
  return `{${own.join()}${rest === "{}" ? "" : `,${rest.slice(1, -1)}`}}`;
}

/** Writes a definition as JSON, its schemas converted and its function left out. */
function definitionJson(value: unknown, path: string, by: SchemaConverters, warnings: ConversionWarning[]): string {
  const definition = fields(value, path);
  delete definition["execute"];
  for (const [name, io] of [
    ["schema", "input"],
    ["outputSchema", "output"],
  ] as const) {
    if (!(name in definition)) continue;
    definition[name] = jsonSchema(definition[name], { path: `${path}/${name}`, io, converters: by }, warnings);
  }
  return encode(definition, path, SNAPSHOT);
}

/** Puts warnings of the facade before those of the engine. */
function warned<T extends { readonly warnings?: readonly ConversionWarning[] }>(
  answer: T,
  warnings: readonly ConversionWarning[],
): T {
  return warnings.length > 0 ? { ...answer, warnings: [...warnings, ...(answer.warnings ?? [])] } : answer;
}

/**
 * Maps a definition, or several, to tools of MCP.
 *
 * The hints follow from category, consequences and confirmation; what is not known is left out, which means the worst to a
 * client. Of several definitions a bad one does not take the others down, unless `strict`. Definitions are not changed.
 * Errors: `details.reason` is `invalid_name`, `empty_description`, `invalid_schema`, `root_not_object`, `remote_ref`,
 * `schema_too_large`, `schema_not_convertible`, `zod3_unsupported`, `invalid_timeout`, `duplicate_name`, `reserved_prefix`.
 */
export function toolDefinitionToMcp(
  definitions: readonly AnyToolDefinition[],
  options?: ToolDefinitionToMcpOptions & { readonly strict?: boolean },
): ToolDefinitionsToMcp;
export function toolDefinitionToMcp(
  definition: AnyToolDefinition,
  options?: ToolDefinitionToMcpOptions,
): ToolDefinitionToMcp;
export function toolDefinitionToMcp(
  given: AnyToolDefinition | readonly AnyToolDefinition[],
  options?: ToolDefinitionToMcpOptions & { readonly strict?: boolean },
): ToolDefinitionToMcp | ToolDefinitionsToMcp {
  const copy = fields(options);
  const by = converters(copy);
  const warnings: ConversionWarning[] = [];
  const several = listed(given, "");
  if (!several) {
    const definition = definitionJson(given, "", by, warnings);
    return warned(convertCall<ToolDefinitionToMcp>("tool_definition_to_mcp", record({ definition }, copy)), warnings);
  }
  const { list, failed } = definitionList(several, copy["strict"] === true, by, warnings);
  const answer = convertCall<ToolDefinitionsToMcp>("tool_definition_to_mcp", record({ definitions: list }, copy));
  // What could not be written stands as null in the list, and the engine has complained of that.
  const errors = answer.errors.map((error) => failed.get(error.index) ?? error);
  return warned({ ...answer, errors }, warnings);
}

/** Writes definitions as JSON, and null for those that cannot be. */
function definitionList(
  given: readonly unknown[],
  strict: boolean,
  by: SchemaConverters,
  warnings: ConversionWarning[],
) {
  const failed = new Map<number, ToolMapError>();
  const parts: string[] = [];
  for (let index = 0; index < given.length; index += 1) {
    try {
      parts.push(definitionJson(given[index], `/${index}`, by, warnings));
    } catch (error) {
      if (strict || !(error instanceof ContextWeaverError)) throw error;
      const { code, message, path, hint, details } = error;
      const known = { ...(path && { path }), ...(hint && { hint }), ...(details && { details }) };
      failed.set(index, { code, message, ...known, index });
      parts.push("null");
    }
  }
  return { list: `[${parts.join()}]`, failed };
}

/**
 * Maps a tool, or several, or the answer to `tools/list`, to definitions.
 *
 * Only with `trusted` may `_meta` say what the definition was; otherwise category and consequences are guessed from the
 * hints, the worst where there are none. Hints are kept as they are, so that mapped back the tool has the same ones.
 */
export function mcpToToolDefinition(
  tools: readonly unknown[],
  options?: McpToToolDefinitionOptions & { readonly strict?: boolean },
): McpToToolDefinitions;
export function mcpToToolDefinition(tool: object, options?: McpToToolDefinitionOptions): McpToToolDefinition;
export function mcpToToolDefinition(
  given: object,
  options?: McpToToolDefinitionOptions & { readonly strict?: boolean },
): McpToToolDefinition | McpToToolDefinitions {
  const { json, repairs } = readValue(given, "", SNAPSHOT);
  const name = json.startsWith("[") ? "tools" : "tool";
  return warned(
    convertCall("mcp_to_tool_definition", record({ [name]: json }, fields(options))),
    asMcpWarnings(repairs),
  );
}

/** Maps a definition to something a router can choose: the item of the tool it becomes, with its tags and examples. */
export function toolDefinitionToSelectable(
  definition: AnyToolDefinition,
  options?: ToolDefinitionToSelectableOptions,
): ToolDefinitionToSelectable {
  const copy = fields(options);
  const warnings: ConversionWarning[] = [];
  const json = definitionJson(definition, "", converters(copy), warnings);
  return warned(convertCall("tool_definition_to_selectable", record({ definition: json }, copy)), warnings);
}

/**
 * Maps a result to a result of MCP: an error to `isError` with the text `Error: …`, data to text and structured content as
 * the revision allows. What the tool ran with is in neither.
 */
export function toolResultToMcp(result: ToolDefinitionResult, options?: ToolResultToMcpOptions): ToolResultToMcp {
  const copy = fields(options);
  const by = converters(copy);
  const given = fields(result);
  const warnings: ConversionWarning[] = [];
  if ("data" in given) {
    const plain = toData(given["data"], "/data");
    warnings.push(...plain.warnings);
    given["data"] = plain.data;
  }
  if (copy["validateOutput"] === true && "outputSchema" in copy) {
    copy["outputSchema"] = jsonSchema(
      copy["outputSchema"],
      { path: "/outputSchema", io: "output", converters: by },
      warnings,
    );
  } else delete copy["outputSchema"];
  delete copy["validateOutput"];
  const json = encode(given, "", SNAPSHOT);
  const { render } = copy;
  if (typeof render === "function") {
    delete copy["render"];
    if ("data" in given && given["error"] === undefined) copy["text"] = rendered(render as Render, json);
  }
  return warned(convertCall("tool_result_to_mcp", record({ result: json }, copy)), warnings);
}

type Render = (data: JsonValue) => unknown;

/** Asks for the text of data; a copy is shown, so that nothing can be changed. */
function rendered(render: Render, json: string): string {
  const failed = (message: string, cause?: unknown) =>
    new ContextWeaverError("CALLBACK_FAILED", message, { path: "/render", ...(cause !== undefined && { cause }) });
  let text: unknown;
  try {
    text = render((JSON.parse(json) as { data: JsonValue }).data);
  } catch (cause) {
    throw failed("the function threw", cause);
  }
  if (typeof text !== "string") throw failed("the function returned no text");
  return text;
}

/**
 * Maps a result of MCP to a result. A server that asks for input, or works on a task, is another outcome than a result.
 */
export function mcpToToolResult(result: object, options: McpToToolResultOptions): McpToToolResult {
  const copy = fields(options);
  copy["now"] ??= new Date().toISOString();
  const { json, repairs } = readValue(result, "", SNAPSHOT);
  return warned(convertCall("mcp_to_tool_result", record({ result: json }, copy)), asMcpWarnings(repairs));
}

/**
 * Checks arguments against a schema: the keywords of JSON Schema 2020-12 that occur in schemas of tools, in bounded time.
 * `format` is not enforced. What is wrong is told with the place and what is expected there, never with the value.
 */
export function validateArgs(schema: ToolSchema, args: unknown, options?: ValidateArgsOptions): ValidatedArgs {
  const copy = fields(options);
  const warnings: ConversionWarning[] = [];
  const json = encode(jsonSchema(schema, { path: "", io: "input", converters: converters(copy) }, warnings));
  const parts: Record<string, string> = { schema: json };
  if (args !== undefined) parts["args"] = encode(args, "", SNAPSHOT);
  return warned(convertCall("validate_args", record(parts, copy)), warnings);
}
