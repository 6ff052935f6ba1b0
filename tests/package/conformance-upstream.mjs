// A server that passes the official conformance suite, over Streamable HTTP on the loopback interface: sessions with
// resumable streams for the revisions up to 2025-11-25, one server a request for 2026-07-28. `node conformance-upstream.mjs
// [both|legacy|modern]` prints its URL and runs until it is told to end.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import {
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { featureServer } from "./conformance-features.mjs";
import { refusedCall } from "./conformance-tasks.mjs";

/** Keeps what a session sent, so that a client that lost its stream gets the rest of it. */
function eventStore() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return `${stream}/${events.length}`;
    },
    async getStreamIdForEventId(id) {
      return id.slice(0, id.lastIndexOf("/"));
    },
    async replayEventsAfter(id, { send }) {
      const stream = id.slice(0, id.lastIndexOf("/"));
      const from = Number(id.slice(id.lastIndexOf("/") + 1));
      for (const [at, event] of events.entries()) {
        // What opens a stream is stored as an empty message; it is not sent again.
        if (at >= from && event.stream === stream && event.message.jsonrpc) await send(`${stream}/${at + 1}`, event.message);
      }
      return stream;
    },
  };
}

const failure = (status, code, message) =>
  new Response(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }), { status, headers: { "content-type": "application/json" } });

/**
 * Makes the server as a function from requests to responses. `close` ends its sessions.
 * `era`: `legacy` knows the revisions with sessions alone, `modern` those without, `both` all.
 */
export function conformanceHandler({ era = "both" } = {}) {
  const sessions = new Map();
  const present = new Set();
  const shared = {
    has: (list) => present.has(list),
    toggle(list) {
      if (!present.delete(list)) present.add(list);
      if (list === "tools") modern.notify.toolsChanged();
      else modern.notify.promptsChanged();
      for (const { dynamic } of sessions.values()) dynamic[list][present.has(list) ? "enable" : "disable"]();
    },
  };
  const modern = createMcpHandler(() => featureServer(shared, { has_tasks: true }).mcp, { legacy: "reject" });

  async function openSession() {
    const { mcp, dynamic } = featureServer(shared);
    const subscribed = new Set();
    mcp.server.setRequestHandler("resources/subscribe", ({ params }) => (subscribed.add(params.uri), {}));
    mcp.server.setRequestHandler("resources/unsubscribe", ({ params }) => (subscribed.delete(params.uri), {}));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore: eventStore(),
      retryInterval: 50,
      onsessioninitialized: (id) => void sessions.set(id, { mcp, dynamic, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await mcp.connect(transport);
    return transport;
  }

  async function legacy(request) {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) return sessions.get(id)?.transport.handleRequest(request) ?? failure(404, -32001, "Session not found");
    const body = await request
      .clone()
      .json()
      .catch(() => undefined);
    if (!isInitializeRequest(body)) return failure(400, -32000, "Bad Request: a session begins with initialize");
    return (await openSession()).handleRequest(request);
  }

  return {
    async fetch(request) {
      if (new URL(request.url).pathname !== "/mcp") return failure(404, -32000, "Not found");
      const refused = hostHeaderValidationResponse(request, localhostAllowedHostnames()) ?? originValidationResponse(request, localhostAllowedOrigins());
      if (refused) return refused;
      if (era === "legacy" || (era === "both" && (await isLegacyRequest(request)))) return legacy(request);
      return (
        refusedCall(
          await request
            .clone()
            .json()
            .catch(() => undefined),
        ) ?? modern.fetch(request)
      );
    },
    async close() {
      await modern.close();
      await Promise.all([...sessions.values()].map(({ mcp }) => mcp.close()));
    },
  };
}

/** Serves `handler.fetch` on a free port of the loopback interface. */
export async function listen(handler) {
  const server = createServer(async (incoming, outgoing) => {
    const ended = new AbortController();
    outgoing.on("close", () => ended.abort());
    try {
      const headers = Object.entries(incoming.headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
      const hasBody = incoming.method === "POST";
      const request = new Request(`http://127.0.0.1${incoming.url}`, {
        method: incoming.method,
        headers,
        signal: ended.signal,
        ...(hasBody ? { body: Readable.toWeb(incoming), duplex: "half" } : {}),
      });
      const response = await handler.fetch(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.flushHeaders();
      if (response.body) for await (const chunk of response.body) outgoing.write(chunk);
      outgoing.end();
    } catch (error) {
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
      if (!ended.signal.aborted) console.error(error);
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const served = await listen(conformanceHandler({ era: process.argv[2] }));
  console.log(served.url);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void served.close());
}
