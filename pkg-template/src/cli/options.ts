// The command line: what it may say and how that becomes options of a build.
import { parseArgs } from "node:util";
import { nearest } from "../boundary/nearest.js";
import { COMMANDS } from "./help.js";
import type { BuildOptions, ContextManagerOptions, Phase, RouteOptions, Selector } from "../api.js";

/** A problem with the command line or with the input: reported on stderr, exit code 2. */
export class UsageError extends Error {
  readonly about: "usage" | "input";

  constructor(message: string, about: "usage" | "input" = "usage") {
    super(message);
    this.about = about;
  }
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
  chatgpt: { type: "string" },
  "code-assist": { type: "string" },
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
  gateway:
    "config mode store http result-tokens login-port port host token inspect page page-port from kind dry-run force json",
  proxy: "budget thrift openai chatgpt anthropic gemini code-assist mask store verbose port host token",
  run: "budget thrift openai chatgpt anthropic gemini code-assist mask store verbose",
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
  const names = new Map(
    Object.entries(options).flatMap((entry) => takesText(entry).map((written) => [written, `--${entry[0]}`])),
  );
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
  return new UsageError(
    name in NUMBERS && takes === "needs a value" ? `${numberOf(name)}, and none was given` : `--${name} ${takes}`,
  );
}

function unknown(problem: string, meant: string | undefined): UsageError {
  return new UsageError(meant ? `${problem}; did you mean '${meant}'?` : problem);
}

/** What `build` passes on; the engine checks the values. */
export function buildOptions(values: Values): BuildOptions {
  return defined<BuildOptions>({
    phase: values["phase"] as Phase | undefined,
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
  if (!(number >= 0 && number <= 1))
    throw new UsageError(`--${name} is a number from 0 to 1, not '${value.slice(0, 40)}'`);
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
