// Node, Deno and Bun: the module is read from beside the code when it is first needed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as glue from "./MODULE.js";
import { Engine } from "../engine.js";
import { unpack } from "../unpack.js";

const FILE = new URL("./MODULE_bg.wasm", import.meta.url);

function load() {
  try {
    return readFileSync(FILE);
  } catch {
    // Without leave to read files, code may still be loaded.
    return unpack(createRequire(import.meta.url)("./MODULE_inline.js").default);
  }
}

export const engine = /* @__PURE__ */ new Engine(glue, "MODULE", load);
