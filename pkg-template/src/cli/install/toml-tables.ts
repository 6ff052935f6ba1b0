// Which tables the lines of a TOML file leave to be added at its end.

const PART = String.raw`(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)`;
const KEY = String.raw`${PART}(?:[ \t]*\.[ \t]*${PART})*`;
/** A header of a table or of an element of a list, or the key of an assignment. */
const LINE = new RegExp(String.raw`^[ \t]*(?:(\[\[?)[ \t]*(${KEY})[ \t]*\]|(${KEY})[ \t]*=)`, "gm");
const LONG_TEXT = /"""[^]*?"""|'''[^]*?'''/g;

/**
 * Finds what of a file stands in the way of `[table]` and `[[list]]` at its end, as TOML has each key once: the table itself, or a value
 * that one of them would be in. Undefined where both can be added.
 */
export function inTheWay(toml: string, table: string, list: string): string | undefined {
  const listParts = partsOf(list);
  let added = [partsOf(table), listParts];
  let header: readonly string[] = [];
  for (const [, bracket, named, assigned] of toml.replace(LONG_TEXT, '""').matchAll(LINE)) {
    if (named !== undefined) header = partsOf(named);
    const path = assigned === undefined ? header : [...header, ...partsOf(assigned)];
    // A list that has elements takes more, and what stands in them is theirs.
    if (bracket === "[[" && path.join("\n") === listParts.join("\n")) added = added.filter((one) => one !== listParts);
    const isOpen = bracket === "[" && path.length === 1;
    if (!isOpen && added.some((one) => one.every((part, at) => (path[at] ?? part) === part))) return path.join(".");
  }
  return undefined;
}

function partsOf(key: string): readonly string[] {
  return [...key.matchAll(new RegExp(PART, "g"))].map(([part]) => part.replace(/^(["'])(.*)\1$/, "$2"));
}
