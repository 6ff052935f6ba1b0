//! `cargo xtask demo`: the main job on a recorded session, through the installed package.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::modules::Variant;
use crate::no_arguments;
use crate::package::Package;
use crate::run::{self, say};

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    no_arguments("demo", args)?;
    let dirs = Dirs::find()?;
    let code = run::attached(&mut program(&dirs)?)?;
    if code != 0 {
        return Ok(ExitCode::from(code));
    }
    if dirs.root.join("www/index.html").exists() {
        say("\nThe same in a browser: cargo xtask serve");
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds and installs what the demo needs, and returns the program that runs it.
pub fn program(dirs: &Dirs) -> Outcome<Command> {
    let package = build::build(dirs, Variant::Demo)?;
    let project = install(dirs, &package)?;
    let mut command = Command::new("node");
    command.args(["node_modules/contextweaver/bin/contextweaver.js", "demo"]).current_dir(&project);
    Ok(command)
}

fn install(dirs: &Dirs, package: &Package) -> Outcome<PathBuf> {
    let project = dirs.target.join("demo");
    if project.exists() {
        fs::remove_dir_all(&project).context(|| format!("cannot remove {}", project.display()))?;
    }
    fs::create_dir_all(&project).context(|| format!("cannot create {}", project.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    npm.args([&project, &package.tarball]);
    run::step(dirs, "npm install of the package", "demo-install", &mut npm)?;
    Ok(project)
}
