// The tarball holds what package.json promises, all of it and nothing else.
import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { expected, manifest, packageDir, project, run } from "./harness.mjs";

const folder = await project("contents");
const installed = join(folder, "node_modules", "contextweaver");
const files = await listFiles(installed);

test("every file that package.json names is there", () => {
  const named = [manifest.types, ...Object.values(manifest.bin), ...manifest.sideEffects, ...targets(manifest.exports)];
  const missing = named.filter((name) => !files.includes(name.replace(/^\.\//, "")));
  assert.deepEqual(missing, []);
});

test("the tarball holds exactly the built package", async () => {
  assert.deepEqual(files, await listFiles(packageDir));
});

test("every JavaScript file has its declarations, and no declaration stands alone", () => {
  const generated = ["convert", "convert_inline", "core", "core_inline", "decisions", "decisions_inline", "routing", "routing_inline"];
  const dist = files.filter((name) => name.startsWith("dist/"));
  const stems = (suffix) => dist.filter((name) => name.endsWith(suffix)).map((name) => name.slice(5, -suffix.length));
  const declared = stems(".d.ts");
  assert.deepEqual(declared, stems(".js").filter((stem) => !generated.includes(stem)));
});

test("nothing is needed at run time and nothing runs at installation", () => {
  for (const field of ["dependencies", "optionalDependencies", "scripts"]) assert.equal(manifest[field], undefined, field);
});

test("no module but the program reads a file, makes a request at load or evaluates text", async () => {
  for (const name of files.filter((name) => /^dist\/.*\.js$/.test(name) && !name.startsWith("dist/cli/"))) {
    const text = await readFile(join(installed, name), "utf8");
    const banned = [/\beval\(/, /new Function\(/, /from "node:/, /require\(/, /^await /m].filter((pattern) => pattern.test(text));
    assert.deepEqual(banned, [], name);
  }
});

test("the program can be executed", async () => {
  const mode = (await stat(join(installed, manifest.bin.contextweaver))).mode;
  assert.ok(mode & 0o111, `mode ${mode.toString(8)}`);
});

test("all entries offer the same names", async () => {
  const { stdout } = await run(
    "node",
    ["--input-type=module", "-e", `
      const names = async (entry) => Object.keys(await import(entry)).sort();
      console.log(JSON.stringify([await names("contextweaver"), await names("contextweaver/slim")]));`],
    { cwd: folder },
  );
  const [root, slim] = JSON.parse(stdout);
  assert.deepEqual(slim.filter((name) => name !== "init" && name !== "initSync"), root);
  // The other two import the module in ways Node does not know; their sources must re-export the same list.
  for (const entry of ["index", "workerd", "edge-light", "slim"]) {
    const text = await readFile(join(installed, "dist", `${entry}.js`), "utf8");
    assert.deepEqual([...text.matchAll(/^export \* from "(.+)";$/gm)].map((match) => match[1]), ["./api.js"], entry);
  }
});

test("the version is the crate's", async () => {
  const { stdout } = await run("node", ["-p", "require('contextweaver').version()"], { cwd: folder });
  assert.equal(stdout.trim(), expected.version);
});

function targets(entry) {
  return typeof entry === "string" ? [entry] : Object.values(entry).flatMap(targets);
}

async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
