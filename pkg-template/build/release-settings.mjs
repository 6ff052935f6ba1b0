// What release.toml says: where the project lives and who publishes it.
//
//   node pkg-template/build/release-settings.mjs    fails when a field is empty
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const FILE = "release.toml";
const FIELDS = ["repository", "homepage", "bugs", "author", "license"];
const ADDRESSES = ["repository", "homepage", "bugs"];

/** Reads the fields, one a line; those that are absent are empty. */
export function readSettings(text = readFileSync(new URL(`../../${FILE}`, import.meta.url), "utf8")) {
  const settings = Object.fromEntries(FIELDS.map((field) => [field, ""]));
  for (const line of text.split("\n").filter((line) => !/^\s*(#|$)/.test(line))) {
    const [, field, value] = /^(\w+) *= *"([^"\\]*)"\s*(?:#.*)?$/.exec(line) ?? [];
    if (field === undefined) throw new Error(`${FILE}: not a field with a text: ${line}`);
    if (!FIELDS.includes(field)) throw new Error(`${FILE}: unknown field ${field}, one of: ${FIELDS.join(" ")}`);
    if (ADDRESSES.includes(field) && value !== "" && !value.startsWith("https://"))
      throw new Error(`${FILE}: ${field} is no address of https: ${value}`);
    settings[field] = value.trim();
  }
  settings.repository = settings.repository.replace(/\/$/, "").replace(/\.git$/, "");
  return settings;
}

/** Returns the fields of which nothing is said. */
export const missing = (settings) => FIELDS.filter((field) => settings[field] === "");

/** Returns a package.json with the version and what is said. */
export function filled(manifest, settings, version) {
  const { repository, homepage, bugs, author, license } = settings;
  const said = {
    ...(repository && { repository: { type: "git", url: `git+${repository}.git` } }),
    ...(homepage && { homepage }),
    ...(bugs && { bugs: { url: bugs } }),
    ...(author && { author }),
    ...(license && { license }),
  };
  return { ...manifest, version, ...said };
}

/** Returns a document whose links lead to the repository, for where its files are not beside it. */
export function withAbsoluteLinks(markdown, { repository }, version) {
  if (repository === "") return markdown;
  return markdown.replace(/\]\((?!#)([^):]*)(?=\))/g, (_, target) => {
    const kind = /\.(jpg|png|svg)$/.test(target) ? "raw" : "blob";
    return `](${repository}/${kind}/v${version}/${target}`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fields = missing(readSettings());
  if (fields.length > 0) {
    console.error(`${FILE} says nothing of: ${fields.join(", ")}`);
    process.exitCode = 1;
  }
}
