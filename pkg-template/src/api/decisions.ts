// Names that need the decision memory.
export { DecisionStore } from "../decisions/decision-store.js";
export type * from "../decisions/decision-types.js";
export { StoredDecisions, openDecisions } from "../sessions/stored-decisions.js";
export type { OpenDecisionsOptions } from "../sessions/stored-decisions.js";
