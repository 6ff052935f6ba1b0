// `contextweaver/context`: `ContextManager` for items and results of tools, and functions on text; without messages of providers and results of MCP. Carries the module for that, and nothing else.
import { engine } from "#context";
import { context } from "./boundary/engines.js";

context.provide(engine);

export * from "./api/common.js";
export * from "./api/context.js";
