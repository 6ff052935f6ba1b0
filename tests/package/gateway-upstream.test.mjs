// Upstream servers of the gateway: published ones, those of both SDKs over every transport, and faulty ones. Nothing exports the class
// yet but the gateway itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import { published } from "./gateway-harness.mjs";
import { loadHttp } from "./gateway-load.mjs";
import { here, packageDir, temporaryFolder, until } from "./harness.mjs";
import { listening, modernServer, sseServer, streamableServer } from "./gateway-servers.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
await load("index.js"); // brings the engine that masks
const { readServers } = await load("gateway/config.js");
const { Upstream } = await load("gateway/upstream.js");

const sdk = { client, stdio: () => import("@modelcontextprotocol/client/stdio") };
const SECRET = "tok-5ecret-9f8e7d6c5b4a";
const FAULTY = join(here, "gateway-faulty.mjs");
const faulty = (fault, ...more) => ({ command: process.execPath, args: [FAULTY, fault, ...more], env: { FAULTY_SECRET: SECRET } });
const QUICK = { probe_timeout_ms: 2_000, connect_timeout_ms: 10_000, backoff: { first_ms: 50, most_ms: 1_000 } };

/** Servers by name, each with what it told; closed when the test ends. */
function upstreams(t, servers, options = {}) {
  const { servers: configs } = readServers([{ file: "test", value: { mcpServers: servers } }], { SECRET });
  const made = configs.map((config) => {
    const told = { states: [], listings: [], notifications: [], requests: [] };
    const host = {
      onRequest: async (server, connection, request, { signal }) => {
        told.requests.push({ server, request, inFlight: [...connection.inFlight], signal });
        if (options.answer) return options.answer(request, signal);
        throw Object.assign(new Error("nobody can answer"), { code: -32_601 });
      },
      onNotification: (server, connection, notification) => void told.notifications.push(notification),
      onListing: (server, listing) => void told.listings.push(JSON.parse(new TextDecoder().decode(listing.bytes))),
      onState: (server, state) => void told.states.push(state.status),
      ...options.host,
    };
    const upstream = new Upstream(config, { sdk, host, client_info: { name: "gateway", version: "1.0.0" }, ...QUICK, ...options.upstream });
    t.after(() => upstream.close());
    return Object.assign(upstream, { told });
  });
  return Object.fromEntries(made.map((upstream) => [upstream.config.configured_name ?? upstream.name, upstream]));
}

const call = (upstream, name, args = {}, options, connection = upstream.connection("s")) =>
  upstream.request(connection, "tools/call", { name, arguments: args }, options);
const textOf = ({ content }) => content[0].text;
const names = ({ tools }) => tools.map(({ name }) => name);
/** The failure of a request. */
async function failure(promise) {
  let thrown;
  await assert.rejects(promise, (error) => ((thrown = error), true));
  assert.equal(thrown.name, "UpstreamError", thrown.stack);
  assert.ok(!JSON.stringify(thrown.failure).includes(SECRET), JSON.stringify(thrown.failure));
  return thrown.failure;
}

test("published servers over standard input and output", async (t) => {
  const folder = await temporaryFolder("gateway");
  await writeFile(join(folder, "note.txt"), "a note");
  const all = upstreams(t, {
    files: published("server-filesystem", folder),
    everything: published("server-everything"),
    memory: { ...published("server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
    thinking: published("server-sequential-thinking"),
  });
  const states = await Promise.all(Object.values(all).map((upstream) => upstream.connect()));
  assert.deepEqual(
    states.map(({ status }) => status),
    ["ready", "ready", "ready", "ready"],
  );
  const { files, everything, memory, thinking } = all;
  for (const { told, listing, state } of Object.values(all)) {
    assert.deepEqual(told.states, ["ready"]);
    assert.equal(told.listings.length, 1);
    assert.equal(told.listings[0].tools.length, listing.counts.tools);
    assert.deepEqual(listing.problems, []);
    assert.equal(state.protocol_version, "2025-11-25");
  }
  assert.ok(everything.listing.counts.resources > 0 && everything.listing.counts.prompts > 0 && everything.listing.counts.resource_templates > 0);
  assert.ok(everything.told.listings[0].instructions.length > 0);
  assert.equal(textOf(await call(files, "read_text_file", { path: join(folder, "note.txt") })), "a note");
  assert.match(textOf(await call(everything, "echo", { message: "hi" })), /hi/);
  await call(memory, "create_entities", { entities: [{ name: "Ann", entityType: "person", observations: ["writes"] }] });
  assert.match(textOf(await call(memory, "read_graph")), /Ann/);
  assert.match(
    textOf(await call(thinking, "sequentialthinking", { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 })),
    /thoughtNumber/,
  );
  const report = everything.report();
  assert.deepEqual([report.name, report.connections, report.in_flight, report.state.status], ["everything", 1, 0, "ready"]);
  assert.match(JSON.stringify(report.server_info), /everything/);

  // Prompts, resources and errors of JSON-RPC pass as they are.
  const resources = everything.told.listings[0].resources;
  const { contents } = await everything.request(everything.main, "resources/read", { uri: resources[0].uri });
  assert.equal(contents[0].uri, resources[0].uri);
  const unknown = await failure(everything.request(everything.main, "prompts/get", { name: "no such prompt" }));
  assert.deepEqual([unknown.kind, typeof unknown.code], ["rpc", "number"]);
});

test("a server asks its client, tells progress, and is cancelled", async (t) => {
  const answers = {
    "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "sampled" } },
    "elicitation/create": { action: "decline" },
    "roots/list": { roots: [{ uri: "file:///project", name: "work" }] },
  };
  const { everything } = upstreams(t, { everything: published("server-everything") }, { answer: ({ method }) => answers[method] });
  await everything.connect();
  await until("tools for what the client can do", () => names(everything.told.listings.at(-1)).includes("trigger-sampling-request"));
  const sampled = await call(everything, "trigger-sampling-request", { prompt: "say", maxTokens: 10 }, { context: "of ann" });
  assert.match(textOf(sampled), /sampled/);
  const asked = everything.told.requests.find(({ request }) => request.method === "sampling/createMessage");
  assert.equal(asked.request.params.maxTokens, 10);
  assert.deepEqual(
    asked.inFlight.map(({ method, params, context }) => [method, params.name, context]),
    [["tools/call", "trigger-sampling-request", "of ann"]],
  );
  assert.equal(everything.main.inFlight.size, 0);
  await call(everything, "trigger-elicitation-request");
  assert.ok(everything.told.requests.some(({ request }) => request.method === "elicitation/create"));

  const progress = [];
  const long = await call(
    everything,
    "trigger-long-running-operation",
    { duration: 0.4, steps: 4 },
    { onprogress: (step) => void progress.push(step.progress) },
  );
  assert.match(textOf(long), /completed/i);
  assert.deepEqual(progress, [1, 2, 3, 4]);
  // A caller whose callback fails loses nothing but what it was told; with progress, a timeout starts anew.
  await call(
    everything,
    "trigger-long-running-operation",
    { duration: 2, steps: 8 },
    {
      timeout_ms: 1_000,
      onprogress: () => {
        throw new Error("mine");
      },
    },
  );

  const late = await failure(call(everything, "trigger-long-running-operation", { duration: 5, steps: 1 }, { timeout_ms: 200 }));
  assert.equal(late.kind, "timeout");
  const stop = new AbortController();
  const cancelled = failure(call(everything, "trigger-long-running-operation", { duration: 5, steps: 1 }, { signal: stop.signal }));
  setTimeout(() => stop.abort(), 100);
  assert.equal((await cancelled).kind, "cancelled");
  assert.equal(everything.main.inFlight.size, 0);
  assert.match(textOf(await call(everything, "echo", { message: "still there" })), /still there/);
});

test("Streamable HTTP with SDK 1.x: a connection for each session, with the headers of its client", async (t) => {
  const server = await streamableServer();
  t.after(server.close);
  const { who } = upstreams(t, {
    who: { url: server.url, headers: { "x-key": "${SECRET}", authorization: "Bearer of-the-gateway" }, forward_headers: ["authorization"] },
  });
  assert.equal((await who.connect()).status, "ready");
  assert.deepEqual([names(who.told.listings[0]), who.told.listings[0].instructions], [["who"], "ask who"]);
  const asks = async (session, headers) => JSON.parse(textOf(await call(who, "who", { session }, undefined, who.connection(session, headers))));
  const users = Array.from({ length: 20 }, (_, at) => `user-${at}`);
  const answers = await Promise.all([...users, ...users].map((user) => asks(user, { Authorization: `Bearer of-${user}`, cookie: "private", host: "evil" })));
  for (const [at, { headers, arguments: args }] of answers.entries()) {
    const user = users[at % 20];
    assert.deepEqual([args.session, headers.authorization, headers["x-key"], headers.cookie], [user, `Bearer of-${user}`, SECRET, undefined]);
  }
  assert.equal(new Set(answers.map((answer) => answer.server)).size, 20, "each session has one connection of its own");
  const { headers } = await asks("user-0", {});
  assert.equal(headers.authorization, "Bearer of-the-gateway", "without a header of the client, another connection");
  assert.equal(who.connection("user-0", { authorization: "a" }), who.connection("user-0", { AUTHORIZATION: "a" }));
  assert.equal(who.report().connections, 22);
  assert.ok(!JSON.stringify(who.report()).includes(SECRET));

  const before = server.seen.ended;
  await who.endSession("user-3");
  assert.equal(server.seen.ended, before + 1, "the server is told that the session is over");
  assert.equal(who.report().connections, 21);
  // A connection that was closed is not found again.
  const ended = who.connection("user-4");
  await who.endSession("user-4");
  assert.equal((await failure(call(who, "who", {}, undefined, ended))).kind, "unavailable");
  assert.equal((await asks("user-4", {})).arguments.session, "user-4");
  await who.close();
  assert.equal(server.sessions.size, 0);
  assert.equal((await failure(call(who, "who"))).kind, "unavailable");
});

test("Streamable HTTP: a session that the server has forgotten, and a server that was away", async (t) => {
  let server = await streamableServer();
  const { port } = server;
  t.after(() => server.close());
  const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
  await who.connect();
  await call(who, "who");
  const initialized = () => server.seen.requests.length;
  server.sessions.clear();
  const before = initialized();
  assert.match(textOf(await call(who, "who", { n: 1 })), /"n":1/, "a request that the server did not look at is sent again");
  assert.ok(initialized() > before + 1);
  await until("ready again", () => who.state.status === "ready");
  // Of several at the same time each is sent again, in one new session.
  server.sessions.clear();
  const several = await Promise.all(Array.from({ length: 6 }, (_, n) => call(who, "who", { n })));
  several.forEach((result, n) => assert.match(textOf(result), new RegExp(`"n":${n}\\b`)));
  assert.equal(server.sessions.size, 1);
  await until("ready again", () => who.state.status === "ready");

  await server.close();
  const away = await failure(call(who, "who"));
  assert.equal(away.kind, "unavailable", away.message);
  // The stream of notifications has ended; the next request or ping finds that the server is gone.
  const back = await streamableServer({
    tools: () => [
      { name: "who", inputSchema: { type: "object" } },
      { name: "new", inputSchema: { type: "object" } },
    ],
  });
  await back.close();
  server = await reopened(back, port);
  await until("a request is answered again", async () =>
    call(who, "who").then(
      () => true,
      () => false,
    ),
  );
  await until("its new tools are listed", () => names(who.told.listings.at(-1)).includes("new"));
});

/** Opens a closed server again where another one was. */
async function reopened(server, port) {
  const fresh = await streamableServer({
    tools: () => [
      { name: "who", inputSchema: { type: "object" } },
      { name: "new", inputSchema: { type: "object" } },
    ],
  });
  const proxy = createServer((request, response) => forward(request, response, fresh.port));
  await new Promise((done) => proxy.listen(port, "127.0.0.1", done));
  return {
    ...fresh,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise((done) => proxy.close(done));
      await fresh.close();
    },
  };
}
async function forward(request, response, port) {
  const { request: send } = await import("node:http");
  const upstream = send({ port, host: "127.0.0.1", path: request.url, method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

/** A server of the older era of which `answer(message, response, request)` may answer a request in its own way; it returns whether it did. */
async function olderServer(t, answer) {
  const seen = { initialized: 0, streams: 0, asked: [] };
  const sessions = new Set();
  const server = await listening(async (request, response) => {
    const { method, headers } = request;
    if (method === "GET") seen.streams += 1;
    const message = method === "POST" ? JSON.parse(Buffer.concat(await request.toArray()).toString()) : { method };
    if (method === "POST") seen.asked.push(message.method);
    if (await answer?.(message, response, { method, session: headers["mcp-session-id"], isKnown: sessions.has(headers["mcp-session-id"]) })) return;
    const json = (body, more = {}) =>
      response.writeHead(200, { "content-type": "application/json", ...more }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
    if (method !== "POST") return response.writeHead(method === "DELETE" ? 200 : 405).end();
    if (message.id === undefined) return response.writeHead(202).end();
    if (message.method === "initialize") {
      const session = `session-${(seen.initialized += 1)}`;
      sessions.add(session);
      return json(
        { result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "older", version: "1" } } },
        { "mcp-session-id": session },
      );
    }
    if (message.method === "tools/list") return json({ result: { tools: [{ name: "who", inputSchema: { type: "object" } }] } });
    if (message.method === "tools/call") return json({ result: { content: [{ type: "text", text: headers["mcp-session-id"] }] } });
    if (message.method === "ping") return json({ result: {} });
    json({ error: { code: -32_601, message: "no such method" } });
  });
  t.after(server.close);
  return { url: `${server.origin}/mcp`, seen, sessions, forget: () => sessions.clear() };
}
const plain = (response, status, body = "", type = "text/plain") => (response.writeHead(status, { "content-type": type }).end(body), true);

for (const refusal of [401, 403, 404, 406, "a page"]) {
  test(`a server that answers ${refusal} to the optional stream has none`, async (t) => {
    const server = await olderServer(
      t,
      ({ method }, response) => method === "GET" && (refusal === "a page" ? plain(response, 200, "<html></html>", "text/html") : plain(response, refusal)),
    );
    const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
    assert.equal((await who.connect()).status, "ready");
    await until("it was asked for a stream", () => server.seen.streams > 0);
    for (let count = 0; count < 3; count += 1) assert.equal(textOf(await call(who, "who")), "session-1");
    assert.deepEqual([server.seen.initialized, server.seen.streams], [1, 1]);
    assert.deepEqual(who.told.states, ["ready"]);
  });
}

test("a list of which a page fails is asked for again, and what was listed before stays meanwhile", async (t) => {
  let failing = 1;
  const seconds = [];
  const server = await olderServer(t, ({ id, method, params }, response, { session, isKnown }) => {
    if (session !== undefined && !isKnown) return plain(response, 404);
    if (method !== "tools/list") return false;
    const isSecond = params?.cursor === "2";
    if (isSecond) seconds.push(failing > 0);
    const tools = (isSecond ? ["b", "c"] : ["a"]).map((name) => ({ name, inputSchema: { type: "object" } }));
    const body = isSecond && (failing -= 1) >= 0 ? { error: { code: -32_603, message: "busy" } } : { result: { tools, ...(!isSecond && { nextCursor: "2" }) } };
    return plain(response, 200, JSON.stringify({ jsonrpc: "2.0", id, ...body }), "application/json");
  });
  const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
  await who.connect();
  await until("the whole list", () => who.told.listings.length === 2);
  // It is listed anew with its next session.
  failing = 1;
  server.forget();
  await call(who, "who");
  await until("the list has come again", () => seconds.length === 4 && who.listing.problems.length === 0);
  assert.deepEqual(seconds, [true, false, true, false]);
  assert.deepEqual(who.told.listings.map(names), [["a"], ["a", "b", "c"]]);
});

test("a program is ended with everything that it has started", async (t) => {
  const folder = await temporaryFolder("gateway-group");
  const isThere = (pid) => {
    try {
      process.kill(pid, 0);
      // Where nobody takes note of its end, it is dead all the same.
      return !existsSync("/proc/self/stat") || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  };
  // A program that outlives the end of its input, behind a shell, with a helper that ignores what it is told.
  const helper = `require("node:fs").appendFileSync("pids", process.pid + "\\n"); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;
  const program = `import { spawn } from "node:child_process"; import { appendFileSync } from "node:fs"; appendFileSync("pids", process.pid + "\\n"); spawn(process.execPath, ["-e", ${JSON.stringify(helper)}], { stdio: "inherit" }); setInterval(() => {}, 1000); await import(${JSON.stringify(pathToFileURL(FAULTY).href)});`;
  await writeFile(join(folder, "program.mjs"), program);
  const { shell } = upstreams(t, { shell: { command: "sh", args: ["-c", `${process.execPath} program.mjs; true`], cwd: folder } });
  assert.equal((await shell.connect()).status, "ready", shell.state.reason);
  assert.equal(textOf(await call(shell, "echo", { a: 1 })), '{"a":1}');
  const pids = () => readFileSync(join(folder, "pids"), "utf8").trim().split("\n").map(Number);
  await until("the helper has started", () => pids().filter(isThere).length >= 2);
  await shell.close();
  assert.deepEqual(pids().filter(isThere), []);
});

test("a program is given what every program needs, and no credential of the gateway's environment", async () => {
  const { inherited } = await load("gateway/program-transport.js");
  const given = {
    PATH: "/bin",
    HOME: "/root",
    LC_ALL: "C.UTF-8",
    HTTPS_PROXY: "http://proxy:3128",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    XDG_CONFIG_HOME: "/c",
    TMPDIR: "/t",
  };
  const kept = {
    AWS_PROFILE: "work",
    AWS_SECRET_ACCESS_KEY: SECRET,
    GITHUB_TOKEN: SECRET,
    CONTEXTWEAVER_TOKEN: SECRET,
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "x",
    SHELL: "() { :; }",
    UNSET: undefined,
  };
  assert.deepEqual(inherited({ ...given, ...kept }), given);
});

const PROBED = {
  202: (response) => (response.writeHead(202).end(), true),
  204: (response) => (response.writeHead(204).end(), true),
  "an empty body": (response) => plain(response, 200, "", "application/json"),
  text: (response) => plain(response, 200, "ok"),
  "a page": (response) => plain(response, 200, "<html></html>", "text/html"),
  "an error of no request": (response) => plain(response, 200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}', "application/json"),
  "an array": (response) => plain(response, 200, "[]", "application/json"),
  "an event that is none": (response) => plain(response, 200, "data: {}\n\n", "text/event-stream"),
  "a stream that ends": (response) => plain(response, 200, "", "text/event-stream"),
  ...Object.fromEntries(
    [400, 401, 403, 404, 405, 406, 415, 422, 500, 501, 502, 503].map((status) => [String(status), (response) => plain(response, status, "no")]),
  ),
  "500 with an error": (response, id) =>
    plain(response, 500, JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: "no" } }), "application/json"),
  "a closed connection": (response) => (response.destroy(), true),
  silence: () => true,
};
test("a server that does not know `server/discover` is connected whatever it answers", async (t) => {
  const servers = await Promise.all(
    Object.values(PROBED).map((answer) => olderServer(t, ({ method, id }, response) => method === "server/discover" && answer(response, id))),
  );
  const kinds = Object.keys(PROBED);
  const all = upstreams(t, Object.fromEntries(kinds.map((kind, at) => [kind, { type: "http", url: servers[at].url }])), {
    upstream: { probe_timeout_ms: 500 },
  });
  await Promise.all(kinds.map((kind) => all[kind].connect()));
  for (const [at, kind] of kinds.entries()) {
    assert.equal(all[kind].state.status, "ready", `${kind}: ${all[kind].state.reason}`);
    assert.match(textOf(await call(all[kind], "who")), /session/, kind);
    // Whoever connects next does not ask again.
    assert.equal(servers[at].seen.asked.filter((method) => method === "server/discover").length, 1, kind);
  }
});

test("a server of the newest era alone that was too slow to say so is asked again, and awaited", async (t) => {
  let asked = 0;
  // The first request is never answered, as on a machine that does other things too.
  const isFirst = (incoming, outgoing) => (asked += 1) === 1 && outgoing.writable;
  for (const probe of [true, false]) {
    asked = probe ? 0 : 1;
    const server = await loadHttp("late", "modern", { before: isFirst });
    t.after(server.close);
    const { late } = upstreams(t, { late: { type: "http", url: server.url, probe } }, { upstream: { probe_timeout_ms: 500 } });
    const { status, protocol_version, reason } = await late.connect();
    assert.deepEqual([status, protocol_version], ["ready", "2026-07-28"], reason);
    assert.match(textOf(await call(late, "echo", { text: "hi" })), /hi/);
  }
});

test("with `probe: false` a server is not asked for the newest era", async (t) => {
  const server = await olderServer(t);
  const all = upstreams(t, { who: { type: "http", url: server.url, probe: false }, program: { ...published("server-sequential-thinking"), probe: false } });
  for (const upstream of Object.values(all)) assert.equal((await upstream.connect()).status, "ready");
  assert.equal(server.seen.asked[0], "initialize");
});

const FORGOTTEN = {
  400: (response) =>
    plain(response, 400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}', "application/json"),
  401: (response) => plain(response, 401, "Unauthorized: Session not found"),
  403: (response) => plain(response, 403, "no such session"),
  410: (response) => plain(response, 410),
  503: (response) => plain(response, 503, '{"error":"unknown session"}', "application/json"),
  "an error of JSON-RPC": (response, id) =>
    plain(response, 200, JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_600, message: "Invalid Request" } }), "application/json"),
};
for (const [kind, refuse] of Object.entries(FORGOTTEN)) {
  test(`a session that is refused by ${kind} is begun anew`, async (t) => {
    const server = await olderServer(
      t,
      ({ method, id }, response, { session, isKnown }) =>
        method !== "initialize" && session !== undefined && !isKnown && method !== "DELETE" && refuse(response, id),
    );
    const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
    await who.connect();
    assert.equal(textOf(await call(who, "who")), "session-1");
    server.forget();
    // Calls that meet it at once begin one session.
    assert.deepEqual((await Promise.all([1, 2, 3].map(() => call(who, "who")))).map(textOf), ["session-2", "session-2", "session-2"]);
    assert.equal(textOf(await call(who, "who")), "session-2");
    assert.deepEqual(who.told.states, ["ready"], "it was there all the time");
  });
}

test("a session whose answers end before they came is begun anew, and the call is not made twice", async (t) => {
  const server = await olderServer(
    t,
    ({ method }, response, { session, isKnown }) =>
      method !== "initialize" &&
      session !== undefined &&
      !isKnown &&
      method !== "GET" &&
      plain(response, 200, 'data: {"error":"Session not found"}\n\n', "text/event-stream"),
  );
  const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
  await who.connect();
  server.forget();
  const calls = () => server.seen.asked.filter((method) => method === "tools/call").length;
  assert.equal((await failure(call(who, "who"))).kind, "unavailable");
  assert.equal(calls(), 1);
  assert.equal(textOf(await call(who, "who")), "session-2");
});

test("a refusal that is the call's own leaves the session alone", async (t) => {
  const server = await olderServer(t, ({ method }, response) => method === "tools/call" && plain(response, 400, "bad arguments"));
  const { who } = upstreams(t, { who: { type: "http", url: server.url, connection: "shared" } });
  await who.connect();
  for (let count = 0; count < 2; count += 1) assert.equal((await failure(call(who, "who"))).status, 400);
  assert.deepEqual([server.seen.initialized, server.seen.asked.filter((method) => method === "tools/call").length], [1, 2]);
});

test("HTTP+SSE of 2024-11-05: found when Streamable HTTP is refused, and connected again when its stream ends", async (t) => {
  const server = await sseServer();
  t.after(server.close);
  const { guessed, told, wrong } = upstreams(t, {
    guessed: { url: server.url, connection: "shared" },
    told: { type: "sse", url: server.url, connection: "shared" },
    wrong: { type: "http", url: server.url },
  });
  const states = await Promise.all([guessed.connect(), told.connect(), wrong.connect()]);
  assert.deepEqual(
    states.map(({ status }) => status),
    ["ready", "ready", "unavailable"],
  );
  assert.equal(states[2].failure.status, 405);
  for (const upstream of [guessed, told]) {
    assert.equal(upstream.main.kind, "sse");
    assert.match(textOf(await call(upstream, "who", { a: 1 })), /"a":1/);
  }
  const { server: first } = JSON.parse(textOf(await call(guessed, "who")));
  for (const { response } of server.sessions.values()) response.end();
  await until("connected again", async () => {
    const answer = await call(guessed, "who").catch(() => undefined);
    return answer !== undefined && JSON.parse(textOf(answer)).server !== first;
  });
  await until("told so", () => guessed.state.status === "ready");
  assert.deepEqual(guessed.told.states, ["ready", "unavailable", "ready"]);
  assert.equal(guessed.told.listings.length, 1, "what is offered is as before");
});

test("2026-07-28: questions come as results, changes by subscription, arguments in headers", async (t) => {
  const server = await modernServer();
  t.after(server.close);
  const { modern } = upstreams(t, { modern: { url: server.url } });
  const state = await modern.connect();
  assert.deepEqual([state.status, state.protocol_version, modern.main.era], ["ready", "2026-07-28", "modern"]);
  assert.equal(modern.told.listings[0].instructions, "be modern");
  assert.deepEqual(names(modern.told.listings[0]), ["region", "confirm", "slow"]);
  assert.deepEqual(
    modern.listing.problems.map(({ kind, index }) => [kind, index]),
    [
      ["skipped", 1],
      ["skipped", 2],
      ["skipped", 3],
    ],
  );

  const asked = await call(modern, "confirm");
  assert.deepEqual([asked.resultType, Object.keys(asked.inputRequests), asked.requestState], ["input_required", ["sure"], "state-1"]);
  const done = await modern.request(modern.connection("s"), "tools/call", {
    name: "confirm",
    arguments: {},
    inputResponses: { sure: { action: "accept", content: {} } },
    requestState: "state-1",
  });
  assert.match(textOf(done), /"action":"accept"/);

  await call(modern, "region", { region: "eu-west" }, { meta: { traceparent: "00-1-2-03" } });
  const sent = server.seen.headers.find((headers) => headers["mcp-param-region"] !== undefined);
  assert.deepEqual([sent["mcp-param-region"], sent["mcp-method"], sent["mcp-name"]], ["eu-west", "tools/call", "region"]);

  // The tool wants another argument in a header by now, which nobody has told.
  server.tools[0] = {
    ...server.tools[0],
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" }, zone: { type: "string", "x-mcp-header": "Zone" } } },
  };
  server.mismatch("zone");
  await call(modern, "region", { region: "eu-west", zone: "b" });
  assert.deepEqual([server.seen.headers.at(-1)["mcp-param-zone"], server.seen.refused], ["b", 1]);

  const stop = new AbortController();
  const cancelled = failure(call(modern, "slow", {}, { signal: stop.signal }));
  setTimeout(() => stop.abort(), 200);
  assert.equal((await cancelled).kind, "cancelled");
  await until("the server knows", () => server.seen.cancelled === 1);

  const lists = server.seen.lists;
  server.tools.push({ name: "added", inputSchema: { type: "object" } });
  for (let at = 0; at < 300; at += 1) server.changed();
  await until("the new tool is listed", () => names(modern.told.listings.at(-1)).includes("added"));
  await new Promise((done) => setTimeout(done, 500));
  assert.ok(server.seen.lists - lists <= 3, `${server.seen.lists - lists} listings for 300 changes`);
  const subscription = await modern.main.listen({ toolsListChanged: true });
  await subscription.close();
});

test("2026-07-28 over standard input and output", async (t) => {
  const { modern, legacy } = upstreams(t, { modern: { command: process.execPath, args: [join(here, "gateway-modern.mjs")] }, legacy: faulty("none") });
  const [state] = await Promise.all([modern.connect(), legacy.connect()]);
  assert.deepEqual([state.status, state.protocol_version, modern.main.era, legacy.main.era], ["ready", "2026-07-28", "modern", "legacy"]);
  assert.equal(textOf(await call(modern, "grow")), "2");
  await until("the new tool is listed", () => names(modern.told.listings.at(-1)).includes("grown1"));
  assert.equal((await failure(legacy.main.listen({ toolsListChanged: true }))).code, -32_601);
});

test("failures have a kind, and what the server said of them", async (t) => {
  let status = 200;
  let more = {};
  const server = await streamableServer({
    before: (request, response) => {
      if (status === 200 || request.method !== "POST") return false;
      response.writeHead(status, { "content-type": "text/plain", ...more }).end(`no: ${SECRET} ${"x".repeat(500_000)}`);
      return true;
    },
  });
  t.after(server.close);
  const closed = await listening(() => undefined);
  await closed.close();
  const html = await listening((request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>welcome</html>"));
  t.after(html.close);
  const all = upstreams(t, {
    who: { url: server.url, headers: { "x-key": "${SECRET}" }, connection: "shared" },
    closed: { url: closed.origin },
    html: { url: html.origin },
    missing: { command: "no-such-program-anywhere" },
    dies: faulty("dies"),
  });
  const { who } = all;
  await who.connect();
  for (const [code, headers, wanted] of [
    [429, { "retry-after": "7" }, { kind: "http", status: 429, retry_after_ms: 7_000 }],
    [503, {}, { kind: "http", status: 503 }],
    [401, {}, { kind: "http", status: 401 }],
    [400, {}, { kind: "http", status: 400 }],
  ]) {
    [status, more] = [code, headers];
    const { message, ...rest } = await failure(call(who, "who"));
    assert.deepEqual(rest, wanted, message);
    assert.ok(message.length <= 2_020, `${message.length} characters`);
  }
  // Half an hour is for a machine that stands still meanwhile; tests are given less.
  [status, more] = [503, { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() }];
  const { retry_after_ms } = await failure(call(who, "who"));
  assert.ok(retry_after_ms > 1_800_000 && retry_after_ms <= 3_600_000, `${retry_after_ms}`);
  status = 200;
  await call(who, "who");

  const others = await Promise.all(["closed", "html", "missing", "dies"].map((name) => all[name].connect()));
  assert.deepEqual(
    others.map(({ status, failure: { kind } }) => [status, kind]),
    [
      ["unavailable", "unavailable"],
      ["unavailable", "malformed"],
      ["unavailable", "unavailable"],
      ["unavailable", "unavailable"],
    ],
    JSON.stringify(others),
  );
  assert.match(others[0].reason, /ECONNREFUSED|refused/i);
  assert.match(others[2].reason, /no such program/);
  assert.match(others[3].reason, /cannot read the key \[REDACTED/);
  for (const { since, retry_at } of others) assert.ok(retry_at > since, `${retry_at} is not after ${since}`);
  const refused = await failure(call(all.missing, "x", {}, { timeout_ms: 3_000 }));
  assert.equal(refused.kind, "unavailable");
  assert.ok(!JSON.stringify(Object.values(all).map((upstream) => upstream.report())).includes(SECRET));
});

test("a server that needs its user's credentials is listed as the first user sees it", async (t) => {
  const server = await streamableServer({
    before: (request, response) => {
      if (request.headers.authorization === "Bearer of-ann") return false;
      response.writeHead(401).end();
      return true;
    },
  });
  t.after(server.close);
  const { who } = upstreams(t, { who: { url: server.url, forward_headers: ["authorization"] } });
  const state = await who.connect();
  assert.deepEqual([state.status, state.failure.status], ["unavailable", 401]);
  const ann = who.connection("a", { authorization: "Bearer of-ann" });
  await call(who, "who", {}, undefined, ann);
  await until("listed", () => who.listing?.counts.tools === 1);
  assert.equal(who.state.status, "ready");
  const bob = who.connection("b", { authorization: "Bearer of-bob" });
  for (let n = 0; n < 3; n += 1) assert.equal((await failure(call(who, "who", {}, undefined, bob))).status, 401);
});

test("credentials of the gateway's own are fetched by the provider of the SDK, once", async (t) => {
  const seen = { tokens: 0 };
  let origin = "";
  const server = await streamableServer({
    before: (request, response) => {
      const json = (body, status = 200) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      const { pathname } = new URL(request.url, origin);
      if (pathname.startsWith("/.well-known/oauth-protected-resource")) return (json({ resource: `${origin}/mcp`, authorization_servers: [origin] }), true);
      if (pathname === "/.well-known/oauth-authorization-server")
        return (
          json({
            issuer: origin,
            authorization_endpoint: `${origin}/a`,
            token_endpoint: `${origin}/token`,
            response_types_supported: ["code"],
            grant_types_supported: ["client_credentials"],
            token_endpoint_auth_methods_supported: ["client_secret_basic"],
          }),
          true
        );
      if (pathname === "/token") {
        seen.tokens += 1;
        seen.authorization = request.headers.authorization;
        return (json({ access_token: "of-the-gateway", token_type: "Bearer", expires_in: 3_600 }), true);
      }
      if (pathname.startsWith("/.well-known/")) return (response.writeHead(404).end(), true);
      if (request.headers.authorization === "Bearer of-the-gateway") return false;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` }).end();
      return true;
    },
  });
  origin = server.origin;
  t.after(server.close);
  const { who } = upstreams(t, { who: { url: server.url, oauth: { client_id: "me", client_secret: "${SECRET}", issuer: origin } } });
  const state = await who.connect();
  assert.equal(state.status, "ready", JSON.stringify(state));
  await Promise.all(["a", "b", "c"].map((session) => call(who, "who", {}, undefined, who.connection(session))));
  assert.equal(seen.tokens, 1);
  assert.equal(seen.authorization, `Basic ${Buffer.from(`me:${SECRET}`).toString("base64")}`);
});

test("connections of sessions are bounded, and closed when they are idle", async (t) => {
  const server = await streamableServer();
  t.after(server.close);
  const { who } = upstreams(t, { who: { url: server.url } }, { upstream: { max_connections: 3, idle_ms: 2_000, ping_ms: 200 } });
  await who.connect();
  const connections = ["a", "b", "c"].map((session) => who.connection(session));
  for (const connection of connections) await call(who, "who", {}, undefined, connection);
  assert.equal(who.report().connections, 4);
  who.connection("d");
  assert.equal(who.report().connections, 3, "the one that was idle longest has made room");
  await until("idle ones are closed", () => who.report().connections === 1);
  await until("their servers know", () => server.sessions.size === 1);
  await call(who, "who", {}, undefined, connections[0]);
  assert.ok(connections[0].isReady, "it comes back when it is used again");
  // What a client that is there has at the server, its connection keeps: the latest, where credentials were renewed.
  const { kept } = upstreams(
    t,
    { kept: { url: server.url, connection: "session", forward_headers: ["authorization"] } },
    { upstream: { idle_ms: 500, ping_ms: 200 }, host: { isLive: (session) => session === "here", isSubscribed: ({ session }) => session === "listens" } },
  );
  const of = (session, authorization) => kept.connection(session, { authorization });
  const all = [of("here", "old"), of("gone", "old"), of("listens", "old"), of("here", "new")];
  // One that is being made is not closed, and not lost sight of.
  for (const connection of all) await call(kept, "who", {}, undefined, connection);
  await until("others are closed", () => !all[0].isReady && !all[1].isReady);
  assert.deepEqual([all[2].isReady, all[3].isReady], [true, true]);
  // The main connection is asked from time to time, and found to be gone.
  server.sessions.clear();
  await until("it is made anew", () => server.sessions.size > 0 && who.state.status === "ready");
});

/** Fifty clients and a server that changes all the time kept a gateway busy for a minute, which then gave up servers in order. */
test("a ping for whose answer a busy process had no time says nothing of the server", async (t) => {
  let [told, isSilent] = [1_000_000, false];
  const server = await streamableServer({ before: () => isSilent });
  t.after(server.close);
  const { who } = upstreams(t, { who: { url: server.url } }, { upstream: { now: () => told } });
  await who.connect();
  const connection = who.connection("a");
  await call(who, "who", {}, undefined, connection);
  isSilent = true;
  const asked = connection.ping(100);
  told += 10_000;
  await asked;
  assert.ok(connection.isReady);
  await connection.ping(100);
  assert.ok(!connection.isReady, "one that was waited for in time and did not answer is lost");
});

test("faulty programs leave the others alone", async (t) => {
  const servers = {
    healthy: faulty("none"),
    hang: faulty("hang"),
    exits: faulty("exits", "3"),
    stderr: faulty("stderr"),
    huge: faulty("huge"),
    pages: faulty("pages"),
    circle: faulty("circle"),
    changes: faulty("changes"),
    nonsense: faulty("nonsense"),
    garbage: faulty("garbage"),
    chatter: faulty("chatter"),
    "bad-tools": faulty("bad-tools"),
    half: faulty("half"),
    "second-page": faulty("second-page"),
    asks: faulty("asks"),
  };
  const all = upstreams(t, servers, { upstream: { probe_timeout_ms: 1_500, connect_timeout_ms: 4_000 } });
  const connecting = Object.fromEntries(Object.entries(all).map(([name, upstream]) => [name, upstream.connect()]));
  const { healthy } = all;
  await connecting.healthy;

  // All the while, the healthy one answers.
  let answered = 0;
  let isOver = false;
  const watch = (async () => {
    for (let n = 0; !isOver; n += 1) {
      assert.equal(textOf(await call(healthy, "echo", { n })), JSON.stringify({ n }));
      answered += 1;
      await new Promise((done) => setTimeout(done, 50));
    }
  })();
  t.after(() => (isOver = true));

  await t.test("one that keeps a call for ever", async () => {
    await connecting.stderr;
    const stop = new AbortController();
    let isOpen = true;
    const kept = failure(call(all.stderr, "never", {}, { timeout_ms: 600_000, signal: stop.signal })).finally(() => (isOpen = false));
    for (let n = 0; n < 3; n += 1) assert.equal(textOf(await call(healthy, "echo", { n })), JSON.stringify({ n }));
    assert.ok(isOpen, "the calls of the healthy one were answered first");
    stop.abort();
    await kept;
  });
  await t.test("one that never answers is given up after its time", async () => {
    const state = await connecting.hang;
    assert.deepEqual([state.status, state.failure.kind], ["unavailable", "timeout"]);
    assert.ok(state.attempts >= 1);
  });
  await t.test("one that answers nonsense is no server", async () => {
    const state = await connecting.nonsense;
    assert.equal(state.status, "unavailable");
  });
  await t.test("one that ends is started again", async () => {
    await connecting.exits;
    for (let n = 0; n < 12; n += 1) {
      const answer = await call(all.exits, "echo", { n }).catch((error) => error.failure);
      if (answer.kind === undefined) assert.equal(textOf(answer), JSON.stringify({ n }));
      else assert.equal(answer.kind, "unavailable", answer.message);
    }
    await until("it was started again and again", () => all.exits.told.states.filter((status) => status === "ready").length >= 3);
    assert.equal(all.exits.told.listings.length, 1);
  });
  await t.test("one that floods its standard error", async () => {
    assert.equal((await connecting.stderr).status, "ready");
    assert.equal(textOf(await call(all.stderr, "echo", { a: 1 })), '{"a":1}');
    const { stderr } = all.stderr.report();
    assert.ok(stderr.length <= 50 && stderr.join("").length <= 17_000, `${stderr.length} lines`);
    assert.ok(stderr.join("").includes("noise") && !stderr.join("").includes(SECRET));
  });
  await t.test("one that sends 200 MB", async () => {
    await connecting.huge;
    const large = await failure(call(all.huge, "act", {}, { timeout_ms: 30_000 }));
    assert.deepEqual([large.kind, /larger than 16777216 bytes/.test(large.message)], ["malformed", true], JSON.stringify(large));
    await until("the reason is told", () => all.huge.told.states.includes("unavailable"));
    await until("it is there again", () => all.huge.state.status === "ready");
    assert.equal(textOf(await call(all.huge, "echo", { b: 2 })), '{"b":2}');
    assert.ok(process.memoryUsage().rss < 1_000_000_000);
  });
  await t.test("one whose pages never end, and one whose pages go round", async () => {
    await Promise.all([connecting.pages, connecting.circle]);
    assert.deepEqual([all.pages.state.status, all.pages.listing.counts.tools], ["ready", 200]);
    assert.match(all.pages.listing.problems[0].message, /more than 200 pages/);
    assert.equal(all.circle.listing.counts.tools, 3);
    assert.match(all.circle.listing.problems[0].message, /circle/);
  });
  await t.test("one that changes its tools hundreds of times", async () => {
    await connecting.changes;
    const runs = await Promise.all(Array.from({ length: 20 }, () => call(all.changes, "act")));
    assert.equal(runs.length, 20);
    await until("its tools are listed", () => names(all.changes.told.listings.at(-1)).includes("made21"));
    await new Promise((done) => setTimeout(done, 500));
    const lists = Number(textOf(await call(all.changes, "lists")));
    assert.ok(lists <= 5, `${lists} listings for 10,000 changes`);
  });
  await t.test("one that sends what is none of the protocol", async () => {
    await connecting.garbage;
    const answer = await failure(call(all.garbage, "act", {}, { timeout_ms: 5_000 }));
    assert.ok(["unavailable", "malformed", "timeout"].includes(answer.kind), JSON.stringify(answer));
    assert.equal(all.garbage.state.failure?.kind ?? "malformed", "malformed");
    await until("it is there again", () => all.garbage.state.status === "ready");
  });
  await t.test("one that tells too much", async () => {
    await connecting.chatter;
    await call(all.chatter, "act");
    await until("all was read", () => all.chatter.told.notifications.length + all.chatter.report().dropped_notifications === 5_000);
    assert.ok(all.chatter.told.notifications.length <= 3_000);
  });
  await t.test("one whose list has entries that are none", async () => {
    await connecting["bad-tools"];
    const { listing, told } = all["bad-tools"];
    assert.deepEqual(names(told.listings[0]), ["echo", "last"]);
    assert.deepEqual(
      listing.problems.map(({ list, kind, index }) => [list, kind, index]),
      [1, 2, 3, 4, 5, 6].map((index) => ["tools", "skipped", index]),
    );
  });
  await t.test("one of whose lists some fail", async () => {
    await Promise.all([connecting.half, connecting["second-page"]]);
    assert.deepEqual(all.half.listing.counts, { tools: 2, resources: 1, resource_templates: 0, prompts: 0 });
    assert.deepEqual(
      all.half.listing.problems.map(({ list, kind }) => [list, kind]),
      [["prompts", "failed"]],
    );
    const [problem] = all["second-page"].listing.problems;
    assert.deepEqual([all["second-page"].listing.counts.tools, problem.kind], [2, "incomplete"]);
    assert.ok(!problem.message.includes(SECRET));
  });
  await t.test("one that asks and asks", async () => {
    await connecting.asks;
    const { count, refused } = JSON.parse(textOf(await call(all.asks, "act")));
    assert.deepEqual([count, refused], [200, 200]);
    assert.ok(all.asks.told.requests.length <= 200);
  });

  isOver = true;
  await watch;
  t.diagnostic(`the healthy one answered ${answered} times`);
  // Nobody is left behind.
  await Promise.all(
    Object.values(all)
      .filter((upstream) => upstream !== healthy)
      .map((upstream) => upstream.close()),
  );
  const left = execFileSync("ps", ["-eo", "ppid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => Number(line.trim().split(" ")[0]) === process.pid && line.includes(FAULTY));
  assert.equal(left.length, 1, left.join("\n"));
  // Nobody else was reached by any of it.
  assert.deepEqual(healthy.told.states, ["ready"]);
  // A result is what the server sent, with all that nobody knows.
  const odd = await call(healthy, "echo", { odd: true });
  assert.deepEqual([odd.unheard_of, odd.content], [true, [{ type: "unheard-of", more: [1] }]]);
});

test("messages over HTTP are bounded, and harm only their request", async (t) => {
  const most = 1024 * 1024;
  let mode = "json";
  const server = await streamableServer({
    before: (request, response) => {
      if (mode === "none" || request.method !== "POST") return false;
      const chunk = Buffer.alloc(64 * 1024, "x");
      response.writeHead(200, { "content-type": mode === "json" ? "application/json" : "text/event-stream" });
      if (mode === "cut") return (response.write("event: message\ndata: {"), setTimeout(() => response.end(), 100), true);
      if (mode === "break") return (response.write("event: message\ndata: {"), setTimeout(() => response.destroy(), 100), true);
      if (mode === "sse") response.write("data: ");
      let sent = 0;
      const more = () => {
        while (!response.destroyed && sent < 200 * 1024 * 1024) {
          sent += chunk.length;
          if (!response.write(chunk)) return response.once("drain", more);
        }
        response.end();
      };
      more();
      return true;
    },
  });
  t.after(server.close);
  mode = "none";
  const { who } = upstreams(t, { who: { url: server.url, connection: "shared" } }, { upstream: { max_message_bytes: most } });
  await who.connect();
  for (mode of ["json", "sse"]) {
    const other = mode;
    const large = await failure(call(who, "who", {}, { timeout_ms: 20_000 }));
    assert.deepEqual([large.kind, /larger than 1048576 bytes/.test(large.message)], ["malformed", true], `${other}: ${JSON.stringify(large)}`);
  }
  for (mode of ["cut", "break"]) {
    const cut = await failure(call(who, "who", {}, { timeout_ms: 20_000 }));
    // A stream that has ended and is waited for all the same comes to a timeout.
    assert.equal(cut.kind, "unavailable", JSON.stringify(cut));
  }
  mode = "none";
  assert.match(textOf(await call(who, "who", { text: "y".repeat(500_000) })), /y{500000}/, "what is within the bound is whole");
  assert.deepEqual(who.told.states, ["ready"]);
});
