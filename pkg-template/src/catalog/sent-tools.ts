// Tools as servers and authors of documents sent them, where JSON cannot carry all of it: halves of surrogate pairs are replaced, and what
// else is none of JSON costs one tool, and not the whole list.
import { fields, listed, readValue } from "../boundary/guard.js";
import { INPUT, SNAPSHOT } from "../boundary/guard-limits.js";
import type { Limits } from "../boundary/guard-limits.js";
import type { Repair } from "../boundary/repairs.js";
import { recordOf } from "./document-tools.js";
import type { CatalogFinding } from "./routing-types.js";
import type { ReadTools, ToolPlace } from "./tool-sources.js";
import type { SelectableItem } from "../types.js";

/** A tool as plain data; undefined where it cannot be written. */
interface Written {
  readonly tool: unknown;
  readonly repair: Pick<Repair, "message" | "path"> | undefined;
}

/** The limits of a whole list, without the levels that the list adds around one tool. */
const TOOL: Limits = { ...SNAPSHOT, depth: INPUT.depth };

function written(tool: unknown): Written {
  const { json, repairs } = readValue(tool, "", TOOL);
  const other = repairs.find(({ code }) => code !== "TEXT_REPAIRED");
  return { tool: other ? undefined : (JSON.parse(json) as unknown), repair: other ?? repairs[0] };
}

/**
 * Writes each tool by itself. Returns undefined when no tool needs a repair, or when a tool cannot be written and the caller asked for
 * errors: then the error of the whole list stands.
 */
function writtenAll(tools: readonly unknown[], isRaised: boolean): readonly Written[] | undefined {
  const all = tools.map(written);
  const isOfUse = all.some(({ repair }) => repair) && !(isRaised && all.some(({ tool }) => tool === undefined));
  return isOfUse ? all : undefined;
}

const REPAIRED = { code: "text-repaired", severity: "warning" } as const;

/** Repairs the items of tools that were read. Returns undefined where the error of the whole list stands. @internal */
export function repairedItems(read: ReadTools, isRaised: boolean): ReadTools | undefined {
  const all = writtenAll(read.items, isRaised);
  if (!all) return undefined;
  const items: SelectableItem[] = [];
  const places: ToolPlace[] = [];
  const findings: CatalogFinding[] = [...read.findings];
  for (const [at, { tool, repair }] of all.entries()) {
    const place = read.places[at] as ToolPlace;
    const item = tool as SelectableItem | undefined;
    if (repair)
      findings.push({
        ...(item ? REPAIRED : { code: `${read.document ?? "tool"}-invalid`, severity: "error", index: place.index }),
        item_id: item?.id ?? "",
        path: read.document === undefined ? repair.path : place.path,
        message: repair.message,
      });
    if (!item) continue;
    items.push(item);
    places.push(place);
  }
  return { ...read, items, places, findings };
}

/** Repairs the tools of an answer to `tools/list`. Returns undefined where the error of the whole list stands. @internal */
export function repairedList(
  answer: unknown,
  isRaised: boolean,
): { readonly json: string; readonly read: ReadTools } | undefined {
  const tools = toolsOf(answer);
  const all = tools && writtenAll(tools, isRaised);
  if (!all) return undefined;
  const entries = [...all.entries()];
  const kept = entries.filter(([, { tool }]) => tool !== undefined);
  const findings = entries.flatMap(([index, { tool, repair }]): CatalogFinding[] => {
    if (!repair) return [];
    const what = tool === undefined ? ({ code: "tool-invalid", severity: "error" } as const) : REPAIRED;
    return [{ ...what, item_id: "", index, path: repair.path, message: repair.message }];
  });
  const places = kept.map(([index]) => ({ index, path: `/${index}` }));
  return { json: JSON.stringify(kept.map(([, { tool }]) => tool)), read: { items: [], places, findings } };
}

/** The list in an answer, wherever it stands; undefined where it has no records, or cannot be read. */
function toolsOf(answer: unknown): readonly unknown[] | undefined {
  try {
    const list = listed(answer, "") ?? listed(listIn(fields(answer)), "");
    return list?.some((one) => recordOf(one)) ? list : undefined;
  } catch {
    return undefined;
  }
}

function listIn({ tools, result }: Readonly<Record<string, unknown>>): unknown {
  return tools ?? fields(result)["tools"];
}
