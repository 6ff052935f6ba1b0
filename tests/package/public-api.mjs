// What the package exports and what is said of it, read off its declarations as the compiler writes them: one statement after
// another at the beginning of a line, each with its comment above.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Kinds of exports by the words of a declaration. */
const KINDS = { class: "class", function: "function", const: "constant", interface: "type", type: "type" };
const STATEMENT = /^export (?:declare )?(?:abstract )?(class|function|const|interface|type) (\w+)/;
const NAMED = /^export (?:type )?\{([^}]*)\}(?: from "(\.[^"]+)")?;/;
const ALL = /^export (?:type )?\* from "(\.[^"]+)";/;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";/;
const METHOD = /^ {4}(static )?(?:get )?(\w+)[(<:]/;
const FIELD = /^ {4}(?:readonly )?(\w+)\??: /;

/** The exports of a declaration file by name: what each is, its comment and signature, of a class its methods, of an interface its fields. */
export async function exportsOf(file) {
  const lines = (await readFile(file, "utf8")).split("\n");
  const declared = declarations(lines);
  const found = new Map([...declared].filter(([, { isExported }]) => isExported));
  const from = (path) => join(dirname(file), path.replace(/\.js$/, ".d.ts"));
  const take = async (path, names, isType) => {
    const all = await exportsOf(from(path));
    for (const [name, as] of names ?? [...all.keys()].map((name) => [name, name])) found.set(as, isType ? { ...all.get(name), kind: "type" } : all.get(name));
  };
  const imported = new Map();
  for (const line of lines) {
    const [, list, path] = IMPORTED.exec(line) ?? [];
    for (const [name, as] of pairs(list)) imported.set(as, [path, name]);
  }
  for (const line of lines) {
    const [, all] = ALL.exec(line) ?? [];
    const [, list, path] = NAMED.exec(line) ?? [];
    const isType = line.startsWith("export type");
    if (all) await take(all, undefined, isType);
    else if (path) await take(path, pairs(list), isType);
    else
      for (const [name, as] of pairs(list))
        await (declared.has(name) ? found.set(as, declared.get(name)) : take(imported.get(name)[0], [[imported.get(name)[1], as]]));
  }
  return found;
}

/** The names of a list in braces, as what is meant and as what it is called. */
function pairs(list) {
  return (list ?? "")
    .split(",")
    .map((one) => one.trim().replace(/^type /, ""))
    .filter(Boolean)
    .map((one) => one.split(" as "))
    .map(([name, as = name]) => [name, as]);
}

function declarations(lines) {
  const found = new Map();
  let comment = "";
  let owner;
  for (const [at, line] of lines.entries()) {
    if (/^ *\/\*\*/.test(line)) comment = commentAt(lines, at);
    if (/^ *(\/\*\*| \*)/.test(line)) continue;
    const [, word, name] = STATEMENT.exec(line.replace(/^(?=declare |interface |type )/, "export ")) ?? [];
    const [, isStatic, method] = METHOD.exec(line) ?? [];
    if (name) {
      const before = found.get(name);
      // A class may be completed by an interface, and a function may have several signatures.
      const kind = before?.kind === "class" ? "class" : KINDS[word];
      owner = {
        kind,
        comment: (word === "class" ? comment || before?.comment : before?.comment || comment) ?? "",
        methods: before?.methods ?? new Map(),
        signatures: before?.signatures ?? new Map(),
        fields: before?.fields ?? new Map(),
        isExported: line.startsWith("export"),
      };
      if (word === "function" && !before) owner.signatures.set(name, signatureAt(lines, at, name));
      found.set(name, owner);
    } else if (method && method !== "constructor" && owner?.kind === "class") {
      const title = `${isStatic ?? ""}${method}`;
      if (!owner.methods.get(title)) owner.methods.set(title, comment);
      if (!owner.signatures.has(title)) owner.signatures.set(title, signatureAt(lines, at, method));
    } else if (owner?.kind === "type" && FIELD.test(line)) {
      const [, field] = FIELD.exec(line);
      owner.fields.set(field, { comment, type: signatureAt(lines, at, field).replace(/^\??: /, "") });
    }
    comment = "";
  }
  return found;
}

/** What stands behind a name, in one line, up to the end of its declaration. */
function signatureAt(lines, at, name) {
  let text = "";
  for (let to = at; to < Math.min(lines.length, at + 60); to += 1) {
    text += ` ${lines[to].replace(/^ *(?:\/\*\*|\*).*$/, "").trim()}`;
    const opened = (text.match(/[({[]/g) ?? []).length - (text.match(/[)}\]]/g) ?? []).length;
    if (opened <= 0 && /;\s*$/.test(text)) break;
  }
  return text
    .slice(text.indexOf(name) + name.length)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/, (?=[)}\]])/g, " ") // what a broken line leaves
    .trim()
    .replace(/;$/, "");
}

/** The text of a comment. */
function commentAt(lines, start) {
  const end = lines.findIndex((line, at) => at >= start && line.includes("*/"));
  return lines
    .slice(start, end + 1)
    .map((line) =>
      line
        .replace(/^ *(\/\*\*|\*\/|\*)/, "")
        .replace(/\*\/\s*$/, "")
        .trim(),
    )
    .join(" ")
    .trim();
}

/** The declarations of each entry of a package. */
export function entriesOf(manifest, folder) {
  const entries = Object.entries(manifest.exports).flatMap(([entry, { types }]) => (types ? [[`contextweaver${entry.slice(1)}`, join(folder, types)]] : []));
  return new Map(entries.filter(([, file]) => existsSync(file)));
}

/** The first sentence of a comment. */
export function sentence(comment) {
  const text = comment.replaceAll(/\{@link (?:\w+\.)?(\w+)\}/g, "`$1`");
  const [first] = /^.*?\.(?=\s|$)/.exec(text.replace(/ @\w+.*$/, "")) ?? [text];
  return first.trim();
}
