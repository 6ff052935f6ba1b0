// The labelled conversations with standing instructions can be made, the same bytes each time.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { root, temporaryFolder } from "./harness.mjs";

test("sixty conversations are made, each label where its words stand", async (t) => {
  const folder = await temporaryFolder("rules");
  t.after(() => rm(folder, { recursive: true, force: true }));
  const made = async (name) => {
    execFileSync(process.execPath, [join(root, "tests/quality/rules/make.mjs"), join(folder, name)]);
    return readFile(join(folder, name, "standing.json"), "utf8");
  };
  const text = await made("one");
  assert.equal(text === (await made("two")), true);
  const { sessions } = JSON.parse(text);
  assert.equal(sessions.length, 60);
  for (const { id, items, statements, probes } of sessions) {
    const said = new Map(items.map((item) => [item.id, item.text]));
    assert.ok(probes.length >= 2, id);
    for (const statement of statements) for (const words of statement.must) assert.ok(said.get(statement.item).includes(words), `${id}: ${words}`);
  }
});
