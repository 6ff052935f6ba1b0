// Processes that write to one session in files at once, compact it and are killed, while bits of its files flip: whatever was
// acknowledged and not hit is there afterwards, and the session opens with what can be read.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as promises from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { long, packageDir, project, temporaryFolder } from "./harness.mjs";
import { random } from "./storage-contract.mjs";

const load = (file) => import(pathToFileURL(join(packageDir, "dist/node", file)));
const { fileStore } = await load("node.js");
const { openSession } = await load("index.js");

const ROUNDS = long ? 500 : 15;
/** Milliseconds that processes write at most, from when each was acknowledged something. */
const LIFE = 200;
const SEED = Number(process.env.CONTEXTWEAVER_TEST_SEED ?? (long ? Math.floor(Math.random() * 2 ** 31) : 20_261_126));

const folder = await project("storage-attack", {}, { also: ["storage-attack-child.mjs"] });

/** Lets processes write to a session until all are killed, and returns what each said. */
async function attacked(place, seeds, life) {
  const said = seeds.map(() => []);
  let began = 0;
  await Promise.all(
    seeds.map(
      (seed, at) =>
        new Promise((resolve, reject) => {
          const child = spawn(process.execPath, ["storage-attack-child.mjs", place, `r${seed}`, String(seed)], {
            cwd: folder,
            stdio: ["ignore", "pipe", "pipe"],
          });
          let stderr = "";
          child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
          children.push(child);
          createInterface({ input: child.stdout }).on("line", (line) => {
            // The last one may have been cut short.
            try {
              said[at].push(JSON.parse(line));
            } catch {
              return;
            }
            const isFirst = said[at].at(-1).done !== undefined && said[at].filter(({ done }) => done !== undefined).length === 1;
            if (isFirst && (began += 1) === seeds.length) for (const one of children) setTimeout(() => one.kill("SIGKILL"), life());
          });
          child.on("error", reject);
          child.on("close", (code, signal) => {
            if (signal === "SIGKILL") return resolve();
            for (const one of children) one.kill("SIGKILL");
            reject(new Error(`a process ended with ${code ?? signal}\n${stderr}`));
          });
        }),
    ),
  ).finally(() => children.splice(0));
  return said;
}
const children = [];

/** Results that a session has, each with whether its bytes can be read. */
function resultsOf({ manager }) {
  const found = new Map();
  for (const { id, kind, text } of manager.toJSON().event_log.items) {
    if (kind !== "tool_result") continue;
    const call = id.slice("result:".length);
    found.set(call, text === "" ? "forgotten" : manager.artifacts.exists(`artifact:${id}`) ? "whole" : "lost");
  }
  return found;
}

async function filesOf(place) {
  const session = join(place, "s-s");
  const blobs = (await promises.readdir(join(session, "blobs")).catch(() => [])).map((name) => join(session, "blobs", name));
  return [join(session, "journal"), ...blobs];
}

test(`what was acknowledged outlives ${ROUNDS} rounds of races, kills and flipped bits`, async (t) => {
  const draw = random(SEED);
  const below = (n) => Math.floor(draw() * n);
  const counts = { acknowledged: 0, conflicts: 0, flips: 0, refused: 0 };
  let place;
  t.after(async () => {
    for (const child of children) child.kill("SIGKILL");
    if (place) await promises.rm(place, { recursive: true });
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const what = `seed ${SEED} (CONTEXTWEAVER_TEST_SEED), round ${round}`;
    if (place) await promises.rm(place, { recursive: true });
    place = await temporaryFolder("attack");
    const said = await attacked(place, [below(1e9), below(1e9)], () => below(LIFE));
    const acknowledged = new Set();
    /** What somebody forgot, or was about to. */
    const forgotten = new Set();
    for (const lines of said) {
      for (const line of lines) {
        if (line.forgotten !== undefined) forgotten.add(line.forgotten.slice("result:".length));
        if (line.done !== undefined) acknowledged.add(line.done);
        if (line.refused !== undefined) counts.conflicts += 1;
        if (line.findings !== undefined) assert.equal(line.findings, 0, `${what}: nothing was damaged yet`);
        assert.notEqual(line.refused, "JOURNAL_DAMAGED", what);
      }
    }
    counts.acknowledged += acknowledged.size;
    const store = fileStore(place);
    const session = await openSession(store.session("s")).catch((error) => assert.fail(`${what}: ${error.stack}`));
    const found = resultsOf(session);
    assert.deepEqual(session.findings, [], what);
    for (const id of acknowledged) {
      const isThere = found.get(id) === "whole" || (forgotten.has(id) && found.get(id) === "forgotten");
      assert.ok(isThere, `${what}: ${id} was acknowledged and is ${found.get(id) ?? "not there"}`);
    }
    session.free();
    if (found.size === 0) continue;

    // A bit flips in one of the files.
    const files = await filesOf(place);
    const file = below(3) === 0 ? files[below(files.length)] : files[0];
    const bytes = await promises.readFile(file);
    if (bytes.length === 0) continue;
    const at = below(bytes.length);
    bytes[at] ^= 1 << below(8);
    await promises.writeFile(file, bytes);
    counts.flips += 1;
    const hit = `${what}: byte ${at} of ${file.slice(place.length)}`;
    const refused = await openSession(fileStore(place).session("s")).then(
      (opened) => opened.free(),
      (error) => error,
    );
    if (refused) {
      counts.refused += 1;
      assert.equal(refused.code, "JOURNAL_DAMAGED", `${hit}: ${refused.stack}`);
    }
    const salvaged = await openSession(fileStore(place).session("s"), { salvage: true }).catch((error) => assert.fail(`${hit}: ${error.stack}`));
    const kept = resultsOf(salvaged);
    const missing = [...found].filter(([id, how]) => how === "whole" && kept.get(id) !== "whole");
    assert.ok(missing.length === 0 || salvaged.findings.length > 0, `${hit}: ${JSON.stringify(missing)} without a finding`);
    assert.ok(!refused || salvaged.findings.length > 0, hit);
    // Written anew it is whole, but for bytes that are lost.
    salvaged.manager.ingest({ id: "more", kind: "user_turn", text: "go on" });
    await salvaged.compact();
    salvaged.free();
    const mended = await openSession(fileStore(place).session("s")).catch((error) => assert.fail(`${hit}: ${error.stack}`));
    assert.deepEqual([...resultsOf(mended)], [...kept], hit);
    mended.free();
  }
  t.diagnostic(JSON.stringify({ seed: SEED, ...counts }));
  assert.ok(counts.acknowledged > ROUNDS && counts.flips > 0 && counts.refused > 0, JSON.stringify(counts));
});
