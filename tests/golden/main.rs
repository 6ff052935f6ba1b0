//! Runs the recorded cases of contextweaver 0.18 for Python that this package meets.
//!
//! `cargo test --test golden` reads `<area>/*.json` under `CONTEXTWEAVER_VECTORS` (default `tests/vectors`), then the
//! recordings over public data in `../shared/vectors-public` where those are present. A case that differs must be named
//! in `tests/cases/deviations*.json` with the reason and with what happens instead, which is asserted too.
//!
//! Cases of decisions that only 0.18 takes are not run: a runner answers [`GONE`] to an operation that has no counterpart
//! here, and `tests/cases/gone.json` names single cases. Each is counted and told as a skip. `tests/vectors` holds none
//! of them.

#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod around;
mod compare;
mod context;
mod decisions;
mod decisions_finding;
mod decisions_judgement;
mod decisions_records;
mod decisions_surface;
mod drilldown;
mod drilldown_policy;
mod firewall;
mod mcp;
mod mcp_gateway;
mod mcp_results;
mod mcp_tools;
mod routing;
mod stores;
mod summarize;
mod tool_definition;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use contextweaver_test_support::{Skip, skip};
use serde_json::Value;

/// A named difference from the reference, with what happens instead.
struct Deviation {
    expect: Option<Value>,
    patch: Vec<(String, Value)>,
}

impl Deviation {
    /// Returns what is expected in place of the recording.
    fn expected(&self, recorded: &Value) -> Value {
        let mut expected = self.expect.clone().unwrap_or_else(|| recorded.clone());
        for (pointer, value) in &self.patch {
            *expected.pointer_mut(pointer).expect("a patch names a place of the recording") = value.clone();
        }
        expected
    }
}

/// A runner's answer to a case that asks for a decision of 0.18 which has no counterpart here.
const GONE: &str = "a decision of 0.18 alone";

/// What is known of cases by name.
struct Lists {
    deviations: BTreeMap<String, Deviation>,
    gone: BTreeSet<String>,
}

#[derive(Default)]
struct Tally {
    matched: usize,
    /// Names of cases that were not run.
    gone: Vec<String>,
    deviating: usize,
    failures: Vec<String>,
}

fn deviations() -> BTreeMap<String, Deviation> {
    let files = sorted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    let names =
        files.iter().filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("dev")));
    let lists: Vec<Value> = names.map(|path| read(path)).collect();
    let entries = lists.iter().flat_map(|list| list.as_array().expect("deviations are a list"));
    entries
        .map(|entry| {
            let name = entry["case"].as_str().expect("a deviation names its case").to_owned();
            assert!(entry["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{name} has no reason");
            let patch: Vec<(String, Value)> =
                entry["patch"].as_object().cloned().unwrap_or_default().into_iter().collect();
            let expect = entry.get("expect").cloned();
            assert!(expect.is_some() == patch.is_empty(), "{name} must say what happens instead, in one way");
            (name, Deviation { expect, patch })
        })
        .collect()
}

/// Reads the names of cases that only 0.18 meets, each list with its reason.
fn gone() -> BTreeSet<String> {
    let lists = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/gone.json"));
    let mut names = BTreeSet::new();
    for list in lists.as_array().expect("what is gone is a list") {
        assert!(list["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{list} has no reason");
        let cases = list["cases"].as_array().expect("each has its cases");
        names.extend(cases.iter().map(|name| name.as_str().expect("a case is named").to_owned()));
    }
    names
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

/// Runs one case of a file; a failure of ours is part of the answer.
type Runner = fn(file: &str, input: &Value) -> Result<Value, String>;

/// Returns what runs the cases of an area.
fn runner(area: &str) -> Option<Runner> {
    match area {
        "context" => Some(|_, input| context::run(input)),
        "decisions" => Some(decisions::run),
        "drilldown" => Some(drilldown::run),
        "firewall" => Some(firewall::run),
        "mcp" => Some(mcp::run),
        "routing" => Some(routing::run),
        "summarize" => Some(summarize::run),
        "views" => Some(|_, _| Err(GONE.to_owned())),
        "stores" => Some(stores::run),
        "tool-definition" => Some(tool_definition::run),
        _ => None,
    }
}

/// Files whose `expected` is a score to beat, not an answer to give; `tests/quality.rs` holds them to it.
const SCORED: &[&str] = &["recall_benchmark", "quality", "must_improve"];

/// Areas whose operations are the facade's; the tests of the package run them, in every runtime.
const IN_PACKAGE: &[&str] = &["tool-call-context"];

/// Files of other areas that are the facade's, as `<area>/<file>`; `tests/package/<file>.test.mjs` runs them.
const FILES_IN_PACKAGE: &[&str] = &["mcp/sidecar"];

/// How far numbers may be apart. The recordings of routing say so: logarithms differ in the last bit by platform.
fn tolerance(area: &str) -> f64 {
    if area == "routing" { 1e-9 } else { 0.0 }
}

fn run_file(area: &str, run: Runner, path: &Path, Lists { deviations, gone }: &Lists) -> Tally {
    let file = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let document = read(path);
    let mut tally = Tally::default();
    for case in document["cases"].as_array().expect("a vector file has cases") {
        let name = format!("{area}/{file}/{}", case["name"].as_str().unwrap_or("?"));
        // The seed's tables say of each case which fields they speak of; its runner answers those.
        // Those of decisions carry texts that are to be read, not written.
        let whole = matches!(area, "tool-definition" | "decisions");
        let actual = run(file, if whole { case } else { &case["input"] });
        if gone.contains(&name) || actual.as_ref().is_err_and(|problem| problem == GONE) {
            tally.gone.push(name);
            continue;
        }
        let difference = match &actual {
            Ok(actual) => compare::first_difference(&case["expected"], actual, tolerance(area)),
            Err(problem) => Some(problem.clone()),
        };
        match (difference, deviations.get(&name)) {
            (None, None) => tally.matched += 1,
            (None, Some(_)) => tally.failures.push(format!("{name}: listed as a deviation but matches")),
            (Some(difference), None) => tally.failures.push(format!("{name}: {difference}")),
            (Some(_), Some(deviation)) => {
                let other = match &actual {
                    Ok(actual) => {
                        compare::first_difference(&deviation.expected(&case["expected"]), actual, tolerance(area))
                    }
                    Err(problem) => Some(problem.clone()),
                };
                match other {
                    None => tally.deviating += 1,
                    Some(other) => tally.failures.push(format!("{name}: deviates otherwise than listed: {other}")),
                }
            }
        }
    }
    tally
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.matched += other.matched;
        self.deviating += other.deviating;
        self.failures.extend(other.failures);
        self.gone.extend(other.gone);
    }
}

fn run_root(root: &Path, lists: &Lists) -> Tally {
    let mut total = Tally::default();
    for folder in sorted(root).into_iter().filter(|path| path.is_dir()) {
        let area = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        for file in sorted(&folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let document = read(&file);
            let Some(cases) = document.get("cases").and_then(Value::as_array) else { continue };
            if SCORED.contains(&stem.as_str()) && area != "decisions" {
                continue;
            }
            let is_whole_area = IN_PACKAGE.contains(&area.as_str());
            if is_whole_area || FILES_IN_PACKAGE.contains(&format!("{area}/{stem}").as_str()) {
                println!("{area}/{stem}: through the package ({} cases)", cases.len());
                continue;
            }
            let Some(run) = runner(&area) else {
                skip(Skip::Part, &format!("{area}/{stem}: no runner for {} cases", cases.len()));
                continue;
            };
            let tally = run_file(&area, run, &file, lists);
            let listed =
                if tally.deviating > 0 { format!(" ({} listed deviations)", tally.deviating) } else { String::new() };
            println!("{area}/{stem}: {}/{}{listed}", tally.matched, cases.len());
            if !tally.gone.is_empty() {
                skip(Skip::Part, &format!("{area}/{stem}: {} cases ask for decisions of 0.18 alone", tally.gone.len()));
            }
            total.add(tally);
        }
    }
    total
}

/// Returns the folder of the recorded cases.
fn vectors() -> PathBuf {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("CONTEXTWEAVER_VECTORS").map_or_else(|| home.join("tests/vectors"), PathBuf::from)
}

/// A program of its own rather than a test function, because what it prints is to be seen when all is well, too.
fn main() -> ExitCode {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = vectors();
    assert!(root.is_dir(), "{} is no folder", root.display());
    let lists = Lists { deviations: deviations(), gone: gone() };
    let mut total = run_root(&root, &lists);
    if root == home.join("tests/vectors") {
        let kept =
            total.gone.iter().map(|name| format!("{name}: nothing here meets it, so it has no place in tests/vectors"));
        total.failures.extend(kept);
    }
    let public = home.join("../shared/vectors-public");
    if public.is_dir() {
        println!("recordings over public data:");
        total.add(run_root(&public, &lists));
    } else {
        skip(Skip::Part, "recordings over public data are not here (../shared/vectors-public)");
    }
    for failure in &total.failures {
        println!("{failure}");
    }
    if !total.gone.is_empty() {
        println!("\n{} cases were not run: they ask for decisions of 0.18 alone", total.gone.len());
    }
    let verdict = if total.failures.is_empty() { "ok" } else { "FAILED" };
    let passed = total.matched + total.deviating;
    println!("\ntest result: {verdict}. {passed} passed; {} failed; 0 ignored; 0 measured", total.failures.len());
    if total.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
