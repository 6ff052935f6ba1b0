// Variables in a configuration: `${VAR}`, `${VAR:-default}` and `${env:VAR}` stand for values of the environment.
import { ContextWeaverError } from "../boundary/errors.js";
import { nearest } from "../boundary/nearest.js";

/** Values by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Most characters of a text with its variables expanded. */
const MAX_EXPANDED = 128 * 1024;
/** Defaults within defaults. */
const MAX_LEVELS = 16;
const BEGIN = "${";
/** The name, and what stands for a variable that is not set or empty. */
const VARIABLE = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;
/** What VS Code would ask the user for, or find out. */
const OF_EDITOR =
  /^(?:(?:input|command|config):|(?:workspaceFolder(?:Basename)?|file(?:Basename(?:NoExtension)?|Dirname(?:Basename)?|Extname|WorkspaceFolder)?|relativeFile(?:Dirname)?|cwd|lineNumber|selectedText|execPath|pathSeparator|\/)(?::|$))/;

/** Expands variables, and keeps which they were. @internal */
export class Expansion {
  readonly #environment: Environment;
  readonly #names = new Set<string>();
  readonly #values = new Map<string, string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Names of the variables that were expanded, in their order. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Their values, which must not be shown, and how each was written. */
  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /**
   * Expands a text, defaults with variables in them, too. What is in braces and no name, such as `${#list[@]}` of a shell, stays as it
   * is. Errors name the variable and nothing else of the text or the environment's values: `NOT_FOUND` when it is not set, `UNSUPPORTED`
   * when only an editor knows it, `TOO_LARGE` above 128 Ki characters, `TOO_DEEP` above 16 defaults within each other.
   */
  text(written: string, path: string): string {
    return this.#expanded(written, path, 0);
  }

  #expanded(written: string, path: string, level: number): string {
    if (level > MAX_LEVELS)
      throw new ContextWeaverError("TOO_DEEP", `more than ${MAX_LEVELS} defaults of variables within each other`, {
        path,
      });
    const ends = endsOf(written);
    let [expanded, done, left] = ["", 0, MAX_EXPANDED];
    for (let at = written.indexOf(BEGIN); at >= 0; at = written.indexOf(BEGIN, Math.max(done, at + BEGIN.length))) {
      const end = ends.get(at);
      const chosen = end === undefined ? undefined : this.#chosen(written.slice(at + BEGIN.length, end), path, level);
      if (end === undefined || chosen === undefined) continue;
      left -= chosen.length;
      if (left < 0)
        throw new ContextWeaverError(
          "TOO_LARGE",
          `with its variables, a text is longer than ${MAX_EXPANDED} characters`,
          { path },
        );
      expanded += written.slice(done, at) + chosen;
      done = end + 1;
    }
    return expanded + written.slice(done);
  }

  /** What stands for a variable; undefined where it is none. */
  #chosen(inner: string, path: string, level: number): string | undefined {
    const [, name, otherwise] = VARIABLE.exec(inner) ?? [];
    if (otherwise === undefined && OF_EDITOR.test(inner)) throw ofEditor(inner, path);
    if (name === undefined) return undefined;
    const value = this.#value(name);
    this.#names.add(name);
    if (value === undefined && otherwise === undefined) throw this.#missing(name, path);
    const chosen = otherwise !== undefined && !value ? this.#expanded(otherwise, path, level + 1) : (value ?? "");
    if (chosen !== "") this.#values.set(chosen, `\${${name}}`);
    return chosen;
  }

  #value(name: string): string | undefined {
    // The home folder as VS Code names it.
    const names = name === "userHome" ? ["HOME", "USERPROFILE"] : [name];
    for (const one of names) {
      const value: unknown = Object.hasOwn(this.#environment, one) ? this.#environment[one] : undefined;
      if (typeof value === "string") return value;
    }
    return undefined;
  }

  #missing(name: string, path: string): ContextWeaverError {
    const set = Object.keys(this.#environment).filter((other) => typeof this.#environment[other] === "string");
    const meant = nearest(name, set.slice(0, 2_000));
    const other = `set it, or write \${${name}:-default}`;
    const hint = meant === undefined ? other : `did you mean \`${meant}\`? Otherwise ${other}`;
    return new ContextWeaverError("NOT_FOUND", `the environment variable \`${name.slice(0, 80)}\` is not set`, {
      path,
      hint,
    });
  }
}

/** Where each variable begins, and the brace that closes it; braces within one go in pairs. */
function endsOf(written: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: mark, index } of written.matchAll(/\$?\{|\}/g)) {
    if (mark !== "}") open.push(index);
    else {
      const start = open.pop();
      if (start !== undefined) ends.set(start, index);
    }
  }
  return ends;
}

function ofEditor(inner: string, path: string): ContextWeaverError {
  const [kind = ""] = inner.split(":");
  const isInput = inner.startsWith("input:");
  const hint = isInput
    ? "there is nobody to ask here: take an environment variable, such as ${MY_KEY}"
    : "write the path or value, or take an environment variable, such as ${HOME}";
  const what = isInput ? "an input that VS Code asks for" : `\`\${${kind.slice(0, 40)}}\`, which only an editor knows`;
  return new ContextWeaverError("UNSUPPORTED", `the text needs ${what}`, { path, hint });
}
