// The build that is on the screen as a program.
import type { Phase } from "contextweaver/slim";
import type { Request } from "../worker/builds.ts";
import type { Settings } from "../worker/defaults.ts";

export interface CodeOf {
  readonly phase: Phase;
  readonly request: Request;
  /** Ids of what is pinned. */
  readonly pins: readonly string[];
  readonly settings: Settings;
  /** What the transcript is written in. */
  readonly format: string;
  /** Name of the file. */
  readonly file: string;
  /** Whether messages stand below a key, and which. */
  readonly key: string;
  /** The key with the instructions; empty where they do not stand beside the messages. */
  readonly system: string;
}

/** A module for Node that prints the prompt on the screen. */
export function codeOf({ phase, request, pins, settings, ...read }: CodeOf): string {
  const quoted = (text: string): string => JSON.stringify(text);
  const options = [
    ...(settings.rules ? [] : ["rules: false"]),
    ...(settings.redact ? ['policy: { sensitivity_action: "redact" }'] : []),
  ];
  const { query, budget } = request.phases[phase];
  const build = [
    `phase: ${quoted(phase)}`,
    ...(query === "" ? [] : [`query: ${quoted(query)}`]),
    `budget_tokens: ${budget}`,
    ...(pins.length > 0 ? [`pin: [${pins.map(quoted).join(", ")}]`] : []),
    ...(request.header === "" ? [] : [`header: ${quoted(request.header)}`]),
    ...(request.footer === "" ? [] : [`footer: ${quoted(request.footer)}`]),
  ];
  const { format, file } = read;
  const { imports, lines: reads } = reading(read);
  const names = ["ContextManager", ...imports].sort();
  const isSnapshot = format === "snapshot";
  const made = options.length === 0 ? "" : `{ ${options.join(", ")} }`;
  const lines = [
    'import { readFileSync } from "node:fs";',
    `import { ${names.join(", ")} } from "contextweaver";`,
    "",
    `const text = readFileSync(${quoted(file)}, "utf8");`,
    ...(isSnapshot
      ? [`const manager = ContextManager.fromJSON(text${made === "" ? "" : `, ${made}`});`]
      : [`const manager = new ContextManager(${made});`, ...reads, "manager.ingestAll(items);"]),
    "const { prompt, stats } = manager.build({",
    ...build.map((line) => `  ${line},`),
    "});",
    "console.log(prompt);",
    "console.error(`${stats.prompt_tokens} of ${stats.budget_tokens} tokens`);",
  ];
  return `${lines.join("\n")}\n`;
}

function reading({ format, file, key, system }: Pick<CodeOf, "format" | "file" | "key" | "system">): {
  readonly imports: readonly string[];
  readonly lines: readonly string[];
} {
  if (format === "snapshot") return { imports: [], lines: [] };
  if (format === "session" && key === "" && !file.endsWith(".json"))
    return { imports: ["loadMcpSessionJsonl"], lines: ["const { items } = loadMcpSessionJsonl(text);"] };
  if (format === "session") return { imports: [], lines: [`const items = JSON.parse(text)${key};`] };
  const options = system === "" ? "" : `, { system: request.${system} }`;
  return {
    imports: ["messagesToItems"],
    lines: [
      "const request = JSON.parse(text);",
      `const { items } = messagesToItems(request${key}, ${JSON.stringify(format)}${options});`,
    ],
  };
}
