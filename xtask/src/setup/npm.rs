//! Node and the npm packages used in development; nothing here is shipped.

use std::path::Path;
use std::process::Command;

use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::run;
use crate::stamp::Inputs;

const NODE_NEEDED: (u32, u32) = (20, 19);

/// Checks that Node is new enough and returns its version.
pub fn node() -> Outcome<String> {
    let (major, minor) = NODE_NEEDED;
    let hint = format!("install Node.js {major}.{minor} or newer (https://nodejs.org)");
    let Some(version) = run::first_line(Command::new("node").arg("--version")) else {
        return Err(Failure::new("'node' is not installed").hint(hint));
    };
    if is_new_enough(&version) {
        Ok(version)
    } else {
        Err(Failure::new(format!("Node.js {version} is too old")).hint(hint))
    }
}

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    found >= NODE_NEEDED
}

/// Installs the compiler, bundler, linters and simulators that build and test the package.
pub fn tools(dirs: &Dirs) -> Outcome<()> {
    install(dirs, &dirs.package_tests(), "npm-tools", "npm packages for building and testing", &["ci"])
}

/// Installs the bundler of the page and the libraries that go into it.
pub fn page(dirs: &Dirs) -> Outcome<()> {
    install(dirs, &dirs.root.join("www"), "npm-page", "npm packages of the page", &["ci"])
}

/// Installs the generator of the site of the documents.
pub fn docs(dirs: &Dirs) -> Outcome<()> {
    install(dirs, &dirs.root.join("docs-site"), "npm-docs", "npm packages of the site of the documents", &["ci"])
}

/// Installs Deno, Bun, Vite and the conformance suite, which are large and which the tests can do without.
pub fn runtimes(dirs: &Dirs) -> Outcome<()> {
    install(
        dirs,
        &dirs.runtimes(),
        "npm-runtimes",
        "npm packages of optional runtimes",
        // Not `ci`, which refuses a lock file that lacks a platform: registries do not all carry every platform's
        // binaries of these. The lock file is honoured all the same and, with --no-save, left as it is.
        &["install", "--no-save"],
    )
}

fn install(dirs: &Dirs, workspace: &Path, log: &str, what: &str, command: &[&str]) -> Outcome<()> {
    let inputs = Inputs::default()
        .text(node()?)
        .path(&workspace.join("package.json"))?
        .path(&workspace.join("package-lock.json"))?;
    inputs.once(&workspace.join("node_modules/.installed"), || {
        let mut npm = Command::new("npm");
        npm.args(command).args(["--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(workspace);
        run::step(dirs, &format!("{what} (once)"), log, &mut npm).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn compares_node_versions() {
        for (version, enough) in [
            ("v20.19.0", true),
            ("v20.20.2", true),
            ("v22.1.0", true),
            ("v20.18.3", false),
            ("v18.99.0", false),
            ("garbage", false),
        ] {
            assert_eq!(is_new_enough(version), enough, "{version}");
        }
    }
}
