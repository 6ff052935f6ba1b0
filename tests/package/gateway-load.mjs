// Small servers of MCP on the SDK, in either era, over standard input and output or many at once over HTTP, and clients for them: what
// the gateway is measured and loaded with.
//
//   node gateway-load.mjs stdio <legacy|modern> [name]
//   node gateway-load.mjs http <legacy|modern> <count>     prints a line with the addresses
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { listening, webHandler } from "./gateway-servers.mjs";

const { Client, StreamableHTTPClientTransport } = client;
const { Server, WebStandardStreamableHTTPServerTransport, createMcpHandler } = server;
/** The modules of the SDK, for a gateway whose package is in another folder. */
export const SDK = { server, client, client_stdio };
export const SELF = fileURLToPath(import.meta.url);
const inputSchema = { type: "object", properties: { text: { type: "string" }, bytes: { type: "integer" }, ms: { type: "integer" } } };

/**
 * Tools of a server: `<name>_echo` returns its text, or as many bytes as asked for; `<name>_wait` takes its time, or hears that it need
 * not; `<name>_pid` tells the process.
 */
export const toolsOf = (name) => ["echo", "wait", "pid"].map((tool) => ({ name: `${name}_${tool}`, description: `The tool ${tool} of ${name}`, inputSchema }));

/** Rows of JSON of about so many bytes. */
export function rows(bytes) {
  const list = [];
  for (let size = 2; size < bytes; size += 68)
    list.push({ id: list.length, city: "Lisbon", state: list.length % 7 === 0 ? "late" : "sent", weight: (list.length * 37) % 991 });
  return JSON.stringify(list);
}

/** What a server of this name has; `seen` counts what was called and cancelled. */
export function loadServer(name, seen = { calls: 0, cancelled: 0 }, tools = () => toolsOf(name)) {
  const server = new Server({ name, version: "1.0.0" }, { capabilities: { tools: { listChanged: true } }, instructions: `I am ${name}.` });
  server.setRequestHandler("tools/list", () => ({ tools: tools() }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    seen.calls += 1;
    const { text = "", bytes, ms = 0 } = params.arguments ?? {};
    if (params.name.endsWith("_wait")) {
      await new Promise((done) => {
        const timer = setTimeout(done, ms);
        mcpReq.signal.addEventListener("abort", () => {
          clearTimeout(timer);
          seen.cancelled += 1;
          done();
        });
      });
    }
    if (params.name.endsWith("_pid")) return { content: [{ type: "text", text: String(process.pid) }] };
    return { content: [{ type: "text", text: bytes === undefined ? `${name}:${text}` : rows(bytes) }] };
  });
  return server;
}

/**
 * A server over Streamable HTTP, with sessions in the legacy era. `seen.sessions` counts those that are open. `before` is given requests
 * of Node first, and returns `true` for those that it deals with.
 */
export async function loadHttp(name, era, options = {}) {
  const seen = Object.assign(options.seen ?? {}, { calls: 0, cancelled: 0, sessions: 0, requests: 0 });
  const make = () => loadServer(name, seen, options.tools);
  const modern = era === "modern" ? createMcpHandler(make, { legacy: "reject" }) : undefined;
  const sessions = new Map();
  const legacy = async (request) => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : sessions.get(id);
    if (id !== null && known === undefined)
      return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } }, { status: 404 });
    if (known) return known.transport.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (made) => {
        seen.sessions += 1;
        sessions.set(made, { transport, server });
      },
    });
    const server = make();
    server.onclose = () => {
      if (sessions.delete(transport.sessionId)) seen.sessions -= 1;
    };
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  const handler = webHandler((request) => {
    seen.requests += 1;
    return modern ? modern.fetch(request) : legacy(request);
  });
  const http = await listening((incoming, outgoing) => {
    if (options.before?.(incoming, outgoing) !== true) void handler(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    ...http,
    url: `${http.origin}/mcp`,
    seen,
    changed: () =>
      modern
        ? modern.notify.toolsChanged()
        : Promise.all([...sessions.values()].map(({ server }) => server.notification({ method: "notifications/tools/list_changed" }))),
    close: async () => {
      await modern?.close();
      await http.close();
    },
  };
}

/** A client of an era, connected. `transport` is one of the SDK, an address, or a `fetch` handler. */
export async function connected(transport, era, headers = {}) {
  const client = new Client({ name: "load", version: "1.0.0" }, era === "modern" ? { versionNegotiation: { mode: "auto" } } : {});
  const handled = typeof transport === "function" ? { fetch: (input, init) => transport(new Request(input, init)) } : {};
  const address = typeof transport === "string" ? transport : typeof transport === "function" ? "http://localhost/mcp" : undefined;
  await client.connect(address === undefined ? transport : new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers }, ...handled }));
  if (client.getProtocolEra() !== era) throw new Error(`the era is ${client.getProtocolEra()}, not ${era}`);
  return client;
}

/** The text of what a tool answers. */
export async function called(client, name, args = {}, options = {}) {
  const { content } = await client.callTool({ name, arguments: args }, options);
  return content.map(({ text }) => text).join("\n");
}

if (process.argv[1] === SELF) {
  const [, , kind, era, more] = process.argv;
  if (kind === "stdio") {
    const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
    serveStdio(() => loadServer(more ?? "s0"), era === "modern" ? { legacy: "reject" } : {});
  } else {
    const servers = await Promise.all(Array.from({ length: Number(more ?? 1) }, (_, at) => loadHttp(`s${at}`, era)));
    process.stdout.write(`${JSON.stringify(servers.map(({ url }) => url))}\n`);
    process.on("SIGTERM", () => process.exit(0));
    // Whoever started it has gone.
    process.stdin.on("end", () => process.exit(0)).resume();
  }
}
