// The command line: what it may say and how that becomes options of a build.
import { parseArgs } from "node:util";
import { nearest } from "../boundary/nearest.js";
import type { BuildOptions, ContextManagerOptions, Phase, RouteOptions, Selector } from "../api.js";

/** A problem with the command line or with the input: reported on stderr, exit code 2. */
export class UsageError extends Error {
  readonly about: "usage" | "input";

  constructor(message: string, about: "usage" | "input" = "usage") {
    super(message);
    this.about = about;
  }
}

/** What each command is called with. */
const SYNOPSIS: Readonly<Record<string, string>> = {
  init: `contextweaver init [options]                        a running example for the framework of this folder's project`,
  build: `contextweaver build <session.jsonl | -> [options]   one item per line, or a list; - reads standard input`,
  audit: `contextweaver audit <files or folders | ->... [options]
                                                      what recorded sessions of agents cost, and would cost`,
  drilldown: `contextweaver drilldown <snapshot.json | -> [handle] [options]
                                                      artifacts of a snapshot, their views, or a part of one`,
  recall: `contextweaver recall <snapshot.json | -> <query> [options]
                                                      what it holds about something, cited`,
  inspect: `contextweaver inspect <session | snapshot | messages.json | -> [options]
                                                      the page with it: what of it enters the prompts, and why`,
  route: `contextweaver route <tools.json | ->... <query> [options]
                                                      the few tools that a query needs`,
  lint: `contextweaver lint <tools.json | ->... [options]    what keeps tools from being chosen or makes them dangerous`,
  diff: `contextweaver diff <before> <after> [options]       what changed in a list of tools, and what that may break`,
  convert: `contextweaver convert <tools | result | messages | definition | session> <file | -> [options]
                                                      from one form into another`,
  decisions: `contextweaver decisions <tool> [<arguments as JSON> | -] --store <file> [options]
                                                      a tool of the decision memory; serve is a server of MCP,
                                                      tools lists them`,
  serve: `contextweaver serve --store <file.db | folder> [options]
                                                      sessions over HTTP, on this machine`,
  gateway: `contextweaver gateway --config <mcp.json> [options]
                                                      any MCP servers behind one small front; doctor says what is
                                                      wrong with a configuration, login [server] opens servers that
                                                      want a user, accept <server> [tool] takes tools out of
                                                      quarantine, add <name> writes an entry of the registry`,
  proxy: `contextweaver proxy [options]                       one endpoint before the providers of models, which keeps each
                                                      conversation of an agent within a token budget`,
  run: `contextweaver run [options] -- <agent> [arguments]  an agent behind such a proxy; at the end what was saved`,
  install: `contextweaver install <agent> [options]             large results of its tools are shortened before the agent sees them:
                                                      claude-code, opencode, gemini-cli or codex; uninstall takes it away`,
  uninstall: `contextweaver uninstall <agent> [options]           takes away what install has written, and nothing else`,
  hook: `contextweaver hook <agent> [options]                what an agent runs after each tool: the event on standard input`,
  mcp: `contextweaver mcp [options]                         drilldown and recall over those results, as a server of MCP`,
  demo: `contextweaver demo [--session <file>]               all four phases on a recorded session, and queries to 232 tools`,
};

/** What is said of the options of each command, as it stands below the synopsis. */
const HELP: Readonly<Record<string, string>> = {
  init: `Options of init; it writes contextweaver-example.mjs
  --framework <name>    write for this one (default: what package.json has)
  --list                print the frameworks there are
  --force               write over a file that is there
`,
  build: `Options of build
  --phase <phase>       route, call, interpret or answer (default: answer)
  --query <text>        what the prompt is about
  --tag <tag>           a tag that matters; may be repeated
  --budget <tokens>     tokens of the prompt (default: the phase's)
  --pin <id>            an item that must be in the prompt; may be repeated
  --header <text>       text above the items
  --footer <text>       text below the items
  --profile <name>      fast, balanced or accurate
  --no-redact           leave secrets in the prompt
  --explain             say for every item why it was kept or dropped
`,
  audit: `Options of audit; it reads sessions of Claude Code, Codex, OpenCode, Gemini CLI, mini-swe-agent and OpenHands, logs of requests
to the APIs of OpenAI, Anthropic and Gemini, and spans of OpenTelemetry
  --budgets <tokens>    with contextweaver and with plain policies, at so many tokens of a prompt (default: 32000,64000,128000);
                        none for no comparison
  --prices <file>       prices of models as JSON, before those that are known
  --html <file>         write the report as one HTML file, too
`,
  drilldown: `Options of drilldown; a snapshot is what JSON.stringify(manager) wrote
  --views               list the views of every artifact
  --lines <from:to>     lines from 0, the last one not included; negative counts from the end
  --rows <from:to>      the same for rows of a table, of JSON or NDJSON
  --search <text>       lines or JSON values that hold a text
  --path <path>         what a path of JSON leads to, such as items[0].name
  --head <n>            the first characters
  --selector <json>     any selector, such as one of a view
  --max-tokens <n>      most tokens; a last line says how to go on
`,
  recall: `Options of recall; a snapshot is what JSON.stringify(manager) wrote
  --max-tokens <n>      most tokens of what is found (default: 300)
`,
  inspect: `Options of inspect; it runs until it is stopped, and what it serves never leaves this machine
  --port <number>       on 127.0.0.1 (default: any that is free)
  --no-open             print the address alone, open no browser
`,
  route: `Options of route
  --query <text>        the query, in place of the last word
  --top <n>             most tools (default: 10)
  --namespace <name>    only tools of this namespace; may be repeated
  --exclude <id>        a tool that must not be chosen; may be repeated
  --pin <id>            a tool that must be chosen; may be repeated
  --budget <tokens>     print the cards that a model gets, in so many tokens
  --debug               say what each tool was found by
  --explain             explain the choice as Markdown
`,
  lint: `Options of lint
  --pin                 print a digest of every tool as JSON, to be kept
  --pinned <file>       say what is not as it was when the digests were printed
`,
  diff: `Options of diff
  --check               exit with 1 when something changed
`,
  convert: `convert tools: what a server answered to tools/list, or another list of tools, becomes a catalog
  --server <name>       the server, which becomes the namespace (default: guessed from the names, or none)
  --id-form <form>      name or canonical (default: name)
  --to <form>           catalog, or definitions for openai-chat, openai-responses, anthropic, gemini or ai-sdk
                        (default: catalog)
convert result: what a tool of MCP answered becomes an envelope
  --tool <name>         whose result it is
  --artifacts <folder>  write images, audio and resources to files there; none is overwritten
convert messages: a list, one per line, or a request that has a list, becomes messages of another provider
  --from <format>       openai-chat, openai-responses, anthropic, gemini, ai-sdk-ui, ai-sdk-model, or items, one per line
  --to <format>         the same
convert definition: a definition of a tool, or a list of them, becomes tools of MCP; exit code 1 when one is left out
  --to <form>           mcp, the default
convert session: a recorded session of MCP, one JSON object per line, becomes items
`,
  decisions: `Options of decisions; a store is what JSON.stringify(store) wrote
  --store <file>        the store; made if there is none, and written as a whole or not at all
  --guardrails <file>   rules as JSON or YAML, beside those of the store
  --agent <name>        who calls
`,
  serve: `Options of serve; it runs until it is stopped
  --store <path>        where sessions are kept: SQLite in a file that ends in .db or .sqlite, or files in a folder
  --port <number>       default: 8321; 0 for any that is free
  --host <name>         default: 127.0.0.1
  --idle-days <number>  remove sessions that nobody wrote to for so many days, at the start and every hour (default: none)
  --token <text>        what clients must send (default: CONTEXTWEAVER_TOKEN); needed beyond this machine
`,
  gateway: `Options of gateway; it speaks MCP on standard input and output until these end, or over HTTP until it is stopped
  --config <file>       servers as desktop clients and editors write them; may be repeated
  --mode <mode>         firewall: all tools, large results as digests; search: tools are found by search_tools and called
                        by call_tool; auto: firewall up to 40 tools (default: auto)
  --store <path>        keep results, pins of tools and what was accepted: SQLite in a .db file, or files in a folder
  --http                Streamable HTTP at /mcp, counts at /stats
  --port <number>       default: 8322; 0 for any that is free
  --host <name>         default: 127.0.0.1
  --token <text>        what clients must send (default: CONTEXTWEAVER_TOKEN); needed beyond this machine
  --result-tokens <number>  most tokens of a result that clients get (default: 1150, or a sixteenth of context_tokens)
  --login-port <number> where the browser comes back to after a login to a server, on 127.0.0.1 (default: any that is free)
  --page                serve a page on 127.0.0.1 that shows all this while the gateway runs, with accept for quarantine; its address
                        is printed on standard error (--page-port where the port must be a known one)
  --from <file>         of add: the server.json of the registry, its address, or the address of a server that has a card
  --kind <kind>         of add: npm, pypi, oci, nuget or remote, where the document has several
  --dry-run             of add: show what would be written; --force replaces an entry
  --inspect             print servers, tools and tokens saved of the gateway that runs on --port, or of --config
`,
  proxy: `Options of proxy; it runs until it is stopped
  --budget <tokens>     most tokens of a call of a model (default: 60000)
  --thrift <share>      from 0, which cuts a prompt when it must, to 1, which saves what it can (default: 0)
  --openai <address>    what stands in place of https://api.openai.com; --anthropic and --gemini the same
  --mask                mask secrets in prompts that are made shorter
  --verbose             a line for each request on standard error
  --port <number>       default: 8323; 0 for any that is free
  --host <name>         default: 127.0.0.1
  --token <text>        what clients must send as x-contextweaver-token (default: CONTEXTWEAVER_TOKEN); needed beyond this machine
`,
  run: `run takes --budget, --thrift, --openai, --anthropic, --gemini, --mask and --verbose of proxy before --; behind it stands the agent
with its own arguments. Where OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL is set, it stands behind the proxy.
`,
  install: `Options of install; it shows what it writes, and asks
  --yes                 write without asking
  --result-tokens <n>   most tokens of a result that the agent sees (default: 1150)
  --mask                mask secrets in results that are shortened
`,
  uninstall: `Options of uninstall; results that were stored stay in .contextweaver
  --yes                 do it without asking
`,
  hook: `Options of hook; whatever goes wrong, the result stays as it is, the exit code is 0, and hook.log in the store says why
  --store <folder>      where results are kept (default: .contextweaver in the project)
  --result-tokens <n>   most tokens of a result that the agent sees (default: 1150)
  --mask                mask secrets in results that are shortened
`,
  mcp: `Options of mcp; it speaks MCP on standard input and output until these end
  --store <folder>      where results are kept (default: .contextweaver)
  --mask                mask secrets in what is read
`,
  demo: "",
};

/** Where tools come from, for the commands that read them. */
const TOOL_LISTS = `Lists of tools are what a server answered to tools/list, catalogs, OpenAPI documents, A2A agent cards, all as JSON, or a folder
with skills (SKILL.md). Of several files each is a server by its name.
`;
const EXIT_CODES = `Exit codes: 0 done, 1 it cannot be done, or lint, a check or a guardrail has found something, 2 bad usage or bad input.
`;
const COMMON = `  --json                print the result as JSON
  --color <when>        auto, always or never (default: auto; NO_COLOR is respected)
`;

const COMMANDS = Object.keys(SYNOPSIS);
/** Those that print nothing as JSON. */
const BARE = ["demo", "inspect", "serve", "proxy", "run", "install", "uninstall", "hook", "mcp"];

/** All there is. */
export const USAGE = [
  `contextweaver compiles a session into a prompt under a token budget and says what it left out; it chooses tools, too.

Usage
${COMMANDS.map((command) => `  ${SYNOPSIS[command]}\n`).join("")}  contextweaver <command> --help                      the help of a command alone
  contextweaver --help | --version
`,
  ...["init", "build", "audit", "drilldown", "recall", "inspect"].map((command) => HELP[command]),
  TOOL_LISTS,
  ...["route", "lint", "diff", "convert", "decisions", "serve", "gateway", "proxy", "run", "install", "uninstall", "hook", "mcp"].map((command) => HELP[command]),
  `Options of all but ${BARE.slice(0, -1).join(", ")} and ${BARE.at(-1)}, where --color is the only one\n${COMMON}`,
  EXIT_CODES,
].join("\n");

/** What is to be known of one command. */
export function usageOf(command: string): string {
  const synopsis = (SYNOPSIS[command] ?? "").replaceAll(/\n {40,}/g, "\n      ").replace(/ {3,}/, "\n      ");
  const lists = ["route", "lint", "diff"].includes(command) ? [TOOL_LISTS] : [];
  const isBare = BARE.includes(command);
  const common = isBare ? COMMON.slice(COMMON.indexOf("\n") + 1) : COMMON;
  const own = HELP[command] ?? "";
  return [`Usage\n  ${synopsis}\n`, ...lists, ...(own ? [own] : []), `Options of ${isBare ? command : "all commands"}\n${common}`, EXIT_CODES].join("\n");
}

const OPTIONS = {
  phase: { type: "string" },
  query: { type: "string", short: "q" },
  tag: { type: "string", multiple: true },
  budget: { type: "string", short: "b" },
  pin: { type: "string", multiple: true },
  header: { type: "string" },
  footer: { type: "string" },
  profile: { type: "string" },
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
  kind: { type: "string" },
  "dry-run": { type: "boolean" },
  page: { type: "boolean" },
  "page-port": { type: "string" },
  tool: { type: "string" },
  artifacts: { type: "string" },
  store: { type: "string" },
  guardrails: { type: "string" },
  agent: { type: "string" },
  port: { type: "string" },
  "result-tokens": { type: "string" },
  "login-port": { type: "string" },
  "no-open": { type: "boolean" },
  "idle-days": { type: "string" },
  host: { type: "string" },
  token: { type: "string" },
  config: { type: "string", multiple: true },
  mode: { type: "string" },
  http: { type: "boolean" },
  inspect: { type: "boolean" },
  budgets: { type: "string" },
  prices: { type: "string" },
  html: { type: "string" },
  thrift: { type: "string" },
  openai: { type: "string" },
  anthropic: { type: "string" },
  gemini: { type: "string" },
  mask: { type: "boolean" },
  verbose: { type: "boolean" },
  yes: { type: "boolean", short: "y" },
  framework: { type: "string" },
  list: { type: "boolean" },
  force: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** To lint, a pin is nothing that is named. */
const OPTIONS_OF_LINT = { ...OPTIONS, pin: { type: "boolean" } } as const;

/** Which options a command takes beside `color`, `help` and `version`. */
const OF_COMMAND: Readonly<Record<string, string>> = {
  init: "framework list force json",
  build: "phase query tag budget pin header footer profile no-redact explain json",
  audit: "budgets prices html json",
  drilldown: "views lines rows search path head selector max-tokens json",
  recall: "max-tokens json",
  inspect: "port no-open",
  route: "query top namespace exclude pin budget debug explain json",
  lint: "pin pinned json",
  diff: "check json",
  convert: "server id-form to from tool artifacts json",
  decisions: "store guardrails agent json",
  serve: "store port host token idle-days",
  gateway: "config mode store http result-tokens login-port port host token inspect page page-port from kind dry-run force json",
  proxy: "budget thrift openai anthropic gemini mask verbose port host token",
  run: "budget thrift openai anthropic gemini mask verbose",
  install: "yes result-tokens mask",
  uninstall: "yes",
  hook: "store result-tokens mask",
  mcp: "store mask",
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
  const options = first === "lint" ? OPTIONS_OF_LINT : OPTIONS;
  try {
    parsed = parseArgs({ args: withNegatives(args, options), options, allowPositionals: true });
  } catch (error) {
    throw badOption(error as Error & { code?: string }, options);
  }
  const { values, positionals } = parsed;
  const [command, ...files] = positionals;
  const accepted = Object.hasOwn(OF_COMMAND, command ?? "") ? OF_COMMAND[command ?? ""]?.split(" ") : undefined;
  if (command && !accepted) throw unknown(`unknown command '${command}'`, nearest(command, COMMANDS));
  if (values["help"]) return { command: "help", files: command ? [command] : [], values };
  if (values["version"]) return { command: "version", files: [], values };
  if (!command || !accepted) throw new UsageError("say what to do");
  for (const name of Object.keys(values)) {
    if (name === "color" || accepted.includes(name)) continue;
    const meant = nearest(name, accepted);
    throw unknown(`'${command}' has no option '--${name}'`, meant && `--${meant}`);
  }
  const color = values["color"] ?? "auto";
  if (!["auto", "always", "never"].includes(color as string)) throw new UsageError("--color is auto, always or never");
  return { command, files, values };
}

type OptionTable = Readonly<Record<string, { readonly type: "string" | "boolean"; readonly short?: string }>>;

/** Joins an option with a number or range below zero, which the parser would take for other options. */
function withNegatives(args: readonly string[], options: OptionTable): string[] {
  const takesText = ([name, { type, short }]: [string, OptionTable[string]]): string[] =>
    type === "string" ? [`--${name}`, ...(short ? [`-${short}`] : [])] : [];
  const names = new Map(Object.entries(options).flatMap((entry) => takesText(entry).map((written) => [written, `--${entry[0]}`])));
  const joined: string[] = [];
  for (const arg of args) {
    const name = names.get(joined.at(-1) ?? "");
    if (name !== undefined && /^-\d/.test(arg) && !joined.includes("--")) joined.splice(-1, 1, `${name}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** Says in our words what the parser does not understand. */
function badOption({ code, message }: Error & { code?: string }, options: OptionTable): UsageError {
  const [, name = ""] = /'(?:-\w, )?--?([\w-]+)/.exec(message) ?? [];
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const meant = nearest(name, Object.keys(options));
    return unknown(`unknown option '${name.length > 1 ? "--" : "-"}${name}'`, meant && `--${meant}`);
  }
  const takes = options[name]?.type === "string" ? "needs a value" : "takes no value";
  return new UsageError(name in NUMBERS && takes === "needs a value" ? `${numberOf(name)}, and none was given` : `--${name} ${takes}`);
}

function unknown(problem: string, meant: string | undefined): UsageError {
  return new UsageError(meant ? `${problem}; did you mean '${meant}'?` : problem);
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
export function routeOptions(values: Values): RouteOptions {
  return defined<RouteOptions>({
    top_k: wholeNumber(values, "top"),
    allowed_namespaces: values["namespace"],
    exclude_ids: values["exclude"],
    pin_ids: values["pin"],
  });
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

/** The options that are numbers: of what, from where to where. */
const NUMBERS: Readonly<Record<string, readonly [of: string, least: number, most: number]>> = {
  budget: ["tokens", 0, 2 ** 24],
  "max-tokens": ["tokens", 0, 2 ** 24],
  "result-tokens": ["tokens", 100, 2 ** 24],
  head: ["characters", 0, 2 ** 31 - 1002],
  top: ["tools", 1, 10_000],
  port: ["ports", 0, 65_535],
  "login-port": ["ports", 1, 65_535],
  "page-port": ["ports", 0, 65_535],
  "idle-days": ["days", 1, 36_500],
};

function numberOf(name: string): string {
  const [of, least, most] = NUMBERS[name] ?? ["things", 0, 0];
  return `--${name} is a whole number of ${of} from ${least} to ${most}`;
}

/** An option that is a number. */
export function wholeNumber(values: Values, name: string): number | undefined {
  const value = values[name] as string | undefined;
  if (value === undefined) return undefined;
  const [, least, most] = NUMBERS[name] ?? ["", 0, 0];
  const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN;
  if (!(number >= least && number <= most)) throw new UsageError(`${numberOf(name)}, not '${value.slice(0, 40)}'`);
  return number;
}

/** An option that is a share. */
export function share(values: Values, name: string): number | undefined {
  const value = values[name] as string | undefined;
  if (value === undefined) return undefined;
  const number = /^(?:0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(value) ? Number(value) : NaN;
  if (!(number >= 0 && number <= 1)) throw new UsageError(`--${name} is a number from 0 to 1, not '${value.slice(0, 40)}'`);
  return number;
}

/** What the manager is made with. */
export function managerOptions(values: Values): ContextManagerOptions {
  return defined<ContextManagerOptions>({
    profile: values["profile"],
    redact_secrets: values["no-redact"] ? false : undefined,
  });
}

function defined<T>(record: Record<string, unknown>): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}
