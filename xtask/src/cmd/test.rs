//! `cargo xtask test`: every test this machine can run, and a list of those it cannot.

use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use super::build;
use super::demo;
use super::package_tests::{self, Equipment};
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::modules::Variant;
use crate::package;
use crate::report::{Counts, Report, Skips, failures_in_cargo};
use crate::run;
use crate::setup::browser::{CHROMIUM, FIREFOX};
use crate::setup::{npm, wasm_bindgen, wasm_target};

/// Names the file that tests below cargo write their skips to (`tests/support`).
const SKIPS_FILE: &str = "CONTEXTWEAVER_SKIPS";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Quick,
    Normal,
    Long,
}

impl Extent {
    fn parse(args: &[String]) -> Outcome<Self> {
        match args {
            [] => Ok(Self::Normal),
            [arg] if arg == "--quick" => Ok(Self::Quick),
            [arg] if arg == "--long" => Ok(Self::Long),
            _ => Err(Failure::new(format!("cargo xtask test does not take '{}'", args.join(" ")))
                .hint("usage: cargo xtask test [--quick | --long]")),
        }
    }

    /// The variable with the number of random cases, where that is not what the tests run by themselves (`tests/support`): of an
    /// ordinary property in a quick run, in which slow ones run fewer, and of every property in a long one.
    fn cases(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Quick => Some(("CONTEXTWEAVER_CASES", "200")),
            Self::Normal => None,
            Self::Long => Some(("PROPTEST_CASES", "20000")),
        }
    }
}

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let extent = Extent::parse(args)?;
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let mut report = Report::default();
    if extent == Extent::Quick {
        quick(&dirs, &mut report)?;
        return Ok(report.finish(started.elapsed()));
    }
    thread::scope(|scope| {
        // Installing waits for the network, the linker of a module uses one core, and so does the last test of a crate:
        // whatever is about the package runs beside the native tests.
        let package = scope.spawn(|| package(&dirs, extent));
        native(&dirs, extent, &mut report)?;
        report.add(package.join().map_err(|_| Failure::new("the thread of the package panicked"))?);
        Ok::<(), Failure>(())
    })?;
    Ok(report.finish(started.elapsed()))
}

/// Runs the checks that a change is most likely to break, fast enough to run after every change.
fn quick(dirs: &Dirs, report: &mut Report) -> Outcome<()> {
    native(dirs, Extent::Quick, report)?;
    if let Some(package) = report.stage("build", || build::build(dirs, Variant::Quick)) {
        package_tests::run(dirs, &Equipment::only(&package, "not used by --quick"), &["api"], report);
    }
    Ok(())
}

fn native(dirs: &Dirs, extent: Extent, report: &mut Report) -> Outcome<()> {
    let skips_file = dirs.logs().join("cargo-test-skips.txt");
    // Of the last run; not being there is the usual case.
    let _ = fs::remove_file(&skips_file);
    let mut command = run::cargo();
    command.args(["test", "--no-fail-fast", "--workspace"]).env(SKIPS_FILE, &skips_file).current_dir(&dirs.root);
    if let Some((name, cases)) = extent.cases() {
        command.env(name, cases);
    }
    let finished = run::capture(dirs, "native", "cargo-test", &mut command)?;
    let skips = Skips::read(&fs::read_to_string(&skips_file).unwrap_or_default());
    let mut counts = Counts::of_cargo(&finished.output).without(&skips);
    if !finished.success || counts.passed == 0 {
        // A build error counts no test at all.
        counts.failed = counts.failed.max(1);
        let telling = failures_in_cargo(&finished.output);
        run::say(&finished.failure(telling.as_deref().unwrap_or(&finished.output)).to_string());
    }
    report.ran("native", counts, finished.time, skips.reasons);
    Ok(())
}

/// Builds the package and runs its tests.
fn package(dirs: &Dirs, extent: Extent) -> Report {
    let mut report = Report::default();
    let (wasm, tools, chromium, firefox, runtimes) = thread::scope(|scope| {
        let wasm = scope.spawn(|| wasm_target::ensure(dirs).and_then(|_| wasm_bindgen::ensure(dirs)));
        let tools = npm::tools(dirs).and_then(|()| npm::docs(dirs));
        let (chromium, firefox, runtimes) = (CHROMIUM.ensure(dirs), FIREFOX.ensure(dirs), npm::runtimes(dirs));
        let wasm = wasm.join().unwrap_or_else(|_| Err(Failure::new("the set-up thread panicked")));
        (wasm, tools, chromium, firefox, runtimes.map(|()| dirs.runtimes()))
    });
    let built = report.stage("build and size limits", || {
        tools?;
        wasm?;
        build::build_and_measure(dirs)
    });
    let Some(package) = built else {
        report.skipped("package", "the build failed");
        return report;
    };
    let page = package::page(dirs);
    let parts = [
        ("PAGE", Ok(page.as_path())),
        ("CHROMIUM", chromium.as_deref().map_err(Failure::message)),
        ("FIREFOX", firefox.as_deref().map_err(Failure::message)),
        ("RUNTIMES", runtimes.as_deref().map_err(Failure::message)),
    ];
    let equipment = Equipment { package: &package, parts, is_long: extent == Extent::Long };
    package_tests::run(dirs, &equipment, &[], &mut report);
    // It builds a part of the package, which must be enough for its program.
    report.stage("demo", || demo::program(dirs).and_then(|mut program| run::step(dirs, "demo", "demo", &mut program)));
    report
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn takes_one_of_two_options() {
        let parse = |args: &[&str]| Extent::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]).unwrap(), Extent::Normal);
        assert_eq!(parse(&["--quick"]).unwrap(), Extent::Quick);
        assert_eq!(parse(&["--long"]).unwrap(), Extent::Long);
        for wrong in [&["--fast"][..], &["--quick", "--long"], &["quick"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
