//! The compiler's WebAssembly target.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::APT;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;

pub const TARGET: &str = "wasm32-unknown-unknown";

/// A cargo that can build for WebAssembly.
#[derive(Debug, Clone)]
pub struct WasmToolchain {
    env_file: PathBuf,
}

/// The answer of the first call: the script takes a second to check that everything still links.
static READY: Mutex<Option<WasmToolchain>> = Mutex::new(None);

/// Makes the target available, through rustup or by building the standard library once.
pub fn ensure(dirs: &Dirs) -> Outcome<WasmToolchain> {
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(toolchain) = ready.as_ref() {
        return Ok(toolchain.clone());
    }
    let _apt = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = dirs.target.join("wasm-toolchain.txt");
    std::fs::create_dir_all(&dirs.target).context(|| format!("cannot create {}", dirs.target.display()))?;
    // The script prints the path of its env file and nothing else on stdout; the log keeps its progress.
    let mut setup = Command::new("bash");
    setup.args(["-c", "bash \"$1\" -q > \"$2\"", "setup"]);
    setup.arg(dirs.root.join("xtask/setup-wasm-target.sh")).arg(&answer);
    run::step(dirs, &format!("compiler target {TARGET}"), "wasm-target", &mut setup)?;
    let env_file = std::fs::read_to_string(&answer).context(|| format!("cannot read {}", answer.display()))?;
    let toolchain = WasmToolchain { env_file: PathBuf::from(env_file.trim()) };
    *ready = Some(toolchain.clone());
    Ok(toolchain)
}

impl WasmToolchain {
    /// `cargo <subcommand> --target wasm32-unknown-unknown`, to be followed by more arguments.
    pub fn cargo(&self, dirs: &Dirs, subcommand: &str) -> Command {
        let mut command = self.shell("exec cargo \"$@\"");
        command.args([subcommand, "--target", TARGET]).current_dir(&dirs.root).env("CARGO_TARGET_DIR", dirs.wasm());
        command.env("CARGO_ENCODED_RUSTFLAGS", remapping(dirs));
        run::forget_this_package(&mut command);
        command
    }

    /// Which compiler this is.
    pub fn release(&self) -> String {
        run::first_line(&mut self.shell("rustc --version")).unwrap_or_default()
    }

    /// Whether clippy of the same release is there. A distribution's compiler may come without, and cargo then finds
    /// the one of rustup, which cannot read what this compiler wrote.
    pub fn has_clippy(&self) -> bool {
        let version = |script: &str| run::first_line(&mut self.shell(script));
        version("cargo clippy --version")
            .zip(version("rustc --version"))
            .is_some_and(|(clippy, rustc)| is_same_release(&clippy, &rustc))
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!(". \"$0\" && {script}")).arg(&self.env_file);
        command
    }
}

/// Flags that keep the folders of this machine out of the module's panic locations, so that every machine makes the
/// same bytes.
fn remapping(dirs: &Dirs) -> String {
    let home = |variable: &str, folder: &str| {
        std::env::var(variable).ok().or_else(|| std::env::var("HOME").ok().map(|home| format!("{home}/{folder}")))
    };
    let mut flags = vec![format!("--remap-path-prefix={}=contextweaver", dirs.root.display())];
    if let Some(cargo) = home("CARGO_HOME", ".cargo") {
        flags.push(format!("--remap-path-prefix={cargo}/registry/src=crates"));
    }
    flags.join("\u{1f}")
}

/// The version of `package` that Cargo.lock fixes.
pub fn locked_version(dirs: &Dirs, package: &str) -> Outcome<String> {
    let file = dirs.root.join("Cargo.lock");
    let lock = std::fs::read_to_string(&file).context(|| format!("cannot read {}", file.display()))?;
    version_in_lock(&lock, package).ok_or_else(|| Failure::new(format!("Cargo.lock does not name {package}")))
}

pub(super) fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let mut lines = lock.lines();
    lines.find(|line| *line == format!("name = \"{package}\""))?;
    let version = lines.next()?.strip_prefix("version = \"")?;
    Some(version.trim_end_matches('"').to_owned())
}

/// "clippy 0.1.95 (…)" belongs to "rustc 1.95.0 (…)".
fn is_same_release(clippy: &str, rustc: &str) -> bool {
    let number = |line: &str, position: usize| {
        let version = line.split_whitespace().nth(1)?;
        version.split('.').nth(position)?.parse::<u32>().ok()
    };
    number(clippy, 2).zip(number(rustc, 1)).is_some_and(|(clippy, rustc)| clippy == rustc)
}

#[cfg(test)]
mod tests {
    use super::{is_same_release, version_in_lock};

    #[test]
    fn tells_whether_clippy_fits_the_compiler() {
        let clippy = "clippy 0.1.95 (59807616e1 2026-04-14)";
        assert!(is_same_release(clippy, "rustc 1.95.0 (59807616e 2026-04-14)"));
        assert!(!is_same_release(clippy, "rustc 1.96.0 (abc 2026-05-25)"));
        assert!(!is_same_release("", ""));
    }

    #[test]
    fn reads_versions_from_a_lock_file() {
        let lock = "[[package]]\nname = \"wasm-bindgen-shared\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "absent"), None);
    }
}
