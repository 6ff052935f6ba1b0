// The hostile corpus at the JavaScript boundary, for every runtime: run with `runHostileCases(cw, assert)`.
import { callbackCases } from "./hostile-callbacks.mjs";
import { limitCases } from "./hostile-limits.mjs";
import { hostileRoutingCases } from "./hostile-routing.mjs";
import { valueCases } from "./hostile-values.mjs";

export const hostileCases = { ...valueCases, ...limitCases, ...hostileRoutingCases, ...callbackCases };

/** Runs all cases; a failure in one does not hide the others. */
export async function runHostileCases(cw, assert, cases = hostileCases) {
  const results = [];
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run(cw, assert);
      results.push({ name, ok: true });
    } catch (error) {
      results.push({ name, ok: false, error: `${error?.stack ?? error}` });
    }
  }
  return results;
}
