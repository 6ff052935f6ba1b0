//! `cargo xtask test`: every test this machine can run, and a list of those it cannot.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Instant;

use super::build;
use super::demo;
use super::package_tests::{self, Equipment};
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::package::Package;
use crate::page;
use crate::report::{Counts, Report, Skips, failures_in_cargo};
use crate::run::{self, Step};
use crate::setup::browser::{CHROMIUM, FIREFOX};
use crate::setup::{npm, wasm_bindgen, wasm_target};

/// Names the file that tests below cargo write their skips to (`tests/support`).
const SKIPS_FILE: &str = "CONTEXTWEAVER_SKIPS";

/// How much is tested.
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

    /// Random cases of an ordinary property, where that is not what the tests run by themselves (`tests/support`).
    fn cases(self) -> Option<&'static str> {
        match self {
            Self::Quick => Some("200"),
            Self::Normal => None,
            Self::Long => Some("20000"),
        }
    }
}

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let extent = Extent::parse(args)?;
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let mut report = Report::default();
    if extent == Extent::Quick {
        quick(&dirs, &mut report);
        return Ok(report.finish(started.elapsed()));
    }
    thread::scope(|scope| {
        // Installing waits for the network, the linker of a module uses one core, and so does the last test of a crate:
        // whatever is about the package runs beside the native tests.
        let package = scope.spawn(|| package(&dirs, extent));
        native(&dirs, extent, &mut report);
        report.add(package.join().map_err(|_| Failure::new("the thread of the package panicked"))?);
        Ok::<(), Failure>(())
    })?;
    Ok(report.finish(started.elapsed()))
}

/// What was installed, or why not.
struct Installed {
    wasm: Outcome<()>,
    chromium: Outcome<PathBuf>,
    firefox: Outcome<PathBuf>,
    tools: Outcome<()>,
    runtimes: Outcome<()>,
}

impl Installed {
    fn prepare(dirs: &Dirs) -> Self {
        thread::scope(|scope| {
            let wasm = scope.spawn(|| {
                wasm_target::ensure(dirs)?;
                wasm_bindgen::ensure(dirs).map(drop)
            });
            let tools = npm::tools(dirs).and_then(|()| npm::docs(dirs));
            let chromium = CHROMIUM.ensure(dirs);
            let firefox = FIREFOX.ensure(dirs);
            let runtimes = npm::runtimes(dirs);
            let wasm = wasm.join().unwrap_or_else(|_| Err(Failure::new("the set-up thread panicked")));
            Self { wasm, chromium, firefox, tools, runtimes }
        })
    }
}

impl Installed {
    /// What the package is built with, or why it cannot be.
    fn tools(&self) -> Outcome<()> {
        self.tools.clone()?;
        self.wasm.clone()
    }
}

/// Runs the checks that a change is most likely to break, fast enough to run after every change.
fn quick(dirs: &Dirs, report: &mut Report) {
    native(dirs, Extent::Quick, report);
    let started = Instant::now();
    let package = match build::build_quick(dirs) {
        Ok(package) => package,
        Err(failure) => {
            report.broke("build", &failure, started.elapsed());
            return;
        }
    };
    let equipment = Equipment::only(&package, "not used by --quick");
    package_tests::run(dirs, &equipment, &["api"], report);
}

fn native(dirs: &Dirs, extent: Extent, report: &mut Report) {
    let mut command = run::cargo();
    command.args(["test", "--no-fail-fast", "--workspace"]).current_dir(&dirs.root);
    if let Some(cases) = extent.cases() {
        command.env("PROPTEST_CASES", cases);
    }
    cargo_stage(dirs, report, "native", "cargo-test", &mut command);
}

/// Builds the package and runs its tests.
fn package(dirs: &Dirs, extent: Extent) -> Report {
    let mut report = Report::default();
    let installed = Installed::prepare(dirs);
    let started = Instant::now();
    match installed.tools().and_then(|()| build::build_and_measure(dirs)) {
        Ok(package) => {
            report.ran("build and size limits", Counts::ONE_PASSED, started.elapsed(), Vec::new());
            package_stages(dirs, extent, &package, &installed, &mut report);
        }
        Err(failure) => {
            report.broke("build and size limits", &failure, started.elapsed());
            report.skipped("package", "the build failed");
        }
    }
    report
}

fn package_stages(dirs: &Dirs, extent: Extent, package: &Package, installed: &Installed, report: &mut Report) {
    let started = Instant::now();
    let page = page::bundle(dirs);
    if let Err(failure) = &page {
        report.broke("bundle of the page", failure, started.elapsed());
    }
    let equipment = Equipment {
        package,
        page: page.as_deref().map_err(Failure::message),
        chromium: installed.chromium.as_deref().map_err(Failure::message),
        firefox: installed.firefox.as_deref().map_err(Failure::message),
        runtimes: installed.runtimes.as_ref().map(|&()| ()).map_err(Failure::message),
        is_long: extent == Extent::Long,
    };
    package_tests::run(dirs, &equipment, &[], report);
    demo_stage(dirs, report);
}

/// Runs `cargo xtask demo`: it builds a part of the package, which must be enough for its program.
fn demo_stage(dirs: &Dirs, report: &mut Report) {
    let started = Instant::now();
    match demo::program(dirs).and_then(|mut program| run::step(dirs, "demo", "demo", &mut program)) {
        Ok(_) => report.ran("demo", Counts::ONE_PASSED, started.elapsed(), Vec::new()),
        Err(failure) => report.broke("demo", &failure, started.elapsed()),
    }
}

/// Runs a cargo test command as one stage.
fn cargo_stage(dirs: &Dirs, report: &mut Report, stage: &str, log: &str, command: &mut Command) {
    let step = Step::begin(stage);
    let file = dirs.logs().join(format!("{log}-skips.txt"));
    // Of the last run; not being there is the usual case.
    let _ = fs::remove_file(&file);
    match run::capture(dirs, log, command.env(SKIPS_FILE, &file)) {
        Ok(finished) => {
            let skips = Skips::read(&fs::read_to_string(&file).unwrap_or_default());
            let mut counts = Counts::of_cargo(&finished.output).without(&skips);
            let time = step.end(if finished.success { "" } else { "failed" });
            if !finished.success {
                // A build error counts no test at all.
                counts.failed = counts.failed.max(1);
                let telling = failures_in_cargo(&finished.output);
                let shown = telling.as_deref().unwrap_or(&finished.output);
                run::say(&finished.failure_showing(stage, shown).to_string());
            } else if counts.passed == 0 {
                counts.failed = 1;
                run::say(&finished.failure(&format!("{stage}: no test ran;")).to_string());
            }
            report.ran(stage, counts, time, skips.reasons);
        }
        Err(failure) => {
            let time = step.end("failed");
            report.broke(stage, &failure, time);
        }
    }
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
