// The prompt in pages of sections.
import type { Phase } from "contextweaver/slim";
import { type Built, LEDGER, built, builtOrThrow } from "./builds.ts";
import { type Log, log } from "./log.ts";
import { safe } from "./text.ts";

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
  return {
    page: shown,
    pages: pages.length,
    bytes: build.bytes.length,
    tokens: build.pack.stats.prompt_tokens ?? 0,
    pieces,
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
