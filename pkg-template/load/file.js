// Node, Deno and Bun: the module is read from beside the code when it is first needed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as glue from "./MODULE_glue.js";
import { Engine } from "./boundary/engine.js";

const FILE = new URL("FOLDER/MODULE_bg.wasm", import.meta.url);

/**
 * The module that is carried as text, with the glue made for it: without leave to read files code may still be loaded, and a bundle,
 * such as Bun makes of this file, has none beside it. `BUNDLED` becomes `require`, by which bundlers take files along.
 */
function carried() {
  try {
    const { unpack } = BUNDLED("../boundary/unpack.js");
    return { glue: BUNDLED("../wasm/MODULE.js"), source: unpack(BUNDLED("../wasm/MODULE_inline.js").default) };
  } catch {
    // Node has no `require` in a module.
    const load = createRequire(import.meta.url);
    const { unpack } = load("../boundary/unpack.js");
    return { glue: load("../wasm/MODULE.js"), source: unpack(load("../wasm/MODULE_inline.js").default) };
  }
}

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", () => readFileSync(FILE), carried);
