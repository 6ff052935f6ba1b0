// The folder beside a project in which results of its agents are stored.
import { appendFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { makeFolder } from "../folders.js";

/** Its name, in the project's own folder. */
export const FOLDER = ".contextweaver";
/** Bytes of the log; what was there before stays in one more file. */
const MAX_LOG = 2 ** 20;

/** Makes the folder, which version control leaves alone. */
export function made(folder: string): string {
  makeFolder(folder);
  try {
    writeFileSync(`${folder}/.gitignore`, "*\n", { flag: "wx" });
  } catch {
    // It is there.
  }
  return folder;
}

/** Where the sessions of the store are. */
export function resultsIn(folder: string): string {
  return `${folder}/results`;
}

/** Writes a line into the log of the hooks: no text of a result. A log that cannot be written is no reason to fail. */
export function logged(folder: string, line: string): void {
  try {
    const file = `${made(folder)}/hook.log`;
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG) renameSync(file, `${file}.1`);
    appendFileSync(file, `${new Date().toISOString()} ${line}\n`);
  } catch {
    // Nobody reads it then.
  }
}
