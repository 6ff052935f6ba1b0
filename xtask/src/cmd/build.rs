//! `cargo xtask build`: the crate to WebAssembly, the facade to JavaScript, both to one npm package.

use std::process::ExitCode;

use crate::dirs::Dirs;
use crate::failure::Outcome;
use crate::modules::{self, Build, MODULES, Module, Variant};
use crate::no_arguments;
use crate::package::{self, Package};
use crate::run::say;
use crate::setup::npm;
use crate::size::{self, Size};

/// Most KiB that the JavaScript around a module may have, compressed.
const GLUE_LIMIT_KIB: usize = 15;

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let (with_page, is_quick) =
        (args.first().is_some_and(|arg| arg == "--www"), args.first().is_some_and(|arg| arg == "--quick"));
    no_arguments("build", &args[usize::from(with_page || is_quick)..])?;
    let dirs = Dirs::find()?;
    if is_quick {
        let package = build(&dirs, Variant::Quick)?;
        say(&format!("built {}, for tests alone", package.dir.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let package = build_and_measure(&dirs)?;
    say(&format!("built {}", package.dir.display()));
    if with_page {
        say(&format!("built {}: put it on any static host", package::page(&dirs).display()));
    }
    Ok(ExitCode::SUCCESS)
}

pub fn build(dirs: &Dirs, variant: Variant) -> Outcome<Package> {
    npm::node()?;
    modules::build(dirs, variant)?;
    package::assemble(dirs, variant)
}

/// Builds the package, prints its sizes and fails when one is over its limit.
pub fn build_and_measure(dirs: &Dirs) -> Outcome<Package> {
    let package = build(dirs, Variant::Release)?;
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
