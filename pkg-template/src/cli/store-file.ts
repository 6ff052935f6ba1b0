// A file that one process at a time reads and writes as a whole. A write that is cut short leaves the file as it was.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import process from "node:process";
import { UsageError } from "./options.js";

export class StoreFile {
  readonly #path: string;
  readonly #lock: string;
  /** What is in the file, if there is one. */
  readonly text: string | undefined;

  private constructor(path: string, lock: string, text: string | undefined) {
    this.#path = path;
    this.#lock = lock;
    this.text = text;
  }

  /** Opens a file for this process alone; `<path>.lock` says so to others. */
  static open(path: string): StoreFile {
    const lock = `${path}.lock`;
    claim(lock);
    try {
      return new StoreFile(path, lock, read(path));
    } catch (error) {
      unlinkSync(lock);
      throw error;
    }
  }

  /** Puts a text in the place of what is there. */
  write(text: string): void {
    // Beside the file, so that renaming never crosses a file system.
    const next = `${this.#path}.${process.pid}.tmp`;
    try {
      const file = openSync(next, "w", 0o600);
      try {
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(next, this.#path);
    } catch (error) {
      throw new UsageError(`cannot write ${this.#path}: ${codeOf(error)}`, "input");
    }
  }

  /** Lets others have the file. */
  close(): void {
    unlinkSync(this.#lock);
  }
}

function read(path: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new UsageError(`cannot read ${path}: ${codeOf(error)}`, "input");
  }
}

/** Makes the lock; one whose process is gone is taken over. */
function claim(lock: string): void {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(lock, `${process.pid}\n`, { flag: "wx" });
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw new UsageError(`cannot write ${lock}: ${codeOf(error)}`, "input");
      const owner = Number(new TextDecoder().decode(readFileSync(lock)));
      if (attempt > 0 || isRunning(owner))
        throw new UsageError(`the store is in use by process ${owner}; if it is not, remove ${lock}`, "input");
      unlinkSync(lock);
    }
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}
