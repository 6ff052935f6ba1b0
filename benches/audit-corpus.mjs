// Recorded sessions in any amount, for audit.mjs: copies of those of the tests and of cost/sessions, each with ids of its own, as a call that
// is recorded twice counts once. Standing alone it writes them: node benches/audit-corpus.mjs <folder> [megabytes]
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { conversation } from "./cost/conversation.mjs";
import { ownSet } from "./cost/sets.mjs";

const RECORDED = join(dirname(dirname(fileURLToPath(import.meta.url))), "tests/package/fixtures/audit");
/** Files of agents, and where their calls have ids. */
const FILES = {
  "claude-code.jsonl": /"(?:requestId|id)":"(?:req|msg)_/g,
  "claude-code-subagent.jsonl": /"(?:requestId|id)":"(?:req|msg)_/g,
  "gemini-cli.jsonl": /"id":"/g,
  "opencode.json": /"(?:id|messageID|parentID)": "msg_/g,
  "rollout-codex.jsonl": /"response_id":"/g,
  "rollout-codex-long.jsonl.gz": /"response_id":"/g,
};

const read = (name) => (name.endsWith(".gz") ? gunzipSync(readFileSync(join(RECORDED, name))) : readFileSync(join(RECORDED, name))).toString("utf8");

/** Texts of sessions, each with the name of its file and a function that gives it other ids. */
function originals() {
  const agents = Object.entries(FILES).map(([name, ids]) => [
    name.replace(/\.gz$/, ""),
    read(name),
    (text, copy) => text.replaceAll(ids, (found) => `${found}${copy}x`),
  ]);
  const own = ownSet()
    .sessions.map(conversation)
    .map(({ id, messages }) => [`${id}.jsonl`, messages.map((message) => JSON.stringify(message)).join("\n"), (text) => text]);
  return [...agents, ...own];
}

/** Writes so many megabytes of sessions into a folder, in turns of their kinds; returns the bytes. */
export function writeCorpus(folder, megabytes) {
  const sessions = originals();
  let bytes = 0;
  for (let copy = 0; bytes < megabytes * 1e6; copy += 1) {
    const place = join(folder, String(copy));
    mkdirSync(place, { recursive: true });
    for (const [name, text, renamed] of sessions) {
      const written = renamed(text, copy);
      writeFileSync(join(place, name), written);
      bytes += Buffer.byteLength(written);
      if (bytes >= megabytes * 1e6) break;
    }
  }
  return bytes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, megabytes = "100"] = process.argv.slice(2);
  if (folder === undefined) throw new Error("usage: node benches/audit-corpus.mjs <folder> [megabytes]");
  console.log(`${(writeCorpus(folder, Number(megabytes)) / 1e6).toFixed(1)} MB in ${folder}`);
}
