//! `cargo xtask bench`: measurements on the built package.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;
use crate::setup::npm;

const USAGE: &str = "\
usage: cargo xtask bench context [--sets <dir>] [--json]
       cargo xtask bench cost [--sets <dir>] [--budgets <tokens,...>] [--join <count,...>] [--only <strategy,...>] [--json]
       cargo xtask bench build [--python <program>] [--json]
       cargo xtask bench firewall [--json]
       cargo xtask bench quality [--sets <dir>] [--only <kind>]... [--update] [--json]
       cargo xtask bench routing [--sets <dir>] [--json]
       cargo xtask bench tokens [--json]

bench quality takes about five minutes on two cores, and fails when a figure is worse than the committed one by more
than its noise; --update accepts the new ones. --only runs some kinds: routing, abstain, multitool, context, chats,
trajectories, cost, recall, digests or secrets. --sets has a folder for each kind; for bench cost it has the sets.";

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(args)?;
    // stdout belongs to the result.
    run::progress_to_stderr();
    let dirs = Dirs::find()?;
    let script = dirs.root.join("benches").join(format!("{}.mjs", options.what.name()));
    if !script.exists() {
        return Err(Failure::new(format!("{} does not exist", script.display())));
    }
    let mut command = Command::new("node");
    command.arg(script);
    options.what.arguments(&dirs, &mut command)?;
    npm::node()?;
    let package = build::build(&dirs)?;
    command.arg("--package").arg(&package.dir).current_dir(&dirs.root);
    if options.json {
        command.arg("--json");
    }
    run::attached(&mut command).map(ExitCode::from)
}

/// What to measure.
#[derive(Debug, PartialEq, Eq)]
enum Bench {
    /// Evidence recall on evaluation sets.
    Context { sets: Option<PathBuf> },
    /// What recorded sessions of agents cost and still show, beside other strategies.
    Cost { sets: Option<PathBuf>, choices: Vec<(&'static str, String)> },
    /// Times, beside the reference under this Python where there is one.
    Build { python: Option<String> },
    /// What of large results stays answerable, and what they cost, beside plain JavaScript.
    Firewall,
    /// Every labelled set that is there, against the committed figures.
    Quality { sets: Option<PathBuf>, only: Vec<String>, update: bool },
    /// Recall of the router on labelled sets, and its times, beside JavaScript search libraries.
    Routing { sets: Option<PathBuf> },
    /// Errors of the token estimators.
    Tokens,
}

impl Bench {
    fn name(&self) -> &'static str {
        match self {
            Self::Context { .. } => "context",
            Self::Cost { .. } => "cost",
            Self::Build { .. } => "build",
            Self::Firewall => "firewall",
            Self::Quality { .. } => "quality",
            Self::Routing { .. } => "routing",
            Self::Tokens => "tokens",
        }
    }

    /// Adds the arguments only this bench has.
    fn arguments(&self, dirs: &Dirs, command: &mut Command) -> Outcome<()> {
        if matches!(self, Self::Cost { .. } | Self::Quality { .. } | Self::Routing { .. } | Self::Tokens) {
            command.arg("--work").arg(dirs.target.join("bench"));
        }
        if let Self::Quality { only, update, .. } = self {
            command.args(only.iter().flat_map(|kind| ["--only", kind]));
            command.args(update.then_some("--update"));
        }
        if let Self::Cost { choices, .. } = self {
            command.args(choices.iter().flat_map(|(name, list)| [*name, list.as_str()]));
        }
        match self {
            Self::Context { sets: Some(sets) }
            | Self::Cost { sets: Some(sets), .. }
            | Self::Quality { sets: Some(sets), .. }
            | Self::Routing { sets: Some(sets) } => {
                let sets = sets.canonicalize().context(|| format!("cannot open {}", sets.display()))?;
                command.arg("--sets").arg(sets);
            }
            Self::Build { python: Some(python) } => {
                command.arg("--python").arg(program(python)?);
            }
            // Without sets the script takes the public ones where they are, else ours.
            Self::Context { sets: None }
            | Self::Cost { sets: None, .. }
            | Self::Quality { sets: None, .. }
            | Self::Routing { sets: None }
            | Self::Build { python: None }
            | Self::Firewall
            | Self::Tokens => {}
        }
        Ok(())
    }
}

/// A program as another folder's process must name it. Links stay: a Python environment is told by its link.
fn program(name: &str) -> Outcome<PathBuf> {
    if Path::new(name).components().count() == 1 {
        return Ok(name.into());
    }
    std::path::absolute(name).context(|| format!("cannot find {name}"))
}

#[derive(Debug, PartialEq, Eq)]
struct Options {
    what: Bench,
    json: bool,
}

impl Options {
    fn parse(args: &[String]) -> Outcome<Self> {
        let usage = |problem: String| Failure::new(problem).hint(USAGE);
        let mut args = args.iter();
        let what = args.next().ok_or_else(|| usage("say which bench to run".to_owned()))?;
        let mut sets = None;
        let mut python = None;
        let mut only = Vec::new();
        let mut choices = Vec::new();
        let (mut json, mut update) = (false, false);
        while let Some(arg) = args.next() {
            let mut value = |what: &str| args.next().cloned().ok_or_else(|| usage(format!("{arg} needs {what}")));
            match (what.as_str(), arg.as_str()) {
                (_, "--json") => json = true,
                ("quality", "--update") => update = true,
                ("quality", "--only") => only.push(value("a kind")?),
                ("cost", "--budgets") => choices.push(("--budgets", value("tokens")?)),
                ("cost", "--join") => choices.push(("--join", value("how many")?)),
                ("cost", "--only") => choices.push(("--only", value("a strategy")?)),
                ("context" | "cost" | "quality" | "routing", "--sets") => {
                    sets = Some(PathBuf::from(value("a folder")?));
                }
                ("build", "--python") => python = Some(value("a program")?),
                (_, other) => return Err(usage(format!("unknown argument '{other}'"))),
            }
        }
        let what = match what.as_str() {
            "context" => Bench::Context { sets },
            "cost" => Bench::Cost { sets, choices },
            "build" => Bench::Build { python },
            "firewall" => Bench::Firewall,
            "quality" => Bench::Quality { sets, only, update },
            "routing" => Bench::Routing { sets },
            "tokens" => Bench::Tokens,
            other => return Err(usage(format!("there is no bench '{other}'"))),
        };
        Ok(Self { what, json })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bench, Options};

    fn parse(line: &str) -> Option<Options> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args).ok()
    }

    #[test]
    fn reads_its_arguments() {
        let quality = |only: &[&str], update: bool| Bench::Quality {
            sets: None,
            only: only.iter().map(|&kind| kind.to_owned()).collect(),
            update,
        };
        let build = |python: Option<&str>| Bench::Build { python: python.map(str::to_owned) };
        for (line, what, json) in [
            ("context --json --sets sets", Bench::Context { sets: Some("sets".into()) }, true),
            ("context", Bench::Context { sets: None }, false),
            ("cost --json", Bench::Cost { sets: None, choices: Vec::new() }, true),
            (
                "cost --sets x --join 1 --only default,clear",
                Bench::Cost {
                    sets: Some("x".into()),
                    choices: vec![("--join", "1".to_owned()), ("--only", "default,clear".to_owned())],
                },
                false,
            ),
            ("build", build(None), false),
            ("build --python env/bin/python --json", build(Some("env/bin/python")), true),
            ("firewall --json", Bench::Firewall, true),
            ("routing --sets x", Bench::Routing { sets: Some("x".into()) }, false),
            ("routing --json", Bench::Routing { sets: None }, true),
            ("quality", quality(&[], false), false),
            ("quality --only chats --update --only recall --json", quality(&["chats", "recall"], true), true),
            ("tokens", Bench::Tokens, false),
            ("tokens --json", Bench::Tokens, true),
        ] {
            assert_eq!(parse(line), Some(Options { what, json }), "{line}");
        }
        for wrong in [
            "",
            "routing --python x",
            "context --sets",
            "context --sets x y",
            "context --sets x --python y",
            "cost --budgets",
            "cost --update",
            "context --join 4",
            "build --python",
            "build --sets x",
            "firewall --sets x",
            "quality --only",
            "quality --python x",
            "routing --update",
            "tokens --python y",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
