// `contextweaver/otel`: spans and metrics of OpenTelemetry, with the names of its conventions for generative AI and MCP. Nothing is
// imported: tracer, meter and API are the caller's.
import type {
  ContextBuilt,
  DecisionCall,
  DecisionChange,
  DecisionStoreOptions,
  GuardrailCheck,
  Hooks,
  ToolExecuted,
} from "contextweaver";
import { extractTraceContext } from "./telemetry/otel-context.js";
import { CLIENT, ERROR, INTERNAL, SERVER, ofMcp } from "./telemetry/otel-types.js";
import type { OtelApi, OtelMeter, OtelOptions, OtelSpan, OtelTracer, OtelValue } from "./telemetry/otel-types.js";
import { modelCallHook } from "./telemetry/otel-proxy.js";
import type { OtelProxyOptions } from "./telemetry/otel-proxy.js";
import { quietly } from "./telemetry/quietly.js";
import type { ProxyHooks } from "./proxy/hook-types.js";

export { extractTraceContext, injectTraceContext } from "./telemetry/otel-context.js";
export type { TraceContextOptions } from "./telemetry/otel-context.js";
export type { OtelProxyOptions } from "./telemetry/otel-proxy.js";
export { otelGateway } from "./telemetry/otel-gateway.js";
export type { OtelGatewayOptions } from "./telemetry/otel-gateway.js";
export type {
  OtelApi,
  OtelAttributes,
  OtelMeter,
  OtelOptions,
  OtelSpan,
  OtelSpanOptions,
  OtelTraceApi,
  OtelTracer,
  OtelValue,
} from "./telemetry/otel-types.js";

/** What is the model's own digest or part of a result, instead of the result. */
const SHORTENED: readonly string[] = ["summary", "structured", "llm_summary", "mixed"];

/**
 * Makes hooks that tell a tracer what a `ContextManager` does: of each build a span `contextweaver.build` with the counts of its drop
 * record, of each call of a tool that an adapter adds a span `execute_tool`, of each result that the firewall kept out a span
 * `contextweaver.firewall`. Spans are children of the one that is active. Counts only, unless `content` is set. A tracer that throws
 * disturbs nothing: `stats().hook_errors` counts it.
 *
 * ```js
 * const manager = new ContextManager({ hooks: otel(trace.getTracer("my-agent")) });
 * ```
 */
export function otel(tracer: OtelTracer, options: OtelOptions = {}): Hooks {
  const { meter, content = false } = options;
  const metrics = meter && metricsOf(meter);
  return {
    context_built(event) {
      const attributes = { "contextweaver.phase": event.phase, ...ofBuild(event) };
      const span = tracer.startSpan("contextweaver.build", {
        kind: INTERNAL,
        startTime: Date.now() - event.duration_ms,
        attributes,
      });
      if (content) tellDrops(span, event);
      span.end();
      metrics?.tokens.record(event.tokens, { "contextweaver.phase": event.phase });
      for (const [reason, count] of Object.entries(event.stats.dropped_reasons)) {
        metrics?.dropped.add(count, { "contextweaver.phase": event.phase, "contextweaver.reason": reason });
      }
    },
    build_failed({ phase, error_type, duration_ms }) {
      const attributes = { ...(phase && { "contextweaver.phase": phase }), "error.type": error_type };
      const span = tracer.startSpan("contextweaver.build", {
        kind: INTERNAL,
        startTime: Date.now() - duration_ms,
        attributes,
      });
      span.setStatus({ code: ERROR });
      span.end();
      metrics?.failed.add(1, attributes);
    },
    firewall_triggered({ item_id, reason }) {
      const attributes = { "contextweaver.reason": reason, ...(content && { "contextweaver.item.id": item_id }) };
      tracer.startSpan("contextweaver.firewall", { kind: INTERNAL, attributes }).end();
      metrics?.firewalled.add(1);
    },
    tool_executed(event) {
      const attributes = ofTool(event, content);
      const startTime = Date.now() - event.duration_ms;
      const span = tracer.startSpan(`execute_tool ${event.name}`, { kind: INTERNAL, startTime, attributes });
      if (event.error_type !== undefined) span.setStatus({ code: ERROR });
      span.end();
      metrics?.toolSeconds.record(event.duration_ms / 1000, {
        "gen_ai.tool.name": event.name,
        ...(event.error_type !== undefined && { "error.type": event.error_type }),
      });
    },
  };
}

/**
 * Makes the hooks of a proxy: of each call of a model a span of kind `CLIENT`, such as `chat gpt-5`, of each prompt that is built and of
 * each call that is answered inside those of {@link otel}. With `api` the span of a client's `traceparent` is the parent of its calls.
 * What was said is never told.
 *
 * ```js
 * const handler = proxy({ budget_tokens: 60_000, token: false, hooks: otelProxy(trace.getTracer("proxy")) });
 * ```
 */
export function otelProxy<Context>(tracer: OtelTracer, options: OtelProxyOptions<Context> = {}): ProxyHooks {
  const { meter } = options;
  return { ...otel(tracer, meter ? { meter } : {}), ...modelCallHook(tracer, options) };
}

function metricsOf(meter: OtelMeter) {
  return {
    tokens: meter.createHistogram("contextweaver.tokens", { unit: "{token}", description: "Tokens of a prompt." }),
    dropped: meter.createCounter("contextweaver.dropped", {
      unit: "{item}",
      description: "Items that a prompt leaves out.",
    }),
    failed: meter.createCounter("contextweaver.failed", { unit: "{build}", description: "Builds that failed." }),
    firewalled: meter.createCounter("contextweaver.firewalled", {
      unit: "{result}",
      description: "Results of tools that are kept out of prompts.",
    }),
    toolSeconds: meter.createHistogram("gen_ai.execute_tool.duration", {
      unit: "s",
      description: "Time that calls of tools take.",
    }),
  };
}

/** The counts of a build. */
function ofBuild({ stats, tokens, running }: ContextBuilt): Record<string, OtelValue> {
  const { total_candidates, included_count, dropped_reasons, budget_tokens, firewall_events } = stats;
  const dropped = Object.entries(dropped_reasons).map(
    ([reason, count]) => [`contextweaver.dropped.${reason}`, count] as const,
  );
  const isCompacted =
    (dropped_reasons["budget"] ?? 0) + (dropped_reasons["near_repeat"] ?? 0) > 0 ||
    firewall_events.some(({ triggered, strategy }) => triggered && SHORTENED.includes(strategy));
  return {
    "contextweaver.candidates": total_candidates,
    "contextweaver.selected": included_count,
    ...Object.fromEntries(dropped),
    "contextweaver.tokens": tokens,
    ...(budget_tokens !== undefined && { "contextweaver.budget": budget_tokens }),
    ...(running && {
      // The provider counts what it had; this is what is expected of it.
      "gen_ai.usage.cache_read.input_tokens": running.repeated_tokens,
      "contextweaver.running.cut": running.cut ?? "",
      "contextweaver.running.cost": running.cost,
      "contextweaver.running.cost_without": running.cost_without,
    }),
    // The convention knows no `false`.
    ...(isCompacted && { "gen_ai.conversation.compacted": true }),
  };
}

/** Adds an event for each item that was dropped. */
function tellDrops(span: OtelSpan, { stats }: ContextBuilt): void {
  for (const { item_id, reason, tokens } of stats.dropped_items) {
    span.addEvent("contextweaver.dropped", {
      "contextweaver.item.id": item_id,
      "contextweaver.reason": reason,
      ...(tokens !== undefined && { "contextweaver.tokens": tokens }),
    });
  }
}

function ofTool(
  { name, call_id, arguments: given, result, error_type }: ToolExecuted,
  content: boolean,
): Record<string, OtelValue> {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.type": "function",
    ...(call_id !== undefined && { "gen_ai.tool.call.id": call_id }),
    ...(error_type !== undefined && { "error.type": error_type }),
    ...(content && { "gen_ai.tool.call.arguments": given, "gen_ai.tool.call.result": result }),
  };
}

/** A call of a tool of yours. */
export interface OtelToolCall {
  readonly name: string;
  /** The id that the model gave to the call. */
  readonly call_id?: string;
  /** The call goes to an MCP server; the protocol's version, if it is known. */
  readonly mcp?: { readonly protocol_version?: string };
}

/**
 * Runs a tool in a span, which is active meanwhile: `execute_tool <name>`, or `tools/call <name>` where an MCP server runs it. What
 * it throws is `error.type`, and so is a result of MCP with `isError`; neither is changed.
 *
 * ```js
 * const _meta = () => injectTraceContext(api);
 * const result = await executeTool(tracer, { name, call_id, mcp: {} }, () => client.callTool({ name, arguments: args, _meta: _meta() }));
 * ```
 */
export async function executeTool<T>(tracer: OtelTracer, call: OtelToolCall, run: () => T | Promise<T>): Promise<T> {
  const { name, call_id, mcp } = call;
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    ...(call_id !== undefined && { "gen_ai.tool.call.id": call_id }),
    ...(mcp ? ofMcp("tools/call", mcp.protocol_version) : { "gen_ai.tool.type": "function" }),
  };
  let span: OtelSpan | undefined;
  let running: Promise<T> | undefined;
  const begin = (given?: OtelSpan): void => {
    span = given;
    running = (async () => run())();
  };
  quietly(() =>
    tracer.startActiveSpan(
      mcp ? `tools/call ${name}` : `execute_tool ${name}`,
      { kind: mcp ? CLIENT : INTERNAL, attributes },
      begin,
    ),
  );
  if (!running) begin();
  let error_type: string | undefined;
  try {
    const result = await (running as unknown as Promise<T>);
    if (mcp && (result as { readonly isError?: unknown } | null | undefined)?.isError === true)
      error_type = "tool_error";
    return result;
  } catch (error) {
    error_type = typeOf(error);
    throw error;
  } finally {
    quietly(() => {
      if (error_type !== undefined) span?.setAttributes({ "error.type": error_type });
      if (error_type !== undefined) span?.setStatus({ code: ERROR });
      span?.end();
    });
  }
}

/** A code or a class: neither quotes what it is about. */
function typeOf(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "string" && /^[\w-]{1,64}$/.test(code)) return code;
  return typeof name === "string" && /^[\w-]{1,64}$/.test(name) ? name : "_OTHER";
}

/** What `DecisionStore` takes. */
export type OtelDecisionListeners = Required<
  Pick<DecisionStoreOptions, "on_change" | "on_guardrail_check" | "on_call">
>;

/** What is told of a `DecisionStore`. */
export interface OtelDecisionOptions<Context> extends OtelOptions {
  /** What `gen_ai.memory.store.id` says. Default: nothing. */
  readonly store_id?: string;
  /** Default: the parent of every span is the active one. */
  readonly api?: OtelApi<Context>;
}

/** What a change is to a memory. */
const MEMORY: Readonly<Record<DecisionChange["type"], string>> = {
  recorded: "create_memory",
  updated: "update_memory",
  reviewed: "update_memory",
  thought: "update_memory",
  linked: "update_memory",
  imported: "upsert_memory",
};

/**
 * Makes the listeners of a `DecisionStore`: of each change and search a span of the operation on memory, such as `create_memory`, of each
 * call of a tool a span `execute_tool <name>`, or `tools/call <name>` where it came as a message of MCP, of each check of an action
 * a span `contextweaver.guardrail_check`. With `api`, the caller's context in `_meta` is the parent of `tools/call`.
 *
 * ```js
 * const store = new DecisionStore({ ...otelDecisions(tracer) });
 * ```
 */
export function otelDecisions<Context>(
  tracer: OtelTracer,
  options: OtelDecisionOptions<Context> = {},
): OtelDecisionListeners {
  const { meter, content = false, store_id, api } = options;
  const toolSeconds = meter && metricsOf(meter).toolSeconds;
  const ofStore = store_id === undefined ? {} : { "gen_ai.memory.store.id": store_id };
  return {
    on_change({ type, id }) {
      const operation = MEMORY[type];
      const attributes = {
        "gen_ai.operation.name": operation,
        ...ofStore,
        ...(id !== undefined && { "gen_ai.memory.record.count": 1 }),
        ...(content && id !== undefined && { "gen_ai.memory.record.id": id }),
      };
      tracer.startSpan(operation, { kind: INTERNAL, attributes }).end();
    },
    on_guardrail_check({ allowed, violations, evaluated }: GuardrailCheck) {
      const attributes = {
        "contextweaver.guardrail.allowed": allowed,
        "contextweaver.guardrail.violations": violations.length,
        "contextweaver.guardrail.evaluated": evaluated,
        ...(content && { "contextweaver.guardrail.rules": violations.join(" ") }),
      };
      tracer.startSpan("contextweaver.guardrail_check", { kind: INTERNAL, attributes }).end();
    },
    on_call({ tool, error_type, duration_ms, found, rpc }: DecisionCall) {
      const startTime = Date.now() - duration_ms;
      const attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        ...(rpc ? ofMcp("tools/call", rpc.protocol_version) : { "gen_ai.tool.type": "function" }),
        ...(error_type !== undefined && { "error.type": error_type }),
      };
      const how = { kind: rpc ? SERVER : INTERNAL, startTime, attributes };
      const parent = api && rpc && extractTraceContext(api, rpc.meta);
      const span = tracer.startSpan(rpc ? `tools/call ${tool}` : `execute_tool ${tool}`, how, parent);
      if (error_type !== undefined) span.setStatus({ code: ERROR });
      span.end();
      if (found !== undefined) {
        const searched = { "gen_ai.operation.name": "search_memory", ...ofStore, "gen_ai.memory.record.count": found };
        tracer.startSpan("search_memory", { kind: INTERNAL, startTime, attributes: searched }, parent).end();
      }
      toolSeconds?.record(duration_ms / 1000, {
        "gen_ai.tool.name": tool,
        ...(error_type !== undefined && { "error.type": error_type }),
      });
    },
  };
}
