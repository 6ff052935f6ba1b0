// Names that need the decision memory.
export { DecisionStore } from "../decision-store.js";
export type * from "../decision-types.js";
