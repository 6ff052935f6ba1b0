// Which objects are routers and catalogs, told without loading the module they need, and without running code of a proxy.
import type { Catalog } from "./catalog.js";
import type { Router } from "./router.js";

const routers = new WeakSet<object>();
const catalogs = new WeakSet<object>();

const has = (known: WeakSet<object>, value: unknown): boolean =>
  typeof value === "object" && value !== null && known.has(value);

/** @internal */
export const addRouter = (router: Router): unknown => routers.add(router);
/** @internal */
export const addCatalog = (catalog: Catalog): unknown => catalogs.add(catalog);
/** @internal */
export const isRouter = (value: unknown): value is Router => has(routers, value);
/** @internal */
export const isCatalog = (value: unknown): value is Catalog => has(catalogs, value);
