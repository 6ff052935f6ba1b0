//! Chromium, for the tests that need a real browser.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::PoisonError;

use super::APT;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::run::{self, Step};

/// Finds a browser: CHROME, then PATH, then the distribution's packages when running as root.
pub fn ensure(dirs: &Dirs) -> Outcome<PathBuf> {
    if let Some(found) = find()? {
        return Ok(found);
    }
    let by_hand = "install Chromium (Debian: apt-get install chromium), or set CHROME";
    if run::on_path("apt-get").is_none() || !is_root() {
        return Err(Failure::new("no Chromium was found").hint(by_hand));
    }
    let _apt = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let step = Step::begin("apt-get install chromium (once)");
    let finished = run::capture(
        dirs,
        "apt-chromium",
        // Old package lists may still do, so a failed update is not the end.
        Command::new("sh")
            .arg("-c")
            .arg(
                "apt-get update -qq; exec apt-get install -y -qq --no-install-recommends \
             -o DPkg::Lock::Timeout=300 chromium",
            )
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )?;
    if !finished.success {
        step.end("failed");
        return Err(finished.failure("installing Chromium").hint(by_hand));
    }
    step.end("");
    find()?.ok_or_else(|| Failure::new("Chromium was installed but is not on PATH").hint(by_hand))
}

fn find() -> Outcome<Option<PathBuf>> {
    named("CHROME", &["chromium", "chromium-browser", "google-chrome"])
}

/// A program named by a variable, which must then exist, or found on PATH.
fn named(variable: &str, names: &[&str]) -> Outcome<Option<PathBuf>> {
    if let Some(path) = env::var_os(variable).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(Some(path))
        } else {
            Err(Failure::new(format!("{variable} names {}, which does not exist", path.display())))
        };
    }
    Ok(names.iter().find_map(|name| run::on_path(name)))
}

fn is_root() -> bool {
    run::first_line(Command::new("id").arg("-u")).as_deref() == Some("0")
}
