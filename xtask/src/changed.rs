//! Which crates a change concerns: those with changed files, and those that depend on them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::run;

/// What a branch is compared with, the first that exists.
const DEFAULT_BRANCHES: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// Outside the folders of the other members, what the tests of the root package neither compile nor read.
const NOT_OF_THE_ROOT: [&str; 8] =
    ["www/", "docs/", "skills/", "benches/", "examples/", ".ci/", "tests/package/", "tests/quality/"];

/// A member of the workspace.
#[derive(Debug)]
struct Member {
    name: String,
    /// Relative to the repository, ending in `/`; empty for the root package.
    folder: String,
    /// Names of members, for whatever it needs them.
    needs: Vec<String>,
}

/// Names of the members that differ from the default branch, and of those that depend on them, in order.
pub fn members(dirs: &Dirs) -> Outcome<Vec<String>> {
    let metadata = output(
        dirs,
        run::cargo().args(["metadata", "--no-deps", "--format-version=1"]),
        "asking cargo for the members of the workspace",
    )?;
    let metadata: Value = serde_json::from_str(&metadata).context(|| "cargo metadata is not JSON".to_owned())?;
    Ok(concerned(&read_members(&metadata), &files(dirs)?))
}

/// Files that are not as they were where this branch left the default one, committed or not.
fn files(dirs: &Dirs) -> Outcome<BTreeSet<String>> {
    let git = |args: &[&str]| {
        let what = format!("git {}", args.join(" "));
        output(dirs, Command::new("git").args(args), &what)
    };
    let base = DEFAULT_BRANCHES
        .iter()
        .find_map(|branch| git(&["merge-base", "HEAD", branch]).ok())
        .ok_or_else(|| Failure::new("no default branch to compare with").hint("run `cargo xtask test`"))?;
    // Paths are NUL-separated, and then not quoted.
    let changed = git(&["diff", "--name-only", "--no-renames", "-z", base.trim()])?;
    let new = git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    Ok(changed.split('\0').chain(new.split('\0')).filter(|file| !file.is_empty()).map(str::to_owned).collect())
}

fn output(dirs: &Dirs, command: &mut Command, what: &str) -> Outcome<String> {
    let output = command.current_dir(&dirs.root).output().context(|| what.to_owned())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::new(format!("{what} failed")).log_tail(String::from_utf8_lossy(&output.stderr)))
    }
}

fn read_members(metadata: &Value) -> Vec<Member> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent();
            let folder = folder.and_then(|folder| folder.strip_prefix(root).ok()).unwrap_or(Path::new(""));
            let folder = folder.to_string_lossy().replace('\\', "/");
            let needs = list(&package["dependencies"]).into_iter().filter(|needed| needed["path"].is_string());
            Member {
                name: text(&package["name"]),
                folder: if folder.is_empty() { folder } else { format!("{folder}/") },
                needs: needs.map(|needed| text(&needed["name"])).collect(),
            }
        })
        .collect()
}

fn concerned(members: &[Member], files: &BTreeSet<String>) -> Vec<String> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        if matches!(file.as_str(), "Cargo.toml" | "Cargo.lock") || file.starts_with(".cargo/") {
            // Profiles, lints and versions concern all.
            found.extend(members.iter().map(|member| member.name.as_str()));
        }
        let owner = members.iter().filter(|member| file.starts_with(&member.folder)).max_by_key(|m| m.folder.len());
        let is_read = |member: &&Member| {
            !member.folder.is_empty()
                || !(NOT_OF_THE_ROOT.iter().any(|folder| file.starts_with(folder))
                    || (Path::new(file).extension().is_some_and(|extension| extension == "md") && !file.contains('/')))
        };
        found.extend(owner.filter(is_read).map(|member| member.name.as_str()));
    }
    loop {
        let before = found.len();
        for member in members {
            if member.needs.iter().any(|needed| found.contains(needed.as_str())) {
                found.insert(&member.name);
            }
        }
        if found.len() == before {
            return found.into_iter().map(str::to_owned).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{concerned, read_members};
    use serde_json::json;

    #[test]
    fn a_change_concerns_its_crate_and_what_stands_on_it() {
        let package = |name: &str, folder: &str, needs: &[&str]| {
            let needs: Vec<_> = needs.iter().map(|name| json!({ "name": name, "path": "/repo" })).collect();
            json!({ "name": name, "manifest_path": format!("/repo/{folder}Cargo.toml"), "dependencies": needs })
        };
        let members = read_members(&json!({
            "workspace_root": "/repo",
            "packages": [
                package("root", "", &["context", "routing"]),
                package("text", "crates/text/", &[]),
                package("context", "crates/context/", &["text"]),
                package("routing", "crates/routing/", &[]),
                package("xtask", "xtask/", &[]),
            ],
        }));
        for (files, expected) in [
            (&[][..], &[][..]),
            (&["crates/text/src/lib.rs"], &["context", "root", "text"]),
            (&["crates/routing/tests/it/main.rs", "README.md"], &["root", "routing"]),
            (&["src/lib.rs"], &["root"]),
            (&["tests/golden/main.rs"], &["root"]),
            (&["tests/package/api.test.mjs", "www/app.ts", "docs/a.md", "README.md"], &[]),
            (&["xtask/src/main.rs"], &["xtask"]),
            (&["Cargo.lock"], &["context", "root", "routing", "text", "xtask"]),
        ] {
            let changed = files.iter().map(|file| (*file).to_owned()).collect();
            assert_eq!(concerned(&members, &changed), expected, "{files:?}");
        }
    }
}
