// What is done again where another process wrote first.
import { ContextWeaverError } from "contextweaver";

/** How often something is tried; each time another process may be quicker. */
const TRIES = 10;

/** Whether somebody else wrote meanwhile. */
export function isConflict(error: unknown): boolean {
  return ContextWeaverError.is(error) && error.code === "CONFLICT";
}

/** Runs what reads before it writes; again where somebody else wrote in between. */
export async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isConflict(error) || attempt === TRIES) throw error;
    }
  }
}
