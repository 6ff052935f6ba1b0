// Skills (SEP-2640) on their way through the gateway: a file that is not what its skill's entry says reaches no client, whether the
// client looks or not. Nothing is read ahead: what entries say is noted when a client lists them.
import { readBase64 } from "../boundary/base64.js";
import { frontTexts } from "../catalog/skill-files.js";
import { sha256 } from "../storage/checks.js";
import type { Fields } from "./server-sdk.js";

/** Files of skills that are known by their entries; the oldest leave for new ones. */
const MAX_FILES = 20_000;

/** What an entry says of a file. */
interface SkillEntry {
  readonly digest?: string;
  readonly size?: number;
  /** Of a `SKILL.md`: what must stand in front of it. */
  readonly frontmatter?: Fields;
}

/** What the entries of skills say of their files, by server. */
export class SkillGuard {
  readonly #files = new Map<string, SkillEntry>();

  /** Notes what a result of `skills/list` or `skills/get` says of files. */
  note(server: string, { skills, skill }: Fields): void {
    for (const entry of [...(Array.isArray(skills) ? (skills as readonly unknown[]) : []), skill]) {
      const { resources, uri, frontmatter } = (typeof entry === "object" && entry !== null ? entry : {}) as Fields;
      for (const file of Array.isArray(resources) ? (resources as readonly unknown[]) : [])
        this.#file(server, file, { uri, frontmatter });
    }
  }

  #file(server: string, file: unknown, skill: Fields): void {
    const { uri, digest, size } = (typeof file === "object" && file !== null ? file : {}) as Fields;
    if (typeof uri !== "string") return;
    const key = keyOf(server, uri);
    this.#files.delete(key);
    this.#files.set(key, {
      ...(typeof digest === "string" && { digest }),
      ...(typeof size === "number" && { size }),
      ...(skill["uri"] === uri && { frontmatter: (skill["frontmatter"] ?? {}) as Fields }),
    });
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MAX_FILES) break;
      this.#files.delete(oldest);
    }
  }

  /** Whether an entry says what a file is. */
  isDescribed(server: string, uri: string): boolean {
    return this.#files.has(keyOf(server, uri));
  }

  /** What is wrong with the contents of a file of a skill; nothing where they are what the entry says, or where no entry is known. */
  async problem(server: string, uri: string, { contents }: Fields): Promise<string | undefined> {
    const entry = this.#files.get(keyOf(server, uri));
    if (!entry || !Array.isArray(contents)) return undefined;
    const [content] = contents as readonly Fields[];
    const bytes = bytesOf(content);
    if (!bytes) return "has no contents";
    if (entry.size !== undefined && entry.size !== bytes.length)
      return `has ${bytes.length} bytes in place of ${entry.size}`;
    const other = entry.frontmatter && otherThan(entry.frontmatter, new TextDecoder().decode(bytes));
    if (other !== undefined) return `has another \`${other}\` in front`;
    const [, wanted] = /^sha256:([0-9a-f]{64})$/i.exec(entry.digest ?? "") ?? [];
    if (wanted === undefined) return undefined;
    const found = await sha256(bytes);
    return found === wanted.toLowerCase() ? undefined : "has another digest";
  }
}

/**
 * The first text of an entry that differs from the one in front of its file. White space is not compared, because YAML readers keep
 * different parts of it; nor are dates, because some readers rewrite them.
 */
function otherThan(frontmatter: Fields, content: string): string | undefined {
  const found = frontTexts(content);
  return Object.keys(frontmatter).find((name) => {
    const [said, stands] = [frontmatter[name], found.get(name)];
    if (typeof said !== "string" || stands === undefined || DATE.test(stands)) return false;
    return said.replace(/\s+/g, "") !== stands.replace(/\s+/g, "");
  });
}

const DATE = /^\d{4}-\d\d?-\d\d?(?:[Tt\s][\d:.+\sZ-]*)?$/;

function keyOf(server: string, uri: string): string {
  return JSON.stringify([server, uri]);
}

function bytesOf(content: Fields | undefined): Uint8Array | undefined {
  const { text, blob } = content ?? {};
  if (typeof text === "string") return new TextEncoder().encode(text);
  return typeof blob === "string" ? readBase64(blob) : undefined;
}
