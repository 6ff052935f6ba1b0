//! The npm package: what is in it, for every way to get the modules, and its tarball.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::modules::{Build, MODULES, Module, Variant, finished};
use crate::page;
use crate::release::Release;
use crate::run;
use crate::setup::wasm_target::locked_version;
use crate::stamp::{Inputs, files_below};

/// Ways to carry a module, each a file of `pkg-template/load` in which `MODULE` stands for the name. What is read from a file
/// has `file.js`, see `node`.
const LOADERS: [&str; 3] = ["inline", "workerd", "edge-light"];

/// What the package exports, as files of the facade.
const ENTRIES: [&str; 11] = [
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
    REPORT,
];

/// The entry that has parts of the page, which is bundled for releases alone.
const REPORT: &str = "report";

/// A finished package.
#[derive(Debug, Clone)]
pub struct Package {
    /// The folder npm would publish.
    pub dir: PathBuf,
    /// The same, packed.
    pub tarball: PathBuf,
}

/// The folder of a package.
fn package_dir(variant: Variant, dirs: &Dirs) -> PathBuf {
    match variant {
        Variant::Release => dirs.root.join("pkg"),
        Variant::Demo => dirs.target.join("pkg-demo"),
        Variant::Quick => dirs.target.join("pkg-quick"),
    }
}

/// The entries that a package has for Node.
fn entries(variant: Variant) -> &'static [&'static str] {
    match variant {
        Variant::Release => &ENTRIES,
        Variant::Quick => &ENTRIES[..ENTRIES.len() - 1],
        // The others import modules that are not there.
        Variant::Demo => &ENTRIES[..1],
    }
}

/// The text of a JavaScript module with a WebAssembly module: deflated, as base64 alone would cost a third of what the
/// network compresses.
fn inline(module: &[u8]) -> Outcome<String> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    let failed = || "cannot compress a module".to_owned();
    deflated.write_all(module).context(failed)?;
    let deflated = deflated.finish().context(failed)?;
    Ok(format!("export default \"{}\";\n", STANDARD.encode(deflated)))
}

/// Puts the package together and packs it.
pub fn assemble(dirs: &Dirs, variant: Variant, facade: &Path) -> Outcome<Package> {
    let mut files = BTreeMap::new();
    if let Some(build) = variant.carried() {
        carried(dirs, build, facade, &mut files)?;
    }
    for (build, module @ Module { name, .. }) in variant.modules().filter(|(build, _)| *build != Build::Fast) {
        files.insert(Path::new("dist/wasm").join(format!("{name}_bg.wasm")), read(&finished(dirs, build, module))?);
    }
    if variant == Variant::Release {
        with_page(dirs, &mut files)?;
    }
    let node = node(dirs, variant, facade)?;
    for file in files_below(&node)? {
        let relative = file.strip_prefix(&node).unwrap_or(&file);
        files.insert(Path::new("dist/node").join(relative), read(&file)?);
    }
    files.insert("package.json".into(), manifest(dirs)?);
    for name in ["CHANGELOG.md", "SECURITY.md", "LICENSE", "NOTICE", "llms.txt", "skills/contextweaver/SKILL.md"] {
        files.insert(name.into(), read(&dirs.root.join(name))?);
    }
    // Where the page of a registry shows it, the other files are not beside it.
    let readme = String::from_utf8_lossy(&read(&dirs.root.join("README.md"))?).into_owned();
    let readme = Release::read(dirs)?.absolute(&readme, &locked_version(dirs, "contextweaver")?);
    files.insert("README.md".into(), readme.into_bytes());
    let docs = dirs.root.join("docs");
    for file in
        files_below(&docs)?.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "md"))
    {
        let relative = file.strip_prefix(&docs).unwrap_or(&file);
        files.insert(Path::new("docs").join(relative), read(&file)?);
    }
    // Other pictures are for the repository: a megabyte that nobody who installs the package looks at.
    for picture in pictures(&files) {
        files.insert(picture.clone(), read(&dirs.root.join(picture))?);
    }
    // The recorded session that `contextweaver demo` runs on.
    for name in ["shop.jsonl", "shop.meta.json"] {
        files.insert(Path::new("demo").join(name), read(&dirs.root.join("examples/sessions").join(name))?);
    }
    // The tool lists that it chooses from, with the licence of some.
    let examples = dirs.root.join("examples");
    for file in files_below(&examples.join("catalogs"))? {
        let relative = file.strip_prefix(&examples).unwrap_or(&file);
        files.insert(Path::new("demo").join(relative), read(&file)?);
    }
    let template = dirs.template();
    for file in files_below(&template.join("bin"))? {
        let relative = file.strip_prefix(&template).unwrap_or(&file);
        files.insert(relative.to_path_buf(), read(&file)?);
    }
    let dir = package_dir(variant, dirs);
    write_exactly(&dir, &files)?;
    pack(dirs, variant, dir)
}

/// The pictures that the documents of a package show.
fn pictures(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.extension().is_some_and(|extension| extension == "md")) {
        let text = String::from_utf8_lossy(bytes);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let shown = targets
            .map(Path::new)
            .filter(|target| target.extension().is_some_and(|extension| extension == "svg" || extension == "jpg"));
        found.extend(shown.map(|target| path.with_file_name(target)));
    }
    found
}

/// Adds the page that `contextweaver inspect` shows, but for what the package has already: `cli/page-files.ts` knows where.
fn with_page(dirs: &Dirs, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Outcome<()> {
    let mut needed = files.clone();
    needed.insert("LICENSE".into(), read(&dirs.root.join("LICENSE"))?);
    write_exactly(&page::source(dirs), &needed)?;
    let site = page::bundle(dirs)?;
    for file in files_below(&site)? {
        let relative = file.strip_prefix(&site).unwrap_or(&file);
        let is_module = relative.extension().is_some_and(|extension| extension == "wasm");
        let is_demo =
            relative.strip_prefix("samples").is_ok_and(|name| files.contains_key(&Path::new("demo").join(name)));
        // `inspect` has a page of its own, without the drawing of the sample.
        let is_first = relative == Path::new("index.html") || relative == Path::new("record.json");
        if !is_module && !is_demo && !is_first {
            files.insert(Path::new("page").join(relative), read(&file)?);
        }
    }
    files.insert("dist/report-page.js".into(), read(&page::report(dirs))?);
    files.insert("dist/report-page.d.ts".into(), read(&dirs.template().join("src/report-page.d.ts"))?);
    Ok(())
}

/// Adds the files that carry their WebAssembly modules along, for bundlers, browsers, Workers and edge functions: one
/// for each file of the facade.
fn carried(dirs: &Dirs, build: Build, facade: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Outcome<()> {
    for file in files_below(facade)? {
        let relative = file.strip_prefix(facade).unwrap_or(&file);
        // The program is for Node, and so is what it alone has.
        if relative.starts_with("cli") || relative.starts_with("audit") {
            continue;
        }
        let bytes = read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        if !is_entry(relative, &text) {
            files.insert(Path::new("dist").join(relative), bytes);
            continue;
        }
        // Once for every way to get the modules. Browsers without a bundler need relative addresses.
        for loader in LOADERS {
            let name = if loader == "inline" {
                relative.to_path_buf()
            } else {
                relative.with_extension(format!("{loader}.js"))
            };
            let entry = with_modules(&text, |Module { name, .. }| format!("./wasm/{name}.{loader}.js"));
            files.insert(Path::new("dist").join(name), entry.into_bytes());
        }
    }
    let wasm = Path::new("dist/wasm");
    for module @ Module { name, .. } in &MODULES {
        let bytes = read(&finished(dirs, build, module))?;
        files.insert(wasm.join(format!("{name}_inline.js")), inline(&bytes)?.into_bytes());
        files.insert(wasm.join(format!("{name}.js")), read(&build.dir(dirs).join(format!("{name}.js")))?);
        for loader in LOADERS {
            files.insert(wasm.join(format!("{name}.{loader}.js")), load(dirs, loader, module)?.into_bytes());
        }
    }
    Ok(())
}

/// Whether a file of the facade is an entry that names modules.
fn is_entry(file: &Path, text: &str) -> bool {
    file.extension().is_some_and(|extension| extension == "js") && text.contains("from \"#")
}

/// An entry with the addresses of its modules.
fn with_modules(text: &str, address: impl Fn(&Module) -> String) -> String {
    MODULES.iter().fold(text.to_owned(), |text, module| {
        text.replace(&format!("\"#{}\"", module.name), &format!("\"{}\"", address(module)))
    })
}

/// The JavaScript that gets a module in one of the ways.
fn load(dirs: &Dirs, loader: &str, module: &Module) -> Outcome<String> {
    let bytes = read(&dirs.template().join(format!("load/{loader}.js")))?;
    Ok(String::from_utf8_lossy(&bytes).replace("MODULE", module.name))
}

/// What is read from files, by Node, Deno and Bun: few files, as each costs a third of a millisecond when it is imported,
/// with the modules that were compiled for speed beside them. Returns the folder.
fn node(dirs: &Dirs, variant: Variant, facade: &Path) -> Outcome<PathBuf> {
    let work = dirs.target.join("package").join(format!("node-{}", variant.name()));
    let (source, out) = (work.join("source"), work.join("bundle"));
    let mut files = BTreeMap::new();
    for file in files_below(facade)? {
        let relative = file.strip_prefix(facade).unwrap_or(&file);
        if relative.extension().is_none_or(|extension| extension != "js") {
            continue;
        }
        let bytes = read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut text = with_modules(&text, |module| format!("./{}.file.js", module.read_as()));
        if ENTRIES.iter().any(|name| Path::new(&format!("{name}.js")) == relative) {
            // All entries reach the whole facade, so that it becomes one file.
            text.insert_str(0, "import \"./api.js\";\n");
        }
        let bytes = text.into_bytes();
        files.insert(relative.to_path_buf(), bytes);
    }
    if variant == Variant::Release {
        files.insert("report-page.js".into(), read(&page::report(dirs))?);
    }
    let mut wasm = BTreeMap::new();
    for module @ Module { name, .. } in &MODULES {
        let Some(build) = variant.on_disk(module) else { continue };
        let glue = format!("{name}_glue.js");
        files.insert(glue.into(), read(&build.dir(dirs).join(format!("{name}.js")))?);
        let folder = if build == Build::Small { "../wasm" } else { "." };
        let file = load(dirs, "file", module)?.replace("FOLDER", folder);
        files.insert(format!("{name}.file.js").into(), file.into_bytes());
        if build != Build::Small {
            wasm.insert(PathBuf::from(format!("{name}_bg.wasm")), read(&finished(dirs, build, module))?);
        }
    }
    if let Some(carried) = variant.carried() {
        // `slim` is given modules that are carried.
        for Module { name, .. } in &MODULES {
            let glue = read(&carried.dir(dirs).join(format!("{name}.js")))?;
            files.insert(Path::new("wasm").join(format!("{name}.js")), glue);
        }
    }
    write_exactly(&source, &files)?;
    if out.exists() {
        // Names of shared files change with what is in them.
        fs::remove_dir_all(&out).context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.args(["--bundle", "--splitting", "--format=esm", "--platform=node", "--target=node20"]);
    command.args(["--external:@modelcontextprotocol/*", "--log-level=warning", "--chunk-names=shared-[hash]"]);
    command.args(["--sourcemap=linked", "--sources-content=false"]);
    // What adapters share imports the package by its name; the program has it in its own bundle.
    command.arg(format!("--alias:contextweaver={}", source.join("index.js").display()));
    command.arg(format!("--outdir={}", out.display()));
    command.args(entries(variant).iter().map(|name| format!("{name}={}", source.join(format!("{name}.js")).display())));
    command.arg(format!("cli={}", source.join("cli/main.js").display()));
    run::step(dirs, "esbuild for Node", &format!("esbuild-node-{}", variant.name()), &mut command)?;
    maps_of_package(&out)?;
    wasm.extend(mcp_sdk(dirs, &work)?);
    for (name, bytes) in wasm {
        let file = out.join(name);
        fs::write(&file, bytes).context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(out)
}

/// Has the source maps name the files of the package that were bundled, which stand beside the folder.
fn maps_of_package(out: &Path) -> Outcome<()> {
    for file in
        files_below(out)?.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "map"))
    {
        let text = String::from_utf8_lossy(&read(&file)?).replace("\"../source/", "\"../");
        fs::write(&file, text).context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// The official SDK of MCP for the program, as one file with the licences of what is in it: `npx contextweaver gateway` works
/// where nothing else is installed. Applications import the SDK that they have.
fn mcp_sdk(dirs: &Dirs, work: &Path) -> Outcome<BTreeMap<PathBuf, Vec<u8>>> {
    const EXPORTS: [(&str, &str); 4] = [
        ("server", "@modelcontextprotocol/server"),
        ("server_stdio", "@modelcontextprotocol/server/stdio"),
        ("client", "@modelcontextprotocol/client"),
        ("client_stdio", "@modelcontextprotocol/client/stdio"),
    ];
    // What is no module itself asks for Node's modules in the old way.
    const REQUIRE: &str = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";
    let entry = EXPORTS.map(|(name, from)| format!("export * as {name} from \"{from}\";\n")).concat();
    let (source, out) = (work.join("mcp-sdk.entry.js"), work.join("mcp-sdk.js"));
    let metadata = work.join("mcp-sdk.json");
    fs::write(&source, entry).context(|| format!("cannot write {}", source.display()))?;
    let modules = dirs.package_tests().join("node_modules");
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.arg(&source).args(["--bundle", "--format=esm", "--platform=node", "--target=node20", "--minify"]);
    command.args(["--legal-comments=none", "--log-level=warning"]).arg(format!("--banner:js={REQUIRE}"));
    command.arg(format!("--outfile={}", out.display())).arg(format!("--metafile={}", metadata.display()));
    command.env("NODE_PATH", &modules);
    run::step(dirs, "esbuild of the SDK of MCP", "esbuild-mcp-sdk", &mut command)?;
    let metadata: Value = serde_json::from_slice(&read(&metadata)?).context(|| "esbuild wrote no JSON".to_owned())?;
    let licences = licences(&modules, metadata["inputs"].as_object().into_iter().flatten().map(|(file, _)| file))?;
    Ok(BTreeMap::from([("mcp-sdk.js".into(), read(&out)?), ("mcp-sdk.licenses.txt".into(), licences)]))
}

/// The licences of the packages that files belong to.
fn licences<'a>(modules: &Path, files: impl Iterator<Item = &'a String>) -> Outcome<Vec<u8>> {
    let packages: BTreeSet<String> = files
        .filter_map(|file| file.rsplit_once("node_modules/"))
        .map(|(_, file)| {
            file.splitn(3, '/').take(if file.starts_with('@') { 2 } else { 1 }).collect::<Vec<_>>().join("/")
        })
        .collect();
    let mut text = String::new();
    for package in packages {
        let folder = modules.join(&package);
        let about: Value = serde_json::from_slice(&read(&folder.join("package.json"))?)
            .context(|| format!("the package.json of {package} is not JSON"))?;
        let mut names = files_below(&folder)?;
        names.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            file.parent() == Some(&folder) && (name.starts_with("licen") || name.starts_with("notice"))
        });
        let (version, licence) = (about["version"].as_str().unwrap_or("?"), about["license"].as_str().unwrap_or("?"));
        text.extend([package.as_str(), " ", version, " (", licence, ")\n\n"]);
        for file in names {
            text.push_str(&String::from_utf8_lossy(&read(&file)?));
            text.push('\n');
        }
    }
    Ok(text.into_bytes())
}

/// package.json with the crate's version and with what `release.toml` says: each is stated in one place only.
fn manifest(dirs: &Dirs) -> Outcome<Vec<u8>> {
    let file = dirs.template().join("package.json");
    let mut value: Value =
        serde_json::from_slice(&read(&file)?).context(|| format!("{} is not JSON", file.display()))?;
    value["version"] = json!(locked_version(dirs, "contextweaver")?);
    Release::read(dirs)?.fill(&mut value);
    let text = serde_json::to_string_pretty(&value).context(|| format!("cannot write {}", file.display()))?;
    Ok(format!("{text}\n").into_bytes())
}

/// Makes `dir` hold these files and no others; a file that is right already is left alone.
fn write_exactly(dir: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Outcome<()> {
    for file in files_below(dir)? {
        if !files.contains_key(file.strip_prefix(dir).unwrap_or(&file)) {
            fs::remove_file(&file).context(|| format!("cannot remove {}", file.display()))?;
        }
    }
    for (relative, bytes) in files {
        let file = dir.join(relative);
        if fs::read(&file).is_ok_and(|current| current == *bytes) {
            continue;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&file, bytes).context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn pack(dirs: &Dirs, variant: Variant, dir: PathBuf) -> Outcome<Package> {
    let out = dirs.tarballs().join(variant.name());
    let version = locked_version(dirs, "contextweaver")?;
    let tarball = out.join(format!("contextweaver-{version}.tgz"));
    let stamp = Inputs::default().path(&dir)?.stamp(dirs.tarballs().join(format!("{}.stamp", variant.name())));
    if stamp.is_current() && tarball.exists() {
        return Ok(Package { dir, tarball });
    }
    fs::create_dir_all(&out).context(|| format!("cannot create {}", out.display()))?;
    run::step(
        dirs,
        &format!("npm pack, {}", variant.name()),
        &format!("npm-pack-{}", variant.name()),
        Command::new("npm").args(["pack", "--ignore-scripts", "--pack-destination"]).arg(&out).current_dir(&dir),
    )?;
    if !tarball.exists() {
        return Err(Failure::new(format!("npm pack did not write {}", tarball.display())));
    }
    stamp.record()?;
    Ok(Package { dir, tarball })
}

fn read(file: &Path) -> Outcome<Vec<u8>> {
    fs::read(file).context(|| format!("cannot read {}", file.display()))
}
