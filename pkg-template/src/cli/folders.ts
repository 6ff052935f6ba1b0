// Folders that the program makes.
import { mkdirSync, statSync } from "node:fs";
import { UsageError } from "./options.js";

/**
 * Makes a folder and those that it is in, one at a time: asked for all of them at once, Node never ends where none can be made, as below
 * `/proc`.
 */
export function makeFolder(path: string): void {
  try {
    make(path);
  } catch (error) {
    throw new UsageError(
      `cannot make the folder ${path}: ${(error as { code?: string }).code ?? String(error)}`,
      "input",
    );
  }
}

function make(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
  const parent = parentOf(path);
  if (parent !== path) make(parent);
  try {
    mkdirSync(path, { recursive: false });
  } catch (error) {
    // Another process was faster.
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  }
}

/** The folder that a file or a folder is in. */
export function parentOf(path: string): string {
  const [, parent] = /^(.*?)[\\/]+[^\\/]+[\\/]*$/.exec(path) ?? [, "."];
  return parent || "/";
}
