// The modules of the package. An application that uses the classes of one does not load the others.
import * as convertGlue from "./convert.js";
import * as coreGlue from "./core.js";
import * as decisionsGlue from "./decisions.js";
import { Engine } from "./engine.js";
import * as routingGlue from "./routing.js";

/** @internal */
export type CoreGlue = typeof coreGlue;
/** @internal */
export type RoutingGlue = typeof routingGlue;
/** @internal */
export type ConvertGlue = typeof convertGlue;
/** @internal */
export type DecisionsGlue = typeof decisionsGlue;

/** Compiles prompts. @internal */
export const core: Engine<CoreGlue> = /* @__PURE__ */ new Engine(coreGlue, "core", "manager_new");

/** Chooses tools. @internal */
export const routing: Engine<RoutingGlue> = /* @__PURE__ */ new Engine(routingGlue, "routing", "catalog_new");

/** Converts what other protocols say. @internal */
export const convert: Engine<ConvertGlue> = /* @__PURE__ */ new Engine(convertGlue, "convert", "convert_call");

/** Remembers decisions. @internal */
export const decisions: Engine<DecisionsGlue> = /* @__PURE__ */ new Engine(decisionsGlue, "decisions", "decisions_new");
