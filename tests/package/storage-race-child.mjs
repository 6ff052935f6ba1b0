// Writes to one session beside other processes, again where somebody was faster, and says what was acknowledged.
import * as cw from "contextweaver/node";
import { random } from "./storage-contract.mjs";
import { databaseOf } from "./storage-engines.mjs";

const [kind, place, name, count] = process.argv.slice(2);
const store = kind === "files" ? cw.fileStore(place) : cw.sqliteStore(await databaseOf(kind, place));
const session = store.session("shared");
const draw = random(name.charCodeAt(0));
const acknowledged = [];
let conflicts = 0;

while (acknowledged.length < Number(count)) {
  const { first, parts } = await session.load();
  const part = `${name} ${acknowledged.length} ${"x".repeat(draw() * 20_000)}`;
  try {
    // A compaction that keeps everything.
    if (draw() < 0.1) await session.compact(first + parts.length, parts, []);
    else {
      await session.append(first + parts.length, [part]);
      acknowledged.push(part);
    }
  } catch (error) {
    if (error.code !== "CONFLICT") throw error;
    conflicts += 1;
  }
}
console.log(JSON.stringify({ acknowledged, conflicts }));
