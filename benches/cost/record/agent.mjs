// A scripted agent: it says what it wants, calls a published server, and its next call is made of what came back.

/** Where the material of a session lies in its recording, wherever it was recorded. */
export const ROOT = "/project";

/** Replaces one string by another in all strings of a value. */
function replaced(value, from, to) {
  return JSON.parse(JSON.stringify(value), (_, inner) => (typeof inner === "string" ? inner.replaceAll(from, to) : inner));
}

/**
 * Servers of one session, started when they are asked for. `servers` has the command of each, `folder` the material, and `sdk` the
 * client of MCP, which is installed with the servers.
 */
export class Servers {
  #clients = new Map();

  constructor(servers, folder, sdk) {
    Object.assign(this, { servers, folder, sdk });
  }

  async #client(name) {
    if (!this.#clients.has(name)) {
      const client = new this.sdk.Client({ name: "recorder", version: "1.0.0" });
      const { command, args, env } = this.servers[name];
      await client.connect(new this.sdk.StdioClientTransport({ command, args, env: { ...process.env, ...env }, cwd: this.folder, stderr: "ignore" }));
      this.#clients.set(name, client);
    }
    return this.#clients.get(name);
  }

  /** The text of a result; the folder is called `ROOT` on both sides. */
  async call(server, name, args) {
    const client = await this.#client(server);
    const { content } = await client.callTool({ name, arguments: replaced(args, ROOT, this.folder) });
    const text = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
    return text.replaceAll(this.folder, ROOT);
  }

  async close() {
    for (const client of this.#clients.values()) await client.close();
  }
}

/** Writes what is said and done as the items of a session. */
export class Agent {
  items = [];

  constructor(servers) {
    this.servers = servers;
  }

  #add(kind, text, rest = {}) {
    const id = `i${String(this.items.length).padStart(3, "0")}`;
    this.items.push({ id, kind, text, ...rest });
    return id;
  }

  user(text) {
    this.#add("user_turn", text);
  }

  say(text) {
    this.#add("agent_msg", text);
  }

  /** One step: a thought, a call and its result. */
  async step(thought, server, tool, args) {
    this.#add("agent_msg", thought);
    const metadata = { tool_name: tool, server };
    const id = this.#add("tool_call", `${tool} ${JSON.stringify(args)}`, { metadata });
    const text = await this.servers.call(server, tool, args);
    this.#add("tool_result", text, { parent_id: id, metadata });
    return text;
  }

  /** A line of a shell in the folder of the project. */
  shell(thought, command) {
    return this.step(thought, "commands", "run_command", { command, workdir: ROOT });
  }

  /** Rows of a database. */
  async rows(thought, sql) {
    const text = await this.step(thought, "postgres", "query", { sql });
    return JSON.parse(text);
  }
}
