// Processes that are killed while they write to sessions: what they were told is done is there, byte for byte, and nothing by half.
// And processes that write to one session at once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { has, long, modernNode, optionalProgram, project, run, temporaryFolder } from "./harness.mjs";
import { random } from "./storage-contract.mjs";

const KILLS = long ? 500 : 25;
/** Milliseconds that a process writes at most: some are killed at their first write, some after dozens. */
const LIFE = 60;
const SESSIONS = ["one", "two", "three"];

const folder = await project("storage-kill", {}, { also: ["storage-kill-child.mjs", "storage-race-child.mjs"] });
const node = await modernNode();
const bun = await optionalProgram("bun");
const sqlite = node.path ? { ...node, kind: "node:sqlite", args: ["--no-warnings"] } : { ...bun, kind: "bun:sqlite", args: [] };

/** Lets a process write until it is killed, and returns what it said. */
function killed({ path, args, kind }, place, seed, expected, life) {
  return new Promise((resolve, reject) => {
    const child = spawn(path, [...args, "storage-kill-child.mjs", kind, place, String(seed)], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    const said = [];
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    createInterface({ input: child.stdout }).on("line", (line) => {
      // The last one may have been cut short.
      try {
        said.push(JSON.parse(line));
      } catch {
        return;
      }
      if (said.length === 1) setTimeout(() => child.kill("SIGKILL"), life);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => (signal === "SIGKILL" ? resolve(said) : reject(new Error(`the process ended with ${code ?? signal}\n${stderr}`))));
    child.stdin.end(JSON.stringify(expected));
  });
}

const nothing = () => ({ first: 0, parts: [], blobs: [] });

/** What a session is after a change. */
function after({ first, parts, blobs }, change) {
  const next = first + parts.length;
  if (change.method === "append") return { first, parts: [...parts, ...change.parts], blobs };
  if (change.method === "putBlob") return { first, parts, blobs: [...blobs, change.blob] };
  if (change.method === "compact") return { first: next, parts: change.parts, blobs: change.blobs };
  return nothing();
}

/** Whether what was found is this state. Some other blobs may be left of a change that did not come to its end. */
function isState(found, { first, parts, blobs }, rest = []) {
  const isSame = JSON.stringify([found.first, found.parts]) === JSON.stringify([first, parts]);
  return isSame && blobs.every((name) => found.blobs.includes(name)) && found.blobs.every((name) => [...blobs, ...rest].includes(name));
}

async function survives(t, program, place) {
  const draw = random(20_261_123);
  const sessions = Object.fromEntries(SESSIONS.map((id) => [id, { state: nothing(), begun: undefined }]));
  const counts = { acknowledged: 0, begun: 0, taken: 0 };
  for (let round = 0; round <= KILLS; round += 1) {
    const expected = Object.fromEntries(
      SESSIONS.map((id) => {
        const { state, begun } = sessions[id];
        return [id, [...state.blobs, ...(begun?.blob ? [begun.blob] : [])]];
      }),
    );
    const [{ state: found }, ...said] = await killed(program, place, round, expected, draw() * LIFE);
    for (const id of SESSIONS) {
      const { state, begun } = sessions[id];
      const isTaken = begun !== undefined && isState(found[id], after(state, begun), state.blobs);
      assert.ok(isTaken || isState(found[id], state), `kill ${round}, session ${id}: ${JSON.stringify({ found: found[id], state, begun })}`);
      if (begun) counts[isTaken ? "taken" : "begun"] += 1;
      sessions[id] = { state: found[id], begun: undefined };
    }
    const begun = new Map();
    for (const line of said) {
      if (line.begin) begun.set(line.begin, line);
      if (!line.done) continue;
      const change = begun.get(line.done);
      begun.delete(line.done);
      counts.acknowledged += 1;
      sessions[change.id].state = after(sessions[change.id].state, change);
    }
    for (const change of begun.values()) sessions[change.id].begun = change;
  }
  t.diagnostic(`${KILLS} kills, ${counts.acknowledged} acknowledged changes, ${counts.begun + counts.taken} cut short, of which ${counts.taken} were done`);
  assert.ok(counts.acknowledged > 0 && counts.begun + counts.taken > 0, "nothing was tried");
}

for (const [name, program] of [
  ["files", { path: process.execPath, kind: "files", args: [] }],
  ["SQLite", sqlite],
]) {
  test(`${name}: what was acknowledged outlives ${KILLS} kills`, async (t) => {
    if (!has(t, program.path, { missing: `${node.missing}, and ${bun.missing}`, optional: true })) return;
    const place = await temporaryFolder("kill");
    t.after(() => rm(place, { recursive: true }));
    await survives(t, program, program.kind === "files" ? place : join(place, "sessions.db"));
  });

  test(`${name}: of processes that write to one session at once each change is there once`, async (t) => {
    if (!has(t, program.path, { missing: `${node.missing}, and ${bun.missing}`, optional: true })) return;
    const folderOfTest = await temporaryFolder("race");
    t.after(() => rm(folderOfTest, { recursive: true }));
    const place = program.kind === "files" ? folderOfTest : join(folderOfTest, "sessions.db");
    const writer = async (name, count) =>
      JSON.parse((await run(program.path, [...program.args, "storage-race-child.mjs", program.kind, place, name, String(count)], { cwd: folder })).stdout);
    // The first makes the tables, or the folder.
    const said = [await writer("a", 1), ...(await Promise.all(["b", "c", "d"].map((name) => writer(name, long ? 300 : 30))))];
    const acknowledged = said.flatMap((one) => one.acknowledged);
    const [last] = await killed(program, place, 1, { shared: [] }, 0);
    const found = last.state.shared.parts;
    const hashes = acknowledged.map((part) => createHash("sha256").update(part).digest("hex"));
    assert.deepEqual([...found].sort(), hashes.sort());
    t.diagnostic(`${acknowledged.length} changes, ${said.reduce((sum, { conflicts }) => sum + conflicts, 0)} conflicts`);
  });
}
