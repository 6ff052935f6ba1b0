// `contextweaver/routing`: catalogs of tools and the router. Carries the module for that, and nothing else.
import { engine } from "#routing";
import { routing } from "./boundary/engines.js";

routing.provide(engine);

export * from "./api/common.js";
export * from "./api/routing.js";
