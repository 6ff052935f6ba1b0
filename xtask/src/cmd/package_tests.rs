//! Runs `tests/package/*.test.mjs` on the packed package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::package::Package;
use crate::report::{Counts, Report, skipped_in_tap};
use crate::run::{self, Step};
use crate::setup;

/// Files that run at a time: one more than the cores of CI machines, since a file also waits, for a page or for a program.
const LANES: usize = 3;

/// The files that take longest, so that they begin first and no lane works alone at the end: each runs the shared
/// cases several times, drives a browser, or starts a compiler or a program per test. The others take seconds.
const LONGEST_FIRST: &[&str] = &[
    "page-firefox",
    "page-firefox-story",
    "page-firefox-tools",
    "gateway",
    "gateway-inspector",
    "inspect",
    "gateway-clients",
    "storage",
    "storage-kill",
    "storage-attack",
    "cli",
    "node",
    "random-logs",
    "message-oracles",
    "message-oracles-sdks",
    "page",
    "page-looks",
    "page-story",
    "chromium",
    "api",
    "bundlers",
    "readme",
    "page-large",
    "conformance",
    "gateway-conformance",
    "runtimes",
    "recovery",
    "examples",
    "types",
    "gateway-upstream",
    "gateway-users",
    "gateway-safety",
    "gateway-front",
    "quality-report",
    "otel-gateway",
    "storage-damage",
    "gateway-malformed",
    "gateway-results",
    "sent-values",
];

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

/// Runs one test file per stage, some at a time.
pub fn run(dirs: &Dirs, equipment: &Equipment<'_>, names: &[String], report: &mut Report) {
    let report = Mutex::new(report);
    run::in_lanes(LANES, &longest_first(names), |name| {
        let step = Step::begin(stage(name));
        let result = run_file(dirs, equipment, name);
        // What one file has to say stands together.
        record(name, step, result, &mut report.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

fn stage(name: &str) -> String {
    format!("package: {name}")
}

fn record(name: &str, step: Step, result: Outcome<FileResult>, report: &mut Report) {
    match result {
        Ok((counts, skipped, failure)) => {
            let time = step.end(if failure.is_none() { "" } else { "failed" });
            if let Some(failure) = failure {
                run::say(&failure.to_string());
            }
            report.ran(&stage(name), counts, time, skipped);
        }
        Err(failure) => {
            let time = step.end("failed");
            report.broke(&stage(name), &failure, time);
        }
    }
}

fn longest_first(names: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    // Stable, so that those of equal rank stay in order.
    names.sort_by_key(|name| LONGEST_FIRST.iter().position(|long| long == name).unwrap_or(LONGEST_FIRST.len()));
    names
}

type FileResult = (Counts, Vec<String>, Option<Failure>);

fn run_file(dirs: &Dirs, equipment: &Equipment<'_>, name: &str) -> Outcome<FileResult> {
    let tap = dirs.logs().join(format!("package-{name}.tap"));
    // A folder of its own: files that run at the same time may give projects the same name.
    let projects = dirs.projects().join(name);
    for folder in [&dirs.logs(), &projects] {
        fs::create_dir_all(folder).context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut command = Command::new("node");
    command
        .args(["--test", if equipment.is_long { "--test-timeout=3600000" } else { "--test-timeout=600000" }])
        .args(["--test-reporter=spec", "--test-reporter-destination=stdout"])
        .arg("--test-reporter=tap")
        .arg(format!("--test-reporter-destination={}", tap.display()))
        .arg(dirs.package_tests().join(format!("{name}.test.mjs")))
        .current_dir(&dirs.root);
    environment(dirs, equipment, &projects, &mut command);
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
fn environment(dirs: &Dirs, equipment: &Equipment<'_>, projects: &Path, command: &mut Command) {
    let mut set = |name: &str, value: &Path| {
        command.env(format!("CONTEXTWEAVER_TEST_{name}"), value);
    };
    set("ROOT", &dirs.root);
    set("PROJECTS", projects);
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

#[cfg(test)]
mod tests {
    use super::{LONGEST_FIRST, all, longest_first};
    use crate::dirs::Dirs;
    use std::path::Path;

    #[test]
    fn no_file_is_lost_by_the_order() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = all(&Dirs { target: root.join("target"), root }).unwrap();
        let order = longest_first(&names);
        assert_eq!(&order[..LONGEST_FIRST.len()], LONGEST_FIRST, "a file of the list is gone");
        let mut sorted: Vec<&str> = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, names);
    }
}
