// Reads tools: catalogs, what MCP servers answered to `tools/list`, and documents that describe tools. A tool that cannot be used is
// left out and told.
import process from "node:process";
import { Catalog, ContextWeaverError } from "../api.js";
import type { CatalogFinding, McpCatalogOptions, SelectableItem } from "../api.js";
import { documentOf, refuseYaml, skillsAt } from "./documents.js";
import type { DocumentReader } from "./documents.js";
import { UsageError } from "./options.js";
import { cell } from "./print.js";
import { nameOf, readText } from "./read-text.js";

const MAX_REPORTED = 10;

/** A finding and the file that it is about, when only one is. */
export type FileFinding = CatalogFinding & { readonly file?: string };

/** The tools of all files, and what was left out of them. */
export interface Tools {
  readonly catalog: Catalog;
  readonly skipped: readonly FileFinding[];
  /** What is to be said of documents beside that. */
  readonly noted: readonly FileFinding[];
}

/**
 * Reads files into one catalog. Where there are several, the tools of a server have its file's name as their namespace.
 * What is `asked` for is about servers; a catalog is then refused.
 */
export async function readTools(files: readonly string[], asked?: McpCatalogOptions): Promise<Tools> {
  if (files.filter((file) => file === "-").length > 1) throw new UsageError("standard input can be read once");
  const skipped: FileFinding[] = [];
  const noted: FileFinding[] = [];
  const items: SelectableItem[] = [];
  const origins: { file: string; index: number }[] = [];
  for (const file of files) {
    const { catalog: part, isDocument } = await readFile(file, files.length > 1 ? serverOf(file) : undefined, asked);
    const told = isDocument ? part.findings().filter(({ index }) => index === undefined) : [];
    noted.push(...told.map((finding) => ({ ...finding, file: nameOf(file) })));
    skipped.push(...leftOut(part).map((finding) => ({ ...finding, file: nameOf(file) })));
    for (const [index, item] of part.items().entries()) {
      items.push(item);
      origins.push({ file: nameOf(file), index });
    }
    part.free();
  }
  const catalog = new Catalog(items, { on_invalid: "report" });
  // A finding of the whole counts through all files.
  const between = leftOut(catalog).map((finding) => ({ ...finding, ...origins[finding.index ?? -1] }));
  return { catalog, skipped: [...skipped, ...between], noted };
}

/** Says on stderr which tools were left out. */
export function tellSkipped(skipped: readonly FileFinding[]): void {
  const lines = skipped.slice(0, MAX_REPORTED).map(({ file, index, item_id: id, code, message, evidence }) => {
    const which = id ? cell(id, 80) : `tool ${(index ?? 0) + 1}`;
    const what = evidence ? `${message} (${evidence})` : message;
    return `contextweaver: ${cell(file ?? "", 80)}: left out ${which}: ${code}: ${cell(what, 160)}\n`;
  });
  if (skipped.length > MAX_REPORTED) lines.push(`contextweaver: and ${skipped.length - MAX_REPORTED} more\n`);
  process.stderr.write(lines.join(""));
}

/** Reads a file of JSON. */
export async function readJson(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text);
  } catch {
    refuseYaml(file, text);
    // Not the runtime's own sentence: it quotes the text.
    throw new UsageError(`${nameOf(file)} is not valid JSON`, "input");
  }
}

async function readFile(
  file: string,
  server?: string,
  asked?: McpCatalogOptions,
): Promise<{ catalog: Catalog; isDocument: boolean }> {
  const named = { ...(server === undefined ? {} : { server }), ...asked };
  const skills = await skillsAt(file);
  if (skills) return { catalog: ofDocument(file, skills, named), isDocument: true };
  const json = await readJson(file);
  if (json === null) throw new UsageError(`${nameOf(file)} has no list of tools: it is null`, "input");
  const document = documentOf(json);
  if (document) return { catalog: ofDocument(file, document, named), isDocument: true };
  const catalog = withName(file, () => {
    const items = itemsOf(json);
    if (items !== undefined && Object.keys(asked ?? {}).length > 0) {
      throw new UsageError(`${nameOf(file)} is a catalog: what its tools are named is settled`, "input");
    }
    return items === undefined ? Catalog.fromMcp(json, named) : new Catalog(items, { on_invalid: "report" });
  });
  return { catalog, isDocument: false };
}

function ofDocument(file: string, read: DocumentReader, { id_form, server }: McpCatalogOptions): Catalog {
  if (id_form !== undefined)
    throw new UsageError(`${nameOf(file)} is no answer of a server: ids have one form`, "input");
  return withName(file, () => read(server === undefined ? {} : { server }));
}

/** Says which file an error is about. */
function withName<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const at = error.path ? ` at ${error.path}` : "";
    const hint = error.hint ? ` (${error.hint})` : "";
    throw new UsageError(`${nameOf(file)} has no list of tools: ${error.code}${at}: ${error.message}${hint}`, "input");
  }
}

/** The list of a catalog; tools of MCP have no ids. */
function itemsOf(json: unknown): SelectableItem[] | undefined {
  if (Array.isArray(json)) return json.some((one) => Object.hasOwn(Object(one), "id")) ? json : undefined;
  return Object.hasOwn(Object(json), "items") ? (json as { items: SelectableItem[] }).items : undefined;
}

/** Tools that are not in the catalog have a place in the list that they came in. */
function leftOut(catalog: Catalog): CatalogFinding[] {
  return catalog.findings().filter(({ index }) => index !== undefined);
}

function serverOf(file: string): string {
  const name = file === "-" ? "stdin" : (/([^/\\]+)[/\\]*$/.exec(file)?.[1] ?? file);
  return name.replace(/(.)\.json$/i, "$1");
}
