// The hostile corpus at the JavaScript boundary, for every runtime.
import { callbackCases } from "./hostile-callbacks.mjs";
import { limitCases } from "./hostile-limits.mjs";
import { hostileRoutingCases } from "./hostile-routing.mjs";
import { valueCases } from "./hostile-values.mjs";

export const hostileCases = { ...valueCases, ...limitCases, ...hostileRoutingCases, ...callbackCases };
