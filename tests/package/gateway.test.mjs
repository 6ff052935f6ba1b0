// A new user's day with the gateway: five published servers in a configuration, the command from the packed package, the official SDK and
// the inspector as clients, in every mode; and what the front costs.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test, { after } from "node:test";
import { configured, connected, everythingOverHttp, fiveServers, gatewayIn, handleIn, textOf, until } from "./gateway-harness.mjs";
import { has, modernNode, project, run, runtimes } from "./harness.mjs";

const ROWS = 90_000;
const row = (at) => `${at},order-${at * 37},${at % 9 ? "shipped" : "delayed"},${(at * 7919) % 100_000} cents,Ümläut ${at % 13}`;
const ORDERS = `id,order,state,price,note\n${Array.from({ length: ROWS }, (_, at) => row(at)).join("\n")}\n`;
/** The line of a row in the file, from 0. */
const lineOf = (at) => at + 1;

const folder = await project("gateway", { "data/orders.csv": ORDERS, "data/small.txt": "a small file" });
const data = join(folder, "data");
assert.ok(Buffer.byteLength(ORDERS) > 4_000_000);

/** The tool and its arguments that read a file, as each mode calls it. */
const READ = { path: join(data, "orders.csv") };

/** What a user does in a mode: finds the tool among all, calls it, and reads one row of the result. */
const MODES = {
  firewall: {
    async find({ client }) {
      const { tools } = await client.listTools();
      const { name } = tools.find(({ description }) => /contents of a file from the file system as text/i.test(description));
      return name;
    },
    call: (user, name) => user.call(name, READ),
    drill: (user, handle, selector) => user.call("drilldown", { handle, selector }),
  },
  search: {
    async find(user) {
      const text = textOf(await user.call("search_tools", { query: "read the text of a file" }));
      assert.match(text, /arguments: \{/);
      return /^\d\. (read_text_file)/m.exec(text)[1];
    },
    call: (user, name) => user.call("call_tool", { name, arguments: READ }),
    drill: (user, handle, selector) => user.call("drilldown", { handle, selector }),
  },
  reference: {
    async find(user) {
      const cards = JSON.parse(textOf(await user.call("tool_browse", { query: "read the text of a file" })));
      return cards.find(({ name }) => name === "read_text_file").id;
    },
    call: (user, tool_id) => user.call("tool_execute", { tool_id, args: READ }),
    drill: (user, handle, selector) => user.call("tool_view", { handle, selector }),
  },
};
const PLACES = [0, 12_345, ROWS - 1];

async function oneDay(user, { find, call, drill }, places) {
  const name = await find(user);
  const result = await call(user, name);
  assert.notEqual(result.isError, true, textOf(result).slice(0, 1_000));
  const shown = JSON.stringify(result);
  assert.ok(shown.length < 20_000, `${shown.length} characters of a result of ${ORDERS.length}`);
  const handle = handleIn(result);
  return { handle, rows: await readRows(user, drill, handle, places) };
}

async function readRows(user, drill, handle, places = PLACES) {
  const rows = [];
  for (const at of places) {
    const text = textOf(await drill(user, handle, { type: "lines", start: lineOf(at), end: lineOf(at) + 1 }));
    assert.equal(text.split("\n")[0], row(at));
    rows.push(text);
  }
  return rows;
}

const SERVERS = ["files", "everything", "memory", "thinking", "remote"];
const remote = await everythingOverHttp({ after });
/** The start is reported: a line for each server with its tools. */
const started = (stderr) => until("all servers are told of", () => SERVERS.every((name) => new RegExp(`^.*${name}.*\\d+ tools`, "m").test(stderr())));

for (const [mode, transport] of [["firewall", "stdio"], ["search", "HTTP"], ["reference", "stdio"]]) {
  test(`${mode} mode over ${transport}: find a tool, call it, read one row, restart, read it again`, async (t) => {
    const config = await configured(folder, `${mode}.json`, fiveServers(data, remote));
    const gateway = gatewayIn(folder, config, ["--mode", mode, "--store", join(folder, `store-${mode}`)]);
    const start = async () => {
      if (transport === "stdio") {
        const user = await connected(t, "SDK 2.x, auto", { program: gateway.stdio() });
        return { user, stop: user.close, stderr: user.stderr };
      }
      const served = await gateway.http(t);
      const user = await connected(t, "SDK 1.x", { url: served.url });
      return { user, stop: async () => (await user.close(), await served.stop()), stderr: served.stderr };
    };
    const first = await start();
    await started(first.stderr);
    const { handle, rows } = await oneDay(first.user, MODES[mode]);
    await first.stop();
    const second = await start();
    assert.deepEqual(await readRows(second.user, MODES[mode].drill, handle), rows);
    await second.stop();
    assert.doesNotMatch(first.stderr() + second.stderr(), /contextweaver gateway: (?!\d|a login to|\S+: \d+ servers)/, "nothing went wrong");
  });
}

test("the inspector's command line finds, calls and reads on, in every mode", async (t) => {
  const node = await modernNode();
  const inspector = runtimes && join(runtimes, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  if (!has(t, node.path, { ...node, optional: true }) || !has(t, inspector, { missing: "the optional runtimes are not installed", optional: true })) return;
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const cli = async (target, ...args) => {
    const { stdout } = await run(node.path, [inspector, "--cli", ...target, ...args], { cwd: folder, env: { HOME: home, MCP_STORAGE_DIR: home }, timeout: 60_000 });
    return JSON.parse(stdout.slice(stdout.indexOf("{")));
  };
  const called = (target, name, given) => cli(target, "--method", "tools/call", "--tool-name", name, "--tool-arg", ...Object.entries(given).map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`));
  for (const mode of Object.keys(MODES)) {
    const config = await configured(folder, `inspector-${mode}.json`, fiveServers(data, remote));
    const gateway = gatewayIn(folder, config, ["--mode", mode, "--store", join(folder, `store-inspector-${mode}`)]);
    // Each call of the inspector over standard input and output starts a gateway of its own: the store is what they share.
    const isStdio = mode === "search";
    const start = async () => {
      if (isStdio) return { stop: async () => {}, target: ["--config", await configured(folder, "client.json", { all: { command: gateway.command, args: gateway.args } }), "--server", "all"] };
      const served = await gateway.http(t);
      await started(served.stderr);
      return { stop: served.stop, target: [served.url, "--transport", "http"] };
    };
    const userOf = ({ target }) => ({ client: { listTools: () => cli(target, "--method", "tools/list") }, call: (name, given) => called(target, name, given) });
    const first = await start();
    const { handle, rows } = await oneDay(userOf(first), MODES[mode], PLACES.slice(1, 2));
    await first.stop();
    const second = await start();
    assert.deepEqual(await readRows(userOf(second), MODES[mode].drill, handle, PLACES.slice(1, 2)), rows);
    await second.stop();
  }
});
