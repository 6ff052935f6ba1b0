// Spans and metrics of a gateway, by its hooks.
import type {
  GatewayCallCompleted,
  GatewayCallRef,
  GatewayCallStarted,
  GatewayHooks,
  UpstreamRequestCompleted,
  UpstreamRequestStarted,
} from "../gateway/hook-types.js";
import { crossing, extractTraceContext } from "./otel-context.js";
import { CLIENT, ERROR, SERVER, ofMcp } from "./otel-types.js";
import type { OtelMeter, OtelOptions, OtelSpan, OtelTraceApi, OtelTracer, OtelValue } from "./otel-types.js";

/** What is told of a gateway. */
export interface OtelGatewayOptions<Context> extends Pick<OtelOptions, "meter"> {
  /** `@opentelemetry/api` itself: what a client's trace goes on with, and what servers are told of it. */
  readonly api: OtelTraceApi<Context>;
  /** Whether spans say who calls, as `authorize` named it. Default: false, as it may say who the user is. */
  readonly caller?: boolean;
}

/**
 * Makes the hooks of a gateway: of each call of a client a span of kind `SERVER`, such as `tools/call search`, and below it one of kind
 * `CLIENT` for each request to a server. The span of the client's `_meta` is the parent of the first; a server is told of the second in
 * its `_meta`. Arguments and results are never told.
 *
 * ```js
 * import * as api from "@opentelemetry/api";
 * const handler = gateway({ mcpServers, token, hooks: otelGateway(api.trace.getTracer("gateway"), { api }) });
 * ```
 */
export function otelGateway<Context>(tracer: OtelTracer, options: OtelGatewayOptions<Context>): Required<GatewayHooks> {
  const { api, meter, caller: isCallerTold = false } = options;
  const metrics = meter && gatewayMetricsOf(meter);
  const calls = new Map<number, { readonly span: OtelSpan; readonly context: Context }>();
  const requests = new Map<string, OtelSpan>();
  const requestKey = ({ call, attempt }: UpstreamRequestStarted | UpstreamRequestCompleted): string =>
    `${call}:${attempt}`;
  return {
    gateway_call_started(event) {
      const parent = extractTraceContext(api, event.trace);
      const attributes = { ...ofGatewayCall(event), ...(isCallerTold && { "contextweaver.caller": event.caller }) };
      const span = tracer.startSpan(spanName(event), { kind: SERVER, startTime: event.at_ms, attributes }, parent);
      calls.set(event.call, { span, context: api.trace.setSpan(parent, span) });
    },
    upstream_request_started(event) {
      const context = calls.get(event.call)?.context ?? api.context.active();
      const attributes = { ...ofRequest(event), "contextweaver.attempt": event.attempt };
      const span = tracer.startSpan(spanName(event), { kind: CLIENT, attributes }, context);
      requests.set(requestKey(event), span);
      const carrier: Record<string, string> = {};
      api.propagation.inject(api.trace.setSpan(context, span), carrier);
      return crossing(carrier, {});
    },
    upstream_request_completed(event) {
      const span = requests.get(requestKey(event));
      requests.delete(requestKey(event));
      if (span) endSpan(span, {}, event.error_type);
      metrics?.clientSeconds.record(event.duration_ms / 1000, { ...ofRequest(event), ...errorOf(event) });
    },
    gateway_call_completed(event) {
      const found = calls.get(event.call);
      calls.delete(event.call);
      if (found) endSpan(found.span, ofOutcome(event), event.error_type);
      const about = ofGatewayCall(event);
      metrics?.serverSeconds.record(event.duration_ms / 1000, { ...withoutClient(about), ...errorOf(event) });
      const { tokens, shown_tokens, server = "", name = "" } = event;
      if (tokens !== undefined && shown_tokens !== undefined && tokens > shown_tokens) {
        metrics?.saved.add(tokens - shown_tokens, { "contextweaver.server": server, "gen_ai.tool.name": name });
      }
    },
  };
}

function gatewayMetricsOf(meter: OtelMeter) {
  return {
    serverSeconds: meter.createHistogram("mcp.server.operation.duration", {
      unit: "s",
      description: "Time that calls of clients take.",
    }),
    clientSeconds: meter.createHistogram("mcp.client.operation.duration", {
      unit: "s",
      description: "Time that requests to servers take.",
    }),
    saved: meter.createCounter("contextweaver.saved_tokens", {
      unit: "{token}",
      description: "Tokens of results that clients did not get.",
    }),
  };
}

type NamedRequest = Pick<GatewayCallRef, "method" | "name">;

function spanName({ method, name }: NamedRequest): string {
  return name === undefined ? method : `${method} ${name}`;
}

/** Names of a request as the conventions have them: nothing that a client made up. */
function ofTarget({ method, name }: NamedRequest): Record<string, OtelValue> {
  if (method === "prompts/get") return name === undefined ? {} : { "gen_ai.prompt.name": name };
  if (method !== "tools/call") return {};
  return { "gen_ai.operation.name": "execute_tool", ...(name !== undefined && { "gen_ai.tool.name": name }) };
}

function ofGatewayCall(event: GatewayCallStarted | GatewayCallCompleted): Record<string, OtelValue> {
  const { method, kind, server, client, protocol_version } = event;
  return {
    ...ofTarget(event),
    ...ofMcp(method, protocol_version),
    "contextweaver.kind": kind,
    ...(server !== undefined && { "contextweaver.server": server }),
    ...(client && { "contextweaver.client": client.name }),
  };
}

/** Clients call themselves what they like: too many names for a metric. */
function withoutClient({ "contextweaver.client": _, ...rest }: Record<string, OtelValue>): Record<string, OtelValue> {
  return rest;
}

function ofRequest(event: UpstreamRequestStarted | UpstreamRequestCompleted): Record<string, OtelValue> {
  return { ...ofTarget(event), ...ofMcp(event.method, event.protocol_version), "contextweaver.server": event.server };
}

/** What is known of a call at its end alone. */
function ofOutcome({
  server,
  attempts,
  cache_hit,
  is_digested,
  tokens,
  shown_tokens,
}: GatewayCallCompleted): Record<string, OtelValue> {
  return {
    ...(server !== undefined && { "contextweaver.server": server }),
    "contextweaver.attempts": attempts,
    "contextweaver.cache_hit": cache_hit,
    "contextweaver.digested": is_digested,
    ...(tokens !== undefined && { "contextweaver.tokens": tokens }),
    ...(shown_tokens !== undefined && { "contextweaver.shown_tokens": shown_tokens }),
  };
}

function errorOf({ error_type }: { readonly error_type?: string }): Record<string, OtelValue> {
  return error_type === undefined ? {} : { "error.type": error_type };
}

function endSpan(span: OtelSpan, attributes: Record<string, OtelValue>, error_type: string | undefined): void {
  span.setAttributes({ ...attributes, ...(error_type !== undefined && { "error.type": error_type }) });
  if (error_type !== undefined) span.setStatus({ code: ERROR });
  span.end();
}
