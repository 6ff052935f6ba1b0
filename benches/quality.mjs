// The quality report: runs every labelled set that is here and compares the figures with the committed ones.
//
//   node benches/quality.mjs [--package <folder of the built package>] [--sets <folder>] [--work <folder>]
//                            [--only <kind>]... [--update] [--out <folder>] [--json]
//
// Kinds: routing, tools, abstain, multitool, context, chats, trajectories, rules, cost, recall, digests, encodings, secrets. All
// of them take about five minutes on two cores; `--only` runs some. Sets are looked for in `<sets>/<kind>` (the public ones, default
// ../shared/bench), in `<work>/sets/<kind>` (those that may not be stored and are made with the converters of their
// notes; default target/bench) and in tests/quality (ours).
//
// Prints one table on stdout and what was skipped on stderr. A run of all kinds writes QUALITY.md with its plots into
// `--out` (default benches). Fails with 1 and the names of the figures when one is worse than in quality/baseline.json
// by more than its noise; `--update` accepts the figures of this run as the new baseline.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { baselineOf, compare, nameOf } from "./quality/compare.mjs";
import { KINDS, Run } from "./quality/measure.mjs";
import { TITLES, document, pictures, summary } from "./quality/report.mjs";
import { rows, text } from "./quality/table.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(here, "../pkg") },
    sets: { type: "string", default: join(here, "../../shared/bench") },
    work: { type: "string", default: join(here, "../target/bench") },
    out: { type: "string", default: here },
    only: { type: "string", multiple: true, default: [] },
    update: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const say = (line) => console.error(line);
const unknown = args.only.filter((kind) => !KINDS.includes(kind));
if (unknown.length > 0) {
  say(`error: there is no kind '${unknown[0]}'; the kinds are ${KINDS.join(", ")}`);
  process.exit(2);
}
const kinds = KINDS.filter((kind) => args.only.length === 0 || args.only.includes(kind));
const isWhole = kinds.length === KINDS.length;

const BASELINE = join(resolve(args.out), "quality/baseline.json");

function readBaseline() {
  if (existsSync(BASELINE)) return JSON.parse(readFileSync(BASELINE, "utf8")).figures;
  say(`there is no ${BASELINE} yet: nothing to compare with`);
  return {};
}

const run = new Run({ package: resolve(args.package), sets: resolve(args.sets), work: resolve(args.work), say });
const figures = kinds.flatMap((kind) => run.figures(kind));
const baseline = readBaseline();
const verdict = compare(figures, baseline);
// What was not measured keeps its place when figures are accepted; what is gone loses it.
const kept = Object.fromEntries(Object.entries(baseline).filter(([name]) => !verdict.gone.includes(name)));
const accepted = { ...kept, ...baselineOf(figures) };
// What was not asked for is not missing.
const unmeasured = verdict.unmeasured.filter((name) => kinds.includes(name.split("/")[0]));
const cells = (kind, before, against) =>
  rows(
    figures.filter((figure) => figure.kind === kind),
    before,
    against,
  );
const measured = kinds.filter((kind) => figures.some((figure) => figure.kind === kind));
const version = JSON.parse(readFileSync(join(resolve(args.package), "package.json"), "utf8")).version;
const result = { version, figures, unmeasured, skipped: [...run.skipped] };

function write() {
  mkdirSync(join(resolve(args.out), "quality"), { recursive: true });
  if (isWhole) {
    for (const [name, svg] of pictures(run.curves)) writeFileSync(join(resolve(args.out), `quality/${name}.svg`), svg);
    // With --update the report is the one that a further run would write.
    const [before, against] = args.update ? [accepted, compare(figures, accepted)] : [baseline, verdict];
    const tables = measured.map((kind) => [kind, cells(kind, before, against)]);
    // The report is the same wherever the sets are.
    const skipped = result.skipped.map((reason) => reason.replaceAll(`${resolve(args.sets)}/`, ""));
    writeFileSync(join(resolve(args.out), "QUALITY.md"), document({ ...result, skipped }, tables, run.curves));
  } else say("QUALITY.md is written by a run of all kinds alone");
  if (!args.update) return;
  const lines = Object.entries(accepted).map(([name, entry]) => `  ${JSON.stringify(name)}: ${JSON.stringify(entry)}`);
  writeFileSync(BASELINE, `{ "figures": {\n${lines.join(",\n")}\n} }\n`);
  say(`accepted ${figures.length} figures as the baseline`);
}

if (args.json) console.log(JSON.stringify({ ...result, fell: verdict.fell.map(nameOf), gone: verdict.gone }));
else {
  for (const kind of measured) console.log(`\n${TITLES[kind]}\n\n${text(cells(kind, baseline, verdict))}`);
  console.log(`\n${summary(result).join("\n")}`);
}
write();
for (const reason of run.skipped) say(`SKIPPED: ${reason}`);

const failures = [
  ...verdict.fell.map((figure) => `${nameOf(figure)} fell by more than its noise`),
  ...verdict.gone.map((name) => `${name} is in the baseline and was not measured any more`),
  ...verdict.resized.map((figure) => `${nameOf(figure)} has another number of queries than the baseline`),
];
for (const failure of failures) say(`${args.update ? "accepted" : "FAILED"}: ${failure}`);
if (failures.length > 0 && !args.update) process.exitCode = 1;
