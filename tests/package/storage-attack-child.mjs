// Writes to one session beside other processes until it is killed, as an agent does: opens it, stores results and turns, compacts,
// and opens it again where somebody was faster. A line for each change that was acknowledged: what the session has by then.
import { writeSync } from "node:fs";
import { openSession } from "contextweaver";
import { fileStore } from "contextweaver/node";
import { random } from "./storage-contract.mjs";

const [place, name, seed] = process.argv.slice(2);
const storage = fileStore(place).session("s");
const draw = random(Number(seed));
const below = (n) => Math.floor(draw() * n);
/** Few texts, so that processes store blobs of the same hash, which others remove. */
const TEXTS = ["one", "two", "three", "four"].map((word) => `${word} row of the result\n`.repeat(600));

const say = (value) => {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
};

for (let turn = 0; ; ) {
  const session = await openSession(storage, { salvage: true });
  say({ findings: session.findings.length });
  try {
    for (let saves = 1 + below(6); saves > 0; saves -= 1) {
      turn += 1;
      const id = `${name}-${turn}`;
      const { manager } = session;
      const text = TEXTS[below(TEXTS.length)];
      manager.ingest({ id, kind: "tool_call", text: "read {}" });
      manager.ingestToolResult({ tool_call_id: id, tool_name: "read", raw_output: text });
      // Of the oldest the bytes are given up, so that compactions have something to remove.
      const results = manager.toJSON().event_log.items.filter(({ kind, text: said }) => kind === "tool_result" && said !== "");
      const forgotten = results.length > 6 ? results[0].id : undefined;
      if (forgotten !== undefined) manager.forget(forgotten);
      const compacts = below(3) === 0;
      say({ begin: id, forgotten });
      await (compacts ? session.compact() : session.save());
      say({ done: id });
    }
  } catch (error) {
    if (error.code !== "CONFLICT" && error.code !== "JOURNAL_DAMAGED") throw error;
    say({ refused: error.code });
  } finally {
    session.free();
  }
}
