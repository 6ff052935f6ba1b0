// How fast sessions are audited, and how near the forecast comes to what providers counted.
//
//   node benches/audit.mjs [--package <folder of the built package>] [<files or folders with recorded sessions>...]
//
// Without files, the recorded session of the tests is copied until there are a hundred megabytes. Printed are megabytes a second with and
// without the comparison of strategies, and the errors of the forecast in percent of the prompts.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args, positionals } = parseArgs({ allowPositionals: true, options: { package: { type: "string", default: join(home, "pkg") }, megabytes: { type: "string", default: "100" } } });
const program = join(resolve(args.package), "bin/contextweaver.js");
const MOST_OUTPUT = 1 << 30;

/** Copies of one session, each with ids of its own: a call that is recorded twice counts once. */
function copies(folder, megabytes) {
  const text = gunzipSync(readFileSync(join(home, "tests/package/fixtures/audit/rollout-codex-long.jsonl.gz"))).toString("utf8");
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n * text.length < megabytes * 1e6; n += 1) {
    writeFileSync(join(folder, `rollout-${n}.jsonl`), text.replaceAll(/"response_id":"/g, `"response_id":"${n}-`));
  }
  return [folder];
}

function measure(files, options) {
  const begun = process.hrtime.bigint();
  const { bytes, total } = JSON.parse(execFileSync(process.execPath, [program, "audit", ...files, "--json", ...options], { maxBuffer: MOST_OUTPUT, stdio: ["ignore", "pipe", "ignore"] }));
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  return { seconds, rate: bytes / 1e6 / seconds, bytes, total };
}

const made = mkdtempSync(join(tmpdir(), "audit-"));
try {
  const files = positionals.length > 0 ? positionals : copies(made, Number(args.megabytes));
  const plain = measure(files, ["--budgets", "none"]);
  const compared = measure(files, []);
  const { calls, conversations, forecast } = plain.total;
  console.log(`${(plain.bytes / 1e6).toFixed(0)} MB, ${conversations} conversations, ${calls} calls`);
  console.log(`without strategies  ${plain.seconds.toFixed(1)} s, ${plain.rate.toFixed(1)} MB/s`);
  console.log(`three budgets       ${compared.seconds.toFixed(1)} s, ${compared.rate.toFixed(1)} MB/s`);
  if (forecast) console.log(`forecast            cached ${forecast.cached_error_percent.toFixed(2)} %, uncached ${forecast.uncached_error_percent.toFixed(2)} % of the prompts, ${forecast.missed_calls} of ${forecast.calls} calls missed`);
} finally {
  rmSync(made, { recursive: true, force: true });
}
