// Words, bars and tables for a terminal. Everything that comes from a file is made harmless on the way out.
import process from "node:process";
import { sanitizeText } from "../api.js";
import type { BuildStats, CandidateExplanation, ContextPack, DroppedItem } from "../api.js";

/** Writes text in a colour, or as it is. */
export type Paint = (text: string, ...styles: Style[]) => string;
type Style = keyof typeof STYLES;
const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36, gray: 90 } as const;

/** Decides about colours: never into a pipe or file unless asked for. */
export function painter(when: unknown): Paint {
  const wanted = when === "always" || (when !== "never" && !process.env["NO_COLOR"] && process.stdout.isTTY === true);
  if (!wanted) return (text) => text;
  return (text, ...styles) => `\u001b[${styles.map((style) => STYLES[style]).join(";")}m${text}\u001b[0m`;
}

/** What a command prints, and its exit code. */
export interface Printed {
  readonly text: string;
  readonly code: number;
}

/** Text of several lines that cannot steer the terminal. */
export function safe(text: string): string {
  return sanitizeText(text);
}

/** The same for one cell of a table. */
export function cell(text: string, width: number): string {
  const line = safe(text).replace(/\s+/g, " ");
  const points = [...line];
  return points.length > width ? `${points.slice(0, width - 1).join("")}…` : line;
}

/** Control characters, marks of direction and invisible code points that JSON leaves as they are. */
const UNSAFE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** JSON that cannot steer the terminal either: what JSON.stringify leaves bare is escaped. */
export function safeJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, (found) =>
    [...Array(found.length).keys()].map((i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** The same on one line. */
export function inline(value: unknown): string {
  return safeJson(value, 0);
}

/** Kinds with the letter and colour they have in the bar. */
const SEGMENTS: readonly (readonly [kind: string, letter: string, style: Style])[] = [
  ["header", "h", "gray"],
  ["policy", "p", "magenta"],
  ["user_turn", "u", "blue"],
  ["agent_msg", "a", "cyan"],
  ["tool_call", "c", "yellow"],
  ["tool_result", "r", "green"],
  ["doc_snippet", "d", "red"],
  ["retrieved_doc", "e", "red"],
  ["memory_fact", "m", "magenta"],
  ["plan_state", "l", "yellow"],
];
const BAR_WIDTH = 60;

/** The budget as a bar with its legend: tokens by kind, header and footer, what is free. */
export function budgetBar(stats: BuildStats, budget: number | undefined, paint: Paint): string {
  const sections = new Map<string, number>([["header", stats.header_footer_tokens]]);
  for (const [kind, tokens] of Object.entries(stats.tokens_per_section)) sections.set(kind, tokens);
  const counted = [...sections.values()].reduce((sum, tokens) => sum + tokens, 0);
  const used = stats.prompt_tokens ?? counted;
  const total = Math.max(stats.budget_tokens ?? budget ?? used, used, 1);
  const shown = [...sections].filter(([, tokens]) => tokens > 0).map(([kind, tokens]) => ({ kind, tokens }));
  let bar = "";
  let cells = 0;
  let sum = 0;
  for (const { kind, tokens } of shown) {
    sum += tokens;
    // From the running sum, so that rounding never adds up to more than the bar.
    const upTo = Math.min(BAR_WIDTH, Math.round((sum / total) * BAR_WIDTH));
    const [, letter, style] = segment(kind);
    bar += paint(letter.repeat(Math.max(0, upTo - cells)), style);
    cells = Math.max(cells, upTo);
  }
  bar += paint("·".repeat(BAR_WIDTH - cells), "dim");
  const legend = shown.map(({ kind, tokens }) => {
    const [name, letter, style] = segment(kind);
    return `${paint(letter, style)} ${name === "header" ? "header and footer" : cell(kind, 20)} ${tokens}`;
  });
  const percent = Math.round((used / total) * 100);
  const title = `${paint("Budget", "bold")}  ${used} of ${total} tokens (${percent} %), ${total - used} free`;
  return `${title}\n[${bar}]\n${legend.join("  ") || "nothing in the prompt"}`;
}

function segment(kind: string): (typeof SEGMENTS)[number] {
  return SEGMENTS.find(([name]) => name === kind) ?? [kind, "x", "red"];
}

/** What was dropped: the dearest first, at most `rows` of it. */
export function dropTable(stats: BuildStats, rows: number, paint: Paint, kindOf: (id: string) => string): string {
  const { dropped_items: drops, total_candidates: total, included_count: kept } = stats;
  const title = `${paint("Items", "bold")}  ${kept} of ${total} in the prompt, ${drops.length} dropped`;
  if (drops.length === 0) return title;
  const reasons = Object.entries(stats.dropped_reasons).map(([reason, count]) => `${cell(reason, 20)} ${count}`);
  const dearest = [...drops].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0)).slice(0, rows);
  const lines = dearest.map((drop: DroppedItem) => [
    cell(drop.item_id, 32),
    cell(kindOf(drop.item_id), 14),
    drop.stage ?? "",
    cell(drop.reason, 16),
    drop.tokens === undefined ? "" : `${drop.tokens}`,
  ]);
  const rest = drops.length - dearest.length;
  const more = rest > 0 ? `\n${paint(`and ${rest} more (--json lists all)`, "dim")}` : "";
  const head = ["dropped", "kind", "stage", "reason", "tokens"];
  return `${title} (${reasons.join(", ")})\n${table(head, lines, paint)}${more}`;
}

/** Columns as wide as they need to be; the last one is numbers, unless it is said which ones are. */
export function table(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  paint: Paint,
  numbers: readonly number[] = [head.length - 1],
): string {
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => [...(line[i] ?? "")].length)));
  const row = (cells: readonly string[]): string =>
    cells
      .map((text, i) => {
        const gap = " ".repeat(Math.max(0, (widths[i] ?? 0) - [...text].length));
        return numbers.includes(i) ? gap + text : text + gap;
      })
      .join("  ")
      .trimEnd();
  return [paint(row(head), "dim"), ...lines.map(row)].join("\n");
}

function decision({ included, rendered_as: form, pinned, drop_reason: reason }: CandidateExplanation): string {
  if (!included) return `- ${cell(reason, 16)}`;
  return (form ?? "kept") + (pinned ? ` (${cell(pinned, 20)})` : "");
}

/** Why every candidate was kept or dropped, as `--explain` prints it. */
export function explanation(pack: ContextPack, paint: Paint): string {
  const lines = (pack.explanation?.candidates ?? []).map((candidate) => [
    cell(candidate.item_id, 32),
    candidate.kind,
    decision(candidate),
    `${candidate.tokens ?? ""}`,
    candidate.score === null ? "" : candidate.score.toFixed(4),
  ]);
  return `${paint("Candidates", "bold")}\n${table(["item", "kind", "decision", "tokens", "score"], lines, paint)}`;
}
