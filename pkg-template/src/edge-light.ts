// The entry for Vercel's edge runtime, whose bundler marks compiled modules with `?module`.
import module from "./core_bg.wasm?module";
import { start } from "./engine.js";

start(module);

export * from "./api.js";
