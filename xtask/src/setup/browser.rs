//! Chromium and Firefox, for the tests that need a real browser.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::PoisonError;

use super::APT;
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::run;

/// A browser of the distribution.
pub struct Browser {
    name: &'static str,
    /// Its package for apt.
    package: &'static str,
    /// The variable that names another one.
    variable: &'static str,
    /// What it is called on PATH.
    programs: &'static [&'static str],
}

pub const CHROMIUM: Browser = Browser {
    name: "Chromium",
    package: "chromium",
    variable: "CHROME",
    programs: &["chromium", "chromium-browser", "google-chrome"],
};

pub const FIREFOX: Browser =
    Browser { name: "Firefox", package: "firefox-esr", variable: "FIREFOX", programs: &["firefox-esr", "firefox"] };

impl Browser {
    /// Finds it: its variable, then PATH, then the distribution's packages when running as root.
    pub fn ensure(&self, dirs: &Dirs) -> Outcome<PathBuf> {
        let Self { name, package, variable, programs } = self;
        if let Some(found) = named(variable, programs)? {
            return Ok(found);
        }
        let by_hand = format!("install {name} (Debian: apt-get install {package}), or set {variable}");
        let user = run::first_line(Command::new("id").arg("-u"));
        if run::on_path("apt-get").is_none() || user.as_deref() != Some("0") {
            return Err(Failure::new(format!("no {name} was found")).hint(by_hand));
        }
        let _apt = APT.lock().unwrap_or_else(PoisonError::into_inner);
        // Old package lists may still do, so a failed update is not the end.
        let install = format!(
            "apt-get update -qq; exec apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 {package}"
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(install).env("DEBIAN_FRONTEND", "noninteractive");
        run::step(dirs, &format!("apt-get install {package} (once)"), &format!("apt-{package}"), &mut command)
            .map_err(|failure| failure.hint(&by_hand))?;
        named(variable, programs)?
            .ok_or_else(|| Failure::new(format!("{name} was installed but is not on PATH")).hint(by_hand))
    }
}

/// A program named by a variable, which must then exist, or found on PATH.
fn named(variable: &str, names: &[&str]) -> Outcome<Option<PathBuf>> {
    if let Some(path) = env::var_os(variable).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let missing = || Failure::new(format!("{variable} names {}, which does not exist", path.display()));
        return path.is_file().then(|| Some(path.clone())).ok_or_else(missing);
    }
    Ok(names.iter().find_map(|name| run::on_path(name)))
}
