// Several users of one gateway: what one has, another never gets.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { configured, connected, gatewayIn, handleIn, published, textOf } from "./gateway-harness.mjs";
import { LARGE, featureServer, rowOf } from "./gateway-features.mjs";
import { listening, streamableServer, webHandler } from "./gateway-servers.mjs";
import { long, project, until } from "./harness.mjs";

const folder = await project("gateway-users", { "entry.mjs": 'export { gateway } from "contextweaver/mcp"; export { fileStore } from "contextweaver/node";' });
const { fileStore, gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));
const sdk = { server, client, client_stdio };

/** Who may ask: everybody, under the name that the token says. */
const authorize = (request) => {
  const [, caller] = /^Bearer of (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return caller && { caller: decodeURIComponent(caller) };
};
const as = (caller) => ({ authorization: `Bearer of ${encodeURIComponent(caller)}` });

/** A gateway in this process, over HTTP. Closed when the test ends, or by `stop()`. */
async function served(t, options) {
  const errors = [];
  const handler = gateway({ sdk, on_error: (error) => void errors.push(error), ...options });
  await handler.ready();
  const http = await listening(webHandler(handler.fetch));
  let stopped;
  const stop = () => (stopped ??= handler.close().then(http.close));
  t.after(stop);
  return { handler, http, errors, stop, url: `${http.origin}/mcp` };
}

const who = (result) => JSON.parse(textOf(result));
/** How long a call may take: a hundred users begin at once, on a machine that may do other things too. */
const PATIENT_MS = 300_000;

test("1,000 interleaved requests of 100 users, each with credentials of its own: the server never sees another's", async (t) => {
  const tools = () => [{ name: "who", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  // It answers with the number of who asks: what looks like a credential would be masked on the way back.
  const before = ({ headers, rawHeaders }) => void rawHeaders.push("x-number", /\d+$/.exec(headers.authorization ?? "")?.[0] ?? "none");
  const upstream = await streamableServer({ tools, before });
  t.after(upstream.close);
  // What only reads is answered from what is kept, which is of one user, too.
  const { url } = await served(t, {
    mcpServers: { who: { url: upstream.url, forward_headers: ["authorization"], timeout_ms: PATIENT_MS } },
    authorize,
    cache: {},
  });
  const kinds = ["SDK 1.x", "SDK 2.x, legacy", "SDK 2.x, auto"];
  const users = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => ({
      name: `user-${at}`,
      user: await connected(t, kinds[at % kinds.length], { url, headers: as(`user-${at}`) }),
    })),
  );
  const rounds = Array.from({ length: 10 }, (_, round) => users.map((one, at) => ({ ...one, round, at })));
  const asked = rounds.flat().sort((a, b) => ((a.at * 7_919 + a.round * 104_729) % 1_009) - ((b.at * 7_919 + b.round * 104_729) % 1_009));
  const answers = [];
  const work = asked.values();
  const lane = async () => {
    for (const { name, user, round } of work) answers.push({ name, ...who(await user.call("who", { round: round % 5 })) });
  };
  await Promise.all(Array.from({ length: 100 }, lane));
  assert.equal(answers.length, 1_000);
  assert.deepEqual(answers.filter(({ headers }) => headers === undefined).slice(0, 3), [], "calls without an answer of the server");
  for (const { name, headers } of answers) assert.equal(`user-${headers["x-number"]}`, name);
  // A connection of its own for each: none answers two.
  const names = new Map();
  for (const { name, server: id } of answers) assert.equal(names.get(id) ?? names.set(id, name).get(id), name);
});

/** Users of the second test, who ask ten times each. */
const USERS = long ? 100 : 40;

test("interleaved requests of many users, each by what `authorize` says of it: no header of theirs reaches the server, and nothing of another's", async (t) => {
  const tools = () => [{ name: "who", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  const seen = new Set();
  const before = ({ headers, rawHeaders }) => {
    seen.add(headers.authorization);
    rawHeaders.push("x-number", /\d+$/.exec(headers.authorization ?? "")?.[0] ?? "none");
  };
  const upstream = await streamableServer({ tools, before });
  t.after(upstream.close);
  // The gateway's own tokens are others than those of the server.
  const known = (request) => {
    const { caller } = authorize(request) ?? {};
    return caller && { caller, ...(caller !== "nobody" && { user: { token: `secret-of-${caller}` } }) };
  };
  const { url, handler } = await served(t, {
    mcpServers: { who: { url: upstream.url, headers: { Authorization: "Bearer ${user.token}" } } },
    authorize: known,
    cache: {},
  });
  const kinds = ["SDK 1.x", "SDK 2.x, legacy", "SDK 2.x, auto"];
  const users = await Promise.all(
    Array.from({ length: USERS }, async (_, at) => ({
      name: `user-${at}`,
      user: await connected(t, kinds[at % kinds.length], { url, headers: as(`user-${at}`) }),
    })),
  );
  const asked = Array.from({ length: 10 * USERS }, (_, at) => ({ ...users[(at * 37) % USERS], round: at % 5 })).sort(
    (a, b) => ((a.round * 7_919) % 5) - ((b.round * 7_919) % 5),
  );
  const answers = [];
  const work = asked.values();
  const lane = async () => {
    for (const { name, user, round } of work) answers.push({ name, ...who(await user.call("who", { round })) });
  };
  await Promise.all(Array.from({ length: USERS }, lane));
  assert.equal(answers.length, 10 * USERS);
  for (const { name, headers } of answers) assert.equal(`user-${headers["x-number"]}`, name);
  assert.ok(
    [...seen].every((header) => /^Bearer secret-of-user-\d+$/.test(header)),
    [...seen].find((header) => !/^Bearer secret-of/.test(header)),
  );
  // Whoever has nothing of its own is not given another's, nor a connection without.
  const before_ = seen.size;
  const nobody = await connected(t, "SDK 2.x, auto", { url, headers: as("nobody") });
  const refused = await nobody.call("who").then(textOf, ({ message }) => message);
  assert.match(refused, /nothing is known of `user\.token` of this caller/);
  assert.equal(seen.size, before_);
  assert.ok(!JSON.stringify([handler.stats(), await handler.servers()]).includes("secret-of"));
});

test("values of users stand where they can, and need somebody who says who asks", async () => {
  const server = { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${user.token}" } };
  assert.throws(() => gateway({ sdk, token: "t", mcpServers: { server } }), { code: "MISSING_FIELD", path: "/authorize" });
  for (const [entry, path] of [
    [{ url: "http://127.0.0.1:9/${user.token}" }, "/mcpServers/server/url"],
    [{ command: "x", args: ["${user.token}"] }, "/mcpServers/server/args/0"],
  ]) {
    assert.throws(() => gateway({ sdk, authorize, mcpServers: { server: entry } }), { code: "UNSUPPORTED", path });
  }
  const other = gateway({ sdk, token: "t", mcpServers: { server, everything: published("server-everything") } });
  assert.deepEqual(
    other.warnings.map(({ code }) => code),
    ["LEFT_OUT"],
  );
  await other.close();
});

test("a program runs once for each user, with what is the user's", async (t) => {
  const path = join(folder, "own.mjs");
  const { writeFile } = await import("node:fs/promises");
  await writeFile(
    path,
    `
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "mine", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: process.pid + " " + process.env.NUMBER }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "no" } });
}).on("close", () => process.exit(0));
`,
  );
  const known = (request) => ({ caller: authorize(request).caller, user: { number: authorize(request).caller.slice(-1) } });
  const { url } = await served(t, { mcpServers: { own: { command: process.execPath, args: [path], env: { NUMBER: "${user.number}" } } }, authorize: known });
  const all = [];
  for (const name of ["user-1", "user-2", "user-1"])
    all.push(textOf(await (await connected(t, "SDK 1.x", { url, headers: as(name) })).call("mine")).split(" "));
  assert.deepEqual(
    all.map(([, number]) => number),
    ["1", "2", "1"],
  );
  assert.notEqual(all[0][0], all[1][0]);
});

test("users under one token, and one session with renewed credentials: what is kept of one is not given to another", async (t) => {
  const tools = () => [{ name: "who", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  const upstream = await streamableServer({ tools });
  t.after(upstream.close);
  const token = "one-token-for-all";
  const { url } = await served(t, { mcpServers: { who: { url: upstream.url, forward_headers: ["x-user"] } }, token, cache: {} });
  const headers = (user) => ({ authorization: `Bearer ${token}`, "x-user": user });
  for (const kind of ["SDK 2.x, auto", "SDK 1.x"]) {
    for (const name of ["ann", "bob", "ann"]) {
      const user = await connected(t, kind, { url, headers: headers(name) });
      assert.equal(who(await user.call("who")).headers["x-user"], name, kind);
    }
  }
  const given = headers("cat");
  const renewing = await connected(t, "SDK 1.x", { url, headers: given });
  assert.equal(who(await renewing.call("who", { n: 1 })).headers["x-user"], "cat");
  // The transport takes its headers from the object that it was given.
  const calls = Array.from({ length: 20 }, (_, at) => {
    renewing.transport._requestInit = { headers: headers(`cat ${at}`) };
    return renewing.call("who", { n: 2, at }).then((result) => assert.equal(who(result).headers["x-user"], `cat ${at}`));
  });
  await Promise.all(calls);
});

const NAMES = ["ann", "Ann", "ann ", "../ann", "ann#1", "1#ann", "#0#ann", "0#ann", "ann:aaaaaaaaaa", "gateway:ann", "ann/bob", "änn"];

test("handles of one caller are unknown to the others, in every form, and after a restart", async (t) => {
  const shop = await featureServer("legacy");
  t.after(shop.close);
  const path = join(folder, "store-users");
  const start = () => served(t, { mcpServers: { shop: { url: shop.url } }, authorize, store: fileStore(path) });
  const first = await start();
  const ann = await connected(t, "SDK 1.x", { url: first.url, headers: as("ann") });
  const modern = await connected(t, "SDK 2.x, auto", { url: first.url, headers: as("ann") });
  const large = handleIn(await ann.call("large"));
  const [, name] = /:([a-z2-7]{10})-\d+$/.exec(large);
  const small = await ann.call("picture");
  assert.equal(small.content[1].type, "image");
  const handles = [
    large,
    `artifact:result:${name}-2`,
    `mcp:picture:${name}-2:image:1`,
    `mcp:picture:${name}-2:image:0`,
    `text:large:${name}-1`,
    `${name}-1`,
    `artifact:${name}-1`,
    handleIn(await modern.call("large")),
  ];
  const reads = async (user, handle, selector = { type: "lines", start: 77, end: 78 }) => {
    const result = await user.call("drilldown", { handle, selector });
    return result.isError ? "refused" : textOf(result).split("\n")[0];
  };
  const holds = async ({ url, http }, again) => {
    const own = again ?? ann;
    assert.equal(await reads(own, large), rowOf(77));
    // Pictures are there as they came, too.
    assert.deepEqual((await own.call("drilldown", { handle: `mcp:picture:${name}-2:image:1`, selector: { type: "head" } })).content, [small.content[1]]);
    for (const [at, other] of NAMES.filter((one) => one !== "ann").entries()) {
      const user = await connected(t, at % 2 ? "SDK 1.x" : "SDK 2.x, auto", { url, headers: as(other) });
      for (const handle of handles) {
        for (const selector of [undefined, { type: "search", pattern: "row" }])
          assert.equal(await reads(user, handle, selector), "refused", `${other} reads ${handle}`);
      }
      await user.close();
    }
    for (const caller of ["ann", "bob"]) {
      for (const handle of handles) {
        const response = await fetch(`${http.origin}/v1/artifacts/${encodeURIComponent(handle)}`, { headers: as(caller) });
        const text = await response.text();
        assert.ok(caller === "ann" || response.status === 404, `${caller} ${handle}: ${response.status} ${text.slice(0, 200)}`);
        if (caller !== "ann") assert.ok(!LARGE.includes(text.slice(0, 40)), text.slice(0, 200));
      }
    }
  };
  await holds(first);
  await first.stop();
  const second = await start();
  await holds(second, await connected(t, "SDK 2.x, auto", { url: second.url, headers: as("ann") }));
  assert.deepEqual(first.errors.concat(second.errors), []);
});

test("callers whose names look like keys of others share nothing", async (t) => {
  const upstream = await streamableServer();
  t.after(upstream.close);
  const { url } = await served(t, { mcpServers: { who: { url: upstream.url } }, authorize });
  const seen = new Map();
  for (const kind of ["SDK 1.x", "SDK 2.x, auto"]) {
    for (const name of NAMES) {
      const id = who(await (await connected(t, kind, { url, headers: as(name) })).call("who")).server;
      assert.ok(!seen.has(id), `${kind} ${name} has the connection of ${seen.get(id)}`);
      seen.set(id, `${kind} ${name}`);
    }
  }
});

test("a session is its caller's alone", async (t) => {
  const shop = await featureServer("legacy");
  t.after(shop.close);
  const { url } = await served(t, { mcpServers: { shop: { url: shop.url } }, authorize });
  const ann = await connected(t, "SDK 1.x", { url, headers: as("ann") });
  const id = ann.transport.sessionId;
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const ask = (method, caller, more = {}) =>
    fetch(url, {
      method,
      headers: { ...(caller && as(caller)), "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-session-id": id, ...more },
      ...(method === "POST" && { body: ping }),
    });
  for (const method of ["POST", "GET", "DELETE"]) {
    assert.equal((await ask(method, "bob")).status, 404, method);
    assert.equal((await ask(method, undefined)).status, 401, method);
    assert.equal((await ask(method, "ann", { "mcp-session-id": `${id}x` })).status, 404, method);
  }
  assert.equal((await ask("POST", "ann")).status, 200);
  assert.ok((await ann.names()).includes("echo"));
});

/** A session of one caller by plain requests; `id` of one that is there, else a new one. */
async function plainSession(handler, id) {
  const ask = (method, message, more = {}) =>
    handler.fetch(
      new Request("http://127.0.0.1/mcp", {
        method,
        headers: {
          ...as("ann"),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(id && { "mcp-session-id": id }),
          ...more,
        },
        ...(message && { body: JSON.stringify({ jsonrpc: "2.0", ...message }) }),
      }),
    );
  const send = async (method, more = {}) => {
    const response = await ask("POST", { method, ...more });
    await response.text();
    return response;
  };
  if (id === undefined) {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "user", version: "1" } };
    id = (await send("initialize", { id: 0, params })).headers.get("mcp-session-id");
    await send("notifications/initialized");
  }
  /** Opens the stream of what the session is told, behind an event of it. */
  const listen = async (after) => {
    const response = await ask("GET", undefined, after && { "last-event-id": after });
    assert.equal(response.status, 200, `${after}: ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    return {
      /** The id and the method of the next message. */
      next: async () => {
        for (let text = ""; ; ) {
          const [, event, data] = /^id: (\S+)\ndata: (\{.*\})$/m.exec(text) ?? [];
          if (data !== undefined) return { event, method: JSON.parse(data).method };
          text += (await reader.read()).value ?? assert.fail(`the stream has ended: ${text}`);
        }
      },
      stop: () => reader.cancel(),
    };
  };
  return { id, listen, ping: () => send("ping", { id: 1 }) };
}

test("what a session is told goes on where its stream broke, after many calls and after a restart too", async (t) => {
  const tools = [{ name: "look", inputSchema: { type: "object" } }];
  const upstream = await streamableServer({ tools: () => tools });
  t.after(upstream.close);
  const start = () => served(t, { mcpServers: { shop: { url: upstream.url } }, authorize, store: fileStore(join(folder, "streams")) });
  const change = async () => {
    tools.push({ ...tools[0], name: `look${tools.length}` });
    for (const { server: each } of upstream.sessions.values()) await each.sendToolListChanged();
  };
  const [first, beside] = [await start(), await start()];
  const session = await plainSession(first.handler);
  const others = await plainSession(beside.handler);
  const stream = await session.listen();
  await change();
  const told = await stream.next();
  assert.equal(told.method, "notifications/tools/list_changed");
  await stream.stop();
  // Each of them is an event or two, more than are kept.
  for (let calls = 0; calls < 210; calls += 1) assert.equal((await session.ping()).status, 200);
  await change();
  const again = await session.listen(told.event);
  const later = await again.next();
  assert.equal(later.method, told.method);
  await Promise.all([first.stop(), beside.stop()]);

  const { handler } = await start();
  const resumed = await (await plainSession(handler, session.id)).listen(later.event);
  await change();
  assert.equal((await resumed.next()).method, told.method);
  await resumed.stop();
  // Of another gateway with the same store, too.
  await (await (await plainSession(handler, others.id)).listen()).stop();
});

test("whoever was away longest leaves for a new session, and nobody else", async (t) => {
  const { handler } = await served(t, { mcpServers: { everything: published("server-everything") }, authorize, max_sessions: 2 });
  // One after the other, and no two in the same millisecond.
  const statuses = async (...sessions) => {
    const all = [];
    for (const { ping } of sessions) {
      await new Promise((done) => setTimeout(done, 5));
      all.push((await ping()).status);
    }
    return all;
  };
  const ann = await plainSession(handler);
  const bob = await plainSession(handler);
  for (let round = 0; round < 2; round += 1) assert.deepEqual(await statuses(ann, bob), [200, 200]);
  // Who listens is there.
  await ann.listen();
  assert.deepEqual(await statuses(bob), [200]);
  const eve = await plainSession(handler);
  assert.deepEqual(await statuses(ann, bob, eve), [200, 404, 200]);
  await eve.listen();
  assert.deepEqual(await statuses(ann), [200]);
  const dan = await plainSession(handler);
  assert.deepEqual(await statuses(ann, eve, dan), [200, 404, 200]);
  assert.equal(handler.stats().clients, 2);
});

test("a shared program asks and tells the client whose call is under way, and nobody where that is not clear", async (t) => {
  const { url, handler } = await served(t, { mcpServers: { everything: published("server-everything") }, authorize });
  const answers = (name) => ({
    "elicitation/create": () => ({ action: "accept", content: { name } }),
    "sampling/createMessage": () => ({ role: "assistant", model: name, content: { type: "text", text: `sampled by ${name}` } }),
  });
  for (const kind of ["SDK 1.x", "SDK 2.x, auto"]) {
    const [ann, bob] = await Promise.all(["ann", "bob"].map((name) => connected(t, kind, { url, headers: as(name), answers: answers(name) })));
    await until("tools for what the client can do", async () => (await ann.names()).includes("trigger-sampling-request"));
    assert.match(textOf(await ann.call("trigger-sampling-request", { prompt: "say", maxTokens: 10 })), /sampled by ann/);
    assert.deepEqual([ann.asked.length, bob.asked.length], [1, 0], kind);
    assert.match(textOf(await bob.call("trigger-sampling-request", { prompt: "say", maxTokens: 10 })), /sampled by bob/);
    assert.deepEqual([ann.asked.length, bob.asked.length], [1, 1], kind);
    // Calls of both are under way: nobody is asked, and neither is told what may be of the other.
    const long = ann.call("trigger-long-running-operation", { duration: 1.5, steps: 3 });
    await until("the call is under way", async () => (await handler.servers())[0].in_flight === 1);
    const refused = await bob.call("trigger-sampling-request", { prompt: "say", maxTokens: 10 }).then(textOf, ({ message }) => message);
    assert.match(refused, /nobody can be told to answer|several clients/);
    await long;
    assert.deepEqual([ann.asked.length, bob.asked.length], [1, 1], kind);
    await Promise.all([ann.close(), bob.close()]);
  }
});

test("who has the state of another's call cannot go on with it", async (t) => {
  const shop = await featureServer("modern");
  t.after(shop.close);
  const { url } = await served(t, { mcpServers: { shop: { url: shop.url } }, authorize });
  const REVISION = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  for (const name of ["ask_user", "log"]) {
    const { url: asking } = name === "log" ? await served(t, { mcpServers: { shop: { url: shop.url } }, authorize, policy: { default: "ask" } }) : { url };
    const call = async (caller, more = {}) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, _meta: meta, ...more } });
      const response = await fetch(asking, {
        method: "POST",
        headers: { ...as(caller), ...json, "mcp-protocol-version": REVISION, "mcp-method": "tools/call", "mcp-name": name },
        body,
      });
      const text = await response.text();
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    };
    const { result } = await call("ann");
    assert.equal(result.resultType, "input_required", JSON.stringify(result));
    const [key] = Object.keys(result.inputRequests);
    const answer = { inputResponses: { [key]: { action: "accept", content: { name: "Bob" } } }, requestState: result.requestState };
    const stolen = await call("bob", answer);
    assert.ok(stolen.error, JSON.stringify(stolen));
    // Not the last character: of its bits some are no part of the signature.
    const [start, char, end] = [result.requestState.slice(0, -9), result.requestState.at(-9), result.requestState.slice(-8)];
    const changed = await call("ann", { ...answer, requestState: `${start}${char === "x" ? "y" : "x"}${end}` });
    assert.ok(changed.error, JSON.stringify(changed));
    const own = await call("ann", answer);
    assert.match(JSON.stringify(own.result.content), name === "log" ? /logged/ : /Bob/);
    assert.ok((await call("ann", answer)).error, "it is answered once");
  }
});

const TOKEN = "tok-7Yq2mX9sLr4Tz8Wv";
const INIT = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
});
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const post = (headers = {}, body = INIT, path = "/mcp") => ({ method: "POST", path, headers: { ...json, ...headers }, body });
const get = (path, headers = {}) => ({ method: "GET", path, headers });
const bearer = { authorization: `Bearer ${TOKEN}` };

/** What is tried where a token is wanted, each with the statuses that are right; 0 where the connection may end. */
const WITH_TOKEN = {
  "no token": [post(), 401],
  "an empty token": [post({ authorization: "Bearer " }), 401],
  "a wrong token": [post({ authorization: `Bearer ${TOKEN}x` }), 401],
  "half of a token": [post({ authorization: `Bearer ${TOKEN.slice(0, 8)}` }), 401],
  "another scheme": [post({ authorization: `Basic ${TOKEN}` }), 401],
  "the token in the query": [post({}, INIT, `/mcp?token=${TOKEN}`), 401],
  "statistics without a token": [get("/stats"), 401],
  "statistics with a wrong one": [get("/stats", { authorization: "Bearer x" }), 401],
  "a route without a token": [post({}, '{"query":"x"}', "/v1/route"), 401],
  "an artifact without a token": [get("/v1/artifacts/artifact:result:aaaaaaaaaa-1"), 401],
  "a page of somewhere": [post({ ...bearer, origin: "https://evil.example" }), 403],
  "a page of nowhere": [post({ ...bearer, origin: "null" }), 403],
  "a page that begins with localhost": [post({ ...bearer, origin: "http://localhost.evil.example" }), 403],
  "no JSON": [post(bearer, "{"), 400],
  nothing: [post(bearer, ""), 400],
  "a list": [post(bearer, "[]"), 400],
  "a batch": [post(bearer, `[${INIT},${INIT}]`), 400],
  "bytes that are no UTF-8": [{ ...post(bearer), body: new Uint8Array([0x7b, 0xff, 0x7d]) }, 400],
  "deep JSON": [post(bearer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${"[".repeat(20_000)}${"]".repeat(20_000)}}`), 400],
  "a large body": [post(bearer, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(5_000_000) })), [413, 0]],
  "a large body that says so": [post({ ...bearer, "content-length": "9999999999" }), [413, 0]],
  "another media type": [post({ ...bearer, "content-type": "text/plain" }), 415],
  "a client that takes no events": [post({ ...bearer, accept: "application/json" }), 406],
  "a session that is none": [post({ ...bearer, "mcp-session-id": "x" }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 404],
  "no session": [post(bearer, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 400],
  "another method": [{ ...post(bearer), method: "PUT" }, 405],
  "another path": [get("/other", bearer), 404],
  "dots in a path": [get("/mcp/..%2f..%2fetc/passwd", bearer), 404],
  "a method of statistics": [{ ...post(bearer, "{}", "/stats") }, 405],
  "another one's artifact": [get("/v1/artifacts/artifact:result:aaaaaaaaaa-1", bearer), 404],
};
/** The same where only this machine may ask. */
const WITHOUT_TOKEN = {
  "the name of another host": [post({ host: "evil.example" }), 403],
  "statistics under the name of another host": [get("/stats", { host: "evil.example" }), 403],
  "a route under the name of another host": [post({ host: "evil.example" }, '{"query":"x"}', "/v1/route"), 403],
  "a name that begins with this machine's": [get("/stats", { host: "127.0.0.1.evil.example" }), 403],
  "a name that ends with it": [get("/stats", { host: "evil.example.localhost:80" }), 403],
  "a name with a user": [get("/stats", { host: "localhost@evil.example" }), [400, 403]],
  "a page of somewhere": [get("/stats", { origin: "https://evil.example" }), 403],
  "a page of somewhere, here": [post({ origin: "http://evil.example", host: "evil.example" }), 403],
  "a page of this machine by another name": [post({ origin: "http://localhost:5173", host: "evil.example" }), 403],
  "a preflight of somewhere": [{ method: "OPTIONS", path: "/mcp", headers: { origin: "https://evil.example", "access-control-request-method": "POST" } }, 403],
};

/** Sends a request as it is: `fetch` would tidy it up. */
function sent(to, { path, method, headers, body }) {
  return new Promise((done) => {
    const { hostname, port } = new URL(to);
    // A connection of its own: the server ends those on which it did not read everything.
    const sending = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      const chunks = [];
      answer.on("data", (chunk) => chunks.push(chunk)).on("end", () => done({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }));
    });
    sending.on("error", () => done({ status: 0, text: "" }));
    sending.setTimeout(5_000, () => sending.destroy());
    sending.end(body);
  });
}

test("every attack is refused, and tells nothing", async (t) => {
  await mkdir(join(folder, "data"), { recursive: true });
  const config = await configured(folder, "attacked.json", { memory: published("server-memory") });
  for (const [attacks, args] of [
    [WITH_TOKEN, ["--token", TOKEN]],
    [WITHOUT_TOKEN, []],
  ]) {
    const command = gatewayIn(folder, config);
    const { url, stderr, stop } = await command.http(t, {
      more: args,
      env: { CONTEXTWEAVER_TOKEN: undefined, MEMORY_FILE_PATH: join(folder, "data", "memory.jsonl") },
    });
    await until("the server is told of", () => /memory.*\d+ tools/.test(stderr()));
    for (const [name, [attack, wanted]] of Object.entries(attacks)) {
      const { status, text } = await sent(url, attack);
      assert.ok([wanted].flat().includes(status), `${name}: ${status} ${text.slice(0, 300)}`);
      assert.ok(!/node_modules|\.js:|at \w+ \(|tok-7/.test(text), `${name}: ${text}`);
    }
    for (const host of ["localhost:1", "127.0.0.1", "[::1]:80"])
      assert.equal((await sent(url, get("/stats", { host, ...(args.length > 0 && bearer) }))).status, 200, host);
    assert.ok(!stderr().includes("tok-7"));
    await stop();
  }
});
