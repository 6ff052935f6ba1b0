// The service as a Worker with Durable Objects and R2, from an empty folder with what the documents say, in miniflare.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, here, project, root, temporaryFolder } from "./harness.mjs";
import { ATTACKS, TOKENS, conversation, holdsTheAttacks, loggedDecision } from "./service-cases.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const installed = existsSync(join(here, "node_modules", "workerd"));
const missing = "workerd is not installed for this platform";

/** What a document shows as a file of this name, in the first line of a block. */
function fileOf(text, name) {
  const [, shown] = new RegExp(`\`\`\`\\w+\\n// ${name.replace(".", "\\.")}\\n([^]*?)\`\`\``).exec(text) ?? assert.fail(`the document shows no ${name}`);
  return shown;
}

/** Starts what a folder has, as `wrangler dev` does: by the bindings of wrangler.jsonc. */
async function deployed(folder, entry, bindings, persist) {
  const { Miniflare } = await import("miniflare");
  const config = JSON.parse((await readFile(join(folder, "wrangler.jsonc"), "utf8")).replace(/^\s*\/\/.*$/gm, "").replace(/,(\s*[}\]])/g, "$1"));
  const sqlite = config.migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes);
  return new Miniflare({
    modules: await bundleWorker(join(folder, entry ?? config.main)),
    modulesRoot: "/",
    compatibilityDate: config.compatibility_date,
    durableObjects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name, class_name: className }) => [name, { className, useSQLite: sqlite.includes(className) }]),
    ),
    r2Buckets: config.r2_buckets.map(({ binding }) => binding),
    bindings,
    durableObjectsPersist: join(persist, "objects"),
    r2Persist: join(persist, "blobs"),
  });
}

/** A folder as the document makes it. */
async function made() {
  const text = await readFile(join(root, "docs", "service.md"), "utf8");
  const folder = await project("service-worker", { "entry.mjs": `export * from "contextweaver/service"; export { ContextManager } from "contextweaver";` });
  for (const name of ["worker.ts", "wrangler.jsonc"]) {
    const shown = fileOf(text, name);
    await writeFile(join(folder, name), shown);
    const example = await readFile(join(root, "examples", "worker", name), "utf8");
    assert.equal(example.replace(/^\/\/.*\n/, ""), shown, `examples/worker/${name} is another`);
  }
  return folder;
}

test("a Worker keeps sessions: the same bytes as in memory, also after a restart, and no attack changes anything", async (t) => {
  if (!has(t, installed, { missing })) return;
  const folder = await made();
  const { ContextManager, sessionClient } = await import(pathToFileURL(join(folder, "entry.mjs")));
  const persist = await temporaryFolder("worker");
  t.after(() => rm(persist, { recursive: true, force: true }));
  const bindings = { CONTEXTWEAVER_TOKEN: TOKENS.ada };
  let worker = await deployed(folder, undefined, bindings, persist);
  t.after(() => worker.dispose());
  const fetch = (url, init) => worker.dispatchFetch(url, init);
  const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch });

  const manager = new ContextManager({ clock: Date.now });
  await client.createSession({ id: "s" });
  for (const [at, { append, build }] of conversation(9).entries()) {
    manager.ingestAll(append.items);
    for (const result of append.tool_results) manager.ingestToolResult(result);
    for (const fact of append.facts ?? []) manager.addFact(fact);
    await client.append({ session: "s", ...append }, { idempotency_key: `turn-${at}` });
    assert.equal((await client.build({ session: "s", build })).pack.prompt, manager.build(build).prompt);
    if (at % 4 !== 3) continue;
    // All objects are gone, and come back from what they have stored.
    await worker.dispose();
    worker = await deployed(folder, undefined, bindings, persist);
    await client.append({ session: "s", ...append }, { idempotency_key: `turn-${at}` });
    assert.equal((await client.build({ session: "s", build })).pack.prompt, manager.build(build).prompt);
  }
  // 1 MB does not go into a row.
  const raw_output = "a line of a large export\n".repeat(40_000);
  const [{ handle }] = (
    await client.append({
      session: "s",
      items: [{ id: "large", kind: "tool_call", text: "export()" }],
      tool_results: [{ tool_call_id: "large", tool_name: "export", raw_output }],
    })
  ).results;
  assert.equal(
    (await client.drilldown({ session: "s", handle, selector: { type: "lines", start: 39_998, end: 39_999 } })).slice.text,
    "a line of a large export",
  );
  manager.free();

  const changes = client.decisionChanges();
  const first = changes.next();
  await new Promise((done) => setTimeout(done, 200));
  await loggedDecision(client, "Keep orders in PostgreSQL");
  assert.equal((await first).value.decisions[0].summary, "Keep orders in PostgreSQL");
  await changes.return();
  assert.equal((await client.exportDecisions({})).decisions.length, 1);

  const random = await client.createSession({}, { idempotency_key: "make" });
  assert.deepEqual(await client.createSession({}, { idempotency_key: "make" }), random);
  await client.deleteSession({ session: random.id });
  await assert.rejects(client.getSession({ session: random.id }), { code: "NOT_FOUND" });
});

test("a Worker with several tenants keeps them apart, against every attack", async (t) => {
  if (!has(t, installed, { missing })) return;
  const folder = await made();
  const { sessionClient } = await import(pathToFileURL(join(folder, "entry.mjs")));
  await writeFile(
    join(folder, "tenants.ts"),
    `
import { DecisionObject, SessionObject, sessionWorker } from "contextweaver/worker";
export { DecisionObject, SessionObject };
export default sessionWorker({ token: ${JSON.stringify(TOKENS)}, limits: { body_bytes: 64 * 1024 } });
`,
  );
  const persist = await temporaryFolder("worker");
  t.after(() => rm(persist, { recursive: true, force: true }));
  const worker = await deployed(folder, "tenants.ts", {}, persist);
  t.after(() => worker.dispose());
  const fetch = (url, init) => worker.dispatchFetch(url, init);
  const [ada, bob] = ["ada", "bob"].map((tenant) => sessionClient({ url: "http://service.test", token: TOKENS[tenant], fetch }));
  await ada.createSession({ id: "secret" });
  await ada.append({ session: "secret", items: [{ id: "u1", kind: "user_turn", text: "the plan of ada" }] });
  const { sequence } = await ada.getSession({ session: "secret" });
  await bob.createSession({ id: "own" });
  const spoofed = (name) => [
    { method: "GET", path: "/v1/sessions/secret", headers: { authorization: `Bearer ${TOKENS.bob}`, "x-contextweaver-tenant": name } },
    404,
  ];
  await holdsTheAttacks(
    fetch,
    {
      ...ATTACKS,
      "the header of the Worker": spoofed("ada"),
      "the same in capitals": [{ ...spoofed("ada")[0], headers: { authorization: `Bearer ${TOKENS.bob}`, "X-Contextweaver-Tenant": "ada" } }, 404],
    },
    assert,
  );
  const state = await ada.getSession({ session: "secret" });
  assert.deepEqual([state.stats.items, state.sequence], [1, sequence]);
  // One memory for each tenant.
  await loggedDecision(ada, "Keep orders in PostgreSQL");
  assert.equal((await bob.exportDecisions({})).decisions.length, 0);
});

test("a Worker whose sessions end: all that an object has stored is gone, and what was written meanwhile lives on", async (t) => {
  if (!has(t, installed, { missing })) return;
  const folder = await made();
  const { sessionClient } = await import(pathToFileURL(join(folder, "entry.mjs")));
  await writeFile(
    join(folder, "ending.ts"),
    `
import * as contextweaver from "contextweaver/worker";
export { DecisionObject } from "contextweaver/worker";
export class SessionObject extends contextweaver.SessionObject {
  override options() {
    return { retention: { idle_ms: 10_000 }, limits: { session_bytes: 2_000_000 } };
  }
}
export default contextweaver.sessionWorker();
`,
  );
  const persist = await temporaryFolder("worker");
  t.after(() => rm(persist, { recursive: true, force: true }));
  let worker = await deployed(folder, "ending.ts", { CONTEXTWEAVER_TOKEN: TOKENS.ada }, persist);
  t.after(() => worker.dispose());
  const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch: (url, init) => worker.dispatchFetch(url, init) });
  const turn = (n) => ({
    items: [{ id: `c${n}`, kind: "tool_call", text: "export()" }],
    tool_results: [{ tool_call_id: `c${n}`, tool_name: "export", raw_output: `a line of export ${n}\n`.repeat(40_000) }],
  });
  for (const id of ["idle", "live", "asleep"]) await client.createSession({ id });
  for (const session of ["idle", "live", "asleep"]) await client.append({ session, ...turn(0) });
  await assert.rejects(client.append({ session: "live", ...turn(1), ...turn(2), tool_results: [...turn(1).tool_results, ...turn(2).tool_results] }), {
    code: "QUOTA_EXCEEDED",
  });
  await loggedDecision(client, "Keep orders in PostgreSQL");
  const keys = async () => (await (await worker.getR2Bucket("BLOBS")).list()).objects.map(({ key }) => key);
  assert.equal((await keys()).length, 3);
  // One object is not in memory when its time is over.
  await worker.dispose();
  worker = await deployed(folder, "ending.ts", { CONTEXTWEAVER_TOKEN: TOKENS.ada }, persist);
  const begin = Date.now();
  let n = 0;
  // Long enough that the one which is written to outlives a machine that is slow to start the runtime anew.
  while (Date.now() - begin < 90_000 && ((await keys()).length > 1 || Date.now() - begin < 12_500)) {
    await client.append({ session: "live", items: [{ id: `u${n}`, kind: "user_turn", text: `turn ${(n += 1)}` }] });
    await new Promise((done) => setTimeout(done, 300));
  }
  assert.equal((await keys()).length, 1, "blobs are left");
  for (const session of ["idle", "asleep"]) await assert.rejects(client.getSession({ session }), { code: "NOT_FOUND" });
  assert.equal((await client.getSession({ session: "live" })).stats.items, n + 2);
  assert.equal((await client.exportDecisions({})).decisions.length, 1);
  // The name may begin anew.
  await client.createSession({ id: "idle" });
  assert.equal((await client.getSession({ session: "idle" })).stats.items, 0);
});

test("a Worker without its secret serves nobody", async (t) => {
  if (!has(t, installed, { missing })) return;
  const folder = await made();
  const persist = await temporaryFolder("worker");
  t.after(() => rm(persist, { recursive: true, force: true }));
  const worker = await deployed(folder, undefined, {}, persist);
  t.after(() => worker.dispose());
  const response = await worker.dispatchFetch("http://service.test/v1/sessions", {
    method: "POST",
    headers: { authorization: "Bearer undefined", "content-type": "application/json" },
    body: "{}",
  });
  assert.ok(response.status >= 500, String(response.status));
  assert.ok(!(await response.text()).includes('"id"'));
});
