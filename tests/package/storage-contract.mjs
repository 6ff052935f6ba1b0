// What every storage of sessions promises: one list of cases for all engines, in whatever runtime an engine needs.
//
// An engine is made anew for each case: `session(id)` opens a session, `other(id)` opens it as another process would, with nothing
// remembered. `store()` is a SessionStore, `blobs()` the number of blobs that are kept in all, and `failing(id, steps)` opens a
// session of which everything fails after so many steps of the engine, where an engine has these; `quick` is the same engine with
// writes that do not wait for the disk, `spoil(hash)` damages the bytes of a blob, and `slowed(id, method)` opens a session of whose blobs a method waits.
import { runAll } from "./assert.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const MIB = 2 ** 20;

async function sha256(data) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A blob with its name. */
async function blob(text) {
  const data = typeof text === "string" ? bytes(text) : text;
  return { hash: await sha256(data), data };
}

/** Waits until clocks tell another time. */
const later = () => new Promise((done) => setTimeout(done, 5));

/** Numbers from 0 to 1, the same for a seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const HOSTILE_IDS = [
  "../x",
  "..",
  ".",
  "/",
  "/etc/passwd",
  "a/b",
  "a\\b",
  "C:\\x",
  "~",
  "a",
  "A",
  "s-a",
  "con",
  "nul.txt",
  "x".repeat(512),
  "é",
  "e\u0301",
  "日本語",
  "👩‍👩‍👧",
  " ",
  "a ",
  "a\nb",
  "'; DROP TABLE contextweaver_parts; --",
  "%2e%2e",
  "__proto__",
  "constructor",
  "*",
  "?",
  "\u{10ffff}",
];

/** Arguments that are refused, each with the code and the path that say why. */
async function refusals() {
  const { hash, data } = await blob("a blob");
  const tooLarge = "a".repeat(MIB + 1);
  const inParts = (method, ...more) => [
    [method, [-1, ["x"], ...more], "OUT_OF_RANGE", "/first"],
    [method, [0.5, ["x"], ...more], "OUT_OF_RANGE", "/first"],
    [method, [NaN, ["x"], ...more], "OUT_OF_RANGE", "/first"],
    [method, ["0", ["x"], ...more], "OUT_OF_RANGE", "/first"],
    [method, [2, "x", ...more], "INVALID_INPUT", "/parts"],
    [method, [2, undefined, ...more], "INVALID_INPUT", "/parts"],
    [method, [2, ["x", 1], ...more], "INVALID_INPUT", "/parts/1"],
    [method, [2, ["x", "\ud800"], ...more], "INVALID_INPUT", "/parts/1"],
    [method, [2, ["x", tooLarge], ...more], "TOO_LARGE", "/parts/1"],
    [method, [2, ["é".repeat(MIB / 2 + 1)], ...more], "TOO_LARGE", "/parts/0"],
    [method, [1, ["x"], ...more], "CONFLICT", "/first"],
    [method, [3, ["x"], ...more], "CONFLICT", "/first"],
    [method, [0, [], ...more], "CONFLICT", "/first"],
  ];
  return [
    ...inParts("append"),
    ...inParts("compact", []),
    ["compact", [2, ["x"], undefined], "INVALID_INPUT", "/blobs"],
    ["compact", [2, ["x"], [hash, "x"]], "INVALID_INPUT", "/blobs/1"],
    ["compact", [2, ["x"], [hash.toUpperCase()]], "INVALID_INPUT", "/blobs/0"],
    ["putBlob", ["x", data], "INVALID_INPUT", "/hash"],
    ["putBlob", [`../${hash}`, data], "INVALID_INPUT", "/hash"],
    ["putBlob", [undefined, data], "INVALID_INPUT", "/hash"],
    ["putBlob", [hash, "a blob"], "INVALID_INPUT", "/bytes"],
    ["putBlob", [hash, [1]], "INVALID_INPUT", "/bytes"],
    ["putBlob", [hash, bytes("another blob")], "INVALID_INPUT", "/hash"],
    ["putBlob", [hash, new Uint8Array(16 * MIB + 1)], "QUOTA_EXCEEDED", "/bytes"],
    ["getBlob", [7], "INVALID_INPUT", "/hash"],
    ["getBlob", ["../x"], "INVALID_INPUT", "/hash"],
  ];
}

const cases = {
  async "a session that was never written has nothing, and begins at 0"(engine, assert) {
    const session = engine.session("new");
    assert.deepEqual(await session.load(), { first: 0, parts: [] });
    assert.equal(await session.getBlob("0".repeat(64)), undefined);
    await session.append(0, []);
    assert.deepEqual(await session.load(), { first: 0, parts: [] });
    await session.delete();
  },

  async "parts come back in their order, byte for byte"(engine, assert) {
    const session = engine.session("s");
    const given = [
      '{"a":1}',
      "",
      "two\nlines\r\n",
      "\u2028 \\ \" ' \u007f \t",
      "👩‍👩‍👧 é e\u0301 日本語 \uffff \u{10ffff}",
      JSON.stringify({ nul: "\0", deep: ["\ud83d\ude00"] }),
    ];
    await session.append(0, given.slice(0, 2));
    await session.append(2, given.slice(2));
    assert.deepEqual(await session.load(), { first: 0, parts: given });
    assert.deepEqual(await engine.other("s").load(), { first: 0, parts: given });
  },

  async "nothing that was given is changed, nor what was given kept"(engine, assert) {
    const session = engine.session("s");
    const parts = Object.freeze(["one"]);
    const list = ["two"];
    await session.append(0, parts);
    const appending = session.append(1, list);
    list[0] = "changed";
    list.push("more");
    await appending;
    const { hash, data } = await blob("bytes");
    const putting = session.putBlob(hash, data);
    data.fill(0);
    await putting;
    assert.deepEqual((await session.load()).parts, ["one", "two"]);
    const read = await session.getBlob(hash);
    assert.deepEqual([...read], [...bytes("bytes")]);
    read.fill(0);
    assert.deepEqual([...(await session.getBlob(hash))], [...bytes("bytes")]);
    const loaded = await session.load();
    loaded.parts[0] = "changed";
    assert.deepEqual((await session.load()).parts, ["one", "two"]);
  },

  async "who writes at another place than the next is told so, and goes on after loading"(engine, assert) {
    const [one, two] = [engine.session("s"), engine.other("s")];
    await one.append(0, ["1"]);
    await two.append(1, ["2", "3"]);
    for (const first of [0, 1, 2, 4]) await assert.rejects(one.append(first, ["lost"]), { code: "CONFLICT", path: "/first", details: { next: 3 } });
    await assert.rejects(one.compact(1, ["lost"], []), { code: "CONFLICT" });
    const { first, parts } = await one.load();
    await one.append(first + parts.length, ["4"]);
    await assert.rejects(two.append(3, ["lost"]), { code: "CONFLICT", details: { next: 4 } });
    assert.deepEqual(await two.load(), { first: 0, parts: ["1", "2", "3", "4"] });
  },

  async "of two who write at once one is done, and the other told"(engine, assert) {
    for (let round = 0; round < 20; round += 1) {
      const [one, two] = [engine.session("s"), engine.other("s")];
      const done = await Promise.allSettled([one.append(round, [`one ${round}`]), two.append(round, [`two ${round}`])]);
      assert.deepEqual(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      assert.equal(done.find(({ status }) => status === "rejected").reason.code, "CONFLICT");
      const { parts } = await one.load();
      assert.equal(parts.at(-1), `${done[0].status === "fulfilled" ? "one" : "two"} ${round}`);
      assert.equal(parts.length, round + 1);
    }
  },

  async "a compaction replaces everything, and numbers go on"(engine, assert) {
    const session = engine.session("s");
    await session.append(0, ["1", "2", "3"]);
    await session.compact(3, ["a", "b"], []);
    assert.deepEqual(await session.load(), { first: 3, parts: ["a", "b"] });
    await session.append(5, ["4"]);
    assert.deepEqual(await engine.other("s").load(), { first: 3, parts: ["a", "b", "4"] });
    await engine.other("s").compact(6, [], []);
    assert.deepEqual(await session.load(), { first: 6, parts: [] });
    await assert.rejects(session.append(5, ["x"]), { code: "CONFLICT", details: { next: 6 } });
    await session.append(6, ["5"]);
    await session.compact(7, ["c"], []);
    await session.compact(8, ["d"], []);
    assert.deepEqual(await engine.other("s").load(), { first: 8, parts: ["d"] });
  },

  async "who appends while another compacts is told so"(engine, assert) {
    for (let round = 0; round < 10; round += 1) {
      const id = `s${round}`;
      const [one, two] = [engine.session(id), engine.other(id)];
      await one.append(0, ["1", "2"]);
      await two.load();
      const done = await Promise.allSettled([one.compact(2, ["all"], []), two.append(2, ["3"])]);
      assert.deepEqual(done.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      assert.deepEqual(await one.load(), done[0].status === "fulfilled" ? { first: 2, parts: ["all"] } : { first: 0, parts: ["1", "2", "3"] });
    }
  },

  async "a blob is stored once, and read by its session alone"(engine, assert) {
    const session = engine.session("s");
    const { hash, data } = await blob("a picture");
    await session.putBlob(hash, data);
    await session.putBlob(hash, data);
    await engine.other("s").putBlob(hash, data);
    const read = await engine.other("s").getBlob(hash);
    assert.equal(Object.prototype.toString.call(read), "[object Uint8Array]");
    assert.deepEqual([...read], [...data]);
    assert.equal(await engine.session("t").getBlob(hash), undefined);
    const empty = await blob("");
    await session.putBlob(empty.hash, empty.data);
    assert.equal((await session.getBlob(empty.hash)).length, 0);
    // It is not a part.
    assert.deepEqual(await session.load(), { first: 0, parts: [] });
    if (engine.blobs) assert.equal(await engine.blobs(), 2);
  },

  async "the same bytes stored again mend those that were damaged"(engine, assert) {
    if (!engine.spoil) return;
    const [session, { hash, data }] = [engine.session("s"), await blob("a picture")];
    await session.putBlob(hash, data);
    const other = await blob("another");
    await session.putBlob(other.hash, other.data);
    const count = await engine.blobs?.();
    await engine.spoil(hash);
    const spoilt = await session.getBlob(hash).catch(() => undefined);
    assert.ok(spoilt?.length !== data.length, "it is damaged");
    await engine.session("s").putBlob(hash, data);
    assert.deepEqual([...(await engine.session("s").getBlob(hash))], [...data]);
    assert.deepEqual([...(await session.getBlob(other.hash))], [...other.data]);
    await session.compact(0, [], [hash, other.hash]);
    assert.deepEqual([...(await session.getBlob(hash))], [...data]);
    if (engine.blobs) assert.equal(await engine.blobs(), count);
  },

  async "a compaction removes the blobs that are not listed"(engine, assert) {
    const session = engine.session("s");
    const [kept, dropped, unknown] = await Promise.all(["kept", "dropped", "unknown"].map(blob));
    for (const { hash, data } of [kept, dropped]) await session.putBlob(hash, data);
    await session.append(0, ["1"]);
    await assert.rejects(session.compact(0, ["x"], []), { code: "CONFLICT" });
    assert.ok(await session.getBlob(dropped.hash), "a refusal removed a blob");
    await session.compact(1, ["2"], [kept.hash, kept.hash, unknown.hash]);
    assert.deepEqual([...(await session.getBlob(kept.hash))], [...kept.data]);
    assert.equal(await session.getBlob(dropped.hash), undefined);
    assert.equal(await session.getBlob(unknown.hash), undefined);
    if (engine.blobs) assert.equal(await engine.blobs(), 1);
    await engine.other("s").putBlob(dropped.hash, dropped.data);
    assert.deepEqual([...(await session.getBlob(dropped.hash))], [...dropped.data]);
  },

  async "a compaction may list more blobs than a row has room for"(engine, assert) {
    const session = engine.session("s");
    const [kept, dropped] = await Promise.all(["kept", "dropped"].map(blob));
    for (const { hash, data } of [kept, dropped]) await session.putBlob(hash, data);
    const listed = Array.from({ length: 40_000 }, (_, at) => at.toString(16).padStart(64, "0"));
    await session.compact(0, ["all"], [...listed, kept.hash]);
    assert.deepEqual([...(await session.getBlob(kept.hash))], [...kept.data]);
    assert.equal(await session.getBlob(dropped.hash), undefined);
  },

  async "a blob stays for as long as a session refers to it"(engine, assert) {
    const { hash, data } = await blob("shared");
    const sessions = ["a", "b", "c"].map((id) => engine.session(id));
    for (const session of sessions) await session.putBlob(hash, data);
    await sessions[0].delete();
    await sessions[1].compact(0, [], []);
    assert.equal(await sessions[0].getBlob(hash), undefined);
    assert.equal(await sessions[1].getBlob(hash), undefined);
    assert.deepEqual([...(await sessions[2].getBlob(hash))], [...data]);
    await sessions[0].putBlob(hash, data);
    await sessions[2].delete();
    assert.deepEqual([...(await engine.other("a").getBlob(hash))], [...data]);
    await sessions[0].delete();
    if (engine.blobs) assert.equal(await engine.blobs(), 0);
  },

  async "a session that was deleted begins anew, and the others stay"(engine, assert) {
    const { hash, data } = await blob("bytes");
    const [one, two] = [engine.session("one"), engine.session("two")];
    await one.append(0, ["1"]);
    await one.putBlob(hash, data);
    await two.append(0, ["2"]);
    await one.delete();
    await one.delete();
    assert.deepEqual(await engine.other("one").load(), { first: 0, parts: [] });
    assert.equal(await one.getBlob(hash), undefined);
    await assert.rejects(one.append(1, ["x"]), { code: "CONFLICT", details: { next: 0 } });
    await one.append(0, ["new"]);
    assert.deepEqual(await one.load(), { first: 0, parts: ["new"] });
    await engine.other("one").delete();
    await one.putBlob(hash, data);
    if (engine.store)
      assert.deepEqual(
        (await engine.store().sessions()).map(({ id }) => id),
        ["one", "two"],
      );
    assert.deepEqual(await one.load(), { first: 0, parts: [] });
    assert.deepEqual(await two.load(), { first: 0, parts: ["2"] });
  },

  async "a session that was begun anew is not written on by who knew the one before"(engine, assert) {
    const part = (sum, after, more = "") =>
      `{"sum":"${sum.repeat(16)}","part":{"contextweaver":"session","version":1,"sequence":1,"after":"${after.repeat(16)}"${more}}}`;
    const session = engine.session("s");
    assert.deepEqual(await session.end(), { next: 0 });
    await session.append(0, [part("a", "0"), part("b", "a")]);
    assert.deepEqual(await session.end(), { next: 2, sum: "b".repeat(16) });
    await engine.other("s").delete();
    await engine.other("s").append(0, [part("c", "0"), part("d", "c")]);
    assert.deepEqual(await session.end(), { next: 2, sum: "d".repeat(16) });
    // The number is right, the session another.
    for (const late of [() => session.append(2, [part("e", "b")]), () => session.compact(2, [part("e", "b", ',"whole":true')], [])])
      await assert.rejects(late(), { code: "CONFLICT", path: "/first", details: { next: 2 } });
    await session.append(2, [part("e", "d"), part("f", "e")]);
    // What was read with damage goes on from no part that it knows, and so does what is no journal.
    await session.compact(4, [part("1", "0", ',"whole":true')], []);
    await session.append(5, ["a text"]);
    assert.deepEqual(await engine.other("s").end(), { next: 6 });
    await session.append(6, [part("2", "1")]);
    await session.compact(7, [], []);
    assert.deepEqual(await engine.other("s").end(), { next: 7 });
    await session.append(7, [part("3", "2")]);
    assert.deepEqual(await engine.other("s").end(), { next: 8, sum: "3".repeat(16) });
  },

  async "parts may be 1 MiB large, and many"(engine, assert) {
    const session = engine.session("s");
    const large = ["a".repeat(MIB), "é".repeat(MIB / 2), "日".repeat(Math.floor(MIB / 3))];
    await session.append(0, large);
    const many = Array.from({ length: 2_000 }, (_, at) => `{"at":${at}}`);
    await session.append(3, many);
    const loaded = await engine.other("s").load();
    assert.deepEqual(loaded.parts.length, 2_003);
    for (const [at, part] of [...large, ...many].entries()) assert.ok(loaded.parts[at] === part, `part ${at}`);
    await session.compact(2_003, large, []);
    assert.equal((await session.load()).parts[1], large[1]);
  },

  async "a blob may be 16 MiB large"(engine, assert) {
    const session = engine.session("s");
    const draw = random(16);
    const words = new Uint32Array(4 * MIB).map(() => draw() * 2 ** 32);
    const { hash, data } = await blob(new Uint8Array(words.buffer));
    await session.putBlob(hash, data);
    const read = await engine.other("s").getBlob(hash);
    assert.equal(await sha256(read), hash);
    await session.compact(0, [], []);
    assert.equal(await session.getBlob(hash), undefined);
  },

  async "what is refused leaves no trace"(engine, assert) {
    const session = engine.session("s");
    const { hash, data } = await blob("kept");
    await session.append(0, ["1", "2"]);
    await session.putBlob(hash, data);
    for (const [method, args, code, path] of await refusals()) {
      await assert.rejects(session[method](...args), { code, path }, `${method} ${code} ${path}`);
    }
    assert.deepEqual(await engine.other("s").load(), { first: 0, parts: ["1", "2"] });
    assert.ok(await session.getBlob(hash));
    if (engine.blobs) assert.equal(await engine.blobs(), 1);
    await session.append(2, ["3"]);
  },

  async "no error tells what was given: names and parts may have credentials"(engine, assert) {
    const SECRET = "ghp_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ";
    const session = engine.session(SECRET);
    const { hash, data } = await blob(SECRET);
    await session.append(0, [SECRET]);
    for (const call of [
      () => session.append(0, [SECRET]),
      () => session.append(SECRET, [SECRET]),
      () => session.append(1, SECRET),
      () => session.append(1, [SECRET, { [SECRET]: SECRET }]),
      () => session.append(1, [SECRET.repeat(MIB / 16)]),
      () => session.append(1, [`${SECRET}\ud800`]),
      () => session.compact(1, [SECRET], [SECRET]),
      () => session.compact(1, [SECRET], SECRET),
      () => session.putBlob(SECRET, data),
      () => session.putBlob(hash, SECRET),
      () => session.putBlob("0".repeat(64), data),
      () => session.getBlob(SECRET),
    ]) {
      const { code, message, hint, path, details, cause } = await assert.rejects(call, () => true);
      const said = JSON.stringify([code, message, hint, path, details, String(cause)]);
      assert.ok(code && !said.includes(SECRET.slice(4, 14)), said);
    }
  },

  async "any name is a session of its own"(engine, assert) {
    for (const [at, id] of HOSTILE_IDS.entries()) await engine.session(id).append(0, [`part of ${at}`]);
    for (const [at, id] of HOSTILE_IDS.entries()) assert.deepEqual(await engine.other(id).load(), { first: 0, parts: [`part of ${at}`] }, id);
    if (engine.store) assert.deepEqual((await engine.store().sessions()).map(({ id }) => id).sort(), [...HOSTILE_IDS].sort());
    for (const id of HOSTILE_IDS) await engine.session(id).delete();
    if (engine.store) assert.deepEqual(await engine.store().sessions(), []);
  },

  async "what is no name is refused at once"(engine, assert) {
    if (!engine.store) return;
    for (const id of ["", "x".repeat(513), "\ud800", undefined, null, 7, {}, ["a"]]) {
      assert.throws(() => engine.store().session(id), { code: "INVALID_INPUT", path: "/id" });
      await assert.rejects(engine.store().delete(id), { code: "INVALID_INPUT", path: "/id" });
    }
    assert.deepEqual(await engine.store().sessions(), []);
  },

  async "sessions are listed with what they take"(engine, assert) {
    if (!engine.store) return;
    const store = engine.store();
    const { hash, data } = await blob("twelve bytes");
    for (const id of ["b", "a"]) {
      await store.session(id).append(0, ["0123456789", "é"]);
      await store.session(id).putBlob(hash, data);
    }
    const listed = await store.sessions();
    assert.deepEqual(
      listed.map(({ id, blob_bytes }) => [id, blob_bytes]),
      [
        ["a", 12],
        ["b", 12],
      ],
    );
    assert.deepEqual([await store.session("a").record(), await engine.other("b").record(), await store.session("c").record()], [...listed, undefined]);
    for (const { bytes: size, written_at } of listed) {
      assert.ok(size >= 12 && size < 1_000, `${size} bytes`);
      assert.ok(Number.isInteger(written_at) && written_at > 1.6e12, `written at ${written_at}`);
    }
    await store.session("a").compact(2, [], []);
    const [compacted] = await store.sessions();
    assert.ok(compacted.bytes < listed[0].bytes && compacted.blob_bytes === 0, JSON.stringify(compacted));
    assert.deepEqual([await store.delete("a"), await store.delete("a"), await store.delete("nobody")], [true, false, false]);
    assert.deepEqual(
      (await store.sessions()).map(({ id }) => id),
      ["b"],
    );
  },

  async "sessions end that nobody wrote to for a time, or that are too many"(engine, assert) {
    if (!engine.store) return;
    const store = engine.store();
    const { hash, data } = await blob("shared");
    // The names are not in the order of the writes.
    const ids = ["d", "a", "c", "b"];
    for (const id of ids) {
      await store.session(id).append(0, ["x".repeat(1_000)]);
      await store.session(id).putBlob(hash, data);
      await later();
    }
    const listed = await store.sessions();
    const of = (id) => listed.find((one) => one.id === id);
    const { written_at: last } = of("c");
    assert.deepEqual(await store.prune({ idle_ms: 60_000 }), []);
    assert.deepEqual(await store.prune({ idle_ms: 60_000, now: last + 59_999 - (last - of("d").written_at) }), []);
    assert.deepEqual(await store.prune({ max_sessions: 4, max_bytes: listed.reduce((sum, one) => sum + one.bytes + one.blob_bytes, 0) }), []);
    // One that is written again is not the oldest any more.
    await store.session("d").append(1, ["more"]);
    assert.deepEqual(await store.prune({ idle_ms: 60_000, now: of("a").written_at + 60_000 }), [of("a")]);
    assert.deepEqual(await store.prune({ max_sessions: 2 }), [of("c")]);
    assert.deepEqual(await store.prune({ max_bytes: 0, max_sessions: 1 }).then((removed) => removed.map(({ id }) => id)), ["b", "d"]);
    assert.deepEqual(await store.sessions(), []);
    assert.deepEqual(await store.prune({ max_sessions: 0 }), []);
    if (engine.blobs) assert.equal(await engine.blobs(), 0);

    for (const id of ids) await store.session(id).putBlob(hash, data);
    await later();
    await store.session("c").append(0, ["1"]);
    assert.deepEqual((await store.prune({ max_sessions: 1 })).map(({ id }) => id).sort(), ["a", "b", "d"]);
    assert.deepEqual([...(await engine.other("c").getBlob(hash))], [...data], "a blob went that another session refers to");
    for (const [options, code, path] of [
      [{}, "MISSING_FIELD", "/idle_ms"],
      [undefined, "MISSING_FIELD", "/idle_ms"],
      [{ idle_ms: -1 }, "OUT_OF_RANGE", "/idle_ms"],
      [{ idle_ms: "1" }, "OUT_OF_RANGE", "/idle_ms"],
      [{ max_sessions: NaN }, "OUT_OF_RANGE", "/max_sessions"],
      [{ max_bytes: Infinity }, "OUT_OF_RANGE", "/max_bytes"],
      [{ max_bytes: 1, now: null }, "OUT_OF_RANGE", "/now"],
      [{ idle: 1 }, "UNKNOWN_FIELD", "/idle"],
    ]) {
      await assert.rejects(store.prune(options), { code, path });
    }
    assert.equal((await store.sessions()).length, 1);
  },

  async "a session that was written since it was listed stays"(engine, assert) {
    if (!engine.store) return;
    const store = engine.store();
    const { hash, data } = await blob("added");
    const writes = {
      append: (session) => session.append(1, ["2"]),
      compact: (session) => session.compact(1, ["2"], []),
      putBlob: (session) => session.putBlob(hash, data),
      "delete and begin anew": async (session) => {
        await session.delete();
        await session.append(0, ["anew"]);
      },
    };
    for (const [how, write] of Object.entries(writes)) {
      await store.session("s").append(0, ["1"]);
      await store.session("other").append(0, ["1"]);
      const list = store.sessions.bind(store);
      await later();
      // Another process writes when the sessions are listed, and before any is removed.
      store.sessions = async () => {
        const listed = await list();
        await write(engine.other("s"));
        return listed;
      };
      const removed = await store.prune({ idle_ms: 0, max_sessions: 0, max_bytes: 0, now: Date.now() + 1_000 });
      delete store.sessions;
      assert.deepEqual(
        removed.map(({ id }) => id),
        ["other"],
        how,
      );
      const { first, parts } = await engine.other("s").load();
      assert.ok(first + parts.length > 0, how);
      // Whoever writes after a removal is told so.
      const [record] = await store.sessions();
      assert.equal(await store.delete("s", { ...record, bytes: record.bytes + 1 }), false);
      assert.equal(await store.delete("s", record), true);
      assert.equal(await store.delete("s", record), false);
      await assert.rejects(engine.other("s").append(first + parts.length, ["late"]), { code: "CONFLICT", details: { next: 0 } });
    }
    if (engine.blobs) assert.equal(await engine.blobs(), 0);
  },

  async "what ends at any step is done or not, and the session goes on"(given, assert) {
    const engine = given.quick ?? given;
    if (!engine.failing) return;
    const [kept, dropped, added] = await Promise.all(["kept", "dropped", "added"].map(blob));
    const before = { first: 0, parts: ["1", "2"], blobs: [true, true, false] };
    const changes = {
      append: [(session) => session.append(2, ["3", "4"]), { ...before, parts: ["1", "2", "3", "4"] }],
      compact: [(session) => session.compact(2, ["a", "b", "c"], [kept.hash]), { first: 2, parts: ["a", "b", "c"], blobs: [true, false, false] }],
      putBlob: [(session) => session.putBlob(added.hash, added.data), { ...before, blobs: [true, true, true] }],
      delete: [(session) => session.delete(), { first: 0, parts: [], blobs: [false, false, false] }],
    };
    for (const [method, [change, after]] of Object.entries(changes)) {
      let isDone = false;
      for (let steps = 0; !isDone; steps += 1) {
        const id = `${method} ${steps}`;
        await engine.session(id).append(0, before.parts);
        for (const { hash, data } of [kept, dropped]) await engine.session(id).putBlob(hash, data);
        const broken = await engine.failing(id, steps);
        isDone = await change(broken).then(
          () => true,
          (error) => (assert.match(String(error.message), /out of order/), false),
        );
        const session = engine.other(id);
        const now = {
          ...(await session.load()),
          blobs: await Promise.all([kept, dropped, added].map(async ({ hash }) => (await session.getBlob(hash)) !== undefined)),
        };
        const what = `${method} after ${steps} steps: ${JSON.stringify(now)}`;
        // Blobs that a compaction could not remove any more stay until the next one.
        const isAfter = JSON.stringify(method === "compact" ? { ...now, blobs: after.blobs } : now) === JSON.stringify(after);
        assert.ok(isAfter || (!isDone && JSON.stringify(now) === JSON.stringify(before)), what);
        const next = now.first + now.parts.length;
        await session.append(next, ["more"]);
        await session.putBlob(added.hash, added.data);
        await session.compact(next + 1, ["all"], [added.hash]);
        assert.deepEqual(await engine.other(id).load(), { first: next + 1, parts: ["all"] }, what);
        assert.deepEqual([...(await engine.other(id).getBlob(added.hash))], [...added.data], what);
        if (engine.rests && method !== "delete") assert.equal(await engine.rests(), 0, what);
        // What a deletion leaves is left to the next.
        if (engine.blobs && method !== "delete") assert.equal(await engine.blobs(), 1, what);
        await session.delete();
        if (engine.blobs) assert.equal(await engine.blobs(), 0, what);
        assert.ok(steps < 200, `${method} takes no end`);
      }
    }
  },

  async "an upload that meets others is there, and nothing is left of it"(engine, assert) {
    if (!engine.slowed) return;
    const { hash, data } = await blob("met");
    const meetings = {
      "a compaction": (session) => session.compact(0, ["all"], []),
      "another upload": (session) => session.putBlob(hash, data),
      "a deletion": (session) => session.delete(),
      both: async (session) => {
        await session.putBlob(hash, data);
        await session.compact(0, ["all"], []);
      },
    };
    for (const [id, meet] of Object.entries(meetings)) {
      const { session, arrived, release } = engine.slowed(id, "put");
      const putting = session.putBlob(hash, data);
      await arrived;
      await meet(engine.session(id));
      release();
      await putting;
      const { first, parts } = await session.load();
      assert.deepEqual([...(await engine.other(id).getBlob(hash))], [...data], id);
      await engine.session(id).compact(first + parts.length, [], [hash]);
      assert.deepEqual([...(await engine.other(id).getBlob(hash))], [...data], id);
      assert.equal(await engine.blobs(), 1, id);
      await session.delete();
      assert.equal(await engine.blobs(), 0, id);
    }

    // One that ends while its rest is being removed, which takes its time.
    const upload = engine.slowed("s", "put");
    const removal = engine.slowed("s", "delete");
    const putting = upload.session.putBlob(hash, data);
    await upload.arrived;
    const compacting = removal.session.compact(0, ["all"], []);
    await removal.arrived;
    upload.release();
    await putting;
    removal.release();
    await compacting;
    assert.deepEqual([...(await engine.other("s").getBlob(hash))], [...data]);

    // A compaction by the one who uploads leaves it alone.
    const own = engine.slowed("own", "put");
    const uploading = own.session.putBlob(hash, data);
    await own.arrived;
    await own.session.compact(0, [], []);
    own.release();
    await uploading;
    assert.equal(own.calls(), 1);
    for (const id of ["s", "own"]) await engine.session(id).delete();
    assert.equal(await engine.blobs(), 0);
  },

  async "calls that nobody waits for keep their order"(engine, assert) {
    const session = engine.session("s");
    const calls = Array.from({ length: 20 }, (_, at) => session.append(at, [String(at)]));
    const compacted = session.compact(20, ["all"], []);
    const after = session.append(21, ["last"]);
    await Promise.all([...calls, compacted, after]);
    assert.deepEqual(await session.load(), { first: 20, parts: ["all", "last"] });
  },

  async "many sessions at once are what they would be alone"(engine, assert) {
    const draw = random(7);
    const pick = (list) => list[Math.floor(draw() * list.length)];
    const blobs = await Promise.all(["one", "two", "three", "four"].map(blob));
    const ids = Array.from({ length: 12 }, (_, at) => `session ${at}`);
    const model = new Map(ids.map((id) => [id, { first: 0, parts: [], blobs: new Set() }]));
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(
        ids.map(async (id) => {
          const kept = model.get(id);
          const session = draw() < 0.5 ? engine.session(id) : engine.other(id);
          const next = kept.first + kept.parts.length;
          const parts = Array.from({ length: Math.floor(draw() * 4) }, (_, at) => `${id} ${round} ${at}`);
          const roll = draw();
          if (roll < 0.6) {
            kept.parts = [...kept.parts, ...parts];
            await session.append(next, parts);
          } else if (roll < 0.85) {
            const { hash, data } = pick(blobs);
            kept.blobs.add(hash);
            await session.putBlob(hash, data);
          } else if (roll < 0.95) {
            const left = [...kept.blobs].filter(() => draw() < 0.5);
            Object.assign(kept, { first: next, parts, blobs: new Set(left) });
            await session.compact(next, parts, left);
          } else {
            Object.assign(kept, { first: 0, parts: [], blobs: new Set() });
            await session.delete();
          }
        }),
      );
    }
    for (const [id, { first, parts, blobs: refers }] of model) {
      assert.deepEqual(await engine.other(id).load(), { first, parts }, id);
      for (const { hash } of blobs) assert.equal((await engine.other(id).getBlob(hash)) !== undefined, refers.has(hash), id);
    }
    if (engine.blobs)
      assert.equal(
        await engine.blobs(),
        engine.shares === false
          ? [...model.values()].reduce((sum, kept) => sum + kept.blobs.size, 0)
          : new Set([...model.values()].flatMap((kept) => [...kept.blobs])).size,
      );
  },
};

/** Runs all cases. `open` makes an engine with nothing in it, which is closed by `close` if it has one. */
export function runStorageCases(open, assert) {
  const each = Object.entries(cases).map(([name, run]) => [
    name,
    async () => {
      const engine = await open();
      try {
        await run(engine, assert);
      } finally {
        await engine.close?.();
      }
    },
  ]);
  return runAll(Object.fromEntries(each));
}
