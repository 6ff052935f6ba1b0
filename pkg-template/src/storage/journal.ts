// The lines of a journal, which of them count, and what of it is damaged. How several processes write them is told in files.ts.
import { ContextWeaverError } from "../boundary/errors.js";
import { utf8 } from "../boundary/guard.js";
import { sumOf } from "./checks.js";
import type { StoredEnd } from "./storage-types.js";

/** Bytes at the beginning of a journal by which it is known: they have its own random name. */
export const HEAD = 256;
/** Hexadecimal digits of the checksum of a line. */
const CHECKSUM = 8;
const NEWLINE = 10;
const SPACE = 32;
const TILDE = 126;
/**
 * Stands before each line: one that was cut short just before its end would otherwise become whole by the next one. So a line that
 * was cut short has no end, or a `~` before it; any other that is not whole was damaged later.
 */
const BREAK = "~\n";
/** Parts that a journal may have had whose file is gone: what is written next must have no number that one of them had. */
const PARTS_OF_A_FILE = 2 ** 20;

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
  /** Parts that were written with it, by a compaction; absent in journals of earlier versions. */
  readonly parts?: number;
}

/** Another line: parts, or the file in which the journal goes on. */
export interface Line {
  readonly first: number;
  /** Who wrote it: no two lines are the same. */
  readonly by: string;
  readonly parts?: readonly string[];
  readonly moved?: string;
}

/** What was acknowledged and cannot be read, or not be trusted. */
export interface Damage {
  readonly how: string;
  /** The number of the part that was expected there. */
  readonly next: number;
  /** Where the bytes end that are damaged; nothing where they are missing. */
  readonly end?: number;
  /** The index of the first part that was read of it all the same. */
  part: number | null;
}

/** What was read of a journal. */
export interface Journal {
  readonly head: Uint8Array;
  header: Header | undefined;
  /** Bytes that were read, up to the end of a line. */
  offset: number;
  next: number;
  /** The sum of the last part that counts, where it tells one. */
  sum: string | undefined;
  moved: string | undefined;
  /** How many parts may be lost behind `next`, at most: as many as bytes. */
  lost: number;
  /** Parts of damaged lines that were told all the same. */
  guessed: number;
  readonly damage: Damage[];
  /** Lines by their numbers that stand before those that they follow. */
  readonly held: Map<number, Line>;
}

/** What hears of the lines that count; with the damage of one that may be altered. */
export type Tell = (line: Line, damage?: Damage) => void;

/** A journal of which nothing was read yet. */
export function unread(head: Uint8Array): Journal {
  return {
    head,
    header: undefined,
    offset: 0,
    next: 0,
    sum: undefined,
    moved: undefined,
    lost: 0,
    guessed: 0,
    damage: [],
    held: new Map(),
  };
}

/** A copy, to be read on. */
export function copyOf(journal: Journal): Journal {
  return { ...journal, damage: [...journal.damage], held: new Map(journal.held) };
}

/** The number of the next part: beyond all that may be lost. */
export function endOf(journal: Journal | undefined): number {
  return journal ? journal.next + journal.lost + journal.guessed : 0;
}

/** Where a journal ends; which part is the last is not known of one that is damaged. */
export function storedEnd(journal: Journal | undefined): StoredEnd {
  const sum = journal?.damage.length === 0 ? journal.sum : undefined;
  return { next: endOf(journal), ...(sum !== undefined && { sum }) };
}

/** Refuses a journal that is damaged. */
export function refuse(journal: Journal | undefined): void {
  const [first] = journal?.damage ?? [];
  if (!journal || !first) return;
  throw new ContextWeaverError("JOURNAL_DAMAGED", `the session's file \`journal\` is damaged: ${first.how}`, {
    path: `/${Math.max(0, first.next - (journal.header?.first ?? 0))}`,
    hint: "salvage: true reads what can be read, and names the rest; or restore the session's folder from a copy",
    details: { findings: journal.damage.length, next: endOf(journal) },
  });
}

/** Takes a line into account, if it counts. `gone` are files that are missing in which the journal goes on. */
export function heed(journal: Journal, line: ReadLine, gone: ReadonlySet<string>, tell?: Tell): void {
  if (journal.moved !== undefined) return;
  const { value } = line;
  if (!value) {
    if (line.isDamaged) suspect(journal, line, tell);
    return;
  }
  if ("journal" in value) {
    // Another may be of somebody who began at the same time.
    if (!journal.header) [journal.header, journal.next] = [value, value.first];
    count(journal, journal.held.get(journal.next), tell);
    return;
  }
  if (value.moved !== undefined && gone.has(value.moved)) {
    note(journal, { how: "the file is missing in which it goes on" });
    journal.lost += PARTS_OF_A_FILE;
    return;
  }
  // The damaged line may be the one that counts, and this one late. Nothing is lost by not following it: the parts are here, and nobody
  // has written to the other file yet, which would have this one's name then.
  const isUnsure = value.first === journal.next && journal.lost + journal.guessed > 0;
  if (value.moved !== undefined && isUnsure) return;
  // A compaction goes on beyond what is lost.
  if (value.moved !== undefined && value.first === endOf(journal)) journal.next = value.first;
  if (value.first > journal.next || !journal.header) {
    if (!journal.held.has(value.first)) journal.held.set(value.first, value);
    journal.lost = 0;
    // One of somebody who was late counts for nothing.
  } else if (value.first === journal.next) count(journal, value, tell);
}

/** Says what is missing, when all was read. */
export function settle(journal: Journal, tell?: Tell): void {
  if (journal.moved !== undefined) return;
  const held = [...journal.held.keys()].sort((one, other) => one - other);
  if (!journal.header && (journal.damage.length > 0 || held.length > 0)) beginWithout(journal, held[0]);
  for (const first of held) {
    const line = journal.held.get(first);
    if (!line) continue;
    journal.held.delete(first);
    if (first < journal.next) continue;
    if (first > journal.next) note(journal, { how: `parts ${journal.next} to ${first - 1} are missing` });
    const { lost } = journal;
    journal.next = first;
    count(journal, line, tell);
    // What is damaged stands behind it.
    journal.lost = lost;
  }
  const { first = 0, parts = 0 } = journal.header ?? {};
  if (journal.next + journal.lost >= first + parts) return;
  note(journal, { how: `parts ${journal.next} to ${first + parts - 1} are missing` });
  journal.lost = first + parts - journal.next;
}

/** Counts a line, and those that were held for it. */
function count(journal: Journal, line: Line | undefined, tell: Tell | undefined): void {
  for (let next = line; next && journal.moved === undefined; next = journal.held.get(journal.next)) {
    journal.held.delete(next.first);
    journal.next += next.parts?.length ?? 0;
    if (next.parts && next.parts.length > 0) journal.sum = sumOf(next.parts.at(-1));
    journal.moved = next.moved;
    journal.lost = 0;
    tell?.(next);
  }
}

/** Begins a journal whose first line cannot be read with the first part that can. */
function beginWithout(journal: Journal, first = 0): void {
  if (journal.damage.length === 0) note(journal, { how: "its first line is missing" });
  // Of the same bytes the same name.
  const name = journal.head.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7);
  journal.header = { journal: name.toString(16).padStart(8, "0"), generation: 0, first, id: "" };
  journal.next = first;
}

/** Notes a line that is damaged. Its parts may be whole, which whoever reads them can tell. */
function suspect(journal: Journal, { begin, end, guess }: ReadLine, tell: Tell | undefined): void {
  journal.lost += end - begin;
  const last = journal.damage.at(-1);
  const isSame = !guess && last?.end !== undefined && last.part === null && begin - last.end <= BREAK.length;
  if (isSame) {
    journal.damage[journal.damage.length - 1] = { ...last, end };
    return;
  }
  const damage = note(journal, { how: `what stands from byte ${begin} on is not what was written`, end });
  if (!guess) return;
  journal.guessed += guess.length;
  tell?.({ first: journal.next, by: "", parts: guess }, damage);
}

function note(journal: Journal, told: Pick<Damage, "how" | "end">): Damage {
  const damage = { ...told, next: journal.next, part: null };
  journal.damage.push(damage);
  return damage;
}

/** A line as it was read. */
export interface ReadLine {
  /** Where it begins and ends among the bytes. */
  readonly begin: number;
  readonly end: number;
  /** What it says; nothing where it is not whole. */
  readonly value?: Header | Line;
  /** Whether it was whole once, as far as can be told. */
  readonly isDamaged?: boolean;
  /** The parts of one that is damaged, as they can be read. */
  readonly guess?: readonly string[] | undefined;
}

const decoder = new TextDecoder();

/** The lines of journals: a checksum, a space, and JSON. */
export class Lines {
  readonly #crc32: Crc32;

  constructor(crc32: Crc32) {
    this.#crc32 = crc32;
  }

  /** Writes lines. */
  joined(values: readonly (Header | Line)[]): Uint8Array {
    const lines = values.map((value) => {
      const json = JSON.stringify(value);
      return `${BREAK}${this.#checksum(utf8(json))} ${json}\n`;
    });
    return utf8(lines.join(""));
  }

  /** Reads the lines that have an end. What stands behind them may yet be written on. */
  *of(bytes: Uint8Array): Generator<ReadLine> {
    let begin = 0;
    let odd: ReadLine | undefined;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
      const line = bytes.subarray(begin, end);
      const place = { begin, end: end + 1 };
      begin = end + 1;
      if (line.length < BREAK.length && line[0] !== TILDE) {
        odd = { begin: odd?.begin ?? place.begin, end: place.end, isDamaged: true };
        continue;
      }
      const value = this.#valueOf(line) ?? this.#unended(line);
      // Before a line that is whole nothing but its break was damaged.
      if (odd && !(value && odd.end - odd.begin <= BREAK.length + 1)) yield odd;
      odd = undefined;
      if (value) yield { ...place, value };
      else if (line.at(-1) === TILDE) yield place;
      else yield { ...place, isDamaged: true, guess: partsIn(line) };
    }
    if (odd) yield odd;
    const value = this.#unended(bytes.subarray(begin));
    if (value) yield { begin, end: bytes.length, value };
  }

  /** The first line of a journal, looked for in its first bytes; and whether something is there that could have been it. */
  headerOf(bytes: Uint8Array): { readonly header: Header | undefined; readonly isDamaged: boolean } {
    let isDamaged = false;
    for (const line of this.of(bytes)) {
      if (line.value && "journal" in line.value) return { header: line.value, isDamaged };
      isDamaged ||= line.isDamaged === true || line.value !== undefined;
    }
    return { header: undefined, isDamaged };
  }

  /** What a line says, also one that stands behind a break whose end is damaged. */
  #valueOf(line: Uint8Array): Header | Line | undefined {
    return this.#whole(line) ?? (line[0] === TILDE ? this.#whole(line.subarray(BREAK.length)) : undefined);
  }

  /** What a line says of which the end alone is damaged: another byte stands there, and maybe the break of the next. */
  #unended(line: Uint8Array): Header | Line | undefined {
    const length = line.length - (line.at(-1) === TILDE ? 2 : 1);
    return length < 0 || line[length] === TILDE ? undefined : this.#valueOf(line.subarray(0, length));
  }

  #whole(line: Uint8Array): Header | Line | undefined {
    const json = line.subarray(CHECKSUM + 1);
    if (json.length === 0 || line[CHECKSUM] !== SPACE) return undefined;
    return decoder.decode(line.subarray(0, CHECKSUM)) === this.#checksum(json)
      ? (JSON.parse(decoder.decode(json)) as Header | Line)
      : undefined;
  }

  #checksum(json: Uint8Array): string {
    return this.#crc32(json).toString(16).padStart(CHECKSUM, "0");
  }
}

/** The parts in a line that is damaged, where it is JSON still. */
function partsIn(line: Uint8Array): readonly string[] | undefined {
  try {
    const { parts } = JSON.parse(decoder.decode(line.subarray(CHECKSUM + 1))) as Line;
    return Array.isArray(parts) && parts.every((part) => typeof part === "string") ? parts : undefined;
  } catch {
    return undefined;
  }
}
