// `contextweaver drilldown`: what a snapshot has stored, and parts of it.
import { ContextManager, ContextWeaverError } from "../api.js";
import type { ArtifactRef, Slice, ViewSpec } from "../api.js";
import { matchesShown } from "../adapters/read-on.js";
import { UsageError, selectorOf, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { cell, inline, painter, safe, safeJson, table } from "./print.js";
import type { Paint } from "./print.js";
import { nameOf, readText } from "./read-text.js";

/** Runs the command; returns what to print. */
export async function drilldown({ files, values }: CommandLine): Promise<string> {
  const [file, handle, ...more] = files;
  if (file === undefined || more.length > 0) {
    throw new UsageError("drilldown takes one snapshot, a file or - for stdin, and at most one handle");
  }
  const selector = selectorOf(values);
  const max = wholeNumber(values, "max-tokens");
  if (handle === undefined && (selector !== undefined || max !== undefined)) {
    throw new UsageError("say which artifact; without a handle they are listed");
  }
  const manager = restore(await readText(file), nameOf(file));
  const paint = painter(values["color"]);
  if (handle === undefined) return list(manager, values, paint);
  if (selector === undefined) {
    const views = manager.artifacts.views(handle);
    return values["json"] ? `${safeJson(views)}\n` : `${lines(views, paint) || "no views"}\n`;
  }
  const slice = manager.drilldown(handle, selector, max === undefined ? {} : { max_tokens: max });
  if (values["json"]) return `${safeJson(slice)}\n`;
  return `${[safe(slice.text), paint(whatIsLeft(slice), "dim")].filter(Boolean).join("\n")}\n`;
}

/** What a slice is of, and how to go on. */
export function whatIsLeft({ unit, start, end, total, matches, tokens, truncated, next }: Slice): string {
  const shown = `${matches ? matchesShown(matches, total) : range(unit, start, end, total)}, ${tokens} tokens`;
  if (next) return `(${shown}; cut, go on with --selector ${quoted(inline(next))})`;
  return truncated ? `(${shown}; cut, --max-tokens leaves no room)` : `(${shown})`;
}

/** Hits are counted, as nobody asks for the hit 0; of lines and the like the numbers are those that selectors take. */
function range(unit: Slice["unit"], start: number, end: number, total: number): string {
  const last = end - 1;
  if (unit === "hits") {
    if (total === 0) return "no hits";
    if (end - start === total) return total === 1 ? "1 hit" : `all ${total} hits`;
    return last > start
      ? `hits ${start + 1} to ${end} of ${total}`
      : last === start
        ? `hit ${end} of ${total}`
        : `none of ${total} hits`;
  }
  if (last < start) return `no ${unit} of ${total}`;
  return last === start ? `${unit} ${start} of ${total}` : `${unit} ${start}-${last} of ${total}`;
}

/** Makes the manager of a snapshot. */
export function restore(text: string, name: string): ContextManager {
  try {
    return ContextManager.fromJSON(text);
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const at = error.path ? ` at ${error.path}` : "";
    throw new UsageError(`${name} is no snapshot: ${error.code}${at}: ${error.message}`, "input");
  }
}

/** An artifact with its views; none are told of one that the policy withholds. */
type Listed = ArtifactRef & { readonly views: readonly ViewSpec[] | null };

function list(manager: ContextManager, values: CommandLine["values"], paint: Paint): string {
  const all: readonly Listed[] = manager.artifacts
    .list()
    .map((ref) => ({ ...ref, views: viewsOf(manager, ref.handle) }));
  if (values["json"]) return `${safeJson(all)}\n`;
  if (all.length === 0) return "no artifacts\n";
  if (values["views"]) {
    const parts = all.map(
      ({ handle, views }) => `${paint(safe(handle), "bold")}\n${views ? lines(views, paint) : "  withheld"}`,
    );
    return `${parts.join("\n")}\n`;
  }
  const rows = all.map(({ handle, media_type: type, size_bytes: size, views }) => [
    // Whole, to be copied.
    safe(handle),
    cell(type, 32),
    views ? `${views.length}` : "withheld",
    `${size}`,
  ]);
  return `${table(["handle", "media type", "views", "bytes"], rows, paint)}\n`;
}

function viewsOf(manager: ContextManager, handle: string): readonly ViewSpec[] | null {
  try {
    return manager.artifacts.views(handle);
  } catch (error) {
    if (ContextWeaverError.is(error) && error.code === "POLICY_VIOLATION") return null;
    throw error;
  }
}

function lines(views: readonly ViewSpec[], paint: Paint): string {
  return views.map(({ label, selector }) => `  ${cell(label, 60)}  ${paint(inline(selector), "dim")}`).join("\n");
}

/** Quotes a word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
