// docs/api.md lists every export of every entry with the first sentence of its comment; CONTEXTWEAVER_UPDATE=1 writes it.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { manifest, packageDir, root, run } from "./harness.mjs";
import { entriesOf, exportsOf, sentence } from "./public-api.mjs";

const PARTS = ["context", "convert", "routing", "decisions"].map((name) => `contextweaver/${name}`);

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

test("docs/api.md is current", async () => {
  const path = join(root, "docs", "api.md");
  const written = document();
  if (process.env.CONTEXTWEAVER_UPDATE === "1") await writeFile(path, written);
  assert.equal(await readFile(path, "utf8"), written, "CONTEXTWEAVER_UPDATE=1 writes it");
});

/** The list, by the narrowest entry that has a name. */
function document() {
  const all = entries.get("contextweaver");
  const common = [...all].filter(([name]) => PARTS.every((part) => entries.get(part).has(name)));
  const isCommon = new Set(common.map(([name]) => name));
  const sections = [
    section("In each of these entries", "`contextweaver`, `/context`, `/convert`, `/routing`, `/decisions`, `/slim`", common),
    ...PARTS.map((part) => section(part, "Also of `contextweaver` and `contextweaver/slim`.", [...entries.get(part)].filter(([name]) => !isCommon.has(name)))),
    ...[...entries]
      .filter(([entry]) => entry !== "contextweaver" && !PARTS.includes(entry))
      .map(([entry, found]) => section(entry, entry.endsWith("/slim") ? "Besides everything of `contextweaver`." : "", [...found].filter(([name]) => !(entry.endsWith("/slim") && all.has(name))))),
  ];
  const head = "# Reference: every export\n\nMade by a test of the declarations (`tests/package/api-docs.test.mjs`); do not edit. The first sentence of each; your editor shows the rest.\n";
  return [head, ...sections].join("\n");
}

function section(title, about, found) {
  const values = found.filter(([, { kind }]) => kind !== "type").sort(byName);
  const types = found.filter(([, { kind }]) => kind === "type").sort(byName);
  const rows = values.flatMap(([name, { kind, comment, methods }]) => [
    `| \`${name}\` | ${kind} | ${cell(comment)} |`,
    ...[...methods].map(([method, said]) => `| \`${name}${method.startsWith("static ") ? `.${method.slice(7)}` : `#${method}`}\` | ${method.startsWith("static ") ? "static" : "method"} | ${cell(said)} |`),
  ]);
  const more = types.map(([name, { kind, comment }]) => `| \`${name}\` | ${kind} | ${cell(comment)} |`);
  return [`## ${title}\n`, ...(about ? [`${about}\n`] : []), "| | | |\n|---|---|---|", ...rows, ...more, ""].join("\n");
}

const byName = ([one], [other]) => (one < other ? -1 : 1);
/** Outside of code, `<` would begin HTML. */
const cell = (comment) => sentence(comment).replaceAll("|", "\\|").replaceAll(/(`[^`]*`)|</g, (_, code) => code ?? "&lt;");
