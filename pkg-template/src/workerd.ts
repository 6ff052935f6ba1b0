// The entry for Cloudflare Workers, which forbid compiling WebAssembly at run time: the modules are imported.
import coreModule from "./core_bg.wasm";
import { core, routing } from "./engines.js";
import routingModule from "./routing_bg.wasm";

core.offer(() => coreModule);
routing.offer(() => routingModule);

export * from "./api.js";
