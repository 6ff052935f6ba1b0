/// <reference lib="esnext.disposable" preserve="true" />
import { routing } from "./engines.js";
import type { RoutingGlue } from "./engines.js";
import { ContextWeaverError, dropPrefix } from "./errors.js";
import { JsonText, SNAPSHOT, encode, encodeAll, text } from "./guard.js";
import { Place, disposable } from "./place.js";
import type { CatalogInput, CatalogJson, SelectableItem, StoredTool } from "./types.js";

export interface Catalog {
  /** Same as {@link Catalog.free}, for `using`; absent where the runtime has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}

const drop = (glue: RoutingGlue, handle: number): void => glue.catalog_free(handle);

/**
 * The tools there are, by id.
 *
 * All methods are synchronous. Arguments are copied, never kept or changed; results share nothing with the catalog. A
 * call that throws has changed nothing. Every error is a {@link ContextWeaverError}.
 *
 * The tools live in WebAssembly memory until {@link Catalog.free} or, where the runtime supports it, until the catalog is
 * collected. Should a defect end the engine, the catalogs of that time are `DISPOSED`: make them again from their tools.
 */
export class Catalog {
  readonly #place = new Place(routing, drop);
  #freed = false;

  /** Makes a catalog of tools. Paths of errors start with `/items/<index>`. Two tools with one id are `DUPLICATE_ID`. */
  constructor(items?: Iterable<SelectableItem>) {
    const json = JsonText.of(items) ?? `{"items":${items === undefined ? "[]" : encodeAll(items, "/items")}}`;
    this.#place.open((glue) => glue.catalog_new(json));
    this.#place.watch(this);
  }

  /** Restores what {@link Catalog.toJSON} returned, or its JSON text. */
  static fromJSON(json: CatalogInput | string): Catalog {
    const checked = typeof json === "string" ? text(json, "", SNAPSHOT.total) : encode(json, "", SNAPSHOT);
    const Restored = Catalog as unknown as new (items: JsonText) => Catalog;
    return new Restored(new JsonText(checked));
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

  /** Returns the tools as plain data; `JSON.stringify(catalog)` uses it. */
  toJSON(): CatalogJson {
    return this.#run("items", "{}");
  }

  /** Gives the memory back; every later call is `DISPOSED`. A second `free` does nothing. */
  free(): void {
    this.#freed = true;
    this.#place.close();
  }

  #run<T>(operation: string, args: string): T {
    if (this.#freed) throw new ContextWeaverError("DISPOSED", "the catalog was freed");
    const place = this.#place;
    if (!place.isThere) {
      const hint = "make it again from its tools";
      throw new ContextWeaverError("DISPOSED", "the catalog was lost when the engine was restarted", { hint });
    }
    return (JSON.parse(routing.call((glue) => glue.catalog_call(place.handle, operation, args))) as { done: T }).done;
  }
}

disposable(Catalog);
