// What an upstream server does wrong while fifty clients work with others: nobody else notices, all is reported, nothing is left.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { here, long, packageDir, run, until } from "./harness.mjs";
import { SDK, SELF, called, connected, loadHttp } from "./gateway-load.mjs";
import { listening } from "./gateway-servers.mjs";

const { gateway } = await import(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")));
const { memoryStore } = await import(pathToFileURL(join(packageDir, "dist/storage.js")));

/** How long a server is waited for where the test does not want it given up, on a machine that does other things too. */
const PATIENT_MS = 60_000;
/** How often each of the clients calls, at least. */
const LEAST_CALLS = 6;
const own = (name, era = "legacy") => ({ command: process.execPath, args: [SELF, "stdio", era, name] });
const faulty = (fault) => ({ command: process.execPath, args: [join(here, "gateway-faulty.mjs"), fault], env: { FAULTY_SECRET: "tok-5ecret-9f8e7d6c5b4a" } });

/** A gateway with what it told; closed when the test ends. */
function started(t, mcpServers, options = {}) {
  const told = { events: [], errors: [] };
  const handler = gateway({
    mcpServers,
    sdk: SDK,
    token: false,
    mode: "firewall",
    on_server: (event) => void told.events.push(event),
    on_error: (error) => void told.errors.push(error),
    ...options,
  });
  t.after(() => handler.close());
  const statusOf = (server) => handler.stats().servers.find(({ name }) => name === server)?.status;
  const stateOf = async (server) => (await handler.servers()).find(({ name }) => name === server);
  return { handler, told, statusOf, stateOf };
}

async function healthy(t, count) {
  const all = await Promise.all(Array.from({ length: count }, (_, at) => loadHttp(`h${at}`, at % 2 === 0 ? "legacy" : "modern")));
  t.after(() => Promise.all(all.map((server) => server.close())));
  return { all, config: Object.fromEntries(all.map(({ url }, at) => [`h${at}`, { url }])) };
}

/** Clients of both eras that call servers in order until they are told to stop, and what became of their calls. */
async function working(handler, count, servers) {
  const clients = await Promise.all(Array.from({ length: count }, (_, at) => connected(handler, at % 2 === 0 ? "legacy" : "modern")));
  const seen = { calls: 0, failed: [] };
  let isDone = false;
  const loops = clients.map(async (client, at) => {
    for (let n = at; !isDone || n < at + LEAST_CALLS; n += 1) {
      const name = `h${n % servers}`;
      try {
        const text = await called(client, `${name}_echo`, { text: `${at}-${n}` });
        if (text !== `${name}:${at}-${n}`) seen.failed.push(text);
      } catch (error) {
        seen.failed.push(String(error));
      }
      seen.calls += 1;
      // A call a second of each: a machine that is busy with them would be slow for that reason.
      await sleep(1_000);
    }
  });
  const stop = async () => {
    isDone = true;
    await Promise.all(loops);
    await Promise.all(clients.map((client) => client.close()));
  };
  return { seen, stop };
}

test("the start waits for no server that is slow or hangs, and its tools come later", async (t) => {
  const { config } = await healthy(t, 2);
  let isOpen = false;
  const waiting = [];
  const late = await loadHttp("late", "legacy", { before: (incoming, outgoing) => !isOpen && waiting.push([incoming, outgoing]) > 0 });
  t.after(() => late.close());
  const { handler, told, statusOf } = started(t, { ...config, never: faulty("hang"), late: { url: late.url } }, { start_timeout_ms: 1_000 });
  const client = await connected(handler, "legacy");
  assert.match(client.getInstructions(), /gateway: h0[^,]*, h1[^,]*, never \(starting\), late \(starting\)\.$/m);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  await names();
  assert.deepEqual([statusOf("late"), statusOf("never")], ["connecting", "connecting"]);
  await until("the servers in order", () => statusOf("h0") === "ready" && statusOf("h1") === "ready");
  const first = await names();
  assert.ok(first.includes("h0_echo") && first.includes("h1_echo") && !first.includes("late_echo"), first.join());
  assert.equal(await called(client, "h1_echo", { text: "x" }), "h1:x");
  assert.deepEqual([statusOf("late"), statusOf("never")], ["connecting", "connecting"]);
  isOpen = true;
  for (const [, outgoing] of waiting) outgoing.destroy();
  await until("the tools of the late server", async () => (await names()).includes("late_echo"));
  assert.ok(told.events.some(({ server, status, report }) => server === "late" && status === "ready" && report !== undefined));
  // Clients that connect later are told its instructions, and in the stateless era every request is.
  const later = await Promise.all(["legacy", "modern"].map((era) => connected(handler, era)));
  for (const one of later) assert.match(one.getInstructions(), /, never \(starting\), late\.\n[^]*\nlate:\n> I am late\./);
  await Promise.all([client, ...later].map((one) => one.close()));
});

test("an upstream is killed, hangs, floods, lies and changes while fifty clients work", async (t) => {
  const { config } = await healthy(t, 4);
  const fault = {};
  /** Requests that are answered when the test says so. */
  const kept = [];
  const broken = (name, era) =>
    loadHttp(name, era, {
      before: (incoming, outgoing) => {
        if (fault[name] === "reset") incoming.socket.resetAndDestroy();
        if (fault[name] === "html") outgoing.writeHead(200, { "content-type": "application/json" }).end("<html>");
        if (fault[name] === "error") outgoing.writeHead(500).end("x".repeat(2_000_000));
        if (fault[name] === "keep") kept.push(outgoing);
        return fault[name] !== undefined;
      },
    });
  const servers = await Promise.all([broken("resets", "legacy"), broken("hangs", "modern"), broken("garbles", "legacy"), broken("keeps", "legacy")]);
  // Schemas that refer to each other, and one with a great many properties.
  const cyclic = {
    type: "object",
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }] } },
  };
  const huge = {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: "string", description: "x".repeat(30) }])),
  };
  const changing = [];
  const odd = await loadHttp("odd", "legacy", {
    tools: () => [{ name: "odd_cyclic", inputSchema: cyclic }, { name: "odd_huge_echo", inputSchema: huge }, ...changing],
  });
  t.after(() => Promise.all([...servers, odd].map((server) => server.close())));
  const [resets, hangs, garbles, keeps] = servers;
  const timed = (server, timeout_ms = 1_500) => ({ ...server, timeout_ms });
  const { handler, told, statusOf, stateOf } = started(t, {
    ...config,
    killed: own("killed"),
    resets: timed({ url: resets.url }),
    hangs: timed({ url: hangs.url }),
    garbles: timed({ url: garbles.url }),
    keeps: timed({ url: keeps.url }, PATIENT_MS),
    flood: timed(faulty("huge"), PATIENT_MS),
    noisy: timed(faulty("stderr")),
    chatty: timed(faulty("chatter"), PATIENT_MS),
    garbage: timed(faulty("garbage")),
    changes: timed(faulty("changes"), PATIENT_MS),
    odd: timed({ url: odd.url }),
  });
  await handler.ready();
  const user = await connected(handler, "legacy");
  const { seen, stop } = await working(handler, 50, 4);
  t.after(stop);
  /** What a call of a faulty server comes to: a failure is told as a result or as an error. */
  const outcome = async (name, args = {}) => {
    try {
      const { isError, content } = await user.callTool({ name, arguments: args }, { timeout: 2 * PATIENT_MS });
      return { isError: isError === true, text: content.map(({ text }) => text).join() };
    } catch (error) {
      return { isError: true, text: error.message };
    }
  };
  const find = async (name) => (await user.listTools()).tools.find((tool) => tool.name === name);
  /** Calls every server in order, and makes sure that a call that began before is still open then. */
  const passes = async (open) => {
    let isOpen = true;
    void open.then(() => (isOpen = false));
    for (const at of [0, 1, 2, 3]) assert.equal(await called(user, `h${at}_echo`, { text: "passes" }), `h${at}:passes`);
    assert.ok(isOpen, "calls of other servers have waited");
  };

  const pid = Number((await outcome("killed_pid")).text);
  const open = outcome("killed_wait", { ms: 2 * PATIENT_MS });
  await sleep(200);
  await passes(open);
  process.kill(pid, "SIGKILL");
  assert.ok((await open).isError);
  assert.ok(told.events.some(({ server, status, detail }) => server === "killed" && status === "unavailable" && detail.length > 0));
  assert.ok(await find("killed_pid"), "the tools of a server that died have vanished");
  await until("the killed server is back", () => statusOf("killed") === "ready");
  assert.notEqual(Number((await outcome("killed_pid")).text), pid);

  fault.resets = "reset";
  assert.ok((await outcome("resets_echo")).isError);
  fault.garbles = "html";
  assert.ok((await outcome("garbles_echo")).isError);
  fault.garbles = "error";
  assert.ok((await outcome("garbles_echo")).text.length < 2_000);
  fault.hangs = "hang";
  const given = await outcome("hangs_echo");
  assert.ok(given.isError && given.text.includes("UPSTREAM_TIMEOUT"), given.text);
  fault.keeps = "keep";
  const open_request = outcome("keeps_echo");
  await until("the request is there", () => kept.length > 0);
  await passes(open_request);
  for (const outgoing of kept) outgoing.destroy();
  assert.ok((await open_request).isError);
  // What is tried again comes back by itself.
  for (const name of ["resets", "garbles", "hangs", "keeps"]) delete fault[name];
  for (const name of ["resets", "garbles", "hangs", "keeps"])
    await until(`${name} is back`, async () => (await outcome(`${name}_echo`, { text: "y" })).text === `${name}:y`);

  const [flood, chatty, garbage] = await Promise.all([outcome("flood__act"), outcome("chatty__act"), outcome("garbage__act"), outcome("noisy__act")]);
  assert.ok(flood.isError && /16777216|larger|too large/i.test(flood.text), flood.text);
  assert.deepEqual(chatty, { isError: false, text: "said" });
  assert.ok(garbage.isError);
  assert.ok((await stateOf("chatty")).dropped_notifications > 0);
  // What a program says comes by a pipe of its own.
  const { stderr } = await until("the noise is told", async () => {
    const state = await stateOf("noisy");
    return state.stderr?.length > 0 && state;
  });
  assert.ok(stderr.length > 0 && !stderr.join().includes("tok-5ecret"));

  for (const name of ["odd_cyclic", "odd_huge_echo"]) assert.match((await outcome(name, { a: 1 })).text, /SCHEMA_INVALID/);
  for (let n = 0; n < 300; n += 1) {
    changing.push({ name: `odd_new_${n}`, inputSchema: { type: "object" } });
    await odd.changed();
    if (n % 50 === 0) await outcome("changes__act");
  }
  await until("the last of the changed tools", async () => (await find("odd_new_299")) !== undefined, 180_000);

  await stop();
  assert.deepEqual(seen.failed.slice(0, 5), []);
  // All of it is reported.
  const lost = new Set(told.events.filter(({ status }) => status === "unavailable").map(({ server }) => server));
  for (const name of ["killed", "flood", "garbage"]) assert.ok(lost.has(name), `${name} was not reported`);
  for (const at of [0, 1, 2, 3]) assert.ok(!lost.has(`h${at}`), `h${at} was lost`);
  for (const { name, state } of await handler.servers()) if (/^h\d/.test(name)) assert.equal(state.status, "ready");
  t.diagnostic(`${seen.calls} calls of fifty clients`);
  await user.close();
});

test("a store that fails ends no call and no gateway, and leaves no program", async (t) => {
  const stored = memoryStore();
  const refuses = () => Promise.reject(new Error("no space is left"));
  const session = (id) => ({ ...stored.session(id), append: refuses, compact: refuses, putBlob: refuses });
  const { handler, told } = started(t, { own: own("own") }, { store: { ...stored, session } });
  await handler.ready();
  const client = await connected(handler, "legacy");
  await assert.rejects(handler.accept("own"), /no space is left/);
  const pid = Number(await called(client, "own_pid"));
  // More than two managers of small results hold, so that the first one leaves.
  for (let n = 0; n < 140; n += 1) assert.equal(await called(client, "own_echo", { text: String(n) }), `own:${n}`);
  assert.match(await called(client, "own_echo", { bytes: 50_000 }), /drilldown artifact:result:/);
  await handler.close();
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  assert.ok(told.errors.length > 140 && told.errors.every(({ message }) => message === "no space is left"), String(told.errors[0]));
  await client.close();
});

test("a dead server's tools are marked, and unmarked when it is back", async (t) => {
  const { all, config } = await healthy(t, 1);
  const down = { is: false };
  const other = await loadHttp("other", "legacy", { before: (incoming) => down.is && (incoming.socket.destroy(), true) });
  t.after(() => other.close());
  const { handler, told, statusOf } = started(t, { ...config, other: { url: other.url }, gone: own("gone") });
  await handler.ready();
  const client = await connected(handler, "modern");
  const find = async (name) => (await client.listTools()).tools.find((tool) => tool.name === name);
  const isMarked = ({ _meta, description }) => _meta?.["contextweaver/unavailable"] !== undefined || /unavailable now/.test(description);
  assert.ok(!isMarked(await find("gone_echo")));
  const pid = Number(await called(client, "gone_pid"));
  // It cannot be started again at once: it is killed as often as it comes.
  process.kill(pid, "SIGKILL");
  await until(
    "the mark",
    async () => isMarked(await find("gone_echo")) || told.events.some(({ server, status }) => server === "gone" && status === "unavailable"),
  );
  await until("it is back", async () => statusOf("gone") === "ready" && !isMarked(await find("gone_echo")));
  // A server that only shared the gateway with it was never in doubt.
  assert.ok(!told.events.some(({ server, status }) => server !== "gone" && status === "unavailable"));
  assert.equal(all[0].seen.calls, 0);
  await client.close();
});

test("what a client gives up, its upstream gives up, in both eras", async (t) => {
  const { all, config } = await healthy(t, 2);
  const { handler } = started(t, config);
  const clients = await Promise.all(Array.from({ length: 20 }, (_, at) => connected(handler, at % 2 === 0 ? "legacy" : "modern")));
  const stops = clients.map(() => new AbortController());
  const calls = clients.map((client, at) =>
    called(client, `h${at % 4 < 2 ? 0 : 1}_wait`, { ms: 60_000 }, { signal: stops[at].signal }).then(
      () => "done",
      () => "given up",
    ),
  );
  await until("all are under way", () => all[0].seen.calls + all[1].seen.calls === 20);
  for (const stop of stops) stop.abort();
  assert.deepEqual([...new Set(await Promise.all(calls))], ["given up"]);
  await until("the servers have heard of it", () => all[0].seen.cancelled + all[1].seen.cancelled === 20);
  await until("nothing is under way", async () => (await handler.servers()).every(({ in_flight }) => in_flight === 0));
  await Promise.all(clients.map((client) => client.close()));
});

/** A program with a gateway, which works, closes it and has to end by itself. */
const CLOSES = `
import { SDK, connected, called } from ${JSON.stringify(pathToFileURL(SELF).href)};
const { gateway } = await import(${JSON.stringify(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")).href)});
const handler = gateway({ mcpServers: JSON.parse(process.env.SERVERS), sdk: SDK, token: false, start_timeout_ms: 1_000 });
// The slowest server is not waited for; those in order are.
const names = () => handler.stats().servers.filter(({ status }) => status === "ready").length;
void handler.ready().catch(() => undefined);
while (names() < 3) await new Promise((done) => setTimeout(done, 50));
const clients = await Promise.all(Array.from({ length: 10 }, (_, at) => connected(handler, at % 2 === 0 ? "legacy" : "modern")));
for (const client of clients) for (const name of ["h0", "h1", "own"]) await called(client, name + "_echo", { text: "x" });
// Calls that are under way, one that waits for nothing, and clients that never say goodbye.
const open = clients.slice(0, 4).map((client) => called(client, "h0_wait", { ms: 3_600_000 }, { timeout: 3_600_000 }).then(() => "done", () => "given up"));
await new Promise((done) => setTimeout(done, 500));
await handler.close();
await Promise.all(clients.map((client) => client.close()));
process.stdout.write((await Promise.all(open)).join());
`;

test("after close() nothing is left, and the program ends by itself", async (t) => {
  const { all, config } = await healthy(t, 2);
  const hanging = await listening(() => undefined);
  t.after(() => hanging.close());
  const servers = { ...config, own: own("own", "modern"), hangs: { url: `${hanging.origin}/mcp` }, gone: { url: "http://127.0.0.1:9/mcp" } };
  // The calls take an hour: whoever waits for one of them is stopped here.
  const { code, stdout, stderr } = await run(process.execPath, ["--input-type=module", "-e", CLOSES], {
    cwd: here,
    env: { SERVERS: JSON.stringify(servers) },
    timeout: 120_000,
    check: false,
  });
  assert.equal(code, 0, `${code}: ${stdout} ${stderr}`);
  assert.equal(stdout, "given up,given up,given up,given up");
  await until("no session is left", () => all.every(({ seen }) => seen.sessions === 0));
});

/** Results of 50 KB into a store of 4 MiB, with MiB of the heap and of all that is resident after each tenth. */
const FILLS = `
import { SDK, connected, called } from ${JSON.stringify(pathToFileURL(SELF).href)};
const { gateway } = await import(${JSON.stringify(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")).href)});
const results = Number(process.env.RESULTS);
const handler = gateway({ mcpServers: JSON.parse(process.env.SERVERS), sdk: SDK, token: false, manager: { limits: { max_store_bytes: 2 ** 19 } } });
await handler.ready();
const clients = await Promise.all(["legacy", "modern"].map((era) => connected(handler, era)));
const memory = [];
for (let n = 1; n <= results; n += 1) {
  const text = await called(clients[n % 2], "h" + (n % 2) + "_echo", { bytes: 50_000 + n % 100 });
  if (text.length > 10_000) throw new Error("a result of " + text.length + " characters");
  if (n % (results / 10) === 0) {
    globalThis.gc();
    const { heapUsed, rss } = process.memoryUsage();
    memory.push([Math.round(heapUsed / 2 ** 20), Math.round(rss / 2 ** 20)]);
  }
}
await Promise.all(clients.map((client) => client.close()));
await handler.close();
process.stdout.write(JSON.stringify(memory) + "\\n");
`;

test("memory stays flat over large results", async (t) => {
  const { config } = await healthy(t, 2);
  const results = long ? 3_000 : 600;
  const env = { SERVERS: JSON.stringify(config), RESULTS: String(results) };
  const { stdout } = await run(process.execPath, ["--expose-gc", "--input-type=module", "-e", FILLS], { cwd: here, env, timeout: 240_000 });
  const memory = JSON.parse(stdout);
  t.diagnostic(`MiB of the heap / resident: ${memory.map((each) => each.join("/")).join(" ")}`);
  const [, , [heap, resident]] = memory;
  // 50 KB of each result would be 20 MiB of the smaller number, and twice that as text of UTF-16.
  assert.ok(Math.max(...memory.slice(3).map(([each]) => each)) - heap < 10, stdout);
  // The memory of the engine grows to what it once needed, and is used again.
  assert.ok(Math.max(...memory.slice(3).map(([, each]) => each)) - resident < 100, stdout);
});

/** Small results in their thousands, of a client that was told the handle of a large one; another's was masked, and told, too. */
const CHATTERS = `
import { SDK, connected, called } from ${JSON.stringify(pathToFileURL(SELF).href)};
const { gateway } = await import(${JSON.stringify(pathToFileURL(join(packageDir, "dist/node/mcp-server.js")).href)});
const handler = gateway({ mcpServers: JSON.parse(process.env.SERVERS), sdk: SDK, token: false });
await handler.ready();
const memory = [];
async function chat(args, results) {
  const client = await connected(handler, "legacy");
  const { _meta } = await client.callTool({ name: "h0_echo", arguments: args });
  for (let n = 1; n <= results; n += 1) {
    const text = await called(client, "h0_echo", { text: "row " + n });
    if (text !== "h0:row " + n) throw new Error("another answer: " + text);
    if (n % 500 > 0) continue;
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    memory.push((heapUsed + external) / 2 ** 20);
  }
  const read = await called(client, "drilldown", { handle: _meta["contextweaver/handle"], selector: { type: "head", chars: 100 } });
  await client.close();
  return read;
}
const read = [await chat({ text: "the key is ghp_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ" }, Number(process.env.MASKED))];
memory.length = 0;
read.push(await chat({ bytes: 50_000 }, Number(process.env.SMALL)));
await handler.close();
process.stdout.write(JSON.stringify({ memory, read }) + "\\n");
`;

test("memory stays flat over small results, and handles that were told outlive them", async (t) => {
  const { config } = await healthy(t, 1);
  // Beyond 4,000 results the manager that has the handle is full, and others fill after it.
  const env = { SERVERS: JSON.stringify(config), MASKED: long ? "4300" : "200", SMALL: long ? "3000" : "2000" };
  const { stdout } = await run(process.execPath, ["--expose-gc", "--input-type=module", "-e", CHATTERS], { cwd: here, env, timeout: 240_000 });
  const { memory, read } = JSON.parse(stdout);
  t.diagnostic(`MiB: ${memory.map((each) => each.toFixed(1)).join(" ")}`);
  assert.match(read[0], /h0:the key is/);
  assert.match(read[1], /"id":0,"city":"Lisbon"/);
  // Each result kept would be some 5 KB, 8 MiB in all.
  assert.ok(Math.max(...memory.slice(1)) - memory[0] < 5, stdout);
});
