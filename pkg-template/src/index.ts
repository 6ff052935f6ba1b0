// The default entry: carries the WebAssembly module as base64 and starts it synchronously, so that importing
// is enough on every runtime and in every bundler, without a file read, a request or a setting.
import inline from "./core_inline.js";
import { start } from "./engine.js";
import { decodeBase64 } from "./inline.js";

start(decodeBase64(inline));

export * from "./api.js";
