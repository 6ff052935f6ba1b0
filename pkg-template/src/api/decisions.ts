// Names that need the decision memory.
export { DecisionStore } from "../decision-store.js";
export type * from "../decision-types.js";
export { StoredDecisions, openDecisions } from "../stored-decisions.js";
export type { OpenDecisionsOptions } from "../stored-decisions.js";
