// The constant front of many tools. Providers put definitions of tools before everything else, so a list that changes makes the
// whole prompt new to their cache: it changes only where the prompt is made anew anyway. In between, `find_tools` tells of tools
// that are not in the list, and `call_tool` runs them.
import { countTokens } from "contextweaver";
import type { JsonObject } from "contextweaver";

/** A tool as the front knows it. */
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
  /** What would be in the list if it were made now, the most wanted first. */
  readonly wanted: readonly string[];
  /** What must be in the list now, such as a tool that has to be called. */
  readonly demanded: readonly string[];
  /** Tokens that the definitions may take. */
  readonly room: number;
  /** Whether the prompt of the step is new to the provider's cache anyway, so that another list costs nothing. */
  readonly isCut: boolean;
}

/** The list of a step. */
export interface FrontList {
  /** In the order of the definitions, which is always the same. */
  readonly names: readonly string[];
  readonly tokens: number;
  /** What was asked for and had no room. */
  readonly left_out: readonly string[];
  /** Whether it is another list than that of the step before. */
  readonly isChanged: boolean;
}

/** A call that `call_tool` stands for. */
export interface FrontCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The call that is meant, or what the model is told instead. */
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

/** Tools that a search tells of. */
const MOST_FOUND = 5;
/** Tokens that they may take together; the first is told of in any case. */
const FOUND_TOKENS = 2_000;
/** What models call the two fields, beside their names. */
const NAME_FIELDS = ["name", "tool", "tool_name", "toolName", "function"];
const ARGUMENT_FIELDS = ["arguments", "args", "input", "parameters", "params"];

/** The tools of a conversation, of which a prompt lists some. */
export class ToolFront {
  /** In the order in which definitions are sent. */
  readonly #tools: ReadonlyMap<string, FrontTool>;
  /** Those that are called by their own names alone. */
  readonly #beside: ReadonlySet<string>;
  readonly #search: (query: string, most: number) => readonly string[];
  #listed: ReadonlySet<string> | undefined;
  /** What was run by `call_tool`, the newest last: it is wanted in the next list. */
  readonly #run = new Set<string>();

  /**
   * `search` returns names of tools, the best first. `beside` are tools that are listed with the others when they are demanded, and
   * called by their own names alone, such as `call_tool` itself.
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

  /** What was run by `call_tool`, the newest first. */
  get run(): readonly string[] {
    return [...this.#run].reverse();
  }

  /** The names of the list of the last step; undefined before the first. */
  get listed(): readonly string[] | undefined {
    return this.#listed && [...this.#listed];
  }

  /** Goes on with the list of an earlier step, as long as all of its tools are there. */
  resume(names: readonly string[]): void {
    if (names.length > 0 && names.every((name) => this.#tools.has(name))) this.#listed = new Set(names);
  }

  /**
   * The list for a step: that of the step before, with what is demanded. It is made anew, of what is demanded and wanted, in the first
   * step, in a cut, and where it has no room any more.
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

  /** Finds tools for a need: how each is called, with the schemas of those that have room. */
  find(query: string): { readonly names: readonly string[]; readonly text: string } {
    const names = this.#findable(query);
    return { names, text: names.length === 0 ? "No tool fits." : this.#told(names) };
  }

  /** Tells of tools that a step wants and does not list; nothing where there are none. */
  announce(names: readonly string[]): string | undefined {
    const missing = names
      .filter((name) => this.#callable(name) !== undefined && !this.lists(name))
      .slice(0, MOST_FOUND);
    return missing.length === 0 ? undefined : this.#told(missing);
  }

  /** Reads a call of `call_tool`: an object, or the JSON of one. What a model is likely to have meant is what counts. */
  resolve(given: unknown): ResolvedCall {
    const input = recordOf(given);
    if (!input) return { problem: `The arguments of ${CALL_TOOL.name} are no JSON object. ${USAGE}` };
    const fields = NAME_FIELDS.filter((one) => typeof input[one] === "string" && input[one] !== "");
    // Beside the name of the tool an argument may stand whose name is one of these.
    const field = fields.find((one) => this.#named(input[one] as string) !== undefined) ?? fields[0];
    if (field === undefined) return { problem: `The name of the tool is missing. ${USAGE}` };
    const said = input[field] as string;
    const tool = this.#named(said);
    if (!tool) return { problem: this.#unknown(said) };
    const args = argumentsIn(input, field, tool.schema);
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

  /** Finds a tool by what a model calls it: its name, or that of no other but for case, signs, and what stands before it. */
  #named(said: string): FrontTool | undefined {
    const exact = this.#callable(said);
    if (exact) return exact;
    const own = said.split(/[.:/]|__/).at(-1) ?? said;
    const [alike, ...more] = [...this.#tools.keys()].filter(
      (name) => plain(name) === plain(said) || plain(name) === plain(own),
    );
    return alike === undefined || more.length > 0 ? undefined : this.#callable(alike);
  }

  /** A tool that `call_tool` can run; those that the provider runs it cannot. */
  #callable(name: string): FrontTool | undefined {
    const tool = this.#tools.get(name);
    return tool?.schema && !this.#beside.has(name) ? tool : undefined;
  }

  /** The tools for a need that `call_tool` can run, the best first. */
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

/** Reads a record, or the JSON of one. */
function recordOf(given: unknown): JsonObject | undefined {
  let value = given;
  if (typeof value === "string") {
    try {
      value = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The arguments in a call: under their name, under another that models give them, or beside the name of the tool. */
function argumentsIn(input: JsonObject, nameField: string, schema: JsonObject | undefined): JsonObject | undefined {
  const properties = recordOf(schema?.["properties"]) ?? {};
  const field = ARGUMENT_FIELDS.find((one) => one !== nameField && input[one] !== undefined && input[one] !== null);
  const inner = field === undefined || input[field] === "" ? {} : recordOf(input[field]);
  // A tool may have a parameter of such a name.
  if (field !== undefined && (inner !== undefined || !Object.hasOwn(properties, field))) return inner;
  const { [nameField]: _, ...beside } = input;
  return Object.fromEntries(
    Object.entries(beside).filter(([name]) => !ARGUMENT_FIELDS.includes(name) || Object.hasOwn(properties, name)),
  );
}

/** Leaves out what a model says is nothing, where the tool can do without it and knows no `null`. */
function withoutNulls(args: JsonObject, schema: JsonObject | undefined): JsonObject {
  const properties = recordOf(schema?.["properties"]) ?? {};
  const required = Array.isArray(schema?.["required"]) ? (schema["required"] as unknown[]) : [];
  const isMeant = ([name, value]: [string, unknown]): boolean => {
    const property = recordOf(properties[name]);
    return value !== null || !property || required.includes(name) || mentionsNull(property);
  };
  return Object.fromEntries(Object.entries(args).filter(isMeant)) as JsonObject;
}

/** Whether a schema knows `null`, other than in what it says to models. */
function mentionsNull(schema: JsonObject): boolean {
  const said = (name: string, value: unknown): unknown =>
    typeof value === "string" && ["description", "title"].includes(name) ? undefined : value;
  return JSON.stringify(schema, said).includes("null");
}
