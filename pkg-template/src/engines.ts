// The modules of the package. An application that uses the classes of one does not load the other.
import * as coreGlue from "./core.js";
import { Engine } from "./engine.js";
import * as routingGlue from "./routing.js";

const call = "call initSync(module) or await init(source) of contextweaver/slim first";
const callWithBoth = "call initSync(core, routing) or await init(core, routing) of contextweaver/slim first";

/** @internal */
export type CoreGlue = typeof coreGlue;
/** @internal */
export type RoutingGlue = typeof routingGlue;

/** Compiles prompts. @internal */
export const core: Engine<CoreGlue> = /* @__PURE__ */ new Engine(coreGlue, "core_bg.wasm", "manager_new", call);

/** Chooses tools. @internal */
export const routing: Engine<RoutingGlue> = /* @__PURE__ */ new Engine(
  routingGlue,
  "routing_bg.wasm",
  "catalog_new",
  callWithBoth,
);
