//! What the tests of all crates share: how many random cases to run, and how to say that a test was skipped.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;

use proptest::test_runner::{Config, RngSeed};

pub mod schemas;

/// Random cases of an ordinary property, by which those that run fewer or more are scaled.
pub const NORMAL_CASES: u32 = 2_000;

/// Random cases of an ordinary property where nobody asks for another number. `CONTEXTWEAVER_CASES` does, and the properties that
/// run fewer or more cases keep their ratio to it. With `PROPTEST_CASES` proptest itself sets one number for all.
const USUAL_CASES: u32 = 300;

/// Fewest cases that a property runs where nobody asks, unless it never runs as many.
const FEWEST_CASES: u32 = 50;

/// The file that skips are written to; `cargo xtask test` names one and counts its lines.
pub const SKIPS_FILE: &str = "CONTEXTWEAVER_SKIPS";

/// The variable that asks for a number of cases. It is not that of proptest, which overrides the settings of each property with it.
const CASES: &str = "CONTEXTWEAVER_CASES";

/// That of proptest, for cases that are drawn without it.
const PROPTEST: &str = "PROPTEST_CASES";

/// Tells whether this is a long run, in which tests that are slow try all that they can.
pub fn is_long() -> bool {
    env::var_os(PROPTEST).is_some()
}

/// Returns how many random cases a test runs that has `normal` where an ordinary one has [`NORMAL_CASES`].
pub fn cases(normal: u32) -> u32 {
    let asked = [CASES, PROPTEST].iter().find_map(|name| env::var(name).ok()?.parse().ok());
    asked.map_or_else(|| usual(normal), |asked| scaled(normal, asked))
}

fn usual(normal: u32) -> u32 {
    scaled(normal, USUAL_CASES).max(normal.min(FEWEST_CASES))
}

fn scaled(normal: u32, asked: u32) -> u32 {
    let cases = u64::from(normal) * u64::from(asked) / u64::from(NORMAL_CASES);
    u32::try_from(cases).unwrap_or(u32::MAX).max(1)
}

/// Seed of the random cases of a normal run.
const SEED: u64 = 0x5eed;

/// Returns the settings of a property with [`cases`]. A normal run draws the same cases each time, so that a commit that
/// passed still passes; runs of another number (so `--quick` and `--long`) draw new ones, unless `PROPTEST_RNG_SEED` says
/// which. What fails is kept as a test of its own, not in a file of seeds.
pub fn property(normal: u32) -> Config {
    let mut config = Config { cases: cases(normal), failure_persistence: None, ..Config::default() };
    if [CASES, PROPTEST, "PROPTEST_RNG_SEED"].iter().all(|name| env::var_os(name).is_none()) {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    config
}

/// What could not be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// All of the test, which then has not passed either.
    Test,
    /// A part of it; the rest is checked.
    Part,
}

/// Says that a test, or a part of it, cannot run here: in the file named by [`SKIPS_FILE`], else on stderr, past the
/// test harness, which swallows what is printed in tests that pass.
///
/// # Panics
/// When the file cannot be written: a skip that nobody hears of would look like a pass.
pub fn skip(what: Skip, reason: &str) {
    let current = thread::current();
    let line = line_of(what, current.name().unwrap_or("a test"), reason);
    let written = match env::var_os(SKIPS_FILE) {
        Some(file) => append(Path::new(&file), &line),
        None => io::stderr().write_all(format!("SKIPPED {line}").as_bytes()),
    };
    assert!(written.is_ok(), "cannot say that a test is skipped: {written:?}");
}

fn line_of(what: Skip, name: &str, reason: &str) -> String {
    let what = match what {
        Skip::Test => "test",
        Skip::Part => "part",
    };
    format!("{what} {name}: {}\n", reason.replace(['\n', '\r'], " "))
}

/// One write for the whole line, as other processes append to the same file.
fn append(file: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{NORMAL_CASES, Skip, append, line_of, scaled, usual};

    #[test]
    fn a_slow_property_keeps_enough_cases() {
        for (normal, expected) in [(4_000, 600), (NORMAL_CASES, 300), (300, 50), (100, 50), (40, 40)] {
            assert_eq!(usual(normal), expected, "{normal}");
        }
    }

    #[test]
    fn counts_keep_their_ratio() {
        for (normal, asked, expected) in [
            (NORMAL_CASES, NORMAL_CASES, NORMAL_CASES),
            (NORMAL_CASES, 20_000, 20_000),
            (200, 20_000, 2_000),
            (64, 1, 1),
            (4_000, u32::MAX, u32::MAX),
        ] {
            assert_eq!(scaled(normal, asked), expected, "{normal} of {asked}");
        }
    }

    #[test]
    fn a_skip_is_one_line_that_is_added() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
        let file = folder.path().join("skips");
        for (what, reason) in [(Skip::Test, "no\nfile"), (Skip::Part, "no set")] {
            append(&file, &line_of(what, "name", reason)).unwrap_or_else(|error| unreachable!("{error}"));
        }
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text, "test name: no file\npart name: no set\n");
    }
}
