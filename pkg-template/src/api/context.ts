// Names that need the context compiler.
export { ContextManager } from "../context-manager.js";
export type * from "../hook-types.js";
export type * from "../journal-types.js";
export type * from "../options.js";
export type { HtmlReportOptions, ReportOptions } from "../report-types.js";
export type * from "../results.js";
export { buildReport, countTokens, drilldownTool, recallTool, redactSecrets, sanitizeText, tokenize, version } from "../text.js";
export { StoredRecords, openRecords } from "../stored-records.js";
export type { OpenRecordsOptions } from "../stored-records.js";
export { StoredSession, openSession } from "../stored-session.js";
export type { OpenSessionOptions, SavedSession } from "../stored-session.js";
export type { LoadOptions, SessionStorage, StoredParts } from "../storage/storage-types.js";
