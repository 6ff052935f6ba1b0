// What the entries for OpenTelemetry use of it, by shape: tracer, meter and API are the caller's.

/** A value of an attribute. */
export type OtelValue = string | number | boolean;

/** Attributes by name. */
export type OtelAttributes = Readonly<Record<string, OtelValue>>;

/** A span of `@opentelemetry/api`, as far as it is used. */
export interface OtelSpan {
  setAttributes(attributes: Record<string, OtelValue>): unknown;
  setStatus(status: { code: number }): unknown;
  addEvent(name: string, attributes?: Record<string, OtelValue>): unknown;
  end(): void;
}

/** How a span begins. */
export interface OtelSpanOptions {
  /** A `SpanKind` of OpenTelemetry. */
  kind?: number;
  /** What is known of the span when it begins. */
  attributes?: Record<string, OtelValue>;
  /** Milliseconds since 1970. */
  startTime?: number;
}

/** A tracer of `@opentelemetry/api`, as far as it is used. */
export interface OtelTracer {
  startSpan(name: string, options?: OtelSpanOptions, context?: unknown): OtelSpan;
  startActiveSpan<T>(name: string, options: OtelSpanOptions, run: (span: OtelSpan) => T): T;
}

/** A meter of `@opentelemetry/api`, as far as it is used. */
export interface OtelMeter {
  createHistogram(
    name: string,
    options?: { unit?: string; description?: string },
  ): { record(value: number, attributes?: Record<string, OtelValue>): void };
  createCounter(
    name: string,
    options?: { unit?: string; description?: string },
  ): { add(value: number, attributes?: Record<string, OtelValue>): void };
}

/** `@opentelemetry/api` itself, as far as it is used: `import * as api from "@opentelemetry/api"`. */
export interface OtelApi<Context> {
  readonly context: { active(): Context };
  readonly propagation: {
    inject(context: Context, carrier: Record<string, string>): void;
    extract(context: Context, carrier: Record<string, string>): Context;
  };
}

/** The same with what makes one span the parent of another. */
export interface OtelTraceApi<Context> extends OtelApi<Context> {
  readonly trace: { setSpan(context: Context, span: OtelSpan): Context };
}

/** What is told beside counts. */
export interface OtelOptions {
  /** Also counts in metrics. Default: spans alone. */
  readonly meter?: OtelMeter;
  /**
   * Tells content, too: ids of dropped items, arguments and answers of tools, ids of decisions and of rules. Credentials are masked in
   * the arguments. Default: false.
   */
  readonly content?: boolean;
}

// Numbers of SpanKind and SpanStatusCode.
export const INTERNAL = 0;
export const SERVER = 1;
export const CLIENT = 2;
export const ERROR = 2;

/** Attributes of a message of MCP. */
export function ofMcp(method: string, version: string | undefined): Record<string, OtelValue> {
  return { "mcp.method.name": method, ...(version !== undefined && { "mcp.protocol.version": version }) };
}
