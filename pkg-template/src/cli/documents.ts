// What is no list of tools but describes tools, agents or skills: documents of OpenAPI, A2A agent cards, skills.
import { readdirSync, statSync } from "node:fs";
import { Catalog } from "../api.js";
import type { DocumentOptions, SkillFile } from "../api.js";
import { UsageError } from "./options.js";
import { nameOf, readText } from "./read-text.js";

/** Entries of folders that are looked at for skills. */
const MAX_ENTRIES = 100_000;
/** Folders below each other. */
const MAX_DEPTH = 16;
const NO_SKILLS = [".git", "node_modules"];

/** Makes a catalog of a document of which the content is known. */
export type DocumentReader = (options: DocumentOptions) => Catalog;

/** The reader of a folder of skills, or of one of them; undefined of all else. */
export async function skillsAt(file: string): Promise<DocumentReader | undefined> {
  if (file === "-") return undefined;
  const isFolder = isFolderAt(file);
  if (!isFolder && !/(^|[/\\])SKILL\.md$/i.test(file)) return undefined;
  const files = isFolder ? skillFiles(file) : [file];
  if (files.length === 0)
    throw new UsageError(`${nameOf(file)} is a folder without skills: there is no SKILL.md in it`, "input");
  const skills: SkillFile[] = [];
  for (const path of files) skills.push({ path, text: await readText(path) });
  return (options) => Catalog.fromSkills(skills, options);
}

function isFolderAt(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // whoever reads it says why it cannot be
  }
}

function entriesOf(folder: string): ReturnType<typeof readdirSync> {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new UsageError(`cannot read ${folder}: ${(error as { readonly code?: string }).code}`, "input");
  }
}

/** The reader of JSON that is a document; undefined of lists of tools. */
export function documentOf(json: unknown): DocumentReader | undefined {
  const has = (key: string): boolean => Object.hasOwn(Object(json), key);
  if (has("openapi") || has("swagger")) return (options) => Catalog.fromOpenApi(json as object, options);
  if (isCard(json) || (Array.isArray(json) && json.length > 0 && json.every(isCard)))
    return (options) => Catalog.fromAgentCard(json as object, options);
  return undefined;
}

/** Says that a text is YAML, by the name of its file or its first words. */
export function refuseYaml(file: string, text: string): void {
  if (!/\.ya?ml$/i.test(file) && !/^\s*(openapi|swagger)\s*:/.test(text)) return;
  throw new UsageError(
    `${nameOf(file)} is YAML, and JSON is read; convert it first, such as with: yq -o=json`,
    "input",
  );
}

/** A card has skills, which no other form has, and says where the agent is or what it can do. */
function isCard(json: unknown): boolean {
  const card = Object(json) as { readonly skills?: unknown };
  return (
    Array.isArray(card.skills) &&
    ["supportedInterfaces", "url", "capabilities", "protocolVersion"].some((key) => Object.hasOwn(card, key))
  );
}

/** The skills below a folder, by their paths. A skill's own folders hold none; links are not followed. */
function skillFiles(root: string): string[] {
  const found: string[] = [];
  let entries = 0;
  const visit = (folder: string, depth: number): void => {
    const here = entriesOf(folder);
    entries += here.length;
    if (entries > MAX_ENTRIES) throw new UsageError(`${nameOf(root)} has more than ${MAX_ENTRIES} files`, "input");
    const skill = here.find((entry) => entry.isFile() && entry.name.toLowerCase() === "skill.md");
    if (skill) {
      found.push(`${folder}/${skill.name}`);
      return;
    }
    for (const entry of here) {
      if (entry.isDirectory() && depth < MAX_DEPTH && !NO_SKILLS.includes(entry.name))
        visit(`${folder}/${entry.name}`, depth + 1);
    }
  };
  visit(root.replace(/(.)[/\\]+$/, "$1"), 1);
  return found.sort();
}
