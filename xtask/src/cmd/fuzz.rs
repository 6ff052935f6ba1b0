//! `cargo xtask fuzz`: looks for bytes that break a promise, with libFuzzer.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run::{self, say};

const USAGE: &str = "usage: cargo xtask fuzz [target ...] [--minutes N]";
const DEFAULT_MINUTES: u32 = 1;

/// Compiler flags that count the branches of each run, which libFuzzer needs. They work without a nightly compiler.
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
const LIMITS: [&str; 3] = ["-max_len=65536", "-timeout=10", "-rss_limit_mb=2048"];

/// Runs the command: as many targets at a time as there are cores.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let dirs = Dirs::find()?;
    let (targets, minutes) = read(args, &targets(&dirs)?)?;
    // Named in the build, so that programs of the build itself do not count their branches.
    let host = run::first_line(Command::new("rustc").args(["--print", "host-tuple"]));
    let host = host.ok_or_else(|| Failure::new("rustc does not name its host"))?;
    build(&dirs, &host)?;
    let program = dirs.target.join(host).join("fuzz").join("fuzz");
    let lanes = thread::available_parallelism().map_or(1, usize::from);
    let failed =
        targets.chunks(lanes).map(|some| fuzz_beside_each_other(&dirs, &program, some, minutes)).sum::<usize>();
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::new(format!("{failed} of {} targets do not hold", targets.len()))
        .hint("after mending one, keep its file in fuzz/seeds/<target>: the tests replay it"))
}

/// Returns how many of some targets do not hold, each of which takes the same time.
fn fuzz_beside_each_other(dirs: &Dirs, program: &Path, targets: &[String], minutes: u32) -> usize {
    thread::scope(|scope| {
        let one =
            |target: &String| fuzz(dirs, program, target, minutes).map_err(|failure| say(&failure.to_string())).is_ok();
        let running: Vec<_> = targets.iter().map(|target| scope.spawn(move || one(target))).collect();
        running.into_iter().map(|held| usize::from(!held.join().unwrap_or(false))).sum()
    })
}

/// Looks for bytes for which one target does not hold.
fn fuzz(dirs: &Dirs, program: &Path, target: &str, minutes: u32) -> Outcome<()> {
    let work = dirs.target.join("fuzz").join(target);
    let corpus = work.join("corpus");
    fs::create_dir_all(&corpus).context(|| format!("cannot create {}", corpus.display()))?;
    let mut command = Command::new(program);
    command
        .args(LIMITS)
        .args([
            format!("-max_total_time={}", minutes * 60),
            format!("-artifact_prefix={}/", work.display()),
            format!("-dict={}", dirs.root.join("fuzz/words.dict").display()),
        ])
        // What is found goes into the first folder; the second is only read.
        .args([&corpus, &dirs.root.join("fuzz/seeds").join(target)])
        .env("CONTEXTWEAVER_FUZZ_TARGET", target)
        .current_dir(&dirs.root);
    run::step(dirs, &format!("fuzz {target}"), &format!("fuzz-{target}"), &mut command).map(drop)
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

/// Which targets are run, and for how many minutes each.
fn read(args: &[String], known: &[String]) -> Outcome<(Vec<String>, u32)> {
    let usage = |problem: String| Failure::new(problem).hint(format!("{USAGE}; targets: {}", known.join(" ")));
    let (mut targets, mut minutes) = (Vec::new(), DEFAULT_MINUTES);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--minutes" {
            let given = args.next().and_then(|text| text.parse().ok()).filter(|minutes| (1..=10_000).contains(minutes));
            minutes = given.ok_or_else(|| usage("--minutes is a whole number from 1 to 10000".to_owned()))?;
        } else if known.contains(arg) {
            targets.push(arg.clone());
        } else {
            return Err(usage(format!("unknown target '{arg}'")));
        }
    }
    Ok((if targets.is_empty() { known.to_vec() } else { targets }, minutes))
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
    use super::{DEFAULT_MINUTES, read};

    #[test]
    fn reads_its_arguments() {
        let known = ["json".to_owned(), "cel".to_owned()];
        let read = |args: &[&str]| read(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), &known);
        let campaign = |targets: &[&str], minutes| {
            (targets.iter().map(|target| (*target).to_owned()).collect::<Vec<_>>(), minutes)
        };
        assert_eq!(read(&[]).unwrap(), campaign(&["json", "cel"], DEFAULT_MINUTES));
        assert_eq!(read(&["json"]).unwrap(), campaign(&["json"], DEFAULT_MINUTES));
        assert_eq!(read(&["--minutes", "5", "cel"]).unwrap(), campaign(&["cel"], 5));
        for wrong in [&["xml"][..], &["--minutes"], &["--minutes", "0"], &["json", "--minutes", "soon"], &["json", "5"]]
        {
            assert!(read(wrong).unwrap_err().to_string().contains("targets: json cel"), "{wrong:?}");
        }
    }
}
