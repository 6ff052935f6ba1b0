// Runs test files on the packed package, each in a process of its own and some at a time, for `cargo xtask test`:
//
//   node tests/package/run.mjs <folder of logs> <file of the counts> [name ...]
//
// It tells the time of each file and what failed, and writes the counts as JSON: {passed, failed, skipped: ["name: reason"]}.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

const END = ".test.mjs";
const folder = dirname(fileURLToPath(import.meta.url));
const [logs, counts, ...names] = process.argv.slice(2);
/** One more than the cores of CI machines, since a file also waits, for a page or for a program. */
const FILES_AT_A_TIME = 3;
/** Milliseconds after which a file hangs. */
const LIMIT = process.env.CONTEXTWEAVER_TEST_LONG === "1" ? 3_600_000 : 600_000;
/** What takes minutes begins first, so that nothing runs alone at the end. */
const LONGEST = ["message-oracles", "message-oracles-sdks", "page-firefox", "page-firefox-story", "page-firefox-tools", "gateway", "storage-attack", "gateway-inspector", "inspect", "cli", "random-logs", "quality-report"];

const all = (await readdir(folder)).filter((name) => name.endsWith(END)).map((name) => name.slice(0, -END.length)).sort();
const rank = (name) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length);
const wanted = (names.length > 0 ? names : all).sort((one, other) => rank(one) - rank(other));
await mkdir(logs, { recursive: true });

const total = { passed: 0, failed: 0, skipped: [] };
/** By name of the file: how many tests, how many failed, and what is for its log. */
const files = new Map(wanted.map((name) => [name, { tests: 0, failed: 0, log: [] }]));
const fileOf = (path) => files.get(basename(path ?? "", END));

/** Counts a test as it ends. That of a whole file, which not all versions of Node report, says how its process ended. */
function ended({ name, file: path, skip, todo, details }) {
  const file = fileOf(path);
  if (!file) return;
  const error = details.error;
  if (name === path) {
    // Its tests may be told later.
    file.error = error;
    console.log(`==> package: ${basename(path, END)} ... ${(details.duration_ms / 1_000).toFixed(1)}s${error ? " (failed)" : ""}`);
    return;
  }
  file.tests += 1;
  if (error) failed(file, name, error);
  else if (skip === undefined && todo === undefined) total.passed += 1;
  else {
    const reason = `${name}: ${[skip, todo].find((one) => typeof one === "string") ?? "skipped"}`;
    console.log(`    SKIPPED ${reason}`);
    total.skipped.push(reason);
  }
}

function failed(file, name, error) {
  file.log.push(`FAILED ${name}`, ...(error ? [inspect(error.cause ?? error, { depth: 8, maxStringLength: 20_000 })] : []));
  file.failed += 1;
  total.failed += 1;
}

const paths = wanted.map((name) => join(folder, `${name}${END}`));
for await (const { type, data } of run({ files: paths, concurrency: FILES_AT_A_TIME, timeout: LIMIT })) {
  if (type === "test:complete") ended(data);
  else if (type === "test:stdout" || type === "test:stderr") fileOf(data.file)?.log.push(data.message.trimEnd());
}
for (const [name, file] of files) {
  if (file.failed === 0 && (file.error || file.tests === 0)) failed(file, file.error ? "the file failed" : "the file ran no test", file.error);
  const log = join(logs, `package-${name}.log`);
  await writeFile(log, file.log.join("\n"));
  if (file.failed > 0) console.log(`\ntests/package/${name}${END} failed; its output, of which this is the end: ${log}\n${file.log.join("\n").split("\n").slice(-100).join("\n")}`);
}
await writeFile(counts, JSON.stringify(total));
process.exitCode = total.failed === 0 ? 0 : 1;
