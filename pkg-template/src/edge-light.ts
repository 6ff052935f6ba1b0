// The entry for Vercel's edge runtime, whose bundler marks compiled modules with `?module`.
import coreModule from "./core_bg.wasm?module";
import { core, routing } from "./engines.js";
import routingModule from "./routing_bg.wasm?module";

core.offer(() => coreModule);
routing.offer(() => routingModule);

export * from "./api.js";
