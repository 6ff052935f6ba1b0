/// <reference lib="esnext.disposable" preserve="true" />
import { routing } from "../boundary/engines.js";
import type { CatalogOperation } from "../boundary/operation-names.js";
import type { RoutingGlue } from "../boundary/engines.js";
import { ContextWeaverError, dropPrefix, movePath } from "../boundary/errors.js";
import { JsonText, encode, fields, recordOfAll, text, utf8 } from "../boundary/guard.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { addCatalog, isCatalog } from "../boundary/known.js";
import { EngineObject, disposable } from "../boundary/engine-object.js";
import type { Kind } from "../boundary/engine-object.js";
import type { Start } from "../boundary/replay-log.js";
import { moreFields } from "./routing-call.js";
import type {
  CatalogDiff,
  CatalogFinding,
  CatalogOptions,
  DocumentOptions,
  LintOptions,
  McpCatalogOptions,
  NamespaceCount,
  RoutingImpact,
  RoutingImpactOptions,
  SkillFile,
  ToolPins,
  ToolSourceOptions,
} from "./routing-types.js";
import { readAgentCards } from "./agent-card.js";
import { readOpenApi } from "./openapi-tools.js";
import { repairedItems, repairedList } from "./sent-tools.js";
import { readSkills } from "./skill-files.js";
import { readTools } from "./tool-sources.js";
import type { ReadTools, ToolSource } from "./tool-sources.js";
import type { CatalogInput, CatalogJson, SelectableItem, StoredTool } from "../types.js";

export interface Catalog {
  /** Same as {@link Catalog.free}, for `using`; absent where the runtime has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}

const KIND: Kind<RoutingGlue> = {
  name: "catalog",
  alive: (glue, handle) => ({ bytes: 0, count: glue.catalog_size(handle) }),
  snapshot: (glue, handle) => {
    const json = glue.catalog_snapshot(handle);
    return { weight: json.length, open: (glue) => glue.catalog_restore(json) };
  },
  drop: (glue, handle) => glue.catalog_free(handle),
};

/** What a router needs of a catalog: its handle, and how to make it again as it is now. @internal */
export interface CatalogSource extends Start<RoutingGlue> {
  readonly handle: number;
}

/** Looks into a catalog; of anything else, nothing. @internal */
export let sourceOf: (catalog: unknown) => CatalogSource | undefined;

/**
 * The tools there are, by id.
 *
 * All methods are synchronous. Arguments are copied, never kept or changed; results share nothing with the catalog. A
 * call that throws has changed nothing. Every error is a {@link ContextWeaverError}.
 *
 * The tools live in WebAssembly memory until {@link Catalog.free} or, where the runtime supports it, until the catalog is
 * collected. For the case of a defect in the engine the catalog also keeps what it was given: after a restart of the
 * engine the next call continues with the same tools.
 */
export class Catalog {
  readonly #object: EngineObject<RoutingGlue>;
  /** The tools that it was made of, if they were a framework's. */
  #read: ReadTools | undefined;

  static {
    sourceOf = (catalog) => {
      if (typeof catalog !== "object" || catalog === null || !(#object in catalog)) return undefined;
      const { handle, start } = catalog.#object;
      return { handle, ...start };
    };
  }

  /**
   * Makes a catalog of tools. A bad one, or one whose id is taken, is an error with a path that starts with
   * `/items/<index>`; with `on_invalid: "report"` it is left out and told by {@link Catalog.findings}.
   */
  constructor(items?: Iterable<SelectableItem>, options?: CatalogOptions) {
    const given = JsonText.of(items);
    const json = given === undefined ? written(items, options) : utf8(given);
    this.#object = new EngineObject(routing, KIND, { weight: json.length, open: (glue) => glue.catalog_new(json) });
    this.#object.watch(this);
    addCatalog(this);
  }

  /** Restores what {@link Catalog.toJSON} returned, or its JSON text. Without `items` it is `MISSING_FIELD`. */
  static fromJSON(json: CatalogInput | string): Catalog {
    return made(typeof json === "string" ? text(json, "", SNAPSHOT.total) : encode(json, "", SNAPSHOT));
  }

  /**
   * Makes a catalog of what an MCP server answered to `tools/list`: the list, `{ tools }`, or the whole JSON-RPC response.
   * A tool that cannot be read is left out and told by {@link Catalog.findings}; with `on_invalid: "raise"` it is an error
   * with a path that starts with its place in the list.
   */
  static fromMcp(listToolsResult: unknown, options?: McpCatalogOptions): Catalog {
    try {
      return Catalog.#ofMcp(encode(listToolsResult, "", SNAPSHOT), options);
    } catch (error) {
      const isRaised = fields(options)["on_invalid"] === "raise";
      const repaired = ContextWeaverError.is(error) && repairedList(listToolsResult, isRaised);
      if (!repaired) throw error;
      const catalog = Catalog.#ofMcp(repaired.json, options);
      catalog.#read = repaired.read;
      return catalog;
    }
  }

  static #ofMcp(list: string, options: McpCatalogOptions | undefined): Catalog {
    if (list === "null") throw new ContextWeaverError("INVALID_INPUT", "expected a list of tools, got null");
    const json = `{"mcp":${list}${moreFields(options, ["items", "mcp"])}}`;
    try {
      return made(json);
    } catch (error) {
      dropPrefix(error, "/mcp");
      throw error;
    }
  }

  /**
   * Makes a catalog of LangChain's tools: those of `tool()`, or records as a provider takes them. The id of each is its name. One
   * that cannot be read, as with a schema of Zod 3, is left out and told by {@link Catalog.findings}; so is one that the provider
   * runs itself. With `on_invalid: "raise"` what cannot be read is an error.
   *
   * @example
   * ```ts
   * const router = new Router(Catalog.fromLangChain(tools));
   * const { candidate_ids } = router.route("refund an order");
   * const chosen = tools.filter(({ name }) => candidate_ids.includes(name));
   * ```
   */
  static fromLangChain(tools: readonly object[], options?: ToolSourceOptions): Catalog {
    return Catalog.#from("langchain", tools, options);
  }

  /**
   * Makes a catalog of the AI SDK's tools by name, as `generateText` takes them; otherwise as {@link Catalog.fromLangChain}.
   *
   * @example
   * ```ts
   * const router = new Router(Catalog.fromAiSdk(tools));
   * const { candidate_ids: activeTools } = router.route("refund an order");
   * ```
   */
  static fromAiSdk(tools: Readonly<Record<string, object>>, options?: ToolSourceOptions): Catalog {
    return Catalog.#from("ai-sdk", tools, options);
  }

  /**
   * Makes a catalog of `tools` as chat completions or Responses of OpenAI take them; otherwise as {@link Catalog.fromLangChain}.
   *
   * @example
   * ```ts
   * const catalog = Catalog.fromOpenAI([{ type: "function", name: "refund", description: "Refund an order", parameters }]);
   * ```
   */
  static fromOpenAI(tools: readonly object[], options?: ToolSourceOptions): Catalog {
    return Catalog.#from("openai", tools, options);
  }

  /**
   * Makes a catalog of a document of OpenAPI 3.0 or 3.1, or its JSON text: each operation is a tool, `openapi:<operationId>`, or
   * `openapi:<METHOD> <path>` where it has none. Parameters and the body, as `body`, become one schema of arguments without references.
   * `metadata.openapi` says where each argument goes, and names method, path, servers and schemes of security; what a scheme sets is no
   * argument. Methods that change nothing are `read_only`, deletions `destructive`.
   *
   * Nothing is fetched. What is left out or cut, such as a schema that contains itself, is told by {@link Catalog.findings}; paths
   * there lead through the document.
   *
   * @example
   * ```ts
   * const catalog = Catalog.fromOpenApi(await (await fetch("https://example.com/openapi.json")).json());
   * const { candidate_ids } = new Router(catalog).route("refund an order");
   * ```
   */
  static fromOpenApi(document: object | string, options?: DocumentOptions): Catalog {
    return Catalog.#of(readOpenApi(document, options), options);
  }

  /**
   * Makes a catalog of skills of agents, each a `SKILL.md` with its name and description in front: items `skill:<name>` of the kind
   * `skill`. `metadata.skill.path` says where the instructions are, which are not part of the catalog. What is not as the format says
   * is told by {@link Catalog.findings}.
   *
   * @example
   * ```ts
   * const text = "---\nname: refunds\ndescription: Use when a customer wants money back.\n---\nFirst, ...";
   * const catalog = Catalog.fromSkills([{ path: "skills/refunds/SKILL.md", text }]);
   * ```
   */
  static fromSkills(skills: readonly SkillFile[], options?: DocumentOptions): Catalog {
    return Catalog.#of(readSkills(skills, options), options);
  }

  /**
   * Makes a catalog of agents by their A2A agent cards, of version 0.3 or 1.0: items `agent:<name>` of the kind `agent`, found by what
   * their skills say, too. `metadata.a2a` has the skills, where the agent is reached, and the names of what it asks for access. Nothing
   * is fetched, and signatures are not checked.
   *
   * @example
   * ```ts
   * const card = await (await fetch("https://agent.example.com/.well-known/agent-card.json")).json();
   * const catalog = Catalog.fromAgentCard(card);
   * ```
   */
  static fromAgentCard(card: object | readonly object[], options?: DocumentOptions): Catalog {
    return Catalog.#of(readAgentCards(card, options), options);
  }

  static #from(source: ToolSource, given: unknown, options: ToolSourceOptions | undefined): Catalog {
    return Catalog.#of(readTools(source, given, options), options);
  }

  static #of(read: ReadTools, options: ToolSourceOptions | DocumentOptions | undefined): Catalog {
    try {
      const catalog = new Catalog(read.items, { on_invalid: options?.on_invalid ?? "report" });
      catalog.#read = read;
      return catalog;
    } catch (error) {
      const repaired = ContextWeaverError.is(error) && repairedItems(read, options?.on_invalid === "raise");
      if (repaired) return Catalog.#of(repaired, options);
      const [prefix, index] = (ContextWeaverError.is(error) && /^\/items\/(\d+)/.exec(error.path ?? "")) || [];
      if (prefix !== undefined) movePath(error, prefix, read.places[Number(index)]?.path ?? "");
      throw error;
    }
  }

  /** Adds a tool. `DUPLICATE_ID` when its id is taken, `INVALID_INPUT` when it is blank. */
  register(item: SelectableItem): void {
    const args = `{"item":${encode(item)}}`;
    try {
      this.#run("register", args);
    } catch (error) {
      dropPrefix(error, "/item");
      throw error;
    }
    this.#record("register", args, { lasting: args.length });
  }

  /** Removes a tool; tells whether it was there. */
  remove(id: string): boolean {
    const args = encode({ id });
    const { removed } = this.#run<{ removed: boolean }>("remove", args);
    if (removed) this.#record("remove", args, { removed: 1 });
    return removed;
  }

  /** Returns a tool; `NOT_FOUND` when there is none with this id. */
  get(id: string): StoredTool {
    return this.#run("get", encode({ id }));
  }

  /** Tells whether there is a tool with this id. */
  has(id: string): boolean {
    return this.#run<{ has: boolean }>("has", encode({ id })).has;
  }

  /** Number of tools. */
  get size(): number {
    return this.#run<{ size: number }>("size", "{}").size;
  }

  /** Returns the tools in the order of their ids. */
  items(): readonly StoredTool[] {
    return this.toJSON().items;
  }

  /** Returns the namespaces with the number of their tools, by name. */
  namespaces(): readonly NamespaceCount[] {
    return this.#run<{ namespaces: NamespaceCount[] }>("namespaces", "{}").namespaces;
  }

  /** Returns a digest of everything in the catalog, SHA-256 in hexadecimal: another catalog, another digest. */
  hash(): string {
    return this.#run<{ hash: string }>("hash", "{}").hash;
  }

  /** What was left out when the catalog was made, and why; references to unknown tools, too. */
  findings(): readonly CatalogFinding[] {
    const { findings } = this.#run<{ findings: CatalogFinding[] }>("findings", "{}");
    if (!this.#read) return findings;
    const { places, findings: ofSource } = this.#read;
    const placed = findings.map((finding) => ({
      ...finding,
      ...(finding.index !== undefined && { index: places[finding.index]?.index ?? finding.index }),
    }));
    return [...ofSource, ...placed].sort((one, other) => (one.index ?? Infinity) - (other.index ?? Infinity));
  }

  /**
   * Looks for what keeps tools from being chosen or makes them dangerous: names that collide or are too long,
   * near-duplicates, hidden characters, text that gives orders, secrets, bad schemas, changes since they were pinned.
   * What is found in words is a heuristic: no finding does not mean that a tool is safe.
   */
  lint(options?: LintOptions): readonly CatalogFinding[] {
    return this.#run<{ findings: CatalogFinding[] }>("lint", encode(fields(options))).findings;
  }

  /** Returns a digest of every tool, to be kept and given to {@link Catalog.lint} later. */
  pin(): ToolPins {
    return this.#run<{ pins: ToolPins }>("pin", "{}").pins;
  }

  /** Says what another catalog adds, removes and changes, and how risky that is. */
  diff(next: Catalog): CatalogDiff {
    if (!isCatalog(next)) throw new ContextWeaverError("INVALID_INPUT", "expected a Catalog", { path: "/next" });
    return this.#run("diff", `{"next":${encode(next.toJSON(), "", SNAPSHOT)}}`);
  }

  /** Says what it does to the routes of known queries when another catalog takes this one's place. */
  impact(next: Catalog, options?: RoutingImpactOptions): RoutingImpact {
    if (!isCatalog(next)) throw new ContextWeaverError("INVALID_INPUT", "expected a Catalog", { path: "/next" });
    const more = moreFields(options, ["next"]);
    return this.#run("impact", `{"next":${encode(next.toJSON(), "", SNAPSHOT)}${more}}`);
  }

  /** Returns the tools as plain data; `JSON.stringify(catalog)` uses it. */
  toJSON(): CatalogJson {
    return this.#run("items", "{}");
  }

  /** Gives the memory back; every later call is `DISPOSED`. A second `free` does nothing. */
  free(): void {
    this.#object.free();
  }

  #run<T>(operation: CatalogOperation, args: string): T {
    return (JSON.parse(this.#object.call((glue, handle) => glue.catalog_call(handle, operation, args))) as { done: T })
      .done;
  }

  #record(operation: CatalogOperation, args: string, what: { lasting?: number; removed?: number }): void {
    const replay = (glue: RoutingGlue, handle: number): void => void glue.catalog_call(handle, operation, args);
    this.#object.record({ weight: args.length, replay, ...what });
  }
}

function written(items: unknown, options: unknown): Uint8Array {
  return recordOfAll("items", items === undefined ? [] : items, moreFields(options, ["items", "mcp"]), SNAPSHOT);
}

function made(json: string): Catalog {
  const Restored = Catalog as unknown as new (items: JsonText) => Catalog;
  return new Restored(new JsonText(json));
}

disposable(Catalog);
