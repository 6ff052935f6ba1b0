// Names that every entry has.
export { ContextWeaverError, ERROR_CODES } from "../errors.js";
export type { Embed, Embedder, Vector } from "../embedder.js";
export type { ErrorCode, ErrorInit } from "../errors.js";
export type * from "../types.js";
