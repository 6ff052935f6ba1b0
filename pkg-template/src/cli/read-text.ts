// Reads files and standard input as text.
import { readFileSync } from "node:fs";
import process from "node:process";
import { UsageError } from "./options.js";

/** What to call a file in messages. */
export function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** Reads a file, or standard input when the name is `-`. */
export async function readText(name: string): Promise<string> {
  try {
    const bytes = name === "-" ? await readStdin() : readFileSync(name);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw new UsageError(`${nameOf(name)} is not UTF-8 text`, "input");
    }
    throw new UsageError(`cannot read ${nameOf(name)}: ${code ?? message}`, "input");
  }
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    size += chunk.length;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
