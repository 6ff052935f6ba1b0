// How fast sessions are audited, in how much memory, and how near the forecast comes to what providers counted.
//
//   node benches/audit.mjs [--package <folder of the built package>] [--before <folder of another>] [--megabytes 100] [--json]
//                          [<files or folders with recorded sessions>...]
//
// Without files, sessions of audit-corpus.mjs. Printed are seconds, seconds of processors, and the peak of resident memory, without and
// with the comparison of strategies at three budgets, of two packages in turns; and the errors of the forecast in percent of the prompts.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { writeCorpus } from "./audit-corpus.mjs";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    package: { type: "string", default: join(home, "pkg") },
    before: { type: "string" },
    megabytes: { type: "string", default: "100" },
    parts: { type: "string", default: "plain,compared" },
    json: { type: "boolean", default: false },
  },
});
const PARTS = { plain: ["--budgets", "none"], compared: [] };
/** Told by the process itself when it ends: its own figures, with those of its threads. */
const TOLD = `process.on("exit", () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage(); process.stderr.write("\\nusage " + JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, mebibytes: maxRSS / 1024 }) + "\\n"); });`;

function measure(folder, files, options) {
  const program = join(resolve(folder), "bin/contextweaver.js");
  const begun = process.hrtime.bigint();
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(TOLD)}`, program, "audit", ...files, "--json", ...options], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, told] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (told += text));
    child.on("close", (code) => {
      const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
      const usage = told.match(/^usage (.*)$/m)?.[1];
      if (code !== 0 || usage === undefined) return fail(new Error(`audit ended with ${code}:\n${told}`));
      const { bytes, total } = JSON.parse(out);
      done({ seconds, ...JSON.parse(usage), bytes, total });
    });
  });
}

const made = mkdtempSync(join(tmpdir(), "audit-"));
try {
  if (positionals.length === 0) writeCorpus(made, Number(args.megabytes));
  const files = positionals.length > 0 ? positionals : [made];
  const packages = { ...(args.before && { before: args.before }), here: args.package };
  const report = {};
  for (const part of args.parts.split(",")) {
    for (const [name, folder] of Object.entries(packages)) {
      const {
        seconds,
        cpu,
        mebibytes,
        bytes,
        total: { calls, conversations, forecast },
      } = await measure(folder, files, PARTS[part]);
      (report[part] ??= {})[name] = { seconds, cpu, mebibytes, bytes, calls, conversations, forecast };
    }
  }
  if (args.json) console.log(JSON.stringify(report));
  else print(report);
} finally {
  rmSync(made, { recursive: true, force: true });
}

function print(report) {
  const [
    {
      here: { bytes, conversations, calls, forecast },
    },
  ] = Object.values(report);
  console.log(`${(bytes / 1e6).toFixed(0)} MB, ${conversations} conversations, ${calls} calls      s   s of processors   MiB`);
  for (const [part, sides] of Object.entries(report)) {
    for (const [name, { seconds, cpu, mebibytes }] of Object.entries(sides)) {
      console.log(
        `${`${part === "plain" ? "without strategies" : "three budgets"}, ${name}`.padEnd(40)} ${seconds.toFixed(1).padStart(6)} ${cpu.toFixed(1).padStart(16)} ${mebibytes.toFixed(0).padStart(6)}`,
      );
    }
  }
  if (forecast)
    console.log(
      `forecast: cached ${forecast.cached_error_percent.toFixed(2)} %, uncached ${forecast.uncached_error_percent.toFixed(2)} % of the prompts, ${forecast.missed_calls} of ${forecast.calls} calls missed`,
    );
}
