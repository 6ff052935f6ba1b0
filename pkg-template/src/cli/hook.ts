// `contextweaver hook <agent>`: what an agent runs after each tool. It fails open: the result stays as it is, and the log says why.
import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { nearest } from "../boundary/nearest.js";
import { AGENTS } from "./hook/events.js";
import type { HookedAgent, ToolEvent } from "./hook/events.js";
import { FOLDER, logged } from "./hook/folder.js";
import type { HookOptions } from "./hook/resident.js";
import type { ProjectResult } from "./hook/results.js";
import { RESULT_TOKENS } from "../mcp/result-size.js";
import { parse, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { readText } from "./read-text.js";

/** Bytes of a file with a whole result, at most: what a store keeps of one. */
const MAX_FILE = 2 ** 24;

/** Runs the command; the exit code is 0 in any case, as others mean that the tool has failed. */
export async function hookCommand(args: readonly string[]): Promise<number> {
  let folder: string = FOLDER;
  const name = args[1] ?? "";
  try {
    const line = parse(args);
    const agent = agentOf(line);
    const event = JSON.parse(await readText("-")) as Readonly<Record<string, unknown>>;
    folder = folderOf(line, agent, event);
    const told = agent.read(event);
    const most = wholeNumber(line.values, "result-tokens") ?? RESULT_TOKENS;
    // A text has at most as many tokens as characters: a shorter one passes before the engine is loaded.
    if (!told || told.text.length <= most) return 0;
    const answer = await answered(folder, line, agent, told);
    if (answer !== undefined) process.stdout.write(JSON.stringify(answer));
  } catch (error) {
    logged(folder, `${name}: ${reasonOf(error)}`);
    process.stderr.write(`contextweaver hook: ${reasonOf(error)}; the result stays as it is\n`);
  }
  return 0;
}

function agentOf({ files }: CommandLine): HookedAgent {
  const [name = "", ...more] = files;
  if (Object.hasOwn(AGENTS, name) && more.length === 0) return AGENTS[name] as HookedAgent;
  const meant = nearest(name, Object.keys(AGENTS));
  throw new Error(`hook takes one of ${Object.keys(AGENTS).join(", ")}${meant ? `; did you mean '${meant}'?` : ""}`);
}

function folderOf(
  { values }: CommandLine,
  { project }: HookedAgent,
  { cwd }: Readonly<Record<string, unknown>>,
): string {
  const given = values["store"] as string | undefined;
  if (given !== undefined) return given;
  const root =
    (project === undefined ? undefined : process.env[project]) ?? (typeof cwd === "string" && cwd !== "" ? cwd : ".");
  return `${root}/${FOLDER}`;
}

/** What most hooks never need is imported here and below: a result that passes costs little more than the start of a process. */
async function answered(
  folder: string,
  { values }: CommandLine,
  agent: HookedAgent,
  event: ToolEvent,
): Promise<object | undefined> {
  const options = {
    result_tokens: wholeNumber(values, "result-tokens"),
    mask: values["mask"] === true,
    drilldown: agent.drilldown,
  };
  const result = { tool: event.tool, input: event.input, text: wholeOf(event) };
  const { asked } = await import("./hook/resident.js");
  const text = await asked(folder, options, result).catch(() => entered(folder, options, result));
  return text === undefined ? undefined : event.answer(text);
}

/** Does the work itself, as nobody else is there. */
async function entered(folder: string, options: HookOptions, result: ProjectResult): Promise<string | undefined> {
  const { setFlagsFromString } = await import("node:v8");
  // Compiling well what runs once takes most of the time of a short process.
  setFlagsFromString("--liftoff-only");
  const { projectResults } = await import("./hook/stored.js");
  return projectResults(folder, options).entered(result);
}

/** The text of a result, from the file where an agent has stored what it cuts off. */
function wholeOf({ text, file }: ToolEvent): string {
  if (file === undefined || (statSync(file, { throwIfNoEntry: false })?.size ?? Infinity) > MAX_FILE) return text;
  const whole = new TextDecoder().decode(readFileSync(file));
  return whole.length > text.length ? whole : text;
}

/** A code or a name, as messages of errors may quote what was said; our own say what to do. */
function reasonOf(error: unknown): string {
  const { code, name, message } = error as {
    readonly code?: string;
    readonly name?: string;
    readonly message?: string;
  };
  return name === "Error" || name === undefined ? (code ?? message ?? "unknown") : `${code ?? name}`;
}
