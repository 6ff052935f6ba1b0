// Spans and metrics of a proxy before the providers of models, by its hooks.
import type { ModelCallCompleted, ProxyHooks } from "../proxy/hook-types.js";
import { extractTraceContext } from "./otel-context.js";
import { CLIENT, ERROR } from "./otel-types.js";
import type { OtelApi, OtelMeter, OtelTracer, OtelValue } from "./otel-types.js";

/** What is told of a proxy. */
export interface OtelProxyOptions<Context> {
  /** `@opentelemetry/api` itself: what a client's trace goes on with. Default: the parent of every span is the active one. */
  readonly api?: OtelApi<Context>;
  /** Also counts in metrics. Default: spans alone. */
  readonly meter?: OtelMeter;
}

/** Names of providers in the conventions. */
const PROVIDERS: Readonly<Record<ModelCallCompleted["provider"], string>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "gcp.gemini",
};

/** Makes the hook that tells a tracer of the calls of models. */
export function modelCallHook<Context>(
  tracer: OtelTracer,
  { api, meter }: OtelProxyOptions<Context>,
): Required<Pick<ProxyHooks, "model_call_completed">> {
  const metrics = meter && metricsOf(meter);
  return {
    model_call_completed(event) {
      const { at_ms, duration_ms, error_type, trace, usage = {}, tokens = 0, tokens_without = 0 } = event;
      const about = aboutCall(event);
      const failed = error_type === undefined ? {} : { "error.type": error_type };
      const attributes = { ...about, ...ofCall(event), ...failed };
      const span = tracer.startSpan(
        nameOf(event),
        { kind: CLIENT, startTime: at_ms, attributes },
        api && extractTraceContext(api, trace),
      );
      if (error_type !== undefined) span.setStatus({ code: ERROR });
      span.end();
      metrics?.seconds.record(duration_ms / 1000, { ...about, ...failed });
      for (const [type, count] of [
        ["input", usage.input_tokens],
        ["output", usage.output_tokens],
      ] as const) {
        if (count !== undefined) metrics?.tokens.record(count, { ...about, "gen_ai.token.type": type });
      }
      if (tokens_without > tokens) metrics?.saved.add(tokens_without - tokens, about);
    },
  };
}

function metricsOf(meter: OtelMeter) {
  return {
    seconds: meter.createHistogram("gen_ai.client.operation.duration", {
      unit: "s",
      description: "Time that calls of models take.",
    }),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      description: "Tokens of calls of models, as providers count them.",
    }),
    saved: meter.createCounter("contextweaver.saved_tokens", {
      unit: "{token}",
      description: "Tokens of conversations that were not sent.",
    }),
  };
}

function nameOf({ operation, model }: ModelCallCompleted): string {
  return model === undefined ? operation : `${operation} ${model}`;
}

/** What calls are told apart by, in metrics, too. */
function aboutCall({ operation, provider, model, server }: ModelCallCompleted): Record<string, OtelValue> {
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": PROVIDERS[provider],
    ...(model !== undefined && { "gen_ai.request.model": model }),
    "server.address": server.address,
    "server.port": server.port,
  };
}

function ofCall({
  sent,
  reason,
  round,
  status,
  tokens,
  tokens_without,
  cut,
  usage = {},
}: ModelCallCompleted): Record<string, OtelValue> {
  const { input_tokens, output_tokens, cached_tokens } = usage;
  return {
    ...(input_tokens !== undefined && { "gen_ai.usage.input_tokens": input_tokens }),
    ...(output_tokens !== undefined && { "gen_ai.usage.output_tokens": output_tokens }),
    ...(cached_tokens !== undefined && { "gen_ai.usage.cache_read.input_tokens": cached_tokens }),
    ...(status !== undefined && { "http.response.status_code": status }),
    "contextweaver.sent": sent,
    "contextweaver.round": round,
    ...(reason !== undefined && { "contextweaver.reason": reason }),
    ...(tokens !== undefined && { "contextweaver.tokens": tokens }),
    ...(tokens_without !== undefined && { "contextweaver.tokens_without": tokens_without }),
    ...(cut !== undefined && { "contextweaver.running.cut": cut }),
  };
}
