// `contextweaver diff`: what changed from one list of tools to another.
import type { CatalogDiff, ChangeRisk } from "../api.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, painter, safe, safeJson, table } from "./print.js";
import type { Paint, Printed } from "./print.js";
import { readTools, tellSkipped } from "./tools.js";

/** The worst first. */
const RISKS: readonly ChangeRisk[] = ["breaking", "review", "compatible", "documentation", "none"];

/** Runs the command; with `--check` any change is exit code 1. */
export async function diff({ files, values }: CommandLine): Promise<Printed> {
  const [before, after, ...more] = files;
  if (before === undefined || after === undefined || more.length > 0) {
    throw new UsageError("diff takes two lists of tools: before and after");
  }
  if (before === "-" && after === "-") throw new UsageError("standard input can be read once");
  const [old, next] = [await readTools([before]), await readTools([after])];
  tellSkipped([...old.skipped, ...next.skipped]);
  const found = old.catalog.diff(next.catalog);
  const changes = found.added.length + found.removed.length + found.changed.length;
  const code = values["check"] && changes > 0 ? 1 : 0;
  if (values["json"]) return { text: `${safeJson(found)}\n`, code };
  return { text: changes === 0 ? "no changes\n" : report(found, painter(values["color"])), code };
}

function report({ added, removed, changed }: CatalogDiff, paint: Paint): string {
  const byRisk = RISKS.map((risk) => ({ risk, count: changed.filter((tool) => tool.risk === risk).length }));
  const risks = byRisk.filter(({ count }) => count > 0).map(({ risk, count }) => `${count} ${risk}`);
  const ofThem = risks.length > 0 ? ` (${risks.join(", ")})` : "";
  const title = `${paint("Tools", "bold")}  ${added.length} added, ${removed.length} removed, ${changed.length} changed${ofThem}`;
  const changes = changed.flatMap(({ id, changes }) => changes.map((change) => ({ id, ...change })));
  const rows = [
    ...removed.map((id) => ["removed", id, "", ""]),
    ...RISKS.flatMap((risk) => changes.filter((change) => change.risk === risk)).map(({ id, path, risk, effect }) => [
      risk,
      id,
      path,
      effect,
    ]),
    ...added.map((id) => ["added", id, "", ""]),
  ].map(([what = "", id = "", path = "", effect = ""]) => [
    what,
    safe(id).replace(/\s+/g, " "),
    cell(path, 60),
    cell(effect, 80),
  ]);
  const lines = table(["change", "tool", "path", "effect"], rows, paint, []).split("\n");
  const painted = lines.map((line) => (/^(breaking|removed) /.test(line) ? paint(line, "red") : line));
  return [title, ...painted].join("\n") + "\n";
}
