// Tells hooks of a gateway's calls: when one begins, what servers were asked meanwhile, and how it ended.
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { ALL_TRACE_KEYS, traceContextIn } from "../tools/trace-context.js";
import { figure, isDebug, lineWriter } from "../telemetry/debug.js";
import type { Debug } from "../telemetry/debug.js";
import { failureOf } from "./failure.js";
import type {
  GatewayCallCompleted,
  GatewayCallKind,
  GatewayCallMethod,
  GatewayCallRef,
  GatewayHookEvent,
  GatewayHooks,
  TraceContext,
  UpstreamRequestRef,
} from "./hook-types.js";
import type { CallInfo } from "./runtime-types.js";
import type { Fields } from "./server-sdk.js";

const HOOKS = [
  "gateway_call_started",
  "upstream_request_started",
  "upstream_request_completed",
  "gateway_call_completed",
] as const;
const MAX_CLIENT_CHARS = 100;
const KINDS: Readonly<Record<GatewayCallMethod, GatewayCallKind>> = {
  "tools/call": "tool",
  "resources/read": "resource",
  "prompts/get": "prompt",
};

/** Hooks that write a line of each call, too, as `debug` asks. */
export function withLines(hooks: GatewayHooks | undefined, debug: Debug | undefined): GatewayHooks | undefined {
  if (!isDebug(debug))
    throw new ContextWeaverError("INVALID_INPUT", "expected true, false or a function", { path: "/debug" });
  const line = lineWriter(debug);
  const { gateway_call_completed: told } = hooks ?? {};
  // What is no hook is refused where hooks are read.
  const isRefused =
    (hooks !== undefined && typeof hooks !== "object") || (told !== undefined && typeof told !== "function");
  if (!line || isRefused) return hooks;
  const gateway_call_completed = (event: GatewayCallCompleted): unknown => {
    line(lineOf(event));
    return told?.(event);
  };
  return { ...hooks, gateway_call_completed };
}

/** Writes a call in one line: names and counts. */
function lineOf({
  method,
  server,
  name,
  error_type,
  attempts,
  cache_hit,
  is_digested,
  tokens,
  shown_tokens,
  duration_ms,
}: GatewayCallCompleted): string {
  const about = [server, name].filter((one) => one !== undefined).join("/");
  const size =
    tokens === undefined
      ? []
      : [
          `${figure(tokens)} tokens came, ${figure(shown_tokens ?? tokens)} were shown${is_digested ? " (digested)" : ""}`,
        ];
  const how = cache_hit ? "from the cache" : `${attempts} ${attempts === 1 ? "request" : "requests"}`;
  return `${[method, about].filter(Boolean).join(" ")}: ${[error_type ?? "ok", ...size, how, `${figure(duration_ms)} ms`].join(", ")}`;
}

/** Who calls. */
export interface WatchedClient extends Pick<GatewayCallRef, "caller" | "session" | "client" | "protocol_version"> {
  /** The `_meta` of the request. */
  readonly meta?: Fields | undefined;
}

/** The hooks of a gateway. */
export class GatewayWatch {
  readonly #hooks: GatewayHooks;
  readonly #onError: (error: unknown) => void;
  readonly #allowed: readonly string[];
  #calls = 0;

  /** `allowed` are the keys of `_meta` that pass. */
  constructor(hooks: GatewayHooks, allowed: readonly string[], onError: (error: unknown) => void) {
    const {
      gateway_call_started,
      upstream_request_started,
      upstream_request_completed,
      gateway_call_completed,
      ...others
    } = fields(hooks, "/hooks");
    refuseUnknown(others, HOOKS, "/hooks");
    for (const [name, hook] of Object.entries({
      gateway_call_started,
      upstream_request_started,
      upstream_request_completed,
      gateway_call_completed,
    })) {
      if (hook !== undefined && typeof hook !== "function")
        throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: `/hooks/${name}` });
    }
    [this.#hooks, this.#allowed, this.#onError] = [hooks, allowed, onError];
  }

  begin(method: GatewayCallMethod, client: WatchedClient): WatchedCall {
    this.#calls += 1;
    return new WatchedCall(this, this.#calls, method, client);
  }

  /** The keys of a trace that pass, without what is none. */
  trace(meta: unknown): TraceContext {
    return traceContextIn(
      meta,
      ALL_TRACE_KEYS.filter((key) => this.#allowed.includes(key)),
    );
  }

  /** Runs a hook; its mistakes are told to whoever hears of errors. */
  tell(event: GatewayHookEvent): unknown {
    try {
      const returned: unknown = (this.#hooks[event.hook] as ((event: GatewayHookEvent) => unknown) | undefined)?.(
        event,
      );
      if (returned instanceof Promise) returned.catch(this.#onError);
      return returned;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }
}

/** A call of a client, over all the requests that it takes until it is answered. */
export class WatchedCall {
  readonly #watch: GatewayWatch;
  readonly #method: GatewayCallMethod;
  readonly #client: WatchedClient;
  readonly #number: number;
  readonly #began = Date.now();
  readonly #clock = performance.now();
  #about: Pick<GatewayCallRef, "kind" | "server" | "name">;
  #isStarted = false;
  #isCompleted = false;
  #attempts = 0;
  #error: string | undefined;
  #outcome: Partial<
    Pick<GatewayCallCompleted, "upstream_protocol_version" | "cache_hit" | "is_digested" | "tokens" | "shown_tokens">
  > = {};

  constructor(watch: GatewayWatch, number: number, method: GatewayCallMethod, client: WatchedClient) {
    [this.#watch, this.#number, this.#method, this.#client] = [watch, number, method, client];
    this.#about = { kind: KINDS[method] };
  }

  /** Notes what the runtime knows of the call. */
  note({ kind, server, tool, error, cache_hit }: CallInfo): void {
    this.about({ kind, ...(server !== undefined && { server }), ...(tool !== undefined && { name: tool }) });
    if (error !== undefined) this.failed(error);
    if (cache_hit) this.#outcome = { ...this.#outcome, cache_hit };
  }

  /** Notes with which code the call ends. */
  failed(error: string): void {
    this.#error = error;
  }

  /** Notes what the call is about; it has begun then. */
  about(about: Partial<Pick<GatewayCallRef, "kind" | "server" | "name">>): void {
    this.#about = { ...this.#about, ...about };
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#watch.tell({
      hook: "gateway_call_started",
      ...this.#ref(),
      at_ms: this.#began,
      trace: this.#watch.trace(this.#client.meta),
    });
  }

  /** Notes what a client gets of a result. */
  measured({
    tokens,
    shown_tokens,
    is_digested,
  }: {
    readonly tokens: number;
    readonly shown_tokens: number;
    readonly is_digested: boolean;
  }): void {
    this.#outcome = { ...this.#outcome, tokens, shown_tokens, is_digested };
  }

  /** Sends a request to a server. `send` gets the trace context that goes with it, if it is another than the client's. */
  async upstream(
    to: Omit<UpstreamRequestRef, "call" | "attempt">,
    send: (trace?: TraceContext) => Promise<Fields>,
  ): Promise<Fields> {
    const { server, name, protocol_version } = to;
    this.about({ server, ...(this.#about.name === undefined && name !== undefined && { name }) });
    this.#attempts += 1;
    if (protocol_version !== undefined)
      this.#outcome = { ...this.#outcome, upstream_protocol_version: protocol_version };
    const request = { call: this.#number, attempt: this.#attempts, ...to };
    const began = performance.now();
    const trace = this.#watch.trace(this.#watch.tell({ hook: "upstream_request_started", ...request }));
    let error_type: string | undefined;
    try {
      const result = await send(trace.traceparent === undefined ? undefined : trace);
      if (result["isError"] === true) error_type = "tool_error";
      return result;
    } catch (error) {
      const { kind, code, status } = failureOf(error, []);
      error_type =
        kind === "rpc" && code !== undefined
          ? String(code)
          : kind === "http" && status !== undefined
            ? String(status)
            : kind;
      throw error;
    } finally {
      const duration_ms = performance.now() - began;
      this.#watch.tell({
        hook: "upstream_request_completed",
        ...request,
        duration_ms,
        ...(error_type !== undefined && { error_type }),
      });
    }
  }

  /** Runs one request of the client; the call is over unless it asks the client first. */
  async during(signal: AbortSignal, run: () => Promise<Fields>): Promise<Fields> {
    try {
      const result = await run();
      if (result["resultType"] === "input_required") {
        this.about({});
        return result;
      }
      this.complete(result["isError"] === true ? "tool_error" : undefined);
      return result;
    } catch (error) {
      const { code } = (error ?? {}) as { readonly code?: unknown };
      this.complete(
        signal.aborted ? "cancelled" : typeof code === "number" || typeof code === "string" ? String(code) : "_OTHER",
      );
      throw error;
    }
  }

  /** Ends the call, once. What the runtime said of its end goes before what was seen of it. */
  complete(error: string | undefined): void {
    if (this.#isCompleted) return;
    this.about({});
    this.#isCompleted = true;
    const error_type = error === "cancelled" ? error : (this.#error ?? error);
    this.#watch.tell({
      hook: "gateway_call_completed",
      ...this.#ref(),
      duration_ms: performance.now() - this.#clock,
      ...(error_type !== undefined && { error_type }),
      attempts: this.#attempts,
      cache_hit: false,
      is_digested: false,
      ...this.#outcome,
    });
  }

  #ref(): GatewayCallRef {
    const { caller, session, client, protocol_version } = this.#client;
    return {
      call: this.#number,
      ...this.#about,
      method: this.#method,
      caller,
      session,
      ...(client && { client }),
      ...(protocol_version !== undefined && { protocol_version }),
    };
  }
}

/** A client as it calls itself. */
export function clientOf(info: unknown): GatewayCallRef["client"] {
  const { name, version } = (typeof info === "object" && info !== null ? info : {}) as Fields;
  if (typeof name !== "string") return undefined;
  return {
    name: name.slice(0, MAX_CLIENT_CHARS),
    ...(typeof version === "string" && { version: version.slice(0, MAX_CLIENT_CHARS) }),
  };
}
