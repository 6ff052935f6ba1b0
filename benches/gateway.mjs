// Measures the gateway: what a call through it takes beyond a direct one, what it bears, and what its front costs a model.
//
//   node benches/gateway.mjs [--package <folder of the built package>] [--calls 10000] [--only latency,load,tokens]
//                            [--sets <folder with livemcp.json>] [--profile <folder>] [--json]
//
// Client, gateway (`contextweaver gateway`) and upstream servers are three processes on this machine. Direct calls and those through
// one gateway are made in turns, so that a busy machine is as busy for both, after 2,000 calls each: a gateway runs for days, and what
// it is compiled to changes over its first thousands. `cold` is the median of its first 200. Needs the packages of tests/package.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { SELF, called, connected } from "../tests/package/gateway-load.mjs";
import { catalog } from "./synthetic-tools.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: process.env.CONTEXTWEAVER_PACKAGE ?? join(home, "pkg") },
    calls: { type: "string", default: "10000" },
    only: { type: "string", default: "latency,load,tokens" },
    sets: { type: "string", default: join(home, "../shared/bench/routing") },
    eras: { type: "string", default: "legacy,modern" },
    profile: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const installed = resolve(args.package);
const PROGRAM = join(installed, "bin/contextweaver.js");
const dependency = (path) => import(pathToFileURL(join(home, "tests/package/node_modules", path)));
const { StdioClientTransport } = await dependency("@modelcontextprotocol/client/dist/stdio.mjs");

const COLD = 200;
const WARM = 2_000;
const ROUNDS = 1_000;
const CLIENTS = 50;
const SERVERS = 20;
const RESULTS = {};

const say = (text) => process.stderr.write(`${text}\n`);
const part = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const figures = (list) => ({ p50: part(list, 0.5), p99: part(list, 0.99) });
const ms = (value) => Number(value.toFixed(2));

/** What a profiled gateway is started with. */
const profiling = () => (args.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(args.profile)}`, "--cpu-prof-interval=200"]);

async function firstLine(child, fits) {
  for await (const line of createInterface({ input: child.stdout })) if (fits.test(line)) return line;
  throw new Error("a program has ended before it was ready");
}

/** A program of its own, ended by `end`. */
function program(command) {
  const child = spawn(process.execPath, command, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((done) => child.once("close", done));
  const end = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(timer);
  };
  return { child, end };
}

async function upstreams(era, count) {
  const { child, end } = program([SELF, "http", era, String(count)]);
  return { urls: JSON.parse(await firstLine(child, /^\[/)), end };
}

let port = 18_400;
/** `contextweaver gateway` over HTTP. */
async function served(folder, mcpServers, more = []) {
  const config = join(folder, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers }));
  const { child, end } = program([
    ...profiling(),
    PROGRAM,
    "gateway",
    "--config",
    config,
    "--http",
    "--port",
    String((port += 1)),
    "--mode",
    "firewall",
    ...more,
  ]);
  await firstLine(child, /^listening/);
  return { url: `http://127.0.0.1:${port}/mcp`, child, end };
}

/** Milliseconds that a process has computed; those of the kernel for it, too. */
function computed(pid) {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** Calls made in turns, direct and through the gateway of this process. */
async function inTurns(direct, through, pid) {
  const [cold, ...times] = [[], [], []];
  let before = 0;
  for (let round = -WARM; round < ROUNDS; round += 1) {
    if (round === 0) before = computed(pid);
    for (const [at, client] of [direct, through].entries()) {
      const began = performance.now();
      const text = await called(client, "s0_echo", { text: `${round}` });
      if (text !== `s0:${round}`) throw new Error(`another answer: ${text}`);
      const took = performance.now() - began;
      if (round >= 0) times[at].push(took);
      else if (at === 1 && round < COLD - WARM) cold.push(took);
    }
  }
  const [one, other] = times.map(figures);
  return { cold: figures(cold).p50, direct: one, through: other, cpu: (computed(pid) - before) / ROUNDS };
}

async function overHttp(folder, era, more) {
  const up = await upstreams(era, 1);
  const gateway = await served(folder, { s0: { url: up.urls[0] } }, more);
  try {
    const clients = [await connected(up.urls[0], era), await connected(gateway.url, era)];
    const measured = await inTurns(...clients, gateway.child.pid);
    for (const client of clients) await client.close();
    return measured;
  } finally {
    await Promise.all([up, gateway].map(({ end }) => end()));
  }
}

async function overStdio(folder, era, more) {
  const config = join(folder, `stdio-${era}.json`);
  await writeFile(config, JSON.stringify({ mcpServers: { s0: { command: process.execPath, args: [SELF, "stdio", era] } } }));
  const commands = [
    [SELF, "stdio", era],
    [...profiling(), PROGRAM, "gateway", "--config", config, "--mode", "firewall", ...more],
  ];
  const clients = [];
  try {
    for (const command of commands)
      clients.push(await connected(new StdioClientTransport({ command: process.execPath, args: command, stderr: "ignore" }), era));
    return await inTurns(...clients, clients[1].transport.pid);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function latency(folder) {
  const table = [];
  for (const [transport, run] of [
    ["Streamable HTTP", overHttp],
    ["stdio", overStdio],
  ]) {
    for (const era of ["legacy", "modern"]) {
      for (const store of [false, true]) {
        const { cold, direct, through, cpu } = await run(folder, era, store ? ["--store", join(folder, `store-${transport.slice(0, 5)}-${era}`)] : []);
        const row = {
          "direct p50": direct.p50,
          p50: through.p50,
          "added p50": through.p50 - direct.p50,
          "direct p99": direct.p99,
          p99: through.p99,
          "added p99": through.p99 - direct.p99,
          "cold p50": cold,
          "CPU of the gateway": cpu,
        };
        table.push({ transport, era, store, ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, ms(value)])) });
      }
    }
  }
  return table;
}

const resident = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const openFiles = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** Many clients call many servers, each its next as soon as the last was answered. */
async function load(folder, era) {
  const up = await upstreams(era, SERVERS);
  const gateway = await served(folder, Object.fromEntries(up.urls.map((url, at) => [`s${at}`, { url }])));
  const { pid } = gateway.child;
  const calls = Number(args.calls);
  try {
    const first = await connected(gateway.url, era);
    await first.listTools();
    const before = openFiles(pid);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connected(gateway.url, era)));
    const times = [];
    const memory = [];
    let [next, failed] = [0, 0];
    const [began, computedBefore] = [performance.now(), computed(pid)];
    await Promise.all(
      clients.map(async (client) => {
        for (let n = (next += 1); n <= calls; n = next += 1) {
          const server = `s${n % SERVERS}`;
          const asked = performance.now();
          const text = await called(client, `${server}_echo`, { text: `${n}` });
          times.push(performance.now() - asked);
          if (text.startsWith('{"error"')) failed += 1;
          else if (text !== `${server}:${n}`) throw new Error(`another answer: ${text}`);
          if (n % Math.ceil(calls / 10) === 0) memory.push(Math.round(resident(pid)));
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const cpu = (computed(pid) - computedBefore) / calls;
    await Promise.all(
      clients.map(async (client) => {
        await client.transport.terminateSession?.().catch(() => undefined);
        await client.close();
      }),
    );
    // Connections that are kept for the next request end after some seconds.
    await new Promise((done) => setTimeout(done, 8_000));
    const after = openFiles(pid);
    await first.close();
    const { p50, p99 } = figures(times);
    return {
      era,
      calls,
      failed,
      "calls a second": Math.round(calls / seconds),
      "p50, ms": ms(p50),
      "p99, ms": ms(p99),
      "CPU of the gateway a call, ms": ms(cpu),
      "MiB, each tenth": memory.join(" "),
      "files before, after": `${before}, ${after}`,
    };
  } finally {
    await Promise.all([up, gateway].map(({ end }) => end()));
  }
}

function toolsOf527() {
  const file = join(resolve(args.sets), "livemcp.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")).items;
  say("SKIPPED: livemcp.json is not here; the catalog is synthetic");
  return catalog(527);
}

/** What the lists and the answers of search mode cost, by the estimator of the package and by o200k. */
async function tokens(folder) {
  const { countTokens } = await import(pathToFileURL(join(installed, "dist/node/index.js")));
  const { encode } = await dependency("gpt-tokenizer/esm/encoding/o200k_base.js");
  const items = toolsOf527();
  const tools = items.map(({ name, description, args_schema, namespace }) => ({
    name: name.slice(0, 64),
    description,
    inputSchema: { type: "object", ...args_schema },
    server: namespace,
  }));
  const file = join(folder, "tools.json");
  await writeFile(file, JSON.stringify(tools));
  const { loadHttp } = await import("../tests/package/gateway-load.mjs");
  const upstream = await loadHttp("all", "legacy", { tools: () => JSON.parse(readFileSync(file, "utf8")).map(({ server: _, ...tool }) => tool) });
  const gateway = await served(folder, { all: { url: upstream.url } }, ["--mode", "search"]);
  const cost = (value) => ({ heuristic: countTokens(value), o200k: encode(value).length });
  try {
    const client = await connected(gateway.url, "legacy");
    const direct = await connected(upstream.url, "legacy");
    const listed = await client.listTools();
    const rows = [
      { what: `tools/list of ${tools.length} tools, direct`, ...cost(JSON.stringify((await direct.listTools()).tools)) },
      { what: "tools/list in search mode", ...cost(JSON.stringify(listed.tools)) },
    ];
    const name = listed.tools.find((tool) => tool.name.startsWith("search"))?.name;
    const answers = [];
    const queries = items.filter((_, at) => at % 10 === 0).map(({ description }) => description.split(/[.\n]/)[0].slice(0, 80));
    for (const query of queries) answers.push(cost(await called(client, name, { query })));
    for (const [label, share] of [
      ["median", 0.5],
      ["largest", 1],
    ])
      rows.push({
        what: `${answers.length} answers of ${name}, ${label}`,
        heuristic: part(
          answers.map(({ heuristic }) => heuristic),
          share,
        ),
        o200k: part(
          answers.map(({ o200k }) => o200k),
          share,
        ),
      });
    await Promise.all([client.close(), direct.close()]);
    return rows;
  } finally {
    await Promise.all([gateway.end(), upstream.close()]);
  }
}

const folder = await mkdtemp(join(tmpdir(), "contextweaver-bench-"));
const wanted = args.only.split(",");
try {
  if (wanted.includes("latency")) RESULTS["A small call, direct and through the gateway, ms"] = await latency(folder);
  if (wanted.includes("load")) {
    const rows = [];
    for (const era of args.eras.split(",")) rows.push(await load(folder, era));
    RESULTS[`${CLIENTS} clients, ${SERVERS} servers`] = rows;
  }
  if (wanted.includes("tokens")) RESULTS["Tokens of the front"] = await tokens(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (args.json) console.log(JSON.stringify(RESULTS, undefined, 2));
else {
  for (const [title, table] of Object.entries(RESULTS)) {
    console.log(title);
    console.table(table);
  }
}
