// Makes the deployable folder: node bundle.mjs <folder of the built package> <folder to write>. Run by `cargo xtask`.
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [packageDir, out] = process.argv.slice(2);
if (!packageDir || !out) throw new Error("usage: node bundle.mjs <package> <out>");

/** The modules and their bundles. */
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { page: "main.tsx", worker: "worker/main.ts", style: "style.css" },
  outdir: join(out, ".new"),
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome120", "firefox121", "safari17"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  legalComments: "none",
  alias: { "contextweaver/slim": join(packageDir, "dist", "slim.js") },
  metafile: true,
  logLevel: "warning",
});

/** Licences of what is in the bundles. */
async function licences() {
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
    if (name) packages.add(name);
  }
  const texts = [...packages].sort().map(async (name) => {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? await readFile(join(folder, file), "utf8") : "No licence file is in the package.";
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return [...(await Promise.all(texts)), `contextweaver\n\n${await readFile(join(packageDir, "LICENSE"), "utf8")}`].join("\n\n---\n\n");
}

const text = await licences();
const root = join(here, "..");
const made = join(out, ".new");
const copies = [
  [join(here, "index.html"), "index.html"],
  [join(here, "samples"), "samples"],
  [join(root, "examples", "sessions", "shop.jsonl"), "samples/shop.jsonl"],
  [join(root, "examples", "sessions", "shop.meta.json"), "samples/shop.meta.json"],
  [join(root, "examples", "catalogs"), "samples/catalogs"],
  ...["agent", "routing"].map((name) => [join(packageDir, "dist", "wasm", `${name}_bg.wasm`), `${name}_bg.wasm`]),
];
for (const [from, to] of copies) await cp(from, join(made, to), { recursive: true });
await writeFile(join(made, "LICENSES.txt"), text);

// Only what this made is replaced, so that a wrong path destroys nothing.
await mkdir(out, { recursive: true });
for (const name of await readdir(made)) {
  await rm(join(out, name), { recursive: true, force: true });
  await cp(join(made, name), join(out, name), { recursive: true });
}
await rm(made, { recursive: true });
console.log(relative(process.cwd(), out) || ".");
