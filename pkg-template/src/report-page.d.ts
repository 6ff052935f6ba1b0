// Made of the page's own parts when the package is built.
import type { ContextManager } from "./manager/context-manager.js";
import type { HtmlReportOptions } from "./manager/report-types.js";

/** Collects what a report shows. @internal */
export function collect(manager: ContextManager, options: HtmlReportOptions): Promise<object>;
/** What stands above the data of a report. @internal */
export const ABOVE: string;
/** What stands below it. @internal */
export const BELOW: string;
