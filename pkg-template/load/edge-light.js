// Edge functions: as in Workers, with the suffix their bundlers know.
import * as glue from "./MODULE.js";
import module from "./MODULE_bg.wasm?module";
import { Engine } from "../boundary/engine.js";

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", () => module);
