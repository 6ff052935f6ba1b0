//! `cargo xtask test`: every test this machine can run, and a list of those it cannot.

use std::fs;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use super::build;
use super::package_tests::{self, Equipment};
use super::www;
use crate::changed;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::package::Package;
use crate::report::{Counts, Report, Skips, failures_in_cargo};
use crate::run::{self, Step};
use crate::setup::chromium::{self, Chromium};
use crate::setup::wasm_bindgen::WasmBindgen;
use crate::setup::{self, npm, wasm_bindgen, wasm_target};

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
        quick(&dirs, &mut report)?;
        return Ok(report.finish(started.elapsed()));
    }
    let (installed, built) = thread::scope(|scope| {
        // Installing waits for the network, and the linker of a module uses one core, as the last test of a crate does: all
        // run beside the native tests.
        let packages = scope.spawn(|| {
            let installed = Installed::prepare(&dirs);
            let built = installed.tools().map(|tools| Built::prepare(&dirs, tools, &installed.chromium));
            (installed, built)
        });
        native(&dirs, extent, &["--workspace".to_owned()], &mut report);
        packages.join().map_err(|_| Failure::new("the set-up thread panicked"))
    })?;
    after_native(&dirs, extent, &installed, built, &mut report)?;
    Ok(report.finish(started.elapsed()))
}

/// What was installed, or why not.
struct Installed {
    wasm: Outcome<WasmBindgen>,
    chromium: Outcome<Chromium>,
    tools: Outcome<()>,
    runtimes: Outcome<()>,
}

impl Installed {
    fn prepare(dirs: &Dirs) -> Self {
        thread::scope(|scope| {
            let wasm = scope.spawn(|| {
                wasm_target::ensure(dirs)?;
                wasm_bindgen::ensure(dirs)
            });
            let tools = npm::tools(dirs);
            let chromium = chromium::ensure(dirs);
            let runtimes = npm::runtimes(dirs);
            let wasm = wasm.join().unwrap_or_else(|_| Err(Failure::new("the set-up thread panicked")));
            Self { wasm, chromium, tools, runtimes }
        })
    }
}

impl Installed {
    /// What the package is built with, or why it cannot be.
    fn tools(&self) -> Outcome<&WasmBindgen> {
        self.tools.clone()?;
        self.wasm.as_ref().map_err(Clone::clone)
    }
}

/// The packages that are tested, each with the time it took, and how the tests of the exports went, which share what the
/// second is built from.
struct Built {
    release: (Outcome<Package>, Duration),
    trap: (Outcome<Package>, Duration),
    exports: Report,
}

impl Built {
    fn prepare(dirs: &Dirs, tools: &WasmBindgen, chromium: &Outcome<Chromium>) -> Self {
        let timed = |build: fn(&Dirs) -> Outcome<Package>| {
            let started = Instant::now();
            (build(dirs), started.elapsed())
        };
        thread::scope(|scope| {
            let release = scope.spawn(|| timed(build::build_and_measure));
            let trap = timed(build::build_trap);
            let mut exports = Report::default();
            let tested = wasm_in_node(dirs, tools, &mut exports)
                .and_then(|()| wasm_in_chromium(dirs, tools, chromium, &mut exports));
            if let Err(failure) = tested {
                exports.broke("WebAssembly", &failure, Duration::ZERO);
            }
            let panicked = |_| (Err(Failure::new("the thread that builds the package panicked")), Duration::ZERO);
            Self { release: release.join().unwrap_or_else(panicked), trap, exports }
        })
    }
}

/// What a change is likely to break, in the time it takes to think of the next one.
fn quick(dirs: &Dirs, report: &mut Report) -> Outcome<()> {
    let members = changed::members(dirs)?;
    if members.is_empty() {
        run::say("no crate differs from the default branch");
    } else {
        let packages: Vec<String> = members.iter().flat_map(|name| ["--package".to_owned(), name.clone()]).collect();
        native(dirs, Extent::Quick, &packages, report);
    }
    let started = Instant::now();
    let package = match build::build_trap(dirs) {
        Ok(package) => package,
        Err(failure) => {
            report.broke("build", &failure, started.elapsed());
            return Ok(());
        }
    };
    let equipment = Equipment::only(&package, "not used by --quick");
    package_tests::run(dirs, &equipment, &["api".to_owned()], report);
    Ok(())
}

fn native(dirs: &Dirs, extent: Extent, packages: &[String], report: &mut Report) {
    let mut command = run::cargo();
    command.args(["test", "--no-fail-fast"]).args(packages).current_dir(&dirs.root);
    if let Some(cases) = extent.cases() {
        command.env("PROPTEST_CASES", cases);
    }
    cargo_stage(dirs, report, "native", "cargo-test", &mut command);
}

fn after_native(
    dirs: &Dirs,
    extent: Extent,
    installed: &Installed,
    built: Outcome<Built>,
    report: &mut Report,
) -> Outcome<()> {
    let Built { release: (release, time), trap, exports } = match built {
        Ok(built) => built,
        Err(failure) => {
            report.broke("set-up", &failure, Duration::ZERO);
            skip_rest(report, "the set-up failed");
            return Ok(());
        }
    };
    match &release {
        Ok(_) => report.ran("build and size limits", Counts::ONE_PASSED, time, Vec::new()),
        Err(failure) => report.broke("build and size limits", failure, time),
    }
    report.append(exports);
    if let Ok(package) = &release {
        package_stages(dirs, extent, package, trap, installed, report)
    } else {
        report.skipped("package", "the build failed");
        Ok(())
    }
}

fn skip_rest(report: &mut Report, reason: &str) {
    for stage in ["build", "WebAssembly in Node", "WebAssembly in Chromium", "package"] {
        report.skipped(stage, reason);
    }
}

fn wasm_in_node(dirs: &Dirs, tools: &WasmBindgen, report: &mut Report) -> Outcome<()> {
    let mut command = wasm_test(dirs, tools)?;
    cargo_stage(dirs, report, "WebAssembly in Node", "wasm-test-node", &mut command);
    Ok(())
}

fn wasm_in_chromium(
    dirs: &Dirs,
    tools: &WasmBindgen,
    chromium: &Outcome<Chromium>,
    report: &mut Report,
) -> Outcome<()> {
    let stage = "WebAssembly in Chromium";
    let chromium = match chromium {
        Ok(chromium) => chromium,
        Err(failure) if setup::strict() => {
            report.broke(stage, failure, Duration::ZERO);
            return Ok(());
        }
        Err(failure) => {
            report.skipped(stage, failure.message());
            return Ok(());
        }
    };
    let mut command = wasm_test(dirs, tools)?;
    command
        // Asks the runner for another place, not cargo for another build.
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("CHROMEDRIVER", &chromium.driver)
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", chromium::capabilities(dirs, &chromium.browser)?)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "120");
    cargo_stage(dirs, report, stage, "wasm-test-chromium", &mut command);
    Ok(())
}

fn wasm_test(dirs: &Dirs, tools: &WasmBindgen) -> Outcome<Command> {
    let mut command = wasm_target::ensure(dirs)?.cargo(dirs, "test");
    command
        // Shares its dependencies with the package that traps.
        .args(["--profile", "trap", "--package", "contextweaver", "--test", "wasm"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &tools.runner);
    Ok(command)
}

fn package_stages(
    dirs: &Dirs,
    extent: Extent,
    package: &Package,
    (trap, time): (Outcome<Package>, Duration),
    installed: &Installed,
    report: &mut Report,
) -> Outcome<()> {
    if let Err(failure) = &trap {
        report.broke("build of the trap variant", failure, time);
    }
    let started = Instant::now();
    let page = www::bundle(dirs, &package.dir);
    if let Err(failure) = &page {
        report.broke("bundle of the page", failure, started.elapsed());
    }
    let equipment = Equipment {
        package,
        trap: trap.as_ref().ok(),
        page: page.as_deref().map_err(Failure::message),
        chromium: installed.chromium.as_ref().map_err(Failure::message),
        runtimes: installed.runtimes.as_ref().map(|&()| ()).map_err(Failure::message),
        is_long: extent == Extent::Long,
    };
    package_tests::run(dirs, &equipment, &package_tests::all(dirs)?, report);
    Ok(())
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
