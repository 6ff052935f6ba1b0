//! Chromium and its driver, for the tests that need a real browser.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::APT;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run::{self, Step};

/// A browser and the matching driver.
#[derive(Debug, Clone)]
pub struct Chromium {
    /// The browser.
    pub browser: PathBuf,
    /// Its `WebDriver` server.
    pub driver: PathBuf,
}

/// Finds a browser: CHROME and CHROMEDRIVER, then PATH, then the distribution's packages when running as root.
pub fn ensure(dirs: &Dirs) -> Outcome<Chromium> {
    if let Some(found) = find()? {
        return Ok(found);
    }
    let by_hand = "install Chromium and its driver (Debian: apt-get install chromium chromium-driver), or set CHROME and CHROMEDRIVER";
    if run::on_path("apt-get").is_none() || !is_root() {
        return Err(Failure::new("no Chromium with chromedriver was found").hint(by_hand));
    }
    let _apt = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let step = Step::begin("apt-get install chromium chromium-driver (once)");
    let finished = run::capture(
        dirs,
        "apt-chromium",
        // Old package lists may still do, so a failed update is not the end.
        Command::new("sh")
            .arg("-c")
            .arg(
                "apt-get update -qq; exec apt-get install -y -qq --no-install-recommends \
             -o DPkg::Lock::Timeout=300 chromium chromium-driver",
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

fn find() -> Outcome<Option<Chromium>> {
    let browser = named("CHROME", &["chromium", "chromium-browser", "google-chrome"])?;
    let driver = named("CHROMEDRIVER", &["chromedriver"])?;
    Ok(browser.zip(driver).map(|(browser, driver)| Chromium { browser, driver }))
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

/// Writes the capabilities of webdriver.json with this browser's path added, and returns the file.
pub fn capabilities(dirs: &Dirs, browser: &Path) -> Outcome<PathBuf> {
    let source = dirs.root.join("webdriver.json");
    let text = fs::read_to_string(&source).context(|| format!("cannot read {}", source.display()))?;
    let mut value: Value = serde_json::from_str(&text).context(|| format!("{} is not JSON", source.display()))?;
    value["goog:chromeOptions"]["binary"] = json!(browser.to_string_lossy());
    let file = dirs.target.join("webdriver.json");
    fs::write(&file, value.to_string()).context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}
