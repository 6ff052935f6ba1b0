// Tools whose calls become tasks, as the conformance suite names them, for the extension of revision 2026-07-28 (SEP-2663). The
// official SDK has no server side for it: a result that is a task passes through it, and the methods of the extension are taken as those
// of any extension are.
import { ProtocolError, fromJsonSchema } from "@modelcontextprotocol/server";

export const TASKS = "io.modelcontextprotocol/tasks";
const CLIENT = "io.modelcontextprotocol/clientCapabilities";
const MISSING_CAPABILITY = -32_021;
const TTL_MS = 600_000;
const POLL_MS = 100;
/** The SDK checks parameters by what it is given. */
const ANY = { "~standard": { version: 1, vendor: "tests", validate: (value) => ({ value }) } };

const said = (text) => ({ content: [{ type: "text", text }] });
const isDeclared = (ctx) => ctx.mcpReq.envelope?.[CLIENT]?.extensions?.[TASKS] !== undefined;
const missing = () => new ProtocolError(MISSING_CAPABILITY, "the client has no tasks", { requiredCapabilities: { extensions: { [TASKS]: {} } } });

/** Tools that are nothing but tasks. */
const REQUIRED = ["failing_job", "test_tool_with_task"];

/** The answer to a call of such a tool by a client without tasks; nothing for other requests. What a handler throws, the SDK makes a result of. */
export function refusedCall({ id, method, params } = {}) {
  if (method !== "tools/call" || !REQUIRED.includes(params?.name) || params._meta?.[CLIENT]?.extensions?.[TASKS] !== undefined) return undefined;
  const { code, message, data } = missing();
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }), { status: 400, headers: { "content-type": "application/json" } });
}

/** All tasks of all servers: each serves one request. */
const tasks = new Map();

class Task {
  id = crypto.randomUUID();
  status = "working";
  created = new Date().toISOString();
  updated = this.created;
  asks = new Map();
  #stopped = new AbortController();

  constructor(run) {
    tasks.set(this.id, this);
    run(this).then(
      (result) => this.#end({ status: "completed", result }),
      (error) => this.#end({ status: "failed", error: { code: -32_603, message: error.message } }),
    );
  }

  #end(how) {
    if (this.status === "cancelled") return;
    Object.assign(this, how, { updated: new Date().toISOString() });
  }

  cancel() {
    if (this.status === "completed" || this.status === "failed") return;
    this.status = "cancelled";
    this.#stopped.abort();
  }

  sleep(ms) {
    return new Promise((done) => {
      const timer = setTimeout(done, ms);
      this.#stopped.signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
    });
  }

  /** Asks the client for several things at once; resolves when all are answered. */
  ask(...messages) {
    const answers = messages.map(
      (message, at) =>
        new Promise((answer) => {
          const params = { mode: "form", message, requestedSchema: { type: "object", properties: { confirm: { type: "boolean" } } } };
          this.asks.set(`${this.id.slice(0, 8)}-${at}`, { request: { method: "elicitation/create", params }, answer });
        }),
    );
    this.status = "input_required";
    return Promise.all(answers);
  }

  update(responses) {
    for (const [key, response] of Object.entries(responses)) {
      this.asks.get(key)?.answer(response);
      this.asks.delete(key);
    }
    if (this.status === "input_required" && this.asks.size === 0) this.status = "working";
  }

  get wire() {
    return { taskId: this.id, status: this.status, createdAt: this.created, lastUpdatedAt: this.updated, ttlMs: TTL_MS, pollIntervalMs: POLL_MS };
  }

  get detailed() {
    const inputRequests = this.status === "input_required" ? Object.fromEntries([...this.asks].map(([key, { request }]) => [key, request])) : undefined;
    return { ...this.wire, ...(inputRequests && { inputRequests }), ...(this.result && { result: this.result }), ...(this.error && { error: this.error }) };
  }
}

/** A call that becomes a task where the client knows tasks, and runs as any other where it does not. */
const asTask = (run) => async (given, ctx) => {
  if (isDeclared(ctx)) return { resultType: "task", ...new Task((task) => run(given, task, ctx)).wire };
  return run(given, { sleep: (ms) => new Promise((done) => setTimeout(done, ms)) }, ctx);
};

const TOOLS = {
  greet: [{ properties: { name: { type: "string" } } }, async ({ name }) => said(`Hello, ${name}!`)],
  slow_compute: [
    { properties: { seconds: { type: "number" }, label: { type: "string" } } },
    asTask(async ({ seconds = 0, label }, task) => (await task.sleep(1_000 * seconds), said(`${label}: done`))),
  ],
  failing_job: [{}, asTask(async (_, task) => (await task.sleep(1_000), { ...said("it failed"), isError: true }))],
  protocol_error_job: [{}, asTask(async () => Promise.reject(new Error("the server broke")))],
  confirm_delete: [
    { properties: { filename: { type: "string" } } },
    asTask(async ({ filename }, task) => (await task.ask(`Delete ${filename}?`), said(`${filename} deleted`))),
  ],
  multi_input: [{}, asTask(async (_, task) => (await task.ask("First?", "Second?"), said("both answered")))],
};

/** Gives a server the tools and the methods of tasks. `inputRequired` and `answerOf` are those of the other tools. */
export function registerTasks(mcp, { inputRequired, ask, answerOf, strings }) {
  for (const [name, [schema, run]] of Object.entries(TOOLS))
    mcp.registerTool(name, { description: `The tool ${name}.`, inputSchema: fromJsonSchema({ type: "object", ...schema }) }, run);
  mcp.registerTool(
    "test_tool_with_task",
    { description: "Asks for a name, and works on.", inputSchema: fromJsonSchema({ type: "object" }) },
    async (_, ctx) => {
      const name = answerOf(ctx, "user_name")?.name;
      if (name === undefined) return inputRequired({ inputRequests: { user_name: ask("Who are you?", strings("name")) } });
      return { resultType: "task", ...new Task(async () => said(`Hello, ${name}!`)).wire };
    },
  );
  mcp.server.registerCapabilities({ extensions: { [TASKS]: {} } });
  const on = (method, run) =>
    mcp.server.setRequestHandler(method, { params: ANY }, async (params, ctx) => {
      if (!isDeclared(ctx)) throw missing();
      const task = tasks.get(params.taskId);
      if (!task) throw new ProtocolError(-32_602, "no such task");
      return run(task, params, ctx) ?? {};
    });
  on("tasks/get", (task) => task.detailed);
  on("tasks/update", (task, params, ctx) => void task.update(params.inputResponses ?? ctx.mcpReq.inputResponses ?? {}));
  on("tasks/cancel", (task) => void task.cancel());
}
