//! The program that generates the JavaScript around a module, with the library of exactly the version Cargo.lock fixes for the
//! boundary: another version refuses the module. The library's own program comes with a test runner and a web server, which
//! take longer to compile than all the rest.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::wasm_target::locked_version;
use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::run;

const BINDGEN: &str = "wasm-bindgen";
const PROGRAM: &str = "contextweaver-bindgen";

#[derive(Debug, Clone)]
pub struct WasmBindgen {
    pub program: PathBuf,
    pub version: String,
}

/// One build at a time: `test` starts it in the background and `build` may ask again.
static BUILDING: Mutex<()> = Mutex::new(());

/// Finds the program in target/tools, or builds it.
pub fn ensure(dirs: &Dirs) -> Outcome<WasmBindgen> {
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let version = locked_version(dirs, BINDGEN)?;
    let program = dirs.tools().join(format!("{BINDGEN}-{version}")).join(PROGRAM);
    if !program.exists() {
        build(dirs, &version, &program)?;
    }
    Ok(WasmBindgen { program, version })
}

fn build(dirs: &Dirs, version: &str, program: &PathBuf) -> Outcome<()> {
    let scratch = dirs.tools().join("build");
    let mut command = run::cargo();
    command
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(dirs.root.join("xtask/bindgen/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &scratch)
        // Flags for the product's build are not for its tools.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
    run::forget_this_package(&mut command);
    run::step(dirs, &format!("build {BINDGEN} {version} (once)"), "build-wasm-bindgen", &mut command)?;
    let folder = program.parent().unwrap_or(program);
    fs::create_dir_all(folder).context(|| format!("cannot create {}", folder.display()))?;
    fs::copy(scratch.join("release").join(PROGRAM), program)
        .context(|| format!("cannot write {}", program.display()))?;
    fs::remove_dir_all(&scratch).context(|| format!("cannot remove {}", scratch.display()))
}

#[cfg(test)]
mod tests {
    use super::super::wasm_target::version_in_lock;

    #[test]
    fn the_generator_has_the_version_of_the_boundary() {
        let version = |lock: &str, package: &str| version_in_lock(lock, package).expect("the lock file names it");
        assert_eq!(
            version(include_str!("../../bindgen/Cargo.lock"), "wasm-bindgen-cli-support"),
            version(include_str!("../../../Cargo.lock"), "wasm-bindgen"),
        );
    }
}
