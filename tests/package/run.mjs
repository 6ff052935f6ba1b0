// Runs test files on the packed package, each in a process of its own and some at a time, for `cargo xtask test`:
//
//   node tests/package/run.mjs <folder of logs> <file of the counts> [name ...]
//
// It tells the time of each file and what failed, and writes the counts as JSON: {passed, failed, skipped: ["name: reason"]}.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const END = ".test.mjs";
const folder = dirname(fileURLToPath(import.meta.url));
const [logs, counts, ...names] = process.argv.slice(2);
/** One more than the cores of CI machines, since a file also waits, for a page or for a program. A fourth gains nothing. */
const FILES_AT_A_TIME = 3;
const IS_LONG = process.env.CONTEXTWEAVER_TEST_LONG === "1";
/** Milliseconds after which a file hangs. */
const LIMIT = IS_LONG ? 3_600_000 : 600_000;
/** Files that ask again what others ask of Chromium. One file of the page in Firefox shows that it runs there. */
const OF_LONG_RUNS = ["page-firefox", "page-firefox-mcp", "page-firefox-session", "page-firefox-story", "page-firefox-tools"];
/** Files that take minutes begin first, so that none runs alone at the end. */
const LONGEST = [
  ...OF_LONG_RUNS,
  "message-oracles",
  "message-oracles-sdks",
  "gateway-conformance",
  "random-logs",
  "service-worker-long",
  "chromium",
  "gateway-faults",
  "page-session",
  "page-story",
  "page-large",
  "page-looks",
  "runtimes",
  "readme",
  "page",
  "docs-site",
  "gateway-results",
  "storage",
  "node",
  "api",
  "audit",
  "bundlers",
];

const all = (await readdir(folder))
  .filter((name) => name.endsWith(END))
  .map((name) => name.slice(0, -END.length))
  .sort();
const rank = (name) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length);
const left = IS_LONG ? [] : OF_LONG_RUNS;
const waiting = (names.length > 0 ? names : all.filter((name) => !left.includes(name))).sort((one, other) => rank(one) - rank(other));
const running = new Set();
const total = { passed: 0, failed: 0, skipped: [] };

/** Installs the tarball as users do, once: every project of the tests has the files of this folder. */
async function install() {
  const { CONTEXTWEAVER_TEST_PROJECTS: projects, CONTEXTWEAVER_TEST_TARBALL: tarball } = process.env;
  await mkdir(projects, { recursive: true });
  // Another run may be under way.
  const place = await mkdtemp(join(projects, "installed-"));
  process.on("exit", () => rmSync(place, { recursive: true, force: true }));
  await writeFile(join(place, "package.json"), JSON.stringify({ name: "installed", private: true }));
  const options = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await promisify(execFile)("npm", ["install", ...options, tarball], { cwd: place });
  process.env.CONTEXTWEAVER_TEST_INSTALLED = place;
}

/** Ends a process with those that it started. */
function kill(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    running.forEach(kill);
    process.exit(1);
  });
}

/** Runs a file; returns what of it failed. */
async function run(name) {
  const events = join(logs, `package-${name}.jsonl`);
  const output = await open(join(logs, `package-${name}.log`), "w");
  await rm(events, { force: true });
  const reporter = [`--test-reporter=${new URL("./test-events.mjs", import.meta.url)}`, `--test-reporter-destination=${events}`];
  const child = spawn(process.execPath, [...reporter, join(folder, `${name}${END}`)], { stdio: ["ignore", output.fd, output.fd], detached: true });
  running.add(child);
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    kill(child);
  }, LIMIT);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  running.delete(child);
  await output.close();
  const lines = (await readFile(events, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const failed = [];
  for (const { test, skipped, error } of lines.map((line) => JSON.parse(line))) {
    if (error !== undefined) failed.push(`FAILED ${test}\n${error}`);
    else if (skipped === undefined) total.passed += 1;
    else total.skipped.push(`${test}: ${skipped}`);
    if (skipped !== undefined) console.log(`    SKIPPED ${test}: ${skipped}`);
  }
  if (hangs) {
    const { test: last = "none" } = JSON.parse(lines.at(-1) ?? "{}");
    failed.push(`FAILED ${name}: it did not end within ${LIMIT / 1_000} seconds; the last test that ended: ${last}`);
  } else if (lines.length === 0) failed.push(`FAILED ${name}: it ran no test`);
  else if (failed.length === 0 && code !== 0) failed.push(`FAILED ${name}: it ended with ${code}`);
  return failed;
}

await mkdir(logs, { recursive: true });
await install();
for (const name of names.length > 0 ? [] : left) {
  const reason = `${name}: the same as in Chromium, with --long`;
  total.skipped.push(reason);
  console.log(`    SKIPPED ${reason}`);
}
async function lane() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const began = performance.now();
    const failed = await run(name);
    total.failed += failed.length;
    console.log(`==> package: ${name} ... ${((performance.now() - began) / 1_000).toFixed(1)}s${failed.length > 0 ? " (failed)" : ""}`);
    if (failed.length === 0) continue;
    const log = join(logs, `package-${name}.log`);
    const end = (await readFile(log, "utf8")).split("\n").slice(-40).join("\n");
    console.log(`${failed.join("\n").slice(0, 20_000)}\nthe end of its output, which is in ${log}:\n${end}`);
  }
}
await Promise.all(Array.from({ length: FILES_AT_A_TIME }, lane));
await writeFile(counts, JSON.stringify(total));
process.exitCode = total.failed === 0 ? 0 : 1;
