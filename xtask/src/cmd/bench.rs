//! `cargo xtask bench`: measurements on the built package.

use std::process::{Command, ExitCode};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::modules::Variant;
use crate::run;

/// Runs the command: a script of `benches`, which reads the other arguments itself.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let usage =
        |problem: String| Failure::new(problem).hint("usage: cargo xtask bench <script of benches> [argument ...]");
    let (name, rest) = args.split_first().ok_or_else(|| usage("say which bench to run".to_owned()))?;
    // stdout belongs to the result.
    run::progress_to_stderr();
    let dirs = Dirs::find()?;
    let script = dirs.root.join("benches").join(format!("{name}.mjs"));
    if !script.is_file() {
        return Err(usage(format!("there is no bench '{name}'")));
    }
    let package = build::build(&dirs, Variant::Release)?;
    let mut command = Command::new("node");
    command.arg(script).arg("--package").arg(&package.dir).args(rest);
    run::attached(&mut command).map(ExitCode::from)
}
