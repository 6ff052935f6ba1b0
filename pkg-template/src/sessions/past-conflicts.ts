// Writes to what other processes write to, too.
import { ContextWeaverError } from "../boundary/errors.js";

/** Writes that are tried again since somebody else wrote first. */
const MOST_CONFLICTS = 5;
/** Milliseconds that are waited at most after the first of them, and twice as long after each further one. */
const PAUSE_MS = 10;

/** Whether somebody else wrote first. @internal */
export function isConflict(error: unknown): boolean {
  return ContextWeaverError.is(error) && error.code === "CONFLICT";
}

/** Writes, and again where somebody else wrote first. `write` gets how often that was so: then it has to read what is there. @internal */
export async function pastConflicts<T>(write: (conflicts: number) => Promise<T>): Promise<T> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await write(conflicts);
    } catch (error) {
      if (!isConflict(error) || conflicts >= MOST_CONFLICTS) throw error;
      // By chance: two that go on in step would be in each other's way again.
      await new Promise<void>((done) => void setTimeout(done, Math.random() * PAUSE_MS * 2 ** conflicts));
    }
  }
}
