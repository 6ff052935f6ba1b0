// `contextweaver lint`: what keeps tools from being chosen or makes them dangerous.
import type { CatalogFinding, LintOptions, ToolPins } from "../api.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, painter, safe, safeJson, table } from "./print.js";
import type { Paint, Printed } from "./print.js";
import { readJson, readTools, tellSkipped } from "./tools.js";
import type { FileFinding } from "./tools.js";

const SEVERITIES = [
  ["error", "red", "errors"],
  ["warning", "yellow", "warnings"],
  ["info", "dim", "notes"],
] as const;

/** Runs the command; an error among the findings is exit code 1. */
export async function lint({ files, values }: CommandLine): Promise<Printed> {
  if (files.length === 0) throw new UsageError("lint takes lists of tools: files, or - for stdin");
  const pins = values["pinned"] as string | undefined;
  if (pins !== undefined && values["pin"]) throw new UsageError("--pin and --pinned exclude each other");
  if (pins === "-" && files.includes("-")) throw new UsageError("standard input can be read once");
  const options: LintOptions = pins === undefined ? {} : { pinned: (await readJson(pins)) as ToolPins };
  const { catalog, skipped, noted } = await readTools(files);
  if (values["pin"]) {
    tellSkipped(skipped);
    return { text: `${safeJson(catalog.pin())}\n`, code: 0 };
  }
  // What was left out is known by file already.
  const others = catalog.lint(options).filter(({ index }) => index === undefined);
  const findings: FileFinding[] = SEVERITIES.flatMap(([name]) =>
    [...skipped, ...noted, ...others].filter(({ severity }) => severity === name),
  );
  const code = findings.some(({ severity }) => severity === "error") ? 1 : 0;
  if (values["json"]) return { text: `${safeJson(findings)}\n`, code };
  return { text: report(findings, catalog.size, painter(values["color"])), code };
}

function report(findings: readonly FileFinding[], size: number, paint: Paint): string {
  const words = SEVERITIES.flatMap(([name, , names]) => {
    const count = findings.filter(({ severity }) => severity === name).length;
    return count > 0 ? [`${names} ${count}`] : [];
  });
  const title = `${paint("Tools", "bold")}  ${size}; ${words.length > 0 ? words.join(", ") : "nothing found"}`;
  if (findings.length === 0) return `${title}\n`;
  const rows = findings.map((finding) => [
    finding.severity,
    finding.code,
    placeOf(finding),
    cell(finding.path, 40),
    cell(finding.evidence ? `${finding.message}: ${finding.evidence}` : finding.message, 120),
  ]);
  const [head, ...lines] = table(["severity", "code", "tool", "path", "finding"], rows, paint, []).split("\n");
  const painted = lines.map((line) => {
    const [name, style] = SEVERITIES.find(([severity]) => line.startsWith(severity)) ?? ["", "dim"];
    return paint(name, style) + line.slice(name.length);
  });
  return [title, head, ...painted].join("\n") + "\n";
}

function placeOf({ item_id: id, file, index }: CatalogFinding & FileFinding): string {
  if (id) return safe(id).replace(/\s+/g, " ");
  return index === undefined ? cell(file ?? "", 40) : `${cell(file ?? "", 40)}: ${index + 1}`;
}
