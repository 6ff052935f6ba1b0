// What programs do to the one that starts them: what they print beside their messages, and how they end.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { here, packageDir, temporaryFolder, until } from "./harness.mjs";

const { gateway } = await import(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")));
const { messageIn } = await import(pathToFileURL(join(packageDir, "dist/boundary/message-line.js")));
const { keepingNumbers, keepsNumbers, withBody, withNumbers } = await import(pathToFileURL(join(packageDir, "dist/boundary/exact-numbers.js")));
const sdk = { server, client, client_stdio };
const faulty = (...args) => ({ command: process.execPath, args: [join(here, "gateway-faulty.mjs"), ...args], env: { FAULTY_SECRET: "x" } });

test("a message is found behind what a program prints before it", () => {
  const answer = '{"jsonrpc":"2.0","id":0,"result":{}}';
  const request = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}';
  for (const before of ["", "\ufeff", "\ufffd\ufffd", "\0\0", " \t", "\u001b[32m", "\u001b[0m\u001b[2K", "\u001b]0;t\u0007", "\u200b\u2060"]) {
    for (const isFirst of [true, false])
      for (const message of [answer, request]) assert.equal(messageIn(before + message, isFirst), message, JSON.stringify(before));
  }
  assert.equal(messageIn(`ready ${answer}`, true), answer);
  // A log that quotes messages sends none.
  for (const line of [`sent ${answer}`, `[DEBUG] ${request}`, "", "npm warn", "[INFO] ready", "{1} ready"])
    assert.equal(messageIn(line, false), line.startsWith("{") ? line : undefined, line);
  assert.equal(messageIn(`got ${request}`, true), undefined);
  // The reader refuses JSON that is no message.
  for (const line of ["[1]", "7", '"x"', "null"]) assert.equal(messageIn(line, false), line);
  assert.equal(messageIn(`${"\u001b[".repeat(200_000)}x`, true), undefined);
});

test("numbers are kept in a message that stands behind a line of something else", () => {
  const chunks = [];
  const reader = {
    _buffer: Buffer.from('warn\n{"n":9007199254740993}\n[log]\n\ufeff{"n":1}\n'),
    readMessage: () => {
      const end = reader._buffer.indexOf(10);
      if (end === -1) return null;
      chunks.push(reader._buffer.toString("utf8", 0, end));
      reader._buffer = reader._buffer.subarray(end + 1);
      return {};
    },
  };
  keepsNumbers({ _readBuffer: reader, send: async () => {} });
  while (reader.readMessage() !== null);
  assert.deepEqual(chunks, ['{"n":"\\ud8009007199254740993"}', '{"n":1}']);
});

test("numbers are kept behind the separators of Unicode in an event, and what a text only quotes stays a text", async () => {
  const big = "9007199254740993";
  const kept = `"\\ud800${big}"`;
  const over = async (type, text, rewrite) => (await withBody(new Response(text, { headers: { "content-type": type } }), rewrite)).text();
  for (const [separator, end] of ["\u2028", "\u2029"].flatMap((one) => ["\n", "\r\n", "\r"].map((end) => [one, end]))) {
    const event = (number) => `event: message${end}data: {"text":"a${separator}data: ${big} b","n":${number}}${end}data: {"m":${number}}${end}${end}`;
    assert.equal(await over("text/event-stream", event(big), keepingNumbers), event(kept));
    assert.equal(await over("text/event-stream", event(kept), withNumbers), event(big));
  }
  const quoted = { text: `he said "\ud800${big}`, list: [`\ud800${big}`, `\ud800-${big}`] };
  assert.equal(withNumbers(JSON.stringify(quoted)), `{"text":"he said \\"\\ufffd${big}","list":[${big},-${big}]}`);
});

test("a program that prints something first is connected", async (t) => {
  const kinds = ["mark", "mark of UTF-16", "a colour", "a title", "NUL and blanks", "a banner", "words without an end", "a prompt"];
  const mcpServers = Object.fromEntries(kinds.map((kind) => [kind.replaceAll(" ", "-"), { ...faulty("junk", kind), probe: false }]));
  const errors = [];
  const handler = gateway({ mcpServers, sdk, token: false, mode: "firewall", on_error: (error) => errors.push(error) });
  t.after(() => handler.close());
  await handler.ready();
  const states = (await handler.servers()).filter(({ state }) => state.status !== "ready");
  assert.deepEqual(
    states.map(({ name, state }) => [name, state]),
    [],
  );
  assert.deepEqual(errors, []);
});

test("how a program ended is told", async (t) => {
  const told = [];
  const mcpServers = { dies: faulty("dies"), exits: faulty("exits", "1") };
  const handler = gateway({ mcpServers, sdk, token: false, mode: "firewall", on_server: (event) => told.push(event) });
  t.after(() => handler.close());
  await handler.ready();
  const saying = (name, words) =>
    until(`${name}: ${JSON.stringify(told)}`, () => told.some(({ server, detail }) => server === name && words.test(detail ?? "")));
  await saying("dies", /the program ended with exit code 1; it last wrote: cannot read the key/);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const send = (body, session = {}) =>
    handler.fetch(
      new Request("http://127.0.0.1/mcp", { method: "POST", headers: { ...headers, ...session }, body: JSON.stringify({ jsonrpc: "2.0", ...body }) }),
    );
  const begun = await send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "u", version: "1" } },
  });
  await send(
    { id: 2, method: "tools/call", params: { name: "echo", arguments: {} } },
    { "mcp-session-id": begun.headers.get("mcp-session-id"), "mcp-protocol-version": "2025-06-18" },
  );
  await saying("exits", /the program ended with exit code 3/);
});

test("programs end with a gateway that is killed, though they mind neither their input nor a signal", { skip: process.platform === "win32" }, async (t) => {
  const folder = await temporaryFolder("killed");
  const deaf = `process.on("SIGTERM", () => {}); require("node:fs").writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000);`;
  const mcpServers = Object.fromEntries(["one", "two"].map((name) => [name, { command: process.execPath, args: ["-e", deaf, join(folder, name)] }]));
  const module = JSON.stringify(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")).href);
  const code = `import { gateway } from ${module};
import * as server from "@modelcontextprotocol/server"; import * as client from "@modelcontextprotocol/client"; import * as client_stdio from "@modelcontextprotocol/client/stdio";
void gateway({ mcpServers: ${JSON.stringify(mcpServers)}, sdk: { server, client, client_stdio }, token: false, mode: "firewall" }).ready();
setInterval(() => {}, 1000);`;
  const killed = spawn(process.execPath, ["--input-type=module", "-e", code], { cwd: here, stdio: "inherit" });
  t.after(() => killed.kill("SIGKILL"));
  const pidOf = async (name) => Number(await readFile(join(folder, name), "utf8").catch(() => "0"));
  // One that has ended and that nobody has asked for is still in the list of processes.
  const isAlive = (pid) => /^[^Z\s]/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim());
  await until("both programs run", async () => (await pidOf("one")) > 0 && (await pidOf("two")) > 0);
  const pids = [await pidOf("one"), await pidOf("two")];
  t.after(() => pids.filter(isAlive).forEach((pid) => process.kill(pid, "SIGKILL")));
  assert.deepEqual(pids.map(isAlive), [true, true]);
  killed.kill("SIGKILL");
  await until("nothing is left of them", () => !pids.some(isAlive));
});
