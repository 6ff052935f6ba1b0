//! `cargo xtask build`: the crate to WebAssembly, the facade to JavaScript, both to one npm package.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

use super::www;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::no_arguments;
use crate::run::{self, say};
use crate::setup::wasm_bindgen::WasmBindgen;
use crate::setup::wasm_target::{self, WasmToolchain, locked_version};
use crate::setup::{npm, wasm_bindgen};
use crate::size::{self, Size};
use crate::stamp::{Inputs, files_below};

/// A WebAssembly module of the package: the crate with some of its exports, and whatever these reach.
struct Module {
    /// Name of the module and of the JavaScript around it.
    name: &'static str,
    /// Cargo features with its exports, separated by commas.
    features: &'static str,
    limit_kib: usize,
    /// The module that answers for this one where it is read from a file, and so weighs nothing on the way. That of the whole
    /// knows messages, which `/context` says it does not, so it does not answer for that one.
    on_disk: &'static str,
}

/// The modules, cut by what users import together. An application loads those whose exports it uses.
const MODULES: [Module; 5] = [
    Module { name: "agent", features: "context-exports,convert-exports,compat", limit_kib: 550, on_disk: "agent" },
    Module { name: "context", features: "context-exports,compat", limit_kib: 380, on_disk: "context" },
    Module { name: "convert", features: "convert-exports,compat", limit_kib: 300, on_disk: "agent" },
    Module { name: "routing", features: "routing-exports,compat", limit_kib: 315, on_disk: "routing" },
    Module { name: "decisions", features: "decisions-exports", limit_kib: 300, on_disk: "decisions" },
];

/// The modules that the package's own entry imports; without one of them it does not load.
const ENTRY_MODULES: [&str; 3] = ["agent", "routing", "decisions"];

/// Ways to carry a module, each a file of `pkg-template/load` in which `MODULE` stands for the name. What is read from a file
/// has `file.js`, see `node`.
const LOADERS: [&str; 3] = ["inline", "workerd", "edge-light"];

/// What the package exports, as files of the facade.
const ENTRIES: [&str; 7] = ["index", "context", "convert", "routing", "decisions", "slim", "mcp-server"];

const GLUE_LIMIT_KIB: usize = 15;

const BINDGEN_FLAGS: &[&str] = &[
    "--target",
    "web",
    // Keeps `new URL("agent_bg.wasm", import.meta.url)` out of the glue: bundlers would emit a second copy.
    "--omit-default-module-path",
    // The way back after a trap.
    "--experimental-reset-state-function",
];

/// After the passes, what rustc enables for this target by default; wasm-opt must know to accept the module.
const OPT_FLAGS: &[&str] = &[
    "-O3",
    // The compiler, asked for size, left functions apart that gzip then finds alike. Inlining those with one caller costs
    // a tenth of the compressed size and gains no time; so does keeping common subexpressions in locals.
    "--one-caller-inline-max-function-size=10",
    "--skip-pass=local-cse",
    // Instances of one generic function stand together, within reach of gzip.
    "--reorder-functions-by-name",
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    "--strip-debug",
    "--strip-producers",
];

/// Returns the features that each module is compiled with.
pub fn features() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.features)
}

/// For what the crate is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// Few bytes: what travels over a network.
    Small,
    /// Speed: what is read from a file. It takes half as long again, at one and a half times the size.
    Fast,
    /// The shortest compilation, with exports that trap.
    Trap,
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Self::Small => "release",
            Self::Fast => "fast",
            Self::Trap => "trap",
        }
    }

    /// Where its glue is, by the name that it has in the package, so that the sources of the facade import it by that name.
    fn dir(self, dirs: &Dirs) -> PathBuf {
        dirs.target.join("glue").join(self.name()).join("wasm")
    }

    /// Its modules.
    fn modules(self) -> impl Iterator<Item = &'static Module> {
        MODULES.iter().filter(move |module| match self {
            Self::Small | Self::Trap => true,
            Self::Fast => module.on_disk == module.name,
        })
    }

    /// Label of a step.
    fn label(self, what: &str) -> String {
        match self {
            Self::Small => what.to_owned(),
            Self::Fast | Self::Trap => format!("{what}, {}", self.name()),
        }
    }
}

/// Which package is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// What users get.
    Release,
    /// What of it runs in Node, in a third of the time; `cargo xtask build` goes on with it.
    Demo,
    /// With exports that panic, overflow the stack and exhaust memory, and the soonest ready. Only for tests.
    Trap,
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Demo => "demo",
            Self::Trap => "trap",
        }
    }

    fn package_dir(self, dirs: &Dirs) -> PathBuf {
        match self {
            Self::Release => dirs.root.join("pkg"),
            Self::Demo => dirs.target.join("pkg-demo"),
            Self::Trap => dirs.target.join("pkg-trap"),
        }
    }

    /// The build of the modules that are carried.
    fn carried(self) -> Option<Build> {
        match self {
            Self::Release => Some(Build::Small),
            Self::Demo => None,
            Self::Trap => Some(Build::Trap),
        }
    }

    /// The build of the modules that are read from files.
    fn on_disk(self) -> Build {
        if self == Self::Trap { Build::Trap } else { Build::Fast }
    }

    /// Its builds with their modules.
    fn modules(self) -> impl Iterator<Item = (Build, &'static Module)> {
        [self.carried(), (self != Self::Trap).then_some(Build::Fast)]
            .into_iter()
            .flatten()
            .flat_map(|build| build.modules().map(move |module| (build, module)))
            .filter(move |(_, module)| self != Self::Demo || ENTRY_MODULES.contains(&module.name))
    }

    /// The entries that it has for Node.
    fn entries(self) -> &'static [&'static str] {
        // The others import modules that are not there.
        if self == Self::Demo { &ENTRIES[..1] } else { &ENTRIES }
    }
}

/// A finished package.
#[derive(Debug, Clone)]
pub struct Package {
    /// The folder npm would publish.
    pub dir: PathBuf,
    /// The same, packed.
    pub tarball: PathBuf,
}

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let with_page = args.first().is_some_and(|arg| arg == "--www");
    no_arguments("build", &args[usize::from(with_page)..])?;
    let dirs = Dirs::find()?;
    let package = build_and_measure(&dirs)?;
    say(&format!("built {}", package.dir.display()));
    if with_page {
        let page = www::bundle(&dirs, &package.dir)?;
        say(&format!("built {}: put it on any static host", page.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the package.
pub fn build(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules(dirs, Variant::Release)?;
    package(dirs, Variant::Release, &facade(dirs)?)
}

/// Builds what of the package the program `contextweaver demo` loads.
pub fn build_demo(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules(dirs, Variant::Demo)?;
    package(dirs, Variant::Demo, &unchecked_facade(dirs)?)
}

/// Builds the package, prints its sizes and fails when one is over its limit.
pub fn build_and_measure(dirs: &Dirs) -> Outcome<Package> {
    let package = build(dirs)?;
    let dist = package.dir.join("dist");
    let mut sizes = Vec::new();
    for Module { name, limit_kib, .. } in &MODULES {
        for (file, limit) in [
            (format!("{name}_bg.wasm"), Some(*limit_kib)),
            (format!("{name}.js"), Some(GLUE_LIMIT_KIB)),
            (format!("{name}_inline.js"), None),
        ] {
            sizes.push(Size::of(&file, &dist.join("wasm").join(&file), limit)?);
        }
    }
    for Module { name, .. } in Build::Fast.modules() {
        let file = format!("{name}_bg.wasm");
        sizes.push(Size::of(&format!("node/{file}"), &dist.join("node").join(&file), None)?);
    }
    sizes.push(Size::of_archive("tarball", &package.tarball)?);
    size::report(&sizes)?;
    Ok(package)
}

/// Builds the package with the exports that trap in every module: each has its own way back.
pub fn build_trap(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules(dirs, Variant::Trap)?;
    package(dirs, Variant::Trap, &unchecked_facade(dirs)?)
}

/// Compiles the modules of a package, generates their glue and optimises them.
fn modules(dirs: &Dirs, variant: Variant) -> Outcome<()> {
    let toolchain = wasm_target::ensure(dirs)?;
    thread::scope(|scope| {
        // On a fresh machine installing takes longer than compiling, so both begin at once. Optimising is slow and uses one
        // core, so it runs beside the compiler's next module.
        let (compiled, finished) = mpsc::channel();
        let finishing = scope.spawn(move || {
            npm::tools(dirs)?;
            let tools = wasm_bindgen::ensure(dirs)?;
            for (build, module) in finished {
                bind(dirs, build, &tools, module)?;
                optimise(dirs, build, module)?;
            }
            Ok(())
        });
        for (build, module) in variant.modules() {
            compile(dirs, build, &toolchain, module)?;
            if compiled.send((build, module)).is_err() {
                // The other thread has failed and says why.
                break;
            }
        }
        drop(compiled);
        finishing.join().unwrap_or_else(|_| Err(Failure::new("the thread that finishes modules panicked")))
    })
}

/// Where a module is kept as the compiler left it.
fn compiled(glue: &Path, module: &Module) -> PathBuf {
    glue.join(format!("{}_compiled.wasm", module.name))
}

/// Compiles the crate with the exports of a module. Dependencies are compiled once, because our features are not theirs.
/// Of the crate itself cargo keeps one module whatever its features, so it is not asked when nothing changed.
fn compile(dirs: &Dirs, build: Build, toolchain: &WasmToolchain, module: &Module) -> Outcome<()> {
    let name = module.name;
    let glue = build.dir(dirs);
    fs::create_dir_all(&glue).context(|| format!("cannot create {}", glue.display()))?;
    let mut command = toolchain.cargo(dirs, "build");
    command.args(["--profile", build.name(), "--package", "contextweaver", "--lib", "--no-default-features"]);
    command.args(["--features", module.features]);
    if build == Build::Trap {
        command.args(["--features", "trap-exports"]);
    }
    let mut inputs = Inputs::default().text(toolchain.release()).text(module.features);
    for input in ["src", "crates", "Cargo.toml", "Cargo.lock", ".cargo"] {
        inputs = inputs.path(&dirs.root.join(input))?;
    }
    let stamp = inputs.stamp(glue.join(format!("{name}_compiled.stamp")));
    if stamp.is_current() {
        return Ok(());
    }
    let label = build.label(&format!("cargo build of {name}_bg.wasm"));
    run::step(dirs, &label, &format!("cargo-wasm-{name}-{}", build.name()), &mut command)?;
    let output = WasmToolchain::module(dirs, build.name());
    fs::copy(&output, compiled(&glue, module)).context(|| format!("cannot copy {}", output.display()))?;
    stamp.record()
}

fn bind(dirs: &Dirs, build: Build, tools: &WasmBindgen, module: &Module) -> Outcome<()> {
    let name = module.name;
    let glue = build.dir(dirs);
    let compiled = compiled(&glue, module);
    let stamp = Inputs::default()
        .text(&tools.version)
        .text(BINDGEN_FLAGS.join(" "))
        .path(&compiled)?
        .stamp(glue.join(format!("{name}_bindgen.stamp")));
    if stamp.is_current() {
        return Ok(());
    }
    let label = build.label(&format!("wasm-bindgen {} of {name}_bg.wasm", tools.version));
    let mut command = Command::new(&tools.bindgen);
    command.args(BINDGEN_FLAGS).args(["--out-name", name]).arg("--out-dir").arg(&glue).arg(&compiled);
    if build == Build::Fast {
        // What wasm-opt takes out of the others.
        command.args(["--remove-name-section", "--remove-producers-section"]);
    }
    run::step(dirs, &label, &format!("bindgen-{name}-{}", build.name()), &mut command)?;
    // Types of the raw instance, which nobody may use.
    let raw_types = glue.join(format!("{name}_bg.wasm.d.ts"));
    fs::remove_file(&raw_types).context(|| format!("cannot remove {}", raw_types.display()))?;
    stamp.record()
}

/// The module as it is in the package.
fn finished(dirs: &Dirs, build: Build, module: &Module) -> PathBuf {
    // Passes over what was compiled for speed gain no time (within 3 % in paired runs) and take longer than compiling.
    let suffix = if build == Build::Small { "opt" } else { "bg" };
    build.dir(dirs).join(format!("{}_{suffix}.wasm", module.name))
}

fn optimise(dirs: &Dirs, build: Build, module: &Module) -> Outcome<()> {
    let name = module.name;
    if build != Build::Small {
        return Ok(());
    }
    let glue = build.dir(dirs);
    let bound = glue.join(format!("{name}_bg.wasm"));
    let stamp = Inputs::default()
        .text(OPT_FLAGS.join(" "))
        .path(&dirs.package_tests().join("package-lock.json"))?
        .path(&bound)?
        .stamp(glue.join(format!("{name}_opt.stamp")));
    if stamp.is_current() {
        return Ok(());
    }
    run::step(
        dirs,
        &format!("wasm-opt -O3 of {name}_bg.wasm"),
        &format!("wasm-opt-{name}"),
        Command::new(dirs.npm_bin("wasm-opt")).args(OPT_FLAGS).arg("-o").arg(finished(dirs, build, module)).arg(&bound),
    )?;
    stamp.record()
}

/// Compiles the facade against the generated types; returns the folder with its JavaScript and declarations.
fn facade(dirs: &Dirs) -> Outcome<PathBuf> {
    let glue = Build::Small.dir(dirs);
    let out = dirs.target.join("facade");
    let template = dirs.template();
    let inputs = Inputs::default()
        .path(&template.join("src"))?
        .path(&template.join("tsconfig.json"))?
        .path(&dirs.package_tests().join("package-lock.json"))?;
    // What the generated declarations say follows from the sources of the exports.
    let stamp = inputs.path(&dirs.root.join("src/wasm"))?.stamp(dirs.target.join("facade.stamp"));
    if stamp.is_current() && out.exists() {
        return Ok(out);
    }
    if out.exists() {
        // A source file that was removed must not live on.
        fs::remove_dir_all(&out).context(|| format!("cannot remove {}", out.display()))?;
    }
    // Settings with paths of this build; the committed file names the default ones, for editors.
    let sources = template.join("src");
    let settings = json!({
        "extends": template.join("tsconfig.json"),
        "compilerOptions": { "rootDir": &sources, "rootDirs": [&sources, glue.parent().unwrap_or(&glue)],
            "outDir": &out,
            // Carried inside `unpack.js`, see `unpacker`.
            "paths": { "fflate": [dirs.package_tests().join("node_modules/fflate/lib/index.d.ts")] },
        },
        "include": [&sources],
    });
    let project = dirs.target.join("tsconfig.facade.json");
    fs::write(&project, settings.to_string()).context(|| format!("cannot write {}", project.display()))?;
    run::step(
        dirs,
        "tsc for the facade",
        "tsc-facade",
        Command::new(dirs.npm_bin("tsc")).arg("--project").arg(&project),
    )?;
    unpacker(dirs, &out)?;
    stamp.record()?;
    Ok(out)
}

/// Takes the types off the sources of the facade without looking at them, as the modules that they speak of are not all
/// there.
fn unchecked_facade(dirs: &Dirs) -> Outcome<PathBuf> {
    let out = dirs.target.join("facade-unchecked");
    if out.exists() {
        // A source file that was removed must not live on.
        fs::remove_dir_all(&out).context(|| format!("cannot remove {}", out.display()))?;
    }
    let sources = dirs.template().join("src");
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.args(["--format=esm", "--target=es2022", "--log-level=warning"]);
    command.arg(format!("--outbase={}", sources.display())).arg(format!("--outdir={}", out.display()));
    command.args(files_below(&sources)?.iter().filter(|file| !file.to_string_lossy().ends_with(".d.ts")));
    run::step(dirs, "esbuild of the facade", "esbuild-facade", &mut command)?;
    unpacker(dirs, &out)?;
    Ok(out)
}

/// Puts the decompressor into the one file that needs it: the package has no dependencies.
fn unpacker(dirs: &Dirs, facade: &Path) -> Outcome<()> {
    let file = facade.join("unpack.js");
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.args(["--bundle", "--format=esm", "--target=es2022", "--minify-syntax", "--legal-comments=none"]);
    command.arg("--allow-overwrite").arg(format!("--outfile={}", file.display())).arg(&file);
    command.env("NODE_PATH", dirs.package_tests().join("node_modules"));
    run::step(dirs, "esbuild of the decompressor", "esbuild-unpack", &mut command).map(drop)
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
fn package(dirs: &Dirs, variant: Variant, facade: &Path) -> Outcome<Package> {
    let mut files = BTreeMap::new();
    if let Some(build) = variant.carried() {
        carried(dirs, build, facade, &mut files)?;
    }
    let node = node(dirs, variant, facade)?;
    for file in files_below(&node)? {
        let relative = file.strip_prefix(&node).unwrap_or(&file);
        files.insert(Path::new("dist/node").join(relative), read(&file)?);
    }
    files.insert("package.json".into(), manifest(dirs)?);
    for name in ["README.md", "LICENSE", "NOTICE"] {
        files.insert(name.into(), read(&dirs.root.join(name))?);
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
    let dir = variant.package_dir(dirs);
    write_exactly(&dir, &files)?;
    pack(dirs, variant, dir)
}

/// What carries its modules: for bundlers, browsers, Workers and edge functions, a file for each of the facade's.
fn carried(dirs: &Dirs, build: Build, facade: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Outcome<()> {
    for file in files_below(facade)? {
        let relative = file.strip_prefix(facade).unwrap_or(&file);
        // The program is for Node.
        if relative.starts_with("cli") {
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
    for module @ Module { name, .. } in build.modules() {
        let bytes = read(&finished(dirs, build, module))?;
        files.insert(wasm.join(format!("{name}_inline.js")), inline(&bytes)?.into_bytes());
        files.insert(wasm.join(format!("{name}_bg.wasm")), bytes);
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
        let mut text = with_modules(&text, |Module { on_disk, .. }| format!("./{on_disk}.file.js"));
        if ENTRIES.iter().any(|name| Path::new(&format!("{name}.js")) == relative) {
            // All entries reach the whole facade, so that it becomes one file.
            text.insert_str(0, "import \"./api.js\";\n");
        }
        let bytes = text.into_bytes();
        files.insert(relative.to_path_buf(), bytes);
    }
    let build = variant.on_disk();
    let mut wasm = BTreeMap::new();
    for (_, module @ Module { name, .. }) in variant.modules().filter(|(of, _)| *of == build) {
        let glue = format!("{name}_glue.js");
        files.insert(glue.into(), read(&build.dir(dirs).join(format!("{name}.js")))?);
        files.insert(format!("{name}.file.js").into(), load(dirs, "file", module)?.into_bytes());
        wasm.insert(PathBuf::from(format!("{name}_bg.wasm")), read(&finished(dirs, build, module))?);
    }
    if let Some(carried) = variant.carried() {
        // `slim` is given modules that are carried.
        for Module { name, .. } in carried.modules() {
            let glue = read(&carried.dir(dirs).join(format!("{name}.js")))?;
            files.insert(Path::new("wasm").join(format!("{name}.js")), glue);
        }
    }
    if variant == Variant::Trap {
        // Its tests look inside, at the file of an engine.
        files.append(&mut wasm);
        write_exactly(&source, &files)?;
        return Ok(source);
    }
    write_exactly(&source, &files)?;
    if out.exists() {
        // Names of shared files change with what is in them.
        fs::remove_dir_all(&out).context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.args(["--bundle", "--splitting", "--format=esm", "--platform=node", "--target=node20"]);
    command.args(["--external:@modelcontextprotocol/*", "--log-level=warning", "--chunk-names=shared-[hash]"]);
    command.arg(format!("--outdir={}", out.display()));
    command
        .args(variant.entries().iter().map(|name| format!("{name}={}", source.join(format!("{name}.js")).display())));
    command.arg(format!("cli={}", source.join("cli/main.js").display()));
    run::step(dirs, "esbuild for Node", &format!("esbuild-node-{}", variant.name()), &mut command)?;
    for (name, bytes) in wasm {
        let file = out.join(name);
        fs::write(&file, bytes).context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(out)
}

/// package.json with the crate's version: it is stated in one place only.
fn manifest(dirs: &Dirs) -> Outcome<Vec<u8>> {
    let file = dirs.template().join("package.json");
    let mut value: Value =
        serde_json::from_slice(&read(&file)?).context(|| format!("{} is not JSON", file.display()))?;
    value["version"] = json!(locked_version(dirs, "contextweaver")?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_carries_what_the_entry_imports() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask has a parent");
        let entry = fs::read_to_string(root.join("pkg-template/src/index.ts")).expect("the entry is there");
        let imported: Vec<_> = entry
            .lines()
            .filter_map(|line| line.split_once("from \"#").and_then(|(_, name)| name.split('"').next()))
            .collect();
        assert!(!imported.is_empty());
        for variant in [Variant::Release, Variant::Demo, Variant::Trap] {
            for name in &imported {
                assert!(variant.modules().any(|(_, module)| module.name == *name), "{name} is missing in {variant:?}");
            }
        }
    }
}
