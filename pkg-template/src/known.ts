// Which objects are routers and catalogs, told without loading the module they need, and without running code of a proxy.
import type { CardOptions, PackedCards, RouteOptions, RouteResult } from "./routing-types.js";
import type { CatalogJson, StoredTool } from "./types.js";

/** What others ask of a catalog. @internal */
export interface KnownCatalog {
  get(id: string): StoredTool;
  toJSON(): CatalogJson;
}

/** What others ask of a router. @internal */
export interface KnownRouter {
  get(id: string): StoredTool;
  route(query: string, options?: RouteOptions): RouteResult;
  packCards(result: RouteResult, options?: CardOptions): PackedCards;
}

const routers = new WeakSet<object>();
const catalogs = new WeakSet<object>();

const has = (known: WeakSet<object>, value: unknown): boolean =>
  typeof value === "object" && value !== null && known.has(value);

/** @internal */
export const addRouter = (router: KnownRouter): unknown => routers.add(router);
/** @internal */
export const addCatalog = (catalog: KnownCatalog): unknown => catalogs.add(catalog);
/** @internal */
export const isRouter = (value: unknown): value is KnownRouter => has(routers, value);
/** @internal */
export const isCatalog = (value: unknown): value is KnownCatalog => has(catalogs, value);
