// Sets of recorded sessions: ours, which are committed, and public ones where they are.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { conversation } from "./conversation.mjs";
import { lengthOf, tokensOf } from "./prompt.mjs";

const own = join(dirname(fileURLToPath(import.meta.url)), "sessions");

/** A file of JSON that may be compressed. */
export function readJson(path) {
  const bytes = readFileSync(path);
  return JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
}

/** Our sessions, one file each, as one set; in turns of their kinds, so that joined ones are of several. */
export function ownSet() {
  const files = readdirSync(own).filter((file) => /^[a-z]+-\d+\.json\.gz$/.test(file));
  const [turn, kind] = [(file) => Number(/\d+/.exec(file)), (file) => file.split("-")[0]];
  files.sort((a, b) => turn(a) - turn(b) || (kind(a) < kind(b) ? -1 : 1));
  return { name: "recorded", sessions: files.map((file) => readJson(join(own, file))) };
}

/** The sets in folders, each {name, sessions}. */
export function setsIn(folders) {
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => {
      const files = readdirSync(folder)
        .filter((file) => file.endsWith(".json"))
        .sort();
      return files.map((file) => readJson(join(folder, file))).filter((set) => Array.isArray(set.sessions));
    });
}

/** Conversations of a set, of more than `least` tokens each. */
export function conversationsOf({ sessions }, least, most) {
  const all = sessions.map(conversation).filter(({ messages }) => tokensOf(lengthOf(messages)) > least);
  return all.slice(0, most);
}
