// Files of sessions that are damaged, replaced by links, or cleaned up by one process while another writes: what can be read is read,
// what cannot is named, and nothing is lost that was acknowledged.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as promises from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, temporaryFolder } from "./harness.mjs";
import { random } from "./storage-contract.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist/node", file)));
const { fileStore } = await load("node.js");
const { ContextWeaverError, openDecisions, openRecords, openSession } = await load("index.js");

/** As zlib has it, which Node has from 20.15 on. */
const crc32 = (bytes) => {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return ~sum >>> 0;
};
const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const blobOf = (text) => ({ data: Buffer.from(text), hash: sha256(text) });

async function folderOf(t, name) {
  const folder = await temporaryFolder(`${name}`);
  t.after(() => promises.rm(folder, { recursive: true }));
  return folder;
}

/** Changes a file. */
async function edit(path, change) {
  await promises.writeFile(path, change(await promises.readFile(path)));
}

const flipped = (bytes, at, bit = 0) => bytes.map((byte, place) => (place === at ? byte ^ (1 << bit) : byte));

test("a journal that is damaged is refused, and read as far as it can be", async (t) => {
  const place = await folderOf(t, "damaged");
  const seed = 11;
  const draw = random(seed);
  const below = (n) => Math.floor(draw() * n);
  const path = join(place, "s-s", "journal");
  const parts = Array.from({ length: 10 }, (_, at) => JSON.stringify({ at, text: "words ".repeat(at) }));
  for (const isCompacted of [false, true]) {
    await fileStore(place).session("s").delete();
    if (isCompacted) {
      await fileStore(place).session("s").append(0, ["old"]);
      await fileStore(place).session("s").compact(1, parts.slice(0, 6), []);
    }
    const first = isCompacted ? 1 : 0;
    for (let at = isCompacted ? 6 : 0; at < 10; at += 2)
      await fileStore(place)
        .session("s")
        .append(first + at, parts.slice(at, at + 2));
    const bytes = await promises.readFile(path);
    const lines = bytes
      .toString()
      .split("\n")
      .filter((line) => line.includes('"parts":['));
    const damages = {
      "a bit flips": (at) => flipped(bytes, at, below(8)),
      "bytes are missing": (at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(20))]),
      "bytes are zero": (at) => Buffer.from(bytes).fill(0, at, at + 1 + below(20)),
      "the end is missing": (at) => bytes.subarray(0, at),
      "a line is there twice": () => Buffer.from(bytes.toString().replace(lines[1], (line) => `${line}\n~\n${line}`)),
      "lines changed places": () => {
        const [one, other] = [lines[below(lines.length)], lines[below(lines.length)]];
        return Buffer.from(
          bytes
            .toString()
            .split("\n")
            .map((line) => (line === one ? other : line === other ? one : line))
            .join("\n"),
        );
      },
      "a line is missing": () => Buffer.from(bytes.toString().replace(`${lines[1 + below(lines.length - 2)]}\n`, "")),
    };
    const told = {};
    const names = Object.keys(damages);
    for (let round = 0; round < 420; round += 1) {
      const name = names[round % names.length];
      const at = below(bytes.length);
      const damaged = damages[name](at);
      const what = `seed ${seed}, ${isCompacted ? "compacted, " : ""}round ${round}: ${name} at ${at} of ${bytes.length}`;
      await promises.writeFile(path, damaged);
      const session = fileStore(place).session("s");
      const loaded = await session.load().catch((error) => error);
      const salvaged = await fileStore(place).session("s").load({ salvage: true });
      const next = salvaged.first + salvaged.parts.length;
      // What stands there as it was written is read.
      for (const line of lines) {
        if (!damaged.includes(`\n${line}\n`)) continue;
        for (const part of JSON.parse(line.slice(9)).parts) assert.ok(salvaged.parts.includes(part), `${what}: ${part}`);
      }
      if (loaded instanceof Error) {
        assert.ok(ContextWeaverError.is(loaded) && loaded.code === "JOURNAL_DAMAGED", `${what}: ${loaded.stack}`);
        assert.ok(/^\/\d+$/.test(loaded.path) && loaded.details.findings === salvaged.findings.length, what);
        assert.ok(
          salvaged.findings.length > 0 && salvaged.findings.every(({ code, message }) => code === "JOURNAL_DAMAGED" && message.includes("journal")),
          what,
        );
        await assert.rejects(session.append(first + 10, ["more"]), { code: "JOURNAL_DAMAGED" }, what);
        await assert.rejects(session.append(next, ["more"]), { code: "JOURNAL_DAMAGED" }, what);
        assert.deepEqual(await promises.readFile(path), Buffer.from(damaged), what);
        // Whoever was acknowledged more than can be read is told so, and the session goes on with what can be.
        if (next !== first + 10)
          await assert.rejects(
            fileStore(place)
              .session("s")
              .compact(first + 10, ["x"], []),
            { code: "CONFLICT" },
            what,
          );
        await session.compact(next, ["mended"], []);
        assert.deepEqual(await fileStore(place).session("s").load(), { first: next, parts: ["mended"] }, what);
      } else {
        assert.deepEqual(salvaged, loaded, what);
        // Without its end a line is one that was cut short; only the last one was not followed by another.
        if (damaged.at(-1) === 10) assert.deepEqual(loaded, { first, parts }, what);
        else assert.deepEqual(loaded.parts, parts.slice(0, loaded.parts.length), what);
        if (loaded.parts.length < 10 && name !== "the end is missing") assert.equal(loaded.parts.length, 8, what);
        assert.equal(loaded.first, loaded.parts.length === 0 ? 0 : first, what);
        await session.append(loaded.first + loaded.parts.length, ["more"]);
        assert.deepEqual((await fileStore(place).session("s").load()).parts, [...loaded.parts, "more"], what);
      }
      told[name] ??= { refused: 0, whole: 0, shorter: 0 };
      told[name][loaded instanceof Error ? "refused" : loaded.parts.length === 10 ? "whole" : "shorter"] += 1;
    }
    t.diagnostic(JSON.stringify(told));
    assert.ok(told["a bit flips"].refused > 40 && told["a bit flips"].whole > 0 && told["a line is missing"].refused === 60, JSON.stringify(told));
    assert.ok(told["lines changed places"].whole === 60 && told["a line is there twice"].whole === 60, JSON.stringify(told));
  }
});

test("a session of which any bit is damaged opens with what can be read", async (t) => {
  const place = await folderOf(t, "session");
  const store = fileStore(place);
  const began = await openSession(store.session("s"));
  for (let k = 0; k < 5; k += 1) {
    began.manager.ingest({ id: `c${k}`, kind: "tool_call", text: "f {}" });
    began.manager.ingestToolResult({ tool_call_id: `c${k}`, tool_name: "f", raw_output: `result ${k}\n`.repeat(3_000) });
    await began.save();
  }
  const results = (session) => session.manager.toJSON().event_log.items.filter(({ kind }) => kind === "tool_result").length;
  const journal = join(place, "s-s", "journal");
  const [blob] = await promises.readdir(join(place, "s-s", "blobs"));
  const blobPath = join(place, "s-s", "blobs", blob);
  const [bytes, blobBytes] = [await promises.readFile(journal), await promises.readFile(blobPath)];

  // Its bytes are lost, and said to be; the rest of the session is not locked by it.
  await promises.writeFile(blobPath, flipped(blobBytes, 5));
  for (const salvage of [false, true]) {
    const session = await openSession(store.session("s"), { salvage });
    assert.equal(results(session), 5);
    assert.deepEqual(
      session.findings.map(({ code, message }) => [code, message.includes(blob)]),
      [["DECODE_FAILED", true]],
    );
    session.free();
  }
  // Bytes that come again are stored again.
  const lost = /result (\d)/.exec(blobBytes.toString())[1];
  const again = await openSession(store.session("s"));
  again.manager.ingest({ id: "again", kind: "tool_call", text: "f {}" });
  again.manager.ingestToolResult({ tool_call_id: "again", tool_name: "f", raw_output: `result ${lost}\n`.repeat(3_000) });
  await again.save();
  again.free();
  const healed = await openSession(store.session("s"));
  assert.deepEqual([healed.findings, results(healed)], [[], 6]);
  healed.free();

  const whole = join(place, "whole");
  await promises.writeFile(journal, bytes);
  await promises.rename(join(place, "s-s"), whole);
  const draw = random(7);
  for (let round = 0; round < 60; round += 1) {
    const at = Math.floor(draw() * bytes.length);
    await promises.rm(join(place, "s-s"), { recursive: true, force: true });
    await promises.cp(whole, join(place, "s-s"), { recursive: true });
    await promises.writeFile(journal, flipped(bytes, at, Math.floor(draw() * 8)));
    const what = `bit in byte ${at}`;
    const refused = await openSession(store.session("s")).catch((error) => error);
    if (refused instanceof Error) assert.equal(refused.code, "JOURNAL_DAMAGED", `${what}: ${refused.stack}`);
    const session = await openSession(store.session("s"), { salvage: true });
    assert.ok(results(session) >= (refused instanceof Error ? 4 : 5), `${what}: ${results(session)} results`);
    assert.equal(session.findings.length > 0, refused instanceof Error, what);
    session.manager.ingest({ id: `u${round}`, kind: "user_turn", text: "go on" });
    await session.save();
    const kept = results(session);
    session.free();
    const mended = await openSession(store.session("s"));
    assert.deepEqual([mended.findings, results(mended)], [[], kept], what);
    mended.free();
  }

  // All of it.
  await promises.rm(whole, { recursive: true });
  await promises.writeFile(journal, Buffer.alloc(bytes.length, "x\n"));
  await assert.rejects(openSession(store.session("s")), { code: "JOURNAL_DAMAGED" });
  assert.deepEqual(
    (await store.sessions()).map(({ id }) => id),
    ["s"],
    "it is not listed, and never removed",
  );
  const empty = await openSession(store.session("s"), { salvage: true });
  assert.ok(results(empty) === 0 && empty.findings.length > 0);
  empty.manager.ingest({ id: "u", kind: "user_turn", text: "anew" });
  await empty.save();
  await assert.rejects(
    began.save().then(() => began.compact()),
    { code: "CONFLICT" },
  );
  empty.free();
  began.free();
});

test("records and decisions are salvaged as sessions are", async (t) => {
  const place = await folderOf(t, "records");
  const store = fileStore(place);
  const records = await openRecords(store.session("records"));
  const memory = await openDecisions(store.session("decisions"));
  for (let n = 0; n < 5; n += 1) {
    await records.set(`name ${n}`, { n }).save();
    await memory.store.callTool("log_decision", { decision: `Keep orders of kind ${n} in PostgreSQL`, confidence: 0.9, category: "architecture" });
    await memory.save();
  }
  for (const name of ["records", "decisions"]) await edit(join(place, `s-${name}`, "journal"), (bytes) => flipped(bytes, bytes.lastIndexOf("{") + 3));
  await assert.rejects(openRecords(store.session("records")), { code: "JOURNAL_DAMAGED" });
  await assert.rejects(openDecisions(store.session("decisions")), { code: "JOURNAL_DAMAGED" });
  const salvaged = await openRecords(store.session("records"), { salvage: true });
  assert.ok(salvaged.size >= 4 && salvaged.findings.length > 0);
  await salvaged.set("new", 1).save();
  assert.equal((await openRecords(store.session("records"))).size, salvaged.size);
  const decided = await openDecisions(store.session("decisions"), { salvage: true });
  assert.ok(decided.store.size >= 4 && decided.findings.length > 0);
  await decided.save();
  assert.equal((await openDecisions(store.session("decisions"))).store.size, decided.store.size);
});

test("journals of the first format are read and written on", async (t) => {
  const { crc32 } = await import("node:zlib");
  const place = await folderOf(t, "format");
  const line = (value) => `${crc32(JSON.stringify(value)).toString(16).padStart(8, "0")} ${JSON.stringify(value)}\n`;
  const { hash, data } = blobOf("of the first format");
  await promises.mkdir(join(place, "s-s", "blobs"), { recursive: true });
  await promises.writeFile(join(place, "s-s", "blobs", hash), data);
  // As after a compaction, which wrote no breaks, an append that was cut short, and another.
  const header = { journal: "3f1f0e2c-52a5-4d0e-8d53-8f4be4b1a001", generation: 2, first: 7, id: "s" };
  const cut = line({ first: 9, by: "w-3", parts: ["cut short"] });
  const journal = `${line(header)}${line({ first: 7, by: "w-1", parts: ["a"] })}${line({ first: 8, by: "w-2", parts: ["b"] })}~\n${cut.slice(0, -9)}~\n${line({ first: 9, by: "w-4", parts: ["c", "d"] })}`;
  await promises.writeFile(join(place, "s-s", "journal"), journal);
  const session = fileStore(place).session("s");
  assert.deepEqual(await session.load(), { first: 7, parts: ["a", "b", "c", "d"] });
  assert.deepEqual(await session.getBlob(hash), new Uint8Array(data));
  await session.append(11, ["e"]);
  await session.putBlob(hash, data);
  await session.compact(12, ["all"], [hash]);
  assert.deepEqual(await fileStore(place).session("s").load(), { first: 12, parts: ["all"] });
  assert.deepEqual(await fileStore(place).session("s").getBlob(hash), new Uint8Array(data));
  assert.equal((await promises.readdir(join(place, "s-s", "blobs"))).length, 1);
});

/** A file system that does something before the first call of a method on a path that matches. */
function before(method, pattern, run) {
  let isDone = false;
  const hooked = async (path, ...rest) => {
    if (!isDone && pattern.test(path)) {
      isDone = true;
      await run();
    }
    return promises[method](path, ...rest);
  };
  return { ...promises, [method]: hooked, wasCalled: () => isDone };
}

test("what another process puts while a compaction cleans up stays", async (t) => {
  const place = await folderOf(t, "clean");
  const blobs = Array.from({ length: 70 }, (_, at) => blobOf(`blob ${at}`));
  const BLOB = /blobs[/\\][0-9a-f]{64}/;
  // Of one that is compacted for the first time, and again: names of blobs differ.
  for (const generation of [0, 1, 2]) {
    for (const [method, what] of [
      ["rename", "put"],
      ["rm", "put"],
      ["rename", "begun anew"],
      ["rm", "begun anew"],
    ]) {
      const id = `${method}-${what.replace(" ", "-")}-${generation}`;
      const other = fileStore(place).session(id);
      await other.append(0, ["a"]);
      for (let n = 0; n < generation; n += 1) await other.compact(1 + n, ["again"], []);
      for (const { hash, data } of blobs) await other.putBlob(hash, data);
      const write = async () => {
        if (what === "begun anew") await other.delete();
        const { first, parts } = await other.load();
        if (what === "put") assert.deepEqual(parts, ["new"], id);
        for (const { hash, data } of blobs) await other.putBlob(hash, data);
        await other.append(first + parts.length, ["refers to all"]);
      };
      const fs = before(method, BLOB, write);
      await fileStore(place, fs)
        .session(id)
        .compact(1 + generation, ["new"], []);
      // Names of later journals are not changed before they are removed.
      assert.ok(fs.wasCalled() || (method === "rename" && generation > 0), id);
      const session = fileStore(place).session(id);
      if (!fs.wasCalled()) continue;
      assert.equal((await session.load()).parts.at(-1), "refers to all", id);
      for (const { hash, data } of blobs) assert.deepEqual(await session.getBlob(hash), new Uint8Array(data), id);
    }
  }
});

test("a blob that is being put while another process compacts, or removes the session, is there", async (t) => {
  const place = await folderOf(t, "put");
  const { hash, data } = blobOf("a blob");
  const meetings = {
    compacted: (session) => session.compact(1, ["new"], []),
    removed: (session) => session.delete(),
    "compacted-twice": async (session) => {
      await session.compact(1, ["new"], []);
      await session.compact(2, ["newer"], []);
    },
  };
  for (const [id, meet] of Object.entries(meetings)) {
    for (const [method, pattern] of [
      ["rename", /blobs[/\\].*\.tmp$/],
      ["mkdir", /blobs$/],
      ["open", /blobs$/],
    ]) {
      const name = `${id}-${method}`;
      const other = fileStore(place).session(name);
      await other.append(0, ["a"]);
      const fs = before(method, pattern, () => meet(other));
      const session = fileStore(place, fs).session(name);
      await session.putBlob(hash, data);
      assert.ok(fs.wasCalled(), name);
      assert.deepEqual(await fileStore(place).session(name).getBlob(hash), new Uint8Array(data), name);
      const { first, parts } = await session.load();
      await session.append(first + parts.length, ["refers to it"]);
      assert.deepEqual(await other.getBlob(hash), new Uint8Array(data), name);
      // Nothing is left of the first attempt once it is compacted.
      await other.compact(first + parts.length + 1, ["all"], [hash]);
      assert.equal((await promises.readdir(join(place, `s-${name}`, "blobs"))).length, 1, name);
      assert.deepEqual(await session.getBlob(hash), new Uint8Array(data), name);
    }
  }
});

test("what was compacted too late takes nobody's place whose line is damaged", async (t) => {
  // A process wrote a line; another, which had lost, ended the journal by one of the same number, and was killed before it could remove
  // what it had compacted.
  const [place, late] = [await folderOf(t, "won"), await folderOf(t, "lost")];
  const journal = (root) => join(root, "s-s", "journal");
  await fileStore(place).session("s").append(0, ["first"]);
  await promises.cp(place, late, { recursive: true });
  const base = await promises.readFile(journal(place));
  await fileStore(place).session("s").append(1, ["acknowledged"]);
  const won = await promises.readFile(journal(place));
  await fileStore(late).session("s").compact(1, ["first", "refused"], []);
  await promises.rename(journal(late), join(place, "s-s", "1-late.next"));
  const next = await promises.readFile(join(place, "s-s", "1-late.next"));
  const json = JSON.stringify({ first: 1, by: "late-1", moved: "1-late.next" });
  const written = Buffer.concat([won, Buffer.from(`~\n${crc32(Buffer.from(json)).toString(16).padStart(8, "0")} ${json}\n`)]);
  for (let at = base.length - 1; at <= won.length; at += 1) {
    await promises.writeFile(join(place, "s-s", "1-late.next"), next);
    await promises.writeFile(journal(place), at === won.length ? written : flipped(written, at, at % 8));
    const { parts, findings = [] } = await fileStore(place).session("s").load({ salvage: true });
    assert.ok(!parts.includes("refused"), `byte ${at}: ${parts}`);
    assert.ok(parts.includes("acknowledged") || findings.length > 0, `byte ${at}: ${parts}`);
    const { first } = await fileStore(place).session("s").load({ salvage: true });
    await fileStore(place)
      .session("s")
      .compact(first + parts.length, [...parts, "more"], []);
    assert.deepEqual((await fileStore(place).session("s").load()).parts, [...parts, "more"], `byte ${at}`);
  }
});

test("no symbolic link is followed", async (t) => {
  if (process.platform === "win32") return t.skip("links need rights on Windows");
  const place = await folderOf(t, "links");
  const elsewhere = await folderOf(t, "elsewhere");
  const store = fileStore(place);
  const { hash, data } = blobOf("a blob");
  const begin = async (id) => {
    await store.session(id).append(0, ["1"]);
    await store.session(id).putBlob(hash, data);
    return join(place, `s-${id}`);
  };
  // Each of them in the place of what is moved elsewhere.
  const moved = async (path) => {
    const target = join(elsewhere, String(Math.random()).slice(2));
    await promises.rename(path, target);
    await promises.symlink(target, path);
    return target;
  };
  const isRefused = { code: "UNSUPPORTED", message: /symbolic link/ };

  const journal = await moved(join(await begin("journal"), "journal"));
  const bytes = await promises.readFile(journal);
  for (const call of [
    (s) => s.load(),
    (s) => s.load({ salvage: true }),
    (s) => s.append(1, ["2"]),
    (s) => s.compact(1, ["2"], []),
    (s) => s.putBlob(hash, data),
    (s) => s.record(),
  ]) {
    await assert.rejects(call(fileStore(place).session("journal")), isRefused);
  }
  assert.deepEqual(await promises.readFile(journal), bytes);

  const folder = await moved(await begin("folder"));
  for (const call of [(s) => s.load(), (s) => s.append(1, ["2"]), (s) => s.putBlob(hash, data)])
    await assert.rejects(call(fileStore(place).session("folder")), isRefused);
  const blobs = await moved(join(await begin("blobs"), "blobs"));
  for (const call of [(s) => s.getBlob(hash), (s) => s.putBlob(hash, data), (s) => s.compact(1, ["2"], [])])
    await assert.rejects(call(fileStore(place).session("blobs")), isRefused);
  assert.deepEqual(await promises.readdir(blobs), [hash]);

  // One that leads to nothing makes no file there.
  await promises.mkdir(join(place, "s-dangling"));
  await promises.symlink(join(elsewhere, "made"), join(place, "s-dangling", "journal"));
  await assert.rejects(store.session("dangling").append(0, ["1"]), isRefused);
  await assert.rejects(promises.stat(join(elsewhere, "made")), { code: "ENOENT" });

  // A blob is read from nowhere else, and put where it belongs.
  const blob = await moved(join(await begin("blob"), "blobs", hash));
  await assert.rejects(fileStore(place).session("blob").getBlob(hash), { code: "DECODE_FAILED", path: "/hash" });
  await fileStore(place).session("blob").putBlob(hash, data);
  assert.ok((await promises.lstat(join(place, "s-blob", "blobs", hash))).isFile());
  assert.deepEqual(await promises.readFile(blob), data);

  assert.deepEqual(
    (await store.sessions()).map(({ id }) => id),
    ["blob"],
  );
  await store.delete("folder");
  assert.ok((await promises.readdir(folder)).includes("journal"), "a removal followed the link");

  // The directory itself may be one.
  const linked = join(elsewhere, "linked");
  await promises.symlink(place, linked);
  await fileStore(linked).session("blob").append(1, ["2"]);
  assert.deepEqual((await store.session("blob").load()).parts, ["1", "2"]);
});
