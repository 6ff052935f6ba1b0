//! `cargo xtask build`: the crate to WebAssembly, the facade to JavaScript, both to one npm package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::json;

use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::modules::{self, Build, MODULES, Module, Variant};
use crate::no_arguments;
use crate::package::{self, Package};
use crate::page;
use crate::run::{self, say};
use crate::setup::npm;
use crate::size::{self, Size};
use crate::stamp::{Inputs, files_below};

/// Most KiB that the JavaScript around a module may have, compressed.
const GLUE_LIMIT_KIB: usize = 15;

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let (with_page, is_quick) =
        (args.first().is_some_and(|arg| arg == "--www"), args.first().is_some_and(|arg| arg == "--quick"));
    no_arguments("build", &args[usize::from(with_page || is_quick)..])?;
    let dirs = Dirs::find()?;
    if is_quick {
        let package = build_quick(&dirs)?;
        say(&format!("built {}, for tests alone", package.dir.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let package = build_and_measure(&dirs)?;
    say(&format!("built {}", package.dir.display()));
    if with_page {
        let site = page::bundle(&dirs)?;
        say(&format!("built {}: put it on any static host", site.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the package.
pub fn build(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules::build(dirs, Variant::Release)?;
    package::assemble(dirs, Variant::Release, &facade(dirs)?)
}

/// Builds what of the package the program `contextweaver demo` loads.
pub fn build_demo(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules::build(dirs, Variant::Demo)?;
    package::assemble(dirs, Variant::Demo, &unchecked_facade(dirs)?)
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
    for (_, Module { name, .. }) in Variant::Release.modules().filter(|(build, _)| *build == Build::Fast) {
        let file = format!("{name}_bg.wasm");
        sizes.push(Size::of(&format!("node/{file}"), &dist.join("node").join(&file), None)?);
    }
    sizes.push(Size::of_archive("tarball", &package.tarball)?);
    size::report(&sizes)?;
    Ok(package)
}

/// Builds the package in the shortest time, for tests alone.
pub fn build_quick(dirs: &Dirs) -> Outcome<Package> {
    npm::node()?;
    modules::build(dirs, Variant::Quick)?;
    package::assemble(dirs, Variant::Quick, &unchecked_facade(dirs)?)
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
            "paths": {
                // Carried inside `unpack.js`, see `unpacker`.
                "fflate": [dirs.package_tests().join("node_modules/fflate/lib/index.d.ts")],
                // Adapters import the package by its name.
                "contextweaver": [sources.join("api.ts")],
            },
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
    let file = facade.join("boundary/unpack.js");
    let mut command = Command::new(dirs.npm_bin("esbuild"));
    command.args(["--bundle", "--format=esm", "--target=es2022", "--minify-syntax", "--legal-comments=none"]);
    command.arg("--allow-overwrite").arg(format!("--outfile={}", file.display())).arg(&file);
    command.env("NODE_PATH", dirs.package_tests().join("node_modules"));
    run::step(dirs, "esbuild of the decompressor", "esbuild-unpack", &mut command).map(drop)
}
