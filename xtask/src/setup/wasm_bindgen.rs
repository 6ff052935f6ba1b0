//! The wasm-bindgen programs, in exactly the version Cargo.lock fixes: another version refuses the module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::wasm_target::locked_version;
use crate::dirs::Dirs;
use crate::failure::{Context, Outcome};
use crate::run::{self, Step};

const BINDGEN: &str = "wasm-bindgen";
const RUNNER: &str = "wasm-bindgen-test-runner";

/// Where the two programs are.
#[derive(Debug, Clone)]
pub struct WasmBindgen {
    /// Generates the JavaScript glue.
    pub bindgen: PathBuf,
    /// Runs `cargo test` builds in Node or a browser.
    pub runner: PathBuf,
    /// Version of both.
    pub version: String,
}

/// One installation at a time: `test` starts it in the background and `build` may ask again.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Finds the programs on PATH or in target/tools, or installs them there.
pub fn ensure(dirs: &Dirs) -> Outcome<WasmBindgen> {
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let version = locked_version(dirs, BINDGEN)?;
    let root = dirs.tools().join(format!("{BINDGEN}-{version}"));
    let bin = root.join("bin");
    for (bindgen, runner) in
        [(run::on_path(BINDGEN), run::on_path(RUNNER)), (Some(bin.join(BINDGEN)), Some(bin.join(RUNNER)))]
    {
        if let (Some(bindgen), Some(runner)) = (bindgen, runner)
            && has_version(&bindgen, &version)
            && has_version(&runner, &version)
        {
            return Ok(WasmBindgen { bindgen, runner, version });
        }
    }
    install(dirs, &version, &root)?;
    Ok(WasmBindgen { bindgen: bin.join(BINDGEN), runner: bin.join(RUNNER), version })
}

fn install(dirs: &Dirs, version: &str, root: &Path) -> Outcome<()> {
    let step = Step::begin(format!("install {BINDGEN} {version} (once)"));
    let scratch = dirs.tools().join("build");
    let command = |locked: bool| {
        let mut command = run::cargo();
        command
            .args(["install", "wasm-bindgen-cli", "--version", version])
            .args(["--bin", BINDGEN, "--bin", RUNNER])
            // Encrypted connections to browsers elsewhere; ours is here.
            .arg("--no-default-features")
            .arg("--root")
            .arg(root)
            .env("CARGO_TARGET_DIR", &scratch)
            // Flags for the product's build are not for its tools.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("CARGO_BUILD_TARGET")
            // Used for seconds and compiled for minutes: unoptimised it is ready three times sooner.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_PROFILE_RELEASE_STRIP", "true")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_LTO", "off");
        if locked {
            command.arg("--locked");
        }
        command
    };
    // The published lock file may name a version the registry in use does not have (yet).
    let mut finished = run::capture(dirs, "install-wasm-bindgen", &mut command(true))?;
    if !finished.success {
        finished = run::capture(dirs, "install-wasm-bindgen", &mut command(false))?;
    }
    if !finished.success {
        step.end("failed");
        return Err(finished
            .failure("installing wasm-bindgen")
            .hint(format!("or install it by hand: cargo install wasm-bindgen-cli --version {version}")));
    }
    if scratch.exists() {
        fs::remove_dir_all(&scratch).context(|| format!("cannot remove {}", scratch.display()))?;
    }
    step.end("");
    Ok(())
}

fn has_version(program: &Path, version: &str) -> bool {
    // "wasm-bindgen 0.2.130", "wasm-bindgen-test-runner 0.2.130"
    run::first_line(Command::new(program).arg("--version"))
        .is_some_and(|line| line.split_whitespace().nth(1) == Some(version))
}
