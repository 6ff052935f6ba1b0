// Stored results: which there are, ways to look into them, and parts of them.
import type { Selector } from "contextweaver/slim";
import { log } from "./log.ts";
import { InputError, type Problem, problemOf, safe } from "./text.ts";

export interface ArtifactRow {
  readonly place: number | null;
  readonly label: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly line: string;
}

interface Known extends Omit<ArtifactRow, "line"> {
  readonly handle: string;
}

let known: { of: object; length: number; list: Known[] } | undefined;

/** Stored artifacts, and results that came as items: these can be looked into as well. */
function list(): Known[] {
  const present = log();
  if (known?.of === present && known.length === present.items.length) return known.list;
  const refs = new Map(present.manager.artifacts.list().map((ref) => [ref.handle, ref]));
  const found: Known[] = [];
  present.items.forEach(({ id, kind, text, artifact_ref }, place) => {
    if (!artifact_ref && kind !== "tool_result") return;
    const handle = artifact_ref?.handle ?? `artifact:${id}`;
    const media_type = artifact_ref?.media_type ?? "text/plain";
    found.push({ handle, place, label: safe(handle), media_type: safe(media_type), bytes: artifact_ref?.size_bytes ?? text.length });
    refs.delete(handle);
  });
  for (const { handle, media_type, size_bytes } of refs.values()) {
    found.push({ handle, place: null, label: safe(handle), media_type: safe(media_type), bytes: size_bytes });
  }
  known = { of: present, length: present.items.length, list: found };
  return found;
}

export function artifacts({ from, to }: { from: number; to: number }): { readonly total: number; readonly rows: readonly ArtifactRow[] } {
  const present = log();
  const found = list();
  const rows = found.slice(Math.max(0, from), Math.min(to, from + 500)).map(({ handle: _, ...row }) => ({
    ...row,
    line: row.place === null ? "" : present.line(row.place),
  }));
  return { total: found.length, rows };
}

/** Where the artifact of an item is in the list. */
export function artifactOf({ place }: { place: number }): number {
  return list().findIndex((each) => each.place === place);
}

function handleAt(index: number): Known {
  const found = list()[index];
  if (!found) throw new InputError("there is no such artifact");
  return found;
}

export interface View {
  readonly label: string;
  readonly selector: string;
}

const MAX_VIEWS = 60;

export function views({ index }: { index: number }): { readonly row: ArtifactRow; readonly views: readonly View[]; readonly problem: Problem | null } {
  const { handle, ...row } = handleAt(index);
  const shown = { ...row, line: "" };
  try {
    const found = log().manager.artifacts.views(handle).slice(0, MAX_VIEWS);
    return { row: shown, views: found.map(({ label, selector }) => ({ label: safe(label), selector: JSON.stringify(selector) })), problem: null };
  } catch (error) {
    return { row: shown, views: [], problem: problemOf(error) };
  }
}

export interface SliceView {
  readonly text: string;
  readonly tokens: number;
  readonly line: string;
  readonly truncated: boolean;
  /** Selector of the rest. */
  readonly next: string | null;
}

const SLICE_TOKENS = 1500;

export function slice({ index, selector }: { index: number; selector: string }): SliceView {
  let chosen: Selector;
  try {
    chosen = JSON.parse(selector) as Selector;
  } catch {
    throw new InputError("the selector is not valid JSON");
  }
  const { text, tokens, unit, total, start, end, truncated, next } = log().manager.drilldown(handleAt(index).handle, chosen, { max_tokens: SLICE_TOKENS });
  const number = (value: number): string => value.toLocaleString("en");
  return {
    text: safe(text),
    tokens,
    line: `${unit} ${number(start)} to ${number(end)} of ${number(total)}, ${number(tokens)} tokens`,
    truncated,
    next: next ? JSON.stringify(next) : null,
  };
}

