// For tools that copy the files that a program needs, such as @vercel/nft: they follow the condition `node`, and Node itself
// `node-addons`. Whatever else comes here gets the module that is carried as text. The function is read by them, and never called.
import { createRequire } from "node:module";

export * from "../../ENTRY.js";

function traced() {
  const require = createRequire(import.meta.url);
  require("../ENTRY.js");
}
