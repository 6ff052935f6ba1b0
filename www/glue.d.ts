// The modules of the package, as far as the reading of sessions names them: it is checked with the package, not here.
declare module "*/wasm/agent.js";
declare module "*/wasm/context.js";
declare module "*/wasm/convert.js";
declare module "*/wasm/decisions.js";
declare module "*/wasm/gateway.js";
declare module "*/wasm/routing.js";
