//! The WebAssembly modules of the package: which there are, and how the crate becomes them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;
use crate::setup::wasm_bindgen::WasmBindgen;
use crate::setup::wasm_target::{self, WasmToolchain};
use crate::setup::{npm, wasm_bindgen};
use crate::stamp::Inputs;

/// A WebAssembly module of the package: the crate with some of its exports, and whatever these reach.
pub struct Module {
    /// Name of the module and of the JavaScript around it.
    pub name: &'static str,
    /// Cargo features with its exports, separated by commas.
    pub features: &'static str,
    /// Most KiB it may have, compressed.
    pub limit_kib: usize,
    /// How it is compiled where it is read from a file and so weighs nothing on the way. For those without, [`WHOLE`]
    /// answers there: the facade of `/context` refuses what needs the converters, whichever module answers.
    on_disk: Option<Build>,
}

/// The module that answers for others.
const WHOLE: &str = "agent";

/// The modules, cut by what users import together. An application loads those whose exports it uses.
pub const MODULES: [Module; 6] = [
    Module { name: "agent", features: "context-exports,convert-exports", limit_kib: 783, on_disk: Some(Build::Fast) },
    Module { name: "context", features: "context-exports", limit_kib: 575, on_disk: None },
    Module { name: "convert", features: "convert-exports", limit_kib: 336, on_disk: None },
    Module { name: "routing", features: "routing-exports", limit_kib: 362, on_disk: Some(Build::Fast) },
    Module { name: "decisions", features: "decisions-exports", limit_kib: 332, on_disk: Some(Build::Small) },
    Module { name: "gateway", features: "gateway-exports", limit_kib: 383, on_disk: Some(Build::Small) },
];

/// The modules that the package's own entry and its program import; without one of them they do not load.
const ENTRY_MODULES: [&str; 4] = ["agent", "routing", "decisions", "gateway"];

/// After the passes, what rustc enables for this target by default; wasm-opt must know to accept the module.
const OPT_FLAGS: &[&str] = &[
    "-Os",
    // The compiler, asked for size, left functions apart that gzip then finds alike: inlining them costs a tenth of the
    // compressed size and gains no time. Passes over locals make the module smaller and gzip find less in it; without them
    // the whole takes a third less.
    "--skip-pass=inlining-optimizing",
    "--skip-pass=local-cse",
    "--skip-pass=simplify-locals",
    "--skip-pass=simplify-locals-nostructure",
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

/// How the glue asks whether it was given a module, and how it is to ask.
const BY_CLASS: &str = "!(module instanceof WebAssembly.Module)";
const BY_TAG: &str = "Object.prototype.toString.call(module) !== '[object WebAssembly.Module]'";

/// For what the crate is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Few bytes: what travels over a network.
    Small,
    /// Speed: what is read from a file, where it computes much. It takes half as long, at one and a half times the size.
    Fast,
    /// The shortest compilation, with panics on the console.
    Quick,
}

impl Build {
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "release",
            Self::Fast => "fast",
            Self::Quick => "quick",
        }
    }

    /// Where its glue is, by the name that it has in the package, so that the sources of the facade import it by that name.
    pub fn dir(self, dirs: &Dirs) -> PathBuf {
        dirs.target.join("glue").join(self.name()).join("wasm")
    }
}

/// Which package is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// What users get.
    Release,
    /// What of it runs in Node, in a third of the time; `cargo xtask build` goes on with it.
    Demo,
    /// The soonest ready after a change, for tests of what users get in the end.
    Quick,
}

impl Variant {
    pub fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Demo => "demo",
            Self::Quick => "quick",
        }
    }

    /// The build of the modules that are carried.
    pub fn carried(self) -> Option<Build> {
        match self {
            Self::Release => Some(Build::Small),
            Self::Demo => None,
            Self::Quick => Some(Build::Quick),
        }
    }

    /// The build in which a module is read from a file, if it is.
    pub fn on_disk(self, module: &Module) -> Option<Build> {
        module.on_disk.map(|build| if self == Self::Quick { Build::Quick } else { build })
    }

    /// Its builds with their modules.
    pub fn modules(self) -> impl Iterator<Item = (Build, &'static Module)> {
        let carried = self.carried().into_iter().flat_map(|build| MODULES.iter().map(move |module| (build, module)));
        let read = MODULES.iter().filter_map(move |module| Some((self.on_disk(module)?, module)));
        let read = read.filter(move |(build, _)| Some(*build) != self.carried());
        carried.chain(read).filter(move |(_, module)| self != Self::Demo || ENTRY_MODULES.contains(&module.name))
    }
}

impl Module {
    /// The module that answers for it where modules are read from files.
    pub fn read_as(&self) -> &'static str {
        if self.on_disk.is_some() { self.name } else { WHOLE }
    }
}

/// Compiles the modules of a package, generates their glue and optimises them.
pub fn build(dirs: &Dirs, variant: Variant) -> Outcome<()> {
    let toolchain = wasm_target::ensure(dirs)?;
    thread::scope(|scope| {
        // On a fresh machine installing takes longer than compiling, so both begin at once. Optimising is slow and uses one
        // core, so it runs beside the compiler's next module.
        let (compiled, finished) = mpsc::channel();
        let finishing = scope.spawn(move || {
            npm::tools(dirs)?;
            let tools = wasm_bindgen::ensure(dirs)?;
            for (build, module) in finished {
                finish(dirs, build, &tools, module)?;
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

/// Compiles the crate with the exports of a module. Dependencies are compiled once, because our features are not theirs.
/// Of the crate itself cargo keeps one module whatever its features, so it is not asked when nothing changed.
fn compile(dirs: &Dirs, build: Build, toolchain: &WasmToolchain, module: &Module) -> Outcome<()> {
    let name = module.name;
    let glue = build.dir(dirs);
    fs::create_dir_all(&glue).context(|| format!("cannot create {}", glue.display()))?;
    let mut command = toolchain.cargo(dirs, "build");
    command.args(["--profile", build.name(), "--package", "contextweaver", "--lib", "--no-default-features"]);
    command.args(["--features", module.features]);
    if build == Build::Quick {
        command.args(["--features", "console-panics"]);
    }
    let mut inputs = Inputs::default().text(toolchain.release()).text(module.features);
    for input in ["src", "Cargo.toml", "Cargo.lock", ".cargo"] {
        inputs = inputs.path(&dirs.root.join(input))?;
    }
    for folder in crates_of(dirs, module)? {
        inputs = inputs.path(&folder)?;
    }
    inputs.once(&glue.join(format!("{name}_compiled.stamp")), || {
        let label = format!("cargo build of {name}_bg.wasm, {}", build.name());
        run::step(dirs, &label, &format!("cargo-wasm-{name}-{}", build.name()), &mut command)?;
        let output = dirs.wasm().join(wasm_target::TARGET).join(build.name()).join("contextweaver.wasm");
        let kept = glue.join(format!("{name}_compiled.wasm"));
        fs::copy(&output, kept).map(drop).context(|| format!("cannot copy {}", output.display()))
    })
}

/// The crates that may matter to a module: what only the exports of another reach, the linker leaves out.
fn crates_of(dirs: &Dirs, module: &Module) -> Outcome<Vec<PathBuf>> {
    const OF_EXPORTS: [(&str, &str); 2] = [("decisions", "decisions-exports"), ("gateway", "gateway-exports")];
    let folder = dirs.root.join("crates");
    let entries = fs::read_dir(&folder).context(|| format!("cannot list {}", folder.display()))?;
    let mut crates: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    crates.retain(|path| {
        let is_left_out = |(name, exports): &(&str, &str)| path.ends_with(name) && !module.features.contains(exports);
        !OF_EXPORTS.iter().any(is_left_out)
    });
    crates.sort();
    Ok(crates)
}

/// Makes of a compiled module what `pkg-template/build` packs: its glue, the module that the glue calls, for a small build one
/// that is optimised, and the module as text for what is carried along.
fn finish(dirs: &Dirs, build: Build, tools: &WasmBindgen, module: &Module) -> Outcome<()> {
    let name = module.name;
    let glue = build.dir(dirs);
    let compiled = glue.join(format!("{name}_compiled.wasm"));
    let inputs = Inputs::default()
        .text(&tools.version)
        .text(OPT_FLAGS.join(" "))
        .text(BY_TAG)
        .path(&dirs.root.join("xtask/bindgen/src"))?
        .path(&dirs.package_tests().join("node_modules/binaryen/package.json"))?
        .path(&compiled)?;
    inputs.once(&glue.join(format!("{name}_finished.stamp")), || {
        let label = format!("wasm-bindgen {} of {name}_bg.wasm, {}", tools.version, build.name());
        let mut command = Command::new(&tools.program);
        command.arg(name).arg(&compiled).arg(&glue);
        if build == Build::Fast {
            // What wasm-opt takes out of the others.
            command.arg("--strip");
        }
        run::step(dirs, &label, &format!("bindgen-{name}-{}", build.name()), &mut command)?;
        take_modules_of_hosts(&glue.join(format!("{name}.js")))?;
        // Types of the raw instance, which nobody may use.
        let raw_types = glue.join(format!("{name}_bg.wasm.d.ts"));
        fs::remove_file(&raw_types).context(|| format!("cannot remove {}", raw_types.display()))?;
        let mut module = glue.join(format!("{name}_bg.wasm"));
        if build == Build::Small {
            let optimised = glue.join(format!("{name}_opt.wasm"));
            let mut command = Command::new(dirs.npm_bin("wasm-opt"));
            command.args(OPT_FLAGS).arg("-o").arg(&optimised).arg(&module);
            run::step(dirs, &format!("wasm-opt -Os of {name}_bg.wasm"), &format!("wasm-opt-{name}"), &mut command)?;
            module = optimised;
        }
        if build == Build::Fast { Ok(()) } else { as_text(&module, &glue.join(format!("{name}_inline.js"))) }
    })
}

/// Lets the glue take a module that the host compiled outside: in the sandboxes of Next.js it is no instance of their own class.
fn take_modules_of_hosts(script: &Path) -> Outcome<()> {
    let text = fs::read_to_string(script).context(|| format!("cannot read {}", script.display()))?;
    if text.matches(BY_CLASS).count() != 1 {
        return Err(Failure::new(format!("{} does not ask once what a module is", script.display())));
    }
    fs::write(script, text.replace(BY_CLASS, BY_TAG)).context(|| format!("cannot write {}", script.display()))
}

/// Writes a JavaScript module with a WebAssembly module: deflated, as base64 alone would cost a third of what the network
/// compresses. Every machine makes the same bytes, which Node's zlib does not promise.
fn as_text(module: &Path, script: &Path) -> Outcome<()> {
    let failed = || format!("cannot write {}", script.display());
    let bytes = fs::read(module).context(failed)?;
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    deflated.write_all(&bytes).context(failed)?;
    let text = STANDARD.encode(deflated.finish().context(failed)?);
    fs::write(script, format!("export default \"{text}\";\n")).context(failed)
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
        for variant in [Variant::Release, Variant::Demo, Variant::Quick] {
            for name in &imported {
                assert!(variant.modules().any(|(_, module)| module.name == *name), "{name} is missing in {variant:?}");
            }
        }
    }
}
