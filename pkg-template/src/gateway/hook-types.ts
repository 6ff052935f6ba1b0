// The functions that are told of the calls of a gateway, and what they are told: names, codes and counts. Arguments, results, addresses
// of resources and what the user answered are never among it.

/** What a client asks for. */
export type GatewayCallKind = "tool" | "search" | "drilldown" | "recall" | "resource" | "prompt";

/** The methods of MCP that are told. */
export type GatewayCallMethod = "tools/call" | "resources/read" | "prompts/get";

/** A trace context as `_meta` carries it. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/**
 * Functions told what clients ask a gateway for: each call of a tool, search, drilldown, recall, read of a resource and get of a prompt. One that
 * throws disturbs no call: `on_error` gets what it threw.
 */
export interface GatewayHooks {
  /** A client has asked, and what it asks for is known. */
  readonly gateway_call_started?: (event: GatewayCallStarted) => void;
  /** A server is about to be asked. What is returned takes the place of the client's trace context, as far as `meta_allow` lets it pass. */
  readonly upstream_request_started?: (event: UpstreamRequestStarted) => TraceContext | undefined | void;
  /** A server has answered, or has not. */
  readonly upstream_request_completed?: (event: UpstreamRequestCompleted) => void;
  /** The client has its answer: once per call, also where the client gave up or never came back to answer a question. */
  readonly gateway_call_completed?: (event: GatewayCallCompleted) => void;
}

/** Of which call an event is. */
export interface GatewayCallRef {
  /** A number that the events of one call share. */
  readonly call: number;
  readonly kind: GatewayCallKind;
  readonly method: GatewayCallMethod;
  /** Who `authorize` says it is; `local` over standard input and output. */
  readonly caller: string;
  /** The connection, or the HTTP session, by a name that the gateway chose; revision 2026-07-28 has one for each caller. */
  readonly session: string;
  /** The client as it calls itself, at most 100 characters each. */
  readonly client?: { readonly name: string; readonly version?: string };
  /** The revision of the protocol that the client speaks. */
  readonly protocol_version?: string;
  /** The server that has it; absent for the gateway's own tools, and for what no server has. */
  readonly server?: string;
  /**
   * What the server calls the tool or the prompt, or the name of the gateway's own tool. Absent for resources, and where a client called
   * what is not there.
   */
  readonly name?: string;
}

/** A client has asked. */
export interface GatewayCallStarted extends GatewayCallRef {
  readonly hook: "gateway_call_started";
  /** When the request came, in milliseconds since 1970. */
  readonly at_ms: number;
  /** What the client's `_meta` says of its trace, of the keys that `meta_allow` lets pass. */
  readonly trace: TraceContext;
}

/** A call is over. */
export interface GatewayCallCompleted extends GatewayCallRef {
  readonly hook: "gateway_call_completed";
  /** From the request of the client to its answer; what users took to answer questions is in it. */
  readonly duration_ms: number;
  /**
   * Absent where all went well. A code of the gateway such as `ARGS_INVALID`, `POLICY_DENIED` or `UPSTREAM_TIMEOUT`; `tool_error` where
   * the tool says that it failed; `cancelled`; else the code of the error of JSON-RPC.
   */
  readonly error_type?: string;
  /** How often servers were asked. */
  readonly attempts: number;
  /** The revision that the server spoke, where one was asked. */
  readonly upstream_protocol_version?: string;
  /** Whether it was answered from what was kept. */
  readonly cache_hit: boolean;
  /** Whether the client got something else than the server's result: a digest, or a text with masked secrets. */
  readonly is_digested: boolean;
  /** Tokens of the result as it came, and of what the client got of it. Of tools alone. */
  readonly tokens?: number;
  readonly shown_tokens?: number;
}

/** Of which request to a server an event is. */
export interface UpstreamRequestRef {
  /** The call of the client that it is for. */
  readonly call: number;
  /** The how manieth request of this call, from 1. */
  readonly attempt: number;
  readonly method: GatewayCallMethod;
  readonly server: string;
  /** What the server calls the tool or the prompt. */
  readonly name?: string;
  /** The revision of the protocol that the server speaks; absent where it could not be reached. */
  readonly protocol_version?: string;
}

/** A server is about to be asked. */
export interface UpstreamRequestStarted extends UpstreamRequestRef {
  readonly hook: "upstream_request_started";
}

/** A server has answered, or has not. */
export interface UpstreamRequestCompleted extends UpstreamRequestRef {
  readonly hook: "upstream_request_completed";
  readonly duration_ms: number;
  /**
   * Absent where all went well. The code of the error of JSON-RPC, the status of HTTP, `tool_error` where the tool says that it failed,
   * else how it failed: `timeout`, `unavailable`, `cancelled`, `malformed` or `other`.
   */
  readonly error_type?: string;
}

/** What a hook of a gateway is told. */
export type GatewayHookEvent =
  | GatewayCallStarted
  | GatewayCallCompleted
  | UpstreamRequestStarted
  | UpstreamRequestCompleted;
