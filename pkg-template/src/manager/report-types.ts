// What a report is asked for with.
import type { BuildOptions } from "./options.js";

/** A build to report on, and how much to say of it. */
export interface HtmlReportOptions extends Omit<BuildOptions, "explain" | "list_dropped"> {
  /** Default: `A build, and why`. */
  readonly title?: string;
  /**
   * Left-out items, the best first, of which the report says what would have kept them: the smallest budget, and what a pin would
   * push out. Each takes some twenty builds, on a copy of the manager. 0 to 200. Default: 20.
   */
  readonly what_if?: number;
}

/** What {@link ContextManager.report} is asked for with. */
export interface ReportOptions extends HtmlReportOptions {
  /** The form of the report; there is one. */
  readonly format: "html";
}
