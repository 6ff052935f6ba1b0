// Browsers and bundlers: the module is carried as text, so that neither a request nor a setting is needed.
import * as glue from "./MODULE.js";
import { Engine } from "../boundary/engine.js";
import { unpack } from "../boundary/unpack.js";
import text from "./MODULE_inline.js";

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", () => unpack(text));
