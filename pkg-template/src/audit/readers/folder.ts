// Folders of sessions of which each message or event is a file.
import type { Fields } from "../../boundary/fields.js";

/** A folder as readers see it, wherever it is: the page has none. */
export interface Folder {
  readonly path: string;
  /** The names in a folder below it, in order; none where it is not there. */
  namesIn(path: string): readonly string[];
  /** An object of JSON, or why there is none. */
  jsonAt(path: string): Fields | string;
}
