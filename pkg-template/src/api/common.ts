// Names that every entry has.
export { ContextWeaverError, ERROR_CODES } from "../errors.js";
export type { ErrorCode, ErrorInit } from "../errors.js";
export type * from "../types.js";
