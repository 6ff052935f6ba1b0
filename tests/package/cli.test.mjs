// The command line program of the installed package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { expected, project, run } from "./harness.mjs";
import { session } from "./behaviour.mjs";

const LINES = session().map((item) => JSON.stringify(item));
const folder = await project("cli", { "session.jsonl": `\ufeff${LINES.join("\r\n")}\n\n` });
const program = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
const cli = (args, options = {}) => run("node", [program, ...args], { cwd: folder, check: false, ...options });
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
  assert.equal(JSON.parse((await build(["--json", "--append"])).stdout).prefix.reason, "first");
  assert.equal(JSON.parse((await build(["--json", "--compat", "0.18"])).stdout).items, undefined);
});

test("standard input is read with -", async () => {
  const { code, stdout } = await cli(["build", "-", "--json"], { input: LINES.join("\n") });
  assert.equal(code, 0);
  assert.equal(stdout, (await build(["--json"])).stdout);
  assert.equal((await cli(["build", "-"], { input: "" })).code, 0, "an empty session");
});

test("colours only where they are wanted", async () => {
  const colourful = async (args, env) => (await build(args, { env })).stdout.includes("\u001b[");
  assert.equal(await colourful([], { NO_COLOR: "" }), false, "into a pipe");
  assert.equal(await colourful(["--color=always"], {}), true);
  assert.equal(await colourful(["--color", "never"], { NO_COLOR: "" }), false);
});

const BAD_INPUT = {
  "not JSON": ['{"id":"a","kind":"policy","text":"x"}\n\n{nope sk-secret}\n', /^contextweaver: standard input:3(:\d+)?: DECODE_FAILED: the line is not valid JSON\n$/],
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
];
for (const args of BAD_USAGE) {
  test(`bad usage: ${args.join(" ") || "nothing"}`, async () => {
    const { code, stdout, stderr } = await cli(args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^contextweaver: \S/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });
}

test("a budget that cannot be kept is exit code 1", async () => {
  const { code, stderr } = await build(["--budget", "2"]);
  assert.equal(code, 1);
  assert.match(stderr, /BUDGET_EXCEEDED/);
});

test("--help and --version", async () => {
  assert.match((await cli(["--help"])).stdout, /^contextweaver compiles[^]*--budget <tokens>/);
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
  for (const args of [[], ["--explain"], ["--json", "--explain"], ["--phase", evil], ["--pin", evil]]) {
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
  assert.ok(stdout.split("\n").length < 150, "it fits on a few screens");
  const own = await cli(["demo", "--session", "session.jsonl"]);
  assert.match(own.stdout, /A recorded session of 7 items/);
});
