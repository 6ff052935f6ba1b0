// What Node, Deno and Bun read from files: few of them, as each costs a third of a millisecond when it is imported, with the
// modules that were compiled for speed beside them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { writeFolder } from "./files.mjs";
import { esbuild, npmModules, root, template } from "./tools.mjs";

/** What the package exports, as files of the facade. */
const ENTRIES = [
  "index",
  "context",
  "convert",
  "routing",
  "decisions",
  "slim",
  "mcp-server",
  "storage",
  "node",
  "cloudflare",
];
/** The entry that has parts of the page, which is bundled for releases alone. */
const REPORT = "report";

/** Returns the entries that a package has for Node. */
function entriesOf(variant) {
  // The others of a demo import modules that are not there.
  if (variant === "demo") return ENTRIES.slice(0, 1);
  return variant === "release" ? [...ENTRIES, REPORT] : ENTRIES;
}

/** Bundles the facade; returns the files of `dist/node`. `report` is the module that writes reports. */
export async function nodeBundle({ variant, target, modules, glue, wasm }, facade, report) {
  const source = join(target, "package", `node-${variant}`, "source");
  const scripts = new Map();
  const entries = [...ENTRIES, REPORT].map((name) => `${name}.js`);
  for (const [path, content] of facade) {
    if (!path.endsWith(".js")) continue;
    const text = withModules(Buffer.from(content).toString(), modules, ({ read_as }) => `./${read_as}.file.js`);
    // All entries reach the whole facade, so that it becomes one file.
    scripts.set(path, entries.includes(path) ? `import "./api.js";\n${text}` : text);
  }
  if (report !== undefined) scripts.set("report-page.js", report);
  const files = new Map();
  for (const { name, carried, on_disk } of modules) {
    // `slim` is given modules that are carried.
    if (carried) scripts.set(`wasm/${name}.js`, readFileSync(glue(carried, name)));
    if (!on_disk) continue;
    const isShared = on_disk === "release";
    scripts.set(`${name}_glue.js`, readFileSync(glue(on_disk, name)));
    scripts.set(`${name}.file.js`, loader("file", name).replaceAll("FOLDER", isShared ? "../wasm" : "."));
    if (!isShared) files.set(`${name}_bg.wasm`, readFileSync(wasm(on_disk, name)));
  }
  writeFolder(source, scripts);
  const out = join(source, "../bundle");
  const named = entriesOf(variant).map((name) => [name, join(source, `${name}.js`)]);
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { ...Object.fromEntries(named), cli: join(source, "cli/main.js") },
    outdir: out,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["@modelcontextprotocol/*"],
    chunkNames: "shared-[hash]",
    sourcemap: "linked",
    sourcesContent: false,
    // What adapters share imports the package by its name; the program has it in its own bundle.
    alias: { contextweaver: join(source, "index.js") },
    write: false,
  });
  for (const { path, text } of outputFiles) {
    // Maps name the files of the package that were bundled, which stand beside the folder.
    const isMap = path.endsWith(".map");
    files.set(
      path.slice(out.length + 1),
      isMap ? text.replaceAll('"../source/', '"../') : text.replaceAll("BUNDLED(", "require("),
    );
  }
  return new Map([...files, ...(await mcpSdk())]);
}

/** Returns an entry with the addresses of its modules. */
export function withModules(text, modules, address) {
  return modules.reduce((text, module) => text.replaceAll(`"#${module.name}"`, `"${address(module)}"`), text);
}

/** Returns the JavaScript that gets a module in one of the ways of `load`. */
export function loader(way, name) {
  return readFileSync(join(template, "load", `${way}.js`), "utf8").replaceAll("MODULE", name);
}

/**
 * What the program brings of others, as one file with the licences of what is in it: the official SDK of MCP, so that
 * `npx contextweaver gateway` works where nothing else is installed (applications import the SDK that they have), and what starts
 * programs on Windows.
 */
async function mcpSdk() {
  const sdk = "@modelcontextprotocol";
  const contents = `export * as server from "${sdk}/server";
export * as server_stdio from "${sdk}/server/stdio";
export * as client from "${sdk}/client";
export * as client_stdio from "${sdk}/client/stdio";
export { default as programs } from "cross-spawn";
`;
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents, resolveDir: npmModules },
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    legalComments: "none",
    // What is no module itself asks for Node's modules in the old way.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    nodePaths: [npmModules],
    metafile: true,
    write: false,
  });
  return [
    ["mcp-sdk.js", outputFiles[0].contents],
    ["mcp-sdk.licenses.txt", licences(Object.keys(metafile.inputs))],
  ];
}

/** Returns the licences of the packages that files belong to. */
function licences(files) {
  const packages = files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  const texts = [...new Set(packages.filter((name) => name !== undefined))].sort().map((name) => {
    const folder = join(npmModules, name);
    const { version = "?", license = "?" } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const names = readdirSync(folder).filter((file) => /^(licen|notice)/i.test(file));
    const parts = names.sort().map((file) => `${readFileSync(join(folder, file), "utf8")}\n`);
    return `${name} ${version} (${license})\n\n${parts.join("")}`;
  });
  return texts.join("");
}
