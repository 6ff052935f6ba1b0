// The bill of materials and the statement of provenance of a packed package:
//
//   node pkg-template/build/statements.mjs <folder of the package> <tarball> <folder to write into>
//
// It fails when something that is compiled in names no licence.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FILE, missing, readSettings } from "./release-settings.mjs";
import { root } from "./tools.mjs";

const PACKAGE = "contextweaver";
/** What is compiled into the scripts of the package, beside the SDK of MCP: folder of the lock file, and name. */
const BUNDLED = [
  ["tests/package", "fflate"],
  ["www", "preact"],
];
const LOCKS = ["Cargo.lock", "tests/package/package-lock.json", "www/package-lock.json"];

const output = (program, args) =>
  execFileSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 }).trim();
const digest = (algorithm, file) => createHash(algorithm).update(readFileSync(file)).digest("hex");

/** Returns a library as CycloneDX has it. */
function component(ecosystem, name, version, licence) {
  const purl = `pkg:${ecosystem}/${name.replace("@", "%40")}@${version}`;
  const licenses = licence ? [{ expression: licence.replaceAll("/", " OR ") }] : [];
  return { type: "library", "bom-ref": purl, name, version, purl, licenses };
}

/**
 * Returns the crates that are compiled to WebAssembly: not what builds or tests, nor what expands macros. `cargo tree` tells
 * features of tests from those of the package, which `cargo metadata` does not.
 */
export function crates() {
  const edges = ["--edges=normal,no-proc-macro", "--target=wasm32-unknown-unknown", "--prefix=none"];
  const tree = output("cargo", ["tree", "--locked", ...edges, `--package=${PACKAGE}`, "--format={p}|{l}"]);
  const lines = new Set(tree.split("\n").map((line) => line.replace(/ \(\*\)$/, "")));
  return [...lines]
    .filter((line) => line !== "")
    .sort()
    .map((line) => {
      const [, name, version, licence] = /^(\S+) v(\S+).*\|(.*)$/.exec(line);
      return component("cargo", name, version, licence);
    });
}

/** Returns the packages that `mcp-sdk.licenses.txt` has the licences of. */
export function licensed(text) {
  const headings = text.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d+\.\d+\.\d+\S*) \(([^()]+)\)$/gm);
  return [...headings].map(([, name, version, licence]) => component("npm", name, version, licence));
}

function bundled([folder, name]) {
  const lock = JSON.parse(readFileSync(join(root, folder, "package-lock.json"), "utf8"));
  const { version, license } = lock.packages[`node_modules/${name}`];
  return component("npm", name, version, license);
}

/** Returns the bill of materials. */
export function bill(packageDir, version) {
  const sdk = readFileSync(join(packageDir, "dist/node/mcp-sdk.licenses.txt"), "utf8");
  const components = [...crates(), ...licensed(sdk), ...BUNDLED.map(bundled)];
  const metadata = { component: component("npm", PACKAGE, version, "Apache-2.0") };
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata, components };
}

/** Returns the components whose licence is not known. */
export const unlicensed = (components) => components.filter(({ licenses }) => licenses.length === 0);

/** Returns what SLSA's statement says of how the tarball came about, as far as it is known here: `npm publish` signs its own. */
export function provenance(tarball, version, { repository }) {
  const source = { uri: `git+${repository}`, digest: { gitCommit: output("git", ["rev-parse", "HEAD"]) } };
  const locks = LOCKS.map((name) => ({ name, digest: { sha256: digest("sha256", join(root, name)) } }));
  const subject = { name: `pkg:npm/${PACKAGE}@${version}`, digest: { sha512: digest("sha512", tarball) } };
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [subject],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/v${version}/.github/workflows/release.yml`,
        externalParameters: { command: "cargo xtask release --dry-run" },
        resolvedDependencies: [source, ...locks],
      },
      runDetails: { builder: { id: "local" } },
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [packageDir, tarball, out] = process.argv.slice(2);
  const settings = readSettings();
  const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
  mkdirSync(out, { recursive: true });
  const write = (kind, value) =>
    writeFileSync(join(out, `${PACKAGE}-${version}.${kind}.json`), `${JSON.stringify(value, null, 2)}\n`);
  const materials = bill(packageDir, version);
  write("cdx", materials);
  write("intoto", provenance(tarball, version, settings));
  console.log(`wrote the bill of materials and the unsigned statement of provenance to ${out}`);
  if (output("git", ["status", "--porcelain"]) !== "")
    console.log("note: this is no clean checkout; a release is made of one");
  for (const field of missing(settings)) console.log(`missing: ${field} (${FILE})`);
  for (const { purl } of unlicensed(materials.components)) {
    console.error(`${purl} names no licence`);
    process.exitCode = 1;
  }
}
