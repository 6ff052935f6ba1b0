//! `cargo xtask check`: everything that can be judged without running the product.

use std::process::{Command, ExitCode};
use std::time::Instant;

use super::build;
use super::package_tests::{self, Equipment};
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::modules;
use crate::no_arguments;
use crate::package::Package;
use crate::release::{self, Release};
use crate::report::{Counts, Report};
use crate::run::{self, Step};
use crate::setup::{npm, wasm_target};

/// The package tests that only look: files against exports, package linters, strict types.
const STATIC_PACKAGE_TESTS: &[&str] = &["contents", "lint", "page-source", "release", "types"];

const BUILD_STAGE: &str = "build, facade types, size limits";

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let is_release = args.first().is_some_and(|arg| arg == "--release");
    no_arguments("check", &args[usize::from(is_release)..])?;
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let mut report = Report::default();
    if is_release {
        complete(&dirs, &mut report)?;
    }
    stage(&dirs, &mut report, "format", cargo(&dirs, &["fmt", "--all", "--check"]));
    stage(
        &dirs,
        &mut report,
        "clippy",
        cargo(&dirs, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    );
    npm::tools(&dirs)?;
    let mut biome = Command::new(dirs.package_tests().join("node_modules/.bin/biome"));
    biome.arg("format").current_dir(&dirs.root);
    stage(&dirs, &mut report, "format of TypeScript", biome);
    let mut docs = cargo(&dirs, &["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    stage(&dirs, &mut report, "documentation", docs);
    clippy_for_wasm(&dirs, &mut report)?;
    let architecture = ["test", "--package", "contextweaver", "--test", "boundary", "architecture"];
    stage(&dirs, &mut report, "architecture", cargo(&dirs, &architecture));
    package(&dirs, &mut report)?;
    Ok(report.finish(started.elapsed()))
}

/// Refuses to release what does not say where it comes from.
fn complete(dirs: &Dirs, report: &mut Report) -> Outcome<()> {
    let started = Instant::now();
    match Release::read(dirs)?.missing() {
        missing if missing.is_empty() => report.ran(release::FILE, Counts::ONE_PASSED, started.elapsed(), Vec::new()),
        missing => {
            let failure = Failure::new(format!("{} says nothing of: {}", release::FILE, missing.join(", ")));
            report.broke(release::FILE, &failure, started.elapsed());
        }
    }
    Ok(())
}

fn clippy_for_wasm(dirs: &Dirs, report: &mut Report) -> Outcome<()> {
    let toolchain = wasm_target::ensure(dirs)?;
    if !toolchain.has_clippy() {
        report.skipped("clippy for WebAssembly", "the compiler that has the WebAssembly target has no clippy");
        return Ok(());
    }
    // Each module is the crate with one feature, so what only another one uses is dead code.
    let alone = modules::features().map(|feature| (feature, ["--no-default-features", "--features", feature].to_vec()));
    let all = ("all modules", ["--features", "console-panics"].to_vec());
    for (label, features) in std::iter::once(all).chain(alone) {
        let mut command = toolchain.cargo(dirs, "clippy");
        command.args(["--package", "contextweaver", "--lib"]).args(&features).args(["--", "-D", "warnings"]);
        stage(dirs, report, &format!("clippy for WebAssembly, {label}"), command);
    }
    Ok(())
}

/// Builds the package and looks at it; none where it cannot be built.
pub fn package(dirs: &Dirs, report: &mut Report) -> Outcome<Option<Package>> {
    let started = Instant::now();
    let package = match build::build_and_measure(dirs) {
        Ok(package) => package,
        Err(failure) => {
            report.broke(BUILD_STAGE, &failure, started.elapsed());
            report.skipped("package", "the build failed");
            return Ok(None);
        }
    };
    report.ran(BUILD_STAGE, Counts::ONE_PASSED, started.elapsed(), Vec::new());
    // Its types are checked against the libraries that go into it.
    npm::page(dirs)?;
    let equipment = Equipment::only(&package, "not used by static checks");
    package_tests::run(dirs, &equipment, STATIC_PACKAGE_TESTS, report);
    Ok(Some(package))
}

fn cargo(dirs: &Dirs, args: &[&str]) -> Command {
    let mut command = run::cargo();
    command.args(args).current_dir(&dirs.root);
    command
}

/// One command that passes or fails as a whole.
fn stage(dirs: &Dirs, report: &mut Report, name: &str, mut command: Command) {
    let step = Step::begin(name);
    let log = format!("check-{}", name.replace(' ', "-"));
    match run::capture(dirs, &log, &mut command) {
        Ok(finished) if finished.success => {
            let time = step.end("");
            report.ran(name, Counts::ONE_PASSED, time, Vec::new());
        }
        Ok(finished) => {
            let time = step.end("failed");
            report.broke(name, &finished.failure(name), time);
        }
        Err(failure) => {
            let time = step.end("failed");
            report.broke(name, &failure, time);
        }
    }
}
