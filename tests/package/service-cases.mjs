// What every service of sessions must hold, wherever it runs: requests that are refused, and a conversation.

export const TOKENS = { ada: "ada-7Yq2mX9sLr4Tz8Wv", bob: "bob-3Kd6nB1pHc5Jf0Ga" };

/** A credential where a name belongs. */
const NAME = "ghp_N7wQ2eR9tY4uI8oP3aS6dF1gH5jK0lZxCvBm";
const item = { id: "u9", kind: "user_turn", text: "an attack" };
export const BODIES = { append: { items: [item] }, build: { build: { phase: "answer" } } };

const post = (path, body, headers = {}) => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const as = (tenant, request) => ({ ...request, headers: { authorization: `Bearer ${TOKENS[tenant]}`, ...request.headers } });
const append = "/v1/sessions/secret/append";

/** Requests by what they try, each with the statuses that are right, 0 where it may not arrive. Before them `secret` is a session of ada's, `own` one of bob's. */
export const ATTACKS = {
  "no token": [post(append, BODIES.append), 401],
  "an empty token": [{ ...post(append, BODIES.append), headers: { authorization: "Bearer ", "content-type": "application/json" } }, 401],
  "a wrong token": [{ ...post(append, BODIES.append), headers: { authorization: `Bearer ${TOKENS.ada}x`, "content-type": "application/json" } }, 401],
  "half of a token": [
    { ...post(append, BODIES.append), headers: { authorization: `Bearer ${TOKENS.ada.slice(0, 8)}`, "content-type": "application/json" } },
    401,
  ],
  "another scheme": [{ ...post(append, BODIES.append), headers: { authorization: `Basic ${TOKENS.ada}`, "content-type": "application/json" } }, 401],
  "the token in the query": [post(`${append}?token=${TOKENS.ada}`, BODIES.append), 401],
  "the token of another tenant": [as("bob", post(append, BODIES.append)), 404],
  "another tenant's prompt": [as("bob", post("/v1/sessions/secret/build", BODIES.build)), 404],
  "another tenant's session": [as("bob", { method: "GET", path: "/v1/sessions/secret" }), 404],
  "deleting another tenant's session": [as("bob", { method: "DELETE", path: "/v1/sessions/secret" }), 404],
  "a tenant in the body": [as("bob", post(append, { ...BODIES.append, tenant: "ada" })), 422],
  "a tenant in a header": [as("bob", post(append, BODIES.append, { "x-tenant": "ada", tenant: "ada" })), 404],
  "a tenant in the query": [as("bob", { method: "GET", path: "/v1/sessions/secret?tenant=ada" }), 422],
  "a tenant in the path": [as("bob", post("/v1/ada/sessions/secret/append", BODIES.append)), 404],
  "dots in an id": [as("bob", post("/v1/sessions/%2e%2e%2fada%2fsecret/append", BODIES.append)), 422],
  "an encoded slash": [as("bob", post("/v1/sessions/own%2F..%2Fsecret/append", BODIES.append)), 422],
  "an escape twice": [as("bob", post("/v1/sessions/%252e%252e/append", BODIES.append)), 422],
  "a null byte": [as("bob", post("/v1/sessions/own%00/append", BODIES.append)), 422],
  "half of an escape": [as("bob", post("/v1/sessions/own%/append", BODIES.append)), 422],
  "a name of a prototype": [as("bob", { method: "GET", path: "/v1/sessions/__proto__" }), 422],
  "a constructor": [as("bob", { method: "GET", path: "/v1/sessions/constructor" }), 404],
  "an id with a slash": [as("bob", post("/v1/sessions", { id: "../secret" })), 422],
  "an id of another type": [as("bob", post("/v1/sessions", { id: ["secret"] })), 422],
  "a long id": [as("bob", post("/v1/sessions", { id: "a".repeat(129) })), 422],
  "an id that is taken": [as("ada", post("/v1/sessions", { id: "secret" })), 409],
  "a large body": [as("ada", post(append, { items: [{ ...item, text: "x".repeat(70_000) }] })), [413, 0]],
  "a large body that says so": [as("ada", post(append, BODIES.append, { "content-length": "9999999999" })), [413, 0]],
  "no JSON": [as("ada", post(append, "{")), 400],
  nothing: [as("ada", post(append, "")), 400],
  "a list": [as("ada", post(append, "[]")), 422],
  null: [as("ada", post(append, "null")), 422],
  "another media type": [as("ada", post(append, BODIES.append, { "content-type": "text/plain" })), 415],
  "a form": [as("ada", post(append, "a=1", { "content-type": "application/x-www-form-urlencoded" })), 415],
  "bytes that are no UTF-8": [as("ada", { ...post(append, ""), body: new Uint8Array([0x7b, 0xff, 0x7d]) }), 400],
  "a huge number": [as("ada", post(append, `{"items":[{"id":"u9","kind":"user_turn","text":"x","metadata":{"n":1e999}}]}`)), 422],
  "a huge sequence": [as("ada", post(append, `{"items":[],"if_sequence":1e300}`)), 422],
  "a negative sequence": [as("ada", post(append, `{"items":[],"if_sequence":-1}`)), 422],
  "a huge budget": [as("ada", post("/v1/sessions/secret/build", { build: { phase: "answer", budget_tokens: 1e15 } })), 422],
  "deep JSON": [
    as("ada", post(append, `{"items":[{"id":"u9","kind":"user_turn","text":"x","metadata":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}]}`)),
    [400, 422],
  ],
  "a key of a prototype": [as("ada", post(append, `{"__proto__":{"tenant":"bob"},"items":[]}`)), 422],
  "a key of a prototype in options": [as("ada", post("/v1/sessions", `{"id":"x","options":{"__proto__":{"a":1}}}`)), 422],
  "an unknown field": [as("ada", post(append, { item })), 422],
  "a credential as a field": [as("ada", post(append, { [NAME]: 1 })), 422],
  "a credential as an option": [as("ada", post("/v1/sessions", { id: "x", options: { [NAME]: 1 } })), 422],
  "a credential as a kind": [as("ada", post(append, { items: [{ ...item, kind: NAME }] })), 422],
  "a credential as a path": [as("ada", { method: "GET", path: `/v1/${NAME}` }), 404],
  "a credential in the query": [as("ada", { method: "GET", path: `/v1/decisions?${NAME}=1` }), 422],
  "half of a surrogate pair": [as("ada", post(append, `{"items":[{"id":"u9","kind":"user_turn","text":"\\ud800"}]}`)), 422],
  "an item twice": [as("ada", post(append, { items: [item, item] })), 409],
  "an option with a function's name": [as("ada", post("/v1/sessions", { id: "x", options: { clock: "Date.now" } })), 403],
  "a summarizer that is no name": [as("ada", post("/v1/sessions", { id: "x", options: { summarizer: { run: "eval" } } })), 422],
  "a result that is withheld": [as("ada", post("/v1/sessions/secret/drilldown", { handle: "artifact:other", selector: { type: "head", chars: 10 } })), 404],
  "a pattern that does not end": [
    as("ada", post("/v1/sessions/secret/drilldown", { handle: "artifact:u1", selector: { type: "search", pattern: "(a+".repeat(500) } })),
    [400, 404, 413, 422],
  ],
  "a key that is none": [as("ada", post(append, BODIES.append, { "idempotency-key": "a b" })), 422],
  "a long key": [as("ada", post(append, BODIES.append, { "idempotency-key": "k".repeat(256) })), 422],
  "another method": [as("ada", { ...post(append, BODIES.append), method: "PUT" }), 405],
  "a method of another path": [as("ada", { method: "DELETE", path: "/v1/sessions" }), 405],
  "a path that is not there": [as("ada", { method: "GET", path: "/v1/tenants" }), 404],
  "another version": [as("ada", post("/v2/sessions/secret/append", BODIES.append)), 404],
  "a page of somewhere": [as("ada", post(append, BODIES.append, { origin: "https://evil.example" })), 403],
  "a revision that is none": [as("ada", { method: "GET", path: "/v1/decisions?since=NaN" }), 422],
  "rules that are none": [as("ada", post("/v1/decisions/guardrails", { rules: [{ id: NAME, action: NAME }] })), 422],
  "a rule of another tenant": [as("bob", post("/v1/decisions/guardrails/remove", { id: ["floor"] })), 422],
  "no message": [as("ada", post("/v1/decisions/mcp", { a: 1 })), 400],
  "a batch": [as("ada", post("/v1/decisions/mcp", "[]")), 422],
};

/** Whether each is refused as a problem that tells nothing of the inside. */
export async function holdsTheAttacks(fetch, attacks, assert) {
  for (const [name, [{ path, ...init }, wanted]] of Object.entries(attacks)) {
    let response;
    try {
      response = await fetch(`http://service.test${path}`, init);
    } catch (error) {
      // Some runtimes send no such request, or end the connection before it is sent.
      assert.ok([wanted].flat().includes(0), `${name}: ${error}`);
      continue;
    }
    const text = await response.text();
    assert.ok([wanted].flat().includes(response.status), `${name}: ${response.status} ${text}`);
    assert.ok(!/node_modules|\.js:|at \w+ \(|ada-7|bob-3|N7wQ2eR9|the plan of ada/.test(text), `${name}: ${text}`);
    if (response.headers.get("content-type") !== "application/problem+json") continue;
    const { status, code, detail } = JSON.parse(text);
    assert.equal(status, response.status, name);
    assert.match(code, /^[A-Z_]+$/, name);
    assert.ok(detail.length > 0 && detail.length < 500, name);
  }
}

/** Turns of a conversation with large results: what is appended, and what is asked. */
export function conversation(turns) {
  return Array.from({ length: turns }, (_, n) => ({
    append: {
      items: [
        { id: `u${n}`, kind: "user_turn", text: `Question ${n} about order ${n * 37}` },
        { id: `c${n}`, kind: "tool_call", text: `export_orders({"page":${n}})`, parent_id: `u${n}` },
      ],
      tool_results: [
        {
          tool_call_id: `c${n}`,
          tool_name: "export_orders",
          raw_output: Array.from({ length: 50 + n * 60 }, (_, row) => `order ${row * 37} was ${row % 9 ? "shipped" : "delayed"} on day ${row % 28}`).join("\n"),
        },
      ],
      ...(n % 4 === 0 && { facts: [{ fact_id: `f${n}`, key: `k${n}`, value: `value ${n}` }] }),
    },
    build: { phase: "answer", query: `order ${n * 37}`, budget_tokens: 900 },
  }));
}

/** Logs a decision by MCP; returns its id. */
export async function loggedDecision(client, decision) {
  const { result } = await client.decisionsRpc({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "log_decision", arguments: { decision, confidence: 0.8, category: "architecture" } },
  });
  if (result?.isError) throw new Error(JSON.stringify(result));
  return result.structuredContent.id;
}
