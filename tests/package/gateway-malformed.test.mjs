// One malformed entry must not hide what all other servers list: clients of the official SDKs refuse a whole list, or a whole result, for
// one field that is something else.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { CLIENTS, configured, connected } from "./gateway-harness.mjs";
import { listening, webHandler } from "./gateway-servers.mjs";
import { project, run } from "./harness.mjs";
import { ENTRIES, KEYS, RESULTS, malformed } from "./malformed.mjs";

const folder = await project("gateway-malformed", { "entry.mjs": 'export { gateway } from "contextweaver/mcp";' });
const { gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));
const sdk = { server, client, client_stdio };

/** A program that lists what is in a file, and answers what it is told to by number. */
const SERVER = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { lists, answers } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const METHODS = { "tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts" };
const number = (text) => Number(/(\\d+)$/.exec(text)?.[1]);
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, prompts: {}, resources: {} }, serverInfo: { name: "raw", version: "1" } }),
  "tools/call": ({ arguments: given }) => answers["tools/call"][given.number],
  "resources/read": ({ uri }) => answers["resources/read"][number(uri)],
  "prompts/get": ({ name }) => answers["prompts/get"][number(name)],
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const list = METHODS[method];
  const result = list ? { [list]: lists[list] ?? [] } : methods[method]?.(params ?? {});
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error: { code: -32601, message: "no such method" } } : { result }) }) + "\\n");
}).on("close", () => process.exit(0));
`;
await writeFile(join(folder, "raw.mjs"), SERVER);

async function served(name, content) {
  const path = join(folder, `${name}.json`);
  await writeFile(path, JSON.stringify(content));
  return { command: process.execPath, args: [join(folder, "raw.mjs"), path] };
}

/** A gateway over HTTP before some servers. */
async function before(t, mcpServers, options = {}) {
  const reports = new Map();
  const errors = [];
  const instance = gateway({
    mcpServers,
    sdk,
    token: false,
    on_server: ({ server: name, report }) => report && reports.set(name, report),
    on_error: (error) => void errors.push(error),
    ...options,
  });
  t.after(() => instance.close());
  await instance.ready();
  const http = await listening(webHandler(instance.fetch));
  t.after(() => http.close());
  return { instance, reports, errors, url: `${http.origin}/mcp` };
}

const LISTS = {
  tools: (connection) => connection.client.listTools(),
  resources: (connection) => connection.client.listResources(),
  resourceTemplates: (connection) => connection.client.listResourceTemplates(),
  prompts: (connection) => connection.client.listPrompts(),
};

test("whatever an entry of a list is, clients see all others", async (t) => {
  const cases = Object.fromEntries(Object.keys(ENTRIES).map((list) => [list, malformed(ENTRIES[list], [KEYS[list]])]));
  const broken = Object.fromEntries(Object.entries(cases).map(([list, entries]) => [list, [null, 5, {}, ...entries]]));
  const good = Object.fromEntries(Object.keys(ENTRIES).map((list) => [list, ["good", "fine"].map((name) => ENTRIES[list](name))]));
  for (const entries of Object.values(cases)) assert.ok(entries.length > 200, `${entries.length} cases`);
  const { instance, reports, url } = await before(
    t,
    { broken: await served("broken", { lists: broken }), good: await served("good", { lists: good }) },
    { mode: "firewall", lint: "report" },
  );
  for (const kind of Object.keys(CLIENTS)) {
    const connection = await connected(t, kind, { url });
    for (const [list, ask] of Object.entries(LISTS)) {
      const listed = (await ask(connection))[list];
      const seen = new Map(listed.map((entry) => [entry[KEYS[list]], entry]));
      for (const entry of [...good[list], ...cases[list]]) assert.ok(seen.has(entry[KEYS[list]]), `${kind}: ${JSON.stringify(entry)} is not in ${list}`);
      // What was right is as it came.
      for (const entry of good[list]) {
        // Clients of a revision keep the fields that it has.
        const { outputSchema: _, execution: __, ...shown } = entry;
        for (const key of Object.keys(shown)) assert.ok(key in seen.get(entry[KEYS[list]]), `${kind}: ${key} of ${list}`);
      }
    }
    await connection.close();
  }
  const { left_out, mended } = instance.stats().servers.find(({ name }) => name === "broken");
  assert.ok(mended > 500, `${mended} mended`);
  assert.equal(instance.stats().servers.find(({ name }) => name === "good").mended, 0);
  assert.equal(left_out + (await instance.servers()).find(({ name }) => name === "broken").problems.length > 0, true);
  assert.ok(reports.get("broken").mended.length > 0);
});

test("a malformed tool is told by the doctor and the log", async () => {
  const lists = { tools: [ENTRIES.tools("good"), { ...ENTRIES.tools("bad"), inputSchema: { type: "object", properties: [], required: null } }] };
  const config = await configured(folder, "doctor.config.json", { raw: await served("doctor", { lists }) });
  const bin = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
  const { stdout } = await run(process.execPath, [bin, "gateway", "doctor", "--config", config], { cwd: folder });
  assert.match(stdout, /bad of its tools is malformed at \/inputSchema\/required/);
  assert.doesNotMatch(stdout, /nothing is wrong/);
});

test("whatever a result is, clients get it", async (t) => {
  // A message with another `_meta` is none of the protocol, and its request goes unanswered.
  const answers = Object.fromEntries(Object.entries(RESULTS).map(([method, result]) => [method, malformed(() => result, ["_meta"], 60)]));
  const lists = {
    tools: [{ name: "raw", description: "Answers as it is told to.", inputSchema: { type: "object", properties: { number: { type: "integer" } } } }],
    resources: answers["resources/read"].map((_, at) => ({ uri: `test://r/${at}`, name: `r${at}` })),
    prompts: answers["prompts/get"].map((_, at) => ({ name: `p${at}` })),
  };
  for (const kind of ["SDK 1.x", "SDK 2.x, legacy", "SDK 2.x, 2026-07-28"]) {
    const { url } = await before(t, { raw: await served("answers", { lists, answers }) });
    const connection = await connected(t, kind, { url });
    const asked = {
      "tools/call": (number) => connection.call("raw", { number }),
      "resources/read": (at) => connection.client.readResource({ uri: `test://r/${at}` }),
      "prompts/get": (at) => connection.client.getPrompt({ name: `p${at}` }),
    };
    for (const [method, list] of Object.entries(answers)) {
      assert.ok(list.length > 60, `${list.length} answers`);
      for (const [at, answer] of list.entries()) {
        // What is no result of the method at all may be an error, as may one that is about another resource; never a refusal by the client.
        try {
          const got = await asked[method](at);
          assert.doesNotMatch(JSON.stringify(got), /"text":"(undefined|null)"/, `${kind}: ${method} ${JSON.stringify(answer)}`);
        } catch (error) {
          assert.doesNotMatch(
            String(error),
            /invalid_|Invalid result|destructure|undefined|ZodError|-32603/i,
            `${kind}: ${method} ${JSON.stringify(answer)}: ${error}`,
          );
        }
      }
    }
    const told = await connection.call("raw", { number: answers["tools/call"].findIndex(({ content }) => Array.isArray(content) && content[0] === null) });
    assert.match(JSON.stringify(told.content), /malformed at \/content\/0/);
    await connection.close();
  }
});
