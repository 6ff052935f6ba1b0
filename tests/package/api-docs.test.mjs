// docs/api.md lists every export of every entry, with its signature, the first sentence of its comment and the errors that the comment
// names; docs/options.md the fields of every record of options. CONTEXTWEAVER_UPDATE=1 writes both.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { manifest, packageDir, root, run } from "./harness.mjs";
import { entriesOf, exportsOf, sentence } from "./public-api.mjs";

const PARTS = ["context", "convert", "routing", "decisions"].map((name) => `contextweaver/${name}`);

const CODES = JSON.parse((await run("node", ["-p", "JSON.stringify(require('contextweaver').ERROR_CODES)"], { cwd: packageDir })).stdout);
const entries = new Map();
for (const [entry, file] of entriesOf(manifest, packageDir)) entries.set(entry, await exportsOf(file));

test("the declarations are read whole: they have the names that the modules have", async () => {
  for (const [entry, found] of entries) {
    const script = `import(${JSON.stringify(entry)}).then((module) => console.log(JSON.stringify(Object.keys(module).sort())))`;
    const { stdout } = await run("node", ["-e", script], { cwd: packageDir });
    const values = [...found].filter(([, { kind }]) => kind !== "type").map(([name]) => name);
    assert.deepEqual(values.sort(), JSON.parse(stdout), entry);
  }
});

test("every export has a comment, and every method of a class", () => {
  const without = new Set();
  for (const found of entries.values()) {
    for (const [name, { comment, methods }] of found) {
      if (!comment) without.add(name);
      for (const [method, said] of methods) if (!said) without.add(`${name}.${method}`);
    }
  }
  assert.deepEqual([...without].sort(), []);
});

for (const [name, made] of [
  ["api", document],
  ["options", optionsDocument],
]) {
  test(`docs/${name}.md is current`, async () => {
    const path = join(root, "docs", `${name}.md`);
    const written = made();
    if (process.env.CONTEXTWEAVER_UPDATE === "1") await writeFile(path, written);
    assert.equal(await readFile(path, "utf8"), written, "CONTEXTWEAVER_UPDATE=1 writes it");
  });
}

test("every option says what it is", () => {
  const silent = [...optionRecords()].flatMap(([name, { fields }]) =>
    [...fields].filter(([, { comment }]) => comment === "").map(([field]) => `${name}.${field}`),
  );
  assert.deepEqual(silent, []);
});

/** Records of options by name, each once: a field of one is what a caller may set. */
function optionRecords() {
  const all = [...entries.values()].flatMap((found) =>
    [...found].filter(([name, { kind, fields }]) => kind === "type" && /(?:Options|Limits|Policy)$/.test(name) && fields.size > 0),
  );
  return new Map(all.sort(byName));
}

function optionsDocument() {
  const head =
    "# Reference: every option\n\nMade by a test of the declarations (`tests/package/api-docs.test.mjs`); do not edit. Each record of options with its fields: the type, what it does, its default where there is one, and the [errors](errors.md) that it names.\n";
  const sections = [...optionRecords()].map(([name, { comment, fields }]) => {
    const rows = [...fields].map(
      ([field, { type, comment: said }]) =>
        `| \`${field}\` | ${code(type)} | ${escaped(said.replace(/ ?@\w+.*$/, "").replaceAll(/\{@link (?:\w+\.)?(\w+)\}/g, "`$1`"))} |`,
    );
    return [`## ${name}\n`, `${cell(comment)}\n`, "| | | |\n|---|---|---|", ...rows, ""].join("\n");
  });
  return [head, ...sections].join("\n");
}

/** Types of more characters are cut: an editor shows them whole. */
const LONGEST_TYPE = 160;
const code = (text) => `\`${(text.length > LONGEST_TYPE ? `${text.slice(0, LONGEST_TYPE)}…` : text).replaceAll("|", "\\|").replaceAll("`", "'")}\``;
const signed = (signature) => (signature ? `${code(signature)} ` : "");

/** The list, by the narrowest entry that has a name. */
function document() {
  const all = entries.get("contextweaver");
  const common = [...all].filter(([name]) => PARTS.every((part) => entries.get(part).has(name)));
  const isCommon = new Set(common.map(([name]) => name));
  const sections = [
    section("In each of these entries", "`contextweaver`, `/context`, `/convert`, `/routing`, `/decisions`, `/slim`", common),
    ...PARTS.map((part) =>
      section(
        part,
        "Also of `contextweaver` and `contextweaver/slim`.",
        [...entries.get(part)].filter(([name]) => !isCommon.has(name)),
      ),
    ),
    ...[...entries]
      .filter(([entry]) => entry !== "contextweaver" && !PARTS.includes(entry))
      .map(([entry, found]) =>
        section(
          entry,
          entry.endsWith("/slim") ? "Besides everything of `contextweaver`." : "",
          [...found].filter(([name]) => !(entry.endsWith("/slim") && all.has(name))),
        ),
      ),
  ];
  const head =
    "# Reference: every export\n\nMade by a test of the declarations (`tests/package/api-docs.test.mjs`); do not edit. Of each its signature, the first sentence and the [errors](errors.md) that its comment names; your editor shows the rest. Options by record: [options.md](options.md).\n";
  return [head, ...sections].join("\n");
}

function section(title, about, found) {
  const values = found.filter(([, { kind }]) => kind !== "type").sort(byName);
  const types = found.filter(([, { kind }]) => kind === "type").sort(byName);
  const rows = values.flatMap(([name, { kind, comment, methods, signatures }]) => [
    `| \`${name}\` | ${kind} | ${signed(signatures.get(name))}${cell(comment)}${failures(comment)} |`,
    ...[...methods].map(
      ([method, said]) =>
        `| \`${name}${method.startsWith("static ") ? `.${method.slice(7)}` : `#${method}`}\` | ${method.startsWith("static ") ? "static" : "method"} | ${signed(signatures.get(method))}${cell(said)}${failures(said)} |`,
    ),
  ]);
  const more = types.map(([name, { kind, comment }]) => `| \`${name}\` | ${kind} | ${cell(comment)} |`);
  return [`## ${title}\n`, ...(about ? [`${about}\n`] : []), "| | | |\n|---|---|---|", ...rows, ...more, ""].join("\n");
}

const byName = ([one], [other]) => (one < other ? -1 : 1);
/** Outside of code, `<` would begin HTML. */
const escaped = (text) => text.replaceAll("|", "\\|").replaceAll(/(`[^`]*`)|</g, (_, code) => code ?? "&lt;");
const cell = (comment) => escaped(sentence(comment));
/** The codes that a comment names beyond its first sentence, with their places. */
function failures(comment) {
  const named = [...new Set(comment.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g))].filter((code) => CODES.includes(code) && !sentence(comment).includes(code));
  return named.length === 0 ? "" : ` Errors: ${named.map((code) => `[\`${code}\`](errors.md#${code.toLowerCase()})`).join(", ")}.`;
}
