// A server with one of everything that a client can meet, written once for both eras, over Streamable HTTP: its tools end in a text, an
// error, a picture, rows by the thousand; they ask, tell, change the lists and the resources. What happened is in `seen`.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Server, WebStandardStreamableHTTPServerTransport, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { listening, webHandler } from "./gateway-servers.mjs";

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
export const ROWS = 5_000;
export const rowOf = (at) => `row ${at}: item ${at * 31} of the store, ${at % 7 ? "in stock" : "sold out"}`;
export const LARGE = Array.from({ length: ROWS }, (_, at) => rowOf(at)).join("\n");
export const WATCHED = "shop://stock";

const text = (value) => ({ content: [{ type: "text", text: value }] });
const inputSchema = { type: "object", properties: {} };
const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const TOOLS = [
  {
    name: "echo",
    title: "Echo",
    description: "Says what it is told.",
    inputSchema: { type: "object", properties: { say: { type: "string", minLength: 1 } }, required: ["say"], additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
  { name: "large", description: "Returns thousands of rows.", inputSchema, annotations: { readOnlyHint: true } },
  { name: "picture", description: "Returns a picture.", inputSchema, annotations: { readOnlyHint: true } },
  {
    name: "typed",
    description: "Returns structured content.",
    inputSchema,
    outputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
  },
  { name: "fail", description: "Fails, and says so.", inputSchema },
  { name: "refuse", description: "Answers with an error of the protocol.", inputSchema },
  { name: "steps", description: "Tells how far it is.", inputSchema },
  { name: "wait", description: "Waits until it is cancelled.", inputSchema },
  { name: "ask_user", description: "Asks the user for a name.", inputSchema },
  { name: "ask_model", description: "Asks the model.", inputSchema },
  { name: "ask_roots", description: "Asks for the roots.", inputSchema },
  { name: "log", description: "Logs while it works.", inputSchema },
  { name: "touch", description: "Changes a resource.", inputSchema },
  { name: "grow", description: "Adds a tool, a prompt and a resource.", inputSchema },
];

/** The answers to questions of a call, by era: in 2026-07-28 they come with the next request. */
const asked = ({ mcpReq: { inputResponses } }, key) => inputResponses?.[key];
const asking = (key, request) => inputRequired({ inputRequests: { [key]: request } });

/** Starts the server. `era`: `legacy` for revisions with sessions, `modern` for 2026-07-28. */
export async function featureServer(era) {
  const seen = { cancelled: 0, calls: [], levels: [], subscribed: [], meta: [] };
  const tools = [...TOOLS];
  const prompts = [{ name: "greet", description: "Greets.", arguments: [{ name: "who", description: "Whom", required: true }] }];
  const resources = [
    { uri: WATCHED, name: "stock", mimeType: "text/plain" },
    { uri: "shop://logo", name: "logo", mimeType: "image/png" },
  ];
  let touched = 0;
  const sessions = new Map();
  let modern;

  async function changed() {
    tools.push({ name: `grown_${tools.length}`, description: "Has grown.", inputSchema });
    prompts.push({ name: `grown_${prompts.length}` });
    resources.push({ uri: `shop://grown/${resources.length}`, name: "grown" });
    for (const { server } of sessions.values())
      for (const list of ["tools", "prompts", "resources"]) await server.notification({ method: `notifications/${list}/list_changed` });
    if (modern) for (const list of ["tools", "prompts", "resources"]) modern.notify[`${list}Changed`]();
  }

  async function updated() {
    touched += 1;
    for (const { server, subscribed } of sessions.values())
      if (subscribed.has(WATCHED)) await server.notification({ method: "notifications/resources/updated", params: { uri: WATCHED } });
    modern?.notify.resourceUpdated(WATCHED);
  }

  const run = {
    echo: ({ say }) => text(say),
    large: () => text(LARGE),
    picture: () => ({
      content: [
        { type: "text", text: "a pixel" },
        { type: "image", data: PNG, mimeType: "image/png" },
      ],
    }),
    typed: () => ({ ...text('{"count":3}'), structuredContent: { count: 3 } }),
    fail: () => ({ ...text("the shop is closed"), isError: true }),
    refuse: () => {
      throw Object.assign(new Error("no such shelf"), { code: -32_050, data: { shelf: 7 } });
    },
    async steps(_, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [1, 2, 3]) {
        if (progressToken !== undefined)
          await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 3, message: `step ${progress}` } });
        await sleep(30);
      }
      return text("done");
    },
    async wait(_, { mcpReq: { signal } }) {
      await new Promise((done) => {
        signal.addEventListener("abort", () => ((seen.cancelled += 1), done()));
        setTimeout(done, 20_000).unref();
      });
      return text("waited");
    },
    ask_user: (_, context) => {
      const answer = asked(context, "user");
      return answer ? text(JSON.stringify(answer)) : asking("user", inputRequired.elicit({ message: "What is your name?", requestedSchema: named }));
    },
    ask_model: (_, context) => {
      const answer = asked(context, "model");
      const messages = [{ role: "user", content: { type: "text", text: "Say something." } }];
      return answer ? text(JSON.stringify(answer.content)) : asking("model", inputRequired.createMessage({ messages, maxTokens: 20 }));
    },
    ask_roots: (_, context) => {
      const answer = asked(context, "roots");
      return answer ? text(JSON.stringify(answer.roots)) : asking("roots", inputRequired.listRoots());
    },
    async log(_, { mcpReq }) {
      for (const level of ["debug", "warning"]) await mcpReq.log(level, { at: level }, "shop");
      return text("logged");
    },
    touch: async () => (await updated(), text(`touched ${touched}`)),
    grow: async () => (await changed(), text("grown")),
  };

  function made() {
    const server = new Server(
      { name: "shop", version: "1.0.0" },
      {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          logging: {},
          completions: {},
        },
        instructions: "Ask the shop.",
      },
    );
    server.setRequestHandler("tools/list", () => ({ tools: [...tools] }));
    server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }, context) => {
      seen.calls.push(name);
      seen.meta.push(context.mcpReq._meta ?? {});
      return (run[name] ?? (() => text("grown up")))(given, context);
    });
    server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts] }));
    server.setRequestHandler("prompts/get", ({ params: { name, arguments: given = {} } }) => ({
      description: name,
      messages: [{ role: "user", content: { type: "text", text: `Greet ${given.who}.` } }],
    }));
    server.setRequestHandler("resources/list", () => ({ resources: [...resources] }));
    server.setRequestHandler("resources/templates/list", () => ({
      resourceTemplates: [{ uriTemplate: "shop://items/{id}", name: "item", mimeType: "application/json" }],
    }));
    server.setRequestHandler("resources/read", ({ params: { uri } }) => {
      if (uri === WATCHED) return { contents: [{ uri, mimeType: "text/plain", text: `touched ${touched} times` }] };
      if (uri === "shop://logo") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
      const [, id] = /^shop:\/\/items\/(\w+)$/.exec(uri) ?? [];
      if (id === undefined) throw Object.assign(new Error("Resource not found"), { code: era === "modern" ? -32_602 : -32_002, data: { uri } });
      return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id }) }] };
    });
    server.setRequestHandler("completion/complete", ({ params: { ref, argument } }) => {
      const values = (ref.type === "ref/prompt" ? ["Ada", "Alan", "Bob"] : ["a1", "a2", "b1"]).filter((value) => value.startsWith(argument.value));
      return { completion: { values, total: values.length, hasMore: false } };
    });
    return server;
  }

  async function legacySession() {
    const server = made();
    const subscribed = new Set();
    server.setRequestHandler("resources/subscribe", ({ params }) => (subscribed.add(params.uri), seen.subscribed.push(params.uri), {}));
    server.setRequestHandler("resources/unsubscribe", ({ params }) => (subscribed.delete(params.uri), {}));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { server, subscribed, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport);
    return transport;
  }

  if (era === "modern") modern = createMcpHandler(made, { legacy: "reject" });
  const http = await listening(
    webHandler(async (request) => {
      if (modern) return modern.fetch(request);
      const id = request.headers.get("mcp-session-id");
      const known = id === null ? await legacySession() : sessions.get(id)?.transport;
      return known
        ? known.handleRequest(request)
        : Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } }, { status: 404 });
    }),
  );
  return {
    ...http,
    url: `${http.origin}/mcp`,
    seen,
    sessions,
    close: async () => {
      await modern?.close();
      for (const { server } of sessions.values()) await server.close();
      await http.close();
    },
  };
}
