//! `cargo xtask docs`: the documents and the page as a site for any static host.

use std::process::{Command, ExitCode};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::modules::Variant;
use crate::package;
use crate::run::{self, say};
use crate::setup::npm;

pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let base = match args {
        [] => "/",
        [flag, base] if flag == "--base" && base.starts_with('/') && base.ends_with('/') => base,
        _ => {
            return Err(Failure::new(format!("cargo xtask docs does not take '{}'", args.join(" ")))
                .hint("usage: cargo xtask docs [--base /folder/]"));
        }
    };
    let dirs = Dirs::find()?;
    build::build(&dirs, Variant::Release)?;
    npm::docs(&dirs)?;
    let site = dirs.target.join("docs");
    let folder = dirs.root.join("docs-site");
    let mut command = Command::new("node");
    command.arg(folder.join("node_modules/vitepress/bin/vitepress.js")).arg("build").arg(&folder);
    command
        .env("DOCS_BASE", base)
        .env("DOCS_OUT", &site)
        .env("DOCS_DEMO", package::page(&dirs))
        .current_dir(&dirs.root);
    run::step(&dirs, "site of the documents", "docs", &mut command)?;
    say(&format!("built {}: put it on any static host, at {base}", site.display()));
    Ok(ExitCode::SUCCESS)
}
