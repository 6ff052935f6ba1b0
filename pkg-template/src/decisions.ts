// `contextweaver/decisions`: the decision memory. Carries the module for that, and nothing else.
import { engine } from "#decisions";
import { decisions } from "./boundary/engines.js";

decisions.provide(engine);

export * from "./api/common.js";
export * from "./api/decisions.js";
