// Servers of MCP on this machine that are in order, of every era and over every transport.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

/** Listens on a free port of this machine. `answer` is a handler of Node. */
export async function listening(answer) {
  const server = createServer(answer);
  // Whoever closes what is idle may close it while the next request is on its way: on a busy machine after 5 s, as Node does, too.
  server.keepAliveTimeout = 75_000;
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      }),
  };
}

/** A handler of Node for one of the Web. */
export function webHandler(fetch) {
  return async (incoming, outgoing) => {
    const body = [];
    for await (const chunk of incoming) body.push(chunk);
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const { method, url, headers } = incoming;
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers,
      signal: gone.signal,
      ...(body.length > 0 && { body: Buffer.concat(body) }),
    });
    let response;
    try {
      response = await fetch(request);
    } catch (error) {
      // A client that comes back does not know that the gateway is closed.
      if (error.code !== "DISPOSED") throw error;
      response = new Response(null, { status: 503 });
    }
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    try {
      for await (const chunk of response.body ?? []) outgoing.write(chunk);
    } catch {
      // the client has gone
    }
    outgoing.end();
  };
}

async function firstSdk() {
  const [{ Server }, { StreamableHTTPServerTransport }, { SSEServerTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/server/sse.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  return { Server, StreamableHTTPServerTransport, SSEServerTransport, types };
}

/** A server of SDK 1.x whose tool says who asks: the headers of the request, and which server answers. */
function whoServer({ Server, types }, id, tools) {
  const server = new Server({ name: "who", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } }, instructions: "ask who" });
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: tools() }));
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }, { requestInfo }) => ({
    content: [{ type: "text", text: JSON.stringify({ server: id, headers: requestInfo?.headers, arguments: params.arguments }) }],
  }));
  return server;
}

const inputSchema = { type: "object" };

/** A server of SDK 1.x over Streamable HTTP, with sessions. */
export async function streamableServer({ tools = () => [{ name: "who", inputSchema }], before } = {}) {
  const sdk = await firstSdk();
  const sessions = new Map();
  const seen = { requests: [], ended: 0 };
  const http = await listening(async (request, response) => {
    seen.requests.push(request.method);
    if (before?.(request, response)) return;
    const id = request.headers["mcp-session-id"];
    let session = sessions.get(id);
    if (id !== undefined && session === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } }));
    }
    if (session === undefined) {
      const name = randomUUID();
      const transport = new sdk.StreamableHTTPServerTransport({ sessionIdGenerator: () => name, onsessioninitialized: () => void sessions.set(name, session) });
      const server = whoServer(sdk, name, tools);
      session = { transport, server };
      transport.onclose = () => {
        seen.ended += 1;
        sessions.delete(name);
      };
      await server.connect(transport);
    }
    await session.transport.handleRequest(request, response);
  });
  return { ...http, url: `${http.origin}/mcp`, sessions, seen };
}

/** A server of SDK 1.x over HTTP+SSE, which refuses everything else. */
export async function sseServer() {
  const sdk = await firstSdk();
  const sessions = new Map();
  let count = 0;
  const http = await listening(async (request, response) => {
    const url = new URL(request.url, "http://x");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new sdk.SSEServerTransport("/messages", response);
      const server = whoServer(sdk, `sse ${(count += 1)}`, () => [{ name: "who", inputSchema }]);
      sessions.set(transport.sessionId, { transport, server, response });
      response.on("close", () => sessions.delete(transport.sessionId));
      return server.connect(transport);
    }
    const session = sessions.get(url.searchParams.get("sessionId"));
    if (request.method === "POST" && url.pathname === "/messages" && session) return session.transport.handlePostMessage(request, response);
    response.writeHead(url.pathname === "/sse" ? 405 : 404).end();
  });
  return { ...http, url: `${http.origin}/sse`, sessions };
}

/** An error of the protocol, thrown by what answers in {@link plainServer}. */
export const refusal = (code, message = "Resource not found") => Object.assign(new Error(message), { code });

/**
 * A server of the earlier revisions over Streamable HTTP, by plain messages: `answer` returns results by `method`, `params` and `session`,
 * or throws a {@link refusal}. What it was asked is in `heard`; `tell` notifies its sessions, `forget` ends them as a restart does, and
 * says so to later requests by a `status`.
 */
export async function plainServer(capabilities, answer) {
  const sessions = new Map();
  const heard = [];
  let begun = 0;
  let gone = 404;
  const http = await listening(async (incoming, outgoing) => {
    const id = incoming.headers["mcp-session-id"];
    if (incoming.method === "GET") {
      outgoing.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
      return void sessions.get(id)?.add(outgoing);
    }
    if (incoming.method === "DELETE") return outgoing.writeHead(sessions.delete(id) ? 200 : 404).end();
    let text = "";
    for await (const chunk of incoming) text += chunk;
    const message = JSON.parse(text);
    const say = (status, body, headers = {}) =>
      outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id ?? null, ...body }));
    if (message.method === "server/discover") return say(200, { error: { code: -32_601, message: "no such method" } });
    if (message.method === "initialize") {
      const session = `session-${(begun += 1)}`;
      sessions.set(session, new Set());
      const serverInfo = { name: "plain", version: "1" };
      return say(200, { result: { protocolVersion: message.params.protocolVersion, capabilities, serverInfo } }, { "mcp-session-id": session });
    }
    if (!sessions.has(id)) return say(gone, { error: { code: -32_000, message: "no such session" } });
    heard.push({ session: id, method: message.method, params: message.params });
    if (message.id === undefined) return outgoing.writeHead(202).end();
    if (message.method === "ping") return say(200, { result: {} });
    try {
      say(200, { result: await answer(message.method, message.params ?? {}, id) });
    } catch ({ code, message: said }) {
      say(200, { error: { code, message: said } });
    }
  });
  return {
    ...http,
    url: `${http.origin}/mcp`,
    sessions,
    heard,
    of: (method) => heard.filter((one) => one.method === method),
    tell: (method, params) => {
      for (const streams of sessions.values()) for (const stream of streams) stream.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
    },
    forget: (status) => {
      gone = status;
      for (const streams of sessions.values()) for (const stream of streams) stream.end();
      sessions.clear();
    },
  };
}

/** A server of SDK 2.x that speaks 2026-07-28 only, over Streamable HTTP. */
export async function modernServer() {
  const { Server, createMcpHandler } = await import("@modelcontextprotocol/server");
  const tools = [
    {
      name: "region",
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
      outputSchema: { type: "object", properties: { region: { type: "string" } }, required: ["region"] },
    },
    // A client must not offer these.
    { name: "nested", inputSchema: { type: "object", properties: { list: { type: "array", items: { type: "string", "x-mcp-header": "A" } } } } },
    { name: "number", inputSchema: { type: "object", properties: { x: { type: "number", "x-mcp-header": "A" } } } },
    { name: "twice", inputSchema: { type: "object", properties: { x: { type: "string", "x-mcp-header": "A" }, y: { type: "string", "x-mcp-header": "a" } } } },
    { name: "confirm", inputSchema },
    { name: "slow", inputSchema },
  ];
  const seen = { headers: [], lists: 0, cancelled: 0, refused: 0 };
  let wanted;
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: "modern", version: "2.0.0" }, { capabilities: { tools: { listChanged: true } }, instructions: "be modern" });
      server.setRequestHandler("tools/list", () => ((seen.lists += 1), { tools: [...tools] }));
      server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
        const { name, arguments: args = {} } = params;
        if (name === "confirm" && mcpReq.inputResponses === undefined) {
          return {
            resultType: "input_required",
            inputRequests: {
              sure: { method: "elicitation/create", params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } } },
            },
            requestState: "state-1",
          };
        }
        if (name === "slow") {
          await new Promise((done) => {
            mcpReq.signal.addEventListener("abort", () => ((seen.cancelled += 1), done()));
            setTimeout(done, 20_000).unref();
          });
        }
        return { content: [{ type: "text", text: JSON.stringify(mcpReq.inputResponses ?? args) }], structuredContent: { region: args.region ?? "" } };
      });
      return server;
    },
    { legacy: "reject" },
  );
  const http = await listening(
    webHandler(async (request) => {
      seen.headers.push(Object.fromEntries(request.headers));
      if (
        wanted &&
        request.headers.get("mcp-method") === "tools/call" &&
        request.headers.get("mcp-name") === "region" &&
        !request.headers.has(`mcp-param-${wanted}`)
      ) {
        seen.refused += 1;
        const { id } = await request.json();
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32_020, message: "a header is missing" } }, { status: 400 });
      }
      return handler.fetch(request);
    }),
  );
  return {
    ...http,
    url: `${http.origin}/mcp`,
    seen,
    tools,
    /** Refuses calls without the header of an argument. */
    mismatch: (argument) => (wanted = argument),
    changed: () => handler.notify.toolsChanged(),
    close: async () => {
      await handler.close();
      await http.close();
    },
  };
}
