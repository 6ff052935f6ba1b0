// Asking servers one after another for something that any of them may have.
import { failureOf } from "./failure.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND } from "./rpc-codes.js";

/** Whether a server says that it has no such thing. */
export function isUnknown(error: unknown): boolean {
  const { code } = failureOf(error, []);
  return code === RESOURCE_NOT_FOUND || code === METHOD_NOT_FOUND || code === INVALID_PARAMS;
}

/** What the first that knows of it answers. Errors: any other failure at once; where none knows of it, what the first one said. */
export async function firstKnown<P, T>(places: readonly P[], ask: (place: P) => Promise<T>): Promise<T> {
  let missing: unknown;
  for (const place of places) {
    try {
      return await ask(place);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      missing ??= error;
    }
  }
  throw missing;
}
