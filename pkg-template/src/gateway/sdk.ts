// What the gateway uses of `@modelcontextprotocol/client` 2.x, by shape: the package depends on no SDK, and whoever compiles against
// it need not have one. The modules themselves are given by whoever starts the gateway.
import type { JsonObject, JsonValue } from "../types.js";

/** A message of JSON-RPC. */
export interface RpcMessage {
  readonly jsonrpc?: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonValue };
}

/** What is said of a message that is sent. */
export interface SendOptions {
  readonly requestSignal?: AbortSignal | undefined;
  readonly onRequestStreamEnd?: (() => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A transport of the SDK. */
export interface SdkTransport {
  start(): Promise<void>;
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: RpcMessage, extra?: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  readonly sessionId?: string | undefined;
  readonly hasPerRequestStream?: boolean;
  setProtocolVersion?(version: string): void;
}

/** The transport over HTTP, which ends the session of the server. */
export interface SdkHttpTransport extends SdkTransport {
  terminateSession?(): Promise<void>;
}

/** The transport to a program that was started. */
export interface SdkStdioTransport extends SdkTransport {
  readonly pid: number | null;
  readonly stderr: unknown;
}

/** Progress of a request. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How a request is made. */
export interface SdkRequestOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly maxTotalTimeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: Progress) => void;
  readonly allowInputRequired?: boolean;
}

/** A subscription to changes, of 2026-07-28. */
export interface SdkSubscription {
  readonly honoredFilter: object;
  close(): Promise<void>;
  readonly closed: Promise<"local" | "graceful" | "remote">;
}

/** What is known of a server's era, to connect again without asking. */
export type PriorDiscovery = { readonly kind: "legacy" };

/** A client of the SDK, low level. */
export interface SdkClient {
  connect(
    transport: never,
    options?: { readonly timeout?: number; readonly signal?: AbortSignal; readonly prior?: PriorDiscovery },
  ): Promise<void>;
  close(): Promise<void>;
  request(
    request: { method: string; params?: Record<string, unknown> },
    schema: never,
    options?: never,
  ): Promise<unknown>;
  callTool(params: never, options?: never): Promise<unknown>;
  notification(notification: { method: string; params?: Record<string, unknown> }): Promise<void>;
  listen(
    filter: object,
    options?: { readonly timeout?: number; readonly signal?: AbortSignal },
  ): Promise<SdkSubscription>;
  ping(options?: { readonly timeout?: number; readonly signal?: AbortSignal }): Promise<unknown>;
  getServerCapabilities(): object | undefined;
  getServerVersion(): object | undefined;
  getNegotiatedProtocolVersion(): string | undefined;
  getProtocolEra(): "modern" | "legacy" | undefined;
  getInstructions(): string | undefined;
  fallbackRequestHandler?: ((request: never, context: never) => Promise<never>) | undefined;
  fallbackNotificationHandler?: ((notification: never) => Promise<void>) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** The module `@modelcontextprotocol/client`, as far as it is given: what its classes make is known by the shapes above. */
export interface ClientModule {
  readonly ReadBuffer?: new (options: never) => object;
  readonly Client: new (info: { name: string; version: string }, options: never) => object;
  readonly StreamableHTTPClientTransport: new (url: URL, options: never) => object;
  readonly SSEClientTransport: new (url: URL, options: never) => object;
  readonly ClientCredentialsProvider: new (options: never) => object;
  readonly PrivateKeyJwtProvider: new (options: never) => object;
}

/** The module `@modelcontextprotocol/client/stdio`. */
export interface StdioModule {
  readonly StdioClientTransport: new (server: never) => object;
}

/** The modules of the SDK that connect to upstream servers. */
export interface UpstreamSdk {
  readonly client: ClientModule;
  /** Imports the module for programs, when the first is started. Not there where no program can be, as in a Worker. */
  readonly stdio?: () => Promise<StdioModule>;
}
