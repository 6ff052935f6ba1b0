//! Runs `tests/package/*.test.mjs` on the packed package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::Package;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::report::{Counts, Report, skipped_in_tap};
use crate::run::{self, Step};
use crate::setup;
use crate::setup::chromium::Chromium;

/// What the package tests may use; a reason stands for what is missing.
pub struct Equipment<'a> {
    /// The package users get.
    pub package: &'a Package,
    /// The package with exports that trap; absent when only static checks run.
    pub trap: Option<&'a Package>,
    /// The page, bundled around the package.
    pub page: Result<&'a Path, &'a str>,
    /// A browser.
    pub chromium: Result<&'a Chromium, &'a str>,
    /// Whether the optional runtimes are installed.
    pub runtimes: Result<(), &'a str>,
}

/// The names of all test files, without `.test.mjs`.
pub fn all(dirs: &Dirs) -> Outcome<Vec<String>> {
    let folder = dirs.package_tests();
    let entries = fs::read_dir(&folder).context(|| format!("cannot list {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".test.mjs").map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Runs one test file per stage.
pub fn run(dirs: &Dirs, equipment: &Equipment<'_>, names: &[String], report: &mut Report) -> Outcome<()> {
    let projects = dirs.projects();
    fs::create_dir_all(&projects).context(|| format!("cannot create {}", projects.display()))?;
    for name in names {
        let stage = format!("package: {name}");
        let step = Step::begin(&stage);
        match run_file(dirs, equipment, name) {
            Ok((counts, skipped, failure)) => {
                let time = step.end(if failure.is_none() { "" } else { "failed" });
                if let Some(failure) = failure {
                    run::say(&failure.to_string());
                }
                report.ran(&stage, counts, time, skipped);
            }
            Err(failure) => {
                let time = step.end("failed");
                report.broke(&stage, &failure, time);
            }
        }
    }
    Ok(())
}

type FileResult = (Counts, Vec<String>, Option<Failure>);

fn run_file(dirs: &Dirs, equipment: &Equipment<'_>, name: &str) -> Outcome<FileResult> {
    let tap = dirs.logs().join(format!("package-{name}.tap"));
    fs::create_dir_all(dirs.logs()).context(|| format!("cannot create {}", dirs.logs().display()))?;
    let mut command = Command::new("node");
    command
        .args(["--test", "--test-timeout=180000"])
        .args(["--test-reporter=spec", "--test-reporter-destination=stdout"])
        .arg("--test-reporter=tap")
        .arg(format!("--test-reporter-destination={}", tap.display()))
        .arg(dirs.package_tests().join(format!("{name}.test.mjs")))
        .current_dir(&dirs.root);
    environment(dirs, equipment, &mut command);
    let finished = run::capture(dirs, &format!("package-{name}"), &mut command)?;
    let output = fs::read_to_string(&tap).context(|| format!("cannot read {}", tap.display()))?;
    let mut counts = Counts::of_tap(&output);
    if finished.success && counts == Counts::default() {
        return Err(Failure::new(format!("tests/package/{name}.test.mjs ran no test")));
    }
    let failure = if finished.success {
        None
    } else {
        counts.failed = counts.failed.max(1);
        Some(finished.failure(&format!("tests/package/{name}.test.mjs")))
    };
    Ok((counts, skipped_in_tap(&output), failure))
}

/// Tells the test files where things are; `tests/package/harness.mjs` reads this.
fn environment(dirs: &Dirs, equipment: &Equipment<'_>, command: &mut Command) {
    let mut set = |name: &str, value: &Path| {
        command.env(format!("CONTEXTWEAVER_TEST_{name}"), value);
    };
    set("ROOT", &dirs.root);
    set("PROJECTS", &dirs.projects());
    set("PACKAGE", &equipment.package.dir);
    set("TARBALL", &equipment.package.tarball);
    if let Some(trap) = equipment.trap {
        set("TRAP_TARBALL", &trap.tarball);
    }
    match equipment.page {
        Ok(page) => set("PAGE", page),
        Err(reason) => set("PAGE_MISSING", &PathBuf::from(reason)),
    }
    match equipment.chromium {
        Ok(chromium) => set("CHROMIUM", &chromium.browser),
        Err(reason) => set("CHROMIUM_MISSING", &PathBuf::from(reason)),
    }
    match equipment.runtimes {
        Ok(()) => set("RUNTIMES", &dirs.runtimes()),
        Err(reason) => set("RUNTIMES_MISSING", &PathBuf::from(reason)),
    }
    if setup::strict() {
        command.env("CONTEXTWEAVER_TEST_STRICT", "1");
    }
    // The outer test runner, if any, must not adopt these tests' children.
    command.env_remove("NODE_TEST_CONTEXT");
}
