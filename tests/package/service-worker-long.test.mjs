// Sessions in Durable Objects lose nothing: long ones and many, while objects are evicted, the whole runtime is killed and started
// anew, and writes fail at every place. What was acknowledged is there; what was not is there whole, or absent.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import test, { describe } from "node:test";
import { pathToFileURL } from "node:url";
import { has, here, long, packageDir, project, temporaryFolder } from "./harness.mjs";
import { random } from "./random-logs.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

const { ContextManager, ContextWeaverError } = await import(pathToFileURL(join(packageDir, "dist/node/index.js")));
const { sessionClient } = await import(pathToFileURL(join(packageDir, "dist/service.js")));

const installed = existsSync(join(here, "node_modules", "workerd"));
const missing = "workerd is not installed for this platform";

/** Bytes of the longest value, and of the longest row, that the database of a Durable Object takes. */
const MAX_ROW = 2_000_000;
const QUERY = "which order was held in Lisbon?";
const PHASES = ["route", "call", "interpret", "answer"];
const TENANTS = ["ada", "bob", "eve", "joe", "kim", "lea", "max", "zoe"];
const tokenOf = (tenant) => `${tenant}-3Kd6nB1pHc5Jf0Ga`;
/** As in the Worker. */
const clock = () => 1_700_000_000_000;
const MIB = 2 ** 20;
/** Events up to which a session is short: what fails makes the object read it again, which takes the longer the more there is. */
const EARLY = 4_000;

let modules;
/** What both tests run, made once. */
function bundled() {
  modules ??= project("service-worker-long", {}, { also: ["service-worker-faults.mjs"] }).then((folder) =>
    bundleWorker(join(folder, "service-worker-faults.mjs")),
  );
  return modules;
}

/** The Worker in a process that is killed and started anew, over what is stored. */
class World {
  restarts = 0;
  retries = 0;
  evictions = 0;
  /** What the processes before have told. */
  told = { injected: {} };
  #folder;
  #modules;
  #miniflare;
  #ready;
  #gone;
  #leave;
  /** Restarts one after the other. */
  #last = Promise.resolve();

  async start(t) {
    this.#folder = await temporaryFolder("long");
    this.#modules = await bundled();
    this.#ready = this.#open();
    t.after(async () => {
      await this.#miniflare.dispose();
      await rm(this.#folder, { recursive: true, force: true });
    });
    await this.#ready;
    return this;
  }

  async #open() {
    const { Miniflare } = await import("miniflare");
    this.#gone = new Promise((_, leave) => (this.#leave = leave));
    this.#gone.catch(() => {});
    this.#miniflare = new Miniflare({
      modules: this.#modules,
      modulesRoot: "/",
      compatibilityDate: "2025-06-01",
      durableObjects: Object.fromEntries(
        [
          ["SESSIONS", "SessionObject"],
          ["DECISIONS", "DecisionObject"],
        ].map(([name, className]) => [name, { className, useSQLite: true }]),
      ),
      r2Buckets: ["BLOBS"],
      bindings: { TOKENS: JSON.stringify(Object.fromEntries(TENANTS.map((tenant) => [tenant, tokenOf(tenant)]))) },
      durableObjectsPersist: join(this.#folder, "objects"),
      r2Persist: join(this.#folder, "blobs"),
    });
    await this.#miniflare.ready;
  }

  /** Asks; what was under way when the process ended fails. */
  async fetch(url, init) {
    await this.#ready;
    const asked = this.#miniflare.dispatchFetch(url, init);
    asked.catch(() => {});
    return Promise.race([asked, this.#gone]);
  }

  async tell() {
    const now = await (await this.fetch("http://service.test/told")).json();
    const sum = { injected: { ...this.told.injected } };
    for (const [name, value] of Object.entries(now)) {
      if (name === "injected") for (const [place, count] of Object.entries(value)) sum.injected[place] = (sum.injected[place] ?? 0) + count;
      else sum[name] = name.startsWith("most_") ? Math.max(this.told[name] ?? 0, value) : (this.told[name] ?? 0) + value;
    }
    return sum;
  }

  /** Kills the process, whatever is under way, and starts another. */
  restart() {
    this.#last = this.#last.then(async () => {
      this.told = await this.tell();
      this.restarts += 1;
      this.#leave(new Error("the process has ended"));
      this.#ready = this.#miniflare.dispose().then(() => this.#open());
      await this.#ready;
    });
    return this.#last;
  }
}

const PLACES = [
  ["statement", 3],
  ["statement", 3],
  ["statement of a transaction", 8],
  ["statement of a transaction", 8],
  ["statement of a transaction", 12],
  ["transaction", 4],
  ["transaction", 4],
  ["sync", 6],
  ["sync", 6],
  ["put", 3],
  ["get", 4],
  ["answer", 1],
  ["answer", 1],
];

/** What every append comes to: each session fails here first, once at each, since a draw alone may never name one of them. */
const EVERY_APPEND = ["statement", "statement of a transaction", "transaction", "sync", "answer"];

/** Where and how an object is to fail: at the place named, or at one that is drawn. */
function planOf(draw, hasBlobs, named) {
  const [place, most] = named ? [named, 1] : hasBlobs && draw.chance(0.5) ? ["put", 1] : draw.pick(PLACES);
  return { place, left: 1 + draw.below(most), when: draw.pick(["before", "after"]), how: draw.pick(["error", "error", "abort"]) };
}

const WORDS = [
  "order",
  "12446",
  "refund",
  "the depot",
  "naïve",
  "漢字を書く",
  "👩‍👩‍👧",
  "delayed",
  '"quoted"',
  "invoice",
  "Lisbon",
  "sent",
  "paid",
  "held",
  "[TOOL RESULT]",
  "a\nb",
  "address",
  "\\path",
];
const words = (draw, most) => Array.from({ length: 1 + draw.below(most) }, () => draw.pick(WORDS)).join(" ");

/** The output of a tool, of so many bytes at least. */
function output(draw, mark, size) {
  const lines = [mark];
  for (let bytes = 0, row = 0; bytes < size; row += 1) {
    const line = `${row},order ${draw.below(100_000)} was ${draw.pick(["sent", "held", "paid"])} on day ${row % 28},${draw.pick(WORDS).replace("\n", " ")}`;
    lines.push(line);
    bytes += line.length;
  }
  return lines.join("\n");
}

const isLong = ({ raw_output }) => typeof raw_output !== "string" || raw_output.length > 8 * 1024;

/** Bytes that are no text, and small in another form. */
const noise = (draw, size) =>
  Buffer.alloc(
    size,
    Uint8Array.from({ length: 997 }, () => 128 + draw.below(128)),
  );

/** A session as its client sees it, with a manager in memory that is given what the service acknowledged. */
class Played {
  events = 0;
  #world;
  #draw;
  #chances;
  #faults;
  /** Places of an append at which none of this session has failed yet. */
  #untried = [...EVERY_APPEND];
  /** Where the first append with a large result fails, too. */
  #untriedOfLarge = ["put"];
  #client;
  #plan;
  #twin;
  #blobs = new Map();
  #handles = [];
  #older = [];
  #calls = 0;
  #sent = 0;
  #items = 0;
  /** Answers that were lost before the last one came. */
  #lost = 0;

  constructor(world, { seed, tenant, id, chances, options = {}, running = false }) {
    [this.#world, this.tenant, this.id, this.#chances] = [world, tenant, id, chances];
    [this.#draw, this.#faults] = [random(seed), random(seed + 1_000_003)];
    this.mark = `mark-${tenant}-${id}-`;
    this.object = JSON.stringify([tenant, `session/${id}`]);
    this.options = options;
    this.running = running;
    this.#twin = new ContextManager({ ...options, clock, get_blob: (hash) => this.#blobs.get(hash) });
    const fetch = (url, init) =>
      world.fetch(url, { ...init, headers: { ...init.headers, "x-object": this.object, ...(this.#plan && { "x-plan": JSON.stringify(this.#plan) }) } });
    this.#client = sessionClient({ url: "http://service.test", token: tokenOf(tenant), fetch });
  }

  async begin() {
    const { id } = await this.#ask("createSession", { id: this.id, options: this.options }, "make");
    assert.equal(id, this.id);
  }

  /** Plays until there are so many events. */
  async play(events, most) {
    const draw = this.#draw;
    while (this.events < events) {
      const size = Math.min(events - this.events, 1 + draw.below(draw.chance(0.1) ? 8 : most));
      await this.#append(this.#batch(size));
      if (draw.chance(this.#chances.build))
        await this.#build({ phase: draw.pick(PHASES), query: `order ${draw.below(100_000)}`, budget_tokens: draw.pick([4_000, 6_000]) });
      if (draw.chance(this.#chances.drilldown) && this.#handles.length > 0) await this.#drilldown(draw.chance(0.4));
      if (draw.chance(this.#chances.evict)) await this.evict();
      if (draw.chance(this.#chances.check)) await this.holds();
    }
  }

  /** A result that no row could hold: a text, or bytes that are none. Builds read texts. */
  async large(isText) {
    const mark = () => `${this.mark}${this.#sent++}`;
    const items = [];
    const result = this.#result(items, mark, isText ? 5 * MIB : 0);
    const tool_results = [isText ? result : { ...result, raw_output: { base64: noise(this.#draw, 5 * MIB + this.#sent).toString("base64") } }];
    await this.#append({ items, tool_results, facts: [], episodes: [] });
  }

  async evict() {
    this.#world.evictions += 1;
    await this.#world
      .fetch("http://service.test/evict", { headers: { "x-object": this.object } })
      .then((answer) => answer.text())
      .catch(() => {});
  }

  /** What is appended at once: so many events. */
  #batch(size) {
    const draw = this.#draw;
    const [items, tool_results, facts, episodes] = [[], [], [], []];
    const mark = () => `${this.mark}${this.#sent++}`;
    let left = size;
    while (left > 0) {
      if (left > 1 && draw.chance(0.01)) {
        const bytes = draw.chance(0.2) ? 9_000 + draw.below(draw.chance(0.1) ? 200_000 : 15_000) : draw.below(draw.chance(0.2) ? 8_000 : 600);
        tool_results.push(this.#result(items, mark, bytes));
        left -= 2;
        continue;
      }
      left -= 1;
      if (draw.chance(0.002))
        facts.push({ ...(draw.chance(0.5) && { fact_id: `f${this.#sent}` }), key: `key ${this.#sent}`, value: `${mark()} ${words(draw, 6)}` });
      else if (draw.chance(0.002)) episodes.push({ episode_id: `e${this.#sent}`, summary: `${mark()} ${words(draw, 12)}` });
      else
        items.push({
          id: `i${this.#sent}`,
          kind: draw.pick(["user_turn", "agent_msg", "agent_msg", "doc_snippet"]),
          text: `${mark()} ${words(draw, draw.chance(0.01) ? 400 : 8)}`,
        });
    }
    return { items, tool_results, facts, episodes };
  }

  #result(items, mark, bytes) {
    const call = `c${this.#calls++}`;
    items.push({ id: call, kind: "tool_call", text: `export({"at":"${mark()}"})` });
    return { tool_call_id: call, tool_name: "export", raw_output: output(this.#draw, mark(), bytes) };
  }

  async #append(batch) {
    const faults = this.#faults;
    const key = `append-${this.#sent}`;
    const input = { session: this.id, ...batch };
    const gives_up = faults.chance(0.1);
    const ask = () => this.#ask("append", input, key, gives_up);
    const [answer, again] = await Promise.all(faults.chance(0.05) ? [ask(), ask()] : [ask()]);
    const { stats } = answer && (again || !gives_up) ? {} : await this.#ask("getSession", { session: this.id });
    // Who has given up is told by what is there: all of it, or nothing.
    const added = batch.items.length + batch.tool_results.length;
    const isThere = answer !== undefined || again !== undefined || stats.items !== this.#items;
    if (stats) assert.equal(stats.items, this.#items + (isThere ? added : 0), `${this.object}: a batch is there by half`);
    if (!isThere) return;
    this.events += added + batch.facts.length + batch.episodes.length;
    this.#items += added;
    this.#twin.ingestAll(batch.items);
    const results = batch.tool_results.map((result) => {
      const { base64 } = result.raw_output;
      const bytes = base64 === undefined ? Buffer.from(result.raw_output) : Buffer.from(base64, "base64");
      const { item } = this.#twin.ingestToolResult(base64 === undefined ? result : { ...result, raw_output: bytes });
      const { handle, content_hash } = item.artifact_ref;
      this.#blobs.set(content_hash, bytes);
      this.#handles.push(handle);
      return handle;
    });
    for (const fact of batch.facts) this.#twin.addFact(fact);
    for (const episode of batch.episodes) this.#twin.addEpisode(episode);
    if (!answer) return;
    assert.deepEqual(
      answer.results.map(({ handle }) => handle),
      results,
    );
    if (again) assert.deepEqual(again, answer, "two answers to one request");
    this.#older = [...this.#older, { input, key, answer }].slice(-3);
    // The same request again changes nothing, however late it comes.
    if (faults.chance(0.06)) {
      const old = faults.pick(this.#older);
      assert.deepEqual(await this.#ask("append", old.input, old.key), old.answer, "another answer to a request that was sent again");
    }
  }

  async #build(asked) {
    const build = { ...asked, running: this.running };
    const { pack } = await this.#ask("build", { session: this.id, build });
    assert.equal(pack.prompt, this.#expected(build, pack.prompt), `${this.object}: another prompt after ${this.events} events`);
    this.#owns(pack.prompt);
  }

  /** The prompt of the manager in memory. One that grows with each build has grown where the answer to a build was lost, or has not. */
  #expected(build, prompt) {
    for (let lost = this.running ? this.#lost : 0; ; lost -= 1) {
      const { prompt: expected } = this.#twin.build(build);
      if (expected === prompt || lost === 0) return expected;
    }
  }

  /** Whether a text is this session's alone. */
  #owns(text) {
    for (const [found] of text.matchAll(/mark-\w+-\w+-/g)) assert.equal(found, this.mark, "the text of another session");
  }

  async #drilldown(inject) {
    const draw = this.#draw;
    const handle = draw.pick(this.#handles);
    const start = draw.below(3_000);
    const selector = draw.pick([
      { type: "head", chars: 900 },
      { type: "tail", chars: 900 },
      { type: "lines", start, end: start + 12 },
      { type: "search", pattern: "held" },
    ]);
    const { slice } = await this.#ask("drilldown", { session: this.id, handle, selector, inject }, `drilldown-${this.#sent++}`);
    const expected = await this.#twin.drilldownAsync(handle, selector, { inject });
    assert.deepEqual(slice, JSON.parse(JSON.stringify(expected)));
    this.#owns(slice.text);
    if (inject) [this.events, this.#items] = [this.events + 1, this.#items + 1];
  }

  /** Whether the session has what the manager in memory has, as far as it tells. */
  async holds() {
    for (const phase of PHASES) await this.#build({ phase, query: QUERY });
    const { stats } = await this.#ask("getSession", { session: this.id });
    const own = this.#twin.stats();
    for (const name of ["items", "artifacts", "artifact_bytes", "facts", "episodes"]) assert.equal(stats[name], own[name], `${this.object}: ${name}`);
  }

  /** Whether what is stored is all there is in memory, byte for byte. Gives the memory back. */
  async end() {
    await this.holds();
    for (let n = 0; n < this.#chances.reads && this.#handles.length > 0; n += 1) await this.#drilldown(false);
    const { parts, hashes, problems, longest, inline } = await this.#stored();
    assert.deepEqual(problems, []);
    assert.equal(inline, 0);
    assert.ok(longest > 0 && longest <= MIB, String(longest));
    const stored = ContextManager.restore(parts, {
      clock,
      blobs: new Map(hashes.flatMap((hash) => (this.#blobs.has(hash) ? [[hash, this.#blobs.get(hash)]] : []))),
    });
    const [there, here] = [stored, this.#twin].map((manager) => manager.toJSON());
    for (const store of ["event_log", "fact_store", "episodic_store"])
      assert.ok(JSON.stringify(there[store]) === JSON.stringify(here[store]) && here[store], `${this.object}: ${store}`);
    if (!this.options.limits) assert.ok(JSON.stringify(there.artifact_store) === JSON.stringify(here.artifact_store), `${this.object}: artifacts`);
    stored.free();
    const build = { phase: "answer", query: QUERY };
    const digest = digestOf(this.#twin.build(build).prompt);
    this.#twin.free();
    this.#blobs.clear();
    this.#older = [];
    const holdsStill = async () => {
      this.#chances = { fault: 0, late: 0 };
      const { pack } = await this.#ask("build", { session: this.id, build });
      assert.equal(digestOf(pack.prompt), digest, this.object);
    };
    return { holdsStill, blobs: hashes.length };
  }

  async #stored(attempt = 0) {
    try {
      return await (await this.#world.fetch("http://service.test/stored", { headers: { "x-object": this.object } })).json();
    } catch (error) {
      // The process has ended meanwhile.
      if (attempt > 20) throw error;
      return this.#stored(attempt + 1);
    }
  }

  /** Asks until it is answered; or, where the client gives up, once. */
  async #ask(name, input, key, gives_up = false) {
    for (let attempt = 0; ; attempt += 1) {
      const isLarge = input.tool_results?.some(isLong);
      const untried = name === "append" && attempt < 3 ? ((isLarge ? this.#untriedOfLarge.pop() : undefined) ?? this.#untried.pop()) : undefined;
      this.#plan =
        untried || (attempt < 3 && this.#faults.chance(this.events < EARLY ? this.#chances.fault : this.#chances.late))
          ? planOf(this.#faults, isLarge, untried)
          : undefined;
      try {
        const answer = await this.#client[name](input, key && { idempotency_key: key });
        this.#lost = attempt;
        return answer;
      } catch (error) {
        const { status = 500 } = (ContextWeaverError.is(error) && error.details) || {};
        if (status < 500 || attempt > 20) throw error;
        if (gives_up) return undefined;
        this.#world.retries += 1;
      }
    }
  }
}

/** Runs so many at a time. */
async function inParallel(count, jobs, run) {
  const queue = jobs.values();
  const done = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      for (const job of queue) done.push(await run(job));
    }),
  );
  return done;
}

const digestOf = (text) => createHash("sha256").update(text).digest("hex");
const seconds = (began) => `${((performance.now() - began) / 1000).toFixed(0)} s`;

function summary(world, told, more) {
  const injected = Object.values(told.injected).reduce((sum, count) => sum + count, 0);
  return JSON.stringify({
    ...more,
    evictions: world.evictions,
    restarts: world.restarts,
    retries: world.retries,
    injected,
    ...told,
    injected_by_place: told.injected,
  });
}

// One is bound by what a process computes, the other by what it writes.
describe("sessions in Durable Objects", { concurrency: 2 }, () => {
  test("long sessions lose nothing, whatever fails", async (t) => {
    if (!has(t, installed, { missing })) return;
    const [sessions, events] = long ? [200, 20_000] : [5, 10_000];
    const began = performance.now();
    const world = await new World().start(t);
    const chances = long
      ? { build: 0.07, drilldown: 0.07, evict: 0.01, check: 0.003, fault: 0.25, late: 0.015, reads: 5 }
      : { build: 0.05, drilldown: 0.06, evict: 0.02, check: 0, fault: 0.25, late: 0.01, reads: 3 };
    let played = 0;
    let restartAt = 0;
    const step = (sessions * events) / (long ? 24 : 3);
    const all = Array.from(
      { length: sessions },
      (_, at) =>
        new Played(world, {
          seed: 7_000 + at,
          tenant: TENANTS[at % TENANTS.length],
          id: `s${at}`,
          chances,
          options: { budget: { answer: 5_000 }, ...(at % 5 === 2 && { limits: { eviction: "lru", max_store_bytes: MIB / 2 } }) },
          running: at % 5 === 1,
        }),
    );
    const watch = setInterval(() => {
      const reached = all.reduce((sum, one) => sum + one.events, 0);
      if (long)
        console.log(
          `${seconds(began)}: ${played} of ${sessions} sessions, ${reached} events, ${world.restarts} restarts, ${world.evictions} evictions, ${world.retries} retries`,
        );
    }, 30_000);
    const killer = setInterval(() => {
      if (all.reduce((sum, one) => sum + one.events, 0) < restartAt + step) return;
      restartAt += step;
      world.restart();
    }, 200);
    t.after(() => [watch, killer].forEach(clearInterval));
    const ended = await inParallel(3, all, async (one) => {
      await one.begin();
      await one.play(events * 0.95, 400);
      if (all.indexOf(one) % 10 === 3) await one.large(all.indexOf(one) % 20 > 10);
      await one.play(events, 400);
      const end = await one.end();
      played += 1;
      return end;
    });
    clearInterval(killer);
    clearInterval(watch);
    // All are there after the last restart, too.
    await world.restart();
    await inParallel(3, ended, (one) => one.holdsStill());
    const told = await world.tell();
    t.diagnostic(
      summary(world, told, {
        took: seconds(began),
        sessions: ended.length,
        events: all.reduce((sum, one) => sum + one.events, 0),
        blobs: ended.reduce((sum, { blobs }) => sum + blobs, 0),
      }),
    );
    assert.ok(told.most_value > 10_000 && told.most_value <= MAX_ROW, String(told.most_value));
    assert.ok(told.most_row <= MAX_ROW, String(told.most_row));
    assert.ok(told.most_put > 5 * MIB, "no large result was stored");
    assert.ok(world.restarts > 1 && world.evictions > 3 && world.retries > 10);
    for (const place of ["statement", "statement of a transaction", "transaction", "sync", "put", "answer"]) {
      assert.ok(
        Object.keys(told.injected).some((name) => name.endsWith(` ${place}`)),
        `nothing failed at a ${place}: ${JSON.stringify(told.injected)}`,
      );
    }
  });

  test("many sessions of several tenants side by side are each like one alone", async (t) => {
    if (!has(t, installed, { missing })) return;
    const sessions = long ? 1_000 : 24;
    const world = await new World().start(t);
    const chances = { build: 0.4, drilldown: 0.3, evict: 0.05, check: 0.03, fault: 0.03, late: 0, reads: 1 };
    // The same ids in every tenant.
    const all = Array.from(
      { length: sessions },
      (_, at) => new Played(world, { seed: 90_000 + at, tenant: TENANTS[at % TENANTS.length], id: `s${Math.floor(at / TENANTS.length)}`, chances }),
    );
    const draw = random(17);
    await inParallel(64, all, (one) => one.begin());
    for (let round = 1; round <= 4; round += 1) {
      const order = all.map((one) => [draw.below(2 ** 30), one]).sort(([a], [b]) => a - b);
      await inParallel(64, order, ([, one]) => one.play(round * 20, 30));
      if (round === 2) await world.restart();
    }
    const ended = await inParallel(64, all, (one) => one.end());
    const told = await world.tell();
    t.diagnostic(summary(world, told, { sessions: ended.length, events: all.reduce((sum, one) => sum + one.events, 0) }));
    assert.ok(all.every(({ events }) => events >= 80) && told.objects >= sessions);
  });
});
