// What tools throw, without the secrets of the context they were called with.
import { dataOf, stringsIn } from "./context-values.js";
import { ToolCallContext, isSecret } from "./tool-call-context.js";

/** Shorter values are found in ordinary text. */
const MIN_SECRET = 6;
/** How deep errors and what hangs on them are copied, and how many objects; the rest is left out. */
const MAX_DEPTH = 16;
const MAX_OBJECTS = 10_000;
const OMITTED = "[omitted]";

type Masks = readonly (readonly [secret: string, mask: string])[];

/**
 * Returns what was thrown, or where a secret of the context is in it a copy, of the same class, in which `[redacted:<key>]`
 * stands for the secret: in the message, the stack, the causes and what else hangs on it. @internal
 */
export function withoutSecrets(thrown: unknown, context: ToolCallContext): unknown {
  const masks = new Map<string, string>();
  for (const [key, entry] of ToolCallContext.entriesOf(context)) {
    if (!isSecret(entry)) continue;
    for (const text of stringsIn(entry.value, MIN_SECRET)) masks.set(text, `[redacted:${key}]`);
  }
  // The longest first: a shorter one may be part of it.
  const sorted = [...masks].sort(([a], [b]) => b.length - a.length);
  return sorted.length > 0 && holds(thrown, sorted) ? cleaned(thrown, sorted, new Map(), 0) : thrown;
}

function clean(text: string, masks: Masks): string {
  return masks.reduce(
    (rest, [secret, mask]) => (rest.includes(secret) ? rest.replaceAll(secret, () => mask) : rest),
    text,
  );
}

/** Whether a secret is in a value, or the value is too large to say. */
function holds(value: unknown, masks: Masks): boolean {
  const seen = new Set<unknown>();
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && clean(next, masks) !== next) return true;
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    if (seen.size >= MAX_OBJECTS) return true;
    seen.add(next);
    for (const [key, inner] of partsOf(next)) rest.push(key, inner);
  }
  return false;
}

/** Copies everything, so that no way through the copy leads to an original. */
function cleaned(source: unknown, masks: Masks, copies: Map<object, unknown>, depth: number): unknown {
  if (typeof source === "string") return clean(source, masks);
  if (typeof source !== "object" || source === null) return source;
  if (copies.has(source)) return copies.get(source);
  const copy = depth <= MAX_DEPTH && copies.size < MAX_OBJECTS ? blank(source) : undefined;
  copies.set(source, copy ?? OMITTED);
  if (!copy) return OMITTED;
  for (const [key, value] of partsOf(source)) {
    const isShown = Object.prototype.propertyIsEnumerable.call(source, key);
    const property = {
      value: cleaned(value, masks, copies, depth + 1),
      enumerable: isShown,
      writable: true,
      configurable: true,
    };
    if (key !== "length" || !Array.isArray(copy)) Object.defineProperty(copy, clean(key, masks), property);
  }
  return copy;
}

/** The properties of an object that hold something, and the texts of an error, which getters may give. */
function partsOf(source: object): [string, unknown][] {
  if (source instanceof Map || source instanceof Set) return [...source].map((entry, place) => [`${place}`, entry]);
  const parts = dataOf(source);
  if (!(source instanceof Error)) return parts;
  for (const key of ["message", "stack"] as const) {
    try {
      if (typeof source[key] === "string") parts.push([key, source[key]]);
    } catch {
      // a getter of the class; the copy has none
    }
  }
  return parts;
}

/** A new object of the same class; none for what keeps its contents elsewhere than in properties. */
function blank(source: object): object | undefined {
  try {
    if (source instanceof Map || source instanceof Set || ArrayBuffer.isView(source)) return undefined;
    const copy: object = Array.isArray(source) ? [] : source instanceof Error ? new Error() : {};
    return Object.setPrototypeOf(copy, Object.getPrototypeOf(source) as object | null) as object;
  } catch {
    return undefined; // a proxy that throws
  }
}
