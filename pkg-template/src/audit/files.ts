// Which files are read: those that are named, and those of formats that are known below folders; and their bytes.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import process from "node:process";
import { fieldsOf } from "../boundary/fields.js";
import { parseJson } from "./json-fields.js";
import type { Folder } from "./readers/folder.js";
import { EVENT_FILE } from "./readers/openhands.js";

/** Entries of folders that are looked at. */
const MAX_ENTRIES = 1_000_000;
const MAX_DEPTH = 24;
/** Bytes that are read at once. */
const CHUNK = 1 << 20;
/** Names that may be sessions. */
const READ = /\.(jsonl|ndjson|json|traj)$/i;
/** Databases that hold sessions, and what writes them as JSON. */
const DATABASES: readonly (readonly [of: RegExp, hint: string])[] = [
  [/(^|[/\\])opencode[^/\\]*\.db$/, "it is a database; write sessions with: opencode export <session> > session.json"],
];

/** The files that are read, of those that were named and those below named folders. */
export interface FoundFiles {
  /** In the order of their names. A folder whose files are parts of sessions is read as a whole, by the reader of its format. */
  readonly files: readonly { readonly path: string; readonly folderOf?: "opencode" | "openhands" }[];
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
}

/** Finds the files; `-` is standard input. */
export function findFiles(paths: readonly string[]): FoundFiles {
  const files: FoundFiles["files"][number][] = [];
  const problems: { file: string; reason: string }[] = [];
  let entries = 0;
  const others = new Map<string, number>();
  const visit = (folder: string, depth: number): void => {
    let here: ReturnType<typeof readdirSync>;
    try {
      here = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      problems.push({ file: folder, reason: `cannot be read: ${(error as { readonly code?: string }).code}` });
      return;
    }
    entries += here.length;
    if (entries > MAX_ENTRIES || depth > MAX_DEPTH) {
      problems.push({
        file: folder,
        reason:
          depth > MAX_DEPTH ? `it is more than ${MAX_DEPTH} folders deep` : `there are more than ${MAX_ENTRIES} files`,
      });
      return;
    }
    const names = new Set(here.filter((entry) => entry.isDirectory()).map(({ name }) => name));
    if (names.has("session") && names.has("message") && names.has("part")) {
      files.push({ path: folder, folderOf: "opencode" });
      return;
    }
    if (here.some(({ name }) => EVENT_FILE.test(name))) {
      files.push({ path: folder, folderOf: "openhands" });
      return;
    }
    for (const entry of [...here].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && entry.name !== ".git") visit(path, depth + 1);
        continue;
      }
      // Links are not followed.
      if (!entry.isFile()) continue;
      const database = DATABASES.find(([of]) => of.test(path));
      if (database) problems.push({ file: path, reason: database[1] });
      else if (READ.test(entry.name)) files.push({ path });
      else others.set(ending(entry.name), (others.get(ending(entry.name)) ?? 0) + 1);
    }
  };
  for (const path of paths) {
    const found = path === "-" ? { isDirectory: () => false } : statAt(path);
    if (typeof found === "string") problems.push({ file: path, reason: found });
    else if (found.isDirectory()) visit(path.replace(/(.)[/\\]+$/, "$1"), 1);
    else {
      const database = DATABASES.find(([of]) => of.test(path));
      if (database) problems.push({ file: path, reason: database[1] });
      else files.push({ path });
    }
  }
  const passed = [...others]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 8)
    .map(([name, count]) => `${count} ${name}`);
  if (passed.length > 0)
    problems.push({
      file: paths.length === 1 ? (paths[0] ?? "") : "folders",
      reason: `files of other types were passed over: ${passed.join(", ")}`,
    });
  return { files, problems };
}

function ending(name: string): string {
  return /\.\w{1,8}$/.exec(name)?.[0] ?? "without ending";
}

function statAt(path: string): { isDirectory(): boolean } | string {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? "there is no such file or folder";
  } catch (error) {
    return `cannot be read: ${(error as { readonly code?: string }).code}`;
  }
}

/** The bytes of a file, in parts; `-` is standard input. A part is overwritten by the next one. */
export async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  if (path === "-") {
    yield* process.stdin;
    return;
  }
  const file = await open(path, "r");
  try {
    const buffer = new Uint8Array(CHUNK);
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A folder on the disk. */
export function folderAt(path: string): Folder {
  return {
    path,
    namesIn: (below) => {
      try {
        return readdirSync(`${path}/${below}`, { withFileTypes: true })
          .map(({ name }) => name)
          .sort();
      } catch {
        return []; // a session without messages has no folder for them
      }
    },
    jsonAt: (file) => {
      try {
        return fieldsOf(parseJson(new TextDecoder().decode(readFileSync(`${path}/${file}`))));
      } catch (error) {
        return (error as { readonly code?: string }).code ?? "it is not valid JSON";
      }
    },
  };
}
