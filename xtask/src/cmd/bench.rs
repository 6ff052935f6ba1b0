//! `cargo xtask bench`: measurements on the built package.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;
use crate::setup::npm;

const USAGE: &str = "usage: cargo xtask bench context --sets <dir> [--json]";

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(args)?;
    // stdout belongs to the result.
    run::progress_to_stderr();
    let dirs = Dirs::find()?;
    let script = dirs.root.join("benches").join(format!("{}.mjs", options.what));
    if !script.exists() {
        return Err(Failure::new(format!("{} does not exist", script.display())));
    }
    let sets = options.sets.canonicalize().context(|| format!("cannot open {}", options.sets.display()))?;
    npm::node()?;
    let package = build::build(&dirs)?;
    let mut command = Command::new("node");
    command.arg(script).arg("--sets").arg(sets).env("CONTEXTWEAVER_PACKAGE", &package.dir).current_dir(&dirs.root);
    if options.json {
        command.arg("--json");
    }
    run::attached(&mut command).map(ExitCode::from)
}

#[derive(Debug, PartialEq, Eq)]
struct Options {
    what: &'static str,
    sets: PathBuf,
    json: bool,
}

impl Options {
    fn parse(args: &[String]) -> Outcome<Self> {
        let usage = |problem: String| Failure::new(problem).hint(USAGE);
        let mut args = args.iter();
        let what = match args.next().map(String::as_str) {
            Some("context") => "context",
            Some(other) => return Err(usage(format!("there is no bench '{other}'"))),
            None => return Err(usage("say which bench to run".to_owned())),
        };
        let mut sets = None;
        let mut json = false;
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => json = true,
                "--sets" => {
                    let dir = args.next().ok_or_else(|| usage("--sets needs a folder".to_owned()))?;
                    sets = Some(PathBuf::from(dir));
                }
                other => return Err(usage(format!("unknown argument '{other}'"))),
            }
        }
        let sets = sets.ok_or_else(|| usage("--sets is missing".to_owned()))?;
        Ok(Self { what, sets, json })
    }
}

#[cfg(test)]
mod tests {
    use super::Options;
    use std::path::PathBuf;

    fn parse(line: &str) -> Option<Options> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args).ok()
    }

    #[test]
    fn reads_its_arguments() {
        let expected = Options { what: "context", sets: PathBuf::from("sets"), json: true };
        assert_eq!(parse("context --json --sets sets"), Some(expected));
        for wrong in ["", "routing --sets x", "context", "context --sets", "context --sets x y"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
