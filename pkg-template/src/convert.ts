// `contextweaver/convert`: MCP, messages of providers, definitions of tools and the context of their calls. Carries the module for that, and nothing else.
import { engine } from "#convert";
import { convert } from "./boundary/engines.js";

convert.provide(engine);

export * from "./api/common.js";
export * from "./api/convert.js";
