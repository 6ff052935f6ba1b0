// What the package tests share: throw-away projects with the packed package installed, and processes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { cp, link, mkdir, mkdtemp, readFile, readdir, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const setting = (name) => process.env[`CONTEXTWEAVER_TEST_${name}`];

function required(name) {
  const value = setting(name);
  if (!value) throw new Error("run these tests with `cargo xtask test`, which builds the package first");
  return value;
}

export const here = dirname(fileURLToPath(import.meta.url));
export const root = required("ROOT");
/** The built package's folder. */
export const packageDir = required("PACKAGE");
/** The same, packed. */
export const tarball = required("TARBALL");
/** package.json of the built package. */
export const manifest = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
/** What the shared cases expect. */
export const expected = { version: manifest.version };

const strict = setting("STRICT") === "1";
/** Whether `cargo xtask test --long` asks for many times the cases. */
export const long = setting("LONG") === "1";

/**
 * Skips the test, loudly, when something it needs is missing; on a CI machine that is a failure unless `optional`.
 * Returns whether to go on.
 */
export function has(t, what, { missing, optional = false }) {
  if (what) return true;
  if (strict && !optional) assert.fail(`missing on a CI machine: ${missing}`);
  t.skip(missing);
  return false;
}

/** The browser's path, or why there is none. */
export const chromium = {
  path: setting("CHROMIUM"),
  missing: setting("CHROMIUM_MISSING") ?? "no Chromium",
};

/** The path of Firefox, or why there is none: it is tried where it can be had. */
export const firefox = {
  path: setting("FIREFOX"),
  missing: setting("FIREFOX_MISSING") ?? "no Firefox",
  optional: true,
};

/** The folder of the bundled page, or why there is none. */
export const page = {
  path: setting("PAGE"),
  missing: setting("PAGE_MISSING") ?? "the page was not bundled",
};

/** Starts the browser, with more switches if need be, closed when the test ends. */
export async function launchChromium(t, switches = []) {
  const playwright = await import("playwright-core");
  const browser = await playwright.chromium.launch({
    executablePath: chromium.path,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
      ...switches,
    ],
  });
  t.after(() => browser.close());
  return browser;
}

/** Starts Firefox, closed when the test ends. */
export async function launchFirefox(t) {
  const playwright = await import("playwright-core");
  const browser = await playwright.firefox.launch({ channel: "moz-firefox", executablePath: join(here, "firefox-bidi.mjs") });
  t.after(() => browser.close());
  return browser;
}

/** A program of the optional runtimes, or why it is missing. */
export async function optionalProgram(name) {
  const folder = setting("RUNTIMES");
  if (!folder) return { missing: setting("RUNTIMES_MISSING") ?? `${name} is not installed` };
  const path = name === "bun" ? await bunProgram(folder) : join(folder, "node_modules", ".bin", name);
  return path && existsSync(path) ? { path } : { missing: `${name} is not installed for this platform` };
}

/** The folder of the optional runtimes, if they are installed. */
export const runtimes = setting("RUNTIMES");

/** A Node of version 22.13 or later, which has `node:sqlite`: the one that runs the tests, or the one among the optional runtimes; or why there is none. */
export async function modernNode() {
  const missing = "no Node 22.13 or later";
  const installed = runtimes && join(runtimes, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  for (const path of [process.execPath, installed]) {
    if (path && existsSync(path) && (await run(path, ["-e", "require('node:sqlite')"], { check: false })).code === 0) return { path };
  }
  return { missing };
}

/** Bun's launcher is put in place by an install script, and none may run; its platform package has the program itself. */
async function bunProgram(folder) {
  const scope = join(folder, "node_modules", "@oven");
  if (!existsSync(scope)) return undefined;
  for (const platform of await readdir(scope)) {
    const path = join(scope, platform, "bin", "bun");
    if (existsSync(path) && (await run(path, ["--version"], { check: false })).code === 0) return path;
  }
  return undefined;
}

/**
 * Runs a program to its end; unless `check` is false, an exit code other than 0 throws with its output.
 * `timeout`: milliseconds after which it is told to end.
 */
export function run(program, args, { cwd = root, env = {}, check = true, input, timeout } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1", ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("error", fail);
    child.on("close", (code, signal) => {
      if (check && code !== 0) {
        fail(new Error(`${program} ${args.join(" ")} exited with ${code ?? signal}\n${stdout}\n${stderr}`));
      } else {
        done({ code, stdout, stderr });
      }
    });
    if (input !== undefined) child.stdin.end(input);
  });
}

/** Makes a folder with the files of another one, which are not copied: nobody may write to them. */
async function linkFolder(from, to) {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target);
  }
}

/**
 * Makes a throw-away project with the package as npm installs it from its tarball, which `run.mjs` does once, and the shared cases
 * beside it. `files` maps names to contents, `also` names modules from here. Returns its folder.
 */
export async function project(name, files = {}, { type = "module", also = [] } = {}) {
  const folder = join(resolve(required("PROJECTS")), basename(process.argv[1] ?? "", ".test.mjs"), name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const dependencies = { [manifest.name]: `file:${tarball}` };
  await writeFile(join(folder, "package.json"), JSON.stringify({ name, private: true, type, dependencies }));
  await linkFolder(join(required("INSTALLED"), "node_modules"), join(folder, "node_modules"));
  for (const file of await modulesOf(["cases.mjs", "assert.mjs", ...also])) await cp(join(here, file), join(folder, file));
  await writeFile(join(folder, MADE), await recordedCases("tool-call-context"));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** The files of these modules and of what they import from beside themselves. */
async function modulesOf(files) {
  const found = new Set(files);
  for (const file of found) {
    const text = await readFile(join(here, file), "utf8");
    for (const [, imported] of text.matchAll(/from "\.\/([^"]+)"/g)) if (imported !== MADE) found.add(imported);
  }
  return found;
}

/** The module that every project gets made. */
const MADE = "context-vectors.mjs";

/** The recorded cases of an area as a module, by file: most runtimes of the tests read none. */
async function recordedCases(area) {
  const folder = join(root, "tests", "vectors", area);
  const recorded = {};
  for (const file of (await readdir(folder)).sort()) {
    recorded[file.replace(/\.json$/, "")] = JSON.parse(await readFile(join(folder, file), "utf8")).cases;
  }
  return `export const vectors = JSON.parse(${JSON.stringify(JSON.stringify(recorded))});\n`;
}

/** A module that runs the cases on the package and prints the results as JSON. */
export const printCases = `
import * as cw from "contextweaver";
import { runCases } from "./cases.mjs";
import { assert } from "./assert.mjs";
// No top-level await: it has no form in a CommonJS bundle.
runCases(cw, assert, ${JSON.stringify(expected)}).then((results) => console.log(JSON.stringify(results)));
`;

/** The same for a CommonJS project. */
export const printCasesFromRequire = `
const cw = require("contextweaver");
(async () => {
  const { runCases } = await import("./cases.mjs");
  const { assert } = await import("./assert.mjs");
  console.log(JSON.stringify(await runCases(cw, assert, ${JSON.stringify(expected)})));
})();
`;

/** Turns results of the shared cases into one test each. */
export async function report(t, results) {
  const list = typeof results === "string" ? JSON.parse(results) : results;
  assert.ok(list.length > 0, "no case ran");
  for (const { name, ok, error } of list) {
    await t.test(name, () => assert.ok(ok, error));
  }
}

const temporary = [];
process.on("exit", () => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
});

/** Makes a folder outside of the repository, by its real path, that is there until this process ends. */
export async function temporaryFolder(name) {
  const folder = await mkdtemp(join(await realpath(tmpdir()), `contextweaver-${name}-`));
  temporary.push(folder);
  return folder;
}

/** Waits until something is so, and returns what `check` found; `what`, or what it returns, is named where it never comes. */
export async function until(what, check, milliseconds = 60_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await new Promise((done) => setTimeout(done, 20))) {
    const found = await check();
    if (found) return found;
  }
  throw new Error(`it did not come true: ${typeof what === "function" ? what() : what}`);
}
