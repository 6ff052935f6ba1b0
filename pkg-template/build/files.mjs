// Folders as maps from relative paths to contents, which the build works on.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Returns the files below a folder by their paths within it, in their order, each below `at`. */
export function filesBelow(folder, at = "") {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
  return new Map(paths.map((path) => [join(at, path), readFileSync(join(folder, path))]));
}

/** Makes a folder hold these files and no others. */
export function writeFolder(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
