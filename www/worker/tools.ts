// Catalogs of tools: choosing, browsing, linting, comparing.
import { Catalog, Router } from "contextweaver/slim";
import type {
  BrowsePage,
  CatalogDiff,
  CatalogFinding,
  JsonObject,
  RouteResult,
  SelectableItem,
  StoredTool,
} from "contextweaver/slim";
import { decode, parse } from "./read.ts";
import { InputError, head, json, line, masked, safe } from "./text.ts";
import { type Said, saidOf, turnsOf } from "./turns.ts";

/** One file with tools. */
export interface ToolSource {
  readonly name: string;
  readonly bytes: ArrayBuffer;
  /** Name of the server, which becomes the namespace. */
  readonly server?: string;
}

/** `now` is what is routed; `before` is what it is compared with. */
export type Side = "now" | "before";

export interface CatalogView {
  readonly line: string;
  readonly tools: number;
  readonly namespaces: readonly { readonly namespace: string; readonly tools: number }[];
  /** Tools that could not be read. */
  readonly leftOut: readonly Finding[];
}

export interface Finding {
  readonly code: string;
  readonly severity: CatalogFinding["severity"];
  readonly tool: string;
  readonly place: number | null;
  readonly path: string;
  readonly message: string;
  readonly evidence: string;
}

export interface Loaded {
  readonly catalog: Catalog;
  readonly items: readonly StoredTool[];
  readonly places: ReadonlyMap<string, number>;
  readonly router: Router;
}

const MAX_FINDINGS = 500;
const loaded = new Map<Side, Loaded>();

function side(which: Side): Loaded {
  const found = loaded.get(which);
  if (!found) throw new InputError(which === "now" ? "no tools are loaded" : "there is nothing to compare with");
  return found;
}

/** The tools that are routed. */
export const catalogOf = (): Loaded => side("now");

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Tools of one file: what a server answered to `tools/list`, a catalog, or a list of either. */
function toolsOf({ bytes, server }: ToolSource): {
  items: readonly SelectableItem[];
  findings: readonly CatalogFinding[];
} {
  const value = parse(decode(bytes));
  const list =
    isRecord(value) && Array.isArray(value["items"]) ? value["items"] : Array.isArray(value) ? value : undefined;
  if (list?.every((item) => isRecord(item) && "kind" in item)) {
    const catalog = new Catalog(list as SelectableItem[], { on_invalid: "report" });
    return taken(catalog);
  }
  return taken(Catalog.fromMcp(value, server === undefined ? {} : { server }));
}

function taken(catalog: Catalog): { items: readonly SelectableItem[]; findings: readonly CatalogFinding[] } {
  const all = { items: catalog.items(), findings: catalog.findings() };
  catalog.free();
  return all;
}

function load({ which, sources }: { which: Side; sources: readonly ToolSource[] }): CatalogView {
  const read = sources.map(toolsOf);
  const catalog = new Catalog(
    read.flatMap(({ items }) => items),
    { on_invalid: "report" },
  );
  if (catalog.size === 0) throw new InputError("there is no tool in it");
  const items = catalog.items();
  const places = new Map(items.map(({ id }, place) => [id, place]));
  const before = loaded.get(which);
  loaded.set(which, { catalog, items, places, router: new Router(catalog) });
  before?.router.free();
  before?.catalog.free();
  const findings = [...read.flatMap((each) => each.findings), ...catalog.findings()];
  const names = sources.length > 3 ? `${sources.length} captures` : sources.map(({ name }) => name).join(", ");
  return {
    line: safe(`${names}: ${items.length.toLocaleString("en")} ${items.length === 1 ? "tool" : "tools"}.`),
    tools: items.length,
    namespaces: catalog.namespaces().map(({ namespace, tools }) => ({ namespace: safe(namespace), tools })),
    leftOut: shownFindings(side(which), findings),
  };
}

function shownFindings({ places }: Loaded, findings: readonly CatalogFinding[]): Finding[] {
  return findings.slice(0, MAX_FINDINGS).map(({ code, severity, item_id, path, message, evidence = "" }) => ({
    code,
    severity,
    tool: safe(item_id),
    place: places.get(item_id) ?? null,
    path: safe(path),
    message: safe(message),
    evidence: head(safe(evidence), 400),
  }));
}

/** One tool of the short list. */
export interface Ranked {
  readonly place: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly namespace: string;
  readonly safety: string;
  /** Whether the query was completed from a turn that called or named it. */
  readonly isSaid: boolean;
  readonly score: number;
  readonly coverage: number;
  readonly terms: readonly {
    readonly term: string;
    readonly origin: string;
    readonly from: string;
    readonly contribution: number;
    readonly fields: string;
  }[];
}

export interface Routed {
  readonly ranked: readonly Ranked[];
  readonly said: Said;
  readonly noMatch: boolean;
  /** Why nothing fits; empty when something does. */
  readonly reason: string;
  readonly isAmbiguous: boolean;
  readonly question: string;
  /** How often the first tool was right at such a distance to the second, on public sets of queries. */
  readonly confidence: number | null;
  /** The cards as a model reads them. */
  readonly cards: string;
  readonly cardTokens: number;
  /** Cards that the budget had no room for. */
  readonly dropped: number;
}

interface RouteRequest {
  readonly query: string;
  /** What was said before it, a turn a line. */
  readonly said: string;
  readonly top: number;
  readonly namespace: string;
  readonly budget: number;
}

function route({ query, said, top, namespace, budget }: RouteRequest): Routed {
  const { router, items, places } = side("now");
  const filters =
    namespace === ""
      ? {}
      : { allowed_namespaces: items.map((item) => item.namespace).filter((each) => safe(each) === namespace) };
  const conversation = turnsOf(said);
  const result = router.route(query, { top_k: top, debug: true, conversation, ...filters });
  const packed = router.packCards(result, { budget_tokens: budget });
  const cards = new Map(packed.cards.map((card) => [card.id, card]));
  const ranked = result.candidate_ids.map((id, rank) =>
    rankedOf(result, rank, items[places.get(id) ?? 0], places.get(id) ?? 0, query, cards.get(id)?.safety),
  );
  return {
    ranked,
    said: saidOf(query, conversation, result.completion),
    noMatch: result.no_match === true,
    reason: safe(result.no_match_reason ?? ""),
    isAmbiguous: result.is_ambiguous,
    question: safe(result.clarifying_question ?? ""),
    confidence: result.trace.extra.ambiguity?.confidence ?? null,
    cards: safe(packed.text),
    cardTokens: packed.tokens,
    dropped: packed.dropped.length + packed.skipped.length,
  };
}

/** A term of the index as the query has it: there, words are cut to what their forms share. */
function asWritten(term: string, query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return term
    .split("_")
    .map((stem) => words.filter((word) => word.startsWith(stem)).sort((a, b) => a.length - b.length)[0] ?? stem)
    .join(" ");
}

function rankedOf(
  result: RouteResult,
  rank: number,
  tool: StoredTool | undefined,
  place: number,
  query: string,
  safety = "",
): Ranked {
  if (!tool) throw new InputError("there is no such tool");
  const match = result.trace.extra.matches?.[rank];
  const { completion } = result;
  const searched = completion?.query ?? query;
  const terms = (match?.terms ?? []).map(({ term, origin, from = "", contribution, fields }) => ({
    term: safe(asWritten(term, searched)),
    origin,
    from: safe(asWritten(from, searched)),
    contribution,
    fields: fields.map(({ field, count }) => `${field}${count > 1 ? ` ×${count}` : ""}`).join(", "),
  }));
  return {
    place,
    id: safe(tool.id),
    name: safe(tool.title ?? tool.name),
    description: line(tool.description, 300),
    namespace: safe(tool.namespace),
    safety: safety.replace("_", " "),
    isSaid: completion?.tool_ids.includes(tool.id) === true,
    score: result.scores[rank] ?? 0,
    coverage: match?.coverage ?? 0,
    terms: terms.sort((a, b) => b.contribution - a.contribution),
  };
}

/** A part of the tree. */
export interface Branch {
  readonly label: string;
  readonly hint: string;
  readonly total: number;
  readonly next: number | null;
  readonly children: readonly {
    readonly label: string;
    /** Names of the first tools in a group. */
    readonly names: readonly string[];
    readonly items: number;
    /** Names a node for the next question; null for a tool. */
    readonly node: number | null;
    readonly place: number | null;
  }[];
}

/** Paths of nodes the page has seen: it asks by number, so that no name of a server has to make the way back. */
const paths: string[] = [];

function browse({ node, offset }: { node: number | null; offset: number }): Branch {
  const { router, places } = side("now");
  if (node === null) paths.length = 0;
  const path = node === null ? "/" : paths[node];
  if (path === undefined) throw new InputError("there is no such node");
  const page: BrowsePage = router.browse({ path, offset, limit: 100 });
  return {
    label: safe(page.label),
    hint: safe(page.hint),
    total: page.total,
    next: page.next ?? null,
    children: page.children.map((child) => ({
      // A label of the router says the server, then words that many tools of the group share; names say more to a reader.
      label: safe(child.kind === "node" ? child.label.replace(/: .*$/s, "") : child.label),
      names: child.kind === "node" && child.path !== undefined ? firstNames(router, child.path) : [],
      items: child.items,
      node: child.kind === "node" && child.path !== undefined ? paths.push(child.path) - 1 : null,
      place: child.id === undefined ? null : (places.get(child.id) ?? null),
    })),
  };
}

const NAMES = 4;

/** The first tools below a node, wherever they hang. */
function firstNames(router: Router, path: string, wanted = NAMES): string[] {
  const found: string[] = [];
  for (const child of router.browse({ path, limit: wanted }).children) {
    if (found.length >= wanted) break;
    if (child.kind === "node" && child.path !== undefined)
      found.push(...firstNames(router, child.path, wanted - found.length));
    else found.push(safe(child.label));
  }
  return found.slice(0, wanted);
}

export interface ToolView {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly description: string;
  readonly schema: string;
  readonly record: string;
}

function tool({ place }: { place: number }): ToolView {
  const found = side("now").items[place];
  if (!found) throw new InputError("there is no such tool");
  return {
    id: safe(found.id),
    name: safe(found.title ?? found.name),
    namespace: safe(found.namespace),
    description: masked(head(found.description, 8000)),
    schema: json(found.args_schema),
    record: json(found),
  };
}

/** The worst first. */
const SEVERITIES = ["error", "warning", "info"] as const satisfies readonly CatalogFinding["severity"][];

export interface Linted {
  /** The worst first, and at most so many. */
  readonly findings: readonly Finding[];
  readonly total: number;
  readonly counts: readonly { readonly severity: CatalogFinding["severity"]; readonly count: number }[];
}

function lint(_: object): Linted {
  const now = side("now");
  const before = loaded.get("before");
  const found = now.catalog.lint(before ? { pinned: before.catalog.pin() } : {});
  const counts = SEVERITIES.map((severity) => ({
    severity,
    count: found.filter((finding) => finding.severity === severity).length,
  }));
  const findings = SEVERITIES.flatMap((severity) => found.filter((finding) => finding.severity === severity));
  return {
    findings: shownFindings(now, findings),
    total: found.length,
    counts: counts.filter(({ count }) => count > 0),
  };
}

export interface Drift {
  readonly isSame: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly {
    readonly id: string;
    readonly risk: string;
    readonly changes: readonly {
      readonly path: string;
      readonly risk: string;
      readonly effect: string;
      readonly before: string;
      readonly after: string;
    }[];
  }[];
  /** Queries whose first tool is another one. */
  readonly moved: readonly { readonly query: string; readonly before: string; readonly after: string }[];
  readonly probes: number;
}

const RISKS = ["none", "documentation", "compatible", "review", "breaking"];

function drift({ queries }: { queries: readonly string[] }): Drift {
  const [before, now] = [side("before"), side("now")];
  const diff = before.catalog.diff(now.catalog);
  const probes = queries.filter((query) => query.trim() !== "").map((query) => ({ query }));
  const { impact } = before.catalog.impact(now.catalog, { probes });
  return {
    isSame: diff.hash_before === diff.hash_after,
    added: diff.added.map(safe),
    removed: diff.removed.map(safe),
    changed: diff.changed
      .map((changed) => changeOf(before, now, changed))
      .sort((a, b) => RISKS.indexOf(b.risk) - RISKS.indexOf(a.risk)),
    moved: impact.examples.map(({ query, before_top1, after_top1 }) => ({
      query: safe(query),
      before: safe(before_top1 ?? "nothing"),
      after: safe(after_top1 ?? "nothing"),
    })),
    probes: impact.probes_total,
  };
}

function changeOf(
  before: Loaded,
  now: Loaded,
  { id, risk, changes }: CatalogDiff["changed"][number],
): Drift["changed"][number] {
  const [was, is] = [before, now].map(({ items, places }) => items[places.get(id) ?? -1]);
  return {
    id: safe(id),
    risk,
    changes: changes.map(({ path, risk, effect }) => ({
      path: safe(path),
      risk,
      effect: safe(effect),
      before: valueAt(was, path),
      after: valueAt(is, path),
    })),
  };
}

/** What a JSON pointer leads to, in short. */
function valueAt(tool: StoredTool | undefined, path: string): string {
  let value: unknown = tool;
  for (const token of path.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
  }
  if (value === undefined) return "";
  return line(typeof value === "string" ? value : JSON.stringify(value), 300);
}

export const operations = {
  "tools.load": load,
  "tools.route": route,
  "tools.browse": browse,
  "tools.tool": tool,
  "tools.lint": lint,
  "tools.drift": drift,
};
