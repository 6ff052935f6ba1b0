// `contextweaver audit`: what recorded sessions cost, and would cost.
import { writeFileSync } from "node:fs";
import process from "node:process";
import { audit as auditFiles } from "../audit/audit.js";
import { auditHtml } from "../audit/html-report.js";
import type { ModelPrice } from "../audit/model-prices.js";
import { PriceBook } from "../audit/pricing.js";
import { auditText } from "../audit/text-report.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { painter, safe, safeJson } from "./print.js";
import type { Printed } from "./print.js";
import { nameOf, readText } from "./read-text.js";

const BUDGETS = "32000,64000,128000";
const MOST_BUDGETS = 8;
const LEAST_BUDGET = 1000;
const MOST_BUDGET = 10_000_000;
/** Progress is told for more than that, in megabytes. */
const STEP = 16;

/** Runs the command; returns what to print. */
export async function audit({ files, values }: CommandLine): Promise<Printed> {
  if (files.length === 0)
    throw new UsageError(
      "audit takes files and folders with recorded sessions, such as ~/.claude/projects or ~/.codex/sessions; - for stdin",
    );
  const budgets = budgetsOf((values["budgets"] as string | undefined) ?? BUDGETS);
  const prices = values["prices"] === undefined ? [] : await pricesAt(values["prices"] as string);
  const html = values["html"] as string | undefined;
  const report = await auditFiles(files, {
    budgets,
    has_own_budgets: values["budgets"] === undefined,
    prices,
    onProgress,
  });
  if (html !== undefined) write(html, auditHtml(report));
  const code = report.sessions.length === 0 ? 1 : 0;
  if (values["json"]) return { text: `${safeJson(report)}\n`, code };
  const paint = painter(values["color"]);
  const text =
    report.sessions.length === 0
      ? `${paint("No call of a model was found.", "bold")}\n${auditText(report, paint)}`
      : auditText(report, paint);
  return { text: html === undefined ? text : `${text}\nwritten to ${safe(html)}\n`, code };
}

function budgetsOf(text: string): readonly number[] {
  if (text === "none") return [];
  const budgets = text.split(",").map((one) => (/^\d{1,9}$/.test(one.trim()) ? Number(one) : NaN));
  if (budgets.length > MOST_BUDGETS || !budgets.every((budget) => budget >= LEAST_BUDGET && budget <= MOST_BUDGET)) {
    throw new UsageError(
      `--budgets is up to ${MOST_BUDGETS} numbers of tokens from ${LEAST_BUDGET} to ${MOST_BUDGET}, such as 32000,64000, or none; not '${text.slice(0, 40)}'`,
    );
  }
  return [...new Set(budgets)].sort((a, b) => a - b);
}

async function pricesAt(file: string): Promise<readonly ModelPrice[]> {
  const text = await readText(file);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageError(`${nameOf(file)} is not valid JSON`, "input");
  }
  return PriceBook.read(json);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${(error as { readonly code?: string }).code}`, "input");
  }
}

let told = 0;

function onProgress({
  bytes,
  files,
  sessions,
}: {
  readonly bytes: number;
  readonly files: number;
  readonly sessions: number;
}): void {
  const megabytes = Math.floor(bytes / 1_000_000);
  if (megabytes - told < STEP) return;
  told = megabytes;
  process.stderr.write(`contextweaver: read ${megabytes} MB, ${files} files, ${sessions} conversations\n`);
}
