// `contextweaver/report`: a build with every view of the page, in one file.
import { ContextWeaverError } from "./boundary/errors.js";
import { fields } from "./boundary/guard.js";
import type { ContextManager } from "./manager/context-manager.js";
import { ABOVE, BELOW, collect } from "./report-page.js";
import type { HtmlReportOptions } from "./manager/report-types.js";

export type { HtmlReportOptions, ReportOptions } from "./manager/report-types.js";

const WHAT_IF = 20;
const MAX_WHAT_IF = 200;

/**
 * Builds once and returns a report of it as one HTML file, for bug reports and artifacts of CI: what fills the budget, what became of
 * every item and why, what would have kept it, the prompt. It needs no network and no server, and cannot ask for any.
 *
 * Credentials are masked, whatever `redact_secrets` says; texts at or above the sensitivity floor are not in it, nor those of items that
 * left before the floor was asked unless they are `public`; stored results are not in it. Texts are cut at 8,000 characters, and from
 * 5,000 items on only the lines of the rest are kept.
 *
 * With `running: true` the build counts as a step of the loop. What would have kept an item is not said there, nor for managers with
 * functions of yours that decide: they are not part of the copy on which that is tried.
 *
 * Errors are those of {@link ContextManager.build}, but that a budget that is too small is reported; `OUT_OF_RANGE` at `/what_if`,
 * `INVALID_INPUT` at `/title`.
 *
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { htmlReport } from "contextweaver/report";
 *
 * await writeFile("report.html", await htmlReport(manager, { phase: "answer", query }));
 * ```
 */
export async function htmlReport(manager: ContextManager, options: HtmlReportOptions): Promise<string> {
  const { what_if = WHAT_IF, title = "", ...build } = fields(options);
  if (typeof title !== "string") throw new ContextWeaverError("INVALID_INPUT", "expected a string", { path: "/title" });
  if (!Number.isInteger(what_if) || (what_if as number) < 0 || (what_if as number) > MAX_WHAT_IF) {
    throw new ContextWeaverError("OUT_OF_RANGE", `expected a whole number from 0 to ${MAX_WHAT_IF}`, {
      path: "/what_if",
    });
  }
  const report = await collect(manager, { ...build, title, what_if } as HtmlReportOptions);
  // No text may end the element that holds it.
  return ABOVE + JSON.stringify(report).replaceAll("<", "\\u003c") + BELOW;
}
