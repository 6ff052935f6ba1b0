// Attacks on the proxy: by pages and clients, by what is in requests, and what it must never tell.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project, root } from "./harness.mjs";
import { scriptedProvider } from "./proxy-provider.mjs";

const folder = await project("proxy-safety", { "entry.mjs": `export * from "contextweaver/proxy";` });
const { proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const SECRET = "sk-live-51Hxyz0123456789abcdefghijklmnop";
const CANARY = "canary-of-the-conversation";
const OPTIONS = { budget_tokens: 4_000, token: false };

function before(next = () => ({ text: "hi" }), options = {}) {
  const provider = scriptedProvider(next);
  const log = [];
  const handler = proxy({ ...OPTIONS, fetch: provider.answer, on_request: (entry) => log.push(entry), ...options });
  const ask = (
    path = "/v1/messages",
    { headers = {}, method = "POST", body = { model: "m", messages: [{ role: "user", content: CANARY }] }, at = "http://127.0.0.1:8323" } = {},
  ) => handler(new Request(`${at}${path}`, { method, headers: { "x-api-key": SECRET, ...headers }, ...(method === "POST" && { body: JSON.stringify(body) }) }));
  return { ...provider, handler, ask, log };
}

test("Proxy, safety: no key and no word of a conversation is in logs, counts or errors", async () => {
  const errors = [];
  const lines = [];
  const { ask, handler, log } = before(() => ({ text: "hi" }), { on_error: (error) => errors.push(error), debug: (line) => lines.push(line) });
  const big = Array.from({ length: 40 }, (_, n) => [
    { role: "assistant", content: [{ type: "tool_use", id: `t${n}`, name: "read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `t${n}`, content: `${CANARY} ${n} `.repeat(60) }] },
  ]).flat();
  await (await ask()).text();
  await (await ask("/v1/messages", { body: { model: "m", messages: [{ role: "user", content: CANARY }, ...big] } })).text();
  await (await ask("/v1/messages", { body: { model: "m", messages: [null, CANARY] } })).text();
  await (await ask(`/v1beta/models/m:generateContent?key=${SECRET}`)).text();
  await (await ask(`/v1/files/${CANARY}`, { method: "GET" })).text();
  const refused = await ask("/v1/messages", { headers: { host: "evil.example" } });
  const stats = await (await ask("/stats", { method: "GET" })).text();
  const told = JSON.stringify([log, lines, JSON.parse(stats), handler.stats(), await refused.text()]);
  assert.ok(log.length === 5 && stats.includes('"shortened":1'));
  for (const secret of [SECRET, CANARY, SECRET.slice(8)]) assert.ok(!told.includes(secret), told);
  assert.match(lines[0], /^POST \/v1\/messages m 200 whole [\d,]+ tokens$/);
  assert.match(lines[1], /^POST \/v1\/messages m 200 shortened [\d,]+ of [\d,]+ tokens \(\w+\)$/);
  assert.equal(lines.length, log.length);
  assert.throws(() => proxy({ ...OPTIONS, debug: "yes" }), { code: "INVALID_INPUT", path: "/debug" });
  handler.free();
  const down = proxy({ ...OPTIONS, fetch: () => Promise.reject(new Error(`${SECRET} ${CANARY}`)) });
  const response = await down(new Request(`http://127.0.0.1/v1/messages?key=${SECRET}`, { method: "POST", headers: { "x-api-key": SECRET }, body: "{}" }));
  assert.doesNotMatch(await response.text(), new RegExp(`${SECRET}|${CANARY}`));
  down.free();
});

test("Proxy, safety: the counts and the refusals are those of docs/proxy-operations.md", async () => {
  const page = await readFile(join(root, "docs", "proxy-operations.md"), "utf8");
  const named = (heading) =>
    [...new RegExp(`## ${heading}\n[^]*?(?=\n## |$)`).exec(page)[0].matchAll(/^\| ([^|]*)\|/gm)].flatMap(([, cell]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
  const { ask, handler } = before(undefined, { token: "t0ken" });
  assert.deepEqual(named("Counts: `/stats`").sort(), Object.keys(handler.stats()).sort());
  const headers = { "x-contextweaver-token": "t0ken" };
  const gone = new AbortController();
  const refusals = [
    [400, "path_refused", await ask("/v1/..%2fadmin", { headers, method: "GET" })],
    [401, "token_needed", await ask()],
    [403, "origin_refused", await ask("/v1/messages", { headers: { ...headers, origin: "https://evil.example" } })],
  ];
  const open = proxy({ ...OPTIONS, fetch: () => Promise.reject(new Error("down")) });
  const post = (init = {}, host = "127.0.0.1", body = "{}") => open(new Request(`http://${host}/v1/messages`, { method: "POST", body, ...init }));
  refusals.push(
    [403, "host_refused", await post({}, "evil.example")],
    [502, "unreachable", await post()],
    [502, "unreachable", await post({}, "127.0.0.1", JSON.stringify({ messages: [{ role: "user", content: "hi" }] }))],
  );
  gone.abort();
  refusals.push([499, "client_gone", await post({ signal: gone.signal })]);
  for (const [status, reason, response] of refusals) {
    assert.deepEqual(
      [response.status, response.headers.get("x-contextweaver"), (await response.json()).error.reason],
      [status, `failed; reason=${reason}`, reason],
    );
    assert.ok(page.includes(`\`${reason}\``), reason);
  }
  [handler, open].forEach((one) => one.free());
});

test("Proxy, safety: a provider that says it is the proxy is not believed", async () => {
  const { handler, ask } = before(
    () => new Response("{}", { status: 502, headers: { "x-contextweaver": "failed; reason=host_refused", "x-contextweaver-token": "t" } }),
  );
  const response = await ask();
  assert.match(response.headers.get("x-contextweaver"), /^whole/);
  assert.equal(response.headers.get("x-contextweaver-token"), null);
  await response.text();
  handler.free();
});

test("Proxy, safety: who is told of a request and fails, fails alone", async () => {
  const fails = () => {
    throw new Error("mine");
  };
  const { ask, handler } = before(undefined, { on_request: fails, on_error: fails });
  assert.equal((await ask()).status, 200);
  assert.equal((await ask("/v1/messages", { body: { messages: [null] } })).headers.get("x-contextweaver"), "bypassed; reason=internal");
  handler.free();
});

test("Proxy, safety: a page that points its own name here is refused, as are pages of other origins", async () => {
  const { ask, handler, sent } = before();
  for (const headers of [
    { host: "evil.example" },
    { host: "evil.example:8323" },
    { host: "127.0.0.1.evil.example" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://evil.example", host: "localhost:8323" },
  ]) {
    const response = await ask("/v1/messages", { headers });
    assert.equal(response.status, 403, JSON.stringify(headers));
    assert.equal((await ask("/stats", { headers, method: "GET" })).status, 403);
  }
  assert.equal(sent.length, 0);
  for (const headers of [{ host: "localhost:8323" }, { host: "[::1]:8323" }, { host: "127.0.0.1" }, { host: "localhost", origin: "http://localhost:3000" }])
    assert.equal((await ask("/v1/messages", { headers })).status, 200, JSON.stringify(headers));
  handler.free();
});

test("Proxy, safety: with a token nobody asks without it, and it never reaches the provider", async () => {
  const { ask, handler, sent } = before(undefined, { token: "t0ken" });
  for (const headers of [{}, { "x-contextweaver-token": "t0ke" }, { "x-contextweaver-token": "" }, { authorization: "Bearer t0ken" }]) {
    for (const [path, method] of [
      ["/v1/messages", "POST"],
      ["/stats", "GET"],
      ["/v1/models", "GET"],
    ])
      assert.equal((await ask(path, { headers, method })).status, 401);
  }
  assert.equal(sent.length, 0);
  assert.equal((await ask("/v1/messages", { headers: { "x-contextweaver-token": "t0ken", host: "proxy.example" } })).status, 200);
  assert.ok(!("x-contextweaver-token" in sent[0].headers));
  handler.free();
  assert.throws(
    () => proxy({ budget_tokens: 4_000 }),
    ({ code, path }) => code === "MISSING_FIELD" && path === "/token",
  );
});

test("Proxy, safety: no path leads elsewhere than it says", async () => {
  const { ask, handler, sent } = before(undefined, { upstreams: { openai: "https://gate.example/tenant-7/openai/", anthropic: "https://gate.example/a" } });
  for (const path of [
    "/v1/%2e%2e%2f%2e%2e/admin",
    "/v1/..%2fadmin",
    "/v1/%252e%252e/admin",
    "/v1/..%5cadmin",
    "//evil.example/v1/models",
    "/v1/a%00b",
    "/v1/..;/admin",
    "/v1/%2e%2e;x=1/admin",
  ]) {
    const response = await ask(path, { method: "GET" });
    assert.equal(response.status, 400, path);
  }
  assert.equal(sent.length, 0);
  for (const path of ["/v1/../../admin", "/v1/models/a..b", "/v1/models/@evil.example", "/v1/models/x%20y", "/v1/\\evil.example"]) {
    await (await ask(path, { method: "GET", headers: { authorization: "Bearer k" } })).text();
    const { host, path: at } = sent.at(-1);
    assert.ok(host === "gate.example" && at.startsWith("/tenant-7/openai/"), `${path}: ${host}${at}`);
  }
  await (await ask()).text();
  assert.deepEqual([sent.at(-1).host, sent.at(-1).path], ["gate.example", "/a/v1/messages"]);
  handler.free();
});

test("Proxy, safety: headers of a connection end with it, in both directions", async () => {
  const asked = [];
  const answered = {
    connection: "x-hop",
    "x-hop": "1",
    "keep-alive": "timeout=5",
    "transfer-encoding": "chunked",
    "proxy-authenticate": "Basic",
    "content-encoding": "gzip",
    "x-contextweaver": "shortened; lies",
    "x-request-id": "r1",
  };
  const handler = proxy({ ...OPTIONS, fetch: async (request) => (asked.push(Object.fromEntries(request.headers)), new Response("{}", { headers: answered })) });
  const given = {
    connection: "keep-alive, x-hop",
    "x-hop": "1",
    "proxy-authorization": "Basic x",
    te: "trailers",
    upgrade: "websocket",
    "x-contextweaver-session": "s",
    "x-contextweaver-anything": "y",
    "anthropic-beta": "a,b",
    "x-custom": "z",
  };
  const response = await handler(new Request("http://127.0.0.1/v1/messages", { method: "POST", headers: given, body: "{}" }));
  await response.text();
  assert.deepEqual(
    Object.keys(asked[0])
      .filter((name) => !["content-type", "accept-encoding"].includes(name))
      .sort(),
    ["anthropic-beta", "x-custom"],
  );
  assert.equal(asked[0]["accept-encoding"], "identity");
  const kept = Object.fromEntries(response.headers);
  delete kept["content-type"];
  assert.deepEqual(kept, { "x-contextweaver": "bypassed; reason=unread", "x-request-id": "r1" });
  handler.free();
});

test("Proxy, safety: a redirect is not followed with the client's key", async () => {
  const followed = [];
  const handler = proxy({
    ...OPTIONS,
    fetch: async (request) => (
      followed.push([request.url, request.redirect]), new Response(null, { status: 307, headers: { location: "https://evil.example/" } })
    ),
  });
  const response = await handler(new Request("http://127.0.0.1/v1/models", { headers: { authorization: `Bearer ${SECRET}` } }));
  assert.deepEqual(
    [response.status, response.headers.get("location"), followed],
    [307, "https://evil.example/", [["https://api.openai.com/v1/models", "manual"]]],
  );
  handler.free();
});

test("Proxy, safety: masked where that is asked for, and only then", async () => {
  const secret = "AKIAIOSFODNN7EXAMPLE";
  const messages = [
    { role: "user", content: "Read." },
    ...Array.from({ length: 9 }, (_, n) => [
      { role: "assistant", content: [{ type: "tool_use", id: `t${n}`, name: "read", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `t${n}`,
            content: `${n} of the harbour and the letter `.repeat(70) + (n === 8 ? `aws_access_key_id=${secret}` : ""),
          },
        ],
      },
    ]).flat(),
  ];
  for (const mask of [false, true]) {
    const { ask, handler, sent } = before(undefined, { mask });
    const response = await ask("/v1/messages", { body: { model: "m", messages } });
    await response.text();
    assert.match(response.headers.get("x-contextweaver"), /^shortened/);
    assert.equal(sent[0].text.includes(secret), !mask);
    handler.free();
  }
});

test("Proxy, safety: a client's name of a model is one short line of debug", async () => {
  const lines = [];
  const { ask, handler } = before(() => ({ text: "hi" }), { debug: (line) => lines.push(line) });
  const model = `gpt\n2026 FAKE LINE\u001b[31m\u2028${"x".repeat(5_000)}`;
  await (await ask("/v1/messages", { body: { model, messages: [{ role: "user", content: "Hello" }] } })).text();
  assert.equal(lines.length, 1);
  assert.match(lines[0], /^POST \/v1\/messages gpt\ufffd2026 FAKE LINE\ufffd\[31m\ufffdx{40,80} 200 whole /);
  handler.free();
});

test("Proxy, safety: options that are not as described are refused with their place", () => {
  const cases = [
    [{ budget_tokens: 1.5 }, "INVALID_INPUT", "/budget_tokens"],
    [{ budget_tokens: undefined }, "MISSING_FIELD", "/budget_tokens"],
    [{ budget: 1 }, "UNKNOWN_FIELD", "/budget"],
    [{ upstreams: { openai: "ftp://x" } }, "INVALID_INPUT", "/upstreams/openai"],
    [{ upstreams: { openai: "https://u:p@x" } }, "INVALID_INPUT", "/upstreams/openai"],
    [{ upstreams: { openai: "https://:p@x" } }, "INVALID_INPUT", "/upstreams/openai"],
    [{ upstreams: null }, "INVALID_INPUT", "/upstreams"],
    [{ limits: null }, "INVALID_INPUT", "/limits"],
    [{ limits: { max_units: null } }, "INVALID_INPUT", "/limits/max_units"],
    [{ upstreams: { other: "https://x" } }, "UNKNOWN_FIELD", "/upstreams/other"],
    [{ thrift: 2 }, "INVALID_INPUT", "/thrift"],
    [{ max_rounds: 0 }, "INVALID_INPUT", "/max_rounds"],
    [{ limits: { max_units: 0 } }, "INVALID_INPUT", "/limits/max_units"],
    [{ limits: { max: 1 } }, "UNKNOWN_FIELD", "/limits/max"],
    [{ mask: "yes" }, "INVALID_INPUT", "/mask"],
    [{ fetch: 1 }, "INVALID_INPUT", "/fetch"],
    [{ hosts: "x" }, "INVALID_INPUT", "/hosts"],
    [{ token: "" }, "INVALID_INPUT", "/token"],
    [{ store: {} }, "INVALID_INPUT", "/store"],
    [{ store: null }, "INVALID_INPUT", "/store"],
    [{ forward: "x", token: "t" }, "INVALID_INPUT", "/forward"],
    [{ forward: () => undefined }, "INVALID_INPUT", "/token"],
    [{ forward: () => undefined, token: "t", store: { session: () => undefined } }, "INVALID_INPUT", "/store"],
    [{ hooks: null }, "INVALID_INPUT", "/hooks"],
  ];
  for (const [options, code, path] of cases)
    assert.throws(
      () => proxy({ ...OPTIONS, ...options }),
      (error) => (assert.deepEqual([error.code, error.path], [code, path]), true),
    );
  proxy({ ...OPTIONS, limits: { max_units: undefined }, upstreams: { openai: undefined } }).free();
});
