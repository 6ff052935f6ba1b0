//! Rules about the code that the compiler does not know.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contextweaver::error::ErrorCode;

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "node_modules") {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The code of a file without its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned()
}

/// The room a source file is in: its folder below `src`, or its own name.
fn room(path: &Path) -> String {
    let below = path.strip_prefix(home().join("src")).unwrap();
    below.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

#[test]
fn javascript_stays_behind_the_boundary() {
    for path in files_below(&home().join("src"), "rs") {
        if room(&path) == "wasm" {
            continue;
        }
        for word in ["JsValue", "js_sys", "wasm_bindgen", "serde_wasm_bindgen"] {
            assert!(!code(&path).contains(word), "{} names {word}", path.display());
        }
    }
}

#[test]
fn modules_depend_one_way() {
    // Each room may use those named with it, and nothing else of the crate.
    let leaves: &[&str] = &["error", "limits", "json", "order", "text"];
    let allowed: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
        ("error", vec![]),
        ("limits", vec![]),
        ("order", vec![]),
        ("json", vec!["error", "limits", "order", "text"]),
        ("text", vec!["error", "order"]),
        ("model", leaves.to_vec()),
        ("mcp", [leaves, &["model"]].concat()),
        ("content", [leaves, &["model"]].concat()),
        ("store", [leaves, &["model", "content"]].concat()),
        ("context", [leaves, &["model", "content", "store"]].concat()),
        ("routing", [leaves, &["model", "mcp"]].concat()),
        ("providers", [leaves, &["model"]].concat()),
        ("tools", [leaves, &["model", "mcp"]].concat()),
        ("decisions", [leaves, &["model", "mcp", "tools"]].concat()),
        (
            "api",
            [leaves, &["model", "content", "context", "decisions", "mcp", "providers", "routing", "tools"]].concat(),
        ),
        ("wasm", vec!["api", "context", "decisions", "error", "mcp", "order", "routing"]),
        ("lib", vec![]),
        // Looks at all records from above, in tests only; nothing may use it.
        ("bindings_test", vec!["api", "context", "decisions", "error", "mcp", "model", "routing"]),
    ]);
    for path in files_below(&home().join("src"), "rs") {
        let room = room(&path);
        let allowed = allowed.get(room.as_str()).unwrap_or_else(|| panic!("a room without a rule: {room}"));
        for line in code(&path).lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_').collect();
                let fits = used == room || allowed.contains(&used.as_str());
                assert!(fits, "{} uses crate::{used}: {line}", path.display());
            }
        }
    }
}

#[test]
fn every_error_code_is_documented_and_produced() {
    let facade = std::fs::read_to_string(home().join("pkg-template/src/errors.ts")).unwrap();
    let mut tests = String::new();
    for folder in ["tests", "src"] {
        for extension in ["rs", "mjs"] {
            for path in files_below(&home().join(folder), extension) {
                tests.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    for code in ErrorCode::ALL {
        let name = code.as_str();
        assert!(facade.contains(&format!("\"{name}\"")), "{name} is not documented in errors.ts");
        let asserted = tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("ErrorCode::{code:?})"));
        // Two codes are only for defects of our own, which no test can produce.
        assert!(asserted || matches!(name, "INTERNAL" | "POISONED"), "no test expects {name}");
    }
}

#[test]
fn the_repository_names_no_machine() {
    for folder in ["src", "tests", "xtask", "pkg-template", "examples", "benches", ".ci"] {
        for extension in ["rs", "ts", "mjs", "js", "json", "toml", "md", "sh", "html"] {
            let folder = home().join(folder);
            if !folder.exists() {
                continue;
            }
            for path in files_below(&folder, extension) {
                let text = std::fs::read_to_string(&path).unwrap();
                for word in [concat!("/ro", "ot/"), concat!("/wo", "rk/")] {
                    assert!(!text.contains(word), "{} names {word}", path.display());
                }
            }
        }
    }
}
