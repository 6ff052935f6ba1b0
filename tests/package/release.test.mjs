// What a registry shows of the package: where it comes from, and links that lead somewhere.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { manifest, project, root } from "./harness.mjs";

const installed = join(await project("release"), "node_modules", "contextweaver");
const read = (name) => readFile(join(root, name), "utf8");

/** What release.toml says: one field a line. */
const said = Object.fromEntries([...(await read("release.toml")).matchAll(/^(\w+) = "(.*?)"/gm)].map(([, name, value]) => [name, value]));

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
