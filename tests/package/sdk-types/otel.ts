// Compiled, never run: telemetry with the types of OpenTelemetry, without a cast.
import * as api from "@opentelemetry/api";
import type { Context, Meter, Tracer } from "@opentelemetry/api";
import { ContextManager, DecisionStore } from "contextweaver";
import { contextWeaver } from "contextweaver/ai-sdk";
import { executeTool, extractTraceContext, injectTraceContext, otel, otelDecisions } from "contextweaver/otel";

const tracer: Tracer = api.trace.getTracer("agent");
const meter: Meter = api.metrics.getMeter("agent");

export const manager = new ContextManager({ hooks: otel(tracer) });
export const measured = new ContextManager({ hooks: { ...otel(tracer, { meter, content: true }), budget_exceeded: ({ limit }) => console.log(limit) } });
export const cw = contextWeaver({ tools: {}, budget_tokens: 16_000, manager: { hooks: otel(tracer) } });
export const store = new DecisionStore({ ...otelDecisions(tracer, { api, meter, store_id: "team" }), redact_secrets: true });

export const found: Promise<number> = executeTool(tracer, { name: "search", call_id: "1", mcp: { protocol_version: "2026-07-28" } }, async () => 1);
export const meta: { progressToken: number; traceparent?: string } = injectTraceContext(api, { progressToken: 1 });
export const remote: Context = extractTraceContext(api, meta);

// @ts-expect-error not a tracer
otel({});
// @ts-expect-error not a meter
otel(tracer, { meter: tracer });
// @ts-expect-error not the API
injectTraceContext({ context: api.context });
