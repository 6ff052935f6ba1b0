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
  // What the build writes: entries for other runtimes, and everything about the WebAssembly modules.
  const generated = (stem) => /^(wasm|node)\//.test(stem) || /\.(workerd|edge-light)$/.test(stem);
  const dist = files.filter((name) => name.startsWith("dist/"));
  const stems = (suffix) => dist.filter((name) => name.endsWith(suffix)).map((name) => name.slice(5, -suffix.length));
  const declared = stems(".d.ts");
  assert.deepEqual(
    declared,
    stems(".js").filter((stem) => !generated(stem)),
  );
});

test("nothing is needed at run time and nothing runs at installation", () => {
  for (const field of ["dependencies", "optionalDependencies", "scripts"]) assert.equal(manifest[field], undefined, field);
});

test("nothing but what Node loads reads a file, makes a request at load or evaluates text", async () => {
  for (const name of files.filter((name) => /^dist\/.*\.js$/.test(name) && !/^dist\/node(\/|\.js$)/.test(name))) {
    const text = await readFile(join(installed, name), "utf8");
    const banned = [/\beval\(/, /new Function\(/, /^(import|export)\b.* from "node:/m, /require\(/, /^await /m].filter((pattern) => pattern.test(text));
    assert.deepEqual(banned, [], name);
  }
});

test("the SDK of MCP that the program brings stands beside the licences of all that is in it", async () => {
  const read = (name) => readFile(join(installed, name), "utf8");
  const licences = (await read("dist/node/mcp-sdk.licenses.txt")).split(/^(?=@?[a-z][\w./-]* \d+\.\d+\.\d+\S* \([\w. -]+\)$)/m);
  const names = licences.map((text) => text.slice(0, text.indexOf(" ", 1)));
  assert.deepEqual(names, [...names].sort());
  for (const name of ["client", "core", "server"]) assert.ok(names.includes(`@modelcontextprotocol/${name}`), name);
  for (const text of licences) assert.match(text, /Permission (is hereby granted|to use, copy)|Apache License/, text.slice(0, 80));
  // Each package of which the bundle has something is named by its licences alone.
  const sdk = await read("dist/node/mcp-sdk.js");
  assert.match(sdk, /export\{.* as client.* as server/s);
  assert.ok((await read("NOTICE")).includes("dist/node/mcp-sdk.licenses.txt"));
  // Whoever imports a gateway has an SDK already.
  for (const name of files.filter((file) => /^dist\/.*\.js$/.test(file) && file !== "dist/node/mcp-sdk.js")) {
    assert.doesNotMatch(await read(name), /\/\/ .*node_modules\/@modelcontextprotocol/, name);
  }
});

test("stack traces in Node name the files that were bundled", async () => {
  const maps = files.filter((name) => name.startsWith("dist/node/") && name.endsWith(".map"));
  assert.ok(maps.length > 10);
  for (const map of maps) {
    const { sources, sourcesContent } = JSON.parse(await readFile(join(installed, map), "utf8"));
    assert.equal(sourcesContent, undefined, "the files are in the package");
    // What only the program has is in its bundle alone.
    const missing = sources.filter(
      (source) => !files.includes(join("dist/node", source)) && !/^\.\.\/(audit|cli)\/|_glue\.js$|\.file\.js$|report-page\.js$/.test(source),
    );
    assert.deepEqual(missing, [], map);
  }
  const { stderr } = await run(
    process.execPath,
    ["--enable-source-maps", "--input-type=module", "-e", 'import { ContextManager } from "contextweaver"; new ContextManager({ budgett: 1 });'],
    { cwd: folder, check: false },
  );
  assert.match(stderr, /dist\/boundary\/\w+\.js:\d+/);
});

test("the program can be executed", async () => {
  const mode = (await stat(join(installed, manifest.bin.contextweaver))).mode;
  assert.ok(mode & 0o111, `mode ${mode.toString(8)}`);
});

test("all entries offer the same names", async () => {
  const { stdout } = await run(
    "node",
    [
      "--input-type=module",
      "-e",
      `
      const names = async (entry) => Object.keys(await import(entry)).sort();
      console.log(JSON.stringify([await names("contextweaver"), await names("contextweaver/slim")]));`,
    ],
    { cwd: folder },
  );
  const [root, slim] = JSON.parse(stdout);
  assert.deepEqual(
    slim.filter((name) => name !== "init" && name !== "initSync"),
    root,
  );
  // What each entry offers is the same in Node, which has its own files, and elsewhere.
  for (const entry of ["index", "context", "convert", "routing", "decisions", "slim", "mcp-server"]) {
    const script = `
      const names = async (file) => Object.keys(await import("./node_modules/contextweaver/dist/" + file + ".js")).sort();
      console.log(JSON.stringify([await names("${entry}"), await names("node/${entry}")]));`;
    const { stdout } = await run("node", ["--input-type=module", "-e", script], { cwd: folder });
    const [carried, read] = JSON.parse(stdout);
    assert.deepEqual(read, carried, entry);
  }
  // The other entries are the same with other modules; Node does not know how to import those of all.
  for (const entry of ["index", "context", "convert", "routing", "decisions"]) {
    const text = async (loader) => (await readFile(join(installed, "dist", `${entry}${loader}.js`), "utf8")).replaceAll(/wasm\/(\w+)\.[\w-]+\.js/g, "wasm/$1");
    const first = await text("");
    assert.match(first, /from "\.\/wasm\/\w+"/);
    for (const loader of [".workerd", ".edge-light"]) assert.equal(await text(loader), first, entry + loader);
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
