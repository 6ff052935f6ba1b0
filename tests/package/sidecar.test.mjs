// The endpoints beside MCP: the recorded cases of the Python library's sidecar, and what must hold beyond them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project, root } from "./harness.mjs";

const folder = await project("sidecar", { "entry.mjs": `export { ContextManager, ContextWeaverError, Router } from "contextweaver";` });
const cw = await import(pathToFileURL(join(folder, "entry.mjs")));
const { sidecar } = await import(pathToFileURL(join(folder, "node_modules/contextweaver/dist/gateway/sidecar.js")));
const { ContextManager, Router } = cw;

const read = async (path) => JSON.parse(await readFile(join(root, path), "utf8"));
const recorded = await read("tests/vectors/mcp/sidecar.json");
const deviations = new Map((await read("tests/cases/deviations_mcp_sidecar.json")).map((one) => [one.case, one]));
const HOST = "http://sidecar.test";
const utf8 = (text) => new TextEncoder().encode(text);

/** The options of the Python library's configuration. */
function optionsOf({ router, config = {} }) {
  const { api_key, rate_limit, max_body_bytes } = config;
  return {
    ...(router && { router: new Router(recorded.fixtures.catalog, { navigator: "beam" }) }),
    manager: new ContextManager(),
    token: api_key ?? false,
    ...(rate_limit && { rate_limit }),
    ...(max_body_bytes && { max_body_bytes }),
    clock: () => 0,
  };
}

function requestOf({ method, path, headers, body, body_utf8, body_base64 }) {
  const sent = body !== undefined ? JSON.stringify(body) : body_base64 !== undefined ? Buffer.from(body_base64, "base64") : body_utf8;
  return new Request(`${HOST}${path}`, { method, headers, ...(method !== "GET" && { body: sent }) });
}

/** What the recordings have of an answer: no scores, no words of errors. */
async function shown(response) {
  const body = await response.json();
  if (body.error !== undefined) {
    const { message, details, ...rest } = body;
    assert.equal(typeof message, "string");
    // Where an error is, the Python library does not say.
    return { status: response.status, body: { ...rest, ...(details?.scope !== undefined && { details }) } };
  }
  if (!body.candidate_ids) return { status: response.status, body };
  const { scores, cards, clarifying_question, ...rest } = body;
  assert.equal(scores.length, body.candidate_ids.length);
  const bare = cards.map(({ score, ...card }) => (assert.equal(typeof score, "number"), card));
  return { status: response.status, body: { ...rest, clarifying_question: clarifying_question && "<string>", cards: bare, _scores_omitted: true } };
}

const asked = { method: "POST", path: "/v1/compact", headers: {}, body: { data: "x" } };

/** Which token a header carries: what the sidecar lets in with it. */
async function tokenOf(header) {
  const letsIn = async (token) => {
    const handler = sidecar({ manager: new ContextManager(), token });
    return (await handler(requestOf({ ...asked, headers: { authorization: header } }))).status === 200;
  };
  const token = /^bearer\s+(.*?)\s*$/i.exec(header)?.[1];
  try {
    if (token !== undefined && (await letsIn(token))) return token;
  } catch (error) {
    return { refused: error.code };
  }
  assert.equal(await letsIn("any"), false);
  return null;
}

/** What options do, found out from outside. */
async function configured({ api_key, rate_limit }) {
  const headers = { authorization: `Bearer ${api_key}` };
  const statuses = async (handler, requests) => {
    const all = [];
    for (const request of requests) all.push((await handler(requestOf({ ...asked, headers, ...request }))).status);
    return all;
  };
  const handler = sidecar({ manager: new ContextManager(), token: api_key });
  const sized = (size) => ({ body: undefined, body_utf8: `{"data":"${"x".repeat(size - 11)}"}` });
  const sizes = [2 ** 20, 2 ** 20 + 1];
  const taken = await statuses(handler, sizes.map(sized));
  const masked = await (await handler(requestOf({ ...asked, headers, body: { data: `ghp_${"a".repeat(36)}` } }))).text();
  const limited = sidecar({ manager: new ContextManager(), token: api_key, rate_limit, clock: () => 0 });
  return {
    max_body_bytes: sizes[taken.lastIndexOf(200)],
    redact_secrets: masked.includes("[REDACTED-SECRET]"),
    auth_required: (await handler(requestOf(asked))).status === 401,
    rate_limit: { max_calls_per_minute: (await statuses(limited, Array(10).fill({}))).indexOf(429) },
  };
}

async function answer({ name, input }) {
  if (input.method) {
    let handler;
    try {
      handler = sidecar(optionsOf(input));
    } catch (error) {
      return { refused: error.code, path: error.path };
    }
    return shown(await handler(requestOf(input)));
  }
  if (input.clients) {
    const token = Object.fromEntries(input.clients.map((client) => [client, `token-${client}`]));
    const handler = sidecar({ ...optionsOf(input), token, clock: () => input.clock * 1000 });
    const all = [];
    for (const client of input.clients) all.push(await shown(await handler(requestOf({ ...asked, headers: { authorization: `Bearer token-${client}` } }))));
    const last = all.pop();
    return { sequence: all.map(({ status }) => status), last };
  }
  if (input.requests) {
    const handler = sidecar(optionsOf(input));
    const statuses = [];
    for (let count = 0; count < input.requests; count += 1) statuses.push((await handler(requestOf(asked))).status);
    return { statuses };
  }
  if (input.header !== undefined) return { token: await tokenOf(input.header) };
  if (name === "config-to-dict") return configured(input.config);
  // What the Python library has for its own clients, and this package does not.
  return { absent: name.replace(/-\d+$/, "") };
}

function expectedOf(deviation, expected) {
  if (deviation.expect !== undefined) return deviation.expect;
  const copy = structuredClone(expected);
  for (const [pointer, value] of Object.entries(deviation.patch)) {
    const keys = pointer.split("/").slice(1);
    const last = keys.pop();
    const place = keys.reduce((at, key) => at[key], copy);
    assert.ok(Object.hasOwn(place, last), `${deviation.case}: ${pointer} names no place of the recording`);
    place[last] = value;
  }
  return copy;
}

test("the recorded cases: each is as recorded, or as its deviation says", async () => {
  assert.equal(recorded.cases.length, 76);
  const used = new Set();
  const problems = [];
  for (const one of recorded.cases) {
    const name = `mcp/sidecar/${one.name}`;
    const deviation = deviations.get(name);
    if (deviation) used.add(name);
    const actual = await answer(one);
    try {
      assert.deepEqual(actual, deviation ? expectedOf(deviation, one.expected) : one.expected);
    } catch {
      problems.push(`${name}: ${JSON.stringify(actual)}`);
      continue;
    }
    if (!deviation) continue;
    assert.ok(deviation.reason.length > 20, name);
    assert.notDeepEqual(actual, one.expected, `${name} is listed as a deviation but matches`);
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(
    [...deviations.keys()].filter((name) => !used.has(name)),
    [],
  );
});

const SECRET = `ghp_${"aB3d".repeat(9)}`;
const post = (path, body, headers = {}) =>
  new Request(HOST + path, { method: "POST", headers, body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) });
const get = (path, headers = {}) => new Request(HOST + path, { headers });
const compact = async (handler, body, headers) => (await handler(post("/v1/compact", { budget: 50, ...body }, headers))).json();
const large = (text) => `${text} `.repeat(2_000);

test("the whole of a reduced result is served, byte for byte, to who sent it alone", async () => {
  const manager = new ContextManager();
  manager.artifacts.put({ handle: "artifact:own", content: "the operator's" });
  const handler = sidecar({ manager, token: { ada: "token-a", bob: "token-b" } });
  const [ada, bob] = ["a", "b"].map((name) => ({ authorization: `Bearer token-${name}` }));
  const data = large("naïve — 漢字 \u0001");
  const { artifact_ref, firewalled } = await compact(handler, { data }, ada);
  assert.equal(firewalled, true);
  const path = `/v1/artifacts/${artifact_ref}`;
  const whole = await handler(get(path, ada));
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(whole.headers.get("content-security-policy"), /sandbox/);
  assert.equal(await whole.text(), data);
  assert.equal((await handler(get(`/v1/artifacts/${encodeURIComponent(artifact_ref)}`, ada))).status, 200);
  for (const [other, headers, status] of [
    [path, bob, 404],
    [path, {}, 401],
    ["/v1/artifacts/artifact:own", ada, 404],
    ["/v1/artifacts/%ff", ada, 400],
    ["/v1/artifacts/", ada, 404],
  ]) {
    const refused = await handler(get(other, headers));
    assert.equal(refused.status, status, other);
    assert.ok(!(await refused.text()).includes("operator"));
  }
  // Who sends the same has it too, and keeps it when the other's is given up.
  assert.equal((await compact(handler, { data }, bob)).artifact_ref, artifact_ref);
  assert.equal(await (await handler(get(path, bob))).text(), data);
  const rows = Array.from({ length: 500 }, (_, id) => ({ id, __proto__: null }));
  const json = await compact(handler, { data: rows }, ada);
  const stored = await handler(get(`/v1/artifacts/${json.artifact_ref}`, ada));
  assert.equal(stored.headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(
    await stored.json(),
    rows.map(({ id }) => ({ id })),
  );
  manager.free();
});

test("artifacts are bounded: the oldest of the caller go first, and what was there before stays", async () => {
  const manager = new ContextManager({ limits: { max_store_bytes: 100_000, max_artifact_bytes: 60_000 } });
  manager.artifacts.put({ handle: "artifact:own", content: "x".repeat(20_000) });
  const handler = sidecar({ manager, token: { ada: "token-a", bob: "token-b" }, artifacts: { count: 2 } });
  const [ada, bob] = ["a", "b"].map((name) => ({ authorization: `Bearer token-${name}` }));
  const send = async (mark, headers) => (await compact(handler, { data: large(mark) }, headers)).artifact_ref;
  const status = async (handle, headers) => (await handler(get(`/v1/artifacts/${handle}`, headers))).status;
  const shared = await send("first", bob);
  const first = await send("first", ada);
  assert.equal(first, shared);
  const second = await send("second", ada);
  const third = await send("third", ada);
  assert.deepEqual([await status(first, ada), await status(second, ada), await status(third, ada), await status(first, bob)], [404, 200, 200, 200]);
  // A full manager: the caller's own go first.
  const fourth = (await compact(handler, { data: "z".repeat(50_000) }, ada)).artifact_ref;
  assert.deepEqual([await status(second, ada), await status(third, ada), await status(fourth, ada), await status(first, bob)], [404, 200, 200, 200]);
  const refused = await handler(post("/v1/compact", { data: "y".repeat(70_000), budget: 50 }, ada));
  assert.equal(refused.status, 413);
  assert.equal((await refused.json()).error, "PAYLOAD_TOO_LARGE");
  assert.equal(await status(first, bob), 200, "what never fits must not cost others theirs");
  assert.ok(manager.artifacts.exists("artifact:own"));
  manager.free();
});

test("a manager of each caller's own serves all that it has, and is not to be shared", async () => {
  const managers = new Map();
  const made = ({ tenant }) => managers.get(tenant) ?? managers.set(tenant, new ContextManager()).get(tenant);
  const handler = sidecar({ manager: made, token: { ada: "token-a", bob: "token-b" } });
  const [ada, bob] = ["a", "b"].map((name) => ({ authorization: `Bearer token-${name}` }));
  const { artifact_ref } = await compact(handler, { data: large("ada's") }, ada);
  managers.get("ada").artifacts.put({ handle: "image/1", content: new Uint8Array([0xff, 0xd8, 0]), media_type: "image/jpeg" });
  const image = await handler(get("/v1/artifacts/image%2F1", ada));
  assert.equal(image.headers.get("content-type"), "image/jpeg");
  assert.deepEqual([...new Uint8Array(await image.arrayBuffer())], [0xff, 0xd8, 0]);
  assert.equal((await handler(get(`/v1/artifacts/${artifact_ref}`, bob))).status, 404);
  managers.get("ada").ingestToolResult({ tool_call_id: "c", tool_name: "t", raw_output: large("withheld"), sensitivity: "restricted" });
  const { handle } = managers
    .get("ada")
    .artifacts.list()
    .find(({ handle }) => !handle.includes("compact") && handle !== "image/1");
  const withheld = await handler(get(`/v1/artifacts/${encodeURIComponent(handle)}`, ada));
  assert.equal(withheld.status, 403);
  assert.ok(!(await withheld.text()).includes("withheld withheld"));
  const failures = [];
  const one = new ContextManager();
  const wrong = sidecar({ manager: () => one, token: { ada: "token-a", bob: "token-b" }, onError: (error) => failures.push(error) });
  assert.equal((await wrong(post("/v1/compact", { data: 1 }, ada))).status, 200);
  const refused = await wrong(post("/v1/compact", { data: 1 }, bob));
  assert.deepEqual([refused.status, await refused.json()], [500, { error: "INTERNAL", message: "the server failed", retryable: false }]);
  assert.deepEqual(
    failures.map(({ code, path }) => [code, path]),
    [["CALLBACK_FAILED", "/manager"]],
  );
});

test("hostile bodies are refused, and the handler goes on", async () => {
  const handler = sidecar({ router: new Router(recorded.fixtures.catalog), manager: new ContextManager(), token: false, max_body_bytes: 100_000 });
  const deep = (depth) => "[".repeat(depth) + "]".repeat(depth);
  const refusals = [
    ["/v1/compact", `{"data":${deep(10_000)}}`, 400],
    ["/v1/compact", `{"data":${deep(70)}}`, 400],
    ["/v1/compact", `{"data":12345678901234567890}`, 400],
    ["/v1/compact", `{"data":${"9".repeat(50_000)}}`, 400],
    ["/v1/compact", `{"data":1e400}`, 400],
    ["/v1/compact", `{"data":"\\ud800"}`, 400],
    ["/v1/compact", new Uint8Array([0x7b, 0xff, 0x7d]), 400],
    ["/v1/compact", "", 400],
    ["/v1/compact", `{"__proto__":{"data":1}}`, 400],
    ["/v1/compact", { data: { a: 1 }, keep: ["a", ""], strategy: "structured", budget: 1, threshold_chars: 0 }, 400],
    ["/v1/compact", { data: "x", strategy: "structured", keep: ["a"] }, 400],
    ["/v1/compact", { data: "x", strategy: SECRET }, 400],
    ["/v1/compact", { data: "x", budget: 1e15, threshold_chars: 0 }, 400],
    ["/v1/route", { query: "x", top_k: 1e9 }, 400],
    ["/v1/route", { query: " \n" }, 400],
    ["/v1/route", { query: "x".repeat(100_000) }, 413],
    ["/v1/route", `{"query":"x","__proto__":{"top_k":0},"top_k":0}`, 400],
  ];
  for (const [path, body, status] of refusals) {
    const answer = await handler(post(path, body));
    const said = await answer.json();
    assert.equal(answer.status, status, `${String(body).slice(0, 60)}: ${JSON.stringify(said)}`);
    assert.deepEqual([typeof said.message, said.retryable], ["string", false]);
    assert.ok(!JSON.stringify(said).includes(SECRET));
  }
  const exact = await handler(post("/v1/compact", `{"data":{"__proto__":{"a":1},"n":9007199254740992,"s":"12345678901234567890 \\" -1"}}`));
  const text = await exact.text();
  assert.equal(exact.status, 200, text);
  assert.match(text, /"payload":\{"__proto__":\{"a":1\},"n":9007199254740992,"s":"12345678901234567890 \\" -1","_cw"/);
  const words = Array.from({ length: 12_000 }, (_, at) => `w${at}`).join(" ");
  assert.equal((await handler(post("/v1/route", { query: words }))).status, 200);
  const slashes = await handler(get(`/${"/".repeat(50_000)}x`));
  assert.equal(slashes.status, 404);
});

test("announced lengths are not believed, and an aborted body is not waited for", async () => {
  const handler = sidecar({ manager: new ContextManager(), token: false, max_body_bytes: 1_000 });
  const streamed = (chunks, headers = {}, signal = undefined, isEndless = false) => {
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (pulled < chunks.length) controller.enqueue(chunks[pulled]);
        else if (!isEndless) controller.close();
        else return new Promise(() => {});
        pulled += 1;
      },
      cancel: () => new Promise(() => {}),
    });
    return { request: { method: "POST", url: `${HOST}/v1/compact`, headers: new Headers(headers), body, signal }, pulled: () => pulled };
  };
  const kilo = utf8("x".repeat(400));
  const lying = streamed(Array(1_000).fill(kilo), { "content-length": "10" });
  assert.equal((await handler(lying.request)).status, 413);
  assert.ok(lying.pulled() < 10, "it read on");
  const boasting = streamed([kilo], { "content-length": "99999999" });
  assert.equal((await handler(boasting.request)).status, 413);
  assert.equal((await handler(streamed([utf8(`{"data":`), utf8("1}")], { "content-length": "2" }).request)).status, 200);
  for (const wait of [0, 20]) {
    const controller = new AbortController();
    const slow = streamed([utf8(`{"da`)], {}, controller.signal, true);
    const answering = handler(slow.request);
    setTimeout(() => controller.abort(), wait);
    const answer = await answering;
    assert.deepEqual([answer.status, (await answer.json()).message], [400, "the request was aborted"]);
  }
});

test("what a refusal must say in its headers is there", async () => {
  let now = 0;
  const handler = sidecar({
    manager: new ContextManager(),
    token: "t",
    rate_limit: { max_calls_per_minute: 2, max_calls_per_session: 3 },
    clock: () => now,
    origins: ["https://app.example"],
  });
  const headers = { authorization: "Bearer t" };
  const ask = (body = { data: 1 }) => handler(post("/v1/compact", body, headers));
  assert.equal((await handler(get("/v1/compact"))).headers.get("allow"), "POST, OPTIONS");
  assert.equal((await handler(post("/v1/compact", {}))).headers.get("www-authenticate"), "Bearer");
  // A header carries bytes: what is no ASCII is compared, and is another token.
  assert.equal((await handler(post("/v1/compact", {}, { authorization: "Bearer t\u00e9" }))).status, 401);
  assert.deepEqual([(await ask()).status, (await ask({})).status], [200, 400]);
  now = 500;
  const limited = await ask();
  assert.deepEqual(
    [limited.status, limited.headers.get("retry-after"), (await limited.json()).details],
    [429, "60", { scope: "sidecar/minute", retry_after: 59.5 }],
  );
  now = 60_000;
  assert.equal((await ask()).status, 200);
  const ended = await ask();
  assert.deepEqual(
    [ended.status, ended.headers.get("retry-after"), (await ended.json()).details],
    [429, null, { scope: "sidecar/session", retry_after: null }],
  );
  assert.equal((await handler(get("/v1/health"))).status, 200);
});

test("pages may ask from known origins alone", async () => {
  const handler = sidecar({ manager: new ContextManager(), token: "t", origins: ["https://app.example"] });
  const page = (origin, more = {}) => ({ origin, authorization: "Bearer t", ...more });
  const known = await handler(post("/v1/compact", { data: 1 }, page("https://app.example")));
  assert.deepEqual([known.status, known.headers.get("access-control-allow-origin")], [200, "https://app.example"]);
  assert.match(known.headers.get("access-control-expose-headers"), /retry-after/);
  const options = { method: "OPTIONS", headers: page("https://app.example", { "access-control-request-method": "POST" }) };
  const preflight = await handler(new Request(`${HOST}/v1/compact`, options));
  assert.deepEqual([preflight.status, preflight.headers.get("access-control-allow-methods")], [204, "GET, POST"]);
  const plain = await handler(new Request(`${HOST}/v1/route`, { method: "OPTIONS" }));
  assert.deepEqual([plain.status, plain.headers.get("allow")], [204, "POST, OPTIONS"]);
  const foreign = await handler(post("/v1/compact", { data: 1 }, page("https://evil.example")));
  assert.deepEqual([foreign.status, (await foreign.json()).error, foreign.headers.get("access-control-allow-origin")], [403, "FORBIDDEN", null]);
});

test("secrets are masked unless the operator says otherwise", async () => {
  const data = { note: `${large("word")} ${SECRET}` };
  const handler = sidecar({ manager: new ContextManager(), token: false });
  const answer = await handler(post("/v1/compact", { data, budget: 50, redact_secrets: false }));
  const text = await answer.text();
  const whole = await (await handler(get(`/v1/artifacts/${JSON.parse(text).artifact_ref}`))).text();
  assert.ok(!text.includes(SECRET) && !whole.includes(SECRET) && whole.includes("[REDACTED-SECRET]"));
  const open = new ContextManager({ redact_secrets: false });
  assert.throws(() => sidecar({ manager: open, token: false }), { code: "INVALID_INPUT", path: "/manager" });
  const shows = sidecar({ manager: open, token: false, redact_secrets: false });
  assert.ok((await (await shows(post("/v1/compact", { data: SECRET }))).text()).includes(SECRET));
  assert.equal((await shows(post("/v1/compact", { data: SECRET, redact_secrets: true }))).status, 400);
});

test("what routes in one call fits too, and what fails inside stays inside", async () => {
  const failures = [];
  const results = { candidate_ids: ["a", "b"], scores: [2, 1], is_ambiguous: false, clarifying_question: null };
  const router = {
    async route(query, options) {
      assert.deepEqual(options, { top_k: 1, exclude_ids: [], context_hints: [] });
      if (query === "fail") throw new Error(`the password is ${SECRET}`);
      return { result: results, cards: [{ id: "a" }, { id: "b" }] };
    },
  };
  const handler = sidecar({ router, token: false, onError: (error) => failures.push(error) });
  const answer = await (await handler(post("/v1/route", { query: "q", top_k: 1 }))).json();
  assert.deepEqual(answer, { api_version: "v1", ...results, candidate_ids: ["a"], scores: [2], cards: [{ id: "a" }] });
  const failed = await handler(post("/v1/route", { query: "fail", top_k: 1 }));
  assert.deepEqual([failed.status, await failed.json()], [500, { error: "INTERNAL", message: "the server failed", retryable: false }]);
  assert.equal(failures.length, 1);
  const without = await handler(post("/v1/compact", { data: 1 }));
  assert.deepEqual([without.status, (await without.json()).error], [503, "COMPACT_UNAVAILABLE"]);
});

test("clients are told apart by whatever the operator says, and forgotten when there are too many", async () => {
  const client = ({ headers }) => headers.get("x-client");
  const handler = sidecar({ manager: new ContextManager(), token: false, client, rate_limit: { max_calls_per_minute: 1 }, clock: () => 0 });
  const ask = async (name) => (await handler(post("/v1/compact", { data: 1 }, { "x-client": name }))).status;
  assert.deepEqual([await ask("a"), await ask("a"), await ask("b"), await ask("x".repeat(257))], [200, 429, 200, 500]);
  for (let count = 0; count < 4_096; count += 1) await ask(`c${count}`);
  assert.equal(await ask("a"), 200);
});

test("options that are not as described are told at once", () => {
  const manager = new ContextManager();
  const cases = [
    [{}, "MISSING_FIELD", "/token"],
    [{ token: "" }, "INVALID_INPUT", "/token"],
    [{ token: {} }, "INVALID_INPUT", "/token"],
    [{ token: "t", authorize: () => undefined }, "INVALID_INPUT", "/token"],
    [{ token: "t", ratelimit: {} }, "UNKNOWN_FIELD", "/ratelimit"],
    [{ token: "t", rate_limit: { max_calls_per_minut: 1 } }, "UNKNOWN_FIELD", "/rate_limit/max_calls_per_minut"],
    [{ token: "t", rate_limit: { max_calls_per_minute: 0 } }, "OUT_OF_RANGE", "/rate_limit/max_calls_per_minute"],
    [{ token: "t", max_body_bytes: 0 }, "OUT_OF_RANGE", "/max_body_bytes"],
    [{ token: "t", router: {} }, "INVALID_INPUT", "/router"],
    [{ token: "t", manager: {} }, "INVALID_INPUT", "/manager"],
    [{ token: "t", manager, artifacts: { count: 0 } }, "OUT_OF_RANGE", "/artifacts/count"],
    [{ token: "t", manager: () => manager, artifacts: {} }, "INVALID_INPUT", "/artifacts"],
    [{ token: "t", clock: 5 }, "INVALID_INPUT", "/clock"],
    [{ token: "t", redact_secrets: "yes" }, "INVALID_INPUT", "/redact_secrets"],
    [{ token: "t", origins: "https://a.example" }, "INVALID_INPUT", "/origins"],
  ];
  for (const [options, code, path] of cases) assert.throws(() => sidecar(options), { code, path }, JSON.stringify(options));
});
