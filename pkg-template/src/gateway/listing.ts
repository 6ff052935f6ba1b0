// What a server offers: every page of every list, within bounds.
import { ContextWeaverError } from "../boundary/errors.js";
import { readValue, utf8 } from "../boundary/guard.js";
import type { Limits } from "../boundary/guard-limits.js";
import type { JsonObject, JsonValue } from "../types.js";
import { UpstreamError } from "./failure.js";
import type { UpstreamFailure } from "./failure.js";
import { isMirrored, wrongMirroring } from "./mirrored-headers.js";
import { METHOD_NOT_FOUND } from "./rpc-codes.js";

/** The lists of a server. */
export type ListKind = "tools" | "resources" | "resource_templates" | "prompts";

/** The address of a view in a tool as it was listed. */
const HAS_VIEW = /"(?:ui\/)?resourceUri"\s*:/;
/** All of them. @internal */
export const LIST_KINDS: readonly ListKind[] = ["tools", "resources", "resource_templates", "prompts"];

/** What was wrong with a list. */
export interface ListingProblem {
  readonly list: ListKind;
  /**
   * `failed`: the server did not answer, and what it listed before still counts. `incomplete`: a later page failed, or there were too
   * many. `skipped`: an entry that is none, or too large. `repaired`: an entry that is listed, though not all of it was JSON.
   */
  readonly kind: "failed" | "incomplete" | "skipped" | "repaired";
  /** Position in the list, of an entry. */
  readonly index?: number;
  readonly message: string;
}

/** What a server offers. @internal */
export interface UpstreamListing {
  /** JSON of `{tools, resources?, resource_templates?, prompts?, instructions?}`, each entry as the server wrote it. */
  readonly bytes: Uint8Array;
  readonly counts: Readonly<Record<ListKind, number>>;
  /** Whether there may be tools of which clients repeat arguments in headers. */
  readonly has_mirrored: boolean;
  /** Whether there may be tools with views. */
  readonly has_views: boolean;
  /** At most 100. */
  readonly problems: readonly ListingProblem[];
}

/** Bounds of a listing. @internal */
export interface ListingLimits {
  /** Pages of one list. */
  readonly pages: number;
  /** Entries of one list. */
  readonly entries: number;
  /** Bytes of all lists together. */
  readonly bytes: number;
  /** Milliseconds for one page. */
  readonly page_timeout_ms: number;
}

/** The bounds unless others are given: the runtime takes 20,000 tools and 32 MiB. @internal */
export const LISTING_LIMITS: ListingLimits = {
  pages: 200,
  entries: 20_000,
  bytes: 24 * 1024 * 1024,
  page_timeout_ms: 30_000,
};

/** Sends a request of a list. @internal */
export type Asker = (method: string, params: JsonObject, timeout_ms: number) => Promise<JsonObject>;

/** One list, as far as it came. @internal */
export interface List {
  /** JSON of each entry. */
  readonly entries: readonly string[];
  /** Whether an entry has the keyword by which arguments are repeated in headers. */
  readonly has_mirrored: boolean;
  readonly problems: readonly ListingProblem[];
  /** Definitions of tools that repeat arguments in headers, by name. */
  readonly mirrored: ReadonlyMap<string, JsonObject>;
  /** Why a page behind the first did not come; it may the next time. */
  readonly broken?: string;
}

/** How a list is asked for, and under which field it and its capability stand. */
const LISTS: Readonly<
  Record<
    ListKind,
    { readonly method: string; readonly field: string; readonly capability: string; readonly name: string }
  >
> = {
  tools: { method: "tools/list", field: "tools", capability: "tools", name: "name" },
  resources: { method: "resources/list", field: "resources", capability: "resources", name: "uri" },
  resource_templates: {
    method: "resources/templates/list",
    field: "resourceTemplates",
    capability: "resources",
    name: "uriTemplate",
  },
  prompts: { method: "prompts/list", field: "prompts", capability: "prompts", name: "name" },
};
/** Which lists a notification says have changed. @internal */
export const CHANGED: Readonly<Record<string, readonly ListKind[]>> = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/resources/list_changed": ["resources", "resource_templates"],
  "notifications/prompts/list_changed": ["prompts"],
};
/** One entry: a tool with its schemas. Deeper ones are refused by the engine, with all others beside them. */
const ENTRY: Limits = { depth: 62, nodes: 100_000, string: 1024 * 1024, total: 4 * 1024 * 1024, exact: true };
const MAX_CURSOR = 64 * 1024;
const MAX_PROBLEMS = 100;
const MAX_INSTRUCTIONS = 64 * 1024;

/** The lists a server says it has. @internal */
export function listsOf(capabilities: JsonObject): ListKind[] {
  return LIST_KINDS.filter(
    (kind) => typeof capabilities[LISTS[kind].capability] === "object" && capabilities[LISTS[kind].capability] !== null,
  );
}

/** How lists are read. @internal */
export interface Listed {
  readonly limits: ListingLimits;
  /** Whether arguments are repeated in headers: over HTTP, from 2026-07-28 on. */
  readonly isMirroring: boolean;
}

/** Reads one list. Errors: {@link UpstreamError} when not even the first page came. @internal */
export async function readList(ask: Asker, kind: ListKind, how: Listed, bytesLeft: number): Promise<List> {
  const { limits } = how;
  const { method } = LISTS[kind];
  const reader = new ListReader(kind, how, bytesLeft);
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    let answer: JsonObject;
    try {
      answer = await ask(method, cursor === undefined ? {} : { cursor }, limits.page_timeout_ms);
    } catch (error) {
      const failure = (error as UpstreamError).failure as UpstreamFailure | undefined;
      // Servers that have resources often have no templates, and do not know the question.
      if (page === 1 && failure?.code === METHOD_NOT_FOUND && kind === "resource_templates") return reader.list();
      if (page === 1) throw error;
      const broken = `page ${page} failed: ${failure?.message ?? "the request failed"}`;
      return { ...reader.incomplete(broken), broken };
    }
    const problem = reader.add(answer);
    if (problem !== undefined) return reader.incomplete(problem);
    const next = answer["nextCursor"];
    if (next === undefined || next === null || next === "") return reader.list();
    if (typeof next !== "string" || next.length > MAX_CURSOR)
      return reader.incomplete("the next page has no usable cursor");
    if (seen.has(next)) return reader.incomplete("the pages go round in a circle");
    if (page >= limits.pages) return reader.incomplete(`there are more than ${limits.pages} pages`);
    seen.add(next);
    cursor = next;
  }
}

class ListReader {
  readonly #kind: ListKind;
  readonly #most: number;
  readonly #isMirroring: boolean;
  readonly #entries: string[] = [];
  readonly #problems: ListingProblem[] = [];
  readonly #mirrored = new Map<string, JsonObject>();
  #bytesLeft: number;
  #hasMirrored = false;
  #index = 0;

  constructor(kind: ListKind, { limits, isMirroring }: Listed, bytesLeft: number) {
    [this.#kind, this.#most, this.#bytesLeft, this.#isMirroring] = [kind, limits.entries, bytesLeft, isMirroring];
  }

  /** Adds a page; returns why there can be no further. */
  add(page: JsonObject): string | undefined {
    const { field } = LISTS[this.#kind];
    const entries = page[field] as readonly JsonValue[] | undefined;
    if (!Array.isArray(entries)) return `the server's answer has no array \`${field}\``;
    for (const entry of entries as readonly JsonValue[]) {
      const index = this.#index;
      this.#index += 1;
      if (this.#entries.length >= this.#most) return `there are more than ${this.#most} entries`;
      const text = this.#text(entry, index);
      if (text === undefined) continue;
      this.#bytesLeft -= text.length;
      if (this.#bytesLeft < 0) return "the lists of the server are too large";
      this.#entries.push(text);
    }
    return undefined;
  }

  /** The JSON of an entry that is one. */
  #text(entry: JsonValue, index: number): string | undefined {
    const { name: key } = LISTS[this.#kind];
    const fields = (typeof entry === "object" && entry !== null && !Array.isArray(entry) ? entry : undefined) as
      | JsonObject
      | undefined;
    const name = fields?.[key];
    if (fields === undefined || typeof name !== "string" || name === "")
      return this.#skip(index, `the entry has no \`${key}\``);
    try {
      const { json: text, repairs } = readValue(entry, `/${this.#kind}/${index}`, ENTRY);
      const cut = repairs.find(({ code }) => code === "VALUE_CUT");
      // A part of a schema would say something else.
      if (cut) return this.#skip(index, cut.message);
      for (const { message, path } of repairs)
        this.#note({ list: this.#kind, kind: "repaired", index, message: `${path}: ${message}` });
      if (this.#kind !== "tools" || !isMirrored(text)) return text;
      this.#hasMirrored = true;
      if (!this.#isMirroring) return text;
      // A client must not offer what it could not call as the server wants it.
      const wrong = wrongMirroring(fields["inputSchema"]);
      if (wrong !== undefined) return this.#skip(index, wrong);
      this.#mirrored.set(name, fields);
      return text;
    } catch (error) {
      return this.#skip(index, error instanceof ContextWeaverError ? error.message : "the entry cannot be read");
    }
  }

  #skip(index: number, message: string): undefined {
    this.#note({ list: this.#kind, kind: "skipped", index, message });
  }

  #note(problem: ListingProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }

  list(): List {
    return {
      entries: this.#entries,
      has_mirrored: this.#hasMirrored,
      problems: this.#problems,
      mirrored: this.#mirrored,
    };
  }

  incomplete(message: string): List {
    this.#problems.unshift({ list: this.#kind, kind: "incomplete", message });
    return this.list();
  }
}

/** Puts the lists together for the runtime. @internal */
export function listingOf(
  lists: ReadonlyMap<ListKind, List>,
  failed: readonly ListingProblem[],
  instructions: string | undefined,
): UpstreamListing {
  const counts = { tools: 0, resources: 0, resource_templates: 0, prompts: 0 };
  const parts: string[] = [];
  const problems = [...failed];
  for (const kind of LIST_KINDS) {
    const list = lists.get(kind);
    if (list === undefined && kind !== "tools") continue;
    const { entries, problems: own } = list ?? { entries: [], problems: [] };
    counts[kind] = entries.length;
    problems.push(...own);
    parts.push(`"${kind}":[${entries.join(",")}]`);
  }
  if (instructions !== undefined)
    parts.push(
      `"instructions":${JSON.stringify(instructions.slice(0, MAX_INSTRUCTIONS).replace(/[\ud800-\udfff]/gu, "\ufffd"))}`,
    );
  return {
    bytes: utf8(`{${parts.join(",")}}`),
    counts,
    has_mirrored: lists.get("tools")?.has_mirrored === true,
    has_views: lists.get("tools")?.entries.some((entry) => HAS_VIEW.test(entry)) === true,
    problems: problems.slice(0, MAX_PROBLEMS),
  };
}
