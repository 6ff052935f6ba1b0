// Exports that the main entry, `slim`, `context`, `convert`, `routing` and `decisions` all have.
export type { AbortOptions } from "../boundary/abort.js";
export { ContextWeaverError, ERROR_CODES } from "../boundary/errors.js";
export type { Embed, Embedder, Vector } from "../catalog/embedder.js";
export type { ErrorCode, ErrorInit } from "../boundary/errors.js";
export type * from "../types.js";
