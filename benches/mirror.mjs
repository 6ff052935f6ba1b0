// Files of public repositories that may not be part of this one, read from clones beside it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where clones are looked for, when nothing else is said: `<folder>/<owner>+<name>`, or `repo` in it; bare or not. */
export const MIRROR = process.env.CONTEXTWEAVER_MIRROR ?? join(dirname(fileURLToPath(import.meta.url)), "../../.mirror");

const MAX_BUFFER = 2 ** 28;

/** A clone of `owner/name`: its revision, and a function that returns the text of a file; nothing when there is none. */
export function clone(mirror, repository) {
  const folder = join(mirror, repository.replace("/", "+"));
  const found = [join(folder, "repo"), folder].find((path) => existsSync(path));
  if (found === undefined) return undefined;
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync("git", ["-C", found, ...args], { encoding: "utf8", maxBuffer: MAX_BUFFER });
    if (status !== 0) throw new Error(`git ${args.join(" ")} in the clone of ${repository}: ${stderr}`);
    return stdout;
  };
  return {
    revision: git("rev-parse", "--short=8", "HEAD").trim(),
    read: (path) => git("show", `HEAD:${path}`),
    list: (folder) => git("ls-tree", "-r", "--name-only", "HEAD", folder).split("\n").filter(Boolean),
  };
}

/** Says why a part of a bench is left out for want of a clone. */
export const noClone = (repository) => `SKIPPED: there is no clone of ${repository}; --mirror names a folder with <owner>+<name>, made by git clone`;
