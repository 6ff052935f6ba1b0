//! `cargo xtask release --dry-run`: all of a release but the publishing, which `.github/workflows/release.yml` does.

use std::process::{Command, ExitCode};
use std::time::Instant;

use super::check;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::report::Report;
use crate::run;
use crate::setup::npm;

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    if args != ["--dry-run"] {
        let hint = "cargo xtask release --dry-run makes all of it; .github/workflows/release.yml publishes";
        return Err(Failure::new("cargo xtask release takes --dry-run alone").hint(hint));
    }
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let mut report = Report::default();
    if let Some(package) = check::package(&dirs, &mut report) {
        let mut statements = Command::new("node");
        statements.arg(dirs.template().join("build/statements.mjs")).args([&package.dir, &package.tarball]);
        statements.arg(dirs.target.join("release-files"));
        let said = report.stage("bill of materials and provenance", || {
            run::step(&dirs, "bill of materials and provenance", "release-statements", &mut statements)
        });
        run::say(said.unwrap_or_default().trim_end());
    }
    Ok(report.finish(started.elapsed()))
}
