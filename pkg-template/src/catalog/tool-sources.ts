// Tools of frameworks and providers as a catalog takes them. No framework is imported: a schema says itself what it is in JSON
// Schema, or a function of the caller's does.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import type { CatalogFinding, ToolSourceOptions } from "./routing-types.js";
import { jsonSchema } from "../tools/tool-schema.js";
import type { SelectableItem } from "../types.js";

/** Tools that were read, and why others were not. @internal */
export interface ReadTools {
  readonly items: readonly SelectableItem[];
  /** Where each of these stood in what was given: its index, and its path. */
  readonly places: readonly ToolPlace[];
  readonly findings: readonly CatalogFinding[];
  /** What a document is of that they were read from, which findings are about. */
  readonly document?: string;
}

/** Where a tool stood in what was given. @internal */
export interface ToolPlace {
  readonly index: number;
  readonly path: string;
}

/** Whose tools they are. @internal */
export type ToolSource = "langchain" | "ai-sdk" | "openai";

/** A tool as it was given. */
interface GivenTool {
  readonly name: unknown;
  readonly description: unknown;
  readonly schema: unknown;
  /** Name of the field that holds the schema. */
  readonly field: string;
  /** Whether the provider runs it itself, and knows what it takes. */
  readonly isHosted?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads tools. The id of each is its name, by which a framework knows it. One that cannot be read is a finding, or an error where
 * `on_invalid` is `raise`.
 * @internal
 */
export function readTools(source: ToolSource, given: unknown, options: unknown): ReadTools {
  const { on_invalid, ...converters } = checked(options);
  const items: SelectableItem[] = [];
  const places: ToolPlace[] = [];
  const findings: CatalogFinding[] = [];
  for (const [index, [place, tool]] of entriesOf(source, given).entries()) {
    const path = `/${place}`;
    let read: GivenTool | undefined;
    const found = (finding: Pick<CatalogFinding, "code" | "severity" | "path" | "message">): void => {
      findings.push({ ...finding, item_id: typeof read?.name === "string" ? read.name : "", index });
    };
    try {
      if (typeof tool !== "object" || tool === null) throw refused("expected a tool", "");
      read = READERS[source](tool as Fields, place);
      const { name, description, schema, field, isHosted } = read;
      const prefix = field.slice(0, field.lastIndexOf("/") + 1);
      if (isHosted) {
        found({
          code: "tool-hosted",
          severity: "info",
          path: "",
          message: "the provider runs the tool itself: there is nothing to choose it by",
        });
        continue;
      }
      if (typeof name !== "string" || name.trim() === "")
        throw refused("expected the name of a tool", `/${prefix}name`);
      if (description !== undefined && typeof description !== "string")
        throw refused("expected a text", `/${prefix}description`);
      const args = jsonSchema(schema, { path: `/${field}`, io: "input", converters }, []);
      if (args !== undefined && (typeof args !== "object" || args === null || Array.isArray(args))) {
        throw refused("expected a schema", `/${field}`);
      }
      items.push({
        id: name,
        kind: "tool",
        name,
        description: description ?? "",
        ...(args !== undefined && { args_schema: args as SelectableItem["args_schema"] & object }),
      });
      places.push({ index, path });
    } catch (error) {
      if (!ContextWeaverError.is(error)) throw error;
      const { code, message, path: within = "", hint, details, cause } = error;
      if (on_invalid === "raise")
        throw new ContextWeaverError(code, message, {
          path: `${path}${within}`,
          hint,
          details,
          ...(cause !== undefined && { cause }),
        });
      found({ code: "tool-invalid", severity: "error", path: within, message: hint ? `${message}; ${hint}` : message });
    }
  }
  return { items, places, findings };
}

const READERS: Readonly<Record<ToolSource, (tool: Fields, place: number | string) => GivenTool>> = {
  langchain: langChainTool,
  "ai-sdk": aiSdkTool,
  openai: openAiTool,
};

/** Refuses options that are not as described. */
function checked(given: unknown): ToolSourceOptions {
  const options = fields(given);
  const { on_invalid, toJsonSchema } = options;
  const unknown = Object.keys(options).find((name) => !["on_invalid", "toJsonSchema", "z"].includes(name));
  if (unknown !== undefined)
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${unknown}\``, { path: `/${unknown}` });
  if (on_invalid !== undefined && on_invalid !== "raise" && on_invalid !== "report")
    throw refused("expected `raise` or `report`", "/on_invalid");
  if (toJsonSchema !== undefined && typeof toJsonSchema !== "function")
    throw refused("expected a function", "/toJsonSchema");
  return options;
}

function refused(message: string, path: string): ContextWeaverError {
  return new ContextWeaverError("INVALID_INPUT", message, { path });
}

/** Lists tools with their places: the index in a list, the name in a set. */
function entriesOf(source: ToolSource, given: unknown): (readonly [number | string, unknown])[] {
  if (source === "ai-sdk") {
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return Object.entries(given);
    throw new ContextWeaverError("INVALID_INPUT", "expected a set of tools", {
      hint: "tools as generateText takes them, by name",
    });
  }
  if (Array.isArray(given)) return [...given.entries()];
  throw new ContextWeaverError("INVALID_INPUT", "expected a list of tools");
}

/** Reads a tool of OpenAI, in the form of chat completions, `{type, function}`, or of Responses, where the fields stand beside the type. */
function openAiTool(tool: Fields): GivenTool {
  const { type } = tool;
  const inner = typeof type === "string" ? tool[type] : undefined;
  const [own, prefix] =
    typeof inner === "object" && inner !== null ? [inner as Fields, `${String(type)}/`] : [tool, ""];
  const { name, description, parameters } = own;
  // What a custom tool takes is text.
  if (type === "custom") return { name, description, schema: undefined, field: `${prefix}format` };
  return {
    name,
    description,
    schema: parameters ?? undefined,
    field: `${prefix}parameters`,
    isHosted: type !== "function",
  };
}

/** Reads a tool of the AI SDK; its schema may be made when it is asked for. */
function aiSdkTool({ description, inputSchema, type }: Fields, name: number | string): GivenTool {
  const isLate = typeof inputSchema === "function" && !("~standard" in inputSchema);
  const schema = isLate ? ((inputSchema as () => unknown)() as unknown) : inputSchema;
  const own = typeof schema === "object" && schema !== null && "jsonSchema" in schema ? schema.jsonSchema : schema;
  const isPending = typeof own === "object" && own !== null && "then" in own;
  if (isPending)
    throw new ContextWeaverError("UNSUPPORTED", "the schema is a promise", {
      path: "/inputSchema",
      hint: "wait for it, and give what it becomes",
    });
  return {
    name,
    description,
    schema: own,
    field: "inputSchema",
    isHosted: typeof type === "string" && type.startsWith("provider") && own === undefined,
  };
}

/** What a tool of LangChain takes that was made without a schema. */
const TEXT_INPUT = { type: "object", properties: { input: { type: "string" } } };

/** Reads a tool of LangChain: its own, or a record as the provider takes it. */
function langChainTool(tool: Fields): GivenTool {
  const { name, description, schema, input_schema: ofAnthropic, type } = tool;
  if (schema !== undefined) {
    const { lc_name: nameOf } = tool.constructor as { readonly lc_name?: () => unknown };
    // Its schema is one of Zod 3 that LangChain made itself.
    const isText = typeof nameOf === "function" && nameOf.call(tool.constructor) === "DynamicTool";
    return { name, description, schema: isText ? TEXT_INPUT : schema, field: "schema" };
  }
  if (ofAnthropic !== undefined) return { name, description, schema: ofAnthropic, field: "input_schema" };
  if (type !== undefined) return openAiTool(tool);
  return { name, description, schema, field: "schema" };
}
