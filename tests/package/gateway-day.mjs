// A new user's day with the gateway: the project with its files, five published servers, and what is done in every mode: find a tool
// among all, call it, read one row of what it returned.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after } from "node:test";
import { configured, everythingOverHttp, fiveServers, gatewayIn, handleIn, textOf } from "./gateway-harness.mjs";
import { project, until } from "./harness.mjs";

const ROWS = 99_000;
const row = (at) => `${at},order-${at * 37},${at % 9 ? "shipped" : "delayed"},${(at * 7919) % 100_000} cents,Ümläut ${at % 13}`;
const ORDERS = `id,order,state,price,note\n${Array.from({ length: ROWS }, (_, at) => row(at)).join("\n")}\n`;
/** The line of a row in the file, from 0. */
const lineOf = (at) => at + 1;

assert.ok(Buffer.byteLength(ORDERS) > 5_000_000);
export const folder = await project("gateway", { "data/orders.csv": ORDERS, "data/small.txt": "a small file" });
const data = join(folder, "data");

/** The tool and its arguments that read a file, as each mode calls it. */
const READ = { path: join(data, "orders.csv") };

/** What a user does in a mode: finds the tool among all, calls it, and reads one row of the result. */
export const MODES = {
  firewall: {
    async find({ client }) {
      const { tools } = await client.listTools();
      const { name } = tools.find(({ description }) => /contents of a file from the file system as text/i.test(description));
      return name;
    },
    call: (user, name) => user.call(name, READ),
    drill: (user, handle, selector) => user.call("drilldown", { handle, selector }),
    recall: (user, query) => user.call("recall", { query }),
  },
  search: {
    async find(user) {
      const text = textOf(await user.call("search_tools", { query: "read the text of a file" }));
      assert.match(text, /arguments: \{/);
      return /^\d\. (read_text_file)/m.exec(text)[1];
    },
    call: (user, name) => user.call("call_tool", { name, arguments: READ }),
    drill: (user, handle, selector) => user.call("drilldown", { handle, selector }),
    recall: (user, query) => user.call("recall", { query }),
  },
};
export const PLACES = [0, 12_345, ROWS - 1];

export async function oneDay(user, { find, call, drill }, places) {
  const name = await find(user);
  const result = await call(user, name);
  assert.notEqual(result.isError, true, textOf(result).slice(0, 1_000));
  const shown = JSON.stringify(result);
  assert.ok(shown.length < 20_000, `${shown.length} characters of a result of ${ORDERS.length}`);
  const handle = handleIn(result);
  return { handle, rows: await readRows(user, drill, handle, places) };
}

/** Finds a row again by a word of it, without the handle; the answer names the handle. */
export async function recallRow(user, recall, handle) {
  for (const at of PLACES) {
    const text = textOf(await recall(user, `what happened to order-${at * 37}`));
    assert.ok(text.includes(row(at)), text.slice(0, 1_000));
    assert.ok(text.includes(handle), text.slice(0, 1_000));
  }
}

export async function readRows(user, drill, handle, places = PLACES) {
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
export const started = (stderr) => until("all servers are told of", () => SERVERS.every((name) => new RegExp(`^.*${name}.*\\d+ tools`, "m").test(stderr())));

/** The command in front of the five servers, with a store. */
export async function gatewayOf(mode) {
  const config = await configured(folder, `${mode}.json`, fiveServers(data, remote), { start_timeout_ms: 60_000 });
  return gatewayIn(folder, config, ["--mode", mode, "--store", join(folder, `store-${mode}`)]);
}
