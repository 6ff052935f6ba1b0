// Puts the npm package together and packs it, around modules that are compiled: node pkg-template/build/main.mjs <settings as JSON>
//
// Run by `cargo xtask`, whose `package.rs` has the settings:
//   variant    "release", "quick" or "demo"
//   version    of the package
//   target     folder of what is generated
//   package    folder to write the package into
//   tarballs   folder to pack it into
//   modules    [{ name, read_as, carried, on_disk }]: the module that answers for it where modules are read from files; the builds
//              in which it is carried along and read from a file, null where it is not
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkedFacade, uncheckedFacade } from "./facade.mjs";
import { filesBelow, writeFolder } from "./files.mjs";
import { loader, nodeBundle, withModules } from "./node-bundle.mjs";
import { filled, readSettings, withAbsoluteLinks } from "./release-settings.mjs";
import { root, run, template } from "./tools.mjs";

const settings = JSON.parse(process.argv[2]);
const { variant, version, target, modules } = settings;

/** Ways to carry a module, each a file of `load` in which `MODULE` stands for the name. What is read from a file has `file.js`. */
const LOADERS = ["inline", "workerd", "edge-light"];

/** The module that writes reports: it has parts of the page. */
const REPORT_PAGE = "dist/report-page.js";

const built = (build, file) => join(target, "glue", build, "wasm", file);
const glue = (build, name) => built(build, `${name}.js`);
/** The finished module. Passes over what was compiled for speed gain no time (within 3 % in paired runs). */
const wasm = (build, name) => built(build, `${name}_${build === "release" ? "opt" : "bg"}.wasm`);

const isMarkdown = (path) => path.endsWith(".md");
const read = (path) => readFileSync(join(root, path));

/**
 * The files that carry their WebAssembly modules along, for bundlers, browsers, Workers and edge functions: one for each file of
 * the facade, but for the program, which is for Node, and what it alone has.
 */
function* carriedFiles(facade) {
  for (const [path, content] of facade) {
    if (/^(cli|audit)\//.test(path)) continue;
    const text = Buffer.from(content).toString();
    const isEntry = path.endsWith(".js") && text.includes('from "#');
    if (!isEntry) yield [`dist/${path}`, content];
    // Once for every way to get the modules. Browsers without a bundler need relative addresses.
    for (const way of isEntry ? LOADERS : []) {
      const name = way === "inline" ? path : path.replace(/\.js$/, `.${way}.js`);
      yield [`dist/${name}`, withModules(text, modules, (module) => `./wasm/${module.name}.${way}.js`)];
    }
  }
  for (const { name, carried } of modules) {
    yield [`dist/wasm/${name}_inline.js`, readFileSync(built(carried, `${name}_inline.js`))];
    yield [`dist/wasm/${name}.js`, readFileSync(glue(carried, name))];
    for (const way of LOADERS) yield [`dist/wasm/${name}.${way}.js`, loader(way, name)];
  }
}

/** Files by which tools that copy what a program needs find the files of Node, by their names in the manifest. */
function* tracedFiles() {
  const script = read("pkg-template/load/traced.js").toString();
  for (const { node } of Object.values(JSON.parse(read("pkg-template/package.json")).exports)) {
    if (node) yield [node.slice("./".length), script.replaceAll("ENTRY", basename(node, ".js"))];
  }
}

/** The files of the package that no build makes. */
function* standingFiles() {
  const release = readSettings();
  const manifest = filled(JSON.parse(read("pkg-template/package.json")), release, version);
  yield ["package.json", `${JSON.stringify(manifest, null, 2)}\n`];
  for (const name of ["CHANGELOG.md", "SECURITY.md", "LICENSE", "NOTICE", "llms.txt", "skills/contextweaver/SKILL.md"])
    yield [name, read(name)];
  // Where the page of a registry shows it, the other files are not beside it.
  yield ["README.md", withAbsoluteLinks(read("README.md").toString(), release, version)];
  for (const [path, content] of filesBelow(join(root, "docs"), "docs")) if (isMarkdown(path)) yield [path, content];
  // The recorded session that `contextweaver demo` runs on, and the tool lists that it chooses from, with the licence of some.
  for (const name of ["shop.jsonl", "shop.meta.json"]) yield [`demo/${name}`, read(`examples/sessions/${name}`)];
  yield* filesBelow(join(root, "examples/catalogs"), "demo/catalogs");
  yield* filesBelow(join(template, "bin"), "bin");
}

/** The pictures that the documents show. Others are for the repository: a megabyte that nobody who installs the package looks at. */
function* pictures(files) {
  for (const [path, content] of [...files].filter(([path]) => isMarkdown(path))) {
    for (const [, target] of Buffer.from(content)
      .toString()
      .matchAll(/\]\(([^):]+\.(?:svg|jpg))\)/g)) {
      const picture = join(dirname(path), target);
      yield [picture, read(picture)];
    }
  }
}

/** Bundles the page; returns the part of it that `contextweaver inspect` shows: `cli/page-files.ts` knows where the rest is. */
function* pageFiles(files) {
  const [source, site, report] = ["package/page-source", "site", "report-page.js"].map((path) => join(target, path));
  writeFolder(source, new Map([...files, ["LICENSE", read("LICENSE")]]));
  // A file that is no longer part of the page must not be deployed with it.
  rmSync(site, { recursive: true, force: true });
  run(process.execPath, [join(root, "www/bundle.mjs"), source, site, report]);
  const standing = new Map(standingFiles());
  for (const [path, content] of filesBelow(site)) {
    const isElsewhere = path.endsWith(".wasm") || standing.has(path.replace(/^samples\//, "demo/"));
    // `inspect` has a page of its own, without the drawing of the sample.
    const isFirst = path === "index.html" || path === "record.json";
    if (!isElsewhere && !isFirst) yield [`page/${path}`, content];
  }
  yield [REPORT_PAGE, readFileSync(report)];
  yield ["dist/report-page.d.ts", readFileSync(join(template, "src/report-page.d.ts"))];
}

const files = new Map();
const add = (more, folder = "") => {
  for (const [path, content] of more) files.set(`${folder}${path}`, content);
};
const carries = modules[0].carried;
const facade = variant === "release" ? await checkedFacade(target, built(carries, "")) : await uncheckedFacade();
if (carries) add(carriedFiles(facade));
for (const { name, carried, on_disk } of modules) {
  const build = carried ?? on_disk;
  if (carried || on_disk === "release") files.set(`dist/wasm/${name}_bg.wasm`, readFileSync(wasm(build, name)));
}
if (variant === "release") add(pageFiles(files));
add(await nodeBundle({ variant, target, modules, glue, wasm }, facade, files.get(REPORT_PAGE)), "dist/node/");
add(tracedFiles());
add(standingFiles());
add(pictures(files));
writeFolder(settings.package, files);
mkdirSync(settings.tarballs, { recursive: true });
run("npm", ["pack", "--ignore-scripts", "--pack-destination", settings.tarballs], settings.package);
