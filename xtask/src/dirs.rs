//! Where things are: every path the commands read or write.

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::{Context, Failure, Outcome};

/// The two roots all other paths are derived from.
#[derive(Debug, Clone)]
pub struct Dirs {
    pub root: PathBuf,
    /// Everything generated.
    pub target: PathBuf,
}

impl Dirs {
    /// Finds the repository: cargo names the manifest of this program when it runs it.
    pub fn find() -> Outcome<Self> {
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| Failure::new("run this as `cargo xtask <command>`"))?;
        let root = Path::new(&manifest)
            .parent()
            .ok_or_else(|| Failure::new("the manifest of xtask has no parent folder"))?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            // A relative setting is relative to where cargo was started.
            Some(dir) => env::current_dir().context(|| "the current folder".to_owned())?.join(dir),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    pub fn logs(&self) -> PathBuf {
        self.target.join("logs")
    }

    /// Cargo's folder for WebAssembly builds. Not the native one: the WebAssembly compiler may be another version,
    /// and each switch in one folder would rebuild all macros.
    pub fn wasm(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// Programs installed for this project alone.
    pub fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    pub fn template(&self) -> PathBuf {
        self.root.join("pkg-template")
    }

    /// The package tests and the npm workspace of the development tools.
    pub fn package_tests(&self) -> PathBuf {
        self.root.join("tests").join("package")
    }

    /// The npm workspace of the large optional runtimes.
    pub fn runtimes(&self) -> PathBuf {
        self.package_tests().join("runtimes")
    }

    pub fn npm_bin(&self, name: &str) -> PathBuf {
        self.package_tests().join("node_modules").join(".bin").join(name)
    }
}
