// Writes to sessions until it is killed, and says before each change what it is going to do, and afterwards that it is done.
// First it says what it finds: `{ state }`, then `{ begin }` and `{ done }`, a line each.
import { readFileSync, writeSync } from "node:fs";
import * as cw from "contextweaver/node";
import { random } from "./storage-contract.mjs";
import { databaseOf } from "./storage-engines.mjs";

const [kind, place, seed] = process.argv.slice(2);
/** Which blobs a session may have. */
const expected = JSON.parse(readFileSync(0, "utf8"));
const store = kind === "files" ? cw.fileStore(place) : cw.sqliteStore(await databaseOf(kind, place));
const draw = random(Number(seed));

const say = (value) => {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
};
const hash = async (bytes) => Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
const hashes = (parts) => Promise.all(parts.map((part) => hash(Buffer.from(part))));
const below = (n) => Math.floor(draw() * n);

/** Some text: mostly short, and now and then of many pages of the disk. */
function part() {
  const length = below(10) === 0 ? below(200_000) : below(2_000);
  return JSON.stringify({ n: draw(), text: ["x", "é\n", "日本", '\\"'][below(4)].repeat(length / 2), note: below(1e9) });
}

const state = {};
const sessions = Object.keys(expected).map((id) => ({ id, session: store.session(id) }));
for (const { id, session } of sessions) {
  const { first, parts } = await session.load();
  const blobs = [];
  for (const name of expected[id]) {
    const bytes = await session.getBlob(name);
    if (bytes && (await hash(bytes)) === name) blobs.push(name);
  }
  state[id] = { first, parts: await hashes(parts), blobs };
}
say({ state });

let number = 0;
async function change({ id, session }, kept) {
  const n = (number += 1);
  const next = kept.first + kept.parts.length;
  const roll = draw();
  if (roll < 0.6) {
    const parts = Array.from({ length: 1 + below(4) }, part);
    const named = await hashes(parts);
    say({ begin: n, id, method: "append", parts: named });
    await session.append(next, parts);
    kept.parts.push(...named);
  } else if (roll < 0.8) {
    // Quickly made, so that the process is mostly writing.
    const bytes = new Uint8Array(below(300_000)).fill(below(256));
    bytes.set(Buffer.from(String(draw())).subarray(0, bytes.length));
    const name = await hash(bytes);
    say({ begin: n, id, method: "putBlob", blob: name });
    await session.putBlob(name, bytes);
    kept.blobs.push(name);
  } else if (roll < 0.97) {
    const parts = Array.from({ length: below(5) }, part);
    const blobs = kept.blobs.filter(() => below(2) === 0);
    const named = await hashes(parts);
    say({ begin: n, id, method: "compact", parts: named, blobs });
    await session.compact(next, parts, blobs);
    Object.assign(kept, { first: next, parts: named, blobs });
  } else {
    say({ begin: n, id, method: "delete" });
    await session.delete();
    Object.assign(kept, { first: 0, parts: [], blobs: [] });
  }
  say({ done: n });
}

// The sessions at the same time, each change after the other.
await Promise.all(
  sessions.map(async (one) => {
    for (;;) await change(one, state[one.id]);
  }),
);
