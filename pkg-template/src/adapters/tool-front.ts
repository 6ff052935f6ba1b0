// A tool list that stays the same from step to step, for agents with many tools. Providers put tool definitions before
// everything else, so a changed list makes the whole prompt new to their cache. The list therefore changes only where the
// prompt is made anew anyway, where it no longer fits, and where a step demands a tool that it lacks. In between,
// `find_tools` describes tools that are not in the list, and `call_tool` runs them.
import { countTokens } from "contextweaver";
import type { JsonObject } from "contextweaver";

/** What the front needs to know of a tool. */
export interface FrontTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent for tools that the provider itself runs, which are always in the list. */
  readonly schema?: JsonObject | undefined;
  /** Tokens of its definition. */
  readonly tokens: number;
}

/** What a step asks of the list. */
export interface FrontStep {
  /** Names of tools for a new list, the most wanted first. A list that goes on ignores them. */
  readonly wanted: readonly string[];
  /** Names of tools that this step must list, such as one that the model has to call. */
  readonly demanded: readonly string[];
  /** Most tokens of all listed definitions together. */
  readonly room: number;
  /** Whether the prompt of the step is new to the provider's cache anyway, so that another list costs nothing. */
  readonly isCut: boolean;
}

/** The tools that a step lists. */
export interface FrontList {
  /** Names of the listed tools, in the fixed order of the definitions. */
  readonly names: readonly string[];
  readonly tokens: number;
  /** Names of tools that had no room: demanded ones, wanted ones of a new list, or tools of the list before. */
  readonly left_out: readonly string[];
  /** Whether it is another list than that of the step before. */
  readonly isChanged: boolean;
}

/** The call of a tool that a model makes through `call_tool`. */
export interface FrontCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The call that the model meant, or the problem that it is told instead. */
export type ResolvedCall = { readonly call: FrontCall } | { readonly problem: string };

/** The tool by which a model runs a tool that is not in its list. */
export const CALL_TOOL = {
  name: "call_tool",
  description: "Run a tool that find_tools has told you of.",
  schema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The name of the tool, as find_tools tells it." },
      arguments: {
        type: "object",
        description: "Its arguments, by the schema that find_tools tells.",
        additionalProperties: true,
      },
    },
    required: ["name", "arguments"],
    additionalProperties: false,
  } as JsonObject,
};

/** Most tools that a search or an announcement describes. */
const MOST_FOUND = 5;
/**
 * Most tokens of all descriptions that show a schema. The first one shows its schema whatever it takes; descriptions without
 * a schema are not counted.
 */
const FOUND_TOKENS = 2_000;
/** Names that models give the fields `name` and `arguments` of a call of `call_tool`. */
const NAME_FIELDS = ["name", "tool", "tool_name", "toolName", "function"];
const ARGUMENT_FIELDS = ["arguments", "args", "input", "parameters", "params"];

/** The tools of a conversation, of which a prompt lists some. */
export class ToolFront {
  /** All tools by name, in the order in which definitions are sent. */
  readonly #tools: ReadonlyMap<string, FrontTool>;
  /** Names of tools that `call_tool` cannot run: the model calls them by their own names. */
  readonly #beside: ReadonlySet<string>;
  readonly #search: (query: string, most: number) => readonly string[];
  #listed: ReadonlySet<string> | undefined;
  /** Names of tools that were called through `call_tool`, the newest last. The next new list wants them. */
  readonly #run = new Set<string>();

  /**
   * `search` returns names of tools, the best match first. `beside` are tools that the model can call only by their own
   * names, such as `call_tool` itself. They are listed where a step demands them.
   */
  constructor(
    tools: readonly FrontTool[],
    search: (query: string, most: number) => readonly string[],
    beside: readonly FrontTool[] = [],
  ) {
    this.#tools = new Map([...tools, ...beside].map((tool) => [tool.name, tool]));
    this.#beside = new Set(beside.map(({ name }) => name));
    this.#search = search;
  }

  /** Names of tools that were called through `call_tool`, the newest first. */
  get run(): readonly string[] {
    return [...this.#run].reverse();
  }

  /** Names of the tools that the last step listed; undefined before the first step. */
  get listed(): readonly string[] | undefined {
    return this.#listed && [...this.#listed];
  }

  /** Goes on with the list of an earlier step, unless one of its tools is gone. */
  resume(names: readonly string[]): void {
    if (names.length > 0 && names.every((name) => this.#tools.has(name))) this.#listed = new Set(names);
  }

  /**
   * Returns the list for a step: the list of the step before, with the demanded tools. A new list, of the demanded and the
   * wanted tools, is made in the first step, in a cut, and when the list before no longer fits in `room`.
   */
  offer({ wanted, demanded, room, isCut }: FrontStep): FrontList {
    const before = this.#listed;
    const kept = [...(before ?? [])].filter((name) => this.#tools.has(name));
    const isNew = before === undefined || isCut || this.#tokensOf(kept) > room;
    const listed = new Set<string>();
    const left_out: string[] = [];
    let tokens = 0;
    for (const name of new Set([...demanded, ...(isNew ? wanted : kept)])) {
      const tool = this.#tools.get(name);
      if (!tool) continue;
      if (tokens + tool.tokens > room) left_out.push(name);
      else {
        tokens += tool.tokens;
        listed.add(name);
      }
    }
    this.#listed = listed;
    const isChanged =
      before === undefined || before.size !== listed.size || [...listed].some((name) => !before.has(name));
    return { names: [...this.#tools.keys()].filter((name) => listed.has(name)), tokens, left_out, isChanged };
  }

  /** Whether the list of the last step has a tool. */
  lists(name: string): boolean {
    return this.#listed?.has(name) ?? false;
  }

  /** Finds tools for a query and describes them for the model, with their schemas as far as {@link FOUND_TOKENS} allows. */
  find(query: string): { readonly names: readonly string[]; readonly text: string } {
    const names = this.#findable(query);
    return { names, text: names.length === 0 ? "No tool fits." : this.#told(names) };
  }

  /**
   * Describes those of the named tools that the list lacks and `call_tool` can run, at most {@link MOST_FOUND}; undefined
   * where there are none.
   */
  announce(names: readonly string[]): string | undefined {
    const missing = names
      .filter((name) => this.#callable(name) !== undefined && !this.lists(name))
      .slice(0, MOST_FOUND);
    return missing.length === 0 ? undefined : this.#told(missing);
  }

  /**
   * Reads the arguments of a call of `call_tool`: an object, or the JSON of one. Common slips of models are forgiven: other
   * names of fields, inexact names of tools, `null` for an absent argument. `parse` reads what is JSON.
   */
  resolve(given: unknown, parse: (json: string) => unknown = JSON.parse): ResolvedCall {
    const input = recordOf(given, parse);
    if (!input) return { problem: `The arguments of ${CALL_TOOL.name} are no JSON object. ${USAGE}` };
    const named = NAME_FIELDS.flatMap((field) => {
      const said = input[field];
      return typeof said === "string" && said !== "" ? [{ field, said, tool: this.#named(said) }] : [];
    });
    // Beside the name of the tool an argument may stand whose name is one of these.
    const found = named.find(({ tool }) => tool !== undefined) ?? named[0];
    if (found === undefined) return { problem: `The name of the tool is missing. ${USAGE}` };
    const { field, said, tool } = found;
    if (!tool) return { problem: this.#unknown(said) };
    const args = argumentsIn(input, field, tool.schema, parse);
    if (!args) return { problem: `The arguments of ${tool.name} are no JSON object. ${schemaOf(tool)}` };
    const meant = withoutNulls(args, tool.schema);
    const required = Array.isArray(tool.schema?.["required"]) ? (tool.schema["required"] as unknown[]) : [];
    const missing = required.filter((name) => typeof name === "string" && !Object.hasOwn(meant, name));
    if (missing.length > 0)
      return { problem: `${missing.join(", ")}: missing in the arguments of ${tool.name}. ${schemaOf(tool)}` };
    this.#run.delete(tool.name);
    this.#run.add(tool.name);
    return { call: { name: tool.name, arguments: meant } };
  }

  #tokensOf(names: readonly string[]): number {
    return names.reduce((sum, name) => sum + (this.#tools.get(name)?.tokens ?? 0), 0);
  }

  #told(names: readonly string[]): string {
    let room = FOUND_TOKENS;
    const cards = names.map((name, at) => {
      const tool = this.#tools.get(name) as FrontTool;
      const { description = "" } = tool;
      const brief = description === "" ? name : `${name}: ${description}`;
      const whole = `${brief}\narguments: ${JSON.stringify(tool.schema ?? {})}`;
      const cost = countTokens(whole);
      if (at > 0 && cost > room) return `${brief}\narguments: too long to show here; find ${name} alone`;
      room -= cost;
      return whole;
    });
    return [...cards, USAGE].join("\n\n");
  }

  /**
   * Finds a tool by the name that a model gives it. If no tool has exactly that name, case, punctuation and a prefix such as
   * `server.` are ignored, as long as only one tool matches.
   */
  #named(said: string): FrontTool | undefined {
    const exact = this.#callable(said);
    if (exact) return exact;
    const own = said.split(/[.:/]|__/).at(-1) ?? said;
    const meant = [plain(said), plain(own)];
    const [alike, ...more] = [...this.#tools.keys()].filter((name) => meant.includes(plain(name)));
    return alike === undefined || more.length > 0 ? undefined : this.#callable(alike);
  }

  /**
   * Returns a tool that `call_tool` can run; undefined for unknown tools, tools that the provider runs, and tools that the
   * model calls only by their own names.
   */
  #callable(name: string): FrontTool | undefined {
    const tool = this.#tools.get(name);
    return tool?.schema && !this.#beside.has(name) ? tool : undefined;
  }

  /** Names of the tools that match a query and that `call_tool` can run, the best match first. */
  #findable(query: string): readonly string[] {
    return this.#search(query, MOST_FOUND).filter((name) => this.#callable(name) !== undefined);
  }

  #unknown(said: string): string {
    if (this.#tools.has(said)) return `${said} is called by its own name, not by ${CALL_TOOL.name}.`;
    const [near] = this.#findable(said);
    const hint = near === undefined ? "Look for one by find_tools." : `Is it ${near}? Others are found by find_tools.`;
    return `There is no tool ${JSON.stringify(said)}. ${hint}`;
  }
}

const USAGE = `Run one by ${CALL_TOOL.name}: {"name": "…", "arguments": {…}}`;

function schemaOf({ schema }: FrontTool): string {
  return `Their schema: ${JSON.stringify(schema ?? {})}`;
}

/** The letters and digits of a name, in lower case. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Reads an object, or the JSON of one; undefined for everything else. */
function recordOf(given: unknown, parse: (json: string) => unknown = JSON.parse): JsonObject | undefined {
  let value = given;
  if (typeof value === "string") {
    try {
      value = parse(value);
    } catch {
      return undefined;
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/**
 * Returns the arguments in a call: from `arguments`, from a field of another name that models use, or from the fields beside
 * the tool's name.
 */
function argumentsIn(
  input: JsonObject,
  nameField: string,
  schema: JsonObject | undefined,
  parse: (json: string) => unknown,
): JsonObject | undefined {
  const properties = recordOf(schema?.["properties"]) ?? {};
  const field = ARGUMENT_FIELDS.find((one) => one !== nameField && input[one] !== undefined && input[one] !== null);
  const inner = field === undefined || input[field] === "" ? {} : recordOf(input[field], parse);
  // A tool may have a parameter of such a name.
  if (field !== undefined && (inner !== undefined || !Object.hasOwn(properties, field))) return inner;
  const { [nameField]: _, ...beside } = input;
  return Object.fromEntries(
    Object.entries(beside).filter(([name]) => !ARGUMENT_FIELDS.includes(name) || Object.hasOwn(properties, name)),
  );
}

/**
 * Leaves out arguments that are `null`, where the schema has the property, does not require it and does not allow `null`.
 */
function withoutNulls(args: JsonObject, schema: JsonObject | undefined): JsonObject {
  const properties = recordOf(schema?.["properties"]) ?? {};
  const required = Array.isArray(schema?.["required"]) ? (schema["required"] as unknown[]) : [];
  const isMeant = ([name, value]: [string, unknown]): boolean => {
    const property = recordOf(properties[name]);
    return value !== null || !property || required.includes(name) || allowsNull(property, schema ?? {});
  };
  return Object.fromEntries(Object.entries(args).filter(isMeant)) as JsonObject;
}

/** Most schemas that are read to tell whether one allows `null`. */
const MOST_READ = 1_000;

/**
 * Tells whether a schema allows `null`: what it does not exclude is allowed. `root` is what its references lead through, `read` has what
 * is known of the schemas on the way; one that leads back to itself excludes nothing by that.
 */
function allowsNull(given: unknown, root: JsonObject, read = new Map<JsonObject, boolean>()): boolean {
  const schema = recordOf(given);
  if (!schema) return given !== false;
  const known = read.get(schema);
  if (known !== undefined || read.size === MOST_READ) return known ?? true;
  read.set(schema, true);
  const { type, enum: values, $ref: reference } = schema;
  const isAllowed = (one: unknown): boolean => allowsNull(one, root, read);
  const listed = (name: string): readonly unknown[] => (Array.isArray(schema[name]) ? (schema[name] as unknown[]) : []);
  const allows =
    schema["nullable"] === true ||
    ((type === undefined || [type].flat().includes("null")) &&
      (!Array.isArray(values) || values.includes(null)) &&
      (!Object.hasOwn(schema, "const") || schema["const"] === null) &&
      [listed("anyOf"), listed("oneOf")].every((list) => list.length === 0 || list.some(isAllowed)) &&
      listed("allOf").every(isAllowed) &&
      (typeof reference !== "string" || isAllowed(referred(reference, root))));
  read.set(schema, allows);
  return allows;
}

/** What a reference leads to within a schema; undefined where it leads elsewhere. */
function referred(reference: string, root: JsonObject): unknown {
  const [place, ...path] = reference.split("/");
  if (place !== "#") return undefined;
  return path.reduce<unknown>((at, name) => recordOf(at)?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}
