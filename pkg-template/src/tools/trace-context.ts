// A trace context as `_meta` and headers carry it (W3C Trace Context and Baggage).

/** The keys of a trace context. @internal */
export const TRACE_KEYS = ["traceparent", "tracestate"];
/** With baggage, which may say who a user is. @internal */
export const ALL_TRACE_KEYS = [...TRACE_KEYS, "baggage"];
/** Characters of one of them, as the specification of baggage bounds it. */
const MAX_CHARS = 8_192;

/** Reads these keys of what the other side wrote, and none that is no text or too long. @internal */
export function traceContextIn(from: unknown, keys: readonly string[]): Record<string, string> {
  if (typeof from !== "object" || from === null) return {};
  const pairs = keys.map(
    (key) => [key, Object.hasOwn(from, key) ? (from as Record<string, unknown>)[key] : undefined] as const,
  );
  return Object.fromEntries(
    pairs.filter(
      (pair): pair is readonly [string, string] => typeof pair[1] === "string" && pair[1].length <= MAX_CHARS,
    ),
  );
}
