// The lines of a journal, and which of them count. How several processes write them is told in files.ts.
import { ContextWeaverError } from "../errors.js";
import { utf8 } from "../guard.js";

/** Bytes at the beginning of a journal by which it is known: they have its own random name. */
export const HEAD = 256;
/** Hexadecimal digits of the checksum of a line. */
const CHECKSUM = 8;
const NEWLINE = 10;
/** Stands before what is added: a line that was cut short just before its end would otherwise become whole by the next one. */
export const BREAK = "~\n";

/** The checksum of zlib. */
export type Crc32 = (bytes: Uint8Array) => number;

/** The first line of a journal. */
export interface Header {
  /** Another one for each journal. */
  readonly journal: string;
  /** Compactions before it. */
  readonly generation: number;
  readonly first: number;
  readonly id: string;
}

/** Another line: parts, or the file in which the journal goes on. */
export interface Line {
  readonly first: number;
  /** Who wrote it: no two lines are the same. */
  readonly by: string;
  readonly parts?: readonly string[];
  readonly moved?: string;
}

/** What was read of a journal. */
export interface Journal {
  readonly head: Uint8Array;
  header: Header | undefined;
  /** Bytes that were read, up to the end of a line. */
  offset: number;
  next: number;
  moved: string | undefined;
}

/** Takes a line into account, if it counts. */
export function heed(journal: Journal, value: Header | Line, tell?: (line: Line) => void): void {
  if (journal.moved !== undefined) return;
  if (!journal.header) {
    if (!("journal" in value)) throw damaged("its first line is missing", value.first);
    journal.header = value;
    journal.next = value.first;
    return;
  }
  // A header of somebody who began at the same time, or a line of somebody who was late.
  if ("journal" in value || value.first < journal.next) return;
  if (value.first > journal.next) throw damaged(`part ${journal.next} is missing`, journal.next);
  journal.next += value.parts?.length ?? 0;
  journal.moved = value.moved;
  tell?.(value);
}

/** An error about what was acknowledged and cannot be read. */
export function damaged(how: string, next: number): ContextWeaverError {
  return new ContextWeaverError("DECODE_FAILED", `the journal is damaged: ${how}`, { hint: "restore the session's folder from a copy", details: { next } });
}

const decoder = new TextDecoder();

/** The lines of journals: a checksum, a space, and JSON. */
export class Lines {
  readonly #crc32: Crc32;

  constructor(crc32: Crc32) {
    this.#crc32 = crc32;
  }

  /** Writes lines. */
  joined(values: readonly (Header | Line)[], before = ""): Uint8Array {
    const lines = values.map((value) => {
      const json = JSON.stringify(value);
      return `${this.#checksum(utf8(json))} ${json}\n`;
    });
    return utf8(before + lines.join(""));
  }

  /** What each line says that has an end, with where it ends; nothing where it was cut short. */
  *of(bytes: Uint8Array): Generator<readonly [Header | Line | undefined, number]> {
    let begin = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
      const json = bytes.subarray(begin + CHECKSUM + 1, Math.max(end, begin + CHECKSUM + 1));
      const isWhole = json.length > 0 && decoder.decode(bytes.subarray(begin, begin + CHECKSUM)) === this.#checksum(json);
      begin = end + 1;
      yield [isWhole ? (JSON.parse(decoder.decode(json)) as Header | Line) : undefined, begin];
    }
  }

  /** The first line of a journal, looked for in its first bytes. */
  headerOf(bytes: Uint8Array): Header | undefined {
    for (const [value] of this.of(bytes)) if (value && "journal" in value) return value;
    return undefined;
  }

  #checksum(json: Uint8Array): string {
    return this.#crc32(json).toString(16).padStart(CHECKSUM, "0");
  }
}
