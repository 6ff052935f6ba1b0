// Which objects are routers and catalogs, told without loading the module they need, and without running code of a proxy.

const routers = new WeakSet<object>();
const catalogs = new WeakSet<object>();

const has = (known: WeakSet<object>, value: unknown): boolean =>
  typeof value === "object" && value !== null && known.has(value);

/** @internal */
export const addRouter = (router: object): unknown => routers.add(router);
/** @internal */
export const addCatalog = (catalog: object): unknown => catalogs.add(catalog);
/** @internal */
export const isRouter = (value: unknown): boolean => has(routers, value);
/** @internal */
export const isCatalog = (value: unknown): boolean => has(catalogs, value);
