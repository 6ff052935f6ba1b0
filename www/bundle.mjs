// Makes the deployable folder, and the module of the package that writes reports: node bundle.mjs <folder of the built package>
// <folder to write> <module to write>. Run by `cargo xtask`.
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildOptions } from "./build-options.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const sessions = join(root, "examples", "sessions");
const [packageDir, out, report] = process.argv.slice(2);
if (!packageDir || !out || !report) throw new Error("usage: node bundle.mjs <package> <out> <file of the report>");

/** Modules of the package that the page may need; none of them before somebody does something. */
const MODULES = ["agent", "routing", "decisions", "gateway"];
const moduleFile = (name) => join(packageDir, "dist", "wasm", `${name}_bg.wasm`);
const bytes = Object.fromEntries(
  await Promise.all(MODULES.map(async (name) => [name, (await stat(moduleFile(name))).size])),
);

const common = buildOptions(packageDir);

/** The scripts and the style. */
const { metafile } = await build({
  ...common,
  entryPoints: { page: "main.tsx", worker: "worker/main.ts", style: "style.css" },
  outdir: join(out, ".new"),
  target: ["es2022", "chrome120", "firefox121", "safari17"],
  define: { MODULE_BYTES: JSON.stringify(bytes) },
  metafile: true,
});

/** The page as it is first seen, drawn by its own parts from answers of its own operations. */
async function drawn() {
  const file = join(out, ".new", "first.mjs");
  await build({ ...common, entryPoints: [join(here, "first.tsx")], outfile: file, platform: "node", target: "node20" });
  // What a browser has and drawing only looks at.
  Object.assign(globalThis, { location: { hash: "" }, addEventListener: () => undefined });
  const { first } = await import(pathToFileURL(file).href);
  const sample = await readFile(join(sessions, "shop.jsonl"));
  const copy = sample.buffer.slice(sample.byteOffset, sample.byteOffset + sample.byteLength);
  const made = await first(await readFile(moduleFile("agent")), copy);
  await rm(file);
  return made;
}

/** What is seen of a page that is opened with a file, until the file is read. */
const OPENED = `<main id="page"><p>Reading the file.</p></main>`;

/** Puts the style and the drawing into the document. */
async function document(markup) {
  const style = (await readFile(join(out, ".new", "style.css"), "utf8")).trim();
  const parts = { STYLE_HASH: sha256(style), STYLE: style, MARKUP: markup };
  const shell = await readFile(join(here, "index.html"), "utf8");
  return shell.replace(/%(STYLE_HASH|STYLE|MARKUP)%/g, (_, name) => parts[name]);
}

const sha256 = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/**
 * The report as a module of the package: what collects it, which is part of the package and shares its engine, and the page around
 * what was collected.
 */
async function reportModule() {
  const folder = join(out, ".new");
  const [collect, script] = [join(folder, "collect.mjs"), join(folder, "report-main.js")];
  const own = {
    name: "own",
    setup: (esbuild) =>
      esbuild.onResolve({ filter: /^contextweaver\/slim$/ }, () => ({ path: "./api.js", external: true })),
  };
  await build({
    ...common,
    minify: false,
    alias: {},
    plugins: [own],
    entryPoints: [join(here, "report", "collect.ts")],
    outfile: collect,
    platform: "neutral",
    target: "es2022",
  });
  await build({
    ...common,
    entryPoints: [join(here, "report", "main.tsx")],
    outfile: script,
    target: ["es2022", "chrome120", "firefox121", "safari17"],
  });
  const style = (await readFile(join(folder, "style.css"), "utf8")).trim();
  // Nothing in a script may end its element.
  const code = (await readFile(script, "utf8")).trim().replaceAll("</script", "<\\/script");
  const parts = {
    STYLE: style,
    STYLE_HASH: sha256(style),
    SCRIPT: code,
    SCRIPT_HASH: sha256(code),
    REPORT: "%REPORT%",
  };
  const shell = (await readFile(join(here, "report", "index.html"), "utf8")).replace(
    /%([A-Z_]+)%/g,
    (_, name) => parts[name],
  );
  const [above, below] = shell.split("%REPORT%");
  const text = `${await readFile(collect, "utf8")}\n/** What stands around the data of a report. */\nexport const ABOVE = ${JSON.stringify(above)};\nexport const BELOW = ${JSON.stringify(below)};\n`;
  for (const file of [collect, script]) await rm(file);
  return text;
}

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
  return [
    ...(await Promise.all(texts)),
    `contextweaver\n\n${await readFile(join(packageDir, "LICENSE"), "utf8")}`,
  ].join("\n\n---\n\n");
}

const text = await licences();
const made = join(out, ".new");
const copies = [
  [join(here, "samples"), "samples"],
  [join(sessions, "shop.jsonl"), "samples/shop.jsonl"],
  [join(sessions, "shop.meta.json"), "samples/shop.meta.json"],
  [join(root, "examples", "catalogs"), "samples/catalogs"],
  [join(root, "examples", "decisions", "lumen-shop.json"), "samples/decisions.json"],
  ...MODULES.map((name) => [moduleFile(name), `${name}_bg.wasm`]),
];
for (const [from, to] of copies) await cp(from, join(made, to), { recursive: true });
await writeFile(join(made, "LICENSES.txt"), text);
const { markup, record } = await drawn();
await writeFile(join(made, "index.html"), await document(markup));
await writeFile(
  join(made, "opened.html"),
  (await document(OPENED)).replace(/^ *<link rel="preload"[^>]*record\.json[^>]*>\n/m, ""),
);
await writeFile(join(made, "record.json"), JSON.stringify(record));
await writeFile(report, await reportModule());
await rm(join(made, "style.css"));

// Only what this made is replaced, so that a wrong path destroys nothing.
await mkdir(out, { recursive: true });
for (const name of await readdir(made)) {
  await rm(join(out, name), { recursive: true, force: true });
  await cp(join(made, name), join(out, name), { recursive: true });
}
await rm(made, { recursive: true });
console.log(relative(process.cwd(), out) || ".");
