// Clients and servers of the official SDKs of MCP, connected in this process by JSON text.

const info = { name: "peer", version: "1.0.0" };

/** The SDKs to test with: what was installed, and names of what was not. */
export async function sdks() {
  return Promise.all([load("@modelcontextprotocol/sdk 1.x", first), load("@modelcontextprotocol/client and server 2.x", second)]);
}

async function load(name, make) {
  try {
    return { name, sdk: await make() };
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return { name, missing: `${name} is not installed in tests/package` };
  }
}

/** Makes a pair of transports between which only JSON text passes. `change` may change what the client sends. */
function linked(InMemoryTransport, change = () => {}) {
  const pair = InMemoryTransport.createLinkedPair();
  pair.forEach((transport, side) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const copy = JSON.parse(JSON.stringify(message));
      if (side === 0) change(copy);
      return send(copy, options);
    };
  });
  return pair;
}

async function first() {
  const [{ Client }, { StdioClientTransport }, { Server }, { InMemoryTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/inMemory.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const peer = (client, negotiated) => ({
    client,
    negotiated,
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    listTools: (params) => client.listTools(params),
    callTool: (params, options) => client.callTool(params, undefined, options),
    close: () => client.close(),
  });
  return {
    revisions: types.SUPPORTED_PROTOCOL_VERSIONS,
    /** Starts a program and talks with it over its standard input and output. */
    async start(program) {
      const client = new Client(info);
      await client.connect(new StdioClientTransport(program));
      return peer(client);
    },
    parse: (type, value) => types[`${type}Schema`].parse(value),
    async connect(revision, { list, call }) {
      const server = new Server(info, { capabilities: { tools: {} } });
      server.setRequestHandler(types.ListToolsRequestSchema, ({ params }) => list(params));
      server.setRequestHandler(types.CallToolRequestSchema, ({ params }, { sendNotification }) => call(params, sendNotification));
      return this.connectTo(revision, (far) => server.connect(far));
    },
    /** Connects a client to what serves the other end. */
    async connectTo(revision, serve) {
      const client = new Client(info);
      // This SDK always asks for its newest revision.
      const [near, far] = linked(InMemoryTransport, ({ method, params }) => {
        if (method === "initialize") params.protocolVersion = revision;
      });
      let negotiated;
      near.setProtocolVersion = (version) => (negotiated = version);
      await serve(far);
      await client.connect(near);
      return peer(client, negotiated);
    },
  };
}

async function second() {
  const [{ Client, SUPPORTED_PROTOCOL_VERSIONS, InMemoryTransport, specTypeSchemas }, { StdioClientTransport }, { Server }, { serveStdio }] = await Promise.all(
    [
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
      import("@modelcontextprotocol/server"),
      import("@modelcontextprotocol/server/stdio"),
    ],
  );
  const peer = (client, close) => ({
    client,
    negotiated: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    listTools: (params) => client.listTools(params),
    callTool: (params, options) => client.callTool(params, options),
    close,
  });
  return {
    /** Starts a program and talks with it over its standard input and output. */
    async start(program) {
      const client = new Client(info);
      await client.connect(new StdioClientTransport(program));
      return peer(client, () => client.close());
    },
    // Its list has only what `initialize` can agree on.
    revisions: ["2026-07-28", ...SUPPORTED_PROTOCOL_VERSIONS],
    parse(type, value) {
      const { issues, value: parsed } = specTypeSchemas[type]["~standard"].validate(value);
      if (issues) throw new Error(JSON.stringify(issues));
      return parsed;
    },
    async connect(revision, { list, call }) {
      const modern = revision >= "2026-07-28";
      const serve = () => {
        const server = new Server(info, { capabilities: { tools: {} }, ...(modern ? {} : { supportedProtocolVersions: [revision] }) });
        server.setRequestHandler("tools/list", ({ params }) => list(params));
        server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => call(params, mcpReq.notify));
        return server;
      };
      return this.connectTo(revision, (far) => serveStdio(serve, { transport: far }));
    },
    async connectTo(revision, serve) {
      const modern = revision >= "2026-07-28";
      const [near, far] = linked(InMemoryTransport);
      const handle = await serve(far);
      const client = new Client(info, modern ? { versionNegotiation: { mode: { pin: revision } } } : { supportedProtocolVersions: [revision] });
      await client.connect(near);
      return peer(client, async () => {
        await client.close();
        await handle.close();
      });
    },
  };
}
