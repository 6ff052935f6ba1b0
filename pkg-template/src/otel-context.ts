// Trace contexts in `_meta`: what crosses, and what is read of what the other side wrote.
import type { OtelApi } from "./otel-types.js";
import { quietly } from "./quietly.js";

/** The keys that stand in `_meta` without a prefix; baggage may say who a user is. */
const TRACE_KEYS = ["traceparent", "tracestate"];
const BAGGAGE = "baggage";
/** Characters of one of them, as the specification of baggage bounds it. */
const MAX_CHARS = 8192;

/** Which keys of a context cross. */
export interface TraceContextOptions {
  /** Whether baggage crosses, too. Default: false, as it may say who the user is. */
  readonly baggage?: boolean;
}

/**
 * Adds the active context to the `_meta` of a request of MCP: `traceparent` and `tracestate`, as the propagator writes them. Where
 * nothing is active, what was given comes back. For `toMcpMeta` give the result as `existing`.
 */
export function injectTraceContext<Context, Meta extends object>(
  api: OtelApi<Context>,
  meta?: Meta,
  options: TraceContextOptions = {},
): Meta & { traceparent?: string; tracestate?: string; baggage?: string } {
  const carrier: Record<string, string> = {};
  quietly(() => api.propagation.inject(api.context.active(), carrier));
  return { ...(meta as Meta), ...crossing(carrier, options) };
}

/**
 * Reads the context that the `_meta` of a request names, for `context.with` or as the parent of a span; without one it is the active
 * context. The other side wrote it: only the keys of the protocol are read, and none that is too long.
 */
export function extractTraceContext<Context>(api: OtelApi<Context>, meta: unknown, options: TraceContextOptions = {}): Context {
  const active = api.context.active();
  let found = active;
  quietly(() => (found = api.propagation.extract(active, crossing(meta, options))));
  return found;
}

/** What of it crosses. */
export function crossing(from: unknown, { baggage = false }: TraceContextOptions): Record<string, string> {
  if (typeof from !== "object" || from === null) return {};
  const keys = baggage ? [...TRACE_KEYS, BAGGAGE] : TRACE_KEYS;
  const pairs = keys.map((key) => [key, Object.hasOwn(from, key) ? (from as Record<string, unknown>)[key] : undefined] as const);
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => typeof pair[1] === "string" && pair[1].length <= MAX_CHARS));
}
