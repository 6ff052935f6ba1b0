// Servers that want a user to log in: the command with its page and its store, `auth_provider` of `gateway()`, and the login itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as server from "@modelcontextprotocol/server";
import { packageDir, run, temporaryFolder, until } from "./harness.mjs";
import { oauthServer } from "./gateway-oauth.mjs";
import { streamableServer } from "./gateway-servers.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
const { gateway } = await load("mcp-server.js");
const { GatewayLogin } = await load("gateway/login.js");
const { Client, StreamableHTTPClientTransport } = client;
const sdk = { server, client };
const PROGRAM = join(packageDir, "bin", "contextweaver.js");

// Programs write into it to their end: it is removed behind them.
const folderOf = () => temporaryFolder("gateway-login");

/** Starts the command over HTTP. `said()` is what it has printed, `page(n)` the n-th page that it asks to open. */
async function started(t, config, ...args) {
  const child = spawn(process.execPath, [PROGRAM, "gateway", "--config", config, "--mode", "firewall", "--http", "--port", "0", ...args], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const ended = new Promise((done) => child.once("close", done));
  const close = async () => (child.kill("SIGTERM"), ended);
  t.after(close);
  const said = () => output;
  const page = (number) =>
    until(
      () => `page ${number}\n${output}`,
      () => [...output.matchAll(/open this page to log in to \S+, for every client of this gateway: (\S+)\n/g)][number - 1]?.[1],
    );
  const url = await until(
    () => `a start\n${output}`,
    () => /listening on (\S+)/.exec(output)?.[1],
  );
  return { url, said, page, close };
}

async function connected(t, url, options) {
  const made = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  t.after(() => made.close());
  await made.connect(new StreamableHTTPClientTransport(new URL(url), options));
  return made;
}

const names = async (made) => (await made.listTools()).tools.map(({ name }) => name).sort();
const text = ({ content }) => content.map((block) => block.text ?? "").join("\n");
/** What the user sees who opens a page and agrees, or does not. */
const opened = async (page) => {
  const response = await fetch(page);
  return { status: response.status, headers: response.headers, body: await response.text(), url: response.url };
};

test("the command has its user log in, and keeps what it was given", async (t) => {
  const folder = await folderOf();
  const [docs, other] = [await oauthServer(), await streamableServer({ tools: () => [{ name: "elsewhere", inputSchema: { type: "object" } }] })];
  t.after(docs.close);
  t.after(other.close);
  const config = join(folder, "mcp.json");
  const store = join(folder, "store");
  await writeFile(config, JSON.stringify({ mcpServers: { docs: { type: "http", url: docs.url }, other: { type: "http", url: other.url } } }));

  const diagnosis = await run(process.execPath, [PROGRAM, "gateway", "doctor", "--config", config, "--store", store], { check: false });
  assert.equal(diagnosis.code, 1);
  assert.match(diagnosis.stdout, /^LOGIN docs/m);
  assert.match(diagnosis.stdout, /docs: waits for its user to log in: contextweaver gateway login docs --config/);
  assert.equal(docs.seen.registered.length, 0, "who only looks registers nothing");

  const first = await started(t, config, "--store", store);
  assert.match(await until(first.said, () => /a login to .* counts for every client.*/.exec(first.said())?.[0]), /a login to docs, other/);
  const page = await first.page(1);
  await until(first.said, () => first.said().includes("waits for its user to log in: open the page that the gateway has printed"));
  const made = await connected(t, first.url);
  assert.deepEqual(await names(made), ["drilldown", "elsewhere", "recall"], "the other server is not held up");
  assert.equal((await made.callTool({ name: "elsewhere", arguments: {} })).isError ?? false, false);

  const { searchParams } = new URL(page);
  const callback = searchParams.get("redirect_uri");
  assert.match(callback, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  for (const [address, headers, status] of [
    [`${callback}?state=of-somebody-else&code=x`, {}, 400],
    [`${callback}?code=x`, {}, 400],
    [callback.replace("/callback", "/"), {}, 404],
    [callback.replace("/callback", "//"), {}, 404],
  ]) {
    assert.equal((await fetch(address, { headers })).status, status, address);
  }
  const done = await opened(page);
  assert.equal(done.status, 200, done.body);
  assert.match(done.body, /You are logged in to docs.*You may close this window/s);
  assert.match(done.headers.get("content-security-policy"), /default-src 'none'/);
  assert.equal(done.headers.get("referrer-policy"), "no-referrer");
  assert.equal((await fetch(done.url)).status, 400, "an answer counts once");
  await until(first.said, () => /ok docs: 1 tools/.test(first.said()));
  assert.deepEqual(await names(made), ["drilldown", "elsewhere", "recall", "who"]);
  assert.match(text(await made.callTool({ name: "who", arguments: {} })), /server/);

  // Access tokens end: they are renewed without anybody.
  docs.set.expire();
  assert.match(text(await made.callTool({ name: "who", arguments: {} })), /server/);
  assert.equal(docs.seen.grants.includes("refresh_token"), true);
  assert.equal(docs.seen.pages.length, 1);

  // All tokens end: somebody has to log in again.
  docs.set.revoke();
  const refused = await made.callTool({ name: "who", arguments: {} });
  assert.equal(refused.isError, true);
  assert.match(text(refused), /AUTH_FAILED/);
  assert.match(text(refused), /waits for its user to log in: open the page that the gateway has printed/);
  assert.equal(text(refused).includes("state="), false, "the page is for the user alone");
  docs.set.deny = true;
  const denied = await opened(await first.page(2));
  assert.equal(denied.status, 400);
  assert.match(denied.body, /login to docs failed.*access_denied/s);
  docs.set.deny = false;
  assert.equal((await opened(await first.page(3))).status, 200);
  await until(first.said, () => first.said().match(/logged in to docs/g)?.length === 2);
  await until(first.said, async () => (await made.callTool({ name: "who", arguments: {} })).isError !== true);
  assert.equal(docs.seen.registered.length, 1, "the gateway registers itself once");
  await made.close();
  await first.close();

  for (const file of await readdir(store, { recursive: true })) {
    const { mode } = await stat(join(store, file));
    assert.equal(mode & 0o077, 0, `${file} can be read by others`);
  }
  assert.match((await run(process.execPath, [PROGRAM, "gateway", "doctor", "--config", config, "--store", store])).stdout, /^ok    docs/m);
  const second = await started(t, config, "--store", store);
  await until(second.said, () => /ok docs: 1 tools/.test(second.said()));
  docs.set.revoke();
  const again = await connected(t, second.url);
  assert.equal((await again.callTool({ name: "who", arguments: {} })).isError, true);
  // The browser comes back to where it came back to before, so that the client is still the registered one.
  assert.equal(new URL(await second.page(1)).searchParams.get("redirect_uri"), callback);
  assert.equal(docs.seen.registered.length, 1);
  for (const secret of docs.seen.secrets) assert.equal((first.said() + second.said()).includes(secret), false, "a secret was printed");
});

test("a user logs in by `gateway login`, and the gateway that a client has started meanwhile uses it", async (t) => {
  const folder = await folderOf();
  const docs = await oauthServer();
  t.after(docs.close);
  const config = join(folder, "mcp.json");
  const store = join(folder, "store");
  await writeFile(config, JSON.stringify({ mcpServers: { docs: { type: "http", url: docs.url }, here: { command: process.execPath, args: ["-e", ""] } } }));
  const at = ["gateway", "login", "--config", config, "--store", store];
  // A client shows nobody what the gateway prints.
  const hidden = await started(t, config, "--store", store);
  const made = await connected(t, hidden.url);
  await hidden.page(1);

  const unknown = await run(process.execPath, [PROGRAM, ...at, "here"], { check: false });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no user logs in to 'here'; servers that one may log in to: docs/);
  assert.match((await run(process.execPath, [PROGRAM, "gateway", "login", "--config", config], { check: false })).stderr, /login needs --store/);

  const child = spawn(process.execPath, [PROGRAM, ...at], { env: { ...process.env, NODE_TEST_CONTEXT: undefined }, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill());
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = new Promise((done) => child.once("close", done));
  const page = await until(
    () => said,
    () => /open this page to log in to docs: (\S+)\n/.exec(said)?.[1],
  );
  assert.equal((await opened(page)).status, 200);
  assert.equal(await ended, 0, said);
  assert.match(said, /^docs: logged in$/m);
  assert.match((await run(process.execPath, [PROGRAM, ...at, "docs"])).stdout, /^docs: needs no login$/m);
  await until(hidden.said, () => /ok docs: 1 tools/.test(hidden.said()));
  assert.match(text(await made.callTool({ name: "who", arguments: {} })), /server/);
});

test("a login comes back to the port of --login-port, and to this machine alone", async (t) => {
  const folder = await folderOf();
  const docs = await oauthServer();
  t.after(docs.close);
  const free = await streamableServer();
  const port = new URL(free.url).port;
  await free.close();
  const config = join(folder, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers: { docs: { url: docs.url, headers: { "X-Tenant": "acme" } } } }));
  const { page } = await started(t, config, "--login-port", port);
  const callback = new URL(new URL(await page(1)).searchParams.get("redirect_uri"));
  assert.equal(callback.port, port);
  // A name that somebody points here, as in DNS rebinding.
  const { request } = await import("node:http");
  const status = await new Promise((done, fail) => {
    request(
      { host: "127.0.0.1", port, path: "/callback?state=x", headers: { host: `evil.example:${port}` } },
      (response) => (response.resume(), done(response.statusCode)),
    )
      .on("error", fail)
      .end();
  });
  assert.equal(status, 403);
  // Headers of the configuration are for the server, not for the authorization server that it names.
  assert.ok(docs.seen.foreign.length > 0);
  for (const { pathname, headers } of docs.seen.foreign) assert.equal(headers["x-tenant"], undefined, pathname);
});

/** A provider as an application has it, with the page in `pages`. */
function login(url, more = {}) {
  const pages = [];
  const provider = new GatewayLogin({
    server: "docs",
    url,
    client,
    hint: "open the page",
    redirect: async () => "http://127.0.0.1:1/callback",
    show: (page) => void pages.push(page),
    read: async () => undefined,
    write: async (change) => void change(undefined),
    ...more,
  });
  const finish = async (page) => provider.finish(new URL((await fetch(page, { redirect: "manual" })).headers.get("location")).searchParams);
  return { provider, pages, finish };
}

test("gateway() takes providers, says who waits for a login, and connects again after it", async (t) => {
  const docs = await oauthServer();
  t.after(docs.close);
  const { provider, pages, finish } = login(docs.url);
  const asked = [];
  const handler = gateway({
    mcpServers: { docs: { url: docs.url }, machine: { url: docs.url, oauth: { client_id: "a", client_secret: "b", issuer: "https://login.example" } } },
    token: false,
    sdk,
    mode: "firewall",
    auth_provider: (...args) => (asked.push(args), provider),
  });
  t.after(() => handler.close());
  await handler.ready();
  assert.deepEqual(asked, [["docs", docs.url]], "a server with credentials of its own needs none");
  const [{ state }] = await handler.servers();
  assert.equal(state.status, "unavailable");
  assert.equal(state.reason, "waits for its user to log in: open the page");
  assert.equal(state.awaits, "login");
  assert.equal(state.retry_at, undefined, "nothing is tried meanwhile");
  assert.equal(pages.length, 1, "connections that find out at once ask for one page");
  const before = docs.seen.foreign.length;
  await handler.reconnect("docs");
  assert.equal(docs.seen.foreign.length, before, "and begin no other login");
  await finish(pages[0]);
  assert.equal((await handler.reconnect("docs")).state.status, "ready");
  const made = await connected(t, "http://localhost/mcp", { fetch: (input, init) => handler(new Request(input, init)) });
  assert.deepEqual(await names(made), ["drilldown", "recall", "who"]);
  // Tokens that a server sends back are masked as those of a configuration are.
  const shown = text(await made.callTool({ name: "who", arguments: {} }));
  for (const secret of docs.seen.secrets) assert.equal(shown.includes(secret), false);
  await assert.rejects(handler.reconnect("doc"), { code: "NOT_FOUND", path: "/server" });
});

test("providers that are none are errors", async (t) => {
  const servers = (oauth) => ({ mcpServers: { docs: { url: "http://127.0.0.1:1/mcp", ...(oauth && { oauth }) } }, token: false, sdk });
  assert.throws(() => gateway({ ...servers(), auth_provider: {} }), { code: "INVALID_INPUT", path: "/auth_provider" });
  assert.throws(() => gateway(servers({ client_id: "me" })), { code: "MISSING_FIELD", path: "/auth_provider" });
  const handler = gateway({ ...servers(), auth_provider: () => "a token" });
  t.after(() => handler.close());
  await assert.rejects(handler.ready(), { code: "CALLBACK_FAILED" });
});

test("a login belongs to its server, its page and its authorization server", async (t) => {
  const docs = await oauthServer();
  t.after(docs.close);
  let kept = { url: "http://127.0.0.1:1/elsewhere", tokens: { access_token: "of another server" } };
  const { provider } = login(docs.url, { read: async () => kept, write: async (change) => void (kept = change(kept)) });
  assert.equal(await provider.tokens(), undefined, "tokens for another address");
  await assert.rejects(provider.finish(new URLSearchParams({ state: "unknown", code: "x" })), /not begun here/);
  await provider.saveTokens({ access_token: "new", refresh_token: "newer" }, { issuer: "https://login.example" });
  // Only what the authorization server has refused is given up, and not what came in its place.
  await provider.invalidateCredentials("tokens");
  provider.refused("older");
  await provider.invalidateCredentials("tokens");
  assert.equal((await provider.tokens()).access_token, "new");
  provider.refused("newer");
  await provider.invalidateCredentials("tokens");
  assert.equal(await provider.tokens(), undefined);
  assert.equal(kept.url, docs.url);
  // A secret of the configuration stays with the authorization server that it was first for.
  const own = login(docs.url, { oauth: { grant: "authorization_code", client_id: "me", client_secret: "its secret" } }).provider;
  assert.equal((await own.clientInformation({ issuer: "https://one.example" })).issuer, undefined);
  await own.saveTokens({ access_token: "x" }, { issuer: "https://one.example" });
  assert.equal((await own.clientInformation({ issuer: "https://two.example" })).issuer, "https://one.example");
  assert.equal(own.saveClientInformation, undefined);
});

/** A gateway whose user has logged in to its server. */
async function loggedIn(t, { rotating = true } = {}) {
  const docs = await oauthServer({ rotating });
  t.after(docs.close);
  const { provider, pages, finish } = login(docs.url);
  const handler = gateway({ mcpServers: { docs: { url: docs.url } }, token: false, sdk, mode: "firewall", auth_provider: () => provider });
  t.after(() => handler.close());
  await handler.ready();
  await finish(pages[0]);
  await handler.reconnect("docs");
  return { docs, pages, handler };
}
const through = (t, handler) => connected(t, "http://localhost/mcp", { fetch: (input, init) => handler(new Request(input, init)) });
const refreshes = ({ seen }) => seen.grants.filter((grant) => grant === "refresh_token").length;
/** What calls bring that are made at once. */
const atOnce = async (clients) =>
  (await Promise.all(clients.map((made) => made.callTool({ name: "who", arguments: {} })))).map(({ isError, ...result }) => (isError ? text(result) : "ok"));

for (const rotating of [true, false]) {
  test(`calls that meet an expired token at once renew it once, ${rotating ? "with" : "without"} rotation`, async (t) => {
    const { docs, pages, handler } = await loggedIn(t, { rotating });
    const clients = await Promise.all([1, 2, 3].map(() => through(t, handler)));
    await atOnce(clients);
    for (let round = 1; round <= 3; round += 1) {
      docs.set.expire();
      // Each client has a connection of its own; of one there are two calls.
      const released = docs.set.hold(4);
      assert.deepEqual(await atOnce([...clients, clients[0]]), ["ok", "ok", "ok", "ok"], `round ${round}`);
      await released;
      assert.equal(refreshes(docs), round);
    }
    assert.equal(pages.length, 1, "nobody has to log in again");
  });
}

test("tokens that another gateway with the same store has renewed are taken, and never deleted", async (t) => {
  const docs = await oauthServer();
  t.after(docs.close);
  let kept;
  const place = { is_shared: true, read: async () => kept, write: async (change) => void (kept = change(kept)) };
  const logins = [login(docs.url, place), login(docs.url, place)];
  const handlers = logins.map(({ provider }) =>
    gateway({ mcpServers: { docs: { url: docs.url } }, token: false, sdk, mode: "firewall", auth_provider: () => provider }),
  );
  for (const handler of handlers) t.after(() => handler.close());
  await handlers[0].ready();
  await logins[0].finish(logins[0].pages[0]);
  await handlers[0].reconnect("docs");
  await handlers[1].ready();
  const clients = await Promise.all(handlers.map((handler) => through(t, handler)));
  assert.deepEqual(await atOnce(clients), ["ok", "ok"]);
  // One after the other: the second only reads what the first has kept.
  docs.set.expire();
  assert.deepEqual([await atOnce([clients[0]]), await atOnce([clients[1]]), refreshes(docs)], [["ok"], ["ok"], 1]);
  // At once: the second is refused before the first has its answer.
  docs.set.expire();
  const before = refreshes(docs);
  docs.set.delay();
  assert.deepEqual(await atOnce(clients), ["ok", "ok"]);
  assert.ok(refreshes(docs) > before);
  assert.equal(typeof kept.tokens.refresh_token, "string");
  assert.deepEqual(
    logins.map(({ pages }) => pages.length),
    [1, 0],
  );
  // What one of them keeps takes nothing of the other's away.
  await logins[1].provider.saveClientInformation({ client_id: "another" }, { issuer: "https://elsewhere.example" });
  assert.equal(typeof kept.tokens.refresh_token, "string");
});

/** Why a server of a gateway is not there, and how many pages were shown. */
async function refusedBy(t, options, more) {
  const docs = await oauthServer(options);
  t.after(docs.close);
  const { provider, pages } = login(docs.url, more);
  const handler = gateway({ mcpServers: { docs: { url: docs.url } }, token: false, sdk, auth_provider: () => provider });
  t.after(() => handler.close());
  await handler.ready();
  const [{ state }] = await handler.servers();
  return { docs, pages, reason: state.reason };
}

test("a login asks no host that neither the server nor its authorization server is, and shows pages of the web alone", async (t) => {
  const linkLocal = await refusedBy(t, { named: "http://169.254.169.254/latest/meta-data" });
  assert.match(linkLocal.reason, /169\.254\.169\.254.*private network.*allowed_hosts/);
  const elsewhere = await refusedBy(t, { named: "https://elsewhere.example/metadata" });
  assert.match(elsewhere.reason, /elsewhere\.example.*allowed_hosts/);
  const file = await refusedBy(t, { metadata: { authorization_endpoint: "file:///etc/passwd" } });
  assert.match(file.reason, /`file:`.*no page of the web/);
  for (const { pages } of [linkLocal, elsewhere, file]) assert.equal(pages.length, 0);
});

test("both access tokens of a request that is sent again are known as refused", async () => {
  const { openLink } = await load("gateway/transports.js");
  let ask;
  class Transport {
    constructor(_, options) {
      ask = options.fetch;
    }
  }
  const refused = [];
  const provider = { tokens: () => ({ access_token: "newer" }) };
  await openLink(
    { name: "docs", transport: { type: "http", url: "https://mcp.example/mcp" } },
    {
      sdk: { client: { StreamableHTTPClientTransport: Transport } },
      auth_provider: provider,
      oauth: { refusedAccess: (token) => refused.push(token) },
      fetch: async () => new Response("", { status: 401 }),
      onend: () => undefined,
    },
  );
  const headers = { authorization: "Bearer old", "content-type": "application/json" };
  const { status } = await ask("https://mcp.example/mcp", { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  assert.deepEqual([status, refused], [401, ["old", "newer"]]);
});

test("of what an authorization server sends, no more is read than is taken", async () => {
  const { OAuthTraffic } = await load("gateway/oauth-traffic.js");
  const traffic = new OAuthTraffic("https://mcp.example/mcp", undefined, () => undefined);
  const seen = { parts: 0, isCancelled: false };
  const endless = new ReadableStream({
    pull: (controller) => {
      seen.parts += 1;
      controller.enqueue(new Uint8Array(64 * 1024));
    },
    cancel: () => {
      seen.isCancelled = true;
    },
  });
  const asked = traffic.fetch("https://mcp.example/token", { method: "POST" }, async () => new Response(endless));
  await assert.rejects(asked, /more than 1048576 bytes/);
  assert.ok(seen.isCancelled && seen.parts < 24, JSON.stringify(seen));
  const small = await traffic.fetch("https://mcp.example/token", { method: "POST" }, async () => new Response('{"a":"ü"}'));
  assert.deepEqual(await small.json(), { a: "ü" });
});

test("which hosts a login may ask", async () => {
  const { OAuthHosts } = await load("gateway/oauth-hosts.js");
  const isAllowed = (server, address, oauth, learned = []) => {
    const hosts = new OAuthHosts(server, oauth);
    for (const metadata of learned) hosts.learn(metadata);
    try {
      hosts.check(new URL(address));
      return true;
    } catch (error) {
      assert.equal(error.name, "TypeError");
      return false;
    }
  };
  const PUBLIC = "https://mcp.example/mcp";
  const named = (...servers) => [{ authorization_servers: servers }];
  assert.ok(isAllowed(PUBLIC, "https://mcp.example/.well-known/x"));
  assert.ok(isAllowed(PUBLIC, "https://login.example/x", {}, named("https://login.example/tenant")));
  assert.ok(
    isAllowed(PUBLIC, "https://token.example/x", {}, [
      ...named("https://login.example"),
      { issuer: "https://login.example", token_endpoint: "https://token.example/t" },
    ]),
  );
  assert.ok(!isAllowed(PUBLIC, "https://login.example/x"), "nobody has named it");
  for (const host of [
    "127.0.0.1",
    "localhost",
    "a.localhost",
    "[::1]",
    "10.1.2.3",
    "192.168.0.1",
    "172.20.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "0x7f.1",
    "2130706433",
    "0.0.0.0",
    "[fd00::1]",
    "[fe80::1]",
    "[::ffff:10.0.0.1]",
    "keycloak",
    "keycloak.internal",
    "printer.local",
  ]) {
    assert.ok(!isAllowed(PUBLIC, `https://${host}/x`, {}, named(`https://${host}`)), host);
    assert.ok(isAllowed(PUBLIC, `https://${host}/x`, { allowed_hosts: [host] }), `${host} by configuration`);
  }
  for (const host of ["172.32.0.1", "11.0.0.1", "100.128.0.1", "[2606:4700::1]", "internal.example"])
    assert.ok(isAllowed(PUBLIC, `https://${host}/x`, {}, named(`https://${host}`)), host);
  // A server of a private network may have its login there, too, but not where a cloud hands out credentials.
  for (const server of ["http://localhost:3000/mcp", "http://10.0.0.1/mcp", "http://mcp/mcp"]) {
    assert.ok(isAllowed(server, "http://10.0.0.2/x", {}, named("http://10.0.0.2")), server);
    assert.ok(!isAllowed(server, "http://169.254.169.254/x", {}, named("http://169.254.169.254")), server);
  }
  // With an issuer in the configuration the server has no say.
  const issuer = "https://login.example";
  assert.ok(isAllowed(PUBLIC, "https://login.example/x", { issuer }));
  assert.ok(!isAllowed(PUBLIC, "https://evil.example/x", { issuer }, named("https://evil.example")));
});

test("what authorization servers send for what there is not is no error", async (t) => {
  const nothing = { client_secret: null, client_uri: null, logo_uri: "", scope: null, contacts: null, client_secret_expires_at: 0 };
  const { pages, reason } = await refusedBy(t, {
    registration: nothing,
    metadata: { service_documentation: "", op_tos_uri: "to be written", scopes_supported: null },
  });
  assert.equal(pages.length, 1, reason);
});

test("a login goes on with what authorization servers do beside the rules", async (t) => {
  const folder = await folderOf();
  const servers = [];
  t.after(() => Promise.all(servers.map((docs) => docs.close())));
  for (const odd of [
    { page: true },
    { slash: true },
    { resource: true },
    { form: true },
    { name: true },
    { name: true, silent: true },
    { page: true, slash: true, resource: true, form: true, name: true },
  ]) {
    const what = Object.keys(odd).join();
    const docs = await oauthServer({ odd });
    servers.push(docs);
    const config = join(folder, `${what}.json`);
    await writeFile(config, JSON.stringify({ mcpServers: { docs: { url: docs.url } } }));
    const first = await started(t, config, "--store", join(folder, what));
    const seen = await opened(await first.page(1));
    assert.equal(seen.status, 200, `${what}: ${seen.body}`);
    await until(first.said, () => /ok docs: 1 tools/.test(first.said()));
    await first.close();
    // Tokens, and what the gateway is registered as, are good in the next run as well; they are renewed as they were given.
    docs.set.expire();
    const second = await started(t, config, "--store", join(folder, what));
    await until(second.said, () => /ok docs: 1 tools/.test(second.said()));
    await second.close();
    assert.deepEqual([docs.seen.pages.length, docs.seen.registered.length, docs.seen.grants], [1, 1, ["authorization_code", "refresh_token"]], what);
  }
});

test("where nobody can register by a request, it is said what to do", async (t) => {
  const { pages, reason } = await refusedBy(t, { metadata: { registration_endpoint: undefined } });
  assert.equal(pages.length, 0);
  assert.match(reason, /dynamic client registration.*`oauth\.client_id`/);
});
