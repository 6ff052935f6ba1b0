//! The page as a folder for static hosts: its scripts bundled, the package's modules and the samples beside them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;
use crate::setup::npm;
use crate::stamp::Inputs;

/// The module of the package that writes reports, made with the page since it has parts of it.
pub fn report(dirs: &Dirs) -> PathBuf {
    dirs.target.join("report-page.js")
}

/// The part of the package that the page is made of; building the package leaves it there.
pub fn source(dirs: &Dirs) -> PathBuf {
    dirs.target.join("package").join("page-source")
}

/// Bundles the page around the package that was built last; returns the folder.
pub fn bundle(dirs: &Dirs) -> Outcome<PathBuf> {
    let package = source(dirs);
    let dist = package.join("dist");
    if !dist.join("slim.js").exists() {
        let problem = format!("{} holds no package", package.display());
        return Err(Failure::new(problem).hint("build it with `cargo xtask build`"));
    }
    npm::page(dirs)?;
    let site = dirs.site();
    let mut inputs = Inputs::default().path(&dist)?.path(&dirs.root.join("examples"))?;
    for source in sources(dirs)? {
        inputs = inputs.path(&source)?;
    }
    let stamp = inputs.stamp(dirs.target.join("site.stamp"));
    let report = report(dirs);
    if stamp.is_current() && site.join("index.html").exists() && report.exists() {
        return Ok(site);
    }
    if site.exists() {
        // A file that is no longer part of the page must not be deployed with it.
        fs::remove_dir_all(&site).context(|| format!("cannot remove {}", site.display()))?;
    }
    run::step(
        dirs,
        "bundle of the page",
        "bundle-page",
        Command::new("node")
            .arg(dirs.page().join("bundle.mjs"))
            .arg(package)
            .arg(&site)
            .arg(&report)
            .current_dir(&dirs.root),
    )?;
    stamp.record()?;
    Ok(site)
}

/// What lies in the page's folder, but for the libraries: the lock file says which these are.
fn sources(dirs: &Dirs) -> Outcome<Vec<PathBuf>> {
    let folder = dirs.page();
    let entries = fs::read_dir(&folder).context(|| format!("cannot list {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| !path.ends_with("node_modules"))
        .collect();
    found.sort();
    Ok(found)
}
