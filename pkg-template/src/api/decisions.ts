// Exports of `contextweaver/decisions`, the main entry and `slim`: names that need the WebAssembly module of the decision
// memory.
export { DecisionStore } from "../decisions/decision-store.js";
export type * from "../decisions/decision-types.js";
export { StoredDecisions, openDecisions } from "../sessions/stored-decisions.js";
export type { OpenDecisionsOptions } from "../sessions/stored-decisions.js";
