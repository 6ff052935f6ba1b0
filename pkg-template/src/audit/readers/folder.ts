// Sessions of which each message or event is a file.
import { readFileSync, readdirSync } from "node:fs";
import { fieldsOf, parseJson } from "../json-fields.js";
import type { Fields } from "../json-fields.js";

/** The names in a folder, in order; none where it is not there. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map(({ name }) => name).sort();
  } catch {
    return []; // a session without messages has no folder for them
  }
}

/** An object of JSON, or why there is none. */
export function jsonAt(folder: string, path: string): Fields | string {
  try {
    return fieldsOf(parseJson(new TextDecoder().decode(readFileSync(`${folder}/${path}`))));
  } catch (error) {
    return (error as { readonly code?: string }).code ?? "it is not valid JSON";
  }
}
