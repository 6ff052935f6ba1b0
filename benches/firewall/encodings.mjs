// What structured results cost as we spell them, beside JSON without white space and TOON: tokens of o200k, on the data sets of
// TOON's own benchmark, which is read from a clone of toon-format/toon. Every spelling is of the same value.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { clone, noClone } from "../mirror.mjs";
import { install } from "../npm.mjs";

const REPOSITORY = "toon-format/toon";
const PACKAGES = ["@toon-format/toon@4.4.0", "@faker-js/faker@10.5.0", "gpt-tokenizer@4.0.0", "esbuild@0.28.2"];
const SOURCES = ["benchmarks/src/datasets.ts", "benchmarks/data/github-repos.json"];

/** The data sets of the benchmark: `{name, data}`. */
async function datasets(source, work, load) {
  const folder = join(work, "toon");
  for (const path of SOURCES) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), source.read(path));
  }
  const { build } = await load("esbuild");
  const outfile = join(folder, "datasets.mjs");
  // Types that the script imports are left out with the import.
  await build({
    entryPoints: [join(folder, SOURCES[0])],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["@faker-js/faker"],
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile))).TOKEN_EFFICIENCY_DATASETS;
}

/** A result as a prompt has it that is not cut: the threshold is just below what it takes as it came. */
function reshaped({ ContextManager, countTokens }, json) {
  // Credentials stay, as they do in the other spellings.
  const manager = new ContextManager({ redact_secrets: false, firewall: { threshold_tokens: countTokens(json) - 1 } });
  const { item, envelope } = manager.ingestToolResult({ tool_call_id: "c", tool_name: "tool", raw_output: json, media_type: "application/json" });
  manager.free();
  return { text: item.text, strategy: envelope.firewall_stats?.strategy ?? "as it came" };
}

/** The rows `{set, json, toon, ours, strategy}`, or nothing when something is missing, which `say` is told. */
export async function encodings(engine, { work, mirror, say }) {
  const source = clone(mirror, REPOSITORY);
  if (source === undefined) return void say(noClone(REPOSITORY));
  const missing = PACKAGES.map((spec) => [spec, install(work, spec)]).filter(([, why]) => why);
  for (const [spec, why] of missing) say(`SKIPPED: ${spec} cannot be installed: ${why}`);
  if (missing.length > 0) return undefined;
  const require = createRequire(join(resolve(work), "package.json"));
  const load = async (name) => import(pathToFileURL(require.resolve(name)));
  const [{ encode: toon }, { countTokens }] = [await load("@toon-format/toon"), await load("gpt-tokenizer/encoding/o200k_base")];
  say(`${REPOSITORY} @${source.revision}`);
  return (await datasets(source, work, load)).map(({ name, data }) => {
    // A tool's result is mostly indented or has no white space; what is read is the same.
    const json = JSON.stringify(data);
    const { text, strategy } = reshaped(engine, JSON.stringify(data, null, 2));
    return { set: name, json: countTokens(json), toon: countTokens(toon(data)), ours: countTokens(text), strategy };
  });
}
