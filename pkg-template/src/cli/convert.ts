// `contextweaver convert`: tools, results, messages and sessions from one form into another.
import process from "node:process";
import {
  ContextWeaverError,
  Router,
  findMessages,
  itemsToMessages,
  loadMcpSessionJsonl,
  mcpResultToEnvelope,
  messagesToItems,
  toolDefinitionToMcp,
} from "../api.js";
import type {
  AnyToolDefinition,
  ContextItem,
  MessageFormat,
  SessionProblem,
  StoredItem,
  ToolProvider,
  WrittenMessages,
} from "../api.js";
import { MESSAGE_FORMATS } from "../messages/message-formats.js";
import { saveArtifacts } from "./artifacts.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, inline, safe, safeJson } from "./print.js";
import type { Printed } from "./print.js";
import { nameOf, readText } from "./read-text.js";
import { inFile, parseLines, several } from "./session.js";
import type { Line } from "./session.js";
import { readJson, readTools, tellSkipped } from "./tools.js";

type Values = CommandLine["values"];

const PROVIDERS: readonly ToolProvider[] = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"];

interface Conversion {
  readonly options: string;
  readonly run: (file: string, values: Values) => Promise<string | Printed>;
}

/** What can be converted: the options it takes, and how. */
const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  tools: { options: "server id-form to", run: tools },
  result: { options: "tool artifacts", run: result },
  messages: { options: "from to", run: messages },
  definition: { options: "to", run: definition },
  session: { options: "", run: session },
};

/** Runs the command; a definition of one's own that has to be left out is exit code 1. */
export async function convert({ files, values }: CommandLine): Promise<string | Printed> {
  const [what = "", file, ...more] = files;
  const conversion = Object.hasOwn(CONVERSIONS, what) ? CONVERSIONS[what] : undefined;
  if (conversion === undefined || file === undefined || more.length > 0) {
    throw new UsageError("convert takes tools, result, messages, definition or session, and one file, or - for stdin");
  }
  const accepted = conversion.options.split(" ");
  for (const name of Object.keys(values)) {
    if (name !== "color" && name !== "json" && !accepted.includes(name)) {
      throw new UsageError(`'convert ${what}' has no option '--${name}'`);
    }
  }
  return conversion.run(file, values);
}

async function tools(file: string, values: Values): Promise<string> {
  const [to = "catalog"] = choice<"catalog" | ToolProvider>(values, "to", ["catalog", ...PROVIDERS]);
  const [form] = choice(values, "id-form", ["name", "canonical"] as const);
  const server = values["server"] as string | undefined;
  const read = await readTools([file], {
    ...(server === undefined ? {} : { server }),
    ...(form === undefined ? {} : { id_form: form }),
  });
  tellSkipped(read.skipped);
  for (const { index, item_id: id, code, message, evidence } of [...read.noted, ...read.catalog.findings()]) {
    if (index === undefined) tell(file, { code, message: evidence ? `${message} (${evidence})` : message, path: id });
  }
  if (to === "catalog") return `${safeJson(read.catalog)}\n`;
  const ids = read.catalog.items().map(({ id }) => id);
  const written = new Router(read.catalog).providerTools({ candidate_ids: ids }, to);
  for (const { tool_id: id, path, keyword, action, note } of written.report) {
    tell(file, { code: `${keyword} ${action}`, message: note, path: `${id} ${path}`.trim() });
  }
  return `${safeJson(written.tools)}\n`;
}

async function result(file: string, values: Values): Promise<string> {
  const tool = values["tool"] as string | undefined;
  if (tool === undefined) throw new UsageError("say whose result it is: --tool <name>");
  const folder = values["artifacts"] as string | undefined;
  const given = resultOf(await readJson(file), file);
  const done = refused(file, "/result", "", () =>
    mcpResultToEnvelope(given as Parameters<typeof mcpResultToEnvelope>[0], tool),
  );
  if (folder !== undefined) saveArtifacts(folder, tool, done);
  for (const warning of done.warnings) tell(file, warning);
  const left = done.binaries.size > 0 || done.full_text !== done.envelope.summary;
  if (folder === undefined && left) {
    const what = `artifacts (${done.binaries.size}) and the whole text`;
    process.stderr.write(`contextweaver: ${what} are written with --artifacts <folder>\n`);
  }
  return `${safeJson(done.envelope)}\n`;
}

/** A whole response of JSON-RPC has the result in it. */
function resultOf(json: unknown, file: string): unknown {
  if (json === null) throw new UsageError(`${nameOf(file)} is no result: it is null`, "input");
  if (!Object.hasOwn(Object(json), "jsonrpc")) return json;
  if (!Object.hasOwn(json as object, "result")) {
    throw new UsageError(`${nameOf(file)} is a message of JSON-RPC without a result`, "input");
  }
  return (json as { result: unknown }).result;
}

async function messages(file: string, values: Values): Promise<string> {
  const [from] = choice<"items" | MessageFormat>(values, "from", ["items", ...MESSAGE_FORMATS]);
  const [to] = choice<"items" | MessageFormat>(values, "to", ["items", ...MESSAGE_FORMATS]);
  if (from === undefined || to === undefined)
    throw new UsageError("say what the messages are, --from, and what they become, --to");
  if (from === "items") {
    if (to === "items") throw new UsageError("from items to items there is nothing to convert");
    return fromItems(file, to);
  }
  const { items } = await readMessages(file, from);
  if (to !== "items")
    return printed(
      refused(file, "", "", () => itemsToMessages(items, to)),
      file,
      items,
    );
  return values["json"] ? `${safeJson(items)}\n` : items.map((item) => `${inline(item)}\n`).join("");
}

async function fromItems(file: string, to: MessageFormat): Promise<string> {
  const lines = parseLines(await readText(file), nameOf(file));
  const items = lines.map(({ value }) => value as ContextItem);
  try {
    return printed(itemsToMessages(items, to), file, items, lines);
  } catch (error) {
    throw inFile(error, lines, nameOf(file));
  }
}

/** The value of a JSON text; of lines of JSON, nothing. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a list, lines, or a request that has a list. */
async function readMessages(file: string, from: MessageFormat): Promise<{ items: readonly StoredItem[] }> {
  const text = await readText(file);
  const json = jsonOf(text) ?? parseLines(text, nameOf(file)).map(({ value }) => value);
  const body = (Array.isArray(json) ? { "": json } : Object(json)) as Readonly<Record<string, unknown>>;
  const found = Array.isArray(json) ? undefined : findMessages(json);
  const key = Array.isArray(json) ? "" : found?.list;
  const system = found?.format === from ? found.system : undefined;
  if (key === undefined) throw new UsageError(`${nameOf(file)} has no list of messages, or more than one`, "input");
  const rest = Object.keys(body).filter((name) => name !== key && name !== system);
  const place = key === "" ? "" : `/${key}`;
  const options = system === undefined ? {} : { system: body[system] };
  const read = refused(file, "/messages", place, () => messagesToItems(body[key] as readonly unknown[], from, options));
  if (rest.length > 0) {
    const names = cell(rest.join(", "), 160);
    process.stderr.write(`contextweaver: ${cell(nameOf(file), 80)}: only messages are converted; left out: ${names}\n`);
  }
  for (const warning of read.warnings) tell(file, { ...warning, path: warning.path.replace(/^\/messages/, place) });
  return read;
}

function printed(
  written: WrittenMessages,
  file: string,
  items: readonly ContextItem[],
  lines?: readonly Line[],
): string {
  for (const warning of written.warnings) {
    const [, at, rest = ""] = /^\/items\/(\d+)(.*)$/s.exec(warning.path) ?? [];
    const line = lines?.[Number(at)]?.number;
    // Whoever gave messages knows of no items.
    const path =
      at === undefined ? warning.path : `${line === undefined ? items[Number(at)]?.id : `line ${line}`} ${rest}`;
    tell(file, { ...warning, path: path.trim() });
  }
  const { system, messages: list } = written;
  return `${safeJson(system === undefined ? list : { system, messages: list })}\n`;
}

/** One definition becomes a tool; several become what a server answers to tools/list. */
async function definition(file: string, values: Values): Promise<string | Printed> {
  choice(values, "to", ["mcp"]);
  const json = await readJson(file);
  if (!Array.isArray(json)) {
    const { tool, warnings } = refused(file, "", "", () => toolDefinitionToMcp(json as AnyToolDefinition));
    for (const warning of warnings) tell(file, warning);
    return `${safeJson(tool)}\n`;
  }
  const {
    tools: list,
    errors,
    warnings,
  } = refused(file, "", "", () => toolDefinitionToMcp(json as readonly AnyToolDefinition[]));
  for (const { index, code, message, path = "" } of errors) {
    tell(file, { code: `left out definition ${index + 1}: ${code}`, message, path });
  }
  for (const warning of warnings) tell(file, warning);
  return { text: `${safeJson({ tools: list })}\n`, code: errors.length > 0 ? 1 : 0 };
}

async function session(file: string): Promise<string> {
  const text = await readText(file);
  try {
    return `${safeJson(loadMcpSessionJsonl(text).items)}\n`;
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const { problems, problem_count: count } = (error.details ?? {}) as {
      problems?: SessionProblem[];
      problem_count?: number;
    };
    if (problems === undefined) throw inFile(error, [], nameOf(file));
    const told = problems.map(
      ({ line, code, message, path }) => `${nameOf(file)}:${line}: ${code}${path ? ` at ${path}` : ""}: ${message}`,
    );
    throw new UsageError(several(told, count), "input");
  }
}

/** An option that is one of some words; a list, so that its type is exactly theirs. */
function choice<T extends string>(values: Values, name: string, words: readonly T[]): [T?] {
  const value = values[name] as T | undefined;
  if (value === undefined) return [];
  if (!words.includes(value))
    throw new UsageError(`--${name} is ${words.length > 1 ? "one of " : ""}${words.join(", ")}`);
  return [value];
}

/** Runs a converter; what it refuses is told by the file, with the path in there. */
function refused<T>(file: string, path: string, instead: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const own = error.path?.startsWith(path) ? instead + error.path.slice(path.length) : error.path;
    const at = own ? ` at ${own}` : "";
    throw new UsageError(`${nameOf(file)}: ${error.code}${at}: ${error.message}`, "input");
  }
}

/** Says on stderr what could not be kept as it was. */
function tell(file: string, { code, message, path }: { code: string; message: string; path: string }): void {
  const at = path ? ` at ${safe(path).replace(/\s+/g, " ")}` : "";
  process.stderr.write(`contextweaver: ${cell(nameOf(file), 80)}: ${cell(code, 60)}${at}: ${cell(message, 160)}\n`);
}
