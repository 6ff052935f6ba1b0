//! The npm package: `pkg-template/build` puts it together around the modules, and packs it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::dirs::Dirs;
use crate::failure::Outcome;
use crate::modules::{Build, MODULES, Module, Variant};
use crate::run;
use crate::setup::npm;
use crate::setup::wasm_target::locked_version;

#[derive(Debug, Clone)]
pub struct Package {
    pub dir: PathBuf,
    /// The same, packed.
    pub tarball: PathBuf,
}

/// Puts the package together and packs it.
pub fn assemble(dirs: &Dirs, variant: Variant) -> Outcome<Package> {
    if variant == Variant::Release {
        npm::page(dirs)?;
    }
    let version = locked_version(dirs, "contextweaver")?;
    let dir = match variant {
        Variant::Release => dirs.root.join("pkg"),
        Variant::Demo | Variant::Quick => dirs.target.join(format!("pkg-{}", variant.name())),
    };
    let tarballs = dirs.target.join("package").join(variant.name());
    let settings = json!({
        "variant": variant.name(),
        "version": version,
        "target": dirs.target,
        "package": dir,
        "tarballs": tarballs,
        "modules": MODULES.iter().map(|module| module_settings(variant, module)).collect::<Value>(),
    });
    let mut command = Command::new("node");
    command.arg(dirs.template().join("build/main.mjs")).arg(settings.to_string()).current_dir(&dirs.root);
    let log = format!("package-{}", variant.name());
    run::step(dirs, &format!("package, {}", variant.name()), &log, &mut command)?;
    Ok(Package { dir, tarball: tarballs.join(format!("contextweaver-{version}.tgz")) })
}

fn module_settings(variant: Variant, module: &Module) -> Value {
    json!({
        "name": module.name,
        "read_as": module.read_as(),
        "carried": variant.carried().map(Build::name),
        "on_disk": variant.on_disk(module).map(Build::name),
    })
}

/// The page of the package that was built last, as a folder for static hosts.
pub fn page(dirs: &Dirs) -> PathBuf {
    dirs.target.join("site")
}

/// Bundles the page anew, around the package that was built last.
pub fn bundle_page(dirs: &Dirs) -> Outcome<PathBuf> {
    npm::page(dirs)?;
    let site = page(dirs);
    let mut command = Command::new("node");
    command.arg(dirs.root.join("www/bundle.mjs")).args([dirs.target.join("package/page-source"), site.clone()]);
    command.arg(dirs.target.join("report-page.js")).current_dir(&dirs.root);
    run::step(dirs, "bundle of the page", "bundle-page", &mut command)?;
    Ok(site)
}
