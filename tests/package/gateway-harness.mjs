// The gateway as its users have it: started by its command in a project with the packed package, in front of servers on this
// machine, with every client that people use.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import * as client2 from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTransport2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioTransport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpTransport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types1 from "@modelcontextprotocol/sdk/types.js";
import { here, until } from "./harness.mjs";

/** How long something of the tests may take, in milliseconds. */
const PATIENCE = 20_000;
const INFO = { name: "user", version: "1.0.0" };

/** A published server, as a configuration has it. */
export const published = (name, ...args) => ({
  command: process.execPath,
  args: [join(here, "node_modules/@modelcontextprotocol", name, "dist/index.js"), ...args],
});

/** The five servers of a user: the files of `folder`, three more programs, and one over Streamable HTTP at `url`. */
export const fiveServers = (folder, url) => ({
  files: published("server-filesystem", folder),
  everything: published("server-everything"),
  memory: { ...published("server-memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
  thinking: published("server-sequential-thinking"),
  remote: { type: "http", url },
});

/** A program that runs until the test ends; what it writes is in `stdout()` and `stderr()`. */
export function running(t, program, args, { cwd, env = {} } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1", ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  const ended = once(child, "close");
  const stop = async (signal = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    await ended;
    clearTimeout(late);
  };
  t.after(() => stop());
  /** Waits for what it writes. */
  const says = (pattern) =>
    until(`${program} says ${pattern}: ${said.stdout}${said.stderr}`, () => {
      const found = pattern.exec(said.stdout) ?? pattern.exec(said.stderr);
      if (!found && child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said.stdout}${said.stderr}`);
      return found;
    });
  return { child, stop, says, stdout: () => said.stdout, stderr: () => said.stderr };
}

/** A port that nobody has. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** The published server `everything` over Streamable HTTP. Returns its URL. */
export async function everythingOverHttp(t) {
  const port = await freePort();
  const { command, args } = published("server-everything", "streamableHttp");
  await running(t, command, args, { env: { PORT: String(port) } }).says(/listening on port/);
  return `http://127.0.0.1:${port}/mcp`;
}

/** The gateway's command in a project: how it is started over each transport. */
export function gatewayIn(folder, config, args = []) {
  const command = [join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js"), "gateway", "--config", config, ...args];
  return {
    command: process.execPath,
    args: command,
    /** Serves HTTP; `ready()` waits for the servers, `url` is where MCP is. */
    async http(t, { env, more = [] } = {}) {
      const process_ = running(t, process.execPath, [...command, "--http", "--port", "0", ...more], { cwd: folder, env });
      const [, url] = await process_.says(/listening on (\S+)/);
      return { ...process_, url };
    },
    stdio: (env = {}) => ({ command: process.execPath, args: command, cwd: folder, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } }),
  };
}

/** Writes a configuration into a project. Returns its path. */
export async function configured(folder, name, mcpServers, gateway) {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify({ mcpServers, ...(gateway && { gateway }) }));
  return path;
}

/** Kinds of clients of the official SDKs. */
export const CLIENTS = {
  "SDK 1.x": undefined,
  "SDK 2.x, legacy": "legacy",
  "SDK 2.x, auto": "auto",
  "SDK 2.x, 2026-07-28": { pin: "2026-07-28" },
};

const CAPABILITIES = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

/**
 * Connects a client of an official SDK, by its name in `CLIENTS`, to a `url` or a program. `answers` has by method what it answers to
 * requests; what it was told is in `told`. Both SDKs are used by the same few methods.
 */
export async function connected(t, kind, { url, program, headers, answers = {}, capabilities = CAPABILITIES }) {
  const told = [];
  const asked = [];
  const isFirst = kind === "SDK 1.x";
  const client = isFirst ? new Client1(INFO, { capabilities }) : new client2.Client(INFO, { capabilities, versionNegotiation: { mode: CLIENTS[kind] } });
  for (const [method, answer] of Object.entries(answers)) {
    const schema = {
      "elicitation/create": types1.ElicitRequestSchema,
      "sampling/createMessage": types1.CreateMessageRequestSchema,
      "roots/list": types1.ListRootsRequestSchema,
    }[method];
    client.setRequestHandler(isFirst ? schema : method, (request) => (asked.push({ method, params: request.params }), answer(request)));
  }
  client.fallbackNotificationHandler = async ({ method, params }) => void told.push({ method, params });
  const Http = isFirst ? HttpTransport1 : client2.StreamableHTTPClientTransport;
  const Stdio = isFirst ? StdioTransport1 : StdioTransport2;
  const transport = url === undefined ? new Stdio({ ...program, stderr: "pipe" }) : new Http(new URL(url), { requestInit: { headers: headers ?? {} } });
  let stderr = "";
  transport.stderr?.on("data", (text) => (stderr += text));
  await client.connect(transport);
  const close = () => client.close();
  t.after(close);
  const isModern = !isFirst && client.getNegotiatedProtocolVersion() >= "2026-07-28";
  return {
    client,
    told,
    asked,
    isModern,
    close,
    transport,
    stderr: () => stderr,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, given = {}, options) =>
      isFirst ? client.callTool({ name, arguments: given }, undefined, options) : client.callTool({ name, arguments: given }, options),
    /** Hears of changes of resources and lists, as the revision has it. */
    async subscribe(uris) {
      if (isModern)
        return void (await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: uris }));
      for (const uri of uris) await client.subscribeResource({ uri });
    },
  };
}

export const textOf = ({ content }) => content.map(({ text }) => text ?? "").join("\n");

/** The handle that a digest names. */
export function handleIn(result) {
  const [found] = /\b(?:artifact:result|text|mcp):[\w:.~-]*[\w~-]/.exec(textOf(result)) ?? [];
  if (!found) throw new Error(`no handle: ${textOf(result).slice(0, 2_000)}`);
  return found;
}
