// `contextweaver decisions`: the tools of the decision memory on a file, and a server of MCP for it.
import process from "node:process";
import { withNumbers } from "../boundary/exact-numbers.js";
import { DecisionStore } from "../api.js";
import type { JsonValue } from "../api.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe, safeJson } from "./print.js";
import type { Printed } from "./print.js";
import { readText } from "./read-text.js";
import { StoreFile } from "./store-file.js";

/** Characters of one line that a client may send. */
const MAX_LINE = 4 * 1024 * 1024;

/** Runs the command. What the guardrails do not allow is exit code 1, bad arguments are 2. */
export async function decisions(line: CommandLine): Promise<Printed> {
  const [tool, given, ...others] = line.files;
  if (tool === undefined || others.length > 0)
    throw new UsageError("decisions takes a tool and its arguments as JSON, or serve, or tools");
  const guardrails = line.values["guardrails"] as string | undefined;
  const rules = guardrails === undefined ? {} : { guardrails: rulesOf(await readText(guardrails)) };
  if (tool === "tools") {
    const tools = new DecisionStore().listTools();
    if (line.values["json"]) return { text: `${safeJson(tools)}\n`, code: 0 };
    return { text: tools.map(({ name, title }) => `${name.padEnd(22)}${title}\n`).join(""), code: 0 };
  }
  const path = line.values["store"] as string | undefined;
  if (path === undefined) throw new UsageError("decisions needs --store and a file, which it makes if there is none");
  const file = StoreFile.open(path);
  try {
    let changed = false;
    const store = new DecisionStore({ ...rules, on_change: () => (changed = true) });
    if (file.text !== undefined) load(store, file.text, path);
    const agent = line.values["agent"] as string | undefined;
    const caller = agent === undefined ? {} : { agent_id: agent };
    if (tool === "serve") {
      if (given !== undefined) throw new UsageError("serve takes no arguments");
      await serve(store, caller, () => {
        if (changed) file.write(JSON.stringify(store));
        changed = false;
      });
      return { text: "", code: 0 };
    }
    const before = JSON.stringify(store);
    const result = await store.callTool(tool, parseArguments(await argumentsOf(given)), caller);
    const after = JSON.stringify(store);
    // What was looked at counts for the next decision, so it is kept as well.
    if (after !== before) file.write(after);
    return printed(result, line.values["json"] === true);
  } finally {
    file.close();
  }
}

/** JSON is nearly always YAML, but not the other way round. */
function rulesOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function load(store: DecisionStore, text: string, path: string): void {
  const { errors } = store.import(text, { mode: "merge" });
  // Writing the file anew would lose them.
  if (errors.length > 0)
    throw new UsageError(
      `${path}: ${errors.length} records cannot be read: ${errors[0]?.path} ${errors[0]?.message}`,
      "input",
    );
}

async function argumentsOf(given: string | undefined): Promise<string> {
  return given === "-" ? readText("-") : (given ?? "{}");
}

/** The engine checks what they are; JSON.parse would quote them. */
function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError("the arguments are not valid JSON", "input");
  }
}

function printed(result: Awaited<ReturnType<DecisionStore["callTool"]>>, asJson: boolean): Printed {
  const text = result.content.map((part) => part.text).join("\n");
  if (result.isError) {
    const { error, message } = JSON.parse(text) as { error: string; message: string };
    process.stderr.write(`contextweaver: ${safe(`${error}: ${message}`)}\n`);
    return { text: "", code: error === "validation_error" ? 2 : 1 };
  }
  const content = result.structuredContent as {
    markdown?: string;
    allowed?: boolean;
    success?: boolean;
    found?: boolean;
  };
  const refused = [content.allowed, content.success, content.found].includes(false);
  const shown = content.markdown !== undefined && !asJson ? safe(content.markdown) : safeJson(content);
  return { text: `${shown.trimEnd()}\n`, code: refused ? 1 : 0 };
}

/** Answers JSON-RPC, one message a line; nothing else is written to standard output. */
async function serve(store: DecisionStore, caller: object, save: () => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  const answer = async (message: string): Promise<void> => {
    if (message.trim() === "") return;
    const response = await store.handleRpc(withNumbers(message), { trace_id: "stdio", ...caller });
    // First kept, then told.
    save();
    if (response) process.stdout.write(`${JSON.stringify(response)}\n`);
  };
  for await (const chunk of process.stdin) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw new UsageError("a message is too large", "input");
    for (const message of lines) await answer(message);
  }
  await answer(rest);
}
