// Changes to files that are shown before they are made, remembered, and taken back without touching anything else.
import {
  chmodSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import process from "node:process";
import { makeFolder, parentOf } from "../folders.js";
import { UsageError } from "../options.js";
import { inserted, removed } from "./json-edit.js";
import type { JsonEdit } from "./json-edit.js";

/** What is to be in a file: values in its JSON, lines at its end, or all of it. */
export type Change =
  | { readonly file: string; readonly edits: readonly JsonEdit[] }
  | {
      readonly file: string;
      readonly lines: string;
      /** What of its text the lines cannot stand beside. */
      readonly inTheWay: (text: string) => string | undefined;
    }
  | { readonly file: string; readonly text: string };

/** A change that was made. */
export interface Made {
  readonly file: string;
  /** Whether there was no file before. */
  readonly created: boolean;
  /** The whole file as it was written, where it was created or had nothing in it. */
  readonly text?: string;
  /** What it had then. */
  readonly blank?: string;
  /** The pieces that were put in, in their order. */
  readonly pieces: readonly { readonly added: string; readonly edit?: JsonEdit }[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

/** A file before and after a change. */
export interface Planned {
  readonly before: string | undefined;
  readonly after: string;
  readonly made: Made;
}

/** Works out what a change does; writes nothing. Undefined where all of it is there. */
export function planned(change: Change): Planned | undefined {
  const { file } = change;
  const before = contents(file);
  const pieces: { added: string; edit?: JsonEdit }[] = [];
  let after = before ?? "";
  if ("edits" in change) {
    for (const edit of change.edits) {
      const { text, added } = inserted(after, edit, file);
      after = text;
      if (added !== undefined) pieces.push({ added, edit });
    }
  } else if ("lines" in change) {
    if (after.includes(change.lines)) return undefined;
    const key = change.inTheWay(after);
    if (key !== undefined)
      throw new UsageError(
        `${file} has \`${key}\` already, beside which these lines cannot stand; nothing was written. Put in by hand what they say:\n${change.lines}`,
        "input",
      );
    const added = `${after === "" || after.endsWith("\n") ? "" : "\n"}${change.lines}`;
    after += added;
    pieces.push({ added });
  } else {
    if (before === change.text) return undefined;
    if (before !== undefined)
      throw new UsageError(`${file} is there already, and was written by somebody else; nothing was written`, "input");
    after = change.text;
    pieces.push({ added: after });
  }
  if (pieces.length === 0) return undefined;
  const created = before === undefined;
  const isBlank = before !== undefined && before.trim() === "";
  return {
    before,
    after,
    made: {
      file,
      created,
      ...((created || isBlank) && { text: after }),
      ...(isBlank && { blank: before }),
      pieces,
      folders: missingFolders(file),
    },
  };
}

/** Writes a change. */
export function apply({ after, made }: Planned): void {
  const { file } = made;
  makeFolder(parentOf(file));
  written(file, after);
}

/** What a file is without a change that was made; `undefined` for no file, and what could not be taken out. */
export function without({
  file,
  text,
  blank,
  pieces,
}: Made):
  | { readonly before: string; readonly after: string | undefined; readonly left: readonly string[] }
  | undefined {
  const before = contents(file);
  if (before === undefined) return undefined;
  if (before === text) return { before, after: blank, left: [] };
  let after = before;
  const left: string[] = [];
  for (const { added, edit } of [...pieces].reverse()) {
    const bare = edit ? removed(after, edit, added, file) : withoutPiece(after, added);
    if (bare === undefined) left.push(added.trim());
    else after = bare;
  }
  return { before, after, left };
}

function withoutPiece(text: string, added: string): string | undefined {
  const at = text.indexOf(added);
  return at === -1 ? undefined : text.slice(0, at) + text.slice(at + added.length);
}

/** Writes what is left of a file, or removes it with the folders that were made for it and are empty. */
export function takeBack({ file, folders }: Made, after: string | undefined): void {
  if (after !== undefined) return written(file, after);
  unlinkSync(file);
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      return; // Somebody has put something there.
    }
  }
}

function contents(file: string): string | undefined {
  try {
    // A mark of byte order is a byte of the file as any other.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === "ENOENT") return undefined;
    throw new UsageError(`cannot read ${file}: ${code ?? "it is not UTF-8 text"}`, "input");
  }
}

/** Writes a file as a whole or not at all, where a link leads to, with the rights that it has. */
function written(file: string, text: string): void {
  try {
    const target = existsSync(file) ? realpathSync(file) : file;
    const mode = statSync(target, { throwIfNoEntry: false })?.mode;
    const next = `${target}.${process.pid}.tmp`;
    writeFileSync(next, text, { flag: "wx", ...(mode !== undefined && { mode }) });
    // A new file has no rights that the umask takes.
    if (mode !== undefined) chmodSync(next, mode);
    renameSync(next, target);
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${(error as { readonly code?: string }).code}`, "input");
  }
}

function missingFolders(file: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = parentOf(file); folder.length > 1 && !existsSync(folder); folder = parentOf(folder))
    folders.unshift(folder);
  return folders;
}

/** Remembers what was made for an agent. */
export function remember(file: string, made: readonly Made[]): void {
  writeFileSync(file, `${JSON.stringify({ version: 1, made }, null, 2)}\n`);
}

/** What was made for an agent; undefined where nothing is known. */
export function remembered(file: string): readonly Made[] | undefined {
  const text = contents(file);
  if (text === undefined) return undefined;
  try {
    return (JSON.parse(text) as { readonly made: readonly Made[] }).made;
  } catch {
    throw new UsageError(`${file} is not valid JSON`, "input");
  }
}

/** Forgets it. */
export function forget(file: string): void {
  unlinkSync(file);
}
