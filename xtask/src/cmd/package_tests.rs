//! Runs `tests/package/*.test.mjs` on the packed package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::package::Package;
use crate::report::{Counts, Report};
use crate::run;
use crate::setup;

/// What the package tests may use; a reason stands for what is missing.
pub struct Equipment<'a> {
    /// The package users get.
    pub package: &'a Package,
    /// The page, bundled around the package.
    pub page: Result<&'a Path, &'a str>,
    /// The browser of most tests.
    pub chromium: Result<&'a Path, &'a str>,
    /// The browser that the page is tried in, too.
    pub firefox: Result<&'a Path, &'a str>,
    /// Whether the optional runtimes are installed.
    pub runtimes: Result<(), &'a str>,
    /// Whether tests may take minutes, for many more repetitions.
    pub is_long: bool,
}

impl<'a> Equipment<'a> {
    /// The package alone, and why there is no more.
    pub fn only(package: &'a Package, reason: &'a str) -> Self {
        Self {
            package,
            page: Err(reason),
            chromium: Err(reason),
            firefox: Err(reason),
            runtimes: Err(reason),
            is_long: false,
        }
    }
}

/// Runs the test files of these names, or all, as one stage; `tests/package/run.mjs` tells of each.
pub fn run(dirs: &Dirs, equipment: &Equipment<'_>, names: &[&str], report: &mut Report) {
    let started = Instant::now();
    match run_files(dirs, equipment, names) {
        Ok((counts, skipped)) => report.counted("package", counts, started.elapsed(), skipped),
        Err(failure) => report.broke("package", &failure, started.elapsed()),
    }
}

fn run_files(dirs: &Dirs, equipment: &Equipment<'_>, names: &[&str]) -> Outcome<(Counts, Vec<String>)> {
    let result = dirs.logs().join("package-counts.json");
    // Of the last run; not being there is the usual case.
    let _ = fs::remove_file(&result);
    let mut command = Command::new("node");
    command.arg(dirs.package_tests().join("run.mjs")).arg(dirs.logs()).arg(&result).args(names).current_dir(&dirs.root);
    environment(dirs, equipment, &mut command);
    run::attached(&mut command)?;
    let text = fs::read(&result).context(|| "tests/package/run.mjs did not come to its end".to_owned())?;
    let told: Value = serde_json::from_slice(&text).context(|| format!("{} is no JSON", result.display()))?;
    let count = |key: &str| told[key].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let skipped = told["skipped"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let skipped: Vec<String> = skipped.collect();
    Ok((Counts { passed: count("passed"), failed: count("failed"), skipped: skipped.len() }, skipped))
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
    match equipment.page {
        Ok(page) => set("PAGE", page),
        Err(reason) => set("PAGE_MISSING", &PathBuf::from(reason)),
    }
    match equipment.chromium {
        Ok(chromium) => set("CHROMIUM", chromium),
        Err(reason) => set("CHROMIUM_MISSING", &PathBuf::from(reason)),
    }
    match equipment.firefox {
        Ok(firefox) => set("FIREFOX", firefox),
        Err(reason) => set("FIREFOX_MISSING", &PathBuf::from(reason)),
    }
    match equipment.runtimes {
        Ok(()) => set("RUNTIMES", &dirs.runtimes()),
        Err(reason) => set("RUNTIMES_MISSING", &PathBuf::from(reason)),
    }
    if setup::strict() {
        command.env("CONTEXTWEAVER_TEST_STRICT", "1");
    }
    if equipment.is_long {
        command.env("CONTEXTWEAVER_TEST_LONG", "1");
    }
    // The outer test runner, if any, must not adopt these tests' children.
    command.env_remove("NODE_TEST_CONTEXT");
}
