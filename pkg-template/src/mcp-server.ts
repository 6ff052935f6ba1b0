// `contextweaver/mcp`: a gateway before any servers of the Model Context Protocol, clients whose results are digested, and a decision
// store as a server. What is spoken is the engine's; the official SDK brings the transports.
import { engine as agentEngine } from "#agent";
import { engine as gatewayEngine } from "#gateway";
import type { DecisionStore } from "./decisions/decision-store.js";
import { context, convert, gateway as gatewayOperations } from "./boundary/engines.js";
import { ContextWeaverError } from "./boundary/errors.js";
import { withNumbers } from "./boundary/exact-numbers.js";
import { encode, fields, text } from "./boundary/guard.js";
import { refuseUnknown } from "./boundary/guard-errors.js";
import { Access } from "./mcp/mcp-access.js";
import type { AccessOptions, AccessRequest } from "./mcp/mcp-access.js";
import { BodyError, readBody } from "./mcp/http-body.js";
import type { BodyRequest } from "./mcp/http-body.js";
import { gateway as gatewayWithoutModules } from "./gateway/api.js";

export * from "./gateway/api.js";
export { firewalled } from "./mcp/mcp-client.js";
export type { FirewalledOptions, McpClient } from "./mcp/mcp-client.js";
export type { ResultSizeOptions } from "./mcp/result-size.js";
export type { AccessOptions };

function ofGateway<T>(value: T): T {
  context.provide(agentEngine, true);
  convert.provide(agentEngine, true);
  gatewayOperations.provide(gatewayEngine);
  return value;
}

// The declarations show the original. Bundlers leave the modules out where nobody needs it.
/** @internal */
export const gateway = /* @__PURE__ */ ofGateway(gatewayWithoutModules);

/** A transport of the official SDK, of either major version: messages as objects. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** How a connection is served. */
export interface ConnectOptions {
  /** The agent, if every call of the connection is of one. */
  readonly agent_id?: string;
  /** What thoughts of calls without an agent are collected by. Default: one for each connection. */
  readonly trace_id?: string;
}

/** A connection that is served. */
export interface Connection {
  /** Settles when the connection ends. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** What goes over a transport. */
interface Wire {
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
}

let connections = 0;

/**
 * Serves a store over a transport of `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/server` 2.x, in every
 * revision of the protocol. The store stays the caller's, who may use it meanwhile and frees it.
 */
export async function connectDecisions(
  store: DecisionStore,
  transport: McpTransport,
  options?: ConnectOptions,
): Promise<Connection> {
  connections += 1;
  const caller = { trace_id: `connection-${connections}`, ...fields(options) };
  encode(caller);
  const wire = transport as unknown as Wire;
  const closed = new Promise<void>((done) => (wire.onclose = done));
  wire.onmessage = (message) => void reply(store, wire, message, caller);
  await wire.start();
  return { closed, close: () => wire.close() };
}

async function reply(store: DecisionStore, wire: Wire, message: unknown, caller: ConnectOptions): Promise<void> {
  try {
    const response = await answered(store, message, caller);
    if (response !== null) await wire.send(response);
  } catch (error) {
    wire.onerror?.(error as Error);
  }
}

/**
 * Answers a message as it came over a wire. What the engine throws, such as a store that was freed, is the server's failure, not the
 * client's.
 */
async function answered(store: DecisionStore, message: unknown, caller: ConnectOptions): Promise<object | null> {
  try {
    return await store.handleRpc(typeof message === "string" ? withNumbers(message) : mended(message), caller);
  } catch (error) {
    const id = idIn(message);
    if (id === undefined) throw error;
    const text = ContextWeaverError.is(error) ? `${error.code}: ${error.message}` : "internal error";
    return { jsonrpc: "2.0", id, error: { code: -32603, message: text } };
  }
}

/** A message without halves of surrogate pairs, which its sender left where it cut a text. */
function mended(message: unknown): unknown {
  const json = JSON.stringify(message);
  const whole = withNumbers(json);
  return whole === json ? message : (JSON.parse(whole) as unknown);
}

/** The id of a message, or of its text. */
function idIn(message: unknown): unknown {
  try {
    const { id } = Object(typeof message === "string" ? JSON.parse(message) : message) as { readonly id?: unknown };
    return id;
  } catch {
    return undefined;
  }
}

/** Where the transport for standard input and output is, in the two major versions. */
const STDIO = ["@modelcontextprotocol/server/stdio", "@modelcontextprotocol/sdk/server/stdio.js"];

/** Serves a store on standard input and output, with whichever SDK is installed, until the input ends. */
export async function serveDecisionsStdio(store: DecisionStore, options?: ConnectOptions): Promise<Connection> {
  const Transport = await stdioTransport();
  const connection = await connectDecisions(store, new Transport(), { trace_id: "stdio", ...options });
  // Transports of the first major version stay open when the client has gone.
  const { process } = globalThis as { process?: { stdin?: { once(event: string, then: () => void): void } } };
  process?.stdin?.once("end", () => void connection.close());
  return connection;
}

async function stdioTransport(): Promise<new () => McpTransport> {
  for (const place of STDIO) {
    try {
      const { StdioServerTransport } = (await import(place)) as { StdioServerTransport?: new () => McpTransport };
      if (StdioServerTransport) return StdioServerTransport;
    } catch {
      // not installed, or without it
    }
  }
  throw new ContextWeaverError("UNSUPPORTED", "no SDK of MCP is installed", {
    hint: "npm i @modelcontextprotocol/server, or run: contextweaver decisions serve",
  });
}

// Types of the platform by shape, so that projects without its declarations can compile against these.
interface WebRequest extends AccessRequest, BodyRequest {}
type WebResponse = typeof globalThis extends { Response: { prototype: infer R } } ? R : unknown;

/** How requests are answered. */
export interface HandlerOptions extends ConnectOptions, AccessOptions {
  /** Most characters of a request, 1 to 8 Mi. Default: 4 Mi. */
  readonly max_chars?: number;
}

const HANDLER = ["token", "origins", "max_chars", "agent_id", "trace_id"];
const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** Characters of a request unless the options say otherwise. */
const MAX_CHARS = 4 * 1024 * 1024;
/** What the store takes as one text. */
const MOST_CHARS = 8 * 1024 * 1024;
/** Statuses of errors of the protocol that are told in HTTP, too. */
const STATUS: Readonly<Record<number, number>> = { [-32700]: 400, [-32600]: 400, [-32022]: 400, [-32020]: 400 };

/**
 * Returns a `fetch` handler that serves a store over Streamable HTTP without sessions: for Workers, Deno, Bun, and Node
 * behind an adapter. Calls that name no agent and no `trace_id` share one train of thought. Options that are not as described are
 * `MISSING_FIELD`, `UNKNOWN_FIELD`, `INVALID_INPUT` or `OUT_OF_RANGE` at once.
 *
 * Statuses: 403 for a page that may not ask, 401 without the token, 405 for other methods than POST, 415 for what is not JSON,
 * 413 for what is too long, 400 for what is no message of the protocol; else 200, or 202 where there is nothing to answer.
 */
export function decisionsHandler(
  store: DecisionStore,
  options: HandlerOptions,
): (request: WebRequest) => Promise<WebResponse> {
  const { access, max_chars, caller } = checkedOptions(options);
  return async (request) => {
    const cors = access.cors(request);
    const refused = cors ? access.preflight(request) : new Response(null, { status: 403 });
    const answer = refused ?? (await respond(store, access, request, max_chars, caller));
    for (const [name, value] of Object.entries({ ...cors, vary: "Origin" })) answer.headers.set(name, value);
    return answer as WebResponse;
  };
}

function checkedOptions(options: unknown): { access: Access; max_chars: number; caller: ConnectOptions } {
  const { token, origins, max_chars = MAX_CHARS, agent_id, trace_id, ...others } = fields(options);
  refuseUnknown(others, HANDLER);
  if (typeof max_chars !== "number")
    throw new ContextWeaverError("INVALID_INPUT", "expected a number", { path: "/max_chars" });
  if (!Number.isInteger(max_chars) || max_chars < 1 || max_chars > MOST_CHARS) {
    throw new ContextWeaverError("OUT_OF_RANGE", "expected a whole number of characters", {
      path: "/max_chars",
      hint: `from 1 to ${MOST_CHARS}`,
    });
  }
  const caller = {
    ...(agent_id !== undefined && { agent_id: text(agent_id, "/agent_id") }),
    ...(trace_id !== undefined && { trace_id: text(trace_id, "/trace_id") }),
  };
  return { access: new Access(token, origins), max_chars, caller };
}

/** Answers a request that may be answered as far as its origin goes. */
async function respond(
  store: DecisionStore,
  access: Access,
  request: WebRequest,
  max_chars: number,
  caller: ConnectOptions,
): Promise<Response> {
  const { method, headers } = request;
  if (method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  if (!access.isAuthorized(request))
    return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return new Response(null, { status: 415 });
  let body: string;
  try {
    // A character is at most four bytes.
    body = await readBody(request, max_chars * 4);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (error.reason === "too_large") return tooLarge();
    return response(400, failure(null, -32700, "the request is no JSON in UTF-8"));
  }
  if (body.length > max_chars) return tooLarge();
  const wrong = wrongHeaders(request, body);
  if (wrong) return response(400, wrong);
  const answer = (await answered(store, body, caller)) as { error?: { code: number } } | null;
  return answer === null
    ? new Response(null, { status: 202 })
    : response(STATUS[answer.error?.code ?? 0] ?? 200, answer);
}

/** Says where headers and message disagree: proxies go by the headers. */
function wrongHeaders({ headers }: WebRequest, body: string): object | undefined {
  const version = headers.get("mcp-protocol-version");
  let message: { id?: unknown; method?: unknown; params?: { name?: unknown; _meta?: Record<string, unknown> } };
  try {
    message = JSON.parse(body) as typeof message;
  } catch {
    return undefined; // the engine says so
  }
  const id = message?.id ?? null;
  const claimed = message?.params?._meta?.[VERSION_KEY];
  if (claimed === undefined) {
    if (version === null || VERSIONS.includes(version)) return undefined;
    return failure(id, -32600, "unsupported MCP-Protocol-Version");
  }
  // Notifications are let through, as nothing is done for them.
  if (message.id === undefined) return undefined;
  const named = message.method === "tools/call" ? message.params?.name : undefined;
  for (const [header, wanted] of [
    ["mcp-protocol-version", claimed],
    ["mcp-method", message.method],
    ["mcp-name", named],
  ] as const) {
    if (wanted !== undefined && headers.get(header) !== wanted)
      return failure(id, -32020, `the header ${header} and the message disagree`);
  }
  return undefined;
}

function tooLarge(): Response {
  return response(413, failure(null, -32600, "the request is too large"));
}

function failure(id: unknown, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function response(status: number, body: object): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}
