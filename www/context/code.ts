// The build that is on the screen as a program.
import type { Phase } from "contextweaver/slim";
import type { Request } from "../worker/builds.ts";
import type { Settings } from "../worker/log.ts";

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
}

/** A module for Node that prints the prompt on the screen. */
export function codeOf({ phase, request, pins, settings, format, file, key }: CodeOf): string {
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
  const { imports, read } = reading(format, file, key);
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
      : [`const manager = new ContextManager(${made});`, ...read, "manager.ingestAll(items);"]),
    "const { prompt, stats } = manager.build({",
    ...build.map((line) => `  ${line},`),
    "});",
    "console.log(prompt);",
    "console.error(`${stats.prompt_tokens} of ${stats.budget_tokens} tokens`);",
  ];
  return `${lines.join("\n")}\n`;
}

function reading(
  format: string,
  file: string,
  key: string,
): { readonly imports: readonly string[]; readonly read: readonly string[] } {
  if (format === "snapshot") return { imports: [], read: [] };
  if (format === "session" && key === "" && !file.endsWith(".json"))
    return { imports: ["loadMcpSessionJsonl"], read: ["const { items } = loadMcpSessionJsonl(text);"] };
  if (format === "session") return { imports: [], read: [`const items = JSON.parse(text)${key};`] };
  const hasSystem = (format === "anthropic" || format === "gemini") && key !== "";
  const system = hasSystem
    ? ", { system: request.system ?? request.systemInstruction ?? request.system_instruction }"
    : "";
  return {
    imports: ["messagesToItems"],
    read: [
      "const request = JSON.parse(text);",
      `const { items } = messagesToItems(request${key}, ${JSON.stringify(format)}${system});`,
    ],
  };
}
