// What a registry shows of the package: where it comes from, and links that lead somewhere.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { filled, missing, readSettings, withAbsoluteLinks } from "../../pkg-template/build/release-settings.mjs";
import { bill, crates, licensed, provenance, unlicensed } from "../../pkg-template/build/statements.mjs";
import { manifest, project, root } from "./harness.mjs";

const installed = join(await project("release"), "node_modules", "contextweaver");
const read = (name) => readFile(join(root, name), "utf8");

const said = readSettings();

const GIVEN = `# where it lives
repository = "https://git.example/us/it.git/"   # the address
bugs = "https://git.example/us/it/issues"
license = "Apache-2.0"`;

test("what is said is in the manifest, and what is not is missing", () => {
  const given = readSettings(GIVEN);
  assert.deepEqual(filled({ name: "x", version: "0" }, given, "1.2.3"), {
    name: "x",
    version: "1.2.3",
    repository: { type: "git", url: "git+https://git.example/us/it.git" },
    bugs: { url: "https://git.example/us/it/issues" },
    license: "Apache-2.0",
  });
  assert.deepEqual(missing(given), ["homepage", "author"]);
});

test("what is wrong in release.toml is said", () => {
  const wrong = { 'licence = "x"': /unknown field licence/, 'bugs = "git@x"': /no address of https/, "=": /release.toml: not a field/ };
  for (const [text, message] of Object.entries(wrong)) assert.throws(() => readSettings(text), message);
});

test("links of the packed README lead to the repository", () => {
  const readme = "[a](docs/a.md#b) ![p](docs/p.svg) [w](https://x.example/) [here](#here)";
  const there = "[a](https://git.example/us/it/blob/v1.2.3/docs/a.md#b) ![p](https://git.example/us/it/raw/v1.2.3/docs/p.svg)";
  assert.equal(withAbsoluteLinks(readme, readSettings(GIVEN), "1.2.3"), `${there} [w](https://x.example/) [here](#here)`);
  assert.equal(withAbsoluteLinks(readme, readSettings(""), "1.2.3"), readme);
});

test("the bill of materials names what is compiled in, with its licence, and nothing else", () => {
  const names = crates().map(({ name }) => name);
  for (const name of ["contextweaver", "contextweaver-context", "serde_json", "wasm-bindgen"]) assert.ok(names.includes(name), name);
  for (const name of ["proptest", "xtask", "ts-rs", "serde_derive", "contextweaver-record-derive"]) assert.ok(!names.includes(name), name);
  const { components } = bill(installed, manifest.version);
  assert.deepEqual(unlicensed(components), []);
  for (const name of ["@modelcontextprotocol/server", "fflate", "preact"])
    assert.ok(
      components.some((one) => one.name === name),
      name,
    );
  const headings = "@a/b 1.2.3 (MIT)\n\nMIT License\nCopyright (c) 2024\nVersion 2.0 (the)\n";
  assert.deepEqual(
    licensed(headings).map(({ purl }) => purl),
    ["pkg:npm/%40a/b@1.2.3"],
  );
});

test("the statement of provenance names the tarball and what it was made of", () => {
  const { subject, predicate } = provenance(join(root, "LICENSE"), "1.2.3", said);
  assert.equal(subject[0].name, "pkg:npm/contextweaver@1.2.3");
  assert.equal(subject[0].digest.sha512.length, 128);
  assert.equal(predicate.buildDefinition.resolvedDependencies.length, 4);
});

test("package.json says what release.toml says, and nothing where that is empty", () => {
  const { repository, homepage, bugs, author, license } = manifest;
  const shown = { repository: repository?.url.replace(/^git\+|\.git$/g, ""), homepage, bugs: bugs?.url, author, license };
  assert.deepEqual(Object.keys(said), Object.keys(shown));
  for (const [name, value] of Object.entries(said)) assert.equal(shown[name] ?? "", value, name);
});

test("package and crates have one licence, whose text is there", async () => {
  const [, licence] = /^license = "(.*)"$/m.exec(await read("Cargo.toml"));
  assert.equal(manifest.license, licence);
  assert.ok(existsSync(join(installed, "LICENSE")) && existsSync(join(installed, "NOTICE")));
});

test("links of the packed documents lead to files that are packed", async () => {
  const documents = (await readdir(installed, { recursive: true })).filter((name) => /(\.md|llms\.txt)$/.test(name));
  let count = 0;
  for (const name of documents) {
    const text = (await readFile(join(installed, name), "utf8")).replace(/```[\s\S]*?```|`[^`\n]*`/g, "");
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https:|mailto:|#)/.test(target)) continue;
      const isOfRegistry = name === "README.md" && said.repository !== "";
      assert.ok(!isOfRegistry, `README.md: ${target} is not absolute`);
      assert.ok(existsSync(join(installed, dirname(name), target.split("#")[0])), `${name}: ${target}`);
      count += 1;
    }
  }
  assert.ok(count > 100, String(count));
});

test("the workflows call commands that there are", async () => {
  const commands = await read("xtask/src/main.rs");
  for (const name of await readdir(join(root, ".github", "workflows"))) {
    const text = await read(`.github/workflows/${name}`);
    const called = [...text.matchAll(/cargo xtask (\w+)(?: (--[\w-]+))?/g)];
    assert.ok(called.length > 1, name);
    for (const [whole, command, flag = ""] of called) {
      assert.match(commands, new RegExp(`"${command}" => cmd::`), whole);
      assert.ok(commands.includes(flag), whole);
    }
  }
});
