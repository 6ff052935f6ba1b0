// Node, Deno and Bun: the module is read from beside the code when it is first needed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as glue from "./MODULE_glue.js";
import { Engine } from "./boundary/engine.js";

const FILE = new URL("FOLDER/MODULE_bg.wasm", import.meta.url);

/** Without leave to read files code may still be loaded: the module that is carried as text, with the glue made for it. */
function carried() {
  const require = createRequire(import.meta.url);
  const { unpack } = require("../boundary/unpack.js");
  return { glue: require("../wasm/MODULE.js"), source: unpack(require("../wasm/MODULE_inline.js").default) };
}

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", () => readFileSync(FILE), carried);
