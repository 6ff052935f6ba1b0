//! `cargo xtask release --dry-run`: all of a release but the publishing, which `.github/workflows/release.yml` does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};

use super::check;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::release::{FILE, Release};
use crate::report::{Counts, Report};
use crate::run::{self, say};
use crate::setup::npm;
use crate::setup::wasm_target::locked_version;

const PACKAGE: &str = "contextweaver";
/// What is compiled into the scripts of the package, beside the SDK of MCP: folder of the lock file, and name.
const BUNDLED: [(&str, &str); 2] = [("tests/package", "fflate"), ("www", "preact")];

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    if args != ["--dry-run"] {
        let hint = "cargo xtask release --dry-run makes all of it; .github/workflows/release.yml publishes";
        return Err(Failure::new("cargo xtask release takes --dry-run alone").hint(hint));
    }
    let started = Instant::now();
    let dirs = Dirs::find()?;
    npm::node()?;
    let release = Release::read(&dirs)?;
    let mut report = Report::default();
    if let Some(package) = check::package(&dirs, &mut report)? {
        let out = dirs.target.join("release-files");
        fs::create_dir_all(&out).context(|| format!("cannot create {}", out.display()))?;
        let version = locked_version(&dirs, PACKAGE)?;
        let stage = Instant::now();
        let components = components(&dirs, &package.dir)?;
        match unlicensed(&components) {
            names if names.is_empty() => {
                report.ran("licences of what is compiled in", Counts::ONE_PASSED, stage.elapsed(), Vec::new());
            }
            names => report.broke(
                "licences of what is compiled in",
                &Failure::new(format!("no licence: {}", names.join(", "))),
                stage.elapsed(),
            ),
        }
        write(&out.join(format!("{PACKAGE}-{version}.cdx.json")), &sbom(&version, &components))?;
        let statement = provenance(&dirs, &release, &package.tarball, &version)?;
        write(&out.join(format!("{PACKAGE}-{version}.intoto.json")), &statement)?;
        say(&format!("wrote the bill of materials and the unsigned statement of provenance to {}", out.display()));
    }
    if git(&dirs, &["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty()) {
        say("note: this is no clean checkout; a release is made of one");
    }
    for name in release.missing() {
        say(&format!("missing: {name} ({FILE})"));
    }
    Ok(report.finish(started.elapsed()))
}

fn write(file: &Path, value: &Value) -> Outcome<()> {
    let text = serde_json::to_string_pretty(value).context(|| format!("cannot write {}", file.display()))?;
    fs::write(file, text + "\n").context(|| format!("cannot write {}", file.display()))
}

/// The answer of git; none where it has none.
fn git(dirs: &Dirs, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(&dirs.root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A library in `CycloneDX`.
fn component(ecosystem: &str, name: &str, version: &str, licence: Option<&str>) -> Value {
    let purl = format!("pkg:{ecosystem}/{}@{version}", name.replace('@', "%40"));
    let licences =
        licence.map_or_else(|| json!([]), |expression| json!([{ "expression": expression.replace('/', " OR ") }]));
    json!({ "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licences })
}

fn unlicensed(components: &[Value]) -> Vec<&str> {
    components.iter().filter(|one| one["licenses"][0].is_null()).filter_map(|one| one["purl"].as_str()).collect()
}

/// All that is compiled into the package: crates in the modules, npm packages in the scripts.
fn components(dirs: &Dirs, package: &Path) -> Outcome<Vec<Value>> {
    let mut found = crates(dirs)?;
    let headings = fs::read_to_string(package.join("dist/node/mcp-sdk.licenses.txt"))
        .context(|| "cannot read the licences of the SDK of MCP".to_owned())?;
    found.extend(
        headings
            .lines()
            .filter_map(heading)
            .map(|(name, version, licence)| component("npm", name, version, Some(licence))),
    );
    for (folder, name) in BUNDLED {
        let lock = json_of(
            &fs::read(dirs.root.join(folder).join("package-lock.json"))
                .context(|| format!("no lock file in {folder}"))?,
        )?;
        let about = &lock["packages"][format!("node_modules/{name}")];
        found.push(component("npm", name, about["version"].as_str().unwrap_or("?"), about["license"].as_str()));
    }
    Ok(found)
}

/// Reads a heading of the file of licences: a name, a version and a licence.
fn heading(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let (version, licence) = rest.split_once(" (")?;
    let is_version = version.split('.').count() == 3 && version.starts_with(|first: char| first.is_ascii_digit());
    is_version.then_some((name, version, licence.strip_suffix(')')?))
}

/// The crates that are compiled to WebAssembly: not what builds or tests, nor what expands macros. `cargo tree` tells features of
/// tests from those of the package, which `cargo metadata` does not.
fn crates(dirs: &Dirs) -> Outcome<Vec<Value>> {
    let mut command = run::cargo();
    command.args([
        "tree",
        "--locked",
        "--edges=normal,no-proc-macro",
        "--target=wasm32-unknown-unknown",
        "--prefix=none",
    ]);
    command.args(["--package", PACKAGE, "--format={p}|{l}"]).current_dir(&dirs.root);
    let output = command.output().context(|| "cannot run cargo tree".to_owned())?;
    if !output.status.success() {
        return Err(Failure::new("cargo tree failed").log_tail(String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let found: BTreeSet<&str> =
        text.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()).collect();
    let read = |line: &str| {
        let (package, licence) = line.split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        Some(component("cargo", name, version, Some(licence).filter(|licence| !licence.is_empty())))
    };
    Ok(found.into_iter().filter_map(read).collect())
}

fn json_of(bytes: &[u8]) -> Outcome<Value> {
    serde_json::from_slice(bytes).context(|| "expected JSON".to_owned())
}

/// The bill of materials, as `CycloneDX` 1.6 has it.
fn sbom(version: &str, components: &[Value]) -> Value {
    let package = component("npm", PACKAGE, version, Some("Apache-2.0"));
    json!({ "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": { "component": package }, "components": components })
}

/// What SLSA's statement says of how the tarball came about, as far as it is known here: `npm publish --provenance` signs its own.
fn provenance(dirs: &Dirs, release: &Release, tarball: &Path, version: &str) -> Outcome<Value> {
    let read = |file: &Path| fs::read(file).context(|| format!("cannot read {}", file.display()));
    let locks = ["Cargo.lock", "tests/package/package-lock.json", "www/package-lock.json"];
    let mut needed = vec![
        json!({ "uri": format!("git+{}", release.repository()), "digest": { "gitCommit": git(dirs, &["rev-parse", "HEAD"]) } }),
    ];
    for lock in locks {
        needed
            .push(json!({ "name": lock, "digest": { "sha256": hex(&Sha256::digest(read(&dirs.root.join(lock))?)) } }));
    }
    Ok(json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "name": format!("pkg:npm/{PACKAGE}@{version}"), "digest": { "sha512": hex(&Sha512::digest(read(tarball)?)) } }],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": format!("{}/blob/v{version}/.github/workflows/release.yml", release.repository()),
                "externalParameters": { "command": "cargo xtask release --dry-run" },
                "resolvedDependencies": needed,
            },
            "runDetails": { "builder": { "id": "local" } },
        },
    }))
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_names_what_is_compiled_in_and_nothing_else() -> Outcome<()> {
        let found = crates(&Dirs::find()?)?;
        let names: Vec<&str> = found.iter().filter_map(|one| one["name"].as_str()).collect();
        for compiled in ["contextweaver", "contextweaver-context", "serde_json", "wasm-bindgen"] {
            assert!(names.contains(&compiled), "{compiled} is missing: {names:?}");
        }
        for other in ["proptest", "xtask", "ts-rs", "serde_derive", "contextweaver-record-derive"] {
            assert!(!names.contains(&other), "{other} is not compiled in");
        }
        assert_eq!(unlicensed(&found), [""; 0]);
        Ok(())
    }

    #[test]
    fn a_heading_is_told_from_the_text_of_a_licence() {
        assert_eq!(heading("@a/b 1.2.3 (MIT)"), Some(("@a/b", "1.2.3", "MIT")));
        for text in ["Copyright (c) 2024", "Version 2.0 (the)", "", "MIT License"] {
            assert_eq!(heading(text), None, "{text}");
        }
    }

    #[test]
    fn the_statement_names_the_tarball_and_what_it_was_made_of() -> Outcome<()> {
        let dirs = Dirs::find()?;
        let statement = provenance(&dirs, &Release::read(&dirs)?, &dirs.root.join("LICENSE"), "1.2.3")?;
        assert_eq!(statement["subject"][0]["name"], "pkg:npm/contextweaver@1.2.3");
        assert_eq!(statement["subject"][0]["digest"]["sha512"].as_str().map(str::len), Some(128));
        assert_eq!(statement["predicate"]["buildDefinition"]["resolvedDependencies"].as_array().map(Vec::len), Some(4));
        Ok(())
    }
}
