// Canaries: credentials, and text above the sensitivity floor, planted in everything that a caller can hand over. Every
// public function is called, and nothing it returns, throws or tells a hook may have one of them, except where its purpose
// is to give back what was stored. A new function without a row fails the first case.

/** A credential in texts and values. */
const SECRET = "ghp_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ";
/** A credential that somebody took for an id, a name or a key. */
const NAME = "ghp_N7wQ2eR9tY4uI8oP3aS6dF1gH5jK0lZxCvBm";
/** A word of what is withheld. */
const WITHHELD = "quokkaplan";

/** What each canary is known by, also where it was cut, or written in lower case. */
const CANARIES = Object.entries({ SECRET, NAME }).flatMap(([name, text]) => {
  const lower = text.toLowerCase();
  return [
    [name, lower.slice(4, 14)],
    [name, lower.slice(-10)],
  ];
});
CANARIES.push(["WITHHELD", WITHHELD]);

/** Fields that name things: whoever gives a thing an id must get that id back, or could not ask for it. */
const IDS = new Set([
  "id",
  "item_id",
  "item_ids",
  "parent_id",
  "fact_id",
  "fact_ids",
  "episode_id",
  "episode_ids",
  "source_ids",
  "source_item_id",
  "source_episode_ids",
  "cluster_id",
  "handle",
  "artifact_ref",
  "ids",
  "added",
  "removed",
  "superseded",
  "selected",
  "selected_id",
  "raw_id",
  "candidate_ids",
  "dropped",
  "shortened",
  "pinned",
  "tool_id",
  "node",
  "kept",
  "invalid_ids",
  "before_top1",
  "after_top1",
  "decayed_episode_ids",
  "decayed_fact_ids",
  "enum",
  "resource_id",
  "tool_call_id",
]);

/**
 * Where else a canary may be, by the path of the value, and why. A name in an id, above, is not told here.
 */
const AS_GIVEN = [
  [/\.items?(\[\d+\])?\.metadata\b/, "an item comes back with what the program wrote beside its text"],
  [/^ContextManager\.drilldown\[\d+\]\.(selector|next)\b/, "repeats what was asked, so that it can be asked again"],
  [/^(a key of )?Router\.(toolsFor|providerTools)\b.*\.(name|properties|required|name_to_tool_id)\b/, "names that a call has to carry"],
  [/^a key of Router\.(toolsFor\[4\]|providerTools\[\d\]\.name_to_tool_id)/, "names that a call has to carry"],
  [/^(a key of )?Router\.graph\b/, "a graph of ids, for RouterOptions.graph"],
  [/^Router\.(route|browse).*\.paths?\b/, "paths of ids, which browse takes"],
  [/^ContextManager\.buildRoute.*\.paths\b/, "paths of ids, which browse takes"],
  [/^ContextManager\.turnsBefore.*\.tool$/, "the tool of a call, which a route looks up"],
  [/^a key of Catalog\.pin\b/, "digests by id, for lint"],
  [/^a key of .*\.(history_adjustments|folded)$/, "numbers by id"],
];

const text = (about) => `${about}: the key is ${SECRET} and nothing else matters, says the deployment plan`;
const item = (id, more = {}) => ({ id, kind: "user_turn", text: text(id), metadata: { note: SECRET, [NAME]: SECRET }, ...more });
const withheld = (id, more = {}) => item(id, { text: `the ${WITHHELD} of the deployment`, sensitivity: "restricted", metadata: { note: WITHHELD }, ...more });
const tool = (id, more = {}) => ({
  id,
  kind: "tool",
  name: id,
  description: text(`Deploys the service ${id}`),
  namespace: `ops.${NAME}`,
  tags: ["deployment", NAME],
  args_schema: {
    type: "object",
    properties: { region: { type: "string", description: text("where"), default: SECRET }, [NAME]: { type: "string" } },
    required: ["region"],
  },
  examples: [text("an example")],
  constraints: { note: SECRET },
  metadata: { note: SECRET },
  ...more,
});
const mcpTool = (name) => ({
  name,
  title: text("Deploy"),
  description: text("Deploys"),
  inputSchema: { type: "object", properties: { region: { type: "string", description: text("where") } } },
  annotations: { title: text("Deploy"), readOnlyHint: false },
  _meta: { note: SECRET },
});
const mcpResult = (words = text("done")) => ({
  content: [
    { type: "text", text: `${words}\n`.repeat(4) },
    { type: "resource_link", uri: `https://example.com/?token=${SECRET}`, name: SECRET, description: words },
    { type: "resource", resource: { uri: `file:///${NAME}`, text: words, mimeType: "text/plain" } },
    { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    { type: "unheard-of", note: words },
  ],
  structuredContent: { key: SECRET, rows: [{ a: words }, { a: words }] },
  _meta: { note: SECRET },
});
const rows = (words) => JSON.stringify(Array.from({ length: 400 }, (_, i) => ({ n: i, note: i % 50 ? "fine" : words })));

/** A conversation in each format; the call and its result have names like credentials. */
const CONVERSATIONS = {
  "openai-chat": [
    { role: "system", content: text("system") },
    { role: "user", content: text("user"), name: "ada" },
    {
      role: "assistant",
      content: text("assistant"),
      tool_calls: [{ id: NAME, type: "function", function: { name: "deploy", arguments: JSON.stringify({ key: SECRET }) } }],
    },
    { role: "tool", tool_call_id: NAME, content: text("result") },
    {
      role: "user",
      content: [
        { type: "text", text: text("go on") },
        { type: "image_url", image_url: { url: `https://example.com/i.png?token=${SECRET}` } },
      ],
    },
  ],
  "openai-responses": [
    { role: "user", content: text("user") },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: text("reasoning") }], encrypted_content: "x" },
    { type: "function_call", call_id: NAME, name: "deploy", arguments: JSON.stringify({ key: SECRET }) },
    { type: "function_call_output", call_id: NAME, output: text("result") },
  ],
  anthropic: [
    { role: "user", content: text("user") },
    {
      role: "assistant",
      content: [
        { type: "text", text: text("assistant") },
        { type: "tool_use", id: NAME, name: "deploy", input: { key: SECRET, [NAME]: 1 } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: NAME, content: text("result") },
        { type: "text", text: text("go on") },
      ],
    },
  ],
  gemini: [
    { role: "user", parts: [{ text: text("user") }] },
    { role: "model", parts: [{ functionCall: { id: NAME, name: "deploy", args: { key: SECRET } } }] },
    { role: "user", parts: [{ functionResponse: { id: NAME, name: "deploy", response: { output: text("result") } } }] },
  ],
  "ai-sdk-ui": [
    { id: NAME, role: "user", parts: [{ type: "text", text: text("user") }] },
    {
      id: "m2",
      role: "assistant",
      parts: [
        { type: "text", text: text("assistant") },
        { type: "tool-deploy", toolCallId: NAME, state: "output-available", input: { key: SECRET }, output: { key: SECRET } },
      ],
    },
  ],
  "ai-sdk-model": [
    { role: "user", content: text("user") },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: NAME, toolName: "deploy", input: { key: SECRET } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: NAME, toolName: "deploy", output: { type: "text", value: text("result") } }] },
  ],
};
const FORMATS = Object.keys(CONVERSATIONS);
const session = [
  { type: "user_turn", text: text("user") },
  { type: "tool_call", id: "c1", tool_name: "deploy", args: { key: SECRET } },
]
  .map((line) => JSON.stringify(line))
  .join("\n");

/** Everything that holds something, with canaries in all of it. Made once for each row. */
async function worldOf(cw) {
  const heard = [];
  const hear = (event) => void heard.push(event);
  const hooks = { firewall_triggered: hear, items_excluded: hear, budget_exceeded: hear, context_built: hear, build_failed: hear, tool_executed: hear };
  const manager = new cw.ContextManager({ hooks, clock: () => 1_700_000_000_000 });
  manager.ingestAll([
    item("u1"),
    item(`${NAME}i`),
    withheld("w1"),
    item("d1", { kind: "plan_state", text: `Decision: ${text("we chose")}. TODO: ${text("open")}` }),
  ]);
  manager.ingest(item("k1", { kind: "tool_call", text: `deploy({"key":"${SECRET}"})` }));
  manager.ingestToolResult({ tool_call_id: "k1", tool_name: NAME, raw_output: rows(text("row")), metadata: { note: SECRET } });
  manager.ingest(item("k2", { kind: "tool_call", text: "deploy()" }));
  manager.ingestToolResult({ tool_call_id: "k2", tool_name: "read_plan", raw_output: rows(WITHHELD), sensitivity: "restricted" });
  manager.ingest(item("k3", { kind: "tool_call", text: "deploy()" }));
  manager.ingestMcpResult({ tool_call_id: "k3", tool_name: NAME, result: mcpResult() });
  manager.ingest(item("k4", { kind: "tool_call", text: "deploy()" }));
  manager.ingestMcpResult({ tool_call_id: "k4", tool_name: "read_plan", result: mcpResult(`the ${WITHHELD}`), sensitivity: "restricted" });
  manager.ingestMessages(CONVERSATIONS["openai-chat"], "openai-chat", { id_prefix: "chat" });
  const days = ["2026-01-01", "2026-01-02", "2026-01-03"];
  for (const [at, day] of days.entries()) {
    manager.addFact({ fact_id: `f${at}`, key: `deploy.${at}`, value: text("fact"), tags: [NAME], metadata: { note: SECRET } });
    const metadata = { timestamp: `${day}T00:00:00Z`, session_id: `s${at}`, note: SECRET };
    manager.addEpisode({ episode_id: `e${at}`, summary: text("deployed the service"), tags: [NAME], metadata });
    manager.addEpisode({ episode_id: `w${at}`, summary: `the ${WITHHELD} was used`, sensitivity: "restricted", metadata });
  }
  manager.addFact({ fact_id: NAME, key: NAME, value: SECRET });
  manager.addFact({ fact_id: "fw", key: "plan", value: WITHHELD, sensitivity: "restricted" });
  manager.artifacts.put({ handle: NAME, content: text("artifact"), label: SECRET });
  const tools = [tool("deploy"), tool("rollback", { title: SECRET }), tool(NAME), tool("plan", { description: "Plans a deployment" })];
  const catalog = new cw.Catalog(tools);
  const router = new cw.Router(catalog);
  const decisions = new cw.DecisionStore({ clock: () => 1_700_000_000_000, new_id: () => `d${(ids += 1)}`, on_change: hear, on_guardrail_check: hear });
  let ids = 0;
  const decision = {
    decision: text("Deploy"),
    confidence: 0.7,
    category: "process",
    context: SECRET,
    tags: [NAME],
    reasons: [{ type: "analysis", text: SECRET }],
    pattern: SECRET,
  };
  await decisions.callTool("log_decision", decision);
  await decisions.callTool("log_decision", { ...decision, project: NAME, bridge: { structure: SECRET, function: SECRET } });
  decisions.addGuardrails([
    { id: "g1", name: SECRET, description: SECRET, conditions: [{ field: "category", operator: "eq", value: "process" }], action: "warn", message: SECRET },
  ]);
  const context = cw.ToolCallContext.of({ tenant: "acme" }).withSecret("token", SECRET);
  const callable = cw.defineTool({ name: "deploy", description: "deploys" }, () => {
    throw new Error(`refused ${SECRET}`);
  });
  return {
    heard,
    manager,
    catalog,
    tools,
    router,
    route: router.route(text("deploy the service"), { debug: true, context_hints: [SECRET] }),
    decisions,
    context,
    callable,
  };
}

/** Calls every tool of the decision memory. */
async function allDecisionTools({ decisions }) {
  const calls = {
    pre_action: {
      action: { description: text("deploy"), category: "process", context: { note: SECRET, [NAME]: 1 } },
      options: { auto_record: true },
      reasons: [{ type: "analysis", text: SECRET }],
    },
    get_session_context: { task_description: text("deploy") },
    ready: {},
    query_decisions: { query: text("deploy") },
    check_action: { description: text("deploy"), category: "process", context: { note: SECRET } },
    log_decision: { decision: text("Deploy"), confidence: 0.7, category: "process", decision_id: "own" },
    review_outcome: { id: "d1", outcome: "failure", actual_result: SECRET, lessons: SECRET },
    get_stats: { project: NAME },
    get_decision: { id: "d1" },
    get_reason_stats: {},
    update_decision: { id: "d1", context: SECRET, tags: [NAME] },
    record_thought: { text: SECRET, decision_id: "d1" },
    link_decisions: { source_id: "d1", target_id: "d2", edge_type: "relates_to", context: SECRET },
    get_graph: { node_id: "d1" },
    get_neighbors: { node_id: "d1" },
  };
  const answers = [];
  for (const { name } of decisions.listTools()) {
    if (!(name in calls)) throw new Error(`no call for the tool ${name}`);
    answers.push(await decisions.callTool(name, calls[name]), await decisions.callTool(name, { [NAME]: SECRET, id: NAME, query: 1 }));
  }
  return [...answers, await decisions.callTool(NAME, {})];
}

/** Runs each part; an error is looked at like a result. */
/** Where a session is kept that has these parts. */
function place(parts = []) {
  const kept = [...parts];
  return {
    load: async () => ({ first: 0, parts: kept }),
    append: async (_, more) => void kept.push(...more),
    compact: async (_, all) => void kept.splice(0, kept.length, ...all),
    putBlob: async () => {},
    getBlob: async () => undefined,
    delete: async () => {},
  };
}

const each = (...parts) => parts.map((part) => attempt(part));

function attempt(run) {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(thrown) : value;
  } catch (error) {
    return thrown(error);
  }
}

/** An error of ours; any other is a defect of this table. */
function thrown(error) {
  if (error?.name === "TypeError" || error?.name === "ReferenceError") throw error;
  return { thrown: error };
}

/** `{ name: (world, cw) => whatever it returns }`, by the name under which `functionsOf` finds the function. */
const ROWS = {
  "ContextManager.new": (_, cw) =>
    each(
      () => new cw.ContextManager({ [NAME]: 1 }),
      () => new cw.ContextManager({ profile: SECRET }),
      () => new cw.ContextManager({ policy: { redaction_hooks: [NAME] } }),
      () => new cw.ContextManager({ summarizer: SECRET }),
    ),
  "ContextManager.fromJSON": ({ manager }, cw) =>
    each(
      () => cw.ContextManager.fromJSON(`{"${NAME}`),
      () => cw.ContextManager.fromJSON({ ...manager.toJSON(), event_log: { items: [{ id: NAME, kind: NAME }] } }),
    ),
  "ContextManager.ingest": ({ manager }) =>
    each(
      () => manager.ingest(item(NAME)),
      () => manager.ingest({ ...item("x"), kind: SECRET }),
      () => manager.ingest({ ...item("x"), [NAME]: SECRET }),
      () => manager.ingest(item("x", { metadata: { [NAME]: 1n } })),
      () => manager.ingest(item("x", { parent_id: 7, artifact_ref: { handle: NAME } })),
    ),
  "ContextManager.ingestAll": ({ manager }) =>
    each(
      () => manager.ingestAll([item("x"), item(NAME)]),
      () => manager.ingestAll([item("y", { kind: NAME })]),
    ),
  "ContextManager.ingestToolResult": ({ manager }) =>
    each(
      () => manager.ingestToolResult({ tool_call_id: "n1", tool_name: NAME, raw_output: text("small"), metadata: { [NAME]: SECRET } }),
      () => manager.ingestToolResult({ tool_call_id: "n2", tool_name: NAME, raw_output: rows(text("row")), keep: [SECRET] }),
      () => manager.ingestToolResult({ tool_call_id: "n3", tool_name: "t", raw_output: WITHHELD, sensitivity: "restricted" }),
      () => manager.ingestToolResult({ tool_call_id: "n4", tool_name: "t", raw_output: rows(WITHHELD), sensitivity: "restricted" }),
      () => manager.ingestToolResult({ tool_call_id: NAME, tool_name: NAME, raw_output: "" }),
      () => manager.ingestToolResult({ tool_call_id: NAME, tool_name: NAME, raw_output: "" }),
      () => manager.ingestToolResult({ tool_call_id: "n5", tool_name: "t", raw_output: "x", media_type: SECRET }),
    ),
  "ContextManager.ingestMcpResult": ({ manager }) =>
    each(
      () => manager.ingestMcpResult({ tool_call_id: "n1", tool_name: NAME, result: mcpResult(), metadata: { note: SECRET } }),
      () => manager.ingestMcpResult({ tool_call_id: "n2", tool_name: "t", result: mcpResult(WITHHELD), sensitivity: "restricted" }),
      () => manager.ingestMcpResult({ tool_call_id: "n3", tool_name: "t", result: { ...mcpResult(), isError: true, [NAME]: SECRET } }),
      () => manager.ingestMcpResult({ tool_call_id: NAME, tool_name: NAME, result: { content: SECRET } }),
      () => manager.ingestMcpResult({ tool_call_id: "k1", tool_name: NAME, result: mcpResult() }),
      () => manager.ingestMcpResult({ [NAME]: 1 }),
    ),
  "ContextManager.ingestMessages": ({ manager }) =>
    each(
      ...FORMATS.map((format) => () => manager.ingestMessages(CONVERSATIONS[format], format, { id_prefix: format })),
      ...FORMATS.map((format) => () => manager.ingestMessages([{ role: SECRET, content: SECRET }], format)),
      ...FORMATS.map((format) => () => manager.ingestMessages([{ role: "user", content: [{ type: NAME, [NAME]: SECRET }], parts: [{ type: NAME }] }], format)),
      () => manager.ingestMessages(CONVERSATIONS.anthropic, NAME),
    ),
  "ContextManager.syncMessages": ({ manager }) =>
    each(
      ...FORMATS.map((format) => () => manager.syncMessages(CONVERSATIONS[format], format, { id_prefix: format })),
      ...FORMATS.map((format) => () => manager.syncMessages([{ role: SECRET, content: SECRET }], format)),
    ),
  "ContextManager.ingestEnvelope": ({ manager }) => {
    const envelope = (words) => ({
      status: "ok",
      summary: words,
      facts: [words],
      provenance: { tool_name: NAME, note: words },
      artifacts: [{ handle: NAME, media_type: "text/plain", size_bytes: 1, label: words }],
    });
    return each(
      () => manager.ingestEnvelope({ tool_call_id: "n1", tool_name: NAME, envelope: envelope(text("envelope")) }),
      () => manager.ingestEnvelope({ tool_call_id: "n2", tool_name: NAME, envelope: envelope(WITHHELD), sensitivity: "restricted" }),
      () => manager.ingestEnvelope({ tool_call_id: "n3", tool_name: "t", envelope: { status: SECRET, summary: "" } }),
      () => manager.build({ phase: "answer" }),
    );
  },
  "ContextManager.addFact": ({ manager }) =>
    each(
      () => manager.addFact({ key: NAME, value: SECRET }),
      () => manager.addFact({ key: "k", value: "v", [NAME]: 1 }),
    ),
  "ContextManager.embeds": ({ manager }) => manager.embeds,
  "ContextManager.evicts": ({ manager }) => manager.evicts,
  "ContextManager.embedMissing": ({ manager }) =>
    each(
      () => manager.embedMissing(SECRET),
      () => manager.embedMissing({ [NAME]: SECRET }),
    ),
  "ContextManager.exportSince": ({ manager }) =>
    each(
      () => manager.exportSince(NAME),
      () => manager.exportSince(undefined, { [NAME]: 1 }),
    ),
  "ContextManager.restore": (_, cw) =>
    each(
      () => cw.ContextManager.restore([SECRET]),
      () => cw.ContextManager.restore([`{"sum":"0123456789abcdef","part":{"${NAME}":"${SECRET}"}}`], { salvage: true }).restored,
      () => cw.ContextManager.restore([], { blobs: NAME }),
    ),
  "ContextManager.drilldownAsync": ({ manager }) =>
    each(
      () => manager.drilldownAsync(NAME, { type: "head" }),
      () => manager.drilldownAsync("artifact:result:k1", { type: NAME }),
    ),
  "ContextManager.recall": ({ manager }) =>
    each(
      ...[SECRET, NAME, text("deploy"), WITHHELD].map((query) => () => manager.recall(query)),
      () => manager.recall("the deployment plan", { max_tokens: 2_000 }),
      () => manager.recall("deploy", { [NAME]: 1 }),
    ),
  "ContextManager.recallAsync": ({ manager }) =>
    each(
      () => manager.recallAsync(text("deploy")),
      () => manager.recallAsync(SECRET, { max_tokens: NAME }),
    ),
  "ContextManager.report": ({ manager }) =>
    each(
      () => manager.report({ format: "html", phase: "answer", query: text("deploy") }),
      () => manager.report({ format: "html", phase: "answer", query: SECRET, title: SECRET, budget_tokens: 50 }),
      () => manager.report({ format: NAME, phase: SECRET }),
    ),
  "ContextManager.forget": ({ manager }) => each(() => manager.forget(NAME)),
  "ContextManager.blobHashes": ({ manager }) => manager.blobHashes(),
  "StoredSession.new": (_, cw) =>
    each(
      () =>
        new cw.StoredSession(place(), new cw.ContextManager(), { first: 0, parts: [], findings: [], blobs: new Map(), damaged: new Map(), compact_bytes: 1 }),
    ),
  "StoredSession.sequence": async (_, cw) => (await cw.openSession(place())).sequence,
  "StoredSession.save": async (_, cw) => {
    const session = await cw.openSession(place(), { salvage: true });
    session.manager.ingest(item(NAME));
    return each(
      () => session.save(),
      () => session.compact(),
    );
  },
  "StoredSession.compact": async (_, cw) => each(async () => (await cw.openSession(place())).compact()),
  "StoredSession.drilldown": async (_, cw) => {
    const session = await cw.openSession(place());
    return each(() => session.drilldown(NAME, { type: "head" }));
  },
  "StoredSession.recall": async (_, cw) => {
    const session = await cw.openSession(place());
    session.manager.ingest(item("r1"));
    return each(
      () => session.recall(SECRET),
      () => session.recall("the deployment plan"),
    );
  },
  "StoredSession.forget": async (_, cw) => {
    const session = await cw.openSession(place());
    return each(() => session.forget(NAME));
  },
  "StoredSession.refuseBeyond": async (_, cw) => {
    const stored = await cw.openSession(place());
    stored.manager.ingest(item("x"));
    return each(
      () => stored.refuseBeyond(1),
      () => stored.refuseBeyond(2 ** 20),
    );
  },
  "StoredSession.delete": async (_, cw) => each(async () => (await cw.openSession(place())).delete()),
  "StoredSession.free": async (_, cw) => each(async () => (await cw.openSession(place())).free()),
  openSession: async (_, cw) =>
    each(
      () => cw.openSession(place([SECRET])),
      async () => (await cw.openSession(place([SECRET]), { salvage: true })).findings,
      () => cw.openSession(place(), { [NAME]: 1 }),
    ),
  "StoredRecords.new": (_, cw) => each(() => new cw.StoredRecords(place(), { findings: [] }, [{ name: NAME, value: SECRET }])),
  "StoredRecords.size": async (_, cw) => (await cw.openRecords(place())).size,
  "StoredRecords.sequence": async (_, cw) => (await cw.openRecords(place())).sequence,
  "StoredRecords.names": async (_, cw) => (await cw.openRecords(place())).names(),
  "StoredRecords.get": async (_, cw) => (await cw.openRecords(place())).get(NAME),
  "StoredRecords.set": async (_, cw) => {
    const records = await cw.openRecords(place());
    return each(
      () => records.set(SECRET, 1n),
      () => records.set(1, SECRET),
    );
  },
  "StoredRecords.assign": async (_, cw) => {
    const records = await cw.openRecords(place());
    return each(
      () => records.assign({ [SECRET]: { [NAME]: 1n } }),
      () => records.assign(SECRET),
    );
  },
  "StoredRecords.remove": async (_, cw) => (await cw.openRecords(place())).remove(SECRET),
  "StoredRecords.withChangesOf": async (_, cw) => (await cw.openRecords(place())).withChangesOf(await cw.openRecords(place())).size,
  "StoredRecords.toJSON": async (_, cw) => (await cw.openRecords(place())).toJSON(),
  "StoredRecords.save": async (_, cw) => {
    const records = (await cw.openRecords(place([SECRET]), { salvage: true })).set(NAME, SECRET);
    return each(
      () => records.save(),
      () => records.compact(),
    );
  },
  "StoredRecords.compact": async (_, cw) => each(async () => (await cw.openRecords(place())).compact()),
  "StoredRecords.delete": async (_, cw) => each(async () => (await cw.openRecords(place())).delete()),
  openRecords: async (_, cw) =>
    each(
      () => cw.openRecords(place([SECRET])),
      async () => (await cw.openRecords(place([SECRET]), { salvage: true })).findings,
      () => cw.openRecords(place(), { [NAME]: 1 }),
    ),
  "StoredDecisions.new": (_, cw) => each(() => new cw.StoredDecisions(place(), new cw.DecisionStore(), { findings: [] }, SECRET)),
  "StoredDecisions.sequence": async (_, cw) => (await cw.openDecisions(place())).sequence,
  "StoredDecisions.save": async (_, cw) => {
    const memory = await cw.openDecisions(place([SECRET]), { salvage: true });
    memory.store.import([{ id: "d1", decision: NAME, x: SECRET }]);
    return each(
      () => memory.save(),
      () => memory.compact(),
    );
  },
  "StoredDecisions.compact": async (_, cw) => each(async () => (await cw.openDecisions(place())).compact()),
  "StoredDecisions.delete": async (_, cw) => each(async () => (await cw.openDecisions(place())).delete()),
  "StoredDecisions.free": async (_, cw) => each(async () => (await cw.openDecisions(place())).free()),
  openDecisions: async (_, cw) =>
    each(
      () => cw.openDecisions(place([SECRET])),
      async () => (await cw.openDecisions(place([SECRET]), { salvage: true })).findings,
      () => cw.openDecisions(place(), { [NAME]: 1 }),
      () => cw.openDecisions(place(), { guardrails: SECRET }),
    ),
  "ContextManager.observeUsage": ({ manager }) =>
    each(
      () => manager.observeUsage({ model: NAME, estimated: SECRET, actual: 1 }),
      () => manager.observeUsage({ model: "m", estimated: 1, actual: 1, [NAME]: 1 }),
    ),
  "ContextManager.addEpisode": ({ manager }) =>
    each(
      () => manager.addEpisode({ episode_id: NAME, summary: SECRET }),
      () => manager.addEpisode({ episode_id: "e", summary: "s", sensitivity: NAME }),
    ),
  "ContextManager.build": ({ manager }) =>
    each(
      ...["route", "call", "interpret", "answer"].flatMap((phase) => [
        () => manager.build({ phase, query: text("deploy"), query_tags: [NAME], hints: [SECRET], header: SECRET, footer: SECRET, explain: true }),
        () => manager.build({ phase, query: WITHHELD, budget_tokens: 400, pin: ["w1"] }),
        () => manager.build({ phase, budget_tokens: 0 }),
      ]),
      () => manager.build({ phase: SECRET }),
      () => manager.build({ phase: "answer", pin: [NAME, `${NAME}x`] }),
      () => manager.build({ phase: "answer", item_scores: { [NAME]: SECRET } }),
      () => manager.build({ phase: "answer", [NAME]: SECRET }),
    ),
  "ContextManager.buildMessages": ({ manager }) =>
    each(
      ...FORMATS.map(
        (format) => () => manager.buildMessages({ phase: "answer", format, query: text("deploy"), header: SECRET, footer: SECRET, explain: true }),
      ),
      () => manager.buildMessages({ phase: "answer", format: NAME }),
    ),
  "ContextManager.rules": ({ manager }) => manager.rules(),
  "ContextManager.addRule": (_, cw) => {
    const manager = new cw.ContextManager({ rules: true });
    return each(
      () => manager.addRule({ text: text("rule") }),
      () => manager.addRule({ text: SECRET, kind: NAME }),
      () => manager.addRule({ text: "Never.", id: NAME }) && manager.addRule({ text: "Always.", id: NAME }),
      () => manager.rules().map((rule) => rule.text),
      () => manager.build({ phase: "answer" }),
    );
  },
  "ContextManager.correctRule": (_, cw) => {
    const manager = new cw.ContextManager({ rules: true });
    manager.addRule({ text: "Never.", id: "r" });
    return each(
      () => manager.correctRule("r", { text: text("rule") }),
      () => manager.correctRule(NAME, { text: SECRET }),
      () => manager.correctRule("r", { state: SECRET }),
      () => manager.correctRule("r", { [NAME]: 1 }),
    );
  },
  "ContextManager.forgetRule": ({ manager }) =>
    each(
      () => manager.forgetRule(NAME),
      () => manager.forgetRule(SECRET),
    ),
  "ContextManager.costs": ({ manager }) => {
    manager.buildMessages({ phase: "answer", format: "openai-chat", footer: SECRET, head: NAME, model: "m" });
    return each(() => manager.costs());
  },
  "ContextManager.thrift": ({ manager }) => manager.thrift,
  "ContextManager.abridged": ({ manager }) =>
    each(
      () => manager.abridged(NAME, 40, SECRET),
      ...manager.toJSON().event_log.items.map(
        ({ id }) =>
          () =>
            manager.abridged(id, 60, SECRET),
      ),
    ),
  "ContextManager.ingestSent": ({ manager }) =>
    each(
      () => manager.ingestSent({ id: `${NAME}s`, kind: "tool_call", text: SECRET, metadata: { [NAME]: 1n } }),
      () => manager.ingestSent({ id: NAME, kind: SECRET, text: SECRET }),
    ),
  "ContextManager.jsonOf": ({ manager }) => each(() => manager.jsonOf({ [NAME]: [SECRET, 1n, NaN] })),
  "ContextManager.masked": ({ manager }) => manager.masked(text("deploy")),
  "ContextManager.buildCall": ({ manager, router, catalog, tools }) =>
    each(
      () => manager.buildCall({ tool: tools[0], query: SECRET, schema: { note: SECRET }, examples: [SECRET], constraints: { note: SECRET } }),
      () => manager.buildCall({ tool_id: NAME, router }),
      () => manager.buildCall({ tool_id: `${NAME}x`, catalog }),
    ),
  "ContextManager.buildRoute": ({ manager, router }) =>
    each(
      () => manager.buildRoute({ router, query: text("deploy the service"), goal: SECRET, explain: true, route: { history: "log", debug: true } }),
      () => manager.buildRoute({ router, query: SECRET, route: { [NAME]: 1 } }),
      () => manager.buildRoute({ router, query: "deploy", route: { pin_ids: [`${NAME}x`] } }),
    ),
  "ContextManager.drilldown": ({ manager }) =>
    each(
      ...["artifact:result:k1", "artifact:result:k2", NAME, `artifact:${NAME}`, "artifact:w1", `${NAME}x`].flatMap((handle) => [
        () => manager.drilldown(handle, { type: "head", chars: 300 }),
        () => manager.drilldown(handle, { type: "search", text: SECRET }),
        () => manager.drilldown(handle, { type: "json_path", path: `$.${NAME}` }, { inject: true }),
      ]),
      () => manager.drilldown("artifact:result:k1", { type: NAME }),
      () => manager.drilldown("artifact:result:k1", { type: "search", pattern: `(${SECRET}`, regex: true }),
      () => manager.drilldown("artifact:result:k1", { type: "rows", columns: [NAME] }),
      () => manager.drilldown("artifact:result:k1", { type: "rows", where: [{ column: NAME, op: SECRET, value: SECRET }] }),
    ),
  "ContextManager.compact": ({ manager }) =>
    each(
      () => manager.compact({ note: SECRET, [NAME]: text("deep") }),
      () => manager.compact(JSON.parse(rows(text("row"))), { budget_tokens: 200, keep: [NAME] }),
      () => manager.compact(`${text("log")}\n`.repeat(500), { budget_tokens: 100, strategy: "text" }),
      () => manager.compact("x", { strategy: NAME }),
    ),
  "ContextManager.hydrate": ({ manager, router, tools }) =>
    each(
      () => manager.hydrate({ tool_id: `${NAME}x`, router }),
      () => manager.hydrate({ tool: { ...tools[0], kind: SECRET } }),
    ),
  "ContextManager.summaryRequests": ({ manager }) => manager.summaryRequests(),
  "ContextManager.supplySummary": ({ manager }) =>
    each(
      () => manager.supplySummary({ item_id: "result:k1", summary: text("summary"), facts: [SECRET], provider_metadata: { note: SECRET } }),
      () => manager.supplySummary({ item_id: NAME, summary: SECRET }),
      () => manager.supplySummary({ item_id: "result:k2", summary: WITHHELD }),
      () => manager.build({ phase: "answer", query: "deploy" }),
    ),
  "ContextManager.turnsBefore": ({ manager }) =>
    each(
      () => manager.turnsBefore("deploy"),
      () => manager.turnsBefore(text("deploy")),
      () => manager.turnsBefore(WITHHELD),
      ...FORMATS.map((format) => () => manager.turnsBefore("deploy", CONVERSATIONS[format], format)),
      ...FORMATS.map((format) => () => manager.turnsBefore("deploy", [{ role: SECRET, content: SECRET }], format)),
    ),
  "ContextManager.handoff": ({ manager }) => {
    manager.ingest(
      item("d2", {
        kind: "tool_result",
        text: `Decision: ${text("kept")}`,
        artifact_ref: { handle: NAME, media_type: "text/plain", size_bytes: 1, label: SECRET },
      }),
    );
    return manager.handoff();
  },
  "ContextManager.consolidate": ({ manager }) =>
    each(
      () => manager.consolidate({ policy: { min_occurrences: 2, min_sessions: 1 } }),
      () => manager.consolidate({ policy: { min_occurrences: 2, min_sessions: 1 }, apply: true }),
      () => manager.consolidate({ policy: { [NAME]: 1 } }),
      () => manager.consolidate({ as_of: SECRET }),
    ),
  "ContextManager.selectMemory": ({ manager }) =>
    each(
      () =>
        manager.selectMemory({
          entries: [
            { id: NAME, text: text("memory"), metadata: { note: SECRET } },
            { id: "m2", text: WITHHELD, sensitivity: "restricted" },
          ],
          phase: "answer",
          budget_tokens: 500,
          query: SECRET,
        }),
      () => manager.selectMemory({ entries: [{ id: NAME, text: 7 }], phase: "answer", budget_tokens: 500 }),
    ),
  "ContextManager.inspect": ({ manager }) => {
    const pack = manager.build({ phase: "answer", query: SECRET, explain: true });
    return each(
      () => manager.inspect({ pack, explanation: pack.explanation }),
      () => manager.inspect({ pack, explanation: { ...pack.explanation, phase: NAME } }),
      () => manager.inspect({ [NAME]: 1 }),
    );
  },
  "ContextManager.stats": ({ manager }) => manager.stats(),
  "ContextManager.runAdded": ({ manager }) =>
    each(
      () => manager.runAdded({ name: "drilldown", input: { handle: SECRET } }, () => "done"),
      () => manager.runAdded({ name: "drilldown", input: { handle: NAME } }, () => manager.drilldown(NAME, { type: SECRET }).text),
    ),
  "ContextManager.runAddedAsync": ({ manager }) =>
    each(
      () => manager.runAddedAsync({ name: "drilldown", input: { handle: SECRET } }, async () => "done"),
      () => manager.runAddedAsync({ name: "drilldown", input: { handle: NAME } }, async () => (await manager.drilldownAsync(NAME, { type: SECRET })).text),
    ),
  "ContextManager.whole": ({ manager }) =>
    each(
      () => manager.whole(() => (manager.ingest(item("x")), manager.ingest(item(NAME)))),
      () => manager.whole(() => manager.ingest(item(NAME))),
    ),
  "ContextManager.toJSON": ({ manager }) => manager.toJSON(),
  "ContextManager.free": ({ manager }) =>
    each(
      () => manager.free(),
      () => manager.stats(),
    ),
  "ContextManager.events.get": ({ manager }) => each(() => manager.events.get(`${NAME}x`)),
  "ContextManager.events.list": ({ manager }) => manager.events.list(),
  "ContextManager.events.count": ({ manager }) =>
    each(
      () => manager.events.count(),
      () => manager.events.count({ kinds: [NAME] }),
    ),
  "ContextManager.events.tail": ({ manager }) => manager.events.tail(3),
  "ContextManager.events.children": ({ manager }) => each(() => manager.events.children(`${NAME}x`)),
  "ContextManager.events.parent": ({ manager }) => each(() => manager.events.parent(`${NAME}x`)),
  "ContextManager.artifacts.list": ({ manager }) => manager.artifacts.list(),
  "ContextManager.artifacts.ref": ({ manager }) =>
    each(
      () => manager.artifacts.ref(NAME),
      () => manager.artifacts.ref(`${NAME}x`),
    ),
  "ContextManager.artifacts.exists": ({ manager }) => manager.artifacts.exists(NAME),
  "ContextManager.artifacts.bytes": ({ manager }) => each(() => manager.artifacts.bytes(`${NAME}x`)),
  "ContextManager.artifacts.views": ({ manager }) =>
    each(
      () => manager.artifacts.views("artifact:result:k1"),
      () => manager.artifacts.views(`${NAME}x`),
    ),
  "ContextManager.artifacts.put": ({ manager }) =>
    each(
      () => manager.artifacts.put({ handle: "h", content: SECRET, label: SECRET, media_type: "text/plain" }),
      () => manager.artifacts.put({ handle: NAME, content: 7 }),
      () => manager.artifacts.put({ handle: "h", content: "x", [NAME]: SECRET }),
    ),
  "ContextManager.artifacts.delete": ({ manager }) => each(() => manager.artifacts.delete(`${NAME}x`)),
  "ContextManager.artifacts.pin": ({ manager }) => each(() => manager.artifacts.pin(`${NAME}x`)),
  "ContextManager.artifacts.unpin": ({ manager }) => each(() => manager.artifacts.unpin(`${NAME}x`)),
  "ContextManager.facts.list": ({ manager }) => manager.facts.list(),
  "ContextManager.facts.get": ({ manager }) => each(() => manager.facts.get(`${NAME}x`)),
  "ContextManager.facts.getByKey": ({ manager }) => manager.facts.getByKey(NAME),
  "ContextManager.facts.listKeys": ({ manager }) => manager.facts.listKeys(),
  "ContextManager.facts.put": ({ manager }) => each(() => manager.facts.put({ fact_id: NAME, key: NAME, value: SECRET, sensitivity: NAME })),
  "ContextManager.facts.delete": ({ manager }) => each(() => manager.facts.delete(`${NAME}x`)),
  "ContextManager.episodes.list": ({ manager }) => manager.episodes.list(),
  "ContextManager.episodes.get": ({ manager }) => manager.episodes.get(`${NAME}x`),
  "ContextManager.episodes.search": ({ manager }) => manager.episodes.search(SECRET),
  "ContextManager.episodes.latest": ({ manager }) => manager.episodes.latest(1),
  "ContextManager.episodes.delete": ({ manager }) => each(() => manager.episodes.delete(`${NAME}x`)),
  "Catalog.new": ({ tools }, cw) =>
    each(
      () => new cw.Catalog([...tools, tools[2]]),
      () => new cw.Catalog([{ ...tools[0], kind: SECRET }]),
      () => new cw.Catalog([{ ...tools[0], [NAME]: 1 }]),
      () => new cw.Catalog([], { on_invalid: SECRET }),
    ),
  "Catalog.fromJSON": (_, cw) =>
    each(
      () => cw.Catalog.fromJSON(`{"${NAME}`),
      () => cw.Catalog.fromJSON({ items: [{ id: NAME }] }),
    ),
  "Catalog.fromAiSdk": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromAiSdk({
          [NAME]: { inputSchema: SECRET },
          two: SECRET,
          three: { description: SECRET, inputSchema: () => ({ then: SECRET }) },
        }).findings(),
      () => cw.Catalog.fromAiSdk({ [NAME]: { inputSchema: SECRET } }, { on_invalid: "raise" }),
      () => cw.Catalog.fromAiSdk([SECRET]),
      () => cw.Catalog.fromAiSdk({}, { [NAME]: 1 }),
    ),
  "Catalog.fromLangChain": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromLangChain([
          { name: NAME, schema: SECRET },
          { name: 7, note: SECRET },
          { name: "one", description: { note: SECRET } },
          SECRET,
        ]).findings(),
      () => cw.Catalog.fromLangChain([{ name: NAME, schema: SECRET }], { on_invalid: "raise" }),
      () =>
        cw.Catalog.fromLangChain(
          [
            { name: NAME, schema: {} },
            { name: NAME, schema: {} },
          ],
          { on_invalid: "raise" },
        ),
      () => cw.Catalog.fromLangChain({ [NAME]: SECRET }),
      () => cw.Catalog.fromLangChain([], { on_invalid: SECRET }),
    ),
  "Catalog.fromAgentCard": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromAgentCard([
          { name: NAME, skills: [{ [NAME]: SECRET }], url: `https://${SECRET}@example.com?${NAME}` },
          { name: NAME },
          { [NAME]: SECRET },
          SECRET,
        ]).findings(),
      () => cw.Catalog.fromAgentCard({ [NAME]: SECRET }, { on_invalid: "raise" }),
      () => cw.Catalog.fromAgentCard(SECRET),
      () => cw.Catalog.fromAgentCard([], { [NAME]: SECRET }),
    ),
  "Catalog.fromMcp": (_, cw) =>
    each(
      () => cw.Catalog.fromMcp([mcpTool("deploy"), { name: NAME, inputSchema: SECRET }, { name: 7, note: SECRET }, mcpTool("deploy")]).findings(),
      () => cw.Catalog.fromMcp([{ name: NAME, inputSchema: SECRET }], { on_invalid: "raise" }),
      () => cw.Catalog.fromMcp({ [NAME]: SECRET }),
      () => cw.Catalog.fromMcp({ error: { code: 1, message: SECRET } }),
    ),
  "Catalog.fromOpenAI": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromOpenAI([
          { type: "function", name: NAME, parameters: SECRET },
          { type: SECRET, name: NAME },
          { type: "function", function: { name: NAME, description: 7, note: SECRET } },
        ]).findings(),
      () => cw.Catalog.fromOpenAI([{ type: "function", name: NAME, parameters: SECRET }], { on_invalid: "raise" }),
      () => cw.Catalog.fromOpenAI(SECRET),
    ),
  "Catalog.fromOpenApi": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromOpenApi({
          openapi: "3.1.0",
          paths: {
            [`/${NAME}`]: {
              get: {
                operationId: NAME,
                parameters: [
                  { name: NAME, in: "path" },
                  { name: NAME, in: "query", schema: { $ref: SECRET } },
                ],
                requestBody: { content: { [NAME]: {}, x: SECRET } },
              },
              put: SECRET,
              post: { operationId: NAME, servers: [{ url: `https://${SECRET}@example.com` }] },
            },
          },
        }).findings(),
      () => cw.Catalog.fromOpenApi({ openapi: "3.1.0", paths: { [`/${NAME}`]: SECRET } }, { on_invalid: "raise" }),
      () => cw.Catalog.fromOpenApi({ openapi: SECRET }),
      () => cw.Catalog.fromOpenApi(SECRET),
      () => cw.Catalog.fromOpenApi({ [NAME]: SECRET }),
    ),
  "Catalog.fromSkills": (_, cw) =>
    each(
      () =>
        cw.Catalog.fromSkills([
          { path: `${NAME}/SKILL.md`, text: `---\nname: ${NAME}\ndescription: "${SECRET}\n${NAME}: x\n---` },
          { path: NAME, text: SECRET },
          { [NAME]: SECRET },
          SECRET,
        ]).findings(),
      () => cw.Catalog.fromSkills([{ path: NAME, text: SECRET }], { on_invalid: "raise" }),
      () => cw.Catalog.fromSkills({ [NAME]: SECRET }),
    ),
  "Catalog.register": ({ catalog, tools }) =>
    each(
      () => catalog.register(tools[2]),
      () => catalog.register({ ...tools[0], id: "n", kind: NAME }),
    ),
  "Catalog.remove": ({ catalog }) => catalog.remove(`${NAME}x`),
  "Catalog.get": ({ catalog }) => each(() => catalog.get(`${NAME}x`)),
  "Catalog.has": ({ catalog }) => catalog.has(NAME),
  "Catalog.size": ({ catalog }) => catalog.size,
  "Catalog.items": ({ catalog }) => catalog.items(),
  "Catalog.namespaces": ({ catalog }) => catalog.namespaces(),
  "Catalog.hash": ({ catalog }) => catalog.hash(),
  "Catalog.findings": ({ tools }, cw) =>
    new cw.Catalog([tools[0], { ...tools[1], kind: SECRET }, { ...tools[1], depends_on: [`${NAME}x`] }, 7, { id: NAME, [NAME]: 1 }], {
      on_invalid: "report",
    }).findings(),
  "Catalog.lint": ({ catalog }) =>
    each(
      () => catalog.lint(),
      () => catalog.lint({ pinned: { [NAME]: SECRET, [`${NAME}x`]: SECRET } }),
    ),
  "Catalog.pin": ({ catalog }) => catalog.pin(),
  "Catalog.diff": ({ catalog, tools }, cw) =>
    each(
      () =>
        catalog.diff(
          new cw.Catalog([
            { ...tools[0], description: `${SECRET} now`, args_schema: { type: "object", properties: { [NAME]: { type: "number", enum: [SECRET] } } } },
            tool(`${NAME}n`),
          ]),
        ),
      () => catalog.diff(SECRET),
    ),
  "Catalog.impact": ({ catalog, tools }, cw) =>
    each(() =>
      catalog.impact(new cw.Catalog(tools.slice(1)), {
        probes: [
          { query: text("deploy the service"), expected: NAME },
          { query: text("plan"), expected: "deploy" },
        ],
      }),
    ),
  "Catalog.toJSON": ({ catalog }) => catalog.toJSON(),
  "Catalog.free": ({ catalog }) =>
    each(
      () => catalog.free(),
      () => catalog.size,
    ),
  "Router.new": ({ tools }, cw) =>
    each(
      () => new cw.Router(tools, { [NAME]: 1 }),
      () => new cw.Router([...tools, tools[2]]),
      () => new cw.Router(tools, { scorer: SECRET }),
      () => new cw.Router(tools, { embed: SECRET }),
      () => new cw.Router(tools, { graph: { root_id: NAME, nodes: {}, items: [NAME] } }),
    ),
  "Router.route": ({ router, tools }, cw) =>
    each(
      () =>
        router.route(text("deploy the service"), {
          debug: true,
          context_hints: [SECRET],
          history: { called_tool_ids: [NAME], last_result_summary: text("rolled back") },
          feedback: { records: [{ item_id: NAME, success: true, metadata: { note: SECRET } }] },
        }),
      () => router.route("deploy", { pin_ids: [NAME, `${NAME}x`], exclude_ids: [`${NAME}y`], allowed_namespaces: [NAME] }),
      () => new cw.Router(tools, { navigator: "beam" }).route(text("deploy"), { debug: true }),
      () => new cw.Router(tools, { ambiguity_ratio: 0.01 }).route(`deploy ${NAME}`, { debug: true }),
      () => router.route("deploy", { history: { [NAME]: 1 } }),
      () =>
        router.route("yes", {
          conversation: [
            { id: NAME, kind: "agent_msg", text: `Shall I deploy the service? ${text("it")}?` },
            { kind: "tool_call", tool: NAME, is_open: true },
          ],
        }),
      () => router.route("yes", { conversation: [{ kind: NAME, text: SECRET }] }),
      () => router.route("deploy", { query_embedding: SECRET }),
    ),
  "Router.embedMissing": ({ router, tools }, cw) =>
    each(
      () => new cw.Router(tools, { embed: () => SECRET }).embedMissing(SECRET),
      () =>
        new cw.Router(tools, {
          embed: () => {
            throw new Error(SECRET);
          },
        }).embedMissing({ [NAME]: SECRET }),
      () => router.embedMissing(SECRET),
    ),
  "Router.cards": ({ router, route }) =>
    each(
      () => router.cards(route),
      () => router.cards({ candidate_ids: [`${NAME}x`] }),
    ),
  "Router.packCards": ({ router, route }) =>
    each(
      () => router.packCards(route),
      () => router.packCards(route, { budget_tokens: 1 }),
      () => router.packCards(route, { max_card_tokens: 12 }),
    ),
  "Router.browse": ({ router }, cw) => {
    const { children } = router.browse("/");
    const next = children.flatMap(({ path, id }) => (path ? [{ path }] : [{ id }]));
    const deeper = next.flatMap((place) => router.browse(place).children.map(({ path, id }) => (path ? { path } : { id })));
    return [
      children,
      ...[...next, ...deeper].map((place) => router.browse(place)),
      ...each(
        () => router.browse(`/${NAME}x`),
        () => router.browse({ id: `${NAME}x` }),
        () => router.browse({ [NAME]: 1 }),
        () => router.browse(SECRET),
      ),
      router.browse("/ops"),
    ];
  },
  "Router.graph": ({ router }) => router.graph(),
  "Router.ownArguments": ({ router }) =>
    each(
      () => router.ownArguments(NAME, { [NAME]: SECRET }),
      () => router.ownArguments(router.items()[0].id, { [NAME]: SECRET }),
    ),
  "Router.hydrate": ({ router }) =>
    each(
      () => router.hydrate(`${NAME}x`),
      () => router.hydrate("deploy", { schemas: { deploy: SECRET, [NAME]: 1 } }),
    ),
  "Router.selectionSchema": ({ router, route }) =>
    each(
      () => router.selectionSchema(route),
      () => router.selectionSchema(route, { provider: NAME }),
    ),
  "Router.validateSelection": ({ router, route }) => router.validateSelection(route, `${NAME}x`),
  "Router.toolsFor": ({ router, route }) =>
    each(...["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk", NAME].map((provider) => () => router.toolsFor(route, provider))),
  "Router.providerTools": ({ router, route }) =>
    each(
      () => router.providerTools(route, "openai-chat", { strict: true }),
      () => router.providerTools({ candidate_ids: [`${NAME}x`] }, "gemini"),
    ),
  "Router.explain": ({ router, route }) =>
    each(
      () => router.explain(route),
      () => router.explain({ ...route, trace: SECRET }),
    ),
  "Router.add": ({ router, tools }) =>
    each(
      () => router.add([tools[2]]),
      () => router.add([{ ...tools[2], id: "n", kind: NAME }]),
    ),
  "Router.remove": ({ router }) => router.remove([`${NAME}x`]),
  "Router.setEmbeddings": ({ router }) =>
    each(
      () => router.setEmbeddings({ [`${NAME}x`]: [1] }),
      () => router.setEmbeddings({ [NAME]: SECRET }),
    ),
  "Router.get": ({ router }) => each(() => router.get(`${NAME}x`)),
  "Router.items": ({ router }) => router.items(),
  "Router.indexBytes": ({ router }) => router.indexBytes(),
  "Router.free": ({ router }) =>
    each(
      () => router.free(),
      () => router.items(),
    ),
  "DecisionStore.new": (_, cw) =>
    each(
      () => new cw.DecisionStore({ [NAME]: 1 }),
      () => new cw.DecisionStore({ guardrails: [{ id: NAME, conditions: SECRET }] }),
      () => new cw.DecisionStore({ tools: [NAME] }),
    ),
  "DecisionStore.listTools": ({ decisions }) => decisions.listTools(),
  "DecisionStore.callTool": allDecisionTools,
  "DecisionStore.handleRpc": ({ decisions }) => {
    const call = (method, params) => decisions.handleRpc({ jsonrpc: "2.0", id: 1, method, params });
    return Promise.all([
      call("initialize", { protocolVersion: NAME, clientInfo: { name: SECRET } }),
      call("tools/call", { name: "get_session_context", arguments: { task_description: text("deploy") } }),
      call("tools/call", { name: NAME, arguments: {} }),
      call(NAME, {}),
      decisions.handleRpc(`{"${SECRET}`),
    ]);
  },
  "DecisionStore.context": ({ decisions }) =>
    Promise.all(
      each(
        () => decisions.context({ query: text("deploy") }),
        () => decisions.context({ query: "x", [NAME]: 1 }),
        () => decisions.context({ query: "x", include: [SECRET] }),
      ),
    ),
  "DecisionStore.addGuardrails": ({ decisions }) =>
    each(
      () => decisions.addGuardrails([{ id: NAME, conditions: SECRET }]),
      () => decisions.addGuardrails(`guardrails:\n  - id: ${NAME}\n    nonsense: ${SECRET}\n`),
      () => decisions.addGuardrails(SECRET),
    ),
  "DecisionStore.removeGuardrail": ({ decisions }) => decisions.removeGuardrail(`${NAME}x`),
  "DecisionStore.size": ({ decisions }) => decisions.size,
  "DecisionStore.export": ({ decisions }) => decisions.export(),
  "DecisionStore.toJSON": ({ decisions }) => decisions.toJSON(),
  "DecisionStore.exportSince": ({ decisions }) =>
    each(
      () => decisions.exportSince(0),
      () => decisions.exportSince(0, { [NAME]: 1 }),
    ),
  "DecisionStore.import": ({ decisions }) =>
    each(
      () => decisions.import(`{"${NAME}`),
      () => decisions.import([{ id: NAME, decision: 7, [NAME]: SECRET }]),
      () => decisions.import({ [NAME]: SECRET }),
      () => decisions.import(decisions.export(), { on_conflict: SECRET }),
    ),
  "DecisionStore.free": ({ decisions }) =>
    each(
      () => decisions.free(),
      () => decisions.size,
    ),
};

Object.assign(ROWS, {
  "ToolCallContext.of": (_, cw) =>
    each(
      () => cw.ToolCallContext.of({ token: SECRET }),
      () => cw.ToolCallContext.of({ a: 1 }, { [NAME]: SECRET }),
      () => cw.ToolCallContext.of([[NAME]]),
    ),
  "ToolCallContext.sealed": (_, cw) => cw.ToolCallContext.sealed({ token: SECRET }),
  "ToolCallContext.parse": (_, cw) =>
    each(
      () => cw.ToolCallContext.parse(`{"${NAME}`),
      () => cw.ToolCallContext.parse(`{"token":"${SECRET}"}`),
    ),
  "ToolCallContext.fromSnapshot": ({ context }, cw) =>
    each(
      () => cw.ToolCallContext.fromSnapshot(context.toSnapshot()),
      () => cw.ToolCallContext.fromSnapshot({ [NAME]: SECRET }),
    ),
  "ToolCallContext.is": ({ context }, cw) => cw.ToolCallContext.is(context),
  "ToolCallContext.size": ({ context }) => context.size,
  "ToolCallContext.isEmpty": ({ context }) => context.isEmpty,
  "ToolCallContext.signal": ({ context }) => context.signal,
  "ToolCallContext.origin": ({ context }) => context.origin,
  "ToolCallContext.originOf": ({ context }) => context.originOf("token"),
  "ToolCallContext.keys": ({ context }) => context.keys(),
  "ToolCallContext.has": ({ context }) => context.has("token"),
  "ToolCallContext.isSecret": ({ context }) => context.isSecret("token"),
  "ToolCallContext.isSealed": ({ context }) => context.isSealed("token"),
  "ToolCallContext.get": ({ context }) => context.get("token"),
  "ToolCallContext.getOr": ({ context }) => context.getOr("token", ""),
  "ToolCallContext.string": ({ context }) => context.string("token"),
  "ToolCallContext.number": ({ context }) => each(() => context.number("token")),
  "ToolCallContext.boolean": ({ context }) => each(() => context.boolean("token")),
  "ToolCallContext.parse()": ({ context }) => each(() => context.parse("token", () => false)),
  "ToolCallContext.merge": ({ context }, cw) =>
    each(
      () => context.merge(cw.ToolCallContext.of({ other: 1 })),
      () => context.merge(context, { onConflict: "throw" }),
    ),
  "ToolCallContext.with": ({ context }) => context.with("other", 1),
  "ToolCallContext.withSecret": ({ context }) => context.withSecret("other", SECRET),
  "ToolCallContext.without": ({ context }) => context.without("tenant"),
  "ToolCallContext.omit": ({ context }) => context.omit(["tenant"]),
  "ToolCallContext.pick": ({ context }) => context.pick(["token"]),
  "ToolCallContext.equals": ({ context }) => context.equals(context),
  "ToolCallContext.toMap": ({ context }) => context.toMap(),
  "ToolCallContext.toObject": ({ context }) => context.toObject(),
  "ToolCallContext.toJSON": ({ context }) => context.toJSON(),
  "ToolCallContext.toCloneable": ({ context }) => context.toCloneable(),
  "ToolCallContext.toSnapshot": ({ context }) => context.toSnapshot(),
  "ToolCallContext.toString": ({ context }) => context.toString(),
  "ContextWeaverError.is": (_, cw) => cw.ContextWeaverError.is(SECRET),
  "ContextWeaverError.docs": (_, cw) => new cw.ContextWeaverError("INVALID_INPUT", SECRET, { path: `/${NAME}` }).docs,
  "LoopMemo.new": (_, cw) => each(() => new cw.LoopMemo(SECRET)),
  "LoopMemo.size": (_, cw) => new cw.LoopMemo().size,
  "LoopMemo.add": (_, cw) => new cw.LoopMemo().add(SECRET),
  "LoopMemo.delete": (_, cw) => new cw.LoopMemo().delete(SECRET),
  "MetaPolicy.none": (_, cw) => cw.MetaPolicy.none,
  "MetaPolicy.allow": (_, cw) => each(() => cw.MetaPolicy.allow(["tenant"], { [NAME]: 1 })),
  "MetaPolicy.deny": (_, cw) => cw.MetaPolicy.deny(["tenant"]),
  "MetaPolicy.passThrough": (_, cw) => cw.MetaPolicy.passThrough(),
  "MetaPolicy.dangerouslyPassThrough": (_, cw) => cw.MetaPolicy.dangerouslyPassThrough(),
  "MetaPolicy.map": (_, cw) => cw.MetaPolicy.map(() => ({})),
  "MetaPolicy.compose": (_, cw) =>
    each(
      () => cw.MetaPolicy.compose(cw.MetaPolicy.none),
      () => cw.MetaPolicy.compose(SECRET),
    ),
  "MetaPolicy.policyFor": (_, cw) => each(() => cw.MetaPolicy.policyFor({ s: SECRET })),
  "MetaPolicy.is": (_, cw) => cw.MetaPolicy.is(SECRET),
  assertPropagates: (_, cw) => cw.assertPropagates((inner) => cw.decorate(inner, { around: (input, context, next) => next(input, context) })),
  bindTools: async ({ tools }, cw) => {
    const definition = {
      name: "deploy",
      description: text("Deploys"),
      schema: tools[0].args_schema,
      execute: () => {
        throw new Error(SECRET);
      },
    };
    const bound = cw.bindTools([definition]);
    return [
      ...each(
        () => cw.bindTools([{ ...definition, schema: SECRET }]),
        () => cw.bindTools([definition], { [NAME]: 1 }),
      ),
      bound.warnings,
    ];
  },
  buildReport: ({ manager }, cw) =>
    each(
      () => cw.buildReport({ stats: manager.build({ phase: "answer", query: SECRET }).stats }),
      () => cw.buildReport({ stats: { [NAME]: SECRET } }),
    ),
  capabilityDiff: (_, cw) => {
    const before = cw.capabilitySnapshot(JSON.stringify({ tools: [mcpTool("deploy")] }));
    const after = cw.capabilitySnapshot(JSON.stringify({ tools: [{ ...mcpTool("deploy"), description: SECRET }, mcpTool(NAME)] }));
    return each(
      () => cw.capabilityDiff(before, after),
      () => cw.capabilityDiff(SECRET, after),
    );
  },
  capabilitySnapshot: (_, cw) =>
    each(
      () => cw.capabilitySnapshot(`{"${NAME}`),
      () => cw.capabilitySnapshot("[]", { source_type: NAME }),
    ),
  contextKey: (_, cw) => each(() => cw.contextKey("k", { [NAME]: 1 })),
  countTokens: (_, cw) =>
    each(
      () => cw.countTokens(SECRET),
      () => cw.countTokens("x", { estimator: NAME }),
    ),
  decorate: ({ callable }, cw) =>
    each(
      () => cw.decorate(callable, { [NAME]: 1 }),
      () => cw.decorate(SECRET, {}),
    ),
  decoratorsOf: ({ callable }, cw) => cw.decoratorsOf(callable),
  defineTool: (_, cw) =>
    each(
      () => cw.defineTool({ name: "t", [NAME]: 1 }, () => 1),
      () => cw.defineTool({ name: "t", style: SECRET }, () => 1),
    ),
  drilldownTool: (_, cw) => cw.drilldownTool(),
  recallTool: (_, cw) => cw.recallTool(),
  effectiveContext: ({ context }, cw) => cw.effectiveContext(context),
  explainRoute: ({ route }, cw) =>
    each(
      () => cw.explainRoute(route),
      () => cw.explainRoute({ ...route, candidate_ids: SECRET }),
    ),
  firstTimeIn: ({ context }, cw) => cw.firstTimeIn(context, new cw.LoopMemo()),
  fromAiSdk: (_, cw) => cw.fromAiSdk({ context: { token: SECRET } }),
  fromConfigurable: (_, cw) => cw.fromConfigurable({ configurable: { token: SECRET } }),
  fromExecutable: (_, cw) => each(() => cw.fromExecutable({ name: 7, execute: () => SECRET }, () => SECRET)),
  fromExtra: (_, cw) => cw.fromExtra({ _meta: { token: SECRET }, authInfo: { token: SECRET } }),
  fromForeign: (_, cw) => each(() => cw.fromForeign({ name: 7, note: SECRET })),
  fromMcpMeta: (_, cw) =>
    each(
      () => cw.fromMcpMeta({ token: SECRET }, { trust: ["token"] }),
      () => cw.fromMcpMeta({}, { [NAME]: 1 }),
    ),
  findMessages: (_, cw) => cw.findMessages({ [NAME]: SECRET, messages: [{ role: SECRET, content: SECRET }] }),
  inferNamespace: (_, cw) => each(() => cw.inferNamespace(7)),
  itemsToMessages: (_, cw) =>
    each(
      () => cw.itemsToMessages([item("x")], NAME),
      () => cw.itemsToMessages([item("x", { kind: NAME })], "anthropic"),
    ),
  loadMcpSessionJsonl: (_, cw) =>
    each(
      () => cw.loadMcpSessionJsonl(`${session}\n{"${NAME}`).warnings,
      () => cw.loadMcpSessionJsonl(`{"type":"${NAME}","${NAME}":"${SECRET}"}`, { strict: true }),
    ),
  mcpPromptToEnvelope: (_, cw) =>
    each(
      () => cw.mcpPromptToEnvelope({ messages: SECRET }, NAME).warnings,
      () => cw.mcpPromptToEnvelope(SECRET, NAME),
    ),
  mcpResourceToEnvelope: (_, cw) => each(() => cw.mcpResourceToEnvelope({ contents: [{ uri: NAME, blob: SECRET }] }, NAME).warnings),
  mcpResultToEnvelope: (_, cw) =>
    each(
      () => cw.mcpResultToEnvelope({ ...mcpResult(), [NAME]: SECRET }, NAME).warnings,
      () => cw.mcpResultToEnvelope(mcpResult(), NAME, { revision: NAME }),
    ),
  mcpPromptToSelectable: (_, cw) => each(() => cw.mcpPromptToSelectable({ name: 7, note: SECRET })),
  mcpResourceToSelectable: (_, cw) => each(() => cw.mcpResourceToSelectable({ uri: 7, name: SECRET })),
  mcpToolToSelectable: (_, cw) =>
    each(
      () => cw.mcpToolToSelectable({ name: NAME, inputSchema: SECRET }),
      () => cw.mcpToolToSelectable(mcpTool("t"), { id_form: NAME }),
    ),
  mcpToToolDefinition: (_, cw) =>
    each(
      () => cw.mcpToToolDefinition({ name: NAME, inputSchema: SECRET }),
      () => cw.mcpToToolDefinition([{ name: `${NAME} x`, inputSchema: {} }]).errors,
    ),
  mcpToToolResult: (_, cw) =>
    each(
      () => cw.mcpToToolResult({ content: SECRET }, { toolName: NAME }).warnings,
      () => cw.mcpToToolResult(mcpResult(), { [NAME]: 1 }),
    ),
  messagesToItems: (_, cw) =>
    each(
      () => cw.messagesToItems([{ role: SECRET }], "openai-chat"),
      ...FORMATS.map((format) => () => cw.messagesToItems([{ role: "user", content: [{ type: NAME }], parts: [{ type: NAME }] }], format)),
    ),
  normalizeTools: ({ tools }, cw) =>
    each(
      () => cw.normalizeTools([{ ...tools[0], kind: NAME }], { strict: true }),
      () => cw.normalizeTools(tools).report,
    ),
  oncePerLoop: ({ callable }, cw) => each(() => cw.decoratorsOf(cw.oncePerLoop(callable, SECRET))),
  redactSecrets: (_, cw) => cw.redactSecrets(`${text("x")} ${NAME}`),
  renderCards: ({ router, tools }, cw) =>
    each(
      () => cw.renderCards(router.cards(router.route("deploy"))),
      () => cw.renderCards([{ id: NAME, name: NAME, description: text("card") }]),
      () => cw.renderCards([{ id: 7, note: SECRET, tools }]),
    ),
  runTool: ({ callable, context }, cw) => cw.runTool(callable, {}, context),
  sanitizeText: (_, cw) => each(() => cw.sanitizeText(7)),
  selectableToMcpTool: ({ tools }, cw) =>
    each(
      () => cw.selectableToMcpTool({ ...tools[0], kind: NAME }),
      () => cw.selectableToMcpTool(tools[0], { revision: NAME }),
      () => cw.selectableToMcpTool(tools[0], { revision: "2025-06-18" }).report,
    ),
  toAiSdk: (_, cw) => each(() => cw.toAiSdk(SECRET)),
  toConfigurable: (_, cw) => each(() => cw.toConfigurable(SECRET)),
  toMcpMeta: ({ context }, cw) =>
    each(
      () => cw.toMcpMeta(context, cw.MetaPolicy.passThrough()),
      () => cw.toMcpMeta(context, SECRET),
    ),
  toolDefinitionToMcp: (_, cw) =>
    each(
      () => cw.toolDefinitionToMcp({ name: `${NAME} x`, description: "d", schema: {} }),
      () => cw.toolDefinitionToMcp([{ name: NAME, schema: SECRET }]).errors,
      () => cw.toolDefinitionToMcp({ name: "t", description: "d", schema: { type: "object" }, [NAME]: SECRET }).warnings,
    ),
  toolDefinitionToSelectable: (_, cw) => each(() => cw.toolDefinitionToSelectable({ name: `${NAME} x`, description: 7 })),
  toolResultToMcp: (_, cw) =>
    each(
      () => cw.toolResultToMcp({ [NAME]: SECRET }),
      () => cw.toolResultToMcp({ data: 1n }),
    ),
  tokenize: (_, cw) => each(() => cw.tokenize(7)),
  unwrap: ({ callable }, cw) => cw.unwrap(callable) === callable,
  validateArgs: (_, cw) => {
    const schema = { type: "object", properties: { region: { type: "string", enum: ["a"] } }, additionalProperties: false };
    return each(
      () => cw.validateArgs(schema, { region: SECRET, [NAME]: SECRET }).errors,
      () => cw.validateArgs({ type: NAME }, {}),
      () => cw.validateArgs({ $ref: `#/${NAME}` }, {}),
      () => cw.validateArgs({ type: "string", pattern: `(${SECRET}` }, "x"),
    );
  },
  version: (_, cw) => cw.version(),
});

/** Functions that give back what was handed over, and why; their errors, and what hooks hear, count like all others. */
const STORED = "gives back what was stored, as it came";
const CONVERTS = "writes the same in another format, for a program; what shows it to a model masks it";
const REVEALS = "gives a value to the program that asks for it by its key; see context-leaks.mjs";
const GIVES_BACK = {
  "ContextManager.toJSON": STORED,
  "ContextManager.exportSince": STORED,
  "ContextManager.forget": "gives back the ids of items that say the same, to be forgotten by them",
  "ContextManager.events.get": STORED,
  "ContextManager.events.list": STORED,
  "ContextManager.events.tail": STORED,
  "ContextManager.events.children": STORED,
  "ContextManager.events.parent": STORED,
  "ContextManager.artifacts.list": STORED,
  "ContextManager.artifacts.ref": STORED,
  "ContextManager.artifacts.bytes": STORED,
  "ContextManager.artifacts.put": STORED,
  "ContextManager.facts.list": STORED,
  "ContextManager.facts.get": STORED,
  "ContextManager.facts.getByKey": STORED,
  "ContextManager.facts.listKeys": STORED,
  "ContextManager.episodes.list": STORED,
  "ContextManager.episodes.get": STORED,
  "ContextManager.episodes.search": STORED,
  "ContextManager.episodes.latest": STORED,
  "ContextManager.jsonOf": "writes what was handed over, for the engine",
  "Router.ownArguments": "gives back the arguments that were handed over, under the tool's own names",
  "ContextManager.hydrate": "gives back the tool and the arguments that were handed over, filled in for the call",
  "Catalog.get": STORED,
  "Catalog.items": STORED,
  "Catalog.toJSON": STORED,
  "Catalog.namespaces": STORED,
  "Router.get": STORED,
  "Router.hydrate": STORED,
  "Router.items": STORED,
  "Router.indexBytes": STORED,
  "DecisionStore.export": STORED,
  "DecisionStore.toJSON": STORED,
  "DecisionStore.exportSince": STORED,
  "ToolCallContext.get": REVEALS,
  "ToolCallContext.getOr": REVEALS,
  "ToolCallContext.string": REVEALS,
  capabilitySnapshot: CONVERTS,
  inferNamespace: CONVERTS,
  itemsToMessages: CONVERTS,
  loadMcpSessionJsonl: CONVERTS,
  mcpPromptToEnvelope: CONVERTS,
  mcpPromptToSelectable: CONVERTS,
  mcpResourceToEnvelope: CONVERTS,
  mcpResourceToSelectable: CONVERTS,
  mcpResultToEnvelope: CONVERTS,
  mcpToToolDefinition: CONVERTS,
  mcpToToolResult: CONVERTS,
  mcpToolToSelectable: CONVERTS,
  messagesToItems: CONVERTS,
  normalizeTools: CONVERTS,
  sanitizeText: "leaves out controls and nothing else",
  selectableToMcpTool: CONVERTS,
  tokenize: "the words of a text, as they are compared",
  toolDefinitionToMcp: CONVERTS,
  toolDefinitionToSelectable: CONVERTS,
  toolResultToMcp: CONVERTS,
};

/** Not functions of an application's: parts of classes that the package keeps to itself, and classes that make their own. */
const UNLISTED = new Set([
  "ContextWeaverError.new",
  "MetaPolicy.new",
  "MetaPolicy.specOf",
  "ToolCallContext.EMPTY",
  "ToolCallContext.entriesOf",
  "ToolCallContext.new",
  "ToolCallContext.wrap",
]);

/** Every public function: those of the module, the constructor, statics and methods of its classes, the views of a manager. */
function functionsOf(cw) {
  const names = [];
  for (const [name, value] of Object.entries(cw)) {
    if (typeof value === "function") names.push(...(/^[A-Z]/.test(name) ? membersOf(name, value) : [name]));
  }
  const manager = new cw.ContextManager();
  for (const view of ["events", "artifacts", "facts", "episodes"]) {
    for (const method of Object.keys(manager[view])) names.push(`ContextManager.${view}.${method}`);
  }
  manager.free();
  return names.filter((name) => !UNLISTED.has(name));
}

function membersOf(name, type) {
  const statics = Object.getOwnPropertyNames(type).filter((key) => !["length", "name", "prototype"].includes(key));
  const methods = Object.getOwnPropertyNames(type.prototype).filter((key) => key !== "constructor");
  // A static and a method may have one name.
  const instance = methods.map((key) => (statics.includes(key) ? `${key}()` : key));
  return ["new", ...statics, ...instance].map((key) => `${name}.${key}`);
}

/** Says where in a value canaries are: `<canary> at <path>: <text>`. Of a function that gives back, errors alone are looked at. */
function found(value, where, givesBack = false) {
  const out = new Set();
  const seen = new Set();
  const holds = (string, at, isId) => {
    const lower = string.toLowerCase();
    for (const [name, piece] of CANARIES) {
      if (!lower.includes(piece) || (isId && name === "NAME")) continue;
      if (name !== "WITHHELD" && AS_GIVEN.some(([path]) => path.test(at))) continue;
      out.add(`${name} at ${at}: ${string.slice(0, 160)}`);
    }
  };
  const visit = (what, at, key, counts) => {
    if (typeof what === "string") return counts && holds(what, at, IDS.has(key));
    if (typeof what !== "object" || what === null || seen.has(what)) return undefined;
    seen.add(what);
    if (what instanceof Error)
      return ["message", "path", "hint", "details", "stack", "cause"].forEach((part) => visit(what[part], `${at}.${part}`, part, true));
    if (what instanceof Uint8Array) return counts && holds(new TextDecoder().decode(what), at, false);
    if (what instanceof Map) return visit([...what], at, key, counts);
    if (Array.isArray(what)) return what.forEach((part, index) => visit(part, `${at}[${index}]`, key, counts));
    for (const [name, part] of Object.entries(what)) {
      if (counts) holds(name, `a key of ${at}`, false);
      visit(part, `${at}.${name}`, name, counts);
    }
    return undefined;
  };
  visit(value, where, "", !givesBack);
  return [...out];
}

/** What may be handed over by mistake: each function gets each, on objects that hold canaries. */
const MISTAKES = [
  [SECRET],
  [SECRET, SECRET],
  [{ [NAME]: SECRET }],
  [SECRET, { [NAME]: SECRET }],
  [[{ [NAME]: SECRET }], SECRET],
  [{ id: NAME, kind: SECRET, text: SECRET, [NAME]: () => 1 }],
];

/** Calls a function by its name in the table, on the objects of a world. */
function callOf(cw, world, name) {
  const [owner, ...path] = name.replace("()", "").split(".");
  if (path.length === 0) return (...args) => cw[owner](...args);
  if (path[0] === "new") return (...args) => new cw[owner](...args);
  const instance = {
    ContextManager: world.manager,
    Catalog: world.catalog,
    Router: world.router,
    DecisionStore: world.decisions,
    ToolCallContext: world.context,
  }[owner];
  const holder = !name.endsWith("()") && path[0] in cw[owner] ? cw[owner] : instance;
  const target = path.slice(0, -1).reduce((object, key) => object?.[key], holder);
  const method = target?.[path.at(-1)];
  return typeof method === "function" ? (...args) => method.apply(target, args) : undefined;
}

/** Where messages have the address of a picture. */
const ADDRESS_OF_PICTURE =
  /^SECRET at ContextManager\.buildMessages\[\d\]\.messages\[\d+\]\.(?:content|parts)\[\d+\]\.(?:image_url(?:\.url)?|source\.url|fileData\.fileUri|url|data): https:\/\/example\.com\/i\.png\?token=/;

export const canaryCases = {
  "every public function has a row, and every row a function"(cw, assert) {
    const functions = functionsOf(cw).sort();
    assert.deepEqual(Object.keys(ROWS).sort(), functions);
    assert.deepEqual(
      Object.keys(GIVES_BACK).filter((name) => !functions.includes(name)),
      [],
    );
  },

  "the canaries are credentials, and what is looked for is found"(cw, assert) {
    for (const canary of [SECRET, NAME]) assert.equal(cw.redactSecrets(canary), "[REDACTED-SECRET]");
    const error = new cw.ContextWeaverError("INVALID_INPUT", "short", { details: { list: [SECRET.slice(0, 16)] } });
    assert.equal(found({ a: [{ b: error }] }, "x").length, 1, "in an error, cut");
    assert.equal(found({ [NAME]: 1, id: NAME, text: NAME.toLowerCase() }, "x").length, 2, "in a key and a text");
    assert.equal(found({ text: SECRET, thrown: error }, "x", true).length, 1, "in the errors of what gives back");
  },

  async "no canary is in what a function returns, throws or tells a hook"(cw, assert) {
    const leaks = [];
    for (const [name, row] of Object.entries(ROWS)) {
      const world = await worldOf(cw);
      const returned = await attempt(() => row(world, cw));
      const settled = Array.isArray(returned) ? await Promise.all(returned) : returned;
      leaks.push(...found(settled, name, name in GIVES_BACK), ...found(world.heard, `a hook, during ${name}`));
      freeAll(world);
    }
    // The provider fetches a picture from its address, so that it is sent as it is: once in each of the six formats, and nowhere else.
    const isAddress = (leak) => ADDRESS_OF_PICTURE.test(leak);
    assert.deepEqual(
      leaks.filter((leak) => !isAddress(leak)),
      [],
    );
    assert.equal(leaks.filter(isAddress).length, 6);
  },

  async "no canary is in what a mistake ends in"(cw, assert) {
    const leaks = [];
    for (const name of Object.keys(ROWS)) {
      const world = await worldOf(cw);
      for (const args of MISTAKES) {
        const call = callOf(cw, world, name);
        if (!call) continue;
        try {
          // What is no error was no mistake here; results are looked at above.
          await call(...args);
        } catch (error) {
          leaks.push(...found(error, `${name} threw`));
        }
      }
      leaks.push(...found(world.heard, `a hook, during ${name}`));
      freeAll(world);
    }
    assert.deepEqual(leaks, []);
  },
};

function freeAll({ manager, catalog, router, decisions }) {
  for (const object of [manager, catalog, router, decisions]) object.free();
}
