//! The page as a folder for static hosts: its scripts bundled, the package's modules and the samples beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;
use crate::setup::npm;
use crate::stamp::Inputs;

/// Bundles the page around a built package; returns the folder.
pub fn bundle(dirs: &Dirs, package: &Path) -> Outcome<PathBuf> {
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
    if stamp.is_current() && site.join("index.html").exists() {
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
        Command::new("node").arg(dirs.page().join("bundle.mjs")).arg(package).arg(&site).current_dir(&dirs.root),
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
