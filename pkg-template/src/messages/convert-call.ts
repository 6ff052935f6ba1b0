// How converters ask their engine.
import { convert } from "../boundary/engines.js";

/** Runs a converter. @internal */
export function convertCall<T>(operation: string, args: string): T {
  return (JSON.parse(convert.call((glue) => glue.convert_call(operation, args))) as { done: T }).done;
}
