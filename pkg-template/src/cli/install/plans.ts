// What `install` writes for each agent: a hook or plugin that shortens large results, and the MCP server that reads the rest.
import { homedir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { FOLDER } from "../hook/folder.js";
import { UsageError } from "../options.js";
import type { Change } from "./changes.js";
import { openCodePlugin } from "./opencode-plugin.js";
import { inTheWay } from "./toml-tables.js";

/** What is installed for an agent. */
export interface Plan {
  readonly changes: readonly Change[];
  /** Printed when the files are written. */
  readonly notes: readonly string[];
}

/** How the hook is to run. */
export interface PlanOptions {
  readonly result_tokens?: string | undefined;
  readonly mask: boolean;
}

/** Seconds after which an agent goes on without its hook. */
const TIMEOUT = 10;
const SERVER = "contextweaver";
/** Where Codex has the hooks that run after a tool. */
const CODEX_HOOKS = "hooks.PostToolUse";
/** The tools of Claude Code whose results can be large, as a regular expression. */
const MATCHER = "Bash|Read|Grep|WebFetch|Task|Agent|mcp__.*";

/** The plan of each agent, by the name that `install` takes. */
export const PLANS: Readonly<Record<string, (options: PlanOptions) => Plan>> = {
  "claude-code": (options) => ({
    changes: [
      {
        file: here(".claude/settings.local.json"),
        edits: [
          {
            path: ["hooks", "PostToolUse"],
            value: {
              matcher: MATCHER,
              hooks: [{ type: "command", command: hookLine("claude-code", options), timeout: TIMEOUT }],
            },
            isElement: true,
          },
          { path: ["enabledMcpjsonServers"], value: SERVER, isElement: true },
          { path: ["permissions", "allow"], value: `mcp__${SERVER}`, isElement: true },
        ],
      },
      {
        file: here(".mcp.json"),
        edits: [{ path: ["mcpServers", SERVER], value: { command: process.execPath, args: mcpArguments(options) } }],
      },
    ],
    notes: [
      "Claude Code from 2.1.121 on takes the text of a hook in place of a result; before that, results stay as they are.",
      ".mcp.json has addresses of this machine: leave it out of version control.",
    ],
  }),
  opencode: (options) => ({
    changes: [
      {
        file: here(".opencode/plugins/contextweaver.js"),
        text: openCodePlugin(
          [process.execPath, ...hookArguments("opencode", options)],
          [process.execPath, ...mcpArguments(options)],
        ),
      },
    ],
    notes: ["The plugin adds the server of MCP by itself."],
  }),
  "gemini-cli": (options) => ({
    changes: [
      {
        file: here(".gemini/settings.json"),
        edits: [
          {
            path: ["hooks", "AfterTool"],
            value: {
              hooks: [
                { name: SERVER, type: "command", command: hookLine("gemini-cli", options), timeout: TIMEOUT * 1_000 },
              ],
            },
            isElement: true,
          },
          {
            path: ["mcpServers", SERVER],
            value: { command: process.execPath, args: mcpArguments(options), trust: true },
          },
        ],
      },
    ],
    notes: [
      "Gemini CLI runs hooks of a project in folders that you trust, and shows a shortened result as `Tool result blocked`: its only way to put another text there.",
    ],
  }),
  codex: (options) => ({
    changes: [
      {
        file: `${process.env["CODEX_HOME"] ?? `${homedir()}/.codex`}/config.toml`,
        lines: codexLines(options),
        inTheWay: (text) => inTheWay(text, `mcp_servers.${SERVER}`, CODEX_HOOKS),
      },
    ],
    notes: ["Codex asks whether to trust a new hook when it starts next: see /hooks."],
  }),
};

/** A path in the project, which is the folder where the program runs. */
export function here(path: string): string {
  return `${process.cwd().replaceAll("\\", "/")}/${path}`;
}

/** The path of this program, which hooks call later: npx would have removed it by then. */
function program(): string {
  const file = fileURLToPath(new URL("../../bin/contextweaver.js", import.meta.url));
  if (/[/\\]_npx[/\\]/.test(file))
    throw new UsageError(
      "npx keeps the program only for a while; install it first: npm install --global contextweaver",
    );
  return file;
}

function shared({ mask }: PlanOptions): readonly string[] {
  return ["--store", here(FOLDER), ...(mask ? ["--mask"] : [])];
}

function hookArguments(agent: string, options: PlanOptions): readonly string[] {
  const { result_tokens } = options;
  return [
    program(),
    "hook",
    agent,
    ...shared(options),
    ...(result_tokens === undefined ? [] : ["--result-tokens", result_tokens]),
  ];
}

function mcpArguments(options: PlanOptions): readonly string[] {
  return [program(), "mcp", ...shared(options)];
}

/** The command of the hook as one line of a shell. */
function hookLine(agent: string, options: PlanOptions): string {
  return [process.execPath, ...hookArguments(agent, options)].map(quoted).join(" ");
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What is added to the `config.toml` of Codex. TOML reads a string that is written as JSON. */
function codexLines(options: PlanOptions): string {
  const { result_tokens, mask } = options;
  const own = mask ? ["--mask"] : [];
  // The file holds for all projects of the user, so it names no store: the hook takes that of the folder where it runs.
  const hook = [
    process.execPath,
    program(),
    "hook",
    "codex",
    ...own,
    ...(result_tokens === undefined ? [] : ["--result-tokens", result_tokens]),
  ]
    .map(quoted)
    .join(" ");
  return [
    "# contextweaver: large results are stored, and read on in by drilldown and recall",
    `[mcp_servers.${SERVER}]`,
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([program(), "mcp", ...own])}`,
    "",
    `[[${CODEX_HOOKS}]]`,
    `[[${CODEX_HOOKS}.hooks]]`,
    `type = "command"`,
    `command = ${JSON.stringify(hook)}`,
    `timeout = ${TIMEOUT}`,
    "# contextweaver: end",
    "",
  ].join("\n");
}
