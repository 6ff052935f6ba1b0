// Reading and writing the journal of a manager.
import type { ContextGlue } from "../boundary/engines.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields, text, utf8 } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import type { ExportedChanges, JournalBlob, JournalFinding, RestoreOptions, RestoredJournal } from "./journal-types.js";
import type { ContextManagerOptions } from "./options.js";
import type { Settings } from "../boundary/callbacks.js";
import type { Origin, Session } from "./session.js";

/** Longest JSON of options that a journal holds, in bytes: a policy and a profile take a few thousand. */
const MAX_SETTINGS = 64 * 1024;

/** Where a journal begins, and what it says of itself there. */
interface Head {
  readonly part: { readonly whole?: boolean; readonly sequence: number; readonly settings?: Settings };
}

/** Options as the last whole part tells them, if it can be read. */
function settingsIn(lines: readonly string[]): Settings | undefined {
  let newest: Head["part"] | undefined;
  for (const line of lines) {
    // Its first fields say so, before anything of a caller's.
    if (!line.slice(0, 200).includes(`"whole":true`)) continue;
    try {
      const { part } = JSON.parse(line) as Head;
      if (!newest || part.sequence > newest.sequence) newest = part;
    } catch {
      // The engine says what is wrong with it.
    }
  }
  return newest?.settings;
}

/** What reading a journal needs. @internal */
export interface JournalSource {
  readonly options: ContextManagerOptions;
  readonly origin: Origin;
  /** What became of it, once it was read. */
  readonly report: () => RestoredJournal;
}

/** Prepares reading a journal. @internal */
export function journalSource(changes: Iterable<string> | string, given: RestoreOptions | undefined): JournalSource {
  const { blobs, salvage, ...own } = fields(given);
  const lines = typeof changes === "string" ? changes.split("\n").filter((line) => line !== "") : lineList(changes);
  const settings = settingsIn(lines);
  const stored = { ...settings?.options };
  // Without its embedder, which is named as missing, it would be refused.
  if (own["embed"] === undefined) delete stored["embedding_weight"];
  const options = { ...stored, ...own };
  const missing_functions = (settings?.functions ?? []).filter((name) => own[name] === undefined);
  const parts = utf8(text(lines.join("\n"), "", SNAPSHOT.total));
  const known = blobMap(blobs);
  const wanted = [...known.keys()];
  const bytes = [...known.values()];
  const hashes = JSON.stringify(wanted);
  let found: Omit<RestoredJournal, "missing_functions"> | undefined;
  const open = (glue: ContextGlue, json: string): number => {
    const read = glue.manager_restore_journal(parts, json, hashes, bytes);
    const { handle, report } = JSON.parse(read) as { handle: number; report: typeof found };
    found ??= report;
    return handle;
  };
  const weight = bytes.reduce((sum, { length }) => sum + length, parts.length);
  const report = (): RestoredJournal => {
    if (!found) throw new ContextWeaverError("INTERNAL", "the journal was not read");
    refuseDamaged(found.findings, salvage);
    return { ...found, missing_functions };
  };
  return { options: options as ContextManagerOptions, origin: { weight, open }, report };
}

/** Refuses a journal that is not whole, unless what can be read of it is wanted. @internal */
export function refuseDamaged(findings: readonly JournalFinding[], salvage: unknown): void {
  const [first] = findings;
  if (!first || salvage === true) return;
  throw new ContextWeaverError("JOURNAL_DAMAGED", first.message, {
    ...(first.part !== null && { path: `/${first.part}` }),
    hint: "salvage: true reads what can be read, and names the rest",
    details: { findings: findings.length },
  });
}

function lineList(changes: Iterable<string>): string[] {
  const lines: string[] = [];
  for (const line of changes) {
    text(line, `/${lines.length}`, SNAPSHOT.total);
    // A line break would make two lines of what was damaged; JSON has none.
    lines.push(line.replaceAll("\n", " "));
  }
  return lines;
}

function blobMap(blobs: unknown): ReadonlyMap<string, Uint8Array> {
  if (blobs === undefined) return new Map();
  if (blobs instanceof Map && [...blobs.values()].every((bytes) => bytes instanceof Uint8Array))
    return blobs as Map<string, Uint8Array>;
  throw new ContextWeaverError("INVALID_INPUT", "expected a Map of bytes by their SHA-256", { path: "/blobs" });
}

/** The hashes that parts refer to: more than those of artifacts only where a caller's metadata looks like it. @internal */
export function hashesIn(parts: readonly string[]): string[] {
  const hashes = new Set<string>();
  for (const part of parts) {
    for (const [, hash] of part.matchAll(/"blob":"([0-9a-f]{64})"/g)) hashes.add(hash as string);
  }
  return [...hashes];
}

/** The first line of what the engine exports. */
interface ExportHead {
  readonly cursor: string;
  readonly first: number;
  readonly whole: boolean;
  readonly blobs: readonly { readonly hash: string; readonly size_bytes: number }[];
}

/** Writes what changed. @internal */
export function exportJournal(session: Session, cursor: unknown, options: unknown): ExportedChanges {
  const args = fields(options);
  if (cursor !== undefined) args["cursor"] = text(cursor, "/cursor");
  if ("settings" in args)
    throw new ContextWeaverError("UNKNOWN_FIELD", "unknown field `settings`", { path: "/settings" });
  const { settings } = session;
  const { length } = JSON.stringify(settings);
  if (length > MAX_SETTINGS) {
    const message = `the options have ${length} characters, a journal holds ${MAX_SETTINGS}`;
    throw new ContextWeaverError("TOO_LARGE", message, { path: "/options" });
  }
  session.keepJournal();
  const [head, ...changes] = session.journal(encode({ ...args, settings })).split("\n");
  const { blobs, ...rest } = JSON.parse(head as string) as ExportHead;
  return { changes, ...rest, blobs: blobs.map(({ hash, size_bytes }) => blobOf(session, hash, size_bytes)) };
}

function blobOf(session: Session, hash: string, size_bytes: number): JournalBlob {
  return {
    hash,
    size_bytes,
    get bytes() {
      return session.blob(hash);
    },
  };
}
