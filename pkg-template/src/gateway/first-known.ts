// Asking servers one after another for something that any of them may have.
import { failureOf } from "./failure.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from "./rpc-codes.js";

/** Whether a server says that it has no such thing. */
export function isUnknown(error: unknown): boolean {
  const { code } = failureOf(error, []);
  return code === RESOURCE_NOT_FOUND || code === METHOD_NOT_FOUND || code === INVALID_PARAMS;
}

/**
 * What the first that knows of it answers. `isGuess`: it is not known that any of these has it, so that one that fails otherwise, or is
 * not there, keeps nobody from asking the next. Errors: any other failure, at once unless it is a guess; where none knows of it, what
 * the first one said.
 */
export async function firstKnown<P, T>(
  places: readonly P[],
  ask: (place: P) => Promise<T>,
  isGuess = false,
): Promise<T> {
  const missing: unknown[] = [];
  for (const place of places) {
    try {
      return await ask(place);
    } catch (error) {
      // A server that has its user open a page knows of it.
      const isOver = !isGuess || failureOf(error, []).code === URL_ELICITATION_REQUIRED;
      if (isOver && !isUnknown(error)) throw error;
      missing.push(error);
    }
  }
  throw missing.find((error) => !isUnknown(error)) ?? missing[0];
}
