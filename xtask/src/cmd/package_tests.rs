//! Runs `tests/package/*.test.mjs` on the packed package.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::package::Package;
use crate::report::{Counts, Report};
use crate::run;
use crate::setup;

/// What a part of a machine is, or why it is missing.
pub type Part<'a> = Result<&'a Path, &'a str>;

/// What the package tests may use.
pub struct Equipment<'a> {
    pub package: &'a Package,
    /// What not every machine and every run has, by the name that `tests/package/harness.mjs` knows it by.
    pub parts: [(&'static str, Part<'a>); 4],
    /// Whether tests may take minutes, for many more repetitions.
    pub is_long: bool,
}

impl<'a> Equipment<'a> {
    /// The package alone, and why there is no more.
    pub fn only(package: &'a Package, reason: &'a str) -> Self {
        let parts = ["PAGE", "CHROMIUM", "FIREFOX", "RUNTIMES"].map(|name| (name, Err(reason)));
        Self { package, parts, is_long: false }
    }
}

/// Runs the test files of these names, or all, as one stage; `tests/package/run.mjs` tells of each.
pub fn run(dirs: &Dirs, equipment: &Equipment<'_>, names: &[&str], report: &mut Report) {
    let started = Instant::now();
    let (counts, skipped) = run_files(dirs, equipment, names).unwrap_or_else(|failure| {
        run::say(&failure.to_string());
        (Counts { failed: 1, ..Counts::default() }, Vec::new())
    });
    report.counted("package", counts, started.elapsed(), skipped);
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
    set("PROJECTS", &dirs.target.join("package-tests"));
    set("PACKAGE", &equipment.package.dir);
    set("TARBALL", &equipment.package.tarball);
    for (name, part) in equipment.parts {
        match part {
            Ok(path) => set(name, path),
            Err(reason) => set(&format!("{name}_MISSING"), Path::new(reason)),
        }
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
