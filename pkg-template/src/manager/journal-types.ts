// A manager as a journal: what exportSince returns, and what restore takes.
import type { Bytes } from "../types.js";
import type { ContextManagerOptions } from "./options.js";

export type { ForgottenItem } from "../generated.js";

/** How a journal is written. */
export interface ExportOptions {
  /** Everything, so that nothing written before is needed: to be stored in its place. Default: false. */
  readonly whole?: boolean;
  /** How many parts were written before, where no cursor tells. Default: 0. */
  readonly first?: number;
  /** Bytes (UTF-8) of a part, at most; 4 KiB to 1 MiB. Default: 256 KiB. */
  readonly part_bytes?: number;
  /** Artifacts up to so many bytes stand in a part; larger ones are blobs beside it. At most 16 MiB. Default: 8 KiB. */
  readonly inline_bytes?: number;
}

/** Bytes that a journal refers to by their SHA-256. */
export interface JournalBlob {
  /** 64 hexadecimal digits in lower case: the name to keep the bytes by. */
  readonly hash: string;
  readonly size_bytes: number;
  /** Copied when it is read; `ARTIFACT_NOT_FOUND` once the manager has given them up. */
  readonly bytes: Bytes;
}

/** What is to be stored of a manager. */
export interface ExportedChanges {
  /** Lines of JSON to put behind those that are stored, in this order, all or none; with `whole` in their place. */
  readonly changes: readonly string[];
  /** Where the journal ends with them: what to give next time, once they are stored. */
  readonly cursor: string;
  /** How many parts were written before these. */
  readonly first: number;
  /** Whether these stand for all before them. */
  readonly whole: boolean;
  /** To be stored before the changes; those of a whole journal may be there already. */
  readonly blobs: readonly JournalBlob[];
}

/** Something of a journal that could not be read. */
export interface JournalFinding {
  /** Its index among the changes; null for what is missing. */
  readonly part: number | null;
  readonly code: string;
  readonly message: string;
}

/** How a journal is read: options of the manager, in place of those that the journal has. */
export interface RestoreOptions extends ContextManagerOptions {
  /** Bytes by their hash. What is not here is in `restored.missing_blobs`, and digests stand for it. Default: none. */
  readonly blobs?: ReadonlyMap<string, Uint8Array>;
  /** Read what can be read of a damaged journal; `restored.findings` names the rest. Default: false, `JOURNAL_DAMAGED`. */
  readonly salvage?: boolean;
}

/** How far reading a journal went. */
export interface RestoredJournal {
  /** Where to go on; null where something could not be read: then the next export is whole. */
  readonly cursor: string | null;
  readonly findings: readonly JournalFinding[];
  /** SHA-256 of blobs that were not given. */
  readonly missing_blobs: readonly string[];
  /** Options that were functions when the journal was written, and are not given now. */
  readonly missing_functions: readonly string[];
}
