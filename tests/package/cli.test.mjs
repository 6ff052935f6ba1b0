// The command line program of the installed package.
import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after } from "node:test";
import { expected, project, root, run } from "./harness.mjs";
import { session } from "./behaviour.mjs";

const LINES = session().map((item) => JSON.stringify(item));
const LOG = Array.from({ length: 400 }, (_, i) => `2026-01-01T00:00:${i % 60} INFO order ${10_000 + i} packed in ${i * 3} ms`);
const EVIL = "\u001b]52;c;aGk=\u0007 \u009b31m \r \b \u202eabc \u200b \u{e0041}";
/** Writes a snapshot with the installed package. */
const SNAPSHOT = `
import { writeFileSync } from "node:fs";
import { ContextManager } from "contextweaver";
const [log, evil] = ${JSON.stringify([LOG.join("\n"), EVIL])};
const manager = new ContextManager();
manager.ingestToolResult({ tool_call_id: "c1", tool_name: "log", raw_output: log });
manager.ingestToolResult({ tool_call_id: "c2", tool_name: "pay", raw_output: "4,200", sensitivity: "restricted" });
const lines = Array.from({ length: 12 }, (_, i) => "it's line " + i + evil);
manager.artifacts.put({ handle: "it's " + evil, content: JSON.stringify({ lines, [evil]: 1 }), media_type: "application/json" + evil });
writeFileSync("snapshot.json", JSON.stringify(manager));
`;
const folder = await project("cli", {
  "mcp.json": `{"mcpServers": {"shop": {"url": "http://127.0.0.1:9/mcp"}}}`,
  "session.jsonl": `\ufeff${LINES.join("\r\n")}\n\n`,
  "snapshot.mjs": SNAPSHOT,
});
await run("node", ["snapshot.mjs"], { cwd: folder });
const TOOLS = {
  "tools.json": [
    { id: "orders.list", kind: "tool", name: "list_orders", description: "Lists the orders of a customer", namespace: "orders" },
    { id: "orders.cancel", kind: "tool", name: "cancel_order", description: "Cancels an order", namespace: "orders", tags: ["destructive"] },
    { id: "mail.send", kind: "tool", name: "send_mail", description: "Sends a mail to a customer", namespace: "mail" },
    { id: "orders.list", kind: "tool", name: "twice", description: "Has the id of another" },
    { id: "x", kind: "nonsense", name: "x", description: "x" },
  ],
  "next.json": {
    items: [
      {
        id: "orders.list",
        kind: "tool",
        name: "list_orders",
        description: "Lists the orders of a customer",
        namespace: "orders",
        args_schema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      },
      { id: "mail.send", kind: "tool", name: "send_mail", description: "Sends a mail to one customer", namespace: "mail" },
      { id: "mail.read", kind: "tool", name: "read_mail", description: "Reads the mail of a customer", namespace: "mail" },
    ],
  },
  "hostile.json": {
    tools: [
      { name: `name ${EVIL}`, description: `order ${EVIL}`, inputSchema: { type: "object" } },
      { name: `order ${EVIL}`, description: "order the things", inputSchema: { type: "object", required: [EVIL] } },
      { [EVIL]: 1 },
    ],
  },
};
const REQUEST = {
  model: "m",
  system: "Be brief.",
  messages: [
    { role: "user", content: "Where is order 7?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "tool_use", id: "t1", name: "get_order", input: { id: 7 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "packed" }] },
  ],
};
const RESULT = {
  content: [
    { type: "text", text: "word ".repeat(400) },
    { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
    { type: "audio", data: "!!", mimeType: "audio/exe" },
    { type: `x ${EVIL}`, sent: 1 },
  ],
};
const CONVERTED = {
  "listed.json": {
    jsonrpc: "2.0",
    id: 1,
    result: {
      tools: [{ name: "get_order", description: "Reads an order", inputSchema: { type: "object", properties: { id: { type: "integer", not: {} } } } }, {}],
    },
  },
  "result.json": RESULT,
  "request.json": REQUEST,
  "definitions.json": [
    { name: "get_order", description: "Reads an order", schema: { id: { type: "number" } }, category: "read" },
    { name: `get order ${EVIL}`, description: "x", schema: {} },
    { name: "pay", description: "Pays", schema: { type: "object" }, category: EVIL, [EVIL]: 1 },
  ],
};
for (const [name, json] of Object.entries({ ...TOOLS, ...CONVERTED })) await writeFile(join(folder, name), JSON.stringify(json));
await cp(join(root, "examples/catalogs/git.json"), join(folder, "git.json"));
await cp(join(root, "examples/catalogs/memory.json"), join(folder, "memory.json"));
const program = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
// A third of such a short run is V8 optimising it.
const start = (args, options = {}) => run("node", ["--liftoff-only", program, ...args], { cwd: folder, check: false, ...options });

/** Runs one command after the other in one process, as the program would each in its own. */
const HOST = `
import { Readable } from "node:stream";
import { main } from "./node_modules/contextweaver/dist/node/cli.js";
const streams = { stdout: process.stdout.write, stderr: process.stderr.write };
process.stdout.setMaxListeners(0);
process.on("message", async ({ args, input, env }) => {
  const said = { stdout: "", stderr: "" };
  for (const name of Object.keys(said)) process[name].write = (text) => (said[name] += text) !== "";
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
  const kept = { ...process.env };
  Object.assign(process.env, env);
  let code = 1;
  try {
    code = await main(args);
  } catch (error) {
    said.stderr += error.stack;
  }
  process.env = kept;
  for (const name of Object.keys(said)) process[name].write = streams[name];
  process.send({ code, ...said });
});
`;
await writeFile(join(folder, "host.mjs"), HOST);
const host = fork(join(folder, "host.mjs"), { cwd: folder, execArgv: [], env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" } });
after(() => host.disconnect());
const ended = once(host, "exit").then(([code]) => ({ code, stdout: "", stderr: "the host ended" }));
const cli = async (args, { input, env } = {}) => {
  const answered = once(host, "message").then(([said]) => said);
  host.send({ args, input, env });
  return Promise.race([answered, ended]);
};
const build = (args, options) => cli(["build", "session.jsonl", ...args], options);

test("build prints the prompt, the budget and what was dropped", async () => {
  const { code, stdout, stderr } = await build(["--phase", "answer", "--query", "overdue", "--budget", "90"]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  assert.match(stdout, /^\[POLICY\]/);
  assert.match(stdout, /Budget {2}\d+ of 90 tokens \(\d+ %\), \d+ free\n\[[a-z·]{60}\]/);
  assert.match(stdout, /^s1 +user_turn +sensitivity +sensitivity +\d+$/m);
  assert.doesNotMatch(stdout, /payroll|\u001b/);
});

test("--json prints the pack, and --explain what became of every item", async () => {
  const { stdout } = await build(["--json", "--explain", "--tag", "x", "--pin", "u1", "--header", "H", "--footer", "F"]);
  const pack = JSON.parse(stdout);
  assert.equal(pack.explanation.candidates.length, pack.stats.total_candidates);
  assert.ok(pack.prompt.endsWith("F"));
  assert.match((await build(["--explain"])).stdout, /^Candidates$[^]*^s1 .*- sensitivity/m);
  // One prompt is no loop: it has all of its budget, and no step.
  assert.ok(!("running" in pack) && !("prefix" in pack));
});

test("standard input is read with -", async () => {
  const { code, stdout } = await start(["build", "-", "--json"], { input: LINES.join("\n") });
  assert.equal(code, 0);
  assert.equal(stdout, (await build(["--json"])).stdout);
  assert.equal((await start(["build", "-"], { input: "" })).code, 0, "an empty session");
});

// Most tests run commands in one process; each of these is started, too, and says the same.
const STARTED = [
  ["build", "session.jsonl", "--budget", "90"],
  ["build", "session.jsonl", "--budget", "2"],
  ["build", "session.jsonl", "--budget", "much"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--lines", "3:5"],
  ["drilldown", "snapshot.json", "artifact:result:c2", "--head", "3"],
  ["recall", "snapshot.json", "nothing of the kind"],
  ["route", "git.json", "memory.json", "show the commit log"],
  ["lint", "tools.json", "hostile.json"],
  ["diff", "tools.json", "next.json", "--check"],
  ["convert", "messages", "request.json", "--from", "anthropic", "--to", "items"],
  ["decisions", "tools"],
  ["route", "--help"],
  ["bild"],
];
for (const args of STARTED) {
  test(`started: ${args.join(" ")}`, async () => {
    assert.deepEqual(await start(args), await cli(args));
  });
}

test("colours only where they are wanted", async () => {
  const colourful = async (args, env) => (await build(args, { env })).stdout.includes("\u001b[");
  assert.equal(await colourful([], { NO_COLOR: "" }), false, "into a pipe");
  assert.equal(await colourful(["--color=always"], {}), true);
  assert.equal(await colourful(["--color", "never"], { NO_COLOR: "" }), false);
});

const BAD_INPUT = {
  "not JSON": [
    '{"id":"a","kind":"policy","text":"x"}\n\n{nope sk-secret}\n',
    /^contextweaver: standard input:3(:\d+)?: DECODE_FAILED: the line is not valid JSON\n$/,
  ],
  "a bad kind": ['\n{"id":"a","kind":"x\\u001b[31m","text":"x"}', /^contextweaver: standard input:2: INVALID_INPUT at \/kind: .*\\u\{1b\}/],
  "a missing text": ['{"id":"a","kind":"policy"}', /input:1: MISSING_FIELD at \/text/],
  "the same id twice": ['{"id":"a","kind":"policy","text":"x"}\n{"id":"a","kind":"policy","text":"x"}', /input:2: DUPLICATE_ID/],
  "no object": ["[]", /input:1: INVALID_INPUT/],
  "too deep": ["[".repeat(1e5) + "]".repeat(1e5), /input:1: TOO_DEEP/],
  "many problems": ["{\n".repeat(50), /\nand 40 more\n$/],
};
for (const [name, [input, message]] of Object.entries(BAD_INPUT)) {
  test(`bad input: ${name}`, async () => {
    const { code, stdout, stderr } = await cli(["build", "-"], { input });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /sk-secret|\u001b|\n {4}at /);
  });
}

test("bytes that are no text, and files that are not there", async () => {
  await writeFile(join(folder, "binary"), new Uint8Array([0x7b, 0xff, 0xfe]));
  assert.match((await cli(["build", "binary"])).stderr, /binary is not UTF-8 text/);
  assert.match((await cli(["build", "nowhere"])).stderr, /cannot read nowhere: ENOENT/);
  assert.equal((await cli(["build", "."])).code, 2);
});

const BAD_USAGE = [
  [],
  ["bild"],
  ["build"],
  ["build", "a", "b"],
  ["build", "--nope"],
  ["build", "session.jsonl", "--session", "x"],
  ["build", "session.jsonl", "--budget", "much"],
  ["build", "session.jsonl", "--budget"],
  ["build", "session.jsonl", "--color", "red"],
  ["build", "session.jsonl", "--phase", "dance"],
  ["build", "session.jsonl", "--pin", "nobody"],
  ["build", "session.jsonl", "--profile", "quick"],
  ["demo", "--json"],
  ["toString"],
  ["build", "session.jsonl", "--lines", "1:2"],
  ["drilldown"],
  ["drilldown", "session.jsonl"],
  ["recall", "snapshot.json"],
  ["recall", "snapshot.json", "two", "words"],
  ["recall", "session.jsonl", "words"],
  ["recall", "snapshot.json", "words", "--max-tokens", "few"],
  ["drilldown", "snapshot.json", "a", "b"],
  ["drilldown", "snapshot.json", "--head", "3"],
  ["drilldown", "snapshot.json", "--max-tokens", "3"],
  ["drilldown", "snapshot.json", "nobody", "--head", "3"],
  ["drilldown", "snapshot.json", "nobody"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--phase", "route"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--head", "3", "--lines", "1:2"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--head=-3"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--lines", "3"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--rows", ":"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--max-tokens", "few", "--head", "3"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--selector", "{sk-secret"],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--selector", '{"type":"middle"}'],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--selector", '{"type":"head","x":1}'],
  ["drilldown", "snapshot.json", "artifact:result:c1", "--path", "a"],
  ["route"],
  ["route", "git.json"],
  ["route", "-", "-", "x"],
  ["route", "--query", "x"],
  ["route", "nowhere.json", "x"],
  ["route", "git.json", "x", "--top", "few"],
  ["route", "git.json", "x", "--top", "0"],
  ["route", "git.json", "x", "--pin", "nobody"],
  ["route", "git.json", "x", "--exclude", "nobody"],
  ["route", "git.json", "x", "--check"],
  ["lint"],
  ["lint", "git.json", "--top", "3"],
  ["lint", "git.json", "--pin", "--pinned", "git.json"],
  ["lint", "git.json", "--pinned", "session.jsonl"],
  ["lint", "git.json", "--pinned", "tools.json"],
  ["diff", "git.json"],
  ["diff", "-", "-"],
  ["diff", "git.json", "git.json", "git.json"],
  ["convert"],
  ["convert", "tools"],
  ["convert", "toString", "listed.json"],
  ["convert", "tools", "listed.json", "listed.json"],
  ["convert", "tools", "listed.json", "--tool", "x"],
  ["convert", "tools", "listed.json", "--to", "mcp"],
  ["convert", "tools", "listed.json", "--id-form", "x"],
  ["convert", "tools", "next.json", "--server", "shop"],
  ["convert", "result", "result.json"],
  ["convert", "result", "result.json", "--tool", "x", "--artifacts", "git.json"],
  ["convert", "messages", "request.json", "--from", "anthropic"],
  ["convert", "messages", "request.json", "--from", "anthropic", "--to", "smoke"],
  ["convert", "messages", "session.jsonl", "--from", "items", "--to", "items"],
  ["convert", "messages", "listed.json", "--from", "anthropic", "--to", "items"],
  ["convert", "definition", "definitions.json", "--to", "anthropic"],
  ["convert", "session", "session.jsonl", "--to", "items"],
  ["decisions"],
  ["decisions", "ready"],
  ["decisions", "ready", "{}", "more", "--store", "none.json"],
  ["decisions", "ready", "{sk-secret", "--store", "none.json"],
  ["decisions", "ready", "--store", "git.json"],
  ["decisions", "ready", "--store", "nowhere/none.json"],
  ["decisions", "frobnicate", "--store", "none.json"],
  ["decisions", "query_decisions", "{}", "--store", "none.json"],
  ["decisions", "ready", "--store", "none.json", "--guardrails", "session.jsonl"],
  ["decisions", "ready", "--store", "none.json", "--top", "3"],
  ["decisions", "serve", "{}", "--store", "none.json"],
  ["gateway"],
  ["gateway", "doctor"],
  ["gateway", "heal", "--config", "mcp.json"],
  ["gateway", "--config", "none.json"],
  ["gateway", "--config", "mcp.json", "--mode", "browse"],
  ["gateway", "--config", "mcp.json", "--port", "1"],
  ["gateway", "accept", "shop", "--config", "mcp.json"],
  ["gateway", "--config", "session.jsonl"],
  // A store where no folder can be made; below /proc it seems to be missing forever.
  ...(process.platform === "linux" ? ["git.json", "git.json/store", "/proc/contextweaver/store"] : ["git.json", "git.json/store"]).flatMap((store) => [
    ["mcp", "--store", store],
    ["serve", "--store", store],
    ["gateway", "--config", "mcp.json", "--store", store],
  ]),
];
for (const args of BAD_USAGE) {
  test(`bad usage: ${args.join(" ") || "nothing"}`, async () => {
    const { code, stdout, stderr } = await cli(args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^contextweaver: \S/);
    assert.doesNotMatch(stderr, /\n {4}at |sk-secret/);
  });
}

const drilldown = (args, options) => cli(["drilldown", "snapshot.json", ...args], options);

test("drilldown lists artifacts and their views", async () => {
  const { code, stdout, stderr } = await drilldown([]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^handle +media type +views +bytes\n/);
  assert.match(stdout, /^artifact:result:c1 +text\/plain +\d+ +21557$/m);
  assert.match(stdout, /^artifact:result:c2 +text\/plain +withheld +5$/m);
  const all = JSON.parse((await drilldown(["--json"])).stdout);
  assert.deepEqual(
    all.map(({ handle }) => handle),
    ["artifact:result:c1", "artifact:result:c2", `it's ${EVIL}`],
  );
  assert.equal(all[1].views, null);
  const one = await drilldown(["artifact:result:c1"]);
  for (const { label } of all[0].views) assert.ok(one.stdout.includes(label), label);
  assert.deepEqual(JSON.parse((await drilldown(["artifact:result:c1", "--json"])).stdout), all[0].views);
  assert.ok((await drilldown(["--views"])).stdout.includes(`artifact:result:c1\n${one.stdout}`), "the same below the handle");
  const input = await readFile(join(folder, "snapshot.json"), "utf8");
  assert.equal((await cli(["drilldown", "-"], { input })).stdout, stdout);
  assert.equal((await cli(["drilldown", "-"], { input: '{"schema_version":1,"event_log":{"items":[]}}' })).code, 0);
});

test("recall finds what a snapshot holds, and says where", async () => {
  const recall = (args) => cli(["recall", "snapshot.json", ...args]);
  const { code, stdout, stderr } = await recall([LOG[333]]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^\[TOOL RESULT \[artifact:result:c1 chars \d+-\d+ of 21557\]\]\n/);
  assert.ok(stdout.includes(LOG[333]), stdout);
  assert.match(stdout, /\n\(\d+ places?, \d+ tokens\)\n$/);
  const found = JSON.parse((await recall([LOG[333], "--json", "--max-tokens", "80"])).stdout);
  assert.ok(found.tokens <= 80 && found.excerpts[0].text.includes(LOG[333]), JSON.stringify(found));
  assert.equal((await recall(["zebra"])).stdout, "(nothing was found)\n");
});

const SLICES = {
  "--lines 3:5": [`${LOG.slice(3, 5).join("\n")}\n(lines 3-4 of 400, 37 tokens)\n`],
  "--lines=-1:": [`${LOG[399]}\n(lines 399 of 400, 20 tokens)\n`],
  "--rows :1": [`${LOG[0]}\n(lines 0 of 400, `],
  "--search 10333": [`\n333:${LOG[333]}\n`, "(1 hit, "],
  "--search nowhere": ["(no hits, 0 tokens)\n"],
  "--search 1039": ["(all 10 hits, "],
  '--selector {"type":"search","text":"1039","start":3,"end":5}': ["(hits 4 to 5 of 10, "],
  '--selector {"type":"search","text":"1039","start":9}': ["(hit 10 of 10, "],
  "--lines -2:": [`${LOG.slice(398).join("\n")}\n(lines 398-399 of 400, `],
  "--head 10": ["2026-01-01\n(chars 0-9 of 21557, "],
  '--selector {"type":"tail","chars":7}': ["1197 ms\n(chars 21550-21556 of 21557, "],
  "--lines 1: --max-tokens 25": [`${LOG[1]}\n(lines 1 of 400, `, `; cut, go on with --selector '{"type":"lines","start":2}')\n`],
};
for (const [args, parts] of Object.entries(SLICES)) {
  test(`drilldown ${args}`, async () => {
    const { code, stdout, stderr } = await drilldown(["artifact:result:c1", ...args.split(" ")]);
    assert.deepEqual([code, stderr], [0, ""]);
    for (const part of parts) assert.ok(stdout.includes(part), stdout);
  });
}

test("drilldown says how to go on, in a shell's words", async () => {
  const handle = `it's ${EVIL}`;
  const { stdout } = await drilldown([handle, "--selector", `{"type":"search","text":"it's"}`, "--max-tokens", "120"]);
  const [, next] = /go on with --selector ('.*')\)\n$/.exec(stdout) ?? [];
  assert.ok(next, stdout);
  const { stdout: rest } = await run("sh", ["-c", `node "$0" drilldown snapshot.json "$1" --json --selector ${next}`, program, handle], { cwd: folder });
  const slice = JSON.parse(rest);
  assert.deepEqual([slice.selector.text, slice.start > 0, slice.truncated], ["it's", true, false]);
  assert.equal((await drilldown([handle, "--path", "lines[1]"])).code, 0);
});

test("drilldown refuses what the policy withholds, and what is no snapshot", async () => {
  const withheld = await drilldown(["artifact:result:c2", "--head", "3"]);
  assert.deepEqual([withheld.code, withheld.stdout], [1, ""]);
  assert.match(withheld.stderr, /POLICY_VIOLATION/);
  for (const input of ["{sk-secret", "[]", '{"schema_version":99}', "[".repeat(1e5), '{"event_log":{"items":[{"id":1}]}}']) {
    const { code, stdout, stderr } = await cli(["drilldown", "-"], { input });
    assert.deepEqual([code, stdout], [2, ""], input.slice(0, 50));
    assert.match(stderr, /^contextweaver: standard input is no snapshot: [A-Z_]+/);
    assert.doesNotMatch(stderr, /sk-secret|\n {4}at /);
  }
});

test("what a snapshot holds cannot steer the terminal either", async () => {
  // eslint-disable-next-line no-control-regex
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u{e0000}-\u{e007f}]/u;
  const handle = `it's ${EVIL}`;
  const all = [[], ["--views"], ["--json"], [handle], [handle, "--head", "99"], [handle, "--head", "99", "--json"], [`no ${EVIL}`], [handle, "--path", EVIL]];
  for (const args of all) {
    const { stdout, stderr } = await drilldown(args);
    assert.doesNotMatch(stdout + stderr, control, args.join(" "));
  }
});

const QUERY = "cancel the order";

test("route ranks tools, and says what they were found by", async () => {
  const { code, stdout, stderr } = await cli(["route", "tools.json", QUERY, "--top", "2"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Query {2}cancel the order\nTools {2}3\n\n# +score +tool +namespace +safety +matched +description\n/);
  assert.match(stdout, /^1 +\d+\.\d\d +orders\.cancel +orders +destructive +cancel, order, cancel order +Cancels an order$/m);
  assert.match(stdout, /^2 +\d+\.\d\d +orders\.list +orders +order +Lists/m);
  assert.match(stdout, /^Cards {2}\d+ tokens for 2 of 2 tools$/m);
  assert.doesNotMatch(stdout, /mail\.send|\u001b/);
  const lines = stderr.split("\n");
  assert.match(lines[0], /^contextweaver: tools\.json: left out orders\.list: duplicate-id: /);
  assert.match(lines[1], /^contextweaver: tools\.json: left out x: tool-invalid: /);
  assert.deepEqual(lines.slice(2), [""]);
  assert.equal((await cli(["route", "tools.json", "--top=2", "-q", QUERY])).stdout, stdout);
  const input = JSON.stringify(TOOLS["tools.json"]);
  assert.equal((await cli(["route", "-", QUERY, "--top", "2"], { input })).stdout, stdout);
});

test("route takes what an MCP server answered, in every form, and several servers by the names of their files", async () => {
  const ids = async (args, options) => JSON.parse((await cli(["route", ...args, "--json"], options)).stdout).candidate_ids;
  const { tools } = JSON.parse(await readFile(join(folder, "git.json"), "utf8"));
  const one = await ids(["git.json", "show the commit log"]);
  assert.equal(one[0], "mcp:git_log");
  for (const form of [tools, { tools }, { jsonrpc: "2.0", id: 1, result: { tools } }]) {
    assert.deepEqual(await ids(["-", "show the commit log"], { input: JSON.stringify(form) }), one);
  }
  const both = ["git.json", "memory.json", "tools.json"];
  assert.equal((await ids([...both, "show the commit log"]))[0], "mcp:git/git_log");
  assert.equal((await ids([...both, "search the nodes of the graph"]))[0], "mcp:memory/search_nodes");
  assert.equal((await ids([...both, QUERY, "--namespace", "orders"]))[0], "orders.cancel");
  const { stderr } = await cli(["route", "git.json", "./git.json", "log"]);
  assert.match(stderr, /^contextweaver: \.\/git\.json: left out mcp:git\/git_\w+: duplicate-id[^]*\ncontextweaver: and 18 more\n$/);
});

test("route's options", async () => {
  const json = async (...args) => JSON.parse((await cli(["route", "git.json", "show the commit log", "--json", ...args])).stdout);
  const all = await json();
  assert.equal(all.candidate_ids.length, 10);
  assert.equal(all.trace.extra.matches, undefined);
  assert.equal((await json("--debug")).trace.extra.matches.length, 10);
  assert.ok(!(await json("--exclude", "mcp:git_log")).candidate_ids.includes("mcp:git_log"));
  assert.equal((await json("--pin", "mcp:git_push")).candidate_ids[0], "mcp:git_push");
  assert.ok((await json("--budget", "60")).cards.tokens <= 60);
  assert.ok((await json("--explain")).explanation.candidates.length === 10);
  const text = async (...args) => (await cli(["route", "git.json", "show the commit log", ...args])).stdout;
  assert.match(await text("--budget", "90"), /^Cards {2}\d+ tokens for \d of 10 tools.*\n\[1\/\d\] mcp:git_log \(tool/m);
  assert.match(await text("--debug"), /^mcp:git_log {2}\d+\.\d\d, covers \d+ %\n {2}term +origin +found in +score\n {2}log +word +name \d/m);
  assert.match(await text("--explain"), /^### Routing explanation for query `show the commit log`/);
});

test("route says when it is unsure, and when nothing fits", async () => {
  const twins = ["read_mail", "read_post"].map((name) => ({ name, description: "Reads the letters of a customer", inputSchema: { type: "object" } }));
  const unsure = await cli(["route", "-", "read a letter"], { input: JSON.stringify(twins) });
  assert.match(unsure.stdout, /^Ambiguous {2}.*\?$/m);
  const nothing = await cli(["route", "tools.json", "brew a coffee"]);
  assert.deepEqual([nothing.code, nothing.stdout.split("\n").length], [0, 5]);
  assert.match(nothing.stdout, /^Nothing fits {2}/m);
  const pinned = await cli(["route", "tools.json", "brew a coffee", "--pin", "mail.send"]);
  assert.match(pinned.stdout, /^1 +0\.00 +mail\.send[^]*^Nothing fits/m);
  const none = await cli(["route", "tools.json", QUERY, "--namespace", "nowhere"]);
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.match(none.stderr, /NO_CANDIDATES/);
});

test("lint finds what is wrong with tools, and what is not as it was pinned", async () => {
  const bad = await cli(["lint", "tools.json", "hostile.json"]);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /^Tools {2}5; errors \d+/);
  assert.match(bad.stdout, /^severity +code +tool +path +finding\nerror /m);
  assert.match(bad.stdout, /^error +tool-invalid +hostile\.json: 3 /m);
  const findings = JSON.parse((await cli(["lint", "tools.json", "--json"])).stdout);
  assert.deepEqual(
    findings.slice(0, 2).map(({ code, file, index }) => [code, file, index]),
    [
      ["duplicate-id", "tools.json", 3],
      ["tool-invalid", "tools.json", 4],
    ],
  );
  assert.deepEqual(await cli(["lint", "git.json"]), { code: 0, stdout: "Tools  28; nothing found\n", stderr: "" });

  const pins = await cli(["--color", "never", "lint", "next.json", "--pin"]);
  assert.deepEqual(Object.keys(JSON.parse(pins.stdout)), ["mail.read", "mail.send", "orders.list"]);
  await writeFile(join(folder, "pins.json"), pins.stdout);
  const same = await cli(["lint", "next.json", "--pinned", "pins.json", "--json"]);
  assert.ok(!JSON.parse(same.stdout).some(({ code }) => code.startsWith("pin-")));
  const changed = await cli(["lint", "tools.json", "--pinned", "pins.json", "--json"]);
  const found = JSON.parse(changed.stdout).filter(({ code }) => code.startsWith("pin-"));
  assert.deepEqual(found.map(({ code, item_id: id }) => [code, id]).sort(), [
    ["pin-changed", "mail.send"],
    ["pin-changed", "orders.list"],
    ["pin-missing", "mail.read"],
    ["pin-new", "orders.cancel"],
  ]);
});

test("diff says what changed, the worst first", async () => {
  const { code, stdout } = await cli(["diff", "tools.json", "next.json"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Tools {2}1 added, 1 removed, 2 changed \(1 breaking, 1 documentation\)\nchange +tool +path +effect\nremoved +orders\.cancel\nbreaking +orders\.list +\/args_schema/,
  );
  assert.match(stdout, /^added +mail\.read$/m);
  const json = await cli(["diff", "tools.json", "next.json", "--json", "--check"]);
  assert.equal(json.code, 1);
  assert.deepEqual([JSON.parse(json.stdout).added, JSON.parse(json.stdout).removed], [["mail.read"], ["orders.cancel"]]);
  assert.deepEqual(await cli(["diff", "git.json", "git.json", "--check"]), { code: 0, stdout: "no changes\n", stderr: "" });
});

test("what a list of tools holds cannot steer the terminal, nor can what is no list", async () => {
  // eslint-disable-next-line no-control-regex
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u{e0000}-\u{e007f}]/u;
  const hostile = [[], ["--json"], ["--debug", "--budget", "500"], ["--explain"], ["--pin", EVIL]];
  const all = [
    ...hostile.map((args) => ["route", "hostile.json", `order ${EVIL}`, ...args]),
    ...[[], ["--json"], ["--pin"]].map((args) => ["lint", "hostile.json", ...args]),
    ...[[], ["--json"]].map((args) => ["diff", "hostile.json", "next.json", ...args]),
    ["diff", "next.json", "hostile.json"],
  ];
  for (const args of all) {
    const { stdout, stderr } = await cli(args);
    assert.ok(stdout + stderr !== "", args.join(" "));
    assert.doesNotMatch(stdout + stderr, control, args.join(" "));
  }
  for (const input of ["{sk-secret", "5", "null", '{"tools":5}', '{"items":5}', '{"error":{"code":1}}', "[".repeat(1e5) + "]".repeat(1e5)]) {
    for (const command of [
      ["route", "-", "x"],
      ["lint", "-"],
      ["diff", "-", "git.json"],
    ]) {
      const { code, stdout, stderr } = await cli(command, { input });
      assert.deepEqual([code, stdout], [2, ""], `${command[0]} ${input.slice(0, 50)}`);
      assert.match(stderr, /^contextweaver: standard input (is not valid JSON|has no list of tools: ([A-Z_]+|it is null))/);
      assert.doesNotMatch(stderr, /sk-secret|\n {4}at /);
    }
  }
});

test("convert makes a catalog or definitions of what a server answered to tools/list", async () => {
  const left = "contextweaver: listed.json: left out tool 2: tool-invalid: the tool has no name (MISSING_FIELD)\n";
  const { code, stdout, stderr } = await cli(["convert", "tools", "listed.json", "--server", "shop", "--json"]);
  assert.deepEqual([code, stderr], [0, left]);
  const [tool, ...others] = JSON.parse(stdout).items;
  assert.deepEqual([tool.id, tool.namespace, others], ["mcp:shop/get_order", "shop", []]);
  const canonical = await cli(["convert", "tools", "-", "--id-form", "canonical"], { input: JSON.stringify(CONVERTED["listed.json"]) });
  assert.match(JSON.parse(canonical.stdout).items[0].id, /^mcp:get_order#[0-9a-f]{8}$/);
  const gemini = await cli(["convert", "tools", "listed.json", "--to", "gemini"]);
  assert.deepEqual(JSON.parse(gemini.stdout)[0].parameters.properties, { id: { type: "integer" } });
  assert.match(gemini.stderr, /^contextweaver: listed\.json: not removed at mcp:get_order \/properties\/id: /m);
  await writeFile(join(folder, "made.json"), stdout);
  const [definition] = JSON.parse((await cli(["convert", "tools", "made.json", "--to", "anthropic"])).stdout);
  assert.deepEqual([definition.name, definition.input_schema.type], ["get_order", "object"]);
});

test("a media type names the ending of a file whatever its case and its parameters", async () => {
  const content = ["image/PNG; x=y", "image/png ;x", "Image/Png"].map((mimeType) => ({ type: "image", data: "aGVsbG8=", mimeType }));
  const { code, stderr } = await cli(["convert", "result", "-", "--tool", "t", "--artifacts", "typed"], { input: JSON.stringify({ content }) });
  assert.equal(code, 0, stderr);
  assert.equal((await readdir(join(folder, "typed"))).filter((name) => name.endsWith(".png")).length, 3);
});

test("convert makes an envelope of a result, and files that replace none", async () => {
  const args = ["convert", "result", "result.json", "--tool", `../../${EVIL}shop`];
  const { code, stdout, stderr } = await cli(args);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).artifacts.length, 3);
  assert.match(stderr, /^contextweaver: result\.json: decode-error at \/content\/2\/data: /m);
  assert.match(stderr, /^contextweaver: artifacts \(3\) and the whole text are written with --artifacts <folder>$/m);
  const parts = join(folder, "parts", "of it");
  for (const files of [4, 8]) {
    const saved = await cli([...args, "--artifacts", join("parts", "of it")]);
    assert.equal(saved.stdout, stdout);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(saved.stdout + saved.stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u{e0041}]/u);
    const names = await readdir(parts);
    assert.equal(names.length, files);
    for (const name of names) assert.match(name, /^mcp-[\w-]+(\.2)?\.(png|txt|json)$/);
    const image = names.find((name) => name.endsWith(files === 4 ? "image-1.png" : "image-1.2.png"));
    assert.equal(await readFile(join(parts, image), "utf8"), "hello");
    assert.equal(
      await readFile(
        join(
          parts,
          names.find((name) => name.endsWith("full_text.txt")),
        ),
        "utf8",
      ),
      RESULT.content[0].text,
    );
  }
  const short = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "done" }] } };
  const whole = await cli(["convert", "result", "-", "--tool", "t"], { input: JSON.stringify(short) });
  assert.deepEqual([whole.stderr, JSON.parse(whole.stdout).summary], ["", "done"]);
});

test("convert makes messages of one provider those of another, and items", async () => {
  const messages = (from, to, more = [], options = {}) => cli(["convert", "messages", ...more, "--from", from, "--to", to], options);
  const chat = await messages("anthropic", "openai-chat", ["request.json"]);
  assert.equal(chat.code, 0);
  assert.deepEqual(
    JSON.parse(chat.stdout).map(({ role }) => role),
    ["system", "user", "assistant", "tool"],
  );
  assert.match(chat.stderr, /^contextweaver: request\.json: only messages are converted; left out: model\n/);
  assert.match(chat.stderr, /^contextweaver: request\.json: OPAQUE_LEFT_OUT at t1: /m, "the reasoning stays behind");
  const gemini = JSON.parse((await messages("openai-chat", "gemini", ["-"], { input: chat.stdout })).stdout);
  assert.deepEqual(gemini.system, { parts: [{ text: "Be brief." }] });
  assert.equal((await messages("gemini", "openai-chat", ["-"], { input: JSON.stringify(gemini) })).code, 0, "what it wrote itself");
  const items = await messages("anthropic", "items", ["request.json"]);
  assert.deepEqual(
    items.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind),
    ["policy", "user_turn", "tool_call", "tool_result"],
  );
  assert.equal((await cli(["build", "-"], { input: items.stdout })).code, 0, "a session");
  const back = await messages("items", "anthropic", ["-"], { input: items.stdout });
  assert.deepEqual([JSON.parse(back.stdout), back.stderr], [{ system: REQUEST.system, messages: REQUEST.messages }, ""]);
  assert.ok(Array.isArray(JSON.parse((await messages("anthropic", "items", ["request.json", "--json"])).stdout)));
});

test("convert makes tools of MCP of definitions", async () => {
  const all = await cli(["convert", "definition", "definitions.json", "--to", "mcp"]);
  assert.equal(all.code, 1, "one is left out");
  const { tools } = JSON.parse(all.stdout);
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["get_order", "pay"],
  );
  assert.equal(tools[0].annotations.readOnlyHint, true);
  assert.match(all.stderr, /^contextweaver: definitions\.json: left out definition 2: INVALID_INPUT at \/1\/name: /);
  assert.match(all.stderr, /^contextweaver: definitions\.json: unknown_category at \/2\/category: /m);
  const [definition] = CONVERTED["definitions.json"];
  const one = await cli(["convert", "definition", "-"], { input: JSON.stringify(definition) });
  assert.deepEqual([one.code, JSON.parse(one.stdout), one.stderr], [0, tools[0], ""]);
  const listed = await cli(["convert", "tools", "-", "--to", "anthropic"], { input: all.stdout });
  assert.equal(JSON.parse(listed.stdout).length, 2, "what is printed is what a server answers");
});

test("convert reads a recorded session of MCP", async () => {
  const lines = '{"id":"a","type":"user_turn","text":"x"}\n\n{"id":"b","type":"agent_msg","text":"y","parent_id":"a"}\n';
  const { code, stdout, stderr } = await cli(["convert", "session", "-"], { input: lines });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(
    JSON.parse(stdout).map(({ id, kind }) => [id, kind]),
    [
      ["a", "user_turn"],
      ["b", "agent_msg"],
    ],
  );
  const bad = await cli(["convert", "session", "-"], { input: `${lines}{sk-secret\n{"id":"a","text":"x"}\n` });
  assert.deepEqual([bad.code, bad.stdout], [2, ""]);
  assert.match(bad.stderr, /^contextweaver: standard input:4: DECODE_FAILED: .*\nstandard input:5: MISSING_FIELD at \/type: /);
  assert.doesNotMatch(bad.stderr, /sk-secret/);
  assert.match((await cli(["convert", "session", "-"], { input: "{\n".repeat(50) })).stderr, /\nand 40 more\n$/);
});

test("what is converted cannot steer the terminal", async () => {
  // eslint-disable-next-line no-control-regex
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u{e0000}-\u{e007f}]/u;
  const request = {
    [EVIL]: 1,
    messages: [
      { role: "user", content: EVIL },
      {
        role: "assistant",
        content: [
          { type: EVIL, [EVIL]: 1 },
          { type: "tool_use", id: EVIL, name: EVIL, input: { [EVIL]: 1 } },
        ],
      },
    ],
  };
  await writeFile(join(folder, "evil.json"), JSON.stringify(request));
  const all = [
    ...[[], ["--to", "gemini"], ["--server", EVIL], ["--to", EVIL]].map((args) => ["tools", "hostile.json", ...args]),
    ...["openai-chat", "gemini", "ai-sdk-ui", "items"].map((to) => ["messages", "evil.json", "--from", "anthropic", "--to", to]),
    ["result", "evil.json", "--tool", EVIL],
    ["session", "evil.json"],
    ["definition", "definitions.json"],
  ];
  for (const args of all) {
    const { stdout, stderr } = await cli(["convert", ...args]);
    assert.ok(stdout + stderr !== "", args.join(" "));
    assert.doesNotMatch(stdout + stderr, control, args.join(" "));
  }
});

const NOT_CONVERTED = {
  "messages - --from anthropic --to gemini": [
    "{sk-secret",
    "5",
    "null",
    "{}",
    '{"messages":5}',
    "[5]",
    '{"contents":[],"input":[]}',
    "[".repeat(1e5) + "]".repeat(1e5),
  ],
  "messages - --from items --to gemini": ["{sk-secret", "5", '{"id":"a"}', '{"id":"a","kind":"\\u001b","text":"x"}'],
  "result - --tool x": ["{sk-secret", "5", "null", "[]", '{"jsonrpc":"2.0","error":{}}'],
  "definition -": ["{sk-secret", "5", "null", "{}", '{"name":"a b","description":"x","schema":{}}', '{"a":'.repeat(1e5) + "1" + "}".repeat(1e5)],
  "tools -": ["{sk-secret", "5", "null", '{"tools":5}'],
  "session -": ["{sk-secret", "5", "null", "[".repeat(1e5) + "]".repeat(1e5)],
};
for (const [args, inputs] of Object.entries(NOT_CONVERTED)) {
  test(`not converted: ${args}`, async () => {
    for (const input of inputs) {
      const { code, stdout, stderr } = await cli(["convert", ...args.split(" ")], { input });
      assert.deepEqual([code, stdout], [2, ""], input.slice(0, 50));
      assert.match(stderr, /^contextweaver: standard input\S? ?\S/);
      assert.doesNotMatch(stderr, /sk-secret|\u001b|\n {4}at /);
    }
  });
}

test("a budget that cannot be kept is exit code 1", async () => {
  const { code, stderr } = await build(["--budget", "2"]);
  assert.equal(code, 1);
  assert.match(stderr, /BUDGET_EXCEEDED/);
});

test("decisions are kept in a file, written as a whole", async () => {
  const decide = (tool, args, more = [], options = {}) =>
    start(["decisions", tool, ...(args === undefined ? [] : [JSON.stringify(args)]), "--store", "decided.json", ...more], options);
  await writeFile(join(folder, "rules.json"), JSON.stringify([{ id: "floor", condition_stakes: "high", condition_confidence: "< 0.5", action: "block" }]));
  assert.match((await start(["decisions", "tools"])).stdout, /^pre_action +Before acting$/m);
  assert.equal(JSON.parse((await start(["decisions", "tools", "--json"])).stdout).length, 15);
  const logged = await decide("log_decision", { decision: `Use PostgreSQL ${EVIL}`, confidence: 0.8, category: "architecture" }, ["--agent", "a1"]);
  assert.deepEqual([logged.code, logged.stderr], [0, ""]);
  const { id } = JSON.parse(logged.stdout);
  const found = await decide("query_decisions", { query: "postgresql" });
  assert.equal(JSON.parse(found.stdout).decisions[0].id, id);
  assert.ok(!/[\u007f-\u009f\u202e\u001b]/.test(found.stdout));
  assert.equal((await decide("review_outcome", { id, outcome: "success" })).code, 0);
  const stored = JSON.parse(await readFile(join(folder, "decided.json"), "utf8"));
  assert.deepEqual([stored.format, stored.decisions.length, stored.decisions[0].recorded_by], ["cstp-snapshot", 1, "a1"]);
  const before = await readFile(join(folder, "decided.json"), "utf8");
  const blocked = await decide("pre_action", { action: { description: "x", stakes: "high", confidence: 0.1 } }, ["--guardrails", "rules.json"]);
  assert.deepEqual([blocked.code, JSON.parse(blocked.stdout).allowed], [1, false]);
  assert.equal((await decide("get_decision", { id: "none" })).code, 1);
  const wrong = await decide("query_decisions", {});
  assert.deepEqual([wrong.code, wrong.stdout, wrong.stderr], [2, "", "contextweaver: validation_error: query: required\n"]);
  assert.equal(JSON.parse(await readFile(join(folder, "decided.json"), "utf8")).decisions.length, JSON.parse(before).decisions.length);
  const markdown = await decide("get_session_context", { task_description: "database" });
  assert.match(markdown.stdout, /^## CSTP Decision Context/);
  assert.ok(JSON.parse((await decide("get_session_context", {}, ["--json"])).stdout).markdown);
  assert.equal((await decide("ready")).code, 0);
  assert.equal((await start(["decisions", "ready", "-", "--store", "decided.json"], { input: "{}" })).code, 0);

  await writeFile(join(folder, "decided.json.lock"), `${process.pid}\n`);
  const busy = await decide("ready", {});
  assert.equal(busy.code, 2);
  assert.match(busy.stderr, /in use by process \d+/);
  // A process that was killed leaves its lock behind.
  await writeFile(join(folder, "decided.json.lock"), "999999999\n");
  assert.equal((await decide("ready", {})).code, 0);
  const left = (await readdir(folder)).filter((name) => name.startsWith("decided.json"));
  assert.deepEqual(left, ["decided.json"]);
});

test("decisions are served on standard input and output", async () => {
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } } },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "log_decision", arguments: { decision: "Serve it \ud83d", confidence: 0.9, category: "tooling" } },
    },
  ];
  const input = `${messages.map((message) => JSON.stringify(message)).join("\n")}\n{\n`;
  const { code, stdout, stderr } = await start(["decisions", "serve", "--store", "served.json"], { input });
  assert.deepEqual([code, stderr], [0, ""]);
  const [first, second, third, ...others] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual([first.result.serverInfo.name, second.result.structuredContent.success, third.error.code, others], ["cstp-decisions", true, -32700, []]);
  assert.equal(JSON.parse(await readFile(join(folder, "served.json"), "utf8")).decisions[0].decision, "Serve it \ufffd");
});

test("gateway doctor says what is wrong with a configuration, and keeps its secrets", async () => {
  const told = async (config) => {
    await writeFile(join(folder, "mcp.json"), JSON.stringify(config));
    return cli(["gateway", "doctor", "--config", "mcp.json"]);
  };
  const unset = await told({ mcpServers: { shop: { url: "http://127.0.0.1:9/mcp", headers: { authorization: "Bearer ${SHOP_TOKEN_THAT_IS_NOT_SET}" } } } });
  assert.equal(unset.code, 1);
  assert.match(unset.stdout, /error mcp\.json \/mcpServers\/shop\/headers\/authorization: .*SHOP_TOKEN_THAT_IS_NOT_SET[^]*:-default/);
  const gone = await told({
    mcpServers: {
      shop: { url: "http://127.0.0.1:9/mcp", headers: { authorization: "Bearer sk-secret-0123456789" } },
      files: { command: "no-such-program-anywhere" },
    },
  });
  assert.equal(gone.code, 1);
  assert.match(gone.stdout, /shop/);
  assert.match(gone.stdout, /files[^]*no such program/);
  assert.doesNotMatch(gone.stdout + gone.stderr, /sk-secret/);
});

test("what is not understood is said in our words, with what may be meant", async () => {
  const told = {
    "bild session.jsonl": "unknown command 'bild'; did you mean 'build'?",
    frobnicate: "unknown command 'frobnicate'",
    "bild --help": "unknown command 'bild'; did you mean 'build'?",
    "build session.jsonl --buget 5": "unknown option '--buget'; did you mean '--budget'?",
    "build session.jsonl --frobnicate": "unknown option '--frobnicate'",
    "build session.jsonl -z": "unknown option '-z'",
    "build session.jsonl --head 3": "'build' has no option '--head'; did you mean '--header'?",
    "build session.jsonl --budget -5": "--budget is a whole number of tokens from 0 to 16777216, not '-5'",
    "build session.jsonl -b -5": "--budget is a whole number of tokens from 0 to 16777216, not '-5'",
    "build session.jsonl --budget=1e3": "--budget is a whole number of tokens from 0 to 16777216, not '1e3'",
    "build session.jsonl --budget 99999999": "--budget is a whole number of tokens from 0 to 16777216, not '99999999'",
    "build session.jsonl --budget": "--budget is a whole number of tokens from 0 to 16777216, and none was given",
    "build session.jsonl --budget --json": "--budget is a whole number of tokens from 0 to 16777216, and none was given",
    "route git.json x --top -1": "--top is a whole number of tools from 1 to 10000, not '-1'",
    "route git.json x --top 0": "--top is a whole number of tools from 1 to 10000, not '0'",
    "drilldown snapshot.json artifact:result:c1 --head -3": "--head is a whole number of characters from 0 to 2147482646, not '-3'",
    "drilldown snapshot.json artifact:result:c1 --head 3 --max-tokens -1": "--max-tokens is a whole number of tokens from 0 to 16777216, not '-1'",
    "build session.jsonl --query": "--query needs a value",
    "build session.jsonl --json=yes": "--json takes no value",
  };
  for (const [args, message] of Object.entries(told)) {
    const { code, stdout, stderr } = await cli(args.split(" "));
    assert.deepEqual([code, stdout, stderr.split("\n")[0]], [2, "", `contextweaver: ${message}`], args);
  }
});

test("a file of something else is named, with the command that makes items of it", async () => {
  const recorded = '{"id":"a","type":"user_turn","text":"x"}\n{"id":"b","type":"agent_msg","text":"y","parent_id":"a"}\n';
  const chat = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ];
  const files = {
    "recorded.jsonl": [recorded, "the entries of a recorded session", "session 'recorded.jsonl'"],
    "chat.json": [JSON.stringify(chat, null, 2), "chat messages", "messages 'chat.json' --from openai-chat --to items"],
    "chat.jsonl": [chat.map((message) => JSON.stringify(message)).join("\n"), "chat messages", "messages 'chat.jsonl' --from openai-chat --to items"],
    "it's.json": [JSON.stringify(REQUEST), "chat messages", "messages 'it'\\''s.json' --from anthropic --to items"],
    "gemini.json": [JSON.stringify([{ role: "user", parts: [{ text: "hello" }] }]), "chat messages", "messages 'gemini.json' --from gemini --to items"],
    "ui.json": [
      JSON.stringify([{ id: "1", role: "user", parts: [{ type: "text", text: "hello" }] }]),
      "chat messages",
      "messages 'ui.json' --from ai-sdk-ui --to items",
    ],
    "responses.json": [
      JSON.stringify({ input: [{ role: "user", content: "hello" }] }),
      "chat messages",
      "messages 'responses.json' --from openai-responses --to items",
    ],
  };
  for (const [name, [text, what, how]] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    const { code, stdout, stderr } = await cli(["build", name]);
    const command = `contextweaver convert ${how} | contextweaver build -`;
    assert.deepEqual([code, stdout, stderr], [2, "", `contextweaver: ${name} has ${what}, and build takes items; make items of them first:\n  ${command}\n`]);
    const ours = command.replaceAll("contextweaver ", `node '${program}' `);
    const piped = await run("sh", ["-c", ours], { cwd: folder });
    assert.match(piped.stdout, /^\[USER\]/m, `${name}: the command does it`);
  }
  const piped = await cli(["build", "-"], { input: '{"role":"user","content":"hello"}' });
  assert.match(piped.stderr, /^contextweaver: standard input has chat messages, .*\n {2}contextweaver convert messages - --from/);
  // What is of no kind that is known is told by its line, as ever.
  assert.match((await cli(["build", "-"], { input: '{"id":"a","text":"x"}' })).stderr, /^contextweaver: standard input:1: MISSING_FIELD at \/kind/);
});

/** What each command takes, as the program itself knows it. */
const OF_COMMAND = Object.fromEntries(
  [
    ...(await readFile(join(root, "pkg-template/src/cli/options.ts"), "utf8"))
      .split("const OF_COMMAND")[1]
      .split("};")[0]
      .matchAll(/^ {2}(\w+): "(.*)",$/gm),
  ].map(([, name, options]) => [name, options.split(" ")]),
);

test("help fits a screen, begins with examples, and has every option", async () => {
  const fits = (text, about) => {
    const lines = text.trimEnd().split("\n");
    assert.ok(lines.length <= 24, `${about}: ${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 80, `${about}: ${line}`);
    return lines;
  };
  const all = (await cli(["--help"])).stdout;
  fits(all, "--help");
  assert.ok(Object.keys(OF_COMMAND).length > 15);
  for (const [command, options] of Object.entries(OF_COMMAND)) {
    assert.match(all, new RegExp(`\\b${command}\\b`));
    const { code, stdout, stderr } = await cli([command, "--help"]);
    assert.deepEqual([code, stderr], [0, ""]);
    const [title, empty, example] = fits(stdout, command);
    assert.ok(title.startsWith(`contextweaver ${command}: `) && empty === "" && example.startsWith(`  contextweaver ${command}`), stdout);
    for (const option of [...options, "color"]) assert.match(stdout, new RegExp(`--${option}\\b`), `${command} --${option}`);
    for (const [, option] of stdout.replace(/^ {2}contextweaver .*$/gm, "").matchAll(/--([\w-]+)/g))
      assert.ok([...options, "color", "json"].includes(option), `${command} has no --${option}`);
    assert.match(stdout, /Exit codes/);
    assert.equal((await cli(["-h", command])).stdout, stdout);
  }
});

test("--help and --version", async () => {
  assert.match((await cli(["--help"])).stdout, /^contextweaver keeps[^]*npx contextweaver init/);
  assert.equal((await cli(["--version"])).stdout, `${expected.version}\n`);
  assert.equal((await build(["--help"])).code, 0);
});

test("what a session holds cannot steer the terminal", async () => {
  const evil = "\u001b]52;c;aGk=\u0007 \u009b31m \r\b \u202eabc \u200b \u{e0041}";
  const item = { id: `i${evil}`, kind: "user_turn", text: evil, sensitivity: "public" };
  const dropped = { ...item, id: `d${evil}`, sensitivity: "restricted", metadata: { section: evil } };
  const input = [dropped, item].map((line) => JSON.stringify(line)).join("\n");
  // eslint-disable-next-line no-control-regex
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u{e0000}-\u{e007f}]/u;
  for (const args of [[], ["--explain"], ["--json", "--explain"], ["--phase", EVIL], ["--pin", EVIL]]) {
    const { stdout, stderr } = await cli(["build", "-", ...args], { input });
    assert.doesNotMatch(stdout + stderr, control, args.join(" "));
  }
  const pack = JSON.parse((await cli(["build", "-", "--json"], { input })).stdout);
  assert.equal(pack.stats.dropped_items[0].item_id, dropped.id, "the JSON is the same after parsing");
});

test("a reader that goes away is no failure", async () => {
  const big = Array.from({ length: 3000 }, (_, i) => JSON.stringify({ id: `${i}`, kind: "agent_msg", text: `line ${i} `.repeat(20) }));
  await writeFile(join(folder, "big.jsonl"), big.join("\n"));
  const child = spawn("node", [program, "build", "big.jsonl", "--budget", "200000"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (data) => (stderr += data));
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((done) => child.on("close", done));
  assert.deepEqual([code, stderr], [0, ""]);
});

test("demo shows the four phases", async () => {
  const { code, stdout, stderr } = await cli(["demo"]);
  assert.equal(code, 0, stderr);
  for (const phase of ["route", "call", "interpret", "answer"]) assert.match(stdout, new RegExp(`── ${phase} ─`));
  assert.match(stdout, /Query: \w/);
  assert.match(stdout, /and \d+ more/);
  const own = await cli(["demo", "--session", "session.jsonl"]);
  assert.match(own.stdout, /A recorded session of 7 items/);
  assert.doesNotMatch(own.stdout, /a large result/, "it has none");
});

test("demo shows a digest, and a detail that is not in it", async () => {
  const { stdout } = await cli(["demo"]);
  const [, part] = /── a large result ([^]*)── tools /.exec(stdout);
  const [digest, found] = part.split("Not in it: ");
  assert.match(digest, /\(\d+ of \d+ tokens; drilldown artifact:\S+ \{.*\}\)/);
  const [detail, command] = found.split("\n");
  assert.match(command, /^drilldown artifact:\S+ \{"type":"search"/);
  assert.ok(!digest.includes(detail) && found.slice(detail.length).includes(detail), detail);
  assert.ok(stdout.split("\n").length < 215, "all of it fits on a few screens");
  const rows = Array.from({ length: 300 }, (_, i) => `row ${i}: ${"x".repeat(i % 9)}`).join("\n");
  await writeFile(join(folder, "large.jsonl"), JSON.stringify({ id: "r", kind: "tool_result", text: rows }));
  const own = await cli(["demo", "--session", "large.jsonl"]);
  assert.match(own.stdout, /What the digest leaves out:\ndrilldown artifact:result:r \{/);
});

test("demo chooses tools out of many", async () => {
  const [, part] = (await cli(["demo"])).stdout.split("── tools ");
  assert.match(part, /^232 tools of 12 servers; all their schemas are \d{5} tokens\.$/m);
  const queries = part.split("Query: ").slice(1);
  const [clear, unsure, related, nothing] = queries;
  assert.match(clear, /^1 +\S+ +mcp:supabase\/list_tables/m);
  assert.match(clear, /^Cards of \d{2,3} tokens; with their schemas these tools are \d{3,4} instead of \d{5}\n│ \[1\/3\] mcp:supabase/m);
  assert.match(unsure, /^Ambiguous {2}Did you mean 'chrome-devtools', 'playwright'\?/m);
  assert.match(related, /^1 +\S+ +mcp:filesystem\/move_file .* file, move, directori/m);
  assert.match(nothing, /^Nothing fits {2}/m);
  assert.match(nothing, /\[GOAL\][^]*\[AVAILABLE TOOLS\]\n│ \[1\/3\] mcp:/);
  const own = await cli(["demo", "--session", "session.jsonl"]);
  assert.match(own.stdout, /── tools ─/);
  assert.doesNotMatch(own.stdout, /AVAILABLE TOOLS/, "there is no query");
});
