// `contextweaver demo`: the four phases of a recorded session, each with what it left out, a large result of it with the
// way to what its digest leaves out, and tools that are chosen out of many.
import { fileURLToPath } from "node:url";
import { ContextManager, Router, countTokens } from "../api.js";
import type { ContextPack, Phase, Selector, StoredItem, ToolResult } from "../api.js";
import { summary } from "./build.js";
import { bundledTools, routePrompt, shortLists } from "./demo-tools.js";
import { whatIsLeft } from "./drilldown.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, inline, painter, safe } from "./print.js";
import type { Paint } from "./print.js";
import { readText } from "./read-text.js";
import { load } from "./session.js";

const PHASES: readonly (readonly [Phase, string])[] = [
  ["route", "Which tool comes next? Only turns, plans and policies are shown."],
  ["call", "Which arguments? Results stay out; calls made so far are shown."],
  ["interpret", "What does the result mean? Results enter, large ones as excerpts."],
  ["answer", "What is the answer? Everything may enter, the budget decides."],
];
const ROWS = 6;
const HEAD_LINES = 6;
const TAIL_LINES = 4;
/** Tokens of the prompt that shows a digest. */
const DIGEST_BUDGET = 250;
/** The line below a digest is longer than others. */
const WIDTH = 120;

/** What is known of the session: queries, and where the details stand that they ask for. */
interface Meta {
  readonly queries: Partial<Record<Phase, string>>;
  readonly details: readonly Detail[];
}

interface Detail {
  readonly id: string;
  readonly values: readonly string[];
}

/** Runs the command; returns what to print. */
export async function demo({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0) throw new UsageError("demo takes no file; use --session <file>");
  const session = (values["session"] as string | undefined) ?? bundled();
  const text = await readText(session);
  const { queries, details } = await readMeta(session.replace(/(\.jsonl)?$/, ".meta.json"));
  const paint = painter(values["color"]);
  const manager = load(text, session, {});
  const out = [paint(`A recorded session of ${manager.events.count()} items, ${countTokens(text)} tokens`, "bold")];
  for (const [phase, caption] of PHASES) {
    const query = queries[phase];
    const pack = manager.build({ phase, ...(query === undefined ? {} : { query }) });
    out.push("", paint(`── ${phase} `.padEnd(62, "─"), "bold"), caption);
    if (query) out.push(`Query: ${cell(query, 200)}`);
    out.push("", shorten(pack, paint), "", summary(manager, pack, ROWS, paint));
  }
  out.push(...largeResult(manager, details, paint));
  const router = new Router(await bundledTools());
  out.push("", paint("── tools ".padEnd(62, "─"), "bold"), ...shortLists(router, paint));
  if (queries.route) {
    const pack = routePrompt(manager, router, queries.route);
    out.push("", "The prompt that lets a model choose, for the route query of the session:", "", shorten(pack, paint));
  }
  return `${out.join("\n")}\n`;
}

/** The first and the last lines of a prompt. */
function shorten(pack: ContextPack, paint: Paint): string {
  const lines = safe(pack.prompt)
    .split("\n")
    .map((line) => cell(line, 100));
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  const gap = paint(`  … ${left} lines …`, "dim");
  return framed(left > 1 ? [...lines.slice(0, HEAD_LINES), gap, ...lines.slice(-TAIL_LINES)] : lines, paint);
}

function framed(lines: readonly string[], paint: Paint): string {
  return lines.map((line) => `${paint("│", "dim")} ${line}`).join("\n");
}

/** A result as an agent would have ingested it, its digest, and a detail that takes a drilldown. */
function largeResult(manager: ContextManager, details: readonly Detail[], paint: Paint): string[] {
  const results = manager.events
    .list({ kinds: ["tool_result"] })
    .map((item) => ({ ...item, text: rawText(manager, item) }));
  const largest = [...results].sort((a, b) => b.text.length - a.text.length).slice(0, 1);
  const tried = [...details, ...largest.map(({ id }) => ({ id, values: [] }))].flatMap(({ id, values }) => {
    const item = results.find((result) => result.id === id);
    return item ? [ingestAgain(manager, item, values)] : [];
  });
  const found = tried.find(({ detail }) => detail !== undefined) ?? tried.at(-1);
  const artifact = found?.result.envelope.artifacts[0];
  if (!found || !artifact || !found.result.envelope.firewall_stats?.triggered) return [];
  const { own, result, detail } = found;
  const line = (text: string): string => cell(text, WIDTH);
  // With more room, more of the result would stand below its digest.
  const digest = safe(own.build({ phase: "interpret", budget_tokens: DIGEST_BUDGET }).prompt)
    .split("\n")
    .map(line);
  const selector: Selector = detail
    ? { type: "search", text: /[\w-]{4,}/.exec(detail)?.[0] ?? detail, context: 0 }
    : (result.envelope.views[0]?.selector ?? { type: "head" });
  const slice = own.drilldown(artifact.handle, selector, { max_tokens: 150 });
  return [
    "",
    paint("── a large result ".padEnd(62, "─"), "bold"),
    `${artifact.size_bytes} bytes, kept whole; the prompt gets a digest and, below it, where to look on.`,
    "",
    framed(digest, paint),
    "",
    detail ? `Not in it: ${line(detail)}` : "What the digest leaves out:",
    `drilldown ${safe(artifact.handle)} ${inline(selector)}`,
    "",
    framed([...safe(slice.text).split("\n").map(line), paint(whatIsLeft(slice), "dim")], paint),
  ];
}

/** The text of a result as it came, which the store keeps where the log has a digest. */
function rawText(manager: ContextManager, { artifact_ref, text }: StoredItem): string {
  return artifact_ref ? new TextDecoder().decode(manager.artifacts.bytes(artifact_ref.handle)) : text;
}

/** Gives a result to a manager of its own as raw output; the detail is one that its digest has not. */
function ingestAgain(
  manager: ContextManager,
  { id, text, parent_id: parent, metadata }: StoredItem,
  values: readonly string[],
): { own: ContextManager; result: ToolResult; detail: string | undefined } {
  const own = new ContextManager();
  const call =
    parent === null ? undefined : manager.events.list({ kinds: ["tool_call"] }).find((item) => item.id === parent);
  if (call) own.ingest({ ...call, parent_id: null });
  const tool = metadata["function_name"] ?? metadata["tool_name"];
  const tool_name = typeof tool === "string" ? tool : "tool";
  const result = own.ingestToolResult({ tool_call_id: call?.id ?? id, tool_name, raw_output: text });
  return { own, result, detail: values.find((value) => text.includes(value) && !result.item.text.includes(value)) };
}

/** Reads the file that describes the session; without it there are no queries and no details. */
async function readMeta(file: string): Promise<Meta> {
  let meta: { queries?: Record<string, unknown> };
  try {
    meta = JSON.parse(await readText(file)) as typeof meta;
  } catch {
    return { queries: {}, details: [] };
  }
  const queries: Partial<Record<Phase, string>> = {};
  const details: Detail[] = [];
  for (const [phase] of PHASES) {
    // A query stands alone or with notes beside it.
    const entry = meta.queries?.[phase];
    const { query, evidence, values } = (typeof entry === "object" ? (entry ?? {}) : { query: entry }) as Record<
      string,
      unknown
    >;
    if (typeof query === "string") queries[phase] = query;
    for (const id of strings(evidence)) details.push({ id, values: strings(values) });
  }
  return { queries, details };
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The session that the package brings along. */
function bundled(): string {
  return fileURLToPath(new URL("../../demo/shop.jsonl", import.meta.url));
}
