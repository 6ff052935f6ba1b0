// `contextweaver build`: one prompt of a session.
import type { ContextManager, ContextPack } from "../api.js";
import { UsageError, buildOptions, managerOptions } from "./options.js";
import type { CommandLine } from "./options.js";
import { budgetBar, dropTable, explanation, painter, safe, safeJson } from "./print.js";
import type { Paint } from "./print.js";
import { nameOf, readText } from "./read-text.js";
import { load } from "./session.js";

const ROWS = 20;

/** Runs the command; returns what to print. */
export async function build({ files, values }: CommandLine): Promise<string> {
  const [file] = files;
  if (file === undefined || files.length > 1) throw new UsageError("build takes one session: a file, or - for stdin");
  const options = buildOptions(values);
  const manager = load(await readText(file), nameOf(file), managerOptions(values));
  const pack = manager.build(options);
  if (values["json"]) return `${safeJson(pack)}\n`;
  const paint = painter(values["color"]);
  const parts = [safe(pack.prompt), rule(paint), summary(manager, pack, ROWS, paint)];
  if (values["explain"]) parts.push("", explanation(pack, paint));
  return `${parts.join("\n")}\n`;
}

/** The bar, the drops and the warnings of a pack. */
export function summary(manager: ContextManager, pack: ContextPack, rows: number, paint: Paint): string {
  const kindOf = (id: string): string => manager.events.get(id).kind;
  const parts = [budgetBar(pack.stats, undefined, paint), "", dropTable(pack.stats, rows, paint, kindOf)];
  for (const warning of pack.warnings ?? []) parts.push(`${paint("warning", "yellow")}  ${safe(warning)}`);
  return parts.join("\n");
}

function rule(paint: Paint): string {
  return paint("─".repeat(62), "dim");
}
