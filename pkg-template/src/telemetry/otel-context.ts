// Trace contexts in `_meta`: what crosses, and what is read of what the other side wrote.
import type { OtelApi } from "./otel-types.js";
import { quietly } from "./quietly.js";
import { ALL_TRACE_KEYS, TRACE_KEYS, traceContextIn } from "../tools/trace-context.js";

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
export function extractTraceContext<Context>(
  api: OtelApi<Context>,
  meta: unknown,
  options: TraceContextOptions = {},
): Context {
  const active = api.context.active();
  let found = active;
  quietly(() => (found = api.propagation.extract(active, crossing(meta, options))));
  return found;
}

/** What of it crosses. */
export function crossing(from: unknown, { baggage = false }: TraceContextOptions): Record<string, string> {
  return traceContextIn(from, baggage ? ALL_TRACE_KEYS : TRACE_KEYS);
}
