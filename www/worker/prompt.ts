// The prompt in pages of sections, and what changed since the one before.
import { countTokens } from "contextweaver/slim";
import type { Phase, RunningStep } from "contextweaver/slim";
import { type Built, LEDGER, type Parting, baseOf, built, builtOrThrow } from "./builds.ts";
import { type Log, log } from "./log.ts";
import { head, masked, safe } from "./text.ts";

/** A run of bytes of a prompt: an item, or what stands above, below and between them. */
interface Section {
  readonly id: string | null;
  readonly start: number;
  readonly end: number;
}

/** A section, or a part of a long one, to be shown. */
export interface Piece {
  readonly place: number | null;
  readonly label: string;
  readonly kind: string;
  readonly form: string;
  readonly tokens: number | null;
  /** Bytes into the prompt. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Whether it goes on where the page before ended. */
  readonly continued: boolean;
}

export interface PromptPage {
  readonly page: number;
  readonly pages: number;
  readonly bytes: number;
  readonly tokens: number;
  readonly pieces: readonly Piece[];
  /** Bytes of the base that the prompt begins with; null when there is nothing to compare with. */
  readonly shared: number | null;
}

const PAGE_BYTES = 24_000;

function sectionsOf({ pack, bytes }: Built): Section[] {
  const sections: Section[] = [];
  let at = 0;
  for (const { id, start, end } of pack.items ?? []) {
    if (start > at && !isBlank(bytes, at, start)) sections.push({ id: null, start: at, end: start });
    sections.push({ id, start, end });
    at = end;
  }
  if (at < bytes.length && !isBlank(bytes, at, bytes.length)) sections.push({ id: null, start: at, end: bytes.length });
  return sections;
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes.subarray(start, end).every((byte) => byte === 10 || byte === 32);
}

/** The next place from which no character is cut. */
function boundary(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place < bytes.length && ((bytes[place] ?? 0) & 0xc0) === 0x80) place += 1;
  return place;
}

const decoder = new TextDecoder();
const textOf = ({ bytes }: Built, start: number, end: number): string => decoder.decode(bytes.subarray(start, end));

let laid: { of: Built; pages: Section[][] } | undefined;

/** Puts sections on pages; a section longer than a page is continued on the next. */
function pagesOf(build: Built): Section[][] {
  if (laid?.of === build) return laid.pages;
  const pages: Section[][] = [[]];
  let room = PAGE_BYTES;
  for (const { id, start, end } of sectionsOf(build)) {
    for (let at = start; at < end; ) {
      const fits = end - at <= room;
      // A short rest of a page is left empty rather than splitting a section.
      if (!fits && room < PAGE_BYTES && (end - at <= PAGE_BYTES || room < 1000)) {
        pages.push([]);
        room = PAGE_BYTES;
        continue;
      }
      const to = fits ? end : boundary(build.bytes, at + room);
      pages.at(-1)?.push({ id, start: at, end: to });
      room -= to - at;
      at = to;
      if (at < end || room <= 0) {
        pages.push([]);
        room = PAGE_BYTES;
      }
    }
  }
  if (pages.length > 1 && pages.at(-1)?.length === 0) pages.pop();
  laid = { of: build, pages };
  return pages;
}

export function prompt({ phase, page }: { phase: Phase; page: number }): PromptPage {
  const present = log();
  const build = builtOrThrow(phase);
  const pages = pagesOf(build);
  const shown = Math.min(Math.max(0, page), pages.length - 1);
  const pieces = (pages[shown] ?? []).map((section) => pieceOf(present, build, section));
  const { base } = baseOf(phase);
  return {
    page: shown,
    pages: pages.length,
    bytes: build.bytes.length,
    tokens: build.pack.stats.prompt_tokens ?? 0,
    pieces,
    shared: base ? sharedBytes(base, build) : null,
  };
}

function pieceOf(present: Log, build: Built, { id, start, end }: Section): Piece {
  const form = id === null ? undefined : build.forms.get(id);
  const place = id === null ? undefined : present.places.get(id);
  const text = safe(textOf(build, start, end)).replace(/^\n+|\n+$/g, "");
  const isLedger = id === null && build.pack.stats.ledger !== undefined && text.startsWith("[LEFT OUT]\n");
  const around = isLedger ? LEDGER : "header and footer";
  return {
    place: place ?? null,
    label: id !== null ? safe(id) : start === 0 && !isLedger ? "header" : around,
    kind: place === undefined ? around : present.item(place).kind,
    form: form?.rendered_as ?? "whole",
    tokens: form?.tokens ?? null,
    start,
    end,
    text,
    continued: form !== undefined && start > form.start,
  };
}

/** The page of the prompt on which an item begins; -1 when it is not in it. */
export function pageOf({ phase, place }: { phase: Phase; place: number }): number {
  const build = built(phase);
  const { id } = log().item(place);
  return build ? pagesOf(build).findIndex((sections) => sections.some((section) => section.id === id)) : -1;
}

function sharedBytes(base: Built, build: Built): number {
  const end = Math.min(base.bytes.length, build.bytes.length);
  let at = 0;
  while (at < end && base.bytes[at] === build.bytes[at]) at += 1;
  // Never within a character.
  while (at > 0 && at < build.bytes.length && ((build.bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

/** A section that is not what it was, or a run of those that are. */
export type Change =
  | { readonly type: "same"; readonly count: number; readonly tokens: number }
  | { readonly type: "prefix" }
  | {
      readonly type: "added" | "removed" | "changed";
      readonly place: number | null;
      readonly label: string;
      readonly kind: string;
      readonly before: string;
      readonly after: string;
    };

/** What a prompt is compared with: the one before it, or the present one of another phase. */
export type Against = "before" | Phase;

/** A build in numbers, for one side of a comparison. */
export interface BuildFigures {
  readonly phase: Phase;
  readonly query: string;
  readonly budget: number;
  readonly tokens: number;
  readonly items: number;
}

function figuresOf({ options, pack: { stats, phase } }: Built): BuildFigures {
  const { query = "" } = options;
  return { phase, query: safe(query), budget: stats.budget_tokens ?? 0, tokens: stats.prompt_tokens ?? 0, items: stats.included_count };
}

export interface Changes {
  /** Nothing to compare with yet. */
  readonly isFirst: boolean;
  readonly isFixed: boolean;
  /** Budget and query that the prompt before had, where they differ. */
  readonly from: string;
  readonly counts: { readonly added: number; readonly removed: number; readonly changed: number; readonly same: number };
  readonly prefix: { readonly bytes: number; readonly tokens: number; readonly of: number };
  /** Of a running prompt its step, and why it no longer goes on with the one before; null where it does. */
  readonly running: { readonly step: RunningStep; readonly parting: Parting | null } | null;
  readonly changes: readonly Change[];
  readonly base: BuildFigures | null;
  readonly now: BuildFigures;
  /** Changes that are not listed. */
  readonly rest: number;
}

const MAX_CHANGES = 200;
const CHANGE_CHARS = 1500;
const NO_CHANGES = { added: 0, removed: 0, changed: 0, same: 0 };

export function changes({ phase, against = "before" }: { phase: Phase; against?: Against }): Changes {
  const present = log();
  const build = builtOrThrow(phase);
  const { base: before, isFixed, parting } = baseOf(phase);
  const base = against === "before" ? before : built(against);
  const now = figuresOf(build);
  const step = build.pack.running;
  const running = step ? { step, parting } : null;
  if (!base) {
    const prefix = { bytes: 0, tokens: 0, of: build.bytes.length };
    return { isFirst: true, isFixed, from: "", counts: NO_CHANGES, prefix, running, base: null, now, changes: [], rest: 0 };
  }
  const bytes = sharedBytes(base, build);
  const listed = compared(present, base, build, bytes);
  const counts = { ...NO_CHANGES };
  for (const change of listed) {
    if (change.type === "same") counts.same += change.count;
    else if (change.type !== "prefix") counts[change.type] += 1;
  }
  return {
    isFirst: false,
    isFixed,
    from: differences(base, build),
    counts,
    prefix: {
      bytes,
      tokens: countTokens(textOf(build, 0, bytes)),
      of: build.bytes.length,
    },
    running,
    base: figuresOf(base),
    now,
    changes: listed.slice(0, MAX_CHANGES),
    rest: Math.max(0, listed.length - MAX_CHANGES),
  };
}

function differences(base: Built, build: Built): string {
  const [before, after] = [base.options, build.options];
  const parts: string[] = [];
  if (before.budget_tokens !== after.budget_tokens) parts.push(`budget ${before.budget_tokens?.toLocaleString("en")} → ${after.budget_tokens?.toLocaleString("en")}`);
  if (before.query !== after.query) parts.push("another query");
  if (before.pin?.join() !== after.pin?.join()) parts.push("other pins");
  if (before.header !== after.header || before.footer !== after.footer) parts.push("another header or footer");
  return safe(parts.join(", "));
}

/** Sections of both prompts side by side, in the order of the present one; what is gone stands where it stood in the log. */
function compared(present: Log, base: Built, build: Built, shared: number): Change[] {
  const [old, now] = [base, build].map((each) => new Map(named(each)));
  const order = (key: string): number => placeOf(present, key) ?? (key === ABOVE ? -1 : Number.MAX_SAFE_INTEGER);
  const gone = [...(old?.keys() ?? [])].filter((key) => !now?.has(key)).sort((a, b) => order(a) - order(b));
  const keys: string[] = [];
  for (const key of now?.keys() ?? []) {
    while (gone[0] !== undefined && order(gone[0]) < order(key)) keys.push(gone.shift() as string);
    keys.push(key);
  }
  keys.push(...gone);
  const found: Change[] = [];
  let same: { type: "same"; count: number; tokens: number } | undefined;
  let isPast = false;
  for (const key of keys) {
    const [before, after] = [old?.get(key), now?.get(key)];
    const [was, is] = [before && textOf(base, before.start, before.end), after && textOf(build, after.start, after.end)];
    if (!isPast && ((after && after.end > shared) || !after)) {
      isPast = true;
      found.push({ type: "prefix" });
      same = undefined;
    }
    if (was === is) {
      if (!same) found.push((same = { type: "same", count: 0, tokens: 0 }));
      same.count += 1;
      same.tokens += build.forms.get(key)?.tokens ?? 0;
      continue;
    }
    same = undefined;
    found.push(changeOf(present, key, was, is));
  }
  return found;
}

const ABOVE = "\u0000above";
const BELOW = "\u0000below";

const AGAIN = "\u0000again";

/** Sections by the id of their item. What is recalled of an item that stands has a key of its own. */
function named(build: Built): [string, Section][] {
  const seen = new Set<string>();
  return sectionsOf(build).map((section) => {
    let key = section.id ?? (section.start === 0 ? ABOVE : BELOW);
    while (seen.has(key)) key += AGAIN;
    seen.add(key);
    return [key, section];
  });
}

function placeOf(present: Log, key: string): number | undefined {
  return present.places.get(key.replaceAll(AGAIN, ""));
}

function changeOf(present: Log, key: string, was: string | undefined, is: string | undefined): Change {
  const place = placeOf(present, key);
  const cut = (text = ""): string => {
    const shown = head(masked(text), CHANGE_CHARS);
    return text.length > shown.length + 8 ? `${shown}…` : shown;
  };
  return {
    type: was === undefined ? "added" : is === undefined ? "removed" : "changed",
    place: place ?? null,
    label: place === undefined ? (key === ABOVE ? "header" : "footer") : present.label(place),
    kind: place === undefined ? "header and footer" : present.item(place).kind,
    ...(was === undefined || is === undefined ? { before: cut(was), after: cut(is) } : middles(masked(was), masked(is), cut)),
  };
}

/** Of two versions the lines in which they differ. */
function middles(was: string, is: string, cut: (text: string) => string): { before: string; after: string } {
  const [before, after] = [was.split("\n"), is.split("\n")];
  const most = Math.min(before.length, after.length);
  let top = 0;
  while (top < most && before[top] === after[top]) top += 1;
  let bottom = 0;
  while (bottom < most - top && before[before.length - 1 - bottom] === after[after.length - 1 - bottom]) bottom += 1;
  const middle = (lines: readonly string[]): string => {
    const shown = lines.slice(top, lines.length - bottom).join("\n");
    return cut(`${top > 0 ? `… ${top} as before\n` : ""}${shown}${bottom > 0 ? `\n… ${bottom} as before` : ""}`);
  };
  return { before: middle(before), after: middle(after) };
}
