// Exports of `contextweaver/context`, the main entry and `slim`: names that need the WebAssembly module of the context
// compiler.
export { ContextManager } from "../manager/context-manager.js";
export type * from "../telemetry/hook-types.js";
export type * from "../manager/journal-types.js";
export type * from "../manager/options.js";
export type { HtmlReportOptions, ReportOptions } from "../manager/report-types.js";
export type * from "../manager/results.js";
export {
  buildReport,
  countTokens,
  drilldownTool,
  recallTool,
  redactSecrets,
  sanitizeText,
  tokenize,
  version,
} from "../manager/text.js";
export { StoredRecords, openRecords } from "../sessions/stored-records.js";
export type { OpenRecordsOptions } from "../sessions/stored-records.js";
export { StoredSession, openSession } from "../sessions/stored-session.js";
export type { OpenSessionOptions, SavedSession } from "../sessions/stored-session.js";
export type { LoadOptions, SessionStorage, StoredEnd, StoredParts } from "../storage/storage-types.js";
