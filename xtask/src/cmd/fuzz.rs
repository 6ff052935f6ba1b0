//! `cargo xtask fuzz`: looks for bytes that break a promise, with libFuzzer.

use std::fs;
use std::process::{Command, ExitCode};

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run::{self, say};

const USAGE: &str = "usage: cargo xtask fuzz <target> [seconds]";
const DEFAULT_SECONDS: u32 = 60;

/// What makes the compiler count the branches that a try takes, for libFuzzer to follow; these work without nightly.
const COVERAGE: [&str; 8] = [
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // The linker must not drop the tables that no code names.
    "-Clink-dead-code",
];

/// Bytes of a try at most, seconds and MiB that one may take: more is a defect of its own.
const LIMITS: [&str; 3] = ["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"];

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let dirs = Dirs::find()?;
    let (target, seconds) = read(args, &targets(&dirs)?)?;
    let host = host()?;
    build(&dirs, &host)?;
    let work = dirs.target.join("fuzz").join(&target);
    let corpus = work.join("corpus");
    fs::create_dir_all(&corpus).context(|| format!("cannot create {}", corpus.display()))?;
    let mut command = Command::new(dirs.target.join(host).join("fuzz").join("fuzz"));
    command
        .args(LIMITS)
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/", work.display())])
        // What is found goes into the first folder; the second is only read.
        .args([&corpus, &dirs.root.join("fuzz/seeds").join(&target)])
        .env("CONTEXTWEAVER_FUZZ_TARGET", &target)
        .current_dir(&dirs.root);
    if run::attached(&mut command)? == 0 {
        say(&format!("{target}: nothing found in {seconds} seconds"));
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::new(format!("{target} does not hold for the bytes in the file named above"))
        .hint(format!("after mending it, keep the file in fuzz/seeds/{target}: the tests replay it")))
}

/// The targets, each with a folder of seeds; a test of the package holds them to its list.
fn targets(dirs: &Dirs) -> Outcome<Vec<String>> {
    let folder = dirs.root.join("fuzz/seeds");
    let entries = fs::read_dir(&folder).context(|| format!("cannot list {}", folder.display()))?;
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

fn read(args: &[String], targets: &[String]) -> Outcome<(String, u32)> {
    let usage = |problem: String| Failure::new(problem).hint(format!("{USAGE}; targets: {}", targets.join(" ")));
    let (target, seconds) = match args {
        [] => return Err(usage("cargo xtask fuzz needs a target".to_owned())),
        [target] => (target, DEFAULT_SECONDS),
        [target, seconds] => {
            let number = seconds.parse().ok().filter(|&seconds| seconds > 0);
            (target, number.ok_or_else(|| usage(format!("'{seconds}' is no number of seconds")))?)
        }
        _ => return Err(usage("cargo xtask fuzz takes a target and seconds".to_owned())),
    };
    if targets.contains(target) {
        Ok((target.clone(), seconds))
    } else {
        Err(usage(format!("unknown target '{target}'")))
    }
}

/// The platform of this machine. Named in the build, so that programs of the build itself do not count their branches.
fn host() -> Outcome<String> {
    let output = Command::new("rustc").arg("-vV").output().context(|| "cannot run rustc".to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc does not name its host"))
}

fn build(dirs: &Dirs, host: &str) -> Outcome<()> {
    let mut command = run::cargo();
    command
        .args(["build", "--package", "contextweaver-fuzz", "--bin", "fuzz", "--features", "libfuzzer"])
        .args(["--profile", "fuzz", "--target", host])
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"))
        .current_dir(&dirs.root);
    run::step(dirs, "cargo build of the fuzz targets", "cargo-fuzz", &mut command).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_SECONDS, read};

    #[test]
    fn reads_its_arguments() {
        let targets = ["json".to_owned()];
        let read = |args: &[&str]| read(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), &targets);
        assert_eq!(read(&["json"]).unwrap(), ("json".to_owned(), DEFAULT_SECONDS));
        assert_eq!(read(&["json", "5"]).unwrap(), ("json".to_owned(), 5));
        for wrong in [&[][..], &["xml"], &["json", "0"], &["json", "soon"], &["json", "5", "6"]] {
            assert!(read(wrong).unwrap_err().to_string().contains("targets: json"), "{wrong:?}");
        }
    }
}
