// The gateway as it is used.
import { gateway } from "contextweaver/mcp";
import type {
  Gateway,
  GatewayHookEvent,
  GatewayHooks,
  GatewayOptions,
  GatewayServerEvent,
  GatewayStats,
  ListingReport,
  UpstreamReport,
} from "contextweaver/mcp";
import { otelGateway } from "contextweaver/otel";
import type { OtelTraceApi, OtelTracer } from "contextweaver/otel";
import { memoryStore } from "contextweaver/storage";

declare const tracer: OtelTracer;
declare const api: OtelTraceApi<symbol>;

const hooks: GatewayHooks = {
  gateway_call_completed: ({ name, server, duration_ms, error_type, tokens }) => console.log(name, server, duration_ms.toFixed(), error_type, tokens),
  upstream_request_started: ({ call, attempt }) => (attempt > 1 ? { traceparent: `00-${call}` } : undefined),
};
const options: GatewayOptions = {
  mcpServers: { docs: { url: "https://docs.example/mcp" } },
  authorize: async (request) => (request.headers.get("x-user") === null ? undefined : { caller: "ann" }),
  mode: "search",
  policy: {
    default: "deny",
    rules: [
      { action: "ask", destructive: true },
      { action: "allow", tool: "read_*", caller: "ann" },
    ],
  },
  rate_limits: { tool_execute: { max_calls_per_minute: 60 }, per_tool: { "docs:delete": { max_calls_per_session: 1 } } },
  retry: { max_attempts: 3, retryable_codes: ["RATE_LIMITED"] },
  cache: { ttl_seconds: 10 },
  names: { drilldown: "read_more" },
  store: memoryStore(),
  manager: { limits: { max_store_bytes: 2 ** 20 } },
  result_tokens: 800,
  context_tokens: 128_000,
  on_server: ({ server, report }: GatewayServerEvent) => console.log(server, report?.quarantined[0]?.reasons[0]?.code),
  hooks,
};
const handler: Gateway = gateway(options);
export const answered: Promise<Response> = handler(new Request("http://localhost/mcp"));
export const stats: GatewayStats = handler.stats();
export const saved: number = stats.totals.saved_tokens;
export const reports: Promise<readonly UpstreamReport[]> = handler.servers();
export const names: Promise<readonly string[]> = handler.accept("docs", "delete");
export const traced = gateway({ servers: {}, token: false, hooks: otelGateway(tracer, { api }) });
export const told = (event: GatewayHookEvent): string => (event.hook === "upstream_request_completed" ? event.server : event.hook);
export const added = ({ added: names }: ListingReport): readonly string[] => names;

// @ts-expect-error no such option
gateway({ mcpServers: {}, token: false, polices: {} });
// @ts-expect-error no such mode
gateway({ mcpServers: {}, token: false, mode: "browse" });
// @ts-expect-error no such action
gateway({ mcpServers: {}, token: false, policy: { rules: [{ action: "refuse" }] } });
// @ts-expect-error no such field of a rule
gateway({ mcpServers: {}, token: false, policy: { rules: [{ action: "deny", tools: "x" }] } });
// @ts-expect-error pins are the gateway's own
gateway({ mcpServers: {}, token: false, pins: {} });
// @ts-expect-error no such hook
gateway({ mcpServers: {}, token: false, hooks: { call_completed: () => undefined } });
// @ts-expect-error a trace context has no such key
gateway({ mcpServers: {}, token: false, hooks: { upstream_request_started: () => ({ authorization: "x" }) } });
// @ts-expect-error a caller is named
gateway({ mcpServers: {}, authorize: () => ({ tenant: "ann" }) });
// @ts-expect-error spans of the two sides need the API
otelGateway(tracer);
// @ts-expect-error statistics are not changed
stats.totals.calls = 0;
