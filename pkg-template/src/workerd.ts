// The entry for Cloudflare Workers, which forbid compiling WebAssembly at run time: the modules are imported.
import convertModule from "./convert_bg.wasm";
import coreModule from "./core_bg.wasm";
import decisionsModule from "./decisions_bg.wasm";
import { convert, core, decisions, routing } from "./engines.js";
import routingModule from "./routing_bg.wasm";

core.offer(() => coreModule);
routing.offer(() => routingModule);
convert.offer(() => convertModule);
decisions.offer(() => decisionsModule);

export * from "./api.js";
