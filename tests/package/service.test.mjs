// The service of sessions, as a function from requests to responses.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, optionalProgram, project, run } from "./harness.mjs";
import { random } from "./storage-contract.mjs";
import { ATTACKS, BODIES, TOKENS, conversation, holdsTheAttacks, loggedDecision } from "./service-cases.mjs";

const folder = await project("service", {
  "entry.mjs": `export * from "contextweaver/service"; export * from "contextweaver/storage"; export { fileStore } from "contextweaver/node"; export { ContextManager, ContextWeaverError, DecisionStore, openRecords } from "contextweaver";`,
});
const cw = await import(pathToFileURL(join(folder, "entry.mjs")));
const { ContextManager, fileStore, memoryStore, openApi, openRecords, sessionClient, sessionHandler } = cw;

const CLOCK = () => 1_700_000_000_000;

/** A place for each pair of tenant and name, which outlives a service. */
function places() {
  const stores = new Map();
  const open = (tenant, name) => {
    if (!stores.has(tenant)) stores.set(tenant, memoryStore());
    return stores.get(tenant).session(name);
  };
  return { stores, open };
}

/** A service, and a client of each tenant. */
function served(open, options = {}) {
  const failures = [];
  const handler = sessionHandler({ ...(open && { open }), token: TOKENS, manager: { clock: CLOCK }, onError: (error) => failures.push(error), ...options });
  const fetch = (url, init) => handler(new Request(url, init));
  const client = (tenant) => sessionClient({ url: "http://service.test", token: TOKENS[tenant], fetch });
  return { handler, failures, client, ada: client("ada"), bob: client("bob") };
}

const code = (wanted, status) => (error) => (
  assert.deepEqual([error.code, error.details?.status], [wanted, status], String(error)), cw.ContextWeaverError.is(error)
);
/** Everything that all tenants have stored. */
async function stored({ stores }) {
  const all = {};
  for (const [tenant, store] of stores) for (const { id } of await store.sessions()) all[JSON.stringify([tenant, id])] = await store.session(id).load();
  return JSON.stringify(all);
}

test("the prompts are those of a manager in memory, byte for byte, also after restarts", async () => {
  const { open } = places();
  let { ada } = served(open);
  const manager = new ContextManager({ clock: CLOCK });
  await ada.createSession({ id: "s" });
  for (const { append, build } of conversation(12)) {
    const { tool_results = [], ...rest } = append;
    manager.ingestAll(rest.items ?? []);
    for (const result of tool_results) manager.ingestToolResult(result);
    for (const fact of rest.facts ?? []) manager.addFact(fact);
    await ada.append({ session: "s", ...append });
    for (const running of [false, true]) {
      const { pack } = await ada.build({ session: "s", build: { ...build, running } });
      assert.deepEqual(pack, JSON.parse(JSON.stringify(manager.build({ ...build, running }))));
    }
    const { built } = await ada.buildMessages({ session: "s", build: { ...build, format: "anthropic" } });
    assert.deepEqual(built, JSON.parse(JSON.stringify(manager.buildMessages({ ...build, format: "anthropic" }))));
    // Another process goes on.
    ({ ada } = served(open));
  }
  const { slice } = await ada.drilldown({ session: "s", handle: "artifact:result:c3", selector: { type: "lines", start: 100, end: 103 } });
  assert.deepEqual(slice, JSON.parse(JSON.stringify(manager.drilldown("artifact:result:c3", { type: "lines", start: 100, end: 103 }))));
  const { stats, sequence } = await ada.getSession({ session: "s" });
  assert.equal(stats.items, manager.stats().items);
  assert.ok(sequence > 0);
  manager.free();
});

test("every attack is refused, and changes nothing", async () => {
  const where = places();
  const { handler, ada, bob, failures } = served(where.open, { limits: { body_bytes: 64 * 1024 } });
  await ada.createSession({ id: "secret" });
  await ada.append({ session: "secret", items: [{ id: "u1", kind: "user_turn", text: "the plan of ada" }] });
  await bob.createSession({ id: "own" });
  const before = await stored(where);
  await holdsTheAttacks((url, init) => handler(new Request(url, init)), ATTACKS, assert);
  assert.equal(await stored(where), before, "an attack changed something");
  assert.deepEqual(failures, []);
  assert.equal((await ada.getSession({ session: "secret" })).stats.items, 1);
});

test("a name and a tenant are a pair: no two of them meet", async () => {
  const { open, stores } = places();
  const seen = [];
  const handler = sessionHandler({
    open: (tenant, name) => (seen.push([tenant, name]), open(tenant, name)),
    authorize: (request) => ({ tenant: request.headers.get("x-verified") }),
  });
  const ask = (tenant, path, body) =>
    handler(
      new Request(`http://s${path}`, {
        method: body ? "POST" : "GET",
        headers: { "x-verified": tenant, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  for (const tenant of ["a", "a/session", "a/session/b", '","', "__proto__", "constructor"]) {
    assert.equal((await ask(tenant, "/v1/sessions", { id: "b" })).status, 201, tenant);
    assert.equal((await ask(tenant, "/v1/sessions/b/append", { items: [{ id: "u", kind: "user_turn", text: `of ${tenant}` }] })).status, 200);
  }
  for (const tenant of stores.keys()) {
    const { pack } = await (await ask(tenant, "/v1/sessions/b/build", { build: { phase: "answer" } })).json();
    assert.ok(pack.prompt.endsWith(`of ${tenant}`), pack.prompt);
  }
  assert.equal(new Set(seen.map((pair) => JSON.stringify(pair))).size, 12);
});

test("a key is answered as before and done once, also after a restart in the middle", async () => {
  const { open } = places();
  let { ada, bob } = served(open);
  const made = await ada.createSession({}, { idempotency_key: "make" });
  assert.deepEqual(await ada.createSession({}, { idempotency_key: "make" }), made);
  assert.notEqual((await ada.createSession({}, { idempotency_key: "other" })).id, made.id);
  assert.notEqual((await bob.createSession({}, { idempotency_key: "make" })).id, made.id);
  const session = made.id;
  const item = (n) => ({ session, items: [{ id: `u${n}`, kind: "user_turn", text: `turn ${n}` }] });
  const first = await ada.append(item(1), { idempotency_key: "k1" });
  assert.deepEqual(await ada.append(item(1), { idempotency_key: "k1" }), first);
  await assert.rejects(ada.append(item(2), { idempotency_key: "k1" }), code("INVALID_INPUT", 422));
  await assert.rejects(ada.append(item(1)), code("DUPLICATE_ID", 409));
  // Refused is not done: the key is free.
  await assert.rejects(ada.append({ session, items: [{ id: "u9", kind: "nothing" }] }, { idempotency_key: "k2" }), code("INVALID_INPUT", 422));
  const second = await ada.append(item(2), { idempotency_key: "k2" });
  ({ ada } = served(open));
  assert.deepEqual(await ada.append(item(1), { idempotency_key: "k1" }), first);
  assert.deepEqual(await ada.append(item(2), { idempotency_key: "k2" }), second);
  assert.equal((await ada.getSession({ session })).stats.items, 2);
  // The newest 256 are kept.
  for (let n = 3; n < 300; n += 1) await ada.append(item(n), { idempotency_key: `k${n}` });
  ({ ada } = served(open));
  assert.ok((await ada.append(item(299), { idempotency_key: "k299" })).sequence > second.sequence);
  await assert.rejects(ada.append(item(1), { idempotency_key: "k1" }), code("DUPLICATE_ID", 409));
});

test("whatever write fails, what was acknowledged is there and nothing is twice", async () => {
  for (let failing = 0; failing < 14; failing += 1) {
    const { open } = places();
    let writes = 0;
    let armed = true;
    // The write fails, before it is done or after.
    const breaking = (tenant, name) => {
      const storage = open(tenant, name);
      const broken =
        (method) =>
        async (...args) => {
          writes += 1;
          const isNow = armed && writes === (failing >> 1) + 1;
          if (isNow && failing % 2 === 0) throw new Error("disk full");
          const done = await storage[method](...args);
          if (isNow) throw new Error("power gone");
          return done;
        };
      return {
        ...storage,
        load: () => storage.load(),
        getBlob: (hash) => storage.getBlob(hash),
        delete: () => storage.delete(),
        append: broken("append"),
        compact: broken("compact"),
        putBlob: broken("putBlob"),
      };
    };
    let { ada, failures } = served(breaking);
    const retried = async (ask) => {
      for (let at = 0; ; at += 1) {
        try {
          return await ask();
        } catch (error) {
          assert.ok(at < 2 && error.details.status >= 500, String(error));
          assert.ok(!/disk|power/.test(`${error.message}${JSON.stringify(error.details)}`));
          // Half of the times the process ends, too.
          if (failing % 4 < 2) ({ ada } = served(breaking));
        }
      }
    };
    await retried(() => ada.createSession({ id: "s" }, { idempotency_key: "make" }));
    for (let n = 0; n < 3; n += 1) {
      const answer = await retried(() =>
        ada.append(
          {
            session: "s",
            items: [{ id: `u${n}`, kind: "user_turn", text: `turn ${n}` }],
            tool_results: n ? [] : [{ tool_call_id: "c", tool_name: "t", raw_output: "row\n".repeat(3_000) }],
          },
          { idempotency_key: `k${n}` },
        ),
      );
      assert.ok(answer.sequence > 0);
    }
    armed = false;
    const { pack } = await served(open).ada.build({ session: "s", build: { phase: "answer" } });
    for (let n = 0; n < 3; n += 1) assert.equal(pack.prompt.split(`turn ${n}`).length, 2, `${failing}: ${pack.prompt}`);
    assert.ok(failures.length <= 1);
  }
});

/** A process whose appends may have to wait: `held` is asked for each, and what it returns is waited for. */
function heldBack(open, held) {
  return served((tenant, name) => {
    const storage = open(tenant, name);
    return {
      ...storage,
      append: async (first, parts) => {
        await held(name, parts.join(""));
        return storage.append(first, parts);
      },
    };
  });
}

/** Waits until the records of the session have a key. */
async function isRecorded(open, key) {
  while (!(await open("ada", "service/s").load()).parts.join("").includes(`"key":"${key}"`)) await new Promise((done) => setImmediate(done));
}

const turn = (id, text = `text of ${id}`) => ({ session: "s", items: [{ id, kind: "user_turn", text }] });
const fact = { session: "s", facts: [{ key: "colour", value: "green" }] };
const itemsOf = async (open) => (await served(open).ada.getSession({ session: "s" })).stats.items;
const factsOf = async (open) => (await open("ada", "session/s").load()).parts.join("").split('"colour"').length - 1;

test("a key that met the write of another process is done, once", async () => {
  for (const [what, change, count] of [
    ["an item", turn("u3"), itemsOf],
    // What the other process writes is the same to the letter.
    ["a fact", fact, factsOf],
  ]) {
    const { open } = places();
    const other = served(open);
    let isMet = false;
    const one = heldBack(open, async (name) => {
      if (!isMet || !name.startsWith("session/")) return;
      isMet = false;
      await other.ada.append(what === "a fact" ? fact : turn("u2"));
    });
    await one.ada.createSession({ id: "s" });
    await one.ada.append(turn("u1"));
    await other.ada.getSession({ session: "s" });
    isMet = true;
    const answer = await one.ada.append(change, { idempotency_key: "k" });
    assert.ok(!isMet && answer.sequence === 3, `${what}: ${JSON.stringify(answer)}`);
    for (const again of [one, other, served(open)]) assert.deepEqual(await again.ada.append(change, { idempotency_key: "k" }), answer, what);
    assert.equal(await count(open), what === "a fact" ? 2 : 3, what);
    // Nobody has it in memory any more: a stale process finds out before it writes.
    await other.ada.append(turn("u4"));
    assert.equal((await one.ada.append(turn("u5"), { idempotency_key: "k5" })).sequence, 5);
  }
});

test("who is slower than another process some times in a row is not refused", async () => {
  const { open } = places();
  const other = served(open);
  const rule = { condition_stakes: "high", condition_confidence: "< 0.5", action: "block", message: "too risky" };
  let left = 0;
  const one = heldBack(open, async (name) => {
    if (left === 0 || name.startsWith("service/")) return;
    left -= 1;
    if (name === "decisions") await other.ada.addGuardrails({ rules: [{ ...rule, id: `r${left}` }] });
    else await other.ada.append(turn(`u${left}`));
  });
  await one.ada.createSession({ id: "s" });
  left = 5;
  assert.equal((await one.ada.append(turn("last"), { idempotency_key: "k" })).sequence, 6);
  left = 5;
  assert.deepEqual(await one.ada.addGuardrails({ rules: [{ ...rule, id: "last" }] }), { added: 1, duplicates: [] });
  const { guardrails } = await served(open).ada.exportDecisions({});
  assert.deepEqual(guardrails.map(({ id }) => id).sort(), ["last", "r0", "r1", "r2", "r3", "r4"]);
});

test("a key whose process ended before its change was stored is free, whatever others wrote since", async () => {
  for (const later of ["one part", "everything anew", "nothing"]) {
    const { open } = places();
    let isDying = false;
    const dying = heldBack(open, (name) => (isDying && name.startsWith("session/") ? new Promise(() => {}) : undefined));
    const other = served(open);
    await dying.ada.createSession({ id: "s" });
    await other.ada.append(turn("u0"));
    isDying = true;
    void dying.ada.append(turn("u1"), { idempotency_key: "k" });
    await isRecorded(open, "k");
    if (later !== "nothing") await other.ada.append(turn("u2"));
    if (later === "everything anew") await other.ada.forget({ session: "s", item_id: "u0" });
    const third = served(open);
    const answer = await third.ada.append(turn("u1"), { idempotency_key: "k" });
    const { pack } = await third.ada.build({ session: "s", build: { phase: "answer" } });
    assert.equal(pack.prompt.split("text of u1").length, 2, `${later}: ${pack.prompt}`);
    for (const again of [third, other, served(open)]) assert.deepEqual(await again.ada.append(turn("u1"), { idempotency_key: "k" }), answer, later);
  }
});

test("a key whose change was stored is answered as before, also where its process ended then, and the part is gone", async () => {
  for (const later of ["nothing", "one part", "everything anew", "everything by who had it open"]) {
    const { open } = places();
    let isDying = false;
    const dying = heldBack(open, (_, parts) => (isDying && parts.includes('"settled"') ? new Promise(() => {}) : undefined));
    const other = served(open);
    await dying.ada.createSession({ id: "s" });
    await dying.ada.append(turn("u0"));
    if (later.endsWith("open")) await other.ada.getSession({ session: "s" });
    isDying = true;
    const answer = await dying.ada.append(turn("u1"), { idempotency_key: "k" });
    if (later === "one part") await other.ada.append(turn("u2"));
    if (later.startsWith("everything")) await other.ada.forget({ session: "s", item_id: "u0" });
    for (const again of [served(open), other, served(open)]) assert.deepEqual(await again.ada.append(turn("u1"), { idempotency_key: "k" }), answer, later);
    assert.equal(await itemsOf(open), later === "one part" ? 3 : 2, later);
  }
});

test("a session that is looked at while a slow process writes leaves the key to it", async () => {
  for (const meanwhile of ["nothing", "the same key"]) {
    const { open } = places();
    const other = served(open);
    let release;
    const gate = new Promise((done) => (release = done));
    let isSlow = false;
    const slow = heldBack(open, (name) => (isSlow && name.startsWith("session/") ? gate : undefined));
    await slow.ada.createSession({ id: "s" });
    isSlow = true;
    const answering = slow.ada.append(fact, { idempotency_key: "k" });
    await isRecorded(open, "k");
    assert.equal((await other.ada.getSession({ session: "s" })).sequence, 0);
    const second = meanwhile === "the same key" ? await other.ada.append(fact, { idempotency_key: "k" }) : undefined;
    release();
    const answer = await answering;
    if (second) assert.deepEqual(answer, second);
    for (const again of [served(open), other, slow]) assert.deepEqual(await again.ada.append(fact, { idempotency_key: "k" }), answer, meanwhile);
    assert.equal(await factsOf(open), 1, meanwhile);
  }
});

test("of three processes that write at once, wait and end in any of their steps, each key is done once", async () => {
  for (let seed = 0; seed < 12; seed += 1) {
    const draw = random(seed);
    const { open } = places();
    const never = () => new Promise(() => {});
    /** A process that ends in some write, before it is done or after: whoever waits for it is told. */
    const begun = () => {
      const process = { isOver: false };
      const over = new Promise((_, reject) => (process.end = () => reject(new Error("it ended"))));
      over.catch(() => undefined);
      const step = async () => {
        for (let turns = Math.floor(draw() * 4); turns > 0; turns -= 1) await new Promise((done) => setImmediate(done));
        if (process.isOver) await never();
      };
      const { ada } = served((tenant, name) => {
        const storage = open(tenant, name);
        const stepped =
          (method) =>
          async (...args) => {
            await step();
            const isLast = draw() < 0.02 && method !== "load" && method !== "end";
            if (isLast) [process.isOver] = [true, process.end()];
            if (isLast && draw() < 0.5) await never();
            const done = await storage[method](...args);
            await step();
            return done;
          };
        return Object.fromEntries(Object.keys(storage).map((method) => [method, stepped(method)]));
      });
      return Object.assign(process, { ask: (run) => Promise.race([run(ada), over]) });
    };
    const processes = [begun(), begun(), begun()];
    const asked = async (run) => {
      for (;;) {
        const at = Math.floor(draw() * processes.length);
        if (processes[at].isOver) processes[at] = begun();
        try {
          return await processes[at].ask(run);
        } catch (error) {
          assert.ok(error.message === "it ended" || error.code === "CONFLICT", `${seed}: ${error}`);
        }
      }
    };
    await asked((ada) => ada.createSession({ id: "s" }, { idempotency_key: "make" }));
    const client = async (name) => {
      for (let n = 0; n < 6; n += 1) {
        // Half of the times all changes are the same to the letter.
        const change = { session: "s", facts: [{ key: "colour", value: seed % 2 ? "green" : `${name} ${n}` }] };
        const ask = () => asked((ada) => ada.append(change, { idempotency_key: `${name}${n}` }));
        const answer = await ask();
        if (draw() < 0.3) assert.deepEqual(await ask(), answer, `${seed}`);
        if (draw() < 0.2) await asked((ada) => ada.getSession({ session: "s" }));
        if (draw() > 0.1) continue;
        const item = turn(`${name}${n}`);
        await asked((ada) => ada.append(item).catch((error) => (error.code === "DUPLICATE_ID" ? undefined : Promise.reject(error))));
        // Everything is written anew.
        await asked((ada) => ada.forget({ session: "s", item_id: item.items[0].id }));
      }
    };
    await Promise.all(["a", "b", "c", "d"].map(client));
    assert.equal(await factsOf(open), 24, `${seed}`);
  }
});

test("keys that an earlier version kept are as they were", async () => {
  const { open } = places();
  const { ada } = served(open);
  const requestOf = async (key, input) => {
    const { session: _, ...body } = input;
    const text = JSON.stringify(["POST", "/v1/sessions/s/append", JSON.stringify(body)]);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return { key, hash: Buffer.from(digest).toString("hex"), status: 200, body: { results: [] } };
  };
  await ada.createSession({ id: "s" });
  for (const id of ["u1", "u2", "u3"]) await ada.append(turn(id));
  const records = await openRecords(open("ada", "service/s"));
  const old = [
    { kind: "done", ...(await requestOf("folded", turn("u1"))), before: 0, after: 1 },
    { kind: "done", ...(await requestOf("settled", turn("u2"))), before: 1 },
    { kind: "settled", key: "settled", after: 2 },
    { kind: "done", ...(await requestOf("void", turn("u8"))), before: 2 },
    { kind: "void", key: "void" },
    { kind: "done", ...(await requestOf("cut", turn("u3"))), before: 2 },
    { kind: "done", ...(await requestOf("never", turn("u9"))), before: 3 },
  ];
  for (const [at, record] of old.entries()) records.set(String(at + 1), record);
  await records.save();
  for (const again of [served(open), served(open)]) {
    for (const [key, id, sequence] of [
      ["folded", "u1", 1],
      ["settled", "u2", 2],
      ["cut", "u3", 3],
      ["void", "u8", 4],
      ["never", "u9", 5],
    ])
      assert.equal((await again.ada.append(turn(id), { idempotency_key: key })).sequence, sequence, key);
  }
  assert.equal(await itemsOf(open), 5);
});

test("what another process wrote, removed or made is there for the next request of each", async () => {
  const directory = join(folder, "sessions-of-two");
  const memory = memoryStore();
  for (const [where, storeOf] of [
    ["memory", () => memory],
    ["files", () => fileStore(directory)],
  ]) {
    const [one, two] = [served(undefined, { store: storeOf() }), served(undefined, { store: storeOf() })];
    const ids = async ({ ada }) => (await ada.build({ session: "s", build: { phase: "answer" } })).pack.items.map(({ id }) => id);
    await one.ada.createSession({ id: "s" });
    assert.equal((await two.ada.getSession({ session: "s" })).sequence, 0);
    const { sequence } = await one.ada.append(turn("u1"));
    assert.equal((await two.ada.getSession({ session: "s" })).sequence, sequence);
    await two.ada.append({ ...turn("u2"), if_sequence: sequence });
    assert.deepEqual(
      [await ids(one), await ids(two)],
      [
        ["u1", "u2"],
        ["u1", "u2"],
      ],
      where,
    );
    await one.ada.setCatalog({ session: "s", items: [{ id: "t", kind: "tool", name: "t", description: "Sends a mail" }] });
    assert.deepEqual((await two.ada.route({ session: "s", query: "send a mail" })).route.candidate_ids, ["t"]);

    // Removed and begun anew, with as many parts in all: who had the old one open works on the new one.
    await two.ada.deleteSession({ session: "s" });
    await assert.rejects(one.ada.getSession({ session: "s" }), code("NOT_FOUND", 404));
    await one.ada.createSession({ id: "s" });
    await one.ada.append(turn("u1"));
    assert.deepEqual(await ids(two), ["u1"]);
    await two.ada.deleteSession({ session: "s" });
    await two.ada.createSession({ id: "s" });
    await two.ada.append(turn("x1"));
    await one.ada.append(turn("x2"));
    assert.deepEqual(
      [await ids(one), await ids(two)],
      [
        ["x1", "x2"],
        ["x1", "x2"],
      ],
      where,
    );
    await one.ada.deleteSession({ session: "s" });
    assert.equal((await two.ada.createSession({ id: "s" })).sequence, 0);
    await assert.rejects(one.ada.createSession({ id: "s" }), code("DUPLICATE_ID", 409));
    assert.deepEqual([one.failures, two.failures], [[], []]);
  }
});

test("who writes while the session is removed and begun anew writes to the new one, or is refused", async () => {
  for (const how of ["append", "forget"]) {
    const { open } = places();
    const other = served(open);
    let isMet = false;
    const meet = async (name) => {
      if (!isMet || !name.startsWith("session/")) return;
      isMet = false;
      await other.ada.deleteSession({ session: "s" });
      await other.ada.createSession({ id: "s" });
      await other.ada.append(turn("x1"));
    };
    const one = served((tenant, name) => {
      const storage = open(tenant, name);
      const met =
        (method) =>
        async (...args) => (await meet(name), storage[method](...args));
      return { ...storage, append: met("append"), compact: met("compact") };
    });
    await one.ada.createSession({ id: "s" });
    await one.ada.append(turn("u1"));
    isMet = true;
    if (how === "append") assert.equal((await one.ada.append(turn("u2"))).sequence, 2);
    else await assert.rejects(one.ada.forget({ session: "s", item_id: "u1" }), code("NOT_FOUND", 404));
    const { pack } = await served(open).ada.build({ session: "s", build: { phase: "answer" } });
    assert.deepEqual(
      pack.items.map(({ id }) => id),
      how === "append" ? ["x1", "u2"] : ["x1"],
    );
  }
});

test("a session that two processes make at once is one, and the same key is answered the same", async () => {
  const { open } = places();
  const other = served(open);
  let answered;
  let input = {};
  const one = heldBack(open, async (name) => {
    if (!name.startsWith("service/") || answered) return;
    answered = await other.ada.createSession(input, { idempotency_key: "make" });
  });
  assert.deepEqual(await one.ada.createSession(input, { idempotency_key: "make" }), answered);
  [answered, input] = [undefined, { id: "s" }];
  await assert.rejects(one.ada.createSession(input), code("DUPLICATE_ID", 409));
  assert.equal((await one.ada.append(turn("u1"))).sequence, 1);
  const { path } = await one.ada.createSession({ options: { budget: { answer: -1 } } }).catch((error) => error);
  assert.equal(path, "/options/budget/answer");
});

test("who writes on what is not so any more is told: if_sequence, If-Match, two processes", async () => {
  const { open } = places();
  const [one, two] = [served(open), served(open)];
  await one.ada.createSession({ id: "s" });
  const { sequence } = await one.ada.append({ session: "s", items: [{ id: "a", kind: "user_turn", text: "a" }] });
  // The other process loads, and writes; the first finds out, and does it on what is there.
  await two.ada.append({ session: "s", items: [{ id: "b", kind: "user_turn", text: "b" }], if_sequence: sequence });
  await one.ada.append({ session: "s", items: [{ id: "c", kind: "user_turn", text: "c" }] });
  await assert.rejects(
    two.ada.append({ session: "s", items: [{ id: "d", kind: "user_turn", text: "d" }], if_sequence: sequence }),
    (error) => code("CONFLICT", 412)(error) && error.details.sequence > sequence,
  );
  const { stats, sequence: last } = await served(open).ada.getSession({ session: "s" });
  assert.equal(stats.items, 3);
  const put = (tag, id) =>
    one.handler(
      new Request("http://s/v1/sessions/s/append", {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.ada}`, "content-type": "application/json", "if-match": tag },
        body: JSON.stringify({ items: [{ id, kind: "user_turn", text: id }] }),
      }),
    );
  const refused = await put(`"${last - 1}"`, "e");
  assert.deepEqual([refused.status, refused.headers.get("etag"), refused.headers.get("content-type")], [412, `"${last}"`, "application/problem+json"]);
  const past = { session: "s", if_sequence: sequence };
  for (const late of [
    () => two.ada.forget({ ...past, item_id: "a" }),
    () => two.ada.setCatalog({ ...past, items: [{ id: "t", kind: "tool", name: "t", description: "does" }] }),
  ]) {
    await assert.rejects(late(), code("CONFLICT", 412));
  }
  for (const tag of ['W/"1"', "1", '"a"', '"1", "2"']) assert.equal((await put(tag, "e")).status, 412, tag);
  const done = await put(`"${last}"`, "e");
  assert.deepEqual([done.status, done.headers.get("etag")], [200, `"${(await done.json()).sequence}"`]);
  assert.equal((await put("*", "f")).status, 200);
  // So does a removal.
  const remove = async (tag) =>
    (await one.handler(new Request("http://s/v1/sessions/s", { method: "DELETE", headers: { authorization: `Bearer ${TOKENS.ada}`, "if-match": tag } })))
      .status;
  assert.deepEqual([await remove(`"${last}"`), await remove("1")], [412, 412]);
  await assert.rejects(two.ada.deleteSession({ session: "s", if_sequence: last }), code("CONFLICT", 412));
  const { sequence: present } = await two.ada.getSession({ session: "s" });
  assert.equal(await remove(`"${present}"`), 204);
});

test("requests of one session run one after the other, of many at once, in little memory", async () => {
  const { open } = places();
  const { ada, failures } = served(open, { limits: { kept: 3 } });
  const sessions = Array.from({ length: 12 }, (_, at) => `s${at}`);
  await Promise.all(sessions.map((id) => ada.createSession({ id })));
  await Promise.all(
    sessions.flatMap((session) => Array.from({ length: 8 }, (_, n) => ada.append({ session, items: [{ id: `u${n}`, kind: "user_turn", text: `turn ${n}` }] }))),
  );
  for (const session of sessions) {
    const { pack } = await ada.build({ session, build: { phase: "answer" } });
    for (let n = 0; n < 8; n += 1) assert.ok(pack.prompt.includes(`turn ${n}`));
  }
  // What nobody waits for is not begun.
  const controller = new AbortController();
  controller.abort();
  const handler = sessionHandler({ open, token: TOKENS });
  const aborted = new Request("http://s/v1/sessions/s0/append", {
    method: "POST",
    headers: { authorization: `Bearer ${TOKENS.ada}`, "content-type": "application/json" },
    body: JSON.stringify(BODIES.append),
  });
  Object.defineProperty(aborted, "signal", { value: controller.signal });
  assert.equal((await handler(aborted)).status, 499);
  assert.equal((await ada.getSession({ session: "s0" })).stats.items, 8);
  assert.deepEqual(failures, []);
});

test("an append is whole: of items and results where one is refused, none is there", async () => {
  const { open } = places();
  const { ada } = served(open);
  await ada.createSession({ id: "s", options: { limits: { max_artifact_bytes: 4_096 } } });
  const items = [
    { id: "u1", kind: "user_turn", text: "export" },
    { id: "c1", kind: "tool_call", text: "export()" },
  ];
  await assert.rejects(
    ada.append({
      session: "s",
      items,
      facts: [{ key: "k", value: "v" }],
      tool_results: [{ tool_call_id: "c1", tool_name: "export", raw_output: "x".repeat(5_000) }],
    }),
    (error) => code("QUOTA_EXCEEDED", 507)(error) && error.path.startsWith("/tool_results/0"),
  );
  const { stats } = await ada.getSession({ session: "s" });
  assert.deepEqual([stats.items, stats.facts, stats.artifacts], [0, 0, 0]);
  const bytes = Buffer.from([0, 255, 1, 254]);
  const { results } = await ada.append({
    session: "s",
    items,
    tool_results: [{ tool_call_id: "c1", tool_name: "export", media_type: "application/octet-stream", raw_output: { base64: bytes.toString("base64") } }],
  });
  assert.deepEqual(results, [{ item_id: "result:c1", handle: "artifact:result:c1", digested: results[0].digested }]);
  const mcp = { tool_call_id: "c2", tool_name: "look", result: { content: [{ type: "text", text: "seen" }] } };
  assert.equal(
    (await ada.append({ session: "s", items: [{ id: "c2", kind: "tool_call", text: "look()" }], mcp_results: [mcp] })).results[0].item_id,
    "result:c2",
  );
  await assert.rejects(
    ada.append({ session: "s", tool_results: [{ tool_call_id: "c3", tool_name: "t", raw_output: { base64: "%" } }] }),
    code("DECODE_FAILED", 422),
  );
  const messages = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hi" },
  ];
  assert.equal((await ada.syncMessages({ session: "s", messages, format: "openai-chat" })).added.length, 2);
  assert.equal((await ada.syncMessages({ session: "s", messages: [...messages, { role: "user", content: "Bye" }], format: "openai-chat" })).unchanged, 2);
  assert.equal(
    (await ada.ingestMessages({ session: "s", messages: [{ role: "user", content: "Again" }], format: "openai-chat", id_prefix: "more:" })).ids.length,
    1,
  );
  await assert.rejects(ada.syncMessages({ session: "s", messages, format: "chat" }), code("INVALID_INPUT", 422));
});

test("a session chooses among the tools of its catalog, which stays", async () => {
  const { open } = places();
  let { ada } = served(open);
  await ada.createSession({ id: "s" });
  await assert.rejects(ada.route({ session: "s", query: "mail" }), code("NOT_FOUND", 404));
  const items = [
    ["send_mail", "Sends a mail to an address"],
    ["read_file", "Reads a file of the disk"],
  ].map(([id, description]) => ({ id, kind: "tool", name: id, description, args_schema: { type: "object", properties: {} } }));
  assert.equal((await ada.setCatalog({ session: "s", items })).tools, 2);
  ({ ada } = served(open));
  const { route, cards, tools, pack } = await ada.route({
    session: "s",
    query: "send a mail",
    provider: "openai-chat",
    prompt: { budget_tokens: 400 },
    options: { top_k: 1 },
  });
  assert.deepEqual(
    [route.candidate_ids, cards[0].id, tools[0].function.name, pack.prompt.includes("[AVAILABLE TOOLS]")],
    [["send_mail"], "send_mail", "send_mail", true],
  );
  await ada.setCatalog({ session: "s", mcp: { tools: [{ name: "weather", inputSchema: { type: "object" } }] } });
  assert.equal((await ada.route({ session: "s", query: "weather" })).route.candidate_ids.length, 1);
  // An embedder of the operator's knows what tools and items are about.
  const about = (texts) => texts.map((text) => [/mail|letter/.test(text) ? 1 : 0, /file|disk/.test(text) ? 1 : 0, 0.1]);
  for (const [embed, wanted] of [
    [async (texts) => about(texts), "send_mail"],
    [
      async () => {
        throw new Error("no model");
      },
      undefined,
    ],
  ]) {
    const { ada: asking, failures } = served(open, { manager: { clock: CLOCK, embed } });
    await asking.setCatalog({ session: "s", items });
    assert.equal((await asking.route({ session: "s", query: "a letter" })).route.candidate_ids[0], wanted);
    assert.equal(failures.length, wanted ? 0 : 1);
  }
  for (const body of [{}, { items, mcp: { tools: [] } }]) await assert.rejects(ada.setCatalog({ session: "s", ...body }), code("INVALID_INPUT", 422));
});

test("a catalog, a deletion or what is forgotten that fails is done by the next attempt", async () => {
  const { open } = places();
  let failing;
  // Fails once, before it is done or after.
  const breaking = (tenant, name) => {
    const storage = open(tenant, name);
    const broken =
      (method) =>
      async (...args) => {
        const [of, how, when] = failing ?? [];
        if (how !== method || !name.startsWith(of)) return storage[method](...args);
        failing = undefined;
        if (when === "after") await storage[method](...args);
        throw new Error("disk full");
      };
    return Object.fromEntries(Object.keys(storage).map((method) => [method, broken(method)]));
  };
  const { ada, failures } = served(breaking);
  const items = [{ id: "send_mail", kind: "tool", name: "send_mail", description: "Sends a mail" }];
  for (const when of ["before", "after"]) {
    const steps = [
      [
        "service/",
        "append",
        () => ada.setCatalog({ session: "s", items }),
        async () => assert.deepEqual((await ada.route({ session: "s", query: "send a mail" })).route.candidate_ids, ["send_mail"]),
      ],
      [
        "session/",
        "compact",
        () => ada.forget({ session: "s", item_id: "u1" }),
        async () => assert.ok(!(await ada.build({ session: "s", build: { phase: "answer" } })).pack.prompt.includes("quokka")),
      ],
      ["session/", "delete", () => ada.deleteSession({ session: "s" })],
      ["service/", "delete", () => ada.deleteSession({ session: "s" })],
    ];
    for (const [of, method, ask, holds] of steps) {
      await ada.createSession({ id: "s" });
      await ada.append(
        {
          session: "s",
          items: [
            { id: "u1", kind: "user_turn", text: "quokka" },
            { id: "u2", kind: "user_turn", text: "and now?" },
          ],
        },
        { idempotency_key: "k" },
      );
      failing = [of, method, when];
      await assert.rejects(ask(), code("INTERNAL", 500), `${of}${method}`);
      assert.equal(failing, undefined);
      await ask().catch(code("NOT_FOUND", 404));
      await holds?.();
      await ada.deleteSession({ session: "s" }).catch(code("NOT_FOUND", 404));
      await assert.rejects(ada.getSession({ session: "s" }), code("NOT_FOUND", 404));
    }
  }
  assert.equal(failures.length, 8);
});

test("a catalog and what is forgotten are done once for a key, also after restarts", async () => {
  const where = places();
  let { ada } = served(where.open);
  await ada.createSession({ id: "s" });
  await ada.append({
    session: "s",
    items: [
      { id: "u1", kind: "user_turn", text: "my number is quokka" },
      { id: "u2", kind: "user_turn", text: "and now?" },
    ],
  });
  const catalogOf = (name) => ({ session: "s", items: [{ id: name, kind: "tool", name, description: "Sends a mail" }] });
  const set = await ada.setCatalog(catalogOf("send_mail"), { idempotency_key: "c" });
  assert.ok(set.sequence > 0);
  await ada.setCatalog(catalogOf("post_mail"), { idempotency_key: "d" });
  const forgotten = await ada.forget({ session: "s", item_id: "u1" }, { idempotency_key: "f" });
  assert.ok(forgotten.sequence > set.sequence);
  for (const when of ["at once", "after a restart"]) {
    // Neither is the first catalog there again, nor is another item looked for.
    assert.deepEqual(await ada.setCatalog(catalogOf("send_mail"), { idempotency_key: "c" }), set, when);
    assert.deepEqual((await ada.route({ session: "s", query: "send a mail" })).route.candidate_ids, ["post_mail"]);
    assert.deepEqual(await ada.forget({ session: "s", item_id: "u1" }, { idempotency_key: "f" }), forgotten, when);
    await assert.rejects(ada.setCatalog(catalogOf("other"), { idempotency_key: "c" }), code("INVALID_INPUT", 422));
    await assert.rejects(ada.forget({ session: "s", item_id: "u2" }, { idempotency_key: "f" }), code("INVALID_INPUT", 422));
    // Refused is not done.
    await assert.rejects(ada.forget({ session: "s", item_id: "none" }, { idempotency_key: `n ${when}`.replaceAll(" ", "-") }), code("NOT_FOUND", 404));
    await assert.rejects(ada.forget({ session: "s", item_id: "none" }, { idempotency_key: `n ${when}`.replaceAll(" ", "-") }), code("NOT_FOUND", 404));
    ({ ada } = served(where.open));
  }
});

test("what is forgotten is gone from answers to keys, too", async () => {
  const where = places();
  const { ada } = served(where.open);
  await ada.createSession({ id: "s" });
  await ada.append(
    {
      session: "s",
      items: [{ id: "c1", kind: "tool_call", text: "t()" }],
      tool_results: [{ tool_call_id: "c1", tool_name: "t", raw_output: "my number is quokka" }],
    },
    { idempotency_key: "a" },
  );
  const read = () => ada.drilldown({ session: "s", handle: "artifact:result:c1", selector: { type: "lines", start: 0, end: 1 } }, { idempotency_key: "d" });
  assert.equal((await read()).slice.text, "my number is quokka");
  assert.ok((await where.stores.get("ada").session("service/s").load()).parts.join("").includes("quokka"));
  await ada.forget({ session: "s", item_id: "result:c1" });
  assert.ok(!(await stored(where)).includes("quokka"));
  assert.equal((await read()).slice.text, "");
  assert.equal(
    (
      await ada.append(
        {
          session: "s",
          items: [{ id: "c1", kind: "tool_call", text: "t()" }],
          tool_results: [{ tool_call_id: "c1", tool_name: "t", raw_output: "my number is quokka" }],
        },
        { idempotency_key: "a" },
      )
    ).results.length,
    1,
  );
});

test("what is forgotten is gone from answers to keys that only the store has", async () => {
  for (const isRestarted of [false, true]) {
    const where = places();
    let { ada } = served(where.open);
    await ada.createSession({ id: "s" });
    await ada.append({
      session: "s",
      items: [{ id: "c1", kind: "tool_call", text: "t()" }],
      tool_results: [{ tool_call_id: "c1", tool_name: "t", raw_output: "my number is quokka" }],
    });
    await ada.drilldown({ session: "s", handle: "artifact:result:c1", selector: { type: "lines", start: 0, end: 1 } }, { idempotency_key: "d" });
    for (let n = 0; n < 257; n += 1) await ada.append({ session: "s" }, { idempotency_key: `k${n}` });
    if (isRestarted) ({ ada } = served(where.open));
    assert.ok((await where.stores.get("ada").session("service/s").load()).parts.join("").includes("quokka"));
    await ada.forget({ session: "s", item_id: "result:c1" });
    assert.ok(!(await stored(where)).includes("quokka"));
    // The newest answers stay.
    assert.equal((await ada.append({ session: "s" }, { idempotency_key: "k256" })).sequence, 1);
  }
});

test("what is forgotten is gone from the store, too", async () => {
  const where = places();
  const { ada } = served(where.open);
  await ada.createSession({ id: "s" });
  await ada.append(
    {
      session: "s",
      items: [
        { id: "u1", kind: "user_turn", text: "my number is quokka" },
        { id: "u2", kind: "user_turn", text: "and now?" },
      ],
    },
    { idempotency_key: "k" },
  );
  await ada.build({ session: "s", build: { phase: "answer" } });
  assert.ok((await stored(where)).includes("quokka"));
  const { sequence } = await ada.forget({ session: "s", item_id: "u1" });
  assert.ok(!(await stored(where)).includes("quokka"));
  assert.equal((await ada.getSession({ session: "s" })).sequence, sequence);
  await assert.rejects(ada.forget({ session: "s", item_id: "u3" }), code("NOT_FOUND", 404));
  const { pack } = await served(where.open).ada.build({ session: "s", build: { phase: "answer" } });
  assert.ok(pack.prompt.includes("and now?") && !pack.prompt.includes("quokka"));
});

test("a journal that is damaged is a failure, or read as far as it goes where the operator says so", async () => {
  const where = places();
  const { ada } = served(where.open);
  await ada.createSession({ id: "s" });
  for (let n = 0; n < 3; n += 1) await ada.append({ session: "s", items: [{ id: `u${n}`, kind: "user_turn", text: `turn ${n}` }] });
  const broken = (tenant, name) => ({
    ...where.open(tenant, name),
    load: async () => {
      const { first, parts } = await where.open(tenant, name).load();
      return { first, parts: name.startsWith("session/") ? parts.map((part, at) => (at === 1 ? part.slice(0, -9) : part)) : parts };
    },
  });
  const { ada: other, failures } = served(broken);
  await assert.rejects(other.getSession({ session: "s" }), code("JOURNAL_DAMAGED", 500));
  assert.equal(failures.length, 1);
  const { findings, stats } = await served(broken, { salvage: true }).ada.getSession({ session: "s" });
  assert.ok(findings.length > 0 && stats.items < 3);
});

test("a tenant has as many sessions as it may, of whichever process", async () => {
  const store = memoryStore();
  const limited = () => served(undefined, { store, limits: { sessions: 3 } });
  const { ada, bob, failures } = limited();
  const made = await Promise.allSettled(["a", "b", "c", "d", "e"].map((id) => ada.createSession({ id })));
  assert.deepEqual(
    made.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"],
  );
  const before = await stored({ stores: new Map([["all", store]]) });
  await assert.rejects(ada.createSession({ id: "d" }), code("QUOTA_EXCEEDED", 507));
  await assert.rejects(ada.createSession({}, { idempotency_key: "k" }), code("QUOTA_EXCEEDED", 507));
  // One that is there is told so, and others are no matter.
  await assert.rejects(ada.createSession({ id: "a" }), code("DUPLICATE_ID", 409));
  assert.equal(await stored({ stores: new Map([["all", store]]) }), before, "a refusal changed something");
  await bob.createSession({ id: "a" });
  await ada.append({ session: "a", ...BODIES.append });
  // What fails takes no place.
  await ada.deleteSession({ session: "b" });
  await assert.rejects(ada.createSession({ id: "d", options: { apend: true } }), code("UNKNOWN_FIELD", 422));
  await ada.createSession({ id: "d" });
  const { ada: other } = limited();
  await assert.rejects(other.createSession({ id: "e" }), code("QUOTA_EXCEEDED", 507));
  await other.deleteSession({ session: "d" });
  await ada.createSession({ id: "e" });
  assert.deepEqual(failures, []);
});

test("a session takes as many bytes as it may", async () => {
  const where = places();
  const limits = { session_bytes: 60_000 };
  let { ada } = served(where.open, { limits });
  await ada.createSession({ id: "s" });
  const turn = (n, rows) => ({
    session: "s",
    items: [
      { id: `u${n}`, kind: "user_turn", text: `turn ${n}` },
      { id: `c${n}`, kind: "tool_call", text: "t()" },
    ],
    tool_results: [{ tool_call_id: `c${n}`, tool_name: "t", raw_output: `row of ${n}\n`.repeat(rows) }],
  });
  await ada.append(turn(0, 4_000), { idempotency_key: "k0" });
  const before = await stored(where);
  for (const add of [
    () => ada.append(turn(1, 4_000)),
    () => ada.append(turn(1, 4_000), { idempotency_key: "k1" }),
    () => ada.ingestMessages({ session: "s", messages: [{ role: "user", content: "x".repeat(40_000) }], format: "openai-chat" }),
    () => ada.syncMessages({ session: "s", messages: [{ role: "user", content: "x".repeat(40_000) }], format: "openai-chat" }),
  ]) {
    await assert.rejects(add(), code("QUOTA_EXCEEDED", 507));
    assert.equal(await stored(where), before, "a refusal stored something");
    assert.equal((await ada.getSession({ session: "s" })).stats.items, 3);
  }
  // What is there can be read and asked for, and what has room comes in.
  assert.equal((await ada.append(turn(0, 4_000), { idempotency_key: "k0" })).results.length, 1);
  await ada.append(turn(2, 10));
  const { pack } = await ada.build({ session: "s", build: { phase: "answer" } });
  assert.match(pack.prompt, /turn 2/);
  // A session that is full already, as the limit was another before.
  ({ ada } = served(where.open, { limits: { session_bytes: 10 } }));
  await assert.rejects(ada.append(turn(3, 1)), code("QUOTA_EXCEEDED", 507));
  const read = { session: "s", handle: "artifact:result:c0", selector: { type: "lines", start: 0, end: 1 } };
  assert.equal((await ada.drilldown(read)).slice.text, "row of 0");
  await assert.rejects(ada.drilldown({ ...read, inject: true }), code("QUOTA_EXCEEDED", 507));
  // Steps of a running prompt are remembered, full or not.
  const step = async () => (await ada.build({ session: "s", build: { phase: "answer", running: true } })).pack.running.step;
  assert.deepEqual([await step(), await step()], [1, 2]);
  await ada.forget({ session: "s", item_id: "u0" });
  await ada.deleteSession({ session: "s" });
  // A storage that cannot tell is a failure, not a session without a limit.
  const mute = served((tenant, name) => ({ ...where.open(tenant, name), record: undefined }), { limits });
  await mute.ada.createSession({ id: "mute" });
  await assert.rejects(mute.ada.append({ session: "mute", ...BODIES.append }), code("CALLBACK_FAILED", 500));
  assert.equal(mute.failures.length, 1);
  await ada.deleteSession({ session: "mute" });
  // Many small turns: what was written behind the last whole parts is written anew when that makes room.
  ({ ada } = served(where.open, { limits }));
  await ada.createSession({ id: "long" });
  let turns = 0;
  for (let isFull = false; !isFull; turns += 1) {
    isFull = await ada.append({ session: "long", items: [{ id: `u${turns}`, kind: "user_turn", text: `turn ${turns} ${"word ".repeat(20)}` }] }).then(
      () => false,
      (error) => code("QUOTA_EXCEEDED", 507)(error),
    );
  }
  const [, { bytes }] = await where.stores.get("ada").sessions();
  assert.ok(turns > 200 && bytes <= 60_000, `${turns} turns, ${bytes} bytes`);
});

test("sessions end that nobody wrote to, whole, and none that is in use", async () => {
  let now = 1_000_000;
  const MINUTE = 60_000;
  const store = memoryStore({ clock: () => now });
  const { handler, ada, bob, failures } = served(undefined, { store });
  const items = [{ id: "send_mail", kind: "tool", name: "send_mail", description: "Sends a mail" }];
  for (const [client, id] of [
    [ada, "old"],
    [bob, "old"],
    [ada, "catalog"],
    [ada, "keyed"],
    [ada, "made"],
  ]) {
    await client.createSession({ id });
    if (id !== "made")
      await client.append({
        session: id,
        items: [{ id: "u1", kind: "user_turn", text: "quokka" }],
        tool_results: [{ tool_call_id: "c", tool_name: "t", raw_output: "row\n".repeat(5_000) }],
      });
    now += MINUTE;
  }
  await loggedDecision(ada, "Keep orders in PostgreSQL");
  await store.session("somebody else's").append(0, ["1"]);
  now += 60 * MINUTE;
  // A catalog alone is a write, too.
  await ada.setCatalog({ session: "catalog", items });
  await ada.append({ session: "keyed", ...BODIES.append }, { idempotency_key: "k" });
  assert.deepEqual(await handler.prune({ idle_ms: 64 * MINUTE + 1, now }), [{ tenant: "ada", session: "old", written_at: 1_000_000 }]);
  await assert.rejects(ada.getSession({ session: "old" }), code("NOT_FOUND", 404));
  await bob.getSession({ session: "old" });

  // One that is being written when the removal begins, and one that is written between the listing and the removal.
  const list = store.sessions.bind(store);
  store.sessions = async () => {
    const listed = await list();
    await ada.append({ session: "made", ...BODIES.append });
    return listed;
  };
  const writing = bob.append({ session: "old", ...BODIES.append });
  assert.deepEqual(await handler.prune({ idle_ms: 30 * MINUTE, now }), []);
  delete store.sessions;
  await writing;
  // And one that another process writes.
  store.sessions = async () => {
    const listed = await list();
    await served(undefined, { store }).ada.append({ session: "keyed", items: [{ id: "u7", kind: "user_turn", text: "of another process" }] });
    return listed;
  };
  now += 60 * MINUTE;
  const removed = await handler.prune({ idle_ms: 30 * MINUTE, now });
  delete store.sessions;
  assert.deepEqual(
    removed.map(({ tenant, session }) => [tenant, session]),
    [
      ["ada", "catalog"],
      ["ada", "made"],
      ["bob", "old"],
    ],
  );
  assert.equal((await ada.getSession({ session: "keyed" })).stats.items, 4);
  assert.deepEqual(
    (await store.sessions()).map(({ id }) => id),
    [`["ada","decisions"]`, `["ada","service/keyed"]`, `["ada","session/keyed"]`, "somebody else's"],
  );
  assert.equal((await ada.exportDecisions({})).decisions.length, 1);
  await ada.createSession({ id: "old" });
  assert.equal((await ada.getSession({ session: "old" })).stats.items, 0);
  assert.deepEqual(failures, []);

  for (const [options, wanted, path] of [
    [{}, "MISSING_FIELD", "/idle_ms"],
    [{ idle_ms: -1 }, "OUT_OF_RANGE", "/idle_ms"],
    [{ idle_ms: 1, now: "1" }, "OUT_OF_RANGE", "/now"],
    [{ idle_ms: 1, max: 1 }, "UNKNOWN_FIELD", "/max"],
  ]) {
    await assert.rejects(handler.prune(options), { code: wanted, path });
  }
  await assert.rejects(served(places().open).handler.prune({ idle_ms: 1 }), { code: "UNSUPPORTED", path: "/store" });
  const { handler: timeless, ada: late } = served(undefined, { store: memoryStore() });
  assert.deepEqual(await timeless.prune({ idle_ms: 1 }), []);
  await late.createSession({ id: "s" });
  await assert.rejects(timeless.prune({ idle_ms: 0 }), { code: "MISSING_FIELD", path: "/clock" });
});

test("a removal that fails is done by the next", async () => {
  let now = 1_000_000;
  const store = memoryStore({ clock: () => now });
  const { handler, ada } = served(undefined, { store });
  await ada.createSession({ id: "s" });
  await ada.append({ session: "s", ...BODIES.append });
  now += 1_000;
  const remove = store.delete.bind(store);
  store.delete = async (id, record) => {
    if (id.includes("service/")) throw new Error("disk full");
    return remove(id, record);
  };
  await assert.rejects(handler.prune({ idle_ms: 1_000, now }), /disk full/);
  delete store.delete;
  assert.deepEqual(
    (await handler.prune({ idle_ms: 1_000, now })).map(({ session }) => session),
    ["s"],
  );
  assert.deepEqual(await store.sessions(), []);
  await assert.rejects(ada.getSession({ session: "s" }), code("NOT_FOUND", 404));
});

test("what is deleted is gone, and a name may begin anew", async () => {
  const where = places();
  const { ada } = served(where.open);
  await ada.createSession({ id: "s" });
  await ada.append({ session: "s", items: [{ id: "u1", kind: "user_turn", text: "quokka" }] });
  assert.equal(await ada.deleteSession({ session: "s" }), undefined);
  for (const ask of [() => ada.getSession({ session: "s" }), () => ada.deleteSession({ session: "s" })]) await assert.rejects(ask(), code("NOT_FOUND", 404));
  assert.ok(!(await stored(where)).includes("quokka"));
  await ada.createSession({ id: "s" });
  assert.equal((await ada.getSession({ session: "s" })).stats.items, 0);
});

test("agents share a memory of decisions, and follow it", async () => {
  const { open } = places();
  const { ada, bob, client } = served(open);
  const changes = [];
  const stream = ada.decisionChanges();
  const following = (async () => {
    for await (const snapshot of stream) if (changes.push(snapshot) === 2) return;
  })();
  await new Promise((done) => setTimeout(done, 20));
  const first = await loggedDecision(client("ada"), "Keep orders in PostgreSQL");
  await loggedDecision(client("ada"), "Ship on Mondays");
  await following;
  assert.deepEqual(
    changes.map(({ decisions }) => decisions.map(({ summary }) => summary)),
    [["Keep orders in PostgreSQL"], ["Ship on Mondays"]],
  );
  assert.equal((await bob.exportDecisions({})).decisions.length, 0, "another tenant's");
  // Another process has the same, with the same revisions, and who comes again gets what was missed.
  const again = served(open).ada;
  const whole = await again.exportDecisions({});
  assert.deepEqual([whole.decisions.length, whole.revision], [2, changes[1].revision]);
  assert.deepEqual(whole, await ada.exportDecisions({}));
  assert.equal((await again.exportDecisions({ since: changes[0].revision })).decisions.length, 1);
  for await (const missed of again.decisionChanges({ since: changes[0].revision })) {
    assert.deepEqual(
      missed.decisions.map(({ summary }) => summary),
      ["Ship on Mondays"],
    );
    break;
  }
  const { result } = await again.decisionsRpc({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_decision", arguments: { id: first } } });
  assert.equal(result.structuredContent.found, true);
  await assert.rejects(again.exportDecisions({ since: -1 }), code("INVALID_INPUT", 422));
  assert.equal(await again.decisionsRpc({ jsonrpc: "2.0", method: "notifications/initialized" }), undefined);
});

test("guardrails are added and removed for all agents of a tenant, and stay", async () => {
  const { open } = places();
  let { ada, bob } = served(open);
  const rule = { id: "floor", condition_stakes: "high", condition_confidence: "< 0.5", action: "block", message: "too risky" };
  const changes = ada.decisionChanges();
  const first = changes.next();
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(await ada.addGuardrails({ rules: [rule] }), { added: 1, duplicates: [] });
  assert.deepEqual(
    (await first).value.guardrails.map(({ id }) => id),
    ["floor"],
    "who follows is not told",
  );
  await changes.return();
  assert.deepEqual(await ada.addGuardrails({ rules: rule }), { added: 0, duplicates: ["floor"] });
  await assert.rejects(
    ada.addGuardrails({
      rules: [
        { ...rule, id: "other" },
        { ...rule, id: "bad", action: "no" },
      ],
    }),
    (error) => code("INVALID_INPUT", 422)(error) && error.path === "/rules/1/action",
  );
  const check = async (client) => {
    const { result } = await client.decisionsRpc({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "check_action", arguments: { description: "Drop the table", stakes: "high", confidence: 0.2 } },
    });
    return result.structuredContent.allowed;
  };
  for (let process = 0; process < 2; process += 1) {
    assert.deepEqual([await check(ada), await check(bob)], [false, true]);
    assert.deepEqual(
      (await ada.exportDecisions({})).guardrails.map(({ id }) => id),
      ["floor"],
    );
    ({ ada, bob } = served(open));
  }
  assert.deepEqual([await ada.removeGuardrail({ id: "floor" }), await ada.removeGuardrail({ id: "floor" })], [{ removed: true }, { removed: false }]);
  assert.equal(await check(served(open).ada), true);
});

test("a memory of decisions is the same after hundreds of changes, some of them of two processes", async () => {
  const { open } = places();
  const one = served(open).ada;
  let two = served(open).ada;
  for (let n = 0; n < 300; n += 1) {
    await loggedDecision(n % 7 === 0 ? two : one, `Decision number ${n} of the team`);
    if (n % 50 === 0) two = served(open).ada;
  }
  const whole = await served(open).ada.exportDecisions({});
  assert.equal(whole.decisions.length, 300);
  // Who only reads has what it read last; who writes finds out.
  await loggedDecision(one, "The last one");
  assert.deepEqual(await one.exportDecisions({}), await served(open).ada.exportDecisions({}));
});

test("the description names every operation, and is what the answers are", async () => {
  const described = openApi();
  const { open } = places();
  const { handler } = served(open);
  const response = await handler(new Request("http://s/v1/openapi.json"));
  assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(described)));
  assert.equal(described.openapi, "3.1.0");
  const operations = Object.values(described.paths).flatMap((one) => Object.values(one));
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  for (const { operationId, responses } of operations)
    assert.ok(responses.default.content["application/problem+json"] && Object.keys(responses).length === 2, operationId);
  // Each path is there: without a token it is 401, not 404.
  for (const [path, methods] of Object.entries(described.paths)) {
    for (const method of Object.keys(methods)) {
      const answer = await handler(
        new Request(`http://s${path.replace("{session}", "s")}`, {
          method: method.toUpperCase(),
          headers: { authorization: `Bearer ${TOKENS.ada}`, "content-type": "application/json" },
          ...(["post", "put"].includes(method) && { body: "[]" }),
        }),
      );
      assert.notEqual(answer.status, 405);
      if (answer.headers.get("content-type") === "text/event-stream") await answer.body.cancel();
      else assert.ok(!(await answer.text()).includes("there is nothing here"), `${method} ${path}`);
    }
  }
});

test("pages ask where their origin is named, and options are checked", async () => {
  const { open } = places();
  const handler = sessionHandler({ open, token: TOKENS, origins: ["https://app.example"] });
  const from = (origin, init = {}) =>
    handler(new Request("https://service.example/v1/sessions/s", { ...init, headers: { origin, authorization: `Bearer ${TOKENS.ada}`, ...init.headers } }));
  const named = await from("https://app.example");
  assert.deepEqual([named.status, named.headers.get("access-control-allow-origin")], [404, "https://app.example"]);
  const other = await from("https://evil.example");
  assert.deepEqual([other.status, other.headers.get("access-control-allow-origin")], [403, null]);
  const preflight = await from("https://app.example", { method: "OPTIONS", headers: { "access-control-request-method": "PUT" } });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-methods"), /PUT/);
  for (const [options, wanted, path] of [
    [{}, "MISSING_FIELD", "/open"],
    [{ open }, "MISSING_FIELD", "/token"],
    [{ open, token: "" }, "INVALID_INPUT", "/token"],
    [{ open, token: { ada: undefined } }, "INVALID_INPUT", "/token"],
    [{ open, forward: open, token: "t" }, "INVALID_INPUT", "/forward"],
    [{ open, token: {} }, "INVALID_INPUT", "/token"],
    [{ open, token: "t", authorize: () => undefined }, "INVALID_INPUT", "/token"],
    [{ open, authorize: 1 }, "INVALID_INPUT", "/authorize"],
    [{ open, token: "t", origins: ["*"] }, "INVALID_INPUT", "/origins/0"],
    [{ open, token: "t", limits: { body_bytes: 1 } }, "OUT_OF_RANGE", "/limits/body_bytes"],
    [{ open, token: "t", limits: { kept: 1.5 } }, "OUT_OF_RANGE", "/limits/kept"],
    [{ open, token: "t", limits: { body: 1 } }, "UNKNOWN_FIELD", "/limits/body"],
    [{ open, token: "t", limits: { sessions: 1 } }, "UNSUPPORTED", "/limits/sessions"],
    [{ store: memoryStore(), token: "t", limits: { sessions: -1 } }, "OUT_OF_RANGE", "/limits/sessions"],
    [{ open, store: memoryStore(), token: "t" }, "INVALID_INPUT", "/store"],
    [{ open, token: "t", limits: { session_bytes: 0.5 } }, "OUT_OF_RANGE", "/limits/session_bytes"],
    [{ forward: open, token: "t", limits: { session_bytes: 1 } }, "UNSUPPORTED", "/limits/session_bytes"],
    [{ store: {}, token: "t" }, "INVALID_INPUT", "/store"],
    [{ forward: open, store: memoryStore(), token: "t" }, "INVALID_INPUT", "/forward"],
    [{ open, token: "t", max: 1 }, "UNKNOWN_FIELD", "/max"],
    [{ open, token: "t", manager: { budgets: 1 } }, "UNKNOWN_FIELD", undefined],
  ]) {
    assert.throws(
      () => sessionHandler(options),
      (error) => (assert.equal(error.code, wanted, JSON.stringify(options)), path === undefined || assert.equal(error.path, path), true),
    );
  }
  const { ada } = served(open);
  for (const [options, wanted, path] of [
    [{ clock: 1 }, "POLICY_VIOLATION", "/options/clock"],
    [{ apend: true }, "UNKNOWN_FIELD", "/options/apend"],
    [{ salvage: true }, "UNKNOWN_FIELD", "/options/salvage"],
    [{ limits: { max_items: -1 } }, "OUT_OF_RANGE", "/options/limits/max_items"],
  ]) {
    await assert.rejects(ada.createSession({ id: "bad", options }), (error) => (assert.deepEqual([error.code, error.path], [wanted, path]), true));
  }
  await assert.rejects(ada.getSession({ session: "bad" }), code("NOT_FOUND", 404));
});

const ELSEWHERE = `
import { ContextManager } from "contextweaver";
import { sessionClient, sessionHandler } from "contextweaver/service";
import { memoryStore } from "contextweaver/storage";
import { assert } from "./assert.mjs";
import { ATTACKS, TOKENS, conversation, holdsTheAttacks, loggedDecision } from "./service-cases.mjs";
const store = memoryStore();
const handler = sessionHandler({ open: (tenant, name) => store.session(JSON.stringify([tenant, name])), token: TOKENS, limits: { body_bytes: 64 * 1024 } });
const fetch = (url, init) => handler(new Request(url, init));
const [ada, bob] = ["ada", "bob"].map((tenant) => sessionClient({ url: "http://service.test", token: TOKENS[tenant], fetch }));
await ada.createSession({ id: "secret" });
await bob.createSession({ id: "own" });
const manager = new ContextManager({ clock: Date.now });
for (const { append, build } of conversation(4)) {
  manager.ingestAll(append.items);
  for (const result of append.tool_results) manager.ingestToolResult(result);
  for (const fact of append.facts ?? []) manager.addFact(fact);
  await ada.append({ session: "secret", ...append });
  assert.equal((await ada.build({ session: "secret", build })).pack.prompt, manager.build(build).prompt);
}
const { sequence } = await ada.getSession({ session: "secret" });
await holdsTheAttacks(fetch, ATTACKS, assert);
assert.equal((await ada.getSession({ session: "secret" })).sequence, sequence);
const changes = ada.decisionChanges();
const first = changes.next();
await new Promise((done) => setTimeout(done, 50));
await loggedDecision(ada, "Keep orders in PostgreSQL");
assert.equal((await first).value.decisions[0].summary, "Keep orders in PostgreSQL");
await changes.return();
console.log("held");
`;

for (const [name, args] of [
  ["deno", ["run", "--no-prompt", "--cached-only", "--node-modules-dir=manual"]],
  ["bun", []],
]) {
  test(`the service in ${name}`, async (t) => {
    const program = await optionalProgram(name);
    if (!has(t, program.path, { ...program, optional: true })) return;
    const place = await project(`service-${name}`, { "main.mjs": ELSEWHERE }, { also: ["service-cases.mjs"] });
    const env = { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(place, ".deno") };
    assert.match((await run(program.path, [...args, "main.mjs"], { cwd: place, env })).stdout, /^held$/m);
  });
}

test("an answer that was cut off is an error, not an answer", async () => {
  for (const body of ["", `{"sequence":1,"sli`]) {
    const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch: async () => new Response(body, { status: 200 }) });
    await assert.rejects(client.drilldown({ session: "s", handle: "h", selector: { type: "head" } }), { code: "INTERNAL", message: "the answer was cut off" });
  }
  const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch: async () => new Response(null, { status: 204 }) });
  assert.equal(await client.deleteSession({ session: "s" }), undefined);
});

test("what stands before the service and answers in JSON is told by its status", async () => {
  for (const body of ['{"message":"no healthy upstream"}', '{"code":"bad_gateway","detail":"x"}', "null", "<html>"]) {
    const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch: async () => new Response(body, { status: 502 }) });
    await assert.rejects(client.getSession({ session: "s" }), (error) => {
      assert.deepEqual([error.code, error.message, error.details], ["INTERNAL", "the service answered 502", { status: 502 }], body);
      return cw.ContextWeaverError.is(error);
    });
  }
});

test("a client sends nothing to a place that no session has", async () => {
  const asked = [];
  const client = sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch: async (url) => (asked.push(url), new Response("{}")) });
  for (const session of [undefined, null, "", ".", "..", "a/b", "\ud800", 7])
    await assert.rejects(client.append({ session, items: [] }), { code: "INVALID_INPUT", path: "/session" });
  assert.deepEqual(asked, []);
  await client.getSession({ session: "a.b~c" });
  assert.deepEqual(asked, ["http://service.test/v1/sessions/a.b~c"]);
});

test("events are read whatever pieces they come in, in time that is linear in them", async () => {
  // Reading each piece with all before it takes hours here.
  const large = { decisions: "é".repeat(2_000_000) };
  const bytes = new TextEncoder().encode(`: ok\n\nid: 1\ndata: {"revision":1}\n\ndata: ${JSON.stringify(large)}\n\ndata: {"revis`);
  let at = 0;
  const pull = (controller) => (at < bytes.length ? controller.enqueue(bytes.subarray(at, (at += 15))) : controller.close());
  const fetch = async () => new Response(new ReadableStream({ pull }));
  const told = [];
  for await (const change of sessionClient({ url: "http://service.test", token: TOKENS.ada, fetch }).decisionChanges()) told.push(change);
  assert.deepEqual(told, [{ revision: 1 }, large]);
});
