// `contextweaver serve`, as a process that is killed and started again.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, readdir, utimes } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, modernNode, project, run } from "./harness.mjs";
import { ATTACKS, TOKENS, conversation, holdsTheAttacks, loggedDecision } from "./service-cases.mjs";

const folder = await project("service-node", { "entry.mjs": `export * from "contextweaver/service"; export { ContextManager } from "contextweaver";` });
const { ContextManager, sessionClient } = await import(pathToFileURL(join(folder, "entry.mjs")));
const BIN = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");

/** Starts the service; returns where it listens, and how to kill it. */
async function started(t, args, env = {}, node = "node") {
  const child = spawn(node, ["--no-warnings", BIN, "serve", "--port", "0", ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => child.on("close", done));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const kill = () => (child.kill("SIGKILL"), ended);
  t.after(kill);
  let said = "";
  const url = await new Promise((done, fail) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const [, at] = /listening on (\S+)\n/.exec(said) ?? [];
      if (at) done(at);
    });
    child.on("close", () => fail(new Error(`it did not start: ${errors}`)));
  });
  return { url, kill, errors: () => errors, said: () => said };
}

const modern = await modernNode();
for (const [store, node] of [
  ["sessions", { path: "node" }],
  ["sessions.db", modern],
]) {
  test(`serve --store ${store}: what was acknowledged is there after kill -9, and the prompts are the same bytes`, async (t) => {
    if (!has(t, node.path, { ...node, optional: true })) return;
    const start = () => started(t, ["--store", store], { CONTEXTWEAVER_TOKEN: TOKENS.ada }, node.path);
    const manager = new ContextManager({ clock: Date.now });
    let service = await start();
    const client = () => sessionClient({ url: service.url, token: TOKENS.ada });
    await client().createSession({ id: "s" });
    for (const { append, build } of conversation(5)) {
      manager.ingestAll(append.items);
      for (const result of append.tool_results) manager.ingestToolResult(result);
      for (const fact of append.facts ?? []) manager.addFact(fact);
      await client().append({ session: "s", ...append });
      const before = await client().build({ session: "s", build });
      assert.equal(before.pack.prompt, manager.build(build).prompt);
      await service.kill();
      service = await start();
      assert.equal((await client().build({ session: "s", build })).pack.prompt, before.pack.prompt);
    }
    // Events are told over a connection, too.
    const changes = client().decisionChanges({ since: 0 });
    await loggedDecision(client(), "Keep orders in PostgreSQL");
    assert.equal((await changes.next()).value.decisions[0].summary, "Keep orders in PostgreSQL");
    await changes.return();
    assert.equal(service.errors(), "");
    manager.free();
  });
}

test("serve --idle-days: sessions end that nobody wrote to, at the start", async (t) => {
  const start = (...args) => started(t, ["--store", "idle", ...args], { CONTEXTWEAVER_TOKEN: TOKENS.ada });
  let service = await start();
  const client = () => sessionClient({ url: service.url, token: TOKENS.ada });
  for (const id of ["old", "new"]) await client().createSession({ id });
  for (const session of ["old", "new"]) await client().append({ session, items: [{ id: "u1", kind: "user_turn", text: "Hello" }] });
  await loggedDecision(client(), "Keep orders in PostgreSQL");
  await service.kill();
  // Three days go by.
  const past = (Date.now() - 3 * 86_400_000) / 1_000;
  for (const name of await readdir(join(folder, "idle"))) {
    const journal = join(folder, "idle", name, "journal");
    if (!(await readFile(journal, "utf8")).includes("/new")) await utimes(journal, past, past);
  }
  service = await start("--idle-days", "2");
  while (!service.said().includes("removed")) await new Promise((done) => setTimeout(done, 10));
  assert.match(service.said(), /\nremoved 1 session that nobody wrote to for 2 days\n$/);
  await assert.rejects(client().getSession({ session: "old" }), { code: "NOT_FOUND" });
  assert.equal((await client().getSession({ session: "new" })).stats.items, 1);
  assert.equal((await client().exportDecisions({})).decisions.length, 1);
  assert.equal(service.errors(), "");
});

test("serve: every attack is refused over a connection", async (t) => {
  const { url } = await started(t, ["--store", "attacked", "--token", TOKENS.ada]);
  const ada = sessionClient({ url, token: TOKENS.ada });
  await ada.createSession({ id: "secret" });
  await ada.append({ session: "secret", items: [{ id: "u1", kind: "user_turn", text: "the plan of ada" }] });
  // There is one tenant here, and what is too large for the tests in process is not for the default.
  const attacks = Object.fromEntries(
    Object.entries(ATTACKS).filter(([name, [one]]) => one.headers.authorization !== `Bearer ${TOKENS.bob}` && !/large/.test(name)),
  );
  assert.ok(Object.keys(attacks).length > 35);
  await holdsTheAttacks((address, init) => sent(url, new URL(address), init), attacks, assert);
  assert.equal((await ada.getSession({ session: "secret" })).stats.items, 1);
});

/** Sends a request as it is: `fetch` would tidy it up. */
function sent(to, { pathname, search }, { method, headers, body }) {
  return new Promise((done, fail) => {
    const { hostname, port } = new URL(to);
    const sending = request({ hostname, port, path: `${pathname}${search}`, method, headers }, (answer) => {
      const chunks = [];
      answer
        .on("data", (chunk) => chunks.push(chunk))
        .on("end", () =>
          done(
            new Response(Buffer.concat(chunks), {
              status: answer.statusCode,
              headers: Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
            }),
          ),
        );
    });
    sending.on("error", fail);
    sending.end(body);
  });
}

test("serve: without a token only this machine asks, and only it is listened to", async (t) => {
  const { url } = await started(t, ["--store", "open"], { CONTEXTWEAVER_TOKEN: undefined });
  const get = (headers) => sent(url, new URL("http://x/v1/decisions"), { method: "GET", headers }).then(({ status }) => status);
  assert.deepEqual(
    await Promise.all(
      [{}, { host: "localhost:1" }, { host: "[::1]:80" }, { host: "evil.example" }, { host: "127.0.0.1.evil.example" }, { origin: "https://evil.example" }].map(
        get,
      ),
    ),
    [200, 200, 200, 401, 401, 403],
  );
  const fails = async (args, env = {}) => {
    const { code, stderr } = await run("node", ["--no-warnings", BIN, "serve", ...args], {
      cwd: folder,
      env: { CONTEXTWEAVER_TOKEN: undefined, ...env },
      check: false,
    });
    assert.equal(code, 2, stderr);
    return stderr;
  };
  assert.match(await fails(["--store", "x", "--host", "0.0.0.0"]), /needs --token/);
  assert.match(await fails([]), /needs --store/);
  assert.match(await fails(["x", "--store", "x"]), /no arguments/);
  assert.match(await fails(["--store", "x", "--port", "70000"]), /--port is a whole number/);
  assert.match(await fails(["--store", "x", "--token", ""]), /token/);
  assert.match(await fails(["--store", "x", "--idle-days", "0"]), /--idle-days is a whole number of days/);
  assert.match(await fails(["--store", "x", "--port", new URL(url).port]), /cannot listen/);
});
