// `contextweaver recall`: what a snapshot holds about something, wherever it stands.
import { restore } from "./drilldown.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { painter, safe, safeJson } from "./print.js";
import { nameOf, readText } from "./read-text.js";

/** Runs the command; returns what to print. */
export async function recall({ files, values }: CommandLine): Promise<string> {
  const [file, query, ...more] = files;
  if (file === undefined || query === undefined || more.length > 0) {
    throw new UsageError(
      "recall takes one snapshot, a file or - for stdin, and a query: quote it if it has several words",
    );
  }
  const max = wholeNumber(values, "max-tokens");
  const answer = restore(await readText(file), nameOf(file)).recall(
    query,
    max === undefined ? {} : { max_tokens: max },
  );
  if (values["json"]) return `${safeJson(answer)}\n`;
  const { text, tokens, excerpts } = answer;
  const places = excerpts.length === 1 ? "1 place" : `${excerpts.length} places`;
  return `${[safe(text), painter(values["color"])(`(${excerpts.length === 0 ? "nothing was found" : `${places}, ${tokens} tokens`})`, "dim")].filter(Boolean).join("\n")}\n`;
}
