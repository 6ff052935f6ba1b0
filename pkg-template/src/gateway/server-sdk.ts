// What the gateway uses of the official SDK of MCP, `@modelcontextprotocol/server` 2.x, by shape: the package compiles against
// these without its declarations, and imports it only when a gateway runs.
import type { SdkTransport } from "./sdk.js";

/** A JSON object as it comes over the wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request of JSON-RPC, without what the SDK adds. */
export interface McpRequest {
  readonly method: string;
  readonly params?: Fields;
}

/** What a handler of a request is given beside the request. */
export interface RequestContext {
  readonly sessionId?: string;
  readonly mcpReq: {
    readonly id: string | number;
    readonly method: string;
    readonly _meta?: Fields;
    /** Reserved keys of `_meta` that each request of revision 2026-07-28 carries. */
    readonly envelope?: Fields;
    /** What the client answered to the questions of an `input_required` result. */
    readonly inputResponses?: Readonly<Record<string, unknown>>;
    readonly requestState: <T>() => T | undefined;
    readonly signal: AbortSignal;
    readonly send: (request: McpRequest, options?: Fields) => Promise<Fields>;
    readonly notify: (notification: McpRequest) => Promise<void>;
    readonly log: (level: unknown, data: unknown, logger?: unknown) => Promise<void>;
  };
  readonly http?: { readonly authInfo?: unknown; readonly req?: Request };
}

/** A handler of requests. */
export type RequestHandler = (request: McpRequest, context: RequestContext) => Promise<Fields>;

/** `Server` of the SDK. */
export interface SdkServer {
  setRequestHandler(method: string, handler: RequestHandler): void;
  /** For methods that the SDK does not know. */
  setRequestHandler(
    method: string,
    schemas: { readonly params: object },
    handler: (params: Fields, context: RequestContext) => Promise<Fields>,
  ): void;
  setNotificationHandler(method: string, handler: (notification: McpRequest) => void | Promise<void>): void;
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  notification(notification: McpRequest): Promise<void>;
  request(request: McpRequest, options?: Fields): Promise<Fields>;
  getClientCapabilities(): Fields | undefined;
  getClientVersion(): Fields | undefined;
  getNegotiatedProtocolVersion(): string | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  oninitialized?: (() => void) | undefined;
}

/** `McpServer` of the SDK: the server with the tools that it knows by itself. */
export interface SdkMcpServer {
  readonly server: SdkServer;
  registerTool(name: string, config: Fields, handler: () => Promise<Fields>): unknown;
}

/** How a server is made for a request or a connection. */
export interface FactoryContext {
  readonly era: "legacy" | "modern";
  readonly authInfo?: unknown;
  readonly requestInfo?: Request;
}

/** A transport of the SDK for Streamable HTTP up to revision 2025-11-25. */
export interface SdkHttpServerTransport {
  readonly sessionId?: string | undefined;
  handleRequest(
    request: Request,
    options?: { readonly parsedBody?: unknown; readonly authInfo?: unknown },
  ): Promise<Response>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** Serves revision 2026-07-28, a server for each request. */
export interface SdkHttpHandler {
  fetch(request: Request, options?: { readonly parsedBody?: unknown; readonly authInfo?: unknown }): Promise<Response>;
  close(): Promise<void>;
  readonly bus: { publish(event: Fields): void };
}

/** Signs what a client sends back. */
export interface SdkStateCodec<T> {
  mint(payload: T, context: RequestContext): Promise<string>;
  verify(state: string, context: RequestContext): Promise<T>;
}

/** The module `@modelcontextprotocol/server`. */
export interface ServerSdk {
  readonly Server: new (info: Fields, options: Fields) => SdkServer;
  readonly McpServer: new (info: Fields, options: Fields) => SdkMcpServer;
  readonly fromJsonSchema: (schema: Fields) => unknown;
  readonly ProtocolError: new (code: number, message: string, data?: unknown) => Error;
  readonly WebStandardStreamableHTTPServerTransport: new (options: Fields) => SdkHttpServerTransport;
  readonly createMcpHandler: (
    factory: (context: FactoryContext) => SdkServer | SdkMcpServer,
    options: Fields,
  ) => SdkHttpHandler;
  readonly createRequestStateCodec: <T>(options: Fields) => SdkStateCodec<T>;
  readonly isLegacyRequest: (request: Request, parsedBody?: unknown, options?: Fields) => Promise<boolean>;
}

/** The module `@modelcontextprotocol/server/stdio`. */
export interface ServerStdioSdk {
  readonly serveStdio: (
    factory: (context: FactoryContext) => SdkServer | SdkMcpServer,
    options?: Fields,
  ) => { close(): Promise<void> };
  readonly StdioServerTransport: new (input?: unknown, output?: unknown, options?: Fields) => SdkTransport;
}
