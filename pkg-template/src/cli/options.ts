// The command line: what it may say and how that becomes options of a build.
import { parseArgs } from "node:util";
import type { BuildOptions, ContextManagerOptions, Phase, RouteOptions, RouterOptions, Selector } from "../api.js";

/** A problem with the command line or with the input: reported on stderr, exit code 2. */
export class UsageError extends Error {
  readonly about: "usage" | "input";

  constructor(message: string, about: "usage" | "input" = "usage") {
    super(message);
    this.about = about;
  }
}

export const USAGE = `contextweaver compiles a session into a prompt under a token budget and says what it left out; it chooses tools, too.

Usage
  contextweaver build <session.jsonl | -> [options]   one item per line; - reads standard input
  contextweaver drilldown <snapshot.json | -> [handle] [options]
                                                      artifacts of a snapshot, their views, or a part of one
  contextweaver route <tools.json | ->... <query> [options]
                                                      the few tools that a query needs
  contextweaver lint <tools.json | ->... [options]    what keeps tools from being chosen or makes them dangerous
  contextweaver diff <before> <after> [options]       what changed in a list of tools, and what that may break
  contextweaver convert <tools | result | messages | definition | session> <file | -> [options]
                                                      from one form into another
  contextweaver decisions <tool> [<arguments as JSON> | -] --store <file> [options]
                                                      a tool of the decision memory; serve is a server of MCP,
                                                      tools lists them
  contextweaver demo [--session <file>]               all four phases on a recorded session, and queries to 232 tools
  contextweaver --help | --version

Options of build
  --phase <phase>       route, call, interpret or answer (default: answer)
  --query <text>        what the prompt is about
  --tag <tag>           a tag that matters; may be repeated
  --budget <tokens>     tokens of the prompt (default: the phase's)
  --pin <id>            an item that must be in the prompt; may be repeated
  --header <text>       text above the items
  --footer <text>       text below the items
  --profile <name>      fast, balanced or accurate
  --append              lay the prompt out for provider prompt caches
  --compat <version>    0.18: decide as the Python library does
  --no-redact           leave secrets in the prompt
  --explain             say for every item why it was kept or dropped

Options of drilldown; a snapshot is what JSON.stringify(manager) wrote
  --views               list the views of every artifact
  --lines <from:to>     lines from 0, the last one not included; negative counts from the end
  --rows <from:to>      the same for rows of a table, of JSON or NDJSON
  --search <text>       lines or JSON values that hold a text
  --path <path>         what a path of JSON leads to, such as items[0].name
  --head <n>            the first characters
  --selector <json>     any selector, such as one of a view
  --max-tokens <n>      most tokens; a last line says how to go on

Lists of tools are what a server answered to tools/list, or catalogs. Of several files each is a server by its name.

Options of route
  --query <text>        the query, in place of the last word
  --top <n>             most tools (default: 10)
  --namespace <name>    only tools of this namespace; may be repeated
  --exclude <id>        a tool that must not be chosen; may be repeated
  --pin <id>            a tool that must be chosen; may be repeated
  --budget <tokens>     print the cards that a model gets, in so many tokens
  --debug               say what each tool was found by
  --compat <version>    0.18: choose as the Python library does
  --explain             explain the choice as Markdown

Options of lint
  --pin                 print a digest of every tool as JSON, to be kept
  --pinned <file>       say what is not as it was when the digests were printed

Options of diff
  --check               exit with 1 when something changed

convert tools: what a server answered to tools/list becomes a catalog
  --server <name>       the server, which becomes the namespace (default: guessed from the names)
  --id-form <form>      name or canonical (default: name)
  --to <form>           catalog, or definitions for openai-chat, openai-responses, anthropic, gemini or ai-sdk
                        (default: catalog)
convert result: what a tool of MCP answered becomes an envelope
  --tool <name>         whose result it is
  --artifacts <folder>  write images, audio and resources to files there; none is overwritten
convert messages: a list, or a request that has one, becomes messages of another provider
  --from <format>       openai-chat, openai-responses, anthropic, gemini, ai-sdk-ui, ai-sdk-model, or items, one per line
  --to <format>         the same
convert definition: a definition of a tool, or a list of them, becomes tools of MCP; exit code 1 when one is left out
  --to <form>           mcp, the default
convert session: a recorded session of MCP, one JSON object per line, becomes items

Options of decisions; a store is what JSON.stringify(store) wrote
  --store <file>        the store; made if there is none, and written as a whole or not at all
  --guardrails <file>   rules as JSON or YAML, beside those of the store
  --agent <name>        who calls

Options of all but demo, where --color is the only one
  --json                print the result as JSON
  --color <when>        auto, always or never (default: auto; NO_COLOR is respected)

Exit codes: 0 done, 1 it cannot be done, or lint, a check or a guardrail has found something, 2 bad usage or bad input.
`;

const OPTIONS = {
  phase: { type: "string" },
  query: { type: "string", short: "q" },
  tag: { type: "string", multiple: true },
  budget: { type: "string", short: "b" },
  pin: { type: "string", multiple: true },
  header: { type: "string" },
  footer: { type: "string" },
  profile: { type: "string" },
  append: { type: "boolean" },
  compat: { type: "string" },
  "no-redact": { type: "boolean" },
  explain: { type: "boolean" },
  json: { type: "boolean" },
  color: { type: "string" },
  session: { type: "string" },
  views: { type: "boolean" },
  lines: { type: "string" },
  rows: { type: "string" },
  search: { type: "string" },
  path: { type: "string" },
  head: { type: "string" },
  selector: { type: "string" },
  "max-tokens": { type: "string" },
  top: { type: "string" },
  namespace: { type: "string", multiple: true },
  exclude: { type: "string", multiple: true },
  debug: { type: "boolean" },
  pinned: { type: "string" },
  check: { type: "boolean" },
  server: { type: "string" },
  "id-form": { type: "string" },
  to: { type: "string" },
  from: { type: "string" },
  tool: { type: "string" },
  artifacts: { type: "string" },
  store: { type: "string" },
  guardrails: { type: "string" },
  agent: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** To lint, a pin is nothing that is named. */
const OPTIONS_OF_LINT = { ...OPTIONS, pin: { type: "boolean" } } as const;

/** Which options a command takes beside `color`, `help` and `version`. */
const OF_COMMAND: Readonly<Record<string, string>> = {
  build: "phase query tag budget pin header footer profile append compat no-redact explain json",
  drilldown: "views lines rows search path head selector max-tokens json",
  route: "query top namespace exclude pin budget debug compat explain json",
  lint: "pin pinned json",
  diff: "check json",
  convert: "server id-form to from tool artifacts json",
  decisions: "store guardrails agent json",
  demo: "session",
};
const SELECTORS = ["lines", "rows", "search", "path", "head", "selector"];

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** A parsed command line. */
export interface CommandLine {
  readonly command: string;
  readonly files: readonly string[];
  readonly values: Values;
}

/** Parses the command line. */
export function parse(args: readonly string[]): CommandLine {
  let parsed: { values: Values; positionals: string[] };
  const first = args.find((arg) => Object.hasOwn(OF_COMMAND, arg));
  try {
    parsed = parseArgs({ args, options: first === "lint" ? OPTIONS_OF_LINT : OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0] ?? "bad usage");
  }
  const { values, positionals } = parsed;
  if (values["help"]) return { command: "help", files: [], values };
  if (values["version"]) return { command: "version", files: [], values };
  const [command, ...files] = positionals;
  const accepted = Object.hasOwn(OF_COMMAND, command ?? "") ? OF_COMMAND[command ?? ""]?.split(" ") : undefined;
  if (!command || !accepted) throw new UsageError(command ? `unknown command '${command}'` : "say what to do");
  for (const name of Object.keys(values)) {
    if (name !== "color" && !accepted.includes(name)) throw new UsageError(`'${command}' has no option '--${name}'`);
  }
  const color = values["color"] ?? "auto";
  if (!["auto", "always", "never"].includes(color as string)) throw new UsageError("--color is auto, always or never");
  return { command, files, values };
}

/** What `build` passes on; the engine checks the values. */
export function buildOptions(values: Values): BuildOptions {
  return defined<BuildOptions>({
    phase: (values["phase"] ?? "answer") as Phase,
    query: values["query"],
    query_tags: values["tag"],
    budget_tokens: wholeNumber(values, "budget"),
    pin: values["pin"],
    header: values["header"],
    footer: values["footer"],
    explain: values["explain"],
  });
}

/** What `route` passes on; the engine checks the values. */
export function routeOptions(values: Values): { options: RouteOptions; compat: RouterOptions["compat"] } {
  const options = defined<RouteOptions>({
    top_k: wholeNumber(values, "top"),
    allowed_namespaces: values["namespace"],
    exclude_ids: values["exclude"],
    pin_ids: values["pin"],
  });
  return { options, compat: values["compat"] as RouterOptions["compat"] };
}

/** The selector that the command line describes, if it does. */
export function selectorOf(values: Values): Selector | undefined {
  const [given, other] = SELECTORS.filter((name) => values[name] !== undefined);
  if (given === undefined) return undefined;
  if (other !== undefined) throw new UsageError(`--${given} and --${other} exclude each other`);
  const value = values[given] as string;
  switch (given) {
    case "lines":
    case "rows":
      return { type: given, ...range(value, given) };
    case "search":
      return { type: "search", text: value };
    case "path":
      return { type: "json_path", path: value };
    case "head":
      return { type: "head", chars: wholeNumber(values, "head") ?? 0 };
    default:
      return parseSelector(value);
  }
}

function range(text: string, name: string): { start?: number; end?: number } {
  const [, start, end] = /^(-?\d{1,9})?:(-?\d{1,9})?$/.exec(text) ?? [];
  if (start === undefined && end === undefined) throw new UsageError(`--${name} is a range, such as 10:20, 10: or :20`);
  return defined({ start: start && Number(start), end: end && Number(end) });
}

/** The engine checks what it is; JSON.parse would quote it. */
function parseSelector(text: string): Selector {
  try {
    return JSON.parse(text) as Selector;
  } catch {
    throw new UsageError("--selector is not valid JSON");
  }
}

/** An option that is a number. */
export function wholeNumber(values: Values, name: string): number | undefined {
  const value = values[name] as string | undefined;
  if (value !== undefined && !/^\d{1,9}$/.test(value)) throw new UsageError(`--${name} is a whole number`);
  return value === undefined ? undefined : Number(value);
}

/** What the manager is made with. */
export function managerOptions(values: Values): ContextManagerOptions {
  return defined<ContextManagerOptions>({
    profile: values["profile"],
    compat: values["compat"],
    append: values["append"],
    redact_secrets: values["no-redact"] ? false : undefined,
  });
}

function defined<T>(record: Record<string, unknown>): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}
