/// <reference lib="esnext.disposable" preserve="true" />
import { TextVectors, embedOf, embeddable } from "./embedder.js";
import type { Vector } from "./embedder.js";
import { sourceOf } from "./catalog.js";
import { toolSet } from "./tool-set.js";
import type { AiSdkToolSet } from "./tool-set.js";
import type { Catalog, CatalogSource } from "./catalog.js";
import { routing } from "../boundary/engines.js";
import type { RouterOperation } from "../boundary/operation-names.js";
import type { RoutingGlue } from "../boundary/engines.js";
import { ContextWeaverError, dropPrefix, movePath } from "../boundary/errors.js";
import { encode, encodeAll, fields, numbers, rawBytes, recordOfAll, text } from "../boundary/guard.js";
import { token } from "../boundary/guard-errors.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { addRouter } from "../boundary/known.js";
import { EngineObject, disposable } from "../boundary/engine-object.js";
import { orDrop } from "../boundary/replay-log.js";
import type { Entry, Start } from "../boundary/replay-log.js";
import { routingCall } from "./routing-call.js";
import type {
  BrowseOptions,
  BrowsePage,
  CardOptions,
  ChoiceCard,
  ChoiceGraphJson,
  PackedCards,
  ProviderTools,
  RouteExplanation,
  RouteOptions,
  RouteResult,
  RouterOptions,
  SelectionOptions,
  SelectionResult,
  SelectionSchemaOptions,
  ToolProvider,
  ToolsForOptions,
} from "./routing-types.js";
import type { Bytes, HydrationResult, JsonObject, SelectableItem, StoredTool } from "../types.js";

export interface Router {
  /** Same as {@link Router.free}, for `using`; absent where the runtime has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}

/** Length of the JSON text of vectors from which it is handed over, well below what one argument may have. */
const MAX_TEXT = 2 ** 24;
const NOT_EMBEDDED = "words alone were compared: await embedMissing(query) before the route";
const COMPLETED = "words alone were compared: the query was completed, and its vector says nothing of what was added";
const SOME_NOT_EMBEDDED = "tools that are new were compared by words alone: await embedMissing() after add";

/** Candidates with their scores, as a route returns them. */
type Candidates = Pick<RouteResult, "candidate_ids"> & Partial<Pick<RouteResult, "scores">>;

/**
 * Chooses the few tools that a query needs out of thousands.
 *
 * By default every tool is scored through an inverted index over names, descriptions, tags and schemas; no model, no
 * network. All methods are synchronous. Arguments are copied, never kept or changed; results share nothing with the
 * router. A call that throws has changed nothing. Every error is a {@link ContextWeaverError}.
 *
 * The index lives in WebAssembly memory until {@link Router.free} or, where the runtime supports it, until the router is
 * collected. For the case of a defect in the engine the router also keeps what it was given: after a restart of the
 * engine the next call continues with the same tools.
 */
export class Router {
  readonly #object: EngineObject<RoutingGlue>;
  readonly #vectors: TextVectors | undefined;
  /** Texts of the tools that have vectors, by id; nothing for those whose vectors the caller gave. */
  readonly #embedded = new Map<string, string | undefined>();
  /** Whether there may be tools without a vector. */
  #isMissing = true;

  /**
   * Makes a router of a catalog, which it copies, or of a list of tools. Unknown options are `UNKNOWN_FIELD`. An `index`
   * of other tools is `SNAPSHOT_VERSION`, a damaged one `DECODE_FAILED`: make the router without it then.
   */
  constructor(tools: Catalog | Iterable<SelectableItem>, options?: RouterOptions) {
    const { embed, index, ...rest } = fields(options);
    this.#vectors = embed === undefined ? undefined : new TextVectors(embedOf(embed, "/embed"));
    const settings = encode(rest, "", SNAPSHOT);
    const bytes = index === undefined ? undefined : rawBytes(index, "/index");
    const source = sourceOf(tools);
    this.#object = source ? overCatalog(source, settings, bytes) : overItems(tools, settings, bytes);
    this.#object.watch(this);
    addRouter(this);
    if (!this.#vectors) return;
    try {
      this.#run("set_embeddings", `{"vectors":[]}`);
    } catch (error) {
      // The navigator that knows no vectors.
      this.free();
      if (ContextWeaverError.is(error) && error.code === "INVALID_INPUT") (error as { path?: string }).path = "/embed";
      throw error;
    }
  }

  /**
   * Chooses tools for a query, best first. A query that nothing fits is no error: the result says `no_match`.
   * `NO_CANDIDATES` when there are no tools, or the filters leave none.
   */
  route(query: string, options?: RouteOptions): RouteResult {
    const args: Record<string, unknown> = { ...fields(options), query };
    const own = args["query_embedding"];
    if (own !== undefined || !this.#vectors) {
      args["query_embedding"] = numbers(own, "/query_embedding");
      const result = this.#run<RouteResult>("route", encode(args));
      return own !== undefined && result.completion ? { ...result, warnings: [COMPLETED] } : result;
    }
    const asked = embeddable(text(query, "/query"));
    const vector = this.#vectors.ofQuery(asked);
    if (!vector) {
      const result = this.#run<RouteResult>("route", encode(args));
      return asked === "" ? result : { ...result, warnings: [NOT_EMBEDDED] };
    }
    args["query_embedding"] = [...vector];
    try {
      const result = this.#run<RouteResult>("route", encode(args));
      if (result.completion) return { ...result, warnings: [COMPLETED] };
      return this.#isMissing ? { ...result, warnings: [SOME_NOT_EMBEDDED] } : result;
    } catch (error) {
      throw isAboutVectors(error) ? unusable(error) : error;
    }
  }

  /**
   * Makes the vectors that are missing, by the option `embed`: of a query, and of tools that have none. Routes for that query then
   * know what tools are about, whatever their words are. Returns how many texts were embedded: of a tool its namespace, name, title and
   * description, of each text at most 8,192 characters, equal texts once. The vectors of the last 16 queries are kept.
   *
   * What is embedded goes to the model as it is: mask a query that may hold a secret with `redactSecrets`, here and in `route`.
   *
   * Errors: `MISSING_FIELD` without the option; `CALLBACK_FAILED` when the embedder fails or what it returns is of no use: routes
   * go on with what was embedded before.
   *
   * ```ts
   * const router = new Router(catalog, { embed: openai.embedding("text-embedding-3-small") });
   * await router.embedMissing(query);
   * const result = router.route(query);
   * ```
   */
  async embedMissing(query?: string): Promise<number> {
    const vectors = this.#vectors;
    if (!vectors)
      throw new ContextWeaverError("MISSING_FIELD", "there is no embedder", {
        path: "/embed",
        hint: "new Router(tools, { embed })",
      });
    const asked = query === undefined ? undefined : embeddable(text(query, "/query"));
    const missing = this.#missing();
    const count = await vectors.add([...missing.values()], asked);
    // Meanwhile tools may have come and gone.
    const wanted = missing.size === 0 ? missing : this.#missing();
    const known = [...wanted].filter(([, said]) => vectors.of(said));
    this.#setVectors(known.map(([id, said]) => [id, vectors.of(said) as Float32Array]));
    for (const [id, said] of known) this.#embedded.set(id, said);
    this.#isMissing = known.length < wanted.size;
    return count;
  }

  /** Returns what a model chooses from: cards without schemas, as many as the budget has room for. */
  cards(result: Candidates, options?: CardOptions): readonly ChoiceCard[] {
    return this.packCards(result, options).cards;
  }

  /** Does the same, and says what was shortened and left out to keep within the budget. */
  packCards(result: Candidates, options?: CardOptions): PackedCards {
    return this.#run("cards", encode({ ...fields(options), ...candidates(result, true) }));
  }

  /** Shows a part of the graph: a node or a namespace by path, `/` for the whole, or a tool or node by id. */
  browse(path?: string | BrowseOptions): BrowsePage {
    return this.#run("browse", encode(typeof path === "string" ? { path } : fields(path)));
  }

  /** Returns the graph over the tools, which {@link RouterOptions.graph} takes. */
  graph(): ChoiceGraphJson {
    return this.#run("graph", "{}");
  }

  /** Returns what a call of a tool needs to know: schema, examples, constraints. */
  hydrate(id: string, options?: { readonly schemas?: Readonly<Record<string, JsonObject>> }): HydrationResult {
    return this.#run("hydrate", encode({ ...fields(options), id }));
  }

  /** Returns the schema of an answer that names one of the candidates. */
  selectionSchema(result: Candidates, options?: SelectionSchemaOptions): JsonObject {
    return this.#run("selection_schema", encode({ ...fields(options), ...candidates(result) }));
  }

  /** Finds the candidate that a model's answer names. Never selects what is no candidate. */
  validateSelection(
    result: Candidates,
    selected: string | null | undefined,
    options?: SelectionOptions,
  ): SelectionResult {
    const args = { ...fields(options), ...candidates(result), selected: selected ?? null };
    return this.#run("validate_selection", encode(args));
  }

  /**
   * Returns the candidates as a provider takes tools: for the AI SDK a `ToolSet`, for the others a list. Each is called by its
   * `name`, by its id where two have one; `validateSelection` accepts both.
   */
  toolsFor(result: Candidates, provider: "ai-sdk", options?: ToolsForOptions): AiSdkToolSet;
  toolsFor(
    result: Candidates,
    provider: Exclude<ToolProvider, "ai-sdk">,
    options?: ToolsForOptions,
  ): readonly JsonObject[];
  toolsFor(result: Candidates, provider: ToolProvider, options?: ToolsForOptions): AiSdkToolSet | readonly JsonObject[];
  toolsFor(
    result: Candidates,
    provider: ToolProvider,
    options?: ToolsForOptions,
  ): AiSdkToolSet | readonly JsonObject[] {
    const { tools } = this.providerTools(result, provider, options);
    return provider === "ai-sdk" ? toolSet(tools) : tools;
  }

  /** Does the same, with the ids behind the names and a report of what the provider's schemas cannot say. */
  providerTools(result: Candidates, provider: ToolProvider, options?: ToolsForOptions): ProviderTools {
    return this.#run("tools_for", encode({ ...fields(options), ...candidates(result), provider }));
  }

  /**
   * Returns the arguments of a model's call as the tool has them: `toolsFor` and `providerTools` give properties other names where the
   * provider does not take their own, as Anthropic does not take `filter[id]` or `$top`. What has its own name stays. `tool` is its id or
   * the name that the provider has.
   */
  ownArguments(tool: string, given: JsonObject): JsonObject {
    return this.#run<{ arguments: JsonObject }>("own_arguments", encode({ tool, arguments: given })).arguments;
  }

  /** Explains a route as data and as Markdown; schemas and descriptions never show. */
  explain(result: RouteResult): RouteExplanation {
    return explainRoute(result);
  }

  /** Adds tools without building the index anew: all of them, or none when one is refused. */
  add(items: Iterable<SelectableItem>): void {
    const list = encodeAll(items, "/items", SNAPSHOT);
    const args = `{"items":${list}}`;
    this.#run("add", args);
    this.#record("add", args, { lasting: args.length });
    this.#isMissing = true;
  }

  /** Removes tools; returns how many were there. */
  remove(ids: readonly string[]): number {
    const args = encode({ ids });
    const { removed } = this.#run<{ removed: number }>("remove", args);
    if (removed > 0) this.#record("remove", args, { removed });
    for (const id of ids) this.#embedded.delete(id);
    return removed;
  }

  /** Gives tools vectors of yours, all of one length; `route` compares them with `query_embedding`. */
  setEmbeddings(vectors: Readonly<Record<string, Vector>>): void {
    const given = fields(vectors);
    const paths = Object.keys(given).map((id) => `/${token(id)}`);
    let size = 0;
    const list = Object.entries(given).map(([id, vector], at) => {
      const path = paths[at] as string;
      const json = written(id, encode(numbers(vector, path), path), path);
      size += json.length;
      if (size > SNAPSHOT.total)
        throw new ContextWeaverError("TOO_LARGE", "the vectors are too many for one call", { path });
      return json;
    });
    try {
      this.#setAll(list);
      for (const id of Object.keys(given)) this.#embedded.set(id, undefined);
    } catch (error) {
      const [place, at] = VECTOR_PATH.exec((error as ContextWeaverError).path ?? "") ?? [];
      if (place) movePath(error, place, paths[Number(at)] ?? "");
      throw error;
    }
  }

  /** Returns a tool; `NOT_FOUND` when there is none with this id. */
  get(id: string): StoredTool {
    return this.hydrate(id).item;
  }

  /** Returns the tools in the order of their ids. */
  items(): readonly StoredTool[] {
    return this.#run<{ items: StoredTool[] }>("items", "{}").items;
  }

  /**
   * Returns the index as bytes: with {@link RouterOptions.index} a router of the same tools starts without building it.
   * Vectors are not part of it. Empty for the beam navigator.
   */
  indexBytes(): Bytes {
    return this.#object.call((glue, handle) => glue.router_index(handle) as Bytes);
  }

  /** Gives the memory back; every later call is `DISPOSED`. A second `free` does nothing. */
  free(): void {
    this.#object.free();
  }

  #run<T>(operation: RouterOperation, args: string): T {
    return (JSON.parse(this.#object.call((glue, handle) => glue.router_call(handle, operation, args))) as { done: T })
      .done;
  }

  #record(operation: RouterOperation, args: string, what: Pick<Entry<RoutingGlue>, "lasting" | "removed">): void {
    const replay = (glue: RoutingGlue, handle: number): void => void glue.router_call(handle, operation, args);
    this.#object.record({ weight: args.length, replay, ...what });
  }

  /** What is embedded of the tools that have no vector, by id. */
  #missing(): ReadonlyMap<string, string> {
    // Also says whether the router was freed.
    if (!this.#isMissing) return this.#object.call(() => new Map());
    const said = this.items().map(
      ({ id, namespace, name, title, description }) =>
        [id, embeddable([namespace, name, title, description].filter(Boolean).join("\n"))] as const,
    );
    this.#vectors?.keep(new Set(said.map(([, one]) => one)));
    return new Map(said.filter(([id]) => !this.#embedded.has(id)));
  }

  /** Hands vectors over, as many at a time as one argument may have. */
  #setVectors(vectors: readonly (readonly [string, Float32Array])[]): void {
    let waiting: string[] = [];
    let size = 0;
    for (const [at, [id, vector]] of vectors.entries()) {
      const json = written(id, `[${vector.join()}]`, "");
      waiting.push(json);
      size += json.length;
      if (at + 1 < vectors.length && size < MAX_TEXT) continue;
      try {
        this.#setAll(waiting);
      } catch (error) {
        throw isAboutVectors(error) ? unusable(error) : error;
      }
      [waiting, size] = [[], 0];
    }
  }

  #setAll(vectors: readonly string[]): void {
    const args = `{"vectors":[${vectors.join()}]}`;
    this.#run("set_embeddings", args);
    this.#record("set_embeddings", args, {});
  }
}

/** Where the engine finds a vector, in a list of objects. */
function overItems(tools: unknown, settings: string, index: Uint8Array | undefined): EngineObject<RoutingGlue> {
  const json = recordOfAll("items", tools, "", SNAPSHOT);
  const open = (glue: RoutingGlue): number => glue.router_of_items(json, settings, index);
  return routerObject(settings, { weight: json.length + (index?.length ?? 0), open });
}

function overCatalog(
  source: CatalogSource,
  settings: string,
  index: Uint8Array | undefined,
): EngineObject<RoutingGlue> {
  const over = (glue: RoutingGlue, handle: number): number =>
    index ? glue.router_with_index(handle, settings, index) : glue.router_new(handle, settings);
  const open = (glue: RoutingGlue): number => {
    const handle = source.open(glue);
    const router = orDrop(
      () => over(glue, handle),
      () => glue.catalog_free(handle),
    );
    glue.catalog_free(handle);
    return router;
  };
  const start = { weight: source.weight + (index?.length ?? 0), open };
  return routerObject(settings, start, (glue) => over(glue, source.handle));
}

function routerObject(
  settings: string,
  start: Start<RoutingGlue>,
  first?: (glue: RoutingGlue) => number,
): EngineObject<RoutingGlue> {
  const kind = {
    name: "router",
    alive: (glue: RoutingGlue, handle: number) => ({ bytes: 0, count: glue.router_size(handle) }),
    snapshot: (glue: RoutingGlue, handle: number): Start<RoutingGlue> => {
      const json = glue.router_snapshot(handle);
      return { weight: json.length + settings.length, open: (glue) => glue.router_restore(json, settings) };
    },
    drop: (glue: RoutingGlue, handle: number) => glue.router_free(handle),
  };
  return new EngineObject(routing, kind, { weight: start.weight + settings.length, open: start.open }, first);
}

const VECTOR_PATH = /^\/vectors\/(\d+)(?:\/vector|\/id)?/;

function isAboutVectors(error: unknown): boolean {
  const path = error instanceof ContextWeaverError ? (error.path ?? "") : "";
  return VECTOR_PATH.test(path) || path.startsWith("/query_embedding");
}

function written(id: string, vector: string, path: string): string {
  return `{"id":${encode(id, path)},"vector":${vector}}`;
}

function unusable(cause: unknown): ContextWeaverError {
  return new ContextWeaverError("CALLBACK_FAILED", `embed returned an unusable vector: ${(cause as Error).message}`, {
    path: "/embed",
    cause,
  });
}

/** What the engine needs to know of a route. */
function candidates(result: unknown, scores = false): Record<string, unknown> {
  const given = fields(result);
  const known: Record<string, unknown> = { candidate_ids: given["candidate_ids"] };
  if (scores && given["scores"] !== undefined) known["scores"] = given["scores"];
  if (known["candidate_ids"] === undefined || known["candidate_ids"] === null) {
    throw new ContextWeaverError("MISSING_FIELD", "missing field `candidate_ids`", { path: "/candidate_ids" });
  }
  return known;
}

/** Explains a route as data and as Markdown; schemas and descriptions never show. */
export function explainRoute(result: RouteResult): RouteExplanation {
  const { warnings: _, ...known } = fields(result);
  const args = `{"result":${encode(known)}}`;
  try {
    return routingCall("explain_route", args);
  } catch (error) {
    dropPrefix(error, "/result");
    throw error;
  }
}

/** Writes cards as text, one line each; a description cannot leave its line. */
export function renderCards(
  cards: readonly ChoiceCard[],
  options?: {
    /** Scores change with every query, so a prompt cache fares better without them. Default: false. */
    readonly show_scores?: boolean;
  },
): string {
  return routingCall<{ text: string }>("render_cards", encode({ ...fields(options), cards })).text;
}

disposable(Router);
