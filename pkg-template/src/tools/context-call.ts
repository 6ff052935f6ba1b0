// How contexts ask the engine about keys, and remember the answer.
import { convertCall } from "../messages/convert-call.js";
import { broken } from "./context-values.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { encode } from "../boundary/guard.js";
import { isWellFormed, token } from "../boundary/guard-errors.js";

/** Keys whose answer is remembered; a program has few. */
const MAX_KNOWN = 4096;

/** Whether a key is called like a secret. */
const known = /* @__PURE__ */ new Map<string, boolean>();

/** Runs an operation over keys and flags. @internal */
export function callContext<T>(operation: string, args: unknown): T {
  return convertCall<T>(operation, encode(args));
}

/** Says of each key whether it is called like a secret; `InvalidContextKey` when one cannot be a key. @internal */
export function secretNames(keys: readonly unknown[]): boolean[] {
  const asked = [...new Set(keys.map(checked))].filter((key) => !known.has(key));
  const answers = new Map<string, boolean>();
  if (asked.length > 0) {
    const { secret } = ask(asked);
    asked.forEach((key, place) => answers.set(key, secret[place] !== false));
    if (known.size + asked.length > MAX_KNOWN) known.clear();
    if (asked.length <= MAX_KNOWN) for (const [key, answer] of answers) known.set(key, answer);
  }
  // Whatever is not known counts as a secret.
  return keys.map((key) => answers.get(key as string) ?? known.get(key as string) ?? true);
}

function checked(key: unknown): string {
  if (typeof key === "string" && isWellFormed(key)) return key;
  const what = typeof key === "string" ? "a key with half of a surrogate pair" : `a key of type ${typeof key}`;
  throw broken("INVALID_INPUT", "InvalidContextKey", `expected a string that can be a key, got ${what}`);
}

function ask(keys: readonly string[]): { readonly secret: readonly boolean[] } {
  try {
    return callContext("context_keys", { keys });
  } catch (error) {
    const { details } = error as ContextWeaverError;
    if (!ContextWeaverError.is(error) || !(details?.["reason"] || error.path?.startsWith("/keys/"))) throw error;
    const key = keys[Number(details?.["place"])] ?? "";
    throw broken("INVALID_INPUT", "InvalidContextKey", error.message, {}, { path: `/${token(key)}` });
  }
}
