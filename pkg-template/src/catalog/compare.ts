// Functions over lists of tools and captures of them: evening out, comparing, examining.
import { encode, encodeAll, fields } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { moreFields, routingCall } from "./routing-call.js";
import type { CapabilityDiff, NormalizeOptions, NormalizedTools } from "./routing-types.js";
import type { SelectableItem } from "../types.js";

function withItems(items: unknown, options: unknown): string {
  return `{"items":${encodeAll(items, "/items", SNAPSHOT)}${moreFields(options, ["items"])}}`;
}

/**
 * Evens out tools that others wrote: white space, tags, empty descriptions. Ids stay. A tool with a blank or repeated id is
 * left out and reported, or with `strict` an error.
 */
export function normalizeTools(items: Iterable<SelectableItem>, options?: NormalizeOptions): NormalizedTools {
  return routingCall("normalise", withItems(items, options));
}

/**
 * Takes a snapshot of what a source offers, with digests of the source and of the tools: a `tools/list` capture, or with
 * `native` a catalog. Source and snapshot are JSON text, because a number that JavaScript read and wrote may have another
 * form, and so another digest. The Python library reads and writes the same snapshots.
 */
export function capabilitySnapshot(source: string, options?: { readonly source_type?: "mcp" | "native" }): string {
  return routingCall<{ text: string }>("capability_snapshot", encode({ ...fields(options), source }, "", SNAPSHOT))
    .text;
}

/** Compares two snapshots. `INVALID_INPUT` when one was changed by hand. */
export function capabilityDiff(before: string, after: string): CapabilityDiff {
  return routingCall("capability_diff", encode({ before, after }, "", SNAPSHOT));
}
