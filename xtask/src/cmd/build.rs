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
}

/// The modules, cut by what users import together. An application loads those whose exports it uses.
const MODULES: [Module; 5] = [
    Module { name: "agent", features: "context-exports,convert-exports,compat", limit_kib: 530 },
    Module { name: "context", features: "context-exports,compat", limit_kib: 370 },
    Module { name: "convert", features: "convert-exports,compat", limit_kib: 300 },
    Module { name: "routing", features: "routing-exports,compat", limit_kib: 300 },
    Module { name: "decisions", features: "decisions-exports", limit_kib: 300 },
];

/// Ways to get a module, each a file of `pkg-template/load` in which `MODULE` stands for the name.
const LOADERS: [&str; 4] = ["file", "inline", "workerd", "edge-light"];

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

/// Which build of the crate a package carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// What users get.
    Release,
    /// The same without the modules of the smaller entries; `cargo xtask build` goes on with it.
    Demo,
    /// With exports that panic, overflow the stack and exhaust memory. Only for tests.
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

    fn glue_dir(self, dirs: &Dirs) -> PathBuf {
        // Where it is in the package, so that the sources of the facade import it by the same name.
        let build = if self == Self::Trap { "trap" } else { "release" };
        dirs.target.join("glue").join(build).join("wasm")
    }

    /// The modules that it carries.
    fn modules(self) -> impl Iterator<Item = &'static Module> {
        MODULES.iter().filter(move |module| match self {
            Self::Release => true,
            // Those that the package's own entry imports; without one of them it does not load.
            Self::Demo | Self::Trap => !matches!(module.name, "context" | "convert"),
        })
    }

    /// The cargo profile. What is there to trap is never shipped, so it is compiled in the shortest time.
    fn profile(self) -> &'static str {
        if self == Self::Trap { "trap" } else { "release" }
    }

    /// Label of a step of this variant.
    fn label(self, what: &str) -> String {
        match self {
            Self::Release | Self::Demo => what.to_owned(),
            Self::Trap => format!("{what}, trap variant"),
        }
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
    let glue = modules(dirs, Variant::Release)?;
    let facade = facade(dirs, &glue)?;
    package(dirs, Variant::Release, &glue, &facade)
}

/// Builds the package with the modules that the program `contextweaver demo` loads, in half the time.
pub fn build_demo(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    let glue = modules(dirs, Variant::Demo)?;
    let facade = unchecked_facade(dirs)?;
    package(dirs, Variant::Demo, &glue, &facade)
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
    sizes.push(Size::of_archive("tarball", &package.tarball)?);
    size::report(&sizes)?;
    Ok(package)
}

/// Builds the package with the exports that trap, in every module that its own entry loads: each has its own way back. The
/// facade is that of the release build.
pub fn build_trap(dirs: &Dirs) -> Outcome<Package> {
    let glue = modules(dirs, Variant::Trap)?;
    package(dirs, Variant::Trap, &glue, &dirs.target.join("facade"))
}

/// Compiles the modules and generates their glue; returns the folder with the glue, its types and the optimised modules.
fn modules(dirs: &Dirs, variant: Variant) -> Outcome<PathBuf> {
    let toolchain = wasm_target::ensure(dirs)?;
    let glue = variant.glue_dir(dirs);
    fs::create_dir_all(&glue).context(|| format!("cannot create {}", glue.display()))?;
    thread::scope(|scope| {
        // On a fresh machine installing takes longer than compiling, so both begin at once. Optimising is slow and uses one
        // core, so it runs beside the compiler's next module.
        let (compiled, finished) = mpsc::channel();
        let glue = &glue;
        let finishing = scope.spawn(move || {
            npm::tools(dirs)?;
            let tools = wasm_bindgen::ensure(dirs)?;
            for module in finished {
                bind(dirs, variant, &tools, module, glue)?;
                optimise(dirs, variant, module, glue)?;
            }
            Ok(())
        });
        for module in variant.modules() {
            compile(dirs, variant, &toolchain, module, glue)?;
            if compiled.send(module).is_err() {
                // The other thread has failed and says why.
                break;
            }
        }
        drop(compiled);
        finishing.join().unwrap_or_else(|_| Err(Failure::new("the thread that finishes modules panicked")))
    })?;
    Ok(glue)
}

/// Where a module is kept as the compiler left it.
fn compiled(glue: &Path, module: &Module) -> PathBuf {
    glue.join(format!("{}_compiled.wasm", module.name))
}

/// Compiles the crate with the exports of a module. Dependencies are compiled once, because our features are not theirs.
/// Of the crate itself cargo keeps one module whatever its features, so it is not asked when nothing changed.
fn compile(dirs: &Dirs, variant: Variant, toolchain: &WasmToolchain, module: &Module, glue: &Path) -> Outcome<()> {
    let name = module.name;
    let mut command = toolchain.cargo(dirs, "build");
    command.args(["--profile", variant.profile(), "--package", "contextweaver", "--lib", "--no-default-features"]);
    command.args(["--features", module.features]);
    if variant == Variant::Trap {
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
    let label = variant.label(&format!("cargo build of {name}_bg.wasm"));
    run::step(dirs, &label, &format!("cargo-wasm-{name}-{}", variant.name()), &mut command)?;
    let output = WasmToolchain::module(dirs, variant.profile());
    fs::copy(&output, compiled(glue, module)).context(|| format!("cannot copy {}", output.display()))?;
    stamp.record()
}

fn bind(dirs: &Dirs, variant: Variant, tools: &WasmBindgen, module: &Module, glue: &Path) -> Outcome<()> {
    let name = module.name;
    let compiled = compiled(glue, module);
    let stamp = Inputs::default()
        .text(&tools.version)
        .text(BINDGEN_FLAGS.join(" "))
        .path(&compiled)?
        .stamp(glue.join(format!("{name}_bindgen.stamp")));
    if stamp.is_current() {
        return Ok(());
    }
    let label = variant.label(&format!("wasm-bindgen {} of {name}_bg.wasm", tools.version));
    let mut command = Command::new(&tools.bindgen);
    command.args(BINDGEN_FLAGS).args(["--out-name", name]).arg("--out-dir").arg(glue).arg(&compiled);
    run::step(dirs, &label, &format!("bindgen-{name}-{}", variant.name()), &mut command)?;
    // Types of the raw instance, which nobody may use.
    let raw_types = glue.join(format!("{name}_bg.wasm.d.ts"));
    fs::remove_file(&raw_types).context(|| format!("cannot remove {}", raw_types.display()))?;
    stamp.record()
}

fn optimise(dirs: &Dirs, variant: Variant, module: &Module, glue: &Path) -> Outcome<()> {
    let name = module.name;
    let bound = glue.join(format!("{name}_bg.wasm"));
    let optimised = glue.join(format!("{name}_opt.wasm"));
    if variant == Variant::Trap {
        // Never shipped, so its size and speed do not matter.
        return fs::copy(&bound, &optimised).map(drop).context(|| format!("cannot copy {}", bound.display()));
    }
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
        Command::new(dirs.npm_bin("wasm-opt")).args(OPT_FLAGS).arg("-o").arg(&optimised).arg(&bound),
    )?;
    stamp.record()
}

/// Compiles the facade against the generated types; returns the folder with its JavaScript and declarations.
fn facade(dirs: &Dirs, glue: &Path) -> Outcome<PathBuf> {
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
        "compilerOptions": { "rootDir": &sources, "rootDirs": [&sources, glue.parent().unwrap_or(glue)],
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
    let out = dirs.target.join("facade-demo");
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
fn package(dirs: &Dirs, variant: Variant, glue: &Path, facade: &Path) -> Outcome<Package> {
    let mut files = BTreeMap::new();
    for file in files_below(facade)? {
        let relative = file.strip_prefix(facade).unwrap_or(&file);
        let bytes = read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        if relative.extension().is_some_and(|extension| extension == "js") && text.contains("from \"#") {
            // An entry: once for every way to get the modules. Browsers without a bundler need relative addresses.
            for loader in LOADERS {
                let name = if loader == "inline" {
                    relative.to_path_buf()
                } else {
                    relative.with_extension(format!("{loader}.js"))
                };
                let entry = MODULES.iter().fold(text.to_string(), |text, Module { name, .. }| {
                    text.replace(&format!("\"#{name}\""), &format!("\"./wasm/{name}.{loader}.js\""))
                });
                files.insert(Path::new("dist").join(name), entry.into_bytes());
            }
            continue;
        }
        // The program runs where files can be read.
        let bytes = if relative.starts_with("cli") {
            text.replace("\"../index.js\"", "\"../index.file.js\"").into_bytes()
        } else {
            bytes
        };
        files.insert(Path::new("dist").join(relative), bytes);
    }
    for Module { name, .. } in variant.modules() {
        let module = read(&glue.join(format!("{name}_opt.wasm")))?;
        let wasm = Path::new("dist/wasm");
        files.insert(wasm.join(format!("{name}_inline.js")), inline(&module)?.into_bytes());
        files.insert(wasm.join(format!("{name}_bg.wasm")), module);
        files.insert(wasm.join(format!("{name}.js")), read(&glue.join(format!("{name}.js")))?);
        for loader in LOADERS {
            let text = String::from_utf8_lossy(&read(&dirs.template().join(format!("load/{loader}.js")))?)
                .replace("MODULE", name);
            files.insert(wasm.join(format!("{name}.{loader}.js")), text.into_bytes());
        }
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
        &variant.label("npm pack"),
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
                assert!(variant.modules().any(|module| module.name == *name), "{name} is missing in {variant:?}");
            }
        }
    }
}
