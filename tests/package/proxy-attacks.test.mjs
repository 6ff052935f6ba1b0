// Attacks on the proxy where they happen: on the wire of `contextweaver proxy`, by what a client says and what a provider answers byte by
// byte; and in streams that lie. Nothing is lost, nothing leads elsewhere, and every client gets an answer.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { project } from "./harness.mjs";
import { raw, started } from "./proxy-program.mjs";
import { eventsOf, scriptedProvider, streamed } from "./proxy-provider.mjs";

const folder = await project("proxy-attacks", { "entry.mjs": `export * from "contextweaver/proxy"; export { memoryStore } from "contextweaver/storage";` });
const { memoryStore, proxy } = await import(pathToFileURL(join(folder, "entry.mjs")));

const BASE = "http://127.0.0.1:8323";
const PATHS = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  contents: "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
};
const SHORT = JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] });
const statusOf = (response) => response.headers.get("x-contextweaver");

/** A server that notes the bytes it is sent, and answers bytes. */
async function wire(t, answer) {
  const seen = [];
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (part) => {
      text += part.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (head === -1) return;
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
      const isChunked = /^transfer-encoding:/im.test(text.slice(0, head));
      if (isChunked ? !text.endsWith("0\r\n\r\n") : text.length < head + 4 + length) return;
      seen.push(text);
      text = "";
      answer(socket, seen.length);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  return { seen, address: `http://127.0.0.1:${server.address().port}` };
}
const answering =
  (status, headers, body = "") =>
  (socket) =>
    void socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers}\r\nconnection: close\r\n\r\n`), Buffer.from(body)]));
const OK = answering("200 OK", "content-type: application/json\r\ncontent-length: 2", "{}");

/** The headers that arrive, in lower case. */
const headersIn = (text) =>
  text
    .slice(0, text.indexOf("\r\n\r\n"))
    .split("\r\n")
    .slice(1)
    .map((line) => line.toLowerCase());

test("attack: headers that smuggle, by what a client writes", async (t) => {
  const { seen, address } = await wire(t, OK);
  const { address: at, stop } = await started(t, ["--anthropic", address, "--openai", address]);
  const { host } = new URL(at);
  const post = (lines, body = SHORT, length = `content-length: ${Buffer.byteLength(body)}`) =>
    raw(at, [`POST /v1/messages HTTP/1.1`, `host: ${host}`, ...lines, ...(length ? [length] : []), "connection: close", "", body].join("\r\n"));
  // What no two readers read alike does not pass at all.
  for (const [name, lines, length] of [
    ["two lengths", ["content-length: 1"], undefined],
    ["a length and chunks", ["transfer-encoding: chunked"], undefined],
    ["chunks that are not last", ["transfer-encoding: chunked, identity"], ""],
    ["unknown coding", ["transfer-encoding: xchunked"], ""],
    ["a folded line", ["x-a: 1\r\n b: 2"], undefined],
    ["a name with a space", ["x-api-key : k"], undefined],
    ["a control character", ["x-a: a\u0000b"], undefined],
    ["a bare line end", ["x-a: a\nx-b: b\rc: d"], undefined],
  ]) {
    const { length: before } = seen;
    const said = await post(lines, SHORT, length);
    assert.match(said, /^(?:HTTP\/1\.1 4\d\d |$)/, `${name}: ${said.slice(0, 80)}`);
    assert.equal(seen.length, before, `${name} reached the provider`);
  }
  // What follows a body is a request of its own, and is asked for as one.
  const { length: before } = seen;
  const two = await raw(
    at,
    `POST /v1/messages HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${SHORT.length}\r\n\r\n${SHORT}GET /stats HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`,
  );
  assert.match(two, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 403 /);
  assert.equal(seen.length, before + 1);
  // Hop by hop, and named by `connection`: they end here. So do those of this connection.
  assert.match(
    await post([
      "x-api-key: k",
      "connection: x-hop, keep-alive",
      "x-hop: 1",
      "te: trailers",
      "trailer: x-t",
      "upgrade: h2c",
      "http2-settings: AAMAAABkAAQAAP__",
      "proxy-connection: keep-alive",
      "proxy-authorization: Basic x",
      "expect: 100-continue",
      "x-contextweaver-session: s",
      "x-contextweaver-anything: y",
      "x-forwarded-host: evil.example",
    ]),
    /HTTP\/1\.1 200 /,
  );
  const arrived = headersIn(seen.at(-1)).filter(
    (line) =>
      !/^(?:host|connection|content-length|content-type|accept|accept-language|sec-fetch-mode|user-agent|accept-encoding|x-api-key|x-forwarded-host|transfer-encoding):/.test(
        line,
      ),
  );
  assert.deepEqual(
    arrived.filter((line) => !line.startsWith("http2-settings:")),
    [],
  );
  assert.ok(headersIn(seen.at(-1)).includes("accept-encoding: identity") && headersIn(seen.at(-1)).includes("x-api-key: k"));
  assert.ok(headersIn(seen.at(-1)).includes(`host: ${new URL(address).host}`));
  // A method that no fetch sends is refused, and nobody is told of a defect.
  for (const method of ["TRACE", "CONNECT", "TRACK"]) {
    const said = await raw(at, `${method} /v1/models HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    assert.match(said, /^(?:HTTP\/1\.1 4\d\d |$)/, `${method}: ${said.slice(0, 80)}`);
  }
  for (const line of ["OPTIONS * HTTP/1.1", "GET * HTTP/1.1", "GET evil.example:443 HTTP/1.1", "GET @evil.example/ HTTP/1.1", "GET :9999/v1/models HTTP/1.1"]) {
    const { length } = seen;
    const said = await raw(at, `${line}\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    assert.match(said, /^(?:HTTP\/1\.1 4\d\d |$)/, `${line}: ${said.slice(0, 80)}`);
    assert.equal(seen.length, length, line);
  }
  const { stderr } = await stop();
  assert.doesNotMatch(stderr, /contextweaver: |at .*\.js/, "a defect");
});

test("attack: names that point here, and hosts that only look like this machine's", async (t) => {
  const { seen, address } = await wire(t, OK);
  const { address: at } = await started(t, ["--anthropic", address]);
  const { host, port } = new URL(at);
  const ask = (lines) => raw(at, ["POST /v1/messages HTTP/1.1", ...lines, `content-length: ${SHORT.length}`, "connection: close", "", SHORT].join("\r\n"));
  for (const lines of [
    ["host: rebound.example"],
    [`host: rebound.example:${port}`],
    ["host: 127.0.0.1.rebound.example"],
    ["host: localhost.rebound.example"],
    ["host: localhost."],
    ["host: 0.0.0.0"],
    ["host: 2130706433"],
    ["host: 0x7f000001"],
    ["host: [::ffff:127.0.0.1]"],
    ["host: 169.254.169.254"],
    ["host: rebound.example", "x-forwarded-host: localhost"],
    ["host: rebound.example", "forwarded: host=localhost"],
    [`host: ${host}`, "origin: https://rebound.example"],
    [`host: ${host}`, "origin: null"],
    [`host: ${host}`, "origin: http://localhost.rebound.example"],
    [`host: ${host}`, "origin: file://"],
    [`host: ${host}`, `origin: http://rebound.example:${port}`],
  ])
    assert.match(await ask(lines), /^HTTP\/1\.1 40[03] /, lines.join(" "));
  // Two hosts are none, and a request without one is for this machine alone where it says so.
  assert.match(await ask([`host: ${host}`, "host: rebound.example"]), /^HTTP\/1\.1 40[03] /);
  assert.match(await ask([]), /^HTTP\/1\.1 400 /);
  assert.deepEqual(seen, []);
  assert.match(await ask([`host: ${host}`]), /^HTTP\/1\.1 200 /);
});

test("attack: paths and queries that name another place", async (t) => {
  const { seen, address } = await wire(t, OK);
  const { address: at } = await started(t, ["--anthropic", `${address}/a`, "--openai", `${address}/o`, "--gemini", `${address}/g`]);
  const { host } = new URL(at);
  const get = (path) => raw(at, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  for (const path of [
    "//evil.example/v1",
    "/\\evil.example/v1",
    "/v1/..%2f..%2fadmin",
    "/v1/%2e%2e/%2e%2e/admin",
    "/v1/%252e%252e%252fadmin",
    "/v1/..%5c..%5cadmin",
    "/v1/..;/..;/admin",
    "/v1/%00",
    "/v1/%0d%0aHost:%20evil",
    "http://evil.example/v1/models",
    "https://evil.example/v1/models",
  ]) {
    const { length } = seen;
    const said = await get(path);
    if (seen.length > length) assert.match(seen.at(-1), /^GET \/[aog]\/(?!.*\.\.)(?!.*%2e%2e)/i, path);
    else assert.match(said, /^HTTP\/1\.1 400 /, path);
    assert.ok(!/^host: evil/im.test(seen.at(-1) ?? ""), path);
  }
  for (const query of [
    "?upstream=http://evil.example",
    "?base_url=http://evil.example&url=//evil.example",
    "?%0d%0ahost:evil.example",
    "?x=%2e%2e/%2e%2e",
    "?#@evil.example",
  ]) {
    await get(`/v1/models${query}`);
    assert.match(seen.at(-1), /^GET \/o\/v1\/models/);
    assert.equal(
      headersIn(seen.at(-1))
        .filter((line) => line.startsWith("host:"))
        .join(),
      `host: ${new URL(address).host}`,
    );
  }
  // What only looks like a path that is read passes as it is, and so do odd ways to write `/stats`.
  for (const path of ["/v1/messages/", "/V1/MESSAGES", "/v1/messages;x", "/v1%2fmessages", "/stats/", "/%73tats", "/stats%2f"]) {
    const said = await raw(at, `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${SHORT.length}\r\nconnection: close\r\n\r\n${SHORT}`);
    assert.match(said, /x-contextweaver: passed/i, path);
    assert.ok(seen.at(-1).includes(SHORT), path);
  }
});

test("attack: answers of a provider that are no answers", async (t) => {
  const text = JSON.stringify({ id: "m", type: "message", role: "assistant", content: [{ type: "text", text: "hello" }], stop_reason: "end_turn" });
  const zipped = gzipSync(text);
  const json = "content-type: application/json";
  const cases = [
    [
      "gzip that nobody asked for",
      answering("200 OK", `${json}\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}`, zipped),
      /^HTTP\/1\.1 200 [^]*"hello"/,
    ],
    // Decoders of every runtime give what they have: what a client gets is cut off, and no length says otherwise.
    [
      "gzip that is cut off",
      answering("200 OK", `${json}\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length - 20}`, zipped.subarray(0, -20)),
      /^HTTP\/1\.1 200 (?![^]*content-length)(?![^]*end_turn)/i,
    ],
    ["gzip that is none", answering("200 OK", `${json}\r\ncontent-encoding: gzip\r\ncontent-length: ${text.length}`, text), undefined],
    ["a length that is too long", answering("200 OK", `${json}\r\ncontent-length: 9999`, text), undefined],
    ["chunks that are none", answering("200 OK", `${json}\r\ntransfer-encoding: chunked`, "zz\r\nhello\r\n"), undefined],
    ["no HTTP at all", (socket) => void socket.end("hello"), /^HTTP\/1\.1 502 [^]*cannot be reached/],
    ["nothing at all", (socket) => void socket.destroy(), /^HTTP\/1\.1 502 [^]*cannot be reached/],
    ["two lengths", answering("200 OK", "content-length: 2\r\ncontent-length: 3", "{}"), /^HTTP\/1\.1 502 /],
    ["a status that is none", answering("999 Odd", `${json}\r\ncontent-length: 2`, "{}"), /^HTTP\/1\.1 502 /],
    ["no content", answering("204 No Content", "x-a: b"), /^HTTP\/1\.1 204 /],
    ["not modified", answering("304 Not Modified", "x-a: b"), /^HTTP\/1\.1 304 /],
    [
      "two cookies",
      answering("200 OK", `${json}\r\nset-cookie: a=1; Path=/\r\nset-cookie: b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\ncontent-length: 2`, "{}"),
      /^HTTP\/1\.1 200 [^]*set-cookie: a=1; Path=\/\r\n[^]*set-cookie: b=2; Expires=Wed, 21 Oct/i,
    ],
    [
      "headers of a hop",
      answering("200 OK", `${json}\r\nconnection: x-secret\r\nx-secret: 1\r\nkeep-alive: timeout=999\r\nproxy-authenticate: Basic\r\ncontent-length: 2`, "{}"),
      /^HTTP\/1\.1 200 (?![^]*(?:x-secret|proxy-authenticate|timeout=999))/,
    ],
    ["an answer that is a page", answering("200 OK", "content-type: text/html\r\ncontent-length: 4", "<p/>"), /^HTTP\/1\.1 200 [^]*<p\/>/],
    ["events by another name", answering("200 OK", `${json}`, "data: {}\n\ndata: [DONE]\n\n"), /^HTTP\/1\.1 200 [^]*\[DONE\]/],
    [
      "JSON that says it is events",
      answering("200 OK", `content-type: text/event-stream\r\ncontent-length: ${text.length}`, text),
      /^HTTP\/1\.1 200 [^]*"hello"/,
    ],
    [
      "a redirect",
      answering("307 Temporary Redirect", "location: http://169.254.169.254/\r\ncontent-length: 0"),
      /^HTTP\/1\.1 307 [^]*location: http:\/\/169/i,
    ],
  ];
  let answer;
  const { address, seen } = await wire(t, (socket) => answer(socket));
  const { address: at, stop } = await started(t, ["--anthropic", address, "--openai", address]);
  const { host } = new URL(at);
  const big = JSON.stringify({
    model: "m",
    max_tokens: 9,
    messages: [
      { role: "user", content: "Read." },
      ...Array.from({ length: 40 }, (_, n) => [
        { role: "assistant", content: [{ type: "tool_use", id: `t${n}`, name: "read", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: `t${n}`,
              content: Array.from({ length: 300 }, (__, line) => `${n}.${line} of the harbour and the letter ${(n * 7919 + line) % 10007}`).join("\n"),
            },
          ],
        },
      ]).flat(),
    ],
  });
  for (const [size, body] of [
    ["whole", SHORT],
    ["shortened", big],
  ]) {
    for (const [name, how, expected] of cases) {
      answer = how;
      const { length } = seen;
      const said = await raw(
        at,
        `POST /v1/messages HTTP/1.1\r\nhost: ${host}\r\nx-api-key: k\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
      assert.ok(seen.length > length, `${name}, ${size}: nobody was asked`);
      // What broke off must not look whole.
      if (expected) assert.match(said, expected, `${name}, ${size}: ${said.slice(0, 300)}`);
      else
        assert.ok(
          /^HTTP\/1\.1 502 /.test(said) ||
            Number(/^content-length: (\d+)/im.exec(said)?.[1]) > said.length ||
            (/transfer-encoding: chunked/i.test(said) && !said.endsWith("\r\n0\r\n\r\n")) ||
            said === "",
          `${name}, ${size}, looks whole: ${said.slice(0, 400)}`,
        );
    }
  }
  answer = OK;
  assert.match(await raw(at, `GET /stats HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`), /"shortened":\d+/);
  const { stderr } = await stop();
  assert.doesNotMatch(stderr, /harbour|x-api-key/);
});

/** A conversation that does not fit 4,000 tokens, in the language of each API. */
const output = (n) => Array.from({ length: 40 }, (_, at) => `${n}.${at} harbour ${(at * 7919 + n) % 10007} letter`).join("\n");
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const LONG = {
  chat: {
    model: "gpt-5",
    stream: true,
    messages: [
      { role: "user", content: "q" },
      ...NUMBERS.flatMap((n) => [
        { role: "assistant", content: null, tool_calls: [{ id: `c${n}`, type: "function", function: { name: "read", arguments: "{}" } }] },
        { role: "tool", tool_call_id: `c${n}`, content: output(n) },
      ]),
    ],
  },
  responses: {
    model: "gpt-5",
    stream: true,
    input: [
      { role: "user", content: "q" },
      ...NUMBERS.flatMap((n) => [
        { type: "function_call", call_id: `c${n}`, name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: `c${n}`, output: output(n) },
      ]),
    ],
  },
  messages: {
    model: "claude",
    stream: true,
    max_tokens: 9,
    messages: [
      { role: "user", content: "q" },
      ...NUMBERS.flatMap((n) => [
        { role: "assistant", content: [{ type: "tool_use", id: `c${n}`, name: "read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: output(n) }] },
      ]),
    ],
  },
  contents: {
    contents: [
      { role: "user", parts: [{ text: "q" }] },
      ...NUMBERS.flatMap((n) => [
        { role: "model", parts: [{ functionCall: { name: "read", args: { n } } }] },
        { role: "user", parts: [{ functionResponse: { name: "read", response: { output: output(n) } } }] },
      ]),
    ],
  },
};
const OWN = { id: "own1", name: "drilldown", input: { handle: "artifact:result:c1" } };

/** A proxy before a provider that says the streams it is given, one for each request. */
function lying(streams, options = {}) {
  const sent = [];
  const errors = [];
  const handler = proxy({
    budget_tokens: 4_000,
    token: false,
    on_error: (error) => errors.push(error),
    fetch: async (request) => {
      sent.push({ text: await request.text(), signal: request.signal });
      const next = streams[Math.min(sent.length, streams.length) - 1];
      return next instanceof Response ? next : new Response(streamed(next), { headers: { "content-type": "text/event-stream" } });
    },
    ...options,
  });
  const post = (api, body = LONG[api], init = {}) =>
    handler(
      new Request(`${BASE}${PATHS[api]}`, {
        method: "POST",
        headers: { "x-api-key": "k", authorization: "Bearer k" },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
      }),
    );
  return { handler, post, sent, errors };
}

for (const api of Object.keys(PATHS)) {
  const events = (said, id = "id") => eventsOf(PATHS[api], said, id, "m", {});
  const last = events({ text: "done" }, "last");

  test(`attack, ${api}: an answer that ends twice is told once, and its calls are run once`, async () => {
    const own = events({ text: "Look:", calls: [OWN] });
    // Of Gemini the last chunk has a call, which a second one would be, too.
    const ends =
      api === "contents"
        ? [`data: {"candidates":[{"finishReason":"STOP"}]}\n\n`, `data: {"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}\n\n`]
        : [...own.slice(-2), ...own.slice(-1)];
    const { handler, post, sent, errors } = lying([[...own, ...ends], last]);
    const response = await post(api);
    assert.match(statusOf(response), /^shortened/);
    const text = await response.text();
    assert.equal(sent.length, 2);
    assert.equal(handler.stats().inner_calls, 1);
    assert.equal(
      sent[1].text.split(api === "contents" ? '"functionResponse":{"name":"drilldown"' : '"own1"').length - 1,
      { chat: 2, responses: 2, messages: 2, contents: 1 }[api],
    );
    const told = { chat: /\[DONE\]/g, responses: /event: response\.completed/g, messages: /event: message_stop/g, contents: /"finishReason":"STOP"/g }[api];
    assert.equal(text.match(told)?.length, 1, text);
    assert.ok(text.includes("done") && !text.includes("drilldown"));
    assert.deepEqual(errors, []);
    handler.free();
  });

  test(`attack, ${api}: pieces of what was never begun, begun twice, or begun elsewhere`, async () => {
    const odd = {
      chat: [7, -1, "x", null, 1e9].map(
        (index) => `data: ${JSON.stringify({ id: "i", choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: "{}" } }] } }] })}\n\n`,
      ),
      responses: [7, -1, "x", null, 1e9].map(
        (output_index) => `data: ${JSON.stringify({ type: "response.function_call_arguments.delta", output_index, delta: "{}" })}\n\n`,
      ),
      messages: [7, -1, "x", null, 1e9].flatMap((index) =>
        ["delta", "stop"].map(
          (what) =>
            `event: content_block_${what}\ndata: ${JSON.stringify({ type: `content_block_${what}`, index, delta: { type: "input_json_delta", partial_json: "{}" } })}\n\n`,
        ),
      ),
      contents: [[], null, "x", [{ content: null }], [{ content: { parts: [null, 7, {}] } }]].map(
        (candidates) => `data: ${JSON.stringify({ candidates })}\n\n`,
      ),
    }[api];
    for (const said of [
      [...odd, ...last],
      [...last.slice(0, 2), ...odd, ...last.slice(2)],
      [...last.slice(0, 2), ...last.slice(0, 2), ...odd, ...last.slice(2)],
    ]) {
      const { handler, post, errors } = lying([said]);
      const text = await (await post(api)).text();
      assert.ok(text.replaceAll(/[^a-z]/gi, "").includes("done") || /do.*ne/s.test(text), text.slice(0, 500));
      assert.deepEqual(errors, []);
      // The conversation goes on as if nothing had been.
      assert.match(statusOf(await post(api)), /^shortened/);
      handler.free();
    }
  });

  test(`attack, ${api}: a client that goes while a read is under way: the provider hears of it, and the next try goes on behind it, after a restart, too`, async () => {
    const own = events({ text: "Look:", calls: [OWN] });
    const store = memoryStore();
    let isEnded = false;
    const stalls = () =>
      new Response(new ReadableStream({ pull: () => new Promise(() => undefined), cancel: () => void (isEnded = true) }), {
        headers: { "content-type": "text/event-stream" },
      });
    const first = lying([own, stalls()], { store });
    const gone = new AbortController();
    const response = await first.post(api, LONG[api], { signal: gone.signal });
    const reader = response.body.getReader();
    void (async () => {
      while (!(await reader.read()).done);
    })().catch(() => undefined);
    while (first.sent.length < 2) await new Promise(setImmediate);
    gone.abort();
    await reader.cancel().catch(() => undefined);
    while (!first.sent[1].signal.aborted && !isEnded) await new Promise(setImmediate);
    const again = lying([last], { store });
    const text = await (await again.post(api)).text();
    assert.equal(again.sent[0].text, first.sent[1].text, "what was read is read again");
    assert.ok(text.replaceAll(/\W/g, "").includes("done") || /do.*ne/s.test(text));
    assert.deepEqual([...first.errors, ...again.errors], []);
    [first, again].forEach(({ handler }) => handler.free());
  });

  test(`attack, ${api}: a stream of more than 32 MiB is read no further, so that it takes no more memory, and passes as it comes`, async () => {
    const said = events({ text: "doneone", calls: [OWN] });
    const at = said.findIndex((event) => event.includes('"doneone"'));
    const large = said[at].replace("doneone", "x".repeat(2 ** 20));
    const short = {
      chat: { messages: [{ role: "user", content: "hi" }] },
      responses: { input: "hi" },
      messages: { messages: [{ role: "user", content: "hi" }] },
      contents: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    }[api];
    for (const body of [LONG[api], short]) {
      for (const count of [2, 34]) {
        const { handler, post, sent } = lying([[...said.slice(0, at), ...Array.from({ length: count }, () => large), ...said.slice(at)], last]);
        let taken = 0;
        let text = "";
        for await (const part of (await post(api, body)).body) [taken, text] = [taken + part.length, new TextDecoder().decode(part)];
        assert.ok(taken > count * 2 ** 20, `${taken} bytes`);
        // What would be answered inside passes.
        const isRead = count === 2;
        assert.equal(sent.length, isRead && body === LONG[api] ? 2 : 1);
        assert.equal(text === said.at(-1), !isRead || body === short);
        handler.free();
      }
    }
  });
}

// Node frees a `Request` that nobody holds, and its signal with it, while its answer is still read.
test("attack: a client that goes when memory was freed meanwhile: the provider hears of it", async (t) => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  for (const path of ["/v1/messages", "/v1/models"]) {
    let left;
    const hasLeft = new Promise((done) => (left = done));
    const { address } = await wire(t, (socket) => {
      socket.on("close", left);
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: a while\n\n");
    });
    const handler = proxy({ budget_tokens: 4_000, token: false, upstreams: { anthropic: address, openai: address } });
    const gone = new AbortController();
    const init = path === "/v1/models" ? {} : { method: "POST", headers: { "x-api-key": "k" }, body: SHORT };
    const request = new Request(`${BASE}${path}`, { ...init, signal: gone.signal });
    const reader = (await handler(request)).body.getReader();
    await reader.read();
    const next = reader.read().then(
      () => "more",
      () => "broken off",
    );
    for (let round = 0; round < 20; round += 1) {
      gc();
      await new Promise(setImmediate);
    }
    gone.abort();
    assert.equal(await next, "broken off", path);
    assert.equal(request.signal.aborted, true);
    await hasLeft;
    handler.free();
  }
});

test("attack: bodies that no reader survives, or two read otherwise", async () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const twice = JSON.stringify(LONG.messages).replace(/^\{/, `{"messages":[{"role":"user","content":"other"}],`);
  for (const [body, reason] of [
    [`{"model":"m","messages":[{"role":"user","content":${deep}}]}`, /^bypassed; reason=\w+$/],
    [`{"model":"m","messages":${deep}}`, /^bypassed; reason=\w+$/],
    [`{"messages":[],"metadata":${deep}}`, /^(?:whole|bypassed)/],
    [twice, /^bypassed; reason=unread$/],
    [`{"__proto__":{"messages":[]},"constructor":1,"messages":[{"role":"user","content":"hi","__proto__":{"role":"system"}}]}`, /^whole/],
    [`{"messages":[{"role":"user","content":"${"a".repeat(3)}\\ud800"}]}`, /^(?:whole|bypassed)/],
  ]) {
    const { sent, answer } = scriptedProvider(() => new Response("{}"));
    const handler = proxy({ budget_tokens: 4_000, token: false, fetch: answer });
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const response = await handler(new Request(`${BASE}${path}`, { method: "POST", headers: { "x-api-key": "k" }, body }));
      if (path === "/v1/messages") assert.match(statusOf(response), reason, body.slice(0, 60));
      await response.text();
      assert.ok(sent.at(-1).text === body, `${body.slice(0, 60)} is changed`);
    }
    handler.free();
  }
});
