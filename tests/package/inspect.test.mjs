// `contextweaver inspect`: the page of the installed package with a file of the caller's in it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { project, root, run } from "./harness.mjs";
import { prepare, shows, until } from "./page.mjs";

const SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456";
const HOSTILE = "<img src=x onerror='top.pwned=1'>\u202e\u001b[31m";
const ITEMS = [
  { id: "u1", kind: "user_turn", text: `Which order failed? ${SECRET}` },
  { id: `c1${HOSTILE}`, kind: "tool_call", text: HOSTILE },
  { id: "s1", kind: "user_turn", text: "the payroll", sensitivity: "restricted" },
];
const MESSAGES = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Where is order 7?" },
];
const folder = await project("inspect", {
  "session.jsonl": ITEMS.map((item) => JSON.stringify(item)).join("\n"),
  "messages.json": JSON.stringify({ messages: MESSAGES }),
  "snapshot.mjs": `import { ContextManager } from "contextweaver"; const m = new ContextManager(); m.ingestAll(${JSON.stringify(ITEMS)}); console.log(JSON.stringify(m));`,
  "binary.jsonl": "",
  "empty.jsonl": "",
  "blank.jsonl": "\n \n",
  "broken.json": '{"messages": [{"role": "user", "content": "Where is order',
  "server.jsonl": `{"level":"info","msg":"listening","token":"${SECRET}"}\n{"level":"info","msg":"stopped"}\n`,
  "words.txt": "Dear diary, today I read a log.\n",
});
await writeFile(join(folder, "snapshot.json"), (await run("node", ["snapshot.mjs"], { cwd: folder })).stdout);
await writeFile(join(folder, "binary.jsonl"), Buffer.from([0xff, 0xfe, 0x00]));
const program = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");

/** Starts the program; returns where it listens. */
async function inspect(t, args, { env = {}, input } = {}) {
  const child = spawn("node", [program, "inspect", ...args], { cwd: folder, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } });
  t.after(() => child.kill());
  if (input !== undefined) child.stdin.end(input);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const [, address] = /at (http:\S+) until/.exec(await until(async () => said, /until you stop|contextweaver: /)) ?? assert.fail(said);
  return { child, address };
}

/** One request as a program may write it: `fetch` would not send such headers and paths. */
function ask(address, path, { method = "GET", ...headers } = {}) {
  const { hostname, port } = new URL(address);
  return new Promise((done, fail) => {
    const asked = request({ hostname, port, path, method, headers }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    asked.on("error", fail).end();
  });
}

test("inspect serves to who knows the path, on this machine, under its own name", async (t) => {
  const { address } = await inspect(t, ["session.jsonl", "--no-open"]);
  const { hostname, port, pathname } = new URL(address);
  assert.equal(hostname, "127.0.0.1");
  assert.match(pathname, /^\/[0-9a-f]{32}\/$/);
  const page = await ask(address, pathname);
  assert.equal(page.status, 200);
  assert.match(page.headers["content-security-policy"], /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'.*frame-ancestors 'none'$/);
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assert.equal(page.headers["cache-control"], "no-store");
  assert.match(page.body.toString(), /<meta name="contextweaver-file" content="session\.jsonl" \/>/);
  assert.deepEqual((await ask(address, `${pathname}file`)).body, await readFile(join(folder, "session.jsonl")));
  assert.equal((await ask(address, `${pathname}file`, { method: "HEAD" })).body.length, 0);
  for (const name of [
    "page.js",
    "worker.js",
    "agent_bg.wasm",
    "gateway_bg.wasm",
    "LICENSES.txt",
    "samples/shop.jsonl",
    "samples/shop.meta.json",
    "samples/catalogs/git.json",
    "samples/poisoned.json",
    "samples/decisions.json",
  ]) {
    assert.equal((await ask(address, pathname + name)).status, 200, name);
  }
  const other = `/${"0".repeat(32)}/`;
  for (const path of ["/", "/file", other, `${other}file`, pathname.slice(0, -1), `${pathname.slice(0, -2)}/file`, `/x${pathname}`, "/favicon.ico"]) {
    assert.equal((await ask(address, path)).status, 404, path);
  }
  for (const name of [
    "../package.json",
    "%2e%2e/package.json",
    "samples/../../package.json",
    "samples/catalogs/../../../package.json",
    ".hidden.txt",
    "samples",
    "..%5cpackage.json",
    "/etc/hosts.txt",
    "a.wasm",
    "nope.js",
  ]) {
    assert.equal((await ask(address, pathname + name)).status, 404, name);
  }
  for (const headers of [
    { host: "evil.example" },
    { host: `evil.example:${port}` },
    { host: `127.0.0.1.evil.example:${port}` },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
  ]) {
    assert.equal((await ask(address, `${pathname}file`, headers)).status, 404, JSON.stringify(headers));
  }
  assert.equal((await ask(address, `${pathname}file`, { host: `localhost:${port}`, origin: `http://localhost:${port}` })).status, 200);
  for (const method of ["POST", "PUT", "OPTIONS", "DELETE"]) assert.equal((await ask(address, pathname, { method })).status, 405, method);
  const beyond = Object.values(networkInterfaces())
    .flat()
    .find(({ family, internal }) => family === "IPv4" && !internal);
  if (!beyond) return;
  const socket = connect({ host: beyond.address, port });
  const reached = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  assert.equal(reached, false, "it listens beyond this machine");
});

test("inspect has another path each time, and ends with the program", async (t) => {
  const [first, second] = await Promise.all([inspect(t, ["session.jsonl", "--no-open"]), inspect(t, ["session.jsonl", "--no-open"])]);
  assert.notEqual(new URL(first.address).pathname, new URL(second.address).pathname);
  first.child.kill("SIGINT");
  await once(first.child, "exit");
  await assert.rejects(ask(first.address, "/"), /ECONNREFUSED/);
});

test("inspect opens a browser, unless it is told not to", {
  skip: process.platform === "linux" ? false : "the program that opens addresses is put into PATH as it is called on Linux",
}, async (t) => {
  const bin = join(folder, "fake-bin");
  await mkdir(bin, { recursive: true });
  const opened = join(bin, "opened.txt");
  await writeFile(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s' "$1" > '${opened}'\n`);
  await chmod(join(bin, "xdg-open"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const silent = await inspect(t, ["session.jsonl", "--no-open"], { env });
  const { address } = await inspect(t, ["session.jsonl"], { env });
  await until(() => readFile(opened, "utf8"), /http/);
  assert.equal(await readFile(opened, "utf8"), address);
  assert.notEqual(address, silent.address);
  // Where there is no such program, the address was printed all the same.
  const none = await inspect(t, ["session.jsonl"], { env: { PATH: join(process.execPath, "..") } });
  assert.equal((await ask(none.address, new URL(none.address).pathname)).status, 200);
});

test("inspect says what is wrong before it serves anything", async () => {
  const said = async (args) => run("node", [program, "inspect", ...args], { cwd: folder, check: false });
  for (const [args, problem] of [
    [[], /takes one session of an agent/],
    [["a", "b"], /takes one session/],
    [["absent.jsonl"], /cannot read absent\.jsonl: ENOENT/],
    [["binary.jsonl"], /not UTF-8/],
    [["empty.jsonl"], /empty\.jsonl: It is empty; we read sessions of Claude Code, Codex/],
    [["blank.jsonl"], /nothing but blank lines in it; we read/],
    [["broken.json"], /broken\.json: This is no JSON; we read .*\nline 1: /s],
    [["server.jsonl"], /This is a log of a server; we read sessions of Claude Code/],
    [["words.txt"], /This is no JSON; we read/],
    [["package.json"], /This is a document with the fields `.*`; we read/],
    [["snapshot.mjs"], /snapshot\.mjs: This is no JSON/],
    [["session.jsonl", "--port", "x"], /--port is a whole number/],
    [["session.jsonl", "--host", "0.0.0.0"], /'inspect' has no option '--host'/],
    [["session.jsonl", "--noopen"], /did you mean '--no-open'/],
  ]) {
    const { code, stderr, stdout } = await said(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, problem);
    assert.equal(stdout, "");
    assert.ok(!stderr.includes(SECRET));
  }
  assert.match((await run("node", [program, "inspect", "--help"], { cwd: folder })).stdout, /--no-open/);
});

test("inspect shows the file, and again after a reload", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const { address } = await inspect(t, ["session.jsonl", "--no-open"]);
  const tab = await open(t, { at: address, first: ["#context-status", /^session\.jsonl · 1 call$/] });
  await shows(tab, "#headline", /1 call: nothing repeats yet/);
  await tab.click("#tab-tab-context");
  await shows(tab, "#log-status", /^session\.jsonl: 3 items/);
  await shows(tab, ".list-body", /Which order failed\?/);
  const text = await tab.textContent("body");
  assert.doesNotMatch(text, /payroll|ghp_|[\u202e\u001b]/);
  assert.deepEqual(await tab.evaluate(() => [globalThis.pwned, document.querySelectorAll("img").length]), [undefined, 0]);
  await tab.fill("#exact-answer", "777");
  await shows(tab, "#numbers-answer", /of 777 tokens/);
  await until(() => tab.evaluate(() => location.hash), /b\.answer=777/);
  await tab.reload();
  await shows(tab, "#log-status", /^session\.jsonl: 3 items/);
  await shows(tab, "#numbers-answer", /of 777 tokens/);
  assert.equal(await tab.locator("#context-lost").count(), 0);
  await tab.selectOption("#context-sample", "shop");
  await shows(tab, "#context-status", /44 calls/);
  // The file that it was opened with stays at hand.
  await tab.selectOption("#context-sample", { label: "yours: session.jsonl" });
  await shows(tab, "#log-status", /^session\.jsonl: 3 items/);
  await tab.click("#more summary");
  await tab.click("#tab-tab-tools");
  await shows(tab, "#tools-status", /232 tools/);
});

test("inspect takes snapshots, messages, standard input and names of any kind", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const strange = 'a "quoted" <b>&amp; name.json';
  await writeFile(join(folder, strange), JSON.stringify(MESSAGES));
  for (const [args, input, status] of [
    [["snapshot.json"], undefined, /^snapshot\.json · 1 call$/],
    [["messages.json"], undefined, /^messages\.json, chat messages · 0 calls/],
    [["-"], await readFile(join(root, "examples/sessions/shop.jsonl")), /^standard input · 44 calls/],
    [[join(root, "tests/package/fixtures/audit/claude-code.jsonl")], undefined, /^claude-code\.jsonl, Claude Code · 7 calls/],
    [[strange], undefined, /^a "quoted" <b>&amp; name\.json, chat messages · 0 calls/],
  ]) {
    const { address } = await inspect(t, [...args, "--no-open"], { input });
    await open(t, { at: address, first: ["#context-status", status] });
  }
});
