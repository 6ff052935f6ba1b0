// The command line: what it may say and how that becomes options of a build.
import { parseArgs } from "node:util";
import type { BuildOptions, ContextManagerOptions, Phase } from "../api.js";

/** A problem with the command line or with the input: reported on stderr, exit code 2. */
export class UsageError extends Error {
  readonly about: "usage" | "input";

  constructor(message: string, about: "usage" | "input" = "usage") {
    super(message);
    this.about = about;
  }
}

export const USAGE = `contextweaver compiles a session into a prompt under a token budget and says what it left out.

Usage
  contextweaver build <session.jsonl | -> [options]   one item per line; - reads standard input
  contextweaver demo [--session <file>]               all four phases on a recorded session
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
  --json                print the pack as JSON
  --color <when>        auto, always or never (default: auto; NO_COLOR is respected)

Exit codes: 0 done, 1 the build failed, 2 bad usage or bad input.
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
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** Which options a command takes beside `color`, `help` and `version`. */
const OF_COMMAND: Readonly<Record<string, (name: string) => boolean>> = {
  build: (name) => name !== "session",
  demo: (name) => name === "session",
};

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
  try {
    parsed = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0] ?? "bad usage");
  }
  const { values, positionals } = parsed;
  if (values["help"]) return { command: "help", files: [], values };
  if (values["version"]) return { command: "version", files: [], values };
  const [command, ...files] = positionals;
  const accepts = OF_COMMAND[command ?? ""];
  if (!command || !accepts) throw new UsageError(command ? `unknown command '${command}'` : "say what to do");
  for (const name of Object.keys(values)) {
    if (name !== "color" && !accepts(name)) throw new UsageError(`'${command}' has no option '--${name}'`);
  }
  const color = values["color"] ?? "auto";
  if (!["auto", "always", "never"].includes(color as string)) throw new UsageError("--color is auto, always or never");
  return { command, files, values };
}

/** What `build` passes on; the engine checks the values. */
export function buildOptions(values: Values): BuildOptions {
  const budget = values["budget"];
  if (budget !== undefined && !/^\d{1,9}$/.test(budget as string)) {
    throw new UsageError("--budget is a whole number of tokens");
  }
  return defined<BuildOptions>({
    phase: (values["phase"] ?? "answer") as Phase,
    query: values["query"],
    query_tags: values["tag"],
    budget_tokens: budget === undefined ? undefined : Number(budget),
    pin: values["pin"],
    header: values["header"],
    footer: values["footer"],
    explain: values["explain"],
  });
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
