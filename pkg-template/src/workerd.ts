// The entry for Cloudflare Workers, which forbid compiling WebAssembly at run time: the module is imported.
import module from "./core_bg.wasm";
import { start } from "./engine.js";

start(module);

export * from "./api.js";
