// Cloudflare Workers, which forbid compiling WebAssembly at run time: the module is imported.
import * as glue from "./MODULE.js";
import module from "./MODULE_bg.wasm";
import { Engine } from "../boundary/engine.js";

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", () => module);
