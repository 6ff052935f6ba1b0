// Writes the parts of a result to files.
import { writeFileSync } from "node:fs";
import process from "node:process";
import type { ConvertedMcpResult } from "../api.js";
import { makeFolder } from "./folders.js";
import { UsageError } from "./options.js";
import { cell, safe } from "./print.js";

const MAX_NAME = 80;
/** How many files may have a name already. */
const MAX_TAKEN = 1000;
/** A server chooses the media type: none of them makes a file that runs. */
const ENDINGS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/pdf": "pdf",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/wav": "wav",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
  "text/csv": "csv",
  "text/markdown": "md",
  "text/plain": "txt",
};

/** Writes the bytes of a result, and its text where the envelope has not all of it; says on stderr what is where. */
export function saveArtifacts(
  folder: string,
  tool: string,
  { binaries, full_text: text, envelope }: ConvertedMcpResult,
): void {
  makeFolder(folder);
  for (const [handle, { bytes, media_type: type }] of binaries) save(folder, handle, type, bytes);
  if (text !== envelope.summary) save(folder, `mcp:${tool}:full_text`, "text/plain", new TextEncoder().encode(text));
}

function save(folder: string, handle: string, type: string, bytes: Uint8Array): void {
  // The handle has the tool's name in it, whatever that is: the rest has neither separators nor dots that lead elsewhere.
  const stem =
    handle
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .slice(-MAX_NAME)
      .replace(/^-+/, "") || "artifact";
  const plain = type.split(";", 1).join().trim().toLowerCase();
  const ending = Object.hasOwn(ENDINGS, plain) ? ENDINGS[plain] : "bin";
  for (let taken = 0; taken < MAX_TAKEN; taken++) {
    const path = `${folder}/${stem}${taken === 0 ? "" : `.${taken + 1}`}.${ending}`;
    try {
      // Fails where there is anything of this name, a link to elsewhere, too.
      writeFileSync(path, bytes, { flag: "wx" });
    } catch (error) {
      if ((error as { code?: string }).code === "EEXIST") continue;
      throw failed(path, error);
    }
    process.stderr.write(`contextweaver: ${cell(handle, 160)} is in ${safe(path).replace(/\s+/g, " ")}\n`);
    return;
  }
  throw new UsageError(`${folder} has too many files that are named ${stem}`, "input");
}

function failed(path: string, error: unknown): UsageError {
  const { code, message } = error as { code?: string; message?: string };
  return new UsageError(`cannot write ${path}: ${code ?? message}`, "input");
}
