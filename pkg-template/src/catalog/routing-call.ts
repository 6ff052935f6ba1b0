// How functions and classes over tools ask their engine.
import { routing } from "../boundary/engines.js";
import type { RoutingFunction } from "../boundary/operation-names.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields } from "../boundary/guard.js";

/** Runs a function that needs neither a catalog nor a router. @internal */
export function routingCall<T>(operation: RoutingFunction, args: string): T {
  return (JSON.parse(routing.call((glue) => glue.routing_call(operation, args))) as { done: T }).done;
}

/** Writes options as more fields of a record, `,"a":1`, which has fields of these names already. @internal */
export function moreFields(options: unknown, taken: readonly string[]): string {
  const given = fields(options);
  for (const name of taken) {
    if (name in given) throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${name}\``, { path: `/${name}` });
  }
  const rest = encode(given);
  return rest === "{}" ? "" : `,${rest.slice(1, -1)}`;
}
