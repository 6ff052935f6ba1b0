//! `cargo xtask check`: everything that can be judged without running the product.

use std::process::{Command, ExitCode};
use std::time::Instant;

use super::build;
use super::package_tests::{self, Equipment};
use crate::dirs::Dirs;
use crate::failure::Outcome;
use crate::modules::MODULES;
use crate::no_arguments;
use crate::package::Package;
use crate::report::Report;
use crate::run;
use crate::setup::{npm, wasm_target};

/// The package tests that only look: files against exports, package linters, strict types.
const STATIC_PACKAGE_TESTS: &[&str] = &["contents", "lint", "page-source", "release", "types"];

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let is_release = args.first().is_some_and(|arg| arg == "--release");
    no_arguments("check", &args[usize::from(is_release)..])?;
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let mut report = Report::default();
    if is_release {
        // What does not say where it comes from is not released.
        let mut settings = Command::new("node");
        settings.arg(dirs.template().join("build/release-settings.mjs"));
        stage(&dirs, &mut report, "release.toml", settings);
    }
    stage(&dirs, &mut report, "format", cargo(&dirs, &["fmt", "--all", "--check"]));
    stage(
        &dirs,
        &mut report,
        "clippy",
        cargo(&dirs, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    );
    npm::tools(&dirs)?;
    for (name, arguments) in
        [("format of TypeScript", &["format"][..]), ("circles of TypeScript", &["lint", "pkg-template/src", "www"])]
    {
        let mut biome = Command::new(dirs.package_tests().join("node_modules/.bin/biome"));
        biome.args(arguments).current_dir(&dirs.root);
        stage(&dirs, &mut report, name, biome);
    }
    let mut docs = cargo(&dirs, &["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    stage(&dirs, &mut report, "documentation", docs);
    clippy_for_wasm(&dirs, &mut report)?;
    let architecture = ["test", "--package", "contextweaver", "--test", "boundary", "architecture"];
    stage(&dirs, &mut report, "architecture", cargo(&dirs, &architecture));
    package(&dirs, &mut report);
    Ok(report.finish(started.elapsed()))
}

fn clippy_for_wasm(dirs: &Dirs, report: &mut Report) -> Outcome<()> {
    let toolchain = wasm_target::ensure(dirs)?;
    if !toolchain.has_clippy() {
        report.skipped("clippy for WebAssembly", "the compiler that has the WebAssembly target has no clippy");
        return Ok(());
    }
    // Each module is the crate with one feature, so what only another one uses is dead code.
    let alone =
        MODULES.iter().map(|module| (module.name, ["--no-default-features", "--features", module.features].to_vec()));
    let all = ("all modules", ["--features", "console-panics"].to_vec());
    for (label, features) in std::iter::once(all).chain(alone) {
        let mut command = toolchain.cargo(dirs, "clippy");
        command.args(["--package", "contextweaver", "--lib"]).args(&features).args(["--", "-D", "warnings"]);
        stage(dirs, report, &format!("clippy for WebAssembly, {label}"), command);
    }
    Ok(())
}

/// Builds the package and looks at it; none where it cannot be built.
pub fn package(dirs: &Dirs, report: &mut Report) -> Option<Package> {
    let Some(package) = report.stage("build, facade types, size limits", || build::build_and_measure(dirs)) else {
        report.skipped("package", "the build failed");
        return None;
    };
    let equipment = Equipment::only(&package, "not used by static checks");
    package_tests::run(dirs, &equipment, STATIC_PACKAGE_TESTS, report);
    Some(package)
}

fn cargo(dirs: &Dirs, args: &[&str]) -> Command {
    let mut command = run::cargo();
    command.args(args).current_dir(&dirs.root);
    command
}

/// One command that passes or fails as a whole.
fn stage(dirs: &Dirs, report: &mut Report, name: &str, mut command: Command) {
    report.stage(name, || run::step(dirs, name, &format!("check-{}", name.replace(' ', "-")), &mut command));
}
