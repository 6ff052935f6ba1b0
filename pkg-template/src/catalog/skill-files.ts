// Skills of agents: SKILL.md files, of which a catalog needs what stands in front. The body is read when a skill is used, not here.
import { Reading, refused, stringOf } from "./document-tools.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields, listed, text } from "../boundary/guard.js";
import { isWellFormed } from "../boundary/guard-errors.js";
import { MAX_ITEMS } from "../boundary/guard-limits.js";
import type { SkillFile } from "./routing-types.js";
import type { ReadTools } from "./tool-sources.js";
import type { JsonObject } from "../types.js";

/** Characters of what stands in front. */
const MAX_FRONT = 64 * 1024;
/** What the format allows. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
const KNOWN = ["name", "description", "license", "compatibility", "allowed-tools", "metadata"];

/** Reads skills. @internal */
export function readSkills(skills: unknown, options: unknown): ReadTools {
  const reading = new Reading("skill", options);
  const list = listed(skills, "");
  if (!list) throw refused("expected a list of skills", "", "files as { path, text }");
  if (list.length > MAX_ITEMS) throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_ITEMS} skills`);
  for (const [index, given] of list.entries()) {
    const place = { index, path: `/${index}` };
    reading.each(place, () => readSkill(given, place, reading));
  }
  return reading.done;
}

function readSkill(given: unknown, place: { readonly index: number; readonly path: string }, reading: Reading): void {
  const at = place.path;
  const { path: file, text: content } = fields(given, at) as Partial<Record<keyof SkillFile, unknown>>;
  if (typeof file !== "string" || !isWellFormed(file)) throw refused("expected the path of the file", `${at}/path`);
  const front = frontOf(text(content, `${at}/text`), `${at}/text`);
  const name = stringOf(front.fields.get("name"));
  const description = stringOf(front.fields.get("description"));
  if (name === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "missing field `name`", {
      path: `${at}/text`,
      hint: "name: in front of the skill",
    });
  if (description === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "missing field `description`", {
      path: `${at}/text`,
      hint: "description: in front of the skill",
    });
  const id = reading.idOf(name);
  const warn = (code: string, message: string): void => reading.note({ code, path: `${at}/text`, message }, id);
  if (name.length > MAX_NAME || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
    warn("skill-name", `a name has at most ${MAX_NAME} letters from a to z, digits and single hyphens`);
  const folder = folderOf(file);
  if (folder && folder !== name) warn("skill-folder", "the folder has another name than the skill");
  if (description.length > MAX_DESCRIPTION)
    warn("skill-description", `a description has at most ${MAX_DESCRIPTION} characters`);
  if (!id.endsWith(name)) warn("skill-duplicate", "another skill has this name; a number makes the id unique");
  for (const [code, message] of front.problems) warn(code, message);
  const unknown = [...front.fields.keys()].filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) {
    const names = unknown
      .slice(0, 8)
      .map((key) => `\`${key.slice(0, 40)}\``)
      .join(", ");
    reading.note(
      { code: "skill-field", severity: "info", path: `${at}/text`, message: `the format knows no ${names}` },
      id,
    );
  }
  const [license, compatibility] = ["license", "compatibility"].map((key) => stringOf(front.fields.get(key)));
  const tools = toolsOf(front.fields.get("allowed-tools"));
  const metadata = front.fields.get("metadata");
  const skill: JsonObject = {
    path: file,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(tools.length > 0 && { allowed_tools: tools }),
    ...(metadata instanceof Map && { metadata: Object.fromEntries(metadata) }),
  };
  reading.add({ id, kind: "skill", name, description, metadata: { skill } }, place);
}

/** The name of the folder that a `SKILL.md` is in. */
function folderOf(file: string): string | undefined {
  const parts = file.split(/[/\\]+/);
  return parts.at(-1)?.toLowerCase() === "skill.md" ? parts.at(-2) : undefined;
}

/** The tools that a skill may use: a list, or a text with commas or white space between them, but for those in parentheses. */
function toolsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => stringOf(one) !== undefined);
  return stringOf(value)?.match(/(?:\([^)]*\)?|[^\s,(])+/g) ?? [];
}

/** The texts that stand in front of a skill, by name; none where that cannot be read with certainty. @internal */
export function frontTexts(content: string): ReadonlyMap<string, string> {
  try {
    const { fields: found, problems } = frontOf(content, "");
    return new Map(
      problems.length > 0
        ? []
        : [...found].flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])),
    );
  } catch {
    return new Map();
  }
}

/** A text, or a list of texts. */
type Value = string | string[];

/** What stands in front of a skill. */
interface Front {
  readonly fields: ReadonlyMap<string, Value | ReadonlyMap<string, Value>>;
  readonly problems: readonly (readonly [code: string, message: string])[];
}

/**
 * Reads the part between two lines of `---`: the YAML that skills are written in, which is fields with a text each, in one line or in
 * several, or a list of texts, and fields of such fields. Of other YAML, such as anchors, a line says so.
 */
function frontOf(content: string, path: string): Front {
  const start = /^\ufeff?---[ \t]*\r?\n/.exec(content)?.[0].length;
  if (start === undefined) throw refused("expected `---` in the first line, and `name` and `description` below", path);
  const [whole] = content.slice(start, start + MAX_FRONT).split(/^(?:---|\.\.\.)[ \t]*$/m, 1) as [string];
  if (whole.length === Math.min(MAX_FRONT, content.length - start))
    throw refused("what stands in front does not end", path, `a line of \`---\` within ${MAX_FRONT} characters`);
  return new FrontReader(whole.split(/\r?\n/)).read();
}

const FIELD = /^([A-Za-z0-9_][A-Za-z0-9_.-]*)[ \t]*:(?:[ \t]+([^]*))?$/;
const ENTRY = /^-(?:[ \t]+([^]*))?$/;

class FrontReader {
  readonly #lines: readonly string[];
  readonly #problems = new Map<string, string>();
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): Front {
    const fields = new Map<string, Value | ReadonlyMap<string, Value>>();
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      const [, key, rest = ""] = FIELD.exec(line) ?? [];
      this.#at += 1;
      if (isEmpty(line)) continue;
      if (key === undefined) {
        this.#problem("skill-line", "a line that is no field is ignored");
        continue;
      }
      if (fields.has(key)) this.#problem("skill-field-twice", "of a field that stands there twice the last counts");
      fields.set(key, isEmpty(rest) && this.#isMapNext() ? this.#map() : this.#field(rest, 0));
    }
    return { fields, problems: [...this.#problems] };
  }

  #problem(code: string, message: string): void {
    this.#problems.set(code, message);
  }

  /** The next line that says something, near by. */
  get #next(): string | undefined {
    return this.#lines.slice(this.#at, this.#at + 64).find((line) => !isEmpty(line));
  }

  #isMapNext(): boolean {
    const next = this.#next ?? "";
    return indentOf(next) > 0 && FIELD.test(next.trim());
  }

  #field(rest: string, indent: number): Value {
    const next = (isEmpty(rest) && this.#next) || "";
    return indentOf(next) >= indent && ENTRY.test(next.trim()) ? this.#list(indentOf(next)) : this.#value(rest, indent);
  }

  #list(level: number): string[] {
    const list: string[] = [];
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      const [entry, rest = ""] = ENTRY.exec(line.trim()) ?? [];
      if (!isEmpty(line) && (entry === undefined || indentOf(line) !== level)) break;
      this.#at += 1;
      if (isEmpty(line)) continue;
      if (FIELD.test(rest) || ENTRY.test(rest)) this.#yaml();
      list.push(this.#value(rest, level));
    }
    return list;
  }

  #yaml(): void {
    this.#problem("skill-yaml", "of YAML only texts are read; a field is taken as it stands there");
  }

  /** Fields of a field, one level. */
  #map(): ReadonlyMap<string, Value> {
    const map = new Map<string, Value>();
    let level: number | undefined;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      const indent = indentOf(line);
      if (!isEmpty(line) && indent === 0) break;
      this.#at += 1;
      if (isEmpty(line)) continue;
      const [, key, rest = ""] = FIELD.exec(line.trim()) ?? [];
      level ??= indent;
      if (key === undefined || indent !== level) this.#problem("skill-line", "a line that is no field is ignored");
      else map.set(key, this.#field(rest, indent));
    }
    return map;
  }

  /** A text, which may go on in lines that stand further in. */
  #value(rest: string, indent: number): string {
    const block = /^([|>])([+-]?)[1-9]?([+-]?)[ \t]*(#[^]*)?$/.exec(rest);
    if (block) return this.#block(block[1] === ">", (block[2] || block[3]) === "+", indent);
    const quote = rest[0] === '"' || rest[0] === "'" ? rest[0] : undefined;
    const parts = [rest];
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      if (quote !== undefined && unquoted(parts.join("\n")) !== undefined) break;
      if (quote === undefined && !isEmpty(line) && indentOf(line) <= indent) break;
      if (quote === undefined && isEmpty(line) && !this.#goesOn(indent)) break;
      parts.push(line.trim());
      this.#at += 1;
      // Joining again for each line is for texts of few lines.
      if (quote !== undefined && parts.length > 256) break;
    }
    if (quote === undefined) return this.#plain(parts, rest);
    const read = unquoted(parts.join("\n"));
    if (read === undefined) this.#problem("skill-quote", "a text in quotes does not end");
    return read ?? parts.join(" ").slice(1);
  }

  #goesOn(indent: number): boolean {
    const next = this.#next;
    return next !== undefined && indentOf(next) > indent;
  }

  #plain(parts: readonly string[], rest: string): string {
    if (/^[&*!@`%[{]/.test(rest)) this.#yaml();
    const lines = parts.filter((part) => !part.startsWith("#"));
    return unfolded(
      lines
        .map((part) => part.replace(/[ \t]#[^]*$/, "").trim())
        .join("\n")
        .trim(),
    );
  }

  #block(isFolded: boolean, keepsEnd: boolean, indent: number): string {
    const lines: string[] = [];
    let level: number | undefined;
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      if (line.trim() !== "" && indentOf(line) <= indent) break;
      if (line.trim() !== "") level ??= indentOf(line);
      lines.push(line.slice(level ?? line.length));
      this.#at += 1;
    }
    const whole = isFolded ? folded(lines) : lines.join("\n");
    return keepsEnd ? whole : whole.trimEnd();
  }
}

/** Joins the lines of a paragraph; an empty line ends it, and lines further in stay lines. */
function folded(lines: readonly string[]): string {
  let whole = "";
  let empty = 0;
  let before: string | undefined;
  for (const line of lines) {
    if (line === "") {
      empty += 1;
      continue;
    }
    const isFurtherIn = before !== undefined && [line, before].some((one) => /^[ \t]/.test(one));
    const breaks = before === undefined ? empty : empty + (isFurtherIn ? 1 : 0);
    whole += `${breaks > 0 ? "\n".repeat(breaks) : before === undefined ? "" : " "}${line}`;
    [empty, before] = [0, line];
  }
  return whole + "\n".repeat(empty);
}

/** Reads the lines of a text that is no block: the end of a line is a space, and an empty line ends the line before it. */
function unfolded(lines: string): string {
  return lines.replace(/\n+/g, breaks);
}

const breaks = (ends: string): string => (ends.length === 1 ? " " : ends.slice(1));

/** What stands in quotes, undefined when they do not end. */
function unquoted(given: string): string | undefined {
  if (given.startsWith("'")) {
    const read = /^'((?:[^']|'')*)'[ \t]*(#[^]*)?$/.exec(given)?.[1];
    return read === undefined ? undefined : unfolded(read).replaceAll("''", "'");
  }
  const read = /^"((?:[^"\\]|\\[^])*)"[ \t]*(#[^]*)?$/.exec(given)?.[1];
  return read?.replace(
    /\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))|\n+/g,
    (all: string, eight?: string, four?: string, two?: string, one?: string) => {
      if (one !== undefined) return ESCAPES[one] ?? one;
      const code = eight ?? four ?? two;
      if (code === undefined) return breaks(all);
      const point = Number.parseInt(code, 16);
      return point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
    },
  );
}

/** What a character behind a backslash means; the end of a line goes on in the next. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "0": "\0",
  a: "\x07",
  b: "\b",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  L: "\u2028",
  N: "\x85",
  P: "\u2029",
  _: "\xa0",
};

function isEmpty(line: string): boolean {
  return /^[ \t]*(#[^]*)?$/.test(line);
}

function indentOf(line: string): number {
  return (/^ */.exec(line) as RegExpExecArray)[0].length;
}
