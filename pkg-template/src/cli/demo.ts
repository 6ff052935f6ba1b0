// `contextweaver demo`: the four phases of a recorded session, each with what it left out.
import { fileURLToPath } from "node:url";
import { countTokens } from "../api.js";
import type { ContextPack, Phase } from "../api.js";
import { summary } from "./build.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, painter, safe } from "./print.js";
import type { Paint } from "./print.js";
import { load, readText } from "./session.js";

const PHASES: readonly (readonly [Phase, string])[] = [
  ["route", "Which tool comes next? Only turns, plans and policies are shown."],
  ["call", "Which arguments? Results stay out; calls made so far are shown."],
  ["interpret", "What does the result mean? Results enter, large ones as excerpts."],
  ["answer", "What is the answer? Everything may enter, the budget decides."],
];
const ROWS = 6;
const HEAD_LINES = 6;
const TAIL_LINES = 4;

/** Runs the command; returns what to print. */
export async function demo({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0) throw new UsageError("demo takes no file; use --session <file>");
  const session = (values["session"] as string | undefined) ?? bundled();
  const text = await readText(session);
  const queries = await readQueries(session.replace(/(\.jsonl)?$/, ".meta.json"));
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
  return `${out.join("\n")}\n`;
}

/** The first and the last lines of a prompt. */
function shorten(pack: ContextPack, paint: Paint): string {
  const lines = safe(pack.prompt).split("\n").map((line) => cell(line, 100));
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  const gap = paint(`  … ${left} lines …`, "dim");
  const shown = left > 1 ? [...lines.slice(0, HEAD_LINES), gap, ...lines.slice(-TAIL_LINES)] : lines;
  return shown.map((line) => `${paint("│", "dim")} ${line}`).join("\n");
}

/** The queries of the phases, from the file that describes the session; without that file there are none. */
async function readQueries(file: string): Promise<Partial<Record<Phase, string>>> {
  let meta: { queries?: Record<string, unknown> };
  try {
    meta = JSON.parse(await readText(file)) as typeof meta;
  } catch {
    return {};
  }
  const pairs = PHASES.map(([phase]) => {
    const entry = meta.queries?.[phase];
    // A query stands alone or with notes beside it.
    return [phase, typeof entry === "string" ? entry : (entry as { query?: unknown } | null | undefined)?.query];
  });
  return Object.fromEntries(pairs.filter(([, query]) => typeof query === "string")) as Partial<Record<Phase, string>>;
}

/** The session that the package brings along. */
function bundled(): string {
  return fileURLToPath(new URL("../../demo/shop.jsonl", import.meta.url));
}
