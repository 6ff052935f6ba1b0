//! Counts of what passed, failed and was skipped, per stage and in total.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::failure::Outcome;
use crate::run::{say, show_time};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that held.
    pub passed: usize,
    /// Tests that did not.
    pub failed: usize,
    /// Tests that could not run here.
    pub skipped: usize,
}

impl Counts {
    /// Adds up the closing lines of cargo's test harness, one per test binary.
    pub fn of_cargo(output: &str) -> Self {
        let mut counts = Self::default();
        for line in output.lines().filter(|line| line.trim_start().starts_with("test result: ")) {
            let words: Vec<&str> = line.split([' ', ';', '.']).collect();
            let count =
                |what| words.windows(2).find(|pair| pair[1] == what).map_or(0, |pair| pair[0].parse().unwrap_or(0));
            counts.add(Self { passed: count("passed"), failed: count("failed"), skipped: count("ignored") });
        }
        counts
    }

    /// Takes skips out of what the harness of cargo's tests counted as passed.
    pub fn without(mut self, skips: &Skips) -> Self {
        self.passed = self.passed.saturating_sub(skips.tests);
        self.skipped += skips.reasons.len();
        self
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What tests below cargo wrote of skips, one per line: `test <name>: <reason>` when nothing of the test was checked,
/// which the harness then counted as passed, and `part <name>: <reason>` when the rest was.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Skips {
    /// How many are whole tests.
    pub tests: usize,
    /// `name: reason` of each.
    pub reasons: Vec<String>,
}

impl Skips {
    /// Reads them; a line in no known form counts as a part, so that none is lost.
    pub fn read(text: &str) -> Self {
        let mut skips = Self::default();
        for line in text.lines() {
            let reason = if let Some(reason) = line.strip_prefix("test ") {
                skips.tests += 1;
                reason
            } else {
                line.strip_prefix("part ").unwrap_or(line)
            };
            skips.reasons.push(reason.to_owned());
        }
        skips
    }
}

/// The reports of failed tests in cargo's output, which go on scrolling away while other binaries run; nothing when
/// no test failed, as after a compile error.
pub fn failures_in_cargo(output: &str) -> Option<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in output.lines() {
        inside |= line == "failures:";
        if inside {
            lines.push(line);
        }
        inside &= !line.starts_with("test result: ");
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

struct Stage {
    name: String,
    counts: Counts,
    time: Duration,
    skipped_because: Vec<String>,
}

#[derive(Default)]
pub struct Report {
    stages: Vec<Stage>,
}

impl Report {
    /// Puts what another report has behind what this one has.
    pub fn add(&mut self, other: Self) {
        self.stages.extend(other.stages);
    }

    /// Records a stage that ran.
    pub fn ran(&mut self, name: &str, counts: Counts, time: Duration, skipped: Vec<String>) {
        for reason in &skipped {
            say(&format!("    SKIPPED {reason}"));
        }
        self.counted(name, counts, time, skipped);
    }

    /// Records a stage that has told of its skips.
    pub fn counted(&mut self, name: &str, counts: Counts, time: Duration, skipped: Vec<String>) {
        self.stages.push(Stage { name: name.to_owned(), counts, time, skipped_because: skipped });
    }

    /// Runs a stage that holds or does not as a whole; returns what it made.
    pub fn stage<T>(&mut self, name: &str, work: impl FnOnce() -> Outcome<T>) -> Option<T> {
        let started = Instant::now();
        let made = work().map_err(|failure| say(&failure.to_string())).ok();
        let passed = usize::from(made.is_some());
        self.counted(name, Counts { passed, failed: 1 - passed, skipped: 0 }, started.elapsed(), Vec::new());
        made
    }

    /// Records a stage that did not run, counted as one skip.
    pub fn skipped(&mut self, name: &str, reason: &str) {
        let counts = Counts { skipped: 1, ..Counts::default() };
        self.ran(name, counts, Duration::ZERO, vec![format!("{name}: {reason}")]);
    }

    /// Prints the summary, whose last line is the total alone, and returns the exit code.
    pub fn finish(self, elapsed: Duration) -> ExitCode {
        let mut total = Counts::default();
        say("");
        say(&format!("{:<34} {:>7} {:>7} {:>8} {:>8}", "stage", "passed", "failed", "skipped", "time"));
        for stage in &self.stages {
            total.add(stage.counts);
            say(&format!(
                "{:<34} {:>7} {:>7} {:>8} {:>8}",
                stage.name,
                stage.counts.passed,
                stage.counts.failed,
                stage.counts.skipped,
                show_time(stage.time)
            ));
        }
        for reason in self.stages.iter().flat_map(|stage| &stage.skipped_because) {
            say(&format!("skipped: {reason}"));
        }
        say(&format!("total time {}", show_time(elapsed)));
        say(&format!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped));
        if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Skips, failures_in_cargo};

    #[test]
    fn adds_up_cargo_results() {
        let output = "running 2 tests\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 5 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s\n";
        let expected = Counts { passed: 7, failed: 3, skipped: 1 };
        assert_eq!(Counts::of_cargo(output), expected);
    }

    #[test]
    fn a_skip_inside_a_test_is_no_pass() {
        let skips = Skips::read("test a: no file\npart b: no set\n");
        assert_eq!(skips.reasons, ["a: no file", "b: no set"]);
        let counted = Counts { passed: 7, failed: 0, skipped: 1 };
        assert_eq!(counted.without(&skips), Counts { passed: 6, failed: 0, skipped: 3 });
        assert_eq!(counted.without(&Skips::read("")), counted);
    }

    #[test]
    fn finds_the_reports_of_failed_tests() {
        let output = "running 1 test\nfailures:\n\n---- a ----\nboom\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed;\nrunning 1 test\ntest result: ok. 1 passed; 0 failed;\n";
        let report = failures_in_cargo(output).unwrap();
        assert!(report.starts_with("failures:\n\n---- a ----\nboom"));
        assert!(report.ends_with("test result: FAILED. 0 passed; 1 failed;"));
        assert_eq!(failures_in_cargo("error: could not compile"), None);
    }
}
